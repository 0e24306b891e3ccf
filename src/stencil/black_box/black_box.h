/* Transfers and coarse operators that follow from the rows of the fine operator alone: black box multigrid (Dendy 1982). For media
   that no coarse grid represents. Calls core and the kinds of operators; called by mg. The formulas are in rows.h.

   Coarse unknown J is fine unknown 2 J. A fine unknown with odd indices is interpolated from the coarse unknowns beside it, with
   weights that make its row of A zero, after the row has been summed over all axes along which its index is even. Restriction is
   the adjoint of prolongation with respect to the control volumes, and coarse operators are Galerkin products. They are box
   stencils for any number of unknowns, walls and seams. */
#ifndef GMG_STENCIL_BLACK_BOX_H
#define GMG_STENCIL_BLACK_BOX_H

#include "stencil/operator.h"

/* The transfers between a level and the next coarser one. weight[x + 3 y + 9 z]: a field of the coarse level, in exec's memory. Its
   entry J belongs to the fine unknown 2 J + (x > 0, y > 0, z > 0), along axes that are not coarsened J itself. A digit of 1 stands
   for interpolation from J along that axis, 2 from J + 1. weight[0] is 1 and is not stored. NULL: this axis is not coarsened. */
typedef struct gmg_black_box {
  const void *weight[27];
  const void *share[3]; /* [n][3] reals for each axis: the control volumes of fine unknowns 2 J - 1, 2 J, 2 J + 1 over that of J */
} gmg_black_box;

/* Fine and coarse operator: A and C. Functions only enqueue on a device. The caller exchanges ghosts (core/comm.h). */
typedef struct gmg_black_box_ops {
  /* The weights of all fine unknowns with `odd` odd indices, from those with fewer. */
  void (*weigh)(const gmg_exec *e, const gmg_operator *A, const gmg_operator *C, const gmg_black_box *p, int odd);
  /* The arrays of C. */
  void (*product)(const gmg_exec *e, const gmg_operator *A, const gmg_operator *C, const gmg_black_box *p);
  /* f = R r */
  void (*restrict_)(const gmg_exec *e, const gmg_operator *A, const gmg_operator *C, const gmg_black_box *p, const void *r,
                    void *f);
  /* u += P c */
  void (*prolong)(const gmg_exec *e, const gmg_operator *A, const gmg_operator *C, const gmg_black_box *p, const void *c, void *u);
} gmg_black_box_ops;

const gmg_black_box_ops *gmg_black_box_ops_of(const gmg_exec *e);

/* The kind of operator on coarse levels: variable box stencils. */
extern const gmg_operator_kind gmg_box_arrays;

/* Why the problem cannot have such levels, in words for error texts; NULL: it can. */
const char *gmg_black_box_refuses(const gmg_problem *p);

/* Whether such levels pay for a medium in which beta jumps so often along a line on average (gmg_medium::jumps). */
int gmg_black_box_suits(double jumps);

/* Allocates the weights between A, whose coarsened[] is set, and C. fine, coarse: their axes. */
gmg_status gmg_black_box_create(gmg_exec *e, const gmg_operator *A, const gmg_axis fine[3], const gmg_axis coarse[3],
                                gmg_black_box *p);

/* Computes the weights and the values of C from those of A. On a device it waits. */
void gmg_black_box_coarsen(const gmg_exec *e, const gmg_operator *A, const gmg_operator *C, const gmg_black_box *p);

#endif
