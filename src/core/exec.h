/* exec: the memory of a solver, and vector operations in it. All code above it is written once for all backends and real types.
   Calls core only; called by stencil, smoothers, coarse and mg.

   Memory belongs to the exec through which it was allocated or, if that has an owner, to the owner, and is released with it. A dry
   exec only counts bytes: alloc returns a pointer that must not be dereferenced. gmg_plan() runs create on a dry exec, so its byte
   count is correct by construction. Therefore memory from exec must be filled through exec, never directly. */
#ifndef GMG_EXEC_H
#define GMG_EXEC_H

#include "context.h"
#include "scale.h"
#include "stopping.h"

typedef struct gmg_exec gmg_exec;

/* With fewer unknowns a parallel region costs more than it saves on the host. A sweep does more work per unknown. */
enum { GMG_MIN_CELLS_PARALLEL = 8192, GMG_MIN_CELLS_PARALLEL_SWEEP = 4096 };

/* A scalar for the host. im is 0 if scalars are reals. */
typedef struct gmg_number {
  double re, im;
} gmg_number;

/* Range and mean of an array. A NaN or infinity anywhere makes all three NaN. */
typedef struct gmg_range {
  double least, most, mean;
} gmg_range;

/* A correction found by a cycle: scale[0] times z. z is in the exec's real type, or in low precision if `low` is set. z = NULL:
   there is no correction. */
typedef struct gmg_correction {
  const void *z;
  const double *scale; /* in exec's memory; NULL: 1 */
  int low;
} gmg_correction;

/* Whether the host waits for the result of an operation. With GMG_ENQUEUE the operation returns NaN at once. With GMG_IN_LOOP, too:
   it is being recorded as a part of a loop (gmg_graph_ops), and the device tests the result. */
typedef enum { GMG_ENQUEUE, GMG_WAIT, GMG_IN_LOOP } gmg_wait;

/* Scalars of the direction p in conjugate gradients, in exec's memory. All zeros: there is no direction yet. */
typedef struct gmg_cg_scalars {
  double pq;    /* <p, A p>; 0: there is no direction, and the next one is the correction alone */
  double pr;    /* <p, r>, or its real part: A is symmetric, so steps are real */
  double zr;    /* <z, r> times its unit, where z is the correction that p came from; plain conjugate gradients only */
  double beta;  /* weight of this direction in the next one */
  double change; /* u changes by it times p: the step's length <p, r> / <p, A p>, times the unit of r */
  double last_change; /* that of the direction before */
} gmg_cg_scalars;

/* Vector operations on n scalars in exec's memory. Factors are real. Sums are computed in double, over chunks that depend on n
   alone, so they are bitwise the same for any number of threads; with gmg_exec::exact_sums for any cut, too. */
typedef struct gmg_vector_ops {
  void (*fill)(const gmg_exec *e, size_t n, double a, void *x);                     /* x = a */
  void (*copy)(const gmg_exec *e, size_t n, const void *x, void *y);                /* y = x */
  void (*axpy)(const gmg_exec *e, size_t n, double a, const void *x, void *y);      /* y = y + a x */
  void (*xpay)(const gmg_exec *e, size_t n, const void *x, double a, void *y);      /* y = x + a y */
  double (*norm2)(const gmg_exec *e, size_t n, const void *x);                      /* ||x||_2 */
  gmg_number (*dot)(const gmg_exec *e, size_t n, const void *x, const void *y);     /* sum of conj(x) y */
  /* x = c + keep x; keep is 0 or 1; with 0 x is not read */
  void (*correct)(const gmg_exec *e, size_t n, gmg_correction c, int keep, void *x);
  /* x = x + c + d in one pass. Both are in the same type. NULL: two passes are as fast. */
  void (*correct_twice)(const gmg_exec *e, size_t n, gmg_correction c, gmg_correction d, void *x);
  /* A step of conjugate gradients: r = r - a q and, unless y is NULL, y = y + a p, with a = <p, r> / <p, A p>. If no step can be
     taken (cg_scalars.h), y and r are unchanged, and d loses its direction. Returns ||r||_2, or NaN if an inner product is not
     finite. */
  double (*cg_update)(const gmg_exec *e, size_t n, gmg_cg_scalars *d, const void *p, const void *q, void *y, void *r,
                      gmg_wait wait);
  gmg_range (*range)(const gmg_exec *e, size_t n, const void *x); /* NULL if scalars are complex: they have no order */
  /* The functions below only enqueue on a device. `divisor` is in exec's memory. */
  /* Sets s->divisor to about ||x||_2 (to any number if the norm is 0, NaN or infinite). Unless y is NULL, y = x / s->divisor in low
     precision. On a device an old s->divisor that is about right saves a second pass over x. 0: unknown. */
  void (*normalize_to_low)(const gmg_exec *e, size_t n, const void *x, gmg_scale *s, void *y);
  /* y = x / divisor[0] in low precision; divisor = NULL: y = x */
  void (*scale_to_low)(const gmg_exec *e, size_t n, const double *divisor, const void *x, void *y);
  void (*subtract_mean)(const gmg_exec *e, size_t n, void *x);                      /* x = x - (mean of x) */
} gmg_vector_ops;

