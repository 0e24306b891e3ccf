/* Solvers on CUDA one after the other, a thousand of them, what memory they take, and two at once on streams of their own. */
#include "twins.h"

#ifdef GMG_CUDA
#include <cuda_runtime_api.h>
#include <pthread.h>


/* --- rounds ------------------------------------------------------------------------------------------------------------ */

static size_t free_memory(void)
{
  size_t now = 0, all;
  assert_int_equal(cudaMemGetInfo(&now, &all), cudaSuccess);
  return now;
}

/* What a solver takes of the device is what gmg_plan() says, but for what allocation rounds up, 2 MiB each array at most (hardly any below
   the second level is that large), and for small arrays that find room in what the driver holds already. Recordings come on top. A first
   solver loads code and makes the driver's pools. */
static void memory_as_planned(void **state)
{
  enum { N = 256, MIB = 1 << 20, LARGE_ARRAYS = 16, ROUNDED = 2 * LARGE_ARRAYS * MIB, RECORDINGS = 16 * MIB, LESS = 16 * MIB };
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
    gmg_params q = gmg_params_default();
    gmg_plan_info info;
    q.precision = rows[i].precision, q.accel = rows[i].accel, q.fmg = rows[i].fmg, q.deterministic = rows[i].deterministic;
    assert_ok(c, gmg_plan(c, &p, &q, &info));
    for (int turn = 0; turn < 2; turn++) {
      gmg_solver *s;
      const size_t before = free_memory();
      assert_ok(c, gmg_solver_create(c, &p, &q, &s));
      assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
      const size_t taken = before - free_memory();
      for (int k = 0; k < 3; k++) {
        assert_int_equal(cudaMemset(u, 0, bytes), cudaSuccess);
        assert_ok(c, gmg_solve(s, f, u, NULL));
      }
      assert_true(recordings(s) > 0);
      assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
      const size_t with_recordings = before - free_memory();
      gmg_solver_destroy(s);
      if (turn == 0) continue;
      print_message("%s, %d^3: %zu bytes planned, %zu taken, %zu after replayed solves\n", rows[i].name, N, info.bytes, taken, with_recordings);
      if (taken + LESS < info.bytes || taken > info.bytes + ROUNDED || with_recordings > info.bytes + ROUNDED + RECORDINGS)
        fail_msg("%s: %zu bytes planned, %zu taken, %zu after replayed solves", rows[i].name, info.bytes, taken, with_recordings);
    }
  }
  cudaFree(f), cudaFree(u);
  gmg_context_destroy(c);
  free(values);
}

/* Every other thing a solver may be. */
static gmg_params some_params(int turn)
{
  static const char *const names[] = {"async", "red_black", "chebyshev", "jacobi", "gauss_seidel"};
  gmg_params q = gmg_params_default();
  q.smoother = gmg_smoother_by_name(names[turn % 5]);
  q.precision = turn / 2 % 2 ? GMG_PRECISION_MIXED : GMG_PRECISION_SAME;
  q.fmg = turn / 4 % 2, q.deterministic = turn / 8 % 2, q.cycle = (gmg_cycle_kind)(turn % 3);
  q.accel = turn / 16 % 2 ? GMG_ACCEL_FLEXIBLE_CG : GMG_ACCEL_NONE;
  q.coarse = turn / 3 % 2 ? GMG_COARSE_CHOLESKY : GMG_COARSE_CG;
  return q;
}

/* A thousand rounds of create, solve and destroy leave no device memory behind. The first ones load code; then the most that was
   free in an early stretch is still free in the last one. Others may use the device meanwhile. */
