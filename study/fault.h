/* A smoother that does what another one does, until a fault happens: blocks are no longer updated, a bit of u is flipped, or the
 * correction of the next coarser level is lost. Its changes go through copies in host memory, so it also works on a device. */
#ifndef GMG_STUDY_FAULT_H
#define GMG_STUDY_FAULT_H

#include "study.h"

typedef enum fault_kind { FAULT_NONE, FAULT_BLOCKS, FAULT_BIT, FAULT_CORRECTION } fault_kind;

typedef struct fault {
  fault_kind kind;
  int level;          /* 0: the finest level; -1 (only a bit): the caller's u, between cycles */
  int first, cycles;  /* cycles with the fault, counted from 0 */
  int up;             /* 1: the bit is flipped after the sweep on the upward leg */
  int bit;            /* 0: the lowest bit */
  int late;           /* 1: the bit of the caller's u is flipped after the solver's last test, which no solver can notice */
  double place;       /* position of the unknown, from 0 to 1 */
  double share;       /* share of the blocks that are lost at random, at least one */
  unsigned long seed; /* selects the lost blocks */
  int scattered;      /* 1: single unknowns are lost instead of blocks */
} fault;

typedef struct faulty faulty;

/* For fields of at most `cells` unknowns. NULL: out of memory. */
faulty *study_faulty_create(const gmg_smoother *inner, size_t cells);
void study_faulty_destroy(faulty *s);
const gmg_smoother *study_faulty_smoother(const faulty *s); /* for gmg_params::smoother; valid until study_faulty_destroy() */
/* For gmg_params::monitor, with the faulty smoother as data. Counts cycles, and flips bits of the caller's u. */
gmg_monitor study_faulty_monitor;

/* Sets the fault of the next solves. u: the caller's array where the solver runs, for level -1. */
void study_faulty_set(faulty *s, const fault *f, gmg_type type, size_t cells, void *u);
size_t study_faulty_changed(const faulty *s); /* number of changed unknowns since study_faulty_set() */

/* One pass of the inner smoother over the finest level of the solver that was created last, without multigrid. The cycles of the
 * fault then are passes, counted from study_faulty_set(). */
void study_faulty_relax(faulty *s, const void *f, void *u);

/* Marks the unknowns that FAULT_BLOCKS loses on a level of n unknowns in blocks of `block`. Returns their number. */
size_t study_faulty_lost(const fault *f, const size_t n[3], const size_t block[3], unsigned char *mark);

/* ||f - A u|| of a problem between Dirichlet walls with a constant shift, computed on the host without the library. Also the part
 * of it on the marked unknowns; mark may be NULL. */
double study_fault_residual(const gmg_problem *p, const double *f, const double *u, const unsigned char *mark, double *marked);

#endif
