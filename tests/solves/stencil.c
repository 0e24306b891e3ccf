/* Solves with box stencils: convergence on coarse and fine grids, the matrices fv1 to fv3 of the papers, order of accuracy, walls,
   smoothers. With the argument "cuda" on a device. */
#include "boxes.h"
#include "reference.h"
#include "sample.h"
#include "varying.h"

#include <math.h>

/* With async V(1,1), from a random f to 1e-10. */
static void converges(void **state)
{
  (void)state;
  static const struct {
    const box_entries *box;
    shape shape;
    double most; /* factor */
    int cycles;
  } cases[] = {{&box_q1, {2, {31, 31, 1}, GMG_VERTEX, "dddd"}, 0.06, 8},      {&box_q1, {2, {32, 32, 1}, GMG_VERTEX, "dddd"}, 0.06, 8},
               {&box_q1, {2, {127, 127, 1}, GMG_VERTEX, "dddd"}, 0.06, 8},    {&box_q1, {2, {100, 75, 1}, GMG_VERTEX, "dddd"}, 0.06, 8},
               {&box_q1, {2, {255, 255, 1}, GMG_VERTEX, "dddd"}, 0.06, 8},    {&box_q1, {2, {256, 256, 1}, GMG_VERTEX, "dddd"}, 0.06, 8},
               {&box_q1, {3, {31, 31, 31}, GMG_VERTEX, "dddddd"}, 0.06, 8},   {&box_q1, {3, {64, 64, 64}, GMG_VERTEX, "dddddd"}, 0.06, 8},
               {&box_q1, {3, {63, 40, 53}, GMG_VERTEX, "dddddd"}, 0.06, 8},   {&box_q1, {3, {127, 127, 127}, GMG_VERTEX, "dddddd"}, 0.06, 8},
               {&box_fv1, {2, {98, 98, 1}, GMG_VERTEX, "dddd"}, 0.06, 8},     {&box_fv1, {2, {99, 99, 1}, GMG_VERTEX, "dddd"}, 0.06, 8}, /* fv2 */
               {&box_fv3, {2, {99, 99, 1}, GMG_VERTEX, "dddd"}, 0.06, 8},     {&box_27, {3, {64, 64, 64}, GMG_VERTEX, "dddddd"}, 0.06, 8},
               {&box_7, {3, {63, 63, 63}, GMG_VERTEX, "dddddd"}, 0.09, 10},   {&box_5, {2, {127, 127, 1}, GMG_VERTEX, "dddd"}, 0.06, 9},
               {&box_q1, {2, {64, 64, 1}, GMG_VERTEX, "pppp"}, 0.06, 8},      {&box_q1, {2, {65, 65, 1}, GMG_VERTEX, "pppp"}, 0.1, 10},
               {&box_q1, {2, {65, 64, 1}, GMG_VERTEX, "nnnn"}, 0.06, 8},      {&box_q1, {3, {33, 32, 40}, GMG_VERTEX, "nddnpp"}, 0.07, 9},
               {&box_q1, {1, {1000, 1, 1}, GMG_VERTEX, "dd"}, 0.06, 8}};
  for (int i = 0; i < COUNT(cases); i++) {
    gmg_problem p = shaped_problem(&cases[i].shape);
    const gmg_stencil box = box_of_entries(&p, cases[i].box);
    gmg_params q = params_for_cycles();
    p.stencil = &box, q.rtol = 1e-10;
    if (SANITIZED && unknowns(&p) > 100000) continue;
    const gmg_report r = solve_random(cases[i].box->name, &p, &q, 21);
    print_message("%s %s %zu x %zu x %zu: %d cycles, factor %.3f\n", cases[i].box->name, cases[i].shape.bc, p.n[0], p.n[1], p.n[2],
                  r.cycles, r.factor);
    assert_below(r.factor, cases[i].most);
    assert_true(r.cycles <= cases[i].cycles);
  }
}

/* Spectral radii of Jacobi's iteration matrix J = 1 - D^-1 A for fv1, fv2 and fv3 (Table 1 of the 2013 paper). J has no negative
   entry. So if v > 0 is an eigenvector of it, its eigenvalue is the spectral radius (Perron 1907, Frobenius 1912). Products of sines
   are positive, and the test checks that they are eigenvectors. */
