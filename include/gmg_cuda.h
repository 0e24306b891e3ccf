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

/** Creates a context on a CUDA device. Fields of its solvers (f, u, r, z, beta, beta_face, sigma, boundary values, fluxes) are
 *  device memory. Positions of stretched axes (gmg_problem::coord) stay in host memory. No call changes the calling thread's
 *  current device.
 *
 *  gmg_solver_create(), gmg_solver_update() and gmg_set_boundary_values() block. gmg_solve() waits for the residual norms that it
 *  measures and, if A is singular, for the mean of f; with check_every = 0 it waits only for the times that time_levels asks for
 *  (docs/api/context.md). gmg_precondition(), gmg_residual(), gmg_flux() and gmg_set_boundary_constant() only enqueue.
 *
 *  Not available on a device: Gauss-Seidel relaxation inside the blocks of "async", and blocks of a given shape that do not fit the
 *  shared memory of a multiprocessor.
 *
 *  A failure of the device is final: the first call that sees it and all calls after it return GMG_ERR_DEVICE with CUDA's text, and
 *  solvers and context can only be destroyed. A full device is not a failure: create returns GMG_ERR_MEMORY, and a smaller one
 *  works.
 *  @param device CUDA device number   @param stream BORROWED; all work is enqueued on it (NULL: the default stream)
 *  @param[out] context NULL on failure
 *  @return GMG_OK; GMG_ERR_ARGUMENT for a device number that does not exist; GMG_ERR_DEVICE if there is no driver or no device;
 *  GMG_ERR_UNSUPPORTED if the library was built without CUDA or not for this device; GMG_ERR_MEMORY */
GMG_API gmg_status gmg_context_create_cuda(int device, gmg_cuda_stream stream, gmg_context **context);

/** Creates a smoother for solvers on a host context that sweeps on a device. Every sweep copies u and f there, runs the inner
 *  smoother there, and copies u back. Everything else of the cycle stays on the host. For comparison with Anzt, Dongarra, Gates,
 *  Tomov (2011), who used this configuration: a solver on a CUDA context copies nothing.
 *
 *  Put it into gmg_params::smoother. The device holds u, f, scratch and the operator of every level but the coarsest, beyond what
 *  gmg_plan() counts. GMG_PRECISION_AUTO keeps to double with it; GMG_PRECISION_MIXED may be asked for. If the device fails, u
 *  becomes NaN and the solve ends as GMG_DIVERGED.
 *  @param device  context of the device, BORROWED; used by the thread that solves. May be a host context, for tests
 *  @param inner   BORROWED, a smoother with functions for that context   @param[out] smoother NULL on failure
 *  @return GMG_OK, GMG_ERR_ARGUMENT, GMG_ERR_UNSUPPORTED or GMG_ERR_MEMORY; gmg_context_error(device) has the text */
GMG_API gmg_status gmg_smoother_offload_create(gmg_context *device, const gmg_smoother *inner, gmg_smoother **smoother);

/** Destroys an offloading smoother, after the solvers that use it and before its device's context. NULL is a no-op. */
GMG_API void gmg_smoother_offload_destroy(gmg_smoother *smoother);

/** Reports seconds since create, summed over all its solvers. On a device: time of the stream between events. Blocks.
 *  @param smoother from gmg_smoother_offload_create()
 *  @param[out] sweeps  time in sweeps, or NULL   @param[out] transfers  time in copies to and from the device, or NULL
 *  @return GMG_OK, GMG_ERR_ARGUMENT, or GMG_ERR_DEVICE once the device has failed (gmg_context_error(device)) */
GMG_API gmg_status gmg_smoother_offload_seconds(gmg_smoother *smoother, double *sweeps, double *transfers);

#ifdef __cplusplus
}
#endif
#endif
