/* Several processes: the same solution, and the same residuals, as one process finds, however the grid is cut; errors of one process
   on all. The processes are threads (ranks.h). */
#include "ranks.h"
#include "util.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_RANKS = 8, MOST_CYCLES = 100, TEXT = 512 };

/* --- a solve in several processes -------------------------------------------------------------------------------------------- */

typedef struct job job;
struct job {
  gmg_problem problem; /* whole, without arrays */
  gmg_params params;
  int cut[3];
  const double *f, *beta, *beta_face[3], *sigma, *guess, *wall; /* whole arrays; wall: g on the upper face of axis 0 */
  double *u, *z, *r; /* whole results: of a solve, of gmg_precondition(), of gmg_residual() */
  /* What a process does with its solver after the solve, or NULL. Returns a status. */
  gmg_status (*then)(const job *j, int rank, gmg_context *c, gmg_solver *s, const gmg_problem *mine, const double *f, double *u);
  /* What each process reports: */
  gmg_status status[MOST_RANKS];
  gmg_report report[MOST_RANKS];
  double history[MOST_RANKS][MOST_CYCLES + 1];
  char text[MOST_RANKS][TEXT];
};

typedef struct {
  size_t first[3], n[3], whole[3];
} box;

static size_t cells_of(const size_t n[3]) { return n[0] * n[1] * n[2]; }

/* Copies a process's box out of a whole array, or into it. extra: one more value along this axis. */
static void copy_box(const box *b, int extra, double *whole, double *mine, int out)
{
  size_t n[3], all[3];
  for (int a = 0; a < 3; a++) n[a] = b->n[a] + (a == extra), all[a] = b->whole[a] + (a == extra);
  for (size_t k = 0; k < n[2]; k++)
    for (size_t j = 0; j < n[1]; j++)
      for (size_t i = 0; i < n[0]; i++) {
        double *at = &whole[((b->first[2] + k) * all[1] + b->first[1] + j) * all[0] + b->first[0] + i];
        double *own = &mine[(k * n[1] + j) * n[0] + i];
        if (out) *own = *at;
        else *at = *own;
      }
}

static double *take(const box *b, int extra, const double *whole)
{
  double *mine = calloc((b->n[0] + 1) * (b->n[1] + 1) * (b->n[2] + 1), sizeof *mine);
  if (whole) copy_box(b, extra, (double *)whole, mine, 1);
  return mine;
}

static box box_of(gmg_context *c, const gmg_problem *p)
{
  box b = {{0}, {0}, {0}};
  (void)gmg_local_box(c, p, b.first, b.n);
  for (int a = 0; a < 3; a++) b.whole[a] = a < p->dim ? p->n[a] : 1;
  return b;
}

/* The walls have g = wall on the upper face of axis 0. */
static gmg_status set_wall(const job *j, const box *b, gmg_solver *s)
{
  double *g = calloc(b->n[1] * b->n[2], sizeof *g);
  for (size_t k = 0; k < b->n[2]; k++)
    for (size_t i = 0; i < b->n[1]; i++) g[k * b->n[1] + i] = j->wall[(b->first[2] + k) * b->whole[1] + b->first[1] + i];
  const gmg_status status = gmg_set_boundary_values(s, 0, 1, b->first[0] + b->n[0] == b->whole[0] ? g : NULL);
  free(g);
  return status;
}

static void solve_part(const gmg_transport *t, void *data)
{
  job *j = data;
  const int r = t->rank;
  gmg_context *c = NULL;
  gmg_solver *s = NULL;
  j->status[r] = gmg_context_create_ranks(t, j->cut[0] ? j->cut : NULL, 1, &c);
  if (j->status[r]) return;
  const box b = box_of(c, &j->problem);
  gmg_problem mine = j->problem;
  double *f = take(&b, -1, j->f), *u = take(&b, -1, j->guess), *z = take(&b, -1, NULL), *beta = take(&b, -1, j->beta);
  double *sigma = take(&b, -1, j->sigma), *face[3];
  for (int a = 0; a < 3; a++) face[a] = take(&b, a, j->beta_face[a]), mine.beta_face[a] = j->beta_face[a] ? face[a] : NULL;
  mine.beta = j->beta ? beta : NULL, mine.sigma = j->sigma ? sigma : NULL;
  gmg_status status = gmg_solver_create(c, &mine, &j->params, &s);
  if (!status && j->wall) status = set_wall(j, &b, s);
  if (!status) status = gmg_solve(s, f, u, &j->report[r]);
  for (int i = 0; s && i < j->report[r].history_length; i++) j->history[r][i] = j->report[r].history[i];
  snprintf(j->text[r], TEXT, "%s", gmg_context_error(c));
  j->status[r] = status;
  if (j->u) copy_box(&b, -1, j->u, u, 0);
  if (s && j->z) gmg_precondition(s, f, z), copy_box(&b, -1, j->z, z, 0);
  if (s && j->r) gmg_residual(s, f, u, z), copy_box(&b, -1, j->r, z, 0);
  if (s && j->then) {
    j->status[r] = j->then(j, r, c, s, &mine, f, u);
    snprintf(j->text[r], TEXT, "%s", gmg_context_error(c));
  }
  gmg_solver_destroy(s);
  gmg_context_destroy(c);
  free(f), free(u), free(z), free(beta), free(sigma);
  for (int a = 0; a < 3; a++) free(face[a]);
}

