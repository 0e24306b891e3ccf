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

static void sweep(const gmg_smoother_level *l, void *d, const void *f, void *u, int steps, gmg_leg leg)
{
  (void)leg;
  const gmg_vector_ops *v = l->exec->vector;
  double low, high;
  gmg_rough_range(l->A, &low, &high);
  const double theta = (high + low) / 2, delta = (high - low) / 2, sigma = theta / delta;
  for (int s = 0; s < steps; s++) {
    double rho = 1 / sigma;
    v->fill(l->exec, l->A->cells, 0, d);
    gmg_field_map(correction_point, l->threads, l->A, f, u, 0, (real)(1 / theta), d);
    v->axpy(l->exec, l->A->cells, 1, d, u);
    for (int k = 2; k <= l->params->local_sweeps; k++) {
      const double next = 1 / (2 * sigma - rho);
      gmg_field_map(correction_point, l->threads, l->A, f, u, (real)(next * rho), (real)(2 * next / delta), d);
      v->axpy(l->exec, l->A->cells, 1, d, u);
      rho = next;
    }
  }
}

const gmg_smoother_ops R(gmg_chebyshev_host) = {.setup = setup, .sweep = sweep, .destroy = destroy};
