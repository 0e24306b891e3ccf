/* Box stencils in the asynchronous smoother: blocks as tiles, and where a tile lies. Included by its variants for box stencils. */
#ifndef GMG_SMOOTHERS_ASYNC_CUDA_BOX_H
#define GMG_SMOOTHERS_ASYNC_CUDA_BOX_H

#include "variant.h"

#include "core/cuda/atomics.cuh"
#include "stencil/box/box.h"
#include "stencil/box_arrays/rows.h"

/* The blocks of a level as tiles. */
typedef struct {
  unsigned blocks[3]; /* along each axis */
  int shape[3];       /* of a block */
  int margin[3];      /* layers around it: overlap and ring, or the ring alone; 0 along missing axes */
  int size[3];        /* of a tile */
  int last;           /* number of the last block */
  const int *order;   /* NULL: natural */
} box_tiles;

typedef struct {
  int sweeps, coloured, reversed;
  real omega;
} box_relaxation;

/* Where a tile lies. Tile coordinates start at `origin`, which may be outside the level. */
typedef struct {
  int origin[3], own[3];      /* own: unknowns of the block */
  int first[3], end[3];       /* the tile coordinates that are relaxed */
} box_place;

/* Rows: gmg_box_rows or gmg_box_array_rows. */
template <class Rows>
static __device__ __forceinline__ box_place box_place_of(const Rows &A, const box_tiles &s, int reversed, unsigned block)
{
  const unsigned at = reversed ? (unsigned)s.last - block : block, b = s.order ? (unsigned)s.order[at] : at;
  unsigned index[3];
  gmg_indices_of_32(b, s.blocks, index);
  box_place p;
#pragma unroll
  for (int a = 0; a < 3; a++) {
    const int n = (int)A.layout.n[a], begin = (int)index[a] * s.shape[a], ring = s.margin[a] > 0;
    p.own[a] = min(s.shape[a], n - begin), p.origin[a] = begin - s.margin[a];
    p.first[a] = ring, p.end[a] = p.own[a] + 2 * s.margin[a] - ring;
    if (!A.wraps[a]) p.first[a] = max(p.first[a], -p.origin[a]), p.end[a] = min(p.end[a], n - p.origin[a]);
  }
  return p;
}

/* The index of tile coordinate v in the level; -1: it is beyond a wall. */
template <class Rows>
static __device__ __forceinline__ int box_index(const Rows &A, const box_place &p, int axis, int v)
{
  const int n = (int)A.layout.n[axis], i = p.origin[axis] + v;
  return i >= 0 && i < n ? i : A.wraps[axis] ? gmg_wrap_modulo_32(i, n) : -1;
}

/* The step to the lower (side 0) or upper (1) neighbour in a tile. Beyond a wall that does not mirror there is a cell with 0. */
template <class Rows>
static __device__ __forceinline__ int box_step(const Rows &A, const box_place &p, int axis, int v, int side, int pitch)
{
  const int n = (int)A.layout.n[axis], i = p.origin[axis] + v, inside = n > 1 ? pitch : 0;
  if (!A.wraps[axis] && A.mirrors[axis][side] && i == (side ? n - 1 : 0)) return side ? -inside : inside;
  return side ? pitch : -pitch;
}

static inline box_tiles box_tiles_of(const gmg_smoother_level *l, gmg_blocks blocks)
{
  box_tiles s = {};
  s.last = (int)blocks.total - 1;
  for (int a = 0; a < 3; a++) {
    s.blocks[a] = (unsigned)blocks.count[a], s.shape[a] = (int)blocks.shape[a];
    s.margin[a] = a < l->A->dim ? gmg_block_margin(&blocks, l->A, a, l->params->async.overlap + 1) : 0;
    s.size[a] = s.shape[a] + 2 * s.margin[a];
  }
  return s;
}

static inline box_relaxation box_relaxation_of(const gmg_smoother_level *l, gmg_leg leg)
{
  return {l->params->async.local_sweeps, l->params->async.local == GMG_LOCAL_RED_BLACK, leg == GMG_LEG_UP_REVERSED,
          (real)gmg_weight_async(l->A, l->params)};
}

template <class Rows> using box_pass = void(Rows, box_tiles, box_relaxation, const scalar *, const scalar *, scalar *, work_queue);

/* async_variant::run of a kernel. */
template <class Rows>
static inline void run_box_pass(box_pass<Rows> *kernel, const Rows &rows, const gmg_smoother_level *l, const async_state *s,
                                size_t passes, const void *f, const void *from, void *to, gmg_leg leg)
{
  box_tiles t = box_tiles_of(l, s->blocks);
  t.order = order_of(l, s);
  const async_launch k = launch_of(l, s, passes);
  gmg_launch(l->exec, "async", kernel, k.grid, rows, t, box_relaxation_of(l, leg), f, from, to, k.queue);
}

/* Functions of box_symmetric.cu for levels that box_lines.cu has laid out. prepare: as in async_variant. update: sets
   s->is_symmetric if the kernel supports the level. run and postsmooth_update: called only if s->is_symmetric is set. */
extern "C" void R(async_box_symmetric_prepare)(const gmg_smoother_level *l, const async_state *s);
extern "C" void R(async_box_symmetric_update)(const gmg_smoother_level *l, async_state *s);
extern "C" void R(async_box_symmetric_run)(const gmg_smoother_level *l, const async_state *s, size_t passes, const void *f,
                                           const void *from, void *to, gmg_leg leg);
extern "C" int R(async_box_symmetric_postsmooth_update)(const gmg_smoother_level *l, const async_state *s, size_t passes,
                                                        const void *f, void *u, gmg_leg leg, const gmg_update_target *to);

#endif
