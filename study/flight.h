/* A model of asynchronous blocks, k of them in flight. Groups of k blocks are relaxed in the given order. The blocks of a group
 * read u as it was before the group, and write when all of them have finished. With k = 1 this is the sequential sweep over
 * blocks, with all blocks the stale twin of async. A device with k blocks in flight is nearly as stale as the group. The model is
 * a deterministic smoother for the host, in double, with constant coefficients and without periodic axes. So it shows the effect
 * of k on machines that cannot have as many blocks in flight. */
#ifndef GMG_STUDY_FLIGHT_H
#define GMG_STUDY_FLIGHT_H

#include "gmg_smoother.h"

/* The other members come from gmg_params: local, local_sweeps, omega (not 0), overlap, passes, block, order, seed, in_flight (0:
   all). turns: the upward leg takes the blocks in the opposite order. */
typedef struct flight {
  gmg_smoother smoother; /* first member: gmg_smoother_level::params leads to it */
  int turns;
} flight;

flight study_flight_make(int turns);

#endif
