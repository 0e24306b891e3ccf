/* The asynchronous smoother for 3D box stencils whose entries are even in each coordinate: entry[z][y][x] depends on |x|, |y| and
   |z| alone (finite elements, 27 equal points, most others). Relaxes in colours, with overlap 1, without walls that mirror. As in
   box_lines.cu a warp relaxes lines of 64 unknowns, two in each lane. Here values with equal entries are added before they are
   multiplied, and what a row gives to the rows before and after it is computed once. A warp has ROWS lines of one colour, so that
   all loads of a colour are under way at once. A pass may write to the update target of a cycle instead of u (fused.cuh). Called by
   box_lines.cu. */
#include "box.cuh"

#include "core/cuda/pdl.cuh"
#include "smoothers/relax/cuda/fused.cuh"

#include <limits.h>

/* Lines of a tile along axes 1 and 2, with ring: two thread blocks are to fit on a multiprocessor. Of each axis the inner SIDE - 2
   lines are relaxed, half of them of one colour; two warps share a plane. */
enum { LINE = 64, SIDE = sizeof(scalar) == 4 ? 14 : 10, INNER = SIDE - 2, ROWS = INNER / 4, WARPS = INNER, OWN = SIDE - 4 };

typedef struct alignas(2 * sizeof(scalar)) {
  scalar even, odd;
} pair;

static __device__ __forceinline__ pair plus(pair a, pair b) { return {a.even + b.even, a.odd + b.odd}; }

/* The last warp of a plane may compute rows beyond those of the tile, which it does not store. */
enum { BEYOND = 2 };

typedef struct {
  scalar u[SIDE][SIDE + BEYOND][LINE]; /* [z][y][x] */
  scalar f[INNER][INNER + BEYOND][LINE];
  int line[2][SIDE]; /* what the lines' indices along axes 1 and 2 add to offsets in the level; -1: beyond a wall */
} symmetric_tile;

/* The sums over the eight lines around an unknown's line: middle for its own column, side for the columns to its left and right. */
static __device__ __forceinline__ void line_sums(const async_symmetric_entries &a, pair y, pair z, pair yz, pair *middle,
                                                 pair *side)
{
  middle->even = a.at[0][1][0] * y.even + a.at[0][0][1] * z.even + a.at[0][1][1] * yz.even;
  middle->odd = a.at[0][1][0] * y.odd + a.at[0][0][1] * z.odd + a.at[0][1][1] * yz.odd;
  side->even = a.at[1][1][0] * y.even + a.at[1][0][1] * z.even + a.at[1][1][1] * yz.even;
  side->odd = a.at[1][1][0] * y.odd + a.at[1][0][1] * z.odd + a.at[1][1][1] * yz.odd;
}

/* Relaxes the columns of one line, of one colour after the other. v: values of the line. b: its right-hand side less what the lines
   around it contribute. odd_first: the odd columns of the tile before the even ones. even, odd: whether the column is relaxed. */
template <int odd_first>
static __device__ __forceinline__ pair relax_columns(const async_symmetric_entries &a, real step, pair v, pair b, int even, int odd)
{
  const unsigned all = 0xffffffffu;
#pragma unroll
  for (int half = 0; half < 2; half++) {
    if (half != odd_first) {
      const scalar near = v.even + __shfl_down_sync(all, v.even, 1);
      if (odd) v.odd += step * (b.odd - a.at[1][0][0] * near - a.at[0][0][0] * v.odd);
    } else {
      const scalar near = v.odd + __shfl_up_sync(all, v.odd, 1);
      if (even) v.even += step * (b.even - a.at[1][0][0] * near - a.at[0][0][0] * v.even);
    }
  }
  return v;
}

/* What may differ from 0 beside the lines of a colour. Only in the first sweep from zero is it not everything. */
typedef struct {
  int plane;  /* the lines before and after them in their plane */
  int planes; /* the planes beside theirs */
} known_lines;

