/* The solver and its levels. Private to mg, the top layer. It calls stencil, smoothers and coarse through their tables. Code in mg
   does not depend on backend, precision or smoother: tables that do are chosen once, at create. */
#ifndef GMG_SOLVER_H
#define GMG_SOLVER_H

#include "coarse/bottom.h"
#include "core/array.h"
#include "core/backend.h"
#include "core/comm.h"
#include "core/part.h"
#include "smoothers/fused.h"
#include "smoothers/smoother.h"
#include "stencil/black_box/black_box.h"
#include "stencil/grid_ops.h"

/* The 1D operator of an axis (gmg_axis). */
typedef struct gmg_rows {
  size_t entries;
  double *lo, *hi, *diag;
} gmg_rows;

/* One level. The solver owns it. */
typedef struct gmg_level {
  gmg_operator A;
  gmg_axis_spec axis[3];
  double volume;           /* sum of the control volumes */
  double scale;            /* the equation is multiplied by it (hierarchy/over_correction.c) */
  gmg_rows rows[3];        /* of the axes, without the scale; NULL where it is always 1 */
  double unit_coupling[3]; /* typical couplings for beta = 1 and scale = 1 */
  double unit_reaction_from_walls[3]; /* wall terms of axes with one unknown, for beta = 1 */
  int operator_dependent;  /* prolongation depends on the coefficients. Not in symmetric cycles, because its adjoint is
                              expensive */
  gmg_map prolong[3];      /* from the next coarser level; all maps connect these two levels */
  gmg_map restrict_[3];    /* for residuals, coefficients on faces and Galerkin products. Only where one of these needs it */
  gmg_map average[3];      /* for data (f, g of a full multigrid start, sigma); rows sum to 1. Only with fmg or sigma */
  gmg_map faces_map[3];    /* selects the coarse faces along an axis. Only with coefficients on faces */
  gmg_map interpolate[3];  /* for solutions of a full multigrid start, from padded values. Only with fmg */
  gmg_black_box black_box; /* transfers to and from the next coarser level, instead of maps. Only with black box coarsening */
  gmg_faces faces;
  void *u, *f;             /* on level 0 only in low precision, or if cycles are not in_place */
  void *r;
  void *padded;            /* u with a layer of values beyond the walls, for interpolation to the next finer level. Only with fmg,
                              not on level 0 */
  gmg_smoother_level view; /* the smoother's view */
} gmg_level;

enum { GMG_MAX_OUTER_LEVELS = 32 }; /* 2^32 unknowns cannot be halved more often */

/* Scales of low precision, in exec's memory. All zeros except `one`: nothing is known yet. */
typedef struct gmg_scales {
  gmg_scale residual; /* of the residual in level[0].f */
  gmg_scale data;     /* of the data of a full multigrid start */
  double one;         /* 1 */
} gmg_scales;

/* The smallest eigenvalue where shift or sigma is below zero (hierarchy/spectrum.c). */
typedef struct gmg_spectrum {
  double smallest;                   /* of A, estimated; NaN: not needed */
  double correction[GMG_MAX_LEVELS]; /* added to the shift of a level */
} gmg_spectrum;

/* Ranges and means of the coefficient arrays. */
typedef struct gmg_coefficients {
  double beta_mean[3], beta_least, beta_most; /* 1 if beta is not given */
  double sigma_least, sigma_mean, sigma_most;
  char asymmetry[GMG_ASYMMETRY_TEXT], penalty[GMG_PENALTY_TEXT]; /* as in gmg_measured */
  gmg_spectrum spectrum;
} gmg_coefficients;

/* The bottom of a cycle: a solver of one or more levels. */
typedef struct gmg_bottom {
  int level; /* the finest level that it solves */
  const gmg_bottom_ops *ops;
  void *state;
  gmg_bottom_problem *problem;
} gmg_bottom;

