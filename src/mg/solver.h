/* The solver and its levels. Private to mg, the top layer. It calls stencil, smoothers and coarse through their tables. Code in mg
   does not depend on backend, precision or smoother: tables that do are chosen once, at create. */
#ifndef GMG_SOLVER_H
#define GMG_SOLVER_H

#include "coarse/bottom.h"
#include "core/backend.h"
#include "core/comm.h"
#include "smoothers/fused.h"
#include "smoothers/smoother.h"
#include "stencil/stencil.h"

/* One level. The solver owns it. */
typedef struct gmg_level {
  gmg_operator A;
  double volume;           /* sum of the control volumes */
  double coupling1[3], reaction_from_walls1[3]; /* for beta = 1: typical couplings, and wall terms of axes with one unknown */
  int by_faces;            /* prolongation depends on the coefficients. Not in symmetric cycles, because its adjoint is expensive */
  gmg_map prolong[3];      /* from the next coarser level; all maps connect these two levels */
  gmg_map restrict_[3];    /* for residuals and coefficients on faces. Only with r or such coefficients */
  gmg_map average[3];      /* for data (f, g of a full multigrid start, sigma); rows sum to 1. Only with fmg or sigma */
  gmg_map faces_map[3];    /* selects the coarse faces along an axis. Only with coefficients on faces */
  gmg_map interpolate[3];  /* for solutions of a full multigrid start, from padded values. Only with fmg */
  gmg_faces faces;
  void *u, *f;             /* on level 0 only in low precision, or if it is the only level */
  void *r;
  void *padded;            /* u with ghosts, for interpolation to the next finer level. Only with fmg, not on level 0 */
  gmg_smoother_level view; /* the smoother's view */
} gmg_level;

enum { GMG_MAX_REFINED_LEVELS = 32 }; /* 2^32 unknowns cannot be halved more often */

/* Scales of low precision, in exec's memory. All zeros except `one`: nothing is known yet. */
typedef struct gmg_scales {
  gmg_scale residual; /* of the residual in level[0].f */
  gmg_scale data;     /* of the data of a full multigrid start */
  double one;         /* 1 */
} gmg_scales;

/* Ranges and means of the coefficient arrays. */
typedef struct gmg_coefficients {
  double beta_mean[3], beta_least, beta_most; /* 1 if beta is not given */
  double sigma_least, sigma_mean, sigma_most;
} gmg_coefficients;

/* The bottom of a cycle: a solver of one or more levels. */
typedef struct gmg_bottom {
  int level; /* the finest level that it solves */
  const gmg_bottom_ops *ops;
  void *state;
  gmg_bottom_problem *problem;
} gmg_bottom;

/* The parts of a cycle. The solver has one, built at create. watch.c makes a variant of it. */
typedef struct gmg_legs gmg_legs;
typedef struct gmg_multigrid {
  struct gmg_solver *solver;
  const gmg_exec *exec; /* exec of the levels */
  const gmg_stencil_ops *stencil;
  const gmg_operator_ops *op;
  int levels;
  const gmg_level *level;
  const gmg_smoother_ops *smoother;
  const gmg_fused_ops *fused;            /* NULL: none */
  void *state[GMG_MAX_LEVELS];           /* states of the smoother */
  const gmg_legs *legs[GMG_MAX_LEVELS];
  int pre, post;                         /* smoothing steps */
  gmg_leg up;                            /* GMG_LEG_UP_REVERSED in a symmetric cycle, GMG_LEG_UP otherwise */
  gmg_bottom bottom;
} gmg_multigrid;

/* Work that only enqueues, and depends only on f, u and the solver; and its recording (replay.c). */
typedef void gmg_work(gmg_solver *s, const void *f, void *u);
typedef struct gmg_recording {
  gmg_work *work;
  const void *f;
  void *u;
  int has_values; /* state of the solver when it was recorded, like cycle */
  gmg_cycle_kind cycle;
  gmg_graph *graph; /* NULL: not recorded yet */
} gmg_recording;
enum { GMG_RECORDINGS = 8 };

