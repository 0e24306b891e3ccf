/* Vector kernels on host threads, compiled once per real type. */
#include "exec.h"
#include "real.h"

#include <math.h>
#include <string.h>

enum { SMALL = 8192, CHUNKS = 256 }; /* below SMALL a parallel region costs more than it saves */

static void fill(const gmg_exec *e, size_t n, double a, void *x)
{
  real *restrict X = x;
#pragma omp parallel for simd schedule(static) num_threads(e->threads) if (n > SMALL)
  for (size_t i = 0; i < n; i++) X[i] = (real)a;
}

static void copy(const gmg_exec *e, size_t n, const void *x, void *y)
{
  const real *restrict X = x;
  real *restrict Y = y;
#pragma omp parallel for simd schedule(static) num_threads(e->threads) if (n > SMALL)
  for (size_t i = 0; i < n; i++) Y[i] = X[i];
}

static void axpy(const gmg_exec *e, size_t n, double a, const void *x, void *y)
{
  const real *restrict X = x, A = (real)a;
  real *restrict Y = y;
#pragma omp parallel for simd schedule(static) num_threads(e->threads) if (n > SMALL)
  for (size_t i = 0; i < n; i++) Y[i] += A * X[i];
}

static void xpay(const gmg_exec *e, size_t n, const void *x, double a, void *y)
{
  const real *restrict X = x, A = (real)a;
  real *restrict Y = y;
#pragma omp parallel for simd schedule(static) num_threads(e->threads) if (n > SMALL)
  for (size_t i = 0; i < n; i++) Y[i] = X[i] + A * Y[i];
}

static void add(const gmg_exec *e, size_t n, double a, void *x)
{
  real *restrict X = x, A = (real)a;
#pragma omp parallel for simd schedule(static) num_threads(e->threads) if (n > SMALL)
  for (size_t i = 0; i < n; i++) X[i] += A;
}

static double norm2(const gmg_exec *e, size_t n, const void *x)
{
  const real *restrict X = x;
  double part[CHUNKS] = {0}, sum = 0;
  const size_t chunk = n / CHUNKS + 1;
#pragma omp parallel for schedule(static) num_threads(e->threads) if (n > SMALL)
  for (int c = 0; c < CHUNKS; c++) {
    const size_t begin = c * chunk < n ? c * chunk : n, end = begin + chunk < n ? begin + chunk : n;
    double s = 0;
#pragma omp simd reduction(+ : s)
    for (size_t i = begin; i < end; i++) s += (double)X[i] * (double)X[i];
    part[c] = s;
  }
  for (int c = 0; c < CHUNKS; c++) sum += part[c];
  return sqrt(sum);
}

static gmg_range range(const gmg_exec *e, size_t n, const void *x)
{
  const real *restrict X = x;
  double sum[CHUNKS] = {0}, bad[CHUNKS] = {0}, low[CHUNKS], high[CHUNKS];
  const size_t chunk = n / CHUNKS + 1;
#pragma omp parallel for schedule(static) num_threads(e->threads) if (n > SMALL)
  for (int c = 0; c < CHUNKS; c++) {
    const size_t begin = c * chunk < n ? c * chunk : n, end = begin + chunk < n ? begin + chunk : n;
    double s = 0, b = 0;
    real l = X[0], h = X[0];
#pragma omp simd reduction(+ : s, b) reduction(min : l) reduction(max : h)
    for (size_t i = begin; i < end; i++) {
      s += (double)X[i];
      b += 0 * (double)X[i]; /* 0, or NaN from NaN and infinity */
      l = X[i] < l ? X[i] : l;
      h = X[i] > h ? X[i] : h;
    }
    sum[c] = s, bad[c] = b, low[c] = (double)l, high[c] = (double)h;
  }
  gmg_range r = {low[0], high[0], 0};
  double poison = 0;
  for (int c = 0; c < CHUNKS; c++) {
    r.least = fmin(r.least, low[c]), r.most = fmax(r.most, high[c]);
    r.mean += sum[c] / (double)n;
    poison += bad[c];
  }
  return (gmg_range){r.least + poison, r.most + poison, r.mean + poison};
}

const gmg_vector_ops R(gmg_vector_host) = {fill, copy, axpy, xpay, add, norm2, range};
