/* gmg_solve(): cycles until the residual is small, stops falling at the rounding floor, grows, or time is up. */
#include "solve.h"

#include <math.h>

static const double GROWTH = 1e3;       /* of a residual: more than that is divergence */
static const double GROWTH_CG = 1e8;    /* conjugate gradients make the error fall, not the residual */
static const double RATE_SLOW = 0.5;    /* a cycle that reduces less is looked at */
static const double RATE_STALLED = 0.98; /* and this is not falling at all */
static const double RECURSION_DRIFT = 2; /* a recursion that far from the truth starts anew */
static const double NEAR_FLOOR = 8;      /* within that of eps ||A|| ||u|| the floor is reached */

/* --- how a solve ends ---------------------------------------------------------------------------------------------------- */

/* One watched cycle tells where the blow-up began. It leaves the caller's iterate alone; the effective f makes room for it. */
static gmg_status diverged(gmg_solver *s, gmg_progress *p)
{
  const void *f;
  void *u;
  p->it.f = p->f;
  s->corrections->watched(s, &p->it, isfinite(s->vector->norm2(&s->exec, s->finest->A.cells, p->it.u)), &f, &u);
  const gmg_watch seen = gmg_watched_cycle(&s->mg, f, u, s->params.cycle);
  if (seen.level < 0)
    return gmg_fail(s->context, GMG_DIVERGED,
                    "residual %g after %d cycles, %g at the start; the smoother makes it grow on no level, so look at the "
                    "coarsest grid (level %d), the acceleration and the data", gmg_residual_now(p), p->cycles, s->history[0],
                    s->levels - 1);
  const gmg_level *L = &s->level[seen.level];
  return gmg_fail(s->context, GMG_DIVERGED,
                  "residual %g after %d cycles, %g at the start; the smoother \"%s\" first made it grow on level %d "
                  "(%zu x %zu x %zu)",
                  gmg_residual_now(p), p->cycles, s->history[0], s->params.smoother->name, seen.level, L->A.n[0], L->A.n[1], L->A.n[2]);
}

static gmg_status stagnated(gmg_solver *s, const gmg_progress *p)
{
  return gmg_fail(s->context, GMG_STAGNATED,
                  "residual %g stopped falling at the rounding floor, about eps ||A|| ||u|| = %g, above the target %g",
                  gmg_residual_now(p), p->floor, p->standing.target);
}

static gmg_status bad_guess(gmg_solver *s, double norm)
{
  return gmg_fail(s->context, GMG_ERR_ARGUMENT,
                  "u (the guess) holds NaN or infinity, or is too large: the norm of u or of its residual is %g", norm);
}

static gmg_status bad_rhs(gmg_solver *s, double norm)
{
  return gmg_fail(s->context, GMG_ERR_ARGUMENT, "f%s holds NaN or infinity or overflows its norm (%g)",
                  s->has_values ? " with its boundary values" : "", norm);
}

/* --- judging a residual ---------------------------------------------------------------------------------------------------- */

/* The last residual is another one than was measured. */
static void correct_history(gmg_solver *s, gmg_progress *p, double norm)
{
  const int last = p->measured - 1;
  s->history[last] = p->standing.norm = norm;
  p->standing.rate = last > 0 ? norm / s->history[last - 1] : 0;
}

/* An acceleration knows its residual by recursion, which rounding takes away from the truth. Where it meets the target,
   hardly falls or falls below what rounding leaves of f the truth is looked up; where they differ the recursion starts anew from the
   truth. A truth that stays where it was the last time is at the floor. */
static int recursion_is_at_floor(gmg_solver *s, gmg_progress *p)
{
  const double recursion = gmg_residual_now(p), truth = gmg_true_residual(s, &p->it), target = p->standing.target;
  correct_history(s, p, truth);
  if (truth <= target || (truth < RECURSION_DRIFT * recursion && recursion > target)) return 0;
  p->floor = gmg_floor_of(s, p->it.u);
  if (truth <= NEAR_FLOOR * p->floor && truth > p->true_before / 2) return 1;
  p->true_before = truth;
  if (s->singular) gmg_remove_mean(&s->exec, &s->finest->A, s->finest->volume, p->it.u);
  s->method->start(s, &p->it);
  return 0;
}

