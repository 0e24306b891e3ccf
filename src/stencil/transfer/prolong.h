/* Prolongation that depends on the coefficients, for one unknown (explained in host/prolong.c). Compiled as C and as CUDA. Included
   by the transfer kernels and by coarse/fused_levels. */
#ifndef GMG_STENCIL_TRANSFER_PROLONG_H
#define GMG_STENCIL_TRANSFER_PROLONG_H

#include "stencil/grid/map.h"
#include "stencil/operator/row.h"

/* How a fine unknown moves along an axis from its parent's value towards that of the parent's neighbour. */
typedef struct {
  size_t parent, other; /* the parent, and its neighbour: wrapped; at a wall the parent itself */
  real own, next;       /* weight of the parent, less 1; weight of the neighbour */
  int up;               /* whether the neighbour or wall lies above */
} gmg_move;

GMG_INLINE gmg_move gmg_move_of(const gmg_map *m, size_t i)
{
  const real *w = (const real *)m->weight + i * (size_t)m->width;
  const int parent = m->cols == m->rows ? (int)i : (int)(i / 2) + m->shift, first = m->first[i];
  int q = parent;
  real own = w[0] - 1, next = 0;
  if (m->width > 1 && first == parent) q = parent + 1, next = w[1];
  else if (m->width > 1) q = parent - 1, own = w[1] - 1, next = w[0];
  const int up = next != 0 ? q > parent : i + 1 == (size_t)m->rows;
  const gmg_move move = {(size_t)parent, (size_t)(next != 0 ? m->wrap[q] : parent), own, next, up};
  return move;
}

/* The fraction of a move that is made. out, in: coefficients of the faces towards the neighbour and behind. */
GMG_INLINE real gmg_limit(real out, real in) { return out < in ? out / in : 1; }

/* gmg_limit() from the faces below and above. */
GMG_INLINE real gmg_move_limit(gmg_move m, real below, real above) { return gmg_limit(m.up ? above : below, m.up ? below : above); }

#endif
