/* Chebyshev polynomial smoother on host threads (recurrence.h). Called through gmg_smoother_ops. State: the last correction d. */
#include "recurrence.h"

#include "stencil/operator/host/grid_row.h"

/* d = c0 d + c1 D^-1 (f - A u) */
GMG_INLINE scalar correction_point(const int dim, gmg_row a, gmg_neighbours near, scalar f, scalar u, real c0, real c1, scalar d)
{
  return gmg_two_products(c0, d, c1, gmg_row_residual(dim, a, near, f, u) / a.diag);
}

static void correct(const gmg_smoother_level *l, const void *f, const void *u, void *to, double c0, double c1, void *d)
{
  const size_t tasks = gmg_tasks(l->A);
  if (c0 == 0) l->exec->vector->fill(l->exec, l->A->cells, 0, d);
#pragma omp parallel for schedule(static) num_threads(l->threads) if (l->A->cells > GMG_MIN_CELLS_PARALLEL)
  for (size_t t = 0; t < tasks; t++) gmg_field_map(correction_point, l->A, t, f, u, (real)c0, (real)c1, d);
  l->exec->vector->axpy(l->exec, l->A->cells, 1, d, to); /* to is u */
}

static void sweep(const gmg_smoother_level *l, void *d, const void *f, void *u, int steps, gmg_leg leg)
{
  (void)leg;
  gmg_chebyshev_sweep(l, d, f, u, u, steps, GMG_FROM_CURRENT, correct);
}

const gmg_smoother_ops R(gmg_chebyshev_host) = {.setup = gmg_chebyshev_setup, .sweep = sweep};
