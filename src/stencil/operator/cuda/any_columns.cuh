/* Residuals in 2D and 3D with constant coefficients on a uniform mesh, for fields of any size and layout: what uniform_columns.cuh
   does for even sizes without gaps. Included by cuda/norm.cuh and cuda/stencil.cu.

   A thread has a pair of adjacent columns (3D: two pairs, one behind the other). Values of u and f are loaded in pairs if the
   pitches of the array are even. With one layer of ghosts the first unknown of u is the second of an aligned pair. Then all pairs
   begin one column earlier. A column or row beyond the end of an axis has the value of the neighbour across the end: 0 at a wall,
   the value at the other end on a periodic axis, the image of a value at a wall that mirrors.

   uniform_columns.cuh stays apart, because even sizes without gaps need none of these cases: without it a solve takes up to 1.59
   times as long (operator_uniform_columns in docs/notes/variants.md). */
#ifndef GMG_STENCIL_OPERATOR_CUDA_ANY_COLUMNS_H
#define GMG_STENCIL_OPERATOR_CUDA_ANY_COLUMNS_H

#include "uniform_columns.cuh"

typedef struct gmg_any_columns {
  gmg_uniform s;
  int ends[3];                  /* what is beyond the ends of the axes of s */
  gmg_residual_layouts layouts; /* of f, u and r along the axes of s */
  int lead;                     /* 0 or 1: by how much pairs begin before the first column */
  int f_pairs, u_pairs;         /* whether pairs are aligned */
} gmg_any_columns;

/* Whether pairs that begin at column -lead are aligned in all rows. x: to unknown (0, 0, 0) */
static inline int gmg_has_pairs(gmg_layout l, const void *x, int lead)
{
  return l.row % 2 == 0 && ((uintptr_t)x / sizeof(real) + (uintptr_t)lead) % 2 == 0;
}

/* The tiles t or, if they give so many thread blocks that not all may be resident at once, higher ones that give from `blocks` to a
   third more. On an H200 the norm at 129^3 in double takes 20 us with 255 thread blocks, and 27 us with 289. */
static inline gmg_tiles gmg_resident_tiles(gmg_tiles t, size_t planes, size_t blocks)
{
  const unsigned columns = t.count[0] * t.count[1];
  const auto count = [&](unsigned high) { return (unsigned)((planes + high - 1) / high); };
  for (unsigned high = t.high; high < 2 * t.high && columns * count(high) >= blocks; high++) {
    if (3 * (size_t)columns * count(high) > 4 * blocks) continue;
    t.high = high, t.count[2] = count(high), t.total = columns * t.count[2];
    break;
  }
  return t;
}

/* Returns 0 if the kernels do not apply. */
static inline int gmg_any_columns_of(const gmg_operator *A, int blocks, const void *f, const void *u, gmg_any_columns *w)
{
  const gmg_residual_layouts at = gmg_residual_layouts_of(A);
  if (!gmg_has_equal_couplings(A)) return 0;
  w->s = gmg_uniform_grid(A);
  w->ends[0] = gmg_ends_of(A, 0), w->ends[1] = A->dim == 3 ? gmg_ends_of(A, 1) : 0, w->ends[2] = gmg_ends_of(A, A->dim - 1);
  w->s.deep = A->dim == 3 ? 2 : 1;
  w->layouts = {gmg_along_columns(A->dim, at.f), gmg_along_columns(A->dim, at.u), gmg_along_columns(A->dim, at.r)};
  w->lead = !gmg_has_pairs(at.u, u, 0) && gmg_has_pairs(at.u, u, 1);
  w->u_pairs = gmg_has_pairs(at.u, u, w->lead), w->f_pairs = gmg_has_pairs(at.f, f, w->lead);
  const size_t threads[3] = {(A->n[0] + (size_t)w->lead + 1) / 2, (size_t)((w->s.n[1] + w->s.deep - 1) / w->s.deep),
                             (size_t)w->s.n[2]};
  const gmg_tiles tiles = gmg_full_tiles_of(threads, A->dim == 3 ? 32 : GMG_THREADS, 64, 2, (size_t)blocks);
  w->s.tiles = gmg_resident_tiles(tiles, threads[2], (size_t)blocks);
  return 1;
}

#ifdef __CUDACC__

/* Where one of the values around a thread's columns is, relative to its first column. */
typedef struct {
  long at;
  int exists;
} gmg_value_place;

static __device__ __forceinline__ gmg_value_place gmg_value_at(int index, int here, int n, int ends, long pitch)
{
  return {((long)gmg_fold_index(index, n, ends) - here) * pitch, gmg_index_continues(index, n, ends)};
}

static __device__ __forceinline__ scalar gmg_load(const scalar *x, gmg_value_place p, int wanted)
{
  return wanted && p.exists ? __ldg(x + p.at) : (scalar)0;
}

/* Calls body(c, r, rhs, columns, rows) for every thread's unknowns in a plane. c is the offset in r of its first column, which may
   not exist; r is the residual and rhs is f, 0 where there is no unknown; columns[b] says whether column b exists, rows how many
   rows exist. */
