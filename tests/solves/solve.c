/* Other functions of a solver: preconditioning, acceleration, update, cycles, coarse solvers, warnings of a plan. */
#include "media.h"
#include "reference.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* With params.symmetric, z = B r with a B that is symmetric and positive definite in the inner product of the control volumes. */
static void symmetric_preconditioner(void **state)
{
  (void)state;
  static const char *const names[] = {"jacobi", "red_black", "chebyshev", "gauss_seidel"};
  static const char *const bc[] = {"dndrpp", "pppppp", "nnnnnn", "dddddd"};
  static const gmg_cycle_kind cycles[] = {GMG_CYCLE_V, GMG_CYCLE_W};
  for (int i = 0; i < 4; i++)
    for (int b = 0; b < 4; b++)
      for (int centering = GMG_CELL; centering <= GMG_VERTEX; centering++) {
        gmg_problem p = make_problem(3, 13, 11, 9, centering, bc[b]);
        gmg_params params = params_for_cycles();
        params.smoother = gmg_smoother_by_name(names[i]);
        params.symmetric = 1, params.deterministic = 1, params.coarse = GMG_COARSE_DENSE;
        params.cycle = ROUND_ROBIN(cycles, b);
        const size_t n = unknowns(&p);
        double *x = field(n, 1), *y = field(n, 2), *bx = field(n, 0), *by = field(n, 0), left = 0, right = 0, own = 0;
        session s = begin_solver(&p, &params, 2);
        assert_ok(s.context, precondition_in(&s, x, bx));
        assert_ok(s.context, precondition_in(&s, y, by));
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
    gmg_params params = params_for_cycles();
    params.smoother = gmg_smoother_by_name(gmg_smoother_name(i));
    if (!has_functions(params.smoother, p.type)) continue;
    params.deterministic = 1, params.coarse = GMG_COARSE_DENSE;
    const size_t n = unknowns(&p);
    double *x = field(n, 1), *y = field(n, 2), *bx = field(n, 0), *by = field(n, 0), *bz = field(n, 0);
    session s = begin_solver(&p, &params, 2);
    precondition_in(&s, x, bx), precondition_in(&s, y, by);
    for (size_t c = 0; c < n; c++) x[c] = 2 * x[c] - 3 * y[c];
    precondition_in(&s, x, bz);
    for (size_t c = 0; c < n; c++) assert_near(bz[c], 2 * bx[c] - 3 * by[c], 1e-13);
    end_solver(&s);
    free(x), free(y), free(bx), free(by), free(bz);
  }
}

static void acceleration(void **state)
{
  (void)state;
  for (int centering = GMG_CELL; centering <= GMG_VERTEX; centering++) {
    gmg_problem p = make_problem(3, 48, 40, 33, centering, "dnrdpp");
    const size_t n = unknowns(&p);
    double *f = field(n, 1), *u = field(n, 0);
    int cycles[4];
    for (int i = 0; i < 4; i++) {
      gmg_params params = params_for_cycles();
      params.smoother = gmg_smoother_by_name(i == 3 ? "async" : "jacobi");
      params.accel = i == 3 ? GMG_ACCEL_FLEXIBLE_CG : (gmg_accel)(GMG_ACCEL_NONE + i);
      memset(u, 0, n * sizeof *u);
      gmg_report r;
      session s = begin_solver(&p, &params, 2);
      assert_ok(s.context, solve_in(&s, f, u, &r));
      double *check = field(n, 0);
      assert_ok(s.context, residual_in(&s, f, u, check));
      assert_below(norm2(check, n), 1.0001e-8 * norm2(f, n)); /* the true residual, not that of the recursion */
      cycles[i] = r.cycles;
      end_solver(&s);
      free(check);
    }
    assert_true(cycles[1] < cycles[0] && cycles[2] < cycles[0] && cycles[3] <= 7);
    free(f), free(u);
  }
}

static double *solved(const gmg_problem *p, gmg_params q, double size, double *residual)
{
  const size_t n = unknowns(p);
  double *f = field(n, 1), *u = field(n, 0), *before = field(n, 0), *r = field(n, 0), mean = 0, volume = 0;
  gmg_report report;
  session s = begin_solver(p, &q, 2);
  for (size_t c = 0; c < n; c++) f[c] *= size;
  for (int repeat = 0; repeat < 2; repeat++) { /* a solve does not change the result */
    fill_random(u, n, 2);
    for (size_t c = 0; c < n; c++) u[c] *= 1e-4 * size; /* a guess with a residual of about the size of f */
    const gmg_status status = solve_in(&s, f, u, &report);
    assert_int_equal(status, q.check_every > 0 ? GMG_NOT_CONVERGED : GMG_OK);
    assert_int_equal(report.cycles, q.max_cycles);
    if (repeat > 0 && q.precision == GMG_PRECISION_SAME) assert_memory_equal(u, before, n * sizeof *u);
    memcpy(before, u, n * sizeof *u);
  }
  for (size_t c = 0; c < n && report.singular; c++) mean += cell_volume(p, c) * f[c], volume += cell_volume(p, c);
  for (size_t c = 0; c < n && report.singular; c++) f[c] -= mean / volume;
  assert_ok(s.context, residual_in(&s, f, u, r));
  *residual = norm2(r, n) / norm2(f, n);
  end_solver(&s);
  free(f), free(r), free(before);
  return u;
}

