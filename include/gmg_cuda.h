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
 *  gmg_solver_create(), gmg_solver_update(), gmg_set_boundary_values() and gmg_solve() block: a solve for the norms of the
 *  residuals that it measures (several are one wait where cycles are replayed, docs/api/context.md) and, if singular, the mean of f. With
 *  check_every = 0 it blocks for nothing but the times that time_levels asks for. gmg_precondition(), gmg_residual(), gmg_flux() and
 *  gmg_set_boundary_constant() only enqueue. The smoother "async" takes red-black or Jacobi relaxation inside its blocks, and blocks of a
 *  given shape that fit a multiprocessor's shared memory.
 *
 *  A failure of the device (GMG_ERR_DEVICE from whichever call sees it first and from all calls after it, with CUDA's text) is
 *  final: solvers and context can only be destroyed. A device that is full is none: GMG_ERR_MEMORY, and a smaller create works.
 *  @param device CUDA device number   @param stream BORROWED; all work is enqueued on it (NULL: the default stream)
 *  @param[out] context NULL on failure
 *  @return GMG_ERR_ARGUMENT for a device number that is not there; GMG_ERR_DEVICE where there is no driver or no device;
 *  GMG_ERR_UNSUPPORTED where the library was built without CUDA or not for this device; GMG_ERR_MEMORY */
GMG_API gmg_status gmg_context_create_cuda(int device, gmg_cuda_stream stream, gmg_context **context);

/** A smoother for solvers on a host context that sweeps on a device: every sweep copies u and f there, does what the inner
 *  smoother does there, and copies u back. Everything else of the cycle stays on the host. This is the configuration of Anzt,
 *  Dongarra, Gates, Tomov (2011), for comparison: with all on the device nothing is copied.
 *
 *  Put it into gmg_params::smoother. The device holds u, f, scratch and the operator of every level but the coarsest, beyond what
 *  gmg_plan() counts. Like a smoother of one's own it takes no part in GMG_PRECISION_AUTO; GMG_PRECISION_MIXED may be asked for.
 *  A device that fails leaves NaN in u, and the solve ends as GMG_DIVERGED.
 *  @param device  context of the device, BORROWED; used by the thread that solves. A host context does too: a rehearsal
 *  @param inner   BORROWED, a smoother with functions for that context   @param[out] smoother NULL on failure
 *  @return GMG_OK, GMG_ERR_ARGUMENT, GMG_ERR_UNSUPPORTED or GMG_ERR_MEMORY; gmg_context_error(device) has the text */
GMG_API gmg_status gmg_smoother_offload_create(gmg_context *device, const gmg_smoother *inner, gmg_smoother **smoother);

/** Ends it, after the solvers that use it and before its device's context. NULL is a no-op. */
GMG_API void gmg_smoother_offload_destroy(gmg_smoother *smoother);

/** Seconds since create, of all its solvers: on a device the stream's own between events. Blocks.
 *  @param smoother from gmg_smoother_offload_create()
 *  @param[out] sweeps  time in sweeps, or NULL   @param[out] transfers  time in copies there and back, or NULL
 *  @return GMG_OK, GMG_ERR_ARGUMENT, or GMG_ERR_DEVICE once the device has failed (gmg_context_error(device)) */
GMG_API gmg_status gmg_smoother_offload_seconds(gmg_smoother *smoother, double *sweeps, double *transfers);

#ifdef __cplusplus
}
#endif
#endif
