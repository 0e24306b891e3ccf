/* The gallery of media on host threads: iterations and seconds of a solve, random f, zero guess, to the default tolerance. With the
 * default parameters, with smoothers by name, and with black box coarsening: what the choice of gmg brings.
 *     bench_media [--json FILE] [--dim D] [--n N] [--runs R] [--threads T] [--only TEXT] [--method NAME]
 * n: unknowns along each axis (512 in 2D, 96 in 3D). A row is named DIM_KIND_STRENGTH_METHOD. */
#include "gallery.h"
#include "problems.h"
#include "record.h"

#include <getopt.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ROWS = 400, MOST_CYCLES = 300 };
static const double LONG = 2; /* seconds */
static bench_record rows[MAX_ROWS];
static int count;

typedef struct settings {
  int dim, runs, threads;
  size_t n;
  const char *only, *method, *json;
} settings;

/* A row's method: the smoother and the coarse grids. */
typedef struct method {
  const char *name, *smoother; /* smoother = NULL: chosen by gmg */
  gmg_coarsening coarsening;
} method;
static const method methods[] = {{"default", NULL, GMG_COARSENING_AUTO},
                                 {"async", "async", GMG_COARSENING_DISCRETIZE},
                                 {"red_black", "red_black", GMG_COARSENING_DISCRETIZE},
                                 {"lines", "lines", GMG_COARSENING_DISCRETIZE},
                                 {"black_box", "async", GMG_COARSENING_BLACK_BOX},
                                 {"lines_black_box", "lines", GMG_COARSENING_BLACK_BOX}};
enum { METHODS = sizeof methods / sizeof *methods };

/* Solves several times. The first run is dropped, unless it is so long that it is the only one. Returns 0 if a solve ended with an
 * error. */
static int solve(const settings *s, gmg_solver *solver, const double *f, double *u, size_t cells, bench_record *r)
{
  for (int run = 0; run <= s->runs; run++) {
    gmg_report report;
    bench_zero(u, cells);
    const double start = omp_get_wtime();
    const gmg_status status = gmg_solve(solver, f, u, &report);
    const double seconds = omp_get_wtime() - start;
    if (!gmg_status_is_outcome(status)) return 0;
    r->cycles = report.cycles, r->factor = report.factor;
    snprintf(r->status, sizeof r->status, "%s", gmg_status_string(status));
    if (run > 0 || seconds > LONG) bench_add(&r->samples, seconds);
    if (seconds > LONG) break;
  }
  return 1;
}

/* Measures a row. Returns 0, or 1 after a message. */
static int measure(const settings *s, gmg_context *context, const medium *m, const char *name, const method *how)
{
  const size_t cells = m->p.n[0] * m->p.n[1] * m->p.n[2];
  gmg_params params = gmg_params_default();
  gmg_plan_info *plan = malloc(sizeof *plan);
  gmg_solver *solver = NULL;
  double *f = bench_field(cells), *u = bench_field(cells);
  bench_record *r = &rows[count];
  params.smoother = gmg_smoother_by_name(how->smoother), params.coarsening = how->coarsening;
  params.direct = GMG_DIRECT_NEVER, params.max_cycles = MOST_CYCLES;
  bench_record_start(r, name, m->p.n[0]);
  snprintf(r->what, sizeof r->what, "gmg_solve() to the default tolerance, create excluded");
  snprintf(r->f, sizeof r->f, BENCH_F_RANDOM);
  snprintf(r->start, sizeof r->start, "zero");
  snprintf(r->norm, sizeof r->norm, BENCH_NORM);
  int failed = !plan || !f || !u || gmg_plan(context, &m->p, &params, plan) != GMG_OK;
  const double start = omp_get_wtime();
  failed = failed || gmg_solver_create(context, &m->p, &params, &solver) != GMG_OK;
  bench_record_note(r, "setup_seconds", omp_get_wtime() - start);
  if (!failed) {
    int at = 0;
    while (gmg_smoother_name(at) && gmg_smoother_by_name(gmg_smoother_name(at)) != plan->smoother) at++;
    snprintf(r->setting, sizeof r->setting, "smoother %s%s", gmg_smoother_name(at),
             plan->coarsening == GMG_COARSENING_BLACK_BOX ? ", black box" : "");
    bench_random(f, 0, cells, 1);
    failed = !solve(s, solver, f, u, cells, r);
    bench_record_note(r, "solution_norm", bench_norm2(u, cells));
  }
  if (failed) fprintf(stderr, "bench_media: %s: %s\n", name, gmg_context_error(context));
  else printf("%-32s %-18s %4.0f iterations %9.4f s, %s\n", name, r->setting + strlen("smoother "), r->cycles, bench_median(&r->samples), r->status);
  fflush(stdout);
  gmg_solver_destroy(solver);
  free(plan), free(f), free(u);
  if (!failed && count + 1 < MAX_ROWS) count++;
  return failed;
}

