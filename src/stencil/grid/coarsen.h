/* Which axes the next coarser level coarsens. Calls axis; called by mg. */
#ifndef GMG_STENCIL_GRID_COARSEN_H
#define GMG_STENCIL_GRID_COARSEN_H

#include "axis.h"

/* An axis is coarsened by 2 if it has more than one unknown and its coupling beta/h^2 is at least `threshold` times the
   strongest one. Returns the number of coarsened axes; 0: the grid cannot be coarsened. */
int gmg_coarsen(const gmg_axis_spec fine[3], double threshold, gmg_axis_spec coarse[3], int coarsened[3]);

#endif
