/* Vector operations on a CUDA device. Compiled once per real type, and by the tests for complex scalars. Called through
   gmg_vector_ops (core/exec.h). */
extern "C" {
#include "core/comm.h"
}

#include "device.h"
#include "core/real.h"

#include "axpby.cuh"
#include "loop_test.cuh"
#include "core/cg_scalars.h"

#include <math.h>

static __global__ void fill_kernel(size_t n, real a, scalar *x)
{
  gmg_for_all(n, [&](size_t i) { x[i] = a; });
}

static __global__ void copy_kernel(size_t n, const scalar *x, scalar *y)
{
  gmg_for_all(n, [&](size_t i) { y[i] = x[i]; });
}

static __global__ void axpy_kernel(size_t n, real a, const scalar *x, scalar *y)
{
  gmg_for_all(n, [&](size_t i) { y[i] += a * x[i]; });
}

static __global__ void xpay_kernel(size_t n, const scalar *x, real a, scalar *y)
{
  gmg_for_all(n, [&](size_t i) { y[i] = x[i] + a * y[i]; });
}

static __global__ void __launch_bounds__(GMG_THREADS)
    step_kernel(size_t n, gmg_cg_scalars *d, const scalar *p, const scalar *q, scalar *y, scalar *r, gmg_sum_target sums,
                gmg_loop_test test)
{
  double step;
  const int can_step = gmg_cg_step_length(d, &step), known = gmg_cg_is_known(d);
  const real a = (real)step;
  gmg_total t = {0, 0, 0, 0};
  if (can_step)
    for_chunks(n, [&](size_t c, int full) {
      scalar left[AT_ONCE], image[AT_ONCE], value[AT_ONCE], along[AT_ONCE];
      load_chunk(n, c, full, r, left), load_chunk(n, c, full, q, image);
      if (y) load_chunk(n, c, full, y, value), load_chunk(n, c, full, p, along);
#pragma unroll
      for (int m = 0; m < AT_ONCE; m++) {
        if (y) value[m] += a * along[m];
        left[m] = left[m] - a * image[m], t.first += gmg_square((wide_scalar)left[m]);
      }
      store_chunk(n, c, full, left, r);
      if (y) store_chunk(n, c, full, value, y);
    });
  else for_each(n, [&](size_t i) { t.first += gmg_square((wide_scalar)r[i]); });
  if (!gmg_grid_total(t, sums)) return;
  if (!can_step) d->pq = 0; /* every thread has read it by now */
  if (!known) t.first = sums.to->first = NAN;
  const double norm = sqrt(t.first);
  if (test.state) gmg_loop_end(test, norm, norm);
}

static __global__ void __launch_bounds__(GMG_THREADS) norm_kernel(size_t n, const scalar *x, gmg_sum_target sums)
{
  gmg_total t = {0, 0, 0, 0};
  for_each(n, [&](size_t i) { t.first += gmg_square((wide_scalar)x[i]); });
  gmg_grid_total(t, sums);
}

static __global__ void __launch_bounds__(GMG_THREADS) dot_kernel(size_t n, const scalar *x, const scalar *y, gmg_sum_target sums)
{
  gmg_total t = {0, 0, 0, 0};
  for_each(n, [&](size_t i) { add_scalar(t, gmg_product((wide_scalar)x[i], (wide_scalar)y[i])); });
  gmg_grid_total(t, sums);
}

static __global__ void __launch_bounds__(GMG_THREADS) sum_kernel(size_t n, const scalar *x, gmg_sum_target sums)
{
  gmg_total t = {0, 0, 0, 0};
  for_each(n, [&](size_t i) { add_scalar(t, (wide_scalar)x[i]); });
  gmg_grid_total(t, sums);
}

/* In recordings, kernels copy and fill fields. A kernel node holds an address. A copy or memset node also holds the allocation. The
   caller may release it before the next replay, and get the same address again for another array. */
static int uses_kernels(const gmg_device *d) { return d->recording != GMG_NOT_RECORDING; }

static void fill(const gmg_exec *e, size_t n, double a, void *x)
{
  gmg_device *d = gmg_device_of(e);
  if (a == 0 && !uses_kernels(d)) gmg_cuda_note(d, cudaMemsetAsync(x, 0, n * sizeof(scalar), d->stream), "fill");
  else gmg_launch(e, "fill", fill_kernel, gmg_flat_shape(n), n, a, x);
}

static void copy(const gmg_exec *e, size_t n, const void *x, void *y)
{
  gmg_device *d = gmg_device_of(e);
  if (uses_kernels(d)) gmg_launch(e, "copy", copy_kernel, gmg_flat_shape(n), n, x, y);
  else gmg_cuda_note(d, cudaMemcpyAsync(y, x, n * sizeof(scalar), cudaMemcpyDeviceToDevice, d->stream), "copy");
}

static void axpy(const gmg_exec *e, size_t n, double a, const void *x, void *y)
{
  gmg_launch(e, "axpy", axpy_kernel, gmg_flat_shape(n), n, a, x, y);
}

