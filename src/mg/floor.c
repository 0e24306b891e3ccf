/* The rounding floor of the residual: u is known to half a unit in the last place only, and A magnifies that. */
#include "solver.h"

#include <math.h>

static double unit_roundoff(gmg_type type) { return gmg_type_traits_of(type)->epsilon / 2; }

double gmg_norm_of_A(const gmg_solver *s)
{
  const gmg_operator *A = &s->top->A;
  double norm = gmg_operator_sink(A) + s->found.sigma_most;
  for (int a = 0; a < 3; a++) norm += 4 * A->coupling[a] / s->found.beta_mean[a] * s->found.beta_most * A->stretch[a];
  return norm;
}

double gmg_floor_of(gmg_solver *s, const void *u)
{
  return unit_roundoff(s->problem.type) * s->stencil->magnitude(&s->exec, &s->top->A, u);
}

/* Smallest eigenvalue of -d2/dx2 along an axis; a Robin wall lies between Neumann and Dirichlet. */
static double smallest_along(const gmg_problem *p, int a)
{
  const gmg_axis_spec spec = gmg_axis_spec_of(p, a);
  int fixed = 0;
  for (int side = 0; side < 2; side++)
    fixed += spec.bc[side] == GMG_DIRICHLET || (spec.bc[side] == GMG_ROBIN && spec.robin[side][0] > 0);
  const double wave = M_PI / spec.length;
  return fixed == 2 ? wave * wave : fixed == 1 ? wave * wave / 4 : 0; /* for beta = 1 */
}

/* How much ||A|| ||u|| exceeds ||f|| when f is smooth. */
static double amplification(const gmg_solver *s)
{
  const gmg_problem *p = &s->problem;
  double smallest = p->shift, longest = 0;
  for (int a = 0; a < p->dim; a++) {
    smallest += s->found.beta_mean[a] * smallest_along(p, a);
    longest = fmax(longest, gmg_axis_spec_of(p, a).length);
  }
  if (smallest == 0) smallest = s->found.beta_mean[0] * M_PI / longest * M_PI / longest; /* singular: the next eigenvalue, about */
  return gmg_norm_of_A(s) / smallest;
}

/* Measured: rounding errors are random, and A does not magnify all of them most. */
static const double TYPICAL = 0.5;

double gmg_floor_estimate(const gmg_solver *s) { return TYPICAL * unit_roundoff(s->problem.type) * amplification(s); }

double gmg_narrow_floor(const gmg_solver *s)
{
  return TYPICAL * unit_roundoff(gmg_type_traits_of(s->problem.type)->narrower) * amplification(s);
}
