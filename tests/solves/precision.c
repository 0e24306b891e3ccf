/* Mixed precision: corrections in float and residuals in double reach the accuracy of double, in about as many cycles, for every
   class of problem and numbers of any magnitude. Where this is impossible, mixed precision is refused or not chosen. */
#include "media.h"


#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A solve. A solver in double computes the residual of its answer. */
typedef struct {
  gmg_status status;
  int cycles;
  double residual, target, seen; /* seen: the residual computed by the other solver */
} outcome;

static outcome solve(const gmg_problem *p, gmg_params q, gmg_precision precision, const double *f, double *u)
{
  const size_t n = unknowns(p);
  gmg_report report;
  q.precision = precision;
  session s = begin_solver(p, &q, 2);
  const gmg_status status = solve_in(&s, f, u, &report);
  outcome o = {status, report.cycles, report.residual, report.target, 0};
  end_solver(&s);
  q.precision = GMG_PRECISION_SAME;
  s = begin_solver(p, &q, 1);
  double *r = malloc(n * sizeof *r);
  assert_ok(s.context, residual_in(&s, f, u, r));
  o.seen = norm2(r, n);
  free(r);
  end_solver(&s);
  return o;
}

static void compare(const char *what, const gmg_problem *p, gmg_params q, int more, double f_scale, double u_scale)
{
  const size_t n = unknowns(p);
  double *f = field(n, 1), *u[2] = {field(n, 2), field(n, 2)};
  for (size_t c = 0; c < n; c++) f[c] *= f_scale, u[0][c] *= u_scale, u[1][c] *= u_scale;
  const outcome same = solve(p, q, GMG_PRECISION_SAME, f, u[0]), mixed = solve(p, q, GMG_PRECISION_MIXED, f, u[1]);
  if (same.status != GMG_OK || mixed.status != GMG_OK)
    fail_msg("%s: %s in double, %s mixed (f %g, u %g, residuals %g, %g)", what, gmg_status_string(same.status),
             gmg_status_string(mixed.status), f_scale, u_scale, same.residual, mixed.residual);
  if (mixed.cycles > same.cycles + more) fail_msg("%s: %d cycles in double, %d mixed", what, same.cycles, mixed.cycles);
  if (!(mixed.seen <= 1.01 * mixed.target)) fail_msg("%s: residual %g, reported %g, target %g", what, mixed.seen, mixed.residual, mixed.target);
  free(f), free(u[0]), free(u[1]);
}

static void every_class_of_problem(void **state)
{
  (void)state;
  static const struct {
    shape shape;
    double shift;
    gmg_accel accel;
    gmg_coarse_kind coarse;
  } cases[] = {{{3, {33, 32, 31}, GMG_CELL, "dddddd"}, 0, GMG_ACCEL_NONE, GMG_COARSE_DENSE},
               {{3, {32, 32, 32}, GMG_CELL, "nnnnnn"}, 0, GMG_ACCEL_FLEXIBLE_CG, GMG_COARSE_CG},
               {{3, {31, 31, 31}, GMG_CELL, "pppppp"}, 0, GMG_ACCEL_NONE, GMG_COARSE_CG},
               {{3, {31, 30, 33}, GMG_VERTEX, "dnrdpp"}, 0, GMG_ACCEL_FLEXIBLE_CG, GMG_COARSE_DENSE},
               {{2, {97, 65, 1}, GMG_VERTEX, "dddd"}, 0, GMG_ACCEL_NONE, GMG_COARSE_CG},
               {{2, {128, 96, 1}, GMG_CELL, "nnrd"}, 30, GMG_ACCEL_FLEXIBLE_CG, GMG_COARSE_CG},
               {{1, {1000, 1, 1}, GMG_CELL, "dd"}, 0, GMG_ACCEL_NONE, GMG_COARSE_DENSE},
               {{3, {40, 40, 4}, GMG_CELL, "ddddpp"}, 1, GMG_ACCEL_FLEXIBLE_CG, GMG_COARSE_CG},
               {{2, {64, 64, 1}, GMG_CELL, "pppp"}, 0, GMG_ACCEL_NONE, GMG_COARSE_CG},
               {{2, {5, 1, 1}, GMG_CELL, "dddd"}, 0, GMG_ACCEL_FLEXIBLE_CG, GMG_COARSE_DENSE}};
  static const struct {
    const char *name;
    gmg_cycle_kind cycle;
  } smoothers[] = {{"async", GMG_CYCLE_V}, {"red_black", GMG_CYCLE_W}, {"chebyshev", GMG_CYCLE_F}, {"jacobi", GMG_CYCLE_V},
                   {"gauss_seidel", GMG_CYCLE_W}};
  for (int i = 0; i < COUNT(cases); i++)
    for (int k = 0; k < COUNT(smoothers); k++) {
      gmg_problem p = shaped_problem(&cases[i].shape);
      gmg_params q = params_for_cycles();
      p.shift = cases[i].shift;
      q.smoother = gmg_smoother_by_name(smoothers[k].name);
      q.deterministic = 1;
      q.rtol = 1e-10;
      q.accel = cases[i].accel, q.cycle = smoothers[k].cycle, q.coarse = cases[i].coarse;
      compare(smoothers[k].name, &p, q, 1, 1, 1);
    }
}

