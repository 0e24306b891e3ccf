/* The caller's current device is kept, the levels of a solve are timed, and sweeps alone run on the device. */
#include "twins.h"

#include <cuda_runtime_api.h>

static void still(int device, const char *call)
{
  int now = -1;
  assert_int_equal(cudaGetDevice(&now), cudaSuccess);
  if (now != device) fail_msg("%s changed the current device from %d to %d", call, device, now);
}

#define KEEPS(device, call)    \
  do {                         \
    (void)(call);              \
    still(device, #call);      \
  } while (0)

/* Every public call on a context of device 0, refused ones too, leaves `mine` the current device. */
static void calls_keep(int mine)
{
  const gmg_problem p = make_problem(3, 20, 17, 12, GMG_CELL, "ddnndd");
  gmg_problem other = p;
  gmg_params q = params_for_cycles(), bad = q;
  gmg_plan_info info;
  gmg_context *c;
  gmg_solver *s = NULL, *none;
  const size_t bytes = unknowns(&p) * sizeof(double);
  double *f, *u, *flux[3];
  assert_int_equal(cudaSetDevice(0), cudaSuccess);
  assert_int_equal(cudaMalloc((void **)&f, bytes), cudaSuccess);
  assert_int_equal(cudaMalloc((void **)&u, bytes), cudaSuccess);
  for (int a = 0; a < 3; a++) assert_int_equal(cudaMalloc((void **)&flux[a], 2 * bytes), cudaSuccess);
  assert_int_equal(cudaMemset(f, 1, bytes), cudaSuccess);
  assert_int_equal(cudaMemset(u, 0, bytes), cudaSuccess);
  assert_int_equal(cudaSetDevice(mine), cudaSuccess);
  other.shift = 3;
  bad.async.local = GMG_LOCAL_GAUSS_SEIDEL;
  KEEPS(mine, gmg_context_create_cuda(1000, NULL, &c));
  KEEPS(mine, gmg_context_create_cuda(0, NULL, &c));
  assert_non_null(c);
  KEEPS(mine, gmg_plan(c, &p, &q, &info));
  KEEPS(mine, gmg_solver_create(c, &p, &bad, &none));
  assert_null(none);
  KEEPS(mine, gmg_solver_create(c, &p, &q, &s));
  if (!s) fail_msg("%s", gmg_context_error(c));
  KEEPS(mine, gmg_set_boundary_values(s, 0, 1, f));
  KEEPS(mine, gmg_set_boundary_constant(s, 2, 0, 1));
  KEEPS(mine, gmg_set_boundary_constant(s, 7, 0, 1));
  KEEPS(mine, gmg_solver_update(s, &other));
  KEEPS(mine, gmg_solve(s, f, u, NULL));
  KEEPS(mine, gmg_solve(s, f, f, NULL)); /* refused: f and u overlap */
  KEEPS(mine, gmg_precondition(s, f, u));
  KEEPS(mine, gmg_residual(s, f, u, flux[0]));
  KEEPS(mine, gmg_flux(s, u, (void *const *)flux, NULL));
  assert_int_equal(s->exec.memory->health(c), GMG_OK);
  KEEPS(mine, gmg_solver_destroy(s));
  KEEPS(mine, gmg_context_destroy(c));
  cudaFree(f), cudaFree(u);
  for (int a = 0; a < 3; a++) cudaFree(flux[a]);
  assert_int_equal(cudaSetDevice(0), cudaSuccess);
}

static void current_device_stays(void **state)
{
  int devices = 0;
  (void)state;
  assert_int_equal(cudaGetDeviceCount(&devices), cudaSuccess);
  print_message("current device: with %d of %d devices\n", devices < 2 ? 1 : 2, devices);
  for (int mine = 0; mine < devices && mine < 2; mine++) calls_keep(mine);
}

/* Times of the levels are NaN unless asked for. Otherwise they are times on the device, and together at most the time between two
   events around the solve. */
static void levels_are_timed(void **state)
{
  (void)state;
  const gmg_problem p = make_problem(3, 96, 96, 96, GMG_CELL, "dddddd");
  const size_t bytes = unknowns(&p) * sizeof(double);
  cudaEvent_t before, after;
  void *f, *u;
  gmg_context *c;
  assert_int_equal(cudaEventCreate(&before) | cudaEventCreate(&after), cudaSuccess);
  assert_int_equal(cudaMalloc(&f, bytes) | cudaMalloc(&u, bytes), cudaSuccess);
  assert_int_equal(cudaMemset(f, 1, bytes), cudaSuccess);
  assert_int_equal(gmg_context_create_cuda(0, NULL, &c), GMG_OK);
  for (int asked = 0; asked < 2; asked++)
    for (int many = 0; many < 2; many++) { /* more cycles than there are events, so events are used again */
      gmg_params q = params_for_cycles();
      gmg_solver *s;
      gmg_report r;
      q.report_level_times = asked, q.max_cycles = many ? 400 : 3, q.check_every = GMG_NONE;
      assert_ok(c, gmg_solver_create(c, &p, &q, &s));
      for (int repeat = 0; repeat < 3; repeat++) {
        float between = 0;
        double sum = 0;
        assert_int_equal(cudaMemset(u, 0, bytes), cudaSuccess);
        assert_ok(c, gmg_precondition(s, f, u)); /* work before the solve belongs to no level */
        assert_int_equal(cudaEventRecord(before, NULL), cudaSuccess);
        assert_ok(c, gmg_solve(s, f, u, &r));
        assert_int_equal(cudaEventRecord(after, NULL) | cudaEventSynchronize(after), cudaSuccess);
        assert_int_equal(cudaEventElapsedTime(&between, before, after), cudaSuccess);
        for (int l = 0; l < r.levels; l++) {
          assert_int_equal(!isnan(r.level[l].seconds), asked);
          /* the time of fused levels belongs to the finest of them */
          if (asked) assert_true(l > s->mg.bottom.level ? r.level[l].seconds == 0 : r.level[l].seconds > 0);
          sum += r.level[l].seconds;
        }
        if (asked) print_message("%d cycles: levels %.6f s of %.6f\n", r.cycles, sum, 1e-3 * between);
        if (asked) assert_true(sum <= 1.001e-3 * between + 1e-5 && sum > 0);
      }
      gmg_solver_destroy(s);
    }
  gmg_context_destroy(c);
  cudaFree(f), cudaFree(u), cudaEventDestroy(before), cudaEventDestroy(after);
}

/* The offloading smoother, which runs sweeps on the device, against a solver on the host and one on the device. Compares `solves`
   solves. */
static void offloaded(const char *name, const gmg_problem *p, gmg_params q, int solves)
{
  both b = begin_both(p, &q, name);
  const gmg_exec *e[2] = {&b.solver[0]->exec, &b.solver[1]->exec};
  gmg_context *device;
  gmg_smoother *there;
  gmg_solver *s;
  gmg_report r[3];
  double sweeps = 0, transfers = 0;
  twin f = begin_twin(e[0], e[1], unknowns(p), 91), u = begin_twin(e[0], e[1], unknowns(p), 0);
  twin v = begin_twin(e[0], e[0], unknowns(p), 0);
  assert_int_equal(gmg_context_create_cuda(0, NULL, &device), GMG_OK);
  assert_ok(device, gmg_smoother_offload_create(device, q.smoother, &there));
  gmg_params mine = q;
  mine.smoother = there;
  assert_ok(b.context[HOST], gmg_solver_create(b.context[HOST], p, &mine, &s));
  ON_BOTH(i)
    if (!gmg_status_is_outcome(gmg_solve(b.solver[i], f.at[i], u.at[i], &r[i])))
      fail_msg("%s", gmg_context_error(b.context[i]));
  for (int repeat = 0; repeat < solves; repeat++) {
    e[0]->vector->fill(e[0], v.n, 0, v.at[0]);
    if (!gmg_status_is_outcome(gmg_solve(s, f.at[0], v.at[0], &r[2]))) fail_msg("%s", gmg_context_error(b.context[HOST]));
  }
  assert_ok(device, gmg_smoother_offload_seconds(there, &sweeps, &transfers));
  print_message("%-34s host %2d cycles, device %2d, sweeps on the device %2d: %.4f s, transfers %.4f s\n", name, r[0].cycles,
                r[1].cycles, r[2].cycles, sweeps, transfers);
  /* in float the tolerance may be at the rounding floor */
  assert_true(r[2].status == r[0].status || (p->type == GMG_F32 && r[2].status == GMG_STAGNATED));
  assert_true(abs(r[2].cycles - r[0].cycles) <= 2 && abs(r[2].cycles - r[1].cycles) <= 2);
  if (r[0].status == GMG_OK) assert_below(ulps(e[0], e[0], u.at[0], v.at[0], v.n) * epsilon_of(e[0]), p->type == GMG_F64 ? 1e-5 : 1e-2);
  if (r[2].levels > 1) assert_true(sweeps > 0 && transfers > 0);
  gmg_problem next = *p;
  next.shift += 3;
  assert_ok(b.context[HOST], gmg_solver_update(s, &next));
  if (gmg_solve(s, f.at[0], v.at[0], &r[2]) > GMG_STAGNATED) fail_msg("%s, updated: %s", name, gmg_context_error(b.context[HOST]));
  gmg_solver_destroy(s);
  gmg_smoother_offload_destroy(there);
  gmg_context_destroy(device);
  end_twin(&f), end_twin(&u), end_twin(&v);
  end_both(&b);
}

static void offloaded_sweeps(void **state)
{
  enum { SOLVES = 2, SOLVES_BEYOND_THE_CLOCKS_MARKS = 40, TIMED = 4 };
  static const char *const names[] = {"async", "red_black", "chebyshev"};
  (void)state;
  for (int i = 0; i < PLAIN; i++)
    for (int k = 0; k < 3; k++) {
      gmg_problem p = shaped_problem(&plain[i].shape);
      gmg_params q = params_for_cycles();
      q.smoother = gmg_smoother_by_name(names[k]);
      q.deterministic = 1, q.precision = GMG_PRECISION_SAME;
      q.async.block[0] = 16, q.async.block[1] = 8, q.async.block[2] = 4; /* equal blocks on host and device, because factors depend on blocks */
      p.type = (i + k) % 2 ? GMG_F64 : GMG_F32;
      offloaded(plain[i].name, &p, q, i == TIMED ? SOLVES_BEYOND_THE_CLOCKS_MARKS : SOLVES);
    }
  medium m[] = {ball(3, 48, 1e2, GMG_CELL), absorbing(3, 48, 1e4, GMG_CELL)};
  for (int i = 0; i < 2; i++) {
    gmg_params q = params_for_cycles();
    q.smoother = gmg_smoother_by_name("async");
    q.precision = GMG_PRECISION_SAME, q.deterministic = 1, q.async.block[0] = 16, q.async.block[1] = 8, q.async.block[2] = 4;
    offloaded(i ? "absorbing" : "ball", &m[i].p, q, SOLVES);
    q.precision = GMG_PRECISION_MIXED;
    offloaded(i ? "absorbing, mixed" : "ball, mixed", &m[i].p, q, SOLVES);
    free_medium(&m[i]);
  }
}

int main(int argc, char **argv)
{
  only(argc, argv);
  if (without_device()) return SKIPPED;
  const struct CMUnitTest tests[] = {cmocka_unit_test(current_device_stays), cmocka_unit_test(levels_are_timed),
                                     cmocka_unit_test(offloaded_sweeps)};
  return run_selected(tests);
}
