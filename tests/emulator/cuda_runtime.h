/* The part of CUDA C++ that kernels and their launches need, for the host's compiler. translate.py replaces what no header can
   express: <<< >>>, shared memory of dynamic size, and PTX instructions, which are functions here (emulator::ptx). Included
   instead of NVIDIA's header. Calls emulator.cpp. */
#ifndef GMG_EMULATOR_CUDA_RUNTIME_H
#define GMG_EMULATOR_CUDA_RUNTIME_H

#include "cuda_runtime_api.h"

#ifdef __cplusplus
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>

using std::isfinite;
using std::isnan;

#define __CUDA_ARCH__ 900
#define GMG_ON_DEVICE 0 /* no instructions for tensor cores */
#define __global__
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __grid_constant__
#define __shared__ static thread_local /* a thread block has one thread of the host */

/* --- types ------------------------------------------------------------------------------------------------------------- */

struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
struct uint3 {
  unsigned x, y, z;
};
struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};
struct alignas(8) int2 { int x, y; };
struct alignas(16) int4 { int x, y, z, w; };
struct alignas(8) float2 { float x, y; };
struct alignas(16) float4 { float x, y, z, w; };
struct alignas(16) double2 { double x, y; };
struct alignas(16) double4 { double x, y, z, w; };
static inline int4 make_int4(int x, int y, int z, int w) { return {x, y, z, w}; }
static inline float2 make_float2(float x, float y) { return {x, y}; }
static inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
static inline double2 make_double2(double x, double y) { return {x, y}; }
static inline double4 make_double4(double x, double y, double z, double w) { return {x, y, z, w}; }

enum cudaLaunchAttributeID { cudaLaunchAttributeClusterDimension = 4, cudaLaunchAttributeProgrammaticStreamSerialization = 6 };
struct cudaLaunchAttribute {
  cudaLaunchAttributeID id;
  union {
    struct {
      unsigned x, y, z;
    } clusterDim;
    int programmaticStreamSerializationAllowed;
  } val;
};
struct cudaLaunchConfig_t {
  dim3 gridDim, blockDim;
  size_t dynamicSmemBytes;
  cudaStream_t stream;
  cudaLaunchAttribute *attrs;
  unsigned numAttrs;
};

/* --- launches ---------------------------------------------------------------------------------------------------------- */

namespace emulator {

struct launch {
  const void *kernel;
  dim3 blocks, threads;
  size_t shared;
  unsigned together; /* blocks that run at once and wait for each other */
};

cudaError_t enqueue(const launch &what, cudaStream_t stream, std::function<void()> thread);

template <class... Parameters> struct launcher {
  void (*kernel)(Parameters...);
  launch what;
  cudaStream_t stream;
  cudaError_t operator()(Parameters... arguments) const
  {
    auto run = kernel;
    return enqueue(what, stream, [run, all = std::make_tuple(arguments...)] { std::apply(run, all); });
  }
};

/* kernel<<<blocks, threads, shared, stream>>> */
template <class... Parameters>
launcher<Parameters...> launch_of(void (*kernel)(Parameters...), dim3 blocks, dim3 threads, size_t shared = 0,
                                  cudaStream_t stream = 0)
{
  return {kernel, {(const void *)kernel, blocks, threads, shared, 1}, stream};
}

template <class... Parameters, size_t... I>
std::function<void()> bound(void (*kernel)(Parameters...), void **arguments, std::index_sequence<I...>)
{
  return [kernel, all = std::make_tuple(*(std::remove_cv_t<Parameters> *)arguments[I]...)] { std::apply(kernel, all); };
}

} // namespace emulator

template <class... Parameters, class... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *c, void (*kernel)(Parameters...), Arguments... arguments)
{
  emulator::launcher<Parameters...> l = emulator::launch_of(kernel, c->gridDim, c->blockDim, c->dynamicSmemBytes, c->stream);
  for (unsigned a = 0; a < c->numAttrs; a++)
    if (c->attrs[a].id == cudaLaunchAttributeClusterDimension) l.what.together = c->attrs[a].val.clusterDim.x;
  return l(static_cast<Parameters>(arguments)...);
}

template <class... Parameters>
cudaError_t cudaLaunchCooperativeKernel(void (*kernel)(Parameters...), dim3 blocks, dim3 threads, void **arguments, size_t shared,
                                        cudaStream_t stream)
{
  return emulator::enqueue({(const void *)kernel, blocks, threads, shared, blocks.x}, stream,
                           emulator::bound(kernel, arguments, std::index_sequence_for<Parameters...>()));
}

