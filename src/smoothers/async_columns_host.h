/* Where the columns of one parity in a line of the asynchronous smoother's tile stand, with all their surroundings, and how
   they are relaxed. Included by async_host.c alone. */
#ifndef GMG_ASYNC_COLUMNS_HOST_H
#define GMG_ASYNC_COLUMNS_HOST_H

#include "async_tile_host.h"

/* Where a plane and its neighbours stand in memory. */
typedef struct {
  real *out;
  const real *u, *below, *above, *f, *inverse, *face[3], *face_above;
  const real *side; /* coefficients of the plane */
  size_t colour;    /* of column 0 of line 0 in the stage that is done here */
  int relaxed;      /* or only read */
} planes;

enum { MOST_STAGES = 256 };

static planes planes_at(const int kind, const tile *t, int stage, long q, int reversed)
{
  const int first = t->s->versions, old = first > 1 ? stage - 1 : 0, new = first > 1 ? stage : 0;
  const long *relaxed = t->relax[t->s->stream];
  planes p = {.colour = t->parity + (size_t)q + (size_t)(stage - 1 + reversed),
              .relaxed = q >= relaxed[0] && q < relaxed[1],
              .out = field_plane(t, new, q),
              .u = field_plane(t, old, q),
              .below = field_plane(t, old, q - 1),
              .above = field_plane(t, old, q + 1),
              .f = field_plane(t, first + RHS, q),
              .side = t->sides[1] + SIDES * q};
  if (kind != GMG_CONSTANT) p.inverse = field_plane(t, first + INVERSE, q);
  if (!(kind & GMG_FACES)) return p;
  for (int a = 0; a < 3; a++) p.face[a] = field_plane(t, first + FACE_X + a, q);
  p.face_above = field_plane(t, first + FACE_X + (t->s->stream == 1 ? 1 : 2), q + 1);
  return p;
}

typedef struct {
  real *out;
  const real *u, *left, *right, *y_lo, *y_hi, *z_lo, *z_hi, *f, *inverse, *lo, *hi;
  const real *x_face[2], *y_face[2], *z_face[2];
  real c_lo[3], c_hi[3];
  long begin, end; /* what is relaxed */
} columns;

/* One over the diagonal along a line of constant coefficients: computed again only where the other axes' share changes. */
static const real *shared_inverse(tile *t, const gmg_operator *A, real c)
{
  real *line = shared_line(t, SHARED_INVERSE);
  if (t->inverse_of == c) return line;
  split_line(t, A->diag[0], line);
  for (size_t i = 0; i < 2 * t->s->half; i++) line[i] = 1 / (line[i] + c);
  t->inverse_of = c;
  return line;
}

GMG_INLINE columns columns_at(const int dim, const int kind, tile *t, const gmg_operator *A, const planes *p, long j, int odd)
{
  const size_t half = t->s->half, mine = odd ? half : 0, other = half - mine, at = (size_t)j * 2 * half;
  const real *row = t->sides[0] + SIDES * j, *axis1 = dim == 3 ? row : p->side;
  const real *y_lo = dim == 3 ? p->u + at - 2 * half : p->below + at, *y_hi = dim == 3 ? p->u + at + 2 * half : p->above + at;
  columns c = {.out = p->out + at + mine,
               .u = p->u + at + mine,
               .left = p->u + at + other - !odd,
               .right = p->u + at + other + odd,
               .y_lo = y_lo + mine,
               .y_hi = y_hi + mine,
               .z_lo = p->below + at + mine,
               .z_hi = p->above + at + mine,
               .f = p->f + at + mine,
               .lo = shared_line(t, LO) + mine,
               .hi = shared_line(t, HI) + mine,
               .c_lo = {0, axis1[SIDE_LO], p->side[SIDE_LO]},
               .c_hi = {0, axis1[SIDE_HI], p->side[SIDE_HI]},
               .begin = (t->relax[0][0] - odd + 1) / 2,
               .end = (t->relax[0][1] - odd + 1) / 2};
  if (kind == GMG_CONSTANT) {
    const real rest = (dim > 1 ? axis1[SIDE_DIAG] : 0) + (dim > 2 ? p->side[SIDE_DIAG] : 0) + (real)A->shift;
    c.inverse = shared_inverse(t, A, rest) + mine;
    return c;
  }
  c.inverse = p->inverse + at + mine;
  if (!(kind & GMG_FACES)) return c;
  c.x_face[0] = p->face[0] + at + mine, c.x_face[1] = p->face[0] + at + other + odd;
  c.y_face[0] = p->face[1] + at + mine, c.y_face[1] = (dim == 3 ? p->face[1] + at + 2 * half : p->face_above + at) + mine;
  c.z_face[0] = p->face[2] + at + mine, c.z_face[1] = p->face_above + at + mine;
  return c;
}

GMG_INLINE void relax_columns(const int dim, const int kind, const columns *c, long begin, long end, real omega)
{
  real *out = c->out; /* may be u: no value that is read at another m is written */
#pragma omp simd
  for (long m = begin; m < end; m++) {
    gmg_row row = {.lo = {c->lo[m], c->c_lo[1], c->c_lo[2]}, .hi = {c->hi[m], c->c_hi[1], c->c_hi[2]}};
    gmg_neighbours near = {.lo = {c->left[m]}, .hi = {c->right[m]}};
    if (dim > 1) near.lo[1] = c->y_lo[m], near.hi[1] = c->y_hi[m];
    if (dim > 2) near.lo[2] = c->z_lo[m], near.hi[2] = c->z_hi[m];
    if (kind & GMG_FACES) {
      row.lo[0] *= c->x_face[0][m], row.hi[0] *= c->x_face[1][m];
      if (dim > 1) row.lo[1] *= c->y_face[0][m], row.hi[1] *= c->y_face[1][m];
      if (dim > 2) row.lo[2] *= c->z_face[0][m], row.hi[2] *= c->z_face[1][m];
    }
    out[m] = gmg_row_relaxed_by(dim, row, near, c->f[m], c->u[m], c->inverse[m], omega);
  }
}

#endif
