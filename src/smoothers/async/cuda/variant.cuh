/* What the ways of taking a level share (cuda/async.cu has the table of them): a level's state, its launches, its passes. A way's
   functions of the host are beside its kernels, or in a file of their own next to them. */
#ifndef GMG_SMOOTHERS_ASYNC_CUDA_VARIANT_H
#define GMG_SMOOTHERS_ASYNC_CUDA_VARIANT_H

#include "core/cuda/device.h"
#include "core/real.h"

extern "C" {
#include "stencil/grid/map.h"
#include "smoothers/relax/partition.h"
#include "smoothers/async/async.h"
}

#include "smoothers/relax/cuda/scheduling.cuh"

/* On smaller levels filling the pipeline takes longer than relaxing tiles as a whole: 64^3 to 1e-10 1.57 instead of 1.84 ms. */
enum { MANY = 500000, EXTRA = 2 }; /* EXTRA: more red-black sweeps for a block at a seam */
static const size_t MOST_BLOCKS = 1u << 30, MOST_PASSES = 65535; /* of a launch */

typedef struct async_way async_way;

/* How a level is taken. */
typedef struct {
  const async_way *way;
  gmg_blocks blocks;
  gmg_blocks last;    /* strips: of the last pass, where it goes to another field (cuda/row_prolong.cuh) */
  size_t bytes, most; /* of shared memory: what the pass takes, what there is */
  dim3 threads;       /* of a thread block */
  int shape;          /* patches: which of theirs */
  int *order;         /* [blocks.total], device */
  real *before;       /* deterministic: u before the pass */
  size_t staying;     /* thread blocks that take blocks dynamically; 0: each has one */
  unsigned long long *next; /* ticket of those, device */
} async_state;

/* One pass or more over all blocks. */
typedef struct {
  size_t passes;
  const real *f, *from; /* from = NULL: u is 0 */
  real *to;
  int reversed;
} pass;

/* What is common to a level's launches. */
typedef struct {
  dim3 threads;
  size_t bytes;
  cudaStream_t stream;
  unsigned staying;
  tickets taking; /* for those */
} launch;

/* A leg of the cycle whose last pass also restricts the residual that it leaves, or goes to another field: one pass at least. */
typedef struct {
  size_t passes;
  const real *f;
  real *u, *to; /* to: u, but for ways with `aside` */
  int from_zero;
  const gmg_map *map;
  real *coarse;
} down_leg;

typedef struct {
  size_t passes;
  const real *f;
  real *u;
  int reversed;
  const gmg_update_target *to;
} up_leg;

/* A way of taking levels. What it cannot do is NULL. */
struct async_way {
  /* Whether it suits, .most being known; then fills .blocks, .bytes, .threads, and what is its own. */
  int (*lay_out)(const gmg_smoother_level *l, async_state *s);
  /* Shared memory for its kernels; returns the one whose thread blocks stay where they take blocks, NULL where they never do. */
  const void *(*prepare)(const gmg_smoother_level *l, const async_state *s);
  void (*run)(const gmg_smoother_level *l, const async_state *s, const launch *k, const pass *p);
  /* Whole legs, where blocks are not taken dynamically; 0, with nothing done, where it does not apply. Of a deterministic level only up. */
  int (*down)(const gmg_smoother_level *l, const async_state *s, const down_leg *d);
  int (*up)(const gmg_smoother_level *l, const async_state *s, const up_leg *u);
  /* gmg_fused_ops::double_buffered, where there are legs at all. */
  int (*aside)(const gmg_smoother_level *l, const async_state *s, const gmg_map *restrict_, const gmg_map *prolong);
  /* From the numbers of blocks to what its kernels have in their place. */
  void (*renumber)(const gmg_blocks *b, int *order);
};

/* --- levels and parameters -------------------------------------------------------------------------------------------- */

static int takes(const gmg_params *p) { return p->assignment == GMG_ASSIGN_DYNAMIC || p->in_flight || p->oversubscription; }

/* Whether blocks are as the caller wants them, or nobody does and the level has so many unknowns. */
static int enough(const gmg_smoother_level *l, size_t cells)
{
  const gmg_params *p = l->params;
  return p->block[0] || p->block[1] || p->block[2] || l->A->cells >= cells;
}

/* The relaxation inside blocks that planes streaming through are made for. */
static int is_usual(const gmg_params *p) { return p->local == GMG_LOCAL_RED_BLACK && p->local_sweeps == 2 && p->overlap == 1; }

static size_t processors_of(const gmg_smoother_level *l) { return (size_t)gmg_device_of(l->exec)->processors; }

/* --- launches --------------------------------------------------------------------------------------------------------- */

static void allow_shared(const gmg_smoother_level *l, const void *kernel, size_t bytes)
{
  gmg_cuda_note(gmg_device_of(l->exec), cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes), "async");
}

/* The counter of tickets starts anew. Only enqueues. */
static launch launch_of(const gmg_smoother_level *l, const async_state *s, size_t passes)
{
  const size_t all = passes * s->blocks.total;
  gmg_device *d = gmg_device_of(l->exec);
  launch k = {s->threads, s->bytes, d->stream, (unsigned)(s->staying < all ? s->staying : all), {s->next, all}};
  if (s->staying) gmg_cuda_note(d, cudaMemsetAsync(s->next, 0, sizeof *s->next, d->stream), "async");
  return k;
}

/* All blocks, `passes` times over. from = NULL: u is 0. */
static void run_blocks(const gmg_smoother_level *l, const async_state *s, size_t passes, const real *f, const real *from, real *to,
                       int reversed)
{
  const pass p = {passes, f, from, to, reversed};
  const launch k = launch_of(l, s, passes);
  s->way->run(l, s, &k, &p);
  gmg_cuda_launched(l->exec, "async");
}

/* Blocks of a launch wait for nobody. Where the device has room for more than a pass, those of the next would begin beside it and find
   what was there before both: on 10^4 unknowns in 1D four passes a step reduced no more than one. There every pass has a launch. */
static size_t passes_at_once(const gmg_smoother_level *l, const async_state *s, size_t passes)
{
  enum { ROOM = 32 }; /* thread blocks that a multiprocessor has room for at most */
  return s->blocks.total >= ROOM * processors_of(l) ? passes : 1;
}

/* The same in place, or as the deterministic twin. */
static void run_passes(const gmg_smoother_level *l, const async_state *s, size_t passes, const real *f, real *u, int reversed)
{
  const size_t at_once = s->before ? 1 : passes_at_once(l, s, passes);
  for (size_t p = 0; p < passes; p += at_once) {
    if (s->before) l->exec->vector->copy(l->exec, l->A->cells, u, s->before);
    run_blocks(l, s, at_once, f, s->before ? s->before : u, u, reversed);
  }
}

#endif
