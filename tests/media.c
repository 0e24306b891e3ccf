#include "media.h"

#include <math.h>
#include <stdlib.h>

void free_medium(medium *m)
{
  free(m->beta);
  free(m->sigma);
  for (int a = 0; a < 3; a++) free(m->coord[a]);
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
