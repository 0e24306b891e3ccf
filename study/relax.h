/* Relaxation alone: sweeps of a smoother on the finest level of a solver, without a cycle around them. The solver's smoother is one
 * of ours, which hands everything on to the one that is asked for and remembers the finest level and its state: then
 * gmg_smoother.h has all that is needed to sweep by hand. */
#ifndef GMG_STUDY_RELAX_H
#define GMG_STUDY_RELAX_H

#include "study.h"

typedef struct relaxation {
  gmg_smoother smoother; /* first: the parameters of a level lead here */
  gmg_smoother_ops of[2][2]; /* by gmg_backend and gmg_type */
  const gmg_smoother *inner;
  const gmg_smoother_ops *ops;
  const gmg_smoother_level *level; /* the finest */
  void *state;
  gmg_solver *solver;
  const study_place *place;
  size_t cells;
  demo_array f, u, r;
} relaxation;

/* params->smoother relaxes A u = f, all unknowns in the problem's type, which must be double. Returns 0; 1 having told stderr
 * why; or -1 where the place does not take the problem: gmg_context_error() tells. Destroy it in any case. */
int study_relaxation_create(relaxation *x, const study_place *place, const gmg_problem *problem, const gmg_params *params);
void study_relaxation_destroy(relaxation *x);

/* f = 1 and u = 0. */
int study_relaxation_begin(relaxation *x);
/* f = 0 and u the lowest sine mode: soon the slowest part of the error is alone */
int study_relaxation_begin_slowest(relaxation *x);
/* So many iterations in calls of `at_once`: within a call an asynchronous one waits for nobody, after it host threads wait for each
 * other. Returns the seconds. */
double study_relaxation_sweep(relaxation *x, int iterations, int at_once);
/* ||f - A u|| / ||f||, 2-norm; NaN where it failed. */
double study_relaxation_residual(relaxation *x);

#endif
