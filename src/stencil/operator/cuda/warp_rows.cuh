/* Rows of a 2D level that stream through the registers of a warp. A lane has LANE_COLS columns, 16 bytes of a row. Shuffles provide
   the values beside them, and nothing else is shared. Rows are loaded well ahead, so that few warps saturate the memory. Included
   by kernels of stencil and smoothers. */
#ifndef GMG_STENCIL_OPERATOR_CUDA_WARP_ROWS_H
#define GMG_STENCIL_OPERATOR_CUDA_WARP_ROWS_H

#include "core/cuda/atomics.cuh"
#include "uniform_columns.cuh"
#include "stencil/grid/map.h"

#if GMG_REAL_F32
typedef float4 real_vector;
#else
typedef double2 real_vector;
#endif

/* WARP_COLS: columns of a warp without those of its first and last lane. BLOCK_WARPS: warps of a thread block. ROW_BLOCKS: thread
   blocks per multiprocessor. */
enum { LANE_COLS = 16 / sizeof(real), WARP_COLS = 30 * LANE_COLS, BLOCK_WARPS = 4, ROW_BLOCKS = 4 };

static inline gmg_launch_shape gmg_warp_shape(size_t warps)
{
  return {dim3((unsigned)((warps + BLOCK_WARPS - 1) / BLOCK_WARPS)), dim3(32 * BLOCK_WARPS), 0};
}

/* A lane's values of a row: of a field, or of coefficients. They are loaded in vectors of reals, so in code that uses gmg_cells
   scalar and real must be the same type. */
typedef struct {
  real at[LANE_COLS];
} gmg_cells;

/* Whether rows of this many columns, and the fields, consist of whole aligned vectors. A field may be NULL. */
static inline int gmg_has_whole_rows(size_t columns, const void *x, const void *y, const void *z)
{
  return columns % LANE_COLS == 0 && ((uintptr_t)x | (uintptr_t)y | (uintptr_t)z) % sizeof(real_vector) == 0;
}

/* Divides `rows` into parts, so that all warps finish soonest, and returns the number of rows of a part. A warp processes one part,
   and `fill` extra rows with it. `beside` parts lie side by side; `room` warps are resident. */
static inline int gmg_rows_of_part(int rows, size_t beside, size_t room, int fill, int min_rows)
{
  size_t best = 0;
  int high = rows;
  for (int parts = 1; parts == 1 || (long)parts * min_rows <= rows; parts++) {
    const int each = (rows + parts - 1) / parts;
    const size_t total = beside * (size_t)((rows + each - 1) / each), time = (total + room - 1) / room * (size_t)(each + fill);
    if (best && time >= best) continue;
    best = time, high = each;
  }
  return high;
}

/* --- transfers by pairs: coarse row I reads columns 2 I - 1 + m, m < 4 ------------------------------------------------- */

enum { LANE_PAIRS = LANE_COLS / 2 }; /* coarse columns of a lane */

/* Maps along the lines (x) and across them (y). Rows begin .. end - 1 of y have the same weights. */
typedef struct {
  gmg_map x, y;
  int begin, end;
  real weight[4];
} gmg_pair_maps;

static inline gmg_pair_maps gmg_pair_maps_of(const gmg_map map[3])
{
  const gmg_map *m = &map[1];
  const int before = m->at[0] - (2 * m->begin - 1); /* how many of the four columns precede the first one read */
  gmg_pair_maps p = {map[0], map[1], m->begin, m->begin, {0, 0, 0, 0}};
  if (m->period != 1 || m->step != 2 || m->begin >= m->end || before < 0 || before + m->width > 4) return p;
  for (int i = 0; i < m->width; i++) p.weight[before + i] = (real)m->repeat[0][i];
  p.end = m->end;
  return p;
}

/* Linear interpolation in pairs. Fine index i reads its parent, coarse index i / 2 (`own`), and the parent's neighbour on the same
   side (`side`). */
typedef struct {
  real own, side;
} gmg_pair_weights;

/* The repeated weights of linear interpolation: those of fine rows 2 K and 2 K + 1, the same for begin <= K < end. */
typedef struct {
  gmg_pair_weights w[2];
  int begin, end;
} gmg_repeated_pairs;

