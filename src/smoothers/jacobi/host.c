/* Weighted Jacobi on host threads. Called through gmg_smoother_ops. */
#include "smoothers/weight.h"

#include "stencil/operator/host/grid_row.h"

/* GMG_CONSTANT for every kind: it selects the rule for the weight (gmg_row_weight()), and all rows have the same weight. */
GMG_INLINE scalar jacobi_point(const int dim, gmg_row a, gmg_neighbours near, scalar f, scalar u, real omega, real c1, scalar old)
{
  (void)c1, (void)old;
  return gmg_row_relaxed(dim, GMG_CONSTANT, a, near, f, u, omega);
}

static void sweep(const gmg_smoother_level *l, void *state, const void *f, void *u, int steps, gmg_leg leg)
{
  (void)state, (void)leg;
  const real omega = (real)gmg_weight_jacobi(l->A, l->params);
  const size_t tasks = gmg_tasks(l->A);
  for (int s = 0; s < steps; s++) {
#pragma omp parallel for schedule(static) num_threads(l->threads) if (l->A->cells > GMG_MIN_CELLS_PARALLEL)
    for (size_t t = 0; t < tasks; t++) gmg_field_map(jacobi_point, l->A, t, f, u, omega, 0, l->scratch);
    l->exec->vector->copy(l->exec, l->A->cells, l->scratch, u);
  }
}

const gmg_smoother_ops R(gmg_jacobi_host) = {.sweep = sweep};
