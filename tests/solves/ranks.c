/* Several processes: the same solution, and the same residuals, as one process finds, however the grid is cut. The processes are
   threads (ranks.h). With the argument "cuda" each is on a device. */
#include "job.h"

#include "gmg_cuda.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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
    {{3, {120, 96, 112}, GMG_CELL, "ddddnd"}, 2, {1, 1, 2}, "async", GMG_PRECISION_MIXED, CONSTANT, GMG_CYCLE_AUTO, GMG_ACCEL_AUTO, 0},
    {{3, {120, 96, 112}, GMG_CELL, "ddddpp"}, 4, {1, 2, 2}, "red_black", GMG_PRECISION_SAME, CONSTANT, GMG_CYCLE_V, GMG_ACCEL_NONE, 1},
    {{3, {16, 24, 18}, GMG_VERTEX, "nnnnnn"}, 2, {0}, "red_black", GMG_PRECISION_SAME, CONSTANT, GMG_CYCLE_V, GMG_ACCEL_NONE, 1},
};

/* Full multigrid: number of cycles on each level (0: none), and a row of the table above with other members. */
static const struct {
  ranks_case of;
  int fmg;
} fmg_cases[] = {
    {{{3, {72, 60, 66}, GMG_CELL, "dddddd"}, 2, {0}, "red_black", GMG_PRECISION_SAME, CONSTANT, GMG_CYCLE_V, GMG_ACCEL_NONE, 0}, 1},
    {{{3, {72, 61, 67}, GMG_CELL, "dnrdpp"}, 4, {0}, "async", GMG_PRECISION_MIXED, CONSTANT, GMG_CYCLE_V, GMG_ACCEL_NONE, 0}, 1},
    {{{3, {71, 65, 63}, GMG_VERTEX, "ddnnrr"}, 8, {0}, "async", GMG_PRECISION_AUTO, CONSTANT, GMG_CYCLE_V, GMG_ACCEL_NONE, 0}, 2},
    {{{3, {72, 61, 67}, GMG_CELL, "dnrdpp"}, 3, {1, 3, 1}, "red_black", GMG_PRECISION_SAME, BETA, GMG_CYCLE_W, GMG_ACCEL_FLEXIBLE_CG, 0}, 1},
    {{{2, {640, 612, 1}, GMG_CELL, "nnpp"}, 6, {2, 3, 1}, "async", GMG_PRECISION_MIXED, CONSTANT, GMG_CYCLE_F, GMG_ACCEL_NONE, 0}, 1},
    {{{2, {1300, 900, 1}, GMG_CELL, "dnrd"}, 4, {0}, "async", GMG_PRECISION_AUTO, SIGMA, GMG_CYCLE_V, GMG_ACCEL_NONE, 0}, 1},
    {{{1, {600001, 1, 1}, GMG_CELL, "dn"}, 4, {0}, "red_black", GMG_PRECISION_SAME, CONSTANT, GMG_CYCLE_V, GMG_ACCEL_NONE, 0}, 1},
    {{{3, {20, 24, 18}, GMG_CELL, "dddnpp"}, 2, {0}, "async", GMG_PRECISION_AUTO, CONSTANT, GMG_CYCLE_V, GMG_ACCEL_NONE, 0}, 1},
};

static job job_of(const ranks_case *k)
{
  job j = {.problem = shaped_problem(&k->of), .params = gmg_params_default(), .cut = {k->cut[0], k->cut[1], k->cut[2]}};
  gmg_params *q = &j.params;
  q->smoother = gmg_smoother_by_name(k->smoother), q->precision = k->precision, q->cycle = k->cycle, q->accel = k->accel;
  q->deterministic = !on_device || k->cycle == GMG_CYCLE_V; /* otherwise a device adds to coarse values in any order */
  q->direct = GMG_DIRECT_NEVER, q->coarsening = GMG_COARSENING_DISCRETIZE, q->max_cycles = MOST_CYCLES;
  q->check_every = 1, q->rtol = 1e-9, q->halos = GMG_HALOS_EXACT;
  return j;
}

