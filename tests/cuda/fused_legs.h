/* Fused legs of a cycle on CUDA, against their separate operations on the host. Shared by the tests of the asynchronous smoother
   and of red-black. */
#ifndef GMG_TEST_FUSED_LEGS_H
#define GMG_TEST_FUSED_LEGS_H

#include "twins.h"

/* Cells of one size, so that all axes are coarsened. */
static inline gmg_problem unit_cells(const shape *s)
{
  gmg_problem p = shaped_problem(s);
  const double length[3] = {(double)p.n[0], (double)p.n[1], (double)p.n[2]};
  gmg_problem_set_box(&p, length);
  p.shift = 0.3;
  return p;
}

/* --- the leg down ---------------------------------------------------------------------------------------------------- */

typedef struct {
  gmg_start start;
  int steps;
} down_case;
static const down_case downs[] = {{GMG_FROM_CURRENT, 1}, {GMG_FROM_ZERO, 1}, {GMG_FROM_CURRENT, 2},
                                  {GMG_FROM_ZERO, 2},    {GMG_FROM_CURRENT, 3}, {GMG_FROM_ZERO, 3}};
enum { DOWNS = sizeof downs / sizeof *downs };

/* One step from zero. Some kernels do no other downward leg. */
static inline int is_first_step(const down_case *k) { return k->start == GMG_FROM_ZERO && k->steps == 1; }

/* Checks that the device smooths and restricts in one operation exactly if it should (can), and that the restricted residual
   belongs to the u it leaves. */
static inline void down_agrees(const char *name, const both *b, const down_case *k, int can)
{
  const gmg_solver *s = b->solver[DEVICE];
  const gmg_exec *e = s->levels_exec;
  const gmg_level *L = &s->level[0];
  const size_t n = L->A.cells, coarse = s->level[1].A.cells;
  twin f = begin_twin(b->solver[HOST]->levels_exec, e, n, 91), u = begin_twin(b->solver[HOST]->levels_exec, e, n, 92);
  twin got = begin_twin(e, e, coarse, 93);
  if (k->start == GMG_FROM_ZERO) e->vector->fill(e, n, NAN, u.at[DEVICE]);
  const int done = s->mg.fused[0]->presmooth_restrict(&L->view, s->mg.state[0], f.at[DEVICE], u.at[DEVICE], u.at[DEVICE], k->steps, k->start,
                                                   L->restrict_, got.at[0]);
  if (done != can) fail_msg("%s, %d steps, from zero %d: done %d", name, k->steps, k->start == GMG_FROM_ZERO, done);
  if (done) {
    gmg_operator_of(e, &L->A)->restrict_residual(e, &L->A, L->restrict_, f.at[DEVICE], u.at[DEVICE], L->r, got.at[1]);
    same_twin(name, "restricted residual", &got, 2048);
  }
  end_twin(&f), end_twin(&u), end_twin(&got);
}

/* Checks that the downward leg begins with the guess: it keeps a solution, in whatever order blocks relax. */
static inline void down_keeps_a_solution(const char *name, const both *b, int steps)
{
  const gmg_solver *s = b->solver[DEVICE];
  const gmg_exec *e = s->levels_exec;
  const gmg_level *L = &s->level[0];
  twin u = begin_twin(b->solver[HOST]->levels_exec, e, L->A.cells, 94), f = begin_twin(e, e, L->A.cells, 0);
  twin coarse = begin_twin(e, e, s->level[1].A.cells, 0);
  gmg_operator_of(e, &L->A)->apply(e, &L->A, u.at[DEVICE], f.at[0]);
  assert_int_equal(s->mg.fused[0]->presmooth_restrict(&L->view, s->mg.state[0], f.at[0], u.at[DEVICE], u.at[DEVICE], steps,
                                                      GMG_FROM_CURRENT, L->restrict_, coarse.at[0]), 1);
  same_twin(name, "solution after the leg", &u, 64);
  end_twin(&u), end_twin(&f), end_twin(&coarse);
}

/* --- the leg up of a mixed cycle --------------------------------------------------------------------------------------- */

