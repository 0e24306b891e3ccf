/* A manufactured solution of -Lap u + shift u = f that fits every boundary kind: the product of one smooth function an
 * axis, exp and cos between walls, trigonometric with the axis' period where it is periodic. f and the boundary values
 * follow from it analytically, so what a solve misses is the discretisation error. */
#ifndef GMG_DEMO_EXACT_H
#define GMG_DEMO_EXACT_H

#include "demo.h"

/* Per axis and unknown of a box: the function, its second derivative and the control volume; and the ends of the axis. */
typedef struct demo_exact {
  size_t n[3]; /* unknowns of the box */
  double *value[3], *second[3], *volume[3];
  double wall[3][2], slope[3][2]; /* function and outward derivative on the walls */
} demo_exact;

int demo_exact_create(const gmg_problem *problem, const demo_box *box, demo_exact *exact); /* 1 on success */
void demo_exact_destroy(demo_exact *exact);

void demo_exact_rhs(const gmg_problem *problem, const demo_exact *exact, void *f);
/* g of a face of the box in the shape that gmg_set_boundary_values() takes. */
void demo_exact_face(const gmg_problem *problem, const demo_exact *exact, int axis, int side, void *g);

typedef struct demo_errors {
  double two, max; /* volume-weighted root mean square, maximum norm */
} demo_errors;

/* Norms of u minus the exact solution, over the boxes of all processes; `error` may be NULL. centred: means are removed first, as
 * the solution of a singular problem is only known up to a constant. */
demo_errors demo_exact_errors(const gmg_problem *problem, const demo_exact *exact, const void *u, int centred,
                              void *error);

#endif
