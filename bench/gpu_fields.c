/* Fields on the device, for the measurements. Called by the bench_gpu programs (gpu.h). */
#include "gpu.h"

#include <cuda_runtime_api.h>
#include <math.h>
#include <stdlib.h>

double *bench_gpu_device_field_or_null(size_t n)
{
  double *p = NULL;
  if (cudaMalloc((void **)&p, n * sizeof *p) != cudaSuccess) {
    cudaGetLastError(); /* clears the error, which the next call would return */
    return NULL;
  }
  cudaMemset(p, 0, n * sizeof *p);
  return p;
}

double *bench_gpu_device_field(size_t n)
{
  double *p = bench_gpu_device_field_or_null(n);
  if (!p) bench_gpu_stop("cudaMalloc", "out of device memory");
  return p;
}

double *bench_gpu_uploaded(const double *from, size_t n)
{
  double *p = bench_gpu_device_field(n);
  if (cudaMemcpy(p, from, n * sizeof *p, cudaMemcpyHostToDevice) != cudaSuccess) bench_gpu_stop("cudaMemcpy", "upload failed");
  return p;
}

/* splitmix64 of seed and index (Steele, Lea, Flood 2014). */
static double uniform(size_t i, unsigned long seed)
{
  unsigned long z = (seed << 40) + (i + 1) * 0x9e3779b97f4a7c15ul;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ul;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebul;
  return (double)((z ^ (z >> 31)) >> 11) / 9007199254740992.0 - 0.5;
}

/* In pieces, so that the host need not hold the field. Copies from pinned memory are faster. */
void bench_gpu_fill_random(double *x, size_t n, unsigned long seed)
{
  const size_t piece = (size_t)1 << 24;
  double *host;
  if (cudaMallocHost((void **)&host, piece * sizeof *host) != cudaSuccess) bench_gpu_stop("cudaMallocHost", "out of memory");
  for (size_t from = 0; from < n; from += piece) {
    const size_t count = n - from < piece ? n - from : piece;
#pragma omp parallel for
    for (size_t i = 0; i < count; i++) host[i] = uniform(from + i, seed);
    if (cudaMemcpy(x + from, host, count * sizeof *host, cudaMemcpyHostToDevice) != cudaSuccess)
      bench_gpu_stop("cudaMemcpy", "upload failed");
  }
  cudaFreeHost(host);
}

double *bench_gpu_random_field(size_t n, unsigned long seed)
{
  double *x = bench_gpu_device_field(n);
  bench_gpu_fill_random(x, n, seed);
  return x;
}

/* u = product of sin(pi x) exp(x / 2), which is 0 on the walls of the unit box, at cell centres; and its f. */
void bench_gpu_manufactured(int dim, size_t n, double *f, double *u)
{
  const size_t rows = dim > 1 ? n : 1, planes = dim > 2 ? n : 1;
  double *g = malloc(2 * n * sizeof *g), *g2 = g + n;
  for (size_t i = 0; i < n; i++) {
    const double x = ((double)i + 0.5) / (double)n, e = exp(x / 2);
    g[i] = sin(M_PI * x) * e;
    g2[i] = ((0.25 - M_PI * M_PI) * sin(M_PI * x) + M_PI * cos(M_PI * x)) * e;
  }
#pragma omp parallel for collapse(2)
  for (size_t k = 0; k < planes; k++)
    for (size_t j = 0; j < rows; j++)
      for (size_t i = 0; i < n; i++) {
        const size_t c = (k * rows + j) * n + i;
        const double y = dim > 1 ? g[j] : 1, z = dim > 2 ? g[k] : 1;
        u[c] = g[i] * y * z;
        f[c] = -(g2[i] * y * z + (dim > 1 ? g[i] * g2[j] * z : 0) + (dim > 2 ? g[i] * y * g2[k] : 0));
      }
  free(g);
}

double *bench_gpu_ball(size_t n)
{
  double *beta = malloc(n * n * n * sizeof *beta);
#pragma omp parallel for
  for (size_t c = 0; c < n * n * n; c++) {
    const double x = ((double)(c % n) + 0.5) / (double)n - 0.513, y = ((double)(c / n % n) + 0.5) / (double)n - 0.483;
    const double z = ((double)(c / n / n) + 0.5) / (double)n - 0.507;
    beta[c] = x * x + y * y + z * z < 0.09 ? 1e4 : 1;
  }
  return beta;
}
