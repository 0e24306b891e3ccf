/* The legs of a cycle on one of the fused levels, for levels.cu. Downward: smoothing, residual and restriction. Upward:
   prolongation and smoothing. Included by coarsest.cuh for kernels.cuh.

   rows: 0: all couplings along an axis are equal, and diagonals differ only at walls. 1: every unknown has a row of its own, in
   shared memory.

   beyond_walls: NOTHING, IMAGES or SEAMS. With NOTHING a cycle is faster than with IMAGES: 31.6 instead of 36.0 us from 16^3, by
   Nsight Compute on an H200. */
#ifndef GMG_COARSE_FUSED_LEVELS_CUDA_LEGS_H
#define GMG_COARSE_FUSED_LEVELS_CUDA_LEGS_H

#include "cluster.cuh"

/* --- smoothing ------------------------------------------------------------------------------------------------------- */

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
  real relax[2], diag[2], outer[2];         /* relax: weight / diagonal; outer: coupling to the neighbour outside the pair */
  real_quad sides[2], along[2];             /* rows of their own */
  unsigned below[2], above[2];              /* addresses of the copies in neighbouring blocks, or 0 */
  unsigned to[2];                           /* addresses of the arrivals of those blocks */
} own_pair;

/* A bit of own_pair::across: the pair has one unknown, at the upper seam of axis 0. */
enum { LAST = 16 };

/* The data of a level that sweeps read, in registers. */
typedef struct {
  real x, y, z, keep;
  int line, plane, blocks;
  int half;
  unsigned incoming[2]; /* bytes that arrive with each colour, in the order of own_pair */
  unsigned late;        /* bytes that arrive after the last step */
} own_level;

