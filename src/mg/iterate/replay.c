/* Replays work instead of enqueueing it again, if the backend supports it (gmg_graph_ops). A recording belongs to one f and one u.
   Recording takes as long as a few cycles of a small problem, so it waits until the same f and u are used for the second time.
   Called by solve, the iterations and API calls. */
#include "iterate.h"

/* Whether work can be recorded now. A user's smoother may do anything, and level times are measured between launches, so neither is
   recorded. Nested calls become part of the outer recording. */
static int can_be_recorded(const gmg_solver *s)
{
  const gmg_params *q = &s->params;
  return s->exec.graph && !s->replay_depth && !s->recording_failed && !q->report_level_times && gmg_builtin_of(q->smoother);
}

static int same(const gmg_recording *a, const gmg_recording *b)
{
  return a->work == b->work && a->f == b->f && a->u == b->u && a->has_boundary_values == b->has_boundary_values &&
         a->cycle == b->cycle;
}

/* Returns the entry of this work. NULL if the work is new (an entry is made), or cannot be recorded. */
static gmg_recording *find(gmg_solver *s, gmg_work *work, const void *f, void *u)
{
  const gmg_recording wanted = {
      .work = work, .f = f, .u = u, .has_boundary_values = s->has_boundary_values, .cycle = s->params.cycle};
  if (!can_be_recorded(s)) return NULL;
  for (int i = 0; i < GMG_RECORDINGS; i++)
    if (same(&s->recording[i], &wanted)) return &s->recording[i];
  gmg_recording *r = &s->recording[s->next_recording++ % GMG_RECORDINGS]; /* replaces the oldest */
  if (r->graph) s->exec.graph->destroy(r->graph);
  *r = wanted;
  return NULL;
}

static void run_whole(gmg_solver *s, gmg_work *work, const void *f, void *u)
{
  s->replay_depth++;
  work(s, f, u);
  s->replay_depth--;
}

gmg_graph *gmg_recorded(gmg_solver *s, gmg_work *work, const void *f, void *u, int loop)
{
  gmg_recording *r = find(s, work, f, u);
  if (!r) return NULL;
  if (r->graph || !s->exec.graph->begin(s->context, loop)) return r->graph;
  run_whole(s, work, f, u);
  r->graph = s->exec.graph->end(s->context);
  s->recording_failed = !r->graph;
  return r->graph;
}

int gmg_is_replayed(gmg_solver *s, gmg_work *work, const void *f, void *u)
{
  gmg_graph *graph = gmg_recorded(s, work, f, u, 0);
  return graph && s->exec.graph->replay(s->context, graph);
}

void gmg_replay(gmg_solver *s, gmg_work *work, const void *f, void *u)
{
  if (!gmg_is_replayed(s, work, f, u)) run_whole(s, work, f, u);
}

void gmg_forget_recordings(gmg_solver *s)
{
  for (int i = 0; i < GMG_RECORDINGS; i++) {
    if (s->recording[i].graph) s->exec.graph->destroy(s->recording[i].graph);
    s->recording[i] = (gmg_recording){.graph = NULL};
  }
  s->recording_failed = 0;
}
