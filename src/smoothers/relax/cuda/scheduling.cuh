/* Dynamic assignment: a resident thread block that has finished a block of unknowns takes the next one (Tsai, Nayak, Chow, Anzt
   2022, Algorithm 3). So as many blocks are in flight as there are thread blocks (Chow, Anzt, Dongarra 2015, Section 3.5). Included
   by the kernels of the asynchronous smoother. */
#ifndef GMG_SMOOTHERS_RELAX_CUDA_SCHEDULING_H
#define GMG_SMOOTHERS_RELAX_CUDA_SCHEDULING_H

/* The queue. Blocks of unknowns are numbered through all passes. `next` is the first number that is not taken; it must be 0 before
   the launch. */
typedef struct {
  unsigned long long *next, all;
  unsigned blocks; /* blocks of one pass */
} work_queue;

enum { QUEUE_BYTES = 16 }; /* shared memory in addition to what the kernel requests */

/* Calls body(b) for every block b of unknowns of this thread block: blockIdx.x (blockIdx.y is the pass), or those taken from the
   queue. */
template <int dynamic, class Body> static __device__ __forceinline__ void for_blocks(const work_queue &queue, Body body)
{
  if constexpr (!dynamic) body(blockIdx.x);
  else {
    __shared__ unsigned long long taken;
    const int first = threadIdx.x + threadIdx.y + threadIdx.z == 0;
    for (;;) {
      if (first) taken = atomicAdd(queue.next, 1ull);
      __syncthreads();
      const unsigned long long number = taken;
      if (number >= queue.all) return;
      body((unsigned)(number % queue.blocks));
      __syncthreads(); /* `taken` and the body's shared memory are reused */
    }
  }
}

#endif
