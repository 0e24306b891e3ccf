/* The residual of the 7-point operator with constant coefficients on a uniform mesh, in the lanes of a warp (lane_columns.cuh), for
   packed fields of any size. All couplings along an axis are equal, but for those to missing neighbours, which are 0; so any value
   may be read there. Beyond a wall that mirrors is the image of a value. Included by the restriction of residuals.

   Values are copied to shared memory two planes ahead, without a register. A thread reads only what it has copied, so nobody waits
   for others. lane_columns.cuh takes any coefficients, but loads only one plane ahead: a thread would need too many registers. A
   restriction at 509^3 takes 475 us on an H200 with columns of this file, and 565 us before they were there. */
#ifndef GMG_STENCIL_OPERATOR_CUDA_EQUAL_COLUMNS_H
#define GMG_STENCIL_OPERATOR_CUDA_EQUAL_COLUMNS_H

#include "lane_columns.cuh"
#include "uniform_columns.cuh"

#ifdef __CUDACC__
#include <cuda_pipeline.h>
#endif

/* The operator. It is small, because a large kernel parameter costs instructions. */
typedef struct gmg_equal_operator {
  int n[3], ends[3]; /* ends: what is beyond the ends of the axes (gmg_ends_of()) */
  int plane;         /* distance between planes */
  real coupling[3], shift;
  const void *diag[3];
} gmg_equal_operator;

/* Returns 0 if it does not apply. Maps read up to GMG_MAP_PAD planes beyond an end, and copies are three ahead; all are images of
   planes (gmg_fold_index()) if the axis is longer. */
static inline int gmg_equal_operator_of(const gmg_operator *A, gmg_equal_operator *w)
{
  if (A->dim != 3 || A->cells > INT_MAX || A->n[2] <= GMG_MAP_PAD + 3 || !gmg_has_equal_couplings(A)) return 0;
  for (int a = 0; a < 3; a++) {
    w->n[a] = (int)A->n[a], w->ends[a] = gmg_ends_of(A, a);
    w->coupling[a] = (real)A->coupling[a], w->diag[a] = A->diag[a];
  }
  w->plane = w->n[0] * w->n[1], w->shift = (real)A->shift;
  return 1;
}

#ifdef __CUDACC__

