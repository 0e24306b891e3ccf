/* The block-asynchronous smoother async-(k) on host threads (Anzt, Tomov, Dongarra, Heuveline 2013; as a smoother: Anzt, Dongarra,
   Gates, Tomov 2011). Called through gmg_smoother_ops.

   Threads take blocks in the given order: the next one (dynamic assignment), or those assigned to them (static). A block relaxes
   its unknowns and `overlap` layers around them k times in a private tile, whatever the surrounding values are. It writes back only
   its own unknowns (restricted, as in Cai, Sarkis 1999). Nothing waits: neither blocks, nor the passes within a call. Shared values
   are read and written by relaxed atomics, so a block sees them as they are at that moment, never torn. In the deterministic twin
   every block reads a copy made before the pass.

   The tile is never stored as a whole. Planes stream through it along the last axis: plane p is read, plane p - 1 gets the first
   half sweep, p - 2 the second, and so on. A plane that has had all half sweeps is written back. Every half sweep sees the same
   values as if the previous one had swept the whole tile, and only a few planes must fit in the cache. Lines are stored with even
   columns first and odd columns after them (host/tile.h), so a colour is contiguous. */
#include "schedule.h"
#include "tile_relax.h"

#include "core/comm.h"

#include <limits.h>

/* Long lines. 32 of them in six planes fit in a megabyte of cache. Somewhat larger blocks take less time than more blocks, whose
   margins are relaxed twice: 257^3 takes 328 ms in 1 x 8 x 4 blocks, and 405 in 2 x 9 x 5 (2 cores). */
static const size_t preferred_block[4][3] = {{0}, {2048, 1, 1}, {1024, 64, 1}, {256, 32, 64}};

static int stages_of(const gmg_params *p, int sweeps) { return p->async.local == GMG_LOCAL_RED_BLACK ? 2 * sweeps : sweeps; }

/* At the seam of a periodic axis of odd size two unknowns of one colour meet, and the blocks on its sides disagree on colours. Two
   additional sweeps in the blocks at the seam compensate: factor 0.052 instead of 0.075 on a periodic 65^3 (0.032 with walls). */
static int sweeps_of(const gmg_params *p, int seam)
{
  return p->async.local_sweeps + (seam && p->async.local == GMG_LOCAL_RED_BLACK ? 2 : 0);
}

static int has_seam(const gmg_operator *A)
{
  int seam = 0;
  for (int a = 0; a < 3; a++) seam |= gmg_odd_seam(A, a);
  return seam;
}

/* Whether blocks are those of the whole level, so that results do not depend on where it is cut. Not with Gauss-Seidel: an unknown
   depends on all before it in its block. */
static int cuts_blocks(const gmg_operator *A, const gmg_params *p)
{
  return p->deterministic && p->async.local != GMG_LOCAL_GAUSS_SEIDEL && A->part && !A->part->relaxes_ghosts;
}

/* gmg_block_margin() for the blocks of a whole level along an axis that is cut. */
static int margin_of_whole(const gmg_operator *A, int axis, const async_state *s)
{
  return s->blocks.shape[axis] < A->part->whole[axis] || A->part->periodic[axis] ? s->reach : 1;
}

