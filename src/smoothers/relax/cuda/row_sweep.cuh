/* Row sweep, a pass in 2D with constant coefficients. It does HALF_SWEEPS half sweeps: 4 are two local red-black sweeps with
   overlap 2, 2 are one exact synchronous sweep. Included by row_restrict.cuh for async/cuda/rows.cu and red_black/cuda.cu.

   A warp has a block of unknowns, and a lane LANE_COLS columns of it. Rows stream through registers. Only the values beside a
   lane's columns are shared, by a shuffle, so there is no barrier. The columns of the first lane (in double of two), and those
   after the block's end, do not belong to the block.

   A step loads one row, and half sweep h = 1 .. HALF_SWEEPS relaxes the row h before it. They run one after the other, and each
   sees the result of the previous half sweep around it. All relax the same colour, and the other colour in the next step.

   An exact sweep must read the values from before it. It writes to another field, or in place except for the two layers at every
   side that other blocks read, which are written to interface_copy.

   PASS_UPDATE writes finished rows to a field of doubles, so blocks see the values from before the pass. PASS_PROLONG adds the
   correction to a row as it is loaded; that completes the upward leg, to a field of doubles or to another field of the level. The
   downward leg, PASS_FROM_ZERO | PASS_RESTRICT, is in row_restrict.cuh. */
#ifndef GMG_SMOOTHERS_RELAX_CUDA_ROW_SWEEP_H
#define GMG_SMOOTHERS_RELAX_CUDA_ROW_SWEEP_H

#include "core/cuda/atomics.cuh"
#include "fused.cuh"
#include "geometry.cuh"
#include "scheduling.cuh"

template <int HALF_SWEEPS, int KIND, int WHOLE> struct row_shape {
  static constexpr int whole = WHOLE; /* 1: a lane's columns are one aligned vector; 0: they are accessed one by one */
  static constexpr int restricts = KIND & PASS_RESTRICT ? 1 : 0, prolongs = KIND & PASS_PROLONG ? 1 : 0,
                       updates = KIND & PASS_UPDATE ? 1 : 0;
  static constexpr int ahead = restricts ? 5 : updates ? 2 : 4; /* rows that are loaded ahead */
  /* rows in registers: those that half sweeps read and, unless they come by way of shared memory, those that are loaded ahead */
  static constexpr int slots = restricts ? 6 : ahead + HALF_SWEEPS + 2;
  static constexpr int overlap = HALF_SWEEPS == 2 ? 1 : 2;
  static constexpr int margin = restricts ? HALF_SWEEPS + 1 : overlap + 1; /* rows and columns around a block that it reads */
  static constexpr int lead = restricts ? 1 : (margin + LANE_COLS - 1) / LANE_COLS; /* lanes before the block's first column */
  static constexpr int most = (32 - 2 * lead) * LANE_COLS; /* columns of a block */
  /* thread blocks per multiprocessor, to limit registers */
  static constexpr int blocks = prolongs || updates || (!whole && sizeof(real) == 4) ? 3 : ROW_BLOCKS;
};

/* A lane's values of a field of doubles. */
typedef struct {
  double at[LANE_COLS];
} update_cells;

template <int whole> static __device__ __forceinline__ update_cells cells_of(const gmg_lane_columns<whole> &x, const double *row)
{
  update_cells v = {};
#pragma unroll
  for (int c = 0; c < LANE_COLS; c += whole + 1)
    if (x.owns(c)) {
      if (whole) *(double2 *)(v.at + c) = *(const double2 *)(row + x.at(c));
      else v.at[c] = row[x.at(c)];
    }
  return v;
}

/* row = was + scale u, in the block's own columns. */
template <int whole>
static __device__ __forceinline__ void put_cells(const gmg_lane_columns<whole> &x, double *row, double scale, const gmg_cells &u,
                                                 const update_cells &was)
{
#pragma unroll
  for (int c = 0; c < LANE_COLS; c += whole + 1)
    if (x.owns(c)) {
      double *const to = row + x.at(c);
      const double now = was.at[c] + scale * (double)u.at[c];
      if (whole) *(double2 *)to = double2{now, was.at[c + 1] + scale * (double)u.at[c + 1]};
      else *to = now;
    }
}

