/* The operator in 2D and 3D with coefficients on faces, at the speed of memory: for residuals, norms, products of conjugate
   gradients, and restriction. Included by cuda/stencil.cu and cuda/transfer.cu. The kernels of cuda/row.cuh cover all other
   cases, and are the reference in tests.

   As in cuda/uniform_columns.cuh a thread has two pairs of columns, one behind the other, and walks along the last axis. In 2D,
   at odd sizes, and with fields that do not begin at a pair, it has one column. Both neighbours of a face share the flux through
   it: coefficient times (lower - upper value). Within the columns each flux is computed once, and the flux above a plane is also
   the one below the next. At a wall the value beyond counts as 0, and the wall term replaces the coupling. Rows of faces across
   axis 0 have n + 1 entries, so pairs of them are not aligned. */
#ifndef GMG_STENCIL_OPERATOR_CUDA_FACE_COLUMNS_H
#define GMG_STENCIL_OPERATOR_CUDA_FACE_COLUMNS_H

#include "uniform_columns.cuh"

typedef struct gmg_face_columns {
  gmg_uniform s; /* sizes and thread blocks; not its coefficients */
  int wide;      /* a thread has wide x wide columns: 1 or 2 */
  int flat;      /* 2D: axis 2 of the columns is axis 1 of the operator, and there is nothing along axis 1 */
  const real *lo[3], *hi[3], *face[3], *sigma;
} gmg_face_columns;

GMG_INLINE gmg_layout_32 gmg_layout_of(const gmg_face_columns &w) { return gmg_layout_32_of(gmg_layout_of(w.s)); }
GMG_INLINE gmg_layout_32 gmg_face_layout_of(const gmg_face_columns &w, int axis)
{
  return gmg_layout_faces_32(gmg_layout_of(w).n, axis);
}

/* Whether rows of all fields and faces, but those across axis 0, consist of aligned pairs. x, y, z: the fields */
static inline int gmg_faces_have_pairs(const gmg_operator *A, const void *x, const void *y, const void *z)
{
  const uintptr_t fields = (uintptr_t)x | (uintptr_t)y | (uintptr_t)z;
  const uintptr_t arrays = (uintptr_t)A->face[1] | (uintptr_t)A->face[2] | (uintptr_t)A->sigma;
  return A->n[0] % 2 == 0 && A->n[1] % 2 == 0 && (fields | arrays) % sizeof(real_pair) == 0;
}

/* Tiles of threads with wide x wide columns. The last ones along an axis may have fewer. */
static inline gmg_tiles gmg_face_tiles(const gmg_face_columns *w, int wide, int blocks)
{
  const int *n = w->s.n;
  const size_t threads[3] = {(size_t)(n[0] + wide - 1) / wide, (size_t)(n[1] + wide - 1) / wide, (size_t)n[2]};
  return gmg_full_tiles_of(threads, w->flat ? GMG_THREADS : 32, 64, 2, (size_t)blocks);
}

/* Returns 0 if the kernels do not apply. x, y and z are the fields that are read or written. Offsets, also of faces, have 32
   bits. */
static inline int gmg_face_columns_of(const gmg_operator *A, int processors, const void *x, const void *y, const void *z,
                                      gmg_face_columns *w)
{
  *w = {};
  if (A->dim == 1 || !A->face[0] || A->cells > (size_t)1 << 31) return 0;
  for (int a = 0; a < 3; a++)
    if (A->n[a] > 1 << 30) return 0;
  gmg_uniform_tiles(A, 4 * processors, &w->s);
  w->flat = A->dim == 2, w->wide = !w->flat && gmg_faces_have_pairs(A, x, y, z) ? 2 : 1;
  if (w->wide == 1) w->s.tiles = gmg_face_tiles(w, 1, 8 * processors);
  for (int a = 0; a < 3; a++) {
    const int from = !w->flat ? a : a == 2 ? 1 : 0; /* along axis 1 of flat columns nothing is read */
    w->lo[a] = (const real *)A->lo_diag[from], w->hi[a] = (const real *)A->hi_diag[from];
    w->face[a] = (const real *)A->face[from];
  }
  w->sigma = (const real *)A->sigma;
  return 1;
}

/* A bit of `kind`, beside GMG_FACES and GMG_SIGMA: gmg_face_columns::flat. */
enum { GMG_FLAT = 4 };

