/* Small things that every room shares, compiled by C and CUDA alike. Calls nothing. */
#ifndef GMG_CORE_TYPES_H
#define GMG_CORE_TYPES_H

/* A function of a header that host and device share. */
#ifdef __CUDACC__
#define GMG_INLINE static __host__ __device__ __forceinline__
#else
#define GMG_INLINE static inline __attribute__((always_inline))
#endif

/* What stands in u where a sweep, a leg of a cycle or a solve begins. GMG_FROM_ZERO: u is taken as 0 and not read. */
typedef enum { GMG_FROM_CURRENT, GMG_FROM_ZERO } gmg_start;

/* isfinite() is not the same thing in C and in CUDA. */
GMG_INLINE int gmg_is_number(double x) { return x - x == 0; }

#endif
