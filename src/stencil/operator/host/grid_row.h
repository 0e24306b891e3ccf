/* Lines: the unknowns along axis 0 at one (j, k). Host kernels process a line at a time, so that their loops run over contiguous
   memory. A line has pointers to its neighbouring lines, and the coefficients of axes 1 and 2. The two end unknowns are computed
   separately, because their neighbours may lie across a seam. Long lines are divided into segments for threads. Calls row.h;
   included by the host kernels of stencil and smoothers. */
#ifndef GMG_STENCIL_OPERATOR_HOST_GRID_ROW_H
#define GMG_STENCIL_OPERATOR_HOST_GRID_ROW_H

#include "stencil/operator/row.h"

#include "core/part.h"

#include <stdint.h>

enum { GMG_SEGMENT = 4096 };

typedef struct {
  const scalar *u, *y_lo, *y_hi, *z_lo, *z_hi; /* this line and its neighbours */
  const real *lo, *hi, *diag;                /* coefficients along axis 0 */
  real c_lo[3], c_hi[3], c_diag, c_rest;     /* coefficients along axes 1 and 2; c_diag and c_rest include the shift */
  const real *lo_diag, *hi_diag;             /* with coefficients on faces: the faces' parts of the diagonal */
  real d_lo[3], d_hi[3];
  const real *x_face, *y_face[2], *z_face[2], *sigma;
  const scalar *before, *after; /* values beyond the two ends. Another thread may write them, so they are read only when needed */
  size_t n;
  int uniform; /* lo, hi and diag are equal except at the ends */
} gmg_line;

/* A segment of a line. */
typedef struct {
  size_t begin, end, j, k;
  size_t offset; /* of the line's first unknown in a field */
} gmg_task;

/* Whether lines need several segments: those of the level as a whole, or those of a part, which may be longer by its ghosts. */
static inline int gmg_has_long_lines(const gmg_operator *A)
{
  return A->n[0] > GMG_SEGMENT || (A->part && A->part->whole[0] > GMG_SEGMENT);
}

static inline size_t gmg_segments(const gmg_operator *A) { return (A->n[0] + GMG_SEGMENT - 1) / GMG_SEGMENT; }
static inline size_t gmg_tasks(const gmg_operator *A) { return gmg_segments(A) * A->n[1] * A->n[2]; }

/* Lines are processed in blocks of GMG_LINES, each block through all planes: a plane needs only the block's lines of the previous
   one, which are still in the cache. gmg_blocked_line() is line number t in this order. */
enum { GMG_LINES = 32 };

static inline size_t gmg_blocked_line(size_t rows, size_t planes, size_t t)
{
  const size_t block = t / (GMG_LINES * planes), first = block * GMG_LINES, rest = t - first * planes;
  const size_t high = rows - first < GMG_LINES ? rows - first : GMG_LINES;
  return rest / high * rows + first + rest % high;
}

static inline gmg_task gmg_task_at(const gmg_operator *A, size_t t)
{
  const size_t segments = gmg_segments(A);
  const size_t line = t / segments, begin = t % segments * GMG_SEGMENT;
  const size_t end = begin + GMG_SEGMENT < A->n[0] ? begin + GMG_SEGMENT : A->n[0];
  const gmg_line_place at = gmg_line_place_of(line, A->n);
  return (gmg_task){begin, end, at.j, at.k, gmg_offset(gmg_layout_of(A), 0, at.j, at.k)};
}

/* The number of the task that contains unknown (i, j, k). */
static inline size_t gmg_task_number(const gmg_operator *A, size_t i, size_t j, size_t k)
{
  return (k * A->n[1] + j) * gmg_segments(A) + i / GMG_SEGMENT;
}

static inline gmg_task gmg_whole_line(const gmg_operator *A, size_t j, size_t k)
{
  return (gmg_task){0, A->n[0], j, k, gmg_offset(gmg_layout_of(A), 0, j, k)};
}

/* Line m of a slice. A slice is a plane in 3D, and a line in 2D. */
static inline gmg_task gmg_line_of_slice(const gmg_operator *A, size_t slice, size_t m)
{
  return A->dim == 3 ? gmg_whole_line(A, m, slice) : gmg_whole_line(A, slice, 0);
}

static inline gmg_task gmg_blocked_task(const gmg_operator *A, size_t t)
{
  const size_t segments = gmg_segments(A);
  return gmg_task_at(A, gmg_blocked_line(A->n[1], A->n[2], t / segments) * segments + t % segments);
}

