/* Conjugate gradients of cg.c inside a kernel. Included by the kernels that run them. */
#ifndef GMG_COARSE_CUDA_CG_H
#define GMG_COARSE_CUDA_CG_H

#include "core/cuda/device.h"

#include "core/cg_scalars.h"
#include "core/real.h"

/* Fields has the vectors and says which threads compute what: r, the right-hand side, becomes the residual, u the solution. Every
   thread that takes part gets the sums. */
template <class Fields>
static __device__ __forceinline__ void conjugate_gradients(Fields &x, size_t unknowns, int singular, double rtol)
{
  if (singular) x.remove_mean(x.r);
  gmg_cg_run cg = gmg_cg_begin(x.precondition(1), rtol); /* z = r / diagonal; first: u = 0, p = z; <r, z> */
  for (size_t iteration = 0; gmg_cg_goes_on(&cg, iteration, unknowns); iteration++) {
    if (!gmg_cg_set_alpha(&cg, x.apply())) break; /* q = A p; <p, q> */
    x.step((real)cg.alpha);                       /* u = u + alpha p, r = r - alpha q */
    if (singular) x.remove_mean(x.r);
    gmg_cg_set_rz(&cg, x.precondition(0));
    x.direct((real)cg.beta); /* p = z + beta p */
  }
  if (singular) x.remove_mean(x.u);
}

#endif
