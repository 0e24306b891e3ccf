/* Block-asynchronous smoother async-(k) on a CUDA device (Anzt, Tomov, Dongarra, Heuveline 2013; as a smoother: Anzt, Dongarra,
   Gates, Tomov 2011). One thread block relaxes one block of unknowns.

   It holds its unknowns, `overlap` layers around them and a ring that is only read in shared memory, relaxes them k times from
   whatever values surround them, and writes back its own (restricted, as in Cai, Sarkis 1999). Nothing waits: blocks start as
   multiprocessors become free, in the given order, and those of a second pass do not wait for the first. What blocks share is
   read from and written to the L2 cache, which all multiprocessors see (ld.global.cg, st.global.cg): fresh, and never torn, a
   real being one aligned word.

   Deterministic twin: every block reads a copy made before the pass.

   Nearly all is done by kernels of their own: planes that stream through a block (async_stream_cuda.cuh; async_flow_cuda.cuh with
   coefficients on faces), tiles wholly on chip (async_tile_cuda.cuh), and 1D (async_line_cuda.cuh). The one here takes what is left, and is slow and obviously right. */
extern "C" {
#include "blocks.h"
#include "smoother.h"
}

#include "async_line_cuda.cuh"
#include "async_stream_cuda.cuh"
#include "async_tile_cuda.cuh"

#include "async_flow_cuda.cuh"

/* Of the general kernel: 1D, and whatever async_tile_cuda.cuh does not take. */
static const size_t preferred_block[4][3] = {{0}, {512, 1, 1}, {64, 16, 1}, {32, 8, 8}};
/* On smaller levels filling the pipeline takes longer than relaxing tiles as a whole: 64^3 to 1e-10 1.57 instead of 1.84 ms. */
enum { MANY = 500000 };
static const size_t MOST_BLOCKS = 1u << 30, MOST_PASSES = 65535; /* of a launch */

/* What a launch needs to know of a level's blocks. */
typedef struct {
  gmg_blocks blocks;
  int margin[3];  /* layers of a tile around its block: overlap and the ring, or the ring alone */
  int size[3];    /* of a tile */
  int most;       /* the longest of them */
  int versions;   /* Jacobi keeps u before a sweep apart */
  size_t bytes;   /* of shared memory */
  int streams;    /* planes stream through (async_stream_cuda.cuh) */
  int flows;      /* and coefficients lie on the faces (async_flow_cuda.cuh) */
  int threads;    /* of a thread block that has a stretch of a line (async_line_cuda.cuh); 0: not so */
  tile_shape tile; /* .bytes: tiles wholly on chip (async_tile_cuda.cuh) */
  int *order;     /* [blocks.total], device */
  real *before;   /* deterministic: u before the pass */
} async_state;

static int can_stream(const gmg_smoother_level *l)
{
  const gmg_operator *A = l->A;
  const gmg_params *p = l->params;
  const int free_choice = !p->block[0] && !p->block[1] && !p->block[2];
  if ((free_choice && A->cells < MANY) || A->cells > 0x7fffffff) return 0;
  const int constant = gmg_kind_of(A) == GMG_CONSTANT, faces = gmg_kind_of(A) & GMG_FACES && A->dim == 3;
  if (A->dim == 1 || (!constant && !faces) || p->local != GMG_LOCAL_RED_BLACK || p->local_sweeps != 2 || p->overlap != 1) return 0;
  for (int a = 0; a < A->dim; a++)
    if ((constant && A->uniform[a] != 2) || (A->wraps[a] && A->n[a] % 2)) return 0; /* at a seam colours meet */
  return 1;
}

/* Rows of threads (3D) or warps (2D) that a block takes where planes stream through. */
static size_t stream_rows(int dim, const gmg_blocks *b) { return dim == 3 ? (b->shape[1] + 3) / 2 : (b->shape[0] + 4 + 63) / 64; }

/* Blocks for planes that stream through; 0 where the caller wants others. Shapes are chosen so that the last blocks end together,
   FILL planes being lost in each. */
