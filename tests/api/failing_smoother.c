/* A user's smoother that fails. The text names it, and the state of the solver is defined. */
#include "util.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A user's smoother whose setup or update fails on one level. The status is passed on with a text, and the states that setup
   created are destroyed. */
static int alive, failing_level, failing_update;
static int failures_left = -1; /* number of updates that will fail; -1: all */
static gmg_status failure[2] = {GMG_ERR_DEVICE, GMG_ERR_IO}; /* status of setup, and of update */

static gmg_status user_setup(const gmg_smoother_level *l, void **own)
{
  if (!failing_update && l->index == failing_level) return failure[0];
  *own = malloc(8);
  alive++;
  return GMG_OK;
}

static gmg_status user_update(const gmg_smoother_level *l, void *own)
{
  (void)own;
  if (!failing_update || l->index != failing_level || failures_left == 0) return GMG_OK;
  if (failures_left > 0) failures_left--;
  return failure[1];
}

static void user_destroy(const gmg_smoother_level *l, void *own)
{
  (void)l;
  alive -= own != NULL;
  free(own);
}

static void user_sweep(const gmg_smoother_level *l, void *own, const void *f, void *u, int steps, gmg_leg leg)
{
  (void)own;
  gmg_smoother_by_name("red_black")->ops[GMG_BACKEND_HOST][GMG_F64]->sweep(l, NULL, f, u, steps, leg);
}

static const gmg_smoother_ops ops = {.setup = user_setup, .update = user_update, .sweep = user_sweep, .destroy = user_destroy};
static const gmg_smoother mine = {.name = "mine", .ops = {[GMG_BACKEND_HOST] = {[GMG_F64] = &ops}}};

static void is_named(void **state)
{
  (void)state;
  const gmg_problem p = make_problem(3, 32, 32, 32, GMG_CELL, "dddddd");
  gmg_params q = gmg_params_default();
  gmg_context *c;
  gmg_solver *s;
  q.smoother = &mine;
  assert_int_equal(gmg_context_create_host(1, &c), GMG_OK);
  for (failing_update = 0; failing_update < 2; failing_update++)
    for (failing_level = 0; failing_level < 3; failing_level++) {
      char words[80];
      snprintf(words, sizeof words, "\"mine\": its %s failed on level %d", failing_update ? "update" : "setup", failing_level);
      assert_int_equal(gmg_solver_create(c, &p, &q, &s), failing_update ? GMG_ERR_IO : GMG_ERR_DEVICE);
      if (!strstr(gmg_context_error(c), words)) fail_msg("%s", gmg_context_error(c));
      assert_null(s);
      assert_int_equal(alive, 0);
    }
  failing_level = -1;
  assert_ok(c, gmg_solver_create(c, &p, &q, &s));
  assert_string_equal(gmg_context_error(c), "");
  failing_level = 1, failing_update = 1;
  assert_int_equal(gmg_solver_update(s, &p), GMG_ERR_IO);
  gmg_solver_destroy(s);
  gmg_context_destroy(c);
  assert_int_equal(alive, 0);
}

/* A value that a smoother must not return becomes a valid status. */
static void a_status_that_is_none(void **state)
{
  (void)state;
  static const int returned[] = {-1, 99, 1 << 30, GMG_NOT_CONVERGED, GMG_DIVERGED};
  const gmg_problem p = make_problem(3, 32, 32, 32, GMG_CELL, "dddddd");
  gmg_params q = gmg_params_default();
  gmg_context *c;
  gmg_solver *s;
  q.smoother = &mine, failing_level = 1;
  assert_int_equal(gmg_context_create_host(1, &c), GMG_OK);
  for (int i = 0; i < COUNT(returned); i++)
    for (failing_update = 0; failing_update < 2; failing_update++) {
      char words[80];
      snprintf(words, sizeof words, "\"mine\": its %s returned %d on level 1", failing_update ? "update" : "setup", returned[i]);
      failure[failing_update] = (gmg_status)returned[i];
      assert_int_equal(gmg_solver_create(c, &p, &q, &s), GMG_ERR_ARGUMENT);
      if (!strstr(gmg_context_error(c), words)) fail_msg("%s", gmg_context_error(c));
      assert_int_equal(alive, 0);
    }
  failure[0] = GMG_ERR_DEVICE, failure[1] = GMG_ERR_IO;
  gmg_context_destroy(c);
}

enum { CELLS = 20 * 20 * 20 };
static double f[CELLS], u[CELLS], wanted[CELLS];

static void expect(const session *x, gmg_status status, const char *words)
{
  const gmg_status got = gmg_solve(x->solver, f, memset(u, 0, sizeof u), NULL);
  if (got != status || !strstr(gmg_context_error(x->context), words))
    fail_msg("wanted %s with '%s', got %s: %s", gmg_status_string(status), words, gmg_status_string(got), gmg_context_error(x->context));
  if (got == GMG_OK) assert_memory_equal(u, wanted, sizeof u);
}

/* An update that fails `count` times, and the state of the solver afterwards. */
static void failed_update(const gmg_problem *p, int count, int is_lost)
{
  gmg_params q = gmg_params_default();
  gmg_problem shifted = *p;
  shifted.shift = 1000;
  q.smoother = &mine, failing_level = -1;
  session x = begin_solver(p, &q, 1);
  fill_random(f, CELLS, 1);
  assert_ok(x.context, gmg_solve(x.solver, f, memset(wanted, 0, sizeof wanted), NULL));
  failing_update = 1, failing_level = 1, failures_left = count;
  assert_int_equal(gmg_solver_update(x.solver, &shifted), GMG_ERR_IO);
  const char *text = gmg_context_error(x.context);
  if (!strstr(text, "\"mine\": its update failed on level 1")) fail_msg("%s", text);
  assert_int_equal(strstr(text, "solves are refused") != NULL, is_lost);
  if (is_lost) {
    expect(&x, GMG_ERR_ARGUMENT, "gmg_solver_update() failed half-way");
    assert_int_equal(gmg_precondition(x.solver, f, u), GMG_ERR_ARGUMENT);
    failures_left = 0;
    assert_ok(x.context, gmg_solver_update(x.solver, p));
  }
  expect(&x, GMG_OK, "");
  failures_left = -1, failing_level = -1;
  end_solver(&x);
}

static void an_update_is_taken_back_or_lost(void **state)
{
  (void)state;
  gmg_problem p = make_problem(3, 20, 20, 20, GMG_CELL, "dndddd");
  static double sigma[CELLS];
  failed_update(&p, 1, 0);
  failed_update(&p, 2, 1);
  failed_update(&p, -1, 1);
  p.sigma = sigma;
  for (int i = 0; i < CELLS; i++) sigma[i] = i % 3;
  failed_update(&p, 1, 1); /* the old array is freed */
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(is_named), cmocka_unit_test(a_status_that_is_none),
                                     cmocka_unit_test(an_update_is_taken_back_or_lost)};
  return run_selected(tests);
}