/* Repeated weights of fine rows 2 K + b: that of the parent, and that of its neighbour. */
static inline void gmg_repeated_pair_of(const gmg_map *m, int b, double *to_own, double *to_side)
{
  const int j = (b + m->begin) % 2, own = (m->begin + j) / 2 - m->at[j], side = own - 1 + 2 * b;
  *to_own = own >= 0 && own < m->width ? m->repeat[j][own] : 0;
  *to_side = side >= 0 && side < m->width ? m->repeat[j][side] : 0;
}

static inline gmg_repeated_pairs gmg_repeated_pairs_of(const gmg_map *m)
{
  gmg_repeated_pairs p = {{}, (m->begin + 1) / 2, m->end / 2};
  if (m->period != 2 || m->step != 1 || m->begin >= m->end) p.end = p.begin;
  for (int b = 0; b < 2 && p.begin < p.end; b++) {
    double own, side;
    gmg_repeated_pair_of(m, b, &own, &side);
    p.w[b] = {(real)own, (real)side};
  }
  return p;
}

#ifdef __CUDACC__

#include <cuda_pipeline.h>

/* The number of this warp in the thread block. The shuffle tells the compiler that all lanes have the same value. */
static __device__ __forceinline__ unsigned gmg_warp(void) { return __shfl_sync(~0u, threadIdx.x / 32, 0); }

static __device__ __forceinline__ gmg_cells gmg_cells_of(real_vector v) { return __builtin_bit_cast(gmg_cells, v); }
static __device__ __forceinline__ real_vector gmg_vector_of(const gmg_cells &c) { return __builtin_bit_cast(real_vector, c); }

/* A lane's values of a coarse row. */
typedef struct alignas(LANE_PAIRS * sizeof(scalar)) {
  scalar at[LANE_PAIRS];
} gmg_coarse_cells;

/* The type in which one instruction loads or stores that many adjacent columns. */
template <int columns> struct gmg_unit_of;
template <> struct gmg_unit_of<1> {
  typedef real type;
};
template <> struct gmg_unit_of<2> {
  typedef real_pair type;
};
#if GMG_REAL_F32
template <> struct gmg_unit_of<4> {
  typedef real_vector type;
};
#endif

/* A lane's columns as units of this type. */
template <int columns> struct gmg_lane_units {
  typename gmg_unit_of<columns>::type at[LANE_COLS / columns];
};

/* A lane's columns of a block. whole: they are one aligned vector, which exists and belongs to the block as a whole, or not at all.
   Otherwise a wall or a seam may lie between two columns, and each is loaded and stored separately. */
template <int whole> struct gmg_lane_columns {
  static constexpr int WIDTH = whole ? LANE_COLS : 1, UNITS = LANE_COLS / WIDTH;
  int first;            /* the lane's first column in the level */
  int seam, n;          /* columns before the seam of a periodic axis; length of the axis */
  unsigned exists, own; /* one bit per unit */

  /* The columns from i on, in a level of `columns` columns. The block ends before column `end`; `margin` columns after it are read,
     too, in whole units. has_own: whether the lane has columns that belong to the block. */
  __device__ __forceinline__ gmg_lane_columns(int i, int columns, int wraps, int end, int margin, int has_own)
  {
    exists = own = 0, n = columns;
    first = gmg_wrap_once(i, n, wraps), seam = wraps ? n - first : LANE_COLS;
#pragma unroll
    for (int c = 0; c < LANE_COLS; c += WIDTH) {
      const int there = i + c < end + (margin + WIDTH - 1) / WIDTH * WIDTH && gmg_index_exists(i + c, n, wraps);
      exists |= (unsigned)there << c, own |= (unsigned)(there && has_own && i + c < end) << c;
    }
  }
  __device__ __forceinline__ int has(int c) const { return exists >> (whole ? 0 : c) & 1; }
  __device__ __forceinline__ int owns(int c) const { return own >> (whole ? 0 : c) & 1; }
  __device__ __forceinline__ int at(int c) const { return first + c - (!whole && c >= seam ? n : 0); }

  /* The number of pairs of own columns. */
  __device__ __forceinline__ int own_pairs() const { return whole ? (own ? LANE_PAIRS : 0) : __popc(own) / 2; }
  /* Stores the lane's part of a coarse row, as far as its columns are its own. */
  __device__ __forceinline__ void write_pairs(scalar *coarse, const gmg_coarse_cells &part) const
  {
    if (whole && own) *(gmg_coarse_cells *)coarse = part;
#pragma unroll
    for (int d = 0; !whole && d < LANE_PAIRS; d++)
      if (owns(2 * d)) coarse[d] = part.at[d];
  }
  /* loads the existing columns of a row; the others are 0 */
  template <class Load> __device__ __forceinline__ gmg_cells read(const real *row, Load load) const
  {
    gmg_lane_units<WIDTH> v = {};
#pragma unroll
    for (int c = 0; c < UNITS; c++)
      if (has(c * WIDTH)) v.at[c] = load((const typename gmg_unit_of<WIDTH>::type *)(row + at(c * WIDTH)));
    return __builtin_bit_cast(gmg_cells, v);
  }
  /* starts to copy the columns of a row to shared memory; 0 where there is no column, or no row */
  __device__ __forceinline__ void copy_async(real *to, const real *row, int is_there) const
  {
#pragma unroll
    for (int c = 0; c < LANE_COLS; c += WIDTH) {
      const size_t size = WIDTH * sizeof(real);
      __pipeline_memcpy_async(to + c, row + at(c), size, is_there && has(c) ? 0 : size);
    }
  }
  /* stores the block's own columns, `columns` at a time, in the row of the field that field_of(column) selects */
  template <int columns, class Field> __device__ __forceinline__ void write(const gmg_cells &row, int offset, Field field_of) const
  {
    const gmg_lane_units<columns> v = __builtin_bit_cast(gmg_lane_units<columns>, row);
#pragma unroll
    for (int c = 0; c < LANE_COLS; c += columns)
      if (owns(c)) gmg_store_relaxed((typename gmg_unit_of<columns>::type *)(field_of(c) + (offset + at(c))), v.at[c / columns]);
  }
};

