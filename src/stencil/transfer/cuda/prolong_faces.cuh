/* Prolongation that depends on the coefficients, in 3D where all axes are coarsened in pairs. Its source and reasons are in
   host/prolong.c. Included by cuda/transfer.cu alone, whose prolong_faces_kernel() covers all other cases. */
#ifndef GMG_STENCIL_TRANSFER_CUDA_PROLONG_FACES_H
#define GMG_STENCIL_TRANSFER_CUDA_PROLONG_FACES_H

#include "pairs.cuh"

/* gmg_limit() for the two children of a coarse unknown along an axis. `shared` is the coefficient of the face between them, low and
   high are those of the faces towards which they move. In float 1 / shared is approximate, 0 above 2^126, and infinite below
   2^-126. */
typedef struct {
  real at[2];
} limits;

static __device__ __forceinline__ limits limits_of(real low, real shared, real high)
{
#if GMG_REAL_F32
  const real inverse = __fdividef(1.0f, shared);
  return {{fminf(low * inverse, 1.0f), fminf(high * inverse, 1.0f)}};
#else
  const real inverse = 1 / shared;
  return {{low < shared ? low * inverse : 1, high < shared ? high * inverse : 1}};
#endif
}

/* Like prolong_pairs_kernel(), a thread has a column of coarse unknowns. The moves of its eight children are six numbers. */
static __global__ void __launch_bounds__(GMG_THREADS, gmg_face_blocks<2>::number)
    prolong_face_pairs_kernel(prolongation p, const real *x_face, const real *y_face, const real *z_face, const scalar *x,
                              scalar *y)
{
  gmg_wait_for_predecessor();
  const gmg_column_part part = gmg_column_part_of<1, 1>(p.tiles, p.n, blockIdx.x);
  const int I = part.i, J = part.j, begin = part.begin, end = part.end;
  if (!part.there) return;
  const children fx = children_of(p.m[0], I), fy = children_of(p.m[1], J);
  const gmg_layout_32 coarse = gmg_layout_32_of(coarse_of(p)), fine = gmg_layout_32_of(fine_of(p, 2));
  const gmg_layout_32 faces[3] = {gmg_layout_faces_32(fine.n, 0), gmg_layout_faces_32(fine.n, 1), gmg_layout_faces_32(fine.n, 2)};
  const auto column = [&](unsigned i, unsigned j) { return x + gmg_offset_32(coarse, i, j, 0); };
  const auto offset_of = [&](const gmg_layout_32 &l, unsigned k) { return gmg_offset_32(l, 2 * I, 2 * J, k); };
  const auto plane_of_faces = [&](unsigned k) { return gmg_patch_of<2>(z_face + offset_of(faces[2], k), faces[2].row, 1); };
  const scalar *const own = column(I, J), *const left = column(fx.beside[0], J), *const right = column(fx.beside[1], J);
  const scalar *const front = column(I, fy.beside[0]), *const back = column(I, fy.beside[1]);
  const unsigned slice = gmg_pitch_32(coarse, 2);
  scalar below = __ldg(own + (unsigned)__ldg(p.m[2].wrap + begin - 1) * slice), here = __ldg(own + begin * slice);
  gmg_patch<2> floor = plane_of_faces(2 * begin);
  for (int K = begin; K < end; K++) {
    const children fz = children_of(p.m[2], K);
    const unsigned base = K * slice, k = 2 * K;
    const scalar above = __ldg(own + (unsigned)fz.beside[1] * slice);
    const gmg_patch<2> middle = plane_of_faces(k + 1), ceiling = plane_of_faces(k + 2);
    const scalar beside[3][2] = {
        {__ldg(left + base), __ldg(right + base)}, {__ldg(front + base), __ldg(back + base)}, {below, above}};
    scalar move[3][2];
#pragma unroll
    for (int b = 0; b < 2; b++) {
      move[0][b] = (fx.w[b].own - 1) * here + fx.w[b].side * beside[0][b];
      move[1][b] = (fy.w[b].own - 1) * here + fy.w[b].side * beside[1][b];
      move[2][b] = (fz.w[b].own - 1) * here + fz.w[b].side * beside[2][b];
    }
#pragma unroll
    for (int q = 0; q < 2; q++) {
      const unsigned at = offset_of(fine, k + q), next = faces[1].row;
      const real *const xs = x_face + offset_of(faces[0], k + q), *const ys = y_face + offset_of(faces[1], k + q);
      const gmg_patch<1> y0 = gmg_patch_of<1>(ys, 0, 1), y1 = gmg_patch_of<1>(ys + next, 0, 1);
      const gmg_patch<1> y2 = gmg_patch_of<1>(ys + 2 * next, 0, 1);
      gmg_patch<2> v;
#pragma unroll
      for (int d = 0; d < 2; d++) {
        const real_pair old = *(const real_pair *)(y + at + d * fine.row);
        v.at[d][0] = old.x, v.at[d][1] = old.y;
      }
#pragma unroll
      for (int d = 0; d < 2; d++) {
        const real *const line = xs + d * faces[0].row;
        const limits lx = limits_of(__ldg(line), __ldg(line + 1), __ldg(line + 2));
#pragma unroll
        for (int b = 0; b < 2; b++) {
          const limits ly = limits_of(y0.at[0][b], y1.at[0][b], y2.at[0][b]);
          const limits lz = limits_of(floor.at[d][b], middle.at[d][b], ceiling.at[d][b]);
          v.at[d][b] += here + lx.at[b] * move[0][b] + (ly.at[d] * move[1][d] + lz.at[q] * move[2][q]);
        }
      }
      gmg_store_patch(y + at, fine.row, v);
    }
    below = here, here = above, floor = ceiling;
  }
}

/* Returns 1 if done. Requires 3D, all axes coarsened, and an even number of unknowns along each. */
static int prolong_face_pairs(const gmg_exec *e, const gmg_operator *A, const gmg_map map[3], const void *x, void *y)
{
  prolongation p;
  if (A->cells > (size_t)1 << 31 || ((uintptr_t)A->face[1] | (uintptr_t)A->face[2]) % sizeof(real_pair)) return 0;
  if (prolongation_of(map, gmg_device_of(e)->processors, y, &p) != 3) return 0;
  gmg_launch_early(e, "prolongation", prolong_face_pairs_kernel, gmg_shape_of(p.tiles), p, A->face[0], A->face[1], A->face[2], x,
                   y);
  return 1;
}

#endif
