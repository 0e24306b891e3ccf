/* Parameters that are refused with a box stencil, and invalid stencils. The texts name the member and its value. */
#include "boxes.h"

#include <math.h>
#include <string.h>

static float coefficients[2000];
static const double positions[12] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};

/* What a row of the table changes. */
typedef enum { ENTRY, PAIR, LOPSIDED, IMAGE, SINGULAR, INFLOW, SHIFT, CELLS, ROBIN, BETA, BETA_FACE, SIGMA, COORD, SMOOTHER, LOCAL, SUM, SIZE } change;

static const struct {
  change what;
  int entry; /* [z][y][x] as a number of base 3 */
  double value;
  gmg_status status;
  const char *words[2];
} rows[] = {
    {ENTRY, 13, 0, GMG_ERR_ARGUMENT, {"problem.stencil->entry[1][1][1] = 0", "positive"}},
    {ENTRY, 13, -4, GMG_ERR_ARGUMENT, {"problem.stencil->entry[1][1][1] = -4", "positive"}},
    {ENTRY, 13, NAN, GMG_ERR_ARGUMENT, {"problem.stencil->entry[1][1][1] = nan", "must be 0, or from"}},
    {PAIR, 12, INFINITY, GMG_ERR_ARGUMENT, {"problem.stencil->entry[1][1][0] = inf", "must be 0, or from"}},
    {PAIR, 9, 1e-310, GMG_ERR_ARGUMENT, {"problem.stencil->entry[1][0][0] = 1e-310", "must be 0, or from"}},
    {PAIR, 9, 1e305, GMG_ERR_ARGUMENT, {"problem.stencil->entry[1][0][0] = 1e+305", "must be 0, or from"}},
    {LOPSIDED, 0, 0, GMG_ERR_UNSUPPORTED, {"problem.stencil->entry[1][1][0] = -3: differs from entry[1][1][2] = -", "params.accel = GMG_ACCEL_CG needs a"}},
    {LOPSIDED, 1, 0, GMG_ERR_UNSUPPORTED, {"problem.stencil->entry[1][1][0] = -3", "params.accel = GMG_ACCEL_FLEXIBLE_CG needs a symmetric matrix"}},
    {LOPSIDED, 2, 0, GMG_ERR_UNSUPPORTED, {"problem.stencil->entry[1][1][0] = -3", "params.symmetric = 1 needs a symmetric matrix"}},
    {LOPSIDED, 3, 0, GMG_ERR_UNSUPPORTED, {"problem.stencil->entry[1][1][0] = -3", "params.coarse = GMG_COARSE_CG needs a symmetric matrix"}},
    {LOPSIDED, 4, 0, GMG_ERR_UNSUPPORTED, {"params.coarse = GMG_COARSE_DENSE takes at most 1024 unknowns, the coarsest grid has 1600", "params.max_levels = 1 ends the coarsening there"}},
    {IMAGE, 0, -5, GMG_ERR_UNSUPPORTED, {"entry[1][0][0] = -5: differs from entry[1][2][0] = -", "its image in a Neumann wall: params.symmetric = 1"}},
    {SINGULAR, 0, 0, GMG_ERR_UNSUPPORTED, {"problem.stencil->entry[1][1][0] = -", "gmg cannot make f compatible"}},
    {INFLOW, 0, 0, GMG_ERR_UNSUPPORTED, {"params.coarse = GMG_COARSE_DENSE: the coarsest grid's matrix (", "is singular up to rounding"}},
    {PAIR, 4, -1, GMG_ERR_ARGUMENT, {"problem.stencil->entry[0][1][1] = -1", "problem.dim = 2"}},
    {SUM, 13, 0.5, GMG_ERR_UNSUPPORTED, {"problem.stencil: its entries add up to -", "not positive definite"}},
    {PAIR, 9, -1e-200, GMG_ERR_ARGUMENT, {"problem.stencil->entry[1][0][0] = -1e-200", "from"}},
    {PAIR, 9, 1e20, GMG_ERR_ARGUMENT, {"problem.stencil->entry[1][0][0] = 1e+20", "at most 1e+06 times as large as the diagonal"}},
    {SHIFT, 0, 1e-17, GMG_ERR_UNSUPPORTED, {"problem.shift = 1e-17", "lost in rounding beside the stencil's centre = 2"}},
    {SHIFT, 0, 1e-310, GMG_ERR_ARGUMENT, {"problem.shift = 1e-310", "so that its quotient with the stencil's centre = 2"}},
    {CELLS, 0, 0, GMG_ERR_UNSUPPORTED, {"problem.centering = GMG_CELL", "vertices"}},
    {ROBIN, 0, 0, GMG_ERR_UNSUPPORTED, {"problem.bc[1][1] = GMG_ROBIN", "Dirichlet"}},
    {BETA, 0, 0, GMG_ERR_UNSUPPORTED, {"problem.beta = ", "problem.stencil"}},
    {BETA_FACE, 0, 0, GMG_ERR_UNSUPPORTED, {"problem.beta_face[0] = ", "problem.stencil"}},
    {SIGMA, 0, 0, GMG_ERR_UNSUPPORTED, {"problem.sigma = ", "problem.stencil"}},
    {COORD, 0, 0, GMG_ERR_UNSUPPORTED, {"problem.coord[0] = ", "problem.stencil"}},
    {SMOOTHER, 0, 0, GMG_ERR_UNSUPPORTED, {"params.smoother = \"red_black\"", "box stencil"}},
    {LOCAL, 0, 0, GMG_ERR_UNSUPPORTED, {"params.async.local = GMG_LOCAL_GAUSS_SEIDEL", "problem.stencil"}},
    {SIZE, 0, 0, GMG_ERR_UNSUPPORTED, {"problem.stencil.size = ", "is not 0"}},
};