/* Loads for read(): of fields that no thread block writes meanwhile, and of fields that other blocks write. */
struct gmg_load_constant {
  template <class T> __device__ __forceinline__ T operator()(const T *p) const { return __ldg(p); }
};
struct gmg_load_shared {
  template <class T> __device__ __forceinline__ T operator()(const T *p) const { return gmg_load_relaxed(p); }
};

/* Whether a step checks which unknowns exist; known at compile time. */
struct gmg_checked {
  static constexpr int value = 1;
};
struct gmg_unchecked {
  static constexpr int value = 0;
};

/* The weight of a column in a row; 0 if the row does not read it. */
static __device__ __forceinline__ real gmg_weight_of(const gmg_map &m, int row, int column)
{
  const int at = column - __ldg(m.first + row);
  return at >= 0 && at < m.width ? gmg_at(m.weight, (size_t)row * m.width + at) : (real)0;
}

/* A lane's part of the two coarse rows in progress: `part` of the earlier one, `next` of the later one. */
typedef struct {
  real w[LANE_PAIRS][4];
  scalar next[LANE_PAIRS];
  gmg_coarse_cells part;
} gmg_row_restriction;

/* Weights for coarse columns I .. I + pairs - 1. */
static __device__ __forceinline__ gmg_row_restriction gmg_row_restriction_of(const gmg_pair_maps &p, int I, int pairs)
{
  gmg_row_restriction g;
#pragma unroll
  for (int d = 0; d < LANE_PAIRS; d++) {
    g.part.at[d] = g.next[d] = 0;
#pragma unroll
    for (int m = 0; m < 4; m++) g.w[d][m] = d < pairs ? gmg_weight_of(p.x, I + d, 2 * (I + d) - 1 + m) : (real)0;
  }
  return g;
}

/* Adds fine row k to coarse rows J = (k + 1) / 2 and J - 1. Rows must be passed in order, from 2 J0 - 1 to 2 J1. Returns the coarse
   row that is now complete, or -1. Each coarse row reads four fine rows: an odd fine row is the first of J and the third of J - 1,
   an even one is the second of J and the last of J - 1. */
