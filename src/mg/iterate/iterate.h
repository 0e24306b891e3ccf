/* The iterations of a solve, and the interfaces between the files of this folder. Private to mg. */
#ifndef GMG_MG_ITERATE_H
#define GMG_MG_ITERATE_H

#include "mg/cycle/cycle.h"

/* State of an iteration. All zeros except f, u and wait: nothing is known yet. */
typedef struct gmg_iteration {
  const void *f;     /* effective right-hand side */
  void *u;
  int keeps_mean;    /* singular problems: cycles may leave a mean in u (gmg_keeps_mean()) */
  gmg_wait wait;     /* whether the residual after the next cycle is measured */
  double norm;       /* ||r||_2 if it was measured, NaN otherwise; with acceleration it is computed by recursion */
  int has_direction; /* conjugate gradients in the problem's type: there is a direction */
  /* In low precision, what the host knows of the residual in level[0].f and of its scale: */
  int is_stored;     /* level[0].f holds the residual of u, well scaled */
  double stored_norm, corrected_norm; /* about the norm of level[0].f, and of level[0].f before the last correction */
  int has_scale;     /* solver.scales->residual.next is about 1 / norm of the residual */
  double scale_norm; /* 1 / scales->residual.next; 0: the host does not know it */
} gmg_iteration;

/* A method: how a cycle improves u. Chosen at create. */
typedef struct gmg_method {
  int norm_is_recursive; /* residual norms are computed by recursion, and rounding makes them drift from the true ones */
  int minimises_energy;  /* conjugate gradients: cycles reduce the energy of the error, not the residual */
  int cycles_at_once;    /* maximum count of cycle() */
  size_t min_cells_at_once[2][3]; /* [gmg_backend][dim - 1] on smaller grids a residual after every cycle is faster */
  int sums_in_low_precision; /* cycle() sums corrections in low precision, which limits its count */
  gmg_status (*create)(gmg_solver *s); /* allocates what only this method needs; NULL: nothing */
  /* Starts the iteration at the current u, and discards recursions. Computes the norm if it->wait is set. */
  void (*start)(gmg_solver *s, gmg_iteration *it);
  /* Returns ||r||_2 of the current u and, unless f_norm is NULL, ||f||_2. Blocks. */
  double (*residual)(gmg_solver *s, gmg_iteration *it, double *f_norm);
  /* Runs `count` cycles. Computes the norm after the last one if it->wait is set. */
  void (*cycle)(gmg_solver *s, gmg_iteration *it, int count);
  /* Adds a correction (of a full multigrid start) to u, and starts the iteration there. */
  void (*start_from)(gmg_solver *s, gmg_iteration *it, gmg_correction c);
  /* Refinement only: computes a correction from the residual in level[0].f by `count` cycles, and returns what is left to add to u.
     forget() discards what it keeps of earlier corrections; NULL: nothing. Only enqueue. */
  gmg_correction (*correction)(gmg_solver *s, int count, void *u);
  void (*forget)(gmg_solver *s);
  /* Work to be recorded as a loop: the first residual if the backend can measure it, then a cycle and its residual. NULL: not
     available. */
  gmg_work *loop;
  /* Whether the iteration is in a state in which the loop can go on. NULL: always, also at its first residual. */
  int (*can_loop)(const gmg_solver *s, const gmg_iteration *it);
  /* Called before and after a recorded loop runs. loop_begin may be NULL. */
  void (*loop_begin)(gmg_solver *s, gmg_iteration *it, gmg_loop *loop);
  void (*loop_end)(gmg_solver *s, gmg_iteration *it, const gmg_loop *loop, const double *norms, int cycles);
} gmg_method;
extern const gmg_method gmg_stationary, gmg_refinement, gmg_conjugate_gradients, gmg_conjugate_refinement;

/* How a correction is computed from a residual: by a cycle in the problem's type (stationary.c) or in low precision
   (refinement.c). */
typedef struct gmg_correction_ops {
  gmg_precision precision;    /* for reports */
  const gmg_fmg_ops *fmg;     /* functions for full multigrid starts */
  const gmg_method *plain, *accelerated; /* the methods */
  /* Allocation at create: on level l, after its operator (may be NULL); and for the whole solver. */
  gmg_status (*create_level)(gmg_solver *s, int l, const gmg_axis axis[3], int is_coarsest);
  gmg_status (*create)(gmg_solver *s);
  gmg_status (*check)(gmg_solver *s); /* checks the solver's coefficients; fails if corrections cannot be computed this way. NULL:
                                         they always can */
  /* z = B r: a cycle from zero. r is packed, z has the caller's layout of u. Only enqueues. */
  void (*apply)(gmg_solver *s, const void *r, void *z);
  /* Sets f and u for a watched cycle (cycle/watch.c): the right-hand side and a copy of the iterate or, if cycles compute
     corrections, its residual and 0. If the iterate is not finite, u is 1, and a residual is 0. The caller's u is unchanged; f_eff
     may change. */
  void (*begin_watch)(gmg_solver *s, gmg_iteration *it, int finite, const void **f, void **u);
} gmg_correction_ops;
extern const gmg_correction_ops gmg_corrections_same_precision, gmg_corrections_low_precision;

