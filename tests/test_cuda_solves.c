/* CUDA against the host: every smoother, solves, hard coefficients; bands of the asynchronous smoother; refusals, rounds, streams. */
#include "twins.h"

#ifdef GMG_CUDA
#include <cuda_runtime_api.h>
#endif
#include <pthread.h>

/* --- smoothers and solves -------------------------------------------------------------------------------------------- */

static void smoothers(const char *name, const gmg_problem *p)
{
  static const char *const names[] = {"jacobi", "gauss_seidel", "red_black", "chebyshev", "async", "async"};
  for (int k = 0; k < 6; k++) {
    gmg_params q = gmg_params_default();
    q.smoother = gmg_smoother_by_name(names[k]);
    q.deterministic = 1, q.precision = GMG_PRECISION_SAME;
    if (k == 5) q.local = GMG_LOCAL_JACOBI, q.local_sweeps = 3, q.omega = 0.7;
    if (names[k][0] == 'a') q.block[0] = 16, q.block[1] = 8, q.block[2] = 4; /* the same on both: rates depend on it */
    both b = begin_both(p, &q, name);
    for (int l = 0; l + 1 < b.solver[0]->levels && l < 2; l++) {
      same_sweeps(name, names[k], &b, l, 2, GMG_LEG_DOWN, 1, 1024);
      same_sweeps(name, names[k], &b, l, 2, GMG_LEG_UP, 0, 1024);
      same_sweeps(name, names[k], &b, l, 2, GMG_LEG_UP_REVERSED, 0, 1024);
    }
    end_both(&b);
  }
}

/* Solves: as many cycles, the same solution. */
static void solves(const char *name, const gmg_problem *p, gmg_params q, int more)
{
  both b = begin_both(p, &q, name);
  const gmg_exec *e[2] = {&b.solver[0]->exec, &b.solver[1]->exec};
  gmg_report r[2];
  twin f = begin_twin(e[0], e[1], unknowns(p), 61), u = begin_twin(e[0], e[1], unknowns(p), 0);
  ON_BOTH(i) {
    const gmg_status status = gmg_solve(b.solver[i], f.at[i], u.at[i], &r[i]);
    if (status > GMG_DIVERGED) fail_msg("%s, solve on the %s: %s", name, i ? "device" : "host", gmg_context_error(b.context[i]));
  }
  print_message("%-34s host %2d cycles, %s; device %2d, %s\n", name, r[0].cycles, gmg_status_string(r[0].status), r[1].cycles,
                gmg_status_string(r[1].status));
  assert_int_equal(r[0].status, r[1].status);
  assert_true(abs(r[0].cycles - r[1].cycles) <= more);
  const double difference = ulps(e[0], e[1], u.at[0], u.at[1], u.n) * epsilon_of(e[0]);
  if (r[0].status == GMG_OK) assert_below(difference, p->type == GMG_F64 ? 1e-5 : 1e-2);
  ON_BOTH(i) { /* a cycle as a preconditioner */
    e[i]->vector->fill(e[i], u.n, NAN, u.at[i]);
    assert_ok(b.context[i], gmg_precondition(b.solver[i], f.at[i], u.at[i]));
    assert_true(isfinite(e[i]->vector->norm2(e[i], u.n, u.at[i])));
  }
  end_twin(&f), end_twin(&u);
  end_both(&b);
}

static void smoothers_agree(void **state)
{
  (void)state;
  for (int i = 0; i < PLAIN; i++) {
    gmg_problem p = shaped_problem(&plain[i].shape);
    smoothers(plain[i].name, &p);
  }
  medium m[] = {ball(3, 20, 1e2, GMG_CELL), absorbing(2, 40, 1e4, GMG_CELL), stretched(3, 18, 4, GMG_VERTEX)};
  for (int i = 0; i < 3; i++) {
    smoothers("medium", &m[i].p);
    free_medium(&m[i]);
  }
}

