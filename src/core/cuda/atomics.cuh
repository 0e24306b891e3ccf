/* Loads and stores of values that thread blocks of one launch share without synchronising. Relaxed atomics at device scope make
   such races well defined: a number is never torn, and a load sees the L2 cache, which all multiprocessors share. Two or four
   numbers are moved by one instruction; each number is a separate atomic. Calls nothing; used by the kernels of smoothers. */
#ifndef GMG_CORE_CUDA_ATOMICS_H
#define GMG_CORE_CUDA_ATOMICS_H

#ifdef __CUDACC__

/* Overloads for a type and for pairs of it. suffix: the name of the type in PTX; letter: its register class in asm. */
#define GMG_RELAXED(type, suffix, letter)                                                                                     \
  static __device__ __forceinline__ type gmg_load_relaxed(const type *p)                                                      \
  {                                                                                                                           \
    type v;                                                                                                                   \
    asm volatile("ld.relaxed.gpu.global." suffix " %0, [%1];" : "=" letter(v) : "l"(p));                                      \
    return v;                                                                                                                 \
  }                                                                                                                           \
  static __device__ __forceinline__ type##2 gmg_load_relaxed(const type##2 *p)                                                \
  {                                                                                                                           \
    type##2 v;                                                                                                                \
    asm volatile("ld.relaxed.gpu.global.v2." suffix " {%0, %1}, [%2];" : "=" letter(v.x), "=" letter(v.y) : "l"(p));          \
    return v;                                                                                                                 \
  }                                                                                                                           \
  static __device__ __forceinline__ void gmg_store_relaxed(type *p, type v)                                                   \
  {                                                                                                                           \
    asm volatile("st.relaxed.gpu.global." suffix " [%0], %1;" ::"l"(p), letter(v) : "memory");                                \
  }                                                                                                                           \
  static __device__ __forceinline__ void gmg_store_relaxed(type##2 *p, type##2 v)                                             \
  {                                                                                                                           \
    asm volatile("st.relaxed.gpu.global.v2." suffix " [%0], {%1, %2};" ::"l"(p), letter(v.x), letter(v.y) : "memory");        \
  }

GMG_RELAXED(float, "f32", "f")
GMG_RELAXED(double, "f64", "d")
#undef GMG_RELAXED

static __device__ __forceinline__ float4 gmg_load_relaxed(const float4 *p)
{
  float4 v;
  asm volatile("ld.relaxed.gpu.global.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "l"(p));
  return v;
}

static __device__ __forceinline__ void gmg_store_relaxed(float4 *p, float4 v)
{
  asm volatile("st.relaxed.gpu.global.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(p), "f"(v.x), "f"(v.y), "f"(v.z), "f"(v.w) : "memory");
}

/* Adds 1, and returns the number before. What this thread has written, and what others have written to be seen by it, is visible to
   the threads that arrive later. */
static __device__ __forceinline__ unsigned gmg_arrive(unsigned *count)
{
  unsigned before;
  asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], 1;" : "=r"(before) : "l"(count) : "memory");
  return before;
}

/* --- between devices ---------------------------------------------------------------------------------------------------------

   A counter in memory that several devices see. Who reads a value that another has stored also sees all that the other wrote
   before. */

static __device__ __forceinline__ unsigned long long gmg_load_acquire_system(const unsigned long long *p)
{
  unsigned long long v;
  asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");
  return v;
}

static __device__ __forceinline__ void gmg_store_release_system(unsigned long long *p, unsigned long long v)
{
  asm volatile("st.release.sys.global.u64 [%0], %1;" ::"l"(p), "l"(v) : "memory");
}

static __device__ __forceinline__ unsigned long long gmg_nanoseconds(void)
{
  unsigned long long t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
  return t;
}

/* Waits until a counter has reached a value. Gives up after GMG_SILENCE seconds, and at once if somebody has given up before: the
   work on this device then ends, with wrong results, and *silent is 1. */
enum { GMG_SILENCE = 20 };
static __device__ inline void gmg_wait_for_counter(const unsigned long long *counter, unsigned long long value, int *silent)
{
  enum { MILLION = 1000000 }; /* a millisecond; *silent is in the host's memory, so it is not read before */
  const unsigned long long start = gmg_nanoseconds();
  while (gmg_load_acquire_system(counter) < value) {
    const unsigned long long waited = gmg_nanoseconds() - start;
    if (waited < MILLION) continue;
    if (*(volatile int *)silent) return;
    if (waited / MILLION > GMG_SILENCE * 1000) *(volatile int *)silent = 1;
  }
}

/* An experiment: messages from process `from` count as arrived `nanoseconds` after they were found. 0: at once. */
typedef struct gmg_slow_link {
  int from;
  unsigned nanoseconds;
} gmg_slow_link;

static __device__ inline void gmg_wait_for_slow_link(const gmg_slow_link &link, int from)
{
  const unsigned long long start = gmg_nanoseconds();
  while (from == link.from && gmg_nanoseconds() - start < link.nanoseconds) continue;
}

#endif
#endif
