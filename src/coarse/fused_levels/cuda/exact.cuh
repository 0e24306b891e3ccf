/* The exact level of the fused levels: the first one that is small enough for its inverse. A cycle goes no further down, because a
   product with the inverse takes less time than the coarser levels. Every block of the cluster has some rows of the inverse in its
   shared memory. Where coefficients are constant the inverse is V^T (1 / eigenvalues) V W, with the modes V of the axes
   (coarse/tensor/modes.h) and the control volumes W. Where they vary, it is computed by elimination (coarse/cuda/invert.cu). With a
   deterministic smoother there is no such level, so that a cycle is the same as on the host. Included by kernels.cuh. */
#ifndef GMG_COARSE_FUSED_LEVELS_CUDA_EXACT_H
#define GMG_COARSE_FUSED_LEVELS_CUDA_EXACT_H

#include "coarsest.cuh"
#include "tables.cuh"

#include <cuda_pipeline.h>

/* --- its inverse ------------------------------------------------------------------------------------------------------- */

/* The modes of the axes, in the kernel's order: eigenvalues [n]; control volumes [n]; eigenvectors [n][n], a mode in each row. */
typedef struct {
  const double *value[3], *volume[3], *vector[3];
} level_modes;

/* Row blockIdx.x of the inverse, in natural order. It has no mode of eigenvalue 0: that is a constant, so the inverse removes the
   mean from f and from u. Where sigma is below zero, a coarse level may have a negative eigenvalue. Its mode is left out, too: a
   correction along it would go the wrong way. least: smaller eigenvalues are left out. */
static __global__ void __launch_bounds__(GMG_THREADS)
    exact_kernel(small_level L, level_modes m, double shift, double least, unsigned pitch, real *to)
{
  __shared__ double t[2][MAX_CELLS_EXACT];
  const int n = L.n[0] * L.n[1] * L.n[2], stride[3] = {1, L.n[0], L.n[0] * L.n[1]};
  const int row = (int)blockIdx.x, line = row / L.n[0], own[3] = {row - line * L.n[0], line % L.n[1], line / L.n[1]};
  for (int c = (int)threadIdx.x; c < n; c += GMG_THREADS) {
    double eigenvalue = shift, value = 1;
    for (int a = 0; a < 3; a++) {
      const int mode = c / stride[a] % L.n[a];
      eigenvalue += m.value[a][mode], value *= m.vector[a][mode * L.n[a] + own[a]];
    }
    t[0][c] = eigenvalue > least ? value / eigenvalue : 0;
  }
  for (int a = 0; a < 3; a++) { /* from modes to unknowns, axis by axis */
    const double *const from = t[a % 2];
    __syncthreads();
    for (int c = (int)threadIdx.x; c < n; c += GMG_THREADS) {
      const int i = c / stride[a] % L.n[a], first = c - i * stride[a];
      double sum = 0;
      for (int mode = 0; mode < L.n[a]; mode++) sum += m.vector[a][mode * L.n[a] + i] * from[first + mode * stride[a]];
      t[1 - a % 2][c] = m.volume[a][i] * sum;
    }
  }
  __syncthreads();
  for (int c = (int)threadIdx.x; c < n; c += GMG_THREADS) to[row * (int)pitch + c] = (real)t[1][c];
}

/* The unknown at place c of the natural order, along the kernel's axes. */
typedef struct {
  int at[3];
} natural_place;

static __device__ __forceinline__ natural_place natural_place_of(const small_level &L, int c)
{
  const int line = c / L.n[0];
  return {{c - line * L.n[0], line % L.n[1], line / L.n[1]}};
}

/* The namespace has no name. Otherwise kernels of both real types would have the same parameters for different levels. */
namespace {

/* The matrix of a level with rows, times its control volumes, which makes it symmetric; later its inverse. All are in double.
   volume: the sum of the control volumes if the matrix is singular, otherwise 0. */
struct level_matrix {
  int swapped;
  double volume, *volumes, *numbers;
};

} // namespace

/* The factor of the projection on the mean, which is added to a matrix that has constants in its null space. */
template <int kind> static __device__ __forceinline__ double large_of(const gmg_operator &A, int swapped)
{
  return (double)row_at<kind>(A, swapped, 0, 0, 0).diag;
}

