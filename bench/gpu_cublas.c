/* Why gmg has no cuBLAS: what a handle costs, and conjugate gradients on a coarsest grid with cuBLAS beside gmg's own coarse
   solvers.
     bench_gpu_cublas [--json FILE] [--only NAME,NAME] [--commit ID] [--runs N] [--most UNKNOWNS]
   The name of a row is that of the object created, or METHOD_DIMd_N; --only also accepts METHOD. All methods use gmg's operator and
   diagonal, so this file includes headers of src, and is linked with the static library. */
#include "gpu.h"
#include "gpu_cublas.h"
#include "mg/solver.h"

#include <cublas_v2.h>
#include <link.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static void blas(cublasStatus_t status, const char *what)
{
  if (status != CUBLAS_STATUS_SUCCESS) bench_gpu_stop(what, cublasGetStatusString(status));
}

static void cuda(cudaError_t error, const char *what)
{
  if (error != cudaSuccess) bench_gpu_stop(what, cudaGetErrorString(error));
}

/* --- handle, context, solver ----------------------------------------------------------------------------------------- */

typedef struct {
  bench_gpu_run r; /* of the solver */
  cublasHandle_t handle;
  gmg_context *context;
} created;

static void create_handle(created *c) { blas(cublasCreate(&c->handle), "cublasCreate"); }
static void destroy_handle(created *c) { blas(cublasDestroy(c->handle), "cublasDestroy"); }

static void create_context(created *c)
{
  if (gmg_context_create_cuda(0, NULL, &c->context) != GMG_OK) bench_gpu_stop("gmg_context_create_cuda", "failed");
}
static void destroy_context(created *c) { gmg_context_destroy(c->context); }

static void create_solver(created *c) { bench_gpu_build(&c->r); }
static void destroy_solver(created *c)
{
  gmg_solver_destroy(c->r.solver);
  c->r.solver = NULL;
}

static const struct {
  const char *name, *what;
  void (*create)(created *c), (*destroy)(created *c);
} creations[] = {{"handle_cublas", "cublasCreate and cublasDestroy", create_handle, destroy_handle},
                 {"context_gmg", "gmg_context_create_cuda and gmg_context_destroy", create_context, destroy_context},
                 {"solver_gmg_64", "gmg_solver_create and gmg_solver_destroy, 64^3", create_solver, destroy_solver}};
enum { CREATIONS = sizeof creations / sizeof *creations };

/* Adds the size of a shared library of cuBLAS. */
static int add_library(struct dl_phdr_info *library, size_t size, void *bytes)
{
  struct stat file;
  (void)size;
  if (strstr(library->dlpi_name, "libcublas") && stat(library->dlpi_name, &file) == 0) *(double *)bytes += (double)file.st_size;
  return 0;
}

static size_t free_bytes(void)
{
  size_t left = 0, all;
  cuda(cudaMemGetInfo(&left, &all), "cudaMemGetInfo");
  return left;
}

/* The first creation also loads libraries and kernels, so its time is recorded separately. Memory is that of one more object,
   created after all times are measured. */
static void creation_row(int i, created *c)
{
  char extra[512], libraries[64] = "";
  double first = 0, bytes = 0;
  bench_gpu_samples s = {.count = 0};
  if (!bench_gpu_wanted(creations[i].name) && !bench_gpu_wanted("create")) return;
  for (int k = -2; k < bench_gpu_options.runs; k++) {
    const double start = bench_gpu_now();
    creations[i].create(c);
    creations[i].destroy(c);
    const double t = bench_gpu_now() - start;
    if (k == -2) first = t;
    if (k >= 0) bench_gpu_add(&s, t);
  }
  const size_t before = free_bytes();
  creations[i].create(c);
  const size_t after = free_bytes();
  creations[i].destroy(c);
  if (creations[i].create == create_handle) {
    dl_iterate_phdr(add_library, &bytes);
    snprintf(libraries, sizeof libraries, ", \"library_bytes\": %.0f", bytes);
  }
  snprintf(extra, sizeof extra, ", \"method\": \"create\", \"what\": \"%s\", \"first_ms\": %.6g, \"device_bytes\": %.0f%s",
           creations[i].what, 1e3 * first, (double)before - (double)after, libraries);
  bench_gpu_row(creations[i].name, "ms", &s, 0, extra);
}

static void creation_rows(void)
{
  created c = {.handle = NULL};
  for (int i = 0; i < CREATIONS; i++) {
    if (creations[i].create == create_solver) c.r = bench_gpu_begin_run(3, 64); /* not earlier, because the first context is timed */
    creation_row(i, &c);
  }
  bench_gpu_end_run(&c.r);
}

/* --- conjugate gradients --------------------------------------------------------------------------------------------- */

