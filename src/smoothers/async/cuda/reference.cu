/* The asynchronous smoother's reference kernel, for everything that no other variant accepts: any dimension, coefficients, overlap,
   and block that fits in shared memory. It is slow and simple, and the tests compare the other variants with it. Called through its
   async_variant. */
#include "variant.h"

#include "core/cuda/atomics.cuh"
#include "stencil/operator/cuda/row.cuh"

static const size_t preferred_block[4][3] = {{0}, {512, 1, 1}, {64, 16, 1}, {32, 8, 8}};

/* The blocks of a level as tiles. */
typedef struct {
  gmg_blocks blocks;
  int margin[3];  /* layers around the block: overlap and ring, or the ring alone */
  int size[3];    /* size of a tile */
  int longest;    /* the longest of these */
  int versions;   /* Jacobi also stores u before the sweep */
  size_t bytes;   /* bytes of shared memory */
  const int *order;
} reference_tiles;

static reference_tiles tiles_of(const gmg_smoother_level *l)
{
  const gmg_operator *A = l->A;
  const gmg_params *p = l->params;
  reference_tiles s = {};
  s.blocks = gmg_blocks_make(A, p->async.block, preferred_block[A->dim]);
  size_t cells = 1;
  for (int a = 0; a < 3; a++) {
    s.margin[a] = gmg_block_margin(&s.blocks, A, a, p->async.overlap + 1);
    s.size[a] = (int)s.blocks.shape[a] + 2 * s.margin[a];
    s.longest = s.size[a] > s.longest ? s.size[a] : s.longest;
    cells *= (size_t)s.size[a];
  }
  s.versions = p->async.local == GMG_LOCAL_JACOBI ? 2 : 1;
  s.bytes = (size_t)s.versions * cells * sizeof(scalar) + 3 * (size_t)s.longest * (3 * sizeof(real) + sizeof(int));
  return s;
}

typedef struct {
  int local, sweeps, extra; /* extra: additional sweeps for a block at a seam */
  int reversed;
  real weight[GMG_HALF_SWEEPS];
} relaxation;

/* In shared memory: axis coefficients, and the unknown of every tile coordinate (-1: beyond a wall). */
typedef struct {
  real *lo[3], *hi[3], *diag[3];
  int *place[3];
} tile_axes;

static __device__ __forceinline__ size_t offset_of(const gmg_operator &A, int i, int j, int k)
{
  return gmg_offset(gmg_layout_of(&A), (size_t)i, (size_t)j, (size_t)k);
}

template <int kind>
static __device__ __forceinline__ gmg_row row_in_tile(const gmg_operator &A, const tile_axes &t, const int v[3])
{
  if (kind & GMG_FACES) return gmg_row_at<kind>(A, (size_t)t.place[0][v[0]], (size_t)t.place[1][v[1]], (size_t)t.place[2][v[2]]);
  gmg_row r;
  r.diag = (real)A.shift;
#pragma unroll
  for (int a = 0; a < 3; a++) r.lo[a] = t.lo[a][v[a]], r.hi[a] = t.hi[a][v[a]], r.diag += t.diag[a][v[a]];
  if (kind & GMG_SIGMA) r.diag += gmg_at(A.sigma, offset_of(A, t.place[0][v[0]], t.place[1][v[1]], t.place[2][v[2]]));
  return r;
}

