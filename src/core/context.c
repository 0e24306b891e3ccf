/* Version, host contexts, status texts and error texts (context.h, gmg.h). Called through the API; gmg_fail() by every module. */
#include "comm.h"

#include <omp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const status_text[] = {
#define STATUS_TEXT(name, text) [name] = text,
    GMG_STATUS_LIST(STATUS_TEXT)
#undef STATUS_TEXT
};

const char *gmg_version(void) { return GMG_VERSION_STRING; }

const char *gmg_status_string(gmg_status status)
{
  const size_t count = sizeof status_text / sizeof *status_text;
  return (size_t)status < count ? status_text[status] : "unknown status";
}

int gmg_status_is_outcome(gmg_status status) { return (unsigned)status <= GMG_DIVERGED; }

gmg_status gmg_fail(gmg_context *context, gmg_status status, const char *format, ...)
{
  va_list args;
  va_start(args, format);
  vsnprintf(context->error, sizeof context->error, format, args);
  va_end(args);
  return status;
}

void gmg_give_struct(const void *from, size_t known, void *to, size_t size)
{
  memcpy(to, from, size < known ? size : known);
  if (size > known) memset((char *)to + known, 0, size - known);
}

gmg_status gmg_take_struct(gmg_context *c, const char *name, const void *given, size_t known, void *to)
{
  enum { LARGEST = 1 << 16 }; /* a larger size is an uninitialised one */
  size_t stated;
  memcpy(&stated, given, sizeof stated);
  const size_t size = stated ? stated : known;
  if (size < sizeof size || size > LARGEST)
    return gmg_fail(c, GMG_ERR_ARGUMENT, "%s.size = %zu: must be 0 or sizeof(gmg_%s), %zu in this version", name, stated,
                    strrchr(name, '.') ? strrchr(name, '.') + 1 : name, known);
  for (size_t i = known; i < size; i++)
    if (((const char *)given)[i])
      return gmg_fail(c, GMG_ERR_UNSUPPORTED, "%s.size = %zu: this version knows %zu bytes, and byte %zu, beyond them, is not 0",
                      name, stated, known, i);
  memset(to, 0, known);
  memcpy(to, given, size < known ? size : known);
  return GMG_OK;
}

gmg_status gmg_context_create_host(int threads, gmg_context **context)
{
  if (!context) return GMG_ERR_ARGUMENT;
  *context = NULL;
  if (threads < 0 || threads > 4096) return GMG_ERR_ARGUMENT;
  const int wanted = threads ? threads : omp_get_num_procs();
  gmg_context *c = calloc(1, sizeof *c);
  if (!c) return GMG_ERR_MEMORY;
  if (!gmg_start_threads(wanted)) {
    free(c);
    return GMG_ERR_MEMORY;
  }
  c->backend = GMG_BACKEND_HOST;
  c->threads = wanted;
  c->process = getpid();
  c->comm = &gmg_comm_alone;
  *context = c;
  return GMG_OK;
}

void gmg_context_destroy(gmg_context *context)
{
  if (context && context->end) context->end(context);
  free(context);
}

const char *gmg_context_error(const gmg_context *context) { return context ? context->error : "context is NULL"; }

int gmg_context_threads(const gmg_context *context) { return context ? context->threads : 0; }
