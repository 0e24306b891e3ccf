/* Weights of half sweeps: smoothers use those of the table, which depend on the leg and on whether a level is the finest. */
#include "half_sweeps.h"

#include "util.h"

#include <math.h>
#include <string.h>

/* The blocks of "async" on the host are larger, so each level is one block. */
static const shape shapes[] = {{3, {24, 20, 32}, GMG_CELL, "dnrddd"}, {3, {31, 23, 15}, GMG_VERTEX, "dddnnn"}, {3, {33, 30, 29}, GMG_CELL, "nnnnnn"},
                               {2, {40, 32, 1}, GMG_CELL, "dddn"},    {2, {31, 24, 1}, GMG_VERTEX, "dddr"},
                               {3, {64, 12, 30}, GMG_CELL, "dnrddd"}, {3, {31, 15, 63}, GMG_VERTEX, "dddddn"},
                               {2, {96, 20, 1}, GMG_CELL, "dddn"},    {2, {15, 63, 1}, GMG_VERTEX, "dddd"}};
enum { SHAPES = sizeof shapes / sizeof *shapes };
static const char *const names[] = {"async", "red_black"};

/* One step against its definition, on all levels but the coarsest. */
static void steps_agree(const shape *shape, const char *name, double shift, double over_correction)
{
  const gmg_leg legs[] = {GMG_LEG_DOWN, GMG_LEG_UP};
  gmg_problem p = shaped_problem(shape);
  gmg_params q = params_for_cycles();
  p.shift = shift;
  q.smoother = gmg_smoother_by_name(name), q.precision = GMG_PRECISION_SAME, q.over_correction = over_correction;
  session s = begin_solver(&p, &q, 2);
  const gmg_multigrid *m = &s.solver->mg;
  assert_true(s.solver->levels > 2);
  for (int l = 0; l + 1 < s.solver->levels; l++)
    for (int i = 0; i < 2; i++) {
      const gmg_smoother_level *L = &s.solver->level[l].view;
      const size_t n = L->A->cells, bytes = n * sizeof(double);
      double *f = field(n, 1), *u = field(n, 2), *v = malloc(bytes), apart = 0;
      memcpy(v, u, bytes);
      m->smoother[l]->sweep(L, m->state[l], f, u, 1, legs[i]);
      half_sweeps_by_definition(L, f, v, 2 * gmg_bottom_sweeps(L->params, L->A), legs[i]);
      for (size_t c = 0; c < n; c++) apart = fmax(apart, fabs(u[c] - v[c]));
      if (!(apart < 1e-12)) fail_msg("%s, %dD, %s, shift %g, level %d, leg %d: off by %g", name, shape->dim, shape->bc, shift, l, i, apart);
      free(f), free(u), free(v);
    }
  end_solver(&s);
}

static void steps_use_their_weights(void **state)
{
  (void)state;
  for (int i = 0; i < SHAPES; i++)
    for (int j = 0; j < 2; j++) {
      steps_agree(&shapes[i], names[j], 0, 0);
      steps_agree(&shapes[i], names[j], 500, 1.1);
      steps_agree(&shapes[i], names[j], 0, 1);
    }
}

/* The weights of the two finest levels: [level][leg][half sweep]. */
typedef double weights[2][2][GMG_HALF_SWEEPS];

static void weights_of(const gmg_problem *p, const gmg_params *q, weights w)
{
  session s = begin_solver(p, q, 1);
  for (int l = 0; l < 2; l++)
    for (int leg = 0; leg < 2; leg++)
      gmg_half_sweep_weights(&s.solver->level[l].A, &s.solver->params, leg ? GMG_LEG_UP : GMG_LEG_DOWN, w[l][leg]);
  end_solver(&s);
}

/* Whether all are the same. */
static int is_one_weight(const gmg_problem *p, const gmg_params *q)
{
  weights w;
  weights_of(p, q, w);
  int same = 1;
  for (int i = 0; i < 4 * GMG_HALF_SWEEPS; i++) same = same && (&w[0][0][0])[i] == w[0][0][0];
  return same;
}

/* They vary with over-correction alone. */
static void weights_vary_with_over_correction(void **state)
{
  (void)state;
  const gmg_problem cube = make_problem(3, 32, 32, 32, GMG_CELL, "dddddd");
  gmg_problem p = cube;
  const gmg_params usual = params_for_cycles();
  gmg_params q = usual;
  assert_false(is_one_weight(&cube, &q));
#define ARE_ONE(change) q = usual, (change), assert_true(is_one_weight(&cube, &q))
  ARE_ONE(q.over_correction = 1);
  ARE_ONE(q.omega = 1.25);
  ARE_ONE(q.cycle = GMG_CYCLE_W);
  ARE_ONE(q.pre = 2);
  ARE_ONE(q.fmg = 1);
  ARE_ONE(q.async.passes = 2);
  ARE_ONE(q.async.overlap = GMG_NONE);
#undef ARE_ONE
  weights w;
  q = usual, p.h[0] = 0.001; /* first one axis is coarsened, later all are */
  assert_false(is_one_weight(&p, &q));
  weights_of(&p, &q, w);
  weights of_cube;
  weights_of(&cube, &q, of_cube);
  assert_memory_not_equal(w, of_cube, sizeof w);
  /* A large shift leaves nothing to over-relax. */
  p = cube, p.shift = 1e9;
  weights_of(&p, &q, w);
  for (int i = 0; i < 4 * GMG_HALF_SWEEPS; i++) assert_true(fabs((&w[0][0][0])[i] - 1) < 0.01);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(steps_use_their_weights), cmocka_unit_test(weights_vary_with_over_correction)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
