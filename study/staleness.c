/* Ages of the values that asynchronous iterations use, and their effect, after Tsai, Nayak, Chow, Anzt, "Implementing asynchronous
 * Jacobi iteration on GPUs" (2022): its Figures 3 to 13, and the same for the multigrid smoother. docs/study-staleness.md shows
 * the results. stale.h has the algorithms, and defines ages. */
#include "staleness.h"

#include <stdio.h>

const char *const study_staleness_assignments[STALE_ASSIGNMENTS] = {"sync", "static", "stride", "ticket"};
const char *const study_staleness_orders[] = {[GMG_ORDER_NATURAL] = "natural", [GMG_ORDER_TWO_COLOUR] = "two-colour",
                                              [GMG_ORDER_RANDOM] = "random"};

static const scale scales[STUDY_SCALES] = {
    [STUDY_QUICK] = {{{2, 24, 100}, {3, 10, 32}}, {{2, 15, 200}, {3, 9, 80}}, {{2, 24, 100}}, {{2, 31, 0}, {3, 16, 0}}, 3, 3, 1,
                     {{2, 40, 64}}},
    [STUDY_DEFAULT] = {{{2, 100, 400}, {2, 300, 200}, {3, 48, 100}},
                       {{2, 31, 400}, {2, 150, 100}, {3, 15, 200}, {3, 32, 60}},
                       {{2, 100, 1000}, {2, 300, 300}, {3, 32, 300}},
                       {{2, 127, 0}, {3, 32, 0}}, 3, 20, 0, {{0}}},
    [STUDY_FULL] = {{{2, 100, 1000}, {2, 300, 1000}, {3, 100, 300}},
                    {{2, 31, 1000}, {2, 150, 400}, {3, 15, 300}, {3, 32, 200}},
                    {{2, 100, 1000}, {2, 200, 1000}, {2, 300, 1000}, {2, 1000, 300}, {2, 2800, 300}, {3, 100, 1000}, {3, 200, 300}},
                    {{2, 1023, 0}, {3, 128, 0}}, 5, 20, 0,
                    {{2, 1000, 300}, {3, 200, 300}}}};

scale study_staleness_scale(const study *s)
{
  scale x = scales[s->options.scale];
  if (s->options.runs) x.runs = x.smoother_runs = s->options.runs;
  if (s->options.n) x.ages[0].n = x.relation[0].n = x.rate[0].n = (size_t)s->options.n; /* the first is in 2D */
  return x;
}

/* --- the engine: on the device, or the host where there is none --- */

int study_staleness_units(const study *s)
{
#ifdef GMG_CUDA
  if (study_is_device(study_best(s))) return study_stale_cuda_units();
#endif
  return gmg_context_threads(s->place[STUDY_HOST].context);
}

int study_staleness_run(const study *s, stale_grid *g, int passes, double *seconds)
{
#ifdef GMG_CUDA
  if (study_is_device(study_best(s))) {
    const int done = study_stale_cuda_run(&g->at, g->padded, g->ages, g->passes, passes, seconds);
    g->passes += passes;
    return done;
  }
#endif
  (void)s;
  return study_stale_run_host(g, passes, seconds);
}

int study_staleness_fail(const study *s, const char *what)
{
  return demo_fail(&s->place[STUDY_HOST].demo, "%s: out of memory, or of threads", what);
}

/* --- settings, records --- */

stale_setting study_staleness_setting(const study *s, const grid *at, int assignment, gmg_block_order order, int fold, int waves)
{
  stale_setting w = {.dim = at->dim, .n = at->n, .block = {128, 1, 1}, .order = order, .assignment = assignment,
                     .workers = fold ? fold * study_staleness_units(s) : 1};
  if ((assignment == STALE_STATIC || assignment == STALE_SYNC) && study_is_device(study_best(s))) {
    w.workers = ALL_BLOCKS;
  } else if (assignment == STALE_STATIC) {
    const size_t slabs = (size_t)(w.workers * waves);
    w.block[0] = w.block[1] = w.block[2] = 0;
    w.block[at->dim - 1] = at->n > slabs ? (at->n + slabs - 1) / slabs : 1;
  }
  return w;
}

static const char *const box_names[BOX] = {"mean", "min", "q05", "q25", "median", "q75", "q95", "max", "fresh", "ahead"};

void study_staleness_add_ages(ages_of_runs *m, const stale_box *b)
{
  const double value[BOX] = {b->mean, b->least, b->q05, b->q25, b->median, b->q75, b->q95, b->most, b->fresh, b->ahead};
  for (int i = 0; i < BOX && b->count; i++) bench_add(&m->box[i], value[i]);
}

void study_staleness_record_number(study *s, struct cJSON *r, const char *name, double value)
{
  study_number(s, r, name, study_rounded(value, 4));
}

void study_staleness_record_ages(study *s, struct cJSON *r, const ages_of_runs *m)
{
  for (int i = 0; i < BOX; i++)
    if (m->box[i].count) study_staleness_record_number(s, r, box_names[i], bench_median(&m->box[i]));
}

struct cJSON *study_staleness_begin_record(study *s, const char *part, const char *paper, const stale_setting *w,
                                           const stale_grid *g, int fold)
{
  struct cJSON *r = study_record(s, part);
  char shape[64];
  snprintf(shape, sizeof shape, w->dim == 3 ? "%zu x %zu x %zu" : "%zu x %zu", g->at.shape[0], g->at.shape[1], g->at.shape[2]);
  if (paper) study_text(s, r, "paper", paper);
  study_number(s, r, "dim", w->dim);
  study_number(s, r, "n", (double)w->n);
  study_text(s, r, "block", shape);
  study_number(s, r, "blocks", (double)g->at.total);
  study_text(s, r, "assignment", study_staleness_assignments[w->assignment]);
  study_text(s, r, "order", study_staleness_orders[w->order]);
  study_number(s, r, "workers", g->at.workers);
  study_number(s, r, "fold", fold);
  return r;
}

static const study_part parts[] = {{"ages", study_staleness_ages},
                                   {"connections", study_staleness_connections},
                                   {"relation", study_staleness_relation},
                                   {"rate", study_staleness_rates},
                                   {"recording", study_staleness_recording},
                                   {"smoother", study_staleness_smoothers},
                                   {NULL, NULL}};

static const study_program about = {
    .name = "study_staleness",
    .summary = "Ages of the values that asynchronous Jacobi iterations and smoothers use, update rates and convergence,\n"
               "after Tsai, Nayak, Chow, Anzt (2022). --n: unknowns along an axis of the first grid (2D) of ages, relation, rate.",
    .parts = parts, .least = 8, .most = 4000};

int main(int argc, char **argv) { return study_main(&about, argc, argv); }
