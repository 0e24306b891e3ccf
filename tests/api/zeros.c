/* Structs of zeros give the same bits as the defaults. GMG_NONE means none, and the plan says so. */
#include "util.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 24, CELLS = N * N * N };
static double f[CELLS], u[2][CELLS];
static gmg_plan_info plan[2];

static gmg_report solved(gmg_context *c, const gmg_problem *p, const gmg_params *q, double *to)
{
  gmg_solver *s;
  gmg_report r;
  memset(to, 0, sizeof u[0]);
  assert_ok(c, gmg_solver_create(c, p, q, &s));
  assert_ok(c, gmg_set_boundary_constant(s, 0, 1, 0.5));
  assert_ok(c, gmg_solve(s, f, to, &r));
  gmg_solver_destroy(s);
  return r;
}

static void same_solve(const gmg_problem *p, const gmg_params *q, const gmg_problem *zeros, const gmg_params *none)
{
  gmg_context *c;
  assert_int_equal(gmg_context_create_host(1, &c), GMG_OK);
  memset(plan, 0x5a, sizeof plan);
  assert_ok(c, gmg_plan(c, p, q, &plan[0]));
  assert_ok(c, gmg_plan(c, zeros, none, &plan[1]));
  assert_memory_equal(&plan[0], &plan[1], sizeof plan[0]);
  const gmg_report a = solved(c, p, q, u[0]), b = solved(c, zeros, none, u[1]);
  assert_memory_equal(u[0], u[1], sizeof u[0]);
  assert_true(a.cycles == b.cycles && a.residual == b.residual && a.target == b.target && a.factor == b.factor);
  gmg_context_destroy(c);
}

/* A problem of zeros, parameters of zeros, and both, in all dimensions. */
static void zeros_are_the_defaults(void **state)
{
  (void)state;
  fill_random(f, CELLS, 1);
  for (int dim = 1; dim <= 3; dim++)
    for (int beta = 0; beta < 2; beta++) {
      static double values[CELLS];
      const size_t n[3] = {N, N, N};
      gmg_problem p = gmg_problem_default(dim, n), zeros = {.dim = dim, .n = {N, N, N}};
      const gmg_params q = gmg_params_default(), none = {0};
      for (int i = 0; i < CELLS; i++) values[i] = i < CELLS / 3 ? 1 : 50;
      if (beta) p.beta = zeros.beta = values; /* parameters that are not the defaults */
      same_solve(&p, &q, &p, &none);
      same_solve(&p, &q, &zeros, &q);
      same_solve(&p, &q, &zeros, &none);
    }
}

/* Layouts of zeros mean packed arrays. */
static void zeros_are_packed(void **state)
{
  (void)state;
  fill_random(f, CELLS, 6);
  for (int dim = 1; dim <= 3; dim++) {
    static double beta[CELLS], faces[3][CELLS + N * N];
    const gmg_params none = {0};
    const gmg_array_layout packed = {N, N * N, 0};
    gmg_problem zeros = {.dim = dim, .n = {N, N, N}, .beta = beta}, p = zeros;
    for (int i = 0; i < CELLS; i++) beta[i] = 1 + i % 5;
    p.f_layout = p.u_layout = p.coefficient_layout = packed;
    same_solve(&p, &none, &zeros, &none);
    zeros.beta = p.beta = NULL;
    for (int a = 0; a < dim; a++) { /* arrays of coefficients on faces have different shapes, and with zeros each of them is packed */
      for (int i = 0; i < CELLS + N * N; i++) faces[a][i] = 2;
      zeros.beta_face[a] = p.beta_face[a] = faces[a];
    }
    memset(&p.coefficient_layout, 0, sizeof packed);
    same_solve(&p, &none, &zeros, &none);
  }
}

/* A problem with h of zeros is the unit box, for all centrings and walls. Robin walls of zeros are u + du/dn = g. */
static void zeros_are_the_unit_box(void **state)
{
  (void)state;
  static const char *const walls[] = {"dddddd", "nrrnpp", "dnrddd"};
  const double sides[3] = {1, 1, 1};
  const gmg_params none = {0};
  fill_random(f, CELLS, 2);
  for (int i = 0; i < COUNT(walls); i++)
    for (int centering = GMG_CELL; centering <= GMG_VERTEX; centering++) {
      gmg_problem p = make_problem(3, N, N, N, (gmg_centering)centering, walls[i]), zeros;
      for (int a = 0; a < 3; a++)
        for (int side = 0; side < 2; side++) p.robin[a][side][0] = p.robin[a][side][1] = 1;
      gmg_problem_set_box(&p, sides);
      zeros = p;
      memset(zeros.h, 0, sizeof zeros.h), memset(zeros.robin, 0, sizeof zeros.robin);
      same_solve(&p, &none, &zeros, &none);
      gmg_problem_set_box(&zeros, NULL);
      assert_memory_equal(zeros.h, p.h, sizeof p.h);
    }
}

