/* Residual, operator, norms (cuda/norm.cuh), inner products and conjugate gradients on a CUDA device. Compiled once per real type.
   Called through gmg_operator_ops and gmg_grid_ops. */
extern "C" {
#include "stencil/grid_ops.h"
}

#include "norm.cuh"
#include "face_columns.cuh"
#include "means.cuh"

#include "core/cg_scalars.h"

#include <math.h>

/* Thread blocks per multiprocessor, to limit registers. Compute capability 7.5 has 1024 threads per multiprocessor. */
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ == 750
enum { WALK_BLOCKS = 1024 / GMG_THREADS };
#else
enum { WALK_BLOCKS = 5 };
#endif

/* --- residual and operator ------------------------------------------------------------------------------------------- */

/* r = f - A u. product: r = A u, and f is not read. */
template <int kind, int product>
static __global__ void __launch_bounds__(GMG_THREADS, WALK_BLOCKS)
    residual_kernel(gmg_operator A, gmg_columns p, const scalar *f, const scalar *u, scalar *r)
{
  gmg_walk(A, p, gmg_layout_of(&A), u, [&](size_t i, size_t j, size_t k, size_t c, const gmg_neighbours &near, scalar here) {
    const scalar value = gmg_row_residual(3, gmg_row_at<kind>(A, i, j, k), near, product ? 0 : __ldg(f + c), here);
    r[c] = product ? -value : value;
  });
}

/* r = f - A u between arrays with gaps. */
template <int kind>
static __global__ void __launch_bounds__(GMG_THREADS, WALK_BLOCKS)
    residual_gaps_kernel(gmg_operator A, gmg_columns p, gmg_residual_layouts at, const scalar *f, const scalar *u, scalar *r)
{
  gmg_walk(A, p, at.u, u, [&](size_t i, size_t j, size_t k, size_t, const gmg_neighbours &near, scalar here) {
    const scalar rhs = __ldg(f + gmg_offset(at.f, i, j, k));
    r[gmg_offset(at.r, i, j, k)] = gmg_row_residual(3, gmg_row_at<kind>(A, i, j, k), near, rhs, here);
  });
}

template <int deep>
static __global__ void __launch_bounds__(GMG_THREADS, 2)
    residual_uniform_kernel(gmg_uniform s, const scalar *f, const scalar *u, scalar *r)
{
  gmg_walk_uniform<deep>(s, f, u, [&](int, size_t c, const gmg_patch<deep> &value, const gmg_patch<deep> &) {
    gmg_store_patch(r + c, gmg_layout_of(s).row, value);
  });
}

template <int deep>
static __global__ void __launch_bounds__(GMG_THREADS, 2)
    residual_any_kernel(gmg_any_columns w, const scalar *f, const scalar *u, scalar *r)
{
  const long row = (long)gmg_pitch(w.layouts.r, 1);
  gmg_walk_any<deep>(w, f, u, [&](long c, const gmg_patch<deep> &value, const gmg_patch<deep> &, const int columns[2], int rows) {
#pragma unroll
    for (int d = 0; d < deep; d++)
#pragma unroll
      for (int b = 0; b < 2; b++)
        if (columns[b] && d < rows) r[c + d * row + b] = value.at[d][b];
  });
}

/* r = f - A u; f = NULL: r = A u. */
template <int kind, int wide>
static __global__ void __launch_bounds__(GMG_THREADS, gmg_face_blocks<wide>::number)
    residual_faces_kernel(gmg_face_columns w, const scalar *f, const scalar *u, scalar *r)
{
  gmg_walk_faces<kind, wide>(w, f, u, [&](unsigned, unsigned c, const auto &image, const auto &, const auto &rhs) {
    gmg_store_patch(r + c, gmg_layout_of(w).row, f ? gmg_minus(rhs, image) : image);
  });
}