/* kernel<kind, one> for single columns, kernel<kind, two> for pairs; kind also says whether there is sigma. */
#define GMG_BY_SIGMA(w, kernel, flat, wide) \
  ((w).sigma ? kernel<GMG_FACES | GMG_SIGMA | (flat), wide> : kernel<GMG_FACES | (flat), wide>)
#define GMG_BY_COLUMNS(w, kernel, one, two)             \
  ((w).flat        ? GMG_BY_SIGMA(w, kernel, GMG_FLAT, one) \
   : (w).wide == 1 ? GMG_BY_SIGMA(w, kernel, 0, one)        \
                   : GMG_BY_SIGMA(w, kernel, 0, two))

#ifdef __CUDACC__

/* Thread blocks per multiprocessor: the limit on registers. Single columns need fewer. */
template <int wide> struct gmg_face_blocks {
  static constexpr int number = (sizeof(real) == 8 ? 2 : 3) + (wide == 1);
};

/* Values of a thread's columns in one plane, and in one line of it. */
typedef struct {
  real at[1][1];
} gmg_single;
template <int wide> struct gmg_face_patch_of {
  typedef gmg_patch<2> type;
  typedef gmg_patch<1> line;
};
template <> struct gmg_face_patch_of<1> {
  typedef gmg_single type, line;
};
template <int wide> using gmg_face_patch = typename gmg_face_patch_of<wide>::type;
template <int wide> using gmg_face_line = typename gmg_face_patch_of<wide>::line;

template <int wide>
static __device__ __forceinline__ gmg_face_patch<wide> gmg_load_patch(const real *x, unsigned behind, int there)
{
  if constexpr (wide == 2) return gmg_patch_of<2>(x, behind, there);
  else return {{{there ? __ldg(x) : (real)0}}};
}
template <int wide> static __device__ __forceinline__ gmg_face_line<wide> gmg_load_line(const real *x, int there)
{
  if constexpr (wide == 2) return gmg_patch_of<1>(x, 0, there);
  else return {{{there ? __ldg(x) : (real)0}}};
}
static __device__ __forceinline__ void gmg_store_patch(scalar *to, size_t, const gmg_single &p) { *to = p.at[0][0]; }
static __device__ __forceinline__ gmg_single gmg_minus(const gmg_single &a, const gmg_single &b)
{
  return {{{a.at[0][0] - b.at[0][0]}}};
}

/* Layout of fields and faces around a thread's columns. `column`, `left` and so on are offsets in plane 0, of the first column and
   of those beside it. A neighbour may only be read if its has_ flag is set. */
typedef struct {
  gmg_layout_32 level, across[3];
  unsigned i, j, slice, column, left, right, front, back;
  int has_left, has_right, has_front, has_back;
} gmg_surroundings;

