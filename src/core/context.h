/* The context and the texts of errors. Called by every module; calls nothing. */
#ifndef GMG_CONTEXT_H
#define GMG_CONTEXT_H

#include "gmg_smoother.h" /* gmg_backend */

typedef struct gmg_device gmg_device;

struct gmg_context {
  gmg_backend backend;
  int threads;      /* host threads */
  char error[512];  /* text of the last error */
  gmg_device *device; /* private to the backend; NULL: it has none */
  /* NULL without a device: */
  void (*end)(gmg_context *self);               /* ends the device */
  int (*enter)(gmg_context *self);              /* makes the device the calling thread's current one; returns the one before */
  void (*leave)(gmg_context *self, int before); /* makes that one current again */
};

/* From here to the end of the block, however it is left, the context's device is the calling thread's current one. Every public
   call that uses the device has this. */
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