static void coefficients(void **state)
{
  (void)state;
  medium m[] = {ball(3, 33, 1e4, GMG_CELL), ball(3, 32, 1e-4, GMG_CELL), ball(2, 96, 1e4, GMG_VERTEX), checkerboard(3, 32, 1000, GMG_CELL),
                wavy(3, 24, 0.9, GMG_VERTEX), stretched(3, 32, 10, GMG_CELL), absorbing(3, 32, 1e3, GMG_CELL)};
  static const char *const names[] = {"ball 1e4", "ball 1e-4", "ball on vertices", "checkerboard", "wavy", "stretched", "absorbing"};
  for (size_t i = 0; i < sizeof m / sizeof *m; i++) {
    gmg_params q = params_for_cycles();
    q.deterministic = 1;
    compare(names[i], &m[i].p, q, 2, 1, 0);
    q.smoother = gmg_smoother_by_name("red_black");
    if (i != 5) q.accel = GMG_ACCEL_CG; /* the cycle is symmetric up to rounding in float */
    compare(names[i], &m[i].p, q, 2, 1, 0);
    free_medium(&m[i]);
  }
}

/* Numbers far beyond the range of float. */
static void any_size_of_numbers(void **state)
{
  (void)state;
  static const double f_scale[] = {1e-100, 1e-60, 1, 1e60, 1e100}, h_scale[] = {1e-9, 1, 1e9};
  static const struct {
    double scale;
    gmg_accel accel;
  } guesses[] = {{0, GMG_ACCEL_NONE}, {1e-60, GMG_ACCEL_FLEXIBLE_CG}, {1, GMG_ACCEL_NONE}, {1e60, GMG_ACCEL_FLEXIBLE_CG}};
  for (int h = 0; h < 3; h++)
    for (int i = 0; i < 5; i++)
      for (int j = 0; j < COUNT(guesses); j++) {
        gmg_problem p = make_problem(3, 20, 20, 20, GMG_CELL, "dddddd");
        gmg_params q = params_for_cycles();
        for (int a = 0; a < 3; a++) p.h[a] *= h_scale[h];
        q.deterministic = 1;
        q.accel = guesses[j].accel;
        /* the rounding of a guess that is far too large stays in u, so the tolerance is relative to the guess */
        q.atol = 1e-9 * guesses[j].scale / (p.h[0] * p.h[0]);
        compare("sizes", &p, q, 1, f_scale[i], guesses[j].scale);
      }
}

static gmg_precision chosen(const gmg_problem *p, const gmg_params *q)
{
  gmg_context *c;
  gmg_plan_info *info = malloc(sizeof *info);
  assert_int_equal(gmg_context_create_host(1, &c), GMG_OK);
  assert_ok(c, gmg_plan(c, p, q, info));
  const gmg_precision precision = info->precision;
  gmg_context_destroy(c);
  free(info);
  return precision;
}

static void weakly_held(gmg_problem *p)
{
  for (int i = 0; i < 6; i++) p->robin[i / 2][i % 2][0] = 2e-6, p->robin[i / 2][i % 2][1] = 1;
}

