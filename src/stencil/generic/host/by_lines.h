/* All operations of gmg_operator_ops on host threads, for an operator that is given by three functions of a line. A kind of
   operator (1) defines the type line_data, the data that the three functions read; (2) includes this file; (3) defines
   line_data_of() and the three functions; (4) initialises its table with GMG_OPERATIONS_BY_LINES. Called by host kernels of
   operators. */
#ifndef GMG_STENCIL_GENERIC_HOST_BY_LINES_H
#define GMG_STENCIL_GENERIC_HOST_BY_LINES_H

#include "stencil/generic/composed.h"
#include "stencil/operator/host/sums.h"
#include "stencil/grid_ops.h"

#include "core/cg_scalars.h"

#include <math.h>

/* Called once per operation. */
static line_data line_data_of(const gmg_operator *A);
/* The three functions: A u, the diagonal of A, and |A| |u| for the unknowns begin .. end - 1 of a task's line. Stored from out[0]
   on. */
static void line_image(const line_data *s, const gmg_task *w, const scalar *u, scalar *out);
static void line_diagonal(const line_data *s, const gmg_task *w, real *out);
static void line_magnitude(const line_data *s, const gmg_task *w, const scalar *u, real *out);

/* Task t of a field or of the caller's u. */
static gmg_task line_task(const gmg_operator *A, size_t t)
{
  gmg_task w = gmg_blocked_task(A, t);
  w.offset = gmg_offset(gmg_layout_of_u(A), 0, w.j, w.k);
  return w;
}

/* f: the line's */
static void line_residual(const line_data *s, const gmg_task *w, const scalar *f, const scalar *u, scalar *out)
{
  const scalar *restrict rhs = f + w->begin;
  line_image(s, w, u, out);
#pragma omp simd
  for (size_t i = 0; i < w->end - w->begin; i++) out[i] = rhs[i] - out[i];
}

static void residual(const gmg_exec *e, const gmg_operator *A, const void *f, const void *u, void *r)
{
  const size_t tasks = gmg_tasks(A);
  const gmg_residual_layouts at = gmg_residual_layouts_of(A);
  const line_data data = line_data_of(A);
#pragma omp parallel for schedule(static) num_threads(e->threads) if (A->cells > GMG_MIN_CELLS_PARALLEL)
  for (size_t t = 0; t < tasks; t++) {
    const gmg_task w = line_task(A, t);
    const scalar *rhs = (const scalar *)f + gmg_offset(at.f, 0, w.j, w.k);
    line_residual(&data, &w, rhs, u, (scalar *)r + gmg_offset(at.r, w.begin, w.j, w.k));
  }
}

static void apply(const gmg_exec *e, const gmg_operator *A, const void *u, void *v)
{
  const size_t tasks = gmg_tasks(A);
  const line_data data = line_data_of(A);
#pragma omp parallel for schedule(static) num_threads(e->threads) if (A->cells > GMG_MIN_CELLS_PARALLEL)
  for (size_t t = 0; t < tasks; t++) {
    const gmg_task w = gmg_blocked_task(A, t);
    line_image(&data, &w, u, (scalar *)v + w.offset + w.begin);
  }
}

static void over_diagonal(const gmg_exec *e, const gmg_operator *A, const void *f, void *v)
{
  const size_t tasks = gmg_tasks(A);
  const line_data data = line_data_of(A);
#pragma omp parallel for schedule(static) num_threads(e->threads) if (A->cells > GMG_MIN_CELLS_PARALLEL)
  for (size_t t = 0; t < tasks; t++) {
    const gmg_task w = gmg_task_at(A, t);
    const scalar *from = (const scalar *)f + w.offset;
    scalar *to = (scalar *)v + w.offset;
    real line[GMG_SEGMENT];
    line_diagonal(&data, &w, line);
    for (size_t i = w.begin; i < w.end; i++) to[i] = from[i] / line[i - w.begin];
  }
}

/* The operands of a sum over a task. */
typedef struct {
  const line_data *data;
  gmg_residual_layouts layouts;
  const scalar *f, *u;
  int with_f;
  real scale;
  low_scalar *r;
} line_terms;

static gmg_two_sums residual_sums(const void *what, const gmg_task *w, gmg_two_exact *exact)
{
  const line_terms *x = what;
  const scalar *f = x->f + gmg_offset(x->layouts.f, 0, w->j, w->k);
  const size_t first = gmg_offset(x->layouts.r, w->begin, w->j, w->k), length = w->end - w->begin;
  scalar line[GMG_SEGMENT];
  gmg_two_sums sums = {0, 0};
  line_residual(x->data, w, f, x->u, line);
  GMG_SUM(sums.first, exact, exact->first, i, 0, length, 1, gmg_square((wide_scalar)line[i]));
  if (x->with_f) GMG_SUM(sums.second, exact, exact->second, i, w->begin, w->end, 1, gmg_square((wide_scalar)f[i]));
  for (size_t i = 0; x->r && i < length; i++) x->r[first + i] = (low_scalar)(x->scale * line[i]);
  return sums;
}

static double measure_residual(const gmg_exec *e, const gmg_operator *A, const void *f, const void *u, const double *divisor,
                               gmg_scale *s, void *r, double *f_norm, gmg_wait wait)
{
  const double scale = gmg_scale_of_residual(divisor, s);
  const line_data data = line_data_of(A);
  const line_terms x = {.data = &data, .layouts = gmg_residual_layouts_of(A), .f = f, .u = u, .with_f = f_norm != NULL,
                        .scale = (real)scale, .r = r};
  return gmg_norms_of(gmg_sum_tasks(e, A, line_task, residual_sums, &x), scale, s, f_norm, wait);
}

static gmg_two_sums magnitude_sums(const void *what, const gmg_task *w, gmg_two_exact *exact)
{
  const line_terms *x = what;
  real line[GMG_SEGMENT];
  gmg_two_sums sums = {0, 0};
  line_magnitude(x->data, w, x->u, line);
  GMG_SUM(sums.first, exact, exact->first, i, 0, w->end - w->begin, 1, (double)line[i] * (double)line[i]);
  return sums;
}

static double magnitude(const gmg_exec *e, const gmg_operator *A, const void *u)
{
  const line_data data = line_data_of(A);
  const line_terms x = {.data = &data, .u = u};
  return sqrt(gmg_sum_tasks(e, A, line_task, magnitude_sums, &x).first);
}

static void cg_direction(const gmg_exec *e, const gmg_operator *A, const void *z, gmg_cg_scalars *d, const double *unit,
                         const void *last, void *p, const void *x, void *q)
{
  if (d->beta != 0 && last != p) e->vector->copy(e, A->cells, last, p);
  if (d->beta != 0) e->vector->xpay(e, A->cells, z, d->beta, p);
  else e->vector->copy(e, A->cells, z, p);
  apply(e, A, p, q);
  gmg_cg_note(d, gmg_grid_ops_of(e)->dot(e, A, p, q).re, gmg_grid_ops_of(e)->dot(e, A, p, x).re, unit);
}

#define GMG_OPERATIONS_BY_LINES                                                                                              \
  {.residual = residual, .measure_residual = measure_residual, .interpolated_residual = gmg_interpolate_and_measure,         \
   .correct_residual = gmg_correct_and_measure, .apply = apply, .over_diagonal = over_diagonal, .magnitude = magnitude,      \
   .cg_direction = cg_direction, .restrict_residual = gmg_store_and_restrict}

#endif
