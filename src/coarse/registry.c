/* Look-up of the solvers for the bottom of a cycle: by kind for the coarsest grid, by backend for fused levels. Called by mg. */
#include "kernels.h"
#include "tensor/tensor.h"

#include "core/backend.h"

const gmg_bottom_ops *gmg_coarsest_of(gmg_coarse_kind kind)
{
  static const gmg_bottom_ops *const registry[] = {[GMG_COARSE_CG] = &gmg_coarsest_cg,
                                                   [GMG_COARSE_DENSE] = &gmg_coarsest_cholesky,
                                                   [GMG_COARSE_TENSOR] = &gmg_coarsest_tensor};
  return registry[kind];
}

const gmg_coarse_kernels gmg_coarse_kernels_host_f32 = {.tensor = &gmg_tensor_solver_host_f32};
const gmg_coarse_kernels gmg_coarse_kernels_host_f64 = {.tensor = &gmg_tensor_solver_host_f64};

const gmg_coarse_kernels *gmg_coarse_kernels_of(const gmg_exec *e) { return e->tables->coarse[e->type]; }

const gmg_bottom_ops *gmg_fused_levels_of(const gmg_exec *e) { return gmg_coarse_kernels_of(e)->fused_levels; }