/* The coefficients of line (j, k). The caller sets the values. */
static inline gmg_line gmg_line_coefficients(const gmg_operator *A, size_t j, size_t k)
{
  const size_t at = gmg_offset(gmg_layout_of(A), 0, j, k);
  const real *const *lo = (const real *const *)A->lo, *const *hi = (const real *const *)A->hi;
  const real *const *diag = (const real *const *)A->diag, *const *face = (const real *const *)A->face;
  const real *const *lo_diag = (const real *const *)A->lo_diag, *const *hi_diag = (const real *const *)A->hi_diag;
  gmg_line l = {.lo = lo[0],
                .hi = hi[0],
                .diag = diag[0],
                .c_lo = {0, lo[1][j], lo[2][k]},
                .c_hi = {0, hi[1][j], hi[2][k]},
                .c_diag = diag[1][j] + diag[2][k] + (real)A->shift,
                .c_rest = gmg_rest_along(j, A->n[1], lo[1], hi[1], diag[1]) + gmg_rest_along(k, A->n[2], lo[2], hi[2], diag[2]) +
                          (real)A->shift,
                .n = A->n[0],
                .uniform = A->uniform[0]};
  if (A->sigma) l.sigma = (const real *)A->sigma + at;
  if (!face[0]) return l;
  l.c_diag = l.c_rest = (real)A->shift;
  l.lo_diag = lo_diag[0], l.hi_diag = hi_diag[0];
  l.x_face = face[0] + gmg_offset(gmg_face_layout_of(A, 0), 0, j, k);
  if (A->dim > 1) {
    l.d_lo[1] = lo_diag[1][j], l.d_hi[1] = hi_diag[1][j];
    const gmg_layout across = gmg_face_layout_of(A, 1);
    l.y_face[0] = face[1] + gmg_offset(across, 0, j, k), l.y_face[1] = l.y_face[0] + across.row;
  }
  if (A->dim > 2) {
    l.d_lo[2] = lo_diag[2][k], l.d_hi[2] = hi_diag[2][k];
    const gmg_layout across = gmg_face_layout_of(A, 2);
    l.z_face[0] = face[2] + gmg_offset(across, 0, j, k), l.z_face[1] = l.z_face[0] + gmg_pitch(across, 2);
  }
  return l;
}

/* Line (j, k) of an array u of the given layout. */
static inline gmg_line gmg_line_in(const gmg_operator *A, gmg_layout at, const scalar *u, size_t j, size_t k)
{
  gmg_line l = gmg_line_coefficients(A, j, k);
  l.u = u + gmg_offset(at, 0, j, k);
  l.y_lo = u + gmg_offset(at, 0, gmg_below(A, 1, j), k), l.y_hi = u + gmg_offset(at, 0, gmg_above(A, 1, j), k);
  l.z_lo = u + gmg_offset(at, 0, j, gmg_below(A, 2, k)), l.z_hi = u + gmg_offset(at, 0, j, gmg_above(A, 2, k));
  l.before = l.u + gmg_below(A, 0, 0), l.after = l.u + gmg_above(A, 0, A->n[0] - 1);
  return l;
}

/* Line (j, k) of the level's own field u, as smoothers see it. A choice of
   layouts here makes a cycle with red-black about 5 % slower. */
static inline gmg_line gmg_line_at(const gmg_operator *A, const scalar *u, size_t j, size_t k)
{
  return gmg_line_in(A, gmg_layout_of(A), u, j, k);
}

GMG_INLINE gmg_row gmg_line_row(const int dim, const int kind, const gmg_line *l, size_t i)
{
  gmg_row r = {.lo = {l->lo[i], l->c_lo[1], l->c_lo[2]}, .hi = {l->hi[i], l->c_hi[1], l->c_hi[2]}, .diag = l->c_diag,
               .rest = l->c_rest};
  if (kind & GMG_FACES) {
    const real low[3] = {l->x_face[i], dim > 1 ? l->y_face[0][i] : 0, dim > 2 ? l->z_face[0][i] : 0};
    const real high[3] = {l->x_face[i + 1], dim > 1 ? l->y_face[1][i] : 0, dim > 2 ? l->z_face[1][i] : 0};
    r.diag += gmg_two_weights(l->lo_diag[i], low[0], l->hi_diag[i], high[0]);
    r.rest += gmg_two_weights(l->lo_diag[i] - r.lo[0], low[0], l->hi_diag[i] - r.hi[0], high[0]);
    if (dim > 1) r.rest += gmg_two_weights(l->d_lo[1] - r.lo[1], low[1], l->d_hi[1] - r.hi[1], high[1]);
    if (dim > 2) r.rest += gmg_two_weights(l->d_lo[2] - r.lo[2], low[2], l->d_hi[2] - r.hi[2], high[2]);
    r.lo[0] *= low[0], r.hi[0] *= high[0];
    if (dim > 1) r.diag += gmg_two_weights(l->d_lo[1], low[1], l->d_hi[1], high[1]), r.lo[1] *= low[1], r.hi[1] *= high[1];
    if (dim > 2) r.diag += gmg_two_weights(l->d_lo[2], low[2], l->d_hi[2], high[2]), r.lo[2] *= low[2], r.hi[2] *= high[2];
  } else {
    r.diag += l->diag[i];
    r.rest += gmg_rest_along(i, l->n, l->lo, l->hi, l->diag);
  }
  if (kind & GMG_SIGMA) r.diag += l->sigma[i], r.rest += l->sigma[i];
  return r;
}

