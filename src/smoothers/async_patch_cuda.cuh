/* The asynchronous smoother's pass on levels that lie in the cache: 3D, constant coefficients, float, local red-black sweeps,
   overlap 1. Included by async_patch_launch_cuda.cuh; other kernels do everything else and are the oracle in tests.

   There the memory's speed is not the limit, but how many instructions a relaxation takes and how long a block waits for its
   values. So a block is a tile wholly on chip, with the ring around it, and a thread has a patch of 2 x 2 columns, HIGH unknowns
   each, in its registers, and f: of the six neighbours of an unknown two or three come from shared memory. All that a patch needs is
   asked for at once. Patches lie at even places of the tile; which of their unknowns are red is the same for all threads, and
   known to the compiler but for one bit. In shared memory an unknown of a patch is an array over the threads: all accesses go to the
   thread's own place and those of the threads beside, at distances that the compiler knows, and lanes meet in no bank.

   The last pass of a mixed cycle goes onto a field in double (async_onto_cuda.cuh), whose pairs come to shared memory meanwhile. */
#ifndef GMG_ASYNC_PATCH_CUDA_H
#define GMG_ASYNC_PATCH_CUDA_H

#include "async_stream_cuda.cuh"
#include "async_tile_cuda.cuh"

#if GMG_REAL_F32 /* in double a patch would take twice the registers */

/* Threads across the axes, unknowns a thread has along the last one, blocks of a multiprocessor at least. */
template <int X, int Y, int Z, int HIGH, int BLOCKS> struct patch_shape {
  static constexpr int x = X, y = Y, z = Z, high = HIGH, blocks = BLOCKS, layer = X * Y, threads = X * Y * Z;
  static constexpr int room = threads + X; /* of an array: threads at the tile's faces look beyond, and ignore what they see */
  static constexpr int reals = 4 * HIGH * room + X, pairs = 2 * HIGH * threads; /* of patches, to put aside */
  static_assert(Z > 1 && HIGH % 2 == 0, "stretches beside each other, colours that are the same in all of them");
};

typedef struct {
  int n[3], around[3], own[3]; /* around: n where the axis wraps, or else 0 */
  const void *diag[3];
  real shift, coupling[3], omega;
  int sweeps, reversed;
  unsigned total;
  const unsigned *order; /* blocks by their places, PATCH_BITS along each axis */
} patches;

enum { PATCH_BITS = 10, PATCH_MASK = (1 << PATCH_BITS) - 1 };

/* Planes c < count of low <= first + c <= high, as bits. */
static __device__ __forceinline__ unsigned patch_range(int first, int count, int low, int high)
{
  const int start = min(max(low - first, 0), count), end = min(max(high + 1 - first, 0), count);
  return ((1u << end) - 1) & ~((1u << start) - 1);
}

/* Unknown i of an axis of n, which lies beyond its ends by less than n where it wraps; around: n there, or else 0. */
static __device__ __forceinline__ int patch_around(int i, int n, int around) { return i + (i < 0 ? around : i >= n ? -around : 0); }

/* shared: others may write there. */
template <int whole> static __device__ __forceinline__ real_pair patch_pair(const real *at, int shared)
{
  if (whole) return shared ? __ldcg((const real_pair *)at) : __ldg((const real_pair *)at);
  return shared ? real_pair{__ldcg(at), __ldcg(at + 1)} : real_pair{__ldg(at), __ldg(at + 1)};
}

/* Block number `turn` in the order given. zero: u is 0 before; whole: pairs are aligned; aside: what is done goes to a field in double
   instead, of which every unknown is one block's own. */
