/* Iterations: plain cycles, or conjugate gradients preconditioned by one cycle from zero. The flexible variant (Notay
   2000; Golub, Ye 1999) takes a preconditioner that varies, as asynchronous cycles do. Inner products are weighted by the
   control volumes, under which A is symmetric. In mixed precision the residual is computed in the problem's type, and a
   cycle from zero finds the correction in the narrower one (iterative refinement: Wilkinson 1963; for multigrid Goeddeke,
   Strzodka, Turek 2007). */
#include "solver.h"

#include <math.h>

double gmg_true_residual(gmg_solver *s, const gmg_iteration *it)
{
  return s->stencil->residual_norm(&s->exec, &s->top->A, it->f, it->u, NULL);
}

static const double NEARLY_ONE = 1e6;  /* own_f is of that size at most, or of one over it at least */
static const double NOTHING = 1e-300;  /* smaller numbers have no inverse */

/* The residual into own_f, scaled to about 1 by what the one before it was; returns its norm. */
static double narrow_residual(gmg_solver *s, gmg_iteration *it, double *f_norm)
{
  double norm = 0;
  for (int attempt = 0; attempt < 2; attempt++) {
    it->scale = it->next > 0 ? it->next : 1;
    norm = s->stencil->narrow_residual(&s->exec, &s->top->A, it->f, it->u, it->scale, s->own_f, f_norm);
    if (!(norm > NOTHING) || !isfinite(norm)) break;
    it->next = 1 / norm;
    if (norm * it->scale < NEARLY_ONE && norm * it->scale > 1 / NEARLY_ONE) break;
  }
  it->fresh = 1;
  return norm;
}

void gmg_iteration_start(gmg_solver *s, gmg_iteration *it)
{
  it->rz = 0;
  it->fresh = 0;
  if (s->params.accel == GMG_ACCEL_NONE) return;
  s->stencil->residual(&s->exec, &s->top->A, it->f, it->u, s->krylov[0]);
  it->norm = s->vector->norm2(&s->exec, s->top->A.cells, s->krylov[0]);
}

double gmg_iteration_residual(gmg_solver *s, gmg_iteration *it, double *f_norm)
{
  if (s->params.accel != GMG_ACCEL_NONE) return isfinite(it->rz) ? it->norm : NAN; /* else the last cycle gave no number */
  if (s->mixed) return narrow_residual(s, it, f_norm);
  return s->stencil->residual_norm(&s->exec, &s->top->A, it->f, it->u, f_norm);
}

/* The level's own fields take a residual and give a correction: in mixed precision, and where the finest grid is the
   coarsest, whose solver starts from zero. */
static void correct_from_residual(gmg_solver *s, gmg_iteration *it)
{
  if (!s->mixed) s->stencil->residual(&s->exec, &s->top->A, it->f, it->u, s->own_f);
  else if (!it->fresh) (void)narrow_residual(s, it, NULL);
  it->fresh = 0;
  s->vector->correct(&s->exec, s->top->A.cells, gmg_cycle_on_own(s, s->mixed ? 1 / it->scale : 1), it->u);
}

static void plain(gmg_solver *s, gmg_iteration *it)
{
  gmg_level *L = &s->level[0];
  if (s->own_f) {
    correct_from_residual(s, it);
  } else {
    L->f = (void *)it->f, L->u = it->u;
    gmg_cycle(s, 0);
  }
  if (s->singular) gmg_remove_mean(&s->exec, &s->top->A, s->top->volume, it->u); /* else rounding lets it drift */
}

/* It starts from the iterate, in which the growing part is large, or from 1 where that is no number any more. */
void gmg_iteration_watched(gmg_solver *s, gmg_iteration *it)
{
  gmg_level *L = &s->level[0];
  const gmg_exec *e = s->levels_exec;
  const int finite = isfinite(s->vector->norm2(&s->exec, s->top->A.cells, it->u));
  if (s->mixed) {
    L->f = s->own_f, L->u = s->own_u;
    if (finite) (void)narrow_residual(s, it, NULL);
    else e->vector->fill(e, L->A.cells, 0, L->f);
    e->vector->fill(e, L->A.cells, finite ? 0 : 1, L->u);
  } else {
    L->f = (void *)it->f, L->u = s->f_eff;
    if (finite) s->vector->copy(&s->exec, L->A.cells, it->u, L->u);
    else s->vector->fill(&s->exec, L->A.cells, 1, L->u);
  }
  s->watch = (gmg_watch){.on = 1, .level = -1, .growth = 1};
  if (s->levels > 1) gmg_cycle(s, 0);
  s->watch.on = 0;
}

static void conjugate_gradients(gmg_solver *s, gmg_iteration *it)
{
  const gmg_exec *e = &s->exec;
  const gmg_operator *A = &s->top->A;
  const gmg_vector_ops *v = s->vector;
  void *r = s->krylov[0], *p = s->krylov[2], *q = s->krylov[3];

  const gmg_correction z = gmg_cycle_from_zero(s, r, it->norm, s->krylov[1]);
  gmg_charge(s, 0);
  if (s->singular) gmg_remove_mean(s->levels_exec, &s->level[0].A, s->level[0].volume, (void *)z.z); /* else u drifts */
  const int first = it->rz == 0;
  const gmg_pair dots = s->stencil->dots(e, A, z, r, first ? r : q);
  const double rz = dots.first;
  if (!isfinite(rz)) { /* u stays; the residual tells */
    it->rz = rz;
    return;
  }
  if (first) v->fill(e, A->cells, 0, p);
  /* flexible: <z, r - r_before> / <z, r>_before, and r - r_before = -alpha q */
  const double change = s->params.accel == GMG_ACCEL_FLEXIBLE_CG ? -it->alpha * dots.second : rz;
  v->direct(e, A->cells, z, first ? 0 : change / it->rz, p);
  /* <p, r> rather than <r, z>: the exact minimum along p, whatever the truncated recursion has made of p. At the rounding
     level, where p may be noise, no step can then make the error larger. */
  const gmg_pair with_p = s->stencil->apply_dots(e, A, p, r, q);
  const double alpha = with_p.second / with_p.first;
  if (!(with_p.first > 0) || !isfinite(alpha)) { /* nothing is left to do along p */
    it->rz = 0;
    return;
  }
  it->rz = rz;
  it->alpha = alpha;
  it->norm = v->step(e, A->cells, alpha, p, q, it->u, r);
}

void gmg_iterate(gmg_solver *s, gmg_iteration *it)
{
  if (s->params.accel == GMG_ACCEL_NONE)
    plain(s, it);
  else
    conjugate_gradients(s, it);
}
