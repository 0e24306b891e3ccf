/* The solver and its levels. Private to mg, the top of the house: mg calls stencil, smoothers and coarse through their tables. It
   knows neither backend nor precision nor smoother: what depends on them is a table that is chosen once, at create. */
#ifndef GMG_SOLVER_H
#define GMG_SOLVER_H

#include "coarse/bottom.h"
#include "core/backend.h"
#include "smoothers/fused.h"
#include "smoothers/smoother.h"
#include "stencil/stencil.h"

/* One level. The solver owns it, and it owns its fields. */
typedef struct gmg_level {
  gmg_operator A;
  double volume;           /* sum of the control volumes */
  double coupling1[3], reaction_from_walls1[3]; /* typical couplings, and wall terms of axes with one unknown, for beta = 1 */
  int by_faces;            /* prolongation depends on the coefficients; its adjoint would not be cheap: not in symmetric cycles */
  gmg_map prolong[3];      /* from the next coarser level, as are all maps */
  gmg_map restrict_[3];    /* residuals, and coefficients on faces. Only with r or with such coefficients. */
  gmg_map average[3];      /* data (f, g of a full multigrid start, sigma); rows sum to 1. Only with fmg or sigma. */
  gmg_map faces_map[3];    /* picks the coarse faces along an axis. Only with coefficients on faces. */
  gmg_map interpolate[3];  /* solutions of a full multigrid start, from padded values. Only with fmg. */
  gmg_faces faces;
  void *u, *f;             /* of level 0 only where it corrects a residual: in a lower precision, or as the only level */
  void *r;
  void *padded;            /* u with ghosts, for interpolation to the next finer level. Only with fmg, not on level 0. */
  gmg_smoother_level view; /* what the smoother is shown */
} gmg_level;

enum { GMG_MAX_REFINED_LEVELS = 32 }; /* 2^32 unknowns are not halved more often */

/* The numbers of a lower precision, in exec's memory. All zeros but the 1: nothing is known yet. */
typedef struct gmg_scales {
  gmg_scale residual; /* of the residual in level[0].f */
  gmg_scale data;     /* of the data of a full multigrid start */
  double one;         /* 1 */
} gmg_scales;

/* What the coefficient arrays hold. */
typedef struct gmg_coefficients {
  double beta_mean[3], beta_least, beta_most; /* 1 where beta is not given */
  double sigma_least, sigma_mean, sigma_most;
} gmg_coefficients;

/* What ends the recursion of a cycle: a solver of one level or more. */
typedef struct gmg_bottom {
  int level; /* the finest one that it solves */
  const gmg_bottom_ops *ops;
  void *state;
  gmg_bottom_problem *problem;
} gmg_bottom;

/* What a cycle is made of. The solver has one, made at create; watch.c makes another one of the same levels. */
typedef struct gmg_legs gmg_legs;
typedef struct gmg_multigrid {
  struct gmg_solver *solver;
  const gmg_exec *exec; /* of the levels */
  const gmg_stencil_ops *stencil;
  int levels;
  const gmg_level *level;
  const gmg_smoother_ops *smoother;
  const gmg_fused_ops *fused;            /* NULL: none */
  void *state[GMG_MAX_LEVELS];           /* the smoother's */
  const gmg_legs *legs[GMG_MAX_LEVELS];
  int pre, post;                         /* smoothing steps */
  gmg_leg up;                            /* the upward leg, reversed in a symmetric cycle */
  gmg_bottom bottom;
} gmg_multigrid;

/* Work that only enqueues and depends on f, u and the solver alone, and what was recorded of it (replay.c). */
typedef void gmg_work(gmg_solver *s, const void *f, void *u);
typedef struct gmg_recording {
  gmg_work *work;
  const void *f;
  void *u;
  int has_values; /* of the solver then, as is cycle */
  gmg_cycle_kind cycle;
  gmg_graph *graph; /* NULL: not yet */
} gmg_recording;
enum { GMG_RECORDINGS = 8 };

