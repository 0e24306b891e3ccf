/* How stale are the values that asynchronous iterations use, and what does it cost? After Tsai, Nayak, Chow, Anzt, "Implementing
 * asynchronous Jacobi iteration on GPUs" (2022): its Figures 3 to 13, and the same question for the multigrid smoother.
 * docs/study-staleness.md shows the results; stale.h has the engine, what an age is, and the algorithms. */
#include "stale.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_POINTS = 8, MOST_GRIDS = 4, FOLDS = 5 };
static const int folds[FOLDS] = {1, 2, 4, 8, 16};
static const char *const assignments[] = {"sync", "static", "stride", "ticket"}; /* STALE_SYNC, ... */
static const char *const orders[] = {[GMG_ORDER_NATURAL] = "natural", [GMG_ORDER_TWO_COLOUR] = "two-colour", [GMG_ORDER_RANDOM] = "random"};

typedef struct grid {
  int dim;
  size_t n;
  int passes; /* of "ages" and "relation"; at most in "rate" */
} grid;

/* Up to a dimension of 0. */
typedef struct scale {
  grid ages[MOST_GRIDS], relation[MOST_GRIDS], rate[MOST_GRIDS], smoother[MOST_GRIDS];
  int runs, smoother_runs;
} scale;

static const scale scales[STUDY_SCALES] = {
    [STUDY_QUICK] = {{{2, 24, 32}, {3, 10, 32}}, {{2, 15, 200}, {3, 9, 80}}, {{2, 24, 100}}, {{2, 31, 0}, {3, 16, 0}}, 3, 3},
    [STUDY_DEFAULT] = {{{2, 100, 400}, {2, 300, 200}, {3, 48, 100}},
                       {{2, 31, 400}, {2, 150, 100}, {3, 15, 200}, {3, 32, 60}},
                       {{2, 100, 1000}, {2, 300, 300}, {3, 32, 300}},
                       {{2, 127, 0}, {3, 32, 0}}, 3, 20},
    [STUDY_FULL] = {{{2, 100, 1000}, {2, 300, 1000}, {2, 1000, 1000}, {3, 100, 1000}},
                    {{2, 31, 1000}, {2, 300, 1000}, {3, 15, 300}, {3, 64, 300}},
                    {{2, 300, 1000}, {2, 2800, 1000}, {3, 100, 1000}, {3, 200, 1000}},
                    {{2, 1023, 0}, {3, 128, 0}}, 20, 20}};

static scale scale_of(const study *s)
{
  scale x = scales[s->options.scale];
  if (s->options.runs) x.runs = x.smoother_runs = s->options.runs;
  if (s->options.n) x.ages[0].n = x.relation[0].n = x.rate[0].n = (size_t)s->options.n; /* the first is in 2D */
  return x;
}

/* --- the engine: on the device, or the host where there is none --- */

static int on_device(const study *s) { return s->place[STUDY_DEVICE].context != NULL; }

/* Workers without oversubscription: the host's threads, the device's multiprocessors. */
static int units(const study *s)
{
#ifdef GMG_CUDA
  if (on_device(s)) return stale_cuda_units();
#endif
  return gmg_context_threads(s->place[STUDY_HOST].context);
}

static int engine_run(const study *s, stale_grid *g, int passes, double *seconds)
{
#ifdef GMG_CUDA
  if (on_device(s)) {
    const int done = stale_cuda_run(&g->at, g->padded, g->ages, g->passes, passes, seconds);
    g->passes += passes;
    return done;
  }
#endif
  (void)s;
  return stale_run_host(g, passes, seconds);
}

static int fail(const study *s, const char *what) { return demo_fail(&s->place[STUDY_HOST].demo, "%s: out of memory, or of threads", what); }

/* --- what synchronous Jacobi does, as a measure --- */

enum { MOST_MARKS = 1024 };
static struct {
  int marks, passes[MOST_MARKS];
  double smooth[MOST_MARKS];
} reference;