/* An update compares the values that zeros stand for. */
static void updates_take_zeros(void **state)
{
  (void)state;
  const size_t n[2] = {N, N};
  const gmg_problem p = gmg_problem_default(2, n);
  const gmg_params none = {0};
  gmg_problem zeros = {.dim = 2, .n = {N, N}};
  session s = begin_solver(&p, &none, 1);
  zeros.shift = 3;
  assert_ok(s.context, gmg_solver_update(s.solver, &zeros));
  zeros.h[1] = 0.5;
  assert_int_equal(gmg_solver_update(s.solver, &zeros), GMG_ERR_ARGUMENT);
  assert_non_null(strstr(gmg_context_error(s.context), "problem.h[1] = 0.5 differs from the solver's 0.0416667"));
  end_solver(&s);
}

static gmg_plan_info *planned_for(const gmg_problem *p, const gmg_params *q)
{
  gmg_context *c;
  assert_int_equal(gmg_context_create_host(1, &c), GMG_OK);
  assert_ok(c, gmg_plan(c, p, q, &plan[0]));
  gmg_context_destroy(c);
  return &plan[0];
}

static gmg_plan_info *planned(const gmg_params *q)
{
  const gmg_problem p = make_problem(3, N, N, N, GMG_CELL, "dddddd");
  return planned_for(&p, q);
}

/* The choices of gmg for parameters of zeros. */
static void choices_are_planned(void **state)
{
  (void)state;
  const gmg_params none = {0}, cycles = {.direct = GMG_DIRECT_NEVER};
  const gmg_plan_info *x = planned(&none);
  assert_true(x->direct == 1 && x->levels == 1 && x->coarse == GMG_COARSE_TENSOR && x->accel == GMG_ACCEL_NONE);
  x = planned(&cycles);
  assert_true(x->direct == 0 && x->levels > 1);
  assert_true(x->smoother == gmg_smoother_by_name("async") && x->coarse == GMG_COARSE_CG && x->cycle == GMG_CYCLE_V);
  assert_true(x->accel == GMG_ACCEL_NONE && x->precision == GMG_PRECISION_MIXED);
  assert_true(x->local == GMG_LOCAL_RED_BLACK && x->order == GMG_ORDER_NATURAL && x->overlap == 1);
  assert_true(x->fmg == 0 && x->pre == 1 && x->post == 1 && x->max_cycles == 100 && x->check_every == 1);
}

/* The overlap that gmg chooses: 2 in 2D with constant coefficients, unless blocks do one sweep or relax otherwise. */
static void overlap_is_chosen(void **state)
{
  const gmg_problem plane = make_problem(2, N, N, 1, GMG_CELL, "dddd"), line = make_problem(1, N, 1, 1, GMG_CELL, "dd");
  gmg_problem p = plane;
  gmg_params q = {.direct = GMG_DIRECT_NEVER};
  (void)state;
  assert_int_equal(planned_for(&plane, &q)->overlap, 2);
  assert_int_equal(planned_for(&line, &q)->overlap, 1);
  q.async.overlap = 1;
  assert_int_equal(planned_for(&plane, &q)->overlap, 1);
  q.async.overlap = 0, q.async.local_sweeps = 1;
  assert_int_equal(planned_for(&plane, &q)->overlap, 1);
  q.async.local_sweeps = 0, q.async.local = GMG_LOCAL_JACOBI;
  assert_int_equal(planned_for(&plane, &q)->overlap, 1);
  q.async.local = GMG_LOCAL_AUTO, q.smoother = gmg_smoother_by_name("async"), q.coarsening = GMG_COARSENING_DISCRETIZE;
  double filled[N * N];
  for (int c = 0; c < N * N; c++) filled[c] = 1 + c;
  p.beta = filled;
  assert_int_equal(planned_for(&p, &q)->overlap, 1);
  p.beta = NULL, p.sigma = filled;
  assert_int_equal(planned_for(&p, &q)->overlap, 1);
}

