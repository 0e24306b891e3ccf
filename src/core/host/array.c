/* Operations on arrays of the caller with gaps, on host threads. Compiled once per real type. Called through gmg_array_ops. */
#include "core/array.h"

#include "core/cg_scalars.h"
#include "core/comm.h"
#include "core/real.h"

#include <math.h>
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

/* Sums of rows are added in groups of rows that depend on the array alone, so the result does not depend on the number of
   threads. */
enum { GROUPS = 256 };

static double norm2(const gmg_exec *e, gmg_layout at, const void *x)
{
  const size_t rows = rows_of(at), group = rows / GROUPS + 1;
  double part[GROUPS] = {0}, sum = 0;
#pragma omp parallel for schedule(static) num_threads(e->threads) if (gmg_unknowns_of(at) > GMG_MIN_CELLS_PARALLEL)
  for (size_t g = 0; g < GROUPS; g++)
    for (size_t t = g * group; t < rows && t < (g + 1) * group; t++) {
      const scalar *X = (const scalar *)x + gmg_offset_of_line(at, t);
      double squares = 0;
#pragma omp simd reduction(+ : squares)
      for (size_t i = 0; i < at.n[0]; i++) squares += gmg_square((wide_scalar)X[i]);
      part[g] += squares;
    }
  for (int g = 0; g < GROUPS; g++) sum += part[g];
  return sqrt(gmg_sum_over_processes(e, sum));
}

static void correct(const gmg_exec *e, gmg_layout at, gmg_correction c, int keep, void *x)
{
  const real scale = (real)(c.scale ? *c.scale : 1);
#pragma omp parallel for schedule(static) num_threads(e->threads) if (gmg_unknowns_of(at) > GMG_MIN_CELLS_PARALLEL)
  for (size_t t = 0; t < rows_of(at); t++) {
    const scalar *restrict high = (const scalar *)c.z + t * at.n[0];
    const low_scalar *restrict low = (const low_scalar *)c.z + t * at.n[0];
    scalar *restrict X = (scalar *)x + gmg_offset_of_line(at, t);
    for (size_t i = 0; i < at.n[0]; i++) X[i] = (keep ? X[i] : 0) + scale * (c.low ? (scalar)low[i] : high[i]);
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
    for (size_t i = 0; i < at.n[0]; i++) Y[i] += (real)a * P[i];
  }
}

#if !GMG_SCALAR_COMPLEX /* complex numbers have no order */
/* The range of all processes, from that of n values. Sums over processes in the same order as gmg_vector_ops::range: the array of
   one process may have gaps, and that of another none. */
static gmg_range range_of_all(const gmg_exec *e, gmg_range mine, size_t n)
{
  const double count = gmg_sum_over_processes(e, (double)n);
  double ends[2] = {-mine.least, mine.most}, sums[2] = {mine.mean * ((double)n / count), 0 * mine.mean};
  e->comm->max(e, 2, ends);
  e->comm->sum(e, 2, sums);
  return (gmg_range){sums[1] - ends[0], ends[1] + sums[1], sums[0] + sums[1]};
}

static gmg_range range(const gmg_exec *e, gmg_layout at, const void *x)
{
  gmg_exec alone = *e; /* the processes have different numbers of rows */
  alone.comm = &gmg_comm_alone;
  gmg_range r = {INFINITY, -INFINITY, 0};
  for (size_t t = 0; t < rows_of(at); t++) {
    const gmg_range row = e->vector->range(&alone, at.n[0], (const real *)x + gmg_offset_of_line(at, t));
    r.least = fmin(r.least, row.least), r.most = fmax(r.most, row.most);
    r.mean += row.mean / (double)rows_of(at); /* NaN if a value is bad */
  }
  return range_of_all(e, r, gmg_unknowns_of(at));
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
  const size_t count = n[0] * n[1] * n[2];
  return range_of_all(e, (gmg_range){least, most, jumps / (double)count}, count);
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
