/* Plans and solves with the smoother "toy", in double and in mixed precision. */
#include "gmg.h"

#include <stdio.h>
#include <string.h>

enum { N = 48 };
static double f[N * N], u[N * N];

static int listed(void)
{
  for (int i = 0; gmg_smoother_name(i); i++)
    if (strcmp(gmg_smoother_name(i), "toy") == 0) return 1;
  return 0;
}

static int solve(gmg_context *context, gmg_precision precision)
{
  const size_t n[2] = {N, N};
  const gmg_problem problem = gmg_problem_default(2, n);
  gmg_params params = gmg_params_default();
  static gmg_plan_info plan;
  gmg_report report = {0};
  gmg_solver *solver = NULL;
  params.smoother = gmg_smoother_by_name("toy");
  params.precision = precision;
  params.symmetric = 1; /* its traits promise an adjoint */
  memset(u, 0, sizeof u);
  gmg_status status = gmg_plan(context, &problem, &params, &plan);
  if (status == GMG_OK) status = gmg_solver_create(context, &problem, &params, &solver);
  if (status == GMG_OK) status = gmg_solve(solver, f, u, &report);
  gmg_solver_destroy(solver);
  printf("%s: %d levels, %d cycles, factor %.3f %s\n", gmg_status_string(status), plan.levels, report.cycles, report.factor,
         gmg_context_error(context));
  return status == GMG_OK && report.factor > 0 && report.factor < 0.7 && report.deterministic;
}

int main(void)
{
  gmg_context *context;
  for (int i = 0; i < N * N; i++) f[i] = i * 7919 % 101 - 50.0;
  if (!listed() || gmg_context_create_host(2, &context) != GMG_OK) return 1;
  const int good = solve(context, GMG_PRECISION_SAME) && solve(context, GMG_PRECISION_MIXED);
  gmg_context_destroy(context);
  return !good;
}
