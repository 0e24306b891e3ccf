/* Whether corrections are computed in the narrower type: half the bytes and twice the lanes, under a residual in the
   problem's type. */
#include "mg/iterate/iterate.h"

enum { SMALL = 4096 }; /* unknowns: below that a cycle is too short to gain */

/* The narrower type carries coefficients within these; residuals are scaled to 1 besides. */
static const double LARGE = 1e25, TINY = 1e-25;
/* Part of a smooth correction that rounding in the narrower type may spoil: where the choice is free, and at all, without and
   with an acceleration, which takes care of the few modes that a cycle then misses. Only the first cycle notices, what it
   leaves is rough: with smooth f one cycle at most is lost (2D; 0.05 at 2048^2: none, 0.11 at 3000^2: one; on an H200 0.2 at 4096^2
   and 0.81 at 8192^2: none, the residual falling to 0.8 in the first cycle and faster afterwards), and each takes 0.6 - 0.8 of the
   time. */
static const double LITTLE = 0.9, MUCH = 1, ACCELERATED = 20;
/* Full multigrid starts, of smooth f, u in the problem's type on the finest grid alone: 3% of the scheme's error come in by rounding
   at 0.7 (2D, 512^2), 20% at 5 (1024^2), once to twelve times as much at 42 (2048^2); below 0.1% in 3D (0.005 at 256^3, 0.03 at
   512^3). Levels beyond START are therefore treated as the finest grid is: u and its residual in the problem's type, corrections in
   the narrower one. */
static const double START = 1;
/* Contrast of beta beyond which corrections in the narrower type cost iterations: ball, 1e6, f = 1: 20 instead of 16. */
static const double CONTRAST = 1e5;

gmg_status gmg_check_precision(gmg_solver *s)
{
  const gmg_coefficients *c = &s->coefficients;
  const double norm = gmg_norm_of_A(s), most = norm + c->sigma_most, floor = gmg_low_floor(s);
  const double bearable = s->params.accel == GMG_ACCEL_NONE ? MUCH : ACCELERATED;
  static const char *const only = "params.precision = GMG_PRECISION_SAME takes it, where cycles compute in the problem's type only";
  if (most > LARGE || (norm > 0 && norm < TINY))
    return gmg_fail(s->context, GMG_ERR_UNSUPPORTED,
                    "problem.beta / h^2 (summed: %g), sigma (%g) or shift (%g) leave the range %g .. %g of corrections in the narrower "
                    "type; %s", norm, c->sigma_most, s->problem.shift, TINY, LARGE, only);
  if (c->beta_most > CONTRAST * c->beta_least)
    return gmg_fail(s->context, GMG_ERR_UNSUPPORTED, "problem.beta = %g .. %g: varies by more than the %g that corrections in the "
                    "narrower type bear; %s", c->beta_least, c->beta_most, CONTRAST, only);
  if (floor > bearable)
    return gmg_fail(s->context, GMG_ERR_UNSUPPORTED, "problem: nearly singular or very large, rounding in the narrower type would "
                    "spoil %.3g of a smooth correction (limit %g; shift = %g, sigma = %g .. %g, beta = %g .. %g); %s", floor, bearable,
                    s->problem.shift, c->sigma_least, c->sigma_most, c->beta_least, c->beta_most, only);
  return GMG_OK;
}

/* What stands against it whatever the coefficients. */
static gmg_status check_parameters(gmg_solver *s)
{
  const gmg_params *p = &s->params;
  static const char *const wish = "params.precision = GMG_PRECISION_MIXED";
  if (s->low_exec.type == s->problem.type)
    return gmg_fail(s->context, GMG_ERR_UNSUPPORTED, "%s: there is no narrower type than problem.type = %d", wish, (int)s->problem.type);
  const gmg_smoother_ops *ops = gmg_smoother_ops_of(p->smoother, &s->low_exec);
  if (!ops || !ops->sweep)
    return gmg_fail(s->context, GMG_ERR_UNSUPPORTED, "%s: params.smoother = \"%s\" has no functions for the narrower type", wish,
                    p->smoother->name ? p->smoother->name : "(no name)");
  return GMG_OK;
}

/* Where it gains and nobody notices anything else. A user's smoother is asked for the problem's type only, and plain CG is
   given a cycle that is symmetric to the last bits. */
static int pays(const gmg_solver *s)
{
  const gmg_params *p = &s->params;
  const size_t cells = s->finest->A.cells;
  return cells >= SMALL && p->max_levels != 1 && p->coarse_cells < cells && !s->symmetric &&
         gmg_builtin_of(p->smoother) && gmg_low_floor(s) <= LITTLE;
}

int gmg_start_is_spoiled(const gmg_solver *s, const gmg_operator *A) { return gmg_low_start(s, A) > START; }

/* Where the levels are, and what follows from that: all tables that depend on it. */
static void compute_in(gmg_solver *s, gmg_exec *e, const gmg_correction_ops *corrections)
{
  s->levels_exec = e;
  s->corrections = corrections;
  s->fmg = corrections->fmg;
  s->method = s->params.accel == GMG_ACCEL_NONE ? corrections->plain : &gmg_conjugate_gradients;
  s->mg.exec = e;
  s->mg.stencil = gmg_stencil_of(e);
  s->mg.smoother = gmg_smoother_ops_of(s->params.smoother, e);
  s->mg.fused = gmg_fused_of(s->params.smoother, e);
}

gmg_status gmg_choose_precision(gmg_solver *s)
{
  const gmg_precision wish = s->params.precision;
  gmg_status status = wish == GMG_PRECISION_SAME ? GMG_ERR_UNSUPPORTED : GMG_OK;
  s->low_exec = gmg_exec_make(s->context, gmg_type_traits_of(s->problem.type)->narrower, s->exec.dry);
  s->low_exec.owner = &s->exec;
  if (status == GMG_OK) status = check_parameters(s);
  if (status == GMG_OK) status = gmg_check_precision(s);
  if (wish == GMG_PRECISION_MIXED && status != GMG_OK) return status;
  if (status == GMG_OK && (wish == GMG_PRECISION_MIXED || pays(s))) compute_in(s, &s->low_exec, &gmg_low_type);
  else compute_in(s, &s->exec, &gmg_same_type);
  if (s->params.coarse_rtol == 0) s->params.coarse_rtol = gmg_type_traits_of(s->levels_exec->type)->coarse_rtol;
  s->context->error[0] = 0;
  return GMG_OK;
}
