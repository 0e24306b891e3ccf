/* See media_matrix.h. */
#include "media_matrix.h"

static double width(const medium *m, int axis, size_t i)
{
  return m->coord[axis] ? m->coord[axis][i + 1] - m->coord[axis][i] : m->p.h[axis];
}

static size_t index_of(const size_t n[3], const size_t at[3]) { return at[0] + n[0] * (at[1] + n[1] * at[2]); }

/* beta over distance across the face below cell `at` along an axis: the harmonic mean, weighted by distance, between two cells; half
 * a cell at a wall. */
static double conductance(const medium *m, int axis, const size_t at[3])
{
  const size_t *n = m->p.n;
  const size_t faces[3] = {n[0] + (axis == 0), n[1] + (axis == 1), n[2] + (axis == 2)};
  double distance[2] = {0, 0}, resistance = 0;
  for (int side = 0; side < 2; side++) { /* the cells below and above the face */
    size_t cell[3] = {at[0], at[1], at[2]};
    if (side == 0 ? at[axis] == 0 : at[axis] == n[axis]) continue;
    cell[axis] -= side == 0;
    distance[side] = width(m, axis, cell[axis]) / 2;
    resistance += distance[side] / (m->beta ? m->beta[index_of(n, cell)] : 1);
  }
  if (m->face[axis]) return m->face[axis][index_of(faces, at)] / (distance[0] + distance[1]);
  return 1 / resistance;
}

bench_media_row bench_media_row_of(const medium *m, const size_t at[3])
{
  bench_media_row row = {.volume = 1};
  for (int a = 0; a < m->p.dim; a++) row.volume *= width(m, a, at[a]);
  row.diagonal = row.volume * ((m->sigma ? m->sigma[index_of(m->p.n, at)] : 0) + m->p.shift);
  for (int a = 0; a < m->p.dim; a++)
    for (int side = 0; side < 2; side++) {
      size_t face[3] = {at[0], at[1], at[2]};
      face[a] += (size_t)side;
      const double c = conductance(m, a, face) * row.volume / width(m, a, at[a]);
      const int wall = side == 0 ? at[a] == 0 : at[a] + 1 == m->p.n[a];
      row.coupling[a][side] = wall ? 0 : c;
      row.diagonal += c;
    }
  return row;
}
