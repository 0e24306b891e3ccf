/* Ages and their effect: Figures 9 to 11, and the relation between age and convergence. */
#include "staleness.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- synchronous Jacobi, the reference --- */

enum { MOST_MARKS = 1024 };
static struct {
  int marks, passes[MOST_MARKS];
  double smooth[MOST_MARKS];
} reference;

/* Stores the smooth part of the residual after 0, 1, 2, ... passes, later after every fiftieth of their number. Always on the
   host. */
static int make_reference(const study *s, const grid *of, int passes)
{
  const int large = pow((double)of->n, of->dim) > 1e5; /* a barrier of all threads pays for this many unknowns */
  const stale_setting w = {.dim = of->dim, .n = of->n, .block = {0, 16, 16}, .order = GMG_ORDER_NATURAL, .assignment = STALE_SYNC,
                           .workers = large ? gmg_context_threads(s->place[STUDY_HOST].context) : 1};
  stale_grid g;
  double seconds;
  int done = study_stale_create(&w, &g);
  reference.marks = 0;
  while (done && g.passes <= passes && reference.marks < MOST_MARKS) {
    reference.passes[reference.marks] = g.passes;
    reference.smooth[reference.marks++] = study_stale_measure(&g).smooth;
    done = study_stale_run_host(&g, 1 + g.passes / 50, &seconds);
  }
  study_stale_destroy(&g);
  return done ? 0 : study_staleness_fail(s, "synchronous Jacobi");
}

/* The number of passes of synchronous Jacobi to this residual; NaN: more than were done. */
static double synchronous_passes(double smooth)
{
  const double *r = reference.smooth;
  for (int k = 1; k < reference.marks; k++)
    if (r[k] <= smooth)
      return reference.passes[k] - (reference.passes[k] - reference.passes[k - 1]) * log(smooth / r[k]) / log(r[k - 1] / r[k]);
  return NAN;
}

/* --- a setting, measured --- */

typedef struct measured {
  ages_of_runs ages;
  bench_samples worth, unrecorded, factor, rate, twice; /* worth: of runs that record ages. unrecorded: worth of the other runs */
  double updates, wanted; /* block updates in the last run: counted, and as they should be */
  int every;              /* every `every`th pass was recorded */
} measured;

/* A run in two halves of the passes. worth, factor: of the second half. */
typedef struct halves {
  double worth, factor, seconds;
} halves;

static int run_halves(const study *s, stale_grid *g, int passes, halves *h)
{
  const int half = passes / 2;
  double seconds[2];
  study_stale_restart(g);
  if (!study_staleness_run(s, g, half, &seconds[0])) return study_staleness_fail(s, "run");
  const double before = study_stale_measure(g).smooth;
  if (!study_staleness_run(s, g, passes - half, &seconds[1])) return study_staleness_fail(s, "run");
  const double after = study_stale_measure(g).smooth;
  h->worth = (synchronous_passes(after) - synchronous_passes(before)) / (passes - half);
  h->factor = pow(after / before, 1.0 / (passes - half));
  h->seconds = seconds[0] + seconds[1];
  return 0;
}

/* A run that records ages in the middle of the second half. At its start and end not all threads are at work. */
static int measure_recorded(const study *s, stale_grid *g, int passes, measured *m)
{
  const int half = passes / 2, from = half + half / 8 + 1, to = passes - half / 8 + 1;
  const int sparse = (study_staleness_scale(s).sparse || study_is_device(study_best(s))) && to - from >= 2 * SPARSE;
  halves h;
  m->every = sparse ? SPARSE : 1;
  if (!study_stale_record(g, from, to, m->every)) return study_staleness_fail(s, "ages");
  if (run_halves(s, g, passes, &h)) return 1;
  const stale_box box = study_stale_ages(g, 0, 0);
  study_staleness_add_ages(&m->ages, &box);
  bench_add(&m->ages.mean, study_stale_coupling_age(g));
  bench_add(&m->worth, h.worth);
  bench_add(&m->factor, h.factor);
  bench_add(&m->rate, pow((double)g->at.n[0], g->at.dim) * passes / h.seconds);
  bench_add(&m->twice, (double)study_stale_twice(g));
  m->updates = (double)study_stale_updates(g), m->wanted = (double)passes * (double)g->at.total;
  return 0;
}

/* A run without recording, which would disturb it: the worth of a pass needs only residuals. */
static int measure_unrecorded(const study *s, stale_grid *g, int passes, measured *m)
{
  halves h;
  if (!study_stale_record(g, 1, 1, 1)) return study_staleness_fail(s, "run");
  if (run_halves(s, g, passes, &h)) return 1;
  bench_add(&m->unrecorded, h.worth);
  return 0;
}

