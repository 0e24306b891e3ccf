/* Full multigrid start (Brandt 1977): the problem itself, data and boundary values, is taken to every coarser level;
   solved on the coarsest; its solution interpolated, with the real boundary values, and improved by params.fmg cycles
   on each level. In mixed precision coarse levels do so in the narrower type, as long as its rounding is small beside the error of
   the scheme; on the finest and those below on which it is not (gmg_start_is_spoiled()) f and u are in the problem's type, and u is
   improved by corrections from a residual in it, which cycles in the narrower type find. */
#include "solver.h"

#include <math.h>

/* Boundary values of the next coarser level: the face's own two axes sampled, its normal axis left alone. */
static void sample_faces(const gmg_solver *s, const gmg_exec *e, gmg_level *L, gmg_level *C)
{
  for (int a = 0; a < s->problem.dim; a++)
    for (int side = 0; side < 2; side++) {
      if (!L->faces.g[a][side]) continue;
      gmg_map maps[3] = {L->average[0], L->average[1], L->average[2]};
      maps[a] = e == s->levels_exec ? s->lone : s->wide_lone;
      gmg_stencil_of(e)->tensor(e, maps, L->faces.g[a][side], C->faces.g[a][side], 0);
    }
}

/* Those of the last level in the problem's type, in the narrower one. */
static void narrow_faces(gmg_solver *s, double scale)
{
  const int l = s->wides - 1;
  const gmg_operator *A = &s->wide[l].A;
  for (int a = 0; a < s->problem.dim; a++)
    for (int side = 0; side < 2; side++)
      if (s->wide[l].faces.g[a][side])
        s->vector->narrow(&s->exec, A->cells / A->n[a], scale, s->wide[l].faces.g[a][side], s->level[l].faces.g[a][side]);
}

/* f and g of the levels in the problem's type; returns f of the last of them before boundary values are folded in. */
static const void *sample_wide(gmg_solver *s, const void *f)
{
  for (int l = 0; l + 1 < s->wides; l++) {
    gmg_level *W = &s->wide[l], *C = &s->wide[l + 1];
    s->stencil->tensor(&s->exec, W->average, f, C->f, 0);
    if (s->has_values) sample_faces(s, &s->exec, W, C);
    f = C->f;
  }
  return f;
}

/* After the next coarser level has it. */
static void fold_wide(gmg_solver *s)
{
  for (int l = 1; l < s->wides; l++) {
    gmg_level *W = &s->wide[l];
    if (s->has_values) s->stencil->fold(&s->exec, &W->A, &W->faces, W->f);
    if (s->singular) gmg_remove_mean(&s->exec, &W->A, W->volume, W->f);
  }
}

/* f of the finest level that is sampled in the levels' type. In the narrower type it is scaled to about 1, or it might leave the
   range; returns the scale. */
static double sample_finest(gmg_solver *s, const void *f, const void *f_eff)
{
  const int first = s->mixed ? s->wides : 1;
  gmg_level *C = &s->level[first];
  if (!s->mixed) {
    s->stencil->tensor(&s->exec, s->level[0].average, f, C->r, 0);
    return 1;
  }
  s->stencil->tensor(&s->exec, s->wide[first - 1].average, sample_wide(s, f), s->own_u, 0); /* own_u: room */
  fold_wide(s);
  if (s->singular) { /* its mean, which is taken off below, might be large: then nothing would be left in the narrower type */
    const double mean = s->vector->range(&s->exec, C->A.cells, s->own_u).mean;
    s->vector->add(&s->exec, C->A.cells, -mean, s->own_u);
  }
  const double norm = s->has_values ? s->vector->norm2(&s->exec, s->top->A.cells, f_eff)
                                    : s->vector->norm2(&s->exec, C->A.cells, s->own_u);
  const double scale = isnormal(norm) && isfinite(1 / norm) ? 1 / norm : 1;
  s->vector->narrow(&s->exec, C->A.cells, scale, s->own_u, C->r);
  if (s->has_values) narrow_faces(s, scale);
  return scale;
}

/* f and g of all coarser levels. A level's r holds its f before boundary values are folded in. */
static double sample_problem(gmg_solver *s, const void *f, const void *f_eff)
{
  const gmg_exec *e = s->levels_exec;
  const double scale = sample_finest(s, f, f_eff);
  const int above = s->mixed ? s->wides - 1 : 0; /* from there on all is in the levels' type */
  for (int l = above; l + 1 < s->levels; l++) {
    gmg_level *L = &s->level[l], *C = &s->level[l + 1];
    if (l > above) s->levels_stencil->tensor(e, L->average, L->r, C->r, 0);
    e->vector->copy(e, C->A.cells, C->r, C->f);
    if (s->has_values) {
      sample_faces(s, e, L, C);
      s->levels_stencil->fold(e, &C->A, &C->faces, C->f);
    }
    if (s->singular) gmg_remove_mean(e, &C->A, C->volume, C->f);
  }
  return scale;
}

/* Walls without values are those of a correction, whose prolongation needs no ghosts. */
static int needs_ghosts(const gmg_solver *s, const gmg_level *L)
{
  const int linear = L->by_faces || !L->A.face[0];
  return !linear || s->has_values;
}