struct gmg_solver {
  gmg_context *context;  /* BORROWED */
  gmg_exec exec;         /* for fields in the problem's type: u, f, residuals, directions */
  gmg_exec low_exec;     /* for the levels, if corrections are in low precision */
  gmg_exec *levels_exec; /* exec of the levels: &low_exec or &exec */
  gmg_problem problem;   /* resolved; coord, stencil: own copies; of the other arrays only whether they are NULL */
  gmg_stencil box;       /* problem.stencil, if there is one */
  gmg_coefficients coefficients;
  gmg_params params;     /* resolved: with AUTO, zeros and GMG_NONE replaced */
  double stretch;        /* largest over smallest mesh width, the worst axis */
  int cycle_is_auto;        /* params.cycle was GMG_CYCLE_AUTO */
  int coarse_is_auto;       /* params.coarse was GMG_COARSE_AUTO */
  int singular;
  int symmetric;         /* the cycle is to be its own adjoint: the upward leg sweeps in reversed order */
  int has_values;        /* some face was given boundary values */
  int update_failed;             /* the last update failed half-way: only another one helps */
  const char *running; /* the public call that has not returned yet: a monitor or a smoother must not make others; or NULL */
  const gmg_vector_ops *vector;   /* of exec */
  const gmg_stencil_ops *stencil; /* of exec */
  const gmg_operator_ops *op;     /* of exec, for the problem's kind of operator */

  int levels;
  gmg_level level[GMG_MAX_LEVELS];
  gmg_level *finest;     /* finest grid in the problem's type: operator and boundary values */
  gmg_level refined[GMG_MAX_REFINED_LEVELS]; /* refined levels: the first levels once more, in the problem's type, if `level` is in
                                                low precision. u is improved there by corrections. With fmg they also have maps to
                                                and from the next coarser level */
  int refined_levels;    /* number of refined levels: the finest and, with fmg, those on which rounding would spoil the start */
  gmg_map single_cell_map[2]; /* [gmg_type] identity on an axis with one unknown, for the normal axis of a face */

  gmg_multigrid mg;
  const gmg_bottom_ops *coarse;  /* solver of the coarsest grid (params.coarse) */
  gmg_bottom coarsest;   /* for the coarsest level alone */
  gmg_bottom_problem bottom_problem[2]; /* of `coarsest`, and of mg.bottom if it differs */

  const struct gmg_method *method;              /* how a cycle improves u */
  const struct gmg_correction_ops *corrections; /* how a correction is computed from a residual */
  const struct gmg_fmg_ops *fmg;                /* functions of a full multigrid start, for two or more levels */
  gmg_scales *scales;     /* in exec's memory; only with low precision */
  void *f_eff;            /* fine field: f with boundary values folded in, and the mean removed */
  struct {
    void *r, *z, *p, *q;
  } krylov;               /* fine fields of the acceleration; q = A p; no z in low precision */
  gmg_cg_scalars *cg;     /* scalars of p, in exec's memory */
  double *history;        /* [max_cycles + 1] */
  gmg_level_report report[GMG_MAX_LEVELS];
  gmg_clock clock;        /* accounts: the levels */
  gmg_recording recording[GMG_RECORDINGS];
  unsigned next_recording; /* the next to be replaced, modulo their number */
  int replay_depth;              /* > 0 inside work that is recorded or replayed as a whole: its parts are not recorded
                                    separately */
  int capture_failed;        /* the work cannot be recorded, because the host takes part in it */
};

#define GMG_EXTREME 1e100 /* beyond it volumes and inner products may overflow */

/* Until the end of the enclosing block time is charged to the level, and profilers see the operation on it. */
#define GMG_AT_LEVEL(s, level, operation) \
  gmg_charge((s), (level));               \
  GMG_RANGE((s)->levels_exec, (level), (operation))

static inline void gmg_charge(gmg_solver *s, int level)
{
  if (s->clock.runs) s->exec.trace->charge(s->context, &s->clock, level);
}

/* If the problem is singular, removes from x the mean that rounding has introduced. x is a field of level L. */
static inline void gmg_project(const gmg_solver *s, const gmg_exec *e, const gmg_level *L, void *x)
{
  if (s->singular) gmg_stencil_of(e)->remove_mean(e, &L->A, L->volume, x);
}

/* Adds c to u, a field of level L in the problem's type. */
static inline void gmg_add_correction(const gmg_solver *s, const gmg_level *L, gmg_correction c, void *u)
{
  if (c.z) s->vector->correct(&s->exec, L->A.cells, c, 1, u);
}

/* defaults.c: what was given, with zeros, AUTO and GMG_NONE replaced by what they stand for. precision and restriction stay: those
   depend on the levels. */
extern const gmg_option gmg_cycle_options[];
gmg_problem gmg_problem_resolved(const gmg_problem *given);
gmg_params gmg_params_resolved(const gmg_params *given, const gmg_problem *problem);

/* check.c: checks every argument before anything is built, and resolves it. Error texts name the argument and its value.
   stencil: what resolved->stencil will point to, if there is one */
gmg_status gmg_check_problem(gmg_context *c, const gmg_problem *given, gmg_problem *resolved, gmg_stencil *stencil);
gmg_status gmg_check_params(gmg_context *c, const gmg_problem *resolved_problem, const gmg_params *given, gmg_params *taken,
                            gmg_params *resolved); /* taken: given, in a struct of this version */

