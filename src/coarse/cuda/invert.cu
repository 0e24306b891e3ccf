/* The inverse of a dense symmetric positive definite matrix, for dense.c and the fused levels: Gauss-Jordan elimination in blocks
   of BLOCK rows, which needs no pivoting here. A step inverts a block on the diagonal, multiplies its row of blocks, and subtracts
   a product from all others. So n = 1024 takes 64 launches. Called through gmg_coarse_kernels. */
#include "core/cuda/pdl.cuh"
#include "coarse/cuda/dense.cuh"
#include "kernels.h"

enum { BLOCK = 32, LINES = 8, EACH = BLOCK / LINES }; /* a thread computes EACH numbers of a block */

/* The matrix, and work space: the inverse of the block on the diagonal, its row of blocks, and its column of blocks before the
   step. */
typedef struct {
  unsigned n;
  double *m, *pivot, *row, *column;
} elimination;

/* A block of the matrix. Entries that do not exist are those of the identity, so that the last block is as large as the others. */
static __device__ __forceinline__ double entry(const elimination &e, unsigned i, unsigned j)
{
  return i < e.n && j < e.n ? e.m[(size_t)i * e.n + j] : i == j ? 1 : 0;
}

/* Replaces a block by its inverse. A thread has rows threadIdx.y, threadIdx.y + LINES and so on of column threadIdx.x, in
   registers. Pivots are positive: the matrix is positive definite. */
static __device__ __forceinline__ void invert_block(double a[EACH])
{
  __shared__ double row[2][BLOCK], column[2][BLOCK]; /* of step k, and of the step before: so a step has one barrier */
  const int line = (int)threadIdx.y, at = (int)threadIdx.x;
#pragma unroll
  for (int k = 0; k < BLOCK; k++) {
    if (line == k % LINES) row[k % 2][at] = a[k / LINES];
#pragma unroll
    for (int q = 0; q < EACH; q++)
      if (at == k) column[k % 2][line + q * LINES] = a[q];
    __syncthreads();
    const double inverse = 1 / row[k % 2][k], factor = row[k % 2][at] * inverse;
#pragma unroll
    for (int q = 0; q < EACH; q++) {
      const int i = line + q * LINES;
      const double c = column[k % 2][i];
      if (i == k) a[q] = at == k ? inverse : factor;
      else a[q] = at == k ? -c * inverse : a[q] - c * factor;
    }
  }
}

/* sum += x y for the numbers of this thread: rows threadIdx.y, threadIdx.y + LINES and so on of column threadIdx.x */
static __device__ __forceinline__ void add_product(const double (*x)[BLOCK], const double (*y)[BLOCK], double sum[EACH])
{
#pragma unroll 4
  for (int c = 0; c < BLOCK; c++)
#pragma unroll
    for (int q = 0; q < EACH; q++) sum[q] += x[threadIdx.y + q * LINES][c] * y[c][threadIdx.x];
}

/* Block blockIdx.x of the row: the inverse of the diagonal's block, which every thread block computes, times the old one. Also
   copies that block of the column. */
static __global__ void __launch_bounds__(BLOCK *LINES) panels_kernel(elimination e, unsigned K)
{
  __shared__ double x[BLOCK][BLOCK], y[BLOCK][BLOCK];
  const unsigned J = blockIdx.x * BLOCK;
  double pivot[EACH], sum[EACH] = {};
  gmg_wait_for_predecessor();
#pragma unroll
  for (int q = 0; q < EACH; q++) {
    const unsigned l = threadIdx.y + q * LINES;
    pivot[q] = entry(e, K * BLOCK + l, K * BLOCK + threadIdx.x), y[l][threadIdx.x] = entry(e, K * BLOCK + l, J + threadIdx.x);
    e.column[(size_t)(J + l) * BLOCK + threadIdx.x] = entry(e, J + l, K * BLOCK + threadIdx.x);
  }
  invert_block(pivot);
#pragma unroll
  for (int q = 0; q < EACH; q++) {
    const unsigned l = threadIdx.y + q * LINES;
    x[l][threadIdx.x] = pivot[q];
    if (blockIdx.x == K) e.pivot[l * BLOCK + threadIdx.x] = pivot[q];
  }
  __syncthreads();
  add_product(x, y, sum);
#pragma unroll
  for (int q = 0; q < EACH; q++)
    e.row[(size_t)blockIdx.x * BLOCK * BLOCK + (threadIdx.y + q * LINES) * BLOCK + threadIdx.x] = sum[q];
}

/* Block (blockIdx.y, blockIdx.x) of the matrix after step K. */
static __global__ void __launch_bounds__(BLOCK *LINES) eliminate_kernel(elimination e, unsigned K)
{
  __shared__ double x[BLOCK][BLOCK], y[BLOCK][BLOCK];
  gmg_wait_for_predecessor();
  const unsigned I = blockIdx.y, J = blockIdx.x;
  const double *const right = J == K ? e.pivot : e.row + (size_t)J * BLOCK * BLOCK;
  double sum[EACH] = {};
  for (unsigned l = threadIdx.y; l < BLOCK; l += LINES)
    x[l][threadIdx.x] = e.column[(size_t)(I * BLOCK + l) * BLOCK + threadIdx.x], y[l][threadIdx.x] = right[l * BLOCK + threadIdx.x];
  __syncthreads();
  if (I != K) add_product(x, y, sum);
#pragma unroll
  for (int q = 0; q < EACH; q++) {
    const unsigned l = threadIdx.y + q * LINES, i = I * BLOCK + l, j = J * BLOCK + threadIdx.x;
    if (i >= e.n || j >= e.n) continue;
    double *const at = e.m + (size_t)i * e.n + j;
    *at = I == K ? y[l][threadIdx.x] : (J == K ? 0 : *at) - sum[q];
  }
}

static __global__ void weigh_kernel(unsigned n, const double *w, double *m)
{
  gmg_wait_for_predecessor();
  gmg_for_all((size_t)n * n, [&](size_t t) { m[t] *= w[t % n]; });
}

size_t R(gmg_invert_work)(size_t n)
{
  const size_t padded = (n + BLOCK - 1) / BLOCK * BLOCK;
  return (BLOCK + 2 * padded) * BLOCK * sizeof(double);
}

void R(gmg_invert_cuda)(const gmg_exec *e, size_t n, const void *w, void *work, void *m)
{
  const unsigned blocks = (unsigned)((n + BLOCK - 1) / BLOCK);
  double *const pivot = (double *)work, *const row = pivot + BLOCK * BLOCK;
  const elimination x = {(unsigned)n, (double *)m, pivot, row, row + (size_t)blocks * BLOCK * BLOCK};
  const dim3 threads(BLOCK, LINES);
  for (unsigned K = 0; K < blocks; K++) {
    gmg_launch_early(e, "coarse inverse", panels_kernel, {dim3(blocks), threads, 0}, x, K);
    gmg_launch_early(e, "coarse inverse", eliminate_kernel, {dim3(blocks, blocks), threads, 0}, x, K);
  }
  gmg_launch_early(e, "coarse inverse", weigh_kernel, gmg_flat_shape(n * n), (unsigned)n, w, m);
}
