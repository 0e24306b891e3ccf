/* Block-asynchronous relaxation as a solver, after Anzt, Tomov, Dongarra, Heuveline, "A block-asynchronous relaxation method for
 * graphics processing units" (2013): its Tables 2 to 5 and Figures 5 to 9, on stencils that stand for its matrices.
 * docs/study-relaxation.md shows the results and says which stencil stands for which matrix, and what has no counterpart.
 *
 * -Lap u + eps u = f with h = 1 and zero Dirichlet walls, f = 1, u = 0 at the start, double. eps is such that Jacobi's iteration
 * matrix has the paper's spectral radius. async-(k): every block does k undamped Jacobi sweeps, no overlap, one pass an iteration. */
#include "relax.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846

/* A stencil in the place of a matrix: unknowns along an axis, spectral radius of Jacobi's matrix, blocks of the unknowns. */
typedef struct stand_in {
  const char *matrix;
  int dim;
  size_t n;
  double rho;
  size_t block[3]; /* about the paper's 448 consecutive unknowns */
  size_t small[3]; /* about 128, as for Tables 2 and 3 */
  int iterations;  /* until async-(5) is near the rounding floor, or as many as make sense */
} stand_in;

static const stand_in cases[] = {{"Chem97ZtZ", 1, 2541, 0.7889, {1, 1, 1}, {1, 1, 1}, 80},
                                 {"Fv1", 2, 98, 0.8541, {98, 4, 1}, {98, 1, 1}, 200},
                                 {"Fv2", 2, 99, 0.8541, {99, 4, 1}, {99, 1, 1}, 200},
                                 {"Fv3", 2, 99, 0.9993, {99, 4, 1}, {99, 1, 1}, 1000},
                                 {"Trefethen_20000", 3, 27, 0.8601, {27, 16, 1}, {27, 5, 1}, 120}};
enum { CHEM, FV1, FV2, FV3, TREFETHEN, CASES };

typedef struct method {
  const char *name, *smoother;
  int local; /* k; 0: not a method of blocks, or gmg's default */
  int stale, once;  /* the deterministic twin; deterministic, so that one run tells the residuals */
  int on_host;      /* has no place on a device */
} method;

static const method jacobi = {"Jacobi", "jacobi", 0, 0, 1, 0}, gauss_seidel = {"Gauss-Seidel", "gauss_seidel", 0, 0, 1, 1};
static const method async_default = {"async, gmg's default", "async", 0, 0, 0, 0};

static method async_of(int k, int stale)
{
  static const char *const names[][10] = {
      {"", "async-(1)", "async-(2)", "async-(3)", "async-(4)", "async-(5)", "async-(6)", "async-(7)", "async-(8)", "async-(9)"},
      {"", "async-(1), stale", "async-(2), stale", "async-(3), stale", "async-(4), stale", "async-(5), stale", "async-(6), stale",
       "async-(7), stale", "async-(8), stale", "async-(9), stale"}};
  return (method){names[stale][k], "async", k, stale, stale, 0};
}

/* Runs of the spread, of the one where threads wait, of other asynchronous rates, of times of what is deterministic; the large grid of Table 4 (along an axis);
   its iterations; how many times fewer iterations than the cases have. */
typedef struct scale {
  int spread, waiting, runs, times;
  size_t large;
  int large_iterations, part;
} scale;

static const scale scales[STUDY_SCALES] = {[STUDY_QUICK] = {20, 20, 3, 1, 0, 0, 4},
                                           [STUDY_DEFAULT] = {1000, 100, 20, 5, 1023, 10, 1},
                                           [STUDY_FULL] = {1000, 1000, 20, 5, 8191, 100, 1}};

static scale scale_of(const study *s)
{
  scale x = scales[s->options.scale];
  if (s->options.runs) x.spread = x.waiting = x.runs = s->options.runs;
  if (s->options.n && x.large) x.large = (size_t)s->options.n;
  return x;
}

/* --- problems, parameters, records --- */

