/* In double the way down leaves u in another field, and the way up brings it back with the coarse correction (gmg_fused_ops::double_buffered):
   each leg on CUDA against its parts on the host, and whole solves against those that take the ways apart. */
#include "twins.h"

/* Down from a u and from zero, then up. Of both solvers what the host does must be what the device's legs are to leave: the exact
   sweep, or the stale twin's. */
static void legs_agree(const char *name, gmg_solver *const s[2], int can)
{
  const gmg_exec *e[2] = {s[HOST]->levels_exec, s[DEVICE]->levels_exec};
  gmg_level *L[2] = {&s[HOST]->level[0], &s[DEVICE]->level[0]};
  const gmg_smoother_ops *host = s[HOST]->mg.smoother;
  const gmg_fused_ops *device = s[DEVICE]->mg.fused;
  void *const state[2] = {s[HOST]->mg.state[0], s[DEVICE]->mg.state[0]};
  const size_t n = L[0]->A.cells, coarse = s[HOST]->level[1].A.cells;
  const int double_buffered = s[DEVICE]->mg.legs[0] == &gmg_double_buffered_legs;
  if (double_buffered != can) fail_msg("%s: double-buffered %d", name, double_buffered);
  for (int from_zero = 0; can && from_zero < 2; from_zero++) {
    twin f = begin_twin(e[0], e[1], n, 91), u = begin_twin(e[0], e[1], n, from_zero ? 0 : 92), aside = begin_twin(e[0], e[1], n, 0);
    twin r = begin_twin(e[0], e[1], coarse, 0), c = begin_twin(e[0], e[1], coarse, 93);
    if (from_zero) e[1]->vector->fill(e[1], n, NAN, u.at[1]);
    e[1]->vector->fill(e[1], n, NAN, aside.at[1]), e[1]->vector->fill(e[1], coarse, NAN, r.at[1]);
    host->sweep(&L[0]->view, state[0], f.at[0], u.at[0], 1, GMG_LEG_DOWN);
    s[HOST]->mg.stencil->restrict_residual(e[0], &L[0]->A, L[0]->restrict_, f.at[0], u.at[0], aside.at[0], r.at[0]);
    const int down = device->presmooth_restrict(&L[1]->view, state[1], f.at[1], u.at[1], aside.at[1], 1,
                                                from_zero ? GMG_FROM_ZERO : GMG_FROM_CURRENT, L[1]->restrict_, r.at[1]);
    assert_int_equal(down, 1);
    same(name, "u on the way down", e[0], e[1], u.at[0], aside.at[1], n, 512);
    same_twin(name, "restricted residual", &r, 2048);
    const gmg_leg leg = from_zero ? GMG_LEG_UP : GMG_LEG_UP_REVERSED;
    const gmg_update_target back = {.x = u.at[1], .scale = 1, .coarse = c.at[1], .prolong = L[1]->prolong};
    s[HOST]->mg.stencil->tensor(e[0], L[0]->prolong, c.at[0], u.at[0], 1);
    host->sweep(&L[0]->view, state[0], f.at[0], u.at[0], 1, leg);
    e[1]->vector->fill(e[1], n, NAN, u.at[1]);
    assert_int_equal(device->postsmooth_update(&L[1]->view, state[1], f.at[1], aside.at[1], 1, leg, &back), 1);
    same_twin(name, "u on the way up", &u, 512);
    end_twin(&f), end_twin(&u), end_twin(&aside), end_twin(&r), end_twin(&c);
  }
}

static gmg_problem boxed(const shape *s)
{
  gmg_problem p = shaped_problem(s);
  const double length[3] = {(double)p.n[0], (double)p.n[1], (double)p.n[2]}; /* so that all axes are coarsened */
  gmg_problem_set_box(&p, length);
  p.shift = 0.3;
  return p;
}

static void async_legs_agree(void **state)
{
  static const struct {
    shape shape;
    size_t block[3];
    int can; /* pairs that blocks begin with, and rows enough */
  } s[] = {{{3, {64, 44, 40}, GMG_CELL, "ddddnn"}, {30, 14, 20}, 1}, {{3, {60, 28, 36}, GMG_CELL, "pppppp"}, {30, 14, 18}, 1},
           {{3, {46, 32, 64}, GMG_CELL, "ndrdpp"}, {26, 12, 32}, 1}, {{3, {30, 20, 32}, GMG_CELL, "dddddd"}, {30, 14, 32}, 1},
           {{3, {40, 40, 100}, GMG_CELL, "ddppdn"}, {2, 8, 34}, 1},  {{3, {32, 38, 36}, GMG_CELL, "rnndpp"}, {30, 18, 10}, 1},
           {{3, {40, 40, 100}, GMG_CELL, "ddppdn"}, {2, 4, 34}, 0},  {{3, {34, 30, 36}, GMG_CELL, "dddddd"}, {17, 14, 18}, 0},
           {{3, {64, 44, 40}, GMG_CELL, "dddddd"}, {30, 14, 15}, 0}, {{3, {33, 28, 36}, GMG_CELL, "dddddd"}, {30, 14, 18}, 0},
           {{2, {256, 64, 1}, GMG_CELL, "pppp"}, {60, 32, 1}, 0}};
  (void)state;
  for (int g = 0; g < (int)(sizeof s / sizeof *s); g++) {
    const gmg_problem p = boxed(&s[g].shape);
    if (!taken(unknowns(&p))) continue;
    gmg_params q = relaxing(GMG_LOCAL_RED_BLACK, 2, 1, (gmg_block_order)(g % 3), s[g].block[0], s[g].block[1], s[g].block[2]);
    char name[100];
    snprintf(name, sizeof name, "async, %zu x %zu x %zu, %s", p.n[0], p.n[1], p.n[2], s[g].shape.bc);
    q.precision = GMG_PRECISION_SAME;
    both fresh = begin_both(&p, &q, name);
    q.deterministic = 1;
    both stale = begin_both(&p, &q, name);
    assert_true(stale.solver[DEVICE]->mg.legs[0] != &gmg_double_buffered_legs);
    gmg_solver *const solvers[2] = {stale.solver[HOST], fresh.solver[DEVICE]};
    legs_agree(name, solvers, s[g].can);
    end_both(&fresh), end_both(&stale);
  }
}

