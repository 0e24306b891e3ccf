/* Gauss-Seidel in lexicographic order: what its backends share. */
#ifndef GMG_SMOOTHERS_GAUSS_SEIDEL_H
#define GMG_SMOOTHERS_GAUSS_SEIDEL_H

#include "smoothers/smoother.h"

double gmg_weight_gauss_seidel(const gmg_operator *A, const gmg_params *p); /* p->omega if given, else 1 */

#endif
