/* With params.deterministic = 1 and exact halos a host finds the same bits in any number of processes, however the grid is cut: u,
   the history of residuals, a cycle, and a residual. The processes are threads (ranks.h). */
#include "job.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef enum { CONSTANT, BETA, FACES, SIGMA } coefficients;

typedef void change(job *j);

typedef struct {
  shape of;
  const char *smoother;
  gmg_precision precision;
  coefficients with;
  gmg_cycle_kind cycle;
  gmg_accel accel;
  change *also; /* or NULL */
} bits_case;

static void two_steps(job *j) { j->params.pre = j->params.post = 2; }
static void two_passes(job *j) { j->params.async.passes = 2, j->params.async.overlap = GMG_NONE; }
static void wide_overlap(job *j) { j->params.async.overlap = 2, j->params.async.local_sweeps = 1; }
static void small_blocks(job *j) { j->params.async.block[0] = 11, j->params.async.block[1] = 7, j->params.async.block[2] = 5; }
static void local_jacobi(job *j) { j->params.async.local = GMG_LOCAL_JACOBI, j->params.async.local_sweeps = 3; }
static void every_third_residual(job *j) { j->params.check_every = 3; }
static void few_cycles(job *j) { j->params.max_cycles = 3; }

static void halo(job *j)
{
  for (int a = 0; a < j->problem.dim; a++) j->halo[a] = 9;
}

/* Where each axis is cut: not in the middle. */
static void uneven(job *j)
{
  static size_t cuts[3][MOST_RANKS + 1];
  for (int a = 0; a < 3; a++) {
    const size_t n = a < j->problem.dim ? j->problem.n[a] : 1, parts = (size_t)j->cut[a];
    for (size_t i = 0; i <= parts; i++) cuts[a][i] = n * i / parts + (i > 0 && i < parts ? 3 : 0);
    j->cuts[a] = cuts[a];
  }
}

static void stretched(job *j)
{
  static double x[3][129];
  for (int a = 0; a < j->problem.dim; a++) {
    const size_t mesh = j->problem.n[a]; /* of cells */
    for (size_t i = 0; i <= mesh; i++) x[a][i] = (double)i / (double)mesh * (1 + 0.5 * (double)i / (double)mesh);
    j->problem.coord[a] = x[a];
  }
}