static void red_black_legs_agree(void **state)
{
  static const struct {
    shape shape;
    int can;
  } s[] = {{{3, {80, 82, 84}, GMG_CELL, "dddddd"}, 1},   {{3, {64, 96, 84}, GMG_CELL, "dnrddn"}, 1},
           {{3, {80, 82, 84}, GMG_CELL, "pppppp"}, 1},   {{3, {28, 26, 700}, GMG_CELL, "ppddpp"}, 1},
           {{3, {36, 120, 122}, GMG_CELL, "nrddpp"}, 1}, {{3, {97, 57, 101}, GMG_CELL, "dnnddr"}, 0},
           {{3, {80, 82, 84}, GMG_VERTEX, "pppppp"}, 0}, {{2, {1000, 602, 1}, GMG_CELL, "dddn"}, 0}};
  (void)state;
  for (int g = 0; g < (int)(sizeof s / sizeof *s); g++) {
    const gmg_problem p = boxed(&s[g].shape);
    if (!taken(unknowns(&p))) continue;
    gmg_params q = gmg_params_default();
    char name[100];
    snprintf(name, sizeof name, "red_black, %zu x %zu x %zu, %s", p.n[0], p.n[1], p.n[2], s[g].shape.bc);
    q.smoother = gmg_smoother_by_name("red_black"), q.precision = GMG_PRECISION_SAME;
    both b = begin_both(&p, &q, name);
    legs_agree(name, b.solver, s[g].can);
    end_both(&b);
  }
}

/* Solves of a random f, whose levels may put u aside or may not; what they leave, and their residuals. */
static void solves_agree(void **state)
{
  static const char *const smoothers[] = {"async", "red_black"};
  const shape box = {3, {128, 96, 128}, GMG_CELL, "ddnrpp"};
  (void)state;
  for (int way = 0; way < 24; way++) {
    const int exact = way % 2, fmg = way / 2 % 2;
    const gmg_problem p = boxed(&box);
    const size_t n = unknowns(&p);
    gmg_params q = gmg_params_default();
    gmg_report report[2];
    char name[100];
    q.smoother = gmg_smoother_by_name(smoothers[exact]), q.cycle = (gmg_cycle_kind)(way / 4 % 3), q.fmg = fmg;
    if (!exact) q.block[0] = 30, q.block[1] = 14, q.block[2] = 32;
    q.precision = GMG_PRECISION_SAME, q.accel = way / 12 ? GMG_ACCEL_FLEXIBLE_CG : GMG_ACCEL_NONE, q.rtol = 1e-11;
    snprintf(name, sizeof name, "%s, cycle %d, fmg %d, accel %d", smoothers[exact], way / 4 % 3, fmg, way / 12);
    if (!taken(n)) continue;
    both b = begin_both(&p, &q, name);
    gmg_solver *s = b.solver[DEVICE];
    const gmg_exec *e = &s->exec;
    twin f = begin_twin(e, e, n, 95), u = begin_twin(e, e, n, 0);
    assert_true(s->mg.legs[0] == &gmg_double_buffered_legs);
    for (int run = 0; run < 2; run++) {
      for (int l = 0; run && l < s->levels; l++) s->mg.legs[l] = &gmg_plain_legs;
      gmg_forget_recordings(s);
      assert_ok(b.context[DEVICE], gmg_solve(s, f.at[0], u.at[run], &report[run]));
    }
    if (abs(report[0].cycles - report[1].cycles) > !exact) fail_msg("%s: %d and %d cycles", name, report[0].cycles, report[1].cycles);
    same_twin(name, "u", &u, exact ? 1e5 : 1e7);
    end_twin(&f), end_twin(&u);
    end_both(&b);
  }
}

int main(int argc, char **argv)
{
  only(argc, argv);
  if (without_device()) return SKIPPED;
  const struct CMUnitTest tests[] = {cmocka_unit_test(async_legs_agree), cmocka_unit_test(red_black_legs_agree),
                                     cmocka_unit_test(solves_agree)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
