/* Black box coarsening: iterations in media that no coarse grid represents, variable
   stencils of any size, symmetric cycles, updates, what is refused, and what gmg chooses. With the argument "cuda" on a device. */
#include "boxes.h"
#include "media.h"
#include "sample.h"
#include "varying.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static gmg_params black_box(void)
{
  gmg_params q = params_for_cycles();
  q.coarsening = GMG_COARSENING_BLACK_BOX;
  return q;
}

/* Iterations to 1e-8. On vertices and on a device a few more are allowed. */
static void media(void **state)
{
  static const struct {
    const char *name;
    int dim;
    size_t n;
    double strength;
    int most;
  } rows[] = {{"board_37", 2, 512, 10, 6},     {"board_37", 2, 512, 1e3, 8},    {"board_37", 2, 509, 1e6, 9},  {"board_8", 2, 255, 1e3, 12},
              {"board_3", 2, 256, 1e3, 23},    {"single", 2, 256, 1e4, 28},     {"single", 2, 256, 1e-4, 10},  {"discs", 2, 257, 1e4, 8},
              {"discs", 2, 256, 1e-4, 8},      {"zigzag_20", 2, 512, 1e4, 9},   {"net_17", 2, 256, 1e4, 9},    {"net_37", 2, 301, 1e4, 8},
              {"diagonal", 2, 256, 1e4, 14},   {"winding_2", 2, 512, 1e4, 12},  {"winding_1", 2, 256, 1e4, 11}, {"lognormal", 2, 512, 1, 7},
              {"lognormal", 2, 511, 2, 13},    {"lognormal", 2, 512, 3, 23},    {"ball", 2, 256, 1e4, 7},      {"ball", 2, 257, 1e-6, 7},
              {"sigma_ball", 2, 256, 1e8, 7},  {"sigma_blocks", 2, 255, 1e8, 7}, {"sigma_random", 2, 256, 1e8, 6}, {"waves", 2, 256, 0.9, 6},
              {"board_37", 3, 64, 1e6, 7},     {"board_8", 3, 63, 1e3, 12},      {"board_3", 3, 48, 1e3, 22},   {"discs", 3, 48, 1e4, 13},
              {"lognormal", 3, 64, 2, 13},     {"lognormal", 3, 47, 3, 22},     {"ball", 3, 65, 1e4, 7},       {"zigzag_20", 3, 64, 1e4, 8}};
  (void)state;
  for (int i = 0; i < COUNT(rows); i++)
    for (int centering = GMG_CELL; centering <= GMG_VERTEX; centering++) {
      medium m;
      char name[60];
      const gmg_params q = black_box();
      snprintf(name, sizeof name, "%s %g, %zu^%d, %s", rows[i].name, rows[i].strength, rows[i].n, rows[i].dim,
               centering == GMG_CELL ? "cells" : "vertices");
      if (SANITIZED && (rows[i].n > 257 || rows[i].dim > 2)) continue;
      assert_true(medium_make(medium_kind_of(rows[i].name), rows[i].dim, rows[i].n, rows[i].strength, (gmg_centering)centering, &m));
      if (taken(unknowns(&m.p))) {
        const gmg_report r = solve_random(name, &m.p, &q, 1);
        print_message("%s: %d\n", name, r.cycles);
        assert_below(r.cycles, rows[i].most + 2 * (centering + on_device));
      }
      medium_free(&m);
    }
}

/* Iterations with what gmg chooses on the host: lines, where the strong direction changes or islands are small. */
static void lines(void **state)
{
  static const struct {
    const char *name;
    size_t n;
    double strength;
    int most;
  } rows[] = {{"stripes", 512, 1e3, 7}, {"stripes", 251, 1e3, 13}, {"squares", 512, 1e3, 7}, {"squares", 255, 100, 7}, {"halves", 257, 1e3, 8},
              {"turning", 512, 1e4, 6}, {"board_3", 512, 1e6, 8}, {"board_3", 509, 1e3, 8}, {"single", 511, 1e4, 14}, {"layers", 511, 0.01, 3},
              {"layers", 300, 0.3, 5},  {"layers", 256, 1, 6}};
  (void)state;
  for (int i = 0; i < COUNT(rows) && !on_device; i++) {
    medium m;
    const gmg_params q = gmg_params_default();
    if (SANITIZED && rows[i].n > 257) continue;
    assert_true(medium_make(medium_kind_of(rows[i].name), 2, rows[i].n, rows[i].strength, GMG_CELL, &m));
    const gmg_report r = solve_random(rows[i].name, &m.p, &q, 1);
    print_message("%s %g, %zu^2: %d\n", rows[i].name, rows[i].strength, rows[i].n, r.cycles);
    assert_below(r.cycles, rows[i].most);
    medium_free(&m);
  }
}

