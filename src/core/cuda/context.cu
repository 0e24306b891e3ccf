/* Contexts on a CUDA device: creation, memory, and the conversion of CUDA errors to a status. Called through the API,
   GMG_WITH_DEVICE and gmg_memory_ops (core/exec.h). */
extern "C" {
#include "core/comm.h"
}

#include "device.h"
#include "testing.h"

#include "gmg_cuda.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *cuda_alloc(gmg_context *c, size_t bytes)
{
  void *p = NULL; /* GMG_WITH_DEVICE has made the context's device current */
  const cudaError_t error = cudaMalloc(&p, bytes);
  if (error == cudaSuccess) return p;
  if (error != cudaErrorMemoryAllocation) gmg_cuda_note(c->device, error, "cudaMalloc"); /* running out of memory is not a failure
                                                                                            of the device */
  cudaGetLastError();
  return NULL;
}

static void cuda_release(gmg_context *c, void *p)
{
  gmg_cuda_note(c->device, cudaFree(p), "cudaFree");
}

static size_t device_memory(gmg_context *c) { return c->device->memory; }

static void cuda_upload(gmg_context *c, void *to, const void *from, size_t bytes)
{
  if (gmg_cuda_invalidate_recording(c->device)) return; /* a replay would copy the host data of a later time */
  gmg_cuda_note(c->device, cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, c->device->stream), "copy to the device");
}

static void cuda_download(gmg_context *c, void *to, const void *from, size_t bytes)
{
  if (gmg_cuda_invalidate_recording(c->device)) {
    memset(to, 0xff, bytes); /* NaN */
    return;
  }
  c->device->waits++;
  gmg_cuda_note(c->device, cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, c->device->stream), "copy from the device");
  gmg_cuda_note(c->device, cudaStreamSynchronize(c->device->stream), "copy from the device");
}

static gmg_status health(gmg_context *c)
{
  const gmg_device *d = c->device;
  if (d->silent && *(volatile int *)d->silent)
    return gmg_fail(c, GMG_ERR_DEVICE, "CUDA device %d: another process has not answered for %d seconds; the context can only be "
                    "destroyed", d->number, GMG_SILENCE);
  if (d->failed == cudaSuccess) return GMG_OK;
  return gmg_fail(c, GMG_ERR_DEVICE, "CUDA device %d: %s in %s; the context can only be destroyed", d->number,
                  cudaGetErrorString(d->failed), d->failed_in);
}

/* to[i] = to[i % period] for the words from `period` on. */
static __global__ void repeat_kernel(unsigned *to, size_t period, size_t n)
{
  const size_t threads = (size_t)gridDim.x * blockDim.x, me = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  const size_t stride = threads / period * period; /* so a thread always writes the same word of the period */
  if (me >= stride) return;
  const unsigned value = to[me % period];
  for (size_t i = period + me; i < n; i += stride) to[i] = value;
}

static void cuda_repeat(gmg_context *c, void *to, const void *from, size_t bytes, size_t count)
{
  const size_t period = bytes / sizeof(unsigned), n = period * count;
  const gmg_launch_shape shape = gmg_flat_shape(n, GMG_MAX_PARTS);
  if (n == 0) return;
  cuda_upload(c, to, from, bytes);
  repeat_kernel<<<shape.blocks, shape.threads, 0, c->device->stream>>>((unsigned *)to, period, n);
  gmg_cuda_note(c->device, cudaGetLastError(), "repeat");
}

static __global__ void count_up_kernel(int *to, size_t n, int period, int even, int odd, int step)
{
  gmg_for_all(n, [&](size_t i) {
    const int round = (int)(i / period);
    to[i] = ((int)i - round * period ? odd : even) + step * round;
  });
}

static void cuda_count_up(gmg_context *c, int *to, size_t n, int period, const int at[], int step)
{
  const gmg_launch_shape shape = gmg_flat_shape(n);
  if (n == 0) return;
  count_up_kernel<<<shape.blocks, shape.threads, 0, c->device->stream>>>(to, n, period, at[0], at[period - 1], step);
  gmg_cuda_note(c->device, cudaGetLastError(), "count up");
}

extern "C" const gmg_memory_ops gmg_memory_cuda = {cuda_alloc,    cuda_release, device_memory,  cuda_upload,
                                                   cuda_download, cuda_repeat,  cuda_count_up, health};

/* Recorded work meets when it is launched (graph.cu). */
void gmg_meet(const gmg_exec *e)
{
  if (gmg_device_of(e)->recording == GMG_NOT_RECORDING) e->comm->meet(e->context);
}

extern "C" size_t gmg_cuda_synchronisations(const gmg_context *c) { return c->device->waits; }
extern "C" void gmg_cuda_without_device_loop(gmg_context *c) { c->device->no_conditional = 1; }

gmg_total gmg_cuda_total(const gmg_exec *e, const char *where)
{
  gmg_device *d = gmg_device_of(e);
  if (gmg_cuda_invalidate_recording(d)) return {NAN, NAN, NAN, NAN};
  d->waits++;
  gmg_cuda_launched(e, where);
  gmg_cuda_note(d, cudaStreamSynchronize(d->stream), where);
  if (d->failed == cudaSuccess) return *d->total;
  return {NAN, NAN, NAN, NAN};
}

/* Makes the context's device current and returns the caller's, which leave_device() restores. */
static int enter_device(gmg_context *c)
{
  int before = c->device->number;
  gmg_cuda_note(c->device, cudaGetDevice(&before), "cudaGetDevice");
  if (before != c->device->number) gmg_cuda_note(c->device, cudaSetDevice(c->device->number), "cudaSetDevice");
  return before;
}

