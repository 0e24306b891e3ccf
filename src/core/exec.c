/* Memory of a solver, counted. The backend is looked up here, once. */
#include "backend.h"

#include <float.h>
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
                    .vector = tables->vector[type],
                    .backend = context->backend,
                    .type = type,
                    .real_size = gmg_type_traits_of(type)->size,
                    .threads = context->threads,
                    .dry = dry};
}

static void count(gmg_exec *e, size_t more, size_t less)
{
  e->bytes = e->bytes + more - less;
  if (e->also) e->also->bytes = e->also->bytes + more - less;
}

gmg_status gmg_exec_alloc(gmg_exec *e, const char *what, size_t bytes, void **p)
{
  static char nothing; /* what a dry exec points at */
  *p = NULL;
  if (e->dry)
    *p = &nothing;
  else if (bytes <= e->memory->most(e->context) && (e->also ? e->also : e)->bytes <= e->memory->most(e->context) - bytes)
    *p = e->memory->alloc(e->context, bytes ? bytes : 1);
  if (!*p) return gmg_fail(e->context, GMG_ERR_MEMORY, "%s: %zu bytes could not be allocated", what, bytes);
  count(e, bytes, 0);
  return GMG_OK;
}

void gmg_exec_release(gmg_exec *e, void *p, size_t bytes)
{
  if (!p) return;
  if (!e->dry) e->memory->release(e->context, p);
  count(e, 0, bytes);
}

gmg_status gmg_exec_reals(gmg_exec *e, const char *what, size_t n, const double *from, void **p)
{
  GMG_TRY(gmg_exec_alloc(e, what, n * e->real_size, p));
  return gmg_exec_write_reals(e, *p, n, from);
}

enum { PIECE = 4096 }; /* of reals that are converted at a time, so that an update needs no allocation */

gmg_status gmg_exec_write_reals(const gmg_exec *e, void *p, size_t n, const double *from)
{
  if (e->dry) return GMG_OK;
  if (e->type == GMG_F64) {
    e->memory->upload(e->context, p, from, n * sizeof *from);
    return GMG_OK;
  }
  float part[PIECE];
  for (size_t i = 0; i < n; i += PIECE) {
    const size_t m = n - i < PIECE ? n - i : PIECE;
    for (size_t j = 0; j < m; j++) part[j] = (float)from[i + j];
    e->memory->upload(e->context, (float *)p + i, part, m * sizeof *part);
  }
  return GMG_OK;
}

void gmg_exec_read_reals(const gmg_exec *e, const void *p, size_t n, double *to)
{
  if (e->type == GMG_F64) {
    e->memory->download(e->context, to, p, n * sizeof *to);
    return;
  }
  float part[PIECE];
  for (size_t i = 0; i < n; i += PIECE) {
    const size_t m = n - i < PIECE ? n - i : PIECE;
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
