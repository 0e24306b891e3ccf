/* The small levels in several processes: a solver of the whole level, which every process has and runs alike, so that their
   results are the same bits. Its finest level is the coarsest that is cut. Its smoother is deterministic. Called by the cycle as
   its bottom, and at create and update. */
#include "parts.h"

#include "mg/cycle/cycle.h"

#include <string.h>

/* The memory of the solver. */
typedef struct {
  gmg_solver solver;
  gmg_context context; /* one process */
  gmg_axis_spec axis[3];
} memory;

/* The last error of the small levels as that of the solver. */
static gmg_status pass_on(gmg_solver *s, gmg_status status)
{
  return status == GMG_OK ? GMG_OK : gmg_fail(s->context, status, "%s", s->whole->context->error);
}

static gmg_status build(gmg_solver *s, gmg_solver *w)
{
  w->exec = gmg_exec_make(w->context, s->levels_exec->type, s->exec.dry);
  w->exec.owner = &s->exec, w->exec.exact_sums = s->exec.exact_sums;
  w->levels_exec = &w->exec;
  w->vector = w->exec.vector;
  w->grid = gmg_grid_ops_of(&w->exec);
  w->problem = s->problem, w->mine = s->problem;
  w->problem.type = w->mine.type = w->exec.type;
  w->coefficients = s->coefficients, w->medium = s->medium;
  w->params = s->params;
  w->params.precision = GMG_PRECISION_SAME, w->params.deterministic = 1, w->params.report_level_times = 0, w->params.fmg = 0;
  w->params.max_levels = s->params.max_levels ? s->params.max_levels - (s->levels - 1) : 0;
  w->over_correction_varies = s->over_correction_varies, w->finer_levels = s->levels - 1;
  if (s->levels > 1) w->finer = &s->level[s->levels - 2].A;
  w->coarse_is_auto = s->coarse_is_auto, w->coarse_ops = s->coarse_ops;
  w->singular = s->singular, w->symmetric = s->symmetric;
  w->clock.timer = -1;
  w->mg = (gmg_multigrid){.solver = w, .level = w->level, .pre = s->mg.pre, .post = s->mg.post, .up = s->mg.up,
                          .refresh = gmg_refresh_of(GMG_HALOS_EXACT)};
  GMG_TRY(gmg_hierarchy_create(w));
  w->mg.levels = w->levels_in_all = w->levels;
  gmg_level *finest = &w->level[0];
  const size_t cells = finest->A.cells;
  GMG_TRY(gmg_create_field(&w->exec, "right-hand side of a whole level", cells, &finest->f));
  return gmg_create_field(&w->exec, "solution of a whole level", cells, &finest->u);
}

gmg_status gmg_whole_create(gmg_solver *s)
{
  void *room = NULL;
  GMG_TRY(gmg_exec_alloc_state(&s->exec, "solver of the small levels", sizeof(memory), &room));
  memory *m = room;
  m->context = *s->context;
  m->context.comm = &gmg_comm_alone, m->context.ranks = NULL, m->context.end = NULL;
  memcpy(m->axis, s->level[s->levels - 1].axis, sizeof m->axis);
  s->whole = &m->solver;
  s->whole->context = &m->context;
  s->whole->from = m->axis;
  return pass_on(s, build(s, s->whole));
}

/* Gathers the coefficients of the level, and computes those of all coarser ones. */
static gmg_status load(const gmg_solver *s, gmg_solver *w)
{
  const gmg_operator *A = &s->level[s->levels - 1].A;
  const gmg_exec *e = s->levels_exec;
  const gmg_operator *C = &w->level[0].A;
  const int created = w->coarsest_bottom.ops != NULL;
  w->coefficients = s->coefficients, w->singular = s->singular, w->problem.shift = s->problem.shift;
  for (int l = 0; l < w->levels; l++) gmg_set_typical(&w->level[l], l, &s->problem, &s->coefficients);
  if (!e->dry) {
    for (int a = 0; a < A->dim && A->face[0]; a++) e->comm->gather(e, A, GMG_AT_FACES, a, A->face[a], (void *)C->face[a]);
    if (A->sigma) e->comm->gather(e, A, GMG_AT_UNKNOWNS, 0, A->sigma, (void *)C->sigma);
    gmg_coarsen_coefficients(w);
    GMG_TRY(gmg_update_smoothers(w));
  }
  return created ? gmg_bottoms_update(w) : gmg_bottoms_create(w);
}

gmg_status gmg_whole_load(gmg_solver *s) { return pass_on(s, load(s, s->whole)); }

void gmg_whole_release(gmg_solver *s) { gmg_hierarchy_destroy(s->whole); }

static void solve(const gmg_exec *e, const gmg_bottom_problem *p, void *state, int level, void *f, void *u, gmg_cycle_kind kind,
                  gmg_start start)
{
  gmg_solver *s = state, *w = s->whole;
  const gmg_operator *A = &s->level[s->levels - 1].A;
  gmg_level *finest = &w->level[0];
  (void)p, (void)level;
  e->comm->gather(e, A, GMG_AT_UNKNOWNS, 0, f, finest->f);
  if (start == GMG_FROM_CURRENT && w->levels > 1) e->comm->gather(e, A, GMG_AT_UNKNOWNS, 0, u, finest->u);
  (void)gmg_cycle(&w->mg, 0, finest->f, finest->u, kind, start, NULL);
  e->comm->take(e, A, finest->u, u);
}

const gmg_bottom_ops gmg_whole_levels = {.name = "whole levels", .solve = solve};
