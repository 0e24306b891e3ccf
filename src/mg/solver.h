/* The solver and its levels. Private to mg, the top of the house: it calls stencil, smoothers and coarse through their
   tables and knows neither backend nor precision. */
#ifndef GMG_SOLVER_H
#define GMG_SOLVER_H

#include "coarse/coarse.h"
#include "coarse/fused_levels/fused_levels.h"
#include "smoothers/smoother.h"
#include "stencil/grid/coarsen.h"
#include "stencil/stencil.h"

/* One level. The solver owns it; it owns its fields, but level 0 is lent its u and f. */
typedef struct gmg_level {
  gmg_operator A;
  double volume;           /* sum of the control volumes */
  double coupling1[3], reaction_from_walls1[3]; /* typical couplings, and wall terms of lone axes, for beta = 1 */
  int by_faces;            /* prolongation depends on the coefficients; its adjoint would not be cheap: not in symmetric cycles */
  gmg_map prolong[3];      /* from the next coarser level, as are all maps */
  gmg_map restrict_[3];    /* residuals */
  gmg_map average[3];      /* data (f, g of a full multigrid start, sigma); rows sum to 1. Only with fmg or sigma. */
  gmg_map faces_map[3];    /* picks the coarse faces along an axis. Only with coefficients on faces. */
  gmg_map interpolate[3];  /* solutions of a full multigrid start, from padded values. Only with fmg. */
  gmg_faces faces;
  void *u, *f, *r;
  void *padded;            /* u with ghosts, for interpolation to the next finer level. Only with fmg, not on level 0. */
  gmg_smoother_level view; /* what the smoother is shown */
  void *smoother;          /* its state */
  int aside;               /* it takes u to r and back, with the correction (gmg_fused_ops::double_buffered) */
} gmg_level;

enum { GMG_MOST_WIDE = 32 }; /* 2^32 unknowns are not halved more often */

/* What the coefficient arrays hold. */
typedef struct gmg_coefficients {
  double beta_mean[3], beta_least, beta_most; /* 1 where beta is not given */
  double sigma_least, sigma_mean, sigma_most;
} gmg_coefficients;

/* Where a solve that blew up did so first; filled in by a watched cycle. */
typedef struct gmg_watch {
  int on;
  int level;      /* -1: nowhere */
  double growth;  /* of the residual by the smoother there; infinite for NaN */
} gmg_watch;

/* What was enqueued with that f and u, or is to be recorded when they come again. */
typedef enum {
  GMG_RECORDED_LOOP = 1,
  GMG_RECORDED_SOLVE,
  GMG_RECORDED_START, /* full multigrid */
  GMG_RECORDED_CYCLE, /* of a solve, where nobody asks for the residual that it leaves */
  GMG_RECORDED_CORRECTION,
  GMG_RECORDED_PRECONDITION
} gmg_recorded;
typedef struct gmg_recording {
  gmg_recorded what;
  const void *f;
  void *u;
  int has_values; /* of the solver then, as is cycle */
  gmg_cycle_kind cycle;
  gmg_graph *graph; /* NULL: not yet */
} gmg_recording;
enum { GMG_RECORDINGS = 8 };

struct gmg_solver {
  gmg_context *context; /* BORROWED */
  gmg_exec exec;         /* of the problem's fields: u, f, residuals, directions */
  gmg_exec narrow_exec;  /* of the levels, where corrections are computed in a narrower type */
  gmg_exec *levels_exec; /* that one, or else exec */
  int mixed;             /* which of the two */
  gmg_problem problem;   /* coord: own copies; the other arrays only tell by being NULL or not */
  double *coord[3];
  gmg_coefficients found;
  gmg_params params;    /* zeros replaced by what they stand for */
  int free_cycle;       /* the cycle was left to gmg */
  const gmg_vector_ops *vector; /* of exec */
  const gmg_stencil_ops *stencil, *levels_stencil; /* of exec, of levels_exec */
  const gmg_smoother_ops *smoother;
  const gmg_fused_ops *fused; /* its fused legs, or NULL */
  const gmg_coarse_ops *coarse;
  gmg_coarse_problem coarse_problem;
  void *coarse_state;
  const gmg_tail_ops *tail; /* does the levels from tail_from on in one go; NULL: nobody does, tail_from is levels */
  void *tail_state;
  int tail_from;
  int levels;
  gmg_level level[GMG_MAX_LEVELS];
  gmg_level *top;         /* the finest grid in the problem's type: its operator and boundary values */
  gmg_level wide[GMG_MOST_WIDE]; /* levels in the problem's type, where they compute in the narrower one: the finest, and with fmg
                                    those below on which rounding would spoil the start; with fmg also with maps to and from the
                                    next coarser level */
  int wides;             /* how many of them; 0: no mixed precision */
  void *own_f, *own_u;    /* lent to level 0 where it corrects from a residual: mixed precision, or a single level */
  int stale;              /* the last update failed half-way: only another one helps */
  int singular;
  int symmetric;          /* the cycle is to be its own adjoint: the upward leg sweeps in reversed order */
  int has_values;         /* some face was given boundary values */
  double *size;           /* in exec's memory: what own_f was divided by where the host does not know it; mixed precision */
  double *f_size;         /* there, too: what the data of a full multigrid start were divided by */
  void *f_eff;            /* fine field: f with boundary values folded in, mean taken off */
  void *krylov[4];        /* fine fields of the acceleration: r, z (not in mixed precision), p, q */
  gmg_cg_scalars *direction; /* what is known of p, in exec's memory */
  gmg_map single_cell_map;           /* identity on an axis with one unknown: a face's normal axis */
  gmg_map single_cell_map_high;      /* the same in the problem's type, where levels have the narrower one */
  double *history;        /* [max_cycles + 1] */
  gmg_level_report report[GMG_MAX_LEVELS];
  gmg_clock clock;        /* accounts: the levels */
  gmg_watch watch;
  gmg_recording recording[GMG_RECORDINGS];
  unsigned next_recording; /* to be given up, modulo their number */
  int inside;              /* work that is replayed as a whole, of which no part is recorded apart */
  int unrecordable;        /* the host has a part in the work */
};

