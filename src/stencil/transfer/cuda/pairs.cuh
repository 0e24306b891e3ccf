/* Transfers by pairs of unknowns (gmg_pairs in map.h) in 2D and 3D: every fine value is loaded once. Included by cuda/transfer.cu
   alone. Its kernels cover all other cases, and are the reference in tests. */
#ifndef GMG_STENCIL_TRANSFER_CUDA_PAIRS_H
#define GMG_STENCIL_TRANSFER_CUDA_PAIRS_H

#include "core/cuda/pdl.cuh"
#include "restrict_faces.cuh"
#include "restrict_one_axis.cuh"
#include "transfer_rows.cuh"

/* Largest 2D level that is limited by the latency of memory. */
enum { MAX_CELLS_LATENCY = 300000 };

/* --- restriction ----------------------------------------------------------------------------------------------------- */

/* Restriction by averaging in 3D. A thread's columns contribute to one column of coarse unknowns. */
static __global__ void __launch_bounds__(GMG_THREADS, sizeof(real) == 8 ? 2 : 4)
    average_pairs_kernel(gmg_uniform s, gmg_map mx, gmg_map my, gmg_map mz, gmg_layout to, const scalar *f, const scalar *u,
                         scalar *coarse)
{
  gmg_wait_for_predecessor();
  const gmg_column_part at = gmg_column_part_of<2, 2>(s.tiles, s.n, blockIdx.x);
  if (!at.there) return;
  const int I = at.i / 2, J = at.j / 2;
  real w[2][2];
  scalar sum = 0;
#pragma unroll
  for (int d = 0; d < 2; d++)
#pragma unroll
    for (int b = 0; b < 2; b++) w[d][b] = gmg_weight_of(my, J, at.j + d) * gmg_weight_of(mx, I, at.i + b);
  gmg_walk_pairs<2>(s, f, u, at.i, at.j, at.begin, at.end, 1, [&](int k, size_t, const gmg_patch<2> &r, const gmg_patch<2> &) {
    const scalar part = w[0][0] * r.at[0][0] + w[0][1] * r.at[0][1] + (w[1][0] * r.at[1][0] + w[1][1] * r.at[1][1]);
    sum = (k % 2 ? sum : 0) + gmg_at(mz.weight, k) * part; /* two weights per row */
    if (k % 2) coarse[gmg_offset(to, I, J, k / 2)] = sum;
  });
}

/* Restriction by the adjoint of linear interpolation in 2D, for small levels. They are limited by the latency of memory, not by its
   bandwidth. A thread computes one coarse unknown, and issues all loads at once. */
static __global__ void __launch_bounds__(GMG_THREADS, sizeof(real) == 8 ? 3 : 4)
    adjoint_small_kernel(gmg_uniform s, gmg_map mx, gmg_map my, gmg_layout to, const scalar *f, const scalar *u, scalar *coarse)
{
  gmg_wait_for_predecessor();
  const int c = (int)(blockIdx.x * GMG_THREADS + threadIdx.x), J = c / mx.rows, I = c - J * mx.rows, n0 = s.n[0], n2 = s.n[2];
  if (J >= my.rows) return;
  int column[6], row[6]; /* -1: does not exist */
#pragma unroll
  for (int m = 0; m < 6; m++) {
    column[m] = gmg_wrap_once(2 * I - 2 + m, n0, s.wraps[0]), row[m] = gmg_wrap_once(2 * J - 2 + m, n2, s.wraps[2]);
    if (column[m] >= n0) column[m] = -1;
    if (row[m] >= n2) row[m] = -1;
  }
  scalar v[6][6], rhs[4][4], sum = 0;
  real w[4];
  const auto at = [&](const scalar *x, int k, int i) {
    if (row[k] < 0 || column[i] < 0) return (scalar)0;
    return __ldg(x + gmg_offset_32(gmg_layout_32_of(gmg_layout_of(s)), column[i], 0, row[k]));
  };
#pragma unroll
  for (int k = 0; k < 6; k++)
#pragma unroll
    for (int i = 0; i < 6; i++) v[k][i] = at(u, k, i);
#pragma unroll
  for (int k = 0; k < 4; k++)
#pragma unroll
    for (int i = 0; i < 4; i++) rhs[k][i] = at(f, k + 1, i + 1);
#pragma unroll
  for (int i = 0; i < 4; i++) w[i] = gmg_weight_of(mx, I, 2 * I - 1 + i);
#pragma unroll
  for (int k = 0; k < 4; k++) {
    const real along = row[k + 1] >= 0 ? gmg_at(s.diag[2], row[k + 1]) + gmg_at(s.diag[1], 0) + s.shift : (real)0;
    scalar part = 0;
#pragma unroll
    for (int i = 0; i < 4; i++) {
      const real diag = column[i + 1] >= 0 ? along + gmg_at(s.diag[0], column[i + 1]) : (real)0;
      const scalar near = s.coupling[0] * (v[k + 1][i] + v[k + 1][i + 2]) + s.coupling[2] * (v[k][i + 1] + v[k + 2][i + 1]);
      if (row[k + 1] >= 0 && column[i + 1] >= 0) part += w[i] * (rhs[k][i] - (diag * v[k + 1][i + 1] - near));
    }
    sum += gmg_weight_of(my, J, 2 * J - 1 + k) * part;
  }
  coarse[gmg_offset(to, I, J, 0)] = sum;
}

