/* Black box coarsening on every level: coarse operators are Galerkin products, restriction is the adjoint of prolongation, constants
   stay constants where rows add up to 0, and the result does not depend on the number of threads. */
#include "media.h"
#include "varying.h"

#include "internals.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  const char *medium;
  double strength;
  shape shape;
} row;

static const row rows[] = {{"lognormal", 2, {2, {63, 40, 1}, GMG_CELL, "dddd"}},   {"lognormal", 1, {2, {300, 7, 1}, GMG_CELL, "nnnn"}},
                           {"single", 1e3, {2, {33, 64, 1}, GMG_VERTEX, "nndr"}},  {"board_3", 100, {2, {45, 44, 1}, GMG_CELL, "pppp"}},
                           {"lognormal", 2, {3, {9, 12, 15}, GMG_CELL, "dddddd"}}, {"lognormal", 2, {3, {13, 8, 11}, GMG_VERTEX, "nnnnnn"}},
                           {"single", 100, {3, {7, 9, 10}, GMG_CELL, "pppppp"}},   {"board_3", 100, {3, {3, 2, 40}, GMG_CELL, "ppppnn"}},
                           {"lognormal", 1, {1, {77, 1, 1}, GMG_CELL, "dd"}},      {"lognormal", 1, {2, {4, 5, 1}, GMG_VERTEX, "ppdd"}},
                           {"lognormal", 1, {2, {270, 3, 1}, GMG_CELL, "pprn"}},   {"lognormal", 2, {2, {3, 600, 1}, GMG_CELL, "nnpp"}}};

/* A problem whose beta comes from the gallery: its cells in order. */
static gmg_problem problem_of(const row *r, int stretch, double **beta, double *coord)
{
  gmg_problem p = shaped_problem(&r->shape);
  medium m;
  const size_t n = unknowns(&p), side = 8 + (size_t)ceil(pow((double)n, 0.5));
  assert_true(medium_make(medium_kind_of(r->medium), 2, side, r->strength, GMG_CELL, &m));
  *beta = malloc(n * sizeof **beta);
  memcpy(*beta, m.beta, n * sizeof **beta);
  medium_free(&m);
  p.beta = *beta;
  for (size_t i = 0; i < p.n[0] + 2 && stretch; i++) coord[i] = (double)i + 0.3 * sin((double)i);
  if (stretch) p.coord[0] = coord;
  return p;
}

static double inner(const gmg_exec *e, const gmg_operator *A, const double *x, const double *y)
{
  return gmg_grid_ops_of(e)->dot(e, A, x, y).re;
}

static void check_level(const char *name, const gmg_solver *s, int l)
{
  const gmg_level *L = &s->level[l], *C = &s->level[l + 1];
  const gmg_exec *e = s->levels_exec;
  const gmg_black_box_ops *ops = gmg_black_box_ops_of(e);
  const size_t n = L->A.cells, m = C->A.cells;
  double *x = field(m, 5), *y = field(n, 6), *Px = field(n, 0), *APx = field(n, 0), *RAPx = field(m, 0), *Cx = field(m, 0), *Ry = field(m, 0);
  ops->prolong(e, &L->A, &C->A, &L->black_box, x, Px);
  gmg_operator_of(e, &L->A)->apply(e, &L->A, Px, APx);
  ops->restrict_(e, &L->A, &C->A, &L->black_box, APx, RAPx);
  gmg_operator_of(e, &C->A)->apply(e, &C->A, x, Cx);
  ops->restrict_(e, &L->A, &C->A, &L->black_box, y, Ry);
  const double terms = gmg_operator_of(e, &L->A)->magnitude(e, &L->A, Px);
  double difference = 0;
  for (size_t i = 0; i < m; i++) difference = fmax(difference, fabs(RAPx[i] - Cx[i]));
  if (!(difference <= 1e-13 * terms)) fail_msg("%s, level %d: product differs by %g, its terms are %g", name, l, difference, terms);
  const double fine = inner(e, &L->A, Px, y), coarse = inner(e, &C->A, x, Ry);
  const double size = sqrt(inner(e, &L->A, Px, Px) * inner(e, &L->A, y, y));
  if (!(fabs(fine - coarse) <= 1e-13 * size)) fail_msg("%s, level %d: <P x, y> = %g, <x, R y> = %g", name, l, fine, coarse);
  for (size_t i = 0; i < m; i++) x[i] = 1;
  memset(Px, 0, n * sizeof *Px);
  ops->prolong(e, &L->A, &C->A, &L->black_box, x, Px);
  for (size_t i = 0; i < n && s->singular; i++)
    if (!(fabs(Px[i] - 1) < 1e-7)) fail_msg("%s, level %d: 1 becomes %.17g", name, l, Px[i]);
  free(x), free(y), free(Px), free(APx), free(RAPx), free(Cx), free(Ry);
}

