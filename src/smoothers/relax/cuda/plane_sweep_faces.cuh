/* Plane sweep with coefficients on faces: 3D, two local red-black sweeps of a block in one pass over memory, overlap 1. Included by
   async/cuda/planes_faces.cu.

   Planes stream through a block of unknowns as in plane_sweep.cuh. Here a thread has one column, and keeps a row of the matrix in
   registers from its first relaxation to its second. So each face is loaded once for the columns on both sides, and nothing is
   loaded twice along the last axis. In float, 32 x 16 columns are relaxed for 30 x 14 own ones, 1.22 times as many (tiles: 1.66
   times).

   Columns are coloured like a chessboard: A (parity = 0) or B (parity = 1). Planes of a B are counted from one plane higher: index
   c of a column is plane c + parity of the tile. In all columns odd indices are relaxed first. The half sweeps h = 1..4 are three
   indices apart. In step T
   - half sweep h relaxes index 2 T - 3 h; rows 2 T - 3 and 2 T - 6 are computed;
   - indices 2 T - 13 and 2 T - 12 are done and written back; indices 2 T - 1 and 2 T are loaded.

   Registers hold 12 values of u, that of index c in c % 12. For neighbours, the value of index c is in slot c % 12 of shared memory
   for an A, and in slot (c + 2) % 12 for a B. Half sweep h reads slot 2 T - 3 h + 1 around it, for both kinds. The last read of a
   slot is one step before it is written again:
   - Even indices are written when loaded, in step c / 2, and by h = 2 in step c / 2 + 3. They are read in steps c / 2 + 1 + parity
     and three later.
   - Odd indices are written by h = 1 and 3 in steps (c + 3) / 2 and three later. They are read in steps (c + 5) / 2 + parity and
     three later.
   - Results of h = 4 are not read by neighbours.

   So a step has one barrier. Six steps are unrolled, after which registers and slots repeat. Where nothing is relaxed, rows are
   zero and values stay.

   Whole planes are loaded two steps ahead. Coefficients are copied to shared memory without a register, plane q to slot q % 12.
   Rows are computed from there, and each face serves the columns on both sides. They are loaded 16 bytes at a time if the lines
   allow it (face_rows.cuh), and otherwise value by value. Columns that do not exist load the nearest one that does, so groups of
   six steps inside the level need no checks. The pass is then limited by the number of instructions and of accesses to shared
   memory. From zero no u is loaded, and h = 1 only uses the right-hand side. */
#ifndef GMG_SMOOTHERS_RELAX_CUDA_PLANE_SWEEP_FACES_H
#define GMG_SMOOTHERS_RELAX_CUDA_PLANE_SWEEP_FACES_H

#include "core/cuda/atomics.cuh"
#include "face_rows.cuh"

/* A row times weight / diagonal; keep: 1 - weight. */
typedef struct {
  real lo[3], hi[3];
  scalar rhs;
  real keep;
} face_row;

/* 1 / x. x is the diagonal of a relaxed row, neither 0 nor denormal. */
static __device__ __forceinline__ real face_inverse(real x)
{
#if GMG_REAL_F32
  real y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#else
  return 1 / x;
#endif
}

