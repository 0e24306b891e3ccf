/* One axis of the mesh, discretised: couplings, wall terms, control volumes, ghost values. Boundary conditions, centring, spacing
   and size are stored in these arrays, and only here are they computed. Host memory, double. Calls core; called by map, operator
   and mg. */
#ifndef GMG_STENCIL_GRID_AXIS_H
#define GMG_STENCIL_GRID_AXIS_H

#include "core/exec.h"
#include "core/part.h"

/* An axis before discretisation. There are two kinds of coarse levels.
   - Plain: a mesh with fewer intervals, of equal size in the index of the finest mesh, with the same centring.
   - Nested (if beta is an array): `merged` neighbouring control volumes of the finest mesh form one cell. */
typedef struct gmg_axis_spec {
  size_t n;
  double length; /* of the domain; for a single vertex between Neumann or Robin walls: of the slab that it represents */
  gmg_centering centering;
  gmg_bc bc[2];
  double robin[2][2];  /* {a, b} */
  const double *coord; /* positions of the finest mesh, or NULL: uniform. BORROWED */
  size_t mesh, base;   /* intervals and unknowns of the finest mesh */
  int nested;
  size_t merged;       /* 1: not merged */
  double beta;         /* mean coefficient, for the strength of the coupling */
} gmg_axis_spec;

/* The 1D operator. Row i is diag[i] u_i - lo[i] u_below - hi[i] u_above = f_i + fold g, where fold is 0 except at the two ends. A
   coupling is a conductance divided by the control volume. Coefficients on faces multiply all terms of their faces, except g of a
   Neumann wall, which is already a flux.

   The arrays have an entry for each row. On a long uniform axis all rows but the first and the last are equal. The arrays then have
   three entries: for the first row, for the inner rows, for the last row (gmg_axis_entry()). */
typedef struct gmg_axis {
  gmg_axis_spec spec;
  size_t n;
  size_t entries;  /* of the arrays: n or GMG_AXIS_SHORT */
  double h;        /* mean mesh width */
  double stretch;  /* largest over smallest width of the finest mesh */
  double *x;       /* positions; not the inner ones if there are fewer than n entries */
  double *lo;
  double *hi;
  double *lo_diag; /* the lower face's part of the diagonal: lo, or the wall term */
  double *hi_diag;
  double *diag;    /* lo_diag + hi_diag */
  double *volume;  /* control volumes */
  double fold[2];  /* f_eff = f + fold g */
  double ghost_x[2], ghost_u[2], ghost_g[2]; /* position of the ghost beyond an end; its value is ghost_u u_end + ghost_g g */
} gmg_axis;

gmg_axis_spec gmg_axis_spec_of(const gmg_problem *problem, int axis);
size_t gmg_axis_intervals(const gmg_axis_spec *spec); /* number of mesh widths in the length, on this level */
size_t gmg_problem_intervals(const gmg_problem *problem, int axis); /* gmg_axis_intervals() of the finest mesh */
void gmg_axis_widths(const gmg_axis_spec *spec, double *min_width, double *max_width); /* of the finest mesh */
double gmg_axis_coupling(const gmg_axis_spec *spec);  /* beta / h^2, with the mean width h; 0 for a single unknown */

/* Uniform axes of more than GMG_AXIS_LONG unknowns have GMG_AXIS_SHORT entries. */
enum { GMG_AXIS_LONG = 8192, GMG_AXIS_SHORT = 3 };

/* The entry of row i in the arrays of an axis. */
static inline size_t gmg_axis_entry(const gmg_axis *x, size_t i)
{
  return x->entries == x->n || i == 0 ? i : i + 1 == x->n ? GMG_AXIS_SHORT - 1 : 1;
}

int gmg_axis_is_uniform(const gmg_axis_spec *spec); /* has the same mesh width everywhere, and is not merged */
double gmg_axis_length(const gmg_axis *axis);        /* the sum of the control volumes */

/* Temporary host memory for each unknown of an axis, in bytes, maps included. gmg.h says 176: a copy of gmg_problem::coord takes 8
   more. */
enum { GMG_AXIS_BYTES = 168 };
/* Fails with GMG_ERR_MEMORY if the axis needs more than the machine has. */
gmg_status gmg_axis_create(gmg_context *context, const gmg_axis_spec *spec, gmg_axis *axis);
/* The rows of a span of an axis. ends: whether the span ends at the lower and the upper end of the axis. Beyond its other ends
   there is nothing, as beyond the outermost ghosts of a part. */
gmg_status gmg_axis_create_part(gmg_context *context, const gmg_axis *whole, gmg_span span, const int ends[2], gmg_axis *axis);
void gmg_axis_destroy(gmg_axis *axis); /* frees the arrays, keeps the scalars */

/* Coarsens an axis with n > 1 by about 2. Plain: m intervals become m / 2 of equal size; an odd m becomes (m + 1) / 2 or,
   from 33 unknowns on, (m - 1) / 2 if that is even. A uniform axis stays uniform. Nested: pairs of neighbours are
   merged; an odd one at the end stays alone. */
gmg_axis_spec gmg_axis_spec_coarsened(const gmg_axis_spec *fine);

/* Semi-coarsening. An axis is coarsened if it has more than one unknown, and if its coupling beta/h^2 is at least `threshold` times
   the strongest. Axis `kept`, if it is not -1, is never coarsened, and its coupling does not count. Returns the number of coarsened
   axes; 0: the grid cannot be coarsened. */
int gmg_coarsen(const gmg_axis_spec fine[3], double threshold, int kept, gmg_axis_spec coarse[3], int coarsened[3]);

int gmg_axis_periodic(const gmg_axis *axis);

#endif
