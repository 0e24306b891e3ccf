/* Geometry of messages (planes.h). */
#include "planes.h"

#include <string.h>

void gmg_extents_of(const size_t n[3], gmg_location location, int axis, size_t extents[3])
{
  memcpy(extents, n, 3 * sizeof *n);
  if (location == GMG_AT_FACES) extents[axis]++;
  if (location == GMG_AT_WALL) extents[axis] = 1;
}

/* The process that holds the neighbouring part along an axis; -1: none. */
static int neighbour(const gmg_part *p, int axis, int step)
{
  int at[3] = {p->at[0], p->at[1], p->at[2]};
  const int n = p->parts[axis], to = at[axis] + step;
  if (!p->periodic[axis] && (to < 0 || to >= n)) return -1;
  at[axis] = (to + n) % n;
  return (at[2] * p->parts[1] + at[1]) * p->parts[0] + at[0];
}

/* Planes of ghosts below (side 0) or above the unknowns of part c, `layers` at most. */
static size_t ghosts_of(const gmg_part *p, int axis, int c, int side, int layers)
{
  const gmg_span s = gmg_span_of_part(p, axis, c);
  const long all = side ? s.first + (long)s.n - (long)p->cut[axis][c + 1] : (long)p->cut[axis][c] - s.first;
  return (size_t)(all < layers ? all : layers);
}

/* The part of an array between two planes of an axis. */
static gmg_box_of_values planes_of(const size_t extents[3], int axis, size_t first, size_t count)
{
  gmg_box_of_values b = {{0}, {extents[0], extents[1], extents[2]}};
  b.first[axis] = first, b.n[axis] = count;
  return b;
}

gmg_link gmg_link_of(const gmg_part *p, const size_t extents[3], int axis, int side, size_t extra, int layers)
{
  const int parts = p->parts[axis], other = (p->at[axis] + (side ? 1 : parts - 1)) % parts;
  const size_t *own = p->own[axis];
  gmg_link l = {.rank = neighbour(p, axis, side ? 1 : -1)};
  if (l.rank < 0) return l;
  const size_t theirs = ghosts_of(p, axis, other, !side, layers) + (side ? 0 : extra);
  const size_t mine = ghosts_of(p, axis, p->at[axis], side, layers) + (side ? extra : 0);
  l.send = planes_of(extents, axis, side ? own[1] - theirs : own[0], theirs);
  l.receive = planes_of(extents, axis, side ? own[1] : own[0] - mine, mine);
  return l;
}

gmg_box_of_values gmg_own_box_of(const gmg_part *p, int rank, gmg_location location, int axis)
{
  const int at[3] = {rank % p->parts[0], rank / p->parts[0] % p->parts[1], rank / p->parts[0] / p->parts[1]};
  gmg_box_of_values b;
  for (int a = 0; a < 3; a++) {
    b.first[a] = p->cut[a][at[a]];
    b.n[a] = p->cut[a][at[a] + 1] - b.first[a] + (location == GMG_AT_FACES && a == axis);
  }
  return b;
}

size_t gmg_most_across(const gmg_part *p, int axis)
{
  size_t values = (size_t)(p->ghosts + 2); /* one more below (part.h), and one more face */
  if (!gmg_is_cut(p, axis)) return 0;
  for (int a = 0; a < 3; a++) values *= a == axis ? 1 : gmg_own_span(p, a).n + 1; /* faces */
  return values;
}

size_t gmg_largest_own_box(const gmg_part *p)
{
  size_t values = 1;
  for (int a = 0; a < 3; a++) {
    size_t most = 0;
    for (int c = 0; c < p->parts[a]; c++)
      if (p->cut[a][c + 1] - p->cut[a][c] > most) most = p->cut[a][c + 1] - p->cut[a][c];
    values *= most + 1; /* faces */
  }
  return values;
}

size_t gmg_most_in_all(const gmg_part *p) { return (p->whole[0] + 1) * (p->whole[1] + 1) * (p->whole[2] + 1); }
