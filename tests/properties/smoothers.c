/* Properties of the smoothers: fixed point, linearity, adjoints, bitwise independence of threads, periodic axes of one, two and odd
   sizes, the leg from zero. smoother_oracles.c compares them with slow references. */
#include "reference.h"
#include "smoother_shapes.h"
#include "sweeps.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  const char *name;
  int local, overlap, deterministic, order;
  gmg_accel accel; /* of whole solves */
  int threads;     /* for the leg from zero */
  int line_axes;
} variant;

enum { JA = GMG_LOCAL_JACOBI, GS = GMG_LOCAL_GAUSS_SEIDEL, TWO_COLOUR = GMG_ORDER_TWO_COLOUR, RANDOM = GMG_ORDER_RANDOM };
static const variant variants[] = {{"jacobi", 0, 0, 0, 0, GMG_ACCEL_AUTO, 1, 0},
                                   {"gauss_seidel", 0, 0, 1, 0, GMG_ACCEL_AUTO, 1, 0},
                                   {"red_black", 0, 0, 0, 0, GMG_ACCEL_FLEXIBLE_CG, 1, 0},
                                   {"chebyshev", 0, 0, 0, 0, GMG_ACCEL_AUTO, 1, 0},
                                   {"async", 0, 1, 0, 0, GMG_ACCEL_AUTO, 1, 0},
                                   {"async", 0, 1, 1, TWO_COLOUR, GMG_ACCEL_AUTO, 2, 0},
                                   {"async", 0, 2, 1, RANDOM, GMG_ACCEL_AUTO, 1, 0},
                                   {"async", JA, 0, 1, 0, GMG_ACCEL_AUTO, 1, 0},
                                   {"async", GS, 1, 0, RANDOM, GMG_ACCEL_AUTO, 1, 0},
                                   {"async", JA, 2, 0, TWO_COLOUR, GMG_ACCEL_AUTO, 2, 0},
                                   {"async", 0, 0, 1, 0, GMG_ACCEL_AUTO, 1, 0},
                                   {"gauss_seidel", 0, 0, 0, 0, GMG_ACCEL_AUTO, 1, 0},
                                   {"lines", 0, 0, 0, 0, GMG_ACCEL_AUTO, 1, 0},
                                   {"lines", 0, 0, 0, 0, GMG_ACCEL_FLEXIBLE_CG, 1, 1},
                                   {"lines", 0, 0, 0, 0, GMG_ACCEL_AUTO, 1, 2},
                                   {"lines", 0, 0, 0, 0, GMG_ACCEL_AUTO, 1, 4},
                                   {"lines", 0, 0, 0, 0, GMG_ACCEL_AUTO, 1, 5}};
enum { VARIANTS = sizeof variants / sizeof *variants };

static gmg_params params_of(const variant *v, int dim)
{
  gmg_params p = same_precision();
  p.smoother = gmg_smoother_by_name(v->name);
  p.async.local = (gmg_local_kind)v->local, p.async.overlap = count_or_none(v->overlap);
  p.deterministic = v->deterministic, p.async.order = (gmg_block_order)v->order;
  p.async.block[0] = 5, p.async.block[1] = 4, p.async.block[2] = 3;
  p.max_levels = 2, p.coarse_cells = 1;
  p.line_axes = v->line_axes & ((1 << dim) - 1);
  return p;
}

typedef int check_function(const gmg_problem *p, const gmg_params *params, const char *what);

/* Runs a check for every variant on every shape, vertex- and cell-centred. Returns the sum of the checks' results. */
static int for_every_shape_and_variant(check_function *check)
{
  int checked = 0;
  for (int i = 0; i < SHAPES; i++)
    for (int centering = GMG_CELL; centering <= GMG_VERTEX; centering++)
      for (int v = 0; v < VARIANTS; v++) {
        const gmg_problem p = shape_problem(i, (gmg_centering)centering);
        const gmg_params params = params_of(&variants[v], p.dim);
        char what[80];
        snprintf(what, sizeof what, "%s variant %d shape %d", variants[v].name, v, i);
        checked += check(&p, &params, what);
      }
  return checked;
}

static int is_fixed_point(const gmg_problem *p, const gmg_params *params, const char *what)
{
  const size_t n = unknowns(p);
  double *u = calloc(n, sizeof *u), *f = calloc(n, sizeof *f), *w = calloc(n, sizeof *w);
  session s = begin_solver(p, params, 2);
  (void)what;
  fill_random(u, n, 9);
  assert_ok(s.context, gmg_residual(s.solver, f, u, w));
  for (size_t c = 0; c < n; c++) f[c] = -w[c], w[c] = u[c];
  if (s.solver->levels > 1) {
    smooth(&s, f, w, 3, GMG_LEG_DOWN);
    smooth(&s, f, w, 1, GMG_LEG_UP_REVERSED);
  }
  for (size_t c = 0; c < n; c++) assert_near(w[c], u[c], 1e-12);
  end_solver(&s);
  free(u), free(f), free(w);
  return 1;
}

