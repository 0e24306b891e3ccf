/* Solves with variable box stencils: convergence, smoothers, order, walls, updates, plans, and constant entries given as arrays. With the
   argument "cuda" on a device. */
#include "boxes.h"
#include "reference.h"
#include "sample.h"
#include "varying.h"

/* With async V(1,1), from a random f to 1e-10. */
static void converges(void **state)
{
  (void)state;
  static const struct {
    shape shape;
    coefficient *beta;
    double most; /* factor */
    int cycles;
  } cases[] = {{{2, {31, 31, 1}, GMG_VERTEX, "dddd"}, beta_smooth, 0.05, 7},    {{2, {63, 63, 1}, GMG_VERTEX, "dddd"}, beta_smooth, 0.05, 7},
               {{2, {127, 127, 1}, GMG_VERTEX, "dddd"}, beta_smooth, 0.05, 7},  {{2, {63, 31, 1}, GMG_VERTEX, "dddd"}, beta_smooth, 0.1, 9},
               {{3, {31, 31, 31}, GMG_VERTEX, "dddddd"}, beta_smooth, 0.05, 7}, {{3, {63, 63, 63}, GMG_VERTEX, "dddddd"}, beta_smooth, 0.05, 7},
               {{2, {33, 33, 1}, GMG_VERTEX, "nnnn"}, beta_smooth, 0.13, 10},   {{2, {129, 129, 1}, GMG_VERTEX, "nnnn"}, beta_smooth, 0.13, 10},
               {{2, {64, 64, 1}, GMG_VERTEX, "pppp"}, beta_smooth, 0.13, 10},   {{3, {33, 32, 32}, GMG_VERTEX, "nnndpp"}, beta_smooth, 0.13, 10},
               {{1, {511, 1, 1}, GMG_VERTEX, "dd"}, beta_smooth, 0.05, 7},      {{2, {127, 127, 1}, GMG_VERTEX, "dddd"}, beta_uneven, 0.4, 25},
               {{2, {31, 30, 1}, GMG_VERTEX, "dddd"}, beta_smooth, 0.3, 20},    {{2, {20, 30, 1}, GMG_VERTEX, "dddd"}, beta_smooth, 0.01, 2}};
  for (int i = 0; i < COUNT(cases); i++) {
    gmg_problem p = shaped_problem(&cases[i].shape);
    gmg_params q = params_for_cycles();
    const size_t n = unknowns(&p);
    if ((SANITIZED && n > 100000) || !taken(n)) continue;
    for (int a = 0; a < p.dim; a++) p.h[a] = p.h[0];
    varying box = varying_q1(&p, cases[i].beta, 0);
    double *f = field(n, 21), *u = field(n, 0);
    gmg_report r;
    p.stencil = &box.stencil, q.rtol = 1e-10;
    session s = begin_solver(&p, &q, 2);
    const gmg_status status = solve_in(&s, f, u, &r);
    print_message("%s %zu x %zu x %zu: %d cycles, factor %.3f\n", cases[i].shape.bc, p.n[0], p.n[1], p.n[2], r.cycles, r.factor);
    assert_ok(s.context, status);
    assert_below(r.factor, cases[i].most);
    assert_true(r.cycles <= cases[i].cycles);
    end_solver(&s);
    free(f), free(u);
    free_varying(&box);
  }
}

