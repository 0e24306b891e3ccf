/* One step of a full multigrid start in mixed precision in 2D: interpolates u to the next finer level and computes its residual, in
   one pass. Rows stream through the registers of warps (cuda/warp_rows.cuh). Included by cuda/transfer.cu. */
#ifndef GMG_STENCIL_TRANSFER_CUDA_FMG_RESIDUAL_ROWS_H
#define GMG_STENCIL_TRANSFER_CUDA_FMG_RESIDUAL_ROWS_H

#include "stencil/operator/cuda/warp_rows.cuh"

/* A lane's values of a row of the residual. */
typedef struct alignas(LANE_COLS * sizeof(low_scalar)) {
  low_scalar at[LANE_COLS];
} low_cells;

/* What a step needs: a lane's part of coarse row K + 1, and of f in rows 2 K - 1 and 2 K. */
typedef struct {
  real_vector f[2][32 * BLOCK_WARPS];
  gmg_coarse_cells coarse[32 * BLOCK_WARPS];
} fmg_residual_input;

/* A warp has `count` coarse rows, and the two fine rows of each. Step K takes coarse row K + 1, and computes u of fine rows 2 K and
   2 K + 1, and the residual of rows 2 K - 1 and 2 K. Its input is copied to shared memory AHEAD steps before. Every lane reads
   what it has copied itself, so there is no barrier. */
static __global__ void __launch_bounds__(32 * BLOCK_WARPS, ROW_BLOCKS)
    fmg_residual_kernel(gmg_uniform s, gmg_map mx, gmg_map my, gmg_repeated_pairs py, gmg_layout from, unsigned beside, int count,
                       const scalar *coarse, const scalar *f, const double *divisor, scalar *u, low_scalar *r)
{
  enum { COLS = LANE_COLS, PAIRS = LANE_PAIRS, SLOTS = 8, AHEAD = SLOTS - 1 };
  __shared__ fmg_residual_input ring[SLOTS];
  const unsigned warp = blockIdx.x * BLOCK_WARPS + gmg_warp(), lane = threadIdx.x % 32, ty = warp / beside, tx = warp - ty * beside;
  const int K0 = (int)ty * count, K1 = min(K0 + count, my.cols), me = (int)threadIdx.x;
  const int i = (int)tx * WARP_COLS + COLS * ((int)lane - 1), I = i / 2;
  const int exists = gmg_index_exists(i, s.n[0], s.wraps[0]) && i < s.n[0] + COLS; /* beyond, no residual needs u */
  const int mine = lane > 0 && lane < 31 && i < s.n[0];
  const int column = exists ? gmg_wrap_once(i, s.n[0], s.wraps[0]) : 0;
  const auto offset_of = [&](int k) { return gmg_offset(gmg_layout_of(s), column, 0, k); };
  if (K0 >= K1) return;
  const real scale = (real)(1 / __ldg(divisor));
  const real inner = gmg_at(s.diag[2], 1), at_low = gmg_at(s.diag[2], 0), at_high = gmg_at(s.diag[2], s.n[2] - 1);
  gmg_row_prolongation weights;
  size_t parent[PAIRS];
  gmg_cells diag;
#pragma unroll
  for (int d = 0; d < PAIRS; d++) {
    parent[d] = gmg_offset(from, I + d < mx.cols + PAIRS ? __ldg(mx.wrap + I + d) : 0, 0, 0);
#pragma unroll
    for (int b = 0; b < 2; b++) {
      weights.of[d][b] = {0, 0};
      if (exists) weights.of[d][b] = gmg_pair_weights_of(mx, column + 2 * d + b);
      diag.at[2 * d + b] = s.shift + gmg_at(s.diag[0], column + 2 * d + b) + gmg_at(s.diag[1], 0);
    }
  }
  const auto copy = [&](int K) { /* for step K */
    fmg_residual_input *const to = &ring[(unsigned)(K - K0 + 2) % SLOTS];
    const int around = gmg_wrap_once(K + 1, my.cols, s.wraps[2]), row = min(max(around, 0), my.cols - 1);
#pragma unroll
    for (int d = 0; d < PAIRS; d++)
      __pipeline_memcpy_async(&to->coarse[me].at[d], coarse + (parent[d] + gmg_offset(from, 0, row, 0)), sizeof(scalar),
                              K <= K1 ? 0 : sizeof(scalar));
#pragma unroll
    for (int q = 0; q < 2; q++) {
      const int k = 2 * K - 1 + q, there = mine && k >= 2 * K0 && k < 2 * K1;
      __pipeline_memcpy_async(&to->f[q][me], f + (there ? offset_of(k) : 0), sizeof(real_vector), there ? 0 : sizeof(real_vector));
    }
    __pipeline_commit();
  };
  gmg_cells before = {}, here = {}, rows[4] = {}; /* coarse rows K - 1 and K interpolated along the row; u of fine rows 2 K - 2 to 2
                                                     K + 1 */
  for (int t = 0; t < AHEAD; t++) copy(K0 - 2 + t);
#pragma unroll 2
  for (int K = K0 - 2; K <= K1; K++) {
    __pipeline_wait_prior(AHEAD - 1);
    const fmg_residual_input *const in = &ring[(unsigned)(K - K0 + 2) % SLOTS];
    const gmg_cells after = gmg_prolong_row(weights, in->coarse[me].at);
    const gmg_cells right_side[2] = {gmg_cells_of(in->f[0][me]), gmg_cells_of(in->f[1][me])};
    copy(K + AHEAD);
    const int around = gmg_wrap_once(K, my.cols, s.wraps[2]), is_there = around >= 0 && around < my.cols;
#pragma unroll
    for (int q = 0; q < 2; q++) {
      gmg_pair_weights w = {0, 0};
      if (is_there) w = gmg_pair_weights_of(my, py, around, q);
      rows[q] = rows[q + 2];
#pragma unroll
      for (int c = 0; c < COLS; c++) rows[q + 2].at[c] = w.own * here.at[c] + w.side * (q ? after.at[c] : before.at[c]);
      if (mine && K >= K0 && K < K1 && u) *(real_vector *)(u + offset_of(2 * K + q)) = gmg_vector_of(rows[q + 2]);
    }
    before = here, here = after;
#pragma unroll
    for (int q = 0; q < 2; q++) {
      const int k = 2 * K - 1 + q, there = mine && k >= 2 * K0 && k < 2 * K1;
      const real along = k == 0 ? at_low : k == s.n[2] - 1 ? at_high : inner;
      const gmg_cells res = gmg_residual_of_row(s.coupling, diag, along, rows[q], rows[q + 1], rows[q + 2], right_side[q]);
      low_cells low;
#pragma unroll
      for (int c = 0; c < COLS; c++) low.at[c] = (low_scalar)(scale * res.at[c]);
      if (there) *(low_cells *)(r + offset_of(k)) = low;
    }
  }
}

