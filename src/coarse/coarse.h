/* Solvers of the coarsest grid. Both are right for singular problems: the mean is taken off the right-hand side and
   the solution. Calls core and stencil; called by mg. */
#ifndef GMG_COARSE_H
#define GMG_COARSE_H

#include "stencil/stencil.h"

/* What a coarse solver is given. */
typedef struct gmg_coarse_problem {
  const gmg_operator *A;
  double volume; /* sum of the control volumes */
  int singular;
  double rtol;   /* CG: residual, in the norm of the inverse diagonal, relative to the right-hand side */
} gmg_coarse_problem;

typedef struct gmg_coarse_ops {
  const char *name;
  size_t most_cells; /* larger grids are refused; 0: any */
  size_t liked;      /* coarsening stops at this many unknowns */
  gmg_status (*setup)(gmg_exec *e, const gmg_coarse_problem *p, void **state);
  gmg_status (*update)(gmg_exec *e, const gmg_coarse_problem *p, void *state); /* A's values are new; may be NULL */
  void (*solve)(const gmg_exec *e, const gmg_coarse_problem *p, void *state, void *f, void *u); /* f may be changed */
  void (*destroy)(gmg_exec *e, const gmg_coarse_problem *p, void *state);
} gmg_coarse_ops;

extern const gmg_coarse_ops gmg_coarse_cg, gmg_coarse_cholesky;

const gmg_coarse_ops *gmg_coarse_of(gmg_coarse_kind kind);

#endif
