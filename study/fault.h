/* A smoother that does what another does, until something breaks: blocks that are no longer updated, a bit flipped in u, a correction
 * of the next coarser level that is lost. It sees the f, u, level and leg of every sweep (gmg_smoother.h); what it changes goes
 * through copies in host memory, so it does so on a device as well. */
#ifndef GMG_STUDY_FAULT_H
#define GMG_STUDY_FAULT_H

#include "study.h"

typedef enum fault_kind { FAULT_NONE, FAULT_BLOCKS, FAULT_BIT, FAULT_CORRECTION } fault_kind;

typedef struct fault {
  fault_kind kind;
  int level;          /* 0: the finest that is smoothed; -1, of a bit: the caller's u, between cycles */
  int first, cycles;  /* cycles in which it strikes, from 0 */
  int up;             /* a bit: flipped after the sweep on the upward leg */
  int bit;            /* 0: the lowest */
  int late;           /* of the caller's u: flipped when the solver has done its last test, which no solver can see */
  double place;       /* of the unknown, in 0..1 */
  double share;       /* of the blocks, lost at random: one at least */
  unsigned long seed; /* which */
  int scattered;      /* unknowns of their own are lost, not blocks */
} fault;

typedef struct faulty faulty;

/* For fields of so many unknowns at most. NULL: out of memory. */
faulty *study_faulty_create(const gmg_smoother *inner, size_t cells);
void study_faulty_destroy(faulty *s);
const gmg_smoother *study_faulty_smoother(const faulty *s); /* for gmg_params::smoother, until it ends */
/* For gmg_params::monitor; data: the faulty. Tells it the cycle, and flips bits of the caller's u. */
gmg_monitor study_faulty_monitor;

/* From now on. u: the caller's, there, for level -1. */
void study_faulty_set(faulty *s, const fault *f, gmg_type type, size_t cells, void *u);
size_t study_faulty_changed(const faulty *s); /* unknowns that are not what they would have been, since study_faulty_set() */

/* One pass of the inner smoother over the finest level of the solver created last, without multigrid. The fault's cycles are then
 * passes, counted from study_faulty_set() on. */
void study_faulty_relax(faulty *s, const void *f, void *u);

/* Marks what FAULT_BLOCKS takes away from a level of n unknowns in blocks of `block`; returns how many. */
size_t study_faulty_lost(const fault *f, const size_t n[3], const size_t block[3], unsigned char *mark);

/* ||f - A u|| of a problem with unknowns between Dirichlet walls and a constant shift, by loops of its own, here; also what the marked
 * unknowns (or NULL) have of it. */
double study_fault_residual(const gmg_problem *p, const double *f, const double *u, const unsigned char *mark, double *marked);

#endif
