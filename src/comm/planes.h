/* Which values of a field processes send to each other. Calls core; called by the tables of neighbours (messages.c and
   cuda/links.cu). */
#ifndef GMG_COMM_PLANES_H
#define GMG_COMM_PLANES_H

#include "core/comm.h"
#include "core/part.h"
#include "gmg_smoother.h"

/* A box of values in a packed array. */
typedef struct gmg_box_of_values {
  size_t first[3], n[3];
} gmg_box_of_values;

/* A neighbouring part: the process that holds it, the values that it gets, and the ghosts that it fills. */
typedef struct gmg_link {
  int rank; /* -1: none, and both boxes are empty */
  gmg_box_of_values send, receive;
} gmg_link;

/* Extents of an array on a grid of `n` unknowns along each axis. */
void gmg_extents_of(const size_t n[3], gmg_location location, int axis, size_t extents[3]);

/* The neighbour below (side 0) or above along an axis. extents: of the array. extra: 1 if there is one more value than unknowns
   along the axis. The face between two parts is the lowest of the upper one, and the lower one gets it, too. layers: of ghosts, at
   most. */
gmg_link gmg_link_of(const gmg_part *p, const size_t extents[3], int axis, int side, size_t extra, int layers);

/* The values that the part of a process contributes to the whole array, as a box in it. */
gmg_box_of_values gmg_own_box_of(const gmg_part *p, int rank, gmg_location location, int axis);

static inline size_t gmg_values_of(const gmg_box_of_values *b) { return b->n[0] * b->n[1] * b->n[2]; }

/* The most values in a message across an axis, of any array of the level; the most that a process contributes to a whole array; and
   the most in a whole array. */
size_t gmg_most_across(const gmg_part *p, int axis);
size_t gmg_largest_own_box(const gmg_part *p);
size_t gmg_most_in_all(const gmg_part *p);

#endif