static void rounds(void **state)
{
  enum { ROUNDS = 1000, STRETCH = 100, LOADED = 240 };
  (void)state;
  size_t early = 0, late = 0;
  for (int turn = 0; turn < ROUNDS; turn++) {
    const gmg_problem p = turn % 7 == 0 ? make_problem(3, 30, 24, 20, GMG_CELL, "ddnnpp") : make_problem(2, 100, 60, 1, GMG_CELL, "ddnn");
    const gmg_params q = some_params(turn);
    const size_t bytes = unknowns(&p) * sizeof(double);
    gmg_context *c;
    gmg_solver *s;
    void *f, *u;
    assert_int_equal(gmg_context_create_cuda(0, NULL, &c), GMG_OK);
    assert_ok(c, gmg_solver_create(c, &p, &q, &s));
    assert_int_equal(cudaMalloc(&f, bytes) | cudaMalloc(&u, bytes), cudaSuccess);
    assert_int_equal(cudaMemset(f, 1, bytes) | cudaMemset(u, 0, bytes), cudaSuccess);
    const gmg_status status = gmg_solve(s, f, u, NULL);
    if (status != GMG_OK) fail_msg("round %d: %s: %s", turn, gmg_status_string(status), gmg_context_error(c));
    cudaFree(f), cudaFree(u);
    gmg_solver_destroy(s);
    gmg_context_destroy(c);
    const size_t now = free_memory();
    if (turn >= LOADED && turn < LOADED + STRETCH && now > early) early = now;
    if (turn >= ROUNDS - STRETCH && now > late) late = now;
  }
  print_message("%d rounds: %zu bytes free early on, %zu at the end\n", ROUNDS, early, late);
  assert_true(late + (1 << 22) >= early); /* 8 kB a round would show */
}

/* So do solvers that replay their cycles, one after the other on one context; by cycles too, as where no graph goes round on the
   device. */
static void replays(void **state)
{
  enum { ROUNDS = 300, STRETCH = 40, CELLS = 16 * 16 * 16 };
  const gmg_problem p = make_problem(3, 16, 16, 16, GMG_CELL, "dddddd");
  gmg_params q = gmg_params_default();
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
    for (int turn = 0; turn < ROUNDS; turn++) {
      gmg_solver *s;
      assert_ok(c, gmg_solver_create(c, &p, &q, &s));
      for (int i = 0; i < 3; i++) {
        assert_int_equal(cudaMemset(u, 0, sizeof *u * CELLS), cudaSuccess);
        assert_ok(c, gmg_solve(s, f, u, NULL));
      }
      assert_int_equal(recordings(s), 1);
      gmg_solver_destroy(s);
      assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
      const size_t now = free_memory();
      if (turn >= STRETCH && turn < 2 * STRETCH && now > early) early = now;
      if (turn >= ROUNDS - STRETCH && now > late) late = now;
    }
    print_message("%d rounds%s: %zu bytes free early on, %zu at the end\n", ROUNDS, by_cycles ? " by cycles" : "", early, late);
    assert_true(late + (1 << 20) >= early); /* 4 kB a round would show */
    cudaFree(f), cudaFree(u);
    gmg_context_destroy(c);
  }
  free(values);
}

/* --- streams ----------------------------------------------------------------------------------------------------------- */

/* A solver on a stream of its own, and what it computes. */
typedef struct {
  gmg_context *context;
  gmg_solver *solver;
  cudaStream_t stream;
  double *f, *u; /* device */
  double *result;
  int failed;
} lane;

enum { LANE = 40, LANE_CELLS = LANE * LANE * LANE, LANE_TURNS = 20 };

static void begin_lane(lane *l, uint64_t seed, int deterministic)
{
  const gmg_problem p = make_problem(3, LANE, LANE, LANE, GMG_CELL, "dddddd");
  const size_t bytes = LANE_CELLS * sizeof(double);
  gmg_params q = gmg_params_default();
  double *f = field(LANE_CELLS, seed);
  q.deterministic = deterministic;
  *l = (lane){.result = field(LANE_CELLS, 0)};
  assert_int_equal(cudaStreamCreateWithFlags(&l->stream, cudaStreamNonBlocking), cudaSuccess);
  assert_int_equal(cudaMalloc((void **)&l->f, bytes) | cudaMalloc((void **)&l->u, bytes), cudaSuccess);
  assert_int_equal(cudaMemcpy(l->f, f, bytes, cudaMemcpyHostToDevice), cudaSuccess);
  assert_int_equal(gmg_context_create_cuda(0, l->stream, &l->context), GMG_OK);
  assert_ok(l->context, gmg_solver_create(l->context, &p, &q, &l->solver));
  free(f);
}

