/* Structs of programs that were compiled with a smaller or larger version of the header: their members are read and written, and
   no byte beyond. */
#include "util.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 20, CELLS = N * N * N, MORE = 64, SENTINEL = 0x5a };
static double f[CELLS], u[2][CELLS];

/* A struct of this version, with other bytes before and after it. */
#define ROOM(type, name) \
  union {                \
    type it;             \
    char byte[sizeof(type) + 2 * MORE]; \
  } name;                \
  memset(&name, SENTINEL, sizeof name)

static void all_are(const char *byte, size_t first, size_t last, char value)
{
  for (size_t i = first; i < last; i++) assert_int_equal(byte[i], value);
}

static void init_fills_what_there_is(void **state)
{
  (void)state;
  const size_t n[3] = {N, N, N}, small = offsetof(gmg_params, accel), large = sizeof(gmg_params) + MORE;
  const size_t small_problem = offsetof(gmg_problem, beta), large_problem = sizeof(gmg_problem) + MORE;
  const gmg_params q = gmg_params_default();
  const gmg_problem p = gmg_problem_default(3, n);
  assert_true(q.size == sizeof q && p.size == sizeof p);
  ROOM(gmg_params, a);
  gmg_params_init(&a.it, small);
  assert_int_equal(a.it.size, small);
  assert_memory_equal(a.byte + sizeof(size_t), (const char *)&q + sizeof(size_t), small - sizeof(size_t));
  all_are(a.byte, small, sizeof a, SENTINEL);
  gmg_params_init(&a.it, large);
  assert_memory_equal(a.byte + sizeof(size_t), (const char *)&q + sizeof(size_t), sizeof q - sizeof(size_t));
  all_are(a.byte, sizeof q, large, 0), all_are(a.byte, large, sizeof a, SENTINEL);
  ROOM(gmg_problem, b);
  gmg_problem_init(&b.it, small_problem, 3, n);
  assert_memory_equal(b.byte + sizeof(size_t), (const char *)&p + sizeof(size_t), small_problem - sizeof(size_t));
  all_are(b.byte, small_problem, sizeof b, SENTINEL);
  gmg_problem_init(&b.it, large_problem, 3, n);
  all_are(b.byte, sizeof p, large_problem, 0), all_are(b.byte, large_problem, sizeof b, SENTINEL);
  gmg_params_init(NULL, small), gmg_problem_init(NULL, small, 3, n);
}

/* Solves with this problem and these parameters. Only `bytes` of the report are written. */
static void solve(gmg_context *c, const gmg_problem *p, const gmg_params *q, double *to, gmg_report *r, size_t bytes)
{
  gmg_solver *s;
  memset(to, 0, sizeof u[0]);
  assert_ok(c, gmg_solver_create(c, p, q, &s));
  assert_ok(c, gmg_solve_sized(s, f, to, r, bytes));
  assert_ok(c, gmg_solver_update(s, p));
  gmg_solver_destroy(s);
}

/* Members that a caller's struct lacks are 0, whatever bytes are there. Members beyond ours must be 0. */
static void what_is_given_is_read(void **state)
{
  (void)state;
  const size_t n[3] = {N, N, N};
  gmg_context *c;
  gmg_solver *s;
  assert_int_equal(gmg_context_create_host(1, &c), GMG_OK);
  fill_random(f, CELLS, 1);
  ROOM(gmg_params, q);
  ROOM(gmg_problem, p);
  ROOM(gmg_report, r);
  const gmg_params defaults = gmg_params_default();
  const gmg_problem usual = gmg_problem_default(3, n);
  solve(c, &usual, &defaults, u[0], &r.it, sizeof r.it);
  gmg_params_init(&q.it, offsetof(gmg_params, monitor)); /* the smaller struct ends before the monitor, whose bytes are not a function */
  gmg_problem_init(&p.it, offsetof(gmg_problem, beta), 3, n);
  solve(c, &p.it, &q.it, u[1], &r.it, sizeof r.it);
  assert_memory_equal(u[0], u[1], sizeof u[0]);
  const size_t older[] = {offsetof(gmg_problem, f_layout), offsetof(gmg_problem, u_layout), offsetof(gmg_problem, coefficient_layout)};
  for (int i = 0; i < COUNT(older); i++) { /* the smaller struct lacks the layouts, whose bytes are SENTINEL: arrays are packed */
    gmg_problem_init(&p.it, older[i], 3, n);
    all_are(p.byte, older[i], sizeof p, SENTINEL);
    solve(c, &p.it, &q.it, u[1], &r.it, sizeof r.it);
    assert_memory_equal(u[0], u[1], sizeof u[0]);
  }
  assert_int_equal(gmg_params_set_preset(&q.it, "default"), GMG_OK);
  all_are(q.byte, offsetof(gmg_params, monitor), sizeof q, SENTINEL);
  gmg_params_init(&q.it, sizeof q.it + MORE), gmg_problem_init(&p.it, sizeof p.it + MORE, 3, n);
  solve(c, &p.it, &q.it, u[1], &r.it, sizeof r.it);
  assert_memory_equal(u[0], u[1], sizeof u[0]);
#define REFUSED(p, q, status, words)                                     \
  do {                                                                   \
    assert_int_equal(gmg_solver_create(c, p, q, &s), status);            \
    if (!strstr(gmg_context_error(c), words)) fail_msg("%s", gmg_context_error(c)); \
  } while (0)
  q.byte[sizeof q.it + 3] = 1;
  REFUSED(&usual, &q.it, GMG_ERR_UNSUPPORTED, "bytes, and byte");
  q.it.size = 3;
  REFUSED(&usual, &q.it, GMG_ERR_ARGUMENT, "params.size = 3: must be 0 or sizeof(gmg_params)");
  gmg_problem_init(&p.it, offsetof(gmg_problem, u_layout), 3, n), p.it.size = sizeof p.it; /* the larger struct has them, so the same bytes are read */
  memset(&p.it.u_layout, SENTINEL, sizeof p.it - offsetof(gmg_problem, u_layout));
  REFUSED(&p.it, &defaults, GMG_ERR_ARGUMENT, "problem.u_layout.row = 6510615555426900570: must be 0 (packed), or from 20");
  p.it.size = (size_t)1 << 40;
  REFUSED(&p.it, &defaults, GMG_ERR_ARGUMENT, "problem.size = 1099511627776: must be 0 or sizeof(gmg_problem)");
#undef REFUSED
  gmg_context_destroy(c);
}

