/* What ends the recursion of a multigrid cycle: a solver of the coarsest grid, or all small levels in one kernel. One interface for
   both. Singular problems: the mean is taken off the right-hand side and the solution. Calls core and stencil; called by mg,
   which describes the levels. */
#ifndef GMG_COARSE_BOTTOM_H
#define GMG_COARSE_BOTTOM_H

#include "core/types.h"
#include "stencil/stencil.h"

enum { GMG_BOTTOM_LEVELS = 12 };

typedef struct gmg_bottom_level {
  const gmg_operator *A;              /* BORROWED, as are the maps */
  const gmg_map *prolong, *restrict_; /* [3] from and to the next coarser level; a coarsest grid alone has none */
  double volume;                      /* sum of the control volumes */
  double omega;                       /* weight of the smoother */
  int by_faces;                       /* prolongation to this level follows the coefficients */
} gmg_bottom_level;

typedef struct gmg_bottom_problem {
  int levels; /* 1: the coarsest grid alone */
  gmg_bottom_level level[GMG_BOTTOM_LEVELS]; /* finest first */
  gmg_coarse_kind coarsest;                  /* what the coarsest grid is to be solved by */
  int pre, post;                             /* red-black sweeps over a whole level, before and after the correction */
  int reversed;                              /* the sweeps after the correction take the colours in reversed order */
  int singular;
  double rtol; /* of conjugate gradients on the coarsest grid: residual, in the norm of the inverse diagonal, relative to the
                  right-hand side */
} gmg_bottom_problem;

typedef struct gmg_bottom_ops {
  const char *name;
  size_t max_cells;       /* of a coarsest grid alone: larger ones are refused; 0: any */
  size_t preferred_cells; /* coarsening stops at this many unknowns */
  int (*fits)(const gmg_exec *e, const gmg_bottom_problem *p); /* whether it takes these levels; NULL: the coarsest grid alone */
  gmg_status (*setup)(gmg_exec *e, const gmg_bottom_problem *p, void **state); /* allocates; update() follows */
  gmg_status (*update)(gmg_exec *e, const gmg_bottom_problem *p, void *state); /* operators, weights and singular are new */
  /* One cycle from a level of the problem (0: its finest) down: u of that level from its f, which may be overwritten. The coarsest
     grid is solved from zero, whatever the start. */
  void (*solve)(const gmg_exec *e, const gmg_bottom_problem *p, void *state, int level, void *f, void *u, gmg_cycle_kind kind,
                gmg_start start);
} gmg_bottom_ops;

const gmg_bottom_ops *gmg_coarsest_of(gmg_coarse_kind kind);                 /* the solver of the coarsest grid */
const gmg_bottom_ops *const *gmg_fused_levels_of(const gmg_exec *e); /* what a backend has for several levels; NULL ends the list */

#endif
