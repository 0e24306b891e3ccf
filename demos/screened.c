/* The screened equation, -Lap u + eta u = cos(x + y) in the unit cube with u = 0 on all faces, eta = 0, 0.1 and 1. eta changes
 * the convergence of single-level methods, but not that of multigrid.
 *
 * The slowest error of undamped Jacobi is sin(pi x) sin(pi y) sin(pi z), whose eigenvalue is 3 pi^2 + eta. So log ||r|| finally
 * falls linearly. The ratio of the slopes with and without eta is (3 pi^2 + eta) / (3 pi^2), up to terms of h^2, for every
 * discretisation. The program counts sweeps on two discretisations: gmg's seven points, and the trilinear elements (27 points) of
 * Cheik Ahamed's thesis (Ecole Centrale Paris, 2015). It reproduces the counts of Tables 5.7 and 5.8 there, and fails if a slope or
 * a ratio is wrong. gmg solves the first discretisation. The program also fails if its u is not that of Jacobi. */
#include "demo.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const demo_program about = {
    "screened",
    "Solves -Lap u + eta u = cos(x + y) in the unit cube for eta = 0, 0.1 and 1 (vertex-centred, f64), and counts sweeps of Jacobi "
    "and iterations of conjugate gradients, for gmg's seven points and for trilinear elements. --n N: N^3 unknowns, so N + 2 nodes "
    "along each axis. The fields written are those of the last eta.",
    DEMO_TAKES_RUN | DEMO_TAKES_DEVICE | DEMO_TAKES_SIZE | DEMO_TAKES_METHOD | DEMO_TAKES_SMOOTHER | DEMO_TAKES_LIMIT |
        DEMO_TAKES_OUTPUT,
    DEMO_SMOOTH, 3, 31};

enum { ETAS = 3, STENCILS = 2, MARKS = 3, POINTS = 200, LIMIT = 1000000 };
static const double PI = 3.14159265358979323846, ETA[ETAS] = {0, 0.1, 1}, MARK[MARKS] = {1e-6, 1e-8, 1e-10};
static const char *const NAME[STENCILS] = {"seven_points", "trilinear"};
static const char *const TEXT[STENCILS] = {"seven points", "trilinear elements"};

/* The coefficient of a neighbour depends on the number of axes along which it differs from the unknown. */
typedef struct stencil {
  double weight[4];
  double factor; /* by which a sweep of Jacobi reduces the slowest error */
} stencil;

/* The sweeps and iterations of Jacobi and conjugate gradients for one eta on one discretisation. */
typedef struct effort {
  int sweeps[MARKS], iterations[MARKS];
  double hundredfold, predicted, ratio; /* sweeps for a reduction by 100; slope over that of eta = 0 */
  double history[POINTS];               /* relative residual, every `stride` sweeps */
  int stride, points;
} effort;

typedef struct run {
  const demo_options *o;
  gmg_context *context;
  gmg_problem problem;
  gmg_params params;
  gmg_plan_info plan; /* for the current eta */
  gmg_solver *solver;
  demo_array f, u;
  size_t m, size;               /* nodes along an axis, walls included; in all */
  double *b, *x, *r, *p, *Ap;   /* on all nodes, for Jacobi and conjugate gradients */
  effort effort[ETAS][STENCILS];
  double distance[ETAS];        /* between gmg's u and Jacobi's, over the largest u */
  cJSON *solves;                /* NULL without --json */
  int complete;
} run;

/* --- the discretisations --- */

/* With stiffness (-1, 2, -1) / h and mass h (0, 1, 0) along an axis, or h (1, 4, 1) / 6 for elements:
 * A = K M M + M K M + M M K + eta M M M, over h^3. c = cos(pi h) gives the eigenvalues of both. */
static stencil make_stencil(int which, double h, double eta)
{
  const double K[2] = {2, -1}, M[2] = {which ? 4.0 / 6 : 1, which ? 1.0 / 6 : 0}, c = cos(PI * h);
  const double k = K[0] + 2 * c * K[1], m = M[0] + 2 * c * M[1];
  stencil s;
  for (int beside = 0; beside < 4; beside++) {
    double mass = 1, sum = 0;
    for (int a = 0; a < 3; a++) mass *= M[a < beside];
    for (int a = 0; a < 3; a++) { /* K along axis a, M along the others */
      double product = K[a < beside];
      for (int other = 0; other < 3; other++) product *= other == a ? 1 : M[other < beside];
      sum += product;
    }
    s.weight[beside] = sum / (h * h) + eta * mass;
  }
  s.factor = 1 - (3 * k * m * m / (h * h) + eta * m * m * m) / s.weight[0];
  return s;
}

