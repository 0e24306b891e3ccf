/* gmg_plan(): runs create on a dry exec, and describes the result. Called through the API. */
#include "mg/iterate/iterate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
  gmg_warning bit;
  const char *text;
} warning_texts[] = {
#define WARNING_ROW(name, value, words) {name, words},
    GMG_WARNING_LIST(WARNING_ROW)
#undef WARNING_ROW
};

/* Whether two levels have couplings in the same proportions, and so the same factor. Of such levels only the finest is
   analysed. */
static int alike(const gmg_operator *a, const gmg_operator *b)
{
  const double scale_a = a->coupling[0] + a->coupling[1] + a->coupling[2];
  const double scale_b = b->coupling[0] + b->coupling[1] + b->coupling[2];
  int same = fabs(gmg_operator_reaction(a) / scale_a - gmg_operator_reaction(b) / scale_b) < 0.01;
  for (int i = 0; i < 3; i++)
    same = same && a->coarsened[i] == b->coarsened[i] &&
           fabs(a->coupling[i] / scale_a - b->coupling[i] / scale_b) < 0.01;
  return same;
}

static void describe_levels(const gmg_solver *s, gmg_plan_info *info)
{
  info->predicted_factor = s->levels_in_all > 1 ? 0 : NAN;
  for (int l = 0; l < s->levels_in_all; l++) {
    const gmg_operator *A = gmg_operator_of_level(s, l);
    gmg_level_plan *L = &info->level[l];
    *L = (gmg_level_plan){.cells = gmg_cells_of_all(A), .factor = NAN};
    for (int a = 0; a < 3; a++) L->n[a] = gmg_unknowns_along(A, a), L->h[a] = A->h[a], L->coarsened[a] = A->coarsened[a];
    if (l == s->levels_in_all - 1) continue;
    if (s->params.smoother->weight) L->omega = s->params.smoother->weight(A, &s->params);
    for (int k = 0; k < l && isnan(L->factor); k++)
      if (alike(A, gmg_operator_of_level(s, k))) L->factor = info->level[k].factor;
    if (isnan(L->factor)) L->factor = gmg_lfa_two_grid(A, &s->params, s->symmetric, 16);
    if (isnan(L->factor) || L->factor > info->predicted_factor) info->predicted_factor = L->factor; /* NaN is kept */
  }
}

/* Whether axes with very different couplings are coarsened together. */
static int anisotropy_left(const gmg_solver *s)
{
  for (int l = 0; l + 1 < s->levels_in_all; l++) {
    const gmg_operator *A = gmg_operator_of_level(s, l);
    double strongest = 0, weakest = INFINITY;
    for (int a = 0; a < 3; a++) {
      strongest = fmax(strongest, A->coupling[a]);
      if (A->coarsened[a]) weakest = fmin(weakest, A->coupling[a]);
    }
    if (weakest < 0.5 * strongest) return 1;
  }
  return 0;
}

/* Whether the coarse solver is made for grids like the coarsest. */
static int coarse_is_fast(const gmg_solver *s)
{
  const gmg_operator *A = gmg_operator_of_level(s, s->levels_in_all - 1);
  if (s->params.direct == GMG_DIRECT_ALWAYS) return 1;
  return s->coarse_ops->is_faster && s->coarse_ops->is_faster(s->context->backend, A->type, A->dim, A->n, 0);
}

static unsigned find_warnings(const gmg_solver *s, const gmg_plan_info *info)
{
  const size_t coarsest = gmg_operator_of_level(s, s->levels_in_all - 1)->cells;
  unsigned w = 0;
  const int direct = s->params.direct == GMG_DIRECT_ALWAYS;
  if (coarsest > 64 * s->coarse_ops->preferred_cells[s->context->backend] && !coarse_is_fast(s)) w |= GMG_WARN_COARSEST;
  if (anisotropy_left(s)) w |= GMG_WARN_ANISOTROPY;
  if (s->singular) w |= GMG_WARN_SINGULAR;
  if (info->predicted_factor > 0.5) w |= GMG_WARN_SMOOTHER;
  for (int a = 0; a < s->problem.dim && !direct; a++)
    if (s->medium.stretch[a] > GMG_STRETCH_LIMIT && !(gmg_exact_axes(&s->params) >> a & 1)) w |= GMG_WARN_STRETCH;
  if (s->level[0].A.face[0] && !direct && s->params.accel == GMG_ACCEL_NONE) w |= GMG_WARN_NO_ACCELERATION;
  if (s->params.rtol < info->floor && s->params.atol == 0) w |= GMG_WARN_TOLERANCE;
  return w;
}

static void write_warnings(gmg_plan_info *info)
{
  size_t used = 0;
  for (size_t i = 0; i < sizeof warning_texts / sizeof *warning_texts; i++) {
    if (!(info->warnings & warning_texts[i].bit)) continue;
    const int n = snprintf(info->text + used, sizeof info->text - used, "%s\n", warning_texts[i].text);
    used += (size_t)n < sizeof info->text - used ? (size_t)n : 0;
  }
}

static void describe_choices(const gmg_solver *s, gmg_plan_info *info)
{
  const gmg_params *p = &s->params;
  info->accel = p->accel, info->cycle = p->cycle, info->precision = s->corrections->precision;
  info->smoother = p->smoother, info->line_axes = (int)gmg_exact_axes(p);
  info->coarsening = p->coarsening, info->coarse = p->coarse, info->direct = p->direct == GMG_DIRECT_ALWAYS;
  info->local = p->async.local, info->order = p->async.order, info->overlap = p->async.overlap;
  info->over_correction = p->over_correction;
  info->fmg = p->fmg, info->pre = p->pre, info->post = p->post;
  info->max_cycles = p->max_cycles, info->check_every = p->check_every;
  info->halos = s->parts ? p->halos : GMG_HALOS_AUTO;
  for (int a = 0; a < 3 && s->parts; a++) info->halo[a] = gmg_is_cut(s->part, a) ? (size_t)s->part->ghosts + 1 : 0;
}

static void describe(const gmg_solver *s, gmg_plan_info *info)
{
  info->levels = s->levels_in_all;
  info->bytes = s->exec.bytes;
  info->singular = s->singular;
  info->stretch = gmg_worst_stretch(&s->medium);
  info->margin = s->coefficients.spectrum.smallest;
  describe_choices(s, info);
  info->floor = gmg_floor_estimate(s);
  describe_levels(s, info);
  info->warnings = find_warnings(s, info);
  write_warnings(info);
}

gmg_status gmg_plan_sized(gmg_context *context, const gmg_problem *problem, const gmg_params *params, gmg_plan_info *to,
                          size_t size)
{
  gmg_plan_info info = {0};
  if (!context) return GMG_ERR_ARGUMENT;
  const gmg_status ready = to ? gmg_check_process(context, "gmg_plan", 0) : gmg_fail(context, GMG_ERR_ARGUMENT, "info is NULL");
  GMG_TRY(gmg_agree(context, ready));
  GMG_WITH_DEVICE(context);
  gmg_solver *s = calloc(1, sizeof *s);
  if (!s) return gmg_fail(context, GMG_ERR_MEMORY, "plan could not be allocated");
  const gmg_status status = gmg_status_or_failure(s, gmg_solver_build(s, context, problem, params, 1));
  if (status == GMG_OK) describe(s, &info);
  gmg_give_struct(&info, sizeof info, to, size);
  gmg_solver_release(s);
  free(s);
  return status;
}
