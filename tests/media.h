/* Problems with hard coefficients, on the unit box with Dirichlet walls: cubes of n unknowns per axis, from the gallery in
   media/. */
#ifndef GMG_TEST_MEDIA_H
#define GMG_TEST_MEDIA_H

#include "gallery.h"
#include "util.h"

typedef medium medium_maker(int dim, size_t n, double strength, gmg_centering centering);

medium_maker ball;         /* beta: `strength` inside a ball that is not aligned with a grid, 1 outside */
medium_maker checkerboard; /* beta: 1 and `strength` in blocks of 8 unknowns per axis */
medium_maker wavy;         /* beta: smooth, from 1 - strength to 1 + strength */
medium_maker stretched;    /* tanh positions, refined at all walls; `strength`: ratio of largest and smallest width */
medium_maker channel;      /* such positions along the last axis alone, between Neumann walls; all other axes are periodic */
/* beta_face: along axis 0 or axis 1 it is `strength`, along the others 1. */
medium_maker stripes;      /* by turns in 16 stripes along axis 0 */
medium_maker halves;       /* in two */
medium_maker squares;      /* like a chess board of 8 x 8 squares in 2D, of 2 x 2 columns in 3D */
medium_maker turning;      /* strength^t along axis 0, strength^(1 - t) along axis 1, t from 0 to 1, smooth */
medium_maker absorbing;    /* sigma: `strength` in one corner, 0 elsewhere */
void free_medium(medium *m);

#endif
