/* Invalid arguments: the right status, a text with the argument and its value, and a context that still works. */
#include "util.h"

#include "gmg_cuda.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static gmg_problem good_problem(void) { return make_problem(3, 12, 10, 8, GMG_CELL, "dndrpp"); }

/* Create and plan must fail with this status, set the solver to NULL, and say `words`. */
static void refuse(const gmg_problem *p, const gmg_params *params, gmg_status status, const char *words)
{
  gmg_context *c = NULL;
  gmg_solver *s = (gmg_solver *)&c;
  gmg_plan_info *info = malloc(sizeof *info);
  const gmg_problem fine = good_problem();
  const gmg_params defaults = gmg_params_default();
  assert_int_equal(gmg_context_create_host(1, &c), GMG_OK);
  const gmg_status got = gmg_solver_create(c, p, params, &s);
  if (got != status || !strstr(gmg_context_error(c), words))
    fail_msg("wanted %s with '%s', got %s: %s", gmg_status_string(status), words, gmg_status_string(got), gmg_context_error(c));
  assert_null(s);
  assert_int_equal(gmg_plan(c, p, params, info), status);
  assert_ok(c, gmg_solver_create(c, &fine, &defaults, &s)); /* the context still works */
  gmg_solver_destroy(s);
  gmg_context_destroy(c);
  free(info);
}

static void problems(void **state)
{
  (void)state;
  const gmg_params q = gmg_params_default();
  static const double position[64] = {0};
#define TRY(change, status, words)    \
  do {                                \
    gmg_problem p = good_problem();   \
    change;                           \
    refuse(&p, &q, status, words);    \
  } while (0)
  TRY(p.dim = 0, GMG_ERR_ARGUMENT, "problem.dim = 0");
  TRY(p.dim = 4, GMG_ERR_ARGUMENT, "problem.dim = 4");
  TRY(p.n[1] = 0, GMG_ERR_ARGUMENT, "problem.n[1] = 0");
  TRY(p.n[0] = (size_t)-1, GMG_ERR_ARGUMENT, "problem.n[0] = 18446744073709551615");
  TRY(p.n[0] = p.n[1] = p.n[2] = INT_MAX - 64, GMG_ERR_ARGUMENT, "problem.n[1] = 2147483583: the number of bytes overflows");
  TRY(p.h[2] = -0.5, GMG_ERR_ARGUMENT, "problem.h[2] = -0.5");
  TRY(p.h[0] = NAN, GMG_ERR_ARGUMENT, "problem.h[0] = nan");
  TRY(p.h[1] = INFINITY, GMG_ERR_ARGUMENT, "problem.h[1] = inf");
  TRY(p.h[1] = 1e-60, GMG_ERR_ARGUMENT, "problem.h[1] = 1e-60");
  TRY(p.h[1] = 1e60, GMG_ERR_ARGUMENT, "problem.h[1] = 1e+60");
  TRY(p.robin[1][1][0] = 1e300, GMG_ERR_ARGUMENT, "problem.robin[1][1] = {1e+300, 0.5}");
  TRY((p.centering = GMG_VERTEX, p.type = GMG_F32, p.robin[1][1][0] = 1e39), GMG_ERR_ARGUMENT, "problem.robin[1][1] = {1e+39");
  TRY(p.h[1] = 1e-200, GMG_ERR_ARGUMENT, "problem.h[1] = 1e-200");
  TRY((p.type = GMG_F32, p.h[1] = 1e-30), GMG_ERR_ARGUMENT, "problem.h[1] = 1e-30");
  TRY(p.type = (gmg_type)7, GMG_ERR_ARGUMENT, "problem.type = 7: must be GMG_F64 or GMG_F32");
  TRY(p.centering = (gmg_centering)9, GMG_ERR_ARGUMENT, "problem.centering = 9: must be GMG_CELL or GMG_VERTEX");
  TRY(p.bc[1][0] = (gmg_bc)8, GMG_ERR_ARGUMENT,
      "problem.bc[1][0] = 8: must be GMG_DIRICHLET, GMG_NEUMANN, GMG_ROBIN or GMG_PERIODIC");
  TRY(p.bc[0][1] = GMG_PERIODIC, GMG_ERR_ARGUMENT, "problem.bc[0][0] = GMG_DIRICHLET: GMG_PERIODIC");
  TRY(p.bc[2][0] = GMG_NEUMANN, GMG_ERR_ARGUMENT, "problem.bc[2][0] = GMG_NEUMANN: GMG_PERIODIC");
  TRY(p.robin[1][1][0] = -1, GMG_ERR_ARGUMENT, "problem.robin[1][1] = {-1, 0.5}");
  TRY(p.robin[1][1][1] = NAN, GMG_ERR_ARGUMENT, "problem.robin[1][1] = {2, nan}");
  TRY((p.centering = GMG_VERTEX, p.robin[1][1][1] = 0), GMG_ERR_ARGUMENT, "problem.robin[1][1] = {2, 0}");
  TRY(p.shift = -2e3, GMG_ERR_UNSUPPORTED, "problem.shift = -2000: the matrix is not positive definite");
  TRY(p.shift = NAN, GMG_ERR_ARGUMENT, "problem.shift = nan");
  TRY(p.coord[1] = position, GMG_ERR_ARGUMENT, "problem.coord[1][1]");
  TRY(p.beta_face[2] = position, GMG_ERR_ARGUMENT, "problem.beta_face[0] = NULL, problem.beta_face[2] =");
#undef TRY
  refuse(NULL, &q, GMG_ERR_ARGUMENT, "problem is NULL");
}

