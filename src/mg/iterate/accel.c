/* Iterations: plain cycles, or conjugate gradients preconditioned by one cycle from zero. The flexible variant (Notay
   2000; Golub, Ye 1999) takes a preconditioner that varies, as asynchronous cycles do. Inner products are weighted by the
   control volumes, under which A is symmetric. In mixed precision the residual is computed in the problem's type, and a
   cycle from zero finds the correction in the narrower one (iterative refinement: Wilkinson 1963; for multigrid Goeddeke,
   Strzodka, Turek 2007). */
#include "mg/solver.h"

#include <math.h>

double gmg_true_residual(gmg_solver *s, const gmg_iteration *it)
{
  GMG_RANGE(&s->exec, 0, "residual");
  return s->stencil->residual_norm(&s->exec, &s->top->A, it->f, it->u, NULL);
}

static const double NEARLY_ONE = 1e6; /* own_f is of that size at most, or of one over it at least */
static const double NOTHING = 1e-300; /* smaller numbers have no inverse */

static int is_known(double norm) { return norm > NOTHING && isfinite(norm); }

void gmg_iteration_expect(gmg_iteration *it, double norm)
{
  if (is_known(norm)) it->next = 1 / norm;
}

/* own_f was made with the scale that the residual before gave; now this one's norm is known. */
static void take_norm(gmg_iteration *it, double norm)
{
  const double size = norm * it->scale;
  it->norm = norm;
  it->fresh = !is_known(norm) || (size < NEARLY_ONE && size > 1 / NEARLY_ONE); /* 0 and NaN are what they are */
  gmg_iteration_expect(it, norm);
}

static void next_scale(gmg_iteration *it) { it->scale = it->next > 0 ? it->next : 1; }

/* The residual's norm; into own_f the residual, fresh where it has about the size of the one before. */
static void narrow_residual(gmg_solver *s, gmg_iteration *it, double *f_norm)
{
  GMG_RANGE(&s->exec, 0, "residual");
  next_scale(it);
  take_norm(it, s->stencil->narrow_residual(&s->exec, &s->top->A, it->f, it->u, it->scale, s->own_f, f_norm));
}

static void make_fresh(gmg_solver *s, gmg_iteration *it)
{
  for (int attempt = 0; attempt < 2 && !it->fresh; attempt++) narrow_residual(s, it, NULL);
}

void gmg_iteration_start(gmg_solver *s, gmg_iteration *it)
{
  it->first = 1;
  it->fresh = 0, it->norm = NAN;
  if (s->params.accel == GMG_ACCEL_NONE) return;
  GMG_RANGE(&s->exec, 0, "residual");
  s->vector->fill(&s->exec, sizeof *s->direction / s->exec.real_size, 0, s->direction);
  s->stencil->residual(&s->exec, &s->top->A, it->f, it->u, s->krylov[0]);
  if (!it->unseen) it->norm = s->vector->norm2(&s->exec, s->top->A.cells, s->krylov[0]);
}

double gmg_iteration_residual(gmg_solver *s, gmg_iteration *it, double *f_norm)
{
  if (s->params.accel != GMG_ACCEL_NONE) return it->norm;
  if (s->mixed) {
    if (isnan(it->norm) || f_norm) narrow_residual(s, it, f_norm);
    return it->norm;
  }
  GMG_RANGE(&s->exec, 0, "residual");
  return s->stencil->residual_norm(&s->exec, &s->top->A, it->f, it->u, f_norm);
}

void gmg_iteration_correct(gmg_solver *s, gmg_iteration *it, gmg_correction c)
{
  it->fresh = 0;
  if (!c.z) {
    narrow_residual(s, it, NULL);
    return;
  }
  GMG_RANGE(&s->exec, 0, "residual");
  next_scale(it);
  take_norm(it, s->stencil->correct_residual(&s->exec, &s->top->A, c, it->f, it->u, it->scale, s->own_f));
}

/* A cycle for the residual in own_f, which was divided by scale, or by size[0]. The correction goes onto u, or is still to go there. */
static gmg_correction cycle_for_own(gmg_solver *s, double scale, const double *size, void *u)
{
  const gmg_onto to = {.x = u, .scale = scale, .size = size, .keep = 1};
  const gmg_correction c = {.z = gmg_cycle_onto(s, 0, to), .scale = scale, .narrow = 1, .size = size};
  gmg_charge(s, 0);
  return c;
}

