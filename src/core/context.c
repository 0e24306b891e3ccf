/* Version, host contexts, status texts and error texts (context.h, gmg.h). Called through the API; gmg_fail() by every module. */
#include "context.h"

#include <omp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
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
