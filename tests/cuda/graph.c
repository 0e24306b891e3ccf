/* Replayed cycles on CUDA (src/mg/iterate/replay.c) against enqueued ones: the same bits of solution, residuals and report,
   however the solve ends.

     test_cuda_graph [TEST [by_cycles]]

   by_cycles: the host launches every cycle, as it does without conditional nodes (before CUDA 12.4). */
#include "twins.h"

#include <cuda_runtime_api.h>

static int by_cycles;

/* Two solvers of the same problem on one context. Only the second replays. */
typedef struct {
  const char *name;
  gmg_context *c;
  cudaStream_t stream;
  gmg_solver *solver[2];
  const gmg_exec *e;
  void *f, *u[2];
  double *history;
  size_t cells;
  double guess;    /* the value of every unknown before a solve */
  int refused;     /* 1: the solve may be refused */
  size_t waits[2]; /* of the host, in the last two solves */
} pair;
enum { ENQUEUED, REPLAYED };

static void *random_field(const gmg_exec *e, size_t n, uint64_t seed)
{
  void *p = e->memory->alloc(e->context, n * e->real_size);
  double *values = field(n, seed);
  assert_non_null(p);
  gmg_exec_write_reals(e, p, n, values);
  free(values);
  return p;
}

static pair begin_pair(const char *name, const gmg_problem *p, const gmg_params *q, int own_stream)
{
  pair x = {.name = name, .cells = unknowns(p)};
  if (own_stream) assert_int_equal(cudaStreamCreateWithFlags(&x.stream, cudaStreamNonBlocking), cudaSuccess);
  assert_int_equal(gmg_context_create_cuda(0, x.stream, &x.c), GMG_OK);
  if (by_cycles) gmg_cuda_without_device_loop(x.c);
  for (int i = 0; i < 2; i++) assert_ok(x.c, gmg_solver_create(x.c, p, q, &x.solver[i]));
  x.solver[ENQUEUED]->exec.graph = NULL;
  x.e = &x.solver[ENQUEUED]->exec;
  x.f = random_field(x.e, x.cells, 61);
  for (int i = 0; i < 2; i++) x.u[i] = random_field(x.e, x.cells, 0);
  x.history = malloc(((size_t)q->max_cycles + 1) * sizeof *x.history);
  assert_non_null(x.history);
  return x;
}

static void end_pair(pair *x)
{
  assert_int_equal(x->e->memory->health(x->c), GMG_OK);
  x->e->memory->release(x->c, x->f);
  for (int i = 0; i < 2; i++) x->e->memory->release(x->c, x->u[i]);
  for (int i = 0; i < 2; i++) gmg_solver_destroy(x->solver[i]);
  gmg_context_destroy(x->c);
  if (x->stream) cudaStreamDestroy(x->stream);
  free(x->history);
}

/* Compares bits, so that NaN equals NaN. */
static void same_bits(const pair *x, const char *what, const void *a, const void *b, size_t bytes)
{
  if (memcmp(a, b, bytes) != 0) fail_msg("%s: %s differ", x->name, what);
}

static void same_reports(const pair *x, const gmg_report *a, const gmg_report *b)
{
  if (a->status != b->status || a->cycles != b->cycles || a->history_length != b->history_length)
    fail_msg("%s: %s after %d cycles, replayed %s after %d: %s", x->name, gmg_status_string(a->status), a->cycles,
             gmg_status_string(b->status), b->cycles, gmg_context_error(x->c));
  same_bits(x, "first residuals", &a->residual0, &b->residual0, sizeof a->residual0);
  same_bits(x, "last residuals", &a->residual, &b->residual, sizeof a->residual);
  same_bits(x, "factors", &a->factor, &b->factor, sizeof a->factor);
  same_bits(x, "targets", &a->target, &b->target, sizeof a->target);
  same_bits(x, "floors", &a->floor, &b->floor, sizeof a->floor);
  same_bits(x, "means", &a->mean_removed, &b->mean_removed, sizeof a->mean_removed);
  assert_int_equal(a->singular, b->singular);
  assert_int_equal(a->deterministic, b->deterministic);
}

