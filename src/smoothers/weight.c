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

/* With over-correction and more sweeps, for adjoint restriction, where some axes are not coarsened. */
static const double over_corrected_adjoint[3] = {1.08, 1.24, 1.35};

static restriction_kind restriction_of(const gmg_operator *A)
{
  return A->centering == GMG_VERTEX ? FULL_WEIGHTING : A->restricts_by_adjoint ? ADJOINT : AVERAGING;
}

/* Best pairs of weight and over-correction for 1 and 2 sweeps, by kind of restriction, where 2 or 3 axes are coarsened and none is
   not; then by whether some axis has an odd number of intervals. Zeros: no factor is known that is better than 1. */
typedef struct {
  double weight, walls, mirrors; /* factor where no wall gives the normal derivative, and where every axis has such a wall */
} over_corrected;

static const over_corrected over[2][RESTRICTION_KINDS][2][2] = {
    {[FULL_WEIGHTING] = {{{1.15, 1, 1}, {1.15, 1, 1}}, {{1.2, 1, 1}, {1.2, 1, 1}}},
     [AVERAGING] = {{{0}}, {{1.15, 1.045, 1.035}, {1.15, 1.045, 1.035}}},
     [ADJOINT] = {{{1.18, 1.06, 1.055}, {1.18, 1.06, 1.055}}, {{0}}}},
    {[FULL_WEIGHTING] = {{{1.15, 1.0125, 1.01}, {1.21, 1.018, 1.018}}, {{1.24, 1.019, 1.008}, {1.29, 1.019, 1.008}}},
     [AVERAGING] = {{{0}}, {{1.23, 1.0235, 1.01}, {1.24, 1.0235, 1.01}}},
     [ADJOINT] = {{{1.24, 1.03, 1.026}, {1.22, 1.025, 1.025}}, {{0}}}}};

/* The number of axes with couplings, if none is stretched. Otherwise 0. all: whether all of them are coarsened. */
static int coupled_axes(const gmg_operator *A, int *all)
{
  static const double UNIFORM = 1.5; /* largest over smallest width */
  int axes = 0;
  *all = 1;
  for (int a = 0; a < 3; a++) {
    if (A->coupling[a] == 0) continue;
    if (A->stretch[a] > UNIFORM) return 0;
    *all = *all && A->coarsened[a];
    axes++;
  }
  return axes;
}

static const over_corrected *best_of(const gmg_operator *A, int sweeps)
{
  int all, odd = 0;
  const int axes = coupled_axes(A, &all);
  for (int a = 0; a < 3; a++) odd |= A->coupling[a] != 0 && !A->halved[a];
  const over_corrected *best = all && axes > 1 && sweeps <= 2 ? &over[sweeps - 1][restriction_of(A)][axes - 2][odd] : NULL;
  return best && best->weight > 0 ? best : NULL;
}

/* Without a shift; 0: not known. mirrored: the share of axes with a wall that gives the normal derivative. If only some axes are
   coarsened, coarse grids correct too much, whatever the walls. */
static double without_shift(const gmg_operator *A, int sweeps, double mirrored)
{
  static const double some_axes[2] = {0.96, 0.986}; /* by sweeps */
  int all;
  const int axes = coupled_axes(A, &all);
  if (axes < 2 || sweeps > 2) return 0;
  if (!all) return some_axes[sweeps - 1];
  const over_corrected *best = best_of(A, sweeps);
  return best ? best->walls + mirrored * (best->mirrors - best->walls) : 0;
}

/* With a shift coarse grids correct too much: by more, the larger the shift's share of the diagonal. Measured on 64^3 and 128^2;
   docs/weights.md has the table. */
double gmg_over_correction_red_black(const gmg_operator *A, int sweeps, double mirrored)
{
  static const double LEAST = 0.85, SLOPE = 0.36, most[2] = {1.04, 1.018};
  double share;
  const double without = without_shift(A, sweeps, mirrored);
  (void)strong_axes(A, &share);
  if (without == 0) return 1;
  if (share == 1) return without;
  return fmax(LEAST, fmin(without, most[sweeps - 1] - SLOPE * sqrt(1 - share)));
}

double gmg_over_correction(const gmg_operator *A, const gmg_params *p, double mirrored)
{
  int all;
  (void)p, (void)mirrored;
  return coupled_axes(A, &all) < 2 ? 1 : all ? 1.1 : 1.06;
}

double gmg_red_black_over_relaxation(const gmg_operator *A, const gmg_params *p, int sweeps)
{
  double share;
  const restriction_kind kind = restriction_of(A);
  const double *t = (sweeps > 1 ? more_sweeps : one_sweep)[kind];
  const int is_over_corrected = p->over_correction > 0 && p->over_correction != 1;
  const over_corrected *with = is_over_corrected ? best_of(A, sweeps) : NULL;
  if (is_over_corrected && sweeps > 1 && kind == ADJOINT) t = over_corrected_adjoint;
  const double axes = strong_axes(A, &share) - 1;
  const double alone = axes < 1 ? t[0] + axes * (t[1] - t[0]) : t[1] + (axes - 1) * (t[2] - t[1]);
  const double best = with ? with->weight : alone;
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
  return p->omega > 0 ? p->omega : gmg_red_black_over_relaxation(A, p, 1);
}
