/* Values that go wrong in the middle of the default solve on CUDA: cycles that are replayed as one graph, whole legs in a kernel, small
   levels in another. A second stream writes into the caller's u or into a coarse level's while the solve runs. Whatever the status
   says then has to be true, and the next solve is as if nothing had been. */
#include "twins.h"

#ifdef GMG_CUDA
#include <cuda_runtime_api.h>

enum { CALM = 12, DELAY = 1 << 27 }; /* solves that nothing happens to; bytes at most whose copy is the time to wait */

typedef struct {
  gmg_problem p;
  gmg_context *c;
  gmg_solver *solver;
  session judge;            /* on the host, in double */
  double *host_f, *host_u, *host_r, *f, *u;
  size_t n, cells;
  cudaStream_t own, other;
  cudaEvent_t begun, written, ended;
  char *pinned, *there;     /* what is copied for DELAY */
  double *value;            /* to be written; pinned */
  double least, bytes_a_ms; /* milliseconds of a calm solve; speed of that copy */
} trial;

static double between(cudaEvent_t a, cudaEvent_t b)
{
  float ms = 0;
  assert_int_equal(cudaEventElapsedTime(&ms, a, b), cudaSuccess);
  return ms;
}

/* What is to be written, and when. to: NULL: nothing is. */
typedef struct {
  void *to;
  size_t size, delay;
} flip;

static void write_later(trial *t, const flip *x)
{
  assert_int_equal(cudaStreamWaitEvent(t->other, t->begun, 0), cudaSuccess);
  if (x->delay) assert_int_equal(cudaMemcpyAsync(t->there, t->pinned, x->delay, cudaMemcpyHostToDevice, t->other), cudaSuccess);
  if (x->to) assert_int_equal(cudaMemcpyAsync(x->to, t->value, x->size, cudaMemcpyHostToDevice, t->other), cudaSuccess);
  assert_int_equal(cudaEventRecord(t->written, t->other), cudaSuccess);
}

/* A solve from zero. Returns its status and the true residual. */
static gmg_status attempt(trial *t, const flip *x, gmg_report *report, double *truth)
{
  const size_t bytes = t->cells * sizeof(double);
  assert_int_equal(cudaMemsetAsync(t->u, 0, bytes, t->own), cudaSuccess);
  assert_int_equal(cudaEventRecord(t->begun, t->own), cudaSuccess);
  write_later(t, x);
  const gmg_status status = gmg_solve(t->solver, t->f, t->u, report);
  assert_int_equal(cudaEventRecord(t->ended, t->own), cudaSuccess);
  assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
  assert_int_equal(cudaMemcpy(t->host_u, t->u, bytes, cudaMemcpyDeviceToHost), cudaSuccess);
  assert_int_equal(gmg_residual(t->judge.solver, t->host_f, t->host_u, t->host_r), GMG_OK);
  *truth = norm2(t->host_r, t->cells);
  return status;
}

static void calm(trial *t)
{
  const flip none = {.to = NULL};
  gmg_report r;
  double truth;
  assert_ok(t->c, attempt(t, &none, &r, &truth));
  assert_below(truth, 1.01 * r.target);
  t->least = fmin(t->least, between(t->begun, t->ended));
}

static trial begin_trial(size_t n)
{
  trial t = {.p = make_problem(3, n, n, n, GMG_CELL, "dddddd"), .n = n, .cells = n * n * n, .least = INFINITY};
  const gmg_params q = gmg_params_default();
  const size_t bytes = t.cells * sizeof(double);
  t.judge = begin_solver(&t.p, &q, 0);
  t.host_f = field(t.cells, 5), t.host_u = field(t.cells, 0), t.host_r = field(t.cells, 0);
  assert_int_equal(cudaStreamCreateWithFlags(&t.own, cudaStreamNonBlocking) | cudaStreamCreateWithFlags(&t.other, cudaStreamNonBlocking),
                   cudaSuccess);
  assert_int_equal(cudaEventCreate(&t.begun) | cudaEventCreate(&t.written) | cudaEventCreate(&t.ended), cudaSuccess);
  assert_int_equal(cudaMalloc((void **)&t.f, bytes) | cudaMalloc((void **)&t.u, bytes) | cudaMalloc((void **)&t.there, DELAY), cudaSuccess);
  assert_int_equal(cudaMallocHost((void **)&t.pinned, DELAY) | cudaMallocHost((void **)&t.value, sizeof *t.value), cudaSuccess);
  assert_int_equal(cudaMemcpy(t.f, t.host_f, bytes, cudaMemcpyHostToDevice), cudaSuccess);
  assert_int_equal(gmg_context_create_cuda(0, t.own, &t.c), GMG_OK);
  assert_ok(t.c, gmg_solver_create(t.c, &t.p, &q, &t.solver));
  assert_true(t.solver->high_levels > 0 && t.solver->mg.bottom.level < t.solver->coarsest.level);
  for (int i = 0; i < CALM; i++) calm(&t);
  assert_int_equal(recordings(t.solver), 1);
  for (int i = 0; i < 2; i++) { /* the first time is not counted */
    const flip none = {.delay = DELAY};
    assert_int_equal(cudaEventRecord(t.begun, t.own), cudaSuccess);
    write_later(&t, &none);
    assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
    t.bytes_a_ms = DELAY / between(t.begun, t.written);
  }
  return t;
}

