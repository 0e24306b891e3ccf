/* An operator is a table. A kind of operator (the 7-point operator, box stencils) is a folder that exports one gmg_operator_kind,
   and a line in kinds.c. All other code sees only this table. A fast path for one kind compares gmg_operator::kind first. Calls
   core; called by stencil, smoothers, coarse and mg. */
#ifndef GMG_STENCIL_OPERATOR_H
#define GMG_STENCIL_OPERATOR_H

#include "gmg_smoother.h"

#include "core/exec.h"
#include "stencil/grid/axis.h"
#include "stencil/grid/map.h"

struct gmg_faces; /* grid_ops.h */
typedef struct gmg_operator_kind gmg_operator_kind;

/* Sums are bitwise independent of the number of threads. `low` marks fields in low precision. Functions without a result, and those
   called with GMG_ENQUEUE, only enqueue on a device. The caller exchanges ghosts (core/comm.h). */
typedef struct gmg_operator_ops {
  /* r = f - A u;  r must not overlap u */
  void (*residual)(const gmg_exec *e, const gmg_operator *A, const void *f, const void *u, void *r);
  /* Returns ||f - A u||_2 and, unless f_norm is NULL, ||f||_2, in one pass. Unless r is NULL, stores the residual in low precision:
     r = (f - A u) / divisor[0], with divisor in exec's memory, or r = (f - A u) s->next if divisor = NULL. Unless s is NULL,
     records the divisor and the norm in s. On a device s->mean is subtracted from f; on the host it is 0. */
  double (*measure_residual)(const gmg_exec *e, const gmg_operator *A, const void *f, const void *u, const double *divisor,
                             gmg_scale *s, void *r, double *f_norm, gmg_wait wait);
  /* u = M coarse, then r = (f - A u) / divisor[0] in low precision. M: the Kronecker product of map[2], map[1] and map[0]. Returns
     whether it has stored u. With store = 0 it need not: u may then contain anything. */
  int (*interpolated_residual)(const gmg_exec *e, const gmg_operator *A, const gmg_map map[3], const void *coarse, const void *f,
                               void *u, int store, const double *divisor, void *r);
  /* u = u + c, then measure_residual(). */
  double (*correct_residual)(const gmg_exec *e, const gmg_operator *A, gmg_correction c, const void *f, void *u,
                             const double *divisor, gmg_scale *s, void *r, gmg_wait wait);
  /* The end of the body of a recorded loop (gmg_graph_ops): correct_residual() with divisor = NULL. The norm decides whether
     another cycle follows. c.z = NULL: u is already corrected. r = NULL: the residual is not stored. The function is NULL if the
     backend does not record. */
  void (*loop_residual)(const gmg_exec *e, const gmg_operator *A, gmg_correction c, const void *f, void *u, gmg_scale *s, void *r);
  /* The start of a recorded loop: measure_residual(), unless the loop continues a solve. r may be NULL. The function is NULL if the
     backend does not record. */
  void (*loop_first_residual)(const gmg_exec *e, const gmg_operator *A, const void *f, const void *u, const double *divisor,
                              gmg_scale *s, void *r);
  /* v = A u */
  void (*apply)(const gmg_exec *e, const gmg_operator *A, const void *u, void *v);
  /* v = f / diag(A) */
  void (*over_diagonal)(const gmg_exec *e, const gmg_operator *A, const void *f, void *v);
  /* || |A| |u| ||_2: the size of the terms of A u before they cancel */
  double (*magnitude)(const gmg_exec *e, const gmg_operator *A, const void *u);
  /* p = z + beta last, where last may be p, and is not read if beta is 0; q = A p; d->pq = <p, q> and d->pr = <p, x>. Also sets the
     steps in d (gmg_cg_note()). unit: in exec's memory, or NULL */
  void (*cg_direction)(const gmg_exec *e, const gmg_operator *A, const void *z, gmg_cg_scalars *d, const double *unit,
                       const void *last, void *p, const void *x, void *q);
  /* coarse = M (f - A u), where M is the Kronecker product of map[2], map[1] and map[0]; r: work space for the residual */
  void (*restrict_residual)(const gmg_exec *e, const gmg_operator *A, const gmg_map map[3], const void *f, const void *u,
                            void *r, void *coarse);
} gmg_operator_ops;

/* Declares a function of a table that is defined in another file than the table, as R(gmg_NAME_BACKEND). */
#define GMG_DECLARE_OPERATION(name, backend) extern __typeof__(*((gmg_operator_ops *)0)->name) R(gmg_##name##_##backend);

/* The maps from which the coefficients of the next coarser level are computed. */
typedef struct gmg_coarsening_maps {
  const gmg_map *prolong, *restrict_, *average, *faces; /* as in gmg_level; NULL or unused maps where the operator has no such
                                                           arrays */
} gmg_coarsening_maps;

enum { GMG_ASYMMETRY_TEXT = 320, GMG_PENALTY_TEXT = 320 };

