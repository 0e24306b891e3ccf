/* The tile of the asynchronous smoother on the host: its memory, its position in the level, and the layout of its lines. A line is
   stored with its even columns first and its odd columns after them. The unknowns of one colour, and all their neighbours, are then
   contiguous. Column 2 m is even[m], 2 m + 1 is odd[m]. The neighbours of even[m] along the line are odd[m - 1] and odd[m].
   Included by host/tile_io.h. */
#ifndef GMG_SMOOTHERS_ASYNC_HOST_TILE_H
#define GMG_SMOOTHERS_ASYNC_HOST_TILE_H

#include "core/host/atomics.h"
#include "stencil/operator/host/grid_row.h"
#include "smoothers/relax/partition.h"

#include <string.h>

/* Fields of coefficients of a plane. They are stored only if they are arrays. With coefficients on faces every row is multiplied by
   its control volume, which makes it symmetric. Then there is one number per face, the coupling across it, which relaxation reads
   from both sides. A face is stored with the unknown above it. Without a neighbour it is 0. */
enum { INVERSE, FACE_X, FACE_Y, FACE_Z, COEFFICIENTS };
/* Lines that all planes of a tile share. */
enum { LO, HI, COUPLING, VOLUME, SHARED_INVERSE, KNOWN_INVERSES = 4, AXIS_LINES = SHARED_INVERSE + KNOWN_INVERSES };
/* CACHE_LINE: reals in a cache line. LEAD: column of a block's first own unknown. It is even, and its half of the line begins at a
   cache line. Where blocks are cut, it is a multiple of LEAD (async_state::lead). */
enum { CACHE_LINE = 64 / sizeof(real), LEAD = 2 * CACHE_LINE };
/* Coefficients of a row or a plane. */
enum { SIDE_LO, SIDE_HI, SIDE_DIAG, SIDE_VOLUME, SIDES };

typedef struct {
  gmg_blocks blocks;
  size_t margin[3];    /* layers around the block: overlap, and a ring that is only read; at least the ring */
  long depth;          /* layers beyond its own unknowns that can influence them in a pass; LONG_MAX: no block is cut */
  size_t lead;         /* column of a tile's first own unknown: a multiple of LEAD, at least the layers before it */
  int reach;           /* layers of a block that the tiles of other blocks read */
  int row, stream;     /* axis of the lines in a plane, and of the planes; a missing axis is 2 */
  int versions;        /* Jacobi stores u after every sweep separately */
  int coefficients;    /* fields of coefficients of a plane */
  size_t slots, rows, half; /* planes stored at a time; lines of a plane; half the length of a line */
  size_t plane;        /* numbers of a plane of a field */
  size_t side;         /* length of the row axis or the stream axis of a tile, whichever is longer */
  int *order;          /* [blocks.total] */
  char *tiles;         /* one per thread */
  size_t tile_bytes;
  int threads;
  scalar *before;      /* deterministic: copy of u before the pass */
  real *inverse;       /* 1 / diagonal (fill_inverse()); NULL if it is the same in nearly all lines */
} async_state;

/* A run of tile columns whose unknowns are consecutive. There are several if the tile crosses the seam of a periodic axis. */
typedef struct {
  long begin, end;
  size_t global; /* index of the unknown at `begin` */
} piece;

enum { MAX_PIECES = 8 };

/* A block being relaxed. Tile coordinates start at `origin`, which may be outside the level. */
typedef struct {
  const async_state *s;
  scalar *values;     /* versions of u, and the right-hand side */
  real *coefficients; /* fields of coefficients */
  real *shared, *sides[2]; /* shared: AXIS_LINES lines; sides: SIDES values for every row, and for every plane */
  long origin[3], size[3];
  long exist[3][2];        /* the part of the tile that exists: all of it, except beyond walls */
  long relax[3][2], own[3][2];
  piece pieces[MAX_PIECES];
  int count;               /* number of pieces */
  size_t parity;           /* parity of the origin: colour of a cell = (parity + i + j + k) % 2 */
  real inverse_of[KNOWN_INVERSES]; /* lines SHARED_INVERSE + i contain 1 / (diag + inverse_of[i]) */
  int oldest;              /* index of the next to be replaced */
  int alone;               /* no other thread reads or writes the same values */
  size_t passes;
  long part;               /* part of a line that is prefetched at once, in whole cache lines */
} tile;

