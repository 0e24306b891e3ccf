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

static restriction_kind restriction_of(const gmg_operator *A)
{
  return A->centering == GMG_VERTEX ? FULL_WEIGHTING : A->restricts_by_adjoint ? ADJOINT : AVERAGING;
}

/* The maximum of the over-correction with a shift, whose share of the diagonal is s: coarse grids then correct too much, by more,
   the larger the share. docs/weights.md has the measurements. */
typedef struct {
  double most, root, linear, least;
} shift_rule;

static double shifted(double s, const shift_rule *r) { return fmax(r->least, r->most - r->root * sqrt(s) - r->linear * s); }

/* Best weights of half sweeps together with over-correction. Zeros: no factor is known that is better than 1. */
typedef struct {
  double walls, mirrors; /* factor where no wall gives the normal derivative, and where every axis has such a wall */
  shift_rule shifted;    /* its maximum with a shift */
  double weight[3][2][GMG_HALF_SWEEPS]; /* by kind of level; of the downward leg, and of the upward leg */
} over_corrected;

/* Where all axes are coarsened: for 1 and 2 sweeps, by kind of restriction, for 2 and 3 axes, and by whether some axis has an odd
   number of intervals. Weights of the finest level, and of others. */
#define BOTH(...) {__VA_ARGS__, __VA_ARGS__} /* even and odd */
#define SWEEP(red, black) {red, black, red, black}
static const over_corrected all_axes[2][RESTRICTION_KINDS][2][2] = {
    {[FULL_WEIGHTING] = {BOTH({1.001, 1.015, {0.998, 0.4, 0, 0.75},
                               {{SWEEP(1.100, 1.188), SWEEP(1.087, 1.125)}, {SWEEP(1.529, 1.361), SWEEP(0.968, 1.021)}}}),
                         BOTH({0.983, 0.998, {0.985, 0.4, 0, 0.75},
                               {{SWEEP(1.284, 1.142), SWEEP(1.194, 1.079)}, {SWEEP(1.329, 1.361), SWEEP(1.279, 1.312)}}})},
     [AVERAGING] = {{{0}},
                    BOTH({1.087, 1.074, {1.080, 0.4, 0, 0.75},
                          {{SWEEP(1.317, 1.098), SWEEP(1.135, 1.035)}, {SWEEP(1.618, 1.050), SWEEP(1.116, 1.740)}}})},
     [ADJOINT] = {BOTH({1.054, 1.042, {1.005, 0.4, 0, 0.75},
                        {{SWEEP(1.184, 1.173), SWEEP(1.119, 1.096)}, {SWEEP(1.193, 1.197), SWEEP(1.271, 1.235)}}}),
                  {{0}}}},
    {[FULL_WEIGHTING] = {BOTH({1.025, 1.027, {1.016, 0.16, 0.62, 0.75},
                               {{{1.725, 1.707, 1.144, 1.238}, {1.058, 1.394, 0.978, 0.972}},
                                {{1.607, 1.012, 1.686, 0.893}, {1.216, 1.285, 1.693, 1.749}}}}),
                         {{1.047, 1.048, {1.044, 0.38, 0, 0.75},
                           {{{1.728, 1.264, 1.109, 1.274}, {1.243, 1.030, 1.122, 0.781}},
                            {{1.595, 1.075, 1.748, 0.792}, {1.748, 1.397, 1.750, 1.748}}}},
                          {1.062, 1.047, {1.046, 0.38, 0, 0.75},
                           {{{1.744, 1.288, 1.107, 1.538}, {1.173, 1.226, 1.069, 0.955}},
                            {{1.349, 1.412, 1.563, 1.009}, {1.433, 1.219, 1.429, 1.637}}}}}},
     [AVERAGING] = {{{0}},
                    {{1.043, 1.038, {1.044, 0.16, 0.62, 0.75},
                      {{{1.530, 1.010, 1.247, 1.034}, {1.402, 1.278, 1.051, 0.978}},
                       {{1.235, 0.922, 1.750, 0.802}, {1.749, 1.384, 1.750, 1.736}}}},
                     {1.044, 1.038, {1.044, 0.16, 0.62, 0.75},
                      {{{1.750, 0.957, 1.189, 1.172}, {1.293, 1.213, 1.103, 0.891}},
                       {{1.244, 0.844, 1.743, 0.819}, {1.636, 1.335, 1.747, 1.696}}}}}},
     [ADJOINT] = {BOTH({1.023, 1.019, {0.997, 0.16, 0.62, 0.75},
                        {{{1.723, 1.238, 1.156, 1.330}, {1.182, 1.362, 1.060, 0.958}},
                         {{1.455, 1.136, 1.474, 0.984}, {1.709, 1.176, 1.693, 1.487}}}}),
                  {{0}}}}};