/* The parts of a cycle. The solver has one, built at create. watch.c makes a modified copy of it. */
typedef struct gmg_legs gmg_legs;
/* Prepares the ghosts of u, which another operation of the cycle has written, for an operation that reads them (legs.c). */
typedef void gmg_refresh(const gmg_exec *e, const gmg_operator *A, const void *u);
typedef struct gmg_multigrid {
  struct gmg_solver *solver;
  const gmg_exec *exec; /* exec of the levels */
  const gmg_grid_ops *grid;
  int levels;
  const gmg_level *level;
  const gmg_operator_ops *op[GMG_MAX_LEVELS];       /* each for the kind of operator of its level */
  const gmg_smoother_ops *smoother[GMG_MAX_LEVELS];
  const gmg_fused_ops *fused[GMG_MAX_LEVELS];       /* NULL: none */
  void *state[GMG_MAX_LEVELS];           /* states of the smoother */
  const gmg_legs *legs[GMG_MAX_LEVELS];
  gmg_refresh *refresh;                  /* of the ghosts of u within a visit to a level */
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
  int has_boundary_values; /* solver.has_boundary_values when the work was recorded */
  gmg_cycle_kind cycle;    /* params.cycle when the work was recorded */
  gmg_graph *graph;        /* NULL: not recorded yet */
} gmg_recording;
enum { GMG_RECORDINGS = 8 };

struct gmg_solver {
  gmg_context *context;  /* BORROWED */
  gmg_exec exec;         /* for fields in the problem's type: u, f, residuals, directions */
  gmg_exec low_exec;     /* for the levels, if corrections are in low precision */
  gmg_exec *levels_exec; /* exec of the levels: &low_exec or &exec */
  gmg_problem problem;   /* resolved; coord, stencil: own copies; of the other arrays only whether they are NULL */
  gmg_problem mine;      /* problem, with the sizes of this process's arrays */
  gmg_stencil box;       /* problem.stencil, if there is one */
  gmg_coefficients coefficients;
  gmg_residual_layouts layouts; /* of the caller's f and u, whose pointers are to unknown (0, 0, 0), and of own residuals */
  gmg_residual_layouts layouts_with_f_eff; /* of f_eff, of the caller's u, and of own residuals */
  /* In several processes (parts/parts.h): */
  int parts;             /* number of levels that are cut: the first ones, or all of `level`. 0: one process holds all */
  gmg_part *part;        /* [GMG_MAX_LEVELS] this process's part of each */
  struct {
    void *f, *u, *beta, *sigma, *beta_face[3], *flux_u, *flux[2]; /* with ghosts; f, u: NULL if the caller's arrays have them */
    const void *given_f, *given_u;             /* the caller's */
  } copies;
  struct gmg_solver *whole; /* of the small levels: its finest is the coarsest of `level` */
  int levels_in_all;     /* those of `whole` included */
  int has_coarsest;      /* 1: the last level is the coarsest grid. 0: it is the finest of `whole` */
  const gmg_axis_spec *from; /* the axes of the finest level of such a solver; NULL: the problem's */
  int finer_levels;          /* the number of levels that are finer than level[0]; not 0 only in such a solver */
  const gmg_operator *finer; /* the next of these; NULL: none. BORROWED */

  int in_place;          /* cycles in the problem's type improve the caller's u. Otherwise they compute corrections in own fields */
  gmg_params params;     /* resolved: with AUTO, zeros and GMG_NONE replaced, except as gmg_smoother_level::params says */
  gmg_medium medium;     /* from which the smoother was chosen */
  int cycle_is_auto;        /* params.cycle was GMG_CYCLE_AUTO */
  gmg_cycle_kind slow_cycle; /* finishes a slow solve. params.cycle: there is no other */
  int accel_is_auto;        /* params.accel was GMG_ACCEL_AUTO */
  int coarse_is_auto;       /* params.coarse was GMG_COARSE_AUTO */
  int over_correction_varies; /* gmg chooses params.over_correction at create, and again at update */
  int smoother_is_auto;     /* gmg_leaves_smoother_open() */
  int checks_are_auto;      /* params.check_every was 0 and is a maximum: a solve measures the residual where it needs to */
  int singular;
  int symmetric;         /* the cycle is to be its own adjoint: the upward leg sweeps in reversed order */
  int has_boundary_values; /* some face was given boundary values other than 0, now or earlier */
  int update_failed;             /* the last update failed half-way: only another one helps */
  const char *running; /* the public call that has not returned yet: a monitor or a smoother must not make others; or NULL */
  const gmg_vector_ops *vector;   /* of exec */
  const gmg_grid_ops *grid;       /* of exec */
  const gmg_operator_ops *op;     /* of exec, for the problem's kind of operator */

