/* Parts of the fused-levels kernel (kernels.cuh): the layout of levels, communication and barriers between the blocks of a cluster,
   and the assignment of pairs of unknowns to threads. Included by relax.cuh and tables.cuh. */
#ifndef GMG_COARSE_FUSED_LEVELS_CUDA_CLUSTER_H
#define GMG_COARSE_FUSED_LEVELS_CUDA_CLUSTER_H

#include "coarse/cuda/dense.cuh"
#include "core/cuda/pdl.cuh"
#include "core/layout.h"
#include "stencil/operator/cuda/row.cuh"

#if __CUDA_ARCH__ >= 900 && CUDART_VERSION >= 12010
#define FUSED_ASYNC_STORES
#endif

/* - MAX_CELLS_WARP: unknowns of a coarsest grid that one warp solves by conjugate gradients.
   - INVERSE_PITCH: distance between rows of the inverse that solves smaller grids.
   - MAX_CELLS_EXACT, MAX_AXIS_EXACT: unknowns of the exact level, and along one of its axes, at most.
   - MAX_TAPS: columns in a row of a map, at most.
   - FEW_TAPS: columns that are read in any case.
   - DIAGONAL_CLASSES: unknowns with the same diagonal, by position along each axis: first, inner, last. */
enum {
  THREADS = 1024,
  MAX_CELLS_WARP = 128,
  INVERSE_PITCH = MAX_CELLS_INVERSE + 8,
  MAX_CELLS_EXACT = 768,
  MAX_AXIS_EXACT = 32,
  MAX_TAPS = 5,
  FEW_TAPS = 3,
  DIAGONAL_CLASSES = 27
};

/* What the levels of a solver have beyond their walls. A kernel is compiled for each.
   - NOTHING: zeros.
   - IMAGES: neighbours across the seam of an even periodic axis, or images behind a wall that mirrors.
   - SEAMS: also neighbours across the seam of an odd periodic axis. Two unknowns of the same colour meet there. */
enum { NOTHING, IMAGES, SEAMS };

/* Four numbers, which are read at once. */
struct alignas(16) real_quad {
  real x, y, z, w;
};

/* A number of the coarsest grid's inverse. In float the product would lose its digits where coefficients vary by orders of
   magnitude. */
template <int rows> struct inverse_type {
  typedef real number;
};
template <> struct inverse_type<1> {
  typedef double number;
};
template <int rows> using inverse_number = typename inverse_type<rows>::number;

/* The rows of a pair of unknowns, where coefficients vary: quads SECOND * s and SECOND * s + 1 for its unknown s.
   - SIDES: couplings to the other unknown of the pair, to the neighbour outside the pair, and along axis 1.
   - ALONG: couplings along axis 2; diagonal; weight / diagonal. */
enum { SIDES, ALONG, SECOND, QUADS = 2 * SECOND };

/* The rows of a map in the tables: first column and MAX_TAPS weights each. */
typedef struct {
  int first[3], weight[3]; /* positions in the tables, in ints and in reals */
  int taps[3];             /* columns of a row */
} taps;

/* One of the fused levels, in shared memory and in the tables. */
typedef struct {
  int n[3];                  /* along the axes in the kernel's order: planes, if any, are along the last */
  int ends[3];               /* what is beyond the ends of the axes (GMG_WRAPS and so on) */
  int half, line, plane;     /* entries of one colour in a line; strides from line to line (0: there is one line) and from plane to
                                plane */
  int number, blocks, depth; /* number of the level; blocks that share it, or 1; planes of every block except perhaps the last */
  int busy;                  /* blocks that have planes */
  int halved;                /* planes are coarsened in pairs */
  int pre, post;             /* sweeps before and after the correction */
  int averaged;              /* all axes are coarsened in pairs, and residuals are restricted by averaging */
  int rows;                  /* where coefficients vary: position of [QUADS][inner] quads among those of the block */
  int moves;                 /* where prolongation depends on them: position of [2][inner] quads among the moves of the block, with
                                the weights of the parent and of its neighbours along the axes; otherwise -1 */
  int gathers_planes;        /* a block needs coarse planes that are stored in other blocks */
  unsigned u, f;             /* positions in shared memory, in reals */
  unsigned colour, inner;    /* strides from colour to colour: in u; in f and in a residual */
  float per_half, per_lines; /* 1 / half, 1 / lines of a plane */
  real coupling[3], keep;    /* keep: 1 - weight of the relaxation */
  unsigned words;            /* position of the level's pair words (see CLASS below) among those of the block */
  int relax, diag;           /* positions of [DIAGONAL_CLASSES] numbers in the tables: weight / diagonal; diagonal */
  int around;                /* position of [DIAGONAL_CLASSES / 3] line_neighbours in the tables */
  double volume;             /* sum of relative_volume() */
  taps restrict_, prolong;   /* to and from the next coarser level */
} small_level;

