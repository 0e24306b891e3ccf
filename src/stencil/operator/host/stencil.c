/* Residual, operator, inner products on host threads. */
#include "grid_row.h"
#include "stencil/stencil.h"

#include "core/cg_scalars.h"

#include <math.h>

static void residual(const gmg_exec *e, const gmg_operator *A, const void *f, const void *u, void *r)
{
  const size_t tasks = gmg_tasks(A);
#pragma omp parallel for schedule(static) num_threads(e->threads) if (A->cells > 8192)
  for (size_t t = 0; t < tasks; t++) gmg_field_map(gmg_residual_point, A, t, f, u, 0, 0, r);
}

static double sum_of_squares(const real *x, size_t n)
{
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (size_t i = 0; i < n; i++) sum += (double)x[i] * (double)x[i];
  return sum;
}

/* Sums are made over shares of the tasks, which depend on the sizes alone. */
enum { SHARES = 256 };

static int shares_of(size_t tasks) { return tasks < SHARES ? (int)tasks : SHARES; }

/* The norms of f - A u and of f; r = scale (f - A u) in the narrower type. */
static double measure(const gmg_exec *e, const gmg_operator *A, const void *f, const void *u, double scale, void *r, double *f_norm)
{
  const size_t tasks = gmg_tasks(A), share = tasks / SHARES + 1;
  const real factor = (real)scale;
  const int shares = shares_of(tasks);
  double part[SHARES], f_part[SHARES], sum = 0, f_sum = 0;
#pragma omp parallel for schedule(static) num_threads(e->threads) if (A->cells > 8192)
  for (int s = 0; s < shares; s++) {
    real line[GMG_SEGMENT];
    part[s] = f_part[s] = 0;
    for (size_t t = (size_t)s * share; t < tasks && t < (size_t)(s + 1) * share; t++) {
      const gmg_task w = gmg_blocked_task(A, t);
      const size_t length = w.end - w.begin;
      gmg_task_map(gmg_residual_point, A, w, f, u, 0, 0, line);
      part[s] += sum_of_squares(line, length);
      if (f_norm) f_part[s] += sum_of_squares((const real *)f + w.offset + w.begin, length);
      if (!r) continue;
      narrow_real *restrict to = (narrow_real *)r + w.offset + w.begin;
#pragma omp simd
      for (size_t i = 0; i < length; i++) to[i] = (narrow_real)(factor * line[i]);
    }
  }
  for (int s = 0; s < shares; s++) sum += part[s], f_sum += f_part[s];
  if (f_norm) *f_norm = sqrt(f_sum);
  return sqrt(sum);
}

static double residual_norm(const gmg_exec *e, const gmg_operator *A, const void *f, const void *u, double *f_norm)
{
  return measure(e, A, f, u, 1, NULL, f_norm);
}

static void scaled_residual(const gmg_exec *e, const gmg_operator *A, const void *f, const void *u, const double *size, void *r)
{
  (void)measure(e, A, f, u, 1 / *size, r, NULL);
}

static double residual_to_low(const gmg_exec *e, const gmg_operator *A, const void *f, const void *u, const double *size, gmg_scale *s,
                              void *r, double *f_norm, gmg_wait wait)
{
  const double scale = size ? 1 / *size : s->next, norm = measure(e, A, f, u, scale, r, f_norm);
  gmg_scale_note(s, scale, norm);
  return wait ? norm : NAN;
}

static void apply(const gmg_exec *e, const gmg_operator *A, const void *u, void *v)
{
  const size_t tasks = gmg_tasks(A);
#pragma omp parallel for schedule(static) num_threads(e->threads) if (A->cells > 8192)
  for (size_t t = 0; t < tasks; t++) gmg_field_map(gmg_apply_point, A, t, NULL, u, 0, 0, v);
}

