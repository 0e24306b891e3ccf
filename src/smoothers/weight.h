/* Relaxation weights of a level: params.omega if given, otherwise the best weight for the level. Called by smoothers. */
#ifndef GMG_SMOOTHERS_WEIGHT_H
#define GMG_SMOOTHERS_WEIGHT_H

#include "smoothers/smoother.h"

/* Range of the eigenvalues of D^-1 A over the frequencies that the coarser grid cannot represent. */
void gmg_smoothing_range(const gmg_operator *A, double *lowest, double *highest);

double gmg_weight_jacobi(const gmg_operator *A, const gmg_params *p); /* damps the range of gmg_smoothing_range() best */
double gmg_weight_gauss_seidel(const gmg_operator *A, const gmg_params *p);
double gmg_weight_red_black(const gmg_operator *A, const gmg_params *p); /* mean of the next */
void gmg_weights_red_black(const gmg_operator *A, const gmg_params *p, gmg_leg leg, double weight[GMG_HALF_SWEEPS]);
/* The best weights for `sweeps` red-black sweeps before or after a transfer: their mean; and that of each half sweep. */
double gmg_red_black_over_relaxation(const gmg_operator *A, const gmg_params *p, int sweeps);
void gmg_red_black_weights(const gmg_operator *A, const gmg_params *p, int sweeps, gmg_leg leg, double weight[GMG_HALF_SWEEPS]);
/* The best over-correction (gmg_builtin_smoother::over_correction) for 1 or 2 red-black sweeps before a transfer, and for any
   smoother that is not coloured. */
double gmg_over_correction_red_black(const gmg_operator *A, int sweeps, double mirrored);
double gmg_over_correction(const gmg_operator *A, const gmg_params *p, double mirrored);

#endif