template <int kind>
static __global__ void __launch_bounds__(GMG_THREADS) assemble_kernel(gmg_operator A, small_level L, level_matrix m)
{
  const unsigned n = (unsigned)(L.n[0] * L.n[1] * L.n[2]);
  const double mean = m.volume > 0 ? large_of<kind>(A, m.swapped) / m.volume : 0;
  const auto volume_of = [&](const int at[3]) { return gmg_volume_at(A, at[0], at[m.swapped ? 2 : 1], at[m.swapped ? 1 : 2]); };
  gmg_for_all((size_t)n * n, [&](size_t t) {
    const unsigned i = (unsigned)t / n, j = (unsigned)t - i * n;
    const natural_place x = natural_place_of(L, (int)i), y = natural_place_of(L, (int)j);
    const double own = volume_of(x.at);
    m.numbers[t] = own * (entry_at<kind, 1>(A, L, m.swapped, x.at, y.at) + mean * volume_of(y.at));
    if (j == 0) m.volumes[i] = own;
  });
}

/* Stores the inverse in the level's type, `pitch` numbers apart, without what assemble_kernel() has added. So it removes the
   mean. */
template <int kind>
static __global__ void __launch_bounds__(GMG_THREADS)
    store_inverse_kernel(gmg_operator A, small_level L, level_matrix m, unsigned pitch, real *to)
{
  const unsigned n = (unsigned)(L.n[0] * L.n[1] * L.n[2]);
  const double mean = m.volume > 0 ? 1 / (large_of<kind>(A, m.swapped) * m.volume) : 0;
  gmg_for_all((size_t)n * n, [&](size_t t) {
    const unsigned i = (unsigned)t / n, j = (unsigned)t - i * n;
    to[i * pitch + j] = (real)(m.numbers[t] - mean * m.volumes[j]);
  });
}

/* --- its solution ------------------------------------------------------------------------------------------------------ */

/* The block's rows of the inverse, in shared memory. */
static __device__ __forceinline__ real_quad *own_inverse(const fused_state &s)
{
  extern __shared__ double shared[];
  return (real_quad *)((char *)shared + tables_bytes(&s, 1) + words_bytes(&s) + rows_bytes(&s, 1));
}

/* Begins to load the quads of the inverse that the same thread will read. */
static __device__ __forceinline__ void begin_inverse(const fused_state &s)
{
  real_quad *const inverse = own_inverse(s);
  const real_quad *const from = (const real_quad *)(s.tables + before_inverse(&s) + blockIdx.x * inverse_bytes(&s));
#pragma unroll 1
  for (unsigned row = threadIdx.x / 32; row < s.rows; row += THREADS / 32)
#pragma unroll 1
    for (unsigned c = row * (s.pitch / 4) + threadIdx.x % 32; c < (row + 1) * (s.pitch / 4); c += 32)
#pragma unroll
      for (unsigned b = 0; b < sizeof *from / sizeof(int4); b++)
        __pipeline_memcpy_async((int4 *)(inverse + c) + b, (const int4 *)(from + c) + b, sizeof(int4));
  __pipeline_commit();
}

/* Four values of f. */
struct alignas(16) value_quad {
  scalar x, y, z, w;
};

/* u = inverse f on the exact level. Every block computes some rows, and sends them to all. */
static __device__ __forceinline__ void solve_exactly(const fused_state &s, const small_level &L, scalar *memory)
{
  const real_quad *const inverse = own_inverse(s);
  const int n = L.n[0] * L.n[1] * L.n[2], begin = (int)(blockIdx.x * s.rows), rows = min((int)s.rows, n - begin);
  const int quads = (int)s.pitch / 4, lane = (int)threadIdx.x % 32;
  const value_quad *const f = (const value_quad *)(memory + s.exact_f);
  scalar *const u = memory + s.exact_f + s.pitch; /* in natural order */
  __pipeline_wait_prior(0);
#pragma unroll 1
  for (int row = (int)threadIdx.x / 32; row < rows; row += THREADS / 32) {
    scalar sum = 0;
#pragma unroll 4
    for (int c = lane; c < quads; c += 32) {
      const real_quad w = inverse[row * quads + c];
      const value_quad x = f[c];
      sum += (w.x * x.x + w.y * x.y) + (w.z * x.z + w.w * x.w);
    }
    sum = gmg_lanes_sum<32>(sum);
    if (lane == 0) u[begin + row] = sum;
  }
  gather(s.blocks, u, begin, rows, n);
#pragma unroll 1
  for (int c = (int)threadIdx.x; c < n; c += THREADS) memory[L.u + cell_of(L, c).place] = u[c];
  __syncthreads();
}

#endif
