/* Copies lines of a level to the asynchronous smoother's tile and back, while other threads do the same. Included by
   host/tile_relax.h. */
#ifndef GMG_SMOOTHERS_ASYNC_HOST_TILE_IO_H
#define GMG_SMOOTHERS_ASYNC_HOST_TILE_IO_H

#include "tile.h"

/* Row, plane and offset of a line of the level. */
typedef struct {
  size_t j, k, offset;
} level_line;

static level_line level_line_at(const tile *t, const gmg_operator *A, long q, long j)
{
  const size_t plane = global_index(t, A, t->s->stream, q), row = global_index(t, A, t->s->row, j);
  const size_t J = A->dim == 3 ? row : plane, K = A->dim == 3 ? plane : 0;
  return (level_line){J, K, gmg_offset(gmg_layout_of(A), 0, J, K)};
}

/* 1 / diagonal of a line's rows, if it differs between unknowns. With coefficients on faces it belongs to the symmetric rows. It is
   computed once, because the division and six faces per row would cost as much as a sweep. */
GMG_INLINE void inverse_of_form(const int dim, const int kind, const gmg_operator *A, const gmg_task w, real *restrict to)
{
  const gmg_line line = gmg_line_coefficients(A, w.j, w.k), *const l = &line;
  const real *restrict volume = A->volume[0];
  const real c = (dim > 1 ? volume_along(A, 1, w.j) : 1) * (dim > 2 ? volume_along(A, 2, w.k) : 1) / (real)A->h[0];
  for (size_t i = w.begin; i < w.end; i++) {
    const real diag = gmg_line_row(dim, kind, l, i).diag;
    to[i] = 1 / (kind & GMG_FACES ? c * volume[i] * diag : diag);
  }
}

static void fill_inverse(const gmg_operator *A, int threads, real *to)
{
  const size_t tasks = gmg_tasks(A);
#pragma omp parallel for schedule(static) num_threads(threads) if (A->cells > GMG_MIN_CELLS_PARALLEL)
  for (size_t task = 0; task < tasks; task++) {
    const gmg_task w = gmg_task_at(A, task);
#define INVERSE_OF(dim, kind) \
  case GMG_FORM(dim, kind): inverse_of_form(dim, kind, A, w, to + w.offset); break;
    switch (gmg_form_of(A)) { GMG_FORMS(INVERSE_OF) }
#undef INVERSE_OF
  }
}

/* The columns of a line of u that no other block touches during the pass. For reading: no other block writes them. For writing:
   none reads or writes them. A block that two passes may process at once has no private columns. */
typedef struct {
  long begin, end;
} column_range;

static column_range private_columns(const tile *t, long q, long j, int to_write)
{
  const async_state *s = t->s;
  const long at[3] = {0, j, q}, begin = t->own[0][0], end = t->own[0][1];
  const int axis[3] = {0, s->row, s->stream};
  if (t->alone) return (column_range){begin, end};
  if (t->passes > 1) return (column_range){begin, begin};
  long reach[3] = {0};
  for (int i = 0; i < 3; i++) {
    const long *own = t->own[axis[i]];
    if (to_write && s->blocks.count[axis[i]] > 1) reach[i] = s->reach;
    if (i > 0 && (at[i] < own[0] + reach[i] || at[i] >= own[1] - reach[i])) return (column_range){begin, begin};
  }
  if (end - begin < 2 * reach[0]) return (column_range){begin, begin};
  return (column_range){begin + reach[0], end - reach[0]};
}

/* Reads line j of plane q of u. */
static void read_u(const tile *t, const scalar *from, long q, long j, scalar *line)
{
  if (t->alone) {
    split_line_values(t, from, line);
    return;
  }
  const column_range mine = private_columns(t, q, j, 0);
  split_columns_values(1, t, from, t->exist[0][0], mine.begin, 1, NULL, line);
  split_columns_values(0, t, from, mine.begin, mine.end, 1, NULL, line);
  split_columns_values(1, t, from, mine.end, t->exist[0][1], 1, NULL, line);
  clear_ring_values(t, line);
}

