/* Growth and NaN during a solve. It ends soon with GMG_DIVERGED, the text names the level where it began, and the solver can be
   used again. */
#include "sample.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const gmg_smoother_ops *red_black(gmg_type type)
{
  return gmg_smoother_by_name("red_black")->ops[on_device ? GMG_BACKEND_CUDA : GMG_BACKEND_HOST][type];
}

/* The functions of red-black with another sweep. */
static gmg_smoother_ops with_sweep(gmg_type type, void (*sweep)(const gmg_smoother_level *, void *, const void *, void *, int, gmg_leg))
{
  gmg_smoother_ops ops = *red_black(type);
  ops.sweep = sweep, ops.sweep_from_zero = NULL;
  return ops;
}

/* A smoother that multiplies every second value by bad_value, on one level. */
static int bad_level;
static double bad_value;

static void explode(const gmg_smoother_level *l, void *state, const void *f, void *u, int steps, gmg_leg leg)
{
  const size_t n = l->A->cells;
  red_black(GMG_F64)->sweep(l, state, f, u, steps, leg);
  if (l->index != bad_level) return;
  double *values = on_device ? field(n, 0) : u;
  if (on_device) device_copy(values, u, n * sizeof *values);
  for (size_t c = 0; c < n; c++) values[c] *= c % 2 ? bad_value : 1;
  if (!on_device) return;
  device_copy(u, values, n * sizeof *values);
  free(values);
}

static void divergence_names_the_level(void **state)
{
  (void)state;
  static const double values[] = {-300, 1e9, NAN, INFINITY};
  gmg_problem p = make_problem(3, 32, 32, 32, GMG_CELL, "dddddd");
  const gmg_smoother_ops ops = with_sweep(GMG_F64, explode);
  const gmg_smoother bad = {.name = "bad", .ops = {{[GMG_F64] = &ops}, {[GMG_F64] = &ops}}};
  gmg_params params = params_for_cycles();
  params.smoother = &bad;
  double *f = field(32768, 1), *u = field(32768, 0);
  for (int v = 0; v < 4; v++)
    for (bad_level = 0; bad_level < 3; bad_level++) {
      char text[32];
      gmg_report r;
      bad_value = values[v];
      session s = begin_solver(&p, &params, 2);
      memset(u, 0, 32768 * sizeof *u);
      assert_int_equal(solve_in(&s, f, u, &r), GMG_DIVERGED);
      snprintf(text, sizeof text, "on level %d ", bad_level);
      if (!strstr(gmg_context_error(s.context), text))
        fail_msg("wanted '%s': %s", text, gmg_context_error(s.context));
      assert_true(r.cycles < 60);
      end_solver(&s);
    }
  free(f), free(u);
}

/* The level is also found if only one leg smooths, and if A is singular and f = 0. */
static void divergence_in_odd_places(void **state)
{
  (void)state;
  const gmg_smoother_ops ops = with_sweep(GMG_F64, explode);
  const gmg_smoother bad = {.name = "bad", .ops = {{[GMG_F64] = &ops}, {[GMG_F64] = &ops}}};
  static const struct {
    const char *name, *bc;
    int pre, post;
  } cases[] = {{"walls, up", "dddd", 0, 1}, {"periodic, up", "pppp", 0, 1}, {"walls, down", "dddd", 1, 0},
               {"periodic, down", "pppp", 1, 0}};
  bad_value = -300;
  for (int i = 0; i < COUNT(cases); i++)
    for (bad_level = 0; bad_level < 3; bad_level++) {
      gmg_problem p = make_problem(2, 64, 64, 1, GMG_CELL, cases[i].bc);
      gmg_params params = params_for_cycles();
      params.smoother = &bad, params.pre = count_or_none(cases[i].pre);
      params.post = count_or_none(cases[i].post);
      double *f = field(4096, 0), *u = field(4096, 1);
      char text[32];
      session s = begin_solver(&p, &params, 2);
      assert_int_equal(solve_in(&s, f, u, NULL), GMG_DIVERGED);
      snprintf(text, sizeof text, "on level %d ", bad_level);
      if (!strstr(gmg_context_error(s.context), text))
        fail_msg("%s, wanted '%s': %s", cases[i].name, text, gmg_context_error(s.context));
      end_solver(&s);
      free(f), free(u);
    }
}

/* A single NaN after some cycles, on one level: it is found under every cycle, acceleration, start and type, and the solver works
   afterwards. */
static int calls_left, poisoned_level;

static void poison(const gmg_smoother_level *l, void *state, const void *f, void *u, int steps, gmg_leg leg)
{
  const float single = NAN;
  const double nan = NAN;
  const void *const value = l->A->type == GMG_F32 ? (const void *)&single : &nan;
  const size_t size = l->A->type == GMG_F32 ? sizeof single : sizeof nan;
  char *const at = (char *)u + l->A->cells / 2 * size;
  red_black(l->A->type)->sweep(l, state, f, u, steps, leg);
  if (l->index != poisoned_level || calls_left-- > 0) return;
  if (on_device) device_copy(at, value, size);
  else memcpy(at, value, size);
}

