/* What the system may refuse or take away: threads that cannot be had. Every case runs in a child process, which must end by itself
   and in time: OpenMP's runtime ends a process that it cannot serve. */
#include "util.h"

#include <math.h>
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

/* --- threads that cannot be had ---------------------------------------------------------------------------------------------- */

/* The process may have that many megabytes of address space more than it has. */
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

/* 64 stacks of 8 MB do not fit: a status, and one thread can be had. */
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

/* Whatever there is room for, every call ends with a status. */
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

/* As many as gmg allows: either there are so many, or the call says that there are not. */
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

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(refused_threads), cmocka_unit_test(the_most_threads)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
