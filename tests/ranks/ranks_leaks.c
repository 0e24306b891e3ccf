/* Several processes: after a warm-up of 100 rounds of create, solve, errors, destroy, 900 more leave allocated and resident memory
   as it was. The processes are threads (ranks.h), or parts of one process. */
#include "memory.h"
#include "ranks.h"
#include "util.h"

#include "gmg_transport.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { RANKS = 3, WARM_UP = 100, ROUNDS = SANITIZED ? 150 : 1000, MOST = 8 * 48 * 6 };

/* Resident memory may grow by freed pieces that the C library keeps for each thread: by 64 kB at most in our runs, and eight times
   as much is allowed. A loss of 600 bytes a round would be noticed, and of one page in every fifth. */
static const size_t growth_allowed = (size_t)1 << 19;

typedef struct {
  int bad[RANKS]; /* the first round in which a status was not as expected, or -1 */
  char text[RANKS][512]; /* the last error in it */
  size_t bytes[2], pages[2]; /* allocated and resident, after the warm-up and at the end */
} outcome;

static const int slabs[3] = {1, RANKS, 1};

/* Four kinds of problems, whose finest level is cut. */
static gmg_problem problem_of(int round)
{
  switch (round % 4) {
  case 0: return make_problem(2, 20, 60, 1, GMG_CELL, "dddd");
  case 1: return make_problem(2, 21, 63, 1, GMG_VERTEX, "ddnd");
  case 2: return make_problem(2, 20, 60, 1, GMG_CELL, "ddpp");
  default: return make_problem(3, 8, 48, 6, GMG_CELL, "dddddd");
  }
}

static gmg_params params_of(int round)
{
  static const char *const smoothers[] = {"async", "jacobi", "red_black"};
  gmg_params q = gmg_params_default();
  q.direct = GMG_DIRECT_NEVER, q.max_cycles = 3, q.smoother = gmg_smoother_by_name(smoothers[round % 3]);
  q.fmg = round % 5 == 4;
  return q;
}

/* A process's arrays. Each has values that no other process can have, so that messages matter. */
typedef struct {
  double f[MOST], u[MOST], beta[MOST];
} arrays;

static void fill(arrays *x, int round, int rank)
{
  for (int i = 0; i < MOST; i++) x->f[i] = sin(i + 7.0 * rank + round), x->u[i] = 0, x->beta[i] = 1 + 0.5 * x->f[i];
}

static int has_beta(int round) { return round % 7 == 3; }

/* Three cycles need not reach the tolerance. */
static int is_fine(gmg_status status) { return status == GMG_OK || gmg_status_is_outcome(status); }

/* --- processes -------------------------------------------------------------------------------------------------------------- */

/* Returns whether all calls returned what they should. */
static int one_round(const gmg_transport *t, int round, arrays *x, char text[512])
{
  gmg_problem p = problem_of(round), bad = p;
  const gmg_params q = params_of(round);
  const size_t cuts[4] = {0, 20, 41, p.n[1]}, other[4] = {0, 21, 41, p.n[1]};
  const int has_cuts = round % 3 == 0 && p.dim == 2;
  gmg_context *c = NULL;
  gmg_solver *s = NULL, *none = NULL;
  fill(x, round, t->rank);
  if (has_beta(round)) p.beta = bad.beta = x->beta;
  int fine = gmg_context_create_ranks(t, slabs, 1, &c) == GMG_OK;
  if (has_cuts) { /* replaced, and in one process other ones */
    fine = fine && gmg_context_set_cuts(c, 1, t->rank == 1 ? other : cuts) == GMG_OK;
    fine = fine && gmg_solver_create(c, &p, &q, &none) == GMG_ERR_ARGUMENT && !none;
    fine = fine && gmg_context_set_cuts(c, 1, cuts) == GMG_OK;
  }
  if (t->rank == 1) bad.shift = NAN;
  fine = fine && gmg_solver_create(c, &bad, &q, &none) == GMG_ERR_ARGUMENT && !none;
  fine = fine && gmg_solver_create(c, &p, &q, &s) == GMG_OK;
  fine = fine && gmg_solve(s, t->rank == 2 ? NULL : x->f, x->u, NULL) == GMG_ERR_ARGUMENT;
  fine = fine && is_fine(gmg_solve(s, x->f, x->u, NULL)) && gmg_solver_update(s, &p) == GMG_OK;
  if (!fine) snprintf(text, 512, "%s", gmg_context_error(c));
  gmg_solver_destroy(s);
  gmg_context_destroy(c);
  return fine;
}