static void the_best_choice(void **state)
{
  (void)state;
  const gmg_params q = params_for_cycles();
  const gmg_problem p = make_problem(3, 16, 16, 16, GMG_CELL, "dddddd");
  assert_int_equal(chosen(&p, &q), GMG_PRECISION_MIXED);
  const gmg_problem flat = make_problem(2, 512, 512, 1, GMG_CELL, "dddd"), large = make_problem(2, 1024, 1024, 1, GMG_CELL, "dddd");
  gmg_params start = q;
  start.fmg = 1;
  assert_int_equal(chosen(&p, &start), GMG_PRECISION_MIXED);
  assert_int_equal(chosen(&flat, &start), GMG_PRECISION_MIXED);
  assert_int_equal(chosen(&large, &q), GMG_PRECISION_MIXED);
  assert_int_equal(chosen(&large, &start), GMG_PRECISION_MIXED);
  const gmg_problem between_walls = make_problem(2, 8192, 8192, 1, GMG_CELL, "nnnn");
  assert_int_equal(chosen(&between_walls, &q), GMG_PRECISION_MIXED);
#define SAME(change)                                            \
  do {                                                          \
    gmg_problem changed = p;                                    \
    gmg_params with = q;                                        \
    change;                                                     \
    assert_int_equal(chosen(&changed, &with), GMG_PRECISION_SAME); \
  } while (0)
  SAME(with.precision = GMG_PRECISION_SAME);
  SAME(changed.n[2] = 15);
  SAME(changed.type = GMG_F32);
  SAME(with.max_levels = 1);
  SAME((with.smoother = gmg_smoother_by_name("red_black"), with.symmetric = 1));
  SAME((with.smoother = gmg_smoother_by_name("red_black"), with.accel = GMG_ACCEL_CG));
  SAME(changed.h[0] = changed.h[1] = changed.h[2] = 1e-14);
  SAME(changed.h[0] = changed.h[1] = changed.h[2] = 1e14);
  SAME((changed = make_problem(1, 30000, 1, 1, GMG_CELL, "dd")));
  SAME((changed = make_problem(3, 32, 32, 32, GMG_CELL, "nnnnnn"), changed.shift = 5e-5));
  SAME(with.coarse_cells = 4096);
  double sigma[4096];
  for (int i = 0; i < 4096; i++) sigma[i] = 1e-5;
  SAME((changed = make_problem(3, 16, 16, 16, GMG_CELL, "nnnnnn"), changed.sigma = sigma));
  SAME((changed = make_problem(3, 16, 16, 16, GMG_CELL, "pppppp"), changed.sigma = sigma));
  gmg_problem held = make_problem(3, 16, 16, 16, GMG_CELL, "rrrrrr");
  assert_int_equal(chosen(&held, &q), GMG_PRECISION_MIXED);
  SAME((changed = held, memset(changed.robin, 0, sizeof changed.robin), weakly_held(&changed)));
#undef SAME
  medium mild = ball(3, 16, 1e4, GMG_CELL), hard = ball(3, 16, 1e6, GMG_CELL);
  assert_int_equal(chosen(&mild.p, &q), GMG_PRECISION_MIXED);
  assert_int_equal(chosen(&hard.p, &q), GMG_PRECISION_SAME);
  free_medium(&mild), free_medium(&hard);
}

static void nothing(const gmg_smoother_level *l, void *state, const void *f, void *u, int steps, gmg_leg leg)
{
  (void)l, (void)state, (void)f, (void)u, (void)steps, (void)leg;
}

static void refused(void **state)
{
  (void)state;
  const gmg_smoother_ops ops = {.sweep = nothing};
  const gmg_smoother wide = {.name = "wide", .ops = {[GMG_BACKEND_HOST] = {[GMG_F64] = &ops}}};
  gmg_context *c;
  gmg_plan_info *info = malloc(sizeof *info);
  assert_int_equal(gmg_context_create_host(1, &c), GMG_OK);
  for (int i = 0; i < 5; i++) {
    gmg_problem p = make_problem(3, 16, 16, 16, GMG_CELL, "nnnnnn");
    gmg_params q = params_for_cycles();
    gmg_solver *s = NULL;
    const char *const words[] = {"problem.type = GMG_F32", "params.smoother = \"wide\"", "beta / h^2",
                                 "beta / h^2", "shift = 1e-06"};
    q.precision = GMG_PRECISION_MIXED;
    if (i == 0) p.type = GMG_F32;
    if (i == 1) q.smoother = &wide;
    if (i == 2) p.h[0] = p.h[1] = p.h[2] = 1e-14;
    if (i == 3) p.h[0] = p.h[1] = p.h[2] = 1e14;
    if (i == 4) p.shift = 1e-6;
    assert_int_equal(gmg_solver_create(c, &p, &q, &s), GMG_ERR_UNSUPPORTED);
    assert_null(s);
    assert_non_null(strstr(gmg_context_error(c), words[i]));
    assert_non_null(strstr(gmg_context_error(c), "params.precision = GMG_PRECISION_"));
    assert_int_equal(gmg_plan(c, &p, &q, info), GMG_ERR_UNSUPPORTED);
  }
  gmg_context_destroy(c);
  free(info);
}

