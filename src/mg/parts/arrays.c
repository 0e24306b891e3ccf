/* Copies between the caller's arrays, which contain a process's own unknowns, and fields with ghosts (parts.h). Called by public
   calls, at create and at update. */
#include "parts.h"

static int has_parts(const gmg_solver *s) { return s->parts > 0; }

/* The layout of a field of the finest level, with `extra` more along an axis: faces. */
static gmg_layout layout_of_box(const gmg_solver *s, int axis, size_t extra)
{
  size_t box[3];
  for (int a = 0; a < 3; a++) box[a] = gmg_own_span(&s->part[0], a).n + (a == axis ? extra : 0);
  return gmg_layout_packed(box);
}

/* Bytes before the first own unknown of such a field. */
static size_t bytes_before_own(const gmg_solver *s, gmg_layout box)
{
  const gmg_part *p = &s->part[0];
  return gmg_offset(box, p->own[0][0], p->own[1][0], p->own[2][0]) * s->exec.real_size;
}

/* Whether an array of the caller contains the box of the finest level, ghosts included, without gaps. */
static int contains_box(const gmg_solver *s, gmg_layout l)
{
  const gmg_part *p = &s->part[0];
  const size_t pitch[3] = {l.row, l.rows, 0};
  for (int a = 0; a < s->problem.dim; a++) {
    const size_t box = gmg_own_span(p, a).n, below = p->own[a][0], above = box - p->own[a][1], halo = s->mine.halo[a];
    if (below > halo || above > halo || (a + 1 < s->problem.dim && pitch[a] != box)) return 0;
  }
  return 1;
}

/* The box that contains an array of the caller. */
static void *box_around(const gmg_solver *s, const void *own) { return (char *)own - bytes_before_own(s, layout_of_box(s, 0, 0)); }

/* The own unknowns of a copy on the finest level, with `extra` more along an axis: faces. */
static gmg_array own_of(const gmg_solver *s, const void *copy, int axis, size_t extra)
{
  const gmg_part *p = &s->part[0];
  gmg_array x = {layout_of_box(s, axis, extra), 0, NULL};
  x.values = (const char *)copy + bytes_before_own(s, x.layout);
  for (int a = 0; a < 3; a++) x.layout.n[a] = p->own[a][1] - p->own[a][0] + (a == axis ? extra : 0);
  return x;
}

static void take(const gmg_solver *s, gmg_array from, int axis, size_t extra, void *copy)
{
  const gmg_array to = own_of(s, copy, axis, extra);
  gmg_array_copy(&s->exec, from.layout, from.values, to.layout, (void *)to.values);
}

static void give(const gmg_solver *s, const void *copy, gmg_array to)
{
  const gmg_array from = own_of(s, copy, 0, 0);
  gmg_array_copy(&s->exec, from.layout, from.values, to.layout, (void *)to.values);
}

/* Coefficients must be positive in ghosts, too, before they are exchanged. */
static gmg_status create_ones(gmg_solver *s, const char *what, size_t n, void **copy)
{
  GMG_TRY(gmg_create_field(&s->exec, what, n, copy));
  if (!s->exec.dry) s->vector->fill(&s->exec, n, 1, *copy);
  return GMG_OK;
}

/* Room for fluxes and gradients on the faces across one axis, and for u. */
gmg_status gmg_create_room_for_flux(gmg_solver *s)
{
  size_t most = 0;
  if (!has_parts(s) || s->copies.flux[1]) return GMG_OK;
  for (int a = 0; a < s->problem.dim; a++) most = gmg_face_count(&s->finest->A, a) > most ? gmg_face_count(&s->finest->A, a) : most;
  GMG_TRY(gmg_create_field(&s->exec, "u with ghosts for fluxes", s->finest->A.cells, &s->copies.flux_u));
  GMG_TRY(gmg_create_field(&s->exec, "fluxes with ghosts", most, &s->copies.flux[0]));
  return gmg_create_field(&s->exec, "gradients with ghosts", most, &s->copies.flux[1]);
}

gmg_status gmg_create_copies(gmg_solver *s)
{
  const gmg_operator *A = &s->finest->A;
  const gmg_problem *p = &s->problem;
  if (!has_parts(s)) return GMG_OK;
  if (!contains_box(s, gmg_array_of_f(&s->mine, NULL).layout))
    GMG_TRY(gmg_create_field(&s->exec, "f with ghosts", A->cells, &s->copies.f));
  if (!contains_box(s, gmg_array_of_u(&s->mine, NULL).layout))
    GMG_TRY(gmg_create_field(&s->exec, "u with ghosts", A->cells, &s->copies.u));
  if (p->beta) GMG_TRY(create_ones(s, "beta with ghosts", A->cells, &s->copies.beta));
  if (p->sigma) GMG_TRY(create_ones(s, "sigma with ghosts", A->cells, &s->copies.sigma));
  for (int a = 0; a < p->dim && p->beta_face[0]; a++)
    GMG_TRY(create_ones(s, "beta_face with ghosts", gmg_face_count(A, a), &s->copies.beta_face[a]));
  return GMG_OK;
}

