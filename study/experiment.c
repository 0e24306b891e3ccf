/* See experiment.h. */
#include "experiment.h"
#include "gmg_cuda.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const method study_methods[] = {{"gauss_seidel", "default", "gauss_seidel", 1, 1, -1, -1, 0, 0, 0},
                                {"red_black", "default", "red_black", 0, 1, -1, -1, 0, 0, 0},
                                {"async-2011, rows", "async-2011", NULL, 0, 1, -1, -1, 1, 0, 0},
                                {"async-2011", "async-2011", NULL, 0, 1, -1, -1, 0, 1, 0},
                                {"async-2011, stale", "async-2011", NULL, 0, 1, -1, -1, 0, 1, 1},
                                {"async-2011, overlap 1", "async-2011", NULL, 0, 1, -1, 1, 0, 1, 0},
                                {"async-2011, damped", "async-2011", NULL, 0, DAMPED, -1, -1, 0, 1, 0},
                                {"async-2011, damped, overlap 1", "async-2011", NULL, 0, DAMPED, -1, 1, 0, 1, 0},
                                {"async-2011, red-black", "async-2011", NULL, 0, 1, GMG_LOCAL_RED_BLACK, -1, 0, 1, 0},
                                {"async-2011, red-black, overlap 1", "async-2011", NULL, 0, 1, GMG_LOCAL_RED_BLACK, 1, 0, 1, 0},
                                {"async-2011, in place", "async-2011", NULL, 1, 1, GMG_LOCAL_GAUSS_SEIDEL, -1, 0, 1, 0},
                                {"async", "default", NULL, 0, 0, -1, -1, 0, 0, 0},
                                {0}};

static const char *const start_name[STARTS] = {"random f", "f = 1", "random u"};

/* The paper's blocks of 512 unknowns as tiles. */
static const size_t tile[4][3] = {{0}, {512, 1, 1}, {32, 16, 1}, {8, 8, 8}};

const method *study_method_named(const char *name)
{
  const method *m = study_methods;
  while (m->name && strcmp(m->name, name)) m++;
  return m;
}

enum { MOST_CYCLES = 128 };
#define REACHED 1e-8 /* the mean reduction is that down to this residual, because below it rounding may matter */

/* The results of all runs. */
typedef struct result {
  gmg_plan_info plan;
  gmg_status status;
  char message[256];
  int deterministic, cycles;
  bench_samples history[MOST_CYCLES + 1]; /* ||r|| over that of the guess */
  bench_samples factor, mean, lowest, count, seconds, smoother, transfer, coarse, grid;
} result;

static gmg_params params_of(const setting *w)
{
  const method *m = w->method;
  gmg_params p = study_params();
  gmg_params_set_preset(&p, m->preset);
  if (m->smoother || !p.smoother) p.smoother = gmg_smoother_by_name(m->smoother ? m->smoother : "async");
  if (m->omega != 0) p.omega = m->omega == DAMPED ? 2.0 * w->dim / (2 * w->dim + 1) : m->omega;
  if (m->local >= 0) p.async.local = (gmg_local_kind)m->local;
  if (m->overlap >= 0) p.async.overlap = m->overlap ? m->overlap : GMG_NONE;
  if (m->tiles) memcpy(p.async.block, tile[w->dim], sizeof p.async.block);
  p.deterministic = m->stale;
  if (m->smoother && m->serial && !w->timed) p.deterministic = 1; /* the sequential method */
  p.cycle = GMG_CYCLE_V, p.accel = GMG_ACCEL_NONE, p.precision = GMG_PRECISION_SAME;
  p.coarse_rtol = 1e-6;
  p.pre = p.post = w->steps;
  p.max_levels = w->levels;
  if (w->levels > 0) p.coarse_cells = 2; /* exactly as many levels as given */
  p.max_cycles = w->cycles, p.rtol = w->rtol;
  p.report_level_times = w->timed && !w->no_clock;
  return p;
}

/* The smoother with a clock. It runs on the device while the rest runs on the host, or where everything runs. */
typedef struct timing {
  gmg_smoother *offload;
  study_clock *clock;
  double sweeps, transfers; /* seconds of the offloaded smoother up to now */
} timing;

