/* Means that a solve of a singular problem removes from f and u, on a CUDA device. Included by stencil.cu. */
#ifndef GMG_STENCIL_OPERATOR_CUDA_MEANS_H
#define GMG_STENCIL_OPERATOR_CUDA_MEANS_H

#include "core/cuda/axpby.cuh"

/* Of fields, or of the caller's u. */
static inline gmg_points points_of(const gmg_operator *A) { return gmg_points_of(gmg_residual_layouts_of(A).u); }

/* The assignment of unknowns to threads for sums. A warp takes a line, or equal parts of it. So fewer threads are beyond the end of
   a line than with gmg_points_of(): a sum at 129^3 takes 11 us on an H200 instead of 15. SUM_PER_THREAD: unknowns whose values a
   thread loads at once, at most. */
enum { SUM_PER_THREAD = 8 };
static inline gmg_points sum_points_of(const gmg_operator *A)
{
  gmg_points p = points_of(A);
  const size_t n = p.layout.n[0], warp = 32;
  p.across = (unsigned)warp, p.lines = GMG_THREADS / p.across;
  p.segments = (unsigned)((n + warp * SUM_PER_THREAD - 1) / (warp * SUM_PER_THREAD));
  p.each = (unsigned)((n + warp * p.segments - 1) / (warp * p.segments));
  p.tasks = p.segments * p.layout.n[1] * p.layout.n[2];
  return p;
}

/* The thread's parts of the sums of w x over a segment, with the control volumes w of axis 0. x: lines of fields */
template <int fields>
static __device__ __forceinline__ void weighted_segments(const gmg_operator &A, const gmg_own_box &own, const gmg_points &p,
                                                         const scalar *const x[fields], size_t first, wide_scalar part[fields])
{
  scalar value[fields][SUM_PER_THREAD];
  real volume[SUM_PER_THREAD];
#pragma unroll
  for (unsigned s = 0; s < SUM_PER_THREAD; s++) { /* without branches, so that all loads are issued at once */
    const size_t i = first + s * p.across;
    const int counts = s < p.each && i >= own.begin[0] && i < own.end[0];
    volume[s] = counts ? gmg_at(A.volume[0], i) : (real)0;
#pragma unroll
    for (int a = 0; a < fields; a++) value[a][s] = counts ? x[a][i] : (scalar)0;
  }
#pragma unroll
  for (int a = 0; a < fields; a++) part[a] = 0;
#pragma unroll
  for (unsigned s = 0; s < SUM_PER_THREAD; s++)
#pragma unroll
    for (int a = 0; a < fields; a++) part[a] += (double)volume[s] * (wide_scalar)value[a][s];
}

/* The thread's part of the sum of w conj(x) y over a segment, likewise. */
static __device__ __forceinline__ wide_scalar weighted_product(const gmg_operator &A, const gmg_own_box &own, const gmg_points &p,
                                                               const scalar *x, const scalar *y, size_t first)
{
  scalar value[2][SUM_PER_THREAD];
  real volume[SUM_PER_THREAD];
#pragma unroll
  for (unsigned s = 0; s < SUM_PER_THREAD; s++) {
    const size_t i = first + s * p.across;
    const int counts = s < p.each && i >= own.begin[0] && i < own.end[0];
    volume[s] = counts ? gmg_at(A.volume[0], i) : (real)0;
    value[0][s] = counts ? x[i] : (scalar)0, value[1][s] = counts ? y[i] : (scalar)0;
  }
  wide_scalar part = 0;
#pragma unroll
  for (unsigned s = 0; s < SUM_PER_THREAD; s++)
    part += gmg_product((double)volume[s] * (wide_scalar)value[0][s], (wide_scalar)value[1][s]);
  return part;
}

static __device__ __forceinline__ double weight_of_line(const gmg_operator &A, size_t j, size_t k)
{
  return (double)gmg_at(A.volume[1], j) * (double)gmg_at(A.volume[2], k);
}

