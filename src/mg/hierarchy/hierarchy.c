/* Builds the levels: axes coarsened by coupling strength and discretised again, coefficients coarsened by the kind of operator,
   maps between levels, fields, smoother states. Also runs on a dry exec (gmg_plan()), which only counts memory. Called by
   solver.c. */
#include "mg/iterate/iterate.h"
#include "mg/parts/parts.h"

#include <string.h>

/* In several processes ghosts are sometimes read before they are exchanged, to be multiplied by 0 or overwritten later: they must
   be numbers. */
gmg_status gmg_create_field(gmg_exec *e, const char *what, size_t cells, void **p)
{
  GMG_TRY(gmg_exec_alloc(e, what, cells * e->real_size, p));
  if (gmg_is_shared(e->context) && !e->dry) e->vector->fill(e, cells, 0, *p);
  return GMG_OK;
}

size_t gmg_padded_cells(const gmg_operator *A) { return (A->n[0] + 2) * (A->n[1] + 2) * (A->n[2] + 2); }

gmg_status gmg_create_correction_fields(gmg_solver *s, size_t room)
{
  gmg_level *L = &s->level[0];
  const size_t bytes = L->A.cells * s->levels_exec->real_size;
  GMG_TRY(gmg_create_field(s->levels_exec, "residual to correct from", L->A.cells, &L->f));
  return gmg_create_field(s->levels_exec, "correction", (bytes > room ? bytes : room) / s->levels_exec->real_size, &L->u);
}

static gmg_status create_faces(gmg_solver *s, gmg_exec *e, gmg_level *L, const gmg_axis axis[3], int needed)
{
  for (int a = 0; a < 3; a++)
    for (int side = 0; side < 2; side++) {
      L->faces.fold[a][side] = axis[a].fold[side];
      L->faces.wall[a][side] = side ? axis[a].hi_diag[axis[a].entries - 1] : axis[a].lo_diag[0];
      L->faces.bc[a][side] = axis[a].spec.bc[side];
      L->faces.ghost_u[a][side] = axis[a].ghost_u[side];
      L->faces.ghost_g[a][side] = axis[a].ghost_g[side];
      if (!needed || !L->A.kind->takes_boundary_values || a >= s->problem.dim || s->problem.bc[a][side] == GMG_PERIODIC) continue;
      if (L->A.part && !gmg_has_wall(L->A.part, a, side)) continue;
      const size_t cells = L->A.cells / L->A.n[a];
      GMG_TRY(gmg_create_field(e, "boundary values", cells, &L->faces.g[a][side]));
      if (!e->dry) e->vector->fill(e, cells, 0, L->faces.g[a][side]);
    }
  return GMG_OK;
}

/* Whether residuals are restricted by the adjoint of interpolation. After red-black relaxation it is better than averaging, unless
   three axes are coarsened at once (docs/weights.md). */
static int restrict_by_adjoint(const gmg_solver *s, const int coarsened[3])
{
  if (s->symmetric || gmg_has_black_box(s) || s->params.restriction == GMG_RESTRICT_ADJOINT) return 1;
  if (s->params.restriction == GMG_RESTRICT_AVERAGE) return 0;
  const int coloured = (gmg_smoother_traits(&s->params, s->exec.threads) & GMG_SMOOTHER_COLOURED) != 0;
  return coloured && coarsened[0] + coarsened[1] + coarsened[2] < 3;
}

/* whole: the axes of the level; axis: those of this process's part of it */
static gmg_status create_operator(gmg_solver *s, gmg_exec *e, gmg_level *L, int l, const gmg_axis whole[3], const gmg_axis axis[3])
{
  const gmg_problem *p = &s->problem;
  const gmg_operator_kind *kind = l > 0 && gmg_has_black_box(s) ? &gmg_box_arrays : gmg_operator_kind_of(p);
  L->scale = gmg_scale_of_level(s, l);
  GMG_TRY(gmg_operator_create(e, p, kind, axis, L->scale, &L->A));
  L->A.part = l < s->parts ? &s->part[l] : NULL;
  L->volume = 1;
  for (int a = 0; a < 3; a++) {
    L->volume *= gmg_axis_length(&whole[a]);
    L->axis[a] = whole[a].spec;
    L->unit_coupling[a] = gmg_axis_coupling(&whole[a].spec) / whole[a].spec.beta;
    L->unit_reaction_from_walls[a] = whole[a].n == 1 ? whole[a].diag[0] : 0;
  }
  if (!L->A.part) L->volume = gmg_sum_over_processes(e, L->volume);
  GMG_TRY(gmg_keep_rows(s, e, L, l, axis));
  gmg_set_typical(L, l, p, &s->coefficients);
  return GMG_OK;
}

