/* Geometry of levels and blocks for the kernels of rows, planes and tiles, and the thread blocks of the plane sweep. Included by
   them. */
#ifndef GMG_SMOOTHERS_RELAX_CUDA_GEOMETRY_H
#define GMG_SMOOTHERS_RELAX_CUDA_GEOMETRY_H

#include "stencil/operator/cuda/uniform_columns.cuh"

extern "C" {
#include "smoothers/relax/partition.h"
}

/* Bits c < count with low <= first + c <= high. */
static __device__ __forceinline__ unsigned bit_range(int first, int count, int low, int high)
{
  const int start = min(max(low - first, 0), count), end = min(max(high + 1 - first, 0), count);
  return ((1u << end) - 1) & ~((1u << start) - 1);
}

/* Hides from the compiler that it has computed with x before. Otherwise the compiler keeps everything that follows from x in
   registers, and spills more important values. */
static __device__ __forceinline__ unsigned opaque(unsigned x)
{
  asm volatile("" : "+r"(x));
  return x;
}

/* Shape of a thread block of the plane sweep. Columns are assigned in pairs: 32 across the first axis, at most `rows` behind each
   other. `blocks` thread blocks per multiprocessor limit registers. One exact sweep holds fewer planes, and fits more rows in the
   same memory. A pass of two local sweeps at 512^3 on an H200, before steps ran in whole groups (plane_sweep.cuh):
   - double: 1.36 ms with 10 rows; 1.6 ms with 8, 9 or 11; 12 leave too little L1 cache;
   - float: 0.75 ms with 2 thread blocks of 8 rows; 0.80 ms with 16 rows; 0.90 ms with 10 rows. */
template <int HALF_SWEEPS> struct plane_shape {
  static constexpr int is_double = sizeof(real) == 8, keeps_f = !is_double; /* keeps_f: f stays in registers once it is loaded */
  /* the planes between the first and the last half sweep, and some more */
  static constexpr int steps = HALF_SWEEPS == 2 ? 6 : 8, slots = 2 * steps;
  static constexpr int rows = HALF_SWEEPS == 2 ? (is_double ? 12 : 10) : is_double ? 10 : 8, threads = 32 * rows;
  static constexpr int blocks = is_double ? 1 : 2;
  /* in shared memory: u of columns A and of columns B (plane_sweep.cuh), and f of both */
  static constexpr int pitch = 32 + 2, plane = pitch * (rows + 2), colour = slots * plane;
  static constexpr int reals = 2 * colour + slots * 2 * threads;
};

/* The axes of kernels of planes and rows: across (0, 1) and along (2) the columns. In 2D axis 1 has one unknown. `pitches` is the
   part of a layout that they need. With a full layout a kernel parameter is larger than 128 bytes. The compiler then accesses it
   differently, which costs the row sweep in float 4 % more instructions. */
typedef struct {
  int row, plane, first;
} pitches;

static inline pitches pitches_of(gmg_layout l, int dim) { return {(int)l.row, (int)gmg_pitch(l, dim - 1), (int)l.first}; }

/* Pointer to the first unknown of a field; NULL stays NULL. */
static inline scalar *first_unknown(const pitches &p, const void *x) { return x ? (scalar *)x + p.first : NULL; }

/* A full layout along these axes. */
static inline gmg_layout_32 layout_along(gmg_layout l, int dim)
{
  gmg_layout_32 x = gmg_layout_32_of(l);
  if (dim == 2) x.n[2] = x.n[1], x.n[1] = x.rows = 1;
  return x;
}

/* Offset of a column, that is, of its unknown in plane 0. */
static __device__ __forceinline__ int column_offset(const pitches &p, int i, int j)
{
  const gmg_layout_32 plane = {{0, 0, 0}, (unsigned)p.row, 0, (unsigned)p.first};
  return (int)gmg_offset_32(plane, (unsigned)i, (unsigned)j, 0);
}

/* Whether faces have the same offsets as unknowns, so that kernels compute them once. Across the last axis of the level: offsets of
   columns and of planes. Across axis 1 in 3D: offsets of columns. Faces across axis 0 are not compared. */
