/* Red-black Gauss-Seidel with over-relaxation on a CUDA device. Called through gmg_smoother_ops and gmg_fused_ops. Unknowns with
   even i + j + k are red and are relaxed first (last on a reversed leg). The phases of a colour, and the layers near the seams of
   odd periodic axes that are swept first, are as in red_black/host.c.

   Bytes moved per unknown. Fields are double, in the last two rows also float:

     one sweep, one pass per colour                                            48
     one sweep, both colours in one pass                                       24
     its copy of interface layers to u (a copy of everything would move 16)    about 8
     one sweep from zero, both colours in one pass                             16
     downward leg from zero in 3D: fused                                       17
     downward leg from zero in 3D: sweep, then restriction                     33
     upward leg to the finest level in mixed precision: fused                  25
     upward leg to the finest level in mixed precision: separate passes        45

   On large levels with constant coefficients one pass relaxes both colours (relax/cuda/plane_sweep.cuh), with the same result. For
   that, each block also relaxes one layer around its own unknowns, from values before the sweep. These must not be overwritten, so
   - two sweeps write to the level's scratch field and back;
   - one sweep writes in place what no other block reads, which is nearly everything. The two layers beside other blocks are written
     to the scratch field, from which a second kernel copies them;
   - a sweep from zero reads no u, and writes in place.

   Legs with one sweep are fused, with the same result:
   - Downwards from zero it also restricts its residual. A block then also needs the final values in the layer around its own
     unknowns, which depend on a first half sweep in the ring. From zero that is the weight times f over the diagonal, so no value
     comes from another block. Every coarse value is written by one block.
   - Upwards to the finest level of a mixed-precision cycle it prolongs the correction and updates u in double. It reads and writes
     different fields.
   - In double in 3D the downward leg can write u to another field (double buffering); unless u is 0 before, its residual is then
     restricted in a second pass. The upward leg writes u back with the correction, in one pass.

   In 2D, rows stream through warps (relax/cuda/row_sweep.cuh); in float, a leg is a single pass. 1D has its own kernel
   (red_black/line.cuh), except on odd periodic axes. */
extern "C" {
#include "smoothers/weight.h"
}

#include "smoothers/relax/cuda/plane_passes.cuh"
#include "smoothers/relax/cuda/row_restrict.cuh"
#include "line.cuh"

enum { SEAM_WIDTH = 2 }; /* layers on each side of a seam */

/* One colour in one phase, everywhere or near seams only. */
typedef struct {
  size_t colour, phase;
  int near_seam;
  int seam[3]; /* 1 if the last unknown of the axis and the first have the same colour and are neighbours */
} part;

template <int kind>
static __global__ void relax_kernel(gmg_operator A, gmg_points half, part x, const scalar *f, scalar *u, real omega)
{
  gmg_for_points(half, [&](size_t m, size_t j, size_t k, size_t) {
    const size_t at[3] = {2 * m + (j + k + x.colour) % 2, j, k}, i = at[0];
    if (i >= A.n[0]) return;
    size_t phase = 0;
    int near_seam = 0;
    for (int a = 0; a < 3; a++) {
      phase += x.seam[a] && at[a] == A.n[a] - 1;
      near_seam |= x.seam[a] && (at[a] < SEAM_WIDTH || at[a] + SEAM_WIDTH >= A.n[a]);
    }
    if (phase != x.phase || (x.near_seam && !near_seam)) return;
    gmg_relax_at<kind>(A, i, j, k, f, u, omega);
  });
}

static void sweep_by_colours(const gmg_smoother_level *l, const void *f, void *u, int steps, gmg_leg leg)
{
  const gmg_operator *A = l->A;
  double weight[GMG_HALF_SWEEPS];
  gmg_weights_red_black(l->A, l->params, leg, weight);
  part x = {0, 0, 0, {gmg_odd_seam(A, 0), gmg_odd_seam(A, 1), gmg_odd_seam(A, 2)}};
  const size_t phases = (size_t)(1 + x.seam[0] + x.seam[1] + x.seam[2]);
  const size_t seam_parts = phases > 1 ? 2 * phases : 0, parts = seam_parts + 2 * phases;
  const size_t n[3] = {(A->n[0] + 1) / 2, A->n[1], A->n[2]};
  const gmg_points half = gmg_points_of(n);
  const size_t reversed = leg == GMG_LEG_UP_REVERSED;
  for (size_t s = 0; s < (size_t)steps * parts; s++) {
    const size_t at = reversed ? parts - 1 - s % parts : s % parts;
    x.colour = at / phases % 2, x.phase = at % phases, x.near_seam = at < seam_parts;
    gmg_launch(l->exec, "red_black", GMG_BY_KIND(A, relax_kernel), gmg_shape_of(half), *A, half, x, f, u,
               weight[x.colour ^ reversed]);
  }
}

