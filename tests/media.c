#include "media.h"

#include <math.h>
#include <stdlib.h>

void free_medium(medium *m)
{
  free(m->beta);
  free(m->sigma);
  for (int a = 0; a < 3; a++) free(m->coord[a]), free(m->face[a]);
}

static medium cube(int dim, size_t n, gmg_centering centering)
{
  return (medium){.p = make_problem(dim, n, dim > 1 ? n : 1, dim > 2 ? n : 1, centering, "dddddd")};
}

static void position(const gmg_problem *p, size_t c, double x[3])
{
  for (int a = 0; a < 3; c /= p->n[a], a++) x[a] = ((double)(c % p->n[a]) + 0.5) / (double)p->n[a];
}

static medium with_beta(int dim, size_t n, double strength, gmg_centering centering,
                        double (*beta)(int dim, const double x[3], const size_t i[3], double strength))
{
  medium m = cube(dim, n, centering);
  const size_t N = unknowns(&m.p), *s = m.p.n;
  m.beta = malloc(N * sizeof *m.beta);
  for (size_t c = 0; c < N; c++) {
    const size_t i[3] = {c % s[0], c / s[0] % s[1], c / (s[0] * s[1])};
    double x[3];
    position(&m.p, c, x);
    m.beta[c] = beta(dim, x, i, strength);
  }
  m.p.beta = m.beta;
  return m;
}

static double beta_of_ball(int dim, const double x[3], const size_t i[3], double strength)
{
  static const double centre[3] = {0.47, 0.53, 0.51};
  double r2 = 0;
  (void)i;
  for (int a = 0; a < dim; a++) r2 += (x[a] - centre[a]) * (x[a] - centre[a]);
  return r2 < 0.3 * 0.3 ? strength : 1;
}

medium ball(int dim, size_t n, double strength, gmg_centering centering)
{
  return with_beta(dim, n, strength, centering, beta_of_ball);
}

static double beta_of_board(int dim, const double x[3], const size_t i[3], double strength)
{
  (void)dim, (void)x;
  return (i[0] / 8 + i[1] / 8 + i[2] / 8) % 2 ? strength : 1;
}

medium checkerboard(int dim, size_t n, double strength, gmg_centering centering)
{
  return with_beta(dim, n, strength, centering, beta_of_board);
}

static double beta_of_waves(int dim, const double x[3], const size_t i[3], double strength)
{
  double v = strength;
  (void)i;
  for (int a = 0; a < dim; a++) v *= sin(2 * M_PI * x[a] + a);
  return 1 + v;
}

medium wavy(int dim, size_t n, double strength, gmg_centering centering)
{
  return with_beta(dim, n, strength, centering, beta_of_waves);
}

/* m + 1 positions from 0 to 1. */
static double *tanh_positions(size_t m, double ratio)
{
  double *x = malloc((m + 1) * sizeof *x), low = 1e-3, high = 20;
  for (int step = 0; step < 60; step++) {
    const double d = (low + high) / 2;
    for (size_t i = 0; i <= m; i++) x[i] = 0.5 + 0.5 * tanh(d * (2 * (double)i / (double)m - 1)) / tanh(d);
    *((x[m / 2 + 1] - x[m / 2]) / (x[1] - x[0]) > ratio ? &high : &low) = d;
  }
  return x;
}

medium stretched(int dim, size_t n, double strength, gmg_centering centering)
{
  medium m = cube(dim, n, centering);
  for (int a = 0; a < dim; a++) m.p.coord[a] = m.coord[a] = tanh_positions(centering == GMG_CELL ? n : n + 1, strength);
  return m;
}

medium channel(int dim, size_t n, double strength, gmg_centering centering)
{
  char walls[7] = "pppppp";
  walls[2 * dim - 2] = walls[2 * dim - 1] = 'n';
  medium m = {.p = make_problem(dim, n, dim > 1 ? n : 1, dim > 2 ? n : 1, centering, walls)};
  const int last = dim - 1;
  m.p.coord[last] = m.coord[last] = tanh_positions(centering == GMG_CELL ? n : n - 1, strength);
  return m;
}

/* beta_face along axis 0 and along axis 1, at x. Along axis 2 it is 1. */
static medium with_faces(int dim, size_t n, double strength, gmg_centering centering,
                         double (*beta)(int dim, const double x[3], double strength, int axis))
{
  medium m = cube(dim, n, centering);
  for (int a = 0; a < dim; a++) {
    const size_t faces[3] = {m.p.n[0] + (a == 0), m.p.n[1] + (a == 1), m.p.n[2] + (a == 2)};
    const size_t count = faces[0] * faces[1] * faces[2];
    m.p.beta_face[a] = m.face[a] = malloc(count * sizeof *m.face[a]);
    for (size_t c = 0; c < count; c++) {
      const size_t i[3] = {c % faces[0], c / faces[0] % faces[1], c / (faces[0] * faces[1])};
      double x[3];
      for (int b = 0; b < 3; b++) x[b] = ((double)i[b] + (b == a ? 0 : 0.5)) / (double)m.p.n[b];
      m.face[a][c] = a < 2 ? beta(dim, x, strength, a) : 1;
    }
  }
  return m;
}

/* 0 or 1 by turns in `count` parts of the unit interval. */
static int part_of(double x, int count) { return (int)fmin(count * x, count - 1) % 2; }

static double in_stripes(int dim, const double x[3], double strength, int axis)
{
  (void)dim;
  return part_of(x[0], 16) == axis ? strength : 1;
}

static double in_halves(int dim, const double x[3], double strength, int axis)
{
  (void)dim;
  return part_of(x[0], 2) == axis ? strength : 1;
}

static double in_squares(int dim, const double x[3], double strength, int axis)
{
  const int count = dim == 2 ? 8 : 2;
  return (part_of(x[0], count) + part_of(x[1], count)) % 2 == axis ? strength : 1;
}

static double smoothly(int dim, const double x[3], double strength, int axis)
{
  const double t = (1 + sin(2 * M_PI * x[0]) * sin(2 * M_PI * x[1])) / 2;
  (void)dim;
  return pow(strength, axis == 0 ? t : 1 - t);
}

medium stripes(int dim, size_t n, double strength, gmg_centering centering)
{
  return with_faces(dim, n, strength, centering, in_stripes);
}

medium halves(int dim, size_t n, double strength, gmg_centering centering)
{
  return with_faces(dim, n, strength, centering, in_halves);
}

medium squares(int dim, size_t n, double strength, gmg_centering centering)
{
  return with_faces(dim, n, strength, centering, in_squares);
}

medium turning(int dim, size_t n, double strength, gmg_centering centering)
{
  return with_faces(dim, n, strength, centering, smoothly);
}

medium absorbing(int dim, size_t n, double strength, gmg_centering centering)
{
  medium m = cube(dim, n, centering);
  const size_t N = unknowns(&m.p);
  m.sigma = field(N, 0);
  for (size_t c = 0; c < N; c++) {
    double x[3];
    position(&m.p, c, x);
    m.sigma[c] = x[0] < 0.4 && (dim < 2 || x[1] < 0.4) && (dim < 3 || x[2] < 0.4) ? strength : 0;
  }
  m.p.sigma = m.sigma;
  return m;
}