/* The choices of gmg for a problem with a box stencil. A stencil of size 0 has the size of this version. */
static void choices_for_stencils(void **state)
{
  (void)state;
  const gmg_params none = {0}, cycles = {.direct = GMG_DIRECT_NEVER}, coarse = {.coarse = GMG_COARSE_CG};
  gmg_problem p = make_problem(2, N, N, 1, GMG_VERTEX, "dddd");
  const gmg_stencil sized = gmg_stencil_q1(2, p.h, 2);
  gmg_stencil box = sized;
  box.size = 0, p.stencil = &box;
  const gmg_plan_info *x = planned_for(&p, &none);
  assert_true(x->direct == 1 && x->levels == 1 && x->coarse == GMG_COARSE_TENSOR);
  x = planned_for(&p, &cycles);
  assert_true(x->smoother == gmg_smoother_by_name("async") && x->coarse == GMG_COARSE_DENSE && x->cycle == GMG_CYCLE_V);
  assert_true(x->accel == GMG_ACCEL_NONE && isnan(x->predicted_factor));
  assert_true(planned_for(&p, &coarse)->coarse == GMG_COARSE_CG);
  gmg_context *c;
  gmg_solver *s;
  gmg_report r;
  assert_int_equal(gmg_context_create_host(1, &c), GMG_OK);
  fill_random(f, CELLS, 5);
  for (int given = 0; given < 2; given++) {
    p.stencil = given ? &sized : &box;
    memset(u[given], 0, sizeof u[0]);
    assert_ok(c, gmg_solver_create(c, &p, &none, &s));
    assert_ok(c, gmg_solve(s, f, u[given], &r));
    gmg_solver_destroy(s);
  }
  assert_memory_equal(u[0], u[1], sizeof u[0]);
  gmg_context_destroy(c);
}

/* Every GMG_NONE appears in the plan, and changes the solve. */
static void none_is_none(void **state)
{
  (void)state;
  gmg_params q = {.deterministic = 1, .direct = GMG_DIRECT_NEVER, .max_cycles = 3, .rtol = 1e-30};
  gmg_context *c;
  gmg_solver *s;
  gmg_report r;
  const gmg_problem p = make_problem(3, N, N, N, GMG_CELL, "dddddd");
  assert_int_equal(gmg_context_create_host(1, &c), GMG_OK);
  fill_random(f, CELLS, 3);
#define WITH(change, status, seen)                       \
  do {                                                   \
    const gmg_params before = q;                         \
    change;                                              \
    assert_true(planned(&q)->seen);                      \
    memset(u[1], 0, sizeof u[1]);                        \
    assert_ok(c, gmg_solver_create(c, &p, &q, &s));      \
    assert_int_equal(gmg_solve(s, f, u[1], &r), status); \
    gmg_solver_destroy(s);                               \
    q = before;                                          \
  } while (0)
  WITH((void)0, GMG_NOT_CONVERGED, pre == 1);
  memcpy(u[0], u[1], sizeof u[0]);
  WITH(q.pre = GMG_NONE, GMG_NOT_CONVERGED, pre == 0);
  assert_memory_not_equal(u[0], u[1], sizeof u[0]);
  WITH(q.post = GMG_NONE, GMG_NOT_CONVERGED, post == 0);
  assert_memory_not_equal(u[0], u[1], sizeof u[0]);
  WITH(q.async.overlap = GMG_NONE, GMG_NOT_CONVERGED, overlap == 0);
  assert_memory_not_equal(u[0], u[1], sizeof u[0]);
  WITH(q.fmg = GMG_NONE, GMG_NOT_CONVERGED, fmg == 0);
  assert_memory_equal(u[0], u[1], sizeof u[0]);
  WITH(q.check_every = GMG_NONE, GMG_OK, check_every == 0);
  assert_true(isnan(r.residual) && r.history_length == 0 && r.cycles == 3);
  WITH(q.max_cycles = GMG_NONE, GMG_NOT_CONVERGED, max_cycles == 0);
  assert_true(r.cycles == 0 && r.history_length == 1 && u[1][0] == 0);
  assert_non_null(strstr(gmg_context_error(c), "params.max_cycles = GMG_NONE"));
#undef WITH
  gmg_context_destroy(c);
}

/* A seed of 0 is the default seed. */
static void seeds(void **state)
{
  (void)state;
  const size_t n[3] = {N, N, N};
  const gmg_problem p = gmg_problem_default(3, n);
  gmg_params q = gmg_params_default(), zero = {.async = {.order = GMG_ORDER_RANDOM}};
  q.async.order = GMG_ORDER_RANDOM;
  for (int a = 0; a < 3; a++) q.async.block[a] = zero.async.block[a] = 8;
  fill_random(f, CELLS, 4);
  same_solve(&p, &q, &p, &zero);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(zeros_are_the_defaults), cmocka_unit_test(zeros_are_packed),
                                     cmocka_unit_test(zeros_are_the_unit_box),
                                     cmocka_unit_test(updates_take_zeros),     cmocka_unit_test(choices_are_planned), cmocka_unit_test(overlap_is_chosen),
                                     cmocka_unit_test(choices_for_stencils),   cmocka_unit_test(none_is_none),
                                     cmocka_unit_test(seeds)};
  return run_selected(tests);
}
