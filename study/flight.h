/* A model of asynchronous blocks: k of them in flight, in lockstep. The blocks go in the order given by groups of k; those of a group
 * read u as it was before the group and write when all of them are done. k = 1 is the sequential sweep of blocks, k = all the stale
 * twin of "async", and what a device with k blocks in flight does lies near the group's worst. A smoother of one's own for the host,
 * double, constant coefficients, axes that are not periodic; deterministic, for it is to show what a number of blocks in flight
 * does on machines that cannot have that many. */
#ifndef GMG_STUDY_FLIGHT_H
#define GMG_STUDY_FLIGHT_H

#include "gmg_smoother.h"

/* gmg_params has the rest: local, local_sweeps, omega (not 0), overlap, passes, block, order, seed,
   in_flight (0: all). turns: the upward leg takes the blocks in the opposite order. */
typedef struct flight {
  gmg_smoother smoother; /* first: the parameters of a level lead here */
  int turns;
} flight;

flight study_flight_make(int turns);

#endif
