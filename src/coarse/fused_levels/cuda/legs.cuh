/* A small level's way down and up (cuda/kernels.cuh): smoothing, residual and restriction; prolongation and smoothing. */
#ifndef GMG_COARSE_FUSED_LEVELS_CUDA_LEGS_H
#define GMG_COARSE_FUSED_LEVELS_CUDA_LEGS_H

#include "cluster.cuh"

#include "coarse/cuda/dense.cuh"

/* --- smoothing ------------------------------------------------------------------------------------------------------- */

/* A thread's pair, which stays with it for a leg: first the unknown of the colour that is relaxed first. What is nobody's is 0. */
typedef struct {
  int busy, q, there[2], step; /* step: to the neighbour beyond the pair of the first; of the second it is the opposite */
  int odd;                           /* the first is the second of the pair */
  real *place[2];                    /* in u */
  real u[2], f[2], by[2], diag[2], side[2]; /* side: coupling to the neighbour beyond the pair */
  unsigned below[2], above[2];       /* the copy that the neighbours have of it, or 0 */
  unsigned to[2];                    /* their arrivals */
} own_pair;

/* What the sweeps of a level take, in registers. */
typedef struct {
  real x, y, z, keep;
  int line, plane, parts;
  unsigned come[2]; /* bytes that come with a colour, the first one first */
} own_level;

static __device__ __forceinline__ own_level hold(const small_level &L, int first)
{
  return {kept(L.coupling[0]), kept(L.coupling[1]), kept(L.coupling[2]), kept(L.keep), kept(L.line), kept(L.plane), kept(L.parts),
          {slabs[L.number].come[first], slabs[L.number].come[1 - first]}};
}

static __device__ __forceinline__ own_pair take_up(const small_level &L, const real *tables, const unsigned *words, int first,
                                                   real *memory)
{
  own_pair own = {};
  own.q = (int)threadIdx.x, own.busy = own.q < pairs_of(L, planes_of(L));
  if (!own.busy) return own;
  const unsigned word = words[L.words + own.q];
  const int entry = (int)(word & 0xffff), beyond = L.high * L.plane, rank = (int)blockIdx.x;
  own.odd = ((word & ODD) != 0) ^ first;
  own.step = own.odd ? 1 : -1;
  if (word & GOES_BELOW) own.to[0] = address_in(arrivals, rank - 1);
  if (word & GOES_ABOVE) own.to[1] = address_in(arrivals, rank + 1);
#pragma unroll
  for (int h = 0; h < 2; h++) {
    const int colour = h ^ first, second = own.odd ^ h, class_of = (int)(word >> (second ? SECOND_CLASS : CLASS) & 31);
    own.there[h] = !second || !(word & ALONE_THERE), own.place[h] = memory + L.u + colour * L.colour + entry;
    own.side[h] = word & (second ? HAS_RIGHT : HAS_LEFT) ? L.coupling[0] : (real)0;
    if (!own.there[h]) continue;
    if (word & GOES_BELOW) own.below[h] = address_in(own.place[h] + beyond, rank - 1);
    if (word & GOES_ABOVE) own.above[h] = address_in(own.place[h] - beyond, rank + 1);
    own.u[h] = *own.place[h], own.f[h] = memory[L.f + colour * L.inner + own.q];
    own.by[h] = tables[L.relax + class_of], own.diag[h] = tables[L.diag + class_of];
  }
  return own;
}

/* What the neighbours of own.u[h] contribute. */
static __device__ __forceinline__ real beside(const own_level &L, const own_pair &own, int h)
{
  const real *const o = own.place[1 - h];
  const real x = L.x * own.u[1 - h] + own.side[h] * o[h ? -own.step : own.step];
  return x + L.y * (o[-L.line] + o[L.line]) + L.z * (o[-L.plane] + o[L.plane]);
}

static __device__ __forceinline__ void put(const own_pair &own, int h, unsigned step)
{
  if (!own.there[h]) return;
  *own.place[h] = own.u[h];
  if (own.below[h]) send(own.below[h], own.u[h], own.to[0], step);
  if (own.above[h]) send(own.above[h], own.u[h], own.to[1], step);
}

