/* One measurement of study_smoothers: a smoother in a setting, run several times, as a record. */
#ifndef GMG_STUDY_EXPERIMENT_H
#define GMG_STUDY_EXPERIMENT_H

#include "study.h"

/* A smoother by its parameters. Weights: 0 stands for the best known of gmg, DAMPED for Jacobi's 2 dim / (2 dim + 1). */
#define DAMPED (-1)
typedef struct method {
  const char *name, *preset, *smoother; /* a NULL smoother: the preset's */
  int serial; /* Gauss-Seidel, also that inside blocks: has no place on a device */
  double omega;
  int local, overlap; /* -1: the preset's */
  int rows, tiles;    /* blocks of 512 unknowns: one after the other in a row, as in the paper; 32 x 16 and 8 x 8 x 8 */
  int stale;          /* the deterministic twin: every block sees its neighbours as they were before the pass */
} method;

extern const method study_methods[]; /* up to a NULL name */
const method *study_method_named(const char *name);

/* Right-hand side and guess. Random: uniform in -0.5..0.5, the same in every run. */
enum { START_F_RANDOM, START_F_ONE, START_U_RANDOM, STARTS }; /* u = 0; u = 0; f = 0 */

#define NEVER 1e-300 /* a tolerance that is not reached */

typedef struct setting {
  const char *part, *paper, *column;
  const method *method;
  const study_place *place;
  int dim;
  size_t n;
  double eps;
  int steps, levels, cycles; /* before and after the correction; 0: as many levels as help; at most */
  double rtol;
  int start;   /* START_... */
  int timed;   /* every run counts, Gauss-Seidel on all threads; else methods that are deterministic run once */
  int offload; /* the smoother on the device, the rest on the host */
  int no_clock; /* timed as a whole only: a clock keeps a device from doing several operations in one go */
  int runs;
} setting;

/* Returns 0 also where the record says only that there is no device, or no memory. */
int study_measure(study *s, const setting *w);

#endif
