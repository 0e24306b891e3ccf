/* Coefficients near the limits of the type's range. Either create, plan and update refuse them, with the first bad value and its
   index, or the solve converges. */
#include "sample.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 12, CELLS = N * N * N, FACES = (N + 1) * N * N };

#define BAD GMG_ERR_ARGUMENT

typedef enum { NONE, BETA, FACE, SIGMA } array;
typedef struct {
  gmg_type type;
  const char *walls;
  double h;
  double shift;
  array array;          /* all values are 1 (sigma: 0), except */
  double value[2];      /* this value at entries 700 and 900; 0: none */
  gmg_status status;
  const char *words[2];
} extreme;

static const extreme extremes[] = {
    /* beta out of range, alone and among ones */
    {GMG_F64, "dddddd", 1, 0, BETA, {5e-324, 5e-324}, BAD, {"problem.beta[700] = 4.94066e-324", "stay in the range"}},
    {GMG_F64, "dddddd", 1, 0, BETA, {0, 1e-300}, BAD, {"problem.beta[900] = 1e-300", "stay in the range"}},
    {GMG_F64, "dddddd", 1, 0, BETA, {1e-120, 0}, BAD, {"problem.beta[700] = 1e-120", "stay in the range"}},
    {GMG_F64, "nnnnnn", 1, 0, FACE, {0, 1e-200}, BAD, {"problem.beta_face[1][900] = 1e-200", "stay in the range"}},
    {GMG_F32, "dddddd", 1, 0, BETA, {1e-40, 0}, BAD, {"problem.beta[700] = 9.99", "stay in the range"}},
    {GMG_F64, "dddddd", 1e40, 0, BETA, {1e-30, 0}, BAD, {"problem.beta[700] = 1e-30", "beta / h^2"}},
    {GMG_F64, "dddddd", 1, 0, BETA, {1e-48, 0}, GMG_OK, {"", ""}},
    {GMG_F32, "dddddd", 1, 0, BETA, {1e-36, 0}, GMG_OK, {"", ""}},
    /* values in range with a quotient out of range */
    {GMG_F64, "dddddd", 1, 0, BETA, {1e24, 1e-30}, BAD, {"problem.beta[900] = 1e-30", "the largest, 1e+24"}},
    {GMG_F32, "dddddd", 1, 0, BETA, {1e-20, 1e30}, BAD, {"problem.beta[700] = 1e-20", "the largest, 1e+30"}},
    {GMG_F64, "dddddd", 1, 0, FACE, {1e-30, 1e24}, BAD, {"problem.beta_face[1][700] = 1e-30", "the largest, 1e+24"}},
    {GMG_F64, "dddddd", 1, 0, BETA, {1e24, 1e-24}, GMG_OK, {"", ""}},
    /* shift and sigma, compared with beta / h^2 */
    {GMG_F64, "dddddd", 1, 5e-324, NONE, {0, 0}, BAD, {"problem.shift = 4.94066e-324: must be 0 or", "beta / h^2 = 1 "}},
    {GMG_F64, "dddddd", 1e40, 1e280, NONE, {0, 0}, BAD, {"problem.shift = 1e+280: must be at most", "beta / h^2 = 1e-80"}},
    {GMG_F32, "dddddd", 1e10, 1e30, NONE, {0, 0}, BAD, {"problem.shift = 1e+30: must be at most", "beta / h^2 = 1e-20"}},
    {GMG_F32, "dddddd", 1e10, 0, SIGMA, {0, 1e30}, BAD, {"problem.sigma[900] = 1e+30", "its quotient with beta / h^2"}},
    {GMG_F64, "dddddd", 1, 1e300, NONE, {0, 0}, GMG_OK, {"", ""}},
    {GMG_F64, "dddddd", 1, 0, SIGMA, {5e-324, 1e-300}, GMG_OK, {"", ""}},
    /* u is held only by a term that rounding loses */
    {GMG_F64, "nnnnnn", 1, 1e-20, NONE, {0, 0}, GMG_ERR_UNSUPPORTED, {"problem.shift = 1e-20", "lost in rounding beside beta / h^2 = 1,"}},
    {GMG_F64, "pppppp", 1, 1e-90, NONE, {0, 0}, GMG_ERR_UNSUPPORTED, {"problem.shift = 1e-90", "lost in rounding"}},
    {GMG_F32, "nnnnpp", 1, 1e-9, NONE, {0, 0}, GMG_ERR_UNSUPPORTED, {"problem.shift = 1e-09", "lost in rounding"}},
    {GMG_F64, "nnnnpp", 1, 0, SIGMA, {0, 1e-30}, GMG_ERR_UNSUPPORTED, {"problem.sigma (at most 1e-30)", "lost in rounding"}},
    {GMG_F64, "dnnnpp", 1, 1e-20, NONE, {0, 0}, GMG_OK, {"", ""}},
    {GMG_F64, "nnnnpp", 1, 1e-3, NONE, {0, 0}, GMG_OK, {"", ""}},
};

static double values[3][FACES];

static gmg_problem problem_of(const extreme *x)
{
  gmg_problem p = make_problem(3, N, N, N, GMG_CELL, x->walls);
  p.type = x->type, p.shift = x->shift;
  for (int a = 0; a < 3; a++) p.h[a] = x->h;
  for (int a = 0; a < 3; a++)
    for (int i = 0; i < FACES; i++) values[a][i] = x->array != SIGMA;
  double *changed = values[x->array == FACE]; /* the faces of axis 1 */
  for (int k = 0; k < 2; k++)
    if (x->value[k] != 0) changed[k ? 900 : 700] = x->value[k];
  if (x->array == BETA) p.beta = typed(&p, values[0], CELLS);
  if (x->array == SIGMA) p.sigma = typed(&p, values[0], CELLS);
  for (int a = 0; a < 3 && x->array == FACE; a++) p.beta_face[a] = typed(&p, values[a], FACES);
  return p;
}

