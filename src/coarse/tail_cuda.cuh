/* The kernels of tail_cuda.cu, which alone includes them: the small levels of a cycle in one launch, in shared memory.

   A level of some size is spread over the blocks of a cluster: each has a slab of its planes, and a copy of the plane beyond
   either end, into which the neighbour writes what it changes. Smaller levels every block does all by itself, so that nobody
   waits: a meeting of a cluster takes as long as a sweep there. A field is stored colour by colour, so a thread's neighbours read
   beside it; u has a layer of zeros around it along the axes that have neighbours, but for the first. */
#ifndef GMG_TAIL_CUDA_H
#define GMG_TAIL_CUDA_H

#include "../stencil/row_cuda.cuh"

#if __CUDA_ARCH__ >= 900 && CUDART_VERSION >= 12010
#define GMG_TAIL_ASYNC
#endif

/* FEW: entries of the coarsest grid where one warp does conjugate gradients; DENSE: unknowns of it where they are replaced by the
   inverse, whose rows lie PITCH apart. TAPS: places in a row of a map. CLASSES: unknowns that have the same diagonal, by where
   they are on each axis: first, inside, last. */
enum { THREADS = 1024, FEW = 128, DENSE = 64, PITCH = DENSE + 8, TAPS = 4, CLASSES = 27, MOST_PARTS = 16 };

/* Rows of a map, in the tables: first column and TAPS weights each. */
typedef struct {
  int first[3], weight[3]; /* places, in ints; in reals */
  int taps[3];
} taps;

typedef struct {
  int n[3];               /* along the axes in the kernel's order: planes, if there are any, lie along the last */
  int half, line, plane;  /* entries of one colour in a line; from line to line (0: there is one), from plane to plane */
  int parts, high;        /* blocks that share it, or 1; planes of each but perhaps the last */
  int halved, averaged;   /* planes go by pairs to the next coarser level; all axes do, by averages */
  int gathers;            /* what is prolonged to a slab is not all in the coarser level's slab */
  unsigned u, f;          /* places in shared memory, in reals */
  unsigned colour, inner; /* from colour to colour in u; in f and in a residual */
  float per_half, per_lines;
  real coupling[3], keep;
  int relax, diag;        /* [CLASSES] in the tables: weight over the diagonal; the diagonal */
  taps restrict_, prolong; /* to and from the next coarser level */
  const real *global_f;
  real *global_u;
} small_level;

typedef struct {
  int levels, pre, post, reversed, singular, swapped, parts;
  int inverse;         /* of the coarsest grid, in the tables, one behind a number: whether it is to be used; or -1 */
  double rtol;
  unsigned fields, r, all; /* in shared memory: after the tables u of all levels, then f, then a residual; in reals */
  size_t bytes;        /* of the tables */
  void *tables;        /* device */
  small_level level[GMG_TAIL_LEVELS];
} tail_state;

/* --- blocks of a cluster --------------------------------------------------------------------------------------------- */

static __device__ __forceinline__ void meet(int parts)
{
#if __CUDA_ARCH__ >= 900
  if (parts > 1) {
    asm volatile("barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;" ::: "memory");
    return;
  }
#endif
  __syncthreads();
}

/* The same place in another block's shared memory. */
template <class T> static __device__ __forceinline__ T *of_block(T *mine, int rank)
{
#if __CUDA_ARCH__ >= 900
  T *theirs;
  asm("mapa.u64 %0, %1, %2;" : "=l"(theirs) : "l"(mine), "r"(rank));
  return theirs;
#else
  return mine;
#endif
}

/* The same as an address of 32 bits, which is cheaper to store to. */
static __device__ __forceinline__ unsigned address_in(const void *mine, int rank)
{
  unsigned theirs = (unsigned)__cvta_generic_to_shared(mine);
#if __CUDA_ARCH__ >= 900
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(theirs) : "r"(theirs), "r"(rank));
#endif
  return theirs;
}