static void xpay(const gmg_exec *e, size_t n, const void *x, double a, void *y)
{
  gmg_launch(e, "xpay", xpay_kernel, gmg_flat_shape(n), n, x, a, y);
}

static double norm2(const gmg_exec *e, size_t n, const void *x)
{
  gmg_launch(e, "norm2", norm_kernel, sum_grid(n), n, x, gmg_sums_to_host(e));
  return sqrt(gmg_cuda_total(e, "norm2").first);
}

static gmg_number dot(const gmg_exec *e, size_t n, const void *x, const void *y)
{
  gmg_launch(e, "dot", dot_kernel, sum_grid(n), n, x, y, gmg_sums_to_host(e));
  const gmg_total t = gmg_cuda_total(e, "dot");
  return {t.first, t.second};
}

static void correct(const gmg_exec *e, size_t n, gmg_correction c, int keep, void *x)
{
  add_correction(e, n, c, (real)keep, x, x);
}

/* x = x + scale_y[0] y + scale_z[0] z, as axpby_kernel() */
template <typename type, int aligned>
static __global__ void __launch_bounds__(GMG_THREADS)
    add_two_kernel(size_t n, const double *scale_y, const type *y, const double *scale_z, const type *z, scalar *x)
{
  typedef gmg_pair_of<type> change;
  typedef gmg_pair_of<scalar> value;
  gmg_wait_for_predecessor();
  const real a = scale_y ? (real)*scale_y : (real)1, b = scale_z ? (real)*scale_z : (real)1;
  const size_t all = n / 2, first = (size_t)blockIdx.x * AXPBY_PAIRS * blockDim.x + threadIdx.x;
  const size_t step = (size_t)gridDim.x * AXPBY_PAIRS * blockDim.x;
  for (size_t c = first; c < all; c += step) {
    change by_y[AXPBY_PAIRS], by_z[AXPBY_PAIRS];
    value v[AXPBY_PAIRS];
#pragma unroll
    for (int m = 0; m < AXPBY_PAIRS; m++) {
      const size_t i = c + m * blockDim.x;
      if (i >= all) continue;
      by_y[m] = aligned ? ((const change *)y)[i] : change{y[2 * i], y[2 * i + 1]};
      by_z[m] = aligned ? ((const change *)z)[i] : change{z[2 * i], z[2 * i + 1]};
      v[m] = aligned ? ((const value *)x)[i] : value{x[2 * i], x[2 * i + 1]};
    }
#pragma unroll
    for (int m = 0; m < AXPBY_PAIRS; m++) {
      const size_t i = c + m * blockDim.x;
      if (i >= all) continue;
      const value now = {v[m].a + a * (scalar)by_y[m].a + b * (scalar)by_z[m].a,
                         v[m].b + a * (scalar)by_y[m].b + b * (scalar)by_z[m].b};
      if (aligned) ((value *)x)[i] = now;
      else x[2 * i] = now.a, x[2 * i + 1] = now.b;
    }
  }
  if (n % 2 && first == 0) x[n - 1] = x[n - 1] + a * (scalar)y[n - 1] + b * (scalar)z[n - 1];
}

template <typename type> static void add_two(const gmg_exec *e, size_t n, gmg_correction c, gmg_correction d, void *x)
{
  const int aligned = begins_at_pair<type>(c.z) && begins_at_pair<type>(d.z) && begins_at_pair<scalar>(x);
  const auto kernel = aligned ? add_two_kernel<type, 1> : add_two_kernel<type, 0>;
  gmg_launch_early(e, "correction", kernel, pairs_grid(n), n, c.scale, (const type *)c.z, d.scale, (const type *)d.z, (scalar *)x);
}

static void correct_twice(const gmg_exec *e, size_t n, gmg_correction c, gmg_correction d, void *x)
{
  if (c.low) add_two<low_scalar>(e, n, c, d, x);
  else add_two<scalar>(e, n, c, d, x);
}

static double cg_update(const gmg_exec *e, size_t n, gmg_cg_scalars *d, const void *p, const void *q, void *y, void *r,
                        gmg_wait wait)
{
  const gmg_device *device = gmg_device_of(e);
  const gmg_loop_test test = wait == GMG_IN_LOOP ? device->loop_test : gmg_loop_test{};
  const gmg_sum_target sums = wait == GMG_WAIT   ? gmg_sums_to_host(e)
                              : wait == GMG_IN_LOOP ? gmg_sums_to(e, &device->loop_state->residual)
                                                    : gmg_sums_on_device(e);
  gmg_launch(e, "step", step_kernel, sum_grid(n), n, d, p, q, y, r, sums, test);
  return wait == GMG_WAIT ? sqrt(gmg_cuda_total(e, "step").first) : NAN;
}

/* The smallest power of two >= norm: products with it and its inverse are exact. 1 for 0 and for values that are not finite. */
static __device__ __forceinline__ double power_above(double norm)
{
  int above;
  if (!(norm > 1e-300) || !(norm < 1e300)) return 1;
  return frexp(norm, &above) == 0.5 ? norm : scalbn(1.0, above);
}