/* The number of measured residuals does not change the bits of u. In mixed precision it changes the divisor of the residual, so u
   changes by rounding. */
static void measured_or_not(void **state)
{
  (void)state;
  static const shape shapes[] = {{3, {24, 20, 18}, GMG_CELL, "dddddd"}, {3, {20, 24, 16}, GMG_CELL, "nnppnn"}, {2, {67, 45, 1}, GMG_VERTEX, "dnrd"},
                                 {1, {300, 1, 1}, GMG_CELL, "dd"}};
  static const double sizes[] = {1, 1e-34, 1e36, 1, 1e-34}; /* relative to f; float alone would not reach it */
  static const struct {
    gmg_accel accel;
    int mixed, fmg;
  } solves[] = {{GMG_ACCEL_CG, 0, 0}, {GMG_ACCEL_CG, 1, 0}, {GMG_ACCEL_FLEXIBLE_CG, 0, 0}, {GMG_ACCEL_FLEXIBLE_CG, 1, 0}, {GMG_ACCEL_NONE, 0, 0},
                {GMG_ACCEL_NONE, 1, 0}, {GMG_ACCEL_CG, 0, 1}, {GMG_ACCEL_CG, 1, 1}, {GMG_ACCEL_FLEXIBLE_CG, 0, 1}, {GMG_ACCEL_FLEXIBLE_CG, 1, 1},
                {GMG_ACCEL_NONE, 0, 1}, {GMG_ACCEL_NONE, 1, 1}};
  for (int i = 0; i < 5; i++)
    for (size_t k = 0; k < sizeof solves / sizeof *solves; k++) {
      if (i == 4 && solves[k].fmg) continue; /* a measured solve drops a full multigrid start that makes the residual larger, as in the ball */
      medium m = ball(3, 24, 1e3, GMG_CELL);
      const gmg_problem p = i < 4 ? shaped_problem(&shapes[i]) : m.p;
      const int mixed = solves[k].mixed, of_its_own = solves[k].accel == GMG_ACCEL_CG;
      gmg_params q = params_for_cycles();
      q.precision = mixed ? GMG_PRECISION_MIXED : GMG_PRECISION_SAME, q.deterministic = 1, q.fmg = solves[k].fmg;
      q.accel = solves[k].accel;
      if (of_its_own) q.smoother = gmg_smoother_by_name("red_black");
      q.max_cycles = 4, q.rtol = 1e-15;
      const size_t n = unknowns(&p);
      double residual[4], most = 0, *u[4];
      for (int every = 0; every < 4; every++) {
        q.check_every = count_or_none(every);
        u[every] = solved(&p, q, sizes[i], &residual[every]);
      }
      for (size_t c = 0; c < n; c++) most = fmax(most, fabs(u[1][c]));
      for (int every = 0; every < 4; every++) {
        if (!mixed) assert_memory_equal(u[1], u[every], n * sizeof *u[1]);
        for (size_t c = 0; c < n; c++) assert_near(u[every][c], u[1][c], (mixed && every > 1 ? 1e-4 : 1e-6) * most);
        /* Cycles in low precision without a residual between them end with more rounding, in 1D with 3.3 times as much. */
        assert_below(residual[every], (mixed && every > 1 ? 5 : 1.01) * residual[1] + 1e-12);
        assert_below(residual[every], of_its_own ? 1 : i < 4 ? 1e-3 : 0.1);
      }
      for (int every = 0; every < 4; every++) free(u[every]);
      free_medium(&m);
    }
}

