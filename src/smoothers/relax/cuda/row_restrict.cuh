/* The way down from u = 0 in 2D in one pass: f is read, two red-black sweeps (or one: red_black/cuda.cu), u is written and its residual
   restricted, as rows stream through the registers of warps (cuda/row_sweep.cuh). From zero half sweep h reaches h - 1 unknowns far:
   with enough layers around it a block finds exactly what sweeps over the level as a whole find, on its own unknowns and, for the
   residual one layer around, which the adjoint of interpolation reads, on two layers more. That takes f of five (one sweep: three). A
   lane has four of the columns; of the fifth only what the first half sweep makes of it counts, for the second: one value of f, and not
   in every row. As blocks depend on f alone, their order does not matter. Included by cuda/rows.cuh and
   red_black/cuda.cu.

   As there, in a step one row comes in and half sweep h relaxes the row h before; the one HALVES before is done, and the residual is
   taken of the one before that. */
#ifndef GMG_SMOOTHERS_RELAX_CUDA_ROW_RESTRICT_H
#define GMG_SMOOTHERS_RELAX_CUDA_ROW_RESTRICT_H

#include "row_sweep.cuh"

#if GMG_REAL_F32 /* a margin of four columns is a lane's */

template <int HALVES>
static __global__ void __launch_bounds__(32 * STRIP_WARPS, STRIP_BLOCKS)
    descend_kernel(uniform_level s, gmg_pair_maps maps, const real *f, real *to, real *coarse)
{
  constexpr int COLS = STRIP_COLS, AHEAD = STRIP_AHEAD, SLOTS = AHEAD + HALVES + 2, MARGIN = HALVES + 1, fifth = MARGIN > COLS;
  __shared__ real walls[2][COLS + 1][32 * STRIP_WARPS]; /* weights on the rows at walls, and in the fifth column */
  const unsigned block_index = blockIdx.x * STRIP_WARPS + gmg_warp();
  if (block_index >= (unsigned)s.total) return;
  const int b = (int)block_index, me = (int)threadIdx.x, lane = me % 32;
  const int begin_x = b % s.count[0] * s.own[0], begin = b / s.count[0] * s.own[2]; /* own unknowns */
  const int end_x = min(begin_x + s.own[0], s.n[0]), own = min(s.own[2], s.n[2] - begin);
  const int first = begin - MARGIN, rows = own + 2 * MARGIN, stride = s.stride; /* row q is row first + q of the level */
  const int i = begin_x + COLS * (lane - 1), J0 = begin / 2, J1 = (begin + own) / 2;
  const int exists = i < end_x + COLS && (s.wraps[0] || (i >= 0 && i < s.n[0])), mine = exists && lane > 0 && i < end_x;
  const int column = exists ? gmg_around(i, s.n[0], s.wraps[0]) : 0;
  const real inner = gmg_at(s.diag[2], 1), more_low = gmg_at(s.diag[2], 0) - inner, more_high = gmg_at(s.diag[2], s.n[2] - 1) - inner;
  const real lone = gmg_at(s.diag[1], 0) + s.shift + inner;
  gmg_cells keep, relax, diag;
#pragma unroll
  for (int c = 0; c < COLS; c++) {
    diag.at[c] = gmg_at(s.diag[0], column + c) + lone;
    keep.at[c] = 1 - s.omega; /* what is not relaxed is 0 */
    relax.at[c] = exists ? s.omega / diag.at[c] : (real)0;
    walls[0][c][me] = exists ? s.omega / (diag.at[c] + more_low) : (real)0;
    walls[1][c][me] = exists ? s.omega / (diag.at[c] + more_high) : (real)0;
  }
  /* the fifth column: before those of the first lane, behind those of the last */
  const int outer = lane == 0 ? begin_x - MARGIN : end_x + MARGIN - 1, is_last = i == end_x;
  const int has_outer = fifth && (lane == 0 || is_last) && (s.wraps[0] || (outer >= 0 && outer < s.n[0]));
  const int outer_column = has_outer ? gmg_around(outer, s.n[0], s.wraps[0]) : 0;
  const real outer_diag = gmg_at(s.diag[0], outer_column) + lone, outer_relax = has_outer ? s.omega / outer_diag : (real)0;
  walls[0][COLS][me] = has_outer ? s.omega / (outer_diag + more_low) : (real)0;
  walls[1][COLS][me] = has_outer ? s.omega / (outer_diag + more_high) : (real)0;
  gmg_gather g = gmg_gather_of(maps, i / 2, mine);

  const int there = s.wraps[2] ? 0 : max(0, -first), gone = s.wraps[2] ? rows : min(rows, s.n[2] - first);
  const int wall_low = s.wraps[2] ? -64 : -first, wall_high = s.wraps[2] ? -64 : s.n[2] - 1 - first;
  gmg_cells u[SLOTS], rhs[SLOTS];
  real outer_rhs[SLOTS]; /* in rows in which the second half sweep looks there */
  const auto ask = [&](int slot, int is_there, int row) {
    rhs[slot] = {}, outer_rhs[slot] = 0;
    if (is_there) rhs[slot] = gmg_cells_of(__ldg((const real_vector *)(f + (row + column))));
    if (is_there && has_outer && is_last == slot % 2) outer_rhs[slot] = __ldg(f + (row + outer_column));
  };
  const auto ask_row = [&](int slot, int q) {
    const int is_there = exists && q >= there && q < gone;
    ask(slot, is_there, is_there ? gmg_around(first + q, s.n[2], s.wraps[2]) * stride : 0);
  };

  const int late = (first + 1 + s.reversed) & 1; /* odd steps relax odd columns */
#pragma unroll
  for (int c = 0; c < SLOTS; c++) u[c] = rhs[c] = {}, outer_rhs[c] = 0;
#pragma unroll
  for (int c = 0; c < AHEAD; c++) ask_row(c, c - late);

  const auto step = [&](auto checks, int t, int q) {
    constexpr int checked = decltype(checks)::value;
    const auto slot = [&](int back) { return (t - back + 2 * SLOTS) % SLOTS; };
    if (checked) ask_row((t + AHEAD) % SLOTS, q + AHEAD);
    else ask((t + AHEAD) % SLOTS, exists, (first + q + AHEAD) * stride);
    u[t] = {};
#pragma unroll
    for (int h = 1; h <= HALVES; h++) {
      const int p = q - h;
      if (checked && (p < there || p >= gone)) continue;
      const int at_wall = checked && (p == wall_low || p == wall_high);
      gmg_cells w = relax;
      if (at_wall)
#pragma unroll
        for (int c = 0; c < COLS; c++) w.at[c] = walls[p == wall_high][c][me];
      real outer_u = 0;
      if (fifth && h == 2) outer_u = outer_rhs[slot(h)] * (at_wall ? walls[p == wall_high][COLS][me] : outer_relax);
      if (t % 2) relax_row<1>(s, u[slot(h)], u[slot(h + 1)], u[slot(h - 1)], rhs[slot(h)], keep, w, fifth && h == 2 && is_last, outer_u);
      else relax_row<0>(s, u[slot(h)], u[slot(h + 1)], u[slot(h - 1)], rhs[slot(h)], keep, w, fifth && h == 2 && lane == 0, outer_u);
    }
    const int done = q - HALVES, p = done - 1;
    if (mine && (!checked || (done >= MARGIN && done < own + MARGIN)))
      gmg_store_relaxed((real_vector *)(to + ((first + done) * stride + column)), gmg_vector_of(u[slot(HALVES)]));
    if (checked && (p < MARGIN - 1 || p > own + MARGIN)) return;

    const gmg_cells &here = u[slot(HALVES + 1)], &below = u[slot(HALVES + 2)], &above = u[slot(HALVES)];
    const real left = __shfl_up_sync(~0u, here.at[COLS - 1], 1), right = __shfl_down_sync(~0u, here.at[0], 1);
    const real more = !checked ? (real)0 : (p == wall_low ? more_low : (real)0) + (p == wall_high ? more_high : (real)0);
    gmg_cells r;
#pragma unroll
    for (int c = 0; c < COLS; c++) {
      const real lo = c > 0 ? here.at[c - 1] : left, hi = c + 1 < COLS ? here.at[c + 1] : right;
      const real sum = s.coupling[0] * (lo + hi) + s.coupling[2] * (below.at[c] + above.at[c]);
      r.at[c] = rhs[slot(HALVES + 1)].at[c] - ((diag.at[c] + more) * here.at[c] - sum);
      if (!exists || (checked && (p < there || p >= gone))) r.at[c] = 0;
    }
    const int J = gmg_gather_row(maps, J0, J1, first + p, r, &g);
    if (J >= J0 && mine) *(coarse_vector *)(coarse + (J * maps.x.rows + i / 2)) = gmg_gathered(g);
  };
  const int folded = s.wraps[2] && (first < 0 || first + rows > s.n[2]);
  const int plain_from = HALVES + MARGIN + 2 + late, plain_to = folded ? -1 : gone - AHEAD + late;
  const int last = own + MARGIN + HALVES + 2 + late;
  for_steps<SLOTS>(plain_from, plain_to, last, late, step);
}

/* Whether blocks have both fine rows of every coarse one, and lines of coarse unknowns whole vectors. */
static int can_descend(const gmg_operator *A, const gmg_blocks *b, const gmg_map map[3], const void *f, const void *u,
                       const void *coarse)
{
  if (A->n[0] % STRIP_COLS || A->n[1] % 2 || (b->shape[1] % 2 && b->count[1] > 1) || !gmg_is_strip(f, u, coarse)) return 0;
  for (int a = 0; a < 2; a++)
    if ((map[a].pairs != GMG_PAIRS_ADJOINT && map[a].pairs != GMG_PAIRS_AVERAGE) || 2 * (size_t)map[a].rows != A->n[a]) return 0;
  return A->n[0] >= 8 && A->n[1] >= 8; /* around an axis once at most */
}

template <int HALVES>
static void descend(cudaStream_t on, const uniform_level &s, const gmg_map map[3], const real *f, real *u, real *coarse)
{
  descend_kernel<HALVES><<<strip_grid(s.total), 32 * STRIP_WARPS, 0, on>>>(s, gmg_pair_maps_of(map), f, u, coarse);
}

#endif
#endif
