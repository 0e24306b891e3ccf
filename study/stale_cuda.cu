/* See stale.h: asynchronous Jacobi by thread blocks of a device. A thread block relaxes a block of unknowns. Values and counters
 * that thread blocks share bypass the first cache (__ldcg, __stcg), and a fence follows the writes, as in the paper. One thread
 * reads the counters before the values, and raises its own after them, so a value is at most as old as its recorded age. Ages are
 * stored after the block's own work. */
#include <cuda_runtime.h>
#include <limits.h>

#include "stale.h"

/* THREADS of a thread block, as in the paper. MOST_UNKNOWNS for each thread. RESIDENT thread blocks fit on a multiprocessor, for
   16-fold oversubscription. */
enum { THREADS = 128, MOST_UNKNOWNS = 8, RESIDENT = 16 };

/* The place of unknown number t of a block. */
__device__ static unsigned place_in(const stale_blocks *s, const stale_place *p, unsigned t)
{
  const unsigned n0 = (unsigned)p->size[0], n1 = (unsigned)p->size[1], line = t / n0, plane = line / n1;
  return (unsigned)p->first + t - line * n0 + (line - plane * n1) * (unsigned)s->stride[1] + plane * (unsigned)s->stride[2];
}

/* The new value of the unknown at `at`. */
__device__ static double relaxed(const stale_blocks *s, const double *x, unsigned at)
{
  const unsigned row = (unsigned)s->stride[1], plane = (unsigned)s->stride[2];
  double sum = __ldcg(x + at - 1) + __ldcg(x + at + 1) + __ldcg(x + at - row) + __ldcg(x + at + row);
  if (s->dim == 3) sum += __ldcg(x + at - plane) + __ldcg(x + at + plane);
  return s->b[at] + 1.0 / (2 * s->dim) * sum;
}

/* Pass p (1, 2, ...) of a block, by all threads of the thread block. */
__device__ static void relax_block(const stale_blocks *s, size_t block, int pass)
{
  __shared__ double value[THREADS * MOST_UNKNOWNS];
  __shared__ unsigned at[THREADS * MOST_UNKNOWNS];
  const int sync = s->assignment == STALE_SYNC, from = sync ? (pass + 1) % 2 : 0, to = sync ? pass % 2 : 0;
  const stale_place p = stale_place_of(s, block);
  const unsigned cells = (unsigned)(p.size[0] * p.size[1] * p.size[2]);
  const int counts = s->from < s->to, row = stale_row(s, pass), records = row >= 0, side = (int)threadIdx.x;
  int other = -1;
  unsigned seen = 0;
  if (records && side < stale_sides(s)) {
    other = stale_behind(s, block, side);
    if (other >= 0) seen = __ldcg(&s->done[from][other]);
    __threadfence(); /* counters are read before the values */
  }
  if (records) __syncthreads();
  for (unsigned t = threadIdx.x; t < cells; t += THREADS) {
    at[t] = place_in(s, &p, t);
    value[t] = relaxed(s, s->x[from], at[t]);
  }
  __syncthreads(); /* the block still reads its own values from before the pass */
  for (unsigned t = threadIdx.x; t < cells; t += THREADS) __stcg(s->x[to] + at[t], value[t]);
  __threadfence();
  __syncthreads(); /* all values of the block are written, so its counter may be raised */
  if (threadIdx.x == 0 && counts && sync) __stcg(&s->done[to][block], (unsigned)pass);
  if (threadIdx.x == 0 && counts && !sync) atomicAdd(&s->done[to][block], 1u);
  __syncthreads(); /* the counter is raised before a thread of this thread block reads it */
  if (other >= 0)
    s->age[((size_t)row * s->total + block) * STALE_SIDES + side] = pass - (int)seen;
}

/* A pass of Algorithm 1. The end of the kernel is its barrier. */
static __global__ void __launch_bounds__(THREADS, RESIDENT)
pass_sync(const __grid_constant__ stale_blocks s, int pass)
{
  relax_block(&s, (size_t)s.order[blockIdx.x], pass);
}

/* Algorithm 2: all passes of a block. Thread blocks that do not fit on the device wait until another one has ended. */
static __global__ void __launch_bounds__(THREADS, RESIDENT)
passes_static(const __grid_constant__ stale_blocks s, int before, int passes)
{
  for (int p = 1; p <= passes; p++) relax_block(&s, (size_t)s.order[blockIdx.x], before + p);
}

/* Algorithm 3, with a thread block for every worker. */
static __global__ void __launch_bounds__(THREADS, RESIDENT)
passes_stride(const __grid_constant__ stale_blocks s, int before, int passes)
{
  for (size_t t = blockIdx.x; t < (size_t)passes * s.total; t += gridDim.x)
    relax_block(&s, (size_t)s.order[t % s.total], before + 1 + (int)(t / s.total));
}

static __global__ void __launch_bounds__(THREADS, RESIDENT)
passes_ticket(const __grid_constant__ stale_blocks s, int before, int passes, unsigned long long *next)
{
  __shared__ unsigned long long ticket;
  for (;;) {
    if (threadIdx.x == 0) ticket = atomicAdd(next, 1ull);
    __syncthreads();
    const size_t t = ticket;
    __syncthreads();
    if (t >= (size_t)passes * s.total) return;
    relax_block(&s, (size_t)s.order[t % s.total], before + 1 + (int)(t / s.total));
  }
}