/* Steps in u from an unknown to its neighbours along axes 1 and 2, by the position of its line: below, above, in the plane below,
   in the plane above. Beyond a wall that mirrors, the neighbour's image is the neighbour on the other side. */
typedef int4 line_neighbours;

/* The state of fused levels, passed to the kernel by value. swapped: axes 1 and 2 are exchanged, so that in 2D rows are treated as
   planes. */
typedef struct {
  int levels, reversed, singular, swapped, blocks;
  int beyond_walls; /* NOTHING, IMAGES or SEAMS */
  int has_rows;     /* coefficients vary: every unknown has a row */
  int inverse; /* position in the tables, in its numbers, of a flag and, after it, the coarsest grid's inverse; -1: none; flag:
                  not 0 if usable */
  double rtol;
  unsigned fields, r, all; /* positions in shared memory after the tables, in reals: of f, of a residual, of the end */
  unsigned pairs;          /* pair words (see CLASS below) of a block; all blocks' words follow the tables */
  unsigned quads;          /* quads of a block's rows; all blocks' quads follow the words */
  unsigned moves;          /* quads of a block's moves, which stay in device memory; all blocks' moves follow the rows */
  int exact;               /* the exact level (exact.cuh); -1: none */
  unsigned rows, pitch;    /* a block's rows of its inverse, [rows][pitch] reals; all blocks' rows follow the moves */
  size_t bytes;            /* bytes of the tables that all blocks share */
  char *tables;            /* device memory */
  small_level level[GMG_BOTTOM_LEVELS];
  gmg_layout_32 at[GMG_BOTTOM_LEVELS]; /* layouts of the caller's fields, along the kernel's axes */
} fused_state;

/* Bytes of a block's words, rows, moves and inverse, and what precedes the moves and the inverses in the tables. */
static __host__ __device__ __forceinline__ size_t words_bytes(const fused_state *s) { return s->pairs * sizeof(unsigned); }
static __host__ __device__ __forceinline__ size_t rows_bytes(const fused_state *s) { return s->quads * sizeof(real_quad); }
static __host__ __device__ __forceinline__ size_t moves_bytes(const fused_state *s) { return s->moves * sizeof(real_quad); }
static __host__ __device__ __forceinline__ size_t inverse_bytes(const fused_state *s) { return s->rows * s->pitch * sizeof(real); }
static __host__ __device__ __forceinline__ size_t before_moves(const fused_state *s)
{
  return s->bytes + (size_t)s->blocks * (words_bytes(s) + rows_bytes(s));
}
static __host__ __device__ __forceinline__ size_t before_inverse(const fused_state *s)
{
  return before_moves(s) + (size_t)s->blocks * moves_bytes(s);
}

/* --- blocks of a cluster --------------------------------------------------------------------------------------------- */

/* Whether blocks share a level. shared: 1 if that is known. */
template <int shared> static __device__ __forceinline__ int is_shared(const small_level &L) { return shared || L.blocks > 1; }

/* A barrier of all blocks or, if they do not share the level, of this one. */
static __device__ __forceinline__ void cluster_sync(int shared)
{
#if __CUDA_ARCH__ >= 900
  if (shared) {
    asm volatile("barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;" ::: "memory");
    return;
  }
#endif
  __syncthreads();
}