/* A pass over one block. by_lines: coefficients are loaded 16 bytes at a time. */
template <int kind, int wraps, int by_lines, int from_zero> struct face_plane_sweep {
  typedef face_slot<kind, by_lines> slot;
  static constexpr int SIDES = 2 * FACE_DEEP, RING = SIDES + 2 * FACE_WIDE, BEHIND = 4 * FACE_WIDE, BESIDE = BEHIND + FACE_WIDE;

  const face_level &s;
  const scalar *const f, *const from;
  scalar *const to;

  /* The tile. begin, own: its own unknowns. Plane q is plane first + q of the level. low .. high: planes that exist; low_row ..
     high_row: planes that are relaxed. */
  int begin[3], own[3], first, planes, low, high, low_row, high_row;
  unsigned slice; /* distance between planes of unknowns */
  /* this thread's column: relaxed, of the ring, or beyond it, where it is 0 and not read; own_mine: number of its own planes */
  int i, j, parity, there, relaxed;
  unsigned own_mine, column, x_column, y_column;
  real lo_x, hi_x, lo_y, hi_y, omega, keep; /* omega: 0 in columns that are not relaxed */
  /* in shared memory: u of this column, and where it is stored; destination and source of coefficients; coefficients along the last
     axis */
  scalar *here, *put, *put_wrapped;
  real *sent;
  const real *got, *got_wrapped;
  int to_x;
  real_pair *along;
  /* additional loads, by some threads: a column of the ring; or faces after the last line, or beside the last column */
  int faces, ring, ring_parity;
  const real *side;
  unsigned side_slice, side_column;
  real *side_put;

  /* Values in registers, in a separate struct to help the compiler. Of u being loaded: plane 2 T - 1 (before); planes 2 T and 2 T +
     1; the next two; of the ring, indices 2 T - 3 and 2 T, and the next two. */
  struct column_held {
    face_row row[FACE_ROWS];
    scalar u[FACE_VALUES], come[2][2], ring_come[2][2], before, held;
  };

  __device__ __forceinline__ int exists(int a, int k) const { return gmg_index_exists(k, s.n[a], s.ends[a]); }
  /* Index of an unknown (more = 0) or of a face (1) along an axis, or of any other one if the tile does not read it. Along axis 0
     lanes copy different ones: a copy to shared memory is slow if lanes of a warp read the same value (plane_sweep.cuh). */
  __device__ __forceinline__ unsigned index_to_load(int a, int k, int more) const
  {
    const int last = s.n[a] - 1 + more, is_read = k <= begin[a] + own[a] + 1 && (s.ends[a] || (k >= 0 && k <= last));
    if (is_read) return (unsigned)(s.ends[a] ? gmg_wrap_once(k, s.n[a], 1) : k);
    const int lanes = a == 0 ? FACE_WIDE : 1;
    return (unsigned)min(k < lanes ? k + lanes : k - lanes, last);
  }
  __device__ __forceinline__ unsigned level_plane(int q) const { return (unsigned)gmg_wrap_once(first + q, s.n[2], wraps); }

  /* --- before the first step --- */

  __device__ __forceinline__ void place_column(real *tile, real *stage)
  {
    const int me = (int)threadIdx.x, x = me % FACE_WIDE, y = me / FACE_WIDE;
    place_piece(s, s.cut, blockIdx.x, begin, own);
    first = begin[2] - 2, planes = own[2] + 4;
    slice = gmg_pitch_32(s.field, 2);
    i = begin[0] - 1 + x, j = begin[1] - 1 + y, parity = (i + j + first + 1 + s.reversed) & 1;
    there = x < own[0] + 3 && y < own[1] + 3 && exists(0, i) && exists(1, j);
    relaxed = there && x < own[0] + 2 && y < own[1] + 2;
    own_mine = relaxed && x > 0 && x <= own[0] && y > 0 && y <= own[1] ? (unsigned)own[2] : 0;
    const unsigned gi = index_to_load(0, i, 0), gj = index_to_load(1, j, 0);
    column = column_offset(s.layout, gi, gj);
    x_column = column_offset(s.face_at[0], index_to_load(0, i, 1), gj);
    y_column = column_offset(s.face_at[1], gi, index_to_load(1, j, 1));
    lo_x = __ldg(s.lo[0] + gi), hi_x = __ldg(s.hi[0] + gi), lo_y = __ldg(s.lo[1] + gj), hi_y = __ldg(s.hi[1] + gj);
    here = tile + (y + 1) * FACE_PITCH + x + 1, put = here + parity * 2 * FACE_PLANE;
    put_wrapped = put - parity * FACE_VALUES * FACE_PLANE;
    sent = stage + y * slot::pitch + x;
    const int late = (begin[0] - 1) & (slot::unit - 1), late_x = ((int)gj + begin[0] - 1) & (slot::unit - 1);
    got = sent + late + parity * slot::size, got_wrapped = got - parity * FACE_VALUES * slot::size;
    to_x = slot::x + late_x - late;
  }

  __device__ __forceinline__ void place_side(real *tile, real *stage)
  {
    const int me = (int)threadIdx.x, x = me % FACE_WIDE, behind = !by_lines && me >= BEHIND && me < BESIDE;
    faces = behind || (!by_lines && me >= BESIDE && me < BESIDE + FACE_DEEP);
    int rx = me < FACE_DEEP ? -1 : FACE_WIDE, ry = me % FACE_DEEP;
    if (me >= SIDES) rx = (me - SIDES) % FACE_WIDE, ry = me - SIDES < FACE_WIDE ? -1 : FACE_DEEP;
    if (faces) rx = behind ? x : FACE_WIDE, ry = behind ? FACE_DEEP : me - BESIDE;
    const int ri = begin[0] - 1 + rx, rj = begin[1] - 1 + ry;
    ring_parity = (ri + rj + first + 1 + s.reversed) & 1;
    ring = !from_zero && me < RING && rx < own[0] + 3 && ry < own[1] + 3 && exists(0, ri) && exists(1, rj);
    side = !faces ? from : behind ? s.face[1] : s.face[0];
    const pitches &at = !faces ? s.layout : s.face_at[behind];
    side_slice = (unsigned)at.plane;
    side_column = ring ? column_offset(s.layout, gmg_wrap_once(ri, s.n[0], s.ends[0]), gmg_wrap_once(rj, s.n[1], s.ends[1]))
                       : column_offset(s.face_at[behind], index_to_load(0, ri, !behind), index_to_load(1, rj, behind));
    side_put = faces ? stage + (behind ? slot::y : slot::x) + ry * slot::pitch + rx
                     : tile + (ry + 1) * FACE_PITCH + rx + 1 + ring_parity * 2 * FACE_PLANE;
  }
  __device__ __forceinline__ real *ring_slot(int c) const
  {
    return side_put + (c + 2 < FACE_VALUES ? c : c - ring_parity * FACE_VALUES) * FACE_PLANE;
  }

  __device__ __forceinline__ void fill(real *tile)
  {
    const int me = (int)threadIdx.x;
    for (int c = me; c < FACE_VALUES * (FACE_PLANE + slot::size) / 2; c += FACE_THREADS) ((real_pair *)tile)[c] = real_pair{0, 0};
    for (int q = me - FACE_EARLY; q < FACE_MAX_PLANES + FACE_LATE; q += FACE_THREADS) {
      const int is_there = q >= 0 && q < planes && exists(2, first + q),
                k = is_there ? gmg_wrap_once(first + q, s.n[2], s.ends[2]) : 0;
      along[q].x = is_there ? __ldg(s.lo[2] + k) : (real)0, along[q].y = is_there ? __ldg(s.hi[2] + k) : (real)0;
    }
    low = wraps ? 0 : max(0, -first), high = wraps ? planes - 1 : min(planes, s.n[2] - first) - 1;
    low_row = max(low, 1), high_row = min(high, planes - 2);
    omega = relaxed ? s.omega : (real)0, keep = 1 - omega;
  }

  /* --- loads --- */

  __device__ __forceinline__ scalar fetch_u(int q, int live, unsigned from_column) const
  {
    return live && q >= low && q <= high ? gmg_load_relaxed(from + (level_plane(q) * slice + from_column)) : (scalar)0;
  }
  /* loads the coefficients of plane k of the level; all = 0: only its lower faces */
  __device__ __forceinline__ void send_plane(const face_lines<kind> &lines, unsigned k, int at, int all) const
  {
    if (by_lines) {
      lines.send(k, at, all);
      return;
    }
    real *const target = sent + at * slot::size;
    const unsigned g = k * slice + column;
    __pipeline_memcpy_async(target + slot::z, s.face[2] + g, sizeof(real));
    if (!all) return;
    __pipeline_memcpy_async(target + slot::f, f + g, sizeof(real));
    __pipeline_memcpy_async(target + slot::x, s.face[0] + (k * s.face_at[0].plane + x_column), sizeof(real));
    __pipeline_memcpy_async(target + slot::y, s.face[1] + (k * s.face_at[1].plane + y_column), sizeof(real));
    if (kind & GMG_SIGMA) __pipeline_memcpy_async(target + slot::sigma, s.sigma + g, sizeof(real));
  }
  __device__ __forceinline__ void send_side(unsigned k, int at) const
  {
    __pipeline_memcpy_async(side_put + at * slot::size, side + (k * side_slice + side_column), sizeof(real));
  }
  /* loads plane q of the tile, as far as rows need it */
  __device__ __forceinline__ void send(const face_lines<kind> &lines, int q, int at) const
  {
    if (q < low_row || q > high_row + 1) return;
    send_plane(lines, level_plane(q), at, q <= high_row);
    if (q <= high_row && faces) send_side(level_plane(q), at);
  }

  /* --- a step --- */

  /* the register and slot of index c + 2 T0 */
  static __device__ __forceinline__ int index(int c) { return (c + 4 * FACE_VALUES) % FACE_VALUES; }
  static __device__ __forceinline__ int kept(int c) { return index(c) % FACE_ROWS; }
  __device__ __forceinline__ const real *coefficients(int c) const
  {
    return (index(c) + 1 < FACE_VALUES ? got : got_wrapped) + index(c) * slot::size;
  }
  __device__ __forceinline__ int is_relaxed(int q) const { return q >= low_row && q <= high_row; }

  /* the row of plane q, from its coefficients and those of its upper faces */
  template <int checked> __device__ __forceinline__ face_row make_row(int q, const real *p, const real *ceiling) const
  {
    const real_pair z = along[q];
    const int now = !checked || is_relaxed(q);
    gmg_row a = {{lo_x * p[to_x], lo_y * p[slot::y], z.x * p[slot::z]},
                 {hi_x * p[to_x + 1], hi_y * p[slot::y + slot::pitch], z.y * ceiling[slot::z]}, 0};
    a.diag = s.shift + (a.lo[0] + a.hi[0]) + ((a.lo[1] + a.hi[1]) + (a.lo[2] + a.hi[2]));
    if (kind & GMG_SIGMA) { /* the weight depends on couplings, without wall terms */
      a.diag += p[slot::sigma];
      if (!exists(0, i - 1)) a.lo[0] = 0;
      if (!exists(0, i + 1)) a.hi[0] = 0;
      if (!exists(1, j - 1)) a.lo[1] = 0;
      if (!exists(1, j + 1)) a.hi[1] = 0;
      if (!wraps && first + q == 0) a.lo[2] = 0;
      if (!wraps && first + q + 1 == s.n[2]) a.hi[2] = 0;
    }
    const real inverse = face_inverse(a.diag);
    real weight = omega;
    if (kind & GMG_SIGMA) weight = relaxed ? gmg_row_weight(3, kind, a, inverse, s.omega) : (real)0;
    if (!now) weight = 0;
    const real share = now ? weight * inverse : (real)0;
    face_row r;
#pragma unroll
    for (int d = 0; d < 3; d++) r.lo[d] = share * a.lo[d], r.hi[d] = share * a.hi[d];
    r.rhs = share * p[slot::f], r.keep = 1 - weight;
    return r;
  }

  /* 1 - weight. Without sigma it is the same in all relaxed rows, and needs no register. */
  template <int checked> __device__ __forceinline__ real keep_of(const face_row &r, int q) const
  {
    if (kind & GMG_SIGMA) return r.keep;
    return !checked || is_relaxed(q) ? keep : (real)1;
  }

  /* the result of half sweep h for its index */
  template <int checked> __device__ __forceinline__ scalar relax(const column_held &v, int T, int t, int h) const
  {
    const int c = 2 * t - 3 * h;
    const face_row &r = v.row[kept(c)];
    const scalar *const beside = here + index(c + 1) * FACE_PLANE;
    scalar now = r.rhs; /* one chain of fused multiply-adds */
    if (from_zero && h == 1) return now;
    if (!from_zero || h > 2) now += keep_of<checked>(r, 2 * T - 3 * h + parity) * v.u[index(c)];
    now += r.lo[2] * v.u[index(c - 1)], now += r.hi[2] * v.u[index(c + 1)];
    now += r.lo[0] * beside[-1], now += r.hi[0] * beside[1];
    now += r.lo[1] * beside[-FACE_PITCH], now += r.hi[1] * beside[FACE_PITCH];
    return now;
  }

  /* Stores two loaded numbers, and starts to load u for the step after the next. */
  template <int checked> __device__ __forceinline__ void take(column_held &v, int T, int t) const
  {
    const int in_ring = (int)threadIdx.x < RING;
    const unsigned ahead = (unsigned)(first + 2 * T + 4);
    v.u[index(2 * t - 1)] = parity ? v.come[0][0] : v.before, v.u[index(2 * t)] = parity ? v.come[0][1] : v.come[0][0];
    v.before = v.come[0][1];
    (index(2 * t) + 2 < FACE_VALUES ? put : put_wrapped)[index(2 * t) * FACE_PLANE] = v.u[index(2 * t)];
    if (in_ring) {
      *ring_slot(index(2 * t - 3)) = v.ring_come[0][0];
      *ring_slot(index(2 * t)) = v.ring_come[0][1];
    }
#pragma unroll
    for (int d = 0; d < 2; d++) {
      v.come[0][d] = v.come[1][d], v.come[1][d] = 0, v.ring_come[0][d] = v.ring_come[1][d], v.ring_come[1][d] = 0;
      const unsigned ring_ahead = ahead + ring_parity - (d ? 0 : 3);
      if (checked) {
        v.come[1][d] = fetch_u(2 * T + 4 + d, there, column);
        if (in_ring) v.ring_come[1][d] = fetch_u(2 * T + 4 + (d ? 0 : -3) + ring_parity, ring, side_column);
      } else {
        if (there) v.come[1][d] = gmg_load_relaxed(from + ((ahead + d) * slice + column));
        if (ring) v.ring_come[1][d] = gmg_load_relaxed(from + (ring_ahead * slice + side_column));
      }
    }
  }

  template <int checked> __device__ __forceinline__ void step(column_held &v, const face_lines<kind> &lines, int T, int t) const
  {
    const unsigned ahead = (unsigned)(first + 2 * T + 4);
    if (!checked) {
      send_plane(lines, ahead - 1, index(2 * t + 3), 1), send_plane(lines, ahead, index(2 * t + 4), 1);
      if (faces) send_side(ahead - 1, index(2 * t + 3)), send_side(ahead, index(2 * t + 4));
    } else {
      send(lines, 2 * T + 3, index(2 * t + 3)), send(lines, 2 * T + 4, index(2 * t + 4));
    }
    __pipeline_commit();
    scalar now[4];
    now[2] = relax<checked>(v, T, t, 3), now[3] = relax<checked>(v, T, t, 4); /* before new rows overwrite the rows of these */
    v.row[kept(2 * t - 3)] = make_row<checked>(2 * T - 3 + parity, coefficients(2 * t - 3), coefficients(2 * t - 2));
    v.row[kept(2 * t - 6)] = make_row<checked>(2 * T - 6 + parity, coefficients(2 * t - 6), coefficients(2 * t - 5));
    now[0] = relax<checked>(v, T, t, 1), now[1] = relax<checked>(v, T, t, 2);
#pragma unroll
    for (int h = 1; h <= 4; h++) {
      const int c = 2 * t - 3 * h;
      v.u[index(c)] = now[h - 1];
      if (h < 4) (index(c) + 2 < FACE_VALUES ? put : put_wrapped)[index(c) * FACE_PLANE] = now[h - 1];
    }
    /* write back the two numbers that are done */
    const scalar done = v.u[index(2 * t - 13)], also_done = v.u[index(2 * t - 12)];
    const unsigned out = (unsigned)(first + 2 * T - 13) * slice + column;
    if ((unsigned)(2 * T - 15) < own_mine) gmg_store_relaxed(to + out, parity ? v.held : done);
    if ((unsigned)(2 * T - 14) < own_mine) gmg_store_relaxed(to + (out + slice), parity ? done : also_done);
    v.held = also_done;
    if (!from_zero) take<checked>(v, T, t);
    __pipeline_wait_prior(1);
    __syncthreads();
  }

  __device__ __forceinline__ void begin_pass(column_held &v, const face_lines<kind> &lines) const
  {
    v.before = v.held = 0;
#pragma unroll
    for (int T = 0; T < 2 && !from_zero; T++) {
#pragma unroll
      for (int d = 0; d < 2; d++) {
        v.come[T][d] = fetch_u(2 * T + d, there, column);
        v.ring_come[T][d] = (int)threadIdx.x < RING ? fetch_u(2 * T + (d ? 0 : -3) + ring_parity, ring, side_column) : (scalar)0;
      }
    }
#pragma unroll
    for (int c = 0; c < FACE_VALUES; c++) v.u[c] = 0;
#pragma unroll
    for (int c = 0; c < FACE_ROWS; c++) v.row[c] = {{0, 0, 0}, {0, 0, 0}, 0, 1};
    __syncthreads();
    send(lines, 1, 1), send(lines, 2, 2);
    __pipeline_commit();
  }

  __device__ __forceinline__ void run(void)
  {
    extern __shared__ double memory[];
    __shared__ real_pair along_planes[FACE_ALONG];
    real *const tile = (real *)memory, *const stage = tile + FACE_VALUES * FACE_PLANE;
    along = along_planes + FACE_EARLY;
    place_column(tile, stage);
    if (own[2] <= 0) return;
    place_side(tile, stage);
    fill(tile);
    /* steps whose loads all exist, and none is across a seam */
    const int plain_from = max((low_row + 1) / 2, 4), plain_to = (min(high_row, s.n[2] - 1 - first) - 5) / 2;
    face_lines<kind> lines;
    if (by_lines)
      lines.begin(s, f, stage, (int)threadIdx.x, begin[0] - 1,
                  [&](int line, int more) { return index_to_load(1, begin[1] - 1 + line, more); });
    column_held v;
    begin_pass(v, lines);
    for (int T0 = 0; 2 * T0 <= own[2] + FACE_FILL; T0 += FACE_STEPS)
      if (T0 >= plain_from && T0 + FACE_STEPS <= plain_to + 1) {
#pragma unroll
        for (int t = 0; t < FACE_STEPS; t++) step<0>(v, lines, T0 + t, t);
      } else {
#pragma unroll
        for (int t = 0; t < FACE_STEPS; t++) {
          if (2 * (T0 + t) > own[2] + FACE_FILL) return;
          step<1>(v, lines, T0 + t, t);
        }
      }
  }
};

template <int kind, int wraps, int by_lines, int from_zero>
static __global__ void __launch_bounds__(FACE_THREADS, 1)
    face_plane_kernel(const face_level s, const scalar *f, const scalar *from, scalar *to)
{
  face_plane_sweep<kind, wraps, by_lines, from_zero>{s, f, from, to}.run();
}

#endif
