/* Restriction of the residual where only one axis is coarsened, by the adjoint of linear interpolation, with constant coefficients
   on even sizes. Included by cuda/pairs.cuh alone. restrict_strips.cuh and restrict_columns.cuh cover all other cases.

   A thread walks with a pair of columns (3D: two pairs, one behind the other) and computes every residual once: along the coarsened
   axis, or along the last one if the first is coarsened. 2.5 values per fine unknown must be moved: f, u, and half a coarse one. */
#ifndef GMG_STENCIL_TRANSFER_CUDA_RESTRICT_ONE_AXIS_H
#define GMG_STENCIL_TRANSFER_CUDA_RESTRICT_ONE_AXIS_H

#include "core/cuda/pdl.cuh"
#include "stencil/operator/cuda/uniform_columns.cuh"
#include "stencil/operator/cuda/warp_rows.cuh"

/* Coarse unknown I reads TAPS fine ones, from 2 I - 1 on. */
enum { TAPS = 4, ALONG_BLOCKS = sizeof(real) == 8 ? 2 : 4 };

/* Along the columns: a thread keeps its last residuals. behind, step: in the coarse field, along axes 1 and 2 of s */
template <int deep>
static __global__ void __launch_bounds__(GMG_THREADS, ALONG_BLOCKS)
    restrict_along_kernel(gmg_uniform s, gmg_map m, size_t behind, size_t step, const scalar *f, const scalar *u, scalar *coarse)
{
  gmg_wait_for_predecessor();
  const gmg_column_part at = gmg_column_part_of<2, deep>(s.tiles, s.n, blockIdx.x);
  if (!at.there) return;
  scalar *const column = coarse + (size_t)at.i + (size_t)at.j * behind;
  gmg_patch<deep> before[TAPS - 1] = {};
  const int begin = at.begin - 1, end = at.end + 1;
  gmg_walk_pairs<deep>(s, f, u, at.i, at.j, begin, end, 1, [&](int k, size_t, const gmg_patch<deep> &r, const auto &) {
    if (k % 2 == 0 && k > at.begin) {
      const int K = k / 2 - 1;
      real w[TAPS];
      gmg_patch<deep> sum;
#pragma unroll
      for (int t = 0; t < TAPS; t++) w[t] = gmg_weight_of(m, K, 2 * K - 1 + t);
#pragma unroll
      for (int d = 0; d < deep; d++)
#pragma unroll
        for (int b = 0; b < 2; b++)
          sum.at[d][b] = (w[0] * before[0].at[d][b] + w[1] * before[1].at[d][b]) + (w[2] * before[2].at[d][b] + w[3] * r.at[d][b]);
      gmg_store_patch(column + (size_t)K * step, behind, sum);
    }
    before[0] = before[1], before[1] = before[2], before[2] = r;
  });
}

/* Exchanges axes 1 and 2, so that columns are along the second axis of the problem. */
static inline void walk_along_second(gmg_uniform *s, int blocks)
{
  const gmg_uniform x = *s;
  for (int a = 1; a < 3; a++) {
    s->n[a] = x.n[3 - a], s->wraps[a] = x.wraps[3 - a], s->diag[a] = x.diag[3 - a], s->coupling[a] = x.coupling[3 - a];
  }
  s->behind = x.plane, s->plane = x.behind;
  gmg_tile_columns(s, blocks);
}

/* Warps for restriction along the first axis: their pairs of columns, without those of the first and the last lane, which their
   neighbours restrict; lines; and planes. */
typedef struct {
  unsigned beside, lines;
  int planes;
} across_warps;
enum { ACROSS_PAIRS = 30 };

