/* The smallest eigenvalue of the operator, where shift or sigma is below zero: A must be positive definite. Called at create and
   update.

   It is found on every level, by conjugate gradients for the Rayleigh quotient (Bradbury, Fletcher 1966; Knyazev 2001) that a cycle
   preconditions. The cycle belongs to a solver for the same problem with a larger shift. That one is positive definite.

   Every coarse grid gets a shift of its own, with which its smallest eigenvalue is that of the finest. Coarse grids are a little
   softer, and where A is nearly singular, they would not be positive definite any more. */
#include "mg/cycle/cycle.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_STEPS = 60 };
/* Two steps in a row that change the eigenvalue by less of the margin end the search. */
static const double ENOUGH = 0.002;

/* A search for the smallest eigenvalue of a level. */
typedef struct {
  const gmg_solver *s; /* in one precision, all sigma + shift positive */
  int l;
  double added;             /* its shift over that of the caller's problem */
  double margin;            /* the smallest eigenvalue of the caller's problem; 0: it is being searched for */
  void *x, *ax, *p, *ap;    /* the eigenvector, the direction, and A times both */
  void *r, *last_r, *w;     /* A x - rho x, that of the last step, and what a cycle makes of r */
  void *rhs;                /* of the cycle */
} search;

static double inner(const search *f, const void *x, const void *y)
{
  return f->s->mg.grid->dot(f->s->mg.exec, &f->s->level[f->l].A, x, y).re;
}

static void apply(const search *f, const void *x, void *y)
{
  const gmg_operator *A = &f->s->level[f->l].A;
  gmg_exchange_one_layer(f->s->mg.exec, A, x);
  f->s->mg.op[f->l]->apply(f->s->mg.exec, A, x, y);
}

static void precondition(const search *f, const void *r, void *z)
{
  const size_t cells = f->s->level[f->l].A.cells;
  f->s->mg.exec->vector->copy(f->s->mg.exec, cells, r, f->rhs); /* the coarse solver may change its right-hand side */
  gmg_exchange(f->s->mg.exec, &f->s->level[f->l].A, f->rhs);
  (void)gmg_cycle(&f->s->mg, f->l, f->rhs, z, f->s->params.cycle, GMG_FROM_ZERO, NULL);
}

/* The step t for which the Rayleigh quotient of x + t p is least: a root of a quadratic equation. The products are those of
   x and p, with A and without. */
static double best_step(double xx, double xp, double pp, double xax, double xap, double pap)
{
  const double a = pap * xp - xap * pp, b = pap * xx - xax * pp, c = xap * xx - xax * xp;
  return -2 * c / (b + sqrt(fmax(0, b * b - 4 * a * c)));
}

/* p = w + beta p with the beta of Polak and Ribiere (1969), which forgets p where it does not help; and ap = A p. before: <w, r> of
   the last step, or 0. Returns that of this step. */
static double set_direction(const search *f, double before)
{
  const gmg_exec *e = f->s->mg.exec;
  const size_t cells = f->s->level[f->l].A.cells;
  const double now = inner(f, f->w, f->r), beta = before > 0 ? (now - inner(f, f->w, f->last_r)) / before : 0;
  if (beta > 0) e->vector->xpay(e, cells, f->w, beta, f->p);
  else e->vector->copy(e, cells, f->w, f->p);
  apply(f, f->p, f->ap);
  return now;
}

static void swap(void **x, void **y)
{
  void *z = *x;
  *x = *y, *y = z;
}

/* The smallest eigenvalue of a level of the solver. The first x is positive and smooth, as the eigenvector is. */
static double smallest_of_level(search *f)
{
  const gmg_exec *e = f->s->mg.exec;
  const size_t cells = f->s->level[f->l].A.cells;
  e->vector->fill(e, cells, 1, f->r);
  precondition(f, f->r, f->x);
  apply(f, f->x, f->ax);
  double xx = inner(f, f->x, f->x), xax = inner(f, f->x, f->ax), rho = xax / xx, wr = 0;
  int small = 0;
  for (int k = 0; k < MOST_STEPS; k++) {
    swap(&f->r, &f->last_r);
    e->vector->copy(e, cells, f->ax, f->r);
    e->vector->axpy(e, cells, -rho, f->x, f->r);
    precondition(f, f->r, f->w);
    wr = set_direction(f, wr);
    const double xp = inner(f, f->x, f->p), pp = inner(f, f->p, f->p);
    const double t = best_step(xx, xp, pp, xax, inner(f, f->x, f->ap), inner(f, f->p, f->ap));
    if (!isfinite(t)) break; /* x is the eigenvector, or A x is not finite */
    e->vector->axpy(e, cells, t, f->p, f->x);
    e->vector->axpy(e, cells, t, f->ap, f->ax);
    const double before = rho;
    xx = inner(f, f->x, f->x), xax = inner(f, f->x, f->ax), rho = xax / xx;
    if (!(rho < before)) return before; /* only rounding is left */
    small = before - rho <= ENOUGH * fabs(f->margin != 0 ? f->margin : rho - f->added) ? small + 1 : 0;
    if (small == 2) break;
  }
  return rho;
}

