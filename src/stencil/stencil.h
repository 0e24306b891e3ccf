/* The operator of a level and what is computed with it: residuals, inner products, transfers, boundary values. Calls core;
   called by smoothers, coarse and mg. */
#ifndef GMG_STENCIL_H
#define GMG_STENCIL_H

#include "gmg_smoother.h"

#include "core/exec.h"
#include "stencil/grid/axis.h"
#include "stencil/grid/map.h"

/* Boundary data of one level: g on each face, and what one face means to the operator. */
typedef struct gmg_faces {
  void *g[3][2];       /* face-shaped reals in exec's memory; NULL where periodic or absent */
  double fold[3][2];   /* f_eff = f + fold g, times the coefficient on the wall unless g is a flux */
  double wall[3][2];   /* the wall's share of the diagonal, without the coefficient */
  gmg_bc kind[3][2];   /* on a Neumann wall g is a flux */
  double ghost_u[3][2], ghost_g[3][2]; /* value beyond the face: ghost_u u + ghost_g g */
} gmg_faces;

/* Sums are bitwise independent of the number of threads. low: the lower precision. A function without a result, and one that is
   called with GMG_ENQUEUE, only enqueues on a device. */
typedef struct gmg_stencil_ops {
  /* r = f - A u;  r must not overlap u */
  void (*residual)(const gmg_exec *e, const gmg_operator *A, const void *f, const void *u, void *r);
  /* ||f - A u||_2 and (f_norm may be NULL) ||f||_2 in one pass. Unless r is NULL, stores low r = (f - A u) / size[0], size in
     exec's memory, or (f - A u) s->next if size = NULL. Unless s is NULL, notes in s that scale and the norm. */
  double (*measure_residual)(const gmg_exec *e, const gmg_operator *A, const void *f, const void *u, const double *size,
                             gmg_scale *s, void *r, double *f_norm, gmg_wait wait);
  /* u = (m2 x m1 x m0) coarse, then low r = (f - A u) / size[0]. */
  void (*interpolated_residual)(const gmg_exec *e, const gmg_operator *A, const gmg_map map[3], const void *coarse, const void *f,
                                void *u, const double *size, void *r);
  /* u = u + c, then measure_residual(). */
  double (*correct_residual)(const gmg_exec *e, const gmg_operator *A, gmg_correction c, const void *f, void *u, const double *size,
                             gmg_scale *s, void *r, gmg_wait wait);
  /* At the end of the body of a recorded loop (gmg_graph_ops): correct_residual() with size = NULL, whose norm decides whether
     another cycle follows. c.z = NULL: u has its correction. r = NULL: the residual is not stored. NULL if the backend records
     nothing. */
  void (*loop_residual)(const gmg_exec *e, const gmg_operator *A, gmg_correction c, const void *f, void *u, gmg_scale *s, void *r);
  /* Before a recorded loop: measure_residual(), unless the loop goes on with a solve. r may be NULL. NULL if the backend records
     nothing. */
  void (*loop_first_residual)(const gmg_exec *e, const gmg_operator *A, const void *f, const void *u, const double *size,
                              gmg_scale *s, void *r);
  /* v = A u */
  void (*apply)(const gmg_exec *e, const gmg_operator *A, const void *u, void *v);
  /* v = f / diag(A) */
  void (*over_diagonal)(const gmg_exec *e, const gmg_operator *A, const void *f, void *v);
  /* || |A| |u| ||_2: what the terms of A u add up to before they cancel */
  double (*magnitude)(const gmg_exec *e, const gmg_operator *A, const void *u);
  /* Inner product: sum of w x y, w the control volumes; y = NULL: sum of w x. */
  double (*dot)(const gmg_exec *e, const gmg_operator *A, const void *x, const void *y);
  /* Takes the mean under the control volumes off x, volume being their sum. */
  void (*remove_mean)(const gmg_exec *e, const gmg_operator *A, double volume, void *x);
  /* Conjugate gradients (core/cg_scalars.h), whose numbers stay in exec's memory. Sets d->beta from <c, y>: y = A p if
     flexible, else y = r, and d->zr becomes <c, y>. */
  void (*cg_beta)(const gmg_exec *e, const gmg_operator *A, gmg_correction c, const void *y, int flexible, gmg_cg_scalars *d);
  /* p = c + beta p, where p may hold anything if beta is 0; q = A p; d->pq = <p, q> and d->pr = <p, x> */
  void (*cg_direction)(const gmg_exec *e, const gmg_operator *A, gmg_correction c, gmg_cg_scalars *d, void *p, const void *x,
                       void *q);
  /* coarse = (m2 x m1 x m0) (f - A u); r is room for the residual */
  void (*restrict_residual)(const gmg_exec *e, const gmg_operator *A, const gmg_map map[3], const void *f, const void *u,
                            void *r, void *coarse);
  /* y = (m2 x m1 x m0) x, or y += that; y has rows[2] x rows[1] x rows[0] entries, x has cols likewise */
  void (*tensor)(const gmg_exec *e, const gmg_map map[3], const void *x, void *y, int add);
  /* u += P c for coefficients on faces, P depending on them (host/prolong.c); map: of kind GMG_MAP_PROLONG_LINEAR */
  void (*prolong_faces)(const gmg_exec *e, const gmg_operator *A, const gmg_map map[3], const void *c, void *u);
  /* f += fold g on every face that has g */
  void (*fold)(const gmg_exec *e, const gmg_operator *A, const gmg_faces *faces, void *f);
  /* faces of A from one coefficient an unknown: harmonic means, two halves in series; walls: that of the unknown, a Robin
     wall beyond a cell: extrapolated */
  void (*harmonic_faces)(const gmg_exec *e, const gmg_operator *A, const gmg_faces *faces, const void *beta);
  /* wall faces of the next coarser C along an axis that is coarsened: the way to the wall passes the wall's face and, where
     that conducts better, the next in series; maps: of the other two axes */
  void (*coarsen_walls)(const gmg_exec *e, const gmg_operator *A, const gmg_operator *C, const gmg_map map[3], int axis);
  /* faces of A along an axis from an array like them; the last repeats the first on a periodic axis */
  void (*copy_faces)(const gmg_exec *e, const gmg_operator *A, int axis, const void *beta_face);
  /* -beta du/dx and du/dx on the faces of an axis; either may be NULL */
  void (*flux)(const gmg_exec *e, const gmg_operator *A, const gmg_faces *faces, int axis, const void *u, void *flux,
               void *gradient);
  /* padded = u with one ghost layer, (n[a] + 2) along each axis, from boundary values; edges by planar extrapolation */
  void (*pad)(const gmg_exec *e, const gmg_operator *A, const gmg_faces *faces, const void *u, void *padded);
} gmg_stencil_ops;