/* r = f - A u; f = NULL: r = A u. */
static void residual(const gmg_exec *e, const gmg_operator *A, const void *f, const void *u, void *r)
{
  const char *what = f ? "residual" : "operator";
  const gmg_columns p = gmg_columns_of(e, A->n);
  const auto kernel = f ? GMG_BY_KIND(A, residual_kernel, 0) : GMG_BY_KIND(A, residual_kernel, 1);
  gmg_uniform s;
  gmg_any_columns any;
  gmg_face_columns w;
  if (!A->caller_layouts && gmg_face_columns_of(A, gmg_device_of(e)->processors, f, u, r, &w))
    gmg_launch(e, what, GMG_BY_COLUMNS(w, residual_faces_kernel, 1, 2), gmg_shape_of(w.s.tiles), w, f, u, r);
  else if (f && gmg_uniform_of(A, UNIFORM_BLOCKS(e), f, u, r, &s))
    gmg_launch(e, what, GMG_BY_DEPTH(s, residual_uniform_kernel), gmg_shape_of(s.tiles), s, f, u, r);
  else if (f && gmg_any_columns_of(A, UNIFORM_BLOCKS(e), f, u, &any))
    gmg_launch(e, what, GMG_BY_DEPTH(any.s, residual_any_kernel), gmg_shape_of(any.s.tiles), any, f, u, r);
  else if (A->caller_layouts)
    gmg_launch(e, what, GMG_BY_KIND(A, residual_gaps_kernel), gmg_shape_of(p.tiles), *A, p, *A->caller_layouts, f, u, r);
  else gmg_launch(e, what, kernel, gmg_shape_of(p.tiles), *A, p, f, u, r);
}

static void apply(const gmg_exec *e, const gmg_operator *A, const void *u, void *v) { residual(e, A, NULL, u, v); }

template <int kind> static __global__ void over_diagonal_kernel(gmg_operator A, gmg_points p, const scalar *f, scalar *v)
{
  gmg_for_points(p, [&](size_t i, size_t j, size_t k, size_t c) { v[c] = f[c] / gmg_row_at<kind>(A, i, j, k).diag; });
}

static void over_diagonal(const gmg_exec *e, const gmg_operator *A, const void *f, void *v)
{
  const gmg_points p = points_of(A);
  gmg_launch(e, "diagonal", GMG_BY_KIND(A, over_diagonal_kernel), gmg_shape_of(p), *A, p, f, v);
}

/* --- norms ----------------------------------------------------------------------------------------------------------- */

typedef gmg_measures<launch_norm> measures;

template <int kind>
static __global__ void __launch_bounds__(GMG_THREADS)
    magnitude_kernel(gmg_operator A, gmg_own_box own, gmg_points p, const scalar *u, gmg_sum_target sums)
{
  gmg_total t = {0, 0, 0, 0};
  gmg_for_points(p, [&](size_t i, size_t j, size_t k, size_t c) {
    const gmg_row a = gmg_row_at<kind>(A, i, j, k);
    gmg_neighbours near = gmg_near(gmg_neighbour_offsets_of(A, p.layout, i, j, k, c), u);
    for (int d = 0; d < 3; d++) near.lo[d] = fabs(near.lo[d]), near.hi[d] = fabs(near.hi[d]);
    const double v = (double)(a.diag * fabs(u[c]) + gmg_row_sum(3, a, near));
    if (gmg_is_own(&own, i, j, k)) t.first += v * v;
  });
  gmg_grid_total(t, sums);
}

static double magnitude(const gmg_exec *e, const gmg_operator *A, const void *u)
{
  const gmg_points p = points_of(A);
  gmg_launch(e, "magnitude", GMG_BY_KIND(A, magnitude_kernel), gmg_shape_of(p, GMG_MAX_PARTS), *A, gmg_own_box_of_level(A), p, u,
             gmg_sums_to_host(e));
  return sqrt(gmg_cuda_total(e, "magnitude").first);
}

/* --- inner products -------------------------------------------------------------------------------------------------- */

/* The assignment of unknowns to threads for products. In short lines warps of sum_points_of() would have few unknowns. */
static gmg_points product_points_of(const gmg_operator *A)
{
  enum { SHORT = 32 * GMG_PER_THREAD };
  return A->n[0] < SHORT ? points_of(A) : sum_points_of(A);
}

/* Sum of w conj(x) y with the control volumes w. Returns 1 in the thread that has the sum, in t. */
static __device__ __forceinline__ int dot_of(const gmg_operator &A, const gmg_own_box &own, const gmg_points &p, const scalar *x,
                                             const scalar *y, const gmg_sum_target &sums, gmg_total &t)
{
  gmg_for_segments(p, [&](size_t first, size_t j, size_t k, size_t start) {
    if (!gmg_is_own(&own, own.begin[0], j, k)) return;
    add_scalar(t, weight_of_line(A, j, k) * weighted_product(A, own, p, x + start, y + start, first));
  });
  return gmg_grid_total(t, sums);
}

