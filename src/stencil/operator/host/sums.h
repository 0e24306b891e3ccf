/* Sums over a field on host threads. They are computed over groups of tasks that depend on the sizes alone, so they are bitwise the
   same for any number of threads. With gmg_exec::exact_sums they are exact (core/exact_sum.h). Included by kernel files of the
   operator. */
#ifndef GMG_STENCIL_OPERATOR_HOST_SUMS_H
#define GMG_STENCIL_OPERATOR_HOST_SUMS_H

#include "core/comm.h"
#include "core/exact_sum.h"
#include "core/part.h"
#include "core/scale.h"
#include "grid_row.h"

#include <math.h>

typedef struct {
  double first, second;
} gmg_two_sums;

static inline void gmg_add_sums(gmg_two_sums *to, gmg_two_sums more)
{
  to->first += more.first;
  to->second += more.second;
}

/* Two exact sums. */
typedef struct {
  gmg_exact_sum first, second;
} gmg_two_exact;

static inline void gmg_merge_two(gmg_two_exact *to, const gmg_two_exact *more)
{
  gmg_exact_merge(&to->first, &more->first);
  gmg_exact_merge(&to->second, &more->second);
}
#pragma omp declare reduction(gmg_merge : gmg_two_exact : gmg_merge_two(&omp_out, &omp_in))

/* The sum of n parts, or that of exact sums, over all processes. */
static inline gmg_two_sums gmg_total_of(const gmg_exec *e, const gmg_two_sums *part, size_t n, gmg_two_exact *exact)
{
  gmg_two_sums total = {0, 0};
  if (e->exact_sums) {
    gmg_exact_sum sums[2] = {exact->first, exact->second};
    double values[2];
    gmg_exact_total(e, 2, sums, values);
    return (gmg_two_sums){values[0], values[1]};
  }
  for (size_t i = 0; i < n; i++) gmg_add_sums(&total, part[i]);
  double both[2] = {total.first, total.second};
  e->comm->sum(e, 2, both);
  return (gmg_two_sums){both[0], both[1]};
}

/* By what measure_residual() multiplies the residual that it stores. */
static inline double gmg_scale_of_residual(const double *divisor, const gmg_scale *s)
{
  return divisor ? 1 / *divisor : s ? s->next : 1;
}

/* Results of measure_residual() from the sums of squares of the residual and of f. s, f_norm: may be NULL. */
static inline double gmg_norms_of(gmg_two_sums squares, double scale, gmg_scale *s, double *f_norm, gmg_wait wait)
{
  const double norm = sqrt(squares.first);
  if (f_norm) *f_norm = sqrt(squares.second);
  if (s) gmg_scale_note(s, scale, norm);
  return wait ? norm : NAN;
}

/* The unknowns of a task that belong to this process. begin = end: none. */
static inline gmg_task gmg_own_task(const gmg_operator *A, gmg_task w)
{
  const gmg_part *p = A->part;
  if (!p) return w;
  const int inside = w.j >= p->own[1][0] && w.j < p->own[1][1] && w.k >= p->own[2][0] && w.k < p->own[2][1];
  if (w.begin < p->own[0][0]) w.begin = p->own[0][0];
  if (w.end > p->own[0][1]) w.end = p->own[0][1];
  if (!inside || w.end < w.begin) w.end = w.begin;
  return w;
}

/* Computes the sums of one task. what: the operands. exact: NULL, or sums that get the terms; the
   returned numbers are then not used. */
typedef gmg_two_sums gmg_task_sums(const void *what, const gmg_task *w, gmg_two_exact *exact);

static inline gmg_two_sums gmg_sum_tasks(const gmg_exec *e, const gmg_operator *A,
                                         gmg_task (*task)(const gmg_operator *A, size_t t), gmg_task_sums *sums_of,
                                         const void *what)
{
  enum { MAX_SHARES = 256 };
  const size_t tasks = gmg_tasks(A), share = tasks / MAX_SHARES + 1, shares = (tasks + share - 1) / share;
  gmg_two_sums part[MAX_SHARES];
  gmg_two_exact all = {0};
#pragma omp parallel for schedule(static) num_threads(e->threads) if (A->cells > GMG_MIN_CELLS_PARALLEL) reduction(gmg_merge : all)
  for (size_t s = 0; s < shares; s++) {
    part[s] = (gmg_two_sums){0, 0};
    for (size_t t = s * share; t < tasks && t < (s + 1) * share; t++) {
      const gmg_task w = gmg_own_task(A, task(A, t));
      if (w.begin < w.end) gmg_add_sums(&part[s], sums_of(what, &w, e->exact_sums ? &all : NULL));
    }
  }
  return gmg_total_of(e, part, shares, &all);
}

#endif
