/* What is decided between the passes of an iteration of conjugate gradients, from sums that the passes leave in exec's memory: the one
   place where it is written. Compiled by C and CUDA compilers alike, after exec.h. */
#ifndef GMG_CORE_CG_SCALARS_H
#define GMG_CORE_CG_SCALARS_H

#include "real.h"

/* The share of this direction in the next one: -<c, A p> / <p, A p> (flexible), or <c, r> over the one before. dot: the inner product
   of c with A p, or with r. Without a direction, or where it is no number, the next one is c alone. */
GMG_INLINE void gmg_cg_set_beta(gmg_cg_scalars *d, int flexible, double dot)
{
  const double share = !(d->pq > 0) ? 0 : flexible ? -dot / d->pq : dot / d->zr;
  d->beta = gmg_is_number(share) ? share : 0;
  if (!flexible) d->zr = dot;
}

GMG_INLINE int gmg_cg_is_known(const gmg_cg_scalars *d) { return gmg_is_number(d->pq) && gmg_is_number(d->pr); }

/* How far to go along p. The step is <p, r> / <p, A p> rather than <r, z> / <p, A p>: the exact minimum along p, whatever the truncated
   recursion has made of p. At the rounding level, where p may be noise, no step can then make the error larger. 0: there is nothing
   left to do along p, or the cycle gave no number. */
GMG_INLINE int gmg_cg_step_length(const gmg_cg_scalars *d, double *step)
{
  *step = d->pq > 0 ? d->pr / d->pq : 0;
  return d->pq > 0 && gmg_cg_is_known(d) && gmg_is_number(*step);
}

#endif
