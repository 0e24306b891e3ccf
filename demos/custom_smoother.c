/* A smoother of one's own, complete: Richardson iteration with the two weights that damp the upper part of the
 * spectrum best (Chebyshev), built on gmg_level_residual(). Solves -Lap u = 1 in 3D with it.
 * usage: custom_smoother [n]     unknowns along each axis, default 64 */
#include "gmg_smoother.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* High frequencies of A / diagonal lie between 1/dim and 2; these are the inverse Chebyshev nodes of that interval. */
static double weight(int step, int dim)
{
  const double least = 1.0 / dim, middle = (2 + least) / 2, half = (2 - least) / 2, cosine = 0.7071067811865476;
  return 1 / (step ? middle - half * cosine : middle + half * cosine);
}

static void sweep(const gmg_smoother_level *level, void *state, const void *f, void *u, int steps, gmg_leg leg)
{
  (void)state, (void)leg; /* a polynomial in A is its own adjoint: both legs are the same */
  const gmg_operator *A = level->A;
  const double diagonal = 2 * (A->coupling[0] + A->coupling[1] + A->coupling[2]) + A->shift;
  double *x = u;
  const double *r = level->scratch;
  for (int step = 0; step < 2 * steps; step++) {
    const double w = weight(step % 2, A->dim) / diagonal;
    gmg_level_residual(level, f, u, level->scratch);
#pragma omp parallel for num_threads(level->threads)
    for (size_t i = 0; i < A->cells; i++) x[i] += w * r[i];
  }
}

static unsigned traits(const gmg_params *params, int threads)
{
  (void)params, (void)threads;
  return GMG_SMOOTHER_DETERMINISTIC | GMG_SMOOTHER_ADJOINT | GMG_SMOOTHER_LINEAR;
}

static const gmg_smoother_ops host_double = {.sweep = sweep};
static const gmg_smoother mine = {.name = "mine", .traits = traits, .host = {[GMG_F64] = &host_double}};

static int run(gmg_context *context, size_t n, double *f, double *u)
{
  const gmg_problem problem = gmg_problem_default(3, (size_t[]){n, n, n});
  gmg_params params = gmg_params_default();
  params.smoother = &mine;
  gmg_solver *solver;
  gmg_report report;
  for (size_t i = 0; i < n * n * n; i++) f[i] = 1;
  gmg_status status = gmg_solver_create(context, &problem, &params, &solver);
  if (status == GMG_OK) status = gmg_solve(solver, f, u, &report);
  if (status != GMG_OK)
    fprintf(stderr, "custom_smoother: %s: %s\n", gmg_status_string(status), gmg_context_error(context));
  else
    printf("%zu^3 unknowns: %d cycles, factor %.3f, %.3g s\n", n, report.cycles, report.factor, report.seconds);
  gmg_solver_destroy(solver);
  return status != GMG_OK;
}

int main(int argc, char **argv)
{
  char *end = "";
  const long n = argc > 1 ? strtol(argv[1], &end, 10) : 64;
  const int help = argc > 1 && !strcmp(argv[1], "--help"), bad = !help && (argc > 2 || *end || n < 1 || n > 2000);
  if (help || bad) fprintf(help ? stdout : stderr, "usage: custom_smoother [n]   n from 1 to 2000, default 64\n");
  if (help || bad) return bad ? 2 : 0;

  const size_t cells = (size_t)n * (size_t)n * (size_t)n;
  double *f = calloc(cells, sizeof *f), *u = calloc(cells, sizeof *u);
  gmg_context *context = NULL;
  int failed = !f || !u || gmg_context_create_host(0, &context) != GMG_OK;
  if (failed) fprintf(stderr, "custom_smoother: out of memory\n");
  else failed = run(context, (size_t)n, f, u);
  gmg_context_destroy(context);
  free(f);
  free(u);
  return failed;
}
