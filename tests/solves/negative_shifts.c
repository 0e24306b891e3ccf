/* Shift and sigma below zero: the smallest eigenvalue against closed forms and dense matrices, solves close to the limit, and what
   is refused. */
#include "boxes.h"
#include "reference.h"
#include "sample.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Smallest eigenvalue along a uniform axis of length 1 with two Dirichlet walls, or with one and a Neumann wall. */
static double smallest_along(const gmg_problem *p, int a)
{
  const double wave = p->bc[a][1] == GMG_DIRICHLET ? M_PI : M_PI / 2;
  const double s = sin(wave * p->h[a] / 2) / p->h[a];
  return 4 * s * s;
}

/* A grid whose eigenvalues are known, and a shift that leaves `part` of the smallest one. Returns that margin. */
static double leave(gmg_problem *p, double part)
{
  double smallest = 0;
  for (int a = 0; a < p->dim; a++) smallest += smallest_along(p, a);
  p->shift = -smallest * (1 - part);
  return smallest * part;
}

static void constants(void **state)
{
  (void)state;
  static const shape grids[] = {{2, {64, 64, 1}, GMG_CELL, "dddd"},       {2, {63, 127, 1}, GMG_VERTEX, "dddd"},
                                {2, {51, 40, 1}, GMG_CELL, "dndd"},       {3, {33, 20, 17}, GMG_CELL, "dddddd"},
                                {3, {31, 31, 31}, GMG_VERTEX, "dddddd"},  {3, {16, 32, 24}, GMG_CELL, "dndndn"},
                                {1, {200, 1, 1}, GMG_CELL, "dd"},         {1, {127, 1, 1}, GMG_VERTEX, "dd"}};
  static const double parts[] = {0.5, 0.05, 0.005};
  static gmg_plan_info info;
  for (int i = 0; i < COUNT(grids) * COUNT(parts) * 4; i++) {
    gmg_problem p = shaped_problem(&grids[i % COUNT(grids)]);
    gmg_params q = gmg_params_default();
    const int which = i / COUNT(grids), way = which / COUNT(parts);
    const double margin = leave(&p, parts[which % COUNT(parts)]);
    if ((way == 3 && p.dim == 1) || (SANITIZED && way > 1)) continue; /* a full multigrid start has nothing to start from */
    q.direct = way == 0 ? GMG_DIRECT_AUTO : GMG_DIRECT_NEVER;
    if (way == 2) q.accel = GMG_ACCEL_FLEXIBLE_CG;
    if (way == 3) q.fmg = 1, q.cycle = GMG_CYCLE_F;
    session s = begin_solver(&p, &q, 2);
    assert_ok(s.context, plan_in(&s, &p, &q, &info));
    assert_near(info.margin, margin, 0.01 * margin);
    end_solver(&s);
    char name[100];
    snprintf(name, sizeof name, "grid %d, margin %g, way %d", i % COUNT(grids), margin, way);
    const gmg_report r = solve_random(name, &p, &q, 1);
    if (r.cycles > (way == 1 || way == 2 ? 8 : 10)) fail_msg("%s: %d cycles", name, r.cycles);
  }
}

/* The 5-point and 7-point Laplacians as box stencils. */
static void stencils(void **state)
{
  (void)state;
  static gmg_plan_info info;
  for (int dim = 2; dim <= 3; dim++) {
    gmg_problem p = make_problem(dim, 40, 31, dim > 2 ? 23 : 1, GMG_VERTEX, "dddddd");
    for (int a = 0; a < dim; a++) p.h[a] = 1;
    gmg_stencil box = box_of_entries(&p, dim == 2 ? &box_5 : &box_7);
    double smallest = 0;
    for (int a = 0; a < dim; a++) smallest += 4 * pow(sin(M_PI / 2 / (double)(p.n[a] + 1)), 2);
    p.stencil = &box, p.shift = -0.9 * smallest;
    for (int way = 0; way < 2; way++) {
      gmg_params q = gmg_params_default();
      q.direct = way ? GMG_DIRECT_NEVER : GMG_DIRECT_AUTO;
      session s = begin_solver(&p, &q, 2);
      assert_ok(s.context, plan_in(&s, &p, &q, &info));
      assert_near(info.margin, 0.1 * smallest, 1e-3 * smallest);
      end_solver(&s);
      const gmg_report r = solve_random("stencil", &p, &q, 1);
      if (r.cycles > 8) fail_msg("stencil in %dD, way %d: %d cycles", dim, way, r.cycles);
    }
  }
}

