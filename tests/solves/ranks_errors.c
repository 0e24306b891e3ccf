/* Several processes: errors of one process are errors of all, and nobody waits. The processes are threads (ranks.h). With the
   argument "cuda" each is on a device. */
#include "job.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* 40 x 44 unknowns in four parts. */
static job small(void)
{
  const shape s = {2, {40, 44, 1}, GMG_CELL, "dddd"};
  job j = {.problem = shaped_problem(&s), .params = gmg_params_default(), .cut = {2, 2, 1}};
  j.params.direct = GMG_DIRECT_NEVER, j.params.coarsening = GMG_COARSENING_DISCRETIZE, j.params.max_cycles = MOST_CYCLES;
  return j;
}

static void a_bad_value_of_one_process_is_an_error_of_all(void **state)
{
  (void)state;
  const size_t n = 40 * 44, at = 30 * 40 + 25; /* in the last part, at (5, 8) of 20 x 22 */
  double *f = field(n, 1), *beta = positive(n, 2), *guess = field(n, 3);
  job j = small();
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
  job j = small();
  j.f = f, j.then = bad_calls;
  run_ranks(4, solve_part, &j);
  expect_error(&j, 4, GMG_ERR_ARGUMENT, "rank 3: problem.shift = nan: must be finite");
  free(f);
}

/* Arguments that are right, but not the same in all processes. Of three, process 1 has others. */
typedef struct {
  int row;
  gmg_status status[3];
  char text[3][JOB_TEXT];
} differing;

enum { CUTS_DIFFER = 9, NO_CUTS = 10, CUTS_DIFFER_ALIKE = 11, NO_CUTS_IN_0 = 12, NO_CUTS_IN_2 = 13, ANOTHER_CUT = 14, LONG_AXIS = 400 };

/* Processes that the context of a row has along each axis. NULL: gmg chooses. */
static const int *cut_of(int row, int rank)
{
  static const int slabs[3] = {1, 3, 1}, others[3] = {3, 1, 1};
  if (row == 8) return rank == 1 ? slabs : NULL;
  if (row == ANOTHER_CUT) return rank == 1 ? others : slabs;
  return row >= CUTS_DIFFER && row <= NO_CUTS_IN_2 ? slabs : NULL;
}

/* In CUTS_DIFFER_ALIKE, cuts[1] + 4 and cuts[2] - 3 leave 0.75 cuts[1] + cuts[2] as it is. */
static void set_differing_cuts(gmg_context *c, int row, int rank)
{
  const int other = rank == 1;
  const size_t cuts[4] = {0, 14, other ? 29 : 28, 44}, alike[4] = {0, other ? 18 : 14, other ? 25 : 28, 44};
  const int without = row == NO_CUTS ? 1 : row == NO_CUTS_IN_0 ? 0 : row == NO_CUTS_IN_2 ? 2 : -1;
  if (row < CUTS_DIFFER || row > NO_CUTS_IN_2 || rank == without) return;
  (void)gmg_context_set_cuts(c, 1, row == CUTS_DIFFER_ALIKE ? alike : cuts);
}

static void create_differing(const gmg_transport *t, void *data)
{
  differing *d = data;
  gmg_context *c = NULL;
  gmg_solver *s = NULL;
  const double x[2][4] = {{0, 0.3, 0.6, 1}, {0, 0.3, 0.7, 1}};
  const double *beta = x[0];
  double line[LONG_AXIS + 1];
  gmg_problem p = make_problem(2, 40, 44, 1, GMG_CELL, "dddd");
  gmg_params q = gmg_params_default();
  const int other = t->rank == 1;
  for (int i = 0; i <= LONG_AXIS; i++) line[i] = i == 2 && other ? 2.5 : i;
  if (d->row == 0 && other) p.n[0] = 41;
  if (d->row == 1 && other) p.bc[1][0] = GMG_NEUMANN;
  if (d->row == 2 && other) p.beta = beta;
  if (d->row == 3 && other) q.post = 3;
  if (d->row == 4 && other) q.smoother = gmg_smoother_by_name("jacobi");
  if (d->row == 5) p.n[0] = 3, p.coord[0] = x[other];
  if (d->row == 6 && other) q.rtol = 1e-3;
  if (d->row == 7 && other) p.shift = 2;
  if (d->row == 15) p.n[1] = LONG_AXIS, p.coord[1] = line;
  d->status[t->rank] = create_context_of(t, cut_of(d->row, t->rank), &c);
  if (!c) return;
  set_differing_cuts(c, d->row, t->rank);
  d->status[t->rank] = gmg_solver_create(c, &p, &q, &s);
  snprintf(d->text[t->rank], JOB_TEXT, "%s", gmg_context_error(c));
  gmg_solver_destroy(s);
  end_context_of(c);
}

