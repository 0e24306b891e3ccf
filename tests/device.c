/* See device.h. */
#include "device.h"

#include "gmg_cuda.h"

#include <stdio.h>
#include <stdlib.h>

int without_device(void)
{
  gmg_context *c;
  const gmg_status status = gmg_context_create_cuda(0, NULL, &c);
  if (status != GMG_OK) {
    printf("skipped: %s\n", status == GMG_ERR_UNSUPPORTED ? "the library was built without CUDA, or not for this device"
                            : status == GMG_ERR_DEVICE    ? "no CUDA device or no driver"
                                                          : gmg_status_string(status));
    return SKIPPED;
  }
  gmg_context_destroy(c);
  return 0;
}

#ifdef GMG_CUDA
#include <cuda_runtime_api.h>

const int built_with_cuda = 1;

static void must(cudaError_t status, const char *call)
{
  if (status == cudaSuccess) return;
  fprintf(stderr, "%s: %s\n", call, cudaGetErrorString(status));
  exit(1);
}
#define MUST(call) must(call, #call)

void *device_alloc(size_t bytes)
{
  void *p;
  MUST(cudaMalloc(&p, bytes));
  return p;
}

void device_release(void *p) { MUST(cudaFree(p)); }

void device_copy(void *to, const void *from, size_t bytes)
{
  MUST(cudaDeviceSynchronize());
  MUST(cudaMemcpy(to, from, bytes, cudaMemcpyDefault));
  MUST(cudaDeviceSynchronize());
}

size_t device_free_memory(void)
{
  size_t now = 0, all;
  MUST(cudaMemGetInfo(&now, &all));
  return now;
}

int device_count(void)
{
  int count;
  MUST(cudaGetDeviceCount(&count));
  return count;
}

void device_use(int number) { MUST(cudaSetDevice(number)); }

void *device_stream(void)
{
  cudaStream_t stream;
  MUST(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  return stream;
}

void device_stream_end(void *stream) { MUST(cudaStreamDestroy(stream)); }

void device_describe(char *text, size_t size)
{
  int major, minor, processors;
  MUST(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
  MUST(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, 0));
  MUST(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0));
  snprintf(text, size, "sm_%d%d, %d multiprocessors", major, minor, processors);
}
#else
const int built_with_cuda = 0;

void *device_alloc(size_t bytes) { return (void)bytes, NULL; }
void device_release(void *p) { (void)p; }
void device_copy(void *to, const void *from, size_t bytes) { (void)to, (void)from, (void)bytes; }
size_t device_free_memory(void) { return 0; }
int device_count(void) { return 0; }
void device_use(int number) { (void)number; }
void *device_stream(void) { return NULL; }
void device_stream_end(void *stream) { (void)stream; }
void device_describe(char *text, size_t size) { snprintf(text, size, "no CUDA"); }
#endif