/* Just beyond the limit create and plan refuse, and name where it is. */
static void refused_beyond_the_limit(void **state)
{
  (void)state;
  static gmg_plan_info info;
  gmg_problem p = make_problem(2, 64, 48, 1, GMG_CELL, "dddd");
  const gmg_params q = gmg_params_default();
  gmg_context *c;
  gmg_solver *s;
  (void)leave(&p, -0.01);
  assert_int_equal(gmg_context_create_host(2, &c), GMG_OK);
  assert_int_equal(gmg_solver_create(c, &p, &q, &s), GMG_ERR_UNSUPPORTED);
  assert_non_null(strstr(gmg_context_error(c), "problem.shift = -19.9"));
  double limit = 0;
  const char *at = strstr(gmg_context_error(c), "must be above ");
  assert_non_null(at);
  assert_int_equal(sscanf(at, "must be above %lf", &limit), 1);
  assert_near(limit, p.shift / 1.01, 0.01);
  assert_int_equal(gmg_plan(c, &p, &q, &info), GMG_ERR_UNSUPPORTED);
  /* nothing fixes a periodic problem */
  p = make_problem(2, 32, 32, 1, GMG_CELL, "pppp"), p.shift = -1e-3;
  assert_int_equal(gmg_solver_create(c, &p, &q, &s), GMG_ERR_UNSUPPORTED);
  gmg_context_destroy(c);
}

/* --- arbitrary coefficients ---------------------------------------------------------------------------------------------------- */

/* Whether W (A - limit) is positive definite, by its Cholesky factor. W: control volumes, with which W A is symmetric. */
static int is_positive(const gmg_problem *p, const double *A, double limit)
{
  const size_t n = unknowns(p);
  double *L = calloc(n * n, sizeof *L);
  int positive = 1;
  for (size_t i = 0; i < n && positive; i++)
    for (size_t j = 0; j <= i; j++) {
      double sum = cell_volume(p, i) * (A[i * n + j] - (i == j ? limit : 0));
      for (size_t k = 0; k < j; k++) sum -= L[i * n + k] * L[j * n + k];
      if (i == j && !(sum > 0)) positive = 0;
      L[i * n + j] = i == j ? sqrt(fmax(sum, 1e-300)) : sum / L[j * n + j];
    }
  free(L);
  return positive;
}

static double dense_smallest(const gmg_problem *p)
{
  double *A = dense_matrix(p), low = 0, high = 0;
  const size_t n = unknowns(p);
  for (size_t i = 0; i < n; i++) {
    double sum = A[i * n + i], centre = sum;
    for (size_t j = 0; j < n; j++) sum -= i == j ? 0 : fabs(A[i * n + j]);
    low = i ? fmin(low, sum) : sum, high = i ? fmin(high, centre) : centre;
  }
  for (int k = 0; k < 60; k++) {
    const double middle = (low + high) / 2;
    *(is_positive(p, A, middle) ? &low : &high) = middle;
  }
  free(A);
  return (low + high) / 2;
}

/* The smallest sum of shift and array sigma. */
static double least_reaction(const gmg_problem *p)
{
  double *sigma = p->sigma ? untyped(p, p->sigma, unknowns(p)) : NULL, least = 0;
  for (size_t i = 0; sigma && i < unknowns(p); i++) least = i ? fmin(least, sigma[i]) : sigma[i];
  free(sigma);
  return p->shift + least;
}

/* Subtracts a well from sigma, so that it is below zero in places. */
static void dig(gmg_problem *p, uint64_t *random, double depth)
{
  const size_t n = unknowns(p), first = pick(random, n), last = first + pick(random, n - first);
  double *x = untyped(p, p->sigma, n);
  for (size_t i = first; i <= last; i++) x[i] -= depth;
  void *values = typed(p, x, n);
  free(x), free((void *)p->sigma);
  p->sigma = values;
}

static void check_solution(const char *name, const sample *x)
{
  const size_t n = unknowns(&x->p);
  double *A = dense_matrix(&x->p), *f = field(n, 5), *wanted = field(n, 5), *u = field(n, 0);
  gmg_report r;
  gmg_params q = gmg_params_default();
  q.rtol = x->p.type == GMG_F32 ? 1e-5 : 1e-9, q.max_cycles = 200;
  session s = begin_solver(&x->p, &q, 1);
  void *given = typed(&x->p, f, n), *found = typed(&x->p, u, n);
  const gmg_status status = solve_in(&s, given, found, &r);
  /* close to singular rounding allows no more, and in float often less */
  if (status != GMG_OK && status != GMG_STAGNATED) fail_msg("%s: %s", name, gmg_context_error(s.context));
  assert_int_equal(dense_solve(A, wanted, n), 1);
  double *got = untyped(&x->p, found, n), error = 0;
  for (size_t i = 0; i < n; i++) error = fmax(error, fabs(got[i] - wanted[i]));
  double largest = 0;
  for (size_t i = 0; i < n; i++) largest = fmax(largest, fabs(wanted[i]));
  if (!(error <= (x->p.type == GMG_F32 ? 0.1 : 1e-5) * largest) && status == GMG_OK) fail_msg("%s: error %g of %g", name, error, largest);
  end_solver(&s);
  free(A), free(f), free(wanted), free(u), free(got), free(given), free(found);
}

