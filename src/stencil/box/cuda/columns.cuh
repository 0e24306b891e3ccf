/* Walks along columns of a box stencil: along the last axis, with one thread per column. A slice (a plane in 3D, a line in 2D) is
   loaded once, and used for the slices below, at and above it: 9 loads per unknown in 3D instead of 27. 1D is 2D with a single
   slice. Included by box.cu. */
#ifndef GMG_STENCIL_BOX_CUDA_COLUMNS_H
#define GMG_STENCIL_BOX_CUDA_COLUMNS_H

#include "stencil/box/box.h"
#include "stencil/operator/cuda/row.cuh"

/* The namespace has no name. Otherwise both real types would have the same symbols. */
namespace {

/* axes: 3, or 2 for 2D and 1D */
template <int axes> struct box_columns : gmg_box_rows {
  gmg_tiles tiles; /* of columns; slices are stacked along its last axis */

  __host__ __device__ static constexpr int last() { return axes - 1; }

  __host__ gmg_launch_shape grid(int sums) const { return gmg_shape_of(tiles, sums); }

  /* The slice at `index`, which may be just outside: across a seam, mirrored, or none (-1). */
  __device__ __forceinline__ int slice_at(int index) const
  {
    const int n = (int)layout.n[last()];
    if (index >= 0 && index < n) return index;
    if (wraps[last()]) return index < 0 ? n - 1 : 0;
    if (!mirrors[last()][index >= n]) return -1;
    return n == 1 ? 0 : index < 0 ? 1 : n - 2;
  }

  /* What a slice gives to the one above, itself, and the one below. inside: the column has all its neighbours beside it. */
  struct parts {
    scalar to[3];
  };
  template <int inside>
  __device__ __forceinline__ parts parts_of(const scalar *slice, const gmg_box_steps &x, const gmg_box_steps &y) const
  {
    parts p = {{0, 0, 0}};
#pragma unroll
    for (int b = 0; b < (axes > 2 ? 3 : 1); b++) {
      const scalar *const row = axes < 3 ? slice : inside ? slice + (b - 1) * (long)layout.row : slice + y.to[b];
#pragma unroll
      for (int a = 0; a < 3; a++) {
        const int there = inside || (x.there[a] && (axes < 3 || y.there[b]));
        const scalar value = there ? __ldg(row + (inside ? a - 1 : x.to[a])) : (scalar)0;
#pragma unroll
        for (int c = 0; c < 3; c++) p.to[c] += entry[axes > 2 ? a + 3 * b + 9 * c : a + 3 * c + 9] * value;
      }
    }
    return p;
  }

  /* The unknowns begin .. end - 1 of column (i, j). */
  template <int inside, class Body>
  __device__ __forceinline__ void walk_column(const scalar *f, const scalar *u, int i, int j, int begin, int end, Body body) const
  {
    const gmg_box_steps x = gmg_box_steps_at(this, 0, (size_t)i), y = gmg_box_steps_at(this, 1, (size_t)j);
    const size_t pitch = gmg_pitch(layout, last()), first = (size_t)i + (axes > 2 ? (size_t)j * layout.row : 0);
    const int before = slice_at(begin - 1), after = slice_at(end);
    parts p = {{0, 0, 0}};
    if (before >= 0) p = parts_of<inside>(u + first + (size_t)before * pitch, x, y);
    scalar here = p.to[0]; /* what the slice before gives to the next one */
    scalar low = 0;        /* what the slices up to this one give to the one before it */
    size_t c = first + (size_t)begin * pitch;
    const auto done = [&](int k, size_t at_k, scalar image) {
      const scalar rhs = f ? __ldg(f + at_k) : (scalar)0;
      body((size_t)i, axes > 2 ? (size_t)j : (size_t)k, axes > 2 ? (size_t)k : (size_t)0, at_k, image, rhs);
    };
#pragma unroll 2
    for (int k = begin; k < end; k++, c += pitch) {
      p = parts_of<inside>(u + c, x, y);
      if (k > begin) done(k - 1, c - pitch, low + p.to[2]);
      low = here + p.to[1], here = p.to[0];
    }
    p.to[2] = 0;
    if (after >= 0) p = parts_of<inside>(u + first + (size_t)after * pitch, x, y);
    done(end - 1, c - pitch, low + p.to[2]);
  }

  template <class Body> __device__ __forceinline__ void walk(const scalar *f, const scalar *u, Body body) const
  {
    const int n[2] = {(int)layout.n[0], axes > 2 ? (int)layout.n[1] : 1};
    for (unsigned tile = blockIdx.x; tile < tiles.total; tile += gridDim.x) {
      const unsigned tx = tile % tiles.count[0], rest = tile / tiles.count[0];
      const unsigned ty = rest % tiles.count[1], tz = rest / tiles.count[1];
      const int i = (int)(tx * tiles.across + threadIdx.x), j = (int)(ty * tiles.lines + threadIdx.y);
      const int begin = (int)(tz * tiles.high), end = min(begin + (int)tiles.high, (int)layout.n[last()]);
      if (i >= n[0] || j >= n[1]) continue;
      const int inside = i > 0 && i + 1 < n[0] && (axes < 3 || (j > 0 && j + 1 < n[1]));
      if (inside) walk_column<1>(f, u, i, j, begin, end, body);
      else walk_column<0>(f, u, i, j, begin, end, body);
    }
  }

  __device__ __forceinline__ real diagonal(size_t, size_t, size_t, size_t) const { return diag; }

  __device__ __forceinline__ real magnitude(size_t i, size_t j, size_t k, size_t c, const scalar *u) const
  {
    return gmg_box_magnitude(this, gmg_box_steps_at(this, 0, i), gmg_box_steps_at(this, 1, j), gmg_box_steps_at(this, 2, k), u + c);
  }
};

struct box_rows {
  template <int dim, class Body> static void with_columns(const gmg_exec *e, const gmg_operator &A, Body body)
  {
    const size_t n[3] = {A.n[0], dim > 2 ? A.n[1] : 1, A.n[dim - 1]}, blocks = 4 * (size_t)gmg_device_of(e)->processors;
    box_columns<dim> columns = {gmg_box_rows_of(&A), gmg_tiles_of(n, n[1] < 8 ? GMG_THREADS : 32, 16, 2, blocks)};
    body(columns);
  }

  template <class Body> static void with(const gmg_exec *e, const gmg_operator &A, Body body)
  {
    if (A.dim == 3) with_columns<3>(e, A, [&](const auto &columns) { body(columns); });
    else with_columns<2>(e, A, [&](const auto &columns) { body(columns); });
  }
};

} // namespace

#endif
