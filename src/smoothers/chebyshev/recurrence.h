/* The recurrence of the Chebyshev smoother (Adams, Brezina, Hu, Tuminaro 2003). It applies the polynomial in D^-1 A of the given
   degree that is smallest over the frequencies that the coarser grid cannot represent. Included by chebyshev.c, host.c and cuda.cu,
   which pass a function for the correction. */
#ifndef GMG_SMOOTHERS_CHEBYSHEV_RECURRENCE_H
#define GMG_SMOOTHERS_CHEBYSHEV_RECURRENCE_H

#include "smoothers/smoother.h"
#include "smoothers/weight.h"

/* d = c0 d + c1 D^-1 (f - A u), then to = u + d; d is not read if c0 is 0. u = NULL: u is 0. */
typedef void gmg_chebyshev_correct(const gmg_smoother_level *l, const void *f, const void *u, void *to, double c0, double c1,
                                   void *d);

static inline int gmg_chebyshev_corrections(const gmg_smoother_level *l, int steps)
{
  return steps * (l->params->chebyshev_degree > 1 ? l->params->chebyshev_degree : 1);
}

/* Corrections alternate between u and `other`, and the last one ends in u. If their number is odd, the first reads `other`, which
   must be a copy of u. other = u: all in place. */
static inline void gmg_chebyshev_sweep(const gmg_smoother_level *l, void *d, const void *f, void *u, void *other, int steps,
                                       gmg_start start, gmg_chebyshev_correct *correct)
{
  double low, high;
  gmg_smoothing_range(l->A, &low, &high);
  const double theta = (high + low) / 2, delta = (high - low) / 2, sigma = theta / delta;
  void *const at[2] = {u, other}; /* indexed by the number of corrections left, modulo 2 */
  int left = gmg_chebyshev_corrections(l, steps);
  for (int s = 0; s < steps; s++) {
    double rho = 1 / sigma;
    correct(l, f, start == GMG_FROM_ZERO && s == 0 ? NULL : at[left % 2], at[(left - 1) % 2], 0, 1 / theta, d), left--;
    for (int k = 2; k <= l->params->chebyshev_degree; k++, left--) {
      const double next = 1 / (2 * sigma - rho);
      correct(l, f, at[left % 2], at[(left - 1) % 2], next * rho, 2 * next / delta, d);
      rho = next;
    }
  }
}

static inline gmg_status gmg_chebyshev_setup(const gmg_smoother_level *l, void **state)
{
  return gmg_exec_alloc(l->exec, "chebyshev correction", l->A->cells * l->exec->real_size, state);
}

#endif