GMG_INLINE real over_diagonal_point(const int dim, gmg_row a, gmg_neighbours near, real f, real u, real c0, real c1, real old)
{
  (void)dim, (void)near, (void)u, (void)c0, (void)c1, (void)old;
  return f / a.diag;
}

static void over_diagonal(const gmg_exec *e, const gmg_operator *A, const void *f, void *v)
{
  const size_t tasks = gmg_tasks(A);
#pragma omp parallel for schedule(static) num_threads(e->threads) if (A->cells > 8192)
  for (size_t t = 0; t < tasks; t++) gmg_field_map(over_diagonal_point, A, t, f, f, 0, 0, v);
}

GMG_INLINE real absolute(real x) { return x < 0 ? -x : x; }

GMG_INLINE real magnitude_point(const int dim, gmg_row a, gmg_neighbours near, real f, real u, real c0, real c1, real old)
{
  (void)f, (void)c0, (void)c1, (void)old;
  for (int d = 0; d < dim; d++) near.lo[d] = absolute(near.lo[d]), near.hi[d] = absolute(near.hi[d]);
  return a.diag * absolute(u) + gmg_row_sum(dim, a, near);
}

static double magnitude(const gmg_exec *e, const gmg_operator *A, const void *u)
{
  const size_t tasks = gmg_tasks(A), share = tasks / SHARES + 1;
  const int shares = shares_of(tasks);
  double part[SHARES], sum = 0;
#pragma omp parallel for schedule(static) num_threads(e->threads) if (A->cells > 8192)
  for (int s = 0; s < shares; s++) {
    real line[GMG_SEGMENT];
    part[s] = 0;
    for (size_t t = (size_t)s * share; t < tasks && t < (size_t)(s + 1) * share; t++) {
      const gmg_task w = gmg_blocked_task(A, t);
      gmg_task_map(magnitude_point, A, w, NULL, u, 0, 0, line);
      part[s] += sum_of_squares(line, w.end - w.begin);
    }
  }
  for (int s = 0; s < shares; s++) sum += part[s];
  return sqrt(sum);
}

/* Sum of w c y along a task's line, c of either type, which is a constant where this is inlined; y = NULL: sum of w c. */
GMG_INLINE double line_dot(const int narrow, const gmg_operator *A, const gmg_task w, const void *c, const void *y)
{
  const real *restrict w0 = A->weight[0], *restrict wide = (const real *)c + w.offset;
  const narrow_real *restrict slim = (const narrow_real *)c + w.offset;
  const real *restrict Y = y ? (const real *)y + w.offset : NULL;
  double sum = 0;
  if (Y) {
#pragma omp simd reduction(+ : sum)
    for (size_t i = w.begin; i < w.end; i++) sum += (double)w0[i] * (narrow ? (double)slim[i] : (double)wide[i]) * (double)Y[i];
  } else {
#pragma omp simd reduction(+ : sum)
    for (size_t i = w.begin; i < w.end; i++) sum += (double)w0[i] * (narrow ? (double)slim[i] : (double)wide[i]);
  }
  return (double)((const real *)A->weight[1])[w.j] * (double)((const real *)A->weight[2])[w.k] * sum;
}

/* The same over a field. */
static double field_dot(const gmg_exec *e, const gmg_operator *A, int narrow, const void *c, const void *y)
{
  const size_t tasks = gmg_tasks(A), share = tasks / SHARES + 1;
  const int shares = shares_of(tasks);
  double part[SHARES], sum = 0;
#pragma omp parallel for schedule(static) num_threads(e->threads) if (A->cells > 8192)
  for (int s = 0; s < shares; s++) {
    part[s] = 0;
    for (size_t t = (size_t)s * share; t < tasks && t < (size_t)(s + 1) * share; t++) {
      const gmg_task w = gmg_task_at(A, t);
      part[s] += narrow ? line_dot(1, A, w, c, y) : line_dot(0, A, w, c, y);
    }
  }
  for (int s = 0; s < shares; s++) sum += part[s];
  return sum;
}

