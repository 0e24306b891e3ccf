/* Host kernels work on lines: the unknowns along axis 0 at one (j, k). A line knows its neighbouring lines and the
   coefficients of axes 1 and 2, so that its loop runs along contiguous memory; the two end unknowns, whose
   neighbours may lie around a periodic corner, are done by name. Long lines are cut into segments to share them out. */
#ifndef GMG_LINE_HOST_H
#define GMG_LINE_HOST_H

#include "gmg_smoother.h"

#include "row.h"

enum { GMG_SEGMENT = 4096 };

typedef struct {
  const real *u, *y_lo, *y_hi, *z_lo, *z_hi; /* this line and its neighbours */
  const real *lo, *hi, *diag;                /* coefficients along axis 0 */
  real c_lo[3], c_hi[3], c_diag;             /* of axes 1 and 2, and the shift */
  const real *before, *after; /* values beyond the two ends: another thread's, so read only by who needs them */
  size_t n;
} gmg_line;

/* Which piece of which line a task is. */
typedef struct {
  size_t begin, end, j, k;
  size_t offset; /* of the line's first unknown in a field */
} gmg_task;

static inline size_t gmg_tasks(const gmg_operator *A)
{
  return (A->n[0] + GMG_SEGMENT - 1) / GMG_SEGMENT * A->n[1] * A->n[2];
}

static inline gmg_task gmg_task_at(const gmg_operator *A, size_t t)
{
  const size_t segments = (A->n[0] + GMG_SEGMENT - 1) / GMG_SEGMENT;
  const size_t line = t / segments, begin = t % segments * GMG_SEGMENT;
  const size_t end = begin + GMG_SEGMENT < A->n[0] ? begin + GMG_SEGMENT : A->n[0];
  return (gmg_task){begin, end, line % A->n[1], line / A->n[1], line * A->n[0]};
}

static inline gmg_line gmg_line_at(const gmg_operator *A, const real *u, size_t j, size_t k)
{
  const size_t n0 = A->n[0], n1 = A->n[1];
  const real *here = u + (k * n1 + j) * n0;
  const real *const *lo = (const real *const *)A->lo, *const *hi = (const real *const *)A->hi;
  const real *const *diag = (const real *const *)A->diag;
  return (gmg_line){.u = here,
                    .y_lo = u + (k * n1 + (size_t)A->below[1][j]) * n0,
                    .y_hi = u + (k * n1 + (size_t)A->above[1][j]) * n0,
                    .z_lo = u + ((size_t)A->below[2][k] * n1 + j) * n0,
                    .z_hi = u + ((size_t)A->above[2][k] * n1 + j) * n0,
                    .lo = lo[0],
                    .hi = hi[0],
                    .diag = diag[0],
                    .c_lo = {0, lo[1][j], lo[2][k]},
                    .c_hi = {0, hi[1][j], hi[2][k]},
                    .c_diag = diag[1][j] + diag[2][k] + (real)A->shift,
                    .before = here + A->below[0][0],
                    .after = here + A->above[0][n0 - 1],
                    .n = n0};
}

GMG_INLINE gmg_row gmg_line_row(const gmg_line *l, size_t i)
{
  return (gmg_row){.lo = {l->lo[i], l->c_lo[1], l->c_lo[2]},
                   .hi = {l->hi[i], l->c_hi[1], l->c_hi[2]},
                   .diag = l->diag[i] + l->c_diag};
}

GMG_INLINE gmg_neighbours gmg_line_near(const gmg_line *l, size_t i, real left, real right)
{
  return (gmg_neighbours){.lo = {left, l->y_lo[i], l->z_lo[i]}, .hi = {right, l->y_hi[i], l->z_hi[i]}};
}

/* Neighbours along the line at any i, ends included. For loops that need not be fast at every point. */
GMG_INLINE real gmg_line_left(const gmg_line *l, size_t i) { return i > 0 ? l->u[i - 1] : *l->before; }
GMG_INLINE real gmg_line_right(const gmg_line *l, size_t i) { return i + 1 < l->n ? l->u[i + 1] : *l->after; }

/* A value computed at one point of a line from the row and its surroundings. */
typedef real gmg_point(const int dim, gmg_row a, gmg_neighbours near, real f, real u, real c0, real c1, real old);

/* out[i] = point(...) for the unknowns of a task; out must not overlap u. f may be NULL (0). `old` is out[i] before. */
GMG_INLINE void gmg_line_map(const int dim, gmg_point *const point, const gmg_line line, size_t begin, size_t end,
                             const real *restrict f, real c0, real c1, real *restrict out)
{
  const gmg_line *const l = &line;
  const size_t last = line.n - 1;
  if (begin == 0)
    out[0] = point(dim, gmg_line_row(l, 0), gmg_line_near(l, 0, *line.before, gmg_line_right(l, 0)), f ? f[0] : 0,
                   line.u[0], c0, c1, out[0]);
  const size_t from = begin ? begin : 1, to = end < last ? end : last;
  if (f) {
#pragma omp simd
    for (size_t i = from; i < to; i++)
      out[i] = point(dim, gmg_line_row(l, i), gmg_line_near(l, i, line.u[i - 1], line.u[i + 1]), f[i], line.u[i], c0, c1,
                     out[i]);
  } else {
#pragma omp simd
    for (size_t i = from; i < to; i++)
      out[i] = point(dim, gmg_line_row(l, i), gmg_line_near(l, i, line.u[i - 1], line.u[i + 1]), 0, line.u[i], c0, c1,
                     out[i]);
  }
  if (end == line.n && last > 0)
    out[last] = point(dim, gmg_line_row(l, last), gmg_line_near(l, last, line.u[last - 1], *line.after), f ? f[last] : 0,
                      line.u[last], c0, c1, out[last]);
}

/* The same for one task of a field. The caller shares out the tasks: its loop must name `point`, or the compiler would not
   see through the pointer and call it unknown by unknown. */
GMG_INLINE void gmg_task_map(gmg_point *const point, const gmg_operator *A, size_t task, const real *f, const real *u, real c0,
                             real c1, real *out)
{
  const gmg_task w = gmg_task_at(A, task);
  const gmg_line l = gmg_line_at(A, u, w.j, w.k);
  const real *rhs = f ? f + w.offset : NULL;
  if (A->dim == 1) gmg_line_map(1, point, l, w.begin, w.end, rhs, c0, c1, out + w.offset);
  if (A->dim == 2) gmg_line_map(2, point, l, w.begin, w.end, rhs, c0, c1, out + w.offset);
  if (A->dim == 3) gmg_line_map(3, point, l, w.begin, w.end, rhs, c0, c1, out + w.offset);
}

#endif
