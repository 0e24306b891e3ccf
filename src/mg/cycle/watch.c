/* Finds the level on which a solve diverged: runs one cycle with a smoother that measures the residual before and after every
   sweep. It decorates the real smoother, and has no fused legs. The bottom is the coarsest level alone, so that all other levels
   are watched. Called by solve. */
#include "cycle.h"

#include <math.h>

/* State of the decorating smoother on a level. */
typedef struct {
  const gmg_multigrid *inner;
  int level;
  gmg_watch *seen;
} watched_level;

static double residual_norm(const gmg_multigrid *m, int l, const void *f, const void *u)
{
  gmg_exchange_one_layer(m->exec, &m->level[l].A, u);
  return m->op[l]->measure_residual(m->exec, &m->level[l].A, f, u, NULL, NULL, NULL, NULL, GMG_WAIT);
}

static void sweep(const gmg_smoother_level *view, void *state, const void *f, void *u, int steps, gmg_leg leg)
{
  const watched_level *w = state;
  const double before = residual_norm(w->inner, w->level, f, u);
  w->inner->smoother[w->level]->sweep(view, w->inner->state[w->level], f, u, steps, leg);
  const double after = residual_norm(w->inner, w->level, f, u);
  const double growth = !isfinite(after) ? INFINITY : before > 0 ? after / before : 0;
  if (!isfinite(before) || growth <= w->seen->growth) return;
  w->seen->level = w->level;
  w->seen->growth = growth;
}

static const gmg_smoother_ops watching = {.sweep = sweep};

gmg_watch gmg_watched_cycle(const gmg_multigrid *m, const void *f, void *u, gmg_cycle_kind kind)
{
  gmg_watch seen = {.level = -1, .growth = 1};
  watched_level level[GMG_MAX_LEVELS];
  gmg_multigrid watched = *m;
  watched.bottom = m->solver->coarsest_bottom;
  for (int l = 0; l < m->levels; l++) {
    level[l] = (watched_level){m, l, &seen};
    watched.state[l] = &level[l];
    watched.smoother[l] = &watching;
    watched.fused[l] = NULL;
    watched.legs[l] = gmg_unfused_legs(m);
  }
  gmg_exchange(m->exec, &m->level[0].A, f);
  if (m->levels > 1) (void)gmg_cycle(&watched, 0, f, u, kind, GMG_FROM_CURRENT, NULL);
  return seen;
}
