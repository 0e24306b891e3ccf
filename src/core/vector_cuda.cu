/* Vector kernels on a CUDA device, compiled once per real type. */
#include "cuda.h"
#include "real.h"

#include <math.h>

static __global__ void fill_kernel(size_t n, real a, real *x)
{
  gmg_for_all(n, [&](size_t i) { x[i] = a; });
}

static __global__ void axpy_kernel(size_t n, real a, const real *x, real *y)
{
  gmg_for_all(n, [&](size_t i) { y[i] += a * x[i]; });
}

static __global__ void xpay_kernel(size_t n, const real *x, real a, real *y)
{
  gmg_for_all(n, [&](size_t i) { y[i] = x[i] + a * y[i]; });
}

static __global__ void add_kernel(size_t n, real a, real *x)
{
  gmg_for_all(n, [&](size_t i) { x[i] += a; });
}

static __global__ void narrow_kernel(size_t n, real a, const real *x, narrow_real *y)
{
  gmg_for_all(n, [&](size_t i) { y[i] = (narrow_real)(a * x[i]); });
}

static __global__ void widen_kernel(size_t n, real a, const narrow_real *x, real *y)
{
  gmg_for_all(n, [&](size_t i) { y[i] = a * (real)x[i]; });
}

static __global__ void correct_kernel(size_t n, real a, const narrow_real *z, real *x)
{
  gmg_for_all(n, [&](size_t i) { x[i] += a * (real)z[i]; });
}

static __global__ void __launch_bounds__(GMG_THREADS)
    step_kernel(size_t n, real a, const real *p, const real *q, real *y, real *r, real scale, narrow_real *slim, gmg_total *part,
                unsigned *arrived, gmg_total *to)
{
  gmg_total t = {0, 0, 0, 0};
  gmg_for_all(n, [&](size_t i) {
    y[i] += a * p[i];
    const real left = r[i] - a * q[i];
    r[i] = left;
    if (slim) slim[i] = (narrow_real)(scale * left);
    t.first += (double)left * (double)left;
  });
  gmg_grid_total(t, part, arrived, to);
}

/* first: sum of squares; second: sum; least, most; NaN and infinity spoil `second`. */
static __global__ void __launch_bounds__(GMG_THREADS)
    look_kernel(size_t n, const real *x, gmg_total *part, unsigned *arrived, gmg_total *to)
{
  gmg_total t = {0, 0, (double)x[0], (double)x[0]};
  gmg_for_all(n, [&](size_t i) {
    const double v = (double)x[i];
    const gmg_total one = {v * v, v + 0 * v, v, v};
    t = gmg_plus(t, one);
  });
  gmg_grid_total(t, part, arrived, to);
}

static void fill(const gmg_exec *e, size_t n, double a, void *x)
{
  if (a == 0) {
    gmg_cuda_note(gmg_device_of(e), cudaMemsetAsync(x, 0, n * sizeof(real), gmg_device_of(e)->stream), "fill");
    return;
  }
  fill_kernel<<<gmg_flat_grid(n, 0), GMG_THREADS, 0, gmg_device_of(e)->stream>>>(n, (real)a, (real *)x);
  gmg_cuda_launched(e, "fill");
}

static void copy(const gmg_exec *e, size_t n, const void *x, void *y)
{
  gmg_device *d = gmg_device_of(e);
  gmg_cuda_note(d, cudaMemcpyAsync(y, x, n * sizeof(real), cudaMemcpyDeviceToDevice, d->stream), "copy");
}

static void axpy(const gmg_exec *e, size_t n, double a, const void *x, void *y)
{
  axpy_kernel<<<gmg_flat_grid(n, 0), GMG_THREADS, 0, gmg_device_of(e)->stream>>>(n, (real)a, (const real *)x, (real *)y);
  gmg_cuda_launched(e, "axpy");
}

static void xpay(const gmg_exec *e, size_t n, const void *x, double a, void *y)
{
  xpay_kernel<<<gmg_flat_grid(n, 0), GMG_THREADS, 0, gmg_device_of(e)->stream>>>(n, (const real *)x, (real)a, (real *)y);
  gmg_cuda_launched(e, "xpay");
}

static void add(const gmg_exec *e, size_t n, double a, void *x)
{
  add_kernel<<<gmg_flat_grid(n, 0), GMG_THREADS, 0, gmg_device_of(e)->stream>>>(n, (real)a, (real *)x);
  gmg_cuda_launched(e, "add");
}