/* An update to a problem that is refused in mixed precision leaves the solver as it was. Other updates are accepted. */
static void updates(void **state)
{
  (void)state;
  const gmg_params q = params_for_cycles();
  gmg_problem p = make_problem(3, 20, 20, 20, GMG_CELL, "nnnnnn");
  const size_t n = unknowns(&p);
  gmg_report r;
  p.shift = 10;
  assert_int_equal(chosen(&p, &q), GMG_PRECISION_MIXED);
  session s = begin_solver(&p, &q, 2);
  double *f = field(n, 1), *u = field(n, 0), *w = field(n, 0);
  for (size_t c = 0; c < n; c++) f[c] += 1;
  assert_ok(s.context, solve_in(&s, f, u, &r));
  p.shift = 1e-7;
  assert_int_equal(update_in(&s, &p), GMG_ERR_UNSUPPORTED);
  assert_non_null(strstr(gmg_context_error(s.context), "shift = 1e-07"));
  assert_ok(s.context, solve_in(&s, f, w, &r));
  for (size_t c = 0; c < n; c++) assert_near(w[c], u[c], 1e-7);
  for (int i = 0; i < 2; i++) { /* the first is singular; neither is refused */
    p.shift = i ? 3 : 0;
    assert_ok(s.context, update_in(&s, &p));
    memset(w, 0, n * sizeof *w);
    assert_ok(s.context, solve_in(&s, f, w, &r));
    assert_int_equal(r.singular, i == 0);
    assert_below(r.cycles, 8);
  }
  end_solver(&s);
  free(f), free(u), free(w);
}

/* gmg_precondition() in mixed precision gives what it gives in double, up to rounding in float, for r of any magnitude. */
static void preconditioner(void **state)
{
  (void)state;
  static const double scale[] = {1, 1e-100, 1e100, 0};
  for (int singular = 0; singular < 2; singular++) {
    const gmg_problem p = make_problem(3, 20, 21, 22, GMG_CELL, singular ? "nnnnnn" : "dddddd");
    const size_t n = unknowns(&p);
    double *r = field(n, 3), *z[2] = {field(n, 4), field(n, 4)};
    for (int k = 0; k < 4; k++) {
      for (size_t c = 0; c < n; c++) r[c] = r[c] == 0 ? 0 : scale[k] * r[c];
      for (int m = 0; m < 2; m++) {
        gmg_params q = params_for_cycles();
        q.deterministic = 1, q.precision = m ? GMG_PRECISION_MIXED : GMG_PRECISION_SAME;
        q.coarse_rtol = 1e-6;
        q.async.block[0] = q.async.block[1] = q.async.block[2] = 8; /* those that AUTO chooses depend on the precision */
        for (size_t c = 0; c < n; c++) z[m][c] = NAN; /* z is not read */
        session s = begin_solver(&p, &q, 2);
        assert_ok(s.context, precondition_in(&s, r, z[m]));
        end_solver(&s);
      }
      const double size = norm2(z[0], n);
      for (size_t c = 0; c < n; c++) z[1][c] -= z[0][c];
      assert_below(norm2(z[1], n), 2e-5 * size);
      if (scale[k] != 0) {
        assert_true(size > 0);
        for (size_t c = 0; c < n; c++) r[c] /= scale[k];
      }
    }
    free(r), free(z[0]), free(z[1]);
  }
}

static int bad_level;
static float bad_value;

static void explode(const gmg_smoother_level *l, void *state, const void *f, void *u, int steps, gmg_leg leg)
{
  gmg_smoother_by_name("red_black")->ops[GMG_BACKEND_HOST][GMG_F32]->sweep(l, state, f, u, steps, leg);
  if (l->index != bad_level) return;
  for (size_t c = 0; c < l->A->cells; c++) ((float *)u)[c] *= c % 2 ? bad_value : 1;
}

