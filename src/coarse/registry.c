/* What there is for the bottom of a cycle: by kind for the coarsest grid, by backend for several levels. */
#include "kernels.h"

#include "core/backend.h"

const gmg_bottom_ops *gmg_coarsest_of(gmg_coarse_kind kind)
{
  static const gmg_bottom_ops *const registry[] = {[GMG_COARSE_CG] = &gmg_coarsest_cg,
                                                   [GMG_COARSE_CHOLESKY] = &gmg_coarsest_cholesky};
  return registry[kind];
}

extern const gmg_coarse_kernels gmg_coarse_kernels_cuda_f32, gmg_coarse_kernels_cuda_f64;

const gmg_coarse_kernels *gmg_coarse_kernels_of(const gmg_exec *e)
{
  static const gmg_coarse_kernels none;
  static const gmg_coarse_kernels *const kernels[][2] = {
      [GMG_BACKEND_HOST] = {&none, &none},
      [GMG_BACKEND_CUDA] = {GMG_ON_CUDA(&gmg_coarse_kernels_cuda_f32), GMG_ON_CUDA(&gmg_coarse_kernels_cuda_f64)},
  };
  return kernels[e->backend][e->type];
}

const gmg_bottom_ops *const *gmg_fused_levels_of(const gmg_exec *e) { return gmg_coarse_kernels_of(e)->fused_levels; }
