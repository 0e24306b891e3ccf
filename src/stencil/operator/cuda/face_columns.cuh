/* The operator in 3D with coefficients on faces, at the speed of memory: for residuals, norms, products of conjugate gradients, and
   restriction. Included by cuda/stencil.cu and cuda/transfer.cu. The kernels of cuda/row.cuh cover all other cases, and are the
   reference in tests.

   As in cuda/uniform_columns.cuh a thread has two pairs of columns, one behind the other, and walks along the last axis. Both
   neighbours of a face share the flux through it: coefficient times (lower - upper value). Within the columns each flux is computed
   once, and the flux above a plane is also the one below the next. At a wall the value beyond counts as 0, and the wall term
   replaces the coupling. Rows of faces across axis 0 have n + 1 entries, so pairs of them are not aligned. */
#ifndef GMG_STENCIL_OPERATOR_CUDA_FACE_COLUMNS_H
#define GMG_STENCIL_OPERATOR_CUDA_FACE_COLUMNS_H

#include "uniform_columns.cuh"

typedef struct gmg_face_columns {
  gmg_uniform s; /* sizes and thread blocks; not its coefficients */
  const real *lo[3], *hi[3], *face[3], *sigma;
} gmg_face_columns;

GMG_INLINE gmg_layout_32 gmg_layout_of(const gmg_face_columns &w) { return gmg_layout_32_of(gmg_layout_of(w.s)); }
GMG_INLINE gmg_layout_32 gmg_face_layout_of(const gmg_face_columns &w, int axis)
{
  return gmg_layout_faces_32(gmg_layout_of(w).n, axis);
}

/* Returns 0 if the kernels do not apply. x, y and z are the fields that are read or written in pairs. Offsets, also of faces, have
   32 bits. */
static inline int gmg_face_columns_of(const gmg_operator *A, int processors, const void *x, const void *y, const void *z,
                                      gmg_face_columns *w)
{
  *w = {};
  if (A->dim != 3 || !A->face[0] || A->n[0] % 2 || A->n[1] % 2 || A->cells > (size_t)1 << 31) return 0;
  if (A->n[2] > 1 << 30) return 0;
  if (((uintptr_t)x | (uintptr_t)y | (uintptr_t)z) % sizeof(real_pair)) return 0;
  if (((uintptr_t)A->face[1] | (uintptr_t)A->face[2] | (uintptr_t)A->sigma) % sizeof(real_pair)) return 0;
  gmg_uniform_tiles(A, 4 * processors, &w->s);
  for (int a = 0; a < 3; a++)
    w->lo[a] = (const real *)A->lo_diag[a], w->hi[a] = (const real *)A->hi_diag[a], w->face[a] = (const real *)A->face[a];
  w->sigma = (const real *)A->sigma;
  return 1;
}

/* kernel<kind> for operators with or without sigma. */
#define GMG_BY_SIGMA(w, kernel) ((w).sigma ? kernel<GMG_FACES | GMG_SIGMA> : kernel<GMG_FACES>)

#ifdef __CUDACC__

/* Thread blocks per multiprocessor: the limit on registers. */
enum { GMG_FACE_BLOCKS = sizeof(real) == 8 ? 2 : 3 };

/* Layout of fields and faces around a thread's columns. `column`, `left` and so on are offsets in plane 0, of the first column and
   of those beside it. A neighbour may only be read if its has_ flag is set. */
typedef struct {
  gmg_layout_32 level, across[3];
  unsigned i, j, slice, column, left, right, front, back;
  int has_left, has_right, has_front, has_back;
} gmg_surroundings;

static __device__ __forceinline__ gmg_surroundings gmg_surroundings_of(const gmg_face_columns &w, gmg_column_part at)
{
  gmg_surroundings x = {gmg_layout_of(w), {gmg_face_layout_of(w, 0), gmg_face_layout_of(w, 1), gmg_face_layout_of(w, 2)}};
  const unsigned *n = x.level.n, i = x.i = (unsigned)at.i, j = x.j = (unsigned)at.j;
  const auto column_at = [&](unsigned x0, unsigned x1) { return gmg_offset_32(x.level, x0, x1, 0); };
  x.slice = gmg_pitch_32(x.level, 2), x.column = column_at(i, j);
  x.left = column_at(gmg_index_below_32(i, n[0], 1), j), x.right = column_at(gmg_index_above_32(i + 1, n[0], 1), j);
  x.front = column_at(i, gmg_index_below_32(j, n[1], 1)), x.back = column_at(i, gmg_index_above_32(j + 1, n[1], 1));
  x.has_left = gmg_has_below_32(i, w.s.wraps[0]), x.has_right = gmg_has_above_32(i + 1, n[0], w.s.wraps[0]);
  x.has_front = gmg_has_below_32(j, w.s.wraps[1]), x.has_back = gmg_has_above_32(j + 1, n[1], w.s.wraps[1]);
  return x;
}

/* The faces across an axis on the lower side of the columns, in plane k. */
static __device__ __forceinline__ const real *gmg_faces_below(const gmg_face_columns &w, const gmg_surroundings &x, int axis,
                                                              unsigned k)
{
  return w.face[axis] + gmg_offset_32(x.across[axis], x.i, x.j, k);
}

