/* The spread of the residual over many runs: Tables 2 and 3, Figure 5. */
#include "relaxation.h"

#include <math.h>
#include <stdlib.h>

enum { MARKS = 15 }; /* most points */

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
  /* without a spread the average is exactly the residual of all runs */
  for (int i = 0; i < count; i++)
    if (most[i] == least[i]) average[i] = most[i], variance[i] = 0;
  study_number(s, to, "runs", runs);
  study_numbers(s, to, "iterations", at, (size_t)count, 6);
  study_numbers(s, to, "average", average, (size_t)count, 8);
  study_numbers(s, to, "max", most, (size_t)count, 8);
  study_numbers(s, to, "min", least, (size_t)count, 8);
  study_numbers(s, to, "variance", variance, (size_t)count, 5);
}

/* wait = 1: all threads wait for each other after every iteration. Otherwise they wait only when a residual is measured. */
static int spread_of(study *s, const stand_in *c, const char *paper, int stale, int wait, int runs, const int *marks, int count)
{
  const study_place *at = study_best(s);
  const method m = study_relaxation_async(5, stale);
  const gmg_problem p = study_relaxation_problem(c);
  const gmg_params params = study_relaxation_params(&m, c->small);
  double *residual = malloc((size_t)runs * MARKS * sizeof *residual);
  relaxation x;
  if (!residual) return demo_fail(&at->demo, "out of memory: %d runs", runs);
  int failed = study_relaxation_create(&x, at, &p, &params);
  for (int r = 0; r < runs && !failed; r++) {
    failed = study_relaxation_begin(&x);
    for (int i = 0; i < count && !failed; i++) {
      const int steps = marks[i] - (i ? marks[i - 1] : 0);
      study_relaxation_sweep(&x, steps, wait ? 1 : steps);
      residual[r * MARKS + i] = study_relaxation_residual(&x);
    }
    if ((r + 1) % 250 == 0) study_say(s, "%-8s %-16s %-20s run %d of %d", "spread", c->matrix, m.name, r + 1, runs);
  }
  if (!failed) {
    const int last = count - 1;
    struct cJSON *to = study_relaxation_begin_record(s, "spread", paper, c, m.name, at, c->small);
    study_number(s, to, "wait", wait);
    record_spread(s, to, residual, runs, marks, count);
    study_say(s, "%-8s %-16s %-20s %d runs, residual after %d iterations %.3e in the last", "spread", c->matrix, m.name, runs, marks[last],
              residual[(runs - 1) * MARKS + last]);
  }
  study_relaxation_destroy(&x);
  free(residual);
  return failed < 0 ? study_relaxation_skip(s, "spread", paper, c, m.name, at) : failed;
}

int study_relaxation_spread(study *s)
{
  const scale x = study_relaxation_scale(s);
  static const int table_2[] = {10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110, 120, 130, 140, 150};
  static const int table_3[] = {5, 10, 15, 20, 25, 30, 35, 40, 45, 50};
  const int twin = x.spread < 20 ? x.spread : 20;
  const struct {
    int stale, wait, runs;
  } way[] = {{0, 0, x.spread}, {0, 1, x.waiting}, {1, 1, twin}};
  for (int i = 0; i < 3; i++) {
    if (spread_of(s, &study_relaxation_cases[FV1], "Table 2", way[i].stale, way[i].wait, way[i].runs, table_2, 15)) return 1;
    if (spread_of(s, &study_relaxation_cases[TREFETHEN], "Table 3", way[i].stale, way[i].wait, way[i].runs, table_3, 10)) return 1;
  }
  return 0;
}
