/* Smoothing on one of the fused levels, and its residual: the pair of unknowns that a thread holds in registers, its neighbours,
   and the copies that other blocks have of it. Included by legs.cuh.

   rows: 0: all couplings along an axis are equal, and diagonals differ only at walls. 1: every unknown has a row of its own, in
   shared memory.

   fresh: 1: u is 0, whatever memory holds, and there are no seams.

   beyond_walls: NOTHING, IMAGES or SEAMS. With NOTHING a cycle is faster than with IMAGES: 31.6 instead of 36.0 us from 16^3, by
   Nsight Compute on an H200. */
#ifndef GMG_COARSE_FUSED_LEVELS_CUDA_RELAX_H
#define GMG_COARSE_FUSED_LEVELS_CUDA_RELAX_H

#include "pairs.cuh"

/* A thread's pair of unknowns, in registers during a leg. [0] is the unknown that is relaxed first. Entries of an unknown that does
   not exist are 0. */
typedef struct {
  int busy, q, exists[2];
  int step[2];                              /* steps in the other colour's u to the neighbours outside the pair */
  line_neighbours around;
  int odd;                                  /* [0] is the second unknown of the pair */
  int across;                               /* neighbours across seams: bits 0 to 3 as in line_neighbours, and LAST */
  scalar *place[2];                         /* in u */
  scalar u[2], f[2];
  real relax[2], diag[2], outer[2];         /* relax: 1 / diagonal, or with rows weight / diagonal; outer: coupling to the neighbour
                                               outside the pair */
  real_quad sides[2], along[2];             /* rows of their own */
  unsigned below[2], above[2];              /* addresses of the copies in neighbouring blocks, or 0 */
  unsigned to[2];                           /* addresses of the arrivals of those blocks */
} own_pair;

/* A bit of own_pair::across: the pair has one unknown, at the upper seam of axis 0. */
enum { LAST = 16 };

/* The data of a level that sweeps read, in registers. */
typedef struct {
  real x, y, z, weight[GMG_HALF_SWEEPS]; /* weight: of the leg */
  int line, plane, shared;
  int half;
  unsigned incoming[2]; /* bytes that arrive with each colour, in the order of own_pair */
  unsigned late;        /* bytes that arrive after the last step */
} own_level;

/* leg: 0: before the correction, 1: after it */
template <int shared>
static __device__ __forceinline__ own_level load_level(const small_level &L, const real *tables, int leg, int first)
{
  const real *const weight = tables + L.weights + leg * GMG_HALF_SWEEPS;
  const own_planes &own = planes_of_level[L.number];
  return {in_register(L.coupling[0]), in_register(L.coupling[1]), in_register(L.coupling[2]),
          {weight[0], weight[1], weight[2], weight[3]},
          L.line,        in_register(L.plane),       shared || in_register(is_shared<0>(L)), L.half,
          {own.incoming[first], own.incoming[1 - first]}, own.late[1 - first]};
}

/* own_pair::across of a pair word. */
static __device__ __forceinline__ int across_of(const small_level &L, unsigned word)
{
  const int place = (int)(word >> CLASS & 31) / 3, line = place % 3, plane = place / 3;
  int across = has_seam(L, 0) && word & SINGLE ? LAST : 0;
  if (has_seam(L, 1)) across |= (line == 0) | (line == 2) << 1;
  if (has_seam(L, 2)) across |= (plane == 0) << 2 | (plane == 2) << 3;
  return across;
}

