/* Solvers on separate contexts, each used by its own thread at the same time. They give the bits of a solver that runs alone if
   this is promised, and converge otherwise. Create, update, errors and destroy are concurrent, too. */
#include "sample.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
  const char *smoother;
  int dim;
  size_t n[3];
  const char *bc;
  gmg_centering centering;
  gmg_type type;
  int threads, deterministic, fmg, accel;
} jobs[] = {
    {"async", 3, {24, 21, 19}, "dnrdpp", GMG_CELL, GMG_F64, 2, 1, 0, GMG_ACCEL_NONE},
    {"red_black", 2, {95, 64, 1}, "nnnn", GMG_VERTEX, GMG_F32, 2, 0, 1, GMG_ACCEL_FLEXIBLE_CG},
    {"async", 3, {33, 20, 17}, "pppppp", GMG_CELL, GMG_F32, 2, 0, 0, GMG_ACCEL_NONE},
    {"gauss_seidel", 3, {20, 19, 18}, "dddddd", GMG_VERTEX, GMG_F64, 2, 0, 0, GMG_ACCEL_FLEXIBLE_CG},
    {"chebyshev", 1, {9999, 1, 1}, "dr", GMG_CELL, GMG_F64, 1, 0, 0, GMG_ACCEL_CG},
    {"jacobi", 3, {25, 24, 23}, "ddnnpp", GMG_CELL, GMG_F64, 2, 0, 0, GMG_ACCEL_CG},
    {"gauss_seidel", 2, {70, 71, 1}, "rrdn", GMG_CELL, GMG_F32, 1, 1, 2, GMG_ACCEL_NONE},
    {"async", 2, {90, 77, 1}, "ddpp", GMG_VERTEX, GMG_F64, 2, 0, 1, GMG_ACCEL_FLEXIBLE_CG},
};
enum { JOBS = sizeof jobs / sizeof *jobs };

/* The work of a thread, and its result. cmocka's asserts work only in the main thread. */
typedef struct {
  int job, rounds;
  pthread_barrier_t *start; /* NULL: no other thread runs */
  void *u;                  /* of the last round */
  size_t bytes;
  int bitwise;
  char wrong[200]; /* empty: no error */
} work;

static gmg_problem problem_of(int j)
{
  gmg_problem p = make_problem(jobs[j].dim, jobs[j].n[0], jobs[j].n[1], jobs[j].n[2], jobs[j].centering, jobs[j].bc);
  p.type = jobs[j].type;
  return p;
}

static gmg_params params_of(int j)
{
  gmg_params q = params_for_cycles();
  q.smoother = gmg_smoother_by_name(jobs[j].smoother);
  q.deterministic = jobs[j].deterministic, q.fmg = jobs[j].fmg, q.accel = (gmg_accel)jobs[j].accel;
  for (int a = 0; a < 3; a++) q.async.block[a] = 8; /* more than one block a thread */
  q.rtol = jobs[j].type == GMG_F32 ? 1e-4 : 1e-9;
  return q;
}

/* A round: create, a create that fails, solve, update and update back, the solve again. */
static void one_round(work *w, gmg_context *c, const gmg_problem *p, const gmg_params *q, const void *f)
{
  gmg_solver *s = NULL, *none = NULL;
  gmg_problem bad = *p, shifted = *p;
  char words[40];
  bad.h[0] = -1 - w->job, shifted.shift = 3;
  snprintf(words, sizeof words, "problem.h[0] = %g", bad.h[0]);
  gmg_status status = gmg_solver_create(c, p, q, &s);
  if (status == GMG_OK) status = gmg_solver_update(s, &shifted);
  if (status == GMG_OK) status = gmg_solve(s, f, w->u, NULL);
  if (status == GMG_OK) status = gmg_solver_update(s, p);
  memset(w->u, 0, w->bytes);
  if (status == GMG_OK) status = gmg_solve(s, f, w->u, NULL);
  if (status != GMG_OK)
    snprintf(w->wrong, sizeof w->wrong, "job %d: %s: %.120s", w->job, gmg_status_string(status), gmg_context_error(c));
  if (gmg_solver_create(c, &bad, q, &none) != GMG_ERR_ARGUMENT || !strstr(gmg_context_error(c), words))
    snprintf(w->wrong, sizeof w->wrong, "job %d: its error text is '%.120s'", w->job, gmg_context_error(c));
  gmg_solver_destroy(s);
}

