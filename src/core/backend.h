/* A backend is one struct of tables, filled in one file: host_backend.c, cuda/backend.cu. exec looks it up once, by the context's
   backend. A smoother brings its own functions for each backend (smoothers/NAME/NAME.c). Calls nothing; called by exec, and by
   every module that has a table in it. */
#ifndef GMG_CORE_BACKEND_H
#define GMG_CORE_BACKEND_H

#include "exec.h"

struct gmg_stencil_ops;    /* stencil/stencil.h */
struct gmg_coarse_kernels; /* coarse/kernels.h */

/* Tables by real type have an entry for each gmg_type. */
struct gmg_backend_tables {
  const gmg_memory_ops *memory;
  const gmg_trace_ops *trace;
  const gmg_graph_ops *graph; /* NULL: recorded work is not replayed */
  const gmg_vector_ops *vector[2];
  const struct gmg_stencil_ops *stencil[2];
  const struct gmg_coarse_kernels *coarse[2];
};

extern const gmg_backend_tables gmg_host_backend;
extern const gmg_backend_tables gmg_cuda_backend; /* where the library is built with CUDA */

/* An entry of a table by backend: x where the library is built with CUDA, else NULL, and x need not exist. */
#ifdef GMG_CUDA
#define GMG_ON_CUDA(x) (x)
#else
#define GMG_ON_CUDA(x) NULL
#endif

#endif
