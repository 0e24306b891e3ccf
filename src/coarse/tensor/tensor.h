/* The data of the direct solver for separable problems (tensor.c), prepared at create, and the kernels of a backend. Private to
   coarse. Compiled as C and as CUDA. */
#ifndef GMG_COARSE_TENSOR_H
#define GMG_COARSE_TENSOR_H

#include "coarse/bottom.h"

/* Matrices with GMG_PANEL columns, one after the other: entry (row, column) of a matrix with `rows` rows is at
   [column / GMG_PANEL][row][column % GMG_PANEL]. The last panel is filled up with zeros. */
enum { GMG_PANEL = 16, GMG_MAX_TRANSFORMED = 3 };

/* Some modes of an axis: all of them or, if the axis is symmetric, the even or the odd ones. Of an even or odd mode the first half
   of its entries is stored, because the other half follows. The two matrices are reals in exec's memory. */
typedef struct gmg_mode_block {
  size_t first, count; /* modes first .. first + count - 1 of the axis; each has `count` stored entries */
  const void *forward; /* values to coefficients of the modes. Axes in panels: panels of [entry][mode]; others: [mode][entry] */
  const void *inverse; /* coefficients of the modes to values. Axes in panels: panels of [mode][entry]; others: [entry][mode] */
} gmg_mode_block;

/* An axis that is transformed to its modes. */
typedef struct gmg_tensor_axis {
  size_t n;
  int blocks; /* 1, or 2 if the axis is symmetric: even modes, then odd ones */
  gmg_mode_block block[2];
  const void *value; /* [n] eigenvalues, reals in exec's memory */
} gmg_tensor_axis;

/* A separable problem. Axes with a single unknown are left out: they add to the factors of the others. All others are transformed,
   or all but the last one. Along this one every mode is then a tridiagonal system. */
typedef struct gmg_tensor {
  int transformed; /* number of transformed axes */
  gmg_tensor_axis axis[GMG_MAX_TRANSFORMED];
  int has_systems;             /* the last axis is not transformed */
  size_t n;                    /* unknowns along it; 1 if there are no systems */
  const void *lo, *hi, *diag;  /* [n] reals in exec's memory */
  int wraps;                   /* this axis is periodic */
  double constant[4], slope[4]; /* how the eigenvalues of the other axes enter the operator along the last one (eigenvalues.h). The
                                   last one is that of the systems or, without systems, the last transformed axis */
  int singular; /* the constant mode is undetermined: the last unknown of its system is set to 0, or its coefficient */
  void *work;   /* in exec's memory */
} gmg_tensor;

/* Kernels of a backend and a real type. */
typedef struct gmg_tensor_ops {
  size_t most_transformed[4]; /* [number of axes with more than one unknown]: the last axis is transformed, too, if it has at
                                 most this number of unknowns */
  int axes_in_panels;         /* the modes of the first `axes_in_panels` axes are stored in panels */
  size_t (*prepare)(const gmg_exec *e, const gmg_tensor *t); /* called once, at setup. Returns the bytes of the work space */
  /* Solves A u = f. f and u are packed, and f is not changed. Only enqueues on a device. */
  void (*solve)(const gmg_exec *e, const gmg_tensor *t, const void *f, void *u);
} gmg_tensor_ops;

extern const gmg_tensor_ops gmg_tensor_solver_host_f32, gmg_tensor_solver_host_f64;

#endif