/* Returns 0 if the case is left out. */
static int compare_job(const ranks_case *k, int number, job j)
{
  const int exact = k->exact && j.params.halos == GMG_HALOS_EXACT;
  const size_t n = unknowns(&j.problem), *all = j.problem.n;
  double *f = field(n, 1), *x = positive(n, 2), *guess = field(n, 3), *face[3] = {NULL};
  double *wall = field((k->of.n[1] ? k->of.n[1] : 1) * (k->of.n[2] ? k->of.n[2] : 1), 4);
  if (!taken(n)) {
    free(f), free(x), free(guess), free(wall);
    return 0;
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
  /* on devices the blocks of "async" depend on the cut */
  if (abs(two->cycles - one.report.cycles) > (exact ? 0 : on_device ? 1 + one.report.cycles / 4 : 1))
    fail_msg("case %d: %d cycles, %d in one process", number, two->cycles, one.report.cycles);
  print_message("case %d: %d cycles, %d in one process, residual %g, %g\n", number, two->cycles, one.report.cycles, two->residual,
                one.report.residual);
  assert_near(two->target / one.report.target, 1, 1e-12);
  for (int i = 0; i < two->history_length && exact; i++)
    if (!(fabs(j.history[0][i] - one.report.history[i]) <= 1e-7 * one.report.history[i] + 1e-12 * one.report.history[0]))
      fail_msg("case %d: residual %d is %.9g, %.9g in one process", number, i, j.history[0][i], one.report.history[i]);
  const double size = norm2(one.u, n), z_size = norm2(one.z, n);
  if (!(distance(j.u, one.u, n) <= 1e-6 * size)) fail_msg("case %d: u differs by %g", number, distance(j.u, one.u, n) / size);
  if (!(distance(j.z, one.z, n) <= (exact ? 1e-10 : 0.05) * z_size))
    fail_msg("case %d: a cycle differs by %g", number, distance(j.z, one.z, n) / z_size);
  if (one.status == GMG_OK && !(fabs(norm2(j.r, n) - two->residual) <= 1e-4 * two->residual + 3e-5 * two->target))
    fail_msg("case %d: the residual is %g, %g was reported", number, norm2(j.r, n), two->residual);
  end_alone(&one);
  free(f), free(x), free(guess), free(wall), free(j.u), free(j.z), free(j.r);
  for (int a = 0; a < 3; a++) free(face[a]);
  return 1;
}

/* cuts: where each axis is cut; NULL: gmg chooses */
static void compare(const ranks_case *k, int number, const size_t *const cuts[3], int fmg, gmg_halos halos)
{
  job j = job_of(k);
  for (int a = 0; a < 3; a++) j.cuts[a] = cuts ? cuts[a] : NULL;
  j.params.fmg = fmg, j.params.halos = halos;
  (void)compare_job(k, number, j);
}

static void all_cuts_solve_alike(void **state)
{
  (void)state;
  for (int i = 0; i < COUNT(cases); i++)
    if (!SANITIZED || i % 3 == 1) compare(&cases[i], i, NULL, 0, GMG_HALOS_EXACT);
}

/* Parts of a program's own sizes: odd ones, and one four times another. The numbers are rows of cases[]. */
static void cuts_may_be_anywhere(void **state)
{
  static const size_t three[] = {0, 15, 53, 68}, x[] = {0, 31, 72}, y[] = {0, 48, 61}, thin[] = {0, 401, 500, 633}, two[] = {0, 35, 112};
  static const struct {
    int number;
    const size_t *cuts[3];
  } rows[] = {{3, {NULL, NULL, three}}, {4, {x, y, NULL}}, {7, {thin, NULL, NULL}}, {14, {NULL, NULL, two}}};
  (void)state;
  for (int i = 0; i < COUNT(rows); i++)
    if (!SANITIZED || i == 1) compare(&cases[rows[i].number], rows[i].number, rows[i].cuts, 0, GMG_HALOS_EXACT);
}

static void full_multigrid_starts_alike(void **state)
{
  (void)state;
  for (int i = 0; i < COUNT(fmg_cases); i++)
    if (!SANITIZED || i == 1) compare(&fmg_cases[i].of, i, NULL, fmg_cases[i].fmg, i % 2 ? GMG_HALOS_EXACT : GMG_HALOS_ASYNC);
}

/* Asynchronous halos: as many cycles, up to one. The cases that are left out have parts too thin for them. */
static void asynchronous_halos_converge_alike(void **state)
{
  (void)state;
  for (int i = 0; i < COUNT(cases); i++)
    if (cases[i].of.n[0] > 30 && (!SANITIZED || i % 3 == 1)) compare(&cases[i], i, NULL, 0, GMG_HALOS_ASYNC);
}

static size_t saved[MOST_RANKS]; /* bytes that a solver needs less because arrays have halos */

static gmg_status find_saved(const job *j, int rank, gmg_context *c, gmg_solver *s, const gmg_problem *mine, const double *f, double *u)
{
  gmg_plan_info with, without;
  gmg_problem p = *mine;
  (void)s, (void)f, (void)u;
  memset(p.halo, 0, sizeof p.halo);
  if (gmg_plan(c, mine, &j->params, &with) || gmg_plan(c, &p, &j->params, &without)) return GMG_ERR_IO;
  saved[rank] = without.bytes - with.bytes;
  return j->status[rank];
}

/* Arrays with a halo: some that gmg works in, some whose halo is too thin or across the wrong axis, some with gaps between rows. */
static void arrays_may_have_halos(void **state)
{
  static const struct {
    int number; /* of a row of cases[] */
    gmg_halos halos;
    size_t halo[3];
    int needs_no_copy;
  } rows[] = {{0, GMG_HALOS_ASYNC, {7, 0, 0}, 0},  {13, GMG_HALOS_EXACT, {0, 9, 0}, 0}, {16, GMG_HALOS_EXACT, {0, 5, 0}, 0},
               {1, GMG_HALOS_EXACT, {0, 0, 3}, 0}, {2, GMG_HALOS_EXACT, {2, 1, 9}, 0},
              {3, GMG_HALOS_EXACT, {0, 0, 20}, 1}, {9, GMG_HALOS_ASYNC, {0, 7, 0}, 1}, {8, GMG_HALOS_ASYNC, {9, 9, 0}, 0},
              {10, GMG_HALOS_EXACT, {5, 0, 0}, 1}, {14, GMG_HALOS_ASYNC, {0, 0, 9}, 1}, {11, GMG_HALOS_ASYNC, {17, 0, 0}, 1},
              {14, GMG_HALOS_EXACT, {0, 0, 6}, 1},  {14, GMG_HALOS_EXACT, {0, 0, 3}, 0}};
  (void)state;
  for (int i = 0; i < COUNT(rows); i++) {
    const int n = rows[i].number;
    job j = job_of(&cases[n]);
    j.params.halos = rows[i].halos;
    memcpy(j.halo, rows[i].halo, sizeof j.halo);
    j.then = find_saved;
    if (SANITIZED && i != 4) continue;
    if (!compare_job(&cases[n], n, j)) continue;
    for (int r = 0; r < cases[n].ranks; r++)
      if ((saved[r] > 0) != rows[i].needs_no_copy) fail_msg("row %d, rank %d: saves %zu bytes", i, r, saved[r]);
  }
}

/* --- update --------------------------------------------------------------------------------------------------------------------- */

/* Solves with twice the coefficients and a shift: u is then another one. */
static gmg_status update_and_solve(const job *j, int rank, gmg_context *c, gmg_solver *s, const gmg_problem *mine, const double *f,
                                   double *u)
{
  const box b = box_of(c, &j->problem);
  const size_t n = cells_of(b.n);
  double *beta = take(&b, -1, j->beta), *result = take(&b, -1, NULL);
  gmg_problem changed = *mine;
  for (size_t i = 0; i < n; i++) beta[i] *= 2;
  double *there = use(beta, n);
  changed.beta = there, changed.shift = 3;
  gmg_status status = gmg_solver_update(s, &changed);
  if (!status) status = gmg_solve(s, f, u, NULL);
  copy_back(result, u, n);
  copy_box(&b, -1, j->u, result, 0);
  (void)rank;
  drop(beta, there, n);
  free(beta), free(result);
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

static gmg_status find_fluxes(const job *j, int rank, gmg_context *c, gmg_solver *s, const gmg_problem *given, const double *f,
                              double *u)
{
  const box b = box_of(c, &j->problem);
  double *mine[6], *there[6];
  size_t n[6];
  (void)given;
  for (int i = 0; i < 6; i++) {
    n[i] = cells_of(b.n) / b.n[i % 3] * (b.n[i % 3] + 1);
    mine[i] = take(&b, i % 3, NULL), there[i] = use(mine[i], n[i]);
  }
  gmg_status status = gmg_flux(s, f, (void *const *)there, (void *const *)(there + 3)); /* of f, which all have alike */
  for (int i = 0; i < 6; i++) {
    drop(mine[i], there[i], n[i]);
    copy_box(&b, i % 3, i < 3 ? all_flux[0][i] : all_gradient[0][i - 3], mine[i], 0);
    free(mine[i]);
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
  assert_int_equal(flux_in(&one.s, f, (void **)all_flux[1], (void **)all_gradient[1]), GMG_OK);
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

/* --- plans ------------------------------------------------------------------------------------------------------------------------ */

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
  if (plan.halos != GMG_HALOS_EXACT) return GMG_ERR_IO;
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

/* --- all parts at once ------------------------------------------------------------------------------------------------------------- */

enum { PARTS = 3 };

static gmg_status create_parts(gmg_context *c[], void *stream[])
{
  int device[PARTS];
  if (!on_device) return gmg_context_create_parts(PARTS, NULL, 1, c);
  for (int i = 0; i < PARTS; i++) {
    device[i] = i % device_count();
    device_use(device[i]);
    stream[i] = device_stream();
  }
  return gmg_context_create_cuda_devices(PARTS, device, (const gmg_cuda_stream *)stream, NULL, c);
}

static void one_thread_solves_all_parts(void **state)
{
  (void)state;
  static const ranks_case k = {{3, {72, 61, 68}, GMG_CELL, "dnrdpp"}, PARTS, {0}, "red_black", GMG_PRECISION_SAME, BETA, GMG_CYCLE_V,
                               GMG_ACCEL_FLEXIBLE_CG, 1};
  job j = job_of(&k);
  const size_t n = unknowns(&j.problem);
  double *f = field(n, 1), *beta = positive(n, 2), *whole[3] = {field(n, 0), field(n, 0), field(n, 0)}; /* u, z, r */
  gmg_context *c[PARTS];
  gmg_solver *s[PARTS];
  gmg_problem p[PARTS];
  const gmg_problem *problem[PARTS];
  gmg_report report;
  box b[PARTS];
  void *stream[PARTS], *result[3][PARTS];
  double *mine[5][PARTS], *there[5][PARTS]; /* f, beta, u, z, r */
  size_t count[PARTS];
  j.f = f, j.beta = beta;
  alone one = solve_alone(&j);
  assert_int_equal(create_parts(c, stream), GMG_OK);
  for (int i = 0; i < PARTS; i++) {
    b[i] = box_of(c[i], &j.problem), count[i] = cells_of(b[i].n);
    if (on_device) device_use(i % device_count());
    for (int a = 0; a < 5; a++) {
      mine[a][i] = take(&b[i], -1, a == 0 ? f : a == 1 ? beta : NULL), there[a][i] = use(mine[a][i], count[i]);
      if (a > 1) result[a - 2][i] = there[a][i];
    }
    p[i] = j.problem, p[i].beta = there[1][i], problem[i] = &p[i];
  }
  const void *const *F = (const void *const *)there[0], *const *U = (const void *const *)result[0];
  assert_ok(c[0], gmg_solver_create_parts(PARTS, c, problem, &j.params, s));
  assert_ok(c[0], gmg_solve_parts(PARTS, s, F, result[0], &report));
  assert_int_equal(report.cycles, one.report.cycles);
  assert_ok(c[0], gmg_precondition_parts(PARTS, s, F, result[1]));
  assert_ok(c[0], gmg_residual_parts(PARTS, s, F, U, result[2]));
  assert_int_equal(gmg_solve_parts(PARTS, s, NULL, result[0], NULL), GMG_ERR_ARGUMENT);
  assert_string_equal(gmg_context_error(c[1]), "rank 0: f is NULL");
  for (int i = 0; i < PARTS; i++) p[i].shift = -1e9;
  assert_int_equal(gmg_solver_update_parts(PARTS, s, problem), GMG_ERR_UNSUPPORTED);
  for (int i = 0; i < PARTS; i++) p[i].shift = 1;
  assert_ok(c[0], gmg_solver_update_parts(PARTS, s, problem));
  gmg_solver *none[PARTS] = {s[0], NULL, s[2]};
  assert_int_equal(gmg_solve_parts(PARTS, none, F, result[0], NULL), GMG_ERR_ARGUMENT);
  assert_int_equal(gmg_solve_parts(0, s, F, result[0], NULL), GMG_ERR_ARGUMENT);
  for (int i = 0; i < PARTS; i++) p[i].n[0] = 0;
  assert_int_equal(gmg_solver_create_parts(PARTS, c, problem, &j.params, none), GMG_ERR_ARGUMENT);
  for (int i = 0; i < PARTS; i++) assert_null(none[i]);
  for (int i = 0; i < PARTS; i++) {
    if (on_device) device_use(i % device_count());
    gmg_solver_destroy(s[i]);
    for (int a = 0; a < 5; a++) {
      drop(mine[a][i], there[a][i], count[i]);
      if (a > 1) copy_box(&b[i], -1, whole[a - 2], mine[a][i], 0);
      free(mine[a][i]);
    }
    gmg_context_destroy(c[i]);
    if (on_device) device_stream_end(stream[i]);
  }
  assert_true(distance(whole[0], one.u, n) <= 1e-6 * norm2(one.u, n));
  assert_true(distance(whole[1], one.z, n) <= 1e-10 * norm2(one.z, n));
  assert_near(norm2(whole[2], n) / report.residual, 1, 1e-4);
  end_alone(&one);
  free(f), free(beta);
  for (int a = 0; a < 3; a++) free(whole[a]);
}

/* --- slow links --------------------------------------------------------------------------------------------------------------------- */

static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* GMG_SLOW_LINK delays messages between two devices, and changes no value. Every cycle has more than one message after another. */
static void a_slow_link_only_delays(void **state)
{
  (void)state;
  static const ranks_case k = {{3, {72, 61, 68}, GMG_CELL, "dnrdpp"}, 2, {0}, "red_black", GMG_PRECISION_SAME, CONSTANT, GMG_CYCLE_V,
                               GMG_ACCEL_NONE, 1};
  const double delay = 0.005;
  if (!on_device) skip();
  job j = job_of(&k);
  const size_t n = unknowns(&j.problem);
  double *f = field(n, 1), *u[2] = {field(n, 0), field(n, 0)}, start = 0;
  j.f = f;
  for (int slow = 0; slow < 2; slow++) {
    j.u = u[slow];
    if (slow) setenv("GMG_SLOW_LINK", "5000", 1);
    start = now();
    run_ranks(k.ranks, solve_part, &j);
    unsetenv("GMG_SLOW_LINK");
    for (int r = 0; r < k.ranks; r++)
      if (j.status[r]) fail_msg("rank %d: %s", r, j.text[r]);
  }
  assert_true(now() - start > 2 * j.report[0].cycles * delay);
  assert_memory_equal(u[0], u[1], n * sizeof *f);
  setenv("GMG_SLOW_LINK", "soon", 1);
  run_ranks(k.ranks, solve_part, &j);
  unsetenv("GMG_SLOW_LINK");
  for (int r = 0; r < k.ranks; r++) assert_int_equal(j.status[r], GMG_ERR_ARGUMENT);
  free(f), free(u[0]), free(u[1]);
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

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(all_cuts_solve_alike),
                                     cmocka_unit_test(cuts_may_be_anywhere),
                                     cmocka_unit_test(full_multigrid_starts_alike),
                                     cmocka_unit_test(asynchronous_halos_converge_alike),
                                     cmocka_unit_test(arrays_may_have_halos),
                                     cmocka_unit_test(an_update_reaches_all_levels),
                                     cmocka_unit_test(fluxes_are_those_of_one_process),
                                     cmocka_unit_test(the_plan_is_that_of_the_whole_grid),
                                     cmocka_unit_test(one_thread_solves_all_parts),
                                     cmocka_unit_test(a_slow_link_only_delays),
                                     cmocka_unit_test(boxes_cover_the_grid),
                                     cmocka_unit_test(one_process_has_all)};
  share_devices();
  const int skipped = for_device(argc, argv);
  return skipped ? skipped : run_selected(tests);
}
