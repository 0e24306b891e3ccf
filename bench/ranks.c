/* gmg in several processes, on the problems of bench_cpu: cycles to 1e-8, create excluded. Run under mpirun, with one process as the
 * reference:
 *     mpirun -np P bench_ranks [--threads T] [--n N,N] [--runs N] [--halos exact|async] [--delay MICROSECONDS] [--json FILE]
 * With --delay messages come late (slow_link.h), also with a delay of 0: the same transport, for comparison. */
#include "gmg_mpi.h"
#include "problems.h"
#include "record.h"
#include "slow_link.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SIZES = 8 };
static const double TOLERANCE = 1e-8;

typedef struct settings {
  const char *json;
  int threads, runs, sizes;
  gmg_halos halos;
  double delay; /* in microseconds; below 0: MPI as it is */
  size_t n[MOST_SIZES];
} settings;

typedef struct row {
  const char *name;
  double contrast; /* 0: beta = 1 */
} row;
static const row rows[] = {{"solve_async", 0}, {"solve_beta", 1e4}};
enum { ROWS = sizeof rows / sizeof *rows };

/* This process's box of a problem. */
typedef struct part {
  size_t first[3], n[3], cells;
  double *f, *u, *beta;
} part;

static int create_part(gmg_context *c, const gmg_problem *p, double contrast, part *x)
{
  if (gmg_local_box(c, p, x->first, x->n)) return 0;
  x->cells = x->n[0] * x->n[1] * x->n[2];
  x->f = bench_field(x->cells), x->u = bench_field(x->cells), x->beta = contrast > 0 ? bench_field(x->cells) : NULL;
  if (!x->f || !x->u || (contrast > 0 && !x->beta)) return 0;
  for (size_t k = 0, at = 0; k < x->n[2]; k++)
    for (size_t j = 0; j < x->n[1]; j++, at += x->n[0]) {
      const size_t y = x->first[1] + j, z = x->first[2] + k;
      bench_random(x->f + at, (z * p->n[1] + y) * p->n[0] + x->first[0], x->n[0], 1);
      for (size_t i = 0; i < x->n[0] && x->beta; i++) x->beta[at + i] = bench_ball(p->n[0], x->first[0] + i, y, z, contrast);
    }
  return 1;
}

/* Seconds of the slowest process. */
static double seconds_of_all(double mine)
{
  double most;
  MPI_Allreduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return most;
}

/* ||u||_2 of the whole grid, for comparison with other solvers. */
static double norm_of_all(const part *x)
{
  const double own = bench_norm2(x->u, x->cells);
  double mine = own * own, sum;
  MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return sqrt(sum);
}

static void solve(const settings *s, gmg_context *c, const row *w, size_t n, bench_record *r)
{
  const size_t along[3] = {n, n, n};
  gmg_problem problem = gmg_problem_default(3, along);
  gmg_params params = gmg_params_default();
  gmg_solver *solver = NULL;
  gmg_report report;
  part x = {.cells = 0};
  int ranks;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  params.direct = GMG_DIRECT_NEVER, params.rtol = TOLERANCE, params.halos = s->halos;
  bench_record_start(r, w->name, n);
  snprintf(r->what, sizeof r->what, "gmg_solve() by cycles, default parameters, %d processes with %d threads%s%s", ranks,
           gmg_context_threads(c), w->contrast > 0 ? "; " : "", w->contrast > 0 ? BENCH_BALL : "");
  snprintf(r->f, sizeof r->f, "%s", BENCH_F_RANDOM);
  snprintf(r->start, sizeof r->start, "zero");
  snprintf(r->norm, sizeof r->norm, "%s", BENCH_NORM);
  r->tolerance = TOLERANCE;
  gmg_status status = create_part(c, &problem, w->contrast, &x) ? GMG_OK : GMG_ERR_MEMORY;
  problem.beta = x.beta;
  if (status == GMG_OK) status = gmg_solver_create(c, &problem, &params, &solver);
  for (int run = 0; run <= s->runs && status == GMG_OK; run++) {
    bench_zero(x.u, x.cells);
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    status = gmg_solve(solver, x.f, x.u, &report);
    const double seconds = seconds_of_all(MPI_Wtime() - begin);
    if (run > 0) bench_add(&r->samples, seconds);
    r->cycles = report.cycles;
  }
  snprintf(r->status, sizeof r->status, "%s", status == GMG_OK ? "GMG_OK" : gmg_context_error(c));
  bench_record_note(r, "processes", ranks);
  if (s->delay >= 0) bench_record_note(r, "delay_us", s->delay);
  if (status == GMG_OK) bench_record_note(r, "solution_norm", norm_of_all(&x));
  gmg_solver_destroy(solver);
  free(x.f), free(x.u), free(x.beta);
}

