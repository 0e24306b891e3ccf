/* Speed of box stencils on a CUDA device, beside that of the 7-point (5-point) operator on the same grid: cycles and solves with
   the asynchronous smoother, and with Gauss-Seidel in 2^dim colours, which has one launch per colour.
     bench_gpu_box [--json FILE] [--only NAME,NAME] [--commit ID] [--runs N] [--most UNKNOWNS] */
#include "gpu.h"

#include <cuda_runtime_api.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SEVEN_POINT, EQUAL, Q1 }; /* -Laplace by differences; all neighbours -1; -Laplace by linear finite elements */

/* Compulsory bytes: each leg reads u and f, and writes u once, as for the 7-point operator. */
static const struct {
  const char *name;
  int dim;
  size_t n;
  int operator_;
  const char *smoother;
  gmg_type type;
  gmg_precision precision;
  gmg_coarse_kind coarse; /* TENSOR: the hierarchy ends at 64^3 */
  gmg_direct direct;      /* ALWAYS: only the solve is measured */
} rows[] = {
    {"7_point_256", 3, 256, SEVEN_POINT, "async", GMG_F64, GMG_PRECISION_AUTO, GMG_COARSE_AUTO, GMG_DIRECT_AUTO},
    {"27_points_256", 3, 256, EQUAL, "async", GMG_F64, GMG_PRECISION_AUTO, GMG_COARSE_AUTO, GMG_DIRECT_AUTO},
    {"27_points_256_colours", 3, 256, EQUAL, "gauss_seidel", GMG_F64, GMG_PRECISION_AUTO, GMG_COARSE_AUTO, GMG_DIRECT_AUTO},
    {"q1_256", 3, 256, Q1, "async", GMG_F64, GMG_PRECISION_AUTO, GMG_COARSE_AUTO, GMG_DIRECT_AUTO},
    {"7_point_255", 3, 255, SEVEN_POINT, "async", GMG_F64, GMG_PRECISION_AUTO, GMG_COARSE_AUTO, GMG_DIRECT_AUTO},
    {"27_points_255", 3, 255, EQUAL, "async", GMG_F64, GMG_PRECISION_AUTO, GMG_COARSE_AUTO, GMG_DIRECT_AUTO},
    {"7_point_256_double", 3, 256, SEVEN_POINT, "async", GMG_F64, GMG_PRECISION_SAME, GMG_COARSE_AUTO, GMG_DIRECT_AUTO},
    {"27_points_256_double", 3, 256, EQUAL, "async", GMG_F64, GMG_PRECISION_SAME, GMG_COARSE_AUTO, GMG_DIRECT_AUTO},
    {"27_points_256_double_colours", 3, 256, EQUAL, "gauss_seidel", GMG_F64, GMG_PRECISION_SAME, GMG_COARSE_AUTO, GMG_DIRECT_AUTO},
    {"7_point_64", 3, 64, SEVEN_POINT, "async", GMG_F64, GMG_PRECISION_AUTO, GMG_COARSE_AUTO, GMG_DIRECT_AUTO},
    {"27_points_64", 3, 64, EQUAL, "async", GMG_F64, GMG_PRECISION_AUTO, GMG_COARSE_AUTO, GMG_DIRECT_AUTO},
    {"27_points_64_colours", 3, 64, EQUAL, "gauss_seidel", GMG_F64, GMG_PRECISION_AUTO, GMG_COARSE_AUTO, GMG_DIRECT_AUTO},
    {"5_point_4095", 2, 4095, SEVEN_POINT, "async", GMG_F64, GMG_PRECISION_AUTO, GMG_COARSE_AUTO, GMG_DIRECT_AUTO},
    {"q1_4095", 2, 4095, Q1, "async", GMG_F64, GMG_PRECISION_AUTO, GMG_COARSE_AUTO, GMG_DIRECT_AUTO},
    {"q1_4095_colours", 2, 4095, Q1, "gauss_seidel", GMG_F64, GMG_PRECISION_AUTO, GMG_COARSE_AUTO, GMG_DIRECT_AUTO},
    {"7_point_256_tensor", 3, 256, SEVEN_POINT, "async", GMG_F64, GMG_PRECISION_AUTO, GMG_COARSE_TENSOR, GMG_DIRECT_AUTO},
    {"27_points_256_tensor", 3, 256, EQUAL, "async", GMG_F64, GMG_PRECISION_AUTO, GMG_COARSE_TENSOR, GMG_DIRECT_AUTO},
    {"q1_256_tensor", 3, 256, Q1, "async", GMG_F64, GMG_PRECISION_AUTO, GMG_COARSE_TENSOR, GMG_DIRECT_AUTO},
    {"7_point_255_tensor", 3, 255, SEVEN_POINT, "async", GMG_F64, GMG_PRECISION_AUTO, GMG_COARSE_TENSOR, GMG_DIRECT_AUTO},
    {"27_points_255_tensor", 3, 255, EQUAL, "async", GMG_F64, GMG_PRECISION_AUTO, GMG_COARSE_TENSOR, GMG_DIRECT_AUTO},
    {"7_point_256_double_tensor", 3, 256, SEVEN_POINT, "async", GMG_F64, GMG_PRECISION_SAME, GMG_COARSE_TENSOR, GMG_DIRECT_AUTO},
    {"27_points_256_double_tensor", 3, 256, EQUAL, "async", GMG_F64, GMG_PRECISION_SAME, GMG_COARSE_TENSOR, GMG_DIRECT_AUTO},
    {"7_point_256_direct", 3, 256, SEVEN_POINT, "async", GMG_F64, GMG_PRECISION_AUTO, GMG_COARSE_AUTO, GMG_DIRECT_ALWAYS},
    {"27_points_256_direct", 3, 256, EQUAL, "async", GMG_F64, GMG_PRECISION_AUTO, GMG_COARSE_AUTO, GMG_DIRECT_ALWAYS},
    {"q1_4095_direct", 2, 4095, Q1, "async", GMG_F64, GMG_PRECISION_AUTO, GMG_COARSE_AUTO, GMG_DIRECT_ALWAYS},
    {"27_points_64_direct", 3, 64, EQUAL, "async", GMG_F64, GMG_PRECISION_AUTO, GMG_COARSE_AUTO, GMG_DIRECT_ALWAYS},
};

