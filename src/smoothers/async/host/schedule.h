/* How host threads take blocks of the asynchronous smoother: the next one (dynamic assignment), or those assigned to them (static).
   Nothing waits, neither blocks nor passes. Included by the host kernels of the asynchronous smoother. */
#ifndef GMG_SMOOTHERS_ASYNC_HOST_SCHEDULE_H
#define GMG_SMOOTHERS_ASYNC_HOST_SCHEDULE_H

#include "core/real.h"
#include "smoothers/async/async.h"
#include "smoothers/relax/partition.h"

#include <omp.h>

typedef struct {
  size_t all, next; /* blocks of all passes; the next one to be taken (dynamic) */
  int in_order;     /* static */
} block_queue;

/* A thread that takes blocks. */
typedef struct {
  block_queue *queue;
  int thread;
  size_t workers;  /* threads that take part */
  size_t assigned; /* its next block (static) */
} worker;

/* Takes a block for a worker. Returns 0 if none is left. */
static inline int take_block(worker *w, size_t *block)
{
  block_queue *const queue = w->queue;
  size_t b = w->assigned;
  w->assigned += w->workers;
  if (!queue->in_order) {
#pragma omp atomic capture
    b = queue->next++;
  }
  *block = b;
  return b < queue->all;
}

/* Relaxes the blocks that a worker takes. */
typedef void relax_in_thread(const void *work, worker *w);

/* At most `threads` threads take part. The OpenMP team always has all threads of the context. A smaller team would end threads that
   the next loop of the cycle must start again. */
static inline void run_in_threads(const gmg_smoother_level *l, int threads, size_t blocks, const void *work, relax_in_thread *relax)
{
  block_queue queue = {blocks, 0, l->params->async.assignment == GMG_ASSIGN_STATIC};
#pragma omp parallel num_threads(l->threads) if (threads > 1 && l->A->cells > GMG_MIN_CELLS_PARALLEL_SWEEP)
  if (omp_get_thread_num() < threads) {
    const size_t team = (size_t)omp_get_num_threads();
    const int thread = omp_get_thread_num();
    worker w = {&queue, thread, team < (size_t)threads ? team : (size_t)threads, (size_t)thread};
    relax(work, &w);
  }
}

/* Refuses parameters that are for devices. */
static inline gmg_status check_host_parameters(const gmg_smoother_level *l)
{
  if (!l->params->async.oversubscription) return GMG_OK;
  return gmg_fail(l->exec->context, GMG_ERR_UNSUPPORTED,
                  "params.async.oversubscription = %d: only for CUDA contexts; a host context relaxes blocks with its own threads, "
                  "and params.async.in_flight limits them",
                  l->params->async.oversubscription);
}

/* Allocates the order of blocks and sets it, and memory for tiles and, if deterministic, for a copy of u. */
static inline gmg_status create_blocks(const gmg_smoother_level *l, const gmg_blocks *blocks, size_t tile_bytes, int **order,
                                       void **tiles, void **before)
{
  const gmg_params *p = l->params;
  GMG_TRY(gmg_exec_alloc(l->exec, "async block order", blocks->total * sizeof(int), (void **)order));
  GMG_TRY(gmg_exec_alloc(l->exec, "async tiles", tile_bytes, tiles));
  if (p->deterministic) GMG_TRY(gmg_exec_alloc(l->exec, "async copy of u", l->A->cells * sizeof(scalar), before));
  if (!l->exec->dry) gmg_blocks_order(blocks, p->async.order, p->async.seed + (unsigned long)l->index, *order);
  return GMG_OK;
}

/* Threads that take part: each has one block at a time. */
static inline int workers_of(const gmg_smoother_level *l, size_t blocks)
{
  const int threads = blocks < (size_t)l->threads ? (int)blocks : l->threads, most = l->params->async.in_flight;
  return most && threads > most ? most : threads;
}

#endif
