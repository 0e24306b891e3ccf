/* The operator and whole solves against a dense reference: every boundary kind, both centrings, sizes 1, 2, 3, 5,
   with boundary values and shift, in 1D, 2D and 3D; float against double. */
#include "util.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const pairs[] = {"dd", "dn", "nd", "nn", "dr", "rd", "rr", "nr", "pp"};
enum { PAIRS = sizeof pairs / sizeof *pairs };

/* Random f, u and boundary values; g of a face is kept for the reference. */
typedef struct {
  double *f, *u, *g[3][2];
} data;

static data make_data(const gmg_problem *p, gmg_solver *s, const gmg_context *c, uint64_t seed)
{
  const size_t N = unknowns(p);
  data d = {calloc(N, sizeof(double)), calloc(N, sizeof(double)), {{0}}};
  fill_random(d.f, N, seed);
  fill_random(d.u, N, seed + 1);
  for (int a = 0; a < p->dim; a++)
    for (int side = 0; side < 2; side++) {
      if (p->bc[a][side] == GMG_PERIODIC) continue;
      d.g[a][side] = calloc(N / p->n[a], sizeof(double));
      fill_random(d.g[a][side], N / p->n[a], seed + 2 + (uint64_t)(2 * a + side));
      assert_ok(c, gmg_set_boundary_values(s, a, side, d.g[a][side]));
    }
  return d;
}

static void free_data(data *d)
{
  free(d->f);
  free(d->u);
  for (int i = 0; i < 6; i++) free(d->g[i / 2][i % 2]);
}

static void check_residual(const gmg_problem *p)
{
  const size_t N = unknowns(p);
  gmg_params params = gmg_params_default();
  session s = begin_solver(p, &params, 1);
  data d = make_data(p, s.solver, s.context, 7);
  double *A = dense_matrix(p), *b = dense_rhs(p, d.f, d.g), *r = calloc(N, sizeof *r), scale = 0;
  assert_ok(s.context, gmg_residual(s.solver, d.f, d.u, r));
  double mean = 0, volume = 0; /* a singular problem is made compatible */
  for (size_t c = 0; c < N; c++) mean += cell_volume(p, c) * b[c], volume += cell_volume(p, c);
  gmg_plan_info *info = malloc(sizeof *info);
  assert_ok(s.context, gmg_plan(s.context, p, &params, info));
  for (size_t c = 0; c < N; c++) {
    double v = b[c] - (info->singular ? mean / volume : 0);
    for (size_t j = 0; j < N; j++) v -= A[c * N + j] * d.u[j], scale = fmax(scale, fabs(A[c * N + j]));
    assert_near(r[c], v, 1e-13 * (scale + fabs(b[c])));
  }
  free(info);
  free(A), free(b), free(r);
  free_data(&d);
  end_solver(&s);
}

static void residual_matches_reference(void **state)
{
  (void)state;
  static const size_t sizes[] = {1, 2, 3, 5};
  for (int centering = GMG_VERTEX; centering <= GMG_CELL; centering++)
    for (int x = 0; x < PAIRS; x++)
      for (int i = 0; i < 4; i++) {
        char bc[7] = "";
        strcat(bc, pairs[x]);
        gmg_problem p = make_problem(1, sizes[i], 1, 1, centering, bc);
        p.shift = 0.5;
        check_residual(&p);
        strcat(bc, pairs[(x + 4) % PAIRS]);
        p = make_problem(2, sizes[i], sizes[(i + 1) % 4], 1, centering, bc);
        check_residual(&p);
        strcat(bc, pairs[(x + 7) % PAIRS]);
        p = make_problem(3, sizes[i], sizes[(i + 1) % 4], sizes[(i + 3) % 4], centering, bc);
        p.h[1] *= 1.7;
        p.shift = i == 2 ? 0 : 3;
        check_residual(&p);
      }
}