/* rhs.c. f with boundary values folded in and, if singular, its mean removed; f itself if neither applies. With mean_removed = NULL
   it does not wait. Otherwise *norm is the norm of the result if it became known, or NaN. */
const void *gmg_effective_rhs(gmg_solver *s, const void *f, double *mean_removed, double *norm);
/* In a singular problem: the effective right-hand side of f, and u without its mean. Only enqueues. */
void gmg_take_means(gmg_solver *s, const void *f, void *u);
const void *gmg_rhs_of_means(const gmg_solver *s, const void *f); /* what residuals then read: f itself if it keeps its mean and
                                                                     needs no copy for boundary values or gaps, else f_eff */
int gmg_can_take_means(const gmg_solver *s); /* whether gmg_take_means() is available */
double gmg_rounding_of_mean(const gmg_solver *s); /* as in gmg_is_rest_rounding() */
const void *gmg_packed_rhs(gmg_solver *s, const void *f); /* f without gaps: f itself, or a copy in f_eff. Only enqueues */
const void *gmg_current_rhs(const gmg_solver *s, const void *f); /* where gmg_effective_rhs() stores its result */

/* replay.c. Runs work, or replays its recording. */
void gmg_replay(gmg_solver *s, gmg_work *work, const void *f, void *u);
int gmg_is_replayed(gmg_solver *s, gmg_work *work, const void *f, void *u); /* returns 0, and does nothing, if there is no
                                                                               recording */
gmg_graph *gmg_recorded(gmg_solver *s, gmg_work *work, const void *f, void *u, int loop); /* loop: record as a loop. NULL: not
                                                                                             possible now */
void gmg_forget_recordings(gmg_solver *s); /* call it before data that recordings use change or are released */

/* refuse.c: return an error that names the value that makes a norm infinite or NaN. Block.
   - rhs: the norm is that of the right-hand side.
   - guess: the norm is that of the guess u, or of its residual. */
gmg_status gmg_refuse_rhs(gmg_solver *s, const void *f, double norm);
gmg_status gmg_refuse_guess(gmg_solver *s, const void *u, double norm);

/* conjugate_gradients.c */
gmg_status gmg_create_cg_scalars(gmg_solver *s);
void gmg_forget_directions(gmg_solver *s); /* the next direction is a cycle's correction alone */

/* conjugate_refinement.c: gmg_method::create and gmg_method::correction of the accelerated refinement */
gmg_status gmg_create_directions(gmg_solver *s);
gmg_correction gmg_correct_along_directions(gmg_solver *s, int steps, void *u);

/* stationary.c */
void gmg_cycle_from_zero(gmg_solver *s, const void *r, void *z); /* z = B r in the problem's type; both packed */
double gmg_true_residual(gmg_solver *s, const gmg_iteration *it, double *f_norm); /* ||f - A u||_2 and, unless f_norm is NULL,
                                                                                     ||f||_2 */
int gmg_loop_measures_first(gmg_solver *s);  /* whether a recorded loop measures its first residual */

/* State of a running solve, shared by solve.c, which controls it, and stepper.c, which runs cycles. */
typedef struct gmg_progress {
  gmg_iteration it;
  const void *f;         /* from the caller */
  gmg_stopping rule;
  gmg_stopping_state state, before; /* after the last residual, and before it */
  gmg_verdict verdict;   /* of the last residual */
  double floor;
  double true_before;    /* with recursive norms: the true residual at the last restart */
  double blown_up;       /* with recursive norms: the last residual that was too large, from which the recursion restarted */
  double mean_removed;
  int has_no_mean;       /* the device has removed the mean of u, and no cycle has run since */
  int cycles;            /* number of cycles so far */
  int measured;          /* number of measured residuals */
  int since;             /* cycles from the residual before the last one to the last one */
  double rounding;       /* estimated: low precision does not reduce the residual by a smaller factor before it is measured */
  gmg_graph *loop;       /* recorded cycles and residuals; NULL: the host enqueues them */
} gmg_progress;

/* stepper.c */
gmg_graph *gmg_recorded_loop(gmg_solver *s, const void *f, void *u); /* the loop of a solve, or NULL. f: the effective one */
int gmg_begin_at_once(gmg_solver *s, gmg_progress *p); /* Begins a singular problem: up to its first residual, or by its recorded
                                                          loop. The host waits once. Returns 0 if it has to begin step by step. */
void gmg_step(gmg_solver *s, gmg_progress *p);      /* Runs cycles up to the next measured residual; the first call measures that of
                                                       the guess. A recorded loop runs as long as the stopping rule allows. */
void gmg_run_cycles(gmg_solver *s, gmg_progress *p, int count); /* that many cycles, at most gmg_method::cycles_at_once. The first
                                                                   may be a full multigrid start, with count = 1 */

static inline double gmg_residual_now(const gmg_progress *p) { return p->state.norm; }

#endif
