/* Stencils, methods, scales and records of study_relaxation. */
#ifndef GMG_STUDY_RELAXATION_H
#define GMG_STUDY_RELAXATION_H

#include "relax.h"

/* A stencil in place of a matrix: unknowns along an axis, spectral radius of Jacobi's iteration matrix, shapes of blocks. */
typedef struct stand_in {
  const char *matrix;
  int dim;
  size_t n;
  double rho;
  size_t block[3]; /* about the paper's 448 consecutive unknowns */
  size_t small[3]; /* about 128, as for Tables 2 and 3 */
  int iterations;  /* iterations until async-(5) is near the rounding floor, or fewer if that takes too many */
} stand_in;

enum { CHEM, FV1, FV2, FV3, TREFETHEN, CASES };
extern const stand_in study_relaxation_cases[CASES];

typedef struct method {
  const char *name, *smoother;
  int local; /* k; 0: no blocks, or gmg's default */
  int stale, once;  /* stale: the deterministic twin. once: deterministic, so one run gives the residuals */
  int on_host;      /* 1: does not run on a device */
} method;

extern const method study_relaxation_jacobi, study_relaxation_gauss_seidel, study_relaxation_async_default;
method study_relaxation_async(int k, int stale);

/* Numbers of runs: of the spread, of the spread with waiting threads, of other asynchronous rates, of times of deterministic
   methods. large: unknowns along an axis of the large grid of Table 4, and its iterations. part: divides the numbers of
   iterations. */
typedef struct scale {
  int spread, waiting, runs, times;
  size_t large;
  int large_iterations, part;
} scale;

scale study_relaxation_scale(const study *s);

gmg_problem study_relaxation_problem(const stand_in *c);
gmg_params study_relaxation_params(const method *m, const size_t block[3]); /* block = NULL: gmg's default */
const study_place *study_relaxation_place(const study *s, const method *m);

/* block = NULL: blocks are not recorded. */
struct cJSON *study_relaxation_begin_record(study *s, const char *part, const char *paper, const stand_in *c, const char *name,
                                            const study_place *at, const size_t block[3]);
/* Adds a record that contains only the reason, the context's text. Returns 0. */
int study_relaxation_skip(study *s, const char *part, const char *paper, const stand_in *c, const char *name,
                          const study_place *at);

int study_relaxation_spread(study *s);  /* relaxation_spread.c */
int study_relaxation_sweeps(study *s);  /* relaxation_cost.c */
int study_relaxation_large(study *s);
int study_relaxation_timing(study *s);
int study_relaxation_solvers(study *s); /* relaxation_solvers.c */

#endif
