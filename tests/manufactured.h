/* A manufactured solution for every boundary condition: the product of one smooth function per axis, periodic on periodic axes.
   Gives u, -Lap u + shift u, and boundary values on any face. */
#ifndef GMG_TEST_MANUFACTURED_H
#define GMG_TEST_MANUFACTURED_H

#include "util.h"

double exact_u(const gmg_problem *p, const double x[3]);
double exact_f(const gmg_problem *p, const double x[3]);
/* Fills f and sets all boundary values of the solver. u_exact may be NULL. */
void set_manufactured(const gmg_problem *p, session *s, double *f, double *u_exact);

typedef struct {
  double two, most; /* volume-weighted 2-norm, maximum norm */
} error_norms;
/* If the problem is singular, means are subtracted first. */
error_norms error_of(const gmg_problem *p, const double *u, const double *exact, int singular);

#endif
