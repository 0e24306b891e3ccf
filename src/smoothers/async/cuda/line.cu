/* The asynchronous smoother's pass in 1D, for constant coefficients and rows that are equal except at the ends of the axis; any
   overlap, number of local sweeps and order, red-black or Jacobi. cuda/reference.cu computes the same, slowly. Called through its
   async_variant.

   A thread block processes a segment of the axis: its own unknowns, `overlap` layers around them, and a ring that is only read. u
   and f are loaded once, coalesced, and transposed in shared memory. A thread then has LINE_PER neighbouring unknowns in
   registers. It needs one neighbouring value per half sweep: from the next lane or, at the end of a warp, through shared memory
   and one barrier. The pass is then limited by memory alone. At 64 registers a multiprocessor has 1024 threads. Each requests 128
   bytes, so 128 kB are in flight. 4 TB/s need about 25 kB per multiprocessor.

   Place v of the segment is unknown origin + v of the axis. The origin is chosen so that the first colour has the even places. */
#include "variant.h"

#include "core/cuda/atomics.cuh"
#include "stencil/operator/cuda/row.cuh"

enum {
  LINE_PER = 64 / sizeof(scalar),    /* unknowns of a thread */
  LINE_LEAD = 32 / sizeof(scalar),   /* places before the own unknowns: space for the ring; loads start at a 32-byte sector */
  LINE_SPARE = 128 / sizeof(scalar), /* places that the default segment leaves free, so that segments begin at a cache line */
  LINE_MAX_THREADS = 1024,                /* maximum number of threads */
  LINE_FAR = 2 * LINE_MAX_THREADS * LINE_PER /* beyond all places of a segment: ends of the axis are at most this far */
};

/* Coefficients of a row. Those of the first, the inner and the last rows are in shared memory. */
typedef struct {
  real lo, hi, inverse;
} line_row;
enum { FIRST_ROW, INNER_ROW, LAST_ROW, LINE_ROWS };

typedef struct {
  long n;
  int wraps, own, overlap, sweeps, extra; /* extra: additional sweeps for a segment at a seam */
  int reversed;
  unsigned total;
  const int *order; /* NULL: natural order, which saves a load */
  const void *lo, *hi, *diag[3];
  real shift, omega;
} line_pass;

/* Threads for segments with this many own unknowns. More than LINE_MAX_THREADS: too long. */
static size_t line_threads(size_t own, int overlap)
{
  const size_t places = LINE_LEAD + 1 + own + (size_t)overlap + 1;
  return (places + 32 * LINE_PER - 1) / (32 * LINE_PER) * 32;
}

/* Shared memory: u and f; values passed between warps (two rounds, both sides); rows. */
static size_t line_bytes(size_t threads)
{
  return (2 * threads * (LINE_PER + 1) + 4 * (LINE_MAX_THREADS / 32)) * sizeof(scalar) + LINE_ROWS * sizeof(line_row);
}

/* The places from low to high - 1 are relaxed. zero and end are the ends of the axis: its unknown 0, and n. */
typedef struct {
  int low, high, zero, end;
} line_places;

static __device__ __forceinline__ scalar relaxed_in_line(const line_row a, scalar left, scalar right, scalar f, scalar u,
                                                         real omega)
{
  return u + omega * ((f + a.lo * left + a.hi * right) * a.inverse - u);
}

/* The row of place v. Across the seam of a periodic axis the end rows appear again. */
static __device__ __forceinline__ line_row row_at_place(const line_row *rows, const line_places &p, int v)
{
  return rows[v == p.zero || v == p.end ? FIRST_ROW : v == p.zero - 1 || v == p.end - 1 ? LAST_ROW : INNER_ROW];
}

/* Relaxes one colour of a thread's unknowns u, which begin at place v. beside: the value before them (colour 0) or after them. */
template <int colour, int checked>
static __device__ __forceinline__ void relax_colour(scalar (&u)[LINE_PER], const scalar (&f)[LINE_PER], scalar beside,
                                                    line_row inner, const line_row *rows, const line_places &p, int v, real omega)
{
#pragma unroll
  for (int r = colour; r < LINE_PER; r += 2) {
    if (checked && (v + r < p.low || v + r >= p.high)) continue;
    const line_row a = checked ? row_at_place(rows, p, v + r) : inner;
    const scalar left = r > 0 ? u[(r + LINE_PER - 1) % LINE_PER] : beside;
    const scalar right = r + 1 < LINE_PER ? u[(r + 1) % LINE_PER] : beside;
    u[r] = relaxed_in_line(a, left, right, f[r], u[r], omega);
  }
}

