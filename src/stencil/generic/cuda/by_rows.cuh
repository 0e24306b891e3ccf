/* All operations of gmg_operator_ops on a CUDA device, for an operator that is given by its rows: a struct for kernels with

   template <class Body> static void with(const gmg_operator &A, Body body)   calls body(rows) on the host, with such a struct
   gmg_layout at                                                              the layout of a field gmg_grid grid(int sums) const
   the grid for walk(); sums: few thread blocks template <class Body> __device__ void walk(const scalar *f, const scalar *u, Body
   body) const calls body(i, j, k, c, A u, f) for all unknowns of this thread, with GMG_THREADS threads a thread block; f may be
   NULL __device__ real diagonal(size_t i, size_t j, size_t k) const __device__ real magnitude(size_t i, size_t j, size_t k, size_t
   c, const scalar *u) const  |A| |u| at unknown c

   The table is gmg_by_rows<rows>::table(). Included by kernels of operators. */
#ifndef GMG_STENCIL_GENERIC_CUDA_BY_ROWS_H
#define GMG_STENCIL_GENERIC_CUDA_BY_ROWS_H

extern "C" {
#include "stencil/stencil.h"
}

#include "norm.cuh"
#include "stencil/operator/cuda/row.cuh"

#include "core/cg_scalars.h"
#include "core/cuda/axpby.cuh"

/* The type of a variable, without const and reference. */
template <class Type> struct gmg_plain {
  typedef Type type;
};
template <class Type> struct gmg_plain<const Type &> {
  typedef Type type;
};
template <class Type> using gmg_type_of = typename gmg_plain<Type>::type;

/* r = f - A u; f = NULL: r = A u. */
template <class Rows>
static __global__ void __launch_bounds__(GMG_THREADS) rows_residual(Rows A, const scalar *f, const scalar *u, scalar *r)
{
  A.walk(f, u, [&](size_t, size_t, size_t, size_t c, scalar image, scalar rhs) {
    r[c] = f ? rhs - image : image;
  });
}

template <class Rows> static __global__ void rows_over_diagonal(Rows A, gmg_points p, const scalar *f, scalar *v)
{
  gmg_for_points(p, [&](size_t i, size_t j, size_t k, size_t c) { v[c] = f[c] / A.diagonal(i, j, k); });
}

template <class Rows>
static __global__ void __launch_bounds__(GMG_THREADS)
    rows_norm(Rows A, const scalar *f, const scalar *u, scaling how, low_scalar *low, gmg_sums sums)
{
  if (is_done(how)) return;
  const real scale = (real)scale_of(how);
  gmg_total t = {0, 0, 0, 0};
  A.walk(f, u, [&](size_t, size_t, size_t, size_t c, scalar image, scalar rhs) {
    const scalar value = rhs - image;
    if (low) low[c] = (low_scalar)(scale * value);
    t.first += gmg_square((wide_scalar)value), t.second += gmg_square((wide_scalar)rhs);
  });
  sum_up(t, how, sums);
}

template <class Rows>
static __global__ void __launch_bounds__(GMG_THREADS) rows_magnitude(Rows A, gmg_points p, const scalar *u, gmg_sums sums)
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
    rows_direction(Rows rows, gmg_operator A, const scalar *p, const scalar *x, scalar *q, gmg_cg_scalars *direction, gmg_sums sums)
{
  gmg_total t = {0, 0, 0, 0};
  rows.walk(x, p, [&](size_t i, size_t j, size_t k, size_t c, scalar image, scalar beside) {
    const double weighted = gmg_volume_at(A, i, j, k) * (double)p[c];
    q[c] = image;
    t.first += weighted * (double)image, t.second += weighted * (double)beside;
  });
  if (gmg_grid_total(t, sums)) direction->pq = sums.to->first, direction->pr = sums.to->second;
}