static int is_at_floor(gmg_solver *s, gmg_progress *p)
{
  if (s->method->by_recursion) {
    const double rounding = gmg_type_traits_of(s->problem.type)->epsilon * p->standing.f_norm;
    const int doubtful = p->verdict != GMG_GO_ON || gmg_residual_now(p) <= rounding;
    return doubtful && recursion_is_at_floor(s, p);
  }
  if (p->verdict != GMG_STOPPED_FALLING) return 0;
  p->floor = gmg_floor_of(s, p->it.u);
  return gmg_residual_now(p) <= NEAR_FLOOR * p->floor;
}

/* GMG_OK while the solve should go on is told apart by *done. */
static gmg_status judge(gmg_solver *s, gmg_progress *p, int *done)
{
  *done = 1;
  if (p->verdict == GMG_BLEW_UP) return diverged(s, p);
  if (is_at_floor(s, p)) return stagnated(s, p);
  *done = gmg_residual_now(p) <= p->standing.target;
  return GMG_OK;
}

/* --- a solve ---------------------------------------------------------------------------------------------------------------- */

static int monitor_stops(const gmg_solver *s, const gmg_progress *p)
{
  return s->params.monitor && s->params.monitor(s->params.monitor_data, p->cycles, gmg_residual_now(p), p->standing.target) != 0;
}

/* Whether ||f|| and the first residual are found in one pass. */
static int in_one_pass(const gmg_solver *s) { return s->params.fmg == 0 && !s->singular && !s->method->by_recursion; }

/* The right-hand side, the guess and the iteration are made ready. */
static gmg_status start(gmg_solver *s, gmg_progress *p)
{
  const gmg_params *q = &s->params;
  const gmg_level *L = s->finest;
  const int measured = q->check_every > 0;
  p->rule = (gmg_stopping){.rtol = q->rtol, .atol = q->atol, .growth = s->method->by_recursion ? GROWTH_CG : GROWTH,
                           .rate_slow = RATE_SLOW, .rate_stalled = RATE_STALLED};
  p->it.wait = measured ? GMG_WAIT : GMG_NOBODY_WAITS;
  if (!measured) p->mean_removed = NAN;
  p->it.f = gmg_effective_rhs(s, p->f, measured ? &p->mean_removed : NULL);
  p->standing.f_norm = NAN;
  if (measured && !in_one_pass(s)) {
    const double f_norm = p->standing.f_norm = s->vector->norm2(&s->exec, L->A.cells, p->it.f);
    if (!isfinite(f_norm)) return bad_rhs(s, f_norm);
  }
  if (q->fmg > 0) return GMG_OK;
  if (s->singular) {
    const double u_norm = measured ? s->vector->norm2(&s->exec, L->A.cells, p->it.u) : 0;
    if (!isfinite(u_norm)) return bad_guess(s, u_norm); /* u is left as it was */
    gmg_remove_mean(&s->exec, &L->A, L->volume, p->it.u);
  }
  s->method->start(s, &p->it);
  return GMG_OK;
}

/* Where the cycle was left to gmg and F cycles turn out slow (a coarse grid that corrects too much does so more often in them),
   the rest is done by V cycles. */
static void reconsider_cycle(gmg_solver *s, gmg_progress *p)
{
  enum { PATIENCE = 12 };
  const int n = p->measured;
  if (!s->free_cycle || s->params.cycle == GMG_CYCLE_V || p->cycles < PATIENCE || n < 7) return;
  if (s->history[n - 1] < pow(RATE_SLOW, 6) * s->history[n - 7] || gmg_residual_now(p) <= p->standing.target) return;
  s->params.cycle = GMG_CYCLE_V;
  s->method->start(s, &p->it);
}

/* A full multigrid start that is worse than u = 0 (layers that no grid resolves, strong stretch) is no use. */
static void forget_bad_start(gmg_solver *s, gmg_progress *p)
{
  if (p->cycles != 1 || s->params.fmg == 0 || gmg_residual_now(p) <= s->history[0]) return;
  s->vector->fill(&s->exec, s->finest->A.cells, 0, p->it.u);
  s->method->start(s, &p->it);
  correct_history(s, p, s->history[0]);
  p->verdict = GMG_GO_ON;
}

/* Whether there is nothing to be done. With f = 0 a full multigrid start does not use the guess. */
static int is_solved(gmg_solver *s, const gmg_progress *p)
{
  const int zero_start = s->params.fmg > 0;
  if (p->cycles > 0 || p->standing.first > p->standing.target || (zero_start && p->standing.first != 0)) return 0;
  if (zero_start) s->vector->fill(&s->exec, s->finest->A.cells, 0, p->it.u);
  return 1;
}

