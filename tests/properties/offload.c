/* The offloading smoother, with another host context as its device, gives the results of its inner smoother. For CUDA see
   test_cuda_device_context. */
#include "gmg_cuda.h"
#include "media.h"
#include "sample.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Whether results agree up to rounding. A compiler may vectorise a loop in other groups if a field begins at another address. */
static int alike(gmg_type type, const void *a, const void *b, size_t n)
{
  double most = 0, apart = 0;
  for (size_t i = 0; i < n; i++) {
    const double x = type == GMG_F64 ? ((const double *)a)[i] : ((const float *)a)[i];
    const double y = type == GMG_F64 ? ((const double *)b)[i] : ((const float *)b)[i];
    most = fmax(most, fabs(x)), apart = fmax(apart, fabs(x - y));
  }
  return apart <= 64 * (type == GMG_F64 ? DBL_EPSILON : FLT_EPSILON) * most;
}

/* Solves with the smoother and with the offloaded one. Then updates both to another shift, and solves again. */
static void same_solves(const char *name, const gmg_problem *p, gmg_params q)
{
  const size_t n = unknowns(p), bytes = n * (p->type == GMG_F32 ? sizeof(float) : sizeof(double));
  gmg_context *device, *host[2];
  gmg_smoother *there;
  gmg_solver *s[2];
  gmg_report r[2];
  double *values = field(n, 7), sweeps = -1, transfers = -1;
  void *f = typed(p, values, n), *u[2] = {calloc(1, bytes), calloc(1, bytes)};
  assert_int_equal(gmg_context_create_host(1, &device), GMG_OK);
  assert_ok(device, gmg_smoother_offload_create(device, q.smoother, &there));
  for (int i = 0; i < 2; i++) {
    gmg_params mine = q;
    if (i) mine.smoother = there;
    assert_int_equal(gmg_context_create_host(2, &host[i]), GMG_OK);
    assert_ok(host[i], gmg_solver_create(host[i], p, &mine, &s[i]));
  }
  assert_ok(device, gmg_smoother_offload_seconds(there, &sweeps, &transfers));
  assert_true(sweeps == 0 && transfers == 0);
  for (int repeat = 0; repeat < 2; repeat++) {
    for (int i = 0; i < 2; i++) {
      const gmg_status status = gmg_solve(s[i], f, u[i], &r[i]);
      if (!gmg_status_is_outcome(status)) fail_msg("%s: %s", name, gmg_context_error(host[i]));
    }
    if (r[0].status != r[1].status || r[0].cycles != r[1].cycles || !alike(p->type, u[0], u[1], unknowns(p)))
      fail_msg("%s, %s: %d cycles, offloaded %d, or another u", name, q.smoother->name, r[0].cycles, r[1].cycles);
    gmg_problem next = *p;
    next.shift += 3;
    if (repeat == 0 && r[0].status == GMG_OK)
      for (int i = 0; i < 2; i++) assert_ok(host[i], gmg_solver_update(s[i], &next));
  }
  assert_ok(device, gmg_smoother_offload_seconds(there, &sweeps, &transfers));
  assert_int_equal(sweeps > 0 && transfers > 0, r[1].levels > 1);
  for (int i = 0; i < 2; i++) {
    gmg_solver_destroy(s[i]);
    gmg_context_destroy(host[i]);
    free(u[i]);
  }
  gmg_smoother_offload_destroy(there);
  gmg_context_destroy(device);
  free(values), free(f);
}

static void offloaded_is_the_same(void **state)
{
  (void)state;
  static const shape shapes[] = {{1, {300, 1, 1}, GMG_CELL, "dn"},       {2, {33, 31, 1}, GMG_VERTEX, "pppp"},
                                 {3, {25, 15, 17}, GMG_CELL, "pppppp"},  {3, {31, 17, 20}, GMG_VERTEX, "ndrdpp"},
                                 {3, {32, 32, 32}, GMG_CELL, "dddddd"},  {3, {1, 1, 1}, GMG_CELL, "dddddd"}};
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
    for (int k = 0; gmg_smoother_name(k); k++) {
      gmg_problem p = shaped_problem(&shapes[i]);
      gmg_params q = params_for_cycles();
      p.type = (i + (size_t)k) % 2 ? GMG_F64 : GMG_F32;
      q.smoother = gmg_smoother_by_name(gmg_smoother_name(k));
      q.deterministic = 1, q.max_cycles = 12, q.precision = GMG_PRECISION_SAME;
      same_solves("plain", &p, q);
      if (p.type == GMG_F32) continue;
      q.precision = GMG_PRECISION_MIXED;
      same_solves("mixed", &p, q);
    }
}

