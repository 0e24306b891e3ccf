/* Whole legs of the cycle as passes of streamed planes (cuda/plane_sweep.cuh): where they apply, and their kernels. The downward leg
   restricts the residual that it leaves (cuda/plane_restrict.cuh); the upward one takes the coarse correction in and goes onto a field in
   double (cuda/plane_prolong.cuh). At 512^3 on an H200 the former takes 1.49 ms in double instead of 2.0, from zero in float 0.59
   instead of 0.88; the latter 1.24 instead of 1.80. Red-black's: red_black/cuda.cu. Included by cuda/planes.cuh. */
#ifndef GMG_SMOOTHERS_RELAX_CUDA_PLANE_KERNELS_H
#define GMG_SMOOTHERS_RELAX_CUDA_PLANE_KERNELS_H

#include "plane_sweep.cuh"

static __global__ void __launch_bounds__(plane_shape<3, 4>::threads, plane_shape<3, 4>::blocks)
    plane_kernel_from_zero(uniform_level s, const real *f, real *to)
{
  sweep_planes<3, 4, PASS_FROM_ZERO>(s, blockIdx.x, f, NULL, to, NULL, update{}, restriction{});
}

template <int KIND>
static __global__ void __launch_bounds__(plane_shape<3, 4>::threads, plane_shape<3, 4>::blocks)
    plane_kernel_restrict(uniform_level s, const real *f, const real *from, real *to, restriction r)
{
  sweep_planes<3, 4, KIND | PASS_RESTRICT>(s, blockIdx.x, f, from, to, NULL, update{}, r);
}

template <int dim, int KIND>
static __global__ void __launch_bounds__(plane_shape<dim, 4>::threads, plane_shape<dim, 4>::blocks)
    plane_kernel_update(uniform_level s, const real *f, const real *from, update o)
{
  sweep_planes<dim, 4, KIND>(s, blockIdx.x, f, from, NULL, NULL, o, restriction{});
}

#endif