/* Jacobi's matrix has the radius 2 dim cos(pi / (n + 1)) / (2 dim + eps). */
static double eps_of(const stand_in *c) { return 2 * c->dim * (cos(PI / ((double)c->n + 1)) / c->rho - 1); }

static gmg_problem problem_of(const stand_in *c) { return study_problem(c->dim, c->n, eps_of(c)); }

static gmg_params params_of(const method *m, const size_t block[3])
{
  gmg_params p = gmg_params_default();
  p.smoother = gmg_smoother_by_name(m->smoother);
  if (m == &async_default) return p;
  p.omega = 1;
  p.local = GMG_LOCAL_JACOBI, p.local_sweeps = m->local ? m->local : 1;
  p.overlap = 0, p.passes = 1;
  p.deterministic = m->stale || m->on_host; /* Gauss-Seidel: the sequential method */
  if (block) memcpy(p.block, block, sizeof p.block);
  return p;
}

/* Five digits say enough and keep the file small. */
static double rounded(double x, int digits)
{
  char text[32];
  snprintf(text, sizeof text, "%.*e", digits - 1, x);
  return strtod(text, NULL);
}

static void numbers(study *s, struct cJSON *to, const char *name, const double *value, int count, int digits)
{
  double *v = malloc((size_t)count * sizeof *v);
  if (!v) s->complete = 0;
  for (int i = 0; v && i < count; i++) v[i] = rounded(value[i], digits);
  if (v) study_numbers(s, to, name, v, (size_t)count);
  free(v);
}

static struct cJSON *begin_record(study *s, const char *part, const char *paper, const stand_in *c, const char *name, const study_place *at,
                                  const size_t block[3])
{
  struct cJSON *r = study_record(s, part);
  const int device = at->demo.device.kind == DEMO_CUDA;
  study_text(s, r, "paper", paper);
  study_text(s, r, "matrix", c->matrix);
  study_text(s, r, "method", name);
  study_text(s, r, "where", device ? "device" : "host");
  if (!device) study_number(s, r, "threads", gmg_context_threads(at->context));
  study_number(s, r, "dim", c->dim);
  study_number(s, r, "n", (double)c->n);
  study_number(s, r, "eps", eps_of(c));
  study_number(s, r, "rho", c->rho);
  if (block) {
    const double sizes[3] = {(double)block[0], (double)block[1], (double)block[2]};
    study_numbers(s, r, "block", sizes, (size_t)c->dim);
  }
  return r;
}

static int skip(study *s, const char *part, const char *paper, const stand_in *c, const char *name, const study_place *at)
{
  const char *why = gmg_context_error(at->context);
  study_text(s, begin_record(s, part, paper, c, name, at, NULL), "skipped", why);
  study_say(s, "%-8s %-16s %-20s skipped: %s", part, c->matrix, name, why);
  return 0;
}

static const study_place *place_of(const study *s, const method *m) { return m->on_host ? &s->place[STUDY_HOST] : study_best(s); }

/* --- the spread over many runs: Tables 2 and 3, Figure 5 --- */

enum { MARKS = 13 }; /* at most */

static void record_spread(study *s, struct cJSON *to, const double *residual, int runs, const int *marks, int count)
{
  double at[MARKS], average[MARKS], most[MARKS], least[MARKS], variance[MARKS];
  for (int i = 0; i < count; i++) {
    double sum = 0, squares = 0;
    at[i] = marks[i], most[i] = 0, least[i] = INFINITY;
    for (int r = 0; r < runs; r++) sum += residual[r * MARKS + i];
    average[i] = sum / runs;
    for (int r = 0; r < runs; r++) {
      const double x = residual[r * MARKS + i];
      squares += (x - average[i]) * (x - average[i]);
      most[i] = fmax(most[i], x), least[i] = fmin(least[i], x);
    }
    variance[i] = runs > 1 ? squares / (runs - 1) : 0;
  }
  /* without a spread the average is what they all are, not that within rounding */
  for (int i = 0; i < count; i++)
    if (most[i] == least[i]) average[i] = most[i], variance[i] = 0;
  study_number(s, to, "runs", runs);
  study_numbers(s, to, "iterations", at, (size_t)count);
  numbers(s, to, "average", average, count, 8);
  numbers(s, to, "max", most, count, 8);
  numbers(s, to, "min", least, count, 8);
  numbers(s, to, "variance", variance, count, 5);
}

