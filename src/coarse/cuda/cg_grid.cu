/* Conjugate gradients (cg.c) on the whole device, for coarsest grids that are too large for one thread block. One launch with as
   many blocks as fit on the device at once, and three barriers per iteration. The launch can be captured. Called by cg_block.cu. */
#include "cg.cuh"
#include "dense.cuh"
#include "kernels.h"

#include <cooperative_groups.h>

/* All threads of the grid. part: for each of the sums (SUM_PQ, SUM_RZ, SUM_MEAN) the parts of the thread blocks. Between two uses
   of a sum there is another sum, whose barrier keeps a block from overwriting a part that others still read. */
struct by_grid {
  const gmg_points &all;
  double *part;

  template <class Body> __device__ void each(const gmg_operator &, Body body) const { gmg_for_points(all, body); }
  __device__ void wait() const { cooperative_groups::this_grid().sync(); }
  __device__ double sum(double x, int which) const
  {
    const unsigned me = threadIdx.y * blockDim.x + threadIdx.x;
    double *const of_block = part + (size_t)which * gridDim.x;
    x = block_sum<GMG_THREADS / 32>(x);
    if (me == 0) of_block[blockIdx.x] = x;
    wait();
    x = 0;
    for (unsigned b = me; b < gridDim.x; b += GMG_THREADS) x += __ldcg(of_block + b);
    return block_sum<GMG_THREADS / 32>(x);
  }
};

/* The number of thread blocks per multiprocessor limits registers: with constant coefficients 80 are enough. */
template <int kind>
static __global__ void __launch_bounds__(GMG_THREADS, kind & GMG_FACES ? 2 : 3)
    cg_grid_kernel(gmg_operator A, gmg_points all, double volume, int singular, double rtol, scalar *r, scalar *u, scalar *p,
                   scalar *q, double *part)
{
  const by_grid group = {all, part};
  cg_fields<by_grid, kind> x = {group, A, volume, r, u, p, q};
  conjugate_gradients(x, A.cells, singular, rtol);
}

/* Returns 0 if the device cannot launch blocks that wait for each other. */
int R(gmg_coarse_cg_grid_cuda)(const gmg_exec *e, const gmg_bottom_problem *problem, void *r, void *u, void *p, void *q)
{
  gmg_device *d = gmg_device_of(e);
  gmg_operator A = *problem->level[0].A;
  gmg_points all = gmg_points_of(A.n);
  const auto run = GMG_BY_KIND(&A, cg_grid_kernel);
  int fit = 0, together = 0;
  gmg_cuda_note(d, cudaDeviceGetAttribute(&together, cudaDevAttrCooperativeLaunch, d->number), "coarse CG");
  gmg_cuda_note(d, cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, run, GMG_THREADS, 0), "coarse CG");
  if (!together || fit == 0) return 0;
  const gmg_launch_shape wanted = gmg_shape_of(all, GMG_MAX_PARTS);
  const unsigned most = (unsigned)(fit * d->processors);
  double volume = problem->level[0].volume, rtol = problem->rtol, *part = (double *)d->part; /* [GMG_MAX_PARTS][4] */
  int singular = problem->singular;
  void *arguments[] = {&A, &all, &volume, &singular, &rtol, &r, &u, &p, &q, &part};
  const dim3 blocks(wanted.blocks.x < most ? wanted.blocks.x : most);
  gmg_cuda_note(d, cudaLaunchCooperativeKernel(run, blocks, wanted.threads, arguments, 0, d->stream), "coarse CG");
  return 1;
}