/* What a kind of operator finds in a problem. Zeros on entry. */
typedef struct gmg_measured {
  double beta[3];     /* beta[a] / h[a]^2 is the coupling of axis a */
  gmg_range sigma;    /* of the row sums, that is, of what they add to the diagonal besides couplings */
  gmg_range diagonal; /* without the problem's shift; the mean is not set */
  char asymmetry[GMG_ASYMMETRY_TEXT]; /* an entry that keeps A, weighted by control volumes, from being symmetric, in words; "": A
                                         is symmetric */
  char penalty[GMG_PENALTY_TEXT]; /* a centre so large that coarse levels may lose the rest of its row in rounding, in words; "":
                                     there is none */
} gmg_measured;

/* A separable operator: a sum of products of operators along single axes. */
typedef struct gmg_products {
  int of_differences; /* along an axis the operator is [-1, 2, -1] between its walls. 0: it is that of gmg_axis, which for an axis
                         with a single unknown holds its walls */
  double factor[8];   /* [bits 1 << axis] factor of the product over these axes; [0]: of the identity */
} gmg_products;

/* A kind of operator. NULL members: there is nothing to do. */
struct gmg_operator_kind {
  const char *name;
  const gmg_operator_ops *ops[2][2]; /* [gmg_backend][gmg_type] */
  int takes_boundary_values;         /* and has fluxes through faces */
  int is_galerkin;                   /* coarsen() uses the maps of corrections and residuals */
  unsigned smoother_trait;           /* GMG_SMOOTHER_*: the trait that a user's smoother must promise. 0: user smoothers are
                                        refused (the 7-point operator takes all). If it is set, gmg_operator::box must be set, too,
                                        because built-in smoothers then use their table `box` */
  /* Whether this is the kind for the problem. NULL: for every problem to which no other kind applies. */
  int (*applies_to)(const gmg_problem *p);
  /* Refuses what this kind cannot have. */
  gmg_status (*check)(gmg_context *c, const gmg_problem *p);
  /* The constant part of the diagonal that does not come from couplings. It is the same on all levels, and is added to
     gmg_problem::shift. */
  double (*reaction)(const gmg_problem *p);
  /* Measures the problem, and checks the kind's own arrays, if there are any. e may be dry. NULL: the couplings are beta / h^2 with
     the problem's beta, and so is the diagonal up to a small factor. */
  gmg_status (*measure)(const gmg_exec *e, const gmg_problem *p, gmg_measured *found);
  /* Whether coarse levels may be coarser along an axis like this. NULL: along any. */
  int (*can_coarsen)(const gmg_axis_spec *fine);
  /* Allocates what the operator of a level has besides its axes. axis: of that level. */
  gmg_status (*create)(gmg_exec *e, const gmg_problem *p, const gmg_axis axis[3], gmg_operator *A);
  /* Values on the finest level, from the problem's arrays. */
  void (*load)(const gmg_exec *e, const gmg_problem *p, const struct gmg_faces *faces, gmg_operator *A);
  /* Values on the next coarser level C. */
  void (*coarsen)(const gmg_exec *e, const gmg_operator *A, gmg_coarsening_maps by, gmg_operator *C);
  /* Values in low precision. e: the exec of the operator `from` */
  void (*to_low)(const gmg_exec *e, const gmg_operator *from, gmg_operator *to);
  /* Why the problem's operator is not separable, in words for error texts; NULL: it is. The function is NULL if it never is. */
  const char *(*not_separable)(const gmg_problem *p);
  /* The products of a separable operator, on any level. Set together with not_separable. */
  void (*products)(const gmg_operator *A, gmg_products *found);
  /* Range of the eigenvalues of D^-1 A over the frequencies that the coarser grid cannot represent. NULL: follows from the
     couplings along the axes. */
  void (*smoothing_range)(const gmg_operator *A, double *lowest, double *highest);
};

extern const gmg_operator_kind gmg_seven_point;

const gmg_operator_kind *gmg_operator_kind_of(const gmg_problem *p);
static inline const gmg_operator_ops *gmg_operator_of(const gmg_exec *e, const gmg_operator *A)
{
  return A->kind->ops[e->context->backend][e->type];
}

/* Builds `scale` times the operator of the grid with these axes, in exec's memory. The values of coefficient arrays are not set. */
gmg_status gmg_operator_create(gmg_exec *e, const gmg_problem *p, const gmg_operator_kind *kind, const gmg_axis axis[3],
                               double scale, gmg_operator *A);
/* to[row] = scale from[entry] for all n rows of an axis with so many entries (gmg_axis): an array of an operator. */
void gmg_operator_write_rows(const gmg_exec *e, size_t entries, size_t n, const double *from, double scale, void *to);
/* Sets typical couplings, and the wall terms of axes with a single unknown. coupling and from_walls are those for beta = 1. beta:
   the typical value for each axis. */
void gmg_operator_set_typical(gmg_operator *A, const double coupling[3], const double from_walls[3], const double beta[3]);
/* The value of gmg_operator::shift: the problem's shift plus the kind's reaction(). */
double gmg_operator_shift(const gmg_problem *p);

/* The part of the diagonal that does not come from couplings: the shift, and the walls of axes with a single unknown. 0 if it is
   below zero: weights and estimates are then those without it. */
double gmg_operator_reaction(const gmg_operator *A);

#endif
