/* The stopping rule of a solve and the scale of a low-precision residual. Host and device share them, and they depend on numbers
   only. */
#include "util.h"

#include "internals.h"

#include <math.h>

/* --- the stopping rule --------------------------------------------------------------------------------------------------- */

/* The residuals of a solve, from the first one on, and the verdict on each. */
enum { MAX_RESIDUALS = 8 };
typedef struct {
  const char *name;
  gmg_stopping rule;
  double f_norm;
  int count;
  double norm[MAX_RESIDUALS];
  gmg_verdict verdict[MAX_RESIDUALS];
  double target;
} history;

#define RULE .rule = {.rtol = 1e-6, .growth = 1e4, .rate_slow = 0.9, .rate_stalled = 0.99}
#define RULE_ATOL(a) .rule = {.rtol = 1e-6, .atol = a, .growth = 1e4, .rate_slow = 0.9, .rate_stalled = 0.99}

static const history histories[] = {
    {"falls to the target", RULE, 10, 5, {10, 1, 1e-2, 1e-4, 0.999e-5},
     {GMG_VERDICT_CONTINUE, GMG_VERDICT_CONTINUE, GMG_VERDICT_CONTINUE, GMG_VERDICT_CONTINUE, GMG_VERDICT_CONVERGED}, 1e-5},
    {"meets it exactly", RULE, 1, 3, {10, 1.001e-6, 1e-6}, {GMG_VERDICT_CONTINUE, GMG_VERDICT_CONTINUE, GMG_VERDICT_CONVERGED}, 1e-6},
    {"met by the guess", RULE, 10, 1, {0.999e-5}, {GMG_VERDICT_CONVERGED}, 1e-5},
    {"not quite met by the guess", RULE, 10, 1, {1.001e-5}, {GMG_VERDICT_CONTINUE}, 1e-5},
    {"no residual at all", RULE, 10, 1, {0}, {GMG_VERDICT_CONVERGED}, 1e-5},
    {"relative to f, not to the guess", RULE, 10, 3, {1e3, 1e-4, 0.999e-5}, {GMG_VERDICT_CONTINUE, GMG_VERDICT_CONTINUE, GMG_VERDICT_CONVERGED}, 1e-5},
    {"f = 0: relative to the first residual", RULE, 0, 3, {1e3, 1e-2, 0.999e-3}, {GMG_VERDICT_CONTINUE, GMG_VERDICT_CONTINUE, GMG_VERDICT_CONVERGED}, 1e-3},
    {"f = 0 and u = 0", RULE, 0, 1, {0}, {GMG_VERDICT_CONVERGED}, 0},
    {"f = 0, u is found", RULE, 0, 2, {1, 0}, {GMG_VERDICT_CONTINUE, GMG_VERDICT_CONVERGED}, 1e-6},
    {"atol is larger", RULE_ATOL(0.1), 10, 3, {10, 0.2, 0.1}, {GMG_VERDICT_CONTINUE, GMG_VERDICT_CONTINUE, GMG_VERDICT_CONVERGED}, 0.1},
    {"atol is smaller", RULE_ATOL(1e-7), 10, 3, {10, 1e-4, 0.999e-5}, {GMG_VERDICT_CONTINUE, GMG_VERDICT_CONTINUE, GMG_VERDICT_CONVERGED}, 1e-5},
    {"atol meets the guess", RULE_ATOL(20), 10, 1, {10}, {GMG_VERDICT_CONVERGED}, 20},
    {"f = 0, atol", RULE_ATOL(20), 0, 2, {1e3, 20}, {GMG_VERDICT_CONTINUE, GMG_VERDICT_CONVERGED}, 20},
    {"does not fall", RULE, 1, 3, {1, 0.1, 0.0995}, {GMG_VERDICT_CONTINUE, GMG_VERDICT_CONTINUE, GMG_VERDICT_STALLED}, 1e-6},
    {"does not fall in the first cycle", RULE, 1, 2, {1, 0.995}, {GMG_VERDICT_CONTINUE, GMG_VERDICT_STALLED}, 1e-6},
    {"rises", RULE, 1, 3, {1, 0.1, 0.2}, {GMG_VERDICT_CONTINUE, GMG_VERDICT_CONTINUE, GMG_VERDICT_STALLED}, 1e-6},
    {"slow from the first cycle on", RULE, 1, 4, {1, 0.95, 0.9025, 0.857375},
     {GMG_VERDICT_CONTINUE, GMG_VERDICT_STALLED, GMG_VERDICT_CONTINUE, GMG_VERDICT_CONTINUE}, 1e-6},
    {"slows down, and stays so", RULE, 1, 4, {1, 0.5, 0.475, 0.45125},
     {GMG_VERDICT_CONTINUE, GMG_VERDICT_CONTINUE, GMG_VERDICT_STALLED, GMG_VERDICT_CONTINUE}, 1e-6},
    {"slows down, but not much", RULE, 1, 4, {1, 0.8, 0.71, 0.645}, {GMG_VERDICT_CONTINUE, GMG_VERDICT_CONTINUE, GMG_VERDICT_CONTINUE, GMG_VERDICT_CONTINUE}, 1e-6},
    {"is fast enough for any slowing down", RULE, 1, 3, {1, 1e-3, 0.89e-3}, {GMG_VERDICT_CONTINUE, GMG_VERDICT_CONTINUE, GMG_VERDICT_CONTINUE}, 1e-6},
    {"met, though it does not fall", RULE, 10, 3, {10, 1.00001e-5, 0.99999e-5}, {GMG_VERDICT_CONTINUE, GMG_VERDICT_CONTINUE, GMG_VERDICT_CONVERGED}, 1e-5},
    {"goes on after it stopped falling", RULE, 1, 5, {1, 0.1, 0.0999, 0.01, 1e-7},
     {GMG_VERDICT_CONTINUE, GMG_VERDICT_CONTINUE, GMG_VERDICT_STALLED, GMG_VERDICT_CONTINUE, GMG_VERDICT_CONVERGED}, 1e-6},
    {"grows from the norm of f", RULE, 10, 3, {1, 9.99e4, 1.001e5}, {GMG_VERDICT_CONTINUE, GMG_VERDICT_STALLED, GMG_VERDICT_DIVERGED}, 1e-5},
    {"grows from the first residual", RULE, 1, 3, {10, 9.99e4, 1.001e5}, {GMG_VERDICT_CONTINUE, GMG_VERDICT_STALLED, GMG_VERDICT_DIVERGED}, 1e-6},
    {"grows after it fell", RULE, 1, 3, {1, 1e-3, 1.001e4}, {GMG_VERDICT_CONTINUE, GMG_VERDICT_CONTINUE, GMG_VERDICT_DIVERGED}, 1e-6},
    {"grows from f = 0", RULE, 0, 2, {1, 1.001e4}, {GMG_VERDICT_CONTINUE, GMG_VERDICT_DIVERGED}, 1e-6},
    {"becomes NaN", RULE, 1, 3, {1, 0.1, NAN}, {GMG_VERDICT_CONTINUE, GMG_VERDICT_CONTINUE, GMG_VERDICT_DIVERGED}, 1e-6},
    {"becomes infinite", RULE, 1, 2, {1, INFINITY}, {GMG_VERDICT_CONTINUE, GMG_VERDICT_DIVERGED}, 1e-6},
    {"begins as NaN", RULE, 1, 1, {NAN}, {GMG_VERDICT_DIVERGED}, 1e-6},
    {"begins infinite", RULE, 1, 1, {INFINITY}, {GMG_VERDICT_DIVERGED}, 1e-6},
    {"f is NaN", RULE, NAN, 1, {1}, {GMG_VERDICT_DIVERGED}, NAN},
    {"f is infinite", RULE, INFINITY, 1, {1}, {GMG_VERDICT_DIVERGED}, INFINITY}};

