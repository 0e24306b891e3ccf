/* One axis of the mesh, discretised: couplings, wall terms, control volumes, ghost values. Boundary conditions,
   centring, spacing and size are contents of these arrays, made here and nowhere else. Host memory, double.
   Calls core; called by map, operator and mg. */
#ifndef GMG_STENCIL_GRID_AXIS_H
#define GMG_STENCIL_GRID_AXIS_H

#include "core/exec.h"

/* What an axis is, before it is discretised. Coarse levels come in two kinds. Plain: a mesh of fewer intervals, equal in
   the index of the finest mesh, with the finest one's centring. Nested (where beta is an array): unknowns of the finest
   mesh merged, `merged` neighbouring control volumes into one cell. */
typedef struct gmg_axis_spec {
  size_t n;
  double length; /* of the domain; for a lone vertex between two flux walls, of the slab it stands for */
  gmg_centering centering;
  gmg_bc bc[2];
  double robin[2][2];  /* {a, b} */
  const double *coord; /* positions of the finest mesh, or NULL: uniform. BORROWED */
  size_t mesh, base;   /* intervals and unknowns of the finest mesh */
  int nested;
  size_t merged;       /* 1: a mesh of its own */
  double beta;         /* mean coefficient: how strongly the axis couples */
} gmg_axis_spec;

/* The 1D operator: row i reads diag[i] u_i - lo[i] u_below - hi[i] u_above = f_i + fold g at the two ends.
   Finite volumes: a coupling is a conductance divided by the control volume. With a coefficient on the faces every term
   that belongs to a face is multiplied by it (a Neumann wall's g is a flux and is not). */
typedef struct gmg_axis {
  gmg_axis_spec spec;
  size_t n;
  double h;        /* mean mesh width */
  double stretch;  /* largest over smallest mesh width */
  double *x;       /* [n] positions */
  double *lo;      /* [n] */
  double *hi;      /* [n] */
  double *lo_diag; /* [n] the lower face's share of the diagonal: lo, or the wall term */
  double *hi_diag; /* [n] */
  double *diag;    /* [n] lo_diag + hi_diag */
  double *weight;  /* [n] control volumes */
  double fold[2];  /* f_eff = f + fold g */
  double ghost_x[2], ghost_u[2], ghost_g[2]; /* place of the ghost beyond an end; its value: ghost_u u_end + ghost_g g */
} gmg_axis;

gmg_axis_spec gmg_axis_spec_of(const gmg_problem *problem, int axis);
size_t gmg_axis_intervals(const gmg_axis_spec *spec); /* mesh widths that make up the length */
void gmg_axis_widths(const gmg_axis_spec *spec, double *min_width, double *max_width); /* of the finest mesh */
double gmg_axis_coupling(const gmg_axis_spec *spec);  /* beta / h^2, h the mean width; 0 for a single unknown */

/* Host memory of about GMG_AXIS_BYTES an unknown, maps included, comes and goes; more than there is gives GMG_ERR_MEMORY. */
enum { GMG_AXIS_BYTES = 168 };
gmg_status gmg_axis_create(gmg_context *context, const gmg_axis_spec *spec, gmg_axis *axis);
void gmg_axis_destroy(gmg_axis *axis); /* frees the arrays, keeps the scalars */

/* The axis coarsened by 2: ceil(m/2) equal intervals on the same length (so uniform stays uniform for any size), or, nested,
   pairs of neighbours merged (an odd one at the end stays alone). Only for n > 1. */
gmg_axis_spec gmg_axis_spec_coarsened(const gmg_axis_spec *fine);

/* Semi-coarsening: an axis is coarsened if it has more than one unknown and its coupling beta/h^2 is at least `threshold` times the
   strongest one. Returns the number of coarsened axes; 0: the grid cannot be coarsened. */
int gmg_coarsen(const gmg_axis_spec fine[3], double threshold, gmg_axis_spec coarse[3], int coarsened[3]);

int gmg_axis_periodic(const gmg_axis *axis);

#endif
