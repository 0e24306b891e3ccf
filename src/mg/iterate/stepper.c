/* The steps of a solve: cycles, and the residuals after them. One stepper enqueues each cycle and waits for its residual. The other
   replays a recorded loop, in which the device applies the stopping rule. In both cases the host then judges every residual by the
   same rule (core/stopping.h). Called by solve. */
#include "iterate.h"

#include <math.h>

static void note_residual(gmg_solver *s, gmg_progress *p, double norm)
{
  p->before = p->state;
  p->verdict = p->measured ? gmg_judge_next(&p->rule, &p->state, norm)
                           : gmg_judge_first(&p->rule, &p->state, norm, p->state.f_norm);
  s->history[p->measured++] = norm;
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

void gmg_one_cycle(gmg_solver *s, gmg_progress *p)
{
  p->it.keeps_mean = gmg_keeps_mean(&p->state);
  if (p->cycles++ == 0 && s->params.fmg > 0) full_multigrid(s, p->f, &p->it);
  else s->method->cycle(s, &p->it);
  gmg_start_timer(s, 0);
}

static void step_and_wait(gmg_solver *s, gmg_progress *p)
{
  do {
    const int next = p->cycles + 1;
    p->it.wait = next % s->params.check_every == 0 || next >= s->params.max_cycles ? GMG_WAIT : GMG_ENQUEUE;
    gmg_one_cycle(s, p);
  } while (!p->it.wait);
  note_residual(s, p, s->method->residual(s, &p->it, NULL));
}

/* --- by a recorded loop -------------------------------------------------------------------------------------------------- */

/* The recorded loop of this solve, or NULL. It requires that every residual is measured, and that the cycle does not change. */
static gmg_graph *recorded_loop(gmg_solver *s, const gmg_progress *p)
{
  const gmg_params *q = &s->params;
  const int cycle_may_change = s->cycle_is_auto && q->cycle != GMG_CYCLE_V;
  if (!s->method->loop || q->check_every != 1 || cycle_may_change) return NULL;
  return gmg_recorded(s, s->method->loop, p->it.f, p->it.u, 1);
}

/* Runs the recorded loop, and judges its residuals. There may be none, if the device has failed. */
static void step_by_loop(gmg_solver *s, gmg_progress *p, int with_first)
{
  gmg_loop loop = {.rule = p->rule, .state = p->state, .measures_first = with_first};
  double *norms = s->history + p->measured + with_first;
  loop.max_cycles = s->params.monitor ? 1 : s->params.max_cycles - p->cycles;
  GMG_AT_LEVEL(s, 0, "cycles");
  if (s->method->loop_begin) s->method->loop_begin(s, &p->it, &loop);
  const int cycles = s->exec.graph->run_loop(s->context, p->loop, &loop, norms);
  s->method->loop_end(s, &p->it, &loop, norms, cycles);
  if (with_first) {
    p->state.f_norm = loop.state.f_norm;
    note_residual(s, p, loop.state.first);
  }
  for (int i = 0; i < cycles; i++) note_residual(s, p, norms[i]);
  p->cycles += cycles;
}

/* --- both steppers ------------------------------------------------------------------------------------------------------- */

/* Measures the first residual. A full multigrid start replaces the guess, and the residual of u = 0 is f. */
static void measure_first(gmg_solver *s, gmg_progress *p)
{
  double *f_norm = isnan(p->state.f_norm) ? &p->state.f_norm : NULL;
  const double norm = s->params.fmg > 0 ? p->state.f_norm : s->method->residual(s, &p->it, f_norm);
  note_residual(s, p, norm);
}

void gmg_step(gmg_solver *s, gmg_progress *p)
{
  const int before = p->measured, is_first = before == 0, is_start = p->cycles == 0 && s->params.fmg > 0;
  if (is_first) p->loop = recorded_loop(s, p);
  if (p->loop && (is_first ? gmg_loop_measures_first(s) : !is_start)) step_by_loop(s, p, is_first);
  if (p->measured > before) return;
  if (is_first) measure_first(s, p);
  else step_and_wait(s, p);
}