static __device__ __forceinline__ void relax(const own_level &L, int sweeps, own_pair &own, unsigned *step)
{
#pragma unroll 1
  for (int s = 0; s < sweeps; s++)
#pragma unroll
    for (int h = 0; h < 2; h++) {
      if (own.busy) {
        own.u[h] = L.keep * own.u[h] + own.by[h] * (own.f[h] + beside(L, own, h));
        put(own, h, *step);
      }
      end_step(L.parts, L.come[h], step);
    }
}

/* --- down ------------------------------------------------------------------------------------------------------------ */

/* Over the threads of all blocks, if parts > 1. */
static __device__ double sum_of_all(int parts, double x)
{
  __shared__ double of_blocks[MOST_PARTS];
  x = block_sum<THREADS / 32>(x);
  if (parts == 1) return x;
  if (threadIdx.x < (unsigned)parts) *of_block(of_blocks + blockIdx.x, (int)threadIdx.x) = x;
  meet(parts);
  x = 0;
  for (int b = 0; b < parts; b++) x += of_blocks[b];
  return x;
}

/* The residual; where it will be averaged, of a pair together. */
static __device__ __forceinline__ void residual(const small_level &L, const own_level &now, const own_pair &own, real *r)
{
  real part[2] = {0, 0};
  if (!own.busy) return;
#pragma unroll
  for (int h = 0; h < 2; h++) {
    part[h] = own.f[h] - (own.diag[h] * own.u[h] - beside(now, own, h));
    if (!L.averaged && own.there[h]) r[h * L.inner + own.q] = part[h]; /* first: colour 0 */
  }
  if (L.averaged) r[own.q] = part[0] + part[1];
}

/* The restricted residual at (I, J, K) of the next coarser level. Its planes may be another block's. */
static __device__ __forceinline__ real restricted(const small_level &L, const real *tables, const real *r, int I, int J, int K)
{
  const taps &t = L.restrict_;
  const int *const ints = (const int *)tables;
  const int i0 = ints[t.first[0] + I], j0 = ints[t.first[1] + J], k0 = ints[t.first[2] + K], begin = begin_of(L),
            size = L.n[1] * L.half;
  const real *const wz = tables + t.weight[2] + K * TAPS;
  real wx[TAPS], wy[TAPS], sum = 0;
  int column[TAPS]; /* in lines where j + k is even */
#pragma unroll
  for (int m = 0; m < TAPS; m++) { /* weights are 0 where there are fewer; the first is read again for those */
    wx[m] = tables[t.weight[0] + I * TAPS + m], wy[m] = tables[t.weight[1] + J * TAPS + m];
    column[m] = i0 + (m < t.taps[0] ? m : 0);
  }
#pragma unroll 1
  for (int q = 0; q < t.taps[2]; q++) {
    const int k = k0 + q, local = k - begin, inside = L.parts == 1 || (local >= 0 && local < L.high),
              owner = inside ? 0 : k / L.high;
    const real *const plane = inside ? r + local * size : of_block(r + (k - owner * L.high) * size, owner);
    real part = 0;
#pragma unroll
    for (int s = 0; s < TAPS; s++)
      if (s < t.taps[1]) {
        const real *const line = plane + (j0 + s) * L.half;
        const int odd = (j0 + s + k) & 1;
#pragma unroll
        for (int m = 0; m < TAPS; m++) part += wy[s] * wx[m] * line[((column[m] ^ odd) & 1) * L.inner + (column[m] >> 1)];
      }
    sum += wz[q] * part;
  }
  return sum;
}

/* The same from pairs of a block's own planes, on an even mesh. */
static __device__ __forceinline__ real averaged(const small_level &L, const real *r, int I, int J, int K)
{
  const real *const at = r + ((2 * K - begin_of(L)) * L.n[1] + 2 * J) * L.half + I, *const up = at + L.n[1] * L.half;
  return (real)0.125 * ((at[0] + at[L.half]) + (up[0] + up[L.half]));
}