static int begin_timing(study *s, const setting *w, timing *t, gmg_params *p)
{
  const study_place *device = &s->place[STUDY_DEVICE];
  if (!w->timed || w->no_clock) return 0;
  if (w->offload) {
    if (demo_check(&device->demo, device->context, gmg_smoother_offload_create(device->context, p->smoother, &t->offload))) return 1;
    p->smoother = t->offload;
    return 0;
  }
  t->clock = study_clock_create(p->smoother);
  if (!t->clock) return demo_fail(&w->place->demo, "out of memory");
  p->smoother = study_clock_smoother(t->clock);
  return 0;
}

static void end_timing(timing *t)
{
  gmg_smoother_offload_destroy(t->offload);
  study_clock_destroy(t->clock);
}

/* Times of a run. The solver reports the whole and the coarsest level, the clock the smoother. The rest are grid operations. */
static void read_clocks(const setting *w, timing *t, const gmg_report *r, result *to)
{
  double sweeps = 0, transfers = 0;
  const double coarse = r->level[r->levels - 1].seconds;
  if (!w->timed || w->no_clock) return;
  if (t->offload) {
    gmg_smoother_offload_seconds(t->offload, &sweeps, &transfers);
    const double before[2] = {t->sweeps, t->transfers};
    t->sweeps = sweeps, t->transfers = transfers;
    sweeps -= before[0], transfers -= before[1];
    bench_add(&to->transfer, transfers);
  } else {
    sweeps = study_clock_seconds(t->clock);
  }
  bench_add(&to->smoother, sweeps);
  bench_add(&to->coarse, coarse);
  bench_add(&to->grid, r->seconds - sweeps - transfers - coarse);
}

static void read_history(const gmg_report *r, result *to)
{
  const double *h = r->history;
  double lowest = 1;
  int reached = 0;
  for (int i = 0; i < r->history_length && i <= MOST_CYCLES; i++) {
    const double left = h[i] / h[0];
    bench_add(&to->history[i], left);
    lowest = fmin(lowest, left);
    if (reached == 0 && (left <= REACHED || i + 1 == r->history_length)) reached = i;
    if (i > to->cycles) to->cycles = i;
  }
  bench_add(&to->count, r->cycles);
  bench_add(&to->lowest, lowest);
  bench_add(&to->factor, r->factor);
  if (reached > 0) bench_add(&to->mean, pow(h[reached] / h[0], 1.0 / reached));
}

static int one_run(const setting *w, gmg_solver *solver, const gmg_problem *p, const demo_array *f, const demo_array *u, int number,
                   int first, timing *t, result *to)
{
  const demo_options *o = &w->place->demo;
  gmg_report report;
  if (w->start == START_U_RANDOM ? study_start(w->place, p, 2, !first, u) : demo_array_zero(o, u)) return 1;
  if (t->clock) study_clock_seconds(t->clock);
  to->status = gmg_solve(solver, f->there, u->there, &report);
  if (!gmg_status_is_outcome(to->status)) return demo_check(o, w->place->context, to->status);
  snprintf(to->message, sizeof to->message, "%s", demo_message(w->place->context, to->status));
  to->deterministic = report.deterministic;
  if (number < 0) return 0; /* the first run of a timed setting is a warm-up */
  read_history(&report, to);
  bench_add(&to->seconds, report.seconds);
  read_clocks(w, t, &report, to);
  return 0;
}

static int runs(const setting *w, gmg_solver *solver, const gmg_problem *p, timing *t, result *to)
{
  const demo_options *o = &w->place->demo;
  demo_array f = {0}, u = {0};
  int failed = !(demo_array_create(o, p, &f) & demo_array_create(o, p, &u));
  const int first = w->timed ? -1 : 0;
  if (failed) demo_fail(o, "out of memory: fields of %zu unknowns", demo_cells(p));
  if (!failed && w->start == START_F_RANDOM) demo_field_random(p, NULL, 1, f.here);
  if (!failed && w->start == START_F_ONE) study_fill(p, f.here, 1);
  if (!failed) failed = demo_array_send(o, &f);
  for (int i = first; i < w->runs && !failed; i++) {
    if (t->offload) gmg_smoother_offload_seconds(t->offload, &t->sweeps, &t->transfers);
    failed = one_run(w, solver, p, &f, &u, i, i == first, t, to);
    if (to->deterministic && !w->timed) break;
  }
  demo_array_destroy(&f);
  demo_array_destroy(&u);
  return failed;
}

/* --- the record --- */

