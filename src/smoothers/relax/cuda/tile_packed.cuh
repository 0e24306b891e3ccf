/* The asynchronous smoother's pass on levels that lie in the cache: 3D, constant coefficients, float, local red-black sweeps,
   overlap 1. Included by cuda/tiles_packed.cuh; other kernels do everything else and are the oracle in tests.

   There the memory's speed is not the limit, but how many instructions a relaxation takes and how long a block waits for its
   values. So a block is a tile wholly on chip, with the ring around it, and a thread has a patch of 2 x 2 columns, HIGH unknowns
   each, in its registers, and f: of the six neighbours of an unknown two or three come from shared memory. All that a patch needs is
   asked for at once. Patches lie at even places of the tile; which of their unknowns are red is the same for all threads, and
   known to the compiler but for one bit. In shared memory an unknown of a patch is an array over the threads: all accesses go to the
   thread's own place and those of the threads beside, at distances that the compiler knows, and lanes meet in no bank.

   The last pass of a mixed cycle goes onto a field in double (cuda/plane_prolong.cuh), whose pairs come to shared memory meanwhile, as do
   the values of the next coarser level where their interpolation is still to be added. The first pass may restrict the residual that
   it leaves, as in cuda/plane_restrict.cuh: a patch is a column of coarse unknowns. */
#ifndef GMG_SMOOTHERS_RELAX_CUDA_TILE_PACKED_H
#define GMG_SMOOTHERS_RELAX_CUDA_TILE_PACKED_H

#include "tile_packed_parts.cuh"

#if GMG_REAL_F32 /* in double a patch would take twice the registers */

