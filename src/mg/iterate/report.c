/* What a solve reports. Called by solve. */
#include "solve.h"

#include <math.h>

/* Geometric mean over the last five cycles at most; a full multigrid start counts only if it is all there is. */
static double mean_factor(const gmg_solver *s, const gmg_progress *p)
{
  const int last = p->measured - 1, skip = s->params.fmg > 0 && last > 1;
  const int every = s->params.check_every > 0 ? s->params.check_every : 1;
  int steps = (5 + every - 1) / every; /* entries of the history */
  if (steps > last - skip) steps = last - skip;
  if (steps < 1) return NAN;
  const int first = last - steps;
  /* the last entry may follow on fewer cycles than the others */
  const int from_cycle = first * every, cycles = p->cycles - from_cycle;
  if (!(s->history[first] > 0)) return 0;
  return pow(s->history[last] / s->history[first], 1.0 / cycles);
}

void gmg_fill_report(const gmg_solver *s, const gmg_progress *p, gmg_status status, double seconds, gmg_report *r)
{
  const unsigned traits = gmg_smoother_traits(&s->params, s->exec.threads);
  *r = (gmg_report){.status = status,
                    .cycles = p->cycles,
                    .residual0 = p->measured > 0 ? s->history[0] : NAN,
                    .residual = p->measured > 0 ? s->history[p->measured - 1] : NAN,
                    .factor = p->measured > 0 ? mean_factor(s, p) : NAN,
                    .target = p->standing.target,
                    .floor = p->floor,
                    .seconds = seconds,
                    .history = s->history,
                    .history_length = p->measured,
                    .level = s->report,
                    .levels = s->levels,
                    .singular = s->singular,
                    .mean_removed = p->mean_removed,
                    .deterministic = (traits & GMG_SMOOTHER_DETERMINISTIC) != 0};
}
