/* The norms of the residual and of f in one pass. On request also stores the scaled residual in low precision. Included by
   cuda/stencil.cu. */
#ifndef GMG_STENCIL_OPERATOR_CUDA_NORM_H
#define GMG_STENCIL_OPERATOR_CUDA_NORM_H

#include "core/cuda/pdl.cuh"
#include "any_columns.cuh"
#include "face_columns.cuh"
#include "stencil/generic/cuda/measures.cuh"

#include <math.h>

/* The least number of thread blocks, for gmg_uniform_of(). Two are resident on each multiprocessor. */
#define UNIFORM_BLOCKS(e) (gmg_device_of(e)->processors * 3 / 2)

/* Sums the squares of the residual (first) and of f (second), without the mean of f if that is subtracted. Stores the scaled
   residual in `low` unless that is NULL. */
template <int kind>
static __global__ void __launch_bounds__(GMG_THREADS, 4)
    norm_kernel(gmg_operator A, gmg_own_box own, gmg_columns p, const scalar *f, const scalar *u, scaling how, low_scalar *low,
                gmg_sum_target sums)
{
  gmg_wait_for_predecessor();
  if (is_done(how)) return;
  const real scale = (real)scale_of(how);
  const scalar mean = mean_of(how);
  gmg_total t = {0, 0, 0, 0};
  gmg_walk(A, p, gmg_layout_of(&A), u, [&](size_t i, size_t j, size_t k, size_t c, const gmg_neighbours &near, scalar here) {
    const scalar rhs = __ldg(f + c) - mean, r = gmg_row_residual(3, gmg_row_at<kind>(A, i, j, k), near, rhs, here);
    if (low) low[c] = (low_scalar)(scale * r);
    if (!gmg_is_own(&own, i, j, k)) return;
    t.first += gmg_square((wide_scalar)r), t.second += gmg_square((wide_scalar)rhs);
  });
  sum_up(t, how, sums);
}

/* norm_kernel() between arrays with gaps. */
template <int kind>
static __global__ void __launch_bounds__(GMG_THREADS, 4)
    norm_gaps_kernel(gmg_operator A, gmg_columns p, gmg_residual_layouts at, const scalar *f, const scalar *u, scaling how,
                     low_scalar *low, gmg_sum_target sums)
{
  if (is_done(how)) return;
  const real scale = (real)scale_of(how);
  const scalar mean = mean_of(how);
  gmg_total t = {0, 0, 0, 0};
  gmg_walk(A, p, at.u, u, [&](size_t i, size_t j, size_t k, size_t, const gmg_neighbours &near, scalar here) {
    const scalar rhs = __ldg(f + gmg_offset(at.f, i, j, k)) - mean;
    const scalar r = gmg_row_residual(3, gmg_row_at<kind>(A, i, j, k), near, rhs, here);
    if (low) low[gmg_offset(at.r, i, j, k)] = (low_scalar)(scale * r);
    t.first += gmg_square((wide_scalar)r), t.second += gmg_square((wide_scalar)rhs);
  });
  sum_up(t, how, sums);
}

/* The values of a thread's columns in one plane, without the mean. The branch makes norms of large grids in 3D faster even if there
   is no mean: at 512^3 on an H200 they take 687 us with it, and 727 without. In 2D they are slower: a solve at 8192^2 takes
   7.86 ms with it, and 7.61 without. */
template <class Patch> static __device__ __forceinline__ Patch without_mean(Patch x, scalar mean)
{
  scalar *const value = &x.at[0][0];
#pragma unroll
  for (unsigned c = 0; c < sizeof x / sizeof *value && gmg_real_part(mean) != 0; c++) value[c] -= mean;
  return x;
}

/* Adds the squares of r and rhs in a thread's columns of one plane, if they count. Stores the scaled r in `low` unless that is
   NULL. c: offset of the first value; row: distance between pairs. */
template <int deep, class Offset>
static __device__ __forceinline__ void add_squares(const gmg_patch<deep> &r, const gmg_patch<deep> &rhs, real scale,
                                                   low_scalar *low, Offset c, Offset row, int counts, gmg_total &t)
{
#pragma unroll
  for (int d = 0; d < deep; d++) {
    if (low) *(float2 *)(low + c + d * row) = float2{(float)(scale * r.at[d][0]), (float)(scale * r.at[d][1])};
    if (!counts) continue;
#pragma unroll
    for (int b = 0; b < 2; b++)
      t.first += gmg_square((wide_scalar)r.at[d][b]), t.second += gmg_square((wide_scalar)rhs.at[d][b]);
  }
}

/* begin, end: planes of the process's own unknowns.
   planes_at_once: the number of planes of a thread if it loads them all at once, otherwise 0 (gmg_walk_pairs()). Levels with few
   tiles are limited by the latency of memory, not by its bandwidth. */
enum { NORM_AT_ONCE = 2 };
template <int deep, int planes_at_once = 0>
static __global__ void __launch_bounds__(GMG_THREADS, 2)
    norm_uniform_kernel(gmg_uniform s, int begin, int end, const scalar *f, const scalar *u, scaling how, low_scalar *low,
                        gmg_sum_target sums)
{
  gmg_wait_for_predecessor();
  if (is_done(how)) return;
  const real scale = (real)scale_of(how);
  const scalar mean = mean_of(how);
  gmg_total t = {0, 0, 0, 0};
  const auto add = [&](int k, size_t c, const gmg_patch<deep> &r, const gmg_patch<deep> &rhs) {
    add_squares(r, rhs, scale, low, c, gmg_layout_of(s).row, k >= begin && k < end, t);
  };
  if (deep == 1 && gmg_real_part(mean) == 0) gmg_walk_uniform<deep, planes_at_once>(s, f, u, add);
  else
    gmg_walk_uniform<deep, planes_at_once>(s, f, u, [&](int k, size_t c, const gmg_patch<deep> &r, const gmg_patch<deep> &rhs) {
      add(k, c, without_mean(r, mean), without_mean(rhs, mean));
    });
  sum_up(t, how, sums);
}

