/* Calls that do not wait for the device: solves with check_every = GMG_NONE, small calls, and gmg_precondition(), which can be
   captured in a graph of the caller's. */
#include "twins.h"

#include <cuda_runtime_api.h>

/* Counts the runtime's functions that may wait for the device, whoever calls them (ld --wrap). */
static size_t blocking;

#define COUNTED(name, parameters, arguments)                                        \
  cudaError_t __real_##name parameters;                                             \
  cudaError_t __wrap_##name parameters;                                             \
  cudaError_t __wrap_##name parameters { return blocking++, __real_##name arguments; }

COUNTED(cudaStreamSynchronize, (cudaStream_t stream), (stream))
COUNTED(cudaEventSynchronize, (cudaEvent_t event), (event))
COUNTED(cudaDeviceSynchronize, (void), ())
COUNTED(cudaMemcpy, (void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind), (to, from, bytes, kind))
COUNTED(cudaMemset, (void *to, int value, size_t bytes), (to, value, bytes))
COUNTED(cudaMalloc, (void **p, size_t bytes), (p, bytes))
COUNTED(cudaMallocHost, (void **p, size_t bytes), (p, bytes))
COUNTED(cudaHostAlloc, (void **p, size_t bytes, unsigned flags), (p, bytes, flags)) /* C++ code calls this function for cudaMallocHost() */
COUNTED(cudaFree, (void *p), (p))
COUNTED(cudaFreeHost, (void *p), (p))

cudaError_t __real_cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t __wrap_cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t __wrap_cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream)
{
  blocking += kind != cudaMemcpyDeviceToDevice; /* such a copy waits if the host's memory is not page-locked */
  return __real_cudaMemcpyAsync(to, from, bytes, kind, stream);
}

static void nothing_blocked(const char *name, size_t before)
{
  if (blocking != before) fail_msg("%s: %zu calls that may wait for the device", name, blocking - before);
}

/* Number of measured norms in a report, and of those that are more than half the norm measured before. */
static size_t norms_of(const gmg_report *r)
{
  size_t norms = 0;
  for (int i = 0; i < r->history_length; i++) norms += !isnan(r->history[i]);
  return norms;
}

static size_t slow_norms_of(const gmg_report *r)
{
  double before = INFINITY;
  size_t slow = 0;
  for (int i = 0; i < r->history_length; i++) {
    if (isnan(r->history[i])) continue;
    slow += r->history[i] > 0.5 * before;
    before = r->history[i];
  }
  return slow;
}

static void unmeasured(const char *name, const gmg_problem *p, gmg_params q, gmg_precision precision)
{
  q.precision = precision, q.check_every = GMG_NONE, q.max_cycles = 4, q.coarse_rtol = 1e-6;
  both b = begin_both(p, &q, name);
  const gmg_exec *e[2] = {&b.solver[0]->exec, &b.solver[1]->exec};
  twin f = begin_twin(e[0], e[1], unknowns(p), 61), u = begin_twin(e[0], e[1], unknowns(p), 0);
  double norm[2], f_norm[2];
  gmg_report r;
  ON_BOTH(i) {
    const size_t before = i ? gmg_cuda_synchronisations(b.context[i]) : 0, blocked = blocking;
    assert_ok(b.context[i], gmg_solve(b.solver[i], f.at[i], u.at[i], &r));
    if (i && gmg_cuda_synchronisations(b.context[i]) != before)
      fail_msg("%s: the host waited %zu times in a solve that nobody measures", name, gmg_cuda_synchronisations(b.context[i]) - before);
    nothing_blocked(name, blocked);
    assert_int_equal(r.cycles, 4);
    const gmg_level *L = b.solver[i]->finest;
    if (r.singular) gmg_grid_ops_of(e[i])->take_mean(e[i], &L->A, L->volume, f.at[i], f.at[i]);
    norm[i] = gmg_operator_of(e[i], &L->A)->measure_residual(e[i], &L->A, f.at[i], u.at[i], NULL, NULL, NULL, &f_norm[i], GMG_WAIT);
  }
  print_message("%-28s residual after 4 cycles: host %.2e, device %.2e\n", name, norm[0] / f_norm[0], norm[1] / f_norm[1]);
  /* Blocks differ between host and device, and so do factors. On a prime size the factor of a cycle is up to four times the
     host's. */
  const double most = pow(4, q.max_cycles - 1 + (q.fmg > 1 ? q.fmg : 1));
  assert_true(norm[1] <= most * norm[0] + 1e4 * epsilon_of(e[0]) * f_norm[0]);
  assert_true(gmg_cuda_synchronisations(b.context[DEVICE]) > 0 && blocking > 0); /* the norm above waits, so both counters count */
  size_t blocked = 0;
  for (int repeat = 0; repeat < 3; repeat++) { /* the solve is recorded, replayed, and replayed again */
    if (repeat == 1) blocked = blocking;
    assert_ok(b.context[DEVICE], gmg_solve(b.solver[DEVICE], f.at[DEVICE], u.at[DEVICE], NULL));
  }
  nothing_blocked(name, blocked);
  end_twin(&f), end_twin(&u);
  end_both(&b);
}

