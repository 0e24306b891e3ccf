/* How small functions are declared in headers that C and CUDA compilers share. Calls nothing; included by such headers of all rooms. */
#ifndef GMG_CORE_INLINE_H
#define GMG_CORE_INLINE_H

#ifdef __CUDACC__
#define GMG_INLINE static __host__ __device__ __forceinline__
#else
#define GMG_INLINE static inline __attribute__((always_inline))
#endif

#endif
