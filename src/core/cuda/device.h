/* Shared by all CUDA files: the device behind a context, launches, and sums over a grid. Included only by CUDA files of core,
   stencil, smoothers and coarse.

   All work is enqueued on the caller's stream. The first failure is remembered, and every later solve on the context ends with
   GMG_ERR_DEVICE (gmg_memory_ops::health). */
#ifndef GMG_CORE_CUDA_DEVICE_H
#define GMG_CORE_CUDA_DEVICE_H

extern "C" {
#include "core/comm.h"
}

#include "core/layout.h"
#include "atomics.cuh"

#include <cuda_runtime.h>

/* Two sums and two extremes of one reduction. Aligned, because each two are stored at once. */
typedef struct alignas(16) gmg_total {
  double first, second, least, most;
} gmg_total;

enum { GMG_THREADS = 256, GMG_MAX_PARTS = 2048 };

/* What a process has summed in a round: a place for each, twice, because a process may already be in the next round. */
typedef struct gmg_notice {
  gmg_total sum;
  unsigned long long round; /* 0: nothing yet */
} gmg_notice;

/* The devices of several processes that share a grid (comm/cuda/). In device memory. */
enum { GMG_MOST_DEVICES = 64 };
typedef struct gmg_board {
  int rank, ranks;
  unsigned long long rounds;            /* that are done */
  gmg_notice *of[GMG_MOST_DEVICES];     /* [2][ranks] notices to each process, in its device's memory */
  int *silent;                          /* pinned host memory: 1 if a process did not answer */
  gmg_slow_link slow;
} gmg_board;

/* Sums in progress. In device memory. */
typedef struct gmg_arrivals {
  unsigned count;   /* of thread blocks that have written their sums */
  gmg_board *board; /* NULL: the sum is over this device */
} gmg_arrivals;

enum { GMG_LOOP_CYCLES = 256 }; /* maximum number of cycles in one launch of a recorded loop */

/* State of a recorded loop of cycles, in device memory. */
typedef struct gmg_loop_state {
  gmg_loop loop;      /* its state is updated after every cycle */
  gmg_total residual; /* first: sum of squares of the last residual; second: that of f, for a first residual */
  gmg_total rhs;      /* of take_means(): first: sum of squares of f without its mean, or NaN; least: the mean */
  int cycles;
  int continues;      /* the next launch continues a solve whose first residual is known */
  double norm[GMG_LOOP_CYCLES];
} gmg_loop_state;

/* Input and output of a recorded loop, and what take_means() took from f. Pinned host memory that the device reads and writes. */
typedef struct gmg_loop_result {
  gmg_loop loop;
  gmg_total rhs;
  double norm[GMG_LOOP_CYCLES];
  int cycles;
} gmg_loop_result;

/* Given to the kernel that sums a residual in a recorded loop. The kernel stores the norm and decides whether another cycle follows
   (loop_test.cuh). */
typedef struct gmg_loop_test {
  gmg_loop_state *state; /* NULL: no loop is being recorded */
  gmg_loop_result *result;
  int conditional;           /* the loop runs on the device, through a conditional node of the graph */
  unsigned long long handle; /* cudaGraphConditionalHandle of that node */
} gmg_loop_test;

typedef enum { GMG_NOT_RECORDING, GMG_RECORDING, GMG_RECORDING_INVALID } gmg_record;

struct gmg_device {
  int number, processors;
  int major;           /* of the compute capability */
  int max_shared;      /* bytes of shared memory that a thread block can ask for */
  size_t memory;       /* total bytes */
  int begins_early;    /* kernels may begin before their predecessor has ended (cuda/pdl.cuh) */
  cudaStream_t stream; /* BORROWED; while recording, the recorder's own stream */
  gmg_total *part;     /* device: [GMG_MAX_PARTS] sums of thread blocks */
  gmg_arrivals *arrivals; /* device: [2] sums over this device, and over those of all processes */
  gmg_board *board;    /* device; NULL: the context is not one of several */
  gmg_notice *notices; /* device: [2][ranks] to this process; NULL without board */
  int *silent;         /* pinned host memory; NULL without board */
  gmg_slow_link slow;
  int is_shared;       /* several processes use the device */
  gmg_notice **foreign; /* [ranks] opened notices of other processes of the system; NULL if all are threads of this one */
  int ranks;
  gmg_total *total;    /* pinned host memory that the device writes */
  gmg_total *device_total; /* device: a sum that the host does not need */
  gmg_loop_state *loop_state;
  gmg_loop_result *loop_result;
  struct gmg_recorder *recorder; /* cuda/graph.cu; NULL until something is recorded */
  gmg_record recording;
  int no_conditional;  /* for tests: loops of cycles run on the host */
  gmg_loop_test loop_test; /* of the loop being recorded */
  size_t waits;        /* number of times that the host has waited for the device, for tests */
  cudaError_t failed;  /* the first failure */
  const char *failed_in;
  void *profiler; /* domain of the ranges; NULL: no profiler */
};

