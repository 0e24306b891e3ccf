/* Coefficient arrays: checked, summed up, put on the finest level and taken to the coarser ones, in ways that depend on the kind of
   operator. Called at create and update. */
#include "mg/solver.h"

#include <math.h>
#include <stdio.h>

/* What the entries of an array must be, and what for. */
typedef struct {
  double least, below; /* least <= value < below */
  const char *why;
} bounds;

/* Reports the first bad entry in the error text. */
static gmg_status name_entry(const gmg_exec *e, const char *name, size_t n, const void *x, const bounds *b)
{
  double value;
  const size_t i = gmg_first_outside(e, n, x, b->least, b->below, &value);
  if (i == n) return gmg_fail(e->context, GMG_ERR_ARGUMENT, "problem.%s changed while it was read", name);
  return gmg_fail(e->context, GMG_ERR_ARGUMENT, "problem.%s[%zu] = %g: must be %s, at least %.3g and below %.3g (so that %s)", name,
                  i, value, b->least > 0 ? "positive" : "finite", b->least, b->below, b->why);
}

static gmg_status check_array(const gmg_exec *e, const char *name, size_t n, const void *x, const bounds *b, gmg_range *range)
{
  *range = e->vector->range(e, n, x);
  return range->least >= b->least && range->most < b->below ? GMG_OK : name_entry(e, name, n, x, b);
}

/* The smallest and the largest mesh width of all axes. */
static void find_widths(const gmg_problem *p, double *narrowest, double *widest)
{
  *narrowest = INFINITY, *widest = 0;
  for (int a = 0; a < p->dim; a++) {
    const gmg_axis_spec s = gmg_axis_spec_of(p, a);
    double narrow, wide;
    gmg_axis_widths(&s, &narrow, &wide);
    *narrowest = fmin(*narrowest, narrow), *widest = fmax(*widest, wide);
  }
}

/* beta and beta / h^2 in the range of the type, wherever the mesh is narrow or wide. */
static bounds bounds_of_beta(const gmg_problem *p)
{
  const gmg_type_traits *type = gmg_type_traits_of(p->type);
  const double largest = fmin(type->largest / 64, GMG_EXTREME), smallest = fmax(type->smallest, 1 / GMG_EXTREME);
  double narrowest, widest;
  find_widths(p, &narrowest, &widest);
  return (bounds){fmax(smallest, smallest * widest * widest), fmin(largest, largest * narrowest * narrowest),
                  "beta and beta / h^2 stay in the range of the type"};
}

/* The arrays of beta: one, or one for each axis. The last face of a periodic axis is not read by the solver, but it repeats the
   first. */
static const void *array_of_beta(const gmg_problem *p, int a, size_t cells, const char **name, size_t *n)
{
  static const char *const face_names[3] = {"beta_face[0]", "beta_face[1]", "beta_face[2]"};
  *name = p->beta ? "beta" : face_names[a];
  *n = p->beta ? cells : cells / p->n[a] * (p->n[a] + 1);
  return p->beta ? p->beta : p->beta_face[a];
}

static gmg_status check_beta(const gmg_exec *e, const gmg_problem *p, size_t cells, gmg_coefficients *found)
{
  const int arrays = p->beta ? 1 : p->beta_face[0] ? p->dim : 0;
  bounds b = bounds_of_beta(p);
  gmg_range range[3];
  const char *name;
  size_t n;
  for (int a = 0; a < arrays; a++) {
    const void *x = array_of_beta(p, a, cells, &name, &n);
    GMG_TRY(check_array(e, name, n, x, &b, &range[a]));
    found->beta_least = a ? fmin(found->beta_least, range[a].least) : range[a].least;
    found->beta_most = a ? fmax(found->beta_most, range[a].most) : range[a].most;
  }
  const gmg_operator_kind *kind = gmg_operator_kind_of(p);
  for (int a = 0; a < p->dim && arrays; a++) found->beta_mean[a] = range[p->beta ? 0 : a].mean;
  if (kind->strengths) kind->strengths(p, found->beta_mean);
  /* inner products hold its square: of u, which is large where beta is small */
  const double contrast = fmin(gmg_type_traits_of(p->type)->largest / 64, sqrt(GMG_EXTREME));
  if (found->beta_least >= found->beta_most / contrast) return GMG_OK;
  char why[100];
  snprintf(why, sizeof why, "its quotient with the largest, %g, stays in the type's range", found->beta_most);
  b.least = found->beta_most / contrast, b.why = why;
  int a = 0;
  while (a + 1 < arrays && range[a].least >= b.least) a++;
  const void *x = array_of_beta(p, a, cells, &name, &n);
  return name_entry(e, name, n, x, &b);
}