/* A case of the upward leg, which updates a field in double: to the field, nothing or a base, plus the correction. */
typedef struct {
  int prolongs; /* 1: first adds the coarse correction. 2: the same, on a base */
  int keep, steps;
  int offset;   /* of the field, in elements. 1: the field does not begin with a pair */
  int gap[2];   /* elements between its rows, and rows between its planes */
} update_case;
static const update_case updates[] = {
    {0, 0, 1, 0, {0, 0}}, {1, 0, 1, 0, {0, 0}}, {0, 1, 1, 0, {0, 0}}, {1, 1, 1, 0, {0, 0}}, {0, 0, 2, 0, {0, 0}},
    {1, 0, 2, 0, {0, 0}}, {0, 1, 2, 0, {0, 0}}, {1, 1, 2, 0, {0, 0}}, {0, 0, 1, 1, {0, 0}}, {1, 0, 1, 1, {0, 0}},
    {0, 1, 1, 1, {0, 0}}, {1, 1, 1, 1, {0, 0}}, {1, 1, 1, 0, {2, 0}}, {0, 1, 1, 1, {2, 2}}, {1, 1, 1, 0, {8, 3}},
    {1, 0, 1, 1, {3, 1}}, {2, 0, 1, 0, {0, 0}}, {2, 0, 1, 1, {0, 0}}, {2, 0, 1, 0, {8, 3}}, {2, 0, 1, 1, {3, 1}},
    {2, 0, 2, 0, {0, 0}}};
enum { UPDATES = sizeof updates / sizeof *updates };

/* Whether the upward leg of a mixed cycle is one operation. */
typedef struct {
  int plain;         /* without the coarse correction */
  int with_prolong;  /* with it, in one step */
  int with_base;     /* the same on a base, if these are cells, coarsened in pairs */
} update_ability;

/* The upward leg in one operation on the device, if it can, against its parts on the host. */
static inline void update_agrees(const char *name, const both *b, const update_case *k, update_ability can)
{
  gmg_solver *const *s = b->solver;
  const gmg_exec *low[2] = {s[0]->levels_exec, s[1]->levels_exec}, *high[2] = {&s[0]->exec, &s[1]->exec};
  gmg_level *L[2] = {&s[0]->level[0], &s[1]->level[0]};
  const size_t n = L[0]->A.cells, offset = (size_t)k->offset;
  gmg_layout in_x = gmg_layout_of(&L[0]->A);
  in_x.row += (size_t)k->gap[0], in_x.rows += (size_t)k->gap[1];
  const gmg_leg leg = k->keep ? GMG_LEG_UP : GMG_LEG_UP_REVERSED;
  twin f = begin_twin(low[0], low[1], n, 81), c = begin_twin(low[0], low[1], n, 82);
  twin coarse = begin_twin(low[0], low[1], s[0]->level[1].A.cells, 83), x = begin_twin(high[0], high[1], in_x.n[2] * gmg_pitch(in_x, 2) + offset, 84);
  twin scale = begin_twin(high[0], high[1], 1, 85);
  double *const at[2] = {(double *)x.at[0] + offset, (double *)x.at[1] + offset};
  twin base = begin_twin(high[0], high[1], s[0]->level[1].A.cells, 86);
  const int has_base = k->prolongs == 2, by_one = k->steps == 1, paired = gmg_all_have_pairs(L[1]->prolong, s[0]->problem.dim, GMG_PAIRS_LINEAR), cells = s[0]->problem.centering == GMG_CELL;
  if (!k->keep) ON_BOTH(i) gmg_array_fill(high[i], in_x, NAN, at[i]);
  if (has_base) gmg_transfer(high[0], s[0]->outer[0].prolong, gmg_layout_of(&L[0][1].A), base.at[0], in_x, at[0]);
  if (k->prolongs) s[0]->mg.grid->transfer(low[0], L[0]->prolong, coarse.at[0], c.at[0], 1);
  s[0]->mg.smoother[0]->sweep(&L[0]->view, s[0]->mg.state[0], f.at[0], c.at[0], k->steps, leg);
  gmg_array_correct(high[0], in_x, (gmg_correction){.z = c.at[0], .scale = scale.at[0], .low = 1}, k->keep || has_base, at[0]);
  const gmg_update_target to = {.x = at[1], .layout = in_x, .scale = scale.at[1], .keep = k->keep,
                                .coarse = k->prolongs ? coarse.at[1] : NULL, .prolong = k->prolongs ? L[1]->prolong : NULL,
                                .base = has_base ? base.at[1] : NULL, .base_map = has_base ? s[1]->outer[0].prolong : NULL};
  const int takes = has_base && s[1]->mg.fused[0]->takes_base(&L[1]->view, s[1]->mg.state[0], k->steps, &to);
  const int done = (!has_base || takes) && s[1]->mg.fused[0]->postsmooth_update(&L[1]->view, s[1]->mg.state[0], f.at[1], c.at[1], k->steps, leg, &to);
  const int wanted = has_base ? can.with_base && paired && cells && by_one : k->prolongs ? can.with_prolong && by_one : can.plain;
  if (done != wanted)
    fail_msg("%s, prolongs %d, keep %d, %d steps, offset %d, gaps %d, %d: done %d", name, k->prolongs, k->keep, k->steps, k->offset,
             k->gap[0], k->gap[1], done);
  if (done) same_twin(name, "updated field", &x, 1024 * epsilon_of(low[0]) / epsilon_of(high[0]));
  end_twin(&f), end_twin(&c), end_twin(&coarse), end_twin(&x), end_twin(&scale), end_twin(&base);
}

