/* Single sweeps on level 0, for tests of smoothers. Its fields have the problem's type. */
#ifndef GMG_TEST_SWEEPS_H
#define GMG_TEST_SWEEPS_H

#include "util.h"

#include "internals.h"

static inline gmg_params same_precision(void)
{
  gmg_params p = params_for_cycles();
  p.precision = GMG_PRECISION_SAME;
  return p;
}

static inline void smooth(session *s, const double *f, double *u, int steps, gmg_leg leg)
{
  gmg_multigrid *m = &s->solver->mg;
  m->smoother[0]->sweep(&m->level[0].view, m->state[0], f, u, steps, leg);
}

#endif