/* --- the same in one process --------------------------------------------------------------------------------------------------- */

typedef struct {
  gmg_context *context;
  gmg_solver *solver;
  gmg_status status;
  gmg_report report;
  double *u, *z, *r;
} alone;

static alone solve_alone(const job *j)
{
  const size_t n = unknowns(&j->problem);
  alone x = {.u = field(n, 0), .z = field(n, 0), .r = field(n, 0)};
  gmg_problem p = j->problem;
  p.beta = j->beta, p.sigma = j->sigma;
  for (int a = 0; a < 3; a++) p.beta_face[a] = j->beta_face[a];
  if (j->guess) memcpy(x.u, j->guess, n * sizeof *x.u);
  assert_int_equal(gmg_context_create_host(1, &x.context), GMG_OK);
  x.status = gmg_solver_create(x.context, &p, &j->params, &x.solver);
  if (x.status) fail_msg("one process: %s", gmg_context_error(x.context));
  if (j->wall) assert_int_equal(gmg_set_boundary_values(x.solver, 0, 1, j->wall), GMG_OK);
  x.status = gmg_solve(x.solver, j->f, x.u, &x.report);
  gmg_precondition(x.solver, j->f, x.z);
  gmg_residual(x.solver, j->f, x.u, x.r);
  return x;
}

static void end_alone(alone *x)
{
  gmg_solver_destroy(x->solver);
  gmg_context_destroy(x->context);
  free(x->u), free(x->z), free(x->r);
}

static double distance(const double *x, const double *y, size_t n)
{
  double sum = 0;
  for (size_t i = 0; i < n; i++) sum += (x[i] - y[i]) * (x[i] - y[i]);
  return sqrt(sum);
}

/* --- cases ---------------------------------------------------------------------------------------------------------------------- */

typedef enum { CONSTANT, BETA, FACES, SIGMA } coefficients;

typedef struct {
  shape of;
  int ranks, cut[3]; /* zeros: chosen */
  const char *smoother;
  gmg_precision precision;
  coefficients with;
  gmg_cycle_kind cycle;
  gmg_accel accel;
  int exact; /* the smoother does not depend on how the grid is cut: residuals are the same but for rounding */
} ranks_case;

