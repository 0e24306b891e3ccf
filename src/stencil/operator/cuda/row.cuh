/* The row of an unknown and its neighbours in CUDA kernels (on the host: host/grid_row.h). 1D and 2D problems are 3D problems with
   axes of one unknown and no coupling, so kernels are compiled only for the kinds of coefficients. Calls row.h and core/cuda;
   included by the kernels of stencil, smoothers and coarse. */
#ifndef GMG_STENCIL_OPERATOR_CUDA_ROW_H
#define GMG_STENCIL_OPERATOR_CUDA_ROW_H

#include "core/cuda/device.h"

#include "stencil/operator/row.h"

/* Columns along the last axis. A thread walks along one column, or along several adjacent ones, so that the values below and above
   are in registers, and a plane is loaded once. A thread block processes a tile of across x lines threads and `high` planes.
   line: 0, or the threads of a line, which then are numbered on over the ends of lines, in one row for a plane. */
typedef struct gmg_tiles {
  unsigned across, lines, count[3], total, high, line;
} gmg_tiles;

/* Tiles for n[0] x n[1] threads and n[2] planes, as high as possible with at least `blocks` thread blocks. */
static inline gmg_tiles gmg_tiles_of(const size_t n[3], unsigned max_across, unsigned max_high, unsigned min_high, size_t blocks)
{
  gmg_tiles t = {8, 0, {0, 0, 0}, 0, max_high, 0};
  while (t.across < max_across && t.across < n[0]) t.across *= 2;
  t.lines = GMG_THREADS / t.across; /* sums need all threads of a block */
  const auto count = [&](int axis, unsigned extent) { return t.count[axis] = (unsigned)((n[axis] + extent - 1) / extent); };
  const size_t columns = (size_t)count(0, t.across) * count(1, t.lines);
  while (columns * count(2, t.high) < blocks && t.high > min_high) t.high /= 2;
  t.total = (unsigned)columns * t.count[2];
  return t;
}

/* gmg_tiles_of() or, if these tiles left more than a tenth of the threads of a plane without columns, one row for a plane. */
static inline gmg_tiles gmg_full_tiles_of(const size_t n[3], unsigned max_across, unsigned max_high, unsigned min_high,
                                          size_t blocks)
{
  const gmg_tiles t = gmg_tiles_of(n, max_across, max_high, min_high, blocks);
  const size_t columns = n[0] * n[1], threads = (size_t)t.count[0] * t.count[1] * GMG_THREADS, row[3] = {columns, 1, n[2]};
  if (columns < GMG_THREADS || 10 * threads <= 11 * columns) return t;
  gmg_tiles full = gmg_tiles_of(row, GMG_THREADS, max_high, min_high, blocks);
  full.line = (unsigned)n[0];
  return full;
}

/* One thread for every column of a level, or for a part of it: small levels are limited by the latency of memory. */
typedef struct gmg_columns {
  gmg_tiles tiles;
  unsigned n[3];
} gmg_columns;

enum { GMG_COLUMN_PLANES = 32 }; /* the maximum number of planes of a thread */
static inline gmg_columns gmg_columns_of(const gmg_exec *e, const size_t n[3])
{
  const size_t blocks = 4 * (size_t)gmg_device_of(e)->processors;
  const unsigned across = n[1] < 8 ? GMG_THREADS : 32;
  return {gmg_full_tiles_of(n, across, GMG_COLUMN_PLANES, 2, blocks), {(unsigned)n[0], (unsigned)n[1], (unsigned)n[2]}};
}

static inline gmg_launch_shape gmg_shape_of(const gmg_tiles &t, int sums = 0)
{
  return {dim3(sums && t.total > GMG_MAX_PARTS ? GMG_MAX_PARTS : t.total), dim3(t.across, t.lines), 0};
}

