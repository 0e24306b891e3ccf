/* The multigrid smoother async: factor of a cycle, and ages, for assignments, orders and numbers of workers. */
#include "staleness.h"

#include <string.h>

typedef struct smoothing {
  int overlap, deterministic, fold; /* fold = 0: one block in flight */
  gmg_block_order order;
  gmg_assignment assignment;
} smoothing;

static gmg_params smoother_params(const grid *at, const smoothing *how, int device)
{
  static const size_t block[4][3] = {{0}, {0}, {32, 8, 1}, {8, 8, 8}};
  gmg_params p = study_params();
  p.async.overlap = how->overlap ? how->overlap : GMG_NONE, p.async.order = how->order, p.deterministic = how->deterministic;
  p.async.assignment = how->assignment;
  p.async.in_flight = how->fold ? 0 : 1;
  if (device && how->fold && !how->deterministic && how->assignment == GMG_ASSIGN_DYNAMIC) p.async.oversubscription = how->fold;
  memcpy(p.async.block, block[at->dim], sizeof p.async.block);
  p.accel = GMG_ACCEL_NONE, p.cycle = GMG_CYCLE_V, p.precision = GMG_PRECISION_SAME;
  p.max_cycles = 12, p.rtol = 1e-300;
  return p;
}

/* The factor of a V(1,1) cycle from a random start with f = 0. With one block in flight it is the same in every run. */
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
  *p = smoother_params(at, how, study_is_device(study_best(s)));
  if (!study_is_device(study_best(s)) && how->fold > 1) {
    if (demo_check(o, NULL, gmg_context_create_host(how->fold * study_staleness_units(s), &threads))) return 1;
    context = threads;
  }
  int code = demo_check(o, context, gmg_solver_create(context, &problem, p, &solver));
  if (!code && !(demo_array_create(o, &problem, &f) & demo_array_create(o, &problem, &u))) code = study_staleness_fail(s, "fields");
  for (int run = 0; run < (how->deterministic || how->fold == 0 ? 1 : runs) && !code; run++) {
    code = study_start(place, &problem, 2, run > 0, &u);
    const gmg_status status = code ? GMG_OK : gmg_solve(solver, f.there, u.there, &report);
    if (!gmg_status_is_outcome(status)) code = demo_check(o, context, status);
    if (!code) bench_add(factor, report.factor);
  }
  demo_array_destroy(&f), demo_array_destroy(&u);
  gmg_solver_destroy(solver);
  gmg_context_destroy(threads);
  return code;
}

/* Ages in single passes over blocks of the shape of the finest level's. If nothing is ahead they are 0 or 1. */
static int smoother_ages(study *s, stale_grid *g, int runs, ages_of_runs *m)
{
  for (int run = 0; run < runs; run++) {
    double seconds;
    study_stale_restart(g);
    if (!study_stale_record(g, 1, 2, 1) || !study_staleness_run(s, g, 1, &seconds)) return study_staleness_fail(s, "ages");
    const stale_box box = study_stale_ages(g, 0, 0);
    study_staleness_add_ages(m, &box);
    bench_add(&m->mean, study_stale_coupling_age(g));
  }
  return 0;
}

static int smoother_row(study *s, const grid *at, const smoothing *how, int runs)
{
  static ages_of_runs m;
  bench_samples factor = {0};
  gmg_params p;
  memset(&m, 0, sizeof m);
  if (smoother_factor(s, at, how, runs, &factor, &p)) return 1;
  const int dynamic = !how->deterministic && how->assignment == GMG_ASSIGN_DYNAMIC, device = study_is_device(study_best(s));
  const int by_turns = device ? STALE_STATIC : STALE_STRIDE; /* gmg's static assignment (gmg.h) */
  stale_setting w = {.dim = at->dim, .n = at->n, .order = how->order,
                     .workers = device && !dynamic ? ALL_BLOCKS : how->fold ? how->fold * study_staleness_units(s) : 1,
                     .assignment = how->deterministic ? STALE_SYNC : dynamic ? STALE_TICKET : by_turns};
  memcpy(w.block, p.async.block, sizeof w.block);
  stale_grid g;
  int code = study_stale_create(&w, &g) ? 0 : study_staleness_fail(s, "smoother");
  if (!code) code = smoother_ages(s, &g, runs, &m);
  if (!code) {
    struct cJSON *r = study_staleness_begin_record(s, "smoother", NULL, &w, &g, how->fold);
    study_number(s, r, "overlap", how->overlap);
    study_spread(s, r, "cycle_factor", &factor);
    study_staleness_record_number(s, r, "age", bench_median(&m.mean));
    study_spread(s, r, "fresh", &m.box[BOX_FRESH]);
    study_say(s, "smoother  %dD %zu, overlap %d, %s, %s, %d workers: factor %.3f, fresh %.2f", w.dim, w.n, how->overlap,
              study_staleness_assignments[w.assignment], study_staleness_orders[w.order], g.at.workers, bench_median(&factor),
                  bench_median(&m.box[BOX_FRESH]));
  }
  study_stale_destroy(&g);
  return code;
}

int study_staleness_smoothers(study *s)
{
  const scale x = study_staleness_scale(s);
  for (const grid *at = x.smoother; at < x.smoother + MOST_GRIDS && at->dim; at++)
    for (int overlap = 0; overlap < 2; overlap++) {
      smoothing how = {.order = GMG_ORDER_NATURAL, .overlap = overlap, .deterministic = 1, .fold = 1, .assignment = GMG_ASSIGN_AUTO};
      if (smoother_row(s, at, &how, x.smoother_runs)) return 1;
      how.deterministic = 0;
      for (int i = 0; i < 12; i++) { /* orders, by workers and assignments */
        how.order = (gmg_block_order)(GMG_ORDER_NATURAL + i % 3);
        how.fold = i < 3 ? 0 : i < 9 ? 1 : 8;
        how.assignment = i >= 3 && i < 6 ? GMG_ASSIGN_STATIC : GMG_ASSIGN_DYNAMIC;
        if (smoother_row(s, at, &how, x.smoother_runs)) return 1;
      }
    }
  return 0;
}
