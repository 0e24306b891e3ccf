/* Galerkin products on a CUDA device. A thread computes a coarse row. The threads of a warp are neighbours along a line, so all of
   them follow the same terms along axes 1 and 2, and their loads are contiguous. Along axis 0 the terms are written out, as in
   host/product.c. The 27 sums are in shared memory, because their number is known only at run time. Included by black_box.cu. */
#ifndef GMG_STENCIL_BLACK_BOX_CUDA_PRODUCT_CUH
#define GMG_STENCIL_BLACK_BOX_CUDA_PRODUCT_CUH

#include "core/cuda/device.h"
#include "stencil/black_box/rows.h"

/* The namespace has no name. Otherwise both real types would have the same symbols. */
namespace {

enum { PRODUCT_THREADS = 128 };

/* Entry e of row `at` of the fine operator. */
__device__ __forceinline__ double entry_at(const gmg_black_box_levels &l, int e, size_t i, size_t j, size_t k)
{
  if (l.is_box) return l.box.entry[e] ? (double)l.box.entry[e][gmg_offset(l.box.own, i, j, k)] : 0;
  const size_t at[3] = {i, j, k};
  if (e == 13) {
    double row[27];
    (void)gmg_row_as_box(&l.A, at, row);
    return row[13];
  }
  const int axis = e == 12 || e == 14 ? 0 : e == 10 || e == 16 ? 1 : 2, above = e > 13;
  if (e != 12 && e != 14 && e != 10 && e != 16 && e != 4 && e != 22) return 0;
  const real *const coupling = (const real *)(above ? l.A.hi : l.A.lo)[axis], *const face = (const real *)l.A.face[axis];
  const double value = -(double)coupling[at[axis]];
  if (!face) return value;
  const gmg_layout across = gmg_face_layout_of(&l.A, axis);
  return value * (double)face[gmg_offset(across, i, j, k) + (above ? gmg_pitch(across, axis) : 0)];
}

/* The part of a fine line along axis 0 that coarse unknown J reads: fine unknowns m = -1, 0 and 1, relative to the one at J. */
struct fine_part {
  double share[3];    /* weight and control volumes of m */
  double entry[3][3]; /* [m][dx] of the entries that lead to one line */
};

/* Adds to the sums towards one coarse line: before, at and after J along axis 0. number, w: weights of the line that the entries
   lead to, at J. */
__device__ __forceinline__ void add_terms(const gmg_black_box_levels &l, const fine_part &p, int number, size_t w, double sum[3])
{
  const real *const here = number ? l.weight[number] + w : NULL;
  const double before = here ? (double)here[-1] : 1, at = here ? (double)here[0] : 1, after = here ? (double)here[1] : 1;
  if (!l.A.coarsened[0]) {
    sum[0] += p.share[1] * p.entry[1][0] * before, sum[1] += p.share[1] * p.entry[1][1] * at;
    sum[2] += p.share[1] * p.entry[1][2] * after;
    return;
  }
  const real *const low = l.weight[number + 1] + w, *const high = l.weight[number + 2] + w;
  const double low_before = (double)low[-1], low_at = (double)low[0], high_before = (double)high[-1], high_at = (double)high[0];
  const double half_before = p.share[0] * p.entry[0][1] + p.share[1] * p.entry[1][0]; /* entries that lead to fine unknown -1 */
  const double half_after = p.share[1] * p.entry[1][2] + p.share[2] * p.entry[2][1];
  sum[0] += p.share[0] * p.entry[0][0] * before + half_before * low_before;
  sum[1] += half_before * high_before + half_after * low_at +
            (p.share[0] * p.entry[0][2] + p.share[1] * p.entry[1][1] + p.share[2] * p.entry[2][0]) * at;
  sum[2] += p.share[2] * p.entry[2][2] * after + half_after * high_at;
}

__device__ __forceinline__ void read_shares(const gmg_black_box_levels &l, size_t i, int number, size_t parent, double volume,
                                            fine_part &p)
{
#pragma unroll
  for (int m = -1; m <= 1; m++) {
    const int digit = m == 0 ? 0 : m == 1 ? 1 : 2;
    if (m != 0 && !l.A.coarsened[0]) continue;
    const double w = number + digit ? (double)l.weight[number + digit][parent + i - (m < 0)] : 1;
    p.share[m + 1] = volume * (double)l.share[0][3 * i + (size_t)(m + 1)] * w;
  }
}

/* The row of coarse unknown (i, y's, z's), which is not at an end of its line. out: PRODUCT_THREADS apart. */
__device__ __forceinline__ void product_inside(const gmg_black_box_levels &l, size_t i, const gmg_black_box_axis &y,
                                               const gmg_black_box_axis &z, double *out)
{
  const int reach = l.A.coarsened[0] ? 1 : 0;
  const size_t fine = l.A.coarsened[0] ? 2 * i : i;
  for (int e = 0; e < 27; e++) out[e * PRODUCT_THREADS] = 0;
  for (int c = 0; c < 3; c++)
    for (int b = 0; b < 3; b++) {
      fine_part p;
      if (!(y.exists[b] && z.exists[c])) continue;
      read_shares(l, i, 3 * b + 9 * c, gmg_offset(l.coarse, 0, y.parent[b], z.parent[c]), (double)(y.share[b] * z.share[c]), p);
      for (int line = 0; line < 9; line++) {
        const gmg_black_box_sources &sy = y.beside[b][line % 3], &sz = z.beside[c][line / 3];
        if (sy.count == 0 || sz.count == 0 || (!l.is_box && line % 3 != 1 && line / 3 != 1)) continue;
#pragma unroll
        for (int m = -1; m <= 1; m++)
#pragma unroll
          for (int dx = 0; dx < 3; dx++)
            if (m >= -reach && m <= reach)
              p.entry[m + 1][dx] = entry_at(l, 3 * line + dx, fine + (size_t)(long)m, y.fine[b], z.fine[c]);
        for (int k = 0; k < sz.count; k++)
          for (int j = 0; j < sy.count; j++) {
            double sum[3] = {0, 0, 0};
            add_terms(l, p, 3 * sy.digit[j] + 9 * sz.digit[k], gmg_offset(l.coarse, i, sy.parent, sz.parent), sum);
            double *const to = out + (13 + 3 * sy.to[j] + 9 * sz.to[k]) * PRODUCT_THREADS;
            to[-PRODUCT_THREADS] += sum[0], to[0] += sum[1], to[PRODUCT_THREADS] += sum[2];
          }
      }
    }
}

/* lines: of coarse unknowns; across: threads along a line. */
__global__ void __launch_bounds__(PRODUCT_THREADS) product_rows(gmg_black_box_levels l, size_t lines, unsigned across)
{
  __shared__ double sums[27 * PRODUCT_THREADS];
  const unsigned t = threadIdx.x, in_block = PRODUCT_THREADS / across;
  const size_t i = (size_t)blockIdx.x * across + t % across, n = l.n[0];
  for (size_t line = (size_t)blockIdx.y * in_block + t / across; line < lines && i < n; line += (size_t)gridDim.y * in_block) {
    const gmg_line_place at = gmg_line_place_of(line, l.n);
    const size_t own = gmg_offset(l.coarse, i, at.j, at.k);
    gmg_black_box_axis x, y, z;
    gmg_black_box_axis_at(&l, 1, at.j, &y), gmg_black_box_axis_at(&l, 2, at.k, &z);
    if (i == 0 || i + 1 == n) {
      gmg_black_box_axis_at(&l, 0, i, &x);
      gmg_black_box_product(&l, &x, &y, &z, own);
      continue;
    }
    double row[27];
    product_inside(l, i, y, z, sums + t);
    for (int e = 0; e < 27; e++) row[e] = sums[e * PRODUCT_THREADS + t];
    gmg_black_box_store(&l, row, own);
  }
}

} // namespace

#endif