/* A grid that is solved as the coarsest one. */
typedef struct {
  bench_gpu_run *r;
  cudaStream_t stream;
  cublasHandle_t handle;
  void *room; /* work space of the handle, which must not allocate while a graph is recorded */
  cudaGraphExec_t graph;
  double *f, *u;
  double *left, *z, *p, *q, *scalar; /* left: the residual */
  double tolerance;                  /* of the coarse solver */
  int iterations;                    /* until the tolerance */
  double reached;                    /* residual after these iterations */
  gmg_report report;
} bed;

static void over_diagonal(const bed *b, const double *x, double *y)
{
  const gmg_solver *s = b->r->solver;
  s->op->over_diagonal(&s->exec, &s->finest->A, x, y);
}

static void apply(const bed *b, const double *x, double *y)
{
  const gmg_solver *s = b->r->solver;
  s->op->apply(&s->exec, &s->finest->A, x, y);
}

static int cells(const bed *b) { return (int)b->r->cells; }

/* u = 0, p = z, the residual f. */
static void start_directions(bed *b)
{
  const size_t bytes = b->r->cells * sizeof(double);
  cuda(cudaMemcpyAsync(b->left, b->f, bytes, cudaMemcpyDeviceToDevice, b->stream), "cudaMemcpyAsync");
  cuda(cudaMemsetAsync(b->u, 0, bytes, b->stream), "cudaMemsetAsync");
  over_diagonal(b, b->left, b->z);
  blas(cublasDcopy(b->handle, cells(b), b->z, 1, b->p, 1), "cublasDcopy");
}

static double dot_on_host(const bed *b, const double *x, const double *y)
{
  double sum = NAN;
  blas(cublasDdot(b->handle, cells(b), x, 1, y, 1, &sum), "cublasDdot");
  return sum;
}

/* As src/coarse/cg.c: the host waits for the inner products, and decides from them when to stop. */
static void scalars_on_host(bed *b)
{
  const int n = cells(b);
  const double one = 1;
  blas(cublasSetPointerMode(b->handle, CUBLAS_POINTER_MODE_HOST), "cublasSetPointerMode");
  start_directions(b);
  double rz = dot_on_host(b, b->left, b->z);
  const double enough = rz * b->tolerance * b->tolerance;
  int i = 0;
  for (; i < 10 * n + 100 && rz > enough; i++) {
    apply(b, b->p, b->q);
    const double alpha = rz / dot_on_host(b, b->p, b->q), minus = -alpha, before = rz;
    blas(cublasDaxpy(b->handle, n, &alpha, b->p, 1, b->u, 1), "cublasDaxpy");
    blas(cublasDaxpy(b->handle, n, &minus, b->q, 1, b->left, 1), "cublasDaxpy");
    over_diagonal(b, b->left, b->z);
    rz = dot_on_host(b, b->left, b->z);
    const double beta = rz / before;
    blas(cublasDscal(b->handle, n, &beta, b->p, 1), "cublasDscal");
    blas(cublasDaxpy(b->handle, n, &one, b->z, 1, b->p, 1), "cublasDaxpy");
  }
  b->iterations = i;
}

/* Scalars stay on the device, so there is no stopping test. The number of iterations is given, in cuBLAS's favour. */
static void scalars_on_device(bed *b)
{
  const int n = cells(b);
  double *const s = b->scalar;
  blas(cublasSetPointerMode(b->handle, CUBLAS_POINTER_MODE_DEVICE), "cublasSetPointerMode");
  start_directions(b);
  blas(cublasDdot(b->handle, n, b->left, 1, b->z, 1, s + RZ), "cublasDdot");
  for (int i = 0; i < b->iterations; i++) {
    apply(b, b->p, b->q);
    blas(cublasDdot(b->handle, n, b->p, 1, b->q, 1, s + PQ), "cublasDdot");
    bench_gpu_cg_alpha(s, b->stream);
    blas(cublasDaxpy(b->handle, n, s + ALPHA, b->p, 1, b->u, 1), "cublasDaxpy");
    blas(cublasDaxpy(b->handle, n, s + MINUS_ALPHA, b->q, 1, b->left, 1), "cublasDaxpy");
    over_diagonal(b, b->left, b->z);
    blas(cublasDdot(b->handle, n, b->left, 1, b->z, 1, s + NEXT_RZ), "cublasDdot");
    bench_gpu_cg_beta(s, b->stream);
    blas(cublasDscal(b->handle, n, s + BETA, b->p, 1), "cublasDscal");
    blas(cublasDaxpy(b->handle, n, s + ONE, b->z, 1, b->p, 1), "cublasDaxpy");
  }
}

