/* The scale of a low-precision residual. A residual is divided by about its own norm before it is stored in low precision, because
   it might leave the range of the type. The correction is multiplied by that divisor. The numbers stay in exec's memory, so the
   host need not wait for them. Compiled as C and as CUDA; used by core, stencil and mg. */
#ifndef GMG_CORE_SCALE_H
#define GMG_CORE_SCALE_H

#include "types.h"

typedef struct gmg_scale {
  double divisor; /* the last residual was divided by it: low-precision residual = residual / divisor */
  double next;    /* the next residual will be multiplied by it: 1 / norm of the last residual */
  double guess;   /* work space of gmg_vector_ops::normalize_to_low */
  double mean;    /* of f, which residuals are computed without; 0 unless gmg_grid_ops::take_means has set it */
} gmg_scale;

/* Whether 1 / norm is finite. */
GMG_INLINE int gmg_can_scale_by(double norm) { return norm > 1e-300 && gmg_is_finite(norm); }

/* Whether a low-precision residual with this norm is far from overflow and underflow. */
GMG_INLINE int gmg_is_well_scaled(double norm)
{
  const double limit = 1e6;
  return norm < limit && norm > 1 / limit;
}

/* Notes that a residual with this norm was multiplied by scale and stored. */
GMG_INLINE void gmg_scale_note(gmg_scale *s, double scale, double norm)
{
  s->divisor = 1 / scale;
  if (gmg_can_scale_by(norm)) s->next = 1 / norm;
}

#endif