/* kernel<kind> for the operator's kind of coefficients. Further template arguments may follow. */
#define GMG_BY_KIND(A, kernel, ...)                                                                          \
  gmg_by_kind(gmg_coefficients_of(A), kernel<GMG_CONSTANT __VA_OPT__(, ) __VA_ARGS__>,                               \
              kernel<GMG_FACES __VA_OPT__(, ) __VA_ARGS__>, kernel<GMG_SIGMA __VA_OPT__(, ) __VA_ARGS__>,    \
              kernel<GMG_FACES | GMG_SIGMA __VA_OPT__(, ) __VA_ARGS__>)
template <class Kernel> static inline Kernel *gmg_by_kind(int kind, Kernel *constant, Kernel *faces, Kernel *sigma, Kernel *both)
{
  Kernel *const all[] = {constant, faces, sigma, both};
  return all[kind];
}

#ifdef __CUDACC__

/* The calling thread's place in a tile: its number along axis 0, its line, and its planes begin .. end - 1 of n. */
typedef struct {
  unsigned column, line, begin, end;
} gmg_tile_place;

static __device__ __forceinline__ gmg_tile_place gmg_tile_place_of(const gmg_tiles &t, unsigned n, unsigned tile)
{
  const unsigned tx = tile % t.count[0], rest = tile / t.count[0], ty = rest % t.count[1], begin = rest / t.count[1] * t.high;
  const unsigned column = tx * t.across + threadIdx.x, line = t.line ? column / t.line : ty * t.lines + threadIdx.y;
  return {t.line ? column - line * t.line : column, line, begin, min(begin + t.high, n)};
}

static __device__ __forceinline__ real gmg_at(const void *array, size_t i) { return __ldg((const real *)array + i); }

/* Coefficients of unknown (i, j, k). */
template <int kind> static __device__ __forceinline__ gmg_row gmg_row_at(const gmg_operator &A, size_t i, size_t j, size_t k)
{
  const size_t at[3] = {i, j, k};
  gmg_row r;
  r.diag = r.rest = (real)A.shift;
#pragma unroll
  for (int a = 0; a < 3; a++) r.lo[a] = gmg_at(A.lo[a], at[a]), r.hi[a] = gmg_at(A.hi[a], at[a]);
  if (kind & GMG_FACES) {
#pragma unroll
    for (int a = 0; a < 3; a++)
      if (a < A.dim) {
        const gmg_layout across = gmg_face_layout_of(&A, a);
        const size_t low = gmg_offset(across, i, j, k);
        const real below = gmg_at(A.face[a], low), above = gmg_at(A.face[a], low + gmg_pitch(across, a));
        const real lo_diag = gmg_at(A.lo_diag[a], at[a]), hi_diag = gmg_at(A.hi_diag[a], at[a]);
        r.diag += lo_diag * below + hi_diag * above;
        r.rest += (lo_diag - r.lo[a]) * below + (hi_diag - r.hi[a]) * above;
        r.lo[a] *= below, r.hi[a] *= above;
      }
  } else {
#pragma unroll
    for (int a = 0; a < 3; a++) {
      r.diag += gmg_at(A.diag[a], at[a]);
      r.rest += gmg_rest_along(at[a], A.n[a], (const real *)A.lo[a], (const real *)A.hi[a], (const real *)A.diag[a]);
    }
  }
  if (kind & GMG_SIGMA) {
    const real sigma = gmg_at(A.sigma, gmg_offset(gmg_layout_of(&A), i, j, k));
    r.diag += sigma, r.rest += sigma;
  }
  return r;
}

/* Offsets of the neighbours of unknown c along the axes. Without a neighbour it is c itself, and the coupling is 0. */
typedef struct {
  size_t lo[3], hi[3];
} gmg_neighbour_offsets;

static __device__ __forceinline__ gmg_neighbour_offsets gmg_neighbour_offsets_of(const gmg_operator &A, const gmg_layout &l,
                                                                                 size_t i, size_t j, size_t k, size_t c)
{
  const size_t at[3] = {i, j, k};
  gmg_neighbour_offsets p;
#pragma unroll
  for (int a = 0; a < 3; a++) {
    const gmg_beside b = gmg_offsets_beside(c, at[a], A.n[a], A.wraps[a], gmg_pitch(l, a));
    p.lo[a] = b.below, p.hi[a] = b.above;
  }
  return p;
}

