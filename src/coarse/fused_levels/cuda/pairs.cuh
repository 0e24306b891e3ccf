/* Which planes of a fused level belong to a block, and which pair of unknowns to a thread. Included by relax.cuh, gather.cuh and
   tables.cuh. */
#ifndef GMG_COARSE_FUSED_LEVELS_CUDA_PAIRS_H
#define GMG_COARSE_FUSED_LEVELS_CUDA_PAIRS_H

#include "blocks.cuh"

/* Whether a level has an odd periodic axis a. */
static __host__ __device__ __forceinline__ int has_seam(const small_level &L, int a) { return L.ends[a] & GMG_WRAPS && L.n[a] % 2; }

/* A block's own planes of a level. Computed at create, because a warp would spend more time on it than on a sweep. */
struct alignas(16) own_planes {
  int begin, planes;
  unsigned incoming[2]; /* bytes that other blocks send in the step of a colour, for the two adjacent planes */
  unsigned late[2];     /* bytes of a colour that arrive across a seam, in the step after its own */
};

static __shared__ own_planes planes_of_level[GMG_BOTTOM_LEVELS];

static __device__ __forceinline__ int first_plane(const small_level &L) { return L.blocks > 1 ? (int)blockIdx.x * L.depth : 0; }
static __device__ __forceinline__ int count_planes(const small_level &L) { return max(min(L.n[2] - first_plane(L), L.depth), 0); }

static __device__ __forceinline__ void find_own_planes(const small_level &L, own_planes *to)
{
  const int begin = first_plane(L), planes = count_planes(L), end = begin + planes, cells = L.n[0] * L.n[1];
  const int shared = L.blocks > 1 && planes > 0, wraps = L.ends[2] & GMG_WRAPS, seam = has_seam(L, 2);
  to->begin = begin, to->planes = planes;
  to->incoming[0] = to->incoming[1] = to->late[0] = to->late[1] = 0;
  for (int side = 0; side < 2; side++) {
    const int at_end = side ? end == L.n[2] : begin == 0, k = side ? (at_end ? 0 : end) : (at_end ? L.n[2] : begin) - 1;
    for (int colour = 0; colour < 2; colour++) {
      const unsigned bytes = (unsigned)((cells + 1 - ((k + colour) & 1)) / 2) * (unsigned)sizeof(scalar);
      if (!shared || (at_end && !wraps)) continue;
      if (at_end && seam) to->late[colour] += bytes, to->incoming[1 - colour] += bytes;
      else to->incoming[colour] += bytes;
    }
  }
}

static __device__ __forceinline__ int begin_of(const small_level &L) { return planes_of_level[L.number].begin; }
static __device__ __forceinline__ int planes_of(const small_level &L) { return planes_of_level[L.number].planes; }

/* --- assignment of pairs to threads ---------------------------------------------------------------------------------- */

/* Unknowns 2 p and 2 p + 1 of line j in plane k of the block. They have different colours. */
typedef struct {
  int p, j, k;
} pair_place;

/* a / b for 0 <= a < 2^20, given 1 / b */
static __device__ __forceinline__ int divided(int a, float per_b) { return (int)(((float)a + 0.5f) * per_b); }

static __device__ __forceinline__ int pairs_of(const small_level &L, int planes) { return L.half * L.n[1] * planes; }

static __device__ __forceinline__ pair_place place_of(const small_level &L, int q)
{
  const int line = divided(q, L.per_half), k = divided(line, L.per_lines);
  return {q - line * L.half, line - k * L.n[1], k};
}

/* Position of a pair in u, the same for both colours. */
static __device__ __forceinline__ int entry_of(const small_level &L, pair_place at)
{
  return (at.k + 1) * L.plane + (L.line ? at.j + 1 : 0) * L.half + at.p;
}

/* A single unknown of a level that every block has as a whole. */
typedef struct {
  int at[3], place, inner; /* place: position in u; inner: position in f */
} cell_place;

static __device__ __forceinline__ cell_place cell_at(const small_level &L, int i, int j, int k)
{
  const int colour = (i + j + k) & 1, pair = (k * L.n[1] + j) * L.half + (i >> 1);
  return {{i, j, k}, colour * (int)L.colour + entry_of(L, {i >> 1, j, k}), colour * (int)L.inner + pair};
}

static __device__ __forceinline__ cell_place cell_of(const small_level &L, int c)
{
  const int line = c / L.n[0], k = line / L.n[1];
  return cell_at(L, c - line * L.n[0], line - k * L.n[1], k);
}

