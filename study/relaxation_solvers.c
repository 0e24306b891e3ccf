/* Comparison of solvers: Figures 6, 7 and 9, Table 5, and a multigrid curve. */
#include "relaxation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS = 40 }; /* points of a curve, besides the start */

static const char *const solvers_paper = "Figures 6, 7, 9; Table 5";

static int relax_and_record(study *s, const stand_in *c, const method *m, const scale *scale)
{
  const study_place *at = study_relaxation_place(s, m);
  const gmg_problem p = study_relaxation_problem(c);
  const gmg_params params = study_relaxation_params(m, m->local ? c->block : NULL);
  const int alone = !study_is_device(at) && demo_cells(&p) <= 4096; /* async on the host uses one thread */
  const int runs = m->once || alone ? scale->times : scale->runs, step = (c->iterations / scale->part + POINTS - 1) / POINTS;
  static bench_samples residual[POINTS + 1], seconds, factor;
  double iterations[POINTS + 1], median[POINTS + 1], least[POINTS + 1], most[POINTS + 1];
  relaxation x;
  memset(residual, 0, sizeof residual), memset(&seconds, 0, sizeof seconds), memset(&factor, 0, sizeof factor);
  int failed = study_relaxation_create(&x, at, &p, &params);
  for (int r = 0; r < runs && !failed; r++) {
    static bench_samples took;
    double now = 1, high = 1; /* high: residual ten points before the last one above 1e-13 */
    int from = 0, to = 0;
    took.count = 0;
    failed = study_relaxation_begin(&x);
    bench_add(&residual[0], 1);
    for (int i = 1; i <= POINTS && !failed; i++) {
      bench_add(&took, study_relaxation_sweep(&x, step, 1) / step);
      bench_add(&residual[i], now = study_relaxation_residual(&x));
      if (now > 1e-13) to = i;
    }
    from = to > 10 ? to - 10 : 0;
    high = residual[from].value[r];
    if (to > from) bench_add(&factor, pow(residual[to].value[r] / high, 1.0 / ((to - from) * step)));
    bench_add(&seconds, bench_median(&took));
  }
  study_relaxation_destroy(&x);
  if (failed) return failed < 0 ? study_relaxation_skip(s, "solvers", solvers_paper, c, m->name, at) : 1;
  for (int i = 0; i <= POINTS; i++) {
    iterations[i] = i * step;
    median[i] = bench_median(&residual[i]), least[i] = bench_min(&residual[i]), most[i] = bench_max(&residual[i]);
  }
  struct cJSON *to = study_relaxation_begin_record(s, "solvers", solvers_paper, c, m->name, at, m->local ? c->block : NULL);
  study_numbers(s, to, "iterations", iterations, POINTS + 1, 6);
  study_numbers(s, to, "residual", median, POINTS + 1, 5);
  if (!m->once) study_numbers(s, to, "least", least, POINTS + 1, 5), study_numbers(s, to, "most", most, POINTS + 1, 5);
  study_spread(s, to, "seconds_per_iteration", &seconds);
  study_spread(s, to, "factor", &factor);
  study_say(s, "%-8s %-16s %-20s %.4f an iteration of %.3g s, %.1e after %g", "solvers", c->matrix, m->name, bench_median(&factor),
            bench_median(&seconds), median[POINTS], iterations[POINTS]);
  return 0;
}

/* Conjugate gradients, written here to count their iterations. (The library has them as coarse solver, which is timed below.) q =
   A p is minus the residual of p for f = 0. Returns the number of points. */
static int cg_history(relaxation *x, double *history, int most)
{
  const size_t n = x->cells;
  double *zero = x->f.here, *q = x->r.here, *p = x->u.here, *r = malloc(n * sizeof *r), rr = (double)n;
  int count = 0;
  if (!r) return 0;
  for (size_t i = 0; i < n; i++) zero[i] = 0, p[i] = r[i] = 1; /* f = 1 and u = 0, so the residual is f */
  history[count++] = 1;
  while (count < most && rr > 1e-28 * (double)n) {
    double pq = 0, before = rr;
    gmg_level_residual(x->level, zero, p, q);
    for (size_t i = 0; i < n; i++) pq -= p[i] * q[i];
    rr = 0;
    for (size_t i = 0; i < n; i++) r[i] += before / pq * q[i], rr += r[i] * r[i];
    for (size_t i = 0; i < n; i++) p[i] = r[i] + rr / before * p[i];
    history[count++] = sqrt(rr / (double)n);
  }
  free(r);
  return count;
}

