/* One step of a full multigrid start in mixed precision in 3D: interpolates u to the next finer level and computes its residual, in
   one pass. Interpolation is a product over the axes, and so is every term of the operator. So a warp marches along the last axis,
   interpolates each coarse plane across, applies the terms of the first two axes there, and then interpolates between planes.
   Included by cuda/transfer.cu. */
#ifndef GMG_STENCIL_TRANSFER_CUDA_FMG_RESIDUAL_PLANES_H
#define GMG_STENCIL_TRANSFER_CUDA_FMG_RESIDUAL_PLANES_H

#include "stencil/operator/cuda/warp_rows.cuh"

#if !GMG_REAL_F32 /* only problems in double have levels of another type */

/* FMG_PLANES_BLOCKS: thread blocks per multiprocessor. FMG_COLS: coarse columns of a warp. */
enum { FMG_PLANES_BLOCKS = 3, FMG_COLS = 32 };

/* What step K needs: coarse plane K + 1 in lines J - 1, J and J + 1 of each warp, with a column more at both ends; and f in planes
   2 K and 2 K + 1 of fine lines 2 J and 2 J + 1. */
typedef struct {
  real_pair f[2][2][32 * BLOCK_WARPS];
  scalar coarse[BLOCK_WARPS][3][FMG_COLS + 2];
} fmg_planes_input;

/* Values of a lane's two columns in fine lines 2 J and 2 J + 1. */
typedef struct {
  scalar at[2][2];
} fmg_patch;

/* Two columns of the residual. */
typedef struct alignas(2 * sizeof(low_scalar)) {
  low_scalar at[2];
} low_pair;

/* own a + side b */
static __device__ __forceinline__ fmg_patch fmg_mean(gmg_pair_weights w, const fmg_patch &a, const fmg_patch &b)
{
  fmg_patch m;
#pragma unroll
  for (int d = 0; d < 4; d++) m.at[d / 2][d % 2] = w.own * a.at[d / 2][d % 2] + w.side * b.at[d / 2][d % 2];
  return m;
}

/* A warp has coarse line J, `count` coarse planes of it, and the fine unknowns of these. Step K computes u in fine planes 2 K + 1
   and 2 K + 2, and the residual in planes 2 K and 2 K + 1. Its input is copied to shared memory AHEAD steps before. The warps of a
   thread block have adjacent lines, and do not wait for each other. `beside` thread blocks lie side by side along x, `lines` along
   y. */