/* `wait`: after every iteration all threads wait for each other; else only where a residual is measured. */
static int spread_of(study *s, const stand_in *c, const char *paper, int stale, int wait, int runs, const int *marks, int count)
{
  const study_place *at = study_best(s);
  const method m = async_of(5, stale);
  const gmg_problem p = problem_of(c);
  const gmg_params params = params_of(&m, c->small);
  double *residual = malloc((size_t)runs * MARKS * sizeof *residual);
  relaxation x;
  if (!residual) return demo_fail(&at->demo, "out of memory: %d runs", runs);
  int failed = relaxation_create(&x, at, &p, &params);
  for (int r = 0; r < runs && !failed; r++) {
    failed = relaxation_begin(&x);
    for (int i = 0; i < count && !failed; i++) {
      const int steps = marks[i] - (i ? marks[i - 1] : 0);
      relaxation_sweep(&x, steps, wait ? 1 : steps);
      residual[r * MARKS + i] = relaxation_residual(&x);
    }
    if ((r + 1) % 250 == 0) study_say(s, "%-8s %-16s %-20s run %d of %d", "spread", c->matrix, m.name, r + 1, runs);
  }
  if (!failed) {
    const int last = count - 1;
    struct cJSON *to = begin_record(s, "spread", paper, c, m.name, at, c->small);
    study_number(s, to, "wait", wait);
    record_spread(s, to, residual, runs, marks, count);
    study_say(s, "%-8s %-16s %-20s %d runs, residual after %d iterations %.3e in the last", "spread", c->matrix, m.name, runs, marks[last],
              residual[(runs - 1) * MARKS + last]);
  }
  relaxation_destroy(&x);
  free(residual);
  return failed < 0 ? skip(s, "spread", paper, c, m.name, at) : failed;
}

static int spread(study *s, const scale *x)
{
  static const int table_2[] = {10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110, 120, 130};
  static const int table_3[] = {5, 10, 15, 20, 25, 30, 35, 40, 45, 50};
  const int twin = x->spread < 20 ? x->spread : 20;
  const struct {
    int stale, wait, runs;
  } way[] = {{0, 0, x->spread}, {0, 1, x->waiting}, {1, 1, twin}};
  for (int i = 0; i < 3; i++) {
    if (spread_of(s, &cases[FV1], "Table 2", way[i].stale, way[i].wait, way[i].runs, table_2, 13)) return 1;
    if (spread_of(s, &cases[TREFETHEN], "Table 3", way[i].stale, way[i].wait, way[i].runs, table_3, 10)) return 1;
  }
  return 0;
}

/* --- the cost of local sweeps: Table 4 --- */

enum { CALLS = 100, CALL = 5, FACTOR = 100 }; /* calls that are timed, iterations in one, for the factor */

/* Seconds of calls of a few iterations, too short to be disturbed often. Then, threads waiting for each other after every iteration,
   which takes the end of a call out of the residual, the reduction of an iteration, of the twin when a single mode of the error is
   left. */
