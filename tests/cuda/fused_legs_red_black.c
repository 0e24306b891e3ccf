/* Fused legs of red-black on CUDA: they give the same results as red and black one after the other on the host. */
#include "fused_legs.h"

/* The downward leg from zero leaves the same u and restricted residual as red and black sweeps on the host, with the same bits in
   every run. */
static void exact_down_agrees(const char *name, const both *b, int can)
{
  gmg_solver *const *s = b->solver;
  const gmg_exec *e[2] = {s[0]->levels_exec, s[1]->levels_exec};
  gmg_level *L[2] = {&s[0]->level[0], &s[1]->level[0]};
  const gmg_fused_ops *ops = s[1]->mg.fused[0];
  void *const device_state = s[1]->mg.state[0];
  const size_t n = L[0]->A.cells, coarse = s[0]->level[1].A.cells;
  twin f = begin_twin(e[0], e[1], n, 91), u = begin_twin(e[0], e[1], n, 0), c = begin_twin(e[0], e[1], coarse, 0);
  twin again = begin_twin(e[1], e[1], coarse, 0);
  e[1]->vector->fill(e[1], n, NAN, u.at[1]);
  ON_BOTH(i) e[1]->vector->fill(e[1], coarse, NAN, again.at[i]);
  s[0]->mg.smoother[0]->sweep(&L[0]->view, s[0]->mg.state[0], f.at[0], u.at[0], 1, GMG_LEG_DOWN);
  gmg_operator_of(e[0], &L[0]->A)->restrict_residual(e[0], &L[0]->A, L[0]->restrict_, f.at[0], u.at[0], L[0]->r, c.at[0]);
  for (int steps = 1; steps <= 2; steps++) { /* the leg takes neither a u that is not 0 nor two steps */
    const gmg_start start = steps == 1 ? GMG_FROM_CURRENT : GMG_FROM_ZERO;
    const int done = ops->presmooth_restrict(&L[1]->view, device_state, f.at[1], u.at[1], u.at[1], steps, start, L[1]->restrict_,
                                             c.at[1]);
    assert_int_equal(done, 0);
  }
  for (int run = 0; run < 2; run++) {
    const int done = ops->presmooth_restrict(&L[1]->view, device_state, f.at[1], u.at[1], u.at[1], 1, GMG_FROM_ZERO,
                                             L[1]->restrict_, again.at[run]);
    if (done != can) fail_msg("%s: down %d", name, done);
    if (!done) continue;
    same_twin(name, "u", &u, 64);
    same(name, "restricted residual", e[0], e[1], c.at[0], again.at[run], coarse, 64);
  }
  if (can) same_twin(name, "restricted residual, again", &again, 0);
  end_twin(&f), end_twin(&u), end_twin(&c), end_twin(&again);
}

typedef enum { NONE, ROWS, PLANES } down_kind; /* ROWS: in float only */

static const struct {
  shape shape;
  down_kind down;
  int can_prolong; /* in 3D also whether the legs in double are double-buffered */
} boxes[] = {{{3, {80, 82, 84}, GMG_CELL, "dddddd"}, PLANES, 1},   {{3, {64, 96, 84}, GMG_CELL, "dnrddn"}, PLANES, 1},
             {{3, {80, 82, 84}, GMG_CELL, "pppppp"}, PLANES, 1},   {{3, {28, 26, 700}, GMG_CELL, "ppddpp"}, PLANES, 1},
             {{3, {36, 120, 122}, GMG_CELL, "nrddpp"}, PLANES, 1}, {{3, {97, 57, 101}, GMG_CELL, "dnnddr"}, NONE, 0},
             {{2, {702, 800, 1}, GMG_CELL, "pppp"}, ROWS, 1},      {{3, {80, 82, 84}, GMG_VERTEX, "pppppp"}, NONE, 0},
             {{2, {1000, 602, 1}, GMG_CELL, "dddn"}, ROWS, 1},     {{3, {92, 90, 71}, GMG_CELL, "ddddnd"}, NONE, 0},
             {{2, {1024, 512, 1}, GMG_CELL, "pppp"}, ROWS, 1},     {{2, {2000, 256, 1}, GMG_CELL, "ppnr"}, ROWS, 1},
             {{3, {165, 163, 164}, GMG_CELL, "ddnrdr"}, NONE, 1},  {{3, {162, 164, 166}, GMG_VERTEX, "ppddpp"}, NONE, 1},
             {{2, {48, 12000, 1}, GMG_CELL, "rndd"}, ROWS, 1},     {{2, {1001, 600, 1}, GMG_CELL, "dddd"}, NONE, 0}};
enum { BOXES = sizeof boxes / sizeof *boxes };

/* Creates solvers on host and device. Returns 0 if the case is not taken. */
static int begin_in_box(int box, gmg_type type, gmg_precision precision, char name[100], both *b)
{
  gmg_problem p = unit_cells(&boxes[box].shape);
  gmg_params q = params_for_cycles();
  if (!taken(unknowns(&p))) return 0;
  snprintf(name, 100, "red_black, %zu x %zu x %zu, %s", p.n[0], p.n[1], p.n[2], boxes[box].shape.bc);
  p.type = type, q.precision = precision, q.fmg = precision == GMG_PRECISION_MIXED, q.smoother = gmg_smoother_by_name("red_black");
  *b = begin_both(&p, &q, name);
  return 1;
}

static void legs_in_float(void **state)
{
  char name[100];
  both b;
  (void)state;
  for (int i = 0; i < BOXES; i++) {
    if (!begin_in_box(i, GMG_F32, GMG_PRECISION_SAME, name, &b)) continue;
    exact_down_agrees(name, &b, boxes[i].down != NONE);
    end_both(&b);
  }
}

static void legs_in_double(void **state)
{
  char name[100];
  both b;
  (void)state;
  for (int i = 0; i < BOXES; i++) {
    if (!begin_in_box(i, GMG_F64, GMG_PRECISION_SAME, name, &b)) continue;
    exact_down_agrees(name, &b, boxes[i].down == PLANES);
    double_buffered_legs_agree(name, b.solver, boxes[i].shape.dim == 3 && boxes[i].can_prolong);
    end_both(&b);
  }
}

static void mixed_legs(void **state)
{
  char name[100];
  both b;
  (void)state;
  for (int i = 0; i < BOXES; i++) {
    if (!begin_in_box(i, GMG_F64, GMG_PRECISION_MIXED, name, &b)) continue;
    for (int k = 0; k < UPDATES; k++) update_agrees(name, &b, &updates[k], (update_ability){1, boxes[i].can_prolong, boxes[i].can_prolong});
    end_both(&b);
  }
}

int main(int argc, char **argv)
{
  only(argc, argv);
  if (without_device()) return SKIPPED;
  const struct CMUnitTest tests[] = {cmocka_unit_test(legs_in_float), cmocka_unit_test(legs_in_double), cmocka_unit_test(mixed_legs)};
  return run_selected(tests);
}