/* gmg_line_row() for inner unknowns of a line. On a uniform axis constant coefficients are not loaded for every unknown. At 256^3
   the residual takes 2 % less time, and its norm 5 % less. */
GMG_INLINE gmg_row gmg_line_inner_row(const int dim, const int kind, const int uniform, const gmg_line *l, size_t i)
{
  return gmg_line_row(dim, kind, l, uniform && kind == GMG_CONSTANT ? 1 : i);
}

/* The form of an operator, one of GMG_FORMS. */
static inline int gmg_form_of(const gmg_operator *A) { return GMG_FORM(A->dim, gmg_coefficients_of(A)); }

GMG_INLINE gmg_neighbours gmg_line_near(const gmg_line *l, size_t i, scalar left, scalar right)
{
  return (gmg_neighbours){.lo = {left, l->y_lo[i], l->z_lo[i]}, .hi = {right, l->y_hi[i], l->z_hi[i]}};
}

/* Neighbours along the line at any i, including the ends. For loops that need not be fast everywhere. */
GMG_INLINE scalar gmg_line_left(const gmg_line *l, size_t i) { return i > 0 ? l->u[i - 1] : *l->before; }
GMG_INLINE scalar gmg_line_right(const gmg_line *l, size_t i) { return i + 1 < l->n ? l->u[i + 1] : *l->after; }

/* 1 / diagonal along a line with constant coefficients. It depends on the line only through the diagonal of the other axes. */
typedef struct {
  real of, inverse[GMG_SEGMENT]; /* of: the other axes' part of the diagonal; -1: not computed yet (diagonals are positive) */
} gmg_inverse;

static inline const real *gmg_inverse_along(gmg_inverse *known, const gmg_line *l)
{
  if (known->of == l->c_diag) return known->inverse;
  for (size_t i = 0; i < l->n; i++) known->inverse[i] = 1 / (l->diag[i] + l->c_diag);
  known->of = l->c_diag;
  return known->inverse;
}

/* Relaxes the unknowns begin .. end - 1 whose index has the given parity. u are the line's own values; it must have one more value
   beyond either end. All lanes are computed and half of them are stored, because unit stride is faster than half the work. No
   neighbour that is read here is written here. inverse: 1 / diagonal, or NULL. */
GMG_INLINE void gmg_line_relax(const int dim, const int kind, const gmg_line *l, const scalar *f, scalar *u, int begin, int end,
                               int parity, const real *inverse, real omega)
{
  if (kind == GMG_CONSTANT && inverse) {
#pragma omp simd
    for (int i = begin; i < end; i++)
      if ((i & 1) == parity) {
        const gmg_neighbours near = gmg_line_near(l, (size_t)i, u[i - 1], u[i + 1]);
        u[i] = gmg_row_relaxed_by(dim, gmg_line_row(dim, kind, l, (size_t)i), near, f[i], u[i], inverse[i], omega);
      }
    return;
  }
#pragma omp simd
  for (int i = begin; i < end; i++)
    if ((i & 1) == parity) {
      const gmg_neighbours near = gmg_line_near(l, (size_t)i, u[i - 1], u[i + 1]);
      u[i] = gmg_row_relaxed(dim, kind, gmg_line_row(dim, kind, l, (size_t)i), near, f[i], u[i], omega);
    }
}

/* A function of one unknown: of its row, the values around it, two constants c0 and c1, and the previous value of the result. */
typedef scalar gmg_point(const int dim, gmg_row a, gmg_neighbours near, scalar f, scalar u, real c0, real c1, scalar old);

GMG_INLINE scalar gmg_residual_point(const int dim, gmg_row a, gmg_neighbours near, scalar f, scalar u, real c0, real c1,
                                     scalar old)
{
  (void)c0, (void)c1, (void)old;
  return gmg_row_residual(dim, a, near, f, u);
}

