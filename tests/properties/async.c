/* Smoothers with 2 to 4 threads, on grids and lines that are large enough for several threads, converge to the solution of one
   thread. Mainly for the thread sanitizer (preset tsan). */
#include "sample.h"

#include <stdlib.h>

static const struct {
  int dim;
  size_t n[3];
  const char *bc;
} grids[] = {{1, {20011, 1, 1}, "dn"}, {1, {20011, 1, 1}, "pp"}, {2, {91, 80, 1}, "dnpp"},
             {2, {9000, 3, 1}, "ppdr"}, {3, {27, 24, 19}, "dnrdpp"}, {3, {21, 20, 23}, "pppppp"}};

static const struct {
  const char *name;
  int local, overlap, order, passes, assignment, in_flight;
} smoothers[] = {{"async", GMG_LOCAL_RED_BLACK, 1, GMG_ORDER_NATURAL, 1, 0, 0},
                 {"async", GMG_LOCAL_RED_BLACK, 2, GMG_ORDER_RANDOM, 2, 0, 0},
                 {"async", GMG_LOCAL_JACOBI, 0, GMG_ORDER_TWO_COLOUR, 2, 0, 0},
                 {"async", GMG_LOCAL_GAUSS_SEIDEL, 0, GMG_ORDER_RANDOM, 1, 0, 0},
                 {"async", GMG_LOCAL_RED_BLACK, 1, GMG_ORDER_TWO_COLOUR, 2, GMG_ASSIGN_STATIC, 0},
                 {"async", GMG_LOCAL_RED_BLACK, 1, GMG_ORDER_NATURAL, 2, GMG_ASSIGN_DYNAMIC, 2},
                 {"gauss_seidel", 0, 0, 0, 1, 0, 0}, {"red_black", 0, 0, 0, 1, 0, 0}, {"chebyshev", 0, 0, 0, 1, 0, 0}, {"jacobi", 0, 0, 0, 1, 0, 0}};

enum { GRIDS = sizeof grids / sizeof *grids, SMOOTHERS = sizeof smoothers / sizeof *smoothers };

static double *solution(const gmg_problem *p, const gmg_params *q, int threads)
{
  const size_t n = unknowns(p);
  double *values = field(n, 1), *zero = field(n, 0);
  void *f = typed(p, values, n), *u = typed(p, zero, n);
  session s = begin_solver(p, q, threads);
  assert_ok(s.context, gmg_solve(s.solver, f, u, NULL));
  double *result = untyped(p, u, n);
  end_solver(&s);
  free(values), free(zero), free(f), free(u);
  return result;
}

static void smoothers_converge_with_several_threads(void **state)
{
  static const gmg_centering centerings[] = {GMG_VERTEX, GMG_CELL};
  (void)state;
  for (int g = 0; g < GRIDS; g++)
    for (gmg_type type = GMG_F64; type <= GMG_F32; type++) {
      gmg_problem p = make_problem(grids[g].dim, grids[g].n[0], grids[g].n[1], grids[g].n[2],
                                   ROUND_ROBIN(centerings, g), grids[g].bc);
      p.type = type, p.shift = 1;
      p.h[0] = p.h[1] = p.h[2] = 1; /* no eigenvalue is below 1, so the error is at most the residual */
      gmg_params q = params_for_cycles();
      q.rtol = type == GMG_F32 ? 1e-5 : 1e-10, q.deterministic = 1;
      const size_t n = unknowns(&p);
      double *expected = solution(&p, &q, 1), *f = field(n, 1);
      const double allowed = 8 * q.rtol * norm2(f, n);
      for (int i = 0; i < SMOOTHERS; i++) {
        q.smoother = gmg_smoother_by_name(smoothers[i].name);
        q.async.local = (gmg_local_kind)smoothers[i].local, q.async.overlap = count_or_none(smoothers[i].overlap);
        q.async.order = (gmg_block_order)smoothers[i].order, q.async.passes = smoothers[i].passes;
        q.async.assignment = (gmg_assignment)smoothers[i].assignment, q.async.in_flight = smoothers[i].in_flight;
        for (int a = 0; a < 3; a++) q.async.block[a] = grids[g].dim == 1 ? 500 : 8;
        q.deterministic = 0;
        double *u = solution(&p, &q, 2 + (g + i) % 3);
        for (size_t c = 0; c < n; c++) assert_near(u[c], expected[c], allowed);
        free(u);
      }
      free(expected), free(f);
    }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(smoothers_converge_with_several_threads)};
  return run_selected(tests);
}
