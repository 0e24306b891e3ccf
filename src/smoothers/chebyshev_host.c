/* Chebyshev polynomial smoother on host threads (Adams, Brezina, Hu, Tuminaro 2003): the polynomial in D^-1 A of the
   given degree that is smallest over the frequencies the coarser grid cannot see. State: the last correction d. */
#include "smoother.h"

#include "../stencil/line_host.h"

static gmg_status setup(const gmg_smoother_level *l, void **state)
{
  return gmg_exec_alloc(l->exec, "chebyshev correction", l->A->cells * l->exec->real_size, state);
}

static void destroy(const gmg_smoother_level *l, void *state)
{
  gmg_exec_release(l->exec, state, l->A->cells * l->exec->real_size);
}

/* d = c0 d + c1 D^-1 (f - A u) */
GMG_INLINE real correction_point(const int dim, gmg_row a, gmg_neighbours near, real f, real u, real c0, real c1, real d)
{
  return c0 * d + c1 * (gmg_row_residual(dim, a, near, f, u) / a.diag);
}

static void correct(const gmg_smoother_level *l, const void *f, void *u, double c0, double c1, void *d)
{
  const size_t tasks = gmg_tasks(l->A);
#pragma omp parallel for schedule(static) num_threads(l->threads) if (l->A->cells > 8192)
  for (size_t t = 0; t < tasks; t++) gmg_field_map(correction_point, l->A, t, f, u, (real)c0, (real)c1, d);
  l->exec->vector->axpy(l->exec, l->A->cells, 1, d, u);
}

static void sweep(const gmg_smoother_level *l, void *d, const void *f, void *u, int steps, gmg_leg leg)
{
  (void)leg;
  double low, high;
  gmg_rough_range(l->A, &low, &high);
  const double theta = (high + low) / 2, delta = (high - low) / 2, sigma = theta / delta;
  for (int s = 0; s < steps; s++) {
    double rho = 1 / sigma;
    l->exec->vector->fill(l->exec, l->A->cells, 0, d);
    correct(l, f, u, 0, 1 / theta, d);
    for (int k = 2; k <= l->params->local_sweeps; k++) {
      const double next = 1 / (2 * sigma - rho);
      correct(l, f, u, next * rho, 2 * next / delta, d);
      rho = next;
    }
  }
}

const gmg_smoother_ops R(gmg_chebyshev_host) = {.setup = setup, .sweep = sweep, .destroy = destroy};