/* An unknown name changes nothing. */
static void presets(void **state)
{
  (void)state;
  gmg_params q = gmg_params_default();
  const gmg_params defaults = q;
  assert_int_equal(gmg_params_set_preset(NULL, "default"), GMG_ERR_ARGUMENT);
  assert_int_equal(gmg_params_set_preset(&q, NULL), GMG_ERR_ARGUMENT);
  assert_int_equal(gmg_params_set_preset(&q, "async-2012"), GMG_ERR_ARGUMENT);
  assert_int_equal(gmg_params_set_preset(&q, ""), GMG_ERR_ARGUMENT);
  assert_memory_equal(&q, &defaults, sizeof q);
  q.pre = 3, q.async.in_flight = 7, q.async.oversubscription = 2, q.async.assignment = GMG_ASSIGN_STATIC, q.deterministic = 1, q.async.order = GMG_ORDER_RANDOM;
  assert_int_equal(gmg_params_set_preset(&q, "async-2011"), GMG_OK);
  assert_int_equal(q.async.local, GMG_LOCAL_JACOBI);
  assert_true(q.smoother == gmg_smoother_by_name("async"));
  assert_true(q.async.local_sweeps == 5 && q.async.passes == 2 && q.async.overlap == GMG_NONE && q.omega == 1 && q.async.block[0] == 512 && q.pre == 3);
  assert_int_equal(gmg_params_set_preset(&q, "default"), GMG_OK);
  q.pre = 1;
  assert_memory_equal(&q, &defaults, sizeof q);
  assert_string_equal(gmg_preset_name(0), "default");
  assert_string_equal(gmg_preset_name(1), "async-2011");
  assert_null(gmg_preset_name(2));
  assert_null(gmg_preset_name(-1));
}

