/* The layout of the fused levels, in shared memory and in the tables. Computed by levels.cu; included by its kernel. */
#ifndef GMG_COARSE_FUSED_LEVELS_CUDA_STATE_H
#define GMG_COARSE_FUSED_LEVELS_CUDA_STATE_H

#include "coarse/cuda/dense.cuh"
#include "core/layout.h"
#include "stencil/operator/cuda/row.cuh"

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
  int pairs;               /* of prolongation, along axis 0: position of two quads for each pair of rows, in quads. Together the
                              rows read three columns. A quad: three weights of a row, and the first column */
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
  int restricts_alone;       /* all that a block computes of the next level's f is its own, and no zeros are needed there */
  unsigned u, f;             /* positions in shared memory, in reals */
  unsigned colour, inner;    /* strides from colour to colour: in u; in f and in a residual */
  float per_half, per_lines; /* 1 / half, 1 / lines of a plane */
  real coupling[3];
  int weights;               /* position of [2][GMG_HALF_SWEEPS] numbers in the tables: weights of half sweeps, before and after the
                                correction */
  unsigned words;            /* position of the level's pair words (see CLASS in pairs.cuh) among those of the block */
  int inverse, diag;         /* positions of [DIAGONAL_CLASSES] numbers in the tables: 1 / diagonal; diagonal */
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
  unsigned pairs;          /* words of a block: own planes of all levels, then pair words (see CLASS in pairs.cuh); all blocks'
                              words follow the tables */
  unsigned quads, kept_quads; /* quads of a block's rows; of those before the exact level. All blocks' quads follow the words */
  unsigned moves;          /* quads of a block's moves, which stay in device memory; all blocks' moves follow the rows */
  int exact;               /* the exact level (exact.cuh); -1: none */
  unsigned exact_f;        /* position in shared memory, in reals, of its f and, [pitch] behind it, its u, in natural order */
  unsigned gathered;       /* position of planes that blocks send to all (gather.cuh) */
  unsigned rows, pitch;    /* a block's rows of its inverse, [rows][pitch] reals; all blocks' rows follow the moves */
  size_t bytes, kept;      /* bytes of the tables that all blocks share; without the coarsest grid's inverse */
  char *tables;            /* device memory */
  small_level level[GMG_BOTTOM_LEVELS];
  gmg_layout_32 at[GMG_BOTTOM_LEVELS]; /* layouts of the caller's fields, along the kernel's axes */
} fused_state;

/* Whether relaxation from zero writes all of a level before it reads it. */
static __host__ __device__ __forceinline__ int begins_fresh(int beyond_walls, const small_level *L)
{
  return beyond_walls < SEAMS && L->pre > 0;
}

/* Bytes of the tables in shared memory; of a block's words, rows, moves and inverse; and of what precedes the moves and the
   inverses in the tables. exact: the cycle ends on the exact level */
static __host__ __device__ __forceinline__ size_t tables_bytes(const fused_state *s, int exact)
{
  return exact ? s->kept : s->bytes;
}
static __host__ __device__ __forceinline__ size_t words_bytes(const fused_state *s) { return s->pairs * sizeof(unsigned); }
static __host__ __device__ __forceinline__ size_t rows_bytes(const fused_state *s, int exact)
{
  return (exact ? s->kept_quads : s->quads) * sizeof(real_quad);
}
static __host__ __device__ __forceinline__ size_t moves_bytes(const fused_state *s) { return s->moves * sizeof(real_quad); }
static __host__ __device__ __forceinline__ size_t inverse_bytes(const fused_state *s) { return s->rows * s->pitch * sizeof(real); }
static __host__ __device__ __forceinline__ size_t before_moves(const fused_state *s)
{
  return s->bytes + (size_t)s->blocks * (words_bytes(s) + rows_bytes(s, 0));
}
static __host__ __device__ __forceinline__ size_t before_inverse(const fused_state *s)
{
  return before_moves(s) + (size_t)s->blocks * moves_bytes(s);
}

#endif