/* Sum of w x with the control volumes w. only_if: unless it is NULL or points to a number other than 0, the sum is 0. */
static __global__ void __launch_bounds__(GMG_THREADS)
    weighted_sum_kernel(gmg_operator A, gmg_own_box own, gmg_points p, const scalar *x, const int *only_if, gmg_sum_target sums)
{
  gmg_wait_for_predecessor();
  if (only_if && !*only_if) {
    if (blockIdx.x == 0 && threadIdx.x == 0 && threadIdx.y == 0) *sums.to = {0, 0, 0, 0};
    return;
  }
  gmg_total t = {0, 0, 0, 0};
  gmg_for_segments(p, [&](size_t first, size_t j, size_t k, size_t start) {
    if (!gmg_is_own(&own, own.begin[0], j, k)) return;
    const scalar *const line[1] = {x + start};
    wide_scalar part[1];
    weighted_segments<1>(A, own, p, line, first, part);
    add_scalar(t, weight_of_line(A, j, k) * part[0]);
  });
  gmg_grid_total(t, sums);
}

static __global__ void subtract_mean_gaps_kernel(gmg_points p, const gmg_total *sum, double volume, scalar *x)
{
  scalar mean;
  if (!find_mean(sum, volume, &mean)) return;
  gmg_for_points(p, [&](size_t, size_t, size_t, size_t c) { x[c] -= mean; });
}

static void remove_mean_if(const gmg_exec *e, const gmg_operator *A, double volume, const int *only_if, void *x)
{
  const gmg_points p = points_of(A), of_sum = sum_points_of(A);
  const gmg_sum_target sum = gmg_sums_on_device(e);
  gmg_launch_early(e, "mean", weighted_sum_kernel, gmg_sum_shape_of(of_sum), *A, gmg_own_box_of_level(A), of_sum, x, only_if, sum);
  if (A->caller_layouts) gmg_launch(e, "mean", subtract_mean_gaps_kernel, gmg_shape_of(p), p, sum.to, volume, x);
  else gmg_launch_early(e, "mean", subtract_mean_kernel, sum_grid(A->cells), A->cells, sum.to, volume, x);
}

static void remove_mean(const gmg_exec *e, const gmg_operator *A, double volume, void *x) { remove_mean_if(e, A, volume, NULL, x); }

/* y = x - sum / volume. The host gets the sum of squares of y (first) and the mean (least). */
static __global__ void __launch_bounds__(GMG_THREADS)
    take_mean_kernel(size_t n, const gmg_total *sum, double volume, const scalar *x, scalar *y, gmg_sum_target sums)
{
  scalar mean;
  gmg_wait_for_predecessor();
  const int found = find_mean(sum, volume, &mean);
  if (!found) mean = 0;
  gmg_total t = {0, 0, found ? sum->first / volume : 0, 0};
  for_chunks(n, [&](size_t c, int full) {
    scalar v[AT_ONCE];
    load_chunk(n, c, full, x, v);
#pragma unroll
    for (int m = 0; m < AT_ONCE; m++) {
      v[m] -= mean;
      if (full || c + m * blockDim.x < n) t.first += gmg_square((wide_scalar)v[m]);
    }
    store_chunk(n, c, full, v, y);
  });
  gmg_grid_total(t, sums);
}

static gmg_deviation take_mean(const gmg_exec *e, const gmg_operator *A, double volume, const void *x, void *y)
{
  const gmg_points p = sum_points_of(A);
  const gmg_sum_target sum = gmg_sums_on_device(e);
  gmg_launch_early(e, "mean", weighted_sum_kernel, gmg_sum_shape_of(p), *A, gmg_own_box_of_level(A), p, x, (const int *)NULL, sum);
  gmg_launch_early(e, "mean", take_mean_kernel, sum_grid(A->cells), A->cells, sum.to, volume, x, y, gmg_sums_to_host(e));
  const gmg_total t = gmg_cuda_total(e, "mean");
  return {t.least, sqrt(t.first)};
}

/* --- means of f and u, without waiting ----------------------------------------------------------------------------------- */

#if GMG_SCALAR_COMPLEX
#define MEANS_WITHOUT_WAITING
#else

/* What take_means() finds. in_loop, for_host: mean of f (least) and sum of squares of f without it (first). */
typedef struct {
  double volume, *mean; /* mean: of f, for residuals */
  gmg_total *in_loop, *for_host;
} means_target;

/* Sums of w f (first) and of w u (second). With to.mean, notes the mean of f, and leaves the sum of w u, or 0 if the means are not
   fit; the sum of squares is not known then. */
