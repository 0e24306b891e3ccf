/* Transfers between grids on a CUDA device: tensor products of 1D maps, restriction of the residual, and prolongation that depends
   on the coefficients (source and reasons: host/prolong.c). Called through gmg_operator_ops and gmg_grid_ops. */
extern "C" {
#include "stencil/grid_ops.h"
#include "stencil/transfer/prolong.h"
}

#include "pairs.cuh"
#include "fmg_residual_planes.cuh"
#include "fmg_residual_rows.cuh"
#include "prolong_faces.cuh"
#include "restrict_columns.cuh"
#include "restrict_strips.cuh"

#if GMG_REAL_F32
#include "stencil/operator/cuda/equal_columns.cuh"
#endif

/* Row (x, y, z) of the tensor product, applied to value(i, j, k). The widths are those of the maps if they are common ones, and
   then known to the compiler; otherwise 0. */
template <int width_x, int width_y, int width_z, class Value>
static __device__ __forceinline__ scalar tensor_at(const gmg_map *m, size_t x, size_t y, size_t z, Value value)
{
  const int X = width_x ? width_x : m[0].width, Y = width_y ? width_y : m[1].width, Z = width_z ? width_z : m[2].width;
  const real *wx = (const real *)m[0].weight + x * X, *wy = (const real *)m[1].weight + y * Y;
  const real *wz = (const real *)m[2].weight + z * Z;
  const int *i = m[0].wrap + __ldg(m[0].first + x), *j = m[1].wrap + __ldg(m[1].first + y), *k = m[2].wrap + __ldg(m[2].first + z);
  scalar sum = 0;
#pragma unroll
  for (int q = 0; q < Z; q++)
#pragma unroll
    for (int p = 0; p < Y; p++) {
      const real w = __ldg(wz + q) * __ldg(wy + p);
      if (!width_x && w == 0) continue;
#pragma unroll
      for (int c = 0; c < X; c++)
        if (width_x || wx[c] != 0)
          sum += w * __ldg(wx + c) * value((size_t)__ldg(i + c), (size_t)__ldg(j + p), (size_t)__ldg(k + q));
    }
  return sum;
}

static gmg_points rows_of(const gmg_map map[3]) { return gmg_points_of(gmg_layout_of_rows(map)); }

#include "transfer_1d.cuh"

/* KERNEL(2, 2, 2) and so on for the widths of the maps if they are common ones; otherwise KERNEL(0, 0, 0). */
#define BY_WIDTHS(map, KERNEL)                                                                             \
  (has_widths(map, 2, 2, 2) ? KERNEL(2, 2, 2) : has_widths(map, 2, 2, 1) ? KERNEL(2, 2, 1)                 \
                                              : has_widths(map, 2, 1, 1) ? KERNEL(2, 1, 1)                 \
                                              : has_widths(map, 1, 2, 1) ? KERNEL(1, 2, 1) : KERNEL(0, 0, 0))
static int has_widths(const gmg_map m[3], int x, int y, int z) { return m[0].width == x && m[1].width == y && m[2].width == z; }

#include "two_taps.cuh"
#include "two_taps_rows.cuh"

template <int X, int Y, int Z>
static __global__ void tensor_kernel(gmg_maps t, gmg_points p, gmg_layout from, const scalar *x, scalar *y, int add)
{
  gmg_for_points(p, [&](size_t i, size_t j, size_t k, size_t c) {
    const scalar v = tensor_at<X, Y, Z>(t.m, i, j, k, [&](size_t a, size_t b, size_t d) { return x[gmg_offset(from, a, b, d)]; });
    y[c] = add ? y[c] + v : v;
  });
}

/* Restrictions have 3 or 4 columns on vertices, and also on cells if a size is odd. */
static auto tensor_kernel_of(const gmg_map map[3])
{
#define KERNEL(X, Y, Z) tensor_kernel<X, Y, Z>
  return has_widths(map, 3, 3, 3)   ? KERNEL(3, 3, 3)
         : has_widths(map, 4, 4, 4) ? KERNEL(4, 4, 4)
         : has_widths(map, 3, 3, 1) ? KERNEL(3, 3, 1)
         : has_widths(map, 4, 4, 1) ? KERNEL(4, 4, 1)
         : has_widths(map, 4, 1, 1) ? KERNEL(4, 1, 1)
         : has_widths(map, 1, 4, 1) ? KERNEL(1, 4, 1)
                                    : BY_WIDTHS(map, KERNEL);
#undef KERNEL
}

