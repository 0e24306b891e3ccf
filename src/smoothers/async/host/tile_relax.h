/* Relaxation in the asynchronous smoother's tile, for the columns of one parity in a line. Included by host/async.c alone. */
#ifndef GMG_SMOOTHERS_ASYNC_HOST_TILE_RELAX_H
#define GMG_SMOOTHERS_ASYNC_HOST_TILE_RELAX_H

#include "tile_io.h"

/* Pointers to a plane and its neighbouring planes, at line 0. */
typedef struct {
  scalar *out;
  const scalar *u, *y_lo, *y_hi, *z_lo, *z_hi, *f;
  const real *inverse;
  const real *x_face, *y_face[2], *z_face[2]; /* couplings across the lower faces and, except along x, the upper faces */
  const real *side; /* coefficients of the plane */
  size_t colour;    /* colour of column 0 in line 0, in this stage */
  real weight;
  int relaxed;      /* 1: relaxed in this stage; 0: only read */
  int zero;         /* all of u is still 0 */
} planes;

enum { MAX_STAGES = 256 };

static planes planes_at(int kind, const tile *t, int stage, long q, int reversed, const double weight[GMG_HALF_SWEEPS])
{
  const int copies = t->s->versions > 1, old = copies ? stage - 1 : 0, new = copies ? stage : 0;
  const int in_3d = t->s->row == 1;
  const size_t line = 2 * t->s->half;
  const long *relaxed = t->relax[t->s->stream];
  planes p = {.colour = t->parity + (size_t)q + (size_t)(stage - 1 + reversed),
              .weight = (real)weight[(stage - 1) % GMG_HALF_SWEEPS],
              .relaxed = q >= relaxed[0] && q < relaxed[1],
              .out = u_plane(t, new, q),
              .u = u_plane(t, old, q),
              .z_lo = u_plane(t, old, q - 1),
              .z_hi = u_plane(t, old, q + 1),
              .f = f_plane(t, q),
              .side = t->sides[1] + SIDES * q};
  p.y_lo = in_3d ? p.u - line : p.z_lo, p.y_hi = in_3d ? p.u + line : p.z_hi;
  if (kind != GMG_CONSTANT) p.inverse = coefficient_plane(t, INVERSE, q);
  if (!(kind & GMG_FACES)) return p;
  p.x_face = coefficient_plane(t, FACE_X, q), p.y_face[0] = coefficient_plane(t, FACE_Y, q);
  p.z_face[0] = coefficient_plane(t, FACE_Z, q), p.z_face[1] = coefficient_plane(t, FACE_Z, q + 1);
  p.y_face[1] = in_3d ? p.y_face[0] + line : coefficient_plane(t, FACE_Y, q + 1);
  return p;
}

/* 1 / diagonal along a line with constant coefficients. It depends on the line only through the diagonal of the other axes, which
   has few values: inside, at one wall, at two. */
static const real *shared_inverse(tile *t, const gmg_operator *A, const planes *p, long j)
{
  const real y = t->sides[0][SIDES * j + SIDE_DIAG], z = p->side[SIDE_DIAG];
  const real c = (A->dim == 3 ? y + z : A->dim == 2 ? z : 0) + (real)A->shift;
  for (int i = 0; i < KNOWN_INVERSES; i++)
    if (t->inverse_of[i] == c) return shared_line(t, SHARED_INVERSE + i);
  const int new = t->oldest;
  real *line = shared_line(t, SHARED_INVERSE + new);
  split_line_coefficients(t, A->diag[0], line);
  for (size_t i = 0; i < 2 * t->s->half; i++) line[i] = 1 / (line[i] + c);
  t->inverse_of[new] = c, t->oldest = (new + 1) % KNOWN_INVERSES;
  return line;
}

/* The columns of one parity, of which begin .. end - 1 are relaxed. */
typedef struct {
  long j, begin, end;
  int odd;
  const real *inverse; /* 1 / diagonal if all lines share it */
} columns;

GMG_INLINE void relax_form(const int dim, const int kind, const tile *t, const planes *p, const columns *c)
{
  const size_t half = t->s->half, mine = c->odd ? half : 0, line = (size_t)c->j * 2 * half, at = line + mine;
  const size_t left = line + half - mine - !c->odd; /* the right neighbour is one further */
  const real *axis1 = dim == 3 ? t->sides[0] + SIDES * c->j : p->side;
  const real y_lo = axis1[SIDE_LO], y_hi = axis1[SIDE_HI], z_lo = p->side[SIDE_LO], z_hi = p->side[SIDE_HI];
  const real *lo = shared_line(t, LO) + mine, *hi = shared_line(t, HI) + mine;
  const real *inverse = kind == GMG_CONSTANT ? c->inverse + mine : p->inverse + at;
  const scalar *u = p->u + at, *u_x = p->u + left, *f = p->f + at;
  const scalar *u_y[2] = {p->y_lo + at, p->y_hi + at}, *u_z[2] = {p->z_lo + at, p->z_hi + at};
  const real *x_face[2] = {p->x_face + at, p->x_face + left + 1};
  const real *y_face[2] = {p->y_face[0] + at, p->y_face[1] + at}, *z_face[2] = {p->z_face[0] + at, p->z_face[1] + at};
  const long begin = c->begin, end = c->end;
  const real omega = p->weight;
  scalar *out = p->out + at; /* out may be u: no value read at another m is written */
#pragma omp simd
  for (long m = begin; m < end; m++) {
    gmg_row row;
    gmg_neighbours near = {.lo = {u_x[m]}, .hi = {u_x[m + 1]}};
    if (dim > 1) near.lo[1] = u_y[0][m], near.hi[1] = u_y[1][m];
    if (dim > 2) near.lo[2] = u_z[0][m], near.hi[2] = u_z[1][m];
    if (kind & GMG_FACES) { /* the row is multiplied by its control volume (tile.h) */
      row.lo[0] = x_face[0][m], row.hi[0] = x_face[1][m];
      if (dim > 1) row.lo[1] = y_face[0][m], row.hi[1] = y_face[1][m];
      if (dim > 2) row.lo[2] = z_face[0][m], row.hi[2] = z_face[1][m];
    } else {
      row.lo[0] = lo[m], row.hi[0] = hi[m];
      row.lo[1] = y_lo, row.hi[1] = y_hi, row.lo[2] = z_lo, row.hi[2] = z_hi;
    }
    const real weight = gmg_row_weight(dim, kind, row, inverse[m], omega);
    out[m] = gmg_row_relaxed_by(dim, row, near, f[m], u[m], inverse[m], weight);
  }
}

/* Not inlined: inside a larger function the compiler keeps the loop's pointers on the stack, and reloads them for every vector. */
static __attribute__((noinline)) void relax_columns(int form, const tile *t, const planes *p, const columns *c)
{
#define RELAX(dim, kind) \
  case GMG_FORM(dim, kind): relax_form(dim, kind, t, p, c); break;
  switch (form) { GMG_FORMS(RELAX) }
#undef RELAX
}

static void relax_zeros(int kind, const tile *t, const planes *p, const columns *c)
{
  const size_t half = t->s->half, mine = c->odd ? half : 0, at = (size_t)c->j * 2 * half + mine;
  const scalar *restrict f = p->f + at;
  const real *restrict inverse = kind == GMG_CONSTANT ? c->inverse + mine : p->inverse + at;
  scalar *restrict out = p->out + at;
  const real weight = p->weight;
#pragma omp simd
  for (long m = c->begin; m < c->end; m++) out[m] = gmg_row_relaxed_from_zero(f[m], inverse[m], weight);
}

#endif
