/* Media of the gallery as problems of the demos: --medium KIND and --strength X. The arrays are in the memory of the context. */
#include "demo.h"
#include "gallery.h"

#include <stdio.h>
#include <stdlib.h>

void demo_medium_list(void)
{
  printf("%-14s  %-18s  %s\n", "medium", "typical strengths", "what it is");
  for (const medium_kind *k = medium_kinds; k->name; k++) {
    char strengths[64];
    int used = 0;
    for (int s = 0; s < 3 && k->strength[s] > 0; s++)
      used += snprintf(strengths + used, sizeof strengths - (size_t)used, "%s%g", s ? ", " : "", k->strength[s]);
    printf("%-14s  %-18s  %s\n", k->name, strengths, k->about);
  }
}

/* What the gallery fixes cannot be an option too. Returns 0, or an exit code. */
static int refuse(const demo_options *o)
{
  const gmg_problem *p = &o->problem;
  if (p->dim < 2) return demo_fail(o, "--medium %s in %dD: media are in 2D and 3D", o->medium, p->dim), 2;
  for (int a = 0; a < p->dim; a++) {
    if (p->n[a] != p->n[0]) return demo_fail(o, "--medium %s with %zu and %zu unknowns: a medium has the same number on all axes", o->medium, p->n[0], p->n[a]), 2;
    if (o->length.value[o->length.count > 1 ? a : 0] != 1) return demo_fail(o, "--length with --medium %s: media are in the unit box", o->medium), 2;
    for (int side = 0; side < 2; side++)
      if (p->bc[a][side] != GMG_DIRICHLET) return demo_fail(o, "--bc with --medium %s: its walls are those of the gallery", o->medium), 2;
  }
  return 0;
}

/* A copy of `from` in the type of the problem, in the context's memory. NULL stays NULL. axis: of an array on faces, or -1. Returns 0
 * after a message. */
static int take(const demo_options *o, const gmg_problem *p, const double *from, int axis, demo_array *to, const void **place)
{
  gmg_problem shape = *p;
  if (!from) return 1;
  if (axis >= 0) shape.n[axis]++;
  if (!demo_array_create(o, &shape, to)) return demo_fail(o, "--medium %s: out of memory", o->medium), 0;
  for (size_t c = 0; c < demo_cells(&shape); c++) demo_set(shape.type, to->here, c, from[c]);
  *place = to->there;
  return !demo_array_send(o, to);
}

/* What a picture shows of the medium at an unknown: beta (the mean of both faces across the first axis if faces have it), sigma, or
 * the largest mesh width over the smallest. */
static double shown(const medium *m, size_t c)
{
  const size_t n = m->p.n[0], i[3] = {c % n, c / n % n, c / n / n};
  if (m->beta) return m->beta[c];
  if (m->sigma) return m->sigma[c];
  if (m->face[0]) return 0.5 * (m->face[0][c / n * (n + 1) + i[0]] + m->face[0][c / n * (n + 1) + i[0] + 1]);
  double least = 1, most = 0;
  for (int a = 0; a < m->p.dim; a++) {
    const size_t at = m->coord[a] && i[a] + 1 == n && m->p.centering == GMG_VERTEX ? i[a] - 1 : i[a];
    const double width = m->coord[a] ? m->coord[a][at + 1] - m->coord[a][at] : m->p.h[a];
    if (a == 0 || width < least) least = width;
    if (width > most) most = width;
  }
  return most / least;
}

static int fill(demo_options *o, const medium *made, demo_medium *m)
{
  gmg_problem p = made->p;
  p.type = o->problem.type, p.shift = o->problem.shift;
  m->shows = made->beta ? "beta" : made->sigma ? "sigma" : made->face[0] ? "beta_x" : "aspect";
  int ok = take(o, &p, made->beta, -1, &m->beta, &p.beta) && take(o, &p, made->sigma, -1, &m->sigma, &p.sigma);
  for (int a = 0; ok && a < p.dim; a++) ok = take(o, &p, made->face[a], a, &m->face[a], &p.beta_face[a]);
  m->picture = demo_field_create(&p);
  if (!ok || !m->picture) return ok ? demo_fail(o, "--medium %s: out of memory", o->medium) : 1;
  for (size_t c = 0; c < demo_cells(&p); c++) demo_set(p.type, m->picture, c, shown(made, c));
  o->problem = p;
  return 0;
}

int demo_medium_take(demo_options *o, demo_medium *m)
{
  if (!o->medium) return 0;
  const medium_kind *kind = medium_kind_of(o->medium); /* the command line takes no other name */
  const int failed = refuse(o);
  if (failed || demo_room(o, &o->problem, 2 * (o->problem.dim + 2))) return failed ? failed : 1;
  m->about = kind->about;
  if (o->strength == 0) o->strength = kind->strength[0];
  medium made;
  int code = 0;
  if (!medium_make(kind, o->problem.dim, o->problem.n[0], o->strength, o->problem.centering, &made))
    code = demo_fail(o, "--medium %s: out of memory", o->medium);
  if (!code) code = fill(o, &made, m);
  for (int a = 0; a < 3; a++) m->coord[a] = made.coord[a], made.coord[a] = NULL; /* the problem borrows them */
  medium_free(&made);
  if (!code && !o->quiet) printf("medium   %s, strength %g: %s\n", o->medium, o->strength, m->about);
  return code;
}

void demo_medium_destroy(demo_medium *m)
{
  demo_array_destroy(&m->beta), demo_array_destroy(&m->sigma);
  for (int a = 0; a < 3; a++) demo_array_destroy(&m->face[a]), free(m->coord[a]);
  free(m->picture);
}
