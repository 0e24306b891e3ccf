/* Built-in smoothers: their private members besides the public gmg_smoother, and their registry. Calls core and stencil; called by
   mg. */
#ifndef GMG_SMOOTHER_PRIVATE_H
#define GMG_SMOOTHER_PRIVATE_H

#include "core/exec.h"
#include "core/names.h"
#include "gmg_smoother.h"
#include "smoothers/fused.h"
#include "stencil/grid_ops.h"

#include <stddef.h>

/* A member of gmg_params: how it is checked, and what 0 stands for. COUNT: an int that may be GMG_NONE. SIZES: size_t[3] of any
   value. */
typedef enum { GMG_OPTION_INT, GMG_OPTION_COUNT, GMG_OPTION_ENUM, GMG_OPTION_DOUBLE, GMG_OPTION_SIZES } gmg_option_type;
typedef struct gmg_option {
  const char *name; /* name of the member; NULL ends a table */
  gmg_option_type type;
  size_t offset;    /* offset of the member */
  double fallback;  /* what 0 stands for; 0: the member stays 0, and other code interprets it */
  double least, most; /* 0, or least <= value <= most; for doubles least <= value < most */
  const gmg_names *names; /* names of an enum's values */
} gmg_option;

/* A row of a table of options, for example GMG_OPTION(INT, passes, 1, 1, 100). */
#define GMG_OPTION(type, member, fallback, least, most) \
  {#member, GMG_OPTION_##type, offsetof(gmg_params, member), fallback, least, most, NULL}
/* GMG_ENUM_OPTION(async.local, local, GMG_LOCAL_RED_BLACK): any of gmg_local_names. */
#define GMG_ENUM_OPTION(member, names, fallback) \
  {#member, GMG_OPTION_ENUM, offsetof(gmg_params, member), fallback, 0, 0, &gmg_##names##_names}

/* A named set of smoothing parameters (gmg_params_set_preset()). */
typedef struct gmg_preset {
  const char *name;
  void (*use)(gmg_params *params); /* called after all options of all smoothers were set to their defaults */
} gmg_preset;

/* Effect of one smoothing step on Fourier modes. */
typedef struct gmg_symbol gmg_symbol; /* fourier.h */
typedef void gmg_symbol_function(const gmg_operator *A, const gmg_params *params, gmg_leg leg, gmg_symbol *out);

/* Traits of a fixed linear map with an adjoint. For gmg_smoother::traits. */
unsigned gmg_traits_of_fixed_map(const gmg_params *params, int threads);

/* What is known of a problem when its smoother is chosen. */
typedef struct gmg_medium {
  gmg_backend backend;
  int dim;
  double unknowns;
  double stretch[3]; /* largest over smallest mesh width of each axis */
  int has_beta;      /* beta is an array, or one for each axis */
  double turn;       /* In some rows the couplings along one axis are at least this many times those along another, in other rows
                        the reverse is true. 1: nowhere, or not measured */
  double jumps;      /* of beta, by more than GMG_JUMP, along a line of unknowns: their mean number for the axis that has most. 0:
                        not measured */
  int may_have_black_box; /* black box coarsening is possible and not excluded */
  int has_faces;     /* beta is on faces */
  double islands;    /* The array beta has about two values, and the parts that conduct better are a few unknowns wide: the share of
                        unknowns in them. 0: otherwise */
} gmg_medium;

/* Beyond this stretch an axis has strong and weak couplings: point smoothers are slow. */
enum { GMG_STRETCH_LIMIT = 3 };

/* A smoother of the library. Each folder NAME defines one, gmg_smoother_NAME, in NAME/NAME.c. */
typedef struct gmg_builtin_smoother {
  gmg_smoother base;                    /* the public part */
  gmg_symbol_function *symbol;          /* NULL: gmg_plan() predicts no factor */
  /* The number of sweeps of a bottom solver over the small level A that are equivalent to one step. They are red-black; across the
     seam of an odd periodic axis two unknowns of one colour are relaxed at the same time. One kernel can then process all small
     levels of a cycle. NULL or 0: a step is not equivalent to such sweeps. */
  int (*bottom_sweeps)(const gmg_params *params, const gmg_operator *A);
  /* Weights of the half sweeps of a step, in their order. NULL: all are base.weight(). */
  void (*half_sweep_weights)(const gmg_operator *A, const gmg_params *params, gmg_leg leg, double weight[GMG_HALF_SWEEPS]);
  /* The best over-correction (gmg_params::over_correction) for one step in each leg of a V cycle over three levels or more. A: on
     the finest. mirrored: the share of axes with a wall that gives the normal derivative. NULL: 1 */
  double (*over_correction)(const gmg_operator *A, const gmg_params *params, double mirrored);
  /* Chooses parameters that are 0, and that depend on the problem. GMG_NONE has not become 0 yet. NULL: there are none. */
  void (*choose)(const gmg_problem *problem, gmg_params *params);
  /* Whether gmg should choose this smoother for the medium. NULL: never. If none suits, gmg chooses the default. */
  int (*suits)(const gmg_medium *m);
  /* Whether black box coarsening pays with this smoother, also where the array beta does not jump. NULL: it does not. */
  int (*likes_black_box)(const gmg_medium *m);
  /* Chooses parameters that are 0, and that depend on the medium. NULL: there are none. */
  void (*adapt)(const gmg_medium *m, gmg_params *params);
  /* Axes along which a step solves exactly, as bits 1 << axis. NULL: none. */
  unsigned (*exact_axes)(const gmg_params *params);
  /* Planes beside a box whose values a step reads, directly or through unknowns that it relaxes. relaxes_ghosts: as in gmg_part. In
     several processes they must be few (core/comm.h). has_seams: some axis is periodic. 0: more than a few. NULL: 0 */
  int (*ghosts)(const gmg_params *params, int has_seams, int relaxes_ghosts);
  const gmg_fused_ops *fused[2][2];     /* by gmg_backend and gmg_type; for the 7-point operator; NULL: none */
  const gmg_smoother_ops *box[2][2];    /* for box stencils, as base.ops; NULL: `any` */
  const gmg_smoother_ops *box_arrays[2][2]; /* for variable box stencils; NULL: `box` */
  const gmg_smoother_ops *any;          /* for all other operators, by gmg_operator_ops, on all backends; NULL: none */
  const gmg_option *options;            /* its parameters; NULL: none */
  gmg_preset preset;                    /* name = NULL: none */
} gmg_builtin_smoother;

const gmg_builtin_smoother *gmg_builtin_at(int i);                 /* NULL past the last */
const gmg_builtin_smoother *gmg_builtin_of(const gmg_smoother *s); /* NULL: a user's smoother */

/* Of params->smoother. NULL: not available for this kind of operator */
const gmg_smoother_ops *gmg_smoother_ops_of(const gmg_params *params, const gmg_exec *e, const gmg_operator_kind *kind);
unsigned gmg_smoother_traits(const gmg_params *params, int threads); /* GMG_SMOOTHER_* bits of params->smoother */
int gmg_bottom_sweeps(const gmg_params *params, const gmg_operator *A); /* of params->smoother; 0: none */
/* gmg_builtin_smoother::half_sweep_weights of params->smoother */
void gmg_half_sweep_weights(const gmg_operator *A, const gmg_params *params, gmg_leg leg, double weight[GMG_HALF_SWEEPS]);
double gmg_over_correction_of_smoother(const gmg_operator *A, const gmg_params *params, double mirrored); /* of params->smoother */
unsigned gmg_exact_axes(const gmg_params *params); /* of params->smoother, as bits 1 << axis */
/* gmg_builtin_smoother::ghosts of params->smoother */
int gmg_ghosts_of_smoother(const gmg_params *params, const gmg_problem *p, int relaxes_ghosts);
/* The smoother that suits the medium and is available for this kind of operator; NULL: there is none. */
const gmg_smoother *gmg_smoother_for(const gmg_medium *m, const gmg_exec *e, const gmg_operator_kind *kind);
int gmg_smoother_likes_black_box(const gmg_medium *m, const gmg_params *params);
void gmg_smoother_adapt(const gmg_medium *m, gmg_params *params); /* params->smoother is set */
/* 0 becomes what it stands for, and GMG_NONE becomes 0, in the options of all smoothers. */
void gmg_smoothers_resolve(const gmg_problem *problem, gmg_params *params);
gmg_symbol_function *gmg_symbol_of(const gmg_smoother *s);           /* NULL: none */
const gmg_preset *gmg_preset_at(int i);                              /* of all smoothers; NULL past the last */
void gmg_set_default_options(gmg_params *params);                    /* of all smoothers */

/* Functions for the members of one table. set_default: integers become what 0 stands for; all others become 0, which means
   automatic. resolve: 0 becomes what it stands for, and GMG_NONE becomes 0. */
void gmg_options_set_default(const gmg_option *table, gmg_params *params);
void gmg_options_resolve(const gmg_option *table, gmg_params *params);

/* For texts: a user's smoother may have no name. */
static inline const char *gmg_display_name(const gmg_smoother *s) { return s->name ? s->name : "(no name)"; }

/* The inner smoother of an offloading smoother; s itself if it does not offload. Defined in offload/offload.c. */
const gmg_smoother *gmg_offloaded(const gmg_smoother *s);

#endif