static int read_sizes(char *text, settings *s)
{
  s->sizes = 0;
  for (char *one = strtok(text, ","); one && s->sizes < MOST_SIZES; one = strtok(NULL, ",")) {
    s->n[s->sizes] = (size_t)atol(one);
    if (s->n[s->sizes] < 8 || s->n[s->sizes] > 1024) return 0;
    s->sizes++;
  }
  return s->sizes > 0;
}

static int read_delay(const char *text, double *delay)
{
  char *end;
  *delay = strtod(text, &end);
  return end != text && !*end && *delay >= 0 && *delay <= 1e6;
}

static int read_options(int argc, char **argv, settings *s)
{
  static const struct option options[] = {{"json", required_argument, NULL, 'j'}, {"runs", required_argument, NULL, 'r'},
                                          {"n", required_argument, NULL, 'n'}, {"threads", required_argument, NULL, 't'},
                                          {"halos", required_argument, NULL, 'h'}, {"delay", required_argument, NULL, 'd'}, {0}};
  for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
    if (c == 'j') s->json = optarg;
    else if (c == 'r') s->runs = atoi(optarg);
    else if (c == 't') s->threads = atoi(optarg);
    else if (c == 'd' && read_delay(optarg, &s->delay)) continue;
    else if (c == 'h' && strcmp(optarg, "exact") == 0) s->halos = GMG_HALOS_EXACT;
    else if (c == 'h' && strcmp(optarg, "async") == 0) s->halos = GMG_HALOS_ASYNC;
    else if (c != 'n' || !read_sizes(optarg, s)) return 0;
  }
  return optind == argc && s->runs >= 1 && s->runs <= BENCH_SAMPLES && s->threads >= 1;
}

int main(int argc, char **argv)
{
  settings s = {.threads = 1, .runs = 9, .delay = -1, .sizes = 3, .n = {64, 128, 256}};
  bench_record records[ROWS * MOST_SIZES];
  int rank, count = 0, failed = 0;
  gmg_context *c = NULL;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (!read_options(argc, argv, &s)) {
    if (rank == 0)
      fprintf(stderr, "mpirun -np P bench_ranks [--threads T] [--n N,N] [--runs N] [--halos exact|async] [--delay MICROSECONDS] "
                      "[--json FILE]\n");
    MPI_Finalize();
    return 2;
  }
  const gmg_transport slow = bench_slow_transport(MPI_COMM_WORLD, 1e-6 * s.delay);
  const gmg_status created = s.delay < 0 ? gmg_context_create_mpi(MPI_COMM_WORLD, NULL, s.threads, &c)
                                         : gmg_context_create_ranks(&slow, NULL, s.threads, &c);
  if (created != GMG_OK) MPI_Abort(MPI_COMM_WORLD, 1);
  for (int w = 0; w < ROWS; w++)
    for (int i = 0; i < s.sizes; i++) {
      solve(&s, c, &rows[w], s.n[i], &records[count]);
      failed |= strcmp(records[count].status, "GMG_OK") != 0;
      if (rank == 0) bench_record_print(&records[count], NAN);
      count++;
    }
  if (rank == 0 && s.json) failed |= bench_write(s.json, "bench_ranks", s.threads, NULL, records, count);
  gmg_context_destroy(c);
  MPI_Finalize();
  return failed;
}