/* Every verdict, and the state after it. */
static void verdicts(void **state)
{
  (void)state;
  for (size_t i = 0; i < sizeof histories / sizeof *histories; i++) {
    const history *h = &histories[i];
    gmg_stopping_state s = {.f_norm = 7, .first = 7, .target = 7, .norm = 7, .rate = 7}; /* left from an earlier solve, and not used */
    for (int k = 0; k < h->count; k++) {
      const gmg_verdict v = k ? gmg_judge_next(&h->rule, &s, h->norm[k]) : gmg_judge_first(&h->rule, &s, h->norm[k], h->f_norm);
      if (v != h->verdict[k]) fail_msg("%s: verdict %d on residual %d, %g; expected %d", h->name, v, k, h->norm[k], h->verdict[k]);
      assert_true(s.norm == h->norm[k] || (isnan(s.norm) && isnan(h->norm[k])));
      assert_true(s.first == h->norm[0] || (isnan(s.first) && isnan(h->norm[0])));
      assert_true(s.f_norm == h->f_norm || (isnan(s.f_norm) && isnan(h->f_norm)));
      const double rate = k ? h->norm[k] / h->norm[k - 1] : 0;
      assert_true(s.rate == rate || (isnan(s.rate) && isnan(rate)));
    }
    if (isfinite(h->target)) assert_near(s.target, h->target, 1e-15 * h->target);
  }
}

