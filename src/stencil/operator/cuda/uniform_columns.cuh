/* Residuals in 2D and 3D with constant coefficients on a uniform mesh, at the speed of memory: for norms and restriction. Included
   by cuda/stencil.cu and cuda/transfer.cu. The kernels of cuda/row.cuh cover all other cases, and are the reference in tests.

   A thread has a pair of adjacent columns (3D: two pairs, one behind the other) and walks along the last axis. Of the seven values
   of a row it loads only the one ahead and those beside its columns, mostly from the L1 cache. Couplings are kernel arguments. A
   missing neighbour counts as 0. */
#ifndef GMG_STENCIL_OPERATOR_CUDA_UNIFORM_COLUMNS_H
#define GMG_STENCIL_OPERATOR_CUDA_UNIFORM_COLUMNS_H

#include "row.cuh"

#include <stdint.h>

#if GMG_REAL_F32
typedef float2 real_pair;
#else
typedef double2 real_pair;
#endif

/* The axes across the columns (0, 1) and along them (2). In 2D axis 1 has one unknown. */
typedef struct gmg_uniform {
  int n[3], wraps[3];
  const void *diag[3];
  real coupling[3], shift;
  size_t behind, plane; /* steps in fields along axes 1 and 2 */
  gmg_tiles tiles;      /* tiles of threads */
  int deep;             /* pairs of columns of a thread, one behind the other */
} gmg_uniform;

/* Layout of fields along the axes of a gmg_uniform. */
GMG_INLINE gmg_layout gmg_layout_of(const gmg_uniform &s)
{
  const size_t n[3] = {(size_t)s.n[0], (size_t)s.n[1], (size_t)s.n[2]};
  return gmg_layout_packed(n);
}

/* A layout along these axes. */
GMG_INLINE gmg_layout gmg_along_columns(int dim, gmg_layout l)
{
  if (dim == 3) return l;
  return {{l.n[0], 1, l.n[1]}, l.row, 1, l.first};
}

/* Whether all couplings along an axis are equal, if walls may mirror: constant coefficients on a uniform mesh. */
static inline int gmg_has_equal_couplings(const gmg_operator *A)
{
  if (A->dim == 1 || gmg_coefficients_of(A) != GMG_CONSTANT) return 0;
  for (int a = 0; a < A->dim; a++)
    if ((A->uniform[a] != 2 && !A->mirrors[a][0] && !A->mirrors[a][1]) || A->n[a] > 1 << 30) return 0;
  return 1;
}

/* Whether all couplings along an axis are equal, and no wall mirrors. */
static inline int gmg_is_uniform(const gmg_operator *A)
{
  int uniform = gmg_has_equal_couplings(A);
  for (int a = 0; a < A->dim; a++) uniform = uniform && A->uniform[a] == 2;
  return uniform;
}

/* What is beyond the ends of an axis (GMG_WRAPS and so on). */
static inline int gmg_ends_of(const gmg_operator *A, int a)
{
  return A->wraps[a] | (A->mirrors[a][0] ? GMG_MIRRORS_BELOW : 0) | (A->mirrors[a][1] ? GMG_MIRRORS_ABOVE : 0);
}

/* Sizes and coefficients, without tiles. */
static inline gmg_uniform gmg_uniform_grid(const gmg_operator *A)
{
  const int axis[3] = {0, A->dim == 3 ? 1 : 2, A->dim - 1};
  gmg_uniform s = {};
  for (int a = 0; a < 3; a++) {
    s.n[a] = (int)A->n[axis[a]], s.wraps[a] = A->wraps[axis[a]];
    s.diag[a] = A->diag[axis[a]], s.coupling[a] = (real)A->coupling[axis[a]];
  }
  s.shift = (real)A->shift;
  s.behind = (size_t)s.n[0], s.plane = s.behind * (size_t)s.n[1];
  return s;
}

/* Sets the tiles of s, whose sizes are known. Tiles are as high as possible while there are at least `blocks` thread blocks, which
   the caller chooses so that all are resident at once. Slightly too few blocks are better than slightly too many. On an H200, where
   264 are resident, norms at 128^3 in double take 15 us with 256 blocks, and 17 us with 512. */
static inline void gmg_tile_columns(gmg_uniform *s, int blocks)
{
  const size_t threads[3] = {(size_t)s->n[0] / 2, (size_t)(s->n[1] / s->deep), (size_t)s->n[2]};
  s->tiles = gmg_full_tiles_of(threads, s->deep == 2 ? 32 : GMG_THREADS, 64, 2, (size_t)blocks);
}

/* Sets sizes, coefficients and tiles. */
static inline void gmg_uniform_tiles(const gmg_operator *A, int blocks, gmg_uniform *s)
{
  *s = gmg_uniform_grid(A);
  s->deep = A->dim == 3 ? 2 : 1;
  gmg_tile_columns(s, blocks);
}

