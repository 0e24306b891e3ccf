/* Weighted Jacobi on a CUDA device: all unknowns from the values before the sweep. */
extern "C" {
#include "smoother.h"
}

#include "../stencil/row_cuda.cuh"

template <int kind> static __global__ void jacobi_kernel(gmg_operator A, gmg_points p, const real *f, const real *u, real omega, real *to)
{
  gmg_for_points(p, [&](size_t i, size_t j, size_t k, size_t c) {
    const gmg_neighbours near = gmg_near(gmg_places_of(A, i, j, k, c), u);
    to[c] = gmg_row_relaxed(3, GMG_CONSTANT, gmg_row_at<kind>(A, i, j, k), near, f[c], u[c], omega);
  });
}

static void sweep(const gmg_smoother_level *l, void *state, const void *f, void *u, int steps, gmg_leg leg)
{
  (void)state, (void)leg;
  const real omega = (real)gmg_weight_jacobi(l->A, l->params);
  const gmg_points p = gmg_points_of(l->A->n);
  for (int s = 0; s < steps; s++) {
    GMG_LAUNCH(jacobi_kernel, l->exec, l->A, p, 0, *l->A, p, (const real *)f, (const real *)u, omega, (real *)l->scratch);
    gmg_cuda_launched(l->exec, "jacobi");
    l->exec->vector->copy(l->exec, l->A->cells, l->scratch, u);
  }
}

extern "C" const gmg_smoother_ops R(gmg_jacobi_cuda) = {.sweep = sweep};
