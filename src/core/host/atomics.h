/* Loads and stores of values that host threads share without synchronising. Relaxed atomics make such races well defined, and
   reals are never torn. Calls nothing; used by kernel files of smoothers. */
#ifndef GMG_CORE_HOST_ATOMICS_H
#define GMG_CORE_HOST_ATOMICS_H

#include "core/real.h"

static inline real gmg_load_real(const real *p)
{
  real v;
  __atomic_load(p, &v, __ATOMIC_RELAXED);
  return v;
}

static inline void gmg_store_real(real *p, real v) { __atomic_store(p, &v, __ATOMIC_RELAXED); }

#if !GMG_SCALAR_COMPLEX
static inline scalar gmg_load(const scalar *p) { return gmg_load_real(p); }
static inline void gmg_store(scalar *p, scalar v) { gmg_store_real(p, v); }
#else /* the parts are separate values: few processors have fast atomics of 16 bytes */
static inline scalar gmg_load(const scalar *p) { return gmg_load_real((const real *)p) + gmg_load_real((const real *)p + 1) * I; }

static inline void gmg_store(scalar *p, scalar v)
{
  gmg_store_real((real *)p, (real)creal(v));
  gmg_store_real((real *)p + 1, (real)cimag(v));
}
#endif

#endif
