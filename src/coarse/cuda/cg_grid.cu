/* The conjugate gradients of cg.c for a coarsest grid that is too large for one thread block: one launch of as many as fit on the
   device at once, which wait for each other three times a turn. Nothing goes to the host, so nobody waits there, and a caller may
   capture it. */
#include "kernels.h"

#include "stencil/operator/cuda/row.cuh"

#include <cooperative_groups.h>

/* Sums of the thread blocks, by what is summed: a place is written again only after other sums, that is, after barriers. */
enum { PQ, RZ, MEAN, SUMS };

static __device__ double block_sum(double x)
{
  __shared__ double warp[GMG_THREADS / 32];
  const unsigned me = threadIdx.y * blockDim.x + threadIdx.x;
  for (int d = 16; d > 0; d /= 2) x += __shfl_xor_sync(~0u, x, d);
  __syncthreads();
  if (me % 32 == 0) warp[me / 32] = x;
  __syncthreads();
  x = 0;
  for (int w = 0; w < GMG_THREADS / 32; w++) x += warp[w];
  return x;
}

/* Over the grid, the same number in every thread; and a barrier. */
static __device__ double grid_sum(double x, double *part, int what)
{
  const unsigned me = threadIdx.y * blockDim.x + threadIdx.x;
  part += (size_t)what * gridDim.x;
  x = block_sum(x);
  if (me == 0) part[blockIdx.x] = x;
  cooperative_groups::this_grid().sync();
  x = 0;
  for (unsigned b = me; b < gridDim.x; b += GMG_THREADS) x += __ldcg(part + b);
  return block_sum(x);
}

static __device__ void take_mean(const gmg_operator &A, const gmg_points &all, double volume, real *x, double *part)
{
  double sum = 0;
  gmg_for_points(all, [&](size_t i, size_t j, size_t k, size_t c) { sum += gmg_volume_at(A, i, j, k) * (double)x[c]; });
  const real mean = (real)(grid_sum(sum, part, MEAN) / volume);
  gmg_for_points(all, [&](size_t, size_t, size_t, size_t c) { x[c] -= mean; });
}

/* r, the right-hand side, becomes the residual; u the solution; p, q: room. A thread has the same unknowns in every loop: only p
   is read by others. */
template <int kind>
static __global__ void __launch_bounds__(GMG_THREADS) cg_grid_kernel(gmg_operator A, gmg_points all, double volume, int singular,
                                                                     double rtol, real *r, real *u, real *p, real *q, double *part)
{
  double sum = 0;
  if (singular) take_mean(A, all, volume, r, part);
  gmg_for_points(all, [&](size_t i, size_t j, size_t k, size_t c) {
    const real left = r[c], z = left / gmg_row_at<kind>(A, i, j, k).diag;
    u[c] = 0, p[c] = z;
    sum += gmg_volume_at(A, i, j, k) * (double)left * (double)z;
  });
  double rz = grid_sum(sum, part, RZ);
  const double stop = rz * rtol * rtol;
  for (size_t turn = 0; turn < 10 * A.cells + 100 && rz > stop; turn++) {
    sum = 0;
    gmg_for_points(all, [&](size_t i, size_t j, size_t k, size_t c) {
      const real mine = p[c];
      const real image = -gmg_row_residual(3, gmg_row_at<kind>(A, i, j, k), gmg_near(gmg_places_of(A, i, j, k, c), p), 0, mine);
      q[c] = image;
      sum += gmg_volume_at(A, i, j, k) * (double)mine * (double)image;
    });
    const double pq = grid_sum(sum, part, PQ), alpha = rz / pq, before = rz;
    if (!(pq > 0) || !isfinite(alpha)) break; /* rounding has used up the directions */
    gmg_for_points(all, [&](size_t, size_t, size_t, size_t c) { u[c] += (real)alpha * p[c], r[c] -= (real)alpha * q[c]; });
    if (singular) take_mean(A, all, volume, r, part);
    sum = 0;
    gmg_for_points(all, [&](size_t i, size_t j, size_t k, size_t c) {
      const real left = r[c], z = left / gmg_row_at<kind>(A, i, j, k).diag;
      q[c] = z;
      sum += gmg_volume_at(A, i, j, k) * (double)left * (double)z;
    });
    rz = grid_sum(sum, part, RZ);
    gmg_for_points(all, [&](size_t, size_t, size_t, size_t c) { p[c] = q[c] + (real)(rz / before) * p[c]; });
    cooperative_groups::this_grid().sync();
  }
  if (singular) take_mean(A, all, volume, u, part);
}

typedef void kernel(gmg_operator, gmg_points, double, int, double, real *, real *, real *, real *, double *);
static kernel *const kernels[] = {cg_grid_kernel<GMG_CONSTANT>, cg_grid_kernel<GMG_FACES>, cg_grid_kernel<GMG_SIGMA>,
                                  cg_grid_kernel<GMG_FACES | GMG_SIGMA>};

/* 0 where the device can not do it: cg.c does. */
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