template <class Kernel> cudaError_t cudaFuncSetAttribute(Kernel *kernel, cudaFuncAttribute attribute, int value)
{
  return cudaFuncSetAttribute((const void *)kernel, attribute, value);
}
template <class Kernel> cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, Kernel *kernel)
{
  return cudaFuncGetAttributes(attributes, (const void *)kernel);
}
template <class T> cudaError_t cudaMalloc(T **p, size_t bytes) { return cudaMalloc((void **)p, bytes); }
template <class T> cudaError_t cudaMallocHost(T **p, size_t bytes) { return cudaMallocHost((void **)p, bytes); }

template <class Kernel> cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, Kernel, int threads, size_t shared)
{
  *blocks = (int)std::min<size_t>({(size_t)2048 / (unsigned)threads, 227 * 1024 / (shared + 1024), 1});
  return cudaSuccess;
}
template <class Kernel> cudaError_t cudaOccupancyMaxActiveClusters(int *clusters, Kernel, const cudaLaunchConfig_t *c)
{
  *clusters = c->gridDim.x <= 16 ? 8 : 0;
  return cudaSuccess;
}

/* --- threads of a kernel ------------------------------------------------------------------------------------------------ */

extern thread_local uint3 threadIdx, blockIdx;
extern thread_local dim3 blockDim, gridDim;

namespace emulator {

extern thread_local char dynamic_shared[227 * 1024];

enum barrier { THREAD_BLOCK, BLOCKS_TOGETHER };
void wait_for(barrier which);
void wait_for_warp();
void spin();                             /* lets the other threads run */
unsigned long long nanoseconds();
void *exchange(const void *mine, int from, size_t bytes); /* the value of lane `from`, for all lanes of a warp */
void copy_later(void *to, const void *from, size_t bytes, size_t read); /* the bytes that are not read become 0 */
bool is_in_guard(const void *p, size_t bytes); /* whether some of these bytes are beside an allocation of device memory */
void commit_copies();
void finish_copies(unsigned all_but);
unsigned lane();

void *in_block(void *mine, unsigned rank);             /* the lanes that run together */
unsigned address_of(const void *mine, unsigned rank);  /* in 32 bits */
void *pointer_to(unsigned address);

} // namespace emulator

static inline void __syncthreads() { emulator::wait_for(emulator::THREAD_BLOCK); }
static inline void __syncwarp(unsigned = ~0u) { emulator::wait_for_warp(); }
static inline void __threadfence_system() { std::atomic_thread_fence(std::memory_order_seq_cst); }
static inline void __threadfence() { std::atomic_thread_fence(std::memory_order_seq_cst); }

template <class T> T __shfl_sync(unsigned, T x, int from)
{
  T there;
  memcpy(&there, emulator::exchange(&x, from & 31, sizeof x), sizeof x);
  return there;
}
template <class T> T __shfl_xor_sync(unsigned mask, T x, int bits) { return __shfl_sync(mask, x, (int)emulator::lane() ^ bits); }
template <class T> T __shfl_up_sync(unsigned mask, T x, unsigned by)
{
  const int from = (int)emulator::lane() - (int)by;
  return __shfl_sync(mask, x, from < 0 ? (int)emulator::lane() : from);
}
template <class T> T __shfl_down_sync(unsigned mask, T x, unsigned by)
{
  const int from = (int)emulator::lane() + (int)by;
  return __shfl_sync(mask, x, from > 31 ? (int)emulator::lane() : from);
}

template <class T> static inline T __ldg(const T *p) { return *p; }
template <class T> static inline T __ldcg(const T *p)
{
  if constexpr (std::is_arithmetic_v<T>) return *(const volatile T *)p;
  else return *p;
}
template <class T> static inline void __stcg(T *p, T x)
{
  if constexpr (std::is_arithmetic_v<T>) *(volatile T *)p = x;
  else *p = x;
}
static inline int __popc(unsigned x) { return __builtin_popcount(x); }
static inline float __fdividef(float a, float b) { return a / b; }
static inline size_t __cvta_generic_to_shared(const void *p) { return emulator::address_of(p, 0xff); }

template <class A, class B> constexpr std::common_type_t<A, B> min(A a, B b)
{
  return (std::common_type_t<A, B>)a < (std::common_type_t<A, B>)b ? a : b;
}
template <class A, class B> constexpr std::common_type_t<A, B> max(A a, B b)
{
  return (std::common_type_t<A, B>)a > (std::common_type_t<A, B>)b ? a : b;
}

