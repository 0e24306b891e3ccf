/* Residual, operator, norms and inner products on host threads. Compiled once per real type. Called through
   gmg_operator_ops and gmg_grid_ops. */
#include "sums.h"
#include "stencil/generic/composed.h"
#include "stencil/grid_ops.h"

#include "core/cg_scalars.h"

#include <math.h>

static void residual(const gmg_exec *e, const gmg_operator *A, const void *f, const void *u, void *r)
{
  const size_t tasks = gmg_tasks(A);
#pragma omp parallel for schedule(static) num_threads(e->threads) if (A->cells > GMG_MIN_CELLS_PARALLEL)
  for (size_t t = 0; t < tasks; t++) gmg_field_map(gmg_residual_point, A, t, f, u, 0, 0, r);
}

static double sum_of_squares(const scalar *x, size_t n, gmg_exact_sum *exact)
{
  double sum;
  GMG_SUM(sum, exact, *exact, i, 0, n, 1, gmg_square((wide_scalar)x[i]));
  return sum;
}

/* The operands of a sum over a task. */
typedef struct {
  const gmg_operator *A;
  const scalar *f, *u; /* or the factors of an inner product */
  int with_f; /* the norm of f is needed, too */
  real scale;
  void *r;
} terms;

/* Sums of squares of f - A u and of f. Stores r = scale (f - A u) in low precision. */
static gmg_two_sums residual_sums(const void *what, const gmg_task *w, gmg_two_exact *exact)
{
  const terms *x = what;
  const gmg_residual_layouts at = gmg_residual_layouts_of(x->A);
  const scalar *f = x->f + gmg_offset(at.f, w->begin, w->j, w->k);
  const size_t length = w->end - w->begin;
  scalar line[GMG_SEGMENT];
  gmg_task_map(gmg_residual_point, x->A, *w, x->f, x->u, 0, 0, line);
  const gmg_two_sums squares = {sum_of_squares(line, length, exact ? &exact->first : NULL),
                                x->with_f ? sum_of_squares(f, length, exact ? &exact->second : NULL) : 0};
  if (!x->r) return squares;
  const real scale = x->scale;
  low_scalar *restrict to = (low_scalar *)x->r + gmg_offset(at.r, w->begin, w->j, w->k);
#pragma omp simd
  for (size_t i = 0; i < length; i++) to[i] = (low_scalar)(scale * line[i]);
  return squares;
}

static double measure_residual(const gmg_exec *e, const gmg_operator *A, const void *f, const void *u, const double *divisor,
                               gmg_scale *s, void *r, double *f_norm, gmg_wait wait)
{
  const double scale = gmg_scale_of_residual(divisor, s);
  const terms x = {.A = A, .f = f, .u = u, .with_f = f_norm != NULL, .scale = (real)scale, .r = r};
  return gmg_norms_of(gmg_sum_tasks(e, A, gmg_blocked_task, residual_sums, &x), scale, s, f_norm, wait);
}

static void apply(const gmg_exec *e, const gmg_operator *A, const void *u, void *v)
{
  const size_t tasks = gmg_tasks(A);
#pragma omp parallel for schedule(static) num_threads(e->threads) if (A->cells > GMG_MIN_CELLS_PARALLEL)
  for (size_t t = 0; t < tasks; t++) gmg_field_map(gmg_apply_point, A, t, u, u, 0, 0, v);
}

GMG_INLINE scalar over_diagonal_point(const int dim, gmg_row a, gmg_neighbours near, scalar f, scalar u, real c0, real c1,
                                      scalar old)
{
  (void)dim, (void)near, (void)u, (void)c0, (void)c1, (void)old;
  return f / a.diag;
}

static void over_diagonal(const gmg_exec *e, const gmg_operator *A, const void *f, void *v)
{
  const size_t tasks = gmg_tasks(A);
#pragma omp parallel for schedule(static) num_threads(e->threads) if (A->cells > GMG_MIN_CELLS_PARALLEL)
  for (size_t t = 0; t < tasks; t++) gmg_field_map(over_diagonal_point, A, t, f, f, 0, 0, v);
}

GMG_INLINE scalar magnitude_point(const int dim, gmg_row a, gmg_neighbours near, scalar f, scalar u, real c0, real c1, scalar old)
{
  (void)f, (void)c0, (void)c1, (void)old;
  for (int d = 0; d < dim; d++) near.lo[d] = gmg_absolute(near.lo[d]), near.hi[d] = gmg_absolute(near.hi[d]);
  return gmg_add_product(gmg_row_sum(dim, a, near), a.diag, gmg_absolute(u));
}

static gmg_two_sums magnitude_sums(const void *what, const gmg_task *w, gmg_two_exact *exact)
{
  const terms *x = what;
  scalar line[GMG_SEGMENT];
  gmg_task_map(magnitude_point, x->A, *w, x->u, x->u, 0, 0, line);
  return (gmg_two_sums){sum_of_squares(line, w->end - w->begin, exact ? &exact->first : NULL), 0};
}

static double magnitude(const gmg_exec *e, const gmg_operator *A, const void *u)
{
  const terms x = {.A = A, .u = u};
  return sqrt(gmg_sum_tasks(e, A, gmg_blocked_task, magnitude_sums, &x).first);
}

