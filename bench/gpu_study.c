/* The study on a CUDA device that docs/performance.md shows: time to tolerance over smoother x dimension x size, and growth of the
   default solver. One JSON file in the style of bench_gpu's.
     bench_gpu_study [--json FILE] [--only NAME,NAME] [--commit ID] [--runs N] [--most UNKNOWNS]
   The name of a row is METHOD_DIMd_N, growth_N, growth_fmg_N or growth_create_N; --only also accepts METHOD and growth. */
#include "gpu.h"

#include <cuda_runtime_api.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
  const char *name, *smoother;
  struct {
    int dim;            /* 0: any */
    size_t least, most; /* unknowns; 0: any number */
  } at;
  int overlap, deterministic;
  gmg_block_order order;
  gmg_precision precision;
  size_t block[3];
} method;

/* All methods have their default weights. The async_blocks rows show the effect of stale values. They are in double with blocks of
   a given shape. In mixed precision the finest level's downward leg starts from zero, its upward leg reads only old values, as the
   deterministic twin does, and a small level is a single block. Then fresh and stale values hardly differ. */
#define ANYWHERE {0, 0, 0}
#define SOME_BOXES {3, 128 * 128 * 128, 256 * 256 * 256}
#define BLOCKS GMG_PRECISION_SAME, {32, 8, 8}
static const method methods[] = {
    {"async", "async", ANYWHERE, 1, 0, GMG_ORDER_NATURAL, GMG_PRECISION_AUTO, {0}},
    {"async_overlap0", "async", ANYWHERE, 0, 0, GMG_ORDER_NATURAL, GMG_PRECISION_AUTO, {0}},
    {"async_overlap0_two_colour", "async", ANYWHERE, 0, 0, GMG_ORDER_TWO_COLOUR, GMG_PRECISION_AUTO, {0}},
    {"async_two_colour", "async", ANYWHERE, 1, 0, GMG_ORDER_TWO_COLOUR, GMG_PRECISION_AUTO, {0}},
    {"async_deterministic", "async", ANYWHERE, 1, 1, GMG_ORDER_NATURAL, GMG_PRECISION_AUTO, {0}},
    {"async_blocks", "async", SOME_BOXES, 1, 0, GMG_ORDER_NATURAL, BLOCKS},
    {"async_blocks_deterministic", "async", SOME_BOXES, 1, 1, GMG_ORDER_NATURAL, BLOCKS},
    {"red_black", "red_black", ANYWHERE, 1, 0, GMG_ORDER_NATURAL, GMG_PRECISION_AUTO, {0}},
    {"chebyshev", "chebyshev", ANYWHERE, 1, 0, GMG_ORDER_NATURAL, GMG_PRECISION_AUTO, {0}},
    {"jacobi", "jacobi", ANYWHERE, 1, 0, GMG_ORDER_NATURAL, GMG_PRECISION_AUTO, {0}},
    /* sequential, so only small sizes: a reference */
    {"gauss_seidel", "gauss_seidel", {0, 0, 300000}, 1, 0, GMG_ORDER_NATURAL, GMG_PRECISION_AUTO, {0}},
};
enum { METHODS = sizeof methods / sizeof *methods };

/* In 1D the host computes tables with an entry per unknown. For 10^8 that takes tens of seconds per solver, so only bench_gpu's row
   v11_1d_1e8 has this size. */
static const struct {
  int dim;
  size_t n;
} sizes[] = {{1, 10000}, {1, 1000000}, {1, 10000000}, {2, 256}, {2, 2048}, {2, 8192},
             {3, 32}, {3, 64}, {3, 128}, {3, 256}, {3, 512}};
enum { SIZES = sizeof sizes / sizeof *sizes };

static const size_t growth[] = {64, 96, 128, 192, 256, 384, 512, 640, 768, 896, 1024};
enum { GROWTH = sizeof growth / sizeof *growth };

static void begin_extra(char *extra, size_t size, const bench_gpu_run *r, const char *name)
{
  snprintf(extra, size, ", \"method\": \"%s\", \"dim\": %d, \"n\": %zu, \"unknowns\": %zu", name, r->problem.dim, r->problem.n[0],
           r->cells);
}

