/* What a solve knows while it runs: between solve.c, which runs it, stepper.c, which does cycles, and report.c. Private to mg/iterate. */
#ifndef GMG_MG_SOLVE_H
#define GMG_MG_SOLVE_H

#include "iterate.h"

typedef struct gmg_progress {
  gmg_iteration it;
  const void *f;         /* the caller's */
  gmg_stopping rule;
  gmg_standing standing;
  gmg_verdict verdict;   /* of the last residual */
  double floor;
  double true_before;    /* by recursion: the true residual when the recursion last met the target */
  double mean_removed;
  int cycles, measured;  /* the solver's history has `measured` entries */
  gmg_graph *loop;       /* cycles and residuals, recorded; NULL: the host does them one by one */
} gmg_progress;

/* stepper.c */
void gmg_first_residual(gmg_solver *s, gmg_progress *p); /* and maybe cycles, where a recorded loop does them at once */
void gmg_step(gmg_solver *s, gmg_progress *p);           /* some cycles, the last one measured */
void gmg_one_cycle(gmg_solver *s, gmg_progress *p);      /* or the full multigrid start */
void gmg_measured(gmg_solver *s, gmg_progress *p, double norm); /* the residual after p->cycles: history, standing and verdict */

/* report.c */
void gmg_fill_report(const gmg_solver *s, const gmg_progress *p, gmg_status status, double seconds, gmg_report *r);

static inline double gmg_residual_now(const gmg_progress *p) { return p->standing.norm; }

#endif
