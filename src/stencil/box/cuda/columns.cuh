/* Walks along columns of a box stencil: along the last axis, with columns in the lanes of a warp (operator/cuda/lane_columns.cuh).
   A slice (a plane in 3D, a line in 2D) is loaded once, and used for the slices below, at and above it: in 3D 1.5 loads per unknown
   instead of 27. 1D is 2D with a single slice. Included by box.cu. */
#ifndef GMG_STENCIL_BOX_CUDA_COLUMNS_H
#define GMG_STENCIL_BOX_CUDA_COLUMNS_H

#include "stencil/box/box.h"
#include "stencil/operator/cuda/lane_columns.cuh"
#include "stencil/operator/cuda/uniform_columns.cuh"

/* The namespace has no name. Otherwise both real types would have the same symbols. */
namespace {

/* The columns of a lane. axes: 3, or 2 for 2D and 1D */
template <int axes> struct box_lane_columns {
  typedef gmg_box_rows operator_type;
  static constexpr int deep = axes > 2 ? LANE_DEEP : 1;
  enum { PLANES = 1 }; /* planes after which residual() finds its values in the same places */

  const gmg_box_rows &A;
  const scalar *f, *u;
  gmg_layout layout; /* along the columns */
  int last_ends;     /* what is beyond the ends of the columns */
  gmg_lane_lines<deep> lines;
  scalar next[deep + 2]; /* values of the slice ahead */
  scalar rhs[deep];      /* f of the next slice; f may be NULL */
  scalar near[deep];     /* what the slices before the next one and at it give to the next one */
  scalar ahead[deep];    /* what the slice at the next one gives to the one after it */
  int end;               /* no slice beyond this one is loaded */

  __device__ __forceinline__ static int ends_of(const gmg_box_rows &A, int a)
  {
    return A.wraps[a] | (A.mirrors[a][0] ? GMG_MIRRORS_BELOW : 0) | (A.mirrors[a][1] ? GMG_MIRRORS_ABOVE : 0);
  }
  __device__ __forceinline__ static gmg_lane_lines<deep> lines_of(const gmg_box_rows &A, const gmg_layout &l, int i, int j)
  {
    const int ends[3] = {ends_of(A, 0), axes > 2 ? ends_of(A, 1) : 0, 0};
    return gmg_lane_lines<deep>(l, ends, i, j);
  }

  /* (i, j): the first of the lane's columns, which may be outside the level */
  __device__ __forceinline__ box_lane_columns(const gmg_box_rows &A, const scalar *f, const scalar *u, int i, int j)
      : A(A), f(f), u(u), layout(gmg_along_columns(axes, A.layout)), last_ends(ends_of(A, axes - 1)),
        lines(lines_of(A, layout, i, j))
  {
  }

  __device__ __forceinline__ int index_of(int k) const { return gmg_lane_index(k, (int)layout.n[2], last_ends); }
  __device__ __forceinline__ const scalar *slice_of(const scalar *v, int index) const
  {
    return gmg_lane_plane(v, layout, index);
  }

  /* Values of slice k; 0 beyond walls. */
  __device__ __forceinline__ void load(int k)
  {
    const int index = index_of(k);
#pragma unroll
    for (int b = 0; b < deep + 2; b++) next[b] = index >= 0 && (axes > 2 || b == 1) ? lines.load(slice_of(u, index), b) : (scalar)0;
  }
  __device__ __forceinline__ void load_rhs(int k)
  {
    if (!f) return;
    const scalar *const slice = slice_of(f, max(index_of(k), 0));
#pragma unroll
    for (int d = 0; d < deep; d++) rhs[d] = lines.load_any(slice, d + 1);
  }

  /* What the values of a slice give: to[0] to the slice after it, to[1] to itself, to[2] to the one before. */
  struct parts {
    scalar to[3][deep];
  };
  __device__ __forceinline__ parts parts_of(const scalar v[deep + 2]) const
  {
    parts p = {};
#pragma unroll
    for (int b = 0; b < deep + 2; b++) {
      if (axes < 3 && b != 1) continue;
      const scalar value[3] = {__shfl_up_sync(~0u, v[b], 1), v[b], __shfl_down_sync(~0u, v[b], 1)};
#pragma unroll
      for (int d = 0; d < deep; d++) {
        const int line = axes > 2 ? b - d : 0;
        if (line < 0 || line > 2) continue;
#pragma unroll
        for (int c = 0; c < 3; c++)
#pragma unroll
          for (int a = 0; a < 3; a++) p.to[c][d] += A.entry[axes > 2 ? a + 3 * line + 9 * c : a + 3 * c + 9] * value[a];
      }
    }
    return p;
  }

  __device__ __forceinline__ void step(const parts &p)
  {
#pragma unroll
    for (int d = 0; d < deep; d++) near[d] = ahead[d] + p.to[1][d], ahead[d] = p.to[0][d];
  }

  /* Before the images and residuals of slices k, k + 1, up to end - 1. */
  __device__ __forceinline__ void begin(int k, int end)
  {
    this->end = end;
#pragma unroll
    for (int d = 0; d < deep; d++) ahead[d] = rhs[d] = 0;
    load(k - 1), step(parts_of(next));
    load(k), step(parts_of(next));
    load(k + 1), load_rhs(k);
  }

  /* v = A u; b = f, or 0 if f is NULL. Any numbers where there is no unknown. All lanes of a warp call it together. Values of the
     slice ahead are loaded first, because a warp has no other work while it waits for them. */
  __device__ __forceinline__ void image(int k, scalar v[deep], scalar b[deep])
  {
    scalar now[deep + 2];
#pragma unroll
    for (int m = 0; m < deep + 2; m++) now[m] = next[m];
#pragma unroll
    for (int d = 0; d < deep; d++) b[d] = rhs[d];
    if (k + 1 < end) load(k + 2), load_rhs(k + 1);
    const parts p = parts_of(now);
#pragma unroll
    for (int d = 0; d < deep; d++) v[d] = near[d] + p.to[2][d];
    step(p);
  }

  __device__ __forceinline__ void residual(int k, int, scalar r[deep])
  {
    scalar v[deep], b[deep];
    image(k, v, b);
#pragma unroll
    for (int d = 0; d < deep; d++) r[d] = b[d] - v[d];
  }
};

template <int axes> struct box_columns : gmg_box_rows {
  gmg_tiles tiles; /* of lanes; slices are stacked along its last axis */

  __host__ gmg_launch_shape grid(int sums) const { return gmg_shape_of(tiles, sums); }

  template <class Body> __device__ __forceinline__ void walk(const scalar *f, const scalar *u, Body body) const
  {
    enum { deep = box_lane_columns<axes>::deep };
    const int n[2] = {(int)layout.n[0], axes > 2 ? (int)layout.n[1] : 1};
    const int lane = (int)threadIdx.x % LANES, warp = (int)threadIdx.x / LANES;
    for (unsigned tile = blockIdx.x; tile < tiles.total; tile += gridDim.x) {
      const unsigned tx = tile % tiles.count[0], rest = tile / tiles.count[0];
      const unsigned ty = rest % tiles.count[1], tz = rest / tiles.count[1];
      const int i = ((int)(tx * tiles.across) / LANES + warp) * LANE_COLUMNS + lane - 1;
      const int j = deep * (int)(ty * tiles.lines + threadIdx.y);
      const int begin = (int)(tz * tiles.high), end = min(begin + (int)tiles.high, (int)layout.n[axes - 1]);
      if (j >= n[1]) continue;
      const int mine = lane > 0 && lane <= LANE_COLUMNS && i < n[0];
      box_lane_columns<axes> columns(*this, f, u, i, j);
      columns.begin(begin, end);
      for (int k = begin; k < end; k++) {
        scalar image[deep], rhs[deep];
        columns.image(k, image, rhs);
#pragma unroll
        for (int d = 0; d < deep; d++) {
          if (!mine || j + d >= n[1]) continue;
          const size_t at[3] = {(size_t)i, (size_t)(axes > 2 ? j + d : k), (size_t)(axes > 2 ? k : 0)};
          body(at[0], at[1], at[2], gmg_offset(layout, at[0], at[1], at[2]), image[d], rhs[d]);
        }
      }
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
    const size_t lines = dim > 2 ? (A.n[1] + LANE_DEEP - 1) / LANE_DEEP : 1, blocks = 4 * (size_t)gmg_device_of(e)->processors;
    const size_t threads[3] = {(A.n[0] + LANE_COLUMNS - 1) / LANE_COLUMNS * LANES, lines, A.n[dim - 1]};
    const unsigned across = lines < 8 ? (unsigned)GMG_THREADS : (unsigned)LANES;
    box_columns<dim> columns = {gmg_box_rows_of(&A), gmg_tiles_of(threads, across, 16, 2, blocks)};
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