/* Copies of the host's arrays. drop() frees them, also if only some exist. */
typedef struct on_device {
  stale_blocks s;
  unsigned long long *next;
} on_device;

static int copied(void *to, const void *from, size_t bytes)
{
  void **place = (void **)to;
  *place = NULL;
  return bytes == 0 || (cudaMalloc(place, bytes) == cudaSuccess && cudaMemcpy(*place, from, bytes, cudaMemcpyHostToDevice) == cudaSuccess);
}

/* The index of the array with the values after `passes` passes. */
static int current(const stale_blocks *s, int passes) { return s->assignment == STALE_SYNC ? passes % 2 : 0; }

static int take(on_device *d, const stale_blocks *h, size_t padded, size_t ages, int before)
{
  const unsigned long long zero = 0;
  const size_t bytes = padded * sizeof(double);
  const int now = current(h, before);
  d->s = *h, d->next = NULL;
  int done = copied(&d->s.order, h->order, h->total * sizeof(int)) & copied(&d->s.behind, h->behind, h->total * STALE_SIDES * sizeof(int)) &
             copied(&d->s.b, h->b, bytes) & copied(&d->s.age, h->age, ages * sizeof(int)) & copied(&d->next, &zero, sizeof zero);
  for (int i = 0; i < 2; i++) {
    d->s.x[i] = NULL;
    done &= cudaMalloc((void **)&d->s.x[i], bytes) == cudaSuccess && cudaMemset(d->s.x[i], 0, bytes) == cudaSuccess;
    done &= copied(&d->s.done[i], h->done[i], h->total * sizeof(unsigned));
  }
  return done && (before == 0 || cudaMemcpy(d->s.x[now], h->x[now], bytes, cudaMemcpyHostToDevice) == cudaSuccess);
}

static int give(const on_device *d, const stale_blocks *h, size_t padded, size_t ages, int passes)
{
  const int now = current(h, passes);
  int done = ages == 0 || cudaMemcpy(h->age, d->s.age, ages * sizeof(int), cudaMemcpyDeviceToHost) == cudaSuccess;
  done &= cudaMemcpy(h->x[now], d->s.x[now], padded * sizeof(double), cudaMemcpyDeviceToHost) == cudaSuccess;
  for (int i = 0; i < 2; i++)
    done &= cudaMemcpy(h->done[i], d->s.done[i], h->total * sizeof(unsigned), cudaMemcpyDeviceToHost) == cudaSuccess;
  return done;
}

static void drop(on_device *d)
{
  cudaFree((void *)d->s.order), cudaFree((void *)d->s.behind), cudaFree((void *)d->s.b), cudaFree(d->s.age), cudaFree(d->next);
  for (int i = 0; i < 2; i++) cudaFree(d->s.x[i]), cudaFree(d->s.done[i]);
}

static void launch(const on_device *d, int before, int passes)
{
  const unsigned all = (unsigned)d->s.total, workers = (unsigned)d->s.workers;
  switch (d->s.assignment) {
    case STALE_SYNC:
      for (int p = 1; p <= passes; p++) pass_sync<<<all, THREADS>>>(d->s, before + p);
      break;
    case STALE_STATIC: passes_static<<<all, THREADS>>>(d->s, before, passes); break;
    case STALE_STRIDE: passes_stride<<<workers, THREADS>>>(d->s, before, passes); break;
    default: passes_ticket<<<workers, THREADS>>>(d->s, before, passes, d->next);
  }
}

/* The seconds are those of the stream, without the copies. */
static int timed(const on_device *d, int before, int passes, double *seconds)
{
  cudaEvent_t event[2] = {NULL, NULL};
  float milliseconds = 0;
  int done = cudaEventCreate(&event[0]) == cudaSuccess && cudaEventCreate(&event[1]) == cudaSuccess;
  if (done) {
    cudaEventRecord(event[0]);
    launch(d, before, passes);
    done = cudaGetLastError() == cudaSuccess && cudaEventRecord(event[1]) == cudaSuccess &&
           cudaEventSynchronize(event[1]) == cudaSuccess && cudaEventElapsedTime(&milliseconds, event[0], event[1]) == cudaSuccess;
  }
  for (int i = 0; i < 2; i++)
    if (event[i]) cudaEventDestroy(event[i]);
  *seconds = 1e-3 * milliseconds;
  return done;
}

int study_stale_cuda_run(const stale_blocks *on_host, size_t padded, size_t ages, int before, int passes, double *seconds)
{
  on_device d;
  if (on_host->shape[0] * on_host->shape[1] * on_host->shape[2] > THREADS * MOST_UNKNOWNS || padded > UINT_MAX) return 0;
  const int done = take(&d, on_host, padded, ages, before) && timed(&d, before, passes, seconds) &&
                   give(&d, on_host, padded, ages, before + passes);
  drop(&d);
  return done;
}

int study_stale_cuda_units(void)
{
  int device = 0, units = 0;
  if (cudaGetDevice(&device) != cudaSuccess) return 1;
  return cudaDeviceGetAttribute(&units, cudaDevAttrMultiProcessorCount, device) == cudaSuccess && units > 0 ? units : 1;
}