static void end_lane(lane *l)
{
  assert_int_equal(l->solver->exec.memory->health(l->context), GMG_OK);
  gmg_solver_destroy(l->solver);
  gmg_context_destroy(l->context);
  cudaFree(l->f), cudaFree(l->u), cudaStreamDestroy(l->stream);
  free(l->result);
}

static void *solve_lane(void *argument)
{
  lane *l = argument;
  const size_t bytes = LANE_CELLS * sizeof(double);
  l->failed = cudaSetDevice(0);
  for (int turn = 0; turn < LANE_TURNS && !l->failed; turn++)
    l->failed = cudaMemsetAsync(l->u, 0, bytes, l->stream) || gmg_solve(l->solver, l->f, l->u, NULL) != GMG_OK ||
                cudaMemcpyAsync(l->result, l->u, bytes, cudaMemcpyDeviceToHost, l->stream) || cudaStreamSynchronize(l->stream);
  return NULL;
}

/* Two solvers on two streams at once, each used by its own thread: deterministic ones compute what each computes alone, bit for bit;
   asynchronous ones converge. */
static void two_streams(void **state)
{
  (void)state;
  for (int deterministic = 0; deterministic < 2; deterministic++) {
    lane l[2];
    double *alone[2];
    pthread_t thread[2];
    for (int i = 0; i < 2; i++) {
      begin_lane(&l[i], 91 + (uint64_t)i, deterministic);
      solve_lane(&l[i]);
      assert_false(l[i].failed);
      alone[i] = field(LANE_CELLS, 0);
      memcpy(alone[i], l[i].result, LANE_CELLS * sizeof(double));
    }
    for (int i = 0; i < 2; i++) assert_int_equal(pthread_create(&thread[i], NULL, solve_lane, &l[i]), 0);
    for (int i = 0; i < 2; i++) {
      pthread_join(thread[i], NULL);
      assert_false(l[i].failed);
      if (deterministic) assert_memory_equal(alone[i], l[i].result, LANE_CELLS * sizeof(double));
      free(alone[i]);
      end_lane(&l[i]);
    }
  }
}

/* One thread enqueues cycles on both in turn and waits for neither: each is as if the other were not there. */
static void streams_in_turn(void **state)
{
  (void)state;
  const size_t bytes = LANE_CELLS * sizeof(double);
  lane l[2];
  double *alone[2];
  for (int i = 0; i < 2; i++) {
    begin_lane(&l[i], 93 + (uint64_t)i, 1);
    alone[i] = field(LANE_CELLS, 0);
    assert_ok(l[i].context, gmg_precondition(l[i].solver, l[i].f, l[i].u));
    assert_int_equal(cudaMemcpyAsync(alone[i], l[i].u, bytes, cudaMemcpyDeviceToHost, l[i].stream), cudaSuccess);
    assert_int_equal(cudaStreamSynchronize(l[i].stream), cudaSuccess);
  }
  for (int turn = 0; turn < 200; turn++) assert_ok(l[turn % 2].context, gmg_precondition(l[turn % 2].solver, l[turn % 2].f, l[turn % 2].u));
  for (int i = 0; i < 2; i++) {
    assert_int_equal(cudaMemcpyAsync(l[i].result, l[i].u, bytes, cudaMemcpyDeviceToHost, l[i].stream), cudaSuccess);
    assert_int_equal(cudaStreamSynchronize(l[i].stream), cudaSuccess);
    assert_memory_equal(alone[i], l[i].result, bytes);
    free(alone[i]);
    end_lane(&l[i]);
  }
}
#endif

int main(int argc, char **argv)
{
  only(argc, argv);
  if (without_device()) return SKIPPED;
#ifdef GMG_CUDA
  const struct CMUnitTest tests[] = {cmocka_unit_test(rounds), cmocka_unit_test(replays), cmocka_unit_test(memory_as_planned),
                                     cmocka_unit_test(two_streams), cmocka_unit_test(streams_in_turn)};
  return cmocka_run_group_tests(tests, NULL, NULL);
#else
  return SKIPPED;
#endif
}
