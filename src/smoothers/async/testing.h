/* What tests ask of a level of the asynchronous smoother on CUDA. */
#ifndef GMG_SMOOTHERS_ASYNC_TESTING_H
#define GMG_SMOOTHERS_ASYNC_TESTING_H

#include "smoothers/relax/partition.h"

/* The blocks that a level was divided into, from what its setup made. */
const gmg_blocks *gmg_async_blocks_f32(const void *state);
const gmg_blocks *gmg_async_blocks_f64(const void *state);

#endif
