/* Several processes: their contexts, and what they tell each other on the host through a transport (gmg_transport.h). Calls core;
   called by the tables of neighbours, by mg, and through the API. */
#ifndef GMG_COMM_RANKS_H
#define GMG_COMM_RANKS_H

#include "gmg_transport.h"

#include "core/comm.h"

/* What a process reports to the others (gmg_comm_ops::agree). */
typedef struct gmg_outcome {
  gmg_status status;
  char text[sizeof ((gmg_context *)0)->error];
} gmg_outcome;

/* A context's processes. */
struct gmg_ranks {
  gmg_transport transport;
  int cut[3]; /* parts along each axis; 0: chosen for each problem */
  size_t *cuts[3];       /* [cut + 1] where an axis is cut (gmg_context_set_cuts()); NULL: chosen */
  double *numbers;       /* room for numbers of all processes */
  gmg_outcome *outcomes; /* of all processes */
  void (*end)(gmg_context *self); /* what the context did at its end before it was one of several; NULL: nothing */
};

/* Whether the arguments of a context of several processes make sense. */
int gmg_is_transport(const gmg_transport *t);

/* Makes *context one of several processes. All must call it, also one that has no context: mine is then its error, and otherwise
   GMG_OK. comm: the table of neighbours; one process alone keeps its own. Returns the same on all. On failure *context is NULL. */
gmg_status gmg_join_ranks(const gmg_transport *t, const int cut[3], const gmg_comm_ops *comm, gmg_status mine,
                          gmg_context **context);

/* The worst status of all processes, on all of them. */
gmg_status gmg_worst_of_ranks(const gmg_transport *t, gmg_status mine);

/* Members of gmg_comm_ops. Sums are gathered, and added in the order of the processes: the same bits on all of them. */
void gmg_sum_of_ranks(const gmg_exec *e, int count, double *values);
void gmg_max_of_ranks(const gmg_exec *e, int count, double *values);
gmg_status gmg_agree_of_ranks(gmg_context *c, gmg_status status);

extern const gmg_comm_ops gmg_comm_messages; /* messages.c */
extern const gmg_comm_ops gmg_comm_links;    /* cuda/links.cu; only if the library is built with CUDA */

#endif
