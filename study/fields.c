/* See study.h: problems, fields, random numbers, orders of blocks. */
#include "study.h"

gmg_problem study_problem(int dim, size_t n, double eps)
{
  const size_t sizes[3] = {n, n, n};
  gmg_problem p = gmg_problem_default(dim, sizes);
  p.centering = GMG_VERTEX;
  p.shift = eps;
  for (int a = 0; a < dim; a++) p.h[a] = 1; /* the box has the length n + 1 */
  return p;
}

void study_fill(const gmg_problem *p, void *field, double value)
{
  const size_t cells = demo_cells(p);
#pragma omp parallel for if (cells > 1000000)
  for (size_t i = 0; i < cells; i++) demo_set(p->type, field, i, value);
}

int study_start(const study_place *at, const gmg_problem *p, unsigned long seed, int again, const demo_array *u)
{
  if (!again || u->there == u->here) demo_field_random(p, NULL, seed, u->here);
  return demo_array_send(&at->demo, u);
}

uint64_t study_random(uint64_t *state)
{
  uint64_t z = (*state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

double study_uniform(uint64_t *state) { return (double)(study_random(state) >> 11) * 0x1p-53; }

static int colour_of(const size_t count[3], size_t block)
{
  return (int)((block % count[0] + block / count[0] % count[1] + block / (count[0] * count[1])) % 2);
}

void study_order_blocks(const size_t count[3], gmg_block_order kind, uint64_t seed, int *order)
{
  const size_t total = count[0] * count[1] * count[2];
  size_t at = 0;
  for (int colour = 0; kind == GMG_ORDER_TWO_COLOUR && colour < 2; colour++)
    for (size_t b = 0; b < total; b++)
      if (colour_of(count, b) == colour) order[at++] = (int)b;
  for (; at < total; at++) order[at] = (int)(kind == GMG_ORDER_BACKWARD ? total - 1 - at : at);
  for (size_t b = total - 1; kind == GMG_ORDER_RANDOM && b > 0; b--) { /* Fisher, Yates 1938 */
    const size_t other = (size_t)(study_random(&seed) % (b + 1));
    const int swap = order[b];
    order[b] = order[other], order[other] = swap;
  }
}

unsigned study_traits_of(const gmg_smoother *inner, const gmg_params *p, int threads)
{
  gmg_params q = *p;
  q.smoother = inner;
  return inner->traits ? inner->traits(&q, threads) : 0;
}