static void divergence_names_the_level(void **state)
{
  (void)state;
  if (on_device) skip(); /* the test's smoother is for the host */
  static const float values[] = {-300, 1e9f, NAN, INFINITY};
  const gmg_smoother_ops ops = {.sweep = explode};
  const gmg_smoother bad = {.name = "bad", .ops = {[GMG_BACKEND_HOST] = {[GMG_F32] = &ops}}};
  const gmg_problem p = make_problem(3, 32, 32, 32, GMG_CELL, "dddddd");
  const size_t n = unknowns(&p);
  double *f = field(n, 1), *u = field(n, 0);
  for (int v = 0; v < 4; v++)
    for (bad_level = 0; bad_level < 3; bad_level++) {
      gmg_params q = params_for_cycles();
      char text[32];
      bad_value = values[v];
      q.smoother = &bad, q.precision = GMG_PRECISION_MIXED;
      session s = begin_solver(&p, &q, 2);
      memset(u, 0, n * sizeof *u);
      assert_int_equal(solve_in(&s, f, u, NULL), GMG_DIVERGED);
      snprintf(text, sizeof text, "on level %d ", bad_level);
      if (!strstr(gmg_context_error(s.context), text)) fail_msg("wanted '%s': %s", text, gmg_context_error(s.context));
      end_solver(&s);
    }
  free(f), free(u);
}

/* Deterministic solves give the same bits with any number of threads. Unmeasured solves agree within rounding. */
static void deterministic(void **state)
{
  (void)state;
  medium jump = ball(3, 30, 1e3, GMG_CELL);
  const gmg_problem plain = make_problem(3, 30, 30, 30, GMG_CELL, "dddddd");
  const gmg_problem *problems[] = {&plain, &jump.p};
  const size_t n = unknowns(&plain);
  for (int i = 0; i < 2; i++) {
    double *f = field(n, 1), *u[3] = {field(n, 0), field(n, 0), field(n, 0)};
    for (int k = 0; k < 3; k++) {
      gmg_params q = params_for_cycles();
      q.deterministic = 1, q.max_cycles = 4, q.check_every = k < 2 ? 1 : GMG_NONE, q.rtol = 1e-30;
      session s = begin_solver(problems[i], &q, k == 0 ? 1 : 3);
      const gmg_status status = solve_in(&s, f, u[k], NULL);
      assert_int_equal(status, k < 2 ? GMG_NOT_CONVERGED : GMG_OK);
      end_solver(&s);
    }
    assert_memory_equal(u[0], u[1], n * sizeof *f);
    double difference = 0; /* an unmeasured solve uses another divisor of the residual, so rounding in float differs */
    for (size_t c = 0; c < n; c++) difference = fmax(difference, fabs(u[2][c] - u[0][c]));
    assert_below(difference, 1e-6 * norm2(u[0], n));
    free(f), free(u[0]), free(u[1]), free(u[2]);
  }
  free_medium(&jump);
}

/* A full multigrid start with boundary values. */
static void start(const gmg_problem *p, gmg_params q, gmg_precision precision, double scale, double mean, double *u)
{
  const size_t n = unknowns(p);
  double *f = field(n, 1), *g = field(n, 2);
  for (size_t c = 0; c < n; c++) f[c] = scale * (f[c] + mean), g[c] *= scale, u[c] = NAN;
  q.precision = precision;
  session s = begin_solver(p, &q, 2);
  for (int a = 0; a < p->dim; a++)
    for (int side = 0; side < 2; side++)
      if (p->bc[a][side] != GMG_PERIODIC) assert_ok(s.context, set_values_in(&s, a, side, g + side));
  const gmg_status status = solve_in(&s, f, u, NULL);
  if (status > GMG_NOT_CONVERGED) fail_msg("%s: %s", gmg_status_string(status), gmg_context_error(s.context));
  end_solver(&s);
  free(f), free(g);
}

/* A full multigrid start with coarser levels in float gives what it gives in double, up to rounding in float, for numbers of any
   magnitude. */
