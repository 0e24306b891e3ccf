/* Fused legs of a cycle: a built-in smoother's kernels that smooth and transfer in one pass over memory instead of two or three.
   Private, for they need the maps between levels. Called by mg. */
#ifndef GMG_SMOOTHERS_FUSED_H
#define GMG_SMOOTHERS_FUSED_H

#include "core/types.h"
#include "gmg_smoother.h"
#include "stencil/grid/map.h"

/* Destination of the last post-smoothing: x = size[0] u + keep x, u being what the sweep leaves. */
typedef struct gmg_update_target {
  void *x;                 /* field of the level's size in double */
  const double *size;      /* one double in exec's memory; NULL: 1 */
  int keep;                /* 1, or 0: x is not read and need not hold numbers */
  const void *coarse;      /* the next coarser level's u, interpolated and added to u before the sweep; NULL: no correction */
  const gmg_map *prolong;  /* that interpolation, a map to an axis */
} gmg_update_target;

/* All functions are there. Like sweeps they only enqueue on a device. A u that is not the destination is undefined afterwards. */
typedef struct gmg_fused_ops {
  /* Sweeps with GMG_LEG_DOWN, then restricts the residual into `coarse`, a field of the next coarser level. Writes the smoothed u
     to `to`, which is u, or another field if double_buffered() returned 1. Returns 1; or 0, with nothing done, where it cannot. */
  int (*presmooth_restrict)(const gmg_smoother_level *level, void *state, const void *f, void *u, void *to, int steps,
                            gmg_start start, const gmg_map *restrict_, void *coarse);
  /* Adds the coarse correction if there is one, sweeps, and writes to the target instead of u. Returns 1; or 0, with nothing done,
     where it cannot with these arguments: a caller may then ask again without the correction. */
  int (*postsmooth_update)(const gmg_smoother_level *level, void *state, const void *f, void *u, int steps, gmg_leg leg,
                           const gmg_update_target *to);
  /* Whether u may alternate between two fields: presmooth_restrict() writes it to the other field, and postsmooth_update() brings
     it back with the coarse correction, so that prolongation needs no pass of its own. 1 promises both, for the steps of the
     level's parameters and either start. Asked at create, after setup. */
  int (*double_buffered)(const gmg_smoother_level *level, const void *state, const gmg_map *restrict_, const gmg_map *prolong);
} gmg_fused_ops;

/* The fused legs of a built-in smoother on exec's backend and type. NULL: a user's smoother, or there are none. */
const gmg_fused_ops *gmg_fused_of(const gmg_smoother *s, const gmg_exec *e);

#endif
