/* Neighbours: what a process needs from the others that hold parts of the same grid. A table, which the context carries and every
   exec copies. The one-process table does nothing. Calls exec.h; used by core, stencil, smoothers and mg.

   Each process holds a part of every level (part.h), in fields with ghost planes: copies of its neighbours' outermost planes. All
   processes make the same calls in the same order. The state of an implementation belongs to the context, like a device.

   Ghosts. Whoever calls an operation that reads neighbours exchanges the fields that it reads, immediately before: all layers for
   the legs of a cycle, and one layer for residuals, which are needed on own unknowns alone. With asynchronous halos the legs read
   what the process itself has computed on ghosts (mg/cycle/legs.c). Right-hand sides of cycles are exchanged where they are
   written, because a cycle reads them several times. An operation writes the planes of its own process, and leaves the ghosts of
   what it writes stale. What an operation reads between two of its own steps, it computes on ghosts, too:
   - a sweep relaxes ghosts again instead of asking for them after every step or colour. It reads u in as many layers as it relaxes,
     and f in one less. The number of ghost planes follows from the smoother's parameters (gmg_builtin_smoother::ghosts). Sweeps
     made of the operator's operations exchange before each of them (gmg_level_residual()). An asynchronous sweep has blocks of
     the process's own unknowns alone, and sees ghosts as values of other blocks; it exchanges them before each pass.
   - restrict_residual() computes the residual on one layer of ghosts, from two layers of u and one of f.
   - correct_residual() and loop_residual() correct one layer of u, from one layer of the correction.
   - interpolated_residual() interpolates one layer of u, from the ghosts of the coarse field.
   - cg_direction() updates one layer of p, from one layer of the correction. So p is never exchanged.
   Arrays that are read often and written rarely (coefficients) are exchanged where they are written.

   Sums. Every number over all unknowns is summed over the processes where the sum over this process's unknowns is complete, before
   anything is computed from it. So norms, scales, step lengths and means are those of all unknowns, and all processes take the same
   decisions. On the host this is before the operation returns. On a device most sums are used by the kernel that computes them, and
   never reach the host. There they are summed by the last thread block, in one function for all kernels: gmg_total_over_devices()
   (cuda/device.h), through memory that the devices share. Recorded work contains its sums, and a recorded loop tests the norm of
   all devices.

   The bottom of a cycle (coarse/bottom.h) neither exchanges nor sums over processes. In several processes it must solve its levels
   redundantly, or on one process, with an exec of its own that has the one-process table. An implementation for several processes
   wraps the gmg_bottom_ops of the solver: it gathers f first, and afterwards each process has its part of u, which prolongation
   exchanges as on any level.

   tests/unit/comm.c checks the exchanges, tests/unit/sums.c the sums. */
#ifndef GMG_CORE_COMM_H
#define GMG_CORE_COMM_H

#include "exec.h"

/* What an array has one value for: each unknown, each face across an axis (one more along it than unknowns), or each face of one
   wall across an axis. */
typedef enum { GMG_AT_UNKNOWNS, GMG_AT_FACES, GMG_AT_WALL } gmg_location;

enum { GMG_ALL_LAYERS = 1 << 20 };

struct gmg_part;

struct gmg_comm_ops {
  size_t most_whole;  /* levels of at most so many unknowns are solved by every process: messages take longer than what they would
                         save */
  int relaxes_ghosts; /* gmg_part::relaxes_ghosts: work is cheaper than another exchange */
  /* Allocates what messages of a level need. gathers: gather() and take() are called on it, too. NULL for one process. */
  gmg_status (*prepare)(gmg_exec *e, struct gmg_part *p, int gathers);
  /* After all processes have prepared their levels: makes the messages of this one possible. Called by all processes at once; all
     get the same status. NULL: nothing is left to do. */
  gmg_status (*connect)(gmg_exec *e, struct gmg_part *p);
  /* Undoes connect(), before the memory of the level is released. Called by all processes at once. NULL: there is nothing to do. */
  void (*disconnect)(gmg_exec *e, struct gmg_part *p);
  /* Fills ghosts of x, an array on the grid of A, from the neighbours that own them. Values are of e's type, whatever A's is.
     - axis: the axis across which the faces or the wall lie.
     - layers: those next to own unknowns; GMG_ALL_LAYERS: all.
     All processes call it; x is NULL in a process that does not have the wall. Only ghosts are written, so x may be const for all
     other code. Only enqueues on a device, and can be recorded. */
  void (*exchange)(const gmg_exec *e, const gmg_operator *A, gmg_location location, int axis, int layers, const void *x);
  /* Replaces each value in host memory by its sum over all processes, the same bits on all of them. NaN and infinity stay. */
  void (*sum)(const gmg_exec *e, int count, double *values);
  /* Replaces each value in host memory by the largest over all processes. NaN may be lost. */
  void (*max)(const gmg_exec *e, int count, double *values);
  /* whole = the array of the whole level, packed, in every process. x: this process's part, as for exchange(). Only enqueues on a
     device. NULL for one process, which has no parts. */
  void (*gather)(const gmg_exec *e, const gmg_operator *A, gmg_location location, int axis, const void *x, void *whole);
  /* x = this process's part of a field of the whole level, ghosts included. Only enqueues on a device. NULL for one process. */
  void (*take)(const gmg_exec *e, const gmg_operator *A, const void *whole, void *x);
  /* Returns when all processes have called it. A device that waits for another must not be launched before: the other's host may
     be in a call that waits for all devices. NULL: no process waits for another on a device. */
  void (*meet)(gmg_context *c);
  /* Called by all processes with the status that each has. Returns GMG_OK if all have it. Otherwise an error of one of them, and
     the context's text is that process's. NULL for one process. */
  gmg_status (*agree)(gmg_context *c, gmg_status status);
};

extern const gmg_comm_ops gmg_comm_alone; /* one process */

/* x: a field of A's level. */
static inline void gmg_exchange(const gmg_exec *e, const gmg_operator *A, const void *x)
{
  e->comm->exchange(e, A, GMG_AT_UNKNOWNS, 0, GMG_ALL_LAYERS, x);
}

/* For operations that read direct neighbours of own unknowns. */
static inline void gmg_exchange_one_layer(const gmg_exec *e, const gmg_operator *A, const void *x)
{
  e->comm->exchange(e, A, GMG_AT_UNKNOWNS, 0, 1, x);
}

static inline void gmg_exchange_faces(const gmg_exec *e, const gmg_operator *A, int axis, const void *x)
{
  e->comm->exchange(e, A, GMG_AT_FACES, axis, GMG_ALL_LAYERS, x);
}

static inline void gmg_exchange_wall(const gmg_exec *e, const gmg_operator *A, int axis, const void *x)
{
  e->comm->exchange(e, A, GMG_AT_WALL, axis, GMG_ALL_LAYERS, x);
}

/* Whether several processes share each grid. */
static inline int gmg_is_shared(const gmg_context *c) { return c->comm->gather != NULL; }

static inline gmg_status gmg_agree(gmg_context *c, gmg_status status)
{
  return c->comm->agree ? c->comm->agree(c, status) : status;
}

static inline double gmg_sum_over_processes(const gmg_exec *e, double x)
{
  e->comm->sum(e, 1, &x);
  return x;
}

#endif