/* Grids whose first levels are cut: the small ones, of 2^15 unknowns and less, are not. */
static const ranks_case cases[] = {
    {{3, {72, 60, 66}, GMG_CELL, "dddddd"}, 2, {0}, "red_black", GMG_PRECISION_SAME, CONSTANT, GMG_CYCLE_V, GMG_ACCEL_NONE, 1},
    {{3, {72, 61, 67}, GMG_CELL, "dnrdpp"}, 4, {0}, "async", GMG_PRECISION_MIXED, CONSTANT, GMG_CYCLE_W, GMG_ACCEL_NONE, 0},
    {{3, {71, 65, 63}, GMG_VERTEX, "ddnnrr"}, 8, {0}, "async", GMG_PRECISION_AUTO, CONSTANT, GMG_CYCLE_F, GMG_ACCEL_NONE, 0},
    {{3, {72, 61, 68}, GMG_CELL, "dnrdpp"}, 3, {1, 1, 3}, "red_black", GMG_PRECISION_SAME, BETA, GMG_CYCLE_V,
     GMG_ACCEL_FLEXIBLE_CG, 1},
    {{3, {72, 61, 67}, GMG_CELL, "ddddnn"}, 4, {2, 2, 1}, "async", GMG_PRECISION_AUTO, FACES, GMG_CYCLE_AUTO, GMG_ACCEL_AUTO, 0},
    {{2, {600, 611, 1}, GMG_CELL, "dddd"}, 4, {0}, "red_black", GMG_PRECISION_SAME, FACES, GMG_CYCLE_F, GMG_ACCEL_FLEXIBLE_CG, 1},
    {{2, {640, 612, 1}, GMG_CELL, "dnpp"}, 6, {2, 3, 1}, "async", GMG_PRECISION_MIXED, BETA, GMG_CYCLE_AUTO, GMG_ACCEL_AUTO, 0},
    {{2, {633, 640, 1}, GMG_VERTEX, "nnpp"}, 3, {3, 1, 1}, "chebyshev", GMG_PRECISION_SAME, CONSTANT, GMG_CYCLE_V,
     GMG_ACCEL_NONE, 1},
    {{2, {640, 640, 1}, GMG_CELL, "pppp"}, 4, {0}, "async", GMG_PRECISION_AUTO, CONSTANT, GMG_CYCLE_V, GMG_ACCEL_NONE, 0},
    {{2, {640, 600, 1}, GMG_VERTEX, "drnd"}, 2, {1, 2, 1}, "jacobi", GMG_PRECISION_SAME, SIGMA, GMG_CYCLE_V,
     GMG_ACCEL_CG, 1},
    {{1, {600001, 1, 1}, GMG_CELL, "dn"}, 4, {0}, "red_black", GMG_PRECISION_SAME, CONSTANT, GMG_CYCLE_V, GMG_ACCEL_NONE, 1},
    {{1, {300000, 1, 1}, GMG_CELL, "pp"}, 2, {0}, "red_black", GMG_PRECISION_SAME, CONSTANT, GMG_CYCLE_V, GMG_ACCEL_NONE, 1},
    {{2, {4000, 90, 1}, GMG_CELL, "dddn"}, 3, {0}, "async", GMG_PRECISION_AUTO, CONSTANT, GMG_CYCLE_V, GMG_ACCEL_NONE, 0},
    {{3, {20, 24, 18}, GMG_CELL, "dddnpp"}, 2, {0}, "async", GMG_PRECISION_AUTO, BETA, GMG_CYCLE_AUTO, GMG_ACCEL_AUTO, 0},
    {{3, {16, 24, 18}, GMG_VERTEX, "nnnnnn"}, 2, {0}, "red_black", GMG_PRECISION_SAME, CONSTANT, GMG_CYCLE_V, GMG_ACCEL_NONE, 1},
};

static job job_of(const ranks_case *k)
{
  job j = {.problem = shaped_problem(&k->of), .params = gmg_params_default(), .cut = {k->cut[0], k->cut[1], k->cut[2]}};
  gmg_params *q = &j.params;
  q->smoother = gmg_smoother_by_name(k->smoother), q->precision = k->precision, q->cycle = k->cycle, q->accel = k->accel;
  q->deterministic = 1, q->direct = GMG_DIRECT_NEVER, q->coarsening = GMG_COARSENING_DISCRETIZE, q->max_cycles = MOST_CYCLES;
  q->check_every = 1, q->rtol = 1e-9;
  return j;
}

static double *positive(size_t n, uint64_t seed)
{
  double *x = field(n, seed);
  for (size_t i = 0; i < n; i++) x[i] = fabs(x[i]) < 0.02 ? 30 : 1 + x[i];
  return x;
}

