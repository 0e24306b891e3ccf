/* Variable box stencils for tests: finite elements Q1 with a coefficient that varies from cell to cell, and a dense matrix by
   definition. */
#ifndef GMG_TEST_VARYING_H
#define GMG_TEST_VARYING_H

#include "util.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The coefficient at a point of the unit box. */
typedef double coefficient(const double x[3]);

static inline double beta_smooth(const double x[3]) { return 1 + 0.5 * sin(3 * x[0] + 1) * cos(2 * x[1]) + 0.3 * x[2]; }
static inline double beta_one(const double x[3]) { return (void)x, 1; }
/* Different in every cell: from 0.3 to 3, and from 0.01 to 100. */
static inline double beta_uneven(const double x[3]) { return pow(10, 0.5 * sin(157 * x[0] + 211 * x[1] + 101 * x[2])); }
static inline double beta_rough(const double x[3]) { return pow(10, 2 * sin(157 * x[0] + 211 * x[1] + 101 * x[2])); }

/* A stencil and its arrays, on the host. */
typedef struct {
  gmg_stencil stencil;
  void *array[27];
} varying;

static inline void set_value(const gmg_problem *p, void *x, size_t i, double value)
{
  if (p->type == GMG_F32) ((float *)x)[i] = (float)value;
  else ((double *)x)[i] = value;
}

static inline double value_at(const gmg_problem *p, const void *x, size_t i)
{
  return p->type == GMG_F32 ? (double)((const float *)x)[i] : ((const double *)x)[i];
}

static inline int has_entry(int dim, int e) { return (dim > 2 || e / 9 == 1) && (dim > 1 || e / 3 % 3 == 1); }

/* The number of vertex i along an axis, counted from the lower wall. */
static inline long vertex_of(const gmg_problem *p, int a, long i) { return i + (p->bc[a][0] == GMG_DIRICHLET); }

/* The middle of the cell above vertex v, from 0 to 1, mirrored at walls and wrapped on periodic axes. */
static inline double cell_middle(const gmg_problem *p, int a, long v)
{
  const long n = (long)p->n[a], low = p->bc[a][0] == GMG_DIRICHLET, high = p->bc[a][1] == GMG_DIRICHLET;
  const long m = p->bc[a][0] == GMG_PERIODIC ? n : n - 1 + low + high, cells = m > 0 ? m : 1;
  if (p->bc[a][0] == GMG_PERIODIC) v = (v % cells + cells) % cells;
  else if (v < 0) v = -1 - v;
  else if (v >= cells) v = 2 * cells - 1 - v;
  return ((double)v + 0.5) / (double)cells;
}

/* Entries of Q1 for -div(beta grad u) + sigma beta u, divided by the volume of a cell. Values for neighbours across Dirichlet walls
   are NaN, because nothing may read them. */
static inline varying varying_q1(const gmg_problem *p, coefficient *beta, double sigma)
{
  varying v = {.stencil = {0}};
  const size_t N = elements_of(p, p->n, &p->coefficient_layout);
  for (int e = 0; e < 27; e++) {
    if (!has_entry(p->dim, e)) continue;
    v.array[e] = malloc(N * sizeof(double));
    memset(v.array[e], 0xff, N * sizeof(double));
    (&v.stencil.array[0][0][0])[e] = v.array[e];
  }
  for (size_t c = 0; c < unknowns(p); c++) {
    const size_t at[3] = {c % p->n[0], c / p->n[0] % p->n[1], c / (p->n[0] * p->n[1])};
    double row[27] = {0};
    int dropped[27] = {0};
    for (int cell = 0; cell < 1 << p->dim; cell++) { /* bit a: the cell above the vertex along axis a */
      double x[3] = {0, 0, 0};
      for (int a = 0; a < p->dim; a++) x[a] = cell_middle(p, a, vertex_of(p, a, (long)at[a]) - 1 + (cell >> a & 1));
      const double b = beta(x);
      for (int corner = 0; corner < 1 << p->dim; corner++) { /* bit a: 1 for the neighbour, 0 for the vertex itself */
        int e = 13;
        double stiffness = 0, mass = 1;
        for (int a = 0, stride = 1; a < p->dim; a++, stride *= 3) {
          if (corner >> a & 1) e += cell >> a & 1 ? stride : -stride;
          mass *= corner >> a & 1 ? 1 / 6. : 1 / 3.;
        }
        for (int a = 0; a < p->dim; a++)
          stiffness += mass / (corner >> a & 1 ? 1 / 6. : 1 / 3.) * (corner >> a & 1 ? -1 : 1) / (p->h[a] * p->h[a]);
        row[e] += b * (stiffness + sigma * mass);
      }
    }
    for (int e = 0; e < 27; e++)
      for (int a = 0; a < p->dim; a++) {
        const int to = a == 0 ? e % 3 : a == 1 ? e / 3 % 3 : e / 9;
        dropped[e] |= (to == 0 && at[a] == 0 && p->bc[a][0] == GMG_DIRICHLET) ||
                      (to == 2 && at[a] + 1 == p->n[a] && p->bc[a][1] == GMG_DIRICHLET);
      }
    const size_t place = place_in(p, p->n, &p->coefficient_layout, at[0], at[1], at[2]);
    for (int e = 0; e < 27; e++)
      if (v.array[e]) set_value(p, v.array[e], place, dropped[e] ? NAN : row[e]);
  }
  return v;
}

