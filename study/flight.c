/* See flight.h. */
#include "flight.h"
#include "study.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

typedef struct state {
  size_t shape[3], count[3], total;
  int *order;
  double *aside; /* values written by the blocks of a group, [cells] */
  double *tiles; /* a tile for every thread, */
  size_t tile;   /* of this many values */
  int threads;
} state;

/* --- state --- */

static gmg_status setup(const gmg_smoother_level *l, void **to)
{
  const gmg_operator *A = l->A;
  const gmg_params *p = l->params;
  state *s = calloc(1, sizeof *s);
  *to = s;
  if (!s) return GMG_ERR_MEMORY;
  s->total = s->tile = 1, s->threads = l->threads;
  for (int a = 0; a < 3; a++) {
    s->shape[a] = p->async.block[a] && p->async.block[a] < A->n[a] ? p->async.block[a] : A->n[a];
    s->count[a] = (A->n[a] + s->shape[a] - 1) / s->shape[a];
    s->total *= s->count[a];
    s->tile *= s->shape[a] + 2 * (size_t)p->async.overlap + 2;
  }
  s->tile *= 2; /* Jacobi reads the values from before the sweep */
  s->order = malloc(s->total * sizeof *s->order);
  s->aside = malloc(A->cells * sizeof *s->aside);
  s->tiles = malloc((size_t)s->threads * s->tile * sizeof *s->tiles);
  if (!s->order || !s->aside || !s->tiles) return GMG_ERR_MEMORY;
  study_order_blocks(s->count, p->async.order, p->async.seed + (uint64_t)l->index, s->order);
  return GMG_OK;
}

static void destroy(const gmg_smoother_level *l, void *old)
{
  state *s = old;
  (void)l;
  if (!s) return;
  free(s->order), free(s->aside), free(s->tiles);
  free(s);
}

/* --- a block --- */

/* A block: its own unknowns, the unknowns that it relaxes, and the size of its tile, which has one more layer on every side.
   Values beyond the grid are 0 in the tile. */
typedef struct box {
  size_t own[3][2], relax[3][2], size[3];
} box;

static box box_of(const state *s, const gmg_smoother_level *l, size_t b)
{
  const size_t at[3] = {b % s->count[0], b / s->count[0] % s->count[1], b / (s->count[0] * s->count[1])};
  const size_t overlap = (size_t)l->params->async.overlap;
  box x;
  for (int a = 0; a < 3; a++) {
    const size_t n = l->A->n[a], begin = at[a] * s->shape[a], end = begin + s->shape[a] < n ? begin + s->shape[a] : n;
    x.own[a][0] = begin, x.own[a][1] = end;
    x.relax[a][0] = begin > overlap ? begin - overlap : 0;
    x.relax[a][1] = end + overlap < n ? end + overlap : n;
    x.size[a] = x.relax[a][1] - x.relax[a][0] + 2;
  }
  return x;
}

static void read_tile(const gmg_operator *A, const box *x, const double *u, double *tile)
{
  memset(tile, 0, x->size[0] * x->size[1] * x->size[2] * sizeof *tile);
  for (size_t k = 0; k < x->size[2]; k++)
    for (size_t j = 0; j < x->size[1]; j++) {
      const size_t y = x->relax[1][0] + j - 1, z = x->relax[2][0] + k - 1; /* an index of -1 becomes larger than any n */
      const size_t before = x->relax[0][0] > 0, after = x->relax[0][1] < A->n[0];
      if (y < A->n[1] && z < A->n[2])
        memcpy(tile + (k * x->size[1] + j) * x->size[0] + 1 - before, u + (z * A->n[1] + y) * A->n[0] + x->relax[0][0] - before,
               (x->size[0] - 2 + before + after) * sizeof *tile);
    }
}

/* Relaxes every `step`th unknown of a line, from i on. Neighbours are read from `old`, which may be the tile. */
static void relax_line(const gmg_operator *A, const box *x, const double *f, double *tile, size_t i, size_t j, size_t k, size_t step,
                       double omega, const double *old)
{
  const double *lo[3] = {A->lo[0], A->lo[1], A->lo[2]}, *hi[3] = {A->hi[0], A->hi[1], A->hi[2]};
  const double *diag[3] = {A->diag[0], A->diag[1], A->diag[2]};
  const size_t line = x->size[0], plane = line * x->size[1], at = (k - x->relax[2][0] + 1) * plane + (j - x->relax[1][0] + 1) * line + 1;
  double *t = tile + at - x->relax[0][0];
  const double *v = old + at - x->relax[0][0];
  double rest = A->shift, low[2] = {0, 0}, high[2] = {0, 0};
  if (A->dim > 1) rest += diag[1][j], low[0] = lo[1][j], high[0] = hi[1][j];
  if (A->dim > 2) rest += diag[2][k], low[1] = lo[2][k], high[1] = hi[2][k];
  for (f += (k * A->n[1] + j) * A->n[0]; i < x->relax[0][1]; i += step) {
    double sum = f[i] + lo[0][i] * v[i - 1] + hi[0][i] * v[i + 1];
    if (A->dim > 1) sum += low[0] * v[i - line] + high[0] * v[i + line];
    if (A->dim > 2) sum += low[1] * v[i - plane] + high[1] * v[i + plane];
    t[i] += omega * (sum / (rest + diag[0][i]) - t[i]);
  }
}