/* Memory and health of a backend. */
typedef struct gmg_memory_ops {
  void *(*alloc)(gmg_context *c, size_t bytes); /* NULL if out of memory */
  void (*release)(gmg_context *c, void *p);
  size_t (*max_bytes)(gmg_context *c); /* of a solver. Larger allocations fail, because the system may promise memory that it does
                                          not have */
  void (*upload)(gmg_context *c, void *to, const void *from_host, size_t bytes);
  void (*download)(gmg_context *c, void *to_host, const void *from, size_t bytes); /* blocks */
  /* `count` copies of at most 32 reals, one after the other. */
  void (*repeat)(gmg_context *c, void *to, const void *from_host, size_t bytes, size_t count);
  /* to[i] = at[i % period] + step (i / period) for n ints; period is 1 or 2. Only enqueues on a device. */
  void (*count_up)(gmg_context *c, int *to, size_t n, int period, const int at[], int step);
  gmg_status (*health)(gmg_context *c); /* GMG_ERR_DEVICE, with a text, after a failure of the device */
} gmg_memory_ops;

/* Timers, of which one runs at a time. A solver has one for each level. */
typedef struct gmg_clock {
  int runs;                       /* 1 during a solve */
  int timer;                      /* the running timer; -1: none */
  double start;                   /* host: when it was started */
  struct gmg_marks *marks;        /* device: events between which the time is measured; NULL: not measured */
  double seconds[GMG_MAX_LEVELS]; /* seconds of each timer */
} gmg_clock;

/* Tracing of a solve: timers, and ranges for profilers. */
typedef struct gmg_trace_ops {
  gmg_status (*clock_create)(gmg_context *c, gmg_clock *clock); /* allocates all that measuring needs; all times are 0 */
  void (*clock_destroy)(gmg_context *c, gmg_clock *clock);
  void (*start_timer)(gmg_context *c, gmg_clock *clock, int timer); /* stops the running timer and starts this one; -1: none */
  void (*read_timers)(gmg_context *c, gmg_clock *clock); /* blocks until the seconds are known; NaN if they are not measured */
  void (*profile_begin)(gmg_context *c, int level, const char *operation); /* begins a range for profilers, which may be
                                                                              nested; NULL: ranges are not supported */
  void (*profile_end)(gmg_context *c);
} gmg_trace_ops;

/* A loop of cycles that run without the host: its input, and its result. */
typedef struct gmg_loop {
  gmg_stopping rule;
  gmg_stopping_state state; /* in: before the first cycle, or f_norm alone if it is known, otherwise NaN; out: after the last */
  int measures_first;       /* the loop also measures the first residual, which gives the state */
  int takes_mean;           /* f comes from gmg_grid_ops::take_means(); out: its mean */
  double mean, rounding;    /* with takes_mean; rounding as in gmg_is_rest_rounding(), and such an f ends the loop */
  int ends_if_badly_scaled; /* a low-precision residual that is not well scaled (scale.h) ends the loop */
  double least;             /* a residual that is not larger ends the loop */
  int max_cycles;
  int has_converged;        /* out: the verdict on the last residual was GMG_VERDICT_CONVERGED */
} gmg_loop;

/* Work that is recorded once and replayed, on backends where this is cheaper than enqueueing it again. While recording, nothing
   executes. An operation that returns a number to the host returns NaN and invalidates the recording. The fields of the work must
   keep their addresses. */
typedef struct gmg_graph gmg_graph;
typedef struct gmg_graph_ops {
  /* Begins to record. loop: the work is a cycle whose residual is tested by gmg_operator_ops::loop_residual, or by an operation
     with GMG_IN_LOOP. Returns 0 if recording is not possible. */
  int (*begin)(gmg_context *c, int loop);
  int (*measures_first)(gmg_context *c); /* whether a loop can measure its first residual (gmg_loop::measures_first) */
  /* Begins the body of a loop. measures_first: gmg_operator_ops::loop_first_residual was recorded before the body, with the
     exchange that it needs, and nothing else. Otherwise nothing was recorded before the body. */
  void (*loop_body_begin)(gmg_context *c, int measures_first);
  gmg_graph *(*end)(gmg_context *c); /* NULL: the work cannot be replayed */
  int (*replay)(gmg_context *c, gmg_graph *graph); /* only enqueues; 0: not possible now */
  /* Enqueues a loop, which runs as long as the rule says GMG_VERDICT_CONTINUE. Runs at least one cycle, unless the loop measures
     its first residual. */
  void (*run_loop)(gmg_context *c, gmg_graph *graph, const gmg_loop *loop);
  /* Waits for the loop. norms: residual norms after the cycles. Returns the number of cycles done. */
  int (*end_loop)(gmg_context *c, gmg_loop *loop, double *norms);
  void (*destroy)(gmg_graph *graph);
} gmg_graph_ops;

