/* Incompressible flow of one or two fluids on a staggered grid (Harlow and Welch 1965): density in the cells, velocity
 * component a on the faces across axis a. Here is everything of such a program but the pressure, which is gmg's part.
 *
 *   du/dt = -div(u u) + (viscosity Lap u - grad p) / density + gravity,   div u = 0,   d(density)/dt = -div(u density)
 *
 * Central differences for velocity, upwind with minmod slopes for density (van Leer 1979). */
#ifndef GMG_DEMO_FLOW_H
#define GMG_DEMO_FLOW_H

#include "demo.h"

enum { FLOW_DENSITY = 3, FLOW_FIELDS = 4, FLOW_LEAST_CELLS = 4 }; /* ghosts mirror up to three cells */

/* Velocity components and density, each with ghosts around it; NULL for axes that are not there. */
typedef struct flow_state {
  double *value[FLOW_FIELDS];
} flow_state;

typedef struct flow {
  gmg_problem grid;         /* of the cells */
  int closed;               /* no-slip walls; else periodic */
  double viscosity, ratio;  /* ratio: density of the drop, 1 elsewhere */
  double lid, gravity;      /* closed boxes: speed of the upper y wall along x; along -y */
  double drift[3];          /* periodic boxes: mean velocity */
  size_t size[3], stride[3], first, last; /* of arrays with ghosts; their innermost and outermost cells */
} flow;

/* A norm of a field over all cells: root mean square, and maximum. */
typedef struct flow_norm {
  double rms, max;
} flow_norm;

flow demo_flow_start(const demo_options *o, const gmg_problem *grid);
int demo_flow_state_create(const flow *s, flow_state *q); /* zeros; returns 1 on success */
void demo_flow_state_destroy(flow_state *q);

/* Taylor and Green's (1937) vortices at a time, travelling with the drift: exact without drop and walls. Closed boxes:
 * rest. With a drop, where there is one. */
void demo_flow_set(const flow *s, double time, flow_state *q);
/* Ghosts from what lies inside and from the walls. */
void demo_flow_fill_ghosts(const flow *s, flow_state *q);
/* to = from + dt d(from)/dt without the pressure, ghosts filled. */
void demo_flow_euler(const flow *s, double dt, const flow_state *from, flow_state *to);
/* q = (q + other) / 2. */
void demo_flow_average(const flow *s, flow_state *q, const flow_state *other);
double demo_flow_largest_step(const flow *s, const flow_state *q); /* for stability */

/* The connection with the pressure. Arrays are packed, as gmg needs them. */
flow_norm demo_flow_divergence(const flow *s, const flow_state *q, double *divergence);
void demo_flow_beta(const flow *s, const flow_state *q, double *const beta[3]);
void demo_flow_correct(const flow *s, flow_state *q, double dt, double *const flux[3]); /* velocity += dt flux */

double demo_flow_energy(const flow *s, const flow_state *q);
double demo_flow_exact_energy(const flow *s, double time); /* of Taylor and Green's vortices */
flow_norm demo_flow_distance(const flow *s, const flow_state *q, const flow_state *other); /* of the velocities */
/* The leading term of the distance that second-order differences make until then: phase and decay of the vortices. */
double demo_flow_expected_error(const flow *s, double time);
/* Packed fields at the centres of cells. */
void demo_flow_centre(const flow *s, const flow_state *q, int which, double *packed);
void demo_flow_vorticity(const flow *s, const flow_state *q, double *packed); /* the z component */

#endif
