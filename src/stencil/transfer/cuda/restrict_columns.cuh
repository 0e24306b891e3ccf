/* Restriction of the residual in 3D by maps whose rows read up to five columns, whatever the sizes and the weights. It is one pass,
   and the residual is not stored. A thread block walks along the last axis. It computes a plane of residuals (Columns, for example
   those of operator/cuda/lane_columns.cuh). Every thread keeps the last residuals of its columns. As soon as a coarse plane is
   complete along the last axis, it restricts them along this axis, and then in the plane, through shared memory. There every
   coarse unknown has a thread.

   pairs.cuh stays apart for nested cells, whose coarse unknowns share no residuals. Included by restrictions of operators. */
#ifndef GMG_STENCIL_TRANSFER_CUDA_RESTRICT_COLUMNS_H
#define GMG_STENCIL_TRANSFER_CUDA_RESTRICT_COLUMNS_H

#include "core/cuda/pdl.cuh"
#include "stencil/grid/map.h"
#include "stencil/operator/cuda/lane_columns.cuh"

/* READS: columns of a row, for most maps. MOST_READS: at most; a few rows have so many where a coarse interval is longer than two
   fine ones. MOST_PLANES: coarse planes of a thread block, at most. MOST_SLOTS: coarse unknowns of a thread in a
   plane, at most. RESIDENT: thread blocks of a multiprocessor. */
enum {
  READS = 4,
  MOST_READS = 5,
  RESTRICT_THREADS = GMG_TILE_LINES / LANE_DEEP * LANES,
  MOST_PLANES = 64,
  MOST_SLOTS = (GMG_TILE_COLUMNS * GMG_TILE_LINES + RESTRICT_THREADS - 1) / RESTRICT_THREADS,
  RESIDENT = sizeof(scalar) == 8 ? 1 : 2
};

typedef struct {
  gmg_map m[3];
  int own[3];        /* coarse unknowns of a thread block along each axis */
  unsigned count[3]; /* thread blocks along each axis */
  gmg_layout to;
} restriction_tiles;

/* The weights of a row, with zeros in front or behind. Columns with weight 0 may be read, whatever they are. */
template <int reads> struct alignas(reads > READS ? sizeof(real) : READS * sizeof(real)) row_weights {
  real at[reads];
};

template <int reads> static __device__ __forceinline__ row_weights<reads> weights_of(const gmg_map &m, int row, int before)
{
  row_weights<reads> w = {};
#pragma unroll
  for (int c = 0; c < reads; c++)
    if (c >= before && c < before + m.width) w.at[c] = gmg_at(m.weight, (size_t)row * m.width + (c - before));
  return w;
}

/* The sum of the weights times value(0), value(1) and so on. */
template <int reads, class Value> static __device__ __forceinline__ scalar weighted(const row_weights<reads> &w, Value value)
{
  scalar sum = w.at[0] * value(0);
#pragma unroll
  for (int c = 1; c < reads; c++) sum += w.at[c] * value(c);
  return sum;
}

template <int reads> struct restriction_tile {
  scalar plane[2][GMG_TILE_LINES + reads][LANES]; /* residuals, restricted along the last axis, by parity of the coarse plane;
                                                     GMG_TILE_COLUMNS of a line are right. The last `reads` lines are 0, for
                                                     columns with weight 0 */
  row_weights<reads> x[GMG_TILE_COLUMNS], y[GMG_TILE_LINES], z[MOST_PLANES];
  int due[MOST_PLANES + 1]; /* the plane before which a coarse plane is complete */
};

/* The sum over the lines and columns from `from` on. */
template <int reads_x, int reads_y, int reads>
static __device__ __forceinline__ scalar restricted_in_plane(const row_weights<reads> &x, const row_weights<reads> &y,
                                                             const scalar *from)
{
  scalar sum = 0;
#pragma unroll
  for (int b = 0; b < reads_y; b++) {
    scalar line = 0;
#pragma unroll
    for (int a = 0; a < reads_x; a++) line += x.at[a] * from[b * LANES + a];
    sum += y.at[b] * line;
  }
  return sum;
}