static async_state layout(const gmg_smoother_level *l)
{
  const gmg_operator *A = l->A;
  const gmg_params *p = l->params;
  const size_t *wanted = p->async.block, *preferred = preferred_block[A->dim];
  const int cut = cuts_blocks(A, p);
  async_state s = {.blocks = cut ? gmg_blocks_of_whole(A, wanted, preferred) : gmg_blocks_make_about(A, wanted, preferred),
                   .depth = cut ? stages_of(p, sweeps_of(p, has_seam(A))) : LONG_MAX,
                   .reach = p->async.overlap + 1,
                   .row = A->dim == 3 ? 1 : 2,
                   .stream = A->dim == 3 ? 2 : 1,
                   .versions = p->async.local == GMG_LOCAL_JACOBI ? p->async.local_sweeps + 1 : 1};
  size_t side[3];
  for (int a = 0; a < 3; a++) {
    const int cut_here = cut && gmg_is_cut(A->part, a);
    s.margin[a] = (size_t)(cut_here ? margin_of_whole(A, a, &s) : gmg_block_margin(&s.blocks, A, a, s.reach));
    if (a == 0) s.lead = cut_here ? LEAD * ((size_t)s.depth / LEAD + 1) : LEAD;
    side[a] = s.blocks.shape[a] + 2 * s.margin[a] + (a == 0 ? s.lead : 0);
  }
  /* no more planes than needed, because they fill the cache */
  const size_t needed = (size_t)stages_of(p, sweeps_of(p, has_seam(A))) + 2;
  s.half = (side[0] / 2 + 1 + 15) / 16 * 16; /* whole cache lines */
  s.rows = side[s.row];
  s.slots = needed < side[s.stream] ? needed : side[s.stream];
  s.coefficients = A->face[0] ? COEFFICIENTS : A->sigma ? 1 : 0;
  s.plane = s.rows * 2 * s.half;
  s.side = side[s.row] > side[s.stream] ? side[s.row] : side[s.stream];
  const size_t coefficients = (size_t)s.coefficients * s.slots * s.plane + AXIS_LINES * 2 * s.half + 2 * SIDES * s.side;
  s.tile_bytes = value_fields(&s) * s.slots * s.plane * sizeof(scalar) + coefficients * sizeof(real);
  s.tile_bytes = (s.tile_bytes + 127) / 128 * 128;
  s.threads = workers_of(l, s.blocks.total);
  return s;
}

static gmg_status setup(const gmg_smoother_level *l, void **state)
{
  GMG_TRY(check_host_parameters(l));
  GMG_TRY(gmg_exec_alloc(l->exec, "async state", sizeof(async_state), state));
  async_state s = layout(l);
  GMG_TRY(create_blocks(l, &s.blocks, s.tile_bytes * (size_t)s.threads, &s.order, (void **)&s.tiles, (void **)&s.before));
  if (l->A->face[0] || l->A->sigma)
    GMG_TRY(gmg_exec_alloc(l->exec, "async diagonal", l->A->cells * sizeof(real), (void **)&s.inverse));
  if (!l->exec->dry) *(async_state *)*state = s;
  return GMG_OK;
}

static gmg_status update(const gmg_smoother_level *l, void *state)
{
  const async_state *s = state;
  if (s->inverse) fill_inverse(l->A, l->threads, s->inverse);
  return GMG_OK;
}

/* The relaxation of a tile: by colour, from the previous version (Jacobi), or one unknown after the other. */
typedef struct {
  gmg_local_kind local;
  int reversed, backward; /* reversed: colours in reversed order; backward: Gauss-Seidel in reversed order */
  int stages;
  int zero; /* all values are 0 before the first half sweep */
  const double *weight; /* [GMG_HALF_SWEEPS] */
} relaxation;

/* A half sweep (red-black) or a sweep over line j of a plane. */
static inline void relax_line(int dim, int kind, tile *t, const gmg_operator *A, const planes *p, long j, const relaxation *how)
{
  const int form = GMG_FORM(dim, kind);
  const long begin = t->relax[0][0], end = t->relax[0][1];
  columns c = {.j = j, .inverse = kind == GMG_CONSTANT ? shared_inverse(t, A, p, j) : NULL};
  const int first = how->local == GMG_LOCAL_RED_BLACK ? (int)((p->colour + (size_t)j) % 2) : 0;
  const int last = how->local == GMG_LOCAL_RED_BLACK ? first : 1;
  if (how->local != GMG_LOCAL_GAUSS_SEIDEL) {
    for (c.odd = first; c.odd <= last; c.odd++) {
      c.begin = (begin - c.odd + 1) / 2, c.end = (end - c.odd + 1) / 2;
      if (p->zero && !(kind & GMG_SIGMA)) /* sigma needs all couplings for its weights */
        relax_zeros(kind, t, p, &c);
      else
        relax_columns(form, t, p, &c);
    }
    return;
  }
  for (long m = begin; m < end; m++) {
    const long i = how->backward ? begin + end - 1 - m : m;
    c.odd = (int)(i % 2), c.begin = i / 2, c.end = c.begin + 1;
    relax_columns(form, t, p, &c);
  }
}

