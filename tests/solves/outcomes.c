/* Outcomes of a solve: converged, not converged, stagnated at the rounding floor; and the members of the report. For diverged
   solves see test_divergence.c. */
#include "media.h"
#include "reference.h"


#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The cycle that reaches the floor: after it no residual is below half of its own. */
static int floor_reached(const gmg_report *r)
{
  int at = 0;
  for (int i = 0; i < r->history_length; i++)
    if (r->history[i] < 0.5 * r->history[at]) at = i;
  return at;
}

static void stagnation_in_1d(void **state)
{
  (void)state;
  static const char *const names[] = {"async", "red_black", "gauss_seidel", "chebyshev"};
  const size_t n = 1000000;
  for (int i = 0; i < 4; i++)
    for (int centering = GMG_CELL; centering <= GMG_VERTEX; centering++) {
      gmg_problem p = make_problem(1, n, 1, 1, centering, "dd");
      gmg_params params = params_for_cycles();
      params.smoother = gmg_smoother_by_name(names[i]);
      double *f = field(n, 0), *u = field(n, 0);
      gmg_report r;
      for (size_t c = 0; c < n; c++) f[c] = sin(M_PI * axis_position(&p, 0, c));
      session s = begin_solver(&p, &params, 0);
      assert_int_equal(solve_in(&s, f, u, &r), GMG_STAGNATED);
      assert_int_equal(r.status, GMG_STAGNATED);
      if (r.cycles - floor_reached(&r) > 3)
        fail_msg("%s: floor reached in cycle %d, noticed in cycle %d", names[i], floor_reached(&r), r.cycles);
      assert_true(strstr(gmg_context_error(s.context), "floor") != NULL);
      assert_true(r.floor > 0 && r.residual < 20 * r.floor);
      for (size_t c = 0; c < n; c += 999) assert_near(u[c] * M_PI * M_PI, f[c], 1e-3); /* the solution is accurate nevertheless */
      end_solver(&s);
      free(f), free(u);
    }
}

static void stagnation_in_float(void **state)
{
  (void)state;
  static const char *const names[] = {"async", "red_black", "jacobi"};
  const size_t m = 64, n = m * m * m;
  gmg_problem p = make_problem(3, m, m, m, GMG_CELL, "dddddd");
  p.type = GMG_F32;
  for (int i = 0; i < 3; i++)
    for (int fmg = 0; fmg < 2; fmg++) {
      gmg_params params = params_for_cycles();
      params.smoother = gmg_smoother_by_name(names[i]);
      params.fmg = fmg;
      float *f = malloc(n * sizeof *f), *u = calloc(n, sizeof *u);
      gmg_report r;
      for (size_t c = 0; c < n; c++) f[c] = 1;
      session s = begin_solver(&p, &params, 0);
      const gmg_status status = solve_in(&s, f, u, &r);
      if (status != GMG_STAGNATED) fail_msg("%s: %s", names[i], gmg_status_string(status));
      assert_below(r.cycles - floor_reached(&r), 3);
      end_solver(&s);
      free(f), free(u);
    }
}

/* An acceleration computes a residual by recursion, which falls for ever. The reported residual is the true one. */
static void stagnation_with_an_acceleration(void **state)
{
  (void)state;
  static const struct {
    gmg_accel accel;
    gmg_precision precision;
    const char *smoother, *name;
  } solves[] = {{GMG_ACCEL_FLEXIBLE_CG, GMG_PRECISION_SAME, "async", "flexible CG"},
                {GMG_ACCEL_FLEXIBLE_CG, GMG_PRECISION_MIXED, "async", "flexible CG, mixed"},
                {GMG_ACCEL_CG, GMG_PRECISION_SAME, "red_black", "CG"}};
  enum { RANDOM_F, CONSTANT_F, RIGHT_HAND_SIDES };
  const gmg_problem p = make_problem(3, 20, 18, 16, GMG_CELL, "dnddrd");
  const size_t n = unknowns(&p);
  for (int i = 0; i < COUNT(solves); i++)
    for (int rhs = RANDOM_F; rhs < RIGHT_HAND_SIDES; rhs++) {
      double *f = field(n, 1), *u = field(n, 0), *r = field(n, 0);
      gmg_params params = params_for_cycles();
      gmg_report report;
      for (size_t c = 0; c < n && rhs == CONSTANT_F; c++) f[c] = 1;
      params.accel = solves[i].accel, params.precision = solves[i].precision;
      params.smoother = gmg_smoother_by_name(solves[i].smoother);
      params.rtol = 1e-60;
      session s = begin_solver(&p, &params, 2);
      const gmg_status status = solve_in(&s, f, u, &report);
      if (status != GMG_STAGNATED)
        fail_msg("%s, %s f: %s after %d cycles", solves[i].name, rhs == CONSTANT_F ? "constant" : "random",
                 gmg_status_string(status), report.cycles);
      assert_below(report.cycles, 30);
      assert_ok(s.context, residual_in(&s, f, u, r));
      assert_near(report.residual, norm2(r, n), 0.1 * norm2(r, n));
      end_solver(&s);
      free(f), free(u), free(r);
    }
}

