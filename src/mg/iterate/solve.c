/* gmg_solve(): runs cycles until the residual is small, stops falling at the rounding floor, grows, or max_cycles is reached.
   stepper.c runs the cycles. Called through the API. */
#include "iterate.h"
#include "mg/parts/parts.h"

#include <math.h>
#include <omp.h>

static const double MAX_GROWTH = 1e3;    /* a residual that grows by more has diverged */
static const double MAX_GROWTH_CG = 1e8; /* conjugate gradients reduce the error in every step, not the residual */
static const double RATE_SLOW = 0.5;     /* a cycle that reduces less is slow */
static const double RATE_STALLED = 0.98; /* a cycle that reduces less has stalled */
static const double MAX_DRIFT = 2;       /* if true residual / recursive residual is larger, the recursion restarts */
static const double NEAR_FLOOR = 8;      /* the floor is reached within this factor of gmg_floor_of() */

/* --- how a solve ends ---------------------------------------------------------------------------------------------------- */

/* Runs one watched cycle to find the level of the divergence. The caller's iterate is unchanged, because the cycle works on a copy
   or computes a correction (begin_watch()). */
static gmg_status diverged(gmg_solver *s, gmg_progress *p)
{
  const void *f;
  void *u;
  p->it.f = p->f;
  s->corrections->begin_watch(s, &p->it, isfinite(gmg_norm_of_array(s, s->layouts.u, p->it.u)), &f, &u);
  const gmg_watch seen = gmg_watched_cycle(&s->mg, f, u, s->params.cycle);
  if (seen.level < 0)
    return gmg_fail(s->context, GMG_DIVERGED,
                    "residual %g after %d cycles, %g at the start; the smoother makes it grow on no level, so look at the "
                    "coarsest grid (level %d), the acceleration and the data", gmg_residual_now(p), p->cycles, s->history[0],
                    s->levels - 1);
  const gmg_level *L = &s->level[seen.level];
  return gmg_fail(s->context, GMG_DIVERGED,
                  "residual %g after %d cycles, %g at the start; the smoother \"%s\" makes it grow most on level %d "
                  "(%zu x %zu x %zu)",
                  gmg_residual_now(p), p->cycles, s->history[0], gmg_display_name(s->params.smoother), seen.level, L->A.n[0],
                  L->A.n[1], L->A.n[2]);
}

static gmg_status stagnated(gmg_solver *s, const gmg_progress *p)
{
  return gmg_fail(s->context, GMG_STAGNATED,
                  "residual %g stopped falling at the rounding floor, about eps ||A|| ||u|| = %g, above the target %g",
                  gmg_residual_now(p), p->floor, p->state.target);
}

/* --- judging a residual ---------------------------------------------------------------------------------------------------- */

/* Judges the last residual again, with a corrected norm. */
static void judge_again(gmg_solver *s, gmg_progress *p, double norm)
{
  s->history[p->cycles] = norm;
  p->state = p->before;
  p->verdict = gmg_judge_next(&p->rule, &p->state, norm);
}

/* Conjugate gradients update the residual by recursion, and rounding makes it drift from the true one. The true residual is
   computed if the recursive one meets the target, stalls, or falls below the rounding of f. If they differ, the recursion restarts.
   If the true residual has stopped falling near the floor, it is at the floor. */
static int recursion_is_at_floor(gmg_solver *s, gmg_progress *p)
{
  const int met = p->verdict == GMG_VERDICT_CONVERGED;
  const double recursion = gmg_residual_now(p), truth = gmg_true_residual(s, &p->it, NULL);
  judge_again(s, p, truth);
  const int agree = !met && truth < MAX_DRIFT * recursion;
  if (p->verdict == GMG_VERDICT_CONVERGED || (agree && p->verdict != GMG_VERDICT_STALLED)) return 0;
  p->floor = gmg_floor_of(s, p->it.u);
  if (truth <= NEAR_FLOOR * p->floor && (agree || truth > p->true_before / 2)) return 1;
  if (agree) return 0;
  p->true_before = truth;
  gmg_project_u(s, p->it.u);
  s->method->start(s, &p->it);
  return 0;
}

static int is_at_floor(gmg_solver *s, gmg_progress *p)
{
  if (s->method->norm_is_recursive) {
    const double rounding = gmg_type_traits_of(s->problem.type)->epsilon * p->state.f_norm;
    const int doubtful = p->verdict != GMG_VERDICT_CONTINUE || gmg_residual_now(p) <= rounding;
    return doubtful && recursion_is_at_floor(s, p);
  }
  if (p->verdict != GMG_VERDICT_STALLED) return 0;
  p->floor = gmg_floor_of(s, p->it.u);
  return gmg_residual_now(p) <= NEAR_FLOOR * p->floor;
}