static void arguments_that_differ_are_refused(void **state)
{
  (void)state;
  static const char *const words[] = {
      "problem.n[0] = 41 in process 1 differs from 40 in process 0",
      "problem.bc[1][0]",
      "problem.beta = an array in process 1 differs from NULL",
      "params.post = 3 in process 1",
      "params.smoother = jacobi in process 1 differs from async in process 0",
      "problem.coord[0][2] = 0.69999999999999996 in process 1 differs from 0.59999999999999998 in process 0",
      "params.rtol",
      "problem.shift = 2 in process 1 differs from 0",
      "", /* another cut: no context */
      "gmg_context_set_cuts(): cuts[2] of axis 1 = 29 in process 1 differs from 28 in process 0",
      "gmg_context_set_cuts(): cuts of axis 1 = NULL in process 1 differs from an array in process 0",
      "gmg_context_set_cuts(): cuts[1] of axis 1 = 18 in process 1 differs from 14 in process 0",
      "gmg_context_set_cuts(): cuts of axis 1 = an array in process 1 differs from NULL in process 0",
      "gmg_context_set_cuts(): cuts of axis 1 = NULL in process 2 differs from an array in process 0",
      "", /* other numbers of parts: no context */
      "problem.coord[1][2] = 2.5 in process 1 differs from 2 in process 0",
  };
  for (int i = 0; i < COUNT(words); i++) {
    differing d = {.row = i};
    run_ranks(3, create_differing, &d);
    for (int r = 0; r < 3; r++) {
      assert_int_equal(d.status[r], GMG_ERR_ARGUMENT);
      if (!strstr(d.text[r], words[i]) || (!*words[i] && *d.text[r]))
        fail_msg("rank %d: \"%s\" is not in \"%s\"", r, words[i], d.text[r]);
    }
  }
}

