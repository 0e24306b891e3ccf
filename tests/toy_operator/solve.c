/* Solves with the operator "toy" by the smoothers that take any operator, in double, in float and in mixed precision, and computes
   the residual by itself. */
#include "gmg.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NX = 63, NY = 55 };
static double f[NY][NX], u[NY][NX];
static float f32[NY][NX], u32[NY][NX];

static double at(long i, long j) { return i < 0 || i >= NX || j < 0 || j >= NY ? 0 : u[j][i]; }

/* The norm of f - A u over the norm of f. */
static double residual(const gmg_problem *p)
{
  const double x = 1 / (12 * p->h[0] * p->h[0]), y = 1 / (p->h[1] * p->h[1]);
  double sum = 0, norm = 0;
  for (long j = 0; j < NY; j++)
    for (long i = 0; i < NX; i++) {
      double r = f[j][i] - (42 + 30 * x + 2 * y) * at(i, j);
      r += x * (16 * at(i - 1, j) + 16 * at(i + 1, j) - at(i - 2, j) - at(i + 2, j)) + y * (at(i, j - 1) + at(i, j + 1));
      sum += r * r, norm += f[j][i] * f[j][i];
    }
  return sqrt(sum / norm);
}

static int solve(gmg_context *context, gmg_problem problem, const char *smoother, gmg_precision precision)
{
  gmg_params params = gmg_params_default();
  static gmg_plan_info plan;
  gmg_report report = {0};
  gmg_solver *solver = NULL;
  const int is_float = problem.type == GMG_F32;
  params.smoother = gmg_smoother_by_name(smoother);
  params.precision = precision;
  params.rtol = is_float ? 1e-5 : 1e-9;
  memset(u, 0, sizeof u), memset(u32, 0, sizeof u32);
  gmg_status status = gmg_plan(context, &problem, &params, &plan);
  if (status == GMG_OK) status = gmg_solver_create(context, &problem, &params, &solver);
  if (status == GMG_OK) status = is_float ? gmg_solve(solver, f32, u32, &report) : gmg_solve(solver, f, u, &report);
  gmg_solver_destroy(solver);
  for (int i = 0; is_float && i < NX * NY; i++) (&u[0][0])[i] = (&u32[0][0])[i];
  printf("%s: %s, %d levels, %d cycles, factor %.3f, residual %.1e %s\n", smoother, gmg_status_string(status), plan.levels,
         report.cycles, report.factor, residual(&problem), gmg_context_error(context));
  return status == GMG_OK && plan.levels > 2 && report.factor < 0.6 && residual(&problem) < 2 * params.rtol;
}

static int is_refused(gmg_context *context, const gmg_problem *problem, const char *smoother, const char *words)
{
  gmg_params params = gmg_params_default();
  gmg_solver *solver = NULL;
  params.smoother = gmg_smoother_by_name(smoother);
  const gmg_status status = gmg_solver_create(context, problem, &params, &solver);
  printf("%s\n", gmg_context_error(context));
  return status == GMG_ERR_UNSUPPORTED && !solver && strstr(gmg_context_error(context), words);
}

int main(void)
{
  const size_t n[2] = {NX, NY};
  gmg_problem toy = gmg_problem_default(2, n);
  gmg_context *context;
  int good = 1;
  toy.centering = GMG_VERTEX, toy.shift = 42;
  gmg_problem_set_box(&toy, NULL);
  gmg_problem cells = toy, single = toy;
  cells.centering = GMG_CELL, single.type = GMG_F32;
  for (int i = 0; i < NX * NY; i++) (&f[0][0])[i] = (&f32[0][0])[i] = i * 7919 % 101 - 50.0f;
  if (gmg_context_create_host(2, &context) != GMG_OK) return 1;
  static const char *const takes_any[] = {"jacobi", "chebyshev"};
  for (int i = 0; i < 2; i++) {
    good &= solve(context, toy, takes_any[i], GMG_PRECISION_SAME) && solve(context, toy, takes_any[i], GMG_PRECISION_MIXED);
    good &= solve(context, single, takes_any[i], GMG_PRECISION_SAME);
  }
  good &= is_refused(context, &toy, "async", "does not take a problem with a toy");
  good &= is_refused(context, &cells, "jacobi", "the toy is for vertices");
  gmg_context_destroy(context);
  return !good;
}