/* Both solvers solve from the same guess and must give the same result. Returns how many waits of the host replaying has saved. */
static long same_solve(pair *x)
{
  gmg_report r[2];
  char text[2][600];
  double *values[2];
  for (int i = 0; i < 2; i++) {
    const size_t before = gmg_cuda_synchronisations(x->c);
    x->e->vector->fill(x->e, x->cells, x->guess, x->u[i]);
    const gmg_status status = gmg_solve(x->solver[i], x->f, x->u[i], &r[i]);
    if (!gmg_status_is_outcome(status) && !x->refused) fail_msg("%s: %s", x->name, gmg_context_error(x->c));
    x->waits[i] = gmg_cuda_synchronisations(x->c) - before;
    snprintf(text[i], sizeof text[i], "%s", gmg_context_error(x->c));
    values[i] = malloc(x->cells * sizeof *values[i]);
    gmg_exec_read_reals(x->e, x->u[i], x->cells, values[i]);
  }
  same_reports(x, &r[0], &r[1]);
  same_bits(x, "residuals", r[0].history, r[1].history, (size_t)r[0].history_length * sizeof *r[0].history);
  same_bits(x, "solutions", values[0], values[1], x->cells * sizeof *values[0]);
  if (strcmp(text[0], text[1]) != 0) fail_msg("%s: \"%s\", replayed \"%s\"", x->name, text[0], text[1]);
  for (int i = 0; i < 2; i++) free(values[i]);
  return (long)x->waits[0] - (long)x->waits[1];
}

/* Solves three times. Cycles and solves are recorded in the second solve. expected: number of recordings after it, -1: any. */
static void solves(const char *name, const gmg_problem *p, const gmg_params *q, int expected)
{
  pair x = begin_pair(name, p, q, q->max_cycles % 2);
  long spared = 0;
  for (int repeat = 0; repeat < 3; repeat++) {
    spared = same_solve(&x);
    const int recorded = recordings(x.solver[REPLAYED]);
    if (expected >= 0 && recorded != (repeat > 0 ? expected : 0)) fail_msg("%s: %d recordings in solve %d", name, recorded, repeat);
  }
  if (expected > 0 && spared < 0) fail_msg("%s: replayed, %ld more waits", name, -spared);
  end_pair(&x);
}

static gmg_params deterministic(const char *smoother, gmg_precision precision)
{
  gmg_params q = params_for_cycles();
  q.smoother = gmg_smoother_by_name(smoother);
  q.deterministic = 1, q.precision = precision, q.accel = GMG_ACCEL_NONE, q.cycle = GMG_CYCLE_V;
  return q;
}

static void smoothers_and_shapes(void **state)
{
  static const struct {
    const char *name;
    int every; /* plain problem: Gauss-Seidel takes long */
    gmg_cycle_kind in_3d, fifth; /* the cycles of 3D problems, and of the fifth problem */
    gmg_type type;               /* unless in mixed precision */
  } smoothers[] = {{"async", 1, GMG_CYCLE_V, GMG_CYCLE_V, GMG_F64},
                   {"red_black", 1, GMG_CYCLE_F, GMG_CYCLE_W, GMG_F64},
                   {"jacobi", 1, GMG_CYCLE_V, GMG_CYCLE_V, GMG_F64},
                   {"chebyshev", 1, GMG_CYCLE_F, GMG_CYCLE_W, GMG_F64},
                   {"gauss_seidel", 4, GMG_CYCLE_V, GMG_CYCLE_V, GMG_F32}};
  static const int most_cycles[] = {10, 11};
  (void)state;
  for (int i = 0; i < PLAIN; i++)
    for (int k = 0; k < COUNT(smoothers); k++)
      for (int mixed = 0; mixed < 2; mixed++) {
        gmg_problem p = shaped_problem(&plain[i].shape);
        if ((mixed && unknowns(&p) < 100) || i % smoothers[k].every != 0) continue;
        if (!taken(unknowns(&p))) continue;
        gmg_params q = deterministic(smoothers[k].name, mixed ? GMG_PRECISION_MIXED : GMG_PRECISION_SAME);
        q.cycle = i == 4 ? smoothers[k].fifth : p.dim == 3 ? smoothers[k].in_3d : GMG_CYCLE_V;
        q.max_cycles = ROUND_ROBIN(most_cycles, i);
        if (!mixed) p.type = smoothers[k].type;
        solves(plain[i].name, &p, &q, -1);
      }
}

