/* Packed tiles, for levels that fit in the cache: 3D, constant coefficients, float, local red-black sweeps, overlap 1. Included by
   async/cuda/tiles_packed.cu.

   Such levels are not limited by memory bandwidth, but by the instructions of a relaxation and the latency of loading a block. A
   block is a tile on chip, with the ring around it. A thread holds a patch of 2 x 2 columns with HIGH unknowns each, and their f,
   in registers. Of the six neighbours of an unknown only two or three are read from shared memory. All loads of a patch are issued
   at once. Patches begin at even places of the tile. Which of their unknowns are red is the same for all threads, and known to the
   compiler except for one bit. In shared memory each unknown of a patch is an array over the threads. A thread accesses its own
   place and those of adjacent threads, at distances known to the compiler, without bank conflicts.

   PASS_UPDATE loads pairs of the target to shared memory while the patch is relaxed. PASS_PROLONG loads coarse values before that.
   With PASS_RESTRICT a patch is a column of coarse unknowns.

   Two kinds of ends take kernels of their own (`special`). Behind a wall that mirrors, an unknown's neighbour is the one on the
   other side, so that one counts twice. On an odd periodic axis a pair may have an unknown on each side of the seam. */
#ifndef GMG_SMOOTHERS_RELAX_CUDA_TILE_PACKED_H
#define GMG_SMOOTHERS_RELAX_CUDA_TILE_PACKED_H

#include "tile_packed_parts.cuh"

#if GMG_REAL_F32 /* in double a patch needs twice the registers */

/* A pass over one block.
   - aligned: pairs of values are aligned in memory, and whole: the level has an even size along axis 0. On other levels the last
     pair may have only its first unknown.
   - special: walls may mirror, and periodic axes may be odd. */
