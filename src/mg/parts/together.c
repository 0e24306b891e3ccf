/* Calls for all parts of a grid at once, by one thread of the caller: each part has a thread of its own inside. Called through the
   API (gmg_transport.h). */
#include "comm/threads.h"
#include "mg/solver.h"

/* What one of the calls gets, one entry for each part. */
typedef struct {
  gmg_context *const *contexts;
  gmg_solver *const *solvers;
  gmg_solver **created;
  const gmg_problem *const *problems;
  const gmg_params *params;
  const void *const *in[2];
  void *const *out;
  gmg_report *report; /* of part 0 */
  size_t size;        /* of the report */
  gmg_status status;  /* of part 0; all have the same */
} arguments;

static const void *entry(const void *const *list, int part) { return list ? list[part] : NULL; }
static void *place(void *const *list, int part) { return list ? list[part] : NULL; }

static void note(arguments *x, int part, gmg_status status)
{
  if (part == 0) x->status = status;
}

static void create(int part, void *data)
{
  arguments *x = data;
  note(x, part, gmg_solver_create(x->contexts[part], x->problems[part], x->params, &x->created[part]));
}

static void update(int part, void *data)
{
  arguments *x = data;
  note(x, part, gmg_solver_update(x->solvers[part], x->problems[part]));
}

static void solve(int part, void *data)
{
  arguments *x = data;
  gmg_report *report = part == 0 ? x->report : NULL;
  note(x, part, gmg_solve_sized(x->solvers[part], entry(x->in[0], part), place(x->out, part), report, x->size));
}

static void precondition(int part, void *data)
{
  arguments *x = data;
  note(x, part, gmg_precondition(x->solvers[part], entry(x->in[0], part), place(x->out, part)));
}

static void residual(int part, void *data)
{
  arguments *x = data;
  note(x, part, gmg_residual(x->solvers[part], entry(x->in[0], part), entry(x->in[1], part), place(x->out, part)));
}

static int are_contexts(int count, gmg_context *const list[])
{
  for (int i = 0; list && i < count; i++)
    if (!list[i]) return 0;
  return list && count > 0;
}

static int are_solvers(int count, gmg_solver *const list[])
{
  for (int i = 0; list && i < count; i++)
    if (!list[i]) return 0;
  return list && count > 0;
}

static gmg_status run(int count, void (*work)(int part, void *data), arguments *x)
{
  GMG_TRY(gmg_run_together(count, work, x));
  return x->status;
}

gmg_status gmg_solver_create_parts(int count, gmg_context *const contexts[], const gmg_problem *const problems[],
                                   const gmg_params *params, gmg_solver *solvers[])
{
  for (int i = 0; solvers && i < count; i++) solvers[i] = NULL;
  if (!are_contexts(count, contexts) || !problems || !solvers) return GMG_ERR_ARGUMENT;
  return run(count, create, &(arguments){.contexts = contexts, .problems = problems, .params = params, .created = solvers});
}

gmg_status gmg_solver_update_parts(int count, gmg_solver *const solvers[], const gmg_problem *const problems[])
{
  if (!are_solvers(count, solvers) || !problems) return GMG_ERR_ARGUMENT;
  return run(count, update, &(arguments){.solvers = solvers, .problems = problems});
}

gmg_status gmg_solve_parts_sized(int count, gmg_solver *const solvers[], const void *const f[], void *const u[],
                                 gmg_report *report, size_t size)
{
  if (!are_solvers(count, solvers)) return GMG_ERR_ARGUMENT;
  return run(count, solve, &(arguments){.solvers = solvers, .in = {f}, .out = u, .report = report, .size = size});
}

gmg_status gmg_precondition_parts(int count, gmg_solver *const solvers[], const void *const r[], void *const z[])
{
  if (!are_solvers(count, solvers)) return GMG_ERR_ARGUMENT;
  return run(count, precondition, &(arguments){.solvers = solvers, .in = {r}, .out = z});
}

gmg_status gmg_residual_parts(int count, gmg_solver *const solvers[], const void *const f[], const void *const u[], void *const r[])
{
  if (!are_solvers(count, solvers)) return GMG_ERR_ARGUMENT;
  return run(count, residual, &(arguments){.solvers = solvers, .in = {f, u}, .out = r});
}