/* Returns 0 if the kernels do not apply. f, u and r are the fields that are read or written in pairs. */
static inline int gmg_uniform_of(const gmg_operator *A, int blocks, const void *f, const void *u, const void *r, gmg_uniform *s)
{
  if (!gmg_is_uniform(A) || A->caller_layouts || A->n[0] % 2 || (A->dim == 3 && A->n[1] % 2)) return 0;
  if (((uintptr_t)f | (uintptr_t)u | (uintptr_t)r) % sizeof(real_pair)) return 0;
  gmg_uniform_tiles(A, blocks, s);
  return 1;
}

/* kernel<1> in 2D, kernel<2> in 3D. */
#define GMG_BY_DEPTH(s, kernel) ((s).deep == 2 ? kernel<2> : kernel<1>)

#ifdef __CUDACC__

/* Values of a thread's columns in one plane: of a field, or of coefficients. They are loaded in pairs of reals, so in code
   that uses gmg_patch scalar and real must be the same type. */
template <int deep> struct gmg_patch {
  real at[deep][2];
};

/* Loads a patch; zeros if `there` is 0. x points to the first column; behind: distance between pairs of columns. */
template <int deep>
static __device__ __forceinline__ gmg_patch<deep> gmg_patch_of(const real *x, size_t behind, int there)
{
  gmg_patch<deep> p = {};
#pragma unroll
  for (int d = 0; d < deep; d++)
    if (there) {
      const real_pair v = __ldg((const real_pair *)(x + d * behind));
      p.at[d][0] = v.x, p.at[d][1] = v.y;
    }
  return p;
}

/* Stores a patch. `to` points to the first column; behind: distance between pairs of columns. */
template <int deep> static __device__ __forceinline__ void gmg_store_patch(scalar *to, size_t behind, const gmg_patch<deep> &p)
{
#pragma unroll
  for (int d = 0; d < deep; d++) *(real_pair *)(to + d * behind) = real_pair{p.at[d][0], p.at[d][1]};
}

template <int deep> static __device__ __forceinline__ gmg_patch<deep> gmg_minus(const gmg_patch<deep> &a, const gmg_patch<deep> &b)
{
  gmg_patch<deep> p;
#pragma unroll
  for (int d = 0; d < deep; d++) p.at[d][0] = a.at[d][0] - b.at[d][0], p.at[d][1] = a.at[d][1] - b.at[d][1];
  return p;
}

/* Calls body(k, c, r, rhs) for the planes begin <= k < end of the columns at (i, j). c is the offset of the first value, r the
   residual, and rhs is f. Both are 0 in planes that do not exist, and if `there` is 0. planes_at_once > 0: there are exactly that
   many planes, all exist, and all loads are issued at once. */
