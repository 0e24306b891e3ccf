/* One cycle that improves u: in the problem's type, or by a correction that the levels compute. Called by the iterations and by
   full multigrid. */
#include "cycle.h"

/* Computes a correction from the residual, in own fields. Needed in two cases:
   - There is one level. The finest grid is then also the coarsest, and the coarse solver always starts from zero.
   - The caller's f or u has gaps. Smoothers take packed fields only. */
static void solve_residual(gmg_solver *s, const void *f, void *u)
{
  gmg_level *L = &s->level[0];
  const gmg_operator A = gmg_operator_on_arrays(s, f);
  gmg_exchange_one_layer(&s->exec, &A, u);
  s->op->residual(&s->exec, &A, f, u, L->f);
  gmg_exchange(&s->exec, &L->A, L->f);
  (void)gmg_cycle(&s->mg, 0, L->f, L->u, s->params.cycle, GMG_FROM_ZERO, NULL);
  gmg_start_timer(s, 0);
  gmg_add_correction(s, (gmg_correction){.z = L->u}, u);
}

void gmg_improve(gmg_solver *s, const void *f, void *u)
{
  if (!s->in_place) {
    solve_residual(s, f, u);
    return;
  }
  gmg_exchange(&s->exec, &s->level[0].A, f);
  (void)gmg_cycle(&s->mg, 0, f, u, s->params.cycle, GMG_FROM_CURRENT, NULL);
}

gmg_correction gmg_correct(gmg_solver *s, int l, int cycles, const gmg_update_target *to)
{
  const gmg_level *L = &s->level[l];
  gmg_start start = GMG_FROM_ZERO;
  gmg_exchange(s->levels_exec, &L->A, L->f);
  for (int c = 1; c < cycles; c++, start = GMG_FROM_CURRENT)
    (void)gmg_cycle(&s->mg, l, L->f, L->u, s->params.cycle, start, NULL);
  const int done = gmg_cycle(&s->mg, l, L->f, L->u, s->params.cycle, start, to);
  gmg_start_timer(s, l);
  return gmg_correction_from_levels(s, done ? NULL : L->u, to->scale);
}
