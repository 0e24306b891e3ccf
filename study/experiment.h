/* A measurement of study_smoothers: a smoother in a setting, run several times. It becomes one record. */
#ifndef GMG_STUDY_EXPERIMENT_H
#define GMG_STUDY_EXPERIMENT_H

#include "study.h"

/* A smoother by its parameters. omega = 0: gmg's best known weight. DAMPED: the weight of Jacobi, 2 dim / (2 dim + 1). */
#define DAMPED (-1)
typedef struct method {
  const char *name, *preset, *smoother; /* smoother = NULL: that of the preset */
  int serial; /* 1: Gauss-Seidel, also inside blocks; does not run on a device */
  double omega;
  int local, overlap; /* -1: that of the preset */
  int rows, tiles;    /* blocks of 512 unknowns. rows: consecutive unknowns of a row, as in the paper. tiles: 32 x 16 and 8 x 8 x 8 */
  int stale;          /* 1: the deterministic twin, whose blocks read only values from before the pass */
} method;

extern const method study_methods[]; /* the last name is NULL */
const method *study_method_named(const char *name);

/* Right-hand side and guess. Random values are uniform in -0.5..0.5, and the same in every run. */
enum { START_F_RANDOM, START_F_ONE, START_U_RANDOM, STARTS }; /* the first two have u = 0, the last one f = 0 */

#define NEVER 1e-300 /* a tolerance that is not reached */

typedef struct setting {
  const char *part, *paper, *column;
  const method *method;
  const study_place *place;
  int dim;
  size_t n;
  double eps;
  int steps, levels, cycles; /* steps: before and after the correction. levels = 0: as many as useful. cycles: at most */
  double rtol;
  int start;   /* START_... */
  int timed;   /* 1: times matter, so all runs count, and Gauss-Seidel uses all threads. 0: deterministic methods run once */
  int offload; /* 1: the smoother runs on the device, the rest on the host */
  int no_clock; /* 1: only the whole is timed, because a clock prevents a device from fusing operations */
  int runs;
} setting;

/* Returns 0 also if the record only says that there is no device or not enough memory. */
int study_measure(study *s, const setting *w);

#endif
