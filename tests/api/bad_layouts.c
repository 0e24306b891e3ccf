/* Layouts of arrays: refused ones, with the member and its value; unusual ones that are right; and overlaps of two arrays. */
#include "util.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 12 * 10 * 8, ROOM = 40000 };
#define LARGEST (SIZE_MAX / 1024)

static double beta[ROOM], f[ROOM], u[ROOM], r[ROOM];

typedef enum { F, U, COEFFICIENTS } which;
static const which arrays[] = {F, U, COEFFICIENTS};

static gmg_array_layout *layout_of(gmg_problem *p, which array)
{
  return array == F ? &p->f_layout : array == U ? &p->u_layout : &p->coefficient_layout;
}

static const char *name_of(which array) { return array == F ? "f_layout" : array == U ? "u_layout" : "coefficient_layout"; }

/* 12 x 10 x 8 unknowns, of which the first dim axes are used. faces: coefficients on faces. */
static gmg_problem problem_of(int dim, int faces)
{
  gmg_problem p = make_problem(dim, 12, 10, 8, GMG_CELL, "ddnddd");
  for (int a = 0; a < dim && faces; a++) p.beta_face[a] = beta;
  return p;
}

static void says(const gmg_context *c, gmg_status got, gmg_status wanted, const char *words)
{
  if (got != wanted || !strstr(gmg_context_error(c), words))
    fail_msg("wanted %s with '%s', got %s: %s", gmg_status_string(wanted), words, gmg_status_string(got), gmg_context_error(c));
}

static const struct {
  int dim, faces;
  gmg_array_layout layout;
  const char *words; /* after "problem.NAME." */
} refused[] = {
    {2, 0, {11, 0, 0}, "row = 11: must be 0 (packed), or from 12 (the values of a row) to "},
    {3, 0, {1, 0, 0}, "row = 1: must be 0 (packed), or from 12 (the values of a row) to "},
    {3, 0, {SIZE_MAX, 0, 0}, "row = 18446744073709551615: must be 0 (packed), or from 12"},
    {2, 0, {LARGEST / 10 + 1, 0, 0}, "row = 1801439850948199: must be 0 (packed), or from 12 (the values of a row) "
                                      "to 1801439850948198"},
    {3, 0, {LARGEST / 80 + 1, 0, 0}, "row = 225179981368525: must be 0 (packed), or from 12 (the values of a row) "
                                      "to 225179981368524"},
    {3, 0, {SIZE_MAX / 10 + 2, 20, 0}, "row = 1844674407370955163: must be 0"}, /* ten such rows overflow to 4 elements */
    {3, 0, {0, 119, 0}, "plane = 119: must be 0 (no gaps between planes), or from 120 (10 rows of 12) to "},
    {3, 0, {14, 126, 0}, "plane = 126: must be 0 (no gaps between planes), or from 140 (10 rows of 14) to "},
    {3, 0, {14, 1, 0}, "plane = 1: must be 0 (no gaps between planes), or from 140 (10 rows of 14) to "},
    {3, 0, {14, SIZE_MAX, 0}, "plane = 18446744073709551615: must be 0 (no gaps between planes), or from 140"},
    {3, 0, {0, LARGEST / 8 + 1, 0}, "plane = 2251799813685248: must be 0 (no gaps between planes), or from 120 (10 rows of 12) "
                                    "to 2251799813685247"},
    {3, 0, {14, 141, 0}, "plane = 141: must be a multiple of the row, 14"},
    {3, 0, {0, 121, 0}, "plane = 121: must be a multiple of the row, 12"},
    {1, 0, {0, 0, SIZE_MAX}, "first = 18446744073709551615: the number of bytes overflows"},
    {1, 0, {0, 0, LARGEST - 11}, "first = 18014398509481972: the number of bytes overflows"},
    {2, 0, {20, 0, LARGEST - 199}, "first = 18014398509481784: the number of bytes overflows"},
    {3, 0, {14, 168, LARGEST - 1343}, "first = 18014398509480640: the number of bytes overflows"},
    /* an array of coefficients on faces is one longer along its axis */
    {2, 1, {12, 0, 0}, "row = 12: must be 0 (packed), or from 13 (the values of a row) to "},
    {3, 1, {12, 0, 0}, "row = 12: must be 0 (packed), or from 13 (the values of a row) to "},
    {3, 1, {13, 130, 0}, "plane = 130: must be 0 (no gaps between planes), or from 143 (11 rows of 13) to "},
    {3, 1, {13, 144, 0}, "plane = 144: must be a multiple of the row, 13"},
    {3, 1, {0, 144, 0}, "plane = 144: with beta_face it needs a row, too"},
    {3, 1, {0, 143, 0}, "plane = 143: with beta_face it needs a row, too"},
};

