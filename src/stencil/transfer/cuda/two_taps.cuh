/* Prolongation in 3D between axes of any sizes, by maps whose rows read at most two columns: linear interpolation, or the identity
   along axes that are not coarsened. pairs.cuh does it for axes with twice as many fine unknowns as coarse ones. Included by
   cuda/transfer.cu alone. Its kernels cover all other cases, and are the reference in tests.

   A thread has two columns of fine unknowns, one behind the other. Two planes of the coarse field, interpolated across the columns,
   stay in registers while fine planes between them are computed. So a coarse value is read once or twice per column, not for every
   fine unknown around it. Values of the next planes are loaded ahead. In float on an H100, without that:
   - all axes coarsened, 255^3: 136 instead of 181 us;
   - 128 x 256 x 512, of which first the last axis is coarsened, then the last two: 80 instead of 230 us on average.
   It is not used where the first axis alone or the first two are coarsened: 512 x 256 x 128 took 88 instead of 59 us. 2D is in
   two_taps_rows.cuh. */
#ifndef GMG_STENCIL_TRANSFER_CUDA_TWO_TAPS_H
#define GMG_STENCIL_TRANSFER_CUDA_TWO_TAPS_H

#include "core/cuda/pdl.cuh"
#include "stencil/operator/cuda/uniform_columns.cuh"

#include <limits.h>

typedef struct {
  gmg_map m[3];        /* of the axes across the columns (0, 1), and along them (2) */
  int n[3];            /* fine unknowns */
  gmg_layout from, to; /* of the coarse and of the fine field */
  gmg_tiles tiles;
} two_tap_maps;

/* What a row of a map reads: weights, and columns. */
typedef struct {
  real w[2];
  int at[2];
} taps;

static __device__ __forceinline__ taps taps_of(const gmg_map &m, int r)
{
  const int *const column = m.wrap + __ldg(m.first + r);
  taps t = {{gmg_at(m.weight, (size_t)r * m.width), 0}, {__ldg(column), 0}};
  t.at[1] = t.at[0];
  if (m.width == 2) t.w[1] = gmg_at(m.weight, (size_t)r * 2 + 1), t.at[1] = __ldg(column + 1);
  return t;
}

/* What a fine plane reads: coarse planes `first` and first + 1, with these weights. */
typedef struct {
  int first;
  real w[2];
} plane_taps;

/* TWO_TAPS_PLANES: planes of a thread block, at most. AHEAD: fine planes that are loaded ahead; limited by registers. In float at
   511^3 on an H100, with two thread blocks on a multiprocessor: 1034, 799, 765, 754 and 748 us with 1, 2, 3, 4 and 6 planes. With
   three thread blocks: 857, 927, 769 and 827 us with 1 to 4. */
enum { TWO_TAPS_PLANES = 32, AHEAD = sizeof(real) == 8 ? 3 : 4 };

