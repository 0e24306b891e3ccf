/* The direct solver for box stencils that are even along each axis. The residuals of its solutions are those of the stencil's own
   kernels. With the argument "cuda" on a device. */
#include "boxes.h"
#include "reference.h"
#include "sample.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const walls[] = {"dd", "dn", "nd", "nn", "pp"};

/* The sum of products of second differences with these factors: of none, of axis 0, of axis 1, of 0 and 1, of axis 2, and so on. */
static gmg_stencil stencil_of_products(const double factor[8])
{
  static const double identity[3] = {0, 1, 0}, difference[3] = {-1, 2, -1};
  gmg_stencil s = {0};
  for (int e = 0; e < 27; e++)
    for (int p = 0; p < 8; p++)
      (&s.entry[0][0][0])[e] += factor[p] * (p & 1 ? difference : identity)[e % 3] * (p & 2 ? difference : identity)[e / 3 % 3] *
                                (p & 4 ? difference : identity)[e / 9];
  return s;
}

/* Random factors with a sum that is positive for all eigenvalues from 0 to 4. Products may be negative, as for Q1. */
static gmg_stencil random_stencil(int dim, double reaction, uint64_t *random)
{
  double factor[8] = {reaction};
  for (int p = 1; p < 1 << dim; p++) {
    const int single = p == 1 || p == 2 || p == 4;
    factor[p] = single ? log_between(random, 0.3, 3) : (pick(random, 2) ? 0.005 : -0.005) * log_between(random, 1, 4);
  }
  return stencil_of_products(factor);
}

/* From a random f and guess. `cycles`: one solves, others refine. */
static void solves_directly(const gmg_problem *p, const char *name, int cycles)
{
  const size_t n = unknowns(p);
  gmg_params q = gmg_params_default();
  gmg_report r;
  double *f = field(n, 3), *u = field(n, 4);
  void *rhs = typed(p, f, n), *guess = typed(p, u, n);
  q.direct = GMG_DIRECT_ALWAYS, q.rtol = p->type == GMG_F64 ? 1e-12 : 1e-5, q.max_cycles = 10;
  session s = begin_solver(p, &q, 2);
  const gmg_status status = solve_in(&s, rhs, guess, &r);
  if (!(status == GMG_OK || (status == GMG_STAGNATED && r.residual <= 8 * r.floor)) || !r.direct || r.cycles > cycles)
    fail_msg("%s: %s after %d cycles, residual %g", name, gmg_status_string(status), r.cycles, r.residual);
  end_solver(&s);
  free(f), free(u), free(rhs), free(guess);
}

static void random_stencils(void **state)
{
  (void)state;
  enum { CASES = SANITIZED ? 60 : 400 };
  uint64_t random = 7;
  for (int i = 0; i < CASES; i++) {
    const int dim = 1 + (int)pick(&random, 3);
    const size_t n[3] = {1 + pick(&random, 20), dim > 1 ? 1 + pick(&random, 17) : 1, dim > 2 ? 1 + pick(&random, 15) : 1};
    char bc[7], name[80];
    snprintf(bc, sizeof bc, "%s%s%s", walls[pick(&random, 5)], walls[pick(&random, 5)], walls[pick(&random, 5)]);
    gmg_problem p = make_problem(dim, n[0], n[1], n[2], GMG_VERTEX, bc);
    const gmg_stencil box = random_stencil(dim, pick(&random, 2) ? 0 : log_between(&random, 1e-3, 10), &random);
    for (int a = 0; a < dim; a++) p.h[a] = log_between(&random, 1e-12, 1e12); /* entries hold the widths already */
    p.stencil = &box, p.type = (gmg_type)pick(&random, 2), p.shift = pick(&random, 3) ? 0 : log_between(&random, 1e-3, 1e3);
    if (!taken(unknowns(&p))) continue;
    snprintf(name, sizeof name, "case %d: %s, %zu x %zu x %zu, shift %g", i, bc, n[0], n[1], n[2], p.shift);
    solves_directly(&p, name, p.type == GMG_F64 ? 3 : 6);
  }
}