static __global__ void __launch_bounds__(32 * BLOCK_WARPS, FMG_PLANES_BLOCKS)
    fmg_residual_planes_kernel(gmg_uniform s, gmg_maps t, gmg_repeated_pairs pz, gmg_layout from, unsigned beside, unsigned lines,
                              int count, const scalar *coarse, const scalar *f, const double *divisor, scalar *u, low_scalar *r)
{
  enum { SLOTS = 4, AHEAD = SLOTS - 1 };
  __shared__ fmg_planes_input ring[SLOTS];
  __shared__ gmg_pair_weights along_y[BLOCK_WARPS][4]; /* of fine lines 2 J - 1 to 2 J + 2 */
  const gmg_map &mx = t.m[0], &my = t.m[1], &mz = t.m[2];
  const unsigned others = blockIdx.x / beside, tx = blockIdx.x - others * beside, part = others / lines, warp = gmg_warp();
  const int me = (int)threadIdx.x, lane = me % 32, J = (int)((others - part * lines) * BLOCK_WARPS + warp);
  const int K0 = (int)part * count, K1 = min(K0 + count, mz.cols), I = (int)tx * FMG_COLS + lane, i = 2 * I;
  const int mine = i < s.n[0];
  if (J >= my.cols || K0 >= K1) return;

  const real scale = (real)(1 / __ldg(divisor)), cx = s.coupling[0], cy = s.coupling[1], cz = s.coupling[2];
  const real inner = gmg_at(s.diag[2], 1), at_low = gmg_at(s.diag[2], 0), at_high = gmg_at(s.diag[2], s.n[2] - 1);
  const auto weights_of = [&](int a, int at) {
    return gmg_pair_weights_of(t.m[a], at, s.n[a], s.wraps[a], gmg_index_exists(at, s.n[a], s.wraps[a]));
  };
  gmg_pair_weights along_x[4]; /* of fine columns i - 1 to i + 2 */
  real diag_x[2], diag_y[2];
#pragma unroll
  for (int c = 0; c < 4; c++) along_x[c] = weights_of(0, i - 1 + c);
  if (lane < 4) along_y[warp][lane] = weights_of(1, 2 * J - 1 + lane);
#pragma unroll
  for (int c = 0; c < 2; c++) {
    diag_x[c] = s.shift + gmg_at(s.diag[0], mine ? i + c : 0);
    diag_y[c] = gmg_at(s.diag[1], 2 * J + c);
  }
  const auto column_of = [&](int l, int at) {
    return gmg_offset(from, __ldg(mx.wrap + min(at, mx.cols)), __ldg(my.wrap + J - 1 + l), 0);
  };
  const size_t own[3] = {column_of(0, I), column_of(1, I), column_of(2, I)};
  const int end_line = lane % 3, end = lane / 3; /* of the first six lanes: at which end of which line they copy a value, too */
  const size_t at_end = column_of(end_line, end == 0 ? I - lane - 1 : I - lane + FMG_COLS);
  const size_t line = gmg_offset(gmg_layout_of(s), 0, 1, 0), plane = gmg_offset(gmg_layout_of(s), 0, 0, 1);
  const size_t first = gmg_offset(gmg_layout_of(s), mine ? i : 0, 2 * J, 0);

  const auto copy = [&](int K) { /* for step K */
    fmg_planes_input *const to = &ring[(unsigned)(K - K0 + 2) % SLOTS];
    const int around = gmg_wrap_once(K + 1, mz.cols, s.wraps[2]), has_f = mine && K >= K0;
    const scalar *const from_plane = coarse + gmg_offset(from, 0, 0, min(max(around, 0), mz.cols - 1));
    const scalar *const f_plane = f + (has_f ? first + 2 * (size_t)K * plane : 0);
    const size_t zeros = has_f ? 0 : sizeof(real_pair);
    if (K < K1) {
#pragma unroll
      for (int l = 0; l < 3; l++) __pipeline_memcpy_async(&to->coarse[warp][l][lane + 1], from_plane + own[l], sizeof(scalar));
      if (end < 2) __pipeline_memcpy_async(&to->coarse[warp][end_line][end * (FMG_COLS + 1)], from_plane + at_end, sizeof(scalar));
#pragma unroll
      for (int q = 0; q < 4; q++)
        __pipeline_memcpy_async(&to->f[q / 2][q % 2][me], f_plane + (has_f ? q / 2 * plane + q % 2 * line : 0), sizeof(real_pair),
                                zeros);
    }
    __pipeline_commit();
  };
  const auto along_z = [&](int K, int q) {
    const int around = gmg_wrap_once(K, mz.cols, s.wraps[2]);
    return around >= 0 && around < mz.cols ? gmg_pair_weights_of(mz, pz, around, q) : gmg_pair_weights{0, 0};
  };

  /* Of coarse plane K: u interpolated across, and what the first two axes add to the residual. Of fine planes: u in planes 2 K - 1
     and 2 K, and what the first two axes add in plane 2 K. */
  fmg_patch here = {}, terms = {}, before = {}, even = {}, terms_even = {};
  for (int c = 0; c < AHEAD; c++) copy(K0 - 2 + c);
#pragma unroll 1
  for (int K = K0 - 2; K < K1; K++) {
    __pipeline_wait_prior(AHEAD - 1);
    __syncwarp();
    const fmg_planes_input *const in = &ring[(unsigned)(K - K0 + 2) % SLOTS];
    scalar e[3][4], x_terms[3][2]; /* along x: u in columns i - 1 to i + 2, and what the axis adds in the own columns */
#pragma unroll
    for (int l = 0; l < 3; l++) {
      const scalar *const c = &in->coarse[warp][l][lane];
      const scalar low = c[0], mid = c[1], up = c[2];
      e[l][0] = along_x[0].own * low + along_x[0].side * mid, e[l][1] = along_x[1].own * mid + along_x[1].side * low;
      e[l][2] = along_x[2].own * mid + along_x[2].side * up, e[l][3] = along_x[3].own * up + along_x[3].side * mid;
#pragma unroll
      for (int b = 0; b < 2; b++) x_terms[l][b] = cx * (e[l][b] + e[l][b + 2]) - diag_x[b] * e[l][b + 1];
    }
    scalar right_side[2][2][2];
#pragma unroll
    for (int q = 0; q < 4; q++) {
      const real_pair v = in->f[q / 2][q % 2][me];
      right_side[q / 2][q % 2][0] = v.x, right_side[q / 2][q % 2][1] = v.y;
    }
    copy(K + AHEAD);
    fmg_patch above, terms_above;
    {
      gmg_pair_weights w[4];
#pragma unroll
      for (int l = 0; l < 4; l++) w[l] = along_y[warp][l];
#pragma unroll
      for (int b = 0; b < 2; b++) {
        scalar g[4]; /* u in fine lines 2 J - 1 to 2 J + 2 */
#pragma unroll
        for (int l = 0; l < 4; l++) {
          const int parent = (l + 1) / 2, side = l % 2 ? parent - 1 : parent + 1; /* the first line is odd */
          g[l] = w[l].own * e[parent][b + 1] + w[l].side * e[side][b + 1];
        }
#pragma unroll
        for (int d = 0; d < 2; d++) {
          const scalar along = w[d + 1].own * x_terms[1][b] + w[d + 1].side * x_terms[2 * d][b];
          above.at[d][b] = g[d + 1];
          terms_above.at[d][b] = along + (cy * (g[d] + g[d + 2]) - diag_y[d] * g[d + 1]);
        }
      }
    }
    const gmg_pair_weights w1 = along_z(K, 1), w2 = along_z(K + 1, 0);
    const fmg_patch odd = fmg_mean(w1, here, above), terms_odd = fmg_mean(w1, terms, terms_above);
    const fmg_patch next = fmg_mean(w2, above, here), terms_next = fmg_mean(w2, terms_above, terms);
#pragma unroll
    for (int q = 0; q < 2; q++) {
      const int k = 2 * K + q;
      const fmg_patch &at = q ? odd : even, &low = q ? even : before, &up = q ? next : odd, &rest = q ? terms_odd : terms_even;
      const real diag_z = k == 0 ? at_low : k == s.n[2] - 1 ? at_high : inner;
#pragma unroll
      for (int d = 0; d < 2; d++) {
        scalar res[2];
#pragma unroll
        for (int b = 0; b < 2; b++)
          res[b] = scale * (right_side[q][d][b] + (rest.at[d][b] + (cz * (low.at[d][b] + up.at[d][b]) - diag_z * at.at[d][b])));
        const size_t to = first + (size_t)k * plane + d * line;
        if (mine && K >= K0 && u) *(real_pair *)(u + to) = real_pair{at.at[d][0], at.at[d][1]};
        if (mine && K >= K0) *(low_pair *)(r + to) = low_pair{{(low_scalar)res[0], (low_scalar)res[1]}};
      }
    }
    before = odd, even = next, terms_even = terms_next, here = above, terms = terms_above;
  }
}

