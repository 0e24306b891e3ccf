/* Conjugate gradients, preconditioned by a cycle from zero. The flexible variant (Notay 2000; Golub, Ye 1999) allows a varying
   preconditioner, such as asynchronous cycles. Inner products are weighted by the control volumes, which makes A symmetric. All
   scalars stay in exec's memory (core/cg_scalars.h); the host only reads the residual norm, if it is measured. All iterations but
   the first can run as a recorded loop. Called by solve through gmg_method. */
#include "iterate.h"

#include <math.h>

static void start(gmg_solver *s, gmg_iteration *it)
{
  it->has_direction = 0;
  it->is_stored = 0;
  it->norm = NAN;
  GMG_AT_LEVEL(s, 0, "residual");
  s->vector->fill(&s->exec, sizeof *s->cg / s->exec.real_size, 0, s->cg);
  const gmg_operator A = gmg_operator_on_arrays(s, it->f);
  gmg_exchange(&s->exec, &A, it->u);
  s->op->residual(&s->exec, &A, it->f, it->u, s->krylov.r);
  if (it->wait) it->norm = s->vector->norm2(&s->exec, s->finest->A.cells, s->krylov.r);
}

static double residual(gmg_solver *s, gmg_iteration *it, double *f_norm)
{
  (void)s, (void)f_norm; /* the norms are known: solve requests both in one pass only for methods without recursion */
  return it->norm;
}

/* One iteration. cg_beta() and cg_direction() make p conjugate to the previous direction, with beta = -<z, A p> / <p, A p> if
   flexible, and otherwise beta = <r, z> / (previous <r, z>). */
static void cycle(gmg_solver *s, gmg_iteration *it, int count)
{
  (void)count; /* 1 */
  const gmg_exec *e = &s->exec;
  const gmg_operator *A = &s->finest->A;
  const gmg_level *L = &s->level[0];
  void *r = s->krylov.r, *p = s->krylov.p, *q = s->krylov.q;
  const int flexible = s->params.accel == GMG_ACCEL_FLEXIBLE_CG;

  const gmg_correction z = s->corrections->precondition(s, it);
  gmg_start_timer(s, 0);
  gmg_project(s, s->levels_exec, L, (void *)z.z); /* otherwise u drifts */
  if (!flexible || it->has_direction) s->grid->cg_beta(e, A, z, flexible ? q : r, flexible, s->cg); /* q is not set in the first
                                                                                                       iteration */
  gmg_exchange(s->levels_exec, &L->A, z.z); /* p's ghosts follow from it */
  s->op->cg_direction(e, A, z, s->cg, p, r, q);
  it->has_direction = 1;
  it->norm = s->corrections->step(s, it);
}

static int can_loop(const gmg_solver *s, const gmg_iteration *it)
{
  return it->has_direction && (!s->corrections->note_step || it->is_stored);
}

static void loop(gmg_solver *s, const void *f, void *u)
{
  gmg_iteration it = {.f = f, .u = u, .has_direction = 1, .is_stored = 1, .has_scale = 1, .wait = GMG_IN_LOOP};
  s->exec.graph->loop_body_begin(s->context, 0);
  cycle(s, &it, 1);
}

static void loop_begin(gmg_solver *s, gmg_iteration *it, gmg_loop *l)
{
  (void)it;
  l->ends_if_badly_scaled = s->corrections->note_step != NULL;
  l->least = gmg_type_traits_of(s->problem.type)->epsilon * l->state.f_norm; /* below it solve looks at the true residual */
}

static void loop_end(gmg_solver *s, gmg_iteration *it, const gmg_loop *l, const double *norms, int cycles)
{
  (void)l;
  for (int i = 0; i < cycles; i++) {
    it->norm = norms[i];
    if (s->corrections->note_step) s->corrections->note_step(it, norms[i]);
  }
}

const gmg_method gmg_conjugate_gradients = {.norm_is_recursive = 1,
                                            .cycles_at_once = 1,
                                            .start = start,
                                            .residual = residual,
                                            .cycle = cycle,
                                            .loop = loop,
                                            .can_loop = can_loop,
                                            .loop_begin = loop_begin,
                                            .loop_end = loop_end};