static gmg_status run(gmg_solver *s, gmg_progress *p)
{
  gmg_first_residual(s, p);
  if (!isfinite(p->standing.f_norm)) return bad_rhs(s, p->standing.f_norm);
  if (!isfinite(p->standing.first)) return bad_guess(s, p->standing.first);
  if (monitor_stops(s, p)) return gmg_fail(s->context, GMG_NOT_CONVERGED, "stopped by params.monitor before the first cycle");
  if (is_solved(s, p)) return GMG_OK;
  for (;;) {
    int done = 0, stop = 0;
    gmg_status status = GMG_OK;
    if (p->cycles > 0) { /* a recorded loop may have done some with the first residual */
      forget_bad_start(s, p);
      status = judge(s, p, &done);
      stop = monitor_stops(s, p);
      if (!done) reconsider_cycle(s, p);
    }
    if (done) return status;
    if (stop) return gmg_fail(s->context, GMG_NOT_CONVERGED, "stopped by params.monitor after cycle %d", p->cycles);
    if (p->cycles >= s->params.max_cycles) break;
    gmg_step(s, p);
  }
  return gmg_fail(s->context, GMG_NOT_CONVERGED, "residual %g after params.max_cycles = %d cycles, target %g",
                  gmg_residual_now(p), s->params.max_cycles, p->standing.target);
}

static gmg_status run_unmeasured(gmg_solver *s, gmg_progress *p)
{
  while (p->cycles < s->params.max_cycles) gmg_one_cycle(s, p);
  return GMG_OK;
}

static gmg_status solve(gmg_solver *s, gmg_progress *p)
{
  gmg_status status = start(s, p);
  if (status != GMG_OK) return status;
  status = s->params.check_every == 0 ? run_unmeasured(s, p) : run(s, p);
  if (s->singular) gmg_remove_mean(&s->exec, &s->finest->A, s->finest->volume, p->it.u);
  return status;
}

static void solve_unmeasured(gmg_solver *s, const void *f, void *u)
{
  gmg_progress p = {.f = f, .it = {.u = u}};
  (void)solve(s, &p);
}

/* Where nobody measures nothing is decided on the way: a solve of few cycles is replayed as a whole. */
static gmg_status replay_or_solve(gmg_solver *s, gmg_progress *p)
{
  enum { MOST_CYCLES_IN_RECORDING = 32 };
  if (s->params.check_every > 0 || s->params.max_cycles > MOST_CYCLES_IN_RECORDING) return solve(s, p);
  gmg_replay(s, solve_unmeasured, p->f, p->it.u);
  p->mean_removed = NAN;
  p->cycles = s->params.max_cycles;
  return GMG_OK;
}

static void start_clock(gmg_solver *s)
{
  for (int l = 0; l < s->levels; l++) s->clock.seconds[l] = 0;
  s->clock.runs = 1;
  gmg_charge(s, 0);
}

static void stop_clock(gmg_solver *s)
{
  gmg_charge(s, -1);
  s->clock.runs = 0;
  s->exec.trace->settle(s->context, &s->clock);
  for (int l = 0; l < s->levels; l++) s->report[l].seconds = s->clock.seconds[l];
}

gmg_status gmg_solve(gmg_solver *s, const void *f, void *u, gmg_report *report)
{
  if (!s) return GMG_ERR_ARGUMENT;
  if (!f || !u) return gmg_fail(s->context, GMG_ERR_ARGUMENT, "%s is NULL", f ? "u" : "f");
  if (gmg_overlap(s, f, u))
    return gmg_fail(s->context, GMG_ERR_ARGUMENT, "u = %p overlaps f = %p", u, f);
  GMG_TRY(gmg_check_fresh(s));
  GMG_VISIT(s->context);

  gmg_progress p = {.f = f, .it = {.u = u}, .true_before = INFINITY};
  const double begin = s->exec.memory->now(s->context);
  const gmg_cycle_kind cycle = s->params.cycle;
  s->context->error[0] = 0;
  start_clock(s);
  gmg_status status = replay_or_solve(s, &p);
  stop_clock(s);
  s->params.cycle = cycle;
  status = gmg_and_health(s, status);
  if (report) gmg_fill_report(s, &p, status, s->exec.memory->now(s->context) - begin, report);
  return status;
}
