/* Speed on a CUDA device: every row of the table in bench/README.md, one JSON file.
     bench_gpu [--json FILE] [--only NAME,NAME] [--commit ID] [--runs N] [--most UNKNOWNS] */
#include "gpu.h"

#include <cuda_runtime_api.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* The members of the record that describe a solve. */
static void describe_solve(char *extra, size_t size, const gmg_report *report, double rtol, double floor)
{
  snprintf(extra, size,
           ", \"factor\": %.4g, \"cycles\": %d, \"status\": \"%s\", \"tolerance\": %g, \"floor\": %.3g" SOLVED,
           isfinite(report->factor) ? report->factor : 1e300, report->cycles, gmg_status_string(report->status), rtol, floor);
}

static void solve_row(const char *name, bench_gpu_run *r, const double *f, double *u, double rtol)
{
  gmg_report report;
  char extra[512];
  if (!bench_gpu_wanted(name)) return;
  const double floor = bench_gpu_measured_floor(r, f, u);
  r->params.rtol = rtol;
  bench_gpu_build(r);
  const bench_gpu_samples s = bench_gpu_solve_time(r, f, u, &report);
  describe_solve(extra, sizeof extra, &report, rtol, floor);
  bench_gpu_row(name, "ms", &s, 0, extra);
}

/* As many cycles as the previous solve took, without any residual norm. They are replayed as one graph, and the host does not wait
   between them. */
static void unmeasured_row(const char *name, bench_gpu_run *r, const double *f, double *u)
{
  char extra[64];
  gmg_report report;
  if (!bench_gpu_wanted(name)) return;
  bench_gpu_build(r);
  (void)bench_gpu_solve(r, f, u, &report);
  const int cycles = report.cycles, most = r->params.max_cycles;
  r->params.check_every = GMG_NONE, r->params.max_cycles = cycles;
  bench_gpu_build(r);
  const bench_gpu_samples s = bench_gpu_solve_time(r, f, u, &report);
  r->params.check_every = 0, r->params.max_cycles = most;
  snprintf(extra, sizeof extra, ", \"cycles\": %d", cycles);
  bench_gpu_row(name, "ms", &s, 0, extra);
}

/* A cycle, and the convergence factor of a solve to 1e-10, or to the smallest tolerance above the floor. */
static void cycle_row(const char *name, bench_gpu_run *r, const double *f, double *u)
{
  char extra[512];
  gmg_report report;
  if (!bench_gpu_wanted(name)) return;
  const bench_gpu_samples s = bench_gpu_cycle_time(r, f, u);
  const double floor = bench_gpu_measured_floor(r, f, u);
  r->params.rtol = bench_gpu_tolerance_above(floor, 1e-10), r->params.check_every = 0;
  bench_gpu_build(r);
  (void)bench_gpu_solve(r, f, u, &report);
  gmg_plan_info *info = bench_gpu_plan(r);
  const double bytes = bench_gpu_cycle_bytes(r->problem.dim, info->precision) * (double)r->cells;
  free(info);
  describe_solve(extra, sizeof extra, &report, r->params.rtol, floor);
  bench_gpu_row(name, "ms", &s, bytes, extra);
}

static double distance(const double *a, const double *b, size_t n)
{
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (size_t i = 0; i < n; i++) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sqrt(sum / (double)n);
}

