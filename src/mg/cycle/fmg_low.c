/* Full multigrid start for levels in low precision. Coarse levels compute everything in low precision, as long as its rounding is
   small compared with the error of the scheme. The other levels (gmg_fmg_needs_outer_level(); always the finest) are the
   outer levels. They keep f and u in the problem's type, and improve u by corrections: residuals in the problem's type,
   cycles in low precision. Called by fmg.c. */
#include "cycle.h"

/* Layouts of f and u of an outer level: on the finest those of the caller's arrays. */
static gmg_layout data_layout(const gmg_solver *s, int l) { return l == 0 ? s->layouts.f : gmg_layout_of(&s->outer[l].A); }
static gmg_layout solution_layout(const gmg_solver *s, int l) { return l == 0 ? s->layouts.u : gmg_layout_of(&s->outer[l].A); }

/* Computes f and g of the outer levels. Returns f of the last outer level, before boundary values are
   folded in. Its ghosts are fresh. */
static const void *restrict_on_outer_levels(gmg_solver *s, const void *f)
{
  for (int l = 0; l + 1 < s->outer_levels; l++) {
    gmg_level *R = &s->outer[l], *C = &s->outer[l + 1];
    gmg_exchange(&s->exec, &R->A, f);
    gmg_transfer(&s->exec, R->average, data_layout(s, l), f, gmg_layout_of(&C->A), C->f);
    if (s->has_boundary_values) gmg_fmg_restrict_faces(s, &s->exec, R, C);
    f = C->f;
  }
  gmg_exchange(&s->exec, &s->outer[s->outer_levels - 1].A, f);
  return f;
}

/* Folds boundary values into f. Called after the next coarser level has read f. */
static void fold_on_outer_levels(gmg_solver *s)
{
  for (int l = 1; l < s->outer_levels; l++) {
    gmg_level *R = &s->outer[l];
    if (s->has_boundary_values) s->grid->fold(&s->exec, &R->A, &R->faces, R->f);
    gmg_project(s, &s->exec, R, R->f);
  }
}

/* Converts the boundary values of the last outer level to low precision. */
static void convert_faces(gmg_solver *s)
{
  const int l = s->outer_levels - 1;
  const gmg_operator *A = &s->outer[l].A;
  for (int a = 0; a < s->problem.dim; a++)
    for (int side = 0; side < 2; side++)
      if (s->outer[l].faces.g[a][side])
        s->vector->scale_to_low(&s->exec, A->cells / A->n[a], &s->scales->data.divisor, s->outer[l].faces.g[a][side],
                                s->level[l].faces.g[a][side]);
}

/* Returns the last outer level; the data of the next coarser level are set. Data are divided by about the norm of f, because they
   might leave the range of low precision. level[0].u is used as work space. */
static int restrict_first_levels(gmg_solver *s, const void *f, const void *f_eff)
{
  const int last = s->outer_levels - 1;
  gmg_level *C = &s->level[last + 1];
  void *room = s->level[0].u;
  gmg_transfer(&s->exec, s->outer[last].average, data_layout(s, last), restrict_on_outer_levels(s, f), gmg_layout_of(&C->A), room);
  fold_on_outer_levels(s);
  if (s->singular) s->vector->subtract_mean(&s->exec, C->A.cells, room); /* the mean is removed later anyway; a large mean would
                                                                            leave no digits of the rest */
  if (!s->has_boundary_values) {
    gmg_normalize_field(&s->exec, &C->A, room, &s->scales->data, gmg_fmg_data(s, last + 1));
    return last;
  }
  gmg_normalize_field(&s->exec, &s->finest->A, f_eff, &s->scales->data, NULL);
  s->vector->scale_to_low(&s->exec, C->A.cells, &s->scales->data.divisor, room, C->r);
  convert_faces(s);
  return last;
}

/* Work space for the field to interpolate from to outer level l. A field that is not padded must outlive the cycle on level l
   (interpolates_twice()), which uses level[l].u. */
static void *room_of(const gmg_solver *s, int l)
{
  return l == 0 && !gmg_fmg_needs_padding(s, l) && s->fmg_base ? s->fmg_base : s->level[0].u;
}

