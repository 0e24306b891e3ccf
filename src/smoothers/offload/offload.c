/* An offloading smoother: multigrid on the host, sweeps on a device (Anzt, Dongarra, Gates, Tomov 2011). It is a decorator: it
   copies u and f to the device, calls the inner smoother, and copies u back. It knows the device only as an exec. Called through
   the API and gmg_smoother_ops. */
#include "smoothers/smoother.h"

#include "gmg_cuda.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { SWEEPS, TRANSFERS }; /* timers of the clock */

typedef struct offload {
  gmg_smoother smoother; /* the public part */
  gmg_context *device;   /* BORROWED, like inner */
  const gmg_smoother *inner;
  const gmg_trace_ops *trace;
  gmg_clock clock;
  char name[96];
} offload;

/* A copy of a level on the device. */
typedef struct device_level {
  gmg_exec exec;
  gmg_operator A;
  gmg_params params; /* the solver's parameters, with the inner smoother */
  gmg_smoother_level level;
  const gmg_smoother_ops *ops;
  void *inner; /* state of the inner smoother */
  void *f, *u;
} device_level;

static offload *offload_of(const gmg_params *p) { return (offload *)p->smoother; }

static unsigned traits(const gmg_params *p, int threads)
{
  (void)threads; /* threads of the host */
  gmg_params q = *p;
  q.smoother = offload_of(p)->inner;
  return gmg_smoother_traits(&q, offload_of(p)->device->threads) & ~(unsigned)GMG_SMOOTHER_BOX_ARRAYS; /* they are not copied */
}

static gmg_status field(device_level *t, const char *what, void **p)
{
  return gmg_exec_alloc(&t->exec, what, t->A.cells * t->exec.real_size, p);
}

/* Replaces an array, unless it is NULL, by a copy on the device. */
static gmg_status copy_array(device_level *t, size_t bytes, const void **array)
{
  void *p = NULL;
  if (!*array) return GMG_OK;
  GMG_TRY(gmg_exec_alloc(&t->exec, "operator of an offloaded level", bytes, &p));
  t->exec.memory->upload(t->exec.context, p, *array, bytes);
  *array = p;
  return GMG_OK;
}

static gmg_status copy_operator(device_level *t, const gmg_operator *A)
{
  gmg_operator *B = &t->A;
  *B = *A;
  for (int a = 0; a < 3; a++) {
    const size_t real = t->exec.real_size;
    const void **const reals[] = {&B->lo[a], &B->hi[a], &B->diag[a], &B->lo_diag[a], &B->hi_diag[a], &B->volume[a]};
    for (int i = 0; i < 6; i++) GMG_TRY(copy_array(t, A->n[a] * real, reals[i]));
    GMG_TRY(copy_array(t, gmg_face_count(A, a) * real, &B->face[a]));
  }
  return copy_array(t, A->cells * t->exec.real_size, &B->sigma);
}

static gmg_status create_device_level(const offload *o, const gmg_smoother_level *l, device_level *t)
{
  void *scratch = NULL;
  t->exec = gmg_exec_make(o->device, l->A->type, 0);
  t->params = *l->params;
  t->params.smoother = o->inner;
  GMG_TRY(copy_operator(t, l->A));
  GMG_TRY(field(t, "f of an offloaded level", &t->f));
  GMG_TRY(field(t, "u of an offloaded level", &t->u));
  GMG_TRY(field(t, "scratch of an offloaded level", &scratch));
  t->level = (gmg_smoother_level){.A = &t->A,
                                  .params = &t->params,
                                  .exec = &t->exec,
                                  .index = l->index,
                                  .threads = o->device->threads,
                                  .scratch = scratch};
  t->ops = o->inner->ops[o->device->backend][l->A->type];
  return t->ops->setup ? t->ops->setup(&t->level, &t->inner) : GMG_OK;
}

