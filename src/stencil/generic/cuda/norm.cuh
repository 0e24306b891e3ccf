/* What all kernels that sum a residual have in common: how they scale it, and what they record. Included by
   the norms of operators. */
#ifndef GMG_STENCIL_GENERIC_CUDA_NORM_H
#define GMG_STENCIL_GENERIC_CUDA_NORM_H

#include "core/cuda/loop_test.cuh"
#include "core/real.h"

#include <math.h>

/* The scaling of a low-precision residual, and what depends on the norm. */
typedef struct {
  const double *divisor; /* 1 / factor; NULL: the factor is scale->next, or 1 without scale */
  gmg_scale *scale;    /* records factor and norm; NULL: they are not recorded */
  int first;           /* the residual before a recorded loop; skipped if the loop continues a solve */
  gmg_loop_test test;  /* test.state is not NULL in a recorded loop */
} scaling;

/* Returns 1 if there is nothing to sum, because the residual is the first of a loop that continues a solve. Starts that loop. */
static __device__ int is_done(const scaling &s)
{
  if (!s.first || !s.test.state->continues) return 0;
  if (blockIdx.x == 0 && threadIdx.x == 0 && threadIdx.y == 0) gmg_loop_start(s.test);
  return 1;
}

static __device__ double scale_of(const scaling &s) { return s.divisor ? 1 / *s.divisor : s.scale ? s.scale->next : 1; }

/* What is subtracted from f. */
static __device__ scalar mean_of(const scaling &s) { return (scalar)gmg_wide(s.scale ? s.scale->mean : 0, 0); }

/* Called by one thread of the grid, with the sums of squares of the residual and of f. Not inlined, because it would cost the
   kernels registers. */
static __device__ __noinline__ void note_norm(const scaling how, double residual, double rhs)
{
  const double scale = scale_of(how), norm = sqrt(residual);
  if (how.scale) gmg_scale_note(how.scale, scale, norm);
  if (how.first) gmg_loop_start_from(how.test, norm, sqrt(rhs), scale * norm);
  else if (how.test.state) gmg_loop_end(how.test, norm, scale * norm);
}

/* Sums over the grid, and records the norm. */
static __device__ __forceinline__ void sum_up(gmg_total t, const scaling &how, const gmg_sum_target &sums)
{
  if (gmg_grid_total(t, sums) && (how.scale || how.test.state)) note_norm(how, t.first, t.second);
}

#endif
