/* Over-correction: coarse grids correct smooth errors by a little too much or too little, so a cycle multiplies their correction by
   a factor c (params.over_correction; for aggregation Braess 1995). For that the equations of coarse levels are divided by c:
   cycles, kernels and solvers of the coarsest grid do not know of it. A coarsest grid that is solved directly keeps its equation.
   docs/weights.md has the measurements. Called at create and update.

   The best c depends on the shift. An update therefore writes the rows of coarse levels again. It allocates nothing, so levels keep
   a copy of their rows. */
#include "mg/solver.h"

#include <string.h>

/* Only couplings and the shift are divided: no arrays, no entries of a stencil, no data of a full multigrid start. */
const char *gmg_no_over_correction(const gmg_problem *p, const gmg_params *q)
{
  if (p->beta || p->beta_face[0] || p->sigma) return "an array of coefficients";
  return p->stencil ? "problem.stencil" : q->fmg > 0 ? "params.fmg" : NULL;
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
  const int one_step = q->cycle == GMG_CYCLE_V && q->pre == 1 && q->post == 1 && q->omega == 0;
  s->over_correction_varies = has_third && one_step && s->problem.dim > 1 && !s->symmetric &&
                              !gmg_no_over_correction(&s->problem, q);
  q->over_correction = s->over_correction_varies ? best(s) : 1;
}

/* Whether the equation of a level is divided. Where the direct solver ends a hierarchy, the coarsest grid is large. Most of its
   errors are smooth, and it corrects them exactly, which a factor would spoil. With two levels it is the only grid that can have
   one. */
static int is_divided(const gmg_solver *s, int l)
{
  const int of_problem = s->finer_levels + l, is_coarsest = s->has_coarsest && l == s->levels - 1;
  const int is_exact = is_coarsest && s->params.coarse == GMG_COARSE_TENSOR && of_problem > 1;
  return of_problem > 0 && !is_exact;
}

double gmg_scale_of_level(const gmg_solver *s, int l) { return is_divided(s, l) ? 1 / s->params.over_correction : 1; }

gmg_status gmg_keep_rows(const gmg_solver *s, gmg_exec *e, gmg_level *L, int l, const gmg_axis axis[3])
{
  if (!s->over_correction_varies || !is_divided(s, l)) return GMG_OK;
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
  return GMG_OK;
}

static void rescale(gmg_solver *s, double correction)
{
  s->params.over_correction = correction;
  for (int l = 0; l < s->levels; l++) {
    if (!is_divided(s, l)) continue;
    gmg_level *L = &s->level[l];
    L->scale = gmg_scale_of_level(s, l);
    for (int a = 0; a < 3; a++) {
      const gmg_rows *r = &L->rows[a];
      const double *const from[3] = {r->lo, r->hi, r->diag};
      const void *const to[3] = {L->A.lo[a], L->A.hi[a], L->A.diag[a]};
      for (int i = 0; i < 3; i++) gmg_operator_write_rows(s->levels_exec, r->entries, L->A.n[a], from[i], L->scale, (void *)to[i]);
    }
  }
}

void gmg_update_over_correction(gmg_solver *s)
{
  const double now = s->over_correction_varies ? best(s) : s->params.over_correction;
  if (now == s->params.over_correction) return;
  rescale(s, now);
  if (s->whole) rescale(s->whole, now);
}
