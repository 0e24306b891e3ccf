/* The tile of the asynchronous smoother on the host: where it lies, how planes get in and out, what a line of it looks
   like. A line is stored with its even columns first and its odd columns after them, so that the unknowns of one colour,
   and all their neighbours, are contiguous: column 2 m is even[m], 2 m + 1 is odd[m], and the neighbours of even[m] along
   the line are odd[m - 1] and odd[m]. Included by async_host.c alone. */
#ifndef GMG_ASYNC_TILE_HOST_H
#define GMG_ASYNC_TILE_HOST_H

#include "../core/shared_host.h"
#include "../stencil/line_host.h"
#include "blocks.h"

#include <string.h>

/* What a plane holds besides its versions of u. Coefficients only where they are arrays; a face is the one below. */
enum { RHS, INVERSE, FACE_X, FACE_Y, FACE_Z, COEFFICIENTS };
/* Lines of a tile that all planes share. */
enum { LO, HI, SHARED_INVERSE, SCRATCH, AXIS_LINES };
/* Column of a block's first own unknown: even, and its half of the line begins on a cache line. */
enum { LEAD = 128 / sizeof(real) };
/* Coefficients of a row or a plane. */
enum { SIDE_LO, SIDE_HI, SIDE_DIAG, SIDES };

typedef struct {
  gmg_blocks blocks;
  size_t margin[3];    /* layers of a tile around its block: overlap and a ring that is only read; at least the ring */
  int reach;           /* how far the tiles of other blocks reach into a block */
  int row, stream;     /* axes of the lines in a plane and of the planes; an axis that is not there is 2 */
  int versions;        /* Jacobi keeps u after every sweep apart */
  size_t fields, slots, rows, half; /* a plane's fields; planes in flight; lines of a plane; half a line */
  size_t plane;        /* reals of a plane of a field */
  size_t side;         /* length of the longer of the row and the stream axis of a tile */
  int *order;          /* [blocks.total] */
  char *tiles;         /* one per thread */
  size_t tile_bytes;
  int threads;
  real *before;        /* deterministic: u before the pass */
} async_state;

/* A stretch of tile columns whose unknowns are consecutive: more than one where the tile runs around a periodic axis. */
typedef struct {
  long begin, end;
  size_t global; /* unknown at begin */
} piece;

enum { PIECES = 8 };

/* One block at work. Tile coordinates count from `origin`, which may lie outside the level. */
typedef struct {
  const async_state *s;
  real *memory;
  real *shared, *sides[2]; /* AXIS_LINES lines; SIDES values for every row, and for every plane */
  long origin[3], size[3];
  long exist[3][2];        /* what there is: all of it, but for what lies beyond walls */
  long relax[3][2], own[3][2];
  piece pieces[PIECES];
  int count;               /* of pieces */
  size_t parity;           /* of the origin: colour of a cell = (parity + i + j + k) % 2 */
  real inverse_of;         /* SHARED_INVERSE holds 1 / (diag + this) */
  int alone;               /* nobody else writes what is read, or reads what is written */
  size_t passes;
} tile;

static tile tile_memory(const async_state *s, int thread)
{
  tile t = {.s = s, .memory = (real *)(s->tiles + s->tile_bytes * (size_t)thread)};
  t.shared = t.memory + s->fields * s->slots * s->plane;
  t.sides[0] = t.shared + AXIS_LINES * 2 * s->half;
  t.sides[1] = t.sides[0] + SIDES * s->side;
  memset(t.memory, 0, s->tile_bytes);
  return t;
}

static int exists(const tile *t, int a, long i) { return i >= t->exist[a][0] && i < t->exist[a][1]; }

static real *shared_line(const tile *t, int which) { return t->shared + (size_t)which * 2 * t->s->half; }

/* Plane q of a field. */
static real *field_plane(const tile *t, int field, long q)
{
  return t->memory + ((size_t)field * t->s->slots + (size_t)q % t->s->slots) * t->s->plane;
}

static real *field_line(const tile *t, int field, long q, long j) { return field_plane(t, field, q) + (size_t)j * 2 * t->s->half; }

/* Unknown of a tile coordinate. */
static size_t global_index(const tile *t, const gmg_operator *A, int a, long i)
{
  const long n = (long)A->n[a], g = t->origin[a] + i;
  return (size_t)(g >= 0 && g < n ? g : ((g % n) + n) % n);
}

/* --- in: natural order to even and odd columns ---------------------------------------------------------------------- */

/* Columns begin .. end - 1 of a line from consecutive values. */
static void split(const real *restrict from, long begin, long end, size_t half, real *restrict line)
{
  real *restrict even = line, *restrict odd = line + half;
  if (begin < end && begin % 2) odd[begin / 2] = *from++, begin++;
  const long pairs = (end - begin) / 2;
  even += begin / 2, odd += begin / 2;
#pragma omp simd
  for (long m = 0; m < pairs; m++) even[m] = from[2 * m], odd[m] = from[2 * m + 1];
  if (begin + 2 * pairs < end) even[pairs] = from[2 * pairs];
}

