/* Invalid coefficients and positions. The errors of create, plan and update contain the index and the value. A solver whose update
   was refused solves as before. */
#include "sample.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NX = 7, NY = 5, NZ = 6, CELLS = NX * NY * NZ };

/* An array of the problem, and its name in error texts. */
typedef enum { BETA, FACE0, FACE1, FACE2, SIGMA, COORD0, COORD1, COORD2, ARRAYS } array;
static const char *const names[ARRAYS] = {
    "problem.beta",  "problem.beta_face[0]", "problem.beta_face[1]", "problem.beta_face[2]",
    "problem.sigma", "problem.coord[0]",     "problem.coord[1]",     "problem.coord[2]"};

static size_t length_of(array a)
{
  static const size_t n[3] = {NX, NY, NZ};
  if (a >= FACE0 && a <= FACE2) return CELLS / n[a - FACE0] * (n[a - FACE0] + 1);
  return a >= COORD0 ? n[a - COORD0] + 1 : CELLS;
}

static const void **slot(gmg_problem *p, array a)
{
  if (a >= FACE0 && a <= FACE2) return &p->beta_face[a - FACE0];
  return a == SIGMA ? &p->sigma : &p->beta;
}

/* Valid values: increasing positions, coefficients around 1. */
static double *good_values(array a)
{
  double *x = field(length_of(a), (uint64_t)a + 1);
  for (size_t i = 0; i < length_of(a); i++) x[i] = a >= COORD0 ? 0.1 * (double)i + 0.02 * x[i] : 1 + x[i];
  return x;
}

static void set(gmg_problem *p, array a, const double *x)
{
  if (a >= COORD0) p->coord[a - COORD0] = x;
  else *slot(p, a) = typed(p, x, length_of(a)); /* freed by clear() */
}

static void clear(gmg_problem *p)
{
  for (array a = BETA; a <= SIGMA; a++) {
    free((void *)*slot(p, a));
    *slot(p, a) = NULL;
  }
  for (int a = 0; a < 3; a++) p->coord[a] = NULL;
}

static gmg_problem base_problem(gmg_type type)
{
  gmg_problem p = make_problem(3, NX, NY, NZ, GMG_CELL, "dndrpp");
  p.type = type;
  return p;
}

/* A problem whose array `a` is x. If x holds coefficients on faces, the other axes get valid ones. */
static gmg_problem problem_with(gmg_type type, array a, const double *x)
{
  gmg_problem p = base_problem(type);
  set(&p, a, x);
  for (array b = FACE0; b <= FACE2 && a >= FACE0 && a <= FACE2; b++) {
    double *other = good_values(b);
    if (b != a) set(&p, b, other);
    free(other);
  }
  return p;
}

static int says(const gmg_context *c, const char *const words[], int count)
{
  for (int i = 0; i < count; i++)
    if (!strstr(gmg_context_error(c), words[i])) return 0;
  return 1;
}

/* Create and plan refuse the problem, with these words in the text. */
static void refuse(gmg_context *c, const gmg_problem *p, const char *const words[], int count)
{
  static gmg_plan_info info;
  const gmg_params q = gmg_params_default();
  gmg_solver *s = (gmg_solver *)&info;
  for (int plan = 0; plan < 2; plan++) {
    const gmg_status got = plan ? gmg_plan(c, p, &q, &info) : gmg_solver_create(c, p, &q, &s);
    if (got != GMG_ERR_ARGUMENT || !says(c, words, count))
      fail_msg("%s: wanted '%s' and '%s', got %s: %s", plan ? "plan" : "create", words[0], words[1], gmg_status_string(got),
               gmg_context_error(c));
    assert_null(s);
  }
}

/* The arrays are refused altogether as long as they are not built: then there is nothing to test here. */
static gmg_context *begin(void)
{
  gmg_context *c;
  gmg_solver *s;
  const gmg_params q = gmg_params_default();
  gmg_problem p = base_problem(GMG_F64);
  double *x = good_values(BETA);
  set(&p, BETA, x);
  assert_int_equal(gmg_context_create_host(1, &c), GMG_OK);
  const gmg_status status = gmg_solver_create(c, &p, &q, &s);
  gmg_solver_destroy(s);
  clear(&p);
  free(x);
  if (status == GMG_ERR_UNSUPPORTED && strstr(gmg_context_error(c), "not supported yet")) {
    gmg_context_destroy(c);
    printf("not run: coefficients are not supported yet\n");
    skip();
  }
  return c;
}

/* Invalid values at the beginning, in the middle and at the end of every array. */
static void each_bad_value_is_named(void **state)
{
  (void)state;
  static const double values[] = {-1, NAN, INFINITY, -INFINITY, 0};
  gmg_context *c = begin();
  for (gmg_type type = GMG_F64; type <= GMG_F32; type++)
    for (array a = BETA; a < ARRAYS; a++)
      for (int v = 0; v < 5; v++)
        for (size_t place = 0; place < 3; place++) {
          const size_t at = place * (length_of(a) - 1) / 2;
          if ((values[v] == 0 && a >= SIGMA) || (values[v] == -1 && a == SIGMA)) continue; /* allowed */
          if (a >= COORD0 && place == 0 && values[v] == -1) continue;       /* allowed */
          if (a >= FACE0 && a <= FACE2 && a == FACE2 && place == 2) continue; /* periodic: not read */
          double *x = good_values(a);
          char index[32], value[32];
          x[at] = values[v];
          gmg_problem p = problem_with(type, a, x);
          snprintf(index, sizeof index, "[%zu]", at);
          snprintf(value, sizeof value, "%g", values[v]);
          const char *const words[] = {names[a], index, value};
          refuse(c, &p, words, 3);
          clear(&p);
          free(x);
        }
  gmg_context_destroy(c);
}

