/* Corrupted values in the middle of a solve. The reported status must be true, and the next solve must not be affected. */
#include "twins.h"

#include <cuda_runtime_api.h>

/* --- between and inside cycles -------------------------------------------------------------------------------------------- */

/* The next flip: a bit in u of the level, after that many visits there. Level -1: in the caller's u, between cycles. */
static struct {
  int level, visits, bit, done;
  double place; /* from 0 to 1: the unknown's share of the field */
  const gmg_exec *exec;
  void *u; /* the caller's */
  size_t cells;
} coming;

static void flip_in(const gmg_exec *e, void *u, size_t cells)
{
  unsigned char bytes[8];
  char *at = (char *)u + (size_t)(coming.place * (double)cells) * e->real_size;
  const int bit = coming.bit % (int)(8 * e->real_size);
  e->memory->download(e->context, bytes, at, e->real_size);
  bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
  e->memory->upload(e->context, at, bytes, e->real_size);
  coming.done = 1;
}

static void count_visit(const gmg_smoother_level *l, void *u)
{
  if (!coming.done && l->index == coming.level && coming.visits-- == 0) flip_in(l->exec, u, l->A->cells);
}

/* The built-in smoother. A bit may be flipped after its sweeps. */
static const gmg_smoother_ops *inner_ops(const gmg_smoother_level *l)
{
  return gmg_smoother_by_name("async")->ops[l->exec->context->backend][l->A->type];
}

static void spoiled_sweep(const gmg_smoother_level *l, void *state, const void *f, void *u, int steps, gmg_leg leg)
{
  inner_ops(l)->sweep(l, state, f, u, steps, leg);
  count_visit(l, u);
}

static void spoiled_from_zero(const gmg_smoother_level *l, void *state, const void *f, void *u, int steps, gmg_leg leg)
{
  inner_ops(l)->sweep_from_zero(l, state, f, u, steps, leg);
  count_visit(l, u);
}

/* Flips only while the residual is above the target. Nobody can notice a flip after the last residual is measured. */
static int between_cycles(void *data, int cycle, double residual, double target)
{
  (void)data, (void)cycle;
  if (!coming.done && coming.level < 0 && residual > target && coming.visits-- == 0) flip_in(coming.exec, coming.u, coming.cells);
  return 0;
}

/* A solve. A solver on the host in double judges its answer. */
typedef struct {
  gmg_solver *solver, *judge;
  const gmg_exec *e;
  double *f, *u, *r; /* host */
  void *at_f, *at_u; /* where the solver runs */
  size_t cells;
} judged;

static gmg_status judged_solve(judged *t, double *truth, gmg_report *report)
{
  t->e->vector->fill(t->e, t->cells, 0, t->at_u);
  const gmg_status status = gmg_solve(t->solver, t->at_f, t->at_u, report);
  gmg_exec_read_reals(t->e, t->at_u, t->cells, t->u);
  assert_int_equal(gmg_residual(t->judge, t->f, t->u, t->r), GMG_OK);
  *truth = norm2(t->r, t->cells);
  return status;
}

/* Solves with flips in a solver of the given kind, and counts how they ended. Returns the number of flips: a solve may end before
   its flip. */
