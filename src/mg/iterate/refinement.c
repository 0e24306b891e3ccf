/* Iterative refinement (Wilkinson 1963; for multigrid Goeddeke, Strzodka, Turek 2007): the residual is computed in the problem's type,
   and a cycle from zero finds the correction in a lower precision. The residual is divided by about its own norm on its way there
   (core/scale.h). Called by solve through gmg_method, and by the acceleration. */
#include "iterate.h"

#include <math.h>

/* A cycle for the residual in level[0].f. The correction goes to u, or is returned to be added. */
static gmg_correction correction_for(gmg_solver *s, gmg_scale *scale, double keep, void *u)
{
  gmg_level *L = &s->level[0];
  const gmg_update_target to = {.x = u, .size = &scale->size, .keep = keep != 0};
  const int done = gmg_cycle(&s->mg, 0, L->f, L->u, s->params.cycle, GMG_FROM_ZERO, &to);
  gmg_charge(s, 0);
  return (gmg_correction){.z = done ? NULL : L->u, .size = &scale->size, .narrow = 1};
}

/* The residual of u, divided by size[0] (NULL: by the norm of the one before), into level[0].f unless low is NULL. */
static double measure(gmg_solver *s, gmg_iteration *it, const double *size, void *low, double *f_norm, gmg_wait wait)
{
  GMG_AT_LEVEL(s, 0, "residual");
  return s->stencil->residual_to_low(&s->exec, &s->finest->A, it->f, it->u, size, s->scale, low, f_norm, wait);
}

/* Until its size is known a residual is taken as it is. */
static const double *size_of(const gmg_solver *s, const gmg_iteration *it) { return it->scaled ? NULL : s->one; }

void gmg_note_low_residual(gmg_iteration *it, double norm)
{
  const double scaled_by = it->scaled ? it->scaled_by : 1;
  it->norm = norm;
  it->fresh = !(scaled_by > 0) || !gmg_can_scale_by(norm) || gmg_is_well_scaled(norm / scaled_by);
  it->scaled = 1;
  if (isnan(norm)) it->scaled_by = 0;
  else if (gmg_can_scale_by(norm)) it->scaled_by = norm;
}

/* Its norm was measured where the scale is known, so one more pass scales it well. */
static void make_fresh(gmg_solver *s, gmg_iteration *it)
{
  if (it->fresh) return;
  if (!it->scaled) (void)measure(s, it, s->one, NULL, NULL, GMG_NOBODY_WAITS);
  it->scaled = 1;
  (void)measure(s, it, NULL, s->level[0].f, NULL, GMG_NOBODY_WAITS);
  it->fresh = 1;
}

static void start(gmg_solver *s, gmg_iteration *it)
{
  (void)s;
  it->norm = NAN;
  it->fresh = 0;
}

static double residual(gmg_solver *s, gmg_iteration *it, double *f_norm)
{
  if (isnan(it->norm) || f_norm) gmg_note_low_residual(it, measure(s, it, size_of(s, it), s->level[0].f, f_norm, GMG_WAIT));
  return it->norm;
}

/* u takes the correction. Where somebody asks for the residual, it is stored, divided by size[0], and its norm is known. */
static void correct(gmg_solver *s, gmg_iteration *it, const double *size, gmg_correction c)
{
  it->fresh = 0;
  it->norm = NAN;
  if (!it->wait) {
    gmg_add_correction(s, s->finest, c, it->u);
  } else if (!c.z) {
    gmg_note_low_residual(it, measure(s, it, size, s->level[0].f, NULL, GMG_WAIT));
  } else {
    GMG_AT_LEVEL(s, 0, "residual");
    gmg_note_low_residual(it, s->stencil->correct_residual(&s->exec, &s->finest->A, c, it->f, it->u, size, s->scale, s->level[0].f, GMG_WAIT));
  }
}

static void remove_mean(gmg_solver *s, void *u)
{
  if (s->singular) gmg_remove_mean(&s->exec, &s->finest->A, s->finest->volume, u); /* else rounding lets it drift */
}

/* A cycle of which the host learns nothing. */
static void improve(gmg_solver *s, const void *f, void *u)
{
  gmg_iteration it = {.f = f, .u = u, .scaled = 1};
  make_fresh(s, &it);
  gmg_add_correction(s, s->finest, correction_for(s, s->scale, 1, u), u);
}

