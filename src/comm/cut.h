/* How a grid is cut into parts: the number of parts along each axis, and where the cuts are. Every process computes the same cuts,
   from sizes alone. Calls core; called by mg. */
#ifndef GMG_COMM_CUT_H
#define GMG_COMM_CUT_H

#include "core/part.h"

/* Chooses the number of parts along each axis: a factorisation of `ranks` with the fewest ghosts, in which every part has at least
   `least` unknowns along each cut axis. may_cut: which axes may be cut. Returns 0 if there is none. */
int gmg_choose_parts(int dim, const size_t n[3], const int may_cut[3], int ranks, size_t least, int parts[3]);

/* Cuts an axis of n unknowns into parts of about equal size: cut[0 .. parts]. Cuts are at multiples of a power of 2 that is small
   beside a part, so that the parts of coarser levels have equal sizes, too. */
void gmg_cut_axis(size_t n, int parts, size_t *cut);

/* The cuts of a coarser level of nc unknowns, beside those of n unknowns. */
void gmg_coarsen_cuts(size_t n, size_t nc, int parts, const size_t *cut, size_t *coarse);

/* The smallest part along an axis. */
size_t gmg_thinnest_part(int parts, const size_t *cut);

#endif