/* The loops are compiled for either set of neighbours. */
static inline void apply_at(const run *r, const stencil *s, int all, const double *x, double *y)
{
  const size_t m = r->m, plane = m * m;
#pragma omp parallel for
  for (size_t k = 1; k < m - 1; k++)
    for (size_t j = 1; j < m - 1; j++)
      for (size_t i = 1; i < m - 1; i++) {
        const double *at = x + (k * m + j) * m + i;
        const double *line[3][3];
        for (size_t dz = 0; dz < 3; dz++)
          for (size_t dy = 0; dy < 3; dy++) line[dz][dy] = at + dz * plane + dy * m - plane - m;
        double sum = s->weight[0] * at[0] + s->weight[1] * (at[-1] + at[1] + line[1][0][0] + line[1][2][0] + line[0][1][0] + line[2][1][0]);
        if (all) {
          double edges = 0, corners = 0;
          for (size_t dz = 0; dz < 3; dz += 2) {
            edges += line[dz][0][0] + line[dz][2][0] + line[dz][1][-1] + line[dz][1][1] + line[1][dz][-1] + line[1][dz][1];
            corners += line[dz][0][-1] + line[dz][0][1] + line[dz][2][-1] + line[dz][2][1];
          }
          sum += s->weight[2] * edges + s->weight[3] * corners;
        }
        y[at - x] = sum;
      }
}

static void apply(const run *r, const stencil *s, const double *x, double *y)
{
  if (s->weight[2] == 0) apply_at(r, s, 0, x, y);
  else apply_at(r, s, 1, x, y);
}

/* --- the methods, from zero until the residual is below the last mark --- */

/* The number of sweeps, as a real number, at which a mark is reached, if log ||r|| is linear between two sweeps. */
static double passed(int sweep, double before, double now, double mark)
{
  return sweep - 1 + log(before / mark) / log(before / now);
}

static int jacobi(run *r, const stencil *s, effort *e)
{
  const double norm = sqrt(demo_dot(r->size, r->b, r->b));
  double before = 1, first = 0, last = 0;
  e->predicted = log(100) / -log(s->factor);
  e->stride = (int)(e->predicted * 6 / POINTS) + 1;
  memset(r->x, 0, r->size * sizeof(double));
  for (int sweep = 0, mark = 0; mark < MARKS; sweep++) {
    apply(r, s, r->x, r->Ap);
    memcpy(r->r, r->b, r->size * sizeof(double));
    demo_combine(r->size, 1, r->r, -1, r->Ap);
    const double now = sqrt(demo_dot(r->size, r->r, r->r)) / norm;
    if (sweep % e->stride == 0 && e->points < POINTS) e->history[e->points++] = now;
    for (; mark < MARKS && now <= MARK[mark]; mark++) {
      if (mark == 0) first = passed(sweep, before, now, MARK[0]);
      last = passed(sweep, before, now, MARK[mark]);
      e->sweeps[mark] = sweep;
    }
    before = now;
    if (sweep == LIMIT || !isfinite(now)) return demo_fail(r->o, "Jacobi is at %g of the residual after %d sweeps", now, sweep);
    demo_combine(r->size, 1, r->x, 1 / s->weight[0], r->r);
  }
  e->hundredfold = (last - first) * log(100) / log(MARK[0] / MARK[MARKS - 1]);
  return 0;
}

/* Hestenes and Stiefel 1952; the residual is the recursive one. Does not overwrite Jacobi's x. */
static void conjugate_gradients(run *r, const stencil *s, effort *e)
{
  memcpy(r->r, r->b, r->size * sizeof(double));
  memset(r->p, 0, r->size * sizeof(double));
  const double first = demo_dot(r->size, r->r, r->r);
  double before = first, now = first;
  for (int iteration = 0, mark = 0; mark < MARKS && iteration < LIMIT; iteration++) {
    for (; mark < MARKS && sqrt(now / first) <= MARK[mark]; mark++) e->iterations[mark] = iteration;
    demo_combine(r->size, iteration ? now / before : 0, r->p, 1, r->r);
    apply(r, s, r->p, r->Ap);
    demo_combine(r->size, 1, r->r, -now / demo_dot(r->size, r->p, r->Ap), r->Ap);
    before = now;
    now = demo_dot(r->size, r->r, r->r);
  }
}

