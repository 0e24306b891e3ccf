/* Sums over processes (core/comm.h): every number over all unknowns passes through the table before anything is computed from it.
   The test's table plays a second process with the same data: it doubles every sum. */
#include "boxes.h"

#include "internals.h"

#include <math.h>
#include <stdlib.h>

static int sums;

static void no_exchange(const gmg_exec *e, const gmg_operator *A, gmg_location location, int axis, int layers, const void *x)
{
  (void)e, (void)A, (void)location, (void)axis, (void)layers, (void)x;
}

static void twice(const gmg_exec *e, int count, double *values)
{
  (void)e;
  sums++;
  for (int i = 0; i < count; i++) values[i] *= 2;
}

static double largest; /* the largest value of the second process; 0: the same as here */

static void most(const gmg_exec *e, int count, double *values)
{
  (void)e;
  for (int i = 0; i < count && largest > 0; i++) values[i] = fmax(values[i], largest);
}

static const gmg_comm_ops twins = {.exchange = no_exchange, .sum = twice, .max = most};

/* A solver of one process (0) or two (1). */
static session solver_of(int two, const gmg_problem *p, const gmg_params *params)
{
  session s = {.problem = *p};
  assert_int_equal(gmg_context_create_host(2, &s.context), GMG_OK);
  if (two) s.context->comm = &twins;
  assert_ok(s.context, gmg_solver_create(s.context, p, params, &s.solver));
  return s;
}

/* --- operations ------------------------------------------------------------------------------------------------------------- */

typedef enum { DOUBLES, ROOT, SAME, HALVES_ROOT } effect; /* what the second process changes about a number */

static void expect(const char *what, effect wanted, const double x[2])
{
  const double factor = wanted == DOUBLES ? 2 : wanted == ROOT ? sqrt(2) : wanted == SAME ? 1 : sqrt(0.5);
  if (x[0] == 0 || !(fabs(x[1] - factor * x[0]) <= 1e-12 * fabs(x[1])))
    fail_msg("%s is %.15g of one process and %.15g of two: the quotient should be %g", what, x[0], x[1], factor);
}

