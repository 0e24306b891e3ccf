/* The asynchronous smoother's reference kernel for box stencils, constant or variable: any dimension, overlap, block that fits in
   shared memory, in colours or all at once (Jacobi). A thread relaxes an unknown. It is slow and simple: the tests compare the
   other kernels for box stencils with it. Called through its async_variant. */
#include "box.cuh"

static const size_t preferred_block[4][3] = {{0}, {512, 1, 1}, {64, 16, 1}, {32, 8, 8}};

static gmg_blocks blocks_of(const gmg_smoother_level *l)
{
  return gmg_blocks_make(l->A, l->params->async.block, preferred_block[l->A->dim]);
}

static int cells_of(const box_tiles &s) { return s.size[0] * s.size[1] * s.size[2]; }

/* D^-1 (f - A u) at unknown (i, j, k) of the level, for constant entries and for those that vary. */
template <int dim>
static __device__ __forceinline__ scalar box_correction(const gmg_box_rows &A, const gmg_box_steps near[3], size_t, const scalar *u,
                                                        scalar f)
{
  return (f - gmg_box_image(dim, &A, near[0], near[1], near[2], u)) / A.diag;
}

template <int dim>
static __device__ __forceinline__ scalar box_correction(const gmg_box_array_rows &A, const gmg_box_steps near[3], size_t c,
                                                        const scalar *u, scalar f)
{
  return (f - gmg_box_array_image(dim, &A, near[0], near[1], near[2], c, u)) / A.entry[13][c];
}

template <class Rows, int dim, int dynamic>
static __global__ void __launch_bounds__(GMG_THREADS)
    box_kernel(Rows A, box_tiles s, box_relaxation how, const scalar *f, const scalar *from, scalar *to, work_queue queue)
{
  extern __shared__ double memory[];
  const int row = s.size[0], plane = row * s.size[1], cells = plane * s.size[2], me = (int)threadIdx.x;
  for_blocks<dynamic>(queue, [&](unsigned block) {
    scalar *u = (scalar *)memory, *next = how.coloured ? u : u + cells;
    const box_place p = box_place_of(A, s, how.reversed, block);
    for (int c = me; c < cells; c += GMG_THREADS) {
      const int z = c / plane, y = (c - z * plane) / row, x = c - z * plane - y * row;
      const int i = box_index(A, p, 0, x), j = box_index(A, p, 1, y), k = box_index(A, p, 2, z);
      const int there = i >= 0 && j >= 0 && k >= 0;
      u[c] = there && from ? gmg_load_relaxed(from + gmg_offset(A.layout, (size_t)i, (size_t)j, (size_t)k)) : (scalar)0;
      next[c] = u[c];
    }
    __syncthreads();
    const int colours = how.coloured ? 1 << dim : 1, step = how.coloured ? 2 : 1;
    for (int stage = 0; stage < how.sweeps * colours; stage++) {
      const int number = stage % colours, colour = how.reversed ? colours - 1 - number : number;
      int first[3], count[3];
      for (int a = 0; a < 3; a++) { /* colours by parity in the level, which continues across a seam */
        first[a] = p.first[a];
        if (how.coloured && a < dim) first[a] += ((p.origin[a] + p.first[a]) & 1) != ((colour >> a) & 1);
        count[a] = max(0, a < dim ? (p.end[a] - first[a] + step - 1) / step : 1);
      }
      for (int h = me; h < count[0] * count[1] * count[2]; h += GMG_THREADS) {
        const int z = h / (count[0] * count[1]), y = (h - z * count[0] * count[1]) / count[0];
        const int x = h - (z * count[1] + y) * count[0];
        const int v[3] = {first[0] + step * x, dim > 1 ? first[1] + step * y : 0, dim > 2 ? first[2] + step * z : 0};
        const int c = v[2] * plane + v[1] * row + v[0];
        const long pitch[3] = {1, row, plane};
        gmg_box_steps near[3];
        for (int a = 0; a < 3; a++)
          for (int side = -1; side <= 1; side++) {
            near[a].there[side + 1] = 1;
            near[a].to[side + 1] = side == 0 || a >= dim ? 0 : box_step(A, p, a, v[a], side > 0, (int)pitch[a]);
          }
        const int i = box_index(A, p, 0, v[0]), j = box_index(A, p, 1, v[1]), k = box_index(A, p, 2, v[2]);
        const size_t at = gmg_offset(A.layout, (size_t)i, (size_t)j, (size_t)k);
        next[c] = u[c] + how.omega * box_correction<dim>(A, near, at, u + c, f[at]);
      }
      __syncthreads();
      if (how.coloured) continue;
      scalar *swap = u;
      u = next, next = swap;
    }
    const int mine = p.own[0] * p.own[1] * p.own[2];
    for (int h = me; h < mine; h += GMG_THREADS) {
      const int z = h / (p.own[0] * p.own[1]), y = (h - z * p.own[0] * p.own[1]) / p.own[0];
      const int x = h - (z * p.own[1] + y) * p.own[0];
      const int v[3] = {x + s.margin[0], y + s.margin[1], z + s.margin[2]};
      const size_t i = (size_t)(p.origin[0] + v[0]), j = (size_t)(p.origin[1] + v[1]), k = (size_t)(p.origin[2] + v[2]);
      gmg_store_relaxed(to + gmg_offset(A.layout, i, j, k), u[v[2] * plane + v[1] * row + v[0]]);
    }
  });
}

template <class Rows> static box_pass<Rows> *kernel_of(const gmg_smoother_level *l)
{
  static box_pass<Rows> *const kernels[3][2] = {{box_kernel<Rows, 1, 0>, box_kernel<Rows, 1, 1>},
                                                {box_kernel<Rows, 2, 0>, box_kernel<Rows, 2, 1>},
                                                {box_kernel<Rows, 3, 0>, box_kernel<Rows, 3, 1>}};
  return kernels[l->A->dim - 1][is_dynamic(l->params)];
}

static int varies(const gmg_smoother_level *l) { return l->A->box->array[13] != NULL; }

static int lay_out(const gmg_smoother_level *l, async_state *s)
{
  if (!l->A->box) return 0;
  s->blocks = blocks_of(l);
  const int fields = l->params->async.local == GMG_LOCAL_JACOBI ? 2 : 1;
  s->bytes = (size_t)(fields * cells_of(box_tiles_of(l, s->blocks))) * sizeof(scalar), s->threads = dim3(GMG_THREADS);
  return 1;
}

static const void *prepare(const gmg_smoother_level *l, const async_state *s)
{
  const void *const kernel = varies(l) ? (const void *)kernel_of<gmg_box_array_rows>(l) : (const void *)kernel_of<gmg_box_rows>(l);
  return allow_shared(l, kernel, s->max_bytes);
}

static void run(const gmg_smoother_level *l, const async_state *s, size_t passes, const void *f, const void *from, void *to,
                gmg_leg leg)
{
  if (varies(l))
    run_box_pass(kernel_of<gmg_box_array_rows>(l), gmg_box_array_rows_of(l->A), l, s, passes, f, from, to, leg);
  else run_box_pass(kernel_of<gmg_box_rows>(l), gmg_box_rows_of(l->A), l, s, passes, f, from, to, leg);
}

const async_variant R(async_box) = {.lay_out = lay_out, .prepare = prepare, .run = run};