/* The last functions of the table are in files of their own, as R(gmg_NAME_BACKEND). */
#define GMG_STENCIL_PARTS(X, backend)                                                                                         \
  X(restrict_residual, backend) X(tensor, backend) X(prolong_faces, backend) X(fold, backend) X(harmonic_faces, backend)     \
  X(coarsen_walls, backend) X(copy_faces, backend) X(flux, backend) X(pad, backend)
#define GMG_DECLARE_PART(name, backend) extern __typeof__(*((gmg_stencil_ops *)0)->name) R(gmg_##name##_##backend);
#define GMG_PART(name, backend) .name = R(gmg_##name##_##backend),

const gmg_stencil_ops *gmg_stencil_of(const gmg_exec *e);

/* With room for coefficients on faces and for an array sigma, where wanted; their values are not set. */
gmg_status gmg_operator_create(gmg_exec *e, int dim, const gmg_axis axis[3], double shift, int faces, int sigma,
                               gmg_operator *A);
/* Typical couplings, and wall terms of axes with a single unknown, from those for beta = 1 and the mean beta of each axis. */
void gmg_operator_set_typical(gmg_operator *A, const double coupling[3], const double from_walls[3], const double beta[3]);
size_t gmg_face_count(const gmg_operator *A, int axis); /* faces of an axis: n + 1 along it */

/* What stands on the diagonal besides the couplings: the shift, and the walls of axes with a single unknown. */
double gmg_operator_reaction(const gmg_operator *A);

#endif