/* With f = A u smoothing must not change u. An error in a neighbour or coefficient would change it. */
static void exact_solution_is_a_fixed_point(void **state)
{
  (void)state;
  assert_int_equal(for_every_shape_and_variant(is_fixed_point), 2 * SHAPES * VARIANTS);
}

/* With one thread, Jacobi, and blocks that mirror each other, the backward order does to the mirrored problem what the natural
   order does to the problem. The natural order does not. */
static void backward_order_mirrors_the_natural_one(void **state)
{
  (void)state;
  const gmg_problem p = make_problem(3, 12, 8, 6, GMG_CELL, "dddddd");
  const size_t n = unknowns(&p);
  double *u[3] = {field(n, 4), field(n, 4), field(n, 4)}, *f[2] = {field(n, 5), field(n, 5)}, apart = 0;
  for (size_t c = 0; c < n; c++) u[1][c] = u[2][c] = u[0][n - 1 - c], f[1][c] = f[0][n - 1 - c];
  static const gmg_block_order orders[] = {GMG_ORDER_NATURAL, GMG_ORDER_BACKWARD, GMG_ORDER_NATURAL};
  for (int i = 0; i < 3; i++) {
    gmg_params q = params_of(&(variant){.name = "async", .local = GMG_LOCAL_JACOBI, .order = (int)orders[i]}, 3);
    q.async.block[0] = 4, q.async.block[1] = 4, q.async.block[2] = 3, q.async.passes = 2;
    session s = begin_solver(&p, &q, 1);
    smooth(&s, f[i > 0], u[i], 1, GMG_LEG_DOWN);
    end_solver(&s);
  }
  for (size_t c = 0; c < n; c++) {
    assert_near(u[1][c], u[0][n - 1 - c], 1e-13);
    apart = fmax(apart, fabs(u[2][c] - u[0][n - 1 - c]));
  }
  assert_true(apart > 1e-3);
  for (int i = 0; i < 3; i++) free(u[i]);
  free(f[0]), free(f[1]);
}

/* The error-propagation matrix, column by column. */
static double *propagation(session *s, size_t n, gmg_leg leg)
{
  double *M = calloc(n * n, sizeof *M), *u = calloc(n, sizeof *u), *f = calloc(n, sizeof *f);
  for (size_t j = 0; j < n; j++) {
    memset(u, 0, n * sizeof *u);
    u[j] = 1;
    smooth(s, f, u, 1, leg);
    for (size_t i = 0; i < n; i++) M[i * n + j] = u[i];
  }
  free(u), free(f);
  return M;
}

/* W A S_up = S_down^T W A */
static int is_adjoint(const gmg_problem *p, const gmg_params *params, const char *what)
{
  const size_t n = unknowns(p);
  const gmg_params chosen = gmg_params_resolved(params, p);
  if (!(params->smoother->traits(&chosen, 2) & GMG_SMOOTHER_ADJOINT) || n > 400) return 0;
  session s = begin_solver(p, params, 2);
  const int smooths = s.solver->levels > 1;
  if (smooths) {
    double *A = dense_matrix(p), *D = propagation(&s, n, GMG_LEG_DOWN), *U = propagation(&s, n, GMG_LEG_UP_REVERSED);
    for (size_t r = 0; r < n; r++)
      for (size_t c = 0; c < n; c++) A[r * n + c] *= cell_volume(p, r);
    for (size_t r = 0; r < n; r++)
      for (size_t c = 0; c < n; c++) {
        double left = 0, right = 0;
        for (size_t k = 0; k < n; k++) left += A[r * n + k] * U[k * n + c], right += D[k * n + r] * A[k * n + c];
        if (fabs(left - right) > 1e-11) fail_msg("%s: %g against %g", what, left, right);
      }
    free(A), free(D), free(U);
  }
  end_solver(&s);
  return smooths;
}

/* If the traits promise it, the reversed sweep is the adjoint of the downward sweep in the energy inner product. */
static void reversed_sweep_is_the_adjoint(void **state)
{
  (void)state;
  assert_true(for_every_shape_and_variant(is_adjoint) > 10);
}

/* Whole solves give the same bits with one thread, with two, and again with one. */
static void deterministic_means_bitwise(void **state)
{
  static const shape boxes[] = {{3, {33, 31, 29}, GMG_CELL, "dndrpp"}, {3, {33, 31, 29}, GMG_VERTEX, "pppppp"},
                                {3, {33, 31, 29}, GMG_CELL, "dddddd"}, {2, {150, 141, 1}, GMG_VERTEX, "dnpp"}};
  static const int threads[] = {1, 2, 1};
  (void)state;
  for (int i = 0; i < COUNT(boxes); i++)
    for (int v = 0; v < VARIANTS; v++) {
      gmg_params params = params_of(&variants[v], boxes[i].dim);
      gmg_problem p = shaped_problem(&boxes[i]);
      if (!(params.smoother->traits(&params, 2) & GMG_SMOOTHER_DETERMINISTIC)) continue;
      params.max_levels = 0, params.max_cycles = 4, params.rtol = 1e-300;
      params.async.block[0] = params.async.block[1] = params.async.block[2] = 0;
      params.accel = variants[v].accel;
      const size_t n = unknowns(&p);
      double *f = calloc(n, sizeof *f), *u[3];
      fill_random(f, n, 21);
      for (int run = 0; run < 3; run++) {
        u[run] = calloc(n, sizeof **u);
        session s = begin_solver(&p, &params, threads[run]);
        gmg_report report;
        gmg_solve(s.solver, f, u[run], &report);
        assert_int_equal(report.deterministic, 1);
        end_solver(&s);
      }
      assert_memory_equal(u[0], u[1], n * sizeof **u);
      assert_memory_equal(u[0], u[2], n * sizeof **u);
      free(f), free(u[0]), free(u[1]), free(u[2]);
    }
}

