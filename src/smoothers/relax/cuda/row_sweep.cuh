/* Row sweep, a pass in 2D with constant coefficients. It does HALF_SWEEPS half sweeps: 4 are two local red-black sweeps with
   overlap 2, 2 are one exact synchronous sweep. Included by row_restrict.cuh for async/cuda/rows.cu and red_black/cuda.cu.

   A warp has a block of unknowns, and a lane LANE_COLS columns of it. Rows stream through registers. Only the values beside a
   lane's columns are shared, by a shuffle, so there is no barrier. The columns of the first lane (in double of two), and those
   after the block's end, do not belong to the block.

   A step loads one row, and half sweep h = 1 .. HALF_SWEEPS relaxes the row h before it. They run one after the other, and each
   sees the result of the previous half sweep around it. All relax the same colour, and the other colour in the next step.

   An exact sweep must read the values from before it. It writes to another field, or in place except for the two layers at every
   side that other blocks read, which are written to interface_copy.

   PASS_UPDATE writes finished rows to a field of doubles, so blocks see the values from before the pass. PASS_PROLONG adds the
   correction to a row as it is loaded; that completes the upward leg, to a field of doubles or to another field of the level.
   PASS_BASE adds a base to a row as it is written. The downward leg, PASS_FROM_ZERO | PASS_RESTRICT, is in row_restrict.cuh. */
#ifndef GMG_SMOOTHERS_RELAX_CUDA_ROW_SWEEP_H
#define GMG_SMOOTHERS_RELAX_CUDA_ROW_SWEEP_H

#include "core/cuda/atomics.cuh"
#include "row_interpolation.cuh"
#include "scheduling.cuh"

/* 1 / diagonal of a lane's columns, and 1 or 0: whether they are relaxed. Rows at walls have other diagonals, in shared memory. */
template <int columns> struct row_inverses {
  gmg_cells relaxed, inverse;
  real (*walls)[columns][32 * BLOCK_WARPS];
};

/* Calls step(checks, t, q) for `last` steps in rounds of SLOTS. t is the step in its round. Row q = step - late is the newest one.
   Whole rounds from step plain_from to plain_to need no checks, because all their rows exist, none is at a wall, and none is beyond
   an end of the axis. */
template <int SLOTS, class Step>
static __device__ __forceinline__ void for_steps(int plain_from, int plain_to, int last, int late, const Step &step)
{
  for (int T = 0; T < last; T += SLOTS) {
    if (T >= plain_from && T + SLOTS <= plain_to) {
#pragma unroll
      for (int t = 0; t < SLOTS; t++) step(gmg_unchecked(), t, T + t - late);
    } else {
#pragma unroll
      for (int t = 0; t < SLOTS; t++)
        if (T + t < last) step(gmg_checked(), t, T + t - late);
    }
  }
}

/* A value beside a lane's columns that no other lane has. */
typedef struct {
  int there;
  scalar value;
} row_end;

/* Relaxes the cells of one colour in a row: the odd or the even ones. all: all of them are relaxed, or are 0. */
template <int odd, int all>
static __device__ __forceinline__ void relax_row(const uniform_level &s, gmg_cells &row, const gmg_cells &below,
                                                 const gmg_cells &above, const gmg_cells &f, const gmg_cells &relaxed,
                                                 const gmg_cells &inverse, real weight, row_end end)
{
  const scalar next = odd ? __shfl_down_sync(~0u, row.at[0], 1) : __shfl_up_sync(~0u, row.at[LANE_COLS - 1], 1);
  const scalar beside = end.there ? end.value : next;
#pragma unroll
  for (int c = odd; c < LANE_COLS; c += 2) {
    const scalar left = c > 0 ? row.at[c - 1] : beside, right = c + 1 < LANE_COLS ? row.at[c + 1] : beside;
    const scalar sum = f.at[c] + s.coupling[0] * (left + right) + s.coupling[2] * (below.at[c] + above.at[c]);
    row.at[c] += weight * (inverse.at[c] * sum - (all ? row.at[c] : relaxed.at[c] * row.at[c]));
  }
}

/* The half sweeps of step t, which has loaded row q. end_of(h, slot, wall): the value beside the lane's columns; wall: -1, or an
   index of the walls of `by`. */
