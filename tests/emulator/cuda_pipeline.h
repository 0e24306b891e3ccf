/* Asynchronous copies to shared memory. They are done at the wait, so code that reads before it gets the old value. */
#ifndef GMG_EMULATOR_CUDA_PIPELINE_H
#define GMG_EMULATOR_CUDA_PIPELINE_H

#include "cuda_runtime.h"

static inline void __pipeline_memcpy_async(void *to, const void *from, size_t bytes, size_t zeros = 0)
{
  emulator::copy_later(to, from, bytes, bytes - zeros);
}
static inline void __pipeline_commit() { emulator::commit_copies(); }
static inline void __pipeline_wait_prior(unsigned all_but) { emulator::finish_copies(all_but); }

#endif