/* The smooth part of the residual after 0, 1, 2, ... passes, later every fiftieth of them. Always on the host. */
static int make_reference(const study *s, const grid *of, int passes)
{
  const stale_setting w = {.dim = of->dim, .n = of->n, .block = {0, 16, 16}, .assignment = STALE_SYNC, .workers = 1};
  stale_grid g;
  double seconds;
  int done = stale_create(&w, &g);
  reference.marks = 0;
  while (done && g.passes <= passes && reference.marks < MOST_MARKS) {
    reference.passes[reference.marks] = g.passes;
    reference.smooth[reference.marks++] = stale_measure(&g).smooth;
    done = stale_run_host(&g, 1 + g.passes / 50, &seconds);
  }
  stale_destroy(&g);
  return done ? 0 : fail(s, "synchronous Jacobi");
}

/* The passes that synchronous Jacobi takes to get there; NaN: more than were done. */
static double synchronous_passes(double smooth)
{
  const double *r = reference.smooth;
  for (int k = 1; k < reference.marks; k++)
    if (r[k] <= smooth)
      return reference.passes[k] - (reference.passes[k] - reference.passes[k - 1]) * log(smooth / r[k]) / log(r[k - 1] / r[k]);
  return NAN;
}

/* --- records: four digits, which is more than repeats --- */

static double rounded(double value)
{
  char text[32];
  double result = value;
  snprintf(text, sizeof text, "%.4g", value);
  sscanf(text, "%lf", &result);
  return result;
}

static void number(study *s, struct cJSON *r, const char *name, double value) { study_number(s, r, name, rounded(value)); }

static void spread(study *s, struct cJSON *r, const char *name, const bench_samples *samples)
{
  bench_samples short_ones = *samples;
  for (int i = 0; i < samples->count; i++) short_ones.value[i] = rounded(samples->value[i]);
  study_spread(s, r, name, &short_ones);
}

static void numbers(study *s, struct cJSON *r, const char *name, const double *value, size_t count)
{
  double short_ones[MOST_POINTS];
  for (size_t i = 0; i < count; i++) short_ones[i] = rounded(value[i]);
  study_numbers(s, r, name, short_ones, count);
}

/* --- a setting, measured --- */

enum { BOX = 10 };
static const char *const box_names[BOX] = {"mean", "min", "q05", "q25", "median", "q75", "q95", "max", "fresh", "ahead"};

typedef struct measured {
  bench_samples box[BOX], age, worth, factor, rate, twice;
  double updates, wanted; /* of blocks in the last run: counted, and what they should be */
} measured;

static void add_box(measured *m, const stale_box *b)
{
  const double value[BOX] = {b->mean, b->least, b->q05, b->q25, b->median, b->q75, b->q95, b->most, b->fresh, b->ahead};
  for (int i = 0; i < BOX && b->count; i++) bench_add(&m->box[i], value[i]);
}

/* Half of the passes, then the other half, of which the middle is recorded: the start and the end are the threads'. */
static int measure_once(const study *s, stale_grid *g, int passes, measured *m)
{
  const int half = passes / 2;
  double seconds[2];
  stale_restart(g);
  if (!stale_record(g, half + half / 8 + 1, passes - half / 8 + 1)) return fail(s, "ages");
  if (!engine_run(s, g, half, &seconds[0])) return fail(s, "run");
  const double before = stale_measure(g).smooth;
  if (!engine_run(s, g, passes - half, &seconds[1])) return fail(s, "run");
  const double after = stale_measure(g).smooth;
  const stale_box box = stale_ages(g, 0, 0);
  add_box(m, &box);
  bench_add(&m->age, stale_coupling_age(g));
  bench_add(&m->worth, (synchronous_passes(after) - synchronous_passes(before)) / (passes - half));
  bench_add(&m->factor, pow(after / before, 1.0 / (passes - half)));
  bench_add(&m->rate, pow((double)g->at.n[0], g->at.dim) * passes / (seconds[0] + seconds[1]));
  bench_add(&m->twice, (double)stale_twice(g));
  m->updates = (double)stale_updates(g), m->wanted = (double)passes * (double)g->at.total;
  return 0;
}

