/* A demo in several processes, started by mpirun. Each holds a box of the grid. The first process alone prints and writes files.
 * Without MPI, and without mpirun, there is one process, whose box is the grid. Called by programs that take
 * DEMO_TAKES_RANKS, and by the parts of the demos that read options and write files. */
#ifndef GMG_DEMO_RANKS_H
#define GMG_DEMO_RANKS_H

#include "demo.h"

/* The first calls of main(), and the last: returns the exit code, the largest of all processes. */
void demo_ranks_begin(int *argc, char ***argv);
int demo_ranks_end(int code);

int demo_ranks_started(void); /* processes that mpirun has started, also before the first call; 1 without mpirun */
int demo_rank(void);
int demo_ranks(void);

/* As demo_context_create(), for all processes. With --cut, which has as many parts as there are processes. */
int demo_ranks_context(demo_options *o, gmg_context **context);

/* Ends all processes alike: returns 0 if no process has failed. The first process prints the message of one that has. */
int demo_ranks_agree(const demo_options *o, int failed);
void demo_ranks_sum(int count, double *values); /* over all processes */
double demo_ranks_max(double value);            /* NaN if one is */

size_t demo_ranks_largest(const demo_box *mine); /* unknowns of the largest box */
/* Brings the box of process r > 0 to the first process, with the values of a field in it. Called by all processes; `own` are the
 * caller's values. *box and `field`, which has room for the largest box, are set in the first process. */
void demo_ranks_bring(int r, const demo_box *mine, const void *own, size_t value_bytes, demo_box *box, void *field);

#endif