/* The exec's device. It must be current for the calling thread (GMG_WITH_DEVICE), or launches on its stream fail. */
static inline gmg_device *gmg_device_of(const gmg_exec *e) { return e->context->device; }

static inline void gmg_cuda_note(gmg_device *d, cudaError_t error, const char *where)
{
  if (error != cudaSuccess && d->failed == cudaSuccess) d->failed = error, d->failed_in = where;
}

/* Invalidates the recording, and returns 1, if work is being recorded. Called by operations that cannot be recorded: those that
   return a number to the host, or copy data from it. */
static inline int gmg_cuda_invalidate_recording(gmg_device *d)
{
  if (d->recording == GMG_NOT_RECORDING) return 0;
  d->recording = GMG_RECORDING_INVALID;
  return 1;
}

/* Notes a failed launch. Call it after every launch. */
static inline void gmg_cuda_launched(const gmg_exec *e, const char *where)
{
  gmg_cuda_note(gmg_device_of(e), cudaGetLastError(), where);
}

/* Configuration of a launch; bytes: dynamic shared memory. */
typedef struct gmg_launch_shape {
  dim3 blocks, threads;
  size_t bytes;
} gmg_launch_shape;

/* --- assignment of unknowns to threads ------------------------------------------------------------------------------- */

/* Thread blocks process segments of lines. `across` threads along axis 0 process `each` unknowns each, in GMG_THREADS / across
   lines at a time: GMG_PER_THREAD, or one where the unknowns are too few to fill the device. A thread's unknowns may wait for
   memory one after the other. */
enum { GMG_PER_THREAD = 4, GMG_FEW_POINTS = 1 << 17 };

typedef struct gmg_points {
  gmg_layout layout;
  size_t tasks;      /* segments of all lines */
  unsigned segments; /* segments of a line */
  unsigned across, lines, each;
} gmg_points;

static inline gmg_points gmg_points_of(gmg_layout at)
{
  gmg_points p = {at, 0, 0, 8, 0, 1};
  if (at.n[0] * at.n[1] * at.n[2] > GMG_FEW_POINTS) p.each = GMG_PER_THREAD;
  while (p.across < GMG_THREADS && p.across * p.each < at.n[0]) p.across *= 2;
  p.lines = GMG_THREADS / p.across;
  p.segments = (unsigned)((at.n[0] + p.across * p.each - 1) / (p.across * p.each));
  p.tasks = p.segments * at.n[1] * at.n[2];
  return p;
}

static inline gmg_points gmg_points_of(const size_t n[3]) { return gmg_points_of(gmg_layout_packed(n)); }

/* Thread blocks of a sum over n numbers whose threads load four at once, at most. Every thread block ends with a sum of its own, so
   few are faster until memory is the limit. On an H200 the norm of 128^3 doubles takes 6.5 us with 528 blocks, and 10 us with 2048;
   that of 512^3 takes 247 and 243 us. */
static inline size_t gmg_sum_blocks(size_t n) { return n > 1 << 24 ? GMG_MAX_PARTS : GMG_MAX_PARTS / 4; }

/* A grid of at most `most` thread blocks with one task for each row of threads, or with many. */
static inline gmg_launch_shape gmg_shape_of(gmg_points p, size_t most = 0x7fffffff)
{
  const size_t blocks = (p.tasks + p.lines - 1) / p.lines;
  return {dim3((unsigned)(blocks < most ? blocks : most)), dim3(p.across, p.lines), 0};
}

/* A grid for a sum. */
static inline gmg_launch_shape gmg_sum_shape_of(gmg_points p)
{
  return gmg_shape_of(p, gmg_sum_blocks(p.layout.n[0] * p.layout.n[1] * p.layout.n[2]));
}

/* A grid of at most `most` thread blocks for n numbers. */
static inline gmg_launch_shape gmg_flat_shape(size_t n, size_t most = 1 << 20)
{
  const size_t blocks = (n + GMG_THREADS - 1) / GMG_THREADS;
  return {dim3((unsigned)(blocks == 0 ? 1 : blocks < most ? blocks : most)), dim3(GMG_THREADS), 0};
}

/* Destinations of a sum over a grid (gmg_grid_total): the parts of the thread blocks, and the total. */
typedef struct gmg_sum_target {
  gmg_total *part;
  gmg_arrivals *arrivals;
  gmg_total *to;
} gmg_sum_target;