static void full_multigrid(void **state)
{
  (void)state;
  static const shape shapes[] = {{3, {33, 32, 31}, GMG_CELL, "dddddd"}, {3, {32, 20, 24}, GMG_CELL, "nnnnnn"}, {3, {31, 30, 33}, GMG_VERTEX, "dnrdpp"},
                                 {3, {31, 31, 31}, GMG_CELL, "pppppp"}, {2, {97, 65, 1}, GMG_VERTEX, "ddnr"},  {3, {40, 40, 4}, GMG_CELL, "ddddpp"},
                                 {1, {999, 1, 1}, GMG_CELL, "dn"},      {1, {1000, 1, 1}, GMG_VERTEX, "dd"},   {2, {5, 2, 1}, GMG_CELL, "dddd"},
                                 {2, {100, 3, 1}, GMG_VERTEX, "rrnn"}};
  static const struct {
    int starts, check_every, cycles; /* starts: gmg_params::fmg */
    double scale, mean;              /* scale of all numbers, and mean of f in singular problems, which gmg removes */
    gmg_accel accel;
  } solves[] = {{1, 0, 1, 1, 0, GMG_ACCEL_NONE},          {1, 0, 1, 1e-60, 1e5, GMG_ACCEL_NONE}, {1, 0, 1, 1e60, 0, GMG_ACCEL_NONE},
                {2, 0, 2, 1, 1e5, GMG_ACCEL_NONE},        {2, 0, 2, 1e-60, 0, GMG_ACCEL_NONE},   {2, 0, 2, 1e60, 1e5, GMG_ACCEL_NONE},
                {1, 1, 1, 1, 0, GMG_ACCEL_NONE},          {1, 1, 1, 1e-60, 1e5, GMG_ACCEL_NONE}, {1, 1, 1, 1e60, 0, GMG_ACCEL_FLEXIBLE_CG},
                {2, 1, 2, 1, 1e5, GMG_ACCEL_NONE},        {2, 1, 2, 1e-60, 0, GMG_ACCEL_NONE},   {2, 1, 2, 1e60, 1e5, GMG_ACCEL_NONE}};
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
    for (size_t k = 0; k < sizeof solves / sizeof *solves; k++) {
      const gmg_problem p = shaped_problem(&shapes[i]);
      const size_t n = unknowns(&p);
      double *u[2] = {field(n, 0), field(n, 0)};
      gmg_params q = params_for_cycles();
      q.deterministic = 1, q.fmg = solves[k].starts, q.max_cycles = solves[k].cycles;
      q.check_every = count_or_none(solves[k].check_every);
      q.accel = solves[k].accel, q.coarse_rtol = 1e-6;
      q.async.block[0] = q.async.block[1] = q.async.block[2] = 8; /* those that AUTO chooses depend on the precision */
      /* behind a wall that mirrors, and across an odd seam, the plane kernel of a device, which takes two sweeps alone, relaxes in
         another way than packed tiles, which take float alone */
      if (i == 2 || i == 3) q.async.local_sweeps = 3;
      const double mean = strspn(shapes[i].bc, "np") == strlen(shapes[i].bc) ? solves[k].mean : 0;
      for (int m = 0; m < 2; m++) start(&p, q, m ? GMG_PRECISION_MIXED : GMG_PRECISION_SAME, solves[k].scale, mean, u[m]);
      const double size = norm2(u[0], n);
      for (size_t c = 0; c < n; c++) u[1][c] -= u[0][c];
      if (!(norm2(u[1], n) <= 2e-5 * size)) fail_msg("%s, %zu unknowns, solve %zu: %g of %g differs", shapes[i].bc, n, k, norm2(u[1], n), size);
      free(u[0]), free(u[1]);
    }
  medium m[] = {ball(3, 33, 1e4, GMG_CELL), ball(2, 96, 1e4, GMG_VERTEX), wavy(3, 24, 0.9, GMG_VERTEX), stretched(3, 32, 10, GMG_CELL),
                absorbing(3, 32, 1e3, GMG_CELL)};
  for (size_t i = 0; i < sizeof m / sizeof *m; i++) { /* solves that start with full multigrid reach their tolerance */
    gmg_params q = params_for_cycles();
    q.deterministic = 1, q.fmg = 1;
    compare("full multigrid", &m[i].p, q, 2, 1, 1);
    q.accel = GMG_ACCEL_CG, q.smoother = gmg_smoother_by_name("red_black");
    if (i != 3) compare("full multigrid, symmetric", &m[i].p, q, 2, 1, 1);
    free_medium(&m[i]);
  }
}

int main(int argc, char **argv)
{
  if (for_device(argc, argv)) return SKIPPED;
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_class_of_problem), cmocka_unit_test(coefficients),
                                     cmocka_unit_test(any_size_of_numbers),    cmocka_unit_test(the_best_choice),
                                     cmocka_unit_test(refused),                cmocka_unit_test(updates),
                                     cmocka_unit_test(preconditioner),         cmocka_unit_test(divergence_names_the_level),
                                     cmocka_unit_test(deterministic),          cmocka_unit_test(full_multigrid)};
  return run_selected(tests);
}