  int levels;
  gmg_level level[GMG_MAX_LEVELS];
  gmg_level *finest;     /* finest grid in the problem's type: operator and boundary values */
  gmg_level outer[GMG_MAX_OUTER_LEVELS]; /* outer levels: the first levels once more, in the problem's type, if `level` is in
                                                low precision. u is improved there by corrections. With fmg they also have maps to
                                                and from the next coarser level */
  int outer_levels;    /* number of outer levels: the finest and, with fmg, those on which rounding would spoil the start */
  gmg_map single_cell_map[2]; /* [gmg_type] identity on an axis with one unknown, for the normal axis of a face */

  gmg_multigrid mg;
  const gmg_bottom_ops *coarse_ops; /* solver of the coarsest grid (params.coarse) */
  gmg_bottom coarsest_bottom; /* for the coarsest level alone */
  gmg_bottom_problem bottom_problem[2]; /* of `coarsest_bottom`, and of mg.bottom if it differs */

  const struct gmg_method *method;              /* how a cycle improves u */
  const struct gmg_correction_ops *corrections; /* how a correction is computed from a residual */
  const struct gmg_fmg_ops *fmg;                /* functions of a full multigrid start, for two or more levels */
  gmg_scales *scales;     /* in exec's memory; only with low precision */
  void *fmg_base;         /* u of level 1 in the problem's type, in a full multigrid start; NULL: not needed (gmg_takes_base()) */
  int f_keeps_mean;       /* scales->residual.mean may differ from 0 */
  void *f_eff;            /* fine field: f with boundary values folded in, and unless f_keeps_mean the mean removed */
  struct {
    void *r, *z, *p, *last_p, *q;
  } krylov;               /* fine fields of the acceleration: the residual r, z = B r, the direction p, and q = A p. In low
                             precision z is u of level 0, and r is its f or, with one level, a copy of it; last_p is the direction
                             before p, where u takes two steps at once, otherwise NULL */
  gmg_cg_scalars *cg;     /* scalars of p, in exec's memory */
  double *history;        /* [max_cycles + 1] */
  gmg_level_report report[GMG_MAX_LEVELS];
  gmg_clock clock;        /* a timer for each level */
  gmg_recording recording[GMG_RECORDINGS];
  unsigned next_recording; /* the next to be replaced, modulo their number */
  int replay_depth;              /* > 0 inside work that is recorded or replayed as a whole: its parts are not recorded
                                    separately */
  int recording_failed;      /* the work cannot be recorded, because the host takes part in it */
};

#define GMG_EXTREME 1e100 /* beyond it volumes and inner products may overflow */

/* Counts time for the level until the next level's timer starts, and shows profilers the operation until the end of the
   enclosing block. */
#define GMG_AT_LEVEL(s, level, operation) \
  gmg_start_timer((s), (level));               \
  GMG_PROFILE((s)->levels_exec, (level), (operation))

static inline void gmg_start_timer(gmg_solver *s, int level)
{
  if (s->clock.runs) s->exec.trace->start_timer(s->context, &s->clock, level);
}

/* The operator of level l of all levels: of the whole level where it is gathered, otherwise of this process's part. */
static inline const gmg_operator *gmg_operator_of_level(const gmg_solver *s, int l)
{
  const int gathered = s->levels - 1;
  return s->whole && l >= gathered ? &s->whole->level[l - gathered].A : &s->level[l].A;
}

static inline gmg_layout gmg_layout_of_rhs(const gmg_solver *s, const void *f)
{
  return f == s->f_eff ? s->layouts_with_f_eff.f : s->layouts.f;
}