static void parameters(void **state)
{
  (void)state;
  const gmg_problem p = good_problem();
#define TRY(change, status, words)        \
  do {                                    \
    gmg_params q = params_for_cycles();   \
    change;                               \
    refuse(&p, &q, status, words);        \
  } while (0)
  TRY(q.pre = -2, GMG_ERR_ARGUMENT, "params.pre = -2: must be from 1 to 100, GMG_NONE, or 0 (chosen by gmg)");
  TRY(q.post = 101, GMG_ERR_ARGUMENT, "params.post = 101: must be from 1 to 100, GMG_NONE, or 0 (chosen by gmg)");
  TRY(q.pre = q.post = GMG_NONE, GMG_ERR_ARGUMENT, "params.pre = GMG_NONE and params.post = GMG_NONE");
  TRY(q.omega = 2, GMG_ERR_ARGUMENT, "params.omega = 2");
  TRY(q.omega = -0.1, GMG_ERR_ARGUMENT, "params.omega = -0.1");
  TRY(q.omega = NAN, GMG_ERR_ARGUMENT, "params.omega = nan");
  TRY(q.async.local_sweeps = GMG_NONE, GMG_ERR_ARGUMENT, "params.async.local_sweeps = -1: must be from 1 to 100, or 0 (chosen by gmg)");
  TRY(q.async.overlap = 3, GMG_ERR_ARGUMENT, "params.async.overlap = 3: must be from 1 to 2, GMG_NONE, or 0 (chosen by gmg)");
  TRY(q.async.overlap = -2, GMG_ERR_ARGUMENT, "params.async.overlap = -2");
  TRY(q.async.passes = GMG_NONE, GMG_ERR_ARGUMENT, "params.async.passes = -1: must be from 1 to 100, or 0 (chosen by gmg)");
  TRY(q.async.local = (gmg_local_kind)5, GMG_ERR_ARGUMENT,
      "params.async.local = 5: must be GMG_LOCAL_AUTO, GMG_LOCAL_RED_BLACK, GMG_LOCAL_JACOBI or GMG_LOCAL_GAUSS_SEIDEL");
  TRY(q.async.order = (gmg_block_order)5, GMG_ERR_ARGUMENT, "params.async.order = 5: must be GMG_ORDER_AUTO, GMG_ORDER_NATURAL, ");
  TRY(q.async.assignment = (gmg_assignment)3, GMG_ERR_ARGUMENT,
      "params.async.assignment = 3: must be GMG_ASSIGN_AUTO, GMG_ASSIGN_STATIC or GMG_ASSIGN_DYNAMIC");
  TRY(q.async.in_flight = -1, GMG_ERR_ARGUMENT, "params.async.in_flight = -1");
  TRY(q.async.oversubscription = 65, GMG_ERR_ARGUMENT, "params.async.oversubscription = 65");
  TRY(q.async.oversubscription = 2, GMG_ERR_UNSUPPORTED, "params.async.oversubscription = 2: only for CUDA contexts");
  TRY(q.cycle = (gmg_cycle_kind)-1, GMG_ERR_ARGUMENT, "params.cycle = -1: must be GMG_CYCLE_AUTO, ");
  TRY(q.cycle = (gmg_cycle_kind)5, GMG_ERR_ARGUMENT,
      "params.cycle = 5: must be GMG_CYCLE_AUTO, GMG_CYCLE_V, GMG_CYCLE_W or GMG_CYCLE_F");
  TRY(q.accel = (gmg_accel)5, GMG_ERR_ARGUMENT, "params.accel = 5: must be GMG_ACCEL_AUTO, GMG_ACCEL_NONE, ");
  TRY(q.coarse = (gmg_coarse_kind)5, GMG_ERR_ARGUMENT, "params.coarse = 5: must be GMG_COARSE_AUTO, GMG_COARSE_CG, GMG_COARSE_DENSE or ");
  TRY(q.restriction = (gmg_restriction)5, GMG_ERR_ARGUMENT, "params.restriction = 5: must be GMG_RESTRICT_AUTO, ");
  TRY(q.fmg = -2, GMG_ERR_ARGUMENT, "params.fmg = -2");
  TRY(q.max_levels = 97, GMG_ERR_ARGUMENT, "params.max_levels = 97");
  TRY(q.max_cycles = -2, GMG_ERR_ARGUMENT, "params.max_cycles = -2");
  TRY(q.check_every = -2, GMG_ERR_ARGUMENT, "params.check_every = -2");
  TRY(q.rtol = NAN, GMG_ERR_ARGUMENT, "params.rtol = nan");
  TRY(q.rtol = -1e-3, GMG_ERR_ARGUMENT, "params.rtol = -0.001");
  TRY(q.atol = INFINITY, GMG_ERR_ARGUMENT, "params.atol = inf");
  TRY(q.coarse_rtol = 1, GMG_ERR_ARGUMENT, "params.coarse_rtol = 1");
  TRY(q.coarsen_threshold = 1.5, GMG_ERR_ARGUMENT, "params.coarsen_threshold = 1.5");
  TRY(q.async.local_sweeps = 1000, GMG_ERR_ARGUMENT, "params.async.local_sweeps = 1000");
  TRY(q.precision = (gmg_precision)7, GMG_ERR_ARGUMENT, "params.precision = 7: must be GMG_PRECISION_AUTO, ");
  TRY(q.report_level_times = 2, GMG_ERR_ARGUMENT, "params.report_level_times = 2");
  TRY(q.line_axes = 8, GMG_ERR_ARGUMENT, "params.line_axes = 8: must be from 0 to 7");
  TRY(q.line_axes = -1, GMG_ERR_ARGUMENT, "params.line_axes = -1: must be from 0 to 7");
  TRY(q.over_correction = -1, GMG_ERR_ARGUMENT, "params.over_correction = -1");
  TRY(q.over_correction = 2.5, GMG_ERR_ARGUMENT, "params.over_correction = 2.5");
  TRY(q.over_correction = NAN, GMG_ERR_ARGUMENT, "params.over_correction = nan");
  TRY((q.over_correction = 1.1, q.fmg = 1), GMG_ERR_UNSUPPORTED, "params.over_correction = 1.1: must be 0 (chosen by gmg) or 1 with params.fmg");
  TRY(q.accel = GMG_ACCEL_CG, GMG_ERR_ARGUMENT, "params.smoother = \"async\"");
  TRY((q.accel = GMG_ACCEL_CG, q.deterministic = 1), GMG_ERR_ARGUMENT, "params.smoother = \"async\"");
  TRY((q.smoother = gmg_smoother_by_name("red_black"), q.accel = GMG_ACCEL_CG, q.pre = 2), GMG_ERR_ARGUMENT, "params.pre = 2 and params.post = 1");
  TRY((q.smoother = gmg_smoother_by_name("red_black"), q.symmetric = 1, q.post = GMG_NONE), GMG_ERR_ARGUMENT,
      "params.pre = 1 and params.post = GMG_NONE differ");
  TRY((q.smoother = gmg_smoother_by_name("red_black"), q.accel = GMG_ACCEL_CG, q.cycle = GMG_CYCLE_F), GMG_ERR_ARGUMENT,
      "params.cycle = GMG_CYCLE_F");
  TRY((q.smoother = gmg_smoother_by_name("red_black"), q.symmetric = 1, q.restriction = GMG_RESTRICT_AVERAGE),
      GMG_ERR_ARGUMENT, "params.restriction");
#undef TRY
  refuse(&p, NULL, GMG_ERR_ARGUMENT, "params is NULL");
}

