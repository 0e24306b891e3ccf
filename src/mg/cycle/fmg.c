/* Full multigrid start (Brandt 1977). The data (f and boundary values) are restricted to every level. The coarsest problem is
   solved. Its solution is interpolated from level to level, with the given boundary values, and improved by params.fmg cycles on
   each. This file handles levels in the problem's type; fmg_low.c handles levels in low precision. Called by stepper.c. */
#include "cycle.h"

/* Boundary values of the next coarser level: restricted along the face's own two axes, unchanged along its normal axis. */
void gmg_fmg_restrict_faces(const gmg_solver *s, const gmg_exec *e, gmg_level *L, gmg_level *C)
{
  for (int a = 0; a < s->problem.dim; a++)
    for (int side = 0; side < 2; side++) {
      gmg_exchange_wall(e, &L->A, a, L->faces.g[a][side]);
      if (!L->faces.g[a][side]) continue;
      gmg_map maps[3] = {L->average[0], L->average[1], L->average[2]};
      maps[a] = s->single_cell_map[e->type];
      gmg_grid_ops_of(e)->transfer(e, maps, L->faces.g[a][side], C->faces.g[a][side], 0);
    }
}

void gmg_fmg_pad(gmg_solver *s, gmg_exec *e, gmg_level *L, const void *u, void *padded)
{
  for (int i = 0; i < 2 * s->problem.dim; i++) gmg_exchange_wall(e, &L->A, i / 2, L->faces.g[i / 2][i % 2]);
  gmg_exchange(e, &L->A, u);
  gmg_grid_ops_of(e)->pad(e, &L->A, &L->faces, u, padded);
}

/* Where the data of level l > 0 are restricted to. If there are boundary values, r holds f before they are folded in. */
void *gmg_fmg_data(const gmg_solver *s, int l) { return s->has_boundary_values ? s->level[l].r : s->level[l].f; }

/* Computes f and g of all coarser levels. */
static void restrict_data(gmg_solver *s, const void *f, const void *f_eff)
{
  const gmg_exec *e = s->levels_exec;
  const int first = s->fmg->restrict_first_levels(s, f, f_eff); /* has set the data of level `first` + 1 */
  for (int l = first; l + 1 < s->levels; l++) {
    gmg_level *L = &s->level[l], *C = &s->level[l + 1];
    if (l > first) {
      gmg_exchange(e, &L->A, gmg_fmg_data(s, l));
      s->mg.grid->transfer(e, L->average, gmg_fmg_data(s, l), gmg_fmg_data(s, l + 1), 0);
    }
    if (s->has_boundary_values) {
      e->vector->copy(e, C->A.cells, C->r, C->f);
      gmg_fmg_restrict_faces(s, e, L, C);
      s->mg.grid->fold(e, &C->A, &C->faces, C->f);
    }
    gmg_project(s, e, C, C->f);
  }
}

/* Whether the interpolation to level l reads a padded field. Without boundary values a linear prolongation of corrections is
   enough. */
int gmg_fmg_needs_padding(const gmg_solver *s, int l)
{
  const gmg_level *L = &s->level[l];
  const int linear = L->operator_dependent || !L->A.face[0]; /* L->prolong is linear, too, where prolong_faces() replaces it */
  return !linear || s->has_boundary_values;
}

/* Interpolates the next coarser level's solution linearly to u of level l < levels - 1, which has the given layout. */
static void interpolate(gmg_solver *s, int l, gmg_layout at, void *u)
{
  gmg_level *L = &s->level[l], *C = &s->level[l + 1];
  const int padded = gmg_fmg_needs_padding(s, l);
  const gmg_map *map = padded ? L->interpolate : L->prolong;
  if (padded) gmg_fmg_pad(s, s->levels_exec, C, C->u, C->padded);
  else gmg_exchange(s->levels_exec, &C->A, C->u);
  gmg_transfer(s->levels_exec, map, gmg_layout_of_columns(map), padded ? C->padded : C->u, at, u);
}

/* Computes the solution of level l from that of the next coarser level. Returns 1 if it is in the target, and 0 if it is in u. */
static int ascend(gmg_solver *s, int l, const gmg_update_target *to)
{
  const gmg_level *L = &s->level[l];
  int done = 0;
  gmg_start_timer(s, l);
  interpolate(s, l, gmg_layout_of(&L->A), L->u);
  gmg_project(s, s->levels_exec, L, L->u);
  gmg_exchange(s->levels_exec, &L->A, L->f);
  for (int i = 1; i <= s->params.fmg; i++)
    done = gmg_cycle(&s->mg, l, L->f, L->u, s->params.cycle, GMG_FROM_CURRENT, i == s->params.fmg ? to : NULL);
  return done;
}

/* Solves the coarsest problem. In several processes it is that of the small levels together, which one cycle does not solve.
   Errors of a start on 64^3 cells in two processes, where the level of 32^3 is solved so: 1.71e-3 after one cycle, 1.468e-4 after
   two, 1.352e-4 after three. In one process it is 1.351e-4. */
static void solve_coarsest(gmg_solver *s)
{
  enum { CYCLES_FOR_SMALL_LEVELS = 3 };
  const int coarsest = s->levels - 1, cycles = s->parts ? CYCLES_FOR_SMALL_LEVELS : 1;
  const gmg_level *C = &s->level[coarsest];
  for (int i = 0; i < cycles; i++) {
    const gmg_start start = s->parts && i == 0 ? GMG_FROM_ZERO : GMG_FROM_CURRENT;
    (void)gmg_cycle(&s->mg, coarsest, C->f, C->u, s->params.cycle, start, NULL);
  }
}

gmg_correction gmg_fmg_approximate(gmg_solver *s, const void *f, const void *f_eff, void *u)
{
  gmg_update_target to;
  const int has_target = s->fmg->target(s, &to);
  int done = 0;
  gmg_start_timer(s, 0);
  restrict_data(s, f, f_eff);
  solve_coarsest(s);
  for (int l = s->levels - 2; l > 0 && l >= s->outer_levels; l--)
    done = ascend(s, l, has_target && l == s->outer_levels ? &to : NULL);
  return s->fmg->finish(s, f_eff, u, done);
}

/* --- levels in the problem's type -------------------------------------------------------------------------------------------- */

static int restrict_first_levels(gmg_solver *s, const void *f, const void *f_eff)
{
  (void)f_eff;
  const gmg_map *map = s->level[0].average;
  gmg_exchange(&s->exec, &s->level[0].A, f);
  gmg_transfer(&s->exec, map, s->layouts.f, f, gmg_layout_of_rows(map), gmg_fmg_data(s, 1));
  return 0;
}

static int target(gmg_solver *s, gmg_update_target *to)
{
  (void)s, (void)to;
  return 0;
}

static gmg_correction finish(gmg_solver *s, const void *f_eff, void *u, int in_target)
{
  (void)in_target;
  gmg_start_timer(s, 0);
  interpolate(s, 0, s->layouts.u, u);
  gmg_project_u(s, u);
  for (int i = 0; i < s->params.fmg; i++) gmg_improve(s, f_eff, u);
  gmg_start_timer(s, 0);
  return (gmg_correction){.z = NULL};
}

const gmg_fmg_ops gmg_fmg_same_type = {restrict_first_levels, target, finish};