template <int deep>
static __global__ void __launch_bounds__(GMG_THREADS, 2)
    norm_any_kernel(gmg_any_columns w, const scalar *f, const scalar *u, scaling how, low_scalar *low, gmg_sum_target sums)
{
  gmg_wait_for_predecessor();
  if (is_done(how)) return;
  const real scale = (real)scale_of(how);
  const scalar mean = mean_of(how);
  const long row = (long)gmg_pitch(w.layouts.r, 1);
  gmg_total t = {0, 0, 0, 0};
  gmg_walk_any<deep>(w, f, u, [&](long c, const gmg_patch<deep> &r, const gmg_patch<deep> &rhs, const int columns[2], int rows) {
    const auto rest = without_mean(r, mean), f_rest = without_mean(rhs, mean);
#pragma unroll
    for (int d = 0; d < deep; d++)
#pragma unroll
      for (int b = 0; b < 2; b++) {
        if (!columns[b] || d >= rows) continue;
        if (low) low[c + d * row + b] = (low_scalar)(scale * rest.at[d][b]);
        t.first += gmg_square((wide_scalar)rest.at[d][b]), t.second += gmg_square((wide_scalar)f_rest.at[d][b]);
      }
  });
  sum_up(t, how, sums);
}

/* add_squares() for one column. */
static __device__ __forceinline__ void add_squares(const gmg_single &r, const gmg_single &rhs, real scale, low_scalar *low,
                                                   unsigned c, unsigned, int counts, gmg_total &t)
{
  if (low) low[c] = (low_scalar)(scale * r.at[0][0]);
  if (counts) t.first += gmg_square((wide_scalar)r.at[0][0]), t.second += gmg_square((wide_scalar)rhs.at[0][0]);
}

template <int kind, int wide>
static __global__ void __launch_bounds__(GMG_THREADS, gmg_face_blocks<wide>::number)
    norm_faces_kernel(gmg_face_columns w, unsigned begin, unsigned end, const scalar *f, const scalar *u, scaling how,
                      low_scalar *low, gmg_sum_target sums)
{
  gmg_wait_for_predecessor();
  if (is_done(how)) return;
  const real scale = (real)scale_of(how);
  const scalar mean = mean_of(how);
  gmg_total t = {0, 0, 0, 0};
  gmg_walk_faces<kind, wide>(w, f, u, [&](unsigned k, unsigned c, const auto &image, const auto &, const auto &rhs) {
    const auto rest = without_mean(gmg_minus(rhs, image), mean), f_rest = without_mean(rhs, mean);
    add_squares(rest, f_rest, scale, low, c, gmg_layout_of(w).row, k >= begin && k < end, t);
  });
  sum_up(t, how, sums);
}

static void launch_norm(const gmg_exec *e, const gmg_operator *A, const void *f, const void *u, scaling how, void *low,
                        gmg_total *to)
{
  static const char what[] = "residual norm";
  const gmg_columns p = gmg_columns_of(e, A->n);
  const gmg_sum_target sums = gmg_sums_to(e, to);
  const gmg_own_box own = gmg_own_box_of_level(A);
  gmg_uniform s;
  gmg_any_columns any;
  gmg_face_columns w;
  const int last = A->dim - 1, begin = (int)own.begin[last], end = (int)own.end[last];
  if (gmg_has_own_planes(A) && gmg_uniform_of(A, UNIFORM_BLOCKS(e), f, u, low, &s)) {
    const int loads_at_once = s.deep == 2 && s.tiles.high == NORM_AT_ONCE && s.n[2] % NORM_AT_ONCE == 0;
    const auto kernel = loads_at_once ? norm_uniform_kernel<2, NORM_AT_ONCE> : GMG_BY_DEPTH(s, norm_uniform_kernel);
    gmg_launch_early(e, what, kernel, gmg_shape_of(s.tiles, 1), s, begin, end, f, u, how, low, sums);
  } else if (gmg_has_own_planes(A) && !A->caller_layouts && gmg_face_columns_of(A, gmg_device_of(e)->processors, f, u, low, &w)) {
    gmg_launch_early(e, what, GMG_BY_COLUMNS(w, norm_faces_kernel, 1, 2), gmg_shape_of(w.s.tiles, 1), w, begin, end, f, u, how,
                     low, sums);
  } else if (A->part) {
    gmg_launch_early(e, what, GMG_BY_KIND(A, norm_kernel), gmg_shape_of(p.tiles, 1), *A, own, p, f, u, how, low, sums);
  } else if (gmg_any_columns_of(A, UNIFORM_BLOCKS(e), f, u, &any)) {
    gmg_launch_early(e, what, GMG_BY_DEPTH(any.s, norm_any_kernel), gmg_shape_of(any.s.tiles, 1), any, f, u, how, low, sums);
  } else if (A->caller_layouts) {
    gmg_launch(e, what, GMG_BY_KIND(A, norm_gaps_kernel), gmg_shape_of(p.tiles, 1), *A, p, *A->caller_layouts, f, u, how, low,
               sums);
  } else gmg_launch_early(e, what, GMG_BY_KIND(A, norm_kernel), gmg_shape_of(p.tiles, 1), *A, own, p, f, u, how, low, sums);
}

#endif
