/* Restriction of the residual in 2D and 3D with coefficients on faces, by averaging over nested cells. Included by cuda/pairs.cuh.
   cuda/face_columns.cuh computes the same fluxes one unknown at a time.

   The average is weighted by control volumes. A flux that leaves one unknown of a coarse cell and enters another therefore cancels.
   A coarse value is the average of f - (shift + sigma) u, plus the fluxes through the boundary of its cell. So only every second
   face across each axis is read. For axes 1 and 2 this saves a sixth of all bytes. */
#ifndef GMG_STENCIL_TRANSFER_CUDA_RESTRICT_FACES_H
#define GMG_STENCIL_TRANSFER_CUDA_RESTRICT_FACES_H

#include "core/cuda/pdl.cuh"
#include "stencil/operator/cuda/face_columns.cuh"

/* Weights of the two unknowns of a coarse cell along an axis, and of the fluxes at its two ends. */
typedef struct {
  real w[2], in, out;
} border;

static __device__ __forceinline__ border border_of(const gmg_map &m, int row, const real *lo, const real *hi, int count)
{
  const int i = 2 * row, pair = i + 1 < count; /* the last unknown may be alone */
  const real w0 = gmg_at(m.weight, 2 * row), w1 = pair ? gmg_at(m.weight, 2 * row + 1) : (real)0;
  return {{w0, w1}, w0 * __ldg(lo + i), (pair ? w1 : w0) * __ldg(hi + i + pair)};
}

/* A thread has a column of coarse unknowns, the four columns of fine ones inside, and the flux into the next. pairs: sizes are
   even, and columns are loaded in aligned pairs. Otherwise the last column along an axis may be alone; it is then loaded twice, the
   second time with weight 0. */
template <int kind, int pairs>
static __global__ void __launch_bounds__(GMG_THREADS, gmg_face_blocks<2>::number)
    restrict_faces_kernel(gmg_face_columns s, gmg_map mx, gmg_map my, gmg_map mz, gmg_layout to, const scalar *f, const scalar *u,
                          scalar *coarse)
{
  gmg_wait_for_predecessor();
  constexpr int flat = kind & GMG_FLAT;
  const gmg_column_part at = gmg_column_part_of<2, 2>(s.s.tiles, s.s.n, blockIdx.x);
  if (!at.there) return;
  const unsigned more_x = pairs || at.i + 1 < s.s.n[0], more_y = pairs || at.j + 1 < s.s.n[1];
  const gmg_surroundings c = gmg_surroundings_of(s, at, more_x, more_y);
  const unsigned *n = c.level.n, row = c.level.row, i = c.i, j = c.j;
  const border x = border_of(mx, at.i / 2, s.lo[0], s.hi[0], s.s.n[0]);
  const border y = flat ? border{{1, 0}, 0, 0} : border_of(my, at.j / 2, s.lo[1], s.hi[1], s.s.n[1]);
  /* weighted sum over the four columns */
  const auto across = [&](auto value) {
    return y.w[0] * (x.w[0] * value(0, 0) + x.w[1] * value(0, 1)) + y.w[1] * (x.w[0] * value(1, 0) + x.w[1] * value(1, 1));
  };
  const auto square = [&](const real *first, unsigned behind, int there) {
    if (pairs) return gmg_patch_of<2>(first, behind, there);
    gmg_patch<2> v = {};
#pragma unroll
    for (int d = 0; d < 2 && there; d++)
      v.at[d][0] = __ldg(first + d * more_y * behind), v.at[d][1] = __ldg(first + d * more_y * behind + more_x);
    return v;
  };
  const auto line = [&](const real *first, int there) {
    if (pairs) return gmg_patch_of<1>(first, 0, there);
    gmg_patch<1> v = {};
    if (there) v.at[0][0] = __ldg(first), v.at[0][1] = __ldg(first + more_x);
    return v;
  };
  const auto plane = [&](const scalar *field, unsigned k, int there) {
    return square(field + (k * c.slice + c.column), row, there);
  };
  /* the flux through the faces below plane k */
  const auto flux = [&](unsigned k, const gmg_patch<2> &low, const gmg_patch<2> &high) {
    const gmg_patch<2> face = square(gmg_faces_below(s, c, 2, k), c.across[2].row, 1);
    return across([&](int d, int b) { return face.at[d][b] * (low.at[d][b] - high.at[d][b]); });
  };
  unsigned k = (unsigned)at.begin;
  gmg_patch<2> here = plane(u, k, 1);
  scalar below = flux(k, plane(u, gmg_index_below_32(k, n[2], 1), gmg_has_below_32(k, s.s.wraps[2])), here);
  for (; k < (unsigned)at.end; k += 2) {
    const unsigned planes = k + 1 < n[2] ? 2 : 1, last = k + planes - 1;
    const border z = border_of(mz, (int)(k / 2), s.lo[2], s.hi[2], s.s.n[2]);
    const gmg_patch<2> second = plane(u, last, 1);
    const gmg_patch<2> above = plane(u, gmg_index_above_32(last, n[2], 1), gmg_has_above_32(last, n[2], s.s.wraps[2]));
    scalar sum = 0;
#pragma unroll
    for (int q = 0; q < 2; q++) {
      const unsigned p = k + (planes > 1 ? q : 0), base = p * c.slice;
      const gmg_patch<2> &v = q ? second : here;
      const gmg_patch<2> rhs = plane(f, p, 1), sigma = plane(s.sigma, p, kind & GMG_SIGMA);
      const real *const x_face = gmg_faces_below(s, c, 0, p), *const y_face = gmg_faces_below(s, c, 1, p);
      const gmg_patch<1> front = line(u + (base + c.front), c.has_front), back = line(u + (base + c.back), c.has_back);
      const gmg_patch<1> y_in = line(y_face, !flat), y_out = line(y_face + (1 + more_y) * c.across[1].row, !flat);
      scalar part = across([&](int d, int b) {
        const real shift = kind & GMG_SIGMA ? s.s.shift + sigma.at[d][b] : s.s.shift;
        return rhs.at[d][b] - shift * v.at[d][b];
      });
#pragma unroll
      for (int d = 0; d < 2; d++) {
        const unsigned behind = d * more_y * row;
        const scalar before = c.has_left ? __ldg(u + (base + c.left + behind)) : (scalar)0;
        const scalar after = c.has_right ? __ldg(u + (base + c.right + behind)) : (scalar)0;
        const real *const face = x_face + d * more_y * c.across[0].row;
        part += y.w[d] * (x.in * __ldg(face) * (before - v.at[d][0]) - x.out * __ldg(face + 1 + more_x) * (v.at[d][1] - after));
      }
#pragma unroll
      for (int b = 0; b < 2; b++)
        part += x.w[b] * (y.in * y_in.at[0][b] * (front.at[0][b] - v.at[0][b]) -
                          y.out * y_out.at[0][b] * (v.at[1][b] - back.at[0][b]));
      sum += z.w[q] * part;
    }
    const scalar top = flux(k + planes, second, above);
    coarse[gmg_offset_32(gmg_layout_32_of(to), i / 2, j / 2, k / 2)] = sum + (z.in * below - z.out * top);
    here = above, below = top;
  }
}