static inline int face_offsets_match(const gmg_operator *A)
{
  const pitches at = pitches_of(gmg_layout_of(A), A->dim), along = pitches_of(gmg_face_layout_of(A, A->dim - 1), A->dim);
  const pitches across = A->dim == 3 ? pitches_of(gmg_face_layout_of(A, 1), 3) : at;
  return along.row == at.row && along.plane == at.plane && along.first == at.first && across.row == at.row &&
         across.first == at.first;
}

/* A level and its blocks. `ends` is what is beyond the ends of the axes, as GMG_WRAPS and so on (core/layout.h). Only the plane
   sweep supports mirror images; elsewhere `ends` is 1 on a periodic axis, and 0 on others. */
typedef struct {
  int n[3], ends[3];
  pitches layout;       /* layout of its fields */
  int own[3], count[3]; /* unknowns of a full block; number of blocks */
  int reversed;
  unsigned total;
  const int *order;     /* NULL: natural order */
} block_level;

static inline block_level block_level_of(const gmg_operator *A, const gmg_blocks *b, const int *order, int reversed)
{
  const int axis[3] = {0, A->dim == 3 ? 1 : 2, A->dim - 1};
  block_level x = {};
  for (int a = 0; a < 3; a++) {
    x.n[a] = (int)A->n[axis[a]], x.ends[a] = A->wraps[axis[a]];
    x.own[a] = (int)b->shape[axis[a]], x.count[a] = (int)b->count[axis[a]];
  }
  x.layout = pitches_of(gmg_layout_of(A), A->dim);
  x.reversed = reversed, x.total = (unsigned)b->total, x.order = order;
  return x;
}

/* The block at position `index` of the given order. */
static __device__ __forceinline__ int block_at(const block_level &s, unsigned index)
{
  const unsigned number = s.reversed ? s.total - 1 - index : index;
  return s.order ? s.order[number] : (int)number;
}

/* The first unknown of block b, and the number of its own unknowns. */
static __device__ __forceinline__ void place_block(const block_level &s, int b, int begin[3], int own[3])
{
  const auto place = [&](int a, int at) { begin[a] = at * s.own[a], own[a] = min(s.own[a], s.n[a] - begin[a]); };
  const int line = b / s.count[0];
  place(0, b - line * s.count[0]), place(1, line % s.count[1]), place(2, line / s.count[1]);
}

/* The thread blocks of a pass: one for each of the first `whole` blocks of unknowns, and `pieces` for each of the others, which
   are cut along the last axis into pieces of `depth` unknowns. */
typedef struct {
  unsigned whole, pieces, total;
  int depth;
} block_pieces;

/* Cuts the last blocks so that all multiprocessors finish at about the same time. `room` thread blocks run at once, and without
   pieces the last round has only few. A block or a piece takes the time of `fill` planes more than it has. Returns the time of all
   rounds in planes. */
static inline size_t cut_last_blocks(const gmg_blocks *b, size_t room, size_t fill, block_pieces *p)
{
  enum { MAX_PIECES = 32 };
  const size_t planes = b->shape[2];
  size_t least = 0;
  for (size_t rounds = 0; rounds <= b->total / room; rounds++)
    for (size_t pieces = 1; pieces <= MAX_PIECES; pieces++) {
      const size_t rest = b->total - rounds * room, depth = (planes + pieces - 1) / pieces;
      const size_t time = rounds * (planes + fill) + (rest * pieces + room - 1) / room * (depth + fill);
      if ((pieces - 1) * depth >= planes || (least && time >= least)) continue;
      least = time;
      *p = {(unsigned)(rounds * room), (unsigned)pieces, (unsigned)(rounds * room + rest * pieces), (int)depth};
    }
  return least;
}

/* The unknowns of thread block `index`. There may be none in the last piece of a block. */
static __device__ __forceinline__ void place_piece(const block_level &s, const block_pieces &p, unsigned index, int begin[3],
                                                   int own[3])
{
  const unsigned beyond = index - p.whole, cut = index >= p.whole, block = cut ? p.whole + beyond / p.pieces : index;
  place_block(s, block_at(s, block), begin, own);
  if (!cut) return;
  const int skipped = (int)(beyond % p.pieces) * p.depth;
  begin[2] += skipped, own[2] = min(p.depth, own[2] - skipped);
}

/* A level with constant coefficients. */
struct uniform_level : block_level {
  const void *diag[3];
  real shift, coupling[3], weight[GMG_HALF_SWEEPS];
};

