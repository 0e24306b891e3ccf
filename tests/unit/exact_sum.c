/* Sums that do not depend on the order of their terms (core/exact_sum.h). */
#include "util.h"

#include "internals.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 3000, SPLITS = 40 };

static gmg_exec one_process(void)
{
  static gmg_context c;
  c.comm = &gmg_comm_alone;
  return (gmg_exec){.context = &c, .comm = c.comm};
}

static double value_of(gmg_exact_sum s)
{
  const gmg_exec e = one_process();
  double value;
  gmg_exact_total(&e, 1, &s, &value);
  return value;
}

/* The sum in groups of random length, each in a sum of its own. */
static double sum_in_groups(const double *x, size_t n, uint64_t seed)
{
  gmg_exact_sum all = {0};
  for (size_t i = 0; i < n;) {
    gmg_exact_sum group = {0};
    const size_t wanted = 1 + (size_t)((uniform(&seed) + 0.5) * GMG_EXACT_TERMS), count = n - i < wanted ? n - i : wanted;
    gmg_exact_add(&group, count, x + i);
    gmg_exact_merge(&all, &group);
    i += count;
  }
  return value_of(all);
}

static void shuffle(double *x, size_t n, uint64_t *seed)
{
  for (size_t i = n - 1; i > 0; i--) {
    const size_t other = (size_t)((uniform(seed) + 0.5) * (double)(i + 1)) % (i + 1);
    const double swap = x[i];
    x[i] = x[other], x[other] = swap;
  }
}

/* Terms between 2^(centre - spread) and 2^(centre + spread), of both signs or of one. */
static void fill(double *x, size_t n, int centre, int spread, int of_both_signs, uint64_t *seed)
{
  for (size_t i = 0; i < n; i++) {
    const double size = ldexp(1 + uniform(seed), centre + (int)(2 * spread * uniform(seed)));
    x[i] = of_both_signs && uniform(seed) < 0 ? -size : size;
  }
}

static const struct {
  int centre, spread;
} kinds[] = {{0, 0}, {0, 3}, {0, 40}, {0, 300}, {1000, 10}, {900, 100}, {-1000, 20}, {-1070, 3}, {-1040, 60}, {29, 1}, {30, 2}, {-31, 2}};

static void order_does_not_matter(void **state)
{
  (void)state;
  double x[N];
  uint64_t seed = 7;
  for (int k = 0; k < COUNT(kinds); k++)
    for (int signs = 0; signs < 2; signs++) {
      fill(x, N, kinds[k].centre, kinds[k].spread, signs, &seed);
      const double first = sum_in_groups(x, N, 1);
      for (int i = 0; i < SPLITS; i++) {
        shuffle(x, N, &seed);
        const double again = sum_in_groups(x, N, (uint64_t)(100 * k + i));
        if (memcmp(&first, &again, sizeof first) != 0) fail_msg("kind %d: %.17g and %.17g", k, first, again);
      }
    }
}

/* The error is far below that of the largest term. */
static void sums_are_accurate(void **state)
{
  (void)state;
  double x[N];
  uint64_t seed = 11;
  for (int k = 0; k < COUNT(kinds); k++)
    for (int signs = 0; signs < 2; signs++) {
      long double sum = 0, most = 0;
      fill(x, N, kinds[k].centre, kinds[k].spread, signs, &seed);
      for (int i = 0; i < N; i++) sum += (long double)x[i], most = fmaxl(most, fabsl((long double)x[i]));
      const double found = sum_in_groups(x, N, 3);
      const long double wanted = isinf((double)sum) ? 0 : fabsl((long double)found - sum);
      if (wanted > DBL_EPSILON / 2 * fabsl(sum) + N * most * 0x1p-60L + (long double)DBL_TRUE_MIN)
        fail_msg("kind %d: %.17g instead of %.17Lg", k, found, sum);
    }
}