/* Calls body(exists, colour, i, place) for every unknown of `planes` planes, starting at plane `begin`; exists: whether there is an
   unknown. */
template <class Body> static __device__ __forceinline__ void each_unknown(const small_level &L, int begin, int planes, Body body)
{
  const int pairs = pairs_of(L, planes);
#pragma unroll 1
  for (int c = (int)threadIdx.x; c < 2 * pairs; c += THREADS) {
    const int colour = c >= pairs;
    const pair_place at = place_of(L, c - colour * pairs);
    const int i = 2 * at.p + ((at.j + begin + at.k + colour) & 1);
    body(i < L.n[0], colour, i, at);
  }
}

static __device__ __forceinline__ int side_of(int i, int n) { return i == 0 ? 0 : i == n - 1 ? 2 : 1; }
static __device__ __forceinline__ int class_at(const small_level &L, const int at[3])
{
  return (side_of(at[2], L.n[2]) * 3 + side_of(at[1], L.n[1])) * 3 + side_of(at[0], L.n[0]);
}

/* An index that may be outside a periodic axis of n unknowns by less than n. With n = 0 it stays as it is, and if there is nothing
   beyond walls. */
template <int beyond_walls> static __device__ __forceinline__ int wrapped(int i, int n)
{
  return !beyond_walls ? i : i < 0 ? i + n : i >= n ? i - n : i;
}

/* The control volume of an unknown over that of an inner one. At a wall that mirrors it is half as large. */
static __device__ __forceinline__ double relative_volume(const small_level &L, const int at[3])
{
  double volume = 1;
  for (int a = 0; a < 3; a++)
    if ((at[a] == 0 && L.ends[a] & GMG_MIRRORS_BELOW) || (at[a] == L.n[a] - 1 && L.ends[a] & GMG_MIRRORS_ABOVE)) volume *= 0.5;
  return volume;
}

/* The neighbour of an unknown along axis 0 outside its pair: the step to it in the other colour's u, and the coupling. second:
   whether it is the second unknown of the pair; first, last: whether it is at an end of the axis. */
typedef struct {
  int step;
  real coupling;
} outer_neighbour;

static __device__ __forceinline__ outer_neighbour outer_of(const small_level &L, int second, int first, int last)
{
  const int outward = second ? 1 : -1, at_end = second ? last : first;
  const int mirrors = L.ends[0] & (second ? GMG_MIRRORS_ABOVE : GMG_MIRRORS_BELOW), wraps = L.ends[0] & GMG_WRAPS;
  const real x = L.coupling[0];
  if (at_end) return {mirrors ? 0 : wraps ? -outward * (L.half - 1) : outward, mirrors || wraps ? x : (real)0};
  /* the last unknown can be the first of its pair: instead of the second, it then has an image of its other neighbour */
  return {outward, last && L.ends[0] & GMG_MIRRORS_ABOVE ? 2 * x : x};
}

/* A pair word packs the known facts about a pair. The low 16 bits are its position in u. Two fields of 5 bits are the diagonal
   classes. */
enum {
  CLASS = 16,
  SECOND_CLASS = 21,
  ODD = 1 << 26,
  SINGLE = 1 << 27,
  HAS_LEFT = 1 << 28,
  HAS_RIGHT = 1 << 29,
  GOES_BELOW = 1 << 30
};
static const unsigned GOES_ABOVE = 1u << 31;

/* ODD means that the first unknown of the pair has colour 1. */
static __device__ __forceinline__ unsigned word_of(const small_level &L, const own_planes &own, int q, int rank)
{
  const pair_place at = place_of(L, q);
  const int k = own.begin + at.k, i = 2 * at.p, line = (side_of(k, L.n[2]) * 3 + side_of(at.j, L.n[1])) * 3;
  unsigned word = (unsigned)entry_of(L, at) | (unsigned)(line + side_of(i, L.n[0])) << CLASS |
                  (unsigned)(line + side_of(i + 1, L.n[0])) << SECOND_CLASS;
  if ((at.j + k) & 1) word |= ODD;
  if (i + 1 >= L.n[0]) word |= SINGLE;
  if (i > 0) word |= HAS_LEFT;
  if (i + 2 < L.n[0]) word |= HAS_RIGHT;
  const int wraps = L.ends[2] & GMG_WRAPS;
  if (L.blocks > 1 && at.k == 0 && (rank > 0 || wraps)) word |= GOES_BELOW;
  if (L.blocks > 1 && at.k == own.planes - 1 && (own.begin + own.planes < L.n[2] || wraps)) word |= GOES_ABOVE;
  return word;
}

#endif