/* The namespace has no name. Otherwise both real types would have the same symbols. */
namespace {

/* THREADS: of a thread block */
template <int THREADS> struct gmg_equal_columns {
  typedef gmg_equal_operator operator_type;
  static constexpr int deep = LANE_DEEP;
  enum { PLANES = 3 };                                    /* in shared memory */
  enum { VALUES = 2 * deep + 2, PLANE = VALUES * THREADS }; /* values of a thread in a plane; of all threads */

  const gmg_equal_operator &A;
  const scalar *f, *u;
  scalar *values;                     /* the thread's part of the memory */
  int line[deep + 2];                 /* offset in a plane of the line in front of the columns, of theirs, of the one behind */
  real diag[deep];                    /* without the part of the axis along the columns */
  real left, right, across[deep + 1]; /* couplings to the lanes beside, and across[d] between line d and the one in front of it */
  real lowest, inner, highest;        /* what the axis along the columns adds to the diagonal */
  real under;                         /* coupling to the plane below */
  int plane, ahead;                   /* offsets of the planes that are copied next: of u beside the columns and of f; of u */
  scalar below[deep], here[deep];

  /* (i, j): the first of the lane's columns, which may be outside the level */
  __device__ __forceinline__ gmg_equal_columns(const gmg_equal_operator &A, const scalar *f, const scalar *u, int i, int j)
      : A(A), f(f), u(u)
  {
    __shared__ scalar memory[PLANES * VALUES * THREADS];
    values = memory + threadIdx.x;
    const int at = gmg_lane_index(i, A.n[0], A.ends[0]), column = index_to_load(at, i, A.n[0], LANES), last = A.n[2] - 1;
    const real here = at >= 0 ? A.coupling[0] : (real)0;
    left = __shfl_up_sync(~0u, here, 1), right = __shfl_down_sync(~0u, here, 1);
    int before = -1;
#pragma unroll
    for (int b = 0; b < deep + 2; b++) {
      const int there = gmg_lane_index(j - 1 + b, A.n[1], A.ends[1]), row = index_to_load(there, j - 1 + b, A.n[1], 1);
      line[b] = row * A.n[0] + column;
      if (b > 0) across[b - 1] = there >= 0 && before >= 0 ? A.coupling[1] : (real)0;
      if (b > 0 && b <= deep) diag[b - 1] = A.shift + gmg_at(A.diag[0], column) + gmg_at(A.diag[1], row);
      before = there;
    }
    lowest = gmg_at(A.diag[2], 0), inner = gmg_at(A.diag[2], min(1, last)), highest = gmg_at(A.diag[2], last);
  }

  /* there: gmg_lane_index(i). If it is -1, returns another index, whose value is loaded and not used. Adjacent lanes of a warp,
     `lanes` of them, have adjacent i. They get different indices, because a copy to shared memory is slow if lanes of a warp read
     one value. */
  static __device__ __forceinline__ int index_to_load(int there, int i, int n, int lanes)
  {
    return there >= 0 ? there : max(min(i < lanes ? i + lanes : i - lanes, n - 1), 0);
  }

  /* The offset of plane k, which is outside by less than n. Where there is none, that of another one. */
  __device__ __forceinline__ int plane_at(int k) const
  {
    return gmg_index_continues(k, A.n[2], A.ends[2]) ? gmg_fold_index(k, A.n[2], A.ends[2]) * A.plane : 0;
  }
  /* The coupling between planes k and k - 1. */
  __device__ __forceinline__ real coupling_below(int k) const
  {
    const int both = gmg_index_continues(k, A.n[2], A.ends[2]) && gmg_index_continues(k - 1, A.n[2], A.ends[2]);
    return both ? A.coupling[2] : (real)0;
  }

  /* Begins to copy values for the residual of plane k: the next plane of u, and what is beside plane k. */
  __device__ __forceinline__ void copy(int k, scalar *to)
  {
    const int inside = k + 1 > 0 && k + 1 < A.n[2];
    plane = ahead, ahead = inside ? ahead + A.plane : plane_at(k + 1);
    const auto copy_value = [&](int at, const scalar *from) {
      __pipeline_memcpy_async(to + at * THREADS, from, sizeof(scalar));
    };
#pragma unroll
    for (int d = 0; d < deep; d++) copy_value(d, u + (ahead + line[d + 1])), copy_value(deep + d, f + (plane + line[d + 1]));
    copy_value(2 * deep, u + (plane + line[0])), copy_value(2 * deep + 1, u + (plane + line[deep + 1]));
    __pipeline_commit();
  }

  /* Before the residuals of planes `first`, first + 1, and so on. */
  __device__ __forceinline__ void begin(int first, int)
  {
    const int before = plane_at(first - 1);
    ahead = plane_at(first), under = coupling_below(first);
#pragma unroll
    for (int d = 0; d < deep; d++) below[d] = __ldg(u + (before + line[d + 1])), here[d] = __ldg(u + (ahead + line[d + 1]));
    copy(first, values), copy(first + 1, values + PLANE);
  }

  /* r: any number where there is no unknown. All lanes of a warp call it together. turn: the number of planes before, modulo
     PLANES */
  __device__ __forceinline__ void residual(int k, int turn, scalar r[deep])
  {
    const scalar *const now = values + turn * PLANE;
    copy(k + 2, values + (turn + 2) % PLANES * PLANE);
    const int inside = k > 0 && k + 1 < A.n[2];
    const real over = inside ? A.coupling[2] : coupling_below(k + 1), along = inside ? inner : k > 0 ? highest : lowest;
    __pipeline_wait_prior(2);
    scalar above[deep];
#pragma unroll
    for (int d = 0; d < deep; d++) above[d] = now[d * THREADS];
#pragma unroll
    for (int d = 0; d < deep; d++) {
      const scalar in_front = d > 0 ? here[d - 1] : now[2 * deep * THREADS];
      const scalar behind = d + 1 < deep ? here[d + 1] : now[(2 * deep + 1) * THREADS];
      scalar sum = left * __shfl_up_sync(~0u, here[d], 1) + right * __shfl_down_sync(~0u, here[d], 1);
      sum += across[d] * in_front + across[d + 1] * behind;
      sum += under * below[d] + over * above[d];
      r[d] = now[(deep + d) * THREADS] - ((diag[d] + along) * here[d] - sum);
    }
    under = over;
#pragma unroll
    for (int d = 0; d < deep; d++) below[d] = here[d], here[d] = above[d];
  }
};

} // namespace

#endif
#endif
