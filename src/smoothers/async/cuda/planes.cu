/* Plane sweep (relax/cuda/plane_sweep.cuh) on 3D levels with constant coefficients: accepts levels, and launches. Called through
   its async_variant. Fused legs are passes of the plane sweep, too. At 512^3 on an H200:
   - restricting, in double: 1.49 instead of 2.0 ms;
   - restricting from zero, in float: 0.59 instead of 0.88 ms;
   - prolonging and updating another field: 1.24 instead of 1.80 ms. */
#include "variant.h"

#include "smoothers/relax/cuda/plane_passes.cuh"

/* MIN_CELLS_RESTRICT: on larger levels a pass that does not start from zero also restricts.
   - Float: it takes 0.157 instead of 0.167 ms at 256^3, but 57 instead of 52 us at 128^3.
   - Double: a solve at 256^3 takes 5.0 ms with it, and 4.5 ms without.

   MIN_CELLS_UNPAIRED: on smaller levels whose axes are not coarsened in pairs prolongation is a pass of its own. At 128^3 vertices
   between Neumann walls on an H100 the two passes take 68 us, and one 88 us; at 383^3 a solve takes 11.3 instead of 11.9 ms with
   one.

   MIN_CELLS_DOUBLE_BUFFERED: larger levels are double-buffered. If coarser levels are, too, cycles take longer: their blocks are
   short, and the instructions of their first and last steps are not in the cache yet.
   - Double: a V(1,1) cycle at 512^3 takes 3.95 ms, and 4.06 ms if coarser levels are double-buffered, too.
   - Float: a solve of five cycles at 512^3 takes 13.15 instead of 14.04 ms, at 384^3 6.61 instead of 6.93 ms.

   MIN_CELLS_BASE: on smaller levels it is faster to store the base and to read it again. A full multigrid start at 256^3 takes 0.81
   instead of 0.78 ms without a stored base. At 384^3 it takes 3.05 instead of 3.13 ms, at 512^3 3.71 instead of 4.00. */
enum { MIN_CELLS_RESTRICT = sizeof(real) == 8 ? 1 << 26 : 1 << 22,
       MIN_CELLS_UNPAIRED = 1 << 25,
       MIN_CELLS_DOUBLE_BUFFERED = sizeof(real) == 8 ? 1 << 26 : 1 << 25,
       MIN_CELLS_BASE = 1 << 25 };

static const plane_pass pass_table[] = {PLANE_PASS(4, 0),
                                        PLANE_PASS(4, PASS_FROM_ZERO),
                                        PLANE_PASS(4, PASS_RESTRICT),
                                        PLANE_PASS(4, PASS_RESTRICT | PASS_FROM_ZERO),
                                        PLANE_PASS_IN_FLOAT(4, PASS_UPDATE),
                                        PLANE_PASS(4, PASS_UPDATE | PASS_PROLONG),
                                        PLANE_PASS(4, PASS_UPDATE | PASS_PROLONG | PASS_UNPAIRED),
                                        PLANE_PASS_IN_FLOAT(4, PASS_UPDATE | PASS_PROLONG | PASS_BASE),
                                        PLANE_PASS_IN_FLOAT(4, PASS_PROLONG),
                                        PLANE_PASS_IN_FLOAT(4, PASS_PROLONG | PASS_UNPAIRED),
                                        {-1}};

/* Shared memory is reserved in steps, and the rest is the L1 cache. With 320 more bytes of shared memory, which take another step,
   a V(1,1) cycle in double at 512^3 took 5.08 instead of 4.58 ms (be072dc, docs/notes/gpu-measurements.md). */
static_assert(plane_shape<4>::blocks * (plane_pass_bytes<4>(PASS_PROLONG) + 1024) <= (sizeof(real) == 8 ? 196 : 164) * 1024,
              "the upward leg needs one more step of shared memory than the plain pass");

static const plane_pass *pass_of(const gmg_smoother_level *l, const async_state *s, int kind)
{
  return plane_pass_of(pass_table, kind, s->max_bytes);
}

/* Walls may mirror: blocks relax the images beyond them, too. Periodic axes may have an odd size, where two unknowns of one colour
   meet at the seam: blocks on both sides then relax these two in different orders. */
static int lay_out(const gmg_smoother_level *l, async_state *s)
{
  const gmg_operator *A = l->A;
  const gmg_params *p = l->params;
  if (A->dim != 3 || !gmg_has_equal_couplings(A) || A->cells > 0x7fffffff) return 0;
  if (!is_large(l, MIN_CELLS_PLANES) || !has_default_relaxation(p, 1)) return 0;
  if (!plane_blocks<4>(A, p->async.block, processors_of(l), &s->blocks)) return 0;
  s->bytes = pass_table[0].bytes, s->threads = dim3((unsigned)(32 * plane_rows(&s->blocks)));
  return 1;
}