template <int beyond_walls, int rows>
static __device__ __forceinline__ own_pair load_pair(const small_level &L, const real *tables, const unsigned *words,
                                                     const real_quad *quads, int first, int fresh, scalar *memory)
{
  own_pair own = {};
  own.q = (int)threadIdx.x, own.busy = own.q < pairs_of(L, planes_of(L));
  if (!own.busy) return own;
  const unsigned word = words[L.words + own.q];
  const int entry = (int)(word & 0xffff), rank = (int)blockIdx.x, last = L.busy - 1;
  const int below = rank > 0 || !beyond_walls ? rank - 1 : last, above = rank < last || !beyond_walls ? rank + 1 : 0;
  const int beyond[2] = {(below < last || !beyond_walls ? L.depth : L.n[2] - last * L.depth) * L.plane,
                         (beyond_walls ? planes_of(L) : L.depth) * L.plane};
  own.odd = ((word & ODD) != 0) ^ first;
  own.step[0] = own.odd ? 1 : -1, own.step[1] = -own.step[0];
  if (beyond_walls) own.around = ((const line_neighbours *)tables)[L.around + (word >> CLASS & 31) / 3];
  if (beyond_walls == SEAMS) own.across = across_of(L, word);
  if (word & GOES_BELOW) own.to[0] = address_in(arrivals, below);
  if (word & GOES_ABOVE) own.to[1] = address_in(arrivals, above);
#pragma unroll
  for (int h = 0; h < 2; h++) {
    const int colour = h ^ first, second = own.odd ^ h, class_of = (int)(word >> (second ? SECOND_CLASS : CLASS) & 31);
    own.exists[h] = !second || !(word & SINGLE), own.place[h] = memory + L.u + colour * L.colour + entry;
    if (rows) {
      const real_quad *const row = quads + L.rows + own.q + second * SECOND * (int)L.inner;
      own.sides[h] = row[SIDES * (int)L.inner], own.along[h] = row[ALONG * (int)L.inner];
      own.outer[h] = own.sides[h].y;
    } else own.outer[h] = word & (second ? HAS_RIGHT : HAS_LEFT) ? L.coupling[0] : (real)0;
    if (beyond_walls) {
      const outer_neighbour outer = outer_of(L, second, !(word & HAS_LEFT), second ? !(word & HAS_RIGHT) : (word & SINGLE) != 0);
      own.step[h] = outer.step;
      if (!rows) own.outer[h] = outer.coupling;
      const int at_seam = beyond_walls == SEAMS && has_seam(L, 0) && !second && !(word & HAS_LEFT); /* of the same colour */
      if (at_seam) own.step[h] += colour ? (int)L.colour : -(int)L.colour;
    }
    if (!own.exists[h]) continue;
    if (word & GOES_BELOW) own.below[h] = address_in(own.place[h] + beyond[0], below);
    if (word & GOES_ABOVE) own.above[h] = address_in(own.place[h] - beyond[1], above);
    own.u[h] = fresh ? (scalar)0 : *own.place[h], own.f[h] = memory[L.f + colour * L.inner + own.q];
    own.relax[h] = rows ? own.along[h].w : tables[L.inverse + class_of];
    if (rows) own.diag[h] = own.along[h].z;
  }
  return own;
}

/* Sum over the neighbours of own.u[h]: coupling times value. Most neighbours have the other colour. A neighbour across a seam has
   the same one. */
template <int beyond_walls, int rows>
static __device__ __forceinline__ scalar neighbour_sum(const own_level &L, const own_pair &own, int h)
{
  const scalar *const o = own.place[1 - h];
  const int same = beyond_walls == SEAMS ? (int)(own.place[h] - o) : 0;
  const auto step = [&](int along, int bit) { return beyond_walls == SEAMS && own.across & bit ? along + same : along; };
  const scalar partner = beyond_walls == SEAMS && own.across & LAST ? own.place[h][1 - L.half] : own.u[1 - h];
  const real inner = rows ? own.sides[h].x : L.x;
  const scalar x = inner * partner + own.outer[h] * o[beyond_walls || !h ? own.step[h] : -own.step[0]];
  if (rows) {
    const int4 to = beyond_walls ? own.around : make_int4(-L.line, L.line, -L.plane, L.plane);
    return x + (own.sides[h].z * o[to.x] + own.sides[h].w * o[to.y]) + (own.along[h].x * o[to.z] + own.along[h].y * o[to.w]);
  }
  if (!beyond_walls) return x + L.y * (o[-L.line] + o[L.line]) + L.z * (o[-L.plane] + o[L.plane]);
  return x + L.y * (o[step(own.around.x, 1)] + o[step(own.around.y, 2)]) +
         L.z * (o[step(own.around.z, 4)] + o[step(own.around.w, 8)]);
}