/* Relaxes up to ROWS lines y, y + 2, ... of plane z, those in the part of the tile that is relaxed. Everything is computed for all
   ROWS lines, because without branches their instructions overlap. */
template <int odd_first>
static __device__ __forceinline__ void relax_rows(const async_symmetric_entries &a, const box_place &p, real step,
                                                  known_lines known, symmetric_tile &t, int y, int z, int lane)
{
  enum { ROW = LINE / 2, PLANE = (SIDE + BEYOND) * ROW }; /* pairs */
  const unsigned all = 0xffffffffu;
  const int x = 2 * lane, even = x >= p.first[0] && x < p.end[0], odd = x + 1 >= p.first[0] && x + 1 < p.end[0];
  pair *const here = (pair *)t.u[z][y] + lane;
  const pair *const rhs = (const pair *)t.f[z - 1][y - 1] + lane;
  pair beside[ROWS + 1], around[ROWS + 1]; /* rows between the own ones: of this plane, and of the two planes beside it */
  pair own[ROWS], across[ROWS];            /* own rows, likewise */
#pragma unroll
  for (int m = 0; m <= ROWS; m++) beside[m] = around[m] = pair{0, 0};
#pragma unroll
  for (int m = 0; m < ROWS; m++) own[m] = here[2 * m * ROW], across[m] = pair{0, 0};
  if (known.plane)
#pragma unroll
    for (int m = 0; m <= ROWS; m++) beside[m] = here[(2 * m - 1) * ROW];
  if (known.planes) {
#pragma unroll
    for (int m = 0; m <= ROWS; m++) around[m] = plus(here[(2 * m - 1) * ROW - PLANE], here[(2 * m - 1) * ROW + PLANE]);
#pragma unroll
    for (int m = 0; m < ROWS; m++) across[m] = plus(here[2 * m * ROW - PLANE], here[2 * m * ROW + PLANE]);
  }
#pragma unroll
  for (int m = 0; m < ROWS; m++) {
    pair b = rhs[2 * m * ROW];
    if (known.plane | known.planes) {
      pair middle, side;
      line_sums(a, plus(beside[m], beside[m + 1]), across[m], plus(around[m], around[m + 1]), &middle, &side);
      b.even = b.even - middle.even - (side.odd + __shfl_up_sync(all, side.odd, 1));
      b.odd = b.odd - middle.odd - (side.even + __shfl_down_sync(all, side.even, 1));
    }
    const pair v = relax_columns<odd_first>(a, step, own[m], b, even, odd);
    if (y + 2 * m < p.end[1]) here[2 * m * ROW] = v;
  }
}

/* Whether a line of the tile is not in its ring. */
static __device__ __forceinline__ int is_inner(int y, int z) { return (unsigned)(y - 1) < INNER && (unsigned)(z - 1) < INNER; }

/* Beyond walls u is 0; with from_zero it is 0 everywhere. Values that do not exist are read from elsewhere, and dropped. */
template <int from_zero>
static __device__ __forceinline__ void read_tile(const gmg_box_rows &A, const box_place &p, symmetric_tile &t, const scalar *f,
                                                 const scalar *from, int warp, int lane)
{
  enum { AT_ONCE = 4 }; /* lines whose loads are under way together */
  const int column[2] = {box_index(A, p, 0, lane), box_index(A, p, 0, lane + 32)};
  for (int first = warp; first < SIDE * SIDE; first += AT_ONCE * WARPS) {
    scalar value[AT_ONCE][2], rhs[AT_ONCE][2];
#pragma unroll
    for (int m = 0; m < AT_ONCE; m++) {
      const int line = min(first + m * WARPS, SIDE * SIDE - 1), z = line / SIDE, y = line - z * SIDE;
      const int along_y = t.line[0][y], along_z = t.line[1][z], there = (along_y | along_z) >= 0;
      const unsigned start = there ? (unsigned)(along_y + along_z) : 0;
#pragma unroll
      for (int h = 0; h < 2; h++) {
        const unsigned c = start + (unsigned)max(column[h], 0);
        value[m][h] = from_zero ? (scalar)0 : gmg_load_relaxed(from + c);
        rhs[m][h] = is_inner(y, z) ? __ldg(f + c) : (scalar)0;
        if (!there || column[h] < 0) value[m][h] = rhs[m][h] = 0;
      }
    }
#pragma unroll
    for (int m = 0; m < AT_ONCE; m++) {
      const int line = min(first + m * WARPS, SIDE * SIDE - 1), z = line / SIDE, y = line - z * SIDE;
#pragma unroll
      for (int h = 0; h < 2; h++) {
        t.u[z][y][lane + 32 * h] = value[m][h];
        if (is_inner(y, z)) t.f[z - 1][y - 1][lane + 32 * h] = rhs[m][h];
      }
    }
  }
}

