/* Decides whether corrections are computed in low precision, which halves the bytes and doubles the SIMD width. Residuals stay in
   the problem's type. Called at create and update. */
#include "mg/iterate/iterate.h"

#include <math.h>

enum { MIN_CELLS = 4096 }; /* with fewer unknowns a cycle is too short to gain */

/* Limits of coefficients in low precision. Residuals are scaled to 1 separately. */
static const double MAX_COEFFICIENT = 1e25, MIN_COEFFICIENT = 1e-25;
/* Limits of the estimated rounding error of a smooth correction in low precision, relative to the correction (gmg_low_floor()).
   Only the first cycle suffers. With smooth f at most one cycle is lost (docs/weights.md).
   - MAX_ROUNDING_AUTO: for GMG_PRECISION_AUTO.
   - MAX_ROUNDING_AUTO_BETA: the same where beta varies. There an estimate of 1.4 costs four of ten cycles: 4000^2, Neumann walls,
     a ball in which beta is 1e4 times larger.
   - MAX_ROUNDING: for GMG_PRECISION_MIXED without acceleration.
   - MAX_ROUNDING_ACCELERATED: with acceleration, which corrects the few modes that a cycle then misses. */
static const double MAX_ROUNDING_AUTO = 4, MAX_ROUNDING_AUTO_BETA = 0.9, MAX_ROUNDING = 8, MAX_ROUNDING_ACCELERATED = 20;
/* Limit of rounding / discretisation error, both estimated, in a full multigrid start with only the finest grid in the problem's
   type. Levels whose quotient is larger are kept in high precision, like the finest grid (docs/weights.md). */
static const double MAX_FMG_ROUNDING = 1;
/* Limit of largest / smallest beta. Above it low-precision corrections cost iterations: 20 instead of 16 for f = 1 and a ball in
   which beta is 1e6 times larger. */
static const double MAX_BETA_CONTRAST = 1e5;
/* Limit of the largest coupling over the smallest for GMG_PRECISION_AUTO with black box coarsening, which stores the centres of
   rows: their rounding may make a coarse matrix indefinite. 1024^2 cells and a ball in which beta is 1e4 times larger: with cells
   twice as long along one axis 9 iterations instead of 2, with cells 30 times as long no Cholesky factor. */
static const double MAX_BLACK_BOX_RANGE = 3e4;

gmg_status gmg_check_precision(gmg_solver *s)
{
  const gmg_coefficients *c = &s->coefficients;
  const gmg_operator *A = &s->finest->A;
  const double norm = gmg_norm_bound(s, A), most = norm + c->sigma_most, floor = gmg_low_floor(s, A);
  const double limit = s->params.accel == GMG_ACCEL_NONE ? MAX_ROUNDING : MAX_ROUNDING_ACCELERATED;
  static const char *const advice = "params.precision = GMG_PRECISION_SAME accepts it: cycles then compute in the problem's type";
  if (most > MAX_COEFFICIENT || (norm > 0 && norm < MIN_COEFFICIENT))
    return gmg_fail(s->context, GMG_ERR_UNSUPPORTED,
                    "problem.beta / h^2 (summed: %g), sigma (%g) or shift (%g) leave the range %g .. %g of corrections in "
                    "low precision; %s",
                    norm, c->sigma_most, s->problem.shift, MIN_COEFFICIENT, MAX_COEFFICIENT, advice);
  if (c->beta_most > MAX_BETA_CONTRAST * c->beta_least)
    return gmg_fail(s->context, GMG_ERR_UNSUPPORTED, "problem.beta = %g .. %g: varies by a factor of more than %g, the limit for "
                    "corrections in low precision; %s", c->beta_least, c->beta_most, MAX_BETA_CONTRAST, advice);
  if (floor > limit)
    return gmg_fail(s->context, GMG_ERR_UNSUPPORTED,
                    "problem: nearly singular or very large: in low precision the rounding error of a "
                    "smooth correction would be %.3g of it (limit %g; shift = %g, sigma = %g .. %g, beta = %g .. %g); %s",
                    floor, limit, s->problem.shift, c->sigma_least, c->sigma_most, c->beta_least, c->beta_most, advice);
  return GMG_OK;
}

/* Refuses a smoother without functions for the problem's type, unless mixed precision is requested: sweeps are then in low
   precision (check_parameters()). */
gmg_status gmg_check_sweep(gmg_context *c, const gmg_smoother_ops *ops, const gmg_params *p)
{
  if (p->precision == GMG_PRECISION_MIXED || (ops && ops->sweep)) return GMG_OK;
  return gmg_fail(c, GMG_ERR_UNSUPPORTED, "params.smoother = \"%s\" has no functions for this context and problem.type",
                  gmg_display_name(p->smoother));
}

