/* Default problem and parameters, as gmg.h states them. */
#include "stencil/grid/axis.h"
#include "gmg.h"

#include <string.h>

gmg_problem gmg_problem_default(int dim, const size_t n[])
{
  gmg_problem p = {.dim = dim, .centering = GMG_CELL, .type = GMG_F64};
  for (int a = 0; a < 3; a++) {
    p.n[a] = n && a < dim ? n[a] : 1;
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
  for (int a = 0; p && length && a < p->dim && a < 3; a++) {
    const gmg_axis_spec s = gmg_axis_spec_of(p, a);
    const size_t m = gmg_axis_intervals(&s);
    p->h[a] = length[a] / (double)(m ? m : 1);
  }
}

/* Parameters of smoothing; what is not named is 0: natural order, assignment as is best, as many blocks at once as fit. */
typedef struct {
  const char *name, *smoother;
  gmg_local_kind local;
  int local_sweeps, overlap, passes;
  size_t block[3];
  double omega;
} preset;

static const preset presets[] = {{"default", "async", GMG_LOCAL_RED_BLACK, 2, 1, 1, {0, 0, 0}, 0},
                                 {"async-2011", "async", GMG_LOCAL_JACOBI, 5, 0, 2, {512, 1, 1}, 1}};
enum { PRESETS = sizeof presets / sizeof *presets };

const char *gmg_preset_name(int i) { return i >= 0 && i < PRESETS ? presets[i].name : NULL; }

static void use(gmg_params *q, const preset *s)
{
  q->smoother = gmg_smoother_by_name(s->smoother), q->omega = s->omega;
  q->local = s->local, q->local_sweeps = s->local_sweeps, q->overlap = s->overlap, q->passes = s->passes;
  for (int a = 0; a < 3; a++) q->block[a] = s->block[a];
  q->order = GMG_ORDER_NATURAL, q->deterministic = 0;
  q->assignment = GMG_ASSIGN_AUTO, q->in_flight = q->oversubscription = 0;
}

gmg_status gmg_params_set_preset(gmg_params *params, const char *name)
{
  for (int i = 0; params && name && i < PRESETS; i++)
    if (strcmp(presets[i].name, name) == 0) {
      use(params, &presets[i]);
      return GMG_OK;
    }
  return GMG_ERR_ARGUMENT;
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
  use(&q, &presets[0]);
  return q;
}