static inline void free_varying(varying *v)
{
  for (int e = 0; e < 27; e++) free(v->array[e]);
}

/* Entries for cells: -div(beta grad u) + sigma u by finite volumes, with weaker couplings across edges and corners. */
static inline varying varying_cells(const gmg_problem *p, coefficient *beta, double sigma, double across_edges)
{
  varying v = {.stencil = {0}};
  const size_t N = elements_of(p, p->n, &p->coefficient_layout);
  for (int e = 0; e < 27; e++) {
    if (!has_entry(p->dim, e)) continue;
    v.array[e] = malloc(N * sizeof(double));
    memset(v.array[e], 0xff, N * sizeof(double));
    (&v.stencil.array[0][0][0])[e] = v.array[e];
  }
  for (size_t c = 0; c < unknowns(p); c++) {
    const size_t at[3] = {c % p->n[0], c / p->n[0] % p->n[1], c / (p->n[0] * p->n[1])};
    const size_t place = place_in(p, p->n, &p->coefficient_layout, at[0], at[1], at[2]);
    double sum = sigma;
    for (int e = 0; e < 27; e++) {
      const int to[3] = {e % 3 - 1, e / 3 % 3 - 1, e / 9 - 1}, steps = abs(to[0]) + abs(to[1]) + abs(to[2]);
      double middle[3] = {0, 0, 0}, width = 0;
      if (!has_entry(p->dim, e) || steps == 0) continue;
      for (int a = 0; a < p->dim; a++) {
        middle[a] = ((double)at[a] + 0.5 + 0.5 * to[a]) / (double)p->n[a], width = to[a] ? p->h[a] : width;
        if (p->bc[a][0] == GMG_PERIODIC && middle[a] > 1 - 1e-9) middle[a] = 0;
      }
      const double value = -beta(middle) / (width * width) * (steps == 1 ? 1 : across_edges);
      set_value(p, v.array[e], place, value), sum -= value;
    }
    set_value(p, v.array[13], place, sum);
  }
  return v;
}

/* The neighbour of index i at distance d; -1: there is none. On cells it is the cell itself beyond a wall. */
static inline long neighbour_at(const gmg_problem *p, int a, long i, int d)
{
  const long n = (long)p->n[a], at = i + d;
  if (at >= 0 && at < n) return at;
  if (p->bc[a][0] == GMG_PERIODIC) return (at + n) % n;
  if (p->centering == GMG_CELL) return i;
  if (p->bc[a][at >= n] != GMG_NEUMANN) return -1;
  return n == 1 ? 0 : i - d;
}

/* What the neighbour in this direction contributes to the row of cell i: minus the cell beyond a Dirichlet wall. */
static inline double sign_of(const gmg_problem *p, const long i[3], int e)
{
  const int to[3] = {e % 3 - 1, e / 3 % 3 - 1, e / 9 - 1};
  double sign = 1;
  for (int a = 0; a < p->dim && p->centering == GMG_CELL; a++)
    if (i[a] + to[a] < 0 || i[a] + to[a] >= (long)p->n[a]) sign = p->bc[a][to[a] > 0] == GMG_DIRICHLET ? -sign : sign;
  return sign;
}

/* The matrix of the problem, entry by entry. */
static inline double *dense_of(const gmg_problem *p)
{
  const size_t N = unknowns(p);
  double *m = calloc(N * N, sizeof *m);
  for (size_t c = 0; c < N; c++) {
    const long at[3] = {(long)(c % p->n[0]), (long)(c / p->n[0] % p->n[1]), (long)(c / (p->n[0] * p->n[1]))};
    const size_t place = place_in(p, p->n, &p->coefficient_layout, (size_t)at[0], (size_t)at[1], (size_t)at[2]);
    m[c * N + c] += p->shift;
    for (int e = 0; e < 27; e++) {
      const void *array = (&p->stencil->array[0][0][0])[e];
      const long x = neighbour_at(p, 0, at[0], e % 3 - 1), y = neighbour_at(p, 1, at[1], e / 3 % 3 - 1);
      const long z = neighbour_at(p, 2, at[2], e / 9 - 1);
      if (!has_entry(p->dim, e) || x < 0 || y < 0 || z < 0) continue;
      const double value = array ? value_at(p, array, place) : (&p->stencil->entry[0][0][0])[e];
      m[c * N + (size_t)((z * (long)p->n[1] + y) * (long)p->n[0] + x)] += sign_of(p, at, e) * value;
    }
  }
  return m;
}

#endif