/* scalars_on_device() with all iterations recorded as one graph. */
static void scalars_in_graph(bed *b)
{
  if (!b->graph) {
    cudaGraph_t recorded;
    scalars_on_device(b); /* loads what must not be loaded during the recording */
    cuda(cudaStreamBeginCapture(b->stream, cudaStreamCaptureModeRelaxed), "cudaStreamBeginCapture");
    scalars_on_device(b);
    cuda(cudaStreamEndCapture(b->stream, &recorded), "cudaStreamEndCapture");
    cuda(cudaGraphInstantiateWithFlags(&b->graph, recorded, 0), "cudaGraphInstantiate");
    cuda(cudaGraphDestroy(recorded), "cudaGraphDestroy");
  }
  cuda(cudaGraphLaunch(b->graph, b->stream), "cudaGraphLaunch");
}

/* A cycle of one level is its coarse solver. */
static void coarse_solver(bed *b)
{
  if (gmg_precondition(b->r->solver, b->f, b->u) != GMG_OK) bench_gpu_stop("gmg_precondition", gmg_context_error(b->r->context));
}

/* A solve by gmg with default parameters, that is, with coarser levels. */
static void multigrid(bed *b)
{
  cuda(cudaMemsetAsync(b->u, 0, b->r->cells * sizeof(double), b->stream), "cudaMemsetAsync");
  if (!gmg_status_is_outcome(gmg_solve(b->r->solver, b->f, b->u, &b->report)))
    bench_gpu_stop("gmg_solve", gmg_context_error(b->r->context));
}

static const struct {
  const char *name;
  void (*solve)(bed *b);
  gmg_coarse_kind coarse;
  int most_levels;
} methods[] = {{"cublas_host", scalars_on_host, GMG_COARSE_CG, 1},
               {"cublas_device", scalars_on_device, GMG_COARSE_CG, 1},
               {"cublas_graph", scalars_in_graph, GMG_COARSE_CG, 1},
               {"gmg_cg", coarse_solver, GMG_COARSE_CG, 1},
               {"gmg_cholesky", coarse_solver, GMG_COARSE_DENSE, 1},
               {"multigrid", multigrid, GMG_COARSE_CG, 0}};
enum { METHODS = sizeof methods / sizeof *methods };

static const struct {
  int dim;
  size_t n;
} sizes[] = {{2, 8}, {2, 16}, {2, 32}, {2, 64}, {2, 256}, {3, 4}, {3, 8}, {3, 16}, {3, 32}, {3, 64}, {3, 128}};
enum { SIZES = sizeof sizes / sizeof *sizes };

/* ||f - A u|| / ||f|| in the norm of the inverse diagonal, in which the coarse solver stops. Recomputed from u. */
static double residual(bed *b)
{
  const gmg_solver *s = b->r->solver;
  const gmg_operator *A = &s->finest->A;
  s->op->residual(&s->exec, A, b->f, b->u, b->left);
  over_diagonal(b, b->left, b->z);
  const double rz = s->grid->dot(&s->exec, A, b->left, b->z).re;
  over_diagonal(b, b->f, b->z);
  const double relative = sqrt(rz / s->grid->dot(&s->exec, A, b->f, b->z).re);
  cuda(cudaDeviceSynchronize(), "conjugate gradients");
  return relative;
}

static bench_gpu_samples seconds_of(void (*solves)(bed *b), bed *b)
{
  bench_gpu_samples s = {.count = 0};
  for (int i = -2; i < bench_gpu_options.runs; i++) { /* two warm-up runs; gmg records in the second */
    cuda(cudaMemset(b->u, 0xff, b->r->cells * sizeof(double)), "cudaMemset"); /* NaN: if nothing runs, the residual shows it */
    const double start = bench_gpu_now();
    solves(b);
    const double t = bench_gpu_now() - start;
    if (i >= 0) bench_gpu_add(&s, t);
  }
  return s;
}

static void forget_graph(bed *b)
{
  if (b->graph) cudaGraphExecDestroy(b->graph);
  b->graph = NULL;
}

/* gmg's coarse solver does not report its number of iterations. If its residual agrees with that of the other methods, so does the
   number. */
static void describe_iterations(char *text, size_t size, const bed *b, double left, int is_multigrid)
{
  *text = 0;
  if (is_multigrid) snprintf(text, size, ", \"cycles\": %d", b->report.cycles);
  else if (fabs(left / b->reached - 1) < 0.01) snprintf(text, size, ", \"iterations\": %d", b->iterations);
}