/* Far below the floor flexible CG must keep its solution, although its directions are rounding noise. */
static void acceleration_beyond_convergence(void **state)
{
  (void)state;
  static const size_t sizes[][2] = {{1, 1}, {2, 2}, {3, 3}, {5, 4}, {17, 13}};
  static const gmg_centering centerings[] = {GMG_VERTEX, GMG_CELL};
  static const char *const walls[] = {"dnpp", "dddd", "dddd"};
  static const gmg_coarse_kind coarse[] = {GMG_COARSE_CG, GMG_COARSE_CG, GMG_COARSE_DENSE, GMG_COARSE_DENSE};
  enum { CASES = 200, SIZES = COUNT(sizes), PLAIN_CG_EVERY = 7, MEASURED_EVERY = 4 };
  for (int i = 0; i < CASES; i++) {
    const size_t nx = sizes[i % SIZES][0], ny = sizes[i % SIZES][1], n = nx * ny;
    const int plain_cg = i % PLAIN_CG_EVERY == 0, measured = i / SIZES % MEASURED_EVERY == 0;
    gmg_problem p = make_problem(2, nx, ny, 1, ROUND_ROBIN(centerings, i), ROUND_ROBIN(walls, i));
    gmg_params params = params_for_cycles();
    uint64_t random = (uint64_t)i;
    p.shift = 10 * (uniform(&random) + 0.5);
    params.accel = plain_cg ? GMG_ACCEL_CG : GMG_ACCEL_FLEXIBLE_CG;
    if (plain_cg) params.smoother = gmg_smoother_by_name("red_black");
    params.coarse = ROUND_ROBIN(coarse, i);
    params.check_every = measured ? 2 : GMG_NONE, params.max_cycles = 20, params.rtol = 1e-10;
    double *f = field(n, (uint64_t)i + 1), *u = field(n, 0), *r = field(n, 0);
    session s = begin_solver(&p, &params, 1);
    assert_ok(s.context, solve_in(&s, f, u, NULL));
    assert_ok(s.context, residual_in(&s, f, u, r));
    assert_below(norm2(r, n), 1e-9 * norm2(f, n));
    end_solver(&s);
    free(f), free(u), free(r);
  }
}

/* An update to a huge shift, and back: the solver gives the same bits as before. */
static void update_forgets_the_shift(void **state)
{
  (void)state;
  gmg_problem p = make_problem(2, 512, 1, 1, GMG_CELL, "dddd");
  p.h[0] = 1, p.h[1] = 0.3;
  for (int i = 0; gmg_smoother_name(i); i++) {
    gmg_params params = params_for_cycles();
    params.smoother = gmg_smoother_by_name(gmg_smoother_name(i)), params.deterministic = 1;
    if (!has_functions(params.smoother, p.type)) continue;
    double *f = field(512, 1), *u = field(512, 0), *v = field(512, 0);
    session s = begin_solver(&p, &params, 1);
    assert_ok(s.context, solve_in(&s, f, u, NULL));
    p.shift = 1e20;
    assert_ok(s.context, update_in(&s, &p));
    p.shift = 0;
    assert_ok(s.context, update_in(&s, &p));
    assert_ok(s.context, solve_in(&s, f, v, NULL));
    assert_memory_equal(u, v, 512 * sizeof *u);
    end_solver(&s);
    free(f), free(u), free(v);
  }
}

/* An update of the shift gives the same bits as a new solver. */
static void update_shift(void **state)
{
  static const gmg_coarse_kind coarse[] = {GMG_COARSE_CG, GMG_COARSE_DENSE};
  (void)state;
  for (int i = 0; gmg_smoother_name(i); i++) {
    gmg_problem p = make_problem(2, 40, 33, 1, GMG_CELL, "nnpp");
    gmg_params params = params_for_cycles();
    params.smoother = gmg_smoother_by_name(gmg_smoother_name(i));
    if (!has_functions(params.smoother, p.type)) continue;
    params.deterministic = 1, params.coarse = ROUND_ROBIN(coarse, i);
    const size_t n = unknowns(&p);
    double *f = field(n, 1), *u = field(n, 0), *v = field(n, 0);
    session s = begin_solver(&p, &params, 2);
    static const double shifts[] = {0, 100, 1e6, 0, 3};
    for (int k = 0; k < 5; k++) {
      p.shift = shifts[k];
      gmg_report r;
      update_as_new(&s, &p, &params, f, u, &r);
      assert_int_equal(r.singular, shifts[k] == 0);
    }
    memcpy(v, u, n * sizeof *u);
    p.shift = -1000;
    assert_int_equal(update_in(&s, &p), GMG_ERR_UNSUPPORTED);
    p.shift = 3, p.n[0] = 41;
    assert_int_equal(update_in(&s, &p), GMG_ERR_ARGUMENT);
    assert_true(strstr(gmg_context_error(s.context), "problem.n") != NULL);
    memset(u, 0, n * sizeof *u);
    assert_ok(s.context, solve_in(&s, f, u, NULL)); /* the solver still works, with shift 3 */
    assert_memory_equal(u, v, n * sizeof *u);
    end_solver(&s);
    free(f), free(u), free(v);
  }
}

