/* Coefficients and fluxes on faces, on host threads. Arrays of axis a hold n[a] + 1 values along it. */
#include "stencil/stencil.h"

#include "core/real.h"

#include <string.h>

/* Sizes of a face array; its lines are its entries along axis 0. */
typedef struct {
  size_t size[3], lines;
} face_shape;

static face_shape shape_of(const gmg_operator *A, int a)
{
  face_shape s = {.size = {A->n[0] + (a == 0), A->n[1] + (a == 1), A->n[2] + (a == 2)}};
  s.lines = s.size[1] * s.size[2];
  return s;
}

/* The unknowns on both sides of face x of an axis; at a wall twice the one inside. */
static void sides(const gmg_operator *A, int a, size_t x, size_t *low, size_t *high)
{
  const size_t n = A->n[a];
  *high = x < n ? x : A->wraps[a] ? 0 : n - 1;
  *low = x > 0 ? x - 1 : A->wraps[a] ? n - 1 : 0;
}

/* Two halves in series: the face cuts the way between two cells in proportion to their widths, between two vertices in
   the middle. */
static real in_series(real low_width, real low, real high_width, real high)
{
  return (low_width + high_width) / (low_width / low + high_width / high);
}

static void harmonic_axis(const gmg_exec *e, const gmg_operator *A, int a, const real *beta, real *face)
{
  const face_shape s = shape_of(A, a);
  const real *w = A->weight[a];
  const int cells = A->centering == GMG_CELL;
  const size_t n0 = A->n[0];
#pragma omp parallel for schedule(static) num_threads(e->threads) if (A->cells > 8192)
  for (size_t line = 0; line < s.lines; line++) {
    size_t low[3] = {0, line % s.size[1], line / s.size[1]}, high[3] = {0, low[1], low[2]};
    real *restrict out = face + line * s.size[0];
    sides(A, a, a ? low[a] : 1, &low[a], &high[a]);
    const real *restrict below = beta + (low[2] * A->n[1] + low[1]) * n0;
    const real *restrict above = beta + (high[2] * A->n[1] + high[1]) * n0;
    if (a > 0) {
      const real p = cells ? w[low[a]] : 1, q = cells ? w[high[a]] : 1;
      for (size_t i = 0; i < n0; i++) out[i] = in_series(p, below[i], q, above[i]);
      continue;
    }
    for (size_t i = 1; i < n0; i++) out[i] = in_series(cells ? w[i - 1] : 1, below[i - 1], cells ? w[i] : 1, below[i]);
    for (size_t x = 0; x <= n0; x += n0) {
      sides(A, 0, x, &low[0], &high[0]);
      out[x] = in_series(cells ? w[low[0]] : 1, below[low[0]], cells ? w[high[0]] : 1, below[high[0]]);
    }
  }
}

/* A Robin wall half a cell away: its flux is in proportion to the coefficient there, so the cell's own value would make the
   solution first order. Extrapolated linearly from two cells, by a factor of 2 at most: beyond that it is a jump. */
static void robin_wall(const gmg_operator *A, int a, int side, const real *beta, real *face)
{
  const face_shape s = shape_of(A, a);
  const size_t stride[3] = {1, A->n[0], A->n[0] * A->n[1]}, f_stride[3] = {1, s.size[0], s.size[0] * s.size[1]};
  const size_t n = A->n[a], end = side ? n - 1 : 0, next = side ? n - 2 : 1;
  const int p = a == 0 ? 1 : 0, q = a == 2 ? 1 : 2;
  const real *w = A->weight[a], reach = w[end] / (w[end] + w[next]);
  for (size_t j = 0; j < A->n[q]; j++)
    for (size_t i = 0; i < A->n[p]; i++) {
      const real *at = beta + i * stride[p] + j * stride[q], own = at[end * stride[a]];
      const real there = own + reach * (own - at[next * stride[a]]);
      face[i * f_stride[p] + j * f_stride[q] + (side ? n * f_stride[a] : 0)] =
          there < own / 2 ? own / 2 : there > 2 * own ? 2 * own : there;
    }
}

void R(gmg_harmonic_faces_host)(const gmg_exec *e, const gmg_operator *A, const gmg_faces *faces, const void *beta)
{
  for (int a = 0; a < A->dim; a++) {
    harmonic_axis(e, A, a, beta, (real *)A->face[a]);
    for (int side = 0; side < 2; side++)
      if (faces->kind[a][side] == GMG_ROBIN && A->centering == GMG_CELL && A->n[a] > 1)
        robin_wall(A, a, side, beta, (real *)A->face[a]);
  }
}