/* --- both legs, double buffered ----------------------------------------------------------------------------------------- */

/* The legs of double buffering (gmg_fused_ops::double_buffered). The downward leg leaves u in another field. The upward leg brings it
   back; the coarse correction is added by the same pass, or before it. The smoother of the host's solver must do the same
   arithmetic: an exact sweep, or the stale twin. In 2D the leg from zero does other arithmetic, and has a test of its own. */
static inline void double_buffered_legs_agree(const char *name, gmg_solver *const s[2], int can)
{
  const gmg_exec *e[2] = {s[HOST]->levels_exec, s[DEVICE]->levels_exec};
  gmg_level *L[2] = {&s[HOST]->level[0], &s[DEVICE]->level[0]};
  const gmg_smoother_ops *host = s[HOST]->mg.smoother[0];
  const gmg_fused_ops *device = s[DEVICE]->mg.fused[0];
  void *const state[2] = {s[HOST]->mg.state[0], s[DEVICE]->mg.state[0]};
  const size_t n = L[0]->A.cells, coarse = s[HOST]->level[1].A.cells;
  const int double_buffered = s[DEVICE]->mg.legs[0] == &gmg_double_buffered_legs;
  if (double_buffered != can) fail_msg("%s: double-buffered %d", name, double_buffered);
  for (int k = 0; can && k < 2; k++) {
    const int from_zero = k && L[0]->A.dim == 3;
    twin f = begin_twin(e[0], e[1], n, 91), u = begin_twin(e[0], e[1], n, from_zero ? 0 : 92), other = begin_twin(e[0], e[1], n, 0);
    twin r = begin_twin(e[0], e[1], coarse, 0), c = begin_twin(e[0], e[1], coarse, 93);
    if (from_zero) e[1]->vector->fill(e[1], n, NAN, u.at[1]);
    e[1]->vector->fill(e[1], n, NAN, other.at[1]), e[1]->vector->fill(e[1], coarse, NAN, r.at[1]);
    host->sweep(&L[0]->view, state[0], f.at[0], u.at[0], 1, GMG_LEG_DOWN);
    gmg_operator_of(e[0], &L[0]->A)->restrict_residual(e[0], &L[0]->A, L[0]->restrict_, f.at[0], u.at[0], other.at[0], r.at[0]);
    const int down = device->presmooth_restrict(&L[1]->view, state[1], f.at[1], u.at[1], other.at[1], 1,
                                                from_zero ? GMG_FROM_ZERO : GMG_FROM_CURRENT, L[1]->restrict_, r.at[1]);
    assert_int_equal(down, 1);
    same(name, "u on the way down", e[0], e[1], u.at[0], other.at[1], n, 512);
    same_twin(name, "restricted residual", &r, 2048);
    const gmg_leg leg = k ? GMG_LEG_UP : GMG_LEG_UP_REVERSED;
    gmg_update_target back = {.x = u.at[1], .is_field = 1, .layout = gmg_layout_of(&L[1]->A), .coarse = c.at[1],
                              .prolong = L[1]->prolong};
    s[HOST]->mg.grid->transfer(e[0], L[0]->prolong, c.at[0], u.at[0], 1);
    host->sweep(&L[0]->view, state[0], f.at[0], u.at[0], 1, leg);
    e[1]->vector->fill(e[1], n, NAN, u.at[1]);
    if (!device->postsmooth_update(&L[1]->view, state[1], f.at[1], other.at[1], 1, leg, &back)) {
      s[DEVICE]->mg.grid->transfer(e[1], L[1]->prolong, c.at[1], other.at[1], 1);
      back.coarse = NULL;
      assert_int_equal(device->postsmooth_update(&L[1]->view, state[1], f.at[1], other.at[1], 1, leg, &back), 1);
    }
    same_twin(name, "u on the way up", &u, 512);
    end_twin(&f), end_twin(&u), end_twin(&other), end_twin(&r), end_twin(&c);
  }
}

#endif
