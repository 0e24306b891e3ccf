/* Block-asynchronous smoother async-(k) on a CUDA device (Anzt, Tomov, Dongarra, Heuveline 2013; as a smoother: Anzt, Dongarra,
   Gates, Tomov 2011). One thread block relaxes one block of unknowns.

   It holds its unknowns, `overlap` layers around them and a ring that is only read in shared memory, relaxes them k times from
   whatever values surround them, and writes back its own (restricted, as in Cai, Sarkis 1999). Nothing waits: blocks start as
   multiprocessors become free, in the given order, and those of a second pass do not wait for the first where a pass has more of them
   than the device has room for (passes_at_once() in cuda/variant.cuh). What blocks share is read and written by relaxed atomics
   (core/cuda/atomics.cuh): fresh, and never torn.

   Deterministic twin: every block reads a copy made before the pass.

   There are many ways of taking a level, each with kernels of its own. Here is the table of them, and what they have in common; all but
   patches, strips and flows have a twin in which thread blocks stay and take blocks of unknowns dynamically
   (cuda/scheduling.cuh). */
#include "planes_faces.cuh"
#include "reference.cuh"
#include "line.cuh"
#include "tiles_packed.cuh"
#include "planes.cuh"
#include "rows.cuh"
#include "tiles.cuh"

/* The first that suits takes the level. */
static const async_way ways[] = {
    {lay_out_line, prepare_line, run_line},                                                     /* 1D: stretches of a line */
    {lay_out_flows, prepare_flows, run_flows, NULL, IN_FLOAT(flows_up)},                        /* coefficients on faces: planes stream */
#if GMG_REAL_F32
    {lay_out_patches, prepare_patches, run_patches, patches_down, patches_up, NULL, patch_order},     /* the cache holds it: tiles of patches */
#endif
    {lay_out_strips, prepare_stream, run_strips, IN_FLOAT(strips_down), IN_FLOAT(strips_up)},   /* 2D: rows stream through warps */
    {lay_out_stream, prepare_stream, run_stream, stream_down, stream_up, IN_DOUBLE(stream_aside)},             /* planes stream */
    {lay_out_tiles, prepare_tiles, run_tiles},                                                  /* tiles wholly on chip */
    {lay_out_general, prepare_general, run_general},                                            /* what is left */
};

static size_t passes_of(const gmg_smoother_level *l, int steps) { return (size_t)(steps * l->params->passes); }

static void sweep(const gmg_smoother_level *l, void *state, const void *f, void *u, int steps, gmg_leg leg)
{
  run_passes(l, (const async_state *)state, passes_of(l, steps), (const real *)f, (real *)u, leg == GMG_LEG_UP_REVERSED);
}

/* As on the host: with overlap the first pass may as well find zeros around every block, and then reads f alone. */
static void sweep_from_zero(const gmg_smoother_level *l, void *state, const void *f, void *u, int steps, gmg_leg leg)
{
  const async_state *s = (const async_state *)state;
  const size_t passes = passes_of(l, steps);
  const int reversed = leg == GMG_LEG_UP_REVERSED, fresh = l->params->overlap == 0 && !s->before;
  if (fresh) l->exec->vector->fill(l->exec, l->A->cells, 0, u);
  else run_blocks(l, s, 1, (const real *)f, NULL, (real *)u, reversed);
  if (passes > 1 || fresh) run_passes(l, s, fresh ? passes : passes - 1, (const real *)f, (real *)u, reversed);
}

/* The last pass also restricts the residual. Not for the deterministic twin: what blocks add to a coarse value they share they add in
   any order. */
static int presmooth_restrict(const gmg_smoother_level *l, void *state, const void *f, void *u, void *to, int steps, gmg_start start,
                              const gmg_map *map, void *coarse)
{
  const async_state *s = (const async_state *)state;
  const down_leg d = {passes_of(l, steps), (const real *)f, (real *)u, (real *)to, start == GMG_FROM_ZERO, map, (real *)coarse};
  return s->way->down && !s->staying && !s->before && d.passes > 0 && s->way->down(l, s, &d);
}

