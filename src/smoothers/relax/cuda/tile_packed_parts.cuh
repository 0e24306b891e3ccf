/* Parts of packed tiles (tile_packed.cuh, which includes this file): shapes, levels, and the prolongation and restriction of a
   patch.

   They are apart from those of tile.cuh and of the plane sweep, because a thread holds a patch of 2 x 2 columns in registers.
   Without packed tiles a solve takes up to 1.73 times as long (async_tiles_packed in docs/notes/variants.md). */
#ifndef GMG_SMOOTHERS_RELAX_CUDA_TILE_PACKED_PARTS_H
#define GMG_SMOOTHERS_RELAX_CUDA_TILE_PACKED_PARTS_H

#include "core/cuda/atomics.cuh"
#include "core/cuda/pdl.cuh"
#include "fused.cuh"
#include "geometry.cuh"

#include <cuda_pipeline.h>

/* Threads along the axes, unknowns of a thread along the last axis, and minimum of thread blocks per multiprocessor. */
template <int X, int Y, int Z, int HIGH, int BLOCKS> struct packed_shape {
  static constexpr int x = X, y = Y, z = Z, high = HIGH, blocks = BLOCKS, layer = X * Y, threads = X * Y * Z;
  static constexpr int room = threads + X; /* length of an array: threads at the tile's faces read beyond, and ignore these
                                              values */
  static constexpr int reals = 4 * HIGH * room + X, pairs = 2 * HIGH * threads; /* reals of all patches; pairs of the update
                                                                                   target */
  static constexpr int coarse[3] = {X + 2, Y + 2, Z * HIGH / 2 + 2}; /* coarse values around a tile */
  static_assert(coarse[0] * coarse[1] * coarse[2] <= 4 * HIGH * room, "they lie where the patches will");
  static_assert(Z > 1 && HIGH % 2 == 0, "a segment has another beside it, and all begin with the same colour");
};

typedef struct {
  int n[3], around[3], own[3]; /* around: n if the axis is periodic, otherwise 0 */
  int mirrors[3];              /* GMG_MIRRORS_BELOW, GMG_MIRRORS_ABOVE: walls behind which there are images */
  gmg_layout_32 layout;        /* layout of its fields */
  const void *diag[3];
  real shift, coupling[3], weight[GMG_HALF_SWEEPS];
  int sweeps, extra, reversed; /* extra: additional sweeps for a block at an odd seam */
  int keeps_pairs;             /* shared memory has room for pairs of an update target */
  unsigned total;
  const unsigned *order; /* positions of the blocks, PACKED_BITS along each axis */
} packed_level;

enum { PACKED_BITS = 10, PACKED_MASK = (1 << PACKED_BITS) - 1 };

/* Loads a pair, or its first value and 0. An aligned pair is always whole. step: to the second value; shared: other blocks may
   write the pair. */
template <int aligned> static __device__ __forceinline__ real_pair packed_pair(const scalar *at, int step, int whole, int shared)
{
  if (aligned) return shared ? gmg_load_relaxed((const real_pair *)at) : __ldg((const real_pair *)at);
  if (!whole) return shared ? real_pair{gmg_load_relaxed(at), 0} : real_pair{__ldg(at), 0};
  return shared ? real_pair{gmg_load_relaxed(at), gmg_load_relaxed(at + step)} : real_pair{__ldg(at), __ldg(at + step)};
}

/* Couplings of an unknown to its partner, the other unknown of its pair, and to the neighbour on the other side. */
typedef struct {
  real partner, side;
} packed_ties;

/* Those of the first (b = 0) or second (b = 1) unknown of a pair. i: its index. Beside a wall that mirrors, the neighbour inside
   counts twice. Nothing stands behind the wall: in its place there may be any finite value. */
static __device__ __forceinline__ packed_ties packed_ties_of(int b, int i, int n, int mirrors, real coupling)
{
  const int below = i == 0 && mirrors & GMG_MIRRORS_BELOW, above = i == n - 1 && mirrors & GMG_MIRRORS_ABOVE;
  const int partner = b ? below : above, side = b ? above : below; /* which of them is behind a wall */
  return {partner ? 0 : side ? 2 * coupling : coupling, side ? 0 : partner ? 2 * coupling : coupling};
}

