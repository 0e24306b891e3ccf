/* Eigenvalues of a separable operator. The operator that a mode of the other axes leaves along the last axis is
   slope A_last + constant, where A_last is the operator of this axis alone. Compiled as C and as CUDA. Included by the kernels of
   the direct solver. */
#ifndef GMG_COARSE_TENSOR_EIGENVALUES_H
#define GMG_COARSE_TENSOR_EIGENVALUES_H

#include "tensor.h"

#include "core/real.h"

/* Factors of the products of the eigenvalues x, y of the other axes: of 1, x, y and xy. */
typedef struct {
  real constant[4], slope[4];
} gmg_mode_factors;

static inline gmg_mode_factors gmg_mode_factors_of(const gmg_tensor *t)
{
  gmg_mode_factors f;
  for (int i = 0; i < 4; i++) f.constant[i] = (real)t->constant[i], f.slope[i] = (real)t->slope[i];
  return f;
}

typedef struct {
  real constant, slope;
} gmg_mode_operator;

GMG_INLINE real gmg_sum_of_products(const real factor[4], real x, real y)
{
  return factor[0] + factor[1] * x + factor[2] * y + factor[3] * (x * y);
}

/* Exactly 0 for the constant mode of a singular problem, whose eigenvalues are 0. */
GMG_INLINE gmg_mode_operator gmg_mode_operator_of(const gmg_mode_factors *f, real x, real y)
{
  const gmg_mode_operator m = {gmg_sum_of_products(f->constant, x, y), gmg_sum_of_products(f->slope, x, y)};
  return m;
}

#endif