static void merge(const real *restrict line, long begin, long end, size_t half, real *restrict to)
{
  const real *restrict even = line, *restrict odd = line + half;
  if (begin < end && begin % 2) *to++ = odd[begin / 2], begin++;
  const long pairs = (end - begin) / 2;
  even += begin / 2, odd += begin / 2;
#pragma omp simd
  for (long m = 0; m < pairs; m++) to[2 * m] = even[m], to[2 * m + 1] = odd[m];
  if (begin + 2 * pairs < end) to[2 * pairs] = even[pairs];
}

/* The ring beyond walls is read, under couplings that are 0: it must hold numbers. */
static void clear_ring(const tile *t, real *line)
{
  const size_t half = t->s->half;
  for (long i = LEAD - (long)t->s->margin[0]; i < t->exist[0][0]; i++) line[(size_t)(i / 2) + (i % 2 ? half : 0)] = 0;
  for (long i = t->exist[0][1]; i < t->size[0]; i++) line[(size_t)(i / 2) + (i % 2 ? half : 0)] = 0;
}

/* A tile line from an array along axis 0, wherever its columns lie. */
static void split_line(const tile *t, const real *from, real *line)
{
  const size_t half = t->s->half;
  for (int c = 0; c < t->count; c++)
    split(from + t->pieces[c].global, t->pieces[c].begin, t->pieces[c].end, half, line);
  clear_ring(t, line);
}

/* Values that other threads may be writing go through a private line, one by one. */
static void split_shared_line(const tile *t, const real *from, real *line)
{
  real *scratch = shared_line(t, SCRATCH);
  for (int c = 0; c < t->count; c++) {
    const piece *p = &t->pieces[c];
    for (long i = p->begin; i < p->end; i++) scratch[i] = gmg_load(from + p->global + (size_t)(i - p->begin));
  }
  split(scratch + t->exist[0][0], t->exist[0][0], t->exist[0][1], t->s->half, line);
  clear_ring(t, line);
}

/* The coefficients of every row or plane of the tile. */
static void read_sides(const tile *t, const gmg_operator *A, int a, real *to)
{
  const real *lo = A->lo[a], *hi = A->hi[a], *diag = A->diag[a];
  for (long i = t->exist[a][0]; i < t->exist[a][1]; i++) {
    const size_t g = global_index(t, A, a, i);
    to[SIDES * i + SIDE_LO] = lo[g], to[SIDES * i + SIDE_HI] = hi[g], to[SIDES * i + SIDE_DIAG] = diag[g];
  }
}

/* Places the tile of a block. Along a periodic axis it runs on around the wrap, even onto copies of its own unknowns; at a
   wall the overlap ends. Returns 1 if it meets a seam: the wrap of a periodic axis of odd size. */
static int place(tile *t, const gmg_operator *A, size_t block)
{
  const gmg_blocks *b = &t->s->blocks;
  const size_t at[3] = {block % b->count[0], block / b->count[0] % b->count[1], block / (b->count[0] * b->count[1])};
  int seam = 0;
  t->parity = 0;
  for (int a = 0; a < 3; a++) {
    const long n = (long)A->n[a], first = (long)(at[a] * b->shape[a]), margin = (long)t->s->margin[a];
    const long last = first + (long)b->shape[a] < n ? first + (long)b->shape[a] : n;
    const long own = a == 0 ? LEAD : margin, origin = first - own, begin = own - margin, size = own + last - first + margin;
    t->origin[a] = origin, t->size[a] = size;
    t->exist[a][0] = A->wraps[a] || origin + begin >= 0 ? begin : -origin;
    t->exist[a][1] = A->wraps[a] || origin + size <= n ? size : n - origin;
    t->relax[a][0] = t->exist[a][0] > begin + 1 ? t->exist[a][0] : begin + 1;
    t->relax[a][1] = t->exist[a][1] < size - 1 ? t->exist[a][1] : size - 1;
    t->own[a][0] = own, t->own[a][1] = size - margin;
    t->parity += (size_t)(origin + 2 * LEAD); /* even shift: keeps it positive */
    seam |= A->wraps[a] && n % 2 && (origin + begin < 0 || origin + size > n);
  }
  t->count = 0;
  for (long i = t->exist[0][0]; i < t->exist[0][1];) {
    const size_t g = global_index(t, A, 0, i);
    const long rest = (long)(A->n[0] - g), end = i + rest < t->exist[0][1] ? i + rest : t->exist[0][1];
    t->pieces[t->count++] = (piece){i, end, g};
    i = end;
  }
  split_line(t, A->lo[0], shared_line(t, LO));
  split_line(t, A->hi[0], shared_line(t, HI));
  read_sides(t, A, t->s->row, t->sides[0]);
  read_sides(t, A, t->s->stream, t->sides[1]);
  t->inverse_of = -1; /* diagonals are positive */
  return seam;
}