static void radii_of_jacobi(void **state)
{
  (void)state;
  static const struct {
    const box_entries *box;
    size_t n;
    double radius;
  } cases[] = {{&box_fv1, 98, 0.8541}, {&box_fv1, 99, 0.8541}, {&box_fv3, 99, 0.9993}};
  for (int i = 0; i < COUNT(cases); i++) {
    gmg_problem p = make_problem(2, cases[i].n, cases[i].n, 1, GMG_VERTEX, "dddd");
    const gmg_stencil box = box_of_entries(&p, cases[i].box);
    const gmg_params q = params_for_cycles();
    const size_t n = cases[i].n;
    p.stencil = &box;
    double *f = field(n * n, 0), *v = field(n * n, 0), *r = field(n * n, 0);
    const double step = acos(-1.0) / (double)(n + 1);
    for (size_t c = 0; c < n * n; c++) v[c] = sin(step * (double)(c % n + 1)) * sin(step * (double)(c / n + 1));
    gmg_context *host;
    gmg_solver *solver;
    assert_int_equal(gmg_context_create_host(1, &host), GMG_OK);
    assert_ok(host, gmg_solver_create(host, &p, &q, &solver));
    assert_ok(host, gmg_residual(solver, f, v, r));
    for (size_t c = 0; c < n * n; c++) {
      assert_true(v[c] > 0);
      assert_near(1 + r[c] / cases[i].box->centre / v[c], cases[i].radius, 5e-5);
    }
    gmg_solver_destroy(solver), gmg_context_destroy(host);
    free(f), free(v), free(r);
  }
}

/* All smoothers that take box stencils, and both types. */
static void smoothers(void **state)
{
  (void)state;
  static const struct {
    const char *name;
    gmg_params params;
    double most;
  } kinds[] = {{"jacobi", {.pre = 1}, 0.5},
               {"chebyshev", {.pre = 1}, 0.15},
               {"gauss_seidel", {.pre = 1}, 0.1},
               {"gauss_seidel", {.accel = GMG_ACCEL_CG, .deterministic = 1}, 0.2},
               {"async", {.async = {.overlap = GMG_NONE, .local_sweeps = 1}}, 0.4},
               {"async", {.async = {.overlap = 2}}, 0.06},
               {"async", {.async = {.local = GMG_LOCAL_JACOBI}}, 0.2},
               {"async", {.async = {.passes = 2, .in_flight = 1, .assignment = GMG_ASSIGN_DYNAMIC}}, 0.06},
               {"async", {.deterministic = 1}, 0.06},
               {"async", {.deterministic = 1, .async = {.overlap = GMG_NONE}, .accel = GMG_ACCEL_CG}, 0.5},
               {"async", {.accel = GMG_ACCEL_FLEXIBLE_CG}, 0.06},
               {"async", {.cycle = GMG_CYCLE_W}, 0.06},
               {"async", {.fmg = 1}, 0.2},
               {"async", {.precision = GMG_PRECISION_MIXED}, 0.06}};
  static const shape shapes[] = {{2, {70, 51, 1}, GMG_VERTEX, "ddnd"}, {3, {33, 20, 24}, GMG_VERTEX, "dddnpp"}};
  for (int i = 0; i < COUNT(kinds); i++)
    for (int k = 0; k < COUNT(shapes); k++)
      for (int type = 0; type < 2; type++) {
        gmg_problem p = shaped_problem(&shapes[k]);
        const gmg_stencil box = box_of_entries(&p, &box_q1);
        gmg_params q = kinds[i].params;
        p.stencil = &box, p.type = (gmg_type)type, q.smoother = gmg_smoother_by_name(kinds[i].name);
        if (type == GMG_F32 && q.precision == GMG_PRECISION_MIXED) continue;
        q.rtol = type == GMG_F32 ? 2e-5 : 1e-9;
        const size_t n = unknowns(&p);
        double *f = field(n, 5), *u = field(n, 0);
        gmg_report r;
        session s = begin_solver(&p, &q, 2);
        void *f_typed = typed(&p, f, n), *u_typed = typed(&p, u, n);
        const gmg_status status = solve_in(&s, f_typed, u_typed, &r);
        print_message("%s, row %d, %dD, %s: %d cycles, factor %.3f\n", kinds[i].name, i, p.dim, type ? "float" : "double", r.cycles, r.factor);
        assert_ok(s.context, status);
        if (type == GMG_F64) assert_below(r.factor, kinds[i].most);
        free(f), free(u), free(f_typed), free(u_typed);
        end_solver(&s);
      }
}

