/* Restriction of the residual in 2D by maps whose rows read up to five columns, whatever the sizes, the weights and the walls, for
   constant coefficients. It is one pass, and the residual is neither stored nor computed twice, except at the ends of strips.
   Included by cuda/transfer.cu alone. Its kernels cover all other cases.

   A warp has a strip of columns, and walks along axis 1. The columns of a lane are 32 apart, so loads of rows are coalesced
   wherever the rows begin. It keeps the last residuals of each. They are summed along axis 1 where a coarse row is complete,
   and these sums along axis 0 through shared memory. With both axes coarsened 2.25 values per fine unknown must be moved: f, u, and
   a quarter of a coarse one. */
#ifndef GMG_STENCIL_TRANSFER_CUDA_RESTRICT_STRIPS_H
#define GMG_STENCIL_TRANSFER_CUDA_RESTRICT_STRIPS_H

#include "core/cuda/pdl.cuh"
#include "restrict_columns.cuh"
#include "stencil/operator/cuda/warp_rows.cuh"

/* STRIP_COLS: columns of a lane, 8 bytes in all; limited by registers. STRIP: columns of a warp. The first and the last one have no
   residual. STRIP_AHEAD: rows that are loaded ahead; 1, 2 or 4. STRIP_BLOCKS: thread blocks of a multiprocessor. */
enum { STRIP_COLS = 8 / sizeof(scalar), STRIP = LANES * STRIP_COLS, STRIP_AHEAD = 4, STRIP_BLOCKS = 5 };

static_assert(LANES - 2 == GMG_TILE_COLUMNS && 2 * LANES - 2 == GMG_STRIP_COLUMNS, "extents of maps");

typedef struct {
  gmg_map x, y;
  int own;         /* coarse columns of a warp */
  unsigned beside; /* strips */
  int rows;        /* coarse rows of a warp */
} restriction_strips;

/* reads: columns of a row along axis 0, at most; rows: of a row along axis 1; slots: coarse columns of a lane */
template <int reads, int slots, int rows = READS>
static __global__ void __launch_bounds__(32 * BLOCK_WARPS, STRIP_BLOCKS)
    restrict_strips_kernel(gmg_operator A, restriction_strips t, const scalar *f, const scalar *u, scalar *coarse)
{
  /* residuals of a strip, summed along axis 1, for two coarse rows in turn. The last `rows` are 0, for columns with weight 0 */
  __shared__ scalar sums[BLOCK_WARPS][2][STRIP + rows];
  __shared__ row_weights<rows> along[BLOCK_WARPS][slots * LANES]; /* axis 0 */
  const int me = (int)gmg_warp(), lane = (int)threadIdx.x % LANES;
  const unsigned warp = blockIdx.x * BLOCK_WARPS + (unsigned)me, ty = warp / t.beside, tx = warp - ty * t.beside;
  const int J0 = (int)ty * t.rows, J1 = min(J0 + t.rows, t.y.rows), I0 = (int)tx * t.own, own = min(t.own, t.x.rows - I0);
  if (J0 >= J1) return;
  const int n = (int)A.n[1], around = A.wraps[1] ? n : 0, left_end = __ldg(t.x.first + I0) - 1; /* the strip's first column */
  int source[slots]; /* where in a row of sums a coarse column begins to read; -1: no such column */
#pragma unroll
  for (int s = 0; s < slots; s++) {
    const int q = lane + s * LANES;
    source[s] = q < own ? __ldg(t.x.first + I0 + q) - left_end : -1;
    if (q < own) along[me][q] = weights_of<rows>(t.x, I0 + q, 0); /* read by this lane alone */
  }
  if (lane < 2 * rows) sums[me][lane / rows][STRIP + lane % rows] = 0;
  /* the next coarse row: its weights, and the row after which it is complete */
  int J = J0, due = __ldg(t.y.first + J0) + t.y.width - 1;
  row_weights<rows> w = weights_of<rows>(t.y, J0, rows - t.y.width);
  const int first = __ldg(t.y.first + J0), end = __ldg(t.y.first + J1 - 1) + t.y.width;
  int column[STRIP_COLS]; /* 0 where there is none */
#pragma unroll
  for (int c = 0; c < STRIP_COLS; c++)
    column[c] = max(gmg_lane_index(left_end + lane + c * LANES, (int)A.n[0], A.wraps[0]), 0);
  /* the row at index k, which may be outside by less than n. Beyond a wall it is the last one. */
  const auto index_of = [&](int k) { return min(max(gmg_wrap_once_by(k, n, around), 0), n - 1); };
  const auto load = [&](const scalar *v, int k, scalar row[STRIP_COLS]) {
    const scalar *const at = v + (size_t)(unsigned)index_of(k) * (unsigned)A.n[0]; /* a product of two 32-bit numbers */
#pragma unroll
    for (int c = 0; c < STRIP_COLS; c++) row[c] = __ldg(at + column[c]);
  };
  gmg_wait_for_predecessor();
  gmg_axis_part<GMG_CONSTANT> x[STRIP_COLS], next(A, 1, (size_t)index_of(first)); /* next: of the row in progress, loaded ahead */
#pragma unroll
  for (int c = 0; c < STRIP_COLS; c++) {
    x[c] = gmg_axis_part<GMG_CONSTANT>(A, 0, (size_t)column[c]);
    x[c].lo_diag += (real)A.shift + gmg_at(A.diag[2], 0);
  }
  scalar below[STRIP_COLS], here[STRIP_COLS];                          /* of u, for the next residual */
  scalar above[STRIP_AHEAD][STRIP_COLS], rhs[STRIP_AHEAD][STRIP_COLS]; /* of u and f, for this residual and those after it */
  scalar last[rows][STRIP_COLS] = {};                                  /* residuals up to this row */
  load(u, first - 1, below), load(u, first, here);
#pragma unroll
  for (int a = 0; a < STRIP_AHEAD; a++) {
    const int k = min(first + a, end - 1);
    load(u, k + 1, above[a]), load(f, k, rhs[a]);
  }
  scalar *to = coarse + (size_t)J0 * (unsigned)t.x.rows + (unsigned)I0;
  int turn = 0;
  for (int K = first; K < end; K += STRIP_AHEAD)
#pragma unroll
    for (int q = 0; q < STRIP_AHEAD; q++) {
      const int k = K + q, a = q;
      if (k >= end) break;
      const gmg_axis_part<GMG_CONSTANT> y = next;
      scalar ahead[STRIP_COLS], right_side[STRIP_COLS], from_left[STRIP_COLS], from_right[STRIP_COLS];
#pragma unroll
      for (int c = 0; c < STRIP_COLS; c++) ahead[c] = above[a][c], right_side[c] = rhs[a][c];
      if (k + STRIP_AHEAD < end) load(u, k + STRIP_AHEAD + 1, above[a]), load(f, k + STRIP_AHEAD, rhs[a]);
      next = gmg_axis_part<GMG_CONSTANT>(A, 1, (size_t)index_of(min(k + 1, end - 1)));
#pragma unroll
      for (int c = 0; c < STRIP_COLS; c++) {
        from_left[c] = __shfl_sync(~0u, here[c], (lane + LANES - 1) % LANES);
        from_right[c] = __shfl_sync(~0u, here[c], (lane + 1) % LANES);
      }
#pragma unroll
      for (int c = 0; c < STRIP_COLS; c++) { /* beside the first lane's columns are those of the last one, and vice versa */
        const scalar left = lane > 0 || c == 0 ? from_left[c] : from_left[max(c - 1, 0)];
        const scalar right = lane + 1 < LANES || c + 1 == STRIP_COLS ? from_right[c] : from_right[min(c + 1, STRIP_COLS - 1)];
        gmg_row row = {};
        row.diag = x[c].lo_diag + y.lo_diag;
        row.lo[0] = x[c].lo, row.hi[0] = x[c].hi, row.lo[1] = y.lo, row.hi[1] = y.hi;
        const gmg_neighbours near = {{left, below[c], 0}, {right, ahead[c], 0}};
#pragma unroll
        for (int b = 0; b + 1 < rows; b++) last[b][c] = last[b + 1][c];
        last[rows - 1][c] = gmg_row_residual(2, row, near, right_side[c], here[c]);
        below[c] = here[c], here[c] = ahead[c];
      }
      for (; due == k; turn ^= 1, to += t.x.rows) {
        scalar *const sum = sums[me][turn];
#pragma unroll
        for (int c = 0; c < STRIP_COLS; c++) sum[lane + c * LANES] = weighted(w, [&](int row) { return last[row][c]; });
        __syncwarp();
#pragma unroll
        for (int s = 0; s < slots; s++) {
          if (source[s] < 0) continue;
          const row_weights<rows> wx = along[me][lane + s * LANES];
          scalar v = 0;
#pragma unroll
          for (int b = 0; b < reads; b++) v += wx.at[b] * sum[source[s] + b];
          to[lane + s * LANES] = v;
        }
        J++;
        due = J < J1 ? __ldg(t.y.first + J) + t.y.width - 1 : INT_MAX;
        if (J < J1) w = weights_of<rows>(t.y, J, rows - t.y.width);
      }
    }
}

