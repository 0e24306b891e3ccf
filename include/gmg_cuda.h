/** @file gmg_cuda.h
 *  @brief gmg on an NVIDIA GPU, with device pointers and the caller's stream. */
#ifndef GMG_CUDA_H
#define GMG_CUDA_H

#include "gmg_transport.h"

#ifdef __cplusplus
extern "C" {
#endif

/** cudaStream_t of the CUDA runtime, declared here so that this header can be included without the CUDA toolkit. */
typedef struct CUstream_st *gmg_cuda_stream;

/** Creates a context on a CUDA device. Fields of its solvers (f, u, r, z, beta, beta_face, sigma, boundary values, fluxes) are in
 *  device memory. Positions of stretched axes (gmg_problem::coord) are in host memory. No call changes the calling thread's
 *  current device.
 *
 *  What the calls wait for (docs/api/context.md):
 *  - gmg_solver_create(), gmg_solver_update() and gmg_set_boundary_values() wait for the checks of their arrays. Copies of the
 *    arrays, and kernels that read them, are enqueued: change or release an array by later work on the stream, or after
 *    synchronising it.
 *  - gmg_solve() waits for the residual norms that it measures and, if A is singular, for the mean of f. With
 *    check_every = GMG_NONE it waits for nothing, unless report_level_times is set.
 *  - gmg_precondition(), gmg_residual(), gmg_flux() and gmg_set_boundary_constant() only enqueue.
 *
 *  Two things are not available on a device: Gauss-Seidel relaxation inside the blocks of "async", and a gmg_async_params::block
 *  that does not fit in the shared memory of a multiprocessor.
 *
 *  A failure of the device is final. The first call that notices it, and all later calls, return GMG_ERR_DEVICE;
 *  gmg_context_error() returns CUDA's text. Solvers and context can then only be destroyed. Running out of device memory is not
 *  such a failure: gmg_solver_create() returns GMG_ERR_MEMORY, and a smaller solver can still be created.
 *  @param device CUDA device number
 *  @param stream BORROWED, or NULL for the default stream; all work is enqueued on it
 *  @param[out] context NULL on failure
 *  @return GMG_OK; GMG_ERR_ARGUMENT for a device number that does not exist; GMG_ERR_DEVICE if there is no driver or no device;
 *  GMG_ERR_UNSUPPORTED if the library was built without CUDA or not for this device; GMG_ERR_MEMORY */
GMG_API gmg_status gmg_context_create_cuda(int device, gmg_cuda_stream stream, gmg_context **context);

/** Creates a context on a CUDA device, as one of several that share each grid: every process or thread has one, on a device of its
 *  own. With MPI: gmg_context_create_mpi_cuda() (gmg_mpi.h). All devices must be in one host, and reach each other's memory.
 *  Ghosts, sums and small levels go from device to device, and a solve runs without the host. The transport is used at create, and
 *  between calls.
 *
 *  A device that waits for another for 20 seconds ends its solve with GMG_ERR_DEVICE.
 *  @param transport, cut  as for gmg_context_create_ranks()
 *  @param device, stream  as for gmg_context_create_cuda()   @param[out] context NULL on failure
 *  @return as gmg_context_create_cuda(); GMG_ERR_UNSUPPORTED if a device cannot reach another's memory, or if two of them
 *  have the same device. The environment variable GMG_SHARE_DEVICES allows the latter, for tests: streams must then not wait for
 *  each other, so none may be the default stream, and CUDA_MODULE_LOADING must be EAGER. An error of one is an error of all */
GMG_API gmg_status gmg_context_create_cuda_ranks(const gmg_transport *transport, const int cut[3], int device,
                                                 gmg_cuda_stream stream, gmg_context **context);

/** Creates a context for each of several CUDA devices of this process, which share each grid. All are used together, by the calls
 *  for all parts at once (gmg_transport.h), or each by a thread of its own, as after gmg_context_create_cuda_ranks().
 *  @param count number of devices, 1 or more   @param devices [count] CUDA device numbers, all different
 *  @param streams [count] BORROWED, one of each device; NULL, or NULL entries: the default stream
 *  @param cut as for gmg_context_create_ranks()   @param[out] contexts [count], to be destroyed one by one; NULLs on failure
 *  @return as gmg_context_create_cuda_ranks() */
GMG_API gmg_status gmg_context_create_cuda_devices(int count, const int devices[], const gmg_cuda_stream streams[],
                                                   const int cut[3], gmg_context *contexts[]);

/** Creates a smoother that sweeps on a device, for solvers on a host context. Every sweep copies u and f to the device, runs the
 *  inner smoother there, and copies u back. The rest of the cycle runs on the host. This is the configuration of Anzt, Dongarra,
 *  Gates, Tomov (2011), kept for comparison. A solver on a CUDA context copies nothing.
 *
 *  Assign the smoother to gmg_params::smoother. For every level but the coarsest the device holds u, f, scratch and the operator.
 *  gmg_plan() does not count this memory. GMG_PRECISION_AUTO selects the problem's type; GMG_PRECISION_MIXED is allowed. If the
 *  device fails, u becomes NaN and the solve ends with GMG_DIVERGED.
 *  @param device  context of the device, BORROWED; used by the thread that solves. For tests it may be a host context
 *  @param inner   BORROWED, a smoother with functions for that context   @param[out] smoother NULL on failure
 *  @return GMG_OK, GMG_ERR_ARGUMENT, GMG_ERR_UNSUPPORTED or GMG_ERR_MEMORY; gmg_context_error(device) returns the text */
GMG_API gmg_status gmg_smoother_offload_create(gmg_context *device, const gmg_smoother *inner, gmg_smoother **smoother);

/** Destroys an offloading smoother. Destroy the solvers that use it first, and the context of its device afterwards. NULL is a
 *  no-op. */
GMG_API void gmg_smoother_offload_destroy(gmg_smoother *smoother);

/** Reports the seconds spent since the smoother was created, summed over all its solvers. On a device these are times between
 *  events on the stream. Blocks.
 *  @param smoother from gmg_smoother_offload_create()
 *  @param[out] sweeps  seconds in sweeps; may be NULL
 *  @param[out] transfers  seconds in copies to and from the device; may be NULL
 *  @return GMG_OK, GMG_ERR_ARGUMENT, or, after the device has failed, GMG_ERR_DEVICE; gmg_context_error(device) returns the
 *          text */
GMG_API gmg_status gmg_smoother_offload_seconds(gmg_smoother *smoother, double *sweeps, double *transfers);

#ifdef __cplusplus
}
#endif
#endif
