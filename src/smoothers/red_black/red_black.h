/* Red-black Gauss-Seidel with over-relaxation: what its backends share. */
#ifndef GMG_SMOOTHERS_RED_BLACK_H
#define GMG_SMOOTHERS_RED_BLACK_H

#include "smoothers/smoother.h"

double gmg_weight_red_black(const gmg_operator *A, const gmg_params *p); /* p->omega if given, else the best for the level */

#endif