/* A warp's block, whose row q is row first + q of the level, and a lane's columns of it, from column i on. */
template <class shape> struct row_block {
  int begin_x, end_x, i;
  gmg_lane_columns<shape::whole> x;
  int begin, own, first, rows;                    /* own: own rows; rows: all rows of the block */
  int exist_begin, exist_end;                     /* exist_begin .. exist_end - 1: rows that exist */
  int low, top, wall_low, wall_high;              /* low .. top - 1: rows that are relaxed; rows at walls */
  int plain_end;                                  /* rows from here on are beyond the end of the axis, or do not exist */

  __device__ __forceinline__ row_block(const uniform_level &s, int b, int lane)
      : begin_x(b % s.count[0] * s.own[0]), end_x(min(begin_x + s.own[0], s.n[0])), i(begin_x + LANE_COLS * (lane - shape::lead)),
        x(i, s.n[0], s.ends[0], end_x, shape::whole ? shape::lead * LANE_COLS : shape::margin, lane >= shape::lead)
  {
    begin = b / s.count[0] * s.own[2], own = min(s.own[2], s.n[2] - begin);
    first = begin - shape::margin, rows = own + 2 * shape::margin;
    exist_begin = s.ends[2] ? 0 : max(0, -first), exist_end = s.ends[2] ? rows : min(rows, s.n[2] - first);
    low = shape::restricts ? exist_begin : max(exist_begin, 1), top = shape::restricts ? exist_end : min(exist_end, rows - 1);
    wall_low = s.ends[2] ? -64 : -first, wall_high = s.ends[2] ? -64 : s.n[2] - 1 - first;
    plain_end = min(exist_end, s.n[2] - first);
  }
  __device__ __forceinline__ int is_row(int q) const { return q >= exist_begin && q < exist_end; }
  /* offset of row q from a field's first unknown; plain: without wrapping */
  __device__ __forceinline__ int plain_row_offset(const uniform_level &s, int q) const { return (first + q) * s.layout.plane; }
  __device__ __forceinline__ int row_offset(const uniform_level &s, int q) const
  {
    return plain_row_offset(s, gmg_wrap_once(first + q, s.n[2], s.ends[2]) - first);
  }
};

/* 1 / diagonal of a lane's columns, and 1 or 0: whether they are relaxed. Rows at walls have other diagonals, in shared memory. */
template <int columns> struct row_inverses {
  gmg_cells relaxed, inverse;
  real (*walls)[columns][32 * BLOCK_WARPS];
};

/* Calls step(checks, t, q) for `last` steps in rounds of SLOTS. t is the step in its round. Row q = step - late is the newest one.
   Whole rounds from step plain_from to plain_to need no checks, because all their rows exist, none is at a wall, and none is beyond
   an end of the axis. */
template <int SLOTS, class Step>
static __device__ __forceinline__ void for_steps(int plain_from, int plain_to, int last, int late, const Step &step)
{
  for (int T = 0; T < last; T += SLOTS) {
    if (T >= plain_from && T + SLOTS <= plain_to) {
#pragma unroll
      for (int t = 0; t < SLOTS; t++) step(gmg_unchecked(), t, T + t - late);
    } else {
#pragma unroll
      for (int t = 0; t < SLOTS; t++)
        if (T + t < last) step(gmg_checked(), t, T + t - late);
    }
  }
}

/* A value beside a lane's columns that no other lane has. */
typedef struct {
  int there;
  scalar value;
} row_end;

/* Relaxes the cells of one colour in a row: the odd or the even ones. all: all of them are relaxed, or are 0. */
template <int odd, int all>
static __device__ __forceinline__ void relax_row(const uniform_level &s, gmg_cells &row, const gmg_cells &below,
                                                 const gmg_cells &above, const gmg_cells &f, const gmg_cells &relaxed,
                                                 const gmg_cells &inverse, real weight, row_end end)
{
  const scalar next = odd ? __shfl_down_sync(~0u, row.at[0], 1) : __shfl_up_sync(~0u, row.at[LANE_COLS - 1], 1);
  const scalar beside = end.there ? end.value : next;
#pragma unroll
  for (int c = odd; c < LANE_COLS; c += 2) {
    const scalar left = c > 0 ? row.at[c - 1] : beside, right = c + 1 < LANE_COLS ? row.at[c + 1] : beside;
    const scalar sum = f.at[c] + s.coupling[0] * (left + right) + s.coupling[2] * (below.at[c] + above.at[c]);
    row.at[c] += weight * (inverse.at[c] * sum - (all ? row.at[c] : relaxed.at[c] * row.at[c]));
  }
}

