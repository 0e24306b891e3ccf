/* The row of a box stencil: 3, 9 or 27 points. Compiled as C and as CUDA. Calls core; included by the kernels of box stencils, also
   those of smoothers. */
#ifndef GMG_STENCIL_BOX_BOX_H
#define GMG_STENCIL_BOX_BOX_H

#include "stencil/operator/row.h"

#include "core/real.h"
#include "gmg_smoother.h"

/* The operator of a level, for kernels. */
typedef struct {
  gmg_layout layout;
  int dim, wraps[3], mirrors[3][2];
  real entry[27]; /* the shift included */
  real diag;      /* entry[13], plus all entries of neighbours that are the unknown itself */
} gmg_box_rows;

/* Whether neighbour a along an axis (0: below, 1: the unknown itself, 2: above) is the unknown itself. */
GMG_INLINE int gmg_box_is_itself(const gmg_operator *A, int axis, int a)
{
  return a == 1 || (A->n[axis] == 1 && A->box->mirrors[axis][a / 2]);
}

static inline gmg_box_rows gmg_box_rows_of(const gmg_operator *A)
{
  gmg_box_rows s;
  double diag = A->shift;
  s.layout = gmg_layout_of_u(A), s.dim = A->dim;
  for (int a = 0; a < 3; a++) {
    s.wraps[a] = A->wraps[a];
    for (int side = 0; side < 2; side++) s.mirrors[a][side] = A->box->mirrors[a][side];
  }
  for (int e = 0; e < 27; e++) {
    s.entry[e] = (real)(A->box->entry[e] + (e == 13 ? A->shift : 0));
    if (gmg_box_is_itself(A, 0, e % 3) && gmg_box_is_itself(A, 1, e / 3 % 3) && gmg_box_is_itself(A, 2, e / 9))
      diag += A->box->entry[e];
  }
  s.diag = (real)diag;
  return s;
}

/* The neighbours of an unknown along an axis: the distances to them, in elements, and whether they exist. [1] is the unknown
   itself. Walls that mirror are found here alone. */
typedef struct {
  long to[3];
  int there[3];
} gmg_box_steps;

GMG_INLINE gmg_box_steps gmg_box_steps_at(const gmg_box_rows *s, int axis, size_t i)
{
  const long n = (long)s->layout.n[axis], pitch = (long)gmg_pitch(s->layout, axis), inside = n > 1 ? pitch : 0;
  const int low = i > 0, high = (long)i + 1 < n;
  const gmg_box_steps x = {
      {low ? -pitch : s->wraps[axis] ? (n - 1) * pitch : inside, 0, high ? pitch : s->wraps[axis] ? -(n - 1) * pitch : -inside},
      {low || s->wraps[axis] || s->mirrors[axis][0], 1, high || s->wraps[axis] || s->mirrors[axis][1]}};
  return x;
}

/* Range of the entries along axis 1 or 2: all three, or the middle one where the axis does not exist. */
GMG_INLINE int gmg_box_first(int dim, int axis) { return dim > axis ? 0 : 1; }
GMG_INLINE int gmg_box_last(int dim, int axis) { return dim > axis ? 2 : 1; }

/* |A| |u| for the unknown at *u. */
GMG_INLINE real gmg_box_magnitude(const gmg_box_rows *s, gmg_box_steps x, gmg_box_steps y, gmg_box_steps z, const scalar *u)
{
  real sum = 0;
  for (int c = gmg_box_first(s->dim, 2); c <= gmg_box_last(s->dim, 2); c++)
    for (int b = gmg_box_first(s->dim, 1); b <= gmg_box_last(s->dim, 1); b++)
      for (int a = 0; a < 3; a++)
        if (x.there[a] && y.there[b] && z.there[c])
          sum += gmg_absolute(s->entry[a + 3 * b + 9 * c]) * gmg_absolute(u[x.to[a] + y.to[b] + z.to[c]]);
  return sum;
}

/* A u for the unknown at *u. dim is a constant after inlining. */
GMG_INLINE scalar gmg_box_image(const int dim, const gmg_box_rows *s, gmg_box_steps x, gmg_box_steps y, gmg_box_steps z,
                              const scalar *u)
{
  scalar sum = 0;
  for (int c = gmg_box_first(dim, 2); c <= gmg_box_last(dim, 2); c++)
    for (int b = gmg_box_first(dim, 1); b <= gmg_box_last(dim, 1); b++)
      for (int a = 0; a < 3; a++)
        if (x.there[a] && y.there[b] && z.there[c]) sum += s->entry[a + 3 * b + 9 * c] * u[x.to[a] + y.to[b] + z.to[c]];
  return sum;
}

#endif