/* The axis of this process's part of a level. An axis that is not cut stays as it is. */
static gmg_status create_axis_of_part(const gmg_solver *s, const gmg_part *p, int a, const gmg_axis *whole, gmg_axis *x)
{
  const int is_cut = gmg_is_cut(p, a), ends[2] = {!is_cut || gmg_has_wall(p, a, 0), !is_cut || gmg_has_wall(p, a, 1)};
  return gmg_axis_create_part(s->context, whole, gmg_own_span(p, a), ends, x);
}

gmg_status gmg_create_grid(gmg_solver *s, gmg_exec *e, gmg_level *L, int l, const gmg_axis axis[3], int with_values)
{
  gmg_axis part[3] = {{.n = 0}};
  gmg_status status = GMG_OK;
  const gmg_axis *mine = l < s->parts ? part : axis;
  for (int a = 0; a < 3 && l < s->parts && status == GMG_OK; a++)
    status = create_axis_of_part(s, &s->part[l], a, &axis[a], &part[a]);
  if (status == GMG_OK) status = create_operator(s, e, L, l, axis, mine);
  if (status == GMG_OK) status = create_faces(s, e, L, mine, with_values);
  for (int a = 0; a < 3; a++) gmg_axis_destroy(&part[a]);
  return status;
}

/* Sets how level l is related to the finer levels and to the next coarser one. */
static void describe(const gmg_solver *s, gmg_level *L, int l, const int coarsened[3])
{
  const gmg_operator *finer = l > 0 ? &s->level[l - 1].A : s->finer;
  L->A.finer_levels = s->finer_levels + l, L->A.all_coarsened = !finer || finer->all_coarsened;
  for (int a = 0; a < 3; a++) {
    L->A.coarsened[a] = coarsened[a], L->A.halved[a] = coarsened[a] && gmg_axis_intervals(&L->axis[a]) % 2 == 0;
    if (L->A.coupling[a] != 0 && !coarsened[a]) L->A.all_coarsened = 0;
  }
  L->A.restricts_by_adjoint = restrict_by_adjoint(s, coarsened);
  L->operator_dependent = L->A.face[0] && !s->symmetric && !gmg_has_black_box(s);
}

/* Builds the finest grid in the problem's type, and then chooses the precision of corrections. */
static gmg_status create_finest(gmg_solver *s, const gmg_axis axis[3])
{
  s->finest = &s->level[0];
  GMG_TRY(gmg_create_grid(s, &s->exec, s->finest, 0, axis, 1));
  s->op = gmg_operator_of(&s->exec, &s->finest->A);
  return gmg_choose_precision(s);
}

/* is_coarsest: of this solver. With parts a solver of the whole level may go on. */
static gmg_status create_level(gmg_solver *s, int l, const gmg_axis axis[3], const int coarsened[3], int is_coarsest)
{
  gmg_level *L = &s->level[l];
  const int with_fmg = s->params.fmg > 0;
  GMG_TRY(l == 0 ? create_finest(s, axis) : gmg_create_grid(s, s->levels_exec, L, l, axis, with_fmg));
  if (s->corrections->create_level) GMG_TRY(s->corrections->create_level(s, l, axis, is_coarsest));
  gmg_exec *e = s->levels_exec;
  s->mg.op[l] = gmg_operator_of(e, &L->A);
  s->mg.smoother[l] = gmg_smoother_ops_of(&s->params, e, L->A.kind);
  s->mg.fused[l] = gmg_fused_of(&s->params, e, L->A.kind);
  describe(s, L, l, coarsened);
  if (l < s->outer_levels) describe(s, &s->outer[l], l, coarsened);
  if (l > 0) {
    GMG_TRY(gmg_create_field(e, "solution of a coarse level", L->A.cells, &L->u));
    GMG_TRY(gmg_create_field(e, "right-hand side of a coarse level", L->A.cells, &L->f));
    if (with_fmg && l >= s->outer_levels)
      GMG_TRY(gmg_create_field(e, "ghosts of a full multigrid start", gmg_padded_cells(&L->A), &L->padded));
  }
  return gmg_create_field(e, "residual", L->A.cells, &L->r);
}