static void smoothers_that_do_not_fit(void **state)
{
  (void)state;
  gmg_problem p = good_problem();
  gmg_params q = gmg_params_default();
  const gmg_smoother empty = {.name = "empty"};
  gmg_smoother only_double = *gmg_smoother_by_name("jacobi");
  only_double.ops[GMG_BACKEND_HOST][GMG_F32] = NULL;
  q.smoother = &empty;
  refuse(&p, &q, GMG_ERR_UNSUPPORTED, "params.smoother = \"empty\"");
  q.smoother = &only_double;
  p.type = GMG_F32;
  refuse(&p, &q, GMG_ERR_UNSUPPORTED, "params.smoother = \"jacobi\"");
  p = make_problem(2, 8, 8, 1, GMG_CELL, "dddd");
  q.smoother = gmg_smoother_by_name("lines"), q.line_axes = 4;
  refuse(&p, &q, GMG_ERR_ARGUMENT, "params.line_axes = 4: must be at most 3 for problem.dim = 2");
  assert_null(gmg_smoother_by_name("nonsense"));
  assert_null(gmg_smoother_by_name(NULL));
  assert_null(gmg_smoother_by_name(""));
  assert_null(gmg_smoother_name(-1));
  assert_null(gmg_smoother_name(99));
}

/* A problem that is too large for the memory gives GMG_ERR_MEMORY, and a smaller one works on the same context. */
static void out_of_memory(void **state)
{
  (void)state;
  gmg_context *c;
  gmg_solver *s;
  gmg_problem p = make_problem(3, 60000, 60000, 60000, GMG_CELL, "dddddd"), small = good_problem();
  const gmg_params q = gmg_params_default();
  gmg_plan_info *info = malloc(sizeof *info);
  assert_int_equal(gmg_context_create_host(1, &c), GMG_OK);
  assert_ok(c, gmg_plan(c, &p, &q, info)); /* a plan allocates nothing */
  assert_true(info->bytes > (size_t)1 << 50);
  assert_int_equal(gmg_solver_create(c, &p, &q, &s), GMG_ERR_MEMORY);
  assert_true(strstr(gmg_context_error(c), "bytes could not be allocated") != NULL);
  assert_null(s);
  assert_ok(c, gmg_solver_create(c, &small, &q, &s));
  gmg_solver_destroy(s);
  gmg_context_destroy(c);
  free(info);
}

