/* Several processes: their context, and the table of neighbours over a transport (gmg_transport.h). Calls core and stencil; called
   by mg, and through the API. */
#ifndef GMG_COMM_RANKS_H
#define GMG_COMM_RANKS_H

#include "gmg_transport.h"

#include "core/comm.h"
#include "core/part.h"

/* What a process reports to the others (gmg_comm_ops::agree). */
typedef struct gmg_outcome {
  gmg_status status;
  char text[sizeof ((gmg_context *)0)->error];
} gmg_outcome;

/* A context's processes. */
struct gmg_ranks {
  gmg_transport transport;
  int cut[3]; /* parts along each axis; 0: chosen for each problem */
  double *numbers;      /* room for numbers of all processes */
  gmg_outcome *outcomes; /* of all processes */
};

/* Bytes that messages of a level need: to send and to receive. gathers: gather() is called on it, too. */
void gmg_message_bytes(const gmg_part *p, size_t real_size, int gathers, int ranks, size_t bytes[2]);

#endif
