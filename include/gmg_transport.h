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

#ifdef __cplusplus
}
#endif
#endif