/* A hierarchy whose coarsest grid needs the whole device. */
static gmg_params two_levels(void)
{
  gmg_params q = params_for_cycles();
  q.max_levels = 2;
  return q;
}

static gmg_params by_cholesky(void)
{
  gmg_params q = params_for_cycles();
  q.coarse = GMG_COARSE_DENSE, q.coarse_cells = 600;
  return q;
}

static void nothing_waits(void **state)
{
  (void)state;
  for (int i = 0; i < PLAIN; i++) {
    gmg_problem p = shaped_problem(&plain[i].shape);
    for (int fmg = 0; fmg < 3; fmg++) {
      gmg_params q = params_for_cycles();
      q.fmg = fmg, p.type = GMG_F64;
      unmeasured(plain[i].name, &p, q, GMG_PRECISION_SAME);
      if (unknowns(&p) > 100) unmeasured(plain[i].name, &p, q, GMG_PRECISION_MIXED);
      p.type = GMG_F32;
      unmeasured(plain[i].name, &p, q, GMG_PRECISION_SAME);
    }
  }
  const gmg_problem p = make_problem(3, 64, 64, 64, GMG_CELL, "ddnndd");
  unmeasured("a large coarsest grid", &p, two_levels(), GMG_PRECISION_SAME);
  unmeasured("a large coarsest grid", &p, two_levels(), GMG_PRECISION_MIXED);
  unmeasured("Cholesky", &p, by_cholesky(), GMG_PRECISION_SAME);
  unmeasured("Cholesky", &p, by_cholesky(), GMG_PRECISION_MIXED);
}

static gmg_params accelerated(gmg_accel accel, int fmg)
{
  gmg_params q = params_for_cycles();
  q.accel = accel, q.fmg = fmg;
  if (accel == GMG_ACCEL_CG) q.smoother = gmg_smoother_by_name("jacobi");
  return q;
}

/* Accelerated solves do not wait: scalars of conjugate gradients stay on the device. */
static void accelerations_wait_for_nothing(void **state)
{
  (void)state;
  medium m = ball(3, 40, 1e3, GMG_CELL);
  for (int fmg = 0; fmg < 2; fmg++)
    for (int mixed = 0; mixed < 2; mixed++) {
      const gmg_precision precision = mixed ? GMG_PRECISION_MIXED : GMG_PRECISION_SAME;
      unmeasured("a ball of beta, by default", &m.p, accelerated(GMG_ACCEL_AUTO, fmg), precision);
      for (int i = 0; i < PLAIN; i++) {
        gmg_problem p = shaped_problem(&plain[i].shape);
        if (unknowns(&p) < 100) continue;
        unmeasured(plain[i].name, &p, accelerated(GMG_ACCEL_FLEXIBLE_CG, fmg), precision);
        unmeasured(plain[i].name, &p, accelerated(GMG_ACCEL_CG, fmg), precision);
        p.type = GMG_F32;
        if (!mixed) unmeasured(plain[i].name, &p, accelerated(GMG_ACCEL_FLEXIBLE_CG, fmg), precision);
      }
    }
  free_medium(&m);
}

