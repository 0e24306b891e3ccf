/** @file gmg_cuda.h
 *  @brief Running gmg on an NVIDIA GPU: device pointers and the caller's stream. */
#ifndef GMG_CUDA_H
#define GMG_CUDA_H

#include "gmg.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The CUDA runtime's cudaStream_t, declared here so that users without the toolkit can include this header. */
typedef struct CUstream_st *gmg_cuda_stream;

/** A context on a CUDA device. Its solvers' fields (f, u, r, z, beta, beta_face, sigma, boundary values, fluxes) are device
 *  memory; positions of stretched axes (gmg_problem::coord) stay in host memory. This call and all others leave the calling
 *  thread's current device as they found it.
 *
 *  gmg_solver_create(), gmg_solver_update() and gmg_solve() block; gmg_solve() does so for every residual norm and inner product.
 *  gmg_precondition() and gmg_residual() only enqueue, except where the problem is singular or (precondition) corrections are
 *  computed in the narrower type. The smoother "async" takes red-black or Jacobi relaxation inside its blocks.
 *
 *  A failure of the device (GMG_ERR_DEVICE from gmg_solve(), with CUDA's text) is final: the context can only be destroyed.
 *  @param device CUDA device number   @param stream BORROWED; all work is enqueued on it (NULL: the default stream)
 *  @param[out] context NULL on failure
 *  @return GMG_ERR_ARGUMENT for a device number that is not there; GMG_ERR_DEVICE where there is no driver or no device;
 *  GMG_ERR_UNSUPPORTED where the library was built without CUDA or not for this device; GMG_ERR_MEMORY */
GMG_API gmg_status gmg_context_create_cuda(int device, gmg_cuda_stream stream, gmg_context **context);

#ifdef __cplusplus
}
#endif
#endif
