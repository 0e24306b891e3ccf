/* Which backends the library is built with. Calls nothing; called by every module that has a table by backend. */
#ifndef GMG_CORE_BACKEND_H
#define GMG_CORE_BACKEND_H

#include "gmg_smoother.h" /* gmg_backend */

/* An entry of such a table: x where the library is built with CUDA, else NULL, and x need not exist. */
#ifdef GMG_CUDA
#define GMG_ON_CUDA(x) (x)
#else
#define GMG_ON_CUDA(x) NULL
#endif

#endif
