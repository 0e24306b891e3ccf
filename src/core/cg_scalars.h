/* What is decided between the passes of an iteration of conjugate gradients, from the sums that the passes make. Compiled by C
   and CUDA compilers alike, after exec.h. */
#ifndef GMG_CORE_CG_SCALARS_H
#define GMG_CORE_CG_SCALARS_H

#include "types.h"

/* beta, by which the next direction is c + beta p. flexible: -<c, A p> / <p, A p>, dot being <c, A p>. Else <c, r> / <z, r>,
   dot being <c, r>, z the correction before. beta is 0 if there is no direction p, or if the quotient is no number. */
GMG_INLINE void gmg_cg_set_beta(gmg_cg_scalars *d, int flexible, double dot)
{
  const double beta = !(d->pq > 0) ? 0 : flexible ? -dot / d->pq : dot / d->zr;
  d->beta = gmg_is_number(beta) ? beta : 0;
  if (!flexible) d->zr = dot;
}

GMG_INLINE int gmg_cg_is_known(const gmg_cg_scalars *d) { return gmg_is_number(d->pq) && gmg_is_number(d->pr); }

/* How far to go along p. The step is <p, r> / <p, A p> rather than <r, z> / <p, A p>: the exact minimum along p, whatever the
   truncated recursion has made of p. At the rounding level, where p may be noise, no step can then make the error larger. 0:
   there is nothing left to do along p, or the cycle gave no number. */
GMG_INLINE int gmg_cg_step_length(const gmg_cg_scalars *d, double *step)
{
  *step = d->pq > 0 ? d->pr / d->pq : 0;
  return d->pq > 0 && gmg_cg_is_known(d) && gmg_is_number(*step);
}

/* Plain conjugate gradients from zero to a tolerance: what src/coarse knows between passes. */
typedef struct gmg_cg_run {
  double rz;          /* <r, z> of the residual and the preconditioned one */
  double target;      /* the run ends where rz is that small */
  double alpha, beta; /* step along the direction; its share in the next one */
} gmg_cg_run;

GMG_INLINE gmg_cg_run gmg_cg_begin(double rz, double rtol)
{
  const gmg_cg_run cg = {rz, rz * rtol * rtol, 0, 0};
  return cg;
}

GMG_INLINE int gmg_cg_goes_on(const gmg_cg_run *cg, size_t iteration, size_t unknowns)
{
  return iteration < 10 * unknowns + 100 && cg->rz > cg->target;
}

/* pq: <p, A p>. 0: rounding has used up the directions. */
GMG_INLINE int gmg_cg_set_alpha(gmg_cg_run *cg, double pq)
{
  cg->alpha = cg->rz / pq;
  return pq > 0 && gmg_is_number(cg->alpha);
}

GMG_INLINE void gmg_cg_set_rz(gmg_cg_run *cg, double rz)
{
  cg->beta = rz / cg->rz;
  cg->rz = rz;
}

#endif