/* A caller's stencil that lacks the last entries. In 2D none of them is used. */
static void stencils_are_read_and_filled_so_far(void **state)
{
  (void)state;
  const size_t n[2] = {N, N}, half = offsetof(gmg_stencil, entry[2]), large = sizeof(gmg_stencil) + MORE;
  const gmg_stencil whole = gmg_stencil_q1(2, NULL, 1);
  const gmg_params q = gmg_params_default();
  gmg_problem p = gmg_problem_default(2, n);
  gmg_context *c;
  gmg_solver *s;
  gmg_report r;
  assert_int_equal(gmg_context_create_host(1, &c), GMG_OK);
  assert_true(whole.size == sizeof whole);
  fill_random(f, CELLS, 1);
  p.centering = GMG_VERTEX, p.stencil = &whole;
  solve(c, &p, &q, u[0], &r, sizeof r);
  ROOM(gmg_stencil, a);
  assert_int_equal(gmg_stencil_q1_init(&a.it, half, 2, NULL, 1), GMG_OK);
  assert_int_equal(a.it.size, half);
  assert_memory_equal(a.byte + sizeof(size_t), (const char *)&whole + sizeof(size_t), half - sizeof(size_t));
  all_are(a.byte, half, sizeof a, SENTINEL);
  p.stencil = &a.it;
  solve(c, &p, &q, u[1], &r, sizeof r);
  assert_memory_equal(u[0], u[1], sizeof u[0]);
  assert_int_equal(gmg_stencil_q1_init(&a.it, large, 2, NULL, 1), GMG_OK);
  all_are(a.byte, sizeof whole, large, 0), all_are(a.byte, large, sizeof a, SENTINEL);
  solve(c, &p, &q, u[1], &r, sizeof r);
  assert_memory_equal(u[0], u[1], sizeof u[0]);
  a.it.size = 3;
  assert_int_equal(gmg_solver_create(c, &p, &q, &s), GMG_ERR_ARGUMENT);
  assert_non_null(strstr(gmg_context_error(c), "problem.stencil.size = 3: must be 0 or sizeof(gmg_stencil)"));
  gmg_context_destroy(c);
}

static void reports_are_filled_so_far(void **state)
{
  (void)state;
  const size_t n[3] = {N, N, N}, some = offsetof(gmg_report, target), more = sizeof(gmg_report) + MORE;
  const size_t some_plan = offsetof(gmg_plan_info, floor), more_plan = sizeof(gmg_plan_info) + MORE;
  const gmg_params q = params_for_cycles();
  const gmg_problem p = gmg_problem_default(3, n);
  gmg_context *c;
  gmg_plan_info whole;
  assert_int_equal(gmg_context_create_host(1, &c), GMG_OK);
  fill_random(f, CELLS, 1);
  ROOM(gmg_report, r);
  solve(c, &p, &q, u[0], &r.it, some);
  assert_true(r.it.status == GMG_OK && r.it.cycles > 0 && r.it.factor < 0.5);
  all_are(r.byte, some, sizeof r, SENTINEL);
  solve(c, &p, &q, u[0], &r.it, more);
  assert_true(r.it.deterministic == 0 && r.it.levels > 1);
  all_are(r.byte, sizeof r.it, more, 0), all_are(r.byte, more, sizeof r, SENTINEL);
  solve(c, &p, &q, u[0], NULL, 0);
  ROOM(gmg_plan_info, info);
  assert_ok(c, gmg_plan(c, &p, &q, &whole));
  assert_ok(c, gmg_plan_sized(c, &p, &q, &info.it, some_plan));
  assert_memory_equal(&info.it, &whole, some_plan);
  all_are(info.byte, some_plan, sizeof info, SENTINEL);
  assert_ok(c, gmg_plan_sized(c, &p, &q, &info.it, more_plan));
  assert_memory_equal(&info.it, &whole, sizeof whole);
  all_are(info.byte, sizeof whole, more_plan, 0), all_are(info.byte, more_plan, sizeof info, SENTINEL);
  gmg_context_destroy(c);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(init_fills_what_there_is), cmocka_unit_test(what_is_given_is_read),
                                     cmocka_unit_test(stencils_are_read_and_filled_so_far),
                                     cmocka_unit_test(reports_are_filled_so_far)};
  return run_selected(tests);
}