/* The half sweeps of step t, which has loaded row q. end_of(h, slot, wall): the value beside the lane's columns; wall: -1, or an
   index of the walls of `by`. */
template <int HALF_SWEEPS, int checked, class shape, int SLOTS, int columns, class End>
static __device__ __forceinline__ void half_sweeps(const uniform_level &s, const row_block<shape> &b,
                                                   const row_inverses<columns> &by, gmg_cells (&u)[SLOTS],
                                                   const gmg_cells (&rhs)[SLOTS], int t, int odd, int q, End end_of)
{
#pragma unroll
  for (int h = 1; h <= HALF_SWEEPS; h++) {
    const int row = (t - h + SLOTS) % SLOTS, above = (row + 1) % SLOTS, below = (row + SLOTS - 1) % SLOTS, p = q - h;
    if (checked && (p < b.low || p >= b.top)) continue;
    const int wall = !checked || (p != b.wall_low && p != b.wall_high) ? -1 : p == b.wall_high;
    gmg_cells inverse = by.inverse;
    if (checked && wall >= 0)
#pragma unroll
      for (int c = 0; c < LANE_COLS; c++) inverse.at[c] = by.walls[wall][c][threadIdx.x];
    constexpr int all = shape::restricts;
    const real w = s.weight[h - 1];
    if (odd) relax_row<1, all>(s, u[row], u[below], u[above], rhs[row], by.relaxed, inverse, w, end_of(h, row, wall));
    else relax_row<0, all>(s, u[row], u[below], u[above], rhs[row], by.relaxed, inverse, w, end_of(h, row, wall));
  }
}

/* Prolongation in the row sweep. Even rows are loaded in odd steps. The last coarse row that an odd row reads is also read by the
   next row, and is interpolated when the odd row is loaded. */
template <int SLOTS> struct row_prolongation {
  static constexpr int COARSE = SLOTS / 2; /* coarse rows being loaded */
  gmg_row_prolongation weights;
  scalar fetched[COARSE][LANE_PAIRS];
  int offset[LANE_PAIRS];
  gmg_cells before, here;

  __device__ __forceinline__ void load(const update_output &o, int slot, int K)
  {
#pragma unroll
    for (int d = 0; d < LANE_PAIRS; d++)
      fetched[slot][d] =
          K <= o.map[2].cols + 1 ? __ldg(o.coarse + __ldg(o.map[2].wrap + K) * o.layout.plane + offset[d]) : (scalar)0;
  }
  template <class shape> __device__ __forceinline__ void begin(const update_output &o, const row_block<shape> &b)
  {
    const int I = b.i / 2;
#pragma unroll
    for (int d = 0; d < LANE_PAIRS; d++) {
      offset[d] = column_offset(o.layout, I + d <= o.map[0].cols + 1 ? __ldg(o.map[0].wrap + I + d) : 0, 0);
#pragma unroll
      for (int c = 0; c < 2; c++) {
        weights.of[d][c] = {0, 0};
        if (b.x.has(2 * d + c)) weights.of[d][c] = gmg_pair_weights_of(o.map[0], b.x.at(2 * d + c));
      }
    }
  }
  __device__ __forceinline__ void fill(const update_output &o, int first_K)
  {
    load(o, 0, first_K);
    before = {}, here = gmg_prolong_row(weights, fetched[0]);
#pragma unroll
    for (int c = 0; c < COARSE; c++) load(o, c, first_K + 1 + c);
  }
  /* adds the correction to u, row q of the block, in step t */
  template <int checked, class shape>
  __device__ __forceinline__ void add(const uniform_level &s, const update_output &o, const row_block<shape> &b, int t, int q,
                                      gmg_cells &u)
  {
    const int k = checked ? gmg_wrap_once(b.first + q, s.n[2], s.ends[2]) : b.first + q, K = k >> 1, odd = (t + 1) % 2;
    gmg_cells beside = before;
    if (odd) {
      beside = gmg_prolong_row(weights, fetched[t / 2]);
      load(o, t / 2, ((b.first + q) >> 1) + 1 + COARSE);
    }
    gmg_pair_weights w = {0, 0};
    if (!checked || b.is_row(q)) w = gmg_pair_weights_of(o.map[2], o.along, K, odd);
#pragma unroll
    for (int c = 0; c < LANE_COLS; c++) u.at[c] += w.own * here.at[c] + w.side * beside.at[c];
    if (odd) before = here, here = beside;
  }
};

