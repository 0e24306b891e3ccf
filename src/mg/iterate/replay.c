/* Work that is replayed instead of being enqueued again (gmg_graph_ops), where the backend does that. A recording belongs to the f
   and u that it was made with. Making one takes as long as a few cycles of a small problem, so it is made when the same two come for
   the second time. */
#include "mg/solver.h"

/* A smoother of the user's may do anything, times of levels are taken between their launches, and who watches wants numbers. What is a
   part of work that is replayed as a whole goes into that. */
static int can_be_recorded(const gmg_solver *s)
{
  const gmg_params *q = &s->params;
  return s->exec.graph && !s->inside && !s->unrecordable && !q->time_levels && !s->watch.on && gmg_smoother_is_builtin(q->smoother);
}

static int same(const gmg_recording *a, const gmg_recording *b)
{
  return a->what == b->what && a->f == b->f && a->u == b->u && a->has_values == b->has_values && a->cycle == b->cycle;
}

/* NULL: these are new, or nothing is recorded. */
static gmg_recording *find(gmg_solver *s, gmg_recorded what, const void *f, void *u)
{
  const gmg_recording wanted = {.what = what, .f = f, .u = u, .has_values = s->has_values, .cycle = s->params.cycle};
  if (!can_be_recorded(s)) return NULL;
  for (int i = 0; i < GMG_RECORDINGS; i++)
    if (same(&s->recording[i], &wanted)) return &s->recording[i];
  gmg_recording *r = &s->recording[s->next_recording++ % GMG_RECORDINGS]; /* the oldest makes room */
  if (r->graph) s->exec.graph->destroy(r->graph);
  *r = wanted;
  return NULL;
}

static void do_whole(gmg_solver *s, const void *f, void *u, gmg_work *work)
{
  s->inside++;
  work(s, f, u);
  s->inside--;
}

/* Unless it is there already. */
static void record(gmg_solver *s, gmg_recording *r, gmg_work *work)
{
  if (r->graph || !s->exec.graph->begin(s->context, r->what == GMG_RECORDED_LOOP)) return;
  do_whole(s, r->f, r->u, work);
  r->graph = s->exec.graph->end(s->context);
  s->unrecordable = !r->graph;
}

int gmg_replayed(gmg_solver *s, gmg_recorded what, const void *f, void *u, gmg_work *work)
{
  gmg_recording *r = find(s, what, f, u);
  if (r) record(s, r, work);
  return r && r->graph && s->exec.graph->replay(s->context, r->graph);
}

void gmg_do(gmg_solver *s, gmg_recorded what, const void *f, void *u, gmg_work *work)
{
  if (!gmg_replayed(s, what, f, u, work)) do_whole(s, f, u, work);
}

gmg_graph *gmg_recorded_loop(gmg_solver *s, const void *f, void *u, gmg_work *work)
{
  gmg_recording *r = find(s, GMG_RECORDED_LOOP, f, u);
  if (r) record(s, r, work);
  return r ? r->graph : NULL;
}

void gmg_forget_recordings(gmg_solver *s)
{
  for (int i = 0; i < GMG_RECORDINGS; i++) {
    if (s->recording[i].graph) s->exec.graph->destroy(s->recording[i].graph);
    s->recording[i] = (gmg_recording){.graph = NULL};
  }
  s->unrecordable = 0;
}
