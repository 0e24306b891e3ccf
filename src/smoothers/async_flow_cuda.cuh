/* The asynchronous smoother's pass where coefficients lie on the faces: 3D, two local red-black sweeps, overlap 1. Included by
   async_cuda.cu alone, after async_tile_cuda.cuh; its other kernels do everything else.

   Planes stream through a block of unknowns as in async_stream_cuda.cuh, here with a thread a column and its rows in registers
   from their first relaxation to their second: so a face is read once for a column on either side, nothing is fetched twice along
   the last axis, and in float 32 x 16 relaxed columns for 30 x 14 own ones are 1.22 times as many (tiles on chip: 1.66).

   A column is of kind A (turn = 0) or B (1), like a chessboard; a B's planes are counted from one higher: number c of a column is plane
   c + turn of the tile. Odd numbers are relaxed first in all columns. Half sweeps h = 1..4 are three numbers apart. In step T

     half sweep h relaxes number 2 T - 3 h;  rows 2 T - 3 and 2 T - 6 are made;
     numbers 2 T - 13 and 2 T - 12 are done and written back;  2 T - 1 and 2 T come in.

   Registers hold 12 numbers of u, c in number c % 12. Neighbours find number c of an A in slot c % 12 of shared memory, of a B in slot
   (c + 2) % 12: what half sweep h reads around it is slot 2 T - 3 h + 1 for both. A slot is read last a step before it is
   written again: even numbers, as they come in, are read in steps c / 2 + 1 + turn and three later, and written in step c / 2 and
   with h = 2 in step c / 2 + 3; odd ones, written with h = 1 and 3 in steps (c + 3) / 2 and three later, are read in steps
   (c + 5) / 2 + turn and three later. Nobody reads what h = 4 makes. So a step has one barrier. Six steps are unrolled, after which
   everything is in place again. Where nothing is relaxed, rows are zeros, and what is not there is read from a plane or column that
   is and then put to 0: there are no branches. */
#ifndef GMG_ASYNC_FLOW_CUDA_H
#define GMG_ASYNC_FLOW_CUDA_H

#include "../stencil/even_cuda.cuh"

enum {
  FLOW_WIDE = 32, FLOW_DEEP = sizeof(real) == 8 ? 8 : 16, FLOW_THREADS = FLOW_WIDE * FLOW_DEEP, FLOW_NUMBERS = 12, FLOW_STEPS = FLOW_NUMBERS / 2, FLOW_ROWS = 6,
  FLOW_PITCH = FLOW_WIDE + 2, FLOW_PLANE = FLOW_PITCH * (FLOW_DEEP + 2), FLOW_MOST_PLANES = 128, FLOW_FILL = 14
};

typedef struct {
  int n[3], wraps[3], own[3], count[3];
  const real *lo[3], *hi[3], *face[3], *sigma; /* of the diagonal: the coupling, or the wall term where nothing is beyond */
  real shift, omega;
  int reversed;
  size_t total;
  const int *order; /* NULL: natural */
} flow;

/* A row times weight / diagonal; keep: 1 - weight. */
typedef struct {
  real lo[3], hi[3], rhs, keep;
} flow_row;

/* What a row is made of, as it comes from memory. */
typedef struct {
  real lo[3], hi[3], f, sigma;
  int q, relaxed; /* plane of the tile */
} flow_faces;