/* The base of x (PASS_BASE), which is interpolated as rows are written back: first between two coarse rows, then along the row.
   Even rows are written in odd steps. */
struct row_base {
  typedef base_weights all_weights[LANE_COLS][32 * BLOCK_WARPS];
  all_weights *weights;                                              /* along the row, in shared memory */
  double before[LANE_PAIRS], here[LANE_PAIRS], fetched[LANE_PAIRS]; /* of three coarse rows, the last one being loaded */

  __device__ __forceinline__ void load(const update_output &o, const int offset[LANE_PAIRS], int K)
  {
#pragma unroll
    for (int d = 0; d < LANE_PAIRS; d++)
      fetched[d] = K <= o.map[2].cols + 1 ? __ldg(o.base.coarse + (__ldg(o.map[2].wrap + K) * o.layout.plane + offset[d])) : 0;
  }
  /* k: the row of the level that the first step writes, if it exists. It is odd. */
  template <class shape>
  __device__ __forceinline__ void begin(const update_output &o, const row_block<shape> &b, const int offset[LANE_PAIRS], int k,
                                        all_weights *memory)
  {
    weights = memory;
#pragma unroll
    for (int d = 0; d < LANE_PAIRS; d++) before[d] = here[d] = 0;
#pragma unroll
    for (int c = 0; c < LANE_COLS; c++)
      (*weights)[c][threadIdx.x] = b.x.has(c) ? base_weights_of(o, 0, b.x.at(c)) : base_weights{0, 0};
    load(o, offset, (k + 1) >> 1);
  }
  /* the base of row k of the level, in step t */
  template <int checked>
  __device__ __forceinline__ update_cells take(const update_output &o, const int offset[LANE_PAIRS], int t, int k, int n)
  {
    const int odd = (t + 1) % 2;
    base_weights w = o.base.along[odd];
    if (checked) w = k >= 0 && k < n ? base_weights_of(o, 2, k) : base_weights{0, 0};
    double row[LANE_PAIRS];
#pragma unroll
    for (int d = 0; d < LANE_PAIRS; d++) {
      row[d] = w.own * here[d] + w.side * (odd ? fetched[d] : before[d]);
      if (odd) before[d] = here[d], here[d] = fetched[d];
    }
    if (odd) load(o, offset, (k + 3) >> 1);
    const double left = __shfl_up_sync(~0u, row[LANE_PAIRS - 1], 1), right = __shfl_down_sync(~0u, row[0], 1);
    update_cells x;
#pragma unroll
    for (int c = 0; c < LANE_COLS; c++) {
      const int own = c / 2, side = c % 2 ? own + 1 : own - 1;
      const base_weights along = (*weights)[c][threadIdx.x];
      x.at[c] = along.own * row[own] + along.side * (side < 0 ? left : side < LANE_PAIRS ? row[side] : right);
    }
    return x;
  }
};

