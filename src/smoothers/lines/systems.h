/* Line relaxation: what host and device share. Which lines are relaxed at once, and a row of the elimination. Compiled as C and as
   CUDA. Private to this folder. */
#ifndef GMG_SMOOTHERS_LINES_SYSTEMS_H
#define GMG_SMOOTHERS_LINES_SYSTEMS_H

#include "stencil/operator/row.h"

/* --- colours ------------------------------------------------------------------------------------------------------------------ */

/* Lines run along `axis`. Of the other two axes `beside` is the one with the smaller distance between its unknowns. */
typedef struct {
  int axis, beside, third;
} lines_axes;

GMG_INLINE lines_axes lines_axes_of(int axis)
{
  const lines_axes x = {axis, axis == 0, axis == 2 ? 1 : 2};
  return x;
}

/* Lines that are relaxed at once, and are not coupled: one colour in one phase. Where an axis across is periodic and has an odd
   number of lines, the last line has a phase of its own. */
typedef struct {
  size_t colour, phase;
} lines_part;

/* diagonal: whether a line is coupled to lines that are its diagonal neighbours. Then 3D has a colour for each parity along the
   axes across. Otherwise lines are coloured like a chess board. */
GMG_INLINE size_t lines_colours(const gmg_operator *A, int diagonal) { return diagonal && A->dim > 2 ? 4 : 2; }

GMG_INLINE size_t lines_phases(const gmg_operator *A, lines_axes x, int diagonal)
{
  const size_t beside = (size_t)gmg_odd_seam(A, x.beside), third = (size_t)gmg_odd_seam(A, x.third);
  return diagonal ? (1 + beside) * (1 + third) : 1 + beside + third;
}

/* Part number i of a sweep, which has one for each colour and phase. */
GMG_INLINE lines_part lines_part_at(size_t colours, size_t phases, size_t i, int reversed)
{
  const size_t at = reversed ? colours * phases - 1 - i : i;
  const lines_part p = {at / phases, at % phases};
  return p;
}

/* The place along `beside` of the first line of a colour of the chess board. */
GMG_INLINE size_t lines_first_of(size_t colour, size_t third) { return (colour + third) % 2; }

/* What place i along an axis across adds to the phase. */
GMG_INLINE size_t lines_phase_at(const gmg_operator *A, int across, size_t i)
{
  return (size_t)(gmg_odd_seam(A, across) && i + 1 == A->n[across]);
}

/* --- elimination -------------------------------------------------------------------------------------------------------------- */

/* Whether x is more than rounding leaves of a diagonal: 4 units. */
GMG_INLINE int lines_exceeds_rounding(real x, real diag)
{
  return x > (sizeof(real) == sizeof(float) ? (real)5e-7 : (real)9e-16) * diag;
}

/* Rounding alone makes the last pivot of a singular line. Its last correction is 0 then. */
GMG_INLINE real lines_inverse(real pivot, real diag) { return lines_exceeds_rounding(pivot, diag) ? 1 / pivot : 0; }

/* Unknown k of a system after elimination from its first row: x_k = d + q x_(k+1) + z x_border. The border is an unknown that is
   not known yet. Before the first row d = q = 0, and z = 1 if the border is the unknown below that row, 0 if there is none. */
typedef struct {
  scalar d;
  real q, z;
} lines_unknown;

/* A row: diag x_k = r + lo x_(k-1) + hi x_(k+1). */
typedef struct {
  real lo, hi, diag;
  scalar r;
} lines_row;

/* Gaussian elimination without pivoting (Thomas 1949). */
GMG_INLINE lines_unknown lines_eliminated(lines_row a, lines_unknown below)
{
  const real inverse = lines_inverse(a.diag - a.lo * below.q, a.diag);
  const lines_unknown x = {(a.r + a.lo * below.d) * inverse, a.hi * inverse, a.lo * below.z * inverse};
  return x;
}

#endif
