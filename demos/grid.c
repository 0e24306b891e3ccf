/* Positions of unknowns, control volumes, and fields of both real types. The rules are those of gmg_problem:
 * cells at (i + 1/2) h; vertices at (i + 1) h behind a Dirichlet wall, at i h if there is an unknown on the wall. */
#include "demo.h"

#include <math.h>
#include <stdlib.h>

size_t demo_cells(const gmg_problem *p)
{
  size_t cells = 1;
  for (int a = 0; a < p->dim; a++) cells *= p->n[a];
  return cells;
}

int demo_wall_has_unknown(const gmg_problem *p, int axis, int side)
{
  return p->centering == GMG_VERTEX && (p->bc[axis][side] == GMG_NEUMANN || p->bc[axis][side] == GMG_ROBIN);
}

size_t demo_intervals(const gmg_problem *p, int axis)
{
  if (p->centering == GMG_CELL || p->bc[axis][0] == GMG_PERIODIC) return p->n[axis];
  const int unknowns_on_walls = demo_wall_has_unknown(p, axis, 0) + demo_wall_has_unknown(p, axis, 1);
  const size_t m = p->n[axis] + 1 - (size_t)unknowns_on_walls;
  return m ? m : 1; /* a single vertex between two Neumann or Robin walls */
}

double demo_length(const gmg_problem *p, int axis) { return p->h[axis] * (double)demo_intervals(p, axis); }

static int alone(const gmg_problem *p, int axis)
{
  return p->n[axis] == 1 && demo_wall_has_unknown(p, axis, 0) && demo_wall_has_unknown(p, axis, 1);
}

double demo_position(const gmg_problem *p, int axis, size_t i)
{
  const int behind_wall = p->centering == GMG_VERTEX && p->bc[axis][0] == GMG_DIRICHLET;
  const double *x = p->coord[axis];
  if (x) return p->centering == GMG_CELL ? 0.5 * (x[i] + x[i + 1]) : x[i + (size_t)behind_wall];
  const double first = p->centering == GMG_CELL || alone(p, axis) ? 0.5 : behind_wall ? 1 : 0;
  return ((double)i + first) * p->h[axis];
}

double demo_volume(const gmg_problem *p, int axis, size_t i)
{
  const int half = (i == 0 && demo_wall_has_unknown(p, axis, 0)) ||
                   (i == p->n[axis] - 1 && demo_wall_has_unknown(p, axis, 1));
  return half && !alone(p, axis) ? 0.5 * p->h[axis] : p->h[axis];
}

void *demo_field_create(const gmg_problem *p)
{
  return calloc(demo_cells(p), p->type == GMG_F32 ? sizeof(float) : sizeof(double));
}

double demo_get(gmg_type type, const void *field, size_t i)
{
  return type == GMG_F32 ? (double)((const float *)field)[i] : ((const double *)field)[i];
}

void demo_set(gmg_type type, void *field, size_t i, double value)
{
  if (type == GMG_F32) ((float *)field)[i] = (float)value;
  else ((double *)field)[i] = value;
}

/* splitmix64, number i of a seed: the same numbers everywhere, unlike rand(). */
static double uniform(unsigned long seed, size_t i)
{
  unsigned long long z = seed + (i + 1) * 0x9e3779b97f4a7c15ULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53 - 0.5;
}

void demo_field_random(const gmg_problem *p, const demo_box *box, unsigned long seed, void *field)
{
  const demo_box all = {{0}, {p->n[0], p->n[1], p->n[2]}}, *b = box ? box : &all;
  const size_t lines = b->n[1] * b->n[2], cells = b->n[0] * lines;
#pragma omp parallel for if (cells > 1000000)
  for (size_t line = 0; line < lines; line++) {
    const size_t j = b->first[1] + line % b->n[1], k = b->first[2] + line / b->n[1];
    const size_t number = (k * p->n[1] + j) * p->n[0] + b->first[0]; /* in the whole grid */
    for (size_t i = 0; i < b->n[0]; i++) demo_set(p->type, field, line * b->n[0] + i, uniform(seed, number + i));
  }
}

/* 1 in the middle of the box, 0 on its walls, periodic. */
static double bump(const gmg_problem *p, size_t index)
{
  double v = 1;
  for (int a = 0; a < p->dim; index /= p->n[a], a++) {
    const double s = sin(3.14159265358979323846 * demo_position(p, a, index % p->n[a]) / demo_length(p, a));
    v *= s * s;
  }
  return v;
}

void demo_fill_rhs(const demo_options *o, const gmg_problem *p, void *f)
{
  const size_t cells = demo_cells(p);
  if (o->rhs == DEMO_RANDOM) demo_field_random(p, NULL, 1, f);
  else
    for (size_t i = 0; i < cells; i++) demo_set(p->type, f, i, bump(p, i));
}

void demo_fill_guess(const demo_options *o, const gmg_problem *p, void *u)
{
  const size_t cells = demo_cells(p);
  if (o->guess == DEMO_RANDOM) demo_field_random(p, NULL, 2, u);
  else
    for (size_t i = 0; i < cells; i++) demo_set(p->type, u, i, 0);
}

double demo_dot(size_t n, const double *x, const double *y)
{
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (size_t i = 0; i < n; i++) sum += x[i] * y[i];
  return sum;
}

void demo_combine(size_t n, double s, double *y, double a, const double *x)
{
#pragma omp parallel for
  for (size_t i = 0; i < n; i++) y[i] = s * y[i] + a * x[i];
}
