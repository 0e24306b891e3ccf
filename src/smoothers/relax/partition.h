/* Blocks of unknowns and the order in which they are handed out. Used by the asynchronous smoother of any backend. */
#ifndef GMG_SMOOTHERS_RELAX_PARTITION_H
#define GMG_SMOOTHERS_RELAX_PARTITION_H

#include "gmg_smoother.h"

typedef struct gmg_blocks {
  size_t shape[3]; /* unknowns of a full block */
  size_t count[3]; /* blocks along each axis */
  size_t total;
} gmg_blocks;

/* The caller's block where given, else about `preferred`, evened out so that no thin block remains at the end (65 unknowns
   in blocks of 64 cost a factor 2 in rate). Never larger than the level. */
gmg_blocks gmg_blocks_make(const gmg_operator *A, const size_t wanted[3], const size_t preferred[3]);

/* order[0 .. total): block numbers (axis 0 fastest) in the order wanted. */
void gmg_blocks_order(const gmg_blocks *b, gmg_block_order kind, unsigned long seed, int *order);

#endif