static gmg_correction unit_cycle(gmg_solver *s, const void *f, void *u, int first)
{
  s->stencil->unit_residual(&s->exec, &s->top->A, f, u, first, s->size, s->own_f);
  return cycle_for_own(s, 1, s->size, u);
}

void gmg_add_correction(gmg_solver *s, const gmg_level *L, gmg_correction c, void *u)
{
  if (c.z) s->vector->correct(&s->exec, L->A.cells, c, u);
}

/* All that depends on f and u alone. */
static void refine_unseen(gmg_solver *s, const void *f, void *u)
{
  gmg_add_correction(s, s->top, unit_cycle(s, f, u, 0), u);
}

/* The host knows what own_f was divided by where the last norm was asked for. Where all are, it sees to that as gmg_run_ahead() does, so
   that a replayed solve is bitwise the same. */
static void refine(gmg_solver *s, gmg_iteration *it)
{
  if (s->params.check_every == 1) make_fresh(s, it);
  if (it->unseen && it->sized && !it->fresh) {
    it->norm = NAN;
    gmg_do(s, GMG_RECORDED_CYCLE, it->f, it->u, refine_unseen);
    return;
  }
  const gmg_correction c = it->fresh ? cycle_for_own(s, 1 / it->scale, NULL, it->u) : unit_cycle(s, it->f, it->u, !it->sized);
  it->sized |= !it->fresh; /* the next residual's size is about this one's */
  it->fresh = 0, it->norm = NAN;
  if (it->unseen) gmg_add_correction(s, s->top, c, it->u);
  else gmg_iteration_correct(s, it, c);
}

/* The finest grid is the coarsest, whose solver starts from zero. */
static void solve_residual(gmg_solver *s, gmg_iteration *it)
{
  s->stencil->residual(&s->exec, &s->top->A, it->f, it->u, s->own_f);
  s->vector->axpy(&s->exec, s->top->A.cells, 1, gmg_cycle_on_own(s, 1).z, it->u);
}

static void finest_cycle(gmg_solver *s, const void *f, void *u)
{
  s->level[0].f = (void *)f, s->level[0].u = u;
  gmg_cycle(s, 0);
}

static void plain(gmg_solver *s, gmg_iteration *it)
{
  if (s->mixed) refine(s, it);
  else if (s->levels == 1) solve_residual(s, it);
  else if (it->unseen) gmg_do(s, GMG_RECORDED_CYCLE, it->f, it->u, finest_cycle);
  else finest_cycle(s, it->f, it->u);
  if (s->singular) gmg_remove_mean(&s->exec, &s->top->A, s->top->volume, it->u); /* else rounding lets it drift */
}

/* Nobody on the host has a say in the first residual, nor in what comes before it. */
int gmg_starts_by_itself(gmg_solver *s)
{
  return s->params.fmg == 0 && !s->singular && !s->params.monitor && s->exec.graph->decides(s->context);
}

/* The same where scales and norms stay in exec's memory. */
static void go_round(gmg_solver *s, const void *f, void *u)
{
  const gmg_operator *A = &s->top->A;
  const int starts = gmg_starts_by_itself(s);
  gmg_correction c = {.z = NULL};
  if (starts) s->stencil->loop_first_residual(&s->exec, A, f, u, s->mixed ? s->own_f : NULL);
  s->exec.graph->around(s->context, starts);
  if (!s->mixed) {
    gmg_iteration it = {.f = f, .u = u};
    plain(s, &it);
    s->stencil->loop_residual(&s->exec, A, c, f, u, NULL);
    return;
  }
  c = (gmg_correction){.narrow = 1, .size = s->exec.graph->size(s->context)};
  c.z = gmg_cycle_onto(s, 0, (gmg_onto){.x = u, .scale = 1, .size = c.size, .keep = 1});
  s->stencil->loop_residual(&s->exec, A, c, f, u, s->own_f);
  if (s->singular) gmg_remove_mean(&s->exec, A, s->top->volume, u);
}

gmg_graph *gmg_iteration_recorded(gmg_solver *s, const gmg_iteration *it)
{
  const gmg_params *q = &s->params;
  const int cycle_may_change = s->free_cycle && q->cycle != GMG_CYCLE_V;
  if (q->accel != GMG_ACCEL_NONE || q->check_every != 1 || cycle_may_change) return NULL;
  return gmg_recorded_loop(s, it->f, it->u, go_round);
}

