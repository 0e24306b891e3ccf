/* The types of a kernel file. `real` is the type of coefficients: of the operator, of weights and of transfer maps. `scalar` is the
   type of field values: of u, f, r, and of all that depends linearly on them. Kernel sources are compiled twice, with
   GMG_REAL_F32 = 1 and 0. R(name) gives each copy its own symbol. Included by kernel files only. */
#ifndef GMG_REAL_H
#define GMG_REAL_H

#include "types.h"

#ifndef GMG_REAL_F32
#error "kernel files are compiled once per real type, with GMG_REAL_F32 set to 0 or 1"
#endif

#if GMG_REAL_F32
typedef float real;
#define R(name) name##_f32
#else
typedef double real;
#define R(name) name##_f64
#endif

typedef real scalar;
typedef float low_scalar; /* type of low-precision corrections (mixed precision) */

#endif
