/* Relaxation weights that several smoothers share, where the caller gives none. */
#ifndef GMG_SMOOTHERS_WEIGHT_H
#define GMG_SMOOTHERS_WEIGHT_H

#include "gmg_smoother.h"

/* Range of the eigenvalues of D^-1 A over the frequencies that the coarser grid cannot see. */
void gmg_high_frequency_range(const gmg_operator *A, double *lowest, double *highest);

double gmg_jacobi_damping(const gmg_operator *A);                      /* damps those frequencies best */
double gmg_red_black_over_relaxation(const gmg_operator *A, int sweeps); /* best for so many sweeps before a transfer */

#endif