/* Every operation that sums. */
static void operations_sum_over_processes_of(const gmg_problem *p)
{
  const size_t n = unknowns(p);
  double *f = field(n, 3), *x = field(n, 4), *q = field(n, 0), *z = field(n, 5), *y[2] = {field(n, 0), field(n, 0)};
  float *low = calloc(n, sizeof *low);
  double measured[20][2];
  gmg_range range[2];
  gmg_params params = params_for_cycles();
  params.precision = GMG_PRECISION_SAME;
  for (int two = 0; two < 2; two++) {
    session s = solver_of(two, p, &params);
    const gmg_exec *e = &s.solver->exec;
    const gmg_operator *A = &s.solver->finest->A;
    const gmg_vector_ops *v = s.solver->vector;
    const gmg_grid_ops *g = s.solver->grid;
    const gmg_operator_ops *op = s.solver->op;
    const gmg_correction c = {.z = z};
    gmg_cg_scalars d = {.pq = 1, .pr = 1, .zr = 3};
    gmg_scale scale = {.next = 1};
    int i = 0;
    double f_norm;
    measured[i++][two] = v->norm2(e, n, x);
    measured[i++][two] = v->dot(e, n, x, f).re;
    v->normalize_to_low(e, n, x, &scale, low);
    measured[i++][two] = scale.divisor;
    measured[i++][two] = g->dot(e, A, x, f).re;
    measured[i++][two] = g->dot(e, A, x, NULL).re;
    measured[i++][two] = s.solver->finest->volume;
    g->cg_beta(e, A, z, f, 0, &d, NULL);
    measured[i++][two] = d.beta, measured[i++][two] = d.zr;
    d.pq = 1;
    g->cg_beta(e, A, z, f, 1, &d, NULL);
    measured[i++][two] = d.beta;
    measured[i++][two] = op->measure_residual(e, A, f, x, NULL, &scale, low, &f_norm, GMG_WAIT);
    measured[i++][two] = f_norm, measured[i++][two] = scale.next;
    measured[i++][two] = op->magnitude(e, A, x);
    v->copy(e, n, x, y[two]), d.beta = 0;
    op->cg_direction(e, A, z, &d, NULL, y[two], y[two], f, q);
    measured[i++][two] = d.pq, measured[i++][two] = d.pr;
    d.pr = d.pq / 8; /* the step length is that of one process */
    v->copy(e, n, x, y[two]);
    measured[i++][two] = v->cg_update(e, n, &d, z, q, y[two], y[two], GMG_WAIT);
    v->copy(e, n, x, y[two]), scale.next = 1;
    measured[i++][two] = op->correct_residual(e, A, c, f, y[two], NULL, &scale, low, GMG_WAIT);
    largest = 100 * two;
    range[two] = v->range(e, n, x);
    largest = 0;
    v->copy(e, n, x, y[two]), v->subtract_mean(e, n, y[two]), v->subtract_mean(e, n, y[two]);
    measured[i++][two] = y[two][n / 2];
    v->copy(e, n, x, y[two]), g->remove_mean(e, A, s.solver->finest->volume, y[two]);
    measured[i++][two] = y[two][n / 2];
    assert_true(i <= 20);
    end_solver(&s);
  }
  static const struct {
    const char *name;
    effect effect;
  } wanted[] = {{"norm2", ROOT}, {"dot", DOUBLES}, {"divisor of normalize_to_low", ROOT}, {"dot with volumes", DOUBLES},
                {"sum with volumes", DOUBLES}, {"volume", DOUBLES}, {"beta", DOUBLES}, {"<z, r>", DOUBLES}, {"flexible beta", DOUBLES},
                {"measure_residual", ROOT}, {"norm of f", ROOT}, {"factor of the next residual", HALVES_ROOT}, {"magnitude", ROOT},
                {"<p, A p>", DOUBLES}, {"<p, r>", DOUBLES}, {"cg_update", ROOT}, {"correct_residual", ROOT}, {"subtract_mean", SAME},
                {"remove_mean", SAME}};
  for (int i = 0; i < COUNT(wanted); i++) expect(wanted[i].name, wanted[i].effect, measured[i]);
  expect("mean of range", SAME, (double[2]){range[0].mean, range[1].mean});
  assert_true(range[0].least > -1 && range[0].most < 1 && range[1].least == -100 && range[1].most == 100);
  free(f), free(x), free(q), free(z), free(y[0]), free(y[1]), free(low);
}

static void operations_sum_over_processes(void **state)
{
  (void)state;
  for (int box = 0; box < 2; box++)
    for (int is_long = 0; is_long < 2; is_long++) { /* long lines and many short lines are summed in different ways */
      gmg_problem p = is_long ? make_problem(1, 5000, 1, 1, GMG_VERTEX, "dn") : make_problem(2, 40, 33, 1, GMG_VERTEX, "dndn");
      const gmg_stencil entries = gmg_stencil_q1(p.dim, p.h, 0);
      if (box) p.stencil = &entries;
      operations_sum_over_processes_of(&p);
    }
}

static void a_bad_value_is_found(void **state)
{
  (void)state;
  const gmg_problem p = make_problem(1, 9, 1, 1, GMG_VERTEX, "dd");
  const gmg_params params = params_for_cycles();
  session s = solver_of(1, &p, &params);
  double x[9] = {0, 1, NAN};
  const gmg_range r = s.solver->vector->range(&s.solver->exec, 9, x);
  assert_true(isnan(r.least) && isnan(r.most) && isnan(r.mean));
  end_solver(&s);
}

/* --- solves ------------------------------------------------------------------------------------------------------------------ */

typedef struct {
  const char *name, *bc;
  gmg_precision precision;
  gmg_accel accel;
  int fmg, with_beta;
  double rtol;
} solve_case;

