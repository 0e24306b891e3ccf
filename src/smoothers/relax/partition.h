/* Blocks of unknowns, and the order in which they are relaxed. Called by the asynchronous smoother on all backends, and by
   red-black on CUDA. */
#ifndef GMG_SMOOTHERS_RELAX_PARTITION_H
#define GMG_SMOOTHERS_RELAX_PARTITION_H

#include "gmg_smoother.h"

#include "core/part.h"

typedef struct gmg_blocks {
  size_t shape[3]; /* unknowns of a full block */
  size_t count[3]; /* blocks along each axis */
  size_t first[3], end[3]; /* the unknowns that are divided: all, or without the ghosts of a part (core/part.h) */
  size_t total;
  long start[3], stop[3]; /* where the division into blocks begins and ends: outside first .. end if blocks are cut */
} gmg_blocks;

/* Divides a level into blocks, without ghosts: the caller's shape if given, otherwise about `preferred`, balanced so that no thin
   block remains at the end (65 unknowns in blocks of 64 double the convergence factor). Blocks are never larger than the level. */
gmg_blocks gmg_blocks_make(const gmg_operator *A, const size_t wanted[3], const size_t preferred[3]);

/* gmg_blocks_make(), but along an axis blocks may be up to an eighth longer than preferred, if less than half a block would remain:
   257 unknowns are one block of 257, not two of 129. */
gmg_blocks gmg_blocks_make_about(const gmg_operator *A, const size_t wanted[3], const size_t preferred[3]);

/* The blocks of the whole level that a part's own unknowns belong to. Some are cut: other processes relax the rest of them. */
gmg_blocks gmg_blocks_of_whole(const gmg_operator *A, const size_t wanted[3], const size_t preferred[3]);

/* Layers around a block along an axis: `reach` of them. If there is nothing to relax beyond the block: one, which is only read. */
static inline int gmg_block_margin(const gmg_blocks *b, const gmg_operator *A, int axis, int reach)
{
  return b->count[axis] > 1 || A->wraps[axis] || (A->part && !A->part->relaxes_ghosts && gmg_is_cut(A->part, axis)) ? reach : 1;
}

/* order[0 .. total): numbers of blocks (axis 0 fastest) in the requested order. */
void gmg_blocks_order(const gmg_blocks *b, gmg_block_order kind, unsigned long seed, int *order);

#endif