/* Variable stencils on axes with an odd number of intervals, which cannot be coarsened with fixed transfers. */
static void stencils_of_any_size(void **state)
{
  static const struct {
    shape shape;
    coefficient *beta;
    int most;
  } rows[] = {{{2, {100, 98, 1}, GMG_VERTEX, "dddd"}, beta_smooth, 8},  {{2, {257, 131, 1}, GMG_VERTEX, "ndpp"}, beta_smooth, 9},
              {{2, {99, 102, 1}, GMG_VERTEX, "nnnn"}, beta_uneven, 25}, {{3, {20, 31, 26}, GMG_VERTEX, "dddddd"}, beta_smooth, 8},
              {{3, {21, 24, 27}, GMG_VERTEX, "ppnndd"}, beta_rough, 30}};
  (void)state;
  for (int i = 0; i < COUNT(rows); i++)
    for (int type = 0; type < 2; type++) {
      gmg_problem p = shaped_problem(&rows[i].shape);
      gmg_params q = black_box();
      p.type = (gmg_type)type;
      if (!taken(unknowns(&p)) || (type == GMG_F32 && rows[i].beta == beta_rough)) continue;
      for (int a = 0; a < p.dim; a++) p.h[a] = 0.01;
      varying box = varying_q1(&p, rows[i].beta, 0);
      p.stencil = &box.stencil, q.accel = GMG_ACCEL_FLEXIBLE_CG;
      const size_t n = unknowns(&p);
      double *values = field(n, 1), *zeros = field(n, 0);
      void *f = typed(&p, values, n), *u = typed(&p, zeros, n);
      gmg_report r;
      session s = begin_solver(&p, &q, 2);
      const gmg_status status = solve_in(&s, f, u, &r);
      if (status != GMG_STAGNATED) assert_ok(s.context, status);
      print_message("%s, type %d: %d cycles\n", rows[i].shape.bc, type, r.cycles);
      assert_below(r.cycles, rows[i].most);
      end_solver(&s);
      free(values), free(zeros), free(f), free(u);
      free_varying(&box);
    }
}

/* Plain conjugate gradients need a symmetric preconditioner. They take as many iterations as flexible ones, but for one or two. */
static void symmetric_cycles(void **state)
{
  (void)state;
  for (int dim = 2; dim <= 3; dim++)
    for (int i = 0; i < 2; i++) {
      medium m;
      gmg_params q = black_box();
      q.smoother = gmg_smoother_by_name("gauss_seidel"), q.deterministic = 1, q.cycle = GMG_CYCLE_V;
      assert_true(medium_make(medium_kind_of("board_8"), dim, dim == 2 ? 101 : 21, 1e3, (gmg_centering)i, &m));
      if (!taken(unknowns(&m.p))) {
        medium_free(&m);
        continue;
      }
      q.accel = GMG_ACCEL_FLEXIBLE_CG;
      const int flexible = solve_random("flexible", &m.p, &q, 1).cycles;
      q.accel = GMG_ACCEL_CG;
      const int plain = solve_random("plain", &m.p, &q, 1).cycles;
      print_message("%dD: %d iterations, flexible %d\n", dim, plain, flexible);
      assert_below(plain, flexible + 4);
      medium_free(&m);
    }
}

