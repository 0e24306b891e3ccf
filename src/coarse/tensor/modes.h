/* Eigenvalues and eigenvectors of one axis, for the direct solver of separable problems (tensor.c). Host memory, double. Calls core
   and axis. */
#ifndef GMG_COARSE_TENSOR_MODES_H
#define GMG_COARSE_TENSOR_MODES_H

#include "stencil/grid/axis.h"

/* The modes of an axis: A v = value v, with v^T W v = 1, where W are the control volumes. Modes of different eigenvalues are
   orthogonal with respect to W. A symmetric axis has modes of two kinds: even ones, v[n - 1 - i] = v[i], and odd ones,
   v[n - 1 - i] = -v[i]. The even modes come first. */
typedef struct gmg_modes {
  size_t n;
  size_t even;     /* number of even modes: (n + 1) / 2; 0: the axis is not symmetric */
  double *value;   /* [n] */
  double *vector;  /* [n][n], a mode in each row */
} gmg_modes;

/* Fails with GMG_ERR_MEMORY, or with GMG_ERR_UNSUPPORTED if the iteration for the eigenvalues does not end. */
gmg_status gmg_modes_create(gmg_context *context, const gmg_axis *axis, gmg_modes *modes);
size_t gmg_modes_even(const gmg_axis *axis); /* gmg_modes::even, without computing modes */
void gmg_modes_destroy(gmg_modes *modes);

#endif
