/* Functions by which tests inspect or change a CUDA context. Defined in context.cu; called by tests only. */
#ifndef GMG_CUDA_TESTING_H
#define GMG_CUDA_TESTING_H

#include "gmg.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Number of times that the host has waited for the device. */
size_t gmg_cuda_synchronisations(const gmg_context *c);

/* From now on recorded solves are launched cycle by cycle, as on devices without conditional nodes (before CUDA 12.4). */
void gmg_cuda_without_device_loop(gmg_context *c);

#ifdef __cplusplus
}
#endif

#endif