static int local_sweeps(study *s, const stand_in *c, const char *paper, int k, int stale, const scale *scale)
{
  const study_place *at = study_best(s);
  const method m = async_of(k, stale);
  const gmg_problem p = problem_of(c);
  const gmg_params params = params_of(&m, c->block);
  static bench_samples seconds, factor;
  relaxation x;
  seconds.count = factor.count = 0;
  int failed = relaxation_create(&x, at, &p, &params);
  for (int r = 0; r < (stale ? 1 : scale->runs) && !failed; r++) {
    failed = relaxation_begin(&x);
    for (int i = 0; i < CALLS && !failed && r < 2; i++) bench_add(&seconds, relaxation_sweep(&x, CALL, CALL) / CALL);
    relaxation_sweep(&x, stale ? 1500 : 500, 50);
    relaxation_sweep(&x, 10, 1);
    const double before = relaxation_residual(&x);
    relaxation_sweep(&x, FACTOR, 1);
    bench_add(&factor, pow(relaxation_residual(&x) / before, 1.0 / FACTOR));
  }
  relaxation_destroy(&x);
  if (failed) return failed < 0 ? skip(s, "sweeps", paper, c, m.name, at) : 1;
  struct cJSON *to = begin_record(s, "sweeps", paper, c, m.name, at, c->block);
  study_number(s, to, "local", k);
  study_spread(s, to, "seconds_per_iteration", &seconds);
  study_spread(s, to, "factor", &factor);
  study_say(s, "%-8s %-16s %-20s %.3g s an iteration, %.6f an iteration", "sweeps", c->matrix, m.name, bench_median(&seconds),
            bench_median(&factor));
  return 0;
}

/* The same where the fields do not fit into a cache: time alone. */
static int large_sweeps(study *s, size_t n, int k, const scale *scale)
{
  const stand_in c = {"", 2, n, cos(PI / ((double)n + 1)), {0}, {0}, 0}; /* eps = 0; gmg's blocks */
  const study_place *at = study_best(s);
  const method m = async_of(k, 0);
  const gmg_problem p = problem_of(&c);
  const gmg_params params = params_of(&m, NULL);
  static bench_samples seconds;
  relaxation x;
  seconds.count = 0;
  int failed = relaxation_create(&x, at, &p, &params);
  for (int r = -1; r < scale->times && !failed; r++) { /* the first touches the memory */
    failed = relaxation_begin(&x);
    for (int i = 0; i < scale->large_iterations && !failed; i++) {
      const double took = relaxation_sweep(&x, 1, 1);
      if (r >= 0) bench_add(&seconds, took);
    }
  }
  relaxation_destroy(&x);
  if (failed) return failed < 0 ? skip(s, "large", "Table 4", &c, m.name, at) : 1;
  struct cJSON *to = begin_record(s, "large", "Table 4", &c, m.name, at, NULL);
  study_number(s, to, "local", k);
  study_number(s, to, "iterations", scale->large_iterations);
  study_spread(s, to, "seconds_per_iteration", &seconds);
  study_say(s, "%-8s %-16s %-20s %zu^2: %.3g s an iteration", "large", c.matrix, m.name, n, bench_median(&seconds));
  return 0;
}

static int sweeps(study *s, const scale *x)
{
  for (int stale = 0; stale < 2; stale++)
    for (int k = 1; k <= 9; k++)
      if (local_sweeps(s, &cases[FV3], "Table 4", k, stale, x)) return 1;
  return 0;
}

static int large(study *s, const scale *x)
{
  for (int k = 1; k <= 9 && x->large; k++)
    if (large_sweeps(s, x->large, k, x)) return 1;
  return 0;
}

/* --- time of an iteration over their number: Figure 8 --- */

