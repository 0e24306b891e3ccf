/* Black box multigrid on host threads. Compiled once per real type. Called through gmg_black_box_ops. */
#include "stencil/black_box/rows.h"

#include "core/exec.h"
#include "product.h"

/* The weights of a line of coarse unknowns. `mask` is a constant where this is called, so that the sums over a row are written
   out: creating a solver on 512^2 cells takes 11 instead of 25 ms. */
static inline __attribute__((always_inline)) void weigh_line(const gmg_black_box_levels *x, int mask, gmg_line_place line)
{
  for (size_t i = 0; i < x->n[0]; i++) {
    const size_t J[3] = {i, line.j, line.k};
    if (gmg_black_box_exists(x, mask, J)) gmg_black_box_weigh(x, mask, J);
    else gmg_black_box_clear(x, mask, J);
  }
}

static void weigh(const gmg_exec *e, const gmg_operator *A, const gmg_operator *C, const gmg_black_box *p, int odd)
{
  const gmg_black_box_levels x = gmg_black_box_levels_of(A, C, p);
  const size_t lines = C->n[1] * C->n[2];
  for (int mask = 1; mask < 8; mask++) {
    if (!gmg_black_box_has(A, mask, odd)) continue;
#pragma omp parallel for schedule(static) num_threads(e->threads) if (A->cells > GMG_MIN_CELLS_PARALLEL)
    for (size_t t = 0; t < lines; t++) {
      const gmg_line_place line = gmg_line_place_of(t, C->n);
      switch (mask) {
        case 1: weigh_line(&x, 1, line); break;
        case 2: weigh_line(&x, 2, line); break;
        case 3: weigh_line(&x, 3, line); break;
        case 4: weigh_line(&x, 4, line); break;
        case 5: weigh_line(&x, 5, line); break;
        case 6: weigh_line(&x, 6, line); break;
        default: weigh_line(&x, 7, line);
      }
    }
  }
}

/* Adds the restriction of a line of r to a coarse line. number: digits of the line's weights along the other axes. parent: offset
   of its weights. */
static void restrict_line(const gmg_black_box_levels *l, int number, size_t parent, real share, const scalar *restrict r,
                          scalar *restrict f)
{
  const long n = (long)l->n[0], odd = (long)l->A.n[0] / 2;
  const real *const here = l->weight[number] ? l->weight[number] + parent : NULL, *restrict const v = l->share[0];
  if (!l->A.coarsened[0]) {
    for (long i = 0; i < n; i++) f[i] += share * (here ? here[i] : 1) * r[i];
    return;
  }
  const real *restrict const after = l->weight[number + 1] + parent, *restrict const before = l->weight[number + 2] + parent;
#pragma omp simd
  for (long i = 0; i < n; i++) f[i] += share * v[3 * i + 1] * (here ? here[i] : 1) * r[2 * i];
#pragma omp simd
  for (long i = 0; i < odd; i++) f[i] += share * v[3 * i + 2] * after[i] * r[2 * i + 1];
#pragma omp simd
  for (long i = 1; i < n; i++) f[i] += share * v[3 * i] * before[i - 1] * r[2 * i - 1];
  if (l->A.wraps[0] && l->A.n[0] % 2 == 0) f[0] += share * v[0] * before[n - 1] * r[2 * n - 1];
}

static void restrict_field(const gmg_exec *e, const gmg_operator *A, const gmg_operator *C, const gmg_black_box *p, const void *r,
                           void *f)
{
  const gmg_black_box_levels l = gmg_black_box_levels_of(A, C, p);
  const gmg_layout fine = gmg_layout_of(A);
  const size_t lines = C->n[1] * C->n[2];
#pragma omp parallel for schedule(static) num_threads(e->threads) if (A->cells > GMG_MIN_CELLS_PARALLEL)
  for (size_t t = 0; t < lines; t++) {
    const gmg_line_place line = gmg_line_place_of(t, C->n);
    scalar *to = (scalar *)f + gmg_offset(l.coarse, 0, line.j, line.k);
    gmg_black_box_axis y, z;
    gmg_black_box_column(&l, 1, line.j, &y);
    gmg_black_box_column(&l, 2, line.k, &z);
    for (size_t i = 0; i < C->n[0]; i++) to[i] = 0;
    for (int c = 0; c < 3; c++)
      for (int b = 0; b < 3; b++) {
        if (!(y.exists[b] && z.exists[c])) continue;
        restrict_line(&l, 3 * b + 9 * c, gmg_offset(l.coarse, 0, y.parent[b], z.parent[c]),
                      y.share[b] * z.share[c], (const scalar *)r + gmg_offset(fine, 0, y.fine[b], z.fine[c]), to);
      }
  }
}

/* Adds the interpolation of a coarse line to a line of u. number, parent: as in restrict_line(). */
static void prolong_line(const gmg_black_box_levels *l, int number, size_t parent, const scalar *restrict c, scalar *restrict u)
{
  const long n = (long)l->n[0], odd = (long)l->A.n[0] / 2;
  const real *const here = l->weight[number] ? l->weight[number] + parent : NULL;
  if (!l->A.coarsened[0]) {
    for (long i = 0; i < n; i++) u[i] += (here ? here[i] : 1) * c[i];
    return;
  }
  const real *restrict const low = l->weight[number + 1] + parent, *restrict const high = l->weight[number + 2] + parent;
  const long inner = odd < n ? odd : n - 1; /* the last odd unknown may have no coarse unknown after it */
#pragma omp simd
  for (long i = 0; i < n; i++) u[2 * i] += (here ? here[i] : 1) * c[i];
#pragma omp simd
  for (long i = 0; i < inner; i++) u[2 * i + 1] += low[i] * c[i] + high[i] * c[i + 1];
  if (inner < odd) u[2 * n - 1] += low[n - 1] * c[n - 1] + (l->A.wraps[0] ? high[n - 1] * c[0] : 0);
}

static void prolong(const gmg_exec *e, const gmg_operator *A, const gmg_operator *C, const gmg_black_box *p, const void *c, void *u)
{
  const gmg_black_box_levels l = gmg_black_box_levels_of(A, C, p);
  const size_t lines = A->n[1] * A->n[2];
#pragma omp parallel for schedule(static) num_threads(e->threads) if (A->cells > GMG_MIN_CELLS_PARALLEL)
  for (size_t t = 0; t < lines; t++) {
    const gmg_line_place line = gmg_line_place_of(t, A->n);
    scalar *to = (scalar *)u + gmg_offset(gmg_layout_of(A), 0, line.j, line.k);
    const gmg_black_box_sources y = gmg_black_box_sources_at(&l, 1, 0, line.j, 0);
    const gmg_black_box_sources z = gmg_black_box_sources_at(&l, 2, 0, line.k, 0);
    for (int k = 0; k < z.count; k++)
      for (int j = 0; j < y.count; j++) {
        const size_t y_at = gmg_black_box_source(&l, 1, y, j), z_at = gmg_black_box_source(&l, 2, z, k);
        prolong_line(&l, 3 * y.digit[j] + 9 * z.digit[k], gmg_offset(l.coarse, 0, y.parent, z.parent),
                     (const scalar *)c + gmg_offset(l.coarse, 0, y_at, z_at), to);
      }
  }
}

const gmg_black_box_ops R(gmg_black_box_host) = {
    .weigh = weigh, .product = R(gmg_black_box_product_host), .restrict_ = restrict_field, .prolong = prolong};
