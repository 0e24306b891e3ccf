/* What tests ask of a context on a CUDA device, or change there. */
#ifndef GMG_CUDA_TESTING_H
#define GMG_CUDA_TESTING_H

#include "gmg.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How often the host has waited for the device. */
size_t gmg_cuda_synchronisations(const gmg_context *c);

/* From now on recorded solves are launched cycle by cycle, as where a graph can not loop on the device (before CUDA 12.4). */
void gmg_cuda_without_device_loop(gmg_context *c);

#ifdef __cplusplus
}
#endif

#endif
