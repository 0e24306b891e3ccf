/* Operations on arrays of the caller with gaps, on host threads. Compiled once per real type. Called through gmg_array_ops. */
#include "core/array.h"

#include "sum_chunks.h"

#include "core/cg_scalars.h"

#include <stdlib.h>

/* The rows of an array. */
static size_t rows_of(gmg_layout at) { return at.n[1] * at.n[2]; }

static void fill(const gmg_exec *e, gmg_layout at, double a, void *x)
{
#pragma omp parallel for schedule(static) num_threads(e->threads) if (gmg_unknowns_of(at) > GMG_MIN_CELLS_PARALLEL)
  for (size_t t = 0; t < rows_of(at); t++) {
    scalar *X = (scalar *)x + gmg_offset_of_line(at, t);
    for (size_t i = 0; i < at.n[0]; i++) X[i] = (real)a;
  }
}

static void copy(const gmg_exec *e, gmg_layout from, const void *x, gmg_layout to, void *y)
{
#pragma omp parallel for schedule(static) num_threads(e->threads) if (gmg_unknowns_of(to) > GMG_MIN_CELLS_PARALLEL)
  for (size_t t = 0; t < rows_of(to); t++) {
    const scalar *restrict X = (const scalar *)x + gmg_offset_of_line(from, t);
    scalar *restrict Y = (scalar *)y + gmg_offset_of_line(to, t);
    for (size_t i = 0; i < to.n[0]; i++) Y[i] = X[i];
  }
}

/* The rows of an array whose squares are summed. */
typedef struct {
  gmg_layout at;
  const scalar *x;
} rows;

static double squares_of_rows(const void *what, share s, gmg_exact_sum *exact)
{
  const rows *r = what;
  double all = 0;
  for (size_t t = s.begin; t < s.end; t++) {
    const scalar *x = r->x + gmg_offset_of_line(r->at, t);
    double squares;
    GMG_SUM(squares, exact, *exact, i, 0, r->at.n[0], 1, gmg_square((wide_scalar)x[i]));
    all += squares;
  }
  return all;
}

static double norm2(const gmg_exec *e, gmg_layout at, const void *x)
{
  return sqrt(sum_chunks(e, rows_of(at), at.n[0], squares_of_rows, &(rows){at, x}));
}

static void correct(const gmg_exec *e, gmg_layout at, gmg_correction c, int keep, void *x)
{
  const real scale = (real)(c.scale ? *c.scale : 1);
#pragma omp parallel for schedule(static) num_threads(e->threads) if (gmg_unknowns_of(at) > GMG_MIN_CELLS_PARALLEL)
  for (size_t t = 0; t < rows_of(at); t++) {
    const scalar *restrict high = (const scalar *)c.z + t * at.n[0];
    const low_scalar *restrict low = (const low_scalar *)c.z + t * at.n[0];
    scalar *restrict X = (scalar *)x + gmg_offset_of_line(at, t);
    for (size_t i = 0; i < at.n[0]; i++) X[i] = gmg_add_product(keep ? X[i] : 0, scale, c.low ? (scalar)low[i] : high[i]);
  }
}

static void cg_step(const gmg_exec *e, gmg_layout at, const gmg_cg_scalars *d, const void *p, void *y)
{
  double a;
  if (!gmg_cg_step_length(d, &a)) return;
#pragma omp parallel for schedule(static) num_threads(e->threads) if (gmg_unknowns_of(at) > GMG_MIN_CELLS_PARALLEL)
  for (size_t t = 0; t < rows_of(at); t++) {
    const scalar *restrict P = (const scalar *)p + t * at.n[0];
    scalar *restrict Y = (scalar *)y + gmg_offset_of_line(at, t);
    for (size_t i = 0; i < at.n[0]; i++) Y[i] = gmg_add_product(Y[i], (real)a, P[i]);
  }
}

#if !GMG_SCALAR_COMPLEX /* complex numbers have no order */
static gmg_range range(const gmg_exec *e, gmg_layout at, const void *x)
{
  range_so_far all = empty_range(e, gmg_unknowns_of(at));
  for (size_t t = 0; t < rows_of(at); t++) extend_range(e, at.n[0], (const real *)x + gmg_offset_of_line(at, t), &all);
  return range_of(e, &all);
}

static gmg_range ratios(const gmg_exec *e, const size_t n[3], gmg_layout of_x, const void *x, gmg_layout of_y, const void *y)
{
  double least = INFINITY, most = 0, jumps = 0;
#pragma omp parallel for schedule(static) num_threads(e->threads) reduction(min : least) reduction(max : most) reduction(+ : jumps)
  for (size_t t = 0; t < n[1] * n[2]; t++) {
    const gmg_line_place at = gmg_line_place_of(t, n);
    const real *a = (const real *)x + gmg_offset(of_x, 0, at.j, at.k), *b = (const real *)y + gmg_offset(of_y, 0, at.j, at.k);
    for (size_t i = 0; i < n[0]; i++) {
      const double ratio = (double)a[i] / (double)b[i];
      if (ratio < least) least = ratio;
      if (ratio > most) most = ratio;
      jumps += ratio > GMG_JUMP || ratio * GMG_JUMP < 1;
    }
  }
  double ends[2] = {-least, most}, counts[2] = {jumps, (double)(n[0] * n[1] * n[2])};
  e->comm->max(e, 2, ends);
  e->comm->sum(e, 2, counts);
  return (gmg_range){-ends[0], ends[1], counts[0] / counts[1]};
}
#endif

const gmg_array_ops R(gmg_array_host) = {.fill = fill,
                                         .copy = copy,
                                         .norm2 = norm2,
                                         .correct = correct,
                                         .cg_step = cg_step,
#if !GMG_SCALAR_COMPLEX
                                         .range = range,
                                         .ratios = ratios
#endif
};
