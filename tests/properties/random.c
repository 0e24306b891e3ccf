/* 500 random problems, from fixed seeds, against a dense direct solve: sizes 1 to 40, 1D to 3D, both centrings, all boundary
   conditions with values, shifts, anisotropy, coefficients and stretched axes, every smoother, cycle, coarse solver, acceleration
   and type. The residual of the solution, computed with the reference's matrix, must be the reported one. The solution must be
   that of the reference. */
#include "reference.h"
#include "sample.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CASES = 500, MOST_UNKNOWNS = 1000 };

/* Tolerance of the solve, and allowed error of the solution (measured: a twentieth of it). */
static const double rtol[] = {[GMG_F32] = 1e-4, [GMG_F64] = 1e-9};
static const double tolerance[] = {[GMG_F32] = 5e-3, [GMG_F64] = 5e-8};
static const double epsilon[] = {[GMG_F32] = 6e-8, [GMG_F64] = 1.1e-16};

static void describe(int number, const sample *s, char text[256])
{
  static const char letters[] = "dnrp";
  char bc[7] = "";
  for (int i = 0; i < 2 * s->p.dim; i++) bc[i] = letters[s->p.bc[i / 2][i % 2]];
  snprintf(text, 256, "case %d (%dD %s %s %zu x %zu x %zu %s, shift %g, %s%s%s%s, %s, accel %d, %d threads)", number,
           s->p.dim, s->p.type == GMG_F32 ? "f32" : "f64", s->p.centering == GMG_CELL ? "cells" : "vertices", s->p.n[0], s->p.n[1],
           s->p.n[2], bc, s->p.shift, s->p.beta ? "beta " : "", s->p.beta_face[0] ? "beta_face " : "",
           s->p.sigma ? "sigma " : "", s->p.coord[0] || s->p.coord[1] || s->p.coord[2] ? "coord " : "", s->q.smoother->name,
           (int)s->q.accel, s->threads);
}

static double mean_of(const gmg_problem *p, const double *x)
{
  double sum = 0, volume = 0;
  for (size_t c = 0; c < unknowns(p); c++) sum += cell_volume(p, c) * x[c], volume += cell_volume(p, c);
  return sum / volume;
}

static void take_off(double *x, size_t n, double mean)
{
  for (size_t i = 0; i < n; i++) x[i] -= mean;
}

static void solve(const sample *s, const char *name, double **u, gmg_report *report)
{
  const gmg_problem *p = &s->p;
  const size_t n = unknowns(p);
  gmg_params q = s->q;
  q.rtol = rtol[p->type];
  if (on_device && q.async.local == GMG_LOCAL_GAUSS_SEIDEL) q.async.local = GMG_LOCAL_RED_BLACK; /* a device has no kernel for it, and create says so */
  session z = begin_solver(p, &q, s->threads);
  for (int a = 0; a < p->dim; a++)
    for (int side = 0; side < 2; side++) {
      void *g = s->g[a][side] ? typed(p, s->g[a][side], n / p->n[a]) : NULL;
      if (g) assert_ok(z.context, set_values_in(&z, a, side, g));
      free(g);
    }
  double *guess = field(n, s->q.async.seed % 2);
  void *f = typed(p, s->f, n), *x = typed(p, guess, n);
  const gmg_status outcome = solve_in(&z, f, x, report);
  if (outcome != GMG_OK && outcome != GMG_STAGNATED)
    fail_msg("%s: %s: %s", name, gmg_status_string(outcome), gmg_context_error(z.context));
  *u = untyped(p, x, n);
  free(guess), free(f), free(x);
  end_solver(&z);
}

/* Largest errors found, over the allowed ones. */
static double worst_residual, worst_error;

/* Checks the residual by the reference's matrix: it meets the tolerance, or the floor if the solve says so. Returns the
   residual. */
static double check_residual(const sample *s, const char *name, const double *A, const double *b, const double *u,
                           const gmg_report *report)
{
  const size_t n = unknowns(&s->p);
  double *r = field(n, 0), largest = 0;
  for (size_t c = 0; c < n; c++) {
    r[c] = b[c];
    for (size_t j = 0; j < n; j++) r[c] -= A[c * n + j] * u[j];
    largest = fmax(largest, fabs(A[c * n + c]));
  }
  const double floor = 20 * epsilon[s->p.type] * (2 * largest * norm2(u, n) + norm2(b, n));
  const double allowed = (report->status == GMG_STAGNATED ? 0 : rtol[s->p.type] * norm2(b, n)) + floor;
  worst_residual = fmax(worst_residual, norm2(r, n) / allowed);
  if (!(norm2(r, n) <= allowed))
    fail_msg("%s: residual %g, allowed %g (reported %g, %s, %d cycles, floor %g, target %g)", name, norm2(r, n), allowed,
             report->residual, gmg_status_string(report->status), report->cycles, report->floor, report->target);
  free(r);
  return allowed;
}

static void check(int number)
{
  sample s = make_sample((uint64_t)number, MOST_UNKNOWNS, number % 2);
  const gmg_problem *p = &s.p;
  const size_t n = unknowns(p);
  char name[256];
  double *u = NULL;
  gmg_report report;
  describe(number, &s, name);
  solve(&s, name, &u, &report);
  double *A = dense_matrix(p), *b = dense_rhs(p, s.f, s.g);
  if (report.singular != sample_is_singular(&s)) fail_msg("%s: singular is %d", name, report.singular);
  if (report.singular) take_off(b, n, mean_of(p, b)), take_off(u, n, mean_of(p, u));
  const double residual = check_residual(&s, name, A, b, u, &report), b_norm = norm2(b, n);
  if (report.singular) { /* f is compatible now, so one equation follows from the others. It is replaced by the zero mean */
    for (size_t j = 0; j < n; j++) A[(n - 1) * n + j] = cell_volume(p, j) / cell_volume(p, n - 1) * A[0];
    if (n == 1) A[0] = 1;
    b[n - 1] = 0;
  }
  assert_true(dense_solve(A, b, n));
  double error = 0; /* b now holds the solution. ||u|| / ||b|| is a lower bound of the factor by which A^-1 magnifies a residual */
  const double magnified = b_norm > 0 ? 4 * norm2(b, n) / b_norm * residual : 0;
  const double allowed = tolerance[p->type] * norm2(b, n) + magnified;
  for (size_t c = 0; c < n; c++) error += (u[c] - b[c]) * (u[c] - b[c]);
  worst_error = fmax(worst_error, allowed > 0 ? sqrt(error) / allowed : 0);
  if (!(sqrt(error) <= allowed)) fail_msg("%s: error %g of %g", name, sqrt(error), norm2(b, n));
  free(A), free(b);
  free(u);
  free_sample(&s);
}

static void random_problems_match_elimination(void **state)
{
  (void)state;
  for (int i = 0; i < CASES; i++) check(i);
  printf("%d random problems; largest residual %.2g, largest error %.2g of what is allowed\n", CASES, worst_residual, worst_error);
}

int main(int argc, char **argv)
{
  if (for_device(argc, argv)) return SKIPPED;
  const struct CMUnitTest tests[] = {cmocka_unit_test(random_problems_match_elimination)};
  return run_selected(tests);
}
