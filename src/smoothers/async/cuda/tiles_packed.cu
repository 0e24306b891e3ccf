/* Packed tiles (relax/cuda/tile_packed.cuh) on levels that fit in the cache: accepts levels, chooses blocks, and launches. Called
   through its async_variant. */
#include "variant.h"

#include "smoothers/relax/cuda/tile_packed.cuh"

#if GMG_REAL_F32

enum { MAX_CELLS_PACKED = 5000000 }; /* on larger levels the plane sweep is faster */

typedef struct {
  /* [ends are special][from zero][pairs are aligned] */
  void (*kernel[2][2][2])(packed_level s, const scalar *f, const scalar *from, scalar *to);
  /* [without a coarse correction; without it, and ends are special; with it][pairs are aligned] */
  void (*update[3][2])(packed_level s, const scalar *f, const scalar *from, update_output o);
  /* [from zero]; ends are not special, pairs are aligned */
  void (*restrict_[2])(packed_level s, const scalar *f, const scalar *from, scalar *to, restriction_output r);
  int threads, max_own[3]; /* maximum of own unknowns of a block */
  size_t bytes, update_bytes;
} packed_passes;

/* Three shapes. In larger blocks a smaller part of the loaded and relaxed unknowns belongs to neighbours. With smaller blocks more
   multiprocessors have one. More warps with fewer registers each are slower, because nothing may be spilled while so many loads are
   in flight. Times on an H200 in us, launched one after the other, given u and from zero:
   - large, at 128^3: 16.3 and 12.8 (plane sweep: about 34);
   - middle, at 64^3: 3.9 and 3.3;
   - small, at 32^3: 2.6 and 2.3. */
#define KERNELS(shape, special)                                                    \
  {{packed_kernel<shape, 0, 0, special>, packed_kernel<shape, 0, 1, special>}, \
   {packed_kernel<shape, 1, 0, special>, packed_kernel<shape, 1, 1, special>}}
#define UPDATES(shape, kind, special) {packed_kernel_update<shape, kind, 0, special>, packed_kernel_update<shape, kind, 1, special>}
#define PASSES(shape)                                                                        \
  {{KERNELS(shape, 0), KERNELS(shape, 1)},                                                   \
   {UPDATES(shape, 0, 0), UPDATES(shape, 0, 1), UPDATES(shape, PASS_PROLONG, 0)},            \
   {packed_kernel_restrict<shape, 0>, packed_kernel_restrict<shape, 1>}, shape::threads,     \
   {2 * shape::x - 4, 2 * shape::y - 4, shape::high * shape::z - 4}, shape::reals * sizeof(scalar), \
   shape::reals * sizeof(scalar) + shape::pairs * sizeof(double2)}
typedef packed_shape<18, 14, 2, 6, 1> packed_large;
typedef packed_shape<10, 10, 2, 6, 2> packed_middle;
typedef packed_shape<6, 6, 3, 4, 4> packed_small;
enum { PACKED_SHAPES = 3 };
static const packed_passes functions[PACKED_SHAPES] = {PASSES(packed_large), PASSES(packed_middle), PASSES(packed_small)};
#undef PASSES
#undef UPDATES
#undef KERNELS

/* Chooses the largest shape that gives enough blocks for the device, or the smallest one that holds the caller's blocks. Returns 1
   + the shape, or 0 if there is none. */
static int packed_blocks(const gmg_smoother_level *l, gmg_blocks *b)
{
  const gmg_operator *A = l->A;
  const size_t processors = processors_of(l);
  const int given = l->params->async.block[0] > 0;
  if (A->n[2] < 12) return 0; /* a patch may have only one wall */
  for (int i = 0; i < PACKED_SHAPES; i++) {
    const int shape = given ? PACKED_SHAPES - 1 - i : i, *max_own = functions[shape].max_own;
    size_t want[3] = {(size_t)max_own[0], (size_t)max_own[1], (size_t)max_own[2]}, fits = 1;
    *b = gmg_blocks_make(A, l->params->async.block, want);
    if (b->shape[0] % 2 && b->count[0] > 1 && !given) { /* whole pairs, unless the block is the last */
      const size_t paired[3] = {b->shape[0] + 1, 0, 0};
      *b = gmg_blocks_make(A, paired, want);
    }
    for (int a = 0; a < 3; a++) fits = fits && b->shape[a] <= (size_t)max_own[a] && b->count[a] < 1 << PACKED_BITS;
    if (!fits || (b->shape[0] % 2 && b->count[0] > 1)) continue;
    if (given || 4 * b->total >= 3 * processors || i == PACKED_SHAPES - 1) return shape + 1;
  }
  return 0;
}

