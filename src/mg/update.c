/* gmg_solver_update(): new coefficients on the same mesh, without allocations. Called through the API. */
#include "mg/iterate/iterate.h"
#include "mg/parts/parts.h"

#include <stdio.h>
#include <string.h>

/* Refuses a member that differs from the solver's. The text has both values. */
static gmg_status refuse(gmg_context *c, const char *field, const char *now, const char *before)
{
  return gmg_fail(c, GMG_ERR_ARGUMENT,
                  "problem.%s = %s differs from the solver's %s: only the shift, the stencil's entries and the values of "
                  "beta, beta_face and sigma may change",
                  field, now, before);
}

/* The text has as many digits as the two numbers need to differ. */
static gmg_status compare(gmg_context *c, const char *field, double now, double before)
{
  char texts[2][40];
  if (now == before) return GMG_OK;
  for (int digits = 6; digits <= 17; digits += 11) {
    snprintf(texts[0], sizeof texts[0], "%.*g", digits, now), snprintf(texts[1], sizeof texts[1], "%.*g", digits, before);
    if (strcmp(texts[0], texts[1]) != 0) break;
  }
  return refuse(c, field, texts[0], texts[1]);
}

static gmg_status compare_names(gmg_context *c, const char *field, int now, int before, const gmg_names *names)
{
  return now == before ? GMG_OK : refuse(c, field, gmg_name_of(names, now), gmg_name_of(names, before));
}

/* what: the value that is not NULL, with its article: "an array" */
static gmg_status compare_presence(gmg_context *c, const char *field, const char *what, const void *now, const void *before)
{
  return !now == !before ? GMG_OK : refuse(c, field, now ? what : "NULL", before ? strchr(what, ' ') + 1 : "NULL");
}

static gmg_status compare_axis(gmg_context *c, const gmg_problem *now, const gmg_problem *before, int a)
{
  const gmg_axis_spec spec = gmg_axis_spec_of(before, a);
  char field[60];
#define FIELD(...) (snprintf(field, sizeof field, __VA_ARGS__), field)
  GMG_TRY(compare(c, FIELD("n[%d]", a), (double)now->n[a], (double)before->n[a]));
  for (int side = 0; side < 2; side++) {
    GMG_TRY(compare_names(c, FIELD("bc[%d][%d]", a, side), (int)now->bc[a][side], (int)before->bc[a][side], &gmg_bc_names));
    for (int i = 0; i < 2 && before->bc[a][side] == GMG_ROBIN; i++)
      GMG_TRY(compare(c, FIELD("robin[%d][%d][%d]", a, side, i), now->robin[a][side][i], before->robin[a][side][i]));
  }
  GMG_TRY(compare_presence(c, FIELD("coord[%d]", a), "an array", gmg_axis_spec_of(now, a).coord, spec.coord));
  if (!spec.coord) GMG_TRY(compare(c, FIELD("h[%d]", a), now->h[a], before->h[a]));
  for (size_t i = 0; i <= spec.mesh && spec.coord; i++)
    if (now->coord[a][i] != spec.coord[i]) return compare(c, FIELD("coord[%d][%zu]", a, i), now->coord[a][i], spec.coord[i]);
  return compare_presence(c, FIELD("beta_face[%d]", a), "an array", now->beta_face[a], before->beta_face[a]);
#undef FIELD
}

static gmg_status compare_layouts(gmg_context *c, const char *name, gmg_array now, gmg_array before)
{
  const size_t planes[2] = {gmg_pitch(now.layout, 2), gmg_pitch(before.layout, 2)};
  const size_t values[3][2] = {{now.layout.row, before.layout.row}, {planes[0], planes[1]}, {now.skipped, before.skipped}};
  static const char *const members[3] = {"row", "plane", "first"};
  char field[40];
  for (int i = 0; i < 3; i++) {
    snprintf(field, sizeof field, "%s.%s", name, members[i]);
    GMG_TRY(compare(c, field, (double)values[i][0], (double)values[i][1]));
  }
  return GMG_OK;
}