/* Returns 1 if done, and 0 if no kernel applies. */
static int restrict_pairs(const gmg_exec *e, const gmg_operator *A, const gmg_map map[3], const void *f, const void *u,
                          void *coarse)
{
  const gmg_device *d = gmg_device_of(e);
  const gmg_layout to = gmg_layout_of_rows(map);
  gmg_uniform s;
  if (restrict_faces(e, A, map, f, u, coarse) || restrict_one_axis(e, A, map, f, u, coarse)) return 1;
  if (!gmg_uniform_of(A, 3 * d->processors, f, u, NULL, &s)) return 0;
  if (A->dim == 3) {
    if (!gmg_all_have_pairs(map, 3, GMG_PAIRS_AVERAGE) || map[2].width != 2) return 0;
    gmg_launch_early(e, "restriction", average_pairs_kernel, gmg_shape_of(s.tiles), s, map[0], map[1], map[2], to, f, u, coarse);
    return 1;
  }
  for (int a = 0; a < 2; a++)
    if (map[a].pairs != GMG_PAIRS_ADJOINT && map[a].pairs != GMG_PAIRS_AVERAGE) return 0;
  if (A->cells < MAX_CELLS_LATENCY) {
    const gmg_launch_shape grid = gmg_flat_shape((size_t)map[0].rows * (size_t)map[1].rows);
    gmg_launch_early(e, "restriction", adjoint_small_kernel, grid, s, map[0], map[1], to, f, u, coarse);
    return 1;
  }
  return restrict_rows(e, s, map, f, u, coarse);
}

/* --- prolongation ---------------------------------------------------------------------------------------------------- */

/* What fine rows 2 I and 2 I + 1 read: their weights, and the coarse columns beside I. */
typedef struct {
  gmg_pair_weights w[2];
  int beside[2];
} children;

static __device__ __forceinline__ children children_of(const gmg_map &m, int I)
{
  children x;
#pragma unroll
  for (int b = 0; b < 2; b++) x.w[b] = gmg_pair_weights_of(m, 2 * I + b), x.beside[b] = __ldg(m.wrap + I - 1 + 2 * b);
  return x;
}

/* Axes across the columns (0, 1) and along them (2). In 2D axis 1 is missing. */
typedef struct {
  gmg_map m[3];
  gmg_tiles tiles;
  int n[3]; /* coarse unknowns */
} prolongation;

/* Layouts of the coarse and the fine field along the axes of a prolongation. */
GMG_INLINE gmg_layout coarse_of(const prolongation &p)
{
  const size_t n[3] = {(size_t)p.n[0], (size_t)p.n[1], (size_t)p.n[2]};
  return gmg_layout_packed(n);
}

GMG_INLINE gmg_layout fine_of(const prolongation &p, int deep)
{
  const size_t n[3] = {2 * (size_t)p.n[0], deep * (size_t)p.n[1], 2 * (size_t)p.n[2]};
  return gmg_layout_packed(n);
}