static __device__ __forceinline__ int gmg_restrict_row(const gmg_pair_maps &p, int J0, int J1, int k, const gmg_cells &r,
                                                       gmg_row_restriction *g)
{
  const scalar left = __shfl_up_sync(~0u, r.at[LANE_COLS - 1], 1), right = __shfl_down_sync(~0u, r.at[0], 1);
  const int J = (k + 1) / 2, odd = k & 1;
  const auto along = [&](int row, int m) {
    if (row >= p.begin && row < p.end) return p.weight[m];
    return row >= J0 && row < J1 ? gmg_weight_of(p.y, row, 2 * row - 1 + m) : (real)0;
  };
  const real w_part = odd ? along(J - 1, 2) : along(J - 1, 3), w_next = odd ? along(J, 0) : along(J, 1);
#pragma unroll
  for (int d = 0; d < LANE_PAIRS; d++) {
    const scalar first = d > 0 ? r.at[2 * d - 1] : left, last = d + 1 < LANE_PAIRS ? r.at[2 * d + 2] : right;
    const scalar row = g->w[d][0] * first + g->w[d][1] * r.at[2 * d] + (g->w[d][2] * r.at[2 * d + 1] + g->w[d][3] * last);
    if (odd) g->part.at[d] = g->next[d] + w_part * row, g->next[d] = w_next * row;
    else g->part.at[d] += w_part * row, g->next[d] += w_next * row;
  }
  return odd ? -1 : J - 1;
}

/* Weights of fine index i. */
static __device__ __forceinline__ gmg_pair_weights gmg_pair_weights_of(const gmg_map &m, int i)
{
  const int own = i >> 1;
  return {gmg_weight_of(m, i, own), gmg_weight_of(m, i, own - 1 + 2 * (i & 1))};
}

/* Weights of fine index i of an axis of n, which may be around a periodic axis; 0 unless it exists. */
static __device__ __forceinline__ gmg_pair_weights gmg_pair_weights_of(const gmg_map &m, int i, int n, int wraps, int exists)
{
  return exists ? gmg_pair_weights_of(m, gmg_wrap_once(i, n, wraps)) : gmg_pair_weights{0, 0};
}

/* Weights of a fine index i (gmg_map::near_pairs, in a map without a shift): of its parent, coarse index i / 2, and of the
   neighbour of the parent above or, unless `above`, below. */
typedef struct {
  real own, side;
  int above;
} gmg_near_pair;

/* The weights of index i, which may be beyond the ends of the axis: across a seam, or in the mirror image of the axis. Of the
   second image a small weight may be left out, if it reads beyond the neighbour of its parent. */
static __device__ __forceinline__ gmg_near_pair gmg_near_pair_of(const gmg_map &m, int i, int ends, int exists)
{
  if (!exists) return {0, 0, 1};
  const int r = gmg_fold_index(i, m.rows, ends), inside = r == i, wraps = ends & GMG_WRAPS, swaps = !inside && !wraps;
  const real low = gmg_at(m.weight, 2 * (size_t)r), high = gmg_at(m.weight, 2 * (size_t)r + 1);
  const real w[2] = {swaps ? high : low, swaps ? low : high};
  int first = __ldg(m.first + r);
  if (!inside) first = wraps ? first + (i < 0 ? -m.cols : m.cols) : (i < 0 ? 0 : 2 * (m.cols - 1)) - first - 1;
  const int at = first - (i >> 1);
  return {at == 0 ? w[0] : at == -1 ? w[1] : (real)0, at == 0 ? w[1] : at == -2 ? w[1] : w[0], at >= 0};
}

/* Weights of row 2 K + q. */
static __device__ __forceinline__ gmg_pair_weights gmg_pair_weights_of(const gmg_map &m, const gmg_repeated_pairs &same, int K,
                                                                       int q)
{
  return K >= same.begin && K < same.end ? same.w[q] : gmg_pair_weights_of(m, 2 * K + q);
}

/* Weights of a lane's fine columns along the line. */
typedef struct {
  gmg_pair_weights of[LANE_PAIRS][2];
} gmg_row_prolongation;

/* Interpolates a lane's part of a coarse row to its fine columns. left, right: the coarse values beside the part. */
static __device__ __forceinline__ gmg_cells gmg_prolong_row(const gmg_row_prolongation &s, const scalar c[LANE_PAIRS],
                                                            scalar left, scalar right)
{
  gmg_cells e;
#pragma unroll
  for (int d = 0; d < LANE_PAIRS; d++) {
    const scalar low = d > 0 ? c[d - 1] : left, up = d + 1 < LANE_PAIRS ? c[d + 1] : right;
    e.at[2 * d] = s.of[d][0].own * c[d] + s.of[d][0].side * low, e.at[2 * d + 1] = s.of[d][1].own * c[d] + s.of[d][1].side * up;
  }
  return e;
}

