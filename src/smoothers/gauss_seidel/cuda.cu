/* Exact Gauss-Seidel in lexicographic order on a CUDA device. Unknowns with equal i + j + k do not depend on each other, so the
   planes i + j + k = constant are relaxed one after the other (Lamport 1974). It is a reference, and slow: a sweep takes n0 + n1 +
   n2 launches, and in 1D one thread relaxes everything. Called through gmg_smoother_ops. */
extern "C" {
#include "smoothers/weight.h"
}

#include "stencil/operator/cuda/row.cuh"

template <int kind>
static __global__ void plane_kernel(gmg_operator A, gmg_points lines, size_t plane, const scalar *f, scalar *u, real omega)
{
  gmg_for_points(lines, [&](size_t j, size_t k, size_t, size_t) {
    if (j + k <= plane && plane - j - k < A.n[0]) gmg_relax_at<kind>(A, plane - j - k, j, k, f, u, omega);
  });
}

template <int kind>
static __global__ void serial_kernel(gmg_operator A, const scalar *f, scalar *u, real omega, int backward)
{
  for (size_t i = 0; i < A.n[0]; i++) gmg_relax_at<kind>(A, backward ? A.n[0] - 1 - i : i, 0, 0, f, u, omega);
}

static void sweep(const gmg_smoother_level *l, void *state, const void *f, void *u, int steps, gmg_leg leg)
{
  (void)state;
  const gmg_operator *A = l->A;
  const int backward = leg == GMG_LEG_UP_REVERSED;
  const double omega = gmg_weight_gauss_seidel(A, l->params);
  const size_t n[3] = {A->n[1], A->n[2], 1}, planes = A->n[0] + A->n[1] + A->n[2] - 2;
  const gmg_points lines = gmg_points_of(n);
  const gmg_launch_shape one = {dim3(1), dim3(1), 0};
  for (int s = 0; s < steps; s++) {
    if (A->dim == 1) gmg_launch(l->exec, "gauss_seidel", GMG_BY_KIND(A, serial_kernel), one, *A, f, u, omega, backward);
    for (size_t d = 0; d < planes && A->dim > 1; d++)
      gmg_launch(l->exec, "gauss_seidel", GMG_BY_KIND(A, plane_kernel), gmg_shape_of(lines), *A, lines,
                 backward ? planes - 1 - d : d, f, u, omega);
  }
}

extern "C" const gmg_smoother_ops R(gmg_gauss_seidel_cuda) = {.sweep = sweep};
