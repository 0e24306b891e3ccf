/* Iterations: plain cycles, or conjugate gradients preconditioned by one cycle from zero. The flexible variant (Notay
   2000; Golub, Ye 1999) takes a preconditioner that varies, as asynchronous cycles do. Inner products are weighted by the
   control volumes, under which A is symmetric. */
#include "solver.h"

#include <math.h>

double gmg_true_residual(gmg_solver *s, const gmg_iteration *it)
{
  gmg_level *L = &s->level[0];
  return s->stencil->residual_norm(&s->exec, &L->A, it->f, it->u, NULL);
}

void gmg_iteration_start(gmg_solver *s, gmg_iteration *it)
{
  gmg_level *L = &s->level[0];
  it->rz = 0;
  if (s->params.accel != GMG_ACCEL_NONE) s->stencil->residual(&s->exec, &L->A, it->f, it->u, s->krylov[0]);
}

double gmg_iteration_residual(gmg_solver *s, gmg_iteration *it)
{
  if (s->params.accel == GMG_ACCEL_NONE) return gmg_true_residual(s, it);
  if (!isfinite(it->rz)) return NAN; /* what the last cycle gave was no number */
  return s->vector->norm2(&s->exec, s->level[0].A.cells, s->krylov[0]);
}

/* The finest grid is the coarsest: its solver corrects u from the residual, as any cycle would. */
static void correct_by_coarse_solver(gmg_solver *s, gmg_iteration *it)
{
  gmg_level *L = &s->level[0];
  s->stencil->residual(&s->exec, &L->A, it->f, it->u, L->r);
  s->coarse->solve(&s->exec, &s->coarse_problem, s->coarse_state, L->r, s->correction);
  s->vector->axpy(&s->exec, L->A.cells, 1, s->correction, it->u);
}

static void plain(gmg_solver *s, gmg_iteration *it)
{
  gmg_level *L = &s->level[0];
  if (s->levels == 1) {
    correct_by_coarse_solver(s, it);
  } else {
    L->f = (void *)it->f, L->u = it->u;
    gmg_cycle(s, 0);
  }
  if (s->singular) gmg_remove_mean(&s->exec, &L->A, L->volume, it->u); /* else rounding lets it drift */
}

static void conjugate_gradients(gmg_solver *s, gmg_iteration *it)
{
  const gmg_operator *A = &s->level[0].A;
  const gmg_stencil_ops *stencil = s->stencil;
  const gmg_vector_ops *v = s->vector;
  void *r = s->krylov[0], *z = s->krylov[1], *p = s->krylov[2], *q = s->krylov[3];

  gmg_cycle_from_zero(s, r, z);
  gmg_charge(s, 0);
  if (s->singular) gmg_remove_mean(&s->exec, A, s->level[0].volume, z); /* else rounding lets u drift */
  const double rz = stencil->dot(&s->exec, A, r, z);
  if (!isfinite(rz)) { /* u stays; the residual tells */
    it->rz = rz;
    return;
  }
  if (it->rz == 0) {
    v->copy(&s->exec, A->cells, z, p);
  } else { /* flexible: <z, r - r_before> / <z, r>_before, and r - r_before = -alpha q */
    const int flexible = s->params.accel == GMG_ACCEL_FLEXIBLE_CG;
    const double change = flexible ? -it->alpha * stencil->dot(&s->exec, A, z, q) : rz;
    v->xpay(&s->exec, A->cells, z, change / it->rz, p);
  }
  stencil->apply(&s->exec, A, p, q);
  /* <p, r> rather than <r, z>: the exact minimum along p, whatever the truncated recursion has made of p. At the rounding
     level, where p may be noise, no step can then make the error larger. */
  const double pq = stencil->dot(&s->exec, A, p, q), pr = stencil->dot(&s->exec, A, p, r);
  if (!(pq > 0) || !isfinite(pr / pq)) { /* nothing is left to do along p */
    it->rz = 0;
    return;
  }
  it->rz = rz;
  it->alpha = pr / pq;
  v->axpy(&s->exec, A->cells, it->alpha, p, it->u);
  v->axpy(&s->exec, A->cells, -it->alpha, q, r);
}

void gmg_iterate(gmg_solver *s, gmg_iteration *it)
{
  if (s->params.accel == GMG_ACCEL_NONE)
    plain(s, it);
  else
    conjugate_gradients(s, it);
}