/* The address in another block's shared memory that corresponds to `mine` in this one. */
template <class T> static __device__ __forceinline__ T *in_block(T *mine, int rank)
{
#if __CUDA_ARCH__ >= 900
  T *theirs;
  asm("mapa.u64 %0, %1, %2;" : "=l"(theirs) : "l"(mine), "r"(rank));
  return theirs;
#else
  return mine;
#endif
}

/* The address that in_block() returns, in 32 bits, for store_at() and send(). A store to it is cheaper than one through a
   pointer. */
static __device__ __forceinline__ unsigned address_in(const void *mine, int rank)
{
  unsigned theirs = (unsigned)__cvta_generic_to_shared(mine);
#if __CUDA_ARCH__ >= 900
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(theirs) : "r"(theirs), "r"(rank));
#endif
  return theirs;
}

static __device__ __forceinline__ void store_at(unsigned address, scalar value)
{
#if __CUDA_ARCH__ >= 900
  if (sizeof(scalar) == 8) asm volatile("st.shared::cluster.f64 [%0], %1;" ::"r"(address), "d"((double)value) : "memory");
  else asm volatile("st.shared::cluster.f32 [%0], %1;" ::"r"(address), "f"((float)value) : "memory");
#endif
}

/* A block waits only for its neighbours. A store informs the receiver's barrier of the number of bytes that have arrived, so no
   fence is needed (a fence takes as long as a sweep). Steps are counted, and alternate between two barriers. A neighbour is at most
   one step ahead, because it waits for the data that this block sends in a step. */
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

static __device__ __forceinline__ void send(unsigned address, scalar value, unsigned their_arrivals, unsigned step)
{
#ifdef FUSED_ASYNC_STORES
  const unsigned to = their_arrivals + 8 * (step & 1);
  if (sizeof(scalar) == 8)
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

/* Ends a step in which this block receives `bytes`. */
static __device__ __forceinline__ void end_step(int shared, unsigned bytes, unsigned *step)
{
#ifdef FUSED_ASYNC_STORES
  if (shared) {
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
  cluster_sync(shared);
}

/* Keeps the compiler from loading x again at every use. */
static __device__ __forceinline__ int in_register(int x)
{
  asm("" : "+r"(x));
  return x;
}
static __device__ __forceinline__ float in_register(float x)
{
  asm("" : "+f"(x));
  return x;
}
static __device__ __forceinline__ double in_register(double x)
{
  asm("" : "+d"(x));
  return x;
}

/* Whether a level has an odd periodic axis a. */
static __host__ __device__ __forceinline__ int has_seam(const small_level &L, int a) { return L.ends[a] & GMG_WRAPS && L.n[a] % 2; }

/* A block's own planes of a level. Computed once, because every warp would spend as much time on it as on a sweep. */
typedef struct {
  int begin, planes;
  unsigned incoming[2]; /* bytes that other blocks send in the step of a colour, for the two adjacent planes */
  unsigned late[2];     /* bytes of a colour that arrive across a seam, in the step after its own */
} own_planes;

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

/* Calls body(exists, colour, i, place) for every unknown of `planes` planes, starting at plane `begin`, in `lanes` adjacent
   threads. All threads of a warp call it together; exists: whether there is an unknown. */
template <int lanes, class Body>
static __device__ __forceinline__ void each_unknown(const small_level &L, int begin, int planes, Body body)
{
  const int pairs = pairs_of(L, planes), me = (int)threadIdx.x / lanes;
#pragma unroll 1
  for (int first = 0; first < 2 * pairs; first += THREADS / lanes) {
    const int c = min(first + me, 2 * pairs - 1), colour = c >= pairs;
    const pair_place at = place_of(L, c - colour * pairs);
    const int i = 2 * at.p + ((at.j + begin + at.k + colour) & 1);
    body(first + me == c && i < L.n[0], colour, i, at);
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
