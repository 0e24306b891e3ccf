/* Coefficients and fluxes on faces, on a CUDA device: host/faces.c, a thread a face. Arrays of axis a hold n[a] + 1 values
   along it. */
extern "C" {
#include "stencil/stencil.h"
}

#include "row.cuh"

static gmg_points faces_of(const gmg_operator *A, int a)
{
  const size_t n[3] = {A->n[0] + (a == 0), A->n[1] + (a == 1), A->n[2] + (a == 2)};
  return gmg_points_of(n);
}

/* The unknowns on both sides of face x of an axis; at a wall twice the one inside. */
static __device__ __forceinline__ void sides(const gmg_operator &A, int a, size_t x, size_t *low, size_t *high)
{
  const size_t n = A.n[a];
  *high = x < n ? x : A.wraps[a] ? 0 : n - 1;
  *low = x > 0 ? x - 1 : A.wraps[a] ? n - 1 : 0;
}

/* Two halves in series. */
static __device__ __forceinline__ real in_series(real low_width, real low, real high_width, real high)
{
  return (low_width + high_width) / (low_width / low + high_width / high);
}

static __global__ void harmonic_kernel(gmg_operator A, gmg_points p, int a, const real *beta, real *face)
{
  const real *w = (const real *)A.weight[a];
  const int cells = A.centering == GMG_CELL;
  gmg_for_points(p, [&](size_t i, size_t j, size_t k, size_t c) {
    size_t low[3] = {i, j, k}, high[3] = {i, j, k};
    const size_t x = a == 0 ? i : a == 1 ? j : k;
    sides(A, a, x, &low[a], &high[a]);
    const real below = beta[(low[2] * A.n[1] + low[1]) * A.n[0] + low[0]], above = beta[(high[2] * A.n[1] + high[1]) * A.n[0] + high[0]];
    face[c] = in_series(cells ? w[low[a]] : 1, below, cells ? w[high[a]] : 1, above);
  });
}

/* A Robin wall half a cell away: extrapolated (host/faces.c says why). */
static __global__ void robin_kernel(gmg_operator A, int a, int side, int p, int q, const real *beta, real *face)
{
  const size_t stride[3] = {1, A.n[0], A.n[0] * A.n[1]}, s0 = A.n[0] + (a == 0), s1 = A.n[1] + (a == 1);
  const size_t f_stride[3] = {1, s0, s0 * s1};
  const size_t n = A.n[a], end = side ? n - 1 : 0, next = side ? n - 2 : 1;
  const real *w = (const real *)A.weight[a], reach = w[end] / (w[end] + w[next]);
  gmg_for_all(A.n[p] * A.n[q], [&](size_t t) {
    const size_t i = t % A.n[p], j = t / A.n[p];
    const real *at = beta + i * stride[p] + j * stride[q], own = at[end * stride[a]];
    const real there = own + reach * (own - at[next * stride[a]]);
    face[i * f_stride[p] + j * f_stride[q] + (side ? n * f_stride[a] : 0)] =
        there < own / 2 ? own / 2 : there > 2 * own ? 2 * own : there;
  });
}

extern "C" void R(gmg_harmonic_faces_cuda)(const gmg_exec *e, const gmg_operator *A, const gmg_faces *faces, const void *beta)
{
  const cudaStream_t stream = gmg_device_of(e)->stream;
  for (int a = 0; a < A->dim; a++) {
    const gmg_points f = faces_of(A, a);
    int p, q;
    gmg_face_axes(a, &p, &q);
    harmonic_kernel<<<gmg_grid_of(f, 0), gmg_block_of(f), 0, stream>>>(*A, f, a, (const real *)beta, (real *)A->face[a]);
    gmg_cuda_launched(e, "harmonic means");
    for (int side = 0; side < 2; side++) {
      if (faces->kind[a][side] != GMG_ROBIN || A->centering != GMG_CELL || A->n[a] == 1) continue;
      robin_kernel<<<gmg_flat_grid(A->n[p] * A->n[q], 0), GMG_THREADS, 0, stream>>>(*A, a, side, p, q, (const real *)beta,
                                                                                    (real *)A->face[a]);
      gmg_cuda_launched(e, "Robin wall");
    }
  }
}

static __global__ void copy_faces_kernel(gmg_operator A, gmg_points p, int a, const real *from, real *to)
{
  gmg_for_points(p, [&](size_t i, size_t j, size_t k, size_t c) {
    size_t at[3] = {i, j, k};
    if (A.wraps[a] && at[a] == A.n[a]) at[a] = 0;
    to[c] = from[(at[2] * p.n[1] + at[1]) * p.n[0] + at[0]];
  });
}

extern "C" void R(gmg_copy_faces_cuda)(const gmg_exec *e, const gmg_operator *A, int a, const void *beta_face)
{
  const gmg_points p = faces_of(A, a);
  copy_faces_kernel<<<gmg_grid_of(p, 0), gmg_block_of(p), 0, gmg_device_of(e)->stream>>>(*A, p, a, (const real *)beta_face,
                                                                                         (real *)A->face[a]);
  gmg_cuda_launched(e, "coefficients on faces");
}