/* slots: coarse unknowns of a thread in a plane; reads_x, reads_y: columns of a row along the first two axes, at most; reads: along
   any axis */
template <class Columns, int slots, int reads_x, int reads_y, int reads = READS>
static __global__ void __launch_bounds__(RESTRICT_THREADS, RESIDENT)
    restrict_columns_kernel(typename Columns::operator_type A, restriction_tiles t, const scalar *f, const scalar *u,
                            scalar *coarse)
{
  __shared__ restriction_tile<reads> tile;
  const int me = (int)threadIdx.x, lane = me % LANES, warp = me / LANES;
  const unsigned block[3] = {blockIdx.x % t.count[0], blockIdx.x / t.count[0] % t.count[1], blockIdx.x / t.count[0] / t.count[1]};
  int begin[3], own[3], first[3];
#pragma unroll
  for (int a = 0; a < 3; a++) {
    begin[a] = (int)block[a] * t.own[a], own[a] = min(t.own[a], t.m[a].rows - begin[a]);
    first[a] = __ldg(t.m[a].first + begin[a]);
  }
  for (int h = me; h < 2 * reads * LANES; h += RESTRICT_THREADS)
    tile.plane[h / (reads * LANES)][GMG_TILE_LINES + h / LANES % reads][lane] = 0;
  if (me < own[0]) tile.x[me] = weights_of<reads>(t.m[0], begin[0] + me, 0);
  if (me < own[1]) tile.y[me] = weights_of<reads>(t.m[1], begin[1] + me, 0);
  if (me < own[2]) {
    tile.z[me] = weights_of<reads>(t.m[2], begin[2] + me, reads - t.m[2].width);
    tile.due[me] = __ldg(t.m[2].first + begin[2] + me) + t.m[2].width;
  }
  if (me == own[2]) tile.due[me] = INT_MAX;
  /* a thread's coarse unknowns: rows of weights along the first two axes, the first value that they read, the offset in a plane */
  int row[slots][2], source[slots], offset[slots];
#pragma unroll
  for (int s = 0; s < slots; s++) {
    const int q = me + s * RESTRICT_THREADS;
    row[s][1] = q / own[0], row[s][0] = q - row[s][1] * own[0];
    offset[s] = -1;
    if (row[s][1] >= own[1]) continue;
    const int I = begin[0] + row[s][0], J = begin[1] + row[s][1];
    source[s] = (__ldg(t.m[1].first + J) - first[1]) * LANES + __ldg(t.m[0].first + I) - first[0] + 1;
    offset[s] = (int)gmg_offset(t.to, (size_t)I, (size_t)J, 0);
  }
  gmg_wait_for_predecessor();
  Columns columns(A, f, u, first[0] - 1 + lane, first[1] + warp * LANE_DEEP);
  __syncthreads();
  const int end = tile.due[own[2] - 1];
  const size_t slice = gmg_pitch(t.to, 2);
  scalar *to = coarse + begin[2] * slice;
  int K = 0, due = tile.due[0]; /* the next coarse plane */
  columns.begin(first[2], end);
  constexpr int turns = Columns::PLANES;
  scalar last[reads][LANE_DEEP] = {}; /* residuals of the planes up to this one */
  for (int k0 = first[2]; k0 < end; k0 += turns)
#pragma unroll
    for (int turn = 0; turn < turns; turn++) {
      const int k = k0 + turn;
      if (k >= end) break;
#pragma unroll
      for (int c = 0; c + 1 < reads; c++)
#pragma unroll
        for (int d = 0; d < LANE_DEEP; d++) last[c][d] = last[c + 1][d];
      columns.residual(k, turn, last[reads - 1]);
      for (; due == k + 1; due = tile.due[++K], to += slice) {
        const row_weights<reads> wz = tile.z[K];
        scalar(*const plane)[LANES] = tile.plane[K & 1];
#pragma unroll
        for (int d = 0; d < LANE_DEEP; d++) plane[warp * LANE_DEEP + d][lane] = weighted(wz, [&](int c) { return last[c][d]; });
        __syncthreads();
#pragma unroll
        for (int s = 0; s < slots; s++) {
          if (offset[s] < 0) continue;
          const row_weights<reads> wx = tile.x[row[s][0]], wy = tile.y[row[s][1]];
          to[offset[s]] = restricted_in_plane<reads_x, reads_y>(wx, wy, plane[0] + source[s]);
        }
      }
    }
}