/* Whether other blocks (or this one, across a seam) read unknown i of an axis. They read two layers at every face that is not a
   wall. */
static __device__ __forceinline__ int seen_by_others(const uniform_level &s, int a, int i)
{
  const int v = i % s.own[a], begin = i - v, own = min(s.own[a], s.n[a] - begin);
  const int wraps = s.ends[a] & GMG_WRAPS;
  return ((wraps || begin > 0) && v < 2) || ((wraps || begin + own < s.n[a]) && v >= own - 2);
}

/* Whether all couplings along an axis are equal, no wall mirrors, and unknowns of one colour never meet at a seam. */
static inline int is_uniform_level(const gmg_operator *A)
{
  int uniform = gmg_is_uniform(A) && A->cells <= 0x7fffffff;
  for (int a = 0; a < A->dim; a++) uniform = uniform && !(A->wraps[a] && A->n[a] % 2);
  return uniform;
}

/* Rows of threads of a block. */
static inline size_t plane_rows(const gmg_blocks *b) { return (b->shape[1] + 3) / 2; }

/* Chooses blocks of unknowns. Returns 0 if the wanted blocks (0: any) do not fit. Shapes are chosen so that all blocks finish at
   about the same time. Filling and emptying the pipeline takes each block the time of FILL_PLANES planes. A block has whole
   pairs of lines, unless it is the last: the second column of a thread with a single line would lie in the ring. The plane sweep
   adds a line to a last block that does not end at a wall. */
template <int HALF_SWEEPS>
static int plane_blocks(const gmg_operator *A, const size_t wanted[3], size_t processors, gmg_blocks *b)
{
  typedef plane_shape<HALF_SWEEPS> shape;
  enum { FILL_PLANES = 3 * HALF_SWEEPS + 2, MAX_PARTS = 32, MIN_ROWS = 2, BESIDE = 30, MAX_ROWS = shape::rows };
  enum { MIN_AROUND = 3 }; /* a block reads two unknowns beyond the ends of an axis, around it or of its mirror image */
  gmg_blocks best = {};
  size_t least = 0;
  for (int a = 0; a < 3; a++)
    if (gmg_ends_of(A, a) && A->n[a] < MIN_AROUND) return 0;
  for (size_t rows = MAX_ROWS; rows >= MIN_ROWS && 3 * rows >= 2 * MAX_ROWS; rows--)
    for (size_t parts = 1; parts <= MAX_PARTS && parts <= A->n[2]; parts++) {
      const size_t want[3] = {BESIDE, 2 * rows - 2, (A->n[2] + parts - 1) / parts};
      *b = gmg_blocks_make(A, wanted, want);
      size_t paired[3] = {wanted[0], wanted[1], wanted[2]};
      for (int a = 0; a < 3; a++)
        if (b->shape[a] % 2 && b->count[a] > 1 && !wanted[a]) paired[a] = b->shape[a] + 1; /* transfers also process pairs */
      *b = gmg_blocks_make(A, paired, want);
      if (b->shape[1] % 2 && b->count[1] > 1) continue;
      const size_t room = processors * (size_t)shape::blocks;
      const size_t time = (b->total + room - 1) / room * (b->shape[2] + FILL_PLANES) * plane_rows(b);
      const size_t ring = 2 * (b->shape[0] + b->shape[1] + b->shape[1] % 2 + 4); /* each thread has at most one column of it */
      if (plane_rows(b) > MAX_ROWS || b->shape[0] > BESIDE || ring > 32 * plane_rows(b) || (least && time >= least)) continue;
      best = *b, least = time;
    }
  *b = best;
  return least > 0;
}

static inline uniform_level uniform_level_of(const gmg_operator *A, const gmg_blocks *b, const int *order,
                                             const double weight[GMG_HALF_SWEEPS], int reversed)
{
  const int axis[3] = {0, A->dim == 3 ? 1 : 2, A->dim - 1};
  uniform_level x = {block_level_of(A, b, order, reversed)};
  for (int a = 0; a < 3; a++) x.diag[a] = A->diag[axis[a]], x.coupling[a] = (real)A->coupling[axis[a]];
  x.shift = (real)A->shift;
  for (int h = 0; h < GMG_HALF_SWEEPS; h++) x.weight[h] = (real)weight[h];
  return x;
}

#endif