/* The map with rows counted from that of fine unknown 0 on. Only its weights can then be read. */
static inline gmg_map map_from_first_row(gmg_map m)
{
  m.weight = (const real *)m.weight + 2 * m.shift;
  return m;
}

/* Returns 1 if done. With coefficients on faces levels are nested. Along a coarsened axis row I reads columns 2 I and 2 I + 1. The
   last row reads one column if their number is odd. In a part (core/part.h) row I + shift does so, and rows of ghosts are left
   out. */
static int restrict_faces(const gmg_exec *e, const gmg_operator *A, const gmg_map map[3], const void *f, const void *u,
                          void *coarse)
{
  gmg_face_columns w;
  if (!gmg_face_columns_of(A, gmg_device_of(e)->processors, f, u, NULL, &w)) return 0;
  for (int a = 0; a < A->dim; a++) {
    const int rows = (map[a].cols + 1) / 2;
    if (map[a].width != 2 || (A->part ? map[a].rows < map[a].shift + rows : map[a].rows != rows)) return 0;
  }
  if (w.wide == 1) w.s.tiles = gmg_face_tiles(&w, 2, 4 * gmg_device_of(e)->processors);
  const gmg_layout to = gmg_layout_of_rows(map);
  scalar *const first = (scalar *)coarse + gmg_offset(to, map[0].shift, map[1].shift, map[2].shift);
  gmg_launch_early(e, "restriction", GMG_BY_COLUMNS(w, restrict_faces_kernel, 0, 1), gmg_shape_of(w.s.tiles), w,
                   map_from_first_row(map[0]), map_from_first_row(map[1]), map_from_first_row(map[A->dim - 1]),
                   gmg_along_columns(A->dim, to), f, u, first);
  return 1;
}

#endif