/* Sends own.u[h] to the blocks that have copies of it, below and above. */
static __device__ __forceinline__ void send_copies(const own_pair &own, int h, int below, int above, unsigned step)
{
  if (below && own.below[h]) send(own.below[h], own.u[h], own.to[0], step);
  if (above && own.above[h]) send(own.above[h], own.u[h], own.to[1], step);
}

/* Stores own.u[h], and its copies. */
static __device__ __forceinline__ void store_unknown(const own_pair &own, int h, unsigned step)
{
  if (!own.exists[h]) return;
  *own.place[h] = own.u[h];
  send_copies(own, h, 1, 1, step);
}

/* The copies of own.u[h] that are across a seam. */
static __device__ __forceinline__ void send_late(const own_pair &own, int h, unsigned step)
{
  if (own.exists[h]) send_copies(own, h, own.across & 4, own.across & 8, step);
}

/* Stores own.u[h] in the step of its colour. Across a seam the copies are read in that step, and sent in the next one. */
template <int beyond_walls> static __device__ __forceinline__ void store_relaxed(const own_pair &own, int h, unsigned step)
{
  if (beyond_walls < SEAMS) {
    store_unknown(own, h, step);
    return;
  }
  if (own.exists[h]) *own.place[h] = own.u[h], send_copies(own, h, !(own.across & 4), !(own.across & 8), step);
  send_late(own, 1 - h, step);
}

/* Neighbours across a seam are relaxed at the same time, from each other's old values. */
template <int beyond_walls, int rows>
static __device__ __forceinline__ void relax(const own_level &L, int sweeps, int fresh, own_pair &own, unsigned *step)
{
#pragma unroll 1
  for (int s = 0; s < sweeps; s++)
#pragma unroll
    for (int h = 0; h < 2; h++) {
      scalar u = 0;
      const real weight = s % 2 ? L.weight[2 + h] : L.weight[h], keep = rows ? 1 - own.relax[h] * own.diag[h] : (real)0;
      if (own.busy) {
        scalar sum = own.f[h];
        if (!fresh || s > 0 || h > 0) sum += neighbour_sum<beyond_walls, rows>(L, own, h);
        u = rows ? keep * own.u[h] + own.relax[h] * sum : own.u[h] + weight * (own.relax[h] * sum - own.u[h]);
      }
      if (beyond_walls == SEAMS) __syncthreads();
      if (own.busy) {
        own.u[h] = u;
        store_relaxed<beyond_walls>(own, h, *step);
      }
      end_step(L.shared, L.incoming[h], step);
    }
  if (beyond_walls < SEAMS || !L.shared) return;
  if (own.busy) send_late(own, 1, *step);
  end_step(L.shared, L.late, step);
}

/* Stores the residual of a thread's pair. If residuals are restricted by averaging, stores the sum over the pair. */
template <int beyond_walls, int rows>
static __device__ __forceinline__ void residual(const small_level &L, const own_level &now, const own_pair &own, const real *tables,
                                                const unsigned *words, scalar *r)
{
  scalar part[2] = {0, 0};
  if (!own.busy) return;
  const unsigned word = rows ? 0 : words[L.words + own.q];
#pragma unroll
  for (int h = 0; h < 2; h++) {
    const real diag = rows ? own.diag[h] : tables[L.diag + (word >> (own.odd ^ h ? SECOND_CLASS : CLASS) & 31)];
    part[h] = own.f[h] - (diag * own.u[h] - neighbour_sum<beyond_walls, rows>(now, own, h));
    if (!L.averaged && own.exists[h]) r[h * L.inner + own.q] = part[h]; /* h is the colour: [0] has colour 0 */
  }
  if (L.averaged) r[own.q] = part[0] + part[1];
}

#endif