/* f of the next coarser level, and a u of zeros. A block does the planes that begin in its slab. */
static __device__ __forceinline__ void restrict_residual(const small_level &L, const small_level &C, const real *tables,
                                                         int singular, real *memory, const real *r)
{
#pragma unroll 1
  for (unsigned c = threadIdx.x; c < 2 * C.colour; c += THREADS) memory[C.u + c] = 0;
  if (L.averaged) __syncthreads();
  else meet(L.parts);
  const int begin = begin_of(L), end = begin + planes_of(L), most = C.n[2];
  const int from = L.halved ? (begin + 1) / 2 : begin, beyond = L.halved ? (end + 1) / 2 : end, to = beyond < most ? beyond : most;
  each_unknown(C, from, to - from, [&](int colour, int I, pair_place at, int) {
    const int K = from + at.k, owner = C.parts > 1 ? K / C.high : 0;
    const real value = L.averaged ? averaged(L, r, I, at.j, K) : restricted(L, tables, r, I, at.j, K);
    real *const place = memory + C.f + colour * C.inner + ((K - owner * C.high) * C.n[1] + at.j) * C.half + at.p;
    if (C.parts > 1) store_at(address_in(place, owner), value);
    else
#pragma unroll 1
      for (int b = 0; b < L.parts; b++)
        if (L.parts > 1) store_at(address_in(place, b), value);
        else *place = value;
  });
  meet(L.parts);
  if (!singular) return;
  double sum = 0;
  const int start = begin_of(C), planes = planes_of(C);
  each_unknown(C, start, planes, [&](int colour, int, pair_place, int q) { sum += (double)memory[C.f + colour * C.inner + q]; });
  const real mean = (real)(sum_of_all(C.parts, sum) / ((double)C.n[0] * C.n[1] * C.n[2]));
  each_unknown(C, start, planes, [&](int colour, int, pair_place, int q) { memory[C.f + colour * C.inner + q] -= mean; });
  __syncthreads();
}

static __device__ __forceinline__ void presmooth_restrict(const fused_state &s, int l, const real *tables, const unsigned *words, real *memory,
                                               unsigned *step)
{
  const small_level &L = s.level[l], &C = s.level[l + 1];
  const own_level now = hold(L, 0);
  own_pair own = take_up(L, tables, words, 0, memory);
  relax(now, s.pre, own, step);
  residual(L, now, own, memory + s.r);
  restrict_residual(L, C, tables, s.singular, memory, memory + s.r);
}

/* --- up -------------------------------------------------------------------------------------------------------------- */

/* Where planes of the next coarser level's u are. */
typedef struct {
  const real *u; /* plane `first`, of colour 0 */
  int first, colour;
} coarse_planes;

/* Here, or brought here from the blocks that have them. */
static __device__ __forceinline__ coarse_planes bring(const small_level &L, const small_level &C, const real *tables, real *u,
                                                      real *room)
{
  const int begin = begin_of(L), planes = planes_of(L), *const first = (const int *)tables + L.prolong.first[2];
  if (!L.gathers) return {u, begin_of(C) - 1, (int)C.colour};
  meet(L.parts);
  const int from = planes > 0 ? first[begin] : 0, count = planes > 0 ? first[begin + planes - 1] + L.prolong.taps[2] - from : 0;
#pragma unroll 1
  for (int c = (int)threadIdx.x; c < 2 * count * C.plane; c += THREADS) {
    const int colour = c >= count * C.plane, x = c - colour * count * C.plane, k = from + x / C.plane, owner = k / C.high;
    room[c] = *of_block(u + colour * C.colour + (k - owner * C.high + 1) * C.plane + x % C.plane, owner);
  }
  __syncthreads();
  return {room, from, count * C.plane};
}