static struct cJSON *begin_record(study *s, const char *part, const char *paper, const stale_setting *w, const stale_grid *g, int fold)
{
  struct cJSON *r = study_record(s, part);
  char shape[64];
  snprintf(shape, sizeof shape, w->dim == 3 ? "%zu x %zu x %zu" : "%zu x %zu", g->at.shape[0], g->at.shape[1], g->at.shape[2]);
  if (paper) study_text(s, r, "paper", paper);
  number(s, r, "dim", w->dim);
  number(s, r, "n", (double)w->n);
  study_text(s, r, "block", shape);
  number(s, r, "blocks", (double)g->at.total);
  study_text(s, r, "assignment", assignments[w->assignment]);
  study_text(s, r, "order", orders[w->order]);
  number(s, r, "workers", w->workers);
  number(s, r, "fold", fold);
  return r;
}

static void record_box(study *s, struct cJSON *r, const measured *m)
{
  for (int i = 0; i < BOX; i++)
    if (m->box[i].count) number(s, r, box_names[i], bench_median(&m->box[i]));
}

static void record_measured(study *s, struct cJSON *r, const measured *m, int passes)
{
  number(s, r, "passes", passes);
  number(s, r, "age", bench_median(&m->age)); /* mean over couplings; its neighbours are those between blocks */
  spread(s, r, "worth", &m->worth);
  number(s, r, "factor", bench_median(&m->factor));
  number(s, r, "rate", bench_median(&m->rate));
  number(s, r, "twice", bench_median(&m->twice));
  study_number(s, r, "updates", m->updates); /* to the last one */
  study_number(s, r, "wanted", m->wanted);
}

static void tell(const study *s, const char *part, const stale_setting *w, const measured *m)
{
  study_say(s, "%-9s %dD %zu, %s, %s, %d workers: ages %g (%g - %g), mean %.2f, a pass is worth %.2f of Jacobi's", part, w->dim, w->n,
            assignments[w->assignment], orders[w->order], w->workers, bench_median(&m->box[4]), bench_median(&m->box[1]),
            bench_median(&m->box[7]), bench_median(&m->age), bench_median(&m->worth));
}

static int measure(study *s, const char *part, const char *paper, const stale_setting *w, int fold, int passes, int runs)
{
  static measured m; /* large */
  stale_grid g;
  memset(&m, 0, sizeof m);
  int code = stale_create(w, &g) ? 0 : fail(s, part);
  for (int i = 0; i < runs && !code; i++) code = measure_once(s, &g, passes, &m);
  if (!code) {
    struct cJSON *r = begin_record(s, part, paper, w, &g, fold);
    record_measured(s, r, &m, passes);
    if (paper) record_box(s, r, &m);
    else number(s, r, "min", bench_median(&m.box[1])), number(s, r, "max", bench_median(&m.box[7]));
    tell(s, part, w, &m);
  }
  stale_destroy(&g);
  return code;
}

/* Rows of 128 unknowns: the paper's thread block. Static: as many slabs as workers, `waves` times; on a device a worker to every row. */
static stale_setting setting_of(const study *s, const grid *at, int assignment, gmg_block_order order, int fold, int waves)
{
  stale_setting w = {.dim = at->dim, .n = at->n, .block = {128, 1, 1}, .order = order, .assignment = assignment,
                     .workers = fold ? fold * units(s) : 1};
  if (assignment == STALE_STATIC && !on_device(s)) {
    const size_t slabs = (size_t)(w.workers * waves);
    w.block[0] = w.block[1] = w.block[2] = 0;
    w.block[at->dim - 1] = at->n > slabs ? (at->n + slabs - 1) / slabs : 1;
  }
  return w;
}