/* Replaces the numbers of blocks by their positions. */
static void renumber(const gmg_blocks *b, int *order)
{
  for (size_t t = 0; t < b->total; t++) {
    const size_t n = (size_t)order[t], line = n / b->count[0];
    order[t] = (int)(n % b->count[0] | line % b->count[1] << PACKED_BITS | line / b->count[1] << 2 * PACKED_BITS);
  }
}

/* Whether a wall mirrors, or a periodic axis is odd. */
static int has_special_ends(const gmg_operator *A) { return !is_uniform_level(A); }

static const packed_passes *function_of(const async_state *s) { return &functions[s->shape - 1]; }

static int lay_out(const gmg_smoother_level *l, async_state *s)
{
  const gmg_params *p = l->params;
  if (l->A->dim != 3 || l->A->cells > MAX_CELLS_PACKED || !gmg_has_equal_couplings(l->A) || is_dynamic(p)) return 0;
  if (p->async.local != GMG_LOCAL_RED_BLACK || p->async.overlap != 1) return 0;
  s->shape = packed_blocks(l, &s->blocks);
  if (!s->shape) return 0;
  s->bytes = function_of(s)->bytes, s->threads = dim3((unsigned)function_of(s)->threads);
  return 1;
}

/* Whether an update can load pairs of its target to shared memory. */
static int keeps_pairs(const async_state *s) { return function_of(s)->update_bytes <= s->max_bytes; }
static size_t update_bytes_of(const async_state *s) { return keeps_pairs(s) ? function_of(s)->update_bytes : s->bytes; }

static const void *prepare(const gmg_smoother_level *l, const async_state *s)
{
  const packed_passes *f = function_of(s);
  const int special = has_special_ends(l->A);
  for (int k = 0; k < 4; k++) {
    allow_shared(l, (const void *)f->kernel[special][k / 2][k % 2], s->bytes);
    allow_shared(l, (const void *)f->update[k / 2 * 2][k % 2], update_bytes_of(s));
    allow_shared(l, (const void *)f->update[1][k % 2], update_bytes_of(s));
  }
  for (int zero = 0; zero < 2; zero++) allow_shared(l, (const void *)f->restrict_[zero], s->bytes);
  return NULL;
}

static packed_level level_of(const gmg_smoother_level *l, const async_state *state, gmg_leg leg)
{
  const gmg_operator *A = l->A;
  const gmg_blocks *b = &state->blocks;
  packed_level s = {};
  for (int a = 0; a < 3; a++) {
    s.n[a] = (int)A->n[a], s.around[a] = A->wraps[a] ? s.n[a] : 0, s.own[a] = (int)b->shape[a], s.diag[a] = A->diag[a];
    s.mirrors[a] = gmg_ends_of(A, a) & (GMG_MIRRORS_BELOW | GMG_MIRRORS_ABOVE), s.coupling[a] = (real)A->coupling[a];
  }
  s.layout = gmg_layout_32_of(gmg_layout_of(A));
  s.shift = (real)A->shift;
  weights_of(l, leg, s.weight);
  s.sweeps = l->params->async.local_sweeps, s.extra = GMG_SEAM_SWEEPS;
  s.keeps_pairs = keeps_pairs(state), s.reversed = leg == GMG_LEG_UP_REVERSED;
  s.total = (unsigned)b->total, s.order = (const unsigned *)state->order;
  return s;
}

static void run(const gmg_smoother_level *l, const async_state *s, size_t passes, const void *f, const void *from, void *to,
                gmg_leg leg)
{
  const packed_level x = level_of(l, s, leg);
  const int aligned = l->A->n[0] % 2 == 0 && ((uintptr_t)f | (uintptr_t)from | (uintptr_t)to) % sizeof(real_pair) == 0;
  const auto kernel = function_of(s)->kernel[has_special_ends(l->A)][!from][aligned];
  gmg_launch_early(l->exec, "async", kernel, launch_of(l, s, passes).grid, x, f, from, to);
}

