/* PASS_BASE in the plane sweep (plane_sweep.cuh, which includes this file). The base is interpolated as planes are written back.
   Its coarse values around the tile are in shared memory, in the places that those of the correction have (plane_prolong.cuh). Axes
   are coarsened in pairs. */
#ifndef GMG_SMOOTHERS_RELAX_CUDA_PLANE_BASE_H
#define GMG_SMOOTHERS_RELAX_CUDA_PLANE_BASE_H

#include "plane_prolong.cuh"

template <int rows, int steps> struct plane_base {
  typedef plane_prolongation<rows, steps, 1> prolongation;
  static constexpr int CELLS = prolongation::CELLS, WIDE = prolongation::WIDE, SLOTS = prolongation::SLOTS;
  typedef struct {
    base_weights w[32 + 2 * rows]; /* of the columns of a warp, and of the lines of all warps */
    double slot[SLOTS][CELLS];     /* coarse planes */
  } memory;
  memory *shared;
  double before[2]; /* the last coarse plane, interpolated across, at both columns */

  static __device__ __forceinline__ int column(void) { return (int)threadIdx.x % 32; }
  static __device__ __forceinline__ int line(void) { return 32 + (int)threadIdx.x / 32 * 2; }

  /* (i, j): the first column; to: shared memory */
  __device__ __forceinline__ void begin(const update_output &o, const int n[3], const int ends[3], int i, int j, scalar *to)
  {
    memory *const m = (memory *)to;
    const auto weights_of = [&](int a, int x) {
      return gmg_index_exists(x, n[a], ends[a]) ? base_weights_of(o, a, gmg_wrap_once(x, n[a], ends[a])) : base_weights{0, 0};
    };
    shared = m, before[0] = before[1] = 0;
    if (threadIdx.x < 32) m->w[column()] = weights_of(0, i);
    if (column() < 2) m->w[line() + column()] = weights_of(1, j + column());
  }

  /* starts to load coarse plane K. Beyond a wall it is any plane: its weight is 0. */
  __device__ __forceinline__ void load(const update_output &o, const prolongation &at, int wraps, int K, int slot) const
  {
    const int n = o.map[2].cols, plane = min(max(gmg_wrap_once(K, n, wraps), 0), n - 1) * o.layout.plane;
    if (at.offset >= 0)
      __pipeline_memcpy_async(&shared->slot[slot][threadIdx.x], o.base.coarse + (plane + at.offset), sizeof(double));
  }

  /* the plane in a slot, interpolated across, at both columns. The first one is in an odd line. */
  __device__ __forceinline__ void across(const prolongation &at, int slot, double e[2]) const
  {
    const double *const c = shared->slot[slot] + at.cell;
    const base_weights x = shared->w[column()], y[2] = {shared->w[line()], shared->w[line() + 1]};
    const double low = x.own * c[0] + x.side * c[at.beside], next = x.own * c[WIDE] + x.side * c[WIDE + at.beside];
    e[0] = y[0].own * low + y[0].side * next, e[1] = y[1].own * next + y[1].side * low;
  }

  /* the base in planes k and k + 1 of the level, of which the first is odd; e: coarse plane (k + 1) / 2, from across() */
  template <int checked>
  __device__ __forceinline__ void take(const update_output &o, int k, int n, const double e[2], double x[2][2])
  {
#pragma unroll
    for (int d = 0; d < 2; d++) {
      base_weights w = o.base.along[1 - d];
      if (checked) w = k + d >= 0 && k + d < n ? base_weights_of(o, 2, k + d) : base_weights{0, 0};
#pragma unroll
      for (int r = 0; r < 2; r++) x[d][r] = d ? w.own * e[r] + w.side * before[r] : w.own * before[r] + w.side * e[r];
    }
    before[0] = e[0], before[1] = e[1];
  }
};

#endif