static void compare(const ranks_case *k, int number)
{
  job j = job_of(k);
  const size_t n = unknowns(&j.problem), *all = j.problem.n;
  double *f = field(n, 1), *x = positive(n, 2), *guess = field(n, 3), *face[3] = {NULL};
  double *wall = field((k->of.n[1] ? k->of.n[1] : 1) * (k->of.n[2] ? k->of.n[2] : 1), 4);
  if (!taken(n)) {
    free(f), free(x), free(guess), free(wall);
    return;
  }
  j.f = f, j.guess = guess, j.u = field(n, 0), j.z = field(n, 0), j.r = field(n, 0);
  if (k->with == BETA) j.beta = x;
  if (k->with == SIGMA) j.sigma = x;
  for (int a = 0; a < j.problem.dim && k->with == FACES; a++) {
    const size_t along[3] = {all[0] + (a == 0), (j.problem.dim > 1 ? all[1] : 1) + (a == 1), (j.problem.dim > 2 ? all[2] : 1) + (a == 2)};
    j.beta_face[a] = face[a] = positive(cells_of(along), (uint64_t)(10 + a));
  }
  if (j.problem.bc[0][1] != GMG_PERIODIC) j.wall = wall;
  alone one = solve_alone(&j);
  run_ranks(k->ranks, solve_part, &j);
  for (int r = 0; r < k->ranks; r++) {
    if (j.status[r] != one.status) fail_msg("case %d, rank %d: status %d, %s", number, r, j.status[r], j.text[r]);
    assert_int_equal(j.report[r].cycles, j.report[0].cycles);
    assert_memory_equal(j.history[r], j.history[0], sizeof j.history[0]);
    assert_int_equal(j.report[r].levels, one.report.levels);
  }
  const gmg_report *two = &j.report[0];
  if (abs(two->cycles - one.report.cycles) > (k->exact ? 0 : 1))
    fail_msg("case %d: %d cycles, %d in one process", number, two->cycles, one.report.cycles);
  assert_near(two->target / one.report.target, 1, 1e-12);
  for (int i = 0; i < two->history_length && k->exact; i++)
    if (!(fabs(j.history[0][i] - one.report.history[i]) <= 1e-7 * one.report.history[i] + 1e-12 * one.report.history[0]))
      fail_msg("case %d: residual %d is %.9g, %.9g in one process", number, i, j.history[0][i], one.report.history[i]);
  const double size = norm2(one.u, n), z_size = norm2(one.z, n);
  if (!(distance(j.u, one.u, n) <= 1e-6 * size)) fail_msg("case %d: u differs by %g", number, distance(j.u, one.u, n) / size);
  if (!(distance(j.z, one.z, n) <= (k->exact ? 1e-10 : 0.05) * z_size))
    fail_msg("case %d: a cycle differs by %g", number, distance(j.z, one.z, n) / z_size);
  if (one.status == GMG_OK) assert_near(norm2(j.r, n) / two->residual, 1, 1e-4);
  end_alone(&one);
  free(f), free(x), free(guess), free(wall), free(j.u), free(j.z), free(j.r);
  for (int a = 0; a < 3; a++) free(face[a]);
}

static void all_cuts_solve_alike(void **state)
{
  (void)state;
  for (int i = 0; i < COUNT(cases); i++)
    if (!SANITIZED || i % 3 == 1) compare(&cases[i], i);
}

/* --- update --------------------------------------------------------------------------------------------------------------------- */

/* Solves with twice the coefficients and a shift: u is then another one. */
static gmg_status update_and_solve(const job *j, int rank, gmg_context *c, gmg_solver *s, const gmg_problem *mine, const double *f,
                                   double *u)
{
  const box b = box_of(c, &j->problem);
  double *beta = take(&b, -1, NULL);
  gmg_problem changed = *mine;
  for (size_t i = 0; i < cells_of(b.n); i++) beta[i] = 2 * ((const double *)mine->beta)[i];
  changed.beta = beta, changed.shift = 3;
  gmg_status status = gmg_solver_update(s, &changed);
  if (!status) status = gmg_solve(s, f, u, NULL);
  copy_box(&b, -1, j->u, u, 0);
  (void)rank;
  free(beta);
  return status;
}

static void an_update_reaches_all_levels(void **state)
{
  (void)state;
  static const ranks_case k = {{3, {72, 61, 67}, GMG_CELL, "ddddnn"}, 4, {0}, "red_black", GMG_PRECISION_SAME, BETA, GMG_CYCLE_V,
                               GMG_ACCEL_FLEXIBLE_CG, 1};
  job j = job_of(&k);
  const size_t n = unknowns(&j.problem);
  double *f = field(n, 1), *beta = positive(n, 2), *twice = positive(n, 2);
  for (size_t i = 0; i < n; i++) twice[i] *= 2;
  j.f = f, j.beta = beta, j.u = field(n, 0), j.then = update_and_solve;
  run_ranks(k.ranks, solve_part, &j);
  job changed = j;
  changed.beta = twice, changed.problem.shift = 3;
  alone one = solve_alone(&changed);
  for (int r = 0; r < k.ranks; r++)
    if (j.status[r]) fail_msg("rank %d: %s", r, j.text[r]);
  assert_true(distance(j.u, one.u, n) <= 1e-6 * norm2(one.u, n));
  end_alone(&one);
  free(f), free(beta), free(twice), free(j.u);
}

