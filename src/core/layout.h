/* The layout of a field in memory. Only this header turns indices (i, j, k) into an offset, and finds neighbours at walls and
   across the seam of a periodic axis. Compiled as C and as CUDA. Calls nothing; included by all modules. */
#ifndef GMG_CORE_LAYOUT_H
#define GMG_CORE_LAYOUT_H

#include "types.h"

#include <stddef.h>

/* Whether there is an unknown at index i of an axis of n unknowns. On a periodic axis there always is. */
GMG_INLINE int gmg_index_exists(int i, int n, int wraps) { return wraps || (i >= 0 && i < n); }

/* Wraps index i on a periodic axis. i may be outside the axis by less than n. On other axes i is returned unchanged. */
GMG_INLINE int gmg_wrap_once(int i, int n, int wraps) { return !wraps ? i : i < 0 ? i + n : i >= n ? i - n : i; }

/* Wraps index i any number of times, by adding: cheaper than gmg_wrap_modulo() if i is not far outside the axis. */
GMG_INLINE int gmg_wrap_by_loop(int i, int n, int wraps)
{
  while (wraps && i < 0) i += n;
  while (wraps && i >= n) i -= n;
  return i;
}

/* gmg_wrap_once() with around: n on a periodic axis, 0 on others. Saves 16 of 1,000 instructions in a kernel. */
GMG_INLINE int gmg_wrap_once_by(int i, int n, int around) { return i + (i < 0 ? around : i >= n ? -around : 0); }

/* What is beyond the ends of an axis, as bits: the axis again, or its mirror image about the outermost unknown. 0: walls, beyond
   which there is nothing. */
enum { GMG_WRAPS = 1, GMG_MIRRORS_BELOW = 2, GMG_MIRRORS_ABOVE = 4 };

/* Whether there is an unknown, or the image of one, at index i. */
GMG_INLINE int gmg_index_continues(int i, int n, int ends)
{
  return (ends & GMG_WRAPS) || ((i >= 0 || (ends & GMG_MIRRORS_BELOW)) && (i < n || (ends & GMG_MIRRORS_ABOVE)));
}

/* The unknown at index i, or that of which it is the image. i may be outside the axis by less than n. */
GMG_INLINE int gmg_fold_index(int i, int n, int ends)
{
  if (i >= 0 && i < n) return i;
  if (ends & GMG_WRAPS) return i < 0 ? i + n : i - n;
  return i < 0 ? -i : 2 * (n - 1) - i;
}

#define GMG_INDEX size_t
#define GMG_SIGNED long
#define GMG_L(name) name
#include "layout_index.h"
#undef GMG_INDEX
#undef GMG_SIGNED
#undef GMG_L

/* gmg_layout_32 and its functions: for fields of less than 2^32 values, in kernels without registers for longer offsets. */
#define GMG_INDEX unsigned
#define GMG_SIGNED int
#define GMG_L(name) name##_32
#include "layout_index.h"
#undef GMG_INDEX
#undef GMG_SIGNED
#undef GMG_L

/* Whether rows and planes follow each other without gaps. */
GMG_INLINE int gmg_is_packed(gmg_layout l) { return l.row == l.n[0] && l.rows == l.n[1] && l.first == 0; }

/* Layouts of the operands of a residual r = f - A u, if some of them are arrays of the caller. */
typedef struct gmg_residual_layouts {
  gmg_layout f, u, r;
} gmg_residual_layouts;

GMG_INLINE gmg_layout_32 gmg_layout_32_of(gmg_layout l)
{
  const gmg_layout_32 x = {
      {(unsigned)l.n[0], (unsigned)l.n[1], (unsigned)l.n[2]}, (unsigned)l.row, (unsigned)l.rows, (unsigned)l.first};
  return x;
}

#endif
