/* Several processes for tests: threads of one process, each with a context of its own, and a transport between them. */
#ifndef GMG_TEST_RANKS_H
#define GMG_TEST_RANKS_H

#include "gmg_transport.h"

/* Runs work(rank, transport, data) in `ranks` threads at once, each with its own transport. work must not use assertions of
   cmocka, which only work in the main thread. */
void run_ranks(int ranks, void (*work)(const gmg_transport *transport, void *data), void *data);

#endif