/* --- fluxes --------------------------------------------------------------------------------------------------------------------- */

static double *all_flux[2][3], *all_gradient[2][3]; /* of several processes, of one */

static gmg_status find_fluxes(const job *j, int rank, gmg_context *c, gmg_solver *s, const gmg_problem *mine, const double *f, double *u)
{
  const box b = box_of(c, &j->problem);
  double *flux[3], *gradient[3];
  (void)mine, (void)rank;
  for (int a = 0; a < 3; a++) flux[a] = take(&b, a, NULL), gradient[a] = take(&b, a, NULL);
  gmg_status status = gmg_flux(s, f, (void *const *)flux, (void *const *)gradient); /* of f, which all have alike */
  for (int a = 0; a < 3; a++) {
    copy_box(&b, a, all_flux[0][a], flux[a], 0), copy_box(&b, a, all_gradient[0][a], gradient[a], 0);
    free(flux[a]), free(gradient[a]);
  }
  if (!status && gmg_flux(s, rank == 1 ? NULL : u, NULL, NULL) != GMG_ERR_ARGUMENT) status = GMG_ERR_IO;
  return status;
}

static void fluxes_are_those_of_one_process(void **state)
{
  (void)state;
  static const ranks_case k = {{3, {72, 61, 68}, GMG_CELL, "drnnpp"}, 8, {0}, "red_black", GMG_PRECISION_SAME, BETA, GMG_CYCLE_V,
                               GMG_ACCEL_FLEXIBLE_CG, 1};
  job j = job_of(&k);
  const size_t n = unknowns(&j.problem), all[3] = {72, 61, 68};
  double *f = field(n, 1), *beta = positive(n, 2);
  j.f = f, j.beta = beta, j.then = find_fluxes;
  for (int a = 0; a < 3; a++) {
    const size_t along[3] = {all[0] + (a == 0), all[1] + (a == 1), all[2] + (a == 2)};
    for (int i = 0; i < 2; i++) all_flux[i][a] = field(cells_of(along), 0), all_gradient[i][a] = field(cells_of(along), 0);
  }
  alone one = solve_alone(&j);
  assert_int_equal(gmg_flux(one.solver, f, (void *const *)all_flux[1], (void *const *)all_gradient[1]), GMG_OK);
  run_ranks(k.ranks, solve_part, &j);
  for (int r = 0; r < k.ranks; r++)
    if (j.status[r]) fail_msg("rank %d: %s", r, j.text[r]);
  for (int a = 0; a < 3; a++) {
    const size_t count = n / all[a] * (all[a] + 1);
    assert_true(norm2(all_flux[1][a], count) > 0);
    assert_memory_equal(all_flux[0][a], all_flux[1][a], count * sizeof(double));
    assert_memory_equal(all_gradient[0][a], all_gradient[1][a], count * sizeof(double));
    for (int i = 0; i < 2; i++) free(all_flux[i][a]), free(all_gradient[i][a]);
  }
  end_alone(&one);
  free(f), free(beta);
}

/* --- errors --------------------------------------------------------------------------------------------------------------------- */

static void expect_error(const job *j, int ranks, gmg_status status, const char *words)
{
  for (int r = 0; r < ranks; r++) {
    if (j->status[r] != status) fail_msg("rank %d: status %d instead of %d, %s", r, j->status[r], status, j->text[r]);
    if (!strstr(j->text[r], words)) fail_msg("rank %d: \"%s\" is not in \"%s\"", r, words, j->text[r]);
    assert_string_equal(j->text[r], j->text[0]);
  }
}

static const ranks_case small = {{2, {40, 44, 1}, GMG_CELL, "dddd"}, 4, {2, 2, 1}, "async", GMG_PRECISION_AUTO, CONSTANT,
                                 GMG_CYCLE_AUTO, GMG_ACCEL_AUTO, 0};

