/* Block-asynchronous smoother async-(k) on host threads (Anzt, Tomov, Dongarra, Heuveline 2013; as a smoother: Anzt,
   Dongarra, Gates, Tomov 2011).

   Threads take blocks in the given order. A block copies its unknowns, `overlap` layers around them and a ring of
   outside values into a tile, relaxes everything but the ring k times, and writes back only its own unknowns
   (restricted, as in Cai, Sarkis 1999). Nothing waits: not block for block, nor a pass for the one before it within a
   call. Values that blocks share are read and written by relaxed atomics, so a block finds its surroundings as they
   are when it starts, never torn.

   Deterministic twin: every block reads a copy made before the pass. */
#include "smoother.h"

#include "../core/shared_host.h"
#include "../stencil/row.h"
#include "blocks.h"

#include <omp.h>
#include <string.h>

typedef struct {
  gmg_blocks blocks;
  size_t margin[3];   /* layers of a tile around its block: overlap + the ring; 0 along axes without neighbours */
  size_t tile_cells;  /* of the largest tile */
  size_t axis_cells;  /* of the longest tile side */
  int *order;         /* [blocks.total] */
  char *tiles;        /* one per thread */
  size_t tile_bytes;
  int threads;
  real *before;       /* deterministic: u before the pass */
} async_state;

/* A thread's workspace: values, right-hand side, a second copy of the values for Jacobi, and the coefficients and
   global indices of the tile's rows along each axis. */
typedef struct {
  real *u, *f, *v;
  real *lo[3], *hi[3], *diag[3];
  int *index[3];
  size_t size[3];  /* of the tile, ring included */
  size_t own[3];   /* first own unknown in tile coordinates */
  size_t owned[3]; /* own unknowns along each axis */
  size_t begin[3], end[3]; /* what is relaxed, in tile coordinates */
  size_t parity;   /* of the tile's origin: colour of a cell = (parity + i + j + k) % 2 */
  int seam;        /* it reaches across the end of a periodic axis of odd size */
} tile;

/* Long lines: 256 x 16 x 16 solved 256^3 in 1.33 s where 64 x 16 x 16 took 1.50 (medians of 4, two cores). */
static const size_t preferred_block[4][3] = {{0}, {2048, 1, 1}, {128, 64, 1}, {256, 16, 16}};