static int stop_at_four(void *data, int cycle, double residual, double target)
{
  (void)data, (void)residual, (void)target;
  return cycle == 4;
}

static gmg_params changed(void (*change)(gmg_params *), gmg_precision precision)
{
  gmg_params q = deterministic("async", precision);
  change(&q);
  return q;
}

static void converges(gmg_params *q) { q->rtol = 1e-10; }
static void stagnates(gmg_params *q) { q->rtol = 1e-17; }
static void ends_early(gmg_params *q) { q->rtol = 1e-12, q->max_cycles = 3; }
static void diverges(gmg_params *q) { q->smoother = gmg_smoother_by_name("jacobi"), q->omega = 1.9; }
static void is_slow(gmg_params *q) { q->smoother = gmg_smoother_by_name("jacobi"), q->omega = 0.05, q->max_cycles = 290; }
static void is_stopped(gmg_params *q) { q->rtol = 1e-12, q->monitor = stop_at_four; }
static void starts_by_fmg(gmg_params *q) { q->rtol = 1e-10, q->fmg = 1; }
static void starts_by_two(gmg_params *q) { q->rtol = 1e-10, q->fmg = 2, q->max_cycles = 21; }
static void on_one_level(gmg_params *q) { q->rtol = 1e-6, q->max_levels = 1; }

static void whatever_ends_it(void **state)
{
  static const struct {
    const char *name;
    void (*change)(gmg_params *);
    int recorded;
  } ends[] = {{"the target", converges, 1},     {"the floor", stagnates, 1},   {"the cycle limit", ends_early, 1},
              {"growth", diverges, 1},          {"slow, to the limit", is_slow, 1}, {"the monitor", is_stopped, 1},
              {"the target after a start", starts_by_fmg, 2}, {"the target after another", starts_by_two, 2},
              {"a single level", on_one_level, -1}};
  static const shape small = {3, {12, 12, 12}, GMG_CELL, "dddddd"};
  static const shape boxes[] = {{3, {40, 32, 36}, GMG_CELL, "dddddd"}, {2, {100, 75, 1}, GMG_VERTEX, "ppnn"}};
  (void)state;
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
    for (int b = 0; b < COUNT(boxes); b++)
      for (int mixed = 0; mixed < 2; mixed++) {
        gmg_params q = changed(ends[i].change, mixed ? GMG_PRECISION_MIXED : GMG_PRECISION_SAME);
        const gmg_problem p = shaped_problem(q.max_levels == 1 ? &small : &boxes[b]);
        solves(ends[i].name, &p, &q, ends[i].recorded);
      }
}

/* f = size times random numbers whose mean is not 0. */
static void fill_with_mean(const pair *x, double size)
{
  double *values = field(x->cells, 62);
  for (size_t c = 0; c < x->cells; c++) values[c] = size * (values[c] + 0.25);
  gmg_exec_write_reals(x->e, x->f, x->cells, values);
  free(values);
}