/* Levels of more than 2^15 unknowns are cut. */
static const bits_case cases[] = {
    {{3, {72, 60, 66}, GMG_CELL, "dddddd"}, "red_black", GMG_PRECISION_SAME, CONSTANT, GMG_CYCLE_V, GMG_ACCEL_NONE, NULL},
    {{3, {72, 61, 68}, GMG_CELL, "dnrdpp"}, "async", GMG_PRECISION_MIXED, CONSTANT, GMG_CYCLE_W, GMG_ACCEL_NONE, NULL},
    {{3, {71, 65, 63}, GMG_VERTEX, "ddnnrr"}, "async", GMG_PRECISION_AUTO, CONSTANT, GMG_CYCLE_F, GMG_ACCEL_NONE, NULL},
    {{3, {72, 61, 68}, GMG_CELL, "dnrdpp"}, "red_black", GMG_PRECISION_SAME, BETA, GMG_CYCLE_V, GMG_ACCEL_FLEXIBLE_CG, uneven},
    {{3, {72, 61, 67}, GMG_CELL, "ddddnn"}, "async", GMG_PRECISION_AUTO, FACES, GMG_CYCLE_AUTO, GMG_ACCEL_AUTO, NULL},
    {{2, {600, 611, 1}, GMG_CELL, "dddd"}, "red_black", GMG_PRECISION_SAME, FACES, GMG_CYCLE_F, GMG_ACCEL_FLEXIBLE_CG, NULL},
    {{2, {640, 612, 1}, GMG_CELL, "dnpp"}, "async", GMG_PRECISION_MIXED, BETA, GMG_CYCLE_AUTO, GMG_ACCEL_AUTO, uneven},
    {{2, {633, 640, 1}, GMG_VERTEX, "nnpp"}, "chebyshev", GMG_PRECISION_SAME, CONSTANT, GMG_CYCLE_V, GMG_ACCEL_NONE, NULL},
    {{2, {640, 640, 1}, GMG_CELL, "pppp"}, "async", GMG_PRECISION_AUTO, CONSTANT, GMG_CYCLE_V, GMG_ACCEL_NONE, small_blocks},
    {{2, {640, 600, 1}, GMG_VERTEX, "drnd"}, "jacobi", GMG_PRECISION_SAME, SIGMA, GMG_CYCLE_V, GMG_ACCEL_CG, NULL},
    {{2, {6000, 90, 1}, GMG_CELL, "dnrd"}, "red_black", GMG_PRECISION_MIXED, CONSTANT, GMG_CYCLE_V, GMG_ACCEL_NONE, NULL},
    {{1, {600001, 1, 1}, GMG_CELL, "dn"}, "red_black", GMG_PRECISION_SAME, CONSTANT, GMG_CYCLE_V, GMG_ACCEL_NONE, NULL},
    {{1, {300000, 1, 1}, GMG_CELL, "pp"}, "async", GMG_PRECISION_AUTO, CONSTANT, GMG_CYCLE_V, GMG_ACCEL_NONE, uneven},
    {{3, {24, 28, 32}, GMG_CELL, "dddnpp"}, "async", GMG_PRECISION_AUTO, BETA, GMG_CYCLE_AUTO, GMG_ACCEL_AUTO, NULL},
    {{3, {24, 24, 28}, GMG_VERTEX, "nnnnnn"}, "red_black", GMG_PRECISION_SAME, CONSTANT, GMG_CYCLE_V, GMG_ACCEL_NONE, NULL},
    {{3, {72, 60, 66}, GMG_CELL, "dnrddd"}, "async", GMG_PRECISION_MIXED, SIGMA, GMG_CYCLE_V, GMG_ACCEL_FLEXIBLE_CG, wide_overlap},
    {{3, {72, 60, 66}, GMG_CELL, "nnnnpp"}, "async", GMG_PRECISION_MIXED, CONSTANT, GMG_CYCLE_V, GMG_ACCEL_NONE, two_steps},
    {{3, {60, 66, 71}, GMG_VERTEX, "dddnrr"}, "async", GMG_PRECISION_SAME, FACES, GMG_CYCLE_V, GMG_ACCEL_FLEXIBLE_CG, two_passes},
    {{3, {60, 66, 71}, GMG_CELL, "dddnrr"}, "async", GMG_PRECISION_MIXED, CONSTANT, GMG_CYCLE_V, GMG_ACCEL_NONE, local_jacobi},
    {{3, {64, 61, 58}, GMG_CELL, "dddnrr"}, "async", GMG_PRECISION_AUTO, BETA, GMG_CYCLE_AUTO, GMG_ACCEL_AUTO, stretched},
    {{3, {96, 61, 72}, GMG_CELL, "ddnnpp"}, "async", GMG_PRECISION_AUTO, CONSTANT, GMG_CYCLE_V, GMG_ACCEL_NONE, halo},
    {{3, {96, 61, 72}, GMG_CELL, "ddnnpp"}, "async", GMG_PRECISION_AUTO, BETA, GMG_CYCLE_AUTO, GMG_ACCEL_AUTO, every_third_residual},
    {{2, {452, 428, 1}, GMG_VERTEX, "ppnn"}, "red_black", GMG_PRECISION_SAME, CONSTANT, GMG_CYCLE_V, GMG_ACCEL_NONE, few_cycles},
    /* rows of transfers that repeat but for rounding: across the seam, and in several runs */
    {{3, {72, 47, 81}, GMG_CELL, "ppdddd"}, "jacobi", GMG_PRECISION_SAME, BETA, GMG_CYCLE_V, GMG_ACCEL_NONE, few_cycles},
    {{1, {130864, 1, 1}, GMG_VERTEX, "pp"}, "chebyshev", GMG_PRECISION_AUTO, BETA, GMG_CYCLE_W, GMG_ACCEL_AUTO, few_cycles},
};

typedef struct {
  int ranks, cut[3];
} cut;

/* By the number of dimensions. */
static const cut cuts[3][5] = {{{2, {2, 1, 1}}, {3, {3, 1, 1}}, {4, {4, 1, 1}}, {8, {8, 1, 1}}},
                               {{2, {1, 2, 1}}, {3, {3, 1, 1}}, {4, {2, 2, 1}}, {8, {2, 4, 1}}},
                               {{2, {1, 1, 2}}, {3, {1, 3, 1}}, {4, {2, 1, 2}}, {8, {2, 2, 2}}}};

