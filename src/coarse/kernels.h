/* The table of a backend's kernels for the bottom of a cycle. Private to coarse: filled by cuda/cg_block.cu, or in registry.c
   for the host; used by cg.c, dense.c, tensor/ and registry.c. */
#ifndef GMG_COARSE_KERNELS_H
#define GMG_COARSE_KERNELS_H

#include "bottom.h"

struct gmg_tensor_ops; /* tensor/tensor.h */

/* NULL: the backend has no such kernel, and coarse works without it. */
typedef struct gmg_coarse_kernels {
  /* The conjugate gradients of cg.c in one launch, or the inverse of a tiny matrix. Returns 0 if it did nothing. r: right-hand
     side, then residual; p, q: work space. */
  int (*cg)(const gmg_exec *e, const gmg_bottom_problem *problem, void *inverse, void *r, void *u, void *p, void *q);
  size_t (*inverse_bytes)(const gmg_operator *A); /* bytes of that inverse; 0: none for a grid of this size */
  void (*invert)(const gmg_exec *e, const gmg_bottom_problem *problem, void *inverse);
  /* y = m x, where m is a matrix of n x n doubles in exec's memory */
  void (*product)(const gmg_exec *e, size_t n, const void *m, const void *x, void *y);
  /* m = m^-1 diag(w) for a symmetric positive definite m of n x n doubles, where w has n doubles. All are in exec's memory, `work`
     has invert_work(n) bytes. Only enqueues. */
  void (*invert_dense)(const gmg_exec *e, size_t n, const void *w, void *work, void *m);
  size_t (*invert_work)(size_t n);
  const gmg_bottom_ops *fused_levels;
  const struct gmg_tensor_ops *tensor; /* the direct solver for separable problems */
} gmg_coarse_kernels;

const gmg_coarse_kernels *gmg_coarse_kernels_of(const gmg_exec *e);

extern const gmg_bottom_ops gmg_coarsest_cg, gmg_coarsest_cholesky, gmg_coarsest_tensor;

#endif
