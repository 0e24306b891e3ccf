/* Decisions between the cycles of a replayed solve (graph.cu), made on the device by the kernel that sums a residual. A separate
   kernel would take as long as a pass over a small level. Included by graph.cu, vector.cu and by the stencil's norm kernels. */
#ifndef GMG_CORE_CUDA_LOOP_TEST_H
#define GMG_CORE_CUDA_LOOP_TEST_H

#include "device.h"

#include <math.h>

#define GMG_HAS_LOOPS (CUDART_VERSION >= 12040)

static __device__ __forceinline__ void gmg_loop_set_condition(const gmg_loop_test &test, int more)
{
#if GMG_HAS_LOOPS
  if (test.conditional) cudaGraphSetConditional(test.handle, more ? 1u : 0u);
#else
  (void)test, (void)more;
#endif
}

/* Whether the next cycle can begin without the host. scaled_norm: norm of the residual in low precision. */
static __device__ __forceinline__ int gmg_loop_may_go_on(const gmg_loop *l, gmg_verdict verdict, double norm, double scaled_norm,
                                                         int cycles)
{
  const int can_scale = gmg_can_scale_by(norm) && (!l->ends_if_badly_scaled || gmg_is_well_scaled(scaled_norm));
  return verdict == GMG_VERDICT_CONTINUE && can_scale && norm > l->least && cycles < l->max_cycles;
}

/* Ends a loop. Only here memory of the host is written, because a kernel that does so ends later. */
static __device__ __forceinline__ void gmg_loop_report(const gmg_loop_test &test)
{
  const gmg_loop_state *s = test.state;
  for (int c = 0; c < s->cycles; c++) test.result->norm[c] = s->norm[c];
  test.result->cycles = s->cycles;
  test.result->loop.state = s->loop.state;
  test.result->loop.mean = s->loop.mean, test.result->loop.has_converged = s->loop.has_converged;
}

/* Called before the first cycle of a loop that continues a solve. */
static __device__ __noinline__ void gmg_loop_start(const gmg_loop_test test)
{
  test.state->loop = test.result->loop;
  test.state->cycles = 0;
  gmg_loop_set_condition(test, 1);
}

/* Called before the first cycle of a loop that measures the first residual. f_norm: not used if the norm is known, or comes from
   take_means() */
static __device__ __noinline__ void gmg_loop_start_from(const gmg_loop_test test, double norm, double f_norm, double scaled_norm)
{
  gmg_loop_state *s = test.state;
  gmg_loop l = test.result->loop;
  const double known = l.takes_mean ? sqrt(s->rhs.first) : l.state.f_norm;
  if (!isnan(known)) f_norm = known;
  const gmg_verdict verdict = gmg_judge_first(&l.rule, &l.state, norm, f_norm);
  if (l.takes_mean) l.mean = s->rhs.least;
  const int is_fit = !l.takes_mean || !gmg_is_rest_rounding(f_norm, l.mean, l.rounding);
  const int more = is_fit && gmg_loop_may_go_on(&l, verdict, norm, scaled_norm, 0);
  l.has_converged = is_fit && verdict == GMG_VERDICT_CONVERGED;
  s->loop = l;
  s->cycles = 0;
  gmg_loop_set_condition(test, more);
  if (!more) gmg_loop_report(test);
}

/* Called after a cycle. */
static __device__ __noinline__ void gmg_loop_end(const gmg_loop_test test, double norm, double scaled_norm)
{
  gmg_loop_state *s = test.state;
  const gmg_verdict verdict = gmg_judge_next(&s->loop.rule, &s->loop.state, norm);
  s->norm[s->cycles++] = norm;
  s->continues = 0;
  s->loop.has_converged = verdict == GMG_VERDICT_CONVERGED;
  const int more = test.conditional && gmg_loop_may_go_on(&s->loop, verdict, norm, scaled_norm, s->cycles);
  gmg_loop_set_condition(test, more);
  if (!more) gmg_loop_report(test);
}

#endif
