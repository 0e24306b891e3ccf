/* The block of a warp in the row sweep (row_sweep.cuh): how many rows and columns it reads, where it lies, and its rows of a field
   of doubles. Included by row_interpolation.cuh. */
#ifndef GMG_SMOOTHERS_RELAX_CUDA_ROW_BLOCK_H
#define GMG_SMOOTHERS_RELAX_CUDA_ROW_BLOCK_H

#include "fused.cuh"
#include "geometry.cuh"

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

#endif
