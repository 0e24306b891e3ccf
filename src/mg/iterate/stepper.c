/* The steps of a solve: cycles, and the residuals after them. One stepper enqueues each cycle and waits for its residual. The other
   replays a recorded loop, in which the device applies the stopping rule. In both cases the host then judges every residual by the
   same rule (core/stopping.h). Called by solve. */
#include "iterate.h"

#include <math.h>

/* The residual after p->cycles cycles, of which the last `since` were run since the residual before it. */
static void note_residual(gmg_solver *s, gmg_progress *p, int since, double norm)
{
  p->before = p->state;
  p->verdict = p->measured ? gmg_judge_next(&p->rule, &p->state, norm)
                           : gmg_judge_first(&p->rule, &p->state, norm, p->state.f_norm);
  p->measured++;
  p->since = since;
  for (int back = 1; back < since; back++) s->history[p->cycles - back] = NAN;
  s->history[p->cycles] = norm;
}

/* --- by the host --------------------------------------------------------------------------------------------------------- */

/* A full multigrid start. With one level the coarse solver alone computes u. */
static gmg_correction approximate(gmg_solver *s, const void *f, const void *f_eff, void *u)
{
  if (s->levels > 1) return gmg_fmg_approximate(s, f, f_eff, u);
  s->corrections->apply(s, gmg_packed_rhs(s, f_eff), u);
  return (gmg_correction){.z = NULL};
}

static void whole_start(gmg_solver *s, const void *f, void *u)
{
  gmg_add_correction(s, approximate(s, f, gmg_current_rhs(s, f), u), u);
}

/* Computes a full multigrid start in u (cycle/fmg.c), and starts the iteration there. f: from the caller. If the start is not
   replayed and its residual is measured, the last correction is added in the same pass that computes the residual. */
static void full_multigrid(gmg_solver *s, const void *f, gmg_iteration *it)
{
  if (!gmg_is_replayed(s, whole_start, f, it->u)) {
    const gmg_correction c = approximate(s, f, it->f, it->u);
    if (s->method->start_from && s->levels > 1 && it->wait) {
      s->method->start_from(s, it, c);
      return;
    }
    gmg_add_correction(s, c, it->u);
  }
  s->method->start(s, it);
}

static int is_start(const gmg_solver *s, const gmg_progress *p) { return p->cycles == 0 && s->params.fmg > 0; }

void gmg_run_cycles(gmg_solver *s, gmg_progress *p, int count)
{
  p->it.keeps_mean = gmg_keeps_mean(&p->state);
  p->has_no_mean = 0;
  if (is_start(s, p)) full_multigrid(s, p->f, &p->it);
  else s->method->cycle(s, &p->it, count);
  p->cycles += count;
  gmg_start_timer(s, 0);
}

/* --- how many cycles between residuals ----------------------------------------------------------------------------------- */

/* Rates of cycles. The first ones are faster. In a solve of 1024^2 cells they have the rates 0.007, 0.007, 0.008, 0.009, 0.009; in
   one of 128^3 cells on a device 0.006, 0.009, 0.010, 0.012, 0.013. */
static const double FIRST_RATE = 0.009; /* mean of the first ones */
static const double LATE_RATE = 0.02;   /* of a later one, at best */
static const double GROWTH = 1.6;       /* of the rate from two cycles to the next two, at most up to LATE_RATE: 1.5 to 1.9 */
static const double SMOOTH_RATE = 0.05; /* of the smooth error in one of the first cycles, at worst */
static const double LATE_SMOOTH_RATE = 0.03; /* and in a later one */

/* The number of cycles that low precision resolves, at most `most`. The last one begins well above the rounding. With every cycle
   the margin grows, because the residual falls faster than the smooth error, on which rounding depends. */
static int resolved_cycles(double rate, double rounding, int most)
{
  static const double MARGIN = 4;
  int count = 1;
  for (double reduced = rate / MARGIN; count < most && reduced > rounding; reduced *= rate / MARGIN) count++;
  return count;
}

