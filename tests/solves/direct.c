/* The direct solver of separable problems, against dense solutions and by its properties. */
#include "reference.h"
#include "sample.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Meshes: uniform, or geometric with a ratio of the largest width to the smallest. */
static const double ratios[] = {1, 10, 1000};
static const char *const walls[] = {"dd", "dn", "dr", "nd", "nn", "nr", "rd", "rn", "rr", "pp"};

static size_t intervals(const gmg_problem *p, int a)
{
  const int held[2] = {p->bc[a][0] == GMG_NEUMANN || p->bc[a][0] == GMG_ROBIN, p->bc[a][1] == GMG_NEUMANN || p->bc[a][1] == GMG_ROBIN};
  if (p->centering == GMG_CELL || p->bc[a][0] == GMG_PERIODIC) return p->n[a];
  return p->n[a] + 1 - (size_t)held[0] - (size_t)held[1];
}

/* Positions on the unit interval; NULL: uniform. To be freed. */
static double *positions(const gmg_problem *p, int a, double ratio)
{
  const size_t m = intervals(p, a);
  double *x = calloc(m + 1, sizeof *x);
  if (ratio == 1 || m < 2) return free(x), NULL;
  for (size_t i = 1; i <= m; i++) x[i] = x[i - 1] + pow(ratio, (double)(i - 1) / (double)(m - 1));
  for (size_t i = 1; i <= m; i++) x[i] /= x[m];
  x[m] = 1;
  return x;
}

static int is_singular(const gmg_problem *p)
{
  for (int a = 0; a < p->dim; a++)
    for (int side = 0; side < 2; side++)
      if (p->bc[a][side] == GMG_DIRICHLET || p->bc[a][side] == GMG_ROBIN) return 0;
  return p->shift == 0 && !p->sigma;
}

/* The dense solution. If the problem is singular: that with zero mean, for f without its mean. Fails if it cannot be computed. */
static double *dense_solution(const gmg_problem *p, const double *f, double *const g[3][2])
{
  const size_t n = unknowns(p);
  double *A = dense_matrix(p), *b = dense_rhs(p, f, g), mean = 0, volume = 0;
  const double scale = A[0] > 0 ? A[0] : 1;
  for (size_t c = 0; c < n; c++) volume += cell_volume(p, c), mean += cell_volume(p, c) * b[c];
  for (size_t c = 0; c < n && is_singular(p); c++) {
    b[c] -= mean / volume;
    for (size_t d = 0; d < n; d++) A[c * n + d] += scale * cell_volume(p, d) / volume; /* no effect on zero means */
  }
  assert_true(dense_solve(A, b, n));
  free(A);
  return b;
}

/* Compares a direct solve, from a random guess and with values on all walls, with the dense solution. */
static void equals_dense(const char *name, const gmg_problem *given, uint64_t seed, double steepest, double tolerance)
{
  gmg_problem p = *given;
  const size_t n = unknowns(&p), size = p.type == GMG_F32 ? sizeof(float) : sizeof(double);
  gmg_params q = gmg_params_default();
  gmg_report r;
  double *f = field(n, seed), *guess = field(n, seed + 1), *g[3][2] = {{NULL}}, largest = 0;
  void *u = typed(&p, guess, n), *rhs = typed(&p, f, n);
  q.direct = GMG_DIRECT_ALWAYS, q.max_cycles = 20;
  session s = begin_solver(&p, &q, 2);
  for (int a = 0; a < p.dim; a++)
    for (int side = 0; side < 2; side++) {
      const size_t face = n / p.n[a];
      if (p.bc[a][side] == GMG_PERIODIC) continue;
      double *random = field(face, seed + 7 + (uint64_t)(2 * a + side));
      void *values = typed(&p, random, face);
      g[a][side] = untyped(&p, values, face);
      assert_ok(s.context, set_values_in(&s, a, side, values));
      free(random), free(values);
    }
  const gmg_status status = solve_in(&s, rhs, u, &r);
  free(f), f = untyped(&p, rhs, n);
  double *wanted = dense_solution(&p, f, g), *got = untyped(&p, u, n);
  const int good = status == GMG_OK || (status == GMG_STAGNATED && r.residual <= 8 * r.floor);
  if (!good || r.levels != 1 || !r.direct || !r.deterministic || r.cycles > (steepest > 100 || p.type == GMG_F32 ? 6 : 3))
    fail_msg("%s, %zu x %zu x %zu: %s after %d cycles on %d levels", name, p.n[0], p.n[1], p.n[2], gmg_status_string(status), r.cycles,
             r.levels);
  for (size_t c = 0; c < n; c++) largest = fmax(largest, fabs(wanted[c]));
  for (size_t c = 0; c < n; c++)
    if (!(fabs(got[c] - wanted[c]) <= tolerance * largest))
      fail_msg("%s, %zu x %zu x %zu: u[%zu] = %g instead of %g", name, p.n[0], p.n[1], p.n[2], c, got[c], wanted[c]);
  end_solver(&s);
  (void)size;
  for (int a = 0; a < 3; a++) free(g[a][0]), free(g[a][1]);
  free(f), free(guess), free(u), free(rhs), free(wanted), free(got);
}