/* Terms that cancel: nothing of the rest is lost, as long as it is above the unit. */
static void terms_cancel(void **state)
{
  (void)state;
  const double big[] = {1e16, 3.25, -1e16, -1, 0x1p-20}, none[] = {0, -0.0, 0};
  assert_true(sum_in_groups(big, COUNT(big), 5) == 2.25 + 0x1p-20);
  assert_true(sum_in_groups(none, COUNT(none), 5) == 0);
  assert_true(value_of((gmg_exact_sum){0}) == 0);
}

/* Many terms about as small as the unit, in one group with a large term, and in groups of their own. */
static void small_terms_round_alike(void **state)
{
  (void)state;
  enum { SMALL = 400 };
  double x[SMALL + 1];
  for (int large = 0; large < 31; large++)
    for (int small = -45; small > -100; small--) {
      gmg_exact_sum apart = {0}, together = {0};
      for (int i = 0; i < SMALL; i++) x[i] = ldexp(0.51 + 0.001 * i, small);
      x[SMALL] = ldexp(1, large);
      gmg_exact_add(&together, SMALL + 1, x);
      gmg_exact_add(&apart, SMALL, x), gmg_exact_add(&apart, 1, x + SMALL);
      const double values[2] = {value_of(together), value_of(apart)};
      if (values[0] != values[1]) fail_msg("2^%d and 2^%d: %.17g and %.17g", large, small, values[0], values[1]);
    }
}

static void bad_terms_stay(void **state)
{
  (void)state;
  const double infinite[] = {1, INFINITY, 2}, bad[] = {1, NAN, 2}, both[] = {INFINITY, 3, -INFINITY};
  assert_true(sum_in_groups(infinite, 3, 1) == INFINITY);
  assert_true(isnan(sum_in_groups(bad, 3, 1)));
  assert_true(isnan(sum_in_groups(both, 3, 1)));
}

/* Two processes have half of the terms each. The table plays the other one. */
static gmg_exact_sum other;
static double sent[2][8];

static void most_of_two(const gmg_exec *e, int count, double *values)
{
  (void)e;
  for (int i = 0; i < count; i++) values[i] = fmax(values[i], other.top);
}

static void remember(const gmg_exec *e, int count, double *values)
{
  static int round;
  (void)e;
  for (int i = 0; i < count; i++) sent[round % 2][i] = values[i], values[i] += sent[1 - round % 2][i];
  round++;
}

static void processes_may_have_any_terms(void **state)
{
  (void)state;
  const gmg_comm_ops two = {.sum = remember, .max = most_of_two};
  gmg_exec e = one_process();
  double x[N];
  uint64_t seed = 5;
  e.comm = &two;
  for (int k = 0; k < COUNT(kinds); k++)
    for (size_t half = 0; half <= N; half += N / 6) {
      fill(x, N, kinds[k].centre, kinds[k].spread, 1, &seed);
      const double wanted = sum_in_groups(x, N, 1);
      gmg_exact_sum mine = {0}, theirs = {0};
      double value;
      for (size_t i = 0; i < half; i++) gmg_exact_add(&mine, 1, x + i);
      for (size_t i = half; i < N; i++) gmg_exact_add(&theirs, 1, x + i);
      memset(sent, 0, sizeof sent);
      gmg_exact_sum copy = mine;
      other = theirs;
      gmg_exact_total(&e, 1, &copy, &value);
      other = mine;
      gmg_exact_total(&e, 1, &theirs, &value);
      if (memcmp(&value, &wanted, sizeof value) != 0) fail_msg("kind %d, %zu: %.17g and %.17g", k, half, value, wanted);
      memset(sent, 0, sizeof sent);
    }
}

int main(void)
{
  static const struct CMUnitTest tests[] = {cmocka_unit_test(order_does_not_matter), cmocka_unit_test(sums_are_accurate),
                                            cmocka_unit_test(terms_cancel), cmocka_unit_test(small_terms_round_alike),
                                            cmocka_unit_test(bad_terms_stay),
                                            cmocka_unit_test(processes_may_have_any_terms)};
  return run_selected(tests);
}
