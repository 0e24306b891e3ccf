/* The small levels that a backend does in one go (src/coarse/fused_levels/fused_levels.h): which they are, and what it is told about them. */
#include "mg/solver.h"

/* 0 where the cycle has something there that only the parts know how to do. */
static int describe(const gmg_solver *s, int from, gmg_tail_problem *p)
{
  const gmg_params *q = &s->params;
  const int sweeps = gmg_whole_level_sweeps(q), count = s->levels - from;
  if (count > GMG_TAIL_LEVELS || sweeps == 0 || s->coarse != gmg_coarse_of(GMG_COARSE_CG)) return 0;
  *p = (gmg_tail_problem){.levels = count, .pre = q->pre * sweeps, .post = q->post * sweeps, .reversed = s->symmetric,
                          .singular = s->singular, .rtol = q->coarse_rtol};
  for (int l = 0; l < count; l++) {
    const gmg_level *L = &s->level[from + l];
    gmg_tail_level *t = &p->level[l];
    *t = (gmg_tail_level){.A = L->A, .volume = L->volume, .omega = q->smoother->weight(&L->A, q), .u = L->u, .f = L->f,
                          .by_faces = L->by_faces};
    for (int a = 0; a < 3; a++) t->prolong[a] = L->prolong[a], t->restrict_[a] = L->restrict_[a];
  }
  return 1;
}

gmg_status gmg_tail_create(gmg_solver *s)
{
  const gmg_tail_ops *tail;
  gmg_tail_problem p;
  s->tail_from = s->levels;
  for (int l = 1; l + 1 < s->levels; l++) {
    if (!describe(s, l, &p)) continue;
    for (int which = 0; (tail = gmg_tail_of(s->levels_exec, which)); which++)
      if (tail->fits(s->levels_exec, &p)) {
        s->tail_from = l, s->tail = tail;
        return tail->setup(s->levels_exec, &p, &s->tail_state);
      }
  }
  return GMG_OK;
}

void gmg_tail_update(gmg_solver *s)
{
  gmg_tail_problem p;
  if (s->tail && describe(s, s->tail_from, &p)) s->tail->update(s->levels_exec, &p, s->tail_state);
}