static void solves_agree(void **state)
{
  static const char *const names[] = {"jacobi", "red_black", "chebyshev", "async"};
  (void)state;
  for (int i = 0; i < PLAIN; i++)
    for (int k = 0; k < 4; k++) {
      gmg_problem p = shaped_problem(&plain[i].shape);
      gmg_params q = gmg_params_default();
      q.smoother = gmg_smoother_by_name(names[k]);
      p.type = (gmg_type)((i + k) % 2);
      q.deterministic = 1;
      solves(plain[i].name, &p, q, k == 3 ? 2 : 1); /* async has other blocks on the host */
    }
  static const char *const titles[] = {"F, Cholesky", "full multigrid", "CG", "full multigrid, mixed"};
  for (int k = 0; k < 4; k++) {
    const gmg_problem p = make_problem(3, 48, 40, 36, GMG_CELL, "ddnnpp");
    gmg_params q = gmg_params_default();
    if (k == 0) q.cycle = GMG_CYCLE_F, q.coarse = GMG_COARSE_CHOLESKY;
    if (k == 1) q.fmg = 1, q.precision = GMG_PRECISION_SAME;
    if (k == 2) q.accel = GMG_ACCEL_CG, q.smoother = gmg_smoother_by_name("red_black");
    if (k == 3) q.fmg = 1, q.precision = GMG_PRECISION_MIXED;
    solves(titles[k], &p, q, 1);
  }
}

/* One full multigrid start with data on the walls, measured and not, in either precision: what the host makes of it. */
static void starts_agree(void **state)
{
  (void)state;
  for (int i = 0; i < PLAIN; i++)
    for (int k = 0; k < 4; k++) {
      const gmg_problem p = shaped_problem(&plain[i].shape);
      gmg_params q = gmg_params_default();
      q.smoother = gmg_smoother_by_name("red_black"); /* async has other blocks on the host */
      q.fmg = 1 + k / 2, q.max_cycles = 1, q.check_every = k % 2, q.coarse_rtol = 1e-6;
      q.precision = k < 3 ? GMG_PRECISION_MIXED : GMG_PRECISION_SAME;
      both b = begin_both(&p, &q, plain[i].name);
      const gmg_exec *e[2] = {&b.solver[0]->exec, &b.solver[1]->exec};
      twin f = begin_twin(e[0], e[1], unknowns(&p), 63), u = begin_twin(e[0], e[1], unknowns(&p), 64), g = begin_twin(e[0], e[1], unknowns(&p), 65);
      ON_BOTH(at) {
        for (int a = 0; a < p.dim; a++)
          for (int side = 0; side < 2; side++)
            if (p.bc[a][side] != GMG_PERIODIC) assert_ok(b.context[at], gmg_set_boundary_values(b.solver[at], a, side, g.at[at]));
        const gmg_status status = gmg_solve(b.solver[at], f.at[at], u.at[at], NULL);
        if (status > GMG_NOT_CONVERGED) fail_msg("%s, start on the %s: %s", plain[i].name, at ? "device" : "host", gmg_context_error(b.context[at]));
      }
      const double difference = ulps(e[0], e[1], u.at[0], u.at[1], u.n) * epsilon_of(e[0]);
      if (!(difference <= 1e-4)) fail_msg("%s, start %d: host and device differ by %g", plain[i].name, k, difference);
      end_twin(&f), end_twin(&u), end_twin(&g);
      end_both(&b);
    }
}

static void hard_solves_agree(void **state)
{
  (void)state;
  medium m[] = {ball(3, 48, 1e4, GMG_CELL), ball(3, 47, 1e-4, GMG_VERTEX), ball(3, 48, 1e6, GMG_CELL), stretched(3, 48, 10, GMG_CELL),
                absorbing(3, 48, 1e8, GMG_CELL), checkerboard(2, 64, 1e3, GMG_CELL)};
  static const char *const names[] = {"ball 1e4", "ball 1e-4, vertices", "ball 1e6", "stretch 10", "sigma 1e8", "checkerboard"};
  for (int i = 0; i < 6; i++) {
    gmg_params q = gmg_params_default();
    solves(names[i], &m[i].p, q, 3);
    q.precision = GMG_PRECISION_SAME;
    solves(names[i], &m[i].p, q, 3);
    free_medium(&m[i]);
  }
}