static void a_bad_value_of_one_process_is_an_error_of_all(void **state)
{
  (void)state;
  const size_t n = 40 * 44, at = 30 * 40 + 25; /* in the last part, at (5, 8) of 20 x 22 */
  double *f = field(n, 1), *beta = positive(n, 2), *guess = field(n, 3);
  job j = job_of(&small);
  j.f = f;
  f[at] = NAN;
  run_ranks(4, solve_part, &j);
  expect_error(&j, 4, GMG_ERR_ARGUMENT, "rank 3: f[165] = nan: must be finite");
  f[at] = 0, guess[at] = INFINITY, j.guess = guess;
  run_ranks(4, solve_part, &j);
  expect_error(&j, 4, GMG_ERR_ARGUMENT, "rank 3: u[165] = inf (the guess): must be finite");
  beta[at] = -1, j.guess = NULL, j.beta = beta;
  run_ranks(4, solve_part, &j);
  expect_error(&j, 4, GMG_ERR_ARGUMENT, "rank 3: problem.beta[165] = -1: must be positive");
  free(f), free(beta), free(guess);
}

/* Arguments that are wrong in one process alone. */
static gmg_status bad_calls(const job *j, int rank, gmg_context *c, gmg_solver *s, const gmg_problem *mine, const double *f, double *u)
{
  (void)j, (void)c;
  gmg_problem other = *mine;
  if (gmg_solve(s, rank == 2 ? NULL : f, u, NULL) != GMG_ERR_ARGUMENT) return GMG_ERR_IO;
  if (strcmp(gmg_context_error(c), "rank 2: f is NULL") != 0) return GMG_ERR_IO;
  if (gmg_precondition(s, rank == 1 ? NULL : f, u) != GMG_ERR_ARGUMENT) return GMG_ERR_IO;
  if (gmg_residual(s, f, rank == 1 ? NULL : u, u) != GMG_ERR_ARGUMENT) return GMG_ERR_IO;
  gmg_plan_info plan;
  if (gmg_plan(c, mine, &j->params, rank == 1 ? NULL : &plan) != GMG_ERR_ARGUMENT) return GMG_ERR_IO;
  if (gmg_set_boundary_constant(s, rank == 1 ? 7 : 0, 0, 1) != GMG_ERR_ARGUMENT) return GMG_ERR_IO;
  if (gmg_set_boundary_values(s, 0, 1, NULL) != GMG_ERR_ARGUMENT) return GMG_ERR_IO; /* two processes have this wall */
  if (rank == 3) other.shift = NAN;
  return gmg_solver_update(s, &other);
}

static void a_bad_argument_of_one_process_is_an_error_of_all(void **state)
{
  (void)state;
  double *f = field(40 * 44, 1);
  job j = job_of(&small);
  j.f = f, j.then = bad_calls;
  run_ranks(4, solve_part, &j);
  expect_error(&j, 4, GMG_ERR_ARGUMENT, "rank 3: problem.shift = nan: must be finite");
  free(f);
}

/* Arguments that are right, but not the same in all processes. */
typedef struct {
  int row;
  gmg_status status[3];
  char text[3][TEXT];
} differing;

static void create_differing(const gmg_transport *t, void *data)
{
  differing *d = data;
  gmg_context *c = NULL;
  gmg_solver *s = NULL;
  const double x[2][4] = {{0, 0.3, 0.6, 1}, {0, 0.3, 0.7, 1}};
  const double *beta = x[0];
  gmg_problem p = make_problem(2, 40, 44, 1, GMG_CELL, "dddd");
  gmg_params q = gmg_params_default();
  const int other = t->rank == 1;
  if (d->row == 0 && other) p.n[0] = 41;
  if (d->row == 1 && other) p.bc[1][0] = GMG_NEUMANN;
  if (d->row == 2 && other) p.beta = beta;
  if (d->row == 3 && other) q.post = 3;
  if (d->row == 4 && other) q.smoother = gmg_smoother_by_name("jacobi");
  if (d->row == 5) p.n[0] = 3, p.coord[0] = x[other];
  if (d->row == 6 && other) q.rtol = 1e-3;
  if (d->row == 7 && other) p.shift = 2;
  const int slabs[3] = {1, 3, 1};
  d->status[t->rank] = gmg_context_create_ranks(t, d->row == 8 && other ? slabs : NULL, 1, &c);
  if (!c) return;
  d->status[t->rank] = gmg_solver_create(c, &p, &q, &s);
  snprintf(d->text[t->rank], TEXT, "%s", gmg_context_error(c));
  gmg_solver_destroy(s);
  gmg_context_destroy(c);
}