/* Entry x of an axis, y and z of the other two (in order), of a face array of that axis. */
static __device__ __forceinline__ size_t face_at(const gmg_operator &A, int a, size_t x, size_t y, size_t z)
{
  const size_t n0 = A.n[0] + (a == 0), n1 = A.n[1] + (a == 1);
  const size_t i = a == 0 ? x : y, j = a == 1 ? x : a == 0 ? y : z, k = a == 2 ? x : z;
  return (k * n1 + j) * n0 + i;
}

static __global__ void walls_kernel(gmg_operator A, gmg_operator C, gmg_map mp, gmg_map mq, int a, int p, int q, int side)
{
  const real *fine = (const real *)A.face[a], *wp = (const real *)mp.weight, *wq = (const real *)mq.weight;
  const size_t wall = side ? A.n[a] : 0, next = side ? wall - 1 : 1;
  real *coarse = (real *)C.face[a];
  gmg_for_all(C.n[p] * C.n[q], [&](size_t t) {
    const size_t y = t % C.n[p], z = t / C.n[p];
    real sum = 0;
    for (int d = 0; d < mq.width; d++)
      for (int c = 0; c < mp.width; c++) {
        const real w = wp[y * mp.width + c] * wq[z * mq.width + d];
        const size_t Y = (size_t)mp.wrap[mp.first[y] + c], Z = (size_t)mq.wrap[mq.first[z] + d];
        const real at_wall = fine[face_at(A, a, wall, Y, Z)], inside = fine[face_at(A, a, next, Y, Z)];
        if (w != 0) sum += w * (inside > at_wall ? in_series(1, at_wall, 1, inside) : at_wall);
      }
    coarse[face_at(C, a, side ? C.n[a] : 0, y, z)] = sum;
  });
}

extern "C" void R(gmg_coarsen_walls_cuda)(const gmg_exec *e, const gmg_operator *A, const gmg_operator *C, const gmg_map map[3], int a)
{
  int p, q;
  gmg_face_axes(a, &p, &q);
  for (int side = 0; side < 2; side++) {
    if (side && A->n[a] % 2) continue; /* a cell that stays alone keeps its wall */
    walls_kernel<<<gmg_flat_grid(C->n[p] * C->n[q], 0), GMG_THREADS, 0, gmg_device_of(e)->stream>>>(*A, *C, map[p], map[q], a, p, q,
                                                                                                   side);
    gmg_cuda_launched(e, "coarse walls");
  }
}

/* What a wall's slope is made of: du/dn = w (fold g - wall u), or the flux that is given. */
typedef struct {
  const real *g[2];
  real fold[2], wall[2];
  int is_flux[2];
} walls;

static __global__ void flux_kernel(gmg_operator A, gmg_points p, walls x, int a, int P, int Q, const real *u, real *flux, real *gradient)
{
  const size_t stride[3] = {1, A.n[0], A.n[0] * A.n[1]};
  const real *lo = (const real *)A.lo[a], *weight = (const real *)A.weight[a], *beta = (const real *)A.face[a];
  gmg_for_points(p, [&](size_t i, size_t j, size_t k, size_t c) {
    const size_t at[3] = {i, j, k};
    const real b = beta ? beta[c] : (real)1;
    size_t low, high, here = 0;
    for (int d = 0; d < 3; d++) here += d == a ? 0 : at[d] * stride[d];
    sides(A, a, at[a], &low, &high);
    const real below = u[here + low * stride[a]], above = u[here + high * stride[a]];
    real slope = lo[high] * weight[high] * (above - below);
    if (low == high && !A.wraps[a]) {
      const int side = at[a] > 0;
      const real g = x.g[side] ? x.g[side][at[Q] * A.n[P] + at[P]] / (x.is_flux[side] ? b : 1) : (real)0;
      const real outward = weight[side ? A.n[a] - 1 : 0] * (x.fold[side] * g - x.wall[side] * above);
      slope = side ? outward : -outward;
    }
    if (gradient) gradient[c] = slope;
    if (flux) flux[c] = -b * slope;
  });
}

extern "C" void R(gmg_flux_cuda)(const gmg_exec *e, const gmg_operator *A, const gmg_faces *faces, int a, const void *u, void *flux,
                                 void *gradient)
{
  const gmg_points f = faces_of(A, a);
  walls x;
  int p, q;
  gmg_face_axes(a, &p, &q);
  for (int side = 0; side < 2; side++) {
    x.g[side] = (const real *)faces->g[a][side];
    x.fold[side] = (real)faces->fold[a][side], x.wall[side] = (real)faces->wall[a][side];
    x.is_flux[side] = faces->kind[a][side] == GMG_NEUMANN;
  }
  flux_kernel<<<gmg_grid_of(f, 0), gmg_block_of(f), 0, gmg_device_of(e)->stream>>>(*A, f, x, a, p, q, (const real *)u, (real *)flux,
                                                                                   (real *)gradient);
  gmg_cuda_launched(e, "flux");
}
