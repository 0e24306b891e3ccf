/* Update rates and residuals over time: Figures 3 to 8, 12, 13. Effect of recording ages on them. */
#include "staleness.h"

enum { MOST_POINTS = 8, FOLDS = 5 };
static const int folds[FOLDS] = {1, 2, 4, 8, 16};

/* Figures 3 to 8, 12, 13: seconds of a pass, and residual. As in the paper every point is a separate run. Ages are not recorded. */
static int rate_of(study *s, const grid *at, const stale_setting *w, int fold, int runs)
{
  static bench_samples seconds[MOST_POINTS], residual[MOST_POINTS];
  double passes[MOST_POINTS], time[3][MOST_POINTS], left[3][MOST_POINTS];
  int points = 0;
  stale_grid g;
  if (!study_stale_create(w, &g)) return study_stale_destroy(&g), study_staleness_fail(s, "rate");
  /* 10, 30, 90, 300, 900 */
  for (int p = 10; p <= at->passes && points < MOST_POINTS; p = points % 2 ? 3 * p : p / 3 * 10, points++) {
    passes[points] = p;
    seconds[points].count = residual[points].count = 0;
    for (int run = -1; run < runs; run++) { /* the first run wakes the threads */
      double took;
      study_stale_restart(&g);
      if (!study_staleness_run(s, &g, p, &took)) return study_stale_destroy(&g), study_staleness_fail(s, "run");
      if (run < 0) continue;
      bench_add(&seconds[points], took);
      bench_add(&residual[points], study_stale_measure(&g).residual);
    }
  }
  study_stale_restart(&g);
  const double first = study_stale_measure(&g).residual;
  for (int i = 0; i < points; i++) {
    time[0][i] = bench_median(&seconds[i]), time[1][i] = bench_min(&seconds[i]), time[2][i] = bench_max(&seconds[i]);
    left[0][i] = bench_median(&residual[i]) / first;
    left[1][i] = bench_min(&residual[i]) / first, left[2][i] = bench_max(&residual[i]) / first;
  }
  struct cJSON *r = study_staleness_begin_record(s, "rate", at->dim == 3 ? "Figure 13" : "Figures 3 to 8, 12", w, &g, fold);
  study_numbers(s, r, "passes", passes, (size_t)points, 4);
  study_numbers(s, r, "seconds", time[0], (size_t)points, 4);
  study_numbers(s, r, "seconds_min", time[1], (size_t)points, 4);
  study_numbers(s, r, "seconds_max", time[2], (size_t)points, 4);
  study_numbers(s, r, "residual", left[0], (size_t)points, 4);
  study_numbers(s, r, "residual_min", left[1], (size_t)points, 4);
  study_numbers(s, r, "residual_max", left[2], (size_t)points, 4);
  study_say(s, "rate      %dD %zu, %s, %d workers: %.3g us a pass, residual %.3g after %g", w->dim, w->n,
            study_staleness_assignments[w->assignment],
            g.at.workers, 1e6 * time[0][points - 1] / passes[points - 1], left[0][points - 1], passes[points - 1]);
  study_stale_destroy(&g);
  return 0;
}

int study_staleness_rates(study *s)
{
  const scale x = study_staleness_scale(s);
  const int device = study_is_device(study_best(s));
  for (const grid *at = x.rate; at < x.rate + MOST_GRIDS && at->dim; at++)
    for (int kind = STALE_SYNC; kind <= STALE_TICKET; kind++)
      for (int i = 0; i < (kind == STALE_SYNC || (kind == STALE_STATIC && device) ? 1 : FOLDS); i++) { /* on a device all rows have a worker */
        const stale_setting w = study_staleness_setting(s, at, kind, GMG_ORDER_NATURAL, folds[i], 1);
        if (rate_of(s, at, &w, folds[i], x.runs)) return 1;
      }
  return 0;
}

/* The effect of recording: runs without recording, with all passes recorded, and with some passes recorded, in turn. */
int study_staleness_recording(study *s)
{
  const scale x = study_staleness_scale(s);
  const grid *at = x.ages[1].dim == 2 ? &x.ages[1] : &x.ages[0];
  for (int kind = STALE_SYNC; kind <= STALE_TICKET; kind++) {
    const stale_setting w = study_staleness_setting(s, at, kind, GMG_ORDER_NATURAL, 1, 1);
    enum { NONE, ALL, SOME, HOW };
    static const int every[HOW] = {1, 1, SPARSE};
    static bench_samples time[HOW], ratio[HOW];
    stale_grid g;
    for (int how = 0; how < HOW; how++) time[how].count = ratio[how].count = 0;
    int code = study_stale_create(&w, &g) ? 0 : study_staleness_fail(s, "recording");
    for (int run = -1; run < 3 * x.runs && !code; run++) {
      double seconds[HOW];
      for (int how = 0; how < HOW && !code; how++) {
        study_stale_restart(&g);
        if (!study_stale_record(&g, 1, how == NONE ? 1 : at->passes + 1, every[how]) ||
            !study_staleness_run(s, &g, at->passes, &seconds[how]))
          code = study_staleness_fail(s, "recording");
      }
      for (int how = 0; how < HOW && run >= 0 && !code; how++)
        bench_add(&time[how], seconds[how]), bench_add(&ratio[how], seconds[how] / seconds[NONE]);
    }
    if (!code) {
      struct cJSON *r = study_staleness_begin_record(s, "recording", "Section V", &w, &g, 1);
      study_spread(s, r, "without_seconds", &time[NONE]);
      study_spread(s, r, "with_seconds", &time[ALL]);
      study_spread(s, r, "ratio", &ratio[ALL]);
      study_number(s, r, "every", SPARSE);
      study_spread(s, r, "sparse_seconds", &time[SOME]);
      study_spread(s, r, "sparse_ratio", &ratio[SOME]);
      study_say(s, "recording %s: %.3f of the time without, one pass of %d alone %.3f", study_staleness_assignments[kind],
                bench_median(&ratio[ALL]), SPARSE,
                bench_median(&ratio[SOME]));
    }
    study_stale_destroy(&g);
    if (code) return code;
  }
  return 0;
}