/* Where the first level is coarsened along some axes only: for 1 and 2 sweeps, cells and vertices, 2 and 3 axes. Weights of levels
   that are coarsened along one, two and three axes; the last also of the coarsest level. */
static const over_corrected some_axes[2][2][2] = {
    {{{0.997, 0.997, {0.995, 0.34, 0, 0.75},
       {{SWEEP(1.848, 1.001), SWEEP(1.013, 0.977)},
        {SWEEP(1.314, 1.638), SWEEP(0.996, 1.847)},
        {SWEEP(0.720, 1.029), SWEEP(1.124, 1.821)}}},
      {1.001, 1.001, {1.003, 0.28, 0, 0.75},
       {{SWEEP(1.326, 1.211), SWEEP(0.783, 0.962)},
        {SWEEP(1.476, 1.144), SWEEP(1.165, 1.139)},
        {SWEEP(1.784, 1.176), SWEEP(1.126, 1.774)}}}},
     {{0.980, 0.980, {0.965, 0.18, 0, 0.75},
       {{SWEEP(1.850, 0.971), SWEEP(0.969, 1.207)},
        {SWEEP(1.165, 1.850), SWEEP(0.879, 1.428)},
        {SWEEP(0.760, 0.787), SWEEP(0.928, 1.678)}}},
      {0.981, 0.981, {0.982, 0.18, 0, 0.75},
       {{SWEEP(1.377, 0.977), SWEEP(0.907, 0.782)},
        {SWEEP(1.324, 1.070), SWEEP(1.095, 1.080)},
        {SWEEP(1.850, 1.214), SWEEP(1.178, 1.735)}}}}},
    {{{1.008, 1.008, {0.985, 0.05, 0.18, 0.75},
       {{{1.850, 1.836, 1.508, 0.983}, {0.973, 1.385, 1.052, 0.602}},
        {{1.773, 1.254, 0.939, 1.805}, {1.184, 0.886, 1.132, 1.757}},
        {{1.403, 1.187, 0.633, 1.642}, {1.836, 1.270, 0.874, 1.151}}}},
      {1.026, 1.026, {1.012, 0.1, 0.1, 0.75},
       {{{1.850, 1.850, 0.986, 0.631}, {0.968, 0.887, 1.405, 0.774}},
        {{1.543, 1.850, 1.470, 1.171}, {0.936, 1.101, 1.508, 0.743}},
        {{1.847, 1.829, 1.400, 1.336}, {0.953, 1.028, 1.695, 1.068}}}}},
     {{1.005, 1.005, {0.995, 0, 0.2, 0.75},
       {{{1.758, 1.849, 1.047, 0.857}, {0.840, 1.094, 1.164, 0.612}},
        {{1.838, 1.139, 0.771, 1.810}, {0.963, 0.863, 1.113, 1.850}},
        {{1.465, 0.661, 0.646, 1.672}, {1.687, 1.162, 1.099, 1.451}}}},
      {1.016, 1.016, {1.012, 0.1, 0.1, 0.75},
       {{{1.133, 1.846, 1.380, 0.940}, {0.887, 1.228, 1.080, 0.709}},
        {{1.402, 1.850, 1.442, 1.105}, {0.902, 1.207, 1.279, 0.788}},
        {{1.480, 1.541, 1.639, 1.456}, {0.929, 1.111, 1.655, 1.276}}}}}}};