/* Cuts the coarse level into blocks of about equal size, with at most `most` coarse unknowns in a plane. Along the last axis it
   takes the number with the fewest steps in all, if so many blocks are `resident` at once, and each takes a step per plane. */
static inline void cut_restriction(int most, int resident, restriction_tiles *t)
{
  const auto cut = [&](int a, int blocks) {
    const int rows = t->m[a].rows;
    t->own[a] = (rows + blocks - 1) / blocks;
    t->count[a] = (unsigned)((rows + t->own[a] - 1) / t->own[a]);
    return (long)t->count[a];
  };
  const auto blocks_of = [&](int a, int most) { return (t->m[a].rows + most - 1) / most; };
  (void)cut(0, blocks_of(0, t->m[0].rows_in_tile[0])), (void)cut(1, blocks_of(1, t->m[1].rows_in_tile[1]));
  for (int blocks = (int)t->count[1]; t->own[0] * t->own[1] > most; blocks++) (void)cut(1, blocks);
  const long columns = (long)t->count[0] * t->count[1];
  const int least = blocks_of(2, MOST_PLANES), step = (t->m[2].cols + t->m[2].rows - 1) / t->m[2].rows;
  long best = LONG_MAX;
  int parts = least;
  for (int p = least; p <= t->m[2].rows && p < least + MOST_PLANES; p++) {
    const long blocks = columns * cut(2, p), planes = (long)t->own[2] * step + READS;
    const long steps = (blocks + resident - 1) / resident * planes;
    if (steps < best) best = steps, parts = p;
  }
  (void)cut(2, parts);
}

/* Returns 1 if done, and 0 if the kernel does not apply. */
template <class Columns>
static int restrict_columns(const gmg_exec *e, const gmg_operator *A, const typename Columns::operator_type &rows,
                            const gmg_map map[3], const void *f, const void *u, void *coarse)
{
  restriction_tiles t = {};
  if (A->dim != 3 || A->caller_layouts || !gmg_has_lane_columns(gmg_layout_of(A))) return 0;
  for (int a = 0; a < 3; a++) {
    if (map[a].width > MOST_READS || (a < 2 && map[a].rows_in_tile[a] == 0)) return 0;
    t.m[a] = map[a];
  }
  t.to = gmg_layout_of_rows(map);
  const int wide[2] = {map[0].width, map[1].width}, few = wide[0] <= 2 && wide[1] <= 2, one = wide[0] == 1 || wide[1] == 1;
  const int more = wide[0] > READS || wide[1] > READS || map[2].width > READS;
  const int slots = more ? 1 : few ? MOST_SLOTS : one ? 2 : 1, three = wide[0] <= 3 && wide[1] <= 3 && map[2].width <= 3;
  cut_restriction(slots * RESTRICT_THREADS, RESIDENT * gmg_device_of(e)->processors, &t);
  const int fits = t.own[0] * t.own[1] <= RESTRICT_THREADS;
  const auto kernel = more             ? restrict_columns_kernel<Columns, 1, MOST_READS, MOST_READS, MOST_READS>
                      : few && fits      ? restrict_columns_kernel<Columns, 1, 2, 2>
                      : few            ? restrict_columns_kernel<Columns, MOST_SLOTS, 2, 2>
                      : wide[0] == 1   ? restrict_columns_kernel<Columns, 2, 1, READS>
                      : wide[1] == 1   ? restrict_columns_kernel<Columns, 2, READS, 1>
                      : three          ? restrict_columns_kernel<Columns, 1, 3, 3, 3>
                                       : restrict_columns_kernel<Columns, 1, READS, READS>;
  gmg_launch_early(e, "restriction", kernel, {dim3(t.count[0] * t.count[1] * t.count[2]), dim3(RESTRICT_THREADS), 0}, rows, t, f,
                   u, coarse);
  return 1;
}

#endif
