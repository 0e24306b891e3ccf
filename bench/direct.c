/* Direct solves beside cycles on host threads, over the number of unknowns along an axis: where the tables of sizes in
 * src/coarse/tensor/tensor.c come from. Poisson on the unit cube or square, cells, Dirichlet walls, random f, zero guess.
 *     bench_direct [--json FILE] [--dim D] [--most N] [--runs N] [--threads N]
 * For each dimension, type and size, the median seconds of
 *   solve_direct, solve_cycles    gmg_solve() to the default tolerance
 *   bottom_direct, bottom_cycles  gmg_precondition() in float: what a cycle of a larger problem spends on this grid and below it
 * At the end it prints up to which sum of transformed unknowns the direct solver was faster at every size. */
#include "gmg.h"
#include "problems.h"
#include "record.h"

#include <getopt.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ROWS = 400 };
static bench_record rows[MAX_ROWS];
static int count;

typedef struct settings {
  int dim, runs, threads;
  size_t most;
} settings;

/* Converts f to the problem's type in place. */
static void to_type(gmg_type type, void *f, size_t cells)
{
  if (type == GMG_F64) return;
  for (size_t i = 0; i < cells; i++) ((float *)f)[i] = (float)((double *)f)[i];
}

/* Seconds of one solve or one cycle from zero; NaN on failure, with a message. */
static double one_run(gmg_solver *solver, gmg_context *context, int as_bottom, const void *f, void *u, size_t bytes, double *cycles)
{
  gmg_report report = {.cycles = 1};
  memset(u, 0, bytes);
  const double start = omp_get_wtime();
  const gmg_status status = as_bottom ? gmg_precondition(solver, f, u) : gmg_solve(solver, f, u, &report);
  const double seconds = omp_get_wtime() - start;
  *cycles = report.cycles;
  if (status == GMG_OK || status == GMG_STAGNATED) return seconds;
  fprintf(stderr, "bench_direct: %s: %s\n", gmg_status_string(status), gmg_context_error(context));
  return NAN;
}

/* Measures one row. Returns the median, or NaN. */
static double measure(const settings *s, int dim, gmg_type type, size_t n, int as_bottom, int direct)
{
  const size_t sizes[3] = {n, n, n}, cells = dim == 3 ? n * n * n : n * n, bytes = cells * (type == GMG_F64 ? 8 : 4);
  gmg_problem problem = gmg_problem_default(dim, sizes);
  gmg_params params = gmg_params_default();
  gmg_context *context = NULL;
  gmg_solver *solver = NULL;
  char name[64];
  void *f = bench_field(cells), *u = bench_field(cells);
  bench_record *r = &rows[count];
  double median = NAN;
  problem.type = type;
  params.direct = direct ? GMG_DIRECT_ALWAYS : GMG_DIRECT_NEVER;
  snprintf(name, sizeof name, "%dd_%s_%s_%s", dim, type == GMG_F64 ? "double" : "float", as_bottom ? "bottom" : "solve",
           direct ? "direct" : "cycles");
  bench_record_start(r, name, n);
  snprintf(r->type, sizeof r->type, type == GMG_F64 ? "f64" : "f32");
  snprintf(r->what, sizeof r->what, as_bottom ? "gmg_precondition()" : "gmg_solve() to the default tolerance");
  snprintf(r->f, sizeof r->f, BENCH_F_RANDOM);
  snprintf(r->start, sizeof r->start, "zero");
  snprintf(r->norm, sizeof r->norm, BENCH_NORM);
  if (f && u && gmg_context_create_host(s->threads, &context) == GMG_OK &&
      gmg_solver_create(context, &problem, &params, &solver) == GMG_OK) {
    bench_random(f, 0, cells, 1);
    to_type(type, f, cells);
    for (int i = 0; i <= s->runs; i++) { /* the first run is dropped */
      const double seconds = one_run(solver, context, as_bottom, f, u, bytes, &r->cycles);
      if (i > 0 && !isnan(seconds)) bench_add(&r->samples, seconds);
    }
    median = bench_median(&r->samples);
  } else {
    fprintf(stderr, "bench_direct: %s\n", context ? gmg_context_error(context) : "no memory, or no context");
  }
  gmg_solver_destroy(solver);
  gmg_context_destroy(context);
  free(f), free(u);
  if (!isnan(median) && count + 1 < MAX_ROWS) count++;
  return median;
}

static size_t next_size(size_t n) { return n < 16 ? n + 4 : n < 64 ? n + 8 : n < 256 ? n + 32 : n + 64; }

/* All sizes of a kind. The cycles of sizes at which a direct solve takes more than twice as long end it. */
static void compare(const settings *s, int dim, gmg_type type, int as_bottom)
{
  size_t limit = 0;
  int is_faster = 1;
  for (size_t n = 4; n <= s->most; n = next_size(n)) {
    const double cycles = measure(s, dim, type, n, as_bottom, 0), direct = measure(s, dim, type, n, as_bottom, 1);
    printf("%dd %s %s %5zu: direct %.3e s, cycles %.3e s, %.2f\n", dim, type == GMG_F64 ? "double" : "float ",
           as_bottom ? "bottom" : "solve ", n, direct, cycles, direct / cycles);
    fflush(stdout);
    if (!(direct < cycles)) is_faster = 0;
    if (is_faster) limit = n * (size_t)(dim - 1);
    if (!(direct < 2 * cycles)) break;
  }
  printf("%dd %s %s: faster up to %zu transformed unknowns\n", dim, type == GMG_F64 ? "double" : "float", as_bottom ? "bottom" : "solve",
         limit);
}

static int number_of(const char *text, long least, long most, const char *option, long *value)
{
  char *end;
  *value = strtol(text, &end, 10);
  if (*text && !*end && *value >= least && *value <= most) return 1;
  fprintf(stderr, "bench_direct: --%s %s: must be a number from %ld to %ld\n", option, text, least, most);
  return 0;
}

int main(int argc, char **argv)
{
  static const struct option options[] = {{"json", 1, NULL, 'j'},    {"dim", 1, NULL, 'd'}, {"most", 1, NULL, 'm'},
                                          {"runs", 1, NULL, 'r'}, {"threads", 1, NULL, 't'}, {NULL, 0, NULL, 0}};
  settings s = {.runs = 7, .most = 320};
  const char *json = NULL;
  long value;
  for (int o; (o = getopt_long(argc, argv, "", options, NULL)) != -1;) {
    if (o == 'j') json = optarg;
    else if (o == 'd' && number_of(optarg, 2, 3, "dim", &value)) s.dim = (int)value;
    else if (o == 'm' && number_of(optarg, 4, 4096, "most", &value)) s.most = (size_t)value;
    else if (o == 'r' && number_of(optarg, 1, 100, "runs", &value)) s.runs = (int)value;
    else if (o == 't' && number_of(optarg, 0, 4096, "threads", &value)) s.threads = (int)value;
    else return 2;
  }
  for (int dim = 2; dim <= 3; dim++)
    for (int type = 0; type < 2 && (s.dim == 0 || s.dim == dim); type++) {
      compare(&s, dim, (gmg_type)type, 0);
      if (type == GMG_F32) compare(&s, dim, GMG_F32, 1);
    }
  return json ? bench_write(json, "bench_direct", s.threads, NULL, rows, count) : 0;
}