#define GMG_EXTREME 1e100 /* beyond it volumes and inner products leave the range of double */

/* check.c: every argument, before anything is built. Texts name the argument and the value. */
gmg_status gmg_check_problem(gmg_context *c, const gmg_problem *p);
gmg_status gmg_check_params(gmg_context *c, const gmg_problem *p, const gmg_params *params);

/* coefficients.c: reads the arrays and refuses bad values; puts them on all levels */
gmg_status gmg_check_coefficients(const gmg_exec *e, const gmg_problem *p, gmg_coefficients *found);
void gmg_load_coefficients(gmg_solver *s, const gmg_problem *p);

/* hierarchy.c */
gmg_status gmg_hierarchy_create(gmg_solver *s);
gmg_status gmg_update_smoother(gmg_solver *s, int l); /* after create, and when A's values are new */
void gmg_hierarchy_destroy(gmg_solver *s);
size_t gmg_padded_cells(const gmg_operator *A); /* of a field with one ghost layer all around */
size_t gmg_own_bytes(const gmg_solver *s); /* of own_u: of a field of level 0, or where a full multigrid start needs it as room
                                              for level 1's padded one in the problem's type */

/* cycle/bottom.c: after all levels and the coarse solver; and when their values are new */
gmg_status gmg_tail_create(gmg_solver *s);
void gmg_tail_update(gmg_solver *s);

/* solver.c: create on any exec; gmg_plan() uses a dry one. *s must be released by gmg_solver_release() either way. */
gmg_status gmg_solver_build(gmg_solver *s, gmg_context *c, const gmg_problem *p, const gmg_params *params, int dry);
void gmg_solver_release(gmg_solver *s);

enum { GMG_STRETCH_LIMIT = 3 };                       /* beyond it point smoothers need an acceleration */
double gmg_worst_stretch(const gmg_problem *p);       /* largest over smallest mesh width, the worst axis */
gmg_status gmg_check_fresh(gmg_solver *s);            /* the last update did not fail half-way, nor did the device */
gmg_status gmg_and_health(gmg_solver *s, gmg_status status); /* status, unless the device has failed: then that */
int gmg_is_singular(const gmg_problem *p, double sigma_most);
double gmg_norm_of_A(const gmg_solver *s);            /* a bound, the array sigma left out */
gmg_status gmg_update_smoothers(gmg_solver *s);       /* all levels, A's values being new */
int gmg_overlap(const gmg_solver *s, const void *a, const void *b); /* two fields of the problem's shape share memory */

/* cycle.c: one cycle on level l, from the u and f that stand there */
void gmg_cycle(gmg_solver *s, int l);
gmg_correction gmg_cycle_from_zero(gmg_solver *s, const void *r, double norm, void *z); /* of A c = r; norm: ||r||_2; z: room */
gmg_correction gmg_cycle_on_own(gmg_solver *s, double scale); /* the same where own_f holds scale r */
void gmg_cycle_into(gmg_solver *s, const void *r, double *size, void *z); /* the same, and z is the correction; size: room for
                                                                             gmg_vector_ops::normalize_to_low; nobody waits */
/* That, in mixed precision, or where level l's f holds it. NULL: the correction is in to.x; else it is still to go there. */
const void *gmg_cycle_onto(gmg_solver *s, int l, gmg_onto to);
void gmg_charge(gmg_solver *s, int level);                       /* time of a solve from now on belongs to that level */

