/* Scalar decisions of conjugate gradients between the passes of an iteration. Compiled as C and as CUDA, after exec.h. Calls
   types.h; used by core/host, core/cuda, coarse and mg. */
#ifndef GMG_CORE_CG_SCALARS_H
#define GMG_CORE_CG_SCALARS_H

#include "types.h"

/* Sets beta. The next direction is z + beta p, where z is the new correction. p and the last residual may have been in another
   unit.
   - flexible: dot is <z, A p>, and beta = -dot / <p, A p>.
   - otherwise: dot is <z, r>, and beta is dot over its previous value, both times their units.
   - beta is 0 if there is no direction p, or if the quotient is not finite. */
GMG_INLINE void gmg_cg_set_beta(gmg_cg_scalars *d, int flexible, double dot, const double *unit)
{
  if (!flexible && unit) dot *= *unit;
  const double beta = !(d->pq > 0) ? 0 : flexible ? -dot / d->pq : dot / d->zr;
  d->beta = gmg_is_finite(beta) ? beta : 0;
  if (!flexible) d->zr = dot;
}

/* Whether the next direction depends on the last one. If not, and it is flexible, its inner product is not needed. */
GMG_INLINE int gmg_cg_has_direction(const gmg_cg_scalars *d) { return d->pq > 0; }

GMG_INLINE int gmg_cg_is_known(const gmg_cg_scalars *d) { return gmg_is_finite(d->pq) && gmg_is_finite(d->pr); }

/* Sets the step length along p to <p, r> / <p, A p>. Unlike <r, z> / <p, A p> this is the exact minimum along p, even if the
   truncated recursion has spoilt p. At the rounding level, where p may be noise, the step therefore cannot increase the error.
   Returns 0 if no step can be taken: there is no direction, or an inner product is not finite. */
GMG_INLINE int gmg_cg_step_length(const gmg_cg_scalars *d, double *step)
{
  *step = d->pq > 0 ? d->pr / d->pq : 0;
  return d->pq > 0 && gmg_cg_is_known(d) && gmg_is_finite(*step);
}

/* Notes the inner products of a new direction p, and the change along it: 0 if no step can be taken, not finite if an inner product
   is not. unit: r and p are in units of unit[0]; NULL: 1. */
GMG_INLINE void gmg_cg_note(gmg_cg_scalars *d, double pq, double pr, const double *unit)
{
  double step;
  d->pq = pq, d->pr = pr, d->last_change = d->change;
  if (!gmg_cg_step_length(d, &step)) step = gmg_cg_is_known(d) ? 0 : pq + pr;
  d->change = (unit ? *unit : 1) * step;
}

/* Scalars of plain conjugate gradients from a zero guess to a tolerance (src/coarse). */
typedef struct gmg_cg_run {
  double rz;          /* <r, z>: r the residual, z the preconditioned residual */
  double target;      /* the run ends when rz <= target */
  double alpha, beta; /* step along the direction; weight of the direction in the next one */
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

/* pq: <p, A p>. Returns 0 if rounding prevents a further step. */
GMG_INLINE int gmg_cg_set_alpha(gmg_cg_run *cg, double pq)
{
  cg->alpha = cg->rz / pq;
  return pq > 0 && gmg_is_finite(cg->alpha);
}

GMG_INLINE void gmg_cg_set_rz(gmg_cg_run *cg, double rz)
{
  cg->beta = rz / cg->rz;
  cg->rz = rz;
}

#endif