/* Two processes with the same data: the solve takes the same cycles to the same u, and all norms are larger by sqrt(2). */
static void compare_solves(const solve_case *k)
{
  gmg_problem p = make_problem(2, 66, 70, 1, GMG_CELL, k->bc);
  const size_t n = unknowns(&p);
  double *f = field(n, 3), *beta = field(n, 4), *u[2] = {field(n, 5), field(n, 5)};
  gmg_report r[2];
  double history[2][100], difference = 0;
  gmg_params params = params_for_cycles();
  params.smoother = gmg_smoother_by_name("red_black"); /* deterministic */
  params.precision = k->precision, params.accel = k->accel, params.fmg = k->fmg, params.max_cycles = 99, params.rtol = k->rtol;
  for (size_t i = 0; i < n; i++) beta[i] = 1 + beta[i], f[i] += 1;
  if (k->with_beta) p.beta = beta;
  for (int two = 0; two < 2; two++) {
    session s = solver_of(two, &p, &params);
    (void)gmg_solve(s.solver, f, u[two], &r[two]);
    for (int i = 0; i < r[two].history_length; i++) history[two][i] = r[two].history[i];
    end_solver(&s);
  }
  assert_int_equal(r[0].status, k->rtol < 1e-20 ? GMG_STAGNATED : GMG_OK);
  assert_int_equal(r[1].status, r[0].status);
  const double root = sqrt(2);
  if (k->rtol < 1e-20) { /* rounding decides when it stops */
    assert_near(r[1].floor / r[0].floor, root, 1e-6);
  } else {
    if (r[0].cycles != r[1].cycles) fail_msg("%s: %d cycles of one process, %d of two", k->name, r[0].cycles, r[1].cycles);
    for (int i = 0; i < r[0].history_length; i++)
      if (!(fabs(history[1][i] - root * history[0][i]) <= 1e-3 * history[1][i]))
        fail_msg("%s: residual %d is %g of one process, %g of two", k->name, i, history[0][i], history[1][i]);
    assert_near(r[1].target / r[0].target, root, 1e-12);
    assert_near(r[1].mean_removed, r[0].mean_removed, 1e-12);
  }
  for (size_t i = 0; i < n; i++) difference = fmax(difference, fabs(u[0][i] - u[1][i]));
  if (!(difference <= 1e-8 * norm2(u[0], n))) fail_msg("%s: u of two processes differs by %g", k->name, difference);
  free(f), free(beta), free(u[0]), free(u[1]);
}

static void two_processes_solve_as_one(void **state)
{
  (void)state;
  static const solve_case cases[] = {
      {"cycles", "dddn", GMG_PRECISION_SAME, GMG_ACCEL_NONE, 0, 0, 1e-8},
      {"singular", "nnpp", GMG_PRECISION_SAME, GMG_ACCEL_NONE, 0, 0, 1e-8},
      {"full multigrid", "dddn", GMG_PRECISION_SAME, GMG_ACCEL_NONE, 1, 0, 1e-8},
      {"mixed", "dddn", GMG_PRECISION_MIXED, GMG_ACCEL_NONE, 0, 0, 1e-8},
      {"mixed, singular, full multigrid", "nnpp", GMG_PRECISION_MIXED, GMG_ACCEL_NONE, 1, 0, 1e-8},
      {"CG", "dddn", GMG_PRECISION_SAME, GMG_ACCEL_CG, 0, 1, 1e-8},
      {"CG, singular", "nnpp", GMG_PRECISION_SAME, GMG_ACCEL_CG, 0, 1, 1e-8},
      {"flexible CG", "dddn", GMG_PRECISION_SAME, GMG_ACCEL_FLEXIBLE_CG, 0, 1, 1e-8},
      {"flexible CG, mixed", "dddn", GMG_PRECISION_MIXED, GMG_ACCEL_FLEXIBLE_CG, 1, 1, 1e-8},
      {"to the floor", "dddn", GMG_PRECISION_SAME, GMG_ACCEL_NONE, 0, 0, 1e-30},
  };
  for (int i = 0; i < COUNT(cases); i++) {
    sums = 0;
    compare_solves(&cases[i]);
    assert_true(sums > 0);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(operations_sum_over_processes), cmocka_unit_test(a_bad_value_is_found),
                                     cmocka_unit_test(two_processes_solve_as_one)};
  return run_selected(tests);
}
