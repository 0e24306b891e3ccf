/* Operations of gmg_operator_ops that call others of the same table, for all backends and kinds of operators. A kind may have
   faster ones. Calls core and the tables of stencil; used in tables of operators. */
#ifndef GMG_STENCIL_GENERIC_COMPOSED_H
#define GMG_STENCIL_GENERIC_COMPOSED_H

#include "stencil/operator.h"

#ifdef __cplusplus
extern "C" {
#endif

/* interpolated_residual: gmg_transfer(), then measure_residual(). It always stores u. */
int gmg_interpolate_and_measure(const gmg_exec *e, const gmg_operator *A, const gmg_map map[3], const void *coarse, const void *f,
                                void *u, int store, const double *divisor, void *r);
/* correct_residual: gmg_array_correct(), then measure_residual(). */
double gmg_correct_and_measure(const gmg_exec *e, const gmg_operator *A, gmg_correction c, const void *f, void *u,
                               const double *divisor, gmg_scale *s, void *r, gmg_wait wait);
/* restrict_residual: residual(), then gmg_grid_ops::transfer(). */
void gmg_store_and_restrict(const gmg_exec *e, const gmg_operator *A, const gmg_map map[3], const void *f, const void *u, void *r,
                            void *coarse);

#ifdef __cplusplus
}
#endif

#endif
