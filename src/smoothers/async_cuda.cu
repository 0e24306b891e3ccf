/* Block-asynchronous smoother async-(k) on a CUDA device (Anzt, Tomov, Dongarra, Heuveline 2013; as a smoother: Anzt, Dongarra,
   Gates, Tomov 2011). One thread block relaxes one block of unknowns.

   It holds its unknowns, `overlap` layers around them and a ring that is only read in shared memory, relaxes them k times from
   whatever values surround them, and writes back its own (restricted, as in Cai, Sarkis 1999). Nothing waits: blocks start as
   multiprocessors become free, in the given order, and those of a second pass do not wait for the first. What blocks share is
   read from and written to the L2 cache, which all multiprocessors see (ld.global.cg, st.global.cg): fresh, and never torn, a
   real being one aligned word.

   Deterministic twin: every block reads a copy made before the pass.

   Nearly all is done by kernels of their own: planes that stream through a block (async_stream_cuda.cuh; async_flow_cuda.cuh with
   coefficients on faces), rows through warps (async_strip_cuda.cuh), tiles of patches on levels that the cache holds
   (async_patch_cuda.cuh), tiles wholly on chip (async_tile_cuda.cuh), and 1D (async_line_cuda.cuh); async_general_cuda.cuh takes
   what is left.

   Each but those of patches, of warps and with coefficients on faces has a twin in which thread blocks stay and take blocks of
   unknowns dynamically (async_tickets_cuda.cuh). */
extern "C" {
#include "blocks.h"
#include "smoother.h"
}

#include "async_descend_cuda.cuh"
#include "async_general_cuda.cuh"
#include "async_legs_cuda.cuh"
#include "async_line_cuda.cuh"
#include "async_strip_onto_cuda.cuh"
#include "async_tile_cuda.cuh"

#include "async_flow_cuda.cuh"

#if GMG_REAL_F32 /* in double a patch would take twice the registers */
#include "async_patch_cuda.cuh"
#endif

/* On smaller levels filling the pipeline takes longer than relaxing tiles as a whole: 64^3 to 1e-10 1.57 instead of 1.84 ms. */
/* LARGE: from there on a pass over a u that is not 0 restricts, too: 0.157 instead of 0.167 ms at 256^3 in float, but 57 instead of 52
   us at 128^3. */
enum { MANY = 500000, SEVERAL = 300000, LARGE = 1 << 22, EXTRA = 2 }; /* EXTRA: more red-black sweeps for a block at a seam */
enum { MOST_CACHED = 5000000 };    /* unknowns of a level for which patches are faster than planes that stream */
static const size_t MOST_BLOCKS = 1u << 30, MOST_PASSES = 65535; /* of a launch */

/* How a level is taken. */
typedef struct {
  gmg_blocks blocks;
  gmg_blocks last;       /* 2D: of the last pass, where it goes to another field (async_strip_onto_cuda.cuh) */
  size_t bytes, most;    /* of shared memory: what the pass takes, what there is */
  int streams;           /* planes stream through (async_stream_cuda.cuh) */
  int patches;           /* tiles of patches (async_patch_cuda.cuh): 1 + their shape */
  int strips;            /* 2D: through the registers of warps (async_strip_cuda.cuh), unless fields are not aligned */
  int flows;             /* and coefficients lie on the faces (async_flow_cuda.cuh) */
  int threads;           /* of a thread block that has a stretch of a line (async_line_cuda.cuh); 0: not so */
  tile_shape tile;       /* .bytes: tiles wholly on chip (async_tile_cuda.cuh) */
  general_tiles general; /* else */
  int *order;            /* [blocks.total], device */
  real *before;          /* deterministic: u before the pass */
  size_t staying;        /* thread blocks that take blocks dynamically; 0: each has one */
  unsigned long long *next; /* ticket of those, device */
} async_state;

