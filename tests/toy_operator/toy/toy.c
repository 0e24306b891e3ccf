/* A toy: -u_xx of fourth order, with 5 points along axis 0, and -u_yy of second order, with 3 points along axis 1. A problem asks
   for it by the shift 42. The couplings of a level give the whole row, so nothing is created, loaded or coarsened. Besides this
   file the operator needs host.c and a line in kinds.c. */
#include "core/backend.h"
#include "stencil/grid_ops.h"

static int applies_to(const gmg_problem *p) { return p->dim == 2 && p->shift == 42; }

static gmg_status check(gmg_context *c, const gmg_problem *p)
{
  if (p->centering != GMG_VERTEX) return gmg_fail(c, GMG_ERR_UNSUPPORTED, "problem.centering = GMG_CELL: the toy is for vertices");
  return GMG_OK;
}

extern const gmg_operator_ops gmg_toy_host_f32, gmg_toy_host_f64;

const gmg_operator_kind gmg_toy = {
    .name = "toy",
    .ops = {[GMG_BACKEND_HOST] = {[GMG_F32] = &gmg_toy_host_f32, [GMG_F64] = &gmg_toy_host_f64}},
    .applies_to = applies_to,
    .check = check};