/* Asks for what needs a symmetric matrix. */
static void ask(gmg_params *q, gmg_problem *p, int what)
{
  q->smoother = gmg_smoother_by_name("gauss_seidel"), q->deterministic = 1;
  if (what == 0) q->accel = GMG_ACCEL_CG;
  if (what == 1) q->accel = GMG_ACCEL_FLEXIBLE_CG;
  if (what == 2) q->symmetric = 1;
  if (what == 3) q->coarse = GMG_COARSE_CG;
  if (what == 4) q->max_levels = 1, p->n[0] = p->n[1] = 40;
}

static void refused(void **state)
{
  (void)state;
  gmg_context *c;
  assert_int_equal(gmg_context_create_host(1, &c), GMG_OK);
  for (int i = 0; i < COUNT(rows); i++) {
    gmg_problem p = make_problem(2, 10, 10, 1, GMG_VERTEX, "dddd");
    struct {
      gmg_stencil known;
      char more[8];
    } box = {.known = gmg_stencil_q1(2, p.h, 0), .more = "x"};
    gmg_params q = gmg_params_default();
    gmg_solver *s = NULL;
    gmg_plan_info info;
    double *entry = &box.known.entry[0][0][0];
    p.stencil = &box.known, box.known.size = sizeof box.known;
    switch (rows[i].what) {
      case ENTRY: entry[rows[i].entry] = rows[i].value; break;
      case PAIR: entry[rows[i].entry] = entry[26 - rows[i].entry] = rows[i].value; break;
      case SUM: entry[rows[i].entry] *= rows[i].value; break;
      case LOPSIDED: entry[12] = -3, entry[13] = 1000, ask(&q, &p, rows[i].entry); break;
      case IMAGE: entry[9] = entry[17] = rows[i].value, entry[13] = 1000, p.bc[1][1] = GMG_NEUMANN, ask(&q, &p, 2); break;
      case SINGULAR:
        entry[12] *= 2, entry[14] *= 0.5, entry[13] -= entry[12] / 2 - entry[14];
        p.bc[0][0] = p.bc[0][1] = p.bc[1][0] = p.bc[1][1] = GMG_NEUMANN;
        break;
      case INFLOW: /* from an insulated wall: rows add up to 0 but on the other walls, which rounding never feels */
        box.known = (gmg_stencil){.entry = {[1] = {[1] = {-1.999, 2, -0.001}}}}, box.known.size = sizeof box.known;
        p.n[0] = 60, p.n[1] = 1, p.bc[0][0] = p.bc[1][0] = p.bc[1][1] = GMG_NEUMANN;
        break;
      case SHIFT: /* the widths do not matter */
        box.known = gmg_stencil_q1(2, NULL, 0), box.known.size = sizeof box.known, p.shift = rows[i].value;
        for (int a = 0; a < 2; a++) p.h[a] = 1e6, p.bc[a][0] = p.bc[a][1] = GMG_NEUMANN;
        break;
      case CELLS: p.centering = GMG_CELL; break;
      case ROBIN: p.bc[1][1] = GMG_ROBIN; break;
      case BETA: p.beta = coefficients; break;
      case BETA_FACE: p.beta_face[0] = p.beta_face[1] = coefficients; break;
      case SIGMA: p.sigma = coefficients; break;
      case COORD: p.coord[0] = positions; break;
      case SMOOTHER: q.smoother = gmg_smoother_by_name("red_black"); break;
      case LOCAL: q.async.local = GMG_LOCAL_GAUSS_SEIDEL, q.direct = GMG_DIRECT_NEVER; break;
      case SIZE: box.known.size = sizeof box; break;
    }
    for (int create = 0; create < 2; create++) {
      const gmg_status status = create ? gmg_solver_create(c, &p, &q, &s) : gmg_plan(c, &p, &q, &info);
      const char *text = gmg_context_error(c);
      if (rows[i].what == INFLOW && !create) continue; /* a plan does not factorise */
      if (status != rows[i].status || !strstr(text, rows[i].words[0]) || !strstr(text, rows[i].words[1]))
        fail_msg("row %d: %s: %s", i, gmg_status_string(status), text);
      assert_null(s);
    }
  }
  gmg_context_destroy(c);
}

