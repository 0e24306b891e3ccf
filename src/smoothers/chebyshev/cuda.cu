/* Chebyshev polynomial smoother on a CUDA device (recurrence.h). Called through gmg_smoother_ops. State: the last correction d.
   Corrections alternate between u and the level's scratch field. In double each moves 40 bytes per unknown, the first of a step 32,
   and one from zero 24. */
extern "C" {
#include "recurrence.h"
}

#include "stencil/operator/cuda/row.cuh"

/* d = c0 d + c1 D^-1 (f - A u), to = u + d; d is not read if c0 is 0. */
template <int kind>
static __global__ void correction_kernel(gmg_operator A, gmg_points p, const scalar *f, const scalar *u, real c0, real c1,
                                         scalar *d, scalar *to)
{
  gmg_for_points(p, [&](size_t i, size_t j, size_t k, size_t c) {
    const gmg_row a = gmg_row_at<kind>(A, i, j, k);
    const scalar r = gmg_row_residual(3, a, gmg_near(gmg_neighbour_offsets_of(A, i, j, k, c), u), f[c], u[c]);
    const scalar e = (c0 != 0 ? c0 * d[c] : 0) + c1 * (r / a.diag);
    d[c] = e, to[c] = u[c] + e;
  });
}

/* d = to = c1 D^-1 f: u and c0 are 0. */
template <int kind> static __global__ void from_zero_kernel(gmg_operator A, gmg_points p, const scalar *f, real c1, scalar *d,
                                                            scalar *to)
{
  gmg_for_points(p, [&](size_t i, size_t j, size_t k, size_t c) {
    d[c] = to[c] = c1 * (f[c] / gmg_row_at<kind>(A, i, j, k).diag);
  });
}

static void correct(const gmg_smoother_level *l, const void *f, const void *u, void *to, double c0, double c1, void *d)
{
  const gmg_points p = gmg_points_of(l->A->n);
  if (u) gmg_launch(l->exec, "chebyshev", GMG_BY_KIND(l->A, correction_kernel), gmg_shape_of(p), *l->A, p, f, u, c0, c1, d, to);
  else gmg_launch(l->exec, "chebyshev", GMG_BY_KIND(l->A, from_zero_kernel), gmg_shape_of(p), *l->A, p, f, c1, d, to);
}

static void sweep(const gmg_smoother_level *l, void *d, const void *f, void *u, int steps, gmg_leg leg)
{
  (void)leg;
  if (gmg_chebyshev_corrections(l, steps) % 2) l->exec->vector->copy(l->exec, l->A->cells, u, l->scratch);
  gmg_chebyshev_sweep(l, d, f, u, l->scratch, steps, GMG_FROM_CURRENT, correct);
}

static void sweep_from_zero(const gmg_smoother_level *l, void *d, const void *f, void *u, int steps, gmg_leg leg)
{
  (void)leg;
  gmg_chebyshev_sweep(l, d, f, u, l->scratch, steps, GMG_FROM_ZERO, correct);
}

extern "C" const gmg_smoother_ops R(gmg_chebyshev_cuda) = {
    .setup = gmg_chebyshev_setup, .sweep = sweep, .sweep_from_zero = sweep_from_zero};
