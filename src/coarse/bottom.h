/* The bottom of a multigrid cycle, which ends the recursion: a solver of the coarsest grid, or all small levels in one kernel. Both
   have the same interface. If the problem is singular, the mean is removed from the right-hand side and from the solution. All of
   its levels are in one process: it exchanges no ghosts (core/comm.h). Calls core and stencil; called by mg, which describes the
   levels. */
#ifndef GMG_COARSE_BOTTOM_H
#define GMG_COARSE_BOTTOM_H

#include "core/types.h"
#include "stencil/grid_ops.h"

enum { GMG_BOTTOM_LEVELS = 12 };

typedef struct gmg_bottom_level {
  const gmg_operator *A;              /* BORROWED, like the maps */
  const gmg_map *prolong, *restrict_; /* [3] maps from and to the next coarser level; not set on the coarsest grid */
  const gmg_axis_spec *axis;          /* [3] BORROWED */
  double scale;                       /* the operator is this times that of its axes */
  double volume;                      /* sum of the control volumes */
  double weight[2][GMG_HALF_SWEEPS];  /* relaxation weights of half sweeps, before and after the correction */
  int pre, post;                      /* red-black sweeps over the whole level, before and after the correction */
  int operator_dependent;             /* prolongation to this level depends on the coefficients */
} gmg_bottom_level;

typedef struct gmg_bottom_problem {
  int levels; /* 1: only the coarsest grid */
  gmg_bottom_level level[GMG_BOTTOM_LEVELS]; /* finest first */
  gmg_coarse_kind coarse_kind;               /* solver of the coarsest grid */
  int reversed;                              /* the sweeps after the correction relax the colours in reversed order */
  int singular;
  int is_symmetric;    /* the operators are, weighted by control volumes */
  double condition;    /* about ||A|| ||A^-1|| on the finest of the levels; infinite if coarse matrices may be indefinite */
  int is_free;         /* the smoother is not deterministic, so the sweeps only stand for its steps: a level may be solved exactly
                          instead of visiting coarser ones */
  const char *penalty; /* for error texts: why the coarsest matrix may be singular in rounding; "": there is no reason. BORROWED */
  double rtol; /* tolerance of conjugate gradients on the coarsest grid: residual over right-hand side, in the norm of the inverse
                  diagonal */
} gmg_bottom_problem;

typedef struct gmg_bottom_ops {
  const char *name;
  size_t max_cells;       /* maximum size of a coarsest grid; 0: any size */
  size_t preferred_cells[2]; /* [gmg_backend] coarsening stops at this many unknowns */
  const char *(*refuses)(const gmg_problem *p); /* what the solver cannot take, for error texts; NULL: it takes the problem. The
                                                   function is NULL if it takes all */
  /* Whether coarsening should stop at a grid of n unknowns along each axis, because this solver is faster than all coarser levels
     or, on the finest grid, than a whole solve by cycles. NULL: only preferred_cells says so. */
  int (*is_faster)(gmg_backend backend, gmg_type type, int dim, const size_t n[3], int is_finest);
  int (*fits)(const gmg_exec *e, const gmg_bottom_problem *p); /* whether it can process these levels; NULL: it solves the coarsest
                                                                  grid only */
  gmg_status (*setup)(gmg_exec *e, const gmg_bottom_problem *p, void **state); /* allocates; the caller then calls update() */
  gmg_status (*update)(gmg_exec *e, const gmg_bottom_problem *p, void *state); /* recomputes the state after a change of operators,
                                                                                  weights or `singular` */
  /* One cycle from the given level (0: the finest of the problem) to the coarsest, or to a level that is solved exactly instead.
     Computes u from f, which may be overwritten. The coarsest grid is always solved from zero. */
  void (*solve)(const gmg_exec *e, const gmg_bottom_problem *p, void *state, int level, void *f, void *u, gmg_cycle_kind kind,
                gmg_start start);
} gmg_bottom_ops;

const gmg_bottom_ops *gmg_coarsest_of(gmg_coarse_kind kind);                 /* the solver of the coarsest grid */
const gmg_bottom_ops *gmg_fused_levels_of(const gmg_exec *e); /* fused levels of the backend; NULL: none */

#endif
