/* Full multigrid start (Brandt 1977): the problem itself, data and boundary values, is taken to every coarser level;
   solved on the coarsest; its solution interpolated, with the real boundary values, and improved by params.fmg cycles
   on each level. All of it in the problem's type: precision.c sees to that. */
#include "solver.h"

/* Boundary values of the next coarser level: the face's own two axes sampled, its normal axis left alone. */
static void sample_faces(gmg_solver *s, gmg_level *L, gmg_level *C)
{
  for (int a = 0; a < s->problem.dim; a++)
    for (int side = 0; side < 2; side++) {
      if (!L->faces.g[a][side]) continue;
      gmg_map maps[3] = {L->average[0], L->average[1], L->average[2]};
      maps[a] = s->lone;
      s->stencil->tensor(&s->exec, maps, L->faces.g[a][side], C->faces.g[a][side], 0);
    }
}

/* f and g of all coarser levels. A level's r holds its f before boundary values are folded in. */
static void sample_problem(gmg_solver *s, const void *f)
{
  for (int l = 0; l + 1 < s->levels; l++) {
    gmg_level *L = &s->level[l], *C = &s->level[l + 1];
    s->stencil->tensor(&s->exec, L->average, l ? L->r : f, C->r, 0);
    s->vector->copy(&s->exec, C->A.cells, C->r, C->f);
    if (s->has_values) {
      sample_faces(s, L, C);
      s->stencil->fold(&s->exec, &C->A, &C->faces, C->f);
    }
    if (s->singular) gmg_remove_mean(&s->exec, &C->A, C->volume, C->f);
  }
}

/* The next coarser level's solution, linearly. Walls without values are those of a correction, whose prolongation needs no
   ghosts. */
static void interpolate(gmg_solver *s, gmg_level *L, gmg_level *C)
{
  const int linear = L->by_faces || !L->A.face[0];
  if (linear && !s->has_values) {
    s->stencil->tensor(&s->exec, L->prolong, C->u, L->u, 0);
    return;
  }
  s->stencil->pad(&s->exec, &C->A, &C->faces, C->u, C->padded);
  s->stencil->tensor(&s->exec, L->interpolate, C->padded, L->u, 0);
}

void gmg_fmg(gmg_solver *s, const void *f, const void *f_eff, void *u)
{
  const int coarsest = s->levels - 1;
  if (coarsest == 0) {
    (void)gmg_cycle_from_zero(s, f_eff, 1, u);
    return;
  }
  gmg_charge(s, 0);
  s->level[0].f = (void *)f_eff, s->level[0].u = u;
  sample_problem(s, f);
  gmg_cycle(s, coarsest);
  for (int l = coarsest - 1; l >= 0; l--) {
    gmg_level *L = &s->level[l], *C = &s->level[l + 1];
    gmg_charge(s, l);
    interpolate(s, L, C);
    if (s->singular) gmg_remove_mean(&s->exec, &L->A, L->volume, L->u);
    for (int i = 0; i < s->params.fmg; i++) gmg_cycle(s, l);
  }
}
