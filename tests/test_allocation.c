/* Every allocation of a create fails in turn: GMG_ERR_MEMORY with a text, nothing leaks (allocations are counted here, and
   the sanitizer build looks too), and the context makes the solver as soon as there is memory. A solve allocates nothing. */
#include "util.h"

#include <stdlib.h>
#include <string.h>

static long live, made, fail_at = -1; /* fail_at: number of the allocation to refuse, -1: none */

static int refuse(void) { return made++ == fail_at; }

/* The linker sends the library's calls here (-Wl,--wrap). */
void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t n);
void __real_free(void *p);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t n);
void __wrap_free(void *p);

static void *count(void *p)
{
  live += p != NULL;
  return p;
}

void *__wrap_malloc(size_t n) { return refuse() ? NULL : count(__real_malloc(n)); }
void *__wrap_calloc(size_t n, size_t size) { return refuse() ? NULL : count(__real_calloc(n, size)); }
void *__wrap_aligned_alloc(size_t alignment, size_t n) { return refuse() ? NULL : count(__real_aligned_alloc(alignment, n)); }
void __wrap_free(void *p)
{
  live -= p != NULL;
  __real_free(p);
}

static void create_with_failures(const gmg_problem *p, const gmg_params *params)
{
  gmg_context *c;
  gmg_solver *s;
  const size_t n = unknowns(p);
  double *f = calloc(n, sizeof *f), *u = calloc(n, sizeof *u);
  fail_at = -1;
  fill_random(f, n, 1);
  assert_int_equal(gmg_context_create_host(2, &c), GMG_OK);
  const long before = live;
  gmg_status status = GMG_ERR_MEMORY;
  int failures = 0;
  for (; status == GMG_ERR_MEMORY; failures++) {
    made = 0, fail_at = failures;
    status = gmg_solver_create(c, p, params, &s);
    fail_at = -1;
    if (status == GMG_OK) break;
    assert_int_equal(status, GMG_ERR_MEMORY);
    assert_null(s);
    assert_true(strstr(gmg_context_error(c), "could not be allocated") != NULL);
    assert_int_equal(live, before);
  }
  assert_int_equal(status, GMG_OK);
  assert_true(failures > 20);
  made = 0; /* a solve, an update, a preconditioning: no allocation */
  assert_ok(c, gmg_solve(s, f, u, NULL));
  assert_ok(c, gmg_precondition(s, f, u));
  assert_ok(c, gmg_solver_update(s, p));
  assert_int_equal(made, 0);
  gmg_solver_destroy(s);
  assert_int_equal(live, before);
  gmg_context_destroy(c);
  free(f), free(u);
}

static void every_allocation_fails_in_turn(void **state)
{
  (void)state;
  for (int i = 0; gmg_smoother_name(i); i++)
    for (int variant = 0; variant < 2; variant++) {
      gmg_problem p = make_problem(3, 13, 11, 9, variant ? GMG_CELL : GMG_VERTEX, variant ? "dnpprr" : "nnnnnn");
      gmg_params params = gmg_params_default();
      params.smoother = gmg_smoother_by_name(gmg_smoother_name(i));
      params.fmg = variant, params.coarse = variant ? GMG_COARSE_CHOLESKY : GMG_COARSE_CG;
      params.accel = variant ? GMG_ACCEL_FLEXIBLE_CG : GMG_ACCEL_NONE;
      params.deterministic = variant;
      create_with_failures(&p, &params);
    }
}

static void context_and_plan(void **state)
{
  (void)state;
  gmg_context *c;
  gmg_plan_info *info = malloc(sizeof *info);
  const gmg_problem p = make_problem(3, 13, 11, 9, GMG_CELL, "dddddd");
  const gmg_params params = gmg_params_default();
  made = 0, fail_at = 0;
  assert_int_equal(gmg_context_create_host(1, &c), GMG_ERR_MEMORY);
  assert_null(c);
  fail_at = -1;
  assert_int_equal(gmg_context_create_host(1, &c), GMG_OK);
  const long before = live;
  gmg_status status = GMG_ERR_MEMORY;
  for (int k = 0; status == GMG_ERR_MEMORY; k++) {
    made = 0, fail_at = k;
    status = gmg_plan(c, &p, &params, info);
    fail_at = -1;
    assert_true(status == GMG_OK || status == GMG_ERR_MEMORY);
    assert_int_equal(live, before);
  }
  gmg_context_destroy(c);
  free(info);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_allocation_fails_in_turn), cmocka_unit_test(context_and_plan)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