static void set_bad_cuts(const gmg_transport *t, void *data)
{
  static const size_t late[] = {1, 20, 44}, twice[] = {0, 0, 44}, good[] = {0, 30, 44};
  static const int slabs[3] = {1, 2, 1};
  const gmg_problem p = make_problem(2, 40, 45, 1, GMG_CELL, "dddd");
  gmg_context *c = NULL, *any = NULL;
  size_t first[3], n[3];
  char *text = (char *)data + t->rank * JOB_TEXT;
#define EXPECT(call, words) \
  if (!*text && ((call) != GMG_ERR_ARGUMENT || !strstr(gmg_context_error(c), words))) snprintf(text, JOB_TEXT, "%s: %s", #call, gmg_context_error(c))
  if (create_context_of(t, slabs, &c) != GMG_OK) snprintf(text, JOB_TEXT, "no context");
  if (!c) return;
  EXPECT(gmg_context_set_cuts(c, 3, good), "axis = 3");
  EXPECT(gmg_context_set_cuts(c, 1, late), "cuts[0] = 1: must be 0");
  EXPECT(gmg_context_set_cuts(c, 1, twice), "cuts[1] = 0: must be above 0");
  if (!*text && gmg_context_set_cuts(c, 1, good) != GMG_OK) snprintf(text, JOB_TEXT, "%s", gmg_context_error(c));
  EXPECT(gmg_local_box(c, &p, first, n), "problem.n[1] = 45: the cuts of gmg_context_set_cuts() end at 44");
  if (!*text && (gmg_context_set_cuts(c, 1, NULL) != GMG_OK || gmg_local_box(c, &p, first, n) != GMG_OK))
    snprintf(text, JOB_TEXT, "the cuts stay: %s", gmg_context_error(c));
  end_context_of(c);
  if (create_context_of(t, NULL, &c) != GMG_OK) return;
  EXPECT(gmg_context_set_cuts(c, 1, good), "without a cut");
  if (!*text && gmg_context_set_cuts(any, 1, good) != GMG_ERR_ARGUMENT) snprintf(text, JOB_TEXT, "NULL is a context");
  end_context_of(c);
#undef EXPECT
}

static void bad_cuts_are_refused(void **state)
{
  (void)state;
  char texts[2][JOB_TEXT] = {""};
  run_ranks(2, set_bad_cuts, texts);
  for (int r = 0; r < 2; r++) assert_string_equal(texts[r], "");
}

static void what_cannot_be_cut_is_refused(void **state)
{
  (void)state;
  static const struct {
    size_t n[2];
    int cut[3];
    const char *smoother;
    gmg_coarsening coarsening;
    gmg_status status;
    const char *words;
    gmg_halos halos;
  } rows[] = {
      {{40, 44}, {4, 1, 1}, "gauss_seidel", GMG_COARSENING_AUTO, GMG_ERR_UNSUPPORTED, "params.smoother = \"gauss_seidel\"", GMG_HALOS_AUTO},
      {{40, 44}, {4, 1, 1}, "lines", GMG_COARSENING_AUTO, GMG_ERR_UNSUPPORTED, "params.smoother = \"lines\"", GMG_HALOS_AUTO},
      {{40, 44}, {4, 1, 1}, "async", GMG_COARSENING_BLACK_BOX, GMG_ERR_UNSUPPORTED, "params.coarsening", GMG_HALOS_AUTO},
      {{40, 44}, {1, 1, 4}, "async", GMG_COARSENING_AUTO, GMG_ERR_UNSUPPORTED, "problem.n[2] = 1: cut into 4 parts", GMG_HALOS_AUTO},
      {{12, 44}, {4, 1, 1}, "async", GMG_COARSENING_AUTO, GMG_ERR_UNSUPPORTED, "problem.n[0] = 12: cut into 4 parts, the thinnest", GMG_HALOS_AUTO},
      {{16, 44}, {2, 2, 1}, "async", GMG_COARSENING_AUTO, GMG_ERR_UNSUPPORTED, "or params.halos = GMG_HALOS_EXACT", GMG_HALOS_ASYNC},
      {{40, 44}, {2, 2, 1}, "async", GMG_COARSENING_AUTO, GMG_ERR_ARGUMENT, "params.halos = 7", (gmg_halos)7},
      {{41, 44}, {2, 2, 1}, "async", GMG_COARSENING_AUTO, GMG_ERR_UNSUPPORTED, "problem.n[0] = 41: a periodic axis", GMG_HALOS_AUTO},
      {{40, 44}, {3, 1, 1}, "async", GMG_COARSENING_AUTO, GMG_ERR_ARGUMENT, "", GMG_HALOS_AUTO}, /* not as many parts as processes */
  };
  double *f = field(41 * 44, 1), *beta = positive(41 * 44, 2);
  for (int i = 0; i < COUNT(rows); i++) {
    const shape s = {2, {rows[i].n[0], rows[i].n[1], 1}, GMG_CELL, rows[i].n[0] == 41 ? "pppp" : "dddd"};
    job j = {.problem = shaped_problem(&s), .params = gmg_params_default(), .f = f, .beta = beta};
    memcpy(j.cut, rows[i].cut, sizeof j.cut);
    j.params.smoother = gmg_smoother_by_name(rows[i].smoother);
    j.params.coarsening = rows[i].coarsening, j.params.halos = rows[i].halos;
    run_ranks(4, solve_part, &j);
    expect_error(&j, 4, rows[i].status, rows[i].words);
  }
  free(f), free(beta);
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_bad_value_of_one_process_is_an_error_of_all),
                                     cmocka_unit_test(a_bad_argument_of_one_process_is_an_error_of_all),
                                     cmocka_unit_test(arguments_that_differ_are_refused),
                                     cmocka_unit_test(bad_cuts_are_refused),
                                     cmocka_unit_test(what_cannot_be_cut_is_refused)};
  share_devices();
  const int skipped = for_device(argc, argv);
  return skipped ? skipped : run_selected(tests);
}
