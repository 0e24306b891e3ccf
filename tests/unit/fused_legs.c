/* Cycles use the fused legs of a smoother if it has them: from zero, with the restricted residual, with the update of u. Their
   results are the same without them. */
#include "sweeps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int legs_from_zero;

static void counted_from_zero(const gmg_smoother_level *l, void *state, const void *f, void *u, int steps, gmg_leg leg)
{
  legs_from_zero++;
  gmg_smoother_by_name("async")->ops[GMG_BACKEND_HOST][GMG_F64]->sweep_from_zero(l, state, f, u, steps, leg);
}

/* Cycles use the leg from zero, and give the same bits without it. */
static void cycles_use_the_leg_from_zero(void **state)
{
  (void)state;
  gmg_smoother mine[2] = {*gmg_smoother_by_name("async"), *gmg_smoother_by_name("async")};
  gmg_smoother_ops ops[2] = {*mine[0].ops[GMG_BACKEND_HOST][GMG_F64], *mine[1].ops[GMG_BACKEND_HOST][GMG_F64]};
  ops[0].sweep_from_zero = counted_from_zero, ops[1].sweep_from_zero = NULL;
  for (int kind = GMG_CYCLE_V; kind <= GMG_CYCLE_F; kind++)
    for (int pre = 0; pre < 3; pre++) {
      gmg_problem p = make_problem(3, 21, 18, 17, GMG_CELL, "dnrdpp");
      const size_t n = unknowns(&p);
      double *f = calloc(n, sizeof *f), *u[2];
      fill_random(f, n, 5);
      for (int i = 0; i < 2; i++) {
        gmg_params params = params_for_cycles();
        mine[i].ops[GMG_BACKEND_HOST][GMG_F64] = &ops[i];
        params.smoother = &mine[i], params.deterministic = 1, params.cycle = (gmg_cycle_kind)kind;
        params.pre = count_or_none(pre);
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

static int legs_down, legs_to_the_caller, legs_up; /* numbers of fused legs */
static int back_and_forth;                         /* 1: double-buffered legs on levels in double; 2: they refuse to prolong */

static const gmg_smoother_ops *ops_of(const gmg_smoother_level *l)
{
  return gmg_smoother_by_name("async")->ops[GMG_BACKEND_HOST][l->A->type];
}

static int presmooth_restrict(const gmg_smoother_level *l, void *state, const void *f, void *u, void *to, int steps, gmg_start start,
                              const gmg_map *map, void *coarse)
{
  const size_t n = l->A->cells;
  if (l->index == 1 && to == u) return 0;
  legs_down++;
  if (start == GMG_FROM_ZERO) ops_of(l)->sweep_from_zero(l, state, f, u, steps, GMG_LEG_DOWN);
  else ops_of(l)->sweep(l, state, f, u, steps, GMG_LEG_DOWN);
  if (to != u) memcpy(to, u, n * sizeof(double));
  gmg_operator_of(l->exec, l->A)->restrict_residual(l->exec, l->A, map, f, to, to == u ? l->scratch : u, coarse);
  for (size_t c = 0; c < n && to != u; c++) ((double *)u)[c] = NAN;
  return 1;
}

/* The upward leg of double buffering: adds the coarse correction, if there is one, smooths, and copies u back from the other
   field. */
static int postsmooth_back(const gmg_smoother_level *l, void *state, const void *f, void *u, int steps, gmg_leg leg,
                           const gmg_update_target *to)
{
  if (!back_and_forth || (to->coarse && back_and_forth == 2)) return 0;
  if (to->coarse) gmg_grid_ops_of(l->exec)->transfer(l->exec, to->prolong, to->coarse, u, 1);
  ops_of(l)->sweep(l, state, f, u, steps, leg);
  assert_true(to->x != u && !to->scale && !to->keep);
  memcpy(to->x, u, l->A->cells * sizeof(double));
  legs_up++;
  return 1;
}

static int postsmooth_update(const gmg_smoother_level *l, void *state, const void *f, void *u, int steps, gmg_leg leg,
                             const gmg_update_target *to)
{
  if (l->A->type == GMG_F64) return postsmooth_back(l, state, f, u, steps, leg, to);
  if (to->coarse) return 0;
  legs_to_the_caller++;
  ops_of(l)->sweep(l, state, f, u, steps, leg);
  double *x = to->x;
  const double scale = to->scale ? *to->scale : 1;
  for (size_t c = 0; c < l->A->cells; c++) x[c] = scale * (double)((const float *)u)[c] + (to->keep ? x[c] : 0);
  return 1;
}

static int double_buffered(const gmg_smoother_level *l, const void *state, const gmg_map *prolong)
{
  (void)state;
  assert_non_null(prolong);
  return back_and_forth && l->A->type == GMG_F64 && l->index < 2;
}

static int takes_base(const gmg_smoother_level *l, const void *state, int steps, const gmg_update_target *to)
{
  (void)l, (void)state, (void)steps, (void)to;
  return 0;
}

/* Gives these legs to a solver. On the host no built-in smoother has fused legs. */
static void give_legs(gmg_solver *s)
{
  static const gmg_fused_ops fused = {presmooth_restrict, postsmooth_update, double_buffered, takes_base};
  for (int l = 0; l + 1 < s->levels; l++) {
    s->mg.fused[l] = &fused;
    gmg_choose_legs(&s->mg, l);
    assert_int_equal(s->mg.legs[l] == &gmg_double_buffered_legs, back_and_forth > 0 && s->level[l].A.type == GMG_F64 && l < 2);
  }
}

typedef struct {
  gmg_precision precision;
  int back_and_forth;
  gmg_cycle_kind cycle;
  int check_every, fmg;
  const char *bc;
} legs_case;

/* Compares a solve and a preconditioning with fused legs and without. */
static void compare_legs(const legs_case *k)
{
  enum { CYCLES = 3 };
  const int mixed = k->precision == GMG_PRECISION_MIXED;
  const gmg_problem p = make_problem(3, 24, 20, 26, GMG_CELL, k->bc);
  const size_t n = unknowns(&p);
  double *f = calloc(n, sizeof *f), *u[2];
  for (int fused = 0; fused < 2; fused++) {
    gmg_params params = params_for_cycles();
    memset(f, 0, n * sizeof *f);
    fill_random(f, n, 5);
    legs_down = legs_to_the_caller = legs_up = 0;
    params.smoother = gmg_smoother_by_name("async");
    params.deterministic = 1, params.max_cycles = CYCLES, params.rtol = 1e-300, params.max_levels = 3;
    params.precision = k->precision, params.check_every = count_or_none(k->check_every), params.fmg = k->fmg, params.cycle = k->cycle;
    back_and_forth = k->back_and_forth;
    session s = begin_solver(&p, &params, 2);
    if (fused) give_legs(s.solver);
    u[fused] = calloc(n, sizeof **u);
    assert_true(gmg_solve(s.solver, f, u[fused], NULL) <= GMG_STAGNATED);
    assert_int_equal(legs_to_the_caller, fused && mixed ? CYCLES + k->fmg : 0); /* with fmg also from level 1 to the outer level */
    if (!k->back_and_forth) assert_true(legs_down >= (fused ? CYCLES : 0) && legs_down <= (fused ? CYCLES + 1 : 0));
    else assert_true(legs_up == legs_down && legs_up >= (fused ? 2 * CYCLES : 0) && (fused || !legs_up));
    for (size_t c = 0; c < n; c++) f[c] += u[fused][c];
    assert_ok(s.context, gmg_precondition(s.solver, f, u[fused]));
    end_solver(&s);
  }
  double most = 0, largest = 0;
  for (size_t c = 0; c < n; c++) most = fmax(most, fabs(u[0][c] - u[1][c])), largest = fmax(largest, fabs(u[0][c]));
  if (!(most <= 1e-9 * largest))
    fail_msg("precision %d, back and forth %d, cycle %d, check_every %d, fmg %d: fused legs change a solve by %g of %g", k->precision,
             k->back_and_forth, k->cycle, k->check_every, k->fmg, most, largest);
  free(f), free(u[0]), free(u[1]);
}

/* Cycles use fused legs, double-buffered ones too, and give the same results without them: in measured and unmeasured solves,
   after a full multigrid start, and in preconditioning. */
static void cycles_use_fused_legs(void **state)
{
  (void)state;
  static const char *const bc[] = {"dnrdpp", "nnnnnn"};
  for (int check_every = 0; check_every < 2; check_every++)
    for (int fmg = 0; fmg < 2; fmg++)
      for (int b = 0; b < 2; b++) {
        compare_legs(&(legs_case){GMG_PRECISION_SAME, 0, GMG_CYCLE_AUTO, check_every, fmg, bc[b]});
        compare_legs(&(legs_case){GMG_PRECISION_MIXED, 0, GMG_CYCLE_AUTO, check_every, fmg, bc[b]});
        for (gmg_cycle_kind cycle = GMG_CYCLE_V; cycle <= GMG_CYCLE_F; cycle++)
          for (int legs = 1; legs <= 2; legs++)
            compare_legs(&(legs_case){GMG_PRECISION_SAME, legs, cycle, check_every, fmg, bc[b]});
      }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(cycles_use_the_leg_from_zero), cmocka_unit_test(cycles_use_fused_legs)};
  return run_selected(tests);
}