static void end_trial(trial *t)
{
  assert_int_equal(t->solver->exec.memory->health(t->c), GMG_OK);
  gmg_solver_destroy(t->solver);
  gmg_context_destroy(t->c);
  end_solver(&t->judge);
  cudaFree(t->f), cudaFree(t->u), cudaFree(t->there), cudaFreeHost(t->pinned), cudaFreeHost(t->value);
  cudaEventDestroy(t->begun), cudaEventDestroy(t->written), cudaEventDestroy(t->ended);
  cudaStreamDestroy(t->own), cudaStreamDestroy(t->other);
  free(t->host_f), free(t->host_u), free(t->host_r);
}

/* A place inside the grid, away from the walls. */
static size_t some_place(size_t n, uint64_t *seed)
{
  size_t at = 0;
  for (int a = 0; a < 3; a++) at = at * n + 2 + (size_t)((double)(n - 4) * 0.999999 * (uniform(seed) + 0.5));
  return at;
}

/* The value came after the last look at it: it stands there as it was written, and nothing else is wrong. */
static int came_last(trial *t, size_t place, double target)
{
  const size_t step[3] = {1, t->n, t->n * t->n};
  double sum = 0, diagonal = 0;
  if (memcmp(&t->host_u[place], t->value, sizeof *t->value) != 0) return 0;
  for (int a = 0; a < 3; a++) {
    const double c = 1 / (t->p.h[a] * t->p.h[a]);
    sum += c * (t->host_u[place - step[a]] + t->host_u[place + step[a]]), diagonal += 2 * c;
  }
  t->host_u[place] = (t->host_f[place] + sum) / (diagonal + t->p.shift);
  assert_int_equal(gmg_residual(t->judge.solver, t->host_f, t->host_u, t->host_r), GMG_OK);
  return norm2(t->host_r, t->cells) <= 2 * target;
}

/* What a round has come to. */
typedef struct {
  int inside, early, late, ends[4], refused;
} tally;

/* level -1: the caller's u. */
static void one_flip(trial *t, int level, double value, double share, uint64_t *seed, tally *sum)
{
  const gmg_level *L = level < 0 ? t->solver->finest : &t->solver->level[level];
  const size_t place = level < 0 ? some_place(t->n, seed) : (size_t)(0.999999 * (uniform(seed) + 0.5) * (double)L->A.cells);
  const double delay = share * t->least * t->bytes_a_ms;
  flip x = {.size = sizeof(double), .delay = delay < DELAY ? (size_t)delay : DELAY};
  gmg_report r;
  double truth;
  if (level < 0) {
    x.to = t->u + place, *t->value = value;
  } else {
    const float narrow = (float)value;
    x.to = (float *)L->u + place, x.size = sizeof narrow;
    memcpy(t->value, &narrow, sizeof narrow);
  }
  const gmg_status status = attempt(t, &x, &r, &truth);
  const double when = between(t->begun, t->written), ended = between(t->begun, t->ended);
  /* half the time of the fastest: before the end however late the host has been */
  const int early = when < 0.5 * t->least, bad = !(truth <= 1.01 * r.target);
  sum->early += early, sum->inside += when < ended;
  if (status == GMG_ERR_ARGUMENT && level < 0) sum->refused++; /* the guess, to all appearances */
  else if (status > GMG_DIVERGED)
    fail_msg("level %d, %g after %.3f ms: %s: %s", level, value, when, gmg_status_string(status), gmg_context_error(t->c));
  else sum->ends[status]++;
  if (status == GMG_OK && bad) {
    const int last = level < 0 && !early && came_last(t, place, r.target);
    if (!last) fail_msg("level %d, %g after %.3f of %.3f ms: said to be solved, but the residual is %g, target %g", level, value, when, ended,
                        truth, r.target);
    sum->late++;
  }
  calm(t); /* nothing of it stays */
}

static void flips_in_replayed_solves(void **state)
{
  enum { MOMENTS = 8 };
  static const double values[] = {1, 1e30, 1e308, NAN};
  static const size_t sizes[] = {64, 128};
  (void)state;
  for (int i = 0; i < 2; i++) {
    trial t = begin_trial(sizes[i]);
    tally sum = {0};
    uint64_t seed = 17;
    int rounds = 0;
    for (int level = -1; level < t.solver->levels; level++) {
      if (level >= 0 && !t.solver->level[level].u) continue;
      for (int v = 0; v < 4; v++)
        for (int m = 0; m < MOMENTS; m++, rounds++)
          one_flip(&t, level, values[v], 1.1 * (m + 0.5 + uniform(&seed)) / MOMENTS, &seed, &sum);
    }
    print_message("%zu^3: %d values written, %d before the end, %d of them early; %d solves converged, %d not, %d ended at the floor, %d diverged, "
                  "%d refused, %d were done when it came\n", t.n, rounds, sum.inside, sum.early, sum.ends[GMG_OK], sum.ends[GMG_NOT_CONVERGED],
                  sum.ends[GMG_STAGNATED], sum.ends[GMG_DIVERGED], sum.refused, sum.late);
    assert_true(sum.inside >= rounds / 4 && sum.early > 0);
    assert_true(sum.ends[GMG_DIVERGED] + sum.refused > 0); /* it is seen */
    end_trial(&t);
  }
}
#endif

int main(int argc, char **argv)
{
  only(argc, argv);
  if (without_device()) return SKIPPED;
#ifdef GMG_CUDA
  const struct CMUnitTest tests[] = {cmocka_unit_test(flips_in_replayed_solves)};
  return cmocka_run_group_tests(tests, NULL, NULL);
#else
  return SKIPPED;
#endif
}