template <class T> T atomicAdd(T *p, std::type_identity_t<T> x)
{
  if constexpr (std::is_integral_v<T>) return __atomic_fetch_add(p, x, __ATOMIC_RELAXED);
  T before, after;
  __atomic_load(p, &before, __ATOMIC_RELAXED);
  do after = before + x;
  while (!__atomic_compare_exchange(p, &before, &after, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  return before;
}

/* --- instructions of PTX, named as there with _ for . ------------------------------------------------------------------ */

namespace emulator::ptx {

template <class T> void ld_relaxed_gpu_global(T &x, const T *p) { __atomic_load(p, &x, __ATOMIC_RELAXED); }
template <class T, class V> void ld_relaxed_gpu_global_v2(T &x, T &y, const V *p)
{
  if ((uintptr_t)p % sizeof *p) __builtin_trap(); /* misaligned */
  ld_relaxed_gpu_global(x, (const T *)p), ld_relaxed_gpu_global(y, (const T *)p + 1);
}
template <class T, class V> void ld_relaxed_gpu_global_v4_f32(T &x, T &y, T &z, T &w, const V *p)
{
  if ((uintptr_t)p % sizeof *p) __builtin_trap();
  ld_relaxed_gpu_global(x, (const T *)p), ld_relaxed_gpu_global(y, (const T *)p + 1);
  ld_relaxed_gpu_global(z, (const T *)p + 2), ld_relaxed_gpu_global(w, (const T *)p + 3);
}
template <class T> void st_relaxed_gpu_global(T *p, T x) { __atomic_store(p, &x, __ATOMIC_RELAXED); }
template <class T, class V> void st_relaxed_gpu_global_v2(V *p, T x, T y)
{
  if ((uintptr_t)p % sizeof *p) __builtin_trap();
  st_relaxed_gpu_global((T *)p, x), st_relaxed_gpu_global((T *)p + 1, y);
}
template <class T, class V> void st_relaxed_gpu_global_v4_f32(V *p, T x, T y, T z, T w)
{
  if ((uintptr_t)p % sizeof *p) __builtin_trap();
  st_relaxed_gpu_global((T *)p, x), st_relaxed_gpu_global((T *)p + 1, y);
  st_relaxed_gpu_global((T *)p + 2, z), st_relaxed_gpu_global((T *)p + 3, w);
}

static inline void atom_acq_rel_gpu_global_add_u32(unsigned &before, unsigned *count)
{
  before = __atomic_fetch_add(count, 1, __ATOMIC_ACQ_REL);
}

/* A thread that waits for another device asks again and again. */
template <class T> void ld_acquire_sys_global_u64(T &x, const T *p) { spin(), __atomic_load(p, &x, __ATOMIC_ACQUIRE); }
template <class T> void st_release_sys_global_u64(T *p, T x) { __atomic_store(p, &x, __ATOMIC_RELEASE); }
static inline void mov_u64(unsigned long long &now) { now = nanoseconds(); }

static inline void griddepcontrol_wait() {}
static inline void griddepcontrol_launch_dependents() {}
static inline void rcp_approx_ftz_f32(float &y, float x) { y = 1 / x; }

static inline void barrier_cluster_arrive_release_aligned() { wait_for(BLOCKS_TOGETHER); } /* and the wait that follows it */
template <class T> void mapa_u64(T *&theirs, T *mine, int rank) { theirs = (T *)in_block((void *)mine, (unsigned)rank); }
static inline void mapa_shared__cluster_u32(unsigned &theirs, unsigned mine, int rank)
{
  theirs = (mine & 0xffffff) | (unsigned)rank << 24;
}
static inline void st_shared__cluster_f64(unsigned to, double x) { __atomic_store((double *)pointer_to(to), &x, __ATOMIC_RELAXED); }
static inline void st_shared__cluster_f32(unsigned to, float x) { __atomic_store((float *)pointer_to(to), &x, __ATOMIC_RELAXED); }

void mbarrier_init_shared__cta_b64(unsigned barrier); /* for one arrival */
static inline void fence_mbarrier_init_release_cluster() {}
void mbarrier_arrive_expect_tx_shared__cta_b64(unsigned barrier, unsigned bytes);
void mbarrier_try_wait_parity_acquire_cluster_shared__cta_b64(unsigned &done, unsigned barrier, unsigned parity);
void mbarrier_bytes(unsigned barrier, unsigned bytes); /* have come */
static inline void st_async_weak_shared__cluster_mbarrier__complete_tx__bytes_f64(unsigned to, double x, unsigned barrier)
{
  st_shared__cluster_f64(to, x), mbarrier_bytes(barrier, sizeof x);
}
static inline void st_async_weak_shared__cluster_mbarrier__complete_tx__bytes_f32(unsigned to, float x, unsigned barrier)
{
  st_shared__cluster_f32(to, x), mbarrier_bytes(barrier, sizeof x);
}

} // namespace emulator::ptx
#endif
#endif
