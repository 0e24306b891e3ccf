/* The small levels of a cycle in one go. Where a level is so small that starting an operation takes longer than doing it, a
   backend may run all that a cycle does from there down by itself: smoothing, transfers, the coarsest grid. Calls core and
   stencil; called by mg, which fills in the levels. */
#ifndef GMG_COARSE_FUSED_LEVELS_H
#define GMG_COARSE_FUSED_LEVELS_H

#include "stencil/stencil.h"

enum { GMG_TAIL_LEVELS = 12 };

typedef struct gmg_tail_level {
  gmg_operator A;
  gmg_map prolong[3], restrict_[3]; /* to and from the next coarser level; not on the coarsest */
  double volume, omega;
  void *u, *f; /* fields of the level */
  int by_faces; /* prolongation to it follows the coefficients */
} gmg_tail_level;

typedef struct gmg_tail_problem {
  int levels; /* at least 2, the coarsest included */
  gmg_tail_level level[GMG_TAIL_LEVELS];
  int pre, post; /* red-black sweeps over the whole level */
  int reversed;  /* on the upward leg */
  int singular;
  double rtol; /* of conjugate gradients on the coarsest grid */
} gmg_tail_problem;

typedef struct gmg_tail_ops {
  int (*fits)(const gmg_exec *e, const gmg_tail_problem *p); /* whether it can be done */
  gmg_status (*setup)(gmg_exec *e, const gmg_tail_problem *p, void **state);
  void (*update)(const gmg_exec *e, const gmg_tail_problem *p, void *state); /* operators, weights, singular are new */
  /* A cycle from level l of the problem: u of that level, from f of it, and from zero or from the u that stands there. */
  void (*cycle)(const gmg_exec *e, void *state, int l, gmg_cycle_kind kind, int from_zero);
  void (*destroy)(gmg_exec *e, void *state);
} gmg_tail_ops;

const gmg_tail_ops *gmg_tail_of(const gmg_exec *e, int which); /* 0, 1, ...: those that a backend has, then NULL */

#endif
