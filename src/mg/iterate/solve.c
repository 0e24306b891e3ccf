/* gmg_solve(): cycles until the residual is small, stops falling at the rounding floor, grows, or time is up. */
#include "mg/solver.h"

#include <math.h>

/* What a solve knows while it runs. */
typedef struct {
  gmg_iteration it;
  const void *f;     /* the caller's */
  double f_norm, target, floor;
  double true_before; /* accelerated: the true residual when the recursion last met the target */
  double mean_removed;
  int cycles, measured; /* history has `measured` entries */
  int ahead;            /* and that many more, of cycles that are done and were not looked at */
  gmg_graph *recorded;  /* a cycle, or NULL */
} progress;

static const double GROWTH = 1e3;     /* more than that is divergence */
static const double CG_GROWTH = 1e8;  /* which makes the error fall, not the residual */
static const double SLOW = 0.5;       /* a cycle that reduces less is looked at */
static const double HARDLY = 0.98;    /* and this is not falling at all */
static const double DRIFT = 2;        /* a recursion that far from the truth starts anew */
static const double NEAR_FLOOR = 8;   /* within that of eps ||A|| ||u|| the floor is reached */

/* Where the blow-up began: one watched cycle that leaves the caller's iterate alone. */
static gmg_status diverged(gmg_solver *s, progress *p)
{
  p->it.f = p->f; /* the effective one makes room */
  gmg_iteration_watched(s, &p->it);
  const double now = s->history[p->measured - 1];
  if (s->watch.level < 0)
    return gmg_fail(s->context, GMG_DIVERGED,
                    "residual %g after %d cycles, %g at the start; the smoother makes it grow on no level, so look at the "
                    "coarsest grid (level %d), the acceleration and the data", now, p->cycles, s->history[0], s->levels - 1);
  const gmg_level *L = &s->level[s->watch.level];
  return gmg_fail(s->context, GMG_DIVERGED,
                  "residual %g after %d cycles, %g at the start; the smoother \"%s\" first made it grow on level %d "
                  "(%zu x %zu x %zu)",
                  now, p->cycles, s->history[0], s->params.smoother->name, s->watch.level, L->A.n[0], L->A.n[1], L->A.n[2]);
}

static double now_residual(const gmg_solver *s, const progress *p) { return s->history[p->measured - 1]; }

/* Slower than half, and either not falling at all or much slower than the cycle before. A smoother that is slow from the
   start keeps its pace and is left alone. */
static int stopped_falling(const gmg_solver *s, const progress *p)
{
  if (p->measured < 2) return 0;
  const double *h = s->history + p->measured - 1;
  const double pace = h[0] / h[-1], before = p->measured > 2 ? h[-1] / h[-2] : 0;
  return pace > HARDLY || (pace > SLOW && pace > (1 + before) / 2);
}

static gmg_status stagnated(gmg_solver *s, const progress *p)
{
  return gmg_fail(s->context, GMG_STAGNATED,
                  "residual %g stopped falling at the rounding floor, about eps ||A|| ||u|| = %g, above the target %g",
                  now_residual(s, p), p->floor, p->target);
}

/* An acceleration knows its residual by recursion, which rounding takes away from the truth. Where it meets the target,
   hardly falls or falls below what rounding leaves of f the truth is looked up; where they differ the recursion starts anew from the
   truth. A truth that stays where it was the last time is at the floor. */
static int at_the_floor(gmg_solver *s, progress *p)
{
  const double recursion = now_residual(s, p), truth = gmg_true_residual(s, &p->it);
  s->history[p->measured - 1] = truth;
  if (truth <= p->target || (truth < DRIFT * recursion && recursion > p->target)) return 0;
  p->floor = gmg_floor_of(s, p->it.u);
  if (truth <= NEAR_FLOOR * p->floor && truth > p->true_before / 2) return 1;
  p->true_before = truth;
  if (s->singular) gmg_remove_mean(&s->exec, &s->top->A, s->top->volume, p->it.u);
  gmg_iteration_start(s, &p->it);
  return 0;
}

/* GMG_OK while the solve should go on is told apart by *done. */
static gmg_status judge(gmg_solver *s, progress *p, int *done)
{
  const double r = now_residual(s, p);
  *done = 1;
  const double growth = s->params.accel == GMG_ACCEL_NONE ? GROWTH : CG_GROWTH;
  if (!isfinite(r) || r > growth * fmax(s->history[0], p->f_norm)) return diverged(s, p);
  if (s->params.accel != GMG_ACCEL_NONE) {
    const double doubtful = fmax(p->target, gmg_type_traits_of(s->problem.type)->epsilon * p->f_norm);
    if ((r <= doubtful || stopped_falling(s, p)) && at_the_floor(s, p)) return stagnated(s, p);
  } else if (r > p->target && stopped_falling(s, p)) {
    p->floor = gmg_floor_of(s, p->it.u);
    if (r <= NEAR_FLOOR * p->floor) return stagnated(s, p);
  }
  *done = now_residual(s, p) <= p->target;
  return GMG_OK;
}

