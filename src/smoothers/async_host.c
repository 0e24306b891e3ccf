/* Block-asynchronous smoother async-(k) on host threads (Anzt, Tomov, Dongarra, Heuveline 2013; as a smoother: Anzt,
   Dongarra, Gates, Tomov 2011).

   Threads take blocks in the given order. A block relaxes its unknowns and `overlap` layers around them k times in a
   private tile, from whatever values surround it, and writes back only its own unknowns (restricted, as in Cai, Sarkis
   1999). Nothing waits: not block for block, nor a pass for the one before it within a call. Values that blocks share are
   read and written by relaxed atomics, so a block finds its surroundings as they are when it gets there, never torn.

   Deterministic twin: every block reads a copy made before the pass.

   The tile is never there as a whole. Planes stream through it along the last axis: plane p is read, plane p - 1 gets
   half a sweep, p - 2 the next half, and so on, and the plane that has had all of them is written back. Every half sweep
   sees just what it would see if the one before it had swept the whole tile, and a few planes stay in the cache. */
#include "smoother.h"

#include "../core/shared_host.h"
#include "../stencil/line_host.h"
#include "blocks.h"

#include <omp.h>
#include <string.h>

typedef struct {
  gmg_blocks blocks;
  size_t margin[3];  /* layers of a tile around its block: overlap and a ring that is only read; at least the ring */
  int row, stream;   /* axes of the lines in a plane and of the planes; an axis that is not there is 2 */
  int versions;      /* Jacobi keeps the planes of every sweep apart */
  size_t slots;      /* planes of a version in flight */
  size_t line, rows; /* reals of a tile line, lines of a plane */
  int *order;        /* [blocks.total] */
  char *tiles;       /* one per thread */
  size_t tile_bytes;
  int threads;
  real *before;      /* deterministic: u before the pass */
} async_state;

/* A stretch of tile columns whose unknowns are consecutive: more than one where the tile runs around a periodic axis. */
typedef struct {
  long begin, end;
  size_t global; /* unknown at begin */
} piece;

enum { PIECES = 8 };

/* One block at work. Tile coordinates count from `origin`, which may lie outside the level. */
typedef struct {
  real *u, *zero;               /* lines in flight; a line of zeros for what lies beyond walls */
  long origin[3], size[3];
  long exist[3][2];             /* what there is: all of it, but for what lies beyond walls */
  long relax[3][2], own[3][2];
  piece pieces[PIECES];
  int count;                    /* of pieces */
  int stages;                   /* half sweeps (red-black) or sweeps */
  size_t parity;                /* of the origin: colour of a cell = (parity + i + j + k) % 2 */
} tile;

/* Long lines; 32 of them and six planes in flight fit a megabyte of cache. */
static const size_t preferred_block[4][3] = {{0}, {2048, 1, 1}, {1024, 64, 1}, {256, 32, 64}};

static int stages_of(const gmg_params *p, int sweeps) { return p->local == GMG_LOCAL_RED_BLACK ? 2 * sweeps : sweeps; }

/* At a seam two faces of one colour meet and the blocks on its sides disagree on colours. Two more sweeps there make up
   for it: factor 0.052 instead of 0.075 on a periodic 65^3 (0.032 with walls), for a layer of blocks. */
static int sweeps_of(const gmg_params *p, int seam)
{
  return p->local_sweeps + (seam && p->local == GMG_LOCAL_RED_BLACK ? 2 : 0);
}

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

static async_state layout(const gmg_smoother_level *l)
{
  const gmg_operator *A = l->A;
  const gmg_params *p = l->params;
  async_state s = {.blocks = gmg_blocks_make(A, p->block, preferred_block[A->dim]),
                   .row = A->dim == 3 ? 1 : 2,
                   .stream = A->dim == 3 ? 2 : 1};
  size_t side[3];
  for (int a = 0; a < 3; a++) {
    s.margin[a] = s.blocks.count[a] > 1 || A->wraps[a] ? (size_t)p->overlap + 1 : 1;
    side[a] = s.blocks.shape[a] + 2 * s.margin[a];
  }
  const int jacobi = p->local == GMG_LOCAL_JACOBI, stages = stages_of(p, sweeps_of(p, 1));
  s.line = (side[0] + 15) / 16 * 16; /* whole cache lines */
  s.rows = side[s.row];
  s.versions = jacobi ? p->local_sweeps + 1 : 1;
  s.slots = smaller(jacobi ? 3 : (size_t)stages + 2, side[s.stream]);
  s.tile_bytes = ((size_t)s.versions * s.slots * s.rows + 1) * s.line * sizeof(real);
  s.threads = (int)smaller(s.blocks.total, (size_t)l->threads);
  return s;
}

