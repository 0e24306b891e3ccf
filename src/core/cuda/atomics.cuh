/* Values that thread blocks of one launch share without waiting for each other: one reads what another may be writing. By relaxed
   atomics at device scope such a read is no undefined race, is never torn within a number, and sees what the second cache has,
   which all multiprocessors share. Pairs and fours of numbers go in one instruction; each number is an atomic of its own. */
#ifndef GMG_CORE_CUDA_ATOMICS_H
#define GMG_CORE_CUDA_ATOMICS_H

#ifdef __CUDACC__

static __device__ __forceinline__ float gmg_load_relaxed(const float *p)
{
  float v;
  asm volatile("ld.relaxed.gpu.global.f32 %0, [%1];" : "=f"(v) : "l"(p));
  return v;
}

static __device__ __forceinline__ double gmg_load_relaxed(const double *p)
{
  double v;
  asm volatile("ld.relaxed.gpu.global.f64 %0, [%1];" : "=d"(v) : "l"(p));
  return v;
}

static __device__ __forceinline__ float2 gmg_load_relaxed(const float2 *p)
{
  float2 v;
  asm volatile("ld.relaxed.gpu.global.v2.f32 {%0, %1}, [%2];" : "=f"(v.x), "=f"(v.y) : "l"(p));
  return v;
}

static __device__ __forceinline__ double2 gmg_load_relaxed(const double2 *p)
{
  double2 v;
  asm volatile("ld.relaxed.gpu.global.v2.f64 {%0, %1}, [%2];" : "=d"(v.x), "=d"(v.y) : "l"(p));
  return v;
}

static __device__ __forceinline__ float4 gmg_load_relaxed(const float4 *p)
{
  float4 v;
  asm volatile("ld.relaxed.gpu.global.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "l"(p));
  return v;
}

static __device__ __forceinline__ void gmg_store_relaxed(float *p, float v)
{
  asm volatile("st.relaxed.gpu.global.f32 [%0], %1;" ::"l"(p), "f"(v) : "memory");
}

static __device__ __forceinline__ void gmg_store_relaxed(double *p, double v)
{
  asm volatile("st.relaxed.gpu.global.f64 [%0], %1;" ::"l"(p), "d"(v) : "memory");
}

static __device__ __forceinline__ void gmg_store_relaxed(float2 *p, float2 v)
{
  asm volatile("st.relaxed.gpu.global.v2.f32 [%0], {%1, %2};" ::"l"(p), "f"(v.x), "f"(v.y) : "memory");
}

static __device__ __forceinline__ void gmg_store_relaxed(double2 *p, double2 v)
{
  asm volatile("st.relaxed.gpu.global.v2.f64 [%0], {%1, %2};" ::"l"(p), "d"(v.x), "d"(v.y) : "memory");
}

static __device__ __forceinline__ void gmg_store_relaxed(float4 *p, float4 v)
{
  asm volatile("st.relaxed.gpu.global.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(p), "f"(v.x), "f"(v.y), "f"(v.z), "f"(v.w) : "memory");
}

#endif
#endif