/* Returns 1 if done, and 0 if the kernel does not apply. */
static int fmg_residual_planes(const gmg_exec *e, const gmg_operator *A, const gmg_map map[3], const void *coarse, const void *f,
                               void *u, int store, const double *divisor, void *r)
{
  enum { FILL_PLANES = 2, MIN_PLANES = 8 };
  const gmg_device *d = gmg_device_of(e);
  gmg_uniform s;
  if (A->dim != 3 || !gmg_all_have_pairs(map, 3, GMG_PAIRS_LINEAR)) return 0;
  if (!gmg_uniform_of(A, d->processors, f, u, r, &s)) return 0;
  const unsigned beside = (unsigned)((map[0].cols + FMG_COLS - 1) / FMG_COLS);
  const unsigned lines = (unsigned)((map[1].cols + BLOCK_WARPS - 1) / BLOCK_WARPS);
  const size_t room = (size_t)d->processors * FMG_PLANES_BLOCKS;
  const int count = gmg_rows_of_part(map[2].cols, (size_t)beside * lines, room, FILL_PLANES, MIN_PLANES);
  const unsigned parts = (unsigned)((map[2].cols + count - 1) / count);
  gmg_launch(e, "residual", fmg_residual_planes_kernel, gmg_warp_shape((size_t)beside * lines * parts * BLOCK_WARPS), s,
             gmg_maps_of(map), gmg_repeated_pairs_of(&map[2]), gmg_layout_of_columns(map), beside, lines, count, coarse, f, divisor,
             store ? u : NULL, r);
  return 1;
}

#endif
#endif
