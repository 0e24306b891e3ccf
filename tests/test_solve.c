/* How a solve behaves: outcomes, singular problems, acceleration, preconditioning, update, monitor, plan, cycles,
   coarse solvers, linearity. */
#include "util.h"

#include "mg/solver.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double *field(size_t n, uint64_t seed)
{
  double *x = calloc(n, sizeof *x);
  if (seed) fill_random(x, n, seed);
  return x;
}

/* The first cycle after which no later residual is below half of it: the floor is reached there. */
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
    for (int centering = GMG_VERTEX; centering <= GMG_CELL; centering++) {
      gmg_problem p = make_problem(1, n, 1, 1, centering, "dd");
      gmg_params params = gmg_params_default();
      params.smoother = gmg_smoother_by_name(names[i]);
      double *f = field(n, 0), *u = field(n, 0);
      gmg_report r;
      for (size_t c = 0; c < n; c++) f[c] = sin(M_PI * axis_position(&p, 0, c));
      session s = begin_solver(&p, &params, 0);
      assert_int_equal(gmg_solve(s.solver, f, u, &r), GMG_STAGNATED);
      assert_int_equal(r.status, GMG_STAGNATED);
      if (r.cycles - floor_reached(&r) > 3)
        fail_msg("%s: floor reached in cycle %d, noticed in cycle %d", names[i], floor_reached(&r), r.cycles);
      assert_true(strstr(gmg_context_error(s.context), "floor") != NULL);
      assert_true(r.floor > 0 && r.residual < 20 * r.floor);
      for (size_t c = 0; c < n; c += 999) assert_near(u[c] * M_PI * M_PI, f[c], 1e-3); /* and the answer is fine */
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
      gmg_params params = gmg_params_default();
      params.smoother = gmg_smoother_by_name(names[i]);
      params.fmg = fmg;
      float *f = malloc(n * sizeof *f), *u = calloc(n, sizeof *u);
      gmg_report r;
      for (size_t c = 0; c < n; c++) f[c] = 1;
      session s = begin_solver(&p, &params, 0);
      const gmg_status status = gmg_solve(s.solver, f, u, &r);
      if (status != GMG_STAGNATED) fail_msg("%s: %s", names[i], gmg_status_string(status));
      assert_below(r.cycles - floor_reached(&r), 3);
      end_solver(&s);
      free(f), free(u);
    }
}

/* A slow smoother must not be taken for a floor. */
static void slow_is_not_stagnated(void **state)
{
  (void)state;
  gmg_problem p = make_problem(3, 32, 32, 32, GMG_CELL, "dddddd");
  gmg_params params = gmg_params_default();
  params.smoother = gmg_smoother_by_name("jacobi");
  params.omega = 0.3, params.rtol = 1e-10, params.max_cycles = 300;
  double *f = field(32768, 5), *u = field(32768, 0);
  gmg_report r;
  session s = begin_solver(&p, &params, 0);
  assert_ok(s.context, gmg_solve(s.solver, f, u, &r));
  assert_true(r.factor > 0.6);
  end_solver(&s);
  free(f), free(u);
}

/* Near the floor, but still falling at its own slow pace: the target within reach is reached. */
static void slow_near_the_floor_is_not_stagnated(void **state)
{
  (void)state;
  static const double weights[] = {0, 0.5};
  gmg_problem p = make_problem(2, 256, 256, 1, GMG_CELL, "dddd");
  for (int i = 0; i < 2; i++) {
    gmg_params params = gmg_params_default();
    params.smoother = gmg_smoother_by_name("jacobi");
    params.omega = weights[i], params.post = 0, params.rtol = 3e-12, params.max_cycles = 300;
    double *f = field(65536, 0), *u = field(65536, 0);
    for (int c = 0; c < 65536; c++) f[c] = 1;
    session s = begin_solver(&p, &params, 2);
    assert_ok(s.context, gmg_solve(s.solver, f, u, NULL));
    end_solver(&s);
    free(f), free(u);
  }
}

/* A constant f of a singular problem leaves nothing but rounding: u is zero (or the guess's constant, removed). */
static void singular_with_constant_f(void **state)
{
  (void)state;
  static const char *const bc[] = {"nnnn", "pppp"};
  for (int i = 0; i < 16; i++) {
    gmg_problem p = make_problem(2, 33, 21, 1, i & 1 ? GMG_CELL : GMG_VERTEX, bc[i / 2 % 2]);
    gmg_params params = gmg_params_default();
    params.fmg = i / 4 % 2;
    double *f = field(693, 0), *u = field(693, 0);
    gmg_report r;
    for (int c = 0; c < 693; c++) f[c] = 0.1, u[c] = i / 8;
    session s = begin_solver(&p, &params, 2);
    const gmg_status status = gmg_solve(s.solver, f, u, &r);
    assert_true(status == GMG_OK || status == GMG_STAGNATED);
    assert_near(r.mean_removed, 0.1, 1e-15);
    assert_below(r.cycles, 10);
    for (int c = 0; c < 693; c++) assert_near(u[c], 0, 1e-14);
    end_solver(&s);
    free(f), free(u);
  }
}

