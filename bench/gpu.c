/* Speed on a CUDA device: every row of the table in bench/README.md, one JSON file. Needs no library beside CUDA's runtime,
   so that it builds where there is nothing else; the JSON is therefore written by hand.
     bench_gpu [--json FILE] [--only NAME,NAME] [--commit ID] [--runs N]
   Every time is that of a whole call, from the host's clock, after which the stream is waited for. */
#include "gmg_cuda.h"
#include "gmg_smoother.h"

#include <cuda_runtime_api.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_RUNS = 100, FEW = 2, MANY = 7 };

typedef struct {
  double sample[MOST_RUNS];
  int count;
} samples;

static struct {
  FILE *json;
  const char *only;
  int runs, rows;
  double copy; /* bytes a second */
} bench;

static double now(void)
{
  struct timespec t;
  cudaDeviceSynchronize();
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void add(samples *s, double x)
{
  int at = s->count < MOST_RUNS ? s->count++ : MOST_RUNS - 1;
  for (; at > 0 && s->sample[at - 1] > x; at--) s->sample[at] = s->sample[at - 1];
  s->sample[at] = x;
}

static double median(const samples *s)
{
  const double *middle = s->sample + s->count / 2;
  return s->count % 2 ? *middle : (middle[-1] + *middle) / 2;
}

static void stop(const char *what, const char *why)
{
  fprintf(stderr, "bench_gpu: %s: %s\n", what, why);
  exit(1);
}

static int wanted(const char *name)
{
  if (!bench.only) return 1;
  const size_t n = strlen(name);
  for (const char *at = bench.only; (at = strstr(at, name)); at++)
    if ((at == bench.only || at[-1] == ',') && (at[n] == 0 || at[n] == ',')) return 1;
  return 0;
}

/* One record. bytes: compulsory, of the whole row, 0: not stated. extra: further members, each with a comma before. */
static void row(const char *name, const char *unit, const samples *s, double bytes, const char *extra)
{
  const double scale = strcmp(unit, "ms") == 0 ? 1e3 : 1, m = median(s) * scale;
  printf("%-22s %10.4g %s (%.4g - %.4g, %d runs)", name, m, unit, s->sample[0] * scale, s->sample[s->count - 1] * scale, s->count);
  if (bytes > 0) printf("  %.3f of copy", bytes / median(s) / bench.copy);
  printf(" %s\n", extra);
  fflush(stdout);
  if (!bench.json) return;
  fprintf(bench.json, "%s\n    {\"name\": \"%s\", \"median\": %.6g, \"min\": %.6g, \"max\": %.6g, \"runs\": %d, \"unit\": \"%s\"",
          bench.rows++ ? "," : "",
          name, m, s->sample[0] * scale, s->sample[s->count - 1] * scale, s->count, unit);
  if (bytes > 0) fprintf(bench.json, ", \"bytes\": %.6g, \"fraction_of_copy\": %.4f", bytes, bytes / median(s) / bench.copy);
  fprintf(bench.json, "%s}", extra);
}

/* --- fields ---------------------------------------------------------------------------------------------------------- */

static double *device_field(size_t n)
{
  double *p;
  if (cudaMalloc((void **)&p, n * sizeof *p) != cudaSuccess) stop("cudaMalloc", "out of device memory");
  cudaMemset(p, 0, n * sizeof *p);
  return p;
}

static double *uploaded(const double *from, size_t n)
{
  double *p = device_field(n);
  cudaMemcpy(p, from, n * sizeof *p, cudaMemcpyHostToDevice);
  return p;
}

/* Uniform in -0.5..0.5; splitmix64 of seed and place (Steele, Lea, Flood 2014). */
static double *random_field(size_t n, unsigned long seed)
{
  double *x = malloc(n * sizeof *x);
#pragma omp parallel for
  for (size_t i = 0; i < n; i++) {
    unsigned long z = (seed << 40) + (i + 1) * 0x9e3779b97f4a7c15ul;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ul;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebul;
    x[i] = (double)((z ^ (z >> 31)) >> 11) / 9007199254740992.0 - 0.5;
  }
  return x;
}

/* f of u = product of sin(pi x) exp(x / 2), which is 0 on the walls of the unit box; and u. Cells. */
static void manufactured(int dim, size_t n, double *f, double *u)
{
  const size_t rows = dim > 1 ? n : 1, planes = dim > 2 ? n : 1;
  double *g = malloc(2 * n * sizeof *g), *g2 = g + n;
  for (size_t i = 0; i < n; i++) {
    const double x = ((double)i + 0.5) / (double)n, e = exp(x / 2);
    g[i] = sin(M_PI * x) * e;
    g2[i] = ((0.25 - M_PI * M_PI) * sin(M_PI * x) + M_PI * cos(M_PI * x)) * e;
  }
#pragma omp parallel for collapse(2)
  for (size_t k = 0; k < planes; k++)
    for (size_t j = 0; j < rows; j++)
      for (size_t i = 0; i < n; i++) {
        const size_t c = (k * rows + j) * n + i;
        const double y = dim > 1 ? g[j] : 1, z = dim > 2 ? g[k] : 1;
        u[c] = g[i] * y * z;
        f[c] = -(g2[i] * y * z + (dim > 1 ? g[i] * g2[j] * z : 0) + (dim > 2 ? g[i] * y * g2[k] : 0));
      }
  free(g);
}

static double *ball(size_t n)
{
  double *beta = malloc(n * n * n * sizeof *beta);
#pragma omp parallel for
  for (size_t c = 0; c < n * n * n; c++) {
    const double x = ((double)(c % n) + 0.5) / (double)n - 0.513, y = ((double)(c / n % n) + 0.5) / (double)n - 0.483;
    const double z = ((double)(c / n / n) + 0.5) / (double)n - 0.507;
    beta[c] = x * x + y * y + z * z < 0.09 ? 1e4 : 1;
  }
  return beta;
}

/* --- solvers --------------------------------------------------------------------------------------------------------- */

typedef struct {
  gmg_context *context;
  gmg_solver *solver;
  gmg_problem problem;
  gmg_params params;
  size_t cells;
} run;

static run begin(int dim, size_t n)
{
  const size_t size[3] = {n, n, n};
  run r = {.problem = gmg_problem_default(dim, size), .params = gmg_params_default()};
  r.cells = dim == 1 ? n : dim == 2 ? n * n : n * n * n;
  if (gmg_context_create_cuda(0, NULL, &r.context) != GMG_OK) stop("gmg_context_create_cuda", "no device");
  return r;
}

static void build(run *r)
{
  gmg_solver_destroy(r->solver);
  if (gmg_solver_create(r->context, &r->problem, &r->params, &r->solver) != GMG_OK)
    stop("gmg_solver_create", gmg_context_error(r->context));
}

static void end(run *r)
{
  gmg_solver_destroy(r->solver);
  gmg_context_destroy(r->context);
}

static double solve(run *r, const double *f, double *u, gmg_report *report)
{
  cudaMemset(u, 0, r->cells * sizeof *u);
  const double start = now();
  if (gmg_solve(r->solver, f, u, report) > GMG_DIVERGED) stop("gmg_solve", gmg_context_error(r->context));
  return now() - start;
}

/* A cycle: difference of solves of 7 and of 2 cycles, unmeasured, over 5. */
static samples cycle_time(run *r, const double *f, double *u)
{
  samples few = {.count = 0}, s = {.count = 0};
  gmg_report report;
  const int check = r->params.check_every, most = r->params.max_cycles;
  r->params.check_every = 0;
  for (int many = 0; many < 2; many++) {
    r->params.max_cycles = many ? MANY : FEW;
    build(r);
    for (int i = -1; i < bench.runs; i++) {
      const double t = solve(r, f, u, &report);
      if (i < 0) continue;
      if (many) add(&s, (t - median(&few)) / (MANY - FEW));
      else add(&few, t);
    }
  }
  r->params.check_every = check, r->params.max_cycles = most;
  return s;
}

static void solve_row(const char *name, run *r, const double *f, double *u, double rtol)
{
  samples s = {.count = 0};
  gmg_report report;
  char extra[512];
  gmg_plan_info *info = malloc(sizeof *info);
  if (!wanted(name) || !info) {
    free(info);
    return;
  }
  r->params.rtol = rtol;
  build(r);
  if (gmg_plan(r->context, &r->problem, &r->params, info) != GMG_OK) stop("gmg_plan", gmg_context_error(r->context));
  const double floor = info->floor;
  free(info);
  for (int i = -1; i < bench.runs; i++) {
    const double t = solve(r, f, u, &report);
    if (i >= 0) add(&s, t);
  }
  snprintf(extra, sizeof extra,
           ", \"factor\": %.4g, \"cycles\": %d, \"status\": \"%s\", \"tolerance\": %g, \"floor\": %.3g, "
           "\"floor_of\": \"a smooth f, from gmg_plan()\", \"f\": \"uniform in -0.5..0.5, splitmix64\", \"start\": \"zero\", "
           "\"norm\": \"2-norm of the residual over that of f\"",
           report.factor, report.cycles, gmg_status_string(report.status), rtol, floor);
  row(name, "ms", &s, 0, extra);
}

static void cycle_row(const char *name, run *r, const double *f, double *u, double bytes_an_unknown)
{
  char extra[128];
  gmg_report report;
  if (!wanted(name)) return;
  const samples s = cycle_time(r, f, u);
  r->params.rtol = 1e-10, r->params.check_every = 1;
  build(r);
  (void)solve(r, f, u, &report);
  snprintf(extra, sizeof extra, ", \"factor\": %.4g, \"cycles\": %d", report.factor, report.cycles);
  row(name, "ms", &s, bytes_an_unknown * (double)r->cells, extra);
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
  samples s = {.count = 0};
  gmg_report report;
  char extra[256];
  if (!wanted(name)) return;
  run r = begin(dim, n);
  double *host = malloc(r.cells * sizeof *host), *exact = malloc(r.cells * sizeof *exact), *discrete = malloc(r.cells * sizeof *discrete);
  manufactured(dim, n, host, exact);
  double *f = uploaded(host, r.cells), *u = device_field(r.cells);
  r.params.rtol = 1e-10;
  build(&r);
  (void)solve(&r, f, u, &report);
  cudaMemcpy(discrete, u, r.cells * sizeof *u, cudaMemcpyDeviceToHost);
  r.params.fmg = 1, r.params.max_cycles = 1, r.params.check_every = 0;
  build(&r);
  for (int i = -1; i < bench.runs; i++) {
    const double t = solve(&r, f, u, &report);
    if (i >= 0) add(&s, t);
  }
  cudaMemcpy(host, u, r.cells * sizeof *u, cudaMemcpyDeviceToHost);
  snprintf(extra, sizeof extra, ", \"error_algebraic\": %.4g, \"error_discretisation\": %.4g, \"f\": \"manufactured\"",
           distance(host, discrete, r.cells),
           distance(discrete, exact, r.cells));
  row(name, "ms", &s, 0, extra);
  cudaFree(f), cudaFree(u);
  free(host), free(exact), free(discrete);
  end(&r);
}

/* --- one pass of the smoother ---------------------------------------------------------------------------------------- */

/* A smoother that shows level 0 of the solver it is built into. */
static struct {
  const gmg_smoother_ops *real;
  const gmg_smoother_level *level;
  void *state;
} shown;

static gmg_status show_setup(const gmg_smoother_level *level, void **state)
{
  const gmg_status status = shown.real->setup(level, state);
  if (level->index == 0) shown.level = level, shown.state = *state;
  return status;
}

static void pass_row(const char *name, run *r, const double *f, double *u)
{
  samples s = {.count = 0};
  if (!wanted(name)) return;
  gmg_smoother spy = *gmg_smoother_by_name("async");
  gmg_smoother_ops ops = *spy.cuda[GMG_F64];
  shown.real = spy.cuda[GMG_F64];
  ops.setup = show_setup;
  spy.cuda[GMG_F64] = &ops;
  const gmg_params before = r->params;
  r->params.smoother = &spy, r->params.precision = GMG_PRECISION_SAME;
  build(r);
  for (int i = -1; i < bench.runs; i++) {
    const double start = now();
    for (int k = 0; k < 10; k++) ops.sweep(shown.level, shown.state, f, u, 1, GMG_LEG_DOWN);
    const double t = (now() - start) / 10;
    if (i >= 0) add(&s, t);
  }
  row(name, "ms", &s, 24.0 * (double)r->cells, "");
  r->params = before;
}

static void residual_row(const char *name, run *r, const double *f, const double *u, double *to)
{
  samples s = {.count = 0};
  if (!wanted(name)) return;
  build(r);
  for (int i = -1; i < bench.runs; i++) {
    const double start = now();
    for (int k = 0; k < 10; k++) (void)gmg_residual(r->solver, f, u, to);
    const double t = (now() - start) / 10;
    if (i >= 0) add(&s, t);
  }
  row(name, "ms", &s, 24.0 * (double)r->cells, "");
}

static void create_row(const char *name, run *r, const double *f, double *u)
{
  samples s = {.count = 0};
  char extra[64];
  if (!wanted(name)) return;
  const samples cycle = cycle_time(r, f, u);
  for (int i = -1; i < bench.runs; i++) {
    gmg_solver_destroy(r->solver);
    r->solver = NULL;
    const double start = now();
    build(r);
    const double t = now() - start;
    if (i >= 0) add(&s, t);
  }
  snprintf(extra, sizeof extra, ", \"in_cycles\": %.3f", median(&s) / median(&cycle));
  row(name, "ms", &s, 0, extra);
}

static void memory_row(const char *name, run *r)
{
  samples s = {.count = 0};
  gmg_plan_info *info = malloc(sizeof *info);
  if (wanted(name) && gmg_plan(r->context, &r->problem, &r->params, info) == GMG_OK) {
    add(&s, (double)info->bytes / (double)r->cells);
    row(name, "bytes/unknown", &s, 0, "");
  }
  free(info);
}

/* --- all of it ------------------------------------------------------------------------------------------------------- */

static void measure_copy(size_t n, double *a, double *b)
{
  samples s = {.count = 0};
  for (int i = -2; i < 20; i++) {
    const double start = now();
    cudaMemcpyAsync(b, a, n * sizeof *a, cudaMemcpyDeviceToDevice, NULL);
    const double t = now() - start;
    if (i >= 0) add(&s, 2 * (double)(n * sizeof *a) / t);
  }
  bench.copy = median(&s);
}

static void rows_3d(void)
{
  const size_t n = 512, cells = n * n * n;
  double *host = random_field(cells, 1), *f = uploaded(host, cells), *u = device_field(cells), *r = device_field(cells);
  free(host);
  run x = begin(3, n);
  residual_row("residual_512", &x, f, u, r);
  pass_row("async_pass_512", &x, f, u);
  cudaFree(r);
  cycle_row("v11_512", &x, f, u, 57);
  solve_row("solve_512", &x, f, u, 1e-10);
  x.params.precision = GMG_PRECISION_SAME;
  cycle_row("v11_512_double", &x, f, u, 57);
  solve_row("solve_512_double", &x, f, u, 1e-10);
  x.params.smoother = gmg_smoother_by_name("red_black");
  cycle_row("v11_512_red_black", &x, f, u, 57);
  solve_row("solve_512_red_black", &x, f, u, 1e-10);
  x.params = gmg_params_default();
  create_row("create_512", &x, f, u);
  memory_row("memory_512", &x);
  end(&x);
  if (wanted("solve_beta_512") || wanted("v11_beta_512")) {
    run y = begin(3, n);
    double *beta_host = ball(n), *beta = uploaded(beta_host, cells);
    free(beta_host);
    y.problem.beta = beta;
    solve_row("solve_beta_512", &y, f, u, 1e-8);
    cycle_row("v11_beta_512", &y, f, u, 0);
    end(&y);
    cudaFree(beta);
  }
  cudaFree(f), cudaFree(u);
}

static void small_rows(void)
{
  static const struct {
    const char *name;
    int dim;
    size_t n;
  } rows[] = {{"solve_128", 3, 128}, {"solve_64", 3, 64}, {"solve_256", 3, 256}, {"solve2d_8192", 2, 8192}};
  for (int i = 0; i < 4; i++) {
    if (!wanted(rows[i].name)) continue;
    run x = begin(rows[i].dim, rows[i].n);
    double *host = random_field(x.cells, 1), *f = uploaded(host, x.cells), *u = device_field(x.cells);
    free(host);
    solve_row(rows[i].name, &x, f, u, 1e-10);
    cudaFree(f), cudaFree(u);
    end(&x);
  }
  if (wanted("v11_1d_1e8")) {
    run x = begin(1, 100000000);
    double *host = random_field(x.cells, 1), *f = uploaded(host, x.cells), *u = device_field(x.cells);
    free(host);
    cycle_row("v11_1d_1e8", &x, f, u, 0);
    cudaFree(f), cudaFree(u);
    end(&x);
  }
}

static void write_head(const char *path, const char *commit)
{
  struct cudaDeviceProp p;
  int driver = 0, runtime = 0;
  char date[32];
  const time_t t = time(NULL);
  cudaGetDeviceProperties(&p, 0);
  cudaDriverGetVersion(&driver);
  cudaRuntimeGetVersion(&runtime);
  strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime(&t));
  printf("%s, CUDA %d.%d, driver for %d.%d, copy %.4g TB/s\n", p.name, runtime / 1000, runtime % 1000 / 10, driver / 1000, driver % 1000 / 10,
         bench.copy * 1e-12);
  if (!path) return;
  bench.json = fopen(path, "w");
  if (!bench.json) stop(path, "cannot be written");
  fprintf(bench.json,
          "{\n  \"program\": \"bench_gpu\",\n  \"commit\": \"%s\",\n  \"date\": \"%s\",\n  \"device\": \"%s\",\n  \"driver\": \"%s\",\n"
          "  \"cuda_driver\": %d,\n  \"cuda_runtime\": %d,\n"
          "  \"copy\": {\"median\": %.6g, \"unit\": \"bytes/s, read and written\"},\n  \"results\": [",
          commit, date, p.name, getenv("GMG_BENCH_DRIVER") ? getenv("GMG_BENCH_DRIVER") : "not known", driver, runtime, bench.copy);
}

