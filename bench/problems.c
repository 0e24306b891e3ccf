/* See problems.h. */
#include "problems.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

static const double GROWTH[3] = {0.7, -0.4, 1.1}; /* c of each axis of the manufactured solution */

const char *bench_rhs_text(bench_rhs rhs)
{
  static const char *const texts[] = {[BENCH_RANDOM] = BENCH_F_RANDOM, [BENCH_ONE] = "1",
                                      [BENCH_SMOOTH] = "-Lap of prod sin(pi x) exp(c x), c = 0.7, -0.4, 1.1"};
  return texts[rhs];
}

void bench_zero(double *x, size_t cells)
{
#pragma omp parallel for schedule(static)
  for (size_t i = 0; i < cells; i++) x[i] = 0;
}

double *bench_field(size_t cells)
{
  double *x = aligned_alloc(64, (cells * sizeof *x + 63) / 64 * 64);
  if (x) bench_zero(x, cells);
  return x;
}

/* splitmix64 from a counter: number i of the stream, computed without the previous ones. */
static double uniform(unsigned long long seed, size_t i)
{
  unsigned long long z = seed + (i + 1) * 0x9e3779b97f4a7c15ULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53 - 0.5;
}

void bench_random(double *x, size_t first, size_t cells, unsigned long seed)
{
#pragma omp parallel for schedule(static)
  for (size_t i = 0; i < cells; i++) x[i] = uniform(seed, first + i);
}

static double position(size_t n, size_t i) { return ((double)i + 0.5) / (double)n; }

/* Function of one axis, or its second derivative. */
static double along(int axis, double x, int derivative)
{
  const double c = GROWTH[axis], s = sin(M_PI * x), t = cos(M_PI * x);
  return exp(c * x) * (derivative == 0 ? s : (c * c - M_PI * M_PI) * s + 2 * c * M_PI * t);
}

static void fill_smooth(double *f, size_t n)
{
#pragma omp parallel for schedule(static)
  for (size_t k = 0; k < n; k++) {
    const double z = along(2, position(n, k), 0), zz = along(2, position(n, k), 2);
    for (size_t j = 0; j < n; j++) {
      const double y = along(1, position(n, j), 0), yy = along(1, position(n, j), 2);
      for (size_t i = 0; i < n; i++)
        f[(k * n + j) * n + i] = -(along(0, position(n, i), 2) * y * z + along(0, position(n, i), 0) * (yy * z + y * zz));
    }
  }
}

void bench_fill_rhs(bench_rhs rhs, double *f, size_t n)
{
  const size_t cells = n * n * n;
  if (rhs == BENCH_RANDOM) bench_random(f, 0, cells, 1);
  if (rhs == BENCH_SMOOTH) fill_smooth(f, n);
  if (rhs != BENCH_ONE) return;
#pragma omp parallel for schedule(static)
  for (size_t i = 0; i < cells; i++) f[i] = 1;
}

double bench_ball(size_t n, size_t i, size_t j, size_t k, double contrast)
{
  const double x = position(n, i) - 0.513, y = position(n, j) - 0.483, z = position(n, k) - 0.507;
  return x * x + y * y + z * z < 0.3 * 0.3 ? contrast : 1;
}

void bench_fill_ball(double *beta, size_t n, double contrast)
{
#pragma omp parallel for schedule(static)
  for (size_t k = 0; k < n; k++)
    for (size_t j = 0; j < n; j++)
      for (size_t i = 0; i < n; i++) beta[(k * n + j) * n + i] = bench_ball(n, i, j, k, contrast);
}

double bench_norm2(const double *x, size_t cells)
{
  double sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
  for (size_t i = 0; i < cells; i++) sum += x[i] * x[i];
  return sqrt(sum);
}

double bench_distance(const double *x, const double *y, size_t cells)
{
  double sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
  for (size_t i = 0; i < cells; i++) sum += (x[i] - y[i]) * (x[i] - y[i]);
  return sqrt(sum / (double)cells);
}

double bench_error(const double *u, size_t n)
{
  double sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
  for (size_t k = 0; k < n; k++)
    for (size_t j = 0; j < n; j++) {
      const double yz = along(1, position(n, j), 0) * along(2, position(n, k), 0);
      for (size_t i = 0; i < n; i++) {
        const double d = u[(k * n + j) * n + i] - along(0, position(n, i), 0) * yz;
        sum += d * d;
      }
    }
  return sqrt(sum / ((double)n * (double)n * (double)n));
}

double bench_floor(size_t n, double largest_beta, double u_norm, double f_norm)
{
  const double largest = 12 * (double)n * (double)n * largest_beta; /* ||A|| */
  return DBL_EPSILON / 2 * largest * u_norm / f_norm;
}
