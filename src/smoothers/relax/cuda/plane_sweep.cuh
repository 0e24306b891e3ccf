/* Plane sweep with temporal blocking (2.5D blocking): 3D, constant coefficients, overlap 1. One pass over memory does HALF_SWEEPS
   half sweeps of a block: 4 are two local red-black sweeps, 2 are one exact synchronous sweep. For an exact sweep a block reads
   values from before the sweep, in two layers around it, and computes the same as red and black one after the other. Included by
   plane_passes.cuh, which has the kernels.

   A thread has two columns of the tile along the last axis, one behind the other. A thread block has the columns of a block of
   unknowns, one layer around them, and a ring that is only read and loaded separately. Planes stream through. Column A of a thread
   is the one whose even planes are relaxed first, B is the other. Which of the two is in front alternates from lane to lane.

   Four half sweeps are in progress at once, three planes apart, so that none writes what another reads in the same step. A step
   advances by two planes and has one barrier. In step T
   - half sweep h = 1..4 relaxes plane q = 2 T - 3 h of column A, and plane q + 1 of column B;
   - planes 2 T - 13 and 2 T - 12 are done and written back; planes 2 T and 2 T + 1 are loaded.

   (One exact sweep: h = 1, 2; planes 2 T - 7 and 2 T - 6 are done; 12 slots, six steps.)

   A thread keeps the planes of its own columns in registers, with index q (A) or q - 1 (B), and stores them for its neighbours in
   shared memory: plane q in slot q % 16 for A, in slot (q + 1) % 16 for B. All neighbours of an A are Bs, and vice versa. The slots
   that a half sweep reads, 2 T - 3 h + 1 of the other kind, are not written in the same step. Eight steps are unrolled, after which
   registers and slots repeat, so all indices are constants.

   At 512^3 the pass is limited by the number of its instructions, by traffic through shared memory, and by latency, because there
   are only 16 warps. Therefore
   - planes are loaded and stored whole, and assigned to A and B afterwards;
   - f is copied to shared memory without a register, and one neighbour across is in a register;
   - u and f are loaded ahead, because little else hides the latency of memory;
   - steps without checks load and store without conditions: who has nothing to store writes to a place that nobody reads, and
     who has nothing to load loads another value (index_to_load);
   - no value is spilled in these steps: a load of a spilled value waits for all loads from memory before it. */
#ifndef GMG_SMOOTHERS_RELAX_CUDA_PLANE_SWEEP_H
#define GMG_SMOOTHERS_RELAX_CUDA_PLANE_SWEEP_H

#include "core/cuda/atomics.cuh"
#include "geometry.cuh"
#include "plane_base.cuh"
#include "plane_prolong.cuh"
#include "plane_restrict.cuh"

#include <cuda_pipeline.h>

/* A thread's data of a column. */
typedef struct {
  int exists, mine, inside;
  int offset; /* offset in a plane of the level */
  real inverse; /* 1 / diagonal inside the level, or 0 */
} column;

/* The index of an unknown, or if there is none, of another one to load, whose value is not used. `lanes` lanes of a warp have
   adjacent indices. They get different ones, because a copy to shared memory is slow if lanes of a warp read one value: a solve
   at 512^3 takes 12.8 ms on an H200, and 14.7 ms if these lanes read the nearest unknown. */
static __device__ __forceinline__ int index_to_load(int i, int n, int ends, int lanes)
{
  if (gmg_index_continues(i, n, ends)) return min(max(gmg_fold_index(i, n, ends), 0), n - 1); /* tiles may be longer */
  return i < 0 ? min(i + lanes, n - 1) : max(min(i - lanes, n - 1), 0);
}

/* Column (x, y) of a tile, which is column (i, j) of the level. The tile has one column around the own ones. spare: the first own
   line is another block's. */
static __device__ __forceinline__ column column_of(const uniform_level &s, int i, int j, int x, int y, const int own[3], int spare)
{
  column c;
  c.inside = x < own[0] + 2 && y < own[1] + 2;
  c.exists = c.inside && gmg_index_continues(i, s.n[0], s.ends[0]) && gmg_index_continues(j, s.n[1], s.ends[1]);
  c.mine = c.exists && x > 0 && x <= own[0] && y > spare && y <= own[1];
  const int gi = index_to_load(i, s.n[0], s.ends[0], 32), gj = index_to_load(j, s.n[1], s.ends[1], 1);
  c.offset = column_offset(s.layout, gi, gj);
  const real diag = gmg_at(s.diag[0], gi) + gmg_at(s.diag[1], gj) + gmg_at(s.diag[2], 1) + s.shift;
  c.inverse = c.exists ? 1 / diag : (real)0;
  return c;
}