/* Relaxes one block. reversed: order of colours with PASS_PROLONG, where steps are aligned with coarse rows. */
template <int HALF_SWEEPS, int KIND, int reversed, int whole>
static __device__ __forceinline__ void sweep_rows(const uniform_level &s, int number, const scalar *f, const scalar *from,
                                                  scalar *to, scalar *interface_copy, const update_output &o)
{
  typedef row_shape<HALF_SWEEPS, KIND, whole> shape;
  constexpr int COLS = LANE_COLS, AHEAD = shape::ahead, SLOTS = shape::slots, updates = shape::updates, prolongs = shape::prolongs;
  constexpr int exact = HALF_SWEEPS == 2 && !updates, WRITTEN = !whole ? 1 : exact ? 2 : COLS, MARGIN = shape::margin;
  constexpr int has_base = KIND & PASS_BASE;
  static_assert(!KIND || KIND == PASS_FROM_ZERO || KIND == PASS_UPDATE || (KIND & ~PASS_UPDATE) == PASS_PROLONG ||
                  KIND == (PASS_PROLONG | PASS_UPDATE | PASS_BASE),
                "other kinds are not there");
  __shared__ real walls[2][COLS][32 * BLOCK_WARPS];
  __shared__ row_base::all_weights weights_of_base; /* removed by the compiler where it is not used */
  const int me = (int)threadIdx.x;
  const row_block<shape> b(s, number, me % 32);
  const int first = b.first, own = b.own;
  const real inner = gmg_at(s.diag[2], 1), wall_term = gmg_at(s.diag[1], 0) + s.shift;
  const double scale = updates ? update_scale(o) : 0;
  row_inverses<COLS> by;
  by.walls = walls;
#pragma unroll
  for (int c = 0; c < COLS; c++) {
    const int relaxed = b.x.has(c) && b.i + c > b.begin_x - MARGIN && b.i + c < b.end_x + MARGIN - 1;
    const real diag = gmg_at(s.diag[0], b.x.has(c) ? b.x.at(c) : 0) + wall_term;
    by.relaxed.at[c] = relaxed ? (real)1 : (real)0;
    by.inverse.at[c] = relaxed ? 1 / (diag + inner) : (real)0;
    walls[0][c][me] = relaxed ? 1 / (diag + gmg_at(s.diag[2], 0)) : (real)0;
    walls[1][c][me] = relaxed ? 1 / (diag + gmg_at(s.diag[2], s.n[2] - 1)) : (real)0;
  }
  row_prolongation<SLOTS> correction;
  if (prolongs) correction.begin(o, b);

  gmg_cells u[SLOTS], rhs[SLOTS];
  const auto load = [&](int slot, int is_there, int row) {
    u[slot] = rhs[slot] = {};
    if (!is_there) return;
    if (updates || (!(KIND & PASS_FROM_ZERO) && from)) u[slot] = b.x.read(from + row, gmg_load_shared());
    rhs[slot] = b.x.read(f + row, gmg_load_constant());
  };
  const auto load_row = [&](int slot, int q) {
    const int is_there = b.is_row(q);
    load(slot, is_there, is_there ? b.row_offset(s, q) : 0);
  };

  /* row q is loaded in step q + late, so that odd steps relax odd columns (with PASS_PROLONG: even ones if reversed) */
  const int late = (first + 1 + (prolongs ? 0 : s.reversed)) & 1;
#pragma unroll
  for (int c = 0; c < SLOTS; c++) u[c] = rhs[c] = {};
#pragma unroll
  for (int c = 0; c < AHEAD; c++) load_row(c, c - late);
  if (prolongs) correction.fill(o, (first - late) >> 1);
  update_cells old[2] = {}; /* updates without a base: two rows of x being loaded */
  row_base base;
  if (has_base) base.begin(o, b, correction.offset, first - late - HALF_SWEEPS, &weights_of_base);

  /* destinations of values; other blocks read rows below low_interface, and from high_interface on */
  const int low_interface = s.ends[2] || b.begin > 0 ? 4 : 0, high_interface = s.ends[2] || b.begin + own < s.n[2] ? own : b.rows;
  unsigned beside = 0; /* bits of columns that other blocks read */
#pragma unroll
  for (int c = 0; exact && c < COLS; c++) beside |= (unsigned)(b.x.owns(c) && seen_by_others(s, 0, b.x.at(c))) << c;

  const auto step = [&](auto checks, int t, int q) {
    constexpr int checked = decltype(checks)::value;
    if (checked) load_row((t + AHEAD) % SLOTS, q + AHEAD);
    else load((t + AHEAD) % SLOTS, 1, b.plain_row_offset(s, q + AHEAD));
    if (prolongs) correction.template add<checked>(s, o, b, t, q, u[t]);
    half_sweeps<HALF_SWEEPS, checked>(s, b, by, u, rhs, t, (t + reversed) % 2, q, [](int, int, int) { return row_end{0, 0}; });

    /* write back row p, which is done */
    const int p = q - HALF_SWEEPS, row = b.plain_row_offset(s, p);
    const gmg_cells &done = u[(t - HALF_SWEEPS + SLOTS) % SLOTS];
    const auto is_own = [&](int r) { return (!checked && !updates) || (r >= MARGIN && r < own + MARGIN); };
    if (!updates) {
      const int is_interface = exact && (p < low_interface || p >= high_interface);
      if (is_own(p))
        b.x.template write<WRITTEN>(done, row, [&](int c) { return is_interface || (beside >> c & 1) ? interface_copy : to; });
      return;
    }
    const int in_x = row + update_gap(o, 0, first + p);
    const update_cells was = has_base ? base.take<checked>(o, correction.offset, t, first + p, s.n[2]) : old[t % 2];
    if (is_own(p)) put_cells(b.x, o.x + in_x, scale, done, was);
    if (!has_base && o.keep && is_own(p + 2)) old[t % 2] = cells_of(b.x, o.x + (in_x + 2 * (s.layout.plane + o.plane_gap)));
  };
  for_steps<SLOTS>(HALF_SWEEPS + MARGIN + 1 + late, b.plain_end - AHEAD + late, own + MARGIN + HALF_SWEEPS + late, late, step);
}

