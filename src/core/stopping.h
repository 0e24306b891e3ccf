/* The stopping rule of a solve. Compiled by C and CUDA alike: the host applies it to the norms that it asks for, the device between
   the cycles of a solve that is replayed there. Calls nothing; called by mg and by core/cuda. */
#ifndef GMG_CORE_STOPPING_H
#define GMG_CORE_STOPPING_H

#include "types.h"

/* The rule: what a solve is told. A rate is the residual's norm over the one before. */
typedef struct gmg_stopping {
  double rtol, atol;   /* target: rtol times the norm of f (of the first residual where f = 0), at least atol */
  double growth;       /* a residual that has grown by more has blown up */
  double rate_slow;    /* a rate above it is looked at: is the residual still falling as it did? */
  double rate_stalled; /* a rate above it is no falling at all */
} gmg_stopping;

/* How far a solve is. */
typedef struct gmg_standing {
  double f_norm, first; /* norms of f and of the first residual */
  double target;
  double norm, rate;    /* of the last residual; rate 0: it is the first */
} gmg_standing;

typedef enum {
  GMG_GO_ON,
  GMG_MET,            /* the target */
  GMG_STOPPED_FALLING, /* perhaps at the rounding floor: that takes another look */
  GMG_BLEW_UP
} gmg_verdict;

GMG_INLINE gmg_verdict gmg_judge_first(const gmg_stopping *rule, gmg_standing *s, double norm, double f_norm)
{
  const double target = rule->rtol * (f_norm > 0 ? f_norm : norm);
  s->f_norm = f_norm;
  s->first = s->norm = norm;
  s->rate = 0;
  s->target = target > rule->atol ? target : rule->atol;
  if (!gmg_is_number(norm) || !gmg_is_number(f_norm)) return GMG_BLEW_UP;
  return norm <= s->target ? GMG_MET : GMG_GO_ON;
}

/* Slower than rate_slow, and either not falling at all or much slower than the cycle before. A smoother that is slow from the start
   keeps its rate and is left alone. */
GMG_INLINE int gmg_stopped_falling(const gmg_stopping *rule, double rate, double rate_before)
{
  return rate > rule->rate_stalled || (rate > rule->rate_slow && rate > (1 + rate_before) / 2);
}

GMG_INLINE gmg_verdict gmg_judge_next(const gmg_stopping *rule, gmg_standing *s, double norm)
{
  const double rate = norm / s->norm, rate_before = s->rate, start = s->first > s->f_norm ? s->first : s->f_norm;
  s->norm = norm;
  s->rate = rate;
  if (!gmg_is_number(norm) || norm > rule->growth * start) return GMG_BLEW_UP;
  if (norm <= s->target) return GMG_MET;
  return gmg_stopped_falling(rule, rate, rate_before) ? GMG_STOPPED_FALLING : GMG_GO_ON;
}

#endif
