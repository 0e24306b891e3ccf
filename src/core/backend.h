/* The tables of a backend. Each backend fills one struct, in one file: host_backend.c or cuda/backend.cu. exec looks it up once, by
   the backend of the context. Smoothers have their own functions for each backend (smoothers/NAME/NAME.c). Calls nothing; included
   by exec and by every module that has a table here. */
#ifndef GMG_CORE_BACKEND_H
#define GMG_CORE_BACKEND_H

#include "exec.h"

struct gmg_array_ops;      /* array.h */
struct gmg_grid_ops;       /* stencil/grid_ops.h */
struct gmg_coarse_kernels; /* coarse/kernels.h */

/* Arrays are indexed by gmg_type. */
struct gmg_backend_tables {
  const gmg_memory_ops *memory;
  const gmg_trace_ops *trace;
  const gmg_graph_ops *graph; /* NULL: no recording and replaying */
  const gmg_vector_ops *vector[2];
  const struct gmg_array_ops *array[2];
  const struct gmg_grid_ops *grid[2];
  const struct gmg_coarse_kernels *coarse[2];
  int has_exact_sums; /* gmg_exec::exact_sums may be set */
};

extern const gmg_backend_tables gmg_host_backend;
extern const gmg_backend_tables gmg_cuda_backend; /* only if the library is built with CUDA */

/* An entry of a table by backend: x if the library is built with CUDA, NULL otherwise. Without CUDA x need not exist. */
#ifdef GMG_CUDA
#define GMG_ON_CUDA(x) (x)
#else
#define GMG_ON_CUDA(x) NULL
#endif

#endif