static void calls(void **state)
{
  (void)state;
  gmg_problem p = good_problem();
  const gmg_params q = gmg_params_default();
  const size_t n = unknowns(&p);
  double *f = calloc(n, sizeof *f), *u = calloc(2 * n, sizeof *u);
  gmg_report r;
  session s = begin_solver(&p, &q, 1);
#define SAYS(call, status, words)                                                               \
  do {                                                                                          \
    assert_int_equal(call, status);                                                             \
    if (!strstr(gmg_context_error(s.context), words)) fail_msg("%s", gmg_context_error(s.context)); \
  } while (0)
  SAYS(gmg_solve(s.solver, NULL, u, &r), GMG_ERR_ARGUMENT, "f is NULL");
  SAYS(gmg_solve(s.solver, f, NULL, &r), GMG_ERR_ARGUMENT, "u is NULL");
  SAYS(gmg_solve(s.solver, u, u, &r), GMG_ERR_ARGUMENT, "overlaps");
  SAYS(gmg_solve(s.solver, u, u + n / 2, &r), GMG_ERR_ARGUMENT, "overlaps");
  f[5] = NAN;
  SAYS(gmg_solve(s.solver, f, u, &r), GMG_ERR_ARGUMENT, "f[5] = nan: must be finite");
  assert_true(u[0] == 0 && r.cycles == 0 && r.status == GMG_ERR_ARGUMENT);
  f[5] = INFINITY;
  SAYS(gmg_solve(s.solver, f, u, &r), GMG_ERR_ARGUMENT, "f[5] = inf: must be finite");
  f[5] = 1, u[7] = NAN;
  SAYS(gmg_solve(s.solver, f, u, &r), GMG_ERR_ARGUMENT, "u[7] = nan (the guess): must be finite");
  u[7] = 0;
  SAYS(gmg_set_boundary_constant(s.solver, 3, 0, 1), GMG_ERR_ARGUMENT, "axis = 3");
  SAYS(gmg_set_boundary_constant(s.solver, -1, 0, 1), GMG_ERR_ARGUMENT, "axis = -1");
  SAYS(gmg_set_boundary_constant(s.solver, 0, 2, 1), GMG_ERR_ARGUMENT, "side = 2");
  SAYS(gmg_set_boundary_constant(s.solver, 2, 0, 1), GMG_ERR_ARGUMENT, "periodic");
  SAYS(gmg_set_boundary_constant(s.solver, 0, 0, NAN), GMG_ERR_ARGUMENT, "g = nan");
  SAYS(gmg_set_boundary_values(s.solver, 0, 0, NULL), GMG_ERR_ARGUMENT, "g is NULL");
  f[3] = NAN;
  SAYS(gmg_set_boundary_values(s.solver, 0, 0, f), GMG_ERR_ARGUMENT, "g[3] = nan on axis 0, side 0: must be finite");
  f[3] = -1e300;
  SAYS(gmg_set_boundary_values(s.solver, 1, 1, f), GMG_ERR_ARGUMENT, "g[3] = -1e+300 on axis 1, side 1: too large");
  f[3] = 0;
  SAYS(gmg_precondition(s.solver, f, NULL), GMG_ERR_ARGUMENT, "z is NULL");
  SAYS(gmg_precondition(s.solver, f, f), GMG_ERR_ARGUMENT, "overlaps");
  SAYS(gmg_precondition(s.solver, u, u + n / 2), GMG_ERR_ARGUMENT, "overlaps");
  SAYS(gmg_residual(s.solver, f, u, u), GMG_ERR_ARGUMENT, "overlaps u");
  SAYS(gmg_residual(s.solver, f, u, f), GMG_ERR_ARGUMENT, "overlaps f");
  SAYS(gmg_residual(s.solver, NULL, u, f), GMG_ERR_ARGUMENT, "f is NULL");
  SAYS(gmg_solver_update(s.solver, NULL), GMG_ERR_ARGUMENT, "problem is NULL");
  SAYS(gmg_solver_create(s.context, &p, &q, NULL), GMG_ERR_ARGUMENT, "solver is NULL");
  SAYS(gmg_plan(s.context, &p, &q, NULL), GMG_ERR_ARGUMENT, "info is NULL");
  assert_ok(s.context, gmg_solve(s.solver, f, u, &r)); /* the context still works */
  assert_string_equal(gmg_context_error(s.context), "");
  end_solver(&s);
  free(f), free(u);
}

