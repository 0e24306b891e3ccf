/* Local Fourier analysis (Brandt 1977; Trottenberg, Oosterlee, Schueller 2001, chapters 3 and 4): the factor of the
   two-grid cycle on an infinite grid. Called by plan and by tests. */
#ifndef GMG_LFA_H
#define GMG_LFA_H

#include "gmg_smoother.h"

/* Spectral radius of the two-grid cycle, the largest over a grid of frequencies: all multiples of 2 pi / samples for
   which the coarse grid stands, without the constants. A tells couplings and coarsened axes. For a periodic problem with
   `samples` unknowns an axis this is the exact factor. NaN without symbol. */
double gmg_lfa_two_grid(const gmg_operator *A, gmg_centering centering, const gmg_params *params, int symmetric,
                        int samples);

#endif
