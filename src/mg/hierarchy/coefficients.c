/* Coefficient arrays: checks them, finds their ranges and means, stores them on the finest level, and coarsens them to all other
   levels by the functions of the kind of operator. Called at create and update. */
#include "mg/parts/parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Bounds of the entries of an array, and the reason for error texts. */
typedef struct {
  double least, below; /* least <= value < below */
  const char *why;
} bounds;

/* Reports the first bad entry in the error text. */
static gmg_status name_entry(const gmg_exec *e, const char *name, const gmg_array *x, const bounds *b)
{
  double value;
  size_t i;
  if (!gmg_find_outside(e, x->layout, x->values, b->least, b->below, &i, &value))
    return gmg_fail(e->context, GMG_ERR_ARGUMENT, gmg_is_shared(e->context) ? "%s" : "problem.%s changed while it was read",
                    gmg_is_shared(e->context) ? "" : name); /* another process has it */
  return gmg_fail(e->context, GMG_ERR_ARGUMENT, "problem.%s[%zu] = %g: must be %s, at least %.3g and below %.3g (so that %s)", name,
                  x->skipped + i, value, b->least > 0 ? "positive" : "finite", b->least, b->below, b->why);
}

static gmg_status check_array(const gmg_exec *e, const char *name, const gmg_array *x, const bounds *b, gmg_range *range)
{
  *range = gmg_array_range(e, x->layout, x->values);
  return range->least >= b->least && range->most < b->below ? GMG_OK : name_entry(e, name, x, b);
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

/* Bounds that keep beta and beta / h^2 in the range of the type, for the smallest and the largest mesh width. */
static bounds bounds_of_beta(const gmg_problem *p)
{
  const gmg_type_traits *type = gmg_type_traits_of(p->type);
  const double largest = fmin(type->largest / 64, GMG_EXTREME), smallest = fmax(type->smallest, 1 / GMG_EXTREME);
  double narrowest, widest;
  find_widths(p, &narrowest, &widest);
  return (bounds){fmax(smallest, smallest * widest * widest), fmin(largest, largest * narrowest * narrowest),
                  "beta and beta / h^2 stay in the range of the type"};
}

/* The arrays of beta: the array beta or, for faces across axis a, the array beta_face[a]. On a periodic axis this includes the last
   face, which repeats the first, and which the solver does not read. */
static const char *name_of_beta(const gmg_problem *p, int a)
{
  static const char *const face_names[3] = {"beta_face[0]", "beta_face[1]", "beta_face[2]"};
  return p->beta ? "beta" : face_names[a];
}

static gmg_array array_of_beta(const gmg_problem *p, int a)
{
  return p->beta ? gmg_coefficients_at_unknowns(p, p->beta) : gmg_coefficients_at_faces(p, a);
}

/* The magnitude of the entries of A, with its name in error texts. */
typedef struct {
  const char *name;
  double weakest, strongest;
} entry_magnitude;

/* Ranges that only the kind of operator can compute, by its measure(). */
static gmg_status measure(const gmg_exec *e, const gmg_problem *p, gmg_coefficients *found, entry_magnitude *size)
{
  const gmg_operator_kind *kind = gmg_operator_kind_of(p);
  gmg_measured x = {.beta = {0}};
  if (!kind->measure) return GMG_OK;
  GMG_TRY(kind->measure(e, p, &x));
  for (int a = 0; a < 3; a++) found->beta_mean[a] = x.beta[a];
  found->sigma_least = x.sigma.least, found->sigma_mean = x.sigma.mean, found->sigma_most = x.sigma.most;
  memcpy(found->asymmetry, x.asymmetry, sizeof x.asymmetry);
  memcpy(found->penalty, x.penalty, sizeof x.penalty);
  *size = (entry_magnitude){"the stencil's centre", x.diagonal.least, x.diagonal.most};
  return GMG_OK;
}

/* How much the axis of strong couplings changes, for gmg_medium. Only coefficients on faces are measured: a value for each unknown
   conducts equally well along all axes. */
double gmg_measure_turn(const gmg_exec *e, const gmg_problem *whole, const gmg_problem *p)
{
  double turn = 1;
  for (int a = 0; a < p->dim && p->beta_face[0]; a++)
    for (int b = 0; b < a; b++) {
      const gmg_array x = gmg_coefficients_at_faces(p, a), y = gmg_coefficients_at_faces(p, b);
      const gmg_range r = gmg_array_ops_of(e)->ratios(e, p->n, x.layout, x.values, y.layout, y.values);
      const gmg_axis_spec along[2] = {gmg_axis_spec_of(whole, a), gmg_axis_spec_of(whole, b)};
      const double scale = gmg_axis_coupling(&along[0]) / gmg_axis_coupling(&along[1]);
      if (along[0].n > 1 && along[1].n > 1) turn = fmax(turn, fmin(r.most * scale, 1 / (r.least * scale)));
    }
  return turn;
}

/* The mean number of jumps along a line of axis b in an array of n values: the array against itself, shifted by one. */
static double jumps_along(const gmg_exec *e, const gmg_array *x, int b, const size_t n[3])
{
  const size_t pairs[3] = {n[0] - (b == 0), n[1] - (b == 1), n[2] - (b == 2)};
  const char *shifted = (const char *)x->values + gmg_pitch(x->layout, b) * e->real_size;
  if (n[b] < 2) return 0;
  return gmg_array_ops_of(e)->ratios(e, pairs, x->layout, x->values, x->layout, shifted).mean * (double)n[b];
}

/* How often beta jumps along a line, for gmg_medium. On faces only in 2D: in 3D discretised grids take layers in few iterations. */
double gmg_measure_jumps(const gmg_exec *e, const gmg_problem *p)
{
  const int arrays = p->beta ? 1 : p->beta_face[0] && p->dim == 2 ? 2 : 0;
  double jumps = 0;
  for (int a = 0; a < arrays; a++) {
    const gmg_array x = array_of_beta(p, a);
    for (int b = 0; b < p->dim; b++) jumps = fmax(jumps, jumps_along(e, &x, b, p->n));
  }
  return jumps;
}

/* The values of beta whose mean is taken. A face between two parts belongs to the upper one. */
static gmg_array own_array_of_beta(const gmg_problem *p, const gmg_part *part, int a)
{
  gmg_array x = array_of_beta(p, a);
  if (part && !p->beta && part->at[a] + 1 < part->parts[a]) x.layout.n[a]--;
  return x;
}

static gmg_status check_beta(const gmg_exec *e, const gmg_problem *whole, const gmg_problem *p, const gmg_part *part,
                             gmg_coefficients *found)
{
  const int arrays = p->beta ? 1 : p->beta_face[0] ? p->dim : 0;
  bounds b = bounds_of_beta(whole);
  gmg_range range[3];
  for (int a = 0; a < arrays; a++) {
    const gmg_array x = own_array_of_beta(p, part, a);
    GMG_TRY(check_array(e, name_of_beta(p, a), &x, &b, &range[a]));
    found->beta_least = a ? fmin(found->beta_least, range[a].least) : range[a].least;
    found->beta_most = a ? fmax(found->beta_most, range[a].most) : range[a].most;
  }
  for (int a = 0; a < p->dim && arrays; a++) found->beta_mean[a] = range[p->beta ? 0 : a].mean;
  /* u is large where beta is small, and inner products contain its square, hence sqrt() */
  const double contrast = fmin(gmg_type_traits_of(p->type)->largest / 64, sqrt(GMG_EXTREME));
  if (found->beta_least >= found->beta_most / contrast) return GMG_OK;
  char why[100];
  snprintf(why, sizeof why, "its quotient with the largest, %g, stays in the type's range", found->beta_most);
  b.least = found->beta_most / contrast, b.why = why;
  int a = 0;
  while (a + 1 < arrays && range[a].least >= b.least) a++;
  const gmg_array x = own_array_of_beta(p, part, a);
  return name_entry(e, name_of_beta(p, a), &x, &b);
}

/* The constant shift must be 0, or its quotients with the entries of A must be in the range of the type. There is no such lower
   bound for an array sigma, which may fall to 0 gradually. */
static gmg_status check_shift(const gmg_exec *e, const gmg_problem *p, entry_magnitude size)
{
  const gmg_type_traits *type = gmg_type_traits_of(p->type);
  const double most = type->largest / 64 * fmin(1, size.weakest), least = type->smallest * fmax(1, size.strongest);
  if (fabs(p->shift) > most)
    return gmg_fail(e->context, GMG_ERR_ARGUMENT, "problem.shift = %g: must be at most %.3g in size (so that its quotient with "
                    "%s = %g stays in the range of the type)", p->shift, most, size.name, size.weakest);
  if (p->shift != 0 && fabs(p->shift) < least)
    return gmg_fail(e->context, GMG_ERR_ARGUMENT, "problem.shift = %g: must be 0 or at least %.3g in size (so that its quotient "
                    "with %s = %g stays in the range of the type)", p->shift, least, size.name, size.strongest);
  return GMG_OK;
}

/* Without Dirichlet walls only shift, sigma and Robin walls keep A from being singular. If every row loses them in rounding, the
   computed A is singular although the problem is not: such problems are refused. The term of a Robin wall is in the rows beside it
   alone, divided by their mesh width. */
static gmg_status check_nearly_singular(const gmg_exec *e, const gmg_problem *p, const gmg_coefficients *found, double narrowest,
                                        entry_magnitude size)
{
  const double lost = gmg_type_traits_of(p->type)->epsilon / 2 * size.weakest, reaction = gmg_operator_shift(p) + found->sigma_most;
  double robin = 0;
  for (int a = 0; a < p->dim; a++)
    for (int side = 0; side < 2; side++) {
      if (p->bc[a][side] == GMG_DIRICHLET) return GMG_OK;
      if (p->bc[a][side] != GMG_ROBIN) continue;
      robin = fmax(robin, found->beta_most * p->robin[a][side][0] / p->robin[a][side][1] / narrowest);
    }
  if (gmg_needs_spectrum(p, found) || gmg_is_singular(p, found) || reaction >= lost || !(robin < lost)) return GMG_OK;
  return gmg_fail(e->context, GMG_ERR_UNSUPPORTED,
                  "problem.shift = %g, problem.sigma (at most %g) and Robin walls (%g in their rows) are lost in rounding "
                  "beside %s = %g, and nothing else fixes u: set them to 0 (the solution then has zero mean), or one of "
                  "them to at least %.3g",
                  p->shift, found->sigma_most, robin, size.name, size.weakest, lost);
}

gmg_status gmg_check_coefficients(const gmg_exec *e, const gmg_problem *whole, const gmg_problem *p, const gmg_part *part,
                                  gmg_coefficients *found)
{
  const double largest = gmg_type_traits_of(p->type)->largest / 64;
  double narrowest, widest;
  gmg_range r;
  *found = (gmg_coefficients){.beta_mean = {1, 1, 1}, .beta_least = 1, .beta_most = 1};
  find_widths(whole, &narrowest, &widest);
  GMG_TRY(check_beta(e, whole, p, part, found));
  entry_magnitude size = {"beta / h^2", found->beta_least / widest / widest, found->beta_most / narrowest / narrowest};
  GMG_TRY(measure(e, p, found, &size));
  GMG_TRY(check_shift(e, p, size));
  if (p->sigma) {
    const double most = fmin(fmin(largest, GMG_EXTREME), largest * size.weakest);
    const bounds b = {-most, most, "it and its quotient with beta / h^2 stay in the range of the type"};
    const gmg_array x = gmg_coefficients_at_unknowns(p, p->sigma);
    GMG_TRY(check_array(e, "sigma", &x, &b, &r));
    found->sigma_least = r.least, found->sigma_mean = r.mean, found->sigma_most = r.most;
  }
  return check_nearly_singular(e, p, found, narrowest, size);
}

gmg_status gmg_check_symmetry(const gmg_solver *s, const gmg_problem *p, const gmg_coefficients *found)
{
  const gmg_params *q = &s->params;
  const struct {
    int set;
    const char *name;
  } needs[] = {{q->accel == GMG_ACCEL_CG, "params.accel = GMG_ACCEL_CG"},
               {q->accel == GMG_ACCEL_FLEXIBLE_CG, "params.accel = GMG_ACCEL_FLEXIBLE_CG"},
               {q->symmetric, "params.symmetric = 1"},
               {q->coarse == GMG_COARSE_CG, "params.coarse = GMG_COARSE_CG"}};
  int has_walls = 0;
  if (!found->asymmetry[0]) return GMG_OK;
  for (int i = 0; i < 4; i++)
    if (needs[i].set)
      return gmg_fail(s->context, GMG_ERR_UNSUPPORTED, "%s: %s needs a symmetric matrix", found->asymmetry, needs[i].name);
  for (int a = 0; a < p->dim; a++) has_walls |= p->bc[a][0] != GMG_PERIODIC;
  if (gmg_is_singular(p, found) && (has_walls || gmg_operator_kind_of(p)->is_galerkin))
    return gmg_fail(s->context, GMG_ERR_UNSUPPORTED, "%s. The matrix is not symmetric, and it is singular, because all rows add up "
                    "to 0, shift included: gmg cannot make f compatible then", found->asymmetry);
  return GMG_OK;
}

/* Called after the coefficients of a level have been computed, because every operation with A reads their ghosts. */
static void exchange_coefficients(const gmg_exec *e, const gmg_operator *A)
{
  for (int a = 0; a < A->dim && A->face[0]; a++) gmg_exchange_faces(e, A, a, A->face[a]);
  if (A->sigma) gmg_exchange(e, A, A->sigma);
  for (int n = 0; A->box && n < 27; n++)
    if (A->box->array[n]) gmg_exchange(e, A, A->box->array[n]);
}

static void coarsen(const gmg_solver *s, const gmg_exec *e, const gmg_level *L, gmg_level *C)
{
  const gmg_coarsening_maps by = {.prolong = L->prolong, .restrict_ = L->restrict_, .average = L->average, .faces = L->faces_map};
  if (gmg_has_black_box(s)) gmg_black_box_coarsen(e, &L->A, &C->A, &L->black_box);
  else if (L->A.kind->coarsen) L->A.kind->coarsen(e, &L->A, by, &C->A);
  exchange_coefficients(e, &C->A);
}

void gmg_load_coefficients(gmg_solver *s, const gmg_problem *given)
{
  gmg_level *fine = s->finest;
  const gmg_operator_kind *kind = fine->A.kind;
  if (s->exec.dry) return;
  const gmg_problem with_ghosts = gmg_with_ghosts(s, given), *p = &with_ghosts;
  /* a face lies between two unknowns */
  if (p->beta) gmg_exchange(&s->exec, &fine->A, gmg_coefficients_at_unknowns(p, p->beta).values);
  if (kind->load) kind->load(&s->exec, p, &fine->faces, &fine->A);
  exchange_coefficients(&s->exec, &fine->A);
  gmg_coarsen_coefficients(s);
}

void gmg_coarsen_coefficients(gmg_solver *s)
{
  const gmg_operator_kind *kind = s->finest->A.kind;
  for (int l = 0; l < s->levels; l++) {
    if (l > 0 && l < s->outer_levels) coarsen(s, &s->exec, &s->outer[l - 1], &s->outer[l]);
    if (l >= s->outer_levels && l > 0) coarsen(s, s->levels_exec, &s->level[l - 1], &s->level[l]);
    if (l < s->outer_levels && kind->to_low) {
      kind->to_low(&s->exec, &s->outer[l].A, &s->level[l].A);
      exchange_coefficients(s->levels_exec, &s->level[l].A);
    }
  }
}
