/* Variable beta, arrays of sigma, stretched axes: iterations on hard coefficients, order of accuracy, fluxes, updates.
   test_random.c compares with dense matrices. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "media.h"
#include "reference.h"

/* Iterations with default parameters from a zero start; f = 1 or random. */
static gmg_report iterations(const medium *m, int random)
{
  const gmg_params q = params_for_cycles_of(&m->p);
  const size_t N = unknowns(&m->p);
  double *f = field(N, 1), *u = field(N, 0);
  gmg_report r;
  session s = begin_solver(&m->p, &q, 0);
  for (size_t c = 0; c < N && !random; c++) f[c] = 1;
  const gmg_status status = solve_in(&s, f, u, &r);
  if (status != GMG_OK && status != GMG_STAGNATED) fail_msg("%s", gmg_context_error(s.context));
  if (status == GMG_STAGNATED) assert_below(r.residual, 8 * r.floor);
  end_solver(&s);
  free(f);
  free(u);
  return r;
}

/* With contrast 1e6 inside the ball and f = 1 the rounding floor is above 1e-8 ||f||, because u is known to half a unit in the
   last place. Such a solve may end as stagnated, within the same number of iterations. */
static void jumps_of_beta(void **state)
{
  static const struct {
    double contrast;
    size_t n;
    int most, may_stagnate;
  } cases[] = {{1e4, 64, 9, 0},   {1e4, 128, 10, 0}, {1e4, 61, 11, 0},  {1e4, 97, 12, 0}, {1e-4, 64, 9, 0},
               {1e-4, 128, 9, 0}, {1e-4, 61, 9, 0},  {1e-4, 97, 9, 0},  {1e6, 64, 12, 1}, {1e6, 128, 14, 1},
               {1e-6, 64, 9, 0},  {1e-6, 128, 9, 0}};
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    for (int random = 0; random < 2 && (!SANITIZED || cases[i].n < 97); random++) {
      medium m = ball(3, cases[i].n, cases[i].contrast, GMG_CELL);
      const gmg_report r = iterations(&m, random);
      print_message("ball %g, %zu^3, f %s: %d iterations, %s\n", cases[i].contrast, cases[i].n, random ? "random" : "1",
                    r.cycles, gmg_status_string(r.status));
      if (r.status != GMG_OK) assert_true(cases[i].may_stagnate && !random);
      assert_below(r.cycles, cases[i].most);
      free_medium(&m);
    }
}

static void other_hard_cases(void **state)
{
  (void)state;
  for (size_t n = 64; n <= (SANITIZED ? 64 : 128); n *= 2) {
    medium board = checkerboard(3, n, 1000, GMG_CELL), tanh10 = stretched(3, n, 10, GMG_CELL), vertices = ball(3, n - 1, 1e4, GMG_VERTEX);
    for (int random = 0; random < 2; random++) {
      const int on_board = iterations(&board, random).cycles, on_tanh = iterations(&tanh10, random).cycles;
      const int on_vertices = iterations(&vertices, random).cycles;
      print_message("%zu^3, f %s: checkerboard %d, tanh stretch 10 %d, ball on vertices %d iterations\n", n,
                    random ? "random" : "1", on_board, on_tanh, on_vertices);
      assert_below(on_board, 24);
      assert_below(on_tanh, 18);
      assert_below(on_vertices, 11);
    }
    free_medium(&board), free_medium(&tanh10), free_medium(&vertices);
  }
}

/* A badly conducting skin along the walls: coarse cells must not make the way to the wall longer. On the checkerboard F cycles are
   slow, so that V cycles take over. */
static void skins_and_slow_f_cycles(void **state)
{
  static const struct {
    const char *name;
    shape shape;
    size_t skin; /* its width; 0: a checkerboard */
    int limit;
  } cases[] = {{"skin", {2, {128, 128, 1}, GMG_CELL, "dddd"}, 1, 11}, {"skin", {2, {156, 156, 1}, GMG_CELL, "dddd"}, 1, 11},
               {"skin", {2, {157, 157, 1}, GMG_CELL, "dddd"}, 1, 11}, {"skin", {2, {128, 128, 1}, GMG_CELL, "dddd"}, 2, 11},
               {"skin", {2, {156, 156, 1}, GMG_CELL, "dddd"}, 2, 11}, {"skin", {2, {157, 157, 1}, GMG_CELL, "dddd"}, 2, 11},
               {"checkerboard, one axis periodic", {3, {24, 30, 26}, GMG_CELL, "nddnpp"}, 0, 26}};
  (void)state;
  for (int i = 0; i < COUNT(cases); i++) {
    gmg_problem p = shaped_problem(&cases[i].shape);
    const size_t N = unknowns(&p), skin = cases[i].skin;
    gmg_params q = params_for_cycles();
    double *beta = field(N, 0), *f = field(N, 0), *u = field(N, 0);
    gmg_report r;
    for (size_t c = 0; c < N; c++) {
      size_t at[3];
      index_of(&p, c, at);
      const int inner = at[0] >= skin && at[0] + skin < p.n[0] && at[1] >= skin && at[1] + skin < p.n[1];
      beta[c] = skin ? (inner ? 1e3 : 1) : (at[0] / 8 + at[1] / 8 + at[2] / 8) % 2 ? 1e4 : 1;
      f[c] = 1;
    }
    p.beta = beta;
    q.deterministic = 1;
    session s = begin_solver(&p, &q, 2);
    assert_ok(s.context, solve_in(&s, f, u, &r));
    print_message("%s: %d iterations\n", cases[i].name, r.cycles);
    assert_below(r.cycles, cases[i].limit);
    end_solver(&s);
    free(beta), free(f), free(u);
  }
}

