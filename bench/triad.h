/* The memory's speed: STREAM's triad, a = b + s c (McCalpin 1995). */
#ifndef GMG_BENCH_TRIAD_H
#define GMG_BENCH_TRIAD_H

#include "record.h"

/* Three arrays of `cells` doubles, touched first by the threads that use them; adds `runs` samples in bytes/s after one
 * pass that is not counted. 24 bytes an entry as STREAM counts: that a store first reads its cache line is not counted, and
 * no non-temporal stores are asked for. Returns 0, or 1 when out of memory. */
int bench_triad(size_t cells, int runs, bench_samples *to);

#endif
