/* Two-grid cycles on periodic problems against local Fourier analysis, which is exact for them; undamped Jacobi against its
   discrete symbol; Chebyshev steps against their polynomial. */
#include "sweeps.h"

#include <math.h>
#include <stdlib.h>

static void two_grid_factors(void **state)
{
  (void)state;
  static const char *const names[] = {"jacobi", "red_black", "chebyshev", "gauss_seidel"};
  static const size_t sizes[] = {0, 128, 64, 32};
  for (int dim = 1; dim <= 3; dim++)
    for (int centering = GMG_CELL; centering <= GMG_VERTEX; centering++)
      for (int restriction = GMG_RESTRICT_AVERAGE; restriction <= GMG_RESTRICT_ADJOINT; restriction++)
        for (int smoother = 0; smoother < 4; smoother++)
          for (int post = 1; post <= 2; post++) {
            const size_t n = sizes[dim];
            if (centering == GMG_VERTEX && restriction == GMG_RESTRICT_ADJOINT) continue; /* on vertices both restrictions are the same */
            gmg_problem p = make_problem(dim, n, dim > 1 ? n : 1, dim > 2 ? n : 1, centering, "pppppp");
            gmg_params params = params_for_cycles();
            params.smoother = gmg_smoother_by_name(names[smoother]);
            params.deterministic = 1;
            params.restriction = (gmg_restriction)restriction;
            params.pre = 1, params.post = post;
            params.max_levels = 2, params.coarse_rtol = 1e-12;
            session s = begin_solver(&p, &params, 2);
            const double predicted = gmg_lfa_two_grid(&s.solver->level[0].A, &params, 0, (int)n);
            end_solver(&s);
            const double measured = measured_factor(&p, &params, 2, 25);
            /* on a periodic grid lexicographic order begins somewhere, in the analysis nowhere */
            if (fabs(measured - predicted) > (smoother == 3 ? 0.06 : 0.02))
              fail_msg("%s, %dD, centring %d, restriction %d, V(1,%d): measured %.4f, predicted %.4f", names[smoother], dim,
                       centering, restriction, post, measured, predicted);
          }
}

/* Known values: 1D vertex-centred red-black is exact in one two-grid cycle, and Jacobi with weight 4/5 in 2D has the smoothing
   factor 3/5. */
static void known_values(void **state)
{
  (void)state;
  gmg_operator A = {.centering = GMG_VERTEX, .dim = 1, .coupling = {1, 0, 0}, .coarsened = {1, 0, 0}, .n = {64, 1, 1}, .cells = 64,
                    .kind = &gmg_seven_point};
  gmg_params params = params_for_cycles();
  params.smoother = gmg_smoother_by_name("red_black"), params.omega = 1;
  assert_below(gmg_lfa_two_grid(&A, &params, 0, 32), 1e-3);
  gmg_operator B = {.centering = GMG_VERTEX, .dim = 2, .coupling = {1, 1, 0}, .coarsened = {1, 1, 0}, .n = {64, 64, 1}, .cells = 4096,
                    .kind = &gmg_seven_point};
  params.smoother = gmg_smoother_by_name("jacobi"), params.omega = 0.8, params.pre = 1, params.post = 0; /* here 0 means none, because params are resolved */
  assert_near(gmg_lfa_two_grid(&B, &params, 0, 32), 0.6, 0.01);
}

/* A user's smoother without a symbol gets no number. */
static void no_symbol_no_number(void **state)
{
  (void)state;
  gmg_smoother mine = *gmg_smoother_by_name("jacobi");
  gmg_params params = params_for_cycles();
  gmg_operator A = {.centering = GMG_VERTEX, .dim = 1, .coupling = {1, 0, 0}, .coarsened = {1, 0, 0}, .n = {64, 1, 1}, .cells = 64,
                    .kind = &gmg_seven_point};
  params.smoother = &mine;
  assert_true(isnan(gmg_lfa_two_grid(&A, &params, 0, 32)));
}

