/* The legs of a cycle on one of the fused levels, for levels.cu. Downward: smoothing, residual and restriction. Upward:
   prolongation and smoothing. For rows and beyond_walls see relax.cuh. Included by coarsest.cuh for kernels.cuh. */
#ifndef GMG_COARSE_FUSED_LEVELS_CUDA_LEGS_H
#define GMG_COARSE_FUSED_LEVELS_CUDA_LEGS_H

#include "gather.cuh"
#include "relax.cuh"

/* --- downward leg ---------------------------------------------------------------------------------------------------- */

/* The restricted residual at (I, J, K) as the average of four pair sums in the block's own planes. */
static __device__ __forceinline__ scalar averaged(const small_level &L, const scalar *r, int I, int J, int K)
{
  const scalar *const at = r + ((2 * K - begin_of(L)) * L.n[1] + 2 * J) * L.half + I, *const up = at + L.n[1] * L.half;
  return (real)0.125 * ((at[0] + at[L.half]) + (up[0] + up[L.half]));
}

/* Computes f of the next coarser level and, if its smoothing needs them, zeros in u. Blocks share both levels or none. A block
   computes the coarse planes that begin within its own planes. Behind r there is space for its planes, restricted in themselves:
   blocks read those of others. */
template <int beyond_walls, int shared>
static __device__ __forceinline__ void restrict_residual(const small_level &L, const small_level &C, const real *tables,
                                                         scalar *memory, scalar *r)
{
  const int begin = begin_of(L), end = begin + planes_of(L), most = C.n[2], size = C.n[0] * C.n[1];
  const int from = L.halved ? (begin + 1) / 2 : begin, to = end == L.n[2] ? most : min(L.halved ? (end + 1) / 2 : end, most);
  scalar *const planes = r + 2 * L.inner;
  if (!begins_fresh(beyond_walls, &C)) {
#pragma unroll 1
    for (unsigned c = threadIdx.x; c < 2 * C.colour; c += THREADS) memory[C.u + c] = 0;
  }
  __syncthreads();
  if (!L.averaged) {
    restrict_in_planes<beyond_walls, 2>(L, C, tables, r, planes);
    cluster_sync(is_shared<shared>(L));
  }
  each_unknown(C, from, to - from, [&](int exists, int colour, int I, pair_place at) {
    const int K = from + at.k, owner = C.blocks > 1 ? K / C.depth : 0, column = at.j * C.n[0] + I;
    if (!exists) return;
    const scalar value = L.averaged ? averaged(L, r, I, at.j, K) : restricted_along<beyond_walls>(L, tables, K, [&](int k) {
      const int local = k - begin, inside = !is_shared<shared>(L) || (local >= 0 && local < L.depth), from_block = k / L.depth;
      return inside ? planes[local * size + column] : *in_block(planes + (k - from_block * L.depth) * size + column, from_block);
    });
    scalar *const place = memory + C.f + colour * C.inner + ((K - owner * C.depth) * C.n[1] + at.j) * C.half + at.p;
    if (is_shared<shared>(L)) store_at(address_in(place, owner), value);
    else *place = value;
  });
  cluster_sync(shared ? !L.restricts_alone : L.blocks > 1);
}

/* from_zero: u is 0, though memory may hold other values. */
template <int beyond_walls, int rows, int shared>
static __device__ __forceinline__ void presmooth_restrict(const fused_state &s, int l, int from_zero, const real *tables,
                                                          const unsigned *words, const real_quad *quads, scalar *memory,
                                                          unsigned *step)
{
  const small_level &L = s.level[l], &C = s.level[l + 1];
  const own_level now = load_level<shared>(L, tables, 0, 0);
  const int fresh = from_zero && begins_fresh(beyond_walls, &L);
  own_pair own = load_pair<beyond_walls, rows>(L, tables, words, quads, 0, fresh, memory);
  relax<beyond_walls, rows>(now, L.pre, fresh, own, step);
  residual<beyond_walls, rows>(L, now, own, tables, words, memory + s.r);
  if (is_shared<shared>(L) && C.blocks == 1) gather_restricted<beyond_walls, shared>(s, L, C, tables, memory);
  else restrict_residual<beyond_walls, shared>(L, C, tables, memory, memory + s.r);
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
  cluster_sync(1); /* C is shared, and so is L */
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

/* Adds to a pair the correction from the next coarser level. Along axis 0 its unknowns read three columns. */
template <int beyond_walls>
static __device__ __forceinline__ void prolong(const small_level &L, const small_level &C, const real *tables,
                                               const coarse_planes &from, own_pair &own)
{
  const taps &t = L.prolong;
  const int *const ints = (const int *)tables;
  const pair_place place = place_of(L, own.q);
  const int plane_of_pair = begin_of(L) + place.k, J = ints[t.first[1] + place.j], K = ints[t.first[2] + plane_of_pair];
  const real *const wy = tables + t.weight[1] + place.j * MAX_TAPS, *const wz = tables + t.weight[2] + plane_of_pair * MAX_TAPS;
  const real_quad *const wx = (const real_quad *)tables + t.pairs + 2 * place.p;
  const real_quad x[2] = {wx[own.odd], wx[!own.odd]};
  int column[2][3]; /* for lines with even or odd j + k */
  scalar sum[3] = {0, 0, 0};
#pragma unroll
  for (int m = 0; m < 3; m++) { /* where the weights are 0, any column may be read */
    const int i = (int)x[0].w + m, wraps = beyond_walls && L.ends[0] & GMG_WRAPS;
    const int at = wraps ? wrapped<beyond_walls>(i, C.n[0]) : min(i, C.n[0] - 1);
    column[0][m] = (at & 1) * from.colour + (at >> 1), column[1][m] = (~at & 1) * from.colour + (at >> 1);
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
        for (int m = 0; m < 3; m++) sum[m] += w * line[odd ? column[1][m] : column[0][m]];
      }
  }
#pragma unroll
  for (int h = 0; h < 2; h++) own.u[h] += own.exists[h] ? x[h].x * sum[0] + (x[h].y * sum[1] + x[h].z * sum[2]) : (scalar)0;
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
  return (const real_quad *)(s.tables + before_moves(&s)) + blockIdx.x * s.moves;
}

template <int beyond_walls, int rows, int shared>
static __device__ __forceinline__ void prolong_postsmooth(const fused_state &s, int l, const real *tables, const unsigned *words,
                                                          const real_quad *quads, scalar *memory, unsigned *step)
{
  const small_level &L = s.level[l], &C = s.level[l + 1];
  const own_level now = load_level<shared>(L, tables, 1, s.reversed);
  own_pair own = load_pair<beyond_walls, rows>(L, tables, words, quads, s.reversed, 0, memory);
  const coarse_planes from = gather_planes<beyond_walls>(L, C, tables, memory + C.u, memory + s.r);
  if (own.busy) {
    if (rows && L.moves >= 0) prolong_by_rows<beyond_walls>(L, C, tables, moves_of(s), from, own);
    else prolong<beyond_walls>(L, C, tables, from, own);
    store_unknown(own, 0, *step), store_unknown(own, 1, *step);
  }
  end_step(now.shared, now.incoming[0] + now.incoming[1], step);
  relax<beyond_walls, rows>(now, L.post, 0, own, step);
}

#endif
