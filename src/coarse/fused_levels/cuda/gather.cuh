/* Restriction to the next coarser level: first in the planes of a block, then along the last axis. Included by legs.cuh. */
#ifndef GMG_COARSE_FUSED_LEVELS_CUDA_GATHER_H
#define GMG_COARSE_FUSED_LEVELS_CUDA_GATHER_H

#include "pairs.cuh"

/* The share of a lane in the residual at (I, J), restricted in plane k: every `lanes`-th line. If residuals are averages, r has
   sums of pairs. */
template <int beyond_walls, int lanes>
static __device__ __forceinline__ scalar restricted_in_plane(const small_level &L, const real *tables, const scalar *plane, int k,
                                                             int I, int J, int lane)
{
  const taps &t = L.restrict_;
  const int *const ints = (const int *)tables;
  const int i0 = ints[t.first[0] + I], j0 = ints[t.first[1] + J];
  scalar sum = 0;
  if (L.averaged) return lane < 2 ? (real)0.25 * plane[(2 * J + lane) * L.half + I] : (scalar)0;
#pragma unroll 1
  for (int s = lane; s < t.taps[1]; s += lanes) {
    const int j = wrapped<beyond_walls>(j0 + s, L.n[1]), odd = (j + k) & 1;
    const scalar *const line = plane + j * L.half;
    scalar part = 0;
#pragma unroll
    for (int m = 0; m < MAX_TAPS; m++) {
      const int column = wrapped<beyond_walls>(i0 + (m < t.taps[0] ? m : 0), L.n[0]);
      if (m < FEW_TAPS || m < t.taps[0])
        part += tables[t.weight[0] + I * MAX_TAPS + m] * line[((column ^ odd) & 1) * L.inner + (column >> 1)];
    }
    sum += tables[t.weight[1] + J * MAX_TAPS + s] * part;
  }
  return sum;
}

/* Restricts the planes of the block, but not along the last axis. r: their residual. lanes: threads that compute a value together.
   One thread would spend most of its time waiting for what it loads; too many take several rounds. */
template <int beyond_walls, int lanes>
static __device__ __forceinline__ void restrict_in_planes(const small_level &L, const small_level &C, const real *tables,
                                                          const scalar *r, scalar *to)
{
  const int begin = begin_of(L), size = C.n[0] * C.n[1], values = planes_of(L) * size, lane = (int)threadIdx.x % lanes;
#pragma unroll 1
  for (int first = 0; first < values; first += THREADS / lanes) {
    const int c = first + (int)threadIdx.x / lanes, k = min(c, values - 1) / size, at = min(c, values - 1) - k * size;
    const int J = at / C.n[0];
    const scalar *const plane = r + k * L.n[1] * L.half;
    const scalar part = restricted_in_plane<beyond_walls, lanes>(L, tables, plane, begin + k, at - J * C.n[0], J, lane);
    const scalar value = gmg_lanes_sum<lanes>(part);
    if (c < values && lane == 0) to[c] = value;
  }
}

/* The sum along the last axis for coarse plane K. value(k): what plane k has, restricted in itself. */
template <int beyond_walls, class Value>
static __device__ __forceinline__ scalar restricted_along(const small_level &L, const real *tables, int K, Value value)
{
  const taps &t = L.restrict_;
  const int k0 = ((const int *)tables)[t.first[2] + K];
  scalar sum = 0;
#pragma unroll
  for (int q = 0; q < MAX_TAPS; q++)
    if (q < t.taps[2]) sum += tables[t.weight[2] + K * MAX_TAPS + q] * value(wrapped<beyond_walls>(k0 + q, L.n[2]));
  return sum;
}

/* Computes f of the first level that every block has as a whole, C, in all blocks. Each restricts in its own planes, and sends them
   to all. Then each restricts along the last axis. exact: f is stored in natural order (exact.cuh). */
template <int beyond_walls, int exact>
static __device__ __forceinline__ void gather_restricted(const fused_state &s, const small_level &L, const small_level &C,
                                                         const real *tables, scalar *memory)
{
  const int begin = begin_of(L), size = C.n[0] * C.n[1], cells = size * C.n[2];
  /* of level L, restricted along the other axes. Another block may already send those of the next visit: the exact level has a
     round in between, and other levels have room for two visits */
  scalar *const planes = memory + s.gathered + (exact ? 0 : (rounds & 1) * L.n[2] * size);
  if (!begins_fresh(beyond_walls, &C))
    for (unsigned c = threadIdx.x; c < 2 * C.colour; c += THREADS) memory[C.u + c] = 0;
  __syncthreads();
  restrict_in_planes<beyond_walls, 4>(L, C, tables, memory + s.r, planes + begin * size);
  gather(s.blocks, planes, begin * size, planes_of(L) * size, L.n[2] * size);
#pragma unroll 1
  for (int c = (int)threadIdx.x; c < (exact ? (int)s.pitch : cells); c += THREADS) { /* from the last unknown on: 0 */
    const int K = min(c / size, C.n[2] - 1);
    const scalar sum = restricted_along<beyond_walls>(L, tables, K, [&](int k) { return planes[k * size + c - K * size]; });
    if (exact) memory[s.exact_f + c] = c < cells ? sum : (scalar)0;
    else memory[C.f + cell_of(C, c).inner] = sum;
  }
  __syncthreads();
}

#endif
