/* Sweeps by hand on level 0, for tests of the smoothers themselves: fields there have the problem's type. */
#ifndef GMG_TEST_SWEEPS_H
#define GMG_TEST_SWEEPS_H

#include "util.h"

#include "internals.h"

static inline gmg_params same_precision(void)
{
  gmg_params p = gmg_params_default();
  p.precision = GMG_PRECISION_SAME;
  return p;
}

static inline void smooth(session *s, const double *f, double *u, int steps, gmg_leg leg)
{
  gmg_level *L = &s->solver->level[0];
  s->solver->mg.smoother->sweep(&L->view, L->smoother, f, u, steps, leg);
}

#endif