/* A solve with a slow smoother must not end as stagnated. */
static void slow_is_not_stagnated(void **state)
{
  (void)state;
  gmg_problem p = make_problem(3, 32, 32, 32, GMG_CELL, "dddddd");
  gmg_params params = params_for_cycles();
  params.smoother = gmg_smoother_by_name("jacobi");
  params.omega = 0.3, params.rtol = 1e-10, params.max_cycles = 300;
  double *f = field(32768, 5), *u = field(32768, 0);
  gmg_report r;
  session s = begin_solver(&p, &params, 0);
  assert_ok(s.context, solve_in(&s, f, u, &r));
  assert_true(r.factor > 0.6);
  end_solver(&s);
  free(f), free(u);
}

/* Near the floor the residual of a slow smoother still falls, and the solve reaches its target. */
static void slow_near_the_floor_is_not_stagnated(void **state)
{
  (void)state;
  static const double weights[] = {0, 0.5};
  gmg_problem p = make_problem(2, 256, 256, 1, GMG_CELL, "dddd");
  for (int i = 0; i < 2; i++) {
    gmg_params params = params_for_cycles();
    params.smoother = gmg_smoother_by_name("jacobi");
    params.omega = weights[i], params.post = GMG_NONE, params.rtol = 3e-12, params.max_cycles = 300;
    double *f = field(65536, 0), *u = field(65536, 0);
    for (int c = 0; c < 65536; c++) f[c] = 1;
    session s = begin_solver(&p, &params, 2);
    assert_ok(s.context, solve_in(&s, f, u, NULL));
    end_solver(&s);
    free(f), free(u);
  }
}

static int stop_at_three(void *data, int cycle, double residual, double target)
{
  double *last = data;
  if (cycle > 0) assert_true(residual < *last && target > 0);
  *last = residual;
  return cycle == 3;
}

static void monitor_stops(void **state)
{
  (void)state;
  gmg_problem p = make_problem(2, 64, 64, 1, GMG_CELL, "dddd");
  gmg_params params = params_for_cycles();
  double last = 0, *f = field(4096, 1), *u = field(4096, 0);
  gmg_report r;
  params.monitor = stop_at_three, params.monitor_data = &last, params.rtol = 1e-12;
  session s = begin_solver(&p, &params, 1);
  assert_int_equal(solve_in(&s, f, u, &r), GMG_NOT_CONVERGED);
  assert_int_equal(r.cycles, 3);
  assert_true(strstr(gmg_context_error(s.context), "monitor") != NULL);
  assert_true(r.residual == last && r.history_length == 4);
  end_solver(&s);
  free(f), free(u);
}

static void report_is_consistent(void **state)
{
  (void)state;
  gmg_problem p = make_problem(3, 40, 30, 20, GMG_CELL, "dndddd");
  gmg_params params = params_for_cycles();
  const size_t n = unknowns(&p);
  double *f = field(n, 1), *u = field(n, 2), *r0 = field(n, 0);
  gmg_report r;
  session s = begin_solver(&p, &params, 2);
  assert_ok(s.context, residual_in(&s, f, u, r0));
  assert_ok(s.context, solve_in(&s, f, u, &r));
  assert_near(r.residual0, norm2(r0, n), 1e-9 * r.residual0);
  assert_ok(s.context, residual_in(&s, f, u, r0));
  assert_near(r.residual, norm2(r0, n), 1e-4 * r.residual);
  assert_near(r.target, 1e-8 * norm2(f, n), 1e-12 * norm2(f, n));
  assert_true(r.residual <= r.target);
  assert_int_equal(r.history_length, r.cycles + 1);
  const int first = r.cycles > 5 ? r.cycles - 5 : 0;
  assert_near(r.factor, pow(r.history[r.cycles] / r.history[first], 1.0 / (r.cycles - first)), 1e-12);
  double seconds = 0;
  for (int l = 0; l < r.levels; l++) {
    seconds += r.level[l].seconds;
    assert_true((on_device || r.level[l].seconds >= 0) && r.level[l].cells == r.level[l].n[0] * r.level[l].n[1] * r.level[l].n[2]);
  }
  if (!on_device) assert_near(seconds, r.seconds, 0.2 * r.seconds + 1e-4); /* on a device see test_cuda_device_context, levels_are_timed() */
  /* a second solve begins with the solution, so it needs no cycle */
  assert_ok(s.context, solve_in(&s, f, u, &r));
  assert_int_equal(r.cycles, 0);
  end_solver(&s);
  free(f), free(u), free(r0);
}

