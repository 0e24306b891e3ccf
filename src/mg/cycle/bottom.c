/* What ends the recursion of a cycle (src/coarse/bottom.h): the solver of the coarsest grid, or a kernel for all small levels. */
#include "mg/solver.h"

static gmg_status create_coarsest(gmg_solver *s)
{
  const gmg_level *C = &s->level[s->levels - 1];
  gmg_bottom *b = &s->coarsest;
  const gmg_bottom_problem p = {.levels = 1, .level = {{.A = &C->A, .volume = C->volume}}, .coarsest = s->params.coarse,
                                .singular = s->singular, .rtol = s->params.coarse_rtol};
  if (!b->ops->fits(s->levels_exec, &p))
    return gmg_fail(s->context, GMG_ERR_UNSUPPORTED,
                    "params.coarse = %s takes at most %zu unknowns, the coarsest grid has %zu (params.max_levels = %d)",
                    b->ops->name, b->ops->max_cells, C->A.cells, s->params.max_levels);
  b->problem = p, b->level = s->levels - 1;
  return b->ops->setup(s->levels_exec, &b->problem, &b->state);
}

/* Describes the levels from one on. 0 where only the functions of a single level can do what the cycle does there. */
static int describe(const gmg_solver *s, int from, gmg_bottom_problem *p)
{
  const gmg_params *q = &s->params;
  const int sweeps = gmg_whole_level_sweeps(q), count = s->levels - from;
  if (count > GMG_BOTTOM_LEVELS || sweeps == 0) return 0;
  *p = (gmg_bottom_problem){.levels = count, .coarsest = q->coarse, .pre = q->pre * sweeps, .post = q->post * sweeps,
                            .reversed = s->symmetric, .singular = s->singular, .rtol = q->coarse_rtol};
  for (int l = 0; l < count; l++) {
    const gmg_level *L = &s->level[from + l];
    p->level[l] = (gmg_bottom_level){.A = &L->A, .prolong = L->prolong, .restrict_ = L->restrict_, .volume = L->volume,
                                     .omega = q->smoother->weight(&L->A, q), .by_faces = L->by_faces};
  }
  return 1;
}

/* The most levels that the backend takes together, but not the finest. */
static gmg_status create_fused_levels(gmg_solver *s)
{
  gmg_bottom *b = &s->fused_levels;
  gmg_bottom_problem p;
  b->level = s->levels;
  for (int l = 1; l + 1 < s->levels; l++) {
    if (!describe(s, l, &p)) continue;
    for (const gmg_bottom_ops *const *ops = gmg_fused_levels_of(s->levels_exec); *ops; ops++)
      if ((*ops)->fits(s->levels_exec, &p)) {
        b->ops = *ops, b->problem = p, b->level = l;
        return b->ops->setup(s->levels_exec, &b->problem, &b->state);
      }
  }
  return GMG_OK;
}

static gmg_status update(gmg_solver *s, gmg_bottom *b)
{
  return b->ops && b->ops->update ? b->ops->update(s->levels_exec, &b->problem, b->state) : GMG_OK;
}

gmg_status gmg_bottom_create(gmg_solver *s)
{
  GMG_TRY(create_coarsest(s));
  GMG_TRY(update(s, &s->coarsest));
  GMG_TRY(create_fused_levels(s));
  return update(s, &s->fused_levels);
}

gmg_status gmg_bottom_update(gmg_solver *s)
{
  s->coarsest.problem.singular = s->singular;
  if (s->fused_levels.ops) (void)describe(s, s->fused_levels.level, &s->fused_levels.problem);
  GMG_TRY(update(s, &s->fused_levels));
  return update(s, &s->coarsest);
}

static void destroy(gmg_solver *s, gmg_bottom *b)
{
  if (b->problem.levels) b->ops->destroy(s->levels_exec, &b->problem, b->state);
}

void gmg_bottom_destroy(gmg_solver *s)
{
  destroy(s, &s->fused_levels);
  destroy(s, &s->coarsest);
}

/* A watched cycle looks at every level. */
static const gmg_bottom *bottom_at(const gmg_solver *s, int l)
{
  if (l >= s->fused_levels.level && !s->watch.on) return &s->fused_levels;
  return l == s->levels - 1 ? &s->coarsest : NULL;
}

int gmg_is_bottom(const gmg_solver *s, int l) { return bottom_at(s, l) != NULL; }

void gmg_bottom_solve(gmg_solver *s, int l, gmg_cycle_kind kind, gmg_start start)
{
  const gmg_bottom *b = bottom_at(s, l);
  const gmg_level *L = &s->level[l];
  GMG_RANGE(s->levels_exec, l, b->problem.levels > 1 ? "small levels" : "coarse solve");
  b->ops->solve(s->levels_exec, &b->problem, b->state, l - b->level, L->f, L->u, kind, start);
}