/* Calls body(k, c, image, here, rest) for every plane of the columns at `at`. c is the offset of the first value. image is
   A u, here is u, and rest has the values of the field `also` (zeros if it is NULL). */
template <int kind, class Body>
static __device__ __forceinline__ void gmg_walk_face_columns(const gmg_face_columns &w, const scalar *also, const scalar *u,
                                                             gmg_column_part at, Body body)
{
  const gmg_surroundings x = gmg_surroundings_of(w, at);
  const unsigned *n = x.level.n, i = x.i, j = x.j, behind = x.level.row, slice = x.slice, begin = (unsigned)at.begin;
  real lo[2][2], hi[2][2]; /* by axis */
#pragma unroll
  for (int b = 0; b < 2; b++) {
    lo[0][b] = __ldg(w.lo[0] + i + b), hi[0][b] = __ldg(w.hi[0] + i + b);
    lo[1][b] = __ldg(w.lo[1] + j + b), hi[1][b] = __ldg(w.hi[1] + j + b);
  }
  const auto plane = [&](unsigned k) { return gmg_patch_of<2>(u + (k * slice + x.column), behind, 1); };
  gmg_patch<2> here = plane(begin), low = {};
  if (gmg_has_below_32(begin, w.s.wraps[2])) low = plane(gmg_index_below_32(begin, n[2], 1));
  const gmg_patch<2> bottom = gmg_patch_of<2>(gmg_faces_below(w, x, 2, begin), x.across[2].row, 1);
#pragma unroll
  for (int d = 0; d < 2; d++)
#pragma unroll
    for (int b = 0; b < 2; b++) low.at[d][b] = bottom.at[d][b] * (low.at[d][b] - here.at[d][b]); /* becomes a flux */
  unsigned base = begin * slice;
#pragma unroll 2
  for (unsigned k = begin; k < (unsigned)at.end; k++, base += slice) {
    const unsigned c = base + x.column;
    gmg_patch<2> above = {};
    if (gmg_has_above_32(k, n[2], w.s.wraps[2])) above = plane(gmg_index_above_32(k, n[2], 1));
    const gmg_patch<2> top = gmg_patch_of<2>(gmg_faces_below(w, x, 2, k + 1), x.across[2].row, 1);
    const gmg_patch<2> rest = gmg_patch_of<2>(also + c, behind, also != NULL);
    const gmg_patch<2> sigma = gmg_patch_of<2>(w.sigma + c, behind, kind & GMG_SIGMA);
    const gmg_patch<1> before = gmg_patch_of<1>(u + (base + x.front), 0, x.has_front);
    const gmg_patch<1> after = gmg_patch_of<1>(u + (base + x.back), 0, x.has_back);
    const real *const x_face = gmg_faces_below(w, x, 0, k), *const y_face = gmg_faces_below(w, x, 1, k);
    const real lo_z = __ldg(w.lo[2] + k), hi_z = __ldg(w.hi[2] + k);
    gmg_patch<1> faces[3];
    scalar xs[2][3], ys[2][3]; /* fluxes along axis 0, and along axis 1 */
#pragma unroll
    for (int m = 0; m < 3; m++) faces[m] = gmg_patch_of<1>(y_face + m * x.across[1].row, 0, 1);
#pragma unroll
    for (int d = 0; d < 2; d++) {
      const scalar west = x.has_left ? __ldg(u + (base + x.left + d * behind)) : (scalar)0;
      const scalar east = x.has_right ? __ldg(u + (base + x.right + d * behind)) : (scalar)0;
      const real *const face = x_face + d * x.across[0].row;
      xs[d][0] = __ldg(face) * (west - here.at[d][0]), xs[d][1] = __ldg(face + 1) * (here.at[d][0] - here.at[d][1]);
      xs[d][2] = __ldg(face + 2) * (here.at[d][1] - east);
    }
#pragma unroll
    for (int b = 0; b < 2; b++) {
      ys[b][0] = faces[0].at[0][b] * (before.at[0][b] - here.at[0][b]);
      ys[b][1] = faces[1].at[0][b] * (here.at[0][b] - here.at[1][b]);
      ys[b][2] = faces[2].at[0][b] * (here.at[1][b] - after.at[0][b]);
    }
    gmg_patch<2> image;
#pragma unroll
    for (int d = 0; d < 2; d++)
#pragma unroll
      for (int b = 0; b < 2; b++) {
        const scalar high = top.at[d][b] * (here.at[d][b] - above.at[d][b]);
        const real shift = kind & GMG_SIGMA ? w.s.shift + sigma.at[d][b] : w.s.shift;
        image.at[d][b] = shift * here.at[d][b] + (hi[0][b] * xs[d][b + 1] - lo[0][b] * xs[d][b]) +
                         ((hi[1][d] * ys[b][d + 1] - lo[1][d] * ys[b][d]) + (hi_z * high - lo_z * low.at[d][b]));
        low.at[d][b] = high;
      }
    body(k, c, image, here, rest);
    here = above;
  }
}

/* gmg_walk_face_columns() for all unknowns of a level. */
template <int kind, class Body>
static __device__ __forceinline__ void gmg_walk_faces(const gmg_face_columns &w, const scalar *also, const scalar *u, Body body)
{
  gmg_for_tiles<2>(w.s, [&](const gmg_column_part &at) { gmg_walk_face_columns<kind>(w, also, u, at, body); });
}

#endif
#endif