static int monitor_stops(const gmg_solver *s, const progress *p)
{
  return s->params.monitor && s->params.monitor(s->params.monitor_data, p->cycles, now_residual(s, p), p->target) != 0;
}

static void measure(gmg_solver *s, progress *p, double residual) { s->history[p->measured++] = residual; }

static void next_cycle(gmg_solver *s, progress *p)
{
  if (p->cycles++ == 0 && s->params.fmg > 0) {
    gmg_fmg(s, p->f, &p->it);
  } else {
    gmg_iterate(s, &p->it);
  }
  gmg_charge(s, 0);
}

static gmg_status bad_guess(gmg_solver *s, double norm)
{
  return gmg_fail(s->context, GMG_ERR_ARGUMENT,
                  "u (the guess) holds NaN or infinity, or is too large: the norm of u or of its residual is %g", norm);
}

/* One pass for ||f|| and the first residual. */
static int at_once(const gmg_solver *s) { return s->params.fmg == 0 && !s->singular && s->params.accel == GMG_ACCEL_NONE; }

/* That; a recorded cycle goes on from there. */
static double first_residual(gmg_solver *s, progress *p)
{
  const gmg_params *q = &s->params;
  p->recorded = gmg_iteration_recorded(s, &p->it);
  if (!p->recorded || !gmg_starts_by_itself(s)) return gmg_iteration_residual(s, &p->it, &p->f_norm);
  gmg_outlook outlook = {.starts = 1, .rtol = q->rtol, .atol = q->atol, .slow = SLOW, .hardly = HARDLY, .most = q->max_cycles};
  p->ahead = gmg_run_ahead(s, &p->it, p->recorded, &outlook, s->history + 1);
  p->f_norm = outlook.f_norm;
  return outlook.norm;
}

/* The start: norms, target, the guess. */
static gmg_status begin(gmg_solver *s, progress *p)
{
  const int with_fmg = s->params.fmg > 0;
  const gmg_level *L = s->top;
  const int measured = s->params.check_every > 0;
  if (!measured) p->mean_removed = NAN, p->it.unseen = 1;
  p->it.f = gmg_effective_rhs(s, p->f, measured ? &p->mean_removed : NULL);
  const int both = measured && at_once(s);
  double first = 0;
  if (both) first = first_residual(s, p);
  else if (measured) p->f_norm = s->vector->norm2(&s->exec, L->A.cells, p->it.f);
  if (!isfinite(p->f_norm))
    return gmg_fail(s->context, GMG_ERR_ARGUMENT,
                    "f%s holds NaN or infinity or overflows its norm (%g)", s->has_values ? " with its boundary values" : "",
                    p->f_norm);
  if (with_fmg) gmg_iteration_expect(&p->it, p->f_norm);
  if (s->singular && !with_fmg) {
    const double u_norm = measured ? s->vector->norm2(&s->exec, L->A.cells, p->it.u) : 0;
    if (!isfinite(u_norm)) return bad_guess(s, u_norm); /* u is left as it was */
    gmg_remove_mean(&s->exec, &L->A, L->volume, p->it.u);
  }
  if (!with_fmg && !both) gmg_iteration_start(s, &p->it);
  if (!measured) return GMG_OK;
  measure(s, p, both ? first : with_fmg ? p->f_norm : gmg_iteration_residual(s, &p->it, NULL));
  if (!isfinite(s->history[0])) return bad_guess(s, s->history[0]);
  p->target = fmax(s->params.rtol * (p->f_norm > 0 ? p->f_norm : s->history[0]), s->params.atol);
  return GMG_OK;
}

static gmg_status run_unmeasured(gmg_solver *s, progress *p)
{
  while (p->cycles < s->params.max_cycles) next_cycle(s, p);
  return GMG_OK;
}

/* Where the cycle was left to gmg and F cycles turn out slow (a coarse grid that corrects too much does so more often in them),
   the rest is done by V cycles. */
static void reconsider_cycle(gmg_solver *s, progress *p)
{
  enum { PATIENCE = 12 };
  const int n = p->measured;
  if (!s->free_cycle || s->params.cycle == GMG_CYCLE_V || p->cycles < PATIENCE || n < 7) return;
  if (s->history[n - 1] < pow(SLOW, 6) * s->history[n - 7] || now_residual(s, p) <= p->target) return;
  s->params.cycle = GMG_CYCLE_V;
  gmg_iteration_start(s, &p->it);
}

/* A full multigrid start that is worse than u = 0 (layers that no grid resolves, strong stretch) is no use. */
static void forget_bad_start(gmg_solver *s, progress *p)
{
  if (now_residual(s, p) <= s->history[0]) return;
  s->vector->fill(&s->exec, s->top->A.cells, 0, p->it.u);
  gmg_iteration_start(s, &p->it);
  s->history[p->measured - 1] = s->history[0];
}