/* Returns 1 if done, and 0 if the kernel does not apply. */
static int fmg_residual_rows(const gmg_exec *e, const gmg_operator *A, const gmg_map map[3], const void *coarse, const void *f,
                             void *u, int store, const double *divisor, void *r)
{
  enum { FILL_ROWS = 4, MIN_ROWS = 8 };
  const gmg_device *d = gmg_device_of(e);
  gmg_uniform s;
  if (A->dim != 2 || !gmg_all_have_pairs(map, 2, GMG_PAIRS_LINEAR)) return 0;
  if (!gmg_uniform_of(A, d->processors, f, u, r, &s) || !gmg_has_whole_rows(s.n[0], f, u, r)) return 0;
  const unsigned beside = (unsigned)((s.n[0] + WARP_COLS - 1) / WARP_COLS);
  const int count = gmg_rows_of_part(map[1].cols, beside, (size_t)d->processors * ROW_BLOCKS * BLOCK_WARPS, FILL_ROWS, MIN_ROWS);
  gmg_launch(e, "residual", fmg_residual_kernel, gmg_warp_shape(beside * (unsigned)((map[1].cols + count - 1) / count)), s, map[0],
             map[1], gmg_repeated_pairs_of(&map[1]), gmg_layout_of_columns(map), beside, count, coarse, f, divisor,
             store ? u : NULL, r);
  return 1;
}

#endif
