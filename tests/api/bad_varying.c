/* Errors of create and update in box stencils whose entries vary, with the value. */
#include "boxes.h"
#include "sample.h"
#include "varying.h"

#include <math.h>
#include <string.h>

typedef enum { VALUE, LOPSIDED, SINGULAR, SHIFT, BOTH, UNUSED, CONSTANT, ROBIN, BETA, SMOOTHER, LOCAL, SUM, GROWS, SCALED, ODD, OWN } change;

static unsigned takes_constant(const gmg_params *p, int threads) { return (void)p, (void)threads, GMG_SMOOTHER_BOX; }
static unsigned takes_both(const gmg_params *p, int threads) { return (void)p, (void)threads, GMG_SMOOTHER_BOX | GMG_SMOOTHER_BOX_ARRAYS; }
static void no_sweep(const gmg_smoother_level *l, void *state, const void *f, void *u, int steps, gmg_leg leg)
{
  (void)l, (void)state, (void)f, (void)u, (void)steps, (void)leg;
}
static const gmg_smoother_ops no_ops = {.sweep = no_sweep};
static const gmg_smoother constant_only = {"mine", takes_constant, NULL, {{&no_ops, &no_ops}, {NULL, NULL}}};
static const gmg_smoother both_kinds = {"mine", takes_both, NULL, {{&no_ops, &no_ops}, {NULL, NULL}}};

static const struct {
  change what;
  int entry;
  double value;
  gmg_status status;
  const char *words[2];
} rows[] = {
    {VALUE, 13, 0, GMG_ERR_ARGUMENT, {"problem.stencil->array[1][1][1] = 0 in row (2, 3, 0)", "must be positive"}},
    {VALUE, 13, -4, GMG_ERR_ARGUMENT, {"problem.stencil->array[1][1][1] = -4 in row (2, 3, 0)", "must be positive"}},
    {VALUE, 13, NAN, GMG_ERR_ARGUMENT, {"problem.stencil->array[1][1][1] = nan in row (2, 3, 0)", "must be finite"}},
    {VALUE, 14, INFINITY, GMG_ERR_ARGUMENT, {"problem.stencil->array[1][1][2] = inf in row (2, 3, 0)", "must be finite"}},
    {VALUE, 9, 1e200, GMG_ERR_ARGUMENT, {"problem.stencil->array[1][0][0] = 1e+200 in row (2, 3, 0)", "below 1e+100"}},
    {VALUE, 12, -1e9, GMG_ERR_ARGUMENT, {"problem.stencil->array[1][1][0] = -1e+09 in row (2, 3, 0)", "at most 1e+06 times as large as the diagonal"}},
    {LOPSIDED, 12, -3, GMG_ERR_UNSUPPORTED, {"problem.stencil->array[1][1][0] = -3 in row (2, 3, 0)", "distance (-1, 0, 0)"}},
    {LOPSIDED, 16, -3, GMG_ERR_UNSUPPORTED, {"in row (2, 4, 0): differs from what the row of this neighbour", "-3: params.coarse = GMG_COARSE_CG needs a"}},
    {SINGULAR, 12, -3, GMG_ERR_UNSUPPORTED, {"problem.stencil->array[1][1][0] = -3 in row (2, 3, 0)", "gmg cannot make f compatible"}},
    {GROWS, 12, -1e3, GMG_ERR_UNSUPPORTED, {"problem.stencil->array[1][1][0] = -1000 in row (2, 3, 0): too large", "positive definite"}},
    {GROWS, 12, -1e9, GMG_ERR_ARGUMENT, {"problem.stencil->array[1][1][2] = -1e+09 in row (1, 3, 0)", "at most 1e+06 times as large as the diagonal"}},
    {SCALED, 0, 1e-45, GMG_ERR_ARGUMENT, {"e-46 in row (2, 3, 0): must be at most 1e+06 times as large as the diagonal, ", "e-90"}},
    {SCALED, 0, 1e-8, GMG_ERR_ARGUMENT, {"e-09 in row (2, 3, 0): must be at most 1e+06 times as large as the diagonal, ", "e-16"}},
    {SCALED, 0, 1e8, GMG_ERR_ARGUMENT, {"e+07 in row (1, 2, 0): must be at most 1e+06 times as large as the diagonal, ", ""}},
    {BOTH, 12, -3, GMG_ERR_ARGUMENT, {"problem.stencil->entry[1][1][0] = -3: must be 0, because array[1][1][0]", "holds the entries"}},
    {UNUSED, 4, 0, GMG_ERR_ARGUMENT, {"problem.stencil->array[0][1][1] = ", "problem.dim = 2 has no such neighbour"}},
    {CONSTANT, 14, NAN, GMG_ERR_ARGUMENT, {"problem.stencil->entry[1][1][2] = nan", "below 1e+100"}},
    {CONSTANT, 14, -3, GMG_ERR_UNSUPPORTED, {"in row (1, 0, 0): differs from what the row", "-3: params.coarse = GMG_COARSE_CG needs a symmetric matrix"}},
    {SUM, 13, 0.5, GMG_ERR_UNSUPPORTED, {"problem.stencil: the entries of a row add up to -", "no wall is Dirichlet"}},
    {SHIFT, 0, 1e-17, GMG_ERR_UNSUPPORTED, {"problem.shift = 1e-17", "lost in rounding beside the stencil's centre = "}},
    {ROBIN, 0, 0, GMG_ERR_UNSUPPORTED, {"problem.bc[1][1] = GMG_ROBIN", "Dirichlet"}},
    {BETA, 0, 0, GMG_ERR_UNSUPPORTED, {"problem.beta = ", "problem.stencil"}},
    {SMOOTHER, 0, 0, GMG_ERR_UNSUPPORTED, {"params.smoother = \"red_black\"", "variable box stencil"}},
    {OWN, 0, 0, GMG_ERR_UNSUPPORTED, {"params.smoother = \"mine\"", "variable box stencil"}},
    {LOCAL, 0, 0, GMG_ERR_UNSUPPORTED, {"params.async.local = GMG_LOCAL_GAUSS_SEIDEL", "problem.stencil"}},
    {ODD, 0, 0, GMG_ERR_UNSUPPORTED, {"problem.n[0] = 40: a variable box stencil", "This axis has 41 on a grid of 40 x 40 x 1 unknowns"}},
};