/* The sweeps that undamped Jacobi needs to reduce the error by 100, against cos(pi h) of the 5- and 7-point operators. */
static void jacobi_follows_its_symbol(void **state)
{
  (void)state;
  static const struct {
    int dim;
    size_t n;
  } cases[] = {{2, 31}, {2, 63}, {3, 31}};
  for (int i = 0; i < 3; i++) {
    const int dim = cases[i].dim;
    const size_t m = cases[i].n;
    gmg_problem p = make_problem(dim, m, m, dim > 2 ? m : 1, GMG_VERTEX, "dddddd");
    gmg_params params = same_precision();
    params.smoother = gmg_smoother_by_name("jacobi"), params.omega = 1;
    const size_t n = unknowns(&p);
    double *f = calloc(n, sizeof *f), *u = calloc(n, sizeof *u), *r = calloc(n, sizeof *r);
    for (size_t c = 0; c < n; c++) f[c] = cos((double)(c % m + c / m % m + 2) / (double)(m + 1));
    session s = begin_solver(&p, &params, 2);
    const double expected = log(0.01) / log(cos(M_PI / (double)(m + 1)));
    smooth(&s, f, u, (int)expected, GMG_LEG_DOWN); /* afterwards the slowest mode is alone */
    gmg_residual(s.solver, f, u, r);
    const double start = norm2(r, n);
    int sweeps = 0;
    while (norm2(r, n) > 0.01 * start && sweeps < 10000) {
      smooth(&s, f, u, 1, GMG_LEG_DOWN);
      gmg_residual(s.solver, f, u, r);
      sweeps++;
    }
    assert_near((double)sweeps, expected, 0.01 * expected);
    end_solver(&s);
    free(f), free(u), free(r);
  }
}

/* One Chebyshev step multiplies a Fourier mode by T_m((theta - lambda) / delta) / T_m(theta / delta), T_m the Chebyshev
   polynomial of its degree. */
static double chebyshev(int degree, double x) { return fabs(x) <= 1 ? cos(degree * acos(x)) : cosh(degree * acosh(x)); }

static void chebyshev_follows_its_polynomial(void **state)
{
  (void)state;
  const size_t m = 16, n = m * m;
  gmg_problem p = make_problem(2, m, m, 1, GMG_CELL, "pppp");
  double *f = calloc(n, sizeof *f), *u = calloc(n, sizeof *u), *w = calloc(n, sizeof *w);
  p.shift = 50;
  for (int degree = 1; degree <= 6; degree++)
    for (int k = 0; k <= 8; k++) {
      gmg_params params = same_precision();
      params.smoother = gmg_smoother_by_name("chebyshev"), params.chebyshev_degree = degree;
      const double angle = 2 * M_PI * k / (double)m, c = (double)(m * m), diag = 4 * c + p.shift;
      const double lambda = (c * (4 - 2 * cos(angle) - 2 * cos(2 * angle)) + p.shift) / diag;
      for (size_t i = 0; i < n; i++) w[i] = u[i] = cos(angle * (double)(i % m)) * cos(2 * angle * (double)(i / m));
      session s = begin_solver(&p, &params, 2);
      double low, high;
      gmg_smoothing_range(&s.solver->level[0].A, &low, &high);
      const double theta = (high + low) / 2, delta = (high - low) / 2;
      assert_near(low, (p.shift + 2 * c) / diag, 1e-12); /* the lowest high frequency along one axis, smooth along the other */
      assert_near(high, (p.shift + 8 * c) / diag, 1e-12);
      smooth(&s, f, u, 1, GMG_LEG_DOWN);
      const double ratio = chebyshev(degree, (theta - lambda) / delta) / chebyshev(degree, theta / delta);
      for (size_t i = 0; i < n; i++) assert_near(u[i], ratio * w[i], 1e-12);
      end_solver(&s);
    }
  free(f), free(u), free(w);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(two_grid_factors), cmocka_unit_test(known_values),
                                     cmocka_unit_test(no_symbol_no_number), cmocka_unit_test(jacobi_follows_its_symbol),
                                     cmocka_unit_test(chebyshev_follows_its_polynomial)};
  return run_selected(tests);
}