void R(gmg_copy_faces_host)(const gmg_exec *e, const gmg_operator *A, int a, const void *beta_face)
{
  const face_shape s = shape_of(A, a);
  const real *from = beta_face;
  real *to = (real *)A->face[a];
#pragma omp parallel for schedule(static) num_threads(e->threads) if (A->cells > 8192)
  for (size_t line = 0; line < s.lines; line++) {
    size_t at[3] = {0, line % s.size[1], line / s.size[1]};
    if (a > 0 && A->wraps[a] && at[a] == A->n[a]) at[a] = 0;
    const real *in = from + (at[2] * s.size[1] + at[1]) * s.size[0];
    memcpy(to + line * s.size[0], in, s.size[0] * sizeof(real));
    if (a == 0 && A->wraps[0]) to[line * s.size[0] + A->n[0]] = in[0];
  }
}

/* Slope at a wall as the balance of the end unknown has it: du/dn = w (fold g - wall u), or the flux that is given. */
static real wall_slope(const gmg_operator *A, const gmg_faces *faces, int a, int side, const size_t at[3], real b, real u)
{
  const int p = a == 0 ? 1 : 0, q = a == 2 ? 1 : 2;
  const real *given = faces->g[a][side], *weight = A->weight[a];
  const real g = given ? given[at[q] * A->n[p] + at[p]] / (faces->kind[a][side] == GMG_NEUMANN ? b : 1) : 0;
  const real outward = weight[side ? A->n[a] - 1 : 0] * ((real)faces->fold[a][side] * g - (real)faces->wall[a][side] * u);
  return side ? outward : -outward;
}

/* Entry x of an axis, y and z of the other two (in order), of a face array of that axis. */
static size_t face_at(const gmg_operator *A, int a, size_t x, size_t y, size_t z)
{
  const size_t n0 = A->n[0] + (a == 0), n1 = A->n[1] + (a == 1);
  const size_t i = a == 0 ? x : y, j = a == 1 ? x : a == 0 ? y : z, k = a == 2 ? x : z;
  return (k * n1 + j) * n0 + i;
}

/* Only where that strengthens the wall: too weak a coarse wall makes corrections overshoot, too strong a one only makes them
   small. */
void R(gmg_coarsen_walls_host)(const gmg_exec *e, const gmg_operator *A, const gmg_operator *C, const gmg_map map[3], int a)
{
  (void)e;
  int p, q;
  gmg_face_axes(a, &p, &q);
  const gmg_map *mp = &map[p], *mq = &map[q];
  const real *fine = A->face[a], *wp = mp->weight, *wq = mq->weight;
  real *coarse = (real *)C->face[a];
  for (int side = 0; side < 2; side++) {
    if (side && A->n[a] % 2) continue; /* a cell that stays alone keeps its wall */
    const size_t wall = side ? A->n[a] : 0, next = side ? wall - 1 : 1;
    for (size_t z = 0; z < C->n[q]; z++)
      for (size_t y = 0; y < C->n[p]; y++) {
        real sum = 0;
        for (int d = 0; d < mq->width; d++)
          for (int c = 0; c < mp->width; c++) {
            const real w = wp[y * (size_t)mp->width + (size_t)c] * wq[z * (size_t)mq->width + (size_t)d];
            const size_t Y = (size_t)mp->wrap[mp->first[y] + c], Z = (size_t)mq->wrap[mq->first[z] + d];
            const real at_wall = fine[face_at(A, a, wall, Y, Z)], inside = fine[face_at(A, a, next, Y, Z)];
            if (w != 0) sum += w * (inside > at_wall ? in_series(1, at_wall, 1, inside) : at_wall);
          }
        coarse[face_at(C, a, side ? C->n[a] : 0, y, z)] = sum;
      }
  }
}


/* Inside, lo w is one over the distance between two unknowns. */
void R(gmg_flux_host)(const gmg_exec *e, const gmg_operator *A, const gmg_faces *faces, int a, const void *u, void *flux,
                      void *gradient)
{
  const face_shape s = shape_of(A, a);
  const size_t stride[3] = {1, A->n[0], A->n[0] * A->n[1]};
  const real *U = u, *lo = A->lo[a], *weight = A->weight[a], *beta = A->face[a];
  real *F = flux, *G = gradient;
#pragma omp parallel for schedule(static) num_threads(e->threads) if (A->cells > 8192)
  for (size_t line = 0; line < s.lines; line++) {
    size_t at[3] = {0, line % s.size[1], line / s.size[1]};
    for (at[0] = 0; at[0] < s.size[0]; at[0]++) {
      const size_t x = at[a], c = line * s.size[0] + at[0];
      const real b = beta ? beta[c] : 1;
      size_t low, high, here = 0;
      for (int d = 0; d < 3; d++) here += d == a ? 0 : at[d] * stride[d];
      sides(A, a, x, &low, &high);
      const real below = U[here + low * stride[a]], above = U[here + high * stride[a]];
      const real slope = low != high || A->wraps[a] ? lo[high] * weight[high] * (above - below)
                                                    : wall_slope(A, faces, a, x > 0, at, b, above);
      if (G) G[c] = slope;
      if (F) F[c] = -b * slope;
    }
  }
}