static __device__ __forceinline__ own_level load_level(const small_level &L, int first)
{
  const own_planes &own = planes_of_level[L.number];
  return {in_register(L.coupling[0]), in_register(L.coupling[1]), in_register(L.coupling[2]), in_register(L.keep),
          in_register(L.line),        in_register(L.plane),       in_register(L.blocks),      L.half,
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
                                                     const real_quad *quads, int first, scalar *memory)
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
    own.u[h] = *own.place[h], own.f[h] = memory[L.f + colour * L.inner + own.q];
    own.relax[h] = rows ? own.along[h].w : tables[L.relax + class_of];
    own.diag[h] = rows ? own.along[h].z : tables[L.diag + class_of];
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
static __device__ __forceinline__ void relax(const own_level &L, int sweeps, own_pair &own, unsigned *step)
{
#pragma unroll 1
  for (int s = 0; s < sweeps; s++)
#pragma unroll
    for (int h = 0; h < 2; h++) {
      scalar u = 0;
      const real keep = rows ? 1 - own.relax[h] * own.diag[h] : L.keep;
      if (own.busy) u = keep * own.u[h] + own.relax[h] * (own.f[h] + neighbour_sum<beyond_walls, rows>(L, own, h));
      if (beyond_walls == SEAMS) __syncthreads();
      if (own.busy) {
        own.u[h] = u;
        store_relaxed<beyond_walls>(own, h, *step);
      }
      end_step(L.blocks, L.incoming[h], step);
    }
  if (beyond_walls < SEAMS || L.blocks == 1) return;
  if (own.busy) send_late(own, 1, *step);
  end_step(L.blocks, L.late, step);
}

/* --- downward leg ---------------------------------------------------------------------------------------------------- */

/* Stores the residual of a thread's pair. If residuals are restricted by averaging, stores the sum over the pair. */
template <int beyond_walls, int rows>
static __device__ __forceinline__ void residual(const small_level &L, const own_level &now, const own_pair &own, scalar *r)
{
  scalar part[2] = {0, 0};
  if (!own.busy) return;
#pragma unroll
  for (int h = 0; h < 2; h++) {
    part[h] = own.f[h] - (own.diag[h] * own.u[h] - neighbour_sum<beyond_walls, rows>(now, own, h));
    if (!L.averaged && own.exists[h]) r[h * L.inner + own.q] = part[h]; /* h is the colour: [0] has colour 0 */
  }
  if (L.averaged) r[own.q] = part[0] + part[1];
}

/* Threads that compute a restricted value together. One thread would spend most of its time waiting for what it loads. */
enum { LANES = 4 };

/* The share of a lane in the restricted residual at (I, J, K) of the next coarser level: every fourth plane. Some of the planes
   read may be stored in another block. */
template <int beyond_walls>
static __device__ __forceinline__ scalar restricted(const small_level &L, const real *tables, const scalar *r, int I, int J, int K,
                                                    int lane)
{
  const taps &t = L.restrict_;
  const int *const ints = (const int *)tables;
  const int i0 = ints[t.first[0] + I], j0 = ints[t.first[1] + J], k0 = ints[t.first[2] + K], begin = begin_of(L),
            size = L.n[1] * L.half;
  const real *const wy = tables + t.weight[1] + J * MAX_TAPS, *const wz = tables + t.weight[2] + K * MAX_TAPS;
  real wx[MAX_TAPS];
  scalar sum = 0;
  int column[MAX_TAPS]; /* for lines with even j + k */
#pragma unroll
  for (int m = 0; m < MAX_TAPS; m++) { /* beyond the row's columns the weights are 0, and the first column is read again */
    wx[m] = tables[t.weight[0] + I * MAX_TAPS + m];
    column[m] = wrapped<beyond_walls>(i0 + (m < t.taps[0] ? m : 0), L.n[0]);
  }
#pragma unroll 1
  for (int q = lane; q < t.taps[2]; q += LANES) {
    const int k = wrapped<beyond_walls>(k0 + q, L.n[2]), local = k - begin;
    const int inside = L.blocks == 1 || (local >= 0 && local < L.depth), owner = inside ? 0 : k / L.depth;
    const scalar *const plane = inside ? r + local * size : in_block(r + (k - owner * L.depth) * size, owner);
    scalar part = 0;
#pragma unroll
    for (int s = 0; s < MAX_TAPS; s++)
      if (s < t.taps[1]) {
        const int j = wrapped<beyond_walls>(j0 + s, L.n[1]), odd = (j + k) & 1;
        const scalar *const line = plane + j * L.half;
#pragma unroll
        for (int m = 0; m < MAX_TAPS; m++)
          if (m < FEW_TAPS || m < t.taps[0]) part += wy[s] * wx[m] * line[((column[m] ^ odd) & 1) * L.inner + (column[m] >> 1)];
      }
    sum += wz[q] * part;
  }
  return sum;
}

/* The restricted residual at (I, J, K) as the average of four pair sums in the block's own planes. */
static __device__ __forceinline__ scalar averaged(const small_level &L, const scalar *r, int I, int J, int K)
{
  const scalar *const at = r + ((2 * K - begin_of(L)) * L.n[1] + 2 * J) * L.half + I, *const up = at + L.n[1] * L.half;
  return (real)0.125 * ((at[0] + at[L.half]) + (up[0] + up[L.half]));
}

/* Computes f of the next coarser level, and sets its u to zero. A block computes the coarse planes that begin within its own
   planes. */
template <int beyond_walls>
static __device__ __forceinline__ void restrict_residual(const small_level &L, const small_level &C, const real *tables,
                                                         scalar *memory, const scalar *r)
{
#pragma unroll 1
  for (unsigned c = threadIdx.x; c < 2 * C.colour; c += THREADS) memory[C.u + c] = 0;
  if (L.averaged) __syncthreads();
  else cluster_sync(L.blocks);
  const int begin = begin_of(L), end = begin + planes_of(L), most = C.n[2];
  const int from = L.halved ? (begin + 1) / 2 : begin, to = end == L.n[2] ? most : min(L.halved ? (end + 1) / 2 : end, most);
  const int lane = (int)threadIdx.x % LANES;
  each_unknown<LANES>(C, from, to - from, [&](int exists, int colour, int I, pair_place at) {
    const int K = from + at.k, owner = C.blocks > 1 ? K / C.depth : 0;
    scalar value = 0;
    if (exists) value = L.averaged ? averaged(L, r, I, at.j, K) : restricted<beyond_walls>(L, tables, r, I, at.j, K, lane);
    if (!L.averaged)
      for (int d = 1; d < LANES; d *= 2) value += __shfl_xor_sync(~0u, value, d);
    if (!exists) return;
    scalar *const place = memory + C.f + colour * C.inner + ((K - owner * C.depth) * C.n[1] + at.j) * C.half + at.p;
    if (L.blocks > 1 && C.blocks == 1) {
#pragma unroll 1
      for (int b = lane; b < L.blocks; b += LANES) store_at(address_in(place, b), value);
    } else if (lane == 0 && L.blocks > 1) store_at(address_in(place, owner), value);
    else if (lane == 0) *place = value;
  });
  cluster_sync(L.blocks);
}

template <int beyond_walls, int rows>
static __device__ __forceinline__ void presmooth_restrict(const fused_state &s, int l, const real *tables, const unsigned *words,
                                                          const real_quad *quads, scalar *memory, unsigned *step)
{
  const small_level &L = s.level[l], &C = s.level[l + 1];
  const own_level now = load_level(L, 0);
  own_pair own = load_pair<beyond_walls, rows>(L, tables, words, quads, 0, memory);
  relax<beyond_walls, rows>(now, L.pre, own, step);
  residual<beyond_walls, rows>(L, now, own, memory + s.r);
  restrict_residual<beyond_walls>(L, C, tables, memory, memory + s.r);
}

/* --- upward leg ------------------------------------------------------------------------------------------------------ */

/* Planes of u on the next coarser level. */
typedef struct {
  const scalar *u;   /* points to colour 0 of plane `first` */
  int first, colour; /* colour: stride from colour to colour */
  int period;        /* planes after which the level begins again; 0: planes beyond its ends are here, too */
} coarse_planes;

/* Returns the block's own coarse planes or, if these are not enough, copies of all planes that it needs. */
template <int beyond_walls>
static __device__ __forceinline__ coarse_planes gather_planes(const small_level &L, const small_level &C, const real *tables,
                                                              scalar *u, scalar *room)
{
  const int begin = begin_of(L), planes = planes_of(L), *const first = (const int *)tables + L.prolong.first[2];
  if (!L.gathers_planes) return {u, begin_of(C) - 1, (int)C.colour, C.blocks > 1 ? 0 : C.n[2]};
  cluster_sync(L.blocks);
  const int from = planes > 0 ? first[begin] : 0, count = planes > 0 ? first[begin + planes - 1] + L.prolong.taps[2] - from : 0;
#pragma unroll 1
  for (int c = (int)threadIdx.x; c < 2 * count * C.plane; c += THREADS) {
    const int colour = c >= count * C.plane, x = c - colour * count * C.plane;
    const int k = wrapped<beyond_walls>(from + x / C.plane, C.n[2]), owner = k / C.depth;
    room[c] = *in_block(u + colour * C.colour + (k - owner * C.depth + 1) * C.plane + x % C.plane, owner);
  }
  __syncthreads();
  return {room, from, count * C.plane, 0};
}

/* Adds to a pair the correction from the next coarser level. */
template <int beyond_walls>
static __device__ __forceinline__ void prolong(const small_level &L, const small_level &C, const real *tables,
                                               const coarse_planes &from, own_pair &own)
{
  const taps &t = L.prolong;
  const int *const ints = (const int *)tables;
  const pair_place place = place_of(L, own.q);
  const int plane_of_pair = begin_of(L) + place.k, J = ints[t.first[1] + place.j], K = ints[t.first[2] + plane_of_pair];
  const real *const wy = tables + t.weight[1] + place.j * MAX_TAPS, *const wz = tables + t.weight[2] + plane_of_pair * MAX_TAPS;
  real x[2][2];
  scalar sum[2] = {0, 0};
  int column[2][2]; /* for lines with even j + k; in the other lines the colours are swapped */
#pragma unroll
  for (int h = 0; h < 2; h++) {
    const int i = own.exists[h] ? 2 * place.p + (own.odd ^ h) : 0, I = ints[t.first[0] + i];
#pragma unroll
    for (int m = 0; m < 2; m++) { /* the second weight is 0 if the row has one column */
      const int at = wrapped<beyond_walls>(t.taps[0] > 1 ? I + m : I, C.n[0]);
      x[h][m] = tables[t.weight[0] + i * MAX_TAPS + m], column[h][m] = at;
    }
  }
#pragma unroll
  for (int q = 0; q < 2; q++) {
    if (q >= t.taps[2]) break;
    const int k = wrapped<beyond_walls>(K + q, from.period), actual = wrapped<beyond_walls>(K + q, C.n[2]);
    const scalar *const plane = from.u + (k - from.first) * C.plane;
#pragma unroll
    for (int s = 0; s < 2; s++)
      if (s < t.taps[1]) {
        const int j = wrapped<beyond_walls>(J + s, C.n[1]), odd = (j + (beyond_walls == SEAMS ? actual : k)) & 1;
        const scalar *const line = plane + (C.line ? j + 1 : 0) * C.half;
        const real w = wz[q] * wy[s];
#pragma unroll
        for (int h = 0; h < 2; h++)
#pragma unroll
          for (int m = 0; m < 2; m++)
            sum[h] += w * (x[h][m] * line[((column[h][m] ^ odd) & 1) * from.colour + (column[h][m] >> 1)]);
      }
  }
  own.u[0] += own.exists[0] ? sum[0] : (scalar)0, own.u[1] += own.exists[1] ? sum[1] : (scalar)0;
}

/* Adds to a pair the correction from the next coarser level, by weights that depend on the coefficients
   (stencil/transfer/prolong.h): of the parent, and of its neighbours along the axes. At a wall without a neighbour the weight is 0,
   and any value may be read. */
template <int beyond_walls>
static __device__ __forceinline__ void prolong_by_rows(const small_level &L, const small_level &C, const real *tables,
                                                       const real_quad *moves, const coarse_planes &from, own_pair &own)
{
  const taps &t = L.prolong;
  const pair_place place = place_of(L, own.q);
  const auto parent_of = [&](int a, int i) { return C.n[a] < L.n[a] ? i / 2 : i; };
  const auto other_of = [&](int a, int i, int parent) {
    const int up = ((const int *)tables)[t.first[a] + i] >= parent;
    return t.taps[a] < 2 ? parent : wrapped<beyond_walls>(parent + (up ? 1 : -1), a == 2 ? from.period : C.n[a]);
  };
  const auto value = [&](int I, int J, int K) {
    const scalar *const line = from.u + (K - from.first) * C.plane + (C.line ? J + 1 : 0) * C.half;
    return line[((I + J + K) & 1) * from.colour + (I >> 1)];
  };
  const int k = begin_of(L) + place.k, J = parent_of(1, place.j), K = parent_of(2, k);
  const int J_other = other_of(1, place.j, J), K_other = other_of(2, k, K);
#pragma unroll
  for (int h = 0; h < 2; h++) {
    if (!own.exists[h]) continue;
    const int second = own.odd ^ h, i = 2 * place.p + second, I = parent_of(0, i);
    const real_quad w = moves[L.moves + own.q + second * (int)L.inner];
    own.u[h] += (w.x * value(I, J, K) + w.y * value(other_of(0, i, I), J, K)) +
                (w.z * value(I, J_other, K) + w.w * value(I, J, K_other));
  }
}

static __device__ __forceinline__ const real_quad *moves_of(const fused_state &s)
{
  const size_t before = s.bytes + (size_t)s.blocks * (s.pairs * sizeof(unsigned) + s.quads * sizeof(real_quad));
  return (const real_quad *)(s.tables + before) + blockIdx.x * s.moves;
}

template <int beyond_walls, int rows>
static __device__ __forceinline__ void prolong_postsmooth(const fused_state &s, int l, const real *tables, const unsigned *words,
                                                          const real_quad *quads, scalar *memory, unsigned *step)
{
  const small_level &L = s.level[l], &C = s.level[l + 1];
  const own_level now = load_level(L, s.reversed);
  own_pair own = load_pair<beyond_walls, rows>(L, tables, words, quads, s.reversed, memory);
  const coarse_planes from = gather_planes<beyond_walls>(L, C, tables, memory + C.u, memory + s.r);
  if (own.busy) {
    if (rows && L.moves >= 0) prolong_by_rows<beyond_walls>(L, C, tables, moves_of(s), from, own);
    else prolong<beyond_walls>(L, C, tables, from, own);
    store_unknown(own, 0, *step), store_unknown(own, 1, *step);
  }
  end_step(now.blocks, now.incoming[0] + now.incoming[1], step);
  relax<beyond_walls, rows>(now, L.post, own, step);
}

#endif