static void update_with(const char *smoother)
{
  medium m, other;
  gmg_params q = black_box();
  q.deterministic = 1, q.precision = GMG_PRECISION_SAME, q.smoother = gmg_smoother_by_name(smoother);
  assert_true(medium_make(medium_kind_of("single"), 2, 90, 1e3, GMG_CELL, &m));
  assert_true(medium_make(medium_kind_of("lognormal"), 2, 90, 2, GMG_CELL, &other));
  const size_t n = unknowns(&m.p);
  double *f = field(n, 1), *u = field(n, 0), *v = field(n, 0);
  gmg_report r[2];
  session s = begin_solver(&m.p, &q, 1);
  assert_ok(s.context, update_in(&s, &other.p));
  assert_ok(s.context, solve_in(&s, f, u, &r[0]));
  end_solver(&s);
  s = begin_solver(&other.p, &q, 1);
  assert_ok(s.context, solve_in(&s, f, v, &r[1]));
  end_solver(&s);
  assert_int_equal(r[0].cycles, r[1].cycles);
  assert_memory_equal(u, v, n * sizeof *u);
  free(f), free(u), free(v);
  medium_free(&m), medium_free(&other);
}

/* After an update the solver computes what a new one would. */
static void updates(void **state)
{
  (void)state;
  update_with("async");
  if (!on_device) update_with("lines");
}

static void refused(gmg_problem p, gmg_params q, const char *text)
{
  gmg_context *c;
  gmg_solver *solver;
  assert_int_equal(gmg_context_create_host(1, &c), GMG_OK);
  q.coarsening = GMG_COARSENING_BLACK_BOX;
  assert_true(gmg_solver_create(c, &p, &q, &solver) >= GMG_ERR_ARGUMENT);
  if (!strstr(gmg_context_error(c), text)) fail_msg("\"%s\" does not contain \"%s\"", gmg_context_error(c), text);
  assert_null(solver);
  gmg_context_destroy(c);
}

static void refusals(void **state)
{
  (void)state;
  gmg_problem p = make_problem(2, 40, 40, 1, GMG_VERTEX, "dddd"), with_stencil = p;
  gmg_params q = params_for_cycles();
  gmg_stencil box = gmg_stencil_q1(2, p.h, 0);
  with_stencil.stencil = &box;
  refused(with_stencil, q, "problem.stencil has constant entries");
  q.fmg = 2;
  refused(p, q, "params.fmg = 2: must be GMG_NONE with params.coarsening = GMG_COARSENING_BLACK_BOX");
  q.fmg = 0, q.restriction = GMG_RESTRICT_AVERAGE;
  refused(p, q, "params.restriction = GMG_RESTRICT_AVERAGE");
  q.restriction = GMG_RESTRICT_AUTO, q.coarse = GMG_COARSE_TENSOR;
  refused(p, q, "params.coarse = GMG_COARSE_TENSOR");
  q.coarse = GMG_COARSE_AUTO, q.smoother = gmg_smoother_by_name("red_black");
  refused(p, q, "params.smoother = \"red_black\"");
}

/* A ball on long cells. Corrections in float would have an indefinite coarse matrix. */
static void long_cells(void **state)
{
  static const double lengths[] = {2, 30, 100};
  (void)state;
  if (!taken(1024 * 1024) || SANITIZED) return;
  medium m;
  assert_true(medium_make(medium_kind_of("ball"), 2, 1024, 1e4, GMG_CELL, &m));
  for (int i = 0; i < COUNT(lengths); i++) {
    gmg_params q = black_box();
    m.p.h[1] = m.p.h[0] * lengths[i];
    if (!on_device) q.smoother = gmg_smoother_by_name("lines");
    const gmg_report r = solve_random("ball on long cells", &m.p, &q, 1);
    print_message("1 : %g: %d\n", lengths[i], r.cycles);
    assert_below(r.cycles, 8);
  }
  medium_free(&m);
}

