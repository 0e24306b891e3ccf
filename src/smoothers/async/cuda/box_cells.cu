/* The asynchronous smoother for variable box stencils in 2D and 3D: a thread relaxes a cell, 2 x 2 (x 2) unknowns, one of each
   colour. It finds their places once. The order of unknowns is that of box.cu, whose threads find a place in each of 2 sweeps x 4
   or 8 colours. Called through its async_variant.

   - 2D: the entries of a cell stay in registers, so memory is read once whatever the number of sweeps. One H100, float, 8 x 8 to
     128^2 unknowns: 7 us instead of 14 with box.cu.
   - 3D: there are too many of them. The 27 entries of an unknown are loaded when it is relaxed. A solve with 40 discs takes 3.6
     instead of 5.2 ms on 96^3 cells, and 54 instead of 56 ms on 256^3.

   Loading the entries of the next colour ahead takes 49 ms on 256^3, but is wrong: with nvcc 13.0, in float, threads of a warp then
   arrive at a barrier apart where blocks are cut off (found by synccheck and by the tests). */
#include "box.cuh"

template <int dim> struct box_cell {
  enum { UNKNOWNS = 1 << dim, ENTRIES = dim > 2 ? 27 : 9, FIRST = dim > 2 ? 0 : 9 };
};
enum { MOST_CELLS = 512 }; /* of a block: more threads have too few registers */

static const size_t preferred_block[4][3] = {{0}, {0}, {64, 16, 1}, {32, 8, 8}};

/* Where the unknowns of a cell are. Unknown m is at bit a of m along axis a. Its colour is m ^ first_colour. */
struct cell_place {
  unsigned at[3][2]; /* offsets in the level along each axis */
  int x[3];          /* tile coordinates of unknown 0 */
  int place;         /* of unknown 0 in the tile */
  int first_colour;  /* of unknown 0 */
  unsigned exists;   /* bit m: unknown m is relaxed */
};

/* Cells along an axis, at most: all but the ring is relaxed. */
static __host__ __device__ __forceinline__ int cells_along(const box_tiles &s, int a) { return (s.size[a] - 1) / 2; }

template <int dim>
static __device__ __forceinline__ cell_place cell_place_of(const gmg_box_array_rows &A, const box_tiles &s, const box_place &p,
                                                           int cell)
{
  cell_place c;
  unsigned along[3] = {3, 3, 1}; /* bits: whether the lower and the upper half exist */
  int rest = cell;
  c.first_colour = 0;
#pragma unroll
  for (int a = 0; a < 3; a++) {
    c.x[a] = 0, c.at[a][0] = c.at[a][1] = 0;
    if (a >= dim) continue;
    const int count = cells_along(s, a), number = a + 1 < dim ? rest % count : rest;
    rest /= count;
    c.x[a] = p.first[a] + 2 * number, along[a] = 0, c.first_colour |= ((p.origin[a] + p.first[a]) & 1) << a;
#pragma unroll
    for (int half = 0; half < 2; half++) {
      const int exists = c.x[a] + half < p.end[a];
      along[a] |= (unsigned)exists << half;
      c.at[a][half] = (unsigned)box_index(A, p, a, min(c.x[a] + half, p.end[a] - 1)) * (unsigned)gmg_pitch(A.layout, a);
    }
  }
  c.place = (c.x[2] * s.size[1] + c.x[1]) * s.size[0] + c.x[0], c.exists = 0;
#pragma unroll
  for (int m = 0; m < 1 << dim; m++)
    c.exists |= (along[0] >> (m & 1) & along[1] >> (m >> 1 & 1) & along[2] >> (m >> 2) & 1) << m;
  return c;
}

static __device__ __forceinline__ unsigned offset_of(const cell_place &c, int m)
{
  return (m & 1 ? c.at[0][1] : c.at[0][0]) + (m & 2 ? c.at[1][1] : c.at[1][0]) + (m & 4 ? c.at[2][1] : c.at[2][0]);
}

/* The row of an unknown. Where there is none, that of another one. */
template <int dim> struct cell_row {
  real entry[box_cell<dim>::ENTRIES];
  scalar f;
};

template <int dim>
static __device__ __forceinline__ void load_row(const gmg_box_array_rows &A, const cell_place &c, int colour, const scalar *f,
                                                cell_row<dim> *to)
{
  const unsigned at = offset_of(c, colour ^ c.first_colour);
#pragma unroll
  for (int e = 0; e < box_cell<dim>::ENTRIES; e++) to->entry[e] = A.entry[box_cell<dim>::FIRST + e][at];
  to->f = f[at];
}

/* From an unknown to its last neighbour in a tile. */
static __host__ __device__ __forceinline__ int reach_of(const box_tiles &s, int dim)
{
  return (dim > 2 ? s.size[0] * s.size[1] : 0) + s.size[0] + 1;
}

static __host__ __device__ __forceinline__ int tile_size(const box_tiles &s) { return s.size[0] * s.size[1] * s.size[2]; }

/* Where there is no unknown, a thread computes with zeros after the tile and does not store, so that warps stay together. */
template <int dim>
static __device__ __forceinline__ void relax_unknown(const box_tiles &s, const cell_place &c, int colour, const cell_row<dim> &a,
                                                     real omega, scalar *tile)
{
  const int m = colour ^ c.first_colour, line = s.size[0], plane = line * s.size[1], exists = c.exists >> m & 1;
  const int here = c.place + (m & 1) + (m >> 1 & 1) * line + (m >> 2) * plane;
  scalar *const u = tile + (exists ? here : tile_size(s) + reach_of(s, dim));
  scalar image = 0;
#pragma unroll
  for (int e = 0; e < box_cell<dim>::ENTRIES; e++)
    image += a.entry[e] * u[e % 3 - 1 + (e / 3 % 3 - 1) * line + (dim > 2 ? e / 9 - 1 : 0) * plane];
  const scalar relaxed = *u + omega * ((a.f - image) / a.entry[box_cell<dim>::ENTRIES / 2]);
  if (exists) *u = relaxed;
}