/* One warp per block; `all` blocks, in one pass or more. Only a plain pass uses the order of blocks. */
template <int HALF_SWEEPS, int KIND, int reversed, int whole>
static __global__ void __launch_bounds__(32 * BLOCK_WARPS, row_shape<HALF_SWEEPS, KIND, whole>::blocks)
    row_kernel(uniform_level s, unsigned all, const scalar *f, const scalar *from, scalar *to, scalar *interface_copy,
               update_output o)
{
  const unsigned number = blockIdx.x * BLOCK_WARPS + gmg_warp();
  if (number < all)
    sweep_rows<HALF_SWEEPS, KIND, reversed, whole>(s, block_at(s, number % s.total), f, from, to, interface_copy, o);
}

/* Thread blocks of one warp that take blocks of unknowns from a queue. */
template <int HALF_SWEEPS>
static __global__ void __launch_bounds__(32, row_shape<HALF_SWEEPS, 0, 0>::blocks * BLOCK_WARPS)
    row_kernel_dynamic(uniform_level s, const scalar *f, const scalar *from, scalar *to, work_queue queue)
{
  for_blocks<1>(queue, [&](unsigned index) {
    sweep_rows<HALF_SWEEPS, 0, 0, 0>(s, block_at(s, index), f, from, to, to, update_output{});
  });
}

/* Chooses blocks of unknowns for a kind of pass. Returns 0 if the wanted blocks (0: any) do not fit. */
template <int HALF_SWEEPS, int KIND>
static inline int row_blocks(const gmg_operator *A, const size_t wanted[3], size_t processors, gmg_blocks *b)
{
  typedef row_shape<HALF_SWEEPS, KIND, 1> shape;
  enum { FILL_ROWS = 8 + 2 * shape::margin, MIN_ROWS = 8 };
  const int at_once = A->n[0] % LANE_COLS ? row_shape<HALF_SWEEPS, KIND, 0>::blocks : row_shape<HALF_SWEEPS, KIND, 1>::blocks;
  const size_t cols = LANE_COLS, room = (size_t)at_once * processors * BLOCK_WARPS;
  size_t want[3] = {shape::most, 1, 1};
  if (A->dim != 2) return 0;
  *b = gmg_blocks_make(A, wanted, want);
  want[0] = wanted[0] ? wanted[0] : (b->shape[0] + cols - 1) / cols * cols;
  want[1] =
      wanted[1] ? wanted[1] : (size_t)gmg_rows_of_part((int)A->n[1], (A->n[0] + want[0] - 1) / want[0], room, FILL_ROWS, MIN_ROWS);
  if (!wanted[1]) want[1] += want[1] % 2; /* keeps both rows of a coarse row together (row_restrict.cuh) */
  *b = gmg_blocks_make(A, want, want);
  for (int a = 0; a < 2; a++)
    if (A->wraps[a] && A->n[a] < 8) return 0; /* so that a block wraps around an axis at most once */
  return b->shape[0] <= shape::most && (b->shape[0] % cols == 0 || b->count[0] == 1);
}