static __device__ __forceinline__ void store_at(unsigned address, real value)
{
#if __CUDA_ARCH__ >= 900
  if (sizeof(real) == 8) asm volatile("st.shared::cluster.f64 [%0], %1;" ::"r"(address), "d"((double)value) : "memory");
  else asm volatile("st.shared::cluster.f32 [%0], %1;" ::"r"(address), "f"((float)value) : "memory");
#endif
}

/* Neighbours in a cluster wait for each other alone: a store tells the receiver's barrier how many bytes have come, and nobody
   needs a fence (one takes as long as the sweep). Steps are counted, and take one of two barriers in turn: a neighbour is one step
   ahead at most, because it waits for what this block sends in a step. */
static __shared__ unsigned long long arrivals[2];

static __device__ __forceinline__ void prepare_arrivals()
{
#ifdef GMG_TAIL_ASYNC
  if (threadIdx.x > 0) return;
  for (int b = 0; b < 2; b++) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"((unsigned)__cvta_generic_to_shared(arrivals + b)) : "memory");
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#endif
}

static __device__ __forceinline__ void send(unsigned address, real value, unsigned their_arrivals, unsigned step)
{
#ifdef GMG_TAIL_ASYNC
  const unsigned to = their_arrivals + 8 * (step & 1);
  if (sizeof(real) == 8)
    asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.f64 [%0], %1, [%2];" ::"r"(address), "d"((double)value), "r"(to) : "memory");
  else
    asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.f32 [%0], %1, [%2];" ::"r"(address), "f"((float)value), "r"(to) : "memory");
#else
  store_at(address, value);
#endif
}

/* Ends a step, in which so many bytes come here. */
static __device__ __forceinline__ void end_step(int parts, unsigned bytes, unsigned *step)
{
#ifdef GMG_TAIL_ASYNC
  if (parts > 1) {
    const unsigned mine = (unsigned)__cvta_generic_to_shared(arrivals) + 8 * (*step & 1), parity = *step >> 1 & 1;
    unsigned done = 0;
    if (threadIdx.x == 0) asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(mine), "r"(bytes) : "memory");
    __syncthreads();
    while (!done)
      asm volatile("{\n\t.reg .pred p;\n\tmbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2;\n\tselp.u32 %0, 1, 0, p;\n\t}"
                   : "=r"(done) : "r"(mine), "r"(parity) : "memory");
    ++*step;
    return;
  }
#endif
  meet(parts);
}

/* The compiler is not to fetch it again wherever it is used. */
static __device__ __forceinline__ int kept(int x)
{
  asm("" : "+r"(x));
  return x;
}
static __device__ __forceinline__ float kept(float x)
{
  asm("" : "+f"(x));
  return x;
}
static __device__ __forceinline__ double kept(double x)
{
  asm("" : "+d"(x));
  return x;
}

static __device__ __forceinline__ int begin_of(const small_level &L) { return L.parts > 1 ? (int)blockIdx.x * L.high : 0; }
static __device__ __forceinline__ int planes_of(const small_level &L)
{
  const int left = L.n[2] - begin_of(L);
  return left < 0 ? 0 : left < L.high ? left : L.high;
}

/* --- pairs to threads ------------------------------------------------------------------------------------------------ */

/* Unknowns 2 p and 2 p + 1 of line j in plane k of a block's own: one of each colour. */
typedef struct {
  int p, j, k;
} pair_place;

/* a / b for 0 <= a < 2^20 from 1 / b */
static __device__ __forceinline__ int over(int a, float per_b) { return (int)(((float)a + 0.5f) * per_b); }

static __device__ __forceinline__ int pairs_of(const small_level &L, int planes) { return L.half * L.n[1] * planes; }

static __device__ __forceinline__ pair_place place_of(const small_level &L, int q)
{
  const int line = over(q, L.per_half), k = over(line, L.per_lines);
  return {q - line * L.half, line - k * L.n[1], k};
}