template <int deep, class Body>
static __device__ __forceinline__ void gmg_walk_any(const gmg_any_columns &w, const scalar *f, const scalar *u, Body body)
{
  const gmg_uniform &s = w.s;
  const int n0 = s.n[0], n1 = s.n[1];
  const long row = (long)gmg_pitch(w.layouts.u, 1), plane = (long)gmg_pitch(w.layouts.u, 2);
  const long f_row = (long)gmg_pitch(w.layouts.f, 1), f_plane = (long)gmg_pitch(w.layouts.f, 2);
  const long r_plane = (long)gmg_pitch(w.layouts.r, 2);
  for (unsigned tile = blockIdx.x; tile < s.tiles.total; tile += gridDim.x) {
    const gmg_tile_place place = gmg_tile_place_of(s.tiles, (unsigned)s.n[2], tile);
    const int i = 2 * (int)place.column - w.lead, j = deep * (int)place.line, rows = min(deep, n1 - j);
    const int begin = (int)place.begin, end = (int)place.end;
    if (i >= n0 || j >= n1) continue;
    const int columns[2] = {i >= 0, i + 1 < n0}, both = columns[0] && columns[1];
    const scalar *const column = u + (long)gmg_offset(w.layouts.u, 0, j, 0) + i;
    const scalar *const f_column = f + (long)gmg_offset(w.layouts.f, 0, j, 0) + i;
    const long r_column = (long)gmg_offset(w.layouts.r, 0, j, 0) + i;
    const gmg_value_place beside[4] = {
        gmg_value_at(i - 1, i, n0, w.ends[0], 1), gmg_value_at(i, i, n0, w.ends[0], 1),
        gmg_value_at(i + 1, i, n0, w.ends[0], 1), gmg_value_at(i + 2, i, n0, w.ends[0], 1)};
    const gmg_value_place front = gmg_value_at(j - 1, j, n1, w.ends[1], row), next = gmg_value_at(j + 1, j, n1, w.ends[1], row);
    const gmg_value_place back = gmg_value_at(j + 2, j, n1, w.ends[1], row);
    const auto pair_of = [&](const scalar *x, int wanted, scalar v[2]) {
      if (both && w.u_pairs) {
        const real_pair p = wanted ? __ldg((const real_pair *)x) : real_pair{0, 0};
        v[0] = p.x, v[1] = p.y;
      } else v[0] = gmg_load(x, beside[1], wanted), v[1] = gmg_load(x, beside[2], wanted);
    };
    const auto plane_of = [&](int k, gmg_patch<deep> &v) {
      const int exists = gmg_index_continues(k, s.n[2], w.ends[2]);
      const scalar *x = column + (exists ? (long)gmg_fold_index(k, s.n[2], w.ends[2]) * plane : 0);
      pair_of(x, exists, v.at[0]);
      if (deep == 2) pair_of(x + next.at, exists && next.exists, v.at[deep - 1]);
    };
    real diag[deep][2];
#pragma unroll
    for (int d = 0; d < deep; d++)
#pragma unroll
      for (int b = 0; b < 2; b++)
        diag[d][b] = columns[b] && d < rows ? s.shift + gmg_at(s.diag[0], i + b) + gmg_at(s.diag[1], j + d) : (real)0;
    gmg_patch<deep> below, here, above;
    plane_of(begin - 1, below), plane_of(begin, here);
#pragma unroll 2
    for (int k = begin; k < end; k++) {
      const scalar *const x = column + k * plane, *const b_row = f_column + k * f_plane;
      gmg_patch<deep> r = {}, rhs = {}, sides;
      scalar in_front[2] = {0, 0}, behind[2] = {0, 0};
      plane_of(k + 1, above);
#pragma unroll
      for (int d = 0; d < deep; d++) {
        if (both && w.f_pairs) {
          const real_pair p = d < rows ? __ldg((const real_pair *)(b_row + d * f_row)) : real_pair{0, 0};
          rhs.at[d][0] = p.x, rhs.at[d][1] = p.y;
        } else {
#pragma unroll
          for (int b = 0; b < 2; b++) rhs.at[d][b] = columns[b] && d < rows ? __ldg(b_row + d * f_row + b) : (scalar)0;
        }
        const scalar *const line = x + (d ? row : 0);
        sides.at[d][0] = gmg_load(line, beside[0], columns[0] && d < rows);
        sides.at[d][1] = gmg_load(line, beside[3], columns[1] && d < rows);
      }
      if (deep == 2) pair_of(x + front.at, front.exists, in_front), pair_of(x + back.at, back.exists && rows == 2, behind);
      const real along = gmg_at(s.diag[2], k);
#pragma unroll
      for (int d = 0; d < deep; d++)
#pragma unroll
        for (int b = 0; b < 2; b++) {
          scalar sum = s.coupling[0] * (sides.at[d][b] + here.at[d][1 - b]) + s.coupling[2] * (below.at[d][b] + above.at[d][b]);
          if (deep == 2) sum += s.coupling[1] * ((d ? behind[b] : in_front[b]) + here.at[deep - 1 - d][b]);
          if (columns[b] && d < rows) r.at[d][b] = rhs.at[d][b] - ((diag[d][b] + along) * here.at[d][b] - sum);
        }
      body(r_column + k * r_plane, r, rhs, columns, rows);
      below = here, here = above;
    }
  }
}

#endif
#endif
