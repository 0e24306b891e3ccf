/* A full multigrid start where the levels are in a lower precision. Coarse levels compute all of it in that, as long as its rounding is
   small beside the error of the scheme. On the finest and those below on which it is not (gmg_start_is_spoiled()), the high levels, f and
   u are in the problem's type, and u is improved by corrections from a residual in it, which cycles in the lower precision find. Called
   by fmg.c. */
#include "cycle.h"

/* f and g of the high levels; returns f of the last of them before boundary values are folded in. */
static const void *sample_high(gmg_solver *s, const void *f)
{
  for (int l = 0; l + 1 < s->high_levels; l++) {
    gmg_level *H = &s->high[l], *C = &s->high[l + 1];
    s->stencil->tensor(&s->exec, H->average, f, C->f, 0);
    if (s->has_values) gmg_fmg_sample_faces(s, &s->exec, H, C, &s->single_cell_map_high);
    f = C->f;
  }
  return f;
}

/* After the next coarser level has f. */
static void fold_high(gmg_solver *s)
{
  for (int l = 1; l < s->high_levels; l++) {
    gmg_level *H = &s->high[l];
    if (s->has_values) s->stencil->fold(&s->exec, &H->A, &H->faces, H->f);
    if (s->singular) gmg_remove_mean(&s->exec, &H->A, H->volume, H->f);
  }
}

/* Boundary values of the last high level in the lower precision. */
static void convert_faces(gmg_solver *s)
{
  const int l = s->high_levels - 1;
  const gmg_operator *A = &s->high[l].A;
  for (int a = 0; a < s->problem.dim; a++)
    for (int side = 0; side < 2; side++)
      if (s->high[l].faces.g[a][side])
        s->vector->scale_to_low(&s->exec, A->cells / A->n[a], &s->data_scale->size, s->high[l].faces.g[a][side],
                                s->level[l].faces.g[a][side]);
}

/* Data are divided by about the norm of f, or they might leave the range of the lower precision. level[0].u is room meanwhile. */
static int sample_finest(gmg_solver *s, const void *f, const void *f_eff)
{
  const int last = s->high_levels - 1;
  gmg_level *C = &s->level[last + 1];
  void *room = s->level[0].u;
  s->stencil->tensor(&s->exec, s->high[last].average, sample_high(s, f), room, 0);
  fold_high(s);
  if (s->singular) s->vector->subtract_mean(&s->exec, C->A.cells, room); /* taken off later; were it large, nothing would be left then */
  if (!s->has_values) {
    s->vector->normalize_to_low(&s->exec, C->A.cells, room, s->data_scale, C->r);
    return last;
  }
  s->vector->normalize_to_low(&s->exec, s->finest->A.cells, f_eff, s->data_scale, NULL);
  s->vector->scale_to_low(&s->exec, C->A.cells, &s->data_scale->size, room, C->r);
  convert_faces(s);
  return last;
}

/* What the interpolation to high level l is to be applied to. Where the coarser level's u is in the lower precision, the smaller field
   is the one to be converted. level[0].u is room for it. */
static const void *coarse_high(gmg_solver *s, int l, const gmg_map **map)
{
  gmg_level *C = &s->level[l + 1], *H = &s->high[l + 1];
  const int ghosts = gmg_fmg_needs_ghosts(s, l);
  void *room = s->level[0].u;
  *map = ghosts ? s->high[l].interpolate : s->high[l].prolong;
  if (l + 1 == s->high_levels) {
    const size_t cells = ghosts ? gmg_padded_cells(&C->A) : C->A.cells;
    if (ghosts) s->mg.stencil->pad(s->levels_exec, &C->A, &C->faces, C->u, C->padded);
    s->vector->axpby_from_low(&s->exec, cells, &s->data_scale->size, ghosts ? C->padded : C->u, 0, room);
    return room;
  }
  if (!ghosts) return H->u;
  s->stencil->pad(&s->exec, &H->A, &H->faces, H->u, room);
  return room;
}

/* The start of a high level, and params.fmg corrections, of which nobody asks what they leave. The last is returned: it is still to be
   added. */
static gmg_correction refine(gmg_solver *s, int l, const void *f, void *u)
{
  const gmg_level *H = &s->high[l], *L = &s->level[l];
  const double *size = &s->data_scale->size;
  const gmg_map *map;
  const void *coarse = coarse_high(s, l, &map);
  const gmg_update_target to = {.x = u, .size = size, .keep = 1};
  gmg_correction c = {.z = NULL, .size = size, .narrow = 1};
  s->stencil->interpolated_residual(&s->exec, &H->A, map, coarse, f, u, size, L->f);
  for (int i = 0; i < s->params.fmg; i++) {
    if (c.z) s->vector->correct(&s->exec, H->A.cells, c, u);
    if (i > 0) s->stencil->scaled_residual(&s->exec, &H->A, f, u, size, L->f);
    c.z = gmg_cycle(&s->mg, l, L->f, L->u, s->params.cycle, GMG_FROM_ZERO, &to) ? NULL : L->u;
    gmg_charge(s, l);
  }
  return c;
}

static gmg_correction finish(gmg_solver *s, const void *f_eff, void *u)
{
  for (int l = s->high_levels - 1; l > 0; l--) {
    const gmg_level *H = &s->high[l];
    gmg_charge(s, l);
    const gmg_correction c = refine(s, l, H->f, H->u);
    if (c.z) s->vector->correct(&s->exec, H->A.cells, c, H->u);
    if (s->singular) gmg_remove_mean(&s->exec, &H->A, H->volume, H->u);
  }
  gmg_charge(s, 0);
  return refine(s, 0, f_eff, u);
}

const gmg_fmg_ops gmg_fmg_low_type = {sample_finest, finish};