/* --- both colours in one pass ----------------------------------------------------------------------------------------- */

typedef struct {
  int fused;
  size_t max_bytes; /* bytes of shared memory */
  gmg_blocks blocks;
  gmg_blocks update_blocks; /* in 2D: blocks of a pass that writes to the update target */
} red_black_state;

/* Whether one pass relaxes both colours. On smaller levels the number of launches counts, not bytes. */
static int goes_in_one_pass(const gmg_operator *A)
{
  enum { MIN_CELLS = 500000 };
  return A->cells >= MIN_CELLS && is_uniform_level(A);
}

/* Passes of one sweep in 3D: plain; from zero; from zero with restriction; with an update in double; with prolongation and
   update, and where axes are not paired; with prolongation to another field of floats, the same. */
static const plane_pass passes[] = {PLANE_PASS(2, 0),
                                    PLANE_PASS(2, PASS_FROM_ZERO),
                                    PLANE_PASS(2, PASS_FROM_ZERO | PASS_RESTRICT),
                                    PLANE_PASS_IN_FLOAT(2, PASS_UPDATE),
                                    PLANE_PASS(2, PASS_UPDATE | PASS_PROLONG),
                                    PLANE_PASS(2, PASS_UPDATE | PASS_PROLONG | PASS_UNPAIRED),
                                    PLANE_PASS_IN_FLOAT(2, PASS_UPDATE | PASS_PROLONG | PASS_BASE),
                                    PLANE_PASS_IN_FLOAT(2, PASS_PROLONG),
                                    PLANE_PASS_IN_FLOAT(2, PASS_PROLONG | PASS_UNPAIRED),
                                    {-1}};

/* On smaller levels whose axes are not coarsened in pairs prolongation is a pass of its own. On an H100 a solve at 129^3 cells then
   takes 1.36 instead of 1.45 ms; at 257^3 it would take 5.7 instead of 4.4 ms. */
static int can_prolong_in_pass(const gmg_operator *A, const gmg_map *prolong)
{
  enum { MIN_CELLS_UNPAIRED = 1 << 22 };
  return planes_are_paired(prolong, A) || A->cells >= MIN_CELLS_UNPAIRED;
}

/* NULL if there is no such pass. */
static const plane_pass *pass_of(const gmg_smoother_level *l, const red_black_state *r, int kind)
{
  return l->A->dim == 3 ? plane_pass_of(passes, kind, r->max_bytes) : NULL;
}

enum { ACROSS = 32, LINES = 8, HIGH = 32, AT_ONCE = 8 }; /* columns of a thread block; planes of a thread; planes at a time */

/* Copies interface_copy back to u. In 3D most columns lie inside a block: of these, only the values near its lower and upper ends
   are copied. */
static __global__ void __launch_bounds__(ACROSS * LINES)
    interface_kernel(uniform_level s, unsigned across, unsigned lines, const scalar *copy, scalar *u)
{
  const unsigned tile = blockIdx.x, rest = tile / across;
  const int i = (int)(tile % across * ACROSS + threadIdx.x), j = (int)(rest % lines * LINES + threadIdx.y);
  const int begin = (int)(rest / lines) * HIGH, end = min(begin + HIGH, s.n[2]);
  if (i >= s.n[0] || j >= s.n[1]) return;
  const int all = seen_by_others(s, 0, i) || (s.n[1] > 1 && seen_by_others(s, 1, j));
  const int v = begin % s.own[2], own = min(s.own[2], s.n[2] - begin + v);
  const int column = column_offset(s.layout, i, j);
  if (!all && v >= 2 && v + end - begin <= own - 2) return; /* inside a block: nothing to copy */
  for (int first = begin; first < end; first += AT_ONCE) {
    scalar value[AT_ONCE];
    int wanted[AT_ONCE];
#pragma unroll
    for (int c = 0; c < AT_ONCE; c++) {
      const int k = first + c;
      wanted[c] = k < end && (all || seen_by_others(s, 2, k));
      value[c] = wanted[c] ? __ldcg(copy + (k * s.layout.plane + column)) : 0;
    }
#pragma unroll
    for (int c = 0; c < AT_ONCE; c++)
      if (wanted[c]) u[(first + c) * s.layout.plane + column] = value[c];
  }
}

