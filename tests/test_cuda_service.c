/* What surrounds a solve on CUDA: the caller's current device. */
#include "twins.h"

#ifdef GMG_CUDA
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

/* Every public call on a context of device 0 while `mine` is current, refused ones too. */
static void calls_keep(int mine)
{
  const gmg_problem p = make_problem(3, 20, 17, 12, GMG_CELL, "ddnndd");
  gmg_problem other = p;
  gmg_params q = gmg_params_default(), bad = q;
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
  bad.local = GMG_LOCAL_GAUSS_SEIDEL;
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
  KEEPS(mine, gmg_solve(s, f, f, NULL)); /* they overlap */
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
#endif

int main(void)
{
  if (without_device()) return SKIPPED;
#ifdef GMG_CUDA
  const struct CMUnitTest tests[] = {cmocka_unit_test(current_device_stays)};
  return cmocka_run_group_tests(tests, NULL, NULL);
#else
  return SKIPPED;
#endif
}