/* Along the first axis: lanes exchange residuals. */
template <int deep>
static __global__ void __launch_bounds__(32 * BLOCK_WARPS, 2 * ALONG_BLOCKS)
    restrict_across_kernel(gmg_uniform s, across_warps t, gmg_map m, const scalar *f, const scalar *u, scalar *coarse)
{
  gmg_wait_for_predecessor();
  const unsigned warp = blockIdx.x * BLOCK_WARPS + gmg_warp(), lane = threadIdx.x % 32, rest = warp / t.beside;
  const int pairs = s.n[0] / 2, I = (int)(warp - rest * t.beside) * ACROSS_PAIRS + (int)lane - 1;
  const int j = deep * (int)(rest % t.lines), begin = (int)(rest / t.lines) * t.planes, end = min(begin + t.planes, s.n[2]);
  const int there = gmg_index_exists(I, pairs, s.wraps[0]) && I <= pairs, own = lane > 0 && lane <= ACROSS_PAIRS && I < pairs;
  const size_t lines = (size_t)s.n[1];
  real w[TAPS];
  if (begin >= end) return;
#pragma unroll
  for (int q = 0; q < TAPS; q++) w[q] = own ? gmg_weight_of(m, I, 2 * I - 1 + q) : (real)0;
  gmg_walk_pairs<deep>(s, f, u, there ? 2 * gmg_wrap_once(I, pairs, s.wraps[0]) : 0, j, begin, end, there,
                       [&](int k, size_t, const gmg_patch<deep> &r, const auto &) {
#pragma unroll
    for (int d = 0; d < deep; d++) {
      const scalar left = __shfl_up_sync(~0u, r.at[d][1], 1), right = __shfl_down_sync(~0u, r.at[d][0], 1);
      const scalar sum = (w[0] * left + w[1] * r.at[d][0]) + (w[2] * r.at[d][1] + w[3] * right);
      if (own) coarse[((size_t)k * lines + (size_t)(j + d)) * (size_t)pairs + (size_t)I] = sum;
    }
  });
}

static int is_identity(const gmg_map &m) { return m.width == 1 && m.rows == m.cols; }

/* Returns 1 if done, and 0 if the kernels do not apply. */
static int restrict_one_axis(const gmg_exec *e, const gmg_operator *A, const gmg_map map[3], const void *f, const void *u,
                             void *coarse)
{
  enum { FILL_PLANES = 2, MIN_PLANES = 4 };
  const int processors = gmg_device_of(e)->processors, blocks = ALONG_BLOCKS * processors;
  int axis = 0;
  gmg_uniform s;
  while (axis < A->dim && map[axis].pairs != GMG_PAIRS_ADJOINT) axis++;
  if (A->dim < 2 || axis == A->dim || !gmg_uniform_of(A, blocks, f, u, axis ? coarse : NULL, &s)) return 0;
  for (int a = 0; a < A->dim; a++)
    if (a != axis && !is_identity(map[a])) return 0;
  const gmg_map &m = map[axis];
  const gmg_layout to = gmg_layout_of_rows(map);
  if (axis > 0) {
    const int is_second = axis < A->dim - 1, last = A->dim - 1;
    if (is_second && A->n[2] % 2) return 0;
    if (is_second) walk_along_second(&s, blocks);
    gmg_launch_early(e, "restriction", GMG_BY_DEPTH(s, restrict_along_kernel), gmg_shape_of(s.tiles), s, m,
                     gmg_pitch(to, is_second ? 2 : 1), gmg_pitch(to, is_second ? 1 : last), f, u, coarse);
    return 1;
  }
  across_warps t = {(unsigned)((s.n[0] / 2 + ACROSS_PAIRS - 1) / ACROSS_PAIRS), (unsigned)(s.n[1] / s.deep), 0};
  const size_t beside = (size_t)t.beside * t.lines;
  t.planes = gmg_rows_of_part(s.n[2], beside, 2 * (size_t)blocks * BLOCK_WARPS, FILL_PLANES, MIN_PLANES);
  const gmg_launch_shape shape = gmg_warp_shape(beside * (size_t)((s.n[2] + t.planes - 1) / t.planes));
  gmg_launch_early(e, "restriction", GMG_BY_DEPTH(s, restrict_across_kernel), shape, s, t, m, f, u, coarse);
  return 1;
}

#endif
