/* The context of a demo, and its fields. A demo fills and reads fields in host memory. If the solver runs on a device, each has a
 * copy in device memory. */
#include "demo.h"
#include "gmg_cuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef GMG_CUDA
#include <cuda_runtime_api.h>

#define UNSUPPORTED "gmg was built for other devices"

/* Makes the device the current one, for memory and copies. gmg does not change it. */
int demo_use_device(demo_options *o)
{
  struct cudaDeviceProp properties;
  if (cudaSetDevice(o->device.number) != cudaSuccess) return 0;
  if (cudaGetDeviceProperties(&properties, o->device.number) != cudaSuccess) return 0;
  snprintf(o->device_name, sizeof o->device_name, "%s", properties.name);
  return 1;
}

static void *device_zeros(size_t bytes)
{
  void *p = NULL;
  if (cudaMalloc(&p, bytes) == cudaSuccess && cudaMemset(p, 0, bytes) == cudaSuccess) return p;
  cudaGetLastError();
  cudaFree(p);
  return NULL;
}

static void device_free(void *p) { cudaFree(p); }

static const char *device_clear(void *p, size_t bytes)
{
  const cudaError_t error = cudaMemset(p, 0, bytes);
  return error == cudaSuccess ? NULL : cudaGetErrorString(error);
}

static const char *copy_to(void *to, const void *from, size_t bytes)
{
  const cudaError_t error = cudaMemcpy(to, from, bytes, cudaMemcpyDefault);
  return error == cudaSuccess ? NULL : cudaGetErrorString(error);
}

#else /* without CUDA there is no context that needs them */
#define UNSUPPORTED "gmg was built without CUDA"
int demo_use_device(demo_options *o) { return (void)o, 0; }
static void *device_zeros(size_t bytes) { return (void)bytes, NULL; }
static void device_free(void *p) { (void)p; }
static const char *device_clear(void *p, size_t bytes) { return (void)p, (void)bytes, "built without CUDA"; }
static const char *copy_to(void *to, const void *from, size_t bytes) { return (void)to, (void)from, (void)bytes, "built without CUDA"; }
#endif

const char *demo_why_no_device(gmg_status status)
{
  switch (status) {
    case GMG_ERR_UNSUPPORTED: return UNSUPPORTED;
    case GMG_ERR_DEVICE: return "no CUDA device, or no driver";
    case GMG_ERR_ARGUMENT: return "there is no CUDA device of that number";
    default: return gmg_status_string(status);
  }
}

static int on_host(demo_options *o, const char *why, gmg_context **context)
{
  o->device.kind = DEMO_HOST;
  snprintf(o->device_name, sizeof o->device_name, "host");
  const gmg_status status = gmg_context_create_host(o->threads, context);
  if (status) return demo_fail(o, "%s: a host context with %d threads", gmg_status_string(status), o->threads);
  if (!o->quiet) printf("device   host, %d threads%s%s%s\n", gmg_context_threads(*context), why ? " (" : "", why ? why : "", why ? ")" : "");
  return 0;
}

/* If no context can be created, there is no gmg_context_error() either. */
int demo_context_create(demo_options *o, gmg_context **context)
{
  if (o->device.kind == DEMO_HOST) return on_host(o, NULL, context);
  if (o->device.kind == DEMO_BEST && o->threads > 0) return on_host(o, "as --threads asks for", context);
  const gmg_status status = gmg_context_create_cuda(o->device.number, NULL, context);
  if (status && o->device.kind == DEMO_BEST) return on_host(o, demo_why_no_device(status), context);
  if (status) return demo_fail(o, "--device cuda:%d: %s", o->device.number, demo_why_no_device(status));
  o->device.kind = DEMO_CUDA;
  if (!demo_use_device(o)) {
    gmg_context_destroy(*context);
    *context = NULL;
    return demo_fail(o, "--device cuda:%d: the device cannot be used", o->device.number);
  }
  if (!o->quiet) printf("device   cuda:%d, %s\n", o->device.number, o->device_name);
  return 0;
}

int demo_array_create(const demo_options *o, const gmg_problem *shape, demo_array *a)
{
  a->bytes = demo_cells(shape) * (shape->type == GMG_F32 ? sizeof(float) : sizeof(double));
  a->here = demo_field_create(shape);
  a->there = o->device.kind == DEMO_CUDA ? device_zeros(a->bytes) : a->here;
  return a->here && a->there;
}

void demo_array_destroy(demo_array *a)
{
  if (a->there != a->here) device_free(a->there);
  free(a->here);
  *a = (demo_array){NULL, NULL, 0};
}

int demo_array_zero(const demo_options *o, const demo_array *a)
{
  if (a->there == a->here) return memset(a->here, 0, a->bytes), 0;
  const char *failed = device_clear(a->there, a->bytes);
  return failed ? demo_fail(o, "zeros on %s: %s", o->device_name, failed) : 0;
}

int demo_array_send(const demo_options *o, const demo_array *a)
{
  const char *failed = a->there == a->here ? NULL : copy_to(a->there, a->here, a->bytes);
  return failed ? demo_fail(o, "copy to %s: %s", o->device_name, failed) : 0;
}

int demo_array_fetch(const demo_options *o, const demo_array *a)
{
  const char *failed = a->there == a->here ? NULL : copy_to(a->here, a->there, a->bytes);
  return failed ? demo_fail(o, "copy from %s: %s", o->device_name, failed) : 0;
}
