/* The entries of a variable box stencil: how they are given, and the operations on them of each backend and real type. Compiled as
   C and as CUDA. Calls core and the maps of grid; included by box_arrays.c and by kernels of these operations. */
#ifndef GMG_STENCIL_BOX_ARRAYS_VALUES_H
#define GMG_STENCIL_BOX_ARRAYS_VALUES_H

#include "gmg_smoother.h"

#include "core/layout.h"
#include "stencil/grid/map.h"

/* The entries of a problem. Arrays begin at the first unknown, and are in exec's memory. */
typedef struct gmg_given_box {
  gmg_layout layout; /* of the arrays */
  int dim, wraps[3], mirrors[3][2];
  int folds[3][2];       /* on cells, the unknown beyond a wall over that beside it: 1 Neumann, -1 Dirichlet; otherwise 0 */
  const void *array[27]; /* NULL: the entry is constant */
  double entry[27], shift;
  double least, most, epsilon; /* bounds of centres, bound of all entries, rounding of the type */
  double most_over_centre;     /* bound of entries over the centre of their row */
  double most_over_rest;       /* bound of centres over the sum of the other entries of their row, in magnitude; INFINITY: none */
  int takes_unsymmetric;       /* the entries of two rows for each other may differ */
} gmg_given_box;

/* Which entries of row i along an axis stand for the neighbour `to` (0: below, 1: the unknown itself, 2: above), as bits 1, 2, 4.
   Beyond a wall that mirrors stands the neighbour on this side, beyond one that folds the unknown itself. Entries across other
   walls stand for none. */
GMG_INLINE unsigned gmg_given_sources(const gmg_given_box *g, int axis, size_t i, int to)
{
  const size_t n = g->layout.n[axis];
  if (n == 1) {
    const unsigned low = g->wraps[axis] || g->mirrors[axis][0] || g->folds[axis][0];
    const unsigned high = g->wraps[axis] || g->mirrors[axis][1] || g->folds[axis][1];
    return to == 1 ? 2u | low | high << 2 : 0;
  }
  if (to == 1) return 2u | (i == 0 && g->folds[axis][0]) | (unsigned)(i + 1 == n && g->folds[axis][1]) << 2;
  if (!g->wraps[axis] && (to == 0 ? i == 0 : i + 1 == n)) return 0;
  const int other = 2 - to, across = !g->wraps[axis] && g->mirrors[axis][other / 2] && (other == 0 ? i == 0 : i + 1 == n);
  return 1u << to | (across ? 1u << other : 0);
}

/* The control volume of unknown i along an axis, in units of those inside: half on a wall that mirrors. */
GMG_INLINE double gmg_given_volume(const gmg_given_box *g, int axis, size_t i)
{
  if (g->layout.n[axis] == 1) return 1;
  return (i == 0 && g->mirrors[axis][0]) || (i + 1 == g->layout.n[axis] && g->mirrors[axis][1]) ? 0.5 : 1;
}

/* What is wrong with a row: an entry that is not a number or too large, a centre that is not positive, an entry that differs from
   that of the neighbour for this row, one so large that the matrix has a negative eigenvalue, one too large beside its centre, a
   centre too large beside the other entries. */
typedef enum {
  GMG_ROW_GOOD,
  GMG_ROW_VALUE,
  GMG_ROW_CENTRE,
  GMG_ROW_UNSYMMETRIC,
  GMG_ROW_INDEFINITE,
  GMG_ROW_QUOTIENT,
  GMG_ROW_PENALTY
} gmg_row_fault;

/* A fault of a row. value: the entry of the row. other: the entry or the limit that it is compared with. Entries across walls that
   mirror are added to those on this side. */
typedef struct gmg_row_finding {
  gmg_row_fault fault;
  int entry;
  double value, other;
} gmg_row_finding;

/* Over a range of rows. bad: number of invalid rows. sum, least, most: of the row sums (sum weighted by control volumes). The row
   sum counts as 0 in rows beside a Dirichlet wall. */
typedef struct gmg_row_totals {
  double bad, sum, least, most;
} gmg_row_totals;

typedef struct gmg_box_values_ops {
  gmg_row_totals (*examine)(const gmg_exec *e, const gmg_given_box *g, size_t first, size_t count); /* blocks */
  gmg_row_finding (*explain)(const gmg_exec *e, const gmg_given_box *g, size_t row);                /* blocks */
  /* The arrays of A: entries with walls and shift. */
  void (*load)(const gmg_exec *e, const gmg_given_box *g, const gmg_operator *A);
  /* The arrays of the next coarser level C: restriction times A times prolongation. The maps must keep rows within a box. */
  void (*galerkin_product)(const gmg_exec *e, const gmg_operator *A, const gmg_map prolong[3], const gmg_map restrict_[3],
                           const gmg_operator *C);
} gmg_box_values_ops;

/* To be called when the arrays of A have changed. On a device it waits. box_arrays.c */
void gmg_box_arrays_changed(const gmg_exec *e, const gmg_operator *A);

#endif
