/* The kernels of tail_cuda.cu, which alone includes them: the small levels of a cycle in one launch, in shared memory.

   A level of some size is spread over the blocks of a cluster: each has a slab of its planes, and a copy of the plane beyond
   either end, into which the neighbour writes what it changes. Smaller levels every block does all by itself, so that nobody
   waits: a meeting of a cluster takes as long as a sweep there. A field is stored colour by colour, so a thread's neighbours read
   beside it; u has a layer of zeros around it along the axes that have neighbours, but for the first. */
#ifndef GMG_TAIL_CUDA_H
#define GMG_TAIL_CUDA_H

#include "tail_coarsest_cuda.cuh"
#include "tail_tables_cuda.cuh"

static __device__ __forceinline__ size_t global_place(const small_level &L, int i, pair_place at)
{
  return ((size_t)(begin_of(L) + at.k) * L.n[1] + at.j) * L.n[0] + i;
}

static __device__ __forceinline__ void begin_cycle(const tail_state &s, const small_level &L, int from_zero, real *tables,
                                                   unsigned *words, real *memory, unsigned *step)
{
  const unsigned quads = (unsigned)(s.bytes / sizeof(int4)), zeros = (unsigned)((s.r * sizeof(real) + 15) / sizeof(int4));
  if (threadIdx.x < (unsigned)s.levels) prepare_slab(s.level[threadIdx.x], slabs + threadIdx.x);
#pragma unroll 4
  for (unsigned c = threadIdx.x; c < quads; c += THREADS) ((int4 *)tables)[c] = ((const int4 *)s.tables)[c];
  const unsigned *const known = (const unsigned *)((const char *)s.tables + s.bytes) + blockIdx.x * s.pairs;
#pragma unroll 2
  for (unsigned c = threadIdx.x; c < s.pairs; c += THREADS) words[c] = known[c];
#pragma unroll 1
  for (unsigned c = threadIdx.x; c < zeros; c += THREADS) ((int4 *)memory)[c] = make_int4(0, 0, 0, 0);
  if (L.parts > 1) prepare_arrivals();
  meet(L.parts);
  each_unknown(L, begin_of(L), planes_of(L), [&](int colour, int i, pair_place at, int q) {
    memory[L.f + colour * L.inner + q] = L.global_f[global_place(L, i, at)];
    if (!from_zero) memory[L.u + colour * L.colour + entry_of(L, at)] = L.global_u[global_place(L, i, at)];
  });
  __syncthreads();
  if (from_zero) return;
  const own_pair own = take_up(L, tables, words, 0, memory);
  put(own, 0, *step), put(own, 1, *step);
  end_step(L.parts, slabs[L.number].come[0] + slabs[L.number].come[1], step);
}

/* cycle() of cycle.c without recursion. What every level is in the middle of: its kind of cycle, and whether the next coarser one
   is on its second visit. */
static __global__ void __launch_bounds__(THREADS, 1)
    tail_kernel(const __grid_constant__ tail_state s, int start, int cycle, int from_zero)
{
  extern __shared__ double shared[];
  real *const tables = (real *)shared, *const memory = (real *)((char *)shared + s.bytes + s.pairs * sizeof(unsigned));
  unsigned *const words = (unsigned *)((char *)shared + s.bytes);
  const int last = s.levels - 1;
  unsigned f_cycles = 0, w_cycles = 0, again = 0; /* a bit a level */
  unsigned step = 0;
  int l = start, now = cycle;
  begin_cycle(s, s.level[start], from_zero, tables, words, memory, &step);
  for (;;) {
    for (; l < last; l++) {
      const unsigned bit = 1u << l;
      go_down(s, l, tables, words, memory, &step);
      f_cycles = now == GMG_CYCLE_F ? f_cycles | bit : f_cycles & ~bit;
      w_cycles = now == GMG_CYCLE_W ? w_cycles | bit : w_cycles & ~bit;
      again &= ~bit;
    }
    solve_coarsest(s, s.level[last], tables, memory);
    int down = 0;
    while (l > start && !down) {
      const unsigned bit = 1u << (l - 1);
      if (((f_cycles | w_cycles) & bit) && !(again & bit) && l < last) {
        again |= bit, now = w_cycles & bit ? GMG_CYCLE_W : GMG_CYCLE_V, down = 1;
        break;
      }
      l--;
      go_up(s, l, tables, words, memory, &step);
    }
    if (!down) break;
  }
  const small_level &first = s.level[start];
  each_unknown(first, begin_of(first), planes_of(first), [&](int colour, int i, pair_place at, int) {
    first.global_u[global_place(first, i, at)] = memory[first.u + colour * first.colour + entry_of(first, at)];
  });
}

#endif
