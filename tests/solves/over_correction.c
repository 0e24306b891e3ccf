/* Over-correction: the correction of coarse grids is multiplied by the factor that is asked for, but not what the direct solver does
   on the coarsest of several. The factor that gmg chooses saves cycles, follows updates of the shift, and is 1 where none is known to
   help. */
#include "util.h"

#include <math.h>
#include <stdlib.h>

static const shape shapes[] = {{2, {40, 33, 1}, GMG_CELL, "dnnr"},   {2, {33, 48, 1}, GMG_VERTEX, "ppnr"}, {3, {24, 24, 24}, GMG_CELL, "dddddd"},
                               {3, {17, 20, 23}, GMG_VERTEX, "dnrdpp"}, {3, {32, 16, 31}, GMG_CELL, "nnnnnn"}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

/* One cycle from zero without post-smoothing is u = S f + c P e: it grows by the same amount from c = 1 to 1.25 and to 1.5. */
static void multiplies_the_correction(void **state)
{
  (void)state;
  static const gmg_coarse_kind coarse[] = {GMG_COARSE_DENSE, GMG_COARSE_TENSOR};
  static const char *const names[] = {"jacobi", "red_black", "async"};
  for (int i = 0; i < SHAPES; i++)
    for (int k = 0; k < 2; k++)
      for (int j = 0; j < 3; j++) {
        gmg_problem p = shaped_problem(&shapes[i]);
        p.shift = 10 * (i % 2) + 1;
        gmg_params q = params_for_cycles();
        q.smoother = gmg_smoother_by_name(names[j]), q.deterministic = 1, q.omega = 1, q.coarse = coarse[k], q.coarse_cells = 600;
        q.post = GMG_NONE, q.max_cycles = 1, q.check_every = GMG_NONE, q.precision = GMG_PRECISION_SAME;
        const size_t n = unknowns(&p);
        double *f = field(n, 1), *u[3], *by[2] = {malloc(n * sizeof(double)), malloc(n * sizeof(double))};
        for (int c = 0; c < 3; c++) {
          u[c] = field(n, 0);
          q.over_correction = 1 + 0.25 * c;
          session s = begin_solver(&p, &q, 2);
          (void)solve_in(&s, f, u[c], NULL);
          end_solver(&s);
        }
        for (size_t m = 0; m < n; m++) by[0][m] = u[1][m] - u[0][m], by[1][m] = u[2][m] - u[0][m] - 2 * by[0][m];
        const double grown = norm2(by[0], n), size = norm2(u[0], n);
        if (!(grown > 0.005 * size && norm2(by[1], n) < 1e-11 * size))
          fail_msg("%s, %s: %zu x %zu x %zu: %g of %g, off by %g", names[j], shapes[i].bc, p.n[0], p.n[1], p.n[2], grown, size, norm2(by[1], n));
        for (int c = 0; c < 3; c++) free(u[c]);
        free(f), free(by[0]), free(by[1]);
      }
}

/* By how much a cycle from zero changes with c = 1.25 instead of 1, relative to its result. f is smooth. */
static double growth(size_t coarse_cells, gmg_coarse_kind coarse, int levels)
{
  const gmg_problem p = make_problem(2, 64, 64, 1, GMG_CELL, "dddd");
  const size_t n = unknowns(&p);
  gmg_params q = params_for_cycles();
  q.smoother = gmg_smoother_by_name("red_black"), q.omega = 1, q.coarse = coarse, q.coarse_cells = coarse_cells;
  q.post = GMG_NONE, q.max_cycles = 1, q.check_every = GMG_NONE;
  double *f = field(n, 0), *u[2];
  for (size_t i = 0; i < n; i++) f[i] = 1;
  for (int c = 0; c < 2; c++) {
    gmg_report r;
    u[c] = field(n, 0);
    q.over_correction = 1 + 0.25 * c;
    session s = begin_solver(&p, &q, 1);
    (void)solve_in(&s, f, u[c], &r);
    assert_int_equal(r.levels, levels);
    end_solver(&s);
  }
  for (size_t i = 0; i < n; i++) u[1][i] -= u[0][i];
  const double by = norm2(u[1], n) / norm2(u[0], n);
  free(f), free(u[0]), free(u[1]);
  return by;
}

/* A smooth error is corrected by the coarsest grid. What the direct solver does there is not multiplied, unless it is the whole
   correction. */
static void leaves_direct_solutions(void **state)
{
  static const struct {
    gmg_coarse_kind coarse;
    double most;
  } with[] = {{GMG_COARSE_TENSOR, 0.02}, {GMG_COARSE_DENSE, 0.26}, {GMG_COARSE_CG, 0.26}};
  (void)state;
  for (int k = 0; k < 3; k++) {
    const double two = growth(32 * 32, with[k].coarse, 2), three = growth(16 * 16, with[k].coarse, 3);
    if (!(two > 0.2 && three < with[k].most && three > with[k].most - 0.06))
      fail_msg("coarse solver %d: %g with two levels, %g with three", (int)with[k].coarse, two, three);
  }
}

/* The factor depends on the shift. A solver with a new shift gives the bits of a new solver, and tells the same factor. */
static void follows_updates(void **state)
{
  (void)state;
  static const double shifts[] = {300, 5, 2000, 5};
  static const gmg_coarse_kind coarse[] = {GMG_COARSE_TENSOR, GMG_COARSE_CG};
  for (int i = 0; i < SHAPES; i++) {
    gmg_problem p = shaped_problem(&shapes[i]);
    gmg_params q = params_for_cycles();
    q.deterministic = 1, q.coarse = coarse[i % 2];
    const size_t n = unknowns(&p);
    double *f = field(n, 1), *u = field(n, 0);
    p.shift = 1e5;
    session s = begin_solver(&p, &q, 2);
    for (int k = 0; k < 4; k++) {
      p.shift = shifts[k];
      update_as_new(&s, &p, &q, f, u, NULL);
    }
    end_solver(&s);
    free(f), free(u);
  }
}

static double chosen(const gmg_problem *p, const gmg_params *q)
{
  gmg_plan_info *info = malloc(sizeof *info);
  session s = begin_solver(p, q, 1);
  assert_ok(s.context, plan_in(&s, p, q, info));
  const double c = info->over_correction;
  end_solver(&s);
  free(info);
  return c;
}

static void is_chosen_where_it_helps(void **state)
{
  (void)state;
  const gmg_problem cube = make_problem(3, 32, 32, 32, GMG_CELL, "dddddd"), line = make_problem(1, 500, 1, 1, GMG_CELL, "dd");
  gmg_problem p = cube;
  const gmg_params usual = params_for_cycles();
  gmg_params q = usual;
  assert_true(chosen(&p, &q) > 1);
  p.shift = 300;
  assert_true(chosen(&p, &q) < 1);
  q.over_correction = 1.125;
  assert_true(chosen(&p, &q) == 1.125);
  p = cube, p.h[0] = 0.001; /* one axis is coarsened */
  q = usual;
  assert_true(chosen(&p, &q) != 1 && chosen(&p, &q) != chosen(&cube, &q));
  assert_true(chosen(&line, &q) == 1);
#define IS_ONE(change) q = usual, (change), assert_true(chosen(&cube, &q) == 1)
  IS_ONE(q.omega = 1.25);
  IS_ONE(q.cycle = GMG_CYCLE_W);
  IS_ONE(q.pre = 2);
  IS_ONE(q.post = 2);
  IS_ONE(q.fmg = 1);
  IS_ONE(q.max_levels = 2);
  IS_ONE(q.async.local_sweeps = 3);
  IS_ONE(q.async.overlap = GMG_NONE);
  IS_ONE((q.symmetric = 1, q.smoother = gmg_smoother_by_name("red_black")));
#undef IS_ONE
}

/* Cycles to 1e-10, with the chosen factor and with 1. */
static void saves_cycles(void **state)
{
  (void)state;
  static const shape many[] = {{3, {32, 32, 32}, GMG_CELL, "dddddd"}, {3, {33, 33, 33}, GMG_CELL, "nnnnnn"}, {3, {31, 31, 31}, GMG_VERTEX, "dddddd"},
                               {3, {32, 32, 32}, GMG_VERTEX, "pppppp"}, {2, {128, 128, 1}, GMG_CELL, "dddd"}, {2, {127, 127, 1}, GMG_VERTEX, "dddd"},
                               {2, {128, 128, 1}, GMG_CELL, "nnpp"}, {3, {40, 36, 33}, GMG_CELL, "dnrdpp"},
                               {3, {16, 64, 12}, GMG_CELL, "dnppdd"}, {2, {200, 60, 1}, GMG_VERTEX, "dddn"}}; /* one axis is coarsened */
  static const double shifts[] = {1e-5, 0.03, 0.1, 0.3, 1}; /* times h^2 */
  static const char *const names[] = {"async", "red_black"};
  for (int j = 0; j < 2; j++) {
    int cycles[2] = {0, 0};
    for (size_t i = 0; i < sizeof many / sizeof *many; i++)
      for (int k = 0; k < 5; k++) {
        gmg_problem p = shaped_problem(&many[i]);
        p.shift = shifts[k] / (p.h[0] * p.h[0]);
        gmg_params q = params_for_cycles();
        q.smoother = gmg_smoother_by_name(names[j]), q.rtol = 1e-10, q.deterministic = 1;
        int now[2];
        for (int c = 0; c < 2; c++) {
          q.over_correction = c;
          now[c] = solve_random(many[i].bc, &p, &q, 1).cycles;
          cycles[c] += now[c];
        }
        if (now[0] > now[1] + 1) fail_msg("%s, %s, shift %g: %d cycles, and %d without", names[j], many[i].bc, p.shift, now[0], now[1]);
      }
    if (cycles[0] > 0.93 * cycles[1]) fail_msg("%s: %d cycles in all, and %d without", names[j], cycles[0], cycles[1]);
  }
}

int main(int argc, char **argv)
{
  if (for_device(argc, argv)) return SKIPPED;
  const struct CMUnitTest tests[] = {cmocka_unit_test(multiplies_the_correction), cmocka_unit_test(leaves_direct_solutions),
                                     cmocka_unit_test(follows_updates),
                                     cmocka_unit_test(is_chosen_where_it_helps), cmocka_unit_test(saves_cycles)};
  return run_selected(tests);
}
