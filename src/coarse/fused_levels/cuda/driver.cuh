/* The state of fused levels on the host, and the V, W or F cycle in a kernel. Included by levels.cu and
   kernels.cuh. */
#ifndef GMG_COARSE_FUSED_LEVELS_CUDA_DRIVER_H
#define GMG_COARSE_FUSED_LEVELS_CUDA_DRIVER_H

#include "core/cuda/device.h"

/* --- state ------------------------------------------------------------------------------------------------------------ */

/* Allocates a copy of the planned state, and `bytes` of tables on the device. The tables are set to zero, because kernels also read
   their gaps. */
template <class State> static gmg_status create_state(gmg_exec *e, const State &planned, size_t bytes, void **state)
{
  void *tables = NULL;
  GMG_TRY(gmg_exec_alloc_state(e, "state of the small levels", sizeof planned, state));
  GMG_TRY(gmg_exec_alloc(e, "tables of the small levels", bytes, &tables));
  if (!e->dry) e->vector->fill(e, bytes / e->real_size, 0, tables);
  State *s = (State *)*state;
  *s = planned;
  s->tables = (char *)tables;
  return GMG_OK;
}

/* --- the cycle -------------------------------------------------------------------------------------------------------- */

/* A cycle from level `first` to level `last`, without recursion.
   - presmooth_restrict(l, from_zero) computes the right-hand side of level l + 1. from_zero: u of level l is 0.
   - solve_coarsest() solves on level `last`.
   - prolong_postsmooth(l) corrects level l from level l + 1. */
template <class Down, class Coarsest, class Up>
static __device__ __forceinline__ void run_cycle(int first, int last, int kind, Down presmooth_restrict, Coarsest solve_coarsest,
                                                 Up prolong_postsmooth)
{
  unsigned f_cycles = 0, w_cycles = 0, again = 0; /* one bit per level: its cycle; whether level l + 1 is on its second visit */
  int l = first, now = kind;
  for (;;) {
    for (int from_zero = 0; l < last; l++, from_zero = 1) {
      const unsigned bit = 1u << l;
      presmooth_restrict(l, from_zero);
      f_cycles = now == GMG_CYCLE_F ? f_cycles | bit : f_cycles & ~bit;
      w_cycles = now == GMG_CYCLE_W ? w_cycles | bit : w_cycles & ~bit;
      again &= ~bit;
    }
    solve_coarsest();
    int down = 0;
    while (l > first && !down) {
      const unsigned bit = 1u << (l - 1);
      if (((f_cycles | w_cycles) & bit) && !(again & bit) && l < last) {
        again |= bit, now = w_cycles & bit ? GMG_CYCLE_W : GMG_CYCLE_V, down = 1;
        break;
      }
      l--;
      prolong_postsmooth(l);
    }
    if (!down) break;
  }
}

#endif