static void free_arrays(gmg_problem *p)
{
  free((void *)p->beta), free((void *)p->sigma);
  for (int a = 0; a < 3; a++) free((void *)p->beta_face[a]);
}

static void expect(int row, const char *call, gmg_status got, const gmg_context *c)
{
  const extreme *x = &extremes[row];
  const char *text = gmg_context_error(c);
  if (got != x->status || (got != GMG_OK && (!strstr(text, x->words[0]) || !strstr(text, x->words[1]))))
    fail_msg("row %d, %s: wanted %s with '%s', got %s: %s", row, call, gmg_status_string(x->status), x->words[0], gmg_status_string(got),
             text);
}

static void one(int row)
{
  static gmg_plan_info info;
  const extreme *x = &extremes[row];
  const gmg_params q = gmg_params_default();
  gmg_problem p = problem_of(x), tame = p;
  gmg_context *c = NULL;
  gmg_solver *s = NULL;
  double *random = field(CELLS, 1), *zero = field(CELLS, 0);
  void *f = typed(&p, random, CELLS), *u = typed(&p, zero, CELLS);
  assert_int_equal(gmg_context_create_host(1, &c), GMG_OK);
  expect(row, "plan", gmg_plan(c, &p, &q, &info), c);
  expect(row, "create", gmg_solver_create(c, &p, &q, &s), c);
  if (x->status == GMG_OK) assert_ok(c, gmg_solve(s, f, u, NULL));
  gmg_solver_destroy(s);
  const extreme ones = {x->type, x->walls, x->h, 1 / x->h / x->h, x->array, {0, 0}, GMG_OK, {"", ""}};
  tame = problem_of(&ones);
  assert_ok(c, gmg_solver_create(c, &tame, &q, &s));
  expect(row, "update", gmg_solver_update(s, &p), c);
  gmg_solver_destroy(s);
  gmg_context_destroy(c);
  free_arrays(&p), free_arrays(&tame);
  free(random), free(zero), free(f), free(u);
}

static void rows(void **state)
{
  (void)state;
  for (int row = 0; row < COUNT(extremes); row++) one(row);
}

/* A sigma that is huge everywhere but at one unknown. The step along a direction that is noise there hides the error elsewhere, so
   the acceleration increases the residual by more than 1e8 before it reduces it. */
static void sigma_may_jump(void **state)
{
  (void)state;
  enum { M = 40, UNKNOWNS = M * M, EDGES = M * (M + 1) };
  static const gmg_accel accels[] = {GMG_ACCEL_AUTO, GMG_ACCEL_NONE, GMG_ACCEL_FLEXIBLE_CG};
  static const double sizes[] = {1e30, 1e54, 1e60, 1e78, 1e96};
  static double beta[EDGES], sigma[UNKNOWNS], f[UNKNOWNS], u[UNKNOWNS];
  for (int i = 0; i < EDGES; i++) beta[i] = 1 + i % 3 * 0.2;
  for (int i = 0; i < UNKNOWNS; i++) f[i] = i * 7919 % 101 / 50. - 1;
  for (int size = 0; size < COUNT(sizes); size++)
    for (int a = 0; a < COUNT(accels); a++)
      for (int array = NONE; array <= FACE; array++) {
        gmg_problem p = make_problem(2, M, M, 1, GMG_VERTEX, "dddd");
        gmg_params q = gmg_params_default();
        gmg_report r;
        p.h[0] = p.h[1] = 1, p.sigma = sigma, q.accel = accels[a], q.direct = GMG_DIRECT_NEVER;
        if (array == BETA) p.beta = beta;
        if (array == FACE) p.beta_face[0] = p.beta_face[1] = beta;
        for (int i = 0; i < UNKNOWNS; i++) sigma[i] = i == UNKNOWNS / 2 + M / 3 ? 0 : sizes[size], u[i] = 0;
        session s = begin_solver(&p, &q, 1);
        if (gmg_solve(s.solver, f, u, &r) != GMG_OK)
          fail_msg("sigma %g, accel %d, array %d: %s", sizes[size], a, array, gmg_context_error(s.context));
        end_solver(&s);
      }
}

/* On long lines rounding loses a shift of 1, but not the term of a Robin wall, which is divided by the mesh width. */
static void a_robin_wall_holds_a_long_line(void **state)
{
  (void)state;
  static const struct {
    const char *walls;
    gmg_status status;
  } lines[] = {{"nr", GMG_OK}, {"rn", GMG_OK}, {"nn", GMG_ERR_UNSUPPORTED}};
  gmg_context *c;
  assert_int_equal(gmg_context_create_host(1, &c), GMG_OK);
  for (int i = 0; i < COUNT(lines); i++) {
    gmg_problem p = make_problem(1, 99998, 1, 1, GMG_VERTEX, lines[i].walls);
    const gmg_params q = gmg_params_default();
    gmg_plan_info info;
    p.type = GMG_F32, p.shift = 1;
    assert_int_equal(gmg_plan(c, &p, &q, &info), lines[i].status);
    if (lines[i].status != GMG_OK) assert_non_null(strstr(gmg_context_error(c), "problem.shift = 1"));
  }
  gmg_context_destroy(c);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(rows), cmocka_unit_test(sigma_may_jump),
                                     cmocka_unit_test(a_robin_wall_holds_a_long_line)};
  return run_selected(tests);
}