/* A case: walls by letters as in make_problem(), and a ratio of mesh widths for each axis. */
static void one_case(int dim, const size_t n[3], gmg_centering centering, const char *bc, const double ratio[3], gmg_type type,
                     double shift, uint64_t seed)
{
  char name[120];
  gmg_problem p = make_problem(dim, n[0], n[1], n[2], centering, bc);
  if (!taken(unknowns(&p))) return;
  double *x[3] = {NULL, NULL, NULL}, steepest = 1;
  for (int a = 0; a < dim; a++) {
    p.coord[a] = x[a] = positions(&p, a, ratio[a]);
    if (x[a]) steepest = fmax(steepest, ratio[a]);
  }
  p.type = type;
  p.shift = shift;
  snprintf(name, sizeof name, "%s on %s, ratios %g %g %g, %s, shift %g", bc, centering == GMG_CELL ? "cells" : "vertices", ratio[0],
           ratio[1], ratio[2], type == GMG_F64 ? "double" : "float", shift);
  equals_dense(name, &p, seed, steepest, type == GMG_F64 ? 1e-8 * steepest / 10 + 1e-9 : steepest > 100 ? 0.3 : 2e-3);
  for (int a = 0; a < 3; a++) free(x[a]);
}

static void in_1d(void **state)
{
  (void)state;
  for (size_t n = 1; n <= 40; n += SANITIZED ? 6 : 1)
    for (int w = 0; w < COUNT(walls); w++)
      for (int c = 0; c < 2; c++)
        for (int m = 0; m < COUNT(ratios); m++)
          for (int t = 0; t < 2; t++)
            one_case(1, (size_t[]){n, 1, 1}, (gmg_centering)c, walls[w], (double[]){ratios[m], 1, 1}, (gmg_type)t, 0, n);
}

static void in_2d(void **state)
{
  (void)state;
  static const size_t sizes[][3] = {{1, 5, 1}, {2, 3, 1}, {6, 1, 1}, {7, 8, 1}, {16, 12, 1}, {17, 17, 1}, {23, 17, 1}};
  int i = 0;
  for (int w = 0; w < COUNT(walls); w++)
    for (int v = 0; v < COUNT(walls); v++)
      for (int k = 0; k < COUNT(sizes); k++, i++) {
        char bc[5];
        snprintf(bc, sizeof bc, "%s%s", walls[w], walls[v]);
        one_case(2, sizes[k], (gmg_centering)(i % 2), bc, (double[]){ratios[i % 3], ratios[i / 3 % 3], 1}, GMG_F64, 0, (uint64_t)i + 1);
        one_case(2, sizes[k], (gmg_centering)(i / 2 % 2), bc, (double[]){ratios[i / 2 % 3], ratios[i % 2], 1}, GMG_F32, 0,
                 (uint64_t)i + 1);
      }
}

static void in_3d(void **state)
{
  (void)state;
  enum { COMBINATIONS = SANITIZED ? 40 : 200 };
  uint64_t random = 1;
  for (int i = 0; i < COMBINATIONS; i++) {
    const size_t n[3] = {1 + pick(&random, 9), 1 + pick(&random, 8), 1 + pick(&random, 7)};
    const double ratio[3] = {ratios[pick(&random, 3)], ratios[pick(&random, 3)], ratios[pick(&random, 3)]};
    const gmg_centering centering = (gmg_centering)pick(&random, 2);
    const double shift = pick(&random, 3) ? 0 : log_between(&random, 0.1, 1e4);
    char bc[7];
    snprintf(bc, sizeof bc, "%s%s%s", walls[pick(&random, 10)], walls[pick(&random, 10)], walls[pick(&random, 10)]);
    for (int t = 0; t < 2; t++) one_case(3, n, centering, bc, ratio, (gmg_type)t, shift, (uint64_t)i + 1);
  }
}

