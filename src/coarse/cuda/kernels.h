/* Functions of the CUDA files of coarse that other files of it call. Included by .cu files of coarse only. */
#ifndef GMG_COARSE_CUDA_KERNELS_H
#define GMG_COARSE_CUDA_KERNELS_H

extern "C" {
#include "coarse/kernels.h"
}

#include "core/real.h"

extern "C" {
/* cg_block.cu: the members of gmg_coarse_kernels. */
int R(gmg_coarse_cg_cuda)(const gmg_exec *e, const gmg_bottom_problem *problem, void *inverse, void *r, void *u, void *p, void *q);
size_t R(gmg_coarse_inverse_bytes_cuda)(const gmg_operator *A);
void R(gmg_coarse_invert_cuda)(const gmg_exec *e, const gmg_bottom_problem *problem, void *inverse);
/* cg_grid.cu: by the whole device. 0: it cannot. */
int R(gmg_coarse_cg_grid_cuda)(const gmg_exec *e, const gmg_bottom_problem *problem, void *r, void *u, void *p, void *q);
/* product.cu */
void R(gmg_coarse_product_cuda)(const gmg_exec *e, size_t n, const void *m, const void *x, void *y);
/* fused_levels */
extern const gmg_bottom_ops R(gmg_fused_constant_cuda), R(gmg_fused_faces_cuda);
}

#endif