/* Create and plan refuse each of the layouts, in every array. */
static void layouts_are_refused(void **state)
{
  (void)state;
  const gmg_params q = gmg_params_default();
  gmg_context *c;
  gmg_plan_info *info = malloc(sizeof *info);
  assert_int_equal(gmg_context_create_host(1, &c), GMG_OK);
  for (int i = 0; i < COUNT(refused); i++)
    for (int k = 0; k < COUNT(arrays); k++) {
      gmg_problem p = problem_of(refused[i].dim, refused[i].faces);
      gmg_solver *s = (gmg_solver *)&c;
      char words[200];
      if (refused[i].faces && arrays[k] != COEFFICIENTS) continue;
      *layout_of(&p, arrays[k]) = refused[i].layout;
      snprintf(words, sizeof words, "problem.%s.%s", name_of(arrays[k]), refused[i].words);
      says(c, gmg_solver_create(c, &p, &q, &s), GMG_ERR_ARGUMENT, words);
      assert_null(s);
      says(c, gmg_plan(c, &p, &q, info), GMG_ERR_ARGUMENT, words);
    }
  gmg_context_destroy(c);
  free(info);
}

/* A halo has room before the first unknown, and between rows and planes. */
static void halos_without_room_are_refused(void **state)
{
  (void)state;
  static const struct {
    int dim;
    gmg_array_layout layout;
    size_t halo[3];
    const char *words; /* NULL: there is room */
  } rows[] = {{1, {0, 0, 3}, {3, 0, 0}, NULL},
              {1, {0, 0, 2}, {3, 0, 0}, "problem.halo: f_layout has 2 elements before the first unknown, and the halo 3"},
              {2, {0, 0, 100}, {1, 0, 0}, "problem.halo[0] = 1: f_layout has no room for such layers on both sides of 12 unknowns"},
              {2, {14, 0, 15}, {1, 1, 0}, NULL},
              {2, {14, 0, 14}, {1, 1, 0}, "problem.halo: f_layout has 14 elements before the first unknown, and the halo 15"},
              {3, {14, 154, 999}, {1, 1, 1}, "problem.halo[1] = 1: f_layout has no room for such layers on both sides of 10 unknowns"},
              {3, {14, 168, 183}, {1, 1, 1}, NULL},
              {3, {0, 0, 240}, {0, 0, 2}, NULL},
              {3, {0, 0, 999}, {0, 0, SIZE_MAX}, "problem.halo[2] = 18446744073709551615"}};
  const gmg_params q = gmg_params_default();
  gmg_context *c;
  gmg_plan_info *info = malloc(sizeof *info);
  assert_int_equal(gmg_context_create_host(1, &c), GMG_OK);
  for (int i = 0; i < COUNT(rows); i++) {
    gmg_problem p = problem_of(rows[i].dim, 0);
    p.f_layout = p.u_layout = rows[i].layout;
    memcpy(p.halo, rows[i].halo, sizeof p.halo);
    const gmg_status status = gmg_plan(c, &p, &q, info);
    if (rows[i].words) says(c, status, GMG_ERR_ARGUMENT, rows[i].words);
    else assert_ok(c, status);
  }
  gmg_context_destroy(c);
  free(info);
}

/* The largest layouts that are not refused. A plan reads no array. */
static void largest_layouts(void **state)
{
  (void)state;
  static const struct {
    int dim;
    gmg_array_layout layout;
  } rows[] = {{1, {0, 0, LARGEST - 12}},        {2, {20, 0, LARGEST - 200}},   {2, {LARGEST / 10, 0, 0}},
              {3, {14, 168, LARGEST - 8 * 168}}, {3, {LARGEST / 80, 0, 0}},    {3, {0, LARGEST / 8 / 12 * 12, 0}},
              {3, {LARGEST / 80, 0, LARGEST - LARGEST / 80 * 80}}};
  const gmg_params q = gmg_params_default();
  gmg_context *c;
  gmg_plan_info *info = malloc(sizeof *info);
  assert_int_equal(gmg_context_create_host(1, &c), GMG_OK);
  for (int i = 0; i < COUNT(rows); i++)
    for (int k = 0; k < COUNT(arrays); k++) {
      gmg_problem p = problem_of(rows[i].dim, 0);
      *layout_of(&p, arrays[k]) = rows[i].layout;
      assert_ok(c, gmg_plan(c, &p, &q, info));
      assert_true(info->bytes < 1000000); /* the solver allocates nothing for the caller's arrays */
    }
  gmg_context_destroy(c);
  free(info);
}

