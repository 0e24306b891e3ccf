/* What constant and variable box stencils have in common besides their rows. Calls core; called by the kinds of box stencils. */
#ifndef GMG_STENCIL_BOX_PROBLEM_H
#define GMG_STENCIL_BOX_PROBLEM_H

#include "stencil/grid_ops.h"

/* Beside entries that are larger than the centre by more rounding would spoil it, and no smoother converges. A
   symmetric matrix with such a row is badly scaled, D A D with a diagonal D that jumps. Interpolation takes neighbours to be alike:
   there it adds more error than a cycle removes. */
#define GMG_MOST_OVER_CENTRE 1e6

/* Refuses what box stencils cannot have: coefficients and positions, Robin walls. */
gmg_status gmg_box_check_problem(gmg_context *c, const gmg_problem *p);

/* The range of eigenvalues of D^-1 A at high frequencies, for these entries in all rows: of the symbol at all frequencies that are
   high along a coarsened axis. The frequencies are multiples of 2 pi / samples; samples: at most 16. */
void gmg_box_smoothing_range(const gmg_operator *A, const double entry[27], double shift, int samples, double *lowest,
                             double *highest);

#endif
