/* Texts and effects of errors: an invalid value with its index; a member that an update must not change, with both values; the
   name of a parameter; a defined report. */
#include "util.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NX = 40, NY = 30, NZ = 20, CELLS = NX * NY * NZ };
static double f[CELLS], u[CELLS];

static gmg_problem good_problem(void) { return make_problem(3, NX, NY, NZ, GMG_CELL, "dndrpp"); }

#define SAYS(c, call, status, words)                                                                                             \
  do {                                                                                                                           \
    const gmg_status got_ = (call);                                                                                              \
    if (got_ != (status) || !strstr(gmg_context_error(c), words))                                                                \
      fail_msg("%s: wanted '%s', got %s: %s", #call, words, gmg_status_string(got_), gmg_context_error(c));                      \
  } while (0)

/* Every kind of solve names the first bad value of f or u. */
static void bad_values(void **state)
{
  (void)state;
  static const struct {
    int singular;
    gmg_accel accel;
    gmg_precision precision;
  } kinds[] = {{0, GMG_ACCEL_NONE, GMG_PRECISION_SAME},         {1, GMG_ACCEL_NONE, GMG_PRECISION_SAME},
               {0, GMG_ACCEL_FLEXIBLE_CG, GMG_PRECISION_SAME},  {1, GMG_ACCEL_FLEXIBLE_CG, GMG_PRECISION_SAME},
               {0, GMG_ACCEL_NONE, GMG_PRECISION_MIXED},        {1, GMG_ACCEL_NONE, GMG_PRECISION_MIXED},
               {0, GMG_ACCEL_FLEXIBLE_CG, GMG_PRECISION_MIXED}, {1, GMG_ACCEL_FLEXIBLE_CG, GMG_PRECISION_MIXED}};
  static const size_t at[] = {0, 4095, 4096, CELLS - 1};
  for (int k = 0; k < COUNT(kinds); k++) {
    gmg_problem p = kinds[k].singular ? make_problem(3, NX, NY, NZ, GMG_CELL, "nnnnnn") : good_problem();
    gmg_params q = gmg_params_default();
    q.accel = kinds[k].accel, q.precision = kinds[k].precision;
    session s = begin_solver(&p, &q, 1);
    for (int i = 0; i < COUNT(at); i++)
      for (int in_u = 0; in_u < 2; in_u++) {
        char words[80];
        double *x = in_u ? u : f;
        gmg_report r;
        memset(f, 0, sizeof f), memset(u, 0, sizeof u);
        x[CELLS - 1] = INFINITY; /* only the first bad value is told */
        x[at[i]] = at[i] == CELLS - 1 ? -INFINITY : NAN;
        snprintf(words, sizeof words, "%c[%zu] = %g%s: must be finite", in_u ? 'u' : 'f', at[i], x[at[i]], in_u ? " (the guess)" : "");
        SAYS(s.context, gmg_solve(s.solver, f, u, &r), GMG_ERR_ARGUMENT, words);
        assert_true(r.status == GMG_ERR_ARGUMENT && r.cycles == 0);
        x[at[i]] = x[CELLS - 1] = 0, x[at[i]] = -1e200;
        snprintf(words, sizeof words, "%c[%zu] = -1e+200%s: too large", in_u ? 'u' : 'f', at[i], in_u ? " (the guess)" : "");
        SAYS(s.context, gmg_solve(s.solver, f, u, NULL), GMG_ERR_ARGUMENT, words);
      }
    end_solver(&s);
  }
}

/* A boundary value that is too large is named, not f. */
static void boundary_values(void **state)
{
  (void)state;
  const gmg_problem p = good_problem();
  const gmg_params q = gmg_params_default();
  session s = begin_solver(&p, &q, 1);
  memset(f, 0, sizeof f), memset(u, 0, sizeof u);
  f[0] = 1;
  assert_ok(s.context, gmg_set_boundary_constant(s.solver, 0, 1, 5));
  assert_ok(s.context, gmg_set_boundary_constant(s.solver, 1, 0, -1e150));
  SAYS(s.context, gmg_solve(s.solver, f, u, NULL), GMG_ERR_ARGUMENT, "boundary value g[0] = -1e+150 on axis 1, side 0: too large");
  f[17] = NAN;
  SAYS(s.context, gmg_solve(s.solver, f, u, NULL), GMG_ERR_ARGUMENT, "f[17] = nan");
  f[17] = 0;
  assert_ok(s.context, gmg_set_boundary_constant(s.solver, 1, 0, 0));
  assert_ok(s.context, gmg_solve(s.solver, f, u, NULL));
  end_solver(&s);
}

/* A value whose square overflows is refused where it is set, and the face keeps its values. */
static void boundary_values_that_overflow(void **state)
{
  (void)state;
  static double before[CELLS], g[NX * NZ];
  const gmg_problem p = good_problem();
  gmg_params q = gmg_params_default();
  q.deterministic = 1;
  session s = begin_solver(&p, &q, 1);
  memset(f, 0, sizeof f), memset(before, 0, sizeof before), memset(u, 0, sizeof u);
  assert_ok(s.context, gmg_set_boundary_constant(s.solver, 1, 0, 2));
  assert_ok(s.context, gmg_solve(s.solver, f, before, NULL));
  g[77] = -1e300;
  SAYS(s.context, gmg_set_boundary_values(s.solver, 1, 0, g), GMG_ERR_ARGUMENT, "g[77] = -1e+300 on axis 1, side 0: too large");
  SAYS(s.context, gmg_set_boundary_constant(s.solver, 1, 0, 1e300), GMG_ERR_ARGUMENT, "g = 1e+300 on axis 1, side 0: too large");
  SAYS(s.context, gmg_set_boundary_constant(s.solver, 1, 0, 1e153), GMG_ERR_ARGUMENT, "g = 1e+153 on axis 1, side 0: too large");
  SAYS(s.context, gmg_set_boundary_constant(s.solver, 1, 0, INFINITY), GMG_ERR_ARGUMENT, "g = inf on axis 1, side 0: must be finite");
  assert_ok(s.context, gmg_solve(s.solver, f, u, NULL));
  assert_memory_equal(u, before, sizeof u);
  end_solver(&s);
}

/* The squares of u can be summed, but not those of A u. The text names the largest value of u. */
static void guesses_that_overflow_later(void **state)
{
  (void)state;
  static const gmg_accel accels[] = {GMG_ACCEL_NONE, GMG_ACCEL_FLEXIBLE_CG};
  enum { N = 20, GAPS = 3 };
  for (int type = GMG_F64; type <= GMG_F32; type++)
    for (int a = 0; a < COUNT(accels); a++) {
      gmg_problem p = make_problem(2, N, N, 1, GMG_CELL, "dddd");
      gmg_params q = gmg_params_default();
      gmg_report r;
      static float small_f[N * N], small_u[N * N + GAPS];
      p.type = (gmg_type)type, p.u_layout.first = GAPS, q.accel = accels[a], q.direct = GMG_DIRECT_NEVER;
      memset(f, 0, sizeof f), memset(u, 0, sizeof u), memset(small_f, 0, sizeof small_f), memset(small_u, 0, sizeof small_u);
      u[33] = -1e100, u[77] = -1e152, small_u[33] = 3e38f, small_u[77] = 1e20f;
      u[0] = NAN, small_u[0] = NAN; /* in a gap */
      session s = begin_solver(&p, &q, 1);
      const gmg_status status = type == GMG_F32 ? gmg_solve(s.solver, small_f, small_u, &r) : gmg_solve(s.solver, f, u, &r);
      SAYS(s.context, status, GMG_ERR_ARGUMENT, type == GMG_F32 ? "u[33] = 3e+38 (the guess): too large" : "u[77] = -1e+152 (the guess): too large");
      end_solver(&s);
    }
}

static void updates(void **state)
{
  (void)state;
  static double x[NX + 1], y[NX + 1], array[CELLS];
  const gmg_params q = gmg_params_default();
  gmg_problem p = good_problem();
  for (int i = 0; i <= NX; i++) x[i] = y[i] = i;
  for (int i = 0; i < CELLS; i++) array[i] = 1;
  p.coord[0] = x;
  session s = begin_solver(&p, &q, 1);
  y[7] = 7.25;
#define TRY(change, words)                                                        \
  do {                                                                            \
    gmg_problem p = s.problem;                                                    \
    p.coord[0] = x;                                                               \
    change;                                                                       \
    SAYS(s.context, gmg_solver_update(s.solver, &p), GMG_ERR_ARGUMENT, words);    \
  } while (0)
  TRY(p.dim = 2, "problem.dim = 2 differs from the solver's 3");
  TRY(p.n[1] = 31, "problem.n[1] = 31 differs from the solver's 30");
  TRY(p.h[1] = 0.5, "problem.h[1] = 0.5 differs from the solver's 0.0333333");
  TRY(p.h[1] *= 1 + 1e-12, "differs from the solver's 0.0333333333333333");
  TRY(p.type = GMG_F32, "problem.type = GMG_F32 differs from the solver's GMG_F64");
  TRY(p.centering = GMG_VERTEX, "problem.centering = GMG_VERTEX differs from the solver's GMG_CELL");
  TRY(p.bc[0][1] = GMG_ROBIN, "problem.bc[0][1] = GMG_ROBIN differs from the solver's GMG_NEUMANN");
  TRY(p.robin[1][1][0] = 3, "problem.robin[1][1][0] = 3 differs from the solver's 2");
  TRY(p.coord[0] = y, "problem.coord[0][7] = 7.25 differs from the solver's 7");
  TRY(p.coord[0] = NULL, "problem.coord[0] = NULL differs from the solver's array");
  TRY(p.beta = array, "problem.beta = an array differs from the solver's NULL");
  TRY(p.sigma = array, "problem.sigma = an array differs from the solver's NULL");
#undef TRY
  end_solver(&s);
}

/* If the coarsest grid is too large for Cholesky, the text names the parameter that makes it so. */
static void coarsest_grid(void **state)
{
  (void)state;
  gmg_problem p = good_problem(), line = make_problem(2, 2000, 1, 1, GMG_CELL, "dddd");
  gmg_context *c;
  gmg_solver *s;
  gmg_params q = gmg_params_default();
  q.coarse = GMG_COARSE_DENSE;
  assert_int_equal(gmg_context_create_host(1, &c), GMG_OK);
  q.coarse_cells = 20000;
  SAYS(c, gmg_solver_create(c, &p, &q, &s), GMG_ERR_UNSUPPORTED,
       "params.coarse = GMG_COARSE_DENSE takes at most 1024 unknowns, the coarsest grid has 12000: params.coarse_cells = 20000 ends");
  q.coarse_cells = 0, q.max_levels = 2;
  SAYS(c, gmg_solver_create(c, &p, &q, &s), GMG_ERR_UNSUPPORTED, "has 12000: params.max_levels = 2 ends");
  q.max_levels = 1;
  SAYS(c, gmg_solver_create(c, &line, &q, &s), GMG_ERR_UNSUPPORTED, "has 2000: params.max_levels = 1 ends");
  gmg_context_destroy(c);
}

static int is_defined(const gmg_report *r, gmg_status status)
{
  return r->status == status && r->cycles == 0 && r->history == NULL && r->history_length == 0 && r->level == NULL && r->levels == 0 &&
         isnan(r->residual) && isnan(r->residual0) && isnan(r->target) && isnan(r->factor) && isnan(r->mean_removed) &&
         r->seconds == 0 && r->floor == 0 && !r->singular && !r->direct && !r->deterministic;
}

static void reports(void **state)
{
  (void)state;
  const gmg_problem p = good_problem();
  const gmg_params q = gmg_params_default();
  session s = begin_solver(&p, &q, 1);
  gmg_report r;
#define REFUSED(call)                                 \
  do {                                                \
    memset(&r, 0x5a, sizeof r);                       \
    assert_int_equal(call, GMG_ERR_ARGUMENT);         \
    assert_true(is_defined(&r, GMG_ERR_ARGUMENT));    \
  } while (0)
  REFUSED(gmg_solve(NULL, f, u, &r));
  REFUSED(gmg_solve(s.solver, NULL, u, &r));
  REFUSED(gmg_solve(s.solver, f, NULL, &r));
  REFUSED(gmg_solve(s.solver, f, f, &r));
#undef REFUSED
  end_solver(&s);
}

/* Whatever finds a bad value, and whenever, the report is the same, and u is unchanged. */
static void reports_of_bad_values(void **state)
{
  (void)state;
  static const struct {
    gmg_accel accel;
    int fmg;
    gmg_precision precision;
    const char *walls;
  } kinds[] = {{GMG_ACCEL_NONE, GMG_NONE, GMG_PRECISION_SAME, "dndrpp"},       {GMG_ACCEL_NONE, GMG_NONE, GMG_PRECISION_MIXED, "dndrpp"},
               {GMG_ACCEL_FLEXIBLE_CG, GMG_NONE, GMG_PRECISION_SAME, "dndrpp"}, {GMG_ACCEL_NONE, 1, GMG_PRECISION_SAME, "dndrpp"},
               {GMG_ACCEL_NONE, GMG_NONE, GMG_PRECISION_SAME, "nnnnpp"},        {GMG_ACCEL_NONE, 1, GMG_PRECISION_MIXED, "nnnnpp"}};
  static const double bad[] = {NAN, -INFINITY, 1e300};
  static double kept[CELLS];
  for (int k = 0; k < COUNT(kinds); k++) {
    const gmg_problem p = make_problem(3, NX, NY, NZ, GMG_CELL, kinds[k].walls);
    gmg_params q = gmg_params_default();
    q.accel = kinds[k].accel, q.fmg = kinds[k].fmg, q.precision = kinds[k].precision, q.direct = GMG_DIRECT_NEVER;
    session s = begin_solver(&p, &q, 1);
    for (int i = 0; i < COUNT(bad); i++)
      for (int in_u = 0; in_u < (kinds[k].fmg == 1 ? 1 : 2); in_u++) { /* a full multigrid start reads no guess */
        gmg_report r;
        memset(f, 0, sizeof f);
        for (int c = 0; c < CELLS; c++) u[c] = 1;
        (in_u ? u : f)[123] = bad[i];
        memcpy(kept, u, sizeof u), memset(&r, 0x5a, sizeof r);
        assert_int_equal(gmg_solve(s.solver, f, u, &r), GMG_ERR_ARGUMENT);
        if (!is_defined(&r, GMG_ERR_ARGUMENT)) fail_msg("solve %d, %s[123] = %g", k, in_u ? "u" : "f", bad[i]);
        assert_memory_equal(u, kept, sizeof u);
      }
    memset(f, 0, sizeof f), memset(u, 0, sizeof u);
    assert_ok(s.context, gmg_solve(s.solver, f, u, NULL));
    end_solver(&s);
  }
}

/* Invalid arguments of the two functions that return no status are refused by create. */
static void defaults_from_nothing(void **state)
{
  (void)state;
  const gmg_params q = gmg_params_default();
  gmg_context *c;
  gmg_solver *s;
  assert_int_equal(gmg_context_create_host(1, &c), GMG_OK);
  gmg_problem p = gmg_problem_default(2, NULL);
  SAYS(c, gmg_solver_create(c, &p, &q, &s), GMG_ERR_ARGUMENT, "problem.n[0] = 0");
  p = good_problem();
  gmg_problem_set_box(NULL, p.h);
  gmg_problem_set_box(&p, (const double[]){0, 1, 1});
  SAYS(c, gmg_solver_create(c, &p, &q, &s), GMG_ERR_ARGUMENT, "problem.h[0] = nan");
  gmg_context_destroy(c);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(bad_values), cmocka_unit_test(boundary_values),
                                     cmocka_unit_test(boundary_values_that_overflow), cmocka_unit_test(guesses_that_overflow_later),
                                     cmocka_unit_test(updates),
                                     cmocka_unit_test(coarsest_grid), cmocka_unit_test(reports), cmocka_unit_test(reports_of_bad_values),
                                     cmocka_unit_test(defaults_from_nothing)};
  return run_selected(tests);
}
