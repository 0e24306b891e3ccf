/* The right-hand side that is really solved for. */
#include "solver.h"

const void *gmg_effective_rhs(gmg_solver *s, const void *f, double *mean_removed)
{
  gmg_level *L = &s->level[0];
  *mean_removed = 0;
  if (!s->has_values && !s->singular) return f;
  s->vector->copy(&s->exec, L->A.cells, f, s->f_eff);
  if (s->has_values) s->stencil->fold(&s->exec, &L->A, &L->faces, s->f_eff);
  if (s->singular) *mean_removed = gmg_remove_mean(&s->exec, &L->A, L->volume, s->f_eff);
  return s->f_eff;
}
