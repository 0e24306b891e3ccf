/* Columns of a field in the lanes of a warp, in 3D, for kernels that compute a residual plane by plane. A lane has LANE_DEEP
   columns, one behind the other. It loads a value of each, of the line in front of them and of the line behind them. Values to the
   left and right come from the lanes beside it, so the first and the last lane of a warp have no residual. Any size, any walls, any
   coefficients. Included by the restriction of residuals and by box stencils. */
#ifndef GMG_STENCIL_OPERATOR_CUDA_LANE_COLUMNS_H
#define GMG_STENCIL_OPERATOR_CUDA_LANE_COLUMNS_H

#include "row.cuh"

#include "stencil/grid/map.h"

#include <limits.h>

enum { LANES = 32, LANE_COLUMNS = LANES - 2 };                /* LANE_COLUMNS: columns of a warp with a residual */
enum { LANE_DEEP = sizeof(scalar) == 8 ? 2 : 4 };             /* limited by registers */

/* Whether offsets in a plane are ints, and planes beyond a seam are found. */
static inline int gmg_has_lane_columns(const gmg_layout &l)
{
  return gmg_pitch(l, 2) <= INT_MAX && l.n[2] <= INT_MAX && l.n[2] > GMG_MAP_PAD;
}

#ifdef __CUDACC__

/* The first value of a plane. */
static __device__ __forceinline__ const scalar *gmg_lane_plane(const scalar *x, const gmg_layout &l, int index)
{
  return x + l.first + (size_t)index * (unsigned)gmg_pitch(l, 2); /* a product of two 32-bit numbers */
}

