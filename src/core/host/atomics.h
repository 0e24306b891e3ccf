/* Loads and stores of values that host threads share without synchronising. Relaxed atomics make such races well defined, and
   numbers are never torn. Calls nothing; used by kernel files of smoothers. */
#ifndef GMG_CORE_HOST_ATOMICS_H
#define GMG_CORE_HOST_ATOMICS_H

#include "core/real.h"

static inline real gmg_load(const real *p)
{
  real v;
  __atomic_load(p, &v, __ATOMIC_RELAXED);
  return v;
}

static inline void gmg_store(real *p, real v) { __atomic_store(p, &v, __ATOMIC_RELAXED); }

#endif