static int run_kind(const settings *s, gmg_context *context, int dim, const medium_kind *k)
{
  const size_t n = s->n ? s->n : dim == 2 ? 512 : 96;
  int failed = 0;
  for (int i = 0; i < 3 && k->strength[i] != 0 && !failed; i++) {
    char name[64], prefix[48];
    medium m;
    snprintf(prefix, sizeof prefix, "%dd_%s_%g", dim, k->name, k->strength[i]);
    if (s->only && !strstr(prefix, s->only)) continue;
    failed = !medium_make(k, dim, n, k->strength[i], GMG_CELL, &m);
    for (int j = 0; j < METHODS && !failed; j++) {
      if (s->method && strcmp(s->method, methods[j].name) != 0) continue;
      snprintf(name, sizeof name, "%s_%s", prefix, methods[j].name);
      failed = measure(s, context, &m, name, &methods[j]);
    }
    medium_free(&m);
  }
  return failed;
}

static int number_of(const char *text, long least, long most, const char *option, long *value)
{
  char *end;
  *value = strtol(text, &end, 10);
  if (*text && !*end && *value >= least && *value <= most) return 1;
  fprintf(stderr, "bench_media: --%s %s: must be a number from %ld to %ld\n", option, text, least, most);
  return 0;
}

/* Returns 0, or 2 after a message. */
static int read_options(int argc, char **argv, settings *s)
{
  static const struct option options[] = {{"json", 1, NULL, 'j'}, {"dim", 1, NULL, 'd'},  {"n", 1, NULL, 'n'}, {"runs", 1, NULL, 'r'},
                                          {"threads", 1, NULL, 't'}, {"only", 1, NULL, 'o'}, {"method", 1, NULL, 'm'}, {NULL, 0, NULL, 0}};
  long value;
  for (int o; (o = getopt_long(argc, argv, "", options, NULL)) != -1;) {
    if (o == 'j') s->json = optarg;
    else if (o == 'o') s->only = optarg;
    else if (o == 'm') s->method = optarg;
    else if (o == 'd' && number_of(optarg, 2, 3, "dim", &value)) s->dim = (int)value;
    else if (o == 'n' && number_of(optarg, 8, 8192, "n", &value)) s->n = (size_t)value;
    else if (o == 'r' && number_of(optarg, 1, 100, "runs", &value)) s->runs = (int)value;
    else if (o == 't' && number_of(optarg, 0, 4096, "threads", &value)) s->threads = (int)value;
    else return 2;
  }
  return 0;
}

int main(int argc, char **argv)
{
  settings s = {.runs = 3};
  gmg_context *context = NULL;
  int failed = read_options(argc, argv, &s);
  if (failed) return failed;
  if (gmg_context_create_host(s.threads, &context) != GMG_OK) {
    fprintf(stderr, "bench_media: no context\n");
    return 1;
  }
  for (int dim = 2; dim <= 3; dim++)
    for (const medium_kind *k = medium_kinds; k->name && (s.dim == 0 || s.dim == dim) && !failed; k++)
      failed = run_kind(&s, context, dim, k);
  gmg_context_destroy(context);
  return failed || (s.json && bench_write(s.json, "bench_media", s.threads, NULL, rows, count));
}
