/* See triad.h. */
#include "triad.h"

#include "problems.h"

#include <omp.h>
#include <stdlib.h>

static void triad(size_t cells, double s, double *restrict a, const double *restrict b, const double *restrict c)
{
#pragma omp parallel for simd schedule(static)
  for (size_t i = 0; i < cells; i++) a[i] = b[i] + s * c[i];
}

int bench_triad(size_t cells, int runs, bench_samples *to)
{
  double *a = bench_field(cells), *b = bench_field(cells), *c = bench_field(cells);
  const int failed = !a || !b || !c;
  for (int run = -1; run < runs && !failed; run++) {
    const double start = omp_get_wtime();
    triad(cells, 0.5, a, b, c);
    const double seconds = omp_get_wtime() - start;
    if (run >= 0) bench_add(to, 24 * (double)cells / seconds);
  }
  free(a), free(b), free(c);
  return failed;
}