static gmg_status setup(const gmg_smoother_level *l, void **state)
{
  GMG_TRY(gmg_exec_alloc(l->exec, "async state", sizeof(async_state), state));
  async_state s = layout(l);
  gmg_status status = gmg_exec_alloc(l->exec, "async block order", s.blocks.total * sizeof(int), (void **)&s.order);
  if (status == GMG_OK)
    status = gmg_exec_alloc(l->exec, "async tiles", s.tile_bytes * (size_t)s.threads, (void **)&s.tiles);
  if (status == GMG_OK && l->params->deterministic)
    status = gmg_exec_alloc(l->exec, "async copy of u", l->A->cells * sizeof(real), (void **)&s.before);
  if (l->exec->dry) return status;
  *(async_state *)*state = s;
  if (status == GMG_OK)
    gmg_blocks_order(&s.blocks, l->params->order, l->params->seed + (unsigned long)l->index, s.order);
  return status;
}

static void destroy(const gmg_smoother_level *l, void *state)
{
  async_state *s = state;
  if (!s) return;
  if (!l->exec->dry) {
    gmg_exec_release(l->exec, s->order, s->blocks.total * sizeof(int));
    gmg_exec_release(l->exec, s->tiles, s->tile_bytes * (size_t)s->threads);
    gmg_exec_release(l->exec, s->before, l->A->cells * sizeof(real));
  }
  gmg_exec_release(l->exec, s, sizeof *s);
}

/* Unknown of a tile coordinate. */
static size_t global_index(const tile *t, const gmg_operator *A, int a, long i)
{
  const long n = (long)A->n[a], g = t->origin[a] + i;
  return (size_t)(((g % n) + n) % n);
}

/* Places the tile of a block. Along a periodic axis it runs on around the wrap, even onto copies of its own unknowns; at a
   wall the overlap ends. */
static void place(tile *t, const async_state *s, const gmg_operator *A, const gmg_params *p, size_t block)
{
  const size_t at[3] = {block % s->blocks.count[0], block / s->blocks.count[0] % s->blocks.count[1],
                        block / (s->blocks.count[0] * s->blocks.count[1])};
  int seam = 0;
  t->parity = 0;
  for (int a = 0; a < 3; a++) {
    const long n = (long)A->n[a], first = (long)(at[a] * s->blocks.shape[a]), margin = (long)s->margin[a];
    const long last = first + (long)s->blocks.shape[a] < n ? first + (long)s->blocks.shape[a] : n;
    const long origin = first - margin, size = last - first + 2 * margin;
    t->origin[a] = origin, t->size[a] = size;
    t->exist[a][0] = A->wraps[a] || origin >= 0 ? 0 : -origin;
    t->exist[a][1] = A->wraps[a] || origin + size <= n ? size : n - origin;
    t->relax[a][0] = t->exist[a][0] > 1 ? t->exist[a][0] : 1;
    t->relax[a][1] = t->exist[a][1] < size - 1 ? t->exist[a][1] : size - 1;
    t->own[a][0] = margin, t->own[a][1] = size - margin;
    t->parity += (size_t)(origin + 2 * margin); /* even shift: keeps it positive */
    seam |= A->wraps[a] && n % 2 && (origin < 0 || origin + size > n);
  }
  t->stages = stages_of(p, sweeps_of(p, seam));
  t->count = 0;
  for (long i = t->exist[0][0]; i < t->exist[0][1];) {
    const size_t g = global_index(t, A, 0, i);
    const long rest = (long)(A->n[0] - g), end = i + rest < t->exist[0][1] ? i + rest : t->exist[0][1];
    t->pieces[t->count++] = (piece){i, end, g};
    i = end;
  }
}

/* Line j of plane q; beyond walls a line of zeros, whose couplings are 0. */
static real *line_at(const tile *t, const async_state *s, int version, long q, long j)
{
  if (q < t->exist[s->stream][0] || q >= t->exist[s->stream][1] || j < t->exist[s->row][0] || j >= t->exist[s->row][1])
    return t->zero;
  return t->u + (((size_t)version * s->slots + (size_t)q % s->slots) * s->rows + (size_t)j) * s->line;
}

/* Unknowns of the level: where line j of plane q begins. */
static size_t line_offset(const tile *t, const async_state *s, const gmg_operator *A, long q, long j)
{
  const size_t plane = global_index(t, A, s->stream, q), row = global_index(t, A, s->row, j);
  return A->dim == 3 ? (plane * A->n[1] + row) * A->n[0] : plane * A->n[0];
}

