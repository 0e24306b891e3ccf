/* Levels with coefficients on the faces as planes that stream through thread blocks (async_flow_cuda.cuh): which, in what blocks, and the
   launches. Included by async_cuda.cu. */
#ifndef GMG_ASYNC_FLOW_LAUNCH_CUDA_H
#define GMG_ASYNC_FLOW_LAUNCH_CUDA_H

#include "async_flow_cuda.cuh"
#include "async_way_cuda.cuh"

static int can_flow(const gmg_smoother_level *l)
{
  const gmg_operator *A = l->A;
  const gmg_params *p = l->params;
  for (int a = 0; a < 3; a++)
    if (A->wraps[a] && A->n[a] % 2) return 0; /* at a seam colours meet */
  return A->face[0] && A->dim == 3 && A->cells <= 0x7fffffff && enough(l, MANY) && !takes(p) && is_usual(p);
}

/* Blocks for planes that stream through; 0 where the level or the caller has others, that leave half of the threads idle or hardly
   fill the pipeline. */
static int flow_blocks(const gmg_smoother_level *l, gmg_blocks *b)
{
  const gmg_operator *A = l->A;
  const size_t processors = processors_of(l);
  gmg_blocks best = {};
  size_t least = 0;
  for (size_t parts = 1; parts <= 64 && parts <= A->n[2]; parts++) {
    const size_t want[3] = {FLOW_WIDE - 2, FLOW_DEEP - 2, (A->n[2] + parts - 1) / parts};
    *b = gmg_blocks_make(A, l->params->block, want);
    const size_t time = (b->total + processors - 1) / processors * (b->shape[2] + FLOW_FILL);
    if (b->shape[0] > want[0] || b->shape[1] > want[1] || b->shape[2] + 4 > FLOW_MOST_PLANES || (least && time >= least)) continue;
    if (2 * (b->shape[0] + 2) * (b->shape[1] + 2) < (size_t)FLOW_THREADS || b->shape[2] < FLOW_FILL) continue;
    best = *b, least = time;
  }
  *b = best;
  return least > 0;
}

static size_t flow_bytes(const gmg_operator *A) { return A->sigma ? flow_slot<GMG_FACES | GMG_SIGMA>::bytes : flow_slot<GMG_FACES>::bytes; }

static int lay_out_flows(const gmg_smoother_level *l, async_state *s)
{
  s->bytes = flow_bytes(l->A), s->threads = dim3(FLOW_THREADS);
  return can_flow(l) && s->bytes + FLOW_ALONG_BYTES <= s->most && flow_blocks(l, &s->blocks);
}

typedef struct {
  void (*plain)(flow, const real *, const real *, real *);
  void (*onto)(flow, const real *, const real *, onto);
} flow_function;

static flow_function flow_kernel_of(const gmg_operator *A)
{
#define KERNELS(kind, wraps) {flow_kernel<kind, wraps>, IN_FLOAT((flow_kernel_onto<kind, wraps>))}
  static const flow_function kernels[2][2] = {{KERNELS(GMG_FACES, 0), KERNELS(GMG_FACES, 1)},
                                              {KERNELS(GMG_FACES | GMG_SIGMA, 0), KERNELS(GMG_FACES | GMG_SIGMA, 1)}};
#undef KERNELS
  return kernels[A->sigma != NULL][A->wraps[2]];
}

static const void *prepare_flows(const gmg_smoother_level *l, const async_state *s)
{
  const flow_function f = flow_kernel_of(l->A);
  allow_shared(l, (const void *)f.plain, s->bytes);
  if (f.onto) allow_shared(l, (const void *)f.onto, s->bytes);
  return NULL;
}

static flow flow_of(const gmg_smoother_level *l, const async_state *s, int reversed)
{
  const gmg_operator *A = l->A;
  const gmg_blocks *b = &s->blocks;
  flow x = {};
  for (int a = 0; a < 3; a++) {
    x.n[a] = (int)A->n[a], x.wraps[a] = A->wraps[a], x.own[a] = (int)b->shape[a], x.count[a] = (int)b->count[a];
    x.lo[a] = (const real *)A->lo_diag[a], x.hi[a] = (const real *)A->hi_diag[a], x.face[a] = (const real *)A->face[a];
  }
  x.sigma = (const real *)A->sigma, x.shift = (real)A->shift, x.omega = (real)gmg_weight_async(A, l->params);
  x.reversed = reversed, x.total = b->total, x.order = l->params->order == GMG_ORDER_NATURAL ? NULL : s->order;
  return x;
}

static void run_flows(const gmg_smoother_level *l, const async_state *s, const launch *k, const pass *p)
{
  const flow x = flow_of(l, s, p->reversed);
  flow_kernel_of(l->A).plain<<<(unsigned)(p->passes * s->blocks.total), k->threads, k->bytes, k->stream>>>(x, p->f, p->from, p->to);
}

#if GMG_REAL_F32
static int flows_up(const gmg_smoother_level *l, const async_state *s, const up_leg *u)
{
  if (u->to->coarse) return 0;
  if (u->passes > 1) run_passes(l, s, u->passes - 1, u->f, u->u, u->reversed);
  const launch k = launch_of(l, s, 1);
  flow_kernel_of(l->A).onto<<<(unsigned)s->blocks.total, k.threads, k.bytes, k.stream>>>(flow_of(l, s, u->reversed), u->f, u->u,
                                                                                         onto_of(u->to));
  gmg_cuda_launched(l->exec, "async");
  return 1;
}
#endif

#endif
