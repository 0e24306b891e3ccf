/* Decides whether corrections are computed in low precision, which halves the bytes and doubles the SIMD width. Residuals stay in
   the problem's type. Called at create and update. */
#include "mg/iterate/iterate.h"

enum { MIN_CELLS = 4096 }; /* with fewer unknowns a cycle is too short to gain */

/* Limits of coefficients in low precision. Residuals are scaled to 1 separately. */
static const double MAX_COEFFICIENT = 1e25, MIN_COEFFICIENT = 1e-25;
/* Limits of the part of a smooth correction that rounding in low precision may spoil: for an automatic choice; without
   acceleration; and with it, because acceleration corrects the few modes that a cycle then misses. Only the first cycle suffers.
   With smooth f at most one cycle is lost (docs/weights.md). */
static const double MAX_SPOILT_AUTO = 0.9, MAX_SPOILT = 1, MAX_SPOILT_ACCELERATED = 20;
/* Limit of rounding / error of the scheme, both estimated, in a full multigrid start with only the finest grid in the problem's
   type. Levels above the limit are refined like the finest grid (docs/weights.md). */
static const double MAX_FMG_ROUNDING = 1;
/* Limit of largest / smallest beta. Above it low-precision corrections cost iterations: 20 instead of 16 for a ball of 1e6 with f =
   1. */
static const double MAX_BETA_CONTRAST = 1e5;

gmg_status gmg_check_precision(gmg_solver *s)
{
  const gmg_coefficients *c = &s->coefficients;
  const gmg_operator *A = &s->finest->A;
  const double norm = gmg_norm_of(s, A), most = norm + c->sigma_most, floor = gmg_low_floor(s, A);
  const double bearable = s->params.accel == GMG_ACCEL_NONE ? MAX_SPOILT : MAX_SPOILT_ACCELERATED;
  static const char *const only = "params.precision = GMG_PRECISION_SAME takes it, where cycles compute in the problem's type only";
  if (most > MAX_COEFFICIENT || (norm > 0 && norm < MIN_COEFFICIENT))
    return gmg_fail(s->context, GMG_ERR_UNSUPPORTED,
                    "problem.beta / h^2 (summed: %g), sigma (%g) or shift (%g) leave the range %g .. %g of corrections in "
                    "the narrower type; %s",
                    norm, c->sigma_most, s->problem.shift, MIN_COEFFICIENT, MAX_COEFFICIENT, only);
  if (c->beta_most > MAX_BETA_CONTRAST * c->beta_least)
    return gmg_fail(s->context, GMG_ERR_UNSUPPORTED, "problem.beta = %g .. %g: varies by more than the %g that corrections in the "
                    "narrower type bear; %s", c->beta_least, c->beta_most, MAX_BETA_CONTRAST, only);
  if (floor > bearable)
    return gmg_fail(s->context, GMG_ERR_UNSUPPORTED,
                    "problem: nearly singular or very large, rounding in the narrower type would "
                    "spoil %.3g of a smooth correction (limit %g; shift = %g, sigma = %g .. %g, beta = %g .. %g); %s",
                    floor, bearable, s->problem.shift, c->sigma_least, c->sigma_most, c->beta_least, c->beta_most, only);
  return GMG_OK;
}

/* Checks the requirements that do not depend on coefficients. */
static gmg_status check_parameters(gmg_solver *s)
{
  const gmg_params *p = &s->params;
  static const char *const asked = "params.precision = GMG_PRECISION_MIXED";
  if (s->low_exec.type == s->problem.type)
    return gmg_fail(s->context, GMG_ERR_UNSUPPORTED, "%s: there is no narrower type than problem.type = %s", asked,
                    gmg_name_of(&gmg_type_names, (int)s->problem.type));
  const gmg_smoother_ops *ops = gmg_smoother_ops_of(p, &s->low_exec, s->finest->A.kind);
  if (!ops || !ops->sweep)
    return gmg_fail(s->context, GMG_ERR_UNSUPPORTED, "%s: params.smoother = \"%s\" has no functions for the narrower type", asked,
                    gmg_shown_name(p->smoother));
  return GMG_OK;
}

/* Whether GMG_PRECISION_AUTO selects low precision. A user's smoother is only used in the problem's type. Plain CG needs a cycle
   that is symmetric to the last bits. */
static int is_worthwhile(const gmg_solver *s)
{
  const gmg_params *p = &s->params;
  const size_t cells = s->finest->A.cells;
  return cells >= MIN_CELLS && p->max_levels != 1 && p->coarse_cells < cells && !s->symmetric &&
         gmg_builtin_of(p->smoother) && gmg_low_floor(s, &s->finest->A) <= MAX_SPOILT_AUTO;
}

int gmg_fmg_needs_refinement(const gmg_solver *s, const gmg_operator *A) { return gmg_fmg_rounding(s, A) > MAX_FMG_ROUNDING; }

/* Sets the exec of the levels, and all tables that depend on it. */
static void compute_in(gmg_solver *s, gmg_exec *e, const gmg_correction_ops *corrections)
{
  s->levels_exec = e;
  s->corrections = corrections;
  s->fmg = corrections->fmg;
  s->method = s->params.accel == GMG_ACCEL_NONE ? corrections->plain : &gmg_conjugate_gradients;
  s->mg.exec = e;
  s->mg.stencil = gmg_stencil_of(e);
  s->mg.op = gmg_operator_of(e, &s->finest->A);
  s->mg.smoother = gmg_smoother_ops_of(&s->params, e, s->finest->A.kind);
  s->mg.fused = gmg_fused_of(s->params.smoother, e, s->finest->A.kind);
}

gmg_status gmg_choose_precision(gmg_solver *s)
{
  const gmg_precision asked = s->params.precision;
  gmg_status status = asked == GMG_PRECISION_SAME ? GMG_ERR_UNSUPPORTED : GMG_OK;
  s->low_exec = gmg_exec_make(s->context, gmg_type_traits_of(s->problem.type)->narrower, s->exec.dry);
  s->low_exec.owner = &s->exec;
  if (status == GMG_OK) status = check_parameters(s);
  if (status == GMG_OK) status = gmg_check_precision(s);
  if (asked == GMG_PRECISION_MIXED && status != GMG_OK) return status;
  if (status == GMG_OK && (asked == GMG_PRECISION_MIXED || is_worthwhile(s))) compute_in(s, &s->low_exec, &gmg_low_type);
  else compute_in(s, &s->exec, &gmg_same_type);
  if (s->params.coarse_rtol == 0) s->params.coarse_rtol = gmg_type_traits_of(s->levels_exec->type)->coarse_rtol;
  s->context->error[0] = 0;
  return GMG_OK;
}