/* Pitches beyond dim are not read. Gaps between rows or planes of which there is only one are ignored. */
static void what_is_not_there_is_not_read(void **state)
{
  (void)state;
  static const struct {
    int dim;
    size_t n[3];
    gmg_array_layout layout;
  } rows[] = {{1, {50, 1, 1}, {3, 7, 0}},    {1, {50, 1, 1}, {SIZE_MAX, SIZE_MAX, 0}}, {2, {9, 8, 1}, {0, 5, 0}},
              {2, {9, 8, 1}, {9, SIZE_MAX, 0}}, {2, {50, 1, 1}, {1000000, 3, 0}},      {3, {50, 1, 1}, {99, 198, 0}},
              {3, {9, 8, 1}, {9, 9000, 0}},  {3, {9, 1, 8}, {9, 9, 0}},                {3, {1, 9, 8}, {1, 9, 0}},
              {3, {1, 1, 1}, {5, 500, 0}}};
  fill_random(f, ROOM, 1);
  for (int i = 0; i < COUNT(rows); i++) {
    const size_t n[3] = {rows[i].n[0], rows[i].n[1], rows[i].n[2]};
    gmg_problem p = make_problem(rows[i].dim, n[0], n[1], n[2], GMG_CELL, "ddnndd");
    gmg_params q = gmg_params_default();
    q.deterministic = 1;
    for (int odd = 0; odd < 2; odd++) {
      if (odd) p.f_layout = p.u_layout = p.coefficient_layout = rows[i].layout;
      double *to = odd ? r : u;
      for (int k = 0; k < ROOM; k++) to[k] = k < (int)(n[0] * n[1] * n[2]) ? 0 : NAN;
      session s = begin_solver(&p, &q, 1);
      assert_ok(s.context, gmg_solve(s.solver, f, to, NULL));
      end_solver(&s);
    }
    assert_memory_equal(u, r, sizeof u);
  }
}

/* An update must not change the layouts of f and u, but zeros and the packed values they stand for are equal. Coefficients may
   come in another layout. */
static void updates(void **state)
{
  (void)state;
  const gmg_params q = gmg_params_default();
  gmg_problem p = problem_of(3, 0), other;
  p.f_layout = (gmg_array_layout){14, 168, 200}, p.u_layout = (gmg_array_layout){0, 240, 0}, p.beta = beta;
  for (int i = 0; i < ROOM; i++) beta[i] = 1 + i % 3;
  session s = begin_solver(&p, &q, 1);
#define DIFFERS(change, words)                                                                        \
  other = p, change, says(s.context, gmg_solver_update(s.solver, &other), GMG_ERR_ARGUMENT, "problem." words \
                          ": only the shift, the stencil's entries and the values of beta, beta_face and sigma may change")
  DIFFERS(other.f_layout.row = 12, "f_layout.row = 12 differs from the solver's 14");
  DIFFERS(other.f_layout.row = 0, "f_layout.row = 12 differs from the solver's 14");
  DIFFERS(other.f_layout.plane = 182, "f_layout.plane = 182 differs from the solver's 168");
  DIFFERS(other.f_layout.plane = 0, "f_layout.plane = 140 differs from the solver's 168");
  DIFFERS(other.f_layout.first = 201, "f_layout.first = 201 differs from the solver's 200");
  DIFFERS((other.u_layout.row = 14, other.u_layout.plane = 0), "u_layout.row = 14 differs from the solver's 12");
  DIFFERS(other.u_layout.plane = 252, "u_layout.plane = 252 differs from the solver's 240");
  DIFFERS(other.u_layout.first = 1234567, "u_layout.first = 1.23457e+06 differs from the solver's 0");
#undef DIFFERS
  other = p, other.u_layout.row = 13;
  says(s.context, gmg_solver_update(s.solver, &other), GMG_ERR_ARGUMENT,
       "problem.u_layout.plane = 240: must be a multiple of the row, 13");
  other = p, other.coefficient_layout.row = 3;
  says(s.context, gmg_solver_update(s.solver, &other), GMG_ERR_ARGUMENT,
       "problem.coefficient_layout.row = 3: must be 0 (packed)");
  other = p, other.u_layout.row = 12, other.coefficient_layout = (gmg_array_layout){20, 400, 7};
  assert_ok(s.context, gmg_solver_update(s.solver, &other));
  fill_random(f, ROOM, 3), memset(u, 0, sizeof u);
  assert_ok(s.context, gmg_solve(s.solver, f, u, NULL)); /* the solver still works */
  end_solver(&s);
}