static void fmg_row(const char *name, int dim, size_t n)
{
  gmg_report report;
  char extra[256];
  if (!bench_gpu_wanted(name)) return;
  bench_gpu_run r = bench_gpu_begin_run(dim, n);
  if ((double)r.cells > bench_gpu_options.most) return bench_gpu_end_run(&r);
  const size_t bytes = r.cells * sizeof(double);
  double *host = malloc(bytes), *exact = malloc(bytes), *discrete = malloc(bytes);
  bench_gpu_manufactured(dim, n, host, exact);
  double *f = bench_gpu_uploaded(host, r.cells), *u = bench_gpu_device_field(r.cells);
  const double floor = bench_gpu_measured_floor(&r, f, u); /* u is then the discrete solution */
  cudaMemcpy(discrete, u, r.cells * sizeof *u, cudaMemcpyDeviceToHost);
  r.params.fmg = 1, r.params.max_cycles = 1, r.params.check_every = GMG_NONE, r.params.direct = GMG_DIRECT_AUTO;
  bench_gpu_build(&r);
  const bench_gpu_samples s = bench_gpu_solve_time(&r, f, u, &report);
  cudaMemcpy(host, u, r.cells * sizeof *u, cudaMemcpyDeviceToHost);
  snprintf(extra, sizeof extra, ", \"error_algebraic\": %.4g, \"error_discretisation\": %.4g, \"floor\": %.3g, "
           "\"f\": \"manufactured\"",
           distance(host, discrete, r.cells), distance(discrete, exact, r.cells), floor);
  bench_gpu_row(name, "ms", &s, 0, extra);
  cudaFree(f), cudaFree(u);
  free(host), free(exact), free(discrete);
  bench_gpu_end_run(&r);
}

static void residual_row(const char *name, bench_gpu_run *r, const double *f, const double *u, double *to)
{
  bench_gpu_samples s = {.count = 0};
  if (!bench_gpu_wanted(name)) return;
  bench_gpu_build(r);
  for (int i = -1; i < bench_gpu_options.runs; i++) {
    const double start = bench_gpu_now();
    for (int k = 0; k < 10; k++) (void)gmg_residual(r->solver, f, u, to);
    const double t = (bench_gpu_now() - start) / 10;
    if (i >= 0) bench_gpu_add(&s, t);
  }
  bench_gpu_row(name, "ms", &s, 24.0 * (double)r->cells, "");
}

/* One cycle, as gmg_precondition(). Coefficients are on faces. Compulsory reals per unknown, for each visit to its level:
   - pre-smoothing, 5: reads f and three faces, writes u;
   - post-smoothing, 6: reads f, u and three faces, writes u;
   - restriction, 4.125: reads u, f, all faces across axis 0 and half of the others, writes an eighth;
   - prolongation, 5.125: reads an eighth, three faces and u, writes u. An F cycle visits level l l + 1 times. In one of these
     visits u is not zero before. In mixed precision r is read once and rounded to float, and post-smoothing of the finest level
     writes z instead of u. */
static void beta_cycle_row(const char *name, bench_gpu_run *r, const double *f, double *u)
{
  const int is_f = r->params.cycle == GMG_CYCLE_AUTO || r->params.cycle == GMG_CYCLE_F;
  const size_t real = r->params.precision == GMG_PRECISION_SAME ? sizeof(double) : sizeof(float);
  const double visit = 5 + 6 + 4.125 + 5.125;
  double bytes = real == sizeof(float) ? (8 + 4 + 8 - 4) * (double)r->cells : 0;
  bench_gpu_samples s = {.count = 0};
  char extra[128];
  if (!bench_gpu_wanted(name)) return;
  bench_gpu_build(r);
  for (int l = 0; l < 8; l++) bytes += ((is_f ? l + 1 : 1) * visit + (is_f && l > 0)) * (double)(real * r->cells) * pow(0.125, l);
  for (int i = -2; i < bench_gpu_options.runs; i++) {
    const double start = bench_gpu_now();
    if (gmg_precondition(r->solver, f, u) != GMG_OK) bench_gpu_stop("gmg_precondition", gmg_context_error(r->context));
    const double t = bench_gpu_now() - start;
    if (i >= 0) bench_gpu_add(&s, t);
  }
  snprintf(extra, sizeof extra, ", \"cycle\": \"%s\", \"visited\": \"%s\"", is_f ? "F" : "V", is_f ? "l + 1 times" : "once");
  bench_gpu_row(name, "ms", &s, bytes, extra);
}