static void read_plane(const tile *t, const async_state *s, const gmg_operator *A, const real *u, long q)
{
  if (q < t->exist[s->stream][0] || q >= t->exist[s->stream][1]) return;
  for (long j = t->exist[s->row][0]; j < t->exist[s->row][1]; j++) {
    real *to = line_at(t, s, 0, q, j);
    const real *from = u + line_offset(t, s, A, q, j);
    for (int c = 0; c < t->count; c++) {
      const piece *p = &t->pieces[c];
      for (long i = p->begin; i < p->end; i++) to[i] = gmg_load(from + p->global + (size_t)(i - p->begin));
    }
    for (long i = 0; i < t->exist[0][0]; i++) to[i] = 0;
    for (long i = t->exist[0][1]; i < t->size[0]; i++) to[i] = 0;
  }
}

static void write_plane(const tile *t, const async_state *s, const gmg_operator *A, int version, long q, real *u)
{
  for (long j = t->own[s->row][0]; j < t->own[s->row][1]; j++) {
    const real *from = line_at(t, s, version, q, j) + t->own[0][0];
    real *to = u + line_offset(t, s, A, q, j) + (size_t)(t->origin[0] + t->own[0][0]);
    for (long i = 0; i < t->own[0][1] - t->own[0][0]; i++) gmg_store(to + i, from[i]);
  }
}

/* How a line is relaxed: by colour, from the version before, or one unknown after the other. */
typedef struct {
  gmg_local_kind local;
  int backward;
  real omega;
} relaxation;

GMG_INLINE void relax_piece(const int dim, const int kind, const gmg_line *l, const real *f, real *u, long n, int parity,
                            const relaxation *how)
{
  if (how->local == GMG_LOCAL_RED_BLACK) {
    gmg_line_relax(dim, kind, l, f, u, 0, (int)n, parity, how->omega);
  } else if (how->local == GMG_LOCAL_JACOBI) {
    const real *restrict old = l->u;
    real *restrict out = u;
#pragma omp simd
    for (int i = 0; i < (int)n; i++)
      out[i] = gmg_row_relaxed(dim, gmg_line_row(dim, kind, l, (size_t)i),
                               gmg_line_near(l, (size_t)i, old[i - 1], old[i + 1]), f[i], old[i], how->omega);
  } else {
    for (long m = 0; m < n; m++) {
      const long i = how->backward ? n - 1 - m : m;
      u[i] = gmg_row_relaxed(dim, gmg_line_row(dim, kind, l, (size_t)i), gmg_line_near(l, (size_t)i, u[i - 1], u[i + 1]),
                             f[i], u[i], how->omega);
    }
  }
}

/* Half a sweep (or one) over line j of plane q. */
GMG_INLINE void relax_line(const int dim, const int kind, const tile *t, const async_state *s, const gmg_operator *A,
                           const real *f, int version, long q, long j, size_t colour, const relaxation *how)
{
  const int from = s->versions > 1 ? version - 1 : 0, to = s->versions > 1 ? version : 0;
  const size_t plane = global_index(t, A, s->stream, q), row = global_index(t, A, s->row, j);
  const size_t offset = line_offset(t, s, A, q, j);
  const gmg_line whole = dim == 3 ? gmg_line_coefficients(A, row, plane) : gmg_line_coefficients(A, plane, 0);
  const real *here = line_at(t, s, from, q, j);
  real *out = line_at(t, s, to, q, j);
  for (int c = 0; c < t->count; c++) {
    const piece *p = &t->pieces[how->backward ? t->count - 1 - c : c];
    const long begin = p->begin > t->relax[0][0] ? p->begin : t->relax[0][0];
    const long end = p->end < t->relax[0][1] ? p->end : t->relax[0][1];
    const size_t skip = p->global + (size_t)(begin - p->begin);
    if (begin >= end) continue;
    gmg_line l = whole;
    gmg_line_skip(dim, kind, &l, skip);
    l.u = here + begin;
    l.y_lo = l.z_lo = line_at(t, s, from, q - 1, j) + begin; /* 2D: the neighbours along axis 1 are planes too */
    l.y_hi = l.z_hi = line_at(t, s, from, q + 1, j) + begin;
    if (dim == 3) l.y_lo = line_at(t, s, from, q, j - 1) + begin, l.y_hi = line_at(t, s, from, q, j + 1) + begin;
    const int parity = (int)((t->parity + colour + (size_t)begin + (size_t)j + (size_t)q) % 2);
    relax_piece(dim, kind, &l, f + offset + skip, out + begin, end - begin, parity, how);
  }
}