/* Solves with different beginnings. A check on the device needs one wait of the host, one on the host more. */
static void whatever_it_starts_from(void **state)
{
  static const struct {
    const char *name;
    double f, guess, boundary, atol;
    int once[2]; /* 1: the replayed solve waits at most once. First in the problem's precision, then in mixed precision */
  } starts[] = {{"a zero guess", 1, 0, 0, 0, {1, 1}},        {"a guess", 1, 1e-3, 0, 0, {1, 1}},
                {"boundary values", 1, 0, 2, 0, {1, 1}},     {"a large f", 1e15, 0, 0, 0, {1, 0}},
                {"a small f", 1e-15, 0, 0, 0, {1, 0}},       {"a tiny f", 1e-305, 0, 0, 0, {0, 0}},
                {"f = 0, u = 0", 0, 0, 0, 0, {1, 1}},        {"f = 0", 0, 1, 0, 0, {1, 1}},
                {"a target that is met", 1, 0, 0, 1e9, {1, 1}},
                /* these solves are refused; the search for the first bad value waits, too */
                {"f overflows", 1e200, 0, 0, 0, {0, 0}},     {"f is not a number", NAN, 0, 0, 0, {0, 0}},
                {"u is not a number", 1, NAN, 0, 0, {0, 0}},    {"u overflows", 1, 1e250, 0, 0, {0, 0}}};
  static const shape boxes[] = {{3, {40, 32, 36}, GMG_CELL, "dddddd"}, {2, {100, 75, 1}, GMG_VERTEX, "dddd"},
                                {3, {31, 32, 33}, GMG_VERTEX, "nnppnn"}, {2, {100, 75, 1}, GMG_CELL, "nnnn"}};
  (void)state;
  for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
    for (int b = 0; b < COUNT(boxes); b++)
      for (int mixed = 0; mixed < 2; mixed++) {
        const gmg_problem p = shaped_problem(&boxes[b]);
        const int singular = boxes[b].bc[0] == 'n';
        gmg_params q = deterministic("async", mixed ? GMG_PRECISION_MIXED : GMG_PRECISION_SAME);
        if (!taken(unknowns(&p))) continue;
        q.rtol = 1e-6, q.atol = starts[i].atol;
        pair x = begin_pair(starts[i].name, &p, &q, mixed);
        x.guess = starts[i].guess, x.refused = 1;
        x.e->vector->fill(x.e, x.cells, starts[i].f, x.f);
        if (singular) fill_with_mean(&x, starts[i].f);
        for (int j = 0; j < 2 && starts[i].boundary != 0; j++)
          assert_ok(x.c, gmg_set_boundary_constant(x.solver[j], 0, 1, starts[i].boundary));
        for (int repeat = 0; repeat < 4; repeat++) (void)same_solve(&x);
        assert_int_equal(recordings(x.solver[REPLAYED]), 1);
        print_message("%s: %zu waits, replayed %zu\n", x.name, x.waits[ENQUEUED], x.waits[REPLAYED]);
        if (starts[i].once[mixed] && !by_cycles && !(singular && starts[i].f == 0)) assert_true(x.waits[REPLAYED] <= 1);
        x.e->vector->fill(x.e, x.cells, 1, x.f), x.guess = 0; /* the next solve is not affected; if singular, its f is a mean alone */
        (void)same_solve(&x);
        end_pair(&x);
      }
}

static void unmeasured_solves(void **state)
{
  static const int cycles[] = {1, 2, 3, 4};
  (void)state;
  for (int i = 0; i < PLAIN; i++)
    for (int fmg = 0; fmg < 3; fmg++)
      for (int mixed = 0; mixed < 2; mixed++) {
        const gmg_problem p = shaped_problem(&plain[i].shape);
        gmg_params q = deterministic("async", mixed ? GMG_PRECISION_MIXED : GMG_PRECISION_SAME);
        if (mixed && unknowns(&p) < 100) continue;
        q.check_every = GMG_NONE, q.fmg = fmg, q.max_cycles = ROUND_ROBIN(cycles, i);
        solves(plain[i].name, &p, &q, 1);
      }
}

/* Unmeasured conjugate gradients are recorded as a whole, and their cycles are not recorded separately. Solves of many cycles are
   not recorded as a whole: their cycles are replayed. */
