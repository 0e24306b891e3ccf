/* PASS_PROLONG in the plane sweep (plane_sweep.cuh, which includes this file). The correction is interpolated as planes are loaded,
   two fine planes per coarse one. The coarse values around the tile are in shared memory: four planes, of which the last are still
   being loaded.

   It is apart from the prolongation of a level (stencil/transfer/cuda/pairs.cuh), which is a pass of its own. Without the legs that
   need it a solve takes up to 1.45 times as long (red_black_double_buffered in docs/notes/variants.md). */
#ifndef GMG_SMOOTHERS_RELAX_CUDA_PLANE_PROLONG_H
#define GMG_SMOOTHERS_RELAX_CUDA_PLANE_PROLONG_H

#include "fused.cuh"
#include "geometry.cuh"

#include <cuda_pipeline.h>

/* A thread's data of the correction, on its columns and on one column of the ring. */
template <int rows, int steps> struct plane_prolongation {
  static constexpr int WIDE = 32 / 2 + 4, HIGH = rows + 3, CELLS = WIDE * HIGH;
  static constexpr int RING = 2 * (32 + 2 * rows); /* maximum number of columns of the ring */
  static constexpr int SLOTS = steps % 4 ? steps : 4; /* unrolled steps must cycle through all slots */
  scalar *slots;
  const scalar *coarse;
  int offset, pitch;    /* offset in a plane of the cell that the thread loads (-1: none); distance between planes */
  int cell, beside;     /* of the own columns: the first of the coarse values around them; step to the next across */
  gmg_pair_weights wx;  /* weights of both columns */
  int ring_at;          /* the cell of the ring's column; from bit 16 on: the sides from which it reads */
  scalar before[2], here[2], ring_before; /* coarse planes K - 1 and K, interpolated across */
  /* In shared memory, because registers are scarce:
     - of_row, per warp, [2]: weights along y of the first and of the second columns;
     - of_ring, [2], RING apart: weights along x and along y of the ring's column;
     - ring_here: plane K at the ring's column. */
  real_pair *of_row, *of_ring;
  scalar *ring_here;

  /* (i, j): the first column; (ri, rj): the column of the ring */
  __device__ __forceinline__ void begin(const update_output &o, const int n[3], const int wraps[3], const int corner[3], int me,
                                        int i, int j, int exists0, int exists1, int ri, int rj, int ring_exists, scalar *memory)
  {
    const int I0 = (corner[0] >> 1) - 2, J0 = (corner[1] >> 1) - 2;
    slots = memory, coarse = o.coarse, pitch = o.layout.plane;
    const int I = I0 + me % WIDE, J = J0 + me / WIDE;
    offset = -1;
    if (me < CELLS && I <= o.map[0].cols + 1 && J <= o.map[1].cols + 1)
      offset = column_offset(o.layout, __ldg(o.map[0].wrap + I), __ldg(o.map[1].wrap + J));
    cell = exists0 || exists1 ? ((j >> 1) - J0) * WIDE + (i >> 1) - I0 : 1;
    beside = 2 * (i & 1) - 1;
    wx = pair_weights_of(o.map[0], i, n[0], wraps[0], exists0 || exists1);
    of_ring = (real_pair *)(memory + SLOTS * CELLS) + me, of_row = (real_pair *)(memory + SLOTS * CELLS) + 2 * RING + me / 32 * 2;
    ring_here = memory + SLOTS * CELLS + 4 * RING + 4 * rows + me;
    if (me % 32 == 1) { /* lane 1 has no columns beyond a wall along x */
      const gmg_pair_weights y0 = pair_weights_of(o.map[1], j, n[1], wraps[1], exists0),
                         y1 = pair_weights_of(o.map[1], j + 1, n[1], wraps[1], exists1);
      of_row[0] = real_pair{y0.own, y0.side}, of_row[1] = real_pair{y1.own, y1.side};
    }
    if (me < RING) {
      const gmg_pair_weights x = pair_weights_of(o.map[0], ri, n[0], wraps[0], ring_exists),
                         y = pair_weights_of(o.map[1], rj, n[1], wraps[1], ring_exists);
      of_ring[0] = real_pair{x.own, x.side}, of_ring[RING] = real_pair{y.own, y.side};
    }
    ring_at = ring_exists ? (((rj >> 1) - J0) * WIDE + (ri >> 1) - I0) | (ri & 1) << 16 | (rj & 1) << 17 : WIDE + 1;
  }

  /* starts to load coarse plane K */
  __device__ __forceinline__ void load(const update_output &o, int wraps, int K, int slot)
  {
    const int nz = o.map[2].cols;
    const int plane = (wraps ? gmg_wrap_once(K, nz, 1) : min(max(K, 0), nz - 1)) * pitch;
    if (offset >= 0) __pipeline_memcpy_async(slots + slot * CELLS + (int)threadIdx.x, coarse + (plane + offset), sizeof(scalar));
  }

  /* the plane in a slot, interpolated across, at the own columns and at the ring's */
  __device__ __forceinline__ void across(int slot, scalar e[2]) const
  {
    const scalar *const at = slots + slot * CELLS + cell;
    const scalar low = wx.own * at[0] + wx.side * at[beside], high = wx.own * at[WIDE] + wx.side * at[WIDE + beside];
    const real_pair wy[2] = {of_row[0], of_row[1]};
    e[0] = wy[0].x * low + wy[0].y * high, e[1] = wy[1].x * high + wy[1].y * low; /* lines 2 J + 1 and 2 J + 2 */
  }
  __device__ __forceinline__ scalar across_ring(int slot) const
  {
    const scalar *const at = slots + slot * CELLS + (ring_at & 0xffff);
    const int ring_x = (ring_at >> 16 & 1) * 2 - 1, ring_y = (ring_at >> 17) * 2 * WIDE - WIDE;
    const real_pair wx = of_ring[0], wy = of_ring[RING]; /* own, side */
    return wy.x * (wx.x * at[0] + wx.y * at[ring_x]) + wy.y * (wx.x * at[ring_y] + wx.y * at[ring_y + ring_x]);
  }

  /* before the first step, whose middle coarse plane is K */
  __device__ __forceinline__ void fill(const update_output &o, int wraps, int K)
  {
    for (int d = -2; d < 2; d++) load(o, wraps, K + 1 + d, (d + SLOTS) % SLOTS);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    across(SLOTS - 2, before), across(SLOTS - 1, here);
    if (threadIdx.x < RING) ring_before = across_ring(SLOTS - 2), *ring_here = across_ring(SLOTS - 1);
    __syncthreads();
    load(o, wraps, K + 3, 2);
    __pipeline_commit();
  }

  /* Adds the correction to the loaded planes 2 K and 2 K + 1, and to those of the ring, which are one earlier unless `late`. w:
     weights of planes 2 K, 2 K + 1 and 2 K - 1; 0 if the plane does not exist. */
  __device__ __forceinline__ void take(int slot, const gmg_pair_weights w[3], int late, scalar u[2][2], scalar beside_u[2])
  {
    scalar e[2];
    across(slot, e);
#pragma unroll
    for (int r = 0; r < 2; r++) {
      u[0][r] += w[0].own * here[r] + w[0].side * before[r];
      u[1][r] += w[1].own * here[r] + w[1].side * e[r];
      before[r] = here[r], here[r] = e[r];
    }
    if (threadIdx.x >= RING) return;
    const scalar own = *ring_here, upper = across_ring(slot), even = w[0].own * own + w[0].side * ring_before;
    beside_u[0] += late ? even : w[2].own * ring_before + w[2].side * own;
    beside_u[1] += late ? w[1].own * own + w[1].side * upper : even;
    ring_before = own, *ring_here = upper;
  }
};