static void positions_must_increase(void **state)
{
  (void)state;
  gmg_context *c = begin();
  for (array a = COORD0; a <= COORD2; a++)
    for (size_t at = 1; at < length_of(a); at++)
      for (int back = 0; back < 2; back++) { /* equal to the position before, and below it */
        double *x = good_values(a);
        char index[32];
        x[at] = x[at - 1] - back * 0.01;
        gmg_problem p = problem_with(GMG_F64, a, x);
        snprintf(index, sizeof index, "[%zu]", at);
        const char *const words[] = {names[a], index};
        refuse(c, &p, words, 2);
        clear(&p);
        free(x);
      }
  gmg_context_destroy(c);
}

static void arrays_that_exclude_each_other(void **state)
{
  (void)state;
  gmg_context *c = begin();
  double *cells = good_values(BETA), *faces[3];
  for (int a = 0; a < 3; a++) faces[a] = good_values((array)(FACE0 + a));
  static const struct {
    int given[3], missing; /* the first axis without coefficients on faces, which the text names */
  } cases[] = {{{1, 0, 0}, 1}, {{0, 1, 0}, 0}, {{1, 1, 0}, 2}, {{0, 0, 1}, 0}, {{1, 0, 1}, 1}, {{0, 1, 1}, 0}};
  for (int i = 0; i < COUNT(cases); i++) {
    gmg_problem p = base_problem(GMG_F64);
    for (int a = 0; a < 3; a++)
      if (cases[i].given[a]) set(&p, (array)(FACE0 + a), faces[a]);
    const char *const words[] = {names[FACE0 + cases[i].missing], ""};
    refuse(c, &p, words, 2);
    clear(&p);
  }
  gmg_problem p = problem_with(GMG_F64, FACE0, faces[0]);
  set(&p, BETA, cells);
  const char *const words[] = {"problem.beta", "problem.beta_face"};
  refuse(c, &p, words, 2);
  clear(&p);
  for (int a = 0; a < 3; a++) free(faces[a]);
  free(cells);
  gmg_context_destroy(c);
}

/* Arrays of axes beyond dim are not read. */
static void axes_beyond_dim_are_ignored(void **state)
{
  (void)state;
  gmg_context *c = begin();
  gmg_solver *s;
  const gmg_params q = gmg_params_default();
  gmg_problem p = make_problem(2, NX, NY, 1, GMG_CELL, "dddd");
  double *x = good_values(BETA);
  p.beta = x;
  p.beta_face[2] = p.coord[2] = (const double *)8;
  assert_ok(c, gmg_solver_create(c, &p, &q, &s));
  gmg_solver_destroy(s);
  gmg_context_destroy(c);
  free(x);
}

/* A refused update changes nothing: the next solve gives the same bits as before. */
static void a_refused_update_changes_nothing(void **state)
{
  (void)state;
  static const array arrays[] = {BETA, FACE1, SIGMA};
  static const double values[] = {-INFINITY, NAN, INFINITY};
  gmg_context *c = begin();
  gmg_params q = gmg_params_default();
  q.deterministic = 1;
  for (gmg_type type = GMG_F64; type <= GMG_F32; type++)
    for (int i = 0; i < COUNT(arrays); i++)
      for (int k = 0; k < COUNT(values); k++) {
        const array a = arrays[i];
        gmg_solver *s;
        double *x = good_values(a), *random = field(CELLS, 3), *zero = field(CELLS, 0);
        gmg_problem p = problem_with(type, a, x);
        void *f = typed(&p, random, CELLS), *before = typed(&p, zero, CELLS), *after = typed(&p, zero, CELLS);
        assert_ok(c, gmg_solver_create(c, &p, &q, &s));
        assert_ok(c, gmg_solve(s, f, before, NULL));
        x[length_of(a) / 2] = values[k], x[0] = 5;
        gmg_problem bad = problem_with(type, a, x), fewer = base_problem(type);
        bad.shift = 7;
        assert_int_equal(gmg_solver_update(s, &bad), GMG_ERR_ARGUMENT);
        if (!strstr(gmg_context_error(c), names[a])) fail_msg("update: %s", gmg_context_error(c));
        assert_int_equal(gmg_solver_update(s, &fewer), GMG_ERR_ARGUMENT); /* an update must set the same arrays */
        assert_ok(c, gmg_solve(s, f, after, NULL));
        assert_memory_equal(before, after, CELLS * (type == GMG_F32 ? sizeof(float) : sizeof(double)));
        gmg_solver_destroy(s);
        clear(&p), clear(&bad);
        free(x), free(random), free(zero), free(f), free(before), free(after);
      }
  gmg_context_destroy(c);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_bad_value_is_named), cmocka_unit_test(positions_must_increase),
      cmocka_unit_test(arrays_that_exclude_each_other), cmocka_unit_test(axes_beyond_dim_are_ignored),
      cmocka_unit_test(a_refused_update_changes_nothing)};
  return run_selected(tests);
}