/* Stretches of a line: as long as pays, but two for each multiprocessor; 0 where the level or the caller wants others. */
static int line_blocks(const gmg_smoother_level *l, int processors, async_state *s)
{
  const gmg_operator *A = l->A;
  const gmg_params *p = l->params;
  enum { DEFAULT = 256, LEAST = 64 };
  size_t want[3] = {p->block[0], p->block[1], p->block[2]};
  if (A->dim != 1 || gmg_kind_of(A) != GMG_CONSTANT || !A->uniform[0] || A->n[0] < 3) return 0;
  for (size_t threads = DEFAULT; !p->block[0] && threads >= LEAST; threads /= 2) {
    want[0] = threads * LINE_PER - LINE_SPARE;
    if (A->n[0] / want[0] >= 2 * (size_t)processors) break;
  }
  s->blocks = gmg_blocks_make(A, want, preferred_block[1]);
  const size_t threads = line_threads(s->blocks.shape[0], p->overlap);
  if (threads > LINE_MOST) return 0;
  s->threads = (int)threads, s->bytes = line_bytes(threads);
  return 1;
}

static int can_stream(const gmg_smoother_level *l)
{
  const gmg_params *p = l->params;
  const int free_choice = !p->block[0] && !p->block[1] && !p->block[2];
  return stream_suits(l->A) && (!free_choice || l->A->cells >= MANY) && p->local == GMG_LOCAL_RED_BLACK && p->local_sweeps == 2 &&
         p->overlap == 1;
}

static int takes(const gmg_params *p) { return p->assignment == GMG_ASSIGN_DYNAMIC || p->in_flight || p->oversubscription; }

/* On smaller levels in 2D tiles take less time: 512^2 6 instead of 15 us. */
static int can_strip(const gmg_smoother_level *l)
{
  const gmg_params *p = l->params;
  const int free_choice = !p->block[0] && !p->block[1] && !p->block[2];
  return stream_suits(l->A) && l->A->dim == 2 && (!free_choice || l->A->cells >= SEVERAL) && p->local == GMG_LOCAL_RED_BLACK &&
         p->local_sweeps == 2 && p->overlap == 1 && !takes(p);
}

static int can_flow(const gmg_smoother_level *l)
{
  const gmg_operator *A = l->A;
  const gmg_params *p = l->params;
  const int free_choice = !p->block[0] && !p->block[1] && !p->block[2];
  for (int a = 0; a < 3; a++)
    if (A->wraps[a] && A->n[a] % 2) return 0; /* at a seam colours meet */
  return A->face[0] && A->dim == 3 && A->cells <= 0x7fffffff && (!free_choice || A->cells >= MANY) && !takes(p) &&
         p->local == GMG_LOCAL_RED_BLACK && p->local_sweeps == 2 && p->overlap == 1;
}

#if GMG_REAL_F32
static int can_patch(const gmg_smoother_level *l)
{
  const gmg_params *p = l->params;
  return l->A->dim == 3 && l->A->cells <= MOST_CACHED && stream_suits(l->A) && !takes(p) && p->local == GMG_LOCAL_RED_BLACK &&
         p->overlap == 1;
}
#endif

static async_state layout(const gmg_smoother_level *l, size_t most_bytes)
{
  const gmg_operator *A = l->A;
  const gmg_params *p = l->params;
  const int processors = gmg_device_of(l->exec)->processors;
  async_state s = {};
  if (line_blocks(l, processors, &s)) return s;
  s = {};
  if (can_flow(l) && flow_bytes(A) + FLOW_ALONG_BYTES <= most_bytes && flow_blocks(l, (size_t)processors, &s.blocks)) {
    s.flows = 1, s.bytes = flow_bytes(A);
    return s;
  }
#if GMG_REAL_F32
  if (can_patch(l) && (s.patches = patch_blocks(l, (size_t)processors, &s.blocks)) > 0) {
    s.bytes = patch_functions[s.patches - 1].bytes;
    return s;
  }
#endif
  if (can_strip(l) && strip_blocks(A, p->block, STRIP_BLOCKS * processors, &s.blocks)) {
    s.streams = s.strips = 1;
#if GMG_REAL_F32
    s.last = s.blocks;
    if (!p->deterministic) (void)strip_blocks(A, p->block, ONTO_BLOCKS * processors, &s.last);
#endif
    s.bytes = stream_bytes<2, 4>();
    return s;
  }
  if (can_stream(l) && (A->dim == 3 ? stream_blocks<3, 4> : stream_blocks<2, 4>)(A, p->block, (size_t)processors, &s.blocks)) {
    s.streams = 1;
    s.bytes = A->dim == 3 ? stream_bytes<3, 4>() : stream_bytes<2, 4>();
    return s;
  }
  if (A->dim > 1 && A->cells < (size_t)1 << 31 && p->local != GMG_LOCAL_GAUSS_SEIDEL)
    s.tile = tile_blocks(l, (size_t)processors, most_bytes, &s.blocks);
  if (s.tile.bytes) {
    s.bytes = s.tile.bytes;
    return s;
  }
  s.general = general_tiles_of(l);
  s.blocks = s.general.blocks, s.bytes = s.general.bytes;
  return s;
}

