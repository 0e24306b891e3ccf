/* Cuts levels into parts. Every process computes the same cuts. Called at create, and through the API (gmg_local_box()). */
#include "parts.h"

#include "mg/cycle/cycle.h"

#include "comm/cut.h"
#include "comm/ranks.h"

#include <stdlib.h>
#include <string.h>

/* Planes beside a part that transfers read: the residual in three, and so u in four. A pass that relaxes ghosts may smooth and
   restrict at once, so it reads FUSED_GHOSTS more than a sweep.

   Asynchronous halos: the sweeps of a leg, and beside them what transfers read. Cycles to 1e-8 on 128^3 cells in two and in eight
   processes, 5 and 7 with exact halos:

     planes beyond the sweeps     0        2      4
     blocks, two local sweeps     14, 17   7, 7   5, 5
     one sweep in two colours     38, 35   7, 7   7, 7 */
enum { TRANSFER_GHOSTS = 4, FUSED_GHOSTS = 2, LEAST_UNKNOWNS = 8 };

static gmg_status alloc_cuts(gmg_solver *s, gmg_part *p, size_t *cut[3])
{
  for (int a = 0; a < 3; a++) {
    void *cuts = NULL;
    GMG_TRY(gmg_exec_alloc_state(&s->exec, "cuts of an axis", ((size_t)p->parts[a] + 1) * sizeof(size_t), &cuts));
    p->cut[a] = cut[a] = cuts;
  }
  return GMG_OK;
}

static void find_own(gmg_part *p)
{
  for (int a = 0; a < 3; a++) {
    const long first = gmg_own_span(p, a).first;
    for (int side = 0; side < 2; side++) p->own[a][side] = (size_t)((long)p->cut[a][p->at[a] + side] - first);
  }
}

/* Two unknowns of one colour meet at the seam of a periodic axis with an odd number of unknowns. They are relaxed one after the
   other, which two processes cannot do without another exchange. */
static int has_odd_seam(int periodic, size_t n) { return periodic && n % 2; }

/* Chooses the number of parts along each axis. They depend on the sizes alone, because gmg_local_box() must give the same. */
static int choose_parts(const gmg_ranks *r, const gmg_problem *p, int parts[3])
{
  int may_cut[3];
  for (int a = 0; a < 3; a++) {
    parts[a] = r->cut[a];
    may_cut[a] = a < p->dim && !has_odd_seam(p->bc[a][0] == GMG_PERIODIC, p->n[a]);
  }
  return r->cut[0] || gmg_choose_parts(p->dim, p->n, may_cut, r->transport.ranks, LEAST_UNKNOWNS, parts) ||
         gmg_choose_parts(p->dim, p->n, may_cut, r->transport.ranks, 1, parts);
}

/* Where an axis of n unknowns is cut. */
static void cut_axis(const gmg_ranks *r, int axis, size_t n, int parts, size_t *cut)
{
  if (r->cuts[axis]) memcpy(cut, r->cuts[axis], ((size_t)parts + 1) * sizeof *cut);
  else gmg_cut_axis(n, parts, cut);
}

/* Refuses cuts of another grid, and more parts than unknowns. */
static gmg_status check_parts(gmg_context *c, const gmg_problem *q, const int parts[3])
{
  for (int a = 0; a < 3; a++) {
    const size_t n = a < q->dim ? q->n[a] : 1, *cuts = c->ranks->cuts[a];
    if (cuts && cuts[parts[a]] != n)
      return gmg_fail(c, GMG_ERR_ARGUMENT, "problem.n[%d] = %zu: the cuts of gmg_context_set_cuts() end at %zu", a, n,
                      cuts[parts[a]]);
    if (parts[a] > 1 && a < q->dim && has_odd_seam(q->bc[a][0] == GMG_PERIODIC, n))
      return gmg_fail(c, GMG_ERR_UNSUPPORTED, "problem.n[%d] = %zu: a periodic axis with an odd number of unknowns cannot be cut "
                      "yet", a, n);
    if ((size_t)parts[a] > n)
      return gmg_fail(c, GMG_ERR_UNSUPPORTED, "problem.n[%d] = %zu: cut into %d parts, it has fewer unknowns", a, n, parts[a]);
  }
  return GMG_OK;
}

/* Whether the parts of an axis are as thick as their neighbours' ghosts. */
static int is_thick(const gmg_part *p, int axis)
{
  return !gmg_is_cut(p, axis) || gmg_thinnest_part(p->parts[axis], p->cut[axis]) > (size_t)p->ghosts;
}

