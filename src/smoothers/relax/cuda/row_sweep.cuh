/* The asynchronous smoother's pass in 2D where it counts (constant coefficients, two local red-black sweeps, overlap 1) and lines are
   whole vectors: a warp has a block of unknowns, a lane STRIP_COLS columns of it, and rows stream through its registers. Nothing is
   shared but what lies beside a lane's columns, which a shuffle fetches: no barrier. Included by cuda/rows.cuh; blocks
   of other sizes and fields that are not aligned go to cuda/plane_sweep.cuh, which does the same.

   Of a block's columns those of the first and the last lane are not its own. In a step one row comes in and half sweep h = 1..4
   relaxes the row h before it: one after the other, each finds around it what the half sweep before has left. The colour that is
   relaxed is the same for all four, and the other one in the next step. */
#ifndef GMG_SMOOTHERS_RELAX_CUDA_ROW_SWEEP_H
#define GMG_SMOOTHERS_RELAX_CUDA_ROW_SWEEP_H

#include "core/cuda/atomics.cuh"
#include "stencil/operator/cuda/warp_rows.cuh"
#include "geometry.cuh"

/* AHEAD: rows that are asked for before they are needed; SLOTS: those, and the rows that half sweeps look at. */
enum { STRIP_HALVES = 4, STRIP_AHEAD = 4, STRIP_SLOTS = STRIP_AHEAD + STRIP_HALVES + 2 };

/* step(checks, t, q), in which row q comes in, for `last` steps in rounds of SLOTS, t of its round; whole rounds from step plain_from to
   plain_to go without checks. */
template <int SLOTS, class Step>
static __device__ __forceinline__ void for_steps(int plain_from, int plain_to, int last, int late, const Step &step)
{
  for (int T = 0; T < last; T += SLOTS) {
    if (T >= plain_from && T + SLOTS <= plain_to) {
#pragma unroll
      for (int t = 0; t < SLOTS; t++) step(gmg_plain(), t, T + t - late);
    } else {
#pragma unroll
      for (int t = 0; t < SLOTS; t++)
        if (T + t < last) step(gmg_checked(), t, T + t - late);
    }
  }
}

/* Relaxes the cells of one colour, odd ones or not, of a row. at_end: `end` lies beside. */
template <int odd>
static __device__ __forceinline__ void relax_row(const uniform_level &s, gmg_cells &row, const gmg_cells &below, const gmg_cells &above,
                                                 const gmg_cells &f, const gmg_cells &keep, const gmg_cells &relax,
                                                 int at_end = 0, real end = 0)
{
  const real next = odd ? __shfl_down_sync(~0u, row.at[0], 1) : __shfl_up_sync(~0u, row.at[STRIP_COLS - 1], 1);
  const real beside = at_end ? end : next;
#pragma unroll
  for (int c = odd; c < STRIP_COLS; c += 2) {
    const real left = c > 0 ? row.at[c - 1] : beside, right = c + 1 < STRIP_COLS ? row.at[c + 1] : beside;
    const real sum = f.at[c] + s.coupling[0] * (left + right) + s.coupling[2] * (below.at[c] + above.at[c]);
    row.at[c] = keep.at[c] * row.at[c] + relax.at[c] * sum;
  }
}