static int stream_blocks(const gmg_smoother_level *l, int processors, gmg_blocks *b)
{
  enum { FILL = 14, MOST = 32, FEW = 2 };
  const gmg_operator *A = l->A;
  const int dim = A->dim, along = dim - 1;
  const size_t most = dim == 3 ? shape_of<3>::rows : shape_of<2>::lanes / 32, beside = dim == 3 ? shape_of<3>::lanes - 2 : 0;
  gmg_blocks best = {};
  size_t least = 0;
  for (size_t rows = most; rows >= FEW && 3 * rows >= 2 * most; rows--)
    for (size_t parts = 1; parts <= MOST && parts <= A->n[along]; parts++) {
      size_t want[3] = {dim == 3 ? beside : 64 * rows - 4, dim == 3 ? 2 * rows - 2 : 1, 1};
      want[along] = (A->n[along] + parts - 1) / parts;
      *b = gmg_blocks_make(A, l->params->block, want);
      if (dim == 2 && b->shape[0] % 2 && !l->params->block[0]) { /* whole pairs, one count of blocks */
        want[0] = b->shape[0] + 1;
        const size_t wanted[3] = {want[0], l->params->block[1], l->params->block[2]};
        *b = gmg_blocks_make(A, wanted, want);
      }
      const size_t room = (size_t)processors * (size_t)(dim == 3 ? shape_of<3>::blocks : shape_of<2>::blocks);
      const size_t time = (b->total + room - 1) / room * (b->shape[along] + FILL) * stream_rows(dim, b);
      if (stream_rows(dim, b) > most || (dim == 3 && b->shape[0] > beside) || (least && time >= least)) continue;
      best = *b, least = time;
    }
  *b = best;
  return least > 0;
}

/* Stretches of a line: as long as pays, but two for each multiprocessor; 0 where the level or the caller wants others. */
static int line_blocks(const gmg_smoother_level *l, int processors, async_state *s)
{
  const gmg_operator *A = l->A;
  const gmg_params *p = l->params;
  enum { DEFAULT = 256, LEAST = 64 };
  size_t want[3] = {p->block[0], p->block[1], p->block[2]};
  if (A->dim != 1 || gmg_kind_of(A) != GMG_CONSTANT || !A->uniform[0] || A->n[0] < 3) return 0;
  for (size_t threads = DEFAULT; !p->block[0] && threads >= LEAST; threads /= 2) {
    want[0] = threads * LINE_PER - LINE_SPARE;
    if (A->n[0] / want[0] >= 2 * (size_t)processors) break;
  }
  s->blocks = gmg_blocks_make(A, want, preferred_block[1]);
  const size_t threads = line_threads(s->blocks.shape[0], p->overlap);
  if (threads > LINE_MOST) return 0;
  s->threads = (int)threads, s->bytes = line_bytes(threads);
  return 1;
}

static async_state layout(const gmg_smoother_level *l, size_t most_bytes)
{
  const gmg_operator *A = l->A;
  const gmg_params *p = l->params;
  const int processors = gmg_device_of(l->exec)->processors;
  async_state s = {};
  if (line_blocks(l, processors, &s)) return s;
  s = {};
  if (can_stream(l) && A->face[0] && flow_blocks(l, (size_t)processors, &s.blocks)) {
    s.flows = 1;
    return s;
  }
  if (can_stream(l) && !A->face[0] && stream_blocks(l, processors, &s.blocks)) {
    s.streams = 1;
    s.bytes = (size_t)(A->dim == 3 ? shape_of<3>::reals : shape_of<2>::reals) * sizeof(real);
    return s;
  }
  if (A->dim > 1 && A->cells < (size_t)1 << 31 && p->local != GMG_LOCAL_GAUSS_SEIDEL)
    s.tile = tile_blocks(l, (size_t)processors, most_bytes, &s.blocks);
  if (s.tile.bytes) {
    s.bytes = s.tile.bytes;
    return s;
  }
  s.blocks = gmg_blocks_make(A, p->block, preferred_block[A->dim]);
  size_t cells = 1;
  for (int a = 0; a < 3; a++) {
    s.margin[a] = s.blocks.count[a] > 1 || A->wraps[a] ? p->overlap + 1 : 1;
    s.size[a] = (int)s.blocks.shape[a] + 2 * s.margin[a];
    s.most = s.size[a] > s.most ? s.size[a] : s.most;
    cells *= (size_t)s.size[a];
  }
  s.versions = p->local == GMG_LOCAL_JACOBI ? 2 : 1;
  s.bytes = (size_t)s.versions * cells * sizeof(real) + 3 * (size_t)s.most * (3 * sizeof(real) + sizeof(int));
  return s;
}