/* A constant slow rate is no stagnation, unless it is above rate_stalled. */
static void rates(void **state)
{
  (void)state;
  const gmg_stopping rule = {.rate_slow = 0.9, .rate_stalled = 0.99};
  static const struct {
    double rate, before;
    int stopped;
  } s[] = {{0.5, 0, 0},     {0.5, 0.01, 0},   {0.9, 0.1, 0},  {0.91, 0.5, 1},  {0.91, 0.81, 1}, {0.91, 0.83, 0},
           {0.95, 0.89, 1}, {0.95, 0.91, 0},  {0.95, 0.95, 0}, {0.98, 0.97, 0}, {0.99, 0.99, 0}, {0.991, 0.99, 1},
           {1, 1, 1},       {1.5, 2, 1},      {2, 0.1, 1},    {0.91, 1.5, 0}};
  for (size_t i = 0; i < sizeof s / sizeof *s; i++)
    if (gmg_stopped_falling(&rule, s[i].rate, s[i].before) != s[i].stopped) fail_msg("rate %g after %g", s[i].rate, s[i].before);
}

/* --- the scale of a low-precision residual ------------------------------------------------------------------------------- */

static void norms_to_scale_by(void **state)
{
  (void)state;
  static const struct {
    double norm;
    int can, well;
  } s[] = {{1, 1, 1},        {0.5e6, 1, 1},     {2e6, 1, 0},       {2e-6, 1, 1},    {0.5e-6, 1, 0},   {1e300, 1, 0}, {1e-299, 1, 0},
           {1e-301, 0, 0},   {5e-324, 0, 0},    {0, 0, 0},         {-1, 0, 0},      {INFINITY, 0, 0}, {NAN, 0, 0}};
  for (size_t i = 0; i < sizeof s / sizeof *s; i++) {
    if (gmg_can_scale_by(s[i].norm) != s[i].can) fail_msg("norm %g: can scale by it: not %d", s[i].norm, s[i].can);
    if (gmg_is_well_scaled(s[i].norm) != s[i].well) fail_msg("norm %g: well scaled: not %d", s[i].norm, s[i].well);
    if (s[i].can) assert_true(isfinite(1 / s[i].norm));
  }
}

/* gmg_scale_note() sets the divisor to that of the stored residual. The next scale changes only if the norm can be used. */
static void notes(void **state)
{
  (void)state;
  gmg_scale s = {.divisor = 3, .next = 7, .guess = 11};
  gmg_scale_note(&s, 0.25, 8);
  assert_true(s.divisor == 4 && s.next == 0.125 && s.guess == 11);
  static const double none[] = {0, 1e-301, INFINITY, NAN};
  for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
    gmg_scale_note(&s, 1 / (double)(i + 2), none[i]);
    assert_near(s.divisor, (double)(i + 2), 1e-15 * s.divisor);
    assert_true(s.next == 0.125 && s.guess == 11);
  }
  double norm = 1; /* a residual that falls is stored with the scale of the one before, and its stored norm stays near 1 */
  s = (gmg_scale){.next = 1 / norm};
  for (int cycle = 0; cycle < 40; cycle++) {
    const double scale = s.next;
    norm *= cycle % 2 ? 1e-5 : 0.3;
    assert_true(gmg_is_well_scaled(scale * norm));
    gmg_scale_note(&s, scale, norm);
    assert_near(s.next * norm, 1, 1e-15);
    assert_near(s.divisor * scale, 1, 1e-15);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(verdicts), cmocka_unit_test(rates), cmocka_unit_test(norms_to_scale_by),
                                     cmocka_unit_test(notes)};
  return run_selected(tests);
}