static int inside(const long range[2], long i) { return i >= range[0] && i < range[1]; }

/* Applies stage 1, 2, ... to line j of a plane. */
static inline void stage_line(int dim, int kind, tile *t, const gmg_operator *A, const planes *p, long j, const relaxation *how)
{
  if (j < 0 || j >= t->size[t->s->row]) return;
  if (t->s->versions > 1) /* copies the values that are not relaxed */
    memcpy(p->out + (size_t)j * 2 * t->s->half, p->u + (size_t)j * 2 * t->s->half, 2 * t->s->half * sizeof(scalar));
  if (p->relaxed && inside(t->relax[t->s->row], j)) relax_line(dim, kind, t, A, p, j, how);
}

/* Planes stream through the tile, and lines through each plane. When line j of plane p is read, stage s is at line j - s of plane p
   - s, so that the data of a stage are still in the cache. A backward sweep starts at the other end. */
static void relax_tile(int dim, int kind, tile *t, const gmg_operator *A, const scalar *f, const scalar *from, scalar *to,
                       const relaxation *how)
{
  const long last = t->size[t->s->stream] - 1, last_row = t->size[t->s->row] - 1, stages = how->stages;
#define PLANE(q) (how->backward ? last - (q) : (q))
#define ROW(m) (how->backward ? last_row - (m) : (m))
  for (long p = 0; p <= last + stages; p++) {
    planes stage[MAX_STAGES + 1];
    const int first = p > last ? (int)(p - last) : 1, most = p < stages ? (int)p : (int)stages; /* the stages that have a plane */
    const long done = PLANE(p - stages);
    for (int s = first; s <= most; s++) stage[s] = planes_at(kind, t, s, PLANE(p - s), how->reversed, how->weight);
    if (first == 1) stage[1].zero = how->zero;
    for (long m = 0; m <= last_row + stages; m++) {
      if (p <= last && m <= last_row) read_line(kind, t, A, from, f, PLANE(p), ROW(m));
      prefetch next;
      prefetch_of_line(kind, t, A, from ? from : to, f, PLANE(p), ROW(m + LINES_AHEAD), &next);
      for (int s = first; s <= most; s++) {
        prefetch_part(&next, s - 1);
        stage_line(dim, kind, t, A, &stage[s], ROW(m - s), how);
      }
      if (inside(t->own[t->s->stream], done) && inside(t->own[t->s->row], ROW(m - stages)))
        write_line(t, A, done, ROW(m - stages), to);
    }
  }
#undef PLANE
#undef ROW
}

/* Relaxes block number b in the given order. b counts through all passes. */
static void relax_block(const async_state *s, const gmg_smoother_level *l, tile *t, relaxation how, size_t b, const scalar *f,
                        const scalar *from, scalar *to)
{
  const gmg_operator *A = l->A;
  const size_t at = b % s->blocks.total;
  const int seam = place(t, A, (size_t)s->order[how.reversed ? s->blocks.total - 1 - at : at]);
  how.stages = stages_of(l->params, sweeps_of(l->params, seam));
  how.zero = !from && how.local != GMG_LOCAL_GAUSS_SEIDEL; /* Gauss-Seidel uses its own new values at once */
  t->part = (t->pieces[0].end - t->pieces[0].begin) / how.stages / CACHE_LINE * CACHE_LINE + CACHE_LINE;
  relax_tile(A->dim, gmg_coefficients_of(A), t, A, f, from, to, &how);
}

