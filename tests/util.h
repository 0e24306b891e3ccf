/* Shared by the tests: problems from short words, random fields, solvers where they are to run, convergence factors. */
#ifndef GMG_TEST_UTIL_H
#define GMG_TEST_UTIL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "device.h"
#include "gmg.h"
#include "gmg_smoother.h"

/* Under sanitizers everything is several times slower: there the longest tests take a share of their repetitions and
   smaller grids, which run through the same code. */
#ifdef GMG_SANITIZED
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

#define COUNT(table) ((int)(sizeof(table) / sizeof *(table)))

/* Row i of a table that begins anew after its end: tables of different lengths, gone through together, meet in all combinations. */
#define ROUND_ROBIN(table, i) (table)[(i) % COUNT(table)]

/* For members of gmg_params whose 0 means that gmg chooses. */
static inline int count_or_none(int count) { return count ? count : GMG_NONE; }

/* Whether a case of a test's tables is run: all of them, but under compute-sanitizer, which makes a case ten to fifty times
   slower, every GMG_TEST_EVERY-th of those of at most GMG_TEST_MOST unknowns (bench/checks.py sets both); how many were is said
   at the end. */
int taken(size_t unknowns);
int share_of(int count); /* of a test's repetitions */

/* bc: two letters an axis, d n r p (Dirichlet, Neumann, Robin with a = 2, b = 0.5, periodic), lower face first.
   The box has unit sides. */
gmg_problem make_problem(int dim, size_t nx, size_t ny, size_t nz, gmg_centering centering, const char *bc);

/* The same as a row of a table. */
typedef struct {
  int dim;
  size_t n[3];
  gmg_centering centering;
  const char *bc;
} shape;
gmg_problem shaped_problem(const shape *s);
size_t unknowns(const gmg_problem *p);

double uniform(uint64_t *state); /* -0.5 .. 0.5 */
void fill_random(double *x, size_t n, uint64_t seed);
double *field(size_t n, uint64_t seed); /* zeros, or random for seed > 0; to be freed */
double norm2(const double *x, size_t n);

/* Blocks that relax without waiting for each other, in a shape that the context chooses where params->async.block says nothing. Such a
   smoother promises the same bits only where params->deterministic asks for them, not even on one thread. */
int is_asynchronous(const gmg_params *params);

/* Solves f = 0 from a random guess for `cycles` cycles and returns the mean factor of the last five. On a device it must also be
   the host's, within SAME_FACTOR, where both do the same arithmetic: all but asynchronous smoothers, and these where they are
   deterministic with blocks of a given shape. */
#define SAME_FACTOR 0.002
double measured_factor(const gmg_problem *p, const gmg_params *params, int threads, int cycles);

/* A solver on its own context; both are ended by end_solver(). Arrays are the host's wherever it runs. */
typedef struct {
  gmg_context *context;
  gmg_solver *solver;
  gmg_problem problem; /* its size and type; its arrays may be gone */
} session;
session begin_solver(const gmg_problem *p, const gmg_params *params, int threads);
gmg_status plan_in(session *s, const gmg_problem *p, const gmg_params *params, gmg_plan_info *info);
gmg_status solve_in(session *s, const void *f, void *u, gmg_report *report);
gmg_status precondition_in(session *s, const void *r, void *z);
gmg_status residual_in(session *s, const void *f, const void *u, void *r);
gmg_status set_values_in(session *s, int axis, int side, const void *g);
gmg_status flux_in(session *s, const void *u, void *flux[], void *gradient[]); /* of every axis */
gmg_status update_in(session *s, const gmg_problem *p);
void end_solver(session *s);

/* Where sessions run: on the host, unless set. Tests that can do both take the word "cuda"; SKIPPED, and the reason printed, is
   for CTest where no device is. */
extern int on_device;
int for_device(int argc, char **argv); /* sets on_device if the argument is "cuda"; 0 or SKIPPED */
void only(int argc, char **argv); /* the tests whose names match the argument, if there is one */

/* Creates a solver on a CUDA context: the problem's arrays are copied to the device. */
gmg_status create_on_device(gmg_context *context, const gmg_problem *p, const gmg_params *params, gmg_solver **solver);

#define assert_ok(context, call)                                                          \
  do {                                                                                    \
    const gmg_status status_ = (call);                                                    \
    if (status_ != GMG_OK)                                                                \
      fail_msg("%s: %s: %s", #call, gmg_status_string(status_), gmg_context_error(context)); \
  } while (0)

#define assert_below(value, limit)                                                                        \
  do {                                                                                                    \
    const double value_ = (value), limit_ = (limit);                                                      \
    if (!(value_ <= limit_)) fail_msg("%s = %g, must be at most %s = %g", #value, value_, #limit, limit_); \
  } while (0)

#define assert_near(value, wanted, tolerance)                                                              \
  do {                                                                                                     \
    const double value_ = (value), wanted_ = (wanted), tolerance_ = (tolerance);                           \
    if (!(value_ - wanted_ <= tolerance_ && wanted_ - value_ <= tolerance_))                               \
      fail_msg("%s = %g, must be within %g of %g", #value, value_, tolerance_, wanted_);                   \
  } while (0)

#endif
