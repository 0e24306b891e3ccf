/* Relaxation weights of a level: params.omega if given, otherwise the best weight for the level. Called by smoothers. */
#ifndef GMG_SMOOTHERS_WEIGHT_H
#define GMG_SMOOTHERS_WEIGHT_H

#include "smoothers/smoother.h"

/* Range of the eigenvalues of D^-1 A over the frequencies that the coarser grid cannot represent. */
void gmg_smoothing_range(const gmg_operator *A, double *lowest, double *highest);

double gmg_weight_jacobi(const gmg_operator *A, const gmg_params *p); /* damps the range of gmg_smoothing_range() best */
double gmg_weight_gauss_seidel(const gmg_operator *A, const gmg_params *p);
double gmg_weight_red_black(const gmg_operator *A, const gmg_params *p);
double gmg_red_black_over_relaxation(const gmg_operator *A, int sweeps); /* best for `sweeps` sweeps before a transfer */

#endif