struct gmg_solver {
  gmg_context *context;  /* BORROWED */
  gmg_exec exec;         /* of the problem's fields: u, f, residuals, directions */
  gmg_exec low_exec;     /* of the levels, where corrections are computed in a lower precision */
  gmg_exec *levels_exec; /* that one, or else exec */
  gmg_problem problem;   /* coord: own copies; the other arrays only tell by being NULL or not */
  gmg_coefficients coefficients;
  gmg_params params;     /* zeros replaced by what they stand for */
  int cycle_is_auto;        /* the cycle was left to gmg */
  int singular;
  int symmetric;         /* the cycle is to be its own adjoint: the upward leg sweeps in reversed order */
  int has_values;        /* some face was given boundary values */
  int update_failed;             /* the last update failed half-way: only another one helps */
  const gmg_vector_ops *vector;   /* of exec */
  const gmg_stencil_ops *stencil; /* of exec */

  int levels;
  gmg_level level[GMG_MAX_LEVELS];
  gmg_level *finest;     /* the finest grid in the problem's type: its operator and boundary values */
  gmg_level refined[GMG_MAX_REFINED_LEVELS]; /* in the problem's type, where the levels above are in a lower one: the first levels, on
                                                which u is refined by corrections; with fmg also maps to and from the next coarser one */
  int refined_levels;    /* how many: the finest, and with fmg those on which rounding would spoil the start */
  gmg_map single_cell_map[2]; /* [gmg_type] identity on an axis with one unknown: a face's normal axis */

  gmg_multigrid mg;
  const gmg_bottom_ops *coarse;  /* params.coarse */
  gmg_bottom coarsest;   /* the coarsest level alone */
  gmg_bottom_problem bottom_problem[2]; /* of that, and of mg.bottom where it is another one */

  const struct gmg_method *method;              /* how a cycle improves u */
  const struct gmg_correction_ops *corrections; /* how a residual becomes a correction */
  const struct gmg_fmg_ops *fmg;                /* how a full multigrid start goes, two levels or more */
  gmg_scales *scales;     /* in exec's memory; a lower precision only */
  void *f_eff;            /* fine field: f with boundary values folded in, mean taken off */
  struct {
    void *r, *z, *p, *q;
  } krylov;               /* fine fields of the acceleration; z not in a lower precision, q = A p */
  gmg_cg_scalars *cg;     /* what is known of p, in exec's memory */
  double *history;        /* [max_cycles + 1] */
  gmg_level_report report[GMG_MAX_LEVELS];
  gmg_clock clock;        /* accounts: the levels */
  gmg_recording recording[GMG_RECORDINGS];
  unsigned next_recording; /* to be given up, modulo their number */
  int replay_depth;              /* work that is replayed as a whole, of which no part is recorded apart */
  int capture_failed;        /* the host has a part in the work */
};

#define GMG_EXTREME 1e100 /* beyond it volumes and inner products leave the range of double */

/* From here to the end of the block time belongs to the level, and a profiler sees the operation on it. */
#define GMG_AT_LEVEL(s, level, operation) \
  gmg_charge((s), (level));               \
  GMG_RANGE((s)->levels_exec, (level), (operation))

static inline void gmg_charge(gmg_solver *s, int level)
{
  if (s->clock.runs) s->exec.trace->charge(s->context, &s->clock, level);
}

/* The part of x, a field of level L, that A reaches: where the problem is singular, x without its mean, which rounding
   brings in. */
static inline void gmg_project(const gmg_solver *s, const gmg_exec *e, const gmg_level *L, void *x)
{
  if (s->singular) gmg_stencil_of(e)->remove_mean(e, &L->A, L->volume, x);
}

/* c is added to u, a field of level L in the problem's type. */
static inline void gmg_add_correction(const gmg_solver *s, const gmg_level *L, gmg_correction c, void *u)
{
  if (c.z) s->vector->correct(&s->exec, L->A.cells, c, 1, u);
}

