/* The asynchronous smoother for box stencils on host threads (citation and scheme: async.c). A block is relaxed in a private tile,
   with `overlap` layers around it and a ring that is only read. Unknowns are relaxed in 2^dim colours by the parity of their
   coordinates in the level, one colour after the other, or all at once (Jacobi). Called through gmg_smoother_ops. */
#include "schedule.h"

#include "core/host/atomics.h"
#include "smoothers/relax/partition.h"
#include "stencil/box/box.h"
#include "stencil/box_arrays/rows.h"

#include <string.h>

static const size_t preferred_block[4][3] = {{0}, {2048, 1, 1}, {256, 64, 1}, {64, 16, 16}};

/* State of a level. */
typedef struct {
  gmg_blocks blocks;
  int margin[3];  /* layers around a block: overlap and ring, or the ring alone; 0 along missing axes */
  size_t side[3]; /* of a tile */
  size_t cells;   /* of a tile */
  int fields;     /* of a tile: u, f, and for Jacobi the values before a sweep */
  int *order;
  scalar *tiles;   /* fields and a line for every thread */
  scalar *before;   /* deterministic: copy of u before the pass */
  int threads;
} box_state;

static size_t tile_values(const box_state *s) { return (size_t)s->fields * s->cells + s->side[0]; }

static gmg_status setup(const gmg_smoother_level *l, void **state)
{
  const gmg_params *p = l->params;
  GMG_TRY(check_host_parameters(l));
  if (p->async.local == GMG_LOCAL_GAUSS_SEIDEL)
    return gmg_fail(l->exec->context, GMG_ERR_UNSUPPORTED, "params.async.local = GMG_LOCAL_GAUSS_SEIDEL is not supported with "
                    "problem.stencil: use GMG_LOCAL_RED_BLACK (which then means 2^dim colours) or GMG_LOCAL_JACOBI");
  GMG_TRY(gmg_exec_alloc_state(l->exec, "async state", sizeof(box_state), state));
  box_state *s = *state;
  *s = (box_state){.blocks = gmg_blocks_make(l->A, p->async.block, preferred_block[l->A->dim]),
                   .cells = 1,
                   .fields = p->async.local == GMG_LOCAL_JACOBI ? 3 : 2};
  for (int a = 0; a < 3; a++) {
    s->margin[a] = a < l->A->dim ? gmg_block_margin(&s->blocks, l->A, a, p->async.overlap + 1) : 0;
    s->side[a] = s->blocks.shape[a] + 2 * (size_t)s->margin[a];
    s->cells *= s->side[a];
  }
  s->threads = workers_of(l, s->blocks.total);
  const size_t tiles = (size_t)s->threads * tile_values(s) * sizeof(scalar);
  return create_blocks(l, &s->blocks, tiles, &s->order, (void **)&s->tiles, (void **)&s->before);
}

/* A block being relaxed. Tile coordinates start at `origin`, which may be outside the level. */
typedef struct {
  const box_state *s;
  scalar *u, *f, *line, *old; /* old: Jacobi's values before the sweep */
  long origin[3], own[3][2], relax[3][2], size[3];
  gmg_box_rows rows;        /* of the tile */
  gmg_box_array_rows level; /* entries that vary: of the level */
} tile;

/* Positions the tile on block number b. */
static void place(tile *t, const gmg_operator *A, size_t b)
{
  const gmg_blocks *g = &t->s->blocks;
  size_t at[3];
  gmg_indices_of(b, g->count, at);
  for (int a = 0; a < 3; a++) {
    const long n = (long)A->n[a], begin = (long)(at[a] * g->shape[a]), margin = t->s->margin[a];
    const long own = begin + (long)g->shape[a] < n ? (long)g->shape[a] : n - begin, ring = margin > 0;
    t->origin[a] = begin - margin, t->size[a] = own + 2 * margin;
    t->own[a][0] = margin, t->own[a][1] = margin + own;
    t->relax[a][0] = ring, t->relax[a][1] = t->size[a] - ring;
    if (A->wraps[a]) continue;
    if (t->relax[a][0] < -t->origin[a]) t->relax[a][0] = -t->origin[a];
    if (t->relax[a][1] > n - t->origin[a]) t->relax[a][1] = n - t->origin[a];
  }
  const size_t n[3] = {(size_t)t->size[0], (size_t)t->size[1], (size_t)t->size[2]};
  t->rows.layout = gmg_layout_packed(n);
}