/* Block number `block_index` in the order given. whole: pairs are aligned. */
template <class shape, int KIND, int whole>
static __device__ __forceinline__ void sweep_patches(const patch_level &s, unsigned block_index, const real *f, const real *from, real *to,
                                                     const update &o, const restriction &r)
{
  constexpr int leg = KIND & (PASS_UPDATE | PASS_RESTRICT); /* then f is older than the kernel ahead, as is u where a correction comes in */
  constexpr int zero = KIND & PASS_FROM_ZERO, updates = KIND & PASS_UPDATE, prolongs = KIND & PASS_PROLONG, restricts = KIND & PASS_RESTRICT;
  constexpr int HIGH = shape::high, X = shape::x, LAYER = shape::layer, ROOM = shape::room, CELLS = 4 * HIGH;
  extern __shared__ double memory[];
  const int me = (int)threadIdx.x, x = 2 * (me % X), y = 2 * (me / X % shape::y), z = me / LAYER * HIGH; /* of the patch in the tile */
  double2 *const kept = (double2 *)memory + me; /* of the field: the patch's pairs */
  real *const start = (real *)(memory + (whole && updates ? 2 * shape::pairs : 0)), *const tile = start + X + me;
  /* the stretches below and above; where there is none the other one, where nobody writes what is looked at */
  const real *const under = tile + (me >= LAYER ? -LAYER : LAYER);
  const real *const over = shape::z == 2 || me >= shape::threads - LAYER ? under : tile + LAYER;
  const unsigned place = __ldg(s.order + (s.reversed ? s.total - 1 - block_index : block_index));
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
  const unsigned planes = bit_range(z, HIGH, low[2], high[2]), relaxed = planes & bit_range(z, HIGH, 1, own[2] + 2);
  const auto pairs = [&](int any, const int row[2], unsigned bits) { /* of the patch: those of row d from bit d HIGH on */
    return opaque(any ? (row[0] ? bits : 0) | (row[1] ? bits << HIGH : 0) : 0);
  };
  const unsigned asked = pairs(pair, there, planes), asked_f = pairs(pair, deep, relaxed);
  const auto pairs_mine = [&]() { return pairs(pair_mine, mine, bit_range(z, HIGH, 2, own[2] + 1)); };

  /* sent for together */
  const int n0 = s.n[0], slice = n0 * s.n[1], first = origin[2] + z, gi = pair ? wrap_period(origin[0] + x, n0, s.around[0]) : 0;
  const int gk = wrap_period(first, s.n[2], s.around[2]), fold = s.around[2] ? s.n[2] - gk : HIGH; /* from fold on: the first */
  int gj[2], column[2];
#pragma unroll
  for (int d = 0; d < 2; d++)
    gj[d] = there[d] ? wrap_period(origin[1] + y + d, s.n[1], s.around[1]) : 0, column[d] = gk * slice + gj[d] * n0 + gi;
  const auto place_of = [&](int d, int c) { return column[d] + (c >= fold ? c - s.n[2] : c) * slice; };
  real u[CELLS], rhs[CELLS];
  const auto ask = [&](const real *x, int shared, unsigned bits, real *to) {
#pragma unroll
    for (int c = 0; c < HIGH; c++)
#pragma unroll
      for (int d = 0; d < 2; d++) {
        const int j = 2 * d * HIGH + c;
        real_pair v = {0, 0};
        if (bits & 1u << (d * HIGH + c)) v = patch_pair<whole>(x + place_of(d, c), shared);
        to[j] = v.x, to[j + HIGH] = v.y;
      }
  };
  if (!leg) gmg_take_over();
  ask(f, 0, asked_f, rhs);
  if (prolongs) ask(from, 1, asked, u);
  if (whole && updates && o.keep) {
    const unsigned stored = pairs_mine();
#pragma unroll
    for (int m = 0; m < 2 * HIGH; m++)
      if (stored & 1u << m) __pipeline_memcpy_async(kept + m * shape::threads, o.x + place_of(m / HIGH, m % HIGH), sizeof *kept);
  }
  if (updates) __pipeline_commit();
  if (leg) gmg_take_over();
  if (!prolongs) ask(from, 1, zero ? 0 : asked, u);
  if (prolongs) { /* values to where the patches will be */
    constexpr int LINE = shape::coarse[0], LINES = shape::coarse[1], VALUES = LINE * LINES * shape::coarse[2];
    const auto coarse_at = [&](int a, int i) { /* walls: whatever is there */
      const int I = (origin[a] >> 1) - 1 + i;
      return min(max(wrap_period(I, o.n[a], s.around[a] ? o.n[a] : 0), 0), o.n[a] - 1);
    };
    for (int c = me; c < VALUES; c += shape::threads) {
      const int line = c / LINE, plane = line / LINES;
      const int g = (coarse_at(2, plane) * o.n[1] + coarse_at(1, line - plane * LINES)) * o.n[0] + coarse_at(0, c - line * LINE);
      __pipeline_memcpy_async(start + c, o.coarse + g, sizeof(real));
    }
    __pipeline_commit();
  }

  const double size = updates && o.size ? __ldg(o.size) : 1;

  /* weight / diagonal of the columns, and in a plane at a wall, of which a patch has one at most */
  const int low_wall = -first, high_wall = s.n[2] - 1 - first;
  const unsigned wall = bit_range(0, HIGH, low_wall, low_wall) | bit_range(0, HIGH, high_wall, high_wall);
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

  if (prolongs) {
    pair_weights wx[2], wy[2], wz[HIGH];
#pragma unroll
    for (int d = 0; d < 2; d++) {
      wx[d] = pair_weights_of(o.map[0], gi + d, n0, 0, pair), wy[d] = pair_weights_of(o.map[1], gj[d], s.n[1], 0, there[d]);
#pragma unroll
      for (int c = d * HIGH / 2; c < (d + 1) * HIGH / 2; c++)
        wz[c] = pair_weights_of(o.map[2], c >= fold ? gk + c - s.n[2] : gk + c, s.n[2], 0, (planes >> c) & 1);
    }
    __pipeline_wait_prior(0);
    __syncthreads();
    constexpr int LINE = shape::coarse[0], LINES = shape::coarse[1];
    patch_prolong<shape>(start + (z / 2 * LINES + y / 2) * LINE + x / 2, wx, wy, wz, asked, u);
    __syncthreads();
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
    if (parity) half_sweep(constant<1>(), constant<1>());
    else half_sweep(constant<0>(), constant<1>());
    h = 1;
  }
#pragma unroll
  for (int j = 0; j < CELLS; j++) tile[j * ROOM] = u[j];
  __syncthreads();
  for (; h < 2 * s.sweeps; h++) {
    if ((parity + h) & 1) half_sweep(constant<1>(), constant<0>());
    else half_sweep(constant<0>(), constant<0>());
    __syncthreads();
  }

  const unsigned stored = pairs_mine();
  const double scale = updates ? o.scale * size : 0;
  if (whole && updates) __pipeline_wait_prior(0); /* for what this thread asked for */
#pragma unroll
  for (int c = 0; c < HIGH; c++)
#pragma unroll
    for (int d = 0; d < 2; d++) {
      const int m = d * HIGH + c, j = m + d * HIGH, place = place_of(d, c);
      double2 was = {0, 0};
      if (whole && updates && o.keep) was = kept[m * shape::threads]; /* whatever stands there where nothing is stored */
      if (!(stored & 1u << m)) continue;
      if (updates) {
        if (!whole && o.keep) was = double2{o.x[place], o.x[place + 1]};
        const double2 v = {was.x + scale * (double)u[j], was.y + scale * (double)u[j + HIGH]};
        if (whole) *(double2 *)(o.x + place) = v;
        else o.x[place] = v.x, o.x[place + 1] = v.y;
      } else if (whole) gmg_store_relaxed((real_pair *)(to + place), real_pair{u[j], u[j + HIGH]});
      else gmg_store_relaxed(to + place, u[j]), gmg_store_relaxed(to + place + 1, u[j + HIGH]);
    }
  if (!restricts) return;
  real within[4];
  const real along[2] = {inner, outer}, pair_of_all = s.coupling[0] + s.coupling[1] + s.coupling[2];
  const int ends[2] = {me < LAYER, me >= shape::threads - LAYER};
#pragma unroll
  for (int m = 0; m < 4; m++) within[m] = s.shift + gmg_at(s.diag[0], gi + m % 2) + gmg_at(s.diag[1], gj[m / 2]) - pair_of_all;
#pragma unroll
  for (int m = 0; m < 2 * HIGH; m++)
    if (!(stored & 1u << m)) {
      const int j = m + m / HIGH * HIGH;
      u[j] = u[j + HIGH] = tile[j * ROOM] = tile[(j + HIGH) * ROOM] = 0;
    }
  for (int c = me; c < (CELLS + 1) * X; c += shape::threads) start[c / X * ROOM + c % X] = 0; /* what lies between the arrays */
  __syncthreads();
  patch_restrict<shape>(s, r, tile, under, over, u, rhs, ends, stored, asked, within, along, wall, [&](int c) {
    const int k = c >= fold ? gk + c - s.n[2] : gk + c;
    return ((k >> 1) * r.n[1] + (gj[0] >> 1)) * r.n[0] + (gi >> 1);
  });
}

template <class shape, int zero, int whole>
static __global__ void __launch_bounds__(shape::threads, shape::blocks) /* blockIdx.y is the pass */
    patch_kernel(patch_level s, const real *f, const real *from, real *to)
{
  sweep_patches<shape, zero ? PASS_FROM_ZERO : 0, whole>(s, blockIdx.x, f, from, to, update{}, restriction{});
}

template <class shape, int KIND, int whole>
static __global__ void __launch_bounds__(shape::threads, shape::blocks)
    patch_kernel_update(patch_level s, const real *f, const real *from, update o)
{
  sweep_patches<shape, PASS_UPDATE | KIND, whole>(s, blockIdx.x, f, from, NULL, o, restriction{});
}

template <class shape>
static __global__ void __launch_bounds__(shape::threads, shape::blocks) patch_kernel_restrict(patch_level s, const real *f, real *to, restriction r)
{
  sweep_patches<shape, PASS_FROM_ZERO | PASS_RESTRICT, 1>(s, blockIdx.x, f, NULL, to, update{}, r);
}

#endif
#endif