/* Multiplies the row and the column of an unknown in 2D, without walls beside it. */
static void scale_unknown(const gmg_problem *p, varying *box, size_t at, double by)
{
  for (int e = 9; e < 18; e++) {
    const size_t there = at + (size_t)(e / 3 % 3) * p->n[0] + (size_t)(e % 3) - p->n[0] - 1;
    set_value(p, box->array[e], at, value_at(p, box->array[e], at) * by);
    set_value(p, box->array[26 - e], there, value_at(p, box->array[26 - e], there) * by);
  }
}

static void refused(void **state)
{
  (void)state;
  static double beta[1600];
  gmg_context *c;
  assert_int_equal(gmg_context_create_host(1, &c), GMG_OK);
  for (int i = 0; i < COUNT(rows); i++) {
    const size_t n = rows[i].what == ODD ? 40 : rows[i].what == SUM || rows[i].what == SINGULAR ? 9 : 11;
    gmg_problem p = make_problem(2, n, n, 1, GMG_VERTEX, rows[i].what == SUM || rows[i].what == SINGULAR ? "nnnn" : "dddd");
    gmg_params q = gmg_params_default();
    gmg_solver *s = NULL;
    gmg_plan_info info;
    for (int a = 0; a < 2; a++) p.h[a] = 1;
    if (rows[i].what == SHIFT) p.shift = rows[i].value, p.bc[0][0] = p.bc[0][1] = p.bc[1][0] = p.bc[1][1] = GMG_NEUMANN;
    varying box = varying_q1(&p, beta_smooth, 0);
    gmg_stencil *const to = &box.stencil;
    const int e = rows[i].entry;
    double *const values = box.array[e ? e : 13], *constant = &(&to->entry[0][0][0])[e];
    const size_t place = 3 * n + 2;
    p.stencil = to;
    switch (rows[i].what) {
      case VALUE: values[place] = rows[i].value; break;
      case LOPSIDED: values[place] = rows[i].value, q.coarse = GMG_COARSE_CG; break;
      case SINGULAR:
        ((double *)box.array[13])[place] += values[place] - rows[i].value, values[place] = rows[i].value;
        break;
      case GROWS: values[place] = ((double *)box.array[14])[place - 1] = rows[i].value; break;
      case SCALED: scale_unknown(&p, &box, place, rows[i].value); break;
      case SHIFT: p.h[0] = p.h[1] = 1e6; break; /* the widths do not matter */
      case BOTH: *constant = rows[i].value; break;
      case UNUSED: (&to->array[0][0][0])[e] = beta; break;
      case CONSTANT: *constant = rows[i].value, (&to->array[0][0][0])[e] = NULL, q.coarse = GMG_COARSE_CG; break;
      case ROBIN: p.bc[1][1] = GMG_ROBIN; break;
      case BETA: p.beta = beta; break;
      case SMOOTHER: q.smoother = gmg_smoother_by_name("red_black"); break;
      case LOCAL: q.async.local = GMG_LOCAL_GAUSS_SEIDEL; break;
      case SUM:
        for (size_t k = 0; k < n * n; k++) values[k] *= rows[i].value;
        for (int d = 0; d < 27; d++)
          for (size_t k = 0; d != 13 && box.array[d] && k < n * n; k++) ((double *)box.array[d])[k] *= 0.6;
        break;
      case ODD: break;
      case OWN: q.smoother = &constant_only; break;
    }
    for (int create = 0; create < 2; create++) {
      const gmg_status status = create ? gmg_solver_create(c, &p, &q, &s) : gmg_plan(c, &p, &q, &info);
      const char *text = gmg_context_error(c);
      if (status != rows[i].status || !strstr(text, rows[i].words[0]) || !strstr(text, rows[i].words[1]))
        if (rows[i].what != LOCAL || create) fail_msg("row %d: %s: %s", i, gmg_status_string(status), text);
      assert_null(s);
    }
    free_varying(&box);
  }
  gmg_context_destroy(c);
}

