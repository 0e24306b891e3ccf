/* The block-asynchronous smoother async-(k) on a CUDA device (Anzt, Tomov, Dongarra, Heuveline 2013; as a smoother: Anzt, Dongarra,
   Gates, Tomov 2011): the table of kernel variants, and their common functions. Called through gmg_smoother_ops and gmg_fused_ops.

   One thread block relaxes one block of unknowns. It loads its unknowns, `overlap` layers around them, and a ring that is only
   read. It relaxes them k times, whatever the surrounding values are, and writes back its own (restricted, as in Cai, Sarkis 1999).
   Nothing waits. Blocks start in the given order as multiprocessors become free. If a pass has more blocks than the device has room
   for, the next pass does not wait for it (passes_at_once()). Shared values are read and written by relaxed atomics
   (core/cuda/atomics.cuh). In the deterministic twin every block reads a copy made before the pass.

   With dynamic assignment, resident thread blocks take blocks of unknowns from a queue (relax/cuda/scheduling.cuh). planes_faces
   and tiles_packed do not support this, and refuse such levels. */
#include "variant.h"

extern "C" {
#include "smoothers/async/testing.h"
}

/* A level uses the first variant that accepts it. */
static const async_variant *const variants[] = {
    &R(async_box_lines),    /* constant box stencils in 2D and 3D: lines of a tile */
    &R(async_box_cells),    /* variable box stencils in 2D and 3D: cells of a tile */
    &R(async_box),          /* box stencils, all of them */
    &R(async_line),         /* 1D: segments of a line */
    &R(async_planes_faces), /* 3D, coefficients on faces: plane sweep */
#if GMG_REAL_F32
    &R(async_tiles_packed), /* 3D, levels that fit in the cache: packed tiles */
#endif
    &R(async_rows),         /* 2D: row sweep */
    &R(async_planes),       /* 3D: plane sweep */
    &R(async_tiles),        /* 2D, 3D, all coefficients: tiles */
    &R(async_reference),    /* everything else */
};

/* --- passes ----------------------------------------------------------------------------------------------------------- */

/* How many passes one launch runs. Blocks of a launch do not wait for each other. If the device has room for more than one pass,
   the blocks of the next would start at the same time and see only old values: on 10^4 unknowns in 1D, four passes per step then
   reduced the error no more than one. So each pass then has its own launch. */
static size_t passes_at_once(const gmg_smoother_level *l, const async_state *s, size_t passes)
{
  enum { MAX_RESIDENT = 32, MAX_PASSES = 65535 }; /* maximum of thread blocks per multiprocessor; maximum of grid.blocks.y */
  if (s->blocks.total < MAX_RESIDENT * processors_of(l)) return 1;
  return passes < MAX_PASSES ? passes : MAX_PASSES;
}

void R(async_run_passes)(const gmg_smoother_level *l, const async_state *s, size_t passes, const void *f, void *u, gmg_leg leg)
{
  const size_t at_once = s->before ? 1 : passes_at_once(l, s, passes);
  for (size_t p = 0; p < passes; p += at_once) {
    if (s->before) l->exec->vector->copy(l->exec, l->A->cells, u, s->before);
    s->variant->run(l, s, at_once < passes - p ? at_once : passes - p, f, s->before ? s->before : u, u, leg);
  }
}

int R(async_run_but_last)(const gmg_smoother_level *l, const async_state *s, size_t passes, gmg_start start, const void *f,
                          void *u)
{
  const size_t first = start == GMG_FROM_ZERO;
  if (first && passes == 1) return 1;
  if (first) s->variant->run(l, s, 1, f, NULL, u, GMG_LEG_DOWN);
  R(async_run_passes)(l, s, passes - 1 - first, f, u, GMG_LEG_DOWN);
  return 0;
}

static size_t passes_of(const gmg_smoother_level *l, int steps) { return (size_t)(steps * l->params->async.passes); }

static void sweep(const gmg_smoother_level *l, void *state, const void *f, void *u, int steps, gmg_leg leg)
{
  R(async_run_passes)(l, (const async_state *)state, passes_of(l, steps), f, u, leg);
}