/* Figures 9 and 11: ages by assignment, order and oversubscription. fold 0: one worker. */
static const struct {
  int assignment;
  gmg_block_order order;
  int fold, waves;
} shown[] = {{STALE_SYNC, GMG_ORDER_NATURAL, 1, 1},       {STALE_STATIC, GMG_ORDER_NATURAL, 1, 1},    {STALE_STATIC, GMG_ORDER_NATURAL, 4, 1},
             {STALE_STATIC, GMG_ORDER_NATURAL, 1, 2},     {STALE_STRIDE, GMG_ORDER_NATURAL, 1, 1},    {STALE_STRIDE, GMG_ORDER_NATURAL, 4, 1},
             {STALE_STRIDE, GMG_ORDER_NATURAL, 16, 1},    {STALE_STRIDE, GMG_ORDER_TWO_COLOUR, 1, 1}, {STALE_STRIDE, GMG_ORDER_RANDOM, 1, 1},
             {STALE_TICKET, GMG_ORDER_NATURAL, 0, 1},     {STALE_TICKET, GMG_ORDER_TWO_COLOUR, 0, 1}, {STALE_TICKET, GMG_ORDER_RANDOM, 0, 1},
             {STALE_TICKET, GMG_ORDER_NATURAL, 1, 1},     {STALE_TICKET, GMG_ORDER_TWO_COLOUR, 1, 1}, {STALE_TICKET, GMG_ORDER_RANDOM, 1, 1},
             {STALE_TICKET, GMG_ORDER_NATURAL, 4, 1},     {STALE_TICKET, GMG_ORDER_NATURAL, 16, 1}};
enum { SHOWN = sizeof shown / sizeof *shown };

static int ages(study *s, const scale *x)
{
  for (const grid *at = x->ages; at < x->ages + MOST_GRIDS && at->dim; at++) {
    if (make_reference(s, at, 3 * at->passes)) return 1;
    for (int i = 0; i < SHOWN; i++) {
      const stale_setting w = setting_of(s, at, shown[i].assignment, shown[i].order, shown[i].fold, shown[i].waves);
      if (measure(s, "ages", shown[i].waves > 1 ? "Figure 9" : "Figure 11", &w, shown[i].fold, at->passes, x->runs)) return 1;
    }
  }
  return 0;
}

/* Figures 10 and 11: ages by how many neighbours the blocks have, that which reads and that which is read; 2D alone, square blocks. */
static int connections(study *s, const scale *x)
{
  static const int kinds[][2] = {{2, 3}, {3, 2}, {3, 3}, {3, 4}, {4, 3}, {4, 4}};
  const grid *at = &x->ages[0];
  for (int i = 0; i < 2; i++) {
    stale_setting w = setting_of(s, at, i ? STALE_TICKET : STALE_STRIDE, GMG_ORDER_NATURAL, 4, 1);
    static measured m[6];
    stale_grid g;
    w.block[0] = w.block[1] = 8;
    memset(m, 0, sizeof m);
    int code = stale_create(&w, &g) ? 0 : fail(s, "connections");
    for (int run = 0; run < x->runs && !code; run++) {
      static measured whole;
      code = measure_once(s, &g, at->passes, &whole);
      for (int k = 0; k < 6 && !code; k++) {
        const stale_box box = stale_ages(&g, kinds[k][0], kinds[k][1]);
        add_box(&m[k], &box);
      }
    }
    for (int k = 0; k < 6 && !code; k++) {
      char name[8];
      struct cJSON *r = begin_record(s, "connections", "Figure 11", &w, &g, 4);
      snprintf(name, sizeof name, "%d_%d", kinds[k][0], kinds[k][1]);
      study_text(s, r, "connection", name);
      record_box(s, r, &m[k]);
    }
    stale_destroy(&g);
    if (code) return code;
    study_say(s, "ages by kind of connection, %s", assignments[w.assignment]);
  }
  return 0;
}

