/* Prolongation in 2D by the maps of two_taps.cuh: axes of any sizes, any walls. pairs.cuh does it for axes with twice as many fine
   unknowns as coarse ones. Included by cuda/transfer.cu alone. Its kernels cover all other cases, and are the reference in tests.

   A warp has a strip of columns, and walks along axis 1. Its lanes are adjacent columns, so loads of rows are coalesced wherever
   the rows begin. Two coarse rows, interpolated along axis 0, stay in registers while fine rows between them are computed. So a
   coarse value is read once or twice per column. With all axes coarsened 2.25 values per fine unknown must be moved: the old and
   the new one, and a quarter of a coarse one. */
#ifndef GMG_STENCIL_TRANSFER_CUDA_TWO_TAPS_ROWS_H
#define GMG_STENCIL_TRANSFER_CUDA_TWO_TAPS_ROWS_H

#include "two_taps.cuh"

#include "stencil/operator/cuda/warp_rows.cuh"

/* TAP_COLS: columns of a lane, 32 columns apart, 16 bytes in all. ROWS_AHEAD: fine rows that are loaded ahead. TAP_BLOCKS: thread
   blocks of a multiprocessor. */
enum { TAP_COLS = LANE_COLS, TAP_STRIP = 32 * TAP_COLS, ROWS_AHEAD = 4, TAP_BLOCKS = 5 };

typedef struct {
  gmg_map m[3];
  gmg_layout from, to; /* of the coarse and of the fine field */
  unsigned beside;     /* strips of columns */
  int rows;            /* fine rows of a warp */
} two_tap_rows;

/* What a fine row reads: coarse rows `first` and first + 1, with these weights. */
static __device__ __forceinline__ plane_taps row_taps_of(const gmg_map &m, int k)
{
  const size_t at = (size_t)k * m.width;
  return {__ldg(m.first + k), {gmg_at(m.weight, at), m.width == 2 ? gmg_at(m.weight, at + 1) : (real)0}};
}

static __global__ void __launch_bounds__(32 * BLOCK_WARPS, TAP_BLOCKS)
    two_taps_rows_kernel(two_tap_rows p, const scalar *x, scalar *y, int add)
{
  const unsigned warp = blockIdx.x * BLOCK_WARPS + gmg_warp(), ty = warp / p.beside, tx = warp - ty * p.beside;
  const int begin = (int)ty * p.rows, end = min(begin + p.rows, p.m[1].rows), i = (int)(tx * TAP_STRIP + threadIdx.x % 32);
  if (begin >= end) return;
  const int there = p.m[0].rows - i; /* column c of the lane exists if 32 c < there */
  const taps plane = taps_of(p.m[2], 0);
  unsigned column[TAP_COLS][2]; /* the coarse columns that a fine one reads */
  real w[TAP_COLS][2];
#pragma unroll
  for (int c = 0; c < TAP_COLS; c++) {
    const taps along = taps_of(p.m[0], min(i + 32 * c, p.m[0].rows - 1));
#pragma unroll
    for (int b = 0; b < 2; b++) w[c][b] = plane.w[0] * along.w[b], column[c][b] = (unsigned)along.at[b];
  }
  plane_taps next = row_taps_of(p.m[1], begin);
  int first = next.first, coming = __ldg(p.m[1].wrap + first); /* coming: the coarse row to be loaded next */
  gmg_wait_for_predecessor();
  scalar raw[TAP_COLS][2];               /* values of a coarse row that are under way */
  scalar near[2][TAP_COLS];              /* coarse rows `first` and first + 1, interpolated along axis 0 */
  scalar old[ROWS_AHEAD][TAP_COLS] = {}; /* values of y in the next fine rows */
  const auto load = [&](int K) { /* coarse row K */
    const scalar *const at = x + gmg_offset(p.from, 0, (size_t)coming, (size_t)plane.at[0]);
#pragma unroll
    for (int c = 0; c < TAP_COLS; c++)
#pragma unroll
      for (int b = 0; b < 2; b++) raw[c][b] = __ldg(at + column[c][b]);
    coming = __ldg(p.m[1].wrap + K + 1);
  };
  const auto interpolate = [&](scalar row[TAP_COLS]) {
#pragma unroll
    for (int c = 0; c < TAP_COLS; c++) row[c] = w[c][0] * raw[c][0] + w[c][1] * raw[c][1];
  };
  scalar *to = y + gmg_offset(p.to, (size_t)i, (size_t)begin, 0); /* of the fine row in progress */
  const auto load_old = [&](scalar row[TAP_COLS], int k, int ahead) { /* of fine row k, which is that many rows ahead */
#pragma unroll
    for (int c = 0; c < TAP_COLS; c++)
      if (add && k < end && 32 * c < there) row[c] = to[ahead * p.to.row + 32 * c];
  };
#pragma unroll
  for (int a = 0; a < ROWS_AHEAD; a++) load_old(old[a], begin + a, a);
  load(first), interpolate(near[0]);
  load(first + 1), interpolate(near[1]);
  load(first + 2);
  for (int K = begin; K < end; K += ROWS_AHEAD)
#pragma unroll
    for (int a = 0; a < ROWS_AHEAD; a++, to += p.to.row) {
      const int k = K + a;
      if (k >= end) break;
      const plane_taps here = next;
      scalar v[TAP_COLS];
#pragma unroll
      for (int c = 0; c < TAP_COLS; c++) v[c] = old[a][c];
      load_old(old[a], k + ROWS_AHEAD, ROWS_AHEAD);
      next = row_taps_of(p.m[1], min(k + 1, end - 1));
      for (; first < here.first; first++) {
#pragma unroll
        for (int c = 0; c < TAP_COLS; c++) near[0][c] = near[1][c];
        interpolate(near[1]);
        load(first + 3);
      }
#pragma unroll
      for (int c = 0; c < TAP_COLS; c++)
        if (32 * c < there) to[32 * c] = v[c] + (here.w[0] * near[0][c] + here.w[1] * near[1][c]);
    }
}

/* Returns 1 if done, and 0 if the kernel does not apply. */
static int prolong_two_taps_rows(const gmg_exec *e, const gmg_map map[3], gmg_layout from, const void *x, gmg_layout to, void *y,
                                 int add)
{
  enum { FILL_ROWS = 4, MIN_ROWS = ROWS_AHEAD, MOST_PARTS = 4096 };
  two_tap_rows p = {};
  size_t fine = 1, coarse = 1;
  for (int a = 0; a < 2; a++) {
    if (map[a].width > 2) return 0;
    fine *= (size_t)map[a].rows, coarse *= (size_t)map[a].cols;
  }
  if (map[1].rows == 1 || map[2].rows > 1 || map[2].width > 1 || fine < coarse) return 0;
  const size_t room = (size_t)gmg_device_of(e)->processors * TAP_BLOCKS * BLOCK_WARPS;
  for (int a = 0; a < 3; a++) p.m[a] = map[a];
  p.from = from, p.to = to, p.beside = (unsigned)((map[0].rows + TAP_STRIP - 1) / TAP_STRIP);
  const int least = map[1].rows / MOST_PARTS > MIN_ROWS ? map[1].rows / MOST_PARTS : MIN_ROWS;
  p.rows = gmg_rows_of_part(map[1].rows, p.beside, room, FILL_ROWS, least);
  const size_t parts = (size_t)((map[1].rows + p.rows - 1) / p.rows);
  gmg_launch_early(e, "prolongation", two_taps_rows_kernel, gmg_warp_shape(p.beside * parts), p, x, y, add);
  return 1;
}

#endif
