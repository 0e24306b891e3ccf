/* Operations on the grid of a level: inner products, transfers, boundary values, coefficients on faces. The operations with its
   operator are in operator.h. Calls core; called by smoothers, coarse and mg. */
#ifndef GMG_STENCIL_GRID_OPS_H
#define GMG_STENCIL_GRID_OPS_H

#include "gmg_smoother.h"

#include "core/array.h"
#include "core/part.h"
#include "stencil/grid/axis.h"
#include "stencil/grid/map.h"
#include "stencil/operator.h"
#include "stencil/operator/fields.h"

/* Half sweeps of a relaxation whose weights may differ. If it has more half sweeps, the weights repeat. */
enum { GMG_HALF_SWEEPS = 4 };

/* Boundary data of one level: g on each face, and the coefficients that relate it to the operator. */
typedef struct gmg_faces {
  void *g[3][2];       /* scalars in the shape of the face, in exec's memory; NULL if periodic or not set */
  double fold[3][2];   /* f_eff = f + fold g, multiplied by the wall's coefficient unless g is a flux */
  double wall[3][2];   /* the wall's part of the diagonal, without the coefficient */
  gmg_bc bc[3][2];     /* on a Neumann wall g is a flux */
  double ghost_u[3][2], ghost_g[3][2]; /* value beyond the face: ghost_u u + ghost_g g */
} gmg_faces;

/* The mean that was taken from a field (the real part; 0 if it was not fit), and ||.||_2 of the rest, ghosts included. */
typedef struct gmg_deviation {
  double mean, norm;
} gmg_deviation;

/* The operations on a grid: those that do not depend on the kind of operator, and those with boundary values and coefficients on
   faces. Functions without a result only enqueue on a device. The caller exchanges ghosts (core/comm.h). */
typedef struct gmg_grid_ops {
  /* Inner product: sum of w conj(x) y with the control volumes w; y = NULL: sum of w x. */
  gmg_number (*dot)(const gmg_exec *e, const gmg_operator *A, const void *x, const void *y);
  /* Subtracts the mean of x, weighted by the control volumes, if it is fit (gmg_is_fit_mean()). volume: their sum. */
  void (*remove_mean)(const gmg_exec *e, const gmg_operator *A, double volume, void *x);
  /* y = x without its mean, as in remove_mean(); without gaps; y may be x. Blocks. */
  gmg_deviation (*take_mean)(const gmg_exec *e, const gmg_operator *A, double volume, const void *x, void *y);
  /* For a solve of a singular problem in one process, whose host waits as late as it can. NULL: not available.
     - take_means: rest = f without its mean, as in take_mean(), and u = u without its own, unless that of f is not fit. Unless
       scale is NULL, f keeps its mean, which is noted in *scale for residuals, and rest is not used. Only enqueues. u has no gaps.
     - means_taken: what take_means() found. After the host has waited for the device. The norm is NaN if f keeps its mean. A
       recorded loop (gmg_graph_ops) with takes_mean finds it without the host.
     - loop_remove_mean: behind a recorded loop, remove_mean(u) if the loop has converged. Only enqueues. */
  void (*take_means)(const gmg_exec *e, const gmg_operator *A, double volume, const void *f, void *rest, gmg_scale *scale,
                     void *u);
  gmg_deviation (*means_taken)(const gmg_exec *e);
  void (*loop_remove_mean)(const gmg_exec *e, const gmg_operator *A, double volume, void *u);
  /* Conjugate gradients (core/cg_scalars.h). The scalars stay in exec's memory. Sets d->beta from <z, y> or its real
     part, where y = A p if flexible, and y = r otherwise. In the latter case d->zr becomes <z, y> times unit[0]. In the former y is
     not read if there is no direction. unit: in exec's memory; NULL: 1 */
  void (*cg_beta)(const gmg_exec *e, const gmg_operator *A, const void *z, const void *y, int flexible, gmg_cg_scalars *d,
                  const double *unit);
  /* y = M x or, with `add`, y += M x, where M is the Kronecker product of map[2], map[1] and map[0]. y has rows[2] rows[1] rows[0]
     entries, and x has cols[2] cols[1] cols[0] */
  void (*transfer)(const gmg_exec *e, const gmg_map map[3], const void *x, void *y, int add);
  /* y = M x, as in transfer(), between arrays of these layouts */
  void (*transfer_between)(const gmg_exec *e, const gmg_map map[3], gmg_layout from, const void *x, gmg_layout to, void *y);
  /* u += P c for coefficients on faces, where P depends on them (host/prolong.c); map: of kind GMG_MAP_PROLONG_LINEAR */
  void (*prolong_faces)(const gmg_exec *e, const gmg_operator *A, const gmg_map map[3], const void *c, void *u);
  /* f += fold g on every face that has g */
  void (*fold)(const gmg_exec *e, const gmg_operator *A, const gmg_faces *faces, void *f);
  /* faces of A from one coefficient per unknown: harmonic means of two halves in series. A wall gets the coefficient of its
     unknown. A Robin wall beside a cell gets an extrapolated one. */
  void (*harmonic_faces)(const gmg_exec *e, const gmg_operator *A, const gmg_faces *faces, gmg_array beta);
  /* wall faces of the next coarser operator C along a coarsened axis: the fine wall's coefficient or, if the next face conducts
     better, both in series. maps: of the other two axes */
  void (*coarsen_walls)(const gmg_exec *e, const gmg_operator *A, const gmg_operator *C, const gmg_map map[3], int axis);
  /* faces of A along an axis from an array of the same shape; on a periodic axis the last repeats the first */
  void (*copy_faces)(const gmg_exec *e, const gmg_operator *A, int axis, gmg_array beta_face);
  /* -beta du/dx and du/dx on the faces of an axis; either may be NULL */
  void (*flux)(const gmg_exec *e, const gmg_operator *A, const gmg_faces *faces, int axis, const void *u, void *flux,
               void *gradient);
  /* padded = u with one layer of ghosts, (n[a] + 2) along each axis, computed from boundary values; edges by planar
     extrapolation */
  void (*pad)(const gmg_exec *e, const gmg_operator *A, const gmg_faces *faces, const void *u, void *padded);
} gmg_grid_ops;