static int flips(int where, const shape *box, gmg_precision precision, int fmg, gmg_accel accel, int runs, uint64_t seed, int ends[4])
{
  const gmg_smoother *async = gmg_smoother_by_name("async");
  gmg_smoother spoiled = *async;
  gmg_smoother_ops ops[2][2];
  for (int backend = 0; backend < 2; backend++)
    for (int type = 0; type < 2; type++) {
      if (!async->ops[backend][type]) continue;
      gmg_smoother_ops *to = &ops[backend][type];
      *to = *async->ops[backend][type];
      to->sweep = spoiled_sweep;
      if (to->sweep_from_zero) to->sweep_from_zero = spoiled_from_zero;
      spoiled.ops[backend][type] = to;
    }
  const gmg_problem p = shaped_problem(box);
  gmg_params q = params_for_cycles();
  gmg_context *c;
  judged t = {.cells = unknowns(&p)};
  int happened = 0;
  q.precision = precision, q.fmg = fmg, q.accel = accel, q.max_cycles = 60, q.rtol = 1e-9;
  session judge = begin_solver(&p, &q, 1);
  q.smoother = &spoiled, q.monitor = between_cycles;
  if (where == DEVICE) assert_int_equal(gmg_context_create_cuda(0, NULL, &c), GMG_OK);
  else assert_int_equal(gmg_context_create_host(2, &c), GMG_OK);
  assert_ok(c, gmg_solver_create(c, &p, &q, &t.solver));
  t.judge = judge.solver, t.e = &t.solver->exec;
  t.f = field(t.cells, seed), t.u = field(t.cells, 0), t.r = field(t.cells, 0);
  assert_ok(c, gmg_exec_reals(&t.solver->exec, "f", t.cells, t.f, &t.at_f));
  assert_ok(c, gmg_exec_reals(&t.solver->exec, "u", t.cells, t.u, &t.at_u));
  for (int run = 0; run < runs; run++) {
    gmg_report r;
    double truth;
    coming.level = (int)(seed + (uint64_t)run) % t.solver->levels - 1; /* the coarsest is not smoothed */
    coming.visits = (int)(4 * (uniform(&seed) + 0.5)), coming.place = 0.999999 * (uniform(&seed) + 0.5);
    /* every second flip is in the exponent or the sign */
    const int bits = coming.level >= 0 && t.solver->outer_levels > 0 ? 32 : 64, fraction = bits == 32 ? 23 : 52;
    coming.bit = run % 2 ? fraction + (int)((bits - fraction) * (uniform(&seed) + 0.5)) : (int)(fraction * (uniform(&seed) + 0.5));
    coming.exec = t.e, coming.u = t.at_u, coming.cells = t.cells, coming.done = 0;
    const int level = coming.level, bit = coming.bit;
    const gmg_status status = judged_solve(&t, &truth, &r);
    happened += coming.done;
    if (!gmg_status_is_outcome(status))
      fail_msg("level %d, bit %d: %s: %s", level, bit, gmg_status_string(status), gmg_context_error(c));
    if (status == GMG_OK && !(truth <= 1.01 * r.target))
      fail_msg("level %d, bit %d: said to be solved, but the residual is %g, target %g", level, bit, truth, r.target);
    ends[status]++;
    coming.done = 1;
    if (status != GMG_OK || run % 10 == 0) { /* the next solve is not affected */
      assert_ok(c, judged_solve(&t, &truth, &r));
      assert_below(truth, 1.01 * r.target);
    }
  }
  gmg_solver_destroy(t.solver);
  gmg_context_destroy(c);
  end_solver(&judge);
  free(t.f), free(t.u), free(t.r);
  return happened;
}

static void flips_on(int where)
{
  static const shape line = {1, {2001, 1, 1}, GMG_CELL, "dn"}, plane = {2, {170, 131, 1}, GMG_VERTEX, "ddnd"},
                     box = {3, {40, 36, 33}, GMG_CELL, "ddnndd"};
  int ends[4] = {0}, happened = 0;
  happened += flips(where, &box, GMG_PRECISION_SAME, 0, GMG_ACCEL_NONE, 120, 1, ends);
  happened += flips(where, &box, GMG_PRECISION_MIXED, 0, GMG_ACCEL_NONE, 120, 2, ends);
  happened += flips(where, &box, GMG_PRECISION_MIXED, 1, GMG_ACCEL_NONE, 60, 3, ends);
  happened += flips(where, &box, GMG_PRECISION_SAME, 0, GMG_ACCEL_FLEXIBLE_CG, 60, 4, ends);
  happened += flips(where, &box, GMG_PRECISION_MIXED, 0, GMG_ACCEL_FLEXIBLE_CG, 60, 5, ends);
  happened += flips(where, &line, GMG_PRECISION_SAME, 0, GMG_ACCEL_NONE, 60, 6, ends);
  happened += flips(where, &line, GMG_PRECISION_MIXED, 0, GMG_ACCEL_FLEXIBLE_CG, 60, 7, ends);
  happened += flips(where, &plane, GMG_PRECISION_SAME, 0, GMG_ACCEL_FLEXIBLE_CG, 60, 8, ends);
  happened += flips(where, &plane, GMG_PRECISION_MIXED, 0, GMG_ACCEL_NONE, 60, 9, ends);
  print_message("%d bits flipped on the %s: %d solves converged, %d not, %d ended at the floor, %d diverged\n", happened,
                where ? "device" : "host", ends[GMG_OK], ends[GMG_NOT_CONVERGED], ends[GMG_STAGNATED], ends[GMG_DIVERGED]);
  assert_true(happened >= 300);
}