/* from_zero: u is 0 before the pass; updates: writes to the update target, not to `to` */
template <int dynamic, int from_zero, int updates>
static __global__ void __launch_bounds__(32 * WARPS, 2)
    symmetric_kernel(gmg_box_rows A, async_symmetric_entries a, box_tiles s, box_relaxation how, const scalar *f,
                     const scalar *from, scalar *to, update_output output, work_queue queue)
{
  extern __shared__ double memory[];
  symmetric_tile &t = *(symmetric_tile *)memory;
  const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
  const real step = how.omega / A.diag;
  gmg_wait_for_predecessor();
  const double scale = updates ? update_scale(output) : 1;
  for_blocks<dynamic>(queue, [&](unsigned block) {
    const box_place p = box_place_of(A, s, how.reversed, block);
    const int me = (int)threadIdx.x;
    if (me < 2 * SIDE) {
      const int axis = 1 + me / SIDE, index = box_index(A, p, axis, me % SIDE);
      t.line[axis - 1][me % SIDE] = index < 0 ? -1 : index * (int)gmg_pitch(A.layout, axis);
    }
    __syncthreads();
    read_tile<from_zero>(A, p, t, f, from, warp, lane);
    __syncthreads();
    const int odd_first = how.reversed != (p.origin[0] & 1); /* the colours are those of the level */
    for (int stage = 0; stage < 4 * how.sweeps; stage++) {
      const int colour = how.reversed ? 3 - stage % 4 : stage % 4;
      const int y = p.first[1] + (((p.origin[1] + p.first[1]) & 1) != (colour & 1)) + 2 * ROWS * (warp % 2);
      const int z = p.first[2] + (((p.origin[2] + p.first[2]) & 1) != (colour >> 1)) + 2 * (warp / 2);
      const int later = !from_zero || stage >= 4;
      const known_lines known = {later || stage & 1, later || stage & 2};
      if (z < p.end[2] && odd_first) relax_rows<1>(a, p, step, known, t, y, z, lane);
      else if (z < p.end[2]) relax_rows<0>(a, p, step, known, t, y, z, lane);
      __syncthreads();
    }
    for (int line = warp; line < OWN * OWN; line += WARPS) {
      const int z = line / OWN, y = line - z * OWN;
      if (y >= p.own[1] || z >= p.own[2]) continue;
      const int start = t.line[0][y + s.margin[1]] + t.line[1][z + s.margin[2]];
      const int j = p.origin[1] + s.margin[1] + y, k = p.origin[2] + s.margin[2] + z;
      const int beside = updates ? start + update_gap(output, j, k) : 0;
      const scalar *const mine = t.u[z + s.margin[2]][y + s.margin[1]];
#pragma unroll
      for (int h = 0; h < 2; h++) {
        const int x = lane + 32 * h, own = x - s.margin[0];
        if (own < 0 || own >= p.own[0]) continue;
        if (updates) put_update(output, scale, beside + p.origin[0] + x, mine[x]);
        else gmg_store_relaxed(to + start + p.origin[0] + x, mine[x]);
      }
    }
  });
}