/* What gmg chooses by itself, and what keeps it from choosing. */
static void choices(void **state)
{
  static const struct {
    const char *name;
    int dim;
    size_t n;
    double strength;
    int black_box;
    int lines; /* whether the smoother is "lines"; 2: on the host only */
  } rows[] = {{"ball", 2, 256, 1e4, 0, 0},      {"ball", 3, 48, 1e4, 0, 0},    {"board_37", 2, 512, 1e3, 1, 0}, {"board_37", 2, 512, 10, 0, 0},
              {"discs", 2, 256, 1e4, 1, 0},     {"single", 2, 128, 1e4, 1, 1}, {"single", 2, 128, 1e-4, 1, 0},  {"board_3", 2, 128, 1e6, 1, 2},
              {"lognormal", 2, 256, 1, 0, 0},   {"lognormal", 2, 256, 3, 1, 0}, {"winding_1", 2, 256, 1e4, 1, 0}, {"board_3", 3, 48, 1e3, 1, 0},
              {"discs", 3, 64, 1e4, 1, 0},      {"board_37", 3, 96, 1e3, 1, 0}, {"stripes", 2, 128, 1e3, 1, 1},  {"squares", 2, 128, 1e3, 1, 1},
              {"layers", 2, 128, 0.3, 1, 2},    {"layers", 3, 32, 0.3, 0, 0},
              {"waves", 2, 128, 0.9, 0, 0},     {"sigma_ball", 2, 128, 1e8, 1, 0}};
  (void)state;
  gmg_plan_info *plan = malloc(sizeof *plan);
  for (int i = 0; i < COUNT(rows); i++) {
    medium m;
    gmg_params q = gmg_params_default();
    assert_true(medium_make(medium_kind_of(rows[i].name), rows[i].dim, rows[i].n, rows[i].strength, GMG_CELL, &m));
    session s = begin_solver(&m.p, &q, 1);
    assert_ok(s.context, plan_in(&s, &m.p, &q, plan));
    print_message("%s %g, %dD: %s\n", rows[i].name, rows[i].strength, rows[i].dim, plan->coarsening == GMG_COARSENING_BLACK_BOX ? "black box" : "discretized");
    const int expected = rows[i].black_box, lines = rows[i].lines == 1 || (rows[i].lines == 2 && !on_device);
    assert_int_equal(plan->coarsening, expected ? GMG_COARSENING_BLACK_BOX : GMG_COARSENING_DISCRETIZE);
    if (expected) assert_int_equal(plan->smoother == gmg_smoother_by_name("lines"), lines);
    if (expected) {
      gmg_params others[] = {q, q, q, q};
      others[0].fmg = 1, others[1].smoother = gmg_smoother_by_name("red_black"), others[2].restriction = GMG_RESTRICT_AVERAGE;
      others[3].coarsening = GMG_COARSENING_DISCRETIZE;
      for (int k = 0; k < 4; k++) {
        assert_ok(s.context, plan_in(&s, &m.p, &others[k], plan));
        assert_int_equal(plan->coarsening, GMG_COARSENING_DISCRETIZE);
      }
    }
    end_solver(&s);
    medium_free(&m);
  }
  free(plan);
}

/* The text after a slow solve says what may help. After a solve that needs more cycles only it does not. */
static void advice(void **state)
{
  (void)state;
  static const struct {
    const char *name;
    double strength;
    int cycles, expected;
  } rows[] = {{"single", 1e4, 30, 1}, {"ball", 100, 3, 0}};
  for (int i = 0; i < COUNT(rows); i++) {
    medium m;
    gmg_params q = params_for_cycles();
    gmg_report r;
    assert_true(medium_make(medium_kind_of(rows[i].name), 2, 100, rows[i].strength, GMG_CELL, &m));
    const size_t n = unknowns(&m.p);
    double *f = field(n, 1), *u = field(n, 0);
    q.max_cycles = rows[i].cycles;
    session s = begin_solver(&m.p, &q, 1);
    assert_int_equal(solve_in(&s, f, u, &r), GMG_NOT_CONVERGED);
    assert_int_equal(strstr(gmg_context_error(s.context), "params.coarsening = GMG_COARSENING_BLACK_BOX") != NULL, rows[i].expected);
    end_solver(&s);
    free(f), free(u);
    medium_free(&m);
  }
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(media), cmocka_unit_test(lines), cmocka_unit_test(stencils_of_any_size),
                                     cmocka_unit_test(symmetric_cycles), cmocka_unit_test(updates), cmocka_unit_test(long_cells),
                                     cmocka_unit_test(refusals), cmocka_unit_test(choices), cmocka_unit_test(advice)};
  const int skipped = for_device(argc, argv);
  return skipped ? skipped : run_selected(tests);
}