/* Mean age and worth of a pass over block shapes, orders, workers, on small and large grids. */
static int relation(study *s, const scale *x)
{
  static const size_t shape[4][3][3] = {{{0}}, {{0}}, {{4, 1, 1}, {32, 1, 1}, {8, 8, 1}}, {{4, 1, 1}, {16, 1, 1}, {4, 4, 4}}};
  for (const grid *at = x->relation; at < x->relation + MOST_GRIDS && at->dim; at++) {
    if (make_reference(s, at, 3 * at->passes)) return 1;
    for (int b = 0; b < 3; b++)
      for (int i = 0; i < 8; i++) { /* one worker by three orders, 8-fold by three, stride by two numbers of workers */
        const int fold = i < 3 ? 0 : i < 6 ? 8 : i == 6 ? 1 : 8;
        const gmg_block_order order = i < 6 ? (gmg_block_order)(i % 3) : GMG_ORDER_NATURAL;
        stale_setting w = setting_of(s, at, i < 6 ? STALE_TICKET : STALE_STRIDE, order, fold, 1);
        memcpy(w.block, shape[at->dim][b], sizeof w.block);
        if (measure(s, "relation", NULL, &w, fold, at->passes, x->runs)) return 1;
      }
  }
  return 0;
}

/* Figures 3 to 8, 12, 13: seconds a pass and residual, each point a run of its own as in the paper, nothing recorded. */
static int rate_of(study *s, const grid *at, const stale_setting *w, int fold, int runs)
{
  static bench_samples seconds[MOST_POINTS], residual[MOST_POINTS];
  double passes[MOST_POINTS], time[4][MOST_POINTS];
  int points = 0;
  stale_grid g;
  if (!stale_create(w, &g)) return stale_destroy(&g), fail(s, "rate");
  /* 10, 30, 90, 300, 900 */
  for (int p = 10; p <= at->passes && points < MOST_POINTS; p = points % 2 ? 3 * p : p / 3 * 10, points++) {
    passes[points] = p;
    seconds[points].count = residual[points].count = 0;
    for (int run = -1; run < runs; run++) { /* the first wakes the threads */
      double took;
      stale_restart(&g);
      if (!engine_run(s, &g, p, &took)) return stale_destroy(&g), fail(s, "run");
      if (run < 0) continue;
      bench_add(&seconds[points], took);
      bench_add(&residual[points], stale_measure(&g).residual);
    }
  }
  stale_restart(&g);
  const double first = stale_measure(&g).residual;
  for (int i = 0; i < points; i++) {
    time[0][i] = bench_median(&seconds[i]), time[1][i] = bench_min(&seconds[i]), time[2][i] = bench_max(&seconds[i]);
    time[3][i] = bench_median(&residual[i]) / first;
  }
  struct cJSON *r = begin_record(s, "rate", at->dim == 3 ? "Figure 13" : "Figures 3 to 8, 12", w, &g, fold);
  numbers(s, r, "passes", passes, (size_t)points);
  numbers(s, r, "seconds", time[0], (size_t)points);
  numbers(s, r, "seconds_min", time[1], (size_t)points);
  numbers(s, r, "seconds_max", time[2], (size_t)points);
  numbers(s, r, "residual", time[3], (size_t)points);
  study_say(s, "rate      %dD %zu, %s, %d workers: %.3g us a pass, residual %.3g after %g", w->dim, w->n, assignments[w->assignment],
            w->workers, 1e6 * time[0][points - 1] / passes[points - 1], time[3][points - 1], passes[points - 1]);
  stale_destroy(&g);
  return 0;
}

static int rates(study *s, const scale *x)
{
  for (const grid *at = x->rate; at < x->rate + MOST_GRIDS && at->dim; at++)
    for (int kind = STALE_SYNC; kind <= STALE_TICKET; kind++)
      for (int i = 0; i < (kind == STALE_SYNC ? 1 : FOLDS); i++) {
        const stale_setting w = setting_of(s, at, kind, GMG_ORDER_NATURAL, folds[i], 1);
        if (rate_of(s, at, &w, folds[i], x->runs)) return 1;
      }
  return 0;
}

