/* Common functions of the tests: problems from short strings, random fields, solvers on host or device, convergence factors. */
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

/* Sanitizers make everything several times slower. Under them the longest tests have fewer repetitions and smaller grids, which
   execute the same code. */
#ifdef GMG_SANITIZED
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

#define COUNT(table) ((int)(sizeof(table) / sizeof *(table)))

/* Row i of a table, modulo its length. Tables whose lengths have no common factor then occur in all combinations. */
#define ROUND_ROBIN(table, i) (table)[(i) % COUNT(table)]

/* For members of gmg_params whose 0 means automatic. */
static inline int count_or_none(int count) { return count ? count : GMG_NONE; }

/* The default parameters, but always with cycles, on grids that are discretised again. Most tests are about these, and would see none
   where a direct solve is faster, or where beta is rough. */
gmg_params params_for_cycles(void);
/* With an array beta AUTO selects the cycle by the backend. Tests that compare backends, or iterations, take F cycles there. */
gmg_params params_for_cycles_of(const gmg_problem *p);

/* Whether to run a case of a test's tables. With GMG_TEST_EVERY and GMG_TEST_MOST: every GMG_TEST_EVERY-th case of those with at
   most GMG_TEST_MOST unknowns. bench/checks.py sets both, because compute-sanitizer makes a case ten to fifty times slower. The
   number of cases is printed at the end. */
int taken(size_t unknowns);
int share_of(int count); /* of a test's repetitions */

/* bc: two letters per axis, d n r p (Dirichlet, Neumann, Robin with a = 2, b = 0.5, periodic), lower face first.
   The box has unit sides. */
gmg_problem make_problem(int dim, size_t nx, size_t ny, size_t nz, gmg_centering centering, const char *bc);

/* The arguments of make_problem() as a row of a table. */
typedef struct {
  int dim;
  size_t n[3];
  gmg_centering centering;
  const char *bc;
} shape;
gmg_problem shaped_problem(const shape *s);
size_t unknowns(const gmg_problem *p);

/* For an array with a layout (gmg_array_layout) and n values along each axis: the offset of a value, and the number of elements up
   to the last one. */
size_t place_in(const gmg_problem *p, const size_t n[3], const gmg_array_layout *l, size_t i, size_t j, size_t k);
size_t elements_of(const gmg_problem *p, const size_t n[3], const gmg_array_layout *l);

double uniform(uint64_t *state); /* -0.5 .. 0.5 */
void fill_random(double *x, size_t n, uint64_t seed);
double *field(size_t n, uint64_t seed); /* zeros if seed = 0, random otherwise; to be freed */
double norm2(const double *x, size_t n);

/* Whether the smoother has functions where sessions run. */
int has_functions(const gmg_smoother *smoother, gmg_type type);

/* Whether the smoother is asynchronous. Its results are reproducible only with params->deterministic. Its default blocks differ
   between host and device. */
int is_asynchronous(const gmg_params *params);

/* Solves f = 0 from a random guess for `cycles` cycles and returns the mean factor of the last five. On a device it also compares
   with the host's factor, within SAME_FACTOR, if both do the same arithmetic. That excludes asynchronous smoothers, unless they are
   deterministic with blocks of a given shape. In 3D the device has an order of its own at the seam of a periodic axis of an odd
   size, where two unknowns of one colour meet, and for images beyond walls, which the host does not relax: there its factor may be
   worse by OWN_ORDER_FACTOR, and better by any amount. */
#define SAME_FACTOR 0.002
#define OWN_ORDER_FACTOR 0.03
double measured_factor(const gmg_problem *p, const gmg_params *params, int threads, int cycles);

/* A solver with its own context. end_solver() destroys both. Its arrays are in host memory, also if it runs on a device. */
typedef struct {
  gmg_context *context;
  gmg_solver *solver;
  gmg_problem problem; /* the problem's size and type; its arrays may be freed */
} session;
session begin_solver(const gmg_problem *p, const gmg_params *params, int threads);
gmg_status plan_in(session *s, const gmg_problem *p, const gmg_params *params, gmg_plan_info *info);
gmg_status solve_in(session *s, const void *f, void *u, gmg_report *report);
gmg_status precondition_in(session *s, const void *r, void *z);
gmg_status residual_in(session *s, const void *f, const void *u, void *r);
gmg_status set_values_in(session *s, int axis, int side, const void *g);
gmg_status flux_in(session *s, const void *u, void *flux[], void *gradient[]); /* flux and gradient for every axis */
gmg_status update_in(session *s, const gmg_problem *p);
void end_solver(session *s);
/* Updates the solver and solves from zero: u gets the bits that a new solver with these parameters gives. report may be NULL. For
   deterministic parameters and GMG_F64. */
void update_as_new(session *s, const gmg_problem *p, const gmg_params *params, const double *f, double *u, gmg_report *report);
/* Solves for a random f from a zero guess, with two threads. Fails with the name unless the outcome is GMG_OK. For GMG_F64. */
gmg_report solve_random(const char *name, const gmg_problem *p, const gmg_params *params, uint64_t seed);

/* Where sessions run: 1 on a device, 0 on the host. Tests for both accept the argument "cuda". Without a device they print the
   reason and return SKIPPED. */
extern int on_device;
int for_device(int argc, char **argv); /* sets on_device if the last argument is "cuda"; a name before it selects a test. 0 or SKIPPED */
void only(int argc, char **argv); /* selects the tests whose names match the argument, if there is one */

/* Runs the selected tests. Returns the number of failures; 2, with a message, if no test matches the argument. */
#define run_selected(tests) run_selected_of((tests), sizeof(tests) / sizeof *(tests))
int run_selected_of(const struct CMUnitTest *tests, size_t count);

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
