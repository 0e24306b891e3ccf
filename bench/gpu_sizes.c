/* Solves of many sizes, types, walls and smoothers on a CUDA device. They show the effect of a change or of a kernel variant on
   more cases than bench_gpu has. Called by bench/variants.py.
     bench_gpu_sizes [--json FILE] [--only NAME,NAME] [--commit ID] [--runs N] [--most UNKNOWNS] */
#include "gpu.h"

#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>

/* A case. 0 stands for constant coefficients, cells, Dirichlet walls, double, and the default smoother and tolerance. */
typedef struct {
  const char *name;
  int dim;
  size_t n;
  int vertex, in_float, same_precision, ball, fmg; /* ball: a beta of 1e4 in a ball. fmg: full multigrid alone, with one cycle per level */
  gmg_bc walls;
  const char *smoother;
  double rtol;
} size_case;

#define SIZE(dim_, n_) .dim = (dim_), .n = (n_)
#define DOUBLE .same_precision = 1
#define FLOAT .in_float = 1
#define BALL .ball = 1
#define FMG .fmg = 1
#define RED_BLACK .smoother = "red_black"

static const size_case cases[] = {
    {"3d_33", SIZE(3, 33)},
    {"3d_64", SIZE(3, 64)},
    {"3d_100", SIZE(3, 100)},
    {"3d_127", SIZE(3, 127)},
    {"3d_128", SIZE(3, 128)},
    {"3d_129", SIZE(3, 129)},
    {"3d_200", SIZE(3, 200)},
    {"3d_256", SIZE(3, 256)},
    {"3d_257", SIZE(3, 257)},
    {"3d_384", SIZE(3, 384)},
    {"3d_512", SIZE(3, 512)},
    {"3d_neumann_256", SIZE(3, 256), .walls = GMG_NEUMANN},
    {"3d_periodic_256", SIZE(3, 256), .walls = GMG_PERIODIC},
    {"3d_vertex_255", SIZE(3, 255), .vertex = 1},
    {"3d_vertex_256", SIZE(3, 256), .vertex = 1},
    {"3d_double_128", SIZE(3, 128), DOUBLE},
    {"3d_double_200", SIZE(3, 200), DOUBLE},
    {"3d_double_256", SIZE(3, 256), DOUBLE},
    {"3d_double_512", SIZE(3, 512), DOUBLE},
    {"3d_float_64", SIZE(3, 64), FLOAT},
    {"3d_float_128", SIZE(3, 128), FLOAT},
    {"3d_float_256", SIZE(3, 256), FLOAT},
    {"3d_ball_32", SIZE(3, 32), BALL},
    {"3d_ball_64", SIZE(3, 64), BALL},
    {"3d_ball_101", SIZE(3, 101), BALL},
    {"3d_ball_128", SIZE(3, 128), BALL},
    {"3d_ball_256", SIZE(3, 256), BALL},
    {"3d_ball_257", SIZE(3, 257), BALL},
    {"3d_ball_double_256", SIZE(3, 256), BALL, DOUBLE},
    {"3d_ball_512", SIZE(3, 512), BALL},
    {"3d_fmg_256", SIZE(3, 256), FMG},
    {"3d_ball_fmg_128", SIZE(3, 128), BALL, FMG},
    {"3d_red_black_128", SIZE(3, 128), RED_BLACK},
    {"3d_red_black_256", SIZE(3, 256), RED_BLACK},
    {"3d_red_black_384", SIZE(3, 384), RED_BLACK},
    {"3d_red_black_double_256", SIZE(3, 256), RED_BLACK, DOUBLE},
    {"3d_red_black_double_512", SIZE(3, 512), RED_BLACK, DOUBLE},
    {"3d_jacobi_256", SIZE(3, 256), .smoother = "jacobi"},
    {"3d_chebyshev_256", SIZE(3, 256), .smoother = "chebyshev"},
    {"3d_gauss_seidel_128", SIZE(3, 128), .smoother = "gauss_seidel"},
    {"2d_512", SIZE(2, 512)},
    {"2d_1000", SIZE(2, 1000)},
    {"2d_1023", SIZE(2, 1023)},
    {"2d_2046", SIZE(2, 2046)},
    {"2d_2047", SIZE(2, 2047)},
    {"2d_2048", SIZE(2, 2048)},
    {"2d_4094", SIZE(2, 4094)},
    {"2d_4095", SIZE(2, 4095)},
    {"2d_4096", SIZE(2, 4096)},
    {"2d_8191", SIZE(2, 8191)},
    {"2d_8192", SIZE(2, 8192)},
    {"2d_periodic_2046", SIZE(2, 2046), .walls = GMG_PERIODIC},
    {"2d_periodic_2048", SIZE(2, 2048), .walls = GMG_PERIODIC},
    {"2d_vertex_2047", SIZE(2, 2047), .vertex = 1},
    {"2d_double_1024", SIZE(2, 1024), DOUBLE},
    {"2d_double_2048", SIZE(2, 2048), DOUBLE},
    {"2d_double_4094", SIZE(2, 4094), DOUBLE},
    {"2d_double_4095", SIZE(2, 4095), DOUBLE},
    {"2d_double_4096", SIZE(2, 4096), DOUBLE},
    {"2d_float_4095", SIZE(2, 4095), FLOAT},
    {"2d_fmg_4096", SIZE(2, 4096), FMG},
    {"2d_red_black_2047", SIZE(2, 2047), RED_BLACK},
    {"2d_red_black_2048", SIZE(2, 2048), RED_BLACK},
    {"2d_red_black_4096", SIZE(2, 4096), RED_BLACK},
    {"2d_red_black_double_4095", SIZE(2, 4095), RED_BLACK, DOUBLE},
    {"2d_red_black_double_4096", SIZE(2, 4096), RED_BLACK, DOUBLE},
    {"1d_1e5", SIZE(1, 100000), .rtol = 1e-4},
    {"1d_1e6", SIZE(1, 1000000), .rtol = 1e-4},
    {"1d_red_black_1e6", SIZE(1, 1000000), .rtol = 1e-4, RED_BLACK},
};