/* Other cycles finish a slow solve, if gmg chose them (choose_slow_cycle()). */
static void reconsider_cycle(gmg_solver *s, gmg_progress *p)
{
  enum { MIN_CYCLES = 12, MIN_SPAN = 6 };
  if (s->params.cycle == s->slow_cycle || p->cycles < MIN_CYCLES) return;
  const double *now = s->history + p->cycles;
  int span = MIN_SPAN;
  while (span < p->cycles && isnan(now[-span])) span++;
  if (!(now[0] >= pow(p->rule.rate_slow, span) * now[-span])) return;
  s->params.cycle = s->slow_cycle;
  s->method->start(s, &p->it);
}

/* Discards a full multigrid start that is worse than u = 0, as with layers that no grid resolves, or strong stretching. */
static void discard_bad_start(gmg_solver *s, gmg_progress *p)
{
  if (p->cycles != 1 || s->params.fmg == 0 || gmg_residual_now(p) <= s->history[0]) return;
  gmg_array_fill(&s->exec, s->layouts.u, 0, p->it.u);
  s->method->start(s, &p->it);
  judge_again(s, p, s->history[0]);
  if (p->verdict != GMG_VERDICT_CONVERGED) p->verdict = GMG_VERDICT_CONTINUE;
}

static int monitor_stops(const gmg_solver *s, const gmg_progress *p)
{
  return s->params.monitor && s->params.monitor(s->params.monitor_data, p->cycles, gmg_residual_now(p), p->state.target) != 0;
}

/* Whether the solve ends at its first residual, and with which status. A full multigrid start does not use the guess, so it ends
   there only if f = 0. */
static gmg_status judge_start(gmg_solver *s, gmg_progress *p, int *done)
{
  const int starts_from_zero = s->params.fmg > 0;
  *done = 1;
  if (!isfinite(p->state.f_norm)) return gmg_refuse_rhs(s, p->f, p->state.f_norm);
  if (!isfinite(p->state.first)) return gmg_refuse_guess(s, p->it.u, p->state.first);
  if (monitor_stops(s, p)) return gmg_fail(s->context, GMG_NOT_CONVERGED, "stopped by params.monitor before the first cycle");
  *done = p->cycles == 0 && p->verdict == GMG_VERDICT_CONVERGED && (!starts_from_zero || p->state.first == 0);
  if (*done && starts_from_zero) gmg_array_fill(&s->exec, s->layouts.u, 0, p->it.u);
  return GMG_OK;
}

/* Conjugate gradients minimise the energy of the error, not the residual. If coefficients jump by more than about 1 / eps^3, the
   rounding of the energy where they are small hides an error where they are large, and a step may increase the residual by many
   orders there. A recursion that starts from this residual sees the error. Goes on so while that makes the residual smaller. */
static int recovers(gmg_solver *s, gmg_progress *p)
{
  const double norm = gmg_residual_now(p);
  if (!s->method->minimises_energy || !(norm < p->blown_up / 2)) return 0;
  p->blown_up = norm;
  p->verdict = GMG_VERDICT_CONTINUE;
  gmg_project_u(s, p->it.u);
  s->method->start(s, &p->it);
  return 1;
}

/* Whether the solve ends after these cycles, and with which status. */
static gmg_status judge(gmg_solver *s, gmg_progress *p, int *done)
{
  gmg_status status = GMG_OK;
  *done = 1;
  discard_bad_start(s, p);
  if (p->verdict == GMG_VERDICT_DIVERGED && !recovers(s, p)) status = diverged(s, p);
  else if (is_at_floor(s, p)) status = stagnated(s, p);
  else *done = p->verdict == GMG_VERDICT_CONVERGED;
  const int stops = monitor_stops(s, p);
  if (*done) return status;
  *done = stops;
  if (stops) return gmg_fail(s->context, GMG_NOT_CONVERGED, "stopped by params.monitor after cycle %d", p->cycles);
  reconsider_cycle(s, p);
  return GMG_OK;
}

/* --- a solve ---------------------------------------------------------------------------------------------------------------- */

/* Whether ||f|| and the first residual are measured in one pass. */
static int in_one_pass(const gmg_solver *s) { return s->params.fmg == 0 && !s->singular && !s->method->norm_is_recursive; }

