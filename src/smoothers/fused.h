/* Fused legs of a cycle: kernels of a built-in smoother that smooth and transfer in one pass over memory, instead of two or three.
   Not public, because they need the maps between levels. Called by mg. */
#ifndef GMG_SMOOTHERS_FUSED_H
#define GMG_SMOOTHERS_FUSED_H

#include "core/layout.h"
#include "gmg_smoother.h"
#include "stencil/grid/map.h"

/* Destination of the last post-smoothing step: x = scale[0] u + keep x + base, where u is the result of the sweep. */
typedef struct gmg_update_target {
  void *x;                 /* field or array of the level's size, in double */
  int is_field;            /* 1: x is a field of the level, in the level's type; then scale = NULL and keep = 0 */
  gmg_layout layout;       /* its layout */
  const double *scale;     /* one double in exec's memory; NULL: 1 */
  int keep;                /* 1, or 0: x is not read, and may contain anything */
  const void *coarse;      /* u of the next coarser level, which is interpolated and added to u before the sweep; NULL: no
                              correction */
  const gmg_map *prolong;  /* maps of that interpolation, one per axis */
  const void *base;        /* a field of the next coarser level, in double, whose interpolation is the base; NULL: no base. Only
                              if takes_base() returned 1 */
  const gmg_map *base_map; /* maps of that interpolation, with weights in double. They read the same columns as `prolong` */
} gmg_update_target;

/* All functions are set. On a device they only enqueue. A u that is not the destination is undefined afterwards. */
typedef struct gmg_fused_ops {
  /* Sweeps with GMG_LEG_DOWN, then restricts the residual to `coarse`, a field of the next coarser level. Writes the smoothed u to
     `to`. That is u, or another field if double_buffered() returned 1. Returns 1 if done. Returns 0, with nothing done, if it does
     not support the arguments. */
  int (*presmooth_restrict)(const gmg_smoother_level *level, void *state, const void *f, void *u, void *to, int steps,
                            gmg_start start, const gmg_map *restrict_, void *coarse);
  /* Adds the coarse correction, if there is one, sweeps, and writes to the target instead of u. Returns 1 if done. Returns 0, with
     nothing done, if it does not support the arguments. The caller may then call it again without the correction. */
  int (*postsmooth_update)(const gmg_smoother_level *level, void *state, const void *f, void *u, int steps, gmg_leg leg,
                           const gmg_update_target *to);
  /* Whether u alternates between two fields. presmooth_restrict() then writes u to the other field, and postsmooth_update() writes
     it back. 1 promises the former for both starts, and the latter without the coarse correction; on a part of a level
     (core/part.h) also with it. Both for the steps in the level's parameters. Called at create, after setup. */
  int (*double_buffered)(const gmg_smoother_level *level, const void *state, const gmg_map *prolong);
  /* Whether postsmooth_update() takes this target, which has a base, wherever its arrays lie. */
  int (*takes_base)(const gmg_smoother_level *level, const void *state, int steps, const gmg_update_target *to);
} gmg_fused_ops;

/* The fused legs of params->smoother for exec's backend and type. NULL: a user's smoother, no fused legs, or not for this kind of
   operator. They refuse the levels that they do not take. */
const gmg_fused_ops *gmg_fused_of(const gmg_params *params, const gmg_exec *e, const struct gmg_operator_kind *kind);

#endif