static int solve(run *r, double eta)
{
  const demo_options *o = r->o;
  gmg_report report;
  r->problem.shift = eta;
  if (demo_plan(o, r->context, &r->problem, &r->params, 8, &r->plan)) return 1;
  if (demo_check(o, r->context, gmg_solver_update(r->solver, &r->problem)) || demo_array_zero(o, &r->u)) return 1;
  const gmg_status status = gmg_solve(r->solver, r->f.there, r->u.there, &report);
  if (status != GMG_OK && status != GMG_STAGNATED) return demo_check(o, r->context, status);
  if (!o->quiet) printf("%5g  gmg                 %6d cycles, factor %.3f, %.3g s\n", eta, report.cycles, report.factor, report.seconds);
  cJSON *row = r->solves ? cJSON_CreateObject() : NULL;
  if (row) r->complete &= cJSON_AddNumberToObject(row, "eta", eta) && demo_json_report(row, &report, demo_message(r->context, status));
  if (r->solves && (!row || !cJSON_AddItemToArray(r->solves, row))) r->complete = 0, cJSON_Delete(row);
  return demo_array_fetch(o, &r->u);
}

/* --- runs and output --- */

static size_t node(const run *r, size_t i)
{
  const size_t n = r->problem.n[0];
  return ((i / n / n + 1) * r->m + i / n % n + 1) * r->m + i % n + 1;
}

static int prepare(run *r)
{
  const demo_options *o = r->o;
  double **fields[] = {&r->b, &r->x, &r->r, &r->p, &r->Ap};
  if (demo_plan(o, r->context, &r->problem, &r->params, 8, &r->plan)) return 1;
  demo_print_header(o, &r->problem, &r->plan);
  if (demo_check(o, r->context, gmg_solver_create(r->context, &r->problem, &r->params, &r->solver))) return 1;
  int ok = demo_array_create(o, &r->problem, &r->f) & demo_array_create(o, &r->problem, &r->u);
  for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) ok &= (*fields[i] = calloc(r->size, sizeof(double))) != NULL;
  r->solves = o->json ? cJSON_CreateArray() : NULL;
  r->complete = !o->json || r->solves;
  if (!ok) return demo_fail(o, "out of memory: fields of %zu unknowns", demo_cells(&r->problem));
  for (size_t i = 0; i < demo_cells(&r->problem); i++) {
    const size_t n = r->problem.n[0];
    const double value = cos(demo_position(&r->problem, 0, i % n) + demo_position(&r->problem, 1, i / n % n));
    ((double *)r->f.here)[i] = r->b[node(r, i)] = value; /* the right-hand side of elements is the same times a constant */
  }
  return demo_array_send(o, &r->f);
}

static void tell(const run *r, int eta, int which)
{
  const effort *e = &r->effort[eta][which];
  if (r->o->quiet) return;
  printf("%5g  %-18s  %6d %6d %6d  %5d%5d%5d  %11.2f  %9.2f  %9.5f  %8.5f\n", ETA[eta], TEXT[which], e->sweeps[0], e->sweeps[1],
         e->sweeps[2], e->iterations[0], e->iterations[1], e->iterations[2], e->hundredfold, e->predicted, e->ratio,
         1 + ETA[eta] / (3 * PI * PI));
  fflush(stdout);
}

/* Terms of h^2 are allowed. */
static int judge(const run *r, int eta, int which)
{
  const effort *e = &r->effort[eta][which];
  const double h = r->problem.h[0], beyond = ETA[eta] / (3 * PI * PI);
  if (fabs(e->hundredfold / e->predicted - 1) > 1e-3)
    return demo_fail(r->o, "eta = %g, %s: Jacobi takes %.2f sweeps for a reduction by 100, not %.2f", ETA[eta], TEXT[which],
                     e->hundredfold, e->predicted);
  if (fabs(e->ratio - 1 - beyond) > PI * h * PI * h * beyond + 1e-6)
    return demo_fail(r->o, "eta = %g, %s: ratio of the slopes %.6f, not %.6f", ETA[eta], TEXT[which], e->ratio, 1 + beyond);
  return 0;
}

static int run_eta(run *r, int eta)
{
  double most = 0;
  if (solve(r, ETA[eta])) return 1;
  for (int which = 0; which < STENCILS; which++) {
    effort *e = &r->effort[eta][which];
    const stencil s = make_stencil(which, r->problem.h[0], ETA[eta]);
    if (jacobi(r, &s, e)) return 1;
    e->ratio = r->effort[0][which].hundredfold / e->hundredfold;
    conjugate_gradients(r, &s, e);
    tell(r, eta, which);
    if (judge(r, eta, which)) return 1;
    for (size_t i = 0; which == 0 && i < demo_cells(&r->problem); i++) {
      const double u = ((double *)r->u.here)[i];
      r->distance[eta] = fmax(r->distance[eta], fabs(u - r->x[node(r, i)]));
      most = fmax(most, fabs(u));
    }
  }
  r->distance[eta] /= most;
  if (r->distance[eta] <= 10 * fmax(r->params.rtol, MARK[MARKS - 1])) return 0; /* Jacobi stops at the last mark */
  return demo_fail(r->o, "eta = %g: gmg's u is off Jacobi's by %.2e of it", ETA[eta], r->distance[eta]);
}

