/* All operations of gmg_operator_ops on a CUDA device, for an operator that is given by its rows. The operator defines a struct
   Maker with the function

   - template <class Body> static void with(const gmg_exec *e, const gmg_operator &A, Body body): calls body(rows) on the host.

   Kernels get `rows`, a struct with these members:

   - gmg_layout layout: the layout of a field.
   - gmg_launch_shape grid(int sums) const: the grid for walk(). sums: for kernels that sum, with fewer thread blocks.
   - template <class Body> __device__ void walk(const scalar *f, const scalar *u, Body body) const: calls body(i, j, k, c, A u, f)
     for all unknowns of this thread, in thread blocks of GMG_THREADS threads. f may be NULL.
   - __device__ real diagonal(size_t i, size_t j, size_t k, size_t c) const: of unknown c.
   - __device__ real magnitude(size_t i, size_t j, size_t k, size_t c, const scalar *u) const: |A| |u| at unknown c.

   The table is gmg_by_rows<Maker>::table(). Included by kernels of operators. */
#ifndef GMG_STENCIL_GENERIC_CUDA_BY_ROWS_H
#define GMG_STENCIL_GENERIC_CUDA_BY_ROWS_H

extern "C" {
#include "stencil/grid_ops.h"
}

#include "measures.cuh"
#include "stencil/operator/cuda/row.cuh"

#include "core/cg_scalars.h"

/* The type of a variable, without const and reference. */
template <class Type> struct gmg_unqualified {
  typedef Type type;
};
template <class Type> struct gmg_unqualified<const Type &> {
  typedef Type type;
};
template <class Type> using gmg_type_of = typename gmg_unqualified<Type>::type;

/* r = f - A u; f = NULL: r = A u. */
template <class Rows>
static __global__ void __launch_bounds__(GMG_THREADS) rows_residual(Rows A, const scalar *f, const scalar *u, scalar *r)
{
  gmg_wait_for_predecessor();
  A.walk(f, u, [&](size_t, size_t, size_t, size_t c, scalar image, scalar rhs) {
    r[c] = f ? rhs - image : image;
  });
}

/* r = f - A u between arrays with gaps. */
template <class Rows>
static __global__ void __launch_bounds__(GMG_THREADS)
    rows_residual_gaps(Rows A, gmg_residual_layouts at, const scalar *f, const scalar *u, scalar *r)
{
  A.walk(NULL, u, [&](size_t i, size_t j, size_t k, size_t, scalar image, scalar) {
    r[gmg_offset(at.r, i, j, k)] = f[gmg_offset(at.f, i, j, k)] - image;
  });
}

template <class Rows> static __global__ void rows_over_diagonal(Rows A, gmg_points p, const scalar *f, scalar *v)
{
  gmg_for_points(p, [&](size_t i, size_t j, size_t k, size_t c) { v[c] = f[c] / A.diagonal(i, j, k, c); });
}

template <class Rows>
static __global__ void __launch_bounds__(GMG_THREADS)
    rows_norm(Rows A, const scalar *f, const scalar *u, scaling how, low_scalar *low, gmg_sum_target sums)
{
  gmg_wait_for_predecessor();
  if (is_done(how)) return;
  const real scale = (real)scale_of(how);
  gmg_total t = {0, 0, 0, 0};
  const scalar mean = mean_of(how);
  A.walk(f, u, [&](size_t, size_t, size_t, size_t c, scalar image, scalar whole) {
    const scalar rhs = whole - mean, value = rhs - image;
    if (low) low[c] = (low_scalar)(scale * value);
    t.first += gmg_square((wide_scalar)value), t.second += gmg_square((wide_scalar)rhs);
  });
  sum_up(t, how, sums);
}

/* rows_norm() between arrays with gaps. */
template <class Rows>
static __global__ void __launch_bounds__(GMG_THREADS)
    rows_norm_gaps(Rows A, gmg_residual_layouts at, const scalar *f, const scalar *u, scaling how, low_scalar *low,
                   gmg_sum_target sums)
{
  if (is_done(how)) return;
  const real scale = (real)scale_of(how);
  gmg_total t = {0, 0, 0, 0};
  const scalar mean = mean_of(how);
  A.walk(NULL, u, [&](size_t i, size_t j, size_t k, size_t, scalar image, scalar) {
    const scalar rhs = f[gmg_offset(at.f, i, j, k)] - mean, value = rhs - image;
    if (low) low[gmg_offset(at.r, i, j, k)] = (low_scalar)(scale * value);
    t.first += gmg_square((wide_scalar)value), t.second += gmg_square((wide_scalar)rhs);
  });
  sum_up(t, how, sums);
}

template <class Rows>
static __global__ void __launch_bounds__(GMG_THREADS) rows_magnitude(Rows A, gmg_points p, const scalar *u, gmg_sum_target sums)
{
  gmg_total t = {0, 0, 0, 0};
  gmg_for_points(p, [&](size_t i, size_t j, size_t k, size_t c) {
    const double v = (double)A.magnitude(i, j, k, c, u);
    t.first += v * v;
  });
  gmg_grid_total(t, sums);
}

