/* Levels as planes that stream through thread blocks (cuda/plane_sweep.cuh): which, and the launches. Included by cuda/async.cu. */
#ifndef GMG_SMOOTHERS_ASYNC_CUDA_PLANES_H
#define GMG_SMOOTHERS_ASYNC_CUDA_PLANES_H

#include "smoothers/relax/cuda/plane_kernels.cuh"
#include "variant.cuh"

/* From LARGE on a pass over a u that is not 0 restricts, too: 0.157 instead of 0.167 ms at 256^3 in float, but 57 instead of 52 us at
   128^3. From VAST on u goes aside: a V(1,1) cycle at 512^3 in double takes 3.95 ms, 4.06 where coarser levels do so, too, whose blocks
   are short: the steps at their ends, each of which goes through instructions of its own, are not in the cache yet. */
enum { LARGE = 1 << 22, VAST = 1 << 26 };

typedef struct {
  int (*blocks)(const gmg_operator *A, const size_t wanted[3], size_t processors, gmg_blocks *b);
  void (*fixed)(uniform_level, const real *, const real *, real *);
  void (*taking)(uniform_level, tickets, const real *, const real *, real *);
  void (*zero)(uniform_level, const real *, real *);                           /* u is 0 */
  void (*sums[2])(uniform_level, const real *, const real *, real *, restriction);    /* whether it is */
  void (*onto[2])(uniform_level, const real *, const real *, update);            /* whether a correction comes in; NULL: not in this type */
  size_t bytes, more_sums, more_onto;                                   /* of shared memory, and how much more those take */
} stream_function;

/* By dimension; what there is not is NULL. */
static const stream_function stream_functions[2] = {
    {plane_blocks<2, 4>, plane_kernel<2>, plane_kernel_dynamic<2>, NULL, {NULL, NULL},
     {IN_FLOAT((plane_kernel_update<2, PASS_UPDATE>)), IN_FLOAT((plane_kernel_update<2, PASS_UPDATE | PASS_PROLONG>))},
     plane_bytes<2, 4>(), 0, plane_prolong_bytes<2, 4>()},
    {plane_blocks<3, 4>, plane_kernel<3>, plane_kernel_dynamic<3>, plane_kernel_from_zero,
     {plane_kernel_restrict<0>, plane_kernel_restrict<PASS_FROM_ZERO>},
     {IN_FLOAT((plane_kernel_update<3, PASS_UPDATE>)), plane_kernel_update<3, PASS_UPDATE | PASS_PROLONG>},
     plane_bytes<3, 4>(), 2 * plane_shape<3, 4>::threads * sizeof(real), plane_prolong_bytes<3, 4>()}};

/* Shared memory is set apart in steps, and what it leaves is the L1 cache: one step more, and the cycle takes 5.08 instead of 4.58 ms. */
static_assert(plane_shape<3, 4>::blocks * (plane_bytes<3, 4>() + plane_prolong_bytes<3, 4>() + 1024) <= (sizeof(real) == 8 ? 196 : 164) * 1024,
              "the way up takes a step more of shared memory than the pass");

static const stream_function *stream_function_of(const gmg_smoother_level *l) { return &stream_functions[l->A->dim - 2]; }

static void stream_room(const gmg_smoother_level *l, async_state *s)
{
  s->bytes = stream_function_of(l)->bytes, s->threads = dim3((unsigned)(32 * plane_rows(l->A->dim, &s->blocks)));
}

static int lay_out_stream(const gmg_smoother_level *l, async_state *s)
{
  const gmg_params *p = l->params;
  if (!is_uniform_level(l->A) || !enough(l, MANY) || !is_usual(p)) return 0;
  if (!stream_function_of(l)->blocks(l->A, p->block, processors_of(l), &s->blocks)) return 0;
  stream_room(l, s);
  return 1;
}

static const void *prepare_stream(const gmg_smoother_level *l, const async_state *s)
{
  const stream_function *f = stream_function_of(l);
  const void *kernel = takes(l->params) ? (const void *)f->taking : (const void *)f->fixed;
  const void *all[] = {kernel, (const void *)f->sums[0], (const void *)f->sums[1], (const void *)f->zero, (const void *)f->onto[0],
                       (const void *)f->onto[1]};
  for (size_t k = 0; k < sizeof all / sizeof *all; k++)
    if (all[k]) allow_shared(l, all[k], s->most);
  return kernel;
}

