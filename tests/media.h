/* Problems with hard coefficients, on the unit box with Dirichlet walls: cubes of n unknowns per axis. */
#ifndef GMG_TEST_MEDIA_H
#define GMG_TEST_MEDIA_H

#include "util.h"

/* A problem and the arrays that it borrows. */
typedef struct {
  gmg_problem p;
  double *beta, *sigma, *coord[3];
} medium;

typedef medium medium_maker(int dim, size_t n, double strength, gmg_centering centering);

medium_maker ball;         /* beta: `strength` inside a ball that is not aligned with a grid, 1 outside */
medium_maker checkerboard; /* beta: 1 and `strength` in blocks of 8 unknowns per axis */
medium_maker wavy;         /* beta: smooth, from 1 - strength to 1 + strength */
medium_maker stretched;    /* tanh positions, refined at all walls; `strength`: ratio of largest and smallest width */
medium_maker absorbing;    /* sigma: `strength` in one corner, 0 elsewhere */
void free_medium(medium *m);

#endif