static __global__ void __launch_bounds__(GMG_THREADS)
    dot_kernel(gmg_operator A, gmg_own_box own, gmg_points p, const scalar *x, const scalar *y, gmg_sum_target sums)
{
  gmg_total t = {0, 0, 0, 0};
  dot_of(A, own, p, x, y, sums, t);
}

static gmg_number dot(const gmg_exec *e, const gmg_operator *A, const void *x, const void *y)
{
  const gmg_points p = y ? product_points_of(A) : sum_points_of(A);
  const gmg_own_box own = gmg_own_box_of_level(A);
  const gmg_launch_shape grid = gmg_sum_shape_of(p);
  if (y) gmg_launch(e, "inner product", dot_kernel, grid, *A, own, p, x, y, gmg_sums_to_host(e));
  else gmg_launch_early(e, "inner product", weighted_sum_kernel, grid, *A, own, p, x, (const int *)NULL, gmg_sums_to_host(e));
  const gmg_total t = gmg_cuda_total(e, "inner product");
  return {t.first, t.second};
}

/* --- conjugate gradients ----------------------------------------------------------------------------------------------- */

static __global__ void __launch_bounds__(GMG_THREADS)
    beta_kernel(gmg_operator A, gmg_own_box own, gmg_points p, const scalar *z, const scalar *y, int flexible,
                gmg_cg_scalars *direction, const double *unit, gmg_sum_target sums)
{
  gmg_wait_for_predecessor();
  if (flexible && !gmg_cg_has_direction(direction)) {
    if (blockIdx.x == 0 && threadIdx.x == 0 && threadIdx.y == 0) gmg_cg_set_beta(direction, flexible, 0, unit);
    return;
  }
  gmg_total t = {0, 0, 0, 0};
  if (dot_of(A, own, p, z, y, sums, t)) gmg_cg_set_beta(direction, flexible, t.first, unit);
}

static void cg_beta(const gmg_exec *e, const gmg_operator *A, const void *z, const void *y, int flexible, gmg_cg_scalars *d,
                    const double *unit)
{
  const gmg_points p = product_points_of(A);
  gmg_launch_early(e, "inner product", beta_kernel, gmg_sum_shape_of(p), *A, gmg_own_box_of_level(A), p, z, y, flexible,
                   d, unit, gmg_sums_on_device(e));
}

/* Notes <p, A p> (first) and <p, x> (second). Not inlined: in float some kernels would need 80 registers or more instead of 64. */
static __device__ __noinline__ void note_sums(gmg_total t, gmg_cg_scalars *direction, const double *unit, const gmg_sum_target sums)
{
  if (gmg_grid_total(t, sums)) gmg_cg_note(direction, t.first, t.second, unit);
}

template <int kind>
static __global__ void __launch_bounds__(GMG_THREADS, sizeof(real) == 8 ? 3 : 4)
    direction_kernel(gmg_operator A, gmg_own_box own, gmg_columns p, const scalar *d, const scalar *x, scalar *q,
                     gmg_cg_scalars *direction, const double *unit, gmg_sum_target sums)
{
  gmg_wait_for_predecessor();
  gmg_total t = {0, 0, 0, 0};
  gmg_walk(A, p, gmg_layout_of(&A), d, [&](size_t i, size_t j, size_t k, size_t c, const gmg_neighbours &near, scalar here) {
    const scalar image = gmg_row_image(3, gmg_row_at<kind>(A, i, j, k), near, here);
    const wide_scalar weighted = gmg_volume_at(A, i, j, k) * (wide_scalar)here;
    q[c] = image;
    if (!gmg_is_own(&own, i, j, k)) return;
    t.first += gmg_real_part(gmg_product(weighted, (wide_scalar)image));
    t.second += gmg_real_part(gmg_product(weighted, (wide_scalar)x[c]));
  });
  note_sums(t, direction, unit, sums);
}