static gmg_stencil stencil_of(int operator_, const gmg_problem *p)
{
  gmg_stencil s = gmg_stencil_q1(p->dim, p->h, 0);
  if (operator_ != EQUAL) return s;
  for (int e = 0; e < 27; e++) (&s.entry[0][0][0])[e] = e == 13 ? 26 : -1;
  return s;
}

static void measure(int i)
{
  const double rtol = 1e-10;
  bench_gpu_run r = bench_gpu_begin_run(rows[i].dim, rows[i].n);
  char name[64], extra[512];
  gmg_report report;
  if ((double)r.cells > bench_gpu_options.most) return;
  r.problem.centering = GMG_VERTEX, r.problem.type = rows[i].type;
  gmg_problem_set_box(&r.problem, NULL);
  const gmg_stencil box = stencil_of(rows[i].operator_, &r.problem);
  if (rows[i].operator_ != SEVEN_POINT) r.problem.stencil = &box;
  if (rows[i].direct) r.params.direct = rows[i].direct;
  r.params.smoother = gmg_smoother_by_name(rows[i].smoother), r.params.coarse = rows[i].coarse, r.params.precision = rows[i].precision, r.params.rtol = rtol;
  double *f = bench_gpu_random_field(r.cells, 1), *u = bench_gpu_device_field(r.cells);
  snprintf(name, sizeof name, "v11_%s", rows[i].name);
  if (!rows[i].direct && bench_gpu_wanted(name)) {
    bench_gpu_samples s = bench_gpu_cycle_time(&r, f, u);
    gmg_plan_info *info = bench_gpu_plan(&r);
    bench_gpu_row(name, "ms", &s, bench_gpu_cycle_bytes(rows[i].dim, info->precision) * (double)r.cells, "");
    free(info);
  }
  snprintf(name, sizeof name, "solve_%s", rows[i].name);
  if (bench_gpu_wanted(name)) {
    const double floor = bench_gpu_measured_floor(&r, f, u);
    bench_gpu_build(&r);
    bench_gpu_samples s = bench_gpu_solve_time(&r, f, u, &report);
    snprintf(extra, sizeof extra, ", \"factor\": %.4g, \"cycles\": %d, \"status\": \"%s\", \"tolerance\": %g, \"floor\": %.3g" SOLVED,
             report.factor, report.cycles, gmg_status_string(report.status), rtol, floor);
    bench_gpu_row(name, "ms", &s, 0, extra);
  }
  cudaFree(f), cudaFree(u);
  bench_gpu_end_run(&r);
}

int main(int argc, char **argv)
{
  const int code = bench_begin(argc, argv, "bench_gpu_box", "speed of box stencils on a CUDA device", 10);
  if (code >= 0) return code;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) measure((int)i);
  return bench_end();
}
