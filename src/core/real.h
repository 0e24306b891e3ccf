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

/* a x + s and a x - s. A compiler may fuse the product with the sum. It may do so in another way for the last few unknowns of a
   line than for those that it computes as vectors, so a result would depend on where a line begins. On hosts the choice is made
   here. */
#if !GMG_SCALAR_COMPLEX && !defined __cplusplus && GMG_REAL_F32 && (defined __FP_FAST_FMAF || defined __FMA__)
#define GMG_FUSED(a, x, s) __builtin_fmaf(a, x, s)
#define GMG_FUSED_LESS(a, x, s) __builtin_fmaf(a, x, -(s))
#elif !GMG_SCALAR_COMPLEX && !defined __cplusplus && !GMG_REAL_F32 && (defined __FP_FAST_FMA || defined __FMA__)
#define GMG_FUSED(a, x, s) __builtin_fma(a, x, s)
#define GMG_FUSED_LESS(a, x, s) __builtin_fma(a, x, -(s))
#else
#define GMG_FUSED(a, x, s) ((a) * (x) + (s))
#define GMG_FUSED_LESS(a, x, s) ((a) * (x) - (s))
#endif

/* s + a x, a x - s, and a x + b y: of fields and, the last one, of coefficients. */
GMG_INLINE scalar gmg_add_product(scalar s, real a, scalar x) { return GMG_FUSED(a, x, s); }
GMG_INLINE scalar gmg_product_less(real a, scalar x, scalar s) { return GMG_FUSED_LESS(a, x, s); }
GMG_INLINE scalar gmg_two_products(real a, scalar x, real b, scalar y) { return GMG_FUSED(a, x, b * y); }
GMG_INLINE real gmg_two_weights(real a, real x, real b, real y) { return GMG_FUSED(a, x, b * y); }

#endif