static void record_measured(study *s, struct cJSON *r, const measured *m, int passes)
{
  study_number(s, r, "passes", passes);
  /* age: the mean over all couplings. The ages after it are only those of neighbouring blocks */
  study_staleness_record_number(s, r, "age", bench_median(&m->ages.mean));
  study_spread(s, r, "worth", &m->worth);
  study_spread(s, r, "worth_unrecorded", &m->unrecorded);
  study_staleness_record_number(s, r, "factor", bench_median(&m->factor));
  study_staleness_record_number(s, r, "rate", bench_median(&m->rate));
  study_staleness_record_number(s, r, "twice", bench_median(&m->twice));
  study_number(s, r, "updates", m->updates); /* up to the last one */
  study_number(s, r, "wanted", m->wanted);
  study_number(s, r, "every", m->every);
}

static void tell(const study *s, const char *part, const stale_setting *w, int workers, const measured *m)
{
  study_say(s, "%-9s %dD %zu, %s, %s, %d workers: ages %g (%g - %g), mean %.2f, a pass is worth %.2f of Jacobi's, recorded %.2f", part,
            w->dim, w->n, study_staleness_assignments[w->assignment], study_staleness_orders[w->order], workers,
                bench_median(&m->ages.box[BOX_MEDIAN]),
            bench_median(&m->ages.box[BOX_LEAST]), bench_median(&m->ages.box[BOX_MOST]), bench_median(&m->ages.mean),
            bench_median(&m->unrecorded), bench_median(&m->worth));
}

/* With a single worker only the times differ from run to run. */
static int measure(study *s, const char *part, const char *paper, const stale_setting *w, int fold, int passes, int usual)
{
  static measured m; /* large */
  const int runs = w->workers == 1 ? 1 : usual;
  stale_grid g;
  memset(&m, 0, sizeof m);
  int code = study_stale_create(w, &g) ? 0 : study_staleness_fail(s, part);
  for (int i = 0; i < runs && !code; i++) code = measure_unrecorded(s, &g, passes, &m) || measure_recorded(s, &g, passes, &m);
  if (!code) {
    struct cJSON *r = study_staleness_begin_record(s, part, paper, w, &g, fold);
    record_measured(s, r, &m, passes);
    if (paper) {
      study_staleness_record_ages(s, r, &m.ages);
    } else {
      study_staleness_record_number(s, r, "min", bench_median(&m.ages.box[BOX_LEAST]));
      study_staleness_record_number(s, r, "max", bench_median(&m.ages.box[BOX_MOST]));
    }
    tell(s, part, w, g.at.workers, &m);
  }
  study_stale_destroy(&g);
  return code;
}

/* Figures 9 and 11: ages by assignment, order and oversubscription. fold 0: one worker. */
typedef struct shown_as {
  int assignment;
  gmg_block_order order;
  int fold, waves;
} shown_as;
static const shown_as shown[] = {
    {STALE_SYNC, GMG_ORDER_NATURAL, 1, 1},      {STALE_STATIC, GMG_ORDER_NATURAL, 1, 1},
    {STALE_STATIC, GMG_ORDER_NATURAL, 4, 1},    {STALE_STATIC, GMG_ORDER_NATURAL, 1, 2},
    {STALE_STRIDE, GMG_ORDER_NATURAL, 1, 1},    {STALE_STRIDE, GMG_ORDER_NATURAL, 4, 1},
    {STALE_STRIDE, GMG_ORDER_NATURAL, 16, 1},   {STALE_STRIDE, GMG_ORDER_TWO_COLOUR, 1, 1},
    {STALE_STRIDE, GMG_ORDER_RANDOM, 1, 1},     {STALE_TICKET, GMG_ORDER_NATURAL, 0, 1},
    {STALE_TICKET, GMG_ORDER_TWO_COLOUR, 0, 1}, {STALE_TICKET, GMG_ORDER_RANDOM, 0, 1},
    {STALE_TICKET, GMG_ORDER_NATURAL, 1, 1},    {STALE_TICKET, GMG_ORDER_TWO_COLOUR, 1, 1},
    {STALE_TICKET, GMG_ORDER_RANDOM, 1, 1},     {STALE_TICKET, GMG_ORDER_NATURAL, 4, 1},
    {STALE_TICKET, GMG_ORDER_NATURAL, 16, 1}};
enum { SHOWN = sizeof shown / sizeof *shown };

