/* Division of a level into blocks, and block orders (partition.h). Chow, Anzt, Dongarra (2015) study the effect of the order.
   Called by async and red_black. */
#include "partition.h"

#include "core/layout.h"

#include <stdint.h>

/* The unknowns first .. end - 1 along an axis that are divided. */
static void find_divided(const gmg_operator *A, int axis, size_t *first, size_t *end)
{
  const int own = A->part && !A->part->relaxes_ghosts;
  *first = own ? A->part->own[axis][0] : 0, *end = own ? A->part->own[axis][1] : A->n[axis];
}

gmg_blocks gmg_blocks_make(const gmg_operator *A, const size_t wanted[3], const size_t preferred[3])
{
  gmg_blocks b = {.total = 1};
  for (int a = 0; a < 3; a++) {
    find_divided(A, a, &b.first[a], &b.end[a]);
    const size_t s = wanted[a] ? wanted[a] : preferred[a], n = b.end[a] - b.first[a];
    b.count[a] = s < n ? (n + s - 1) / s : 1;
    b.shape[a] = wanted[a] && wanted[a] < n ? s : (n + b.count[a] - 1) / b.count[a];
    b.count[a] = (n + b.shape[a] - 1) / b.shape[a];
    b.start[a] = (long)b.first[a], b.stop[a] = (long)b.end[a];
    b.total *= b.count[a];
  }
  return b;
}

gmg_blocks gmg_blocks_make_about(const gmg_operator *A, const size_t wanted[3], const size_t preferred[3])
{
  size_t most[3];
  for (int a = 0; a < 3; a++) {
    const size_t s = most[a] = preferred[a];
    size_t first, end;
    find_divided(A, a, &first, &end);
    const size_t n = end - first, fewer = n / s, longer = fewer ? (n + fewer - 1) / fewer : s;
    if (n % s < s / 2 && longer <= s + s / 8) most[a] = longer;
  }
  return gmg_blocks_make(A, wanted, most);
}

gmg_blocks gmg_blocks_of_whole(const gmg_operator *A, const size_t wanted[3], const size_t preferred[3])
{
  gmg_operator whole = {.part = NULL};
  for (int a = 0; a < 3; a++) whole.n[a] = A->part->whole[a];
  gmg_blocks b = gmg_blocks_make_about(&whole, wanted, preferred);
  b.total = 1;
  for (int a = 0; a < 3; a++) {
    const gmg_part *p = A->part;
    const long level_begin = (long)p->own[a][0] - (long)p->cut[a][p->at[a]]; /* where the level begins, as an index of the part */
    const size_t low = p->cut[a][p->at[a]] / b.shape[a], high = (p->cut[a][p->at[a] + 1] - 1) / b.shape[a];
    b.first[a] = p->own[a][0], b.end[a] = p->own[a][1];
    b.start[a] = level_begin + (long)(low * b.shape[a]), b.stop[a] = level_begin + (long)p->whole[a];
    b.count[a] = high - low + 1;
    b.total *= b.count[a];
  }
  return b;
}

/* splitmix64 (Steele, Lea, Flood 2014) */
static uint64_t next_random(uint64_t *state)
{
  uint64_t z = (*state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

void gmg_blocks_order(const gmg_blocks *b, gmg_block_order kind, unsigned long seed, int *order)
{
  const size_t n = b->total;
  size_t at = 0;
  uint64_t state = seed;
  if (kind == GMG_ORDER_TWO_COLOUR) {
    for (size_t colour = 0; colour < 2; colour++)
      for (size_t t = 0; t < n; t++) {
        size_t i[3];
        gmg_indices_of(t, b->count, i);
        if ((i[0] + i[1] + i[2]) % 2 == colour) order[at++] = (int)t;
      }
    return;
  }
  for (size_t t = 0; t < n; t++) order[t] = (int)(kind == GMG_ORDER_BACKWARD ? n - 1 - t : t);
  for (size_t t = n - 1; kind == GMG_ORDER_RANDOM && t > 0; t--) { /* Fisher, Yates 1938 */
    const size_t other = (size_t)(next_random(&state) % (t + 1));
    const int swap = order[t];
    order[t] = order[other], order[other] = swap;
  }
}