/* The problem with a larger shift, for which A is positive definite and well conditioned. added: the difference */
static gmg_problem with_larger_shift(const gmg_problem *p, const gmg_coefficients *found, double *added)
{
  gmg_problem larger = *p;
  double margin = INFINITY;
  for (int a = 0; a < p->dim; a++) {
    const double wave = M_PI / gmg_axis_spec_of(p, a).length;
    margin = fmin(margin, (gmg_operator_kind_of(p)->measure ? found->beta_mean[a] : found->beta_least) * wave * wave);
  }
  larger.size = sizeof larger;
  larger.shift += margin - (gmg_operator_shift(p) + found->sigma_least);
  *added = larger.shift - p->shift;
  return larger;
}

static gmg_status create_fields(search *f, gmg_exec *e)
{
  void **const fields[] = {&f->x, &f->ax, &f->p, &f->ap, &f->r, &f->last_r, &f->w, &f->rhs};
  for (int i = 0; i < 8; i++) GMG_TRY(gmg_create_field(e, "search for the smallest eigenvalue", f->s->finest->A.cells, fields[i]));
  return GMG_OK;
}

/* Searches on all levels on which the shift is a number of its own. The others are Galerkin products, whose eigenvalues are not
   smaller than those of finer levels. */
static gmg_status search_levels(gmg_solver *s, double added, gmg_spectrum *to)
{
  search f = {.s = s, .added = added};
  GMG_TRY(create_fields(&f, &s->exec));
  for (f.l = 0; f.l < s->levels && (f.l == 0 || !s->level[f.l].A.kind->is_galerkin); f.l++) {
    const double smallest = smallest_of_level(&f);
    if (f.l == 0) to->smallest = f.margin = smallest - added;
    to->correction[f.l] = to->smallest + added - smallest;
  }
  for (int l = f.l; l < GMG_MAX_LEVELS; l++) to->correction[l] = to->correction[f.l - 1];
  return gmg_status_or_failure(s, GMG_OK);
}

static gmg_status refuse(const gmg_solver *s, const gmg_problem *p, const gmg_coefficients *found)
{
  const double smallest = found->spectrum.smallest;
  char what[120] = "";
  if (p->sigma) snprintf(what, sizeof what, "problem.sigma = %g .. %g, ", found->sigma_least, found->sigma_most);
  const double sum = gmg_operator_shift(p) - p->shift;
  if (p->stencil) snprintf(what, sizeof what, "problem.stencil: its entries add up to %g, ", sum);
  return gmg_fail(s->context, GMG_ERR_UNSUPPORTED, "%sproblem.shift = %g: the matrix is not positive definite, its smallest "
                  "eigenvalue is about %.4g. The shift must be above %.4g", what, p->shift, smallest, p->shift - smallest);
}

gmg_status gmg_find_spectrum(const gmg_solver *s, const gmg_problem *p, gmg_coefficients *found)
{
  found->spectrum = (gmg_spectrum){.smallest = NAN};
  if (!gmg_needs_spectrum(p, found)) return GMG_OK;
  if (s->parts)
    return gmg_fail(s->context, GMG_ERR_UNSUPPORTED, "problem.shift = %g, problem.sigma at least %g: row sums below zero are not "
                    "available in several processes yet", p->shift, found->sigma_least);
  if (found->asymmetry[0])
    return gmg_fail(s->context, GMG_ERR_UNSUPPORTED, "%s: row sums below zero, shift included, need a symmetric matrix",
                    found->asymmetry);
  double added;
  const gmg_problem larger = with_larger_shift(p, found, &added);
  gmg_params params = s->params;
  params.size = sizeof params, params.precision = GMG_PRECISION_SAME, params.report_level_times = 0;
  params.over_correction = 1; /* otherwise coarse levels would not have the eigenvalues of their grids */
  gmg_solver *helper = calloc(1, sizeof *helper);
  if (!helper) return gmg_fail(s->context, GMG_ERR_MEMORY, "search for the smallest eigenvalue could not be allocated");
  gmg_status status = gmg_status_or_failure(helper, gmg_solver_build(helper, s->context, &larger, &params, 0));
  if (status == GMG_OK) status = search_levels(helper, added, &found->spectrum);
  gmg_solver_release(helper);
  free(helper);
  if (status != GMG_OK) return status;
  return found->spectrum.smallest > 0 ? GMG_OK : refuse(s, p, found);
}