/* check.c: every argument, before anything is built. Texts name the argument and the value. */
gmg_status gmg_check_problem(gmg_context *c, const gmg_problem *p);
gmg_status gmg_check_params(gmg_context *c, const gmg_problem *p, const gmg_params *params);

/* hierarchy/coefficients.c: reads the arrays and refuses bad values; puts them on all levels */
gmg_status gmg_check_coefficients(const gmg_exec *e, const gmg_problem *p, gmg_coefficients *found);
void gmg_load_coefficients(gmg_solver *s, const gmg_problem *p);

/* hierarchy/hierarchy.c */
gmg_status gmg_hierarchy_create(gmg_solver *s);
gmg_status gmg_update_smoothers(gmg_solver *s); /* after create, and when A's values are new */
void gmg_hierarchy_destroy(gmg_solver *s); /* the states of its smoothers; memory ends with exec */
/* Operator and wall rules of the grid of these axes, on e; with fields for boundary values or without. */
gmg_status gmg_create_grid(gmg_solver *s, gmg_exec *e, gmg_level *L, const gmg_axis axis[3], int with_values);
gmg_status gmg_create_field(gmg_exec *e, const char *what, size_t cells, void **p);
gmg_status gmg_create_correction_fields(gmg_solver *s, size_t room); /* f and u of level 0; u has at least that many bytes */
size_t gmg_padded_cells(const gmg_operator *A); /* of a field with one ghost layer all around */

/* hierarchy/precision.c: whether corrections are computed in a lower precision. An error where that was asked for and cannot be. */
gmg_status gmg_choose_precision(gmg_solver *s);
gmg_status gmg_check_precision(gmg_solver *s); /* of a solver that does so, after its coefficients changed */
int gmg_fmg_needs_refinement(const gmg_solver *s, const gmg_operator *A); /* whether a full multigrid start on A would lose accuracy if u were
                                                                             in the lower precision on all coarser levels */

/* solver.c: create on any exec; gmg_plan() uses a dry one. *s must be released by gmg_solver_release() either way. */
gmg_status gmg_solver_build(gmg_solver *s, gmg_context *c, const gmg_problem *p, const gmg_params *params, int dry);
void gmg_solver_release(gmg_solver *s);

enum { GMG_STRETCH_LIMIT = 3 };                       /* beyond it point smoothers need an acceleration */
double gmg_worst_stretch(const gmg_problem *p);       /* largest over smallest mesh width, the worst axis */
gmg_status gmg_check_usable(gmg_solver *s);            /* the last update did not fail half-way, nor did the device */
gmg_status gmg_status_or_failure(gmg_solver *s, gmg_status status); /* status, unless the device has failed: then that */
int gmg_is_singular(const gmg_problem *p, double sigma_most);
int gmg_overlap(const gmg_solver *s, const void *a, const void *b); /* two fields of the problem's shape share memory */

/* iterate/floor.c */
double gmg_norm_of(const gmg_solver *s, const gmg_operator *A); /* a bound, the array sigma left out */
double gmg_floor_estimate(const gmg_solver *s);       /* a priori, of ||r|| / ||f|| for a smooth f */
double gmg_low_floor(const gmg_solver *s, const gmg_operator *A); /* of the lower precision */
double gmg_fmg_rounding(const gmg_solver *s, const gmg_operator *A); /* estimate of that: rounding over the scheme's error, up to a constant */
double gmg_floor_of(gmg_solver *s, const void *u);    /* eps || |A| |u| ||_2 */

/* lfa.c: spectral radius of the two-grid cycle on an infinite grid, the largest over a grid of frequencies: all multiples of
   2 pi / samples for which the coarse grid stands, without the constants. A tells couplings and coarsened axes. For a periodic
   problem with `samples` unknowns an axis this is the exact factor. NaN without symbol. */
double gmg_lfa_two_grid(const gmg_operator *A, const gmg_params *params, int symmetric, int samples);

#endif