static __global__ void __launch_bounds__(GMG_THREADS)
    weighted_sums_kernel(gmg_operator A, gmg_own_box own, gmg_points p, const scalar *f, const scalar *u, gmg_sum_target sums,
                         means_target to)
{
  gmg_wait_for_predecessor();
  gmg_total t = {0, 0, 0, 0};
  gmg_for_segments(p, [&](size_t first, size_t j, size_t k, size_t start) {
    const scalar *const lines[2] = {f + start, u + start};
    wide_scalar part[2];
    weighted_segments<2>(A, own, p, lines, first, part);
    const double weight = weight_of_line(A, j, k);
    t.first += weight * part[0], t.second += weight * part[1];
  });
  if (!gmg_grid_total(t, sums) || !to.mean) return;
  const double mean = t.first / to.volume;
  const int is_fit = gmg_is_fit_mean(mean, 0);
  *to.mean = is_fit ? mean : 0;
  *to.in_loop = *to.for_host = {NAN, 0, is_fit ? mean : 0, 0};
  *sums.to = {is_fit ? t.second : 0, 0, 0, 0};
}

/* rest = f without its mean, and u without its own. The sums are as in take_mean_kernel. */
static __global__ void __launch_bounds__(GMG_THREADS)
    take_means_kernel(size_t n, const gmg_total *of, const scalar *f, scalar *rest, scalar *u, gmg_sum_target sums, means_target to)
{
  gmg_wait_for_predecessor();
  const double mean_f = of->first / to.volume, mean_u = of->second / to.volume;
  const int is_fit = gmg_is_fit_mean(mean_f, 0);
  const scalar mean = is_fit ? (scalar)mean_f : 0, change = is_fit && gmg_is_fit_mean(mean_u, 0) ? (scalar)mean_u : 0;
  gmg_total t = {0, 0, is_fit ? mean_f : 0, 0};
  for_chunks(n, [&](size_t c, int full) {
    scalar v[AT_ONCE];
    load_chunk(n, c, full, f, v);
#pragma unroll
    for (int m = 0; m < AT_ONCE; m++) {
      v[m] -= mean;
      if (full || c + m * blockDim.x < n) t.first += gmg_square((wide_scalar)v[m]);
    }
    store_chunk(n, c, full, v, rest);
    if (change == 0) return; /* a guess of zeros */
    load_chunk(n, c, full, u, v);
#pragma unroll
    for (int m = 0; m < AT_ONCE; m++) v[m] -= change;
    store_chunk(n, c, full, v, u);
  });
  if (gmg_grid_total(t, sums)) *to.for_host = t;
}

static void take_means(const gmg_exec *e, const gmg_operator *A, double volume, const void *f, void *rest, gmg_scale *scale,
                       void *u)
{
  gmg_device *d = gmg_device_of(e);
  const gmg_points p = sum_points_of(A);
  const gmg_sum_target sums = gmg_sums_on_device(e);
  const means_target to = {volume, scale ? &scale->mean : NULL, &d->loop_state->rhs, &d->loop_result->rhs};
  gmg_launch_early(e, "mean", weighted_sums_kernel, gmg_sum_shape_of(p), *A, gmg_own_box_of_level(A), p, f, u, sums, to);
  if (scale) gmg_launch_early(e, "mean", subtract_mean_kernel, sum_grid(A->cells), A->cells, sums.to, volume, u);
  else
    gmg_launch_early(e, "mean", take_means_kernel, sum_grid(A->cells), A->cells, sums.to, f, rest, u,
                     gmg_sums_to(e, to.in_loop), to);
}

static gmg_deviation means_taken(const gmg_exec *e)
{
  const gmg_total *of = &gmg_device_of(e)->loop_result->rhs;
  return {of->least, sqrt(of->first)};
}

static void loop_remove_mean(const gmg_exec *e, const gmg_operator *A, double volume, void *u)
{
  remove_mean_if(e, A, volume, &gmg_device_of(e)->loop_state->loop.has_converged, u);
}

#define MEANS_WITHOUT_WAITING .take_means = take_means, .means_taken = means_taken, .loop_remove_mean = loop_remove_mean,
#endif

#endif
