/* Definitions that every module shares. Compiled as C and as CUDA. Calls nothing. */
#ifndef GMG_CORE_TYPES_H
#define GMG_CORE_TYPES_H

/* A function in a header that host and device share. GMG_UNROLL_ON_HOST writes out a loop over the
   entries of a row: gcc unrolls at most 16 steps by itself. nvcc decides for itself. */
#ifdef __CUDACC__
#define GMG_INLINE static __host__ __device__ __forceinline__
#define GMG_UNROLL_ON_HOST
#else
#define GMG_INLINE static inline __attribute__((always_inline))
#define GMG_UNROLL_ON_HOST _Pragma("GCC unroll 27")
#endif

/* The initial u of a sweep, a leg or a solve. GMG_FROM_ZERO: u counts as 0 and is not read. */
typedef enum { GMG_FROM_CURRENT, GMG_FROM_ZERO } gmg_start;

/* Not isfinite(), which differs between C and CUDA. */
GMG_INLINE int gmg_is_finite(double x) { return x - x == 0; }

#endif