/* The maximum number of cycles without a residual of the problem between them. A coarse solver alone always starts from zero. */
static int cycles_at_once(const gmg_solver *s, const gmg_progress *p)
{
  const int most = s->method->cycles_at_once;
  if (s->levels_in_all == 1 || is_start(s, p)) return 1;
  const int is_limited = s->method->sums_in_low_precision && !s->checks_are_auto;
  return is_limited ? resolved_cycles(LATE_RATE, gmg_low_floor(s, &s->finest->A), most) : most;
}

/* How many cycles will meet the target, if they reduce the residual like the last ones; fewer if rounding would spoil them. */
static int cycles_to_target(const gmg_solver *s, const gmg_progress *p)
{
  const int knows_rate = p->cycles > (s->params.fmg > 0);
  const double seen = knows_rate ? pow(p->state.rate, 1.0 / p->since) : 0;
  const double rate = knows_rate ? fmax(fmin(seen, 1), fmin(GROWTH * seen, LATE_RATE)) : FIRST_RATE;
  const int most = resolved_cycles(knows_rate ? fmin(rate, LATE_RATE) : LATE_RATE, p->rounding, s->params.check_every);
  int count = 1;
  for (double left = rate * p->state.norm; count < most && left > p->state.target; left *= rate) count++;
  return count;
}

/* Estimates p->rounding before the cycles after the last residual. Rounding errors are proportional to the correction, and a smooth
   correction is large beside its residual. Before the first cycle it may be smooth. The first correction on level 1 shows how large
   it was. Later ones follow from the rates. */
static void estimate_rounding(gmg_solver *s, gmg_progress *p)
{
  const gmg_operator *A = &s->finest->A;
  const gmg_solver *coarse = s->levels > 1 ? s : s->whole;
  const gmg_level *C = &coarse->level[1];
  if (p->measured == 1) p->rounding = gmg_low_floor(s, A);
  if (p->cycles == 0 || p->state.rate == 0) return;
  if (p->measured == 2) {
    const double finer = (double)gmg_cells_of_all(A) / (double)gmg_cells_of_all(&C->A);
    const double u = gmg_field_norm2(coarse->levels_exec, &C->A, C->u) * sqrt(finer);
    p->rounding = fmin(p->rounding, gmg_low_floor_of(s, A, u / p->it.corrected_norm / pow(SMOOTH_RATE, p->since - 1)));
  }
  p->rounding *= pow(p->measured == 2 ? SMOOTH_RATE : LATE_SMOOTH_RATE, p->since) / p->state.rate;
}

/* The number of cycles until the next residual that is measured. */
static int cycles_to_measure(gmg_solver *s, gmg_progress *p)
{
  const int every = s->params.check_every, left = s->params.max_cycles - p->cycles;
  int wanted = every - p->cycles % every;
  if (s->checks_are_auto && every > 1 && s->levels_in_all > 1) {
    if (s->method->sums_in_low_precision) estimate_rounding(s, p);
    wanted = is_start(s, p) ? 1 : cycles_to_target(s, p);
  }
  return wanted < left ? wanted : left;
}

static void step_and_wait(gmg_solver *s, gmg_progress *p)
{
  const int wanted = cycles_to_measure(s, p);
  for (int done = 0, count; done < wanted; done += count) {
    const int most = cycles_at_once(s, p), left = wanted - done;
    count = most < left ? most : left;
    p->it.wait = count == left ? GMG_WAIT : GMG_ENQUEUE;
    gmg_run_cycles(s, p, count);
  }
  note_residual(s, p, wanted, s->method->residual(s, &p->it, NULL));
}

/* --- by a recorded loop -------------------------------------------------------------------------------------------------- */

/* A loop is recorded if every residual is measured, and the cycle does not change. In several processes a norm that comes from a
   recursion includes ghosts (gmg_without_ghosts()). */
gmg_graph *gmg_recorded_loop(gmg_solver *s, const void *f, void *u)
{
  const gmg_params *q = &s->params;
  const int cycle_may_change = q->cycle != s->slow_cycle, has_ghosts = s->parts && s->method->norm_is_recursive;
  if (!s->method->loop || has_ghosts || q->check_every != 1 || cycle_may_change) return NULL;
  return gmg_recorded(s, s->method->loop, f, u, 1);
}

