/* Singular problems: means are removed from the data, and on the coarsest level. */
#include "util.h"

#include "internals.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double weighted_mean(const gmg_solver *s, int level, const void *x)
{
  const gmg_level *L = &s->level[level];
  return s->grid->dot(&s->exec, &L->A, x, NULL).re / L->volume;
}

/* On an odd number of vertices full weighting does not conserve the mean. Both coarse solvers remove it from their right-hand
   side. */
static void means_are_removed_at_the_bottom(void **state)
{
  (void)state;
  for (int coarse = GMG_COARSE_CG; coarse <= GMG_COARSE_DENSE; coarse++) {
    gmg_problem p = make_problem(2, 34, 26, 1, GMG_VERTEX, "nnnn");
    gmg_params params = params_for_cycles();
    params.coarse = (gmg_coarse_kind)coarse, params.coarse_rtol = 1e-13;
    params.restriction = GMG_RESTRICT_AVERAGE;
    double *r = field(unknowns(&p), 1), *z = field(unknowns(&p), 0);
    session s = begin_solver(&p, &params, 1);
    gmg_precondition(s.solver, r, z);
    const int coarsest = s.solver->levels - 1;
    gmg_level *C = &s.solver->level[coarsest];
    const double size = s.solver->vector->norm2(&s.solver->exec, C->A.cells, C->f);
    assert_true(size > 0);
    assert_near(weighted_mean(s.solver, coarsest, C->f), 0, 1e-14 * size);
    double *f = C->f, *u = C->u, *wanted = field(C->A.cells, 0);
    fill_random(f, C->A.cells, 3);
    gmg_bottom_solve(&s.solver->mg, coarsest, f, u, GMG_CYCLE_V, GMG_FROM_ZERO);
    memcpy(wanted, u, C->A.cells * sizeof *u);
    fill_random(f, C->A.cells, 3);
    for (size_t c = 0; c < C->A.cells; c++) f[c] += 1000; /* makes f incompatible, which must not matter */
    gmg_bottom_solve(&s.solver->mg, coarsest, f, u, GMG_CYCLE_V, GMG_FROM_ZERO);
    for (size_t c = 0; c < C->A.cells; c++) assert_near(u[c], wanted[c], 1e-9 * norm2(wanted, C->A.cells));
    assert_near(weighted_mean(s.solver, coarsest, u), 0, 1e-14);
    end_solver(&s);
    free(r), free(z), free(wanted);
  }
}

/* A mean is taken from a copy or in place, and the norm of the rest is known. A field whose squares overflow keeps its values. */
static void means_are_taken(void **state)
{
  (void)state;
  gmg_problem p = make_problem(3, 9, 7, 5, GMG_VERTEX, "nnnnpp");
  const gmg_params q = params_for_cycles();
  session s = begin_solver(&p, &q, 2);
  const gmg_exec *e = &s.solver->exec;
  const gmg_level *L = s.solver->finest;
  const size_t n = unknowns(&p);
  double *x = field(n, 3), *y = field(n, 0), *z = malloc(n * sizeof *z);
  assert_non_null(z);
  for (size_t c = 0; c < n; c++) x[c] += 2;
  memcpy(z, x, n * sizeof *z);
  const double mean = weighted_mean(s.solver, 0, x);
  const gmg_deviation copy = s.solver->grid->take_mean(e, &L->A, L->volume, x, y);
  const gmg_deviation in_place = s.solver->grid->take_mean(e, &L->A, L->volume, z, z);
  assert_near(copy.mean, mean, 1e-14);
  assert_true(in_place.mean == copy.mean && in_place.norm == copy.norm && fabs(mean) > 1);
  for (size_t c = 0; c < n; c++) assert_near(y[c], x[c] - mean, 1e-14);
  assert_memory_equal(y, z, n * sizeof *z);
  assert_near(copy.norm, norm2(y, n), 1e-13 * copy.norm);
  assert_near(weighted_mean(s.solver, 0, y), 0, 1e-14);
  static const double unfit[] = {1e200, -1e200, INFINITY, NAN};
  for (int i = 0; i < 4; i++) {
    x[5] = unfit[i];
    memcpy(z, x, n * sizeof *z);
    s.solver->grid->remove_mean(e, &L->A, L->volume, z);
    assert_memory_equal(x, z, n * sizeof *z);
    assert_true(!isfinite(s.solver->grid->take_mean(e, &L->A, L->volume, z, y).norm));
    assert_memory_equal(x, y, n * sizeof *z);
  }
  free(x), free(y), free(z);
  end_solver(&s);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(means_are_removed_at_the_bottom), cmocka_unit_test(means_are_taken)};
  return run_selected(tests);
}
