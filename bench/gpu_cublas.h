/* Scalars of conjugate gradients on the device, and kernels for their quotients, for which cuBLAS has no function. */
#ifndef BENCH_GPU_CUBLAS_H
#define BENCH_GPU_CUBLAS_H

#include <cuda_runtime_api.h>

enum { RZ, NEXT_RZ, PQ, ALPHA, MINUS_ALPHA, BETA, ONE, SCALARS };

#ifdef __cplusplus
extern "C" {
#endif

void bench_gpu_cg_alpha(double *scalar, cudaStream_t stream); /* ALPHA = RZ / PQ, and its negative */
void bench_gpu_cg_beta(double *scalar, cudaStream_t stream);  /* BETA = NEXT_RZ / RZ, then RZ = NEXT_RZ */

#ifdef __cplusplus
}
#endif
#endif
