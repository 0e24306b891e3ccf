/* Kernel variants of the asynchronous smoother: their interface, the state of a level, launches and passes. Each variant is one
   file (box_lines.cu also uses box_symmetric.cu); cuda/async.cu has the table. Included by the variants and by cuda/async.cu. */
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

#include "smoothers/relax/cuda/geometry.cuh"
#include "smoothers/relax/cuda/scheduling.cuh"

/* On smaller levels tiles are faster than the plane sweep, whose pipeline must be filled: a solve at 64^3 to 1e-10 takes 1.57
   instead of 1.84 ms. */
static const size_t MIN_CELLS_PLANES = 500000;

typedef struct async_variant async_variant;

/* Entries of a box stencil that are even in each coordinate, at |x|, |y|, |z|: [|x|][|y|][|z|]. */
typedef struct {
  real at[2][2][2];
} async_symmetric_entries;

/* State of a level. */
typedef struct {
  const async_variant *variant;
  gmg_blocks blocks;
  gmg_blocks update_blocks; /* row sweep: blocks of a pass that writes to the update target */
  block_pieces cut;         /* plane sweep over faces: how the last blocks are cut */
  size_t bytes, max_bytes;  /* shared memory: of a plain pass; available */
  dim3 threads;             /* threads of a thread block */
  int shape;                /* packed tiles: 1 + the index of the shape */
  int is_symmetric;         /* box stencils: box_symmetric.cu supports the entries, which are in `symmetric` */
  async_symmetric_entries symmetric;
  int *order;               /* [blocks.total], device memory */
  scalar *before;           /* deterministic: copy of u before the pass */
  size_t resident;          /* dynamic assignment: resident thread blocks; 0: static, each has one block */
  unsigned long long *next; /* counter of the queue, device memory */
} async_state;

/* A launch: one thread block per block and pass (grid.blocks.y), or the resident ones, which take blocks from the queue. */
typedef struct {
  gmg_launch_shape grid;
  work_queue queue;
} async_launch;

/* The functions of a variant. NULL: not supported. */
struct async_variant {
  /* Returns 1 if the variant accepts the level, given .max_bytes. Then fills .blocks, .bytes, .threads, and its own members. */
  int (*lay_out)(const gmg_smoother_level *l, async_state *s);
  /* Allows its kernels to use shared memory. Returns the kernel for dynamic assignment if that was requested; NULL if there is
     none. */
  const void *(*prepare)(const gmg_smoother_level *l, const async_state *s);
  /* Recomputes what depends on the operator's values. */
  void (*update)(const gmg_smoother_level *l, async_state *s);
  /* Relaxes all blocks, `passes` times, in one launch. from = NULL: u is 0. */
  void (*run)(const gmg_smoother_level *l, const async_state *s, size_t passes, const void *f, const void *from, void *to,
              gmg_leg leg);
  /* As in gmg_fused_ops. The last of `passes` is fused with the transfer. Not with dynamic assignment. On a deterministic level
     only postsmooth_update is called. */
  int (*presmooth_restrict)(const gmg_smoother_level *l, const async_state *s, size_t passes, const void *f, void *u, void *to,
                            gmg_start start, const gmg_map *map, void *coarse);
  int (*postsmooth_update)(const gmg_smoother_level *l, const async_state *s, size_t passes, const void *f, void *u, gmg_leg leg,
                           const gmg_update_target *to);
  /* Whether it pays. On a part of a level only if postsmooth_update() also adds the coarse correction. */
  int (*double_buffered)(const gmg_smoother_level *l, const async_state *s, const gmg_map *prolong);
  int (*takes_base)(const gmg_smoother_level *l, const async_state *s, const gmg_update_target *to); /* in one pass */
  /* Converts numbers of blocks to what its kernels use instead. */
  void (*renumber)(const gmg_blocks *b, int *order);
};

