/* Singular problems: all walls Neumann, or all axes periodic, with incompatible right-hand sides. */
#include "reference.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void solve_constant_f(gmg_centering centering, const char *bc, int fmg, double guess)
{
  const gmg_problem p = make_problem(2, 33, 21, 1, centering, bc);
  gmg_params params = params_for_cycles();
  params.fmg = fmg;
  double *f = field(693, 0), *u = field(693, 0);
  gmg_report r;
  for (int c = 0; c < 693; c++) f[c] = 0.1, u[c] = guess;
  session s = begin_solver(&p, &params, 2);
  const gmg_status status = solve_in(&s, f, u, &r);
  assert_true(status == GMG_OK || status == GMG_STAGNATED);
  assert_near(r.mean_removed, 0.1, 1e-15);
  assert_below(r.cycles, 10);
  for (int c = 0; c < 693; c++) assert_near(u[c], 0, 1e-14);
  end_solver(&s);
  free(f), free(u);
}

/* A constant f of a singular problem: only rounding is left of it. u is 0; a constant guess is removed. */
static void singular_with_constant_f(void **state)
{
  static const char *const bc[] = {"nnnn", "pppp"};
  (void)state;
  for (gmg_centering centering = GMG_CELL; centering <= GMG_VERTEX; centering++)
    for (int b = 0; b < 2; b++)
      for (int fmg = 0; fmg < 2; fmg++)
        for (int guess = 0; guess < 2; guess++) solve_constant_f(centering, bc[b], fmg, guess);
}

static void singular_problems(void **state)
{
  (void)state;
  static const char *const bc[] = {"nnnnnn", "pppppp", "ppnnpp"};
  static const size_t sizes[][3] = {{32, 32, 32}, {33, 31, 29}, {65, 65, 65}, {20, 36, 28}};
  static const char *const names[] = {"async", "red_black"};
  for (int centering = GMG_CELL; centering <= GMG_VERTEX; centering++)
    for (int b = 0; b < 3; b++)
      for (int i = 0; i < 4; i++)
        for (int k = 0; k < 2 && !(SANITIZED && i == 2); k++) {
          gmg_problem p = make_problem(3, sizes[i][0], sizes[i][1], sizes[i][2], centering, bc[b]);
          gmg_problem twin = make_problem(3, sizes[i][0], sizes[i][1], sizes[i][2], centering, "dddddd");
          p.h[0] = p.h[1] = p.h[2] = twin.h[0] = twin.h[1] = twin.h[2] = 0.03;
          gmg_params params = params_for_cycles();
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
          assert_ok(s.context, solve_in(&s, f, u, &r));
          assert_int_equal(r.singular, 1);
          assert_near(r.mean_removed, (double)(mean / volume), 1e-12 * (double)(mean / volume));
          for (size_t c = 0; c < n; c++) mean_u += cell_volume(&p, c) * u[c] / (double)volume, most = fmax(most, fabs(u[c]));
          assert_near(mean_u, 0, 1e-13 * most);
          end_solver(&s);
          const double factor = measured_factor(&p, &params, 0, 20), reference = measured_factor(&twin, &params, 0, 20);
          /* a device has smaller blocks, and more of them lie at the seam of an odd periodic axis: its factor is 0.067. The host's
             is 0.073 with blocks of 16 x 8 x 8, deterministic */
          if (factor > reference + (on_device && k == 0 ? 0.045 : 0.03))
            fail_msg("%s %s centring %d %zu: %.4f, twin %.4f", names[k], bc[b], centering, sizes[i][0], factor, reference);
          free(f), free(u);
        }
}

/* Boundary fluxes take part in compatibility: du/dn = 1 everywhere on the unit square needs a mean of -4. */
static void singular_with_fluxes(void **state)
{
  (void)state;
  for (int centering = GMG_CELL; centering <= GMG_VERTEX; centering++) {
    gmg_problem p = make_problem(2, 24, 24, 1, centering, "nnnn");
    gmg_params params = params_for_cycles();
    double *f = field(576, 0), *u = field(576, 0);
    gmg_report r;
    session s = begin_solver(&p, &params, 0);
    for (int a = 0; a < 2; a++)
      for (int side = 0; side < 2; side++) assert_ok(s.context, gmg_set_boundary_constant(s.solver, a, side, 1));
    assert_ok(s.context, solve_in(&s, f, u, &r));
    assert_near(r.mean_removed, 4, 1e-12);
    end_solver(&s);
    free(f), free(u);
  }
}

/* The mean of a guess is removed, but a guess that is refused is not changed. */
static void a_refused_guess_is_left_alone(void **state)
{
  (void)state;
  gmg_problem p = make_problem(2, 16, 12, 1, GMG_CELL, "nnpp");
  const gmg_params params = params_for_cycles();
  double *f = field(192, 1), *u = field(192, 2), *before = field(192, 2);
  session s = begin_solver(&p, &params, 1);
  u[5] = before[5] = NAN;
  assert_int_equal(solve_in(&s, f, u, NULL), GMG_ERR_ARGUMENT);
  assert_true(strstr(gmg_context_error(s.context), "u[5] = nan (the guess)") != NULL);
  assert_memory_equal(u, before, 192 * sizeof *u);
  end_solver(&s);
  free(f), free(u), free(before);
}

/* A right-hand side whose norm overflows is refused. It must not be taken for rounding of its mean. */
static void too_large_is_refused(void **state)
{
  (void)state;
  const gmg_problem p = make_problem(2, 16, 12, 1, GMG_CELL, "nnpp");
  const gmg_params params = params_for_cycles();
  double *f = field(192, 1), *u = field(192, 0);
  session s = begin_solver(&p, &params, 1);
  f[5] = 1e300;
  assert_int_equal(solve_in(&s, f, u, NULL), GMG_ERR_ARGUMENT);
  assert_true(strstr(gmg_context_error(s.context), "f[5] = 1e+300: too large") != NULL);
  end_solver(&s);
  free(f), free(u);
}

int main(int argc, char **argv)
{
  if (for_device(argc, argv)) return SKIPPED;
  const struct CMUnitTest tests[] = {cmocka_unit_test(singular_with_constant_f),
                                     cmocka_unit_test(singular_problems),
                                     cmocka_unit_test(singular_with_fluxes),
                                     cmocka_unit_test(a_refused_guess_is_left_alone),
                                     cmocka_unit_test(too_large_is_refused)};
  return run_selected(tests);
}