static async_state layout(const gmg_smoother_level *l)
{
  const gmg_operator *A = l->A;
  async_state s = {.blocks = gmg_blocks_make(A, l->params->block, preferred_block[A->dim]), .tile_cells = 1};
  for (int a = 0; a < 3; a++) {
    s.margin[a] = A->n[a] > 1 ? (size_t)l->params->overlap + 1 : 0;
    const size_t side = s.blocks.shape[a] + 2 * s.margin[a];
    s.tile_cells *= side;
    if (side > s.axis_cells) s.axis_cells = side;
  }
  const size_t pad = 16; /* rounds every array up to whole cache lines */
  s.tile_cells = (s.tile_cells + pad) / pad * pad;
  s.axis_cells = (s.axis_cells + pad) / pad * pad;
  s.tile_bytes = (3 * s.tile_cells + 9 * s.axis_cells) * sizeof(real) + 3 * s.axis_cells * sizeof(int);
  s.threads = s.blocks.total < (size_t)l->threads ? (int)s.blocks.total : l->threads;
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

static tile tile_memory(const async_state *s, int thread)
{
  tile t = {0};
  real *p = (real *)(s->tiles + s->tile_bytes * (size_t)thread);
  t.u = p, t.f = p + s->tile_cells, t.v = p + 2 * s->tile_cells;
  p += 3 * s->tile_cells;
  for (int a = 0; a < 3; a++, p += 3 * s->axis_cells)
    t.lo[a] = p, t.hi[a] = p + s->axis_cells, t.diag[a] = p + 2 * s->axis_cells;
  int *q = (int *)p;
  for (int a = 0; a < 3; a++, q += s->axis_cells) t.index[a] = q;
  return t;
}

/* Places the tile of a block: which rows it holds, where they come from, what is relaxed. Along a periodic axis a tile
   runs on around the wrap, even onto copies of its own unknowns; at a wall the overlap ends and the ring is unused. */
static void place(tile *t, const async_state *s, const gmg_operator *A, size_t block)
{
  const size_t at[3] = {block % s->blocks.count[0], block / s->blocks.count[0] % s->blocks.count[1],
                        block / (s->blocks.count[0] * s->blocks.count[1])};
  t->parity = 0;
  t->seam = 0;
  for (int a = 0; a < 3; a++) {
    const real *lo = A->lo[a], *hi = A->hi[a], *diag = A->diag[a];
    const long n = (long)A->n[a], first = (long)(at[a] * s->blocks.shape[a]), margin = (long)s->margin[a];
    const long last = first + (long)s->blocks.shape[a] < n ? first + (long)s->blocks.shape[a] : n;
    const long origin = first - margin, size = last - first + 2 * margin;
    const long ring = margin > 0;
    t->size[a] = (size_t)size;
    t->own[a] = (size_t)margin;
    t->owned[a] = (size_t)(last - first);
    t->begin[a] = (size_t)(A->wraps[a] || origin + ring >= 0 ? ring : -origin);
    t->end[a] = (size_t)(A->wraps[a] || origin + size - ring <= n ? size - ring : n - origin);
    t->parity += (size_t)(origin + 2 * margin); /* even shift: keeps it positive */
    t->seam |= A->wraps[a] && n % 2 && (origin < 0 || origin + size > n);
    for (long i = 0; i < size; i++) {
      const long g = origin + i, wrapped = ((g % n) + n) % n;
      const long row = A->wraps[a] ? wrapped : g < 0 ? 0 : g >= n ? n - 1 : g;
      t->index[a][i] = (int)row;
      t->lo[a][i] = lo[row], t->hi[a][i] = hi[row], t->diag[a][i] = diag[row];
    }
  }
}

/* A line of the tile: contiguous in the middle, around a wrap or onto a wall at its ends. */
static void copy_line(const tile *t, const real *from, const int *index, real *to)
{
  const size_t n = t->size[0], first = t->own[0], last = first + t->owned[0];
  for (size_t i = 0; i < first; i++) to[i] = gmg_load(from + index[i]);
  const real *own = from + index[first] - first;
  for (size_t i = first; i < last; i++) to[i] = gmg_load(own + i);
  for (size_t i = last; i < n; i++) to[i] = gmg_load(from + index[i]);
}

/* The same for the right-hand side, which nobody writes, where the tile is relaxed. */
static void copy_rhs(const tile *t, const real *from, const int *index, real *to)
{
  const size_t first = t->own[0], last = first + t->owned[0];
  for (size_t i = t->begin[0]; i < first; i++) to[i] = from[index[i]];
  memcpy(to + first, from + index[first], t->owned[0] * sizeof(real));
  for (size_t i = last; i < t->end[0]; i++) to[i] = from[index[i]];
}

static void read_tile(tile *t, const gmg_operator *A, const real *u, const real *f)
{
  const size_t n0 = A->n[0], n1 = A->n[1];
  const int *restrict index = t->index[0];
  for (size_t k = 0; k < t->size[2]; k++)
    for (size_t j = 0; j < t->size[1]; j++) {
      const size_t from = ((size_t)t->index[2][k] * n1 + (size_t)t->index[1][j]) * n0;
      const size_t to = (k * t->size[1] + j) * t->size[0];
      copy_line(t, u + from, index, t->u + to);
      if (k >= t->begin[2] && k < t->end[2] && j >= t->begin[1] && j < t->end[1]) copy_rhs(t, f + from, index, t->f + to);
    }
}

static void write_own(const tile *t, const gmg_operator *A, real *u)
{
  for (size_t k = t->own[2]; k < t->own[2] + t->owned[2]; k++)
    for (size_t j = t->own[1]; j < t->own[1] + t->owned[1]; j++) {
      const real *from = t->u + (k * t->size[1] + j) * t->size[0] + t->own[0];
      real *to = u + ((size_t)t->index[2][k] * A->n[1] + (size_t)t->index[1][j]) * A->n[0] + t->index[0][t->own[0]];
      for (size_t i = 0; i < t->owned[0]; i++) gmg_store(to + i, from[i]);
    }
}

/* The row at i of a tile line, and its neighbours in the tile. */
typedef struct {
  real *u;
  const real *f, *lo, *hi, *diag;
  real c_lo[3], c_hi[3], c_diag;
  ptrdiff_t y, z; /* distance to the next line and plane */
} tile_line;

GMG_INLINE tile_line tile_line_at(const tile *t, const gmg_operator *A, const real *from, size_t j, size_t k)
{
  const size_t offset = (k * t->size[1] + j) * t->size[0];
  return (tile_line){.u = (real *)from + offset,
                     .f = t->f + offset,
                     .lo = t->lo[0],
                     .hi = t->hi[0],
                     .diag = t->diag[0],
                     .c_lo = {0, t->lo[1][j], t->lo[2][k]},
                     .c_hi = {0, t->hi[1][j], t->hi[2][k]},
                     .c_diag = t->diag[1][j] + t->diag[2][k] + (real)A->shift,
                     .y = t->size[1] > 1 ? (ptrdiff_t)t->size[0] : 0, /* an axis of one has no ring: look at itself */
                     .z = t->size[2] > 1 ? (ptrdiff_t)(t->size[0] * t->size[1]) : 0};
}

GMG_INLINE real relaxed(const int dim, const tile_line *l, ptrdiff_t i, ptrdiff_t x, real omega)
{
  const real *u = l->u;
  const gmg_row row = {.lo = {l->lo[i], l->c_lo[1], l->c_lo[2]},
                       .hi = {l->hi[i], l->c_hi[1], l->c_hi[2]},
                       .diag = l->diag[i] + l->c_diag};
  gmg_neighbours near = {.lo = {u[i - x]}, .hi = {u[i + x]}};
  if (dim > 1) near.lo[1] = u[i - l->y], near.hi[1] = u[i + l->y];
  if (dim > 2) near.lo[2] = u[i - l->z], near.hi[2] = u[i + l->z];
  return gmg_row_relaxed(dim, row, near, l->f[i], u[i], omega);
}

/* One colour of the tile. Every point is computed and the other colour keeps its value: unit stride beats half the
   work. In any order of the points, a kept value is never one that a relaxed neighbour had to wait for. */
GMG_INLINE void sweep_colour(const int dim, const tile *t, const gmg_operator *A, size_t colour, real omega)
{
  const ptrdiff_t x = t->size[0] > 1;
  for (size_t k = t->begin[2]; k < t->end[2]; k++)
    for (size_t j = t->begin[1]; j < t->end[1]; j++) {
      const tile_line l = tile_line_at(t, A, t->u, j, k);
      const int skip = (int)((t->parity + j + k + colour) % 2);
#pragma omp simd
      for (ptrdiff_t i = (ptrdiff_t)t->begin[0]; i < (ptrdiff_t)t->end[0]; i++) {
        const real value = relaxed(dim, &l, i, x, omega);
        l.u[i] = ((int)i & 1) == skip ? value : l.u[i];
      }
    }
}

GMG_INLINE void sweep_jacobi(const int dim, tile *t, const gmg_operator *A, real omega)
{
  const ptrdiff_t x = t->size[0] > 1;
  for (size_t k = t->begin[2]; k < t->end[2]; k++)
    for (size_t j = t->begin[1]; j < t->end[1]; j++) {
      const tile_line l = tile_line_at(t, A, t->u, j, k);
      real *restrict out = t->v + (l.u - t->u);
#pragma omp simd
      for (ptrdiff_t i = (ptrdiff_t)t->begin[0]; i < (ptrdiff_t)t->end[0]; i++) out[i] = relaxed(dim, &l, i, x, omega);
    }
  real *swap = t->u;
  t->u = t->v, t->v = swap;
}

GMG_INLINE void sweep_gauss_seidel(const int dim, const tile *t, const gmg_operator *A, int backward, real omega)
{
  const ptrdiff_t x = t->size[0] > 1;
  const size_t lines = t->end[1] - t->begin[1], all = lines * (t->end[2] - t->begin[2]);
  for (size_t s = 0; s < all; s++) {
    const size_t at = backward ? all - 1 - s : s;
    const tile_line l = tile_line_at(t, A, t->u, t->begin[1] + at % lines, t->begin[2] + at / lines);
    for (size_t i = t->begin[0]; i < t->end[0]; i++) {
      const ptrdiff_t p = (ptrdiff_t)(backward ? t->begin[0] + t->end[0] - 1 - i : i);
      l.u[p] = relaxed(dim, &l, p, x, omega);
    }
  }
}

/* At a seam two faces of one colour meet and the blocks on its sides disagree on colours. Two more sweeps there make up
   for it: factor 0.052 instead of 0.075 on a periodic 65^3 (0.032 with walls), for a layer of blocks. */
GMG_INLINE void local_sweeps(const int dim, tile *t, const gmg_operator *A, const gmg_params *p, real omega, int reversed)
{
  const int sweeps = p->local_sweeps + (t->seam && p->local == GMG_LOCAL_RED_BLACK ? 2 : 0);
  if (p->local == GMG_LOCAL_JACOBI) memcpy(t->v, t->u, t->size[0] * t->size[1] * t->size[2] * sizeof(real));
  for (int s = 0; s < sweeps; s++) {
    if (p->local == GMG_LOCAL_RED_BLACK)
      for (size_t half = 0; half < 2; half++) sweep_colour(dim, t, A, half ^ (size_t)reversed, omega);
    else if (p->local == GMG_LOCAL_JACOBI)
      sweep_jacobi(dim, t, A, omega);
    else
      sweep_gauss_seidel(dim, t, A, reversed, omega);
  }
}

static void relax_block(tile t, const async_state *s, const gmg_smoother_level *l, size_t block, const real *f,
                        const real *from, real *to, int reversed)
{
  const gmg_operator *A = l->A;
  const real omega = (real)gmg_weight_async(A, l->params);
  place(&t, s, A, block);
  read_tile(&t, A, from, f);
  if (A->dim == 1) local_sweeps(1, &t, A, l->params, omega, reversed);
  if (A->dim == 2) local_sweeps(2, &t, A, l->params, omega, reversed);
  if (A->dim == 3) local_sweeps(3, &t, A, l->params, omega, reversed);
  write_own(&t, A, to);
}

/* All blocks, `passes` times over, without a barrier in between. */
static void run_blocks(const async_state *s, const gmg_smoother_level *l, size_t passes, const real *f, const real *from,
                       real *to, int reversed)
{
#pragma omp parallel num_threads(s->threads) if (s->threads > 1 && l->A->cells > 4096)
  {
    const tile mine = tile_memory(s, omp_get_thread_num());
#pragma omp for schedule(dynamic, 1) nowait
    for (size_t b = 0; b < passes * s->blocks.total; b++) {
      const size_t at = b % s->blocks.total;
      relax_block(mine, s, l, (size_t)s->order[reversed ? s->blocks.total - 1 - at : at], f, from, to, reversed);
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
