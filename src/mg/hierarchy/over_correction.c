/* Over-correction: coarse grids correct smooth errors by a little too much or too little, so a cycle multiplies their correction by
   a factor c (params.over_correction; for aggregation Braess 1995). For that the equations of all coarse levels are divided by c:
   cycles, kernels and solvers of the coarsest grid do not know of it. docs/weights.md has the measurements. Called at create and
   update.

   The best c depends on the shift. An update therefore writes the rows of coarse levels again. It allocates nothing, so levels keep
   a copy of their rows. */
#include "mg/solver.h"

#include <string.h>

static int is_constant(const gmg_problem *p)
{
  return gmg_operator_kind_of(p) == &gmg_seven_point && !p->beta && !p->beta_face[0] && !p->sigma;
}

/* The share of axes with a wall that gives the normal derivative. */
static double share_of_mirrors(const gmg_problem *p)
{
  int axes = 0;
  for (int a = 0; a < p->dim; a++)
    for (int side = 0, found = 0; side < 2 && !found; side++)
      axes += found = p->bc[a][side] == GMG_NEUMANN || p->bc[a][side] == GMG_ROBIN;
  return (double)axes / p->dim;
}

static double best(const gmg_solver *s)
{
  return gmg_over_correction_of_smoother(&s->level[0].A, &s->params, share_of_mirrors(&s->problem));
}

/* The best values are those of V(1,1) cycles. With two levels the coarse problem is solved exactly, and the best value is 1. A
   solver of the small levels of several processes (from) has been told. */
void gmg_choose_over_correction(gmg_solver *s, int has_third)
{
  gmg_params *q = &s->params;
  if (s->from || q->over_correction > 0) return;
  s->over_correction_varies = has_third && is_constant(&s->problem) && q->fmg == 0 && !s->symmetric && q->cycle == GMG_CYCLE_V &&
                              q->pre == 1 && q->post == 1 && q->omega == 0;
  q->over_correction = s->over_correction_varies ? best(s) : 1;
}

/* The first level whose equation is divided. The solver of the small levels begins with a level of the other one. */
static int first_divided(const gmg_solver *s) { return s->from && !s->from_finest ? 0 : 1; }

/* Writes an array of the operator: scale times the values of its n rows. */
static void write_scaled(const gmg_exec *e, size_t entries, size_t n, const double *from, double scale, const void *to)
{
  enum { PIECE = 1024 };
  double piece[PIECE];
  for (size_t begin = 0; begin < n; begin += PIECE) {
    const size_t count = n - begin < PIECE ? n - begin : PIECE;
    for (size_t i = 0; i < count; i++) piece[i] = scale * from[gmg_entry_of_row(entries, n, begin + i)];
    gmg_exec_write_reals(e, (char *)to + begin * e->real_size, count, piece);
  }
}

static void write_rows(const gmg_exec *e, const gmg_level *L)
{
  for (int a = 0; a < 3; a++) {
    const gmg_rows *r = &L->rows[a];
    write_scaled(e, r->entries, L->A.n[a], r->lo, L->scale, L->A.lo[a]);
    write_scaled(e, r->entries, L->A.n[a], r->hi, L->scale, L->A.hi[a]);
    write_scaled(e, r->entries, L->A.n[a], r->diag, L->scale, L->A.diag[a]);
  }
}

gmg_status gmg_create_rows(const gmg_solver *s, gmg_exec *e, gmg_level *L, int l, const gmg_axis axis[3])
{
  const int is_divided = l >= first_divided(s);
  L->scale = is_divided ? 1 / s->params.over_correction : 1;
  if (!is_divided || (!s->over_correction_varies && L->scale == 1)) return GMG_OK;
  for (int a = 0; a < 3; a++) {
    const size_t entries = axis[a].entries, bytes = entries * sizeof(double);
    void *room = NULL;
    GMG_TRY(gmg_exec_alloc_state(e, "rows of a coarse level", 3 * bytes, &room));
    double *values = room;
    L->rows[a] = (gmg_rows){entries, values, values + entries, values + 2 * entries};
    memcpy(L->rows[a].lo, axis[a].lo, bytes);
    memcpy(L->rows[a].hi, axis[a].hi, bytes);
    memcpy(L->rows[a].diag, axis[a].diag, bytes);
  }
  if (!e->dry) write_rows(e, L);
  return GMG_OK;
}

static void rescale(gmg_solver *s, double correction)
{
  s->params.over_correction = correction;
  for (int l = first_divided(s); l < s->levels; l++) {
    s->level[l].scale = 1 / correction;
    write_rows(s->levels_exec, &s->level[l]);
  }
}

void gmg_update_over_correction(gmg_solver *s)
{
  const double now = s->over_correction_varies ? best(s) : s->params.over_correction;
  if (now == s->params.over_correction) return;
  rescale(s, now);
  if (s->whole) rescale(s->whole, now);
}