/* Reads right-hand side and couplings of a line, multiplied by its control volumes. */
static void read_symmetric(const tile *t, const gmg_operator *A, level_line at, const scalar *f, long q, long j)
{
  const gmg_line l = gmg_line_coefficients(A, at.j, at.k);
  const real *z = t->sides[1] + SIDES * q, *y = A->dim == 3 ? t->sides[0] + SIDES * j : z;
  const real volume = (A->dim > 1 ? y[SIDE_VOLUME] : 1) * (A->dim > 2 ? z[SIDE_VOLUME] : 1);
  split_product_values(t, f, volume, VOLUME, f_line(t, q, j));
  split_product_coefficients(t, l.x_face, volume, COUPLING, coefficient_line(t, FACE_X, q, j));
  if (A->dim > 1) split_product_coefficients(t, l.y_face[0], volume * y[SIDE_LO], VOLUME, coefficient_line(t, FACE_Y, q, j));
  if (A->dim > 2) split_product_coefficients(t, l.z_face[0], volume * z[SIDE_LO], VOLUME, coefficient_line(t, FACE_Z, q, j));
}

/* Reads line j of plane q of all fields; u = NULL: zeros. */
static void read_line(int kind, const tile *t, const gmg_operator *A, const scalar *u, const scalar *f, long q, long j)
{
  const size_t values = 2 * t->s->half * sizeof(scalar), coefficients = 2 * t->s->half * sizeof(real);
  if (!exists(t, t->s->stream, q) || !exists(t, t->s->row, j)) {
    for (int version = 0; version < t->s->versions; version++) memset(u_line(t, version, q, j), 0, values);
    memset(f_line(t, q, j), 0, values);
    for (int field = 0; field < t->s->coefficients; field++) memset(coefficient_line(t, field, q, j), 0, coefficients);
    return;
  }
  const level_line at = level_line_at(t, A, q, j);
  if (u)
    read_u(t, u + at.offset, q, j, u_line(t, 0, q, j));
  else
    memset(u_line(t, 0, q, j), 0, values);
  if (kind & GMG_FACES)
    read_symmetric(t, A, at, f + at.offset, q, j);
  else
    split_line_values(t, f + at.offset, f_line(t, q, j));
  if (kind != GMG_CONSTANT) split_line_coefficients(t, t->s->inverse + at.offset, coefficient_line(t, INVERSE, q, j));
}

/* Lines are prefetched ahead, in parts between the stages: 95 instead of 104 ms per cycle at 256^3. Prefetching a line at once
   gained nothing. Values and coefficients are in one list: with two a solve at 128^3 takes 6 % longer. Therefore only the first
   half of a line of complex values is prefetched. */
enum { LINES_AHEAD = 4 };

typedef struct {
  const real *from[6];
  int count;
  long n, part; /* number of reals: in total, and at a time */
} prefetch;

static inline void prefetch_of_line(int kind, const tile *t, const gmg_operator *A, const scalar *u, const scalar *f, long q,
                                    long j, prefetch *p)
{
  *p = (prefetch){.n = 0};
  if (!exists(t, t->s->stream, q) || !exists(t, t->s->row, j)) return;
  const level_line at = level_line_at(t, A, q, j);
  const size_t begin = t->pieces[0].global, first = at.offset + begin;
  p->n = t->pieces[0].end - t->pieces[0].begin, p->part = t->part;
  p->from[0] = (const real *)(u + first), p->from[1] = (const real *)(f + first), p->count = 2;
  if (kind != GMG_CONSTANT) p->from[p->count++] = t->s->inverse + first;
  if (!(kind & GMG_FACES)) return;
  for (int a = 0; a < A->dim; a++)
    p->from[p->count++] = (const real *)A->face[a] + gmg_offset(gmg_face_layout_of(A, a), begin, at.j, at.k);
}

static inline void prefetch_part(const prefetch *p, int part)
{
  const long begin = p->part * part, end = begin + p->part < p->n ? begin + p->part : p->n;
  for (long i = begin; i < end; i += CACHE_LINE)
    for (int a = 0; a < p->count; a++) __builtin_prefetch(p->from[a] + i, 0, 2);
}

/* Writes the own unknowns of line j of plane q back to the level. */
static void write_line(const tile *t, const gmg_operator *A, long q, long j, scalar *u)
{
  const long begin = t->own[0][0], end = t->own[0][1];
  const column_range mine = private_columns(t, q, j, 1);
  const scalar *line = u_line(t, t->s->versions - 1, q, j);
  scalar *to = u + level_line_at(t, A, q, j).offset + t->origin[0];
  merge_values(1, line, begin, mine.begin, t->s->half, to + begin);
  merge_values(0, line, mine.begin, mine.end, t->s->half, to + mine.begin);
  merge_values(1, line, mine.end, end, t->s->half, to + mine.end);
}

#endif
