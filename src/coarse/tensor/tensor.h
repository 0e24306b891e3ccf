/* The data of the direct solver for separable problems (tensor.c), prepared at create, and the kernels of a backend. Private to
   coarse. Compiled as C and as CUDA. */
#ifndef GMG_COARSE_TENSOR_H
#define GMG_COARSE_TENSOR_H

#include "coarse/bottom.h"

/* Matrices with GMG_PANEL columns, one after the other: entry (row, column) of a matrix with `rows` rows is at
   [column / GMG_PANEL][row][column % GMG_PANEL]. The last panel is filled up with zeros. */
enum { GMG_PANEL = 16, GMG_MAX_TRANSFORMED = 2 };

/* Some modes of an axis, of which the first `half` entries are enough: all modes, with half = n, or the even or the odd modes of a
   symmetric axis. `to` gives the coefficients of the modes, `from` the values of the modes. All are reals in exec's memory. */
typedef struct gmg_mode_block {
  size_t first, count; /* these modes of the axis; count is also the number of entries */
  const void *to;      /* axis 0: panels of [entry][mode]; axis 1: [mode][entry] */
  const void *from;    /* axis 0: panels of [mode][entry]; axis 1: [entry][mode] */
} gmg_mode_block;

/* An axis that is transformed to its modes. */
typedef struct gmg_tensor_axis {
  size_t n;
  int blocks; /* 1, or 2 if the axis is symmetric: even modes, then odd ones */
  gmg_mode_block block[2];
  const void *value; /* [n] eigenvalues, reals in exec's memory */
} gmg_tensor_axis;

/* A separable problem. Axes with a single unknown are left out: their walls are in `shift`. All others but the last are
   transformed. Along the last one every mode is a tridiagonal system, with rows diag + shift + eigenvalues. */
typedef struct gmg_tensor {
  int transformed; /* number of transformed axes */
  gmg_tensor_axis axis[GMG_MAX_TRANSFORMED];
  size_t n;                    /* unknowns along the last axis */
  const void *lo, *hi, *diag;  /* [n] reals in exec's memory */
  int wraps;                   /* the last axis is periodic */
  double shift;
  int singular; /* the system of the constant mode is singular: its last unknown is set to 0 */
  void *work;   /* in exec's memory */
} gmg_tensor;

/* Kernels of a backend and a real type. */
typedef struct gmg_tensor_ops {
  size_t (*work_bytes)(const gmg_exec *e, const gmg_tensor *t);
  /* Solves A u = f. f and u are packed, and f is not changed. Only enqueues on a device. */
  void (*solve)(const gmg_exec *e, const gmg_tensor *t, const void *f, void *u);
} gmg_tensor_ops;

extern const gmg_tensor_ops gmg_tensor_solver_host_f32, gmg_tensor_solver_host_f64;

#endif