/* All smoothers that take box stencils, in both types and in mixed precision. */
static void smoothers(void **state)
{
  (void)state;
  static const struct {
    const char *name;
    gmg_params params;
    double most;
  } kinds[] = {{"jacobi", {.pre = 1}, 0.5},
               {"chebyshev", {.pre = 1}, 0.25},
               {"gauss_seidel", {.pre = 1}, 0.15},
               {"gauss_seidel", {.accel = GMG_ACCEL_CG, .deterministic = 1}, 0.2},
               {"async", {.async = {.overlap = GMG_NONE, .local_sweeps = 1}}, 0.4},
               {"async", {.async = {.overlap = 2}}, 0.12},
               {"async", {.async = {.local = GMG_LOCAL_JACOBI}}, 0.3},
               {"async", {.async = {.passes = 2, .in_flight = 1, .assignment = GMG_ASSIGN_DYNAMIC}}, 0.12},
               {"async", {.deterministic = 1}, 0.12},
               {"async", {.deterministic = 1, .async = {.overlap = GMG_NONE}, .accel = GMG_ACCEL_CG}, 0.5},
               {"async", {.accel = GMG_ACCEL_FLEXIBLE_CG}, 0.1},
               {"async", {.cycle = GMG_CYCLE_W}, 0.1},
               {"async", {.fmg = 1}, 0.2},
               {"async", {.coarse = GMG_COARSE_CG}, 0.12},
               {"async", {.precision = GMG_PRECISION_MIXED}, 0.12},
               {"gauss_seidel", {.precision = GMG_PRECISION_MIXED, .fmg = 1}, 0.2}};
  static const shape shapes[] = {{1, {95, 1, 1}, GMG_VERTEX, "dd"}, {2, {63, 32, 1}, GMG_VERTEX, "ddnd"}, {3, {15, 20, 24}, GMG_VERTEX, "ddndpp"}};
  for (int i = 0; i < COUNT(kinds); i++)
    for (int k = 0; k < COUNT(shapes); k++)
      for (int type = 0; type < 2; type++) {
        gmg_problem p = shaped_problem(&shapes[k]);
        gmg_params q = kinds[i].params;
        const size_t n = unknowns(&p);
        p.type = (gmg_type)type, q.smoother = gmg_smoother_by_name(kinds[i].name);
        if ((type == GMG_F32 && q.precision == GMG_PRECISION_MIXED) || !taken(n)) continue;
        for (int a = 0; a < p.dim; a++) p.h[a] = p.h[0];
        q.rtol = type == GMG_F32 ? 1e-4 : 1e-9;
        varying box = varying_q1(&p, beta_smooth, 0);
        double *f = field(n, 5), *u = field(n, 0);
        gmg_report r;
        p.stencil = &box.stencil;
        session s = begin_solver(&p, &q, 2);
        void *f_typed = typed(&p, f, n), *u_typed = typed(&p, u, n);
        const gmg_status status = solve_in(&s, f_typed, u_typed, &r);
        print_message("%s, row %d, %dD, %s: %d cycles, factor %.3f\n", kinds[i].name, i, p.dim, type ? "float" : "double", r.cycles, r.factor);
        assert_ok(s.context, status);
        if (type == GMG_F64) assert_below(r.factor, kinds[i].most);
        free(f), free(u), free(f_typed), free(u_typed);
        free_varying(&box);
        end_solver(&s);
      }
}

/* Adds convection by central differences. Its strength, the cell Peclet number, differs from row to row. */
static void add_convection(const gmg_problem *p, varying *box, double strength)
{
  static const int stride[3] = {1, 3, 9};
  for (size_t c = 0; c < unknowns(p); c++) {
    const double x = (double)(c % p->n[0]) / (double)p->n[0], y = (double)(c / p->n[0] % p->n[1]) / (double)p->n[1];
    const double v[3] = {sin(3 * x) * cos(2 * y) + 0.3, -cos(3 * x) * sin(5 * y), 0.5 - x};
    for (int a = 0; a < p->dim; a++)
      for (int side = 0; side < 2; side++) {
        void *entries = box->array[13 + (side ? stride[a] : -stride[a])];
        set_value(p, entries, c, value_at(p, entries, c) + (side ? 0.5 : -0.5) * strength * v[a] / (p->h[a] * p->h[a]));
      }
  }
}

/* Stencils that are not symmetric, against a dense solve. */
static void unsymmetric(void **state)
{
  (void)state;
  static const char *const names[] = {"jacobi", "chebyshev", "gauss_seidel", "async"};
  static const double most_factor[] = {0.6, 0.3, 0.3, 0.25};
  static const shape shapes[] = {{1, {255, 1, 1}, GMG_VERTEX, "dd"}, {2, {31, 31, 1}, GMG_VERTEX, "dddd"}, {2, {32, 15, 1}, GMG_VERTEX, "ppdd"},
                                 {2, {16, 33, 1}, GMG_VERTEX, "ddnn"}, {3, {7, 9, 15}, GMG_VERTEX, "ddnndd"}};
  for (int i = 0; i < COUNT(shapes); i++)
    for (int k = 0; k < COUNT(names); k++) {
      gmg_problem p = shaped_problem(&shapes[i]);
      gmg_params q = params_for_cycles();
      const size_t n = unknowns(&p);
      double *f = field(n, 5), *u = field(n, 0), *exact = field(n, 5), most = 0;
      gmg_report r;
      for (int a = 0; a < p.dim; a++) p.h[a] = p.h[0];
      varying box = varying_q1(&p, beta_smooth, 0);
      add_convection(&p, &box, 0.2);
      p.stencil = &box.stencil, q.smoother = gmg_smoother_by_name(names[k]), q.rtol = 1e-10;
      double *A = dense_of(&p);
      assert_true(dense_solve(A, exact, n));
      session s = begin_solver(&p, &q, 2);
      const gmg_status status = solve_in(&s, f, u, &r);
      print_message("%s %s: %d cycles, factor %.3f\n", shapes[i].bc, names[k], r.cycles, r.factor);
      assert_ok(s.context, status);
      assert_below(r.factor, most_factor[k]);
      for (size_t c = 0; c < n; c++) most = fmax(most, fabs(exact[c]));
      for (size_t c = 0; c < n; c++) assert_near(u[c], exact[c], 1e-7 * most);
      end_solver(&s);
      free(f), free(u), free(exact), free(A);
      free_varying(&box);
    }
}

