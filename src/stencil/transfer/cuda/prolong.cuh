/* What prolongation that follows the coefficients does to an unknown (host/prolong.c), for the CUDA kernels that do it
   one by one. */
#ifndef GMG_STENCIL_TRANSFER_CUDA_PROLONG_H
#define GMG_STENCIL_TRANSFER_CUDA_PROLONG_H

#include "stencil/operator/cuda/row.cuh"

/* Unknown i of an axis: its parent, the neighbour (wrapped; the parent where a wall is), the weights of both, the parent's
   less 1, and towards which side it moves. */
typedef struct {
  size_t parent, other;
  real own, next;
  int up;
} move;

static __device__ __forceinline__ move move_of(const gmg_map &m, size_t i)
{
  const real *w = (const real *)m.weight + i * m.width;
  const int parent = m.cols == m.rows ? (int)i : (int)(i / 2), first = m.first[i];
  int q = parent;
  real own = w[0] - 1, next = 0;
  if (m.width > 1 && first == parent) q = parent + 1, next = w[1];
  else if (m.width > 1) q = parent - 1, own = w[1] - 1, next = w[0];
  const int up = next != 0 ? q > parent : i + 1 == (size_t)m.rows;
  return {(size_t)parent, (size_t)(next != 0 ? m.wrap[q] : parent), own, next, up};
}

/* How much of the move along an axis is made, by the faces below and above. */
static __device__ __forceinline__ real limit_of(const move &m, real below, real above)
{
  const real out = m.up ? above : below, in = m.up ? below : above;
  return out < in ? out / in : 1;
}

#endif