/* Stencils that are not symmetric, and one that is not beside Neumann walls, because it has a mixed derivative: against a dense
   solve. */
static void unsymmetric(void **state)
{
  (void)state;
  static const struct {
    const char *name;
    double most;
  } kinds[] = {{"jacobi", 0.7}, {"chebyshev", 0.4}, {"gauss_seidel", 0.4}, {"async", 0.3}};
  static const struct {
    shape shape;
    double convection[3], mixed;
  } cases[] = {{{1, {200, 1, 1}, GMG_VERTEX, "dd"}, {0.2, 0, 0}, 0},         {{2, {23, 31, 1}, GMG_VERTEX, "dddd"}, {0.5, -0.3, 0}, 0},
               {{2, {31, 16, 1}, GMG_VERTEX, "dnpp"}, {0.4, 0.2, 0}, 0},     {{3, {9, 7, 11}, GMG_VERTEX, "dndndn"}, {0.5, 0.3, 0.2}, 0},
               {{2, {20, 24, 1}, GMG_VERTEX, "dnnn"}, {0, 0, 0}, 0.2},       {{2, {23, 31, 1}, GMG_VERTEX, "dddd"}, {1, 0.5, 0}, 0.1},
               {{3, {40, 1, 12}, GMG_VERTEX, "dnddpp"}, {0.1, 0.9, 0.1}, 0}};
  for (int i = 0; i < COUNT(cases); i++)
    for (int k = 0; k < COUNT(kinds); k++) {
      gmg_problem p = shaped_problem(&cases[i].shape);
      gmg_params q = params_for_cycles();
      gmg_stencil box = box_with_convection(p.dim, cases[i].convection);
      const size_t n = unknowns(&p);
      double *f = field(n, 5), *u = field(n, 0), *exact = field(n, 5), most = 0;
      gmg_report r;
      box.entry[1][0][0] -= cases[i].mixed, box.entry[1][2][2] -= cases[i].mixed;
      box.entry[1][0][2] += cases[i].mixed, box.entry[1][2][0] += cases[i].mixed;
      p.stencil = &box, q.smoother = gmg_smoother_by_name(kinds[k].name), q.rtol = 1e-10;
      double *A = dense_of(&p);
      assert_true(dense_solve(A, exact, n));
      session s = begin_solver(&p, &q, 2);
      const gmg_status status = solve_in(&s, f, u, &r);
      print_message("case %d, %s: %d cycles, factor %.3f\n", i, kinds[k].name, r.cycles, r.factor);
      assert_ok(s.context, status);
      assert_below(r.factor, kinds[k].most);
      for (size_t c = 0; c < n; c++) most = fmax(most, fabs(exact[c]));
      for (size_t c = 0; c < n; c++) assert_near(u[c], exact[c], 1e-7 * most);
      end_solver(&s);
      free(f), free(u), free(exact), free(A);
    }
}

/* Updates to a stencil that is not symmetric and back. Convection that no smoother damps ends in GMG_DIVERGED. */
static void convection_comes_and_goes(void **state)
{
  (void)state;
  static const double convection[][3] = {{0, 0, 0}, {0.5, -0.2, 0}, {30, 20, 0}, {0, 0, 0}};
  gmg_problem p = make_problem(2, 63, 40, 1, GMG_VERTEX, "dddd");
  gmg_stencil box = box_with_convection(2, convection[0]);
  gmg_params q = params_for_cycles();
  const size_t n = unknowns(&p);
  double *f = field(n, 5), *u[4];
  gmg_report r;
  p.stencil = &box, q.deterministic = 1;
  session s = begin_solver(&p, &q, 2);
  for (int i = 0; i < 4; i++) {
    box = box_with_convection(2, convection[i]), u[i] = field(n, 0);
    assert_ok(s.context, update_in(&s, &p));
    const gmg_status status = solve_in(&s, f, u[i], &r);
    print_message("convection %g: %s, %d cycles, factor %.3f\n", convection[i][0], gmg_status_string(status), r.cycles, r.factor);
    assert_int_equal(status, i == 2 ? GMG_DIVERGED : GMG_OK);
  }
  assert_memory_equal(u[0], u[3], n * sizeof **u);
  end_solver(&s);
  for (int i = 0; i < 4; i++) free(u[i]);
  free(f);
}