typedef struct {
  int local, sweeps, extra; /* extra: more sweeps for a block at a seam */
  int reversed;
  real omega;
} relaxation;

/* Axis coefficients and the unknown of every tile coordinate (-1: beyond a wall), in shared memory. */
typedef struct {
  real *lo[3], *hi[3], *diag[3];
  int *place[3];
} tile_axes;

template <int kind>
static __device__ __forceinline__ gmg_row row_in_tile(const gmg_operator &A, const tile_axes &t, const int v[3])
{
  if (kind & GMG_FACES) return gmg_row_at<kind>(A, (size_t)t.place[0][v[0]], (size_t)t.place[1][v[1]], (size_t)t.place[2][v[2]]);
  gmg_row r;
  r.diag = (real)A.shift;
#pragma unroll
  for (int a = 0; a < 3; a++) r.lo[a] = t.lo[a][v[a]], r.hi[a] = t.hi[a][v[a]], r.diag += t.diag[a][v[a]];
  if (kind & GMG_SIGMA) {
    const size_t line = (size_t)t.place[2][v[2]] * A.n[1] + (size_t)t.place[1][v[1]];
    r.diag += gmg_at(A.sigma, line * A.n[0] + (size_t)t.place[0][v[0]]);
  }
  return r;
}

template <int kind>
static __global__ void __launch_bounds__(GMG_THREADS)
    async_kernel(gmg_operator A, async_state s, relaxation how, size_t first, const real *f, const real *from, real *to)
{
  extern __shared__ double memory[];
  const int sx = s.size[0], sy = s.size[1], sz = s.size[2], me = (int)threadIdx.x, plane = sx * sy, cells = plane * sz;
  real *u = (real *)memory, *rest = u + (size_t)s.versions * cells;
  tile_axes t;
  for (int a = 0; a < 3; a++, rest += 3 * s.most) t.lo[a] = rest, t.hi[a] = rest + s.most, t.diag[a] = rest + 2 * s.most;
  for (int a = 0; a < 3; a++) t.place[a] = (int *)rest + a * s.most;
  /* where the tile lies */
  const size_t turn = (first + blockIdx.x) % s.blocks.total;
  const size_t b = (size_t)s.order[how.reversed ? s.blocks.total - 1 - turn : turn];
  const size_t at[3] = {b % s.blocks.count[0], b / s.blocks.count[0] % s.blocks.count[1], b / (s.blocks.count[0] * s.blocks.count[1])};
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
      g = ((g % n) + n) % n;
      t.place[a][v] = there ? (int)g : -1;
      t.lo[a][v] = gmg_at(A.lo[a], (size_t)g), t.hi[a][v] = gmg_at(A.hi[a], (size_t)g), t.diag[a][v] = gmg_at(A.diag[a], (size_t)g);
    }
  }
  __syncthreads();
  for (int c = me; c < cells; c += GMG_THREADS) {
    const int z = c / plane, y = (c - z * plane) / sx, x = c - z * plane - y * sx;
    const int i = t.place[0][x], j = t.place[1][y], k = t.place[2][z];
    const int there = i >= 0 && j >= 0 && k >= 0;
    u[c] = there && from ? __ldcg(from + ((size_t)k * A.n[1] + (size_t)j) * A.n[0] + (size_t)i) : (real)0;
    if (s.versions == 2) u[cells + c] = u[c];
  }
  __syncthreads();
  /* relaxed k times */
  const int coloured = how.local == GMG_LOCAL_RED_BLACK, sweeps = how.sweeps + (seam ? how.extra : 0);
  const int stages = coloured ? 2 * sweeps : sweeps, wx = coloured ? (sx - 1) / 2 : sx - 2, wy = sy - 2, wz = sz - 2;
  real *old = u, *next = s.versions == 2 ? u + cells : u;
  for (int stage = 0; stage < stages; stage++) {
    for (int h = me; h < wx * wy * wz; h += GMG_THREADS) {
      const int z = h / (wx * wy), y = (h - z * wx * wy) / wx, m = h - z * wx * wy - y * wx;
      int v[3] = {1 + m, 1 + y, 1 + z};
      if (coloured) v[0] = 1 + 2 * m + ((parity + 1 + v[1] + v[2] + stage + how.reversed) & 1);
      const int i = v[0] < sx - 1 ? t.place[0][v[0]] : -1, j = t.place[1][v[1]], k = t.place[2][v[2]];
      if (i < 0 || j < 0 || k < 0) continue;
      /* the ring at a tile cut short by the level's end lies further in */
      if (v[0] > own[0] + 2 * s.margin[0] - 2 || v[1] > own[1] + 2 * s.margin[1] - 2 || v[2] > own[2] + 2 * s.margin[2] - 2) continue;
      const int c = (v[2] * sy + v[1]) * sx + v[0];
      const gmg_neighbours near = {{old[c - 1], old[c - sx], old[c - plane]}, {old[c + 1], old[c + sx], old[c + plane]}};
      const real rhs = f[((size_t)k * A.n[1] + (size_t)j) * A.n[0] + (size_t)i];
      next[c] = gmg_row_relaxed(3, kind, row_in_tile<kind>(A, t, v), near, rhs, old[c], how.omega);
    }
    __syncthreads();
    if (s.versions == 2) {
      real *swap = old;
      old = next, next = swap;
    }
  }
  /* own unknowns back */
  const int mine = own[0] * own[1] * own[2];
  for (int c = me; c < mine; c += GMG_THREADS) {
    const int z = c / (own[0] * own[1]), y = (c - z * own[0] * own[1]) / own[0], x = c - z * own[0] * own[1] - y * own[0];
    const size_t i = at[0] * s.blocks.shape[0] + (size_t)x, j = at[1] * s.blocks.shape[1] + (size_t)y;
    const size_t k = at[2] * s.blocks.shape[2] + (size_t)z;
    __stcg(to + (k * A.n[1] + j) * A.n[0] + i, old[((z + s.margin[2]) * sy + y + s.margin[1]) * sx + x + s.margin[0]]);
  }
}