/* The library's conjugate gradients as a solver of one level, once for every tolerance: residual and seconds. */
static int cg_times(study *s, const stand_in *c, const scale *scale, struct cJSON *to)
{
  enum { TOLERANCES = 12 };
  const study_place *at = study_best(s);
  const gmg_problem p = study_relaxation_problem(c);
  double reached[TOLERANCES], median[TOLERANCES], least[TOLERANCES];
  demo_array f = {0}, u = {0};
  int failed = !(demo_array_create(&at->demo, &p, &f) & demo_array_create(&at->demo, &p, &u));
  if (failed) demo_fail(&at->demo, "out of memory: fields of %zu unknowns", demo_cells(&p));
  study_fill(&p, f.here, failed ? 0 : 1);
  if (!failed) failed = demo_array_send(&at->demo, &f);
  for (int t = 0; t < TOLERANCES && !failed; t++) {
    gmg_params params = study_params();
    gmg_report report = {0};
    gmg_solver *solver = NULL;
    bench_samples seconds = {0};
    params.max_levels = 1, params.accel = GMG_ACCEL_NONE, params.precision = GMG_PRECISION_SAME, params.max_cycles = 1;
    params.coarse_rtol = params.rtol = pow(10, -t - 1);
    failed = demo_check(&at->demo, at->context, gmg_solver_create(at->context, &p, &params, &solver));
    for (int r = -1; r < scale->times && !failed; r++) { /* the first run touches the memory */
      failed = demo_array_zero(&at->demo, &u);
      const gmg_status status = failed ? GMG_OK : gmg_solve(solver, f.there, u.there, &report);
      if (!gmg_status_is_outcome(status)) failed = demo_check(&at->demo, at->context, status);
      if (r >= 0) bench_add(&seconds, report.seconds);
    }
    reached[t] = report.residual / report.residual0, median[t] = bench_median(&seconds), least[t] = bench_min(&seconds);
    gmg_solver_destroy(solver);
  }
  demo_array_destroy(&f);
  demo_array_destroy(&u);
  if (failed) return 1;
  study_numbers(s, to, "reached", reached, TOLERANCES, 5);
  study_numbers(s, to, "seconds", median, TOLERANCES, 4);
  study_numbers(s, to, "least_seconds", least, TOLERANCES, 4);
  return 0;
}

static int conjugate_gradients(study *s, const stand_in *c, const scale *scale)
{
  enum { MAX_ITERATIONS = 400 };
  const study_place *host = &s->place[STUDY_HOST];
  const gmg_problem p = study_relaxation_problem(c);
  const gmg_params params = study_relaxation_params(&study_relaxation_jacobi, NULL);
  double history[MAX_ITERATIONS], iterations[MAX_ITERATIONS];
  relaxation x;
  int failed = study_relaxation_create(&x, host, &p, &params), count = failed ? 0 : cg_history(&x, history, MAX_ITERATIONS);
  study_relaxation_destroy(&x);
  if (failed) return failed < 0 ? study_relaxation_skip(s, "solvers", solvers_paper, c, "CG", host) : 1;
  if (count == 0) return demo_fail(&host->demo, "out of memory: conjugate gradients");
  for (int i = 0; i < count; i++) iterations[i] = i;
  struct cJSON *to = study_relaxation_begin_record(s, "solvers", solvers_paper, c, "CG", study_best(s), NULL);
  study_numbers(s, to, "iterations", iterations, (size_t)count, 6);
  study_numbers(s, to, "residual", history, (size_t)count, 4);
  study_say(s, "%-8s %-16s %-20s %.1e after %d iterations", "solvers", c->matrix, "CG", history[count - 1], count - 1);
  return cg_times(s, c, scale, to);
}

/* --- a multigrid curve beside them --- */