/* Fields of values of a plane: the versions of u, and the right-hand side. */
static size_t value_fields(const async_state *s) { return (size_t)s->versions + 1; }

static tile tile_memory(const async_state *s, int thread)
{
  tile t = {.s = s, .values = (scalar *)(s->tiles + s->tile_bytes * (size_t)thread)};
  t.coefficients = (real *)(t.values + value_fields(s) * s->slots * s->plane);
  t.shared = t.coefficients + (size_t)s->coefficients * s->slots * s->plane;
  t.sides[0] = t.shared + AXIS_LINES * 2 * s->half;
  t.sides[1] = t.sides[0] + SIDES * s->side;
  memset(t.values, 0, s->tile_bytes);
  return t;
}

static int exists(const tile *t, int a, long i) { return i >= t->exist[a][0] && i < t->exist[a][1]; }

static real *shared_line(const tile *t, int which) { return t->shared + (size_t)which * 2 * t->s->half; }

/* Where plane q of a field begins, counted from the first field. */
static size_t plane_at(const tile *t, int field, long q)
{
  return ((size_t)field * t->s->slots + (size_t)q % t->s->slots) * t->s->plane;
}

static size_t line_at(const tile *t, long j) { return (size_t)j * 2 * t->s->half; }

/* Plane q of a version of u, of the right-hand side, and of a field of coefficients; and line j of it. */
static scalar *u_plane(const tile *t, int version, long q) { return t->values + plane_at(t, version, q); }
static scalar *f_plane(const tile *t, long q) { return u_plane(t, t->s->versions, q); }
static real *coefficient_plane(const tile *t, int field, long q) { return t->coefficients + plane_at(t, field, q); }
static scalar *u_line(const tile *t, int version, long q, long j) { return u_plane(t, version, q) + line_at(t, j); }
static scalar *f_line(const tile *t, long q, long j) { return f_plane(t, q) + line_at(t, j); }
static real *coefficient_line(const tile *t, int field, long q, long j) { return coefficient_plane(t, field, q) + line_at(t, j); }

/* Unknown of a tile coordinate. */
static size_t global_index(const tile *t, const gmg_operator *A, int a, long i)
{
  return (size_t)gmg_index_or_none(t->origin[a] + i, (long)A->n[a], 1);
}

/* --- conversion between natural order and even and odd columns -------------------------------------------------------- */

#define VALUE scalar
#define OF(name) name##_values
#define LOAD gmg_load
#include "split.h"
#undef VALUE
#undef OF
#undef LOAD

#define VALUE real
#define OF(name) name##_coefficients
#define LOAD gmg_load_real
#include "split.h"
#undef VALUE
#undef OF
#undef LOAD

GMG_INLINE void put(const int shared, scalar *p, scalar v)
{
  if (shared) gmg_store(p, v);
  else *p = v;
}

/* Stores columns begin .. end - 1 of a line as consecutive values. */
GMG_INLINE void merge_values(const int shared, const scalar *restrict line, long begin, long end, size_t half, scalar *to)
{
  const int odd_first = begin < end && begin % 2;
  if (odd_first) put(shared, to, line[half + (size_t)begin / 2]);
  const long first = (begin + odd_first) / 2, pairs = (end - begin - odd_first) / 2;
  const scalar *restrict even = line + first, *restrict odd = line + half + first;
  to += odd_first;
#pragma omp simd
  for (long m = 0; m < pairs; m++) {
    put(shared, to + 2 * m, even[m]);
    put(shared, to + 2 * m + 1, odd[m]);
  }
  if (begin + odd_first + 2 * pairs < end) put(shared, to + 2 * pairs, even[pairs]);
}

/* Control volumes are divided by the mean width, because they might leave the range of float. */
static real volume_along(const gmg_operator *A, int a, size_t i) { return ((const real *)A->volume[a])[i] / (real)A->h[a]; }

