/* The multigrid cycle (Brandt 1977; Algorithm 1 of Anzt, Dongarra, Gates, Tomov 2011). */
#include "mg/solver.h"

#include <math.h>

void gmg_charge(gmg_solver *s, int level)
{
  if (s->clock.runs) s->exec.trace->charge(s->context, &s->clock, level);
}

static double residual_norm(gmg_solver *s, gmg_level *L)
{
  return s->levels_stencil->residual_norm(s->levels_exec, &L->A, L->f, L->u, NULL);
}

/* Watching: remembers the level where the residual first stopped being a number, or else grew most. */
static void watch(gmg_solver *s, int l, double before)
{
  const double after = residual_norm(s, &s->level[l]);
  const double growth = !isfinite(after) ? INFINITY : before > 0 ? after / before : 0;
  if (isfinite(before) && growth > s->watch.growth) s->watch.level = l, s->watch.growth = growth;
}

static void smooth(gmg_solver *s, int l, int steps, gmg_leg leg)
{
  gmg_level *L = &s->level[l];
  if (steps == 0) return;
  GMG_RANGE(s->levels_exec, l, "smooth");
  if (leg == GMG_LEG_UP && s->symmetric) leg = GMG_LEG_UP_REVERSED;
  const double before = s->watch.on ? residual_norm(s, L) : 0;
  s->smoother->sweep(&L->view, L->smoother, L->f, L->u, steps, leg);
  if (s->watch.on) watch(s, l, before);
}

/* The first leg of a cycle from zero: u is still to be written. */
static void smooth_from_zero(gmg_solver *s, int l)
{
  gmg_level *L = &s->level[l];
  if (s->params.pre > 0 && s->smoother->sweep_from_zero && !s->watch.on) {
    GMG_RANGE(s->levels_exec, l, "smooth");
    s->smoother->sweep_from_zero(&L->view, L->smoother, L->f, L->u, s->params.pre, GMG_LEG_DOWN);
    return;
  }
  s->levels_exec->vector->fill(s->levels_exec, L->A.cells, 0, L->u);
  smooth(s, l, s->params.pre, GMG_LEG_DOWN);
}

static void coarse_solve(gmg_solver *s, gmg_level *L)
{
  GMG_RANGE(s->levels_exec, s->levels - 1, "coarse solve");
  s->coarse->solve(s->levels_exec, &s->coarse_problem, s->coarse_state, L->f, L->u);
}

/* All that follows here, in one go. */
static void small_levels(gmg_solver *s, int l, gmg_cycle_kind kind, int from_zero)
{
  GMG_RANGE(s->levels_exec, l, "small levels");
  s->tail->cycle(s->levels_exec, s->tail_state, l - s->tail_from, kind, from_zero);
}

/* The residual becomes the right-hand side of the next coarser level. */
static void restrict_residual(gmg_solver *s, int l)
{
  gmg_level *L = &s->level[l], *C = &s->level[l + 1];
  GMG_RANGE(s->levels_exec, l, "restrict");
  s->levels_stencil->restrict_residual(s->levels_exec, &L->A, L->restrict_, L->f, L->u, L->r, C->f);
}

/* Whether u waits in r while coarser levels are at work. */
static int goes_aside(const gmg_solver *s, const gmg_level *L) { return L->aside && !s->watch.on; }

/* Both in one go. 0: not done. */
static int smooth_and_restrict(gmg_solver *s, int l, int from_zero)
{
  gmg_level *L = &s->level[l];
  void *to = goes_aside(s, L) ? L->r : L->u;
  if (s->params.pre == 0 || !s->fused || s->watch.on) return 0;
  GMG_RANGE(s->levels_exec, l, "smooth and restrict");
  return s->fused->presmooth_restrict(&L->view, L->smoother, L->f, L->u, to, s->params.pre, from_zero ? GMG_FROM_ZERO : GMG_FROM_CURRENT,
                                      L->restrict_, s->level[l + 1].f);
}

/* The downward leg. */
static void descend(gmg_solver *s, int l, int from_zero)
{
  const gmg_level *C = &s->level[l + 1];
  if (!smooth_and_restrict(s, l, from_zero)) {
    if (from_zero) smooth_from_zero(s, l);
    else smooth(s, l, s->params.pre, GMG_LEG_DOWN);
    restrict_residual(s, l);
  }
  if (s->singular) gmg_remove_mean(s->levels_exec, &C->A, C->volume, C->f);
}

/* The solution of the next coarser level is added. */
static void prolong(gmg_solver *s, int l)
{
  gmg_level *L = &s->level[l], *C = &s->level[l + 1];
  GMG_RANGE(s->levels_exec, l, "prolong");
  if (L->by_faces) s->levels_stencil->prolong_faces(s->levels_exec, &L->A, L->prolong, C->u, L->u);
  else s->levels_stencil->tensor(s->levels_exec, L->prolong, C->u, L->u, 1);
}

static void cycle(gmg_solver *s, int l, gmg_cycle_kind kind, int from_zero);

