/* Errors on a CUDA device: out of memory, a failing kernel. The status must be right. Afterwards solver and context must be usable,
   or report that they are not. */
#include "twins.h"

#include <cuda_runtime_api.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- memory exhausted ------------------------------------------------------------------------------------------------ */

/* Allocates all memory of the device but about `left` bytes. Returns the number of blocks. */
enum { MOST_BLOCKS = 4096 };
static int fill_card(size_t left, void *block[MOST_BLOCKS])
{
  void *reserve;
  int count = 0;
  assert_int_equal(cudaMalloc(&reserve, left), cudaSuccess);
  for (size_t bytes = (size_t)1 << 36; bytes >= (size_t)1 << 20; bytes /= 2)
    while (count < MOST_BLOCKS && cudaMalloc(&block[count], bytes) == cudaSuccess) count++;
  cudaGetLastError();
  cudaFree(reserve);
  return count;
}

static void solve_small(gmg_context *c)
{
  const gmg_problem p = make_problem(3, 24, 24, 24, GMG_CELL, "dddddd");
  const size_t n = unknowns(&p);
  const gmg_params q = params_for_cycles();
  gmg_solver *s;
  void *f, *u;
  assert_ok(c, gmg_solver_create(c, &p, &q, &s));
  gmg_exec e = gmg_exec_make(c, p.type, 0);
  double *values = field(n, 7), *zeros = field(n, 0);
  assert_ok(c, gmg_exec_reals(&e, "f", n, values, &f));
  assert_ok(c, gmg_exec_reals(&e, "u", n, zeros, &u));
  for (int repeat = 0; repeat < 3; repeat++) { /* the second solve is recorded, the third replayed, if there is memory */
    gmg_exec_write_reals(&e, u, n, zeros);
    assert_ok(c, gmg_solve(s, f, u, NULL));
  }
  gmg_exec_release(&e);
  gmg_solver_destroy(s);
  free(values), free(zeros);
}

/* A create that runs out of memory, at any allocation, says so and frees what it has allocated. A smaller create then works. */
static void memory_exhausted(void **state)
{
  (void)state;
  static void *block[MOST_BLOCKS];
  static const char *const smoothers[] = {"async", "red_black", "chebyshev"};
  static const struct {
    int fmg, deterministic;
    gmg_accel accel;
  } solves[] = {{0, 0, GMG_ACCEL_NONE},        {1, 0, GMG_ACCEL_NONE},
                {0, 1, GMG_ACCEL_NONE},        {1, 1, GMG_ACCEL_NONE},
                {0, 0, GMG_ACCEL_FLEXIBLE_CG}, {1, 0, GMG_ACCEL_FLEXIBLE_CG},
                {0, 1, GMG_ACCEL_FLEXIBLE_CG}, {1, 1, GMG_ACCEL_FLEXIBLE_CG}};
  enum { ATTEMPTS = 60, SMALL_EVERY = 10 };
  gmg_context *c, *other;
  int failures = 0;
  assert_int_equal(gmg_context_create_cuda(0, NULL, &c), GMG_OK);
  solve_small(c); /* loads code, which stays loaded */
  const size_t before = device_free_memory();
  const int blocks = fill_card((size_t)1 << 28, block);
  const size_t least = device_free_memory();
  for (int i = 0; i < ATTEMPTS; i++) {
    const size_t n = i == 0 ? 512 : 96 + 4 * (size_t)i; /* first far too large, then 100 to 332 */
    const int kind = i / COUNT(smoothers);
    const gmg_problem p = make_problem(3, n, n, n, GMG_CELL, "dddddd");
    gmg_params q = params_for_cycles();
    gmg_solver *s;
    q.smoother = gmg_smoother_by_name(ROUND_ROBIN(smoothers, i));
    q.fmg = ROUND_ROBIN(solves, kind).fmg, q.deterministic = ROUND_ROBIN(solves, kind).deterministic;
    q.accel = ROUND_ROBIN(solves, kind).accel;
    const gmg_status status = gmg_solver_create(c, &p, &q, &s);
    if (status != GMG_OK) {
      if (status != GMG_ERR_MEMORY || s || !strstr(gmg_context_error(c), "could not be allocated"))
        fail_msg("%zu^3 on a full card: %s: %s", n, gmg_status_string(status), gmg_context_error(c));
      failures++;
    }
    assert_true(i > 0 || status == GMG_ERR_MEMORY);
    gmg_solver_destroy(s);
    if (i % SMALL_EVERY == 0) solve_small(c);
    const size_t now = device_free_memory();
    if (now + ((size_t)1 << 22) < least) fail_msg("%zu^3: %zu bytes of the device are gone", n, least - now);
  }
  print_message("memory exhausted: %zu MiB left by %d blocks, %d of %d creates failed\n", least >> 20, blocks, failures, ATTEMPTS);
  assert_true(failures > 1 && failures < ATTEMPTS);
  const gmg_status status = gmg_context_create_cuda(0, NULL, &other); /* a small problem needs little memory */
  assert_true(status == GMG_OK || status == GMG_ERR_MEMORY);
  gmg_context_destroy(other);
  for (int i = 0; i < blocks; i++) cudaFree(block[i]);
  solve_small(c);
  gmg_context_destroy(c);
  assert_true(device_free_memory() + ((size_t)1 << 22) >= before);
}

