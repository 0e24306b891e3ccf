/* Line relaxation: lines are solved exactly, iterations on media whose strong couplings change from place to place, and when gmg
   chooses it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "internals.h"
#include "media.h"
#include "sample.h"

/* Whether a sweep along the axis relaxes this line last, and no neighbour of it afterwards. At the seam of a periodic axis with an
   odd number of lines two lines of the last colour are neighbours. */
static int is_last(const gmg_operator *A, int axis, const size_t i[3])
{
  size_t colour = 0;
  for (int b = 0; b < 3; b++) {
    if (b == axis) continue;
    colour += i[b];
    if (A->wraps[b] && A->n[b] % 2 && (i[b] == 0 || i[b] + 1 == A->n[b])) return 0;
  }
  return colour % 2;
}

/* The largest residual on the lines that were relaxed last, over the largest of all before. */
static double residual_on_lines(const gmg_problem *p, int axis)
{
  const size_t n = unknowns(p);
  gmg_params q = params_for_cycles();
  double *f = field(n, 3), *u = field(n, 4), *r = field(n, 0), before = 0, after = 0;
  q.smoother = gmg_smoother_by_name("lines"), q.line_axes = 1 << axis, q.omega = 1, q.precision = GMG_PRECISION_SAME;
  q.coarse_cells = 1;
  session s = begin_solver(p, &q, 2);
  const gmg_multigrid *m = &s.solver->mg;
  if (s.solver->levels > 1) {
    gmg_level_residual(&s.solver->level[0].view, f, u, r);
    for (size_t c = 0; c < n; c++) before = fmax(before, fabs(r[c]));
    m->smoother[0]->sweep(&s.solver->level[0].view, m->state[0], f, u, 1, GMG_LEG_DOWN);
    gmg_level_residual(&s.solver->level[0].view, f, u, r);
    for (size_t c = 0; c < n; c++) {
      const size_t i[3] = {c % p->n[0], c / p->n[0] % p->n[1], c / (p->n[0] * p->n[1])};
      if (is_last(&s.solver->level[0].A, axis, i)) after = fmax(after, fabs(r[c]));
    }
  }
  end_solver(&s);
  free(f), free(u), free(r);
  return before > 0 ? after / before : 0;
}

/* For walls of every kind, both centrings, all axes, numbers of lines that fill bundles of lanes or not, and random coefficients. */
static void lines_are_solved(void **state)
{
  static const shape shapes[] = {{2, {5, 40, 1}, GMG_CELL, "dddd"},      {2, {67, 9, 1}, GMG_CELL, "ppnn"},
                                 {2, {8, 131, 1}, GMG_VERTEX, "nrpp"},   {2, {1, 6, 1}, GMG_CELL, "dddd"},
                                 {2, {2, 2, 1}, GMG_CELL, "pppp"},       {3, {3, 70, 5}, GMG_CELL, "dnppdr"},
                                 {3, {65, 4, 6}, GMG_VERTEX, "ppdnpp"},  {3, {129, 17, 3}, GMG_CELL, "ppppdd"},
                                 {3, {6, 1, 19}, GMG_CELL, "nnddpp"},    {3, {7, 33, 18}, GMG_VERTEX, "ddddrn"}};
  int checked = 0;
  (void)state;
  for (int i = 0; i < COUNT(shapes); i++)
    for (int axis = 0; axis < shapes[i].dim; axis++) {
      gmg_problem p = shaped_problem(&shapes[i]);
      p.shift = 0.1;
      assert_below(residual_on_lines(&p, axis), 1e-12);
      checked++;
    }
  for (uint64_t seed = 0; seed < 300; seed++) {
    sample s = make_sample(seed, 2000, 1);
    const int axis = (int)(seed % (uint64_t)s.p.dim);
    if (s.p.type == GMG_F64 && s.p.dim > 1) {
      assert_below(residual_on_lines(&s.p, axis), 1e-10);
      checked++;
    }
    free_sample(&s);
  }
  print_message("%d grids\n", checked);
  assert_true(checked > 100);
}

