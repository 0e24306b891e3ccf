/* Finite volumes from the definition: a control volume about each unknown, fluxes through its faces. */
#include "reference.h"

#include <math.h>
#include <stdlib.h>

static int on_wall(const gmg_problem *p, int a, int side)
{
  return p->centering == GMG_VERTEX && (p->bc[a][side] == GMG_NEUMANN || p->bc[a][side] == GMG_ROBIN);
}

static double real_at(const gmg_problem *p, const void *x, size_t i)
{
  return p->type == GMG_F32 ? (double)((const float *)x)[i] : ((const double *)x)[i];
}

/* Positions along the axis, as in problem.coord, also if it is NULL: cell faces, or vertices with the Dirichlet walls. */
static double given_position(const gmg_problem *p, int a, size_t i)
{
  return p->coord[a] ? p->coord[a][i] : (double)i * p->h[a];
}

static size_t first_node(const gmg_problem *p, int a) { return p->bc[a][0] == GMG_DIRICHLET; }

double axis_position(const gmg_problem *p, int a, size_t i)
{
  if (p->centering == GMG_CELL) return (given_position(p, a, i) + given_position(p, a, i + 1)) / 2;
  return given_position(p, a, i + first_node(p, a));
}

static double wall_position(const gmg_problem *p, int a, int side)
{
  const size_t n = p->n[a];
  if (p->centering == GMG_CELL) return given_position(p, a, side ? n : 0);
  if (on_wall(p, a, side)) return axis_position(p, a, side ? n - 1 : 0);
  return given_position(p, a, side ? n + first_node(p, a) : 0);
}

/* Distance from unknown i to the face of its control volume: between vertices half way to the neighbour. */
static double half(const gmg_problem *p, int a, size_t i, int side)
{
  const size_t n = p->n[a];
  const double x = axis_position(p, a, i);
  if (p->centering == GMG_CELL) return fabs(given_position(p, a, i + (size_t)side) - x);
  if (i != (side ? n - 1 : 0)) return fabs(axis_position(p, a, side ? i + 1 : i - 1) - x) / 2;
  if (p->bc[a][side] != GMG_PERIODIC) return fabs(wall_position(p, a, side) - x) / 2; /* 0 on the wall */
  return (given_position(p, a, n) - axis_position(p, a, n - 1)) / 2 + (axis_position(p, a, 0) - given_position(p, a, 0)) / 2;
}

double axis_volume(const gmg_problem *p, int a, size_t i)
{
  if (p->n[a] == 1 && on_wall(p, a, 0) && on_wall(p, a, 1)) return p->h[a]; /* a slab of thickness h */
  return half(p, a, i, 0) + half(p, a, i, 1);
}

void index_of(const gmg_problem *p, size_t c, size_t at[3])
{
  for (int a = 0; a < 3; a++) {
    at[a] = a < p->dim ? c % p->n[a] : 0;
    if (a < p->dim) c /= p->n[a];
  }
}

double cell_volume(const gmg_problem *p, size_t index)
{
  double v = 1;
  size_t at[3];
  index_of(p, index, at);
  for (int a = 0; a < p->dim; a++) v *= axis_volume(p, a, at[a]);
  return v;
}

/* The index in an array with `more` more values than unknowns along `axis`. */
static size_t flat(const gmg_problem *p, const size_t at[3], int axis, size_t more)
{
  size_t c = 0;
  for (int a = p->dim; a-- > 0;) c = c * (p->n[a] + (a == axis ? more : 0)) + at[a];
  return c;
}

static double beta_at(const gmg_problem *p, int a, const size_t at[3], size_t i)
{
  size_t there[3] = {at[0], at[1], at[2]};
  there[a] = i;
  return p->beta ? real_at(p, p->beta, flat(p, there, a, 0)) : 1;
}

static double face_at(const gmg_problem *p, int a, const size_t at[3], size_t face)
{
  size_t there[3] = {at[0], at[1], at[2]};
  there[a] = p->bc[a][0] == GMG_PERIODIC && face == p->n[a] ? 0 : face;
  return real_at(p, p->beta_face[a], flat(p, there, a, 1));
}

/* The conductance between two unknowns: the two halves in series, or the face's coefficient divided by the distance. */
static double conductance(const gmg_problem *p, int a, const size_t at[3], int side)
{
  const size_t n = p->n[a], i = at[a], j = side ? (i + 1) % n : (i + n - 1) % n;
  const double mine = half(p, a, i, side), other = half(p, a, j, !side);
  if (p->beta_face[a]) return face_at(p, a, at, i + (size_t)side) / (mine + other);
  return 1 / (mine / beta_at(p, a, at, i) + other / beta_at(p, a, at, j));
}

