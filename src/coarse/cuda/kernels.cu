/* What CUDA devices do by kernels of their own at the bottom of a cycle. */
#include "kernels.h"

extern "C" const gmg_coarse_kernels R(gmg_coarse_kernels_cuda) = {
    .cg = R(gmg_coarse_cg_cuda),
    .inverse_bytes = R(gmg_coarse_inverse_bytes_cuda),
    .invert = R(gmg_coarse_invert_cuda),
    .product = R(gmg_coarse_product_cuda),
    .fused_levels = {&R(gmg_fused_constant_cuda), &R(gmg_fused_faces_cuda)}};