GMG_INLINE scalar gmg_apply_point(const int dim, gmg_row a, gmg_neighbours near, scalar f, scalar u, real c0, real c1, scalar old)
{
  (void)f, (void)c0, (void)c1, (void)old;
  return gmg_product_less(a.diag, u, gmg_row_sum(dim, a, near));
}

GMG_INLINE scalar gmg_image_point(const int dim, gmg_row a, gmg_neighbours near, scalar f, scalar u, real c0, real c1, scalar old)
{
  (void)f, (void)c0, (void)c1, (void)old;
  return gmg_row_image(dim, a, near, u);
}

/* Scalars from p to the next cache line. */
static inline size_t gmg_until_aligned(const scalar *p) { return (64 - (uintptr_t)p % 64) % 64 / sizeof(scalar); }

/* out[i - begin] = point(...) for the unknowns from .. to - 1, without the ends of the line. The long loop starts on a cache line
   of u: 0.7 instead of 0.87 ns per unknown in cache. */
GMG_INLINE void gmg_line_map_inside(const int dim, const int kind, const int uniform, gmg_point *const point, const gmg_line *l,
                                    size_t begin, size_t from, size_t to, const scalar *restrict f, real c0, real c1,
                                    scalar *restrict out)
{
  const scalar *u = l->u;
  const size_t aligned = from + gmg_until_aligned(u + from), part[3] = {from, aligned < to ? aligned : to, to};
  for (int k = 0; k < 2; k++) {
#pragma omp simd
    for (size_t i = part[k]; i < part[k + 1]; i++)
      out[i - begin] = point(dim, gmg_line_inner_row(dim, kind, uniform, l, i), gmg_line_near(l, i, u[i - 1], u[i + 1]), f[i],
                             u[i], c0, c1, out[i - begin]);
  }
}

/* out = point(...) for the unknowns begin .. end - 1 of a line, including its ends. `old` is the previous value in out, which must
   not overlap u. How an unknown is computed must not depend on the alignment of the fields, because results would differ. */
GMG_INLINE void gmg_line_map(const int dim, const int kind, gmg_point *const point, const gmg_line line, size_t begin,
                             size_t end, const scalar *restrict f, real c0, real c1, scalar *restrict out)
{
  const gmg_line *const l = &line;
  const size_t last = line.n - 1, from = begin ? begin : 1, to = end < last ? end : last;
  if (begin == 0)
    out[0] = point(dim, gmg_line_row(dim, kind, l, 0), gmg_line_near(l, 0, *line.before, gmg_line_right(l, 0)), f[0], line.u[0], c0,
                   c1, out[0]);
  if (kind == GMG_CONSTANT && line.uniform)
    gmg_line_map_inside(dim, kind, 1, point, l, begin, from, to, f, c0, c1, out);
  else
    gmg_line_map_inside(dim, kind, 0, point, l, begin, from, to, f, c0, c1, out);
  if (end == line.n && last > 0)
    out[last - begin] = point(dim, gmg_line_row(dim, kind, l, last), gmg_line_near(l, last, line.u[last - 1], *line.after),
                              f[last], line.u[last], c0, c1, out[last - begin]);
}

/* gmg_line_map() for a task; its first value is stored at `out`. f must be a field, even if point() does not read it. The caller
   distributes the tasks. It must pass `point` by the function's name. Otherwise the compiler cannot inline it, and calls it for
   every unknown. */
GMG_INLINE void gmg_task_map(gmg_point *const point, const gmg_operator *A, const gmg_task w, const scalar *f, const scalar *u,
                             real c0, real c1, scalar *out)
{
  const gmg_line l = gmg_line_in(A, gmg_layout_of_u(A), u, w.j, w.k);
  const scalar *rhs = f + gmg_offset(gmg_layout_of_f(A), 0, w.j, w.k);
#define MAP(dim, kind) \
  case GMG_FORM(dim, kind): gmg_line_map(dim, kind, point, l, w.begin, w.end, rhs, c0, c1, out); break;
  switch (gmg_form_of(A)) { GMG_FORMS(MAP) }
#undef MAP
}

/* gmg_task_map() for task number t of a whole field. */
GMG_INLINE void gmg_field_map(gmg_point *const point, const gmg_operator *A, size_t t, const scalar *f, const scalar *u, real c0,
                              real c1, scalar *out)
{
  const gmg_task w = gmg_blocked_task(A, t);
  gmg_task_map(point, A, w, f, u, c0, c1, out + gmg_offset(gmg_layout_of_r(A), w.begin, w.j, w.k));
}

#endif