static gmg_solver *begin(gmg_context **c, const gmg_problem *p, int threads)
{
  gmg_params q = params_for_cycles();
  gmg_solver *s;
  q.coarsening = GMG_COARSENING_BLACK_BOX, q.precision = GMG_PRECISION_SAME, q.coarse_cells = 1, q.coarsen_threshold = 0.2;
  assert_int_equal(gmg_context_create_host(threads, c), GMG_OK);
  const gmg_status status = gmg_solver_create(*c, p, &q, &s);
  assert_ok(*c, status);
  return s;
}

static void transfers_and_products(void **state)
{
  (void)state;
  int levels = 0;
  for (int i = 0; i < COUNT(rows); i++)
    for (int kind = 0; kind < 3; kind++) {
      gmg_context *c;
      double *beta, coord[700];
      char name[60];
      gmg_problem p = problem_of(&rows[i], kind == 1, &beta, coord);
      snprintf(name, sizeof name, "row %d, kind %d", i, kind);
      if (kind == 2) p.beta = NULL, p.sigma = beta;
      gmg_solver *s = begin(&c, &p, 1);
      for (int l = 0; l + 1 < s->levels; l++) check_level(name, s, l), levels++;
      gmg_solver_destroy(s);
      gmg_context_destroy(c);
      free(beta);
    }
  print_message("%d levels\n", levels);
  assert_true(levels > 100);
}

/* Products of a variable stencil that is not symmetric: restriction is still the adjoint of prolongation. */
static void stencils(void **state)
{
  (void)state;
  static const shape shapes[] = {{2, {50, 51, 1}, GMG_VERTEX, "dddd"}, {3, {9, 12, 10}, GMG_VERTEX, "ppnndd"}, {2, {64, 31, 1}, GMG_CELL, "pppp"}};
  for (int i = 0; i < COUNT(shapes); i++) {
    gmg_context *c;
    gmg_problem p = shaped_problem(&shapes[i]);
    for (int a = 0; a < p.dim; a++) p.h[a] = 0.1;
    varying box = p.centering == GMG_CELL ? varying_cells(&p, beta_uneven, 0, 0.1) : varying_q1(&p, beta_uneven, 0);
    p.stencil = &box.stencil;
    gmg_solver *s = begin(&c, &p, 1);
    assert_true(s->levels > 2);
    for (int l = 0; l + 1 < s->levels; l++) check_level("stencil", s, l);
    gmg_solver_destroy(s);
    gmg_context_destroy(c);
    free_varying(&box);
  }
}

static void threads_agree(void **state)
{
  (void)state;
  const row r = {"lognormal", 2, {3, {40, 30, 35}, GMG_CELL, "ddnnpp"}};
  gmg_context *c[2];
  gmg_solver *s[2];
  double *beta, coord[700];
  const gmg_problem p = problem_of(&r, 0, &beta, coord);
  for (int i = 0; i < 2; i++) s[i] = begin(&c[i], &p, 1 + 3 * i);
  for (int l = 1; l < s[0]->levels; l++)
    for (int e = 0; e < 27; e++)
      assert_memory_equal(s[0]->level[l].A.box->array[e], s[1]->level[l].A.box->array[e], s[0]->level[l].A.cells * sizeof(double));
  for (int i = 0; i < 2; i++) gmg_solver_destroy(s[i]), gmg_context_destroy(c[i]);
  free(beta);
}

/* F cycles finish a solve whose V cycles are slow, if gmg chose so (slow_cycle), as on large grids of a device. The next solve begins
   with V cycles again. */
static void slow_solves_get_other_cycles(void **state)
{
  (void)state;
  int cycles[2];
  medium m;
  if (SANITIZED) return;
  assert_true(medium_make(medium_kind_of("zigzag_3"), 2, 512, 1e4, GMG_CELL, &m));
  const size_t n = unknowns(&m.p);
  double *f = field(n, 1), *u = field(n, 0);
  gmg_params q = gmg_params_default();
  q.smoother = gmg_smoother_by_name("async"), q.coarsening = GMG_COARSENING_BLACK_BOX, q.cycle = GMG_CYCLE_V, q.max_cycles = 300;
  for (int changes = 0; changes < 2; changes++) {
    gmg_context *c;
    gmg_solver *s;
    gmg_report r;
    assert_int_equal(gmg_context_create_host(2, &c), GMG_OK);
    assert_ok(c, gmg_solver_create(c, &m.p, &q, &s));
    assert_int_equal(s->slow_cycle, GMG_CYCLE_V);
    if (changes) s->slow_cycle = GMG_CYCLE_F;
    memset(u, 0, n * sizeof *u);
    assert_ok(c, gmg_solve(s, f, u, &r));
    assert_int_equal(s->params.cycle, GMG_CYCLE_V);
    cycles[changes] = r.cycles;
    gmg_solver_destroy(s), gmg_context_destroy(c);
  }
  print_message("V cycles: %d, V cycles and then F cycles: %d\n", cycles[0], cycles[1]);
  assert_below(cycles[1], 0.85 * cycles[0]);
  free(f), free(u), medium_free(&m);
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(transfers_and_products), cmocka_unit_test(stencils), cmocka_unit_test(threads_agree),
                                     cmocka_unit_test(slow_solves_get_other_cycles)};
  only(argc, argv);
  return run_selected(tests);
}