#undef BOTH
#undef SWEEP

/* The number of axes with couplings, if none is stretched. Otherwise 0. */
static int coupled_axes(const gmg_operator *A)
{
  static const double UNIFORM = 1.5; /* largest over smallest width */
  int axes = 0;
  for (int a = 0; a < 3; a++) {
    if (A->coupling[a] == 0) continue;
    if (A->stretch[a] > UNIFORM) return 0;
    axes++;
  }
  return axes;
}

static const over_corrected *best_of(const gmg_operator *A, int sweeps)
{
  int odd = 0;
  const int axes = coupled_axes(A), is_vertex = A->centering == GMG_VERTEX;
  if (axes < 2 || sweeps > 2) return NULL;
  for (int a = 0; a < 3; a++) odd |= A->coupling[a] != 0 && !A->halved[a];
  const over_corrected *best = A->all_coarsened ? &all_axes[sweeps - 1][restriction_of(A)][axes - 2][odd]
                                                : &some_axes[sweeps - 1][is_vertex][axes - 2];
  return best->walls > 0 ? best : NULL;
}

static int kind_of_level(const gmg_operator *A)
{
  const int coarsened = A->coarsened[0] + A->coarsened[1] + A->coarsened[2];
  if (A->all_coarsened) return A->finer_levels > 0;
  return coarsened > 0 ? coarsened - 1 : 2;
}

/* mirrored: the share of axes with a wall that gives the normal derivative */
double gmg_over_correction_red_black(const gmg_operator *A, int sweeps, double mirrored)
{
  double couplings;
  const over_corrected *best = best_of(A, sweeps);
  if (!best) return 1;
  (void)strong_axes(A, &couplings);
  const double without = best->walls + mirrored * (best->mirrors - best->walls);
  return couplings == 1 ? without : fmin(without, shifted(1 - couplings, &best->shifted));
}

double gmg_over_correction(const gmg_operator *A, const gmg_params *p, double mirrored)
{
  (void)p, (void)mirrored;
  return coupled_axes(A) < 2 ? 1 : A->all_coarsened ? 1.1 : 1.06;
}

/* The weights of the table tend to 1, too, as the shift dominates the diagonal. */
void gmg_red_black_weights(const gmg_operator *A, const gmg_params *p, int sweeps, gmg_leg leg, double weight[GMG_HALF_SWEEPS])
{
  double share;
  const restriction_kind kind = restriction_of(A);
  const double *t = (sweeps > 1 ? more_sweeps : one_sweep)[kind];
  const int is_over_corrected = p->over_correction > 0 && p->over_correction != 1;
  const over_corrected *with = is_over_corrected ? best_of(A, sweeps) : NULL;
  const double axes = strong_axes(A, &share) - 1;
  const double alone = axes < 1 ? t[0] + axes * (t[1] - t[0]) : t[1] + (axes - 1) * (t[2] - t[1]);
  for (int h = 0; h < GMG_HALF_SWEEPS; h++) {
    const double best = with ? with->weight[kind_of_level(A)][leg != GMG_LEG_DOWN][h] : alone;
    weight[h] = 1 + (best - 1) * share * share;
  }
}

double gmg_red_black_over_relaxation(const gmg_operator *A, const gmg_params *p, int sweeps)
{
  double sum = 0;
  for (int leg = 0; leg < 2; leg++) {
    double weight[GMG_HALF_SWEEPS];
    gmg_red_black_weights(A, p, sweeps, leg ? GMG_LEG_UP : GMG_LEG_DOWN, weight);
    for (int h = 0; h < GMG_HALF_SWEEPS; h++) sum += weight[h] / GMG_HALF_SWEEPS / 2;
  }
  return sum;
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

void gmg_weights_red_black(const gmg_operator *A, const gmg_params *p, gmg_leg leg, double weight[GMG_HALF_SWEEPS])
{
  gmg_red_black_weights(A, p, 1, leg, weight);
  for (int h = 0; h < GMG_HALF_SWEEPS && p->omega > 0; h++) weight[h] = p->omega;
}
