/* The asynchronous smoother for box stencils in 2D and 3D, in colours. A warp relaxes a line of 64 unknowns of a tile, two in each
   lane. The values of a lane's pair in the 8 lines around it (2 in 2D) are loaded once. What a pair gives to the pairs beside it is
   summed over the lines first, and then crosses the lanes in two shuffles. So an unknown takes 4 loads of shared memory instead of
   27. Lines of one colour are relaxed together; along a line one half of the unknowns after the other. Called through its
   async_variant. */
#include "box.cuh"

enum { LINE = 64, WARPS = GMG_THREADS / 32 };

/* Unknowns of a block. Tiles of a line have LINE columns; two thread blocks are to fit on a multiprocessor. */
static const size_t preferred_lines[4] = {0, 0, 40, sizeof(scalar) == 4 ? 10 : 6};

typedef struct alignas(2 * sizeof(scalar)) {
  scalar even, odd;
} pair;

/* The row of a line, for all lanes: A u of a pair is the own part plus what comes from the lanes beside it. */
typedef struct {
  scalar even, odd; /* own part */
  scalar to_left, to_right; /* for the odd unknown of the lane before; for the even one of the lane after */
} line_sum;

static __device__ __forceinline__ void add_line(const pair v, real left, real middle, real right, line_sum &t)
{
  t.even += middle * v.even + right * v.odd;
  t.odd += left * v.even + middle * v.odd;
  t.to_left += right * v.even, t.to_right += left * v.odd;
}

template <int dim>
static __device__ __forceinline__ const pair *pair_at(const scalar *u, const box_tiles &s, int y, int z, int lane)
{
  return (const pair *)(u + (size_t)((dim > 2 ? z * s.size[1] : 0) + y) * LINE) + lane;
}

/* Beyond a wall that mirrors there is the value on this side. x: the even column of this lane. */
static __device__ __forceinline__ void mirror(const gmg_box_rows &A, const box_place &p, int x, pair &v)
{
  const unsigned all = 0xffffffffu;
  const int low = -1 - p.origin[0], high = (int)A.layout.n[0] - p.origin[0];
  if (A.wraps[0] || !(A.mirrors[0][0] || A.mirrors[0][1])) return;
  const pair after = {__shfl_down_sync(all, v.even, 1), __shfl_down_sync(all, v.odd, 1)};
  const pair before = {__shfl_up_sync(all, v.even, 1), __shfl_up_sync(all, v.odd, 1)};
  if (A.mirrors[0][0] && x == low) v.even = after.even;
  if (A.mirrors[0][0] && x + 1 == low) v.odd = after.odd;
  if (A.mirrors[0][1] && x == high) v.even = before.even;
  if (A.mirrors[0][1] && x + 1 == high) v.odd = before.odd;
}