/* A correction on the next coarser level. A W cycle visits it twice; an F cycle first by an F, then by a V. */
static void solve_coarser(gmg_solver *s, int l, gmg_cycle_kind kind)
{
  cycle(s, l + 1, kind, 1);
  if (kind != GMG_CYCLE_V && l + 1 < s->levels - 1) cycle(s, l + 1, kind == GMG_CYCLE_W ? GMG_CYCLE_W : GMG_CYCLE_V, 0);
  gmg_charge(s, l);
}

/* A cycle but for the way up from the next coarser level; 0: it is over. */
static int way_down(gmg_solver *s, int l, gmg_cycle_kind kind, int from_zero)
{
  gmg_level *L = &s->level[l];
  gmg_charge(s, l);
  if (l >= s->tail_from && !s->watch.on) {
    small_levels(s, l, kind, from_zero);
    return 0;
  }
  if (l == s->levels - 1) {
    coarse_solve(s, L);
    return 0;
  }
  descend(s, l, from_zero);
  solve_coarser(s, l, kind);
  return 1;
}

/* The upward leg's smoothing of u, which stands there or in r, onto another field. */
static int sweep_onto(gmg_solver *s, int l, void *u, const gmg_onto *to)
{
  gmg_level *L = &s->level[l];
  if (s->params.post == 0 || !s->fused) return 0;
  GMG_RANGE(s->levels_exec, l, to->coarse ? "prolong and smooth" : "smooth");
  return s->fused->postsmooth_update(&L->view, L->smoother, L->f, u, s->params.post, s->symmetric ? GMG_LEG_UP_REVERSED : GMG_LEG_UP, to);
}

/* The upward leg. */
static void ascend(gmg_solver *s, int l)
{
  gmg_level *L = &s->level[l];
  const gmg_onto back = {.x = L->u, .scale = 1, .coarse = s->level[l + 1].u, .prolong = L->prolong};
  if (goes_aside(s, L) && sweep_onto(s, l, L->r, &back)) return;
  prolong(s, l);
  smooth(s, l, s->params.post, GMG_LEG_UP);
}

static void cycle(gmg_solver *s, int l, gmg_cycle_kind kind, int from_zero)
{
  if (way_down(s, l, kind, from_zero)) ascend(s, l);
}

/* The way up to a level, onto another field: all of it, or the last sweep. 0: neither, its correction is in u instead. */
static int way_up_onto(gmg_solver *s, int l, gmg_onto to)
{
  to.coarse = s->level[l + 1].u, to.prolong = s->level[l].prolong;
  if (sweep_onto(s, l, s->level[l].u, &to)) return 1;
  prolong(s, l);
  to.coarse = NULL;
  if (sweep_onto(s, l, s->level[l].u, &to)) return 1;
  smooth(s, l, s->params.post, GMG_LEG_UP);
  return 0;
}

void gmg_cycle(gmg_solver *s, int l) { cycle(s, l, s->params.cycle, 0); }

gmg_correction gmg_cycle_on_own(gmg_solver *s, double scale)
{
  gmg_level *L = &s->level[0];
  L->f = s->own_f, L->u = s->own_u;
  cycle(s, 0, s->params.cycle, 1);
  return (gmg_correction){.z = L->u, .scale = 1 / scale, .narrow = s->mixed};
}

const void *gmg_cycle_onto(gmg_solver *s, int l, gmg_onto to)
{
  gmg_level *L = &s->level[l];
  if (l == 0) L->f = s->own_f, L->u = s->own_u;
  return way_down(s, l, s->params.cycle, 1) && way_up_onto(s, l, to) ? NULL : L->u;
}

void gmg_cycle_into(gmg_solver *s, const void *r, double *size, void *z)
{
  const size_t cells = s->top->A.cells;
  if (!s->mixed) {
    (void)gmg_cycle_from_zero(s, r, 1, z);
    return;
  }
  s->vector->normalize_to_low(&s->exec, cells, r, size, s->own_f); /* of size 1, or it might leave the range of the type */
  const void *c = gmg_cycle_onto(s, 0, (gmg_onto){.x = z, .scale = 1, .size = size});
  if (c) s->vector->axpby_from_low(&s->exec, cells, size, c, 0, z);
}

gmg_correction gmg_cycle_from_zero(gmg_solver *s, const void *r, double norm, void *z)
{
  gmg_level *L = &s->level[0];
  if (s->mixed) { /* of size 1, or it might leave the range of the type */
    const double scale = norm > 0 ? 1 / norm : 1;
    s->vector->convert_to_low(&s->exec, L->A.cells, scale, r, s->own_f);
    return gmg_cycle_on_own(s, scale);
  }
  if (s->levels == 1) { /* the coarse solver may change its f: give it a copy */
    s->vector->copy(&s->exec, L->A.cells, r, s->own_f);
    r = s->own_f;
  }
  L->f = (void *)r, L->u = z;
  cycle(s, 0, s->params.cycle, 1);
  return (gmg_correction){.z = z, .scale = 1};
}
