/* Levels in 2D as rows that stream through the registers of warps (cuda/row_sweep.cuh; legs: cuda/row_restrict.cuh,
   cuda/row_prolong.cuh): which, and the launches. */
#include "variant.h"

#include "smoothers/relax/cuda/row_prolong.cuh"
#include "smoothers/relax/cuda/row_restrict.cuh"

enum { MIN_CELLS_ROWS = 300000 }; /* on smaller levels tiles take less time: 512^2 6 instead of 15 us */

static __global__ void __launch_bounds__(32 * STRIP_WARPS, STRIP_BLOCKS)
    strip_kernel(uniform_level s, unsigned turns, const real *f, const real *from, real *to)
{
  const unsigned block_index = blockIdx.x * STRIP_WARPS + gmg_warp();
  if (block_index < turns) relax_strip(s, block_index % (unsigned)s.total, f, from, to);
}

static int lay_out(const gmg_smoother_level *l, async_state *s)
{
  const gmg_operator *A = l->A;
  const gmg_params *p = l->params;
  const int processors = (int)processors_of(l);
  if (!is_uniform_level(A) || A->dim != 2 || !is_large(l, MIN_CELLS_ROWS) || !is_usual(p) || is_dynamic(p)) return 0;
  if (!strip_blocks(A, p->block, STRIP_BLOCKS * processors, &s->blocks)) return 0;
#if GMG_REAL_F32
  s->update_blocks = s->blocks;
  if (!p->deterministic) (void)strip_blocks(A, p->block, ONTO_BLOCKS * processors, &s->update_blocks);
#endif
  s->bytes = 0, s->threads = dim3(32 * STRIP_WARPS);
  return 1;
}

/* Fields of the caller's may begin anywhere, and a call may bring other ones than the last: those that are not aligned go by planes, in
   the same blocks. */
static const void *prepare(const gmg_smoother_level *l, const async_state *s) { return R(async_planes).prepare(l, s); }

static void run(const gmg_smoother_level *l, const async_state *s, const async_launch *k, const async_pass *p)
{
  const unsigned turns = (unsigned)(p->passes * s->blocks.total);
  if (!gmg_is_strip(p->f, p->from, p->to)) R(async_planes).run(l, s, k, p);
  else
    strip_kernel<<<strip_grid(turns), k->threads, 0, k->stream>>>(
        uniform_level_of(l->A, &s->blocks, s->order, gmg_weight_async(l->A, l->params), p->reversed, p->from, p->to), turns, p->f, p->from, p->to);
}

#if GMG_REAL_F32
/* From zero in one pass. */
static int presmooth_restrict(const gmg_smoother_level *l, const async_state *s, const async_presmooth *d)
{
  if (!d->from_zero || d->passes > 1 || !can_descend(l->A, &s->blocks, d->map, d->f, d->u, d->coarse)) return 0;
  const uniform_level x = uniform_level_of(l->A, &s->blocks, NULL, gmg_weight_async(l->A, l->params), 0, d->u, NULL);
  descend<STRIP_HALVES>(launch_of(l, s, 1).stream, x, d->map, d->f, d->u, d->coarse);
  gmg_cuda_launched(l->exec, "async");
  return 1;
}

/* One pass, with a correction. */
static int postsmooth_update(const gmg_smoother_level *l, const async_state *s, const async_postsmooth *u)
{
  if (u->passes > 1 || !can_strip_onto(l->A, u->to, u->f, u->u)) return 0;
  const uniform_level x = uniform_level_of(l->A, &s->update_blocks, NULL, gmg_weight_async(l->A, l->params), u->reversed, u->u, NULL);
  go_onto<STRIP_HALVES>(launch_of(l, s, 1).stream, x, update_of(u->to, l->A), u->f, u->u);
  gmg_cuda_launched(l->exec, "async");
  return 1;
}
#endif

const async_variant R(async_rows) = {.lay_out = lay_out,
                                     .prepare = prepare,
                                     .run = run,
                                     .presmooth_restrict = IN_FLOAT(presmooth_restrict),
                                     .postsmooth_update = IN_FLOAT(postsmooth_update)};
