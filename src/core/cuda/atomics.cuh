/* Values that thread blocks of one launch share without waiting for each other: one reads what another may be writing. By relaxed
   atomics at device scope such a read is no undefined race, is never torn within a number, and sees what the second cache has,
   which all multiprocessors share. Pairs and fours of numbers go in one instruction; each number is an atomic of its own. */
#ifndef GMG_CORE_CUDA_ATOMICS_H
#define GMG_CORE_CUDA_ATOMICS_H

#ifdef __CUDACC__

/* Of a type, and of pairs of it; suffix: what PTX calls the type; letter: its register in asm. */
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

#endif
#endif