static void copy_interfaces(const gmg_smoother_level *l, const uniform_level &s, const void *copy, void *u)
{
  const unsigned across = (unsigned)(s.n[0] + ACROSS - 1) / ACROSS, lines = (unsigned)(s.n[1] + LINES - 1) / LINES;
  const unsigned layers = (unsigned)(s.n[2] + HIGH - 1) / HIGH;
  const gmg_launch_shape grid = {dim3(across * lines * layers), dim3(ACROSS, LINES), 0};
  gmg_launch(l->exec, "red_black", interface_kernel, grid, s, across, lines, copy, u);
}

/* One sweep. from = NULL: u is 0. If interface_copy = to, everything is written there. */
static void fused_sweep(const gmg_smoother_level *l, const red_black_state *r, const uniform_level &s, const plane_pass *p,
                        const void *f, const void *from, void *to, void *interface_copy, const update_output &o,
                        const restriction_output &g)
{
  gmg_launch(l->exec, "red_black", p->kernel, plane_grid(p, &r->blocks), s, f, from, to, interface_copy, o, g);
}

static void plain_sweep(const gmg_smoother_level *l, const red_black_state *r, const uniform_level &s, const void *f,
                        const void *from, void *to, void *interface_copy)
{
  if (l->A->dim == 2) rows_sweep<2>(l->exec, l->A, s, 1, f, from, to, interface_copy);
  else
    fused_sweep(l, r, s, pass_of(l, r, from ? 0 : PASS_FROM_ZERO), f, from, to, interface_copy, update_output{},
                restriction_output{});
}

static uniform_level level_by_blocks(const gmg_smoother_level *l, const gmg_blocks *b, gmg_leg leg)
{
  double weight[GMG_HALF_SWEEPS];
  gmg_weights_red_black(l->A, l->params, leg, weight);
  return uniform_level_of(l->A, b, NULL, weight, leg == GMG_LEG_UP_REVERSED);
}

static uniform_level level_of(const gmg_smoother_level *l, const red_black_state *r, gmg_leg leg)
{
  return level_by_blocks(l, &r->blocks, leg);
}

static void fused_sweeps(const gmg_smoother_level *l, const red_black_state *r, const void *f, void *u, int steps, gmg_leg leg,
                         int from_zero)
{
  const uniform_level s = level_of(l, r, leg);
  if (from_zero) plain_sweep(l, r, s, f, NULL, u, u), steps--;
  for (int pair = 0; pair < steps / 2; pair++) {
    plain_sweep(l, r, s, f, u, l->scratch, l->scratch);
    plain_sweep(l, r, s, f, l->scratch, u, u);
  }
  if (steps % 2 == 0) return;
  plain_sweep(l, r, s, f, u, u, l->scratch);
  copy_interfaces(l, s, l->scratch, u);
}

static void relax(const gmg_smoother_level *l, const void *state, const void *f, void *u, int steps, gmg_leg leg, int from_zero)
{
  const red_black_state *r = (const red_black_state *)state;
  if (line_suits(l->A)) sweep_line(l, f, u, steps, leg, from_zero);
  else if (r->fused) fused_sweeps(l, r, f, u, steps, leg, from_zero);
  else {
    if (from_zero) l->exec->vector->fill(l->exec, l->A->cells, 0, u);
    sweep_by_colours(l, f, u, steps, leg);
  }
}

static void sweep(const gmg_smoother_level *l, void *state, const void *f, void *u, int steps, gmg_leg leg)
{
  relax(l, state, f, u, steps, leg, 0);
}

static void sweep_from_zero(const gmg_smoother_level *l, void *state, const void *f, void *u, int steps, gmg_leg leg)
{
  relax(l, state, f, u, steps, leg, 1);
}

/* One sweep to another field, and the restricted residual in a separate pass. */
static void presmooth_to_other_field(const gmg_smoother_level *l, const red_black_state *r, const void *f, void *u, void *to,
                                     gmg_start start, const gmg_map map[3], void *coarse)
{
  const uniform_level s = level_of(l, r, GMG_LEG_DOWN);
  plain_sweep(l, r, s, f, start == GMG_FROM_ZERO ? NULL : u, to, to);
  gmg_operator_of(l->exec, l->A)->restrict_residual(l->exec, l->A, map, f, to, u, coarse); /* u: work space */
}