static void cycle(gmg_solver *s, gmg_iteration *it)
{
  if (!it->wait && it->scaled && !it->fresh) {
    it->norm = NAN;
    it->scaled_by = 0;
    gmg_replay(s, improve, it->f, it->u);
  } else {
    make_fresh(s, it);
    correct(s, it, NULL, correction_for(s, s->scale, 1, it->u));
  }
  remove_mean(s, it->u);
}

/* The residual is about of the data's size, or smaller. */
static void start_from(gmg_solver *s, gmg_iteration *it, gmg_correction c)
{
  it->scaled = 1;
  it->scaled_by = 0;
  correct(s, it, &s->data_scale->size, c);
}

static void loop(gmg_solver *s, const void *f, void *u)
{
  const gmg_operator *A = &s->finest->A;
  const int with_first = gmg_loop_measures_first(s);
  if (with_first) s->stencil->loop_first_residual(&s->exec, A, f, u, s->one, s->scale, s->level[0].f);
  s->exec.graph->loop_body_begin(s->context, with_first);
  s->stencil->loop_residual(&s->exec, A, correction_for(s, s->scale, 1, u), f, u, s->scale, s->level[0].f);
  remove_mean(s, u);
}

static void loop_begin(gmg_solver *s, gmg_iteration *it, gmg_loop *l)
{
  l->rescales = 1;
  if (!l->measures_first) make_fresh(s, it);
}

static void loop_end(gmg_solver *s, gmg_iteration *it, const gmg_loop *l, const double *norms, int cycles)
{
  (void)s;
  if (l->measures_first) {
    it->scaled = 0;
    gmg_note_low_residual(it, l->standing.first);
  }
  for (int i = 0; i < cycles; i++) gmg_note_low_residual(it, norms[i]);
}

const gmg_method gmg_refinement = {.start = start,
                                   .residual = residual,
                                   .cycle = cycle,
                                   .start_from = start_from,
                                   .loop = loop,
                                   .loop_begin = loop_begin,
                                   .loop_end = loop_end};

/* --- a correction for a residual --------------------------------------------------------------------------------------- */

static void apply(gmg_solver *s, const void *r, gmg_scale *scale, void *z)
{
  const size_t cells = s->finest->A.cells;
  s->vector->normalize_to_low(&s->exec, cells, r, scale, s->level[0].f);
  const gmg_correction c = correction_for(s, scale, 0, z);
  if (c.z) s->vector->axpby_from_low(&s->exec, cells, c.size, c.z, 0, z);
}

static void low_cycle(gmg_solver *s, const void *f, void *u)
{
  (void)gmg_cycle(&s->mg, 0, f, u, s->params.cycle, GMG_FROM_ZERO, NULL);
}

static gmg_correction precondition(gmg_solver *s, gmg_iteration *it)
{
  gmg_level *L = &s->level[0];
  if (!it->fresh) s->vector->normalize_to_low(&s->exec, L->A.cells, s->krylov[0], s->scale, L->f);
  if (!it->fresh && !isnan(it->norm)) it->scaled_by = it->norm;
  it->scaled = 1;
  gmg_replay(s, low_cycle, L->f, L->u);
  return (gmg_correction){.z = L->u, .size = &s->scale->size, .narrow = 1};
}

static void watched(gmg_solver *s, gmg_iteration *it, int finite, const void **f, void **u)
{
  gmg_level *L = &s->level[0];
  const gmg_exec *e = s->levels_exec;
  it->fresh = 0;
  it->scaled = 0;
  if (finite) make_fresh(s, it);
  else e->vector->fill(e, L->A.cells, 0, L->f);
  e->vector->fill(e, L->A.cells, finite ? 0 : 1, L->u);
  *f = L->f;
  *u = L->u;
}

const gmg_correction_ops gmg_low_type = {.precision = GMG_PRECISION_MIXED,
                                         .fmg = &gmg_fmg_low_type,
                                         .plain = &gmg_refinement,
                                         .apply = apply,
                                         .precondition = precondition,
                                         .watched = watched};