/* Process 0 measures while the others wait. */
static void measure(const gmg_transport *t, outcome *o, int end)
{
  int all[RANKS];
  t->all_gather(t->data, &end, all, sizeof end);
  if (t->rank == 0) o->bytes[end] = allocated(), o->pages[end] = resident();
  t->all_gather(t->data, &end, all, sizeof end);
}

static void run_rounds(const gmg_transport *t, void *data)
{
  outcome *o = data;
  arrays *x = malloc(sizeof *x);
  for (int i = 0; i < ROUNDS && o->bad[t->rank] < 0; i++) {
    if (!one_round(t, i, x, o->text[t->rank])) o->bad[t->rank] = i;
    if (i + 1 == WARM_UP) measure(t, o, 0);
  }
  if (o->bad[t->rank] < 0) measure(t, o, 1);
  free(x);
}

static void expect_no_growth(const outcome *o)
{
  for (int r = 0; r < RANKS; r++)
    if (o->bad[r] >= 0) fail_msg("rank %d: a status of round %d is not as expected: %s", r, o->bad[r], o->text[r]);
  print_message("%d rounds: %zu kB resident after %d, %zu at the end\n", ROUNDS, o->pages[0] >> 10, WARM_UP, o->pages[1] >> 10);
  if (o->bytes[1] != o->bytes[0])
    fail_msg("%zu bytes are allocated after %d rounds, %zu after %d", o->bytes[1], ROUNDS, o->bytes[0], WARM_UP);
  if (!SANITIZED && o->pages[1] > o->pages[0] + growth_allowed)
    fail_msg("%zu bytes resident after %d rounds, %zu after %d", o->pages[1], ROUNDS, o->pages[0], WARM_UP);
}

static void processes_do_not_grow(void **state)
{
  (void)state;
  outcome o = {.bad = {-1, -1, -1}};
  run_ranks(RANKS, run_rounds, &o);
  expect_no_growth(&o);
}

/* --- parts of one process --------------------------------------------------------------------------------------------------- */

static int one_round_of_parts(int round, arrays x[RANKS], char text[512])
{
  const gmg_params q = params_of(round);
  gmg_problem p[RANKS];
  const gmg_problem *problems[RANKS];
  const void *f[RANKS], *missing[RANKS];
  void *u[RANKS];
  gmg_context *c[RANKS];
  gmg_solver *s[RANKS] = {NULL};
  for (int r = 0; r < RANKS; r++) {
    p[r] = problem_of(round), problems[r] = &p[r];
    fill(&x[r], round, r);
    f[r] = missing[r] = x[r].f, u[r] = x[r].u;
    if (has_beta(round)) p[r].beta = x[r].beta;
  }
  missing[1] = NULL;
  int fine = gmg_context_create_parts(RANKS, slabs, 1, c) == GMG_OK;
  fine = fine && gmg_solver_create_parts(RANKS, c, problems, &q, s) == GMG_OK;
  fine = fine && gmg_solve_parts(RANKS, s, missing, u, NULL) == GMG_ERR_ARGUMENT;
  fine = fine && is_fine(gmg_solve_parts(RANKS, s, f, u, NULL));
  if (!fine) snprintf(text, 512, "%s", gmg_context_error(c[0]));
  for (int r = 0; r < RANKS; r++) gmg_solver_destroy(s[r]);
  for (int r = 0; r < RANKS; r++) gmg_context_destroy(c[r]);
  return fine;
}

static void parts_do_not_grow(void **state)
{
  (void)state;
  outcome o = {.bad = {-1, -1, -1}};
  arrays *x = malloc(RANKS * sizeof *x);
  for (int i = 0; i < ROUNDS && o.bad[0] < 0; i++) {
    if (!one_round_of_parts(i, x, o.text[0])) o.bad[0] = i;
    if (i + 1 == WARM_UP) o.bytes[0] = allocated(), o.pages[0] = resident();
  }
  o.bytes[1] = allocated(), o.pages[1] = resident();
  free(x);
  expect_no_growth(&o);
}

int main(int argc, char **argv)
{
  (void)argc;
  switch_off_caches(argv);
  const struct CMUnitTest tests[] = {cmocka_unit_test(processes_do_not_grow), cmocka_unit_test(parts_do_not_grow)};
  return run_selected(tests);
}