/* Sets the number of ghosts, and who computes on them. */
static void use_halos(const gmg_solver *s, gmg_halos halos, gmg_part *p)
{
  const gmg_params *q = &s->params;
  const int steps = q->pre > q->post ? q->pre : q->post, is_async = halos == GMG_HALOS_ASYNC;
  p->relaxes_ghosts = is_async || s->context->comm->relaxes_ghosts;
  const int reach = steps * gmg_ghosts_of_smoother(q, &s->problem, p->relaxes_ghosts);
  const int exact = reach + (p->relaxes_ghosts ? FUSED_GHOSTS : 0);
  p->ghosts = is_async ? reach + TRANSFER_GHOSTS : exact > TRANSFER_GHOSTS ? exact : TRANSFER_GHOSTS;
}

/* Replaces AUTO. All processes choose the same, because they know all cuts. */
static void choose_halos(gmg_solver *s, gmg_part *p)
{
  gmg_halos *halos = &s->params.halos;
  const int is_auto = *halos == GMG_HALOS_AUTO;
  if (is_auto) *halos = s->context->comm->relaxes_ghosts ? GMG_HALOS_ASYNC : GMG_HALOS_EXACT;
  use_halos(s, *halos, p);
  if (!is_auto || (is_thick(p, 0) && is_thick(p, 1) && is_thick(p, 2))) return;
  *halos = GMG_HALOS_EXACT;
  use_halos(s, *halos, p);
}

/* Refuses parts that are thinner than their neighbours' ghosts. */
static gmg_status check_thickness(gmg_context *c, const gmg_part *p, gmg_halos halos)
{
  const char *or_exact = halos == GMG_HALOS_ASYNC ? ", or params.halos = GMG_HALOS_EXACT" : "";
  for (int a = 0; a < 3; a++) {
    const size_t least = gmg_thinnest_part(p->parts[a], p->cut[a]);
    if (!is_thick(p, a))
      return gmg_fail(c, GMG_ERR_UNSUPPORTED, "problem.n[%d] = %zu: cut into %d parts, the thinnest has %zu unknowns. With these "
                      "smoothing steps it must have at least %d: use fewer processes, or another cut%s", a, p->whole[a],
                      p->parts[a], least, p->ghosts + 1, or_exact);
  }
  return GMG_OK;
}

/* Features that need more than their neighbours' planes. */
static gmg_status check_features(const gmg_solver *s)
{
  const gmg_params *q = &s->params;
  const gmg_problem *p = &s->problem;
  const struct {
    int set;
    const char *name;
  } missing[] = {{p->stencil != NULL, "problem.stencil"},
                 {q->coarsening == GMG_COARSENING_BLACK_BOX, "params.coarsening = GMG_COARSENING_BLACK_BOX"},
                 {q->direct == GMG_DIRECT_ALWAYS, "params.direct = GMG_DIRECT_ALWAYS"}};
  for (size_t i = 0; i < sizeof missing / sizeof *missing; i++)
    if (missing[i].set)
      return gmg_fail(s->context, GMG_ERR_UNSUPPORTED, "%s: is not available in several processes yet", missing[i].name);
  if (gmg_ghosts_of_smoother(q, p, s->context->comm->relaxes_ghosts) > 0) return GMG_OK;
  return gmg_fail(s->context, GMG_ERR_UNSUPPORTED, "params.smoother = \"%s\", with these parameters, is not available in several "
                  "processes: a step reads more than some planes beside a part", gmg_display_name(q->smoother));
}

/* The number of parts along each axis, and the place of this process's part among them. */
static gmg_status find_parts(gmg_context *c, const gmg_problem *q, gmg_part *p)
{
  const gmg_ranks *r = c->ranks;
  int rest = r->transport.rank;
  if (!choose_parts(r, q, p->parts))
    return gmg_fail(c, GMG_ERR_UNSUPPORTED, "problem.n = %zu x %zu x %zu: cannot be cut into %d parts", q->n[0],
                    q->dim > 1 ? q->n[1] : 1, q->dim > 2 ? q->n[2] : 1, r->transport.ranks);
  GMG_TRY(check_parts(c, q, p->parts));
  for (int a = 0; a < 3; a++) {
    p->whole[a] = a < q->dim ? q->n[a] : 1;
    p->periodic[a] = a < q->dim && q->bc[a][0] == GMG_PERIODIC;
    p->at[a] = rest % p->parts[a], rest /= p->parts[a];
  }
  return GMG_OK;
}