/* Checks the requirements that do not depend on coefficients. */
static gmg_status check_parameters(gmg_solver *s)
{
  const gmg_params *p = &s->params;
  static const char *const asked = "params.precision = GMG_PRECISION_MIXED";
  if (s->low_exec.type == s->problem.type)
    return gmg_fail(s->context, GMG_ERR_UNSUPPORTED, "%s: no lower precision than problem.type = %s is available", asked,
                    gmg_name_of(&gmg_type_names, (int)s->problem.type));
  const gmg_smoother_ops *ops = gmg_smoother_ops_of(p, &s->low_exec, s->finest->A.kind);
  if (!ops || !ops->sweep)
    return gmg_fail(s->context, GMG_ERR_UNSUPPORTED, "%s: params.smoother = \"%s\" has no functions for low precision", asked,
                    gmg_display_name(p->smoother));
  return GMG_OK;
}

/* Whether rows of black box coarsening would lose too much in low precision. */
static int has_wide_range(const gmg_solver *s)
{
  const gmg_coefficients *c = &s->coefficients;
  const gmg_operator *A = &s->finest->A;
  double least = INFINITY, most = 0;
  for (int a = 0; a < s->problem.dim; a++) {
    if (A->n[a] == 1) continue;
    least = fmin(least, s->finest->unit_coupling[a]), most = fmax(most, s->finest->unit_coupling[a] * A->stretch[a]);
  }
  return gmg_has_black_box(s) && c->beta_most * most > MAX_BLACK_BOX_RANGE * c->beta_least * least;
}

/* Whether GMG_PRECISION_AUTO selects low precision. A user's smoother is only used in the problem's type. Plain CG needs a cycle
   that is symmetric to rounding in the problem's type. */
static int is_worthwhile(const gmg_solver *s)
{
  const gmg_params *p = &s->params;
  const size_t cells = gmg_cells_of_all(&s->finest->A);
  const double limit = s->coefficients.beta_most > s->coefficients.beta_least ? MAX_ROUNDING_AUTO_BETA : MAX_ROUNDING_AUTO;
  return cells >= MIN_CELLS && p->max_levels != 1 && p->coarse_cells < cells && !s->symmetric &&
         gmg_builtin_of(p->smoother) && gmg_low_floor(s, &s->finest->A) <= limit && !has_wide_range(s);
}

int gmg_fmg_needs_outer_level(const gmg_solver *s, const gmg_operator *A) { return gmg_fmg_rounding(s, A) > MAX_FMG_ROUNDING; }

/* Sets the exec of the levels, and the tables that depend on it alone. */
static void compute_in(gmg_solver *s, gmg_exec *e, const gmg_correction_ops *corrections)
{
  s->levels_exec = e;
  s->corrections = corrections;
  s->fmg = corrections->fmg;
  s->method = s->params.accel == GMG_ACCEL_NONE ? corrections->plain : corrections->accelerated;
  s->mg.exec = e;
  s->mg.grid = gmg_grid_ops_of(e);
}

/* Whether the residual in the problem's type is only measured where a solve needs it. It takes a quarter of the time of a cycle.
   On smaller grids of a device the recorded loop, which measures every residual, is faster. */
static int measures_rarely(const gmg_solver *s)
{
  const gmg_params *p = &s->params;
  const gmg_method *m = s->method;
  return s->checks_are_auto && p->check_every == 1 && !p->monitor && p->direct != GMG_DIRECT_ALWAYS && m->cycles_at_once > 1 &&
         gmg_cells_of_all(&s->finest->A) >= m->min_cells_at_once[s->context->backend][s->problem.dim - 1];
}

gmg_status gmg_choose_precision(gmg_solver *s)
{
  const gmg_precision asked = s->params.precision;
  gmg_status status = asked == GMG_PRECISION_SAME ? GMG_ERR_UNSUPPORTED : GMG_OK;
  s->low_exec = gmg_exec_make(s->context, gmg_type_traits_of(s->problem.type)->narrower, s->exec.dry);
  s->low_exec.exact_sums = s->exec.exact_sums;
  s->low_exec.owner = &s->exec;
  if (status == GMG_OK) status = check_parameters(s);
  if (status == GMG_OK) status = gmg_check_precision(s);
  if (asked == GMG_PRECISION_MIXED && status != GMG_OK) return status;
  if (status == GMG_OK && (asked == GMG_PRECISION_MIXED || is_worthwhile(s)))
    compute_in(s, &s->low_exec, &gmg_corrections_low_precision);
  else compute_in(s, &s->exec, &gmg_corrections_same_precision);
  if (measures_rarely(s)) s->params.check_every = s->method->cycles_at_once;
  if (s->params.coarse_rtol == 0) s->params.coarse_rtol = gmg_type_traits_of(s->levels_exec->type)->coarse_rtol;
  s->context->error[0] = 0;
  return GMG_OK;
}
