/* Coefficient arrays: checks them, computes their ranges, and stores them on all levels. A coarse face gets the arithmetic mean of
   its fine faces, a coarse cell the mean of sigma, weighted by volume. Called at create and update. */
#include "mg/solver.h"

#include <math.h>

/* Reports the first bad entry in the error text. */
static gmg_status name_entry(const gmg_exec *e, const char *name, size_t n, const void *x, int positive, double most)
{
  double part[256];
  for (size_t i = 0; i < n; i += 256) {
    const size_t m = n - i < 256 ? n - i : 256;
    gmg_exec_read_reals(e, (const char *)x + i * e->real_size, m, part);
    for (size_t j = 0; j < m; j++)
      if (!(part[j] < most) || !(positive ? part[j] > 0 : part[j] >= 0))
        return gmg_fail(e->context, GMG_ERR_ARGUMENT,
                        "problem.%s[%zu] = %g: must be %s and below %.3g (so that %s stays in the range of the type)", name,
                        i + j, part[j], positive ? "positive" : ">= 0", most, positive ? "beta / h^2" : "it");
  }
  return gmg_fail(e->context, GMG_ERR_ARGUMENT, "problem.%s changed while it was read", name);
}

static gmg_status check_array(const gmg_exec *e, const char *name, size_t n, const void *x, int positive, double most,
                              gmg_range *range)
{
  *range = e->vector->range(e, n, x);
  if (range->most < most && (positive ? range->least > 0 : range->least >= 0)) return GMG_OK;
  return name_entry(e, name, n, x, positive, most);
}

/* The smallest mesh width. */
static double narrowest_width(const gmg_problem *p)
{
  double least = INFINITY;
  for (int a = 0; a < p->dim; a++) {
    const gmg_axis_spec s = gmg_axis_spec_of(p, a);
    double narrow, wide;
    gmg_axis_widths(&s, &narrow, &wide);
    least = fmin(least, narrow);
  }
  return least;
}

gmg_status gmg_check_coefficients(const gmg_exec *e, const gmg_problem *p, gmg_coefficients *found)
{
  static const char *const face_names[3] = {"beta_face[0]", "beta_face[1]", "beta_face[2]"};
  const double largest = fmin(gmg_type_traits_of(p->type)->largest / 64, GMG_EXTREME), narrowest = narrowest_width(p);
  const double most = fmin(largest, largest * narrowest * narrowest);
  size_t cells = 1;
  gmg_range r;
  *found = (gmg_coefficients){.beta_mean = {1, 1, 1}, .beta_least = 1, .beta_most = 1};
  for (int a = 0; a < p->dim; a++) cells *= p->n[a];
  if (p->beta) {
    GMG_TRY(check_array(e, "beta", cells, p->beta, 1, most, &r));
    for (int a = 0; a < p->dim; a++) found->beta_mean[a] = r.mean;
    found->beta_least = r.least, found->beta_most = r.most;
  }
  for (int a = 0; a < p->dim && p->beta_face[a]; a++) {
    /* checks the last face of a periodic axis, too: the solver does not read it, but it repeats the first */
    GMG_TRY(check_array(e, face_names[a], cells / p->n[a] * (p->n[a] + 1), p->beta_face[a], 1, most, &r));
    found->beta_mean[a] = r.mean;
    found->beta_least = a ? fmin(found->beta_least, r.least) : r.least;
    found->beta_most = a ? fmax(found->beta_most, r.most) : r.most;
  }
  if (p->sigma) {
    GMG_TRY(check_array(e, "sigma", cells, p->sigma, 0, largest, &r));
    found->sigma_least = r.least, found->sigma_mean = r.mean, found->sigma_most = r.most;
  }
  return GMG_OK;
}

static void coarsen(const gmg_solver *s, const gmg_exec *e, gmg_level *L, gmg_level *C)
{
  const gmg_stencil_ops *stencil = gmg_stencil_of(e);
  for (int a = 0; a < s->problem.dim && L->A.face[0]; a++) {
    gmg_map maps[3] = {L->restrict_[0], L->restrict_[1], L->restrict_[2]};
    maps[a] = L->faces_map[a];
    stencil->tensor(e, maps, L->A.face[a], (void *)C->A.face[a], 0);
    if (L->A.coarsened[a] && s->problem.bc[a][0] != GMG_PERIODIC) stencil->coarsen_walls(e, &L->A, &C->A, L->restrict_, a);
  }
  if (L->A.sigma) stencil->tensor(e, L->average, L->A.sigma, (void *)C->A.sigma, 0);
}

/* Converts the coefficients of a refined level to low precision. */
static void convert_coefficients(gmg_solver *s, int l)
{
  const gmg_operator *from = &s->refined[l].A, *to = &s->level[l].A;
  for (int a = 0; a < from->dim && from->face[a]; a++)
    s->vector->scale_to_low(&s->exec, gmg_face_count(from, a), NULL, from->face[a], (void *)to->face[a]);
  if (from->sigma) s->vector->scale_to_low(&s->exec, from->cells, NULL, from->sigma, (void *)to->sigma);
}

void gmg_load_coefficients(gmg_solver *s, const gmg_problem *p)
{
  gmg_level *fine = s->finest;
  if (s->exec.dry) return;
  if (p->beta) s->stencil->harmonic_faces(&s->exec, &fine->A, &fine->faces, p->beta);
  for (int a = 0; a < p->dim && p->beta_face[a]; a++) s->stencil->copy_faces(&s->exec, &fine->A, a, p->beta_face[a]);
  if (p->sigma) s->vector->copy(&s->exec, fine->A.cells, p->sigma, (void *)fine->A.sigma);
  for (int l = 0; l < s->levels; l++) {
    if (l > 0 && l < s->refined_levels) coarsen(s, &s->exec, &s->refined[l - 1], &s->refined[l]);
    if (l < s->refined_levels) convert_coefficients(s, l);
    else if (l > 0) coarsen(s, s->levels_exec, &s->level[l - 1], &s->level[l]);
  }
}
