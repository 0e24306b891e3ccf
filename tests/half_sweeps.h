/* Red-black half sweeps by their definition: the oracle of smoothers that relax a level as a whole. */
#ifndef GMG_TEST_HALF_SWEEPS_H
#define GMG_TEST_HALF_SWEEPS_H

#include "internals.h"

#include <stdlib.h>

/* Each half sweep relaxes a colour at once, with its weight, from the values of the other colour and, across the seam of an odd
   periodic axis, of its own. */
static inline void half_sweeps_by_definition(const gmg_smoother_level *l, const void *f, void *u, int half_sweeps, gmg_leg leg)
{
  const gmg_exec *e = l->exec;
  const gmg_operator *A = l->A;
  double weight[GMG_HALF_SWEEPS], *x = malloc(A->cells * sizeof *x), *r = malloc(A->cells * sizeof *r);
  gmg_half_sweep_weights(A, l->params, leg, weight);
  for (int h = 0; h < half_sweeps; h++) {
    const size_t colour = (size_t)(h % 2) ^ (leg == GMG_LEG_UP_REVERSED);
    gmg_operator_of(e, A)->residual(e, A, f, u, l->scratch);
    gmg_operator_of(e, A)->over_diagonal(e, A, l->scratch, l->scratch);
    gmg_exec_read_reals(e, l->scratch, A->cells, r), gmg_exec_read_reals(e, u, A->cells, x);
    for (size_t c = 0; c < A->cells; c++)
      if ((c % A->n[0] + c / A->n[0] % A->n[1] + c / (A->n[0] * A->n[1]) + colour) % 2 == 0) x[c] += weight[h % GMG_HALF_SWEEPS] * r[c];
    gmg_exec_write_reals(e, u, A->cells, x);
  }
  free(x), free(r);
}

#endif
