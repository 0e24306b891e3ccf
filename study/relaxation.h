/* What the parts of study_relaxation share: stencils, methods, how much is done, records. */
#ifndef GMG_STUDY_RELAXATION_H
#define GMG_STUDY_RELAXATION_H

#include "relax.h"

/* A stencil in the place of a matrix: unknowns along an axis, spectral radius of Jacobi's matrix, blocks of the unknowns. */
typedef struct stand_in {
  const char *matrix;
  int dim;
  size_t n;
  double rho;
  size_t block[3]; /* about the paper's 448 consecutive unknowns */
  size_t small[3]; /* about 128, as for Tables 2 and 3 */
  int iterations;  /* until async-(5) is near the rounding floor, or as many as make sense */
} stand_in;

enum { CHEM, FV1, FV2, FV3, TREFETHEN, CASES };
extern const stand_in study_relaxation_cases[CASES];

typedef struct method {
  const char *name, *smoother;
  int local; /* k; 0: not a method of blocks, or gmg's default */
  int stale, once;  /* the deterministic twin; deterministic, so that one run tells the residuals */
  int on_host;      /* has no place on a device */
} method;

extern const method study_relaxation_jacobi, study_relaxation_gauss_seidel, study_relaxation_async_default;
method study_relaxation_async(int k, int stale);

/* Runs of the spread, of the one where threads wait, of other asynchronous rates, of times of what is deterministic; the large grid of
   Table 4 (along an axis), its iterations; how many times fewer iterations than the cases have. */
typedef struct scale {
  int spread, waiting, runs, times;
  size_t large;
  int large_iterations, part;
} scale;

scale study_relaxation_scale(const study *s);

gmg_problem study_relaxation_problem(const stand_in *c);
gmg_params study_relaxation_params(const method *m, const size_t block[3]); /* block: NULL for gmg's own */
const study_place *study_relaxation_place(const study *s, const method *m);

/* block: NULL: says nothing of blocks. */
struct cJSON *study_relaxation_begin_record(study *s, const char *part, const char *paper, const stand_in *c, const char *name,
                                            const study_place *at, const size_t block[3]);
/* A record that says why there is nothing in it: the context's text. Returns 0. */
int study_relaxation_skip(study *s, const char *part, const char *paper, const stand_in *c, const char *name,
                          const study_place *at);

int study_relaxation_spread(study *s);  /* relaxation_spread.c */
int study_relaxation_sweeps(study *s);  /* relaxation_cost.c */
int study_relaxation_large(study *s);
int study_relaxation_timing(study *s);
int study_relaxation_solvers(study *s); /* relaxation_solvers.c */

#endif