/* Entries that vary stay arrays, and constant ones stay numbers. */
static gmg_status compare_stencils(gmg_context *c, const gmg_stencil *now, const gmg_stencil *before)
{
  char field[40];
  GMG_TRY(compare_presence(c, "stencil", "a stencil", now, before));
  for (int e = 0; now && e < 27; e++) {
    snprintf(field, sizeof field, "stencil->array[%d][%d][%d]", e / 9, e / 3 % 3, e % 3);
    GMG_TRY(compare_presence(c, field, "an array", (&now->array[0][0][0])[e], (&before->array[0][0][0])[e]));
  }
  return GMG_OK;
}

/* Refuses a problem that differs in more than the values of its coefficients. */
static gmg_status compare_problems(gmg_context *c, const gmg_problem *now, const gmg_problem *before)
{
  GMG_TRY(compare(c, "dim", now->dim, before->dim));
  GMG_TRY(compare_names(c, "type", (int)now->type, (int)before->type, &gmg_type_names));
  GMG_TRY(compare_names(c, "centering", (int)now->centering, (int)before->centering, &gmg_centering_names));
  for (int a = 0; a < before->dim; a++) GMG_TRY(compare_axis(c, now, before, a));
  GMG_TRY(compare_layouts(c, "f_layout", gmg_array_of_f(now, NULL), gmg_array_of_f(before, NULL)));
  GMG_TRY(compare_layouts(c, "u_layout", gmg_array_of_u(now, NULL), gmg_array_of_u(before, NULL)));
  for (int a = 0; a < before->dim; a++)
    GMG_TRY(compare(c, a == 0 ? "halo[0]" : a == 1 ? "halo[1]" : "halo[2]", (double)now->halo[a], (double)before->halo[a]));
  GMG_TRY(compare_presence(c, "beta", "an array", now->beta, before->beta));
  GMG_TRY(compare_stencils(c, now->stencil, before->stencil));
  return compare_presence(c, "sigma", "an array", now->sigma, before->sigma);
}

void gmg_set_typical(gmg_level *L, int l, const gmg_problem *p, const gmg_coefficients *found)
{
  double typical[3];
  for (int a = 0; a < 3; a++) typical[a] = L->scale * found->beta_mean[a];
  L->A.shift = L->scale * (gmg_operator_shift(p) + found->spectrum.correction[l]);
  gmg_operator_set_typical(&L->A, L->unit_coupling, L->unit_reaction_from_walls, typical);
}

/* Whether the solver of the coarsest grid takes new entries of a stencil. Other coefficients make no difference to it. */
static gmg_status check_coarsest(gmg_solver *s, const gmg_problem *p)
{
  const char *why_not = p->stencil && s->coarse_ops->refuses ? s->coarse_ops->refuses(p) : NULL;
  if (!why_not) return GMG_OK;
  return gmg_fail(s->context, GMG_ERR_UNSUPPORTED, "%s: the solver was created for direct solution (params.direct, params.coarse)",
                  why_not);
}

/* Whether corrections can still be computed in this precision. Leaves the solver as it was. */
static gmg_status check_corrections(gmg_solver *s, const gmg_problem *p, const gmg_coefficients *found)
{
  const gmg_problem before = s->problem;
  const gmg_coefficients found_before = s->coefficients;
  s->problem.shift = p->shift, s->problem.stencil = p->stencil, s->coefficients = *found;
  gmg_set_typical(s->finest, 0, p, found);
  const gmg_status status = s->corrections->check ? s->corrections->check(s) : GMG_OK;
  s->problem = before, s->coefficients = found_before;
  gmg_set_typical(s->finest, 0, &before, &found_before);
  return status;
}

