/* Boundary values on a CUDA device: folded into the right-hand side, and as ghosts around a field for the interpolation of a full
   multigrid start. */
extern "C" {
#include "stencil/stencil.h"
}

#include "core/cuda/device.h"
#include "stencil/operator/row.h"

/* The coefficient on the wall at (i, j) of a face, i along the faster axis p: its address and strides; at = NULL: 1. */
typedef struct {
  const real *at;
  size_t p, q;
} wall_coefficient;

static wall_coefficient wall_at(const gmg_operator *A, int a, int side, int p, int q)
{
  size_t stride[3] = {1, A->n[0] + (a == 0), 0};
  stride[2] = stride[1] * (A->n[1] + (a == 1));
  if (!A->face[a]) return {NULL, 0, 0};
  return {(const real *)A->face[a] + (side ? A->n[a] * stride[a] : 0), stride[p], stride[q]};
}

static __device__ __forceinline__ real wall_beta(wall_coefficient w, size_t i, size_t j)
{
  return w.at ? w.at[i * w.p + j * w.q] : (real)1;
}

static __global__ void fold_kernel(size_t n, size_t np, size_t sp, size_t sq, real c, wall_coefficient wall, const real *g, real *f)
{
  gmg_for_all(n, [&](size_t t) {
    const size_t i = t % np, j = t / np;
    f[j * sq + i * sp] += c * wall_beta(wall, i, j) * g[t];
  });
}

extern "C" void R(gmg_fold_cuda)(const gmg_exec *e, const gmg_operator *A, const gmg_faces *faces, void *f)
{
  const size_t stride[3] = {1, A->n[0], A->n[0] * A->n[1]};
  const wall_coefficient none = {NULL, 0, 0};
  for (int a = 0; a < A->dim; a++)
    for (int side = 0; side < 2; side++) {
      int p, q;
      gmg_face_axes(a, &p, &q);
      const wall_coefficient wall = faces->kind[a][side] == GMG_NEUMANN ? none : wall_at(A, a, side, p, q);
      const size_t n = A->n[p] * A->n[q];
      if (!faces->g[a][side]) continue;
      fold_kernel<<<gmg_flat_grid(n, 0), GMG_THREADS, 0, gmg_device_of(e)->stream>>>(
          n, A->n[p], stride[p], stride[q], (real)faces->fold[a][side], wall, (const real *)faces->g[a][side],
          (real *)f + (side ? (A->n[a] - 1) * stride[a] : 0));
      gmg_cuda_launched(e, "boundary values");
    }
}

static __global__ void pad_inside_kernel(gmg_operator A, const real *u, real *to)
{
  const size_t m0 = A.n[0] + 2, m1 = A.n[1] + 2, all = m0 * m1 * (A.n[2] + 2);
  gmg_for_all(all, [&](size_t t) {
    const size_t i = t % m0, j = t / m0 % m1, k = t / (m0 * m1);
    const int inside = i > 0 && j > 0 && k > 0 && i <= A.n[0] && j <= A.n[1] && k <= A.n[2];
    to[t] = inside ? u[((k - 1) * A.n[1] + j - 1) * A.n[0] + i - 1] : (real)0;
  });
}

/* Ghosts of one face: cu times the unknown beside, and what g adds. */
static __global__ void pad_face_kernel(size_t n, size_t np, size_t sp, size_t sq, size_t ghost, size_t from, real cu, real cg,
                                       wall_coefficient wall, const real *g, real *to)
{
  gmg_for_all(n, [&](size_t t) {
    const size_t i = t % np, j = t / np, at = (i + 1) * sp + (j + 1) * sq;
    to[ghost + at] = cu * to[from + at] + (g ? cg / wall_beta(wall, i, j) * g[t] : (real)0);
  });
}

/* Edges and corners of axes a and b by planar extrapolation: P(-,-) = P(-,0) + P(0,-) - P(0,0). */
typedef struct {
  size_t ghost_a[2], ghost_b[2], in_a[2], in_b[2]; /* offsets */
  int wraps_a, wraps_b;
} edges;

static __global__ void pad_edge_kernel(size_t begin, size_t n, size_t stride, edges x, real *to)
{
  gmg_for_all(4 * n, [&](size_t t) {
    const int p = (int)(t & 1), q = (int)(t / 2 & 1);
    real *at = to + (begin + t / 4) * stride;
    const size_t a = x.ghost_a[p], b = x.ghost_b[q], ia = x.in_a[p], ib = x.in_b[q];
    at[a + b] = x.wraps_a ? at[ia + b] : x.wraps_b ? at[a + ib] : at[a + ib] + at[ia + b] - at[ia + ib];
  });
}

extern "C" void R(gmg_pad_cuda)(const gmg_exec *e, const gmg_operator *A, const gmg_faces *faces, const void *u, void *padded)
{
  const size_t *n = A->n, m[3] = {n[0] + 2, n[1] + 2, n[2] + 2}, s[3] = {1, m[0], m[0] * m[1]};
  const cudaStream_t stream = gmg_device_of(e)->stream;
  const wall_coefficient none = {NULL, 0, 0};
  pad_inside_kernel<<<gmg_flat_grid(m[0] * m[1] * m[2], 0), GMG_THREADS, 0, stream>>>(*A, (const real *)u, (real *)padded);
  gmg_cuda_launched(e, "ghosts");
  for (int a = 0; a < 3; a++)
    for (int side = 0; side < 2; side++) {
      int p, q;
      gmg_face_axes(a, &p, &q);
      const size_t ghost = side ? n[a] + 1 : 0, from = A->wraps[a] ? (side ? 1 : n[a]) : (side ? n[a] : 1);
      const real cu = A->wraps[a] ? 1 : (real)faces->ghost_u[a][side], cg = (real)faces->ghost_g[a][side];
      const wall_coefficient wall = faces->kind[a][side] == GMG_NEUMANN ? wall_at(A, a, side, p, q) : none;
      pad_face_kernel<<<gmg_flat_grid(n[p] * n[q], 0), GMG_THREADS, 0, stream>>>(
          n[p] * n[q], n[p], s[p], s[q], ghost * s[a], from * s[a], cu, cg, wall, (const real *)faces->g[a][side], (real *)padded);
      gmg_cuda_launched(e, "ghosts of a face");
    }
  for (int a = 0; a < 3; a++)
    for (int b = 0; b < a; b++) {
      const int c = 3 - a - b;
      const size_t begin = a == 2 ? 0 : 1, count = a == 2 ? n[c] + 2 : n[c];
      edges x = {{0, (n[a] + 1) * s[a]}, {0, (n[b] + 1) * s[b]}, {0, 0}, {0, 0}, A->wraps[a], A->wraps[b]};
      for (int side = 0; side < 2; side++) {
        x.in_a[side] = (A->wraps[a] ? (side ? 1 : n[a]) : (side ? n[a] : 1)) * s[a];
        x.in_b[side] = (A->wraps[b] ? (side ? 1 : n[b]) : (side ? n[b] : 1)) * s[b];
      }
      pad_edge_kernel<<<gmg_flat_grid(4 * count, 0), GMG_THREADS, 0, stream>>>(begin, count, s[c], x, (real *)padded);
      gmg_cuda_launched(e, "ghosts of an edge");
    }
}