static const void *kernel_of(const gmg_smoother_level *l, const async_state *s)
{
  const int taking = takes(l->params), coloured = l->params->local == GMG_LOCAL_RED_BLACK;
  if (s->flows) return (const void *)flow_kernel_of(l->A);
  if (s->streams && l->A->dim == 3) return taking ? (const void *)stream_kernel_taking<3> : (const void *)stream_kernel<3>;
  if (s->streams) return taking ? (const void *)stream_kernel_taking<2> : (const void *)stream_kernel<2>;
  if (s->threads && coloured) return taking ? (const void *)line_kernel_taking<1> : (const void *)line_kernel<1>;
  if (s->threads) return taking ? (const void *)line_kernel_taking<0> : (const void *)line_kernel<0>;
  if (s->tile.bytes) return taking ? (const void *)tile_kernel_of(l).taking : (const void *)tile_kernel_of(l).fixed;
  const general_function general = general_kernels[gmg_kind_of(l->A)];
  return taking ? (const void *)general.taking : (const void *)general.fixed;
}

static dim3 threads_of(const gmg_smoother_level *l, const async_state *s)
{
#if GMG_REAL_F32
  if (s->patches) return dim3((unsigned)patch_functions[s->patches - 1].threads);
#endif
  if (s->flows) return dim3(FLOW_THREADS);
  if (s->streams) return dim3((unsigned)(32 * stream_rows(l->A->dim, &s->blocks)));
  if (s->threads) return dim3((unsigned)s->threads);
  return s->tile.bytes ? s->tile.threads : dim3(GMG_THREADS);
}

/* --- launches --------------------------------------------------------------------------------------------------------- */

/* By whether u is 0. */
static void (*const sums_kernels[2])(stream, const real *, const real *, real *, sums) = {stream_kernel_sums<0>,
                                                                                         stream_kernel_sums<STREAM_ZERO>};

/* One pass or more over all blocks. */
typedef struct {
  size_t passes;
  const real *f, *from; /* from = NULL: u is 0 */
  real *to;
  int reversed;
} pass;

/* What is common to a level's launches. */
typedef struct {
  dim3 threads;
  size_t bytes;
  cudaStream_t stream;
  unsigned staying;
  tickets taking; /* for those */
} launch;

/* The counter of tickets starts anew. Only enqueues. */
static launch launch_of(const gmg_smoother_level *l, const async_state *s, size_t passes)
{
  const size_t all = passes * s->blocks.total;
  gmg_device *d = gmg_device_of(l->exec);
  launch k = {threads_of(l, s), s->bytes, d->stream, (unsigned)(s->staying < all ? s->staying : all), {s->next, all}};
  if (s->staying) gmg_cuda_note(d, cudaMemsetAsync(s->next, 0, sizeof *s->next, d->stream), "async");
  return k;
}

template <int dim> static void run_stream(const gmg_smoother_level *l, const async_state *s, const launch *k, const pass *p)
{
  const stream x = stream_of(l->A, &s->blocks, s->order, gmg_weight_async(l->A, l->params), p->reversed, p->from, p->to);
  if (s->strips && gmg_is_strip(p->f, p->from, p->to)) {
    const unsigned turns = (unsigned)(p->passes * s->blocks.total);
    strip_kernel<<<(turns + STRIP_WARPS - 1) / STRIP_WARPS, 32 * STRIP_WARPS, 0, k->stream>>>(x, turns, p->f, p->from, p->to);
    return;
  }
  if (dim == 3 && !k->staying && !p->from && p->passes == 1)
    stream_kernel_zero<<<(unsigned)s->blocks.total, k->threads, k->bytes, k->stream>>>(x, p->f, p->to);
  else if (k->staying) stream_kernel_taking<dim><<<k->staying, k->threads, k->bytes, k->stream>>>(x, k->taking, p->f, p->from, p->to);
  else stream_kernel<dim><<<(unsigned)(p->passes * s->blocks.total), k->threads, k->bytes, k->stream>>>(x, p->f, p->from, p->to);
}

