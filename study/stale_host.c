/* See stale.h: asynchronous Jacobi on host threads. Threads share values and counters, and access them by relaxed atomics. A
 * counter is raised after the values it counts (release), and read before them (acquire), so a value is at most as old as its
 * recorded age. */
#include "stale.h"

#include <omp.h>
#include <stdatomic.h>
#include <stdlib.h>

static double load(const double *v)
{
  double value;
  __atomic_load(v, &value, __ATOMIC_RELAXED);
  return value;
}

static void store(double *v, double value) { __atomic_store(v, &value, __ATOMIC_RELAXED); }

/* Copies a block and the layer around it, without corners, into the tile. */
static void read_tile(const stale_blocks *s, const stale_place *p, const double *x, double *tile)
{
  const long e0 = (long)p->size[0], e1 = (long)p->size[1], e2 = (long)p->size[2], row = e0 + 2, plane = row * (e1 + 2);
  const long deep = s->dim == 3;
  for (long k = -deep; k < e2 + deep; k++)
    for (long j = -1; j <= e1; j++) {
      const int out = (k < 0 || k == e2) + (j < 0 || j == e1), ends = out == 0;
      if (out > 1) continue;
      const double *from = x + (long)p->first + k * (long)s->stride[2] * deep + j * (long)s->stride[1];
      double *to = tile + (k + deep) * plane + (j + 1) * row + 1;
      for (long i = -ends; i < e0 + ends; i++) to[i] = load(from + i);
    }
}

/* Sets every unknown of the block to the value that solves its row of A x = b: x += b - A x, because the diagonal is 1. */
static void relax_tile(const stale_blocks *s, const stale_place *p, const double *tile, double *x)
{
  const long e0 = (long)p->size[0], e1 = (long)p->size[1], e2 = (long)p->size[2], row = e0 + 2, plane = row * (e1 + 2);
  const long deep = s->dim == 3;
  const double weight = 1.0 / (2 * s->dim);
  for (long k = 0; k < e2; k++)
    for (long j = 0; j < e1; j++) {
      const long at = (long)p->first + k * (long)s->stride[2] * deep + j * (long)s->stride[1];
      const double *t = tile + (k + deep) * plane + (j + 1) * row + 1;
      for (long i = 0; i < e0; i++) {
        double sum = t[i - 1] + t[i + 1] + t[i - row] + t[i + row];
        if (deep) sum += t[i - plane] + t[i + plane];
        store(x + at + i, s->b[at + i] + weight * sum);
      }
    }
}

/* Pass p (1, 2, ...) of a block. */
static void relax_block(const stale_blocks *s, size_t block, int pass, double *tile)
{
  const int sync = s->assignment == STALE_SYNC, from = sync ? (pass + 1) % 2 : 0, to = sync ? pass % 2 : 0;
  const stale_place p = stale_place_of(s, block);
  unsigned seen[STALE_SIDES];
  const int row = stale_row(s, pass);
  for (int side = 0; side < stale_sides(s) && row >= 0; side++) {
    const int other = stale_behind(s, block, side);
    if (other >= 0) seen[side] = __atomic_load_n(&s->done[from][other], __ATOMIC_ACQUIRE);
  }
  read_tile(s, &p, s->x[from], tile);
  relax_tile(s, &p, tile, s->x[to]);
  if (s->from == s->to) return;
  if (sync) __atomic_store_n(&s->done[to][block], (unsigned)pass, __ATOMIC_RELEASE);
  else __atomic_fetch_add(&s->done[to][block], 1, __ATOMIC_RELEASE);
  if (row < 0) return;
  int *age = s->age + ((size_t)row * s->total + block) * STALE_SIDES;
  for (int side = 0; side < stale_sides(s); side++)
    if (stale_behind(s, block, side) >= 0) age[side] = pass - (int)seen[side];
}

/* The share of a worker in the passes after the first `before` passes. */
typedef void work(const stale_blocks *s, size_t me, size_t workers, int before, int passes, atomic_size_t *next, double *tile);

static void work_sync(const stale_blocks *s, size_t me, size_t workers, int before, int passes, atomic_size_t *next, double *tile)
{
  (void)next;
  for (int p = 1; p <= passes; p++) {
    for (size_t t = me; t < s->total; t += workers) relax_block(s, (size_t)s->order[t], before + p, tile);
#pragma omp barrier
  }
}

static void work_static(const stale_blocks *s, size_t me, size_t workers, int before, int passes, atomic_size_t *next, double *tile)
{
  (void)me, (void)workers;
  for (size_t t; (t = atomic_fetch_add_explicit(next, 1, memory_order_relaxed)) < s->total;)
    for (int p = 1; p <= passes; p++) relax_block(s, (size_t)s->order[t], before + p, tile);
}

static void work_stride(const stale_blocks *s, size_t me, size_t workers, int before, int passes, atomic_size_t *next, double *tile)
{
  (void)next;
  for (size_t t = me; t < (size_t)passes * s->total; t += workers)
    relax_block(s, (size_t)s->order[t % s->total], before + 1 + (int)(t / s->total), tile);
}

static void work_ticket(const stale_blocks *s, size_t me, size_t workers, int before, int passes, atomic_size_t *next, double *tile)
{
  (void)me, (void)workers;
  for (size_t t; (t = atomic_fetch_add_explicit(next, 1, memory_order_relaxed)) < (size_t)passes * s->total;)
    relax_block(s, (size_t)s->order[t % s->total], before + 1 + (int)(t / s->total), tile);
}

static work *const works[STALE_ASSIGNMENTS] = {
    [STALE_SYNC] = work_sync, [STALE_STATIC] = work_static, [STALE_STRIDE] = work_stride, [STALE_TICKET] = work_ticket};

int study_stale_run_host(stale_grid *g, int passes, double *seconds)
{
  const stale_blocks *s = &g->at;
  const size_t tile = (s->shape[0] + 2) * (s->shape[1] + 2) * (s->shape[2] + 2) + 16; /* so that tiles share no cache line */
  double *tiles = malloc(tile * (size_t)s->workers * sizeof *tiles);
  atomic_size_t next = 0;
  int workers = 0;
  if (!tiles) return 0;
  for (size_t i = 0; i < tile * (size_t)s->workers; i++) tiles[i] = 0;
  const double start = study_now();
#pragma omp parallel num_threads(s->workers)
  {
    const size_t me = (size_t)omp_get_thread_num();
    works[s->assignment](s, me, (size_t)omp_get_num_threads(), g->passes, passes, &next, tiles + tile * me);
    if (me == 0) workers = omp_get_num_threads();
  }
  *seconds = study_now() - start;
  g->passes += passes;
  free(tiles);
  return workers == s->workers; /* otherwise there were not enough threads */
}