static void unmeasured_accelerated_solves(void **state)
{
  /* for each plain problem; solves of 34 cycles are not recorded as a whole */
  static const int cycles[] = {34, 2, 3, 4, 1, 34, 3, 4, 1, 2, 34, 4, 1, 2, 3, 4};
  (void)state;
  assert_int_equal(COUNT(cycles), PLAIN);
  for (int i = 0; i < PLAIN; i++)
    for (int fmg = 0; fmg < 2; fmg++)
      for (int mixed = 0; mixed < 2; mixed++)
        for (int flexible = 0; flexible < 2; flexible++) {
          const gmg_problem p = shaped_problem(&plain[i].shape);
          gmg_params q = deterministic(flexible ? "async" : "jacobi", mixed ? GMG_PRECISION_MIXED : GMG_PRECISION_SAME);
          if ((mixed && unknowns(&p) < 100) || !taken(unknowns(&p))) continue;
          q.accel = flexible ? GMG_ACCEL_FLEXIBLE_CG : GMG_ACCEL_CG;
          q.check_every = GMG_NONE, q.fmg = fmg, q.max_cycles = cycles[i];
          solves(plain[i].name, &p, &q, -1);
        }
}

/* Solves whose residual is measured every few cycles. The cycles between are replayed one by one. */
static void rarely_measured_solves(void **state)
{
  static const gmg_accel accels[] = {GMG_ACCEL_NONE, GMG_ACCEL_FLEXIBLE_CG};
  static const char *const smoothers[] = {"async", "red_black"};
  static const struct {
    int check_every, max_cycles;
    double rtol;
  } rare[] = {{2, 10, 1e-17}, {3, 11, 1e-10}, {4, 12, 1e-17}, {5, 13, 1e-10}, {2, 14, 1e-17},
              {3, 10, 1e-10}, {4, 11, 1e-17}, {5, 12, 1e-10}, {2, 13, 1e-17}, {3, 14, 1e-10},
              {4, 10, 1e-17}, {5, 11, 1e-10}, {2, 12, 1e-17}, {3, 13, 1e-10}, {4, 14, 1e-17}, {5, 10, 1e-10}};
  (void)state;
  assert_int_equal(COUNT(rare), PLAIN);
  for (int i = 0; i < PLAIN; i++)
    for (int s = 0; s < 2; s++)
      for (int fmg = 0; fmg < 2; fmg++)
        for (int a = 0; a < 2; a++)
          for (int mixed = 0; mixed < 2; mixed++) {
            const gmg_problem p = shaped_problem(&plain[i].shape);
            gmg_params q = deterministic(smoothers[s], mixed ? GMG_PRECISION_MIXED : GMG_PRECISION_SAME);
            if ((mixed && unknowns(&p) < 100) || !taken(unknowns(&p))) continue;
            q.accel = accels[a], q.fmg = fmg;
            q.check_every = rare[i].check_every, q.max_cycles = rare[i].max_cycles, q.rtol = rare[i].rtol;
            solves(plain[i].name, &p, &q, -1);
          }
}

