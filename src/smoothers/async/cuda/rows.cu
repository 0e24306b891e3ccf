/* Row sweep (relax/cuda/row_sweep.cuh, row_restrict.cuh) on 2D levels: accepts levels, and launches. Called through its
   async_variant. */
#include "variant.h"

#include "smoothers/relax/cuda/row_restrict.cuh"

enum { MIN_CELLS_ROWS = 300000 }; /* on smaller levels tiles are faster: 512^2 takes 6 instead of 15 us */
enum { HALF_SWEEPS = 4 };         /* half sweeps per pass: two local sweeps */

static int lay_out(const gmg_smoother_level *l, async_state *s)
{
  const gmg_operator *A = l->A;
  const gmg_params *p = l->params;
  if (!is_uniform_level(A) || A->dim != 2 || !is_large(l, MIN_CELLS_ROWS) || !has_default_relaxation(p, 2)) return 0;
  if (!row_blocks<HALF_SWEEPS, 0>(A, p->async.block, processors_of(l), &s->blocks)) return 0;
  s->update_blocks = s->blocks;
  if (GMG_REAL_F32 && !p->deterministic)
    (void)row_blocks<HALF_SWEEPS, PASS_PROLONG | PASS_UPDATE>(A, p->async.block, processors_of(l), &s->update_blocks);
  s->bytes = 0, s->threads = dim3(is_dynamic(p) ? 32 : 32 * BLOCK_WARPS);
  return 1;
}

static const void *prepare(const gmg_smoother_level *l, const async_state *s)
{
  (void)s;
  return is_dynamic(l->params) ? (const void *)row_kernel_dynamic<HALF_SWEEPS> : NULL;
}

static void run(const gmg_smoother_level *l, const async_state *s, size_t passes, const void *f, const void *from, void *to,
                gmg_leg leg)
{
  const uniform_level x = async_level_of(l, &s->blocks, s->order, leg);
  if (s->resident) {
    const async_launch k = launch_of(l, s, passes);
    gmg_launch(l->exec, "async", row_kernel_dynamic<HALF_SWEEPS>, k.grid, x, first_unknown(x.layout, f),
               first_unknown(x.layout, from), first_unknown(x.layout, to), k.queue);
  } else rows_sweep<HALF_SWEEPS>(l->exec, l->A, x, passes, f, from, to, NULL);
}

#if GMG_REAL_F32
/* The downward leg from zero, in one pass. */
static int presmooth_restrict(const gmg_smoother_level *l, const async_state *s, size_t passes, const void *f, void *u, void *to,
                              gmg_start start, const gmg_map *map, void *coarse)
{
  if (start != GMG_FROM_ZERO || passes > 1) return 0;
  const uniform_level x = async_level_of(l, &s->blocks, NULL, GMG_LEG_DOWN);
  return rows_restrict<HALF_SWEEPS>(l->exec, l->A, x, &s->blocks, map, f, to, coarse);
}

/* The upward leg; with a coarse correction only in one pass. */
static int postsmooth_update(const gmg_smoother_level *l, const async_state *s, size_t passes, const void *f, void *u, gmg_leg leg,
                             const gmg_update_target *to)
{
  if (to->coarse && passes > 1) return 0;
  R(async_run_passes)(l, s, passes - 1, f, u, leg);
  return rows_update<HALF_SWEEPS>(l->exec, l->A, async_level_of(l, &s->update_blocks, NULL, leg), f, u, to);
}

/* If the pass back also adds the correction. */
static int double_buffered(const gmg_smoother_level *l, const async_state *s, const gmg_map *prolong)
{
  (void)s;
  return !l->A->part && rows_can_prolong(prolong);
}

static int takes_base(const gmg_smoother_level *l, const async_state *s, const gmg_update_target *to)
{
  (void)s;
  return !l->A->part && rows_can_update(to);
}
#endif

const async_variant R(async_rows) = {.lay_out = lay_out,
                                     .prepare = prepare,
                                     .run = run,
                                     .presmooth_restrict = IN_FLOAT(presmooth_restrict),
                                     .postsmooth_update = IN_FLOAT(postsmooth_update),
                                     .double_buffered = IN_FLOAT(double_buffered),
                                     .takes_base = IN_FLOAT(takes_base)};
