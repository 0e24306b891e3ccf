/* The toy's sweeps on the host. */
#include "smoothers/smoother.h"

#include "core/real.h"

static void sweep(const gmg_smoother_level *l, void *state, const void *f, void *u, int steps, gmg_leg leg)
{
  (void)state, (void)leg;
  const gmg_operator *A = l->A;
  const double diag = 2 * (A->coupling[0] + A->coupling[1] + A->coupling[2]) + gmg_operator_reaction(A);
  for (int step = 0; step < steps; step++) {
    gmg_level_residual(l, f, u, l->scratch);
    l->exec->vector->axpy(l->exec, A->cells, 2 / (3 * diag), l->scratch, u);
  }
}

const gmg_smoother_ops R(gmg_toy_host) = {.sweep = sweep};