static int presmooth_restrict(const gmg_smoother_level *l, void *state, const void *f, void *u, void *to, int steps,
                              gmg_start start, const gmg_map *map, void *coarse)
{
  const red_black_state *r = (const red_black_state *)state;
  restriction_output g;
  if (!r->fused || steps != 1) return 0;
  const plane_pass *fused = start == GMG_FROM_ZERO ? pass_of(l, r, PASS_FROM_ZERO | PASS_RESTRICT) : NULL;
#if GMG_REAL_F32
  if (start == GMG_FROM_ZERO && rows_restrict<2>(l->exec, l->A, level_of(l, r, GMG_LEG_DOWN), &r->blocks, map, f, u, coarse))
    return 1;
#endif
  if (!fused || !restriction_of(&g, coarse, l->A, map, &r->blocks)) {
    if (to != u) presmooth_to_other_field(l, r, f, u, to, start, map, coarse);
    return to != u;
  }
  const uniform_level s = level_of(l, r, GMG_LEG_DOWN);
  fused_sweep(l, r, s, fused, f, NULL, to, to, update_output{}, g);
  return 1;
}

static int postsmooth_update(const gmg_smoother_level *l, void *state, const void *f, void *u, int steps, gmg_leg leg,
                             const gmg_update_target *to)
{
  const red_black_state *r = (const red_black_state *)state;
  if (!r->fused || steps < 1 || (to->coarse && steps > 1)) return 0;
#if GMG_REAL_F32
  if (l->A->dim == 2) {
    sweep(l, state, f, u, steps - 1, leg);
    return rows_update<2>(l->exec, l->A, level_by_blocks(l, &r->update_blocks, leg), f, u, to);
  }
#endif
  const plane_pass *last = plane_pass_to(passes, r->max_bytes, to, l->A, &r->blocks);
  if (!last || !update_has_offsets(to) || (to->coarse && !can_prolong_in_pass(l->A, to->prolong))) return 0;
  sweep(l, state, f, u, steps - 1, leg);
  fused_sweep(l, r, level_of(l, r, leg), last, f, u, to->x, to->x, update_of(to, l->A), restriction_output{});
  return 1;
}

static int double_buffered(const gmg_smoother_level *l, const void *state, const gmg_map *prolong)
{
  const red_black_state *r = (const red_black_state *)state;
  return r->fused && l->params->pre == 1 && l->params->post == 1 && can_prolong_in_pass(l->A, prolong) &&
         planes_can_double_buffer(passes, r->max_bytes, l->A, &r->blocks, prolong);
}

static int takes_base(const gmg_smoother_level *l, const void *state, int steps, const gmg_update_target *to)
{
  const red_black_state *r = (const red_black_state *)state;
  if (!r->fused || steps != 1 || l->A->part) return 0;
#if GMG_REAL_F32
  if (l->A->dim == 2) return rows_can_update(to);
#endif
  return plane_pass_to(passes, r->max_bytes, to, l->A, &r->blocks) && update_has_offsets(to);
}

static gmg_status setup(const gmg_smoother_level *l, void **state)
{
  const gmg_operator *A = l->A;
  static const size_t any[3] = {0, 0, 0};
  const gmg_device *d = gmg_device_of(l->exec);
  const size_t processors = (size_t)d->processors;
  GMG_TRY(gmg_exec_alloc_state(l->exec, "red_black state", sizeof(red_black_state), state));
  red_black_state *r = (red_black_state *)*state;
  r->max_bytes = (size_t)d->max_shared;
  if (!goes_in_one_pass(A)) return GMG_OK;
  if (A->dim == 2)
    r->fused = row_blocks<2, 0>(A, any, processors, &r->blocks) &&
               row_blocks<2, PASS_PROLONG | PASS_UPDATE>(A, any, processors, &r->update_blocks);
  else r->fused = pass_of(l, r, 0) && plane_blocks<2>(A, any, processors, &r->blocks);
  if (r->fused && A->dim == 3 && !l->exec->dry) allow_passes(l->exec, passes, r->max_bytes);
  return GMG_OK;
}

extern "C" const gmg_smoother_ops R(gmg_red_black_cuda) = {
    .setup = setup, .sweep = sweep, .sweep_from_zero = sweep_from_zero};

extern "C" const gmg_fused_ops R(gmg_red_black_fused_cuda) = {
    .presmooth_restrict = presmooth_restrict,
    .postsmooth_update = postsmooth_update,
    .double_buffered = double_buffered,
    .takes_base = takes_base};