#if GMG_REAL_F32
static void run_patches(const gmg_smoother_level *l, const async_state *s, const launch *k, const pass *p)
{
  const patches x = patches_of(l, &s->blocks, s->order, p->reversed);
  const int whole = ((uintptr_t)p->f | (uintptr_t)p->from | (uintptr_t)p->to) % sizeof(real_pair) == 0;
  for (size_t done = 0; done < p->passes; done += MOST_PASSES) {
    const dim3 grid((unsigned)s->blocks.total, (unsigned)(p->passes - done < MOST_PASSES ? p->passes - done : MOST_PASSES));
    patch_functions[s->patches - 1].kernel[!p->from][whole]<<<grid, k->threads, k->bytes, k->stream>>>(x, p->f, p->from, p->to);
  }
}
#endif

static void run_flow(const gmg_smoother_level *l, const async_state *s, const launch *k, const pass *p)
{
  const flow x = flow_of(l, &s->blocks, s->order, p->reversed);
  flow_kernel_of(l->A)<<<(unsigned)(p->passes * s->blocks.total), k->threads, k->bytes, k->stream>>>(x, p->f, p->from, p->to);
}

static void run_tiles(const gmg_smoother_level *l, const async_state *s, const launch *k, const pass *p)
{
  const tiles t = tiles_of(l, &s->tile, &s->blocks, s->order, p->reversed);
  const tile_function kernel = tile_kernel_of(l);
  const unsigned total = (unsigned)s->blocks.total;
  if (k->staying) {
    kernel.taking<<<k->staying, k->threads, k->bytes, k->stream>>>(t, k->taking, total, p->f, p->from, p->to);
    return;
  }
  for (size_t done = 0; done < p->passes; done += MOST_PASSES) {
    const dim3 grid(total, (unsigned)(p->passes - done < MOST_PASSES ? p->passes - done : MOST_PASSES));
    kernel.fixed<<<grid, k->threads, k->bytes, k->stream>>>(t, p->f, p->from, p->to);
  }
}

static void run_line(const gmg_smoother_level *l, const async_state *s, const launch *k, const pass *p)
{
  const gmg_operator *A = l->A;
  const gmg_params *q = l->params;
  const int coloured = q->local == GMG_LOCAL_RED_BLACK, extra = coloured && A->wraps[0] && A->n[0] % 2 ? EXTRA : 0;
  const size_t all = p->passes * s->blocks.total;
  line_pass x = {(long)A->n[0], A->wraps[0], (int)s->blocks.shape[0], q->overlap, q->local_sweeps, extra, p->reversed, 0,
                 (unsigned)s->blocks.total, q->order == GMG_ORDER_NATURAL ? NULL : s->order, A->lo[0], A->hi[0],
                 {A->diag[0], A->diag[1], A->diag[2]}, (real)A->shift, (real)gmg_weight_async(A, q)};
  if (k->staying) {
    (coloured ? line_kernel_taking<1> : line_kernel_taking<0>)<<<k->staying, k->threads, k->bytes, k->stream>>>(x, k->taking, p->f,
                                                                                                                p->from, p->to);
    return;
  }
  for (size_t first = 0; first < all; first += MOST_BLOCKS) {
    const unsigned grid = (unsigned)(all - first < MOST_BLOCKS ? all - first : MOST_BLOCKS);
    x.first = (unsigned)(first % s->blocks.total);
    (coloured ? line_kernel<1> : line_kernel<0>)<<<grid, k->threads, k->bytes, k->stream>>>(x, p->f, p->from, p->to);
  }
}

