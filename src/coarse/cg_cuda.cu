/* The conjugate gradients of cg.c for a coarsest grid that one thread block can do: one launch, and nothing goes to the host.
   Larger grids are left to cg.c. */
extern "C" {
#include "coarse.h"
}

#include "../stencil/row_cuda.cuh"

enum { MOST = 16384 }; /* unknowns */

/* Sum over the block, known to all its threads. */
static __device__ double everyone(double x)
{
  __shared__ double shared;
  const gmg_total mine = {x, 0, 0, 0}, sum = gmg_block_total(mine);
  if (threadIdx.x == 0) shared = sum.first;
  __syncthreads();
  x = shared;
  __syncthreads();
  return x;
}

#define EACH(c) for (size_t c = threadIdx.x; c < A.cells; c += GMG_THREADS)

typedef struct {
  size_t i, j, k;
} place;

static __device__ __forceinline__ place place_of(const gmg_operator &A, size_t c)
{
  const unsigned n0 = (unsigned)A.n[0], n1 = (unsigned)A.n[1], line = (unsigned)c / n0;
  return {(size_t)((unsigned)c - line * n0), (size_t)(line % n1), (size_t)(line / n1)};
}

static __device__ double weighted(const gmg_operator &A, const real *x, const real *y)
{
  double sum = 0;
  EACH(c) {
    const place at = place_of(A, c);
    sum += gmg_volume_at(A, at.i, at.j, at.k) * (double)x[c] * (y ? (double)y[c] : 1);
  }
  return everyone(sum);
}

static __device__ void remove_mean(const gmg_operator &A, double volume, real *x)
{
  const real mean = (real)(weighted(A, x, NULL) / volume);
  EACH(c) x[c] -= mean;
  __syncthreads();
}

template <int kind>
static __global__ void __launch_bounds__(GMG_THREADS)
    cg_kernel(gmg_operator A, double volume, int singular, double rtol, real *r, real *u, real *z, real *p, real *q)
{
  if (singular) remove_mean(A, volume, r);
  EACH(c) {
    const place at = place_of(A, c);
    u[c] = 0, z[c] = p[c] = r[c] / gmg_row_at<kind>(A, at.i, at.j, at.k).diag;
  }
  __syncthreads();
  double rz = weighted(A, r, z);
  const double stop = rz * rtol * rtol;
  for (size_t turn = 0; turn < 10 * A.cells + 100 && rz > stop; turn++) {
    EACH(c) {
      const place at = place_of(A, c);
      q[c] = -gmg_residual_at<kind>(A, at.i, at.j, at.k, c, NULL, p);
    }
    __syncthreads();
    const double pq = weighted(A, p, q), alpha = rz / pq, before = rz;
    if (!(pq > 0) || !isfinite(alpha)) break; /* rounding has used up the directions */
    EACH(c) u[c] += (real)alpha * p[c], r[c] -= (real)alpha * q[c];
    __syncthreads();
    if (singular) remove_mean(A, volume, r);
    EACH(c) {
      const place at = place_of(A, c);
      z[c] = r[c] / gmg_row_at<kind>(A, at.i, at.j, at.k).diag;
    }
    __syncthreads();
    rz = weighted(A, r, z);
    EACH(c) p[c] = z[c] + (real)(rz / before) * p[c];
    __syncthreads();
  }
  if (singular) remove_mean(A, volume, u);
}

extern "C" int R(gmg_coarse_cg_cuda)(const gmg_exec *e, const gmg_coarse_problem *problem, void *r, void *u, void *z, void *p, void *q)
{
  const gmg_operator *A = problem->A;
  const size_t single[3] = {1, 1, 1};
  gmg_points one = gmg_points_of(single);
  one.across = GMG_THREADS, one.lines = 1; /* one thread block */
  if (A->cells > MOST) return 0;
  GMG_LAUNCH(cg_kernel, e, A, one, 0, *A, problem->volume, problem->singular, problem->rtol, (real *)r, (real *)u, (real *)z,
             (real *)p, (real *)q);
  gmg_cuda_launched(e, "coarse CG");
  return 1;
}