/* A thread has a column of coarse unknowns, and the pairs of fine ones inside. */
template <int deep>
static __global__ void __launch_bounds__(GMG_THREADS, 4) prolong_pairs_kernel(prolongation p, const scalar *x, scalar *y, int add)
{
  gmg_wait_for_predecessor();
  const gmg_column_part part = gmg_column_part_of<1, 1>(p.tiles, p.n, blockIdx.x);
  const int I = part.i, J = part.j, begin = part.begin, end = part.end;
  if (!part.there) return;
  const children fx = children_of(p.m[0], I), fy = deep == 2 ? children_of(p.m[1], J) : children{};
  /* a coarse plane, interpolated across the columns */
  const auto across = [&](int K) {
    const auto pair = [&](int j) {
      const scalar *at = x + gmg_offset(coarse_of(p), 0, j, K);
      const scalar low = __ldg(at + fx.beside[0]), here = __ldg(at + I), high = __ldg(at + fx.beside[1]);
      gmg_patch<1> e;
      e.at[0][0] = fx.w[0].side * low + fx.w[0].own * here, e.at[0][1] = fx.w[1].own * here + fx.w[1].side * high;
      return e;
    };
    gmg_patch<deep> e;
    const gmg_patch<1> here = pair(J);
    if (deep == 1) e.at[0][0] = here.at[0][0], e.at[0][1] = here.at[0][1];
#pragma unroll
    for (int d = 0; d < deep && deep == 2; d++) {
      const gmg_patch<1> side = pair(fy.beside[d]);
#pragma unroll
      for (int b = 0; b < 2; b++) e.at[d][b] = fy.w[d].own * here.at[0][b] + fy.w[d].side * side.at[0][b];
    }
    return e;
  };
  const gmg_layout fine = fine_of(p, deep);
  scalar *to = y + gmg_offset(fine, 2 * I, deep * J, 2 * begin);
  gmg_patch<deep> below = across(__ldg(p.m[2].wrap + begin - 1)), here = across(begin);
  for (int K = begin; K < end; K++) {
    const children fz = children_of(p.m[2], K);
    const gmg_patch<deep> above = across(fz.beside[1]);
#pragma unroll
    for (int q = 0; q < 2; q++, to += gmg_pitch(fine, 2))
#pragma unroll
      for (int d = 0; d < deep; d++) {
        real_pair *const at = (real_pair *)(to + d * fine.row);
        real_pair v = add ? *at : real_pair{0, 0};
        const gmg_patch<deep> &side = q ? above : below;
        v.x += fz.w[q].own * here.at[d][0] + fz.w[q].side * side.at[d][0];
        v.y += fz.w[q].own * here.at[d][1] + fz.w[q].side * side.at[d][1];
        *at = v;
      }
    below = here, here = above;
  }
}

/* Returns the dimension, or 0 if the kernels do not apply. */
static int prolongation_of(const gmg_map map[3], int processors, const void *y, prolongation *p)
{
  const int dim = map[2].rows > 1 ? 3 : 2, axis[3] = {0, dim == 3 ? 1 : 2, dim - 1};
  *p = {};
  if (!gmg_all_have_pairs(map, dim, GMG_PAIRS_LINEAR) || (uintptr_t)y % sizeof(real_pair)) return 0;
  size_t threads[3];
  for (int a = 0; a < 3; a++) p->m[a] = map[axis[a]], p->n[a] = p->m[a].cols, threads[a] = (size_t)p->n[a];
  p->tiles = gmg_full_tiles_of(threads, dim == 3 ? 32 : GMG_THREADS, 32, 1, 3 * (size_t)processors);
  if (dim == 2) p->tiles.lines = 1;
  return dim;
}

/* Returns 1 if done, and 0 if the kernel does not apply. */
static int prolong_pairs(const gmg_exec *e, const gmg_map map[3], const void *x, void *y, int add)
{
  prolongation p;
  const int dim = prolongation_of(map, gmg_device_of(e)->processors, y, &p);
  if (!dim) return 0;
  const auto kernel = dim == 3 ? prolong_pairs_kernel<2> : prolong_pairs_kernel<1>;
  gmg_launch_early(e, "prolongation", kernel, gmg_shape_of(p.tiles), p, x, y, add);
  return 1;
}

/* --- prolongation on axes of any size (gmg_map::near_pairs) ------------------------------------------------------------ */

/* children_of(). above: whether rows 2 I and 2 I + 1 read the column above I, not the one below. */
typedef struct {
  real own[2], side[2];
  int beside[2], above[2];
} near_children;

static __device__ __forceinline__ near_children near_children_of(const gmg_map &m, int I)
{
  near_children x;
#pragma unroll
  for (int b = 0; b < 2; b++) {
    const gmg_near_pair w = gmg_near_pair_of(m, 2 * I + b, 0, 2 * I + b < m.rows);
    x.own[b] = w.own, x.side[b] = w.side, x.above[b] = w.above;
    x.beside[b] = __ldg(m.wrap + I + (w.above ? 1 : -1));
  }
  return x;
}