static void create_row(const char *name, bench_gpu_run *r, const double *f, double *u)
{
  char extra[64];
  if (!bench_gpu_wanted(name)) return;
  const bench_gpu_samples cycle = bench_gpu_cycle_time(r, f, u), s = bench_gpu_create_time(r);
  snprintf(extra, sizeof extra, ", \"in_cycles\": %.3f", bench_gpu_median(&s) / bench_gpu_median(&cycle));
  bench_gpu_row(name, "ms", &s, 0, extra);
}

static void memory_row(const char *name, bench_gpu_run *r)
{
  bench_gpu_samples s = {.count = 0};
  if (!bench_gpu_wanted(name)) return;
  gmg_plan_info *info = bench_gpu_plan(r);
  bench_gpu_add(&s, (double)info->bytes / (double)r->cells);
  bench_gpu_row(name, "bytes/unknown", &s, 0, "");
  free(info);
}

/* --- all rows -------------------------------------------------------------------------------------------------------- */

static void rows_3d(void)
{
  const size_t n = 512, cells = n * n * n;
  if ((double)cells > bench_gpu_options.most) return;
  double *f = bench_gpu_random_field(cells, 1), *u = bench_gpu_device_field(cells), *r = bench_gpu_device_field(cells);
  bench_gpu_run x = bench_gpu_begin_run(3, n);
  residual_row("residual_512", &x, f, u, r);
  bench_gpu_pass_row("async_pass_512", &x, f, u);
  bench_gpu_down_leg_row("down_leg_512", &x, f, u);
  cudaFree(r);
  cycle_row("v11_512", &x, f, u);
  solve_row("solve_512_cycles", &x, f, u, 1e-10);
  x.params.precision = GMG_PRECISION_SAME;
  cycle_row("v11_512_double", &x, f, u);
  solve_row("solve_512_double", &x, f, u, 1e-10);
  x.params.smoother = gmg_smoother_by_name("red_black");
  cycle_row("v11_512_red_black", &x, f, u);
  solve_row("solve_512_red_black", &x, f, u, 1e-10);
  x.params = gmg_params_default(), x.params.direct = GMG_DIRECT_NEVER;
  create_row("create_512", &x, f, u);
  memory_row("memory_512", &x);
  bench_gpu_end_run(&x);
  cudaFree(f), cudaFree(u);
}

/* beta per cell, and default parameters: conjugate gradients. On small grids the time is that of launches and synchronisations. */
static void beta_rows(void)
{
  static const struct {
    const char *solve, *cycle, *unmeasured;
    size_t n;
  } rows[] = {{"solve_beta_512", "v11_beta_512", "", 512},
              {"solve_beta_128", NULL, "solve_beta_128_unmeasured", 128},
              {"solve_beta_64", NULL, "solve_beta_64_unmeasured", 64}};
  for (int i = 0; i < 3; i++) {
    const size_t n = rows[i].n, cells = n * n * n;
    if ((double)cells > bench_gpu_options.most ||
        (!bench_gpu_wanted(rows[i].solve) && !bench_gpu_wanted(rows[i].cycle ? rows[i].cycle : rows[i].unmeasured))) continue;
    double *f = bench_gpu_random_field(cells, 1), *u = bench_gpu_device_field(cells), *beta_host = bench_gpu_ball(n),
        *beta = bench_gpu_uploaded(beta_host, cells);
    free(beta_host);
    bench_gpu_run x = bench_gpu_begin_run(3, n);
    x.problem.beta = beta;
    solve_row(rows[i].solve, &x, f, u, 1e-8);
    if (rows[i].cycle) beta_cycle_row(rows[i].cycle, &x, f, u);
    else unmeasured_row(rows[i].unmeasured, &x, f, u);
    bench_gpu_end_run(&x);
    cudaFree(f), cudaFree(u), cudaFree(beta);
  }
}

