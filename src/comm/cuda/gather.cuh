/* Whole levels in every process: each writes its values to all others. Included by links.cu. */
#ifndef GMG_COMM_CUDA_GATHER_H
#define GMG_COMM_CUDA_GATHER_H

#include "mail.cuh"

/* This process's values on their way to all whole arrays, or from one. */
typedef struct {
  lines mine, whole;
  size_t bytes; /* of a whole array */
  counter *done;
  unsigned *arrived;
  int rank, ranks;
  int *silent;
  gmg_slow_link slow;
  char *to[GMG_MOST_DEVICES];
  counter *came[GMG_MOST_DEVICES];
} gathering;

/* Thread blocks of row r of the launch write to process r. */
static __global__ void give_kernel(gathering g, const unsigned *values)
{
  gmg_wait_for_predecessor();
  const counter number = *g.done + 1;
  unsigned *to = (unsigned *)(g.to[blockIdx.y] + number % 2 * g.bytes);
  gmg_for_all(words_of(g.mine), [&](size_t w) {
    const size_t line = w / g.mine.width, k = line / g.mine.n[0], j = line - k * g.mine.n[0], i = w - line * g.mine.width;
    to[g.whole.first + k * g.whole.slice + j * g.whole.pitch + i] =
        values[g.mine.first + k * g.mine.slice + j * g.mine.pitch + i];
  });
  if (!is_last(g.arrived)) return;
  for (int r = 0; r < g.ranks; r++) gmg_store_release_system(g.came[r] + g.rank, number);
}

/* Copies the array that all have written. n: words. */
static __global__ void get_kernel(gathering g, size_t n, unsigned *values)
{
  const counter number = __ldcg(g.done) + 1;
  const unsigned *from = (const unsigned *)(g.to[g.rank] + number % 2 * g.bytes);
  for (int r = (int)threadIdx.x; r < g.ranks; r += (int)blockDim.x) {
    gmg_wait_for_counter(g.came[g.rank] + r, number, g.silent);
    gmg_wait_for_slow_link(g.slow, r);
  }
  __syncthreads();
  gmg_wait_for_predecessor();
  gmg_for_all(n, [&](size_t w) { values[w] = __ldcg(from + w); });
  if (is_last(g.arrived)) *g.done = number;
}

static void gather(const gmg_exec *e, const gmg_operator *A, gmg_location location, int axis, const void *x, void *whole)
{
  const gmg_transport *t = &e->context->ranks->transport;
  const gmg_part *p = A->part;
  const mail *m = p->mail;
  const size_t words = e->real_size / sizeof(unsigned);
  size_t extents[3], all[3];
  gmg_meet(e);
  gmg_extents_of(A->n, location, axis, extents), gmg_extents_of(p->whole, location, axis, all);
  gmg_box_of_values own = gmg_own_box_of(p, t->rank, location, axis);
  gathering g = {};
  g.whole = single_lines_of(all, &own, words);
  for (int a = 0; a < 3; a++) own.first[a] = p->own[a][0];
  g.mine = single_lines_of(extents, &own, words);
  g.bytes = m->bytes_of_whole, g.done = &m->done[3], g.arrived = &m->arrived[6], g.rank = t->rank, g.ranks = t->ranks;
  g.silent = gmg_device_of(e)->silent, g.slow = gmg_device_of(e)->slow;
  for (int r = 0; r < t->ranks; r++) g.to[r] = m->theirs[r].whole, g.came[r] = m->theirs[r].came_whole;
  gmg_launch_shape shape = grid_for(e, gmg_values_of(&own) * words);
  shape.blocks.y = (unsigned)t->ranks;
  gmg_launch_early(e, "give a part", give_kernel, shape, g, (const unsigned *)x);
  g.arrived++;
  const size_t n = all[0] * all[1] * all[2] * words;
  gmg_launch_early(e, "get a whole level", get_kernel, grid_for(e, n), g, n, (unsigned *)whole);
}

/* A box of a whole level with ghosts, which may lie across the seam of a periodic axis. */
typedef struct {
  long first[3];
  unsigned n[3], whole[3], words;
} cutting;

static __global__ void take_kernel(cutting c, const unsigned *whole, unsigned *x)
{
  gmg_wait_for_predecessor();
  const size_t row = (size_t)c.n[0] * c.words;
  gmg_for_all(row * c.n[1] * c.n[2], [&](size_t w) {
    const size_t line = w / row, at = w - line * row;
    const long place[3] = {(long)(at / c.words), (long)(line % c.n[1]), (long)(line / c.n[1])};
    size_t from = 0;
    for (int a = 2; a >= 0; a--) from = from * c.whole[a] + (size_t)gmg_wrap_modulo(c.first[a] + place[a], (long)c.whole[a]);
    x[w] = whole[from * c.words + at % c.words];
  });
}

static void take(const gmg_exec *e, const gmg_operator *A, const void *whole, void *x)
{
  cutting c = {};
  c.words = (unsigned)(e->real_size / sizeof(unsigned));
  for (int a = 0; a < 3; a++) {
    c.first[a] = gmg_own_span(A->part, a).first;
    c.n[a] = (unsigned)A->n[a], c.whole[a] = (unsigned)A->part->whole[a];
  }
  gmg_launch_early(e, "take a part", take_kernel, gmg_flat_shape(A->cells * c.words), c, (const unsigned *)whole, (unsigned *)x);
}

#endif