static void random_problems(void **state)
{
  (void)state;
  static const double parts[] = {0.5, 0.05, -0.05};
  static gmg_plan_info info;
  int solved = 0, refused = 0, unneeded = 0;
  for (uint64_t seed = 1; seed <= (uint64_t)share_of(SANITIZED ? 60 : 240); seed++) {
    sample x = make_sample(seed, 120, 1);
    uint64_t random = seed;
    char name[120];
    gmg_solver *solver = NULL;
    gmg_context *c;
    const gmg_params q = gmg_params_default();
    const double before = dense_smallest(&x.p);
    if (x.p.sigma) dig(&x.p, &random, fmax(1, before) * log_between(&random, 0.1, 10));
    const double smallest = dense_smallest(&x.p), scale = fmax(before, 0.1), part = ROUND_ROBIN(parts, seed);
    x.p.shift = (double)(float)(x.p.shift + part * scale - smallest);
    const double margin = dense_smallest(&x.p);
    const int needed = least_reaction(&x.p) < 0;
    snprintf(name, sizeof name, "seed %d: %dD, %zu x %zu x %zu, margin %g of %g", (int)seed, x.p.dim, x.p.n[0], x.p.n[1], x.p.n[2],
             margin, scale);
    assert_int_equal(gmg_context_create_host(1, &c), GMG_OK);
    const gmg_status status = gmg_plan(c, &x.p, &q, &info);
    if (status == GMG_ERR_ARGUMENT) printf("%s: %s\n", name, gmg_context_error(c)); /* the shift became too small a number */
    else if (margin < 0) {
      if (status != GMG_ERR_UNSUPPORTED || !strstr(gmg_context_error(c), "not positive definite"))
        fail_msg("%s: %s %s", name, gmg_status_string(status), gmg_context_error(c));
      assert_int_equal(gmg_solver_create(c, &x.p, &q, &solver), GMG_ERR_UNSUPPORTED);
      refused++;
    } else {
      if (status != GMG_OK) fail_msg("%s: %s", name, gmg_context_error(c));
      if (needed && !(fabs(info.margin - margin) <= 0.02 * margin)) fail_msg("%s: margin %g", name, info.margin);
      if (!needed && !isnan(info.margin)) fail_msg("%s: margin %g, not needed", name, info.margin);
      needed ? solved++ : unneeded++;
      check_solution(name, &x);
    }
    gmg_context_destroy(c);
    free_sample(&x);
  }
  printf("%d solved, %d refused, %d not below zero\n", solved, refused, unneeded);
  assert_true(solved > refused / 2 && refused > 0);
}

/* --- updates ----------------------------------------------------------------------------------------------------------------------- */

/* A solver that is updated solves as a new one. A refused update leaves it as it was. */
static void updates(void **state)
{
  (void)state;
  static const double parts[] = {1, 0.3, 0.01, 2, 0.5};
  gmg_problem p = make_problem(2, 96, 80, 1, GMG_CELL, "dddd");
  const size_t n = unknowns(&p);
  double *f = field(n, 1), *u = field(n, 0), *v = field(n, 0);
  for (int direct = 0; direct < 2; direct++) {
    gmg_params q = gmg_params_default();
    q.direct = direct ? GMG_DIRECT_ALWAYS : GMG_DIRECT_NEVER, q.deterministic = 1;
    if (!direct) q.accel = GMG_ACCEL_FLEXIBLE_CG; /* AUTO looks at the first shift alone */
    session s = begin_solver(&p, &q, 2);
    for (int k = 0; k < COUNT(parts); k++) {
      (void)leave(&p, parts[k]);
      update_as_new(&s, &p, &q, f, u, NULL);
    }
    memcpy(v, u, n * sizeof *u);
    (void)leave(&p, -0.1);
    assert_int_equal(update_in(&s, &p), GMG_ERR_UNSUPPORTED);
    assert_non_null(strstr(gmg_context_error(s.context), "problem.shift = -2"));
    memset(u, 0, n * sizeof *u);
    assert_ok(s.context, solve_in(&s, f, u, NULL));
    assert_memory_equal(u, v, n * sizeof *u);
    end_solver(&s);
    p.shift = 0;
  }
  free(f), free(u), free(v);
}

int main(int argc, char **argv)
{
  if (for_device(argc, argv)) return SKIPPED;
  const struct CMUnitTest tests[] = {cmocka_unit_test(constants), cmocka_unit_test(stencils),
                                     cmocka_unit_test(refused_beyond_the_limit), cmocka_unit_test(random_problems),
                                     cmocka_unit_test(updates)};
  return run_selected(tests);
}