static gmg_status take_coefficients(gmg_solver *s, const gmg_problem *p, const gmg_coefficients *found)
{
  gmg_forget_recordings(s);
  s->problem.shift = p->shift;
  if (p->stencil) s->box = *p->stencil;
  s->coefficients = *found;
  gmg_set_typical(&s->level[0], 0, p, found);
  gmg_update_over_correction(s);
  for (int l = 1; l < s->levels; l++) gmg_set_typical(&s->level[l], l, p, found);
  for (int l = 0; l < s->outer_levels; l++) gmg_set_typical(&s->outer[l], l, p, found);
  s->singular = gmg_is_singular(&s->problem, found);
  gmg_load_coefficients(s, p);
  GMG_TRY(gmg_update_smoothers(s));
  return gmg_bottoms_update(s);
}

/* Refuses solves until another update succeeds, and adds this to the error text. */
static void refuse_solves(gmg_solver *s)
{
  char *error = s->context->error;
  const size_t used = strlen(error);
  snprintf(error + used, sizeof s->context->error - used, "; solves are refused until another update succeeds");
  s->update_failed = 1;
}

/* Takes new coefficients. If that fails, restores the old shift and stencil. If there are arrays, which are overwritten, or if the
   smoother fails again, nothing can be restored, and solves are refused. The text is that of the first failure. */
static gmg_status replace_coefficients(gmg_solver *s, const gmg_problem *p, const gmg_coefficients *found)
{
  gmg_problem before = s->problem;
  const gmg_stencil box = s->box;
  if (before.stencil) before.stencil = &box;
  const gmg_coefficients found_before = s->coefficients;
  const int arrays = p->beta || p->beta_face[0] || p->sigma || s->finest->A.kind->is_galerkin;
  const gmg_status status = gmg_status_or_failure(s, take_coefficients(s, p, found));
  char text[sizeof s->context->error];
  s->update_failed = 0;
  if (status == GMG_OK) return GMG_OK;
  memcpy(text, s->context->error, sizeof text);
  const int is_back = !arrays && take_coefficients(s, &before, &found_before) == GMG_OK;
  memcpy(s->context->error, text, sizeof text);
  if (!is_back) refuse_solves(s);
  return status;
}

/* All that does not read the arrays. */
static gmg_status check_given(gmg_solver *s, const gmg_problem *given, gmg_problem *resolved, gmg_stencil *stencil)
{
  GMG_TRY(gmg_check_idle(s, "gmg_solver_update"));
  GMG_TRY(gmg_check_problem(s->context, given, resolved, stencil));
  const gmg_problem mine = gmg_as_mine(s, resolved);
  if (s->parts) GMG_TRY(gmg_check_layouts(s->context, &mine));
  return compare_problems(s->context, resolved, &s->problem);
}

gmg_status gmg_solver_update(gmg_solver *s, const gmg_problem *given)
{
  gmg_coefficients found;
  gmg_problem resolved;
  gmg_stencil stencil;
  const gmg_problem *problem = &resolved;
  if (!s) return GMG_ERR_ARGUMENT;
  GMG_TRY(gmg_agree(s->context, check_given(s, given, &resolved, &stencil)));
  GMG_TRY(gmg_check_same(s->context, &resolved, &s->params));
  GMG_WITH_DEVICE(s->context);
  GMG_RUNNING(s, "gmg_solver_update");
  const gmg_problem mine = gmg_as_mine(s, problem);
  const gmg_status checked = gmg_agree(s->context, gmg_check_coefficients(&s->exec, problem, &mine, s->part, &found));
  GMG_TRY(gmg_status_or_failure(s, checked)); /* on a failed device everything reads as NaN */
  GMG_TRY(gmg_check_symmetry(s, problem, &found));
  GMG_TRY(gmg_find_spectrum(s, problem, &found));
  GMG_TRY(check_coarsest(s, problem));
  GMG_TRY(check_corrections(s, problem, &found));
  return replace_coefficients(s, &mine, &found);
}
