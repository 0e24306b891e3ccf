/* See stale.h: the grid, its blocks, norms and ages. */
#include "stale.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void fill_behind(const stale_blocks *s, int *behind)
{
  for (size_t block = 0; block < s->total; block++)
    for (int side = 0, *to = behind + block * STALE_SIDES; side < STALE_SIDES; side++) {
      const int a = (side - 1) / 2;
      size_t step = 1;
      for (int before = 0; before < a; before++) step *= s->count[before];
      const size_t i = block / step % s->count[a];
      if (side == 0) to[side] = (int)block;
      else if (side % 2) to[side] = i > 0 ? (int)(block - step) : -1;
      else to[side] = i + 1 < s->count[a] ? (int)(block + step) : -1;
    }
}

/* The place where row j of plane k begins, both counted from 0, without the layer of zeros. */
static size_t row_at(const stale_blocks *s, size_t j, size_t k)
{
  return (s->dim == 3 ? (k + 1) * s->stride[2] : 0) + (j + 1) * s->stride[1] + 1;
}

static void fill_b(const stale_grid *g)
{
  uint64_t state = 2;
  for (size_t k = 0; k < g->at.n[2]; k++)
    for (size_t j = 0; j < g->at.n[1]; j++)
      for (size_t i = 0; i < g->at.n[0]; i++)
        g->b[row_at(&g->at, j, k) + i] = 0.25 * (study_uniform(&state) - 0.5);
}

int study_stale_create(const stale_setting *w, stale_grid *g)
{
  stale_blocks *s = &g->at;
  *g = (stale_grid){.at = {.dim = w->dim, .assignment = w->assignment, .total = 1, .every = 1}};
  g->padded = 1;
  for (int a = 0; a < 3; a++) {
    s->n[a] = a < w->dim ? w->n : 1;
    s->stride[a] = g->padded;
    if (a < w->dim) g->padded *= w->n + 2;
    const size_t wanted = w->block[a] && w->block[a] < s->n[a] ? w->block[a] : s->n[a], parts = (s->n[a] + wanted - 1) / wanted;
    s->shape[a] = (s->n[a] + parts - 1) / parts;
    s->count[a] = (s->n[a] + s->shape[a] - 1) / s->shape[a];
    s->total *= s->count[a];
  }
  s->workers = (size_t)w->workers < s->total ? w->workers : (int)s->total;
  s->order = g->order = malloc(s->total * sizeof(int));
  s->behind = g->behind = malloc(s->total * STALE_SIDES * sizeof(int));
  s->b = g->b = calloc(g->padded, sizeof(double));
  for (int i = 0; i < 2; i++) {
    s->x[i] = calloc(g->padded, sizeof(double));
    s->done[i] = calloc(s->total, sizeof(unsigned));
  }
  if (!g->order || !g->behind || !g->b || !s->x[0] || !s->x[1] || !s->done[0] || !s->done[1]) return 0;
  study_order_blocks(s->count, w->order, 1, g->order);
  fill_behind(s, g->behind);
  fill_b(g);
  return 1;
}

int study_stale_record(stale_grid *g, int from, int to, int every)
{
  free(g->at.age);
  g->at.from = from, g->at.to = to, g->at.every = every;
  g->ages = (size_t)stale_rows(&g->at) * g->at.total * STALE_SIDES;
  g->at.age = g->ages ? malloc(g->ages * sizeof(int)) : NULL;
  if (g->ages && !g->at.age) return 0;
  for (size_t i = 0; i < g->ages; i++) g->at.age[i] = 0; /* touches the memory before the clock runs */
  return 1;
}

void study_stale_restart(stale_grid *g)
{
  g->passes = 0;
  for (int i = 0; i < 2; i++) {
    memset(g->at.x[i], 0, g->padded * sizeof(double));
    memset(g->at.done[i], 0, g->at.total * sizeof(unsigned));
  }
}

void study_stale_destroy(stale_grid *g)
{
  free(g->order), free(g->behind), free(g->b), free(g->at.age);
  for (int i = 0; i < 2; i++) free(g->at.x[i]), free(g->at.done[i]);
  *g = (stale_grid){0};
}

const double *study_stale_values(const stale_grid *g) { return g->at.x[g->at.assignment == STALE_SYNC ? g->passes % 2 : 0]; }

/* The mean of the neighbours. */
static double around(const stale_blocks *s, const double *v, size_t i)
{
  double sum = 0;
  for (int a = 0; a < s->dim; a++) sum += v[i - s->stride[a]] + v[i + s->stride[a]];
  return sum / (2 * s->dim);
}

/* The residual of a row, and its square; below the square of its smooth part. */
static double residual_of(const stale_blocks *s, const double *x, double *r, size_t row)
{
  double sum = 0;
  for (size_t i = row; i < row + s->n[0]; i++) r[i] = s->b[i] - x[i] + around(s, x, i), sum += r[i] * r[i];
  return sum;
}

static double smooth_of(const stale_blocks *s, const double *r, size_t row)
{
  double sum = 0;
  for (size_t i = row; i < row + s->n[0]; i++) {
    const double half = 0.5 * (r[i] + around(s, r, i));
    sum += half * half;
  }
  return sum;
}

