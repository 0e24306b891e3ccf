/* The recurrence of the Chebyshev smoother (Adams, Brezina, Hu, Tuminaro 2003): the polynomial in D^-1 A of the given degree
   that is smallest over the frequencies the coarser grid cannot see. Included by its backends, which bring the correction. */
#ifndef GMG_CHEBYSHEV_H
#define GMG_CHEBYSHEV_H

#include "smoother.h"

/* d = c0 d + c1 D^-1 (f - A u), then u = u + d; d is not read where c0 is 0. */
typedef void gmg_chebyshev_correct(const gmg_smoother_level *l, const void *f, void *u, double c0, double c1, void *d);

static inline void gmg_chebyshev_sweep(const gmg_smoother_level *l, void *d, const void *f, void *u, int steps,
                                       gmg_chebyshev_correct *correct)
{
  double low, high;
  gmg_rough_range(l->A, &low, &high);
  const double theta = (high + low) / 2, delta = (high - low) / 2, sigma = theta / delta;
  for (int s = 0; s < steps; s++) {
    double rho = 1 / sigma;
    correct(l, f, u, 0, 1 / theta, d);
    for (int k = 2; k <= l->params->local_sweeps; k++) {
      const double next = 1 / (2 * sigma - rho);
      correct(l, f, u, next * rho, 2 * next / delta, d);
      rho = next;
    }
  }
}

static inline gmg_status gmg_chebyshev_setup(const gmg_smoother_level *l, void **state)
{
  return gmg_exec_alloc(l->exec, "chebyshev correction", l->A->cells * l->exec->real_size, state);
}

static inline void gmg_chebyshev_destroy(const gmg_smoother_level *l, void *state)
{
  gmg_exec_release(l->exec, state, l->A->cells * l->exec->real_size);
}

#endif
