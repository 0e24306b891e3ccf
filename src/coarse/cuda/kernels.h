/* Declarations that the CUDA files of coarse share. Included by them only. */
#ifndef GMG_COARSE_CUDA_KERNELS_H
#define GMG_COARSE_CUDA_KERNELS_H

extern "C" {
#include "coarse/kernels.h"
#include "coarse/tensor/tensor.h"
}

#include "core/real.h"

extern "C" {
/* cg_grid.cu. Returns 0 if the device cannot run it. */
int R(gmg_coarse_cg_grid_cuda)(const gmg_exec *e, const gmg_bottom_problem *problem, void *r, void *u, void *p, void *q);
/* invert.cu */
void R(gmg_invert_cuda)(const gmg_exec *e, size_t n, const void *w, void *work, void *m);
size_t R(gmg_invert_work)(size_t n);
extern const gmg_coarse_kernels R(gmg_coarse_kernels_cuda); /* cg_block.cu */
extern const gmg_tensor_ops R(gmg_tensor_solver_cuda); /* tensor/cuda */
/* fused_levels/cuda */
extern const gmg_bottom_ops R(gmg_fused_levels_cuda);
}

#endif