/* The next coarser level's solution, linearly, into u of level l < levels - 1. */
static void interpolate(gmg_solver *s, int l, void *u)
{
  gmg_level *L = &s->level[l], *C = &s->level[l + 1];
  const int ghosts = needs_ghosts(s, L);
  if (ghosts) s->levels_stencil->pad(s->levels_exec, &C->A, &C->faces, C->u, C->padded);
  s->levels_stencil->tensor(s->levels_exec, ghosts ? L->interpolate : L->prolong, ghosts ? C->padded : C->u, u, 0);
}

/* The same for level l in the problem's type: what the map is to be applied to. Where the coarser level's u is not in that type, the
   smaller field is the one to be widened. */
static const void *coarse_wide(gmg_solver *s, int l, double scale, const gmg_map **map)
{
  gmg_level *C = &s->level[l + 1], *W = &s->wide[l + 1];
  const int ghosts = needs_ghosts(s, &s->level[l]);
  *map = ghosts ? s->wide[l].interpolate : s->wide[l].prolong;
  if (l + 1 == s->wides) {
    const size_t cells = ghosts ? gmg_padded_cells(&C->A) : C->A.cells;
    if (ghosts) s->levels_stencil->pad(s->levels_exec, &C->A, &C->faces, C->u, C->padded);
    s->vector->widen(&s->exec, cells, 1 / scale, ghosts ? C->padded : C->u, s->own_u); /* own_u: room */
    return s->own_u;
  }
  if (!ghosts) return W->u;
  s->stencil->pad(&s->exec, &W->A, &W->faces, W->u, s->own_u);
  return s->own_u;
}

/* The start of a level in the problem's type, and params.fmg corrections, of which nobody asks what they leave. */
static void refine_wide(gmg_solver *s, int l, double scale, const void *f, void *u)
{
  const gmg_level *W = &s->wide[l];
  const gmg_map *map;
  void *r = l ? s->level[l].f : s->own_f;
  const void *coarse = coarse_wide(s, l, scale, &map);
  s->stencil->interpolated_residual(&s->exec, &W->A, map, coarse, f, u, scale, r);
  for (int i = 0; i < s->params.fmg; i++) {
    if (i > 0) s->stencil->scaled_residual(&s->exec, &W->A, f, u, scale, r);
    const gmg_onto to = {.x = u, .scale = 1 / scale, .keep = 1};
    const gmg_correction c = {.z = gmg_cycle_onto(s, l, to), .scale = to.scale, .narrow = 1};
    gmg_charge(s, l);
    if (c.z) s->vector->correct(&s->exec, W->A.cells, c, u);
  }
  if (s->singular) gmg_remove_mean(&s->exec, &W->A, W->volume, u);
}

/* Mixed precision: the levels in the problem's type. */
static void finish_mixed(gmg_solver *s, double scale, gmg_iteration *it)
{
  const int accelerated = s->params.accel != GMG_ACCEL_NONE, only = s->params.check_every == 0 && s->params.max_cycles == 1;
  for (int l = s->wides - 1; l > 0; l--) {
    gmg_charge(s, l);
    refine_wide(s, l, scale, s->wide[l].f, s->wide[l].u);
  }
  gmg_charge(s, 0);
  it->fresh = 0, it->next = scale;
  if (accelerated || only) {
    refine_wide(s, 0, scale, it->f, it->u);
    if (accelerated) gmg_iteration_start(s, it);
    return;
  }
  const gmg_map *map;
  const void *coarse = coarse_wide(s, 0, scale, &map);
  s->stencil->tensor(&s->exec, map, coarse, it->u, 0);
  if (s->singular) gmg_remove_mean(&s->exec, &s->top->A, s->top->volume, it->u);
  for (int i = 0; i < s->params.fmg; i++) gmg_refine(s, it);
}

/* The finest grid is the coarsest. */
static void solve_alone(gmg_solver *s, gmg_iteration *it)
{
  const size_t cells = s->top->A.cells;
  const gmg_correction c = gmg_cycle_from_zero(s, it->f, s->mixed ? s->vector->norm2(&s->exec, cells, it->f) : 1, it->u);
  if (c.narrow) s->vector->widen(&s->exec, cells, c.scale, c.z, it->u);
  gmg_iteration_start(s, it);
}

void gmg_fmg(gmg_solver *s, const void *f, gmg_iteration *it)
{
  const int coarsest = s->levels - 1, last = s->wides; /* the finest level that is treated as all the coarser ones are */
  if (coarsest == 0) {
    solve_alone(s, it);
    return;
  }
  gmg_charge(s, 0);
  const double scale = sample_problem(s, f, it->f);
  if (!s->mixed) s->level[0].f = (void *)it->f, s->level[0].u = it->u;
  gmg_cycle(s, coarsest);
  for (int l = coarsest - 1; l >= last; l--) {
    gmg_level *L = &s->level[l];
    gmg_charge(s, l);
    interpolate(s, l, L->u);
    if (s->singular) gmg_remove_mean(s->levels_exec, &L->A, L->volume, L->u);
    for (int i = 0; i < s->params.fmg; i++) gmg_cycle(s, l);
  }
  gmg_charge(s, 0);
  if (s->mixed) finish_mixed(s, scale, it);
  else gmg_iteration_start(s, it);
}