/* A field on the device: the first values of `from` in the case's type. If the problem is singular, their mean is subtracted. */
static void *field_of(const size_case *c, const double *from, size_t cells)
{
  void *there = NULL;
  const size_t bytes = cells * (c->in_float ? sizeof(float) : sizeof(double));
  double *host = malloc(cells * sizeof *host), mean = 0;
  if (cudaMalloc(&there, bytes) != cudaSuccess) bench_gpu_stop("cudaMalloc", c->name);
  cudaMemcpy(host, from, cells * sizeof *host, cudaMemcpyDeviceToHost);
  for (size_t i = 0; c->walls != GMG_DIRICHLET && i < cells; i++) mean += host[i] / (double)cells;
  for (size_t i = 0; i < cells; i++) host[i] -= mean;
  if (c->in_float)
    for (size_t i = 0; i < cells; i++) ((float *)host)[i] = (float)host[i];
  cudaMemcpy(there, host, bytes, cudaMemcpyHostToDevice);
  free(host);
  return there;
}

static void case_row(const size_case *c, const double *random, double *u)
{
  gmg_report report;
  char extra[128];
  bench_gpu_run r = bench_gpu_begin_run(c->dim, c->n);
  const int as_is = !c->in_float && c->walls == GMG_DIRICHLET;
  void *f = as_is ? (void *)random : field_of(c, random, r.cells);
  double *beta = NULL;
  if (c->vertex) r.problem.centering = GMG_VERTEX;
  if (c->in_float) r.problem.type = GMG_F32;
  for (int a = 0; a < c->dim; a++) r.problem.bc[a][0] = r.problem.bc[a][1] = c->walls;
  if (c->ball) {
    double *host = bench_gpu_ball(c->n);
    r.problem.beta = beta = bench_gpu_uploaded(host, r.cells);
    free(host);
  }
  if (c->smoother) r.params.smoother = gmg_smoother_by_name(c->smoother);
  if (c->same_precision) r.params.precision = GMG_PRECISION_SAME;
  if (c->fmg) r.params.fmg = 1, r.params.max_cycles = 1, r.params.check_every = GMG_NONE;
  r.params.rtol = c->rtol;
  bench_gpu_build(&r);
  const bench_gpu_samples s = bench_gpu_solve_time(&r, f, u, &report);
  snprintf(extra, sizeof extra, ", \"cycles\": %d, \"status\": \"%s\"", report.cycles, gmg_status_string(report.status));
  bench_gpu_row(c->name, "ms", &s, 0, extra);
  if (!as_is) cudaFree(f);
  cudaFree(beta);
  bench_gpu_end_run(&r);
}

static size_t wanted_cells(const size_case *c)
{
  const size_t cells = c->dim == 1 ? c->n : c->dim == 2 ? c->n * c->n : c->n * c->n * c->n;
  return bench_gpu_wanted(c->name) && (double)cells <= bench_gpu_options.most ? cells : 0;
}

int main(int argc, char **argv)
{
  enum { COUNT = sizeof cases / sizeof *cases };
  size_t most = 1;
  const int code = bench_begin(argc, argv, "bench_gpu_sizes", "Solves of many sizes, types, walls and smoothers on a CUDA device.", 9);
  if (code >= 0) return code;
  for (int i = 0; i < COUNT; i++) most = wanted_cells(&cases[i]) > most ? wanted_cells(&cases[i]) : most;
  double *f = bench_gpu_random_field(most, 1), *u = bench_gpu_device_field(most);
  for (int i = 0; i < COUNT; i++)
    if (wanted_cells(&cases[i])) case_row(&cases[i], f, u);
  cudaFree(f), cudaFree(u);
  return bench_end();
}
