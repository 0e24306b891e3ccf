/* The calls of the CUDA runtime (cuda_runtime_api.h): memory, streams, events, graphs. Work on a stream is done at once, or
   recorded while the stream is captured. The device looks like an H200: sm_90, 132 multiprocessors. With
   GMG_EMULATOR_PROCESSORS=n it has n, and small grids fill it. Calls emulator.cpp. */
#include "runtime.h"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

enum { MAJOR = 9, MAX_THREADS = 1024, MAX_GRID_YZ = 65535 };
enum { MAX_SHARED = 227 * 1024, MAX_SHARED_UNASKED = 48 * 1024 };
static const size_t MEMORY = (size_t)16 << 30, POISONED = (size_t)64 << 20;

typedef std::function<cudaError_t()> work;

struct CUgraphNode_st {
  work run;
};

struct CUgraph_st {
  std::vector<std::shared_ptr<CUgraphNode_st>> nodes;
  std::vector<std::unique_ptr<CUgraph_st>> bodies;
  std::vector<std::unique_ptr<unsigned>> conditions;
};

struct CUgraphExec_st {
  std::vector<std::shared_ptr<CUgraphNode_st>> nodes;
  std::vector<std::unique_ptr<CUgraph_st>> bodies;
  std::vector<std::unique_ptr<unsigned>> conditions;
};

struct CUstream_st {
  CUgraph_st *captured;
  int own, invalid; /* 1: the graph belongs to the capture */
};

struct CUevent_st {
  std::chrono::steady_clock::time_point at;
};

static std::mutex lock; /* state of the work that follows */
static std::map<void *, size_t> allocated;
static std::atomic<unsigned long> changes; /* of `allocated` */
static std::map<const void *, int> most_shared;
static size_t used;

enum { GUARD = 4096 }; /* bytes before and after an allocation */

/* Most calls of a thread are about one allocation, so it remembers the last one. A program can have two copies of this file: what is
   far from all allocations may belong to the other one. */
bool emulator::is_in_guard(const void *p, size_t bytes)
{
  static thread_local const char *begin, *end;
  static thread_local unsigned long seen;
  const char *const at = (const char *)p;
  if (seen == changes && at >= begin && at + bytes <= end) return false;
  std::lock_guard<std::mutex> held(lock);
  const auto after = allocated.upper_bound((char *)p + GUARD);
  if (after == allocated.begin()) return false;
  const auto found = std::prev(after);
  begin = (const char *)found->first, end = begin + found->second, seen = changes;
  return at < end + GUARD && (at < begin || at + bytes > end);
}

static thread_local cudaError_t last = cudaSuccess;
static cudaError_t fail(cudaError_t error)
{
  if (error != cudaSuccess) last = error;
  return error;
}

static int processors()
{
  const char *n = getenv("GMG_EMULATOR_PROCESSORS");
  return n && atoi(n) > 0 ? atoi(n) : 132;
}

/* With GMG_EMULATOR_DEVICES=n there are n devices, all alike. */
static int devices()
{
  const char *n = getenv("GMG_EMULATOR_DEVICES");
  return n && atoi(n) > 0 ? atoi(n) : 1;
}
static thread_local int current;

static int hidden()
{
  const char *devices = getenv("CUDA_VISIBLE_DEVICES");
  return devices && !*devices;
}

/* --- work on a stream --------------------------------------------------------------------------------------------------- */

static cudaError_t enqueue(cudaStream_t stream, work w)
{
  if (!stream || !stream->captured) return fail(w());
  if (stream->invalid) return fail(cudaErrorStreamCaptureInvalidated);
  stream->captured->nodes.push_back(std::make_shared<CUgraphNode_st>(CUgraphNode_st{std::move(w)}));
  return cudaSuccess;
}

/* A wait for the stream, which ends a capture. */
static cudaError_t synchronize(cudaStream_t stream)
{
  if (!stream || !stream->captured) return cudaSuccess;
  stream->invalid = 1;
  return fail(cudaErrorStreamCaptureUnsupported);
}