/* f and u in one array. u begins `apart` elements after f. */
static void overlaps(void **state)
{
  (void)state;
  static const struct {
    int dim;
    gmg_array_layout f, u;
    long apart;
    int overlap;
  } rows[] = {
      {3, {12, 240, 0}, {12, 240, 0}, 120, 0},      {3, {12, 240, 0}, {12, 240, 0}, 119, 1}, /* f and u plane by plane */
      {3, {12, 240, 0}, {12, 240, 0}, 121, 1},      {3, {12, 240, 120}, {12, 240, 0}, -119, 1},
      {3, {12, 240, 120}, {12, 240, 0}, -120, 1},   {3, {12, 240, 120}, {12, 240, 0}, 0, 0},
      {3, {24, 240, 0}, {24, 240, 0}, 12, 0}, /* f and u row by row */
      {3, {24, 240, 0}, {24, 240, 0}, 11, 1},       {3, {24, 240, 0}, {24, 240, 0}, 13, 1},
      {3, {24, 240, 0}, {24, 240, 0}, 12 + 240, 0}, {3, {24, 240, 0}, {24, 240, 0}, 24, 1},
      {3, {12, 360, 0}, {12, 360, 0}, 240, 0},      {3, {12, 360, 0}, {12, 360, 0}, 480, 0}, /* three fields row by row */
      {3, {24, 480, 0}, {24, 480, 0}, 227, 1},      {3, {24, 480, 0}, {24, 480, 0}, 240, 0},
      {3, {14, 168, 0}, {14, 168, 0}, 13, 1},       {3, {14, 168, 0}, {14, 168, 0}, 154, 1},
      {3, {26, 312, 0}, {26, 312, 0}, 12, 0},       {3, {26, 312, 0}, {26, 312, 0}, 14, 0},
      {3, {26, 312, 0}, {26, 312, 0}, 15, 1},       {3, {12, 240, 0}, {24, 240, 0}, 120, 1}, /* with different pitches whole ranges are compared */
      {3, {12, 240, 0}, {24, 240, 0}, 1800, 0},     {3, {12, 240, 0}, {24, 240, 0}, 1799, 1},
      {2, {24, 0, 0}, {24, 0, 0}, 12, 0},           {2, {24, 0, 0}, {24, 0, 0}, 11, 1},
      {2, {30, 0, 5}, {30, 0, 0}, 5 + 18, 0},       {2, {30, 0, 5}, {30, 0, 0}, 5 + 19, 1},
      {2, {24, 0, 0}, {24, 0, 0}, 24 * 9 + 12, 0},  {2, {24, 0, 0}, {24, 0, 0}, 24 * 9 + 11, 1},
      {1, {0, 0, 3}, {0, 0, 0}, 15, 0},             {1, {0, 0, 3}, {0, 0, 0}, 14, 1},
      {1, {40, 80, 0}, {40, 80, 0}, 11, 1}}; /* in 1D there are no rows between which u could lie */
  gmg_params q = gmg_params_default();
  for (int i = 0; i < COUNT(rows); i++) {
    gmg_problem p = problem_of(rows[i].dim, 0);
    const long middle = ROOM / 4;
    p.f_layout = rows[i].f, p.u_layout = rows[i].u;
    session s = begin_solver(&p, &q, 1);
    fill_random(f, ROOM, 4);
    double *const F = f + middle, *const U = f + middle + rows[i].apart;
    const gmg_status wanted = rows[i].overlap ? GMG_ERR_ARGUMENT : GMG_OK;
    says(s.context, gmg_solve(s.solver, F, U, NULL), wanted, rows[i].overlap ? "overlaps f = " : "");
    says(s.context, gmg_precondition(s.solver, F, U), wanted, rows[i].overlap ? "overlaps r = " : "");
    says(s.context, gmg_residual(s.solver, r, U, F), wanted, rows[i].overlap ? "overlaps u = " : "");
    says(s.context, gmg_residual(s.solver, F, u, F), GMG_ERR_ARGUMENT, "overlaps f = ");
    void *flux[3] = {F}; /* whole ranges are compared */
    says(s.context, gmg_flux(s.solver, F + 1, flux, NULL), GMG_ERR_ARGUMENT, "flux[0] = ");
    says(s.context, gmg_solve(s.solver, F, (char *)F + 4, NULL), GMG_ERR_ARGUMENT, "overlaps f = "); /* apart by a half of an element */
    says(s.context, gmg_solve(s.solver, NULL, U, NULL), GMG_ERR_ARGUMENT, "f is NULL");
    says(s.context, gmg_solve(s.solver, F, NULL, NULL), GMG_ERR_ARGUMENT, "u is NULL");
    says(s.context, gmg_precondition(s.solver, NULL, U), GMG_ERR_ARGUMENT, "r is NULL");
    says(s.context, gmg_residual(s.solver, F, U, NULL), GMG_ERR_ARGUMENT, "r is NULL");
    says(s.context, gmg_flux(s.solver, NULL, flux, NULL), GMG_ERR_ARGUMENT, "u is NULL");
    end_solver(&s);
  }
}