/* The constant shift: 0, or its quotients with beta / h^2 in the range of the type. An array sigma may fall to 0 gradually. */
static gmg_status check_shift(const gmg_exec *e, const gmg_problem *p, double weakest, double strongest)
{
  const gmg_type_traits *type = gmg_type_traits_of(p->type);
  const double most = type->largest / 64 * fmin(1, weakest), least = type->smallest * fmax(1, strongest);
  if (p->shift > most)
    return gmg_fail(e->context, GMG_ERR_ARGUMENT,
                    "problem.shift = %g: must be at most %.3g (so that its quotient with beta / h^2 = "
                    "%g stays in the range of the type)",
                    p->shift, most, weakest);
  if (p->shift > 0 && p->shift < least)
    return gmg_fail(e->context, GMG_ERR_ARGUMENT, "problem.shift = %g: must be 0 or at least %.3g (so that its quotient with "
                    "beta / h^2 = %g stays in the range of the type)", p->shift, least, strongest);
  return GMG_OK;
}

/* Where no wall holds u, shift, sigma and Robin walls do. If every row loses them in rounding, the problem is singular
   without being so in its definition. The term of a Robin wall is in the rows beside it alone, divided by their mesh width. */
static gmg_status check_hold(const gmg_exec *e, const gmg_problem *p, const gmg_coefficients *found, double narrowest,
                             double weakest)
{
  const double lost = gmg_type_traits_of(p->type)->epsilon / 2 * weakest, held = gmg_operator_shift(p) + found->sigma_most;
  double robin = 0;
  for (int a = 0; a < p->dim; a++)
    for (int side = 0; side < 2; side++) {
      if (p->bc[a][side] == GMG_DIRICHLET) return GMG_OK;
      if (p->bc[a][side] != GMG_ROBIN) continue;
      robin = fmax(robin, found->beta_most * p->robin[a][side][0] / p->robin[a][side][1] / narrowest);
    }
  if (gmg_is_singular(p, found->sigma_most) || held >= lost || !(robin < lost)) return GMG_OK;
  return gmg_fail(e->context, GMG_ERR_UNSUPPORTED,
                  "problem.shift = %g, problem.sigma (at most %g) and Robin walls (%g in their rows) are lost in rounding "
                  "beside beta / h^2 = %g, and nothing else holds u: set them to 0 (the solution then has zero mean), or one of "
                  "them to at least %.3g",
                  p->shift, found->sigma_most, robin, weakest, lost);
}

gmg_status gmg_check_coefficients(const gmg_exec *e, const gmg_problem *p, gmg_coefficients *found)
{
  const double largest = gmg_type_traits_of(p->type)->largest / 64;
  double narrowest, widest;
  size_t cells = 1;
  gmg_range r;
  *found = (gmg_coefficients){.beta_mean = {1, 1, 1}, .beta_least = 1, .beta_most = 1};
  for (int a = 0; a < p->dim; a++) cells *= p->n[a];
  find_widths(p, &narrowest, &widest);
  GMG_TRY(check_beta(e, p, cells, found));
  const double weakest = found->beta_least / widest / widest, strongest = found->beta_most / narrowest / narrowest;
  GMG_TRY(check_shift(e, p, weakest, strongest));
  if (p->sigma) {
    const bounds b = {0, fmin(fmin(largest, GMG_EXTREME), largest * weakest),
                      "it and its quotient with beta / h^2 stay in the range of the type"};
    GMG_TRY(check_array(e, "sigma", cells, p->sigma, &b, &r));
    found->sigma_least = r.least, found->sigma_mean = r.mean, found->sigma_most = r.most;
  }
  return check_hold(e, p, found, narrowest, weakest);
}

/* After the coefficients of a level were computed. Every operation with A reads their ghosts. */
static void exchange_coefficients(const gmg_exec *e, const gmg_operator *A)
{
  for (int a = 0; a < A->dim && A->face[0]; a++) gmg_exchange_faces(e, A, a, A->face[a]);
  if (A->sigma) gmg_exchange(e, A, A->sigma);
}

static void coarsen(const gmg_exec *e, const gmg_level *L, gmg_level *C)
{
  const gmg_carriers by = {.restrict_ = L->restrict_, .average = L->average, .faces = L->faces_map};
  if (L->A.kind->coarsen) L->A.kind->coarsen(e, &L->A, by, &C->A);
  exchange_coefficients(e, &C->A);
}

void gmg_load_coefficients(gmg_solver *s, const gmg_problem *p)
{
  gmg_level *fine = s->finest;
  const gmg_operator_kind *kind = fine->A.kind;
  if (s->exec.dry) return;
  if (p->beta) gmg_exchange(&s->exec, &fine->A, p->beta); /* a face lies between two unknowns */
  if (kind->load) kind->load(&s->exec, p, &fine->faces, &fine->A);
  exchange_coefficients(&s->exec, &fine->A);
  for (int l = 0; l < s->levels; l++) {
    if (l > 0 && l < s->refined_levels) coarsen(&s->exec, &s->refined[l - 1], &s->refined[l]);
    if (l >= s->refined_levels && l > 0) coarsen(s->levels_exec, &s->level[l - 1], &s->level[l]);
    if (l < s->refined_levels && kind->lower) {
      kind->lower(&s->exec, &s->refined[l].A, &s->level[l].A);
      exchange_coefficients(s->levels_exec, &s->level[l].A);
    }
  }
}