static int timing_of(study *s, const stand_in *c, const method *m, const scale *scale)
{
  static const int counts[] = {1, 2, 5, 10, 20, 50, 100, 200};
  enum { MOST = sizeof counts / sizeof *counts };
  const study_place *at = place_of(s, m);
  const gmg_problem p = problem_of(c);
  const gmg_params params = params_of(m, c->block);
  double iterations[MOST], median[MOST], least[MOST], most[MOST];
  relaxation x;
  int failed = relaxation_create(&x, at, &p, &params);
  if (!failed) failed = relaxation_begin(&x);
  if (!failed) relaxation_sweep(&x, 1, 1);
  for (int i = 0; i < MOST && !failed; i++) {
    bench_samples seconds = {0};
    for (int r = 0; r < scale->runs; r++) bench_add(&seconds, relaxation_sweep(&x, counts[i], counts[i]) / counts[i]);
    iterations[i] = counts[i];
    median[i] = bench_median(&seconds), least[i] = bench_min(&seconds), most[i] = bench_max(&seconds);
  }
  relaxation_destroy(&x);
  if (failed) return failed < 0 ? skip(s, "timing", "Figure 8", c, m->name, at) : 1;
  struct cJSON *to = begin_record(s, "timing", "Figure 8", c, m->name, at, m->local ? c->block : NULL);
  study_numbers(s, to, "iterations", iterations, MOST);
  numbers(s, to, "seconds_per_iteration", median, MOST, 5);
  numbers(s, to, "least", least, MOST, 5);
  numbers(s, to, "most", most, MOST, 5);
  study_say(s, "%-8s %-16s %-20s %.3g s an iteration alone, %.3g s in 200", "timing", c->matrix, m->name, median[0], median[MOST - 1]);
  return 0;
}

static int timing(study *s, const scale *x)
{
  const method async = async_of(5, 0);
  return timing_of(s, &cases[FV3], &gauss_seidel, x) || timing_of(s, &cases[FV3], &jacobi, x) || timing_of(s, &cases[FV3], &async, x);
}

/* --- solvers against each other: Figures 6, 7 and 9, Table 5 --- */

enum { POINTS = 40 }; /* of a curve, after its start */

static const char *const solvers_paper = "Figures 6, 7, 9; Table 5";

static int relax_and_record(study *s, const stand_in *c, const method *m, const scale *scale)
{
  const study_place *at = place_of(s, m);
  const gmg_problem p = problem_of(c);
  const gmg_params params = params_of(m, m->local ? c->block : NULL);
  const int alone = at->demo.device.kind != DEMO_CUDA && demo_cells(&p) <= 4096; /* the host's async keeps to one thread */
  const int runs = m->once || alone ? scale->times : scale->runs, step = (c->iterations / scale->part + POINTS - 1) / POINTS;
  static bench_samples residual[POINTS + 1], seconds, factor;
  double iterations[POINTS + 1], median[POINTS + 1], least[POINTS + 1], most[POINTS + 1];
  relaxation x;
  memset(residual, 0, sizeof residual), memset(&seconds, 0, sizeof seconds), memset(&factor, 0, sizeof factor);
  int failed = relaxation_create(&x, at, &p, &params);
  for (int r = 0; r < runs && !failed; r++) {
    static bench_samples took;
    double now = 1, high = 1; /* high: at the last but tenth point, or the last one above 1e-13 */
    int from = 0, to = 0;
    took.count = 0;
    failed = relaxation_begin(&x);
    bench_add(&residual[0], 1);
    for (int i = 1; i <= POINTS && !failed; i++) {
      bench_add(&took, relaxation_sweep(&x, step, 1) / step);
      bench_add(&residual[i], now = relaxation_residual(&x));
      if (now > 1e-13) to = i;
    }
    from = to > 10 ? to - 10 : 0;
    high = residual[from].value[r];
    if (to > from) bench_add(&factor, pow(residual[to].value[r] / high, 1.0 / ((to - from) * step)));
    bench_add(&seconds, bench_median(&took));
  }
  relaxation_destroy(&x);
  if (failed) return failed < 0 ? skip(s, "solvers", solvers_paper, c, m->name, at) : 1;
  for (int i = 0; i <= POINTS; i++) {
    iterations[i] = i * step;
    median[i] = bench_median(&residual[i]), least[i] = bench_min(&residual[i]), most[i] = bench_max(&residual[i]);
  }
  struct cJSON *to = begin_record(s, "solvers", solvers_paper, c, m->name, at, m->local ? c->block : NULL);
  study_numbers(s, to, "iterations", iterations, POINTS + 1);
  numbers(s, to, "residual", median, POINTS + 1, 5);
  if (!m->once) numbers(s, to, "least", least, POINTS + 1, 5), numbers(s, to, "most", most, POINTS + 1, 5);
  study_spread(s, to, "seconds_per_iteration", &seconds);
  study_spread(s, to, "factor", &factor);
  study_say(s, "%-8s %-16s %-20s %.4f an iteration of %.3g s, %.1e after %g", "solvers", c->matrix, m->name, bench_median(&factor),
            bench_median(&seconds), median[POINTS], iterations[POINTS]);
  return 0;
}

