/* gmg_solver_update(): new coefficients on the same mesh, without allocations. Called through the API. */
#include "mg/iterate/iterate.h"

#include <stdio.h>
#include <string.h>

static int same_positions(const gmg_axis_spec *a, const double *b)
{
  if (!a->coord || !b) return a->coord == b;
  for (size_t i = 0; i <= a->mesh; i++)
    if (a->coord[i] != b[i]) return 0;
  return 1;
}

/* The name of a field of the new problem that must not differ but does, or NULL. */
static const char *difference(const gmg_problem *a, const gmg_problem *b)
{
  if (a->dim != b->dim) return "dim";
  if (a->type != b->type) return "type";
  if (a->centering != b->centering) return "centering";
  for (int i = 0; i < a->dim; i++) {
    if (a->n[i] != b->n[i]) return "n";
    if (!a->coord[i] && a->h[i] != b->h[i]) return "h";
    for (int side = 0; side < 2; side++) {
      if (a->bc[i][side] != b->bc[i][side]) return "bc";
      if (a->bc[i][side] == GMG_ROBIN && (a->robin[i][side][0] != b->robin[i][side][0] ||
                                          a->robin[i][side][1] != b->robin[i][side][1]))
        return "robin";
    }
    const gmg_axis_spec spec = gmg_axis_spec_of(a, i);
    if (!a->coord[i] != !gmg_axis_spec_of(b, i).coord || (a->coord[i] && !same_positions(&spec, b->coord[i]))) return "coord";
    if (!a->beta_face[i] != !b->beta_face[i]) return "beta_face (set or not)";
  }
  if (!a->beta != !b->beta) return "beta (set or not)";
  if (!a->sigma != !b->sigma) return "sigma (set or not)";
  return NULL;
}

static void take_typical(gmg_level *L, double shift, const gmg_coefficients *found)
{
  L->A.shift = shift;
  gmg_operator_set_typical(&L->A, L->coupling1, L->reaction_from_walls1, found->beta_mean);
}

/* Whether corrections can still be computed in this precision. The solver is unchanged. */
static gmg_status check_corrections(gmg_solver *s, const gmg_problem *p, const gmg_coefficients *found)
{
  const gmg_problem before = s->problem;
  const gmg_coefficients found_before = s->coefficients;
  s->problem.shift = p->shift, s->coefficients = *found;
  take_typical(s->finest, p->shift, found);
  const gmg_status status = s->corrections->check ? s->corrections->check(s) : GMG_OK;
  s->problem = before, s->coefficients = found_before;
  take_typical(s->finest, before.shift, &found_before);
  return status;
}

static gmg_status take_coefficients(gmg_solver *s, const gmg_problem *p, const gmg_coefficients *found)
{
  gmg_forget_recordings(s);
  s->problem.shift = p->shift;
  s->coefficients = *found;
  for (int l = 0; l < s->levels; l++) take_typical(&s->level[l], p->shift, found);
  for (int l = 0; l < s->refined_levels; l++) take_typical(&s->refined[l], p->shift, found);
  s->singular = gmg_is_singular(&s->problem, found->sigma_most);
  gmg_load_coefficients(s, p);
  GMG_TRY(gmg_update_smoothers(s));
  return gmg_bottoms_update(s);
}

/* Says that the solver is lost until another update succeeds, after the text that is there. */
static void lose(gmg_solver *s)
{
  char *error = s->context->error;
  const size_t used = strlen(error);
  snprintf(error + used, sizeof s->context->error - used, "; solves are refused until another update succeeds");
  s->update_failed = 1;
}

/* New coefficients, or else those of before. Arrays of before are gone, and a smoother that failed may fail again: the solver is then
   lost. The first failure's text stays. */
static gmg_status replace_coefficients(gmg_solver *s, const gmg_problem *p, const gmg_coefficients *found)
{
  const gmg_problem before = s->problem;
  const gmg_coefficients found_before = s->coefficients;
  const int arrays = p->beta || p->beta_face[0] || p->sigma;
  const gmg_status status = gmg_status_or_failure(s, take_coefficients(s, p, found));
  char text[sizeof s->context->error];
  s->update_failed = 0;
  if (status == GMG_OK) return GMG_OK;
  memcpy(text, s->context->error, sizeof text);
  const int is_back = !arrays && take_coefficients(s, &before, &found_before) == GMG_OK;
  memcpy(s->context->error, text, sizeof text);
  if (!is_back) lose(s);
  return status;
}

gmg_status gmg_solver_update(gmg_solver *s, const gmg_problem *problem)
{
  gmg_coefficients found;
  if (!s) return GMG_ERR_ARGUMENT;
  GMG_TRY(gmg_check_idle(s, "gmg_solver_update"));
  GMG_TRY(gmg_check_problem(s->context, problem));
  GMG_VISIT(s->context);
  GMG_RUNNING(s, "gmg_solver_update");
  const char *what = difference(&s->problem, problem);
  if (what)
    return gmg_fail(s->context, GMG_ERR_ARGUMENT, "problem.%s differs from the solver's: only the shift and the values of "
                    "beta, beta_face and sigma may change", what);
  const gmg_status checked = gmg_check_coefficients(&s->exec, problem, &found);
  GMG_TRY(gmg_status_or_failure(s, checked)); /* on a failed device everything reads as NaN */
  GMG_TRY(check_corrections(s, problem, &found));
  return replace_coefficients(s, problem, &found);
}