/* In 1D a line is the whole problem: a cycle solves it, with any coefficients. */
static void one_line_is_the_problem(void **state)
{
  (void)state;
  for (uint64_t seed = 0; seed < 400; seed++) {
    sample s = make_sample(seed, 300, 1);
    gmg_params q = params_for_cycles();
    gmg_report r;
    q.smoother = gmg_smoother_by_name("lines");
    if (s.p.dim == 1) {
      const size_t n = unknowns(&s.p);
      double *f = field(n, seed), *u = field(n, 0);
      for (size_t c = 0; c < n && s.p.type == GMG_F32; c++) ((float *)f)[c] = (float)uniform(&seed), ((float *)u)[c] = 0;
      session t = begin_solver(&s.p, &q, 1);
      const gmg_status status = solve_in(&t, f, u, &r);
      if (status != GMG_OK && status != GMG_STAGNATED) fail_msg("seed %d: %s", (int)seed, gmg_context_error(t.context));
      assert_below(r.cycles, 3);
      end_solver(&t);
      free(f), free(u);
    }
    free_sample(&s);
  }
}

/* A single line in 2D and 3D, with walls beside it: the coarse solver takes it with coefficients of any kind. */
static void a_line_with_walls_beside_it(void **state)
{
  static const shape lines[] = {{2, {30, 1, 1}, GMG_CELL, "dndr"},  {2, {1, 30, 1}, GMG_CELL, "drpp"},    {3, {30, 1, 1}, GMG_CELL, "dndrrd"},
                                {3, {1, 30, 1}, GMG_CELL, "drnndd"}, {3, {1, 1, 30}, GMG_VERTEX, "dddddn"}, {3, {1, 1, 2000}, GMG_CELL, "drrdpp"}};
  (void)state;
  for (int i = 0; i < COUNT(lines); i++)
    for (int kind = 1; kind < 8; kind++) {
      gmg_problem p = shaped_problem(&lines[i]);
      gmg_params q = params_for_cycles();
      const size_t n = unknowns(&p);
      double *f = field(n, 1), *u = field(n, 0), *beta[3] = {field(3 * n + 1, 2), field(3 * n + 1, 3), field(3 * n + 1, 4)};
      double *sigma = field(n, 5);
      gmg_report r;
      for (size_t c = 0; c < 3 * n + 1; c++)
        for (int a = 0; a < 3; a++) beta[a][c] += 0.6;
      for (size_t c = 0; c < n; c++) sigma[c] += 0.5;
      for (int a = 0; a < 3; a++) p.h[a] = 0.3 + 0.1 * a;
      if (kind & 1) p.sigma = sigma;
      if ((kind & 6) == 2) p.beta = beta[0];
      for (int a = 0; a < p.dim && (kind & 6) == 4; a++) p.beta_face[a] = beta[a];
      q.smoother = gmg_smoother_by_name("lines"), q.precision = GMG_PRECISION_SAME, q.accel = GMG_ACCEL_NONE, q.rtol = 1e-10;
      q.line_axes = lines[i].n[0] > 1 ? 1 : lines[i].n[1] > 1 ? 2 : 4;
      session s = begin_solver(&p, &q, 1);
      assert_ok(s.context, solve_in(&s, f, u, &r));
      assert_below(r.cycles, 2);
      end_solver(&s);
      free(f), free(u), free(sigma), free(beta[0]), free(beta[1]), free(beta[2]);
    }
}

