/* Levels in 2D as rows that stream through the registers of warps (cuda/row_sweep.cuh; legs: cuda/row_restrict.cuh,
   cuda/row_prolong.cuh): which, and the launches. Included by cuda/async.cu. */
#ifndef GMG_SMOOTHERS_ASYNC_CUDA_ROWS_H
#define GMG_SMOOTHERS_ASYNC_CUDA_ROWS_H

#include "smoothers/relax/cuda/row_restrict.cuh"
#include "planes.cuh"
#include "smoothers/relax/cuda/row_prolong.cuh"

enum { SEVERAL = 300000 }; /* on smaller levels tiles take less time: 512^2 6 instead of 15 us */

static __global__ void __launch_bounds__(32 * STRIP_WARPS, STRIP_BLOCKS)
    strip_kernel(uniform_level s, unsigned turns, const real *f, const real *from, real *to)
{
  const unsigned turn = blockIdx.x * STRIP_WARPS + gmg_warp();
  if (turn < turns) relax_strip(s, turn % (unsigned)s.total, f, from, to);
}

static int lay_out_strips(const gmg_smoother_level *l, async_state *s)
{
  const gmg_operator *A = l->A;
  const gmg_params *p = l->params;
  const int processors = (int)processors_of(l);
  if (!is_uniform_level(A) || A->dim != 2 || !enough(l, SEVERAL) || !is_usual(p) || takes(p)) return 0;
  if (!strip_blocks(A, p->block, STRIP_BLOCKS * processors, &s->blocks)) return 0;
#if GMG_REAL_F32
  s->last = s->blocks;
  if (!p->deterministic) (void)strip_blocks(A, p->block, ONTO_BLOCKS * processors, &s->last);
#endif
  stream_room(l, s);
  return 1;
}

/* Fields that are not aligned go by planes. */
static void run_strips(const gmg_smoother_level *l, const async_state *s, const launch *k, const pass *p)
{
  const unsigned turns = (unsigned)(p->passes * s->blocks.total);
  if (!gmg_is_strip(p->f, p->from, p->to)) run_stream(l, s, k, p);
  else
    strip_kernel<<<strip_grid(turns), 32 * STRIP_WARPS, 0, k->stream>>>(level_of(l, s, p->reversed, p->from, p->to), turns, p->f,
                                                                        p->from, p->to);
}

#if GMG_REAL_F32
/* From zero in one pass. */
static int strips_down(const gmg_smoother_level *l, const async_state *s, const down_leg *d)
{
  if (!d->from_zero || d->passes > 1 || !can_descend(l->A, &s->blocks, d->map, d->f, d->u, d->coarse)) return 0;
  const uniform_level x = uniform_level_of(l->A, &s->blocks, NULL, gmg_weight_async(l->A, l->params), 0, d->u, NULL);
  descend<STRIP_HALVES>(launch_of(l, s, 1).stream, x, d->map, d->f, d->u, d->coarse);
  gmg_cuda_launched(l->exec, "async");
  return 1;
}

/* One pass, with a correction. */
static int strips_up(const gmg_smoother_level *l, const async_state *s, const up_leg *u)
{
  if (u->passes > 1 || !can_strip_onto(l->A, u->to, u->f, u->u)) return 0;
  const uniform_level x = uniform_level_of(l->A, &s->last, NULL, gmg_weight_async(l->A, l->params), u->reversed, u->u, NULL);
  go_onto<STRIP_HALVES>(launch_of(l, s, 1).stream, x, update_of(u->to, l->A), u->f, u->u);
  gmg_cuda_launched(l->exec, "async");
  return 1;
}
#endif

#endif