template <int kind, int wraps>
static __global__ void __launch_bounds__(FLOW_THREADS, 1) flow_kernel(flow s, const real *f, const real *from, real *to)
{
  __shared__ real tile[FLOW_NUMBERS * FLOW_PLANE];
  __shared__ real_pair along[FLOW_MOST_PLANES];
  const int me = (int)threadIdx.x, x = me % FLOW_WIDE, y = me / FLOW_WIDE;
  const size_t place = blockIdx.x % s.total, number = s.reversed ? s.total - 1 - place : place;
  const int b = s.order ? s.order[number] : (int)number, line = b / s.count[0];
  const int at[3] = {b - line * s.count[0], line % s.count[1], line / s.count[1]};
  int begin[3], own[3];
#pragma unroll
  for (int a = 0; a < 3; a++) begin[a] = at[a] * s.own[a], own[a] = min(s.own[a], s.n[a] - begin[a]);
  const int first = begin[2] - 2, planes = own[2] + 4; /* plane q of the tile is plane first + q of the level */
  const unsigned n0 = (unsigned)s.n[0], n1 = (unsigned)s.n[1], slice = n0 * n1;
  const auto exists = [&](int a, int i) { return s.wraps[a] || (i >= 0 && i < s.n[a]); };

  /* this thread's column, relaxed or of the ring or beyond it, where it is 0 and nobody looks */
  const int i = begin[0] - 1 + x, j = begin[1] - 1 + y, turn = (i + j + first + 1 + s.reversed) & 1;
  const int there = x < own[0] + 3 && y < own[1] + 3 && exists(0, i) && exists(1, j);
  const int relaxed = there && x < own[0] + 2 && y < own[1] + 2;
  const int mine = relaxed && x > 0 && x <= own[0] && y > 0 && y <= own[1];
  const unsigned gi = there ? (unsigned)gmg_around(i, s.n[0], s.wraps[0]) : 0, gj = there ? (unsigned)gmg_around(j, s.n[1], s.wraps[1]) : 0;
  const unsigned column = gj * n0 + gi, x_column = gj * (n0 + 1) + gi;
  const real lo_x = __ldg(s.lo[0] + gi), hi_x = __ldg(s.hi[0] + gi), lo_y = __ldg(s.lo[1] + gj), hi_y = __ldg(s.hi[1] + gj);
  real *const here = tile + (y + 1) * FLOW_PITCH + x + 1, *const put = here + turn * 2 * FLOW_PLANE, *const put_wrapped = put - turn * FLOW_NUMBERS * FLOW_PLANE;

  /* a column of the ring, for some */
  enum { SIDES = 2 * FLOW_DEEP, RING = SIDES + 2 * FLOW_WIDE };
  int rx = me < FLOW_DEEP ? -1 : FLOW_WIDE, ry = me % FLOW_DEEP;
  if (me >= SIDES) rx = (me - SIDES) % FLOW_WIDE, ry = me - SIDES < FLOW_WIDE ? -1 : FLOW_DEEP;
  const int ri = begin[0] - 1 + rx, rj = begin[1] - 1 + ry, ring_turn = (ri + rj + first + 1 + s.reversed) & 1;
  const int ring = me < RING && from && rx < own[0] + 3 && ry < own[1] + 3 && exists(0, ri) && exists(1, rj);
  const unsigned ring_column = ring ? (unsigned)gmg_around(rj, s.n[1], s.wraps[1]) * n0 + (unsigned)gmg_around(ri, s.n[0], s.wraps[0]) : 0;
  real *const ring_here = tile + (ry + 1) * FLOW_PITCH + rx + 1;

  for (int c = me; c < FLOW_NUMBERS * FLOW_PLANE; c += FLOW_THREADS) tile[c] = 0;
  for (int q = me; q < FLOW_MOST_PLANES; q += FLOW_THREADS) {
    const int there = q < planes && exists(2, first + q), k = there ? gmg_around(first + q, s.n[2], s.wraps[2]) : 0;
    along[q].x = there ? __ldg(s.lo[2] + k) : (real)0, along[q].y = there ? __ldg(s.hi[2] + k) : (real)0;
  }
  /* planes that there are, and are relaxed; first to last */
  const int low = wraps ? 0 : max(0, -first), high = wraps ? planes - 1 : min(planes, s.n[2] - first) - 1;
  const int low_row = max(low, 1), high_row = min(high, planes - 2);
  const auto level_plane = [&](int q) { return (unsigned)gmg_around(first + q, s.n[2], wraps); };
  const real *const source = from ? from : f;
  const int live = there && from, ring_live = ring && from;
  const auto fetch_u = [&](int q, int column_there, unsigned from_column) {
    const int nearest = min(max(q, low), high);
    const real v = __ldcg(source + (level_plane(nearest) * slice + from_column));
    return column_there && q == nearest ? v : (real)0;
  };
  const auto fetch_row = [&](int q) {
    flow_faces r;
    r.q = min(max(q, low_row), high_row), r.relaxed = relaxed && q == r.q;
    const unsigned k = level_plane(r.q), g = k * slice + column, gx = k * (slice + n1) + x_column, gy = g + k * n0;
    r.lo[0] = __ldg(s.face[0] + gx), r.hi[0] = __ldg(s.face[0] + gx + 1), r.lo[1] = __ldg(s.face[1] + gy), r.hi[1] = __ldg(s.face[1] + (gy + n0));
    r.lo[2] = __ldg(s.face[2] + g), r.hi[2] = __ldg(s.face[2] + (g + slice));
    r.f = __ldg(f + g), r.sigma = kind & GMG_SIGMA ? __ldg(s.sigma + g) : (real)0;
    return r;
  };
  const auto make_row = [&](const flow_faces &p) {
    const real_pair z = along[p.q];
    gmg_row a = {{lo_x * p.lo[0], lo_y * p.lo[1], z.x * p.lo[2]}, {hi_x * p.hi[0], hi_y * p.hi[1], z.y * p.hi[2]}, 0};
    a.diag = s.shift + p.sigma + (a.lo[0] + a.hi[0]) + ((a.lo[1] + a.hi[1]) + (a.lo[2] + a.hi[2]));
    if (kind & GMG_SIGMA) { /* the weight asks for couplings alone */
      if (!exists(0, i - 1)) a.lo[0] = 0;
      if (!exists(0, i + 1)) a.hi[0] = 0;
      if (!exists(1, j - 1)) a.lo[1] = 0;
      if (!exists(1, j + 1)) a.hi[1] = 0;
      if (!wraps && first + p.q == 0) a.lo[2] = 0;
      if (!wraps && first + p.q + 1 == s.n[2]) a.hi[2] = 0;
    }
    const real inverse = tile_inverse(a.diag), weight = p.relaxed ? gmg_row_weight(3, kind, a, inverse, s.omega) : (real)0;
    const real share = p.relaxed ? weight * inverse : (real)0;
    flow_row r;
#pragma unroll
    for (int d = 0; d < 3; d++) r.lo[d] = share * a.lo[d], r.hi[d] = share * a.hi[d];
    r.rhs = share * p.f, r.keep = 1 - weight;
    return r;
  };

  real u[FLOW_NUMBERS], come[2] = {fetch_u(turn - 1, live, column), fetch_u(turn, live, column)};
  real ring_come[2] = {0, fetch_u(ring_turn, ring_live, ring_column)}, ring_soon[2] = {0, 0}; /* numbers 2 T - 3 and 2 T */
  flow_row row[FLOW_ROWS];
  flow_faces next[2] = {fetch_row(turn - 3), fetch_row(turn - 6)};
#pragma unroll
  for (int c = 0; c < FLOW_NUMBERS; c++) u[c] = 0;
#pragma unroll
  for (int c = 0; c < FLOW_ROWS; c++) row[c] = {{0, 0, 0}, {0, 0, 0}, 0, 1};
  __syncthreads();

  for (int T0 = 0; 2 * T0 <= own[2] + FLOW_FILL; T0 += FLOW_STEPS) {
#pragma unroll
    for (int t = 0; t < FLOW_STEPS; t++) {
      const int T = T0 + t;
      if (2 * T > own[2] + FLOW_FILL) break;
      const auto index = [&](int c) { return (c + 4 * FLOW_NUMBERS) % FLOW_NUMBERS; }; /* of number c + 2 T0 */
      const auto kept = [&](int c) { return index(c) % FLOW_ROWS; };
      /* sent for: the next step's */
      const real soon[2] = {fetch_u(2 * T + 1 + turn, live, column), fetch_u(2 * T + 2 + turn, live, column)};
      if (me < RING) {
        ring_soon[0] = fetch_u(2 * T - 1 + ring_turn, ring_live, ring_column);
        ring_soon[1] = fetch_u(2 * T + 2 + ring_turn, ring_live, ring_column);
      }
      real now[4];
      const auto relax = [&](int h) {
        const int c = 2 * t - 3 * h;
        const flow_row &r = row[kept(c)];
        const real *const beside = here + index(c + 1) * FLOW_PLANE;
        real v = r.rhs + r.keep * u[index(c)]; /* one chain: additions come with the products */
        v += r.lo[2] * u[index(c - 1)], v += r.hi[2] * u[index(c + 1)];
        v += r.lo[0] * beside[-1], v += r.hi[0] * beside[1];
        v += r.lo[1] * beside[-FLOW_PITCH], v += r.hi[1] * beside[FLOW_PITCH];
        now[h - 1] = v;
      };
      relax(3), relax(4); /* new rows take the place of theirs */
      row[kept(2 * t - 3)] = make_row(next[0]), row[kept(2 * t - 6)] = make_row(next[1]);
      next[0] = fetch_row(2 * T - 1 + turn), next[1] = fetch_row(2 * T - 4 + turn);
      relax(1), relax(2);
#pragma unroll
      for (int h = 1; h <= 4; h++) {
        const int c = 2 * t - 3 * h;
        u[index(c)] = now[h - 1];
        if (h < 4) (index(c) + 2 < FLOW_NUMBERS ? put : put_wrapped)[index(c) * FLOW_PLANE] = now[h - 1];
      }
      /* two numbers are done, two come in */
#pragma unroll
      for (int d = 0; d < 2; d++) {
        const int q = 2 * T - 13 + d + turn, c = index(2 * t - 13 + d);
        if (mine && q >= 2 && q < own[2] + 2) __stcg(to + ((unsigned)(first + q) * slice + column), u[c]);
        u[c] = come[d];
      }
      (index(2 * t) + 2 < FLOW_NUMBERS ? put : put_wrapped)[index(2 * t) * FLOW_PLANE] = come[1];
      if (me < RING) {
        ring_here[(ring_turn ? index(2 * t - 1) : index(2 * t - 3)) * FLOW_PLANE] = ring_come[0];
        ring_here[(ring_turn ? index(2 * t + 2) : index(2 * t)) * FLOW_PLANE] = ring_come[1];
      }
      come[0] = soon[0], come[1] = soon[1], ring_come[0] = ring_soon[0], ring_come[1] = ring_soon[1];
      __syncthreads();
    }
  }
}

