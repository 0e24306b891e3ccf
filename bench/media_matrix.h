/* The matrix of a medium for other solvers: cells, 5 or 7 points, rows times the volume of the cell, so that it is symmetric also on
 * stretched axes. Written from the formulas of docs/api/problem.md, not with code of gmg. Dirichlet walls only. */
#ifndef GMG_BENCH_MEDIA_MATRIX_H
#define GMG_BENCH_MEDIA_MATRIX_H

#include "gallery.h"

/* Of the cell at `at`: its volume, the diagonal, and the coupling (positive) to its neighbour below and above along each axis, 0 at
 * walls. */
typedef struct bench_media_row {
  double volume, diagonal, coupling[3][2];
} bench_media_row;

bench_media_row bench_media_row_of(const medium *m, const size_t at[3]);

#endif