cudaError_t emulator::enqueue(const launch &what, cudaStream_t stream, std::function<void()> thread)
{
  const dim3 b = what.blocks, t = what.threads;
  if (!b.x || !b.y || !b.z || !t.x || !t.y || !t.z || t.x * t.y * t.z > MAX_THREADS || b.y > MAX_GRID_YZ || b.z > MAX_GRID_YZ ||
      b.x > 0x7fffffff || (unsigned long)b.x * b.y * b.z % what.together)
    return fail(cudaErrorInvalidConfiguration);
  if (what.shared > MAX_SHARED_UNASKED) {
    std::lock_guard<std::mutex> held(lock);
    const auto asked = most_shared.find(what.kernel);
    if (asked == most_shared.end() || (size_t)asked->second < what.shared) return fail(cudaErrorInvalidValue);
  }
  return ::enqueue(stream, [what, thread = std::move(thread)] { return run(what, thread), cudaSuccess; });
}

extern "C" {

/* --- device ------------------------------------------------------------------------------------------------------------- */

const char *cudaGetErrorString(cudaError_t error)
{
  switch (error) {
    case cudaSuccess: return "no error";
    case cudaErrorInvalidValue: return "invalid argument";
    case cudaErrorMemoryAllocation: return "out of memory";
    case cudaErrorInvalidConfiguration: return "invalid configuration argument";
    case cudaErrorNoDevice: return "no CUDA-capable device is detected";
    case cudaErrorInvalidDevice: return "invalid device ordinal";
    case cudaErrorStreamCaptureUnsupported: return "operation not permitted when stream is capturing";
    case cudaErrorStreamCaptureInvalidated: return "operation failed due to a previous error during capture";
    default: return "error of the emulator";
  }
}

cudaError_t cudaGetLastError(void)
{
  const cudaError_t error = last;
  last = cudaSuccess;
  return error;
}

cudaError_t cudaDriverGetVersion(int *version) { return *version = CUDART_VERSION, cudaSuccess; }
cudaError_t cudaGetDeviceCount(int *count) { return *count = hidden() ? 0 : devices(), fail(hidden() ? cudaErrorNoDevice : cudaSuccess); }
cudaError_t cudaGetDevice(int *device) { return *device = current, fail(hidden() ? cudaErrorNoDevice : cudaSuccess); }
cudaError_t cudaSetDevice(int device)
{
  if (hidden()) return fail(cudaErrorNoDevice);
  if (device < 0 || device >= devices()) return fail(cudaErrorInvalidDevice);
  return current = device, cudaSuccess;
}
cudaError_t cudaDeviceCanAccessPeer(int *can, int, int) { return *can = 1, cudaSuccess; }
cudaError_t cudaDeviceEnablePeerAccess(int, unsigned) { return cudaSuccess; }
cudaError_t cudaDeviceGetPCIBusId(char *text, int size, int device) { return snprintf(text, (size_t)size, "%d", device), cudaSuccess; }
cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t *, void *) { return fail(cudaErrorInvalidValue); }
cudaError_t cudaIpcOpenMemHandle(void **, cudaIpcMemHandle_t, unsigned) { return fail(cudaErrorInvalidValue); }
cudaError_t cudaIpcCloseMemHandle(void *) { return fail(cudaErrorInvalidValue); }
cudaError_t cudaDeviceSynchronize(void) { return cudaSuccess; }

cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device)
{
  if (device < 0 || device >= devices()) return fail(cudaErrorInvalidDevice);
  switch (attribute) {
    case cudaDevAttrMultiProcessorCount: *value = processors(); break;
    case cudaDevAttrComputeCapabilityMajor: *value = MAJOR; break;
    case cudaDevAttrComputeCapabilityMinor: *value = 0; break;
    case cudaDevAttrCooperativeLaunch: *value = 1; break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = MAX_SHARED; break;
    default: return fail(cudaErrorInvalidValue);
  }
  return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *p, int device)
{
  if (device < 0 || device >= devices()) return fail(cudaErrorInvalidDevice);
  snprintf(p->name, sizeof p->name, "emulator");
  p->major = MAJOR, p->minor = 0, p->multiProcessorCount = processors();
  return cudaSuccess;
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *a, const void *)
{
  *a = {0, 10 * MAJOR, 10 * MAJOR, 64, MAX_THREADS};
  return cudaSuccess;
}