/* The asynchronous smoother many times over: a band, not a number. */
static void asynchronous_band(void **state)
{
  (void)state;
  for (int dim = 1; dim <= 3; dim++)
    for (int large = 0; large < 2; large++) {
      const size_t n = dim == 1 ? (large ? 1000000 : 4000) : dim == 2 ? (large ? 1024 : 100) : (large ? 128 : 40);
      const gmg_problem p = make_problem(dim, n, dim > 1 ? n : 1, dim > 2 ? n : 1, GMG_CELL, "dddddd");
      gmg_params q = gmg_params_default();
      q.precision = GMG_PRECISION_SAME, q.rtol = 0, q.atol = 1e-300, q.max_cycles = 5;
      both b;
      assert_int_equal(gmg_context_create_cuda(0, NULL, &b.context[DEVICE]), GMG_OK);
      assert_ok(b.context[DEVICE], gmg_solver_create(b.context[DEVICE], &p, &q, &b.solver[DEVICE]));
      const gmg_exec *e = &b.solver[DEVICE]->exec;
      twin u = begin_twin(e, e, unknowns(&p), 71), f = begin_twin(e, e, unknowns(&p), 0);
      double factor[100];
      for (int run = 0; run < 100; run++) { /* f = 0: the error itself */
        gmg_report r;
        e->vector->copy(e, u.n, u.at[0], u.at[1]);
        (void)gmg_solve(b.solver[DEVICE], f.at[0], u.at[1], &r);
        double v = pow(r.residual / r.residual0, 1.0 / r.cycles);
        int at = run;
        for (; at > 0 && factor[at - 1] > v; at--) factor[at] = factor[at - 1];
        factor[at] = v;
      }
      print_message("async, %dD, %zu an axis: factor %.4f, %.4f, %.4f (least, median, most of 100)\n", dim, n, factor[0], factor[50],
                    factor[99]);
      assert_below(factor[99], 0.12);
      end_twin(&u), end_twin(&f);
      gmg_solver_destroy(b.solver[DEVICE]);
      gmg_context_destroy(b.context[DEVICE]);
    }
}

/* Bad devices, blocks and coefficients get a status and a text. */
static void refusals(void **state)
{
  gmg_context *c;
  gmg_solver *s;
  (void)state;
  assert_int_equal(gmg_context_create_cuda(-1, NULL, &c), GMG_ERR_ARGUMENT);
  assert_null(c);
  assert_int_equal(gmg_context_create_cuda(1000, NULL, &c), GMG_ERR_ARGUMENT);
  assert_int_equal(gmg_context_create_cuda(0, NULL, NULL), GMG_ERR_ARGUMENT);
  assert_int_equal(gmg_context_create_cuda(0, NULL, &c), GMG_OK);
  const gmg_problem p = make_problem(3, 64, 64, 64, GMG_CELL, "dddddd");
  gmg_params q = gmg_params_default();
  q.block[0] = q.block[1] = q.block[2] = 64;
  assert_int_equal(gmg_solver_create(c, &p, &q, &s), GMG_ERR_UNSUPPORTED);
  assert_non_null(strstr(gmg_context_error(c), "params.block = 64 x 64 x 64"));
  q = gmg_params_default();
  q.local = GMG_LOCAL_GAUSS_SEIDEL;
  assert_int_equal(gmg_solver_create(c, &p, &q, &s), GMG_ERR_UNSUPPORTED);
  assert_non_null(strstr(gmg_context_error(c), "params.local"));
  const gmg_problem huge = make_problem(3, 8192, 8192, 8192, GMG_CELL, "dddddd");
  q = gmg_params_default();
  assert_int_equal(gmg_solver_create(c, &huge, &q, &s), GMG_ERR_MEMORY);
  assert_ok(c, gmg_solver_create(c, &p, &q, &s)); /* and a smaller one works */
  gmg_solver_destroy(s);
  gmg_context_destroy(c);
}

/* NaN in f is found on both. */
static void nan_in_f(void **state)
{
  (void)state;
  const gmg_problem p = make_problem(3, 32, 32, 32, GMG_CELL, "dddddd");
  const gmg_params q = gmg_params_default();
  both b = begin_both(&p, &q, "NaN in f");
  const gmg_exec *e[2] = {&b.solver[0]->exec, &b.solver[1]->exec};
  twin f = begin_twin(e[0], e[1], unknowns(&p), 81), u = begin_twin(e[0], e[1], unknowns(&p), 0);
  const double nan = NAN;
  gmg_status status[2];
  ON_BOTH(i) {
    (void)gmg_exec_write_reals(e[i], (char *)f.at[i] + 1000 * sizeof(double), 1, &nan);
    status[i] = gmg_solve(b.solver[i], f.at[i], u.at[i], NULL);
    print_message("NaN in f: %s: %s\n", gmg_status_string(status[i]), gmg_context_error(b.context[i]));
  }
  assert_int_equal(status[0], status[1]);
  assert_int_not_equal(status[1], GMG_OK);
  end_twin(&f), end_twin(&u);
  f = begin_twin(e[0], e[1], unknowns(&p), 82), u = begin_twin(e[0], e[1], unknowns(&p), 0);
  ON_BOTH(i) assert_ok(b.context[i], gmg_solve(b.solver[i], f.at[i], u.at[i], NULL)); /* still usable */
  end_twin(&f), end_twin(&u);
  end_both(&b);
}

