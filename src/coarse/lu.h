/* Dense LU factors with row exchanges, in double on the host. Private to coarse: for coarsest grids that are not symmetric. */
#ifndef GMG_COARSE_LU_H
#define GMG_COARSE_LU_H

#include <stddef.h>

/* Factors the matrix [n][n] in place: P A = L U, where L has ones on its diagonal. exchanged[n]: the row that was exchanged with
   each row. Returns 0 if A is singular up to rounding. */
int gmg_lu_factorise(double *a, int *exchanged, size_t n);
/* Solves A y = x; y replaces x. */
void gmg_lu_substitute(const double *lu, const int *exchanged, size_t n, double *x);

#endif
