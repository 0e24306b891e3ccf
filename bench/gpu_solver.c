/* Solvers on a device, and the times of their calls. A time is that of a whole call, by the host's clock, until the device has
   finished. Called by the bench_gpu programs (gpu.h). */
#include "gpu.h"

#include <cuda_runtime_api.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>

enum { SHORT_SOLVE = 2, LONG_SOLVE = 7 }; /* cycles of the two solves whose difference is a cycle's time */

double bench_gpu_now(void)
{
  struct timespec t;
  cudaDeviceSynchronize();
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void bench_gpu_resize(bench_gpu_run *r, int dim, size_t n)
{
  const size_t size[3] = {n, n, n};
  gmg_solver_destroy(r->solver);
  r->solver = NULL;
  r->problem = gmg_problem_default(dim, size);
  r->cells = dim == 1 ? n : dim == 2 ? n * n : n * n * n;
}

bench_gpu_run bench_gpu_begin_run(int dim, size_t n)
{
  bench_gpu_run r = {.params = gmg_params_default()};
  r.params.direct = GMG_DIRECT_NEVER;
  if (gmg_context_create_cuda(0, NULL, &r.context) != GMG_OK) bench_gpu_stop("gmg_context_create_cuda", "no device");
  bench_gpu_resize(&r, dim, n);
  return r;
}

gmg_status bench_gpu_try_build(bench_gpu_run *r)
{
  gmg_solver_destroy(r->solver);
  r->solver = NULL;
  return gmg_solver_create(r->context, &r->problem, &r->params, &r->solver);
}

void bench_gpu_build(bench_gpu_run *r)
{
  if (bench_gpu_try_build(r) != GMG_OK) bench_gpu_stop("gmg_solver_create", gmg_context_error(r->context));
}

void bench_gpu_end_run(bench_gpu_run *r)
{
  gmg_solver_destroy(r->solver);
  gmg_context_destroy(r->context);
}

double bench_gpu_solve(bench_gpu_run *r, const double *f, double *u, gmg_report *report)
{
  cudaMemset(u, 0, r->cells * sizeof *u);
  const double start = bench_gpu_now();
  if (!gmg_status_is_outcome(gmg_solve(r->solver, f, u, report))) bench_gpu_stop("gmg_solve", gmg_context_error(r->context));
  return bench_gpu_now() - start;
}

bench_gpu_samples bench_gpu_solve_time(bench_gpu_run *r, const double *f, double *u, gmg_report *report)
{
  bench_gpu_samples s = {.count = 0};
  for (int i = -2; i < bench_gpu_options.runs; i++) { /* two warm-up runs; gmg records a graph in the second */
    const double t = bench_gpu_solve(r, f, u, report);
    if (i >= 0) bench_gpu_add(&s, t);
  }
  return s;
}

bench_gpu_samples bench_gpu_create_time(bench_gpu_run *r)
{
  bench_gpu_samples s = {.count = 0};
  for (int i = -1; i < bench_gpu_options.runs; i++) {
    gmg_solver_destroy(r->solver);
    r->solver = NULL;
    const double start = bench_gpu_now();
    bench_gpu_build(r);
    const double t = bench_gpu_now() - start;
    if (i >= 0) bench_gpu_add(&s, t);
  }
  return s;
}

/* (Time of 7 cycles - time of 2 cycles) / 5, so that the fixed costs of a solve cancel. */
bench_gpu_samples bench_gpu_cycle_time(bench_gpu_run *r, const double *f, double *u)
{
  bench_gpu_samples few = {.count = 0}, s = {.count = 0};
  gmg_report report;
  const int check = r->params.check_every, most = r->params.max_cycles;
  r->params.check_every = GMG_NONE;
  for (int many = 0; many < 2; many++) {
    r->params.max_cycles = many ? LONG_SOLVE : SHORT_SOLVE;
    bench_gpu_build(r);
    for (int i = -2; i < bench_gpu_options.runs; i++) {
      const double t = bench_gpu_solve(r, f, u, &report);
      if (i < 0) continue;
      if (many) bench_gpu_add(&s, (t - bench_gpu_median(&few)) / (LONG_SOLVE - SHORT_SOLVE));
      else bench_gpu_add(&few, t);
    }
  }
  r->params.check_every = check, r->params.max_cycles = most;
  return s;
}

gmg_plan_info *bench_gpu_plan(bench_gpu_run *r)
{
  gmg_plan_info *info = malloc(sizeof *info);
  if (!info) bench_gpu_stop("malloc", "out of memory");
  if (gmg_plan(r->context, &r->problem, &r->params, info) != GMG_OK) bench_gpu_stop("gmg_plan", gmg_context_error(r->context));
  return info;
}

/* Each leg reads u and f and writes u. The downward leg also writes a residual, and the upward leg reads a correction. Both are
   2^dim times smaller than u. Coarser levels add a geometric series. In mixed precision the cycle is in float and starts from zero.
   The residual and the update of u in double add 32 bytes. */
double bench_gpu_cycle_bytes(int dim, gmg_precision precision)
{
  const double coarse = 1.0 / (1 << dim), levels = 1 / (1 - coarse);
  return precision == GMG_PRECISION_MIXED ? (20 + 8 * coarse) * levels + 32 : (48 + 16 * coarse) * levels;
}

double bench_gpu_tolerance_above(double floor, double least) { return fmax(least, pow(10, ceil(log10(10 * floor) - 1e-9))); }

/* The residual of a solve to 1e-17, which no solve reaches. */
double bench_gpu_measured_floor(bench_gpu_run *r, const double *f, double *u)
{
  gmg_report report;
  const double rtol = r->params.rtol;
  r->params.rtol = 1e-17;
  bench_gpu_build(r);
  (void)bench_gpu_solve(r, f, u, &report);
  r->params.rtol = rtol;
  return report.residual / report.residual0;
}
