/* Iterative refinement whose corrections are steps along conjugate directions, in low precision. Between two residuals in the
   problem's type the residual in low precision follows by recursion (Sleijpen, van der Vorst 1996); the directions go on across
   them. The flexible variant (Notay 2000; Golub, Ye 1999) allows a varying preconditioner, such as asynchronous cycles. All else is
   in refinement.c, which calls this file through gmg_method. */
#include "iterate.h"

static void cycle_from_zero(gmg_solver *s, const void *f, void *u)
{
  gmg_exchange(s->levels_exec, &s->level[0].A, f);
  (void)gmg_cycle(&s->mg, 0, f, u, s->params.cycle, GMG_FROM_ZERO, NULL);
}

/* Sets p to the next direction after `last`, which may be p: a cycle for the residual in level[0].f, made conjugate to the last
   direction. beta = -<z, A last> / <last, A last> if flexible, and otherwise beta = <r, z> / (last <r, z>). r and z are divided by
   the divisor of the stored residual. */
static void next_direction(gmg_solver *s, const void *last, void *p)
{
  const gmg_exec *e = s->levels_exec;
  const gmg_level *L = &s->level[0];
  const int flexible = s->params.accel == GMG_ACCEL_FLEXIBLE_CG;
  const double *divisor = &s->scales->residual.divisor;
  void *r = L->f, *q = s->krylov.q;
  if (s->levels_in_all == 1) {
    e->vector->copy(e, L->A.cells, L->f, r = s->krylov.r); /* the solver of the coarsest grid may change f */
    gmg_forget_directions(s); /* it solves up to rounding, which an earlier direction would only spoil */
  }
  gmg_replay(s, cycle_from_zero, L->f, L->u);
  gmg_start_timer(s, 0);
  gmg_project(s, e, L, L->u); /* otherwise u drifts */
  s->mg.grid->cg_beta(e, &L->A, L->u, flexible ? q : r, flexible, s->cg, divisor);
  gmg_exchange_one_layer(e, &L->A, L->u); /* p's ghosts follow from it */
  s->mg.op[0]->cg_direction(e, &L->A, L->u, s->cg, divisor, last, p, r, q);
}

/* The residual after a step along the last direction, by recursion. */
static void update_residual(gmg_solver *s)
{
  const gmg_exec *e = s->levels_exec;
  (void)e->vector->cg_update(e, s->level[0].A.cells, s->cg, NULL, s->krylov.q, NULL, s->level[0].f, GMG_ENQUEUE);
}

/* u takes every step in the problem's type. Summed in low precision, the steps would lose what is smooth. */
static gmg_correction step_by_step(gmg_solver *s, int steps, void *u)
{
  const gmg_correction step = gmg_correction_from_levels(s, s->krylov.p, &s->cg->change);
  for (int i = 1; i < steps; i++) {
    next_direction(s, s->krylov.p, s->krylov.p);
    gmg_add_correction(s, step, u);
    update_residual(s);
  }
  next_direction(s, s->krylov.p, s->krylov.p);
  return step;
}

/* step_by_step() with one pass over u for two steps. The last direction is always in p. */
static void two_by_two(gmg_solver *s, int steps, void *u)
{
  void *p = s->krylov.p, *last_p = s->krylov.last_p;
  const gmg_correction step = gmg_correction_from_levels(s, p, &s->cg->change);
  const gmg_correction last_step = gmg_correction_from_levels(s, last_p, &s->cg->last_change);
  for (int done = 0; done < steps; done += 2) {
    if (done > 0) update_residual(s);
    next_direction(s, p, last_p);
    update_residual(s);
    next_direction(s, last_p, p);
    s->vector->correct_twice(&s->exec, gmg_unknowns_of(s->layouts.u), last_step, step, u);
  }
}

gmg_correction gmg_correct_along_directions(gmg_solver *s, int steps, void *u)
{
  if (!s->krylov.last_p || steps == 1) return step_by_step(s, steps, u);
  if (steps % 2) {
    gmg_add_correction(s, step_by_step(s, 1, u), u);
    update_residual(s);
  }
  two_by_two(s, steps - steps % 2, u);
  return (gmg_correction){.z = NULL};
}

gmg_status gmg_create_directions(gmg_solver *s)
{
  const char *what = "field of the acceleration";
  const size_t cells = s->level[0].A.cells;
  GMG_TRY(gmg_create_field(s->levels_exec, what, cells, &s->krylov.p));
  GMG_TRY(gmg_create_field(s->levels_exec, what, cells, &s->krylov.q));
  if (s->params.check_every != 1 && s->vector->correct_twice && gmg_is_packed(s->layouts.u))
    GMG_TRY(gmg_create_field(s->levels_exec, what, cells, &s->krylov.last_p));
  if (s->levels_in_all == 1) GMG_TRY(gmg_create_field(s->levels_exec, what, cells, &s->krylov.r));
  return gmg_create_cg_scalars(s);
}