/* A map between a level and the next coarser one along an axis, or between this process's parts of them. */
static gmg_status create_map(const gmg_solver *s, gmg_exec *e, gmg_map_kind kind, int l, int a, const gmg_axis *fine,
                             const gmg_axis *coarse, gmg_map *map)
{
  if (l + 1 >= s->parts) return gmg_map_create(e, kind, fine, coarse, map);
  return gmg_map_create_part(e, kind, fine, coarse, gmg_own_span(&s->part[l], a), gmg_own_span(&s->part[l + 1], a), map);
}

/* Builds the maps from level l to the next coarser one and back. */
static gmg_status create_maps(const gmg_solver *s, gmg_exec *e, int l, gmg_level *L, const gmg_axis fine[3],
                              const gmg_axis coarse[3])
{
  const int with_fmg = s->params.fmg > 0, faces = L->A.face[0] != NULL;
  const struct {
    int wanted;
    gmg_map_kind kind;
    gmg_map *map;
  } maps[] = {{1, L->operator_dependent ? GMG_MAP_PROLONG_LINEAR : GMG_MAP_PROLONG, L->prolong},
              {L->r || faces || L->A.kind->is_galerkin,
               L->A.restricts_by_adjoint ? GMG_MAP_RESTRICT_ADJOINT : GMG_MAP_RESTRICT, L->restrict_},
              {with_fmg || L->A.sigma, GMG_MAP_RESTRICT, L->average},
              {with_fmg, GMG_MAP_INTERPOLATE, L->interpolate},
              {faces, GMG_MAP_FACES, L->faces_map}};
  for (int m = 0; m < 5; m++)
    for (int a = 0; a < 3 && maps[m].wanted; a++)
      GMG_TRY(create_map(s, e, maps[m].kind, l, a, &fine[a], L->A.coarsened[a] ? &coarse[a] : &fine[a], &maps[m].map[a]));
  return GMG_OK;
}

/* Builds the maps and chooses the legs of level l. An outer level needs maps only for a full multigrid start. */
static gmg_status connect(gmg_solver *s, int l, const gmg_axis fine[3], const gmg_axis coarse[3])
{
  gmg_level *L = &s->level[l];
  if (gmg_has_black_box(s)) GMG_TRY(gmg_black_box_create(s->levels_exec, &L->A, fine, coarse, &L->black_box));
  else GMG_TRY(create_maps(s, s->levels_exec, l, L, fine, coarse));
  if (l < s->outer_levels && s->params.fmg > 0) GMG_TRY(create_maps(s, &s->exec, l, &s->outer[l], fine, coarse));
  gmg_choose_legs(&s->mg, l);
  return GMG_OK;
}

/* Returns the status of a smoother's function. The error text names the smoother and the level. A user's smoother may return any
   number. One that is neither GMG_OK nor an error becomes GMG_ERR_ARGUMENT. */
static gmg_status smoother_status(gmg_solver *s, int l, const char *what, gmg_status status)
{
  const char *name = gmg_display_name(s->params.smoother);
  if (status == GMG_OK) return GMG_OK;
  if ((int)status < GMG_ERR_ARGUMENT || (int)status > GMG_ERR_IO)
    return gmg_fail(s->context, GMG_ERR_ARGUMENT, "params.smoother = \"%s\": its %s returned %d on level %d: must be GMG_OK or "
                    "GMG_ERR_...", name, what, (int)status, l);
  if (s->context->error[0]) return status;
  return gmg_fail(s->context, status, "params.smoother = \"%s\": its %s failed on level %d", name, what, l);
}