static __device__ __forceinline__ void put_scaled(size_t n, size_t c, int full, real scale, const scalar *x, low_scalar *y,
                                                  double *squares)
{
  scalar v[AT_ONCE];
  load_chunk(n, c, full, x, v);
#pragma unroll
  for (int m = 0; m < AT_ONCE; m++) {
    *squares += gmg_square((wide_scalar)v[m]);
    if (y && (full || c + m * blockDim.x < n)) y[c + m * blockDim.x] = (low_scalar)(scale * v[m]);
  }
}

/* y = x / guess, where the guess is the last divisor, rounded up to a power of two. Also sums the squares of x. */
static __global__ void __launch_bounds__(GMG_THREADS)
    guess_kernel(size_t n, const scalar *x, gmg_scale *s, low_scalar *y, gmg_sum_target sums)
{
  const double guess = power_above(s->divisor);
  gmg_total t = {0, 0, 0, 0};
  for_chunks(n, [&](size_t c, int full) { put_scaled(n, c, full, (real)(1 / guess), x, y, &t.first); });
  if (blockIdx.x == 0 && threadIdx.x == 0) s->guess = guess;
  gmg_grid_total(t, sums);
}

/* Scales x again if the guess is far from x's own norm. */
static __global__ void __launch_bounds__(GMG_THREADS)
    own_norm_kernel(size_t n, const scalar *x, const gmg_total *squares, gmg_scale *s, low_scalar *y)
{
  enum { MAX_RATIO = 1 << 20 };
  const double norm = sqrt(squares->first), guess = s->guess, own = power_above(norm), ratio = own / guess;
  const int good = ratio < MAX_RATIO && ratio * MAX_RATIO > 1;
  if (blockIdx.x == 0 && threadIdx.x == 0) gmg_scale_note(s, 1 / (good ? guess : own), norm);
  if (good || !y) return;
  double squares_again = 0;
  for_chunks(n, [&](size_t c, int full) { put_scaled(n, c, full, (real)(1 / own), x, y, &squares_again); });
}

static void normalize_to_low(const gmg_exec *e, size_t n, const void *x, gmg_scale *s, void *y)
{
  const gmg_sum_target squares = gmg_sums_on_device(e);
  gmg_launch(e, "normalize to low", guess_kernel, sum_grid(n), n, x, s, y, squares);
  gmg_launch(e, "normalize to low", own_norm_kernel, sum_grid(n), n, x, squares.to, s, y);
}

static __global__ void __launch_bounds__(GMG_THREADS) scale_kernel(size_t n, const double *divisor, const scalar *x, low_scalar *y)
{
  const real scale = divisor ? (real)(1 / *divisor) : (real)1;
  double squares = 0; /* not used */
  for_chunks(n, [&](size_t c, int full) { put_scaled(n, c, full, scale, x, y, &squares); });
}

static void scale_to_low(const gmg_exec *e, size_t n, const double *divisor, const void *x, void *y)
{
  gmg_launch(e, "scale to low", scale_kernel, chunk_grid(n), n, divisor, x, y);
}

static void subtract_mean(const gmg_exec *e, size_t n, void *x)
{
  const gmg_sum_target sums = gmg_sums_on_device(e);
  gmg_launch(e, "mean", sum_kernel, sum_grid(n), n, x, sums);
  gmg_launch(e, "mean", subtract_mean_kernel, chunk_grid(n), n, sums.to, gmg_sum_over_processes(e, (double)n), x);
}

#if !GMG_SCALAR_COMPLEX /* complex numbers have no order */
/* Number (first), sum (second), least and most. NaN or infinity makes the sum NaN. */
static __global__ void __launch_bounds__(GMG_THREADS) range_kernel(size_t n, const scalar *x, gmg_sum_target sums)
{
  gmg_total t = {0, 0, (double)x[0], (double)x[0]};
  for_each(n, [&](size_t i) {
    const double v = (double)x[i];
    const gmg_total one = {1, v + 0 * v, v, v};
    t = gmg_plus(t, one);
  });
  gmg_grid_total<1>(t, sums);
}

static gmg_range range(const gmg_exec *e, size_t n, const void *x)
{
  gmg_launch(e, "range", range_kernel, sum_grid(n), n, x, gmg_sums_to_host(e));
  const gmg_total t = gmg_cuda_total(e, "range");
  const double poison = 0 * t.second;
  return {t.least + poison, t.most + poison, t.second / t.first};
}
#endif

extern "C" const gmg_vector_ops R(gmg_vector_cuda) = {.fill = fill,
                                                      .copy = copy,
                                                      .axpy = axpy,
                                                      .xpay = xpay,
                                                      .norm2 = norm2,
                                                      .dot = dot,
                                                      .correct = correct,
                                                      .correct_twice = correct_twice,
                                                      .cg_update = cg_update,
#if !GMG_SCALAR_COMPLEX
                                                      .range = range,
#endif
                                                      .normalize_to_low = normalize_to_low,
                                                      .scale_to_low = scale_to_low,
                                                      .subtract_mean = subtract_mean};