/* Prepares the right-hand side, the guess and the iteration. */
static gmg_status start(gmg_solver *s, gmg_progress *p)
{
  const gmg_params *q = &s->params;
  const int measured = q->check_every > 0;
  p->rule = (gmg_stopping){.rtol = q->rtol, .atol = q->atol, .growth = s->method->minimises_energy ? MAX_GROWTH_CG : MAX_GROWTH,
                           .rate_slow = RATE_SLOW, .rate_stalled = RATE_STALLED};
  p->it.wait = measured ? GMG_WAIT : GMG_ENQUEUE;
  if (!measured) p->mean_removed = NAN;
  p->state.f_norm = NAN;
  if (gmg_begin_at_once(s, p)) return GMG_OK;
  /* If gmg_begin_at_once() has recorded a loop and given up, f is constant: without its mean it is 0, which needs no loop. */
  p->loop = measured && !p->loop ? gmg_recorded_loop(s, gmg_current_rhs(s, p->f), p->it.u) : NULL;
  p->it.f = gmg_effective_rhs(s, p->f, measured ? &p->mean_removed : NULL, &p->state.f_norm);
  if (measured && !in_one_pass(s)) {
    double *f_norm = &p->state.f_norm;
    if (isnan(*f_norm)) *f_norm = gmg_norm_of_array(s, gmg_layout_of_rhs(s, p->it.f), p->it.f);
    if (!isfinite(*f_norm)) return gmg_refuse_rhs(s, p->f, *f_norm);
  }
  if (q->fmg > 0) return GMG_OK;
  if (!p->has_no_mean) gmg_project_u(s, p->it.u);
  p->has_no_mean = 0;
  s->method->start(s, &p->it);
  return GMG_OK;
}

/* What to set after a slow solve, for the end of the error text. */
static const char *advice(const gmg_solver *s, const gmg_progress *p)
{
  const int has_arrays = s->problem.beta || s->problem.beta_face[0] || s->problem.sigma;
  const int is_slow = gmg_residual_now(p) > pow(0.7, p->cycles) * p->state.first;
  if (!is_slow || !has_arrays || gmg_has_black_box(s)) return "";
  return "; if coefficients jump, params.coarsening = GMG_COARSENING_BLACK_BOX may help, if their strong direction changes, "
         "params.smoother = \"lines\"";
}

static gmg_status run(gmg_solver *s, gmg_progress *p)
{
  int done = 0;
  if (!p->measured) gmg_step(s, p);
  gmg_status status = judge_start(s, p, &done);
  if (!done && p->cycles > 0) status = judge(s, p, &done); /* a recorded loop continues after the first residual */
  while (!done && p->cycles < s->params.max_cycles) {
    gmg_step(s, p);
    status = judge(s, p, &done);
  }
  if (done) return status;
  if (s->params.max_cycles == 0)
    return gmg_fail(s->context, GMG_NOT_CONVERGED,
                    "residual %g of the guess, target %g: params.max_cycles = GMG_NONE allows no cycle", gmg_residual_now(p),
                    p->state.target);
  return gmg_fail(s->context, GMG_NOT_CONVERGED, "residual %g after params.max_cycles = %d cycles, target %g%s",
                  gmg_residual_now(p), s->params.max_cycles, p->state.target, advice(s, p));
}

static gmg_status solve(gmg_solver *s, gmg_progress *p)
{
  GMG_TRY(start(s, p));
  gmg_status status = GMG_OK;
  if (s->params.check_every > 0) status = run(s, p);
  else
    while (p->cycles < s->params.max_cycles) gmg_run_cycles(s, p, 1);
  if (!p->has_no_mean) gmg_project_u(s, p->it.u);
  return status;
}

static void solve_unmeasured(gmg_solver *s, const void *f, void *u)
{
  gmg_progress p = {.f = f, .it = {.u = u}};
  (void)solve(s, &p);
}

/* An unmeasured solve makes no decisions, so a solve of few cycles is replayed as a whole. */
static gmg_status replay_or_solve(gmg_solver *s, gmg_progress *p)
{
  enum { MAX_RECORDED_CYCLES = 32 };
  if (s->params.check_every > 0 || s->params.max_cycles > MAX_RECORDED_CYCLES) return solve(s, p);
  gmg_replay(s, solve_unmeasured, p->f, p->it.u);
  p->mean_removed = NAN;
  p->cycles = s->params.max_cycles;
  return GMG_OK;
}

