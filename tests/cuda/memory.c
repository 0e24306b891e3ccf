/* Device memory: solvers allocate what gmg_plan() reports, and destroying a solver frees the memory of its recordings. For solvers
   without recordings see test_leaks. */
#include "twins.h"

#include <cuda_runtime_api.h>

/* The memory that a solver takes is what gmg_plan() says, within what the driver adds. It rounds every large array up, by at most
   2 MiB. Small arrays may come from its pools and take no new memory. Recordings come on top. The first solver also loads code and
   creates the pools, so it is not counted. */
static void memory_as_planned(void **state)
{
  enum { N = 256, MIB = 1 << 20, LARGE_ARRAYS = 16 };
  enum { ROUNDED_UP = 2 * LARGE_ARRAYS * MIB, RECORDINGS = 16 * MIB, FOUND_IN_POOLS = 16 * MIB };
  static const struct {
    const char *name;
    gmg_precision precision;
    gmg_accel accel;
    int fmg, deterministic;
  } rows[] = {{"default", GMG_PRECISION_AUTO, GMG_ACCEL_NONE, 0, 0},
              {"double, deterministic", GMG_PRECISION_SAME, GMG_ACCEL_NONE, 0, 1},
              {"full multigrid", GMG_PRECISION_AUTO, GMG_ACCEL_NONE, 1, 0},
              {"flexible CG", GMG_PRECISION_AUTO, GMG_ACCEL_FLEXIBLE_CG, 0, 0}};
  const gmg_problem p = make_problem(3, N, N, N, GMG_CELL, "dddddd");
  const size_t bytes = unknowns(&p) * sizeof(double);
  double *values = field(unknowns(&p), 63), *f, *u;
  gmg_context *c;
  (void)state;
  assert_int_equal(gmg_context_create_cuda(0, NULL, &c), GMG_OK);
  assert_int_equal(cudaMalloc((void **)&f, bytes) | cudaMalloc((void **)&u, bytes), cudaSuccess);
  assert_int_equal(cudaMemcpy(f, values, bytes, cudaMemcpyHostToDevice), cudaSuccess);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    gmg_params q = params_for_cycles();
    gmg_plan_info info;
    q.precision = rows[i].precision, q.accel = rows[i].accel, q.fmg = rows[i].fmg, q.deterministic = rows[i].deterministic;
    assert_ok(c, gmg_plan(c, &p, &q, &info));
    for (int repeat = 0; repeat < 2; repeat++) {
      gmg_solver *s;
      const size_t before = device_free_memory();
      assert_ok(c, gmg_solver_create(c, &p, &q, &s));
      assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
      const size_t taken = before - device_free_memory();
      for (int k = 0; k < 3; k++) {
        assert_int_equal(cudaMemset(u, 0, bytes), cudaSuccess);
        assert_ok(c, gmg_solve(s, f, u, NULL));
      }
      assert_true(recordings(s) > 0);
      assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
      const size_t with_recordings = before - device_free_memory();
      gmg_solver_destroy(s);
      if (repeat == 0) continue;
      print_message("%s, %d^3: %zu bytes planned, %zu taken, %zu after replayed solves\n", rows[i].name, N, info.bytes, taken, with_recordings);
      if (taken + FOUND_IN_POOLS < info.bytes || taken > info.bytes + ROUNDED_UP ||
          with_recordings > info.bytes + ROUNDED_UP + RECORDINGS)
        fail_msg("%s: %zu bytes planned, %zu taken, %zu after replayed solves", rows[i].name, info.bytes, taken, with_recordings);
    }
  }
  cudaFree(f), cudaFree(u);
  gmg_context_destroy(c);
  free(values);
}

/* Solvers with recordings, created and destroyed on one context, leave no memory behind. Repeated with cycles that the host
   launches. */
static void recordings_are_given_back(void **state)
{
  enum { ROUNDS = 300, STRETCH = 40, CELLS = 16 * 16 * 16 };
  const gmg_problem p = make_problem(3, 16, 16, 16, GMG_CELL, "dddddd");
  gmg_params q = params_for_cycles();
  q.deterministic = 1, q.precision = GMG_PRECISION_MIXED;
  double *values = field(CELLS, 61);
  (void)state;
  for (int by_cycles = 0; by_cycles < 2; by_cycles++) {
    size_t early = 0, late = 0;
    gmg_context *c;
    double *f, *u;
    assert_int_equal(gmg_context_create_cuda(0, NULL, &c), GMG_OK);
    if (by_cycles) gmg_cuda_without_device_loop(c);
    assert_int_equal(cudaMalloc((void **)&f, sizeof *f * CELLS) | cudaMalloc((void **)&u, sizeof *u * CELLS), cudaSuccess);
    assert_int_equal(cudaMemcpy(f, values, sizeof *f * CELLS, cudaMemcpyHostToDevice), cudaSuccess);
    for (int repeat = 0; repeat < ROUNDS; repeat++) {
      gmg_solver *s;
      assert_ok(c, gmg_solver_create(c, &p, &q, &s));
      for (int i = 0; i < 3; i++) {
        assert_int_equal(cudaMemset(u, 0, sizeof *u * CELLS), cudaSuccess);
        assert_ok(c, gmg_solve(s, f, u, NULL));
      }
      assert_int_equal(recordings(s), 1);
      gmg_solver_destroy(s);
      assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
      const size_t now = device_free_memory();
      if (repeat >= STRETCH && repeat < 2 * STRETCH && now > early) early = now;
      if (repeat >= ROUNDS - STRETCH && now > late) late = now;
    }
    print_message("%d rounds%s: %zu bytes free early on, %zu at the end\n", ROUNDS, by_cycles ? " by cycles" : "", early, late);
    assert_true(late + (1 << 20) >= early); /* a loss of 4 kB each round would be noticed */
    cudaFree(f), cudaFree(u);
    gmg_context_destroy(c);
  }
  free(values);
}

int main(int argc, char **argv)
{
  only(argc, argv);
  if (without_device()) return SKIPPED;
  const struct CMUnitTest tests[] = {cmocka_unit_test(memory_as_planned), cmocka_unit_test(recordings_are_given_back)};
  return run_selected(tests);
}