static int more_ahead(gmg_solver *s, progress *p)
{
  if (!p->recorded || (p->cycles == 0 && s->params.fmg > 0)) return 0;
  const double *h = s->history + p->measured - 1;
  gmg_outlook outlook = {.target = p->target, .norm = h[0], .pace = p->measured > 1 ? h[0] / h[-1] : 0, .slow = SLOW, .hardly = HARDLY,
                         .most = s->params.monitor ? 1 : s->params.max_cycles - p->cycles};
  return gmg_run_ahead(s, &p->it, p->recorded, &outlook, s->history + p->measured);
}

/* Cycles while all that judge() would say of them is to go on; 0: they are for next_cycle(). */
static int run_ahead(gmg_solver *s, progress *p)
{
  const int cycles = p->ahead > 0 ? p->ahead : more_ahead(s, p);
  p->ahead = 0;
  p->cycles += cycles, p->measured += cycles;
  return cycles;
}

static gmg_status run(gmg_solver *s, progress *p)
{
  const double start = s->history[0];
  if (monitor_stops(s, p)) return gmg_fail(s->context, GMG_NOT_CONVERGED, "stopped by params.monitor before the first cycle");
  if (start <= p->target && (s->params.fmg == 0 || start == 0)) {
    if (s->params.fmg > 0) s->vector->fill(&s->exec, s->top->A.cells, 0, p->it.u); /* f = 0: the guess is not used */
    return GMG_OK;
  }
  if (!at_once(s)) p->recorded = gmg_iteration_recorded(s, &p->it);
  while (p->cycles < s->params.max_cycles) {
    if (!run_ahead(s, p)) {
      p->it.unseen = (p->cycles + 1) % s->params.check_every != 0 && p->cycles + 1 < s->params.max_cycles;
      next_cycle(s, p);
      if (p->it.unseen) continue;
      measure(s, p, gmg_iteration_residual(s, &p->it, NULL));
      if (p->cycles == 1 && s->params.fmg > 0) forget_bad_start(s, p);
    }
    int done;
    const gmg_status status = judge(s, p, &done);
    const int stop = monitor_stops(s, p);
    if (!done) reconsider_cycle(s, p);
    if (done) return status;
    if (stop) return gmg_fail(s->context, GMG_NOT_CONVERGED, "stopped by params.monitor after cycle %d", p->cycles);
  }
  return gmg_fail(s->context, GMG_NOT_CONVERGED, "residual %g after params.max_cycles = %d cycles, target %g",
                  now_residual(s, p), s->params.max_cycles, p->target);
}

/* Geometric mean over the last five cycles at most; a full multigrid start counts only if it is all there is. */
static double mean_factor(const gmg_solver *s, const progress *p)
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

static void fill_report(const gmg_solver *s, const progress *p, gmg_status status, double seconds, gmg_report *r)
{
  const unsigned traits = gmg_smoother_traits(&s->params, s->exec.threads);
  *r = (gmg_report){.status = status,
                    .cycles = p->cycles,
                    .residual0 = p->measured > 0 ? s->history[0] : NAN,
                    .residual = p->measured > 0 ? s->history[p->measured - 1] : NAN,
                    .factor = p->measured > 0 ? mean_factor(s, p) : NAN,
                    .target = p->target,
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

/* All of it but what says how it went. */
static gmg_status do_solve(gmg_solver *s, progress *p)
{
  gmg_status status = begin(s, p);
  if (status != GMG_OK) return status;
  status = s->params.check_every == 0 ? run_unmeasured(s, p) : run(s, p);
  if (s->singular) gmg_remove_mean(&s->exec, &s->top->A, s->top->volume, p->it.u);
  return status;
}

static void solve_unmeasured(gmg_solver *s, const void *f, void *u)
{
  progress p = {.f = f, .it = {.u = u}};
  (void)do_solve(s, &p);
}

/* Where nobody measures nothing is decided on the way: a solve of few cycles is replayed as a whole. */
static gmg_status replay_or_do(gmg_solver *s, progress *p)
{
  enum { FEW = 32 };
  if (s->params.check_every > 0 || s->params.max_cycles > FEW) return do_solve(s, p);
  gmg_do(s, GMG_RECORDED_SOLVE, p->f, p->it.u, solve_unmeasured);
  p->mean_removed = NAN, p->cycles = s->params.max_cycles;
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

  progress p = {.f = f, .it = {.u = u}, .true_before = INFINITY};
  const double start = s->exec.memory->now(s->context);
  s->context->error[0] = 0;
  start_clock(s);
  const gmg_cycle_kind cycle = s->params.cycle;
  gmg_status status = replay_or_do(s, &p);
  stop_clock(s);
  s->params.cycle = cycle;
  status = gmg_and_health(s, status);
  if (report) fill_report(s, &p, status, s->exec.memory->now(s->context) - start, report);
  return status;
}
