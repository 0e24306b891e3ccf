/* exec: where a solver's memory lives and how vectors are computed there. Everything above it is written once for
   all backends and real types. Calls core only; called by stencil, smoothers, coarse and mg.

   Memory belongs to the exec through which it was allocated, and ends with it.
   A dry exec only counts bytes: alloc returns a pointer that must not be followed. gmg_plan() is a create on a dry exec, so its byte
   count is right by construction. Memory that comes from exec is therefore filled through exec as well, never directly. */
#ifndef GMG_EXEC_H
#define GMG_EXEC_H

#include "context.h"
#include "scale.h"
#include "stopping.h"

typedef struct gmg_exec gmg_exec;

/* Over fewer unknowns a parallel region of the host costs more than it saves. A sweep does more for each. */
enum { GMG_MIN_CELLS_PARALLEL = 8192, GMG_MIN_CELLS_PARALLEL_SWEEP = 4096 };

/* What is in an array. A NaN or infinity anywhere makes all three NaN. */
typedef struct gmg_range {
  double least, most, mean;
} gmg_range;

/* A correction that a cycle found: size[0] times z. z is in exec's real type, or in the lower precision if low is set; NULL:
   there is no correction. */
typedef struct gmg_correction {
  const void *z;
  const double *size; /* in exec's memory; NULL: 1 */
  int low;
} gmg_correction;

/* Whether the host waits for the number that an operation leaves in exec's memory. GMG_ENQUEUE: it returns NaN at once. */
typedef enum { GMG_ENQUEUE, GMG_WAIT } gmg_wait;

/* What conjugate gradients know of their direction p, in exec's memory. All zeros: there is none yet. */
typedef struct gmg_cg_scalars {
  double pq;    /* <p, A p>; 0: there is no direction, the next one is the correction alone */
  double pr;    /* <p, r> */
  double zr;    /* <z, r> of the correction z that it came from; plain conjugate gradients only */
  double beta;  /* of this direction in the next one */
} gmg_cg_scalars;

/* Vector kernels: n reals each, in exec's memory. Sums are made in double, over chunks that depend on n alone, so
   they are bitwise the same for any number of threads. */
typedef struct gmg_vector_ops {
  void (*fill)(const gmg_exec *e, size_t n, double a, void *x);                     /* x = a */
  void (*copy)(const gmg_exec *e, size_t n, const void *x, void *y);                /* y = x */
  void (*axpy)(const gmg_exec *e, size_t n, double a, const void *x, void *y);      /* y = y + a x */
  void (*xpay)(const gmg_exec *e, size_t n, const void *x, double a, void *y);      /* y = x + a y */
  void (*add)(const gmg_exec *e, size_t n, double a, void *x);                      /* x = x + a */
  double (*norm2)(const gmg_exec *e, size_t n, const void *x);                      /* ||x||_2 */
  void (*correct)(const gmg_exec *e, size_t n, gmg_correction c, int keep, void *x); /* x = c + keep x; keep is 1, or 0: x is not read */
  /* A step of conjugate gradients: y = y + a p, r = r - a q, a = <p, r> / <p, A p>. If there is no step to take (cg_scalars.h),
     y and r stay, and d loses its direction. Unless NULL, low = r s->next in the lower precision. Returns ||r||_2, or NaN if an
     inner product is no number. */
  double (*cg_update)(const gmg_exec *e, size_t n, gmg_cg_scalars *d, const void *p, const void *q, void *y, void *r, gmg_scale *s,
                      void *low, gmg_wait wait);
  gmg_range (*range)(const gmg_exec *e, size_t n, const void *x);
  /* The functions below only enqueue on a device. `size` is in exec's memory. */
  /* s->size = about ||x||_2 (any number if that is 0, NaN or infinite) and, unless y is NULL, y = x / s->size in the lower
     precision. An old s->size that is about right (0: unknown) saves a device reading x twice. */
  void (*normalize_to_low)(const gmg_exec *e, size_t n, const void *x, gmg_scale *s, void *y);
  /* y = x / size[0] in the lower precision; size = NULL: y = x */
  void (*scale_to_low)(const gmg_exec *e, size_t n, const double *size, const void *x, void *y);
  void (*subtract_mean)(const gmg_exec *e, size_t n, void *x);                      /* x = x - (mean of x) */
} gmg_vector_ops;

/* Memory and health of a backend. */
typedef struct gmg_memory_ops {
  void *(*alloc)(gmg_context *c, size_t bytes); /* NULL when there is no memory */
  void (*release)(gmg_context *c, void *p);
  size_t (*most)(gmg_context *c); /* bytes that a solver may hold at all: beyond that an allocation fails instead of being
                                     promised by the system and not kept */
  void (*upload)(gmg_context *c, void *to, const void *from_host, size_t bytes);
  void (*download)(gmg_context *c, void *to_host, const void *from, size_t bytes); /* blocks */
  gmg_status (*health)(gmg_context *c); /* GMG_ERR_DEVICE, with a text, once anything has failed where the context runs */
} gmg_memory_ops;

/* Time by accounts: a solver's are its levels. */
typedef struct gmg_clock {
  int runs;                       /* of a solver: within a solve */
  int account;                    /* that time is being charged to, -1: none */
  double start;                   /* since then: of a host */
  struct gmg_marks *marks;        /* of a device, where time is what its work takes; NULL: not measured */
  double seconds[GMG_MAX_LEVELS]; /* of each account */
} gmg_clock;