/* The finest operator for operations on the caller's arrays. f: the right-hand side that is meant, the caller's or f_eff. */
static inline gmg_operator gmg_operator_on_arrays(const gmg_solver *s, const void *f)
{
  const gmg_residual_layouts *at = f == s->f_eff ? &s->layouts_with_f_eff : &s->layouts;
  gmg_operator A = s->finest->A;
  A.caller_layouts = gmg_is_packed(at->f) && gmg_is_packed(at->u) ? NULL : at;
  return A;
}

/* If the problem is singular, removes from x the mean that rounding has introduced. x is a field of level L. */
static inline void gmg_project(const gmg_solver *s, const gmg_exec *e, const gmg_level *L, void *x)
{
  if (s->singular) gmg_grid_ops_of(e)->remove_mean(e, &L->A, L->volume, x);
}

/* If the problem is singular, removes the mean of the caller's u. */
static inline void gmg_project_u(const gmg_solver *s, void *u)
{
  const gmg_operator A = gmg_operator_on_arrays(s, s->f_eff);
  if (s->singular) s->grid->remove_mean(&s->exec, &A, s->finest->volume, u);
}

/* ||x||_2 of f, f_eff or u, over all processes. at: its layout */
static inline double gmg_norm_of_array(const gmg_solver *s, gmg_layout at, const void *x)
{
  return s->parts ? gmg_field_norm2(&s->exec, &s->finest->A, x) : gmg_array_norm2(&s->exec, at, x);
}

/* scale[0] z as a correction of a field in the problem's type. z: a field of a level, or NULL */
static inline gmg_correction gmg_correction_from_levels(const gmg_solver *s, const void *z, const double *scale)
{
  return gmg_correction_from(s->levels_exec, &s->exec, z, scale);
}

/* Adds c to the caller's u. */
static inline void gmg_add_correction(const gmg_solver *s, gmg_correction c, void *u)
{
  if (c.z) gmg_array_correct(&s->exec, s->layouts.u, c, 1, u);
}

/* defaults.c: the caller's structs, with zeros, AUTO and GMG_NONE replaced by what they stand for. gmg_smoother_level::params lists
   the members that keep 0 or AUTO, because the choice depends on the levels. coarse_rtol keeps 0 until the precision is chosen. */
extern const gmg_option gmg_cycle_options[];
int gmg_is_default_smoother(const gmg_smoother *s); /* or none was given */
gmg_problem gmg_problem_resolved(const gmg_problem *given);
int gmg_leaves_smoother_open(const gmg_params *given); /* neither a smoother nor a parameter of the default one is given */
gmg_params gmg_params_resolved(const gmg_params *given, const gmg_problem *problem);

/* check.c: checks every argument before anything is built, and resolves it. Error texts name the argument and its value.
   stencil: receives the problem's stencil, if there is one; resolved->stencil then points to it. */
/* The part of gmg_check_problem() that concerns the grid: sizes, mesh widths, walls. */
gmg_status gmg_check_grid(gmg_context *c, const gmg_problem *given, gmg_problem *resolved, gmg_stencil *stencil);
gmg_status gmg_check_problem(gmg_context *c, const gmg_problem *given, gmg_problem *resolved, gmg_stencil *stencil);
gmg_status gmg_check_params(gmg_context *c, const gmg_problem *resolved_problem, const gmg_params *given, gmg_params *copied,
                            gmg_params *resolved); /* copied: given, in a struct of this version */

/* hierarchy/coefficients.c: checks the arrays and refuses bad values; stores them on all levels. whole: the problem with the sizes
   of the whole grid; p: with those of the arrays. The measures are taken at create only, because updates keep the smoother. */
double gmg_measure_turn(const gmg_exec *e, const gmg_problem *whole, const gmg_problem *p); /* gmg_medium::turn */
double gmg_measure_jumps(const gmg_exec *e, const gmg_problem *p);                          /* gmg_medium::jumps */
gmg_status gmg_check_coefficients(const gmg_exec *e, const gmg_problem *whole, const gmg_problem *p, const gmg_part *part,
                                  gmg_coefficients *found); /* part: of the finest level; NULL: all */
