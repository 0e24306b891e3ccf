/* Operations composed of others of the same table (composed.h). */
#include "composed.h"

#include "stencil/grid_ops.h"

int gmg_interpolate_and_measure(const gmg_exec *e, const gmg_operator *A, const gmg_map map[3], const void *coarse, const void *f,
                                void *u, int store, const double *divisor, void *r)
{
  (void)store;
  gmg_transfer(e, map, gmg_layout_of_columns(map), coarse, gmg_layout_of_u(A), u);
  (void)gmg_operator_of(e, A)->measure_residual(e, A, f, u, divisor, NULL, r, NULL, GMG_ENQUEUE);
  return 1;
}

double gmg_correct_and_measure(const gmg_exec *e, const gmg_operator *A, gmg_correction c, const void *f, void *u,
                               const double *divisor, gmg_scale *s, void *r, gmg_wait wait)
{
  gmg_array_correct(e, gmg_layout_of_u(A), c, 1, u);
  return gmg_operator_of(e, A)->measure_residual(e, A, f, u, divisor, s, r, NULL, wait);
}

void gmg_store_and_restrict(const gmg_exec *e, const gmg_operator *A, const gmg_map map[3], const void *f, const void *u, void *r,
                            void *coarse)
{
  gmg_operator_of(e, A)->residual(e, A, f, u, r);
  gmg_grid_ops_of(e)->transfer(e, map, r, coarse, 0);
}