/* Stencils and parameters that are like the refused ones, but valid: one level without coarser ones, CG on a large coarsest grid,
   a user's smoother with the trait. */
static void taken_all_the_same(void **state)
{
  (void)state;
  static const struct {
    size_t n;
    gmg_coarse_kind coarse;
    const gmg_smoother *smoother;
  } cases[] = {{20, GMG_COARSE_AUTO, NULL}, {40, GMG_COARSE_CG, NULL}, {31, GMG_COARSE_AUTO, &both_kinds}, {1, GMG_COARSE_AUTO, NULL}};
  for (int i = 0; i < COUNT(cases); i++) {
    gmg_problem p = make_problem(2, cases[i].n, cases[i].n, 1, GMG_VERTEX, "dddd");
    gmg_params q = gmg_params_default();
    varying box = varying_q1(&p, beta_smooth, 0);
    p.stencil = &box.stencil, q.coarse = cases[i].coarse;
    if (cases[i].smoother) q.smoother = cases[i].smoother;
    session s = begin_solver(&p, &q, 1);
    end_solver(&s);
    free_varying(&box);
  }
}

/* Badly scaled matrices within the bound, of both types: conjugate gradients solve them, down to the rounding floor. */
static void badly_scaled(void **state)
{
  (void)state;
  static const double scale[2][4] = {[GMG_F64] = {1e-6, 1e-3, 1e3, 1e6}, [GMG_F32] = {1e-3, 1e-2, 1e2, 1e3}};
  for (int type = GMG_F64; type <= GMG_F32; type++)
    for (int i = 0; i < 4; i++)
      for (size_t at = 480; at < 483; at++) {
        gmg_problem p = make_problem(2, 31, 31, 1, GMG_VERTEX, "dddd");
        const gmg_params q = {.accel = GMG_ACCEL_FLEXIBLE_CG};
        gmg_report r;
        p.type = (gmg_type)type;
        varying box = varying_q1(&p, beta_smooth, 0);
        double *random = field(961, 1), *zero = field(961, 0);
        void *f = typed(&p, random, 961), *u = typed(&p, zero, 961);
        p.stencil = &box.stencil;
        scale_unknown(&p, &box, at, scale[type][i]);
        session s = begin_solver(&p, &q, 1);
        const gmg_status status = gmg_solve(s.solver, f, u, &r);
        if (status != GMG_OK && (type == GMG_F64 || status != GMG_STAGNATED))
          fail_msg("scale %g at %zu: %s", scale[type][i], at, gmg_context_error(s.context));
        end_solver(&s);
        free(random), free(zero), free(f), free(u), free_varying(&box);
      }
}