static void offloaded_is_the_same_in_media(void **state)
{
  (void)state;
  medium m[] = {ball(3, 20, 1e2, GMG_CELL), absorbing(2, 40, 1e4, GMG_CELL), stretched(3, 18, 4, GMG_VERTEX)};
  for (int i = 0; i < 3; i++) {
    gmg_params q = params_for_cycles();
    q.smoother = gmg_smoother_by_name("async");
    q.deterministic = 1, q.precision = GMG_PRECISION_SAME;
    same_solves("medium", &m[i].p, q);
    q.smoother = gmg_smoother_by_name("red_black");
    q.symmetric = 1, q.cycle = GMG_CYCLE_V;
    same_solves("medium, symmetric", &m[i].p, q);
    free_medium(&m[i]);
  }
}

static gmg_status no_setup(const gmg_smoother_level *level, void **state)
{
  (void)level, (void)state;
  return GMG_ERR_MEMORY;
}

static void no_sweep(const gmg_smoother_level *level, void *state, const void *f, void *u, int steps, gmg_leg leg)
{
  (void)level, (void)state, (void)f, (void)u, (void)steps, (void)leg;
}

static void refusals(void **state)
{
  (void)state;
  static const gmg_smoother_ops failing = {.setup = no_setup, .sweep = no_sweep};
  static const gmg_smoother none = {.name = "none"}, fails = {.name = "fails", .ops = {[GMG_BACKEND_HOST] = {[GMG_F64] = &failing}}};
  gmg_problem p = make_problem(3, 16, 16, 16, GMG_CELL, "dddddd");
  gmg_params q = params_for_cycles();
  q.smoother = gmg_smoother_by_name("async");
  gmg_context *device, *host;
  gmg_smoother *there;
  gmg_solver *s;
  assert_int_equal(gmg_context_create_host(1, &device) | gmg_context_create_host(1, &host), GMG_OK);
  assert_int_equal(gmg_smoother_offload_create(NULL, q.smoother, &there), GMG_ERR_ARGUMENT);
  assert_null(there);
  assert_int_equal(gmg_smoother_offload_create(device, NULL, &there), GMG_ERR_ARGUMENT);
  assert_int_equal(gmg_smoother_offload_create(device, q.smoother, NULL), GMG_ERR_ARGUMENT);
  assert_int_equal(gmg_smoother_offload_create(device, &none, &there), GMG_ERR_UNSUPPORTED);
  assert_non_null(strstr(gmg_context_error(device), "inner = \"none\""));
  assert_null(there);
  gmg_smoother_offload_destroy(NULL);
  assert_int_equal(gmg_smoother_offload_seconds(NULL, NULL, NULL), GMG_ERR_ARGUMENT);

  assert_ok(device, gmg_smoother_offload_create(device, &fails, &there));
  q.smoother = there;
  assert_int_equal(gmg_solver_create(host, &p, &q, &s), GMG_ERR_MEMORY);
  assert_non_null(strstr(gmg_context_error(host), "offloaded fails"));
  p.type = GMG_F32; /* for which it has no functions */
  assert_int_equal(gmg_solver_create(host, &p, &q, &s), GMG_ERR_UNSUPPORTED);
  gmg_smoother_offload_destroy(there);
  gmg_context_destroy(host);
  gmg_context_destroy(device);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(offloaded_is_the_same), cmocka_unit_test(offloaded_is_the_same_in_media),
                                     cmocka_unit_test(refusals)};
  return run_selected(tests);
}