/* Passes over all blocks. from = NULL: u is 0. */
typedef struct {
  const async_state *s;
  const gmg_smoother_level *l;
  relaxation how;
  size_t passes;
  const scalar *f, *from;
  scalar *to;
} passes_work;

static void relax_blocks(const void *what, worker *w)
{
  const passes_work *x = what;
  tile t = tile_memory(x->s, w->thread);
  t.alone = x->from != x->to || w->workers == 1;
  t.passes = x->passes;
  for (size_t b; take_block(w, &b);) relax_block(x->s, x->l, &t, x->how, b, x->f, x->from, x->to);
}

/* Relaxes all blocks, `passes` times, without a barrier. */
static void run_blocks(const async_state *s, const gmg_smoother_level *l, size_t passes, const scalar *f, const scalar *from,
                       scalar *to, gmg_leg leg)
{
  const gmg_local_kind local = l->params->async.local;
  const int reversed = leg == GMG_LEG_UP_REVERSED;
  double weight[GMG_HALF_SWEEPS];
  gmg_weights_async(l->A, l->params, leg, weight);
  const relaxation how = {local, reversed, reversed && local == GMG_LOCAL_GAUSS_SEIDEL, 0, 0, weight};
  const passes_work x = {s, l, how, passes, f, from, to};
  run_in_threads(l, s->threads, passes * s->blocks.total, &x, relax_blocks);
}

/* Whether blocks read ghosts that they do not relax. */
static int reads_ghosts(const gmg_operator *A) { return A->part && !A->part->relaxes_ghosts; }

/* One pass after the other. Ghosts that blocks only read are exchanged before each pass. fresh: not before the first. */
static void run_single_passes(const gmg_smoother_level *l, const async_state *s, size_t passes, const void *f, void *u,
                              gmg_leg leg, int fresh)
{
  for (size_t p = 0; p < passes; p++) {
    if (reads_ghosts(l->A) && (p > 0 || !fresh)) gmg_exchange(l->exec, l->A, u);
    if (s->before) l->exec->vector->copy(l->exec, l->A->cells, u, s->before);
    run_blocks(s, l, 1, f, s->before ? s->before : u, u, leg);
  }
}

static void run_passes(const gmg_smoother_level *l, const async_state *s, size_t passes, const void *f, void *u, gmg_leg leg,
                       int fresh)
{
  if (s->before || reads_ghosts(l->A)) run_single_passes(l, s, passes, f, u, leg, fresh);
  else run_blocks(s, l, passes, f, u, u, leg);
}

static void sweep(const gmg_smoother_level *l, void *state, const void *f, void *u, int steps, gmg_leg leg)
{
  run_passes(l, state, (size_t)(steps * l->params->async.passes), f, u, leg, 1);
}

/* In the first pass every block sees zeros around it, as in the deterministic twin. It reads only f, shares nothing, and its first
   half sweep costs almost nothing. With overlap this does not slow convergence. Without overlap it would, so u is filled with
   zeros, and blocks see fresh neighbours. */
static void sweep_from_zero(const gmg_smoother_level *l, void *state, const void *f, void *u, int steps, gmg_leg leg)
{
  const async_state *s = state;
  const size_t passes = (size_t)(steps * l->params->async.passes);
  const int fresh = l->params->async.overlap == 0 && !s->before;
  if (fresh)
    l->exec->vector->fill(l->exec, l->A->cells, 0, u);
  else
    run_blocks(s, l, 1, f, NULL, u, leg);
  if (passes > 1 || fresh) run_passes(l, s, fresh ? passes : passes - 1, f, u, leg, fresh);
}

const gmg_smoother_ops R(gmg_async_host) = {
    .setup = setup, .update = update, .sweep = sweep, .sweep_from_zero = sweep_from_zero};