extern "C" void R(gmg_transfer_cuda)(const gmg_exec *e, const gmg_map map[3], const void *x, void *y, int add)
{
  const gmg_points p = rows_of(map);
  if (prolong_line(e, map, x, y, add) || prolong_pairs(e, map, x, y, add)) return;
  if (prolong_near_pairs(e, map, gmg_layout_of_columns(map), x, p.layout, y, add)) return;
  if (prolong_two_taps(e, map, gmg_layout_of_columns(map), x, p.layout, y, add)) return;
  if (prolong_two_taps_rows(e, map, gmg_layout_of_columns(map), x, p.layout, y, add)) return;
  gmg_launch(e, "transfer", tensor_kernel_of(map), gmg_shape_of(p), gmg_maps_of(map), p, gmg_layout_of_columns(map), x, y, add);
}

extern "C" void R(gmg_transfer_between_cuda)(const gmg_exec *e, const gmg_map map[3], gmg_layout from, const void *x, gmg_layout to,
                                           void *y)
{
  const gmg_points p = gmg_points_of(to);
  if (prolong_two_taps(e, map, from, x, to, y, 0) || prolong_two_taps_rows(e, map, from, x, to, y, 0)) return;
  gmg_launch(e, "transfer", tensor_kernel_of(map), gmg_shape_of(p), gmg_maps_of(map), p, from, x, y, 0);
}

template <int kind, int X, int Y, int Z>
static __global__ void restrict_kernel(gmg_operator A, gmg_maps t, gmg_points p, const scalar *f, const scalar *u, scalar *coarse)
{
  gmg_for_points(p, [&](size_t i, size_t j, size_t k, size_t c) {
    const auto residual = [&](size_t a, size_t b, size_t d) { return gmg_residual_at<kind>(A, a, b, d, f, u); };
    coarse[c] = tensor_at<X, Y, Z>(t.m, i, j, k, residual);
  });
}

/* Returns 1 if done, and 0 if the kernel does not apply. */
static int restrict_in_3d(const gmg_exec *e, const gmg_operator *A, const gmg_map map[3], const void *f, const void *u,
                          void *coarse)
{
  typedef int restriction(const gmg_exec *, const gmg_operator *, const gmg_operator &, const gmg_map *, const void *, const void *,
                          void *);
  static restriction *const by_kind[] = {
      restrict_columns<gmg_seven_point_columns<GMG_CONSTANT>>, restrict_columns<gmg_seven_point_columns<GMG_FACES>>,
      restrict_columns<gmg_seven_point_columns<GMG_SIGMA>>, restrict_columns<gmg_seven_point_columns<GMG_FACES | GMG_SIGMA>>};
#if GMG_REAL_F32 /* in double the copies do not fit in shared memory */
  gmg_equal_operator equal;
  if (gmg_equal_operator_of(A, &equal))
    return restrict_columns<gmg_equal_columns<RESTRICT_THREADS>>(e, A, equal, map, f, u, coarse);
#endif
  return by_kind[gmg_coefficients_of(A)](e, A, *A, map, f, u, coarse);
}

/* Whether the rows of the maps read residuals more than once. Then restrict_kernel() is not used: if no kernel computes them once
   and restricts them in one pass, it is faster to store the residual first. In float on an H100, 512 x 65536 unknowns of which the
   second axis is coarsened by the adjoint of linear interpolation: 445 us instead of 874. */
static int reads_twice(const gmg_map map[3])
{
  double reads = 1, fine = 1;
  for (int a = 0; a < 3; a++) reads *= (double)map[a].width * map[a].rows, fine *= map[a].cols;
  return reads > 1.5 * fine;
}