static void singular_problems(void **state)
{
  (void)state;
  static const char *const bc[] = {"nnnnnn", "pppppp", "ppnnpp"};
  static const size_t sizes[][3] = {{32, 32, 32}, {33, 31, 29}, {65, 65, 65}, {20, 36, 28}};
  static const char *const names[] = {"async", "red_black"};
  for (int centering = GMG_VERTEX; centering <= GMG_CELL; centering++)
    for (int b = 0; b < 3; b++)
      for (int i = 0; i < 4; i++)
        for (int k = 0; k < 2; k++) {
          gmg_problem p = make_problem(3, sizes[i][0], sizes[i][1], sizes[i][2], centering, bc[b]);
          gmg_problem twin = make_problem(3, sizes[i][0], sizes[i][1], sizes[i][2], centering, "dddddd");
          p.h[0] = p.h[1] = p.h[2] = twin.h[0] = twin.h[1] = twin.h[2] = 0.03;
          gmg_params params = gmg_params_default();
          params.smoother = gmg_smoother_by_name(names[k]);
          if (k == 1) params.omega = 1.15;
          const size_t n = unknowns(&p);
          double *f = field(n, 31), *u = field(n, 32), mean_u = 0, most = 0;
          long double mean = 0, volume = 0;
          for (size_t c = 0; c < n; c++) {
            f[c] += 7;
            mean += cell_volume(&p, c) * f[c], volume += cell_volume(&p, c);
          }
          gmg_report r;
          session s = begin_solver(&p, &params, 0);
          assert_ok(s.context, gmg_solve(s.solver, f, u, &r));
          assert_int_equal(r.singular, 1);
          assert_near(r.mean_removed, (double)(mean / volume), 1e-12 * (double)(mean / volume));
          for (size_t c = 0; c < n; c++) mean_u += cell_volume(&p, c) * u[c] / (double)volume, most = fmax(most, fabs(u[c]));
          assert_near(mean_u, 0, 1e-13 * most);
          end_solver(&s);
          const double factor = measured_factor(&p, &params, 0, 20), reference = measured_factor(&twin, &params, 0, 20);
          if (factor > reference + 0.03)
            fail_msg("%s %s centring %d %zu: %.4f, twin %.4f", names[k], bc[b], centering, sizes[i][0], factor, reference);
          free(f), free(u);
        }
}

static double weighted_mean(const gmg_solver *s, int level, const void *x)
{
  const gmg_level *L = &s->level[level];
  return s->stencil->dot(&s->exec, &L->A, x, NULL) / L->volume;
}

/* Full weighting on odd vertices does not conserve the mean: it is taken off on every coarser level, and both coarse
   solvers take it off what they are given. */
static void means_are_projected_on_every_level(void **state)
{
  (void)state;
  for (int coarse = GMG_COARSE_CG; coarse <= GMG_COARSE_CHOLESKY; coarse++) {
    gmg_problem p = make_problem(2, 34, 26, 1, GMG_VERTEX, "nnnn");
    gmg_params params = gmg_params_default();
    params.coarse = (gmg_coarse_kind)coarse, params.coarse_rtol = 1e-13;
    params.restriction = GMG_RESTRICT_AVERAGE;
    double *r = field(unknowns(&p), 1), *z = field(unknowns(&p), 0);
    session s = begin_solver(&p, &params, 1);
    gmg_precondition(s.solver, r, z);
    for (int l = 1; l < s.solver->levels; l++) {
      const gmg_level *L = &s.solver->level[l];
      const double size = s.solver->vector->norm2(&s.solver->exec, L->A.cells, L->f);
      assert_true(size > 0);
      assert_near(weighted_mean(s.solver, l, L->f), 0, 1e-14 * size);
    }
    gmg_level *C = &s.solver->level[s.solver->levels - 1];
    double *f = C->f, *u = C->u, *wanted = field(C->A.cells, 0);
    fill_random(f, C->A.cells, 3);
    s.solver->coarse->solve(&s.solver->exec, &s.solver->coarse_problem, s.solver->coarse_state, f, u);
    memcpy(wanted, u, C->A.cells * sizeof *u);
    fill_random(f, C->A.cells, 3);
    for (size_t c = 0; c < C->A.cells; c++) f[c] += 1000; /* incompatible: must not matter */
    s.solver->coarse->solve(&s.solver->exec, &s.solver->coarse_problem, s.solver->coarse_state, f, u);
    for (size_t c = 0; c < C->A.cells; c++) assert_near(u[c], wanted[c], 1e-9 * norm2(wanted, C->A.cells));
    assert_near(weighted_mean(s.solver, s.solver->levels - 1, u), 0, 1e-14);
    end_solver(&s);
    free(r), free(z), free(wanted);
  }
}

