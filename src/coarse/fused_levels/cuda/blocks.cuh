/* Communication between the blocks of a cluster that share the fused levels: barriers, and stores in the shared memory of others.
   Included by pairs.cuh. */
#ifndef GMG_COARSE_FUSED_LEVELS_CUDA_BLOCKS_H
#define GMG_COARSE_FUSED_LEVELS_CUDA_BLOCKS_H

#include "core/cuda/pdl.cuh"
#include "state.cuh"

#if __CUDA_ARCH__ >= 900 && CUDART_VERSION >= 12010
#define FUSED_ASYNC_STORES
#endif

/* Whether blocks share a level. shared: 1 if that is known. */
template <int shared> static __device__ __forceinline__ int is_shared(const small_level &L) { return shared || L.blocks > 1; }

/* A barrier of all blocks or, if they do not share the level, of this one. */
static __device__ __forceinline__ void cluster_sync(int shared)
{
#if __CUDA_ARCH__ >= 900
  if (shared) {
    asm volatile("barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;" ::: "memory");
    return;
  }
#endif
  __syncthreads();
}

/* The address in another block's shared memory that corresponds to `mine` in this one. */
template <class T> static __device__ __forceinline__ T *in_block(T *mine, int rank)
{
#if __CUDA_ARCH__ >= 900
  T *theirs;
  asm("mapa.u64 %0, %1, %2;" : "=l"(theirs) : "l"(mine), "r"(rank));
  return theirs;
#else
  return mine;
#endif
}

/* The address that in_block() returns, in 32 bits, for store_at() and send(). A store to it is cheaper than one through a
   pointer. */
static __device__ __forceinline__ unsigned address_in(const void *mine, int rank)
{
  unsigned theirs = (unsigned)__cvta_generic_to_shared(mine);
#if __CUDA_ARCH__ >= 900
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(theirs) : "r"(theirs), "r"(rank));
#endif
  return theirs;
}

static __device__ __forceinline__ void store_at(unsigned address, scalar value)
{
#if __CUDA_ARCH__ >= 900
  if (sizeof(scalar) == 8) asm volatile("st.shared::cluster.f64 [%0], %1;" ::"r"(address), "d"((double)value) : "memory");
  else asm volatile("st.shared::cluster.f32 [%0], %1;" ::"r"(address), "f"((float)value) : "memory");
#endif
}

/* A block waits only for its neighbours. A store informs the receiver's barrier of the number of bytes that have arrived, so no
   fence is needed (a fence takes as long as a sweep). Steps are counted, and alternate between two barriers. A neighbour is at most
   one step ahead, because it waits for the data that this block sends in a step. */
static __shared__ unsigned long long arrivals[2];

/* Rounds in which all blocks send to all. They have barriers of their own, because distant blocks may be several steps apart. A
   block is at most one round ahead of another. */
static __shared__ unsigned long long gathers[2];
static __shared__ unsigned rounds;

static __device__ __forceinline__ void prepare_arrivals()
{
#ifdef FUSED_ASYNC_STORES
  if (threadIdx.x > 0) return;
  for (int b = 0; b < 2; b++) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"((unsigned)__cvta_generic_to_shared(arrivals + b)) : "memory");
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"((unsigned)__cvta_generic_to_shared(gathers + b)) : "memory");
  }
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  rounds = 0;
#endif
}

/* Stores a value in another block. to: that block's barrier. */
static __device__ __forceinline__ void send_to(unsigned address, scalar value, unsigned to)
{
#ifdef FUSED_ASYNC_STORES
  if (sizeof(scalar) == 8)
    asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.f64 [%0], %1, [%2];" ::"r"(address),
                 "d"((double)value), "r"(to)
                 : "memory");
  else
    asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.f32 [%0], %1, [%2];" ::"r"(address), "f"((float)value),
                 "r"(to)
                 : "memory");
#else
  (void)to;
  store_at(address, value);
#endif
}

static __device__ __forceinline__ void send(unsigned address, scalar value, unsigned their_arrivals, unsigned step)
{
  send_to(address, value, their_arrivals + 8 * (step & 1));
}

/* Waits until the phase of a barrier has ended. */
static __device__ __forceinline__ void wait_for_phase(unsigned barrier, unsigned parity)
{
#ifdef FUSED_ASYNC_STORES
  unsigned done = 0;
  while (!done)
    asm volatile("{\n\t.reg .pred p;\n\tmbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2;\n\t"
                 "selp.u32 %0, 1, 0, p;\n\t}"
                 : "=r"(done)
                 : "r"(barrier), "r"(parity)
                 : "memory");
#endif
}

/* Says how many bytes the phase of a barrier receives. Called by one thread. */
static __device__ __forceinline__ void expect(unsigned barrier, unsigned bytes)
{
#ifdef FUSED_ASYNC_STORES
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
#endif
}

/* Ends a step in which this block receives `bytes`. */
static __device__ __forceinline__ void end_step(int shared, unsigned bytes, unsigned *step)
{
#ifdef FUSED_ASYNC_STORES
  if (shared) {
    const unsigned mine = (unsigned)__cvta_generic_to_shared(arrivals) + 8 * (*step & 1);
    if (threadIdx.x == 0) expect(mine, bytes);
    __syncthreads();
    wait_for_phase(mine, *step >> 1 & 1);
    ++*step;
    return;
  }
#endif
  cluster_sync(shared);
}

/* Sends `count` values, from number `begin` of a field on, to the same places in all `blocks`, and waits for the values that all of
   them send, `all` values. A warp sends to one block at a time, because scattered values take longer. Called by all blocks. */
static __device__ __forceinline__ void gather(int blocks, scalar *field, int begin, int count, int all)
{
  const int warps = THREADS / 32 / blocks, warp = (int)threadIdx.x / 32, block = warp / warps;
  const unsigned round = rounds, to = address_in(gathers + (round & 1), block);
  const unsigned mine = (unsigned)__cvta_generic_to_shared(gathers + (round & 1));
  __syncthreads();
#pragma unroll 1
  for (int i = warp % warps * 32 + (int)threadIdx.x % 32; i < count; i += warps * 32)
    send_to(address_in(field + begin + i, block), field[begin + i], to);
  if (threadIdx.x == 0) expect(mine, (unsigned)all * (unsigned)sizeof(scalar)), rounds = round + 1;
  wait_for_phase(mine, round >> 1 & 1);
#ifndef FUSED_ASYNC_STORES
  cluster_sync(1);
#endif
}

/* Keeps the compiler from loading x again at every use. */
static __device__ __forceinline__ int in_register(int x)
{
  asm("" : "+r"(x));
  return x;
}
static __device__ __forceinline__ float in_register(float x)
{
  asm("" : "+f"(x));
  return x;
}
static __device__ __forceinline__ double in_register(double x)
{
  asm("" : "+d"(x));
  return x;
}

#endif