/* Relaxes the pair of this lane in tile line (y, z). */
template <int dim>
static __device__ __forceinline__ void relax_line(const gmg_box_rows &A, const box_tiles &s, const box_place &p,
                                                  const box_relaxation &how, const pair rhs, scalar *u, int y, int z, int lane)
{
  const int ys[3] = {y + box_step(A, p, 1, y, 0, 1), y, y + box_step(A, p, 1, y, 1, 1)};
  const int zs[3] = {dim > 2 ? z + box_step(A, p, 2, z, 0, 1) : 0, z, dim > 2 ? z + box_step(A, p, 2, z, 1, 1) : 0};
  line_sum t = {0, 0, 0, 0};
#pragma unroll
  for (int c = gmg_box_first(dim, 2); c <= gmg_box_last(dim, 2); c++)
#pragma unroll
    for (int b = 0; b < 3; b++) {
      const int e = 3 * b + 9 * c;
      if (b == 1 && c == 1) continue;
      add_line(*pair_at<dim>(u, s, ys[b], zs[c], lane), A.entry[e], A.entry[e + 1], A.entry[e + 2], t);
    }
  const unsigned all = 0xffffffffu;
  const scalar even_sum = rhs.even - t.even - __shfl_up_sync(all, t.to_right, 1);
  const scalar odd_sum = rhs.odd - t.odd - __shfl_down_sync(all, t.to_left, 1);
  pair v = *pair_at<dim>(u, s, y, z, lane);
  const int x = 2 * lane, relaxes_even = x >= p.first[0] && x < p.end[0], relaxes_odd = x + 1 >= p.first[0] && x + 1 < p.end[0];
  const real left = A.entry[12], middle = A.entry[13], right = A.entry[14], step = how.omega / A.diag;
  const int odd_first = how.reversed != (p.origin[0] & 1); /* the colours are those of the level */
#pragma unroll
  for (int half = 0; half < 2; half++) {
    if (half != odd_first) {
      const scalar beside = __shfl_down_sync(all, v.even, 1);
      if (relaxes_odd) v.odd += step * (odd_sum - left * v.even - middle * v.odd - right * beside);
    } else {
      const scalar beside = __shfl_up_sync(all, v.odd, 1);
      if (relaxes_even) v.even += step * (even_sum - left * beside - middle * v.even - right * v.odd);
    }
    mirror(A, p, x, v);
  }
  *(pair *)pair_at<dim>(u, s, y, z, lane) = v;
}

/* The index along axis 0 to which tile column x belongs, with the column beyond a wall that mirrors; -1: none. */
static __device__ __forceinline__ int column_of(const gmg_box_rows &A, const box_place &p, int x)
{
  const int n = (int)A.layout.n[0], i = p.origin[0] + x;
  if (!A.wraps[0] && i == -1 && A.mirrors[0][0]) return 1;
  if (!A.wraps[0] && i == n && A.mirrors[0][1]) return n - 2;
  return box_index(A, p, 0, x);
}

template <int dim, int dynamic>
static __global__ void __launch_bounds__(GMG_THREADS, 2)
    lines_kernel(gmg_box_rows A, box_tiles s, box_relaxation how, const scalar *f, const scalar *from, scalar *to, work_queue queue)
{
  extern __shared__ double memory[];
  const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32, lines = s.size[1] * s.size[2];
  scalar *const u = (scalar *)memory, *const rhs = u + (size_t)lines * LINE;
  for_blocks<dynamic>(queue, [&](unsigned block) {
    const box_place p = box_place_of(A, s, how.reversed, block);
    const int column[2] = {column_of(A, p, lane), column_of(A, p, lane + 32)};
    for (int line = warp; line < lines; line += WARPS) {
      const int z = line / s.size[1], y = line - z * s.size[1], j = box_index(A, p, 1, y), k = box_index(A, p, 2, z);
      const size_t start = j >= 0 && k >= 0 ? gmg_offset(A.layout, 0, (size_t)j, (size_t)k) : 0;
#pragma unroll
      for (int h = 0; h < 2; h++) {
        const int there = j >= 0 && k >= 0 && column[h] >= 0;
        u[line * LINE + lane + 32 * h] = there && from ? gmg_load_relaxed(from + start + column[h]) : (scalar)0;
        rhs[line * LINE + lane + 32 * h] = there ? __ldg(f + start + column[h]) : (scalar)0;
      }
    }
    __syncthreads();
    const int colours = 1 << (dim - 1);
    for (int stage = 0; stage < how.sweeps * colours; stage++) {
      const int number = stage % colours, colour = how.reversed ? colours - 1 - number : number;
      const int y0 = p.first[1] + (((p.origin[1] + p.first[1]) & 1) != (colour & 1)), wide = (p.end[1] - y0 + 1) / 2;
      const int z0 = dim > 2 ? p.first[2] + (((p.origin[2] + p.first[2]) & 1) != (colour >> 1)) : 0;
      const int high = dim > 2 ? (p.end[2] - z0 + 1) / 2 : 1;
      for (int h = warp; h < wide * high; h += WARPS) {
        const int z = z0 + 2 * (h / wide), y = y0 + 2 * (h % wide);
        relax_line<dim>(A, s, p, how, *pair_at<dim>(rhs, s, y, z, lane), u, y, z, lane);
      }
      __syncthreads();
    }
    for (int line = warp; line < p.own[1] * p.own[2]; line += WARPS) {
      const int z = line / p.own[1], y = line - z * p.own[1];
      const size_t j = (size_t)(p.origin[1] + s.margin[1] + y), k = (size_t)(p.origin[2] + s.margin[2] + z);
      const size_t start = gmg_offset(A.layout, 0, j, k);
      const scalar *const mine = u + ((z + s.margin[2]) * s.size[1] + y + s.margin[1]) * LINE;
#pragma unroll
      for (int h = 0; h < 2; h++) {
        const int x = lane + 32 * h, own = x - s.margin[0];
        if (own >= 0 && own < p.own[0]) gmg_store_relaxed(to + start + p.origin[0] + x, mine[x]);
      }
    }
  });
}