/* The last pass as the deterministic twin does it, which with overlap costs no rate: it writes nothing that is read. */
static int postsmooth_update(const gmg_smoother_level *l, void *state, const void *f, void *u, int steps, gmg_leg leg,
                             const gmg_update_target *to)
{
  const async_state *s = (const async_state *)state;
  const up_leg up = {passes_of(l, steps), (const real *)f, (real *)u, leg == GMG_LEG_UP_REVERSED, to};
  return s->way->up && !s->staying && up.passes > 0 && s->way->up(l, s, &up);
}

/* Up in one pass; as it writes nothing that is read, so does the one down. */
static int double_buffered(const gmg_smoother_level *l, const void *state, const gmg_map *restrict_, const gmg_map *prolong)
{
  const async_state *s = (const async_state *)state;
  return s->way->aside && !s->staying && !s->before && passes_of(l, l->params->post) == 1 && s->way->aside(l, s, restrict_, prolong);
}

/* What goes with dynamic assignment, and what does not fit on the device. */
static gmg_status check(const gmg_smoother_level *l, const async_state *s)
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
  if (s->bytes > s->most)
    return gmg_fail(c, GMG_ERR_UNSUPPORTED,
                    "params.block = %zu x %zu x %zu: with its surroundings it takes %zu bytes of shared memory, the device has %zu",
                    s->blocks.shape[0], s->blocks.shape[1], s->blocks.shape[2], s->bytes, s->most);
  return GMG_OK;
}

/* How many thread blocks of a kernel stay. */
static size_t staying_of(const gmg_smoother_level *l, const async_state *s, const void *kernel)
{
  const gmg_params *p = l->params;
  gmg_device *d = gmg_device_of(l->exec);
  const dim3 t = s->threads;
  int each = p->oversubscription;
  if (!each) gmg_cuda_note(d, cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, (int)(t.x * t.y * t.z), s->bytes), "async");
  const size_t most = (size_t)(each > 0 ? each : 1) * (size_t)d->processors;
  return p->in_flight && most > (size_t)p->in_flight ? (size_t)p->in_flight : most;
}

/* Device memory has to be there before its contents: on a dry exec nothing is. */
static gmg_status setup(const gmg_smoother_level *l, void **state)
{
  gmg_exec *e = l->exec;
  const gmg_params *p = l->params;
  const async_way *way = ways;
  async_state s = {};
  int most = 0;
  cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, gmg_device_of(e)->number);
  if (takes(p)) most -= TICKET_BYTES;
  s.most = (size_t)most;
  while (!way->lay_out(l, &s)) way++;
  s.way = way;
  GMG_TRY(check(l, &s));
  *state = calloc(1, sizeof s);
  if (!*state) return gmg_fail(e->context, GMG_ERR_MEMORY, "async state could not be allocated");
  gmg_status status = gmg_exec_alloc(e, "async block order", s.blocks.total * sizeof(int), (void **)&s.order);
  if (status == GMG_OK && p->deterministic)
    status = gmg_exec_alloc(e, "async copy of u", l->A->cells * sizeof(real), (void **)&s.before);
  if (status == GMG_OK && takes(p)) status = gmg_exec_alloc(e, "async tickets", sizeof *s.next, (void **)&s.next);
  *(async_state *)*state = s;
  if (status != GMG_OK || e->dry) return status;
  const void *kernel = way->prepare(l, &s);
  if (takes(p)) ((async_state *)*state)->staying = staying_of(l, &s, kernel);
  int *order = (int *)malloc(s.blocks.total * sizeof *order);
  if (!order) return gmg_fail(e->context, GMG_ERR_MEMORY, "async block order could not be allocated");
  gmg_blocks_order(&s.blocks, p->order, p->seed + (unsigned long)l->index, order);
  if (way->renumber) way->renumber(&s.blocks, order);
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
    .setup = setup, .sweep = sweep, .sweep_from_zero = sweep_from_zero, .destroy = destroy};

extern "C" const gmg_fused_ops R(gmg_async_fused_cuda) = {
    .presmooth_restrict = presmooth_restrict, .postsmooth_update = postsmooth_update, .double_buffered = double_buffered};