extern const async_variant R(async_box_lines), R(async_box_cells), R(async_box);
extern const async_variant R(async_line), R(async_planes_faces), R(async_tiles_packed), R(async_rows), R(async_planes),
    R(async_tiles), R(async_reference);

/* --- levels and parameters -------------------------------------------------------------------------------------------- */

static inline int is_dynamic(const gmg_params *p)
{
  return p->async.assignment == GMG_ASSIGN_DYNAMIC || p->async.in_flight || p->async.oversubscription;
}

static inline int has_chosen_blocks(const gmg_params *p) { return p->async.block[0] || p->async.block[1] || p->async.block[2]; }

/* Whether the caller chose the blocks, or the level has at least this many unknowns. */
static inline int is_large(const gmg_smoother_level *l, size_t cells)
{
  return has_chosen_blocks(l->params) || l->A->cells >= cells;
}

/* Whether cycles begin on this level, and need fewer if it is double-buffered: a pass that reads and writes one field mixes values
   from before and after other blocks' relaxation, for which the weights of half sweeps are not made. After five cycles from a
   random f in 3D cells with Dirichlet walls the residual is, on an H200, in one field and in two:
   - at 128^3: 1.5e-10, 8.7e-11;
   - at 256^3: 1.6e-10, 8.4e-11.
   Then a solve to 1e-10 takes five cycles instead of six. Odd sizes, vertices, 2D and coefficients gain nothing. */
static inline int is_first_level(const gmg_smoother_level *l)
{
  return GMG_REAL_F32 && l->A->finer_levels == 0 && is_large(l, MIN_CELLS_PLANES);
}

/* Whether blocks are relaxed in the default way, with this overlap. The row and plane sweeps support no other. */
static inline int has_default_relaxation(const gmg_params *p, int overlap)
{
  return p->async.local == GMG_LOCAL_RED_BLACK && p->async.local_sweeps == 2 && p->async.overlap == overlap;
}

/* NULL: natural order. */
static inline const int *order_of(const gmg_smoother_level *l, const async_state *s)
{
  return l->params->async.order == GMG_ORDER_NATURAL ? NULL : s->order;
}

/* The weights of half sweeps in the level's type. */
static inline void weights_of(const gmg_smoother_level *l, gmg_leg leg, real weight[GMG_HALF_SWEEPS])
{
  double w[GMG_HALF_SWEEPS];
  gmg_weights_async(l->A, l->params, leg, w);
  for (int h = 0; h < GMG_HALF_SWEEPS; h++) weight[h] = (real)w[h];
}

/* uniform_level_of() in a leg. */
static inline uniform_level async_level_of(const gmg_smoother_level *l, const gmg_blocks *b, const int *order, gmg_leg leg)
{
  double w[GMG_HALF_SWEEPS];
  gmg_weights_async(l->A, l->params, leg, w);
  return uniform_level_of(l->A, b, order, w, leg == GMG_LEG_UP_REVERSED);
}

static inline size_t processors_of(const gmg_smoother_level *l) { return (size_t)gmg_device_of(l->exec)->processors; }

/* --- launches --------------------------------------------------------------------------------------------------------- */

/* gmg_allow_shared() that returns the kernel. */
static inline const void *allow_shared(const gmg_smoother_level *l, const void *kernel, size_t bytes)
{
  gmg_allow_shared(l->exec, kernel, bytes);
  return kernel;
}

/* Makes a launch, and resets the queue. Only enqueues. */
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

/* Runs passes in place, or as the deterministic twin. Defined in async.cu. */
void R(async_run_passes)(const gmg_smoother_level *l, const async_state *s, size_t passes, const void *f, void *u, gmg_leg leg);
/* Runs all passes of a downward leg but the last. Returns whether the last one begins from zero. Defined in async.cu. */
int R(async_run_but_last)(const gmg_smoother_level *l, const async_state *s, size_t passes, gmg_start start, const void *f,
                          void *u);

#endif