static void run_general(const gmg_smoother_level *l, const async_state *s, const launch *k, const pass *p)
{
  const gmg_params *q = l->params;
  const general_function kernel = general_kernels[gmg_kind_of(l->A)];
  const relaxation how = {(int)q->local, q->local_sweeps, q->local == GMG_LOCAL_RED_BLACK ? EXTRA : 0, p->reversed,
                          (real)gmg_weight_async(l->A, q)};
  const size_t all = p->passes * s->blocks.total;
  general_tiles t = s->general;
  t.order = s->order;
  if (k->staying) {
    kernel.taking<<<k->staying, k->threads, k->bytes, k->stream>>>(*l->A, t, how, k->taking, p->f, p->from, p->to);
    return;
  }
  for (size_t first = 0; first < all; first += MOST_BLOCKS) {
    const unsigned grid = (unsigned)(all - first < MOST_BLOCKS ? all - first : MOST_BLOCKS);
    kernel.fixed<<<grid, k->threads, k->bytes, k->stream>>>(*l->A, t, how, first, p->f, p->from, p->to);
  }
}

/* All blocks, `passes` times over. from = NULL: u is 0. */
static void run_blocks(const gmg_smoother_level *l, const async_state *s, size_t passes, const void *f, const void *from, void *to,
                       int reversed)
{
  const pass p = {passes, (const real *)f, (const real *)from, (real *)to, reversed};
  const launch k = launch_of(l, s, passes);
#if GMG_REAL_F32
  if (s->patches) {
    run_patches(l, s, &k, &p);
    gmg_cuda_launched(l->exec, "async");
    return;
  }
#endif
  if (s->streams) (l->A->dim == 3 ? run_stream<3> : run_stream<2>)(l, s, &k, &p);
  else if (s->flows) run_flow(l, s, &k, &p);
  else if (s->threads) run_line(l, s, &k, &p);
  else if (s->tile.bytes) run_tiles(l, s, &k, &p);
  else run_general(l, s, &k, &p);
  gmg_cuda_launched(l->exec, "async");
}

static void run_passes(const gmg_smoother_level *l, const async_state *s, size_t passes, const void *f, void *u, int reversed)
{
  if (!s->before) {
    run_blocks(l, s, passes, f, u, u, reversed);
    return;
  }
  for (size_t p = 0; p < passes; p++) {
    l->exec->vector->copy(l->exec, l->A->cells, u, s->before);
    run_blocks(l, s, 1, f, s->before, u, reversed);
  }
}

static void sweep(const gmg_smoother_level *l, void *state, const void *f, void *u, int steps, gmg_leg leg)
{
  run_passes(l, (const async_state *)state, (size_t)(steps * l->params->passes), f, u, leg == GMG_LEG_UP_REVERSED);
}

/* As on the host: with overlap the first pass may as well find zeros around every block, and then reads f alone. */
static void sweep_from_zero(const gmg_smoother_level *l, void *state, const void *f, void *u, int steps, gmg_leg leg)
{
  const async_state *s = (const async_state *)state;
  const size_t passes = (size_t)(steps * l->params->passes);
  const int reversed = leg == GMG_LEG_UP_REVERSED, fresh = l->params->overlap == 0 && !s->before;
  if (fresh)
    l->exec->vector->fill(l->exec, l->A->cells, 0, u);
  else
    run_blocks(l, s, 1, f, NULL, u, reversed);
  if (passes > 1 || fresh) run_passes(l, s, fresh ? passes : passes - 1, f, u, reversed);
}

#if GMG_REAL_F32
/* From zero in 2D, in one pass; 1 where done. */
static int descend_strips(const gmg_smoother_level *l, const async_state *s, const real *f, real *u, const gmg_map map[3], real *coarse)
{
  if (!can_descend(l->A, &s->blocks, map, f, u, coarse)) return 0;
  const stream x = stream_of(l->A, &s->blocks, NULL, gmg_weight_async(l->A, l->params), 0, u, NULL);
  const unsigned grid = ((unsigned)s->blocks.total + STRIP_WARPS - 1) / STRIP_WARPS;
  descend_kernel<<<grid, 32 * STRIP_WARPS, 0, gmg_device_of(l->exec)->stream>>>(x, gmg_pair_maps_of(map), f, u, coarse);
  gmg_cuda_launched(l->exec, "async");
  return 1;
}
#endif

/* The last pass also restricts the residual; in 2D that from zero. Not for the deterministic twin: what blocks add to a coarse value they share they add
   in any order. */
