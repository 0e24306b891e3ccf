/* Cost of iterations: local sweeps (Table 4), also on a large grid, and the time of an iteration over the number of iterations in
   a call (Figure 8). */
#include "relaxation.h"

#include <math.h>

/* --- the cost of local sweeps: Table 4 --- */

enum { CALLS = 100, CALL = 5, FACTOR = 100 }; /* CALLS: timed calls. CALL: iterations of each. FACTOR: iterations for the factor */

/* Times calls of a few iterations, which are too short to be disturbed often. Then measures the reduction of an iteration when a
   single mode of the error remains. Threads wait for each other after each of these iterations, so that the end of a call does not
   affect the residual. */
static int local_sweeps(study *s, const stand_in *c, const char *paper, int k, int stale, const scale *scale)
{
  const study_place *at = study_best(s);
  const method m = study_relaxation_async(k, stale);
  const gmg_problem p = study_relaxation_problem(c);
  const gmg_params params = study_relaxation_params(&m, c->block);
  static bench_samples seconds, factor;
  relaxation x;
  seconds.count = factor.count = 0;
  int failed = study_relaxation_create(&x, at, &p, &params);
  for (int r = 0; r < (stale ? 1 : scale->runs) && !failed; r++) {
    failed = study_relaxation_begin_slowest(&x);
    for (int i = 0; i < CALLS && !failed && r < 2; i++) bench_add(&seconds, study_relaxation_sweep(&x, CALL, CALL) / CALL);
    study_relaxation_sweep(&x, stale ? 500 : 100, 50);
    study_relaxation_sweep(&x, 10, 1);
    const double before = study_relaxation_residual(&x);
    study_relaxation_sweep(&x, FACTOR, 1);
    bench_add(&factor, pow(study_relaxation_residual(&x) / before, 1.0 / FACTOR));
  }
  study_relaxation_destroy(&x);
  if (failed) return failed < 0 ? study_relaxation_skip(s, "sweeps", paper, c, m.name, at) : 1;
  struct cJSON *to = study_relaxation_begin_record(s, "sweeps", paper, c, m.name, at, c->block);
  study_number(s, to, "local", k);
  study_spread(s, to, "seconds_per_iteration", &seconds);
  study_spread(s, to, "factor", &factor);
  study_say(s, "%-8s %-16s %-20s %.3g s an iteration, %.6f an iteration", "sweeps", c->matrix, m.name, bench_median(&seconds),
            bench_median(&factor));
  return 0;
}

/* Times local sweeps on a grid that does not fit into a cache. */
static int large_sweeps(study *s, size_t n, int k, const scale *scale)
{
  const stand_in c = {"", 2, n, cos(3.14159265358979323846 / ((double)n + 1)), {0}, {0}, 0}; /* eps = 0, and gmg's default blocks */
  const study_place *at = study_best(s);
  const method m = study_relaxation_async(k, 0);
  const gmg_problem p = study_relaxation_problem(&c);
  const gmg_params params = study_relaxation_params(&m, NULL);
  static bench_samples seconds;
  relaxation x;
  seconds.count = 0;
  int failed = study_relaxation_create(&x, at, &p, &params);
  for (int r = -1; r < scale->times && !failed; r++) { /* the first run touches the memory */
    failed = study_relaxation_begin(&x);
    for (int i = 0; i < scale->large_iterations && !failed; i++) {
      const double took = study_relaxation_sweep(&x, 1, 1);
      if (r >= 0) bench_add(&seconds, took);
    }
  }
  study_relaxation_destroy(&x);
  if (failed) return failed < 0 ? study_relaxation_skip(s, "large", "Table 4", &c, m.name, at) : 1;
  struct cJSON *to = study_relaxation_begin_record(s, "large", "Table 4", &c, m.name, at, NULL);
  study_number(s, to, "local", k);
  study_number(s, to, "iterations", scale->large_iterations);
  study_spread(s, to, "seconds_per_iteration", &seconds);
  study_say(s, "%-8s %-16s %-20s %zu^2: %.3g s an iteration", "large", c.matrix, m.name, n, bench_median(&seconds));
  return 0;
}

int study_relaxation_sweeps(study *s)
{
  const scale x = study_relaxation_scale(s);
  for (int stale = 0; stale < 2; stale++)
    for (int k = 1; k <= 9; k++)
      if (local_sweeps(s, &study_relaxation_cases[FV3], "Table 4", k, stale, &x)) return 1;
  return 0;
}

int study_relaxation_large(study *s)
{
  const scale x = study_relaxation_scale(s);
  for (int k = 1; k <= 9 && x.large; k++)
    if (large_sweeps(s, x.large, k, &x)) return 1;
  return 0;
}

/* --- time of an iteration over their number: Figure 8 --- */

static int timing_of(study *s, const stand_in *c, const method *m, const scale *scale)
{
  static const int counts[] = {1, 2, 5, 10, 20, 50, 100, 200};
  enum { COUNTS = sizeof counts / sizeof *counts };
  const study_place *at = study_relaxation_place(s, m);
  const gmg_problem p = study_relaxation_problem(c);
  const gmg_params params = study_relaxation_params(m, c->block);
  double iterations[COUNTS], median[COUNTS], least[COUNTS], most[COUNTS];
  relaxation x;
  int failed = study_relaxation_create(&x, at, &p, &params);
  if (!failed) failed = study_relaxation_begin(&x);
  if (!failed) study_relaxation_sweep(&x, 1, 1);
  for (int i = 0; i < COUNTS && !failed; i++) {
    bench_samples seconds = {0};
    for (int r = 0; r < scale->runs; r++) bench_add(&seconds, study_relaxation_sweep(&x, counts[i], counts[i]) / counts[i]);
    iterations[i] = counts[i];
    median[i] = bench_median(&seconds), least[i] = bench_min(&seconds), most[i] = bench_max(&seconds);
  }
  study_relaxation_destroy(&x);
  if (failed) return failed < 0 ? study_relaxation_skip(s, "timing", "Figure 8", c, m->name, at) : 1;
  struct cJSON *to = study_relaxation_begin_record(s, "timing", "Figure 8", c, m->name, at, m->local ? c->block : NULL);
  study_numbers(s, to, "iterations", iterations, COUNTS, 6);
  study_numbers(s, to, "seconds_per_iteration", median, COUNTS, 5);
  study_numbers(s, to, "least", least, COUNTS, 5);
  study_numbers(s, to, "most", most, COUNTS, 5);
  study_say(s, "%-8s %-16s %-20s %.3g s an iteration alone, %.3g s in 200", "timing", c->matrix, m->name, median[0],
            median[COUNTS - 1]);
  return 0;
}

int study_relaxation_timing(study *s)
{
  const scale x = study_relaxation_scale(s);
  const method async = study_relaxation_async(5, 0);
  return timing_of(s, &study_relaxation_cases[FV3], &study_relaxation_gauss_seidel, &x) ||
         timing_of(s, &study_relaxation_cases[FV3], &study_relaxation_jacobi, &x) ||
         timing_of(s, &study_relaxation_cases[FV3], &async, &x);
}