/* Whether f is constant, so that without its mean it is rounding alone. Then the host begins the solve again, from the same u. */
static int is_constant(const gmg_solver *s, gmg_progress *p, gmg_deviation taken)
{
  const int is = gmg_is_rest_rounding(taken.norm, taken.mean, gmg_rounding_of_mean(s));
  if (is) p->has_no_mean = 1;
  else p->mean_removed = taken.mean, p->state.f_norm = taken.norm;
  return is;
}

/* Runs the recorded loop, and judges its residuals. There may be none, if the device has failed or the loop takes the mean of a
   constant f. If the loop meets the target, it leaves u without a mean. */
static void step_by_loop(gmg_solver *s, gmg_progress *p, int with_first, int takes_mean)
{
  gmg_loop loop = {.rule = p->rule, .state = p->state, .measures_first = with_first, .takes_mean = takes_mean};
  double *norms = s->history + p->cycles + 1;
  loop.max_cycles = s->params.monitor ? 1 : s->params.max_cycles - p->cycles;
  loop.rounding = gmg_rounding_of_mean(s);
  GMG_AT_LEVEL(s, 0, "cycles");
  if (s->method->loop_begin) s->method->loop_begin(s, &p->it, &loop);
  s->exec.graph->run_loop(s->context, p->loop, &loop);
  /* where the norm comes from a recursion, the host may go on from u as it is */
  const int removes_mean = gmg_can_take_means(s) && !s->method->norm_is_recursive;
  if (removes_mean) s->grid->loop_remove_mean(&s->exec, &s->finest->A, s->finest->volume, p->it.u);
  const int cycles = s->exec.graph->end_loop(s->context, &loop, norms);
  if (takes_mean && is_constant(s, p, (gmg_deviation){loop.mean, loop.state.f_norm})) return;
  p->has_no_mean = removes_mean && loop.has_converged;
  s->method->loop_end(s, &p->it, &loop, norms, cycles);
  if (with_first) {
    p->state.f_norm = loop.state.f_norm;
    note_residual(s, p, 0, loop.state.first);
  }
  for (int i = 0; i < cycles; i++) {
    p->cycles++;
    note_residual(s, p, 1, norms[i]);
  }
}

/* --- both steppers ------------------------------------------------------------------------------------------------------- */

/* Measures the first residual. A full multigrid start replaces the guess, and the residual of u = 0 is f. */
static void measure_first(gmg_solver *s, gmg_progress *p)
{
  double *f_norm = isnan(p->state.f_norm) ? &p->state.f_norm : NULL;
  const double norm = s->params.fmg > 0 ? p->state.f_norm : s->method->residual(s, &p->it, f_norm);
  note_residual(s, p, 0, norm);
}

static int can_loop(gmg_solver *s, const gmg_progress *p, int is_first)
{
  if (!p->loop || (s->singular && !gmg_keeps_mean(&p->state))) return 0;
  if (s->method->can_loop) return s->method->can_loop(s, &p->it);
  return is_first ? gmg_loop_measures_first(s) : !is_start(s, p);
}

int gmg_begin_at_once(gmg_solver *s, gmg_progress *p)
{
  const gmg_params *q = &s->params;
  if (!gmg_can_take_means(s) || q->check_every <= 0 || q->fmg > 0 || s->method->norm_is_recursive) return 0;
  p->it.f = gmg_rhs_of_means(s, p->f);
  p->loop = gmg_recorded_loop(s, p->it.f, p->it.u);
  gmg_take_means(s, p->f, p->it.u);
  s->method->start(s, &p->it);
  if (can_loop(s, p, 1)) step_by_loop(s, p, 1, 1);
  else {
    double f_norm;
    const double norm = s->method->residual(s, &p->it, s->f_keeps_mean ? &f_norm : NULL);
    gmg_deviation taken = s->grid->means_taken(&s->exec);
    if (s->f_keeps_mean) taken.norm = f_norm;
    if (!is_constant(s, p, taken)) note_residual(s, p, 0, norm);
  }
  return p->measured > 0;
}

void gmg_step(gmg_solver *s, gmg_progress *p)
{
  const int before = p->measured, is_first = before == 0;
  if (can_loop(s, p, is_first)) step_by_loop(s, p, is_first, 0);
  if (p->measured > before) return;
  if (is_first) measure_first(s, p);
  else step_and_wait(s, p);
}
