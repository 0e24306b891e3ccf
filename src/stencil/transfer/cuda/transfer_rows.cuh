/* Restriction in 2D by pairs of unknowns, by averaging or by the adjoint of linear interpolation. Rows stream through warps
   (cuda/warp_rows.cuh). Included by cuda/pairs.cuh. */
#ifndef GMG_STENCIL_TRANSFER_CUDA_TRANSFER_ROWS_H
#define GMG_STENCIL_TRANSFER_CUDA_TRANSFER_ROWS_H

#include "stencil/operator/cuda/warp_rows.cuh"

enum { RESTRICT_BLOCKS = 5 };

/* A warp computes `rows` coarse rows of its columns. */
template <int whole>
static __global__ void __launch_bounds__(32 * BLOCK_WARPS, RESTRICT_BLOCKS)
    restrict_rows_kernel(gmg_uniform s, gmg_pair_maps p, gmg_layout to, unsigned beside, int rows, const scalar *f, const scalar *u,
                         scalar *coarse)
{
  const unsigned warp = blockIdx.x * BLOCK_WARPS + gmg_warp(), lane = threadIdx.x % 32, ty = warp / beside, tx = warp - ty * beside;
  const int J0 = (int)ty * rows, J1 = min(J0 + rows, p.y.rows), i = (int)tx * WARP_COLS + LANE_COLS * ((int)lane - 1), I = i / 2;
  const gmg_lane_columns<whole> x(i, s.n[0], s.wraps[0], s.n[0], 2, lane > 0 && lane < 31);
  if (J0 >= J1) return;
  gmg_row_restriction g = gmg_row_restriction_of(p, I, x.own_pairs());
  gmg_walk_rows(s, f, u, x, 2 * J0 - 1, 2 * J1 + 1, [&](int k, const gmg_cells &r) {
    const int J = gmg_restrict_row(p, J0, J1, k, r, &g);
    if (J >= J0) x.write_pairs(coarse + gmg_offset(to, I, J, 0), g.part);
  });
}

/* Returns 1 if done, and 0 if offsets need more than 31 bits. */
static int restrict_rows(const gmg_exec *e, const gmg_uniform &s, const gmg_map map[3], const void *f, const void *u, void *coarse)
{
  enum { FILL_ROWS = 5, MIN_ROWS = 4 };
  const size_t room = (size_t)gmg_device_of(e)->processors * RESTRICT_BLOCKS * BLOCK_WARPS;
  if (gmg_offset(gmg_layout_of(s), 0, 0, s.n[2]) > 0x7fffffff) return 0;
  const unsigned beside = (unsigned)((s.n[0] + WARP_COLS - 1) / WARP_COLS);
  const int rows = gmg_rows_of_part(map[1].rows, beside, room, FILL_ROWS, MIN_ROWS);
  gmg_launch(e, "restriction", gmg_has_whole_rows(s.n[0], f, u, coarse) ? restrict_rows_kernel<1> : restrict_rows_kernel<0>,
             gmg_warp_shape(beside * (unsigned)((map[1].rows + rows - 1) / rows)), s, gmg_pair_maps_of(map),
             gmg_layout_of_rows(map), beside, rows, f, u, coarse);
  return 1;
}

#endif
