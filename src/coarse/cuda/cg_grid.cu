/* The coarsest grid's conjugate gradients (cg.c) by the whole device, for grids that are too large for one thread block: one
   launch of as many blocks as fit on the device at once, with three barriers an iteration. The host learns nothing and waits
   for nothing, so a caller may capture the launch. */
#include "cg.cuh"
#include "dense.cuh"
#include "kernels.h"

#include "stencil/operator/cuda/row.cuh"

#include <cooperative_groups.h>

/* Places for the sums of the thread blocks: each sum has its own, so that it is written again only after barriers of the others. */
enum { PQ, RZ, MEAN, SUMS };

/* Over the grid, which also is a barrier. Every thread gets the sum. */
static __device__ double grid_sum(double x, double *part, int what)
{
  const unsigned me = threadIdx.y * blockDim.x + threadIdx.x;
  part += (size_t)what * gridDim.x;
  x = block_sum<GMG_THREADS / 32>(x);
  if (me == 0) part[blockIdx.x] = x;
  cooperative_groups::this_grid().sync();
  x = 0;
  for (unsigned b = me; b < gridDim.x; b += GMG_THREADS) x += __ldcg(part + b);
  return block_sum<GMG_THREADS / 32>(x);
}

/* Fields of conjugate gradients (cg.cuh), in global memory. A thread has the same unknowns in every loop, so that only p is read by
   other threads. q holds A p, then z. */
template <int kind> struct fields {
  const gmg_operator &A;
  const gmg_points &all;
  double volume;
  real *r, *u, *p, *q;
  double *part;

  __device__ void remove_mean(real *x) const
  {
    double sum = 0;
    gmg_for_points(all, [&](size_t i, size_t j, size_t k, size_t c) { sum += gmg_volume_at(A, i, j, k) * (double)x[c]; });
    const real mean = (real)(grid_sum(sum, part, MEAN) / volume);
    gmg_for_points(all, [&](size_t, size_t, size_t, size_t c) { x[c] -= mean; });
  }

  __device__ double apply()
  {
    double sum = 0;
    gmg_for_points(all, [&](size_t i, size_t j, size_t k, size_t c) {
      const real mine = p[c];
      const real image = -gmg_row_residual(3, gmg_row_at<kind>(A, i, j, k), gmg_near(gmg_places_of(A, i, j, k, c), p), 0, mine);
      q[c] = image;
      sum += gmg_volume_at(A, i, j, k) * (double)mine * (double)image;
    });
    return grid_sum(sum, part, PQ);
  }

  __device__ void step(real alpha)
  {
    gmg_for_points(all, [&](size_t, size_t, size_t, size_t c) { u[c] += alpha * p[c], r[c] -= alpha * q[c]; });
  }

  __device__ double precondition(int first)
  {
    double sum = 0;
    gmg_for_points(all, [&](size_t i, size_t j, size_t k, size_t c) {
      const real left = r[c], z = left / gmg_row_at<kind>(A, i, j, k).diag;
      if (first) u[c] = 0, p[c] = z;
      else q[c] = z;
      sum += gmg_volume_at(A, i, j, k) * (double)left * (double)z;
    });
    return grid_sum(sum, part, RZ);
  }

  __device__ void direct(real beta)
  {
    gmg_for_points(all, [&](size_t, size_t, size_t, size_t c) { p[c] = q[c] + beta * p[c]; });
    cooperative_groups::this_grid().sync();
  }
};

template <int kind>
static __global__ void __launch_bounds__(GMG_THREADS) cg_grid_kernel(gmg_operator A, gmg_points all, double volume, int singular,
                                                                     double rtol, real *r, real *u, real *p, real *q, double *part)
{
  fields<kind> x = {A, all, volume, r, u, p, q, part};
  conjugate_gradients(x, A.cells, singular, rtol);
}

typedef void kernel(gmg_operator, gmg_points, double, int, double, real *, real *, real *, real *, double *);
static kernel *const kernels[] = {cg_grid_kernel<GMG_CONSTANT>, cg_grid_kernel<GMG_FACES>, cg_grid_kernel<GMG_SIGMA>,
                                  cg_grid_kernel<GMG_FACES | GMG_SIGMA>};

/* 0: the device cannot launch blocks that wait for each other. */
int R(gmg_coarse_cg_grid_cuda)(const gmg_exec *e, const gmg_bottom_problem *problem, void *r, void *u, void *p, void *q)
{
  gmg_device *d = gmg_device_of(e);
  gmg_operator A = *problem->level[0].A;
  gmg_points all = gmg_points_of(A.n);
  kernel *const run = kernels[gmg_kind_of(&A)];
  int fit = 0, together = 0;
  gmg_cuda_note(d, cudaDeviceGetAttribute(&together, cudaDevAttrCooperativeLaunch, d->number), "coarse CG");
  gmg_cuda_note(d, cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, run, GMG_THREADS, 0), "coarse CG");
  if (!together || fit == 0) return 0;
  const unsigned wanted = gmg_grid_of(all, 1), most = (unsigned)(fit * d->processors);
  double volume = problem->level[0].volume, rtol = problem->rtol, *part = (double *)d->part; /* [GMG_MOST_PARTS][4] */
  int singular = problem->singular;
  void *arguments[] = {&A, &all, &volume, &singular, &rtol, &r, &u, &p, &q, &part};
  const dim3 grid(wanted < most ? wanted : most);
  gmg_cuda_note(d, cudaLaunchCooperativeKernel((void *)run, grid, gmg_block_of(all), arguments, 0, d->stream), "coarse CG");
  return 1;
}