int main(int argc, char **argv)
{
  static const struct option options[] = {
      {"json", 1, NULL, 'j'}, {"only", 1, NULL, 'o'}, {"commit", 1, NULL, 'c'}, {"runs", 1, NULL, 'r'}, {0}};
  const char *path = NULL, *commit = "not known";
  bench.runs = 10;
  for (int o; (o = getopt_long(argc, argv, "", options, NULL)) != -1;) {
    if (o == 'j') path = optarg;
    else if (o == 'o') bench.only = optarg;
    else if (o == 'c') commit = optarg;
    else if (o == 'r') bench.runs = atoi(optarg);
    else return 2;
  }
  if (bench.runs < 1 || bench.runs > MOST_RUNS) stop("--runs", "from 1 to 100");
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    fprintf(stderr, "bench_gpu: no CUDA device\n");
    return 77;
  }
  const size_t n = (size_t)1 << 27;
  double *a = device_field(n), *b = device_field(n);
  measure_copy(n, a, b);
  cudaFree(a), cudaFree(b);
  write_head(path, commit);
  rows_3d();
  small_rows();
  fmg_row("fmg_512", 3, 512);
  fmg_row("fmg2d_8192", 2, 8192);
  if (bench.json) {
    fprintf(bench.json, "\n  ]\n}\n");
    if (fclose(bench.json) != 0) stop(path, "cannot be written");
  }
  return 0;
}
