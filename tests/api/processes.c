/* Threads that the system refuses, or that remain in the parent of a fork(). Every case runs in a child process, which must end in
   time and by itself: the OpenMP runtime must not end it, and must not wait for ever. */
#include "util.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FAILED = 1, SECONDS = 100 };

/* Fails unless work(argument) returns 0 in a child process. */
static void in_child(const char *name, int (*work)(int argument), int argument)
{
  int status = 0;
  fflush(NULL);
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    alarm(SECONDS);
    const int code = work(argument);
    fflush(NULL);
    _exit(code);
  }
  assert_int_equal(waitpid(child, &status, 0), child);
  if (WIFSIGNALED(status)) fail_msg("%s(%d): ended by signal %d", name, argument, WTERMSIG(status));
  if (WEXITSTATUS(status) != 0) fail_msg("%s(%d): exit status %d", name, argument, WEXITSTATUS(status));
}

#define IN_CHILD(work, argument) in_child(#work, work, argument)

static int failed(const char *what, const gmg_context *c)
{
  fprintf(stderr, "%s: %s\n", what, c ? gmg_context_error(c) : "");
  return FAILED;
}

/* Creates a solver of n^3 unknowns, solves, and ends it. */
static gmg_status solve_once(gmg_context *c, size_t n)
{
  const gmg_problem p = make_problem(3, n, n, n, GMG_CELL, "dddddd");
  const gmg_params q = gmg_params_default();
  double *f = malloc(n * n * n * sizeof *f), *u = calloc(n * n * n, sizeof *u);
  gmg_solver *s = NULL;
  gmg_status status = f && u ? gmg_solver_create(c, &p, &q, &s) : GMG_ERR_MEMORY;
  if (status == GMG_OK) fill_random(f, n * n * n, 1);
  if (status == GMG_OK) status = gmg_solve(s, f, u, NULL);
  gmg_solver_destroy(s);
  free(f), free(u);
  return status;
}

/* --- threads that the system refuses
   -------------------------------------------------------------------------------------------- */

/* Limits the address space of the process to that many megabytes more than it uses now. */
static void limit_address_space(int megabytes)
{
  size_t pages = 0;
  FILE *f = fopen("/proc/self/statm", "r");
  if (!f || fscanf(f, "%zu", &pages) != 1) _exit(FAILED);
  fclose(f);
  const rlim_t most = pages * (size_t)sysconf(_SC_PAGESIZE) + ((rlim_t)megabytes << 20);
  const struct rlimit limit = {most, most};
  if (setrlimit(RLIMIT_AS, &limit) != 0) _exit(FAILED);
}

/* 64 stacks of 8 MB do not fit: the call returns a status. A context with one thread then works. */
static int too_little_for_64(int megabytes)
{
  gmg_context *c = (gmg_context *)&megabytes;
  limit_address_space(megabytes);
  if (gmg_context_create_host(64, &c) != GMG_ERR_MEMORY || c) return failed("64 threads were not refused", c);
  if (gmg_context_create_host(1, &c) != GMG_OK) return failed("1 thread was refused", NULL);
  if (solve_once(c, 20) != GMG_OK) return failed("1 thread", c);
  gmg_context_destroy(c);
  return 0;
}

/* For any limit every call returns a status. */
static int whatever_fits(int megabytes)
{
  gmg_context *c = NULL;
  limit_address_space(megabytes);
  const gmg_status status = gmg_context_create_host(16, &c);
  if (status == GMG_ERR_MEMORY) return 0;
  if (status != GMG_OK) return failed("context", c);
  const gmg_status solved = solve_once(c, 100);
  if (solved != GMG_OK && solved != GMG_ERR_MEMORY) return failed("solve", c);
  gmg_context_destroy(c);
  return 0;
}

static void refused_threads(void **state)
{
  (void)state;
  if (SANITIZED) {
    printf("limits of address space: skipped under sanitizers, which need much of it\n");
    skip();
  }
  static const int little[] = {64, 200, 400}, megabytes[] = {8, 40, 100, 120, 130, 140, 160, 200, 250, 300};
  for (int i = 0; i < COUNT(little); i++) IN_CHILD(too_little_for_64, little[i]);
  for (int i = 0; i < COUNT(megabytes); i++) IN_CHILD(whatever_fits, megabytes[i]);
}

/* With the largest number of threads a context has so many, or the call says that the system refuses. */
static int most_threads(int threads)
{
  gmg_context *c = NULL;
  const gmg_status status = gmg_context_create_host(threads, &c);
  if (status == GMG_ERR_MEMORY) return c != NULL;
  if (status != GMG_OK || gmg_context_threads(c) != threads) return failed("context", c);
  gmg_context_destroy(c);
  return 0;
}

