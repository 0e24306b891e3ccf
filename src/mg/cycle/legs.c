/* The legs of a cycle on one level: smoothing and restriction downwards, prolongation and smoothing upwards. A built-in smoother
   may fuse several of these into one pass over memory (smoothers/fused.h). gmg_choose_legs() selects the legs of a level at create.
   Ghosts of f and of a guess are fresh. Those of what a leg computes are exchanged before an operation reads them (core/comm.h),
   unless halos are asynchronous. Called by the cycle; calls the smoother and the transfers. */
#include "cycle.h"

/* --- ghosts of u (params.halos) --------------------------------------------------------------------------------------------- */

/* Exact halos: an operation reads the neighbours' values. */
static void exchange(const gmg_exec *e, const gmg_operator *A, const void *u) { gmg_exchange(e, A, u); }

/* Asynchronous halos: an operation reads what this process has computed on its ghosts. Their outermost planes are wrong, because
   values beyond them are missing. Ghosts are so wide (parts.c) that the error is small where it reaches own unknowns. */
static void keep(const gmg_exec *e, const gmg_operator *A, const void *u) { (void)e, (void)A, (void)u; }

gmg_refresh *gmg_refresh_of(gmg_halos halos) { return halos == GMG_HALOS_ASYNC ? keep : exchange; }

/* --- parts of legs ------------------------------------------------------------------------------------------------------------ */

static void smooth(const gmg_multigrid *m, int l, const void *f, void *u, int steps, gmg_leg leg)
{
  if (steps == 0) return;
  GMG_AT_LEVEL(m->solver, l, "smooth");
  m->smoother[l]->sweep(&m->level[l].view, m->state[l], f, u, steps, leg);
}

static void presmooth(const gmg_multigrid *m, int l, const void *f, void *u, gmg_start start)
{
  const gmg_level *L = &m->level[l];
  if (start == GMG_FROM_ZERO && m->pre > 0 && m->smoother[l]->sweep_from_zero) {
    GMG_AT_LEVEL(m->solver, l, "smooth");
    m->smoother[l]->sweep_from_zero(&L->view, m->state[l], f, u, m->pre, GMG_LEG_DOWN);
    return;
  }
  if (start == GMG_FROM_ZERO) m->exec->vector->fill(m->exec, L->A.cells, 0, u);
  smooth(m, l, f, u, m->pre, GMG_LEG_DOWN);
}

static void postsmooth(const gmg_multigrid *m, int l, const void *f, void *u)
{
  if (m->post > 0) m->refresh(m->exec, &m->level[l].A, u);
  smooth(m, l, f, u, m->post, m->up);
}

static void restrict_residual(const gmg_multigrid *m, int l, const void *f, const void *u)
{
  const gmg_level *L = &m->level[l];
  GMG_AT_LEVEL(m->solver, l, "restrict");
  m->refresh(m->exec, &L->A, u);
  m->op[l]->restrict_residual(m->exec, &L->A, L->restrict_, f, u, L->r, L[1].f);
}

static void prolong(const gmg_multigrid *m, int l, void *u)
{
  const gmg_level *L = &m->level[l];
  GMG_AT_LEVEL(m->solver, l, "prolong");
  m->refresh(m->exec, &L[1].A, L[1].u);
  if (L->operator_dependent) m->grid->prolong_faces(m->exec, &L->A, L->prolong, L[1].u, u);
  else m->grid->transfer(m->exec, L->prolong, L[1].u, u, 1);
}

/* --- plain legs: one operation after the other ------------------------------------------------------------------------- */

static void plain_down(const gmg_multigrid *m, int l, const void *f, void *u, gmg_start start)
{
  presmooth(m, l, f, u, start);
  restrict_residual(m, l, f, u);
}

static int plain_up(const gmg_multigrid *m, int l, const void *f, void *u, const gmg_update_target *to)
{
  (void)to;
  prolong(m, l, u);
  postsmooth(m, l, f, u);
  return 0;
}

const gmg_legs gmg_plain_legs = {plain_down, plain_up, NULL};

/* --- black box transfers -------------------------------------------------------------------------------------------------- */

static void black_box_down(const gmg_multigrid *m, int l, const void *f, void *u, gmg_start start)
{
  const gmg_level *L = &m->level[l];
  presmooth(m, l, f, u, start);
  GMG_AT_LEVEL(m->solver, l, "restrict");
  m->refresh(m->exec, &L->A, u);
  m->op[l]->residual(m->exec, &L->A, f, u, L->r);
  gmg_exchange(m->exec, &L->A, L->r);
  gmg_black_box_ops_of(m->exec)->restrict_(m->exec, &L->A, &L[1].A, &L->black_box, L->r, L[1].f);
}

static int black_box_up(const gmg_multigrid *m, int l, const void *f, void *u, const gmg_update_target *to)
{
  (void)to;
  const gmg_level *L = &m->level[l];
  {
    GMG_AT_LEVEL(m->solver, l, "prolong");
    m->refresh(m->exec, &L[1].A, L[1].u);
    gmg_black_box_ops_of(m->exec)->prolong(m->exec, &L->A, &L[1].A, &L->black_box, L[1].u, u);
  }
  postsmooth(m, l, f, u);
  return 0;
}

