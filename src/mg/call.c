/* Checks that a public call on a solver may run, whatever its arguments: no other call is running on the solver, the process can
   use the device or the threads, the device has not failed, the last update has not failed. Called by public calls, first. */
#include "mg/solver.h"

/* Counts one layer of ghosts on every axis, so no field is longer. Operations on shorter fields run on one thread. */
int gmg_has_parallel_work(const gmg_problem *p)
{
  size_t cells = 1;
  for (int a = 0; a < 3; a++) cells *= a < p->dim ? p->n[a] + 2 : 3;
  return cells >= GMG_MIN_CELLS_PARALLEL_SWEEP;
}

static gmg_status check_process(gmg_solver *s, const char *call)
{
  GMG_TRY(gmg_check_process(s->context, call, gmg_has_parallel_work(&s->problem)));
  return gmg_status_or_failure(s, GMG_OK);
}

gmg_status gmg_check_idle(gmg_solver *s, const char *call)
{
  if (s->running)
    return gmg_fail(s->context, GMG_ERR_ARGUMENT, "%s() was called on a solver on which %s() is running (from params.monitor, a "
                    "smoother or another thread): it would change fields that are in use", call, s->running);
  return check_process(s, call);
}

static gmg_status check_update(gmg_solver *s)
{
  if (!s->update_failed) return GMG_OK;
  return gmg_fail(s->context, GMG_ERR_ARGUMENT, "solver: its last gmg_solver_update() failed half-way; update it again first");
}

gmg_status gmg_check_usable(gmg_solver *s, const char *call)
{
  GMG_TRY(gmg_check_idle(s, call));
  return check_update(s);
}

gmg_status gmg_check_readable(gmg_solver *s, const char *call)
{
  GMG_TRY(check_process(s, call));
  return check_update(s);
}
