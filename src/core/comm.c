/* The table of neighbours for one process: there is nobody to exchange with. Used by the contexts. */
#include "comm.h"

static void exchange(const gmg_exec *e, const gmg_operator *A, gmg_location location, int axis, int layers, const void *x)
{
  (void)e, (void)A, (void)location, (void)axis, (void)layers, (void)x;
}

static void reduce(const gmg_exec *e, int count, double *values) { (void)e, (void)count, (void)values; }

const gmg_comm_ops gmg_comm_alone = {.exchange = exchange, .sum = reduce, .max = reduce};