int gmg_run_ahead(gmg_solver *s, gmg_iteration *it, gmg_graph *cycle, gmg_outlook *outlook, double *norms)
{
  const int starts = outlook->starts;
  GMG_RANGE(&s->exec, 0, "cycles");
  if (s->mixed && !starts) make_fresh(s, it);
  outlook->scale = s->mixed && !starts ? it->scale : 1;
  outlook->next = it->next > 0 ? it->next : 1;
  outlook->far = s->mixed ? NEARLY_ONE : 0, outlook->nothing = NOTHING;
  const int cycles = s->exec.graph->run(s->context, cycle, outlook, norms);
  for (int i = starts ? -1 : 0; s->mixed && i < cycles; i++) {
    next_scale(it);
    take_norm(it, i < 0 ? outlook->norm : norms[i]);
  }
  return cycles;
}

/* It starts from the iterate, in which the growing part is large, or from 1 where that is no number any more. */
void gmg_iteration_watched(gmg_solver *s, gmg_iteration *it)
{
  gmg_level *L = &s->level[0];
  const gmg_exec *e = s->levels_exec;
  const int finite = isfinite(s->vector->norm2(&s->exec, s->top->A.cells, it->u));
  if (s->mixed) {
    L->f = s->own_f, L->u = s->own_u;
    it->fresh = 0;
    if (finite) make_fresh(s, it);
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

static void on_own(gmg_solver *s, const void *f, void *u)
{
  (void)f, (void)u; /* own_f, own_u */
  (void)gmg_cycle_on_own(s, 1);
}

static void from_zero(gmg_solver *s, const void *f, void *u) { (void)gmg_cycle_from_zero(s, f, 1, u); }

/* A cycle from zero for the residual. Where nobody asked for the residual's norm, the host does not know what to scale it by. */
static gmg_correction preconditioned(gmg_solver *s, const gmg_iteration *it)
{
  if (s->mixed && isnan(it->norm)) {
    s->vector->normalize_to_low(&s->exec, s->top->A.cells, s->krylov[0], s->size, s->own_f);
    gmg_do(s, GMG_RECORDED_CORRECTION, s->own_f, s->own_u, on_own);
    return (gmg_correction){.z = s->own_u, .narrow = 1, .size = s->size};
  }
  if (it->fresh) {
    gmg_do(s, GMG_RECORDED_CORRECTION, s->own_f, s->own_u, on_own);
    return (gmg_correction){.z = s->own_u, .scale = 1 / it->scale, .narrow = s->mixed};
  }
  if (s->mixed) return gmg_cycle_from_zero(s, s->krylov[0], it->norm, NULL);
  gmg_do(s, GMG_RECORDED_CORRECTION, s->krylov[0], s->krylov[1], from_zero);
  return (gmg_correction){.z = s->krylov[1], .scale = 1};
}

/* p becomes conjugate to the direction before: by <z, A p> / <p, A p> (flexible), or by <r, z> over the one before. All numbers stay
   in exec's memory (core/cg_scalars.h) but the norm, where somebody asks for it. */
static void conjugate_gradients(gmg_solver *s, gmg_iteration *it)
{
  const gmg_exec *e = &s->exec;
  const gmg_operator *A = &s->top->A;
  void *r = s->krylov[0], *p = s->krylov[2], *q = s->krylov[3];
  const int flexible = s->params.accel == GMG_ACCEL_FLEXIBLE_CG;

  const gmg_correction z = preconditioned(s, it);
  gmg_charge(s, 0);
  it->fresh = 0;
  if (s->singular) gmg_remove_mean(s->levels_exec, &s->level[0].A, s->level[0].volume, (void *)z.z); /* else u drifts */
  if (!flexible || !it->first) s->stencil->cg_beta(e, A, z, flexible ? q : r, flexible, s->direction); /* q: nothing yet at first */
  s->stencil->cg_direction(e, A, z, s->direction, p, r, q);
  it->first = 0;
  next_scale(it);
  void *slim = s->mixed && !it->unseen ? s->own_f : NULL;
  it->norm = s->vector->cg_update(e, A->cells, s->direction, p, q, it->u, r, it->scale, slim, !it->unseen);
  if (slim) take_norm(it, it->norm);
}

void gmg_iterate(gmg_solver *s, gmg_iteration *it)
{
  if (s->params.accel == GMG_ACCEL_NONE)
    plain(s, it);
  else
    conjugate_gradients(s, it);
}
