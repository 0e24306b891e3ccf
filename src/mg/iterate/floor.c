/* The rounding floor of the residual: u is known only to half a unit in the last place, and A amplifies that error. Called by
   solve, plan and precision. */
#include "mg/solver.h"

#include <math.h>

static double unit_roundoff(gmg_type type) { return gmg_type_traits_of(type)->epsilon / 2; }

double gmg_norm_bound(const gmg_solver *s, const gmg_operator *A)
{
  const gmg_coefficients *c = &s->coefficients;
  double norm = gmg_operator_reaction(A);
  for (int a = 0; a < 3; a++) {
    const double most = A->kind->measure ? c->beta_mean[a] : c->beta_most;
    if (A->coupling[a] > 0) norm += 4 * A->coupling[a] / c->beta_mean[a] * most * A->stretch[a];
  }
  return norm;
}

double gmg_floor_of(gmg_solver *s, const void *u)
{
  gmg_exchange_one_layer(&s->exec, &s->finest->A, u);
  const gmg_operator A = gmg_operator_on_arrays(s, s->f_eff);
  return unit_roundoff(s->problem.type) * s->op->magnitude(&s->exec, &A, u);
}

/* Smallest eigenvalue of -d2/dx2 along an axis for beta = 1. Robin walls count as Neumann walls. */
static double smallest_along(const gmg_problem *p, int a)
{
  const gmg_axis_spec spec = gmg_axis_spec_of(p, a);
  const int fixed = (spec.bc[0] == GMG_DIRICHLET) + (spec.bc[1] == GMG_DIRICHLET);
  const double wave = M_PI / spec.length;
  return fixed == 2 ? wave * wave : fixed == 1 ? wave * wave / 4 : 0;
}

/* Rayleigh quotient of a constant: the contribution of Robin walls and of the array sigma. */
static double rayleigh_of_constant(const gmg_solver *s)
{
  const gmg_problem *p = &s->problem;
  double sum = s->coefficients.sigma_mean - s->coefficients.sigma_least;
  for (int a = 0; a < p->dim; a++)
    for (int side = 0; side < 2; side++)
      if (p->bc[a][side] == GMG_ROBIN && p->robin[a][side][0] > 0)
        sum += s->coefficients.beta_least * p->robin[a][side][0] / p->robin[a][side][1] / gmg_axis_spec_of(p, a).length;
  return sum;
}

double gmg_amplification(const gmg_solver *s, const gmg_operator *A)
{
  const gmg_problem *p = &s->problem;
  double walls = 0, longest = 0;
  for (int a = 0; a < p->dim; a++) {
    walls += s->coefficients.beta_mean[a] * smallest_along(p, a);
    longest = fmax(longest, gmg_axis_spec_of(p, a).length);
  }
  /* without Dirichlet walls: combines the next eigenvalue with the Rayleigh quotient of constants */
  const double next = s->coefficients.beta_mean[0] * M_PI / longest * M_PI / longest, constant = rayleigh_of_constant(s);
  double smallest = gmg_operator_shift(p) + s->coefficients.sigma_least;
  if (s->coefficients.spectrum.smallest > 0) return gmg_norm_bound(s, A) / s->coefficients.spectrum.smallest;
  if (walls > 0) smallest += walls;
  else if (constant > 0) smallest += 1 / (1 / next + 1 / constant); /* b = 0 is a Dirichlet wall, and `constant` infinite */
  if (smallest == 0) smallest = next; /* singular */
  return gmg_norm_bound(s, A) / smallest;
}

/* Measured ratio: rounding errors are random, and A does not amplify all of them by ||A||. */
static const double MEASURED_OVER_BOUND = 0.5;

double gmg_floor_estimate(const gmg_solver *s)
{
  return MEASURED_OVER_BOUND * unit_roundoff(s->problem.type) * gmg_amplification(s, &s->finest->A);
}

double gmg_low_floor(const gmg_solver *s, const gmg_operator *A)
{
  return gmg_low_floor_of(s, A, gmg_amplification(s, A) / gmg_norm_bound(s, A));
}

double gmg_low_floor_of(const gmg_solver *s, const gmg_operator *A, double u_over_f)
{
  return MEASURED_OVER_BOUND * unit_roundoff(gmg_type_traits_of(s->problem.type)->narrower) * gmg_norm_bound(s, A) * u_over_f;
}

/* Rounding errors of the residual are noise. The part in a smooth mode is 1 / sqrt(unknowns). The error of the scheme is about 1 /
   amplification. */
double gmg_fmg_rounding(const gmg_solver *s, const gmg_operator *A)
{
  return gmg_low_floor(s, A) * gmg_amplification(s, A) / sqrt((double)A->cells);
}