/* Without a name, because both real types would have the same functions. */
namespace {

template <class Rows> struct gmg_by_rows {
  static void residual(const gmg_exec *e, const gmg_operator *A, const void *f, const void *u, void *r)
  {
    Rows::with(*A, [&](const auto &rows) {
      gmg_launch(e, f ? "residual" : "operator", rows_residual<gmg_type_of<decltype(rows)>>, rows.grid(0), rows, f, u, r);
    });
  }

  static void apply(const gmg_exec *e, const gmg_operator *A, const void *u, void *v) { residual(e, A, NULL, u, v); }

  static void over_diagonal(const gmg_exec *e, const gmg_operator *A, const void *f, void *v)
  {
    Rows::with(*A, [&](const auto &rows) {
      const gmg_points p = gmg_points_of(rows.at);
      gmg_launch(e, "diagonal", rows_over_diagonal<gmg_type_of<decltype(rows)>>, gmg_grid_of(p), rows, p, f, v);
    });
  }

  static void launch_norm(const gmg_exec *e, const gmg_operator *A, const void *f, const void *u, scaling how, void *low,
                          gmg_total *to)
  {
    Rows::with(*A, [&](const auto &rows) {
      const auto kernel = rows_norm<gmg_type_of<decltype(rows)>>;
      gmg_launch(e, "residual norm", kernel, rows.grid(1), rows, f, u, how, low, gmg_sums_to(e, to));
    });
  }

  static double measure_residual(const gmg_exec *e, const gmg_operator *A, const void *f, const void *u, const double *size,
                                 gmg_scale *s, void *r, double *f_norm, gmg_wait wait)
  {
    gmg_device *d = gmg_device_of(e);
    launch_norm(e, A, f, u, {size, s}, r, wait ? d->total : d->scalar);
    if (!wait) return NAN;
    const gmg_total t = gmg_cuda_total(e, "residual norm");
    if (f_norm) *f_norm = sqrt(t.second);
    return sqrt(t.first);
  }

  static void interpolated_residual(const gmg_exec *e, const gmg_operator *A, const gmg_map map[3], const void *coarse,
                                    const void *f, void *u, const double *size, void *r)
  {
    gmg_stencil_of(e)->tensor(e, map, coarse, u, 0);
    (void)measure_residual(e, A, f, u, size, NULL, r, NULL, GMG_ENQUEUE);
  }

  static double correct_residual(const gmg_exec *e, const gmg_operator *A, gmg_correction c, const void *f, void *u,
                                 const double *size, gmg_scale *s, void *r, gmg_wait wait)
  {
    add_correction(e, A->cells, c, (real)1, u);
    return measure_residual(e, A, f, u, size, s, r, NULL, wait);
  }

  static void loop_residual(const gmg_exec *e, const gmg_operator *A, gmg_correction c, const void *f, void *u, gmg_scale *s,
                            void *r)
  {
    gmg_device *d = gmg_device_of(e);
    if (c.z) add_correction(e, A->cells, c, (real)1, u);
    launch_norm(e, A, f, u, {NULL, s, 0, d->loop_test}, r, &d->loop_state->residual);
  }

  static void loop_first_residual(const gmg_exec *e, const gmg_operator *A, const void *f, const void *u, const double *size,
                                  gmg_scale *s, void *r)
  {
    gmg_device *d = gmg_device_of(e);
    launch_norm(e, A, f, u, {size, s, 1, d->loop_test}, r, &d->loop_state->residual);
  }

  static double magnitude(const gmg_exec *e, const gmg_operator *A, const void *u)
  {
    Rows::with(*A, [&](const auto &rows) {
      const gmg_points p = gmg_points_of(rows.at);
      gmg_launch(e, "magnitude", rows_magnitude<gmg_type_of<decltype(rows)>>, gmg_grid_of(p, 1), rows, p, u, gmg_sums_to_host(e));
    });
    return sqrt(gmg_cuda_total(e, "magnitude").first);
  }

  static void cg_direction(const gmg_exec *e, const gmg_operator *A, gmg_correction c, gmg_cg_scalars *d, void *p, const void *x,
                           void *q)
  {
    add_correction(e, A->cells, c, (const double *)&d->beta, p);
    Rows::with(*A, [&](const auto &rows) {
      const auto kernel = rows_direction<gmg_type_of<decltype(rows)>>;
      gmg_launch(e, "direction", kernel, rows.grid(1), rows, *A, p, x, q, d, gmg_sums_on_device(e));
    });
  }

  static void restrict_residual(const gmg_exec *e, const gmg_operator *A, const gmg_map map[3], const void *f, const void *u,
                                void *r, void *coarse)
  {
    residual(e, A, f, u, r);
    gmg_stencil_of(e)->tensor(e, map, r, coarse, 0);
  }

  static constexpr gmg_operator_ops table()
  {
    gmg_operator_ops t = {};
    t.residual = residual, t.measure_residual = measure_residual, t.interpolated_residual = interpolated_residual;
    t.correct_residual = correct_residual, t.loop_residual = loop_residual, t.loop_first_residual = loop_first_residual;
    t.apply = apply, t.over_diagonal = over_diagonal, t.magnitude = magnitude, t.cg_direction = cg_direction;
    t.restrict_residual = restrict_residual;
    return t;
  }
};

} // namespace

#endif