typedef struct watch {
  double start, residual0;
  double seconds[64], residual[64];
  int count;
} watch;

static int look(void *data, int cycle, double residual, double target)
{
  watch *w = data;
  (void)target;
  if (cycle == 0) w->start = study_now(), w->residual0 = residual, w->count = 0;
  if (w->count < 64) w->seconds[w->count] = study_now() - w->start, w->residual[w->count++] = residual / w->residual0;
  return 0;
}

/* The default solver, cycle by cycle down to the rounding floor. */
static int multigrid(study *s, const stand_in *c, const scale *scale)
{
  enum { MAX_CYCLES = 64 };
  const study_place *at = study_best(s);
  const gmg_problem p = study_relaxation_problem(c);
  gmg_params params = study_params();
  gmg_solver *solver = NULL;
  static bench_samples seconds[MAX_CYCLES], residual[MAX_CYCLES];
  double iterations[MAX_CYCLES], time[MAX_CYCLES], least[MAX_CYCLES], left[MAX_CYCLES];
  watch w = {0};
  demo_array f = {0}, u = {0};
  int count = MAX_CYCLES;
  memset(seconds, 0, sizeof seconds), memset(residual, 0, sizeof residual);
  params.rtol = 1e-14, params.max_cycles = 12, params.monitor = look, params.monitor_data = &w;
  int failed = !(demo_array_create(&at->demo, &p, &f) & demo_array_create(&at->demo, &p, &u));
  if (failed) return demo_fail(&at->demo, "out of memory: fields of %zu unknowns", demo_cells(&p));
  study_fill(&p, f.here, 1);
  failed = demo_array_send(&at->demo, &f) || demo_check(&at->demo, at->context, gmg_solver_create(at->context, &p, &params, &solver));
  for (int r = -1; r < scale->runs && !failed; r++) {
    failed = demo_array_zero(&at->demo, &u);
    const gmg_status status = failed ? GMG_OK : gmg_solve(solver, f.there, u.there, NULL);
    if (!gmg_status_is_outcome(status)) failed = demo_check(&at->demo, at->context, status);
    if (w.count < count) count = w.count; /* all runs have this many cycles */
    for (int i = 0; i < w.count && r >= 0; i++) bench_add(&seconds[i], w.seconds[i]), bench_add(&residual[i], w.residual[i]);
  }
  gmg_solver_destroy(solver);
  demo_array_destroy(&f);
  demo_array_destroy(&u);
  if (failed) return 1;
  for (int i = 0; i < count; i++) {
    iterations[i] = i, left[i] = bench_median(&residual[i]);
    time[i] = bench_median(&seconds[i]), least[i] = bench_min(&seconds[i]);
  }
  struct cJSON *to = study_relaxation_begin_record(s, "solvers", "", c, "multigrid", at, NULL);
  study_numbers(s, to, "iterations", iterations, (size_t)count, 6);
  study_numbers(s, to, "residual", left, (size_t)count, 4);
  study_numbers(s, to, "seconds", time, (size_t)count, 4);
  study_numbers(s, to, "least_seconds", least, (size_t)count, 4);
  study_say(s, "%-8s %-16s %-20s %.1e after %d cycles, %.3g s", "solvers", c->matrix, "multigrid", left[count - 1], count - 1, time[count - 1]);
  return 0;
}

int study_relaxation_solvers(study *s)
{
  const scale x = study_relaxation_scale(s);
  const method blocks[] = {study_relaxation_async(1, 0), study_relaxation_async(5, 0), study_relaxation_async(5, 1)};
  for (int i = 0; i < CASES; i++) {
    const stand_in *c = &study_relaxation_cases[i];
    if (relax_and_record(s, c, &study_relaxation_jacobi, &x) || relax_and_record(s, c, &study_relaxation_gauss_seidel, &x))
      return 1;
    for (int m = 0; m < 3; m++)
      if (relax_and_record(s, c, &blocks[m], &x)) return 1;
    if (relax_and_record(s, c, &study_relaxation_async_default, &x) || conjugate_gradients(s, c, &x) || multigrid(s, c, &x))
      return 1;
  }
  return 0;
}
