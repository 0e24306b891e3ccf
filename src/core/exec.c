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

/* An entry of the list of allocations. */
struct gmg_kept {
  gmg_kept *next;
  const gmg_memory_ops *memory;
  void *p;
};

static gmg_exec *owner_of(gmg_exec *e) { return e->owner ? e->owner : e; }

/* Adds *p to the list of allocations. Fails if *p is NULL. If the list cannot grow, *p is released. */
static gmg_status keep(gmg_exec *e, const gmg_memory_ops *memory, const char *what, size_t bytes, void **p)
{
  gmg_exec *owner = owner_of(e);
  gmg_kept *entry = *p ? malloc(sizeof *entry) : NULL;
  if (!entry) {
    if (*p) memory->release(e->context, *p);
    *p = NULL;
    return gmg_fail(e->context, GMG_ERR_MEMORY, "%s: %zu bytes could not be allocated", what, bytes);
  }
  *entry = (gmg_kept){owner->kept, memory, *p};
  owner->kept = entry;
  owner->bytes += bytes;
  return GMG_OK;
}

gmg_status gmg_exec_alloc(gmg_exec *e, const char *what, size_t bytes, void **p)
{
  static char nothing; /* target of the pointers that a dry exec returns */
  gmg_exec *owner = owner_of(e);
  const size_t most = e->dry ? SIZE_MAX : e->memory->most(e->context);
  const int has_room = bytes <= most && owner->bytes <= most - bytes;
  if (e->dry && has_room) {
    *p = &nothing;
    owner->bytes += bytes;
    return GMG_OK;
  }
  *p = has_room ? e->memory->alloc(e->context, bytes ? bytes : 1) : NULL;
  return keep(e, e->memory, what, bytes, p);
}

gmg_status gmg_exec_alloc_state(gmg_exec *e, const char *what, size_t bytes, void **p)
{
  *p = calloc(1, bytes);
  return keep(e, &gmg_memory_host, what, bytes, p);
}

/* Releases the newest allocation first. */
void gmg_exec_release(gmg_exec *e)
{
  while (e->kept) {
    gmg_kept *entry = e->kept;
    e->kept = entry->next;
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

size_t gmg_first_outside(const gmg_exec *e, size_t n, const void *x, double least, double below, double *value)
{
  double part[REALS_AT_A_TIME];
  for (size_t i = 0; i < n; i += REALS_AT_A_TIME) {
    const size_t m = n - i < REALS_AT_A_TIME ? n - i : REALS_AT_A_TIME;
    gmg_exec_read_reals(e, (const char *)x + i * e->real_size, m, part);
    for (size_t j = 0; j < m; j++)
      if (!(part[j] >= least && part[j] < below)) return *value = part[j], i + j;
  }
  return n;
}

gmg_status gmg_check_values(const gmg_exec *e, size_t n, const void *x, const char *name, const char *where)
{
  const double largest = sqrt(DBL_MAX / (double)(n ? n : 1));
  double value;
  size_t i = gmg_first_outside(e, n, x, -DBL_MAX, INFINITY, &value);
  if (i < n) return gmg_fail(e->context, GMG_ERR_ARGUMENT, "%s[%zu] = %g%s: must be finite", name, i, value, where);
  i = gmg_first_outside(e, n, x, -largest, largest, &value);
  if (i == n) return GMG_OK;
  return gmg_fail(e->context, GMG_ERR_ARGUMENT, "%s[%zu] = %g%s: too large, the sum of squares overflows", name, i, value, where);
}

gmg_status gmg_exec_ints(gmg_exec *e, const char *what, size_t n, const int *from, void **p)
{
  GMG_TRY(gmg_exec_alloc(e, what, n * sizeof *from, p));
  if (!e->dry) e->memory->upload(e->context, *p, from, n * sizeof *from);
  return GMG_OK;
}
