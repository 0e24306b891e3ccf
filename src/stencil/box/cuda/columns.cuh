/* Walks along columns of a box stencil: along the last axis, a thread a column. A slice (a plane in 3D, a line in 2D) is loaded
   once, and used for the slices below, at and above it: 9 loads an unknown in 3D instead of 27. 1D is 2D with a single slice.
   Included by box.cu. */
#ifndef GMG_STENCIL_BOX_CUDA_COLUMNS_H
#define GMG_STENCIL_BOX_CUDA_COLUMNS_H

#include "stencil/box/box.h"
#include "stencil/operator/cuda/row.cuh"

/* Without a name, because both real types would have the same functions. */
namespace {

/* axes: 2 or 3 */
template <int axes> struct box_columns : gmg_box_rows {
  gmg_tiles tiles; /* of columns; slices are stacked along its last axis */

  __host__ __device__ static constexpr int last() { return axes - 1; }

  __host__ gmg_grid grid(int sums) const { return gmg_grid_of(tiles, sums); }

  /* The slice at `index`, which may be just outside: across a seam, mirrored, or none (-1). */
  __device__ __forceinline__ int slice_at(int index) const
  {
    const int n = (int)at.n[last()];
    if (index >= 0 && index < n) return index;
    if (wraps[last()]) return index < 0 ? n - 1 : 0;
    if (!mirrors[last()][index >= n]) return -1;
    return n == 1 ? 0 : index < 0 ? 1 : n - 2;
  }

  /* The values of a slice around a column; none: zeros. */
  struct values {
    scalar at[axes > 2 ? 3 : 1][3];
  };

  __device__ __forceinline__ values load(const scalar *column, int slice, const gmg_box_steps &x, const gmg_box_steps &y) const
  {
    const scalar *const base = column + (size_t)max(slice, 0) * gmg_pitch(at, last());
    values v;
#pragma unroll
    for (int b = 0; b < (axes > 2 ? 3 : 1); b++)
#pragma unroll
      for (int a = 0; a < 3; a++) {
        const int there = slice >= 0 && x.there[a] && (axes < 3 || y.there[b]);
        v.at[b][a] = there ? __ldg(base + x.to[a] + (axes > 2 ? y.to[b] : 0)) : (scalar)0;
      }
    return v;
  }

  /* Slices are loaded one ahead, so that their latency is hidden. */
  template <class Body> __device__ __forceinline__ void walk(const scalar *f, const scalar *u, Body body) const
  {
    const int n = (int)at.n[last()], lines = axes > 2 ? (int)at.n[1] : 1;
    const size_t pitch = gmg_pitch(at, last());
    for (unsigned tile = blockIdx.x; tile < tiles.total; tile += gridDim.x) {
      const unsigned tx = tile % tiles.count[0], rest = tile / tiles.count[0];
      const unsigned ty = rest % tiles.count[1], tz = rest / tiles.count[1];
      const int i = (int)(tx * tiles.across + threadIdx.x), j = (int)(ty * tiles.lines + threadIdx.y);
      const int begin = (int)(tz * tiles.high), end = min(begin + (int)tiles.high, n);
      if (i >= (int)at.n[0] || j >= lines) continue;
      const gmg_box_steps x = gmg_box_steps_at(this, 0, (size_t)i), y = gmg_box_steps_at(this, 1, (size_t)j);
      const size_t first = (size_t)i + (axes > 2 ? (size_t)j * at.row : 0);
      scalar low = 0, here = 0; /* what the slices before give to the next slice, and to the one after it */
      values v = load(u + first, slice_at(begin - 1), x, y), next;
      scalar rhs = 0, next_rhs = 0;
      for (int k = begin - 1; k <= end; k++) {
        if (k < end) next = load(u + first, slice_at(k + 1), x, y);
        if (f && k >= begin && k < end) next_rhs = __ldg(f + first + (size_t)k * pitch);
        scalar to[3] = {0, 0, 0}; /* what this slice gives to the one above, itself, and below */
#pragma unroll
        for (int b = 0; b < (axes > 2 ? 3 : 1); b++)
#pragma unroll
          for (int a = 0; a < 3; a++)
#pragma unroll
            for (int c = 0; c < 3; c++) to[c] += entry[axes > 2 ? a + 3 * b + 9 * c : a + 3 * c + 9] * v.at[b][a];
        if (k > begin) {
          const int s = k - 1;
          const size_t c = first + (size_t)s * pitch;
          body((size_t)i, axes > 2 ? (size_t)j : (size_t)s, axes > 2 ? (size_t)s : (size_t)0, c, low + to[2], rhs);
        }
        low = here + to[1], here = to[0], v = next, rhs = next_rhs;
      }
    }
  }

  __device__ __forceinline__ real diagonal(size_t, size_t, size_t) const { return diag; }

  __device__ __forceinline__ real magnitude(size_t i, size_t j, size_t k, size_t c, const scalar *u) const
  {
    return gmg_box_magnitude(this, gmg_box_steps_at(this, 0, i), gmg_box_steps_at(this, 1, j), gmg_box_steps_at(this, 2, k), u + c);
  }
};

struct box_rows {
  template <int dim, class Body> static void with_columns(const gmg_operator &A, Body body)
  {
    const size_t n[3] = {A.n[0], dim > 2 ? A.n[1] : 1, A.n[dim - 1]};
    box_columns<dim> columns = {gmg_box_rows_of(&A), gmg_tiles_of(n, n[1] < 8 ? GMG_THREADS : 32, 16, 2, 4 * 132)};
    body(columns);
  }

  template <class Body> static void with(const gmg_operator &A, Body body)
  {
    if (A.dim == 3) with_columns<3>(A, [&](const auto &columns) { body(columns); });
    else with_columns<2>(A, [&](const auto &columns) { body(columns); });
  }
};

} // namespace

#endif