/* Like prolong_pairs_kernel() in 3D. The last coarse index may be the wall. */
static __global__ void __launch_bounds__(GMG_THREADS, sizeof(real) == 8 ? 3 : 4)
    prolong_near_pairs_kernel(prolongation p, gmg_layout from, gmg_layout fine, const scalar *x, scalar *y, int add)
{
  gmg_wait_for_predecessor();
  const gmg_column_part part = gmg_column_part_of<1, 1>(p.tiles, p.n, blockIdx.x);
  const int I = part.i, J = part.j, begin = part.begin, end = part.end;
  if (!part.there) return;
  const near_children fx = near_children_of(p.m[0], I), fy = near_children_of(p.m[1], J);
  const int own_x = __ldg(p.m[0].wrap + I), own_y = __ldg(p.m[1].wrap + J), wide = min(2, p.m[0].rows - 2 * I),
            deep = min(2, p.m[1].rows - 2 * J);
  /* coarse plane K, interpolated across the columns */
  const auto across = [&](int K) {
    const scalar *const plane = x + gmg_offset(from, 0, 0, (size_t)__ldg(p.m[2].wrap + K));
    gmg_patch<1> line[3];
#pragma unroll
    for (int m = 0; m < 3; m++) {
      const scalar *const at = plane + (size_t)(m == 0 ? own_y : fy.beside[m - 1]) * from.row;
      const scalar low = __ldg(at + fx.beside[0]), here = __ldg(at + own_x), high = __ldg(at + fx.beside[1]);
      line[m].at[0][0] = fx.own[0] * here + fx.side[0] * low, line[m].at[0][1] = fx.own[1] * here + fx.side[1] * high;
    }
    gmg_patch<2> e;
#pragma unroll
    for (int d = 0; d < 2; d++)
#pragma unroll
      for (int b = 0; b < 2; b++) e.at[d][b] = fy.own[d] * line[0].at[0][b] + fy.side[d] * line[1 + d].at[0][b];
    return e;
  };
  scalar *to = y + gmg_offset(fine, 2 * (size_t)I, 2 * (size_t)J, 2 * (size_t)begin);
  const size_t slice = gmg_pitch(fine, 2);
  gmg_patch<2> below = across(begin - 1), here = across(begin);
  for (int K = begin; K < end; K++, to += 2 * slice) {
    const int high = min(2, p.m[2].rows - 2 * K);
    const auto there = [&](int q, int d, int b) { return q < high && d < deep && b < wide; };
    scalar old[2][2][2];
#pragma unroll
    for (int q = 0; q < 2; q++)
#pragma unroll
      for (int d = 0; d < 2; d++)
#pragma unroll
        for (int b = 0; b < 2; b++) old[q][d][b] = add && there(q, d, b) ? to[q * slice + d * fine.row + b] : (scalar)0;
    const near_children fz = near_children_of(p.m[2], K);
    const gmg_patch<2> above = across(K + 1);
#pragma unroll
    for (int q = 0; q < 2; q++)
#pragma unroll
      for (int d = 0; d < 2; d++)
#pragma unroll
        for (int b = 0; b < 2; b++) {
          const scalar side = fz.above[q] ? above.at[d][b] : below.at[d][b];
          if (there(q, d, b)) to[q * slice + d * fine.row + b] = old[q][d][b] + (fz.own[q] * here.at[d][b] + fz.side[q] * side);
        }
    below = here, here = above;
  }
}

/* Returns 1 if done, and 0 if the kernel does not apply. */
static int prolong_near_pairs(const gmg_exec *e, const gmg_map map[3], gmg_layout from, const void *x, gmg_layout to, void *y,
                              int add)
{
  prolongation p = {};
  size_t threads[3];
  for (int a = 0; a < 3; a++) {
    p.m[a] = map[a], p.n[a] = (map[a].rows + 1) / 2, threads[a] = (size_t)p.n[a];
    if (!map[a].near_pairs || map[a].shift || p.n[a] > map[a].cols + 2) return 0;
  }
  p.tiles = gmg_full_tiles_of(threads, 32, 32, 1, 3 * (size_t)gmg_device_of(e)->processors);
  gmg_launch_early(e, "prolongation", prolong_near_pairs_kernel, gmg_shape_of(p.tiles), p, from, to, x, y, add);
  return 1;
}

#endif
