/* Full multigrid start (Brandt 1977): the problem itself, data and boundary values, is taken to every coarser level;
   solved on the coarsest; its solution interpolated, with the real boundary values, and improved by params.fmg cycles
   on each level. In mixed precision coarse levels do so in the narrower type, as long as its rounding is small beside the error of
   the scheme; on the finest and those below on which it is not (gmg_start_is_spoiled()) f and u are in the problem's type, and u is
   improved by corrections from a residual in it, which cycles in the narrower type find. */
#include "mg/solver.h"

/* Boundary values of the next coarser level: the face's own two axes sampled, its normal axis left alone. */
static void sample_faces(const gmg_solver *s, const gmg_exec *e, gmg_level *L, gmg_level *C)
{
  for (int a = 0; a < s->problem.dim; a++)
    for (int side = 0; side < 2; side++) {
      if (!L->faces.g[a][side]) continue;
      gmg_map maps[3] = {L->average[0], L->average[1], L->average[2]};
      maps[a] = e == s->levels_exec ? s->single_cell_map : s->single_cell_map_high;
      gmg_stencil_of(e)->tensor(e, maps, L->faces.g[a][side], C->faces.g[a][side], 0);
    }
}

/* Those of the last level in the problem's type, in the narrower one. */
static void narrow_faces(gmg_solver *s)
{
  const int l = s->wides - 1;
  const gmg_operator *A = &s->wide[l].A;
  for (int a = 0; a < s->problem.dim; a++)
    for (int side = 0; side < 2; side++)
      if (s->wide[l].faces.g[a][side])
        s->vector->scale_to_low(&s->exec, A->cells / A->n[a], s->f_size, s->wide[l].faces.g[a][side], s->level[l].faces.g[a][side]);
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

/* f of the finest level that is sampled in the levels' type. In the narrower type data are divided by about the norm of f, or they
   might leave the range. */
static void sample_finest(gmg_solver *s, const void *f, const void *f_eff)
{
  const int first = s->mixed ? s->wides : 1;
  gmg_level *C = &s->level[first];
  if (!s->mixed) {
    s->stencil->tensor(&s->exec, s->level[0].average, f, C->r, 0);
    return;
  }
  s->stencil->tensor(&s->exec, s->wide[first - 1].average, sample_wide(s, f), s->own_u, 0); /* own_u: room */
  fold_wide(s);
  if (s->singular) s->vector->subtract_mean(&s->exec, C->A.cells, s->own_u); /* taken off below; were it large, nothing would be left then */
  if (!s->has_values) {
    s->vector->normalize_to_low(&s->exec, C->A.cells, s->own_u, s->f_size, C->r);
    return;
  }
  s->vector->normalize_to_low(&s->exec, s->top->A.cells, f_eff, s->f_size, NULL);
  s->vector->scale_to_low(&s->exec, C->A.cells, s->f_size, s->own_u, C->r);
  narrow_faces(s);
}

/* f and g of all coarser levels. A level's r holds its f before boundary values are folded in. */
static void sample_problem(gmg_solver *s, const void *f, const void *f_eff)
{
  const gmg_exec *e = s->levels_exec;
  sample_finest(s, f, f_eff);
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
static const void *coarse_wide(gmg_solver *s, int l, const gmg_map **map)
{
  gmg_level *C = &s->level[l + 1], *W = &s->wide[l + 1];
  const int ghosts = needs_ghosts(s, &s->level[l]);
  *map = ghosts ? s->wide[l].interpolate : s->wide[l].prolong;
  if (l + 1 == s->wides) {
    const size_t cells = ghosts ? gmg_padded_cells(&C->A) : C->A.cells;
    if (ghosts) s->levels_stencil->pad(s->levels_exec, &C->A, &C->faces, C->u, C->padded);
    s->vector->axpby_from_low(&s->exec, cells, s->f_size, ghosts ? C->padded : C->u, 0, s->own_u); /* own_u: room */
    return s->own_u;
  }
  if (!ghosts) return W->u;
  s->stencil->pad(&s->exec, &W->A, &W->faces, W->u, s->own_u);
  return s->own_u;
}

/* The start of a level in the problem's type, and params.fmg corrections, of which nobody asks what they leave. The last is returned:
   it is still to be added, unless its z is NULL. */
static gmg_correction refine_wide(gmg_solver *s, int l, const void *f, void *u)
{
  const gmg_level *W = &s->wide[l];
  const gmg_map *map;
  void *r = l ? s->level[l].f : s->own_f;
  const void *coarse = coarse_wide(s, l, &map);
  const gmg_onto to = {.x = u, .scale = 1, .size = s->f_size, .keep = 1};
  gmg_correction c = {.z = NULL, .scale = 1, .narrow = 1, .size = s->f_size};
  s->stencil->interpolated_residual(&s->exec, &W->A, map, coarse, f, u, s->f_size, r);
  for (int i = 0; i < s->params.fmg; i++) {
    gmg_add_correction(s, W, c, u);
    if (i > 0) s->stencil->scaled_residual(&s->exec, &W->A, f, u, s->f_size, r);
    c.z = gmg_cycle_onto(s, l, to);
    gmg_charge(s, l);
  }
  return c;
}

/* Mixed precision: the levels in the problem's type. */
static gmg_correction finish_mixed(gmg_solver *s, const void *f_eff, void *u)
{
  for (int l = s->wides - 1; l > 0; l--) {
    const gmg_level *W = &s->wide[l];
    gmg_charge(s, l);
    gmg_add_correction(s, W, refine_wide(s, l, W->f, W->u), W->u);
    if (s->singular) gmg_remove_mean(&s->exec, &W->A, W->volume, W->u);
  }
  gmg_charge(s, 0);
  return refine_wide(s, 0, f_eff, u);
}

/* But for the last correction, as refine_wide() has it. Nobody waits. */
static gmg_correction approximate(gmg_solver *s, const void *f, void *u)
{
  const int coarsest = s->levels - 1, last = s->wides; /* the finest level that is treated as all the coarser ones are */
  const void *f_eff = gmg_made_rhs(s, f);
  const gmg_correction none = {.z = NULL};
  if (coarsest == 0) {
    gmg_cycle_into(s, f_eff, s->f_size, u);
    return none;
  }
  gmg_charge(s, 0);
  sample_problem(s, f, f_eff);
  if (!s->mixed) s->level[0].f = (void *)f_eff, s->level[0].u = u;
  gmg_cycle(s, coarsest);
  for (int l = coarsest - 1; l >= last; l--) {
    gmg_level *L = &s->level[l];
    gmg_charge(s, l);
    interpolate(s, l, L->u);
    if (s->singular) gmg_remove_mean(s->levels_exec, &L->A, L->volume, L->u);
    for (int i = 0; i < s->params.fmg; i++) gmg_cycle(s, l);
  }
  gmg_charge(s, 0);
  return s->mixed ? finish_mixed(s, f_eff, u) : none;
}

static void add_last(gmg_solver *s, gmg_correction c, void *u)
{
  gmg_add_correction(s, s->top, c, u);
  if (s->mixed && s->singular) gmg_remove_mean(&s->exec, &s->top->A, s->top->volume, u);
}

static void all_of_it(gmg_solver *s, const void *f, void *u) { add_last(s, approximate(s, f, u), u); }

/* Where its residual is asked for and the start is not replayed, the last correction goes with the residual that it leaves. */
void gmg_fmg(gmg_solver *s, const void *f, gmg_iteration *it)
{
  const int seen = s->mixed && !s->singular && !it->unseen && s->params.accel == GMG_ACCEL_NONE;
  if (!gmg_replayed(s, GMG_RECORDED_START, f, it->u, all_of_it)) {
    const gmg_correction c = approximate(s, f, it->u);
    if (seen) {
      gmg_iteration_correct(s, it, c);
      return;
    }
    add_last(s, c, it->u);
  }
  gmg_iteration_start(s, it);
}