typedef void row_pass(uniform_level, unsigned, const scalar *, const scalar *, scalar *, scalar *, update_output);

/* One or more plain passes, each of two local sweeps (HALF_SWEEPS 4) or one exact sweep (HALF_SWEEPS 2). from = NULL: u is 0. */
template <int HALF_SWEEPS>
static inline void rows_sweep(const gmg_exec *e, const gmg_operator *A, const uniform_level &s, size_t passes, const void *f,
                              const void *from, void *to, void *interface_copy)
{
  const unsigned all = (unsigned)(passes * s.total);
  const int whole = gmg_has_whole_rows(A->n[0], f, from, to) && gmg_has_whole_rows(A->n[0], interface_copy, NULL, NULL);
  static row_pass *const kernels[2][2] = {
      {row_kernel<HALF_SWEEPS, 0, 0, 0>, row_kernel<HALF_SWEEPS, 0, 0, 1>},
      {row_kernel<HALF_SWEEPS, PASS_FROM_ZERO, 0, 0>, row_kernel<HALF_SWEEPS, PASS_FROM_ZERO, 0, 1>}};
  gmg_launch(e, "rows", kernels[!from && passes == 1][whole], gmg_warp_shape(all), s, all, first_unknown(s.layout, f),
             first_unknown(s.layout, from), first_unknown(s.layout, to), first_unknown(s.layout, interface_copy), update_output{});
}

#if GMG_REAL_F32
/* Whether a pass can interpolate a correction. */
static inline int rows_can_prolong(const gmg_map prolong[3]) { return gmg_all_have_pairs(prolong, 2, GMG_PAIRS_LINEAR); }

/* Whether rows_update() takes this target. */
static inline int rows_can_update(const gmg_update_target *to)
{
  const int has_pass = to->coarse ? rows_can_prolong(to->prolong) : !to->is_field && !to->base;
  return has_pass && update_has_offsets(to);
}

/* One pass of HALF_SWEEPS half sweeps that updates another field, and adds a coarse correction if there is one. Returns 0 if it
   does not apply. To a field of the level it is only there with a correction. */
template <int HALF_SWEEPS>
static inline int rows_update(const gmg_exec *e, const gmg_operator *A, const uniform_level &x, const void *f, const void *u,
                              const gmg_update_target *to)
{
  constexpr int UP = PASS_PROLONG | PASS_UPDATE;
  static row_pass *const plain[] = {row_kernel<HALF_SWEEPS, PASS_UPDATE, 0, 0>, row_kernel<HALF_SWEEPS, PASS_UPDATE, 0, 1>};
#define WITH_CORRECTION(kind) /* [reversed][whole] */                                  \
  {{row_kernel<HALF_SWEEPS, kind, 0, 0>, row_kernel<HALF_SWEEPS, kind, 0, 1>},           \
   {row_kernel<HALF_SWEEPS, kind, 1, 0>, row_kernel<HALF_SWEEPS, kind, 1, 1>}}
  static row_pass *const to_field[2][2] = WITH_CORRECTION(PASS_PROLONG), *const to_array[2][2] = WITH_CORRECTION(UP),
                         *const on_base[2][2] = WITH_CORRECTION(UP | PASS_BASE);
#undef WITH_CORRECTION
  const int whole = gmg_has_whole_rows(A->n[0], f, u, to->x) && to->layout.row % LANE_COLS == 0;
  row_pass *const *const with_correction = (to->base ? on_base : to->is_field ? to_field : to_array)[x.reversed];
  if (!rows_can_update(to)) return 0;
  update_output o = update_of(to, A);
  o.x += x.layout.first;
  scalar *const field = to->is_field ? first_unknown(x.layout, to->x) : NULL;
  gmg_launch(e, "rows", (to->coarse ? with_correction : plain)[whole], gmg_warp_shape(x.total), x, x.total,
             first_unknown(x.layout, f), first_unknown(x.layout, u), field, field, o);
  return 1;
}
#endif

#endif