static size_t place_of(const tile *t, long i, long j, long k)
{
  return gmg_offset(t->rows.layout, (size_t)i, (size_t)j, (size_t)k);
}

/* The index of tile coordinate v in the level; -1: it is beyond a wall. */
static long index_of(const tile *t, const gmg_operator *A, int a, long v)
{
  return gmg_index_or_none(t->origin[a] + v, (long)A->n[a], A->wraps[a]);
}

/* from = NULL: u is 0. Beyond walls u is 0. */
static void read_tile(tile *t, const gmg_operator *A, const scalar *f, const scalar *from)
{
  const gmg_layout at = gmg_layout_packed(A->n);
  for (long z = 0; z < t->size[2]; z++)
    for (long y = 0; y < t->size[1]; y++) {
      const long j = index_of(t, A, 1, y), k = index_of(t, A, 2, z);
      scalar *u = t->u + place_of(t, 0, y, z), *rhs = t->f + place_of(t, 0, y, z);
      if (j < 0 || k < 0) {
        memset(u, 0, (size_t)t->size[0] * sizeof *u);
        continue;
      }
      const size_t start = gmg_offset(at, 0, (size_t)j, (size_t)k);
      for (long x = 0; x < t->size[0]; x++) {
        const long i = index_of(t, A, 0, x);
        u[x] = i < 0 || !from ? 0 : gmg_load(from + start + (size_t)i);
        rhs[x] = i < 0 ? 0 : f[start + (size_t)i];
      }
    }
}

static void write_tile(const tile *t, const gmg_operator *A, scalar *to)
{
  const gmg_layout at = gmg_layout_packed(A->n);
  for (long z = t->own[2][0]; z < t->own[2][1]; z++)
    for (long y = t->own[1][0]; y < t->own[1][1]; y++) {
      const size_t i = (size_t)(t->origin[0] + t->own[0][0]), j = (size_t)(t->origin[1] + y), k = (size_t)(t->origin[2] + z);
      const scalar *from = t->u + place_of(t, t->own[0][0], y, z);
      scalar *into = to + gmg_offset(at, i, j, k);
      for (long x = 0; x < t->own[0][1] - t->own[0][0]; x++) gmg_store(into + x, from[x]);
    }
}

/* The steps of tile coordinate v along an axis. Beyond a wall that does not mirror there is a cell with 0. */
static gmg_box_steps steps_at(const tile *t, const gmg_operator *A, int a, long v)
{
  const long n = (long)A->n[a], i = t->origin[a] + v, pitch = (long)gmg_pitch(t->rows.layout, a), inside = n > 1 ? pitch : 0;
  gmg_box_steps s = {{-pitch, 0, pitch}, {1, 1, 1}};
  if (A->wraps[a] || a >= A->dim) return s;
  if (i == 0 && A->box->mirrors[a][0]) s.to[0] = inside;
  if (i == n - 1 && A->box->mirrors[a][1]) s.to[2] = -inside;
  return s;
}