/* Copies the error text of the device's context to the solver's context. */
static gmg_status pass_on(const offload *o, const gmg_smoother_level *l, gmg_status status)
{
  gmg_context *host = l->exec->context;
  if (status == GMG_OK || host == o->device) return status;
  return gmg_fail(host, status, "params.smoother = \"%s\", level %d: %s", o->name, l->index, o->device->error);
}

static gmg_status setup(const gmg_smoother_level *l, void **state)
{
  const offload *o = offload_of(l->params);
  device_level *t = calloc(1, sizeof *t);
  *state = t;
  if (!t) return gmg_fail(l->exec->context, GMG_ERR_MEMORY, "an offloaded level could not be allocated");
  GMG_WITH_DEVICE(o->device);
  o->device->error[0] = 0;
  return pass_on(o, l, create_device_level(o, l, t));
}

/* Rows change with the over-correction. */
static void copy_rows_again(device_level *t, const gmg_operator *A)
{
  for (int a = 0; a < 3; a++) {
    const void *const from[3] = {A->lo[a], A->hi[a], A->diag[a]}, *const to[3] = {t->A.lo[a], t->A.hi[a], t->A.diag[a]};
    for (int i = 0; i < 3; i++)
      if (from[i]) t->exec.memory->upload(t->exec.context, (void *)to[i], from[i], A->n[a] * t->exec.real_size);
  }
}

static gmg_status update(const gmg_smoother_level *l, void *state)
{
  const offload *o = offload_of(l->params);
  device_level *t = state;
  const gmg_operator *A = l->A;
  const gmg_memory_ops *memory = t->exec.memory;
  GMG_WITH_DEVICE(o->device);
  o->device->error[0] = 0;
  if (t->params.over_correction != l->params->over_correction) copy_rows_again(t, A);
  t->params.over_correction = l->params->over_correction;
  t->A.shift = A->shift, t->A.reaction_from_walls = A->reaction_from_walls;
  for (int a = 0; a < 3; a++) {
    t->A.coupling[a] = A->coupling[a];
    if (A->face[a]) memory->upload(o->device, (void *)t->A.face[a], A->face[a], gmg_face_count(A, a) * t->exec.real_size);
  }
  if (A->sigma) memory->upload(o->device, (void *)t->A.sigma, A->sigma, A->cells * t->exec.real_size);
  return t->ops->update ? pass_on(o, l, t->ops->update(&t->level, t->inner)) : GMG_OK;
}

static void destroy(const gmg_smoother_level *l, void *state)
{
  device_level *t = state;
  if (!t) return;
  GMG_WITH_DEVICE(offload_of(l->params)->device);
  if (t->ops && t->ops->destroy) t->ops->destroy(&t->level, t->inner);
  gmg_exec_release(&t->exec);
  free(t);
}

static void sweep_there(const device_level *t, int steps, gmg_leg leg, gmg_start start)
{
  if (start == GMG_FROM_ZERO && t->ops->sweep_from_zero) {
    t->ops->sweep_from_zero(&t->level, t->inner, t->f, t->u, steps, leg);
    return;
  }
  if (start == GMG_FROM_ZERO) t->exec.vector->fill(&t->exec, t->A.cells, 0, t->u);
  t->ops->sweep(&t->level, t->inner, t->f, t->u, steps, leg);
}

/* Runs a sweep. If the device fails, u becomes NaN, which ends the solve. */
static void run(const gmg_smoother_level *l, const device_level *t, const void *f, void *u, int steps, gmg_leg leg, gmg_start start)
{
  offload *o = offload_of(l->params);
  const gmg_memory_ops *memory = t->exec.memory;
  const size_t bytes = t->A.cells * t->exec.real_size;
  GMG_WITH_DEVICE(o->device);
  o->trace->start_timer(o->device, &o->clock, TRANSFERS);
  memory->upload(o->device, t->f, f, bytes);
  if (start == GMG_FROM_CURRENT) memory->upload(o->device, t->u, u, bytes);
  o->trace->start_timer(o->device, &o->clock, SWEEPS);
  sweep_there(t, steps, leg, start);
  o->trace->start_timer(o->device, &o->clock, TRANSFERS);
  memory->download(o->device, u, t->u, bytes);
  o->trace->start_timer(o->device, &o->clock, -1);
  if (memory->health(o->device) != GMG_OK) l->exec->vector->fill(l->exec, t->A.cells, NAN, u);
}