gmg_status gmg_update_smoothers(gmg_solver *s)
{
  for (int l = 0; l + 1 < s->levels; l++) {
    if (!s->mg.smoother[l]->update) continue;
    s->context->error[0] = 0;
    GMG_TRY(smoother_status(s, l, "update", s->mg.smoother[l]->update(&s->level[l].view, s->mg.state[l])));
  }
  return GMG_OK;
}

/* A user's smoother does not support dry runs, so its setup and destroy are skipped. */
static int has_smoothers(const gmg_solver *s) { return !s->exec.dry || gmg_builtin_of(s->params.smoother); }

static gmg_status create_smoother(gmg_solver *s, int l)
{
  gmg_level *L = &s->level[l];
  L->view = (gmg_smoother_level){.A = &L->A,
                                 .params = &s->params,
                                 .exec = s->levels_exec,
                                 .index = l,
                                 .threads = s->exec.threads,
                                 .scratch = L->r};
  if (!has_smoothers(s)) return GMG_OK;
  s->context->error[0] = 0;
  if (s->mg.smoother[l]->setup) GMG_TRY(smoother_status(s, l, "setup", s->mg.smoother[l]->setup(&L->view, &s->mg.state[l])));
  return GMG_OK;
}

static void destroy_axes(gmg_axis axis[3])
{
  for (int a = 0; a < 3; a++) gmg_axis_destroy(&axis[a]);
}

/* Whether the coarse solver is faster on this coarse grid than cycles of further levels. */
static int coarse_is_faster(const gmg_solver *s, const gmg_axis_spec now[3])
{
  const size_t n[3] = {now[0].n, now[1].n, now[2].n};
  if (!s->coarse_ops->is_faster || s->params.coarse_cells) return 0;
  return s->coarse_ops->is_faster(s->context->backend, s->levels_exec->type, s->problem.dim, n, 0);
}

int gmg_exact_axis(const gmg_solver *s)
{
  const unsigned axes = gmg_exact_axes(&s->params) & ((1u << s->problem.dim) - 1);
  for (int a = 0; a < s->problem.dim; a++)
    if (axes == 1u << a) return a;
  return -1;
}

/* The number of unknowns from which on there are no coarser levels. With black box coarsening the dense solver gets all that it
   takes: a grid with fewer unknowns than the medium has parts does not represent it. A checkerboard of 1 and 1e6 with 28 fields
   along each axis takes 6 iterations with 32 unknowns along the axes of the coarsest grid, and 85 with 16, in F cycles. */
static size_t preferred_cells(const gmg_solver *s)
{
  const gmg_bottom_ops *ops = s->coarse_ops;
  const int to_the_most = gmg_has_black_box(s) && !s->coefficients.asymmetry[0] && ops->max_cells;
  return to_the_most ? ops->max_cells : ops->preferred_cells[s->context->backend];
}

/* Whether there is a coarser level than l. Computes the axes of the next level. stuck: an axis that should be coarser there, but
   cannot be, or -1. */
static int next_level(const gmg_solver *s, int l, const gmg_axis_spec now[3], gmg_axis_spec next[3], int coarsened[3], int *stuck)
{
  const gmg_operator_kind *kind = gmg_operator_kind_of(&s->problem);
  const int most = s->params.max_levels ? s->params.max_levels : GMG_MAX_LEVELS;
  const size_t enough = s->params.coarse_cells ? s->params.coarse_cells : preferred_cells(s);
  int count = gmg_coarsen(now, s->params.coarsen_threshold, gmg_exact_axis(s), next, coarsened);
  *stuck = -1;
  if (count == 0 || l + 1 >= most || now[0].n * now[1].n * now[2].n <= enough || (l > 0 && coarse_is_faster(s, now))) return 0;
  for (int a = 0; a < 3 && kind->can_coarsen && !gmg_has_black_box(s); a++) {
    if (!coarsened[a] || kind->can_coarsen(&now[a])) continue;
    next[a] = now[a], coarsened[a] = 0, *stuck = *stuck < 0 ? a : *stuck, count--;
  }
  return count > 0;
}