/* Bad values of unknowns are named by their index in the caller's array. Bad values in the gaps are not read. */
static void bad_values(void **state)
{
  (void)state;
  const size_t row = 14, plane = 168, first = 1 + row + plane, at = first + 3 + 4 * row + 5 * plane;
  const gmg_params q = gmg_params_default();
  gmg_problem p = problem_of(3, 0);
  char words[200];
  gmg_solver *none;
  p.f_layout = p.u_layout = p.coefficient_layout = (gmg_array_layout){row, plane, first}, p.beta = beta, p.sigma = r;
  for (int i = 0; i < ROOM; i++) f[i] = u[i] = beta[i] = r[i] = NAN;
  for (size_t i = 0; i < MOST; i++) {
    const size_t c = place_in(&p, p.n, &p.f_layout, i % 12, i / 12 % 10, i / 120);
    f[c] = 1, u[c] = 0, beta[c] = 2, r[c] = 1;
  }
  session s = begin_solver(&p, &q, 1);
  assert_ok(s.context, gmg_solve(s.solver, f, u, NULL));
#define NAMES(array, value, call, ...)                                   \
  do {                                                                  \
    const double before = array[at];                                    \
    array[at] = value, snprintf(words, sizeof words, __VA_ARGS__);      \
    says(s.context, call, GMG_ERR_ARGUMENT, words);                     \
    array[at] = before;                                                 \
  } while (0)
  NAMES(f, NAN, gmg_solve(s.solver, f, u, NULL), "f[%zu] = nan: must be finite", at);
  NAMES(f, 1e300, gmg_solve(s.solver, f, u, NULL), "f[%zu] = 1e+300: too large", at);
  NAMES(u, -INFINITY, gmg_solve(s.solver, f, u, NULL), "u[%zu] = -inf (the guess): must be finite", at);
  NAMES(beta, 0, gmg_solver_create(s.context, &p, &q, &none), "problem.beta[%zu] = 0: must be positive", at);
  NAMES(beta, NAN, gmg_solver_update(s.solver, &p), "problem.beta[%zu] = nan: must be positive", at);
  NAMES(r, -INFINITY, gmg_solver_update(s.solver, &p), "problem.sigma[%zu] = -inf: must be finite", at);
#undef NAMES
  assert_ok(s.context, gmg_solver_update(s.solver, &p));
  assert_ok(s.context, gmg_solve(s.solver, f, u, NULL));
  end_solver(&s);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(layouts_are_refused), cmocka_unit_test(halos_without_room_are_refused), cmocka_unit_test(largest_layouts),
                                     cmocka_unit_test(what_is_not_there_is_not_read), cmocka_unit_test(updates),
                                     cmocka_unit_test(overlaps), cmocka_unit_test(bad_values)};
  return run_selected(tests);
}
