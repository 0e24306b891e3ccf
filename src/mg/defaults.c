/* Default problem, parameters and presets, as described in gmg.h, and what zeros and GMG_NONE stand for. Called through the API,
   and by check.c. */
#include "solver.h"

#include "stencil/grid/axis.h"

#include <math.h>
#include <string.h>

static const char default_smoother[] = "async";

int gmg_is_default_smoother(const gmg_smoother *s) { return !s || s == gmg_smoother_by_name(default_smoother); }

void gmg_problem_init(gmg_problem *problem, size_t size, int dim, const size_t n[])
{
  gmg_problem p = {.size = size, .dim = dim};
  for (int a = 0; a < 3; a++) {
    p.n[a] = a >= dim ? 1 : n ? n[a] : 0; /* 0 is refused later */
    p.h[a] = 1 / (double)(p.n[a] ? p.n[a] : 1);
    for (int side = 0; side < 2; side++) p.robin[a][side][0] = p.robin[a][side][1] = 1;
  }
  if (problem) gmg_give_struct(&p, sizeof p, problem, size);
}

void gmg_problem_set_box(gmg_problem *p, const double length[])
{
  for (int a = 0; p && a < p->dim && a < 3; a++) {
    const size_t m = gmg_problem_intervals(p, a);
    p->h[a] = (length ? length[a] : 1) / (double)(m ? m : 1);
    if (length && length[a] == 0) p->h[a] = NAN; /* NaN is refused later; 0 would mean a length of 1 */
  }
}

gmg_problem gmg_problem_resolved(const gmg_problem *given)
{
  gmg_problem p = *given;
  for (int a = 0; a < 3; a++) {
    if (a >= p.dim) p.n[a] = 1;
    const size_t m = gmg_problem_intervals(&p, a);
    if (p.h[a] == 0 && !p.coord[a]) p.h[a] = 1 / (double)(m ? m : 1);
    for (int side = 0; side < 2; side++)
      if (p.robin[a][side][0] == 0 && p.robin[a][side][1] == 0) p.robin[a][side][0] = p.robin[a][side][1] = 1;
  }
  return p;
}

/* The members that belong to no smoother. */
const gmg_option gmg_cycle_options[] = {GMG_OPTION(COUNT, fmg, 0, 1, 100),
                                        GMG_OPTION(COUNT, pre, 1, 1, 100),
                                        GMG_OPTION(COUNT, post, 1, 1, 100),
                                        GMG_OPTION(INT, symmetric, 0, 0, 1),
                                        GMG_OPTION(INT, max_levels, 0, 0, GMG_MAX_LEVELS),
                                        GMG_OPTION(COUNT, max_cycles, 100, 1, 1000000),
                                        GMG_OPTION(COUNT, check_every, 0, 1, 1000000),
                                        GMG_OPTION(INT, report_level_times, 0, 0, 1),
                                        GMG_ENUM_OPTION(cycle, cycle, GMG_CYCLE_AUTO),
                                        GMG_ENUM_OPTION(restriction, restriction, GMG_RESTRICT_AUTO),
                                        GMG_ENUM_OPTION(coarsening, coarsening, GMG_COARSENING_AUTO),
                                        GMG_ENUM_OPTION(accel, accel, GMG_ACCEL_AUTO),
                                        GMG_ENUM_OPTION(coarse, coarse, GMG_COARSE_CG),
                                        GMG_ENUM_OPTION(direct, direct, GMG_DIRECT_NEVER),
                                        GMG_ENUM_OPTION(precision, precision, GMG_PRECISION_AUTO),
                                        GMG_ENUM_OPTION(halos, halos, GMG_HALOS_AUTO),
                                        GMG_OPTION(DOUBLE, over_correction, 0, 0, 2),
                                        GMG_OPTION(DOUBLE, coarse_rtol, 0, 0, 1),
                                        GMG_OPTION(DOUBLE, coarsen_threshold, 0.6, 0, 1.0000001),
                                        GMG_OPTION(DOUBLE, rtol, 0, 0, INFINITY),
                                        GMG_OPTION(DOUBLE, atol, 0, 0, INFINITY),
                                        {0}};

gmg_params gmg_params_resolved(const gmg_params *given, const gmg_problem *problem)
{
  gmg_params p = *given;
  const int array = problem->beta || problem->beta_face[0], merges_cells = problem->stencil && problem->centering == GMG_CELL;
  gmg_options_resolve(gmg_cycle_options, &p);
  gmg_smoothers_resolve(problem, &p);
  const int symmetric = p.symmetric || p.accel == GMG_ACCEL_CG; /* F cycles are not symmetric */
  if (p.cycle == GMG_CYCLE_AUTO) p.cycle = (array || merges_cells) && !symmetric ? GMG_CYCLE_F : GMG_CYCLE_V;
  const gmg_medium medium = gmg_medium_of(problem);
  if (p.accel == GMG_ACCEL_AUTO)
    p.accel = array || gmg_worst_stretch(&medium) > GMG_STRETCH_LIMIT ? GMG_ACCEL_FLEXIBLE_CG : GMG_ACCEL_NONE;
  if (given->coarse == GMG_COARSE_AUTO && gmg_operator_kind_of(problem) != &gmg_seven_point) p.coarse = GMG_COARSE_DENSE;
  if (given->check_every == 0) p.check_every = 1; /* precision.c may choose more */
  if (p.rtol == 0) p.rtol = gmg_type_traits_of(problem->type)->rtol;
  if (!p.async.seed) p.async.seed = 1;
  if (!p.smoother) p.smoother = gmg_smoother_by_name(default_smoother);
  return p;
}

static void use_default_preset(gmg_params *q)
{
  gmg_set_default_options(q);
  q->smoother = NULL;
}

int gmg_leaves_smoother_open(const gmg_params *given)
{
  static const gmg_async_params zeros;
  gmg_params usual;
  gmg_params_init(&usual, sizeof usual);
  return !given->smoother && (memcmp(&given->async, &zeros, sizeof zeros) == 0 ||
                              memcmp(&given->async, &usual.async, sizeof usual.async) == 0);
}

/* The first preset is the default. Those of the smoothers follow. */
static const char default_name[] = "default";

const char *gmg_preset_name(int i)
{
  const gmg_preset *p = i > 0 ? gmg_preset_at(i - 1) : NULL;
  return i == 0 ? default_name : p ? p->name : NULL;
}

gmg_status gmg_params_set_preset(gmg_params *params, const char *name)
{
  int i = 0;
  while (name && gmg_preset_name(i) && strcmp(gmg_preset_name(i), name) != 0) i++;
  if (!params || !name || !gmg_preset_name(i)) return GMG_ERR_ARGUMENT;
  const size_t size = params->size && params->size < sizeof *params ? params->size : sizeof *params;
  gmg_params q = {0};
  memcpy(&q, params, size);
  use_default_preset(&q);
  if (i > 0) gmg_preset_at(i - 1)->use(&q);
  memcpy(params, &q, size);
  return GMG_OK;
}

void gmg_params_init(gmg_params *params, size_t size)
{
  gmg_params q = {.size = size, .async = {.seed = 1}};
  gmg_options_set_default(gmg_cycle_options, &q);
  use_default_preset(&q);
  if (params) gmg_give_struct(&q, sizeof q, params, size);
}
