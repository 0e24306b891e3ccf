/* A smoother that measures the time of another one. On a device a sweep only enqueues work, so an event is recorded before it and
 * another after it. The times between events are added up when there are no more events, or when the seconds are asked for. */
#include "study.h"

#include <math.h>
#include <stdlib.h>

#ifdef GMG_CUDA
#include <cuda_runtime_api.h>
#endif

enum { SWEEPS = 512 }; /* most sweeps whose events have not been read */

struct study_clock {
  gmg_smoother smoother; /* first member: gmg_smoother_level::params leads to it */
  gmg_smoother_ops ops[2][2];
  const gmg_smoother *inner;
  double seconds;
#ifdef GMG_CUDA
  cudaEvent_t event[2 * SWEEPS];
  int used, made; /* number of events */
#endif
};

static study_clock *clock_of(const gmg_smoother_level *l) { return (study_clock *)l->params->smoother; }

static unsigned traits(const gmg_params *p, int threads)
{
  return study_traits_of(((const study_clock *)p->smoother)->inner, p, threads);
}

/* --- on the host --- */

static void sweep_host(const gmg_smoother_level *l, void *state, const void *f, void *u, int steps, gmg_leg leg)
{
  study_clock *c = clock_of(l);
  const double start = study_now();
  c->inner->ops[GMG_BACKEND_HOST][l->A->type]->sweep(l, state, f, u, steps, leg);
  c->seconds += study_now() - start;
}

static void sweep_host_from_zero(const gmg_smoother_level *l, void *state, const void *f, void *u, int steps, gmg_leg leg)
{
  study_clock *c = clock_of(l);
  const double start = study_now();
  c->inner->ops[GMG_BACKEND_HOST][l->A->type]->sweep_from_zero(l, state, f, u, steps, leg);
  c->seconds += study_now() - start;
}

/* --- on a device --- */

#ifdef GMG_CUDA
static void add_up(study_clock *c)
{
  if (c->used > 0 && cudaEventSynchronize(c->event[c->used - 1]) != cudaSuccess) c->seconds = NAN;
  for (int i = 0; i + 1 < c->used; i += 2) {
    float milliseconds = NAN;
    if (cudaEventElapsedTime(&milliseconds, c->event[i], c->event[i + 1]) != cudaSuccess) milliseconds = NAN;
    c->seconds += 1e-3 * (double)milliseconds;
  }
  c->used = 0;
}

static void mark(study_clock *c)
{
  if (c->used == c->made && cudaEventCreate(&c->event[c->made]) == cudaSuccess) c->made++;
  if (c->used < c->made && cudaEventRecord(c->event[c->used], NULL) == cudaSuccess) c->used++;
  else c->seconds = NAN; /* the seconds are then NaN */
}

static void sweep_cuda(const gmg_smoother_level *l, void *state, const void *f, void *u, int steps, gmg_leg leg)
{
  study_clock *c = clock_of(l);
  if (c->used + 2 > 2 * SWEEPS) add_up(c);
  mark(c);
  c->inner->ops[GMG_BACKEND_CUDA][l->A->type]->sweep(l, state, f, u, steps, leg);
  mark(c);
}

static void sweep_cuda_from_zero(const gmg_smoother_level *l, void *state, const void *f, void *u, int steps, gmg_leg leg)
{
  study_clock *c = clock_of(l);
  if (c->used + 2 > 2 * SWEEPS) add_up(c);
  mark(c);
  c->inner->ops[GMG_BACKEND_CUDA][l->A->type]->sweep_from_zero(l, state, f, u, steps, leg);
  mark(c);
}

static void destroy_events(study_clock *c)
{
  for (int i = 0; i < c->made; i++) cudaEventDestroy(c->event[i]);
}
#else /* without CUDA there is no device */
#define sweep_cuda NULL
#define sweep_cuda_from_zero NULL
static void add_up(study_clock *c) { (void)c; }
static void destroy_events(study_clock *c) { (void)c; }
#endif

/* The inner smoother's functions, with these sweeps instead of its own. */
static const gmg_smoother_ops *timed(gmg_smoother_ops *to, const gmg_smoother_ops *inner,
                                     void (*sweep)(const gmg_smoother_level *, void *, const void *, void *, int, gmg_leg),
                                     void (*from_zero)(const gmg_smoother_level *, void *, const void *, void *, int, gmg_leg))
{
  if (!inner || !sweep) return NULL;
  *to = *inner;
  to->sweep = sweep;
  if (inner->sweep_from_zero) to->sweep_from_zero = from_zero;
  return to;
}

study_clock *study_clock_create(const gmg_smoother *inner)
{
  study_clock *c = calloc(1, sizeof *c);
  if (!c) return NULL;
  c->inner = inner;
  c->smoother = *inner;
  c->smoother.traits = traits;
  for (int type = GMG_F64; type <= GMG_F32; type++) {
    const gmg_smoother_ops *host = inner->ops[GMG_BACKEND_HOST][type], *cuda = inner->ops[GMG_BACKEND_CUDA][type];
    c->smoother.ops[GMG_BACKEND_HOST][type] = timed(&c->ops[GMG_BACKEND_HOST][type], host, sweep_host, sweep_host_from_zero);
    c->smoother.ops[GMG_BACKEND_CUDA][type] = timed(&c->ops[GMG_BACKEND_CUDA][type], cuda, sweep_cuda, sweep_cuda_from_zero);
  }
  return c;
}

const gmg_smoother *study_clock_smoother(const study_clock *c) { return &c->smoother; }

double study_clock_seconds(study_clock *c)
{
  add_up(c);
  const double seconds = c->seconds;
  c->seconds = 0;
  return seconds;
}

void study_clock_destroy(study_clock *c)
{
  if (!c) return;
  destroy_events(c);
  free(c);
}