/* Penalties: large centres of Q1. A coarse grid loses the rest of a row that it sees through interpolation alone, if the centre is
   more than 1/eps times as large. Powers of 4 are lost exactly. Without interpolation, or in thick regions, any size works. */
static void penalties(void **state)
{
  (void)state;
  typedef enum { ONE, REGION, ALL_BUT_ONE } where;
  static const struct {
    gmg_type type;
    size_t n;
    gmg_centering centering;
    where where;
    size_t at[2];
    int power; /* of 2 */
    gmg_precision precision;
    const char *words; /* NULL: the problem is solved */
  } cases[] = {
      {GMG_F64, 31, GMG_VERTEX, ONE, {18, 15}, 100, GMG_PRECISION_AUTO, "array[1][1][1] = 1.26765e+30 in row (18, 15, 0): so large that coarse grids in GMG_F64 lose"},
      {GMG_F32, 31, GMG_VERTEX, ONE, {18, 15}, 50, GMG_PRECISION_AUTO, "array[1][1][1] = 1.1259e+15 in row (18, 15, 0): so large that coarse grids in GMG_F32 lose"},
      {GMG_F64, 127, GMG_VERTEX, ONE, {62, 63}, 34, GMG_PRECISION_AUTO, "= 1.71799e+10 in row (62, 63, 0): so large that coarse grids in GMG_F32 lose"},
      {GMG_F64, 127, GMG_VERTEX, ONE, {62, 63}, 34, GMG_PRECISION_AUTO, "(not with params.precision = GMG_PRECISION_SAME): "},
      {GMG_F64, 127, GMG_VERTEX, ONE, {62, 63}, 34, GMG_PRECISION_SAME, NULL},
      {GMG_F64, 31, GMG_VERTEX, ONE, {18, 15}, 50, GMG_PRECISION_AUTO, NULL},
      {GMG_F32, 31, GMG_VERTEX, ONE, {18, 15}, 20, GMG_PRECISION_AUTO, NULL},
      {GMG_F64, 31, GMG_VERTEX, ONE, {15, 15}, 300, GMG_PRECISION_AUTO, NULL}, /* an unknown of all grids */
      {GMG_F64, 31, GMG_VERTEX, REGION, {18, 15}, 300, GMG_PRECISION_AUTO, NULL},
      {GMG_F32, 31, GMG_VERTEX, REGION, {18, 15}, 100, GMG_PRECISION_AUTO, NULL},
      {GMG_F64, 31, GMG_VERTEX, ALL_BUT_ONE, {18, 15}, 300, GMG_PRECISION_AUTO, NULL},
      {GMG_F64, 31, GMG_CELL, ONE, {18, 15}, 300, GMG_PRECISION_AUTO, NULL},
      {GMG_F32, 31, GMG_CELL, ONE, {18, 15}, 100, GMG_PRECISION_AUTO, NULL},
  };
  for (int i = 0; i < COUNT(cases); i++) {
    const size_t n = cases[i].n, N = n * n, at = cases[i].at[0] + n * cases[i].at[1];
    gmg_problem p = make_problem(2, n, n, 1, cases[i].centering, "dddd");
    gmg_params q = gmg_params_default();
    gmg_context *c;
    gmg_solver *s = NULL;
    p.type = cases[i].type, p.h[0] = p.h[1] = 1, q.precision = cases[i].precision;
    varying box = cases[i].centering == GMG_VERTEX ? varying_q1(&p, beta_one, 0) : varying_cells(&p, beta_one, 0, 0.2);
    double *random = field(N, 1), *zero = field(N, 0);
    void *f = typed(&p, random, N), *u = typed(&p, zero, N);
    for (size_t k = 0; k < N; k++) {
      const int large = cases[i].where == ONE ? k == at : cases[i].where == REGION ? k % n <= at % n : k != at;
      if (large) set_value(&p, box.array[13], k, value_at(&p, box.array[13], k) + ldexp(1, cases[i].power));
    }
    p.stencil = &box.stencil;
    assert_int_equal(gmg_context_create_host(1, &c), GMG_OK);
    gmg_status status = gmg_solver_create(c, &p, &q, &s);
    if (status == GMG_OK) status = gmg_solve(s, f, u, NULL);
    const gmg_status wanted = cases[i].words ? GMG_ERR_UNSUPPORTED : GMG_OK;
    if (status != wanted || (cases[i].words && !strstr(gmg_context_error(c), cases[i].words)))
      fail_msg("case %d: %s: %s", i, gmg_status_string(status), gmg_context_error(c));
    gmg_solver_destroy(s);
    gmg_context_destroy(c);
    free(random), free(zero), free(f), free(u), free_varying(&box);
  }
}