#ifdef GMG_CUDA
/* Solvers and contexts leave no device memory behind. */
static void rounds(void **state)
{
  (void)state;
  const gmg_problem p = make_problem(2, 100, 60, 1, GMG_CELL, "ddnn");
  const gmg_params q = gmg_params_default();
  size_t before = 0, now = 0, all;
  for (int turn = 0; turn < 1000; turn++) {
    gmg_context *c;
    gmg_solver *s;
    void *f, *u;
    assert_int_equal(gmg_context_create_cuda(0, NULL, &c), GMG_OK);
    assert_ok(c, gmg_solver_create(c, &p, &q, &s));
    assert_int_equal(cudaMalloc(&f, unknowns(&p) * sizeof(double)), cudaSuccess);
    assert_int_equal(cudaMalloc(&u, unknowns(&p) * sizeof(double)), cudaSuccess);
    assert_int_equal(cudaMemset(f, 1, unknowns(&p) * sizeof(double)), cudaSuccess);
    assert_int_equal(cudaMemset(u, 0, unknowns(&p) * sizeof(double)), cudaSuccess);
    if (turn % 10 == 0) assert_true(gmg_solve(s, f, u, NULL) <= GMG_STAGNATED);
    cudaFree(f), cudaFree(u);
    gmg_solver_destroy(s);
    gmg_context_destroy(c);
    assert_int_equal(cudaMemGetInfo(&now, &all), cudaSuccess);
    if (turn == 20) before = now;
  }
  assert_true(before - now < (1 << 22) || now > before);
}

/* Two solvers on streams of their own, each used by its own thread: what each computes alone. */
typedef struct {
  unsigned long seed;
  double *u;
  int failed;
} work;

static void *solve_alone(void *argument)
{
  work *w = argument;
  const gmg_problem p = make_problem(3, 40, 40, 40, GMG_CELL, "dddddd");
  const size_t N = unknowns(&p);
  gmg_params q = gmg_params_default();
  gmg_context *c;
  gmg_solver *s;
  cudaStream_t stream;
  double *f = field(N, w->seed), *device_f, *device_u;
  q.deterministic = 1;
  w->failed = cudaSetDevice(0) || cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) ||
              cudaMalloc((void **)&device_f, N * sizeof *f) ||
              cudaMalloc((void **)&device_u, N * sizeof *f) || cudaMemcpy(device_f, f, N * sizeof *f, cudaMemcpyHostToDevice) ||
              gmg_context_create_cuda(0, stream, &c) || gmg_solver_create(c, &p, &q, &s);
  for (int turn = 0; turn < 20 && !w->failed; turn++) {
    w->failed |= cudaMemsetAsync(device_u, 0, N * sizeof *f, stream) || gmg_solve(s, device_f, device_u, NULL) != GMG_OK;
    w->failed |= cudaMemcpyAsync(w->u, device_u, N * sizeof *f, cudaMemcpyDeviceToHost, stream) || cudaStreamSynchronize(stream);
  }
  if (w->failed) return NULL;
  gmg_solver_destroy(s);
  gmg_context_destroy(c);
  cudaFree(device_f), cudaFree(device_u), cudaStreamDestroy(stream);
  free(f);
  return NULL;
}

static void two_streams(void **state)
{
  (void)state;
  enum { N = 40 * 40 * 40 };
  work alone[2], together[2];
  pthread_t thread[2];
  for (int i = 0; i < 2; i++) {
    alone[i] = (work){91 + (unsigned long)i, field(N, 0), 0}, together[i] = (work){91 + (unsigned long)i, field(N, 0), 0};
    solve_alone(&alone[i]);
    assert_false(alone[i].failed);
  }
  for (int i = 0; i < 2; i++) assert_int_equal(pthread_create(&thread[i], NULL, solve_alone, &together[i]), 0);
  for (int i = 0; i < 2; i++) {
    pthread_join(thread[i], NULL);
    assert_false(together[i].failed);
    assert_memory_equal(alone[i].u, together[i].u, N * sizeof(double));
    free(alone[i].u), free(together[i].u);
  }
}
#endif

int main(void)
{
  if (without_device()) return SKIPPED;
  const struct CMUnitTest tests[] = {cmocka_unit_test(smoothers_agree),   cmocka_unit_test(solves_agree),
                                     cmocka_unit_test(hard_solves_agree), cmocka_unit_test(asynchronous_band),
                                     cmocka_unit_test(starts_agree),
                                     cmocka_unit_test(refusals),
#ifdef GMG_CUDA
                                     cmocka_unit_test(rounds), cmocka_unit_test(two_streams),
#endif
                                     cmocka_unit_test(nan_in_f)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