const void *gmg_take_f(gmg_solver *s, const void *f)
{
  if (!has_parts(s)) return f;
  const gmg_array from = {gmg_array_of_f(&s->mine, NULL).layout, 0, f};
  s->copies.given_f = f;
  if (!s->copies.f) return box_around(s, f);
  take(s, from, 0, 0, s->copies.f);
  return s->copies.f;
}

void *gmg_take_u(gmg_solver *s, const void *u)
{
  if (!has_parts(s)) return (void *)u;
  const gmg_array from = {gmg_array_of_u(&s->mine, NULL).layout, 0, u};
  s->copies.given_u = u;
  if (!s->copies.u) return box_around(s, u);
  take(s, from, 0, 0, s->copies.u);
  return s->copies.u;
}

const void *gmg_copy_of_u(gmg_solver *s, const void *u)
{
  if (!has_parts(s)) return u;
  const gmg_array from = {gmg_array_of_u(&s->mine, NULL).layout, 0, u};
  take(s, from, 0, 0, s->copies.flux_u);
  return s->copies.flux_u;
}

void gmg_places_of_faces(const gmg_solver *s, void *const out[2], void *faces[2])
{
  for (int i = 0; i < 2; i++) faces[i] = has_parts(s) && out[i] ? s->copies.flux[i] : out[i];
}

void gmg_give_faces(const gmg_solver *s, int axis, void *const faces[2], void *const out[2])
{
  size_t n[3];
  for (int a = 0; a < 3; a++) n[a] = s->mine.n[a] + (a == axis);
  for (int i = 0; i < 2 && has_parts(s); i++) {
    if (!out[i]) continue;
    const gmg_array from = own_of(s, faces[i], axis, 1);
    gmg_array_copy(&s->exec, from.layout, from.values, gmg_layout_packed(n), out[i]);
  }
}

void *gmg_place_of_u(gmg_solver *s, void *u)
{
  if (!has_parts(s)) return u;
  return s->copies.u ? s->copies.u : box_around(s, u);
}

void *gmg_place_of_r(const gmg_solver *s, const void *f_eff, void *r)
{
  if (!has_parts(s)) return r;
  return !s->copies.f ? box_around(s, r) : f_eff == s->f_eff ? s->copies.f : s->f_eff;
}

void gmg_give_u(const gmg_solver *s, const void *copy, void *u)
{
  const gmg_array to = {gmg_array_of_u(&s->mine, NULL).layout, 0, u};
  if (has_parts(s) && s->copies.u) give(s, copy, to);
}

void gmg_give_f(const gmg_solver *s, const void *copy, void *r)
{
  const gmg_array to = {gmg_array_of_f(&s->mine, NULL).layout, 0, r};
  if (has_parts(s) && s->copies.f) give(s, copy, to);
}

gmg_problem gmg_with_ghosts(gmg_solver *s, const gmg_problem *p)
{
  gmg_problem q = *p;
  if (!has_parts(s)) return q;
  q.n[0] = s->finest->A.n[0], q.n[1] = s->finest->A.n[1], q.n[2] = s->finest->A.n[2];
  q.coefficient_layout = (gmg_array_layout){0};
  if (p->beta) take(s, gmg_coefficients_at_unknowns(p, p->beta), 0, 0, s->copies.beta), q.beta = s->copies.beta;
  if (p->sigma) take(s, gmg_coefficients_at_unknowns(p, p->sigma), 0, 0, s->copies.sigma), q.sigma = s->copies.sigma;
  for (int a = 0; a < p->dim && p->beta_face[0]; a++)
    take(s, gmg_coefficients_at_faces(p, a), a, 1, s->copies.beta_face[a]), q.beta_face[a] = s->copies.beta_face[a];
  return q;
}

size_t gmg_own_face(const gmg_solver *s, int axis)
{
  const size_t *n = s->mine.n;
  return n[0] * n[1] * n[2] / n[axis];
}

void gmg_take_face(const gmg_solver *s, int axis, const void *g, void *face)
{
  if (!has_parts(s)) {
    s->vector->copy(&s->exec, gmg_own_face(s, axis), g, face);
    return;
  }
  const gmg_part *p = &s->part[0];
  size_t box[3], own[3], first[3];
  for (int a = 0; a < 3; a++) {
    box[a] = a == axis ? 1 : gmg_own_span(p, a).n;
    own[a] = a == axis ? 1 : p->own[a][1] - p->own[a][0], first[a] = a == axis ? 0 : p->own[a][0];
  }
  gmg_layout to = gmg_layout_packed(box);
  const size_t at = gmg_offset(to, first[0], first[1], first[2]);
  for (int a = 0; a < 3; a++) to.n[a] = own[a];
  gmg_array_copy(&s->exec, gmg_layout_packed(own), g, to, (char *)face + at * s->exec.real_size);
}
