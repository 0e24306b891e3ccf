/* Weighted Jacobi: what its backends share. */
#ifndef GMG_SMOOTHERS_JACOBI_H
#define GMG_SMOOTHERS_JACOBI_H

#include "smoothers/smoother.h"

double gmg_weight_jacobi(const gmg_operator *A, const gmg_params *p); /* p->omega if given, else the best for the level */

#endif
