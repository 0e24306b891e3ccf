/* Functions by which tests inspect the asynchronous smoother on CUDA. Defined in cuda/async.cu; called by tests only. */
#ifndef GMG_SMOOTHERS_ASYNC_TESTING_H
#define GMG_SMOOTHERS_ASYNC_TESTING_H

#include "smoothers/relax/partition.h"

/* The blocks of a level, from the state that setup created. */
const gmg_blocks *gmg_async_blocks_f32(const void *state);
const gmg_blocks *gmg_async_blocks_f64(const void *state);

#endif