/* Ages on large grids, with as many workers as fit on a device. */
static const shown_as largest[] = {{STALE_STATIC, GMG_ORDER_NATURAL, 1, 1},
                                   {STALE_STRIDE, GMG_ORDER_NATURAL, 16, 1},
                                   {STALE_TICKET, GMG_ORDER_NATURAL, 16, 1},
                                   {STALE_TICKET, GMG_ORDER_TWO_COLOUR, 16, 1}};
enum { LARGEST = sizeof largest / sizeof *largest };

static int ages_of_grids(study *s, const grid *at, const shown_as *as, int count)
{
  for (const grid *end = at + MOST_GRIDS; at < end && at->dim; at++) {
    if (make_reference(s, at, 3 * at->passes)) return 1;
    for (int i = 0; i < count; i++) {
      const int slabs = as[i].assignment == STALE_STATIC && as[i].fold * as[i].waves > 1;
      if (slabs && study_is_device(study_best(s))) continue; /* on a device all rows have a worker */
      const stale_setting w = study_staleness_setting(s, at, as[i].assignment, as[i].order, as[i].fold, as[i].waves);
      if (measure(s, "ages", as[i].waves > 1 ? "Figure 9" : "Figure 11", &w, as[i].fold, at->passes, study_staleness_scale(s).runs))
        return 1;
    }
  }
  return 0;
}

int study_staleness_ages(study *s)
{
  const scale x = study_staleness_scale(s);
  return ages_of_grids(s, x.ages, shown, SHOWN) || ages_of_grids(s, x.large, largest, LARGEST);
}

/* Figures 10 and 11: ages by the numbers of neighbours of the reading block and of the block it reads. Only 2D, with square
   blocks. */
int study_staleness_connections(study *s)
{
  const scale x = study_staleness_scale(s);
  static const int kinds[][2] = {{2, 3}, {3, 2}, {3, 3}, {3, 4}, {4, 3}, {4, 4}};
  const grid *at = &x.ages[0];
  for (int i = 0; i < 2; i++) {
    stale_setting w = study_staleness_setting(s, at, i ? STALE_TICKET : STALE_STRIDE, GMG_ORDER_NATURAL, 4, 1);
    static ages_of_runs m[6];
    stale_grid g;
    w.block[0] = w.block[1] = 8;
    memset(m, 0, sizeof m);
    int code = study_stale_create(&w, &g) ? 0 : study_staleness_fail(s, "connections");
    for (int run = 0; run < x.runs && !code; run++) {
      static measured whole;
      code = measure_recorded(s, &g, at->passes, &whole);
      for (int k = 0; k < 6 && !code; k++) {
        const stale_box box = study_stale_ages(&g, kinds[k][0], kinds[k][1]);
        study_staleness_add_ages(&m[k], &box);
      }
    }
    for (int k = 0; k < 6 && !code; k++) {
      char name[8];
      struct cJSON *r = study_staleness_begin_record(s, "connections", "Figure 11", &w, &g, 4);
      snprintf(name, sizeof name, "%d_%d", kinds[k][0], kinds[k][1]);
      study_text(s, r, "connection", name);
      study_staleness_record_ages(s, r, &m[k]);
    }
    study_stale_destroy(&g);
    if (code) return code;
    study_say(s, "ages by kind of connection, %s", study_staleness_assignments[w.assignment]);
  }
  return 0;
}

/* Mean age and worth of a pass over block shapes, orders, workers, on small and large grids. */
int study_staleness_relation(study *s)
{
  const scale x = study_staleness_scale(s);
  static const size_t shape[4][3][3] = {{{0}}, {{0}}, {{4, 1, 1}, {32, 1, 1}, {8, 8, 1}}, {{4, 1, 1}, {16, 1, 1}, {4, 4, 4}}};
  for (const grid *at = x.relation; at < x.relation + MOST_GRIDS && at->dim; at++) {
    if (make_reference(s, at, 3 * at->passes)) return 1;
    for (int b = 0; b < 3; b++)
      for (int i = 0; i < 8; i++) { /* one worker by three orders, 8-fold by three, stride by two numbers of workers */
        const int fold = i < 3 ? 0 : i < 6 ? 8 : i == 6 ? 1 : 8;
        const gmg_block_order order = i < 6 ? (gmg_block_order)(GMG_ORDER_NATURAL + i % 3) : GMG_ORDER_NATURAL;
        stale_setting w = study_staleness_setting(s, at, i < 6 ? STALE_TICKET : STALE_STRIDE, order, fold, 1);
        memcpy(w.block, shape[at->dim][b], sizeof w.block);
        if (measure(s, "relation", NULL, &w, fold, at->passes, x.runs)) return 1;
      }
  }
  return 0;
}
