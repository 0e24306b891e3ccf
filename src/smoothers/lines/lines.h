/* What the files of line relaxation share. Private to this folder. */
#ifndef GMG_SMOOTHERS_LINES_H
#define GMG_SMOOTHERS_LINES_H

#include "smoothers/smoother.h"

double gmg_weight_lines(const gmg_operator *A, const gmg_params *params);

/* Whether a sweep relaxes lines along the axis on this level. */
static inline int gmg_has_lines_along(const gmg_smoother_level *l, int axis)
{
  return axis < l->A->dim && (l->params->line_axes >> axis & 1);
}

#endif
