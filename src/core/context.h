/* The context, error texts, and the macros GMG_WITH_DEVICE and GMG_TRY. Calls nothing; included by every module. */
#ifndef GMG_CONTEXT_H
#define GMG_CONTEXT_H

#include "gmg_smoother.h" /* gmg_backend */

typedef struct gmg_device gmg_device;
typedef struct gmg_comm_ops gmg_comm_ops; /* comm.h */
typedef struct gmg_ranks gmg_ranks;       /* comm/ranks.h */

struct gmg_context {
  gmg_backend backend;
  int threads;      /* host threads */
  long process;     /* the process that created the context */
  char error[512];  /* text of the last error */
  gmg_device *device; /* private to the backend; NULL on the host */
  const gmg_comm_ops *comm; /* operations with the other processes */
  gmg_ranks *ranks;   /* the processes that share each grid; NULL: this one alone */
  /* NULL on the host: */
  void (*end)(gmg_context *self);               /* releases the device's resources */
  int (*enter)(gmg_context *self);              /* makes the device current for the calling thread; returns the previous device */
  void (*leave)(gmg_context *self, int before); /* makes the previous device current again */
};

/* Makes the context's device current for the calling thread until the end of the enclosing block, even on an early return. A public
   call uses it before it touches the device, after the checks of mg/call.c. */
#define GMG_WITH_DEVICE(c) const gmg_visit gmg_visit_ __attribute__((cleanup(gmg_visit_end), unused)) = gmg_visit_begin(c)

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

/* gmg_give_struct(), gmg_take_struct(): new versions add members to public structs at the end, so a caller's struct may be smaller
   or larger than the library's. */
/* Fills a caller's struct of `size` bytes from the library's of `known` bytes. Bytes beyond `known` become 0. */
void gmg_give_struct(const void *from, size_t known, void *to, size_t size);
/* Copies a caller's struct, which begins with its size (0: known), to the library's of `known` bytes. Refuses bytes beyond `known`
   that are not 0. */
gmg_status gmg_take_struct(gmg_context *c, const char *name, const void *given, size_t known, void *to);

/* Stores the text and returns the status, so that a failing check is one line. */
gmg_status gmg_fail(gmg_context *context, gmg_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* threads.c: makes OpenMP start its threads for regions of `threads` threads, the calling one included. Returns 0 if the system
   cannot start so many. */
int gmg_start_threads(int threads);
/* threads.c: refuses what a child of fork() cannot do: use the parent's device or, with `several`, OpenMP's threads of the parent.
   `several`: the call uses more than one thread. Call it before GMG_WITH_DEVICE. */
gmg_status gmg_check_process(gmg_context *context, const char *call, int several);

/* Returns the status of a failed call from the calling function. */
#define GMG_TRY(call)                              \
  do {                                             \
    const gmg_status gmg_try_status_ = (call);     \
    if (gmg_try_status_ != GMG_OK) return gmg_try_status_; \
  } while (0)

#endif
