/* exec: allocation of a solver's memory, with a count of its bytes. Looks up the backend, once. Called by stencil, smoothers,
   coarse and mg. */
#include "backend.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

const gmg_type_traits *gmg_type_traits_of(gmg_type type)
{
  static const gmg_type_traits traits[] = {[GMG_F32] = {sizeof(float), FLT_EPSILON, FLT_MAX, FLT_MIN, 1e-5, 1e-4, GMG_F32},
                                           [GMG_F64] = {sizeof(double), DBL_EPSILON, DBL_MAX, DBL_MIN, 1e-8, 1e-6, GMG_F32}};
  return (size_t)type < sizeof traits / sizeof *traits ? &traits[type] : NULL;
}

gmg_exec gmg_exec_make(gmg_context *context, gmg_type type, int dry)
{
  static const gmg_backend_tables *const backends[] = {[GMG_BACKEND_HOST] = &gmg_host_backend,
                                                       [GMG_BACKEND_CUDA] = GMG_ON_CUDA(&gmg_cuda_backend)};
  const gmg_backend_tables *tables = backends[context->backend];
  return (gmg_exec){.context = context,
                    .tables = tables,
                    .memory = tables->memory,
                    .trace = tables->trace,
                    .graph = tables->graph,
                    .comm = context->comm,
                    .vector = tables->vector[type],
                    .type = type,
                    .real_size = gmg_type_traits_of(type)->size,
                    .threads = context->threads,
                    .dry = dry};
}

void gmg_exec_use_exact_sums(gmg_exec *e, int wanted) { e->exact_sums = wanted && e->tables->has_exact_sums; }

/* An entry of the list of allocations. */
struct gmg_allocation {
  gmg_allocation *next;
  const gmg_memory_ops *memory;
  void *p;
};

static gmg_exec *owner_of(gmg_exec *e) { return e->owner ? e->owner : e; }

/* Adds *p to the list of allocations. Fails if *p is NULL. If the list cannot grow, *p is released. */
static gmg_status add_allocation(gmg_exec *e, const gmg_memory_ops *memory, const char *what, size_t bytes, void **p)
{
  gmg_exec *owner = owner_of(e);
  gmg_allocation *entry = *p ? malloc(sizeof *entry) : NULL;
  if (!entry) {
    if (*p) memory->release(e->context, *p);
    *p = NULL;
    return gmg_fail(e->context, GMG_ERR_MEMORY, "%s: %zu bytes could not be allocated", what, bytes);
  }
  *entry = (gmg_allocation){owner->allocations, memory, *p};
  owner->allocations = entry;
  owner->bytes += bytes;
  return GMG_OK;
}

gmg_status gmg_exec_alloc(gmg_exec *e, const char *what, size_t bytes, void **p)
{
  static char nothing; /* target of the pointers that a dry exec returns */
  gmg_exec *owner = owner_of(e);
  const size_t most = e->dry ? SIZE_MAX : e->memory->max_bytes(e->context);
  const int has_room = bytes <= most && owner->bytes <= most - bytes;
  if (e->dry && has_room) {
    *p = &nothing;
    owner->bytes += bytes;
    return GMG_OK;
  }
  *p = has_room ? e->memory->alloc(e->context, bytes ? bytes : 1) : NULL;
  return add_allocation(e, e->memory, what, bytes, p);
}

gmg_status gmg_exec_alloc_state(gmg_exec *e, const char *what, size_t bytes, void **p)
{
  *p = calloc(1, bytes);
  return add_allocation(e, &gmg_memory_host, what, bytes, p);
}

/* Releases the newest allocation first. */
void gmg_exec_release(gmg_exec *e)
{
  while (e->allocations) {
    gmg_allocation *entry = e->allocations;
    e->allocations = entry->next;
    entry->memory->release(e->context, entry->p);
    free(entry);
  }
  e->bytes = 0;
}