/* Axes of one unknown, on the finest or on coarser grids: rows lose entries across Dirichlet walls, which add to the diagonal of what
   is left. Seven points with a strong coupling along such an axis. */
static void single_unknowns(void **state)
{
  (void)state;
  static const char *const names[] = {"jacobi", "chebyshev", "gauss_seidel", "async"};
  static const struct {
    shape shape;
    double coupling[3];
  } cases[] = {{{2, {1, 40, 1}, GMG_VERTEX, "ddnd"}, {6.5, 3.5, 0}}, {{3, {40, 1, 16}, GMG_VERTEX, "ppdndn"}, {1, 2.1, 0.15}},
               {{3, {4, 3, 40}, GMG_VERTEX, "dddddn"}, {1, 3, 2}},   {{3, {16, 16, 1}, GMG_VERTEX, "nnnndd"}, {0.5, 0.7, 14}},
               {{2, {1, 16, 1}, GMG_VERTEX, "nnpp"}, {6.5, 3.5, 0}}};
  for (int i = 0; i < COUNT(cases); i++)
    for (int k = 0; k < COUNT(names); k++) {
      gmg_problem p = shaped_problem(&cases[i].shape);
      gmg_params q = params_for_cycles();
      gmg_stencil box = {0};
      const double *c = cases[i].coupling;
      box.entry[1][1][0] = box.entry[1][1][2] = -c[0], box.entry[1][0][1] = box.entry[1][2][1] = -c[1];
      box.entry[0][1][1] = box.entry[2][1][1] = -c[2], box.entry[1][1][1] = 2 * (c[0] + c[1] + c[2]);
      p.stencil = &box, q.smoother = gmg_smoother_by_name(names[k]), q.coarse_cells = 4;
      const gmg_report r = solve_random(cases[i].shape.bc, &p, &q, 21);
      print_message("%s %s: %d cycles, factor %.3f\n", cases[i].shape.bc, names[k], r.cycles, r.factor);
      assert_below(r.factor, 0.5);
    }
}

/* Q1 with load vectors of the interpolated right-hand side: second order. */
static double error_at(int dim, size_t m, double sigma)
{
  gmg_problem p = make_problem(dim, m - 1, dim > 1 ? m - 1 : 1, dim > 2 ? m - 1 : 1, GMG_VERTEX, "dddddd");
  const double zero[3] = {1e9, 1e9, 1e9};
  const gmg_stencil box = gmg_stencil_q1(dim, p.h, sigma), mass = gmg_stencil_q1(dim, zero, 1); /* no stiffness */
  gmg_params q = params_for_cycles();
  const size_t n = unknowns(&p);
  double *f = field(n, 0), *u = field(n, 0), *exact = field(n, 0), most = 0;
  gmg_report r;
  p.stencil = &box, q.rtol = 1e-11;
  for (size_t c = 0; c < n; c++) {
    const size_t at[3] = {c % p.n[0], c / p.n[0] % p.n[1], c / (p.n[0] * p.n[1])};
    exact[c] = 1;
    for (int a = 0; a < dim; a++) exact[c] *= sin(M_PI * (double)(at[a] + 1) / (double)m);
    for (int e = 0; e < 27; e++) { /* f is 0 on the walls */
      double value = mass.entry[e / 9][e / 3 % 3][e % 3] * (dim * M_PI * M_PI + sigma);
      const int step[3] = {e % 3 - 1, e / 3 % 3 - 1, e / 9 - 1};
      for (int a = 0; a < dim; a++) value *= sin(M_PI * ((double)at[a] + 1 + step[a]) / (double)m);
      f[c] += value;
    }
  }
  session s = begin_solver(&p, &q, 2);
  assert_ok(s.context, solve_in(&s, f, u, &r));
  end_solver(&s);
  for (size_t c = 0; c < n; c++) most = fmax(most, fabs(u[c] - exact[c]));
  free(f), free(u), free(exact);
  return most;
}

