/* One step of a full multigrid start in mixed precision in 2D: interpolates u to the next finer level and computes its residual, in
   one pass. Rows stream through the registers of warps (cuda/warp_rows.cuh). Included by cuda/transfer.cu. */
#ifndef GMG_STENCIL_TRANSFER_CUDA_FMG_RESIDUAL_ROWS_H
#define GMG_STENCIL_TRANSFER_CUDA_FMG_RESIDUAL_ROWS_H

#include "stencil/operator/cuda/warp_rows.cuh"

/* A lane's values of a row of the residual. */
typedef struct alignas(LANE_COLS * sizeof(low_scalar)) {
  low_scalar at[LANE_COLS];
} low_cells;

/* A warp has `count` coarse rows, and the two fine rows of each. Step K loads coarse row K + 1, and computes u of fine rows 2 K and
   2 K + 1, and the residual of rows 2 K - 1 and 2 K. */
static __global__ void __launch_bounds__(32 * BLOCK_WARPS, ROW_BLOCKS)
    fmg_residual_kernel(gmg_uniform s, gmg_map mx, gmg_map my, gmg_repeated_pairs py, gmg_layout from, unsigned beside, int count,
                       const scalar *coarse, const scalar *f, const double *divisor, scalar *u, low_scalar *r)
{
  enum { COLS = LANE_COLS, PAIRS = LANE_PAIRS, SLOTS = 4 };
  const unsigned warp = blockIdx.x * BLOCK_WARPS + gmg_warp(), lane = threadIdx.x % 32, ty = warp / beside, tx = warp - ty * beside;
  const int K0 = (int)ty * count, K1 = min(K0 + count, my.cols);
  const int i = (int)tx * WARP_COLS + COLS * ((int)lane - 1), I = i / 2;
  const int exists = gmg_index_exists(i, s.n[0], s.wraps[0]) && i < s.n[0] + COLS; /* beyond, no residual needs u */
  const int mine = lane > 0 && lane < 31 && i < s.n[0];
  const int column = exists ? gmg_wrap_once(i, s.n[0], s.wraps[0]) : 0;
  const auto offset_of = [&](int k) { return gmg_offset(gmg_layout_of(s), column, 0, k); };
  if (K0 >= K1) return;
  const real scale = (real)(1 / __ldg(divisor));
  gmg_row_prolongation weights;
  int parent[PAIRS];
  gmg_cells diag;
#pragma unroll
  for (int d = 0; d < PAIRS; d++) {
    parent[d] = I + d < mx.cols + PAIRS ? __ldg(mx.wrap + I + d) : 0;
#pragma unroll
    for (int b = 0; b < 2; b++) {
      weights.of[d][b] = {0, 0};
      if (exists) weights.of[d][b] = gmg_pair_weights_of(mx, column + 2 * d + b);
      diag.at[2 * d + b] = s.shift + gmg_at(s.diag[0], column + 2 * d + b) + gmg_at(s.diag[1], 0);
    }
  }
  scalar fetched[SLOTS][PAIRS]; /* coarse rows being loaded */
  gmg_cells rhs[SLOTS][2];    /* rows 2 K - 1 and 2 K of f */
  const auto ask_coarse = [&](int slot, int K) {
#pragma unroll
    for (int d = 0; d < PAIRS; d++)
      fetched[slot][d] = K <= K1 + 1 ? __ldg(coarse + gmg_offset(from, parent[d], __ldg(my.wrap + K), 0)) : (scalar)0;
  };
  const auto ask_f = [&](int slot, int K) {
#pragma unroll
    for (int q = 0; q < 2; q++) {
      const int k = 2 * K - 1 + q, there = mine && k >= 2 * K0 && k < 2 * K1;
      rhs[slot][q] = {};
      if (there) rhs[slot][q] = gmg_cells_of(__ldg((const real_vector *)(f + offset_of(k))));
    }
  };
  gmg_cells before = {}, here = {}, rows[4] = {}; /* coarse rows K - 1 and K interpolated along the row; u of fine rows 2 K - 2 to 2
                                                     K + 1 */
#pragma unroll
  for (int t = 0; t < SLOTS; t++) {
    ask_coarse(t, K0 - 1 + t);
    ask_f(t, K0 - 2 + t);
  }
  for (int T = 0; T < K1 - K0 + 3; T += SLOTS) {
#pragma unroll
    for (int t = 0; t < SLOTS; t++) { /* loads for step K + SLOTS */
      const int K = K0 - 2 + T + t;
      const gmg_cells after = gmg_prolong_row(weights, fetched[t]);
      const gmg_cells right_side[2] = {rhs[t][0], rhs[t][1]};
      ask_coarse(t, K + 1 + SLOTS);
      ask_f(t, K + SLOTS);
      const int around = gmg_wrap_once(K, my.cols, s.wraps[2]), is_there = around >= 0 && around < my.cols;
#pragma unroll
      for (int q = 0; q < 2; q++) {
        gmg_pair_weights w = {0, 0};
        if (is_there) w = gmg_pair_weights_of(my, py, around, q);
        rows[q] = rows[q + 2];
#pragma unroll
        for (int c = 0; c < COLS; c++) rows[q + 2].at[c] = w.own * here.at[c] + w.side * (q ? after.at[c] : before.at[c]);
        if (mine && K >= K0 && K < K1) *(real_vector *)(u + offset_of(2 * K + q)) = gmg_vector_of(rows[q + 2]);
      }
      before = here, here = after;
#pragma unroll
      for (int q = 0; q < 2; q++) {
        const int k = 2 * K - 1 + q, there = mine && k >= 2 * K0 && k < 2 * K1;
        const real along = there ? gmg_at(s.diag[2], k) : (real)0;
        const gmg_cells res = gmg_residual_of_row(s.coupling, diag, along, rows[q], rows[q + 1], rows[q + 2], right_side[q]);
        low_cells low;
#pragma unroll
        for (int c = 0; c < COLS; c++) low.at[c] = (low_scalar)(scale * res.at[c]);
        if (there) *(low_cells *)(r + offset_of(k)) = low;
      }
    }
  }
}

/* Returns 1 if done, and 0 if the kernel does not apply. */
static int fmg_residual_rows(const gmg_exec *e, const gmg_operator *A, const gmg_map map[3], const void *coarse, const void *f,
                             void *u, const double *divisor, void *r)
{
  enum { FILL_ROWS = 4, MIN_ROWS = 8 };
  const gmg_device *d = gmg_device_of(e);
  gmg_uniform s;
  if (A->dim != 2 || !gmg_all_have_pairs(map, 2, GMG_PAIRS_LINEAR)) return 0;
  if (!gmg_uniform_of(A, d->processors, f, u, r, &s) || !gmg_has_whole_rows(s.n[0], f, u, r)) return 0;
  const unsigned beside = (unsigned)((s.n[0] + WARP_COLS - 1) / WARP_COLS);
  const int count = gmg_rows_of_part(map[1].cols, beside, (size_t)d->processors * ROW_BLOCKS * BLOCK_WARPS, FILL_ROWS, MIN_ROWS);
  gmg_launch(e, "residual", fmg_residual_kernel, gmg_warp_shape(beside * (unsigned)((map[1].cols + count - 1) / count)), s, map[0],
             map[1], gmg_repeated_pairs_of(&map[1]), gmg_layout_of_columns(map), beside, count, coarse, f, divisor, u, r);
  return 1;
}

#endif