static void null_handles(void **state)
{
  (void)state;
  gmg_context *c = (gmg_context *)&state;
  gmg_solver *s = NULL;
  double x = 0;
  const gmg_problem p = good_problem();
  const gmg_params q = gmg_params_default();
  gmg_solver_destroy(NULL);
  gmg_context_destroy(NULL);
  assert_int_equal(gmg_context_create_host(1, NULL), GMG_ERR_ARGUMENT);
  assert_int_equal(gmg_context_create_host(-1, &c), GMG_ERR_ARGUMENT);
  assert_null(c);
  assert_int_equal(gmg_context_create_host(1000000, &c), GMG_ERR_ARGUMENT);
  const gmg_status cuda = gmg_context_create_cuda(0, NULL, &c); /* the build has no CUDA, or there is no device, or there is one */
  assert_true(cuda == GMG_ERR_UNSUPPORTED || cuda == GMG_ERR_DEVICE || cuda == GMG_OK);
  assert_int_equal(cuda == GMG_OK, c != NULL);
  gmg_context_destroy(c);
  assert_int_equal(gmg_solver_create(NULL, &p, &q, &s), GMG_ERR_ARGUMENT);
  assert_int_equal(gmg_plan(NULL, &p, &q, NULL), GMG_ERR_ARGUMENT);
  assert_int_equal(gmg_solve(NULL, &x, &x, NULL), GMG_ERR_ARGUMENT);
  assert_int_equal(gmg_precondition(NULL, &x, &x), GMG_ERR_ARGUMENT);
  assert_int_equal(gmg_residual(NULL, &x, &x, &x), GMG_ERR_ARGUMENT);
  assert_int_equal(gmg_solver_update(NULL, &p), GMG_ERR_ARGUMENT);
  assert_int_equal(gmg_set_boundary_constant(NULL, 0, 0, 1), GMG_ERR_ARGUMENT);
  assert_int_equal(gmg_set_boundary_values(NULL, 0, 0, &x), GMG_ERR_ARGUMENT);
  assert_non_null(gmg_context_error(NULL));
  assert_string_equal(gmg_status_string(GMG_OK), "ok");
  assert_string_equal(gmg_status_string((gmg_status)99), "unknown status");
}

static void outcomes(void **state)
{
  (void)state;
  static const gmg_status outcome[] = {GMG_OK, GMG_NOT_CONVERGED, GMG_STAGNATED, GMG_DIVERGED};
  static const gmg_status other[] = {GMG_ERR_ARGUMENT, GMG_ERR_UNSUPPORTED, GMG_ERR_MEMORY, GMG_ERR_DEVICE,
                                     GMG_ERR_IO, (gmg_status)99, (gmg_status)-1};
  for (int i = 0; i < COUNT(outcome); i++) assert_int_equal(gmg_status_is_outcome(outcome[i]), 1);
  for (int i = 0; i < COUNT(other); i++) assert_int_equal(gmg_status_is_outcome(other[i]), 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(problems),      cmocka_unit_test(presets), cmocka_unit_test(parameters),
                                     cmocka_unit_test(smoothers_that_do_not_fit), cmocka_unit_test(out_of_memory),
                                     cmocka_unit_test(calls),         cmocka_unit_test(null_handles),
                                     cmocka_unit_test(outcomes)};
  return run_selected(tests);
}
