/* A dense matrix times a vector on a CUDA device, for cholesky.c: a warp takes a row. */
#include "dense.cuh"
#include "kernels.h"

#include "core/cuda/device.h"

static __global__ void __launch_bounds__(GMG_THREADS) product_kernel(unsigned n, const double *m, const real *x, real *y)
{
  const unsigned row = (blockIdx.x * GMG_THREADS + threadIdx.x) / 32;
  if (row >= n) return;
  const double sum =
      row_times<32, double>(n, [&](unsigned c, double &part) { part += __ldg(m + (size_t)row * n + c) * (double)x[c]; });
  if (threadIdx.x % 32 == 0) y[row] = (real)sum;
}

void R(gmg_coarse_product_cuda)(const gmg_exec *e, size_t n, const void *m, const void *x, void *y)
{
  gmg_launch(e, "coarse product", product_kernel, gmg_flat_grid(32 * n), n, m, x, y);
}