/* Cells, of even and odd numbers, with the default cycle of each smoother. */
static void cells(void **state)
{
  (void)state;
  static const struct {
    const char *name;
    gmg_params params;
    double most;
  } kinds[] = {{"jacobi", {.pre = 1}, 0.7},
               {"chebyshev", {.pre = 1}, 0.6},
               {"gauss_seidel", {.pre = 1}, 0.5},
               {"async", {.pre = 1}, 0.35},
               {"async", {.deterministic = 1, .fmg = 1}, 0.35},
               {"async", {.precision = GMG_PRECISION_MIXED}, 0.3},
               {"gauss_seidel", {.accel = GMG_ACCEL_CG, .deterministic = 1}, 0.6},
               {"async", {.accel = GMG_ACCEL_FLEXIBLE_CG}, 0.3}};
  static const shape shapes[] = {{1, {200, 1, 1}, GMG_CELL, "dn"},     {2, {128, 128, 1}, GMG_CELL, "dddd"}, {2, {101, 77, 1}, GMG_CELL, "nnnn"},
                                 {2, {64, 51, 1}, GMG_CELL, "ppdn"},   {3, {32, 32, 32}, GMG_CELL, "dddddd"}, {3, {17, 24, 21}, GMG_CELL, "ndppdd"}};
  for (int i = 0; i < COUNT(shapes); i++)
    for (int k = 0; k < COUNT(kinds); k++)
      for (int type = 0; type < 2; type++) {
        gmg_problem p = shaped_problem(&shapes[i]);
        gmg_params q = kinds[k].params;
        const size_t n = unknowns(&p);
        p.type = (gmg_type)type, q.smoother = gmg_smoother_by_name(kinds[k].name);
        if ((type == GMG_F32 && q.precision == GMG_PRECISION_MIXED) || !taken(n)) continue;
        for (int a = 0; a < p.dim; a++) p.h[a] = p.h[0];
        q.rtol = type == GMG_F32 ? 1e-3 : 1e-9;
        varying box = varying_cells(&p, beta_smooth, 0, k % 2 ? 0 : 0.2);
        double *f = field(n, 5), *u = field(n, 0);
        gmg_report r;
        p.stencil = &box.stencil;
        session s = begin_solver(&p, &q, 2);
        void *f_typed = typed(&p, f, n), *u_typed = typed(&p, u, n);
        const gmg_status status = solve_in(&s, f_typed, u_typed, &r);
        print_message("cells %s, %s, row %d, %s: %d cycles, factor %.3f\n", shapes[i].bc, kinds[k].name, k, type ? "float" : "double",
                      r.cycles, r.factor);
        assert_ok(s.context, status);
        if (type == GMG_F64) assert_below(r.factor, kinds[k].most);
        free(f), free(u), free(f_typed), free(u_typed);
        free_varying(&box);
        end_solver(&s);
      }
}