static void relax_tile(const gmg_smoother_level *l, const box *x, const double *f, double *tile)
{
  const int colours = l->params->async.local == GMG_LOCAL_RED_BLACK ? 2 : 1;
  double *old = l->params->async.local == GMG_LOCAL_JACOBI ? tile + x->size[0] * x->size[1] * x->size[2] : tile;
  for (int half = 0; half < colours * l->params->async.local_sweeps; half++) {
    if (old != tile) memcpy(old, tile, x->size[0] * x->size[1] * x->size[2] * sizeof *old);
    for (size_t k = x->relax[2][0]; k < x->relax[2][1]; k++)
      for (size_t j = x->relax[1][0]; j < x->relax[1][1]; j++) {
        const size_t i = x->relax[0][0], other = colours == 2 && (i + j + k + (size_t)half) % 2 ? 1 : 0;
        relax_line(l->A, x, f, tile, i + other, j, k, (size_t)colours, l->params->omega, old);
      }
  }
}

enum { FROM_TILE, TO_U };

static void write_own(const gmg_operator *A, const box *x, const double *from, double *to, int how)
{
  for (size_t k = x->own[2][0]; k < x->own[2][1]; k++)
    for (size_t j = x->own[1][0]; j < x->own[1][1]; j++) {
      const size_t at = (k * A->n[1] + j) * A->n[0] + x->own[0][0];
      const size_t line = (k - x->relax[2][0] + 1) * x->size[1] + j - x->relax[1][0] + 1;
      const size_t in_tile = line * x->size[0] + x->own[0][0] - x->relax[0][0] + 1;
      memcpy(to + at, from + (how == FROM_TILE ? in_tile : at), (x->own[0][1] - x->own[0][0]) * sizeof *to);
    }
}

/* --- a pass --- */

/* Relaxes the blocks number first .. last - 1 of the order, all at once. */
static void relax_group(const gmg_smoother_level *l, const state *s, size_t first, size_t last, int back, const double *f, double *u)
{
#define NUMBER(b) (size_t)s->order[back ? s->total - 1 - (b) : (b)]
#pragma omp parallel num_threads(s->threads) if (last - first >= 16) /* one thread is faster for fewer blocks */
  {
    double *tile = s->tiles + (size_t)omp_get_thread_num() * s->tile;
#pragma omp for
    for (size_t b = first; b < last; b++) {
      const box x = box_of(s, l, NUMBER(b));
      read_tile(l->A, &x, u, tile);
      relax_tile(l, &x, f, tile);
      write_own(l->A, &x, tile, s->aside, FROM_TILE);
    }
#pragma omp for
    for (size_t b = first; b < last; b++) {
      const box x = box_of(s, l, NUMBER(b));
      write_own(l->A, &x, s->aside, u, TO_U);
    }
  }
#undef NUMBER
}

static void sweep(const gmg_smoother_level *l, void *of, const void *f, void *u, int steps, gmg_leg leg)
{
  const state *s = of;
  const size_t k = l->params->async.in_flight ? (size_t)l->params->async.in_flight : s->total;
  const int back = ((const flight *)l->params->smoother)->turns && leg != GMG_LEG_DOWN;
  for (int pass = 0; pass < steps * l->params->async.passes; pass++)
    for (size_t first = 0; first < s->total; first += k)
      relax_group(l, s, first, first + k < s->total ? first + k : s->total, back, f, u);
}

static unsigned traits(const gmg_params *params, int threads)
{
  (void)params, (void)threads;
  return GMG_SMOOTHER_DETERMINISTIC | GMG_SMOOTHER_LINEAR;
}

static const gmg_smoother_ops host = {.setup = setup, .sweep = sweep, .destroy = destroy};

flight study_flight_make(int turns)
{
  return (flight){.smoother = {.name = "flight", .traits = traits, .ops = {[GMG_BACKEND_HOST] = {[GMG_F64] = &host}}}, .turns = turns};
}
