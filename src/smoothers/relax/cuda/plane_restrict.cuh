/* PASS_RESTRICT in the plane sweep (plane_sweep.cuh, which includes this file): the contributions of a thread's columns to the
   coarse level (fused.cuh). A self-contained block knows the final values beside its own unknowns. It computes its coarse values
   completely, and writes each once, so results are bitwise reproducible.

   It is apart from row_restrict.cuh and the packed tiles, whose threads hold other columns. Without it a solve takes up to 1.10
   times as long (async_planes_restrict and red_black_restrict in docs/notes/variants.md). */
#ifndef GMG_SMOOTHERS_RELAX_CUDA_PLANE_RESTRICT_H
#define GMG_SMOOTHERS_RELAX_CUDA_PLANE_RESTRICT_H

#include "fused.cuh"

/* A thread has two lines: the upper one of a coarse line, and the lower one of the next. It passes the contribution of the former
   to the thread in front, through shared memory. Every second pair of adjacent lanes shares a coarse value; the other pairs are
   neighbours across a face. Every step receives the upper plane of coarse plane m and the lower plane of m + 1. */
template <int threads, int self_contained> struct plane_restriction {
  static constexpr int GIVEN = threads + 32, REALS = 2 * GIVEN;
  scalar *given; /* [2][GIVEN]: contributions to the thread in front, by parity of the step; the foremost warp gets 0 */
  real inner[2];            /* D of the two lines, away from walls along the columns */
  scalar plane[2], values[2]; /* contribution of the lower plane to coarse plane m; its values */
  scalar mine;                /* contribution of the previous step, including that of the thread in front */
  int offset[2];            /* offset of the coarse value of the second line and, in the foremost thread, of the first; -1: none */
  int partner;              /* lane that shares the coarse value; -1: none */

  /* (i, j): first line; corner and own: of the block */
  __device__ __forceinline__ void begin(const restriction_output &r, const int wraps[3], const int corner[3], const int own[3],
                                        int me, int i, int j, real inner0, real inner1, scalar *memory)
  {
    const int lane = me % 32, I = i >> 1,
              counts = (lane % 2 || lane == 0) && 2 * I <= corner[0] + own[0] && gmg_index_exists(I, r.layout.n[0], wraps[0]);
    const auto is_own = [&](int a, int K) { return 2 * K >= corner[a] && 2 * K < corner[a] + own[a]; };
    given = memory + me, inner[0] = inner0, inner[1] = inner1;
    plane[0] = plane[1] = values[0] = values[1] = mine = 0;
    partner = lane % 2 ? lane + 1 : lane - 1;
    if (partner == 32) partner = -1;
    for (int line = 0; line < 2; line++) {
      const int J = (j + line) >> 1;
      const int there =
          counts && 2 * J <= corner[1] + own[1] && gmg_index_exists(J, r.layout.n[1], wraps[1]) && (line == 1 || me < 32);
      const int column = gmg_wrap_once(I, r.layout.n[0], wraps[0]), row = gmg_wrap_once(J, r.layout.n[1], wraps[1]);
      offset[line] = -1;
      if (there && (!self_contained || (is_own(0, I) && is_own(1, J)))) offset[line] = (int)gmg_offset_32(r.layout, column, row, 0);
    }
    for (int x = 0; x < 2; x++) given[x * GIVEN] = given[x * GIVEN + 32] = 0;
  }

  static __device__ __forceinline__ void put(scalar *at, scalar value)
  {
    if (self_contained) *at = value;
    else (void)atomicAdd(at, value);
  }
  __device__ __forceinline__ void add(const restriction_output &r, scalar value, int line, int base) const
  {
    const scalar other = __shfl_sync(~0u, value, partner & 31);
    if (base < 0 || offset[line] < 0) return;
    put(r.coarse + (base + offset[line]), r.weight * (value + (partner >= 0 ? other : (scalar)0)));
  }

  /* adds the contributions of the previous step to coarse plane K; checked: which may not exist */
  template <int checked> __device__ __forceinline__ void give(const restriction_output &r, int wraps, int K, int step, int me) const
  {
    const scalar *const before = given + (step + 1) % 2 * GIVEN;
    const int exists = !checked || gmg_index_exists(K, r.layout.n[2], wraps);
    const int base = exists ? (checked ? gmg_wrap_once(K, r.layout.n[2], wraps) : K) * (int)gmg_pitch_32(r.layout, 2) : -1;
    add(r, mine + before[32], 1, base);
    if (!self_contained && me < 32) add(r, before[0], 0, base);
  }

  /* u and f of two planes and two lines; 0 outside the block's own (if self-contained, u is also set there); more: additional
     diagonal at walls along the columns */
  __device__ __forceinline__ void take(const real coupling[3], const scalar u[2][2], const scalar f[2][2], const real more[2],
                                       int step)
  {
    scalar gives[2][2], upper[2];
#pragma unroll
    for (int d = 0; d < 2; d++)
#pragma unroll
      for (int line = 0; line < 2; line++)
        gives[d][line] =
            f[d][line] - (inner[line] + more[d]) * u[d][line] + (coupling[1] * u[d][1 - line] + coupling[2] * u[1 - d][line]);
#pragma unroll
    for (int line = 0; line < 2; line++) {
      const scalar across = __shfl_xor_sync(~0u, values[line] + u[0][line], 1);
      upper[line] = plane[line] + gives[0][line] + coupling[0] * across;
      plane[line] = gives[1][line], values[line] = u[1][line];
    }
    given[step % 2 * GIVEN] = upper[0], mine = upper[1];
  }
};

#endif
