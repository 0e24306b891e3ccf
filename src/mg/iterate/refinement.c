/* Iterative refinement (Wilkinson 1963; for multigrid Goeddeke, Strzodka, Turek 2007). The residual is computed in the problem's
   type, and a cycle from zero computes the correction in low precision. The residual is divided by about its own norm when it is
   converted (core/scale.h). The correction of the accelerated variant is in conjugate_refinement.c. Called by solve through
   gmg_method. */
#include "iterate.h"

#include <math.h>

/* Runs cycles for the stored residual: x = keep x + correction. Returns what is left to add to x. z = NULL: a fused leg has added
   it. */
static gmg_correction correction_for(gmg_solver *s, int cycles, int keep, void *x)
{
  const gmg_update_target to = {.x = x, .layout = s->layouts.u, .scale = &s->scales->residual.divisor, .keep = keep};
  return gmg_correct(s, 0, cycles, &to);
}

/* Measures the residual of u. Unless low is NULL, stores it in level[0].f, divided by divisor[0] or, with divisor = NULL, by the
   previous norm. */
static double measure(gmg_solver *s, gmg_iteration *it, const double *divisor, void *low, double *f_norm, gmg_wait wait)
{
  GMG_AT_LEVEL(s, 0, "residual");
  const gmg_operator A = gmg_operator_on_arrays(s, it->f);
  gmg_exchange_one_layer(&s->exec, &A, it->u);
  return s->op->measure_residual(&s->exec, &A, it->f, it->u, divisor, &s->scales->residual, low, f_norm, wait);
}

/* The divisor of a residual: 1 until its norm is known. */
static const double *divisor_of(const gmg_solver *s, const gmg_iteration *it) { return it->has_scale ? NULL : &s->scales->one; }

static void note_low_residual(gmg_iteration *it, double norm)
{
  const double scale_norm = it->has_scale ? it->scale_norm : 1;
  it->norm = norm;
  it->stored_norm = norm / scale_norm;
  it->is_stored = !(scale_norm > 0) || !gmg_can_scale_by(norm) || gmg_is_well_scaled(norm / scale_norm);
  it->has_scale = 1;
  if (isnan(norm)) it->scale_norm = 0;
  else if (gmg_can_scale_by(norm)) it->scale_norm = norm;
}

/* Stores the residual again, divided by its own norm, unless it is already well scaled. */
static void store_residual(gmg_solver *s, gmg_iteration *it)
{
  if (it->is_stored) return;
  if (!it->has_scale) (void)measure(s, it, &s->scales->one, NULL, NULL, GMG_ENQUEUE);
  it->has_scale = 1;
  (void)measure(s, it, NULL, s->level[0].f, NULL, GMG_ENQUEUE);
  it->stored_norm = 1;
  it->is_stored = 1;
}

static void start(gmg_solver *s, gmg_iteration *it)
{
  if (s->method->forget) s->method->forget(s);
  it->norm = NAN;
  it->is_stored = 0;
}

static double residual(gmg_solver *s, gmg_iteration *it, double *f_norm)
{
  if (isnan(it->norm) || f_norm) note_low_residual(it, measure(s, it, divisor_of(s, it), s->level[0].f, f_norm, GMG_WAIT));
  return it->norm;
}

/* Called before an operation that corrects u and computes its residual. It adds the correction on ghosts, too. */
static void exchange_corrected(const gmg_solver *s, gmg_correction c, const void *u)
{
  gmg_exchange_one_layer(&s->exec, &s->finest->A, u);
  if (c.z) gmg_exchange_one_layer(s->levels_exec, &s->level[0].A, c.z);
}

/* Adds the correction to u. If the residual is measured, also stores it, divided by divisor[0]. */
static void correct(gmg_solver *s, gmg_iteration *it, const double *divisor, gmg_correction c)
{
  it->is_stored = 0;
  it->norm = NAN;
  if (!it->wait) {
    gmg_add_correction(s, c, it->u);
  } else if (!c.z) {
    note_low_residual(it, measure(s, it, divisor, s->level[0].f, NULL, GMG_WAIT));
  } else {
    GMG_AT_LEVEL(s, 0, "residual");
    const gmg_operator A = gmg_operator_on_arrays(s, it->f);
    exchange_corrected(s, c, it->u);
    note_low_residual(it, s->op->correct_residual(&s->exec, &A, c, it->f, it->u, divisor, &s->scales->residual, s->level[0].f,
                                                  GMG_WAIT));
  }
}

