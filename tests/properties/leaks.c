/* A thousand create, solve, destroy rounds: after a warm-up not a byte more is allocated, and resident memory stays. */
#include "sample.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { VARIETY = 50, WARM_UP = (SANITIZED ? 1 : 4) * VARIETY, ROUNDS = WARM_UP + (SANITIZED ? VARIETY : 1000) };

static size_t allocated(void)
{
  const struct mallinfo2 m = mallinfo2();
  return SANITIZED ? 0 : m.uordblks + m.hblkhd; /* the sanitizer has its own memory, and looks for leaks itself */
}

static size_t resident(void)
{
  size_t total = 0, pages = 0;
  FILE *f = fopen("/proc/self/statm", "r");
  if (f && fscanf(f, "%zu %zu", &total, &pages) != 2) pages = 0;
  if (f) fclose(f);
  return pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* Create, plan, solve, an error, update, end; also those rounds that create refuses. */
static void one_round(int number)
{
  sample s = make_sample((uint64_t)(number % VARIETY), 1000, number % VARIETY % 5 == 4);
  const size_t n = unknowns(&s.p);
  void *f = typed(&s.p, s.f, n), *u = typed(&s.p, s.f, n);
  gmg_context *context;
  gmg_solver *solver;
  gmg_plan_info *info = malloc(sizeof *info);
  s.q.max_cycles = 5;
  assert_int_equal(gmg_context_create_host(s.threads, &context), GMG_OK);
  const gmg_status status = gmg_solver_create(context, &s.p, &s.q, &solver);
  assert_int_equal(gmg_plan(context, &s.p, &s.q, info), status);
  assert_true(status == GMG_OK || s.coefficients);
  if (status == GMG_OK) {
    gmg_solve(solver, f, u, NULL);
    assert_int_equal(gmg_precondition(solver, f, u), GMG_OK);
    assert_int_equal(gmg_solve(solver, NULL, u, NULL), GMG_ERR_ARGUMENT);
    assert_int_equal(gmg_solver_update(solver, &s.p), GMG_OK);
  }
  gmg_solver_destroy(solver);
  gmg_context_destroy(context);
  free(f), free(u), free(info);
  free_sample(&s);
}

static void a_thousand_rounds_do_not_grow(void **state)
{
  (void)state;
  size_t bytes = 0, pages = 0;
  for (int i = 0; i < ROUNDS; i++) {
    one_round(i);
    if (i + 1 == WARM_UP) bytes = allocated(), pages = resident();
    if (i + 1 > WARM_UP && (i + 1) % VARIETY == 0 && allocated() != bytes)
      fail_msg("%zu bytes are allocated after round %d, %zu after round %d", allocated(), i + 1, bytes, WARM_UP);
  }
  if (!SANITIZED && resident() > pages + ((size_t)1 << 20))
    fail_msg("%zu bytes resident after %d rounds, %zu after %d", resident(), ROUNDS, pages, WARM_UP);
}

/* Freed blocks that the C library keeps in each thread's cache count as allocated: the cache is switched off, which only a
   fresh process can do. */
int main(int argc, char **argv)
{
  (void)argc;
  if (!SANITIZED && !getenv("GLIBC_TUNABLES")) {
    setenv("GLIBC_TUNABLES", "glibc.malloc.tcache_count=0", 1);
    execv("/proc/self/exe", argv);
  }
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_thousand_rounds_do_not_grow)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