/* Recording needs memory of the driver. Without it every kernel is launched separately. */
static void replays_on_a_full_card(void **state)
{
  static void *block[MOST_BLOCKS];
  gmg_context *c;
  (void)state;
  assert_int_equal(gmg_context_create_cuda(0, NULL, &c), GMG_OK);
  solve_small(c);
  const gmg_problem p = make_problem(3, 40, 40, 40, GMG_CELL, "dddddd");
  const gmg_params q = params_for_cycles();
  const size_t n = unknowns(&p);
  gmg_exec e = gmg_exec_make(c, p.type, 0);
  double *values = field(n, 7), *zeros = field(n, 0);
  gmg_solver *s;
  void *f, *u[4];
  assert_ok(c, gmg_solver_create(c, &p, &q, &s));
  assert_ok(c, gmg_exec_reals(&e, "f", n, values, &f));
  for (int i = 0; i < 4; i++) assert_ok(c, gmg_exec_reals(&e, "u", n, zeros, &u[i]));
  assert_ok(c, gmg_solve(s, f, u[0], NULL)); /* loads the kernels of both calls, which needs memory, too */
  assert_ok(c, gmg_precondition(s, f, u[0]));
  const int blocks = fill_card((size_t)1 << 20, block);
  for (int i = 0; i < 4; i++)
    for (int repeat = 0; repeat < 3; repeat++) {
      gmg_exec_write_reals(&e, u[i], n, zeros);
      assert_ok(c, gmg_solve(s, f, u[i], NULL));
      assert_ok(c, gmg_precondition(s, f, u[i]));
    }
  for (int i = 0; i < blocks; i++) cudaFree(block[i]);
  gmg_exec_release(&e);
  gmg_solver_destroy(s);
  gmg_context_destroy(c);
  free(values), free(zeros);
}

/* --- a kernel that fails --------------------------------------------------------------------------------------------- */

/* A failing kernel makes CUDA unusable in its process. So a child process runs it, created before this one calls CUDA. The child's
   exit status is 0, SKIPPED, or 1 after it has printed the line that failed. */
static int child_status = -1;

