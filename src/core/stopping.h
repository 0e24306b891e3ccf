/* The stopping rule of a solve. The host applies it to residual norms that it has read, the device between the cycles of a replayed
   solve. Compiled as C and as CUDA. Calls nothing; used by mg and core/cuda. */
#ifndef GMG_CORE_STOPPING_H
#define GMG_CORE_STOPPING_H

#include "types.h"

#include <math.h>

/* The rule. A rate is the residual norm divided by the previous one. */
typedef struct gmg_stopping {
  double rtol, atol;   /* target = max(rtol ||f||, atol); if f = 0, rtol is relative to the first residual */
  double growth;       /* a residual that has grown by a larger factor has blown up */
  double rate_slow;    /* above this rate a solve is slow: gmg_stopped_falling() compares with the previous rate */
  double rate_stalled; /* above this rate the residual no longer falls */
} gmg_stopping;

/* The residuals seen so far, as the stopping rule needs them. */
typedef struct gmg_stopping_state {
  double f_norm, first; /* norms of f and of the first residual */
  double target;
  double norm, rate;    /* of the last residual; rate 0: only the first is known */
} gmg_stopping_state;

typedef enum {
  GMG_VERDICT_CONTINUE,
  GMG_VERDICT_CONVERGED, /* the target is met */
  GMG_VERDICT_STALLED,   /* perhaps at the rounding floor, which the caller must check */
  GMG_VERDICT_DIVERGED
} gmg_verdict;

GMG_INLINE gmg_verdict gmg_judge_first(const gmg_stopping *rule, gmg_stopping_state *s, double norm, double f_norm)
{
  const double target = rule->rtol * (f_norm > 0 ? f_norm : norm);
  s->f_norm = f_norm;
  s->first = s->norm = norm;
  s->rate = 0;
  s->target = target > rule->atol ? target : rule->atol;
  if (!gmg_is_finite(norm) || !gmg_is_finite(f_norm)) return GMG_VERDICT_DIVERGED;
  return norm <= s->target ? GMG_VERDICT_CONVERGED : GMG_VERDICT_CONTINUE;
}

/* Whether the residual has stopped falling: if the rate is above rate_stalled, or if it is above rate_slow and much higher than the
   previous rate, above (1 + rate_before) / 2. After the first cycle rate_before is 0. A solve with a constant rate between the
   two limits may count as stopped after its first cycle, and after no later one. */
GMG_INLINE int gmg_stopped_falling(const gmg_stopping *rule, double rate, double rate_before)
{
  return rate > rule->rate_stalled || (rate > rule->rate_slow && rate > (1 + rate_before) / 2);
}

GMG_INLINE gmg_verdict gmg_judge_next(const gmg_stopping *rule, gmg_stopping_state *s, double norm)
{
  const double rate = norm / s->norm, rate_before = s->rate, start = s->first > s->f_norm ? s->first : s->f_norm;
  s->norm = norm;
  s->rate = rate;
  if (!gmg_is_finite(norm) || norm > rule->growth * start) return GMG_VERDICT_DIVERGED;
  if (norm <= s->target) return GMG_VERDICT_CONVERGED;
  return gmg_stopped_falling(rule, rate, rate_before) ? GMG_VERDICT_STALLED : GMG_VERDICT_CONTINUE;
}

/* Whether a mean can be subtracted. It is finite, and the squares of the values do not overflow: otherwise the values stay as they
   are, and the host will refuse them. */
GMG_INLINE int gmg_is_fit_mean(double re, double im) { return re * re + im * im < 1e300; }

/* Whether what is left of a right-hand side without its mean is rounding, not data. rounding: of a constant 1, as a norm */
GMG_INLINE int gmg_is_rest_rounding(double norm, double mean, double rounding) { return norm <= rounding * fabs(mean); }

/* Whether the mean that cycles of a singular problem add to u may stay until the end of the solve. It is small beside u, and does
   not change the residual. If f = 0, u tends to 0, and rounding errors of a mean would limit the residual. Then it is removed after
   every cycle, if the norm of f is measured. */
GMG_INLINE int gmg_keeps_mean(const gmg_stopping_state *s) { return s->f_norm != 0; }

#endif
