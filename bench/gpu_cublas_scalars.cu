#include "gpu_cublas.h"

static __global__ void alpha_kernel(double *s)
{
  s[ALPHA] = s[RZ] / s[PQ];
  s[MINUS_ALPHA] = -s[ALPHA];
}

static __global__ void beta_kernel(double *s)
{
  s[BETA] = s[NEXT_RZ] / s[RZ];
  s[RZ] = s[NEXT_RZ];
}

void bench_gpu_cg_alpha(double *scalar, cudaStream_t stream) { alpha_kernel<<<1, 1, 0, stream>>>(scalar); }

void bench_gpu_cg_beta(double *scalar, cudaStream_t stream) { beta_kernel<<<1, 1, 0, stream>>>(scalar); }
