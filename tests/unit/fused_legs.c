/* Cycles use a smoother's legs where it has such: from zero, with the restricted residual, onto u; and come to the same without. */
#include "sweeps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int legs_from_zero;

static void counted_from_zero(const gmg_smoother_level *l, void *state, const void *f, void *u, int steps, gmg_leg leg)
{
  legs_from_zero++;
  gmg_smoother_by_name("async")->host[GMG_F64]->sweep_from_zero(l, state, f, u, steps, leg);
}

/* Cycles use the leg, and are the same without it. */
static void cycles_use_the_leg_from_zero(void **state)
{
  (void)state;
  gmg_smoother mine[2] = {*gmg_smoother_by_name("async"), *gmg_smoother_by_name("async")};
  gmg_smoother_ops ops[2] = {*mine[0].host[GMG_F64], *mine[1].host[GMG_F64]};
  ops[0].sweep_from_zero = counted_from_zero, ops[1].sweep_from_zero = NULL;
  for (int kind = 0; kind < 3; kind++)
    for (int pre = 0; pre < 3; pre++) {
      gmg_problem p = make_problem(3, 21, 18, 17, GMG_CELL, "dnrdpp");
      const size_t n = unknowns(&p);
      double *f = calloc(n, sizeof *f), *u[2];
      fill_random(f, n, 5);
      for (int i = 0; i < 2; i++) {
        gmg_params params = gmg_params_default();
        mine[i].host[GMG_F64] = &ops[i];
        params.smoother = &mine[i], params.deterministic = 1, params.cycle = (gmg_cycle_kind)kind, params.pre = pre;
        session s = begin_solver(&p, &params, 2);
        u[i] = calloc(n, sizeof **u);
        for (size_t c = 0; c < n; c++) u[i][c] = NAN;
        legs_from_zero = 0;
        assert_ok(s.context, gmg_precondition(s.solver, f, u[i]));
        assert_true(s.solver->levels > 2);
        if (i == 0 && pre == 0) assert_int_equal(legs_from_zero, 0);
        if (i == 0 && pre > 0) assert_true(legs_from_zero >= s.solver->levels - 1);
        end_solver(&s);
      }
      assert_memory_equal(u[0], u[1], n * sizeof **u);
      free(f), free(u[0]), free(u[1]);
    }
}

static int legs_restricted, legs_onto, legs_back;

static int counted_restrict(const gmg_smoother_level *l, void *state, const void *f, void *u, void *to, int steps, int from_zero,
                            const struct gmg_map *map, void *coarse)
{
  const gmg_smoother_ops *ops = gmg_smoother_by_name("async")->host[l->A->type];
  const size_t n = l->A->cells;
  if (l->index == 1 && to == u) return 0;
  legs_restricted++;
  if (from_zero) ops->sweep_from_zero(l, state, f, u, steps, GMG_LEG_DOWN);
  else ops->sweep(l, state, f, u, steps, GMG_LEG_DOWN);
  if (to != u) memcpy(to, u, n * sizeof(double));
  gmg_stencil_of(l->exec)->restrict_residual(l->exec, l->A, map, f, to, to == u ? l->scratch : u, coarse);
  for (size_t c = 0; c < n && to != u; c++) ((double *)u)[c] = NAN;
  return 1;
}

static int counted_onto(const gmg_smoother_level *l, void *state, const void *f, void *u, int steps, gmg_leg leg, const gmg_onto *onto)
{
  if (l->A->type == GMG_F64) {
    gmg_stencil_of(l->exec)->tensor(l->exec, onto->prolong, onto->coarse, u, 1);
    gmg_smoother_by_name("async")->host[GMG_F64]->sweep(l, state, f, u, steps, leg);
    assert_true(onto->x != u && onto->scale == 1 && !onto->size && !onto->keep);
    memcpy(onto->x, u, l->A->cells * sizeof(double));
    legs_back++;
    return 1;
  }
  if (onto->coarse) return 0;
  legs_onto++;
  gmg_smoother_by_name("async")->host[GMG_F32]->sweep(l, state, f, u, steps, leg);
  double *x = onto->x;
  const double scale = onto->scale * (onto->size ? *onto->size : 1);
  for (size_t c = 0; c < l->A->cells; c++) x[c] = scale * (double)((const float *)u)[c] + (onto->keep ? x[c] : 0);
  return 1;
}

static int goes_aside(const gmg_smoother_level *l, const void *state, const struct gmg_map *restrict_, const struct gmg_map *prolong)
{
  (void)state;
  assert_true(restrict_ && prolong && l->A->type == GMG_F64);
  return l->index < 2;
}

/* Cycles use whole legs where there are such, with u put aside in between, too, and come to the same without them: solves that look at
   residuals and that do not, from a full multigrid start, and preconditioning. */
static void cycles_use_whole_legs(void **state)
{
  (void)state;
  gmg_smoother mine = *gmg_smoother_by_name("async");
  gmg_smoother_ops ops[2] = {*mine.host[GMG_F32], *mine.host[GMG_F64]};
  for (int way = 0; way < 24; way++) {
    const int mixed = way / 8 == 1, apart = way / 8 == 2, cycles = 3;
    const gmg_problem p = make_problem(3, 24, 20, 26, GMG_CELL, way % 2 ? "nnnnnn" : "dnrdpp");
    const size_t n = unknowns(&p);
    double *f = calloc(n, sizeof *f), *u[2];
    fill_random(f, n, 5);
    for (int i = 0; i < 2; i++) {
      gmg_params params = gmg_params_default();
      for (int type = 0; type < 2; type++) {
        ops[type].sweep_restrict = i ? counted_restrict : NULL, ops[type].sweep_onto = i && (apart || type == GMG_F32) ? counted_onto : NULL;
        ops[type].aside = i && apart ? goes_aside : NULL;
        mine.host[type] = &ops[type];
      }
      legs_restricted = legs_onto = legs_back = 0;
      params.smoother = &mine, params.deterministic = 1, params.max_cycles = cycles, params.rtol = 1e-300, params.max_levels = 3;
      params.precision = mixed ? GMG_PRECISION_MIXED : GMG_PRECISION_SAME;
      params.check_every = way / 2 % 2, params.fmg = way / 4 % 2;
      if (apart) params.cycle = (gmg_cycle_kind)(way % 3);
      session s = begin_solver(&p, &params, 2);
      u[i] = calloc(n, sizeof **u);
      assert_true(gmg_solve(s.solver, f, u[i], NULL) <= GMG_STAGNATED);
      assert_int_equal(legs_onto, i && mixed ? cycles : 0);
      if (!apart) assert_true(legs_restricted >= (i ? cycles : 0) && legs_restricted <= (i ? cycles + 1 : 0));
      else assert_true(legs_back == legs_restricted && legs_back >= (i ? 2 * cycles : 0) && (i || !legs_back));
      for (size_t c = 0; c < n; c++) f[c] += u[i][c];
      assert_ok(s.context, gmg_precondition(s.solver, f, u[i]));
      for (size_t c = 0; c < n; c++) f[c] = 0;
      fill_random(f, n, 5);
      end_solver(&s);
    }
    double most = 0, largest = 0;
    for (size_t c = 0; c < n; c++) most = fmax(most, fabs(u[0][c] - u[1][c])), largest = fmax(largest, fabs(u[0][c]));
    if (!(most <= 1e-9 * largest)) fail_msg("way %d: whole legs change a solve by %g of %g", way, most, largest);
    free(f), free(u[0]), free(u[1]);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(cycles_use_the_leg_from_zero), cmocka_unit_test(cycles_use_whole_legs)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