static uniform_level level_of(const gmg_smoother_level *l, const async_state *s, int reversed, const void *u, const void *other)
{
  return uniform_level_of(l->A, &s->blocks, s->order, gmg_weight_async(l->A, l->params), reversed, u, other);
}

static void run_stream(const gmg_smoother_level *l, const async_state *s, const launch *k, const pass *p)
{
  const uniform_level x = level_of(l, s, p->reversed, p->from, p->to);
  const stream_function *f = stream_function_of(l);
  const unsigned total = (unsigned)s->blocks.total, all = (unsigned)(p->passes * s->blocks.total);
  if (f->zero && !k->staying && !p->from && p->passes == 1) f->zero<<<total, k->threads, k->bytes, k->stream>>>(x, p->f, p->to);
  else if (k->staying) f->taking<<<k->staying, k->threads, k->bytes, k->stream>>>(x, k->taking, p->f, p->from, p->to);
  else f->fixed<<<all, k->threads, k->bytes, k->stream>>>(x, p->f, p->from, p->to);
}

static int stream_down(const gmg_smoother_level *l, const async_state *s, const down_leg *d)
{
  const stream_function *function = stream_function_of(l);
  const size_t bytes = s->bytes + function->more_sums, first = d->from_zero && d->passes > 1, between = d->passes - 1 - first;
  const int zero = d->from_zero && d->passes == 1;
  const int pays = zero || d->to != d->u || l->params->block[0] || l->A->cells >= LARGE; /* as else only where the caller wants such blocks */
  restriction r;
  if (!pays || bytes > s->most || !restriction_of(&r, d->coarse, l->A, d->map, &s->blocks)) return 0;
  if (first) run_blocks(l, s, 1, d->f, NULL, d->u, 0);
  if (between) run_blocks(l, s, between, d->f, d->u, d->u, 0);
  l->exec->vector->fill(l->exec, (size_t)r.n[0] * (size_t)r.n[1] * (size_t)r.n[2], 0, d->coarse);
  const launch k = launch_of(l, s, 1);
  function->sums[zero]<<<(unsigned)s->blocks.total, k.threads, bytes, k.stream>>>(level_of(l, s, 0, d->u, d->to), d->f, d->u, d->to, r);
  gmg_cuda_launched(l->exec, "async");
  return 1;
}

static int stream_up(const gmg_smoother_level *l, const async_state *s, const up_leg *u)
{
  const stream_function *function = stream_function_of(l);
  const int corrects = u->to->coarse != NULL;
  const size_t bytes = s->bytes + (corrects ? function->more_onto : 0);
  if (!function->onto[corrects]) return 0;
  if (corrects && (u->passes > 1 || bytes > s->most || !planes_can_prolong(u->to, l->A, &s->blocks))) return 0;
  if (u->passes > 1) run_passes(l, s, u->passes - 1, u->f, u->u, u->reversed);
  const launch k = launch_of(l, s, 1);
  function->onto[corrects]<<<(unsigned)s->blocks.total, k.threads, bytes, k.stream>>>(level_of(l, s, u->reversed, u->u, NULL), u->f,
                                                                                     u->u, update_of(u->to, l->A));
  gmg_cuda_launched(l->exec, "async");
  return 1;
}

#if !GMG_REAL_F32
static int stream_aside(const gmg_smoother_level *l, const async_state *s, const gmg_map *restrict_, const gmg_map *prolong)
{
  const stream_function *f = stream_function_of(l);
  const size_t more = f->more_sums > f->more_onto ? f->more_sums : f->more_onto;
  const gmg_update_target to = {.scale = 1, .prolong = prolong};
  restriction r;
  return enough(l, VAST) && f->sums[0] && f->onto[1] && s->bytes + more <= s->most && restriction_of(&r, NULL, l->A, restrict_, &s->blocks) &&
         planes_can_prolong(&to, l->A, &s->blocks);
}
#endif

#endif
