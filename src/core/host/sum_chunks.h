/* Sums and ranges of n values on host threads, over chunks that depend on n alone, so they are bitwise the same for any number of
   threads. With gmg_exec::exact_sums every thread has a sum of its own, which may be added in any order (exact_sum.h). Included by
   the host's vector and array operations. */
#ifndef GMG_CORE_HOST_SUM_CHUNKS_H
#define GMG_CORE_HOST_SUM_CHUNKS_H

#include "core/comm.h"
#include "core/exact_sum.h"
#include "core/real.h"

#include <math.h>

enum { CHUNKS = 256 };

/* A chunk of the values. */
typedef struct {
  size_t begin, end;
} share;

static inline share share_of(size_t n, int c)
{
  const size_t chunk = n / CHUNKS + 1, begin = (size_t)c * chunk < n ? (size_t)c * chunk : n;
  return (share){begin, begin + chunk < n ? begin + chunk : n};
}

/* A sum of this process, or of all: the number, or the exact sum. */
typedef struct {
  double number;
  gmg_exact_sum exact;
} gmg_either_sum;

/* Computes the sum of a chunk. what: the operands. exact: NULL, or a sum that gets the terms; the returned number is then not
   used. */
typedef double chunk_sum(const void *what, share s, gmg_exact_sum *exact);

/* Adds the sums of all chunks of n items, of which each has `width` values. */
static inline void add_chunks(const gmg_exec *e, size_t n, size_t width, chunk_sum *sum_of, const void *what, gmg_either_sum *to)
{
  double part[CHUNKS];
  gmg_exact_sum exact = {0};
#pragma omp parallel for schedule(static) num_threads(e->threads) if (n * width > GMG_MIN_CELLS_PARALLEL) \
    reduction(gmg_merge : exact)
  for (int c = 0; c < CHUNKS; c++) part[c] = sum_of(what, share_of(n, c), e->exact_sums ? &exact : NULL);
  gmg_exact_merge(&to->exact, &exact);
  for (int c = 0; c < CHUNKS; c++) to->number += part[c];
}

static inline double over_processes(const gmg_exec *e, gmg_either_sum *sum)
{
  double value;
  if (!e->exact_sums) return gmg_sum_over_processes(e, sum->number);
  gmg_exact_total(e, 1, &sum->exact, &value);
  return value;
}

static inline double sum_chunks(const gmg_exec *e, size_t n, size_t width, chunk_sum *sum_of, const void *what)
{
  gmg_either_sum sum = {0};
  add_chunks(e, n, width, sum_of, what, &sum);
  return over_processes(e, &sum);
}

/* The operands of a sum. part: the real (0) or imaginary (1) part. factor: of the sum */
typedef struct {
  const scalar *x, *y;
  int part;
  double factor;
} operands;

GMG_INLINE double part_of(int part, wide_scalar x) { return part ? gmg_imaginary_part(x) : gmg_real_part(x); }

static inline double weighted_sum(const void *what, share s, gmg_exact_sum *exact)
{
  const operands *x = what;
  const int part = x->part;
  double sum;
  GMG_SUM(sum, exact, *exact, i, s.begin, s.end, x->factor, part_of(part, (wide_scalar)x->x[i]));
  return sum;
}

#if !GMG_SCALAR_COMPLEX /* complex numbers have no order */
/* The range of values seen so far. mean: sum of the values over the number of all. bad: 0, or NaN from NaN and infinity */
typedef struct {
  double least, most, bad, over_count;
  gmg_either_sum mean;
} range_so_far;

/* The range of nothing, before n values of this process. All processes call it. */
static inline range_so_far empty_range(const gmg_exec *e, size_t n)
{
  return (range_so_far){.least = INFINITY, .most = -INFINITY, .over_count = 1 / gmg_sum_over_processes(e, (double)n)};
}

static inline void extend_range(const gmg_exec *e, size_t n, const real *restrict x, range_so_far *all)
{
  double bad[CHUNKS], least[CHUNKS], most[CHUNKS];
#pragma omp parallel for schedule(static) num_threads(e->threads) if (n > GMG_MIN_CELLS_PARALLEL)
  for (int c = 0; c < CHUNKS; c++) {
    const share mine = share_of(n, c);
    double b = 0;
    real low = x[0], high = x[0];
#pragma omp simd reduction(+ : b) reduction(min : low) reduction(max : high)
    for (size_t i = mine.begin; i < mine.end; i++) {
      b += 0 * (double)x[i];
      low = x[i] < low ? x[i] : low;
      high = x[i] > high ? x[i] : high;
    }
    bad[c] = b, least[c] = (double)low, most[c] = (double)high;
  }
  for (int c = 0; c < CHUNKS; c++) {
    all->least = fmin(all->least, least[c]), all->most = fmax(all->most, most[c]);
    all->bad += bad[c];
  }
  add_chunks(e, n, 1, weighted_sum, &(operands){.x = x, .factor = all->over_count}, &all->mean);
}

static inline gmg_range range_of(const gmg_exec *e, range_so_far *all)
{
  double ends[2] = {-all->least, all->most};
  e->comm->max(e, 2, ends);
  const double bad = gmg_sum_over_processes(e, all->bad), mean = over_processes(e, &all->mean);
  return (gmg_range){bad - ends[0], ends[1] + bad, mean + bad};
}
#endif

#endif
