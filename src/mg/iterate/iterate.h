/* The iterations that a solve can be made of. Private to mg. */
#ifndef GMG_MG_ITERATE_H
#define GMG_MG_ITERATE_H

#include "mg/cycle/cycle.h"

/* Where an iteration is. All zeros but f, u and wait: nothing is known yet. */
typedef struct gmg_iteration {
  const void *f;     /* effective right-hand side */
  void *u;
  gmg_wait wait;     /* whether somebody asks for the residual that the next cycle leaves */
  double norm;       /* ||r||_2, where somebody asked for it, else NaN; by recursion with an acceleration */
  int has_direction; /* conjugate gradients: there was a step */
  /* In a lower precision, what the host knows of the residual in level[0].f and of its scale: */
  int is_stored;     /* level[0].f holds the residual of u, well scaled */
  int has_scale;     /* solver.scales->residual.next is about one over its norm */
  double scale_norm; /* the norm that it is one over; 0: the host does not know */
} gmg_iteration;

/* How a cycle improves u: chosen at create, by what was asked for. */
typedef struct gmg_method {
  int norm_is_recursive; /* norms are, which rounding takes away from the truth */
  /* The iteration begins at the u that stands; recursions are forgotten. Leaves the norm where it is waited for. */
  void (*start)(gmg_solver *s, gmg_iteration *it);
  /* ||r||_2 and, unless NULL, ||f||_2 of the u that stands. Blocks. */
  double (*residual)(gmg_solver *s, gmg_iteration *it, double *f_norm);
  /* One cycle. Leaves the norm where it is waited for. */
  void (*cycle)(gmg_solver *s, gmg_iteration *it);
  /* A correction (of a full multigrid start) is added to u, from which the iteration then begins. */
  void (*start_from)(gmg_solver *s, gmg_iteration *it, gmg_correction c);
  /* Work to be recorded as a loop: the first residual if the backend can find it, then a cycle and its residual. NULL:
     cannot be. */
  gmg_work *loop;
  /* Before (NULL: nothing is to be done) and after such a loop. */
  void (*loop_begin)(gmg_solver *s, gmg_iteration *it, gmg_loop *loop);
  void (*loop_end)(gmg_solver *s, gmg_iteration *it, const gmg_loop *loop, const double *norms, int cycles);
} gmg_method;
extern const gmg_method gmg_stationary, gmg_refinement, gmg_conjugate_gradients;

/* How a residual becomes a correction: by a cycle in the problem's type (stationary.c), or in a lower one (refinement.c). */
typedef struct gmg_correction_ops {
  gmg_precision precision;    /* for reports */
  const gmg_fmg_ops *fmg;     /* full multigrid starts */
  const gmg_method *plain;    /* without acceleration */
  /* What they need of the hierarchy, once level l has its operator (at create; may be NULL); and besides it. */
  gmg_status (*create_level)(gmg_solver *s, int l, const gmg_axis axis[3], int is_coarsest);
  gmg_status (*create)(gmg_solver *s);
  gmg_status (*check)(gmg_solver *s); /* of the solver's coefficients: an error where corrections cannot be found so. NULL: always */
  /* z = M^-1 r, a cycle from zero. Only enqueues. z: field of the problem. */
  void (*apply)(gmg_solver *s, const void *r, void *z);
  /* The correction for the acceleration's residual. */
  gmg_correction (*precondition)(gmg_solver *s, gmg_iteration *it);
  /* A step of the acceleration along its direction. Returns the residual's norm. */
  double (*step)(gmg_solver *s, gmg_iteration *it);
  /* f and u for a diagnostic cycle: the current iterate, or u = 1 if that is not finite. The caller's u stays, f_eff may change. */
  void (*watched)(gmg_solver *s, gmg_iteration *it, int finite, const void **f, void **u);
} gmg_correction_ops;
extern const gmg_correction_ops gmg_same_type, gmg_low_type;

/* rhs.c: f with boundary values folded in and, if singular, its mean taken off; f itself where nothing is to be done. With
   mean_removed = NULL nobody waits. */
const void *gmg_effective_rhs(gmg_solver *s, const void *f, double *mean_removed);
const void *gmg_current_rhs(const gmg_solver *s, const void *f); /* where that has put it */

/* replay.c: runs work, or replays what was recorded of it */
void gmg_replay(gmg_solver *s, gmg_work *work, const void *f, void *u);
int gmg_is_replayed(gmg_solver *s, gmg_work *work, const void *f, void *u); /* 0: nothing is done, for nothing is recorded */
gmg_graph *gmg_recorded(gmg_solver *s, gmg_work *work, const void *f, void *u, int loop); /* loop: as a loop. NULL: not now */
void gmg_forget_recordings(gmg_solver *s); /* when what they were made of changes or ends */

/* stationary.c */
double gmg_true_residual(gmg_solver *s, const gmg_iteration *it, double *f_norm); /* ||f - A u||_2 and, unless NULL, ||f||_2 */
int gmg_loop_measures_first(gmg_solver *s);  /* whether a recorded loop finds its first residual */

/* What a solve knows while it runs: between solve.c, which runs it, and stepper.c, which does cycles. */
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

static inline double gmg_residual_now(const gmg_progress *p) { return p->standing.norm; }

#endif
