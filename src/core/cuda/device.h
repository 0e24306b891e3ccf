/* What the CUDA files share: the device behind a context, launches, sums over a grid. Included by .cu files of core, stencil
   and smoothers only.

   Everything is enqueued on the caller's stream. A call that fails is remembered and makes every later solve on the context
   end with GMG_ERR_DEVICE (gmg_memory_ops::health). */
#ifndef GMG_CORE_CUDA_DEVICE_H
#define GMG_CORE_CUDA_DEVICE_H

extern "C" {
#include "core/exec.h"
}

#include "core/layout.h"

#include <cuda_runtime.h>

/* Sums (and extremes) of a reduction. */
typedef struct gmg_total {
  double first, second, least, most;
} gmg_total;

enum { GMG_THREADS = 256, GMG_MOST_PARTS = 2048 };

enum { GMG_LOOP_CYCLES = 256 }; /* that may be replayed at once */

/* A loop of cycles that is replayed, in the device's memory. */
typedef struct gmg_loop_state {
  gmg_loop loop;      /* its standing moves on */
  gmg_total residual; /* first: squares of the last one; second: of f, where it is the first residual */
  int cycles;
  int under_way;      /* the next launch goes on with a solve: its first residual is there */
  double norm[GMG_LOOP_CYCLES];
} gmg_loop_state;

/* What such a loop starts from and what it comes to. Pinned host memory that the device reads and writes. */
typedef struct gmg_loop_result {
  gmg_loop loop;
  double norm[GMG_LOOP_CYCLES];
  int cycles;
} gmg_loop_result;

/* Of a loop that is recorded: how the kernel that sums a residual notes its norm and decides whether another cycle follows
   (loop_test.cuh). */
typedef struct gmg_loop_test {
  gmg_loop_state *state; /* NULL: nothing is decided */
  gmg_loop_result *result;
  int conditional;           /* the loop is on the device: the graph has a conditional node */
  unsigned long long handle; /* of that: a cudaGraphConditionalHandle */
} gmg_loop_test;

typedef enum { GMG_NOT_RECORDING, GMG_RECORDING, GMG_SPOILT } gmg_record;

struct gmg_device {
  int number, processors;
  size_t memory;       /* bytes, all of it */
  int begins_early;    /* kernels may begin before the one ahead has ended (cuda/pdl.cuh) */
  cudaStream_t stream; /* BORROWED, but while recording its own */
  gmg_total *part;     /* [GMG_MOST_PARTS] sums of thread blocks, device */
  unsigned *arrived;   /* thread blocks that have left theirs, device */
  gmg_total *total;    /* pinned host memory that the device writes */
  gmg_total *scalar;   /* of a sum that only the device needs to know, device */
  gmg_loop_state *loop_state;
  gmg_loop_result *loop_result;
  struct gmg_recorder *recorder; /* cuda/graph.cu; NULL: nothing was ever recorded */
  gmg_record recording;
  int no_conditional;  /* loops of cycles are the host's: for tests */
  gmg_loop_test loop_test; /* of the loop that is being recorded */
  size_t waits;        /* how often the host has waited for the device: tests count */
  cudaError_t failed;  /* the first failure */
  const char *failed_in;
  void *profiler; /* ranges go there; NULL: there is none */
};

/* exec's device, which must be the calling thread's current one (GMG_VISIT), or launches on its stream fail. */
static inline gmg_device *gmg_device_of(const gmg_exec *e) { return e->context->device; }

static inline void gmg_cuda_note(gmg_device *d, cudaError_t error, const char *where)
{
  if (error != cudaSuccess && d->failed == cudaSuccess) d->failed = error, d->failed_in = where;
}

/* Whether work is being recorded; that which wants a number on the host, or brings one from there, cannot be. */
static inline int gmg_cuda_spoils(gmg_device *d)
{
  if (d->recording == GMG_NOT_RECORDING) return 0;
  d->recording = GMG_SPOILT;
  return 1;
}

/* After a launch. */
static inline void gmg_cuda_launched(const gmg_exec *e, const char *where)
{
  gmg_cuda_note(gmg_device_of(e), cudaGetLastError(), where);
}