static void leave_device(gmg_context *c, int before)
{
  if (before != c->device->number) cudaSetDevice(before);
}

static void end_device(gmg_context *c)
{
  gmg_device *d = c->device;
  const int before = enter_device(c);
  cudaFree(d->part);
  cudaFree(d->arrivals);
  cudaFree(d->device_total);
  cudaFree(d->loop_state);
  for (int r = 0; d->foreign && r < d->ranks; r++)
    if (d->foreign[r]) cudaIpcCloseMemHandle(d->foreign[r]);
  if (d->foreign && c->comm->meet) c->comm->meet(c); /* all have closed what this process releases */
  free(d->foreign);
  cudaFree(d->board);
  cudaFree(d->notices);
  cudaFreeHost(d->silent);
  cudaFreeHost(d->total);
  cudaFreeHost(d->loop_result);
  gmg_recorder_end(d);
  gmg_profiler_end(d);
  cudaGetLastError();
  leave_device(c, before);
  free(d);
}

/* Never launched: its attributes tell whether the library has machine code or PTX for the device. */
static __global__ void probe(void) {}

static cudaError_t begin_device(gmg_device *d, const cudaFuncAttributes *code)
{
  enum { EARLY_SINCE = 90 };
  cudaError_t error;
  size_t free_now;
  gmg_profiler_begin(d);
  d->begins_early = code->binaryVersion >= EARLY_SINCE && code->ptxVersion >= EARLY_SINCE;
  if ((error = cudaDeviceGetAttribute(&d->processors, cudaDevAttrMultiProcessorCount, d->number))) return error;
  if ((error = cudaDeviceGetAttribute(&d->major, cudaDevAttrComputeCapabilityMajor, d->number))) return error;
  if ((error = cudaDeviceGetAttribute(&d->max_shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, d->number))) return error;
  if ((error = cudaMemGetInfo(&free_now, &d->memory))) return error;
  if ((error = cudaMalloc(&d->part, GMG_MAX_PARTS * sizeof *d->part))) return error;
  if ((error = cudaMalloc(&d->arrivals, 2 * sizeof *d->arrivals))) return error;
  if ((error = cudaMalloc(&d->device_total, sizeof *d->device_total))) return error;
  if ((error = cudaMalloc(&d->loop_state, sizeof *d->loop_state))) return error;
  if ((error = cudaMallocHost(&d->total, sizeof *d->total))) return error;
  if ((error = cudaMallocHost(&d->loop_result, sizeof *d->loop_result))) return error;
  if ((error = cudaMemsetAsync(d->loop_state, 0, sizeof *d->loop_state, d->stream))) return error;
  return cudaMemsetAsync(d->arrivals, 0, 2 * sizeof *d->arrivals, d->stream);
}

static gmg_status status_of(cudaError_t error)
{
  return error == cudaSuccess ? GMG_OK : error == cudaErrorMemoryAllocation ? GMG_ERR_MEMORY : GMG_ERR_DEVICE;
}

/* GMG_ERR_UNSUPPORTED if the library has neither machine code for the device nor usable PTX; otherwise status_of(). */
static gmg_status status_of_code(cudaError_t error)
{
  static const cudaError_t none[] = {cudaErrorNoKernelImageForDevice, cudaErrorInvalidDeviceFunction, cudaErrorInvalidKernelImage,
                                     cudaErrorInvalidPtx, cudaErrorUnsupportedPtxVersion, cudaErrorJitCompilerNotFound,
                                     cudaErrorJitCompilationDisabled};
  for (size_t i = 0; i < sizeof none / sizeof *none; i++)
    if (error == none[i]) return GMG_ERR_UNSUPPORTED;
  return status_of(error);
}

static gmg_status create_on(int device, gmg_cuda_stream stream, gmg_context **context)
{
  cudaFuncAttributes code;
  GMG_TRY(status_of(cudaSetDevice(device)));
  GMG_TRY(status_of_code(cudaFuncGetAttributes(&code, probe)));
  gmg_context *c = (gmg_context *)calloc(1, sizeof *c);
  gmg_device *d = (gmg_device *)calloc(1, sizeof *d);
  if (!c || !d) {
    free(c), free(d);
    return GMG_ERR_MEMORY;
  }
  d->number = device, d->stream = stream;
  c->backend = GMG_BACKEND_CUDA, c->threads = 1, c->process = getpid(), c->device = d, c->comm = &gmg_comm_alone;
  c->end = end_device, c->enter = enter_device, c->leave = leave_device;
  const gmg_status status = status_of(begin_device(d, &code));
  if (status == GMG_OK) *context = c;
  else gmg_context_destroy(c);
  return status;
}

extern "C" gmg_status gmg_context_create_cuda(int device, gmg_cuda_stream stream, gmg_context **context)
{
  int count = 0, before = device;
  if (!context) return GMG_ERR_ARGUMENT;
  *context = NULL;
  const cudaError_t found = cudaGetDeviceCount(&count);
  if (found != cudaSuccess || count == 0) { /* no driver, or no device */
    cudaGetLastError();
    return GMG_ERR_DEVICE;
  }
  if (device < 0 || device >= count) return GMG_ERR_ARGUMENT;
  cudaGetDevice(&before);
  const gmg_status status = create_on(device, stream, context);
  if (before != device) cudaSetDevice(before);
  if (status != GMG_OK) cudaGetLastError();
  return status;
}
