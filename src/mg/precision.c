/* Whether corrections are computed in the narrower type: half the bytes and twice the lanes, under a residual in the
   problem's type. */
#include "solver.h"

enum { SMALL = 4096 }; /* unknowns: below that a cycle is too short to gain */

/* The narrower type carries coefficients within these; residuals are scaled to 1 besides. */
static const double LARGE = 1e25, TINY = 1e-25;
/* Part of a smooth correction that rounding in the narrower type may spoil: where the choice is free, and at all. Only the
   first cycle notices, what it leaves is rough: at 0.05 (2D, 2048^2, smooth f) no cycle is lost, at 0.11 (3000^2) one. */
static const double LITTLE = 0.1, MUCH = 0.25;
/* Contrast of beta beyond which corrections in the narrower type cost iterations: ball, 1e6, f = 1: 20 instead of 16. */
static const double CONTRAST = 1e5;

static gmg_status refuse(gmg_solver *s, const char *what, const char *why, double value)
{
  return gmg_fail(s->context, GMG_ERR_UNSUPPORTED,
                  "%s: params.precision = GMG_PRECISION_MIXED cannot be, because %s (%g); GMG_PRECISION_SAME can", what, why, value);
}

gmg_status gmg_check_precision(gmg_solver *s, const char *what)
{
  const double norm = gmg_norm_of_A(s), floor = gmg_narrow_floor(s);
  if (norm > LARGE) return refuse(s, what, "beta / h^2 is too large for the narrower type", norm);
  if (norm < TINY) return refuse(s, what, "beta / h^2 is too small for the narrower type", norm);
  if (floor > MUCH) return refuse(s, what, "the narrower type's rounding would spoil the corrections", floor);
  return GMG_OK;
}

/* What stands against it whatever the coefficients. */
static gmg_status check_parameters(gmg_solver *s)
{
  const gmg_type_traits *type = gmg_type_traits_of(s->problem.type);
  const gmg_params *p = &s->params;
  if (!type->has_narrower)
    return refuse(s, "problem.type", "there is no narrower type", (double)s->problem.type);
  if (p->fmg > 0) return refuse(s, "params.fmg", "a full multigrid start needs the accuracy of the problem's type", p->fmg);
  const gmg_smoother_ops *ops = gmg_smoother_ops_of(p->smoother, &s->narrow_exec);
  if (!ops || !ops->sweep) return refuse(s, "params.smoother", "it has no functions for the narrower type", (double)type->narrower);
  return GMG_OK;
}

/* Where it gains and nobody notices anything else. A user's smoother is asked for the problem's type only, and plain CG is
   given a cycle that is symmetric to the last bits. */
static int pays(const gmg_solver *s)
{
  const gmg_params *p = &s->params;
  return s->top->A.cells >= SMALL && p->max_levels != 1 && !s->symmetric && gmg_smoother_is_builtin(p->smoother) &&
         gmg_narrow_floor(s) <= LITTLE && s->found.beta_most <= CONTRAST * s->found.beta_least;
}

gmg_status gmg_choose_precision(gmg_solver *s)
{
  const gmg_precision wish = s->params.precision;
  gmg_status status = wish == GMG_PRECISION_SAME ? GMG_ERR_UNSUPPORTED : GMG_OK;
  s->narrow_exec = gmg_exec_make(s->context, gmg_type_traits_of(s->problem.type)->narrower, s->exec.dry);
  s->narrow_exec.also = &s->exec;
  if (status == GMG_OK) status = check_parameters(s);
  if (status == GMG_OK) status = gmg_check_precision(s, "params.precision");
  if (wish == GMG_PRECISION_MIXED && status != GMG_OK) return status;
  s->mixed = status == GMG_OK && (wish == GMG_PRECISION_MIXED || pays(s));
  s->levels_exec = s->mixed ? &s->narrow_exec : &s->exec;
  s->levels_stencil = gmg_stencil_of(s->levels_exec);
  s->smoother = gmg_smoother_ops_of(s->params.smoother, s->levels_exec);
  if (s->params.coarse_rtol == 0) s->params.coarse_rtol = gmg_type_traits_of(s->levels_exec->type)->coarse_rtol;
  s->context->error[0] = 0;
  return GMG_OK;
}