extern "C" void R(gmg_restrict_residual_cuda)(const gmg_exec *e, const gmg_operator *A, const gmg_map map[3], const void *f,
                                              const void *u, void *r, void *coarse)
{
  const gmg_points p = rows_of(map);
  if (restrict_line(e, A, map, f, u, coarse) || restrict_pairs(e, A, map, f, u, coarse)) return;
  if (restrict_in_3d(e, A, map, f, u, coarse)) return;
  if (reads_twice(map)) {
    if (restrict_strips(e, A, map, f, u, coarse)) return;
    gmg_operator_of(e, A)->residual(e, A, f, u, r);
    R(gmg_transfer_cuda)(e, map, r, coarse, 0);
    return;
  }
  const auto kernel = has_widths(map, 2, 2, 1) ? GMG_BY_KIND(A, restrict_kernel, 2, 2, 1)
                                               : GMG_BY_KIND(A, restrict_kernel, 0, 0, 0);
  gmg_launch(e, "restriction", kernel, gmg_shape_of(p), *A, gmg_maps_of(map), p, f, u, coarse);
}

extern "C" int R(gmg_interpolated_residual_cuda)(const gmg_exec *e, const gmg_operator *A, const gmg_map map[3],
                                                 const void *coarse, const void *f, void *u, int store, const double *divisor,
                                                 void *r)
{
  if (!A->caller_layouts && fmg_residual_rows(e, A, map, coarse, f, u, store, divisor, r)) return store;
#if !GMG_REAL_F32
  if (!A->caller_layouts && fmg_residual_planes(e, A, map, coarse, f, u, store, divisor, r)) return store;
#endif
  gmg_transfer(e, map, gmg_layout_of_columns(map), coarse, gmg_residual_layouts_of(A).u, u);
  (void)gmg_operator_of(e, A)->measure_residual(e, A, f, u, divisor, NULL, r, NULL, GMG_ENQUEUE);
  return 1;
}

static __global__ void prolong_faces_kernel(gmg_operator A, gmg_maps t, gmg_points p, const scalar *coarse, scalar *u)
{
  const gmg_layout from = gmg_layout_of_columns(t.m);
  gmg_for_points(p, [&](size_t i, size_t j, size_t k, size_t c) {
    const size_t at[3] = {i, j, k};
    gmg_move m[3];
#pragma unroll
    for (int a = 0; a < 3; a++) m[a] = gmg_move_of(&t.m[a], at[a]);
    const size_t parent = gmg_offset(from, m[0].parent, m[1].parent, m[2].parent);
    scalar v = coarse[parent];
    const scalar own = v;
#pragma unroll
    for (int a = 0; a < 3; a++) {
      if (a >= A.dim) continue;
      const gmg_layout across = gmg_face_layout_of(&A, a);
      const size_t low = gmg_offset(across, i, j, k);
      const real below = gmg_at(A.face[a], low), above = gmg_at(A.face[a], low + gmg_pitch(across, a));
      const scalar other = coarse[parent + (m[a].other - m[a].parent) * gmg_pitch(from, a)];
      v += gmg_move_limit(m[a], below, above) * (m[a].own * own + m[a].next * other);
    }
    u[c] += v;
  });
}

/* prolong_faces_kernel() in 2D (flat) and 3D, with one thread per column. Moves along the last axis are in shared memory. Values of
   several planes are loaded before any is stored: a load of u cannot overtake a store to u, so one plane at a time would wait for
   memory in every plane. */