static void poisoned(const gmg_smoother *late, gmg_problem p, gmg_params params, int calls)
{
  const size_t n = unknowns(&p);
  params.smoother = late, params.rtol = 1e-30; /* so that the solve does not end before the NaN */
  double *values = field(n, 0), *zeros = field(n, 0);
  for (size_t c = 0; c < n; c++) values[c] = (double)(c % 7);
  void *f = typed(&p, values, n), *u = typed(&p, zeros, n);
  for (poisoned_level = 0; poisoned_level < 3; poisoned_level++) {
    char text[32];
    gmg_report r;
    session s = begin_solver(&p, &params, 2);
    memset(u, 0, n * (p.type == GMG_F32 ? sizeof(float) : sizeof(double)));
    calls_left = calls;
    snprintf(text, sizeof text, "on level %d ", poisoned_level);
    const gmg_status status = solve_in(&s, f, u, &r);
    if (status != GMG_DIVERGED || !strstr(gmg_context_error(s.context), text))
      fail_msg("cycle %d, accel %d, fmg %d, wanted '%s': %s", params.cycle, params.accel, params.fmg, text, gmg_context_error(s.context));
    assert_int_equal(r.status, GMG_DIVERGED);
    assert_below(r.cycles, 8);
    memset(u, 0, n * (p.type == GMG_F32 ? sizeof(float) : sizeof(double))); /* the same solver converges when the smoother makes no NaN */
    calls_left = 1 << 30;
    const gmg_status again = solve_in(&s, f, u, &r);
    if (again != GMG_STAGNATED && again != GMG_NOT_CONVERGED)
      fail_msg("cycle %d, accel %d, fmg %d, again: %s", params.cycle, params.accel, params.fmg, gmg_context_error(s.context));
    assert_below(r.residual, (p.type == GMG_F32 ? 1e-2 : 1e-9) * r.residual0);
    end_solver(&s);
  }
  free(values), free(zeros), free(f), free(u);
}

static void nan_that_comes_late(void **state)
{
  static const struct {
    gmg_accel accel;
    int check_every;
  } stops[] = {{GMG_ACCEL_NONE, 1}, {GMG_ACCEL_FLEXIBLE_CG, 1}, {GMG_ACCEL_NONE, 2}};
  static const gmg_type types[] = {GMG_F64, GMG_F32};
  const gmg_smoother_ops ops[2] = {[GMG_F32] = with_sweep(GMG_F32, poison), [GMG_F64] = with_sweep(GMG_F64, poison)};
  const gmg_smoother late = {.name = "late", .ops = {{&ops[0], &ops[1]}, {&ops[0], &ops[1]}}};
  static const gmg_centering centerings[] = {GMG_VERTEX, GMG_CELL};
  static const char *const walls[] = {"ppnn", "dnrd", "dnrd", "dnrd", "dnrd"};
  static const int calls[] = {3, 4, 5, 6}, calls_in_float[] = {2, 3}; /* float solves reach the rounding floor soon */
  int number = 0; /* counts the cases */
  (void)state;
  for (int t = 0; t < 2; t++)
    for (int fmg = 0; fmg < 2; fmg++)
      for (int round = 0; round < 2; round++)
        for (int k = 0; k < 3; k++)
          for (gmg_cycle_kind cycle = GMG_CYCLE_V; cycle <= GMG_CYCLE_F; cycle++, number++) {
            gmg_problem p = make_problem(2, 96, 80, 1, ROUND_ROBIN(centerings, number), ROUND_ROBIN(walls, number));
            gmg_params params = params_for_cycles();
            p.type = types[t];
            params.cycle = cycle, params.fmg = fmg, params.accel = stops[k].accel, params.check_every = stops[k].check_every;
            poisoned(&late, p, params, types[t] == GMG_F32 ? ROUND_ROBIN(calls_in_float, number) : ROUND_ROBIN(calls, number));
          }
}

static void diverges(gmg_centering centering, const char *bc, gmg_cycle_kind cycle)
{
  const gmg_problem p = make_problem(2, 64, 48, 1, centering, bc);
  gmg_params params = params_for_cycles();
  params.smoother = gmg_smoother_by_name("jacobi");
  params.omega = 1.9, params.max_levels = 2, params.cycle = cycle;
  double *f = field(64 * 48, 1), *u = field(64 * 48, 0);
  gmg_report r;
  session s = begin_solver(&p, &params, 2);
  assert_int_equal(solve_in(&s, f, u, &r), GMG_DIVERGED);
  if (!strstr(gmg_context_error(s.context), "\"jacobi\" makes it grow most on level 0 ("))
    fail_msg("%s", gmg_context_error(s.context));
  assert_below(r.cycles, 40);
  end_solver(&s);
  free(f), free(u);
}

/* Weights with which a smoother diverges. With two levels only the finest is smoothed. */
static void weights_that_diverge(void **state)
{
  static const char *const bc[] = {"dndd", "pppp"};
  (void)state;
  for (gmg_cycle_kind cycle = GMG_CYCLE_V; cycle <= GMG_CYCLE_W; cycle++)
    for (int b = 0; b < 2; b++)
      for (gmg_centering centering = GMG_CELL; centering <= GMG_VERTEX; centering++) diverges(centering, bc[b], cycle);
}

int main(int argc, char **argv)
{
  if (for_device(argc, argv)) return SKIPPED;
  const struct CMUnitTest tests[] = {cmocka_unit_test(divergence_names_the_level),
                                     cmocka_unit_test(divergence_in_odd_places),
                                     cmocka_unit_test(nan_that_comes_late), cmocka_unit_test(weights_that_diverge)};
  return run_selected(tests);
}