template <int dim>
static void run_stream(const gmg_smoother_level *l, const async_state *s, size_t passes, const void *f, const void *from, void *to,
                       int reversed)
{
  const gmg_operator *A = l->A;
  const int axis[3] = {0, dim == 3 ? 1 : 2, dim - 1}; /* across, across, along */
  stream x = {};
  for (int a = 0; a < 3; a++) {
    x.n[a] = (int)A->n[axis[a]], x.wraps[a] = A->wraps[axis[a]], x.diag[a] = A->diag[axis[a]];
    x.own[a] = (int)s->blocks.shape[axis[a]], x.count[a] = (int)s->blocks.count[axis[a]];
    x.coupling[a] = (real)A->coupling[axis[a]];
  }
  x.stride = (int)(dim == 3 ? A->n[0] * A->n[1] : A->n[0]);
  x.whole = A->n[0] % 2 == 0 && s->blocks.shape[0] % 2 == 0 && ((uintptr_t)from | (uintptr_t)to) % sizeof(real_pair) == 0;
  x.shift = (real)A->shift, x.omega = (real)gmg_weight_async(A, l->params);
  x.reversed = reversed, x.total = s->blocks.total, x.order = s->order;
  const unsigned grid = (unsigned)(passes * s->blocks.total), threads = (unsigned)(32 * stream_rows(dim, &s->blocks));
  stream_kernel<dim><<<grid, threads, s->bytes, gmg_device_of(l->exec)->stream>>>(x, (const real *)f, (const real *)from, (real *)to);
  gmg_cuda_launched(l->exec, "async");
}

static void run_line(const gmg_smoother_level *l, const async_state *s, const relaxation *how, size_t first, unsigned grid,
                     const void *f, const void *from, void *to)
{
  const gmg_operator *A = l->A;
  const int seam = A->wraps[0] && A->n[0] % 2;
  gmg_device *d = gmg_device_of(l->exec);
  const line_pass x = {(long)A->n[0], A->wraps[0], (int)s->blocks.shape[0], l->params->overlap, how->sweeps, seam ? how->extra : 0,
                       how->reversed, (unsigned)(first % s->blocks.total), (unsigned)s->blocks.total,
                       l->params->order == GMG_ORDER_NATURAL ? NULL : s->order, A->lo[0], A->hi[0],
                       {A->diag[0], A->diag[1], A->diag[2]}, (real)A->shift, how->omega};
  (how->local == GMG_LOCAL_RED_BLACK ? line_kernel<1> : line_kernel<0>)<<<grid, (unsigned)s->threads, s->bytes, d->stream>>>(x, (const real *)f, (const real *)from, (real *)to);
  gmg_cuda_launched(l->exec, "async");
}