/* A cycle without results for the host. */
static void improve(gmg_solver *s, const void *f, void *u)
{
  gmg_iteration it = {.f = f, .u = u, .has_scale = 1};
  store_residual(s, &it);
  gmg_add_correction(s, s->method->correction(s, 1, u), u);
}

static void cycle(gmg_solver *s, gmg_iteration *it, int count)
{
  if (count == 1 && !it->wait && it->has_scale && !it->is_stored) {
    it->norm = NAN;
    it->scale_norm = 0;
    gmg_replay(s, improve, it->f, it->u);
  } else {
    store_residual(s, it);
    it->corrected_norm = it->stored_norm;
    correct(s, it, NULL, s->method->correction(s, count, it->u));
  }
  if (!it->keeps_mean) gmg_project_u(s, it->u);
}

/* Starts the iteration after a full multigrid start. The residual is about as large as the data, or smaller. */
static void start_from(gmg_solver *s, gmg_iteration *it, gmg_correction c)
{
  if (s->method->forget) s->method->forget(s);
  it->has_scale = 1;
  it->scale_norm = 0;
  correct(s, it, &s->scales->data.divisor, c);
}

static void loop(gmg_solver *s, const void *f, void *u)
{
  const gmg_operator A = gmg_operator_on_arrays(s, f);
  const int with_first = gmg_loop_measures_first(s);
  if (with_first) {
    gmg_exchange_one_layer(&s->exec, &A, u);
    s->op->loop_first_residual(&s->exec, &A, f, u, &s->scales->one, &s->scales->residual, s->level[0].f);
  }
  s->exec.graph->loop_body_begin(s->context, with_first);
  const gmg_correction c = s->method->correction(s, 1, u);
  exchange_corrected(s, c, u);
  s->op->loop_residual(&s->exec, &A, c, f, u, &s->scales->residual, s->level[0].f);
}

static void loop_begin(gmg_solver *s, gmg_iteration *it, gmg_loop *l)
{
  l->ends_if_badly_scaled = 1;
  if (!l->measures_first) store_residual(s, it);
}

static void loop_end(gmg_solver *s, gmg_iteration *it, const gmg_loop *l, const double *norms, int cycles)
{
  (void)s;
  if (l->measures_first) {
    it->has_scale = 0;
    note_low_residual(it, l->state.first);
  }
  for (int i = 0; i < cycles; i++) note_low_residual(it, norms[i]);
}

static gmg_correction plain_correction(gmg_solver *s, int cycles, void *u) { return correction_for(s, cycles, 1, u); }

#define REFINEMENT                                                                                         \
  .start = start, .residual = residual, .cycle = cycle, .start_from = start_from, .loop = loop, \
  .loop_begin = loop_begin, .loop_end = loop_end

/* cycles_at_once: low precision resolves the sum of about three cycles, and the recursion of about four steps.
   min_cells_at_once: measured on two cores and on an H100. In 2D, rounding often costs a cycle on smaller grids. */
const gmg_method gmg_refinement = {.cycles_at_once = 3,
                                   .min_cells_at_once = {{1 << 20, 1 << 20, 1 << 20}, {1 << 23, 2000000, 500000}},
                                   .sums_in_low_precision = 1,
                                   .correction = plain_correction,
                                   REFINEMENT};
const gmg_method gmg_conjugate_refinement = {.minimises_energy = 1,
                                             .cycles_at_once = 4,
                                             .min_cells_at_once = {{1 << 20, 1 << 20, 1 << 20}, {1 << 23, 1 << 23, 1000000}},
                                             .create = gmg_create_directions,
                                             .forget = gmg_forget_directions,
                                             .correction = gmg_correct_along_directions,
                                             REFINEMENT};

/* --- allocation ---------------------------------------------------------------------------------------------------------- */