static void the_most_threads(void **state)
{
  (void)state;
  IN_CHILD(most_threads, SANITIZED ? 64 : 4096);
}

/* --- after fork()
   --------------------------------------------------------------------------------------------------------------- */

enum { LARGE = 40, SMALL = 10 }; /* LARGE^3 unknowns use several threads, SMALL^3 one */
static session parent_of_fork;
static double large_f[LARGE * LARGE * LARGE], large_u[LARGE * LARGE * LARGE];

static int refused(const char *call, gmg_status status, const gmg_context *c)
{
  const char *text = gmg_context_error(c);
  if (status == GMG_ERR_UNSUPPORTED && strstr(text, call) && strstr(text, "fork()")) return 1;
  fprintf(stderr, "%s: %s: %s\n", call, gmg_status_string(status), text);
  return 0;
}

/* Calls that would wait for the parent's threads are refused. */
static int calls_of_the_child(int argument)
{
  (void)argument;
  gmg_context *c = parent_of_fork.context;
  gmg_solver *s = parent_of_fork.solver, *other = NULL;
  const gmg_problem *p = &parent_of_fork.problem;
  const gmg_params q = gmg_params_default();
  static gmg_plan_info info;
  void *flux[3] = {NULL, NULL, NULL};
  if (!refused("gmg_solve", gmg_solve(s, large_f, large_u, NULL), c)) return FAILED;
  if (!refused("gmg_precondition", gmg_precondition(s, large_f, large_u), c)) return FAILED;
  if (!refused("gmg_residual", gmg_residual(s, large_f, large_f, large_u), c)) return FAILED;
  if (!refused("gmg_flux", gmg_flux(s, large_f, flux, NULL), c)) return FAILED;
  if (!refused("gmg_solver_update", gmg_solver_update(s, p), c)) return FAILED;
  if (!refused("gmg_set_boundary_values", gmg_set_boundary_values(s, 0, 0, large_f), c)) return FAILED;
  if (!refused("gmg_set_boundary_constant", gmg_set_boundary_constant(s, 0, 0, 1), c)) return FAILED;
  if (!refused("gmg_solver_create", gmg_solver_create(c, p, &q, &other), c) || other) return FAILED;
  if (!refused("gmg_plan", gmg_plan(c, p, &q, &info), c)) return FAILED;
  end_solver(&parent_of_fork);
  return 0;
}

static int new_context_of_the_child(int threads)
{
  gmg_context *c = NULL;
  if (gmg_context_create_host(threads, &c) != GMG_OK) return failed("context", c);
  if (threads > 1 && !refused("gmg_solver_create", solve_once(c, LARGE), c)) return FAILED;
  if (solve_once(c, threads > 1 ? SMALL : LARGE) != GMG_OK) return failed("solve", c);
  gmg_context_destroy(c);
  return 0;
}

static void *in_a_thread(void *result)
{
  gmg_context *c = NULL;
  if (gmg_context_create_host(2, &c) == GMG_OK && solve_once(c, LARGE) == GMG_OK) *(int *)result = 0;
  gmg_context_destroy(c);
  return NULL;
}

/* A thread that the child starts has no threads in the parent, so its calls work. */
static int thread_of_the_child(int argument)
{
  int result = FAILED;
  pthread_t thread;
  (void)argument;
  if (pthread_create(&thread, NULL, in_a_thread, &result) != 0) return FAILED;
  pthread_join(thread, NULL);
  return result;
}

/* Solves, then creates children, which test their calls. */
static int parent(int threads)
{
  const gmg_problem p = make_problem(3, LARGE, LARGE, LARGE, GMG_CELL, "dddddd");
  const gmg_params q = gmg_params_default();
  fill_random(large_f, COUNT(large_f), 1);
  parent_of_fork = begin_solver(&p, &q, threads);
  if (solve_in(&parent_of_fork, large_f, large_u, NULL) != GMG_OK) return failed("parent", parent_of_fork.context);
  if (threads > 1) IN_CHILD(calls_of_the_child, 0);
  IN_CHILD(new_context_of_the_child, threads);
  IN_CHILD(new_context_of_the_child, 1);
  if (!SANITIZED) IN_CHILD(thread_of_the_child, 0);
  if (solve_in(&parent_of_fork, large_f, large_u, NULL) != GMG_OK) return failed("parent", parent_of_fork.context);
  end_solver(&parent_of_fork);
  return 0;
}

static void children(void **state)
{
  (void)state;
  IN_CHILD(parent, 2);
  IN_CHILD(parent, 1);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(refused_threads), cmocka_unit_test(the_most_threads), cmocka_unit_test(children)};
  return run_selected(tests);
}