/* A mesh that is the same from both ends, of which only half the modes are computed, and one that is not. */
static void symmetric_meshes(void **state)
{
  (void)state;
  static const size_t sizes[] = {12, 13, 30, 31};
  for (int k = 0; k < COUNT(sizes); k++)
    for (int w = 0; w < COUNT(walls); w++)
      for (int c = 0; c < 2; c++) {
        char bc[5];
        snprintf(bc, sizeof bc, "%s%s", walls[w], walls[(w + 1) % COUNT(walls)]);
        gmg_problem p = make_problem(2, sizes[k], 9, 1, (gmg_centering)c, bc);
        if (!taken(unknowns(&p))) continue;
        const size_t m = intervals(&p, 0);
        double *x = calloc(m + 1, sizeof *x);
        for (size_t i = 0; i <= m; i++) x[i] = 0.5 + 0.5 * tanh(2 * (2 * (double)i / (double)m - 1)) / tanh(2);
        p.coord[0] = x;
        equals_dense(bc, &p, 5, 1, 1e-8);
        x[1] *= 0.9;
        equals_dense(bc, &p, 6, 1, 1e-8);
        free(x);
      }
}

/* In 1D any coefficients are one tridiagonal system: a random beta for each cell or face, and a random sigma. */
static void arrays_in_1d(void **state)
{
  (void)state;
  static const size_t sizes[] = {1, 2, 3, 97, 333};
  for (int k = 0; k < COUNT(sizes); k++)
    for (int w = 0; w < COUNT(walls); w++)
      for (int kind = 0; kind < 3; kind++) {
        const size_t n = sizes[k];
        gmg_problem p = make_problem(1, n, 1, 1, kind == 2 ? GMG_VERTEX : GMG_CELL, walls[w]);
        if (!taken(n)) continue;
        double *beta = field(n + 1, 3), *sigma = field(n, 4);
        for (size_t i = 0; i <= n; i++) beta[i] = exp(3 * beta[i]);
        for (size_t i = 0; i < n; i++) sigma[i] = 10 * (sigma[i] + 0.5);
        if (kind == 0) p.beta = beta;
        else p.beta_face[0] = beta;
        if (kind != 1) p.sigma = sigma;
        if (walls[w][0] == 'p') beta[n] = beta[0];
        equals_dense(walls[w], &p, 8, 1, 1e-8);
        free(beta), free(sigma);
      }
}

static void solve_with(const gmg_problem *p, const gmg_params *q, int threads, const double *f, double *u, gmg_report *r)
{
  session s = begin_solver(p, q, threads);
  assert_ok(s.context, solve_in(&s, f, u, r));
  end_solver(&s);
}

static void bits_do_not_depend_on_threads(void **state)
{
  (void)state;
  static const shape shapes[] = {{3, {33, 20, 27}, GMG_CELL, "dnpprr"},
                                 {2, {130, 70, 1}, GMG_VERTEX, "nnnn"},
                                 {1, {10000, 1, 1}, GMG_CELL, "pp"}};
  for (int k = 0; k < COUNT(shapes); k++) {
    const gmg_problem p = shaped_problem(&shapes[k]);
    const size_t n = unknowns(&p);
    gmg_params q = gmg_params_default();
    gmg_report r;
    double *f = field(n, 1), *u = field(n, 0), *first = field(n, 0);
    q.direct = GMG_DIRECT_ALWAYS;
    for (int run = 0; run < 6; run++) {
      memset(u, 0, n * sizeof *u);
      solve_with(&p, &q, 1 + run % 4, f, u, &r);
      if (run == 0) memcpy(first, u, n * sizeof *u);
      assert_memory_equal(u, first, n * sizeof *u);
    }
    free(f), free(u), free(first);
  }
}