/* Finds the entries at |x|, |y|, |z|. Returns 0 if the stencil is not even in each coordinate, but for rounding. */
static int find_entries(const gmg_box_rows &A, async_symmetric_entries *a)
{
  const real dust = (sizeof(real) == 4 ? (real)1e-6 : (real)1e-14) * A.diag;
  for (int e = 0; e < 14; e++) a->at[e % 3 != 1][e / 3 % 3 != 1][e / 9 != 1] = A.entry[e];
  for (int e = 0; e < 27; e++) {
    const real difference = A.entry[e] - a->at[e % 3 != 1][e / 3 % 3 != 1][e / 9 != 1];
    if (difference > dust || -difference > dust) return 0;
  }
  return 1;
}

typedef void symmetric_pass(gmg_box_rows, async_symmetric_entries, box_tiles, box_relaxation, const scalar *, const scalar *,
                            scalar *, update_output, work_queue);

static symmetric_pass *kernel_of(const gmg_smoother_level *l, int from_zero)
{
  static symmetric_pass *const kernels[2][2] = {{symmetric_kernel<0, 0, 0>, symmetric_kernel<0, 1, 0>},
                                                {symmetric_kernel<1, 0, 0>, symmetric_kernel<1, 1, 0>}};
  return kernels[is_dynamic(l->params)][from_zero];
}

/* NULL: the type has none. */
static symmetric_pass *const updating_kernel = IN_FLOAT((symmetric_kernel<0, 0, 1>));

/* Whether the kernel supports the blocks, and the walls of the operator. */
static int takes_blocks(const gmg_smoother_level *l, const async_state *s)
{
  const box_tiles t = box_tiles_of(l, s->blocks);
  int mirrors = 0;
  for (int i = 0; i < 6; i++) mirrors |= l->A->box->mirrors[i / 2][i % 2];
  return l->A->dim == 3 && l->A->cells <= INT_MAX && !mirrors && l->params->async.overlap == 1 && t.shape[1] <= OWN &&
         t.shape[2] <= OWN;
}

extern "C" void R(async_box_symmetric_prepare)(const gmg_smoother_level *l, const async_state *s)
{
  if (!takes_blocks(l, s)) return;
  for (int zero = 0; zero < 2; zero++) gmg_allow_shared(l->exec, (const void *)kernel_of(l, zero), sizeof(symmetric_tile));
  if (updating_kernel) gmg_allow_shared(l->exec, (const void *)updating_kernel, sizeof(symmetric_tile));
}

extern "C" void R(async_box_symmetric_update)(const gmg_smoother_level *l, async_state *s)
{
  s->is_symmetric = takes_blocks(l, s) && find_entries(gmg_box_rows_of(l->A), &s->symmetric);
}

static void launch(symmetric_pass *kernel, const gmg_smoother_level *l, const async_state *s, size_t passes, const void *f,
                   const void *from, void *to, const update_output &output, gmg_leg leg)
{
  box_tiles t = box_tiles_of(l, s->blocks);
  t.order = order_of(l, s);
  async_launch k = launch_of(l, s, passes);
  k.grid.threads = dim3(32 * WARPS), k.grid.bytes = sizeof(symmetric_tile);
  gmg_launch_early(l->exec, "async", kernel, k.grid, gmg_box_rows_of(l->A), s->symmetric, t, box_relaxation_of(l, leg), f,
                   from, to, output, k.queue);
}

extern "C" void R(async_box_symmetric_run)(const gmg_smoother_level *l, const async_state *s, size_t passes, const void *f,
                                           const void *from, void *to, gmg_leg leg)
{
  launch(kernel_of(l, !from), l, s, passes, f, from, to, update_output{}, leg);
}

extern "C" int R(async_box_symmetric_postsmooth_update)(const gmg_smoother_level *l, const async_state *s, size_t passes,
                                                        const void *f, void *u, gmg_leg leg, const gmg_update_target *to)
{
  if (!updating_kernel || to->coarse || !update_has_offsets(to)) return 0;
  R(async_run_passes)(l, s, passes - 1, f, u, leg);
  launch(updating_kernel, l, s, 1, f, u, NULL, update_of(to, l->A), leg);
  return 1;
}
