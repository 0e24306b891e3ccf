/* Each allocation of a create or plan fails in turn: the status is GMG_ERR_MEMORY with a text, nothing leaks, and the context can
   then create the solver. The test counts allocations, and the sanitizer checks them, too. A solve allocates nothing. */
#include "gmg_cuda.h"
#include "media.h"
#include "sample.h"

#include <stdlib.h>
#include <string.h>

static long live, made, fail_at = -1; /* fail_at: number of the allocation that fails, -1: none */

static int refuse(void) { return made++ == fail_at; }

/* The linker replaces the library's calls by these functions (-Wl,--wrap). */
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

/* A create (or plan, if s is NULL) whose allocation k fails. If there are so many allocations, it must fail. */
static gmg_status attempt(gmg_context *c, const gmg_problem *p, const gmg_params *params, int k, gmg_solver **s)
{
  static gmg_plan_info info;
  const long before = live;
  made = 0, fail_at = k;
  const gmg_status status = s ? gmg_solver_create(c, p, params, s) : gmg_plan(c, p, params, &info);
  const int refused = made > k;
  fail_at = -1;
  if (status == GMG_ERR_UNSUPPORTED || (status == GMG_OK && !refused)) return status;
  if (status != GMG_ERR_MEMORY) fail_msg("allocation %d: %s", k, gmg_status_string(status));
  assert_true(refused && (!s || *s == NULL));
  assert_true(strstr(gmg_context_error(c), "could not be allocated") != NULL);
  assert_int_equal(live, before);
  return status;
}

/* Fails every allocation in turn, and returns their number; 0 if the library does not support the problem. */
static int create_with_failures(const gmg_problem *p, const gmg_params *params, int threads)
{
  gmg_context *c;
  gmg_solver *s = NULL;
  const size_t n = unknowns(p);
  double *values = field(n, 1);
  void *f = typed(p, values, n), *u = typed(p, values, n), *z = typed(p, values, n);
  int failures = 0;
  fail_at = -1;
  assert_int_equal(gmg_context_create_host(threads, &c), GMG_OK);
  const long before = live;
  for (int k = 0; attempt(c, p, params, k, NULL) == GMG_ERR_MEMORY; k++) continue;
  assert_int_equal(live, before);
  while (attempt(c, p, params, failures, &s) == GMG_ERR_MEMORY) failures++;
  if (s) {
    made = 0; /* the following calls allocate nothing */
    const gmg_status outcome = gmg_solve(s, f, u, NULL);
    assert_true(outcome <= GMG_STAGNATED);
    for (int a = 0; a < p->dim; a++)
      if (p->bc[a][0] != GMG_PERIODIC) assert_ok(c, gmg_set_boundary_constant(s, a, 0, 1));
    assert_ok(c, gmg_precondition(s, f, z));
    assert_ok(c, gmg_residual(s, f, u, z));
    assert_int_equal(made, 0);
    assert_ok(c, gmg_solver_update(s, p));
    assert_int_equal(made > 0, p->shift < 0); /* the search for the smallest eigenvalue */
    made = 0, fail_at = 0;
    assert_int_equal(gmg_solver_update(s, p), p->shift < 0 ? GMG_ERR_MEMORY : GMG_OK);
    fail_at = -1;
    assert_true(gmg_solve(s, f, u, NULL) <= GMG_STAGNATED);
    gmg_solver_destroy(s);
  }
  assert_int_equal(live, before);
  gmg_context_destroy(c);
  free(values), free(f), free(u), free(z);
  return s ? failures : 0;
}

static void every_allocation_fails_in_turn(void **state)
{
  (void)state;
  for (int i = 0; gmg_smoother_name(i); i++)
    for (int variant = 0; variant < 2; variant++) {
      gmg_problem p = make_problem(3, 13, 11, 9, variant ? GMG_CELL : GMG_VERTEX, variant ? "dnpprr" : "nnnnnn");
      gmg_params params = params_for_cycles();
      params.smoother = gmg_smoother_by_name(gmg_smoother_name(i));
      params.fmg = variant, params.coarse = variant ? GMG_COARSE_DENSE : GMG_COARSE_CG;
      params.accel = variant ? GMG_ACCEL_FLEXIBLE_CG : GMG_ACCEL_NONE;
      params.deterministic = variant;
      assert_true(create_with_failures(&p, &params, 2) > 20);
    }
}

/* Random problems, for other allocations: of both types, accelerations, orders of blocks, a single level, coefficients. */
static void of_random_problems_too(void **state)
{
  (void)state;
  for (int i = 0; i < (SANITIZED ? 50 : 200); i++) {
    sample s = make_sample((uint64_t)i, 300, i % 2);
    s.q.max_cycles = 3, s.q.rtol = 1e-30;
    const int failures = create_with_failures(&s.p, &s.q, s.threads);
    assert_true(failures > 5 || s.coefficients);
    free_sample(&s);
  }
}

static void with_a_shift_below_zero(void **state)
{
  (void)state;
  for (int i = 0; i < 4; i++) {
    medium m = ball(i % 2 ? 3 : 2, 12, 10, GMG_CELL);
    gmg_params q = i < 2 ? gmg_params_default() : params_for_cycles();
    if (i == 0) m.p.beta = NULL;
    m.p.shift = -1;
    assert_true(create_with_failures(&m.p, &q, 2) > 20);
    free_medium(&m);
  }
}

static void of_an_offloaded_smoother(void **state)
{
  (void)state;
  medium m[] = {ball(3, 12, 10, GMG_CELL), absorbing(2, 20, 10, GMG_VERTEX)};
  gmg_context *device;
  gmg_smoother *there;
  gmg_params q = params_for_cycles();
  q.smoother = gmg_smoother_by_name("async");
  fail_at = -1;
  assert_int_equal(gmg_context_create_host(1, &device), GMG_OK);
  made = 0, fail_at = 0;
  assert_int_equal(gmg_smoother_offload_create(device, q.smoother, &there), GMG_ERR_MEMORY);
  assert_null(there);
  fail_at = -1;
  assert_ok(device, gmg_smoother_offload_create(device, q.smoother, &there));
  q.smoother = there, q.deterministic = 1;
  for (int i = 0; i < 2; i++) {
    assert_true(create_with_failures(&m[i].p, &q, 2) > 20);
    free_medium(&m[i]);
  }
  gmg_smoother_offload_destroy(there);
  gmg_context_destroy(device);
}

static void context(void **state)
{
  (void)state;
  gmg_context *c;
  made = 0, fail_at = 0;
  assert_int_equal(gmg_context_create_host(1, &c), GMG_ERR_MEMORY);
  assert_null(c);
  fail_at = -1;
  assert_int_equal(gmg_context_create_host(1, &c), GMG_OK);
  gmg_context_destroy(c);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_allocation_fails_in_turn),
                                     cmocka_unit_test(of_random_problems_too), cmocka_unit_test(with_a_shift_below_zero),
                                     cmocka_unit_test(of_an_offloaded_smoother), cmocka_unit_test(context)};
  return run_selected(tests);
}
