/* Prolongation between axes of any sizes in 2D and 3D, by maps whose rows read at most two columns: linear interpolation, or the
   identity along axes that are not coarsened. Any layouts. pairs.cuh does it for axes with twice as many fine unknowns as coarse
   ones. Included by cuda/transfer.cu alone. Its kernels cover all other cases, and are the reference in tests.

   A thread has a column of fine unknowns (3D: two, one behind the other). Two planes of the coarse field, interpolated across the
   columns, stay in registers while fine planes between them are computed. So a coarse value is read once or twice per column, not
   for every fine unknown around it. */
#ifndef GMG_STENCIL_TRANSFER_CUDA_TWO_TAPS_H
#define GMG_STENCIL_TRANSFER_CUDA_TWO_TAPS_H

#include "stencil/operator/cuda/uniform_columns.cuh"

/* Axes across the columns (0, 1) and along them (2). In 2D axis 1 has one unknown. */
typedef struct {
  gmg_map m[3];
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

template <int deep>
static __global__ void __launch_bounds__(GMG_THREADS, 4) two_taps_kernel(two_tap_maps p, const scalar *x, scalar *y, int add)
{
  const gmg_column_part part = gmg_column_part_of<1, deep>(p.tiles, p.n, blockIdx.x);
  if (!part.there) return;
  const int rows = min(deep, p.n[1] - part.j);
  const size_t plane = gmg_pitch(p.from, 2), fine_plane = gmg_pitch(p.to, 2);
  const taps across = taps_of(p.m[0], part.i);
  const scalar *column[deep][2][2]; /* the coarse columns that a fine one reads */
  real w[deep][2][2];
#pragma unroll
  for (int d = 0; d < deep; d++) {
    const taps behind = taps_of(p.m[1], part.j + (d < rows ? d : 0));
#pragma unroll
    for (int b = 0; b < 2; b++)
#pragma unroll
      for (int a = 0; a < 2; a++) {
        column[d][b][a] = x + gmg_offset(p.from, (size_t)across.at[a], (size_t)behind.at[b], 0);
        w[d][b][a] = behind.w[b] * across.w[a];
      }
  }
  scalar near[2][deep]; /* coarse planes number held[0] and held[1], interpolated across the columns */
  int held[2] = {-1, -1};
  const auto load = [&](int side, int K) {
#pragma unroll
    for (int d = 0; d < deep; d++) {
      scalar v = 0;
#pragma unroll
      for (int b = 0; b < (deep == 1 ? 1 : 2); b++)
#pragma unroll
        for (int a = 0; a < 2; a++) v += w[d][b][a] * __ldg(column[d][b][a] + (size_t)K * plane);
      near[side][d] = v;
    }
    held[side] = K;
  };
  const auto copy = [&](int side) {
#pragma unroll
    for (int d = 0; d < deep; d++) near[side][d] = near[1 - side][d];
    held[side] = held[1 - side];
  };
  scalar *to = y + gmg_offset(p.to, part.i, part.j, part.begin);
  for (int k = part.begin; k < part.end; k++, to += fine_plane) {
    const taps along = taps_of(p.m[2], k);
    if (along.at[0] != held[0]) {
      if (along.at[0] == held[1]) copy(0);
      else load(0, along.at[0]);
    }
    if (along.at[1] != held[1]) {
      if (along.at[1] == held[0]) copy(1);
      else load(1, along.at[1]);
    }
#pragma unroll
    for (int d = 0; d < deep; d++) {
      scalar *const at = to + d * p.to.row;
      const scalar v = along.w[0] * near[0][d] + along.w[1] * near[1][d];
      if (d < rows) *at = add ? *at + v : v;
    }
  }
}

/* Returns 1 if done, and 0 if the kernel does not apply. */
static int prolong_two_taps(const gmg_exec *e, const gmg_map map[3], gmg_layout from, const void *x, gmg_layout to, void *y,
                            int add)
{
  const int dim = map[2].rows > 1 ? 3 : map[1].rows > 1 ? 2 : 1, axis[3] = {0, dim == 3 ? 1 : 2, dim - 1};
  two_tap_maps p = {};
  size_t threads[3], rows = 1, columns = 1;
  for (int a = 0; a < 3; a++) {
    if (map[a].width > 2) return 0;
    rows *= (size_t)map[a].rows, columns *= (size_t)map[a].cols;
  }
  if (dim == 1 || rows < columns) return 0;
  if (dim == 2 && map[2].cols > 1) return 0; /* padded values: a single unknown has a ghost on each side */
  for (int a = 0; a < 3; a++) p.m[a] = map[axis[a]], p.n[a] = p.m[a].rows, threads[a] = (size_t)p.n[a];
  if (dim == 3) threads[1] = (threads[1] + 1) / 2;
  p.from = gmg_along_columns(dim, from), p.to = gmg_along_columns(dim, to);
  p.tiles = gmg_tiles_of(threads, dim == 3 ? 32 : GMG_THREADS, 32, 2, 4 * (size_t)gmg_device_of(e)->processors);
  gmg_launch(e, "prolongation", dim == 3 ? two_taps_kernel<2> : two_taps_kernel<1>, gmg_shape_of(p.tiles), p, x, y, add);
  return 1;
}

#endif