static __global__ void __launch_bounds__(GMG_THREADS, 2)
    two_taps_kernel(two_tap_maps p, const scalar *x, scalar *y, int add)
{
  constexpr int deep = 2;
  __shared__ plane_taps along[TWO_TAPS_PLANES];
  const gmg_column_part part = gmg_column_part_of<1, deep>(p.tiles, p.n, blockIdx.x);
  const int me = (int)(threadIdx.y * blockDim.x + threadIdx.x), high = part.end - part.begin;
  if (me < high) {
    const gmg_map &m = p.m[2];
    const int k = part.begin + me;
    along[me].first = __ldg(m.first + k);
    for (int c = 0; c < 2; c++) along[me].w[c] = c < m.width ? gmg_at(m.weight, (size_t)k * m.width + c) : (real)0;
  }
  __syncthreads();
  gmg_wait_for_predecessor();
  if (!part.there) return;
  const int rows = min(deep, p.n[1] - part.j);
  const unsigned plane = (unsigned)gmg_pitch(p.from, 2);
  const size_t fine_plane = gmg_pitch(p.to, 2);
  const taps across = taps_of(p.m[0], part.i);
  unsigned column[deep][2][2]; /* offsets in a plane of the coarse columns that a fine one reads */
  real w[deep][2];
#pragma unroll
  for (int d = 0; d < deep; d++) {
    const taps behind = taps_of(p.m[1], part.j + (d < rows ? d : 0));
#pragma unroll
    for (int b = 0; b < 2; b++) {
      w[d][b] = behind.w[b];
#pragma unroll
      for (int a = 0; a < 2; a++) column[d][b][a] = (unsigned)gmg_offset(p.from, (size_t)across.at[a], (size_t)behind.at[b], 0);
    }
  }
  scalar raw[deep][2][2];  /* values of a coarse plane that are under way */
  scalar near[2][deep];    /* coarse planes `first` and first + 1, interpolated across the columns */
  scalar old[AHEAD][deep] = {}; /* values of y in the next fine planes */
  const auto load = [&](int K) {
    const scalar *const at = x + (size_t)(unsigned)__ldg(p.m[2].wrap + K) * plane;
#pragma unroll
    for (int d = 0; d < deep; d++)
#pragma unroll
      for (int b = 0; b < 2; b++)
#pragma unroll
        for (int a = 0; a < 2; a++) raw[d][b][a] = __ldg(at + column[d][b][a]);
  };
  const auto interpolate = [&](scalar to[deep]) {
#pragma unroll
    for (int d = 0; d < deep; d++)
      to[d] = w[d][0] * (across.w[0] * raw[d][0][0] + across.w[1] * raw[d][0][1]) +
              w[d][1] * (across.w[0] * raw[d][1][0] + across.w[1] * raw[d][1][1]);
  };
  const size_t at = gmg_offset(p.to, part.i, part.j, part.begin);
  const auto load_old = [&](int h, int a) { /* of fine plane h */
#pragma unroll
    for (int d = 0; d < deep; d++)
      if (add && d < rows && h < high) old[a][d] = y[at + h * fine_plane + d * p.to.row];
  };
  int first = along[0].first;
#pragma unroll
  for (int a = 0; a < AHEAD; a++) load_old(a, a);
  load(first), interpolate(near[0]);
  load(first + 1), interpolate(near[1]);
  load(first + 2);
  for (int h = 0; h < high; h++) {
    const plane_taps here = along[h];
    scalar before[deep];
#pragma unroll
    for (int d = 0; d < deep; d++) {
      before[d] = old[0][d];
#pragma unroll
      for (int a = 0; a + 1 < AHEAD; a++) old[a][d] = old[a + 1][d];
    }
    load_old(h + AHEAD, AHEAD - 1);
    for (; first < here.first; first++) {
#pragma unroll
      for (int d = 0; d < deep; d++) near[0][d] = near[1][d];
      interpolate(near[1]);
      load(first + 3);
    }
#pragma unroll
    for (int d = 0; d < deep; d++)
      if (d < rows) y[at + h * fine_plane + d * p.to.row] = before[d] + (here.w[0] * near[0][d] + here.w[1] * near[1][d]);
  }
}

/* Returns 1 if done, and 0 if the kernel does not apply, or another one is faster. */
static int prolong_two_taps(const gmg_exec *e, const gmg_map map[3], gmg_layout from, const void *x, gmg_layout to, void *y,
                            int add)
{
  two_tap_maps p = {};
  size_t threads[3], fine = 1, coarse = 1;
  for (int a = 0; a < 3; a++) {
    if (map[a].width > 2) return 0;
    p.m[a] = map[a], p.n[a] = map[a].rows, threads[a] = (size_t)p.n[a];
    fine *= (size_t)map[a].rows, coarse *= (size_t)map[a].cols;
  }
  if (p.n[2] == 1 || fine < coarse || has_widths(map, 2, 1, 1) || has_widths(map, 2, 2, 1)) return 0;
  if (gmg_offset(from, 0, 0, 1) > INT_MAX) return 0;
  threads[1] = (threads[1] + 1) / 2;
  p.from = from, p.to = to, p.tiles = gmg_full_tiles_of(threads, 32, TWO_TAPS_PLANES, 2, 4 * (size_t)gmg_device_of(e)->processors);
  gmg_launch_early(e, "prolongation", two_taps_kernel, gmg_shape_of(p.tiles), p, x, y, add);
  return 1;
}

#endif