/* Loads the coefficients of every row or plane of the tile. */
static void read_sides(const tile *t, const gmg_operator *A, int a, real *to)
{
  const real *lo = A->lo[a], *hi = A->hi[a], *diag = A->diag[a];
  for (long i = t->exist[a][0]; i < t->exist[a][1]; i++) {
    const size_t g = global_index(t, A, a, i);
    real *side = to + SIDES * i;
    side[SIDE_LO] = lo[g], side[SIDE_HI] = hi[g], side[SIDE_DIAG] = diag[g], side[SIDE_VOLUME] = volume_along(A, a, g);
  }
}

/* Loads control volumes along axis 0, and the couplings of symmetric rows to the column below. */
static void read_volumes(const tile *t, const gmg_operator *A)
{
  const real *lo = A->lo[0];
  for (long i = t->exist[0][0]; i < t->exist[0][1]; i++) {
    const size_t g = global_index(t, A, 0, i), at = (size_t)(i / 2) + (i % 2 ? t->s->half : 0);
    const real volume = volume_along(A, 0, g);
    shared_line(t, VOLUME)[at] = volume, shared_line(t, COUPLING)[at] = lo[g] * volume;
  }
}

/* A block's own unknowns begin .. end - 1, and the layers that the tile has below and above them. */
typedef struct {
  long begin, end, below, above;
} extent;

/* Where a block is cut, the tile has the layers that can reach own unknowns: one more with every half sweep. Others relax the rest
   of the block. */
static extent extent_of(const async_state *s, int a, size_t at)
{
  const gmg_blocks *b = &s->blocks;
  const long shape = (long)b->shape[a], margin = (long)s->margin[a], first = (long)b->first[a], last = (long)b->end[a];
  const long begin = b->start[a] + (long)at * shape, end = begin + shape < b->stop[a] ? begin + shape : b->stop[a];
  extent x = {begin, end, margin, margin};
  if (begin < first) x.begin = first, x.below = first - begin + margin;
  if (end > last) x.end = last, x.above = end - last + margin;
  if (x.below > s->depth && x.begin == first) x.below = s->depth;
  if (x.above > s->depth && x.end == last) x.above = s->depth;
  return x;
}

/* Places the tile of a block. On a periodic axis it wraps, and may cover copies of its own unknowns; at a wall the overlap ends.
   Returns 1 if it contains a seam: the end of a periodic axis of odd size. */
static int place(tile *t, const gmg_operator *A, size_t block)
{
  const gmg_blocks *b = &t->s->blocks;
  size_t at[3];
  int seam = 0;
  t->parity = 0;
  gmg_indices_of(block, b->count, at);
  for (int a = 0; a < 3; a++) {
    const extent x = extent_of(t->s, a, at[a]);
    const long n = (long)A->n[a], own = a == 0 ? (long)t->s->lead : x.below, origin = x.begin - own, begin = own - x.below;
    const long size = own + x.end - x.begin + x.above;
    t->origin[a] = origin, t->size[a] = size;
    t->exist[a][0] = A->wraps[a] || origin + begin >= 0 ? begin : -origin;
    t->exist[a][1] = A->wraps[a] || origin + size <= n ? size : n - origin;
    t->relax[a][0] = t->exist[a][0] > begin + 1 ? t->exist[a][0] : begin + 1;
    t->relax[a][1] = t->exist[a][1] < size - 1 ? t->exist[a][1] : size - 1;
    t->own[a][0] = own, t->own[a][1] = size - x.above;
    t->parity += (size_t)(origin + 2 * (long)t->s->lead); /* an even shift keeps it positive */
    seam |= A->wraps[a] && n % 2 && (origin + begin < 0 || origin + size > n);
  }
  t->count = 0;
  for (long i = t->exist[0][0]; i < t->exist[0][1];) {
    const size_t g = global_index(t, A, 0, i);
    const long rest = (long)(A->n[0] - g), end = i + rest < t->exist[0][1] ? i + rest : t->exist[0][1];
    t->pieces[t->count++] = (piece){i, end, g};
    i = end;
  }
  split_line_coefficients(t, A->lo[0], shared_line(t, LO));
  split_line_coefficients(t, A->hi[0], shared_line(t, HI));
  if (A->face[0]) read_volumes(t, A);
  read_sides(t, A, t->s->row, t->sides[0]);
  read_sides(t, A, t->s->stream, t->sides[1]);
  for (int i = 0; i < KNOWN_INVERSES; i++) t->inverse_of[i] = -1; /* diagonals are positive */
  return seam;
}

#endif