template <class shape, int zero, int whole, int aside>
static __device__ __forceinline__ void relax_patches(const patches &s, unsigned turn, const real *f, const real *from, real *to,
                                                     const onto &o)
{
  constexpr int HIGH = shape::high, X = shape::x, LAYER = shape::layer, ROOM = shape::room, CELLS = 4 * HIGH;
  extern __shared__ double memory[];
  const int me = (int)threadIdx.x, x = 2 * (me % X), y = 2 * (me / X % shape::y), z = me / LAYER * HIGH; /* of the patch in the tile */
  double2 *const kept = (double2 *)memory + me; /* of the field: the patch's pairs */
  real *const tile = (real *)(memory + (whole && aside ? 2 * shape::pairs : 0)) + X + me;
  /* the stretches below and above; where there is none the other one, where nobody writes what is looked at */
  const real *const under = tile + (me >= LAYER ? -LAYER : LAYER);
  const real *const over = shape::z == 2 || me >= shape::threads - LAYER ? under : tile + LAYER;
  const unsigned place = __ldg(s.order + (s.reversed ? s.total - 1 - turn : turn));
  const int at[3] = {(int)(place & PATCH_MASK), (int)(place >> PATCH_BITS & PATCH_MASK), (int)(place >> 2 * PATCH_BITS)};

  /* own unknowns lie at 2 .. own + 1 of the tile, relaxed ones at 1 .. own + 2; which there are */
  int origin[3], own[3], low[3], high[3];
#pragma unroll
  for (int a = 0; a < 3; a++) {
    const int begin = at[a] * s.own[a];
    origin[a] = begin - 2, own[a] = min(s.own[a], s.n[a] - begin);
    low[a] = s.around[a] ? 0 : max(0, -origin[a]);
    high[a] = s.around[a] ? own[a] + 3 : min(own[a] + 3, s.n[a] - 1 - origin[a]);
  }
  /* of the patch: pairs along axis 0 are there together; planes as bits */
  const int pair = x >= low[0] && x < high[0], pair_mine = x >= 2 && x < own[0] + 2;
  const int wide[2] = {pair && x > 0, pair && x < own[0] + 2};
  int there[2], deep[2], mine[2];
#pragma unroll
  for (int d = 0; d < 2; d++) {
    there[d] = y + d >= low[1] && y + d <= high[1], mine[d] = y + d >= 2 && y + d < own[1] + 2;
    deep[d] = there[d] && y + d >= 1 && y + d <= own[1] + 2;
  }
  const unsigned planes = patch_range(z, HIGH, low[2], high[2]), relaxed = planes & patch_range(z, HIGH, 1, own[2] + 2);
  const auto pairs = [&](int any, const int row[2], unsigned bits) { /* of the patch: those of row d from bit d HIGH on */
    return tile_anew(any ? (row[0] ? bits : 0) | (row[1] ? bits << HIGH : 0) : 0);
  };
  const unsigned asked = pairs(pair, there, planes), asked_f = pairs(pair, deep, relaxed);
  const auto pairs_mine = [&]() { return pairs(pair_mine, mine, patch_range(z, HIGH, 2, own[2] + 1)); };

  /* sent for together */
  const int n0 = s.n[0], slice = n0 * s.n[1], first = origin[2] + z, gi = pair ? patch_around(origin[0] + x, n0, s.around[0]) : 0;
  const int gk = patch_around(first, s.n[2], s.around[2]), fold = s.around[2] ? s.n[2] - gk : HIGH; /* from fold on: the first */
  int gj[2], column[2];
#pragma unroll
  for (int d = 0; d < 2; d++)
    gj[d] = there[d] ? patch_around(origin[1] + y + d, s.n[1], s.around[1]) : 0, column[d] = gk * slice + gj[d] * n0 + gi;
  const auto place_of = [&](int d, int c) { return column[d] + (c >= fold ? c - s.n[2] : c) * slice; };
  real u[CELLS], rhs[CELLS];
#pragma unroll
  for (int c = 0; c < HIGH; c++)
#pragma unroll
    for (int d = 0; d < 2; d++) {
      const int g = place_of(d, c), j = 2 * d * HIGH + c;
      real_pair v = {0, 0}, r = {0, 0};
      if (!zero && asked & 1u << (d * HIGH + c)) v = patch_pair<whole>(from + g, 1);
      if (asked_f & 1u << (d * HIGH + c)) r = patch_pair<whole>(f + g, 0);
      u[j] = v.x, u[j + HIGH] = v.y, rhs[j] = r.x, rhs[j + HIGH] = r.y;
    }
  const double size = aside && o.size ? __ldg(o.size) : 1;
  if (whole && aside && o.keep) {
    const unsigned stored = pairs_mine();
#pragma unroll
    for (int m = 0; m < 2 * HIGH; m++)
      if (stored & 1u << m) __pipeline_memcpy_async(kept + m * shape::threads, o.x + place_of(m / HIGH, m % HIGH), sizeof *kept);
    __pipeline_commit();
  }

  /* weight / diagonal of the columns, and in a plane at a wall, of which a patch has one at most */
  const int low_wall = -first, high_wall = s.n[2] - 1 - first;
  const unsigned wall = patch_range(0, HIGH, low_wall, low_wall) | patch_range(0, HIGH, high_wall, high_wall);
  const real inner = gmg_at(s.diag[2], 1), outer = gmg_at(s.diag[2], low_wall >= 0 && low_wall < HIGH ? 0 : s.n[2] - 1);
  real inside[4], beside[4];
  unsigned known = 0; /* unknowns that are relaxed: those of column (b, d) from bit (2 d + b) HIGH on */
#pragma unroll
  for (int d = 0; d < 2; d++)
#pragma unroll
    for (int b = 0; b < 2; b++) {
      const real across = s.shift + gmg_at(s.diag[0], gi + b) + gmg_at(s.diag[1], gj[d]);
      inside[2 * d + b] = __fdividef(s.omega, across + inner), beside[2 * d + b] = __fdividef(s.omega, across + outer);
      if (wide[b] && deep[d]) known |= relaxed << (2 * d + b) * HIGH;
    }

  /* relaxes the unknowns of a colour: b + d + c + colour is even */
  const real keep = 1 - s.omega;
  const auto half_sweep = [&](auto which, auto alone) {
    constexpr int colour = decltype(which)::value, no_neighbours = decltype(alone)::value;
#pragma unroll
    for (int c = 0; c < HIGH; c++)
#pragma unroll
      for (int d = 0; d < 2; d++) {
        const int b = (c + d + colour) & 1, m = 2 * d + b, j = m * HIGH + c;
        const int jx = (2 * d + 1 - b) * HIGH + c, jy = (2 * (1 - d) + b) * HIGH + c;
        real sum = rhs[j];
        if (!no_neighbours) {
          const real below = c > 0 ? u[j - (c > 0)] : under[(j + HIGH - 1) * ROOM];
          const real above = c < HIGH - 1 ? u[j + (c < HIGH - 1)] : over[(j - HIGH + 1) * ROOM];
          sum += s.coupling[0] * (u[jx] + tile[jx * ROOM + (b ? 1 : -1)]);
          sum += s.coupling[1] * (u[jy] + tile[jy * ROOM + (d ? X : -X)]);
          sum += s.coupling[2] * (below + above);
        }
        const real now = keep * u[j] + (wall & 1u << c ? beside[m] : inside[m]) * sum;
        if (known & 1u << j) {
          u[j] = now;
          if (!no_neighbours) tile[j * ROOM] = now;
        }
      }
  };
  const int parity = (origin[0] + origin[1] + origin[2] + s.reversed) & 1;
  int h = 0;
  if (zero) {
    if (parity) half_sweep(with(), with());
    else half_sweep(without(), with());
    h = 1;
  }
#pragma unroll
  for (int j = 0; j < CELLS; j++) tile[j * ROOM] = u[j];
  __syncthreads();
  for (; h < 2 * s.sweeps; h++) {
    if ((parity + h) & 1) half_sweep(with(), without());
    else half_sweep(without(), without());
    __syncthreads();
  }

  const unsigned stored = pairs_mine();
  const double scale = aside ? o.scale * size : 0;
  if (whole && aside) __pipeline_wait_prior(0); /* for what this thread asked for */
#pragma unroll
  for (int c = 0; c < HIGH; c++)
#pragma unroll
    for (int d = 0; d < 2; d++) {
      const int m = d * HIGH + c, j = m + d * HIGH, place = place_of(d, c);
      double2 was = {0, 0};
      if (whole && aside && o.keep) was = kept[m * shape::threads]; /* whatever stands there where nothing is stored */
      if (!(stored & 1u << m)) continue;
      if (aside) {
        if (!whole && o.keep) was = double2{o.x[place], o.x[place + 1]};
        const double2 v = {was.x + scale * (double)u[j], was.y + scale * (double)u[j + HIGH]};
        if (whole) *(double2 *)(o.x + place) = v;
        else o.x[place] = v.x, o.x[place + 1] = v.y;
      } else if (whole) __stcg((real_pair *)(to + place), real_pair{u[j], u[j + HIGH]});
      else __stcg(to + place, u[j]), __stcg(to + place + 1, u[j + HIGH]);
    }
}

template <class shape, int zero, int whole>
static __global__ void __launch_bounds__(shape::threads, shape::blocks) /* blockIdx.y is the pass */
    patch_kernel(patches s, const real *f, const real *from, real *to)
{
  relax_patches<shape, zero, whole, 0>(s, blockIdx.x, f, from, to, onto{});
}

template <class shape, int whole>
static __global__ void __launch_bounds__(shape::threads, shape::blocks)
    patch_kernel_onto(patches s, const real *f, const real *from, onto o)
{
  relax_patches<shape, 0, whole, 1>(s, blockIdx.x, f, from, NULL, o);
}

#endif
#endif