/* A solve waits once for every measured residual, and `more` times besides: in the problem's type for the norm of f, in low precision
   not, because it comes with the first residual; in a singular problem always, with the mean of f. If its iterations are recorded,
   it waits recorded[mixed] times in all. Nothing else waits while every iteration at least halves the
   residual, and it is far from the target and from rounding. */
static void measured(const char *name, const gmg_problem *p, gmg_params q, const size_t more[2], const size_t recorded[2])
{
  gmg_context *c;
  gmg_solver *s;
  const int mixed = q.precision == GMG_PRECISION_MIXED;
  q.rtol = 1e-14;
  assert_int_equal(gmg_context_create_cuda(0, NULL, &c), GMG_OK);
  assert_ok(c, create_on_device(c, p, &q, &s));
  const gmg_exec *e = &s->exec;
  twin f = begin_twin(e, e, unknowns(p), 61), u = begin_twin(e, e, unknowns(p), 0);
  for (int repeat = 0; repeat < 3; repeat++) { /* first enqueued, then recorded, then replayed */
    gmg_report r;
    e->vector->fill(e, unknowns(p), 0, u.at[0]);
    const size_t before = gmg_cuda_synchronisations(c);
    assert_int_equal(gmg_solve(s, f.at[0], u.at[0], &r), GMG_NOT_CONVERGED);
    const size_t waits = gmg_cuda_synchronisations(c) - before, expected = norms_of(&r) - 1 + more[mixed];
    assert_int_equal(r.cycles, q.max_cycles);
    assert_int_equal(slow_norms_of(&r), 0);
    /* in the problem's type the first iteration is not part of a recorded loop */
    const int loops = q.check_every == 1 && repeat && q.max_cycles > (mixed ? q.fmg : 1);
    const size_t at_least = loops ? recorded[mixed] : expected;
    if (waits > expected || waits < at_least || (repeat == 2 && waits != at_least))
      fail_msg("%s, %d iterations, solve %d: the host waited %zu times, not %zu", name, q.max_cycles, repeat, waits, at_least);
  }
  end_twin(&f), end_twin(&u);
  gmg_solver_destroy(s);
  gmg_context_destroy(c);
}

static void iterations_wait_once(void **state)
{
  (void)state;
  medium m = ball(3, 40, 1e3, GMG_CELL);
  const gmg_problem p = make_problem(3, 40, 32, 36, GMG_CELL, "dddddd"), closed = make_problem(2, 100, 75, 1, GMG_CELL, "nnpp");
  static const struct {
    int cycles, every;
  } some[] = {{1, 1}, {4, 1}, {4, 2}, {4, 3}, {1, 5}};
  static const size_t more[2] = {2, 1}, recorded[2] = {4, 1}, singular[2] = {2, 1}, singular_recorded[2] = {4, 1};
  static const size_t fmg[2] = {1, 1}, fmg_recorded[2] = {4, 3};
  for (int i = 0; i < 5; i++)
    for (int mixed = 0; mixed < 2; mixed++) {
      gmg_params flexible = accelerated(GMG_ACCEL_FLEXIBLE_CG, 0), plain_cg = accelerated(GMG_ACCEL_CG, 0);
      flexible.max_cycles = plain_cg.max_cycles = some[i].cycles, flexible.check_every = plain_cg.check_every = some[i].every;
      flexible.precision = plain_cg.precision = mixed ? GMG_PRECISION_MIXED : GMG_PRECISION_SAME;
      measured("a ball of beta", &m.p, flexible, more, recorded);
      measured("flexible CG", &p, flexible, more, recorded);
      measured("flexible CG, singular", &closed, flexible, singular, singular_recorded);
      measured("CG", &p, plain_cg, more, recorded);
      flexible.fmg = 1;
      measured("flexible CG after full multigrid", &p, flexible, fmg, fmg_recorded);
    }
  free_medium(&m);
}

