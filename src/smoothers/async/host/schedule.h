/* How host threads take blocks of the asynchronous smoother: the next one (dynamic assignment), or those assigned to them (static).
   Nothing waits, neither blocks nor passes. Included by the host kernels of the asynchronous smoother. */
#ifndef GMG_SMOOTHERS_ASYNC_HOST_SCHEDULE_H
#define GMG_SMOOTHERS_ASYNC_HOST_SCHEDULE_H

#include "smoothers/async/async.h"

#include <omp.h>

typedef struct {
  size_t all, next; /* blocks of all passes; the next one to be taken (dynamic) */
  int in_order;     /* static */
} block_queue;

/* The next block (dynamic), or `assigned` (static). At least queue->all: no block is left. */
static inline size_t take_block(block_queue *queue, size_t assigned)
{
  size_t b = assigned;
  if (queue->in_order) return b;
#pragma omp atomic capture
  b = queue->next++;
  return b;
}

/* Relaxes blocks in thread number `thread` of `workers`, until the queue has no more. */
typedef void relax_in_thread(const void *work, block_queue *queue, int thread, size_t workers);

/* At most `threads` threads take part. The OpenMP team always has all threads of the context. A smaller team would end threads that
   the next loop of the cycle must start again. */
static inline void run_in_threads(const gmg_smoother_level *l, int threads, size_t blocks, const void *work, relax_in_thread *relax)
{
  block_queue queue = {blocks, 0, l->params->async.assignment == GMG_ASSIGN_STATIC};
#pragma omp parallel num_threads(l->threads) if (threads > 1 && l->A->cells > GMG_MIN_CELLS_PARALLEL_SWEEP)
  if (omp_get_thread_num() < threads) {
    const size_t team = (size_t)omp_get_num_threads();
    relax(work, &queue, omp_get_thread_num(), team < (size_t)threads ? team : (size_t)threads);
  }
}

/* Refuses parameters that are for devices. */
static inline gmg_status check_host_parameters(const gmg_smoother_level *l)
{
  if (!l->params->async.oversubscription) return GMG_OK;
  return gmg_fail(l->exec->context, GMG_ERR_UNSUPPORTED,
                  "params.async.oversubscription = %d: on the host threads relax blocks, as many as the context has; "
                  "params.async.in_flight limits them",
                  l->params->async.oversubscription);
}

/* Threads that take part: each has one block at a time. */
static inline int workers_of(const gmg_smoother_level *l, size_t blocks)
{
  const int threads = blocks < (size_t)l->threads ? (int)blocks : l->threads, most = l->params->async.in_flight;
  return most && threads > most ? most : threads;
}

#endif