/* The solution of the finest level that is not an outer one, in the problem's type. */
static int target(gmg_solver *s, gmg_update_target *to)
{
  const int last = s->outer_levels - 1;
  *to = (gmg_update_target){
    .x = room_of(s, last), .layout = gmg_layout_of(&s->level[last + 1].A), .scale = &s->scales->data.divisor};
  return !gmg_fmg_needs_padding(s, last);
}

/* Returns the field to interpolate from to outer level l, with fresh ghosts, and sets the map. If the coarser level's u is in low
   precision, it is converted to the problem's type, unless the cycle has already done so. */
static const void *coarse_of(gmg_solver *s, int l, int in_target, const gmg_map **map)
{
  gmg_level *C = &s->level[l + 1], *R = &s->outer[l + 1];
  const int padded = gmg_fmg_needs_padding(s, l);
  void *room = room_of(s, l);
  *map = padded ? s->outer[l].interpolate : s->outer[l].prolong;
  if (l + 1 == s->outer_levels) {
    const size_t cells = padded ? gmg_padded_cells(&C->A) : C->A.cells;
    if (padded) gmg_fmg_pad(s, s->levels_exec, C, C->u, C->padded);
    const void *from = padded ? C->padded : C->u;
    if (!in_target) s->vector->correct(&s->exec, cells, gmg_correction_from_levels(s, from, &s->scales->data.divisor), 0, room);
    if (!padded) gmg_exchange(&s->exec, &C->A, room);
    return room;
  }
  if (padded) gmg_fmg_pad(s, &s->exec, R, R->u, room);
  else gmg_exchange(&s->exec, &R->A, R->u);
  return padded ? room : R->u;
}

/* Whether u on outer level l need not be stored before its first correction: the cycle interpolates it once more as it adds the
   correction. That takes linear prolongation and a coarse field that the cycle does not use. */
static int interpolates_twice(const gmg_solver *s, int l, const gmg_update_target *to)
{
  const int is_kept = l > 0 || to->base != s->level[0].u;
  return is_kept && !gmg_fmg_needs_padding(s, l) && gmg_takes_base(&s->mg, l, to);
}

/* Interpolates u to an outer level and improves it by params.fmg corrections. Returns the last correction, which the caller
   adds. */
static gmg_correction refine(gmg_solver *s, int l, int in_target, const void *f, void *u)
{
  const gmg_level *R = &s->outer[l];
  void *const r = s->level[l].f;
  const double *divisor = &s->scales->data.divisor;
  const gmg_map *map;
  const void *coarse = coarse_of(s, l, in_target, &map);
  gmg_update_target to = {.x = u, .layout = solution_layout(s, l), .scale = divisor, .base = coarse, .base_map = map};
  const gmg_operator A = l == 0 ? gmg_operator_on_arrays(s, f) : R->A;
  gmg_correction c = {.z = NULL};
  const int store = !interpolates_twice(s, l, &to);
  to.keep = s->op->interpolated_residual(&s->exec, &A, map, coarse, f, u, store, divisor, r);
  if (to.keep) to.base = NULL;
  for (int i = 0; i < s->params.fmg; i++, to.keep = 1, to.base = NULL) {
    if (c.z) gmg_array_correct(&s->exec, to.layout, c, 1, u);
    if (i > 0) {
      gmg_exchange_one_layer(&s->exec, &A, u);
      (void)s->op->measure_residual(&s->exec, &A, f, u, divisor, NULL, r, NULL, GMG_ENQUEUE);
    }
    c = gmg_correct(s, l, 1, &to);
  }
  return c;
}

static gmg_correction finish(gmg_solver *s, const void *f_eff, void *u, int in_target)
{
  for (int l = s->outer_levels - 1; l > 0; l--) {
    const gmg_level *R = &s->outer[l];
    gmg_start_timer(s, l);
    const gmg_correction c = refine(s, l, in_target, R->f, R->u);
    if (c.z) gmg_array_correct(&s->exec, solution_layout(s, l), c, 1, R->u);
  }
  gmg_start_timer(s, 0);
  return refine(s, 0, in_target, f_eff, u);
}

const gmg_fmg_ops gmg_fmg_low_type = {restrict_first_levels, target, finish};