/* Solutions by every smoother against elimination. Singular problems: zero mean on both sides. */
static void check_solution(const gmg_problem *p, const gmg_params *params)
{
  const size_t N = unknowns(p);
  session s = begin_solver(p, params, 2);
  data d = make_data(p, s.solver, s.context, 11);
  double *A = dense_matrix(p), *b = dense_rhs(p, d.f, d.g), mean = 0, volume = 0, most = 0;
  gmg_report report;
  const gmg_status status = gmg_solve(s.solver, d.f, d.u, &report);
  if (status != GMG_OK && status != GMG_STAGNATED)
    fail_msg("%s on %zux%zux%zu: %s", params->smoother->name, p->n[0], p->n[1], p->n[2], gmg_context_error(s.context));
  if (report.singular) { /* compatible, and fixed by adding the volume-weighted mean to every row */
    for (size_t c = 0; c < N; c++) mean += cell_volume(p, c) * b[c], volume += cell_volume(p, c);
    assert_near(report.mean_removed, mean / volume, 1e-12 * (1 + fabs(mean / volume)));
    double strength = 1;
    for (size_t c = 0; c < N; c++) strength = fmax(strength, A[c * N + c]);
    for (size_t c = 0; c < N; c++) {
      b[c] -= mean / volume;
      for (size_t j = 0; j < N; j++) A[c * N + j] += strength * cell_volume(p, j) / volume;
    }
  }
  assert_true(dense_solve(A, b, N));
  for (size_t c = 0; c < N; c++) most = fmax(most, fabs(b[c]));
  for (size_t c = 0; c < N; c++) assert_near(d.u[c], b[c], 1e-8 * (most + 1e-3));
  free(A), free(b);
  free_data(&d);
  end_solver(&s);
}

static void solutions_match_elimination(void **state)
{
  (void)state;
  static const size_t sizes[] = {1, 2, 3, 5, 8, 9, 13};
  int turn = 0;
  gmg_params params = gmg_params_default();
  params.rtol = 1e-11;
  params.max_cycles = 300;
  for (int centering = GMG_VERTEX; centering <= GMG_CELL; centering++)
    for (int x = 0; x < PAIRS; x++)
      for (int y = 0; y < PAIRS; y++, turn++) {
        char bc[7] = "";
        strcat(strcat(strcat(bc, pairs[x]), pairs[y]), pairs[(x + 2 * y) % PAIRS]);
        params.smoother = gmg_smoother_by_name(gmg_smoother_name(turn % 5));
        params.coarse = turn % 3 ? GMG_COARSE_CG : GMG_COARSE_CHOLESKY;
        params.accel = turn % 4 == 3 ? GMG_ACCEL_FLEXIBLE_CG : GMG_ACCEL_NONE;
        params.cycle = (gmg_cycle_kind)(turn % 3);
        params.fmg = turn % 7 == 0;
        gmg_problem p = make_problem(2, sizes[turn % 7], sizes[(turn / 7) % 7], 1, centering, bc);
        check_solution(&p, &params);
        p = make_problem(3, sizes[(turn + 3) % 7], sizes[(turn + 1) % 7], sizes[(turn / 5) % 5], centering, bc);
        if (turn % 2) p.shift = 1;
        check_solution(&p, &params);
        p = make_problem(1, sizes[turn % 7] * 5, 1, 1, centering, pairs[x]);
        check_solution(&p, &params);
      }
}

/* A float solver follows a double one to the accuracy of float. */
static void float_follows_double(void **state)
{
  (void)state;
  gmg_problem p = make_problem(3, 20, 17, 12, GMG_CELL, "dnrdpp");
  gmg_params params = gmg_params_default();
  const size_t N = unknowns(&p);
  double *f = calloc(N, sizeof *f), *u = calloc(N, sizeof *u), most = 0;
  float *f32 = calloc(N, sizeof *f32), *u32 = calloc(N, sizeof *u32);
  fill_random(f, N, 3);
  for (size_t i = 0; i < N; i++) f32[i] = (float)f[i];
  session s = begin_solver(&p, &params, 2);
  assert_ok(s.context, gmg_solve(s.solver, f, u, NULL));
  end_solver(&s);
  p.type = GMG_F32;
  params.rtol = 1e-4;
  s = begin_solver(&p, &params, 2);
  assert_ok(s.context, gmg_solve(s.solver, f32, u32, NULL));
  end_solver(&s);
  for (size_t i = 0; i < N; i++) most = fmax(most, fabs(u[i]));
  for (size_t i = 0; i < N; i++) assert_near((double)u32[i], u[i], 1e-3 * most);
  free(f), free(u), free(f32), free(u32);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(residual_matches_reference),
                                     cmocka_unit_test(solutions_match_elimination),
                                     cmocka_unit_test(float_follows_double)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
