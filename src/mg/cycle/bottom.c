/* The bottom of a cycle (coarse/bottom.h): the solver of the coarsest grid, or one that processes all small levels at once. Chosen
   at create. Called by the cycle, and at create and update. */
#include "cycle.h"
#include "mg/parts/parts.h"

#include <math.h>
#include <stdio.h>

/* gmg_bottom_problem::condition of level l. Errors that are constant where beta is large, and 0 elsewhere, have the smallest
   eigenvalues, which fall with the contrast. */
static double condition_of(const gmg_solver *s, int l)
{
  const gmg_coefficients *c = &s->coefficients;
  const int is_positive = c->beta_least > 0 && c->sigma_least + gmg_operator_shift(&s->problem) >= 0;
  return is_positive ? c->beta_most / c->beta_least * gmg_amplification(s, &s->level[l].A) : INFINITY;
}

/* Fills in the problem that level `from` and all coarser levels pose to a bottom solver (coarse/bottom.h). Returns 0 if there are
   too many levels, or if the sweeps of a bottom solver cannot replace the smoother's steps on them. */
static int describe(const gmg_solver *s, int from, gmg_bottom_problem *p)
{
  const gmg_params *q = &s->params;
  const int count = s->levels - from;
  if (count > GMG_BOTTOM_LEVELS) return 0;
  *p = (gmg_bottom_problem){.levels = count, .coarse_kind = q->coarse, .reversed = s->symmetric, .singular = s->singular,
                            .is_free = !(gmg_smoother_traits(q, s->exec.threads) & GMG_SMOOTHER_DETERMINISTIC),
                            .is_symmetric = !s->coefficients.asymmetry[0], .condition = condition_of(s, from),
                            .penalty = s->coefficients.penalty, .rtol = q->coarse_rtol};
  for (int l = 0; l < count; l++) {
    const gmg_level *L = &s->level[from + l];
    p->level[l] = (gmg_bottom_level){.A = &L->A, .axis = L->axis, .scale = L->scale, .volume = L->volume,
                                     .operator_dependent = L->operator_dependent};
    if (count == 1) continue;
    const int sweeps = gmg_bottom_sweeps(q, &L->A);
    if (l + 1 < count && sweeps == 0) return 0;
    p->level[l].pre = q->pre * sweeps, p->level[l].post = q->post * sweeps;
    p->level[l].prolong = L->prolong;
    p->level[l].restrict_ = L->restrict_;
    gmg_half_sweep_weights(&L->A, q, GMG_LEG_DOWN, p->level[l].weight[0]);
    gmg_half_sweep_weights(&L->A, q, s->mg.up, p->level[l].weight[1]);
  }
  return 1;
}

static gmg_status create(gmg_solver *s, gmg_bottom *b, int level, const gmg_bottom_ops *ops, gmg_bottom_problem *problem)
{
  *b = (gmg_bottom){.level = level, .ops = ops, .problem = problem};
  GMG_TRY(ops->setup(s->levels_exec, problem, &b->state));
  return ops->update(s->levels_exec, problem, b->state);
}

/* Refuses a coarsest grid that is too large. The text names the parameter that ended the coarsening. */
static gmg_status too_large(gmg_solver *s, size_t cells)
{
  const gmg_params *p = &s->params;
  char why[120];
  if (p->coarse_cells && cells <= p->coarse_cells)
    snprintf(why, sizeof why, "params.coarse_cells = %zu ends the coarsening there", p->coarse_cells);
  else if (s->levels == p->max_levels)
    snprintf(why, sizeof why, "params.max_levels = %d ends the coarsening there", p->max_levels);
  else snprintf(why, sizeof why, "it cannot be coarsened further");
  return gmg_fail(s->context, GMG_ERR_UNSUPPORTED, "params.coarse = %s takes at most %zu unknowns, the coarsest grid has %zu: %s",
                  gmg_name_of(&gmg_coarse_names, (int)p->coarse), s->coarse_ops->max_cells, cells, why);
}

/* Whether only the axis that was not coarsened is left. The direct solver takes such a line with any coefficients, and conjugate
   gradients would need about as many iterations as it has unknowns. */
static int is_line(const gmg_solver *s, const gmg_operator *A)
{
  const int axis = gmg_exact_axis(s);
  return axis >= 0 && A->kind == &gmg_seven_point && A->n[axis] == A->cells;
}

static gmg_status create_coarsest(gmg_solver *s)
{
  const int coarsest = s->levels - 1;
  const size_t cells = s->level[coarsest].A.cells;
  gmg_bottom_problem *p = &s->bottom_problem[0];
  if (s->coarse_is_auto && is_line(s, &s->level[coarsest].A))
    s->params.coarse = GMG_COARSE_TENSOR, s->coarse_ops = gmg_coarsest_of(GMG_COARSE_TENSOR);
  if (s->coarse_ops->max_cells && cells > s->coarse_ops->max_cells) {
    if (!s->coarse_is_auto || s->coefficients.asymmetry[0]) return too_large(s, cells);
    s->params.coarse = GMG_COARSE_CG, s->coarse_ops = gmg_coarsest_of(GMG_COARSE_CG);
  }
  (void)describe(s, coarsest, p);
  GMG_TRY(create(s, &s->coarsest_bottom, coarsest, s->coarse_ops, p));
  s->mg.bottom = s->coarsest_bottom;
  return GMG_OK;
}

/* Finds the largest set of small levels that the backend can process in one kernel. The finest level is never among them. */
static gmg_status create_fused_levels(gmg_solver *s)
{
  gmg_bottom_problem *p = &s->bottom_problem[1];
  const gmg_bottom_ops *ops = gmg_fused_levels_of(s->levels_exec);
  for (int l = 1; ops && l + 1 < s->levels; l++)
    if (describe(s, l, p) && ops->fits(s->levels_exec, p)) return create(s, &s->mg.bottom, l, ops, p);
  return GMG_OK;
}

gmg_status gmg_bottoms_create(gmg_solver *s)
{
  if (s->parts) {
    s->bottom_problem[0].levels = s->whole->levels;
    s->coarsest_bottom = s->mg.bottom =
        (gmg_bottom){.level = s->levels - 1, .ops = &gmg_whole_levels, .state = s, .problem = &s->bottom_problem[0]};
    return gmg_whole_load(s);
  }
  GMG_TRY(create_coarsest(s));
  return create_fused_levels(s);
}

static gmg_status update(gmg_solver *s, const gmg_bottom *b)
{
  (void)describe(s, b->level, b->problem);
  return b->ops->update(s->levels_exec, b->problem, b->state);
}

gmg_status gmg_bottoms_update(gmg_solver *s)
{
  if (s->parts) return gmg_whole_load(s);
  if (s->mg.bottom.level != s->coarsest_bottom.level) GMG_TRY(update(s, &s->mg.bottom));
  return update(s, &s->coarsest_bottom);
}

/* Casts away const: f belongs to the level, so the solver may change it. */
void gmg_bottom_solve(const gmg_multigrid *m, int l, const void *f, void *u, gmg_cycle_kind kind, gmg_start start)
{
  const gmg_bottom *b = &m->bottom;
  GMG_AT_LEVEL(m->solver, l, b->problem->levels > 1 ? "small levels" : "coarse solve");
  b->ops->solve(m->exec, b->problem, b->state, l - b->level, (void *)f, u, kind, start);
}