static gmg_status find_box(gmg_context *c, const gmg_problem *given, size_t first[3], size_t n[3])
{
  gmg_problem q;
  gmg_stencil stencil;
  gmg_part p = {.ghosts = 0};
  GMG_TRY(gmg_check_grid(c, given, &q, &stencil));
  for (int a = 0; a < 3; a++) first[a] = 0, n[a] = a < q.dim ? q.n[a] : 1;
  if (!gmg_is_shared(c)) return GMG_OK;
  GMG_TRY(find_parts(c, &q, &p));
  for (int a = 0; a < 3; a++) {
    size_t *cut = malloc(((size_t)p.parts[a] + 1) * sizeof *cut);
    if (!cut) return gmg_fail(c, GMG_ERR_MEMORY, "cuts of axis %d could not be allocated", a);
    cut_axis(c->ranks, a, p.whole[a], p.parts[a], cut);
    first[a] = cut[p.at[a]], n[a] = cut[p.at[a] + 1] - first[a];
    free(cut);
  }
  return GMG_OK;
}

gmg_status gmg_local_box(gmg_context *c, const gmg_problem *problem, size_t first[3], size_t n[3])
{
  if (!c) return GMG_ERR_ARGUMENT;
  if (!first || !n) return gmg_fail(c, GMG_ERR_ARGUMENT, "%s is NULL", first ? "n" : "first");
  return find_box(c, problem, first, n);
}

gmg_status gmg_cut_finest(gmg_solver *s)
{
  const gmg_problem *q = &s->problem;
  size_t *cut[3], box[3];
  void *parts = NULL;
  s->mine = *q;
  if (!gmg_is_shared(s->context)) return GMG_OK;
  GMG_TRY(check_features(s));
  GMG_TRY(gmg_exec_alloc_state(&s->exec, "parts of levels", GMG_MAX_LEVELS * sizeof(gmg_part), &parts));
  gmg_part *p = s->part = parts;
  GMG_TRY(find_parts(s->context, q, p));
  GMG_TRY(alloc_cuts(s, p, cut));
  for (int a = 0; a < 3; a++) cut_axis(s->context->ranks, a, p->whole[a], p->parts[a], cut[a]);
  choose_halos(s, p);
  GMG_TRY(check_thickness(s->context, p, s->params.halos));
  find_own(p);
  for (int a = 0; a < 3; a++) s->mine.n[a] = p->own[a][1] - p->own[a][0], box[a] = gmg_own_span(p, a).n;
  const gmg_layout own = gmg_layout_packed(box);
  s->layouts = s->layouts_with_f_eff = (gmg_residual_layouts){own, own, own};
  s->parts = 1;
  return GMG_OK;
}

gmg_status gmg_cut_next(gmg_solver *s, int l, const gmg_axis_spec next[3], int *is_cut)
{
  const gmg_part *fine = &s->part[l];
  gmg_part *p = &s->part[l + 1];
  size_t *cut[3];
  *p = *fine, *is_cut = 0;
  if (fine->whole[0] * fine->whole[1] * fine->whole[2] <= s->context->comm->most_whole) return GMG_OK;
  GMG_TRY(alloc_cuts(s, p, cut));
  for (int a = 0; a < 3; a++) {
    if (gmg_is_cut(p, a) && has_odd_seam(p->periodic[a], next[a].n)) return GMG_OK;
    p->whole[a] = next[a].n;
    gmg_coarsen_cuts(fine->whole[a], next[a].n, p->parts[a], fine->cut[a], cut[a]);
    if (!is_thick(p, a)) return GMG_OK;
  }
  find_own(p);
  s->parts = l + 2, *is_cut = 1;
  return GMG_OK;
}

gmg_status gmg_connect_parts(gmg_solver *s)
{
  for (int l = 0; l < s->parts && s->exec.comm->connect && !s->exec.dry; l++)
    GMG_TRY(s->exec.comm->connect(&s->exec, &s->part[l]));
  for (int l = 0; l + 1 < s->parts && !s->exec.dry; l++) gmg_agree_on_legs(&s->mg, l);
  return GMG_OK;
}

void gmg_disconnect_parts(gmg_solver *s)
{
  for (int l = 0; l < s->parts && s->exec.comm->disconnect && !s->exec.dry; l++)
    s->exec.comm->disconnect(&s->exec, &s->part[l]);
}