static size_t differences(const double *x, const double *y, size_t n)
{
  size_t count = 0;
  for (size_t i = 0; i < n; i++) count += memcmp(&x[i], &y[i], sizeof *x) != 0;
  return count;
}

static void compare(const job *j, const alone *one, int number, const cut *c)
{
  const size_t n = unknowns(&j->problem);
  const struct {
    const char *name;
    const double *several, *one;
  } results[] = {{"a cycle", j->z, one->z}, {"u", j->u, one->u}, {"the residual", j->r, one->r}};
  for (int r = 0; r < c->ranks; r++) {
    if (j->status[r] != one->status) fail_msg("case %d in %d: status %d, %s", number, c->ranks, j->status[r], j->text[r]);
    if (j->report[r].cycles != one->report.cycles)
      fail_msg("case %d in %d: %d cycles, %d in one process", number, c->ranks, j->report[r].cycles, one->report.cycles);
    for (int i = 0; i < one->report.history_length; i++)
      if (differences(&j->history[r][i], &one->report.history[i], 1) && !(isnan(j->history[r][i]) && isnan(one->report.history[i])))
        fail_msg("case %d in %d: residual %d is %.17g, %.17g in one process", number, c->ranks, i, j->history[r][i],
                 one->report.history[i]);
  }
  for (int i = 0; i < COUNT(results); i++) {
    const size_t differ = differences(results[i].several, results[i].one, n);
    if (differ) fail_msg("case %d in %d: %zu of %zu values of %s differ", number, c->ranks, differ, n, results[i].name);
  }
}

static void solve_case(const bits_case *k, int number)
{
  job j = {.problem = shaped_problem(&k->of), .params = gmg_params_default(), .cut = {1, 1, 1}};
  gmg_params *q = &j.params;
  const size_t n = unknowns(&j.problem), *all = j.problem.n;
  double *f = field(n, 1), *x = positive(n, 2), *guess = field(n, 3), *face[3] = {NULL};
  double *wall = field((k->of.n[1] ? k->of.n[1] : 1) * (k->of.n[2] ? k->of.n[2] : 1), 4);
  q->smoother = gmg_smoother_by_name(k->smoother), q->precision = k->precision, q->cycle = k->cycle, q->accel = k->accel;
  q->deterministic = 1, q->direct = GMG_DIRECT_NEVER, q->coarsening = GMG_COARSENING_DISCRETIZE, q->max_cycles = MOST_CYCLES;
  q->check_every = 1, q->rtol = 1e-9, q->halos = GMG_HALOS_EXACT;
  if (k->also && k->also != halo) k->also(&j);
  j.f = f, j.guess = guess, j.u = field(n, 0), j.z = field(n, 0), j.r = field(n, 0);
  if (j.problem.bc[0][1] != GMG_PERIODIC) j.wall = wall;
  if (k->with == BETA) j.beta = x;
  if (k->with == SIGMA) j.sigma = x;
  for (int a = 0; a < j.problem.dim && k->with == FACES; a++) {
    const size_t along[3] = {all[0] + (a == 0), (j.problem.dim > 1 ? all[1] : 1) + (a == 1), (j.problem.dim > 2 ? all[2] : 1) + (a == 2)};
    j.beta_face[a] = face[a] = positive(cells_of(along), (uint64_t)(10 + a));
  }
  alone one = solve_alone(&j);
  for (const cut *c = cuts[j.problem.dim - 1]; c->ranks; c++) {
    if (c->ranks == MOST_RANKS && number % 2) continue; /* to save time */
    memcpy(j.cut, c->cut, sizeof j.cut);
    if (k->also == uneven || k->also == halo) k->also(&j);
    run_ranks(c->ranks, solve_part, &j);
    compare(&j, &one, number, c);
  }
  end_alone(&one);
  free(f), free(x), free(guess), free(wall), free(j.u), free(j.z), free(j.r);
  for (int a = 0; a < 3; a++) free(face[a]);
}

static void all_cuts_have_the_same_bits(void **state)
{
  (void)state;
  for (int i = 0; i < COUNT(cases); i++)
    if (!SANITIZED || i % 10 == 2) solve_case(&cases[i], i);
}

int main(void)
{
  static const struct CMUnitTest tests[] = {cmocka_unit_test(all_cuts_have_the_same_bits)};
  return run_selected(tests);
}