/* Bytes of shared memory. */
template <int HALF_SWEEPS> static constexpr size_t plane_prolong_bytes(void)
{
  typedef plane_shape<HALF_SWEEPS> shape;
  typedef plane_prolongation<shape::rows, shape::steps> prolongation;
  return (prolongation::SLOTS * prolongation::CELLS + 5 * prolongation::RING + 4 * shape::rows) * sizeof(scalar);
}

/* Whether a pass can include prolongation. It requires pairs on all axes, blocks that begin with a pair, and a thread for every
   coarse value around the tile.
   - MAX_PLAIN_FROM: along the columns the weights must repeat from this row on, or earlier, up to the last row but one. Steps
     without checks (plane_sweep::run()) use the repeated weights.
   - MIN_COARSE_PLANES: the last steps load coarse planes up to index cols + 10. On a periodic axis gmg_wrap_once() wraps an index
     only once, so there must be more than 10. */
static inline int planes_can_prolong(const gmg_update_target *to, const gmg_operator *A, const gmg_blocks *b)
{
  enum { MIN_ROWS = 5, MIN_COARSE_PLANES = 16, MAX_PLAIN_FROM = 8 };
  if (!GMG_REAL_F32 && (to->scale || to->keep)) return 0;
  if (A->dim != 3) return 0;
  for (int a = 0; a < 3; a++)
    if (to->prolong[a].pairs_inside != GMG_PAIRS_LINEAR || (a > 0 && b->count[a] > 1 && b->shape[a] % 2)) return 0;
  const gmg_map *along = &to->prolong[2];
  if (along->cols - along->shift < MIN_COARSE_PLANES || along->begin > MAX_PLAIN_FROM) return 0;
  if (along->end < along->rows - 1 || along->period != 2) return 0;
  return plane_rows(b) >= MIN_ROWS;
}

#endif
