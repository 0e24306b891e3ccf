/* The entries of variable box stencils on a CUDA device: checks, the finest level, coarser levels. Called through
   gmg_box_values_ops. A thread computes a row. */
extern "C" {
#include "core/exec.h"
}

#include "core/cuda/device.h"
#include "stencil/box_arrays/given.h"
#include "stencil/box_arrays/rows.h"

#include <math.h>

/* gmg_indices_of(), with divisions that nvcc shares. */
static __device__ __forceinline__ void find_row(const gmg_given_box &g, size_t c, size_t at[3])
{
  at[0] = c % g.layout.n[0], at[1] = c / g.layout.n[0] % g.layout.n[1], at[2] = c / g.layout.n[0] / g.layout.n[1];
}

/* first: the number of bad rows; second: the weighted sum of their sums. */
static __global__ void __launch_bounds__(GMG_THREADS)
    examine_rows(gmg_given_box g, size_t first, size_t count, gmg_sum_target sums)
{
  gmg_total t = {0, 0, HUGE_VAL, -HUGE_VAL};
  gmg_for_all(count, [&](size_t c) {
    size_t at[3];
    double sum;
    find_row(g, first + c, at);
    const double bad = gmg_given_row(&g, at, &sum).fault != GMG_ROW_GOOD;
    const gmg_total one = {bad, gmg_given_control_volume(&g, at) * sum, sum, sum};
    t = gmg_plus(t, one);
  });
  gmg_grid_total<1>(t, sums);
}

static gmg_row_totals examine(const gmg_exec *e, const gmg_given_box *g, size_t first, size_t count)
{
  gmg_launch(e, "check of a stencil", examine_rows, gmg_flat_shape(count, GMG_MAX_PARTS), *g, first, count, gmg_sums_to_host(e));
  const gmg_total t = gmg_cuda_total(e, "check of a stencil");
  return {t.first, t.second, t.least, t.most};
}

/* The finding as a total: fault, entry, value, other. */
static __global__ void explain_row(gmg_given_box g, size_t row, gmg_total *to)
{
  size_t at[3];
  double sum;
  find_row(g, row, at);
  const gmg_row_finding x = gmg_given_row(&g, at, &sum);
  to->first = x.fault, to->second = x.entry, to->least = x.value, to->most = x.other;
}

static gmg_row_finding explain(const gmg_exec *e, const gmg_given_box *g, size_t row)
{
  const gmg_launch_shape one = {dim3(1), dim3(1), 0};
  gmg_launch(e, "check of a stencil", explain_row, one, *g, row, gmg_device_of(e)->total);
  const gmg_total t = gmg_cuda_total(e, "check of a stencil");
  const int fault = t.first >= 0 ? (int)t.first : 0, entry = t.second >= 0 && t.second < 27 ? (int)t.second : 13;
  return {(gmg_row_fault)fault, entry, t.least, t.most};
}

static __global__ void load_rows(gmg_given_box g, gmg_points p, gmg_box_array_rows to)
{
  gmg_for_points(p, [&](size_t i, size_t j, size_t k, size_t c) {
    const size_t at[3] = {i, j, k};
    for (int n = 0; n < 27; n++)
      if (to.entry[n]) ((real *)to.entry[n])[c] = (real)gmg_given_entry(&g, at, n);
  });
}

static void load(const gmg_exec *e, const gmg_given_box *g, const gmg_operator *A)
{
  const gmg_points p = gmg_points_of(A->n);
  gmg_launch(e, "entries of a stencil", load_rows, gmg_shape_of(p), *g, p, gmg_box_array_rows_of(A));
}

static __global__ void galerkin_rows(gmg_box_array_rows fine, gmg_maps prolong, gmg_maps restrict_, gmg_points p,
                                     gmg_box_array_rows to)
{
  gmg_for_points(p, [&](size_t i, size_t j, size_t k, size_t c) {
    const gmg_box_galerkin_axis x = gmg_box_galerkin_axis_at(&prolong.m[0], &restrict_.m[0], fine.wraps[0], (int)i);
    const gmg_box_galerkin_axis y = gmg_box_galerkin_axis_at(&prolong.m[1], &restrict_.m[1], fine.wraps[1], (int)j);
    const gmg_box_galerkin_axis z = gmg_box_galerkin_axis_at(&prolong.m[2], &restrict_.m[2], fine.wraps[2], (int)k);
    double row[27];
    gmg_box_galerkin_row(&fine, &x, &y, &z, row);
    for (int n = 0; n < 27; n++)
      if (to.entry[n]) ((real *)to.entry[n])[c] = (real)row[n];
  });
}

static void galerkin_product(const gmg_exec *e, const gmg_operator *A, const gmg_map prolong[3], const gmg_map restrict_[3],
                             const gmg_operator *C)
{
  const gmg_points p = gmg_points_of(C->n);
  gmg_launch(e, "coarse stencil", galerkin_rows, gmg_shape_of(p), gmg_box_array_rows_of(A), gmg_maps_of(prolong),
             gmg_maps_of(restrict_), p, gmg_box_array_rows_of(C));
}

extern "C" const gmg_box_values_ops R(gmg_box_values_cuda) = {examine, explain, load, galerkin_product};