void gmg_meet(const gmg_exec *e); /* context.cu */

static inline gmg_sum_target gmg_sums_to(const gmg_exec *e, gmg_total *to)
{
  gmg_device *d = gmg_device_of(e);
  const int over_devices = e->comm->meet != NULL;
  if (over_devices) gmg_meet(e);
  return {d->part, d->arrivals + over_devices, to};
}
/* The host reads this sum by gmg_cuda_total(). */
static inline gmg_sum_target gmg_sums_to_host(const gmg_exec *e) { return gmg_sums_to(e, gmg_device_of(e)->total); }
static inline gmg_sum_target gmg_sums_on_device(const gmg_exec *e) { return gmg_sums_to(e, gmg_device_of(e)->device_total); }

#ifdef __CUDACC__

/* Allows launches of the kernel to use `bytes` of dynamic shared memory. */
static inline void gmg_allow_shared(const gmg_exec *e, const void *kernel, size_t bytes)
{
  const cudaError_t error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
  gmg_cuda_note(gmg_device_of(e), error, "shared memory");
}

/* Enqueues kernel(arguments). Fields may be passed as pointers to void. */
template <class... Parameters, class... Arguments>
static inline void gmg_launch(const gmg_exec *e, const char *what, void (*kernel)(Parameters...), const gmg_launch_shape &g,
                              const Arguments &...arguments)
{
  kernel<<<g.blocks, g.threads, g.bytes, gmg_device_of(e)->stream>>>(static_cast<Parameters>(arguments)...);
  gmg_cuda_launched(e, what);
}

/* Calls body(first, j, k, start) for every segment of a thread. Its unknowns begin at `first`, p.across apart; there are p.each, or
   fewer at the end of the line. start: offset of the line in a field. */
template <class Body> static __device__ __forceinline__ void gmg_for_segments(const gmg_points p, Body body)
{
  for (size_t t = (size_t)blockIdx.x * p.lines + threadIdx.y; t < p.tasks; t += (size_t)gridDim.x * p.lines) {
    const unsigned line = p.segments == 1 ? (unsigned)t : p.tasks >> 32 ? (unsigned)(t / p.segments) : (unsigned)t / p.segments;
    const unsigned segment = p.segments == 1 ? 0 : (unsigned)(t - (size_t)line * p.segments), n1 = (unsigned)p.layout.n[1];
    const unsigned k = line / n1, j = line - k * n1;
    body((size_t)segment * p.across * p.each + threadIdx.x, (size_t)j, (size_t)k, gmg_offset(p.layout, 0, j, k));
  }
}

/* Calls body(i, j, k, c) for every unknown; c is its offset in a field. */
template <class Body> static __device__ __forceinline__ void gmg_for_points(const gmg_points p, Body body)
{
  gmg_for_segments(p, [&](size_t first, size_t j, size_t k, size_t start) {
    const size_t n0 = p.layout.n[0];
    if (p.each == GMG_PER_THREAD && first + (GMG_PER_THREAD - 1) * p.across < n0) {
      /* without conditions in between, the compiler issues all loads at once */
#pragma unroll
      for (int s = 0; s < GMG_PER_THREAD; s++) body(first + (size_t)s * p.across, j, k, start + first + (size_t)s * p.across);
      return;
    }
    for (size_t i = first; i < n0 && i < first + p.each * p.across; i += p.across) body(i, j, k, start + i);
  });
}

/* Calls body(c) for every c < n. */
template <class Body> static __device__ __forceinline__ void gmg_for_all(size_t n, Body body)
{
  for (size_t c = (size_t)blockIdx.x * blockDim.x + threadIdx.x; c < n; c += (size_t)gridDim.x * blockDim.x) body(c);
}

static __device__ __forceinline__ gmg_total gmg_plus(gmg_total a, gmg_total b)
{
  return {a.first + b.first, a.second + b.second, a.least < b.least ? a.least : b.least, a.most > b.most ? a.most : b.most};
}

/* The sum over `lanes` adjacent lanes of a warp, in all of them. */
template <unsigned lanes, class Number> static __device__ __forceinline__ Number gmg_lanes_sum(Number x)
{
#pragma unroll
  for (int d = lanes / 2; d > 0; d /= 2) x += __shfl_xor_sync(~0u, x, d);
  return x;
}

