/* Colours for box stencils: no two unknowns of one colour are neighbours. Along each axis there are two, even and odd. The last
   unknown of a periodic axis with an odd number of unknowns has a third. Compiled as C and as CUDA. Calls nothing; included by
   smoothers of box stencils. */
#ifndef GMG_STENCIL_BOX_COLOURS_H
#define GMG_STENCIL_BOX_COLOURS_H

#include "core/types.h"

#include <stddef.h>

GMG_INLINE int gmg_colours_along(size_t n, int wraps) { return n == 1 ? 1 : wraps && n % 2 ? 3 : 2; }

/* Unknowns of colour c along an axis: `count` of them, every second from `first` on. */
typedef struct {
  size_t first, count;
} gmg_colour_range;

GMG_INLINE gmg_colour_range gmg_colour_range_of(int c, size_t n, int wraps)
{
  const size_t paired = wraps && n % 2 ? n - 1 : n;
  const gmg_colour_range r = {c == 2 ? n - 1 : (size_t)c, c == 2 ? 1 : (paired + 1 - (size_t)c) / 2};
  return r;
}

#endif