static void check_every(void **state)
{
  (void)state;
  gmg_problem p = make_problem(3, 32, 32, 32, GMG_CELL, "dddddd");
  gmg_params params = params_for_cycles();
  double *f = field(32768, 1), *u = field(32768, 0), *r = field(32768, 0);
  gmg_report report;
  params.check_every = 3;
  session s = begin_solver(&p, &params, 1);
  assert_ok(s.context, solve_in(&s, f, u, &report));
  assert_int_equal(report.cycles % 3, 0);
  assert_int_equal(report.history_length, 1 + report.cycles);
  for (int i = 0; i < report.history_length; i++) assert_int_equal(!isnan(report.history[i]), i % 3 == 0);
  assert_below(report.factor, 0.1);
  end_solver(&s);
  params.check_every = GMG_NONE, params.max_cycles = 6;
  memset(u, 0, 32768 * sizeof *u);
  s = begin_solver(&p, &params, 1);
  assert_ok(s.context, solve_in(&s, f, u, &report));
  assert_int_equal(report.cycles, 6);
  assert_true(isnan(report.residual) && isnan(report.factor) && report.history_length == 0);
  assert_ok(s.context, residual_in(&s, f, u, r));
  assert_below(norm2(r, 32768), 1e-7 * norm2(f, 32768));
  end_solver(&s);
  free(f), free(u), free(r);
}

static int never_stops(void *data, int cycle, double residual, double target)
{
  (void)data, (void)cycle, (void)residual, (void)target;
  return 0;
}

/* Solves of a large problem with default parameters measure the residual only where they need it: between cycles of a rough
   residual rarely, of a smooth one as often as rounding in low precision demands. Rounding does not limit accelerated solves, as
   with a ball of beta. A monitor sees every cycle. */
static void measures_rarely(void **state)
{
  (void)state;
  enum { ROUGH, SMOOTH, BALL, KINDS };
  static const char *const names[] = {"rough", "smooth", "ball"};
  const gmg_problem plain = on_device ? make_problem(3, 256, 256, 128, GMG_CELL, "dddddd") : make_problem(2, 1024, 1024, 1, GMG_CELL, "dddd");
  medium m = on_device ? ball(3, 208, 1e3, GMG_CELL) : ball(2, 1024, 1e3, GMG_CELL);
  for (int kind = 0; kind < KINDS; kind++) {
    const gmg_problem p = kind == BALL ? m.p : plain;
    const size_t n = unknowns(&p);
    double *f = field(n, 1), *u[2] = {field(n, 0), field(n, 0)};
    gmg_report r[3];
    int norms[3] = {0, 0, 0};
    for (size_t c = 0; kind == SMOOTH && c < n; c++) f[c] = 1;
    for (int k = 0; k < 3; k++) {
      gmg_params q = params_for_cycles();
      q.check_every = k == 1, q.monitor = k == 2 ? never_stops : NULL, q.deterministic = 1;
      session s = begin_solver(&p, &q, 2);
      memset(u[k % 2], 0, n * sizeof *u[0]);
      assert_ok(s.context, solve_in(&s, f, u[k % 2], &r[k]));
      assert_true(r[k].residual <= r[k].target && r[k].history_length == r[k].cycles + 1);
      assert_true(r[k].history[0] == r[k].residual0 && r[k].history[r[k].cycles] == r[k].residual);
      for (int i = 0; i < r[k].history_length; i++) norms[k] += !isnan(r[k].history[i]);
      end_solver(&s);
      if (k != 1) continue;
      double most = 0, largest = 0;
      for (size_t c = 0; c < n; c++) most = fmax(most, fabs(u[0][c] - u[1][c])), largest = fmax(largest, fabs(u[1][c]));
      assert_below(most, 1e-6 * largest);
    }
    print_message("%s: %d cycles, %d norms; measured always: %d cycles\n", names[kind], r[0].cycles, norms[0], r[1].cycles);
    assert_true(norms[1] == r[1].cycles + 1 && norms[2] == r[2].cycles + 1 && r[2].cycles == r[1].cycles);
    assert_true(r[0].cycles <= r[1].cycles + 1);
    if (kind == ROUGH) assert_int_equal(r[0].cycles, r[1].cycles);
    if (kind != SMOOTH) assert_true(norms[0] <= norms[1] - (r[1].cycles > 4 ? 2 : 1));
    free(f), free(u[0]), free(u[1]);
  }
  free_medium(&m);
}