/* The coarsest grid of a hierarchy: as many cycles as with Cholesky, also in low precision and where the problem is singular. */
static void ends_a_hierarchy(void **state)
{
  (void)state;
  static const shape shapes[] = {{3, {16, 16, 16}, GMG_CELL, "dddddd"},
                                 {3, {15, 16, 17}, GMG_VERTEX, "nnppnn"},
                                 {2, {45, 44, 1}, GMG_CELL, "rrdn"}};
  static const gmg_precision precisions[] = {GMG_PRECISION_SAME, GMG_PRECISION_MIXED};
  for (int k = 0; k < COUNT(shapes); k++)
    for (int m = 0; m < COUNT(precisions); m++) {
      const gmg_problem p = shaped_problem(&shapes[k]);
      const size_t n = unknowns(&p);
      gmg_params q = gmg_params_default();
      gmg_report r[2];
      double *f = field(n, 1);
      q.direct = GMG_DIRECT_NEVER, q.precision = precisions[m], q.deterministic = 1, q.max_levels = 2;
      for (int tensor = 0; tensor < 2; tensor++) {
        double *u = field(n, 0);
        q.coarse = tensor ? GMG_COARSE_TENSOR : GMG_COARSE_DENSE;
        solve_with(&p, &q, 2, f, u, &r[tensor]);
        free(u);
      }
      assert_int_equal(r[1].levels, 2);
      assert_int_equal(r[1].cycles, r[0].cycles);
      assert_near(r[1].residual, r[0].residual, 1e-3 * r[0].residual);
      assert_false(r[1].direct);
      free(f);
    }
}

static void a_preconditioner_is_the_inverse(void **state)
{
  (void)state;
  const gmg_problem p = make_problem(3, 20, 21, 22, GMG_CELL, "dnrrpp");
  const size_t n = unknowns(&p);
  gmg_params q = gmg_params_default();
  double *r = field(n, 1), *z = field(n, 0), *rest = field(n, 0);
  q.direct = GMG_DIRECT_ALWAYS;
  session s = begin_solver(&p, &q, 2);
  assert_ok(s.context, precondition_in(&s, r, z));
  assert_ok(s.context, residual_in(&s, r, z, rest));
  assert_below(norm2(rest, n), 1e-11 * norm2(r, n));
  end_solver(&s);
  free(r), free(z), free(rest);
}

/* Axes on both sides of the limits at which the kernels of a device change: 64, 96, 128 and 256 unknowns, and many lines or few. The
   direct solution of r, multiplied by the operator, gives r. */
static void longer_axes(void **state)
{
  (void)state;
  static const shape shapes[] = {
      {3, {64, 63, 65}, GMG_CELL, "dddddd"},    {3, {65, 64, 40}, GMG_CELL, "nnppdd"},   {3, {97, 90, 96}, GMG_VERTEX, "ddddnn"},
      {3, {40, 96, 97}, GMG_CELL, "dnrddn"},    {3, {128, 127, 30}, GMG_CELL, "ppddnn"}, {3, {30, 33, 128}, GMG_CELL, "dddnpp"},
      {3, {129, 20, 21}, GMG_CELL, "dddddd"},   {3, {20, 21, 130}, GMG_CELL, "nrnrnr"},  {3, {150, 140, 131}, GMG_CELL, "ddnndd"},
      {3, {160, 130, 129}, GMG_CELL, "dnpprr"}, {3, {40, 41, 257}, GMG_CELL, "ddnndd"},  {3, {70, 30, 270}, GMG_CELL, "dnddpp"},
      {2, {300, 200, 1}, GMG_CELL, "dddn"},     {2, {129, 515, 1}, GMG_VERTEX, "ppdd"},  {2, {1030, 1100, 1}, GMG_CELL, "ddnn"}};
  for (int k = 0; k < COUNT(shapes); k++) {
    const gmg_problem p = shaped_problem(&shapes[k]);
    const size_t n = unknowns(&p);
    gmg_params q = gmg_params_default();
    if (!taken(n)) continue;
    double *r = field(n, 1), *z = field(n, 0), *rest = field(n, 0);
    q.direct = GMG_DIRECT_ALWAYS;
    session s = begin_solver(&p, &q, 2);
    assert_ok(s.context, precondition_in(&s, r, z));
    assert_ok(s.context, residual_in(&s, r, z, rest));
    const double left = norm2(rest, n) / norm2(r, n);
    if (!(left < 1e-11)) fail_msg("%s, %zu x %zu x %zu: %g", shapes[k].bc, p.n[0], p.n[1], p.n[2], left);
    end_solver(&s);
    free(r), free(z), free(rest);
  }
}

static void an_update_changes_the_shift(void **state)
{
  (void)state;
  gmg_problem p = make_problem(3, 20, 21, 22, GMG_CELL, "nnnnpp");
  const size_t n = unknowns(&p);
  static const double shifts[] = {0, 3, 1e5, 0};
  gmg_params q = gmg_params_default();
  gmg_report r;
  double *f = field(n, 1);
  q.direct = GMG_DIRECT_ALWAYS;
  session s = begin_solver(&p, &q, 2);
  for (int i = 0; i < COUNT(shifts); i++) {
    double *u = field(n, 0), *wanted = field(n, 0);
    p.shift = shifts[i];
    assert_ok(s.context, update_in(&s, &p));
    assert_ok(s.context, solve_in(&s, f, u, &r));
    assert_int_equal(r.cycles, 1);
    assert_int_equal(r.singular, shifts[i] == 0);
    solve_with(&p, &q, 2, f, wanted, &r);
    assert_memory_equal(u, wanted, n * sizeof *u);
    free(u), free(wanted);
  }
  end_solver(&s);
  free(f);
}

