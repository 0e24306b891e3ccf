/* The multigrid cycle (Brandt 1977; Algorithm 1 of Anzt, Dongarra, Gates, Tomov 2011). Its legs are in legs.c, its bottom in
   bottom.c. Called by the iterations and by full multigrid. */
#include "cycle.h"

/* A singular coarse problem has a solution only if its right-hand side has zero mean, and restriction may change the mean. It is
   removed at the bottom alone: of 4,585 singular problems 10 took more cycles than with the mean removed on every level, and 14
   took fewer.

   A W cycle visits the next coarser level twice. An F cycle visits it first with an F cycle, then with a V cycle. The coarsest
   level is solved, so one visit is enough. */
int gmg_cycle(const gmg_multigrid *m, int l, const void *f, void *u, gmg_cycle_kind kind, gmg_start start,
              const gmg_update_target *to)
{
  if (l >= m->bottom.level) {
    gmg_bottom_solve(m, l, f, u, kind, start);
    return 0;
  }
  const gmg_level *C = &m->level[l + 1];
  if (start == GMG_FROM_CURRENT) gmg_exchange(m->exec, &m->level[l].A, u);
  m->legs[l]->presmooth_restrict(m, l, f, u, start);
  if (l + 1 < m->bottom.level) gmg_exchange(m->exec, &C->A, C->f);
  gmg_cycle(m, l + 1, C->f, C->u, kind, GMG_FROM_ZERO, NULL);
  if (kind != GMG_CYCLE_V && l + 1 < m->levels - 1)
    gmg_cycle(m, l + 1, C->f, C->u, kind == GMG_CYCLE_W ? GMG_CYCLE_W : GMG_CYCLE_V, GMG_FROM_CURRENT, NULL);
  return m->legs[l]->prolong_postsmooth(m, l, f, u, to);
}
