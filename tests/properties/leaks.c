/* A thousand rounds of create, solve, destroy. After a warm-up neither allocated nor resident memory grows.

   test_leaks cuda: on a CUDA device, with the device's memory. Other programs may use the device at the same time. */
#include "memory.h"
#include "sample.h"

#include "gmg_cuda.h"

#include <stdio.h>
#include <stdlib.h>

enum { VARIETY = 50, VARIABLE_EVERY = 5, WARM_UP = (SANITIZED ? 1 : 4) * VARIETY, ROUNDS = WARM_UP + (SANITIZED ? VARIETY : 1000) };

/* A round: plan, create, solve, an error, an update, destroy. Some rounds are refused by create. */
static void one_round(int number)
{
  const int seed = number % VARIETY, coefficients = seed % VARIABLE_EVERY == VARIABLE_EVERY - 1;
  sample s = make_sample((uint64_t)seed, 1000, coefficients);
  const size_t n = unknowns(&s.p);
  void *f = typed(&s.p, s.f, n), *u = typed(&s.p, s.f, n);
  session x = {.problem = s.p};
  gmg_plan_info *info = malloc(sizeof *info);
  s.q.max_cycles = 5;
  if (on_device) assert_int_equal(gmg_context_create_cuda(0, NULL, &x.context), GMG_OK);
  else assert_int_equal(gmg_context_create_host(s.threads, &x.context), GMG_OK);
  const gmg_status status = on_device ? create_on_device(x.context, &s.p, &s.q, &x.solver)
                                      : gmg_solver_create(x.context, &s.p, &s.q, &x.solver);
  assert_int_equal(plan_in(&x, &s.p, &s.q, info), status);
  assert_true(status == GMG_OK || s.coefficients || on_device);
  if (status == GMG_OK) {
    solve_in(&x, f, u, NULL);
    assert_int_equal(precondition_in(&x, f, u), GMG_OK);
    assert_int_equal(gmg_solve(x.solver, NULL, u, NULL), GMG_ERR_ARGUMENT);
    assert_int_equal(update_in(&x, &s.p), GMG_OK);
  }
  end_solver(&x);
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

/* The first rounds load code. After them the largest free memory of an early stretch must still be free in the last stretch. */
static void device_memory_stays(void **state)
{
  enum { STRETCH = 2 * VARIETY, GROWTH_ALLOWED = 1 << 22 }; /* a loss of 8 kB each round would be noticed */
  size_t early = 0, late = 0;
  (void)state;
  for (int i = 0; i < ROUNDS; i++) {
    one_round(i);
    const size_t now = device_free_memory();
    if (i >= WARM_UP && i < WARM_UP + STRETCH && now > early) early = now;
    if (i >= ROUNDS - STRETCH && now > late) late = now;
  }
  print_message("%d rounds: %zu bytes free early on, %zu at the end\n", ROUNDS, early, late);
  assert_true(late + GROWTH_ALLOWED >= early);
}

int main(int argc, char **argv)
{
  switch_off_caches(argv);
  if (for_device(argc, argv)) return SKIPPED;
  const struct CMUnitTest here[] = {cmocka_unit_test(a_thousand_rounds_do_not_grow)};
  const struct CMUnitTest there[] = {cmocka_unit_test(device_memory_stays)};
  return on_device ? run_selected(there) : run_selected(here);
}
