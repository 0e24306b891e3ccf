/* The row formula: the one place where the stencil is written. Compiled by C and CUDA compilers alike; `dim` and `kind`
   are constants wherever these are inlined. Row of A:  diag u - sum over axes of (lo u_below + hi u_above). */
#ifndef GMG_STENCIL_OPERATOR_ROW_H
#define GMG_STENCIL_OPERATOR_ROW_H

#include "gmg_smoother.h"

#include "core/layout.h"
#include "core/real.h"

/* How the fields of a level lie, and the coefficients on its faces across an axis. */
GMG_INLINE gmg_layout gmg_layout_of(const gmg_operator *A) { return gmg_layout_packed(A->n); }
GMG_INLINE gmg_layout gmg_face_layout_of(const gmg_operator *A, int axis) { return gmg_layout_faces(A->n, axis); }

/* The neighbours of unknown i along an axis: around a wrap, or itself at a wall. */
GMG_INLINE size_t gmg_below(const gmg_operator *A, int axis, size_t i) { return gmg_index_below(i, A->n[axis], A->wraps[axis]); }
GMG_INLINE size_t gmg_above(const gmg_operator *A, int axis, size_t i) { return gmg_index_above(i, A->n[axis], A->wraps[axis]); }

/* Kinds of coefficients: constant beta or an array on the faces, with or without an array sigma. */
enum { GMG_CONSTANT = 0, GMG_FACES = 1, GMG_SIGMA = 2 };

GMG_INLINE int gmg_kind_of(const gmg_operator *A) { return (A->face[0] ? GMG_FACES : 0) | (A->sigma ? GMG_SIGMA : 0); }

/* Every form of a row, for switches: X(dim, kind). */
#define GMG_FORM(dim, kind) (4 * (dim) + (kind))
#define GMG_FORMS(X)                                         \
  X(1, GMG_CONSTANT) X(2, GMG_CONSTANT) X(3, GMG_CONSTANT)   \
  X(1, GMG_FACES) X(2, GMG_FACES) X(3, GMG_FACES)            \
  X(1, GMG_SIGMA) X(2, GMG_SIGMA) X(3, GMG_SIGMA)            \
  X(1, GMG_FACES | GMG_SIGMA) X(2, GMG_FACES | GMG_SIGMA) X(3, GMG_FACES | GMG_SIGMA)

/* Coefficients of one row. */
typedef struct {
  real lo[3], hi[3], diag;
} gmg_row;

/* Values of the neighbours along each axis. */
typedef struct {
  real lo[3], hi[3];
} gmg_neighbours;

/* What the neighbours contribute:  A u = diag u - sum. */
GMG_INLINE real gmg_row_sum(const int dim, const gmg_row a, const gmg_neighbours u)
{
  real s = a.lo[0] * u.lo[0] + a.hi[0] * u.hi[0];
  if (dim > 1) s += a.lo[1] * u.lo[1] + a.hi[1] * u.hi[1];
  if (dim > 2) s += a.lo[2] * u.lo[2] + a.hi[2] * u.hi[2];
  return s;
}

GMG_INLINE real gmg_row_residual(const int dim, const gmg_row a, const gmg_neighbours near, real f, real u)
{
  return f - (a.diag * u - gmg_row_sum(dim, a, near));
}

/* Over-relaxation pays as far as neighbours hold the unknown. Where an array sigma holds it, the weight goes to 1: each
   sweep would leave 1 - omega of an error that prolongation brought from beyond a jump of sigma, times all of the jump (ball
   of 1e10 in a 2D box: divergence; with this 15 cycles). */
GMG_INLINE real gmg_row_weight(const int dim, const int kind, const gmg_row a, real inverse, real omega)
{
  if (!(kind & GMG_SIGMA)) return omega;
  real held = a.lo[0] + a.hi[0];
  if (dim > 1) held += a.lo[1] + a.hi[1]; /* written out: of a loop here compilers make scalar code around it */
  if (dim > 2) held += a.lo[2] + a.hi[2];
  const real share = held * inverse;
  return 1 + (omega - 1) * share * share;
}

/* One relaxation of the unknown with weight omega. */
GMG_INLINE real gmg_row_relaxed(const int dim, const int kind, const gmg_row a, const gmg_neighbours near, real f, real u,
                                real omega)
{
  const real weight = kind & GMG_SIGMA ? gmg_row_weight(dim, kind, a, 1 / a.diag, omega) : omega;
  return u + weight * ((f + gmg_row_sum(dim, a, near)) / a.diag - u);
}

/* gmg_row_relaxed() with one over the diagonal at hand: a division costs as much as the rest. */
GMG_INLINE real gmg_row_relaxed_by(const int dim, const gmg_row a, const gmg_neighbours near, real f, real u, real inverse,
                                   real omega)
{
  return u + omega * ((f + gmg_row_sum(dim, a, near)) * inverse - u);
}

/* gmg_row_relaxed_by() if the unknown and all its neighbours are 0. */
GMG_INLINE real gmg_row_relaxed_from_zero(real f, real inverse, real omega) { return omega * (f * inverse); }

#endif
