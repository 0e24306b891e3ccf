/* The gallery of media on a CUDA device: iterations and times of a solve, random f, zero guess, to the default tolerance. With the
   default parameters, with smoothers by name, and with black box coarsening, as bench_media on the host.
     bench_gpu_media METHOD[,METHOD...] [--json FILE] [--only NAME,NAME] [--commit ID] [--runs N] [--most UNKNOWNS] */
#include "gallery.h"
#include "gpu.h"

#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CYCLES = 300 };
static const double LONG = 0.3; /* seconds: a solve that takes longer is not repeated */

/* A method: smoother, coarse grids and cycle. smoother = NULL: chosen by gmg. */
static const struct {
  const char *name, *smoother;
  gmg_coarsening coarsening;
  gmg_cycle_kind cycle;
} methods[] = {{"default", NULL, GMG_COARSENING_AUTO, GMG_CYCLE_AUTO},
               {"async", "async", GMG_COARSENING_DISCRETIZE, GMG_CYCLE_AUTO},
               {"lines", "lines", GMG_COARSENING_DISCRETIZE, GMG_CYCLE_AUTO},
               {"black_box_v", "async", GMG_COARSENING_BLACK_BOX, GMG_CYCLE_V},
               {"black_box_f", "async", GMG_COARSENING_BLACK_BOX, GMG_CYCLE_F},
               {"lines_black_box_v", "lines", GMG_COARSENING_BLACK_BOX, GMG_CYCLE_V},
               {"lines_black_box_f", "lines", GMG_COARSENING_BLACK_BOX, GMG_CYCLE_F}};
enum { METHODS = sizeof methods / sizeof *methods };
static int chosen[METHODS];

static const struct {
  int dim;
  size_t n;
} sizes[] = {{2, 512}, {2, 1024}, {2, 4096}, {3, 96}, {3, 256}};

static const char *name_of(const gmg_smoother *s)
{
  int i = 0;
  while (gmg_smoother_name(i) && gmg_smoother_by_name(gmg_smoother_name(i)) != s) i++;
  return gmg_smoother_name(i);
}

/* Replaces the arrays of a problem by copies on the device. */
static void upload(gmg_problem *p)
{
  const size_t cells = p->n[0] * p->n[1] * p->n[2];
  if (p->beta) p->beta = bench_gpu_uploaded(p->beta, cells);
  if (p->sigma) p->sigma = bench_gpu_uploaded(p->sigma, cells);
  for (int a = 0; a < p->dim; a++)
    if (p->beta_face[a]) p->beta_face[a] = bench_gpu_uploaded(p->beta_face[a], cells / p->n[a] * (p->n[a] + 1));
}

static void discard(const gmg_problem *p)
{
  cudaFree((void *)p->beta), cudaFree((void *)p->sigma);
  for (int a = 0; a < p->dim; a++) cudaFree((void *)p->beta_face[a]);
}

static void measure(const char *name, const gmg_problem *p, int method)
{
  bench_gpu_run r = bench_gpu_begin_run(p->dim, 1);
  char extra[256];
  gmg_report report;
  r.problem = *p, r.cells = p->n[0] * p->n[1] * p->n[2];
  r.params.smoother = gmg_smoother_by_name(methods[method].smoother), r.params.coarsening = methods[method].coarsening;
  r.params.cycle = methods[method].cycle, r.params.max_cycles = MOST_CYCLES;
  if (bench_gpu_try_build(&r) != GMG_OK) bench_gpu_skipped_row(name, gmg_context_error(r.context), "");
  else {
    double *f = bench_gpu_random_field(r.cells, 1), *u = bench_gpu_device_field(r.cells);
    bench_gpu_samples s = {.count = 0};
    bench_gpu_add(&s, bench_gpu_solve(&r, f, u, &report));
    if (s.sample[0] < LONG) s = bench_gpu_solve_time(&r, f, u, &report);
    gmg_plan_info *info = bench_gpu_plan(&r);
    const double start = bench_gpu_now();
    bench_gpu_build(&r);
    snprintf(extra, sizeof extra, ", \"cycles\": %d, \"status\": \"%s\", \"smoother\": \"%s\", \"coarsening\": \"%s\", \"create_ms\": %.4g",
             report.cycles, gmg_status_string(report.status), name_of(info->smoother),
             info->coarsening == GMG_COARSENING_BLACK_BOX ? "black box" : "discretized", 1e3 * (bench_gpu_now() - start));
    bench_gpu_row(name, "ms", &s, 0, extra);
    cudaFree(f), cudaFree(u), free(info);
  }
  bench_gpu_end_run(&r);
}

/* All chosen methods for one medium. */
static void run_medium(const medium_kind *k, double strength, int dim, size_t n)
{
  char name[METHODS][96];
  int wanted = 0;
  for (int m = 0; m < METHODS; m++) {
    snprintf(name[m], sizeof name[m], "%dd_%zu_%s_%g_%s", dim, n, k->name, strength, methods[m].name);
    wanted += chosen[m] && bench_gpu_wanted(name[m]);
  }
  medium medium;
  if (!wanted) return;
  if (!medium_make(k, dim, n, strength, GMG_CELL, &medium)) bench_gpu_stop(name[0], "not enough memory");
  gmg_problem there = medium.p;
  upload(&there);
  for (int m = 0; m < METHODS; m++)
    if (chosen[m] && bench_gpu_wanted(name[m])) measure(name[m], &there, m);
  discard(&there), medium_free(&medium);
}

static void choose_methods(const char *list)
{
  char copy[256], *rest;
  snprintf(copy, sizeof copy, "%s", list);
  for (const char *word = strtok_r(copy, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
    int m = 0;
    while (m < METHODS && strcmp(word, methods[m].name) != 0) m++;
    if (m == METHODS) bench_gpu_stop(word, "not a method");
    chosen[m] = 1;
  }
}

int main(int argc, char **argv)
{
  const char *list = argc > 1 && argv[1][0] != '-' ? argv[1] : NULL;
  const int code = bench_begin(argc - !!list, argv + !!list, "bench_gpu_media", "Media with coefficients that jump, on a CUDA device.", 5);
  if (code >= 0) return code;
  choose_methods(list ? list : "default");
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    const int dim = sizes[i].dim;
    const size_t n = sizes[i].n;
    if ((double)n * (double)n * (dim == 3 ? (double)n : 1) > bench_gpu_options.most) continue;
    for (const medium_kind *k = medium_kinds; k->name; k++)
      for (int s = 0; s < 3 && k->strength[s] != 0; s++) run_medium(k, k->strength[s], dim, n);
  }
  return bench_end();
}
