/* Builds the operator of a level in exec's memory from its three axes, for all kinds of operators. Called by mg. */
#include "core/backend.h"
#include "stencil/grid_ops.h"

#include <float.h>
#include <math.h>

const gmg_grid_ops *gmg_grid_ops_of(const gmg_exec *e) { return e->tables->grid[e->type]; }

size_t gmg_face_count(const gmg_operator *A, int a) { return A->cells / A->n[a] * (A->n[a] + 1); }

/* But for rounding: a half control volume is not always exactly half of another. */
static int is_twice(double x, double y) { return fabs(x - 2 * y) <= 8 * DBL_EPSILON * y; }

/* Finds gmg_operator::uniform and gmg_operator::mirrors of an axis. */
static void compare_rows(const gmg_axis *x, int *uniform, int mirrors[2])
{
  const size_t n = x->entries;
  *uniform = 0;
  for (size_t i = 2; i + 1 < n; i++)
    if (x->lo[i] != x->lo[1] || x->hi[i] != x->hi[1] || x->diag[i] != x->diag[1]) return;
  *uniform = 1;
  if (n < 3 || x->lo[1] != x->hi[1]) return;
  const double coupling = x->hi[1], ends[2] = {x->hi[0], x->lo[n - 1]};
  if (ends[0] == coupling && ends[1] == coupling) *uniform = 2;
  for (int side = 0; side < 2; side++)
    if (ends[side] != coupling && !is_twice(ends[side], coupling)) return;
  for (int side = 0; side < 2; side++) mirrors[side] = is_twice(ends[side], coupling);
}

double gmg_operator_shift(const gmg_problem *p)
{
  const gmg_operator_kind *kind = gmg_operator_kind_of(p);
  return p->shift + (kind->reaction ? kind->reaction(p) : 0);
}

void gmg_operator_write_rows(const gmg_exec *e, size_t entries, size_t n, const double *from, double scale, void *to)
{
  enum { PIECE = 1024 };
  double piece[PIECE];
  if (entries == n && scale == 1) {
    gmg_exec_write_reals(e, to, n, from);
    return;
  }
  if (entries < n) { /* first, inner, last */
    const double inner = scale * from[1];
    const float in_float = (float)inner;
    for (int i = 0; i < 3; i++) piece[i] = scale * from[i];
    gmg_exec_write_reals(e, to, 1, piece);
    const void *const value = e->type == GMG_F64 ? (const void *)&inner : &in_float;
    e->memory->repeat(e->context, (char *)to + e->real_size, value, e->real_size, n - 2);
    gmg_exec_write_reals(e, (char *)to + (n - 1) * e->real_size, 1, piece + 2);
    return;
  }
  for (size_t begin = 0; begin < n; begin += PIECE) {
    const size_t count = n - begin < PIECE ? n - begin : PIECE;
    for (size_t i = 0; i < count; i++) piece[i] = scale * from[begin + i];
    gmg_exec_write_reals(e, (char *)to + begin * e->real_size, count, piece);
  }
}

static gmg_status create_rows(gmg_exec *e, const gmg_axis *x, const double *from, double scale, void **p)
{
  GMG_TRY(gmg_exec_alloc(e, "axis coefficients", x->n * e->real_size, p));
  if (!e->dry) gmg_operator_write_rows(e, x->entries, x->n, from, scale, *p);
  return GMG_OK;
}

gmg_status gmg_operator_create(gmg_exec *e, const gmg_problem *p, const gmg_operator_kind *kind, const gmg_axis axis[3],
                               double scale, gmg_operator *A)
{
  const int faces = p->beta || p->beta_face[0];
  const gmg_axis_spec *first = &axis[0].spec;
  *A = (gmg_operator){.type = e->type, .dim = p->dim, .cells = 1, .shift = gmg_operator_shift(p), .kind = kind};
  A->centering = first->merged > 1 ? GMG_CELL : first->centering;
  for (int a = 0; a < 3; a++) {
    const gmg_axis *x = &axis[a];
    A->n[a] = x->n;
    A->cells *= x->n;
    A->h[a] = x->h;
    A->wraps[a] = gmg_axis_periodic(x) && x->n > 1;
    A->stretch[a] = x->stretch;
    compare_rows(x, &A->uniform[a], A->mirrors[a]);
    const struct {
      const double *from;
      const void **to;
      int wanted;
    } reals[] = {{x->lo, &A->lo[a], 1},           {x->hi, &A->hi[a], 1},           {x->diag, &A->diag[a], 1},
                 {x->lo_diag, &A->lo_diag[a], faces}, {x->hi_diag, &A->hi_diag[a], faces}, {x->volume, &A->volume[a], 1}};
    for (int i = 0; i < 6; i++) {
      void *values = NULL;
      if (!reals[i].wanted) continue;
      GMG_TRY(create_rows(e, x, reals[i].from, reals[i].from == x->volume ? 1 : scale, &values));
      *reals[i].to = values;
    }
  }
  return A->kind->create ? A->kind->create(e, p, axis, A) : GMG_OK;
}

void gmg_operator_set_typical(gmg_operator *A, const double coupling[3], const double from_walls[3], const double beta[3])
{
  A->reaction_from_walls = 0;
  for (int a = 0; a < 3; a++) {
    A->coupling[a] = beta[a] * coupling[a];
    A->reaction_from_walls += beta[a] * from_walls[a];
  }
}

double gmg_operator_reaction(const gmg_operator *A) { return fmax(0, A->reaction_from_walls + A->shift); }
