/* Default problem, parameters and presets, as described in gmg.h. Called through the API. */
#include "smoothers/smoother.h"
#include "stencil/grid/axis.h"

#include <string.h>

gmg_problem gmg_problem_default(int dim, const size_t n[])
{
  gmg_problem p = {.dim = dim, .centering = GMG_CELL, .type = GMG_F64};
  for (int a = 0; a < 3; a++) {
    p.n[a] = a >= dim ? 1 : n ? n[a] : 0; /* 0 is refused later */
    p.h[a] = 1 / (double)(p.n[a] ? p.n[a] : 1);
    for (int side = 0; side < 2; side++) {
      p.bc[a][side] = GMG_DIRICHLET;
      p.robin[a][side][0] = p.robin[a][side][1] = 1;
    }
  }
  return p;
}

void gmg_problem_set_box(gmg_problem *p, const double length[])
{
  for (int a = 0; p && a < p->dim && a < 3; a++) {
    const gmg_axis_spec s = gmg_axis_spec_of(p, a);
    const size_t m = gmg_axis_intervals(&s);
    p->h[a] = length ? length[a] / (double)(m ? m : 1) : 0; /* 0 is refused later */
  }
}

static void use_default(gmg_params *q)
{
  gmg_set_default_options(q);
  q->smoother = gmg_smoother_by_name("async");
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
  use_default(params);
  if (i > 0) gmg_preset_at(i - 1)->use(params);
  return GMG_OK;
}

gmg_params gmg_params_default(void)
{
  gmg_params q = {.cycle = GMG_CYCLE_AUTO,
                  .pre = 1,
                  .post = 1,
                  .seed = 1,
                  .accel = GMG_ACCEL_AUTO,
                  .coarse = GMG_COARSE_CG,
                  .max_cycles = 100,
                  .check_every = 1,
                  .precision = GMG_PRECISION_AUTO};
  use_default(&q);
  return q;
}
