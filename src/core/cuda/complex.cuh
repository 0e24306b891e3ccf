/* Complex numbers in CUDA files: a plain struct with the operators that kernels need. Included by real.h if scalars are complex.
   Calls types.h. */
#ifndef GMG_CORE_CUDA_COMPLEX_H
#define GMG_CORE_CUDA_COMPLEX_H

template <typename part> struct alignas(2 * sizeof(part)) gmg_complex {
  part re, im;

  gmg_complex() = default;
  __host__ __device__ __forceinline__ gmg_complex(part x, part y = 0) : re(x), im(y) {}
  template <typename other>
  __host__ __device__ __forceinline__ explicit gmg_complex(const gmg_complex<other> &x) : re((part)x.re), im((part)x.im)
  {
  }
  __host__ __device__ __forceinline__ void operator+=(gmg_complex x) { re += x.re, im += x.im; }
  __host__ __device__ __forceinline__ void operator-=(gmg_complex x) { re -= x.re, im -= x.im; }
};

template <typename part> GMG_INLINE gmg_complex<part> operator+(gmg_complex<part> x, gmg_complex<part> y)
{
  return {x.re + y.re, x.im + y.im};
}

template <typename part> GMG_INLINE gmg_complex<part> operator-(gmg_complex<part> x, gmg_complex<part> y)
{
  return {x.re - y.re, x.im - y.im};
}

template <typename part> GMG_INLINE gmg_complex<part> operator*(part a, gmg_complex<part> x) { return {a * x.re, a * x.im}; }

/* The functions on wide_scalar that real.h defines for reals. */
GMG_INLINE gmg_complex<double> gmg_wide(double re, double im) { return {re, im}; }
GMG_INLINE double gmg_square(gmg_complex<double> x) { return x.re * x.re + x.im * x.im; }
GMG_INLINE gmg_complex<double> gmg_product(gmg_complex<double> x, gmg_complex<double> y)
{
  return {x.re * y.re + x.im * y.im, x.re * y.im - x.im * y.re};
}
GMG_INLINE double gmg_real_part(gmg_complex<double> x) { return x.re; }
GMG_INLINE double gmg_imaginary_part(gmg_complex<double> x) { return x.im; }

#endif