/* A full multigrid start is exact, and flexible CG needs one iteration. */
static void other_methods_around_it(void **state)
{
  (void)state;
  const gmg_problem p = make_problem(2, 40, 33, 1, GMG_CELL, "dnpp");
  const size_t n = unknowns(&p);
  for (int kind = 0; kind < 3; kind++) {
    gmg_params q = gmg_params_default();
    gmg_report r;
    double *f = field(n, 1), *u = field(n, 2);
    q.direct = GMG_DIRECT_ALWAYS;
    if (kind == 0) q.fmg = 1;
    if (kind == 1) q.accel = GMG_ACCEL_FLEXIBLE_CG;
    if (kind == 2) q.precision = GMG_PRECISION_MIXED, q.rtol = 1e-10;
    solve_with(&p, &q, 2, f, u, &r);
    if (!r.direct || r.cycles > (kind == 2 ? 3 : 1)) fail_msg("kind %d: direct %d, %d cycles", kind, r.direct, r.cycles);
    free(f), free(u);
  }
}

/* --- choices ------------------------------------------------------------------------------------------------------------- */

static void is_chosen(void **state)
{
  (void)state;
  static const double one[64 * 64] = {1};
  static const struct {
    size_t n;
    int with_beta, levels;
    size_t coarse_cells;
    gmg_coarse_kind coarse;
    gmg_direct asked;
    int direct, fmg, check_every; /* the last two: then gmg still chooses the solver of the coarsest grid */
  } rows[] = {{64, 0, 0, 0, GMG_COARSE_AUTO, GMG_DIRECT_AUTO, 1},   {64, 0, 0, 0, GMG_COARSE_AUTO, GMG_DIRECT_NEVER, 0},
              {64, 0, 0, 0, GMG_COARSE_AUTO, GMG_DIRECT_ALWAYS, 1}, {4000, 0, 0, 0, GMG_COARSE_AUTO, GMG_DIRECT_AUTO, 0},
              {64, 1, 0, 0, GMG_COARSE_AUTO, GMG_DIRECT_AUTO, 0},   {64, 0, 0, 0, GMG_COARSE_CG, GMG_DIRECT_AUTO, 0},
              {64, 0, 3, 0, GMG_COARSE_AUTO, GMG_DIRECT_AUTO, 0},   {64, 0, 0, 99, GMG_COARSE_AUTO, GMG_DIRECT_AUTO, 0},
              {64, 0, 3, 0, GMG_COARSE_TENSOR, GMG_DIRECT_AUTO, 0}, {64, 0, 3, 0, GMG_COARSE_TENSOR, GMG_DIRECT_ALWAYS, 1},
              {64, 0, 0, 0, GMG_COARSE_AUTO, GMG_DIRECT_AUTO, 0, 1},   {4000, 0, 0, 0, GMG_COARSE_AUTO, GMG_DIRECT_AUTO, 0, 1},
              {64, 0, 0, 0, GMG_COARSE_AUTO, GMG_DIRECT_AUTO, 0, 0, GMG_NONE}};
  double beta[64 * 64];
  for (size_t i = 0; i < sizeof beta / sizeof *beta; i++) beta[i] = 1 + one[i];
  for (int k = 0; k < COUNT(rows); k++) {
    gmg_problem p = make_problem(2, rows[k].n, rows[k].n, 1, GMG_CELL, "dddd");
    gmg_params q = gmg_params_default();
    gmg_plan_info info;
    session s = {0};
    assert_int_equal(gmg_context_create_host(1, &s.context), GMG_OK);
    if (rows[k].with_beta) p.beta = beta;
    q.coarse = rows[k].coarse, q.direct = rows[k].asked, q.coarse_cells = rows[k].coarse_cells, q.max_levels = rows[k].levels;
    q.fmg = rows[k].fmg, q.check_every = rows[k].check_every;
    assert_ok(s.context, gmg_plan(s.context, &p, &q, &info));
    if (info.direct != rows[k].direct || (info.direct && (info.levels != 1 || info.coarse != GMG_COARSE_TENSOR)) ||
        (!info.direct && info.levels == 1) || (rows[k].asked == GMG_DIRECT_NEVER && info.coarse != GMG_COARSE_CG) ||
        ((rows[k].fmg || rows[k].check_every) && info.coarse != GMG_COARSE_TENSOR))
      fail_msg("row %d: direct %d, %d levels, coarse %d", k, info.direct, info.levels, (int)info.coarse);
    gmg_context_destroy(s.context);
  }
}