static void copy_plane(const tile *t, const async_state *s, int version, long q)
{
  for (long j = t->exist[s->row][0]; j < t->exist[s->row][1]; j++)
    memcpy(line_at(t, s, version, q, j), line_at(t, s, version - 1, q, j), s->line * sizeof(real));
}

/* Stage 1, 2, ... of plane q. */
GMG_INLINE void relax_plane(const int dim, const int kind, const tile *t, const async_state *s, const gmg_operator *A,
                            const real *f, int stage, long q, int reversed, const relaxation *how)
{
  if (q < t->exist[s->stream][0] || q >= t->exist[s->stream][1]) return;
  if (s->versions > 1) copy_plane(t, s, stage, q); /* what is not relaxed stays as it is */
  if (q < t->relax[s->stream][0] || q >= t->relax[s->stream][1]) return;
  const long *rows = t->relax[s->row];
  const size_t colour = (size_t)(stage - 1 + reversed) % 2;
  for (long m = rows[0]; m < rows[1]; m++)
    relax_line(dim, kind, t, s, A, f, stage, q, how->backward ? rows[0] + rows[1] - 1 - m : m, colour, how);
}

/* The planes stream through the tile, backwards for a reversed Gauss-Seidel sweep. */
GMG_INLINE void relax_tile(const int dim, const int kind, const tile *t, const async_state *s, const gmg_smoother_level *l,
                           const real *f, const real *from, real *to, int reversed)
{
  const gmg_operator *A = l->A;
  const relaxation how = {.local = l->params->local,
                          .backward = reversed && l->params->local == GMG_LOCAL_GAUSS_SEIDEL,
                          .omega = (real)gmg_weight_async(A, l->params)};
  const long planes = t->size[s->stream];
  for (long p = 0; p < planes + t->stages; p++) {
    if (p < planes) read_plane(t, s, A, from, how.backward ? planes - 1 - p : p);
    for (int stage = 1; stage <= t->stages && stage <= p; stage++) {
      const long q = p - stage;
      if (q < planes) relax_plane(dim, kind, t, s, A, f, stage, how.backward ? planes - 1 - q : q, reversed, &how);
    }
    const long done = how.backward ? planes - 1 - (p - t->stages) : p - t->stages;
    if (done >= t->own[s->stream][0] && done < t->own[s->stream][1]) write_plane(t, s, A, s->versions - 1, done, to);
  }
}

/* All blocks, `passes` times over, without a barrier in between. */
static void run_blocks(const async_state *s, const gmg_smoother_level *l, size_t passes, const real *f, const real *from,
                       real *to, int reversed)
{
  const gmg_operator *A = l->A;
#pragma omp parallel num_threads(s->threads) if (s->threads > 1 && A->cells > 4096)
  {
    tile t = {.u = (real *)(s->tiles + s->tile_bytes * (size_t)omp_get_thread_num())};
    t.zero = t.u + (size_t)s->versions * s->slots * s->rows * s->line;
    memset(t.zero, 0, s->line * sizeof(real));
#pragma omp for schedule(dynamic, 1) nowait
    for (size_t b = 0; b < passes * s->blocks.total; b++) {
      const size_t at = b % s->blocks.total;
      place(&t, s, A, l->params, (size_t)s->order[reversed ? s->blocks.total - 1 - at : at]);
#define RELAX(dim, kind) \
  case GMG_FORM(dim, kind): relax_tile(dim, kind, &t, s, l, f, from, to, reversed); break;
      switch (gmg_form_of(A)) { GMG_FORMS(RELAX) }
#undef RELAX
    }
  }
}

static void sweep(const gmg_smoother_level *l, void *state, const void *f, void *u, int steps, gmg_leg leg)
{
  const async_state *s = state;
  const size_t passes = (size_t)(steps * l->params->passes);
  const int reversed = leg == GMG_LEG_UP_REVERSED;
  if (!s->before) {
    run_blocks(s, l, passes, f, u, u, reversed);
    return;
  }
  for (size_t p = 0; p < passes; p++) {
    l->exec->vector->copy(l->exec, l->A->cells, u, s->before);
    run_blocks(s, l, 1, f, s->before, u, reversed);
  }
}

const gmg_smoother_ops R(gmg_async_host) = {.setup = setup, .sweep = sweep, .destroy = destroy};
