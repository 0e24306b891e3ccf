/* A gallery of media: coefficients and meshes like those that users have, as functions of place. A medium has n unknowns along each
   axis of the unit box. Random ones come from a hash of the place, so each value is the same in every run and on every machine.
   Used by tests, bench and demos. Calls only the public header. */
#ifndef GMG_MEDIA_GALLERY_H
#define GMG_MEDIA_GALLERY_H

#include "gmg.h"

/* A problem, and the arrays that it borrows. */
typedef struct medium {
  gmg_problem p; /* Dirichlet walls; the channel has others */
  double *beta, *face[3], *sigma, *coord[3];
} medium;

/* A cell or unknown: its position and its indices. */
typedef struct medium_place {
  int dim;
  double x[3];
  size_t i[3];
} medium_place;

typedef struct medium_kind {
  const char *name, *about;
  double strength[3]; /* typical strengths; 0: no more */
  double (*beta)(const medium_place *at, double strength);
  double (*face)(const medium_place *at, double strength, int axis);
  double (*sigma)(const medium_place *at, double strength);
  int stretches; /* 1: all axes by `strength`, 2: the last one, between Neumann walls, all others are periodic */
} medium_kind;

extern const medium_kind medium_kinds[]; /* name = NULL ends the list */
const medium_kind *medium_kind_of(const char *name); /* NULL: there is none of this name */

/* Makes a medium. Returns 1, or 0 if memory is short. medium_free() frees it in both cases. */
int medium_make(const medium_kind *kind, int dim, size_t n, double strength, gmg_centering centering, medium *m);
void medium_free(medium *m);

#endif