/* gmg_prolong_row() with the values beside the part taken from the neighbouring lanes. */
static __device__ __forceinline__ gmg_cells gmg_prolong_row(const gmg_row_prolongation &s, const scalar c[LANE_PAIRS])
{
  return gmg_prolong_row(s, c, __shfl_up_sync(~0u, c[LANE_PAIRS - 1], 1), __shfl_down_sync(~0u, c[0], 1));
}

/* The residual of a row; more: added to its diagonal. Wrong in the first and the last column of the warp. */
static __device__ __forceinline__ gmg_cells gmg_residual_of_row(const real coupling[3], const gmg_cells &diag, real more,
                                                                const gmg_cells &below, const gmg_cells &here,
                                                                const gmg_cells &above, const gmg_cells &rhs)
{
  const scalar left = __shfl_up_sync(~0u, here.at[LANE_COLS - 1], 1), right = __shfl_down_sync(~0u, here.at[0], 1);
  gmg_cells r;
#pragma unroll
  for (int c = 0; c < LANE_COLS; c++) {
    const scalar lo = c > 0 ? here.at[c - 1] : left, hi = c + 1 < LANE_COLS ? here.at[c + 1] : right;
    const scalar sum = coupling[0] * (lo + hi) + coupling[2] * (below.at[c] + above.at[c]);
    r.at[c] = rhs.at[c] - ((diag.at[c] + more) * here.at[c] - sum);
  }
  return r;
}

/* Calls body(k, r) for the rows begin <= k < end of the lane's columns. r is the residual; 0 if there is no unknown. It is wrong in
   the first and the last column of the warp. */
template <int whole, class Body>
static __device__ __forceinline__ void gmg_walk_rows(const gmg_uniform &s, const scalar *f, const scalar *u,
                                                     const gmg_lane_columns<whole> &x, int begin, int end, Body body)
{
  enum { COLS = LANE_COLS, AHEAD = 3, SLOTS = AHEAD + 3 };
  const int n = s.n[2], stride = (int)gmg_pitch_32(gmg_layout_32_of(gmg_layout_of(s)), 2);
  const real inner = gmg_at(s.diag[2], 1);
  gmg_cells diag, us[SLOTS], fs[SLOTS];
#pragma unroll
  for (int c = 0; c < COLS; c++) diag.at[c] = s.shift + gmg_at(s.diag[0], x.has(c) ? x.at(c) : 0) + gmg_at(s.diag[1], 0) + inner;
  const auto is_there = [&](int k) { return gmg_index_exists(k, n, s.wraps[2]); };
  const auto load = [&](int slot, int row) {
    us[slot] = x.read(u + row, gmg_load_constant());
    fs[slot] = x.read(f + row, gmg_load_constant());
  };
  const auto load_row = [&](int slot, int k) {
    us[slot] = fs[slot] = {};
    if (is_there(k)) load(slot, gmg_wrap_once(k, n, s.wraps[2]) * stride);
  };
#pragma unroll
  for (int t = 0; t < AHEAD + 2; t++) load_row(t, begin - 1 + t);
  const auto step = [&](auto checks, int t, int k) {
    constexpr int checked = decltype(checks)::value;
    const gmg_cells below = us[t], here = us[(t + 1) % SLOTS], above = us[(t + 2) % SLOTS], rhs = fs[(t + 1) % SLOTS];
    if (checked) load_row((t + AHEAD + 2) % SLOTS, k + AHEAD + 1);
    else load((t + AHEAD + 2) % SLOTS, (k + AHEAD + 1) * stride);
    const real more = checked && is_there(k) ? gmg_at(s.diag[2], gmg_wrap_once(k, n, s.wraps[2])) - inner : (real)0;
    gmg_cells r = gmg_residual_of_row(s.coupling, diag, more, below, here, above, rhs);
#pragma unroll
    for (int c = 0; c < COLS; c++)
      if (!x.has(c) || (checked && !is_there(k))) r.at[c] = 0;
    body(k, r);
  };
  for (int k = begin; k < end; k += SLOTS) { /* rows far from walls and seams need no checks */
    if (k > 0 && k + SLOTS <= end && k + SLOTS + AHEAD < n) {
#pragma unroll
      for (int t = 0; t < SLOTS; t++) step(gmg_unchecked(), t, k + t);
    } else {
#pragma unroll
      for (int t = 0; t < SLOTS; t++)
        if (k + t < end) step(gmg_checked(), t, k + t);
    }
  }
}

#endif
#endif