cudaError_t cudaFuncSetAttribute(const void *kernel, cudaFuncAttribute attribute, int value)
{
  if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaSuccess;
  if (value < 0 || value > MAX_SHARED) return fail(cudaErrorInvalidValue);
  std::lock_guard<std::mutex> held(lock);
  most_shared[kernel] = value;
  return cudaSuccess;
}

/* --- memory ------------------------------------------------------------------------------------------------------------- */

cudaError_t cudaMalloc(void **p, size_t bytes)
{
  std::lock_guard<std::mutex> held(lock);
  *p = NULL;
  if (bytes == 0) return cudaSuccess;
  char *const all = bytes > MEMORY - used ? NULL : (char *)aligned_alloc(256, (bytes + 255) / 256 * 256 + 2 * GUARD);
  if (!all) return fail(cudaErrorMemoryAllocation);
  *p = all + GUARD;
  if (bytes <= POISONED) memset(*p, 0xff, bytes);
  allocated[*p] = bytes, used += bytes, changes++;
  return cudaSuccess;
}

cudaError_t cudaFree(void *p)
{
  if (!p) return cudaSuccess;
  std::lock_guard<std::mutex> held(lock);
  const auto found = allocated.find(p);
  if (found == allocated.end()) return fail(cudaErrorInvalidValue);
  used -= found->second;
  allocated.erase(found), changes++;
  free((char *)p - GUARD);
  return cudaSuccess;
}

cudaError_t cudaHostAlloc(void **p, size_t bytes, unsigned)
{
  *p = malloc(bytes ? bytes : 1);
  return fail(*p ? cudaSuccess : cudaErrorMemoryAllocation);
}
cudaError_t cudaMallocHost(void **p, size_t bytes) { return cudaHostAlloc(p, bytes, cudaHostAllocDefault); }
cudaError_t cudaFreeHost(void *p) { return free(p), cudaSuccess; }
cudaError_t cudaHostRegister(void *, size_t, unsigned) { return cudaSuccess; }
cudaError_t cudaHostUnregister(void *) { return cudaSuccess; }

cudaError_t cudaMemGetInfo(size_t *free_now, size_t *all)
{
  std::lock_guard<std::mutex> held(lock);
  return *free_now = MEMORY - used, *all = MEMORY, cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind, cudaStream_t stream)
{
  return enqueue(stream, [=] { return memmove(to, from, bytes), cudaSuccess; });
}
cudaError_t cudaMemsetAsync(void *p, int byte, size_t bytes, cudaStream_t stream)
{
  return enqueue(stream, [=] { return memset(p, byte, bytes), cudaSuccess; });
}
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind)
{
  return cudaMemcpyAsync(to, from, bytes, kind, NULL);
}
cudaError_t cudaMemset(void *p, int byte, size_t bytes) { return cudaMemsetAsync(p, byte, bytes, NULL); }

/* --- streams and events --------------------------------------------------------------------------------------------------- */

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned) { return *stream = new CUstream_st{}, cudaSuccess; }
cudaError_t cudaStreamCreate(cudaStream_t *stream) { return cudaStreamCreateWithFlags(stream, 0); }
cudaError_t cudaStreamDestroy(cudaStream_t stream) { return delete stream, cudaSuccess; }
cudaError_t cudaStreamSynchronize(cudaStream_t stream) { return synchronize(stream); }
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) { return cudaSuccess; }

cudaError_t cudaEventCreate(cudaEvent_t *event) { return *event = new CUevent_st{}, cudaSuccess; }
cudaError_t cudaEventDestroy(cudaEvent_t event) { return delete event, cudaSuccess; }
cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
  return enqueue(stream, [=] { return event->at = std::chrono::steady_clock::now(), cudaSuccess; });
}
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t begin, cudaEvent_t end)
{
  return *milliseconds = std::chrono::duration<float, std::milli>(end->at - begin->at).count(), cudaSuccess;
}