/* Sets the coarse field to zero before a pass adds to it. */
static __global__ void __launch_bounds__(GMG_THREADS) clear_kernel(int n, scalar *x)
{
  gmg_wait_for_predecessor();
  for (int c = (int)(blockIdx.x * GMG_THREADS + threadIdx.x); c < n; c += (int)gridDim.x * GMG_THREADS) x[c] = 0;
}

/* The last pass of the downward leg also restricts. Every block adds what its own unknowns contribute, whatever others do. */
static int presmooth_restrict(const gmg_smoother_level *l, const async_state *s, size_t passes, const void *f, void *u, void *to,
                              gmg_start start, const gmg_map *map, void *coarse)
{
  restriction_output r;
  if (has_special_ends(l->A) || ((uintptr_t)f | (uintptr_t)u | (uintptr_t)to) % sizeof(real_pair)) return 0;
  if (!restriction_of(&r, coarse, l->A, map, &s->blocks)) return 0;
  const int zero = R(async_run_but_last)(l, s, passes, start, f, u);
  const gmg_launch_shape clearing = {dim3((unsigned)processors_of(l)), dim3(GMG_THREADS), 0};
  gmg_launch_early(l->exec, "async", clear_kernel, clearing, gmg_unknowns_of(gmg_layout_of_rows(map)), coarse);
  const packed_level x = level_of(l, s, GMG_LEG_DOWN);
  gmg_launch_early(l->exec, "async", function_of(s)->restrict_[zero], launch_of(l, s, 1).grid, x, f, u, to, r);
  return 1;
}

static int pairs_are_linear(const gmg_map prolong[3])
{
  int linear = 1;
  for (int a = 0; a < 3; a++) linear = linear && prolong[a].pairs == GMG_PAIRS_LINEAR;
  return linear;
}

/* Whether a pass also prolongs the coarse correction. It saves a launch, but not always time. Times of the fused kernel, and of the
   two kernels that it replaces, without launches (ncu, H200, e55d834):
   - at 64^3: 8.4 us, and 4.2 + 5.3 us; there the saved launch counts, too;
   - at 128^3: 34.3 us, and 8.5 + 21.2 us. */
static int packed_can_prolong(const gmg_smoother_level *l, const async_state *s, const gmg_update_target *to)
{
  const gmg_blocks *b = &s->blocks;
  if (has_special_ends(l->A) || (function_of(s) == &functions[0] && !l->params->async.block[0])) return 0;
  for (int a = 0; a < 3; a++)
    if (b->count[a] > 1 && b->shape[a] % 2) return 0;
  return pairs_are_linear(to->prolong);
}

static int postsmooth_update(const gmg_smoother_level *l, const async_state *s, size_t passes, const void *f, void *u, gmg_leg leg,
                             const gmg_update_target *to)
{
  const packed_passes *p = function_of(s);
  const int corrects = to->coarse != NULL;
  if (to->is_field || !update_has_offsets(to) || (corrects && (passes > 1 || !packed_can_prolong(l, s, to)))) return 0;
  const int x_aligned = l->A->n[0] % 2 == 0 && (uintptr_t)to->x % sizeof(double2) == 0 && to->layout.row % 2 == 0;
  const int aligned = ((uintptr_t)f | (uintptr_t)u) % sizeof(real_pair) == 0 && x_aligned;
  const gmg_launch_shape grid = {dim3((unsigned)s->blocks.total), s->threads, update_bytes_of(s)};
  R(async_run_passes)(l, s, passes - 1, f, u, leg);
  const auto update = p->update[corrects ? 2 : has_special_ends(l->A)][aligned];
  gmg_launch_early(l->exec, "async", update, grid, level_of(l, s, leg), f, u, update_of(to, l->A));
  return 1;
}

static int double_buffered(const gmg_smoother_level *l, const async_state *s, const gmg_map *prolong)
{
  (void)s;
  return is_first_level(l) && !l->A->part && !has_special_ends(l->A) && pairs_are_linear(prolong);
}

const async_variant R(async_tiles_packed) = {.lay_out = lay_out,
                                             .prepare = prepare,
                                             .run = run,
                                             .presmooth_restrict = presmooth_restrict,
                                             .postsmooth_update = postsmooth_update,
                                             .double_buffered = double_buffered,
                                             .renumber = renumber};

#endif
