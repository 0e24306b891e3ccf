/* Default problem and parameters, as gmg.h states them. */
#include "../stencil/axis.h"
#include "gmg.h"

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

gmg_params gmg_params_default(void)
{
  return (gmg_params){.cycle = GMG_CYCLE_BEST,
                      .smoother = gmg_smoother_by_name("async"),
                      .pre = 1,
                      .post = 1,
                      .local_sweeps = 2,
                      .local = GMG_LOCAL_RED_BLACK,
                      .overlap = 1,
                      .passes = 1,
                      .order = GMG_ORDER_NATURAL,
                      .seed = 1,
                      .accel = GMG_ACCEL_BEST,
                      .coarse = GMG_COARSE_CG,
                      .max_cycles = 100,
                      .check_every = 1,
                      .precision = GMG_PRECISION_BEST};
}