static void q1_has_order_two(void **state)
{
  (void)state;
  for (int dim = 1; dim <= 3; dim++)
    for (int sigma = 0; sigma < 2; sigma++) {
      const size_t m = dim == 3 ? 24 : 64;
      const double order = log2(error_at(dim, m, 30 * sigma) / error_at(dim, 2 * m, 30 * sigma));
      print_message("Q1 %dD, sigma %d: order %.3f\n", dim, 30 * sigma, order);
      assert_near(order, 2, 0.1);
    }
}

/* Singular problems with box stencils: u has zero mean, and the report says so. Then an update to another stencil. */
static void singular_and_updated(void **state)
{
  (void)state;
  gmg_problem p = make_problem(2, 48, 40, 1, GMG_VERTEX, "nnpp");
  gmg_stencil box = box_of_entries(&p, &box_q1);
  const gmg_params q = params_for_cycles();
  const size_t n = unknowns(&p);
  double *f = field(n, 8), *u = field(n, 0), *again = field(n, 0), before;
  gmg_report r;
  p.stencil = &box;
  session s = begin_solver(&p, &q, 2);
  assert_ok(s.context, solve_in(&s, f, u, &r));
  assert_true(r.singular && r.cycles < 12);
  before = u[17];
  const gmg_stencil with_mass = gmg_stencil_q1(2, p.h, 100);
  p.stencil = &with_mass;
  assert_ok(s.context, update_in(&s, &p));
  assert_ok(s.context, solve_in(&s, f, u, &r));
  assert_true(!r.singular && r.cycles < 12 && fabs(u[17] - before) > 1e-6 * fabs(before));
  session fresh = begin_solver(&p, &q, 2);
  assert_ok(fresh.context, solve_in(&fresh, f, again, &r));
  for (size_t c = 0; c < n; c++) assert_near(u[c], again[c], 1e-6 * (fabs(u[c]) + 1e-4));
  end_solver(&s), end_solver(&fresh);
  free(f), free(u), free(again);
}

/* Cholesky is for few unknowns. With more, AUTO chooses CG, and GMG_COARSE_DENSE is refused. */
static void coarse_solver_is_chosen(void **state)
{
  (void)state;
  static const struct {
    int max_levels;
    gmg_coarse_kind asked, found;
    gmg_status status;
  } rows[] = {{0, GMG_COARSE_AUTO, GMG_COARSE_DENSE, GMG_OK},
              {1, GMG_COARSE_AUTO, GMG_COARSE_CG, GMG_OK},
              {1, GMG_COARSE_DENSE, GMG_COARSE_DENSE, GMG_ERR_UNSUPPORTED}};
  gmg_problem p = make_problem(2, 70, 60, 1, GMG_VERTEX, "dddd");
  const gmg_stencil box = box_of_entries(&p, &box_q1);
  gmg_context *c;
  p.stencil = &box;
  assert_int_equal(gmg_context_create_host(1, &c), GMG_OK);
  for (int i = 0; i < COUNT(rows); i++) {
    gmg_params q = params_for_cycles();
    gmg_plan_info info;
    q.max_levels = rows[i].max_levels, q.coarse = rows[i].asked;
    assert_int_equal(gmg_plan(c, &p, &q, &info), rows[i].status);
    if (rows[i].status == GMG_OK) assert_int_equal(info.coarse, rows[i].found);
  }
  gmg_context_destroy(c);
}

int main(int argc, char **argv)
{
  if (for_device(argc, argv)) return SKIPPED;
  const struct CMUnitTest tests[] = {cmocka_unit_test(converges), cmocka_unit_test(radii_of_jacobi), cmocka_unit_test(smoothers),
                                     cmocka_unit_test(unsymmetric),
                                     cmocka_unit_test(convection_comes_and_goes), cmocka_unit_test(single_unknowns),
                                     cmocka_unit_test(q1_has_order_two), cmocka_unit_test(singular_and_updated), cmocka_unit_test(coarse_solver_is_chosen)};
  return run_selected(tests);
}
