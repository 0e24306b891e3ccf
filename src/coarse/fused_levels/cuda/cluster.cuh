/* What the kernels of the small levels share (cuda/kernels.cuh): how levels lie in memory, how the blocks of a cluster reach each other
   and wait, which pair of unknowns is whose. */
#ifndef GMG_COARSE_FUSED_LEVELS_CUDA_CLUSTER_H
#define GMG_COARSE_FUSED_LEVELS_CUDA_CLUSTER_H

#include "core/cuda/pdl.cuh"
#include "stencil/operator/cuda/row.cuh"

#if __CUDA_ARCH__ >= 900 && CUDART_VERSION >= 12010
#define FUSED_ASYNC_STORES
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
  int number, parts, high; /* blocks that share it, or 1; planes of each but perhaps the last */
  int halved, averaged;   /* planes go by pairs to the next coarser level; all axes do, by averages */
  int linear;             /* all axes come by pairs from there, linearly */
  int gathers;            /* what is prolonged to a slab is not all in the coarser level's slab */
  unsigned u, f;          /* places in shared memory, in reals */
  unsigned colour, inner; /* from colour to colour in u; in f and in a residual */
  float per_half, per_lines;
  real coupling[3], keep;
  unsigned words;         /* place of the level's words about pairs in the block's */
  int relax, diag;        /* [CLASSES] in the tables: weight over the diagonal; the diagonal */
  taps restrict_, prolong; /* to and from the next coarser level */
} small_level;

typedef struct {
  int levels, pre, post, reversed, singular, swapped, parts;
  int inverse;         /* of the coarsest grid, in the tables, one behind a number: whether it is to be used; or -1 */
  double rtol;
  unsigned fields, r, all; /* in shared memory: after the tables u of all levels, then f, then a residual; in reals */
  unsigned pairs;      /* words about pairs, a block's own; they come behind the tables, block by block */
  size_t bytes;        /* of the tables without them */
  void *tables;        /* device */
  small_level level[GMG_BOTTOM_LEVELS];
} fused_state;

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
#ifdef FUSED_ASYNC_STORES
  if (threadIdx.x > 0) return;
  for (int b = 0; b < 2; b++)
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"((unsigned)__cvta_generic_to_shared(arrivals + b)) : "memory");
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#endif
}

static __device__ __forceinline__ void send(unsigned address, real value, unsigned their_arrivals, unsigned step)
{
#ifdef FUSED_ASYNC_STORES
  const unsigned to = their_arrivals + 8 * (step & 1);
  if (sizeof(real) == 8)
    asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.f64 [%0], %1, [%2];" ::"r"(address),
                 "d"((double)value), "r"(to)
                 : "memory");
  else
    asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.f32 [%0], %1, [%2];" ::"r"(address), "f"((float)value),
                 "r"(to)
                 : "memory");
#else
  store_at(address, value);
#endif
}

/* Ends a step, in which so many bytes come here. */
static __device__ __forceinline__ void end_step(int parts, unsigned bytes, unsigned *step)
{
#ifdef FUSED_ASYNC_STORES
  if (parts > 1) {
    const unsigned mine = (unsigned)__cvta_generic_to_shared(arrivals) + 8 * (*step & 1), parity = *step >> 1 & 1;
    unsigned done = 0;
    if (threadIdx.x == 0) asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(mine), "r"(bytes) : "memory");
    __syncthreads();
    while (!done)
      asm volatile("{\n\t.reg .pred p;\n\tmbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2;\n\tselp.u32 %0, 1, "
                   "0, p;\n\t}"
                   : "=r"(done)
                   : "r"(mine), "r"(parity)
                   : "memory");
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

/* A block's own part of a level, worked out once: every warp would spend as much on it as on a sweep. */
typedef struct {
  int begin, planes;
  unsigned come[2]; /* bytes of either colour in the planes next to it, which come from others */
} slab;

static __shared__ slab slabs[GMG_BOTTOM_LEVELS];

static __device__ __forceinline__ int first_plane(const small_level &L) { return L.parts > 1 ? (int)blockIdx.x * L.high : 0; }
static __device__ __forceinline__ int count_planes(const small_level &L) { return max(min(L.n[2] - first_plane(L), L.high), 0); }

static __device__ __forceinline__ void prepare_slab(const small_level &L, slab *to)
{
  const int begin = first_plane(L), planes = count_planes(L), end = begin + planes, cells = L.n[0] * L.n[1];
  to->begin = begin, to->planes = planes;
  for (int colour = 0; colour < 2; colour++) {
    const int below = begin > 0 ? (cells + 1 - ((begin - 1 + colour) & 1)) / 2 : 0,
              above = end < L.n[2] ? (cells + 1 - ((end + colour) & 1)) / 2 : 0;
    to->come[colour] = L.parts > 1 && planes > 0 ? (unsigned)(below + above) * (unsigned)sizeof(real) : 0;
  }
}

static __device__ __forceinline__ int begin_of(const small_level &L) { return slabs[L.number].begin; }
static __device__ __forceinline__ int planes_of(const small_level &L) { return slabs[L.number].planes; }

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

/* What is known about a pair beforehand, in a word: 16 bits are its entry, twice 5 the classes. */
enum {
  CLASS = 16,
  SECOND_CLASS = 21,
  ODD = 1 << 26,
  ALONE_THERE = 1 << 27,
  HAS_LEFT = 1 << 28,
  HAS_RIGHT = 1 << 29,
  GOES_BELOW = 1 << 30
};
static const unsigned GOES_ABOVE = 1u << 31;

/* ODD: plane, line and pair are such that its first unknown is of colour 1. */
static __device__ __forceinline__ unsigned word_of(const small_level &L, const slab &own, int q, int rank)
{
  const pair_place at = place_of(L, q);
  const int k = own.begin + at.k, i = 2 * at.p, line = (side_of(k, L.n[2]) * 3 + side_of(at.j, L.n[1])) * 3;
  unsigned word = (unsigned)entry_of(L, at) | (unsigned)(line + side_of(i, L.n[0])) << CLASS |
                  (unsigned)(line + side_of(i + 1, L.n[0])) << SECOND_CLASS;
  if ((at.j + k) & 1) word |= ODD;
  if (i + 1 >= L.n[0]) word |= ALONE_THERE;
  if (i > 0) word |= HAS_LEFT;
  if (i + 2 < L.n[0]) word |= HAS_RIGHT;
  if (L.parts > 1 && at.k == 0 && rank > 0) word |= GOES_BELOW;
  if (L.parts > 1 && at.k == L.high - 1 && own.begin + own.planes < L.n[2]) word |= GOES_ABOVE;
  return word;
}

#endif