static gmg_report solved(const medium *m, const char *name, const gmg_smoother **chosen)
{
  gmg_params q = params_for_cycles();
  const size_t n = unknowns(&m->p);
  double *f = field(n, 1), *u = field(n, 0);
  gmg_plan_info *plan = malloc(sizeof *plan);
  gmg_report r;
  session s = begin_solver(&m->p, &q, 2);
  const gmg_status status = solve_in(&s, f, u, &r);
  if (status != GMG_OK) fail_msg("%s: %s", name, gmg_context_error(s.context));
  assert_ok(s.context, gmg_plan(s.context, &m->p, &q, plan));
  *chosen = plan->smoother;
  end_solver(&s);
  free(plan), free(f), free(u);
  return r;
}

/* Iterations to 1e-8 with default parameters. The bounds in 2D are those of the largest grids, too. */
static void media_whose_strong_axis_changes(void **state)
{
  static const struct {
    const char *name;
    medium_maker *make;
    int dim;
    size_t n;
    double strength;
    int most;
  } media[] = {{"two axes stretched", stretched, 2, 700, 10, 7},    {"two axes stretched", stretched, 2, 611, 30, 7},
               {"two axes stretched", stretched, 2, 640, 1000, 7},  {"channel", channel, 2, 700, 30, 8},
               {"channel", channel, 2, 601, 1000, 8},               {"halves", halves, 2, 256, 100, 11},
               {"halves", halves, 2, 256, 1000, 13},                {"stripes", stripes, 2, 251, 1000, 33},
               {"stripes", stripes, 2, 512, 1000, 19},              {"squares", squares, 2, 256, 1000, 23},
               {"turning", turning, 2, 256, 1e4, 9},                {"turning", turning, 2, 509, 1e4, 9},
               {"halves", halves, 3, 64, 1000, 9},                  {"halves", halves, 3, 47, 1000, 10},
               {"squares", squares, 3, 64, 1000, 10}};
  (void)state;
  for (int i = 0; i < COUNT(media) && (!SANITIZED || media[i].n < 257); i++)
    for (int centering = GMG_CELL; centering <= GMG_VERTEX; centering++) {
      const gmg_smoother *chosen;
      medium m = media[i].make(media[i].dim, media[i].n, media[i].strength, (gmg_centering)centering);
      const gmg_report r = solved(&m, media[i].name, &chosen);
      print_message("%s %g, %zu^%d, %s: %d\n", media[i].name, media[i].strength, media[i].n, media[i].dim,
                    centering == GMG_CELL ? "cells" : "vertices", r.cycles);
      assert_true(chosen == gmg_smoother_by_name("lines"));
      assert_below(r.cycles, media[i].most + 2 * centering);
      free_medium(&m);
    }
}

/* One stretched axis of three, with and without a ball of beta: the factor is that of the other two axes, for any stretch. */
static void one_stretched_axis(void **state)
{
  static const double stretches[] = {30, 1000};
  (void)state;
  for (int i = 0; i < 2; i++)
    for (int jump = 0; jump < 2; jump++) {
      gmg_params q = params_for_cycles();
      medium m = channel(3, 64, stretches[i], GMG_CELL), b = ball(3, 64, 1e4, GMG_CELL);
      if (jump) m.p.beta = b.beta;
      q.smoother = gmg_smoother_by_name("lines"), q.accel = GMG_ACCEL_NONE;
      const double factor = measured_factor(&m.p, &q, 2, 10);
      print_message("channel %g : 1, beta %s: factor %.3f\n", stretches[i], jump ? "1e4 in a ball" : "1", factor);
      assert_below(factor, jump ? 0.35 : 0.15);
      free_medium(&m), free_medium(&b);
    }
}