enum { FACE_COLUMN_PLANES = 4 };
template <int flat>
static __global__ void __launch_bounds__(GMG_THREADS)
    prolong_face_columns_kernel(gmg_operator A, gmg_maps t, gmg_columns s, const scalar *coarse, scalar *u)
{
  enum { LAST = flat ? 1 : 2 };
  __shared__ gmg_move along[GMG_COLUMN_PLANES];
  const int n[3] = {(int)s.n[0], (int)s.n[1], (int)s.n[2]};
  const gmg_column_part part = gmg_column_part_of<1, 1>(s.tiles, n, blockIdx.x);
  const int thread = (int)(threadIdx.y * blockDim.x + threadIdx.x);
  if (part.begin + thread < part.end) along[thread] = gmg_move_of(&t.m[LAST], part.begin + thread);
  __syncthreads();
  gmg_wait_for_predecessor();
  if (!part.there) return;
  const gmg_layout from = gmg_layout_of_columns(t.m), to = gmg_layout_of(&A);
  const gmg_move x = gmg_move_of(&t.m[0], part.i), y = flat ? gmg_move{} : gmg_move_of(&t.m[1], part.j);
  const auto offset = [&](const gmg_layout &l, size_t i, size_t j, size_t k) {
    return flat ? gmg_offset(l, i, k, 0) : gmg_offset(l, i, j, k);
  };
  const auto column = [&](size_t i, size_t j) { return coarse + offset(from, i, j, 0); };
  const scalar *const own = column(x.parent, y.parent), *const beside_x = column(x.other, y.parent);
  const scalar *const beside_y = column(x.parent, y.other);
  const real *face[LAST + 1];
  size_t pitch[LAST + 1];
#pragma unroll
  for (int a = 0; a <= LAST; a++) {
    const gmg_layout across = gmg_face_layout_of(&A, a);
    face[a] = (const real *)A.face[a] + offset(across, part.i, part.j, part.begin), pitch[a] = gmg_pitch(across, LAST);
  }
  const size_t slice = gmg_pitch(from, LAST), next_y = gmg_pitch(gmg_face_layout_of(&A, 1), 1), step = gmg_pitch(to, LAST);
  scalar *at = u + offset(to, part.i, part.j, part.begin);
  real below = __ldg(face[LAST]);
  for (int k = 0; k < part.end - part.begin; k += FACE_COLUMN_PLANES, at += FACE_COLUMN_PLANES * step) {
    const int planes = min(FACE_COLUMN_PLANES, part.end - part.begin - k);
    scalar v[FACE_COLUMN_PLANES], to_x[FACE_COLUMN_PLANES], to_y[FACE_COLUMN_PLANES], to_z[FACE_COLUMN_PLANES];
    scalar old[FACE_COLUMN_PLANES];
    real faces_x[FACE_COLUMN_PLANES][2], faces_y[FACE_COLUMN_PLANES][2], above[FACE_COLUMN_PLANES];
#pragma unroll
    for (int q = 0; q < FACE_COLUMN_PLANES; q++) {
      const int plane = min(q, planes - 1);
      const gmg_move &z = along[k + plane];
      const size_t base = z.parent * slice;
      const real *const x_face = face[0] + plane * pitch[0], *const y_face = face[1] + plane * pitch[1];
      v[q] = __ldg(own + base), to_x[q] = __ldg(beside_x + base), to_y[q] = flat ? 0 : __ldg(beside_y + base);
      to_z[q] = __ldg(own + z.other * slice), old[q] = at[plane * step];
      faces_x[q][0] = __ldg(x_face), faces_x[q][1] = __ldg(x_face + 1);
      faces_y[q][0] = flat ? 0 : __ldg(y_face), faces_y[q][1] = flat ? 0 : __ldg(y_face + next_y);
      above[q] = __ldg(face[LAST] + (plane + 1) * pitch[LAST]);
    }
#pragma unroll
    for (int q = 0; q < FACE_COLUMN_PLANES; q++) {
      if (q >= planes) break;
      const gmg_move &z = along[k + q];
      const scalar move_x = x.own * v[q] + x.next * to_x[q], move_y = y.own * v[q] + y.next * to_y[q];
      const scalar move_z = z.own * v[q] + z.next * to_z[q];
      const scalar along_y = flat ? 0 : gmg_move_limit(y, faces_y[q][0], faces_y[q][1]) * move_y;
      at[q * step] = old[q] + (v[q] + gmg_move_limit(x, faces_x[q][0], faces_x[q][1]) * move_x +
                               (along_y + gmg_move_limit(z, below, above[q]) * move_z));
      below = above[q];
    }
#pragma unroll
    for (int a = 0; a <= LAST; a++) face[a] += FACE_COLUMN_PLANES * pitch[a];
  }
}

extern "C" void R(gmg_prolong_faces_cuda)(const gmg_exec *e, const gmg_operator *A, const gmg_map map[3], const void *c, void *u)
{
  const gmg_points p = gmg_points_of(gmg_layout_of(A));
  if (prolong_face_pairs(e, A, map, c, u)) return;
  if (A->dim > 1) {
    const int flat = A->dim == 2;
    const size_t n[3] = {A->n[0], flat ? 1 : A->n[1], A->n[A->dim - 1]};
    const gmg_columns s = gmg_columns_of(e, n);
    const auto kernel = flat ? prolong_face_columns_kernel<1> : prolong_face_columns_kernel<0>;
    gmg_launch_early(e, "prolongation", kernel, gmg_shape_of(s.tiles), *A, gmg_maps_of(map), s, c, u);
    return;
  }
  gmg_launch(e, "prolongation", prolong_faces_kernel, gmg_shape_of(p), *A, gmg_maps_of(map), p, c, u);
}
