/* The effective right-hand side: f with boundary values folded in, and with zero mean if the problem is singular. Called by solve
   and by API calls. */
#include "iterate.h"

#include <math.h>

double gmg_rounding_of_mean(const gmg_solver *s)
{
  return 64 * gmg_type_traits_of(s->problem.type)->epsilon * sqrt((double)gmg_cells_of_all(&s->finest->A));
}

/* f_eff = f without its mean, which is returned; f may be f_eff. Sets *norm to the norm of the rest. What is left of a constant f
   is rounding, not data, and is set to 0. A norm that overflows is left for the solve to refuse. */
static double remove_mean(gmg_solver *s, const gmg_level *L, const void *f, double *norm)
{
  const gmg_deviation rest = s->grid->take_mean(&s->exec, &L->A, L->volume, f, s->f_eff);
  *norm = gmg_without_ghosts(&s->exec, &L->A, s->f_eff, rest.norm);
  if (gmg_is_rest_rounding(*norm, rest.mean, gmg_rounding_of_mean(s))) {
    s->vector->fill(&s->exec, L->A.cells, 0, s->f_eff);
    *norm = 0;
  }
  return rest.mean;
}

const void *gmg_current_rhs(const gmg_solver *s, const void *f) { return s->has_boundary_values || s->singular ? s->f_eff : f; }

const void *gmg_packed_rhs(gmg_solver *s, const void *f)
{
  if (f == s->f_eff || gmg_is_packed(s->layouts.f)) return f;
  gmg_array_copy(&s->exec, s->layouts.f, f, s->layouts_with_f_eff.f, s->f_eff);
  return s->f_eff;
}

/* Whether f has neither boundary values nor gaps. */
static int is_plain(const gmg_solver *s) { return !s->has_boundary_values && gmg_is_packed(s->layouts.f); }

/* f_eff = f with boundary values. Returns where the result is: a plain f itself. */
static const void *with_boundary_values(gmg_solver *s, const void *f)
{
  const gmg_level *L = s->finest;
  if (is_plain(s)) return f;
  gmg_array_copy(&s->exec, s->layouts.f, f, s->layouts_with_f_eff.f, s->f_eff);
  if (s->has_boundary_values) s->grid->fold(&s->exec, &L->A, &L->faces, s->f_eff);
  return s->f_eff;
}

int gmg_can_take_means(const gmg_solver *s)
{
  return s->singular && !s->parts && s->grid->take_means && gmg_is_packed(s->layouts.u);
}

/* With low precision only residuals read f, and they subtract its mean. */
const void *gmg_rhs_of_means(const gmg_solver *s, const void *f)
{
  return s->scales && is_plain(s) ? f : s->f_eff;
}

void gmg_take_means(gmg_solver *s, const void *f, void *u)
{
  const gmg_level *L = s->finest;
  gmg_scale *scale = s->scales ? &s->scales->residual : NULL;
  s->grid->take_means(&s->exec, &L->A, L->volume, with_boundary_values(s, f), s->f_eff, scale, u);
  s->f_keeps_mean = scale != NULL;
}

/* Residuals are again those of f as it is. */
static void forget_mean(gmg_solver *s)
{
  static const double none = 0;
  if (s->f_keeps_mean) s->exec.memory->upload(s->context, &s->scales->residual.mean, &none, sizeof none);
  s->f_keeps_mean = 0;
}

const void *gmg_effective_rhs(gmg_solver *s, const void *f, double *mean_removed, double *norm)
{
  const gmg_level *L = s->finest;
  forget_mean(s);
  if (mean_removed) *mean_removed = 0, *norm = NAN;
  if (gmg_current_rhs(s, f) == f) return f;
  const void *rhs = with_boundary_values(s, f);
  if (s->singular && mean_removed) {
    *mean_removed = remove_mean(s, L, rhs, norm);
    return s->f_eff;
  }
  if (rhs == f) gmg_array_copy(&s->exec, s->layouts.f, f, s->layouts_with_f_eff.f, s->f_eff);
  gmg_project(s, &s->exec, L, s->f_eff);
  return s->f_eff;
}