static void start_clock(gmg_solver *s)
{
  for (int l = 0; l < s->levels; l++) s->clock.seconds[l] = 0;
  s->clock.runs = 1;
  gmg_start_timer(s, 0);
}

static void stop_clock(gmg_solver *s)
{
  gmg_start_timer(s, -1);
  s->clock.runs = 0;
  s->exec.trace->read_timers(s->context, &s->clock);
  for (int l = 0; l < s->levels; l++) s->report[l].seconds = s->clock.seconds[l];
}

/* Geometric mean over the last five cycles, or over as few more as lie between measured residuals. A full multigrid start counts
   only if there is no other measured residual. */
static double mean_factor(const gmg_solver *s, const gmg_progress *p)
{
  const double *h = s->history;
  const int last = p->cycles;
  int lowest = 0, first;
  if (s->params.fmg > 0) {
    lowest = 1;
    while (lowest < last && isnan(h[lowest])) lowest++;
    if (lowest == last) lowest = 0;
  }
  if (last == 0) return NAN;
  first = last - 5 > lowest ? last - 5 : lowest;
  while (first > lowest && isnan(h[first])) first--;
  if (!(h[first] > 0)) return 0;
  return pow(h[last] / h[first], 1.0 / (last - first));
}

static void fill_report(const gmg_solver *s, const gmg_progress *p, double seconds, gmg_report *r)
{
  const unsigned traits = gmg_smoother_traits(&s->params, s->exec.threads);
  *r = (gmg_report){.cycles = p->cycles,
                    .residual0 = p->measured > 0 ? s->history[0] : NAN,
                    .residual = p->measured > 0 ? s->history[p->cycles] : NAN,
                    .factor = p->measured > 0 ? mean_factor(s, p) : NAN,
                    .target = p->state.target,
                    .floor = p->floor,
                    .seconds = seconds,
                    .history = s->history,
                    .history_length = p->measured > 0 ? p->cycles + 1 : 0,
                    .level = s->report,
                    .levels = s->levels_in_all,
                    .singular = s->singular,
                    .mean_removed = p->mean_removed,
                    .direct = s->params.direct == GMG_DIRECT_ALWAYS,
                    .deterministic = s->params.direct == GMG_DIRECT_ALWAYS || (traits & GMG_SMOOTHER_DETERMINISTIC) != 0};
}

static gmg_status check_call(gmg_solver *s, const void *f, const void *u)
{
  if (!f || !u) return gmg_fail(s->context, GMG_ERR_ARGUMENT, "%s is NULL", f ? "u" : "f");
  if (gmg_overlap(s->problem.type, gmg_reach_of_f(&s->mine, f), gmg_reach_of_u(&s->mine, u)))
    return gmg_fail(s->context, GMG_ERR_ARGUMENT, "u = %p overlaps f = %p", u, f);
  return gmg_check_usable(s, "gmg_solve");
}

static gmg_status run_call(gmg_solver *s, const void *f, void *u, gmg_report *report)
{
  GMG_WITH_DEVICE(s->context);
  GMG_RUNNING(s, "gmg_solve");

  gmg_progress p = {.true_before = INFINITY, .blown_up = INFINITY};
  const double begin = omp_get_wtime();
  void *given_u = (void *)gmg_array_of_u(&s->mine, u).values;
  p.f = gmg_take_f(s, gmg_array_of_f(&s->mine, f).values);
  p.it.u = gmg_take_u(s, given_u);
  const gmg_cycle_kind cycle = s->params.cycle;
  s->context->error[0] = 0;
  start_clock(s);
  gmg_status status = replay_or_solve(s, &p);
  stop_clock(s);
  s->params.cycle = cycle;
  status = gmg_agree(s->context, gmg_status_or_failure(s, status));
  if (gmg_status_is_outcome(status)) gmg_give_u(s, p.it.u, given_u);
  if (gmg_status_is_outcome(status)) fill_report(s, &p, omp_get_wtime() - begin, report);
  return status;
}

gmg_status gmg_solve_sized(gmg_solver *s, const void *f, void *u, gmg_report *report, size_t size)
{
  /* the report of an error, whether a check or the solve finds it */
  gmg_report r = {.residual0 = NAN, .residual = NAN, .factor = NAN, .target = NAN, .mean_removed = NAN};
  gmg_status status = s ? gmg_agree(s->context, check_call(s, f, u)) : GMG_ERR_ARGUMENT;
  if (status == GMG_OK) status = run_call(s, f, u, &r);
  r.status = status;
  if (report) gmg_give_struct(&r, sizeof r, report, size);
  return status;
}
