/* A peer for constant coefficients: solves the discrete Poisson problem directly by sine transforms (FFTW; Frigo, Johnson 2005).
 * With walls half a cell away the eigenvectors are those of DST-II, and the eigenvalues are 4 n^2 sin^2(pi (k + 1) / 2n). gmg
 * computes the residual. */
#include "gmg.h"
#include "problems.h"
#include "record.h"

#include <fftw3.h>
#include <getopt.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct direct {
  size_t n, cells;
  double *f, *u, *r, *lambda;
  fftw_plan forward, backward;
} direct;

static void solve(const direct *d)
{
  const size_t n = d->n;
  const double scale = 8.0 * (double)n * (double)n * (double)n; /* the factor by which both transforms together scale */
  fftw_execute(d->forward);
#pragma omp parallel for schedule(static)
  for (size_t k = 0; k < n; k++)
    for (size_t j = 0; j < n; j++) {
      const double across = d->lambda[j] + d->lambda[k];
      for (size_t i = 0; i < n; i++) d->u[(k * n + j) * n + i] /= scale * (across + d->lambda[i]);
    }
  fftw_execute(d->backward);
}

static double make_plans(direct *d, int threads)
{
  const int n = (int)d->n;
  const double start = omp_get_wtime();
  fftw_init_threads();
  fftw_plan_with_nthreads(threads);
  d->forward = fftw_plan_r2r_3d(n, n, n, d->f, d->u, FFTW_RODFT10, FFTW_RODFT10, FFTW_RODFT10, FFTW_MEASURE);
  d->backward = fftw_plan_r2r_3d(n, n, n, d->u, d->u, FFTW_RODFT01, FFTW_RODFT01, FFTW_RODFT01, FFTW_MEASURE);
  return omp_get_wtime() - start;
}

/* ||f - A u|| / ||f|| computed by gmg; NaN if gmg fails. */
static double residual_of(const direct *d)
{
  const size_t n[3] = {d->n, d->n, d->n};
  const gmg_problem problem = gmg_problem_default(3, n);
  const gmg_params params = gmg_params_default();
  gmg_context *context = NULL;
  gmg_solver *solver = NULL;
  gmg_status status = gmg_context_create_host(omp_get_max_threads(), &context);
  if (status == GMG_OK) status = gmg_solver_create(context, &problem, &params, &solver);
  if (status == GMG_OK) status = gmg_residual(solver, d->f, d->u, d->r);
  gmg_solver_destroy(solver);
  gmg_context_destroy(context);
  return status == GMG_OK ? bench_norm2(d->r, d->cells) / bench_norm2(d->f, d->cells) : NAN;
}

static void describe(const direct *d, double planning, bench_record *r)
{
  bench_record_start(r, "fftw", d->n);
  snprintf(r->what, sizeof r->what, "FFTW: direct solve by DST-II and DST-III, FFTW_MEASURE, planning excluded");
  snprintf(r->f, sizeof r->f, "%s", BENCH_F_RANDOM);
  snprintf(r->start, sizeof r->start, "none");
  snprintf(r->norm, sizeof r->norm, "none");
  snprintf(r->floor_of, sizeof r->floor_of, "this f: eps/2 ||A|| ||u|| / ||f||");
  r->floor = bench_floor(d->n, 1, bench_norm2(d->u, d->cells), bench_norm2(d->f, d->cells));
  bench_record_note(r, "planning_seconds", planning);
  bench_record_note(r, "residual", residual_of(d));
  bench_record_note(r, "solution_norm", bench_norm2(d->u, d->cells));
}

static int measure(direct *d, int runs, const char *json)
{
  bench_record r;
  bench_samples times = {0};
  const int threads = omp_get_max_threads();
  const double planning = make_plans(d, threads);
  bench_fill_rhs(BENCH_RANDOM, d->f, d->n); /* planning has overwritten f */
  for (size_t k = 0; k < d->n; k++) {
    const double s = 2 * (double)d->n * sin(M_PI * (double)(k + 1) / (2 * (double)d->n));
    d->lambda[k] = s * s;
  }
  for (int run = -1; run < runs; run++) {
    const double start = omp_get_wtime();
    solve(d);
    if (run >= 0) bench_add(&times, omp_get_wtime() - start);
  }
  describe(d, planning, &r);
  r.samples = times;
  bench_record_print(&r, NAN);
  fftw_destroy_plan(d->forward);
  fftw_destroy_plan(d->backward);
  return json ? bench_write(json, "bench_fftw", threads, NULL, &r, 1) : 0;
}

int main(int argc, char **argv)
{
  static const struct option options[] = {{"json", required_argument, NULL, 'j'}, {"runs", required_argument, NULL, 'r'},
                                          {"n", required_argument, NULL, 'n'}, {0}};
  const char *json = NULL;
  int n = 256, runs = 5;
  for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
    if (c == 'j') json = optarg;
    else if (c == 'r') runs = atoi(optarg);
    else if (c == 'n') n = atoi(optarg);
    else return fputs("bench_fftw [--json FILE] [--n N] [--runs N]\n", stderr), 2;
  }
  if (n < 8 || n > 1024 || runs < 1 || runs > BENCH_SAMPLES) return fputs("bench_fftw: bad --n or --runs\n", stderr), 2;
  direct d = {.n = (size_t)n, .cells = (size_t)n * (size_t)n * (size_t)n};
  d.f = bench_field(d.cells), d.u = bench_field(d.cells), d.r = bench_field(d.cells), d.lambda = bench_field(d.n);
  const int bad = d.f && d.u && d.r && d.lambda ? measure(&d, runs, json) : 1;
  free(d.f), free(d.u), free(d.r), free(d.lambda);
  return bad;
}
