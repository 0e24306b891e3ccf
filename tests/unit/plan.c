/* gmg_plan() against the solver of gmg_solver_create(). test_plan cuda: on a CUDA device. */
#include "util.h"

#include "internals.h"

#include <math.h>
#include <stdlib.h>

static void plan_tells_the_truth(void **state)
{
  (void)state;
  gmg_plan_info *info = malloc(sizeof *info);
  static const struct {
    const char *bc;
    int singular;
  } walls[] = {{"dddddd", 0}, {"nnnnnn", 1}, {"pppppp", 1}, {"dnrdpp", 0}};
  static const int dims[] = {1, 2, 3}, deterministic[] = {0, 0, 0, 1, 1, 1}, fmg[] = {0, 0, 1, 1};
  static const gmg_centering centerings[] = {GMG_VERTEX, GMG_CELL};
  enum { CASES = 40, SMOOTHERS = 5, FLOAT_EVERY = 5, ACCELERATED_EVERY = 7, CHOLESKY_EVERY = 6 };
  for (int i = 0; i < CASES; i++) {
    const char *const bc = ROUND_ROBIN(walls, i).bc;
    gmg_problem p = make_problem(ROUND_ROBIN(dims, i), 30 + (size_t)i, 33, 20, ROUND_ROBIN(centerings, i), bc);
    p.type = i % FLOAT_EVERY ? GMG_F64 : GMG_F32;
    gmg_params params = params_for_cycles();
    params.smoother = gmg_smoother_by_name(gmg_smoother_name(i % SMOOTHERS));
    params.deterministic = ROUND_ROBIN(deterministic, i), params.fmg = ROUND_ROBIN(fmg, i);
    params.accel = i % ACCELERATED_EVERY ? GMG_ACCEL_NONE : GMG_ACCEL_FLEXIBLE_CG;
    params.coarse = i % CHOLESKY_EVERY ? GMG_COARSE_CG : GMG_COARSE_DENSE;
    session s = begin_solver(&p, &params, 2);
    assert_ok(s.context, gmg_plan(s.context, &p, &params, info));
    assert_int_equal(info->bytes, s.solver->exec.bytes);
    assert_int_equal(info->levels, s.solver->levels);
    assert_int_equal(info->singular, ROUND_ROBIN(walls, i).singular);
    assert_int_equal(!!(info->warnings & GMG_WARN_SINGULAR), info->singular);
    if (info->levels > 1) assert_true(info->predicted_factor >= 0 && info->predicted_factor < 0.9);
    else assert_true(isnan(info->predicted_factor)); /* the coarse solver alone */
    for (int l = 0; l < info->levels; l++)
      assert_int_equal(info->level[l].cells, info->level[l].n[0] * info->level[l].n[1] * info->level[l].n[2]);
    end_solver(&s);
  }
  free(info);
}

/* An update asks for no memory. */
static void updates_stay_as_planned(void **state)
{
  static const double shifts[] = {0, 100, 1e6, 0, 3};
  (void)state;
  for (int i = 0; gmg_smoother_name(i); i++) {
    gmg_problem p = make_problem(2, 40, 33, 1, GMG_CELL, "nnpp");
    gmg_params params = params_for_cycles();
    params.smoother = gmg_smoother_by_name(gmg_smoother_name(i));
    if (!has_functions(params.smoother, p.type)) continue;
    session s = begin_solver(&p, &params, 2);
    const size_t bytes = s.solver->exec.bytes;
    for (int k = 0; k < COUNT(shifts); k++) {
      p.shift = shifts[k];
      assert_ok(s.context, update_in(&s, &p));
      assert_int_equal(s.solver->exec.bytes, bytes);
    }
    end_solver(&s);
  }
}

int main(int argc, char **argv)
{
  if (for_device(argc, argv)) return SKIPPED;
  const struct CMUnitTest tests[] = {cmocka_unit_test(plan_tells_the_truth), cmocka_unit_test(updates_stay_as_planned)};
  return run_selected(tests);
}