/* With overlap, blocks of the first pass may see zeros around them, and then read only f, as on the host. */
static void sweep_from_zero(const gmg_smoother_level *l, void *state, const void *f, void *u, int steps, gmg_leg leg)
{
  const async_state *s = (const async_state *)state;
  const size_t passes = passes_of(l, steps);
  const int fresh = l->params->async.overlap == 0 && !s->before;
  if (fresh) l->exec->vector->fill(l->exec, l->A->cells, 0, u);
  else s->variant->run(l, s, 1, f, NULL, u, leg);
  R(async_run_passes)(l, s, fresh ? passes : passes - 1, f, u, leg);
}

/* The last pass also restricts the residual, if the variant can. Not in the deterministic twin, because blocks add to shared coarse
   values in any order. */
static int presmooth_restrict(const gmg_smoother_level *l, void *state, const void *f, void *u, void *to, int steps,
                              gmg_start start, const gmg_map *map, void *coarse)
{
  const async_state *s = (const async_state *)state;
  const size_t passes = passes_of(l, steps);
  if (s->resident || s->before || passes == 0) return 0;
  if (s->variant->presmooth_restrict && s->variant->presmooth_restrict(l, s, passes, f, u, to, start, map, coarse)) return 1;
  if (to == u) return 0;
  const int zero = R(async_run_but_last)(l, s, passes, start, f, u);
  s->variant->run(l, s, 1, f, zero ? NULL : u, to, GMG_LEG_DOWN);
  gmg_operator_of(l->exec, l->A)->restrict_residual(l->exec, l->A, map, f, to, u, coarse); /* u: work space */
  return 1;
}

/* The last pass reads and writes different fields, like the deterministic twin. With overlap this does not slow convergence. To a
   field of the level, and without a correction, it is a plain pass. */
static int postsmooth_update(const gmg_smoother_level *l, void *state, const void *f, void *u, int steps, gmg_leg leg,
                             const gmg_update_target *to)
{
  const async_state *s = (const async_state *)state;
  const size_t passes = passes_of(l, steps);
  if (s->resident || passes == 0) return 0;
  if (s->variant->postsmooth_update && s->variant->postsmooth_update(l, s, passes, f, u, leg, to)) return 1;
  if (!to->is_field || to->coarse || s->before) return 0;
  R(async_run_passes)(l, s, passes - 1, f, u, leg);
  s->variant->run(l, s, 1, f, u, to->x, leg);
  return 1;
}

/* Whether the only pass of each leg reads and writes different fields. */
static int double_buffered(const gmg_smoother_level *l, const void *state, const gmg_map *prolong)
{
  const async_state *s = (const async_state *)state;
  return s->variant->double_buffered && !s->resident && !s->before && l->params->async.overlap > 0 &&
         passes_of(l, l->params->post) == 1 && s->variant->double_buffered(l, s, prolong);
}

static int takes_base(const gmg_smoother_level *l, const void *state, int steps, const gmg_update_target *to)
{
  const async_state *s = (const async_state *)state;
  return s->variant->takes_base && !s->resident && passes_of(l, steps) == 1 && s->variant->takes_base(l, s, to);
}

/* Refuses parameters that contradict each other, and blocks that do not fit on the device. */
static gmg_status check(const gmg_smoother_level *l, const async_state *s)
{
  gmg_context *c = l->exec->context;
  const gmg_params *p = l->params;
  if (p->async.local == GMG_LOCAL_GAUSS_SEIDEL)
    return gmg_fail(c, GMG_ERR_UNSUPPORTED, "params.async.local = GMG_LOCAL_GAUSS_SEIDEL: inside a block of a CUDA device "
                    "unknowns relax together; red-black or Jacobi");
  if (p->async.assignment == GMG_ASSIGN_STATIC && is_dynamic(p))
    return gmg_fail(c, GMG_ERR_UNSUPPORTED,
                    "params.async.%s = %d: on a CUDA device it needs params.async.assignment = GMG_ASSIGN_DYNAMIC, "
                    "not GMG_ASSIGN_STATIC",
                    p->async.in_flight ? "in_flight" : "oversubscription",
                    p->async.in_flight ? p->async.in_flight : p->async.oversubscription);
  if (s->bytes > s->max_bytes)
    return gmg_fail(c, GMG_ERR_UNSUPPORTED,
                    "params.async.block = %zu x %zu x %zu: with its surroundings it takes %zu bytes of shared memory, the device "
                    "has %zu",
                    s->blocks.shape[0], s->blocks.shape[1], s->blocks.shape[2], s->bytes, s->max_bytes);
  return GMG_OK;
}