/* The coefficient on a Robin wall beside a cell: extrapolated linearly from two cells, by a factor of 2 at most. */
static double wall_beta(const gmg_problem *p, int a, const size_t at[3], int side)
{
  const size_t n = p->n[a], i = side ? n - 1 : 0, j = side ? n - 2 : 1;
  if (p->beta_face[a]) return face_at(p, a, at, side ? n : 0);
  const double own = beta_at(p, a, at, i);
  if (p->bc[a][side] != GMG_ROBIN || p->centering != GMG_CELL || n == 1) return own;
  const double x = axis_position(p, a, i), slope = (own - beta_at(p, a, at, j)) / (x - axis_position(p, a, j));
  return fmin(fmax(own + slope * (wall_position(p, a, side) - x), own / 2), 2 * own);
}

row1d dense_row(const gmg_problem *p, int a, const size_t at[3])
{
  const size_t n = p->n[a], i = at[a];
  const double v = axis_volume(p, a, i);
  row1d r = {0};
  for (int side = 0; side < 2; side++) {
    double *neighbour = side ? &r.above : &r.below;
    if (i != (side ? n - 1 : 0) || p->bc[a][side] == GMG_PERIODIC) {
      if (n == 1) continue; /* the unknown is its own neighbour */
      *neighbour = -conductance(p, a, at, side) / v;
      r.diag -= *neighbour;
      continue;
    }
    const double alpha = p->robin[a][side][0], b = p->robin[a][side][1];
    const double distance = fabs(wall_position(p, a, side) - axis_position(p, a, i));
    const double beta = wall_beta(p, a, at, side);
    if (p->bc[a][side] == GMG_DIRICHLET) { /* flux beta (u - g) / distance */
      r.diag += beta / distance / v;
      r.source[side] = beta / distance / v;
    } else if (p->bc[a][side] == GMG_NEUMANN) { /* flux -g */
      r.source[side] = 1 / v;
    } else if (p->centering == GMG_VERTEX) { /* flux -beta (g - alpha u) / b */
      r.diag += beta * alpha / b / v;
      r.source[side] = beta / b / v;
    } else { /* wall value w from alpha w + b (w - u) / distance = g, flux beta (u - w) / distance */
      const double k = 1 / distance, w_u = b * k / (alpha + b * k), w_g = 1 / (alpha + b * k);
      r.diag += beta * k * (1 - w_u) / v;
      r.source[side] = beta * k * w_g / v;
    }
  }
  return r;
}

double *dense_matrix(const gmg_problem *p)
{
  const size_t N = unknowns(p);
  double *A = calloc(N * N, sizeof *A);
  for (size_t c = 0; c < N; c++) {
    size_t stride = 1, at[3];
    index_of(p, c, at);
    A[c * N + c] += p->shift + (p->sigma ? real_at(p, p->sigma, c) : 0);
    for (int a = 0; a < p->dim; a++) {
      const size_t n = p->n[a], i = at[a], base = c - i * stride;
      const row1d r = dense_row(p, a, at);
      A[c * N + c] += r.diag;
      A[c * N + base + (i > 0 ? i - 1 : n - 1) * stride] += r.below;
      A[c * N + base + (i < n - 1 ? i + 1 : 0) * stride] += r.above;
      stride *= n;
    }
  }
  return A;
}

double *dense_rhs(const gmg_problem *p, const double *f, double *const g[3][2])
{
  const size_t N = unknowns(p);
  double *b = calloc(N, sizeof *b);
  for (size_t c = 0; c < N; c++) {
    size_t at[3];
    index_of(p, c, at);
    b[c] = f[c];
    for (int a = 0; a < p->dim; a++) {
      const row1d r = dense_row(p, a, at);
      const int q = a == 0 ? 1 : 0, s = a == 2 ? 1 : 2;
      for (int side = 0; side < 2; side++)
        if (g[a][side]) b[c] += r.source[side] * g[a][side][at[s] * p->n[q] + at[q]];
    }
  }
  return b;
}

int dense_solve(double *a, double *b, size_t n)
{
  for (size_t k = 0; k < n; k++) {
    size_t pivot = k;
    for (size_t i = k + 1; i < n; i++)
      if (fabs(a[i * n + k]) > fabs(a[pivot * n + k])) pivot = i;
    if (a[pivot * n + k] == 0) return 0;
    for (size_t j = 0; j < n && pivot != k; j++) {
      const double swap = a[k * n + j];
      a[k * n + j] = a[pivot * n + j], a[pivot * n + j] = swap;
    }
    const double swap = b[k];
    b[k] = b[pivot], b[pivot] = swap;
    for (size_t i = k + 1; i < n; i++) {
      const double m = a[i * n + k] / a[k * n + k];
      if (m == 0) continue; /* skips zeros: the matrix is banded */
      for (size_t j = k; j < n; j++) a[i * n + j] -= m * a[k * n + j];
      b[i] -= m * b[k];
    }
  }
  for (size_t k = n; k-- > 0;) {
    for (size_t j = k + 1; j < n; j++) b[k] -= a[k * n + j] * b[j];
    b[k] /= a[k * n + k];
  }
  return 1;
}
