/* Shapes on which smoothers have special cases. Included by tests of their properties. */
#ifndef GMG_TEST_SMOOTHER_SHAPES_H
#define GMG_TEST_SMOOTHER_SHAPES_H

#include "util.h"

/* Axes of one or two unknowns, odd periodic axes, blocks that are their own neighbours. */
static const struct {
  int dim;
  size_t n[3];
  const char *bc;
} shapes[] = {{3, {12, 9, 7}, "dndrpp"}, {3, {9, 7, 5}, "pppppp"}, {3, {2, 3, 4}, "pppppp"}, {3, {1, 2, 6}, "ppppdd"},
              {2, {17, 1, 1}, "ppdd"},   {2, {13, 5, 1}, "nnpp"},  {1, {67, 1, 1}, "pp"},     {1, {3, 1, 1}, "pp"},
              {1, {2, 1, 1}, "pp"},      {3, {4, 4, 4}, "pppppp"}, {3, {6, 1, 5}, "dnnnpp"},  {2, {4, 3, 1}, "pppp"}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static inline gmg_problem shape_problem(int i, gmg_centering centering)
{
  gmg_problem p = make_problem(shapes[i].dim, shapes[i].n[0], shapes[i].n[1], shapes[i].n[2], centering, shapes[i].bc);
  p.h[0] = p.h[1] = p.h[2] = 1;
  p.shift = 0.3;
  return p;
}

#endif