/* The entries of finite volumes give the solution of the same problem with beta_face. */
static void cells_are_finite_volumes(void **state)
{
  (void)state;
  static const shape shapes[] = {{1, {63, 1, 1}, GMG_CELL, "nd"}, {2, {40, 33, 1}, GMG_CELL, "ddnn"}, {3, {12, 9, 16}, GMG_CELL, "dnddpp"}};
  for (int i = 0; i < COUNT(shapes); i++) {
    gmg_problem p = shaped_problem(&shapes[i]);
    gmg_params q = params_for_cycles();
    const size_t n = unknowns(&p);
    double *f = field(n, 5), *u[2] = {field(n, 0), field(n, 0)}, *faces[3] = {NULL}, most = 0;
    gmg_report r;
    for (int a = 0; a < p.dim; a++) {
      const size_t m[3] = {p.n[0] + (a == 0), p.n[1] + (a == 1), p.n[2] + (a == 2)};
      faces[a] = field(m[0] * m[1] * m[2], 0);
      for (size_t c = 0; c < m[0] * m[1] * m[2]; c++) {
        const size_t at[3] = {c % m[0], c / m[0] % m[1], c / (m[0] * m[1])};
        double x[3] = {0, 0, 0};
        for (int b = 0; b < p.dim; b++) x[b] = ((double)at[b] + (b == a ? 0 : 0.5)) / (double)p.n[b];
        if (p.bc[a][0] == GMG_PERIODIC && at[a] == p.n[a]) x[a] = 0;
        faces[a][c] = beta_smooth(x);
      }
    }
    varying box = varying_cells(&p, beta_smooth, 0, 0);
    q.rtol = 1e-12, p.shift = 0.5;
    for (int with_box = 0; with_box < 2; with_box++) {
      for (int a = 0; a < p.dim; a++) p.beta_face[a] = with_box ? NULL : faces[a];
      p.stencil = with_box ? &box.stencil : NULL;
      session s = begin_solver(&p, &q, 2);
      assert_ok(s.context, solve_in(&s, f, u[with_box], &r));
      end_solver(&s);
    }
    for (size_t c = 0; c < n; c++) most = fmax(most, fabs(u[0][c]));
    for (size_t c = 0; c < n; c++) assert_near(u[1][c], u[0][c], 1e-9 * most);
    for (int a = 0; a < p.dim; a++) free(faces[a]);
    free(f), free(u[0]), free(u[1]);
    free_varying(&box);
  }
}

/* -div(beta grad u) = f for u = product of sin(pi x) and beta_smooth(), with f at the unknowns. */
static double error_at(int dim, size_t m)
{
  gmg_problem p = make_problem(dim, m - 1, dim > 1 ? m - 1 : 1, dim > 2 ? m - 1 : 1, GMG_VERTEX, "dddddd");
  gmg_params q = params_for_cycles();
  const size_t n = unknowns(&p);
  varying box = varying_q1(&p, beta_smooth, 0);
  double *f = field(n, 0), *u = field(n, 0), *exact = field(n, 0), most = 0;
  gmg_report r;
  p.stencil = &box.stencil, q.rtol = 1e-11;
  for (size_t c = 0; c < n; c++) {
    const size_t at[3] = {c % p.n[0], c / p.n[0] % p.n[1], c / (p.n[0] * p.n[1])};
    double x[3] = {0, 0, 0};
    exact[c] = 1;
    for (int a = 0; a < dim; a++) x[a] = (double)(at[a] + 1) / (double)m, exact[c] *= sin(M_PI * x[a]);
    const double slope[3] = {1.5 * cos(3 * x[0] + 1) * cos(2 * x[1]), -sin(3 * x[0] + 1) * sin(2 * x[1]), 0.3};
    f[c] = dim * M_PI * M_PI * beta_smooth(x) * exact[c];
    for (int a = 0; a < dim; a++) f[c] -= slope[a] * M_PI * cos(M_PI * x[a]) / sin(M_PI * x[a]) * exact[c];
  }
  session s = begin_solver(&p, &q, 2);
  assert_ok(s.context, solve_in(&s, f, u, &r));
  end_solver(&s);
  for (size_t c = 0; c < n; c++) most = fmax(most, fabs(u[c] - exact[c]));
  free(f), free(u), free(exact);
  free_varying(&box);
  return most;
}

static void order_is_two(void **state)
{
  (void)state;
  for (int dim = 1; dim <= 3; dim++) {
    const size_t m = dim == 3 ? 16 : 64;
    if (!taken((2 * m - 1) * (2 * m - 1))) continue;
    const double order = log2(error_at(dim, m) / error_at(dim, 2 * m));
    print_message("%dD: order %.3f\n", dim, order);
    assert_near(order, 2, 0.1);
  }
}