static void arguments_that_differ_are_refused(void **state)
{
  (void)state;
  static const char *const words[] = {"problem.n[0] = 41 in process 1 differs from 40 in process 0", "problem.bc[1][0]",
                                      "problem.beta = an array in process 1 differs from NULL", "params.post = 3 in process 1",
                                      "params.smoother = jacobi in process 1 differs from async in process 0", "a checksum of problem.coord[0]", "params.rtol",
                                      "problem.shift = 2 in process 1 differs from 0", "" /* another cut: no context */};
  for (int i = 0; i < COUNT(words); i++) {
    differing d = {.row = i};
    run_ranks(3, create_differing, &d);
    for (int r = 0; r < 3; r++) {
      assert_int_equal(d.status[r], GMG_ERR_ARGUMENT);
      if (!strstr(d.text[r], words[i])) fail_msg("rank %d: \"%s\" is not in \"%s\"", r, words[i], d.text[r]);
    }
  }
}

static void what_cannot_be_cut_is_refused(void **state)
{
  (void)state;
  static const struct {
    size_t n[2];
    int cut[3];
    const char *smoother;
    int fmg;
    gmg_coarsening coarsening;
    gmg_status status;
    const char *words;
  } rows[] = {
      {{40, 44}, {4, 1, 1}, "gauss_seidel", 0, GMG_COARSENING_AUTO, GMG_ERR_UNSUPPORTED, "params.smoother = \"gauss_seidel\""},
      {{40, 44}, {4, 1, 1}, "lines", 0, GMG_COARSENING_AUTO, GMG_ERR_UNSUPPORTED, "params.smoother = \"lines\""},
      {{40, 44}, {4, 1, 1}, "async", 1, GMG_COARSENING_AUTO, GMG_ERR_UNSUPPORTED, "params.fmg"},
      {{40, 44}, {4, 1, 1}, "async", 0, GMG_COARSENING_BLACK_BOX, GMG_ERR_UNSUPPORTED, "params.coarsening"},
      {{40, 44}, {1, 1, 4}, "async", 0, GMG_COARSENING_AUTO, GMG_ERR_UNSUPPORTED, "problem.n[2] = 1: cut into 4 parts"},
      {{12, 44}, {4, 1, 1}, "async", 0, GMG_COARSENING_AUTO, GMG_ERR_UNSUPPORTED, "problem.n[0] = 12: cut into 4 parts, the thinnest"},
      {{41, 44}, {2, 2, 1}, "async", 0, GMG_COARSENING_AUTO, GMG_ERR_UNSUPPORTED, "problem.n[0] = 41: a periodic axis"},
      {{40, 44}, {3, 1, 1}, "async", 0, GMG_COARSENING_AUTO, GMG_ERR_ARGUMENT, ""}, /* not as many parts as processes */
  };
  double *f = field(41 * 44, 1), *beta = positive(41 * 44, 2);
  for (int i = 0; i < COUNT(rows); i++) {
    const shape s = {2, {rows[i].n[0], rows[i].n[1], 1}, GMG_CELL, rows[i].n[0] == 41 ? "pppp" : "dddd"};
    job j = {.problem = shaped_problem(&s), .params = gmg_params_default(), .f = f, .beta = beta};
    memcpy(j.cut, rows[i].cut, sizeof j.cut);
    j.params.smoother = gmg_smoother_by_name(rows[i].smoother), j.params.fmg = rows[i].fmg;
    j.params.coarsening = rows[i].coarsening;
    run_ranks(4, solve_part, &j);
    expect_error(&j, 4, rows[i].status, rows[i].words);
  }
  free(f), free(beta);
}

/* The plan and the report have the levels of the whole grid. */
static gmg_status compare_plan(const job *j, int rank, gmg_context *c, gmg_solver *s, const gmg_problem *mine, const double *f,
                               double *u)
{
  gmg_plan_info plan;
  gmg_problem negative = *mine;
  (void)f, (void)u;
  if (gmg_plan(c, mine, &j->params, &plan) || plan.levels != j->report[rank].levels) return GMG_ERR_IO;
  for (int l = 0; l < plan.levels; l++)
    for (int a = 0; a < 3; a++)
      if (plan.level[l].n[a] != j->report[rank].level[l].n[a]) return GMG_ERR_IO;
  if (plan.level[0].n[0] != j->problem.n[0] || plan.level[0].n[1] != j->problem.n[1]) return GMG_ERR_IO;
  negative.shift = -1;
  return gmg_solver_update(s, &negative);
}