/* An array sigma that jumps by any factor: plain cycles converge, without an acceleration. */
static void jumps_of_sigma(void **state)
{
  static const struct {
    const char *smoother;
    int dim;
    size_t n;
    int limit;
  } cases[] = {{"async", 2, 128, 16},     {"async", 3, 40, 16},        {"red_black", 2, 128, 30},
               {"red_black", 3, 40, 30},  {"gauss_seidel", 2, 128, 44}, {"gauss_seidel", 3, 40, 44}};
  (void)state;
  for (int i = 0; i < COUNT(cases); i++)
    for (double strength = 1e4; strength < 2e12; strength *= 1e4) {
      medium m = absorbing(cases[i].dim, cases[i].n, strength, GMG_CELL);
      const size_t N = unknowns(&m.p);
      gmg_params q = params_for_cycles();
      gmg_report r;
      q.smoother = gmg_smoother_by_name(cases[i].smoother);
      q.deterministic = 1, q.accel = GMG_ACCEL_NONE;
      double *f = field(N, 0), *u = field(N, 0);
      for (size_t c = 0; c < N; c++) f[c] = 1;
      session s = begin_solver(&m.p, &q, 2);
      assert_ok(s.context, solve_in(&s, f, u, &r));
      print_message("sigma 0 and %g, %dD, %s: %d cycles\n", strength, cases[i].dim, q.smoother->name, r.cycles);
      assert_below(r.cycles, cases[i].limit);
      end_solver(&s);
      free(f), free(u);
      free_medium(&m);
    }
}

static void plan_chooses_and_warns(void **state)
{
  (void)state;
  gmg_context *c;
  const gmg_params q = params_for_cycles();
  gmg_plan_info *info = malloc(sizeof *info);
  medium mild = stretched(3, 32, 2.9, GMG_CELL), strong = stretched(3, 32, 3.1, GMG_CELL), jump = ball(3, 32, 1e4, GMG_CELL);
  const gmg_problem plain = make_problem(3, 32, 32, 32, GMG_CELL, "dddddd");
  assert_int_equal(gmg_context_create_host(1, &c), GMG_OK);
  assert_ok(c, gmg_plan(c, &mild.p, &q, info));
  assert_int_equal(info->accel, GMG_ACCEL_NONE);
  assert_false(info->warnings & GMG_WARN_STRETCH);
  assert_ok(c, gmg_plan(c, &strong.p, &q, info));
  assert_int_equal(info->accel, GMG_ACCEL_FLEXIBLE_CG);
  assert_true(info->warnings & GMG_WARN_STRETCH);
  assert_near(info->stretch, 3.1, 1e-3);
  assert_ok(c, gmg_plan(c, &jump.p, &q, info));
  assert_int_equal(info->accel, GMG_ACCEL_FLEXIBLE_CG);
  assert_ok(c, gmg_plan(c, &plain, &q, info));
  assert_int_equal(info->accel, GMG_ACCEL_NONE);
  gmg_params bare = q;
  bare.accel = GMG_ACCEL_NONE;
  assert_ok(c, gmg_plan(c, &jump.p, &bare, info));
  assert_true(info->warnings & GMG_WARN_NO_ACCELERATION);
  free_medium(&mild), free_medium(&strong), free_medium(&jump);
  gmg_context_destroy(c);
  free(info);
}

/* Arrays that hold one value give the solution of constant coefficients. */
static void constant_arrays_change_nothing(void **state)
{
  (void)state;
  gmg_params q = params_for_cycles();
  q.rtol = 1e-11;
  medium m = ball(3, 20, 2, GMG_CELL);
  const size_t N = unknowns(&m.p);
  m.sigma = malloc(N * sizeof *m.sigma);
  for (size_t c = 0; c < N; c++) m.beta[c] = 2, m.sigma[c] = 6;
  m.p.sigma = m.sigma, m.p.shift = 4;
  gmg_problem plain = make_problem(3, 20, 20, 20, GMG_CELL, "dddddd");
  plain.shift = 5;
  double *f = field(N, 3), *u = field(N, 0), *v = field(N, 0);
  session s = begin_solver(&m.p, &q, 1), t = begin_solver(&plain, &q, 1);
  assert_ok(s.context, solve_in(&s, f, u, NULL));
  for (size_t c = 0; c < N; c++) f[c] /= 2;
  assert_ok(t.context, solve_in(&t, f, v, NULL));
  for (size_t c = 0; c < N; c++) assert_near(u[c], v[c], 1e-12);
  end_solver(&s), end_solver(&t);
  free_medium(&m), free(f), free(u), free(v);
}