/* Tolerances: relative to f, absolute, relative to the first residual if f = 0, and none needed if f = 0 and u = 0. */
static void stopping_rules(void **state)
{
  (void)state;
  gmg_problem p = make_problem(2, 32, 32, 1, GMG_CELL, "dddd");
  gmg_params params = params_for_cycles();
  double *f = field(1024, 0), *u = field(1024, 3);
  gmg_report r;
  session s = begin_solver(&p, &params, 1);
  assert_ok(s.context, solve_in(&s, f, u, &r));
  assert_near(r.target, 1e-8 * r.residual0, 1e-20 + 1e-12 * r.residual0);
  memset(u, 0, 1024 * sizeof *u);
  assert_ok(s.context, solve_in(&s, f, u, &r));
  assert_int_equal(r.cycles, 0);
  for (int i = 0; i < 1024; i++) assert_true(u[i] == 0); /* f = 0 and u = 0 give u = 0 */
  end_solver(&s);
  params.atol = 1.0, params.rtol = 1e-14;
  s = begin_solver(&p, &params, 1);
  fill_random(f, 1024, 9);
  assert_ok(s.context, solve_in(&s, f, u, &r));
  assert_true(r.target == 1.0);
  end_solver(&s);
  params = params_for_cycles(), params.fmg = 1;
  s = begin_solver(&p, &params, 1);
  memset(f, 0, 1024 * sizeof *f), fill_random(u, 1024, 5);
  assert_ok(s.context, solve_in(&s, f, u, &r)); /* full multigrid does not use the guess */
  for (int i = 0; i < 1024; i++) assert_true(u[i] == 0);
  end_solver(&s);
  free(f), free(u);
}

static void not_converged_returns_the_iterate(void **state)
{
  (void)state;
  gmg_problem p = make_problem(3, 24, 24, 24, GMG_CELL, "dddddd");
  gmg_params params = params_for_cycles();
  double *f = field(13824, 1), *u = field(13824, 0), *r = field(13824, 0);
  gmg_report report;
  params.max_cycles = 2, params.rtol = 1e-12;
  session s = begin_solver(&p, &params, 2);
  assert_int_equal(solve_in(&s, f, u, &report), GMG_NOT_CONVERGED);
  assert_ok(s.context, residual_in(&s, f, u, r));
  assert_near(norm2(r, 13824), report.residual, 1e-9 * report.residual0);
  assert_true(report.residual < 0.01 * report.residual0);
  end_solver(&s);
  params.max_cycles = GMG_NONE;
  s = begin_solver(&p, &params, 2);
  memset(u, 0, 13824 * sizeof *u);
  assert_int_equal(solve_in(&s, f, u, &report), GMG_NOT_CONVERGED);
  assert_int_equal(report.cycles, 0);
  end_solver(&s);
  free(f), free(u), free(r);
}

int main(int argc, char **argv)
{
  if (for_device(argc, argv)) return SKIPPED;
  const struct CMUnitTest tests[] = {cmocka_unit_test(stagnation_in_1d),
                                     cmocka_unit_test(stagnation_in_float),
                                     cmocka_unit_test(stagnation_with_an_acceleration),
                                     cmocka_unit_test(slow_is_not_stagnated),
                                     cmocka_unit_test(slow_near_the_floor_is_not_stagnated),
                                     cmocka_unit_test(monitor_stops),
                                     cmocka_unit_test(report_is_consistent),
                                     cmocka_unit_test(check_every), cmocka_unit_test(measures_rarely),
                                     cmocka_unit_test(stopping_rules),
                                     cmocka_unit_test(not_converged_returns_the_iterate)};
  return run_selected(tests);
}
