/* Gauss-Seidel in lexicographic order on a CUDA device, exactly. Unknowns with the same i + j + k do not depend on each other, so
   the planes i + j + k = constant are relaxed one by one (Lamport 1974). A reference, not a competitor: a sweep is n0 + n1 + n2
   launches, and in 1D one thread does it all. */
extern "C" {
#include "smoothers/weight.h"
}

#include "stencil/operator/cuda/row.cuh"

template <int kind>
static __device__ __forceinline__ void relax(const gmg_operator &A, size_t i, size_t j, size_t k, const real *f, real *u,
                                             real omega)
{
  const size_t c = (k * A.n[1] + j) * A.n[0] + i;
  const gmg_neighbours near = gmg_near(gmg_places_of(A, i, j, k, c), u);
  u[c] = gmg_row_relaxed(3, kind, gmg_row_at<kind>(A, i, j, k), near, f[c], u[c], omega);
}

template <int kind>
static __global__ void plane_kernel(gmg_operator A, gmg_points lines, size_t plane, const real *f, real *u, real omega)
{
  gmg_for_points(lines, [&](size_t j, size_t k, size_t, size_t) {
    if (j + k <= plane && plane - j - k < A.n[0]) relax<kind>(A, plane - j - k, j, k, f, u, omega);
  });
}

template <int kind>
static __global__ void line_kernel(gmg_operator A, const real *f, real *u, real omega, int backward)
{
  if (threadIdx.x || threadIdx.y) return;
  for (size_t i = 0; i < A.n[0]; i++) relax<kind>(A, backward ? A.n[0] - 1 - i : i, 0, 0, f, u, omega);
}

static void sweep(const gmg_smoother_level *l, void *state, const void *f, void *u, int steps, gmg_leg leg)
{
  (void)state;
  const gmg_operator *A = l->A;
  const int backward = leg == GMG_LEG_UP_REVERSED;
  const real omega = (real)gmg_weight_gauss_seidel(A, l->params);
  const size_t n[3] = {A->n[1], A->n[2], 1}, single[3] = {1, 1, 1}, planes = A->n[0] + A->n[1] + A->n[2] - 2;
  const gmg_points lines = gmg_points_of(n), one = gmg_points_of(single);
  for (int s = 0; s < steps; s++) {
    if (A->dim == 1) GMG_LAUNCH(line_kernel, l->exec, A, one, 0, *A, (const real *)f, (real *)u, omega, backward);
    for (size_t d = 0; d < planes && A->dim > 1; d++)
      GMG_LAUNCH(plane_kernel, l->exec, A, lines, 0, *A, lines, backward ? planes - 1 - d : d, (const real *)f, (real *)u, omega);
    gmg_cuda_launched(l->exec, "gauss_seidel");
  }
}

extern "C" const gmg_smoother_ops R(gmg_gauss_seidel_cuda) = {.sweep = sweep};