/* --- graphs --------------------------------------------------------------------------------------------------------------- */

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus *status)
{
  *status = !stream || !stream->captured ? cudaStreamCaptureStatusNone
            : stream->invalid            ? cudaStreamCaptureStatusInvalidated
                                         : cudaStreamCaptureStatusActive;
  return cudaSuccess;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode)
{
  if (!stream || stream->captured) return fail(cudaErrorStreamCaptureUnsupported);
  *stream = {new CUgraph_st{}, 1, 0};
  return cudaSuccess;
}

cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t *,
                                          const cudaGraphEdgeData *, size_t, cudaStreamCaptureMode)
{
  if (!stream || stream->captured) return fail(cudaErrorStreamCaptureUnsupported);
  *stream = {graph, 0, 0};
  return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
  if (!stream || !stream->captured) return fail(cudaErrorInvalidValue);
  const CUstream_st was = *stream;
  *stream = {};
  *graph = was.captured;
  if (!was.invalid) return cudaSuccess;
  if (was.own) delete was.captured;
  *graph = NULL;
  return fail(cudaErrorStreamCaptureInvalidated);
}

cudaError_t cudaGraphCreate(cudaGraph_t *graph, unsigned) { return *graph = new CUgraph_st{}, cudaSuccess; }
cudaError_t cudaGraphDestroy(cudaGraph_t graph) { return delete graph, cudaSuccess; }

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count)
{
  for (size_t i = 0; nodes && i < *count && i < graph->nodes.size(); i++) nodes[i] = graph->nodes[i].get();
  *count = graph->nodes.size();
  return cudaSuccess;
}

cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle *handle, cudaGraph_t graph, unsigned value, unsigned)
{
  graph->conditions.push_back(std::make_unique<unsigned>(value));
  *handle = (cudaGraphConditionalHandle)graph->conditions.back().get();
  return cudaSuccess;
}

void cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned value) { *(unsigned *)handle = value; }

cudaError_t cudaGraphAddNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *, const cudaGraphEdgeData *, size_t,
                             cudaGraphNodeParams *p)
{
  if (p->type != cudaGraphNodeTypeConditional || p->conditional.type != cudaGraphCondTypeWhile) return fail(cudaErrorInvalidValue);
  graph->bodies.push_back(std::make_unique<CUgraph_st>());
  CUgraph_st *const body = graph->bodies.back().get();
  unsigned *const condition = (unsigned *)p->conditional.handle;
  graph->nodes.push_back(std::make_shared<CUgraphNode_st>(CUgraphNode_st{[=] {
    while (*condition)
      for (const auto &n : body->nodes)
        if (const cudaError_t error = n->run()) return error;
    return cudaSuccess;
  }}));
  *node = graph->nodes.back().get();
  static thread_local cudaGraph_t out[1];
  out[0] = body, p->conditional.phGraph_out = out;
  return cudaSuccess;
}

/* A graph may be destroyed before it runs, so the instance takes its work. No graph is instantiated twice. */
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *run, cudaGraph_t graph, unsigned long long)
{
  *run = new CUgraphExec_st{graph->nodes, std::move(graph->bodies), std::move(graph->conditions)};
  return cudaSuccess;
}
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *run, cudaGraph_t graph, unsigned long long flags)
{
  return cudaGraphInstantiate(run, graph, flags);
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t run) { return delete run, cudaSuccess; }
cudaError_t cudaGraphUpload(cudaGraphExec_t, cudaStream_t) { return cudaSuccess; }
cudaError_t cudaGraphLaunch(cudaGraphExec_t run, cudaStream_t stream)
{
  return enqueue(stream, [run] {
    for (const auto &n : run->nodes)
      if (const cudaError_t error = n->run()) return error;
    return cudaSuccess;
  });
}

} // extern "C"