/* A pair's correction from u of the next coarser level. */
static __device__ __forceinline__ void prolong(const small_level &L, const small_level &C, const real *tables,
                                               const coarse_planes &from, own_pair &own)
{
  const taps &t = L.prolong;
  const int *const ints = (const int *)tables;
  const pair_place place = place_of(L, own.q);
  const int k = begin_of(L) + place.k, J = ints[t.first[1] + place.j], K = ints[t.first[2] + k];
  const real *const wy = tables + t.weight[1] + place.j * TAPS, *const wz = tables + t.weight[2] + k * TAPS;
  real x[2][2], sum[2] = {0, 0};
  int column[2][2]; /* in lines where J + K is even; in the others that of the other colour */
#pragma unroll
  for (int h = 0; h < 2; h++) {
    const int i = own.there[h] ? 2 * place.p + (own.odd ^ h) : 0, I = ints[t.first[0] + i];
#pragma unroll
    for (int m = 0; m < 2; m++) { /* weights are 0 where there is one */
      const int at = t.taps[0] > 1 ? I + m : I;
      x[h][m] = tables[t.weight[0] + i * TAPS + m], column[h][m] = (at & 1) | (at >> 1) << 1;
    }
  }
#pragma unroll 1
  for (int q = 0; q < t.taps[2]; q++) {
    const real *const plane = from.u + (K + q - from.first) * C.plane;
#pragma unroll
    for (int s = 0; s < 2; s++)
      if (s < t.taps[1]) {
        const real *const line = plane + (C.line ? J + s + 1 : 0) * C.half, w = wz[q] * wy[s];
        const int odd = (J + s + K + q) & 1;
#pragma unroll
        for (int h = 0; h < 2; h++)
#pragma unroll
          for (int m = 0; m < 2; m++)
            sum[h] += w * (x[h][m] * line[((column[h][m] ^ odd) & 1) * from.colour + (column[h][m] >> 1)]);
      }
  }
  own.u[0] += own.there[0] ? sum[0] : (real)0, own.u[1] += own.there[1] ? sum[1] : (real)0;
}

/* Weight of a column in a row, of two; 0 where it is not one of them. */
static __device__ __forceinline__ real weight_of(const taps &t, const real *tables, int axis, int row, int column)
{
  const int at = column - ((const int *)tables)[t.first[axis] + row];
  return at == 0 || at == 1 ? tables[t.weight[axis] + row * TAPS + at] : (real)0;
}

/* The same where pairs lie in one coarse unknown each: of its line and the one beside, in its plane and the one beside, three values
   each. What is beyond a wall has weight 0, and another value stands in for it. */
static __device__ __forceinline__ void prolong_linearly(const small_level &L, const small_level &C, const real *tables,
                                                        const coarse_planes &from, own_pair &own)
{
  const taps &t = L.prolong;
  const pair_place at = place_of(L, own.q);
  const int k = begin_of(L) + at.k, J = at.j >> 1, K = k >> 1, p = at.p, odd = p & 1;
  const int J_beside = J - 1 + 2 * (at.j & 1), K_beside = K - 1 + 2 * (k & 1);
  const real y[2] = {weight_of(t, tables, 1, at.j, J), weight_of(t, tables, 1, at.j, J_beside)};
  const real z[2] = {weight_of(t, tables, 2, k, K), weight_of(t, tables, 2, k, K_beside)};
  real x[2], side[2], sum[2] = {0, 0};
#pragma unroll
  for (int b = 0; b < 2; b++) x[b] = weight_of(t, tables, 0, 2 * p + b, p), side[b] = weight_of(t, tables, 0, 2 * p + b, p - 1 + 2 * b);
#pragma unroll
  for (int q = 0; q < 2; q++) {
    const int plane = q ? min(max(K_beside, 0), C.n[2] - 1) : K;
#pragma unroll
    for (int s = 0; s < 2; s++) {
      const int line = s ? min(max(J_beside, 0), C.n[1] - 1) : J, colour = (p + line + plane) & 1;
      const real *const here = from.u + (plane - from.first) * C.plane + (line + 1) * C.half + (p >> 1) + (colour ? from.colour : 0);
      const real *const beside = (colour ? here - from.colour : here + from.colour) + odd;
      const real w = z[q] * y[s], middle = here[0];
      sum[0] += w * (x[0] * middle + side[0] * beside[-1]), sum[1] += w * (x[1] * middle + side[1] * beside[0]);
    }
  }
  own.u[0] += sum[own.odd], own.u[1] += sum[1 - own.odd];
}

static __device__ __forceinline__ void prolong_postsmooth(const fused_state &s, int l, const real *tables, const unsigned *words, real *memory,
                                             unsigned *step)
{
  const small_level &L = s.level[l], &C = s.level[l + 1];
  const own_level now = hold(L, s.reversed);
  own_pair own = take_up(L, tables, words, s.reversed, memory);
  const coarse_planes from = bring(L, C, tables, memory + C.u, memory + s.r);
  if (own.busy) {
    if (L.linear) prolong_linearly(L, C, tables, from, own);
    else prolong(L, C, tables, from, own);
    put(own, 0, *step), put(own, 1, *step);
  }
  end_step(now.parts, now.come[0] + now.come[1], step);
  relax(now, s.post, own, step);
}

#endif
