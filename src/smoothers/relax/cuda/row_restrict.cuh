/* The downward leg from u = 0 in 2D in one pass (row_sweep.cuh): reads f, does two red-black sweeps (or one), writes u, and
   restricts its residual. Included by async/cuda/rows.cu and red_black/cuda.cu.

   From zero, half sweep h depends on f at most h - 1 unknowns away. With enough layers around it a block therefore computes exactly
   the result of sweeps over the whole level. The adjoint of interpolation also reads the residual one layer around the own
   unknowns, and so u two layers around them. For that a block needs f in five layers (one sweep: three). A lane has four of these
   columns. Of the fifth column only the result of the first half sweep is needed, by the second half sweep in the fourth column.
   From zero it depends on one value of f, in every second row. Blocks depend on f alone, so their order does not matter.

   The row HALF_SWEEPS before the loaded one is done. The residual is computed for the row before that.

   Rows of f are copied to shared memory ahead of their step, and every lane reads what it has copied itself. The ring of registers
   is then as short as the half sweeps need, and the unrolled loop with it. On an H200 a solve of 8192^2 takes 7.45 ms. With
   loads to registers it takes 7.76 ms.

   It is apart from row_sweep.cuh, which has no fifth column and no coarse level. Without it a solve takes up to 1.19 times as long
   (async_rows_restrict in docs/notes/variants.md). */
#ifndef GMG_SMOOTHERS_RELAX_CUDA_ROW_RESTRICT_H
#define GMG_SMOOTHERS_RELAX_CUDA_ROW_RESTRICT_H

#include "row_sweep.cuh"

#if GMG_REAL_F32 /* a lane covers a margin of four columns */

/* A lane's values of a row in shared memory. */
typedef struct alignas(sizeof(real_vector)) {
  real at[LANE_COLS];
} fetched_cells;

