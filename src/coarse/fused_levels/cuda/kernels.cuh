/* The kernel of levels.cu, which alone includes this file: all fused levels in one launch, in shared memory.

   Larger levels are distributed over the blocks of a cluster. Each block has some of the planes. It also has copies of the two
   adjacent planes, which the neighbouring blocks update. Smaller levels are computed by every block as a whole, because a barrier
   of the cluster takes as long as a sweep there.

   Fields are stored by colour, so that neighbouring threads read neighbouring entries. Along every axis with neighbours, except the
   first, u has a layer of zeros around it. */
#ifndef GMG_COARSE_FUSED_LEVELS_CUDA_KERNELS_H
#define GMG_COARSE_FUSED_LEVELS_CUDA_KERNELS_H

#include "driver.cuh"
#include "exact.cuh"
#include "tables.cuh"

#include <cuda_pipeline.h>

/* A thread's pair of unknowns in the caller's fields, where the two are adjacent. */
typedef struct {
  int busy, both, q;   /* both: the second unknown exists */
  unsigned u[2], f[2]; /* positions of both in shared memory */
  size_t offset;       /* of the first unknown in the caller's fields */
} global_pair;

static __device__ __forceinline__ global_pair global_pair_of(const small_level &L, const gmg_layout_32 &field)
{
  const int q = (int)threadIdx.x, begin = first_plane(L);
  const pair_place at = place_of(L, q);
  const unsigned colour = (unsigned)(at.j + begin + at.k) & 1, u = L.u + (unsigned)entry_of(L, at), f = L.f + (unsigned)q;
  return {q < pairs_of(L, count_planes(L)), 2 * at.p + 1 < L.n[0], q,
          {u + colour * L.colour, u + (1 - colour) * L.colour}, {f + colour * L.inner, f + (1 - colour) * L.inner},
          gmg_offset_32(field, 2 * at.p, at.j, begin + at.k)};
}

/* The first read of a kernel parameter waits for its cache line. Here each warp reads another line early. */
static __device__ __forceinline__ void prefetch_parameters(const fused_state &s)
{
  const unsigned words = sizeof s / sizeof(int), at = threadIdx.x / 32 * (128 / sizeof(int));
  asm volatile("" ::"r"(((const int *)&s)[at < words ? at : 0]));
}

/* Fills shared memory: tables, pair words, zeros, and f and u of the level on which the cycle starts. Begins to load the inverse of
   the exact level. */
template <int beyond_walls, int exact>
static __device__ __forceinline__ void begin_cycle(const fused_state &s, const small_level &L, const scalar *global_f,
                                                   const scalar *global_u, int from_zero, real *tables, unsigned *words,
                                                   real_quad *quads, scalar *memory, unsigned *step)
{
  const unsigned of_tables = (unsigned)(s.bytes / sizeof(int4)), kept = (unsigned)(tables_bytes(&s, exact) / sizeof(int4));
  const unsigned of_words = s.pairs * (unsigned)sizeof(unsigned) / (unsigned)sizeof(int4);
  const unsigned of_rows = (unsigned)(rows_bytes(&s, 0) / sizeof(int4));
  const unsigned kept_rows = (unsigned)(rows_bytes(&s, exact) / sizeof(int4));
  const unsigned zeros = (unsigned)((s.r * sizeof(scalar) + 15) / sizeof(int4));
  const int4 *const known = (const int4 *)s.tables;
  const auto load = [&](void *to, const int4 *from, unsigned count) {
#pragma unroll 1
    for (unsigned c = threadIdx.x; c < count; c += THREADS) __pipeline_memcpy_async((int4 *)to + c, from + c, sizeof *from);
  };
  load(tables, known, kept);
  load(words, known + of_tables + blockIdx.x * of_words, of_words);
  load(planes_of_level, known + of_tables + blockIdx.x * of_words, sizeof planes_of_level / sizeof(int4));
  load(quads, known + of_tables + (unsigned)s.blocks * of_words + blockIdx.x * of_rows, kept_rows);
  __pipeline_commit();
  prefetch_parameters(s);
  const global_pair mine = global_pair_of(L, s.at[L.number]);
  scalar f[2] = {0, 0}, u[2] = {0, 0};
#pragma unroll 1
  for (unsigned c = threadIdx.x; c < zeros; c += THREADS) ((int4 *)memory)[c] = make_int4(0, 0, 0, 0);
  if (is_shared<exact>(L)) prepare_arrivals();
  gmg_wait_for_predecessor();
#pragma unroll
  for (int b = 0; b < 2; b++) {
    if (!mine.busy || b > mine.both) continue;
    f[b] = __ldcg(global_f + mine.offset + b);
    if (!from_zero) u[b] = __ldcg(global_u + mine.offset + b);
  }
  cluster_sync(is_shared<exact>(L)); /* while f is under way */
  if (exact) begin_inverse(s);       /* behind f and the tables, which would have to wait for it */
#pragma unroll
  for (int b = 0; b < 2; b++) {
    if (!mine.busy || b > mine.both) continue;
    memory[mine.f[b]] = f[b];
    if (!from_zero) memory[mine.u[b]] = u[b];
  }
  __pipeline_wait_prior(exact);
  __syncthreads();
  if (from_zero) return;
  const own_pair own = load_pair<beyond_walls, 0>(L, tables, words, NULL, 0, 0, memory);
  store_unknown(own, 0, *step), store_unknown(own, 1, *step);
  end_step(is_shared<exact>(L), planes_of_level[L.number].incoming[0] + planes_of_level[L.number].incoming[1], step);
}

/* A cycle from level `start` down. rows: as in relax.cuh. exact: it ends on the exact level, and blocks share all finer ones. */
template <int beyond_walls, int rows, int exact>
static __global__ void __launch_bounds__(THREADS, 1)
    fused_kernel(const __grid_constant__ fused_state s, int start, const scalar *f, scalar *u, int cycle, int from_zero)
{
  extern __shared__ double shared[];
  real *const tables = (real *)shared;
  unsigned *const words = (unsigned *)((char *)shared + tables_bytes(&s, exact));
  real_quad *const quads = (real_quad *)(words + s.pairs);
  scalar *const memory = (scalar *)((char *)quads + rows_bytes(&s, exact) + (exact ? inverse_bytes(&s) : 0));
  const int last = exact ? s.exact : s.levels - 1;
  unsigned step = 0;
  begin_cycle<beyond_walls, exact>(s, s.level[start], f, u, from_zero, tables, words, quads, memory, &step);
  run_cycle(
      start, last, cycle,
      [&](int l, int from_zero) {
        presmooth_restrict<beyond_walls, rows, exact>(s, l, from_zero, tables, words, quads, memory, &step);
      },
      [&] {
        if (exact) solve_exactly(s, s.level[last], memory);
        else solve_coarsest<beyond_walls, rows>(s, s.level[last], tables, words, quads, memory, &step);
      },
      [&](int l) { prolong_postsmooth<beyond_walls, rows, exact>(s, l, tables, words, quads, memory, &step); });
  const global_pair mine = global_pair_of(s.level[start], s.at[start]);
#pragma unroll
  for (int b = 0; b < 2; b++)
    if (mine.busy && b <= mine.both) u[mine.offset + b] = memory[mine.u[b]];
}

#endif