/* The namespace has no name. Otherwise both real types would have the same symbols. */
namespace {

/* The unknown at index i of an axis, or that of which it is the image; -1: none. ends: as for gmg_fold_index(). Beyond a mirroring
   wall only the next image is found. */
__device__ __forceinline__ int gmg_lane_index(int i, int n, int ends)
{
  if (ends & GMG_WRAPS) return gmg_wrap_by_loop(i, n, 1);
  if (i < -1 || i > n || !gmg_index_continues(i, n, ends)) return -1;
  return n == 1 ? 0 : gmg_fold_index(i, n, ends);
}

/* The lines that a lane at column i and line j reads: the one in front of its columns, its own, and the one behind. at: their
   offsets in a plane, or -1. */
template <int deep> struct gmg_lane_lines {
  int at[deep + 2];

  __device__ __forceinline__ gmg_lane_lines(const gmg_layout &l, const int ends[3], int i, int j)
  {
    const int column = gmg_lane_index(i, (int)l.n[0], ends[0]);
#pragma unroll
    for (int b = 0; b < deep + 2; b++) {
      const int line = gmg_lane_index(j - 1 + b, (int)l.n[1], ends[1]);
      at[b] = column < 0 || line < 0 ? -1 : line * (int)l.row + column;
    }
  }

  /* The value in a plane; 0 where there is none. */
  __device__ __forceinline__ scalar load(const scalar *plane, int b) const { return at[b] >= 0 ? __ldg(plane + at[b]) : (scalar)0; }
  /* The value in a plane; any where there is none. */
  __device__ __forceinline__ scalar load_any(const scalar *plane, int b) const { return __ldg(plane + max(at[b], 0)); }
};

/* What an axis adds to the row of an unknown. With coefficients on faces, those still multiply it. */
template <int kind> struct gmg_axis_part {
  real lo, hi, lo_diag, hi_diag; /* without faces lo_diag is the axis's whole part of the diagonal */

  __device__ __forceinline__ gmg_axis_part() {}
  __device__ __forceinline__ gmg_axis_part(const gmg_operator &A, int axis, size_t i)
  {
    lo = gmg_at(A.lo[axis], i), hi = gmg_at(A.hi[axis], i);
    lo_diag = gmg_at(kind & GMG_FACES ? A.lo_diag[axis] : A.diag[axis], i);
    hi_diag = kind & GMG_FACES ? gmg_at(A.hi_diag[axis], i) : (real)0;
  }
  /* face: the coefficients of the faces below and above the unknown; only with faces */
  __device__ __forceinline__ void add_to(gmg_row &r, int axis, const real face[2]) const
  {
    const int faces = kind & GMG_FACES;
    r.lo[axis] = faces ? lo * face[0] : lo, r.hi[axis] = faces ? hi * face[1] : hi;
    r.diag += faces ? lo_diag * face[0] + hi_diag * face[1] : lo_diag;
  }
};

/* The residual of the 7-point operator, between packed fields. Couplings to missing neighbours are 0, so any value may be read
   there. */
template <int kind> struct gmg_seven_point_columns {
  typedef gmg_operator operator_type;
  static constexpr int deep = LANE_DEEP;
  enum { PLANES = 1 }; /* planes after which residual() finds its values in the same places */

  const gmg_operator &A;
  const scalar *f, *u;
  int column, row[deep]; /* indices of the own columns and lines; 0 where there is none */
  int n, around;         /* planes; n if they wrap, else 0 */
  gmg_lane_lines<deep> lines;
  gmg_axis_part<kind> x, y[deep], z;
  scalar below[deep], here[deep], above[deep], rhs[deep], front, back; /* values for the next residual */
  int end;                                                             /* no plane beyond this one is loaded */

  /* (i, j): the first of the lane's columns, which may be outside the level */
  __device__ __forceinline__ gmg_seven_point_columns(const gmg_operator &A, const scalar *f, const scalar *u, int i, int j)
      : A(A), f(f), u(u), column(max(gmg_lane_index(i, (int)A.n[0], A.wraps[0]), 0)), n((int)A.n[2]), around(A.wraps[2] ? n : 0),
        lines(gmg_layout_of(&A), A.wraps, i, j), x(A, 0, column)
  {
#pragma unroll
    for (int d = 0; d < deep; d++) row[d] = max(gmg_lane_index(j + d, (int)A.n[1], A.wraps[1]), 0);
#pragma unroll
    for (int d = 0; d < deep; d++) y[d] = gmg_axis_part<kind>(A, 1, row[d]);
#pragma unroll
    for (int b = 0; b < deep + 2; b++) lines.at[b] = max(lines.at[b], 0);
  }

  /* The plane at index k, which may be outside by less than n. Beyond a wall it is the last one. */
  __device__ __forceinline__ int index_of(int k) const { return min(max(gmg_wrap_once_by(k, n, around), 0), n - 1); }
  __device__ __forceinline__ const scalar *plane_of(const scalar *v, int index) const
  {
    return gmg_lane_plane(v, gmg_layout_of(&A), index);
  }

  __device__ __forceinline__ void load(int k, scalar v[deep]) const
  {
    const scalar *const plane = plane_of(u, index_of(k));
#pragma unroll
    for (int d = 0; d < deep; d++) v[d] = lines.load_any(plane, d + 1);
  }

  /* The coefficients of the faces below and above an unknown across an axis. */
  __device__ __forceinline__ void load_faces(int axis, int d, int index, real face[2]) const
  {
    const gmg_layout across = gmg_face_layout_of(&A, axis);
    const size_t low = gmg_offset(across, (size_t)column, (size_t)row[d], (size_t)index);
    face[0] = gmg_at(A.face[axis], low), face[1] = gmg_at(A.face[axis], low + gmg_pitch(across, axis));
  }

  /* Values of plane k, which its residual needs besides the columns of u. z is among them, although it is in the L1 cache: a load
     returns after all earlier loads of the warp, so in the residual itself it would wait for values of the next one. */
  __device__ __forceinline__ void load_beside(int k)
  {
    const int index = index_of(k);
    z = gmg_axis_part<kind>(A, 2, (size_t)index);
    const scalar *const plane = plane_of(u, index), *const of_f = plane_of(f, index);
    front = lines.load_any(plane, 0), back = lines.load_any(plane, deep + 1);
#pragma unroll
    for (int d = 0; d < deep; d++) rhs[d] = lines.load_any(of_f, d + 1);
  }

  /* Before the residuals of planes k, k + 1, up to end - 1. */
  __device__ __forceinline__ void begin(int k, int end)
  {
    this->end = end;
    load(k - 1, below), load(k, here), load(k + 1, above), load_beside(k);
  }

  /* r: any number where there is no unknown. All lanes of a warp call it together. Values for the next residual are loaded first,
     because a thread block has no other work while it waits for them. */
  __device__ __forceinline__ void residual(int k, int, scalar r[deep])
  {
    const scalar in_front = front, behind = back;
    const gmg_axis_part<kind> across = z;
    scalar right_side[deep], ahead[deep];
#pragma unroll
    for (int d = 0; d < deep; d++) right_side[d] = rhs[d], ahead[d] = 0;
    if (k + 1 < end) load(k + 2, ahead), load_beside(k + 1);
    const int index = index_of(k);
#pragma unroll
    for (int d = 0; d < deep; d++) {
      const gmg_neighbours near = {{__shfl_up_sync(~0u, here[d], 1), d > 0 ? here[d - 1] : in_front, below[d]},
                                   {__shfl_down_sync(~0u, here[d], 1), d + 1 < deep ? here[d + 1] : behind, above[d]}};
      real face[3][2];
      gmg_row a;
      a.diag = (real)A.shift;
      if (kind & GMG_FACES) {
#pragma unroll
        for (int axis = 0; axis < 3; axis++) load_faces(axis, d, index, face[axis]);
      }
      x.add_to(a, 0, face[0]), y[d].add_to(a, 1, face[1]), across.add_to(a, 2, face[2]);
      if (kind & GMG_SIGMA) a.diag += lines.load_any(plane_of((const scalar *)A.sigma, index), d + 1);
      r[d] = gmg_row_residual(3, a, near, right_side[d], here[d]);
    }
#pragma unroll
    for (int d = 0; d < deep; d++) below[d] = here[d], here[d] = above[d], above[d] = ahead[d];
  }
};

} // namespace

#endif
#endif