static const gmg_legs black_box_legs = {black_box_down, black_box_up, NULL};

const gmg_legs *gmg_unfused_legs(const gmg_multigrid *m)
{
  return gmg_has_black_box(m->solver) ? &black_box_legs : &gmg_plain_legs;
}

/* --- fused legs --------------------------------------------------------------------------------------------------------- */

/* A fused leg may refuse a call, for example if a caller's array is not aligned. Then the plain operations run. */

static int fused_down_to(const gmg_multigrid *m, int l, const void *f, void *u, void *to, gmg_start start)
{
  const gmg_level *L = &m->level[l];
  if (m->pre == 0) return 0;
  GMG_AT_LEVEL(m->solver, l, "smooth and restrict");
  return m->fused[l]->presmooth_restrict(&L->view, m->state[l], f, u, to, m->pre, start, L->restrict_, L[1].f);
}

static int fused_up_to(const gmg_multigrid *m, int l, const void *f, void *u, gmg_update_target to, const void *coarse)
{
  const gmg_level *L = &m->level[l];
  if (m->post == 0) return 0;
  GMG_AT_LEVEL(m->solver, l, coarse ? "prolong and smooth" : "smooth");
  m->refresh(m->exec, &L->A, u);
  if (coarse) m->refresh(m->exec, &L[1].A, coarse);
  to.coarse = coarse;
  to.prolong = L->prolong;
  return m->fused[l]->postsmooth_update(&L->view, m->state[l], f, u, m->post, m->up, &to);
}

static void fused_down(const gmg_multigrid *m, int l, const void *f, void *u, gmg_start start)
{
  if (!fused_down_to(m, l, f, u, u, start)) plain_down(m, l, f, u, start);
}

/* With a target: fuses the whole leg or, if that is refused, the last sweep and the update. */
static int fused_up(const gmg_multigrid *m, int l, const void *f, void *u, const gmg_update_target *to)
{
  if (!to) return plain_up(m, l, f, u, to);
  if (fused_up_to(m, l, f, u, *to, m->level[l + 1].u)) return 1;
  prolong(m, l, u);
  if (fused_up_to(m, l, f, u, *to, NULL)) return 1;
  postsmooth(m, l, f, u);
  return 0;
}

static int fused_takes_base(const gmg_multigrid *m, int l, const gmg_update_target *to)
{
  const gmg_level *L = &m->level[l];
  gmg_update_target corrected = *to;
  corrected.coarse = L[1].u, corrected.prolong = L->prolong;
  return m->post > 0 && m->fused[l]->takes_base(&L->view, m->state[l], m->post, &corrected);
}

static const gmg_legs fused_legs = {fused_down, fused_up, fused_takes_base};

/* --- double-buffered legs: u alternates between its field and r ---------------------------------------------------------- */

/* Calls that double_buffered() promised cannot fail. */
static void buffered_down(const gmg_multigrid *m, int l, const void *f, void *u, gmg_start start)
{
  (void)fused_down_to(m, l, f, u, m->level[l].r, start); /* promised */
}

/* Tries what is fastest first: in one pass to the target or back to u, or with a prolongation of its own. */
static int buffered_up(const gmg_multigrid *m, int l, const void *f, void *u, const gmg_update_target *to)
{
  const gmg_update_target back = {.x = u, .is_field = 1, .layout = gmg_layout_of(&m->level[l].A)};
  void *const r = m->level[l].r;
  if (fused_up_to(m, l, f, r, to ? *to : back, m->level[l + 1].u)) return to != NULL;
  prolong(m, l, r);
  if (to && fused_up_to(m, l, f, r, *to, NULL)) return 1;
  (void)fused_up_to(m, l, f, r, back, NULL); /* promised */
  return 0;
}

const gmg_legs gmg_double_buffered_legs = {buffered_down, buffered_up, fused_takes_base};

int gmg_takes_base(const gmg_multigrid *m, int l, const gmg_update_target *to)
{
  return l < m->bottom.level && m->legs[l]->takes_base && m->legs[l]->takes_base(m, l, to);
}

/* Where legs exchange, all processes must take the same ones, and legs that may refuse a call are not used. */
static int legs_exchange(const gmg_multigrid *m, int l) { return m->level[l].A.part && m->refresh == exchange; }

void gmg_choose_legs(gmg_multigrid *m, int l)
{
  const gmg_level *L = &m->level[l];
  m->legs[l] = gmg_unfused_legs(m);
  if (gmg_has_black_box(m->solver)) return;
  m->legs[l] = m->fused[l] && !legs_exchange(m, l) ? &fused_legs : &gmg_plain_legs;
  if (!m->fused[l] || m->pre == 0 || m->post == 0 || L->operator_dependent || m->exec->dry) return;
  if (m->fused[l]->double_buffered(&L->view, m->state[l], L->prolong)) m->legs[l] = &gmg_double_buffered_legs;
}

void gmg_agree_on_legs(gmg_multigrid *m, int l)
{
  double is_plain = m->legs[l] != &gmg_double_buffered_legs;
  if (!legs_exchange(m, l)) return;
  m->exec->comm->max(m->exec, 1, &is_plain);
  if (is_plain > 0) m->legs[l] = gmg_unfused_legs(m);
}