static const void *prepare(const gmg_smoother_level *l, const async_state *s)
{
  allow_passes(l->exec, pass_table, s->max_bytes);
  return is_dynamic(l->params) ? allow_shared(l, (const void *)plane_kernel_dynamic<4>, s->max_bytes) : NULL;
}

static uniform_level level_of(const gmg_smoother_level *l, const async_state *s, gmg_leg leg)
{
  uniform_level x = async_level_of(l, &s->blocks, s->order, leg);
  for (int a = 0; a < 3; a++) x.ends[a] = gmg_ends_of(l->A, a);
  return x;
}

static void launch(const gmg_smoother_level *l, const async_state *s, const plane_pass *p, size_t passes, const uniform_level &x,
                   const void *f, const void *from, void *to, const update_output &o, const restriction_output &r)
{
  gmg_launch(l->exec, "async", p->kernel, plane_grid(p, &s->blocks, passes), x, f, from, to, nullptr, o, r);
}

static void run(const gmg_smoother_level *l, const async_state *s, size_t passes, const void *f, const void *from, void *to,
                gmg_leg leg)
{
  const uniform_level x = level_of(l, s, leg);
  const plane_pass *from_zero = !from && passes == 1 ? pass_of(l, s, PASS_FROM_ZERO) : NULL;
  const plane_pass *pass = from_zero ? from_zero : pass_of(l, s, 0);
  if (s->resident) {
    const async_launch k = launch_of(l, s, passes);
    gmg_launch(l->exec, "async", plane_kernel_dynamic<4>, k.grid, x, f, from, to, k.queue);
  } else launch(l, s, pass, passes, x, f, from, to, update_output{}, restriction_output{});
}

static int presmooth_restrict(const gmg_smoother_level *l, const async_state *s, size_t passes, const void *f, void *u, void *to,
                              gmg_start start, const gmg_map *map, void *coarse)
{
  const int zero = start == GMG_FROM_ZERO && passes == 1;
  /* on small levels only from zero, if double-buffered, or if the caller chose the blocks */
  const int pays = zero || to != u || l->params->async.block[0] || l->A->cells >= MIN_CELLS_RESTRICT;
  const plane_pass *last = pass_of(l, s, PASS_RESTRICT | (zero ? PASS_FROM_ZERO : 0));
  restriction_output r;
  if (!pays || !last || !restriction_of(&r, coarse, l->A, map, &s->blocks)) return 0;
  (void)R(async_run_but_last)(l, s, passes, start, f, u);
  l->exec->vector->fill(l->exec, gmg_unknowns_of(gmg_layout_of_rows(map)), 0, coarse);
  launch(l, s, last, 1, level_of(l, s, GMG_LEG_DOWN), f, u, to, update_output{}, r);
  return 1;
}

static int postsmooth_update(const gmg_smoother_level *l, const async_state *s, size_t passes, const void *f, void *u, gmg_leg leg,
                             const gmg_update_target *to)
{
  const plane_pass *last = plane_pass_to(pass_table, s->max_bytes, to, l->A, &s->blocks);
  const int pays = !to->coarse || l->A->part || planes_are_paired(to->prolong, l->A) || is_large(l, MIN_CELLS_UNPAIRED);
  if (!pays || !last || !update_has_offsets(to) || (to->coarse && passes > 1)) return 0;
  R(async_run_passes)(l, s, passes - 1, f, u, leg);
  launch(l, s, last, 1, level_of(l, s, leg), f, u, to->x, update_of(to, l->A), restriction_output{});
  return 1;
}

static int double_buffered(const gmg_smoother_level *l, const async_state *s, const gmg_map *prolong)
{
  const int is_first = is_first_level(l) && planes_are_paired(prolong, l->A);
  const int pays = l->A->part || is_first || is_large(l, MIN_CELLS_DOUBLE_BUFFERED); /* of parts, no other legs are fused */
  return pays && planes_can_double_buffer(pass_table, s->max_bytes, l->A, &s->blocks, prolong);
}

static int takes_base(const gmg_smoother_level *l, const async_state *s, const gmg_update_target *to)
{
  return is_large(l, MIN_CELLS_BASE) && plane_pass_to(pass_table, s->max_bytes, to, l->A, &s->blocks) && update_has_offsets(to);
}

const async_variant R(async_planes) = {.lay_out = lay_out,
                                       .prepare = prepare,
                                       .run = run,
                                       .presmooth_restrict = presmooth_restrict,
                                       .postsmooth_update = postsmooth_update,
                                       .double_buffered = double_buffered,
                                       .takes_base = takes_base};