static int sweep_restrict(const gmg_smoother_level *l, void *state, const void *f, void *u, int steps, int from_zero,
                          const struct gmg_map *map, void *coarse)
{
  const async_state *s = (const async_state *)state;
  const size_t passes = (size_t)(steps * l->params->passes), bytes = s->bytes + 2 * shape_of<3, 4>::threads * sizeof(real);
  const int zero = from_zero && passes == 1;
  const int pays = zero || l->params->block[0] || l->A->cells >= LARGE; /* as else only where the caller wants such blocks */
  sums r;
#if GMG_REAL_F32
  if (s->strips) return zero && !s->before && descend_strips(l, s, (const real *)f, (real *)u, map, (real *)coarse);
#endif
  if (!pays || !s->streams || s->staying || s->before || passes == 0 || bytes > s->most || !sums_of(&r, coarse, l->A, map, &s->blocks)) return 0;
  const size_t first = from_zero && passes > 1, between = passes - 1 - first;
  if (first) run_blocks(l, s, 1, f, NULL, u, 0);
  if (between) run_blocks(l, s, between, f, u, u, 0);
  l->exec->vector->fill(l->exec, (size_t)r.n[0] * (size_t)r.n[1] * (size_t)r.n[2], 0, coarse);
  const stream x = stream_of(l->A, &s->blocks, s->order, gmg_weight_async(l->A, l->params), 0, u, NULL);
  sums_kernels[zero]<<<(unsigned)s->blocks.total, threads_of(l, s), bytes, gmg_device_of(l->exec)->stream>>>(
      x, (const real *)f, (const real *)u, (real *)u, r);
  gmg_cuda_launched(l->exec, "async");
  return 1;
}

#if GMG_REAL_F32
/* Kernels by whether a correction comes in, and dimension. */
static void (*const onto_kernels[2][2])(stream, const real *, const real *, onto) = {
    {stream_kernel_onto<2, STREAM_ONTO>, stream_kernel_onto<3, STREAM_ONTO>},
    {stream_kernel_onto<2, STREAM_ONTO | STREAM_LIFT>, stream_kernel_onto<3, STREAM_ONTO | STREAM_LIFT>}};

static void run_patches_onto(const gmg_smoother_level *l, const async_state *s, const void *f, const void *u, int reversed, onto o)
{
  const patch_function *p = &patch_functions[s->patches - 1];
  const int whole = ((uintptr_t)f | (uintptr_t)u) % sizeof(real_pair) == 0 && (uintptr_t)o.x % sizeof(double2) == 0 && p->bytes_onto <= s->most;
  p->onto[whole]<<<(unsigned)s->blocks.total, (unsigned)p->threads, whole ? p->bytes_onto : s->bytes, gmg_device_of(l->exec)->stream>>>(
      patches_of(l, &s->blocks, s->order, reversed), (const real *)f, (const real *)u, o);
  gmg_cuda_launched(l->exec, "async");
}

/* The same where rows stream through warps; 1 where done: one pass, with a correction. */
static int sweep_strips_onto(const gmg_smoother_level *l, const async_state *s, const real *f, const real *u, int reversed,
                             const gmg_onto *to)
{
  if (!to->coarse || !can_strip_onto(l->A, to->prolong, f, u, to->x)) return 0;
  const stream x = stream_of(l->A, &s->last, NULL, gmg_weight_async(l->A, l->params), reversed, u, NULL);
  const strip_onto o = {(double *)to->x, to->scale, to->size, to->keep, (const real *)to->coarse, to->prolong[0], to->prolong[1],
                        gmg_pair_family_of(&to->prolong[1])};
  const unsigned grid = ((unsigned)s->last.total + STRIP_WARPS - 1) / STRIP_WARPS;
  const cudaStream_t queue = gmg_device_of(l->exec)->stream;
  (reversed ? strip_onto_kernel<1> : strip_onto_kernel<0>)<<<grid, 32 * STRIP_WARPS, 0, queue>>>(x, o, f, u);
  gmg_cuda_launched(l->exec, "async");
  return 1;
}