/* Refuses a matrix that is not symmetric where the parameters need one, or where it is singular. */
gmg_status gmg_check_symmetry(const gmg_solver *s, const gmg_problem *p, const gmg_coefficients *found);
void gmg_load_coefficients(gmg_solver *s, const gmg_problem *p);
void gmg_coarsen_coefficients(gmg_solver *s); /* the last part of gmg_load_coefficients(): those of the finest level are set */

/* update.c: the shift and the typical couplings of level l */
void gmg_set_typical(gmg_level *L, int l, const gmg_problem *p, const gmg_coefficients *found);

/* hierarchy/spectrum.c: sets found->spectrum, and refuses a matrix that is not positive definite. Builds and releases a solver with
   the parameters of s, of which it reads nothing else. p: with the caller's arrays */
gmg_status gmg_find_spectrum(const gmg_solver *s, const gmg_problem *p, gmg_coefficients *found);

/* hierarchy/hierarchy.c */
gmg_status gmg_hierarchy_create(gmg_solver *s);
/* The axis along which the smoother solves exactly, if there is one such axis. Levels are not coarser along it: every mode of the
   axis is then a problem of its own on the other axes, with a larger shift. -1: there is none, or several. */
int gmg_exact_axis(const gmg_solver *s);
gmg_status gmg_update_smoothers(gmg_solver *s); /* after create, and after A's values have changed */
void gmg_hierarchy_destroy(gmg_solver *s); /* destroys the smoothers' states; memory is released with exec */
/* Creates the operator and the boundary rules of the grid of level l with these axes, and on request fields for boundary
   values. */
gmg_status gmg_create_grid(gmg_solver *s, gmg_exec *e, gmg_level *L, int l, const gmg_axis axis[3], int with_values);
gmg_status gmg_create_field(gmg_exec *e, const char *what, size_t cells, void **p);
gmg_status gmg_create_correction_fields(gmg_solver *s, size_t room); /* f and u of level 0; u has at least `room` bytes */
size_t gmg_padded_cells(const gmg_operator *A); /* number of values of a padded field (gmg_level::padded) */

/* hierarchy/over_correction.c */
const char *gmg_no_over_correction(const gmg_problem *p, const gmg_params *q); /* what rules it out; NULL: nothing does */
void gmg_choose_over_correction(gmg_solver *s, int has_third); /* level 0 exists; has_third: there are three levels or more */
double gmg_scale_of_level(const gmg_solver *s, int l); /* gmg_level::scale */
gmg_status gmg_keep_rows(const gmg_solver *s, gmg_exec *e, gmg_level *L, int l, const gmg_axis axis[3]); /* for updates */
void gmg_update_over_correction(gmg_solver *s);                /* the shift of level 0 has changed */

/* hierarchy/precision.c: chooses the precision of corrections. Fails if mixed precision was requested and is not possible. */
gmg_status gmg_check_sweep(gmg_context *c, const gmg_smoother_ops *ops, const gmg_params *p); /* ops: the smoother's functions for
                                                                                                 the problem's type, if any */
gmg_status gmg_choose_precision(gmg_solver *s);
gmg_status gmg_check_precision(gmg_solver *s); /* checks a solver in mixed precision after its coefficients have changed */
int gmg_fmg_needs_outer_level(const gmg_solver *s, const gmg_operator *A); /* whether a full multigrid start would lose
                                                                                 accuracy if all levels coarser than that of A had
                                                                                 u in low precision */

static inline int gmg_has_black_box(const gmg_solver *s) { return s->params.coarsening == GMG_COARSENING_BLACK_BOX; }

/* solver.c: create on any exec; gmg_plan() uses a dry one. Call gmg_solver_release() even if this fails. */
gmg_status gmg_solver_build(gmg_solver *s, gmg_context *c, const gmg_problem *p, const gmg_params *params, int dry);
void gmg_solver_release(gmg_solver *s);

/* With the sizes of this process's arrays: all of them, or its part's. */
static inline gmg_problem gmg_as_mine(const gmg_solver *s, const gmg_problem *p)
{
  gmg_problem q = *p;
  for (int a = 0; a < 3; a++) q.n[a] = s->mine.n[a];
  return q;
}