/* The row is the time to tolerance. The time of a cycle is a further member. */
static void method_row(const char *name, const char *label, bench_gpu_run *r, const double *f, double *u, double tolerance,
                       double floor)
{
  char head[256], extra[1024];
  gmg_report report;
  begin_extra(head, sizeof head, r, name);
  r->params.rtol = tolerance;
  if (bench_gpu_try_build(r) != GMG_OK) {
    bench_gpu_skipped_row(label, gmg_context_error(r->context), head);
    return;
  }
  const bench_gpu_samples s = bench_gpu_solve_time(r, f, u, &report);
  gmg_plan_info *info = bench_gpu_plan(r);
  const double factor = report.factor, bytes = bench_gpu_cycle_bytes(r->problem.dim, info->precision) * (double)r->cells;
  const int cycles = report.cycles;
  const gmg_status status = report.status;
  const bench_gpu_samples cycle = bench_gpu_cycle_time(r, f, u);
  snprintf(extra, sizeof extra,
           "%s, \"factor\": %.4g, \"cycles\": %d, \"status\": \"%s\", \"precision\": \"%s\", "
           "\"cycle_ms\": %.6g, \"cycle_ms_min\": %.6g, \"cycle_ms_max\": %.6g, \"cycle_bytes\": %.6g, "
           "\"cycle_fraction_of_copy\": %.4f, \"solver_bytes\": %.6g, \"tolerance\": %g, \"floor\": %.3g" SOLVED,
           head, isfinite(factor) ? factor : 1e300, cycles, gmg_status_string(status),
           info->precision == GMG_PRECISION_MIXED ? "mixed" : "same", 1e3 * bench_gpu_median(&cycle), 1e3 * cycle.sample[0],
           1e3 * cycle.sample[cycle.count - 1], bytes, bytes / bench_gpu_median(&cycle) / bench_gpu_options.copy,
               (double)info->bytes, tolerance, floor);
  free(info);
  bench_gpu_row(label, "ms", &s, 0, extra);
}

static int is_there(const method *m, const bench_gpu_run *r)
{
  if (m->at.dim && m->at.dim != r->problem.dim) return 0;
  return r->cells >= m->at.least && (!m->at.most || r->cells <= m->at.most);
}

/* The rows compare smoothers, so there are always cycles. */
static gmg_params params_for_cycles(void)
{
  gmg_params p = gmg_params_default();
  p.direct = GMG_DIRECT_NEVER;
  return p;
}

static int method_wanted(const bench_gpu_run *r, int m, char *label, size_t size)
{
  snprintf(label, size, "%s_%dd_%zu", methods[m].name, r->problem.dim, r->problem.n[0]);
  return (bench_gpu_wanted(label) || bench_gpu_wanted(methods[m].name)) && is_there(&methods[m], r);
}

/* All methods on one problem; f holds random values, at least as many as there are unknowns. */
static void size_rows(bench_gpu_run *r, const double *f, double *u)
{
  double floor = NAN;
  for (int m = 0; m < METHODS; m++) {
    char label[64];
    if (!method_wanted(r, m, label, sizeof label)) continue;
    if (isnan(floor)) {
      r->params = params_for_cycles();
      floor = bench_gpu_measured_floor(r, f, u);
    }
    r->params = params_for_cycles();
    r->params.smoother = gmg_smoother_by_name(methods[m].smoother);
    r->params.async.overlap = methods[m].overlap ? methods[m].overlap : GMG_NONE;
    r->params.deterministic = methods[m].deterministic;
    r->params.async.order = methods[m].order;
    r->params.precision = methods[m].precision;
    for (int a = 0; a < 3; a++) r->params.async.block[a] = methods[m].block[a];
    method_row(methods[m].name, label, r, f, u, bench_gpu_tolerance_above(floor, 1e-8), floor);
  }
}

/* If memory is enough for all but the full multigrid start, only this row is skipped. */
static void fmg_row(bench_gpu_run *r, const char *label, const double *f, double *u)
{
  char extra[512];
  gmg_report report;
  begin_extra(extra, sizeof extra, r, "growth_fmg");
  r->params.fmg = 1, r->params.max_cycles = 1, r->params.check_every = GMG_NONE;
  if (bench_gpu_try_build(r) != GMG_OK) {
    bench_gpu_skipped_row(label, gmg_context_error(r->context), extra);
    return;
  }
  const bench_gpu_samples s = bench_gpu_solve_time(r, f, u, &report);
  bench_gpu_row(label, "ms", &s, 0, extra);
}

