/* The context (private part) and how errors get their text. Called by every module; calls nothing. */
#ifndef GMG_CONTEXT_H
#define GMG_CONTEXT_H

#include "gmg_smoother.h" /* gmg_backend */

typedef struct gmg_device gmg_device;

struct gmg_context {
  gmg_backend backend;
  int threads;      /* host threads */
  char error[512];  /* text of the last error */
  gmg_device *device;             /* of a backend that has one, which alone knows what it is */
  void (*end)(gmg_context *self); /* ends it; or NULL */
  int (*enter)(gmg_context *self);              /* makes it the calling thread's current one; returns which was. Or NULL */
  void (*leave)(gmg_context *self, int before); /* and back; or NULL */
};

/* From here to the end of the block the context's device is the calling thread's current one; afterwards the one of before is,
   on whatever way the block is left. Stands in every public call that gets at the device. */
#define GMG_VISIT(c) const gmg_visit gmg_visit_ __attribute__((cleanup(gmg_visit_end), unused)) = gmg_visit_begin(c)

typedef struct gmg_visit {
  gmg_context *context;
  int before;
} gmg_visit;

static inline gmg_visit gmg_visit_begin(gmg_context *c)
{
  const gmg_visit v = {c, c->enter ? c->enter(c) : 0};
  return v;
}

static inline void gmg_visit_end(const gmg_visit *v)
{
  if (v->context->leave) v->context->leave(v->context, v->before);
}

/* Stores the text and returns the status, so that a failing check is one line. */
gmg_status gmg_fail(gmg_context *context, gmg_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Passes a failure on. The one macro with control flow. */
#define GMG_TRY(call)                              \
  do {                                             \
    const gmg_status gmg_try_status_ = (call);     \
    if (gmg_try_status_ != GMG_OK) return gmg_try_status_; \
  } while (0)

#endif
