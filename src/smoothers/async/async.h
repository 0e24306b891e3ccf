/* Declarations that the backends of the async-(k) smoother share. Included by them only. */
#ifndef GMG_SMOOTHERS_ASYNC_H
#define GMG_SMOOTHERS_ASYNC_H

#include "smoothers/smoother.h"

double gmg_weight_async(const gmg_operator *A, const gmg_params *p); /* p->omega if given, otherwise the best weight for the
                                                                        level */

#endif