/* Relaxes all of a thread's unknowns by Jacobi. */
template <int checked>
static __device__ __forceinline__ void relax_all(scalar (&u)[LINE_PER], const scalar (&f)[LINE_PER], scalar before, scalar after,
                                                 line_row inner, const line_row *rows, const line_places &p, int v, real omega)
{
#pragma unroll
  for (int r = 0; r < LINE_PER; r++) {
    const scalar here = u[r], right = r + 1 < LINE_PER ? u[(r + 1) % LINE_PER] : after;
    const line_row a = checked ? row_at_place(rows, p, v + r) : inner;
    if (!checked || (v + r >= p.low && v + r < p.high)) u[r] = relaxed_in_line(a, before, right, f[r], here, omega);
    before = here;
  }
}

/* Relaxes segment number `block_index` in the given order. */
template <int coloured>
static __device__ __forceinline__ void relax_segment(line_pass s, unsigned block_index, const scalar *f, const scalar *from,
                                                     scalar *to)
{
  constexpr int PER = LINE_PER, WARPS = LINE_MAX_THREADS / 32;
  extern __shared__ double memory[];
  const int me = (int)threadIdx.x, threads = (int)blockDim.x, lane = me % 32, warp = me / 32, warps = threads / 32;
  scalar *tile_u = (scalar *)memory, *tile_f = tile_u + threads * (PER + 1), *edge = tile_f + threads * (PER + 1);
  line_row *rows = (line_row *)(edge + 4 * WARPS);

  /* position of the segment */
  const unsigned b = s.reversed ? s.total - 1 - block_index : block_index;
  const long begin = (s.order ? (long)s.order[b] : (long)b) * s.own;
  const int own = (int)min((long)s.own, s.n - begin), reach = s.overlap + 1;
  const int lead = LINE_LEAD + (int)((begin + s.reversed) & 1);
  const long origin = begin - lead;
  line_places p = {lead - reach, lead + own + reach, (int)max(-origin, -(long)LINE_FAR), (int)min(s.n - origin, (long)LINE_FAR)};
  if (!s.wraps) p.low = max(p.low, p.zero), p.high = min(p.high, p.end);

  /* load u and f, coalesced */
  scalar u[PER], rhs[PER];
  const auto read = [&](int folded) {
#pragma unroll
    for (int i = 0; i < PER; i++) {
      const int v = i * threads + me, there = v >= p.low && v < p.high;
      const long g = origin + v + (!folded ? 0 : v < p.zero ? s.n : v >= p.end ? -s.n : 0);
      u[i] = from && there ? gmg_load_relaxed(from + g) : (scalar)0;
      rhs[i] = there ? __ldg(f + g) : (scalar)0;
    }
  };
  if (p.low < p.zero || p.high > p.end) read(1); /* the segment crosses the seam */
  else read(0);
  if (me < LINE_ROWS) {
    const size_t i = me == FIRST_ROW ? 0 : me == INNER_ROW ? 1 : (size_t)s.n - 1;
    const real diag = s.shift + gmg_at(s.diag[0], i) + gmg_at(s.diag[1], 0) + gmg_at(s.diag[2], 0);
    rows[me] = {gmg_at(s.lo, i), gmg_at(s.hi, i), 1 / diag};
  }

  /* transpose. One place after each thread's is left free to avoid bank conflicts */
  const int mine = me * (PER + 1), as_read = me + me / PER, step = threads + threads / PER;
#pragma unroll
  for (int i = 0; i < PER; i++) tile_u[as_read + i * step] = u[i], tile_f[as_read + i * step] = rhs[i];
  __syncthreads();
#pragma unroll
  for (int r = 0; r < PER; r++) u[r] = tile_u[mine + r], rhs[r] = tile_f[mine + r];

  /* the ring is not relaxed; most warps need no checks */
  p.low = max(p.low, lead - s.overlap), p.high = min(p.high, lead + own + s.overlap);
  const line_row inner = rows[INNER_ROW];
  const int v = me * PER, begins = warp * 32 * PER, ends = begins + 32 * PER;
  const int plain = begins >= p.low && ends <= p.high && begins > p.zero && ends < p.end;
  const int sweeps = s.sweeps + (begin < reach || begin + own + reach > s.n ? s.extra : 0);
  scalar *const last = edge, *const first = edge + 2 * WARPS; /* last and first value of each warp, in two rounds */
#pragma unroll 1
  for (int k = 0; k < sweeps; k++) {
    const int round = coloured ? 0 : (k & 1) * WARPS; /* red-black has a barrier per colour anyway */
    if (lane == 31) last[round + warp] = u[PER - 1];
    if (!coloured && lane == 0) first[round + warp] = u[0];
    __syncthreads();
    scalar before = __shfl_up_sync(~0u, u[PER - 1], 1);
    if (lane == 0) before = warp > 0 ? last[round + warp - 1] : (scalar)0;
    if (coloured) {
      if (plain) relax_colour<0, 0>(u, rhs, before, inner, rows, p, v, s.omega);
      else relax_colour<0, 1>(u, rhs, before, inner, rows, p, v, s.omega);
      if (lane == 0) first[warp] = u[0];
      __syncthreads();
    }
    scalar after = __shfl_down_sync(~0u, u[0], 1);
    if (lane == 31) after = warp + 1 < warps ? first[round + warp + 1] : (scalar)0;
    if (coloured) {
      if (plain) relax_colour<1, 0>(u, rhs, after, inner, rows, p, v, s.omega);
      else relax_colour<1, 1>(u, rhs, after, inner, rows, p, v, s.omega);
    } else {
      if (plain) relax_all<0>(u, rhs, before, after, inner, rows, p, v, s.omega);
      else relax_all<1>(u, rhs, before, after, inner, rows, p, v, s.omega);
    }
  }

  /* write back the own unknowns */
#pragma unroll
  for (int r = 0; r < PER; r++) tile_u[mine + r] = u[r];
  __syncthreads();
  const int as_written = lead + me + (lead + me) / PER; /* after the own unknowns this reads f, which is not written */
#pragma unroll
  for (int i = 0; i < PER; i++) u[i] = tile_u[as_written + i * step];
#pragma unroll
  for (int i = 0; i < PER; i++)
    if (i * threads + me < own) gmg_store_relaxed(to + begin + i * threads + me, u[i]);
}