static void cycles_and_coarse_solvers(void **state)
{
  (void)state;
  gmg_problem p = make_problem(3, 30, 21, 17, GMG_CELL, "dnrdpp");
  const size_t n = unknowns(&p);
  double *f = field(n, 1), *u = field(n, 0);
  for (int cycle = GMG_CYCLE_V; cycle <= GMG_CYCLE_F; cycle++)
    for (int coarse = GMG_COARSE_CG; coarse <= GMG_COARSE_DENSE; coarse++)
      for (int levels = 0; levels < 4; levels++)
        for (int fmg = 0; fmg < 3; fmg++) {
          gmg_params params = params_for_cycles();
          gmg_report r;
          params.cycle = (gmg_cycle_kind)cycle, params.coarse = (gmg_coarse_kind)coarse;
          params.max_levels = levels, params.fmg = fmg;
          if (coarse == GMG_COARSE_DENSE && levels > 0) continue; /* too large for Cholesky */
          memset(u, 0, n * sizeof *u);
          session s = begin_solver(&p, &params, 2);
          assert_ok(s.context, solve_in(&s, f, u, &r));
          assert_true(levels == 0 || r.levels == levels);
          assert_below(r.cycles, 8);
          end_solver(&s);
        }
  free(f), free(u);
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
  gmg_params params = params_for_cycles();
  assert_int_equal(warnings_of(&p, &params), 0);
  params.max_levels = 2;
  assert_int_equal(warnings_of(&p, &params), GMG_WARN_COARSEST);
  params = params_for_cycles();
  params.rtol = 1e-15;
  assert_int_equal(warnings_of(&p, &params), GMG_WARN_TOLERANCE);
  params = params_for_cycles();
  p.type = GMG_F32;
  assert_int_equal(warnings_of(&p, &params), GMG_WARN_TOLERANCE);
  p.type = GMG_F64;
  p.h[0] *= 10;
  assert_int_equal(warnings_of(&p, &params), 0);
  params.coarsen_threshold = 0.001;
  assert_int_equal(warnings_of(&p, &params), GMG_WARN_ANISOTROPY | GMG_WARN_SMOOTHER);
  params = params_for_cycles();
  params.smoother = gmg_smoother_by_name("jacobi"), params.omega = 1;
  p.h[0] /= 10;
  assert_int_equal(warnings_of(&p, &params), GMG_WARN_SMOOTHER);
  gmg_problem line = make_problem(1, 1000000, 1, 1, GMG_VERTEX, "dd");
  params = params_for_cycles();
  assert_int_equal(warnings_of(&line, &params), GMG_WARN_TOLERANCE);
}

/* In a fully periodic problem shifted data give the shifted result. */
static void translation_invariance(void **state)
{
  (void)state;
  const size_t n = 24 * 20;
  gmg_problem p = make_problem(2, 24, 20, 1, GMG_CELL, "pppp");
  gmg_params params = params_for_cycles();
  params.smoother = gmg_smoother_by_name("jacobi");
  params.coarse = GMG_COARSE_DENSE, params.max_levels = 3;
  double *r = field(n, 1), *z = field(n, 0), *rs = field(n, 0), *zs = field(n, 0);
  session s = begin_solver(&p, &params, 1);
  for (size_t j = 0; j < 20; j++)
    for (size_t i = 0; i < 24; i++) rs[(j + 4) % 20 * 24 + (i + 8) % 24] = r[j * 24 + i]; /* shifted by a multiple of the coarsest cell */
  precondition_in(&s, r, z), precondition_in(&s, rs, zs);
  for (size_t j = 0; j < 20; j++)
    for (size_t i = 0; i < 24; i++) assert_near(zs[(j + 4) % 20 * 24 + (i + 8) % 24], z[j * 24 + i], 1e-13);
  end_solver(&s);
  free(r), free(z), free(rs), free(zs);
}

int main(int argc, char **argv)
{
  if (for_device(argc, argv)) return SKIPPED;
  const struct CMUnitTest tests[] = {cmocka_unit_test(symmetric_preconditioner),
                                     cmocka_unit_test(preconditioner_is_linear),
                                     cmocka_unit_test(acceleration),
                                     cmocka_unit_test(measured_or_not),
                                     cmocka_unit_test(acceleration_beyond_convergence),
                                     cmocka_unit_test(update_forgets_the_shift),
                                     cmocka_unit_test(update_shift),
                                     cmocka_unit_test(cycles_and_coarse_solvers),
                                     cmocka_unit_test(plan_warns),
                                     cmocka_unit_test(translation_invariance)};
  return run_selected(tests);
}