template <int HALF_SWEEPS, int checked, class shape, int SLOTS, int columns, class End>
static __device__ __forceinline__ void half_sweeps(const uniform_level &s, const row_block<shape> &b,
                                                   const row_inverses<columns> &by, gmg_cells (&u)[SLOTS],
                                                   const gmg_cells (&rhs)[SLOTS], int t, int odd, int q, End end_of)
{
#pragma unroll
  for (int h = 1; h <= HALF_SWEEPS; h++) {
    const int row = (t - h + SLOTS) % SLOTS, above = (row + 1) % SLOTS, below = (row + SLOTS - 1) % SLOTS, p = q - h;
    if (checked && (p < b.low || p >= b.top)) continue;
    const int wall = !checked || (p != b.wall_low && p != b.wall_high) ? -1 : p == b.wall_high;
    gmg_cells inverse = by.inverse;
    if (checked && wall >= 0)
#pragma unroll
      for (int c = 0; c < LANE_COLS; c++) inverse.at[c] = by.walls[wall][c][threadIdx.x];
    constexpr int all = shape::restricts;
    const real w = s.weight[h - 1];
    if (odd) relax_row<1, all>(s, u[row], u[below], u[above], rhs[row], by.relaxed, inverse, w, end_of(h, row, wall));
    else relax_row<0, all>(s, u[row], u[below], u[above], rhs[row], by.relaxed, inverse, w, end_of(h, row, wall));
  }
}

/* Relaxes one block. reversed: order of colours with PASS_PROLONG, where steps are aligned with coarse rows. */
template <int HALF_SWEEPS, int KIND, int reversed, int whole>
static __device__ __forceinline__ void sweep_rows(const uniform_level &s, int number, const scalar *f, const scalar *from,
                                                  scalar *to, scalar *interface_copy, const update_output &o)
{
  typedef row_shape<HALF_SWEEPS, KIND, whole> shape;
  constexpr int COLS = LANE_COLS, AHEAD = shape::ahead, SLOTS = shape::slots, updates = shape::updates, prolongs = shape::prolongs;
  constexpr int exact = HALF_SWEEPS == 2 && !updates, WRITTEN = !whole ? 1 : exact ? 2 : COLS, MARGIN = shape::margin;
  constexpr int has_base = KIND & PASS_BASE;
  static_assert(!KIND || KIND == PASS_FROM_ZERO || KIND == PASS_UPDATE || (KIND & ~PASS_UPDATE) == PASS_PROLONG ||
                  KIND == (PASS_PROLONG | PASS_UPDATE | PASS_BASE),
                "other kinds are not there");
  __shared__ real walls[2][COLS][32 * BLOCK_WARPS];
  __shared__ row_base::all_weights weights_of_base; /* removed by the compiler where it is not used */
  const int me = (int)threadIdx.x;
  const row_block<shape> b(s, number, me % 32);
  const int first = b.first, own = b.own;
  const real inner = gmg_at(s.diag[2], 1), wall_term = gmg_at(s.diag[1], 0) + s.shift;
  const double scale = updates ? update_scale(o) : 0;
  row_inverses<COLS> by;
  by.walls = walls;
#pragma unroll
  for (int c = 0; c < COLS; c++) {
    const int relaxed = b.x.has(c) && b.i + c > b.begin_x - MARGIN && b.i + c < b.end_x + MARGIN - 1;
    const real diag = gmg_at(s.diag[0], b.x.has(c) ? b.x.at(c) : 0) + wall_term;
    by.relaxed.at[c] = relaxed ? (real)1 : (real)0;
    by.inverse.at[c] = relaxed ? 1 / (diag + inner) : (real)0;
    walls[0][c][me] = relaxed ? 1 / (diag + gmg_at(s.diag[2], 0)) : (real)0;
    walls[1][c][me] = relaxed ? 1 / (diag + gmg_at(s.diag[2], s.n[2] - 1)) : (real)0;
  }
  row_prolongation<SLOTS> correction;
  if (prolongs) correction.begin(o, b);

  gmg_cells u[SLOTS], rhs[SLOTS];
  const auto load = [&](int slot, int is_there, int row) {
    u[slot] = rhs[slot] = {};
    if (!is_there) return;
    if (updates || (!(KIND & PASS_FROM_ZERO) && from)) u[slot] = b.x.read(from + row, gmg_load_shared());
    rhs[slot] = b.x.read(f + row, gmg_load_constant());
  };
  const auto load_row = [&](int slot, int q) {
    const int is_there = b.is_row(q);
    load(slot, is_there, is_there ? b.row_offset(s, q) : 0);
  };

  /* row q is loaded in step q + late, so that odd steps relax odd columns (with PASS_PROLONG: even ones if reversed) */
  const int late = (first + 1 + (prolongs ? 0 : s.reversed)) & 1;
#pragma unroll
  for (int c = 0; c < SLOTS; c++) u[c] = rhs[c] = {};
#pragma unroll
  for (int c = 0; c < AHEAD; c++) load_row(c, c - late);
  if (prolongs) correction.fill(o, (first - late) >> 1);
  update_cells old[2] = {}; /* updates without a base: two rows of x being loaded */
  row_base base;
  if (has_base) base.begin(o, b, correction.offset, first - late - HALF_SWEEPS, &weights_of_base);

  /* destinations of values; other blocks read rows below low_interface, and from high_interface on */
  const int low_interface = s.ends[2] || b.begin > 0 ? 4 : 0, high_interface = s.ends[2] || b.begin + own < s.n[2] ? own : b.rows;
  unsigned beside = 0; /* bits of columns that other blocks read */
#pragma unroll
  for (int c = 0; exact && c < COLS; c++) beside |= (unsigned)(b.x.owns(c) && seen_by_others(s, 0, b.x.at(c))) << c;

  const auto step = [&](auto checks, int t, int q) {
    constexpr int checked = decltype(checks)::value;
    if (checked) load_row((t + AHEAD) % SLOTS, q + AHEAD);
    else load((t + AHEAD) % SLOTS, 1, b.plain_row_offset(s, q + AHEAD));
    if (prolongs) correction.template add<checked>(s, o, b, t, q, u[t]);
    half_sweeps<HALF_SWEEPS, checked>(s, b, by, u, rhs, t, (t + reversed) % 2, q, [](int, int, int) { return row_end{0, 0}; });

    /* write back row p, which is done */
    const int p = q - HALF_SWEEPS, row = b.plain_row_offset(s, p);
    const gmg_cells &done = u[(t - HALF_SWEEPS + SLOTS) % SLOTS];
    const auto is_own = [&](int r) { return (!checked && !updates) || (r >= MARGIN && r < own + MARGIN); };
    if (!updates) {
      const int is_interface = exact && (p < low_interface || p >= high_interface);
      if (is_own(p))
        b.x.template write<WRITTEN>(done, row, [&](int c) { return is_interface || (beside >> c & 1) ? interface_copy : to; });
      return;
    }
    const int in_x = row + update_gap(o, 0, first + p);
    const update_cells was = has_base ? base.take<checked>(o, correction.offset, t, first + p, s.n[2]) : old[t % 2];
    if (is_own(p)) put_cells(b.x, o.x + in_x, scale, done, was);
    if (!has_base && o.keep && is_own(p + 2)) old[t % 2] = cells_of(b.x, o.x + (in_x + 2 * (s.layout.plane + o.plane_gap)));
  };
  for_steps<SLOTS>(HALF_SWEEPS + MARGIN + 1 + late, b.plain_end - AHEAD + late, own + MARGIN + HALF_SWEEPS + late, late, step);
}