/* The leg from zero gives the bits of a sweep of zeros, whatever u holds before: with overlap those of the deterministic twin,
   otherwise those of one thread. */
static void from_zero_is_a_sweep_of_zeros(void **state)
{
  (void)state;
  int checked = 0;
  for (int i = 0; i < SHAPES; i++)
    for (int variable = 0; variable < 2; variable++)
      for (int centering = GMG_CELL; centering <= GMG_VERTEX; centering++)
        for (int v = 0; v < VARIANTS; v++) {
          gmg_problem p = shape_problem(i, (gmg_centering)centering);
          gmg_params params = params_of(&variants[v], p.dim);
          const size_t n = unknowns(&p);
          double *f = calloc(n, sizeof *f), *u = calloc(n, sizeof *u), *w = calloc(n, sizeof *w), *beta = calloc(n, sizeof *beta);
          fill_random(f, n, 3), fill_random(beta, n, 4);
          for (size_t c = 0; c < n; c++) beta[c] += 1.5;
          if (variable) p.beta = beta;
          session s = begin_solver(&p, &params, variants[v].threads);
          params.deterministic |= params.async.overlap > 0;
          session twin = begin_solver(&p, &params, 1);
          const gmg_smoother_ops *ops = s.solver->mg.smoother[0];
          for (int steps = 1; steps < 3 && ops->sweep_from_zero && s.solver->levels > 1; steps++) {
            gmg_level *L = &s.solver->level[0];
            if (steps > 1 && !variants[v].deterministic && params.async.overlap > 0) continue; /* the second step is asynchronous */
            for (size_t c = 0; c < n; c++) u[c] = NAN, w[c] = 0;
            ops->sweep_from_zero(&L->view, s.solver->mg.state[0], f, u, steps, steps > 1 ? GMG_LEG_UP_REVERSED : GMG_LEG_DOWN);
            smooth(&twin, f, w, steps, steps > 1 ? GMG_LEG_UP_REVERSED : GMG_LEG_DOWN);
            assert_memory_equal(u, w, n * sizeof *u);
            checked++;
          }
          end_solver(&s), end_solver(&twin);
          free(f), free(u), free(w), free(beta);
        }
  assert_true(checked > 100);
}

/* With the overlap that gmg chooses, small blocks that all see values from before their pass hardly slow a solve in 2D. Residuals of the
   whole level as one block, of blocks, and of blocks with one layer: 3.0e-9, 4.1e-9, 1.4e-7. */
static void blocks_hardly_slow_a_solve(void **state)
{
  const gmg_problem p = make_problem(2, 256, 256, 1, GMG_CELL, "dddd");
  const size_t n = unknowns(&p);
  double *f = field(n, 7), *u = field(n, 0), residual[3];
  (void)state;
  for (int k = 0; k < 3; k++) { /* one block; blocks; blocks with one layer */
    gmg_params q = params_for_cycles();
    q.max_cycles = 4, q.rtol = 1e-14, q.deterministic = 1, q.async.overlap = k == 2;
    q.async.block[0] = k ? 32 : 256, q.async.block[1] = k ? 16 : 256;
    session s = begin_solver(&p, &q, 2);
    gmg_report r;
    memset(u, 0, n * sizeof *u);
    assert_int_equal(gmg_solve(s.solver, f, u, &r), GMG_NOT_CONVERGED);
    residual[k] = r.residual / r.residual0;
    end_solver(&s);
  }
  print_message("after four cycles: one block %.1e, blocks %.1e, with one layer %.1e\n", residual[0], residual[1], residual[2]);
  assert_below(residual[0], 1e-8);
  assert_below(residual[1], 3 * residual[0]);
  assert_true(residual[2] > 10 * residual[1]);
  free(f), free(u);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(exact_solution_is_a_fixed_point), cmocka_unit_test(backward_order_mirrors_the_natural_one),
      cmocka_unit_test(reversed_sweep_is_the_adjoint),   cmocka_unit_test(deterministic_means_bitwise),
      cmocka_unit_test(from_zero_is_a_sweep_of_zeros),   cmocka_unit_test(blocks_hardly_slow_a_solve)};
  return run_selected(tests);
}
