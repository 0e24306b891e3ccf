/* Two solvers at the same time on CUDA, each on its own stream. Neither affects the other.

     test_cuda_streams [TEST [by_cycles]]

   by_cycles: only replayed solves whose cycles the host launches. */
#include "twins.h"

#include <cuda_runtime_api.h>
#include <pthread.h>

static int only_by_cycles;

/* A solver on its own stream, and its result. */
typedef struct {
  gmg_context *context;
  gmg_solver *solver;
  cudaStream_t stream;
  double *f, *u; /* on the device */
  double *result;
  int failed;
} lane;

enum { LANE = 40, LANE_CELLS = LANE * LANE * LANE, LANE_SOLVES = 20 };

static void begin_lane(lane *l, uint64_t seed, int deterministic, int by_cycles)
{
  const gmg_problem p = make_problem(3, LANE, LANE, LANE, GMG_CELL, "dddddd");
  const size_t bytes = LANE_CELLS * sizeof(double);
  gmg_params q = params_for_cycles();
  double *f = field(LANE_CELLS, seed);
  q.deterministic = deterministic;
  *l = (lane){.result = field(LANE_CELLS, 0)};
  assert_int_equal(cudaStreamCreateWithFlags(&l->stream, cudaStreamNonBlocking), cudaSuccess);
  assert_int_equal(cudaMalloc((void **)&l->f, bytes) | cudaMalloc((void **)&l->u, bytes), cudaSuccess);
  assert_int_equal(cudaMemcpy(l->f, f, bytes, cudaMemcpyHostToDevice), cudaSuccess);
  assert_int_equal(gmg_context_create_cuda(0, l->stream, &l->context), GMG_OK);
  if (by_cycles) gmg_cuda_without_device_loop(l->context);
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
  const int solves = share_of(LANE_SOLVES);
  l->failed = cudaSetDevice(0);
  for (int i = 0; i < solves && !l->failed; i++)
    l->failed = cudaMemsetAsync(l->u, 0, bytes, l->stream) || gmg_solve(l->solver, l->f, l->u, NULL) != GMG_OK ||
                cudaMemcpyAsync(l->result, l->u, bytes, cudaMemcpyDeviceToHost, l->stream) || cudaStreamSynchronize(l->stream);
  return NULL;
}

static void side_by_side(int deterministic, int by_cycles)
{
  lane l[2];
  double *alone[2];
  pthread_t thread[2];
  for (int i = 0; i < 2; i++) {
    begin_lane(&l[i], 91 + (uint64_t)i, deterministic, by_cycles);
    solve_lane(&l[i]);
    assert_false(l[i].failed);
    assert_int_equal(recordings(l[i].solver), 1);
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

/* Replayed solves at the same time, each stream with its own thread. Deterministic solves give the bits of a solver that runs
   alone, asynchronous ones converge. */
static void two_streams(void **state)
{
  (void)state;
  for (int by_cycles = only_by_cycles; by_cycles < 2; by_cycles++)
    for (int deterministic = 0; deterministic < 2; deterministic++) side_by_side(deterministic, by_cycles);
}

/* One thread enqueues cycles on the two streams in turn, and does not wait. The results are those of each solver alone. */
static void streams_alternate(void **state)
{
  (void)state;
  const size_t bytes = LANE_CELLS * sizeof(double);
  lane l[2];
  double *alone[2];
  for (int i = 0; i < 2; i++) {
    begin_lane(&l[i], 93 + (uint64_t)i, 1, only_by_cycles);
    alone[i] = field(LANE_CELLS, 0);
    assert_ok(l[i].context, gmg_precondition(l[i].solver, l[i].f, l[i].u));
    assert_int_equal(cudaMemcpyAsync(alone[i], l[i].u, bytes, cudaMemcpyDeviceToHost, l[i].stream), cudaSuccess);
    assert_int_equal(cudaStreamSynchronize(l[i].stream), cudaSuccess);
  }
  for (int repeat = 0; repeat < 100; repeat++)
    for (int i = 0; i < 2; i++) assert_ok(l[i].context, gmg_precondition(l[i].solver, l[i].f, l[i].u));
  for (int i = 0; i < 2; i++) {
    assert_int_equal(cudaMemcpyAsync(l[i].result, l[i].u, bytes, cudaMemcpyDeviceToHost, l[i].stream), cudaSuccess);
    assert_int_equal(cudaStreamSynchronize(l[i].stream), cudaSuccess);
    assert_memory_equal(alone[i], l[i].result, bytes);
    free(alone[i]);
    end_lane(&l[i]);
  }
}

int main(int argc, char **argv)
{
  only(argc, argv);
  if (without_device()) return SKIPPED;
  only_by_cycles = argc > 2 && strcmp(argv[2], "by_cycles") == 0;
  const struct CMUnitTest tests[] = {cmocka_unit_test(two_streams), cmocka_unit_test(streams_alternate)};
  return run_selected(tests);
}
