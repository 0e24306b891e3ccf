/* Memory bandwidth: STREAM's triad, a = b + s c (McCalpin 1995). */
#ifndef GMG_BENCH_TRIAD_H
#define GMG_BENCH_TRIAD_H

#include "record.h"

/* Three arrays of `cells` doubles, touched first by the threads that use them; adds `runs` samples in bytes/s after one
 * pass that is not counted. 24 bytes an entry as STREAM counts: the read of a cache line before a store is not
 * counted. Stores are ordinary ones. Returns 0, or 1 if there is not enough memory. */
int bench_triad(size_t cells, int runs, bench_samples *to);

#endif
