/* What a solve knows while it runs: between solve.c, which runs it, stepper.c, which does cycles, and report.c. Private to
   mg/iterate. */
#ifndef GMG_MG_SOLVE_H
#define GMG_MG_SOLVE_H

#include "iterate.h"

typedef struct gmg_progress {
  gmg_iteration it;
  const void *f;         /* the caller's */
  gmg_stopping rule;
  gmg_standing standing, before; /* after the last residual, and before it */
  gmg_verdict verdict;           /* of the last residual */
  double floor;
  double true_before;    /* by recursion: the true residual when the recursion last met the target */
  double mean_removed;
  int cycles, measured;  /* the solver's history has `measured` entries */
  gmg_graph *loop;       /* cycles and residuals, recorded; NULL: the host does them one by one */
} gmg_progress;

/* stepper.c */
void gmg_step(gmg_solver *s, gmg_progress *p);      /* on to the next measured residual, the first time that of the guess. A recorded loop
                                                       goes on as long as the stopping rule lets it. */
void gmg_one_cycle(gmg_solver *s, gmg_progress *p); /* or the full multigrid start */

/* report.c */
void gmg_fill_report(const gmg_solver *s, const gmg_progress *p, gmg_status status, double seconds, gmg_report *r);

static inline double gmg_residual_now(const gmg_progress *p) { return p->standing.norm; }

#endif