/* A pass over one block. In an exact sweep (HALF_SWEEPS 2) the values that other blocks read are written to interface_copy.

   An exact sweep from zero with restriction is self-contained: a block also computes the final values beside its own unknowns, and
   restricts its residual without other blocks. In the ring it only needs the result of the first half sweep, which depends on f
   alone. */
template <int HALF_SWEEPS, int KIND> struct plane_sweep {
  typedef plane_shape<HALF_SWEEPS> shape;
  static constexpr int PITCH = shape::pitch, PLANE = shape::plane, COLOUR = shape::colour, THREADS = shape::threads;
  static constexpr int STEPS = shape::steps, SLOTS = shape::slots, DONE = 3 * HALF_SWEEPS + 1;
  static constexpr int from_zero = KIND & PASS_FROM_ZERO, prolongs = KIND & PASS_PROLONG, restricts = KIND & PASS_RESTRICT,
                       updates = KIND & PASS_UPDATE, has_base = KIND & PASS_BASE, exact = HALF_SWEEPS == 2,
                       self_contained = exact && from_zero && restricts;
  typedef plane_restriction<THREADS, self_contained> residual_restriction;
  typedef plane_prolongation<shape::rows, shape::steps, !(KIND & PASS_UNPAIRED)> prolongation;
  typedef plane_base<shape::rows, shape::steps> base_interpolation;
  static constexpr int keeps_f = shape::keeps_f && !prolongs && !restricts; /* these need the registers for other values */
  static constexpr int F_AHEAD = restricts ? 1 : 2; /* f of plane 2 T + F_AHEAD, and of the next, is loaded in step T */
  static constexpr int plain_groups = HALF_SWEEPS == 4 && !(shape::is_double && prolongs);

  const uniform_level &s;
  const scalar *const f, *const from;
  scalar *const to, *const interface_copy;
  const update_output &o;
  const restriction_output &r;

  /* The tile. begin, own: its own unknowns. Plane q is plane first + q of the level. exist_begin .. exist_end - 1: planes that
     exist; low .. top - 1: planes that are relaxed. wall_low, wall_high: planes at walls, where the diagonal is larger. */
  int begin[3], own[3], first, planes, exist_begin, exist_end, low, top, wall_low, wall_high;
  real more_low, more_high; /* by how much larger */
  /* this thread's columns, the first and the second; swap: A is the second */
  int i, j, swap;
  column row0, row1;
  real inverse_a, inverse_b;
  /* In shared memory. near_A, near_B: where the neighbours of A and B are read; the one in an adjacent row of threads is `beyond`
     places away. put_A, put_B: where A and B are stored, which is a corner of the tile if they are outside. Nobody reads corners.
     f_rows, f_A, f_B: f of both columns, of A, of B. */
  const scalar *near_A, *near_B;
  int beyond;
  scalar *put_A, *put_B, *f_rows, *f_A, *f_B;
  /* a column of the ring, for some threads; others store in a corner; ring_parity: 0: an A, 1: a B */
  int ri, rj, ring_exists, ring_offset, ring_parity;
  scalar *ring_put, *ring_wrapped;
  real ring_inverse;
  /* destinations of the own unknowns; other blocks read planes below low_interface, and from high_interface on */
  scalar *to_0, *to_1;
  int low_interface, high_interface;
  double scale;

  /* Values in registers, in a separate struct to help the compiler: planes of A, of B, of f; values being loaded,
     come[step][plane][row]. */
  struct planes_held {
    scalar a[SLOTS], bb[SLOTS], f_a[SLOTS], f_b[SLOTS], come[2][2][2], ring_come[2][2];
  };

  /* a plain pass may be the first of several from zero */
  __device__ __forceinline__ int has_guess(void) const { return !from_zero && (KIND != 0 || from); }
  __device__ __forceinline__ int is_there(int q) const { return q >= exist_begin && q < exist_end; }
  __device__ __forceinline__ int offset(int q) const { return gmg_fold_index(first + q, s.n[2], s.ends[2]) * s.layout.plane; }
  __device__ __forceinline__ tile_planes along(void) const { return {first, s.n[2], s.ends[2], exist_begin, exist_end}; }
  __device__ __forceinline__ int is_wall(int q) const { return q == wall_low || q == wall_high; }
  __device__ __forceinline__ real more_at(int q) const { return q == wall_high ? more_high : more_low; }
  /* 1 / diagonal of a column on plane q at a wall; inverse: on other planes */
  __device__ __forceinline__ real at_wall(real inverse, int q) const { return inverse / (1 + inverse * more_at(q)); }

  /* --- before the first step --- */

  __device__ __forceinline__ void place_columns(size_t block_index, scalar *tile)
  {
    const int me = (int)threadIdx.x, x = me % 32, y = me / 32;
    place_block(s, exact ? (int)block_index : block_at(s, (unsigned)block_index), begin, own);
    /* lines go in pairs, unless beyond the last there is nothing */
    const int spare = own[1] & 1 && s.ends[1];
    begin[1] -= spare, own[1] += spare;
    first = begin[2] - 2, planes = own[2] + 4;
    i = begin[0] - 1 + x, j = begin[1] - 1 + 2 * y;
    swap = (i + j + first + 1 + s.reversed) & 1;
    row0 = column_of(s, i, j, x, 2 * y, own, spare), row1 = column_of(s, i, j + 1, x, 2 * y + 1, own, spare);
    const int inside_a = swap ? row1.inside : row0.inside, inside_b = swap ? row0.inside : row1.inside;
    inverse_a = swap ? row1.inverse : row0.inverse, inverse_b = swap ? row0.inverse : row1.inverse;
    const int cell = (y + 1) * PITCH + x + 1;
    near_A = tile + COLOUR + cell, near_B = tile + cell;
    beyond = (swap ? 1 : -1) * PITCH;
    put_A = inside_a ? tile + cell : tile, put_B = tile + COLOUR + (inside_b ? cell : 0);
    f_rows = tile + 2 * COLOUR + me, f_A = f_rows + swap * THREADS, f_B = f_rows + (1 - swap) * THREADS;
  }

  __device__ __forceinline__ void place_ring(scalar *tile)
  {
    const int me = (int)threadIdx.x, wide = own[0] + 2, high = own[1] + 2, sides = 2 * high, ring = sides + 2 * wide;
    int rx = me < high ? -1 : wide, ry = me % high;
    if (me >= sides) rx = (me - sides) % wide, ry = me - sides < wide ? -1 : high;
    ri = begin[0] - 1 + rx, rj = begin[1] - 1 + ry;
    ring_exists = me < ring && gmg_index_continues(ri, s.n[0], s.ends[0]) && gmg_index_continues(rj, s.n[1], s.ends[1]);
    ring_offset = column_offset(s.layout, begin[0], min(max(j, 0), s.n[1] - 1)); /* if there is no column */
    if (ring_exists)
      ring_offset = column_offset(s.layout, gmg_fold_index(ri, s.n[0], s.ends[0]), gmg_fold_index(rj, s.n[1], s.ends[1]));
    ring_parity = (ri + rj + first + 1 + s.reversed) & 1;
    const int cell = ring_exists ? ((ry >> 1) + 1) * PITCH + rx + 1 : 0;
    ring_put = tile + ring_parity * (COLOUR + 2 * PLANE) + cell; /* position in the lower slots */
    ring_wrapped = ring_put - ring_parity * SLOTS * PLANE, ring_inverse = 0;
    if (!self_contained || !ring_exists) return;
    const int gi = gmg_fold_index(ri, s.n[0], s.ends[0]), gj = gmg_fold_index(rj, s.n[1], s.ends[1]);
    ring_inverse = 1 / (gmg_at(s.diag[0], gi) + gmg_at(s.diag[1], gj) + gmg_at(s.diag[2], 1) + s.shift);
  }

  __device__ __forceinline__ void place_planes(void)
  {
    const int wraps = s.ends[2] & GMG_WRAPS;
    exist_begin = s.ends[2] & (GMG_WRAPS | GMG_MIRRORS_BELOW) ? 0 : max(0, -first);
    exist_end = s.ends[2] & (GMG_WRAPS | GMG_MIRRORS_ABOVE) ? planes : min(planes, s.n[2] - first);
    low = self_contained ? exist_begin : max(exist_begin, 1), top = self_contained ? exist_end : min(exist_end, planes - 1);
    wall_low = wraps ? -64 : -first, wall_high = wraps ? -64 : s.n[2] - 1 - first;
    const real inner = gmg_at(s.diag[2], 1);
    more_low = gmg_at(s.diag[2], 0) - inner, more_high = gmg_at(s.diag[2], s.n[2] - 1) - inner;
  }

  __device__ __forceinline__ void place_targets(void)
  {
    const auto target_of = [&](const column &c, int ci, int cj) {
      return exact && c.mine && (seen_by_others(s, 0, ci) || seen_by_others(s, 1, cj)) ? interface_copy : to;
    };
    to_0 = target_of(row0, i, j), to_1 = target_of(row1, i, j + 1);
    const int wraps = s.ends[2] & GMG_WRAPS;
    low_interface = wraps || begin[2] > 0 ? 4 : 0, high_interface = wraps || begin[2] + own[2] < s.n[2] ? own[2] : planes;
  }

  __device__ __forceinline__ void begin_pass(scalar *tile, planes_held &v, prolongation &correction,
                                             residual_restriction &restricted, base_interpolation &interpolated)
  {
    const int me = (int)threadIdx.x, count = (int)blockDim.x;
#pragma unroll
    for (int c = 0; c < SLOTS; c++) v.a[c] = v.bb[c] = v.f_a[c] = v.f_b[c] = 0;
    for (int c = me; c < shape::reals; c += count) tile[c] = 0;
    if (!from_zero) load(0, v.come[0]);
    if (!from_zero) load_beside<1>(0, 0, v.ring_come[0]);
    if (self_contained) load_ring(0, v.ring_come[0]);
    if (prolongs) {
      correction.begin(o, s.n, s.ends, begin, me, swap, i, j, row0.exists, row1.exists, ri, rj, ring_exists, tile + shape::reals);
      correction.fill(o, along(), swap);
    }
    if (has_base) interpolated.begin(o, s.n, s.ends, i, j, tile + shape::reals + prolongation::REALS);
    if (restricts) {
      const real out = s.coupling[0] + s.coupling[1] + s.coupling[2];
      const real inner0 = row0.inverse > 0 ? 1 / row0.inverse - out : (real)0,
                 inner1 = row1.inverse > 0 ? 1 / row1.inverse - out : (real)0;
      restricted.begin(r, s.ends, begin, own, me, i, j, inner0, inner1, tile + shape::reals);
    }
    scale = updates ? update_scale(o) : 0;
    __syncthreads();
    for (int q = 0; q < F_AHEAD; q++)
      if (is_there(q)) load_f(q, offset(q));
    __pipeline_commit();
  }

  /* --- loads --- */

  /* loads a plane of f, two steps ahead, without a register */
  __device__ __forceinline__ void load_f(int slot, int p) const
  {
    scalar *const slots = f_rows + slot * 2 * THREADS;
    __pipeline_memcpy_async(slots, f + (p + row0.offset), sizeof(scalar));
    __pipeline_memcpy_async(slots + THREADS, f + (p + row1.offset), sizeof(scalar));
  }
  /* loads a plane of u; p: its offset */
  __device__ __forceinline__ void load_u(int p, scalar u[2]) const
  {
    u[0] = u[1] = 0;
    if (!has_guess()) return;
    if (row0.exists) u[0] = gmg_load_relaxed(from + (p + row0.offset));
    if (row1.exists) u[1] = gmg_load_relaxed(from + (p + row1.offset));
  }
  /* loads the planes of u that step T needs */
  __device__ __forceinline__ void load(int T, scalar u[2][2]) const
  {
#pragma unroll
    for (int d = 0; d < 2; d++) {
      const int q = 2 * T + d;
      u[d][0] = u[d][1] = 0;
      if (is_there(q)) load_u(offset(q), u[d]);
    }
  }
  /* loads them for step T + 1; base: offset of plane 2 T */
  template <int checked> __device__ __forceinline__ void load_next(int T, int base, scalar u[2][2]) const
  {
    if (checked) load(T + 1, u);
#pragma unroll
    for (int d = 0; !checked && d < 2; d++) load_u(base + (2 + d) * s.layout.plane, u[d]);
  }
  /* loads the ring's planes with the indices of A and B that step T needs; base: offset of plane 2 T */
  template <int checked> __device__ __forceinline__ void load_beside(int T, int base, scalar beside[2]) const
  {
#pragma unroll
    for (int d = 0; d < 2; d++) {
      const int p = 2 * T - 1 + d + ring_parity;
      beside[d] = 0;
      if (checked && has_guess() && ring_exists && is_there(p)) beside[d] = gmg_load_relaxed(from + (offset(p) + ring_offset));
      if (!checked && has_guess())
        beside[d] = gmg_load_relaxed(from + (base + (d - 1 + ring_parity) * s.layout.plane + ring_offset));
    }
  }
  /* self-contained: loads f on the plane of the ring that the first half sweep relaxes */
  __device__ __forceinline__ void load_ring(int T, scalar beside[2]) const
  {
    const int p = 2 * T - 1 + ring_parity;
    beside[0] = ring_exists && is_there(p) ? __ldg(f + (offset(p) + ring_offset)) : (scalar)0;
  }

  /* --- a step --- */

  /* The half sweeps of a step. None reads what another writes here. */
  template <int checked> __device__ __forceinline__ void relax(planes_held &v, int T, int t)
  {
    scalar now_a[HALF_SWEEPS], now_b[HALF_SWEEPS];
#pragma unroll
    for (int h = 1; h <= HALF_SWEEPS; h++) {
      const int q = 2 * T - 3 * h, c = (2 * t - 3 * h + 2 * SLOTS) % SLOTS, up = (c + 1) % SLOTS, down = (c + SLOTS - 1) % SLOTS;
      const scalar *const by_A = near_A + up * PLANE, *const by_B = near_B + up * PLANE;
      if (h <= 2 || !keeps_f) v.f_a[c] = f_A[c * 2 * THREADS], v.f_b[c] = f_B[up * 2 * THREADS]; /* 3 and 4 use them again */
      scalar sum_a = v.f_a[c], sum_b = v.f_b[c];
      const int zeros = from_zero && h == 1; /* all neighbours are 0 */
      if (!zeros) sum_a += s.coupling[0] * (by_A[-1] + by_A[1]), sum_b += s.coupling[0] * (by_B[-1] + by_B[1]);
      const real across = s.coupling[1]; /* B's plane q has index q - 1, A's plane q + 1 index q + 1 */
      if (!zeros) sum_a += across * (by_A[beyond] + v.bb[down]), sum_b += across * (by_B[-beyond] + v.a[up]);
      if (!zeros) sum_a += s.coupling[2] * (v.a[down] + v.a[up]), sum_b += s.coupling[2] * (v.bb[down] + v.bb[up]);
      real by_a = inverse_a, by_b = inverse_b;
      if (checked && is_wall(q)) by_a = at_wall(by_a, q);
      if (checked && is_wall(q + 1)) by_b = at_wall(by_b, q + 1);
      const real w = s.weight[h - 1]; /* values that do not exist are 0 and stay 0 */
      if (from_zero && h <= 2) now_a[h - 1] = w * (by_a * sum_a), now_b[h - 1] = w * (by_b * sum_b); /* the old values are 0, too */
      else now_a[h - 1] = v.a[c] + w * (by_a * sum_a - v.a[c]), now_b[h - 1] = v.bb[c] + w * (by_b * sum_b - v.bb[c]);
    }
#pragma unroll
    for (int h = 1; h <= HALF_SWEEPS; h++) {
      const int q = 2 * T - 3 * h, c = (2 * t - 3 * h + 2 * SLOTS) % SLOTS;
      const int do_a = !checked || (q >= low && q < top), do_b = !checked || (q + 1 >= low && q + 1 < top);
      if (do_a) v.a[c] = now_a[h - 1];
      if (do_b) v.bb[c] = now_b[h - 1];
      if (h == HALF_SWEEPS) continue; /* nobody reads them */
      if (do_a) put_A[c * PLANE] = now_a[h - 1];
      if (do_b) put_B[(c + 2) % SLOTS * PLANE] = now_b[h - 1];
    }
  }

  /* Writes back the two planes that are done, and gathers their contributions to the coarse level. */
  template <int checked>
  __device__ __forceinline__ void write_back(const planes_held &v, residual_restriction &restricted,
                                             base_interpolation &interpolated, const prolongation &correction, int T, int t,
                                             int base)
  {
    scalar value[2][2] = {}, rhs[2][2] = {};
    double base_x[2][2] = {};
    if constexpr (has_base) {
      double e[2];
      interpolated.across(correction, t % base_interpolation::SLOTS, e);
      interpolated.template take<checked>(o, first + 2 * T - DONE, s.n[2], e, base_x);
    }
    real more[2] = {};
    constexpr int FIRST_COARSE = (DONE + 5) / 2; /* the step that adds to the block's first coarse plane */
    constexpr int NONE = FIRST_COARSE - 2 + self_contained; /* the last step that gives nothing */
    static_assert(NONE < STEPS, "a step without checks gives");
    if (restricts && (!checked || T > NONE) && (!self_contained || 2 * (T - FIRST_COARSE) < own[2])) {
      const int K = begin[2] / 2 + T - FIRST_COARSE; /* before the first one it may not exist */
      if (checked || STEPS + t < FIRST_COARSE) restricted.template give<1>(r, s.ends[2], K, t, (int)threadIdx.x);
      else restricted.template give<0>(r, s.ends[2], K, t, (int)threadIdx.x);
    }
#pragma unroll
    for (int d = 0; d < 2; d++) {
      const int q = 2 * T - DONE + d, c = (2 * t - DONE + d + 2 * SLOTS) % SLOTS;
      const scalar of_A = v.a[c], of_B = v.bb[(c + SLOTS - 1) % SLOTS];
      if (checked && (q < 2 - self_contained || q >= own[2] + 2 + self_contained)) continue;
      const int is_own = !self_contained || !checked || (q >= 2 && q < own[2] + 2);
      const int p = base + (d - DONE) * s.layout.plane, is_interface = exact && (q < low_interface || q >= high_interface);
      scalar *const target_0 = is_interface ? interface_copy : to_0, *const target_1 = is_interface ? interface_copy : to_1;
      const scalar of_0 = swap ? of_B : of_A, of_1 = swap ? of_A : of_B;
      if (restricts) {
        const scalar *const rows = f_rows + c * 2 * THREADS;
        value[d][0] = (self_contained ? row0.exists : row0.mine) ? of_0 : (scalar)0;
        value[d][1] = (self_contained ? row1.exists : row1.mine) ? of_1 : (scalar)0;
        rhs[d][0] = row0.mine ? rows[0] : (scalar)0, rhs[d][1] = row1.mine ? rows[THREADS] : (scalar)0;
        if (checked && is_wall(q)) more[d] = more_at(q);
      }
      if (updates) {
        const int mine[2] = {row0.mine, row1.mine}, there = p + update_gap(o, j, first + q);
        const int offsets[2] = {there + row0.offset, there + row1.offset + o.row_gap};
        const scalar done[2] = {of_0, of_1};
        if (has_base) put_updates_on(o, scale, mine, offsets, done, base_x[d]);
        else put_updates(o, scale, mine, offsets, done);
      } else if (is_own) {
        if (row0.mine) gmg_store_relaxed(target_0 + (p + row0.offset), of_0);
        if (row1.mine) gmg_store_relaxed(target_1 + (p + row1.offset), of_1);
      }
    }
    if (restricts) restricted.take(s.coupling, value, rhs, more, t);
  }

  /* Stores the two new planes, 2 T and 2 T + 1, and the ring's. come: by plane and row, without the correction */
  template <int checked>
  __device__ __forceinline__ void take(planes_held &v, prolongation &correction, int T, int t, const scalar come[2][2],
                                       scalar beside[2])
  {
    scalar u[2][2];
#pragma unroll
    for (int d = 0; d < 2; d++) u[d][0] = swap ? come[d][1] : come[d][0], u[d][1] = swap ? come[d][0] : come[d][1];
    if (prolongs) correction.template take<checked>(o, along(), T, t, swap, ring_parity, u, beside);
#pragma unroll
    for (int d = 0; d < 2; d++) {
      const int c = 2 * t + d, ring = (2 * t - 1 + d + SLOTS) % SLOTS;
      v.a[c] = u[d][0], v.bb[(c + SLOTS - 1) % SLOTS] = u[d][1];
      put_A[c * PLANE] = u[d][0], put_B[(c + 1) % SLOTS * PLANE] = u[d][1];
      if (!self_contained) (ring < SLOTS - 2 ? ring_put : ring_wrapped)[ring * PLANE] = beside[d];
    }
  }

  /* self-contained: the ring after the first half sweep. */
  template <int checked> __device__ __forceinline__ void relax_ring(int T, int t, scalar rhs)
  {
    const int q = 2 * T - 1 + ring_parity, c = (2 * t - 1 + SLOTS) % SLOTS;
    real by = ring_inverse;
    if (checked && is_wall(q)) by = at_wall(by, q);
    (c < SLOTS - 2 ? ring_put : ring_wrapped)[c * PLANE] = s.weight[0] * (by * rhs);
  }

  template <int checked>
  __device__ __forceinline__ void step(planes_held &v, prolongation &correction, residual_restriction &restricted,
                                       base_interpolation &interpolated, int T, int t)
  {
    /* opaque: otherwise the compiler keeps a pointer to every value that a step loads, and spills registers */
    const int base = (int)opaque((unsigned)((first + 2 * T) * s.layout.plane)), now = t % 2, next = (t + 1) % 2;
    if (!from_zero) load_next<checked>(T, base, v.come[next]);
    if (!from_zero) load_beside<checked>(T + 1, base + 2 * s.layout.plane, v.ring_come[next]);
    if (self_contained && checked) load_ring(T + 1, v.ring_come[next]);
    if (self_contained && !checked)
      v.ring_come[next][0] = __ldg(f + (base + (1 + ring_parity) * s.layout.plane + ring_offset));
#pragma unroll
    for (int d = F_AHEAD; d < F_AHEAD + 2; d++)
      if (!checked || is_there(2 * T + d)) load_f((2 * t + d) % SLOTS, checked ? offset(2 * T + d) : base + d * s.layout.plane);
    if (prolongs) correction.load_ahead(o, along(), T, t);
    if constexpr (has_base) /* what step T + 3 needs */
      interpolated.load(o, correction, s.ends[2], (first + 2 * T - DONE + 7) >> 1, (t + 3) % base_interpolation::SLOTS);
    __pipeline_commit();
    __pipeline_wait_prior(2);
    relax<checked>(v, T, t);
    write_back<checked>(v, restricted, interpolated, correction, T, t, base);
    if (self_contained) relax_ring<checked>(T, t, v.ring_come[now][0]);
    if (checked || !from_zero) /* from zero: values are 0, or are relaxed before they are read */
      take<checked>(v, correction, T, t, v.come[now], v.ring_come[now]);
    __syncthreads();
  }

  /* Steps need no checks if all their planes exist, none is at a wall, and none is beyond an end of the axis. With plain_groups
     these steps run in whole groups, whose instructions are contiguous. Upward legs in double spill registers with groups, and
     single red-black sweeps are slower. At 512^3 on an H200:
     - a pass in double takes 1.28 instead of 1.33 ms;
     - a V(1,1) cycle in mixed precision takes 2.86 instead of 2.91 ms. */
  __device__ __forceinline__ void run(size_t block_index)
  {
    extern __shared__ double memory[];
    scalar *const tile = (scalar *)memory;
    place_columns(block_index, tile);
    place_ring(tile);
    place_planes();
    planes_held v = {};
    prolongation correction;
    residual_restriction restricted;
    base_interpolation interpolated;
    begin_pass(tile, v, correction, restricted, interpolated);
    place_targets();
    const int plain_from = STEPS, plain_to = (min(exist_end, s.n[2] - first) - 2) / 2;
    const int last = (own[2] + DONE + 1) / 2 + (restricts ? 3 : 1);
    for (int T0 = 0; T0 < last; T0 += STEPS) {
      if (plain_groups && T0 >= plain_from && T0 + STEPS <= plain_to) {
#pragma unroll
        for (int t = 0; t < STEPS; t++) step<0>(v, correction, restricted, interpolated, T0 + t, t);
        continue;
      }
#pragma unroll
      for (int t = 0; t < STEPS; t++) {
        const int T = T0 + t;
        if (!plain_groups && T >= plain_from && T < plain_to) step<0>(v, correction, restricted, interpolated, T, t);
        else if (T < last) step<1>(v, correction, restricted, interpolated, T, t);
      }
    }
  }
};

#endif