/* What can be seen of a solve from outside: time and, by profilers, what is being done. */
typedef struct gmg_trace_ops {
  gmg_status (*clock_create)(gmg_context *c, gmg_clock *clock); /* all that measuring will need; it starts from zeros */
  void (*clock_destroy)(gmg_context *c, gmg_clock *clock);
  void (*charge)(gmg_context *c, gmg_clock *clock, int account); /* the work from here on belongs to it; -1: to none */
  void (*settle)(gmg_context *c, gmg_clock *clock); /* blocks until seconds are known: NaN where they are not measured */
  void (*range_begin)(gmg_context *c, int level, const char *operation); /* until its range_end; ranges nest. NULL: nobody looks */
  void (*range_end)(gmg_context *c);
} gmg_trace_ops;

/* Cycles that follow each other without the host: what it tells them before and learns from them afterwards. */
typedef struct gmg_loop {
  gmg_stopping rule;
  gmg_standing standing; /* before the first cycle; afterwards after the last */
  int measures_first;    /* the first residual is found there, too, and gives the standing */
  int rescales;          /* a low-precision residual that is not well scaled (scale.h) ends it */
  int most;              /* cycles */
} gmg_loop;

/* Work that is recorded once and replayed, where a backend can do that more cheaply than by enqueueing it again. During
   recording nothing executes; an operation that returns a number to the host returns NaN and invalidates the recording. What
   the work reads and writes must stay where it is. */
typedef struct gmg_graph gmg_graph;
typedef struct gmg_graph_ops {
  /* Records what is enqueued from here on. loop: a cycle whose residual is tested by gmg_stencil_ops::loop_residual. 0: not
     possible. */
  int (*begin)(gmg_context *c, int loop);
  int (*measures_first)(gmg_context *c); /* whether a loop can find its first residual (gmg_loop::measures_first) */
  /* Of a loop: what is recorded from here on is its body. measures_first: before it stands gmg_stencil_ops::loop_first_residual
     alone; else nothing. */
  void (*loop_body_begin)(gmg_context *c, int measures_first);
  gmg_graph *(*end)(gmg_context *c); /* NULL: the work cannot be replayed */
  int (*replay)(gmg_context *c, gmg_graph *graph); /* only enqueues; 0: not possible now */
  /* Runs a loop while the rule says GMG_GO_ON, at least once unless it measures its first residual. Blocks. norms: of the
     residuals. Returns how many cycles were done. */
  int (*run_loop)(gmg_context *c, gmg_graph *graph, gmg_loop *loop, double *norms);
  void (*destroy)(gmg_graph *graph);
} gmg_graph_ops;

typedef struct gmg_backend_tables gmg_backend_tables; /* backend.h */
typedef struct gmg_kept gmg_kept;                     /* exec.c */

struct gmg_exec {
  gmg_context *context; /* BORROWED */
  const gmg_backend_tables *tables; /* the backend's; those below are among them */
  const gmg_memory_ops *memory;
  const gmg_trace_ops *trace;
  const gmg_graph_ops *graph; /* NULL: the backend does not replay */
  const gmg_vector_ops *vector;
  gmg_type type;
  size_t real_size;
  int threads;
  int dry;
  size_t bytes;    /* allocated */
  gmg_kept *kept;  /* the allocations */
  gmg_exec *owner; /* what is allocated through this exec belongs to that one; NULL: to this one */
};

/* From here to the end of the block a profiler sees the operation on the level, on whatever way the block is left. */
#define GMG_RANGE(e, level, operation) \
  const gmg_exec *gmg_range_ __attribute__((cleanup(gmg_range_end), unused)) = gmg_range_begin(e, level, operation)

static inline const gmg_exec *gmg_range_begin(const gmg_exec *e, int level, const char *operation)
{
  if (e->trace->range_begin) e->trace->range_begin(e->context, level, operation);
  return e;
}

static inline void gmg_range_end(const gmg_exec *const *e)
{
  if ((*e)->trace->range_end) (*e)->trace->range_end((*e)->context);
}

/* What a real type can hold, and how accurately gmg solves in it by default. NULL for an unknown type. */
typedef struct gmg_type_traits {
  size_t size;
  double epsilon, largest, smallest;
  double rtol, coarse_rtol; /* defaults of gmg_params */
  gmg_type narrower;        /* what corrections can be computed in: of half the size, or the type itself where there is none */
} gmg_type_traits;
const gmg_type_traits *gmg_type_traits_of(gmg_type type);

gmg_exec gmg_exec_make(gmg_context *context, gmg_type type, int dry);

/* Allocates at least 1 byte, or fails with GMG_ERR_MEMORY and `what` in the text. */
gmg_status gmg_exec_alloc(gmg_exec *e, const char *what, size_t bytes, void **p);
/* Zeros in the host's memory, for structs and tables of the caller. Allocates on a dry exec too. */
gmg_status gmg_exec_alloc_state(gmg_exec *e, const char *what, size_t bytes, void **p);
void gmg_exec_release(gmg_exec *e); /* all of it */

/* Allocates n reals (or ints) and fills them from host doubles (or ints). */
gmg_status gmg_exec_reals(gmg_exec *e, const char *what, size_t n, const double *from, void **p);
gmg_status gmg_exec_ints(gmg_exec *e, const char *what, size_t n, const int *from, void **p);
void gmg_exec_write_reals(const gmg_exec *e, void *p, size_t n, const double *from); /* into memory from above */
void gmg_exec_read_reals(const gmg_exec *e, const void *p, size_t n, double *to);    /* and back */

extern const gmg_memory_ops gmg_memory_host;
extern const gmg_vector_ops gmg_vector_host_f32, gmg_vector_host_f64;
extern const gmg_memory_ops gmg_memory_cuda; /* where the library is built with CUDA */
extern const gmg_trace_ops gmg_trace_cuda;
extern const gmg_graph_ops gmg_graph_cuda;
extern const gmg_vector_ops gmg_vector_cuda_f32, gmg_vector_cuda_f64;

#endif
