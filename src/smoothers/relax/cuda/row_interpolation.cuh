/* Interpolation in the row sweep: of the coarse correction as rows are loaded (PASS_PROLONG), and of the base of x as rows are
   written back (PASS_BASE). Included by row_sweep.cuh. */
#ifndef GMG_SMOOTHERS_RELAX_CUDA_ROW_INTERPOLATION_H
#define GMG_SMOOTHERS_RELAX_CUDA_ROW_INTERPOLATION_H

#include "row_block.cuh"

/* Prolongation in the row sweep. Even rows are loaded in odd steps. The last coarse row that an odd row reads is also read by the
   next row, and is interpolated when the odd row is loaded. */
template <int SLOTS> struct row_prolongation {
  static constexpr int COARSE = SLOTS / 2; /* coarse rows being loaded */
  gmg_row_prolongation weights;
  scalar fetched[COARSE][LANE_PAIRS];
  int offset[LANE_PAIRS];
  gmg_cells before, here;

  __device__ __forceinline__ void load(const update_output &o, int slot, int K)
  {
#pragma unroll
    for (int d = 0; d < LANE_PAIRS; d++)
      fetched[slot][d] =
          K <= o.map[2].cols + 1 ? __ldg(o.coarse + __ldg(o.map[2].wrap + K) * o.layout.plane + offset[d]) : (scalar)0;
  }
  template <class shape> __device__ __forceinline__ void begin(const update_output &o, const row_block<shape> &b)
  {
    const int I = b.i / 2;
#pragma unroll
    for (int d = 0; d < LANE_PAIRS; d++) {
      offset[d] = column_offset(o.layout, I + d <= o.map[0].cols + 1 ? __ldg(o.map[0].wrap + I + d) : 0, 0);
#pragma unroll
      for (int c = 0; c < 2; c++) {
        weights.of[d][c] = {0, 0};
        if (b.x.has(2 * d + c)) weights.of[d][c] = gmg_pair_weights_of(o.map[0], b.x.at(2 * d + c));
      }
    }
  }
  __device__ __forceinline__ void fill(const update_output &o, int first_K)
  {
    load(o, 0, first_K);
    before = {}, here = gmg_prolong_row(weights, fetched[0]);
#pragma unroll
    for (int c = 0; c < COARSE; c++) load(o, c, first_K + 1 + c);
  }
  /* adds the correction to u, row q of the block, in step t */
  template <int checked, class shape>
  __device__ __forceinline__ void add(const uniform_level &s, const update_output &o, const row_block<shape> &b, int t, int q,
                                      gmg_cells &u)
  {
    const int k = checked ? gmg_wrap_once(b.first + q, s.n[2], s.ends[2]) : b.first + q, K = k >> 1, odd = (t + 1) % 2;
    gmg_cells beside = before;
    if (odd) {
      beside = gmg_prolong_row(weights, fetched[t / 2]);
      load(o, t / 2, ((b.first + q) >> 1) + 1 + COARSE);
    }
    gmg_pair_weights w = {0, 0};
    if (!checked || b.is_row(q)) w = gmg_pair_weights_of(o.map[2], o.along, K, odd);
#pragma unroll
    for (int c = 0; c < LANE_COLS; c++) u.at[c] += w.own * here.at[c] + w.side * beside.at[c];
    if (odd) before = here, here = beside;
  }
};

/* The base of x (PASS_BASE), which is interpolated as rows are written back: first between two coarse rows, then along the row.
   Even rows are written in odd steps. */
struct row_base {
  typedef base_weights all_weights[LANE_COLS][32 * BLOCK_WARPS];
  all_weights *weights;                                              /* along the row, in shared memory */
  double before[LANE_PAIRS], here[LANE_PAIRS], fetched[LANE_PAIRS]; /* of three coarse rows, the last one being loaded */

  __device__ __forceinline__ void load(const update_output &o, const int offset[LANE_PAIRS], int K)
  {
#pragma unroll
    for (int d = 0; d < LANE_PAIRS; d++)
      fetched[d] = K <= o.map[2].cols + 1 ? __ldg(o.base.coarse + (__ldg(o.map[2].wrap + K) * o.layout.plane + offset[d])) : 0;
  }
  /* k: the row of the level that the first step writes, if it exists. It is odd. */
  template <class shape>
  __device__ __forceinline__ void begin(const update_output &o, const row_block<shape> &b, const int offset[LANE_PAIRS], int k,
                                        all_weights *memory)
  {
    weights = memory;
#pragma unroll
    for (int d = 0; d < LANE_PAIRS; d++) before[d] = here[d] = 0;
#pragma unroll
    for (int c = 0; c < LANE_COLS; c++)
      (*weights)[c][threadIdx.x] = b.x.has(c) ? base_weights_of(o, 0, b.x.at(c)) : base_weights{0, 0};
    load(o, offset, (k + 1) >> 1);
  }
  /* the base of row k of the level, in step t */
  template <int checked>
  __device__ __forceinline__ update_cells take(const update_output &o, const int offset[LANE_PAIRS], int t, int k, int n)
  {
    const int odd = (t + 1) % 2;
    base_weights w = o.base.along[odd];
    if (checked) w = k >= 0 && k < n ? base_weights_of(o, 2, k) : base_weights{0, 0};
    double row[LANE_PAIRS];
#pragma unroll
    for (int d = 0; d < LANE_PAIRS; d++) {
      row[d] = w.own * here[d] + w.side * (odd ? fetched[d] : before[d]);
      if (odd) before[d] = here[d], here[d] = fetched[d];
    }
    if (odd) load(o, offset, (k + 3) >> 1);
    const double left = __shfl_up_sync(~0u, row[LANE_PAIRS - 1], 1), right = __shfl_down_sync(~0u, row[0], 1);
    update_cells x;
#pragma unroll
    for (int c = 0; c < LANE_COLS; c++) {
      const int own = c / 2, side = c % 2 ? own + 1 : own - 1;
      const base_weights along = (*weights)[c][threadIdx.x];
      x.at[c] = along.own * row[own] + along.side * (side < 0 ? left : side < LANE_PAIRS ? row[side] : right);
    }
    return x;
  }
};

#endif