template <int HALF_SWEEPS, int whole>
static __global__ void __launch_bounds__(32 * BLOCK_WARPS, row_shape<HALF_SWEEPS, PASS_FROM_ZERO | PASS_RESTRICT, whole>::blocks)
    row_kernel_restrict(uniform_level s, gmg_pair_maps maps, const scalar *f, scalar *to, scalar *coarse, int coarse_row)
{
  typedef row_shape<HALF_SWEEPS, PASS_FROM_ZERO | PASS_RESTRICT, whole> shape;
  constexpr int COLS = LANE_COLS, AHEAD = shape::ahead, SLOTS = shape::slots, MARGIN = shape::margin, fifth = MARGIN > COLS;
  __shared__ real walls[2][COLS + 1][32 * BLOCK_WARPS]; /* including the fifth column */
  __shared__ fetched_cells ring[SLOTS][32 * BLOCK_WARPS]; /* rows of f that arrive */
  __shared__ scalar outer_ring[SLOTS][32 * BLOCK_WARPS];
  const unsigned number = blockIdx.x * BLOCK_WARPS + gmg_warp();
  if (number >= s.total) return;
  const int me = (int)threadIdx.x, lane = me % 32;
  const row_block<shape> b(s, (int)number, lane);
  const int first = b.first, J0 = b.begin / 2, J1 = (b.begin + b.own) / 2;
  const real inner = gmg_at(s.diag[2], 1), more_low = gmg_at(s.diag[2], 0) - inner,
             more_high = gmg_at(s.diag[2], s.n[2] - 1) - inner;
  const real wall_term = gmg_at(s.diag[1], 0) + s.shift + inner;
  row_inverses<COLS + 1> by;
  gmg_cells diag;
  by.walls = walls;
#pragma unroll
  for (int c = 0; c < COLS; c++) {
    diag.at[c] = gmg_at(s.diag[0], b.x.has(c) ? b.x.at(c) : 0) + wall_term;
    by.inverse.at[c] = b.x.has(c) ? 1 / diag.at[c] : (real)0; /* values that are not relaxed are 0 */
    walls[0][c][me] = b.x.has(c) ? 1 / (diag.at[c] + more_low) : (real)0;
    walls[1][c][me] = b.x.has(c) ? 1 / (diag.at[c] + more_high) : (real)0;
  }
  /* the fifth column: before those of the first lane, or after those of the last */
  const int outer = lane == 0 ? b.begin_x - MARGIN : b.end_x + MARGIN - 1, is_last = b.i == b.end_x;
  const int has_outer = fifth && (lane == 0 || is_last) && gmg_index_exists(outer, s.n[0], s.ends[0]);
  const int outer_column = has_outer ? gmg_wrap_once(outer, s.n[0], s.ends[0]) : 0;
  const real outer_diag = gmg_at(s.diag[0], outer_column) + wall_term, outer_inverse = has_outer ? 1 / outer_diag : (real)0;
  walls[0][COLS][me] = has_outer ? 1 / (outer_diag + more_low) : (real)0;
  walls[1][COLS][me] = has_outer ? 1 / (outer_diag + more_high) : (real)0;
  gmg_row_restriction g = gmg_row_restriction_of(maps, b.i / 2, b.x.own_pairs());

  gmg_cells u[SLOTS], rhs[SLOTS];
  scalar outer_rhs[SLOTS]; /* only in rows in which the second half sweep reads it */
  const auto copy = [&](int slot, int is_there, int row) {
    b.x.copy_async(ring[slot][me].at, f + row, is_there);
    if (has_outer && is_last == slot % 2)
      __pipeline_memcpy_async(&outer_ring[slot][me], f + (row + outer_column), sizeof(scalar), is_there ? 0 : sizeof(scalar));
    __pipeline_commit();
  };
  const auto copy_row = [&](int slot, int q) {
    const int is_there = b.is_row(q);
    copy(slot, is_there, is_there ? b.row_offset(s, q) : 0);
  };

  const int late = (first + 1 + s.reversed) & 1; /* odd steps relax odd columns */
#pragma unroll
  for (int c = 0; c < SLOTS; c++) u[c] = rhs[c] = {}, outer_rhs[c] = outer_ring[c][me] = 0;
#pragma unroll
  for (int c = 0; c < AHEAD; c++) copy_row(c, c - late);

  const auto step = [&](auto checks, int t, int q) {
    constexpr int checked = decltype(checks)::value;
    const auto slot = [&](int back) { return (t - back + 2 * SLOTS) % SLOTS; };
    __pipeline_wait_prior(AHEAD - 1);
    const gmg_cells oldest = u[t]; /* row q - SLOTS */
    u[t] = {}, rhs[t] = gmg_cells_of(*(const real_vector *)ring[t][me].at), outer_rhs[t] = outer_ring[t][me];
    if (checked) copy_row((t + AHEAD) % SLOTS, q + AHEAD);
    else copy((t + AHEAD) % SLOTS, 1, b.plain_row_offset(s, q + AHEAD));
    half_sweeps<HALF_SWEEPS, checked>(s, b, by, u, rhs, t, t % 2, q, [&](int h, int row, int wall) {
      if (!fifth || h != 2) return row_end{0, 0};
      const real inverse = checked && wall >= 0 ? walls[wall][COLS][me] : outer_inverse;
      return row_end{t % 2 ? is_last : lane == 0, s.weight[0] * (outer_rhs[row] * inverse)};
    });
    const int done = q - HALF_SWEEPS, p = done - 1;
    if (!checked || (done >= MARGIN && done < b.own + MARGIN))
      b.x.template write<whole ? COLS : 1>(u[slot(HALF_SWEEPS)], b.plain_row_offset(s, done), [&](int) { return to; });
    if (checked && (p < MARGIN - 1 || p > b.own + MARGIN)) return;

    static_assert(SLOTS > AHEAD && SLOTS >= HALF_SWEEPS + 2, "row p - 1 is still there, or is the oldest");
    const gmg_cells &here = u[slot(HALF_SWEEPS + 1)], &above = u[slot(HALF_SWEEPS)];
    const gmg_cells &below = SLOTS == HALF_SWEEPS + 2 ? oldest : u[slot(HALF_SWEEPS + 2)];
    const real more = !checked ? (real)0 : (p == b.wall_low ? more_low : (real)0) + (p == b.wall_high ? more_high : (real)0);
    gmg_cells r = gmg_residual_of_row(s.coupling, diag, more, below, here, above, rhs[slot(HALF_SWEEPS + 1)]);
#pragma unroll
    for (int c = 0; c < COLS; c++)
      if (!b.x.has(c) || (checked && !b.is_row(p))) r.at[c] = 0;
    const int J = gmg_restrict_row(maps, J0, J1, first + p, r, &g);
    if (J >= J0) b.x.write_pairs(coarse + (J * coarse_row + b.i / 2), g.part);
  };
  for_steps<SLOTS>(HALF_SWEEPS + MARGIN + 2 + late, b.plain_end - AHEAD + late,
                   b.own + MARGIN + HALF_SWEEPS + 2 + late, late, step);
}

/* The downward leg in one pass. Returns 0 if it does not apply. Blocks must contain both fine rows of every coarse row. */
template <int HALF_SWEEPS>
static inline int rows_restrict(const gmg_exec *e, const gmg_operator *A, const uniform_level &x, const gmg_blocks *b,
                                const gmg_map map[3], const void *f, void *u, void *coarse)
{
  if (A->dim != 2 || !b->total || A->n[0] % 2 || A->n[1] % 2 || (b->shape[1] % 2 && b->count[1] > 1)) return 0;
  if (A->n[0] < 8 || A->n[1] < 8) return 0; /* so that a block wraps around an axis at most once */
  for (int a = 0; a < 2; a++)
    if ((map[a].pairs != GMG_PAIRS_ADJOINT && map[a].pairs != GMG_PAIRS_AVERAGE) || 2 * (size_t)map[a].rows != A->n[a]) return 0;
  const int whole = gmg_has_whole_rows(A->n[0], f, u, coarse);
  const pitches coarse_at = pitches_of(gmg_layout_of_rows(map), 2);
  gmg_launch(e, "rows", whole ? row_kernel_restrict<HALF_SWEEPS, 1> : row_kernel_restrict<HALF_SWEEPS, 0>,
             gmg_warp_shape(b->total), x, gmg_pair_maps_of(map), first_unknown(x.layout, f), first_unknown(x.layout, u),
             first_unknown(coarse_at, coarse), coarse_at.plane);
  return 1;
}

#endif
#endif
