/* Prolongation for coefficients on faces, on nested levels. Linear interpolation is wrong across a jump: the solution has a kink
   there, and is steep where the coefficient is small. So a fine unknown starts from its parent's value. Along each axis it moves
   towards the neighbour's value (or a wall's zero) as in linear interpolation, times min(1, coefficient of the face towards it /
   coefficient of the face behind). Where the coefficient is smooth, this is the whole move; into a region that hardly conducts, it
   is almost none. The moves along the axes are added.

   After Alcouffe, Brandt, Dendy, Painter (1981) and, for cells, Khalil, Wesseling (1992). Measurements: docs/weights.md. Called
   through gmg_grid_ops. */
#include "stencil/operator/host/grid_row.h"
#include "stencil/grid_ops.h"
#include "stencil/transfer/prolong.h"

/* The contribution of an axis across the line. The move of an unknown is next times the neighbouring coarse line, plus own times
   its own coarse line. */
typedef struct {
  const scalar *beside; /* neighbouring coarse line */
  const real *out, *in; /* faces towards it and behind */
  real own, next;
} line_move;

/* Adds the contribution to unknown i, whose parent p has the value `here`. */
GMG_INLINE scalar add_step(scalar sum, const line_move a, long i, long p, scalar here)
{
  return gmg_add_product(sum, gmg_limit(a.out[i], a.in[i]), gmg_two_products(a.own, here, a.next, a.beside[p]));
}

static scalar value_at(const int dim, const gmg_map *m, size_t i, const scalar *c, const real *x_face, const line_move across[3])
{
  const gmg_move x = gmg_move_of(m, i);
  const scalar here = c[x.parent];
  const scalar step = gmg_two_products(x.own, here, x.next, c[x.other]);
  scalar v = gmg_add_product(here, gmg_move_limit(x, x_face[i], x_face[i + 1]), step);
  for (int a = 1; a < dim; a++) v = add_step(v, across[a], (long)i, (long)x.parent, here);
  return v;
}

/* Adds to the pairs of unknowns 2 m, 2 m + 1. All have the same weights: `next` of the neighbour, and `own` of the parent, less
   1. */
GMG_INLINE void add_pairs(const int dim, const real next[2], const real own[2], long from, long to, const scalar *restrict c,
                          const real *restrict x_face, const line_move across[3], scalar *restrict u)
{
  const line_move y = across[1], z = across[2];
#pragma omp simd
  for (long m = from; m < to; m++) {
    const scalar steps[2] = {gmg_two_products(own[0], c[m], next[0], c[m - 1]), gmg_two_products(own[1], c[m], next[1], c[m + 1])};
    scalar even = gmg_add_product(c[m], gmg_limit(x_face[2 * m], x_face[2 * m + 1]), steps[0]);
    scalar odd = gmg_add_product(c[m], gmg_limit(x_face[2 * m + 2], x_face[2 * m + 1]), steps[1]);
    if (dim > 1) even = add_step(even, y, 2 * m, m, c[m]), odd = add_step(odd, y, 2 * m + 1, m, c[m]);
    if (dim > 2) even = add_step(even, z, 2 * m, m, c[m]), odd = add_step(odd, z, 2 * m + 1, m, c[m]);
    u[2 * m] += even, u[2 * m + 1] += odd;
  }
}

/* Adds to a line whose own axis is not coarsened. */
GMG_INLINE void add_line(const int dim, long n, const scalar *restrict c, const line_move across[3], scalar *restrict u)
{
  const line_move y = across[1], z = across[2];
#pragma omp simd
  for (long i = 0; i < n; i++) {
    scalar v = c[i];
    if (dim > 1) v = add_step(v, y, i, i, c[i]);
    if (dim > 2) v = add_step(v, z, i, i, c[i]);
    u[i] += v;
  }
}

GMG_INLINE void prolong_line(const int dim, const gmg_map *m, const scalar *c, const real *x_face, const line_move across[3],
                             scalar *u)
{
  if (m->cols == m->rows) {
    add_line(dim, m->rows, c, across, u);
    return;
  }
  const int even = m->begin % 2; /* which of the two patterns belongs to the even unknowns */
  const real next[2] = {(real)m->repeat[even][0], (real)m->repeat[!even][1]};
  const real own[2] = {(real)(m->repeat[even][1] - 1), (real)(m->repeat[!even][0] - 1)};
  long from = (m->begin + 1) / 2, to = m->end / 2;
  if (m->period != 2 || m->width != 2 || from >= to || m->first[2 * from] != from - 1 + m->shift) from = to = 0;
  line_move shifted[3];
  for (int a = 1; a < dim; a++) shifted[a] = across[a], shifted[a].beside += m->shift;
  for (long i = 0; i < 2 * from; i++) u[i] += value_at(dim, m, (size_t)i, c, x_face, across);
  add_pairs(dim, next, own, from, to, c + m->shift, x_face, shifted, u);
  for (long i = 2 * to; i < m->rows; i++) u[i] += value_at(dim, m, (size_t)i, c, x_face, across);
}

/* faces: below and above the line; lines: coarse line number 0 at the same place along the other axis. */
static line_move line_move_of(gmg_move m, const scalar *lines, size_t stride, const real *const faces[2])
{
  return (line_move){lines + m.other * stride, faces[m.up], faces[!m.up], m.own, m.next};
}

void R(gmg_prolong_faces_host)(const gmg_exec *e, const gmg_operator *A, const gmg_map map[3], const void *c, void *u)
{
  const size_t lines = A->n[1] * A->n[2];
  const gmg_layout coarse = gmg_layout_of_columns(map);
#pragma omp parallel for schedule(static) num_threads(e->threads) if (A->cells > GMG_MIN_CELLS_PARALLEL)
  for (size_t t = 0; t < lines; t++) {
    const gmg_line_place line = gmg_line_place_of(t, A->n);
    const size_t j = line.j, k = line.k;
    const gmg_move y = gmg_move_of(&map[1], j), z = gmg_move_of(&map[2], k);
    const gmg_line l = gmg_line_coefficients(A, j, k);
    const scalar *from = (const scalar *)c + gmg_offset(coarse, 0, y.parent, z.parent);
    scalar *to = (scalar *)u + gmg_offset(gmg_layout_of(A), 0, j, k);
    line_move across[3];
    if (A->dim > 1) across[1] = line_move_of(y, from - y.parent * coarse.row, coarse.row, l.y_face);
    if (A->dim > 2) across[2] = line_move_of(z, from - z.parent * gmg_pitch(coarse, 2), gmg_pitch(coarse, 2), l.z_face);
    if (A->dim == 1) prolong_line(1, &map[0], from, l.x_face, across, to);
    if (A->dim == 2) prolong_line(2, &map[0], from, l.x_face, across, to);
    if (A->dim == 3) prolong_line(3, &map[0], from, l.x_face, across, to);
  }
}
