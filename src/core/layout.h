/* The layout of a field in memory: the one place that turns indices (i, j, k) into an offset, and the one place that finds an index
   beyond the end of an axis, around a wrap or at a wall. Compiled by C and CUDA compilers alike. Calls nothing; called by all
   rooms. */
#ifndef GMG_CORE_LAYOUT_H
#define GMG_CORE_LAYOUT_H

#include "types.h"

#include <stddef.h>

/* Whether there is an unknown at index i of an axis of n: beyond an end of a periodic axis there is. */
GMG_INLINE int gmg_index_exists(int i, int n, int wraps) { return wraps || (i >= 0 && i < n); }

/* Index i, which may lie beyond an end by less than n, brought back around the wrap of a periodic axis; beyond a wall it stays. */
GMG_INLINE int gmg_wrap_index(int i, int n, int wraps) { return !wraps ? i : i < 0 ? i + n : i >= n ? i - n : i; }

#define GMG_INDEX size_t
#define GMG_L(name) name
#include "layout_index.h"
#undef GMG_INDEX
#undef GMG_L

/* gmg_layout_32 and so on: fields of less than 2^32 values, for kernels that have no registers to spare for longer offsets. */
#define GMG_INDEX unsigned
#define GMG_L(name) name##_32
#include "layout_index.h"
#undef GMG_INDEX
#undef GMG_L

GMG_INLINE gmg_layout_32 gmg_layout_32_of(gmg_layout l)
{
  const gmg_layout_32 x = {{(unsigned)l.n[0], (unsigned)l.n[1], (unsigned)l.n[2]}, (unsigned)l.row, (unsigned)l.rows, (unsigned)l.first};
  return x;
}

#endif