static void the_plan_is_that_of_the_whole_grid(void **state)
{
  (void)state;
  static const ranks_case k = {{2, {640, 600, 1}, GMG_CELL, "dddd"}, 4, {2, 2, 1}, "async", GMG_PRECISION_AUTO, CONSTANT,
                               GMG_CYCLE_AUTO, GMG_ACCEL_AUTO, 0};
  double *f = field(640 * 600, 1);
  job j = job_of(&k);
  j.f = f, j.then = compare_plan;
  run_ranks(4, solve_part, &j);
  expect_error(&j, 4, GMG_ERR_UNSUPPORTED, "problem.shift = -1");
  free(f);
}

/* --- boxes ---------------------------------------------------------------------------------------------------------------------- */

typedef struct {
  gmg_problem problem;
  box of[MOST_RANKS];
  gmg_status status[MOST_RANKS];
} boxes;

static void find_box(const gmg_transport *t, void *data)
{
  boxes *b = data;
  gmg_context *c = NULL;
  if (gmg_context_create_ranks(t, NULL, 1, &c)) return;
  b->status[t->rank] = gmg_local_box(c, &b->problem, b->of[t->rank].first, b->of[t->rank].n);
  gmg_context_destroy(c);
}

/* Every unknown is in one box, and no box is much larger than another. */
static void boxes_cover_the_grid(void **state)
{
  (void)state;
  static const shape shapes[] = {{3, {64, 50, 40}, GMG_CELL, "dddddd"}, {3, {512, 16, 16}, GMG_CELL, "dddddd"},
                                 {2, {37, 1000, 1}, GMG_CELL, "dddd"}, {1, {1003, 1, 1}, GMG_CELL, "dd"}};
  for (int i = 0; i < COUNT(shapes); i++)
    for (int ranks = 1; ranks <= MOST_RANKS; ranks++) {
      boxes b = {.problem = shaped_problem(&shapes[i])};
      const size_t *all = shapes[i].n, n = cells_of(all);
      unsigned char *seen = calloc(n, 1);
      size_t least = n, most = 0;
      run_ranks(ranks, find_box, &b);
      for (int r = 0; r < ranks; r++) {
        const box *x = &b.of[r];
        assert_int_equal(b.status[r], GMG_OK);
        least = cells_of(x->n) < least ? cells_of(x->n) : least, most = cells_of(x->n) > most ? cells_of(x->n) : most;
        for (size_t c = 0; c < cells_of(x->n); c++)
          seen[((x->first[2] + c / x->n[0] / x->n[1]) * all[1] + x->first[1] + c / x->n[0] % x->n[1]) * all[0] + x->first[0] +
               c % x->n[0]]++;
      }
      for (size_t c = 0; c < n; c++) assert_int_equal(seen[c], 1);
      assert_true((double)most <= 1.3 * (double)least);
      free(seen);
    }
}

static void one_process_has_all(void **state)
{
  (void)state;
  gmg_context *c, *none;
  const gmg_problem p = make_problem(2, 30, 20, 1, GMG_CELL, "dddd");
  size_t first[3], n[3];
  assert_int_equal(gmg_context_create_host(1, &c), GMG_OK);
  assert_int_equal(gmg_local_box(c, &p, first, n), GMG_OK);
  assert_true(first[0] == 0 && first[1] == 0 && first[2] == 0 && n[0] == 30 && n[1] == 20 && n[2] == 1);
  assert_int_equal(gmg_local_box(c, &p, NULL, n), GMG_ERR_ARGUMENT);
  assert_int_equal(gmg_local_box(c, NULL, first, n), GMG_ERR_ARGUMENT);
  assert_int_equal(gmg_local_box(NULL, &p, first, n), GMG_ERR_ARGUMENT);
  assert_int_equal(gmg_context_create_ranks(NULL, NULL, 1, &none), GMG_ERR_ARGUMENT);
  gmg_context_destroy(c);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(all_cuts_solve_alike),
                                     cmocka_unit_test(an_update_reaches_all_levels),
                                     cmocka_unit_test(fluxes_are_those_of_one_process),
                                     cmocka_unit_test(a_bad_value_of_one_process_is_an_error_of_all),
                                     cmocka_unit_test(a_bad_argument_of_one_process_is_an_error_of_all),
                                     cmocka_unit_test(arguments_that_differ_are_refused),
                                     cmocka_unit_test(what_cannot_be_cut_is_refused),
                                     cmocka_unit_test(the_plan_is_that_of_the_whole_grid),
                                     cmocka_unit_test(boxes_cover_the_grid),
                                     cmocka_unit_test(one_process_has_all)};
  return run_selected(tests);
}