static gmg_total look(const gmg_exec *e, size_t n, const void *x, const char *where)
{
  gmg_device *d = gmg_device_of(e);
  look_kernel<<<gmg_flat_grid(n, 1), GMG_THREADS, 0, d->stream>>>(n, (const real *)x, d->part, d->arrived, d->total);
  return gmg_cuda_total(e, where);
}

static double norm2(const gmg_exec *e, size_t n, const void *x) { return sqrt(look(e, n, x, "norm2").first); }

static void narrow(const gmg_exec *e, size_t n, double a, const void *x, void *y)
{
  narrow_kernel<<<gmg_flat_grid(n, 0), GMG_THREADS, 0, gmg_device_of(e)->stream>>>(n, (real)a, (const real *)x, (narrow_real *)y);
  gmg_cuda_launched(e, "narrow");
}

static void widen(const gmg_exec *e, size_t n, double a, const void *x, void *y)
{
  widen_kernel<<<gmg_flat_grid(n, 0), GMG_THREADS, 0, gmg_device_of(e)->stream>>>(n, (real)a, (const narrow_real *)x, (real *)y);
  gmg_cuda_launched(e, "widen");
}

static void correct(const gmg_exec *e, size_t n, gmg_correction c, void *x)
{
  if (!c.narrow) {
    axpy(e, n, c.scale, c.z, x);
    return;
  }
  correct_kernel<<<gmg_flat_grid(n, 0), GMG_THREADS, 0, gmg_device_of(e)->stream>>>(n, (real)c.scale, (const narrow_real *)c.z, (real *)x);
  gmg_cuda_launched(e, "correction");
}

static double step(const gmg_exec *e, size_t n, double a, const void *p, const void *q, void *y, void *r, double scale, void *slim)
{
  gmg_device *d = gmg_device_of(e);
  step_kernel<<<gmg_flat_grid(n, 1), GMG_THREADS, 0, d->stream>>>(n, (real)a, (const real *)p, (const real *)q, (real *)y,
                                                                   (real *)r, (real)scale, (narrow_real *)slim, d->part,
                                                                   d->arrived, d->total);
  return sqrt(gmg_cuda_total(e, "step").first);
}

static gmg_range range(const gmg_exec *e, size_t n, const void *x)
{
  const gmg_total t = look(e, n, x, "range");
  const double poison = 0 * t.second;
  return {t.least + poison, t.most + poison, t.second / (double)n};
}

static __global__ void unit_kernel(size_t n, const real *x, const gmg_total *squares, double *size, narrow_real *y)
{
  const double norm = sqrt(squares->first), scale = norm > 0 && isfinite(norm) ? norm : 1;
  if (blockIdx.x == 0 && threadIdx.x == 0) *size = scale;
  gmg_for_all(n, [&](size_t i) { y[i] = (narrow_real)(x[i] / (real)scale); });
}

static void unit(const gmg_exec *e, size_t n, const void *x, double *size, void *y)
{
  gmg_device *d = gmg_device_of(e);
  look_kernel<<<gmg_flat_grid(n, 1), GMG_THREADS, 0, d->stream>>>(n, (const real *)x, d->part, d->arrived, d->scalar);
  unit_kernel<<<gmg_flat_grid(n, 0), GMG_THREADS, 0, d->stream>>>(n, (const real *)x, d->scalar, size, (narrow_real *)y);
  gmg_cuda_launched(e, "unit");
}

static __global__ void grow_kernel(size_t n, const double *size, const narrow_real *z, real keep, real *y)
{
  const real scale = (real)*size;
  gmg_for_all(n, [&](size_t i) { y[i] = scale * (real)z[i] + (keep != 0 ? keep * y[i] : 0); });
}

static void grow(const gmg_exec *e, size_t n, const double *size, const void *z, double keep, void *y)
{
  grow_kernel<<<gmg_flat_grid(n, 0), GMG_THREADS, 0, gmg_device_of(e)->stream>>>(n, size, (const narrow_real *)z, (real)keep, (real *)y);
  gmg_cuda_launched(e, "grow");
}

extern "C" const gmg_vector_ops R(gmg_vector_cuda) = {fill, copy, axpy, xpay, add, norm2, narrow, widen, correct, step, range, unit, grow};