/* Returns 1 if done, and 0 if the kernel does not apply. */
static int restrict_strips(const gmg_exec *e, const gmg_operator *A, const gmg_map map[3], const void *f, const void *u,
                           void *coarse)
{
  enum { FILL_ROWS = 3, MIN_ROWS = 2, MOST_PARTS = 4096 };
  if (A->dim != 2 || gmg_coefficients_of(A) != GMG_CONSTANT || A->caller_layouts || A->n[1] <= GMG_MAP_PAD) return 0;
  const int narrow = map[0].width == 1, fit = STRIP_COLS == 1 ? map[0].rows_in_tile[0] : map[0].rows_in_strip;
  if (map[0].width > MOST_READS || map[1].width > MOST_READS || fit == 0) return 0;
  const int most = narrow && map[1].width <= READS ? (int)STRIP : (int)LANES;
  restriction_strips t = {map[0], map[1], fit < most ? fit : most, 0, 0};
  t.beside = (unsigned)((map[0].rows + t.own - 1) / t.own);
  const size_t room = (size_t)gmg_device_of(e)->processors * STRIP_BLOCKS * BLOCK_WARPS;
  const int least = map[1].rows / MOST_PARTS > MIN_ROWS ? map[1].rows / MOST_PARTS : MIN_ROWS;
  t.rows = gmg_rows_of_part(map[1].rows, t.beside, room, FILL_ROWS, least);
  const size_t parts = (size_t)((map[1].rows + t.rows - 1) / t.rows);
  const auto kernel = map[0].width > READS || map[1].width > READS ? restrict_strips_kernel<MOST_READS, 1, MOST_READS>
                      : narrow                                     ? restrict_strips_kernel<1, STRIP_COLS>
                                                                   : restrict_strips_kernel<READS, 1>;
  gmg_launch_early(e, "restriction", kernel, gmg_warp_shape(t.beside * parts), *A, t, f, u, coarse);
  return 1;
}

#endif