/* rhs.c: f with boundary values folded in and, if singular, its mean taken off; f itself where nothing is to be done. With
   mean_removed = NULL nobody waits. */
const void *gmg_effective_rhs(gmg_solver *s, const void *f, double *mean_removed);
const void *gmg_made_rhs(const gmg_solver *s, const void *f); /* where that has put it */

/* accel.c: the iterations that a solve can be made of */
typedef struct gmg_iteration {
  const void *f;     /* effective right-hand side */
  void *u;
  double norm;        /* ||r||_2 where somebody asked for it, else NaN: with an acceleration, by recursion; or in mixed precision */
  int first;          /* of the acceleration: there was no step yet */
  double scale, next; /* mixed precision: own_f holds scale r; what to scale the next one by, 0: nothing is known */
  int fresh;          /* mixed precision: own_f is up to date */
  int unseen;         /* nobody asks for the residual that the next cycle leaves, so nothing waits for it */
  int sized;          /* mixed precision: the solver's size[0] is about the residual's */
} gmg_iteration;

void gmg_iteration_start(gmg_solver *s, gmg_iteration *it);      /* from the u that stands; also forgets recursions */
void gmg_iterate(gmg_solver *s, gmg_iteration *it);              /* one cycle, accelerated or not */
/* ||r||_2, by recursion where accelerated; f_norm: ||f||_2 as well, where not accelerated, or NULL */
double gmg_iteration_residual(gmg_solver *s, gmg_iteration *it, double *f_norm);
void gmg_iteration_watched(gmg_solver *s, gmg_iteration *it);    /* one cycle, watched; u stays. Afterwards start again. */
double gmg_true_residual(gmg_solver *s, const gmg_iteration *it); /* ||f - A u||_2 */
void gmg_iteration_expect(gmg_iteration *it, double norm);       /* the next residual is about of that size */
/* u, of a level in the problem's type, takes the correction, unless its z is NULL. */
void gmg_add_correction(gmg_solver *s, const gmg_level *L, gmg_correction c, void *u);
/* Mixed precision: u takes the correction, unless its z is NULL, and the residual that it leaves is found. */
void gmg_iteration_correct(gmg_solver *s, gmg_iteration *it, gmg_correction c);

/* A cycle that goes round without the host, or NULL: not now. */
gmg_graph *gmg_iteration_recorded(gmg_solver *s, const gmg_iteration *it);
int gmg_starts_by_itself(gmg_solver *s); /* the first residual is found there, too, when the outlook says so */
/* It is replayed while the outlook is good; norms: of the residuals; returns how many. 0: nothing is done but what the start is. */
int gmg_run_ahead(gmg_solver *s, gmg_iteration *it, gmg_graph *cycle, gmg_outlook *outlook, double *norms);

/* recordings.c: work that depends on f, u and the solver alone and only enqueues, where it can be recorded */
typedef void gmg_work(gmg_solver *s, const void *f, void *u);
int gmg_replayed(gmg_solver *s, gmg_recorded what, const void *f, void *u, gmg_work *work); /* 0: still to be done */
void gmg_do(gmg_solver *s, gmg_recorded what, const void *f, void *u, gmg_work *work); /* replayed, or else done */
gmg_graph *gmg_recorded_loop(gmg_solver *s, const void *f, void *u, gmg_work *cycle);  /* of one that goes round; NULL: not now */
void gmg_forget_recordings(gmg_solver *s); /* when what they were made of changes or ends */

/* fmg.c: replaces u by the full multigrid approximation and starts the iteration from it. f as the caller gave it */
void gmg_fmg(gmg_solver *s, const void *f, gmg_iteration *it);

/* floor.c */
double gmg_floor_estimate(const gmg_solver *s);                 /* a priori, of ||r|| / ||f|| for a smooth f */
double gmg_narrow_floor(const gmg_solver *s);                   /* the same of the narrower type */
double gmg_narrow_start(const gmg_solver *s, const gmg_operator *A); /* a full multigrid start on a level of which all coarser ones
                                                                        compute in that: rounding over the scheme's error, but for a
                                                                        factor that is the same for all */
double gmg_floor_of(gmg_solver *s, const void *u);              /* eps || |A| |u| ||_2 */

/* precision.c: whether corrections are computed in the narrower type. An error where that was asked for and cannot be. */
gmg_status gmg_choose_precision(gmg_solver *s);
gmg_status gmg_check_precision(gmg_solver *s); /* of a mixed solver, after its coefficients changed */
int gmg_start_is_spoiled(const gmg_solver *s, const gmg_operator *A); /* a full multigrid start in mixed precision, if of the levels
                                                                         below A's not one has u in the problem's type */

#endif
