/* See exact_sum.h. */
#include "exact_sum.h"

#include "comm.h"

#include <math.h>

enum { BITS = 30, LEAST_POWER = -34 }; /* the scale 2^(30 * 34) is finite; the third digit then still holds the least subnormal */
static const int64_t BASE = (int64_t)1 << BITS;

/* The top digit's power of 2^30 for terms up to `most`: the least p with most < 2^(30 (p + 1) - 1). Rounding a larger term to a
   multiple of 2^(30 (p + 1)) would not give 0, as dropping its digits does. */
static int power_for(double most)
{
  int exponent;
  (void)frexp(most, &exponent); /* most < 2^exponent */
  const int p = (exponent + 1 + BITS * 100 + BITS - 1) / BITS - 100 - 1;
  return p < LEAST_POWER ? LEAST_POWER : p;
}

/* Makes the top digit that of a higher power. Digits below the third are dropped. */
static void lift_top(gmg_exact_sum *s, int top)
{
  const int by = top - s->top;
  if (by <= 0) return;
  for (int d = GMG_EXACT_DIGITS - 1; d >= 0; d--) s->digit[d] = d >= by ? s->digit[d - by] : 0;
  s->top = top;
}

static void add_not_finite(gmg_exact_sum *to, size_t n, const double *term)
{
  for (size_t i = 0; i < n; i++)
    if (!isfinite(term[i])) to->not_finite += term[i];
}

/* x + MAGIC - MAGIC rounds x to a multiple of the last bit of MAGIC. */
void gmg_exact_add(gmg_exact_sum *to, size_t n, const double *term)
{
  static const double magic[GMG_EXACT_DIGITS] = {0x1.8p52, 0x1.8p22, 0x1.8p-8}; /* last bits 1, 2^-30, 2^-60 */
  double most = 0, bad = 0, sum0 = 0, sum1 = 0, sum2 = 0;
#pragma omp simd reduction(max : most) reduction(+ : bad)
  for (size_t i = 0; i < n; i++) {
    const double size = fabs(term[i]);
    most = size > most ? size : most;
    bad += 0 * size; /* NaN if the term is not finite */
  }
  if (bad != 0) {
    add_not_finite(to, n, term);
    return;
  }
  if (most == 0) return;
  const int power = power_for(most);
  const double scale = ldexp(1, -BITS * power);
#pragma omp simd reduction(+ : sum0, sum1, sum2)
  for (size_t i = 0; i < n; i++) {
    const double x = scale * term[i], high = x + magic[0] - magic[0];
    const double rest = x - high, middle = rest + magic[1] - magic[1];
    const double last = rest - middle;
    sum0 += high, sum1 += middle, sum2 += last + magic[2] - magic[2];
  }
  const gmg_exact_sum sums = {.top = power - LEAST_POWER,
                              .digit = {(int64_t)sum0, (int64_t)ldexp(sum1, BITS), (int64_t)ldexp(sum2, 2 * BITS)}};
  gmg_exact_merge(to, &sums);
}

void gmg_exact_merge(gmg_exact_sum *to, const gmg_exact_sum *more)
{
  gmg_exact_sum x = *more;
  lift_top(&x, to->top), lift_top(to, x.top);
  for (int d = 0; d < GMG_EXACT_DIGITS; d++) to->digit[d] += x.digit[d];
  to->not_finite += x.not_finite;
}

/* Brings all digits but the top one into -2^29 .. 2^29 - 1. The result depends on the number alone. */
static void normalise(gmg_exact_sum *s)
{
  for (int d = GMG_EXACT_DIGITS - 1; d > 0; d--) {
    int64_t low = s->digit[d] % BASE;
    if (low >= BASE / 2) low -= BASE;
    if (low < -BASE / 2) low += BASE;
    s->digit[d - 1] += (s->digit[d] - low) / BASE;
    s->digit[d] = low;
  }
}

static double value_of(gmg_exact_sum *s)
{
  if (s->not_finite != 0) return s->not_finite;
  normalise(s);
  const double low = (double)(s->digit[1] * BASE + s->digit[2]);
  return ldexp(ldexp((double)s->digit[0], 2 * BITS) + low, BITS * (s->top + LEAST_POWER - 2));
}

/* Processes tell each other digits as doubles. So that these are exact, also added, the top digit is sent as two. */
enum { SENT = GMG_EXACT_DIGITS + 2 };

static void pack(gmg_exact_sum *s, double to[SENT])
{
  normalise(s);
  const int64_t low = s->digit[0] % BASE;
  to[0] = (double)(s->digit[0] / BASE), to[1] = (double)low;
  for (int d = 1; d < GMG_EXACT_DIGITS; d++) to[d + 1] = (double)s->digit[d];
  to[SENT - 1] = s->not_finite;
}

static void unpack(gmg_exact_sum *s, const double from[SENT])
{
  s->digit[0] = (int64_t)from[0] * BASE + (int64_t)from[1];
  for (int d = 1; d < GMG_EXACT_DIGITS; d++) s->digit[d] = (int64_t)from[d + 1];
  s->not_finite = from[SENT - 1];
}

void gmg_exact_total(const gmg_exec *e, int count, gmg_exact_sum *sums, double *values)
{
  double top[GMG_EXACT_COUNT], sent[GMG_EXACT_COUNT][SENT];
  for (int i = 0; i < count; i++) top[i] = sums[i].top;
  e->comm->max(e, count, top);
  for (int i = 0; i < count; i++) lift_top(&sums[i], (int)top[i]), pack(&sums[i], sent[i]);
  e->comm->sum(e, count * SENT, sent[0]);
  for (int i = 0; i < count; i++) unpack(&sums[i], sent[i]), values[i] = value_of(&sums[i]);
}