/* The last functions of the table are defined in separate files, as R(gmg_NAME_BACKEND). */
#define GMG_GRID_PARTS(X, backend)                                                                                         \
  X(transfer, backend) X(transfer_between, backend) X(prolong_faces, backend) X(fold, backend) X(harmonic_faces, backend)        \
  X(coarsen_walls, backend) X(copy_faces, backend) X(flux, backend) X(pad, backend)
#define GMG_DECLARE_PART(name, backend) extern __typeof__(*((gmg_grid_ops *)0)->name) R(gmg_##name##_##backend);
#define GMG_PART(name, backend) .name = R(gmg_##name##_##backend),

const gmg_grid_ops *gmg_grid_ops_of(const gmg_exec *e);

/* Coefficient arrays of the problem: beta or sigma, and the coefficients on the faces across an axis. */
static inline gmg_array gmg_coefficients_at_unknowns(const gmg_problem *p, const void *x)
{
  return gmg_array_of(p->type, p->n, &p->coefficient_layout, x);
}

static inline gmg_array gmg_coefficients_at_faces(const gmg_problem *p, int axis)
{
  const size_t n[3] = {p->n[0] + (axis == 0), p->n[1] + (axis == 1), p->n[2] + (axis == 2)};
  return gmg_array_of(p->type, n, &p->coefficient_layout, p->beta_face[axis]);
}

/* y = M x between arrays of any layouts, where M is the Kronecker product of map[2], map[1] and map[0]. */
static inline void gmg_transfer(const gmg_exec *e, const gmg_map map[3], gmg_layout from, const void *x, gmg_layout to, void *y)
{
  if (gmg_is_packed(from) && gmg_is_packed(to)) gmg_grid_ops_of(e)->transfer(e, map, x, y, 0);
  else gmg_grid_ops_of(e)->transfer_between(e, map, from, x, to, y);
}

/* This process's own unknowns of a field of A. */
static inline gmg_array gmg_own_array(const gmg_exec *e, const gmg_operator *A, const void *x)
{
  gmg_array a = {gmg_layout_of(A), 0, x};
  const gmg_part *p = A->part;
  if (!p) return a;
  a.values = (const char *)x + gmg_offset(a.layout, p->own[0][0], p->own[1][0], p->own[2][0]) * e->real_size;
  for (int i = 0; i < 3; i++) a.layout.n[i] = p->own[i][1] - p->own[i][0];
  return a;
}

/* ||x||_2 of a field of A, over all processes. */
static inline double gmg_field_norm2(const gmg_exec *e, const gmg_operator *A, const void *x)
{
  const gmg_array own = gmg_own_array(e, A, x);
  return gmg_array_norm2(e, own.layout, own.values);
}

/* gmg_vector_ops::normalize_to_low() for a field of A. With exact sums the norm is that of own unknowns. Otherwise it includes
   the ghosts, which saves devices a wait; any divisor of about this size will do. */
static inline void gmg_normalize_field(const gmg_exec *e, const gmg_operator *A, const void *x, gmg_scale *s, void *low)
{
  if (!A->part || !e->exact_sums) {
    e->vector->normalize_to_low(e, A->cells, x, s, low);
    return;
  }
  const double norm = gmg_field_norm2(e, A, x);
  gmg_scale_note(s, 1 / (isnormal(norm) ? norm : 1), norm);
  if (low) e->vector->scale_to_low(e, A->cells, &s->divisor, x, low);
}

/* The norm of x, from that which an operation has computed with the ghosts, if there are any. Ghosts may be anything. Blocks. */
static inline double gmg_without_ghosts(const gmg_exec *e, const gmg_operator *A, const void *x, double norm)
{
  return A->part ? gmg_field_norm2(e, A, x) : norm;
}

/* Unknowns of the whole level, in all processes. */
static inline size_t gmg_unknowns_along(const gmg_operator *A, int axis) { return A->part ? A->part->whole[axis] : A->n[axis]; }
static inline size_t gmg_cells_of_all(const gmg_operator *A)
{
  return gmg_unknowns_along(A, 0) * gmg_unknowns_along(A, 1) * gmg_unknowns_along(A, 2);
}

size_t gmg_face_count(const gmg_operator *A, int axis); /* number of faces across an axis, which has n + 1 along it */

#endif