template <int deep, int planes_at_once = 0, class Body>
static __device__ __forceinline__ void gmg_walk_pairs(const gmg_uniform &s, const scalar *f, const scalar *u, int i, int j,
                                                      int begin, int end, int there, Body body)
{
  const int n0 = s.n[0], n1 = s.n[1];
  const size_t behind = s.behind, plane = s.plane, column = there ? (size_t)i + (size_t)j * behind : 0;
  const int has_left = there && gmg_has_below(i, s.wraps[0]), has_right = there && gmg_has_above(i + 1, n0, s.wraps[0]);
  const int has_front = there && gmg_has_below(j, s.wraps[1]), has_back = there && gmg_has_above(j + 1, n1, s.wraps[1]);
  const long left = (long)gmg_index_below(i, n0, 1) - i, right = (long)gmg_index_above(i + 1, n0, 1) - i;
  const long front = ((long)gmg_index_below(j, n1, 1) - j) * (long)behind;
  const long back = ((long)gmg_index_above(j + 1, n1, 1) - j) * (long)behind;
  real diag[deep][2];
#pragma unroll
  for (int d = 0; d < deep; d++)
#pragma unroll
    for (int b = 0; b < 2; b++)
      diag[d][b] = !there ? 0 : s.shift + gmg_at(s.diag[0], i + b) + gmg_at(s.diag[1], j + d);
  const auto exists = [&](int k) { return gmg_index_exists(k, s.n[2], s.wraps[2]); };
  const auto offset_of = [&](int k) { return exists(k) ? gmg_wrap_once(k, s.n[2], s.wraps[2]) * plane + column : column; };
  /* the neighbours outside the columns to the left and right: beside_of(); in front and behind: front_back_of() */
  const auto beside_of = [&](size_t c) {
    gmg_patch<deep> beside;
#pragma unroll
    for (int d = 0; d < deep; d++) {
      beside.at[d][0] = has_left ? __ldg(u + c + d * behind + left) : (scalar)0;
      beside.at[d][1] = has_right ? __ldg(u + c + d * behind + right) : (scalar)0;
    }
    return beside;
  };
  const auto front_back_of = [&](size_t c) {
    gmg_patch<2> front_back = {};
    if (deep == 1) return front_back;
    const gmg_patch<1> lo = gmg_patch_of<1>(u + c + front, 0, has_front), hi = gmg_patch_of<1>(u + c + back, 0, has_back);
#pragma unroll
    for (int b = 0; b < 2; b++) front_back.at[0][b] = lo.at[0][b], front_back.at[1][b] = hi.at[0][b];
    return front_back;
  };
  const auto residual_of = [&](real along, const gmg_patch<deep> &below, const gmg_patch<deep> &here, const gmg_patch<deep> &above,
                               const gmg_patch<deep> &rhs, const gmg_patch<deep> &beside, const gmg_patch<2> &front_back) {
    gmg_patch<deep> r;
#pragma unroll
    for (int d = 0; d < deep; d++)
#pragma unroll
      for (int b = 0; b < 2; b++) {
        scalar sum = s.coupling[0] * (beside.at[d][b] + here.at[d][1 - b]) + s.coupling[2] * (below.at[d][b] + above.at[d][b]);
        if (deep == 2) sum += s.coupling[1] * (front_back.at[d][b] + here.at[deep - 1 - d][b]);
        r.at[d][b] = rhs.at[d][b] - ((diag[d][b] + along) * here.at[d][b] - sum);
      }
    return r;
  };
  if (planes_at_once) {
    gmg_patch<deep> v[planes_at_once + 2], rhs[planes_at_once + 1], beside[planes_at_once + 1];
    gmg_patch<2> front_back[planes_at_once + 1];
    real along[planes_at_once + 1];
#pragma unroll
    for (int q = 0; q < planes_at_once + 2; q++) {
      const int k = begin - 1 + q;
      v[q] = gmg_patch_of<deep>(u + offset_of(k), behind, there && exists(k));
    }
#pragma unroll
    for (int q = 0; q < planes_at_once; q++) {
      const size_t c = column + (size_t)(begin + q) * plane;
      rhs[q] = gmg_patch_of<deep>(f + c, behind, there), beside[q] = beside_of(c), front_back[q] = front_back_of(c);
      along[q] = gmg_at(s.diag[2], begin + q);
    }
#pragma unroll
    for (int q = 0; q < planes_at_once; q++) {
      const gmg_patch<deep> r = residual_of(along[q], v[q], v[q + 1], v[q + 2], rhs[q], beside[q], front_back[q]);
      body(begin + q, column + (size_t)(begin + q) * plane, r, rhs[q]);
    }
    return;
  }
  gmg_patch<deep> below = gmg_patch_of<deep>(u + offset_of(begin - 1), behind, there && exists(begin - 1));
  gmg_patch<deep> here = gmg_patch_of<deep>(u + offset_of(begin), behind, there && exists(begin));
#pragma unroll 2
  for (int k = begin; k < end; k++) {
    const size_t c = offset_of(k);
    const int now = there && exists(k);
    const gmg_patch<deep> above = gmg_patch_of<deep>(u + offset_of(k + 1), behind, there && exists(k + 1));
    const gmg_patch<deep> rhs = gmg_patch_of<deep>(f + c, behind, now);
    gmg_patch<deep> r = {};
    if (now) {
      const real along = gmg_at(s.diag[2], gmg_wrap_once(k, s.n[2], s.wraps[2]));
      const gmg_patch<2> front_back = front_back_of(c);
      r = residual_of(along, below, here, above, rhs, beside_of(c), front_back);
    }
    body(k, c, r, rhs);
    below = here, here = above;
  }
}

/* A thread's wide x deep columns in a tile, the first at (i, j), and their planes begin .. end - 1. there: the columns exist. */
typedef struct {
  int i, j, begin, end, there;
} gmg_column_part;

template <int wide, int deep>
static __device__ __forceinline__ gmg_column_part gmg_column_part_of(const gmg_tiles &t, const int n[3], unsigned tile)
{
  const gmg_tile_place place = gmg_tile_place_of(t, (unsigned)n[2], tile);
  const int i = wide * (int)place.column, j = deep * (int)place.line;
  return {i, j, (int)place.begin, (int)place.end, i < n[0] && j < n[1]};
}

/* Calls body(part) for all tiles of the level. */
template <int deep, class Body> static __device__ __forceinline__ void gmg_for_tiles(const gmg_uniform &s, Body body)
{
  for (unsigned tile = blockIdx.x; tile < s.tiles.total; tile += gridDim.x) {
    const gmg_column_part c = gmg_column_part_of<2, deep>(s.tiles, s.n, tile);
    if (c.there) body(c);
  }
}

/* gmg_walk_pairs() for all unknowns of the level. */
template <int deep, int planes_at_once = 0, class Body>
static __device__ __forceinline__ void gmg_walk_uniform(const gmg_uniform &s, const scalar *f, const scalar *u, Body body)
{
  gmg_for_tiles<deep>(s, [&](const gmg_column_part &c) {
    gmg_walk_pairs<deep, planes_at_once>(s, f, u, c.i, c.j, c.begin, c.end, 1, body);
  });
}

#endif
#endif