/* Thread blocks of a launch; bytes: of dynamic shared memory. */
typedef struct gmg_grid {
  dim3 blocks, threads;
  size_t bytes;
} gmg_grid;

/* --- unknowns to threads --------------------------------------------------------------------------------------------- */

/* Thread blocks take stretches of lines: `across` threads along axis 0, GMG_PER unknowns each; GMG_THREADS / across lines
   beside each other. */
enum { GMG_PER = 4 };

typedef struct gmg_points {
  gmg_layout at;
  size_t tasks;       /* stretches */
  unsigned stretches; /* of a line */
  unsigned across, lines;
} gmg_points;

static inline gmg_points gmg_points_of(gmg_layout at)
{
  gmg_points p = {at, 0, 0, 8, 0};
  while (p.across < GMG_THREADS && p.across * GMG_PER < at.n[0]) p.across *= 2;
  p.lines = GMG_THREADS / p.across;
  p.stretches = (unsigned)((at.n[0] + p.across * GMG_PER - 1) / (p.across * GMG_PER));
  p.tasks = p.stretches * at.n[1] * at.n[2];
  return p;
}

static inline gmg_points gmg_points_of(const size_t n[3]) { return gmg_points_of(gmg_layout_packed(n)); }

/* One task a row of threads; or (for sums) few thread blocks that go on until all is done. */
static inline gmg_grid gmg_grid_of(gmg_points p, int sums = 0)
{
  const size_t blocks = (p.tasks + p.lines - 1) / p.lines, most = sums ? GMG_MOST_PARTS : 0x7fffffff;
  return {dim3((unsigned)(blocks < most ? blocks : most)), dim3(p.across, p.lines), 0};
}

/* Thread blocks for n numbers. */
static inline gmg_grid gmg_flat_grid(size_t n, int sums = 0)
{
  const size_t blocks = (n + GMG_THREADS - 1) / GMG_THREADS, most = sums ? GMG_MOST_PARTS : 1 << 20;
  return {dim3((unsigned)(blocks == 0 ? 1 : blocks < most ? blocks : most)), dim3(GMG_THREADS), 0};
}

/* Where the sums over a grid go (gmg_grid_total): those of thread blocks, and the whole. */
typedef struct gmg_sums {
  gmg_total *part;
  unsigned *arrived;
  gmg_total *to;
} gmg_sums;

static inline gmg_sums gmg_sums_to(const gmg_exec *e, gmg_total *to)
{
  return {gmg_device_of(e)->part, gmg_device_of(e)->arrived, to};
}
static inline gmg_sums gmg_sums_to_host(const gmg_exec *e) { return gmg_sums_to(e, gmg_device_of(e)->total); } /* gmg_cuda_total */
static inline gmg_sums gmg_sums_on_device(const gmg_exec *e) { return gmg_sums_to(e, gmg_device_of(e)->scalar); }

#ifdef __CUDACC__

/* Lets a kernel's launches ask for that much shared memory. */
static inline void gmg_allow_shared(const gmg_exec *e, const void *kernel, size_t bytes)
{
  const cudaError_t error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
  gmg_cuda_note(gmg_device_of(e), error, "shared memory");
}

/* Enqueues kernel(arguments). Fields may be pointers to void. */
template <class... Parameters, class... Arguments>
static inline void gmg_launch(const gmg_exec *e, const char *what, void (*kernel)(Parameters...), const gmg_grid &g,
                              const Arguments &...arguments)
{
  kernel<<<g.blocks, g.threads, g.bytes, gmg_device_of(e)->stream>>>(static_cast<Parameters>(arguments)...);
  gmg_cuda_launched(e, what);
}

