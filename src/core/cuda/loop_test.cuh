/* What is decided on the device between the cycles of a solve that is replayed (cuda/graph.cu), by the kernel that sums a residual: in
   a kernel of its own it would take as long as a pass over a small level. Included by cuda/graph.cu and cuda/stencil.cu. */
#ifndef GMG_CORE_CUDA_LOOP_TEST_H
#define GMG_CORE_CUDA_LOOP_TEST_H

#include "device.h"

#include <math.h>

#define GMG_HAS_LOOPS (CUDART_VERSION >= 12040)

static __device__ __forceinline__ void gmg_turn_decide(const gmg_turn &turn, int more)
{
#if GMG_HAS_LOOPS
  if (turn.goes_round) cudaGraphSetConditional(turn.again, more ? 1u : 0u);
#else
  (void)turn, (void)more;
#endif
}

/* What src/mg/iterate/solve.c makes of the first residual, and whether it would begin a cycle without doing anything else. */
static __device__ __forceinline__ int gmg_note_first(const gmg_total *squares, gmg_outlook *o)
{
  const double norm = sqrt(squares->first), f_norm = sqrt(squares->second);
  const int near_one = o->far == 0 || (norm < o->far && norm > 1 / o->far);
  o->norm = norm, o->f_norm = f_norm, o->pace = 0, o->next = 1 / norm;
  o->target = fmax(o->rtol * (f_norm > 0 ? f_norm : norm), o->atol);
  return isfinite(norm) && isfinite(f_norm) && norm > o->target && norm > o->nothing && near_one && o->most > 0;
}

/* Before the first cycle. Whether a first residual was summed is for the outlook to say. */
static __device__ __noinline__ void gmg_turn_start(const gmg_turn turn)
{
  gmg_tally *t = turn.tally;
  gmg_outlook o = turn.ahead->outlook;
  const int more = o.starts ? gmg_note_first(&t->residual, &o) : 1;
  t->outlook = o, t->size = 1 / o.scale, t->cycles = 0;
  turn.ahead->first = t->residual;
  gmg_turn_decide(turn, more);
}

/* What src/mg/iterate/accel.c does with a norm, and whether src/mg/iterate/solve.c would go on without doing anything else. */
static __device__ __forceinline__ int gmg_note_norm(gmg_tally *t)
{
  gmg_outlook *o = &t->outlook;
  const double norm = sqrt(t->residual.first), scaled = norm * o->next, pace = norm / o->norm;
  const int falls = pace <= o->hardly && (pace <= o->slow || pace <= (1 + o->pace) / 2);
  const int near_one = o->far == 0 || (scaled < o->far && scaled > 1 / o->far);
  t->norm[t->cycles++] = norm;
  t->size = 1 / o->next;
  o->next = 1 / norm, o->norm = norm, o->pace = pace;
  return norm > o->target && norm > o->nothing && falls && near_one && t->cycles < o->most; /* NaN is none of that */
}

/* After a cycle. The host hears of it after the last one: a kernel that writes to its memory ends when that is done. */
static __device__ __noinline__ void gmg_turn_end(const gmg_turn turn)
{
  gmg_tally *t = turn.tally;
  const int more = gmg_note_norm(t) && turn.goes_round;
  t->under_way = 0;
  gmg_turn_decide(turn, more);
  if (more) return;
  for (int c = 0; c < t->cycles; c++) turn.ahead->norm[c] = t->norm[c];
  turn.ahead->cycles = t->cycles;
}

#endif