/* A solver that is updated to new coefficients gives the same bits as a new solver with these coefficients. */
static void update_is_create(void **state)
{
  (void)state;
  gmg_params q = params_for_cycles();
  q.deterministic = 1, q.coarse = GMG_COARSE_DENSE;
  medium first = ball(3, 33, 1e-3, GMG_CELL), second = ball(3, 33, 1e3, GMG_CELL);
  const size_t N = unknowns(&first.p);
  double *f = field(N, 5), *u = field(N, 0), *v = field(N, 0);
  first.sigma = field(N, 0), second.sigma = field(N, 0);
  for (size_t c = 0; c < N; c++) second.sigma[c] = (double)(c % 7);
  first.p.sigma = first.sigma, second.p.sigma = second.sigma, second.p.shift = 2;
  session s = begin_solver(&first.p, &q, 2), t = begin_solver(&second.p, &q, 2);
  assert_ok(s.context, update_in(&s, &second.p));
  assert_ok(s.context, solve_in(&s, f, u, NULL));
  assert_ok(t.context, solve_in(&t, f, v, NULL));
  assert_memory_equal(u, v, N * sizeof *u);
  second.p.sigma = NULL; /* an update must not remove an array */
  assert_int_equal(update_in(&s, &second.p), GMG_ERR_ARGUMENT);
  assert_non_null(strstr(gmg_context_error(s.context), "problem.sigma"));
  end_solver(&s), end_solver(&t);
  free_medium(&first), free_medium(&second), free(f), free(u), free(v);
}

/* A common factor 2^k of beta and f does not change a bit of the solution, in float and with large k as well. */
static void scale_does_not_matter(void **state)
{
  enum { N = 64 * 64 };
  (void)state;
  static float beta[N], f[N], z[N], wanted[N];
  gmg_params q = params_for_cycles();
  gmg_problem p = make_problem(2, 64, 64, 1, GMG_CELL, "dddd");
  q.deterministic = 1, p.type = GMG_F32, p.beta = beta;
  for (int k = 0; k <= 90; k += 30)
    for (int sign = 1; sign >= -1; sign -= 2) {
      for (int i = 0; i < N; i++) beta[i] = ldexpf(1 + 99 * ((i / 8 + i / 512) % 2), sign * k), f[i] = ldexpf(i % 7 - 3, sign * k);
      session s = begin_solver(&p, &q, 1);
      assert_ok(s.context, precondition_in(&s, f, k || sign < 0 ? z : wanted));
      if (k) assert_memory_equal(z, wanted, sizeof z);
      end_solver(&s);
    }
}

/* A boundary layer that no grid resolves. The full multigrid start makes the residual larger, and the solve converges
   nevertheless. */
static void bad_start_is_forgotten(void **state)
{
  (void)state;
  gmg_params q = params_for_cycles();
  gmg_problem p = make_problem(2, 64, 64, 1, GMG_CELL, "nnnn");
  p.shift = 1e14, q.fmg = 1, q.smoother = gmg_smoother_by_name("jacobi");
  double *f = field(64 * 64, 0), *u = field(64 * 64, 3);
  session s = begin_solver(&p, &q, 1);
  assert_ok(s.context, gmg_set_boundary_constant(s.solver, 0, 0, 1));
  assert_ok(s.context, solve_in(&s, f, u, NULL));
  end_solver(&s), free(f), free(u);
}

static void outputs_of_flux_are_apart(void **state)
{
  (void)state;
  const gmg_params q = params_for_cycles();
  const gmg_problem p = make_problem(2, 4, 4, 1, GMG_CELL, "dddd");
  double u[16] = {0}, a[20], b[20], *outputs[3] = {a, b, NULL};
  if (on_device) skip();
  session s = begin_solver(&p, &q, 1);
  assert_ok(s.context, gmg_flux(s.solver, u, (void **)outputs, NULL));
  assert_int_equal(gmg_flux(s.solver, u, (void **)outputs, (void **)outputs), GMG_ERR_ARGUMENT);
  assert_non_null(strstr(gmg_context_error(s.context), "gradient[0]"));
  outputs[1] = u;
  assert_int_equal(gmg_flux(s.solver, u, (void **)outputs, NULL), GMG_ERR_ARGUMENT);
  assert_non_null(strstr(gmg_context_error(s.context), "overlaps u"));
  end_solver(&s);
}

int main(int argc, char **argv)
{
  if (for_device(argc, argv)) return SKIPPED;
  const struct CMUnitTest tests[] = {cmocka_unit_test(jumps_of_beta), cmocka_unit_test(other_hard_cases),
                                     cmocka_unit_test(skins_and_slow_f_cycles), cmocka_unit_test(jumps_of_sigma),
                                     cmocka_unit_test(plan_chooses_and_warns),
                                     cmocka_unit_test(constant_arrays_change_nothing), cmocka_unit_test(update_is_create), cmocka_unit_test(scale_does_not_matter),
                                     cmocka_unit_test(bad_start_is_forgotten), cmocka_unit_test(outputs_of_flux_are_apart)};
  return run_selected(tests);
}