/* body(i, j, k, c) for every unknown, c its place in a field. */
template <class Body> static __device__ __forceinline__ void gmg_for_points(const gmg_points p, Body body)
{
  for (size_t t = (size_t)blockIdx.x * p.lines + threadIdx.y; t < p.tasks; t += (size_t)gridDim.x * p.lines) {
    const unsigned line = (unsigned)(p.stretches == 1 ? t : t / p.stretches);
    const unsigned stretch = p.stretches == 1 ? 0 : (unsigned)(t - (size_t)line * p.stretches), n1 = (unsigned)p.at.n[1];
    const unsigned k = line / n1, j = line - k * n1;
    const size_t first = (size_t)stretch * p.across * GMG_PER + threadIdx.x, start = gmg_offset(p.at, 0, j, k), n0 = p.at.n[0];
    if (first + (GMG_PER - 1) * p.across < n0) { /* without conditions in between, loads are sent off together */
#pragma unroll
      for (int s = 0; s < GMG_PER; s++) body(first + (size_t)s * p.across, (size_t)j, (size_t)k, start + first + (size_t)s * p.across);
      continue;
    }
    for (size_t i = first; i < n0 && i < first + GMG_PER * p.across; i += p.across) body(i, (size_t)j, (size_t)k, start + i);
  }
}

/* body(c) for c < n. */
template <class Body> static __device__ __forceinline__ void gmg_for_all(size_t n, Body body)
{
  for (size_t c = (size_t)blockIdx.x * blockDim.x + threadIdx.x; c < n; c += (size_t)gridDim.x * blockDim.x) body(c);
}

static __device__ __forceinline__ gmg_total gmg_plus(gmg_total a, gmg_total b)
{
  return {a.first + b.first, a.second + b.second, a.least < b.least ? a.least : b.least, a.most > b.most ? a.most : b.most};
}

static __device__ __forceinline__ gmg_total gmg_warp_total(gmg_total x)
{
  for (int d = 16; d > 0; d /= 2) {
    const gmg_total other = {__shfl_down_sync(~0u, x.first, d), __shfl_down_sync(~0u, x.second, d),
                             __shfl_down_sync(~0u, x.least, d), __shfl_down_sync(~0u, x.most, d)};
    x = gmg_plus(x, other);
  }
  return x;
}

/* Over the threads of a block of GMG_THREADS; the result is thread 0's. */
static __device__ inline gmg_total gmg_block_total(gmg_total x)
{
  __shared__ gmg_total warp[GMG_THREADS / 32];
  const unsigned me = threadIdx.y * blockDim.x + threadIdx.x;
  x = gmg_warp_total(x);
  if (me % 32 == 0) warp[me / 32] = x;
  __syncthreads();
  if (me < 32) {
    x = warp[me < GMG_THREADS / 32 ? me : 0];
    if (me >= GMG_THREADS / 32) x.first = x.second = 0;
    x = gmg_warp_total(x);
  }
  __syncthreads();
  return x;
}

/* Over all threads of the grid, in an order that the launch alone decides: the last block to arrive adds up the parts. 1 in the
   thread that has the sum. */
static __device__ inline int gmg_grid_total(gmg_total x, const gmg_sums &sums)
{
  __shared__ int last;
  const unsigned me = threadIdx.y * blockDim.x + threadIdx.x;
  x = gmg_block_total(x);
  if (me == 0) {
    sums.part[blockIdx.x] = x;
    __threadfence();
    last = atomicAdd(sums.arrived, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return 0;
  __threadfence();
  const gmg_total *const part = sums.part;
  gmg_total sum = {0, 0, __ldcg(&part[0].least), __ldcg(&part[0].most)};
  for (unsigned b = me; b < gridDim.x; b += GMG_THREADS) {
    const gmg_total mine = {__ldcg(&part[b].first), __ldcg(&part[b].second), __ldcg(&part[b].least), __ldcg(&part[b].most)};
    sum = gmg_plus(sum, mine);
  }
  sum = gmg_block_total(sum);
  if (me == 0) *sums.to = sum, *sums.arrived = 0;
  return me == 0;
}

#endif

void gmg_recorder_end(gmg_device *d); /* cuda/graph.cu */
void gmg_profiler_begin(gmg_device *d); /* cuda/trace.cu */
void gmg_profiler_end(gmg_device *d);

/* Blocks: what the last sum came to. NaN once the device has failed. */
gmg_total gmg_cuda_total(const gmg_exec *e, const char *where);

#endif
