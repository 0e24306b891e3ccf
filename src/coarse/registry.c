/* The coarse solvers by kind. */
#include "coarse.h"

const gmg_coarse_ops *gmg_coarse_of(gmg_coarse_kind kind)
{
  static const gmg_coarse_ops *const registry[] = {[GMG_COARSE_CG] = &gmg_coarse_cg,
                                                   [GMG_COARSE_CHOLESKY] = &gmg_coarse_cholesky};
  return registry[kind];
}