static double dot(const gmg_exec *e, const gmg_operator *A, const void *x, const void *y) { return field_dot(e, A, 0, x, y); }

static void cg_beta(const gmg_exec *e, const gmg_operator *A, gmg_correction c, const void *y, int flexible, gmg_cg_scalars *d)
{
  gmg_cg_set_beta(d, flexible, (c.size ? *c.size : 1) * field_dot(e, A, c.narrow, c.z, y));
}

static void remove_mean(const gmg_exec *e, const gmg_operator *A, double volume, void *x)
{
  e->vector->add(e, A->cells, -dot(e, A, x, NULL) / volume, x);
}

extern void R(gmg_tensor_host)(const gmg_exec *e, const gmg_map map[3], const void *x, void *y, int add);
extern void R(gmg_restrict_residual_host)(const gmg_exec *e, const gmg_operator *A, const gmg_map map[3], const void *f,
                                          const void *u, void *r, void *coarse);
extern double R(gmg_correct_residual_host)(const gmg_exec *e, const gmg_operator *A, gmg_correction c, const void *f, void *u,
                                           const double *size, gmg_scale *s, void *r, gmg_wait wait);
extern void R(gmg_cg_direction_host)(const gmg_exec *e, const gmg_operator *A, gmg_correction c, gmg_cg_scalars *d, void *p,
                                     const void *x, void *q);
extern void R(gmg_prolong_faces_host)(const gmg_exec *e, const gmg_operator *A, const gmg_map map[3], const void *c, void *u);
extern void R(gmg_harmonic_faces_host)(const gmg_exec *e, const gmg_operator *A, const gmg_faces *faces, const void *beta);
extern void R(gmg_copy_faces_host)(const gmg_exec *e, const gmg_operator *A, int axis, const void *beta_face);
extern void R(gmg_coarsen_walls_host)(const gmg_exec *e, const gmg_operator *A, const gmg_operator *C, const gmg_map map[3], int a);
extern void R(gmg_fold_host)(const gmg_exec *e, const gmg_operator *A, const gmg_faces *faces, void *f);
extern void R(gmg_pad_host)(const gmg_exec *e, const gmg_operator *A, const gmg_faces *faces, const void *u, void *padded);
extern void R(gmg_flux_host)(const gmg_exec *e, const gmg_operator *A, const gmg_faces *faces, int axis, const void *u,
                             void *flux, void *gradient);

static void interpolated_residual(const gmg_exec *e, const gmg_operator *A, const gmg_map map[3], const void *coarse, const void *f,
                                  void *u, const double *size, void *r)
{
  R(gmg_tensor_host)(e, map, coarse, u, 0);
  scaled_residual(e, A, f, u, size, r);
}

const gmg_stencil_ops R(gmg_stencil_host) = {.residual = residual,
                                             .residual_norm = residual_norm,
                                             .residual_to_low = residual_to_low,
                                             .scaled_residual = scaled_residual,
                                             .interpolated_residual = interpolated_residual,
                                             .restrict_residual = R(gmg_restrict_residual_host),
                                             .apply = apply,
                                             .over_diagonal = over_diagonal,
                                             .magnitude = magnitude,
                                             .dot = dot,
                                             .remove_mean = remove_mean,
                                             .cg_beta = cg_beta,
                                             .cg_direction = R(gmg_cg_direction_host),
                                             .correct_residual = R(gmg_correct_residual_host),
                                             .tensor = R(gmg_tensor_host),
                                             .prolong_faces = R(gmg_prolong_faces_host),
                                             .fold = R(gmg_fold_host),
                                             .harmonic_faces = R(gmg_harmonic_faces_host),
                                             .copy_faces = R(gmg_copy_faces_host),
                                             .coarsen_walls = R(gmg_coarsen_walls_host),
                                             .flux = R(gmg_flux_host),
                                             .pad = R(gmg_pad_host)};
