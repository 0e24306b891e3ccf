/* Conjugate gradients in the problem's type, preconditioned by a cycle from zero (in mixed precision: conjugate_refinement.c). The
   flexible variant (Notay 2000; Golub, Ye 1999) allows a varying preconditioner, such as asynchronous cycles. Inner products are
   weighted by the control volumes, which makes A symmetric. All scalars stay in exec's memory (core/cg_scalars.h); the host only
   reads the residual norm, if it is measured. All iterations but the first can run as a recorded loop. Called by solve through
   gmg_method. */
#include "iterate.h"

#include <math.h>

static void start(gmg_solver *s, gmg_iteration *it)
{
  it->has_direction = 0;
  it->norm = NAN;
  GMG_AT_LEVEL(s, 0, "residual");
  gmg_forget_directions(s);
  const gmg_operator A = gmg_operator_on_arrays(s, it->f);
  gmg_exchange_one_layer(&s->exec, &A, it->u);
  s->op->residual(&s->exec, &A, it->f, it->u, s->krylov.r);
  if (it->wait) it->norm = gmg_field_norm2(&s->exec, &s->finest->A, s->krylov.r);
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
  void *r = s->krylov.r, *z = s->krylov.z, *p = s->krylov.p, *q = s->krylov.q;
  const int flexible = s->params.accel == GMG_ACCEL_FLEXIBLE_CG;

  gmg_replay(s, gmg_cycle_from_zero, r, z);
  gmg_start_timer(s, 0);
  gmg_project(s, e, L, z); /* otherwise u drifts */
  s->grid->cg_beta(e, A, z, flexible ? q : r, flexible, s->cg, NULL);
  gmg_exchange_one_layer(e, A, z); /* p's ghosts follow from it */
  s->op->cg_direction(e, A, z, s->cg, NULL, p, p, r, q);
  it->has_direction = 1;
  const double norm = gmg_array_cg_update(e, s->layouts.u, s->cg, p, q, it->u, r, it->wait);
  it->norm = it->wait == GMG_WAIT ? gmg_without_ghosts(e, A, r, norm) : norm;
}

static int can_loop(const gmg_solver *s, const gmg_iteration *it)
{
  (void)s;
  return it->has_direction; /* the recording begins with the second iteration, when the norm of the residual is known */
}

static void loop(gmg_solver *s, const void *f, void *u)
{
  gmg_iteration it = {.f = f, .u = u, .wait = GMG_IN_LOOP};
  s->exec.graph->loop_body_begin(s->context, 0);
  cycle(s, &it, 1);
}

static void loop_begin(gmg_solver *s, gmg_iteration *it, gmg_loop *l)
{
  (void)it;
  l->least = gmg_type_traits_of(s->problem.type)->epsilon * l->state.f_norm; /* below it solve looks at the true residual */
}

static void loop_end(gmg_solver *s, gmg_iteration *it, const gmg_loop *l, const double *norms, int cycles)
{
  (void)s, (void)l;
  if (cycles > 0) it->norm = norms[cycles - 1];
}

/* --- allocation ---------------------------------------------------------------------------------------------------------- */

gmg_status gmg_create_cg_scalars(gmg_solver *s)
{
  void *scalars = NULL;
  GMG_TRY(gmg_exec_alloc(&s->exec, "numbers of the acceleration", sizeof *s->cg, &scalars));
  s->cg = scalars;
  return GMG_OK;
}

void gmg_forget_directions(gmg_solver *s) { s->vector->fill(&s->exec, sizeof *s->cg / s->exec.real_size, 0, s->cg); }

static gmg_status create(gmg_solver *s)
{
  void **const fields[] = {&s->krylov.r, &s->krylov.z, &s->krylov.p, &s->krylov.q};
  for (int i = 0; i < 4; i++)
    GMG_TRY(gmg_create_field(&s->exec, "field of the acceleration", s->finest->A.cells, fields[i]));
  return gmg_create_cg_scalars(s);
}

const gmg_method gmg_conjugate_gradients = {.norm_is_recursive = 1,
                                            .minimises_energy = 1,
                                            .cycles_at_once = 1,
                                            .create = create,
                                            .start = start,
                                            .residual = residual,
                                            .cycle = cycle,
                                            .loop = loop,
                                            .can_loop = can_loop,
                                            .loop_begin = loop_begin,
                                            .loop_end = loop_end};