/* Place of a pair in u, in either colour. */
static __device__ __forceinline__ int entry_of(const small_level &L, pair_place at)
{
  return (at.k + 1) * L.plane + (L.line ? at.j + 1 : 0) * L.half + at.p;
}

/* body(colour, i, place, q): every unknown in that many planes, the first of which is plane `begin`. q counts pairs. */
template <class Body> static __device__ __forceinline__ void each_unknown(const small_level &L, int begin, int planes, Body body)
{
  const int pairs = pairs_of(L, planes);
#pragma unroll 1
  for (int c = (int)threadIdx.x; c < 2 * pairs; c += THREADS) {
    const int colour = c >= pairs, q = c - colour * pairs;
    const pair_place at = place_of(L, q);
    const int i = 2 * at.p + ((at.j + begin + at.k + colour) & 1);
    if (i < L.n[0]) body(colour, i, at, q);
  }
}

static __device__ __forceinline__ int side_of(int i, int n) { return i == 0 ? 0 : i == n - 1 ? 2 : 1; }

/* --- smoothing ------------------------------------------------------------------------------------------------------- */

/* A thread's pair, which stays with it for a leg: first the unknown of the colour that is relaxed first. What is nobody's is 0. */
typedef struct {
  int busy, q, i[2], there[2], step; /* step: to the neighbour beyond the pair of the first; of the second it is the opposite */
  pair_place at;
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

/* Bytes of a colour in the planes next to a block's own, which come from others. */
static __device__ __forceinline__ unsigned bytes_of(const small_level &L, int colour)
{
  const int begin = begin_of(L), end = begin + planes_of(L), cells = L.n[0] * L.n[1];
  if (L.parts == 1 || begin >= end) return 0;
  const int below = begin > 0 ? (cells + 1 - ((begin - 1 + colour) & 1)) / 2 : 0, above = end < L.n[2] ? (cells + 1 - ((end + colour) & 1)) / 2 : 0;
  return (unsigned)(below + above) * (unsigned)sizeof(real);
}

static __device__ __forceinline__ own_level hold(const small_level &L, int first)
{
  return {kept(L.coupling[0]), kept(L.coupling[1]), kept(L.coupling[2]), kept(L.keep), kept(L.line), kept(L.plane), kept(L.parts),
          {bytes_of(L, first), bytes_of(L, 1 - first)}};
}

static __device__ __forceinline__ own_pair take_up(const small_level &L, const real *tables, int first, real *memory)
{
  const int begin = begin_of(L), planes = planes_of(L), rank = (int)blockIdx.x;
  own_pair own = {};
  own.q = (int)threadIdx.x, own.busy = own.q < pairs_of(L, planes);
  if (!own.busy) return own;
  own.at = place_of(L, own.q);
  const int k = own.at.k, entry = entry_of(L, own.at), class_of_line = (side_of(begin + k, L.n[2]) * 3 + side_of(own.at.j, L.n[1])) * 3;
  const int goes_below = L.parts > 1 && k == 0 && rank > 0, goes_above = L.parts > 1 && k == L.high - 1 && begin + planes < L.n[2];
  const int odd = (own.at.j + begin + k + first) & 1; /* the first is the second of the pair */
  own.step = odd ? 1 : -1;
  own.to[0] = goes_below ? address_in(arrivals, rank - 1) : 0, own.to[1] = goes_above ? address_in(arrivals, rank + 1) : 0;
#pragma unroll
  for (int h = 0; h < 2; h++) {
    const int colour = h ^ first, i = 2 * own.at.p + (odd ^ h), there = i < L.n[0];
    own.i[h] = i, own.there[h] = there, own.place[h] = memory + L.u + colour * L.colour + entry;
    own.u[h] = own.f[h] = own.by[h] = own.diag[h] = 0;
    own.side[h] = ((odd ^ h) ? i + 1 < L.n[0] : i > 0) ? L.coupling[0] : (real)0;
    own.below[h] = there && goes_below ? address_in(own.place[h] + L.high * L.plane, rank - 1) : 0;
    own.above[h] = there && goes_above ? address_in(own.place[h] - L.high * L.plane, rank + 1) : 0;
    if (!there) continue;
    own.u[h] = *own.place[h], own.f[h] = memory[L.f + colour * L.inner + own.q];
    own.by[h] = tables[L.relax + class_of_line + side_of(i, L.n[0])], own.diag[h] = tables[L.diag + class_of_line + side_of(i, L.n[0])];
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

static __device__ __forceinline__ double warp_sum(double x)
{
#pragma unroll
  for (int d = 16; d > 0; d /= 2) x += __shfl_xor_sync(~0u, x, d);
  return x;
}

/* Over the threads of all blocks, if parts > 1. */
static __device__ double sum_of_all(int parts, double x)
{
  __shared__ double part[THREADS / 32], of_blocks[MOST_PARTS];
  x = warp_sum(x);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = x;
  __syncthreads();
  x = warp_sum(threadIdx.x % 32 < THREADS / 32 ? part[threadIdx.x % 32] : 0);
  __syncthreads();
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
  const int i0 = ints[t.first[0] + I], j0 = ints[t.first[1] + J], k0 = ints[t.first[2] + K], begin = begin_of(L);
  const real *const wx = tables + t.weight[0] + I * TAPS, *const wy = tables + t.weight[1] + J * TAPS, *const wz = tables + t.weight[2] + K * TAPS;
  real sum = 0;
#pragma unroll 1
  for (int q = 0; q < t.taps[2]; q++) {
    const int k = k0 + q, local = k - begin, inside = L.parts == 1 || (local >= 0 && local < L.high), owner = inside ? 0 : k / L.high;
    const real *const plane = inside ? r + local * L.n[1] * L.half : of_block(r + (k - owner * L.high) * L.n[1] * L.half, owner);
#pragma unroll 1
    for (int s = 0; s < t.taps[1]; s++) {
      const int j = j0 + s;
      const real *const line = plane + j * L.half, w = wz[q] * wy[s];
#pragma unroll
      for (int m = 0; m < TAPS; m++)
        if (m < t.taps[0]) sum += w * wx[m] * line[((i0 + m + j + k) & 1) * L.inner + ((i0 + m) >> 1)];
    }
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
static __device__ __forceinline__ void restrict_residual(const small_level &L, const small_level &C, const real *tables, int singular, real *memory, const real *r)
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

static __device__ __forceinline__ void go_down(const tail_state &s, int l, const real *tables, real *memory, unsigned *step)
{
  const small_level &L = s.level[l], &C = s.level[l + 1];
  const own_level now = hold(L, 0);
  own_pair own = take_up(L, tables, 0, memory);
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
static __device__ __forceinline__ coarse_planes bring(const small_level &L, const small_level &C, const real *tables, real *u, real *room)
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
static __device__ __forceinline__ void prolong(const small_level &L, const small_level &C, const real *tables, const coarse_planes &from, own_pair &own)
{
  const taps &t = L.prolong;
  const int *const ints = (const int *)tables;
  const int k = begin_of(L) + own.at.k, J = ints[t.first[1] + own.at.j], K = ints[t.first[2] + k];
  const real *const wy = tables + t.weight[1] + own.at.j * TAPS, *const wz = tables + t.weight[2] + k * TAPS;
  real x[2][2], sum[2] = {0, 0};
  int column[2][2]; /* in lines where J + K is even; in the others that of the other colour */
#pragma unroll
  for (int h = 0; h < 2; h++) {
    const int i = own.there[h] ? own.i[h] : 0, I = ints[t.first[0] + i];
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
          for (int m = 0; m < 2; m++) sum[h] += w * (x[h][m] * line[((column[h][m] ^ odd) & 1) * from.colour + (column[h][m] >> 1)]);
      }
  }
  own.u[0] += own.there[0] ? sum[0] : (real)0, own.u[1] += own.there[1] ? sum[1] : (real)0;
}

static __device__ __forceinline__ void go_up(const tail_state &s, int l, const real *tables, real *memory, unsigned *step)
{
  const small_level &L = s.level[l], &C = s.level[l + 1];
  const own_level now = hold(L, s.reversed);
  own_pair own = take_up(L, tables, s.reversed, memory);
  const coarse_planes from = bring(L, C, tables, memory + C.u, memory + s.r);
  if (own.busy) prolong(L, C, tables, from, own), put(own, 0, *step), put(own, 1, *step);
  end_step(now.parts, now.come[0] + now.come[1], step);
  relax(now, s.post, own, step);
}

/* --- the coarsest grid ----------------------------------------------------------------------------------------------- */

typedef struct {
  int i, j, k, colour, place, inner;
} cell_place;

static __device__ __forceinline__ cell_place cell_of(const small_level &L, int c)
{
  const int line = c / L.n[0], i = c - line * L.n[0], k = line / L.n[1], j = line - k * L.n[1], colour = (i + j + k) & 1;
  const pair_place at = {i >> 1, j, k};
  return {i, j, k, colour, colour * (int)L.colour + entry_of(L, at), colour * (int)L.inner + (k * L.n[1] + j) * L.half + at.p};
}

/* What the neighbours of an unknown contribute; other: of the other colour */
static __device__ __forceinline__ real beside(const small_level &L, const cell_place &c, const real *x)
{
  const int step = c.i & 1 ? 1 : -1, there = c.i & 1 ? c.i + 1 < L.n[0] : c.i > 0;
  const real *const o = x + (c.colour ? c.place - (int)L.colour : c.place + (int)L.colour);
  return L.coupling[0] * (o[0] + (there ? o[step] : (real)0)) + L.coupling[1] * (o[-L.line] + o[L.line]) + L.coupling[2] * (o[-L.plane] + o[L.plane]);
}

/* By the inverse, some threads a row: rows as unknowns lie in f, where what is nobody's is 0. */
static __device__ __forceinline__ void solve_dense(const small_level &L, const real *inverse, const real *f, real *u)
{
  enum { LANES = THREADS / DENSE };
  const int n = 2 * (int)L.inner, row = (int)threadIdx.x / LANES, colour = row >= (int)L.inner;
  real sum = 0;
#pragma unroll
  for (int c = (int)threadIdx.x % LANES; c < DENSE; c += LANES) sum += c < n ? inverse[row * PITCH + c] * f[c] : (real)0;
#pragma unroll
  for (int d = LANES / 2; d > 0; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
  if (row < n && threadIdx.x % LANES == 0) u[colour * L.colour + entry_of(L, place_of(L, row - colour * (int)L.inner))] = sum;
}

/* Conjugate gradients (cg.c), by one warp. p has the layer. */
static __device__ __noinline__ void solve(const small_level L, const real *tables, int singular, double rtol, const real *f, real *u, real *p)
{
  enum { EACH_LANE = FEW / 32 };
  const int n = L.n[0] * L.n[1] * L.n[2];
  real mine_r[EACH_LANE], mine_u[EACH_LANE], mine_p[EACH_LANE], mine_q[EACH_LANE], diag[EACH_LANE], z[EACH_LANE];
  cell_place at[EACH_LANE];
#define OWN(s) _Pragma("unroll") for (int s = 0; s < EACH_LANE; s++) if ((int)threadIdx.x + 32 * s < n)
#pragma unroll
  for (int s = 0; s < EACH_LANE; s++) {
    at[s] = cell_of(L, (int)threadIdx.x + 32 * s);
    mine_r[s] = mine_u[s] = mine_p[s] = mine_q[s] = 0, diag[s] = 1;
  }
  OWN(s) mine_r[s] = f[at[s].inner], diag[s] = tables[L.diag + (side_of(at[s].k, L.n[2]) * 3 + side_of(at[s].j, L.n[1])) * 3 + side_of(at[s].i, L.n[0])];
  const auto sum_of = [&](const real *x, const real *y) {
    double sum = 0;
    OWN(s) sum += (double)x[s] * (y ? (double)y[s] : 1);
    return warp_sum(sum);
  };
  const auto remove_mean = [&](real *x) {
    const real mean = (real)(sum_of(x, NULL) / n);
    OWN(s) x[s] -= mean;
  };
  if (singular) remove_mean(mine_r);
#pragma unroll
  for (int s = 0; s < EACH_LANE; s++) z[s] = mine_p[s] = mine_r[s] / diag[s];
  double rz = sum_of(mine_r, z);
  const double stop = rz * rtol * rtol;
  for (int turn = 0; turn < 10 * n + 100 && rz > stop; turn++) {
    OWN(s) p[at[s].place] = mine_p[s];
    __syncwarp();
    OWN(s) mine_q[s] = diag[s] * mine_p[s] - beside(L, at[s], p);
    __syncwarp();
    const double pq = sum_of(mine_p, mine_q), alpha = rz / pq, before = rz;
    if (!(pq > 0) || !isfinite(alpha)) break; /* rounding has used up the directions */
    OWN(s) mine_u[s] += (real)alpha * mine_p[s], mine_r[s] -= (real)alpha * mine_q[s];
    if (singular) remove_mean(mine_r);
#pragma unroll
    for (int s = 0; s < EACH_LANE; s++) z[s] = mine_r[s] / diag[s];
    rz = sum_of(mine_r, z);
    const real b = (real)(rz / before);
    OWN(s) mine_p[s] = z[s] + b * mine_p[s];
  }
  if (singular) remove_mean(mine_u);
  OWN(s) u[at[s].place] = mine_u[s];
#undef OWN
}

static __device__ __forceinline__ void solve_coarsest(const tail_state &s, const small_level &L, const real *tables, real *memory)
{
  real *const r = memory + s.r, *const f = memory + L.f, *const u = memory + L.u;
  if (s.inverse >= 0 && tables[s.inverse] != 0) {
    solve_dense(L, tables + s.inverse + 1, f, u);
  } else {
    for (unsigned c = threadIdx.x; c < 2 * L.colour; c += THREADS) r[c] = 0; /* the layer around directions */
    __syncthreads();
    if (threadIdx.x < 32) solve(L, tables, s.singular, s.rtol, f, u, r);
  }
  __syncthreads();
}

/* --- the cycle ------------------------------------------------------------------------------------------------------- */

static __device__ __forceinline__ size_t global_place(const small_level &L, int i, pair_place at)
{
  return ((size_t)(begin_of(L) + at.k) * L.n[1] + at.j) * L.n[0] + i;
}

static __device__ __forceinline__ void begin_cycle(const tail_state &s, const small_level &L, int from_zero, real *tables, real *memory, unsigned *step)
{
  const unsigned words = (unsigned)(s.bytes / sizeof(int4)), zeros = (unsigned)((s.r * sizeof(real) + 15) / sizeof(int4));
  const int begin = begin_of(L), planes = planes_of(L);
#pragma unroll 4
  for (unsigned c = threadIdx.x; c < words; c += THREADS) ((int4 *)tables)[c] = ((const int4 *)s.tables)[c];
#pragma unroll 1
  for (unsigned c = threadIdx.x; c < zeros; c += THREADS) ((int4 *)memory)[c] = make_int4(0, 0, 0, 0);
  if (L.parts > 1) prepare_arrivals();
  meet(L.parts);
  each_unknown(L, begin, planes, [&](int colour, int i, pair_place at, int q) {
    memory[L.f + colour * L.inner + q] = L.global_f[global_place(L, i, at)];
    if (!from_zero) memory[L.u + colour * L.colour + entry_of(L, at)] = L.global_u[global_place(L, i, at)];
  });
  __syncthreads();
  if (from_zero) return;
  const own_pair own = take_up(L, tables, 0, memory);
  put(own, 0, *step), put(own, 1, *step);
  end_step(L.parts, bytes_of(L, 0) + bytes_of(L, 1), step);
}

/* cycle() of cycle.c without recursion. What every level is in the middle of: its kind of cycle, and whether the next coarser one
   is on its second visit. */
static __global__ void __launch_bounds__(THREADS, 1) tail_kernel(const __grid_constant__ tail_state s, int start, int cycle, int from_zero)
{
  extern __shared__ double shared[];
  real *const tables = (real *)shared, *const memory = (real *)((char *)shared + s.bytes);
  const int last = s.levels - 1;
  unsigned f_cycles = 0, w_cycles = 0, again = 0; /* a bit a level */
  unsigned step = 0;
  int l = start, now = cycle;
  begin_cycle(s, s.level[start], from_zero, tables, memory, &step);
  for (;;) {
    for (; l < last; l++) {
      const unsigned bit = 1u << l;
      go_down(s, l, tables, memory, &step);
      f_cycles = now == GMG_CYCLE_F ? f_cycles | bit : f_cycles & ~bit;
      w_cycles = now == GMG_CYCLE_W ? w_cycles | bit : w_cycles & ~bit;
      again &= ~bit;
    }
    solve_coarsest(s, s.level[last], tables, memory);
    int down = 0;
    while (l > start && !down) {
      const unsigned bit = 1u << (l - 1);
      if (((f_cycles | w_cycles) & bit) && !(again & bit) && l < last) {
        again |= bit, now = w_cycles & bit ? GMG_CYCLE_W : GMG_CYCLE_V, down = 1;
        break;
      }
      l--;
      go_up(s, l, tables, memory, &step);
    }
    if (!down) break;
  }
  const small_level &first = s.level[start];
  each_unknown(first, begin_of(first), planes_of(first), [&](int colour, int i, pair_place at, int) {
    first.global_u[global_place(first, i, at)] = memory[first.u + colour * first.colour + entry_of(first, at)];
  });
}

/* --- the tables ------------------------------------------------------------------------------------------------------ */

typedef struct {
  gmg_map restrict_[3], prolong[3]; /* in the kernel's order */
} maps;

/* A row begins so far inside that all its taps are columns. */
static __device__ void prepare_map(const gmg_map &m, real *tables, int first, int weight)
{
  for (int r = (int)threadIdx.x; r < m.rows; r += (int)blockDim.x) {
    const int from = m.first[r], most = m.cols - m.width, at = from < 0 ? 0 : from > most ? most : from;
    ((int *)tables)[first + r] = at;
    for (int t = 0; t < TAPS; t++) {
      const int old = at + t - from;
      tables[weight + r * TAPS + t] = t < m.width && old >= 0 && old < m.width ? gmg_at(m.weight, (size_t)r * m.width + old) : (real)0;
    }
  }
}

static __device__ real diagonal(const gmg_operator &A, int swapped, int i, int j, int k)
{
  return gmg_row_at<GMG_CONSTANT>(A, i, swapped ? k : j, swapped ? j : k).diag;
}

static __global__ void prepare_kernel(gmg_operator A, small_level L, maps m, int swapped, double omega, int transfers, real *tables)
{
  if (threadIdx.x < CLASSES) {
    const int side[3] = {(int)threadIdx.x % 3, (int)threadIdx.x / 3 % 3, (int)threadIdx.x / 9};
    int at[3];
    for (int a = 0; a < 3; a++) at[a] = side[a] == 2 ? L.n[a] - 1 : side[a] < L.n[a] ? side[a] : 0;
    const real diag = diagonal(A, swapped, at[0], at[1], at[2]);
    tables[L.diag + threadIdx.x] = diag, tables[L.relax + threadIdx.x] = (real)omega / diag;
  }
  for (int a = 0; a < 3 && transfers; a++) {
    prepare_map(m.restrict_[a], tables, L.restrict_.first[a], L.restrict_.weight[a]);
    prepare_map(m.prolong[a], tables, L.prolong.first[a], L.prolong.weight[a]);
  }
}

/* The inverse of the coarsest grid's operator by elimination (Gauss, Jordan), which needs no pivots: the operator is symmetric and
   positive definite. Where it is singular that of A + a P, P taking the mean, less P / a: it takes the mean off what it is given and
   what it gives. Where rounding would leave little of it, to[0] = 0. */
static __global__ void invert_kernel(gmg_operator A, small_level L, int swapped, int singular, real *to)
{
  __shared__ double M[DENSE][DENSE + 1], column[DENSE], norm[2][DENSE];
  __shared__ int at[DENSE][3];
  const int n = 2 * (int)L.inner, cells = L.n[0] * L.n[1] * L.n[2], t = (int)threadIdx.x;
  const double large = (double)diagonal(A, swapped, 0, 0, 0);
  if (t < n) {
    const int colour = t >= (int)L.inner;
    const pair_place p = place_of(L, t - colour * (int)L.inner);
    const int i = 2 * p.p + ((p.j + p.k + colour) & 1);
    at[t][0] = i < L.n[0] ? i : -1, at[t][1] = p.j, at[t][2] = p.k;
  }
  __syncthreads();
  for (int x = t; x < n * n; x += (int)blockDim.x) {
    const int a = x / n, b = x - a * n, nobody = at[a][0] < 0 || at[b][0] < 0;
    const int d[3] = {abs(at[a][0] - at[b][0]), abs(at[a][1] - at[b][1]), abs(at[a][2] - at[b][2])}, far = d[0] + d[1] + d[2];
    double value = 0;
    if (a == b) value = nobody ? 1 : (double)diagonal(A, swapped, at[a][0], at[a][1], at[a][2]);
    else if (!nobody && far == 1) value = -(double)L.coupling[d[0] ? 0 : d[1] ? 1 : 2];
    M[a][b] = value;
  }
  __syncthreads();
  if (t < n) {
    norm[0][t] = 0;
    for (int b = 0; b < n; b++) norm[0][t] += fabs(M[t][b]);
  }
  __syncthreads();
  for (int x = t; singular && x < n * n; x += (int)blockDim.x)
    if (at[x / n][0] >= 0 && at[x % n][0] >= 0) M[x / n][x % n] += large / cells;
  for (int s = 0; s < n; s++) {
    __syncthreads();
    const double pivot = 1 / M[s][s];
    if (t < n) column[t] = M[t][s];
    __syncthreads();
    if (t < n) M[s][t] = (t == s ? 1 : M[s][t]) * pivot;
    __syncthreads();
    for (int x = t; x < n * n; x += (int)blockDim.x) {
      const int a = x / n, b = x - a * n;
      if (a != s) M[a][b] = (b == s ? 0 : M[a][b]) - column[a] * M[s][b];
    }
  }
  __syncthreads();
  for (int x = t; singular && x < n * n; x += (int)blockDim.x) M[x / n][x % n] -= 1 / (large * cells);
  __syncthreads();
  if (t < n) {
    norm[1][t] = 0;
    for (int b = 0; b < n; b++)
      if (at[t][0] >= 0 && at[b][0] >= 0) norm[1][t] += fabs(M[t][b]);
  }
  for (int x = t; x < DENSE * PITCH; x += (int)blockDim.x) {
    const int a = x / PITCH, b = x - a * PITCH;
    to[1 + x] = a < n && b < n && at[a][0] >= 0 && at[b][0] >= 0 ? (real)M[a][b] : (real)0;
  }
  __syncthreads();
  if (t > 0) return;
  double most[2] = {0, 0};
  for (int a = 0; a < n; a++) most[0] = fmax(most[0], norm[0][a]), most[1] = fmax(most[1], norm[1][a]);
  to[0] = most[0] * most[1] * (sizeof(real) == 8 ? 1e-16 : 6e-8) < 1e-3; /* NaN: not */
}

#endif