template <int kind, int wide>
static __global__ void __launch_bounds__(GMG_THREADS, gmg_face_blocks<wide>::number)
    direction_faces_kernel(gmg_operator A, gmg_face_columns w, unsigned begin, unsigned end, const scalar *p, const scalar *x,
                           scalar *q, gmg_cg_scalars *direction, const double *unit, gmg_sum_target sums)
{
  gmg_wait_for_predecessor();
  gmg_total t = {0, 0, 0, 0};
  for (unsigned tile = blockIdx.x; tile < w.s.tiles.total; tile += gridDim.x) {
    const gmg_column_part at = gmg_column_part_of<wide, wide>(w.s.tiles, w.s.n, tile);
    if (!at.there) continue;
    constexpr int flat = kind & GMG_FLAT;
    double volume_x[wide], volume_y[wide];
#pragma unroll
    for (int b = 0; b < wide; b++)
      volume_x[b] = (double)gmg_at(A.volume[0], at.i + b), volume_y[b] = (double)gmg_at(A.volume[flat ? 2 : 1], at.j + b);
    gmg_walk_face_columns<kind, wide>(w, x, p, at, [&](unsigned k, unsigned c, const auto &image, const auto &here, const auto &r) {
      double with_image = 0, with_r = 0;
#pragma unroll
      for (int d = 0; d < wide; d++)
#pragma unroll
        for (int b = 0; b < wide; b++) {
          const double weighted = volume_x[b] * volume_y[d] * (double)here.at[d][b];
          with_image += weighted * (double)image.at[d][b], with_r += weighted * (double)r.at[d][b];
        }
      gmg_store_patch(q + c, gmg_layout_of(w).row, image);
      if (k < begin || k >= end) return; /* ghosts of x may be anything */
      const double high = (double)gmg_at(A.volume[flat ? 1 : 2], k);
      t.first += high * with_image, t.second += high * with_r;
    });
  }
  note_sums(t, direction, unit, sums);
}

static void cg_direction(const gmg_exec *e, const gmg_operator *A, const void *z, gmg_cg_scalars *d, const double *unit,
                         const void *last, void *p, const void *x, void *q)
{
  const gmg_columns columns = gmg_columns_of(e, A->n);
  const gmg_sum_target sums = gmg_sums_on_device(e);
  gmg_face_columns w;
  add_correction(e, A->cells, {.z = z}, (const double *)&d->beta, last, p);
  const gmg_own_box own = gmg_own_box_of_level(A);
  if (gmg_has_own_planes(A) && gmg_face_columns_of(A, gmg_device_of(e)->processors, p, x, q, &w))
    gmg_launch_early(e, "direction", GMG_BY_COLUMNS(w, direction_faces_kernel, 1, 2), gmg_shape_of(w.s.tiles, 1), *A, w,
                     own.begin[A->dim - 1], own.end[A->dim - 1], p, x, q, d, unit, sums);
  else
    gmg_launch_early(e, "direction", GMG_BY_KIND(A, direction_kernel), gmg_shape_of(columns.tiles, 1), *A, own, columns, p, x, q, d,
                     unit, sums);
}

extern "C" {
GMG_GRID_PARTS(GMG_DECLARE_PART, cuda)
GMG_DECLARE_OPERATION(interpolated_residual, cuda) /* in transfer.cu */
GMG_DECLARE_OPERATION(restrict_residual, cuda)
}

extern "C" const gmg_operator_ops R(gmg_seven_point_cuda) = {.residual = residual,
                                                             .measure_residual = measures::measure_residual,
                                                             .interpolated_residual = R(gmg_interpolated_residual_cuda),
                                                             .correct_residual = gmg_correct_and_measure,
                                                             .loop_residual = measures::loop_residual,
                                                             .loop_first_residual = measures::loop_first_residual,
                                                             .apply = apply,
                                                             .over_diagonal = over_diagonal,
                                                             .magnitude = magnitude,
                                                             .cg_direction = cg_direction,
                                                             .restrict_residual = R(gmg_restrict_residual_cuda)};

extern "C" const gmg_grid_ops R(gmg_grid_cuda) = {.dot = dot, .remove_mean = remove_mean, .take_mean = take_mean,
                                                  MEANS_WITHOUT_WAITING .cg_beta = cg_beta,
                                                  GMG_GRID_PARTS(GMG_PART, cuda)};
