/* Calls on a solver during another call on it: from its monitor, or from a smoother. They are refused with a text that names both
   calls, and the outer call is not affected. */
#include "util.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 24, CELLS = N * N * N, CALLS = 7 };
static double field_f[CELLS], field_u[CELLS], other_f[CELLS], other_u[CELLS], flux_x[(N + 1) * N * N];

/* The solver that is called, the outer call, the number of calls that were refused as they should, and the first error. */
static struct {
  session *s;
  const char *outer;
  int refused;
  char wrong[400];
} inside;

static gmg_status call(int i, const char **name)
{
  static const char *const names[CALLS] = {"gmg_solve", "gmg_precondition", "gmg_residual", "gmg_solver_update",
                                           "gmg_set_boundary_values", "gmg_set_boundary_constant", "gmg_solver_destroy"};
  gmg_solver *s = inside.s->solver;
  gmg_problem shifted = inside.s->problem;
  shifted.shift = 7;
  *name = names[i];
  switch (i) {
    case 0: return gmg_solve(s, other_f, other_u, NULL);
    case 1: return gmg_precondition(s, other_f, other_u);
    case 2: return gmg_residual(s, other_f, field_u, other_u);
    case 3: return gmg_solver_update(s, &shifted);
    case 4: return gmg_set_boundary_values(s, 0, 0, other_f);
    case 5: return gmg_set_boundary_constant(s, 0, 0, 3);
    default: gmg_solver_destroy(s); return GMG_ERR_ARGUMENT;
  }
}

static void make_calls(void)
{
  for (int i = 0; i < CALLS && !inside.wrong[0]; i++) {
    const char *name;
    const gmg_status status = call(i, &name);
    const char *text = gmg_context_error(inside.s->context);
    char begin[80], running[80];
    snprintf(begin, sizeof begin, "%s() was called", name);
    snprintf(running, sizeof running, "%s() is running", inside.outer);
    if (status == GMG_ERR_ARGUMENT && strstr(text, begin) && strstr(text, running)) inside.refused++;
    else snprintf(inside.wrong, sizeof inside.wrong, "%s: %s: %s", name, gmg_status_string(status), text);
  }
  void *const flux[3] = {flux_x, NULL, NULL}; /* allowed, because it changes nothing */
  if (gmg_flux(inside.s->solver, field_u, flux, NULL) != GMG_OK) snprintf(inside.wrong, sizeof inside.wrong, "gmg_flux");
}

static int monitor(void *data, int cycle, double residual, double target)
{
  (void)cycle, (void)residual, (void)target;
  if (*(int *)data) make_calls();
  return 0;
}

static void solve_with(const gmg_problem *p, gmg_params q)
{
  static double quiet[CELLS];
  int calls = 0;
  q.monitor = monitor, q.monitor_data = &calls, q.deterministic = 1;
  session s = begin_solver(p, &q, 2);
  for (calls = 0; calls < 2; calls++) {
    gmg_report r;
    inside.s = &s, inside.outer = "gmg_solve", inside.refused = 0, inside.wrong[0] = 0;
    fill_random(field_f, CELLS, 1), fill_random(other_f, CELLS, 2);
    memset(field_u, 0, sizeof field_u);
    if (p->bc[0][0] != GMG_PERIODIC) assert_ok(s.context, gmg_set_boundary_constant(s.solver, 0, 0, 1));
    assert_ok(s.context, gmg_solve(s.solver, field_f, field_u, &r));
    if (inside.wrong[0]) fail_msg("%s", inside.wrong);
    assert_int_equal(inside.refused, calls ? CALLS * r.history_length : 0);
    if (calls) assert_memory_equal(field_u, quiet, sizeof quiet);
    else memcpy(quiet, field_u, sizeof quiet);
  }
  assert_ok(s.context, gmg_set_boundary_constant(s.solver, 0, 0, 0)); /* the solver can be used again */
  end_solver(&s);
}

static void from_the_monitor(void **state)
{
  (void)state;
  static const char *const walls[] = {"dddddd", "nnnnnn", "ndppdr"};
  for (int i = 0; i < COUNT(walls); i++)
    for (gmg_precision precision = GMG_PRECISION_SAME; precision <= GMG_PRECISION_MIXED; precision++)
      for (gmg_accel accel = GMG_ACCEL_NONE; accel <= GMG_ACCEL_FLEXIBLE_CG; accel += GMG_ACCEL_FLEXIBLE_CG - GMG_ACCEL_NONE) {
        const gmg_problem p = make_problem(3, N, N, N, GMG_CELL, walls[i]);
        gmg_params q = gmg_params_default();
        q.precision = precision, q.accel = accel;
        solve_with(&p, q);
      }
}

static int sweeps_call;

static void sweep(const gmg_smoother_level *l, void *own, const void *f, void *u, int steps, gmg_leg leg)
{
  (void)own;
  if (sweeps_call && l->index == 1) make_calls();
  gmg_smoother_by_name("red_black")->ops[GMG_BACKEND_HOST][GMG_F64]->sweep(l, NULL, f, u, steps, leg);
}

static gmg_status update(const gmg_smoother_level *l, void *own)
{
  (void)own;
  if (sweeps_call && l->index == 1) make_calls();
  return GMG_OK;
}

static void from_a_smoother(void **state)
{
  (void)state;
  const gmg_smoother_ops ops = {.sweep = sweep, .update = update};
  const gmg_smoother mine = {.name = "mine", .ops = {[GMG_BACKEND_HOST] = {[GMG_F64] = &ops}}};
  gmg_problem p = make_problem(3, N, N, N, GMG_CELL, "dddddd");
  gmg_params q = gmg_params_default();
  q.smoother = &mine;
  session s = begin_solver(&p, &q, 1);
  for (int outer = 0; outer < 3; outer++) {
    static const char *const names[] = {"gmg_solve", "gmg_precondition", "gmg_solver_update"};
    inside.s = &s, inside.outer = names[outer], inside.refused = 0, inside.wrong[0] = 0;
    fill_random(field_f, CELLS, 1);
    memset(field_u, 0, sizeof field_u);
    sweeps_call = 1;
    if (outer == 0) assert_ok(s.context, gmg_solve(s.solver, field_f, field_u, NULL));
    else if (outer == 1) assert_ok(s.context, gmg_precondition(s.solver, field_f, field_u));
    else assert_ok(s.context, gmg_solver_update(s.solver, &p));
    sweeps_call = 0;
    if (inside.wrong[0]) fail_msg("%s: %s", names[outer], inside.wrong);
    assert_true(inside.refused >= CALLS);
  }
  end_solver(&s);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(from_the_monitor), cmocka_unit_test(from_a_smoother)};
  return run_selected(tests);
}
