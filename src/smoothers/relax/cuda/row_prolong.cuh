/* A last pass in 2D that does all of the way up to a level, as rows stream through the registers of warps (cuda/row_sweep.cuh):
   u gets the next coarser level's correction as it comes in, is relaxed, and goes, scaled, to a field in double instead of back
   to u. As nothing is written that is read, blocks see what was there before the pass, as those of the deterministic twin do, and
   their order does not matter. With two half sweeps it is exact. Included by cuda/rows.cuh and
   red_black/cuda.cu. */
#ifndef GMG_SMOOTHERS_RELAX_CUDA_ROW_PROLONG_H
#define GMG_SMOOTHERS_RELAX_CUDA_ROW_PROLONG_H

#include "fused.cuh"
#include "row_sweep.cuh"

#if GMG_REAL_F32

enum { ONTO_BLOCKS = 3 }; /* of thread blocks on a multiprocessor, as there are registers */

template <int reversed, int HALVES>
static __global__ void __launch_bounds__(32 * STRIP_WARPS, ONTO_BLOCKS)
    strip_onto_kernel(uniform_level s, update o, const real *f, const real *from)
{
  constexpr int COLS = STRIP_COLS, PAIRS = STRIP_PAIRS, AHEAD = 2, SLOTS = AHEAD + HALVES + 2;
  constexpr int COARSE = SLOTS / 2; /* coarse rows on their way */
  __shared__ real walls[2][COLS][32 * STRIP_WARPS];
  const unsigned block_index = blockIdx.x * STRIP_WARPS + gmg_warp();
  if (block_index >= (unsigned)s.total) return;
  const int b = (int)block_index, me = (int)threadIdx.x, lane = me % 32;
  const int begin_x = b % s.count[0] * s.own[0], begin = b / s.count[0] * s.own[2]; /* own unknowns */
  const int end_x = min(begin_x + s.own[0], s.n[0]), own = min(s.own[2], s.n[2] - begin);
  const int first = begin - 2, rows = own + 4, stride = s.stride; /* row q is row first + q of the level */
  const int i = begin_x + COLS * (lane - 1), I = i / 2;
  const int exists = i < end_x + COLS && (s.wraps[0] || (i >= 0 && i < s.n[0])), mine = exists && lane > 0 && i < end_x;
  const int column = exists ? gmg_around(i, s.n[0], s.wraps[0]) : 0;
  const real inner = gmg_at(s.diag[2], 1), lone = gmg_at(s.diag[1], 0) + s.shift;
  const double scale = update_scale(o);
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
  gmg_spread spread;
  real fetched[COARSE][PAIRS];
  int place[PAIRS];
#pragma unroll
  for (int d = 0; d < PAIRS; d++) {
    place[d] = I + d <= o.map[0].cols + 1 ? __ldg(o.map[0].wrap + I + d) : 0;
#pragma unroll
    for (int b = 0; b < 2; b++) gmg_spread_column(&spread, o.map[0], d, b, column / 2 + d, exists);
  }
  const auto ask_coarse = [&](int slot, int K) {
#pragma unroll
    for (int d = 0; d < PAIRS; d++)
      fetched[slot][d] = K <= o.map[2].cols + 1 ? __ldg(o.coarse + __ldg(o.map[2].wrap + K) * o.map[0].cols + place[d]) : (real)0;
  };

  const int there = s.wraps[2] ? 0 : max(0, -first), gone = s.wraps[2] ? rows : min(rows, s.n[2] - first);
  const int low = max(there, 1), top = min(gone, rows - 1);
  const int wall_low = s.wraps[2] ? -64 : -first, wall_high = s.wraps[2] ? -64 : s.n[2] - 1 - first;
  gmg_cells u[SLOTS], rhs[SLOTS];
  double2 old[2][PAIRS]; /* what stands in x, two rows of it on their way */
  const auto ask = [&](int slot, int is_there, int p) {
    u[slot] = rhs[slot] = {};
    if (!is_there) return;
    u[slot] = gmg_cells_of(gmg_load_relaxed((const real_vector *)(from + p)));
    rhs[slot] = gmg_cells_of(__ldg((const real_vector *)(f + p)));
  };
  const auto ask_row = [&](int slot, int q) {
    const int is_there = exists && q >= there && q < gone;
    ask(slot, is_there, is_there ? gmg_around(first + q, s.n[2], s.wraps[2]) * stride + column : 0);
  };

  /* Even rows come in in odd steps, which relax odd columns; even ones if reversed. The last of the coarse rows that an odd row reads is
     taken as that comes in, which the next row reads, too. */
  const int late = (first + 1) & 1, first_K = (first - late) >> 1;
#pragma unroll
  for (int c = 0; c < SLOTS; c++) u[c] = rhs[c] = {};
#pragma unroll
  for (int c = 0; c < AHEAD; c++) ask_row(c, c - late);
  ask_coarse(0, first_K);
  gmg_cells before = {}, here = gmg_spread_row(spread, fetched[0]);
#pragma unroll
  for (int c = 0; c < COARSE; c++) ask_coarse(c, first_K + 1 + c);
#pragma unroll
  for (int d = 0; d < PAIRS; d++) old[0][d] = old[1][d] = double2{0, 0};

  const auto step = [&](auto checks, int t, int q) {
    constexpr int checked = decltype(checks)::value;
    if (checked) ask_row((t + AHEAD) % SLOTS, q + AHEAD);
    else ask((t + AHEAD) % SLOTS, exists, (first + q + AHEAD) * stride + column);

    /* the correction of row k */
    const int k = checked ? gmg_around(first + q, s.n[2], s.wraps[2]) : first + q, K = k >> 1, odd = (t + 1) % 2;
    const int has = !checked || (q >= there && q < gone), repeats = K >= o.along.begin && K < o.along.end;
    gmg_cells beside = before;
    if (odd) {
      beside = gmg_spread_row(spread, fetched[t / 2]);
      ask_coarse(t / 2, ((first + q) >> 1) + 1 + COARSE);
    }
    real w = 0, w_side = 0;
    if (has) w = repeats ? o.along.own[odd] : gmg_weight_of(o.map[2], k, K);
    if (has) w_side = repeats ? o.along.side[odd] : gmg_weight_of(o.map[2], k, K - 1 + 2 * odd);
#pragma unroll
    for (int c = 0; c < COLS; c++) u[t].at[c] += w * here.at[c] + w_side * beside.at[c];
    if (odd) before = here, here = beside;

#pragma unroll
    for (int h = 1; h <= HALVES; h++) {
      const int row = (t - h + SLOTS) % SLOTS, above = (row + 1) % SLOTS, below = (row + SLOTS - 1) % SLOTS, p = q - h;
      if (checked && (p < low || p >= top)) continue;
      gmg_cells v = relax;
      if (checked && (p == wall_low || p == wall_high))
#pragma unroll
        for (int c = 0; c < COLS; c++) v.at[c] = walls[p == wall_high][c][me];
      if ((t + reversed) % 2) relax_row<1>(s, u[row], u[below], u[above], rhs[row], keep, v);
      else relax_row<0>(s, u[row], u[below], u[above], rhs[row], keep, v);
    }
    const int p = q - HALVES;
    const auto place_of = [&](int row) { return (double2 *)(o.x + ((first + row) * stride + column)); };
    const auto is_own = [&](int row) { return mine && row >= 2 && row < own + 2; };
    if (is_own(p)) {
      const gmg_cells &v = u[(t - HALVES + SLOTS) % SLOTS];
#pragma unroll
      for (int d = 0; d < PAIRS; d++) {
        const double2 &was = old[t % 2][d];
        place_of(p)[d] = double2{was.x + scale * (double)v.at[2 * d], was.y + scale * (double)v.at[2 * d + 1]};
      }
    }
    if (o.keep && is_own(p + 2))
#pragma unroll
      for (int d = 0; d < PAIRS; d++) old[t % 2][d] = place_of(p + 2)[d];
  };
  const int folded = s.wraps[2] && (first < 0 || first + rows > s.n[2]);
  const int plain_from = HALVES + 3 + late, plain_to = folded ? -1 : gone - AHEAD + late, last = own + 2 + HALVES + late;
  for_steps<SLOTS>(plain_from, plain_to, last, late, step);
}

/* Whether a correction comes in, unknowns go by pairs, and fields are made of whole vectors. */
static int can_strip_onto(const gmg_operator *A, const gmg_update_target *to, const void *f, const void *u)
{
  const gmg_map *map = to->prolong;
  if (!to->coarse) return 0;
  for (int a = 0; a < 2; a++)
    if (map[a].pairs != GMG_PAIRS_LINEAR || 2 * map[a].cols != map[a].rows || (A->wraps[a] && map[a].cols < 4)) return 0;
  return gmg_is_strip(f, u, to->x);
}

template <int HALVES> static void go_onto(cudaStream_t on, const uniform_level &s, const update &o, const real *f, const real *from)
{
  (s.reversed ? strip_onto_kernel<1, HALVES> : strip_onto_kernel<0, HALVES>)<<<strip_grid(s.total), 32 * STRIP_WARPS, 0, on>>>(s, o, f, from);
}

#endif
#endif