gmg_medium gmg_medium_of(const gmg_problem *p); /* without what only coefficients tell */
double gmg_worst_stretch(const gmg_medium *m);  /* of all axes */
gmg_status gmg_status_or_failure(gmg_solver *s, gmg_status status); /* status, or GMG_ERR_DEVICE if the device has
                                                                       failed */
int gmg_is_singular(const gmg_problem *p, const gmg_coefficients *found);
/* Whether sigma, shift included, is below zero anywhere. A may then be indefinite. */
int gmg_needs_spectrum(const gmg_problem *p, const gmg_coefficients *found);
/* arrays.c: the caller's arrays. Pointers of the API are to the beginning of an array, all others to its first unknown. */
gmg_status gmg_check_layouts(gmg_context *c, const gmg_problem *p);
gmg_array gmg_array_of_f(const gmg_problem *p, const void *f); /* f, r: of f_layout */
gmg_array gmg_array_of_u(const gmg_problem *p, const void *u); /* u, z: of u_layout */
gmg_array gmg_reach_of_f(const gmg_problem *p, const void *f); /* with the halo; f is not NULL */
gmg_array gmg_reach_of_u(const gmg_problem *p, const void *u);
int gmg_overlap(gmg_type type, gmg_array a, gmg_array b); /* whether a value of a is one of b */

/* call.c: refuse a public call. Call them before GMG_WITH_DEVICE.
   - idle: if another call is running on the solver, if a child of fork() would need its parent's device or threads, or if the
     device has failed.
   - usable: also if the last update failed half-way.
   - readable: like usable, but other calls may be running, because this one changes nothing in the solver. */
gmg_status gmg_check_idle(gmg_solver *s, const char *call);
gmg_status gmg_check_usable(gmg_solver *s, const char *call);
gmg_status gmg_check_readable(gmg_solver *s, const char *call);
int gmg_has_parallel_work(const gmg_problem *p); /* fields are long enough for several threads */

/* Marks the call as running on the solver until the end of the enclosing block, even on an early return. */
#define GMG_RUNNING(s, call) \
  gmg_solver *const gmg_running_ __attribute__((cleanup(gmg_running_end), unused)) = gmg_running_begin((s), (call))

static inline gmg_solver *gmg_running_begin(gmg_solver *s, const char *call)
{
  s->running = call;
  return s;
}

static inline void gmg_running_end(gmg_solver *const *s) { (*s)->running = NULL; }

/* iterate/floor.c */
double gmg_norm_bound(const gmg_solver *s, const gmg_operator *A); /* a bound of ||A|| without the array sigma */
double gmg_amplification(const gmg_solver *s, const gmg_operator *A); /* about ||A|| ||u|| / ||f|| for a smooth f: ||A|| over the
                                                                         smallest eigenvalue */
double gmg_floor_estimate(const gmg_solver *s);       /* a priori estimate of ||r|| / ||f|| for a smooth f */
double gmg_low_floor(const gmg_solver *s, const gmg_operator *A); /* that estimate for operator A in low precision */
double gmg_low_floor_of(const gmg_solver *s, const gmg_operator *A, double u_over_f); /* the same for ||u|| / ||f|| */
double gmg_fmg_rounding(const gmg_solver *s, const gmg_operator *A); /* estimated rounding / error of the scheme of a full multigrid
                                                                        start, up to a constant */
double gmg_floor_of(gmg_solver *s, const void *u);    /* unit roundoff times || |A| |u| ||_2 */

/* lfa.c: spectral radius of the two-grid cycle on an infinite grid, the largest over a grid of frequencies: all multiples of 2 pi /
   samples that the coarse grid represents, except the constants. A gives couplings and coarsened axes. For a periodic problem with
   `samples` unknowns per axis this is the exact factor. NaN if the smoother has no symbol. */
double gmg_lfa_two_grid(const gmg_operator *A, const gmg_params *params, int symmetric, int samples);

#endif
