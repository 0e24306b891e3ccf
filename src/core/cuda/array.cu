/* Operations on arrays of the caller with gaps, on a CUDA device. Compiled once per real type. Called through gmg_array_ops. */
extern "C" {
#include "core/array.h"
}

#include "device.h"
#include "core/real.h"

#include "axpby.cuh"
#include "core/cg_scalars.h"

#include <math.h>

/* Offset of an unknown in a packed field of the array's shape. */
static __device__ __forceinline__ size_t packed_offset(const gmg_points &p, size_t i, size_t j, size_t k)
{
  return gmg_offset(gmg_layout_packed(p.layout.n), i, j, k);
}

static __global__ void fill_array(gmg_points p, real a, scalar *x)
{
  gmg_for_points(p, [&](size_t, size_t, size_t, size_t c) { x[c] = a; });
}

static void fill(const gmg_exec *e, gmg_layout at, double a, void *x)
{
  const gmg_points p = gmg_points_of(at);
  gmg_launch(e, "fill", fill_array, gmg_shape_of(p), p, a, x);
}

static __global__ void copy_array(gmg_points p, gmg_layout from, const scalar *x, scalar *y)
{
  gmg_for_points(p, [&](size_t i, size_t j, size_t k, size_t c) { y[c] = x[gmg_offset(from, i, j, k)]; });
}

static void copy(const gmg_exec *e, gmg_layout from, const void *x, gmg_layout to, void *y)
{
  const gmg_points p = gmg_points_of(to);
  gmg_launch(e, "copy", copy_array, gmg_shape_of(p), p, from, x, y);
}

static __global__ void __launch_bounds__(GMG_THREADS) norm_of_array(gmg_points p, const scalar *x, gmg_sum_target sums)
{
  gmg_total t = {0, 0, 0, 0};
  gmg_for_points(p, [&](size_t, size_t, size_t, size_t c) { t.first += gmg_square((wide_scalar)x[c]); });
  gmg_grid_total(t, sums);
}

static double norm2(const gmg_exec *e, gmg_layout at, const void *x)
{
  const gmg_points p = gmg_points_of(at);
  gmg_launch(e, "norm2", norm_of_array, gmg_sum_shape_of(p), p, x, gmg_sums_to_host(e));
  return sqrt(gmg_cuda_total(e, "norm2").first);
}

template <typename type>
static __global__ void correct_array(gmg_points p, const double *scale, const type *z, int keep, scalar *x)
{
  const real a = scale ? (real)*scale : (real)1;
  gmg_for_points(p, [&](size_t i, size_t j, size_t k, size_t c) {
    const scalar change = a * (scalar)z[packed_offset(p, i, j, k)];
    x[c] = keep ? x[c] + change : change;
  });
}

static void correct(const gmg_exec *e, gmg_layout at, gmg_correction c, int keep, void *x)
{
  const gmg_points p = gmg_points_of(at);
  if (c.low) gmg_launch(e, "correction", correct_array<low_scalar>, gmg_shape_of(p), p, c.scale, c.z, keep, x);
  else gmg_launch(e, "correction", correct_array<scalar>, gmg_shape_of(p), p, c.scale, c.z, keep, x);
}

static __global__ void step_array(gmg_points p, const gmg_cg_scalars *d, const scalar *direction, scalar *y)
{
  double a;
  if (!gmg_cg_step_length(d, &a)) return;
  gmg_for_points(p, [&](size_t i, size_t j, size_t k, size_t c) { y[c] += (real)a * direction[packed_offset(p, i, j, k)]; });
}

static void cg_step(const gmg_exec *e, gmg_layout at, const gmg_cg_scalars *d, const void *direction, void *y)
{
  const gmg_points p = gmg_points_of(at);
  gmg_launch(e, "step", step_array, gmg_shape_of(p), p, d, direction, y);
}

#if !GMG_SCALAR_COMPLEX /* complex numbers have no order */
/* Number (first), sum (second), least and most. NaN or infinity makes the sum NaN. */
static __global__ void __launch_bounds__(GMG_THREADS) range_of_array(gmg_points p, const scalar *x, gmg_sum_target sums)
{
  gmg_total t = {0, 0, (double)x[0], (double)x[0]};
  gmg_for_points(p, [&](size_t, size_t, size_t, size_t c) {
    const double v = (double)x[c];
    const gmg_total one = {1, v + 0 * v, v, v};
    t = gmg_plus(t, one);
  });
  gmg_grid_total<1>(t, sums);
}

static gmg_range range(const gmg_exec *e, gmg_layout at, const void *x)
{
  const gmg_points p = gmg_points_of(at);
  gmg_launch(e, "range", range_of_array, gmg_sum_shape_of(p), p, x, gmg_sums_to_host(e));
  const gmg_total t = gmg_cuda_total(e, "range");
  const double poison = 0 * t.second;
  return {t.least + poison, t.most + poison, t.second / t.first};
}

/* Number of ratios that are jumps (first), and of all (second). x and y begin with the first values, which the extremes start
   from. */
static __global__ void __launch_bounds__(GMG_THREADS)
    ratios_of_arrays(gmg_points p, gmg_layout of_x, const scalar *x, gmg_layout of_y, const scalar *y, gmg_sum_target sums)
{
  const double start = (double)x[0] / (double)y[0];
  gmg_total t = {0, 0, start, start};
  gmg_for_points(p, [&](size_t i, size_t j, size_t k, size_t) {
    const double ratio = (double)x[gmg_offset(of_x, i, j, k)] / (double)y[gmg_offset(of_y, i, j, k)];
    const gmg_total one = {ratio > GMG_JUMP || ratio * GMG_JUMP < 1 ? 1. : 0., 1, ratio, ratio};
    t = gmg_plus(t, one);
  });
  gmg_grid_total<1>(t, sums);
}

static gmg_range ratios(const gmg_exec *e, const size_t n[3], gmg_layout of_x, const void *x, gmg_layout of_y, const void *y)
{
  const gmg_points p = gmg_points_of(n);
  gmg_launch(e, "ratios", ratios_of_arrays, gmg_sum_shape_of(p), p, of_x, x, of_y, y, gmg_sums_to_host(e));
  const gmg_total t = gmg_cuda_total(e, "ratios");
  return {t.least, t.most, t.first / t.second};
}
#endif

extern "C" const gmg_array_ops R(gmg_array_cuda) = {.fill = fill,
                                                    .copy = copy,
                                                    .norm2 = norm2,
                                                    .correct = correct,
                                                    .cg_step = cg_step,
#if !GMG_SCALAR_COMPLEX
                                                    .range = range,
                                                    .ratios = ratios
#endif
};