typedef struct gmg_backend_tables gmg_backend_tables; /* backend.h */
typedef struct gmg_allocation gmg_allocation;         /* exec.c */

struct gmg_exec {
  gmg_context *context; /* BORROWED */
  const gmg_backend_tables *tables; /* all tables of the backend; the members below are among them */
  const gmg_memory_ops *memory;
  const gmg_trace_ops *trace;
  const gmg_graph_ops *graph; /* NULL: the backend does not replay */
  const gmg_comm_ops *comm; /* neighbours: the context's */
  const gmg_vector_ops *vector;
  gmg_type type;
  size_t real_size;
  int threads;
  int dry;
  int exact_sums; /* host: sums are exact (exact_sum.h), so they do not depend on how the grid is cut */
  size_t bytes;    /* allocated */
  gmg_allocation *allocations; /* list */
  gmg_exec *owner; /* owner of what is allocated through this exec; NULL: this exec itself */
};

/* Marks an operation on a level for profilers until the end of the enclosing block, even on an early return. */
#define GMG_PROFILE(e, level, operation) \
  const gmg_exec *gmg_range_ __attribute__((cleanup(gmg_profile_end), unused)) = gmg_profile_begin(e, level, operation)

static inline const gmg_exec *gmg_profile_begin(const gmg_exec *e, int level, const char *operation)
{
  if (e->trace->profile_begin) e->trace->profile_begin(e->context, level, operation);
  return e;
}

static inline void gmg_profile_end(const gmg_exec *const *e)
{
  if ((*e)->trace->profile_end) (*e)->trace->profile_end((*e)->context);
}

/* Limits of a real type, and the default accuracy in it. NULL for an unknown type. */
typedef struct gmg_type_traits {
  size_t size;
  double epsilon, largest, smallest;
  double rtol, coarse_rtol; /* defaults of gmg_params */
  gmg_type narrower;        /* the type for corrections in mixed precision; float for both types */
} gmg_type_traits;
const gmg_type_traits *gmg_type_traits_of(gmg_type type);

gmg_exec gmg_exec_make(gmg_context *context, gmg_type type, int dry);
void gmg_exec_use_exact_sums(gmg_exec *e, int wanted); /* no effect on backends without them */

/* scale[0] z as a correction of a field of exec `to`. z: a field of exec `from`, or NULL */
static inline gmg_correction gmg_correction_from(const gmg_exec *from, const gmg_exec *to, const void *z, const double *scale)
{
  const gmg_correction c = {z, scale, from->type != to->type};
  return c;
}

/* Allocates at least 1 byte, or fails with GMG_ERR_MEMORY and `what` in the text. */
gmg_status gmg_exec_alloc(gmg_exec *e, const char *what, size_t bytes, void **p);
/* Allocates zeroed host memory for structs and tables. On a dry exec it allocates, too. */
gmg_status gmg_exec_alloc_state(gmg_exec *e, const char *what, size_t bytes, void **p);
void gmg_exec_release(gmg_exec *e); /* releases all memory of this exec */

/* Allocates n reals (or ints) and fills them from host doubles (or ints). */
gmg_status gmg_exec_reals(gmg_exec *e, const char *what, size_t n, const double *from, void **p);
gmg_status gmg_exec_ints(gmg_exec *e, const char *what, size_t n, const int *from, void **p);

/* Rows that repeat, for arrays of which only a few rows are stored on the host: `head` rows, then `period` rows `count` times, then
   `tail` rows. The host's array has head + period + tail rows of `width` values. */
typedef struct gmg_repeating {
  size_t head, period, count, tail, width;
} gmg_repeating;
gmg_status gmg_exec_repeating_reals(gmg_exec *e, const char *what, gmg_repeating shape, const double *from, void **p);
/* Ints that grow by `step` from one period to the next. period is 1 or 2, width is 1. */
gmg_status gmg_exec_repeating_ints(gmg_exec *e, const char *what, gmg_repeating shape, int step, const int *from, void **p);
void gmg_exec_write_reals(const gmg_exec *e, void *p, size_t n, const double *from); /* writes to memory from gmg_exec_reals() */
void gmg_exec_read_reals(const gmg_exec *e, const void *p, size_t n, double *to);    /* reads from such memory */

extern const gmg_memory_ops gmg_memory_host;
extern const gmg_vector_ops gmg_vector_host_f32, gmg_vector_host_f64;
/* only if the library is built with CUDA: */
extern const gmg_memory_ops gmg_memory_cuda;
extern const gmg_trace_ops gmg_trace_cuda;
extern const gmg_graph_ops gmg_graph_cuda;
extern const gmg_vector_ops gmg_vector_cuda_f32, gmg_vector_cuda_f64;

#endif