/* Does recording disturb? The same run with and without, in turns. */
static int recording(study *s, const scale *x)
{
  const grid *at = x->ages[1].dim == 2 ? &x->ages[1] : &x->ages[0];
  for (int kind = STALE_SYNC; kind <= STALE_TICKET; kind++) {
    const stale_setting w = setting_of(s, at, kind, GMG_ORDER_NATURAL, 1, 1);
    static bench_samples with, without, ratio;
    stale_grid g;
    with.count = without.count = ratio.count = 0;
    int code = stale_create(&w, &g) ? 0 : fail(s, "recording");
    for (int run = -1; run < 3 * x->runs && !code; run++) {
      double seconds[2];
      for (int on = 0; on < 2 && !code; on++) {
        stale_restart(&g);
        if (!stale_record(&g, 1, on ? at->passes + 1 : 1) || !engine_run(s, &g, at->passes, &seconds[on])) code = fail(s, "recording");
      }
      if (run < 0 || code) continue;
      bench_add(&without, seconds[0]), bench_add(&with, seconds[1]), bench_add(&ratio, seconds[1] / seconds[0]);
    }
    if (!code) {
      struct cJSON *r = begin_record(s, "recording", "Section V", &w, &g, 1);
      spread(s, r, "with_seconds", &with);
      spread(s, r, "without_seconds", &without);
      spread(s, r, "ratio", &ratio);
      study_say(s, "recording %s: %.3f of the time without", assignments[kind], bench_median(&ratio));
    }
    stale_destroy(&g);
    if (code) return code;
  }
  return 0;
}

/* --- the multigrid smoother --- */

typedef struct smoothing {
  int overlap, deterministic, fold; /* fold 0: one block in flight */
  gmg_block_order order;
  gmg_assignment assignment;
} smoothing;

static gmg_params smoother_params(const grid *at, const smoothing *how, int device)
{
  static const size_t block[4][3] = {{0}, {0}, {32, 8, 1}, {8, 8, 8}};
  gmg_params p = gmg_params_default();
  p.overlap = how->overlap, p.order = how->order, p.deterministic = how->deterministic;
  p.assignment = how->assignment;
  p.in_flight = how->fold ? 0 : 1;
  if (device && how->fold && !how->deterministic && how->assignment == GMG_ASSIGN_DYNAMIC) p.oversubscription = how->fold;
  memcpy(p.block, block[at->dim], sizeof p.block);
  p.accel = GMG_ACCEL_NONE, p.cycle = GMG_CYCLE_V, p.precision = GMG_PRECISION_SAME;
  p.max_cycles = 12, p.rtol = 1e-300;
  return p;
}

/* Factor per V(1,1) cycle from a random start with f = 0. One block at a time: always the same. */
static int smoother_factor(study *s, const grid *at, const smoothing *how, int runs, bench_samples *factor, gmg_params *p)
{
  const study_place *place = study_best(s);
  const demo_options *o = &place->demo;
  gmg_context *threads = NULL, *context = place->context;
  gmg_problem problem = study_problem(at->dim, at->n, 0);
  problem.centering = at->dim == 3 ? GMG_CELL : GMG_VERTEX;
  gmg_solver *solver = NULL;
  demo_array f = {0}, u = {0};
  gmg_report report;
  *p = smoother_params(at, how, on_device(s));
  if (!on_device(s) && how->fold > 1) {
    if (demo_check(o, NULL, gmg_context_create_host(how->fold * units(s), &threads))) return 1;
    context = threads;
  }
  int code = demo_check(o, context, gmg_solver_create(context, &problem, p, &solver));
  if (!code && !(demo_array_create(o, &problem, &f) & demo_array_create(o, &problem, &u))) code = fail(s, "fields");
  for (int run = 0; run < (how->deterministic || how->fold == 0 ? 1 : runs) && !code; run++) {
    demo_field_random(&problem, 2, u.here);
    code = demo_array_send(o, &f) || demo_array_send(o, &u);
    const gmg_status status = code ? GMG_OK : gmg_solve(solver, f.there, u.there, &report);
    if (!demo_is_outcome(status)) code = demo_check(o, context, status);
    if (!code) bench_add(factor, report.factor);
  }
  demo_array_destroy(&f), demo_array_destroy(&u);
  gmg_solver_destroy(solver);
  gmg_context_destroy(threads);
  return code;
}