/* A refused update leaves the solver as it was. */
static void failed_updates(void **state)
{
  (void)state;
  static double f[961], u[2][961];
  static const struct {
    int entry; /* the entry that changes, at the unknown in the middle; 0: the centre becomes constant */
    double value;
    const char *words;
  } changes[] = {{13, -1, "must be positive"}, {12, -1, "GMG_COARSE_CG needs a symmetric matrix"}, {0, 0, "problem.stencil->array[1][1][1] = NULL differs"}};
  gmg_problem p = make_problem(2, 31, 31, 1, GMG_VERTEX, "dddd");
  const gmg_params q = {.deterministic = 1, .coarse = GMG_COARSE_CG};
  gmg_report r;
  fill_random(f, 961, 3);
  varying good = varying_q1(&p, beta_smooth, 0);
  p.stencil = &good.stencil;
  session s = begin_solver(&p, &q, 1);
  assert_ok(s.context, gmg_solve(s.solver, f, u[0], &r));
  for (int i = 0; i < COUNT(changes); i++) {
    varying bad = varying_q1(&p, beta_uneven, 0);
    if (changes[i].entry) ((double *)bad.array[changes[i].entry])[480] = changes[i].value;
    else bad.stencil.array[1][1][1] = NULL, bad.stencil.entry[1][1][1] = 1e5;
    p.stencil = &bad.stencil;
    assert_int_not_equal(gmg_solver_update(s.solver, &p), GMG_OK);
    if (!strstr(gmg_context_error(s.context), changes[i].words)) fail_msg("%s", gmg_context_error(s.context));
    memset(u[1], 0, sizeof u[1]);
    assert_ok(s.context, gmg_solve(s.solver, f, u[1], &r));
    assert_memory_equal(u[0], u[1], sizeof u[0]);
    free_varying(&bad);
  }
  end_solver(&s);
  free_varying(&good);
}

/* A program that was compiled before stencils had arrays gives a smaller size. */
static void smaller_struct(void **state)
{
  (void)state;
  static unsigned char memory[sizeof(gmg_stencil)];
  gmg_problem p = make_problem(2, 31, 31, 1, GMG_VERTEX, "dddd");
  const gmg_params q = gmg_params_default();
  memset(memory, 0xff, sizeof memory); /* other data follow the old struct */
  assert_int_equal(gmg_stencil_q1_init((gmg_stencil *)memory, offsetof(gmg_stencil, array), 2, p.h, 0), GMG_OK);
  for (size_t i = offsetof(gmg_stencil, array); i < sizeof memory; i++) assert_int_equal(memory[i], 0xff);
  p.stencil = (const gmg_stencil *)memory;
  gmg_context *c;
  gmg_solver *s;
  assert_int_equal(gmg_context_create_host(1, &c), GMG_OK);
  assert_ok(c, gmg_solver_create(c, &p, &q, &s));
  gmg_solver_destroy(s);
  gmg_context_destroy(c);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(refused), cmocka_unit_test(taken_all_the_same), cmocka_unit_test(badly_scaled), cmocka_unit_test(penalties),
                                     cmocka_unit_test(failed_updates),
                                     cmocka_unit_test(smaller_struct)};
  return run_selected(tests);
}
