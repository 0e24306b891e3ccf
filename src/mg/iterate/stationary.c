/* Cycles in the problem's type, which improve u: in place, or by a correction (cycle/improve.c). Called by solve through
   gmg_method, and by the acceleration. */
#include "iterate.h"

#include <math.h>

double gmg_true_residual(gmg_solver *s, const gmg_iteration *it, double *f_norm)
{
  GMG_AT_LEVEL(s, 0, "residual");
  const gmg_operator A = gmg_operator_on_arrays(s, it->f);
  gmg_exchange_one_layer(&s->exec, &A, it->u);
  return s->op->measure_residual(&s->exec, &A, it->f, it->u, NULL, NULL, NULL, f_norm, GMG_WAIT);
}

/* Whether the device can measure the first residual without the host. */
int gmg_loop_measures_first(gmg_solver *s)
{
  return s->params.fmg == 0 && !s->params.monitor && s->exec.graph->measures_first(s->context);
}

static void start(gmg_solver *s, gmg_iteration *it)
{
  (void)s;
  it->norm = NAN;
}

static double residual(gmg_solver *s, gmg_iteration *it, double *f_norm)
{
  if (isnan(it->norm) || f_norm) it->norm = gmg_true_residual(s, it, f_norm);
  return it->norm;
}

static void cycle(gmg_solver *s, gmg_iteration *it, int count)
{
  (void)count; /* 1 */
  if (it->wait) gmg_improve(s, it->f, it->u);
  else gmg_replay(s, gmg_improve, it->f, it->u);
  if (!it->keeps_mean) gmg_project_u(s, it->u);
  it->norm = NAN;
  if (it->wait) (void)residual(s, it, NULL);
}

static void loop(gmg_solver *s, const void *f, void *u)
{
  const gmg_operator A = gmg_operator_on_arrays(s, f);
  const int with_first = gmg_loop_measures_first(s);
  const gmg_correction none = {.z = NULL};
  if (with_first) {
    gmg_exchange_one_layer(&s->exec, &A, u);
    s->op->loop_first_residual(&s->exec, &A, f, u, NULL, NULL, NULL);
  }
  s->exec.graph->loop_body_begin(s->context, with_first);
  gmg_improve(s, f, u);
  gmg_exchange_one_layer(&s->exec, &A, u);
  s->op->loop_residual(&s->exec, &A, none, f, u, NULL, NULL);
}

static void loop_end(gmg_solver *s, gmg_iteration *it, const gmg_loop *l, const double *norms, int cycles)
{
  (void)s;
  it->norm = cycles > 0 ? norms[cycles - 1] : l->state.first;
}

const gmg_method gmg_stationary = {
    .cycles_at_once = 1, .start = start, .residual = residual, .cycle = cycle, .loop = loop, .loop_end = loop_end};

/* --- a correction for a residual --------------------------------------------------------------------------------------- */

static gmg_status create(gmg_solver *s)
{
  s->in_place = s->levels_in_all > 1 && gmg_is_packed(s->layouts.f) && gmg_is_packed(s->layouts.u);
  if (!s->in_place) GMG_TRY(gmg_create_correction_fields(s, 0));
  return GMG_OK;
}

/* z and r are packed. With one level r is copied, because the solver of the coarsest grid may change it. */
void gmg_cycle_from_zero(gmg_solver *s, const void *r, void *z)
{
  if (s->levels_in_all == 1) {
    s->vector->copy(&s->exec, s->level[0].A.cells, r, s->level[0].f);
    r = s->level[0].f;
  }
  gmg_exchange(&s->exec, &s->level[0].A, r);
  (void)gmg_cycle(&s->mg, 0, r, z, s->params.cycle, GMG_FROM_ZERO, NULL);
}

static void apply(gmg_solver *s, const void *r, void *z)
{
  const gmg_correction c = {.z = s->level[0].u};
  const int packed = gmg_is_packed(s->layouts.u);
  gmg_cycle_from_zero(s, r, packed ? z : s->level[0].u);
  if (!packed) gmg_array_correct(&s->exec, s->layouts.u, c, 0, z);
}

static void begin_watch(gmg_solver *s, gmg_iteration *it, int finite, const void **f, void **u)
{
  const size_t cells = s->finest->A.cells;
  gmg_level *L = &s->level[0];
  if (!s->in_place) { /* the cycle is one for a correction */
    const gmg_operator A = gmg_operator_on_arrays(s, it->f);
    gmg_exchange_one_layer(&s->exec, &A, it->u);
    if (finite) s->op->residual(&s->exec, &A, it->f, it->u, L->f);
    else s->vector->fill(&s->exec, cells, 0, L->f);
    s->vector->fill(&s->exec, cells, finite ? 0 : 1, L->u);
    *f = L->f, *u = L->u;
    return;
  }
  *f = it->f;
  *u = s->f_eff;
  if (finite) s->vector->copy(&s->exec, cells, it->u, *u);
  else s->vector->fill(&s->exec, cells, 1, *u);
}

const gmg_correction_ops gmg_corrections_same_precision = {.precision = GMG_PRECISION_SAME,
                                          .fmg = &gmg_fmg_same_type,
                                          .plain = &gmg_stationary,
                                          .accelerated = &gmg_conjugate_gradients,
                                          .create = create,
                                          .apply = apply,
                                          .begin_watch = begin_watch};