/* The last pass as the deterministic twin does it, which with overlap costs no rate: it writes nothing that is read. */
static int sweep_onto(const gmg_smoother_level *l, void *state, const void *f, void *u, int steps, gmg_leg leg, const gmg_onto *to)
{
  const async_state *s = (const async_state *)state;
  const size_t passes = (size_t)(steps * l->params->passes);
  const int dim = l->A->dim, reversed = leg == GMG_LEG_UP_REVERSED;
  onto o = {(double *)to->x, to->scale, to->size, to->keep};
  if ((!s->streams && !s->flows && !s->patches) || s->staying || passes == 0 || (!s->streams && to->coarse)) return 0;
  if (s->patches) {
    if (passes > 1) run_passes(l, s, passes - 1, f, u, reversed);
    run_patches_onto(l, s, f, u, reversed, o);
    return 1;
  }
  if (s->strips) return passes == 1 && sweep_strips_onto(l, s, (const real *)f, (const real *)u, reversed, to);
  if (s->flows) {
    if (passes > 1) run_passes(l, s, passes - 1, f, u, reversed);
    flow_kernel_onto_of(l->A)<<<(unsigned)s->blocks.total, threads_of(l, s), s->bytes, gmg_device_of(l->exec)->stream>>>(
        flow_of(l, &s->blocks, s->order, reversed), (const real *)f, (const real *)u, o);
    gmg_cuda_launched(l->exec, "async");
    return 1;
  }
  if (to->coarse && (passes > 1 || s->bytes + onto_bytes<3>() > s->most || !onto_correction(&o, to, l->A, &s->blocks))) return 0;
  if (passes > 1) run_passes(l, s, passes - 1, f, u, reversed);
  const stream x = stream_of(l->A, &s->blocks, s->order, gmg_weight_async(l->A, l->params), reversed, u, NULL);
  const size_t bytes = s->bytes + (to->coarse ? (dim == 3 ? onto_bytes<3>() : onto_bytes<2>()) : 0);
  onto_kernels[to->coarse != NULL][dim == 3]<<<(unsigned)s->blocks.total, threads_of(l, s), bytes, gmg_device_of(l->exec)->stream>>>(
      x, (const real *)f, (const real *)u, o);
  gmg_cuda_launched(l->exec, "async");
  return 1;
}
#endif

/* What goes with dynamic assignment, and what does not fit on the device. */
static gmg_status check(const gmg_smoother_level *l, const async_state *s, int most)
{
  gmg_context *c = l->exec->context;
  const gmg_params *p = l->params;
  if (p->local == GMG_LOCAL_GAUSS_SEIDEL)
    return gmg_fail(c, GMG_ERR_UNSUPPORTED, "params.local = GMG_LOCAL_GAUSS_SEIDEL: inside a block of a CUDA device "
                    "unknowns relax together; red-black or Jacobi");
  if (p->assignment == GMG_ASSIGN_STATIC && takes(p))
    return gmg_fail(c, GMG_ERR_UNSUPPORTED, "params.%s = %d: on a CUDA device it needs params.assignment = GMG_ASSIGN_DYNAMIC, not "
                    "GMG_ASSIGN_STATIC", p->in_flight ? "in_flight" : "oversubscription",
                    p->in_flight ? p->in_flight : p->oversubscription);
  if (s->bytes > (size_t)most)
    return gmg_fail(c, GMG_ERR_UNSUPPORTED,
                    "params.block = %zu x %zu x %zu: with its surroundings it takes %zu bytes of shared memory, the device has %d",
                    s->blocks.shape[0], s->blocks.shape[1], s->blocks.shape[2], s->bytes, most);
  return GMG_OK;
}

/* Once for all levels to which a kernel is common; then how many of its thread blocks stay. */
static void prepare_kernel(const gmg_smoother_level *l, async_state *s, int most)
{
  const gmg_params *p = l->params;
  gmg_device *d = gmg_device_of(l->exec);
#if GMG_REAL_F32
  for (int k = 0; k < 4 && s->patches; k++) {
    const void *kernel = (const void *)patch_functions[s->patches - 1].kernel[k / 2][k % 2];
    gmg_cuda_note(d, cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)s->bytes), "async");
  }
  for (int whole = 0; whole < 2 && s->patches; whole++) {
    const patch_function *f = &patch_functions[s->patches - 1];
    const size_t bytes = whole && f->bytes_onto <= (size_t)most ? f->bytes_onto : s->bytes;
    gmg_cuda_note(d, cudaFuncSetAttribute((const void *)f->onto[whole], cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes), "async");
  }