static void *run(void *argument)
{
  work *w = argument;
  const gmg_problem p = problem_of(w->job);
  const gmg_params q = params_of(w->job);
  const size_t n = unknowns(&p);
  double *values = field(n, (uint64_t)w->job + 1);
  void *f = typed(&p, values, n);
  gmg_context *c = NULL;
  w->u = typed(&p, values, n);
  w->bytes = n * (p.type == GMG_F32 ? sizeof(float) : sizeof(double));
  w->bitwise = q.smoother->traits && q.smoother->traits(&q, jobs[w->job].threads) & GMG_SMOOTHER_DETERMINISTIC;
  if (w->start) pthread_barrier_wait(w->start);
  for (int i = 0; i < w->rounds && !w->wrong[0]; i++) {
    if (gmg_context_create_host(jobs[w->job].threads, &c) != GMG_OK) snprintf(w->wrong, sizeof w->wrong, "no context");
    else one_round(w, c, &p, &q, f);
    gmg_context_destroy(c);
  }
  free(values), free(f);
  return NULL;
}

static void at_once(int count, int rounds, int first)
{
  work alone[JOBS] = {{0}}, together[JOBS] = {{0}};
  pthread_t thread[JOBS];
  pthread_barrier_t start;
  assert_int_equal(pthread_barrier_init(&start, NULL, (unsigned)count), 0);
  for (int i = 0; i < count; i++) {
    alone[i] = (work){.job = (first + i) % JOBS, .rounds = 1};
    run(&alone[i]);
    if (alone[i].wrong[0]) fail_msg("alone: %s", alone[i].wrong);
  }
  for (int i = 0; i < count; i++) {
    together[i] = (work){.job = (first + i) % JOBS, .rounds = rounds, .start = &start};
    assert_int_equal(pthread_create(&thread[i], NULL, run, &together[i]), 0);
  }
  for (int i = 0; i < count; i++) pthread_join(thread[i], NULL);
  pthread_barrier_destroy(&start);
  for (int i = 0; i < count; i++) {
    if (together[i].wrong[0]) fail_msg("%d at once: %s", count, together[i].wrong);
    if (together[i].bitwise && memcmp(alone[i].u, together[i].u, alone[i].bytes) != 0)
      fail_msg("%d at once: job %d (%s) differs from what it computes alone", count, together[i].job,
               jobs[together[i].job].smoother);
    free(alone[i].u), free(together[i].u);
  }
}

static void two_at_once(void **state)
{
  (void)state;
  for (int i = 0; i < JOBS; i++) at_once(2, 3, i);
}

static void four_at_once(void **state)
{
  (void)state;
  for (int i = 0; i < JOBS; i += 2) at_once(4, 3, i);
}

/* Two threads with the same job: state that the library shared between solvers would change the results. */
static void twins(void **state)
{
  (void)state;
  for (int j = 0; j < JOBS; j++) {
    work twin[2] = {{.job = j, .rounds = 3}, {.job = j, .rounds = 3}};
    pthread_t other;
    assert_int_equal(pthread_create(&other, NULL, run, &twin[1]), 0);
    run(&twin[0]);
    pthread_join(other, NULL);
    for (int i = 0; i < 2; i++)
      if (twin[i].wrong[0]) fail_msg("twin %d: %s", i, twin[i].wrong);
    if (twin[0].bitwise) assert_memory_equal(twin[0].u, twin[1].u, twin[0].bytes);
    free(twin[0].u), free(twin[1].u);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(two_at_once), cmocka_unit_test(four_at_once), cmocka_unit_test(twins)};
  return run_selected(tests);
}