/* Solves with default parameters, which may be direct, and by cycles. */
static void size_rows(void)
{
  static const struct {
    const char *name;
    int dim, cycles;
    size_t n;
    double rtol;
  } rows[] = {{"solve_512", 3, 0, 512, 1e-10}, {"solve_256", 3, 0, 256, 1e-10}, {"solve_128", 3, 0, 128, 1e-10},
              {"solve_127", 3, 0, 127, 1e-10}, {"solve_65", 3, 0, 65, 1e-10},   {"solve_64", 3, 0, 64, 1e-10},
              {"solve_33", 3, 0, 33, 1e-10},   {"solve_32", 3, 0, 32, 1e-10},   {"solve_256_cycles", 3, 1, 256, 1e-10},
              {"solve_128_cycles", 3, 1, 128, 1e-10}, {"solve_64_cycles", 3, 1, 64, 1e-10},
              {"solve_1024", 3, 0, 1024, 1e-8}, {"solve2d_8192", 2, 0, 8192, 1e-10}, {"solve2d_1024", 2, 0, 1024, 1e-10},
              {"solve2d_512", 2, 0, 512, 1e-10}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const double n = (double)rows[i].n;
    if (!bench_gpu_wanted(rows[i].name) || (rows[i].dim == 2 ? n * n : n * n * n) > bench_gpu_options.most) continue;
    bench_gpu_run x = bench_gpu_begin_run(rows[i].dim, rows[i].n);
    if (!rows[i].cycles) x.params.direct = GMG_DIRECT_AUTO;
    double *f = bench_gpu_random_field(x.cells, 1), *u = bench_gpu_device_field(x.cells);
    solve_row(rows[i].name, &x, f, u, rows[i].rtol);
    cudaFree(f), cudaFree(u);
    bench_gpu_end_run(&x);
  }
}

/* Axes whose mesh widths shrink 10 : 1 from the middle to the walls: positions tanh(s x) / tanh(s)
   between -1 and 1, whose widths have the ratio cosh(s)^2 = 10. */
static void stretched_row(const char *name, size_t n)
{
  const double s = acosh(sqrt(10.0));
  if (!bench_gpu_wanted(name) || (double)(n * n * n) > bench_gpu_options.most) return;
  double *positions = malloc((n + 1) * sizeof *positions);
  if (!positions) bench_gpu_stop("malloc", "out of memory");
  for (size_t i = 0; i <= n; i++) positions[i] = tanh(s * (2 * (double)i / (double)n - 1)) / tanh(s);
  bench_gpu_run x = bench_gpu_begin_run(3, n);
  for (int a = 0; a < 3; a++) x.problem.coord[a] = positions;
  x.params.direct = GMG_DIRECT_AUTO;
  double *f = bench_gpu_random_field(x.cells, 1), *u = bench_gpu_device_field(x.cells);
  solve_row(name, &x, f, u, 1e-8);
  cudaFree(f), cudaFree(u);
  bench_gpu_end_run(&x);
  free(positions);
}

static void rows_1d(void)
{
  if ((!bench_gpu_wanted("v11_1d_1e8") && !bench_gpu_wanted("create_1d_1e8")) || bench_gpu_options.most < 1e8) return;
  bench_gpu_run x = bench_gpu_begin_run(1, 100000000);
  double *f = bench_gpu_random_field(x.cells, 1), *u = bench_gpu_device_field(x.cells);
  cycle_row("v11_1d_1e8", &x, f, u);
  create_row("create_1d_1e8", &x, f, u);
  cudaFree(f), cudaFree(u);
  bench_gpu_end_run(&x);
}

int main(int argc, char **argv)
{
  const int code = bench_begin(argc, argv, "bench_gpu", "speed on a CUDA device, the rows of bench/README.md", 10);
  if (code >= 0) return code;
  rows_3d();
  beta_rows();
  size_rows();
  stretched_row("stretched_384", 384);
  rows_1d();
  fmg_row("fmg_512", 3, 512);
  fmg_row("fmg2d_8192", 2, 8192);
  return bench_end();
}