/* q = A p, <p, q> and <p, x> */
template <class Rows>
static __global__ void __launch_bounds__(GMG_THREADS)
    rows_direction(Rows rows, gmg_operator A, const scalar *p, const scalar *x, scalar *q, gmg_cg_scalars *direction,
                   const double *unit, gmg_sum_target sums)
{
  gmg_total t = {0, 0, 0, 0};
  rows.walk(x, p, [&](size_t i, size_t j, size_t k, size_t c, scalar image, scalar beside) {
    const double weighted = gmg_volume_at(A, i, j, k) * (double)p[c];
    q[c] = image;
    t.first += weighted * (double)image, t.second += weighted * (double)beside;
  });
  if (gmg_grid_total(t, sums)) gmg_cg_note(direction, t.first, t.second, unit);
}

/* The namespace has no name. Otherwise both real types would have the same symbols. */
namespace {

template <class Maker> struct gmg_by_rows {
  static void residual(const gmg_exec *e, const gmg_operator *A, const void *f, const void *u, void *r)
  {
    Maker::with(e, *A, [&](const auto &rows) {
      const auto kernel = rows_residual<gmg_type_of<decltype(rows)>>;
      const auto with_gaps = rows_residual_gaps<gmg_type_of<decltype(rows)>>;
      if (A->caller_layouts) gmg_launch(e, "residual", with_gaps, rows.grid(0), rows, *A->caller_layouts, f, u, r);
      else gmg_launch_early(e, f ? "residual" : "operator", kernel, rows.grid(0), rows, f, u, r);
    });
  }

  static void apply(const gmg_exec *e, const gmg_operator *A, const void *u, void *v) { residual(e, A, NULL, u, v); }

  static void over_diagonal(const gmg_exec *e, const gmg_operator *A, const void *f, void *v)
  {
    Maker::with(e, *A, [&](const auto &rows) {
      const gmg_points p = gmg_points_of(rows.layout);
      gmg_launch(e, "diagonal", rows_over_diagonal<gmg_type_of<decltype(rows)>>, gmg_shape_of(p), rows, p, f, v);
    });
  }

  static void launch_norm(const gmg_exec *e, const gmg_operator *A, const void *f, const void *u, scaling how, void *low,
                          gmg_total *to)
  {
    Maker::with(e, *A, [&](const auto &rows) {
      const auto kernel = rows_norm<gmg_type_of<decltype(rows)>>;
      const auto with_gaps = rows_norm_gaps<gmg_type_of<decltype(rows)>>;
      const gmg_sum_target sums = gmg_sums_to(e, to);
      if (A->caller_layouts)
        gmg_launch(e, "residual norm", with_gaps, rows.grid(1), rows, *A->caller_layouts, f, u, how, low, sums);
      else gmg_launch_early(e, "residual norm", kernel, rows.grid(1), rows, f, u, how, low, sums);
    });
  }

  typedef gmg_measures<launch_norm> measures;

  static double magnitude(const gmg_exec *e, const gmg_operator *A, const void *u)
  {
    Maker::with(e, *A, [&](const auto &rows) {
      const gmg_points p = gmg_points_of(rows.layout);
      gmg_launch(e, "magnitude", rows_magnitude<gmg_type_of<decltype(rows)>>, gmg_shape_of(p, GMG_MAX_PARTS), rows, p, u,
                 gmg_sums_to_host(e));
    });
    return sqrt(gmg_cuda_total(e, "magnitude").first);
  }

  static void cg_direction(const gmg_exec *e, const gmg_operator *A, const void *z, gmg_cg_scalars *d, const double *unit,
                           const void *last, void *p, const void *x, void *q)
  {
    add_correction(e, A->cells, {.z = z}, (const double *)&d->beta, last, p);
    Maker::with(e, *A, [&](const auto &rows) {
      const auto kernel = rows_direction<gmg_type_of<decltype(rows)>>;
      gmg_launch(e, "direction", kernel, rows.grid(1), rows, *A, p, x, q, d, unit, gmg_sums_on_device(e));
    });
  }

  static constexpr gmg_operator_ops table()
  {
    gmg_operator_ops t = {};
    t.residual = residual, t.measure_residual = measures::measure_residual, t.interpolated_residual = gmg_interpolate_and_measure;
    t.correct_residual = gmg_correct_and_measure, t.loop_residual = measures::loop_residual;
    t.loop_first_residual = measures::loop_first_residual;
    t.apply = apply, t.over_diagonal = over_diagonal, t.magnitude = magnitude, t.cg_direction = cg_direction;
    t.restrict_residual = gmg_store_and_restrict;
    return t;
  }
};

} // namespace

#endif