static __device__ __forceinline__ gmg_neighbour_offsets gmg_neighbour_offsets_of(const gmg_operator &A, size_t i, size_t j,
                                                                                 size_t k, size_t c)
{
  return gmg_neighbour_offsets_of(A, gmg_layout_of(&A), i, j, k, c);
}

static __device__ __forceinline__ gmg_neighbours gmg_near(const gmg_neighbour_offsets &p, const scalar *u)
{
  return {{u[p.lo[0]], u[p.lo[1]], u[p.lo[2]]}, {u[p.hi[0]], u[p.hi[1]], u[p.hi[2]]}};
}

template <int kind>
static __device__ __forceinline__ scalar gmg_residual_at(const gmg_operator &A, size_t i, size_t j, size_t k, const scalar *f,
                                                         const scalar *u)
{
  const size_t c = gmg_offset(gmg_layout_of(&A), i, j, k);
  return gmg_row_residual(3, gmg_row_at<kind>(A, i, j, k), gmg_near(gmg_neighbour_offsets_of(A, i, j, k, c), u), f ? f[c] : 0,
                          u[c]);
}

/* Relaxes unknown (i, j, k) in place. */
template <int kind>
static __device__ __forceinline__ void gmg_relax_at(const gmg_operator &A, size_t i, size_t j, size_t k, const scalar *f, scalar *u,
                                                    real omega)
{
  const size_t c = gmg_offset(gmg_layout_of(&A), i, j, k);
  const gmg_neighbours near = gmg_near(gmg_neighbour_offsets_of(A, i, j, k, c), u);
  u[c] = gmg_row_relaxed(3, kind, gmg_row_at<kind>(A, i, j, k), near, f[c], u[c], omega);
}

/* Calls body(i, j, k, c, near, u) for every unknown, with the values of u around it and at it; c is its offset in u, which has the
   layout `at`. The kernel must not write u. */
template <class Body>
static __device__ __forceinline__ void gmg_walk(const gmg_operator &A, const gmg_columns &s, const gmg_layout &at, const scalar *u,
                                                Body body)
{
  const size_t slice = gmg_pitch(at, 2);
  const unsigned *const n = s.n;
  const gmg_tiles &t = s.tiles;
  for (unsigned tile = blockIdx.x; tile < t.total; tile += gridDim.x) {
    const gmg_tile_place place = gmg_tile_place_of(t, n[2], tile);
    const unsigned i = place.column, j = place.line, begin = place.begin, end = place.end;
    if (i >= n[0] || j >= n[1]) continue;
    size_t c = gmg_offset(at, i, j, begin);
    const gmg_neighbour_offsets p = gmg_neighbour_offsets_of(A, at, i, j, begin, c);
    const long left = (long)(p.lo[0] - c), right = (long)(p.hi[0] - c), front = (long)(p.lo[1] - c), back = (long)(p.hi[1] - c);
    const size_t top = A.wraps[2] ? gmg_offset(at, i, j, 0) : 0; /* above the last plane */
    scalar below = __ldg(u + p.lo[2]), here = __ldg(u + c);
#pragma unroll 2
    for (unsigned k = begin; k < end; k++, c += slice) {
      const scalar above = k + 1 < n[2] ? __ldg(u + c + slice) : A.wraps[2] ? __ldg(u + top) : here;
      const scalar *const x = u + c;
      const gmg_neighbours near = {{__ldg(x + left), __ldg(x + front), below}, {__ldg(x + right), __ldg(x + back), above}};
      body((size_t)i, (size_t)j, (size_t)k, c, near, here);
      below = here, here = above;
    }
  }
}

/* Control volume of an unknown. */
static __device__ __forceinline__ double gmg_volume_at(const gmg_operator &A, size_t i, size_t j, size_t k)
{
  return (double)gmg_at(A.volume[0], i) * ((double)gmg_at(A.volume[1], j) * (double)gmg_at(A.volume[2], k));
}

#endif
#endif