static void method_row(int m, const char *label, bed *b)
{
  char head[256], turns[64], extra[1024];
  const int is_multigrid = methods[m].solve == multigrid;
  snprintf(head, sizeof head, ", \"method\": \"%s\", \"dim\": %d, \"n\": %zu, \"unknowns\": %zu, \"tolerance\": %g", methods[m].name,
           b->r->problem.dim, b->r->problem.n[0], b->r->cells, b->tolerance);
  b->r->params.coarse = methods[m].coarse, b->r->params.max_levels = methods[m].most_levels;
  if (bench_gpu_try_build(b->r) != GMG_OK) {
    bench_gpu_skipped_row(label, gmg_context_error(b->r->context), head);
    return;
  }
  const bench_gpu_samples s = seconds_of(methods[m].solve, b);
  forget_graph(b); /* it contains pointers to this solver's operator */
  const double left = residual(b);
  const char *const ended = is_multigrid ? gmg_status_string(b->report.status)
                                         : left <= 1.01 * b->tolerance ? "ok" : "missed the tolerance"; /* the stopping test uses the recursive residual */
  describe_iterations(turns, sizeof turns, b, left, is_multigrid);
  snprintf(extra, sizeof extra,
           "%s%s, \"residual\": %.4g, \"status\": \"%s\", \"f\": \"uniform in -0.5..0.5, splitmix64\", \"start\": \"zero\", "
           "\"norm\": \"of the inverse diagonal, residual over f\"",
           head, turns, isfinite(left) ? left : 1e300, ended);
  bench_gpu_row(label, "ms", &s, 0, extra);
}

static int method_wanted(const bed *b, int m, char *label, size_t size)
{
  snprintf(label, size, "%s_%dd_%zu", methods[m].name, b->r->problem.dim, b->r->problem.n[0]);
  return bench_gpu_wanted(label) || bench_gpu_wanted(methods[m].name);
}

static void allocate(bed *b)
{
  double **const field[] = {&b->u, &b->left, &b->z, &b->p, &b->q};
  b->f = bench_gpu_random_field(b->r->cells, 1);
  for (int i = 0; i < 5; i++) *field[i] = bench_gpu_device_field(b->r->cells);
}

static void release(bed *b)
{
  double *const field[] = {b->f, b->u, b->left, b->z, b->p, b->q};
  for (int i = 0; i < 6; i++) cudaFree(field[i]);
}

/* The number of iterations comes from conjugate gradients with scalars on the host, for all methods. */
static void size_rows(bed *b)
{
  char label[64];
  int any = 0;
  for (int m = 0; m < METHODS; m++) any |= method_wanted(b, m, label, sizeof label);
  if (!any || (double)b->r->cells > bench_gpu_options.most) return;
  allocate(b);
  b->r->params.coarse = GMG_COARSE_CG, b->r->params.max_levels = 1, b->r->params.rtol = 0;
  bench_gpu_build(b->r);
  b->tolerance = b->r->solver->coarsest_bottom.problem->rtol;
  scalars_on_host(b);
  b->reached = residual(b);
  b->r->params.rtol = b->tolerance;
  for (int m = 0; m < METHODS; m++)
    if (method_wanted(b, m, label, sizeof label)) method_row(m, label, b);
  release(b);
}

static void coarsest_rows(void)
{
  const size_t room = (size_t)32 << 20; /* as NVIDIA recommends for Hopper */
  const double one = 1;
  bench_gpu_run r = {.params = gmg_params_default()};
  bed b = {.r = &r};
  cuda(cudaStreamCreate(&b.stream), "cudaStreamCreate"); /* the default stream cannot be captured */
  if (gmg_context_create_cuda(0, b.stream, &r.context) != GMG_OK) bench_gpu_stop("gmg_context_create_cuda", "failed");
  blas(cublasCreate(&b.handle), "cublasCreate");
  blas(cublasSetStream(b.handle, b.stream), "cublasSetStream");
  cuda(cudaMalloc(&b.room, room), "cudaMalloc");
  blas(cublasSetWorkspace(b.handle, b.room, room), "cublasSetWorkspace");
  b.scalar = bench_gpu_device_field(SCALARS);
  cuda(cudaMemcpy(b.scalar + ONE, &one, sizeof one, cudaMemcpyHostToDevice), "cudaMemcpy");
  for (int i = 0; i < SIZES; i++) {
    bench_gpu_resize(&r, sizes[i].dim, sizes[i].n);
    size_rows(&b);
  }
  bench_gpu_end_run(&r);
  blas(cublasDestroy(b.handle), "cublasDestroy");
  cudaFree(b.room), cudaFree(b.scalar);
  cudaStreamDestroy(b.stream);
}

int main(int argc, char **argv)
{
  const int code = bench_begin(argc, argv, "bench_gpu_cublas", "a cuBLAS handle, and conjugate gradients with cuBLAS beside the coarse solvers", 10);
  if (code >= 0) return code;
  creation_rows();
  coarsest_rows();
  return bench_end();
}