gmg_status gmg_exec_reals(gmg_exec *e, const char *what, size_t n, const double *from, void **p)
{
  GMG_TRY(gmg_exec_alloc(e, what, n * e->real_size, p));
  if (!e->dry) gmg_exec_write_reals(e, *p, n, from);
  return GMG_OK;
}

enum { REALS_AT_A_TIME = 4096 }; /* converted in pieces on the stack, so that an update allocates nothing */

void gmg_exec_write_reals(const gmg_exec *e, void *p, size_t n, const double *from)
{
  if (e->type == GMG_F64) {
    e->memory->upload(e->context, p, from, n * sizeof *from);
    return;
  }
  float part[REALS_AT_A_TIME];
  for (size_t i = 0; i < n; i += REALS_AT_A_TIME) {
    const size_t m = n - i < REALS_AT_A_TIME ? n - i : REALS_AT_A_TIME;
    for (size_t j = 0; j < m; j++) part[j] = (float)from[i + j];
    e->memory->upload(e->context, (float *)p + i, part, m * sizeof *part);
  }
}

void gmg_exec_read_reals(const gmg_exec *e, const void *p, size_t n, double *to)
{
  if (e->type == GMG_F64) {
    e->memory->download(e->context, to, p, n * sizeof *to);
    return;
  }
  float part[REALS_AT_A_TIME];
  for (size_t i = 0; i < n; i += REALS_AT_A_TIME) {
    const size_t m = n - i < REALS_AT_A_TIME ? n - i : REALS_AT_A_TIME;
    e->memory->download(e->context, part, (const float *)p + i, m * sizeof *part);
    for (size_t j = 0; j < m; j++) to[i + j] = part[j];
  }
}

gmg_status gmg_exec_ints(gmg_exec *e, const char *what, size_t n, const int *from, void **p)
{
  GMG_TRY(gmg_exec_alloc(e, what, n * sizeof *from, p));
  if (!e->dry) e->memory->upload(e->context, *p, from, n * sizeof *from);
  return GMG_OK;
}

static size_t all_rows(gmg_repeating s) { return s.head + s.period * s.count + s.tail; }

gmg_status gmg_exec_repeating_reals(gmg_exec *e, const char *what, gmg_repeating s, const double *from, void **p)
{
  enum { MAX_VALUES = 32 };
  float in_float[MAX_VALUES];
  const size_t values = s.period * s.width, row = s.width * e->real_size, tail = s.head + s.period * s.count;
  if (values > MAX_VALUES) return gmg_fail(e->context, GMG_ERR_MEMORY, "%s: a period of %zu values is too long", what, values);
  GMG_TRY(gmg_exec_alloc(e, what, all_rows(s) * row, p));
  if (e->dry) return GMG_OK;
  const double *period = from + s.head * s.width;
  for (size_t i = 0; i < values; i++) in_float[i] = (float)period[i];
  gmg_exec_write_reals(e, *p, s.head * s.width, from);
  const void *in_type = e->type == GMG_F64 ? (const void *)period : in_float;
  e->memory->repeat(e->context, (char *)*p + s.head * row, in_type, s.period * row, s.count);
  gmg_exec_write_reals(e, (char *)*p + tail * row, s.tail * s.width, period + values);
  return GMG_OK;
}

gmg_status gmg_exec_repeating_ints(gmg_exec *e, const char *what, gmg_repeating s, int step, const int *from, void **p)
{
  const size_t middle = s.period * s.count;
  GMG_TRY(gmg_exec_alloc(e, what, all_rows(s) * sizeof(int), p));
  if (e->dry) return GMG_OK;
  int *to = *p;
  e->memory->upload(e->context, to, from, s.head * sizeof(int));
  e->memory->count_up(e->context, to + s.head, middle, (int)s.period, from + s.head, step);
  e->memory->upload(e->context, to + s.head + middle, from + s.head + s.period, s.tail * sizeof(int));
  return GMG_OK;
}
