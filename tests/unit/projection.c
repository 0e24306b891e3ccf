/* Singular problems on the coarsest level: means are removed there. */
#include "util.h"

#include "internals.h"

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

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(means_are_removed_at_the_bottom)};
  return run_selected(tests);
}