/* Where a line of the level begins, and its row and plane. */
typedef struct {
  size_t j, k, offset;
} level_line;

static level_line level_line_at(const tile *t, const gmg_operator *A, long q, long j)
{
  const size_t plane = global_index(t, A, t->s->stream, q), row = global_index(t, A, t->s->row, j);
  const size_t J = A->dim == 3 ? row : plane, K = A->dim == 3 ? plane : 0;
  return (level_line){J, K, (K * A->n[1] + J) * A->n[0]};
}

/* One over the diagonal, where it differs from unknown to unknown. */
GMG_INLINE void read_inverse(const int dim, const int kind, const tile *t, const gmg_operator *A, level_line at, real *line)
{
  const gmg_line l = gmg_line_coefficients(A, at.j, at.k);
  real *restrict scratch = shared_line(t, SCRATCH);
  for (int c = 0; c < t->count; c++) {
    const piece *p = &t->pieces[c];
    for (long i = p->begin; i < p->end; i++)
      scratch[i] = 1 / gmg_line_row(dim, kind, &l, p->global + (size_t)(i - p->begin)).diag;
  }
  split(scratch + t->exist[0][0], t->exist[0][0], t->exist[0][1], t->s->half, line);
}

/* No other block reads or writes line j of plane q during a single pass. */
static int is_private(const tile *t, long q, long j)
{
  const async_state *s = t->s;
  const long at[3] = {0, j, q};
  const int axis[3] = {0, s->row, s->stream};
  if (t->alone) return 1;
  if (t->passes > 1 || s->blocks.count[0] > 1) return 0;
  for (int i = 1; i < 3; i++) {
    const long *own = t->own[axis[i]];
    if (s->blocks.count[axis[i]] > 1 && (at[i] < own[0] + s->reach || at[i] >= own[1] - s->reach)) return 0;
  }
  return 1;
}

GMG_INLINE void read_line(const int dim, const int kind, const tile *t, const gmg_operator *A, const real *u, const real *f,
                          long q, long j)
{
  const int first = t->s->versions; /* of the fields that are not u */
  if (!exists(t, t->s->stream, q) || !exists(t, t->s->row, j)) {
    for (int field = 0; field < (int)t->s->fields; field++) memset(field_line(t, field, q, j), 0, 2 * t->s->half * sizeof(real));
    return;
  }
  const level_line at = level_line_at(t, A, q, j);
  (is_private(t, q, j) ? split_line : split_shared_line)(t, u + at.offset, field_line(t, 0, q, j));
  split_line(t, f + at.offset, field_line(t, first + RHS, q, j));
  if (kind == GMG_CONSTANT) return;
  read_inverse(dim, kind, t, A, at, field_line(t, first + INVERSE, q, j));
  if (!(kind & GMG_FACES)) return;
  const gmg_line l = gmg_line_coefficients(A, at.j, at.k);
  split_line(t, l.x_face, field_line(t, first + FACE_X, q, j));
  if (dim > 1) split_line(t, l.y_face[0], field_line(t, first + FACE_Y, q, j));
  if (dim > 2) split_line(t, l.z_face[0], field_line(t, first + FACE_Z, q, j));
}

/* Memory is slow to answer a thread that first waits and then computes. So a line is asked for some lines ahead, in parts
   between the stages: 104 -> 95 ms a cycle at 256^3, where asking for it all at once gained nothing. */
enum { AHEAD = 4 };

typedef struct {
  const real *u, *f;
  long n;
} prefetch;

static inline prefetch next_line(const tile *t, const gmg_operator *A, const real *u, const real *f, long q, long j)
{
  if (!exists(t, t->s->stream, q) || !exists(t, t->s->row, j)) return (prefetch){NULL, NULL, 0};
  const size_t at = level_line_at(t, A, q, j).offset + t->pieces[0].global;
  return (prefetch){u + at, f + at, t->pieces[0].end - t->pieces[0].begin};
}

static inline void ask_for_part(const prefetch *p, int part, int parts)
{
  for (long i = p->n * part / parts; i < p->n * (part + 1) / parts; i += (long)(64 / sizeof(real)))
    __builtin_prefetch(p->u + i), __builtin_prefetch(p->f + i);
}

/* Own unknowns of line j of plane q, back to the level. */
static void write_line(const tile *t, const gmg_operator *A, long q, long j, real *u)
{
  const long begin = t->own[0][0], end = t->own[0][1];
  const real *from = field_line(t, t->s->versions - 1, q, j);
  real *to = u + level_line_at(t, A, q, j).offset + (size_t)(t->origin[0] + begin), *scratch = shared_line(t, SCRATCH);
  const int mine = is_private(t, q, j);
  merge(from, begin, end, t->s->half, mine ? to : scratch);
  for (long i = 0; i < end - begin && !mine; i++) gmg_store(to + i, scratch[i]);
}

#endif