static int add_effort(cJSON *rows, const run *r, int eta, int which)
{
  const effort *e = &r->effort[eta][which];
  cJSON *row = cJSON_CreateObject();
  double sweeps[MARKS], iterations[MARKS];
  for (int i = 0; i < MARKS; i++) sweeps[i] = e->sweeps[i], iterations[i] = e->iterations[i];
  const int ok = cJSON_AddNumberToObject(row, "eta", ETA[eta]) && cJSON_AddStringToObject(row, "stencil", NAME[which]) &&
                 demo_json_numbers(row, "sweeps", sweeps, MARKS) && demo_json_numbers(row, "cg_iterations", iterations, MARKS) &&
                 cJSON_AddNumberToObject(row, "hundredfold", e->hundredfold) &&
                 cJSON_AddNumberToObject(row, "predicted", e->predicted) && cJSON_AddNumberToObject(row, "ratio", e->ratio) &&
                 cJSON_AddNumberToObject(row, "exact_ratio", 1 + ETA[eta] / (3 * PI * PI)) &&
                 cJSON_AddNumberToObject(row, "stride", e->stride) &&
                 demo_json_numbers(row, "history", e->history, (size_t)e->points);
  if (row && cJSON_AddItemToArray(rows, row)) return ok;
  cJSON_Delete(row);
  return 0;
}

static int write_json(run *r)
{
  if (!r->o->json) return 0;
  r->problem.shift = 0;
  cJSON *root = demo_json_start(r->o, r->context, &r->problem, NULL);
  cJSON *rows = cJSON_AddArrayToObject(root, "single_level");
  int ok = rows && r->complete && demo_json_numbers(root, "marks", MARK, MARKS) && demo_json_numbers(root, "distance", r->distance, ETAS);
  for (int i = 0; ok && i < ETAS * STENCILS; i++) ok = add_effort(rows, r, i / STENCILS, i % STENCILS);
  ok = ok && cJSON_AddItemToObject(root, "solves", r->solves);
  if (ok) r->solves = NULL; /* owned by root from here on */
  return demo_json_write(r->o, root, ok);
}

static int simulate(run *r)
{
  const demo_options *o = r->o;
  if (prepare(r)) return 1;
  if (!o->quiet)
    printf("\n%43s  %15s  %22s  %19s\n  eta  %-18s  %6g %6g %6g  %15s  %11s  %9s  %9s  %8s\n", "sweeps of Jacobi to", "CG iterations,",
           "sweeps for a hundredth", "ratio of the slopes", "", MARK[0], MARK[1], MARK[2], "likewise", "counted", "predicted", "measured",
           "exact");
  for (int eta = 0; eta < ETAS; eta++)
    if (run_eta(r, eta)) return 1;
  const demo_named_field fields[] = {{"u", r->u.here}, {"f", r->f.here}};
  const int failed = write_json(r) | (o->output ? demo_fields_write(o, &r->problem, fields, 2) : 0);
  const double exact = 1 + ETA[2] / (3 * PI * PI);
  printf("%s: ratio of slopes for eta = 1: %.5f (seven points), %.5f (trilinear), exact %.5f\n", o->program, r->effort[2][0].ratio,
         r->effort[2][1].ratio, exact);
  return failed;
}

int main(int argc, char **argv)
{
  demo_options o;
  int code = demo_options_read(argc, argv, &about, &o);
  if (code >= 0) return code;
  const size_t *n = o.problem.n;
  if (o.problem.dim != 3) return demo_fail(&o, "--dim %d: the cube is in 3D", o.problem.dim), 2;
  if (n[0] != n[1] || n[0] != n[2]) return demo_fail(&o, "--n %zux%zux%zu: a cube has one number", n[0], n[1], n[2]), 2;
  if (n[0] < 7) return demo_fail(&o, "--n %zu: on fewer than 7 unknowns along an axis slopes are not those of small h", n[0]), 2;
  if (o.params.rtol == 0) o.params.rtol = MARK[MARKS - 1];
  run r = {.o = &o, .problem = o.problem, .params = o.params, .m = n[0] + 2};
  r.size = r.m * r.m * r.m;
  r.problem.centering = GMG_VERTEX;
  gmg_problem_set_box(&r.problem, (const double[]){1, 1, 1});
  code = demo_context_create(&o, &r.context);
  if (!code) code = simulate(&r);
  cJSON_Delete(r.solves);
  gmg_solver_destroy(r.solver);
  gmg_context_destroy(r.context);
  demo_array_destroy(&r.f), demo_array_destroy(&r.u);
  free(r.b), free(r.x), free(r.r), free(r.p), free(r.Ap);
  return code;
}