/* Boundary fluxes take part in compatibility: du/dn = 1 everywhere on the unit square needs a mean of -4. */
static void singular_with_fluxes(void **state)
{
  (void)state;
  for (int centering = GMG_VERTEX; centering <= GMG_CELL; centering++) {
    gmg_problem p = make_problem(2, 24, 24, 1, centering, "nnnn");
    gmg_params params = gmg_params_default();
    double *f = field(576, 0), *u = field(576, 0);
    gmg_report r;
    session s = begin_solver(&p, &params, 0);
    for (int i = 0; i < 4; i++) assert_ok(s.context, gmg_set_boundary_constant(s.solver, i / 2, i % 2, 1));
    assert_ok(s.context, gmg_solve(s.solver, f, u, &r));
    assert_near(r.mean_removed, 4, 1e-12);
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
  gmg_params params = gmg_params_default();
  double last = 0, *f = field(4096, 1), *u = field(4096, 0);
  gmg_report r;
  params.monitor = stop_at_three, params.monitor_data = &last, params.rtol = 1e-12;
  session s = begin_solver(&p, &params, 1);
  assert_int_equal(gmg_solve(s.solver, f, u, &r), GMG_NOT_CONVERGED);
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
  gmg_params params = gmg_params_default();
  const size_t n = unknowns(&p);
  double *f = field(n, 1), *u = field(n, 2), *r0 = field(n, 0);
  gmg_report r;
  session s = begin_solver(&p, &params, 2);
  assert_ok(s.context, gmg_residual(s.solver, f, u, r0));
  assert_ok(s.context, gmg_solve(s.solver, f, u, &r));
  assert_near(r.residual0, norm2(r0, n), 1e-9 * r.residual0);
  assert_ok(s.context, gmg_residual(s.solver, f, u, r0));
  assert_near(r.residual, norm2(r0, n), 1e-4 * r.residual);
  assert_near(r.target, 1e-8 * norm2(f, n), 1e-12 * norm2(f, n));
  assert_true(r.residual <= r.target);
  assert_int_equal(r.history_length, r.cycles + 1);
  const int first = r.cycles > 5 ? r.cycles - 5 : 0;
  assert_near(r.factor, pow(r.history[r.cycles] / r.history[first], 1.0 / (r.cycles - first)), 1e-12);
  double seconds = 0;
  for (int l = 0; l < r.levels; l++) {
    seconds += r.level[l].seconds;
    assert_true(r.level[l].seconds >= 0 && r.level[l].cells == r.level[l].n[0] * r.level[l].n[1] * r.level[l].n[2]);
  }
  assert_near(seconds, r.seconds, 0.2 * r.seconds + 1e-4);
  /* again from the solution: nothing to do */
  assert_ok(s.context, gmg_solve(s.solver, f, u, &r));
  assert_int_equal(r.cycles, 0);
  end_solver(&s);
  free(f), free(u), free(r0);
}

static void check_every(void **state)
{
  (void)state;
  gmg_problem p = make_problem(3, 32, 32, 32, GMG_CELL, "dddddd");
  gmg_params params = gmg_params_default();
  double *f = field(32768, 1), *u = field(32768, 0), *r = field(32768, 0);
  gmg_report report;
  params.check_every = 3;
  session s = begin_solver(&p, &params, 1);
  assert_ok(s.context, gmg_solve(s.solver, f, u, &report));
  assert_int_equal(report.cycles % 3, 0);
  assert_int_equal(report.history_length, 1 + report.cycles / 3);
  assert_below(report.factor, 0.1);
  end_solver(&s);
  params.check_every = 0, params.max_cycles = 6;
  memset(u, 0, 32768 * sizeof *u);
  s = begin_solver(&p, &params, 1);
  assert_ok(s.context, gmg_solve(s.solver, f, u, &report));
  assert_int_equal(report.cycles, 6);
  assert_true(isnan(report.residual) && isnan(report.factor) && report.history_length == 0);
  assert_ok(s.context, gmg_residual(s.solver, f, u, r));
  assert_below(norm2(r, 32768), 1e-7 * norm2(f, 32768));
  end_solver(&s);
  free(f), free(u), free(r);
}

/* Relative to f; absolute; f = 0: relative to the first residual; f = 0 and u = 0: done. */
static void stopping_rules(void **state)
{
  (void)state;
  gmg_problem p = make_problem(2, 32, 32, 1, GMG_CELL, "dddd");
  gmg_params params = gmg_params_default();
  double *f = field(1024, 0), *u = field(1024, 3);
  gmg_report r;
  session s = begin_solver(&p, &params, 1);
  assert_ok(s.context, gmg_solve(s.solver, f, u, &r));
  assert_near(r.target, 1e-8 * r.residual0, 1e-20 + 1e-12 * r.residual0);
  memset(u, 0, 1024 * sizeof *u);
  assert_ok(s.context, gmg_solve(s.solver, f, u, &r));
  assert_int_equal(r.cycles, 0);
  for (int i = 0; i < 1024; i++) assert_true(u[i] == 0); /* zero in gives zero out */
  end_solver(&s);
  params.atol = 1.0, params.rtol = 1e-14;
  s = begin_solver(&p, &params, 1);
  fill_random(f, 1024, 9);
  assert_ok(s.context, gmg_solve(s.solver, f, u, &r));
  assert_true(r.target == 1.0);
  end_solver(&s);
  params = gmg_params_default(), params.fmg = 1;
  s = begin_solver(&p, &params, 1);
  memset(f, 0, 1024 * sizeof *f), fill_random(u, 1024, 5);
  assert_ok(s.context, gmg_solve(s.solver, f, u, &r)); /* full multigrid does not use the guess */
  for (int i = 0; i < 1024; i++) assert_true(u[i] == 0);
  end_solver(&s);
  free(f), free(u);
}

/* z = B r with B symmetric positive definite in the inner product of the control volumes where asked for. */
static void symmetric_preconditioner(void **state)
{
  (void)state;
  static const char *const names[] = {"jacobi", "red_black", "chebyshev", "gauss_seidel"};
  static const char *const bc[] = {"dndrpp", "pppppp", "nnnnnn", "dddddd"};
  for (int i = 0; i < 4; i++)
    for (int b = 0; b < 4; b++)
      for (int centering = GMG_VERTEX; centering <= GMG_CELL; centering++) {
        gmg_problem p = make_problem(3, 13, 11, 9, centering, bc[b]);
        gmg_params params = gmg_params_default();
        params.smoother = gmg_smoother_by_name(names[i]);
        params.symmetric = 1, params.deterministic = 1, params.coarse = GMG_COARSE_CHOLESKY;
        params.cycle = b % 2 ? GMG_CYCLE_W : GMG_CYCLE_V;
        const size_t n = unknowns(&p);
        double *x = field(n, 1), *y = field(n, 2), *bx = field(n, 0), *by = field(n, 0), left = 0, right = 0, own = 0;
        session s = begin_solver(&p, &params, 2);
        assert_ok(s.context, gmg_precondition(s.solver, x, bx));
        assert_ok(s.context, gmg_precondition(s.solver, y, by));
        for (size_t c = 0; c < n; c++) {
          const double w = cell_volume(&p, c);
          left += w * y[c] * bx[c], right += w * x[c] * by[c], own += w * x[c] * bx[c];
        }
        assert_near(left, right, 1e-10 * own);
        assert_true(own > 0);
        end_solver(&s);
        free(x), free(y), free(bx), free(by);
      }
}

static void preconditioner_is_linear(void **state)
{
  (void)state;
  for (int i = 0; gmg_smoother_name(i); i++) {
    gmg_problem p = make_problem(3, 14, 10, 9, GMG_CELL, "dndrpp");
    gmg_params params = gmg_params_default();
    params.smoother = gmg_smoother_by_name(gmg_smoother_name(i));
    params.deterministic = 1, params.coarse = GMG_COARSE_CHOLESKY;
    const size_t n = unknowns(&p);
    double *x = field(n, 1), *y = field(n, 2), *bx = field(n, 0), *by = field(n, 0), *bz = field(n, 0);
    session s = begin_solver(&p, &params, 2);
    gmg_precondition(s.solver, x, bx), gmg_precondition(s.solver, y, by);
    for (size_t c = 0; c < n; c++) x[c] = 2 * x[c] - 3 * y[c];
    gmg_precondition(s.solver, x, bz);
    for (size_t c = 0; c < n; c++) assert_near(bz[c], 2 * bx[c] - 3 * by[c], 1e-13);
    end_solver(&s);
    free(x), free(y), free(bx), free(by), free(bz);
  }
}

static void acceleration(void **state)
{
  (void)state;
  for (int centering = GMG_VERTEX; centering <= GMG_CELL; centering++) {
    gmg_problem p = make_problem(3, 48, 40, 33, centering, "dnrdpp");
    const size_t n = unknowns(&p);
    double *f = field(n, 1), *u = field(n, 0);
    int cycles[4];
    for (int i = 0; i < 4; i++) {
      gmg_params params = gmg_params_default();
      params.smoother = gmg_smoother_by_name(i == 3 ? "async" : "jacobi");
      params.accel = i == 3 ? GMG_ACCEL_FLEXIBLE_CG : (gmg_accel)i;
      memset(u, 0, n * sizeof *u);
      gmg_report r;
      session s = begin_solver(&p, &params, 2);
      assert_ok(s.context, gmg_solve(s.solver, f, u, &r));
      double *check = field(n, 0);
      assert_ok(s.context, gmg_residual(s.solver, f, u, check));
      assert_below(norm2(check, n), 1.0001e-8 * norm2(f, n)); /* the true residual, not the recursion */
      cycles[i] = r.cycles;
      end_solver(&s);
      free(check);
    }
    assert_true(cycles[1] < cycles[0] && cycles[2] < cycles[0] && cycles[3] <= 7);
    free(f), free(u);
  }
}

/* Far beyond convergence flexible CG must keep what it has: its directions are rounding noise there. */
static void acceleration_beyond_convergence(void **state)
{
  (void)state;
  static const size_t sizes[][2] = {{1, 1}, {2, 2}, {3, 3}, {5, 4}, {17, 13}};
  for (int i = 0; i < 200; i++) {
    const size_t nx = sizes[i % 5][0], ny = sizes[i % 5][1], n = nx * ny;
    gmg_problem p = make_problem(2, nx, ny, 1, i % 2 ? GMG_CELL : GMG_VERTEX, i % 3 ? "dddd" : "dnpp");
    gmg_params params = gmg_params_default();
    uint64_t random = (uint64_t)i;
    p.shift = 10 * (uniform(&random) + 0.5);
    params.accel = i % 7 ? GMG_ACCEL_FLEXIBLE_CG : GMG_ACCEL_CG;
    if (params.accel == GMG_ACCEL_CG) params.smoother = gmg_smoother_by_name("red_black");
    params.coarse = i % 4 < 2 ? GMG_COARSE_CG : GMG_COARSE_CHOLESKY;
    params.check_every = i / 5 % 4 == 0 ? 2 : 0, params.max_cycles = 20, params.rtol = 1e-10;
    double *f = field(n, (uint64_t)i + 1), *u = field(n, 0), *r = field(n, 0);
    session s = begin_solver(&p, &params, 1);
    assert_ok(s.context, gmg_solve(s.solver, f, u, NULL));
    assert_ok(s.context, gmg_residual(s.solver, f, u, r));
    assert_below(norm2(r, n), 1e-9 * norm2(f, n));
    end_solver(&s);
    free(f), free(u), free(r);
  }
}

/* A shift that swallows everything else, and back: the solver is what it was. */
static void update_forgets_the_shift(void **state)
{
  (void)state;
  gmg_problem p = make_problem(2, 512, 1, 1, GMG_CELL, "dddd");
  p.h[0] = 1, p.h[1] = 0.3;
  for (int i = 0; gmg_smoother_name(i); i++) {
    gmg_params params = gmg_params_default();
    params.smoother = gmg_smoother_by_name(gmg_smoother_name(i)), params.deterministic = 1;
    double *f = field(512, 1), *u = field(512, 0), *v = field(512, 0);
    session s = begin_solver(&p, &params, 1);
    assert_ok(s.context, gmg_solve(s.solver, f, u, NULL));
    p.shift = 1e20;
    assert_ok(s.context, gmg_solver_update(s.solver, &p));
    p.shift = 0;
    assert_ok(s.context, gmg_solver_update(s.solver, &p));
    assert_ok(s.context, gmg_solve(s.solver, f, v, NULL));
    assert_memory_equal(u, v, 512 * sizeof *u);
    end_solver(&s);
    free(f), free(u), free(v);
  }
}

/* New shift in place: as a fresh solver would do, bitwise, and back. No memory is asked for. */
static void update_shift(void **state)
{
  (void)state;
  for (int i = 0; gmg_smoother_name(i); i++) {
    gmg_problem p = make_problem(2, 40, 33, 1, GMG_CELL, "nnpp");
    gmg_params params = gmg_params_default();
    params.smoother = gmg_smoother_by_name(gmg_smoother_name(i));
    params.deterministic = 1, params.coarse = i % 2 ? GMG_COARSE_CHOLESKY : GMG_COARSE_CG;
    const size_t n = unknowns(&p);
    double *f = field(n, 1), *u = field(n, 0), *v = field(n, 0);
    session s = begin_solver(&p, &params, 2);
    const size_t bytes = s.solver->exec.bytes;
    static const double shifts[] = {0, 100, 1e6, 0, 3};
    for (int k = 0; k < 5; k++) {
      p.shift = shifts[k];
      memset(u, 0, n * sizeof *u), memset(v, 0, n * sizeof *v);
      gmg_report r;
      assert_ok(s.context, gmg_solver_update(s.solver, &p));
      assert_ok(s.context, gmg_solve(s.solver, f, u, &r));
      assert_int_equal(r.singular, shifts[k] == 0);
      session fresh = begin_solver(&p, &params, 2);
      assert_ok(fresh.context, gmg_solve(fresh.solver, f, v, NULL));
      end_solver(&fresh);
      assert_memory_equal(u, v, n * sizeof *u);
    }
    assert_int_equal(s.solver->exec.bytes, bytes);
    p.shift = -1;
    assert_int_equal(gmg_solver_update(s.solver, &p), GMG_ERR_UNSUPPORTED);
    p.shift = 3, p.n[0] = 41;
    assert_int_equal(gmg_solver_update(s.solver, &p), GMG_ERR_ARGUMENT);
    assert_true(strstr(gmg_context_error(s.context), "problem.n") != NULL);
    memset(u, 0, n * sizeof *u);
    assert_ok(s.context, gmg_solve(s.solver, f, u, NULL)); /* still usable, still shift 3 */
    assert_memory_equal(u, v, n * sizeof *u);
    end_solver(&s);
    free(f), free(u), free(v);
  }
}

/* Smoothers that blow up on one level only: found, named, and the caller's iterate is left as it was. */
static int bad_level;
static double bad_value;

static void explode(const gmg_smoother_level *l, void *state, const void *f, void *u, int steps, gmg_leg leg)
{
  gmg_smoother_by_name("red_black")->host[GMG_F64]->sweep(l, state, f, u, steps, leg);
  if (l->index != bad_level) return;
  for (size_t c = 0; c < l->A->cells; c++) ((double *)u)[c] *= c % 2 ? bad_value : 1;
}

static void divergence_names_the_level(void **state)
{
  (void)state;
  static const double values[] = {-300, 1e9, NAN, INFINITY};
  gmg_problem p = make_problem(3, 32, 32, 32, GMG_CELL, "dddddd");
  const gmg_smoother_ops ops = {.sweep = explode};
  const gmg_smoother bad = {.name = "bad", .host = {NULL, &ops}};
  gmg_params params = gmg_params_default();
  params.smoother = &bad;
  double *f = field(32768, 1), *u = field(32768, 0);
  for (int v = 0; v < 4; v++)
    for (bad_level = 0; bad_level < 3; bad_level++) {
      char text[32];
      gmg_report r;
      bad_value = values[v];
      session s = begin_solver(&p, &params, 2);
      memset(u, 0, 32768 * sizeof *u);
      assert_int_equal(gmg_solve(s.solver, f, u, &r), GMG_DIVERGED);
      snprintf(text, sizeof text, "on level %d ", bad_level);
      if (!strstr(gmg_context_error(s.context), text))
        fail_msg("wanted '%s': %s", text, gmg_context_error(s.context));
      assert_true(r.cycles < 60);
      end_solver(&s);
    }
  free(f), free(u);
}

/* Also where only the upward leg smooths, and where constants are in the null space and f = 0. */
static void divergence_in_odd_places(void **state)
{
  (void)state;
  const gmg_smoother_ops ops = {.sweep = explode};
  const gmg_smoother bad = {.name = "bad", .host = {NULL, &ops}};
  bad_value = -300;
  for (int i = 0; i < 4; i++)
    for (bad_level = 0; bad_level < 3; bad_level++) {
      gmg_problem p = make_problem(2, 64, 64, 1, GMG_CELL, i % 2 ? "pppp" : "dddd");
      gmg_params params = gmg_params_default();
      params.smoother = &bad, params.pre = i / 2, params.post = 1 - i / 2;
      double *f = field(4096, 0), *u = field(4096, 1);
      char text[32];
      session s = begin_solver(&p, &params, 2);
      assert_int_equal(gmg_solve(s.solver, f, u, NULL), GMG_DIVERGED);
      snprintf(text, sizeof text, "on level %d ", bad_level);
      if (!strstr(gmg_context_error(s.context), text)) fail_msg("case %d, wanted '%s': %s", i, text, gmg_context_error(s.context));
      end_solver(&s);
      free(f), free(u);
    }
}

static void not_converged_returns_the_iterate(void **state)
{
  (void)state;
  gmg_problem p = make_problem(3, 24, 24, 24, GMG_CELL, "dddddd");
  gmg_params params = gmg_params_default();
  double *f = field(13824, 1), *u = field(13824, 0), *r = field(13824, 0);
  gmg_report report;
  params.max_cycles = 2, params.rtol = 1e-12;
  session s = begin_solver(&p, &params, 2);
  assert_int_equal(gmg_solve(s.solver, f, u, &report), GMG_NOT_CONVERGED);
  assert_ok(s.context, gmg_residual(s.solver, f, u, r));
  assert_near(norm2(r, 13824), report.residual, 1e-9 * report.residual0);
  assert_true(report.residual < 0.01 * report.residual0);
  end_solver(&s);
  params.max_cycles = 0;
  s = begin_solver(&p, &params, 2);
  memset(u, 0, 13824 * sizeof *u);
  assert_int_equal(gmg_solve(s.solver, f, u, &report), GMG_NOT_CONVERGED);
  assert_int_equal(report.cycles, 0);
  end_solver(&s);
  free(f), free(u), free(r);
}

static void cycles_and_coarse_solvers(void **state)
{
  (void)state;
  gmg_problem p = make_problem(3, 30, 21, 17, GMG_CELL, "dnrdpp");
  const size_t n = unknowns(&p);
  double *f = field(n, 1), *u = field(n, 0);
  for (int cycle = 0; cycle < 3; cycle++)
    for (int coarse = 0; coarse < 2; coarse++)
      for (int levels = 0; levels < 4; levels++)
        for (int fmg = 0; fmg < 3; fmg++) {
          gmg_params params = gmg_params_default();
          gmg_report r;
          params.cycle = (gmg_cycle_kind)cycle, params.coarse = (gmg_coarse_kind)coarse;
          params.max_levels = levels, params.fmg = fmg;
          if (coarse == GMG_COARSE_CHOLESKY && levels > 0) continue; /* too large for it */
          memset(u, 0, n * sizeof *u);
          session s = begin_solver(&p, &params, 2);
          assert_ok(s.context, gmg_solve(s.solver, f, u, &r));
          assert_true(levels == 0 || r.levels == levels);
          assert_below(r.cycles, 8);
          end_solver(&s);
        }
  free(f), free(u);
}

static void plan_tells_the_truth(void **state)
{
  (void)state;
  gmg_plan_info *info = malloc(sizeof *info);
  for (int i = 0; i < 40; i++) {
    static const char *const bc[] = {"dddddd", "nnnnnn", "pppppp", "dnrdpp"};
    gmg_problem p = make_problem(1 + i % 3, 30 + (size_t)i, 33, 20, i % 2 ? GMG_CELL : GMG_VERTEX, bc[i % 4]);
    p.type = i % 5 ? GMG_F64 : GMG_F32;
    gmg_params params = gmg_params_default();
    params.smoother = gmg_smoother_by_name(gmg_smoother_name(i % 5));
    params.deterministic = i / 3 % 2, params.fmg = i / 2 % 2, params.accel = i % 7 ? GMG_ACCEL_NONE : GMG_ACCEL_FLEXIBLE_CG;
    params.coarse = i % 6 ? GMG_COARSE_CG : GMG_COARSE_CHOLESKY;
    session s = begin_solver(&p, &params, 2);
    assert_ok(s.context, gmg_plan(s.context, &p, &params, info));
    assert_int_equal(info->bytes, s.solver->exec.bytes);
    assert_int_equal(info->levels, s.solver->levels);
    assert_int_equal(info->singular, i % 4 == 1 || i % 4 == 2);
    assert_int_equal(!!(info->warnings & GMG_WARN_SINGULAR), info->singular);
    if (info->levels > 1) assert_true(info->predicted_factor >= 0 && info->predicted_factor < 0.9);
    else assert_true(isnan(info->predicted_factor)); /* the coarse solver alone */
    for (int l = 0; l < info->levels; l++)
      assert_int_equal(info->level[l].cells, info->level[l].n[0] * info->level[l].n[1] * info->level[l].n[2]);
    end_solver(&s);
  }
  free(info);
}

static unsigned warnings_of(const gmg_problem *p, const gmg_params *params)
{
  gmg_plan_info *info = malloc(sizeof *info);
  gmg_context *c;
  assert_int_equal(gmg_context_create_host(1, &c), GMG_OK);
  assert_ok(c, gmg_plan(c, p, params, info));
  const unsigned w = info->warnings;
  assert_int_equal(w != 0, info->text[0] != 0);
  gmg_context_destroy(c);
  free(info);
  return w;
}

static void plan_warns(void **state)
{
  (void)state;
  gmg_problem p = make_problem(3, 64, 64, 64, GMG_CELL, "dddddd");
  gmg_params params = gmg_params_default();
  assert_int_equal(warnings_of(&p, &params), 0);
  params.max_levels = 2;
  assert_int_equal(warnings_of(&p, &params), GMG_WARN_COARSEST);
  params = gmg_params_default();
  params.rtol = 1e-15;
  assert_int_equal(warnings_of(&p, &params), GMG_WARN_TOLERANCE);
  params = gmg_params_default();
  p.type = GMG_F32;
  assert_int_equal(warnings_of(&p, &params), GMG_WARN_TOLERANCE);
  p.type = GMG_F64;
  p.h[0] *= 10;
  assert_int_equal(warnings_of(&p, &params), 0);
  params.coarsen_threshold = 0.001;
  assert_int_equal(warnings_of(&p, &params), GMG_WARN_ANISOTROPY | GMG_WARN_SMOOTHER);
  params = gmg_params_default();
  params.smoother = gmg_smoother_by_name("jacobi"), params.omega = 1;
  p.h[0] /= 10;
  assert_int_equal(warnings_of(&p, &params), GMG_WARN_SMOOTHER);
  gmg_problem line = make_problem(1, 1000000, 1, 1, GMG_VERTEX, "dd");
  params = gmg_params_default();
  assert_int_equal(warnings_of(&line, &params), GMG_WARN_TOLERANCE);
}

/* A fully periodic cycle does not know where it starts: shifted data give the shifted result. */
static void translation_invariance(void **state)
{
  (void)state;
  const size_t n = 24 * 20;
  gmg_problem p = make_problem(2, 24, 20, 1, GMG_CELL, "pppp");
  gmg_params params = gmg_params_default();
  params.smoother = gmg_smoother_by_name("jacobi");
  params.coarse = GMG_COARSE_CHOLESKY, params.max_levels = 3;
  double *r = field(n, 1), *z = field(n, 0), *rs = field(n, 0), *zs = field(n, 0);
  session s = begin_solver(&p, &params, 1);
  for (size_t j = 0; j < 20; j++)
    for (size_t i = 0; i < 24; i++) rs[(j + 4) % 20 * 24 + (i + 8) % 24] = r[j * 24 + i]; /* by whole coarsest cells */
  gmg_precondition(s.solver, r, z), gmg_precondition(s.solver, rs, zs);
  for (size_t j = 0; j < 20; j++)
    for (size_t i = 0; i < 24; i++) assert_near(zs[(j + 4) % 20 * 24 + (i + 8) % 24], z[j * 24 + i], 1e-13);
  end_solver(&s);
  free(r), free(z), free(rs), free(zs);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(stagnation_in_1d),
                                     cmocka_unit_test(stagnation_in_float),
                                     cmocka_unit_test(slow_is_not_stagnated),
                                     cmocka_unit_test(slow_near_the_floor_is_not_stagnated),
                                     cmocka_unit_test(singular_problems),
                                     cmocka_unit_test(singular_with_constant_f),
                                     cmocka_unit_test(means_are_projected_on_every_level),
                                     cmocka_unit_test(singular_with_fluxes),
                                     cmocka_unit_test(monitor_stops),
                                     cmocka_unit_test(report_is_consistent),
                                     cmocka_unit_test(check_every),
                                     cmocka_unit_test(stopping_rules),
                                     cmocka_unit_test(symmetric_preconditioner),
                                     cmocka_unit_test(preconditioner_is_linear),
                                     cmocka_unit_test(acceleration),
                                     cmocka_unit_test(acceleration_beyond_convergence),
                                     cmocka_unit_test(update_shift),
                                     cmocka_unit_test(update_forgets_the_shift),
                                     cmocka_unit_test(divergence_names_the_level),
                                     cmocka_unit_test(divergence_in_odd_places),
                                     cmocka_unit_test(not_converged_returns_the_iterate),
                                     cmocka_unit_test(cycles_and_coarse_solvers),
                                     cmocka_unit_test(plan_tells_the_truth),
                                     cmocka_unit_test(plan_warns),
                                     cmocka_unit_test(translation_invariance)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