/* Some or all constant entries given as arrays: coarse operators differ, the solution is the same. */
static void constant_entries_as_arrays(void **state)
{
  (void)state;
  static const shape shapes[] = {{1, {63, 1, 1}, GMG_VERTEX, "dn"}, {2, {31, 32, 1}, GMG_VERTEX, "ddpp"}, {3, {15, 31, 16}, GMG_VERTEX, "ddddpp"}};
  for (int i = 0; i < COUNT(shapes); i++)
    for (int some = 0; some < 2; some++) {
      gmg_problem p = shaped_problem(&shapes[i]);
      gmg_params q = params_for_cycles();
      const size_t n = unknowns(&p);
      if (!taken(n)) continue;
      for (int a = 0; a < p.dim; a++) p.h[a] = p.h[0];
      const gmg_stencil constant = box_without_pattern(p.dim);
      gmg_stencil mixed = constant;
      double *f = field(n, 9), *u[2] = {field(n, 0), field(n, 0)}, *values[27] = {NULL}, most = 0;
      gmg_report r[2];
      for (int e = 0; e < 27; e++) {
        double *entry = &(&mixed.entry[0][0][0])[e];
        if (!has_entry(p.dim, e) || (some && e % 2)) continue;
        values[e] = field(n, 0);
        for (size_t c = 0; c < n; c++) values[e][c] = *entry;
        *entry = 0, (&mixed.array[0][0][0])[e] = values[e];
      }
      p.shift = 0.1, q.rtol = 1e-12;
      for (int varies = 0; varies < 2; varies++) {
        p.stencil = varies ? &mixed : &constant;
        session s = begin_solver(&p, &q, 2);
        assert_ok(s.context, solve_in(&s, f, u[varies], &r[varies]));
        end_solver(&s);
      }
      print_message("%dD: %d cycles with arrays, %d without\n", p.dim, r[1].cycles, r[0].cycles);
      for (size_t c = 0; c < n; c++) most = fmax(most, fabs(u[0][c]));
      for (size_t c = 0; c < n; c++) assert_near(u[1][c], u[0][c], 1e-9 * most);
      assert_true(r[1].cycles <= r[0].cycles + 3);
      free(f), free(u[0]), free(u[1]);
      for (int e = 0; e < 27; e++) free(values[e]);
    }
}

/* Singular problems with variable stencils: u has zero mean, and the report says so. Then an update to other arrays, and a new
   solver with them. */
static void singular_and_updated(void **state)
{
  (void)state;
  gmg_problem p = make_problem(2, 33, 48, 1, GMG_VERTEX, "nnpp");
  const gmg_params q = params_for_cycles();
  const size_t n = unknowns(&p);
  double *f = field(n, 8), *u = field(n, 0), *again = field(n, 0), before;
  gmg_report r;
  p.h[0] = p.h[1] = 1 / 32.;
  varying box = varying_q1(&p, beta_smooth, 0), other = varying_q1(&p, beta_uneven, 40);
  p.stencil = &box.stencil;
  session s = begin_solver(&p, &q, 2);
  assert_ok(s.context, solve_in(&s, f, u, &r));
  assert_true(r.singular && r.cycles < 12);
  before = u[17];
  p.stencil = &other.stencil;
  assert_ok(s.context, update_in(&s, &p));
  assert_ok(s.context, solve_in(&s, f, u, &r));
  assert_true(!r.singular && r.cycles < 20 && fabs(u[17] - before) > 1e-6 * fabs(before));
  session fresh = begin_solver(&p, &q, 2);
  assert_ok(fresh.context, solve_in(&fresh, f, again, &r));
  for (size_t c = 0; c < n; c++) assert_near(u[c], again[c], 1e-6 * (fabs(u[c]) + 1e-4));
  end_solver(&s), end_solver(&fresh);
  free(f), free(u), free(again);
  free_varying(&box), free_varying(&other);
}

/* A plan counts the bytes of the solver, including its arrays of entries. */
static void plans(void **state)
{
  (void)state;
  gmg_problem p = make_problem(2, 63, 63, 1, GMG_VERTEX, "dddd");
  gmg_params q = params_for_cycles();
  gmg_plan_info with, without;
  q.precision = GMG_PRECISION_SAME;
  varying box = varying_q1(&p, beta_smooth, 0);
  const gmg_stencil constant = gmg_stencil_q1(2, p.h, 0);
  p.stencil = &constant;
  session s = begin_solver(&p, &q, 1);
  assert_ok(s.context, plan_in(&s, &p, &q, &without));
  p.stencil = &box.stencil;
  assert_ok(s.context, plan_in(&s, &p, &q, &with));
  assert_int_equal(with.levels, without.levels);
  size_t arrays = 0;
  for (int l = 0; l < with.levels; l++) arrays += 9 * with.level[l].cells * sizeof(double);
  assert_in_range(with.bytes, without.bytes + arrays, without.bytes + arrays + 10000);
  end_solver(&s);
  free_varying(&box);
}

int main(int argc, char **argv)
{
  if (for_device(argc, argv)) return SKIPPED;
  const struct CMUnitTest tests[] = {cmocka_unit_test(converges), cmocka_unit_test(smoothers), cmocka_unit_test(unsymmetric), cmocka_unit_test(cells),
                                     cmocka_unit_test(cells_are_finite_volumes), cmocka_unit_test(order_is_two),
                                     cmocka_unit_test(constant_entries_as_arrays), cmocka_unit_test(singular_and_updated),
                                     cmocka_unit_test(plans)};
  return run_selected(tests);
}
