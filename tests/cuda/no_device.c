/* Without a device gmg_context_create_cuda() fails with the right status, and the program can continue on the host. CTest hides the
   devices. */
#include "util.h"

#include "gmg_cuda.h"

#include <stdlib.h>

static void no_device(void **state)
{
  const gmg_status wanted = built_with_cuda ? GMG_ERR_DEVICE /* no driver, or no device */ : GMG_ERR_UNSUPPORTED;
  (void)state;
  for (int device = 0; device < 2; device++) {
    gmg_context *c = (gmg_context *)state;
    assert_int_equal(gmg_context_create_cuda(device, NULL, &c), wanted);
    assert_null(c);
  }
  const gmg_problem p = make_problem(2, 40, 30, 1, GMG_CELL, "ddnn");
  const gmg_params q = params_for_cycles();
  session s = begin_solver(&p, &q, 1);
  double *f = field(unknowns(&p), 1), *u = field(unknowns(&p), 0);
  assert_ok(s.context, gmg_solve(s.solver, f, u, NULL));
  end_solver(&s);
  free(f), free(u);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(no_device)};
  return run_selected(tests);
}
