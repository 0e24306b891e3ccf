/* Tiles (relax/cuda/tile.cuh): accepts levels, chooses blocks, and launches. Called through its async_variant. */
#include "variant.h"

#include "smoothers/relax/cuda/tile.cuh"

/* The relaxed unknowns of a tile along the axes, used if there are at least `blocks` blocks per multiprocessor and, unless it is 0,
   at most `most`. Small levels have small tiles: there the time of one block counts, and below about 200 threads it does not
   decrease further. With coefficients on faces AT_ONCE blocks share a multiprocessor. A flat tile takes less time than a high one.
   If all run at once, a solve with beta in a ball in 64^3 takes 0.927 ms instead of 0.988 (H100). */
typedef struct {
  size_t relaxed[3];
  size_t blocks, most;
} tile_choice;
enum { TILE_CHOICES = 4, MAX_BLOCK_Z = 64, AT_ONCE = tile_of<GMG_FACES>::blocks, IN_DOUBLE = sizeof(real) == 8 };
static const tile_choice tile_choices[2][2][TILE_CHOICES] = {
    {{{{66, 32, 1}, 2}, {{36, 20, 1}}}, {{{64, 30, 1}, 2}, {{34, 14, 1}}}},
    {{{{32, 6, 10}, 8}, {{18, 10, 10}, 1}, {{10, 10, 10}}},
     {{{IN_DOUBLE ? 16 : 32, IN_DOUBLE ? 9 : 8, 14}, 4}, {{34, 10, 6}, 1, AT_ONCE}, {{16, 9, 10}, 1}, {{10, 10, 10}}}}};

/* Shape of the tiles of a level. */
typedef struct {
  dim3 threads;
  int margin[3], pitch, column; /* pitch: columns of a line; column: reals of a column */
  size_t bytes;                /* bytes of shared memory; 0: the tiles do not fit */
} tile_shape;

static tile_shape tile_shape_of(const gmg_smoother_level *l, const gmg_blocks *b, size_t max_bytes)
{
  const gmg_operator *A = l->A;
  const int kind = gmg_coefficients_of(A), dim = A->dim, faces = kind & GMG_FACES;
  const size_t high = faces ? tile_of<GMG_FACES>::high : tile_of<GMG_CONSTANT>::high;
  const size_t max_threads = faces ? tile_of<GMG_FACES>::max_threads : tile_of<GMG_CONSTANT>::max_threads;
  tile_shape t = {};
  size_t relaxed[3];
  for (int a = 0; a < 3; a++) {
    t.margin[a] = gmg_block_margin(b, A, a, l->params->async.overlap + 1);
    relaxed[a] = b->shape[a] + 2 * (size_t)t.margin[a] - 2;
  }
  const size_t wide = relaxed[0], deep = dim == 3 ? relaxed[1] : 1, segments = (relaxed[dim - 1] + 2 + high - 1) / high;
  if (wide > max_threads || deep > max_threads || segments > MAX_BLOCK_Z || wide * deep * segments > max_threads) return t;
  const size_t threads = wide * deep * segments, planes = segments * high + 1, pitch = wide + 2;
  const size_t columns = pitch * (dim == 3 ? deep + 2 : 1);
  t.threads = dim3((unsigned)wide, (unsigned)deep, (unsigned)segments);
  t.pitch = (int)pitch, t.column = (int)planes;
  t.bytes = planes * sizeof(tile_plane) + (columns * planes + 2) * sizeof(scalar);
  if (faces) t.bytes += threads * (high * (size_t)(dim - 1) + 1) * sizeof(tile_pair);
  if (t.bytes > max_bytes) t.bytes = 0;
  return t;
}

/* Chooses the blocks: the caller's, or as large as useful. */
static tile_shape tile_blocks(const gmg_smoother_level *l, size_t max_bytes, gmg_blocks *b)
{
  const gmg_operator *A = l->A;
  const size_t processors = processors_of(l);
  const tile_choice *choice = tile_choices[A->dim - 2][gmg_coefficients_of(A) & GMG_FACES ? 1 : 0];
  for (int c = 0;; c++) {
    size_t want[3];
    for (int a = 0; a < 3; a++) want[a] = a < A->dim ? choice[c].relaxed[a] - 2 * (size_t)l->params->async.overlap : 1;
    *b = gmg_blocks_make(A, l->params->async.block, want);
    const tile_shape t = tile_shape_of(l, b, max_bytes);
    const int suits = b->total >= choice[c].blocks * processors && (!choice[c].most || b->total <= choice[c].most * processors);
    if (!choice[c].blocks || (t.bytes && suits)) return t;
  }
}