/* Ages in single passes over blocks of that shape, the finest level's: 0 or 1 for whom nothing is ahead. */
static int smoother_ages(study *s, stale_grid *g, int runs, measured *m)
{
  for (int run = 0; run < 5 * runs; run++) {
    double seconds;
    stale_restart(g);
    if (!stale_record(g, 1, 2) || !engine_run(s, g, 1, &seconds)) return fail(s, "ages");
    const stale_box box = stale_ages(g, 0, 0);
    add_box(m, &box);
    bench_add(&m->age, stale_coupling_age(g));
  }
  return 0;
}

static int smoother_row(study *s, const grid *at, const smoothing *how, int runs)
{
  static measured m;
  bench_samples factor = {0};
  gmg_params p;
  memset(&m, 0, sizeof m);
  if (smoother_factor(s, at, how, runs, &factor, &p)) return 1;
  stale_setting w = {.dim = at->dim, .n = at->n, .order = how->order, .workers = how->fold ? how->fold * units(s) : 1,
                     .assignment = how->deterministic ? STALE_SYNC : how->assignment == GMG_ASSIGN_STATIC ? STALE_STRIDE : STALE_TICKET};
  memcpy(w.block, p.block, sizeof w.block);
  stale_grid g;
  int code = stale_create(&w, &g) ? 0 : fail(s, "smoother");
  if (!code) code = smoother_ages(s, &g, runs, &m);
  if (!code) {
    struct cJSON *r = begin_record(s, "smoother", NULL, &w, &g, how->fold);
    number(s, r, "overlap", how->overlap);
    spread(s, r, "cycle_factor", &factor);
    number(s, r, "age", bench_median(&m.age));
    spread(s, r, "fresh", &m.box[8]);
    study_say(s, "smoother  %dD %zu, overlap %d, %s, %s, %d workers: factor %.3f, fresh %.2f", w.dim, w.n, how->overlap,
              assignments[w.assignment], orders[w.order], w.workers, bench_median(&factor), bench_median(&m.box[8]));
  }
  stale_destroy(&g);
  return code;
}

static int smoothers(study *s, const scale *x)
{
  for (const grid *at = x->smoother; at < x->smoother + MOST_GRIDS && at->dim; at++)
    for (int overlap = 0; overlap < 2; overlap++) {
      smoothing how = {.overlap = overlap, .deterministic = 1, .fold = 1, .assignment = GMG_ASSIGN_BEST};
      if (smoother_row(s, at, &how, x->smoother_runs)) return 1;
      how.deterministic = 0;
      for (int i = 0; i < 12; i++) { /* orders, by workers and assignments */
        how.order = (gmg_block_order)(i % 3);
        how.fold = i < 3 ? 0 : i < 9 ? 1 : 8;
        how.assignment = i >= 3 && i < 6 ? GMG_ASSIGN_STATIC : GMG_ASSIGN_DYNAMIC;
        if (smoother_row(s, at, &how, x->smoother_runs)) return 1;
      }
    }
  return 0;
}

static const struct {
  const char *name;
  int (*run)(study *s, const scale *x);
} parts[] = {{"ages", ages},   {"connections", connections}, {"relation", relation},
             {"rate", rates},  {"recording", recording},     {"smoother", smoothers}};

int main(int argc, char **argv)
{
  static const char *const names[] = {"ages", "connections", "relation", "rate", "recording", "smoother", NULL};
  static const study_program about = {
      .name = "study_staleness",
      .summary = "Ages of the values that asynchronous Jacobi iterations and smoothers use, update rates and convergence,\n"
                 "after Tsai, Nayak, Chow, Anzt (2022). --n: unknowns along an axis of the first grid (2D) of ages, relation, rate.",
      .parts = names, .least = 8, .most = 4000};
  study s;
  int code = study_begin(&s, &about, argc, argv);
  if (code >= 0) return code;
  const scale x = scale_of(&s);
  code = 0;
  for (size_t i = 0; i < sizeof parts / sizeof *parts && !code; i++)
    if (study_wants(&s, parts[i].name)) code = parts[i].run(&s, &x);
  return study_end(&s, code);
}