/* hierarchy/coefficients.c: checks the arrays and refuses bad values; stores them on all levels */
gmg_status gmg_check_coefficients(const gmg_exec *e, const gmg_problem *p, gmg_coefficients *found);
void gmg_load_coefficients(gmg_solver *s, const gmg_problem *p);

/* hierarchy/hierarchy.c */
gmg_status gmg_hierarchy_create(gmg_solver *s);
gmg_status gmg_update_smoothers(gmg_solver *s); /* after create, and after A's values have changed */
void gmg_hierarchy_destroy(gmg_solver *s); /* destroys the smoothers' states; memory is released with exec */
/* Creates the operator and the boundary rules of the grid with these axes, and on request fields for boundary values. */
gmg_status gmg_create_grid(gmg_solver *s, gmg_exec *e, gmg_level *L, const gmg_axis axis[3], int with_values);
gmg_status gmg_create_field(gmg_exec *e, const char *what, size_t cells, void **p);
gmg_status gmg_create_correction_fields(gmg_solver *s, size_t room); /* f and u of level 0; u has at least `room` bytes */
size_t gmg_padded_cells(const gmg_operator *A); /* number of values of a field with one layer of ghosts */

/* hierarchy/precision.c: chooses the precision of corrections. Fails if mixed precision was requested and is not possible. */
gmg_status gmg_choose_precision(gmg_solver *s);
gmg_status gmg_check_precision(gmg_solver *s); /* checks a solver in mixed precision after its coefficients have changed */
int gmg_fmg_needs_refinement(const gmg_solver *s, const gmg_operator *A); /* whether a full multigrid start would lose accuracy if
                                                                             all levels coarser than that of A had u in low
                                                                             precision */

/* solver.c: create on any exec; gmg_plan() uses a dry one. Call gmg_solver_release() even if this fails. */
gmg_status gmg_solver_build(gmg_solver *s, gmg_context *c, const gmg_problem *p, const gmg_params *params, int dry);
void gmg_solver_release(gmg_solver *s);

enum { GMG_STRETCH_LIMIT = 3 };                       /* beyond it point smoothers need an acceleration */
double gmg_worst_stretch(const gmg_problem *p);       /* largest over smallest mesh width, the worst axis */
gmg_status gmg_status_or_failure(gmg_solver *s, gmg_status status); /* status, unless the device has failed: then that */
int gmg_is_singular(const gmg_problem *p, double sigma_most);
int gmg_overlap(const gmg_solver *s, const void *a, const void *b); /* whether two fields of the problem's shape overlap */

/* call.c: whether a public call may go on. No other is running on the solver, the process has what it needs, and the device has not
   failed. usable: the last update did not fail half-way, either. Before GMG_VISIT. */
gmg_status gmg_check_idle(gmg_solver *s, const char *call);
gmg_status gmg_check_usable(gmg_solver *s, const char *call);
gmg_status gmg_check_readable(gmg_solver *s, const char *call); /* the same of a call that changes nothing: others may be running */
int gmg_has_parallel_work(const gmg_problem *p); /* fields are long enough for several threads */

/* From here to the end of the block, however it is left, the call is running on the solver. */
#define GMG_RUNNING(s, call) \
  gmg_solver *const gmg_running_ __attribute__((cleanup(gmg_running_end), unused)) = gmg_running_begin((s), (call))

static inline gmg_solver *gmg_running_begin(gmg_solver *s, const char *call)
{
  s->running = call;
  return s;
}

static inline void gmg_running_end(gmg_solver *const *s) { (*s)->running = NULL; }

/* iterate/floor.c */
double gmg_norm_of(const gmg_solver *s, const gmg_operator *A); /* a bound of ||A|| without the array sigma */
double gmg_floor_estimate(const gmg_solver *s);       /* a priori estimate of ||r|| / ||f|| for a smooth f */
double gmg_low_floor(const gmg_solver *s, const gmg_operator *A); /* the same for low precision */
double gmg_fmg_rounding(const gmg_solver *s, const gmg_operator *A); /* estimated rounding / error of the scheme of a full multigrid
                                                                        start, up to a constant */
double gmg_floor_of(gmg_solver *s, const void *u);    /* eps || |A| |u| ||_2 */

/* lfa.c: spectral radius of the two-grid cycle on an infinite grid, the largest over a grid of frequencies: all multiples of 2 pi /
   samples that the coarse grid represents, except the constants. A gives couplings and coarsened axes. For a periodic problem with
   `samples` unknowns per axis this is the exact factor. NaN if the smoother has no symbol. */
double gmg_lfa_two_grid(const gmg_operator *A, const gmg_params *params, int symmetric, int samples);

#endif