/* Residual, fluxes, a boundary value and preconditioning do not wait, also in singular problems and in mixed precision. */
static void small_calls_only_enqueue(void **state)
{
  (void)state;
  for (int i = 0; i < PLAIN; i++)
    for (int mixed = 0; mixed < 2; mixed++) {
      const gmg_problem p = shaped_problem(&plain[i].shape);
      gmg_params q = params_for_cycles();
      gmg_context *c;
      gmg_solver *s;
      if (mixed && unknowns(&p) < 100) continue;
      q.precision = mixed ? GMG_PRECISION_MIXED : GMG_PRECISION_SAME;
      assert_int_equal(gmg_context_create_cuda(0, NULL, &c), GMG_OK);
      assert_ok(c, gmg_solver_create(c, &p, &q, &s));
      const gmg_exec *e = &s->exec;
      twin f = begin_twin(e, e, unknowns(&p), 61), u = begin_twin(e, e, unknowns(&p), 62), flux = begin_twin(e, e, 2 * unknowns(&p), 0);
      void *const along[3] = {flux.at[0], NULL, NULL};
      const size_t before = gmg_cuda_synchronisations(c), blocked = blocking;
      assert_ok(c, gmg_residual(s, f.at[0], u.at[0], u.at[1]));
      assert_ok(c, gmg_flux(s, u.at[0], along, NULL));
      if (p.bc[0][0] != GMG_PERIODIC) assert_ok(c, gmg_set_boundary_constant(s, 0, 0, 0.5));
      assert_ok(c, gmg_precondition(s, f.at[0], u.at[1]));
      if (gmg_cuda_synchronisations(c) != before) fail_msg("%s: the host waited %zu times", plain[i].name, gmg_cuda_synchronisations(c) - before);
      nothing_blocked(plain[i].name, blocked);
      assert_int_equal(e->memory->health(c), GMG_OK);
      end_twin(&f), end_twin(&u), end_twin(&flux);
      gmg_solver_destroy(s);
      gmg_context_destroy(c);
    }
}

/* In the problem's type an acceleration computes its residual by recursion. If that residual meets the target or hardly falls, the true one is computed.
   If they differ, the rounding floor is computed, too, and the recursion starts anew. So each such look waits three times at
   most. */
static size_t waits_for_the_truth(const gmg_report *r)
{
  return 3 * (1 + slow_norms_of(r));
}

/* A measured solve waits once for every norm in its report. The norm of f comes with the first residual, except in a solve
   that is accelerated in the problem's type. */
static void only_norms_are_read(void **state)
{
  static const struct {
    const char *name;
    int mixed, fmg;
    gmg_accel accel;
    int cholesky;
  } solves[] = {{"cycles", 0, 0, GMG_ACCEL_NONE, 0},         {"mixed", 1, 0, GMG_ACCEL_NONE, 0},
                {"full multigrid", 0, 1, GMG_ACCEL_NONE, 0}, {"flexible CG", 0, 0, GMG_ACCEL_FLEXIBLE_CG, 0},
                {"Cholesky", 0, 0, GMG_ACCEL_NONE, 1},       {"full multigrid, mixed", 1, 1, GMG_ACCEL_NONE, 0},
                {"flexible CG, mixed", 1, 0, GMG_ACCEL_FLEXIBLE_CG, 0}};
  enum { SOLVES = sizeof solves / sizeof *solves };
  (void)state;
  for (int i = 0; i < PLAIN; i++)
    for (int check_every = 1; check_every <= 3; check_every++)
      for (int k = 0; k < SOLVES; k++) {
        const gmg_problem p = shaped_problem(&plain[i].shape);
        gmg_params q = solves[k].cholesky ? by_cholesky() : params_for_cycles();
        gmg_context *c;
        gmg_solver *s;
        gmg_report r;
        if (strspn(plain[i].shape.bc, "np") == strlen(plain[i].shape.bc) || unknowns(&p) < 100) continue; /* singular problems also wait for means */
        q.precision = solves[k].mixed ? GMG_PRECISION_MIXED : GMG_PRECISION_SAME, q.rtol = 1e-6;
        q.check_every = check_every, q.fmg = solves[k].fmg, q.accel = solves[k].accel;
        assert_int_equal(gmg_context_create_cuda(0, NULL, &c), GMG_OK);
        assert_ok(c, gmg_solver_create(c, &p, &q, &s));
        const gmg_exec *e = &s->exec;
        twin f = begin_twin(e, e, unknowns(&p), 61), u = begin_twin(e, e, unknowns(&p), 0);
        const size_t before = gmg_cuda_synchronisations(c);
        assert_ok(c, gmg_solve(s, f.at[0], u.at[0], &r));
        const size_t waits = gmg_cuda_synchronisations(c) - before;
        const size_t more = q.accel == GMG_ACCEL_FLEXIBLE_CG && !solves[k].mixed ? 1 + waits_for_the_truth(&r) : 0;
        if (waits > norms_of(&r) + more)
          fail_msg("%s, %s: %d cycles, %d norms, %zu waits", plain[i].name, solves[k].name, r.cycles, (int)norms_of(&r), waits);
        end_twin(&f), end_twin(&u);
        gmg_solver_destroy(s);
        gmg_context_destroy(c);
      }
}

