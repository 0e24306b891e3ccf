/* Dynamic assignment: resident thread blocks take the next block of unknowns when they are done with one (Tsai, Nayak, Chow, Anzt
   2022, Algorithm 3), so that as many are in flight as there are thread blocks (Chow, Anzt, Dongarra 2015, Section 3.5). */
#ifndef GMG_SMOOTHERS_RELAX_CUDA_SCHEDULING_H
#define GMG_SMOOTHERS_RELAX_CUDA_SCHEDULING_H

/* Blocks of unknowns are numbered through all passes. `next`, 0 before the launch, is the first number that is not taken. */
typedef struct {
  unsigned long long *next, all;
  unsigned blocks; /* of a pass */
} work_queue;

enum { QUEUE_BYTES = 16 }; /* of shared memory, beyond what a kernel asks for */

/* body(b) for every block b of unknowns that this thread block takes: blockIdx.x (blockIdx.y is the pass), or from the queue. */
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
      __syncthreads(); /* `taken` and what the body has in shared memory are written again */
    }
  }
}

#endif