/* Number of resident thread blocks of a kernel. */
static size_t resident_of(const gmg_smoother_level *l, const async_state *s, const void *kernel)
{
  const gmg_params *p = l->params;
  gmg_device *d = gmg_device_of(l->exec);
  const dim3 t = s->threads;
  int each = p->async.oversubscription;
  if (!each)
    gmg_cuda_note(d, cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, (int)(t.x * t.y * t.z), s->bytes), "async");
  const size_t most = (size_t)(each > 0 ? each : 1) * (size_t)d->processors;
  return p->async.in_flight && most > (size_t)p->async.in_flight ? (size_t)p->async.in_flight : most;
}

/* Allocates first and fills afterwards, because on a dry exec there is no memory to fill. */
static gmg_status setup(const gmg_smoother_level *l, void **state)
{
  gmg_exec *e = l->exec;
  const gmg_params *p = l->params;
  const async_variant *const *variant = variants;
  async_state s = {};
  s.max_bytes = (size_t)gmg_device_of(e)->max_shared - (is_dynamic(p) ? QUEUE_BYTES : 0);
  while (!(*variant)->lay_out(l, &s)) variant++;
  s.variant = *variant;
  GMG_TRY(check(l, &s));
  GMG_TRY(gmg_exec_alloc_state(e, "async state", sizeof s, state));
  gmg_status status = gmg_exec_alloc(e, "async block order", s.blocks.total * sizeof(int), (void **)&s.order);
  if (status == GMG_OK && p->deterministic)
    status = gmg_exec_alloc(e, "async copy of u", l->A->cells * sizeof(scalar), (void **)&s.before);
  if (status == GMG_OK && is_dynamic(p)) status = gmg_exec_alloc(e, "async queue", sizeof *s.next, (void **)&s.next);
  *(async_state *)*state = s;
  if (status != GMG_OK || e->dry) return status;
  const void *kernel = s.variant->prepare(l, &s);
  if (is_dynamic(p)) ((async_state *)*state)->resident = resident_of(l, &s, kernel);
  int *order = (int *)malloc(s.blocks.total * sizeof *order);
  if (!order) return gmg_fail(e->context, GMG_ERR_MEMORY, "async block order could not be allocated");
  gmg_blocks_order(&s.blocks, p->async.order, p->async.seed + (unsigned long)l->index, order);
  if (s.variant->renumber) s.variant->renumber(&s.blocks, order);
  e->memory->upload(e->context, s.order, order, s.blocks.total * sizeof *order);
  free(order);
  return GMG_OK;
}

static gmg_status update(const gmg_smoother_level *l, void *state)
{
  async_state *s = (async_state *)state;
  if (s->variant->update) s->variant->update(l, s);
  return GMG_OK;
}

extern "C" const gmg_blocks *R(gmg_async_blocks)(const void *state) { return &((const async_state *)state)->blocks; }

extern "C" const gmg_smoother_ops R(gmg_async_cuda) = {
    .setup = setup, .update = update, .sweep = sweep, .sweep_from_zero = sweep_from_zero};

extern "C" const gmg_fused_ops R(gmg_async_fused_cuda) = {
    .presmooth_restrict = presmooth_restrict,
    .postsmooth_update = postsmooth_update,
    .double_buffered = double_buffered,
    .takes_base = takes_base};