#define REFUSES(status, words)                                                                                          \
  do {                                                                                                                  \
    gmg_solver *solver_ = NULL;                                                                                         \
    const gmg_status got_ = gmg_solver_create(c, &p, &q, &solver_);                                                     \
    if (got_ != (status) || !strstr(gmg_context_error(c), words))                                                       \
      fail_msg("wanted '%s', got %s: %s", words, gmg_status_string(got_), gmg_context_error(c));                        \
  } while (0)

static void refuses_what_is_not_separable(void **state)
{
  (void)state;
  gmg_context *c;
  static double beta[64 * 64];
  for (size_t i = 0; i < 64 * 64; i++) beta[i] = 1;
  assert_int_equal(gmg_context_create_host(1, &c), GMG_OK);
  for (int always = 0; always < 2; always++) {
    gmg_problem p = make_problem(2, 60, 60, 1, GMG_VERTEX, "dddd");
    gmg_params q = gmg_params_default();
    gmg_stencil box = gmg_stencil_q1(2, p.h, 0);
    if (always) q.direct = GMG_DIRECT_ALWAYS;
    else q.coarse = GMG_COARSE_TENSOR;
    const char *asked = always ? "params.direct = GMG_DIRECT_ALWAYS: problem" : "params.coarse = GMG_COARSE_TENSOR: problem";
    p.beta = beta;
    REFUSES(GMG_ERR_UNSUPPORTED, asked);
    REFUSES(GMG_ERR_UNSUPPORTED, "problem.beta, an array, couples the axes");
    p.beta = NULL, p.sigma = beta;
    REFUSES(GMG_ERR_UNSUPPORTED, "problem.sigma, an array, couples the axes");
    p.sigma = NULL, p.beta_face[0] = p.beta_face[1] = beta;
    REFUSES(GMG_ERR_UNSUPPORTED, "problem.beta_face, an array for each axis, couples the axes");
    p.beta_face[0] = p.beta_face[1] = NULL, p.stencil = &box;
    box.entry[1][0][0] -= 0.1, box.entry[1][2][2] -= 0.1, box.entry[1][1][1] += 0.2;
    REFUSES(GMG_ERR_UNSUPPORTED, "problem.stencil differs on the two sides of an axis");
  }
  gmg_problem p = make_problem(2, 5000, 3, 1, GMG_CELL, "dddd");
  gmg_params q = gmg_params_default();
  q.direct = GMG_DIRECT_ALWAYS;
  REFUSES(GMG_ERR_UNSUPPORTED, "5000 unknowns along axis 0: at most 4096");
  q.coarse = GMG_COARSE_CG;
  REFUSES(GMG_ERR_ARGUMENT, "params.direct = GMG_DIRECT_ALWAYS needs GMG_COARSE_TENSOR, but params.coarse = GMG_COARSE_CG");
  q.direct = (gmg_direct)7;
  REFUSES(GMG_ERR_ARGUMENT, "params.direct = 7: must be GMG_DIRECT_AUTO, GMG_DIRECT_NEVER or GMG_DIRECT_ALWAYS");
  gmg_context_destroy(c);
}

int main(int argc, char **argv)
{
  if (for_device(argc, argv)) return SKIPPED;
  const struct CMUnitTest tests[] = {cmocka_unit_test(in_1d),
                                     cmocka_unit_test(in_2d),
                                     cmocka_unit_test(in_3d),
                                     cmocka_unit_test(symmetric_meshes),
                                     cmocka_unit_test(arrays_in_1d),
                                     cmocka_unit_test(bits_do_not_depend_on_threads),
                                     cmocka_unit_test(ends_a_hierarchy),
                                     cmocka_unit_test(a_preconditioner_is_the_inverse),
                                     cmocka_unit_test(longer_axes),
                                     cmocka_unit_test(an_update_changes_the_shift),
                                     cmocka_unit_test(other_methods_around_it),
                                     cmocka_unit_test(is_chosen),
                                     cmocka_unit_test(refuses_what_is_not_separable)};
  return run_selected(tests);
}
