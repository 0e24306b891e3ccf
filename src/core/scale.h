/* The scale of a low-precision residual. A residual is divided by about its own norm before it is stored in the lower precision, or
   it might leave the range of the type; the correction found from it is multiplied by the same size. The numbers stay in exec's
   memory, so nobody waits for them. Compiled by C and CUDA alike; called by vector, stencil and mg. */
#ifndef GMG_CORE_SCALE_H
#define GMG_CORE_SCALE_H

#include "types.h"

typedef struct gmg_scale {
  double size;  /* the low-precision residual is the residual over this */
  double next;  /* what the next residual is to be multiplied by: 1 / norm of this one */
  double guess; /* room for gmg_vector_ops::normalize_to_low */
} gmg_scale;

/* A norm that has an inverse. */
GMG_INLINE int gmg_can_scale_by(double norm) { return norm > 1e-300 && gmg_is_number(norm); }

/* Whether a low-precision residual of that norm is far from overflow and underflow. */
GMG_INLINE int gmg_is_well_scaled(double norm)
{
  const double limit = 1e6;
  return norm < limit && norm > 1 / limit;
}

/* A residual of that norm was stored, multiplied by scale. */
GMG_INLINE void gmg_scale_note(gmg_scale *s, double scale, double norm)
{
  s->size = 1 / scale;
  if (gmg_can_scale_by(norm)) s->next = 1 / norm;
}

#endif
