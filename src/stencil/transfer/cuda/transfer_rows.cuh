/* Transfers in 2D where unknowns go by pairs and lines are whole vectors (cuda/warp_rows.cuh). Included by cuda/pairs.cuh, whose
   kernels do the same for other sizes and for fields that are not aligned. */
#ifndef GMG_STENCIL_TRANSFER_CUDA_TRANSFER_ROWS_H
#define GMG_STENCIL_TRANSFER_CUDA_TRANSFER_ROWS_H

#include "stencil/operator/cuda/warp_rows.cuh"

enum { RESTRICT_BLOCKS = 5 };

/* As adjoint_pairs_kernel; a warp has `rows` coarse rows of its columns. */
static __global__ void __launch_bounds__(32 * BLOCK_WARPS, RESTRICT_BLOCKS)
    restrict_rows_kernel(gmg_uniform s, gmg_pair_maps p, gmg_layout to, unsigned beside, int rows, const real *f, const real *u,
                         real *coarse)
{
  const unsigned warp = blockIdx.x * BLOCK_WARPS + gmg_warp(), lane = threadIdx.x % 32, ty = warp / beside, tx = warp - ty * beside;
  const int J0 = (int)ty * rows, J1 = min(J0 + rows, p.y.rows), i = (int)tx * WARP_COLS + LANE_COLS * ((int)lane - 1), I = i / 2;
  const int mine = lane > 0 && lane < 31 && i < s.n[0];
  if (J0 >= J1) return;
  gmg_gather g = gmg_gather_of(p, I, mine ? LANE_PAIRS : 0);
  gmg_walk_rows(s, f, u, i, 2 * J0 - 1, 2 * J1 + 1, [&](int k, const gmg_cells &r) {
    const int J = gmg_gather_row(p, J0, J1, k, r, &g);
    if (J >= J0 && mine) *(gmg_coarse_cells *)(coarse + gmg_offset(to, I, J, 0)) = g.part;
  });
}

/* 1 where done. */
static int restrict_rows(const gmg_exec *e, const gmg_uniform &s, const gmg_map map[3], const void *f, const void *u, void *coarse)
{
  enum { FILL_ROWS = 5, MIN_ROWS = 4 };
  const size_t room = (size_t)gmg_device_of(e)->processors * RESTRICT_BLOCKS * BLOCK_WARPS;
  if (s.n[0] % LANE_COLS || gmg_offset(gmg_layout_of(s), 0, 0, s.n[2]) > 0x7fffffff || !gmg_are_vectors(f, u, coarse)) return 0;
  const unsigned beside = (unsigned)((s.n[0] + WARP_COLS - 1) / WARP_COLS);
  const int rows = gmg_rows_of_part(map[1].rows, beside, room, FILL_ROWS, MIN_ROWS);
  gmg_launch(e, "restriction", restrict_rows_kernel, gmg_warp_grid(beside * (unsigned)((map[1].rows + rows - 1) / rows)), s,
             gmg_pair_maps_of(map), gmg_layout_of_rows(map), beside, rows, f, u, coarse);
  return 1;
}

enum { PROLONG_ROWS = 4 }; /* coarse rows of a warp */

/* As prolong_pairs_kernel; all that a warp reads is asked for at once. */
static __global__ void __launch_bounds__(32 * BLOCK_WARPS)
    prolong_rows_kernel(gmg_map mx, gmg_map my, gmg_pair_family py, gmg_layout coarse, gmg_layout fine, unsigned beside,
                        const real *x, real *y, int add)
{
  enum { COLS = LANE_COLS, PAIRS = LANE_PAIRS, ROWS = PROLONG_ROWS };
  const unsigned warp = blockIdx.x * BLOCK_WARPS + gmg_warp(), lane = threadIdx.x % 32, ty = warp / beside, tx = warp - ty * beside;
  const int I = (int)(tx * 32 + lane) * PAIRS, K0 = (int)ty * ROWS, n = my.cols;
  if (I >= mx.cols || K0 >= n) return;
  real *const to = y + gmg_offset(fine, 2 * I, 2 * K0, 0);
  real_vector v[ROWS][2];
#pragma unroll
  for (int r = 0; r < ROWS; r++)
#pragma unroll
    for (int q = 0; q < 2; q++)
      v[r][q] = add && K0 + r < n ? *(const real_vector *)(to + (2 * r + q) * fine.row) : real_vector{};
  gmg_spread spread;
#pragma unroll
  for (int d = 0; d < PAIRS; d++)
#pragma unroll
    for (int b = 0; b < 2; b++) spread.of[d][b] = gmg_pair_weights_of(mx, 2 * (I + d) + b);
  const int before = __ldg(mx.wrap + I - 1), after = __ldg(mx.wrap + I + PAIRS);
  gmg_cells e[ROWS + 2]; /* coarse rows from K0 - 1 on, interpolated across */
#pragma unroll
  for (int r = 0; r < ROWS + 2; r++) {
    e[r] = {};
    if (K0 + r - 1 > n) continue;
    const real *const line = x + gmg_offset(coarse, 0, __ldg(my.wrap + K0 + r - 1), 0);
    real c[PAIRS];
#pragma unroll
    for (int d = 0; d < PAIRS; d++) c[d] = __ldg(line + I + d);
    e[r] = gmg_spread_row(spread, c, __ldg(line + before), __ldg(line + after));
  }
#pragma unroll
  for (int r = 0; r < ROWS; r++) {
    const int K = K0 + r;
    if (K >= n) break;
#pragma unroll
    for (int q = 0; q < 2; q++) {
      const gmg_pair_weights w = gmg_pair_weights_of(my, py, K, q);
      gmg_cells sum = gmg_cells_of(v[r][q]);
#pragma unroll
      for (int c = 0; c < COLS; c++) sum.at[c] += w.own * e[r + 1].at[c] + w.side * e[r + 2 * q].at[c];
      *(real_vector *)(to + (2 * r + q) * fine.row) = gmg_vector_of(sum);
    }
  }
}

/* 1 where done. */
static int prolong_rows(const gmg_exec *e, const gmg_map map[3], const void *x, void *y, int add)
{
  const unsigned beside = (unsigned)((map[0].cols + 32 * LANE_PAIRS - 1) / (32 * LANE_PAIRS));
  const gmg_grid grid = gmg_warp_grid(beside * (unsigned)((map[1].cols + PROLONG_ROWS - 1) / PROLONG_ROWS));
  if (map[0].cols % LANE_PAIRS || !gmg_are_vectors(y, NULL, NULL)) return 0;
  gmg_launch(e, "prolongation", prolong_rows_kernel, grid, map[0], map[1], gmg_pair_family_of(&map[1]), gmg_layout_of_columns(map),
             gmg_layout_of_rows(map), beside, x, y, add);
  return 1;
}

#endif