/* Adds the correction to a patch. at: the first of the coarse values around it (below, in front, to the left); weights of the
   columns and planes; existing: pairs that exist. */
template <class shape>
static __device__ __forceinline__ void packed_prolong(const scalar *at, const gmg_pair_weights wx[2], const gmg_pair_weights wy[2],
                                                      const gmg_pair_weights wz[shape::high], unsigned existing, scalar *u)
{
  constexpr int HIGH = shape::high, LINE = shape::coarse[0], PLANE = LINE * shape::coarse[1];
  scalar e[3][4]; /* planes K - 2, K - 1 and K, interpolated across */
#pragma unroll
  for (int K = 0; K < HIGH / 2 + 2; K++) {
    const scalar *const v = at + K * PLANE;
#pragma unroll
    for (int d = 0; d < 2; d++)
#pragma unroll
      for (int b = 0; b < 2; b++)
        e[K % 3][2 * d + b] = wy[d].own * (wx[b].own * v[LINE + 1] + wx[b].side * v[LINE + 2 * b]) +
                              wy[d].side * (wx[b].own * v[2 * d * LINE + 1] + wx[b].side * v[2 * d * LINE + 2 * b]);
#pragma unroll
    for (int q = 0; q < 2; q++) {
      const int c = 2 * (K - 2) + q; /* the fine planes of coarse plane K - 1 */
#pragma unroll
      for (int m = 0; m < 4 && c >= 0; m++)
        if (existing & 1u << (m / 2 * HIGH + c))
          u[m * HIGH + c] += wz[c].own * e[(K + 2) % 3][m] + wz[c].side * e[(q ? K : K + 1) % 3][m];
    }
  }
}

/* Adds the contributions of a block's own unknowns to the coarse unknowns of a patch, including those beyond the block's faces. u
   is 0 where it belongs to other blocks.
   - ends: whether the patch is at the lower or upper end of the tile.
   - stored: own pairs; existing: pairs that exist.
   - within: diagonals of the columns without the part along them, less the couplings among the eight unknowns of a coarse one.
     along[0] is added, or along[1] in the planes `wall`. */
template <class shape, class Offset>
static __device__ __forceinline__ void packed_restrict(const packed_level &s, const restriction_output &r, const scalar *tile,
                                                       const scalar *under, const scalar *over, const scalar *u, const scalar *rhs,
                                                       const int ends[2], unsigned stored, unsigned existing, const real within[4],
                                                       const real along[2], unsigned wall, Offset coarse_offset)
{
  constexpr int HIGH = shape::high, X = shape::x, ROOM = shape::room;
#pragma unroll
  for (int q = 0; q < HIGH / 2; q++) {
    scalar sum = 0, beside = 0, behind = 0, ahead = 0;
#pragma unroll
    for (int c = 2 * q; c < 2 * q + 2; c++)
#pragma unroll
      for (int m = 0; m < 4; m++) {
        const int j = m * HIGH + c, b = m & 1, d = m >> 1, jx = (m ^ 1) * HIGH + c, jy = (m ^ 2) * HIGH + c;
        beside += tile[jx * ROOM + (b ? 1 : -1)], behind += tile[jy * ROOM + (d ? X : -X)];
        if (c == 2 * q) ahead += c > 0 ? u[j - (c > 0)] : ends[0] ? (scalar)0 : under[(j + HIGH - 1) * ROOM];
        else ahead += c < HIGH - 1 ? u[j + (c < HIGH - 1)] : ends[1] ? (scalar)0 : over[(j - HIGH + 1) * ROOM];
        sum += rhs[j] - (within[m] + along[wall >> c & 1]) * u[j];
      }
    if (!(stored & 1u << 2 * q)) sum = 0; /* f is set there, too */
    sum += s.coupling[0] * beside + s.coupling[1] * behind + s.coupling[2] * ahead;
    if (existing & 1u << 2 * q && sum != 0) (void)atomicAdd(r.coarse + coarse_offset(2 * q), r.weight * sum);
  }
}

#endif
