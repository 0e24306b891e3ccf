/* Declarations that the backends of the async-(k) smoother share. Included by them only. */
#ifndef GMG_SMOOTHERS_ASYNC_H
#define GMG_SMOOTHERS_ASYNC_H

#include "smoothers/smoother.h"

enum { GMG_SEAM_SWEEPS = 2 }; /* additional sweeps of a block at an odd seam, where two unknowns of one colour meet */

/* p->omega if given, otherwise the best weight for the level: their mean over half sweeps; and that of each. */
double gmg_weight_async(const gmg_operator *A, const gmg_params *p);
void gmg_weights_async(const gmg_operator *A, const gmg_params *p, gmg_leg leg, double weight[GMG_HALF_SWEEPS]);

#endif