/* Conjugate gradients, written out to count their iterations (the library's are its coarse solver, whose time is measured below).
   q = A p is minus the residual of p for f = 0. Returns the points. */
static int cg_history(relaxation *x, double *history, int most)
{
  const size_t n = x->cells;
  double *zero = x->f.here, *q = x->r.here, *p = x->u.here, *r = malloc(n * sizeof *r), rr = (double)n;
  int count = 0;
  if (!r) return 0;
  for (size_t i = 0; i < n; i++) zero[i] = 0, p[i] = r[i] = 1; /* f = 1, u = 0: all of f is left */
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

/* The library's conjugate gradients alone, one level, once for every tolerance: residual reached and seconds. */
static int cg_times(study *s, const stand_in *c, const scale *scale, struct cJSON *to)
{
  enum { TOLERANCES = 12 };
  const study_place *at = study_best(s);
  const gmg_problem p = problem_of(c);
  double reached[TOLERANCES], median[TOLERANCES], least[TOLERANCES];
  demo_array f = {0}, u = {0};
  int failed = !(demo_array_create(&at->demo, &p, &f) & demo_array_create(&at->demo, &p, &u));
  if (failed) demo_fail(&at->demo, "out of memory: fields of %zu unknowns", demo_cells(&p));
  study_fill(&p, f.here, failed ? 0 : 1);
  if (!failed) failed = demo_array_send(&at->demo, &f);
  for (int t = 0; t < TOLERANCES && !failed; t++) {
    gmg_params params = gmg_params_default();
    gmg_report report = {0};
    gmg_solver *solver = NULL;
    bench_samples seconds = {0};
    params.max_levels = 1, params.accel = GMG_ACCEL_NONE, params.precision = GMG_PRECISION_SAME, params.max_cycles = 1;
    params.coarse_rtol = params.rtol = pow(10, -t - 1);
    failed = demo_check(&at->demo, at->context, gmg_solver_create(at->context, &p, &params, &solver));
    for (int r = -1; r < scale->times && !failed; r++) { /* the first touches the memory */
      failed = demo_array_zero(&at->demo, &u);
      const gmg_status status = failed ? GMG_OK : gmg_solve(solver, f.there, u.there, &report);
      if (!demo_is_outcome(status)) failed = demo_check(&at->demo, at->context, status);
      if (r >= 0) bench_add(&seconds, report.seconds);
    }
    reached[t] = report.residual / report.residual0, median[t] = bench_median(&seconds), least[t] = bench_min(&seconds);
    gmg_solver_destroy(solver);
  }
  demo_array_destroy(&f);
  demo_array_destroy(&u);
  if (failed) return 1;
  numbers(s, to, "reached", reached, TOLERANCES, 5);
  numbers(s, to, "seconds", median, TOLERANCES, 4);
  numbers(s, to, "least_seconds", least, TOLERANCES, 4);
  return 0;
}

static int conjugate_gradients(study *s, const stand_in *c, const scale *scale)
{
  enum { MOST = 400 };
  const study_place *host = &s->place[STUDY_HOST];
  const gmg_problem p = problem_of(c);
  const gmg_params params = params_of(&jacobi, NULL);
  double history[MOST], iterations[MOST];
  relaxation x;
  int failed = relaxation_create(&x, host, &p, &params), count = failed ? 0 : cg_history(&x, history, MOST);
  relaxation_destroy(&x);
  if (failed) return failed < 0 ? skip(s, "solvers", solvers_paper, c, "CG", host) : 1;
  if (count == 0) return demo_fail(&host->demo, "out of memory: conjugate gradients");
  for (int i = 0; i < count; i++) iterations[i] = i;
  struct cJSON *to = begin_record(s, "solvers", solvers_paper, c, "CG", study_best(s), NULL);
  study_numbers(s, to, "iterations", iterations, (size_t)count);
  numbers(s, to, "residual", history, count, 4);
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

/* The default solver; cycles until rounding ends it. */
static int multigrid(study *s, const stand_in *c, const scale *scale)
{
  enum { MOST = 64 };
  const study_place *at = study_best(s);
  const gmg_problem p = problem_of(c);
  gmg_params params = gmg_params_default();
  gmg_solver *solver = NULL;
  static bench_samples seconds[MOST], residual[MOST];
  double iterations[MOST], time[MOST], least[MOST], left[MOST];
  watch w = {0};
  demo_array f = {0}, u = {0};
  int count = MOST;
  memset(seconds, 0, sizeof seconds), memset(residual, 0, sizeof residual);
  params.rtol = 1e-14, params.max_cycles = 20, params.monitor = look, params.monitor_data = &w;
  int failed = !(demo_array_create(&at->demo, &p, &f) & demo_array_create(&at->demo, &p, &u));
  if (failed) return demo_fail(&at->demo, "out of memory: fields of %zu unknowns", demo_cells(&p));
  study_fill(&p, f.here, 1);
  failed = demo_array_send(&at->demo, &f) || demo_check(&at->demo, at->context, gmg_solver_create(at->context, &p, &params, &solver));
  for (int r = -1; r < scale->runs && !failed; r++) {
    failed = demo_array_zero(&at->demo, &u);
    const gmg_status status = failed ? GMG_OK : gmg_solve(solver, f.there, u.there, NULL);
    if (!demo_is_outcome(status)) failed = demo_check(&at->demo, at->context, status);
    if (w.count < count) count = w.count; /* all runs have so many */
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
  struct cJSON *to = begin_record(s, "solvers", "", c, "multigrid", at, NULL);
  study_numbers(s, to, "iterations", iterations, (size_t)count);
  numbers(s, to, "residual", left, count, 4);
  numbers(s, to, "seconds", time, count, 4);
  numbers(s, to, "least_seconds", least, count, 4);
  study_say(s, "%-8s %-16s %-20s %.1e after %d cycles, %.3g s", "solvers", c->matrix, "multigrid", left[count - 1], count - 1, time[count - 1]);
  return 0;
}

static int solvers(study *s, const scale *x)
{
  const method blocks[] = {async_of(1, 0), async_of(5, 0), async_of(5, 1)};
  for (int i = 0; i < CASES; i++) {
    const stand_in *c = &cases[i];
    if (relax_and_record(s, c, &jacobi, x) || relax_and_record(s, c, &gauss_seidel, x)) return 1;
    for (int m = 0; m < 3; m++)
      if (relax_and_record(s, c, &blocks[m], x)) return 1;
    if (relax_and_record(s, c, &async_default, x) || conjugate_gradients(s, c, x) || multigrid(s, c, x)) return 1;
  }
  return 0;
}

static const char *const parts[] = {"spread", "sweeps", "large", "timing", "solvers", NULL};
static int (*const run[])(study *, const scale *) = {spread, sweeps, large, timing, solvers};

static const study_program about = {
    "study_relaxation",
    "Block-asynchronous relaxation as a solver, after Anzt, Tomov, Dongarra, Heuveline (2013). Parts: spread (Tables 2, 3, Figure 5),\n"
    "sweeps (Table 4), large (the same on a large grid; --n along each of 2 axes), timing (Figure 8), solvers (Figures 6, 7, 9, Table 5).",
    parts, 100, 20000};

int main(int argc, char **argv)
{
  study s;
  int code = study_begin(&s, &about, argc, argv);
  if (code >= 0) return code;
  const scale x = scale_of(&s);
  code = 0;
  for (int i = 0; parts[i] && !code; i++)
    if (study_wants(&s, parts[i])) code = run[i](&s, &x);
  return study_end(&s, code);
}