/* line = A u along tile line (y, z), from column `begin` to `end` - 1. */
GMG_INLINE void image_of_line(const int dim, const tile *t, const gmg_operator *A, const scalar *u, long y, long z, long begin,
                              long end)
{
  const gmg_box_steps sy = steps_at(t, A, 1, y), sz = steps_at(t, A, 2, z);
  const gmg_box_rows *const s = &t->rows;
  const scalar *const here = u + place_of(t, 0, y, z);
  scalar *restrict const line = t->line;
  for (long x = begin; x < end; x++) line[x] = 0;
  for (int c = gmg_box_first(dim, 2); c <= gmg_box_last(dim, 2); c++)
    for (int b = gmg_box_first(dim, 1); b <= gmg_box_last(dim, 1); b++) {
      const scalar *const beside = here + sy.to[b] + sz.to[c];
      const real *const entry = s->entry + 3 * b + 9 * c;
      const real left = entry[0], middle = entry[1], right = entry[2];
#pragma omp simd
      for (long x = begin; x < end; x++) line[x] += left * beside[x - 1] + middle * beside[x] + right * beside[x + 1];
    }
  for (int side = 0; side < 2; side++) { /* a wall that mirrors: replaces the 0 beyond it */
    const long x = (side ? (long)A->n[0] - 1 : 0) - t->origin[0];
    if (A->wraps[0] || !A->box->mirrors[0][side] || x < begin || x >= end) continue;
    const gmg_box_steps sx = steps_at(t, A, 0, x);
    line[x] = gmg_box_image(dim, s, sx, sy, sz, here + x);
  }
}

/* Entries that vary: line = D^-1 (f - A u) along tile line (y, z), from column `begin` to `end` - 1. Beyond walls u and entries are
   0. */
GMG_INLINE void correction_of_line(const int dim, const tile *t, const gmg_operator *A, const scalar *u, long y, long z, long begin,
                                   long end)
{
  const long n = (long)A->n[0], row = (long)gmg_pitch(t->rows.layout, 1), plane = (long)gmg_pitch(t->rows.layout, 2);
  const size_t start = gmg_offset(t->level.own, 0, (size_t)index_of(t, A, 1, y), (size_t)index_of(t, A, 2, z));
  const scalar *const here = u + place_of(t, 0, y, z), *const rhs = t->f + place_of(t, 0, y, z);
  scalar *restrict const line = t->line;
  for (long from = begin, to; from < end; from = to) { /* up to a seam */
    const long i = index_of(t, A, 0, from);
    to = end - from < n - i ? end : from + (n - i);
    for (long x = from; x < to; x++) line[x] = rhs[x];
    for (int c = gmg_box_first(dim, 2); c <= gmg_box_last(dim, 2); c++)
      for (int b = gmg_box_first(dim, 1); b <= gmg_box_last(dim, 1); b++) {
        const scalar *const beside = here + (b - 1) * row + (c - 1) * plane;
        const real *const *const entry = t->level.entry + 3 * b + 9 * c;
        const real *const left = entry[0] + start + i, *const middle = entry[1] + start + i, *const right = entry[2] + start + i;
#pragma omp simd
        for (long x = from; x < to; x++)
          line[x] -= left[x - from] * beside[x - 1] + middle[x - from] * beside[x] + right[x - from] * beside[x + 1];
      }
    const real *const diag = t->level.entry[13] + start + i;
    for (long x = from; x < to; x++) line[x] /= diag[x - from];
  }
}

/* Relaxes the unknowns of colour c, or all if c = NULL, from the values in `u`. varies: whether entries do; a constant after
   inlining, like dim. */
GMG_INLINE void relax_tile(const int dim, const int varies, tile *t, const gmg_operator *A, const int c[3], const scalar *u,
                           real omega)
{
  const real inverse = varies ? 0 : 1 / t->rows.diag;
  const long begin = t->relax[0][0], end = t->relax[0][1];
  for (long z = t->relax[2][0]; z < t->relax[2][1]; z++)
    for (long y = t->relax[1][0]; y < t->relax[1][1]; y++) {
      if (c && (((t->origin[1] + y) & 1) != c[1] || ((t->origin[2] + z) & 1) != c[2])) continue;
      const long first = begin + (c && ((t->origin[0] + begin) & 1) != c[0]), step = c ? 2 : 1;
      scalar *to = t->u + place_of(t, 0, y, z);
      const scalar *rhs = t->f + place_of(t, 0, y, z);
      if (varies) {
        correction_of_line(dim, t, A, u, y, z, begin, end);
        for (long x = first; x < end; x += step) to[x] += omega * t->line[x];
        continue;
      }
      image_of_line(dim, t, A, u, y, z, begin, end);
      for (long x = first; x < end; x += step) to[x] += omega * ((rhs[x] - t->line[x]) * inverse);
    }
}