/* Level 0 becomes a copy in low precision. The finest grid in the problem's type becomes the first outer
   level. A full multigrid start restricts boundary values from it. */
static gmg_status make_finest_outer(gmg_solver *s, const gmg_axis axis[3])
{
  s->outer[0] = s->level[0];
  s->level[0] = (gmg_level){.volume = s->outer[0].volume};
  s->finest = &s->outer[0];
  s->outer_levels = 1;
  return gmg_create_grid(s, s->levels_exec, &s->level[0], 0, axis, s->params.fmg > 0);
}

/* Builds a coarser outer level. f holds the data of a full multigrid start, u its solution. */
static gmg_status make_outer(gmg_solver *s, int l, const gmg_axis axis[3])
{
  gmg_level *R = &s->outer[l];
  s->outer_levels = l + 1;
  GMG_TRY(gmg_create_grid(s, &s->exec, R, l, axis, 1));
  GMG_TRY(gmg_create_field(&s->exec, "solution of a coarse level", R->A.cells, &R->u));
  return gmg_create_field(&s->exec, "right-hand side of a coarse level", R->A.cells, &R->f);
}

static gmg_status create_level(gmg_solver *s, int l, const gmg_axis axis[3], int is_coarsest)
{
  if (l == 0) return make_finest_outer(s, axis);
  const int may = s->params.fmg > 0 && s->outer_levels == l && l < GMG_MAX_OUTER_LEVELS && !is_coarsest;
  return may && gmg_fmg_needs_outer_level(s, &s->level[l - 1].A) ? make_outer(s, l, axis) : GMG_OK;
}

/* Allocates the fields of corrections. A full multigrid start uses level 0's u as work space for the padded field of level 1 in the
   problem's type. A base must outlive the cycle on level 0, so it has a field of its own, unless level 1 has it. */
static gmg_status create(gmg_solver *s)
{
  static const gmg_scales unknown = {.one = 1};
  const int with_room = s->params.fmg > 0 && s->levels > 1;
  void *scales = NULL;
  GMG_TRY(gmg_create_correction_fields(s, with_room ? gmg_padded_cells(&s->level[1].A) * s->exec.real_size : 0));
  if (with_room && s->outer_levels == 1 && s->mg.fused[0] && !s->parts)
    GMG_TRY(gmg_create_field(&s->exec, "base of a full multigrid start", s->level[1].A.cells, &s->fmg_base));
  GMG_TRY(gmg_exec_alloc(&s->exec, "scales of the residual and of f", sizeof unknown, &scales));
  if (!s->exec.dry) s->exec.memory->upload(s->context, scales, &unknown, sizeof unknown);
  s->scales = scales;
  return GMG_OK;
}

/* --- a correction for a residual --------------------------------------------------------------------------------------- */

/* Where the norm is taken over ghosts, too, they are exchanged: stale ones would make it depend on earlier calls. */
static void apply(gmg_solver *s, const void *r, void *z)
{
  gmg_exchange(&s->exec, &s->finest->A, r);
  gmg_normalize_field(&s->exec, &s->finest->A, r, &s->scales->residual, s->level[0].f);
  const gmg_correction c = correction_for(s, 1, 0, z);
  if (c.z) gmg_array_correct(&s->exec, s->layouts.u, c, 0, z);
}

static void begin_watch(gmg_solver *s, gmg_iteration *it, int finite, const void **f, void **u)
{
  gmg_level *L = &s->level[0];
  const gmg_exec *e = s->levels_exec;
  it->is_stored = 0;
  it->has_scale = 0;
  if (finite) store_residual(s, it);
  else e->vector->fill(e, L->A.cells, 0, L->f);
  e->vector->fill(e, L->A.cells, finite ? 0 : 1, L->u);
  *f = L->f;
  *u = L->u;
}

const gmg_correction_ops gmg_corrections_low_precision = {.precision = GMG_PRECISION_MIXED,
                                         .fmg = &gmg_fmg_low_type,
                                         .plain = &gmg_refinement,
                                         .accelerated = &gmg_conjugate_refinement,
                                         .create_level = create_level,
                                         .create = create,
                                         .check = gmg_check_precision,
                                         .apply = apply,
                                         .begin_watch = begin_watch};
