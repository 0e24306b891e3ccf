/* Sums over threads, and small dense matrices. Calls core/cuda; included by the kernels of coarse. */
#ifndef GMG_COARSE_CUDA_DENSE_H
#define GMG_COARSE_CUDA_DENSE_H

#include "core/cuda/device.h"
#include "core/real.h"

#include <math.h>

enum { MAX_CELLS_INVERSE = 64 }; /* largest coarsest grid that is solved by its inverse */

/* Sum over a thread block of WARPS warps. Every thread gets the sum. */
template <unsigned WARPS> static __device__ __forceinline__ double block_sum(double x)
{
  __shared__ double of_warp[WARPS];
  const unsigned me = threadIdx.y * blockDim.x + threadIdx.x;
  x = gmg_lanes_sum<32>(x);
  __syncthreads();
  if (me % 32 == 0) of_warp[me / 32] = x;
  __syncthreads();
  if (WARPS == 32) return gmg_lanes_sum<32>(of_warp[me % 32]);
  x = 0;
  for (unsigned w = 0; w < WARPS; w++) x += of_warp[w];
  return x;
}

/* A row of a matrix times a vector, by LANES neighbouring threads. Each of them gets the sum. add(c, sum) adds the product of
   column c. */
template <unsigned LANES, class Number, class Add> static __device__ __forceinline__ Number row_times(unsigned columns, Add add)
{
  Number sum = 0;
#pragma unroll
  for (unsigned c = threadIdx.x % LANES; c < columns; c += LANES) add(c, sum);
  return gmg_lanes_sum<LANES>(sum);
}

/* The inverse of a coarsest grid, stored by cg_block.cu: n rows of n numbers, then a flag that is 0 if the inverse is unusable. */
static __device__ __forceinline__ double *usable_flag(double *inverse, unsigned n) { return inverse + n * n; }

/* u = inverse f, with LANES threads per row. */
template <unsigned LANES>
static __device__ __forceinline__ void multiply(unsigned n, const double *inverse, const scalar *f, scalar *u)
{
  const unsigned row = threadIdx.x / LANES;
  const double sum = row_times<LANES, double>(MAX_CELLS_INVERSE, [&](unsigned c, double &part) {
    if (row < n && c < n) part += __ldg(inverse + row * n + c) * (double)f[c];
  });
  if (row < n && threadIdx.x % LANES == 0) u[row] = (scalar)sum;
}

/* Replaces a symmetric positive definite matrix in shared memory by its inverse (Gauss-Jordan, which needs no pivoting here). The
   matrix has n <= MAX_ROWS rows, `pitch` apart. Called by all threads of a block. Returns 0 if rounding has made a pivot 0,
   negative or infinite; the matrix is then unusable. */
template <unsigned MAX_ROWS> static __device__ int gauss_jordan(unsigned n, unsigned pitch, double *m)
{
  __shared__ double row[MAX_ROWS], column[MAX_ROWS];
  const unsigned warp = threadIdx.x / 32, warps = blockDim.x / 32, lane = threadIdx.x % 32;
  for (unsigned k = 0; k < n; k++) {
    for (unsigned c = threadIdx.x; c < n; c += blockDim.x) row[c] = m[k * pitch + c], column[c] = m[c * pitch + k];
    __syncthreads();
    const double pivot = row[k], inverse = 1 / pivot;
    if (!(pivot > 0) || !isfinite(inverse)) return 0;
    for (unsigned i = warp; i < n; i += warps)
      for (unsigned j = lane; j < n; j += 32) {
        double *const at = m + i * pitch + j;
        if (i == k) *at = j == k ? inverse : row[j] * inverse;
        else *at = j == k ? -column[i] * inverse : *at - column[i] * (row[j] * inverse);
      }
    __syncthreads();
  }
  return 1;
}

#endif
