/* Chebyshev polynomial smoother on a CUDA device (Adams, Brezina, Hu, Tuminaro 2003; chebyshev.h). State: the last
   correction d. */
extern "C" {
#include "chebyshev.h"
}

#include "../stencil/row_cuda.cuh"

/* d = c0 d + c1 D^-1 (f - A u); d is not read where c0 is 0 */
template <int kind>
static __global__ void correction_kernel(gmg_operator A, gmg_points p, const real *f, const real *u, real c0, real c1, real *d)
{
  gmg_for_points(p, [&](size_t i, size_t j, size_t k, size_t c) {
    const gmg_row a = gmg_row_at<kind>(A, i, j, k);
    const real r = gmg_row_residual(3, a, gmg_near(gmg_places_of(A, i, j, k, c), u), f[c], u[c]);
    d[c] = (c0 != 0 ? c0 * d[c] : 0) + c1 * (r / a.diag);
  });
}

static void correct(const gmg_smoother_level *l, const void *f, void *u, double c0, double c1, void *d)
{
  const gmg_points p = gmg_points_of(l->A->n);
  GMG_LAUNCH(correction_kernel, l->exec, l->A, p, 0, *l->A, p, (const real *)f, (const real *)u, (real)c0, (real)c1, (real *)d);
  gmg_cuda_launched(l->exec, "chebyshev");
  l->exec->vector->axpy(l->exec, l->A->cells, 1, d, u);
}

static void sweep(const gmg_smoother_level *l, void *d, const void *f, void *u, int steps, gmg_leg leg)
{
  (void)leg;
  gmg_chebyshev_sweep(l, d, f, u, steps, correct);
}

extern "C" const gmg_smoother_ops R(gmg_chebyshev_cuda) = {.setup = gmg_chebyshev_setup, .sweep = sweep, .destroy = gmg_chebyshev_destroy};
