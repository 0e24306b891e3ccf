/* What gmg_context_create_cuda() says of a device that the library has no code for, of no device, and of a driver that is too old.
   The first functions of the runtime that it calls are replaced (ld --wrap) and answer what a case needs. So no device is
   needed. */
#include "util.h"

#include "gmg_cuda.h"

#include <cuda_runtime_api.h>

static struct {
  cudaError_t count, set, code;
  int devices, current;
} answers;

cudaError_t __wrap_cudaGetDeviceCount(int *count);
cudaError_t __wrap_cudaGetDevice(int *device);
cudaError_t __wrap_cudaSetDevice(int device);
cudaError_t __wrap_cudaFuncGetAttributes(struct cudaFuncAttributes *attributes, const void *kernel);

cudaError_t __wrap_cudaGetDeviceCount(int *count) { return *count = answers.devices, answers.count; }
cudaError_t __wrap_cudaGetDevice(int *device) { return *device = answers.current, cudaSuccess; }
cudaError_t __wrap_cudaSetDevice(int device) { return answers.current = device, answers.set; }
cudaError_t __wrap_cudaFuncGetAttributes(struct cudaFuncAttributes *attributes, const void *kernel)
{
  (void)attributes, (void)kernel;
  return answers.code;
}

static gmg_status created_on(int device)
{
  gmg_context *c = (gmg_context *)&answers;
  const gmg_status status = gmg_context_create_cuda(device, NULL, &c);
  assert_null(c);
  return status;
}

/* The library has machine code and PTX for other architectures, or the driver cannot compile its PTX. */
static void no_code_for_it(void **state)
{
  static const cudaError_t errors[] = {cudaErrorNoKernelImageForDevice, cudaErrorInvalidDeviceFunction, cudaErrorInvalidKernelImage,
                                       cudaErrorInvalidPtx, cudaErrorUnsupportedPtxVersion, cudaErrorJitCompilerNotFound,
                                       cudaErrorJitCompilationDisabled};
  (void)state;
  for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
    answers.count = answers.set = cudaSuccess, answers.code = errors[i], answers.devices = 2, answers.current = 0;
    assert_int_equal(created_on(1), GMG_ERR_UNSUPPORTED);
    assert_int_equal(answers.current, 0); /* the caller's current device is restored */
  }
}

static void what_else_is_wrong(void **state)
{
  static const struct {
    cudaError_t count, set, code;
    int devices, device;
    gmg_status wanted;
  } cases[] = {{cudaErrorInsufficientDriver, cudaSuccess, cudaSuccess, 0, 0, GMG_ERR_DEVICE}, /* the driver is older than the runtime, or there is none */
               {cudaErrorNoDevice, cudaSuccess, cudaSuccess, 0, 0, GMG_ERR_DEVICE},
               {cudaSuccess, cudaSuccess, cudaSuccess, 0, 0, GMG_ERR_DEVICE},
               {cudaSuccess, cudaSuccess, cudaSuccess, 2, 2, GMG_ERR_ARGUMENT},
               {cudaSuccess, cudaErrorDevicesUnavailable, cudaSuccess, 2, 1, GMG_ERR_DEVICE}, /* another process uses the device exclusively */
               {cudaSuccess, cudaSuccess, cudaErrorMemoryAllocation, 2, 1, GMG_ERR_MEMORY}};
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    answers.count = cases[i].count, answers.set = cases[i].set, answers.code = cases[i].code;
    answers.devices = cases[i].devices, answers.current = 0;
    assert_int_equal(created_on(cases[i].device), cases[i].wanted);
    assert_int_equal(answers.current, 0);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(no_code_for_it), cmocka_unit_test(what_else_is_wrong)};
  return run_selected(tests);
}