/* Relaxes block number `block_index` in the given order. */
template <int kind>
static __device__ __forceinline__ void relax_tile(const gmg_operator &A, const reference_tiles &s, const relaxation &how,
                                                  size_t block_index, const scalar *f, const scalar *from, scalar *to)
{
  extern __shared__ double memory[];
  const int sx = s.size[0], sy = s.size[1], sz = s.size[2], me = (int)threadIdx.x, plane = sx * sy, cells = plane * sz;
  scalar *u = (scalar *)memory;
  real *rest = (real *)(u + (size_t)s.versions * cells);
  tile_axes t;
  for (int a = 0; a < 3; a++, rest += 3 * s.longest) t.lo[a] = rest, t.hi[a] = rest + s.longest, t.diag[a] = rest + 2 * s.longest;
  for (int a = 0; a < 3; a++) t.place[a] = (int *)rest + a * s.longest;
  /* position of the tile */
  const size_t b = (size_t)s.order[how.reversed ? s.blocks.total - 1 - block_index : block_index];
  size_t at[3];
  gmg_indices_of(b, s.blocks.count, at);
  long origin[3];
  int own[3], seam = 0, parity = 0;
  for (int a = 0; a < 3; a++) {
    const long n = (long)A.n[a], begin = (long)(at[a] * s.blocks.shape[a]);
    own[a] = (int)(begin + (long)s.blocks.shape[a] < n ? (long)s.blocks.shape[a] : n - begin);
    origin[a] = begin - s.margin[a];
    parity += (int)(origin[a] & 1);
    seam |= A.wraps[a] && n % 2 && (origin[a] < 0 || origin[a] + own[a] + 2 * s.margin[a] > n);
    for (int v = me; v < s.size[a]; v += GMG_THREADS) {
      long g = origin[a] + v;
      const int there = v < own[a] + 2 * s.margin[a] && (A.wraps[a] || (g >= 0 && g < n));
      g = gmg_wrap_modulo(g, n);
      t.place[a][v] = there ? (int)g : -1;
      t.lo[a][v] = gmg_at(A.lo[a], (size_t)g), t.hi[a][v] = gmg_at(A.hi[a], (size_t)g), t.diag[a][v] = gmg_at(A.diag[a], (size_t)g);
    }
  }
  __syncthreads();
  for (int c = me; c < cells; c += GMG_THREADS) {
    const int z = c / plane, y = (c - z * plane) / sx, x = c - z * plane - y * sx;
    const int i = t.place[0][x], j = t.place[1][y], k = t.place[2][z];
    const int there = i >= 0 && j >= 0 && k >= 0;
    u[c] = there && from ? gmg_load_relaxed(from + offset_of(A, i, j, k)) : (scalar)0;
    if (s.versions == 2) u[cells + c] = u[c];
  }
  __syncthreads();
  /* relax k times */
  const int coloured = how.local == GMG_LOCAL_RED_BLACK, sweeps = how.sweeps + (seam ? how.extra : 0);
  const int stages = coloured ? 2 * sweeps : sweeps, wx = coloured ? (sx - 1) / 2 : sx - 2, wy = sy - 2, wz = sz - 2;
  scalar *old = u, *next = s.versions == 2 ? u + cells : u;
  for (int stage = 0; stage < stages; stage++) {
    for (int h = me; h < wx * wy * wz; h += GMG_THREADS) {
      const int z = h / (wx * wy), y = (h - z * wx * wy) / wx, m = h - z * wx * wy - y * wx;
      int v[3] = {1 + m, 1 + y, 1 + z};
      if (coloured) v[0] = 1 + 2 * m + ((parity + 1 + v[1] + v[2] + stage + how.reversed) & 1);
      const int i = v[0] < sx - 1 ? t.place[0][v[0]] : -1, j = t.place[1][v[1]], k = t.place[2][v[2]];
      if (i < 0 || j < 0 || k < 0) continue;
      /* in a tile that the end of the level cuts short, the ring is further inside */
      if (v[0] > own[0] + 2 * s.margin[0] - 2 || v[1] > own[1] + 2 * s.margin[1] - 2 || v[2] > own[2] + 2 * s.margin[2] - 2)
        continue;
      const int c = (v[2] * sy + v[1]) * sx + v[0];
      const gmg_neighbours near = {{old[c - 1], old[c - sx], old[c - plane]}, {old[c + 1], old[c + sx], old[c + plane]}};
      const scalar rhs = f[offset_of(A, i, j, k)];
      next[c] = gmg_row_relaxed(3, kind, row_in_tile<kind>(A, t, v), near, rhs, old[c], how.weight[stage % GMG_HALF_SWEEPS]);
    }
    __syncthreads();
    if (s.versions == 2) {
      scalar *swap = old;
      old = next, next = swap;
    }
  }
  /* write back the own unknowns */
  const int mine = own[0] * own[1] * own[2];
  for (int c = me; c < mine; c += GMG_THREADS) {
    const int z = c / (own[0] * own[1]), y = (c - z * own[0] * own[1]) / own[0], x = c - z * own[0] * own[1] - y * own[0];
    const size_t i = at[0] * s.blocks.shape[0] + (size_t)x, j = at[1] * s.blocks.shape[1] + (size_t)y;
    const size_t k = at[2] * s.blocks.shape[2] + (size_t)z;
    const int here = ((z + s.margin[2]) * sy + y + s.margin[1]) * sx + x + s.margin[0];
    gmg_store_relaxed(to + gmg_offset(gmg_layout_of(&A), i, j, k), old[here]);
  }
}

template <int kind, int dynamic>
static __global__ void __launch_bounds__(GMG_THREADS)
    reference_kernel(gmg_operator A, reference_tiles s, relaxation how, const scalar *f, const scalar *from, scalar *to,
                     work_queue queue)
{
  for_blocks<dynamic>(queue, [&](unsigned block_index) { relax_tile<kind>(A, s, how, block_index, f, from, to); });
}

static auto kernel_of(const gmg_smoother_level *l)
{
  return is_dynamic(l->params) ? GMG_BY_KIND(l->A, reference_kernel, 1) : GMG_BY_KIND(l->A, reference_kernel, 0);
}

/* Accepts any level. */
static int lay_out(const gmg_smoother_level *l, async_state *s)
{
  const reference_tiles t = tiles_of(l);
  s->blocks = t.blocks, s->bytes = t.bytes, s->threads = dim3(GMG_THREADS);
  return 1;
}

static const void *prepare(const gmg_smoother_level *l, const async_state *s)
{
  return allow_shared(l, (const void *)kernel_of(l), s->max_bytes);
}

static void run(const gmg_smoother_level *l, const async_state *s, size_t passes, const void *f, const void *from, void *to,
                gmg_leg leg)
{
  const gmg_params *q = l->params;
  relaxation how = {(int)q->async.local, q->async.local_sweeps, q->async.local == GMG_LOCAL_RED_BLACK ? GMG_SEAM_SWEEPS : 0,
                    leg == GMG_LEG_UP_REVERSED};
  weights_of(l, leg, how.weight);
  reference_tiles t = tiles_of(l);
  t.order = s->order;
  const async_launch k = launch_of(l, s, passes);
  gmg_launch(l->exec, "async", kernel_of(l), k.grid, *l->A, t, how, f, from, to, k.queue);
}

const async_variant R(async_reference) = {.lay_out = lay_out, .prepare = prepare, .run = run};