template <class shape, int KIND, int aligned, int special> struct packed_sweep {
  static constexpr int from_zero = KIND & PASS_FROM_ZERO, updates = KIND & PASS_UPDATE, prolongs = KIND & PASS_PROLONG,
                       restricts = KIND & PASS_RESTRICT;
  static constexpr int leg = updates | restricts; /* f is older than the preceding kernel, and so is u if a correction is added */
  static constexpr int HIGH = shape::high, X = shape::x, LAYER = shape::layer, ROOM = shape::room, CELLS = 4 * HIGH;

  const packed_level &s;
  const scalar *const f, *const from;
  scalar *const to;
  const update_output &o;
  const restriction_output &r;

  /* of the tile: origin, own planes, and sweeps. Of the patch: its first unknown in the tile; whether its pairs along axis 0 exist,
     and belong to the block; whether their second unknowns do; from the first unknown of a pair to the second; its first plane
     before wrapping; its first unknown in the level; planes from `fold` on are wrapped */
  int origin0, origin1, origin2, own2, sweeps, x, y, z, pair, pair_mine, whole, whole_mine, step, first, gi, gk, fold;
  unsigned planes, relaxed;
  /* in shared memory: pairs of the update target; start of the values; the patch's own values, those below, those above */
  double2 *kept;
  scalar *start, *tile;
  const scalar *under, *over;
  unsigned wall; /* planes at a wall; a patch has at most one */
  unsigned mirror_below, mirror_above; /* planes at a wall that mirrors */
  real inner, outer;

  /* Values in registers, in a separate struct to help the compiler. u and f of the patch; 1 / diagonal of the columns, inside
     and in a plane at a wall. For each line of the patch: whether it exists, is relaxed, belongs to the block; index, offset. */
  struct packed_held {
    scalar u[CELLS], rhs[CELLS];
    real inside[4], at_wall[4];
    packed_ties x[2], y[2]; /* special: of the first and second unknown of a pair, and of a pair of lines */
    int there[2], line_relaxed[2], mine[2], gj[2], offset[2];
  };

  /* pairs of the patch as bits: those of row d from bit d HIGH on */
  static __device__ __forceinline__ unsigned pairs_of(int any, const int row[2], unsigned bits)
  {
    return opaque(any ? (row[0] ? bits : 0) | (row[1] ? bits << HIGH : 0) : 0);
  }
  __device__ __forceinline__ unsigned own_pairs(const packed_held &v) const
  {
    return pairs_of(pair_mine, v.mine, bit_range(z, HIGH, 2, own2 + 1));
  }
  /* offset of plane c of line d of the patch in the level's fields */
  __device__ __forceinline__ int offset_of(const packed_held &v, int d, int c) const
  {
    return v.offset[d] + (c >= fold ? c - s.n[2] : c) * (int)gmg_pitch_32(s.layout, 2);
  }
  /* offset of plane c of line d of the patch in x of an update target */
  __device__ __forceinline__ int offset_in_x(const packed_held &v, int d, int c) const
  {
    return offset_of(v, d, c) + update_gap(o, v.gj[d], c >= fold ? gk + c - s.n[2] : gk + c);
  }

  /* Positions block number `block_index` of the given order. Own unknowns are at 2 .. own + 1 of the tile, relaxed ones at 1 .. own
     + 2. */
  __device__ __forceinline__ void place(unsigned block_index, packed_held &v, int column_relaxed[2])
  {
    extern __shared__ double memory[];
    const int me = (int)threadIdx.x;
    x = 2 * (me % X), y = 2 * (me / X % shape::y), z = me / LAYER * HIGH;
    kept = (double2 *)memory + me;
    start = (scalar *)(memory + (updates && s.keeps_pairs ? 2 * shape::pairs : 0)), tile = start + X + me;
    /* the segments below and above. If one is missing, the other: a place that nobody writes while it is read */
    under = tile + (me >= LAYER ? -LAYER : LAYER);
    over = shape::z == 2 || me >= shape::threads - LAYER ? under : tile + LAYER;
    const unsigned number = __ldg(s.order + (s.reversed ? s.total - 1 - block_index : block_index));
    const int at[3] = {(int)(number & PACKED_MASK), (int)(number >> PACKED_BITS & PACKED_MASK), (int)(number >> 2 * PACKED_BITS)};
    int origin[3], own[3], low[3], high[3]; /* low .. high: coordinates that exist */
#pragma unroll
    for (int a = 0; a < 3; a++) {
      const int begin = at[a] * s.own[a];
      origin[a] = begin - 2, own[a] = min(s.own[a], s.n[a] - begin);
      low[a] = s.around[a] ? 0 : max(0, -origin[a]);
      high[a] = s.around[a] ? own[a] + 3 : min(own[a] + 3, s.n[a] - 1 - origin[a]);
    }
    origin0 = origin[0], origin1 = origin[1], origin2 = origin[2], own2 = own[2];
    pair = x >= low[0] && x <= high[0], pair_mine = x >= 2 && x < own[0] + 2, whole = aligned || x < high[0];
    whole_mine = aligned || x < own[0] + 1;
    column_relaxed[0] = pair && x > 0 && x < own[0] + 3, column_relaxed[1] = pair && whole && x < own[0] + 2;
#pragma unroll
    for (int d = 0; d < 2; d++) {
      v.there[d] = y + d >= low[1] && y + d <= high[1], v.mine[d] = y + d >= 2 && y + d < own[1] + 2;
      v.line_relaxed[d] = v.there[d] && y + d >= 1 && y + d <= own[1] + 2;
    }
    planes = bit_range(z, HIGH, low[2], high[2]), relaxed = planes & bit_range(z, HIGH, 1, own2 + 2);
    first = origin2 + z, gi = pair ? gmg_wrap_once_by(origin0 + x, s.n[0], s.around[0]) : 0;
    gk = gmg_wrap_once_by(first, s.n[2], s.around[2]), fold = s.around[2] ? s.n[2] - gk : HIGH;
    step = special && !aligned && gi + 1 == s.around[0] ? -gi : 1;
    sweeps = s.sweeps;
    if (special) {
      int seam = 0;
#pragma unroll
      for (int a = 0; a < 3; a++) seam |= s.around[a] % 2 && (origin[a] < 0 || origin[a] + own[a] + 4 > s.n[a]);
      sweeps += seam ? s.extra : 0;
    }
#pragma unroll
    for (int d = 0; d < 2; d++) {
      v.gj[d] = v.there[d] ? gmg_wrap_once_by(origin1 + y + d, s.n[1], s.around[1]) : 0;
      v.offset[d] = (int)gmg_offset_32(s.layout, gi, v.gj[d], gk);
    }
  }

  /* loads pairs of a field; shared: other blocks may write it */
  __device__ __forceinline__ void load_pairs(const packed_held &v, const scalar *field, int shared, unsigned bits,
                                             scalar *values) const
  {
#pragma unroll
    for (int c = 0; c < HIGH; c++)
#pragma unroll
      for (int d = 0; d < 2; d++) {
        const int j = 2 * d * HIGH + c;
        real_pair p = {0, 0};
        if (bits & 1u << (d * HIGH + c)) p = packed_pair<aligned>(field + offset_of(v, d, c), step, whole, shared);
        values[j] = p.x, values[j + HIGH] = p.y;
      }
  }

  /* Begins to load a pair of an update target. */
  __device__ __forceinline__ void fetch_target(double2 *to_pair, const double *x) const
  {
    if (aligned) __pipeline_memcpy_async(to_pair, x, sizeof *to_pair);
    else {
      __pipeline_memcpy_async(&to_pair->x, x, sizeof *x);
      if (whole_mine) __pipeline_memcpy_async(&to_pair->y, x + 1, sizeof *x);
    }
  }

  /* Issues all loads of a patch. */
  __device__ __forceinline__ void fetch(packed_held &v, unsigned existing) const
  {
    const unsigned relaxed_pairs = pairs_of(pair, v.line_relaxed, relaxed);
    if (!leg) gmg_wait_for_predecessor();
    load_pairs(v, f, 0, relaxed_pairs, v.rhs);
    if (prolongs) load_pairs(v, from, 1, existing, v.u);
    if (updates && s.keeps_pairs && o.keep) {
      const unsigned stored = own_pairs(v);
#pragma unroll
      for (int m = 0; m < 2 * HIGH; m++)
        if (stored & 1u << m) fetch_target(kept + m * shape::threads, o.x + offset_in_x(v, m / HIGH, m % HIGH));
    }
    if (updates) __pipeline_commit();
    if (leg) gmg_wait_for_predecessor();
    if (!prolongs) load_pairs(v, from, 1, from_zero ? 0 : existing, v.u);
  }

  /* Loads values of the coarse level to the shared memory that the patches will use. */
  __device__ __forceinline__ void fetch_coarse(void) const
  {
    constexpr int LINE = shape::coarse[0], LINES = shape::coarse[1], VALUES = LINE * LINES * shape::coarse[2];
    const auto coarse_at = [&](int a, int origin, int i) { /* beyond walls: any value */
      const int n = o.map[a].cols;
      return min(max(gmg_wrap_once_by((origin >> 1) - 1 + i, n, s.around[a] ? n : 0), 0), n - 1);
    };
    for (int c = (int)threadIdx.x; c < VALUES; c += shape::threads) {
      const int line = c / LINE, plane = line / LINES;
      const int i = coarse_at(0, origin0, c - line * LINE), j = coarse_at(1, origin1, line - plane * LINES);
      const int column = column_offset(o.layout, i, j);
      __pipeline_memcpy_async(start + c, o.coarse + (coarse_at(2, origin2, plane) * o.layout.plane + column), sizeof(scalar));
    }
    __pipeline_commit();
  }

  /* Computes 1 / diagonal. Returns the relaxed unknowns as bits: those of column (b, d) from bit (2 d + b) HIGH on. */
  __device__ __forceinline__ unsigned make_inverses(packed_held &v, const int column_relaxed[2])
  {
    const int low_wall = -first, high_wall = s.n[2] - 1 - first;
    wall = bit_range(0, HIGH, low_wall, low_wall) | bit_range(0, HIGH, high_wall, high_wall);
    mirror_below = s.mirrors[2] & GMG_MIRRORS_BELOW ? bit_range(0, HIGH, low_wall, low_wall) : 0;
    mirror_above = s.mirrors[2] & GMG_MIRRORS_ABOVE ? bit_range(0, HIGH, high_wall, high_wall) : 0;
    inner = gmg_at(s.diag[2], 1), outer = gmg_at(s.diag[2], low_wall >= 0 && low_wall < HIGH ? 0 : s.n[2] - 1);
    unsigned known = 0;
#pragma unroll
    for (int d = 0; d < 2; d++)
#pragma unroll
      for (int b = 0; b < 2; b++) {
        const real across = s.shift + gmg_at(s.diag[0], gi + (whole && b ? step : 0)) + gmg_at(s.diag[1], v.gj[d]);
        v.inside[2 * d + b] = __fdividef(1, across + inner), v.at_wall[2 * d + b] = __fdividef(1, across + outer);
        if (column_relaxed[b] && v.line_relaxed[d]) known |= relaxed << (2 * d + b) * HIGH;
      }
#pragma unroll
    for (int b = 0; b < 2; b++) {
      v.x[b] = packed_ties_of(b, origin0 + x + b, s.n[0], s.mirrors[0], s.coupling[0]);
      v.y[b] = packed_ties_of(b, origin1 + y + b, s.n[1], s.mirrors[1], s.coupling[1]);
    }
    return known;
  }

  __device__ __forceinline__ void prolong(packed_held &v, unsigned existing) const
  {
    constexpr int LINE = shape::coarse[0], LINES = shape::coarse[1];
    gmg_pair_weights wx[2], wy[2], wz[HIGH];
#pragma unroll
    for (int d = 0; d < 2; d++) {
      wx[d] = gmg_pair_weights_of(o.map[0], gi + d, s.n[0], 0, pair);
      wy[d] = gmg_pair_weights_of(o.map[1], v.gj[d], s.n[1], 0, v.there[d]);
#pragma unroll
      for (int c = d * HIGH / 2; c < (d + 1) * HIGH / 2; c++)
        wz[c] = gmg_pair_weights_of(o.map[2], c >= fold ? gk + c - s.n[2] : gk + c, s.n[2], 0, (planes >> c) & 1);
    }
    __pipeline_wait_prior(0);
    __syncthreads();
    packed_prolong<shape>(start + (z / 2 * LINES + y / 2) * LINE + x / 2, wx, wy, wz, existing, v.u);
    __syncthreads();
  }

  /* Relaxes the unknowns of a colour, for which b + d + c + colour is even. zeros_around: all neighbours are 0. */
  template <int colour, int zeros_around>
  __device__ __forceinline__ void half_sweep(packed_held &v, unsigned known, real weight) const
  {
#pragma unroll
    for (int c = 0; c < HIGH; c++)
#pragma unroll
      for (int d = 0; d < 2; d++) {
        const int b = (c + d + colour) & 1, m = 2 * d + b, j = m * HIGH + c;
        const int jx = (2 * d + 1 - b) * HIGH + c, jy = (2 * (1 - d) + b) * HIGH + c;
        scalar sum = v.rhs[j];
        if (!zeros_around) {
          scalar below = c > 0 ? v.u[j - (c > 0)] : under[(j + HIGH - 1) * ROOM];
          scalar above = c < HIGH - 1 ? v.u[j + (c < HIGH - 1)] : over[(j - HIGH + 1) * ROOM];
          const scalar side_x = tile[jx * ROOM + (b ? 1 : -1)], side_y = tile[jy * ROOM + (d ? X : -X)];
          if (special) {
            const scalar high = above;
            if (mirror_above & 1u << c) above = below;
            if (mirror_below & 1u << c) below = high;
            sum += v.x[b].partner * v.u[jx] + v.x[b].side * side_x;
            sum += v.y[d].partner * v.u[jy] + v.y[d].side * side_y;
          } else {
            sum += s.coupling[0] * (v.u[jx] + side_x);
            sum += s.coupling[1] * (v.u[jy] + side_y);
          }
          sum += s.coupling[2] * (below + above);
        }
        const scalar now = v.u[j] + weight * ((wall & 1u << c ? v.at_wall[m] : v.inside[m]) * sum - v.u[j]);
        if (known & 1u << j) {
          v.u[j] = now;
          if (!zeros_around) tile[j * ROOM] = now;
        }
      }
  }

  __device__ __forceinline__ void relax(packed_held &v, unsigned known) const
  {
    const int parity = (origin0 + origin1 + origin2 + s.reversed) & 1;
    int h = 0;
    if (from_zero) {
      if (parity) half_sweep<1, 1>(v, known, s.weight[0]);
      else half_sweep<0, 1>(v, known, s.weight[0]);
      h = 1;
    }
#pragma unroll
    for (int j = 0; j < CELLS; j++) tile[j * ROOM] = v.u[j];
    __syncthreads();
    for (; h < 2 * sweeps; h++) {
      const real weight = s.weight[h % GMG_HALF_SWEEPS];
      if ((parity + h) & 1) half_sweep<1, 0>(v, known, weight);
      else half_sweep<0, 0>(v, known, weight);
      __syncthreads();
    }
  }

  __device__ __forceinline__ void write_back(const packed_held &v, unsigned stored, double scale) const
  {
    if (updates) __pipeline_wait_prior(0); /* waits for this thread's loads */
#pragma unroll
    for (int c = 0; c < HIGH; c++)
#pragma unroll
      for (int d = 0; d < 2; d++) {
        const int m = d * HIGH + c, j = m + d * HIGH, offset = updates ? offset_in_x(v, d, c) : offset_of(v, d, c);
        double2 was = {0, 0};
        if (updates && s.keeps_pairs && o.keep) was = kept[m * shape::threads]; /* any value if nothing is stored */
        if (!(stored & 1u << m)) continue;
        if (updates) {
          if (!s.keeps_pairs && o.keep) was = double2{o.x[offset], whole_mine ? o.x[offset + 1] : 0};
          const double2 now = {was.x + scale * (double)v.u[j], was.y + scale * (double)v.u[j + HIGH]};
          if (aligned) *(double2 *)(o.x + offset) = now;
          else {
            o.x[offset] = now.x;
            if (whole_mine) o.x[offset + 1] = now.y;
          }
        } else if (aligned) gmg_store_relaxed((real_pair *)(to + offset), real_pair{v.u[j], v.u[j + HIGH]});
        else {
          gmg_store_relaxed(to + offset, v.u[j]);
          if (whole_mine) gmg_store_relaxed(to + offset + 1, v.u[j + HIGH]);
        }
      }
  }

  __device__ __forceinline__ void restrict_residual(packed_held &v, unsigned stored, unsigned existing) const
  {
    const int me = (int)threadIdx.x, ends[2] = {me < LAYER, me >= shape::threads - LAYER};
    const real along[2] = {inner, outer}, pair_of_all = s.coupling[0] + s.coupling[1] + s.coupling[2];
    real within[4];
#pragma unroll
    for (int m = 0; m < 4; m++) within[m] = s.shift + gmg_at(s.diag[0], gi + m % 2) + gmg_at(s.diag[1], v.gj[m / 2]) - pair_of_all;
#pragma unroll
    for (int m = 0; m < 2 * HIGH; m++)
      if (!(stored & 1u << m)) {
        const int j = m + m / HIGH * HIGH;
        v.u[j] = v.u[j + HIGH] = tile[j * ROOM] = tile[(j + HIGH) * ROOM] = 0;
      }
    for (int c = me; c < (CELLS + 1) * X; c += shape::threads) start[c / X * ROOM + c % X] = 0; /* clears the space between the
                                                                                                   arrays */
    __syncthreads();
    packed_restrict<shape>(s, r, tile, under, over, v.u, v.rhs, ends, stored, existing, within, along, wall, [&](int c) {
      const int k = c >= fold ? gk + c - s.n[2] : gk + c;
      return gmg_offset_32(r.layout, gi >> 1, v.gj[0] >> 1, k >> 1);
    });
  }

  __device__ __forceinline__ void run(unsigned block_index)
  {
    packed_held v;
    int column_relaxed[2];
    place(block_index, v, column_relaxed);
    const unsigned existing = pairs_of(pair, v.there, planes);
    fetch(v, existing);
    if (prolongs) fetch_coarse();
    const double scale = updates && o.scale ? __ldg(o.scale) : 1;
    const unsigned known = make_inverses(v, column_relaxed);
    if (prolongs) prolong(v, existing);
    relax(v, known);
    const unsigned stored = own_pairs(v);
    write_back(v, stored, scale);
    if (restricts) restrict_residual(v, stored, existing);
  }
};

template <class shape, int zero, int aligned, int special>
static __global__ void __launch_bounds__(shape::threads, shape::blocks) /* blockIdx.y is the pass */
    packed_kernel(packed_level s, const scalar *f, const scalar *from, scalar *to)
{
  packed_sweep<shape, zero ? PASS_FROM_ZERO : 0, aligned, special>{s, f, from, to, update_output{}, restriction_output{}}.run(
      blockIdx.x);
}

template <class shape, int KIND, int aligned, int special>
static __global__ void __launch_bounds__(shape::threads, shape::blocks)
    packed_kernel_update(packed_level s, const scalar *f, const scalar *from, update_output o)
{
  packed_sweep<shape, PASS_UPDATE | KIND, aligned, special>{s, f, from, NULL, o, restriction_output{}}.run(blockIdx.x);
}

template <class shape, int zero>
static __global__ void __launch_bounds__(shape::threads, shape::blocks)
    packed_kernel_restrict(packed_level s, const scalar *f, const scalar *from, scalar *to, restriction_output r)
{
  packed_sweep<shape, PASS_RESTRICT | (zero ? PASS_FROM_ZERO : 0), 1, 0>{s, f, from, to, update_output{}, r}.run(blockIdx.x);
}

#endif
#endif