static void run_tiles(const gmg_smoother_level *l, const async_state *s, size_t passes, const void *f, const void *from, void *to,
                      int reversed)
{
  const tiles t = tiles_of(l, &s->tile, &s->blocks, s->order, reversed);
  for (size_t p = 0; p < passes; p += MOST_PASSES) {
    const dim3 grid((unsigned)s->blocks.total, (unsigned)(passes - p < MOST_PASSES ? passes - p : MOST_PASSES));
    tile_kernel_of(l)<<<grid, s->tile.threads, s->bytes, gmg_device_of(l->exec)->stream>>>(t, (const real *)f, (const real *)from,
                                                                                          (real *)to);
    gmg_cuda_launched(l->exec, "async");
  }
}

static void run_flow(const gmg_smoother_level *l, const async_state *s, size_t passes, const void *f, const void *from, void *to,
                     int reversed)
{
  const flow x = flow_of(l, &s->blocks, s->order, reversed);
  const unsigned grid = (unsigned)(passes * s->blocks.total);
  static void (*const kernels[2][2])(flow, const real *, const real *, real *) = {
      {flow_kernel<GMG_FACES, 0>, flow_kernel<GMG_FACES, 1>},
      {flow_kernel<GMG_FACES | GMG_SIGMA, 0>, flow_kernel<GMG_FACES | GMG_SIGMA, 1>}};
  kernels[l->A->sigma != NULL][l->A->wraps[2]]<<<grid, FLOW_THREADS, 0, gmg_device_of(l->exec)->stream>>>(x, (const real *)f, (const real *)from,
                                                                                                         (real *)to);
  gmg_cuda_launched(l->exec, "async");
}

typedef void general_function(gmg_operator A, async_state s, relaxation how, size_t first, const real *f, const real *from, real *to);
static general_function *const general_kernels[4] = {async_kernel<GMG_CONSTANT>, async_kernel<GMG_FACES>, async_kernel<GMG_SIGMA>,
                                                     async_kernel<GMG_FACES | GMG_SIGMA>};

/* Once for all levels, to which a kernel is common. */
static void allow_shared(const gmg_smoother_level *l, const async_state *s, int most)
{
  const void *kernel = (const void *)general_kernels[gmg_kind_of(l->A)];
  if (s->flows) return; /* what it has is known to the compiler */
  if (s->tile.bytes) kernel = (const void *)tile_kernel_of(l);
  if (s->threads) kernel = l->params->local == GMG_LOCAL_RED_BLACK ? (const void *)line_kernel<1> : (const void *)line_kernel<0>;
  if (s->streams) kernel = l->A->dim == 3 ? (const void *)stream_kernel<3> : (const void *)stream_kernel<2>;
  gmg_cuda_note(gmg_device_of(l->exec), cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, most), "async");
  if (s->tile.bytes && gmg_kind_of(l->A) & GMG_FACES) /* room for two blocks is not given unasked */
    gmg_cuda_note(gmg_device_of(l->exec), cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                                                               cudaSharedmemCarveoutMaxShared), "async");
}

/* All blocks, `passes` times over, in one launch. from = NULL: u is 0. */
static void run_blocks(const gmg_smoother_level *l, const async_state *s, size_t passes, const void *f, const void *from, void *to,
                       int reversed)
{
  const gmg_params *p = l->params;
  if (s->flows || s->streams || s->tile.bytes) {
    (s->flows ? run_flow : !s->streams ? run_tiles : l->A->dim == 3 ? run_stream<3> : run_stream<2>)(l, s, passes, f, from, to, reversed);
    return;
  }
  const relaxation how = {(int)p->local, p->local_sweeps, p->local == GMG_LOCAL_RED_BLACK ? 2 : 0, reversed,
                          (real)gmg_weight_async(l->A, p)};
  const size_t all = passes * s->blocks.total;
  for (size_t first = 0; first < all; first += MOST_BLOCKS) {
    const unsigned grid = (unsigned)(all - first < MOST_BLOCKS ? all - first : MOST_BLOCKS);
    if (s->threads) {
      run_line(l, s, &how, first, grid, f, from, to);
      continue;
    }
    general_kernels[gmg_kind_of(l->A)]<<<grid, GMG_THREADS, s->bytes, gmg_device_of(l->exec)->stream>>>(
        *l->A, *s, how, first, (const real *)f, (const real *)from, (real *)to);
    gmg_cuda_launched(l->exec, "async");
  }
}