#endif
  if (s->patches) return; /* no thread blocks stay */
  const void *kernel = kernel_of(l, s);
  const dim3 threads = threads_of(l, s);
  gmg_cuda_note(d, cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, s->flows ? (int)s->bytes : most), "async");
  for (int k = 0; k < 3 && s->streams && l->A->dim == 3; k++)
    gmg_cuda_note(d, cudaFuncSetAttribute(k < 2 ? (const void *)sums_kernels[k] : (const void *)stream_kernel_zero,
                                          cudaFuncAttributeMaxDynamicSharedMemorySize, most), "async");
#if GMG_REAL_F32
  if (s->flows)
    gmg_cuda_note(d, cudaFuncSetAttribute((const void *)flow_kernel_onto_of(l->A), cudaFuncAttributeMaxDynamicSharedMemorySize, (int)s->bytes),
                  "async");
  for (int k = 0; k < 2 && s->streams; k++)
    gmg_cuda_note(d, cudaFuncSetAttribute((const void *)onto_kernels[k][l->A->dim == 3], cudaFuncAttributeMaxDynamicSharedMemorySize, most),
                  "async");
#endif
  if (s->tile.bytes && gmg_kind_of(l->A) & GMG_FACES) /* room for two blocks is not given unasked */
    gmg_cuda_note(d, cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, cudaSharedmemCarveoutMaxShared), "async");
  if (!takes(p)) return;
  int each = p->oversubscription;
  if (!each)
    gmg_cuda_note(d, cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, (int)(threads.x * threads.y * threads.z), s->bytes),
                  "async");
  s->staying = (size_t)(each > 0 ? each : 1) * (size_t)d->processors;
  if (p->in_flight && s->staying > (size_t)p->in_flight) s->staying = (size_t)p->in_flight;
}

/* Device memory has to be there before its contents: on a dry exec nothing is. */
static gmg_status setup(const gmg_smoother_level *l, void **state)
{
  gmg_exec *e = l->exec;
  int most = 0;
  cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, gmg_device_of(e)->number);
  if (takes(l->params)) most -= TICKET_BYTES;
  async_state s = layout(l, (size_t)most);
  GMG_TRY(check(l, &s, most));
  *state = calloc(1, sizeof s);
  if (!*state) return gmg_fail(e->context, GMG_ERR_MEMORY, "async state could not be allocated");
  gmg_status status = gmg_exec_alloc(e, "async block order", s.blocks.total * sizeof(int), (void **)&s.order);
  if (status == GMG_OK && l->params->deterministic)
    status = gmg_exec_alloc(e, "async copy of u", l->A->cells * sizeof(real), (void **)&s.before);
  if (status == GMG_OK && takes(l->params)) status = gmg_exec_alloc(e, "async tickets", sizeof *s.next, (void **)&s.next);
  s.most = (size_t)most;
  *(async_state *)*state = s;
  if (status != GMG_OK || e->dry) return status;
  prepare_kernel(l, (async_state *)*state, most);
  int *order = (int *)malloc(s.blocks.total * sizeof *order);
  if (!order) return gmg_fail(e->context, GMG_ERR_MEMORY, "async block order could not be allocated");
  gmg_blocks_order(&s.blocks, l->params->order, l->params->seed + (unsigned long)l->index, order);
#if GMG_REAL_F32
  if (s.patches) patch_order(&s.blocks, order);
#endif
  e->memory->upload(e->context, s.order, order, s.blocks.total * sizeof *order);
  free(order);
  return GMG_OK;
}

static void destroy(const gmg_smoother_level *l, void *state)
{
  async_state *s = (async_state *)state;
  if (!s) return;
  gmg_exec_release(l->exec, s->order, s->blocks.total * sizeof(int));
  gmg_exec_release(l->exec, s->next, sizeof *s->next);
  gmg_exec_release(l->exec, s->before, l->A->cells * sizeof(real));
  free(s);
}

extern "C" const gmg_smoother_ops R(gmg_async_cuda) = {
    .setup = setup, .sweep = sweep, .destroy = destroy, .sweep_from_zero = sweep_from_zero,
    .sweep_restrict = sweep_restrict,
#if GMG_REAL_F32 /* corrections of the narrower type */
    .sweep_onto = sweep_onto,
#endif
};