/* One warp per block; `all` blocks, in one pass or more. Only a plain pass uses the order of blocks. */
template <int HALF_SWEEPS, int KIND, int reversed, int whole>
static __global__ void __launch_bounds__(32 * BLOCK_WARPS, row_shape<HALF_SWEEPS, KIND, whole>::blocks)
    row_kernel(uniform_level s, unsigned all, const scalar *f, const scalar *from, scalar *to, scalar *interface_copy,
               update_output o)
{
  const unsigned number = blockIdx.x * BLOCK_WARPS + gmg_warp();
  if (number < all)
    sweep_rows<HALF_SWEEPS, KIND, reversed, whole>(s, block_at(s, number % s.total), f, from, to, interface_copy, o);
}

/* Thread blocks of one warp that take blocks of unknowns from a queue. */
template <int HALF_SWEEPS>
static __global__ void __launch_bounds__(32, row_shape<HALF_SWEEPS, 0, 0>::blocks * BLOCK_WARPS)
    row_kernel_dynamic(uniform_level s, const scalar *f, const scalar *from, scalar *to, work_queue queue)
{
  for_blocks<1>(queue, [&](unsigned index) {
    sweep_rows<HALF_SWEEPS, 0, 0, 0>(s, block_at(s, index), f, from, to, to, update_output{});
  });
}

/* Chooses blocks of unknowns for a kind of pass. Returns 0 if the wanted blocks (0: any) do not fit. */
template <int HALF_SWEEPS, int KIND>
static inline int row_blocks(const gmg_operator *A, const size_t wanted[3], size_t processors, gmg_blocks *b)
{
  typedef row_shape<HALF_SWEEPS, KIND, 1> shape;
  enum { FILL_ROWS = 8 + 2 * shape::margin, MIN_ROWS = 8 };
  const int at_once = A->n[0] % LANE_COLS ? row_shape<HALF_SWEEPS, KIND, 0>::blocks : row_shape<HALF_SWEEPS, KIND, 1>::blocks;
  const size_t cols = LANE_COLS, room = (size_t)at_once * processors * BLOCK_WARPS;
  size_t want[3] = {shape::most, 1, 1};
  if (A->dim != 2) return 0;
  *b = gmg_blocks_make(A, wanted, want);
  want[0] = wanted[0] ? wanted[0] : (b->shape[0] + cols - 1) / cols * cols;
  want[1] =
      wanted[1] ? wanted[1] : (size_t)gmg_rows_of_part((int)A->n[1], (A->n[0] + want[0] - 1) / want[0], room, FILL_ROWS, MIN_ROWS);
  if (!wanted[1]) want[1] += want[1] % 2; /* keeps both rows of a coarse row together (row_restrict.cuh) */
  *b = gmg_blocks_make(A, want, want);
  for (int a = 0; a < 2; a++)
    if (A->wraps[a] && A->n[a] < 8) return 0; /* so that a block wraps around an axis at most once */
  return b->shape[0] <= shape::most && (b->shape[0] % cols == 0 || b->count[0] == 1);
}