static void calls_refused(void **state)
{
  (void)state;
  gmg_problem p = make_problem(2, 10, 10, 1, GMG_VERTEX, "dddd");
  const gmg_stencil box = gmg_stencil_q1(2, p.h, 0);
  static double u[100], flux[120];
  void *const outputs[3] = {flux, NULL, NULL};
  const gmg_params q = gmg_params_default();
  p.stencil = &box;
  session s = begin_solver(&p, &q, 1);
  assert_int_equal(gmg_set_boundary_constant(s.solver, 0, 0, 1), GMG_ERR_UNSUPPORTED);
  assert_non_null(strstr(gmg_context_error(s.context), "boundary values: a box stencil takes none"));
  assert_int_equal(gmg_set_boundary_values(s.solver, 0, 0, u), GMG_ERR_UNSUPPORTED);
  assert_int_equal(gmg_flux(s.solver, u, outputs, NULL), GMG_ERR_UNSUPPORTED);
  assert_non_null(strstr(gmg_context_error(s.context), "gmg_flux: a box stencil has no fluxes"));
  p.stencil = NULL;
  assert_int_equal(gmg_solver_update(s.solver, &p), GMG_ERR_ARGUMENT);
  assert_non_null(strstr(gmg_context_error(s.context), "problem.stencil = NULL"));
  end_solver(&s);
}

/* A refused update leaves the solver as it was: for invalid entries, and for a coarsest matrix that cannot be factorised. */
static void failed_updates(void **state)
{
  (void)state;
  static const struct {
    double corner, other_corner; /* added to the entries */
    const char *words;
  } changes[] = {{-3, 0, "add up to -"}, {NAN, 0, "problem.stencil->entry[1][0][0] = nan"}, {-9, 9, "is not positive definite"}};
  gmg_problem p = make_problem(2, 40, 40, 1, GMG_VERTEX, "dddd");
  const gmg_stencil box = gmg_stencil_q1(2, NULL, 0), other = gmg_stencil_q1(2, NULL, 1);
  const gmg_params q = {.deterministic = 1, .direct = GMG_DIRECT_NEVER};
  static double f[1600], u[3][1600];
  gmg_report r;
  fill_random(f, 1600, 3);
  p.stencil = &box;
  session s = begin_solver(&p, &q, 1);
  assert_ok(s.context, gmg_solve(s.solver, f, u[0], &r));
  for (int i = 0; i < COUNT(changes); i++) {
    gmg_stencil bad = box;
    double *entry = &bad.entry[0][0][0];
    entry[9] += changes[i].corner, entry[17] += changes[i].corner;
    entry[11] += changes[i].other_corner, entry[15] += changes[i].other_corner;
    p.stencil = &bad;
    assert_int_not_equal(gmg_solver_update(s.solver, &p), GMG_OK);
    if (!strstr(gmg_context_error(s.context), changes[i].words)) fail_msg("%s", gmg_context_error(s.context));
    memset(u[1], 0, sizeof u[1]);
    assert_ok(s.context, gmg_solve(s.solver, f, u[1], &r));
    assert_memory_equal(u[0], u[1], sizeof u[0]);
  }
  p.stencil = &other;
  assert_ok(s.context, gmg_solver_update(s.solver, &p));
  assert_ok(s.context, gmg_solve(s.solver, f, u[2], &r));
  assert_memory_not_equal(u[0], u[2], sizeof u[0]);
  end_solver(&s);
}

static void q1_takes_what_it_can(void **state)
{
  (void)state;
  static const double bad[3] = {1, -1, 1}, good[3] = {0.5, 0.25, 1};
  gmg_stencil s;
  assert_int_equal(gmg_stencil_q1_init(&s, sizeof s, 0, NULL, 0), GMG_ERR_ARGUMENT);
  assert_int_equal(gmg_stencil_q1_init(&s, sizeof s, 4, NULL, 0), GMG_ERR_ARGUMENT);
  assert_int_equal(gmg_stencil_q1_init(&s, sizeof s, 2, bad, 0), GMG_ERR_ARGUMENT);
  assert_int_equal(gmg_stencil_q1_init(&s, sizeof s, 2, NULL, -1), GMG_ERR_ARGUMENT);
  assert_int_equal(gmg_stencil_q1_init(&s, sizeof s, 2, NULL, NAN), GMG_ERR_ARGUMENT);
  assert_int_equal(gmg_stencil_q1_init(NULL, sizeof s, 2, NULL, 0), GMG_ERR_ARGUMENT);
  assert_near(s.entry[1][1][1], 0, 0);
  assert_int_equal(gmg_stencil_q1_init(&s, sizeof s, 2, NULL, 0), GMG_OK);
  assert_near(s.entry[1][1][1], 8 / 3., 1e-15);
  assert_near(s.entry[1][0][1], -1 / 3., 1e-15);
  assert_near(s.entry[1][0][0], -1 / 3., 1e-15);
  assert_int_equal(gmg_stencil_q1_init(&s, sizeof s, 1, good, 0), GMG_OK);
  assert_near(s.entry[1][1][1], 8, 1e-14);
  assert_near(s.entry[1][1][0], -4, 1e-14);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(refused), cmocka_unit_test(calls_refused), cmocka_unit_test(failed_updates),
                                     cmocka_unit_test(q1_takes_what_it_can)};
  return run_selected(tests);
}