static double volume_beside(const gmg_operator *A, const gmg_task *w)
{
  return (double)((const real *)A->volume[1])[w->j] * (double)((const real *)A->volume[2])[w->k];
}

/* Sum of conj(f) u times the control volume. */
static gmg_two_sums dot_sums(const void *what, const gmg_task *w, gmg_two_exact *exact)
{
  const terms *x = what;
  const real *restrict w0 = x->A->volume[0];
  const scalar *restrict f = x->f + w->offset, *restrict u = x->u + w->offset;
  const double beside = volume_beside(x->A, w);
  gmg_two_sums sum = {0, 0};
#define PRODUCT gmg_product((double)w0[i] * (wide_scalar)f[i], (wide_scalar)u[i])
  GMG_SUM(sum.first, exact, exact->first, i, w->begin, w->end, beside, gmg_real_part(PRODUCT));
  if (GMG_SCALAR_COMPLEX) GMG_SUM(sum.second, exact, exact->second, i, w->begin, w->end, beside, gmg_imaginary_part(PRODUCT));
#undef PRODUCT
  return sum;
}

/* Sum of f times the control volume. */
static gmg_two_sums weighted_sums(const void *what, const gmg_task *w, gmg_two_exact *exact)
{
  const terms *x = what;
  const real *restrict w0 = x->A->volume[0];
  const scalar *restrict f = x->f + gmg_offset(gmg_layout_of_u(x->A), 0, w->j, w->k);
  const double beside = volume_beside(x->A, w);
  gmg_two_sums sum = {0, 0};
  GMG_SUM(sum.first, exact, exact->first, i, w->begin, w->end, beside, (double)w0[i] * gmg_real_part((wide_scalar)f[i]));
  if (GMG_SCALAR_COMPLEX)
    GMG_SUM(sum.second, exact, exact->second, i, w->begin, w->end, beside, (double)w0[i] * gmg_imaginary_part((wide_scalar)f[i]));
  return sum;
}

static gmg_number dot(const gmg_exec *e, const gmg_operator *A, const void *x, const void *y)
{
  const terms factors = {.A = A, .f = x, .u = y};
  const gmg_two_sums parts = gmg_sum_tasks(e, A, gmg_task_at, y ? dot_sums : weighted_sums, &factors);
  return (gmg_number){parts.first, parts.second};
}

static void cg_beta(const gmg_exec *e, const gmg_operator *A, const void *z, const void *y, int flexible, gmg_cg_scalars *d,
                    const double *unit)
{
  gmg_cg_set_beta(d, flexible, !flexible || gmg_cg_has_direction(d) ? dot(e, A, z, y).re : 0, unit);
}

/* y = x - the mean of x, whose real part is returned. y may be x. */
static double without_mean(const gmg_exec *e, const gmg_operator *A, double volume, const scalar *x, scalar *y)
{
  const gmg_number sum = dot(e, A, x, NULL);
  const int fit = gmg_is_fit_mean(sum.re / volume, sum.im / volume);
  const scalar mean = fit ? (scalar)gmg_wide(sum.re / volume, sum.im / volume) : 0;
  const size_t tasks = gmg_tasks(A);
  if (mean == 0 && x == y) return 0;
#pragma omp parallel for schedule(static) num_threads(e->threads) if (A->cells > GMG_MIN_CELLS_PARALLEL)
  for (size_t t = 0; t < tasks; t++) {
    const gmg_task w = gmg_task_at(A, t);
    const size_t line = gmg_offset(gmg_layout_of_u(A), 0, w.j, w.k);
    for (size_t i = line + w.begin; i < line + w.end; i++) y[i] = x[i] - mean;
  }
  return fit ? sum.re / volume : 0;
}

static void remove_mean(const gmg_exec *e, const gmg_operator *A, double volume, void *x)
{
  (void)without_mean(e, A, volume, x, x);
}

static gmg_deviation take_mean(const gmg_exec *e, const gmg_operator *A, double volume, const void *x, void *y)
{
  const double mean = without_mean(e, A, volume, x, y);
  return (gmg_deviation){mean, e->vector->norm2(e, A->cells, y)};
}

GMG_GRID_PARTS(GMG_DECLARE_PART, host)
GMG_DECLARE_OPERATION(correct_residual, host) /* in update_apply.c */
GMG_DECLARE_OPERATION(cg_direction, host)
GMG_DECLARE_OPERATION(restrict_residual, host) /* in transfer/host */

const gmg_operator_ops R(gmg_seven_point_host) = {.residual = residual,
                                                  .measure_residual = measure_residual,
                                                  .interpolated_residual = gmg_interpolate_and_measure,
                                                  .correct_residual = R(gmg_correct_residual_host),
                                                  .apply = apply,
                                                  .over_diagonal = over_diagonal,
                                                  .magnitude = magnitude,
                                                  .cg_direction = R(gmg_cg_direction_host),
                                                  .restrict_residual = R(gmg_restrict_residual_host)};

const gmg_grid_ops R(gmg_grid_host) = {.dot = dot, .remove_mean = remove_mean, .take_mean = take_mean, .cg_beta = cg_beta,
                                       GMG_GRID_PARTS(GMG_PART, host)};