static box_pass<gmg_box_rows> *kernel_of(const gmg_smoother_level *l)
{
  static box_pass<gmg_box_rows> *const kernels[2][2] = {{lines_kernel<2, 0>, lines_kernel<2, 1>},
                                                        {lines_kernel<3, 0>, lines_kernel<3, 1>}};
  return kernels[l->A->dim - 2][is_dynamic(l->params)];
}

/* Accepts constant entries in 2D and 3D, relaxed in colours, if the blocks fit. An even number of columns keeps the colours of
   neighbouring blocks alike. */
static int lay_out(const gmg_smoother_level *l, async_state *s)
{
  const gmg_operator *A = l->A;
  const gmg_params *p = l->params;
  if (!A->box || A->box->array[13] || A->dim < 2 || p->async.local != GMG_LOCAL_RED_BLACK || A->n[0] < 3) return 0;
  const size_t most = LINE - 2 * (size_t)(p->async.overlap + 1), lines = preferred_lines[A->dim];
  const size_t preferred[3] = {most, lines, A->dim > 2 ? lines : 1};
  s->blocks = gmg_blocks_make(A, p->async.block, preferred);
  if (s->blocks.count[0] > 1 && s->blocks.shape[0] % 2 && !p->async.block[0]) { /* most is even */
    const size_t wanted[3] = {s->blocks.shape[0] + 1, s->blocks.shape[1], s->blocks.shape[2]};
    s->blocks = gmg_blocks_make(A, wanted, preferred);
  }
  const box_tiles t = box_tiles_of(l, s->blocks);
  s->bytes = 2 * (size_t)(t.size[1] * t.size[2]) * LINE * sizeof(scalar), s->threads = dim3(GMG_THREADS);
  return t.size[0] <= LINE && s->bytes <= s->max_bytes;
}

static const void *prepare(const gmg_smoother_level *l, const async_state *s)
{
  R(async_box_symmetric_prepare)(l, s);
  return allow_shared(l, (const void *)kernel_of(l), s->max_bytes);
}

static void run(const gmg_smoother_level *l, const async_state *s, size_t passes, const void *f, const void *from, void *to,
                gmg_leg leg)
{
  if (s->is_symmetric) R(async_box_symmetric_run)(l, s, passes, f, from, to, leg);
  else run_box_pass(kernel_of(l), gmg_box_rows_of(l->A), l, s, passes, f, from, to, leg);
}

static int postsmooth_update(const gmg_smoother_level *l, const async_state *s, size_t passes, const void *f, void *u, gmg_leg leg,
                             const gmg_update_target *to)
{
  return s->is_symmetric && R(async_box_symmetric_postsmooth_update)(l, s, passes, f, u, leg, to);
}

const async_variant R(async_box_lines) = {.lay_out = lay_out,
                                          .prepare = prepare,
                                          .update = R(async_box_symmetric_update),
                                          .run = run,
                                          .postsmooth_update = postsmooth_update};
