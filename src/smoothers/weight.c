/* Relaxation weights for params.omega = 0. docs/weights.md gives the measurements. Called by smoothers.
   - Jacobi and Chebyshev: the range of eigenvalues of D^-1 A over the frequencies that the coarser grid cannot represent is known
     in closed form, and so is the best weight: 2/3, 4/5, 6/7 on isotropic grids in 1D, 2D, 3D.
   - Red-black: the gain from over-relaxation grows with the number of strongly coupled axes. With a single axis there is little or
     none. */
#include "weight.h"

#include "stencil/grid_ops.h"

#include <math.h>

void gmg_smoothing_range(const gmg_operator *A, double *lowest, double *highest)
{
  double sum = 0, weakest_coarsened = INFINITY, weakest = INFINITY;
  if (A->kind->smoothing_range) {
    A->kind->smoothing_range(A, lowest, highest);
    return;
  }
  for (int a = 0; a < 3; a++) {
    sum += 2 * A->coupling[a];
    if (A->coupling[a] == 0) continue;
    weakest = fmin(weakest, A->coupling[a]);
    if (A->coarsened[a]) weakest_coarsened = fmin(weakest_coarsened, A->coupling[a]);
  }
  if (weakest_coarsened == INFINITY) weakest_coarsened = weakest;
  if (weakest_coarsened == INFINITY) weakest_coarsened = 0; /* no couplings: A is its diagonal */
  const double reaction = gmg_operator_reaction(A), diag = reaction + sum;
  *lowest = diag > 0 ? (reaction + 2 * weakest_coarsened) / diag : 1;
  *highest = diag > 0 ? (reaction + 2 * sum) / diag : 1;
  if (*highest < 1.001 * *lowest) *highest = 1.001 * *lowest; /* keep the interval non-empty */
}

/* The number of strongly coupled axes, 1 to 3, as a real number; and the couplings' share of the diagonal. */
static double strong_axes(const gmg_operator *A, double *share)
{
  double sum = 0, most = 0;
  for (int a = 0; a < 3; a++) {
    sum += A->coupling[a];
    most = fmax(most, A->coupling[a]);
  }
  *share = sum > 0 ? 2 * sum / (gmg_operator_reaction(A) + 2 * sum) : 0;
  return most > 0 ? sum / most : 1;
}

/* Best weights for 1, 2 and 3 equal axes without shift, by kind of restriction. Weights between them are interpolated linearly, and
   tend to 1 as the shift dominates the diagonal. */
typedef enum { FULL_WEIGHTING, AVERAGING, ADJOINT, RESTRICTION_KINDS } restriction_kind;
typedef double weight_table[RESTRICTION_KINDS][3];

static const weight_table one_sweep = {
    [FULL_WEIGHTING] = {1, 1.15, 1.2}, [AVERAGING] = {1, 1.15, 1.2}, [ADJOINT] = {1.1, 1.25, 1.3}};
static const weight_table more_sweeps = {
    [FULL_WEIGHTING] = {1, 1.2, 1.3}, [AVERAGING] = {1, 1.2, 1.25}, [ADJOINT] = {1.1, 1.3, 1.35}};

double gmg_red_black_over_relaxation(const gmg_operator *A, int sweeps)
{
  double share;
  const restriction_kind by = A->centering == GMG_VERTEX ? FULL_WEIGHTING : A->restricts_by_adjoint ? ADJOINT : AVERAGING;
  const double *t = (sweeps > 1 ? more_sweeps : one_sweep)[by];
  const double axes = strong_axes(A, &share) - 1;
  const double best = axes < 1 ? t[0] + axes * (t[1] - t[0]) : t[1] + (axes - 1) * (t[2] - t[1]);
  return 1 + (best - 1) * share * share;
}

double gmg_weight_jacobi(const gmg_operator *A, const gmg_params *p)
{
  double low, high;
  gmg_smoothing_range(A, &low, &high);
  return p->omega > 0 ? p->omega : 2 / (low + high);
}

double gmg_weight_gauss_seidel(const gmg_operator *A, const gmg_params *p)
{
  const double coloured = 1.1; /* box stencils. Factors for Q1 and 27 points: 0.038 to 0.058; with weight 1: 0.051 to 0.100 */
  return p->omega > 0 ? p->omega : A->box ? coloured : 1;
}

double gmg_weight_red_black(const gmg_operator *A, const gmg_params *p)
{
  return p->omega > 0 ? p->omega : gmg_red_black_over_relaxation(A, 1);
}