/* Named stencils on both sides of the limits at which kernels change. */
static void longer_axes(void **state)
{
  (void)state;
  static const struct {
    const box_entries *box;
    shape shape;
  } cases[] = {{&box_q1, {3, {64, 63, 65}, GMG_VERTEX, "dddddd"}},  {&box_q1, {3, {65, 64, 40}, GMG_VERTEX, "nnppnd"}},
               {&box_27, {3, {97, 90, 96}, GMG_VERTEX, "ddddnn"}},  {&box_27, {3, {128, 127, 30}, GMG_VERTEX, "ppppnn"}},
               {&box_q1, {3, {129, 20, 21}, GMG_VERTEX, "dddddd"}}, {&box_27, {3, {40, 41, 257}, GMG_VERTEX, "ddnndd"}},
               {&box_q1, {3, {70, 30, 270}, GMG_VERTEX, "dnddpp"}}, {&box_q1, {2, {300, 200, 1}, GMG_VERTEX, "dddn"}},
               {&box_fv1, {2, {98, 98, 1}, GMG_VERTEX, "dddd"}},    {&box_fv3, {2, {99, 99, 1}, GMG_VERTEX, "dddd"}},
               {&box_q1, {2, {129, 515, 1}, GMG_VERTEX, "nnpp"}},   {&box_q1, {1, {10000, 1, 1}, GMG_VERTEX, "dn"}}};
  for (int k = 0; k < COUNT(cases); k++) {
    gmg_problem p = shaped_problem(&cases[k].shape);
    const gmg_stencil box = box_of_entries(&p, cases[k].box);
    p.stencil = &box;
    if (!taken(unknowns(&p))) continue;
    solves_directly(&p, cases[k].box->name, 3);
  }
}

/* As the coarsest grid of a hierarchy: as many cycles as with Cholesky. Two levels, and in 2D a level that is coarser along one axis
   alone. */
static void ends_a_hierarchy(void **state)
{
  (void)state;
  static const struct {
    double factor[8];
    shape shape;
  } cases[] = {{{0, 1, 1, -1 / 6., 1, -1 / 6., -1 / 6., 1 / 36.}, {3, {15, 16, 17}, GMG_VERTEX, "dddnpp"}},
               {{0, 1, 1, -1 / 3.}, {2, {45, 44, 1}, GMG_VERTEX, "nnnn"}},
               {{0, 10, 1, -0.2}, {2, {45, 20, 1}, GMG_VERTEX, "dddd"}}};
  for (int k = 0; k < COUNT(cases); k++)
    for (int mixed = 0; mixed < 2; mixed++) {
      gmg_problem p = shaped_problem(&cases[k].shape);
      const gmg_stencil box = stencil_of_products(cases[k].factor);
      const size_t n = unknowns(&p);
      gmg_params q = gmg_params_default();
      gmg_report r[2];
      double *f = field(n, 1);
      p.stencil = &box;
      q.precision = mixed ? GMG_PRECISION_MIXED : GMG_PRECISION_SAME, q.deterministic = 1, q.max_levels = 2;
      for (int tensor = 0; tensor < 2; tensor++) {
        double *u = field(n, 0);
        q.coarse = tensor ? GMG_COARSE_TENSOR : GMG_COARSE_DENSE;
        session s = begin_solver(&p, &q, 2);
        assert_ok(s.context, solve_in(&s, f, u, &r[tensor]));
        end_solver(&s);
        free(u);
      }
      assert_int_equal(r[1].levels, 2);
      assert_int_equal(r[1].cycles, r[0].cycles);
      assert_near(r[1].residual, r[0].residual, 1e-3 * r[0].residual);
      free(f);
    }
}