static void run_passes(const gmg_smoother_level *l, const async_state *s, size_t passes, const void *f, void *u, int reversed)
{
  if (!s->before) {
    run_blocks(l, s, passes, f, u, u, reversed);
    return;
  }
  for (size_t p = 0; p < passes; p++) {
    l->exec->vector->copy(l->exec, l->A->cells, u, s->before);
    run_blocks(l, s, 1, f, s->before, u, reversed);
  }
}

static void sweep(const gmg_smoother_level *l, void *state, const void *f, void *u, int steps, gmg_leg leg)
{
  run_passes(l, (const async_state *)state, (size_t)(steps * l->params->passes), f, u, leg == GMG_LEG_UP_REVERSED);
}

/* As on the host: with overlap the first pass may as well find zeros around every block, and then reads f alone. */
static void sweep_from_zero(const gmg_smoother_level *l, void *state, const void *f, void *u, int steps, gmg_leg leg)
{
  const async_state *s = (const async_state *)state;
  const size_t passes = (size_t)(steps * l->params->passes);
  const int reversed = leg == GMG_LEG_UP_REVERSED, fresh = l->params->overlap == 0 && !s->before;
  if (fresh)
    l->exec->vector->fill(l->exec, l->A->cells, 0, u);
  else
    run_blocks(l, s, 1, f, NULL, u, reversed);
  if (passes > 1 || fresh) run_passes(l, s, fresh ? passes : passes - 1, f, u, reversed);
}

/* Device memory has to be there before its contents: on a dry exec nothing is. */
static gmg_status setup(const gmg_smoother_level *l, void **state)
{
  gmg_exec *e = l->exec;
  int most = 0;
  cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, gmg_device_of(e)->number);
  async_state s = layout(l, (size_t)most);
  if (l->params->local == GMG_LOCAL_GAUSS_SEIDEL)
    return gmg_fail(e->context, GMG_ERR_UNSUPPORTED, "params.local = GMG_LOCAL_GAUSS_SEIDEL: inside a block of a CUDA device "
                    "unknowns relax together; red-black or Jacobi");
  if (s.bytes > (size_t)most)
    return gmg_fail(e->context, GMG_ERR_UNSUPPORTED,
                    "params.block = %zu x %zu x %zu: with its surroundings it takes %zu bytes of shared memory, the device has %d",
                    s.blocks.shape[0], s.blocks.shape[1], s.blocks.shape[2], s.bytes, most);
  *state = calloc(1, sizeof s);
  if (!*state) return gmg_fail(e->context, GMG_ERR_MEMORY, "async state could not be allocated");
  gmg_status status = gmg_exec_alloc(e, "async block order", s.blocks.total * sizeof(int), (void **)&s.order);
  if (status == GMG_OK && l->params->deterministic)
    status = gmg_exec_alloc(e, "async copy of u", l->A->cells * sizeof(real), (void **)&s.before);
  *(async_state *)*state = s;
  if (status != GMG_OK || e->dry) return status;
  allow_shared(l, &s, most);
  int *order = (int *)malloc(s.blocks.total * sizeof *order);
  if (!order) return gmg_fail(e->context, GMG_ERR_MEMORY, "async block order could not be allocated");
  gmg_blocks_order(&s.blocks, l->params->order, l->params->seed + (unsigned long)l->index, order);
  e->memory->upload(e->context, s.order, order, s.blocks.total * sizeof *order);
  free(order);
  return GMG_OK;
}

static void destroy(const gmg_smoother_level *l, void *state)
{
  async_state *s = (async_state *)state;
  if (!s) return;
  gmg_exec_release(l->exec, s->order, s->blocks.total * sizeof(int));
  gmg_exec_release(l->exec, s->before, l->A->cells * sizeof(real));
  free(s);
}

extern "C" const gmg_smoother_ops R(gmg_async_cuda) = {
    .setup = setup, .sweep = sweep, .destroy = destroy, .sweep_from_zero = sweep_from_zero};
