/* The layout of a field in memory: the one place that turns indices (i, j, k) into an offset, and the one place that finds an index
   beyond the end of an axis, around a wrap or at a wall. Compiled by C and CUDA compilers alike. Calls nothing; called by all rooms. */
#ifndef GMG_CORE_LAYOUT_H
#define GMG_CORE_LAYOUT_H

#include "inline.h"

#include <stddef.h>

/* Values along axis 0 are contiguous. Kernels take the distance between rows and planes from pitch, never from n. */
typedef struct gmg_layout {
  size_t n[3];     /* unknowns along each axis */
  size_t pitch[3]; /* elements from one unknown to the next along an axis: 1, from row to row, from plane to plane */
  size_t first;    /* elements before unknown (0, 0, 0) */
} gmg_layout;

/* Nothing between the rows, the planes, or before the first unknown. */
GMG_INLINE gmg_layout gmg_layout_packed(const size_t n[3])
{
  const gmg_layout l = {{n[0], n[1], n[2]}, {1, n[0], n[0] * n[1]}, 0};
  return l;
}

/* A packed field on the faces across an axis, which has one face more than unknowns. */
GMG_INLINE gmg_layout gmg_layout_faces(const size_t n[3], int axis)
{
  const size_t faces[3] = {n[0] + (axis == 0), n[1] + (axis == 1), n[2] + (axis == 2)};
  return gmg_layout_packed(faces);
}

/* Offset of unknown (i, j, k). An index of -1, of a ghost, is (size_t)-1. */
GMG_INLINE size_t gmg_offset(gmg_layout l, size_t i, size_t j, size_t k) { return l.first + k * l.pitch[2] + j * l.pitch[1] + i; }

/* Offset of the unknown with index x along one axis, y and z along the other two, the faster one first. */
GMG_INLINE size_t gmg_offset_across(gmg_layout l, int axis, size_t x, size_t y, size_t z)
{
  return axis == 0 ? gmg_offset(l, x, y, z) : axis == 1 ? gmg_offset(l, y, x, z) : gmg_offset(l, y, z, x);
}

/* --- neighbours along an axis of n unknowns -------------------------------------------------------------------------- */

/* Whether there is an unknown at index i: beyond an end of a periodic axis there is. */
GMG_INLINE int gmg_index_exists(int i, int n, int wraps) { return wraps || (i >= 0 && i < n); }

/* Index i, which may lie beyond an end by less than n, brought back around the wrap of a periodic axis; beyond a wall it stays. */
GMG_INLINE int gmg_wrap_index(int i, int n, int wraps) { return !wraps ? i : i < 0 ? i + n : i >= n ? i - n : i; }

/* The neighbours of unknown i: around a wrap, or i itself at a wall, where the coupling is 0. */
GMG_INLINE size_t gmg_index_below(size_t i, size_t n, int wraps) { return i > 0 ? i - 1 : wraps ? n - 1 : i; }
GMG_INLINE size_t gmg_index_above(size_t i, size_t n, int wraps) { return i + 1 < n ? i + 1 : wraps ? 0 : i; }

#endif