/* Blocks for planes that stream through; 0 where the level or the caller has others, that leave half of the threads idle or hardly
   fill the pipeline. */
static int flow_blocks(const gmg_smoother_level *l, size_t processors, gmg_blocks *b)
{
  const gmg_operator *A = l->A;
  gmg_blocks best = {};
  size_t least = 0;
  for (size_t parts = 1; parts <= 64 && parts <= A->n[2]; parts++) {
    const size_t want[3] = {FLOW_WIDE - 2, FLOW_DEEP - 2, (A->n[2] + parts - 1) / parts};
    *b = gmg_blocks_make(A, l->params->block, want);
    const size_t time = (b->total + processors - 1) / processors * (b->shape[2] + FLOW_FILL);
    if (b->shape[0] > want[0] || b->shape[1] > want[1] || b->shape[2] + 4 > FLOW_MOST_PLANES || (least && time >= least)) continue;
    if (2 * (b->shape[0] + 2) * (b->shape[1] + 2) < (size_t)FLOW_THREADS || b->shape[2] < FLOW_FILL) continue;
    best = *b, least = time;
  }
  *b = best;
  return least > 0;
}

static flow flow_of(const gmg_smoother_level *l, const gmg_blocks *b, const int *order, int reversed)
{
  const gmg_operator *A = l->A;
  flow s = {};
  for (int a = 0; a < 3; a++) {
    s.n[a] = (int)A->n[a], s.wraps[a] = A->wraps[a], s.own[a] = (int)b->shape[a], s.count[a] = (int)b->count[a];
    s.lo[a] = (const real *)A->lo_diag[a], s.hi[a] = (const real *)A->hi_diag[a], s.face[a] = (const real *)A->face[a];
  }
  s.sigma = (const real *)A->sigma, s.shift = (real)A->shift, s.omega = (real)gmg_weight_async(A, l->params);
  s.reversed = reversed, s.total = b->total, s.order = l->params->order == GMG_ORDER_NATURAL ? NULL : order;
  return s;
}

#endif