/* The residual is stored in the buffer that is not used: x[1], or in synchronous runs the one that the next pass overwrites. */
stale_norms study_stale_measure(const stale_grid *g)
{
  const stale_blocks *s = &g->at;
  const size_t rows = s->n[1] * s->n[2];
  const double *x = study_stale_values(g);
  double *r = x == s->x[0] ? s->x[1] : s->x[0], all = 0, smooth = 0;
#pragma omp parallel for reduction(+ : all) if (rows > 1000)
  for (size_t row = 0; row < rows; row++) all += residual_of(s, x, r, row_at(s, row % s->n[1], row / s->n[1]));
#pragma omp parallel for reduction(+ : smooth) if (rows > 1000)
  for (size_t row = 0; row < rows; row++) smooth += smooth_of(s, r, row_at(s, row % s->n[1], row / s->n[1]));
  return (stale_norms){sqrt(all), sqrt(smooth)};
}

/* --- ages --- */

static int neighbours(const stale_blocks *s, size_t block)
{
  int count = 0;
  for (int side = 1; side < stale_sides(s); side++) count += stale_behind(s, block, side) >= 0;
  return count;
}

static const int *ages_of(const stale_grid *g, int row, size_t block)
{
  return g->at.age + ((size_t)row * g->at.total + block) * STALE_SIDES;
}

/* Counts every age in hits[age + g->passes]. Returns the number of ages. */
static size_t collect(const stale_grid *g, int target, int source, size_t *hits)
{
  const stale_blocks *s = &g->at;
  size_t count = 0;
  for (int row = 0; row < stale_rows(s); row++)
    for (size_t block = 0; block < s->total; block++) {
      const int *age = ages_of(g, row, block);
      if (target && neighbours(s, block) != target) continue;
      for (int side = 1; side < stale_sides(s); side++) {
        const int other = stale_behind(s, block, side);
        if (other < 0 || (source && neighbours(s, (size_t)other) != source)) continue;
        hits[age[side] + g->passes]++, count++;
      }
    }
  return count;
}

/* The age at place `at` if all ages are sorted in ascending order. */
static double ranked(const size_t *hits, int passes, size_t at)
{
  size_t before = 0;
  int i = 0;
  while (i < 2 * passes && before + hits[i] <= at) before += hits[i++];
  return i - passes;
}

static double quantile(const size_t *hits, int passes, size_t count, double q)
{
  const double at = q * (double)(count - 1);
  const size_t low = (size_t)at, high = low + 1 < count ? low + 1 : low;
  const double value = ranked(hits, passes, low);
  return value + (at - (double)low) * (ranked(hits, passes, high) - value);
}

stale_box study_stale_ages(const stale_grid *g, int target, int source)
{
  const int P = g->passes;
  stale_box box = {.count = 0};
  size_t *hits = calloc((size_t)(2 * P + 1), sizeof *hits);
  if (!hits || !(box.count = collect(g, target, source, hits))) return free(hits), (stale_box){.count = 0};
  for (int i = -P; i <= P; i++) {
    const double share = (double)hits[i + P] / (double)box.count;
    box.mean += i * share, box.fresh += i <= 0 ? share : 0, box.ahead += i < 0 ? share : 0;
  }
  double *const value[] = {&box.least, &box.q05, &box.q25, &box.median, &box.q75, &box.q95, &box.most};
  static const double at[] = {0, 0.05, 0.25, 0.5, 0.75, 0.95, 1};
  for (int i = 0; i < 7; i++) *value[i] = quantile(hits, P, box.count, at[i]);
  free(hits);
  return box;
}

/* Numbers of couplings inside a block and across its sides. Inside, a block reads its values from the pass before. */
static void weigh(const stale_blocks *s, size_t block, double weight[STALE_SIDES])
{
  const stale_place p = stale_place_of(s, block);
  const double cells = (double)(p.size[0] * p.size[1] * p.size[2]);
  for (int side = 0; side < STALE_SIDES; side++) weight[side] = 0;
  for (int a = 0; a < s->dim; a++) {
    const double face = cells / (double)p.size[a];
    weight[0] += 2 * (cells - face);
    for (int side = 1 + 2 * a; side <= 2 + 2 * a; side++) weight[side] = stale_behind(s, block, side) >= 0 ? face : 0; /* no couplings across a wall */
  }
}

double study_stale_coupling_age(const stale_grid *g)
{
  const stale_blocks *s = &g->at;
  double sum = 0, couplings = 0;
  for (int row = 0; row < stale_rows(s); row++)
    for (size_t block = 0; block < s->total; block++) {
      const int *age = ages_of(g, row, block);
      double weight[STALE_SIDES];
      weigh(s, block, weight);
      for (int side = 0; side < stale_sides(s); side++)
        if (weight[side] > 0) sum += weight[side] * age[side], couplings += weight[side];
    }
  return sum / couplings;
}

size_t study_stale_twice(const stale_grid *g)
{
  size_t twice = 0;
  for (int row = 0; row < stale_rows(&g->at); row++)
    for (size_t block = 0; block < g->at.total; block++) twice += ages_of(g, row, block)[0] != 1;
  return twice;
}

size_t study_stale_updates(const stale_grid *g)
{
  const unsigned *done = g->at.done[g->at.assignment == STALE_SYNC ? g->passes % 2 : 0];
  size_t sum = 0;
  for (size_t block = 0; block < g->at.total; block++) sum += done[block];
  return sum;
}
