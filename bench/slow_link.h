/* Messages over MPI that come late, for experiments with slow links between processes of one host. */
#ifndef BENCH_SLOW_LINK_H
#define BENCH_SLOW_LINK_H

#include "gmg_transport.h"

#include <mpi.h>

/* A transport over comm, which must live as long. A message arrives `seconds` after it was sent, or later. What it gathers
 * arrives so long after the last process has sent its part. */
gmg_transport bench_slow_transport(MPI_Comm comm, double seconds);

#endif