static void launch_again(cudaGraphExec_t graph, cudaStream_t stream, void *to, const void *from, size_t bytes)
{
  assert_int_equal(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream), cudaSuccess);
  assert_int_equal(cudaGraphLaunch(graph, stream), cudaSuccess);
  assert_int_equal(cudaStreamSynchronize(stream), cudaSuccess);
}

static void captured(const char *name, const gmg_problem *p, gmg_params q, gmg_precision precision)
{
  enum { RIGHT_SIDES = 3 };
  gmg_context *c;
  gmg_solver *s;
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t run;
  q.precision = precision, q.deterministic = 1;
  assert_int_equal(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  assert_int_equal(gmg_context_create_cuda(0, stream, &c), GMG_OK);
  assert_ok(c, gmg_solver_create(c, p, &q, &s));
  const gmg_exec *e = &s->exec;
  twin r[RIGHT_SIDES], z[RIGHT_SIDES], in = begin_twin(e, e, unknowns(p), 0), out = begin_twin(e, e, unknowns(p), 0);
  for (int i = 0; i < RIGHT_SIDES; i++) {
    r[i] = begin_twin(e, e, unknowns(p), 70 + (uint64_t)i), z[i] = begin_twin(e, e, unknowns(p), 0);
    if (i) e->vector->xpay(e, r[i].n, r[i].at[0], 1e6 * i, r[i].at[0]); /* values of another magnitude */
    assert_ok(c, gmg_precondition(s, r[i].at[0], z[i].at[0]));
  }
  assert_int_equal(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  const gmg_status status = gmg_precondition(s, in.at[0], out.at[0]);
  assert_int_equal(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  assert_ok(c, status);
  assert_int_equal(cudaGraphInstantiate(&run, graph, 0), cudaSuccess);
  for (int i = 0; i < RIGHT_SIDES; i++) {
    launch_again(run, stream, in.at[0], r[i].at[0], in.n * e->real_size);
    same(name, "precondition from a graph", e, e, z[i].at[0], out.at[0], out.n, 0);
  }
  cudaGraphExecDestroy(run), cudaGraphDestroy(graph);
  for (int i = 0; i < RIGHT_SIDES; i++) end_twin(&r[i]), end_twin(&z[i]);
  end_twin(&in), end_twin(&out);
  assert_int_equal(e->memory->health(c), GMG_OK);
  gmg_solver_destroy(s);
  gmg_context_destroy(c);
  cudaStreamDestroy(stream);
}

static void precondition_is_captured(void **state)
{
  (void)state;
  for (int i = 0; i < PLAIN; i++) {
    const gmg_problem p = shaped_problem(&plain[i].shape);
    captured(plain[i].name, &p, params_for_cycles(), GMG_PRECISION_SAME);
    if (unknowns(&p) > 100) captured(plain[i].name, &p, params_for_cycles(), GMG_PRECISION_MIXED);
  }
  const gmg_problem p = make_problem(3, 64, 64, 64, GMG_CELL, "ddnndd");
  captured("a large coarsest grid", &p, two_levels(), GMG_PRECISION_SAME);
  captured("Cholesky", &p, by_cholesky(), GMG_PRECISION_MIXED);
}

int main(int argc, char **argv)
{
  only(argc, argv);
  if (without_device()) return SKIPPED;
  const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_waits), cmocka_unit_test(accelerations_wait_for_nothing),
                                     cmocka_unit_test(iterations_wait_once), cmocka_unit_test(small_calls_only_enqueue),
                                     cmocka_unit_test(only_norms_are_read), cmocka_unit_test(precondition_is_captured)};
  return run_selected(tests);
}
