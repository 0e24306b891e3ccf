/* Direct solves beside cycles on a CUDA device, over the number of unknowns along an axis: where the tables of sizes in
   src/coarse/tensor/tensor.c come from. Poisson on the unit cube or square, cells, Dirichlet walls, random f, zero guess.
     bench_gpu_direct [--json FILE] [--only NAME,NAME] [--commit ID] [--runs N] [--most UNKNOWNS]
   For each dimension and type:
   - solve_direct, solve_cycles: gmg_solve() to the default tolerance;
   - bottom_direct, bottom_cycles: gmg_precondition() in float, which is what a cycle of a larger problem spends on this grid and
     below it;
   - once_direct, once_cycles: the same in double.
   Sizes at which a direct solve takes more than three times as long as cycles end the rows of a kind. */
#include "gpu.h"

#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>

static const size_t cubes[] = {8, 16, 24, 32, 33, 48, 63, 64, 65, 96, 101, 127, 128, 129, 160, 192, 255, 256, 257, 320, 384, 448, 512, 640},
                    squares[] = {16, 32, 64, 127, 128, 129, 256, 384, 511, 512, 513, 768, 1023, 1024, 1536, 2048, 3072, 4096};

enum { CALLS = 5 };

/* The median of a row, in seconds. */
static double measure(const char *kind, int dim, gmg_type type, size_t n, int as_bottom, int direct, const double *f, double *u)
{
  char name[64], extra[160];
  gmg_report report = {.cycles = 1};
  bench_gpu_samples s = {.count = 0};
  bench_gpu_run r = bench_gpu_begin_run(dim, n);
  r.problem.type = type;
  r.params.direct = direct ? GMG_DIRECT_ALWAYS : GMG_DIRECT_NEVER;
  bench_gpu_build(&r);
  if (as_bottom) {
    for (int i = -2; i < bench_gpu_options.runs; i++) {
      const double start = bench_gpu_now();
      for (int k = 0; k < CALLS; k++)
        if (gmg_precondition(r.solver, f, u) != GMG_OK) bench_gpu_stop("gmg_precondition", gmg_context_error(r.context));
      const double t = (bench_gpu_now() - start) / CALLS;
      if (i >= 0) bench_gpu_add(&s, t);
    }
  } else {
    s = bench_gpu_solve_time(&r, f, u, &report);
  }
  snprintf(name, sizeof name, "%s_%s_%zu", kind, direct ? "direct" : "cycles", n);
  snprintf(extra, sizeof extra, ", \"cycles\": %d, \"residual\": %.3g", report.cycles, as_bottom ? 0.0 : report.residual / report.residual0);
  bench_gpu_row(name, "ms", &s, 0, extra);
  bench_gpu_end_run(&r);
  return bench_gpu_median(&s);
}

static void compare(const char *kind, int dim, gmg_type type, int as_bottom)
{
  const size_t *n = dim == 3 ? cubes : squares, count = dim == 3 ? sizeof cubes / sizeof *cubes : sizeof squares / sizeof *squares;
  if (!bench_gpu_wanted(kind)) return;
  for (size_t i = 0; i < count; i++) {
    const size_t cells = dim == 3 ? n[i] * n[i] * n[i] : n[i] * n[i];
    if ((double)cells > bench_gpu_options.most) break;
    double *f = bench_gpu_random_field(cells, 1), *u = bench_gpu_device_field(cells);
    if (type == GMG_F32) { /* the same numbers as floats */
      float *host = malloc(cells * sizeof *host);
      double *doubles = malloc(cells * sizeof *doubles);
      if (!host || !doubles) bench_gpu_stop("malloc", "out of memory");
      cudaMemcpy(doubles, f, cells * sizeof *f, cudaMemcpyDeviceToHost);
      for (size_t c = 0; c < cells; c++) host[c] = (float)doubles[c];
      cudaMemcpy(f, host, cells * sizeof *host, cudaMemcpyHostToDevice);
      free(host), free(doubles);
    }
    const double cycles = measure(kind, dim, type, n[i], as_bottom, 0, f, u), direct = measure(kind, dim, type, n[i], as_bottom, 1, f, u);
    printf("%s %4zu: direct %.4f ms, cycles %.4f ms, %.2f\n", kind, n[i], 1e3 * direct, 1e3 * cycles, direct / cycles);
    fflush(stdout);
    cudaFree(f), cudaFree(u);
    if (direct > 3 * cycles) break;
  }
}

int main(int argc, char **argv)
{
  const int code = bench_begin(argc, argv, "bench_gpu_direct", "Direct solves beside cycles on a CUDA device.", 7);
  if (code >= 0) return code;
  compare("3d", 3, GMG_F64, 0);
  compare("3d_once", 3, GMG_F64, 1);
  compare("3d_float", 3, GMG_F32, 0);
  compare("3d_bottom", 3, GMG_F32, 1);
  compare("2d", 2, GMG_F64, 0);
  compare("2d_once", 2, GMG_F64, 1);
  compare("2d_float", 2, GMG_F32, 0);
  compare("2d_bottom", 2, GMG_F32, 1);
  return bench_end();
}
