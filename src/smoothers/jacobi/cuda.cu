/* Weighted Jacobi on a CUDA device. Called through gmg_smoother_ops. Steps alternate between u and the level's scratch field. In
   double each moves 24 bytes per unknown. An odd number of steps first copies u to the scratch field (16 bytes). The first step
   from zero reads no neighbours (16 bytes). */
extern "C" {
#include "smoothers/weight.h"
}

#include "stencil/operator/cuda/row.cuh"

/* GMG_CONSTANT for every kind: it selects the rule for the weight (gmg_row_weight()), and all rows have the same weight. */
template <int kind>
static __global__ void jacobi_kernel(gmg_operator A, gmg_points p, const scalar *f, const scalar *u, real omega, scalar *to)
{
  gmg_for_points(p, [&](size_t i, size_t j, size_t k, size_t c) {
    const gmg_neighbours near = gmg_near(gmg_neighbour_offsets_of(A, i, j, k, c), u);
    to[c] = gmg_row_relaxed(3, GMG_CONSTANT, gmg_row_at<kind>(A, i, j, k), near, f[c], u[c], omega);
  });
}

template <int kind> static __global__ void from_zero_kernel(gmg_operator A, gmg_points p, const scalar *f, real omega, scalar *to)
{
  gmg_for_points(p, [&](size_t i, size_t j, size_t k, size_t c) { to[c] = omega * (f[c] / gmg_row_at<kind>(A, i, j, k).diag); });
}

/* u = NULL: u is 0. */
static void step(const gmg_smoother_level *l, const void *f, const void *u, void *to)
{
  const double omega = gmg_weight_jacobi(l->A, l->params);
  const gmg_points p = gmg_points_of(l->A->n);
  if (u) gmg_launch(l->exec, "jacobi", GMG_BY_KIND(l->A, jacobi_kernel), gmg_shape_of(p), *l->A, p, f, u, omega, to);
  else gmg_launch(l->exec, "jacobi", GMG_BY_KIND(l->A, from_zero_kernel), gmg_shape_of(p), *l->A, p, f, omega, to);
}

static void relax(const gmg_smoother_level *l, const void *f, void *u, int steps, gmg_start start)
{
  void *const at[2] = {u, l->scratch}; /* indexed by the number of steps left, modulo 2 */
  for (int left = steps; left > 0; left--) {
    const int reads = start != GMG_FROM_ZERO || left < steps;
    step(l, f, reads ? at[left % 2] : NULL, at[(left - 1) % 2]);
  }
}

static void sweep(const gmg_smoother_level *l, void *state, const void *f, void *u, int steps, gmg_leg leg)
{
  (void)state, (void)leg;
  if (steps % 2) l->exec->vector->copy(l->exec, l->A->cells, u, l->scratch);
  relax(l, f, u, steps, GMG_FROM_CURRENT);
}

static void sweep_from_zero(const gmg_smoother_level *l, void *state, const void *f, void *u, int steps, gmg_leg leg)
{
  (void)state, (void)leg;
  relax(l, f, u, steps, GMG_FROM_ZERO);
}

extern "C" const gmg_smoother_ops R(gmg_jacobi_cuda) = {.sweep = sweep, .sweep_from_zero = sweep_from_zero};