/* Block number `block_index` in the order given. */
static __device__ __forceinline__ void relax_strip(const uniform_level &s, unsigned block_index, const real *f, const real *from, real *to)
{
  constexpr int COLS = STRIP_COLS, AHEAD = STRIP_AHEAD, SLOTS = STRIP_SLOTS, HALVES = STRIP_HALVES;
  __shared__ real walls[2][COLS][32 * STRIP_WARPS]; /* weights on the rows at walls */
  const int b = s.order[s.reversed ? (unsigned)s.total - 1 - block_index : block_index], me = (int)threadIdx.x, lane = me % 32;
  const int begin_x = b % s.count[0] * s.own[0], begin = b / s.count[0] * s.own[2]; /* own unknowns */
  const int end_x = min(begin_x + s.own[0], s.n[0]), own = min(s.own[2], s.n[2] - begin);
  const int first = begin - 2, rows = own + 4, stride = s.stride; /* row q is row first + q of the level */

  /* this lane's columns: whole vectors are there or not */
  const int i = begin_x + COLS * (lane - 1);
  const int exists = i < end_x + COLS && (s.wraps[0] || (i >= 0 && i < s.n[0])), mine = exists && lane > 0 && i < end_x;
  const int column = exists ? gmg_around(i, s.n[0], s.wraps[0]) : 0;
  const real inner = gmg_at(s.diag[2], 1), lone = gmg_at(s.diag[1], 0) + s.shift;
  gmg_cells keep, relax;
#pragma unroll
  for (int c = 0; c < COLS; c++) {
    const int relaxed = exists && i + c >= begin_x - 1 && i + c <= end_x;
    const real diag = gmg_at(s.diag[0], column + c) + lone;
    keep.at[c] = relaxed ? 1 - s.omega : (real)1;
    relax.at[c] = relaxed ? s.omega / (diag + inner) : (real)0;
    walls[0][c][me] = relaxed ? s.omega / (diag + gmg_at(s.diag[2], 0)) : (real)0;
    walls[1][c][me] = relaxed ? s.omega / (diag + gmg_at(s.diag[2], s.n[2] - 1)) : (real)0;
  }

  /* which rows there are, and are relaxed; those at walls */
  const int there = s.wraps[2] ? 0 : max(0, -first), gone = s.wraps[2] ? rows : min(rows, s.n[2] - first);
  const int low = max(there, 1), top = min(gone, rows - 1);
  const int wall_low = s.wraps[2] ? -64 : -first, wall_high = s.wraps[2] ? -64 : s.n[2] - 1 - first;

  gmg_cells u[SLOTS], rhs[SLOTS];
  const auto ask = [&](int slot, int is_there, int p) {
    u[slot] = rhs[slot] = {};
    if (!is_there) return;
    if (from) u[slot] = gmg_cells_of(gmg_load_relaxed((const real_vector *)(from + p)));
    rhs[slot] = gmg_cells_of(__ldg((const real_vector *)(f + p)));
  };
  const auto ask_row = [&](int slot, int q) {
    const int is_there = exists && q >= there && q < gone;
    ask(slot, is_there, is_there ? gmg_around(first + q, s.n[2], s.wraps[2]) * stride + column : 0);
  };

  /* row q comes in in step q + late, so that odd steps relax odd columns */
  const int late = (first + 1 + s.reversed) & 1;
#pragma unroll
  for (int c = 0; c < SLOTS; c++) u[c] = rhs[c] = {};
#pragma unroll
  for (int c = 0; c < AHEAD; c++) ask_row(c, c - late);

  const auto step = [&](auto checks, int t, int q) {
    constexpr int checked = decltype(checks)::value;
    const int next = (t + AHEAD) % SLOTS, done = (t - HALVES + SLOTS) % SLOTS;
    if (checked) ask_row(next, q + AHEAD);
    else ask(next, exists, (first + q + AHEAD) * stride + column);
#pragma unroll
    for (int h = 1; h <= HALVES; h++) {
      const int row = (t - h + SLOTS) % SLOTS, above = (row + 1) % SLOTS, below = (row + SLOTS - 1) % SLOTS, p = q - h;
      if (checked && (p < low || p >= top)) continue;
      gmg_cells w = relax;
      if (checked && (p == wall_low || p == wall_high))
#pragma unroll
        for (int c = 0; c < COLS; c++) w.at[c] = walls[p == wall_high][c][me];
      if (t % 2) relax_row<1>(s, u[row], u[below], u[above], rhs[row], keep, w);
      else relax_row<0>(s, u[row], u[below], u[above], rhs[row], keep, w);
    }
    const int p = q - HALVES;
    if (mine && (!checked || (p >= 2 && p < own + 2))) gmg_store_relaxed((real_vector *)(to + ((first + p) * stride + column)), gmg_vector_of(u[done]));
  };
  /* steps in which every row that is touched is there, and none is at a wall, go without checks */
  const int folded = s.wraps[2] && (first < 0 || first + rows > s.n[2]);
  const int plain_from = HALVES + 3 + late, plain_to = folded ? -1 : gone - AHEAD + late, last = own + 2 + HALVES + late;
  for_steps<SLOTS>(plain_from, plain_to, last, late, step);
}

static inline unsigned strip_grid(size_t strips) { return ((unsigned)strips + STRIP_WARPS - 1) / STRIP_WARPS; }

/* Blocks of unknowns for so many thread blocks at work at once; 0 where those that are wanted (0: any) do not fit. */
static inline int strip_blocks(const gmg_operator *A, const size_t wanted[3], int at_once, gmg_blocks *b)
{
  enum { FILL = 12, LEAST = 8 };
  const size_t cols = STRIP_COLS, room = (size_t)at_once * STRIP_WARPS;
  size_t want[3] = {STRIP_OWN, 1, 1};
  if (A->dim != 2 || A->n[0] % cols) return 0;
  *b = gmg_blocks_make(A, wanted, want);
  want[0] = wanted[0] ? wanted[0] : (b->shape[0] + cols - 1) / cols * cols;
  want[1] = wanted[1] ? wanted[1] : (size_t)gmg_strip_rows((int)A->n[1], (A->n[0] + want[0] - 1) / want[0], room, FILL, LEAST);
  if (!wanted[1]) want[1] += want[1] % 2; /* both rows of a coarse one (cuda/row_restrict.cuh) */
  *b = gmg_blocks_make(A, want, want);
  return b->shape[0] <= STRIP_OWN && (b->shape[0] % cols == 0 || b->count[0] == 1);
}

#endif
