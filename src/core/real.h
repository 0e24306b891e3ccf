/* The types of a kernel file. `real` is the type of coefficients: of the operator, of weights and of transfer maps. `scalar` is the
   type of field values: of u, f, r, and of all that depends linearly on them. Kernel sources are compiled twice, with
   GMG_REAL_F32 = 1 and 0. R(name) gives each copy its own symbol. Included by kernel files only.

   In the library scalars are reals. With GMG_SCALAR_COMPLEX = 1 they are complex numbers of two reals, and symbols end in _c32 or
   _c64. As in _f32 and _f64 the number is the size of a real, not of a scalar. Only the tests compile kernel files this way. */
#ifndef GMG_REAL_H
#define GMG_REAL_H

#include "types.h"

#ifndef GMG_REAL_F32
#error "kernel files are compiled once per real type, with GMG_REAL_F32 set to 0 or 1"
#endif
#ifndef GMG_SCALAR_COMPLEX
#define GMG_SCALAR_COMPLEX 0
#endif

#if GMG_REAL_F32
typedef float real;
#else
typedef double real;
#endif

/* R(name): the name of this copy. low_scalar: scalars of low-precision corrections (mixed precision). wide_scalar: for sums. */
#if !GMG_SCALAR_COMPLEX && GMG_REAL_F32
#define R(name) name##_f32
#elif !GMG_SCALAR_COMPLEX
#define R(name) name##_f64
#elif GMG_REAL_F32
#define R(name) name##_c32
#else
#define R(name) name##_c64
#endif

#if !GMG_SCALAR_COMPLEX
typedef real scalar;
typedef float low_scalar;
typedef double wide_scalar;
#elif defined __cplusplus
#include "cuda/complex.cuh"
typedef gmg_complex<real> scalar;
typedef gmg_complex<float> low_scalar;
typedef gmg_complex<double> wide_scalar;
#else
#include <complex.h>
#if GMG_REAL_F32
typedef float _Complex scalar;
#else
typedef double _Complex scalar;
#endif
typedef float _Complex low_scalar;
typedef double _Complex wide_scalar;
#endif

/* The parts of a scalar; gmg_wide() is their inverse. The terms of a norm, |x|^2, and of an inner product,
   conj(x) y: a norm is real, an inner product is a scalar. */
#if !GMG_SCALAR_COMPLEX
GMG_INLINE wide_scalar gmg_wide(double re, double im) { return (void)im, re; }
GMG_INLINE double gmg_square(wide_scalar x) { return x * x; }
GMG_INLINE wide_scalar gmg_product(wide_scalar x, wide_scalar y) { return x * y; }
GMG_INLINE double gmg_real_part(wide_scalar x) { return x; }
GMG_INLINE double gmg_imaginary_part(wide_scalar x) { return (void)x, 0; }
GMG_INLINE real gmg_absolute(scalar x) { return x < 0 ? -x : x; }
#elif !defined __cplusplus
GMG_INLINE wide_scalar gmg_wide(double re, double im) { return re + im * I; }
GMG_INLINE double gmg_square(wide_scalar x) { return creal(x) * creal(x) + cimag(x) * cimag(x); }
GMG_INLINE wide_scalar gmg_product(wide_scalar x, wide_scalar y) { return conj(x) * y; }
GMG_INLINE double gmg_real_part(wide_scalar x) { return creal(x); }
GMG_INLINE double gmg_imaginary_part(wide_scalar x) { return cimag(x); }
GMG_INLINE real gmg_absolute(scalar x) { return (real)cabs(x); }
#endif

#endif
