/* Operations of gmg_operator_ops that end in the norm of a residual, for an operator with a function that launches its kernel.
   Included by kernels of operators. */
#ifndef GMG_STENCIL_GENERIC_CUDA_MEASURES_H
#define GMG_STENCIL_GENERIC_CUDA_MEASURES_H

extern "C" {
#include "stencil/generic/composed.h"
#include "stencil/grid_ops.h"
}

#include "norm.cuh"

#include "core/cuda/axpby.cuh"

#include <math.h>

/* Sums the squares of f - A u and of f into `to`, and stores the residual in low precision (norm.cuh). */
typedef void gmg_norm_launch(const gmg_exec *e, const gmg_operator *A, const void *f, const void *u, scaling how, void *low,
                             gmg_total *to);

/* The namespace has no name. Otherwise both real types would have the same symbols. */
namespace {

template <gmg_norm_launch *launch_norm> struct gmg_measures {
  static double measure_residual(const gmg_exec *e, const gmg_operator *A, const void *f, const void *u, const double *divisor,
                                 gmg_scale *s, void *r, double *f_norm, gmg_wait wait)
  {
    gmg_device *d = gmg_device_of(e);
    launch_norm(e, A, f, u, {divisor, s}, r, wait ? d->total : d->device_total);
    if (!wait) return NAN;
    const gmg_total t = gmg_cuda_total(e, "residual norm");
    if (f_norm) *f_norm = sqrt(t.second);
    return sqrt(t.first);
  }

  static void loop_residual(const gmg_exec *e, const gmg_operator *A, gmg_correction c, const void *f, void *u, gmg_scale *s,
                            void *r)
  {
    gmg_device *d = gmg_device_of(e);
    if (c.z) gmg_array_correct(e, gmg_residual_layouts_of(A).u, c, 1, u);
    launch_norm(e, A, f, u, {NULL, s, 0, d->loop_test}, r, &d->loop_state->residual);
  }

  static void loop_first_residual(const gmg_exec *e, const gmg_operator *A, const void *f, const void *u, const double *divisor,
                                  gmg_scale *s, void *r)
  {
    gmg_device *d = gmg_device_of(e);
    launch_norm(e, A, f, u, {divisor, s, 1, d->loop_test}, r, &d->loop_state->residual);
  }
};

} // namespace

#endif
