/* Loads and stores of values that host threads share without synchronising. Relaxed atomics make such races well defined, and
   numbers are never torn. Calls nothing; used by kernel files of smoothers. */
#ifndef GMG_CORE_HOST_ATOMICS_H
#define GMG_CORE_HOST_ATOMICS_H

#include "core/real.h"

static inline scalar gmg_load(const scalar *p)
{
  scalar v;
  __atomic_load(p, &v, __ATOMIC_RELAXED);
  return v;
}

static inline void gmg_store(scalar *p, scalar v) { __atomic_store(p, &v, __ATOMIC_RELAXED); }

#endif
