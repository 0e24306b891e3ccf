/* Dynamic assignment: thread blocks that stay take the next block of unknowns when they are done with one (Tsai, Nayak, Chow, Anzt
   2022, Algorithm 3), so that as many are in flight as there are thread blocks (Chow, Anzt, Dongarra 2015, Section 3.5).
   Included by the asynchronous smoother's kernels. */
#ifndef GMG_SMOOTHERS_RELAX_CUDA_SCHEDULING_H
#define GMG_SMOOTHERS_RELAX_CUDA_SCHEDULING_H

/* Blocks are numbered through all passes. `next`, 0 before the launch, is the number that nobody has yet. */
typedef struct {
  unsigned long long *next, all;
} tickets;

enum { TICKET_BYTES = 16 }; /* of shared memory, beyond what a kernel asks for */

/* body(number) for every number that this thread block gets. */
template <class Body> static __device__ __forceinline__ void for_tickets(const tickets &t, Body body)
{
  __shared__ unsigned long long ticket;
  const int first = threadIdx.x + threadIdx.y + threadIdx.z == 0;
  for (;;) {
    if (first) ticket = atomicAdd(t.next, 1ull);
    __syncthreads();
    const unsigned long long number = ticket;
    if (number >= t.all) return;
    body(number);
    __syncthreads(); /* the ticket and what the body has in shared memory are written again */
  }
}

#endif