/* The total over `lanes` adjacent lanes, in all of them. extremes: as in gmg_grid_total() */
template <unsigned lanes, int extremes> static __device__ __forceinline__ gmg_total gmg_lanes_total(gmg_total x)
{
  x.first = gmg_lanes_sum<lanes>(x.first), x.second = gmg_lanes_sum<lanes>(x.second);
#pragma unroll
  for (int d = lanes / 2; extremes && d > 0; d /= 2) {
    const double least = __shfl_xor_sync(~0u, x.least, d), most = __shfl_xor_sync(~0u, x.most, d);
    x.least = least < x.least ? least : x.least, x.most = most > x.most ? most : x.most;
  }
  return x;
}

/* The total over a block of GMG_THREADS threads. Only the first warp gets it. */
template <int extremes> static __device__ __forceinline__ gmg_total gmg_block_total(gmg_total x)
{
  enum { WARPS = GMG_THREADS / 32 };
  __shared__ double2 sums[WARPS], ends[WARPS];
  const unsigned me = threadIdx.y * blockDim.x + threadIdx.x;
  x = gmg_lanes_total<32, extremes>(x);
  if (me % 32 == 0) {
    sums[me / 32] = double2{x.first, x.second};
    if (extremes) ends[me / 32] = double2{x.least, x.most};
  }
  __syncthreads();
  if (me >= 32) return x;
  x.first = sums[me % WARPS].x, x.second = sums[me % WARPS].y;
  if (extremes) x.least = ends[me % WARPS].x, x.most = ends[me % WARPS].y;
  return gmg_lanes_total<WARPS, extremes>(x);
}

/* What the sum over this device's unknowns becomes before anything is computed from it: the sum over the devices of all processes,
   in their order (core/comm.h). Called by the first thread of the last thread block, so a device can wait for the others here. With
   one process the sum stays as it is. */
static __device__ __noinline__ gmg_total gmg_total_over_devices(gmg_total mine, gmg_board *b)
{
  const unsigned long long round = b->rounds + 1;
  const int half = (int)(round % 2) * b->ranks;
  for (int r = 0; r < b->ranks; r++) {
    gmg_notice *to = b->of[r] + half + b->rank;
    to->sum = mine;
    gmg_store_release_system(&to->round, round);
  }
  gmg_total sum = {};
  for (int r = 0; r < b->ranks; r++) {
    const gmg_notice *from = b->of[b->rank] + half + r;
    gmg_wait_for_counter(&from->round, round, b->silent);
    gmg_wait_for_slow_link(b->slow, r);
    const volatile gmg_total *there = &from->sum;
    const gmg_total theirs = {there->first, there->second, there->least, there->most};
    sum = r ? gmg_plus(sum, theirs) : theirs;
  }
  b->rounds = round;
  return sum;
}

/* The total over all threads of the grid and, in several processes, over their devices. The last thread block to arrive adds the
   parts in a fixed order, so the result depends only on the launch. Returns 1 in the thread that holds it, in x, too. Without
   `extremes` the least and the most stay those of that thread. Sums of four numbers, and two fences in place of the atomic that
   acquires and releases, would take 1 us more over 256 thread blocks (H100, 4.1 instead of 3.1 us). */
template <int extremes = 0> static __device__ inline int gmg_grid_total(gmg_total &x, const gmg_sum_target &sums)
{
  __shared__ int last;
  const unsigned me = threadIdx.y * blockDim.x + threadIdx.x;
  x = gmg_block_total<extremes>(x);
  if (me == 0) {
    double2 *const part = (double2 *)(sums.part + blockIdx.x);
    __stcg(part, double2{x.first, x.second});
    if (extremes) __stcg(part + 1, double2{x.least, x.most});
    last = gmg_arrive(&sums.arrivals->count) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return 0;
  x.first = x.second = 0;
  for (unsigned b = me; b < gridDim.x; b += GMG_THREADS) {
    const double2 *const part = (const double2 *)(sums.part + b);
    const double2 both = __ldcg(part), ends = extremes ? __ldcg(part + 1) : double2{x.least, x.most};
    x = gmg_plus(x, {both.x, both.y, ends.x, ends.y});
  }
  x = gmg_block_total<extremes>(x);
  if (me == 0) {
    gmg_board *const board = sums.arrivals->board;
    if (board) x = gmg_total_over_devices(x, board);
    *sums.to = x, sums.arrivals->count = 0;
  }
  return me == 0;
}

#endif

void gmg_recorder_end(gmg_device *d); /* cuda/graph.cu */
void gmg_profiler_begin(gmg_device *d); /* cuda/trace.cu */
void gmg_profiler_end(gmg_device *d);

/* The last sum that was sent to the host. Blocks. NaN after a failure of the device. */
gmg_total gmg_cuda_total(const gmg_exec *e, const char *where);

#endif
