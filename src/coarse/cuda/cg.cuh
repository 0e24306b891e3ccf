/* The conjugate gradients of cg.c inside a kernel, so that the host reads nothing and waits for nothing. Included by cg_block.cu,
   cg_grid.cu and the fused levels. The loop stands here again, because cg.c calls an operation of exec for each line of it, and
   kernels cannot. Fused levels need it: without them a solve takes up to 1.45 times as long (fused_levels in
   docs/notes/variants.md). Its decisions are shared (core/cg_scalars.h). */
#ifndef GMG_COARSE_CUDA_CG_H
#define GMG_COARSE_CUDA_CG_H

#include "stencil/operator/cuda/row.cuh"

#include "core/cg_scalars.h"
#include "core/real.h"

/* Fields holds the vectors, and decides which threads compute what. r is the right-hand side, then the residual; u is the solution.
   Every participating thread gets the sums. */
template <class Fields>
static __device__ __forceinline__ void conjugate_gradients(Fields &x, size_t unknowns, int singular, double rtol)
{
  if (singular) x.remove_mean(x.r);
  gmg_cg_run cg = gmg_cg_begin(x.precondition(1), rtol); /* z = r / diagonal, returns <r, z>; first: u = 0, p = z */
  for (size_t iteration = 0; gmg_cg_goes_on(&cg, iteration, unknowns); iteration++) {
    if (!gmg_cg_set_alpha(&cg, x.apply())) break; /* q = A p, returns <p, q> */
    x.step((real)cg.alpha);                       /* u = u + alpha p, r = r - alpha q */
    if (singular) x.remove_mean(x.r);
    gmg_cg_set_rz(&cg, x.precondition(0));
    x.set_direction((real)cg.beta); /* p = z + beta p */
  }
  if (singular) x.remove_mean(x.u);
}

/* The sums of an iteration. Each has its own place if thread blocks store their parts in memory. */
enum { SUM_PQ, SUM_RZ, SUM_MEAN };

/* Fields in global memory. Group decides which threads compute together.
   - each(A, body) calls body(i, j, k, c) for a thread's unknowns. They are the same in every loop, so only p is read by other
     threads.
   - sum(x, which) and wait() are barriers.
   - q stores A p, then z. */
template <class Group, int kind> struct cg_fields {
  const Group &group;
  const gmg_operator &A;
  double volume;
  scalar *r, *u, *p, *q;

  __device__ void remove_mean(scalar *x) const
  {
    double sum = 0;
    group.each(A, [&](size_t i, size_t j, size_t k, size_t c) { sum += gmg_volume_at(A, i, j, k) * (double)x[c]; });
    const scalar mean = (scalar)(group.sum(sum, SUM_MEAN) / volume);
    group.each(A, [&](size_t, size_t, size_t, size_t c) { x[c] -= mean; });
  }

  __device__ double apply()
  {
    double sum = 0;
    group.each(A, [&](size_t i, size_t j, size_t k, size_t c) {
      const scalar mine = p[c];
      const scalar image =
          -gmg_row_residual(3, gmg_row_at<kind>(A, i, j, k), gmg_near(gmg_neighbour_offsets_of(A, i, j, k, c), p), 0, mine);
      q[c] = image;
      sum += gmg_volume_at(A, i, j, k) * (double)mine * (double)image;
    });
    return group.sum(sum, SUM_PQ);
  }

  __device__ void step(real alpha)
  {
    group.each(A, [&](size_t, size_t, size_t, size_t c) { u[c] += alpha * p[c], r[c] -= alpha * q[c]; });
  }

  __device__ double precondition(int first)
  {
    double sum = 0;
    group.each(A, [&](size_t i, size_t j, size_t k, size_t c) {
      const scalar left = r[c], z = left / gmg_row_at<kind>(A, i, j, k).diag;
      if (first) u[c] = 0, p[c] = z;
      else q[c] = z;
      sum += gmg_volume_at(A, i, j, k) * (double)left * (double)z;
    });
    return group.sum(sum, SUM_RZ);
  }

  __device__ void set_direction(real beta)
  {
    group.each(A, [&](size_t, size_t, size_t, size_t c) { p[c] = q[c] + beta * p[c]; });
    group.wait();
  }
};

#endif