static struct cJSON *begin_record(study *s, const setting *w)
{
  struct cJSON *r = study_record(s, w->part);
  if (*w->paper) study_text(s, r, "paper", w->paper);
  if (w->column) study_text(s, r, "column", w->column);
  study_text(s, r, "method", w->method->name);
  study_where(s, r, w->place);
  study_number(s, r, "dim", w->dim);
  study_number(s, r, "n", (double)w->n);
  study_number(s, r, "eps", w->eps);
  study_number(s, r, "steps", w->steps);
  study_number(s, r, "levels", w->levels);
  study_text(s, r, "start", start_name[w->start]);
  if (w->rtol > NEVER) study_number(s, r, "tolerance", w->rtol);
  return r;
}

static int skip(study *s, const setting *w, const char *why)
{
  struct cJSON *r = begin_record(s, w);
  study_text(s, r, "status", "skipped");
  study_text(s, r, "skipped", why);
  study_say(s, "%-10s %-32s %dD n %zu, %d levels: skipped: %s", w->part, w->column ? w->column : w->method->name, w->dim, w->n, w->levels, why);
  return 0;
}

static void record(study *s, const setting *w, const result *r)
{
  struct cJSON *to = begin_record(s, w);
  double history[MOST_CYCLES + 1];
  study_text(s, to, "status", demo_status_name(r->status));
  if (r->status != GMG_OK) study_text(s, to, "message", r->message);
  study_number(s, to, "levels_made", r->plan.levels);
  study_number(s, to, "predicted_factor", study_rounded(r->plan.predicted_factor, 5));
  study_spread(s, to, "cycles", &r->count);
  if (w->start == START_U_RANDOM) study_spread(s, to, "factor", &r->factor); /* otherwise the last cycles may be at the rounding floor */
  study_spread(s, to, "mean_factor", &r->mean);
  study_spread(s, to, "lowest", &r->lowest);
  study_spread(s, to, "seconds", &r->seconds);
  study_spread(s, to, "smoother_seconds", &r->smoother);
  study_spread(s, to, "transfer_seconds", &r->transfer);
  study_spread(s, to, "coarse_seconds", &r->coarse);
  study_spread(s, to, "grid_seconds", &r->grid);
  if (w->timed) return;
  for (int i = 0; i <= r->cycles; i++) history[i] = bench_median(&r->history[i]);
  study_numbers(s, to, "history", history, (size_t)r->cycles + 1, 5);
}

static void tell(const study *s, const setting *w, const result *r)
{
  char more[128] = "";
  if (w->no_clock) snprintf(more, sizeof more, ", %.3g s", bench_median(&r->seconds));
  else if (w->timed)
    snprintf(more, sizeof more, ", smoother %.3g s, transfer %.3g s, of %.3g s", bench_median(&r->smoother),
             r->transfer.count ? bench_median(&r->transfer) : 0, bench_median(&r->seconds));
  study_say(s, "%-9s %-32s %dD n %zu, eps %g, steps %d, %s: factor %.3f, %g cycles to %.1e%s", w->part,
            w->column ? w->column : w->method->name, w->dim, w->n, w->eps, w->steps, start_name[w->start],
            bench_median(w->start == START_U_RANDOM ? &r->factor : &r->mean), bench_median(&r->count), bench_median(&r->lowest), more);
}

/* A setting whose grid does not fit, or whose blocks a device refuses, has a record, too. */
static int solve(study *s, const setting *w, const gmg_problem *p, timing *t, gmg_params *params, result *r)
{
  const study_place *at = w->place;
  gmg_solver *solver = NULL;
  if (begin_timing(s, w, t, params)) return 1;
  gmg_status status = gmg_plan(at->context, p, params, &r->plan);
  if (!status && demo_room_of(&at->demo, p, 2, &r->plan)) return skip(s, w, "does not fit");
  if (!status) status = gmg_solver_create(at->context, p, params, &solver);
  if (status == GMG_ERR_MEMORY || status == GMG_ERR_UNSUPPORTED) return skip(s, w, gmg_context_error(at->context));
  int failed = demo_check(&at->demo, at->context, status);
  if (!failed) failed = runs(w, solver, p, t, r);
  gmg_solver_destroy(solver);
  if (failed) return 1;
  record(s, w, r);
  tell(s, w, r);
  return 0;
}

int study_measure(study *s, const setting *w)
{
  static result r; /* large */
  timing t = {0};
  if (!w->place->context || (w->offload && !s->place[STUDY_DEVICE].context)) return skip(s, w, "no device");
  const gmg_problem p = study_problem(w->dim, w->n, w->eps);
  gmg_params params = params_of(w);
  memset(&r, 0, sizeof r);
  const int failed = solve(s, w, &p, &t, &params, &r);
  end_timing(&t);
  return failed;
}
