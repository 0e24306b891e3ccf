/* A dense reference, written from the definition of the discretisation, independently of the library, with all coefficients and
   stretched axes: the matrix, and f with the boundary values folded in. */
#ifndef GMG_TEST_REFERENCE_H
#define GMG_TEST_REFERENCE_H

#include "util.h"

double *dense_matrix(const gmg_problem *p); /* [N][N], to be freed */
double *dense_rhs(const gmg_problem *p, const double *f, double *const g[3][2]); /* g: faces or NULL; to be freed */
double axis_position(const gmg_problem *p, int axis, size_t i);
double axis_volume(const gmg_problem *p, int axis, size_t i);
double cell_volume(const gmg_problem *p, size_t index);
void index_of(const gmg_problem *p, size_t c, size_t at[3]); /* unknown c is at[0], at[1], at[2] */
/* Coefficients along one axis of the row of unknown `at`; source: factor of g in the equation of an end unknown */
typedef struct {
  double below, above, diag, source[2];
} row1d;
row1d dense_row(const gmg_problem *p, int axis, const size_t at[3]);
int dense_solve(double *a, double *b, size_t n); /* Gaussian elimination with pivoting; 0 if singular */

#endif