static void create_row(bench_gpu_run *r, const char *label)
{
  char extra[256];
  begin_extra(extra, sizeof extra, r, "growth_create");
  const bench_gpu_samples s = bench_gpu_create_time(r);
  bench_gpu_row(label, "ms", &s, 0, extra);
}

static int growth_wanted(const bench_gpu_run *r, char label[3][64])
{
  static const char *const kinds[] = {"growth", "growth_create", "growth_fmg"};
  int any = bench_gpu_wanted("growth");
  for (int k = 0; k < 3; k++) {
    snprintf(label[k], 64, "%s_%zu", kinds[k], r->problem.n[0]);
    any |= bench_gpu_wanted(label[k]);
  }
  return any;
}

/* The default solver at one size. Returns 0 if it does not fit in memory. */
static int growth_rows(bench_gpu_run *r, const double *f, double *u)
{
  char label[3][64], extra[256];
  (void)growth_wanted(r, label);
  r->params = params_for_cycles();
  begin_extra(extra, sizeof extra, r, "growth");
  if (bench_gpu_try_build(r) != GMG_OK) {
    bench_gpu_skipped_row(label[0], gmg_context_error(r->context), extra);
    return 0;
  }
  const double floor = bench_gpu_measured_floor(r, f, u);
  method_row("growth", label[0], r, f, u, bench_gpu_tolerance_above(floor, 1e-8), floor);
  create_row(r, label[1]);
  fmg_row(r, label[2], f, u);
  return 1;
}

/* The largest requested size with fewer than `below` unknowns; 0: none. */
static size_t largest_below(bench_gpu_run *r, double below)
{
  char label[64];
  size_t most = 0;
  for (int i = 0; i < SIZES; i++) {
    int any = 0;
    bench_gpu_resize(r, sizes[i].dim, sizes[i].n);
    for (int m = 0; m < METHODS; m++) any |= method_wanted(r, m, label, sizeof label);
    if (any && (double)r->cells < below && r->cells > most) most = r->cells;
  }
  return most;
}

/* All problems use the beginning of one random field. Sizes whose fields do not fit on the device are left out. */
static void all_sizes(bench_gpu_run *r)
{
  double *f = NULL, *u = NULL;
  size_t most = largest_below(r, bench_gpu_options.most + 0.5);
  for (; most > 0; most = largest_below(r, (double)most)) {
    f = bench_gpu_device_field_or_null(most), u = f ? bench_gpu_device_field_or_null(most) : NULL;
    if (u) break;
    cudaFree(f);
  }
  if (most == 0) return;
  bench_gpu_fill_random(f, most, 1);
  for (int i = 0; i < SIZES; i++) {
    bench_gpu_resize(r, sizes[i].dim, sizes[i].n);
    if (r->cells <= most) size_rows(r, f, u);
  }
  bench_gpu_resize(r, 3, 1);
  cudaFree(f), cudaFree(u);
}

static void all_growth(bench_gpu_run *r)
{
  for (int i = 0; i < GROWTH; i++) {
    bench_gpu_resize(r, 3, growth[i]);
    char label[3][64], extra[256];
    if ((double)r->cells > bench_gpu_options.most) break;
    if (!growth_wanted(r, label)) continue;
    double *f = bench_gpu_device_field_or_null(r->cells), *u = f ? bench_gpu_device_field_or_null(r->cells) : NULL;
    begin_extra(extra, sizeof extra, r, "growth");
    if (u) bench_gpu_fill_random(f, r->cells, 1);
    else bench_gpu_skipped_row(label[0], "f and u do not fit into the device's memory", extra);
    const int goes_on = u && growth_rows(r, f, u);
    bench_gpu_resize(r, 3, 1);
    cudaFree(f), cudaFree(u);
    if (!goes_on) break;
  }
}

int main(int argc, char **argv)
{
  const int code = bench_begin(argc, argv, "bench_gpu_study", "time to tolerance on a CUDA device over smoother, dimension and size; "
                               "--only takes METHOD and growth as well", 5);
  if (code >= 0) return code;
  bench_gpu_run r = bench_gpu_begin_run(3, 1);
  all_sizes(&r);
  all_growth(&r);
  bench_gpu_end_run(&r);
  return bench_end();
}
