/* A variant takes a level in its own way, with kernels of its own; cuda/async.cu has the table of them. What they
   share: their interface, a level's state, launches and passes. */
#ifndef GMG_SMOOTHERS_ASYNC_CUDA_VARIANT_H
#define GMG_SMOOTHERS_ASYNC_CUDA_VARIANT_H

#include "core/cuda/device.h"
#include "core/real.h"

extern "C" {
#include "smoothers/async/async.h"
#include "smoothers/fused.h"
#include "smoothers/relax/partition.h"
#include "stencil/grid/map.h"
}

#include "smoothers/relax/cuda/scheduling.cuh"

enum { SEAM_SWEEPS = 2 }; /* more red-black sweeps for a block at a seam, where colours meet */

/* On smaller levels filling the pipeline of planes takes longer than relaxing tiles as a whole: 64^3 to 1e-10 1.57
   instead of 1.84 ms. */
static const size_t MIN_CELLS_PLANES = 500000;

typedef struct async_variant async_variant;

/* How a level is taken. */
typedef struct {
  const async_variant *variant;
  gmg_blocks blocks;
  gmg_blocks update_blocks; /* rows: of a pass that updates another field */
  size_t bytes, max_bytes;  /* of shared memory: what a plain pass takes, what there is */
  dim3 threads;             /* of a thread block */
  int shape;                /* packed tiles: which of theirs */
  int *order;               /* [blocks.total], device */
  real *before;             /* deterministic: u before the pass */
  size_t resident;          /* dynamic assignment: thread blocks that take blocks from the queue; 0: each has one block */
  unsigned long long *next; /* of the queue, device */
} async_state;

/* A thread block to every block and pass (grid.blocks.y), or as many as are resident and take blocks from the queue. */
typedef struct {
  gmg_grid grid;
  work_queue queue;
} async_launch;

/* What a variant cannot do is NULL. */
struct async_variant {
  /* Whether it suits, .max_bytes being known; then fills .blocks, .bytes, .threads, and what is its own. */
  int (*lay_out)(const gmg_smoother_level *l, async_state *s);
  /* Shared memory for its kernels; returns the one for dynamic assignment where that is asked for, NULL where it has none. */
  const void *(*prepare)(const gmg_smoother_level *l, const async_state *s);
  /* All blocks, `passes` times over, in one launch. from = NULL: u is 0 before. */
  void (*run)(const gmg_smoother_level *l, const async_state *s, size_t passes, const void *f, const void *from, void *to,
              int reversed);
  /* As in gmg_fused_ops, the last of `passes` being fused with the transfer; not with dynamic assignment. Of a deterministic level
     only postsmooth_update. */
  int (*presmooth_restrict)(const gmg_smoother_level *l, const async_state *s, size_t passes, const void *f, void *u, void *to,
                            gmg_start start, const gmg_map *map, void *coarse);
  int (*postsmooth_update)(const gmg_smoother_level *l, const async_state *s, size_t passes, const void *f, void *u, int reversed,
                           const gmg_update_target *to);
  int (*double_buffered)(const gmg_smoother_level *l, const async_state *s, const gmg_map *restrict_, const gmg_map *prolong);
  /* From the numbers of blocks to what its kernels have in their place. */
  void (*renumber)(const gmg_blocks *b, int *order);
};

extern const async_variant R(async_line), R(async_planes_faces), R(async_tiles_packed), R(async_rows), R(async_planes),
    R(async_tiles), R(async_reference);

/* --- levels and parameters -------------------------------------------------------------------------------------------- */

static inline int is_dynamic(const gmg_params *p)
{
  return p->assignment == GMG_ASSIGN_DYNAMIC || p->in_flight || p->oversubscription;
}

static inline int has_chosen_blocks(const gmg_params *p) { return p->block[0] || p->block[1] || p->block[2]; }

/* Whether blocks are as the caller wants them, or the level has so many unknowns. */
static inline int is_large(const gmg_smoother_level *l, size_t cells)
{
  return has_chosen_blocks(l->params) || l->A->cells >= cells;
}

/* The relaxation inside blocks that rows and planes are made for. */
static inline int is_usual(const gmg_params *p)
{
  return p->local == GMG_LOCAL_RED_BLACK && p->local_sweeps == 2 && p->overlap == 1;
}

/* NULL: natural. */
static inline const int *order_of(const gmg_smoother_level *l, const async_state *s)
{
  return l->params->order == GMG_ORDER_NATURAL ? NULL : s->order;
}

static inline size_t processors_of(const gmg_smoother_level *l) { return (size_t)gmg_device_of(l->exec)->processors; }

/* --- launches --------------------------------------------------------------------------------------------------------- */

/* Returns the kernel. */
static inline const void *allow_shared(const gmg_smoother_level *l, const void *kernel, size_t bytes)
{
  gmg_allow_shared(l->exec, kernel, bytes);
  return kernel;
}

/* The queue starts anew. Only enqueues. */
static inline async_launch launch_of(const gmg_smoother_level *l, const async_state *s, size_t passes)
{
  const unsigned blocks = (unsigned)s->blocks.total;
  const size_t all = passes * blocks;
  gmg_device *d = gmg_device_of(l->exec);
  async_launch k = {{dim3(blocks, (unsigned)passes), s->threads, s->bytes}, {s->next, all, blocks}};
  if (!s->resident) return k;
  k.grid.blocks = dim3((unsigned)(s->resident < all ? s->resident : all));
  gmg_cuda_note(d, cudaMemsetAsync(s->next, 0, sizeof *s->next, d->stream), "async");
  return k;
}

/* So many passes in place, or as the deterministic twin. */
void R(async_run_passes)(const gmg_smoother_level *l, const async_state *s, size_t passes, const void *f, void *u, int reversed);

#endif
