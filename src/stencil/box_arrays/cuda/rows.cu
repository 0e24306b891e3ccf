/* Variable box stencils on a CUDA device: their operations, by rows. A thread computes an unknown. Called through gmg_operator_ops.
   In 3D an unknown needs 27 entries, each read once, u and f: at least 232 bytes in double. */
#include "stencil/generic/cuda/by_rows.cuh"

#include "stencil/box_arrays/rows.h"

/* The namespace has no name. Otherwise both real types would have the same symbols. */
namespace {

template <int dim> struct array_rows : gmg_box_array_rows {
  gmg_points points;

  __host__ gmg_launch_shape grid(int sums) const { return gmg_shape_of(points, sums ? GMG_MAX_PARTS : 0x7fffffff); }

  template <class Body> __device__ __forceinline__ void walk(const scalar *f, const scalar *u, Body body) const
  {
    gmg_for_points(points, [&](size_t i, size_t j, size_t k, size_t c) {
      const gmg_box_steps x = gmg_box_array_steps_at(this, 0, i), y = gmg_box_array_steps_at(this, 1, j);
      const gmg_box_steps z = gmg_box_array_steps_at(this, 2, k);
      const scalar image = gmg_box_array_image(dim, this, x, y, z, gmg_offset(own, i, j, k), u + c);
      body(i, j, k, c, image, f ? f[c] : (scalar)0);
    });
  }

  __device__ __forceinline__ real diagonal(size_t i, size_t j, size_t k, size_t) const
  {
    return entry[13][gmg_offset(own, i, j, k)];
  }

  __device__ __forceinline__ real magnitude(size_t i, size_t j, size_t k, size_t c, const scalar *u) const
  {
    const gmg_box_steps x = gmg_box_array_steps_at(this, 0, i), y = gmg_box_array_steps_at(this, 1, j);
    return gmg_box_array_magnitude(this, x, y, gmg_box_array_steps_at(this, 2, k), gmg_offset(own, i, j, k), u + c);
  }
};

struct array_maker {
  template <int dim, class Body> static void with_rows(const gmg_operator &A, Body body)
  {
    const gmg_box_array_rows rows = gmg_box_array_rows_of(&A);
    array_rows<dim> all = {rows, gmg_points_of(rows.layout)};
    body(all);
  }

  template <class Body> static void with(const gmg_exec *, const gmg_operator &A, Body body)
  {
    if (A.dim == 3) with_rows<3>(A, [&](const auto &rows) { body(rows); });
    else if (A.dim == 2) with_rows<2>(A, [&](const auto &rows) { body(rows); });
    else with_rows<1>(A, [&](const auto &rows) { body(rows); });
  }
};

} // namespace

extern "C" const gmg_operator_ops R(gmg_box_arrays_cuda) = gmg_by_rows<array_maker>::table();
