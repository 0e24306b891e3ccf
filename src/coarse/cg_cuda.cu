/* The conjugate gradients of cg.c for a coarsest grid that one thread block can do, or one warp where there is little to do: one
   launch, and nothing goes to the host. Larger grids are left to cg.c. */
extern "C" {
#include "coarse.h"
}

#include "../stencil/row_cuda.cuh"

enum { MOST = 16384, FEW = 64 }; /* unknowns; FEW: a warp is faster, it never waits for others */

/* Who computes: a group of threads. */
static __device__ __forceinline__ double warp_sum(double x)
{
#pragma unroll
  for (int d = 16; d > 0; d /= 2) x += __shfl_xor_sync(~0u, x, d);
  return x;
}

struct by_warp {
  static __device__ unsigned rank() { return threadIdx.x % 32; }
  static __device__ unsigned size() { return 32; }
  static __device__ void wait() { __syncwarp(); }
  static __device__ double sum(double x) { return warp_sum(x); }
};

struct by_block {
  static __device__ unsigned rank() { return threadIdx.x; }
  static __device__ unsigned size() { return blockDim.x; }
  static __device__ void wait() { __syncthreads(); }
  static __device__ double sum(double x)
  {
    __shared__ double part[32];
    x = warp_sum(x);
    __syncthreads();
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = x;
    __syncthreads();
    x = 0;
    for (unsigned w = 0; w < blockDim.x / 32; w++) x += part[w];
    return x;
  }
};

#define EACH(group, c, n) for (unsigned c = group::rank(); c < (n); c += group::size())

typedef struct {
  unsigned i, j, k;
} cell_place;

static __device__ __forceinline__ cell_place place_of(const gmg_operator &A, unsigned c)
{
  const unsigned n0 = (unsigned)A.n[0], n1 = (unsigned)A.n[1], line = c / n0, k = line / n1;
  return {c - line * n0, line - k * n1, k};
}

/* Sum of w x y, w the control volumes; y = NULL: 1. */
template <class group> static __device__ double weighted(const gmg_operator &A, const real *x, const real *y)
{
  double sum = 0;
  EACH(group, c, A.cells) {
    const cell_place at = place_of(A, c);
    sum += gmg_volume_at(A, at.i, at.j, at.k) * (double)x[c] * (y ? (double)y[c] : 1);
  }
  return group::sum(sum);
}

template <class group> static __device__ void remove_mean(const gmg_operator &A, double volume, real *x)
{
  const real mean = (real)(weighted<group>(A, x, NULL) / volume);
  EACH(group, c, A.cells) x[c] -= mean;
  group::wait();
}

/* r, the right-hand side, becomes the residual; u the solution; z, p, q: room. */
template <class group, int kind>
static __device__ void conjugate_gradients(const gmg_operator &A, double volume, int singular, double rtol, real *r, real *u, real *z,
                                           real *p, real *q)
{
  const unsigned n = (unsigned)A.cells;
  if (singular) remove_mean<group>(A, volume, r);
  EACH(group, c, n) {
    const cell_place at = place_of(A, c);
    u[c] = 0, z[c] = p[c] = r[c] / gmg_row_at<kind>(A, at.i, at.j, at.k).diag;
  }
  group::wait();
  double rz = weighted<group>(A, r, z);
  const double stop = rz * rtol * rtol;
  for (unsigned turn = 0; turn < 10 * n + 100 && rz > stop; turn++) {
    EACH(group, c, n) {
      const cell_place at = place_of(A, c);
      q[c] = -gmg_row_residual(3, gmg_row_at<kind>(A, at.i, at.j, at.k), gmg_near(gmg_places_of(A, at.i, at.j, at.k, c), p), 0, p[c]);
    }
    group::wait();
    const double pq = weighted<group>(A, p, q), alpha = rz / pq, before = rz;
    if (!(pq > 0) || !isfinite(alpha)) break; /* rounding has used up the directions */
    EACH(group, c, n) u[c] += (real)alpha * p[c], r[c] -= (real)alpha * q[c];
    group::wait();
    if (singular) remove_mean<group>(A, volume, r);
    EACH(group, c, n) {
      const cell_place at = place_of(A, c);
      z[c] = r[c] / gmg_row_at<kind>(A, at.i, at.j, at.k).diag;
    }
    group::wait();
    rz = weighted<group>(A, r, z);
    EACH(group, c, n) p[c] = z[c] + (real)(rz / before) * p[c];
    group::wait();
  }
  if (singular) remove_mean<group>(A, volume, u);
}

template <int kind>
static __global__ void __launch_bounds__(GMG_THREADS)
    cg_kernel(gmg_operator A, double volume, int singular, double rtol, real *r, real *u, real *z, real *p, real *q)
{
  if (A.cells > FEW) conjugate_gradients<by_block, kind>(A, volume, singular, rtol, r, u, z, p, q);
  else conjugate_gradients<by_warp, kind>(A, volume, singular, rtol, r, u, z, p, q);
}

extern "C" int R(gmg_coarse_cg_cuda)(const gmg_exec *e, const gmg_coarse_problem *problem, void *r, void *u, void *z, void *p, void *q)
{
  const gmg_operator *A = problem->A;
  const size_t single[3] = {1, 1, 1};
  gmg_points one = gmg_points_of(single);
  one.across = A->cells > FEW ? GMG_THREADS : 32, one.lines = 1; /* one thread block */
  if (A->cells > MOST) return 0;
  GMG_LAUNCH(cg_kernel, e, A, one, 0, *A, problem->volume, problem->singular, problem->rtol, (real *)r, (real *)u, (real *)z,
             (real *)p, (real *)q);
  gmg_cuda_launched(e, "coarse CG");
  return 1;
}