static int lay_out(const gmg_smoother_level *l, async_state *s)
{
  const gmg_operator *A = l->A;
  if (A->dim == 1 || A->cells >= (size_t)1 << 31 || l->params->async.local == GMG_LOCAL_GAUSS_SEIDEL) return 0;
  if (!face_offsets_match(A)) return 0;
  const tile_shape t = tile_blocks(l, s->max_bytes, &s->blocks);
  s->bytes = t.bytes, s->threads = t.threads;
  return t.bytes > 0;
}

typedef void kernel(tile_level, const scalar *, const scalar *, scalar *, work_queue);

/* Kernels by dimension, kind, local relaxation (red-black, Jacobi), and dynamic assignment. */
#define KERNEL(dim, kind, local) {tile_kernel<dim, kind, local, 0>, tile_kernel<dim, kind, local, 1>}
#define KERNELS(dim, kind) {KERNEL(dim, kind, GMG_LOCAL_RED_BLACK), KERNEL(dim, kind, GMG_LOCAL_JACOBI)}
#define KERNELS_OF(dim) \
  {KERNELS(dim, 0), KERNELS(dim, GMG_FACES), KERNELS(dim, GMG_SIGMA), KERNELS(dim, GMG_FACES | GMG_SIGMA)}
static kernel *const kernels[2][4][2][2] = {KERNELS_OF(2), KERNELS_OF(3)};
#undef KERNELS_OF
#undef KERNELS
#undef KERNEL

static kernel *kernel_of(const gmg_smoother_level *l)
{
  return kernels[l->A->dim - 2][gmg_coefficients_of(l->A)][l->params->async.local == GMG_LOCAL_JACOBI][is_dynamic(l->params)];
}

static const void *prepare(const gmg_smoother_level *l, const async_state *s)
{
  const void *kernel = allow_shared(l, (const void *)kernel_of(l), s->max_bytes);
  if (gmg_coefficients_of(l->A) & GMG_FACES) /* without this, there is no room for two thread blocks */
    gmg_cuda_note(gmg_device_of(l->exec),
                  cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, cudaSharedmemCarveoutMaxShared),
                  "async");
  return kernel;
}

static tile_level level_of(const gmg_smoother_level *l, const async_state *state, gmg_leg leg)
{
  const gmg_operator *A = l->A;
  const gmg_params *p = l->params;
  const gmg_blocks *b = &state->blocks;
  const tile_shape t = tile_shape_of(l, b, state->max_bytes);
  const int axis[3] = {0, A->dim == 3 ? 1 : 2, A->dim - 1}, faces = gmg_coefficients_of(A) & GMG_FACES;
  tile_level s = {block_level_of(A, b, order_of(l, state), leg == GMG_LEG_UP_REVERSED)};
  for (int a = 0; a < 3; a++) {
    const int c = axis[a];
    if (a < 2) s.face_at[a] = layout_along(gmg_face_layout_of(A, c), A->dim);
    s.margin[a] = t.margin[c], s.lo[a] = A->lo[c], s.hi[a] = A->hi[c], s.face[a] = A->face[c];
    s.lo_diag[a] = faces ? A->lo_diag[c] : A->diag[c], s.hi_diag[a] = A->hi_diag[c];
  }
  s.field = layout_along(gmg_layout_of(A), A->dim);
  s.pitch = t.pitch, s.column = t.column;
  s.sigma = A->sigma, s.shift = (real)A->shift;
  weights_of(l, leg, s.weight);
  s.sweeps = p->async.local_sweeps, s.extra = p->async.local == GMG_LOCAL_RED_BLACK ? GMG_SEAM_SWEEPS : 0;
  return s;
}

static void run(const gmg_smoother_level *l, const async_state *s, size_t passes, const void *f, const void *from, void *to,
                gmg_leg leg)
{
  const async_launch k = launch_of(l, s, passes);
  gmg_launch_early(l->exec, "async", kernel_of(l), k.grid, level_of(l, s, leg), f, from, to, k.queue);
}

const async_variant R(async_tiles) = {.lay_out = lay_out, .prepare = prepare, .run = run};
