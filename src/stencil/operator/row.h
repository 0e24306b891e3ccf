/* The row formula. Only here is the stencil written: row of A = diag u - sum over axes of (lo u_below + hi u_above). Compiled as C
   and as CUDA. `dim` and `kind` are constants after inlining. `kind` says which coefficients are arrays (GMG_CONSTANT and so on).
   gmg_operator::kind is something else. Calls core; included by all kernels. */
#ifndef GMG_STENCIL_OPERATOR_ROW_H
#define GMG_STENCIL_OPERATOR_ROW_H

#include "gmg_smoother.h"

#include "core/real.h"
#include "fields.h"

/* Layout of the coefficients on the faces of a level across an axis. */
GMG_INLINE gmg_layout gmg_face_layout_of(const gmg_operator *A, int axis) { return gmg_layout_faces(A->n, axis); }

/* The neighbours of unknown i along an axis. At a seam, where a periodic axis closes, the neighbour is at the other end of the
   axis. At a wall it is the unknown itself. */
GMG_INLINE size_t gmg_below(const gmg_operator *A, int axis, size_t i) { return gmg_index_below(i, A->n[axis], A->wraps[axis]); }
GMG_INLINE size_t gmg_above(const gmg_operator *A, int axis, size_t i) { return gmg_index_above(i, A->n[axis], A->wraps[axis]); }

/* Which coefficients are arrays: beta on faces, sigma, both or none. The argument `kind` has these bits. */
enum { GMG_CONSTANT = 0, GMG_FACES = 1, GMG_SIGMA = 2 };

GMG_INLINE int gmg_coefficients_of(const gmg_operator *A) { return (A->face[0] ? GMG_FACES : 0) | (A->sigma ? GMG_SIGMA : 0); }

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
  real rest; /* the row sum: diag without lo and hi. 0 where there is neither a wall nor a reaction term */
} gmg_row;

/* An axis's part of gmg_row::rest without faces. It is 0 inside, where diag is lo + hi up to rounding. */
GMG_INLINE real gmg_rest_along(size_t i, size_t n, const real *lo, const real *hi, const real *diag)
{
  return i == 0 || i + 1 == n ? diag[i] - lo[i] - hi[i] : 0;
}

/* Values of the neighbours along each axis. */
typedef struct {
  scalar lo[3], hi[3];
} gmg_neighbours;

/* The contribution of the neighbours: A u = diag u - sum. */
GMG_INLINE scalar gmg_row_sum(const int dim, const gmg_row a, const gmg_neighbours u)
{
  scalar s = gmg_two_products(a.lo[0], u.lo[0], a.hi[0], u.hi[0]);
  if (dim > 1) s += gmg_two_products(a.lo[1], u.lo[1], a.hi[1], u.hi[1]);
  if (dim > 2) s += gmg_two_products(a.lo[2], u.lo[2], a.hi[2], u.hi[2]);
  return s;
}

/* A u as a sum of differences. Where u is smooth, rounding errors are those of the differences, not those of diag u. So in low
   precision directions of conjugate gradients remain conjugate: a ball in which beta is 1e4 times larger takes 7 iterations at
   512^2, and 9 with diag u - sum. */
GMG_INLINE scalar gmg_row_image(const int dim, const gmg_row a, const gmg_neighbours near, scalar u)
{
  scalar s = gmg_add_product(gmg_two_products(a.lo[0], u - near.lo[0], a.hi[0], u - near.hi[0]), a.rest, u);
  if (dim > 1) s += gmg_two_products(a.lo[1], u - near.lo[1], a.hi[1], u - near.hi[1]);
  if (dim > 2) s += gmg_two_products(a.lo[2], u - near.lo[2], a.hi[2], u - near.hi[2]);
  return s;
}

GMG_INLINE scalar gmg_row_residual(const int dim, const gmg_row a, const gmg_neighbours near, scalar f, scalar u)
{
  return f - gmg_product_less(a.diag, u, gmg_row_sum(dim, a, near));
}

/* The gain from over-relaxation falls with the couplings' share of the diagonal. The excess of the weight over 1 is multiplied by
   the square of that share. So if an array sigma dominates a row, the weight tends to 1. Reason: prolongation carries errors across
   a jump of sigma, into rows with a large sigma. There a sweep multiplies the error by 1 - weight, and the residual is about sigma
   times the error. With the weight omega in all rows, the error that is left dominates the residual: for sigma = 1e10 in a disc in
   2D, cycles diverge. With this rule a solve takes 15 cycles. */
GMG_INLINE real gmg_row_weight(const int dim, const int kind, const gmg_row a, real inverse, real omega)
{
  if (!(kind & GMG_SIGMA)) return omega;
  real couplings = a.lo[0] + a.hi[0];
  if (dim > 1) couplings += a.lo[1] + a.hi[1]; /* written out, because compilers do not vectorise around a loop here */
  if (dim > 2) couplings += a.lo[2] + a.hi[2];
  const real share = couplings * inverse;
  return 1 + (omega - 1) * share * share;
}

/* Relaxes the unknown once with weight omega. */
GMG_INLINE scalar gmg_row_relaxed(const int dim, const int kind, const gmg_row a, const gmg_neighbours near, scalar f, scalar u,
                                  real omega)
{
  const real weight = kind & GMG_SIGMA ? gmg_row_weight(dim, kind, a, 1 / a.diag, omega) : omega;
  return gmg_add_product(u, weight, (f + gmg_row_sum(dim, a, near)) / a.diag - u);
}

/* gmg_row_relaxed() with a precomputed 1 / diagonal. A division costs as much as the rest. */
GMG_INLINE scalar gmg_row_relaxed_by(const int dim, const gmg_row a, const gmg_neighbours near, scalar f, scalar u, real inverse,
                                     real omega)
{
  return gmg_add_product(u, omega, gmg_product_less(inverse, f + gmg_row_sum(dim, a, near), u));
}

/* gmg_row_relaxed_by() if the unknown and all its neighbours are 0. */
GMG_INLINE scalar gmg_row_relaxed_from_zero(scalar f, real inverse, real omega) { return omega * (f * inverse); }

#endif
