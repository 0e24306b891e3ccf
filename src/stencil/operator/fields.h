/* The layouts of a level's fields, and of the caller's arrays on the finest level; seams of odd size. Compiled as C and as CUDA.
   Calls core; included by stencil, smoothers, coarse and mg. */
#ifndef GMG_STENCIL_OPERATOR_FIELDS_H
#define GMG_STENCIL_OPERATOR_FIELDS_H

#include "gmg_smoother.h"

#include "core/layout.h"
#include "core/part.h"

GMG_INLINE gmg_layout gmg_layout_of(const gmg_operator *A) { return gmg_layout_packed(A->n); }

/* Whether two unknowns of the same colour meet at the seam of an axis, because its size is odd. */
GMG_INLINE int gmg_odd_seam(const gmg_operator *A, int axis) { return A->wraps[axis] && A->n[axis] % 2; }

/* The unknowns of a level that belong to this process (core/part.h), for kernels that sum: all, or those that are not ghosts. */
typedef struct gmg_own_box {
  unsigned begin[3], end[3];
} gmg_own_box;

static inline gmg_own_box gmg_own_box_of_level(const gmg_operator *A)
{
  gmg_own_box b;
  for (int a = 0; a < 3; a++) {
    b.begin[a] = A->part ? (unsigned)A->part->own[a][0] : 0;
    b.end[a] = A->part ? (unsigned)A->part->own[a][1] : (unsigned)A->n[a];
  }
  return b;
}

GMG_INLINE int gmg_is_own(const gmg_own_box *b, size_t i, size_t j, size_t k)
{
  return i >= b->begin[0] && i < b->end[0] && j >= b->begin[1] && j < b->end[1] && k >= b->begin[2] && k < b->end[2];
}

/* Whether all unknowns of some planes along the last axis are the process's own, and all others are ghosts. */
static inline int gmg_has_own_planes(const gmg_operator *A)
{
  int cut_before = 0;
  for (int a = 0; a + 1 < A->dim; a++) cut_before |= A->part && gmg_is_cut(A->part, a);
  return !cut_before;
}

/* Layouts of f, u and r, for host code: those of the level's own fields, or those in gmg_operator::caller_layouts. One layout is
   chosen alone in functions that run for every line. */
static inline gmg_layout gmg_layout_of_f(const gmg_operator *A)
{
  return A->caller_layouts ? A->caller_layouts->f : gmg_layout_of(A);
}
static inline gmg_layout gmg_layout_of_u(const gmg_operator *A)
{
  return A->caller_layouts ? A->caller_layouts->u : gmg_layout_of(A);
}
static inline gmg_layout gmg_layout_of_r(const gmg_operator *A)
{
  return A->caller_layouts ? A->caller_layouts->r : gmg_layout_of(A);
}

static inline gmg_residual_layouts gmg_residual_layouts_of(const gmg_operator *A)
{
  if (A->caller_layouts) return *A->caller_layouts;
  const gmg_layout own = gmg_layout_of(A);
  return (gmg_residual_layouts){own, own, own};
}

#endif