/* Passes over all blocks. from = NULL: u is 0. */
typedef struct {
  const box_state *s;
  const gmg_smoother_level *l;
  const scalar *f, *from;
  scalar *to;
  int reversed;
} passes_work;

static void relax_block(const passes_work *x, tile *t, size_t b)
{
  const gmg_operator *A = x->l->A;
  const gmg_params *p = x->l->params;
  const size_t total = x->s->blocks.total, at = b % total;
  const real omega = (real)gmg_weight_async(A, p);
  const int all = p->async.local == GMG_LOCAL_JACOBI ? 1 : 1 << A->dim;
  place(t, A, (size_t)x->s->order[x->reversed ? total - 1 - at : at]);
  read_tile(t, A, x->f, x->from);
  for (int stage = 0; stage < p->async.local_sweeps * all; stage++) {
    const int colour = x->reversed ? all - 1 - stage % all : stage % all;
    const int c[3] = {colour & 1, colour >> 1 & 1, colour >> 2};
    const scalar *u = t->u;
    if (t->old) u = memcpy(t->old, t->u, x->s->cells * sizeof *t->u);
    const int *const of = t->old ? NULL : c;
    if (A->box->array[13] && A->dim == 3) relax_tile(3, 1, t, A, of, u, omega);
    else if (A->box->array[13] && A->dim == 2) relax_tile(2, 1, t, A, of, u, omega);
    else if (A->box->array[13]) relax_tile(1, 1, t, A, of, u, omega);
    else if (A->dim == 3) relax_tile(3, 0, t, A, of, u, omega);
    else if (A->dim == 2) relax_tile(2, 0, t, A, of, u, omega);
    else relax_tile(1, 0, t, A, of, u, omega);
  }
  write_tile(t, A, x->to);
}

static void relax_blocks(const void *what, worker *w)
{
  const passes_work *x = what;
  tile t = {.s = x->s, .u = x->s->tiles + (size_t)w->thread * tile_values(x->s), .rows = gmg_box_rows_of(x->l->A),
            .level = gmg_box_array_rows_of(x->l->A)};
  t.f = t.u + x->s->cells, t.line = t.u + (size_t)x->s->fields * x->s->cells;
  if (x->s->fields > 2) t.old = t.f + x->s->cells;
  for (size_t b; take_block(w, &b);) relax_block(x, &t, b);
}

static void run_passes(const gmg_smoother_level *l, void *state, const void *f, const void *from, void *u, size_t passes,
                       gmg_leg leg)
{
  const box_state *s = state;
  const size_t at_once = s->before ? 1 : passes;
  for (size_t p = 0; p < passes; p += at_once) {
    const int copies = s->before && (from || p > 0);
    if (copies) l->exec->vector->copy(l->exec, l->A->cells, u, s->before);
    const passes_work x = {s, l, f, copies ? s->before : p > 0 ? u : from, u, leg == GMG_LEG_UP_REVERSED};
    run_in_threads(l, s->threads, at_once * s->blocks.total, &x, relax_blocks);
  }
}

static void sweep(const gmg_smoother_level *l, void *state, const void *f, void *u, int steps, gmg_leg leg)
{
  run_passes(l, state, f, u, u, (size_t)(steps * l->params->async.passes), leg);
}

const gmg_smoother_ops R(gmg_async_box_host) = {.setup = setup, .sweep = sweep};