/* An unmeasured solve that the caller records, while the solver has recordings of its own. */
static void recorded_by_callers(gmg_accel accel)
{
  const gmg_problem p = make_problem(3, 40, 32, 36, GMG_CELL, "dddddd");
  gmg_params q = deterministic("async", GMG_PRECISION_MIXED);
  cudaGraph_t graph;
  cudaGraphExec_t run;
  q.check_every = GMG_NONE, q.max_cycles = 3, q.accel = accel;
  pair x = begin_pair("recorded by the caller", &p, &q, 1);
  for (int repeat = 0; repeat < 3; repeat++) (void)same_solve(&x);
  assert_int_equal(recordings(x.solver[REPLAYED]), 1); /* its cycles are not recorded separately */
  x.e->vector->fill(x.e, x.cells, 0, x.u[REPLAYED]);
  assert_int_equal(cudaStreamBeginCapture(x.stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  const gmg_status status = gmg_solve(x.solver[REPLAYED], x.f, x.u[REPLAYED], NULL);
  assert_int_equal(cudaStreamEndCapture(x.stream, &graph), cudaSuccess);
  assert_ok(x.c, status);
  assert_int_equal(cudaGraphInstantiate(&run, graph, 0), cudaSuccess);
  assert_int_equal(cudaGraphLaunch(run, x.stream), cudaSuccess);
  same(x.name, "solutions", x.e, x.e, x.u[ENQUEUED], x.u[REPLAYED], x.cells, 0);
  cudaGraphExecDestroy(run), cudaGraphDestroy(graph);
  end_pair(&x);
}

static void recorded_by_the_caller(void **state)
{
  (void)state;
  recorded_by_callers(GMG_ACCEL_NONE);
  recorded_by_callers(GMG_ACCEL_FLEXIBLE_CG);
}

/* Measured conjugate gradients, whose cycles are replayed. F cycles may become V cycles during the solve. */
static void accelerated_solves(void **state)
{
  static const int most_cycles[] = {30, 31};
  (void)state;
  for (int i = 0; i < PLAIN; i++)
    for (int mixed = 0; mixed < 2; mixed++)
      for (int flexible = 0; flexible < 2; flexible++) {
        const gmg_problem p = shaped_problem(&plain[i].shape);
        gmg_params q = deterministic(flexible ? "async" : "jacobi", mixed ? GMG_PRECISION_MIXED : GMG_PRECISION_SAME);
        if ((mixed && unknowns(&p) < 100) || !taken(unknowns(&p))) continue;
        q.accel = flexible ? GMG_ACCEL_FLEXIBLE_CG : GMG_ACCEL_CG, q.rtol = 1e-9, q.max_cycles = ROUND_ROBIN(most_cycles, i);
        if (flexible && p.dim == 3) q.cycle = GMG_CYCLE_F;
        solves(plain[i].name, &p, &q, -1);
      }
}

static void preconditions(void **state)
{
  enum { REPEATS = 4 };
  (void)state;
  for (int i = 0; i < PLAIN; i++)
    for (int mixed = 0; mixed < 2; mixed++) {
      const gmg_problem p = shaped_problem(&plain[i].shape);
      const gmg_params q = deterministic("async", mixed ? GMG_PRECISION_MIXED : GMG_PRECISION_SAME);
      if ((mixed && unknowns(&p) < 100) || !taken(unknowns(&p))) continue;
      pair x = begin_pair(plain[i].name, &p, &q, i % 2);
      for (int repeat = 0; repeat < REPEATS; repeat++) {
        x.e->vector->xpay(x.e, x.cells, x.f, 10 * repeat, x.f); /* the address stays, the values change */
        for (int k = 0; k < 2; k++) assert_ok(x.c, gmg_precondition(x.solver[k], x.f, x.u[k]));
        same(x.name, "precondition", x.e, x.e, x.u[ENQUEUED], x.u[REPLAYED], x.cells, 0);
        assert_int_equal(recordings(x.solver[REPLAYED]), repeat > 0);
      }
      end_pair(&x);
    }
}

/* Updates and other pointers make recordings invalid. */
static void updates_and_pointers(void **state)
{
  static const struct {
    int f, u;
  } pairs[] = {{0, 0}, {0, 0}, {1, 0}, {1, 0}, {0, 1}, {0, 1}, {1, 1}, {1, 1}, {0, 2}, {0, 2}, {1, 2}, {1, 2}, /* pairs that are used again at once */
               {0, 0}, {0, 1}, {1, 2}, {1, 3}, {0, 4}, {0, 5}, {1, 0}, {1, 1}, {0, 2}, {0, 3}, {1, 4}, {1, 5}}; /* and pairs that are used again late */
  (void)state;
  for (int mixed = 0; mixed < 2; mixed++) {
    gmg_problem p = make_problem(3, 40, 32, 36, GMG_CELL, "dddddd"), next = p;
    const gmg_params q = deterministic("async", mixed ? GMG_PRECISION_MIXED : GMG_PRECISION_SAME);
    pair x = begin_pair("updates", &p, &q, mixed);
    void *f[2] = {x.f, random_field(x.e, x.cells, 62)}, *u[6] = {x.u[REPLAYED]};
    for (int i = 1; i < 6; i++) u[i] = random_field(x.e, x.cells, 0);
    for (int repeat = 0; repeat < 2; repeat++) (void)same_solve(&x);
    assert_int_equal(recordings(x.solver[REPLAYED]), 1);
    next.shift = 50;
    for (int i = 0; i < 2; i++) assert_ok(x.c, gmg_solver_update(x.solver[i], &next));
    assert_int_equal(recordings(x.solver[REPLAYED]), 0);
    for (int repeat = 0; repeat < 3; repeat++) (void)same_solve(&x);
    assert_int_equal(recordings(x.solver[REPLAYED]), 1);
    for (int i = 0; i < COUNT(pairs); i++) {
      x.f = f[pairs[i].f], x.u[REPLAYED] = u[pairs[i].u];
      (void)same_solve(&x);
      assert_true(recordings(x.solver[REPLAYED]) <= GMG_RECORDINGS);
    }
    for (int i = 0; i < 2; i++) assert_ok(x.c, gmg_set_boundary_constant(x.solver[i], 0, 1, 2.5));
    for (int repeat = 0; repeat < 3; repeat++) (void)same_solve(&x);
    for (int i = 0; i < 2; i++) assert_ok(x.c, gmg_set_boundary_constant(x.solver[i], 1, 0, -1));
    (void)same_solve(&x);
    for (int i = 0; i < 6; i++)
      if (u[i] != x.u[REPLAYED]) x.e->memory->release(x.c, u[i]);
    x.e->memory->release(x.c, f[x.f == f[0]]);
    end_pair(&x);
  }
}

/* A caller may release u and f, and get the same addresses again. Then a recording is replayed with other arrays. Jacobi copies u,
   full multigrid copies f, preconditioning fills z. Run under compute-sanitizer, the test shows whether copies in a recording
   refer to released arrays. */
static void arrays_at_the_same_address(void **state)
{
  static const shape box = {3, {16, 12, 10}, GMG_CELL, "dddddd"};
  (void)state;
  for (int fmg = 0; fmg < 2; fmg++) {
    const gmg_problem p = shaped_problem(&box);
    gmg_params q = deterministic(fmg ? "red_black" : "jacobi", GMG_PRECISION_SAME);
    q.fmg = fmg, q.max_cycles = 8, q.pre = q.post = 1;
    pair x = begin_pair("arrays at the same address", &p, &q, 0);
    for (int repeat = 0; repeat < 6; repeat++) {
      (void)same_solve(&x);
      void *const before[3] = {x.f, x.u[0], x.u[1]};
      for (int i = 0; i < 2; i++) gmg_precondition(x.solver[i], x.f, x.u[i]);
      x.e->memory->release(x.c, x.u[1]), x.e->memory->release(x.c, x.u[0]), x.e->memory->release(x.c, x.f);
      x.f = random_field(x.e, x.cells, 61);
      for (int i = 0; i < 2; i++) x.u[i] = random_field(x.e, x.cells, 0);
      if (repeat == 5 && (x.f != before[0] || x.u[1] != before[2])) print_message("the addresses are others\n");
    }
    end_pair(&x);
  }
}

int main(int argc, char **argv)
{
  only(argc, argv);
  if (without_device()) return SKIPPED;
  by_cycles = argc > 2 && strcmp(argv[2], "by_cycles") == 0;
  const struct CMUnitTest tests[] = {cmocka_unit_test(smoothers_and_shapes), cmocka_unit_test(whatever_ends_it),
                                     cmocka_unit_test(whatever_it_starts_from),
                                     cmocka_unit_test(unmeasured_solves), cmocka_unit_test(unmeasured_accelerated_solves),
                                     cmocka_unit_test(rarely_measured_solves),
                                     cmocka_unit_test(accelerated_solves), cmocka_unit_test(preconditions),
                                     cmocka_unit_test(recorded_by_the_caller),
                                     cmocka_unit_test(updates_and_pointers), cmocka_unit_test(arrays_at_the_same_address)};
  return run_selected(tests);
}
