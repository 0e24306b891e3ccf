/* An iteration that begins with a full multigrid start (cycle/fmg.c). Called by solve. */
#include "iterate.h"

/* u = M^-1 f where there is a single level. */
static gmg_correction approximate(gmg_solver *s, const void *f, const void *f_eff, void *u)
{
  if (s->levels > 1) return gmg_fmg_approximate(s, f, f_eff, u);
  s->corrections->apply(s, f_eff, u);
  return (gmg_correction){.z = NULL};
}

static void whole_start(gmg_solver *s, const void *f, void *u)
{
  gmg_add_correction(s, s->finest, approximate(s, f, gmg_current_rhs(s, f), u), u);
}

/* Where its residual is asked for and the start is not replayed, the last correction of a start on several levels goes with the
   residual that it leaves. */
void gmg_full_multigrid(gmg_solver *s, const void *f, gmg_iteration *it)
{
  if (!gmg_is_replayed(s, whole_start, f, it->u)) {
    const gmg_correction c = approximate(s, f, it->f, it->u);
    if (s->method->start_from && s->levels > 1 && it->wait) {
      s->method->start_from(s, it, c);
      return;
    }
    gmg_add_correction(s, s->finest, c, it->u);
  }
  s->method->start(s, it);
}
