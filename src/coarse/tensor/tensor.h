/* The data of the direct solver for separable problems (tensor.c), prepared at create, and the kernels of a backend. Private to
   coarse. Compiled as C and as CUDA. */
#ifndef GMG_COARSE_TENSOR_H
#define GMG_COARSE_TENSOR_H

#include "coarse/bottom.h"

/* Matrices with GMG_PANEL columns, one after the other: entry (row, column) of a matrix with `rows` rows is at
   [column / GMG_PANEL][row][column % GMG_PANEL]. The last panel is filled up with zeros. */
enum { GMG_PANEL = 16, GMG_MAX_TRANSFORMED = 3 };

/* Some modes of an axis, of which the first `half` entries are enough: all modes, with half = n, or the even or the odd modes of a
   symmetric axis. `to` gives the coefficients of the modes, `from` the values of the modes. All are reals in exec's memory. */
typedef struct gmg_mode_block {
  size_t first, count; /* these modes of the axis; count is also the number of entries */
  const void *to;      /* axes in panels: panels of [entry][mode]; others: [mode][entry] */
  const void *from;    /* axes in panels: panels of [mode][entry]; others: [entry][mode] */
} gmg_mode_block;

/* An axis that is transformed to its modes. */
typedef struct gmg_tensor_axis {
  size_t n;
  int blocks; /* 1, or 2 if the axis is symmetric: even modes, then odd ones */
  gmg_mode_block block[2];
  const void *value; /* [n] eigenvalues, reals in exec's memory */
} gmg_tensor_axis;

/* A separable problem. Axes with a single unknown are left out: their walls are in `shift`. All others are transformed, or all but
   the last one. Along this one every mode is then a tridiagonal system, with rows diag + shift + eigenvalues. */
typedef struct gmg_tensor {
  int transformed; /* number of transformed axes */
  gmg_tensor_axis axis[GMG_MAX_TRANSFORMED];
  int has_systems;             /* the last axis is not transformed */
  size_t n;                    /* unknowns along it; 1 if there are no systems */
  const void *lo, *hi, *diag;  /* [n] reals in exec's memory */
  int wraps;                   /* this axis is periodic */
  double shift;
  int singular; /* the constant mode is undetermined: the last unknown of its system is set to 0, or its coefficient */
  void *work;   /* in exec's memory */
} gmg_tensor;

/* Kernels of a backend and a real type. */
typedef struct gmg_tensor_ops {
  size_t most_transformed[4]; /* [number of axes] a last axis of at most so many unknowns is transformed, too */
  int axes_in_panels;      /* the modes of the first axes, so many, are in panels */
  size_t (*prepare)(const gmg_exec *e, const gmg_tensor *t); /* called once, at setup. Returns the bytes of the work space */
  /* Solves A u = f. f and u are packed, and f is not changed. Only enqueues on a device. */
  void (*solve)(const gmg_exec *e, const gmg_tensor *t, const void *f, void *u);
} gmg_tensor_ops;

extern const gmg_tensor_ops gmg_tensor_solver_host_f32, gmg_tensor_solver_host_f64;

#endif