typedef void row_pass(uniform_level, unsigned, const scalar *, const scalar *, scalar *, scalar *, update_output);

/* One or more plain passes, each of two local sweeps (HALF_SWEEPS 4) or one exact sweep (HALF_SWEEPS 2). from = NULL: u is 0. */
template <int HALF_SWEEPS>
static inline void rows_sweep(const gmg_exec *e, const gmg_operator *A, const uniform_level &s, size_t passes, const void *f,
                              const void *from, void *to, void *interface_copy)
{
  const unsigned all = (unsigned)(passes * s.total);
  const int whole = gmg_has_whole_rows(A->n[0], f, from, to) && gmg_has_whole_rows(A->n[0], interface_copy, NULL, NULL);
  static row_pass *const kernels[2][2] = {
      {row_kernel<HALF_SWEEPS, 0, 0, 0>, row_kernel<HALF_SWEEPS, 0, 0, 1>},
      {row_kernel<HALF_SWEEPS, PASS_FROM_ZERO, 0, 0>, row_kernel<HALF_SWEEPS, PASS_FROM_ZERO, 0, 1>}};
  gmg_launch(e, "rows", kernels[!from && passes == 1][whole], gmg_warp_shape(all), s, all, first_unknown(s.layout, f),
             first_unknown(s.layout, from), first_unknown(s.layout, to), first_unknown(s.layout, interface_copy), update_output{});
}

#if GMG_REAL_F32
/* Whether a pass can interpolate a correction. */
static inline int rows_can_prolong(const gmg_map prolong[3]) { return gmg_all_have_pairs(prolong, 2, GMG_PAIRS_LINEAR); }

/* Whether rows_update() takes this target. */
static inline int rows_can_update(const gmg_update_target *to)
{
  const int has_pass = to->coarse ? rows_can_prolong(to->prolong) : !to->is_field && !to->base;
  return has_pass && update_has_offsets(to);
}

/* One pass of HALF_SWEEPS half sweeps that updates another field, and adds a coarse correction if there is one. Returns 0 if it
   does not apply. To a field of the level it is only there with a correction. */
template <int HALF_SWEEPS>
static inline int rows_update(const gmg_exec *e, const gmg_operator *A, const uniform_level &x, const void *f, const void *u,
                              const gmg_update_target *to)
{
  constexpr int UP = PASS_PROLONG | PASS_UPDATE;
  static row_pass *const plain[] = {row_kernel<HALF_SWEEPS, PASS_UPDATE, 0, 0>, row_kernel<HALF_SWEEPS, PASS_UPDATE, 0, 1>};
#define WITH_CORRECTION(kind) /* [reversed][whole] */                                  \
  {{row_kernel<HALF_SWEEPS, kind, 0, 0>, row_kernel<HALF_SWEEPS, kind, 0, 1>},           \
   {row_kernel<HALF_SWEEPS, kind, 1, 0>, row_kernel<HALF_SWEEPS, kind, 1, 1>}}
  static row_pass *const to_field[2][2] = WITH_CORRECTION(PASS_PROLONG), *const to_array[2][2] = WITH_CORRECTION(UP),
                         *const on_base[2][2] = WITH_CORRECTION(UP | PASS_BASE);
#undef WITH_CORRECTION
  const int whole = gmg_has_whole_rows(A->n[0], f, u, to->x) && to->layout.row % LANE_COLS == 0;
  row_pass *const *const with_correction = (to->base ? on_base : to->is_field ? to_field : to_array)[x.reversed];
  if (!rows_can_update(to)) return 0;
  update_output o = update_of(to, A);
  o.x += x.layout.first;
  scalar *const field = to->is_field ? first_unknown(x.layout, to->x) : NULL;
  gmg_launch(e, "rows", (to->coarse ? with_correction : plain)[whole], gmg_warp_shape(x.total), x, x.total,
             first_unknown(x.layout, f), first_unknown(x.layout, u), field, field, o);
  return 1;
}
#endif

#endif
