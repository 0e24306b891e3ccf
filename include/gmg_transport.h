/** @file gmg_transport.h
 *  @brief How to run gmg in several processes by messages of your own. With MPI, gmg_mpi.h does this for you.
 *
 *  A context of several processes needs two functions from outside, which send bytes. All else (who holds which part of the grid,
 *  when ghosts are exchanged, in which order sums are added) is gmg's. The processes may also be threads of one process, each with
 *  a context of its own. */
#ifndef GMG_TRANSPORT_H
#define GMG_TRANSPORT_H

#include "gmg.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Messages between the processes that share a grid. All processes call the functions in the same order. Buffers are in host
 *  memory. Messages between two processes arrive in the order in which they were sent. */
typedef struct gmg_transport {
  int rank;  /**< Number of this process, from 0 up. */
  int ranks; /**< Number of processes. */
  void *data; /**< Passed to the functions. */
  /** Sends `send_bytes` bytes to process `to`, and receives the `receive_bytes` bytes that process `from` sends to this one. -1:
   *  nobody; the buffer is then not used. to and from may be the same process. Returns when both buffers can be used again. */
  void (*shift)(void *data, int to, const void *send, size_t send_bytes, int from, void *receive, size_t receive_bytes);
  /** Every process sends `bytes` bytes, the same number everywhere, and receives those of all processes, in the order of their
   *  numbers. Blocks. */
  void (*all_gather)(void *data, const void *send, void *receive, size_t bytes);
  /** Called by gmg_context_destroy(). NULL: there is nothing to do. */
  void (*end)(void *data);
} gmg_transport;

/** Creates a context on host threads, as a part of several processes. Every process must call it, and later make the same calls on
 *  its context and its solvers, in the same order.
 *  @param transport copied; its `data` must live as long as the context
 *  @param cut number of parts along each axis, whose product must be the number of processes; NULL, or 0 for all axes: gmg
 *             chooses, for each problem. The processes are numbered along axis 0 first
 *  @param threads as for gmg_context_create_host()   @param[out] context NULL on failure
 *  @return as gmg_context_create_host(). An error of one process is an error of all */
GMG_API gmg_status gmg_context_create_ranks(const gmg_transport *transport, const int cut[3], int threads, gmg_context **context);

/** Says where an axis is cut, for a program that has a decomposition already. Otherwise gmg cuts it into parts of about equal size.
 *  Holds for gmg_local_box() and for solvers created afterwards; every process passes the same. Not collective.
 *  @param context of several processes, created with `cut`   @param axis 0 .. 2
 *  @param cuts [cut[axis] + 1] the first unknown of each part, from 0 up, and then the number of unknowns of the axis; copied.
 *              NULL: gmg chooses again
 *  @return GMG_OK, GMG_ERR_ARGUMENT or GMG_ERR_MEMORY. That parts are too thin, or that problem.n is another number, is an error of
 *          the calls that read the problem */
GMG_API gmg_status gmg_context_set_cuts(gmg_context *context, int axis, const size_t cuts[]);

/** Creates a context for each part of a grid, in one process without a transport of its own: `count` contexts, with `threads` host
 *  threads each. Either each is used by a thread of the caller, as after gmg_context_create_ranks(), or all together by the calls
 *  below. For GPUs there is gmg_context_create_cuda_devices() (gmg_cuda.h).
 *  @param count number of parts, 1 or more   @param cut as for gmg_context_create_ranks()   @param threads of each context
 *  @param[out] contexts [count], to be destroyed one by one; NULLs on failure
 *  @return GMG_OK, GMG_ERR_ARGUMENT or GMG_ERR_MEMORY */
GMG_API gmg_status gmg_context_create_parts(int count, const int cut[3], int threads, gmg_context *contexts[]);

/** @name Calls for all parts at once
 *  Each is like the call of the same name for one part, made for all parts by one thread of the caller, with one entry for each
 *  part: its context, its solver, its arrays. gmg_local_box() tells which box is whose. They return when all parts have returned,
 *  and so block as those calls do; the error is that of all parts, and its text is in each context. The problems differ in
 *  their arrays alone. NULL for a list of arrays stands for NULL in each part. Solvers are destroyed one by one.
 *  @return as the calls for one part; GMG_ERR_ARGUMENT if count < 1, or if a context or a solver is NULL; GMG_ERR_MEMORY if the
 *  system cannot start a thread for each part
 *  @{ */
/** gmg_solver_create() of all parts, with the same params. solvers becomes a list of NULLs on failure. */
GMG_API gmg_status gmg_solver_create_parts(int count, gmg_context *const contexts[], const gmg_problem *const problems[],
                                           const gmg_params *params, gmg_solver *solvers[]);
/** gmg_solver_update() of all parts. */
GMG_API gmg_status gmg_solver_update_parts(int count, gmg_solver *const solvers[], const gmg_problem *const problems[]);
/** gmg_solve_sized() of all parts. report may be NULL. */
GMG_API gmg_status gmg_solve_parts_sized(int count, gmg_solver *const solvers[], const void *const f[], void *const u[],
                                         gmg_report *report, size_t size);
/** gmg_solve() of all parts. report may be NULL. */
static inline gmg_status gmg_solve_parts(int count, gmg_solver *const solvers[], const void *const f[], void *const u[],
                                         gmg_report *report)
{
  return gmg_solve_parts_sized(count, solvers, f, u, report, sizeof *report);
}
/** gmg_precondition() of all parts. */
GMG_API gmg_status gmg_precondition_parts(int count, gmg_solver *const solvers[], const void *const r[], void *const z[]);
/** gmg_residual() of all parts. */
GMG_API gmg_status gmg_residual_parts(int count, gmg_solver *const solvers[], const void *const f[], const void *const u[],
                                      void *const r[]);
/** @} */

#ifdef __cplusplus
}
#endif
#endif