/* more: the number of columns along axes 0 and 1, less 1 */
static __device__ __forceinline__ gmg_surroundings gmg_surroundings_of(const gmg_face_columns &w, gmg_column_part at,
                                                                       unsigned more_x, unsigned more_y)
{
  gmg_surroundings x = {gmg_layout_of(w), {gmg_face_layout_of(w, 0), gmg_face_layout_of(w, 1), gmg_face_layout_of(w, 2)}};
  const unsigned *n = x.level.n, i = x.i = (unsigned)at.i, j = x.j = (unsigned)at.j;
  const auto column_at = [&](unsigned x0, unsigned x1) { return gmg_offset_32(x.level, x0, x1, 0); };
  x.slice = gmg_pitch_32(x.level, 2), x.column = column_at(i, j);
  x.left = column_at(gmg_index_below_32(i, n[0], 1), j), x.right = column_at(gmg_index_above_32(i + more_x, n[0], 1), j);
  x.front = column_at(i, gmg_index_below_32(j, n[1], 1)), x.back = column_at(i, gmg_index_above_32(j + more_y, n[1], 1));
  x.has_left = gmg_has_below_32(i, w.s.wraps[0]), x.has_right = gmg_has_above_32(i + more_x, n[0], w.s.wraps[0]);
  x.has_front = gmg_has_below_32(j, w.s.wraps[1]), x.has_back = gmg_has_above_32(j + more_y, n[1], w.s.wraps[1]);
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
template <int kind, int wide, class Body>
static __device__ __forceinline__ void gmg_walk_face_columns(const gmg_face_columns &w, const scalar *also, const scalar *u,
                                                             gmg_column_part at, Body body)
{
  typedef gmg_face_patch<wide> patch;
  constexpr int flat = kind & GMG_FLAT;
  const gmg_surroundings x = gmg_surroundings_of(w, at, wide - 1, wide - 1);
  const unsigned *n = x.level.n, i = x.i, j = x.j, behind = x.level.row, slice = x.slice, begin = (unsigned)at.begin;
  real lo[2][wide], hi[2][wide]; /* by axis */
#pragma unroll
  for (int b = 0; b < wide; b++) {
    lo[0][b] = __ldg(w.lo[0] + i + b), hi[0][b] = __ldg(w.hi[0] + i + b);
    lo[1][b] = flat ? 0 : __ldg(w.lo[1] + j + b), hi[1][b] = flat ? 0 : __ldg(w.hi[1] + j + b);
  }
  const auto plane = [&](unsigned k) { return gmg_load_patch<wide>(u + (k * slice + x.column), behind, 1); };
  patch here = plane(begin), low = {};
  if (gmg_has_below_32(begin, w.s.wraps[2])) low = plane(gmg_index_below_32(begin, n[2], 1));
  const patch bottom = gmg_load_patch<wide>(gmg_faces_below(w, x, 2, begin), x.across[2].row, 1);
#pragma unroll
  for (int d = 0; d < wide; d++)
#pragma unroll
    for (int b = 0; b < wide; b++) low.at[d][b] = bottom.at[d][b] * (low.at[d][b] - here.at[d][b]); /* becomes a flux */
  unsigned base = begin * slice;
#pragma unroll 2
  for (unsigned k = begin; k < (unsigned)at.end; k++, base += slice) {
    const unsigned c = base + x.column;
    patch above = {};
    if (gmg_has_above_32(k, n[2], w.s.wraps[2])) above = plane(gmg_index_above_32(k, n[2], 1));
    const patch top = gmg_load_patch<wide>(gmg_faces_below(w, x, 2, k + 1), x.across[2].row, 1);
    const patch rest = gmg_load_patch<wide>(also + c, behind, also != NULL);
    const patch sigma = gmg_load_patch<wide>(w.sigma + c, behind, kind & GMG_SIGMA);
    const gmg_face_line<wide> before = gmg_load_line<wide>(u + (base + x.front), x.has_front);
    const gmg_face_line<wide> after = gmg_load_line<wide>(u + (base + x.back), x.has_back);
    const real *const x_face = gmg_faces_below(w, x, 0, k), *const y_face = gmg_faces_below(w, x, 1, k);
    const real lo_z = __ldg(w.lo[2] + k), hi_z = __ldg(w.hi[2] + k);
    gmg_face_line<wide> faces[wide + 1];
    scalar xs[wide][wide + 1], ys[wide][wide + 1]; /* fluxes along axis 0, and along axis 1 */
#pragma unroll
    for (int m = 0; m <= wide; m++) faces[m] = gmg_load_line<wide>(y_face + m * x.across[1].row, !flat);
#pragma unroll
    for (int d = 0; d < wide; d++) {
      const scalar west = x.has_left ? __ldg(u + (base + x.left + d * behind)) : (scalar)0;
      const scalar east = x.has_right ? __ldg(u + (base + x.right + d * behind)) : (scalar)0;
      const real *const face = x_face + d * x.across[0].row;
#pragma unroll
      for (int b = 0; b <= wide; b++)
        xs[d][b] = __ldg(face + b) * ((b ? here.at[d][b - 1] : west) - (b < wide ? here.at[d][b] : east));
    }
#pragma unroll
    for (int b = 0; b < wide; b++)
#pragma unroll
      for (int d = 0; d <= wide; d++)
        ys[b][d] = faces[d].at[0][b] * ((d ? here.at[d - 1][b] : before.at[0][b]) - (d < wide ? here.at[d][b] : after.at[0][b]));
    patch image;
#pragma unroll
    for (int d = 0; d < wide; d++)
#pragma unroll
      for (int b = 0; b < wide; b++) {
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
template <int kind, int wide, class Body>
static __device__ __forceinline__ void gmg_walk_faces(const gmg_face_columns &w, const scalar *also, const scalar *u, Body body)
{
  for (unsigned tile = blockIdx.x; tile < w.s.tiles.total; tile += gridDim.x) {
    const gmg_column_part at = gmg_column_part_of<wide, wide>(w.s.tiles, w.s.n, tile);
    if (at.there) gmg_walk_face_columns<kind, wide>(w, also, u, at, body);
  }
}

#endif
#endif
