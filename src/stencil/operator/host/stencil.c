/* Residual, operator, inner products and boundary values on host threads. */
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

/* The coefficient on the wall at (i, j) of a face, i along the faster axis p: its address and strides. */
typedef struct {
  const real *at; /* NULL: 1 */
  size_t p, q;
} wall_coefficient;

static wall_coefficient wall_at(const gmg_operator *A, int a, int side, int p, int q)
{
  size_t stride[3] = {1, A->n[0] + (a == 0), 0};
  stride[2] = stride[1] * (A->n[1] + (a == 1));
  if (!A->face[a]) return (wall_coefficient){NULL, 0, 0};
  return (wall_coefficient){(const real *)A->face[a] + (side ? A->n[a] * stride[a] : 0), stride[p], stride[q]};
}

static real wall_beta(wall_coefficient w, size_t i, size_t j) { return w.at ? w.at[i * w.p + j * w.q] : 1; }

static void fold(const gmg_exec *e, const gmg_operator *A, const gmg_faces *faces, void *f)
{
  (void)e;
  const size_t stride[3] = {1, A->n[0], A->n[0] * A->n[1]};
  for (int a = 0; a < A->dim; a++)
    for (int side = 0; side < 2; side++) {
      int p, q;
      gmg_face_axes(a, &p, &q);
      const real *g = faces->g[a][side], c = (real)faces->fold[a][side];
      const wall_coefficient wall = faces->kind[a][side] == GMG_NEUMANN ? (wall_coefficient){NULL, 0, 0} : wall_at(A, a, side, p, q);
      real *at = (real *)f + (side ? (A->n[a] - 1) * stride[a] : 0);
      for (size_t j = 0; g && j < A->n[q]; j++)
        for (size_t i = 0; i < A->n[p]; i++)
          at[j * stride[q] + i * stride[p]] += c * wall_beta(wall, i, j) * g[j * A->n[p] + i];
    }
}

/* Ghosts of one axis, over all positions of the axes already padded: face values first, from u and g; where another
   axis stands at its own ghost (edges and corners) planar extrapolation from the three known values. */
static void pad(const gmg_exec *e, const gmg_operator *A, const gmg_faces *faces, const void *u, void *padded)
{
  (void)e;
  const size_t *n = A->n, m[3] = {n[0] + 2, n[1] + 2, n[2] + 2};
  const size_t s[3] = {1, m[0], m[0] * m[1]};
  const real *U = u;
  real *P = padded;
  for (size_t k = 0; k < m[2]; k++)
    for (size_t j = 0; j < m[1]; j++)
      for (size_t i = 0; i < m[0]; i++) {
        const int inside = i > 0 && j > 0 && k > 0 && i <= n[0] && j <= n[1] && k <= n[2];
        P[i + s[1] * j + s[2] * k] = inside ? U[((k - 1) * n[1] + j - 1) * n[0] + i - 1] : 0;
      }
  for (int a = 0; a < 3; a++) { /* faces */
    int p, q;
    gmg_face_axes(a, &p, &q);
    for (int side = 0; side < 2; side++) {
      const size_t ghost = side ? n[a] + 1 : 0, from = A->wraps[a] ? (side ? 1 : n[a]) : (side ? n[a] : 1);
      const real cu = A->wraps[a] ? 1 : (real)faces->ghost_u[a][side], cg = (real)faces->ghost_g[a][side];
      const real *g = faces->g[a][side];
      const wall_coefficient wall = faces->kind[a][side] == GMG_NEUMANN ? wall_at(A, a, side, p, q) : (wall_coefficient){NULL, 0, 0};
      for (size_t j = 1; j <= n[q]; j++)
        for (size_t i = 1; i <= n[p]; i++)
          P[ghost * s[a] + i * s[p] + j * s[q]] =
              cu * P[from * s[a] + i * s[p] + j * s[q]] +
              (g ? cg / wall_beta(wall, i - 1, j - 1) * g[(j - 1) * n[p] + i - 1] : 0);
    }
  }
  for (int a = 0; a < 3; a++) /* edges, then (last pass) corners: P(-,-) = P(-,0) + P(0,-) - P(0,0) */
    for (int b = 0; b < a; b++) {
      const int c = 3 - a - b;
      const size_t c_begin = a == 2 ? 0 : 1, c_end = a == 2 ? n[c] + 2 : n[c] + 1;
      for (size_t k = c_begin; k < c_end; k++)
        for (int side = 0; side < 4; side++) {
          const size_t ga = side & 1 ? n[a] + 1 : 0, gb = side & 2 ? n[b] + 1 : 0;
          const size_t ia = A->wraps[a] ? (side & 1 ? 1 : n[a]) : (side & 1 ? n[a] : 1);
          const size_t ib = A->wraps[b] ? (side & 2 ? 1 : n[b]) : (side & 2 ? n[b] : 1);
          real *at = P + k * s[c];
          if (A->wraps[a])
            at[ga * s[a] + gb * s[b]] = at[ia * s[a] + gb * s[b]];
          else if (A->wraps[b])
            at[ga * s[a] + gb * s[b]] = at[ga * s[a] + ib * s[b]];
          else
            at[ga * s[a] + gb * s[b]] =
                at[ga * s[a] + ib * s[b]] + at[ia * s[a] + gb * s[b]] - at[ia * s[a] + ib * s[b]];
        }
    }
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
                                             .fold = fold,
                                             .harmonic_faces = R(gmg_harmonic_faces_host),
                                             .copy_faces = R(gmg_copy_faces_host),
                                             .coarsen_walls = R(gmg_coarsen_walls_host),
                                             .flux = R(gmg_flux_host),
                                             .pad = pad};