static void bits_flipped(void **state)
{
  (void)state;
  flips_on(HOST);
  flips_on(DEVICE);
}

/* --- in solves that are replayed ------------------------------------------------------------------------------------------- */

/* Solves with default parameters are replayed as one graph. A kernel does a whole leg, and another one the small levels. A second
   stream writes into the caller's u, or into a coarse level's, while the solve runs. */

enum { CALM = 12, DELAY = 1 << 27 }; /* CALM: solves without a flip. DELAY: most bytes of the copy that delays a flip */

typedef struct {
  gmg_problem p;
  gmg_context *c;
  gmg_solver *solver;
  session judge;            /* on the host, in double */
  double *host_f, *host_u, *host_r, *f, *u;
  size_t n, cells;
  cudaStream_t own, other;
  cudaEvent_t begun, written, ended;
  char *pinned, *there;     /* source and destination of the copy that delays a flip */
  double *value;            /* the value to write, in pinned memory */
  double least, bytes_a_ms; /* least: milliseconds of the fastest solve without a flip. bytes_a_ms: speed of the delaying copy */
} trial;

static double between(cudaEvent_t a, cudaEvent_t b)
{
  float ms = 0;
  assert_int_equal(cudaEventElapsedTime(&ms, a, b), cudaSuccess);
  return ms;
}

/* A write of `size` bytes at `to`, after a copy of `delay` bytes. to = NULL: only the copy. */
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
  const gmg_params q = params_for_cycles();
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
  assert_true(t.solver->outer_levels > 0 && t.solver->mg.bottom.level < t.solver->coarsest_bottom.level);
  for (int i = 0; i < CALM; i++) calm(&t);
  assert_int_equal(recordings(t.solver), 1);
  for (int i = 0; i < 2; i++) { /* the first copy is a warm-up */
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

/* Whether the value was written after the last residual was measured: it stands in u, and u is right elsewhere. */
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

/* Numbers of flips before the end of their solve, early ones among them, and flips after the last residual; how solves ended;
   solves refused. */
typedef struct {
  int inside, early, late, ends[4], refused;
} tally;

/* One solve with a flip. Level -1: in the caller's u. */
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
    const float single = (float)value;
    x.to = (float *)L->u + place, x.size = sizeof single;
    memcpy(t->value, &single, sizeof single);
  }
  const gmg_status status = attempt(t, &x, &r, &truth);
  const double when = between(t->begun, t->written), ended = between(t->begun, t->ended);
  /* before half the time of the fastest solve, so before the end of this one */
  const int early = when < 0.5 * t->least, bad = !(truth <= 1.01 * r.target);
  sum->early += early, sum->inside += when < ended;
  if (status == GMG_ERR_ARGUMENT && level < 0) sum->refused++; /* the flip came before the solve began, so it seemed part of the guess */
  else if (!gmg_status_is_outcome(status))
    fail_msg("level %d, %g after %.3f ms: %s: %s", level, value, when, gmg_status_string(status), gmg_context_error(t->c));
  else sum->ends[status]++;
  if (status == GMG_OK && bad) {
    const int last = level < 0 && !early && came_last(t, place, r.target);
    if (!last) fail_msg("level %d, %g after %.3f of %.3f ms: said to be solved, but the residual is %g, target %g", level, value, when, ended,
                        truth, r.target);
    sum->late++;
  }
  calm(t); /* the next solve is not affected */
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
    assert_true(sum.ends[GMG_DIVERGED] + sum.refused > 0); /* some flips are noticed */
    end_trial(&t);
  }
}

int main(int argc, char **argv)
{
  only(argc, argv);
  if (without_device()) return SKIPPED;
  const struct CMUnitTest tests[] = {cmocka_unit_test(flips_in_replayed_solves), cmocka_unit_test(bits_flipped)};
  return run_selected(tests);
}