static void sweep(const gmg_smoother_level *l, void *state, const void *f, void *u, int steps, gmg_leg leg)
{
  run(l, state, f, u, steps, leg, GMG_FROM_CURRENT);
}

/* Does not copy u to the device. */
static void sweep_from_zero(const gmg_smoother_level *l, void *state, const void *f, void *u, int steps, gmg_leg leg)
{
  run(l, state, f, u, steps, leg, GMG_FROM_ZERO);
}

static const gmg_smoother_ops there_and_back = {
    .setup = setup, .update = update, .sweep = sweep, .sweep_from_zero = sweep_from_zero, .destroy = destroy};

const gmg_smoother *gmg_offloaded(const gmg_smoother *s)
{
  for (int type = GMG_F64; type <= GMG_F32; type++)
    if (s->ops[GMG_BACKEND_HOST][type] == &there_and_back) return ((const offload *)s)->inner;
  return s;
}

gmg_status gmg_smoother_offload_create(gmg_context *device, const gmg_smoother *inner, gmg_smoother **smoother)
{
  if (smoother) *smoother = NULL;
  if (!device) return GMG_ERR_ARGUMENT;
  if (!inner || !smoother) return gmg_fail(device, GMG_ERR_ARGUMENT, "%s is NULL", inner ? "smoother" : "inner");
  GMG_TRY(gmg_check_process(device, "gmg_smoother_offload_create", 0));
  GMG_WITH_DEVICE(device);
  offload *o = calloc(1, sizeof *o);
  if (!o) return gmg_fail(device, GMG_ERR_MEMORY, "an offloaded smoother could not be allocated");
  snprintf(o->name, sizeof o->name, "offloaded %s", inner->name ? inner->name : "(no name)");
  o->smoother = (gmg_smoother){.name = o->name, .traits = traits, .weight = inner->weight};
  o->device = device, o->inner = inner, o->clock.timer = -1;
  int found = 0;
  for (int type = GMG_F64; type <= GMG_F32; type++) {
    const gmg_exec e = gmg_exec_make(device, (gmg_type)type, 0);
    const gmg_smoother_ops *ops = inner->ops[device->backend][type];
    o->trace = e.trace;
    if (ops && ops->sweep) o->smoother.ops[GMG_BACKEND_HOST][type] = &there_and_back, found = 1;
  }
  gmg_status status = o->trace->clock_create(device, &o->clock);
  if (status == GMG_OK && !found)
    status = gmg_fail(device, GMG_ERR_UNSUPPORTED, "inner = \"%s\" has no functions for this context",
                      inner->name ? inner->name : "(no name)");
  if (status == GMG_OK) *smoother = &o->smoother;
  else gmg_smoother_offload_destroy(&o->smoother);
  return status;
}

void gmg_smoother_offload_destroy(gmg_smoother *smoother)
{
  offload *o = (offload *)smoother;
  if (!o) return;
  GMG_WITH_DEVICE(o->device);
  o->trace->clock_destroy(o->device, &o->clock);
  free(o);
}

gmg_status gmg_smoother_offload_seconds(gmg_smoother *smoother, double *sweeps, double *transfers)
{
  offload *o = (offload *)smoother;
  if (!o) return GMG_ERR_ARGUMENT;
  GMG_TRY(gmg_check_process(o->device, "gmg_smoother_offload_seconds", 0));
  GMG_WITH_DEVICE(o->device);
  o->trace->read_timers(o->device, &o->clock);
  if (sweeps) *sweeps = o->clock.seconds[SWEEPS];
  if (transfers) *transfers = o->clock.seconds[TRANSFERS];
  return gmg_exec_make(o->device, GMG_F64, 0).memory->health(o->device);
}