/* Refuses a coarsest grid that an axis has made too large for the solver there. */
static gmg_status check_stuck(const gmg_solver *s, const gmg_axis_spec now[3], int stuck)
{
  const size_t cells = now[0].n * now[1].n * now[2].n, most = s->coarse_ops->max_cells;
  if (stuck < 0 || most == 0 || cells <= most) return GMG_OK;
  return gmg_fail(s->context, GMG_ERR_UNSUPPORTED,
                  "problem.n[%d] = %zu: a %s has coarser grids only along axes with an even number of intervals. This axis has %zu "
                  "on a grid of %zu x %zu x %zu unknowns, and params.coarse = %s takes at most %zu", stuck, s->problem.n[stuck],
                  gmg_operator_kind_of(&s->problem)->name, gmg_axis_intervals(&now[stuck]), now[0].n, now[1].n, now[2].n,
                  gmg_name_of(&gmg_coarse_names, (int)s->params.coarse), most);
}

/* The identity map for the normal axis of a face, used to restrict boundary values. */
static gmg_status create_single_cell_maps(gmg_solver *s)
{
  const gmg_problem none = {.dim = 0};
  const gmg_axis_spec spec = gmg_axis_spec_of(&none, 0);
  gmg_axis axis;
  GMG_TRY(gmg_axis_create(s->context, &spec, &axis));
  gmg_status status = gmg_map_create(s->levels_exec, GMG_MAP_IDENTITY, &axis, &axis, &s->single_cell_map[s->levels_exec->type]);
  if (status == GMG_OK)
    status = gmg_map_create(&s->exec, GMG_MAP_IDENTITY, &axis, &axis, &s->single_cell_map[s->exec.type]);
  gmg_axis_destroy(&axis);
  return status;
}

gmg_status gmg_hierarchy_create(gmg_solver *s)
{
  gmg_axis_spec now[3], next[3], after[3];
  gmg_axis axis[2][3] = {{{.n = 0}}}; /* axes of this level and of the previous one */
  gmg_status status = GMG_OK;
  for (int a = 0; a < 3; a++) {
    now[a] = s->from ? s->from[a] : gmg_axis_spec_of(&s->problem, a);
    now[a].beta = s->coefficients.beta_mean[a];
  }
  for (int a = 0; a < s->problem.dim && gmg_has_black_box(s); a++) now[a].nested = 1; /* ceil(n / 2) coarse unknowns of n */
  for (int l = 0, more = 1; more && status == GMG_OK; l++) {
    int coarsened[3], stuck;
    gmg_axis *mine = axis[l % 2], *finer = axis[(l + 1) % 2];
    const int is_coarsened = more = next_level(s, l, now, next, coarsened, &stuck);
    if (more && s->parts) status = gmg_cut_next(s, l, next, &more); /* otherwise a solver of the whole level goes on from here */
    if (!is_coarsened) memset(coarsened, 0, sizeof coarsened);
    if (!more && !s->parts && status == GMG_OK) status = check_stuck(s, now, stuck);
    s->levels = l + 1, s->has_coarsest = !more && !s->parts;
    if (s->parts && status == GMG_OK) status = s->exec.comm->prepare(&s->exec, &s->part[l], !more);
    for (int a = 0; a < 3 && status == GMG_OK; a++) status = gmg_axis_create(s->context, &now[a], &mine[a]);
    if (status == GMG_OK) status = create_level(s, l, mine, coarsened, !more);
    if (status == GMG_OK && l == 0)
      gmg_choose_over_correction(s, is_coarsened && next_level(s, 1, next, after, coarsened, &stuck));
    if (status == GMG_OK && l == 0 && s->params.fmg > 0) status = create_single_cell_maps(s);
    if (status == GMG_OK && l > 0) status = connect(s, l - 1, finer, mine);
    if (status == GMG_OK && more) status = create_smoother(s, l);
    destroy_axes(finer);
    memcpy(now, next, sizeof now);
  }
  destroy_axes(axis[0]);
  destroy_axes(axis[1]);
  return status;
}

void gmg_hierarchy_destroy(gmg_solver *s)
{
  for (int l = 0; l < s->levels; l++) {
    gmg_level *L = &s->level[l];
    if (L->view.A && has_smoothers(s) && s->mg.smoother[l]->destroy) s->mg.smoother[l]->destroy(&L->view, s->mg.state[l]);
  }
}
