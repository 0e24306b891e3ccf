/* A map under construction (map.c), and what its rows have in common (map_table.c). */
#ifndef GMG_STENCIL_GRID_MAP_TABLE_H
#define GMG_STENCIL_GRID_MAP_TABLE_H

#include "map.h"

/* A map on the host. weight and first as in gmg_map. */
typedef struct gmg_map_table {
  size_t rows, cols;
  int width;
  int *first;
  double *weight;
} gmg_map_table;

/* Gives rows that repeat but for rounding exactly the same weights, so that every kernel, and every part of the axis, uses the
   same. */
void gmg_map_repeat_exactly(gmg_map_table *t);

/* Sets all of map that follows from the table, but for what lies in exec's memory. has_values: rows and columns are unknowns, not
   ghosts or faces. */
void gmg_map_describe(const gmg_map_table *t, int has_values, gmg_map *map);

/* Then, between parts of axes and once map->shift is set: what holds with shift added to all coarse indices. */
void gmg_map_describe_part(const gmg_map_table *t, gmg_map *map);

#endif
