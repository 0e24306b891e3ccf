/* Box stencils for tests: named ones, and problems with them. */
#ifndef GMG_TEST_BOXES_H
#define GMG_TEST_BOXES_H

#include "util.h"

#include <stdlib.h>
#include <string.h>

/* Entries of the unknown itself, and of neighbours across a face, an edge and a corner; centre = 0: Q1. In 2D neighbours across a
   corner of the square count as edges. */
typedef struct {
  const char *name;
  double centre, face, edge, corner;
} box_entries;

static const box_entries box_q1 = {"Q1", 0, 0, 0, 0}, box_27 = {"27 points", 26, -1, -1, -1}, box_7 = {"7 points", 6, -1, 0, 0},
                         box_5 = {"5 points", 4, -1, 0, 0}, box_fv1 = {"fv1", 3.510152, -0.5, -0.25, 0},
                         box_fv3 = {"fv3", 3, -0.5, -0.25, 0};

static inline gmg_stencil box_of_entries(const gmg_problem *p, const box_entries *b)
{
  gmg_stencil s = gmg_stencil_q1(p->dim, p->h, 0);
  if (b->centre == 0) return s;
  memset(&s, 0, sizeof s);
  for (int e = 0; e < 27; e++) {
    const int x = e % 3 - 1, y = e / 3 % 3 - 1, z = e / 9 - 1, steps = abs(x) + abs(y) + abs(z);
    if ((p->dim < 3 && z) || (p->dim < 2 && y)) continue;
    s.entry[z + 1][y + 1][x + 1] = steps == 0 ? b->centre : steps == 1 ? b->face : steps == 2 ? b->edge : b->corner;
  }
  return s;
}

/* Convection and diffusion by central differences: -u'' + v u' along each axis, with mesh widths of 1. v is the cell Peclet number. */
static inline gmg_stencil box_with_convection(int dim, const double v[3])
{
  static const int stride[3] = {1, 3, 9};
  gmg_stencil s = {0};
  double *entry = &s.entry[0][0][0];
  for (int a = 0; a < dim; a++) entry[13] += 2, entry[13 - stride[a]] -= 1 + v[a] / 2, entry[13 + stride[a]] -= 1 - v[a] / 2;
  return s;
}

/* Symmetric entries without any other pattern, with positive and negative ones off the diagonal; diagonally dominant. */
static inline gmg_stencil box_without_pattern(int dim)
{
  gmg_stencil s = {0};
  double size = 0;
  for (int e = 0; e < 13; e++) {
    const int x = e % 3, y = e / 3 % 3, z = e / 9;
    if ((dim < 3 && z != 1) || (dim < 2 && y != 1)) continue;
    const double value = e % 4 == 3 ? 0.1 : -0.2 - 0.07 * e;
    s.entry[z][y][x] = s.entry[2 - z][2 - y][2 - x] = value, size += 2 * (value < 0 ? -value : value);
  }
  s.entry[1][1][1] = size * 1.01;
  return s;
}

#endif
