/* Sweeps of a smoother on the finest level of a solver, without a cycle. The solver gets a smoother that passes everything to the
 * wanted one, and stores the finest level and its state. With them gmg_smoother.h allows single sweeps. */
#ifndef GMG_STUDY_RELAX_H
#define GMG_STUDY_RELAX_H

#include "study.h"

typedef struct relaxation {
  gmg_smoother smoother; /* first member: gmg_smoother_level::params leads to it */
  gmg_smoother_ops of[2][2]; /* indices: gmg_backend, gmg_type */
  const gmg_smoother *inner;
  const gmg_smoother_ops *ops;
  const gmg_smoother_level *level; /* the finest level */
  void *state;
  gmg_solver *solver;
  const study_place *place;
  size_t cells;
  demo_array f, u, r;
} relaxation;

/* Prepares sweeps of params->smoother for A u = f, in the problem's type, which must be double. Returns 0 on success, 1 after a
 * message on stderr, -1 if the place refuses the problem (see gmg_context_error()). Destroy x in any case. */
int study_relaxation_create(relaxation *x, const study_place *place, const gmg_problem *problem, const gmg_params *params);
void study_relaxation_destroy(relaxation *x);

/* Sets f = 1 and u = 0. */
int study_relaxation_begin(relaxation *x);
/* Sets f = 0, and u to the lowest sine mode, so that the slowest part of the error soon remains alone. */
int study_relaxation_begin_slowest(relaxation *x);
/* Does `iterations` iterations in calls of `at_once`. Within a call blocks of an asynchronous smoother do not wait for each other;
 * host threads wait at the end of a call. Returns the seconds. */
double study_relaxation_sweep(relaxation *x, int iterations, int at_once);
/* Returns ||f - A u|| / ||f|| in the 2-norm; NaN after a failure. */
double study_relaxation_residual(relaxation *x);

#endif