template <int coloured, int dynamic>
static __global__ void __launch_bounds__(LINE_MAX_THREADS, 1)
    async_line_kernel(line_pass s, const scalar *f, const scalar *from, scalar *to, work_queue queue)
{
  for_blocks<dynamic>(queue, [&](unsigned block_index) { relax_segment<coloured>(s, block_index, f, from, to); });
}

/* --- levels and launches ---------------------------------------------------------------------------------------------- */

/* Chooses segments: as long as useful, but at least two per multiprocessor. */
static int lay_out(const gmg_smoother_level *l, async_state *s)
{
  const gmg_operator *A = l->A;
  const gmg_params *p = l->params;
  enum { MAX_THREADS = 256, MIN_THREADS = 64 };
  const size_t across[3] = {1, 1, 1};
  size_t want[3] = {p->async.block[0], p->async.block[1], p->async.block[2]};
  if (A->dim != 1 || gmg_coefficients_of(A) != GMG_CONSTANT || !A->uniform[0] || A->n[0] < 3) return 0;
  for (size_t threads = MAX_THREADS; !p->async.block[0] && threads >= MIN_THREADS; threads /= 2) {
    want[0] = threads * LINE_PER - LINE_SPARE;
    if (A->n[0] / want[0] >= 2 * processors_of(l)) break;
  }
  s->blocks = gmg_blocks_make(A, want, across);
  const size_t threads = line_threads(s->blocks.shape[0], p->async.overlap);
  s->threads = dim3((unsigned)threads), s->bytes = line_bytes(threads);
  return threads <= LINE_MAX_THREADS;
}

typedef void kernel(line_pass, const scalar *, const scalar *, scalar *, work_queue);

static kernel *kernel_of(const gmg_smoother_level *l)
{
  const int dynamic = is_dynamic(l->params);
  if (l->params->async.local == GMG_LOCAL_RED_BLACK) return dynamic ? async_line_kernel<1, 1> : async_line_kernel<1, 0>;
  return dynamic ? async_line_kernel<0, 1> : async_line_kernel<0, 0>;
}

static const void *prepare(const gmg_smoother_level *l, const async_state *s)
{
  return allow_shared(l, (const void *)kernel_of(l), s->max_bytes);
}

static void run(const gmg_smoother_level *l, const async_state *s, size_t passes, const void *f, const void *from, void *to,
                gmg_leg leg)
{
  const gmg_operator *A = l->A;
  const gmg_params *q = l->params;
  const int extra = q->async.local == GMG_LOCAL_RED_BLACK && A->wraps[0] && A->n[0] % 2 ? GMG_SEAM_SWEEPS : 0;
  const line_pass x = {(long)A->n[0], A->wraps[0], (int)s->blocks.shape[0], q->async.overlap, q->async.local_sweeps, extra,
                       leg == GMG_LEG_UP_REVERSED, (unsigned)s->blocks.total, order_of(l, s), A->lo[0], A->hi[0],
                       {A->diag[0], A->diag[1], A->diag[2]}, (real)A->shift, (real)gmg_weight_async(A, q)};
  const async_launch k = launch_of(l, s, passes);
  const size_t first = gmg_offset(gmg_layout_of(A), 0, 0, 0); /* the kernel's fields begin at unknown 0 */
  const scalar *const u = from ? (const scalar *)from + first : NULL;
  gmg_launch(l->exec, "async", kernel_of(l), k.grid, x, (const scalar *)f + first, u, (scalar *)to + first, k.queue);
}

const async_variant R(async_line) = {.lay_out = lay_out, .prepare = prepare, .run = run};