/* AUTO solves directly if the stencil is even. Other stencils are refused if the direct solver is asked for, also by an update. */
static void other_stencils(void **state)
{
  (void)state;
  static const struct {
    double corner, other_corner, edge; /* added to the entries of Q1 */
    const char *words;                 /* NULL: it is taken */
  } cases[] = {{0, 0, 0, NULL},
               {-0.1, 0.1, 0, "problem.stencil differs on the two sides of an axis"},
               {0, 0, 1, "problem.stencil is not positive for all frequencies"}};
  gmg_context *c;
  assert_int_equal(gmg_context_create_host(1, &c), GMG_OK);
  for (int i = 0; i < COUNT(cases); i++) {
    gmg_problem p = make_problem(2, 40, 40, 1, GMG_VERTEX, "dddd");
    const gmg_stencil q1 = gmg_stencil_q1(2, NULL, 0);
    gmg_stencil box = q1;
    double *entry = &box.entry[0][0][0];
    gmg_plan_info info;
    gmg_params q = gmg_params_default();
    gmg_solver *s = NULL;
    static double f[1600], u[2][1600];
    fill_random(f, 1600, 1);
    entry[9] += cases[i].corner, entry[17] += cases[i].corner, entry[11] += cases[i].other_corner, entry[15] += cases[i].other_corner;
    entry[12] += cases[i].edge, entry[14] += cases[i].edge, entry[13] -= 2 * cases[i].edge;
    p.stencil = &box, entry[13] = fabs(entry[13]);
    assert_ok(c, gmg_plan(c, &p, &q, &info));
    assert_int_equal(info.direct, cases[i].words == NULL);
    q.direct = GMG_DIRECT_ALWAYS;
    if (cases[i].words) {
      assert_int_equal(gmg_plan(c, &p, &q, &info), GMG_ERR_UNSUPPORTED);
      assert_non_null(strstr(gmg_context_error(c), cases[i].words));
    }
    p.stencil = &q1;
    assert_ok(c, gmg_solver_create(c, &p, &q, &s));
    assert_ok(c, gmg_solve(s, f, u[0], NULL));
    p.stencil = &box;
    if (cases[i].words) {
      assert_int_equal(gmg_solver_update(s, &p), GMG_ERR_UNSUPPORTED);
      assert_non_null(strstr(gmg_context_error(c), cases[i].words));
      memset(u[1], 0, sizeof u[1]);
      assert_ok(c, gmg_solve(s, f, u[1], NULL));
      memset(u[0], 0, sizeof u[0]);
      assert_ok(c, gmg_solve(s, f, u[0], NULL));
      assert_memory_equal(u[0], u[1], sizeof u[0]);
    } else {
      assert_ok(c, gmg_solver_update(s, &p));
    }
    gmg_solver_destroy(s);
  }
  gmg_context_destroy(c);
}

static void an_update_changes_the_entries(void **state)
{
  (void)state;
  gmg_problem p = make_problem(3, 20, 21, 22, GMG_VERTEX, "nnnnpp");
  const size_t n = unknowns(&p);
  gmg_stencil box = gmg_stencil_q1(3, NULL, 0);
  gmg_params q = gmg_params_default();
  double *f = field(n, 1), *u = field(n, 0), *wanted = field(n, 0);
  gmg_report r;
  q.direct = GMG_DIRECT_ALWAYS, p.stencil = &box;
  session s = begin_solver(&p, &q, 2);
  for (int i = 0; i < 3; i++) {
    box = gmg_stencil_q1(3, (double[]){1, 1 + 0.2 * i, 1}, i == 1 ? 0.3 : 0);
    memset(u, 0, n * sizeof *u), memset(wanted, 0, n * sizeof *wanted);
    assert_ok(s.context, update_in(&s, &p));
    assert_ok(s.context, solve_in(&s, f, u, &r));
    assert_int_equal(r.cycles, 1);
    assert_int_equal(r.singular, i != 1);
    session fresh = begin_solver(&p, &q, 2);
    assert_ok(fresh.context, solve_in(&fresh, f, wanted, &r));
    end_solver(&fresh);
    assert_memory_equal(u, wanted, n * sizeof *u);
  }
  end_solver(&s);
  free(f), free(u), free(wanted);
}

int main(int argc, char **argv)
{
  if (for_device(argc, argv)) return SKIPPED;
  const struct CMUnitTest tests[] = {cmocka_unit_test(random_stencils), cmocka_unit_test(longer_axes), cmocka_unit_test(ends_a_hierarchy),
                                     cmocka_unit_test(other_stencils), cmocka_unit_test(an_update_changes_the_entries)};
  return run_selected(tests);
}
