/* What gaps in the caller's arrays cost on a CUDA device: solves with packed arrays, with one ghost layer around u, and around u
   and f. For comparison, the alternative without gmg_array_layout: copies f and u to packed arrays, solves, and copies u back.
     bench_gpu_layouts [--json FILE] [--only NAME,NAME] [--commit ID] [--runs N] [--most UNKNOWNS] */
#include "gpu.h"

#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>

static const struct {
  const char *name;
  int dim;
  size_t n;
  gmg_type type;
  gmg_precision precision;
} problems[] = {{"512", 3, 512, GMG_F64, GMG_PRECISION_AUTO},        {"256", 3, 256, GMG_F64, GMG_PRECISION_AUTO},
                {"128", 3, 128, GMG_F64, GMG_PRECISION_AUTO},        {"257", 3, 257, GMG_F64, GMG_PRECISION_AUTO},
                {"512_double", 3, 512, GMG_F64, GMG_PRECISION_SAME}, {"256_float", 3, 256, GMG_F32, GMG_PRECISION_AUTO},
                {"2d_4096", 2, 4096, GMG_F64, GMG_PRECISION_AUTO}};

typedef enum { PACKED, GHOSTS_OF_U, GHOSTS, COPIED, FORMS } form;
static const char *const form_names[FORMS] = {"packed", "ghosts_of_u", "ghosts", "copied"};

/* The layout of n^dim unknowns with one ghost layer around them. */
static gmg_array_layout ghosts(int dim, size_t n)
{
  const size_t row = n + 2, plane = dim == 3 ? row * row : 0;
  return (gmg_array_layout){row, plane, plane + row + 1};
}

/* Copies n^dim unknowns between an array with ghosts and a packed one. */
static void copy(int dim, size_t n, size_t size, char *with_ghosts, char *packed, int to_packed)
{
  const gmg_array_layout l = ghosts(dim, n);
  const struct cudaPitchedPtr in = {with_ghosts + l.first * size, l.row * size, l.row * size, n + 2};
  const struct cudaPitchedPtr out = {packed, n * size, n * size, n};
  struct cudaMemcpy3DParms p = {0};
  p.srcPtr = to_packed ? in : out, p.dstPtr = to_packed ? out : in;
  p.extent = (struct cudaExtent){n * size, n, dim == 3 ? n : 1}, p.kind = cudaMemcpyDeviceToDevice;
  if (cudaMemcpy3DAsync(&p, NULL) != cudaSuccess) bench_gpu_stop("cudaMemcpy3DAsync", "failed");
}

/* A random field of the type, in memory for as many doubles. */
static double *random_field(gmg_type type, size_t n)
{
  double *x = bench_gpu_random_field(n, 1);
  if (type == GMG_F64) return x;
  double *here = malloc(n * sizeof *here);
  if (!here) bench_gpu_stop("malloc", "out of memory");
  cudaMemcpy(here, x, n * sizeof *here, cudaMemcpyDeviceToHost);
  for (size_t i = 0; i < n; i++) ((float *)here)[i] = (float)here[i];
  cudaMemcpy(x, here, n * sizeof(float), cudaMemcpyHostToDevice);
  free(here);
  return x;
}

static bench_gpu_samples time_with_copies(bench_gpu_run *r, int dim, size_t n, double *F, double *U, gmg_report *report)
{
  const size_t size = r->problem.type == GMG_F32 ? sizeof(float) : sizeof(double);
  double *f = bench_gpu_device_field(r->cells), *u = bench_gpu_device_field(r->cells);
  bench_gpu_samples s = {.count = 0};
  for (int i = -2; i < bench_gpu_options.runs; i++) {
    cudaMemset(U, 0, r->cells * sizeof *U);
    const double start = bench_gpu_now();
    copy(dim, n, size, (char *)F, (char *)f, 1), copy(dim, n, size, (char *)U, (char *)u, 1);
    if (!gmg_status_is_outcome(gmg_solve(r->solver, f, u, report))) bench_gpu_stop("gmg_solve", gmg_context_error(r->context));
    copy(dim, n, size, (char *)U, (char *)u, 0);
    const double t = bench_gpu_now() - start;
    if (i >= 0) bench_gpu_add(&s, t);
  }
  cudaFree(f), cudaFree(u);
  return s;
}

static void measure(int i, form as)
{
  const int dim = problems[i].dim;
  const size_t n = problems[i].n, all = dim == 3 ? (n + 2) * (n + 2) * (n + 2) : (n + 2) * (n + 2);
  char name[64], extra[256];
  gmg_report report;
  snprintf(name, sizeof name, "solve_%s_%s", problems[i].name, form_names[as]);
  bench_gpu_run r = bench_gpu_begin_run(dim, n);
  if (!bench_gpu_wanted(name) || (double)r.cells > bench_gpu_options.most) {
    bench_gpu_end_run(&r);
    return;
  }
  r.problem.type = problems[i].type, r.params.precision = problems[i].precision;
  r.params.rtol = r.problem.type == GMG_F32 ? 1e-4 : 1e-8;
  if (as == GHOSTS_OF_U || as == GHOSTS) r.problem.u_layout = ghosts(dim, n);
  if (as == GHOSTS) r.problem.f_layout = ghosts(dim, n);
  r.cells = all; /* of the arrays */
  double *f = random_field(r.problem.type, all), *u = bench_gpu_device_field(all);
  bench_gpu_build(&r);
  bench_gpu_samples s = as == COPIED ? time_with_copies(&r, dim, n, f, u, &report) : bench_gpu_solve_time(&r, f, u, &report);
  gmg_plan_info *info = bench_gpu_plan(&r);
  snprintf(extra, sizeof extra, ", \"cycles\": %d, \"status\": \"%s\", \"bytes\": %zu", report.cycles,
           gmg_status_string(report.status), info->bytes);
  bench_gpu_row(name, "ms", &s, 0, extra);
  free(info), cudaFree(f), cudaFree(u);
  bench_gpu_end_run(&r);
}

int main(int argc, char **argv)
{
  const int code = bench_begin(argc, argv, "bench_gpu_layouts", "what gaps in arrays cost on a CUDA device", 10);
  if (code >= 0) return code;
  for (size_t i = 0; i < sizeof problems / sizeof *problems; i++)
    for (int as = 0; as < FORMS; as++) measure((int)i, (form)as);
  return bench_end();
}