/* Relaxes the unknowns of a cell, colour by colour. */
template <int dim>
static __device__ __forceinline__ void relax_cell(const gmg_box_array_rows &A, const box_tiles &s, const box_relaxation &how,
                                                  const cell_place &c, const scalar *f, scalar *tile)
{
  enum { COLOURS = box_cell<dim>::UNKNOWNS, HOLDS_ALL = dim == 2 };
  cell_row<dim> row[HOLDS_ALL ? COLOURS : 1];
  const int flip = how.reversed ? COLOURS - 1 : 0; /* colour ^ flip counts down */
#pragma unroll
  for (int colour = 0; HOLDS_ALL && colour < COLOURS; colour++) load_row<dim>(A, c, colour ^ flip, f, row + colour);
  __syncwarp();
  __syncthreads(); /* the tile is complete */
#pragma unroll 1
  for (int sweep = 0; sweep < how.sweeps; sweep++)
#pragma unroll
    for (int colour = 0; colour < COLOURS; colour++) {
      cell_row<dim> *const mine = row + (HOLDS_ALL ? colour : 0);
      if (!HOLDS_ALL) load_row<dim>(A, c, colour ^ flip, f, mine);
      relax_unknown<dim>(s, c, colour ^ flip, *mine, how.omega, tile);
      __syncthreads();
    }
}

template <int dim, int dynamic>
static __global__ void __launch_bounds__(MOST_CELLS)
    box_cells_kernel(gmg_box_array_rows A, box_tiles s, box_relaxation how, const scalar *f, const scalar *from, scalar *to,
                     work_queue queue)
{
  extern __shared__ double memory[];
  scalar *const tile = (scalar *)memory;
  const int line = s.size[0], plane = line * s.size[1], all = tile_size(s);
  for_blocks<dynamic>(queue, [&](unsigned block) {
    const box_place p = box_place_of(A, s, how.reversed, block);
    const cell_place c = cell_place_of<dim>(A, s, p, (int)threadIdx.x);
    for (int t = (int)threadIdx.x; t < all; t += (int)blockDim.x) {
      const int z = t / plane, y = (t - z * plane) / line, x = t - z * plane - y * line;
      const int i = box_index(A, p, 0, x), j = box_index(A, p, 1, y), k = box_index(A, p, 2, z);
      const int there = i >= 0 && j >= 0 && k >= 0;
      tile[t] = there && from ? gmg_load_relaxed(from + gmg_offset(A.layout, (size_t)i, (size_t)j, (size_t)k)) : (scalar)0;
    }
    for (int t = (int)threadIdx.x; t <= 2 * reach_of(s, dim); t += (int)blockDim.x) tile[all + t] = 0;
    relax_cell<dim>(A, s, how, c, f, tile);
#pragma unroll
    for (int m = 0; m < 1 << dim; m++) {
      int is_own = c.exists >> m & 1;
      for (int a = 0; a < dim; a++) {
        const int v = c.x[a] + (m >> a & 1) - s.margin[a];
        is_own = is_own && v >= 0 && v < p.own[a];
      }
      if (is_own) gmg_store_relaxed(to + offset_of(c, m), tile[c.place + (m & 1) + (m >> 1 & 1) * line + (m >> 2) * plane]);
    }
  });
}

static int lay_out(const gmg_smoother_level *l, async_state *s)
{
  const gmg_operator *A = l->A;
  if (!A->box || !A->box->array[13] || A->dim < 2 || l->params->async.local != GMG_LOCAL_RED_BLACK) return 0;
  s->blocks = gmg_blocks_make(A, l->params->async.block, preferred_block[A->dim]);
  const box_tiles t = box_tiles_of(l, s->blocks);
  const int cells = cells_along(t, 0) * cells_along(t, 1) * (A->dim > 2 ? cells_along(t, 2) : 1);
  if (cells > MOST_CELLS) return 0;
  s->bytes = (size_t)(tile_size(t) + 2 * reach_of(t, A->dim) + 1) * sizeof(scalar);
  s->threads = dim3((unsigned)(cells + 31) / 32 * 32);
  return 1;
}

static box_pass<gmg_box_array_rows> *kernel_of(const gmg_smoother_level *l)
{
  if (l->A->dim > 2) return is_dynamic(l->params) ? box_cells_kernel<3, 1> : box_cells_kernel<3, 0>;
  return is_dynamic(l->params) ? box_cells_kernel<2, 1> : box_cells_kernel<2, 0>;
}

static const void *prepare(const gmg_smoother_level *l, const async_state *s)
{
  return allow_shared(l, (const void *)kernel_of(l), s->max_bytes);
}

static void run(const gmg_smoother_level *l, const async_state *s, size_t passes, const void *f, const void *from, void *to,
                gmg_leg leg)
{
  run_box_pass(kernel_of(l), gmg_box_array_rows_of(l->A), l, s, passes, f, from, to, leg);
}

const async_variant R(async_box_cells) = {.lay_out = lay_out, .prepare = prepare, .run = run};