/* Factors without acceleration for several weights. The weight that gmg chooses is nearly the best of them. */
static void weights_are_near_their_best(void **state)
{
  static const double weights[] = {1, 1.1, 1.15, 1.2, 1.3};
  static const struct {
    medium_maker *make;
    int dim, steps;
    size_t n;
    const char *what;
  } cases[] = {{channel, 3, 1, 64, "channel, 64^3"}, {channel, 3, 2, 64, "channel, 64^3, V(2,2)"}, {channel, 2, 1, 256, "channel, 256^2"},
               {stretched, 2, 1, 256, "both axes, 256^2"}};
  (void)state;
  for (int i = 0; i < COUNT(cases) && !SANITIZED; i++) {
    medium m = cases[i].make(cases[i].dim, cases[i].n, 30, GMG_CELL);
    gmg_params q = params_for_cycles();
    double least = 1;
    q.smoother = gmg_smoother_by_name("lines"), q.accel = GMG_ACCEL_NONE, q.pre = q.post = cases[i].steps;
    const double chosen = measured_factor(&m.p, &q, 2, 10);
    print_message("30 : 1, %s: chosen %.3f", cases[i].what, chosen);
    for (int w = 0; w < COUNT(weights); w++) {
      q.omega = weights[w];
      const double factor = measured_factor(&m.p, &q, 2, 10);
      least = fmin(least, factor);
      print_message(", %g %.3f", weights[w], factor);
    }
    print_message("\n");
    assert_below(chosen, least + 0.03);
    free_medium(&m);
  }
}

/* Not for isotropic media, mild stretching, jumps, or where gmg cannot know. An explicit smoother is kept. */
static void async_is_kept(void **state)
{
  static const struct {
    medium_maker *make;
    int dim;
    double strength;
  } media[] = {{ball, 2, 1e4}, {ball, 3, 1e4}, {checkerboard, 2, 1e3}, {stretched, 2, 5}, {stretched, 3, 1000}, {channel, 3, 5},
               {halves, 2, 10}, {halves, 3, 30}, {wavy, 3, 0.5}, {absorbing, 2, 1e4}};
  gmg_plan_info *plan = malloc(sizeof *plan);
  gmg_context *c;
  (void)state;
  assert_int_equal(gmg_context_create_host(1, &c), GMG_OK);
  for (int i = 0; i < COUNT(media); i++) {
    medium m = media[i].make(media[i].dim, 30, media[i].strength, GMG_CELL);
    const gmg_params q = params_for_cycles();
    assert_ok(c, gmg_plan(c, &m.p, &q, plan));
    if (plan->smoother != gmg_smoother_by_name("async")) fail_msg("medium %d gets %s", i, plan->smoother->name);
    free_medium(&m);
  }
  medium m = stripes(2, 64, 1000, GMG_CELL);
  gmg_params q = params_for_cycles();
  assert_ok(c, gmg_plan(c, &m.p, &q, plan));
  assert_true(plan->smoother == gmg_smoother_by_name("lines") && plan->line_axes == 3);
  q.smoother = gmg_smoother_by_name("async");
  assert_ok(c, gmg_plan(c, &m.p, &q, plan));
  assert_true(plan->smoother == gmg_smoother_by_name("async") && plan->line_axes == 0);
  q.smoother = NULL, q.async.overlap = 2;
  assert_ok(c, gmg_plan(c, &m.p, &q, plan));
  assert_true(plan->smoother == gmg_smoother_by_name("async") && plan->overlap == 2);
  const gmg_params zeros = {.direct = GMG_DIRECT_NEVER};
  assert_ok(c, gmg_plan(c, &m.p, &zeros, plan));
  assert_true(plan->smoother == gmg_smoother_by_name("lines"));
  free_medium(&m);
  gmg_context_destroy(c);
  free(plan);
}

int main(int argc, char **argv)
{
  only(argc, argv);
  const struct CMUnitTest tests[] = {cmocka_unit_test(lines_are_solved), cmocka_unit_test(one_line_is_the_problem), cmocka_unit_test(a_line_with_walls_beside_it),
                                     cmocka_unit_test(media_whose_strong_axis_changes), cmocka_unit_test(one_stretched_axis),
                                     cmocka_unit_test(weights_are_near_their_best), cmocka_unit_test(async_is_kept)};
  return run_selected(tests);
}