#define EXPECT(condition)                                                                                \
  do {                                                                                                   \
    if (!(condition)) {                                                                                  \
      printf("a kernel that fails: line %d: %s: %s\n", __LINE__, #condition, c ? gmg_context_error(c) : ""); \
      return 1;                                                                                          \
    }                                                                                                    \
  } while (0)
#define EXPECT_FAILED(call) \
  EXPECT((call) == GMG_ERR_DEVICE && strstr(gmg_context_error(c), "the context can only be destroyed"))

/* An f in host memory that the device can read until a solve with it has been recorded. Afterwards no one can read it. NULL on
   failure. */
static void *readable_for_a_while(gmg_solver *s, void *u, size_t bytes)
{
  void *f = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  int good = f != MAP_FAILED && cudaHostRegister(f, bytes, cudaHostRegisterDefault) == cudaSuccess;
  for (int repeat = 0; repeat < 3; repeat++) good = good && gmg_solve(s, f, u, NULL) == GMG_OK;
  good = good && cudaDeviceSynchronize() == cudaSuccess && s->recording[0].graph;
  good = good && cudaHostUnregister(f) == cudaSuccess && mprotect(f, bytes, PROT_NONE) == 0;
  return good ? f : NULL;
}

/* What fails. how = 0: a solve cannot read f. how = 1: gmg_precondition() cannot read f, and does not wait, so a later call
   reports it. how = 2: a replayed solve, which does not wait, cannot read f. */
static int kernel_fails(int how)
{
  const gmg_problem p = make_problem(3, 32, 32, 32, GMG_CELL, "dddddd");
  gmg_problem shifted = p;
  gmg_params q = params_for_cycles();
  const size_t bytes = unknowns(&p) * sizeof(double);
  gmg_plan_info info;
  gmg_context *c = NULL;
  gmg_solver *s, *other, *none;
  void *f, *u, *flux[3];
  if (gmg_context_create_cuda(0, NULL, &c) != GMG_OK) return SKIPPED;
  q.precision = how ? GMG_PRECISION_SAME : GMG_PRECISION_AUTO; /* in the problem's precision gmg_precondition() does not wait */
  q.report_level_times = how == 1;
  if (how == 2) q.check_every = GMG_NONE, q.max_cycles = 2;
  EXPECT(gmg_solver_create(c, &p, &q, &s) == GMG_OK);
  q.check_every = 1;
  EXPECT(gmg_solver_create(c, &p, &q, &other) == GMG_OK);
  EXPECT(cudaMalloc(&f, bytes) == cudaSuccess && cudaMalloc(&u, bytes) == cudaSuccess);
  for (int a = 0; a < 3; a++) EXPECT(cudaMalloc(&flux[a], 2 * bytes) == cudaSuccess);
  EXPECT(cudaMemset(f, 0, bytes) == cudaSuccess && cudaMemset(u, 0, bytes) == cudaSuccess);
  if (how < 2) EXPECT(gmg_solve(s, f, u, NULL) == GMG_OK); /* a solve that works, with f = 0 */
  /* neither host nor device may access this memory */
  void *forbidden = how == 2 ? readable_for_a_while(s, u, bytes) : mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  EXPECT(forbidden && forbidden != MAP_FAILED);
  if (how == 1) (void)gmg_precondition(s, forbidden, u);
  else if (how == 2) (void)gmg_solve(s, forbidden, u, NULL), (void)cudaDeviceSynchronize();
  else EXPECT_FAILED(gmg_solve(s, forbidden, u, NULL));
  EXPECT_FAILED(gmg_solve(s, f, u, NULL));
  EXPECT_FAILED(gmg_solve(other, f, u, NULL));
  EXPECT_FAILED(gmg_precondition(other, f, u));
  EXPECT_FAILED(gmg_residual(s, f, u, flux[0]));
  EXPECT_FAILED(gmg_flux(s, u, (void *const *)flux, NULL));
  EXPECT_FAILED(gmg_set_boundary_values(s, 0, 0, f));
  EXPECT_FAILED(gmg_set_boundary_constant(s, 0, 0, 1));
  shifted.shift = 1;
  EXPECT_FAILED(gmg_solver_update(s, &shifted));
  EXPECT_FAILED(gmg_plan(c, &p, &q, &info));
  EXPECT_FAILED(gmg_solver_create(c, &p, &q, &none));
  EXPECT(none == NULL);
  gmg_solver_destroy(s), gmg_solver_destroy(other);
  gmg_context_destroy(c);
  c = NULL;
  const gmg_status again = gmg_context_create_cuda(0, NULL, &c); /* CUDA may be unusable in this process */
  EXPECT(again == GMG_ERR_DEVICE || again == GMG_ERR_MEMORY || again == GMG_OK); /* but not that the device is unsupported */
  gmg_context_destroy(c);
  return 0;
}

static void run_child(void)
{
  for (int how = 0; how < 3 && (how == 0 || child_status == 0); how++) {
    int status = 0;
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
      alarm(120); /* ends the child if it hangs */
      const int code = kernel_fails(how);
      fflush(stdout);
      _exit(code);
    }
    const int waited = child > 0 && waitpid(child, &status, 0) == child;
    child_status = !waited ? -1 : WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
  }
}

static void a_kernel_fails(void **state)
{
  (void)state;
  if (child_status > 1000) fail_msg("ended by signal %d", child_status - 1000);
  assert_int_equal(child_status, 0);
}

int main(int argc, char **argv)
{
  only(argc, argv);
  run_child();
  if (without_device()) return SKIPPED;
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_kernel_fails), cmocka_unit_test(memory_exhausted),
                                     cmocka_unit_test(replays_on_a_full_card)};
  return run_selected(tests);
}
