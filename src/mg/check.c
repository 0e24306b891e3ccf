/* Checks of gmg_problem and gmg_params before anything is built. Each kind of field has a table. An error text names the field, its
   value and the allowed range. Called by solver.c and update.c. */
#include "solver.h"

#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>

typedef struct {
  const char *name; /* with its struct: "problem.type" */
  int value;
  const gmg_names *names;
} enum_field;

static gmg_status check_enums(gmg_context *c, const enum_field *f, size_t count)
{
  for (size_t i = 0; i < count; i++) GMG_TRY(gmg_check_enumerator(c, f[i].name, f[i].value, f[i].names));
  return GMG_OK;
}

#define COUNT(table) (sizeof(table) / sizeof *(table))

/* Checks the mesh widths: h, or the differences of positions. */
static gmg_status check_widths(gmg_context *c, const gmg_problem *p, int a, double least, double most)
{
  const gmg_axis_spec spec = gmg_axis_spec_of(p, a);
  for (size_t i = 0; i <= spec.mesh && spec.coord; i++) {
    const double x = spec.coord[i], width = i ? x - spec.coord[i - 1] : 0;
    if (!isfinite(x)) return gmg_fail(c, GMG_ERR_ARGUMENT, "problem.coord[%d][%zu] = %g: must be finite", a, i, x);
    if (i && !(width > 0))
      return gmg_fail(c, GMG_ERR_ARGUMENT, "problem.coord[%d][%zu] = %g: must be above the position before it, %g", a, i, x,
                      spec.coord[i - 1]);
    if (i && (!(1 / (width * width) < most) || !(1 / (width * width) > least)))
      return gmg_fail(c, GMG_ERR_ARGUMENT, "problem.coord[%d][%zu] = %g: the width %g must keep 1/h^2 between %g and %g", a, i,
                      x, width, least, most);
  }
  const double h = p->h[a], coupling = 1 / (h * h);
  if (spec.coord) return GMG_OK;
  if (!(h > 0) || !isfinite(h))
    return gmg_fail(c, GMG_ERR_ARGUMENT, "problem.h[%d] = %g: must be positive and finite", a, h);
  if (!(coupling < most) || !(coupling > least))
    return gmg_fail(c, GMG_ERR_ARGUMENT, "problem.h[%d] = %g: must keep 1/h^2 between %g and %g", a, h, least, most);
  return GMG_OK;
}

static gmg_status check_axis(gmg_context *c, const gmg_problem *p, int a)
{
  const gmg_type_traits *type = gmg_type_traits_of(p->type);
  if (p->n[a] < 1 || p->n[a] > INT_MAX - 64)
    return gmg_fail(c, GMG_ERR_ARGUMENT, "problem.n[%d] = %zu: must be from 1 to %d", a, p->n[a], INT_MAX - 64);
  const double most = fmin(type->largest / 64, GMG_EXTREME), least = fmax(type->smallest, 1 / GMG_EXTREME);
  for (int side = 0; side < 2; side++) {
    char field[40];
    snprintf(field, sizeof field, "problem.bc[%d][%d]", a, side);
    GMG_TRY(gmg_check_enumerator(c, field, (int)p->bc[a][side], &gmg_bc_names));
  }
  if ((p->bc[a][0] == GMG_PERIODIC) != (p->bc[a][1] == GMG_PERIODIC))
    return gmg_fail(c, GMG_ERR_ARGUMENT, "problem.bc[%d][%d] = %s: GMG_PERIODIC must be on both sides of an axis", a,
                    p->bc[a][0] == GMG_PERIODIC, gmg_name_of(&gmg_bc_names, (int)p->bc[a][p->bc[a][0] == GMG_PERIODIC]));
  GMG_TRY(check_widths(c, p, a, least, most));
  const gmg_axis_spec spec = gmg_axis_spec_of(p, a);
  const double h = spec.length / (double)(spec.mesh ? spec.mesh : 1);
  for (int side = 0; side < 2; side++) {
    const double *ab = p->robin[a][side];
    if (p->bc[a][side] != GMG_ROBIN) continue;
    if (!(ab[0] >= 0) || !(ab[1] >= 0) || !(ab[0] < GMG_EXTREME) || !(ab[1] < GMG_EXTREME) || ab[0] + ab[1] == 0)
      return gmg_fail(c, GMG_ERR_ARGUMENT, "problem.robin[%d][%d] = {%g, %g}: both must be >= 0 and below %g, one of them > 0",
                      a, side, ab[0], ab[1], GMG_EXTREME);
    if (p->centering == GMG_VERTEX && ab[1] == 0)
      return gmg_fail(c, GMG_ERR_ARGUMENT,
                      "problem.robin[%d][%d] = {%g, 0}: on vertices that is a Dirichlet wall, use GMG_DIRICHLET", a, side,
                      ab[0]);
    if (p->centering == GMG_VERTEX && !(ab[0] / ab[1] / h < most / 4))
      return gmg_fail(c, GMG_ERR_ARGUMENT, "problem.robin[%d][%d] = {%g, %g}: a / (b h) leaves the range of the type", a, side,
                      ab[0], ab[1]);
  }
  if (p->beta_face[a] && p->beta)
    return gmg_fail(c, GMG_ERR_ARGUMENT, "problem.beta_face[%d] = %p: problem.beta is set too, one of them must be NULL", a,
                    p->beta_face[a]);
  if (!p->beta_face[a] != !p->beta_face[0])
    return gmg_fail(c, GMG_ERR_ARGUMENT, "problem.beta_face[%d] = NULL, problem.beta_face[%d] = %p: set for all axes or for none",
                    p->beta_face[a] ? 0 : a, p->beta_face[a] ? a : 0, p->beta_face[p->beta_face[a] ? a : 0]);
  return GMG_OK;
}

gmg_status gmg_check_grid(gmg_context *c, const gmg_problem *given, gmg_problem *resolved, gmg_stencil *stencil)
{
  if (!given) return gmg_fail(c, GMG_ERR_ARGUMENT, "problem is NULL");
  gmg_problem copied;
  GMG_TRY(gmg_take_struct(c, "problem", given, sizeof copied, &copied));
  if (copied.stencil) {
    GMG_TRY(gmg_take_struct(c, "problem.stencil", copied.stencil, sizeof *stencil, stencil));
    copied.stencil = stencil;
  }
  *resolved = gmg_problem_resolved(&copied);
  const gmg_problem *p = resolved;
  if (p->dim < 1 || p->dim > 3) return gmg_fail(c, GMG_ERR_ARGUMENT, "problem.dim = %d: must be from 1 to 3", p->dim);
  const enum_field enums[] = {{"problem.centering", (int)p->centering, &gmg_centering_names},
                              {"problem.type", (int)p->type, &gmg_type_names}};
  GMG_TRY(check_enums(c, enums, COUNT(enums)));
  size_t cells = 1;
  for (int a = 0; a < p->dim; a++) {
    GMG_TRY(check_axis(c, p, a));
    /* the bytes of all fields, with ghosts, must not overflow size_t */
    if (p->n[a] + 2 > SIZE_MAX / 1024 / cells)
      return gmg_fail(c, GMG_ERR_ARGUMENT, "problem.n[%d] = %zu: the number of bytes overflows", a, p->n[a]);
    cells *= p->n[a] + 2;
  }
  return GMG_OK;
}

gmg_status gmg_check_problem(gmg_context *c, const gmg_problem *given, gmg_problem *resolved, gmg_stencil *stencil)
{
  GMG_TRY(gmg_check_grid(c, given, resolved, stencil));
  const gmg_problem *p = resolved;
  if (!isfinite(p->shift)) return gmg_fail(c, GMG_ERR_ARGUMENT, "problem.shift = %g: must be finite", p->shift);
  if (fabs(p->shift) > gmg_type_traits_of(p->type)->largest / 64)
    return gmg_fail(c, GMG_ERR_ARGUMENT, "problem.shift = %g: leaves the range of the type", p->shift);
  if (!gmg_is_shared(c)) GMG_TRY(gmg_check_layouts(c, p)); /* otherwise the part must be known first */
  const gmg_operator_kind *kind = gmg_operator_kind_of(p);
  return kind->check ? kind->check(c, p) : GMG_OK;
}

static gmg_status check_integer(gmg_context *c, const gmg_option *o, int value)
{
  static const char *const or_else[2][2] = {{"", ", or 0 (chosen by gmg)"}, {", or GMG_NONE", ", GMG_NONE, or 0 (chosen by gmg)"}};
  const int may_be_none = o->type == GMG_OPTION_COUNT;
  if (value == 0 || (value >= o->least && value <= o->most) || (may_be_none && value == GMG_NONE)) return GMG_OK;
  return gmg_fail(c, GMG_ERR_ARGUMENT, "params.%s = %d: must be from %.0f to %.0f%s", o->name, value, o->least, o->most,
                  or_else[may_be_none][o->least > 0]);
}

static gmg_status check_option(gmg_context *c, const gmg_params *p, const gmg_option *o)
{
  const void *member = (const char *)p + o->offset;
  char field[40];
  if (o->type == GMG_OPTION_SIZES) return GMG_OK;
  if (o->type == GMG_OPTION_INT || o->type == GMG_OPTION_COUNT) return check_integer(c, o, *(const int *)member);
  if (o->type == GMG_OPTION_ENUM) {
    snprintf(field, sizeof field, "params.%s", o->name);
    return gmg_check_enumerator(c, field, *(const int *)member, o->names);
  }
  const double value = *(const double *)member;
  if (!(value >= o->least && value < o->most))
    return gmg_fail(c, GMG_ERR_ARGUMENT, "params.%s = %g: must be at least %g and below %.8g", o->name, value, o->least, o->most);
  return GMG_OK;
}

/* Checks the parameters of all built-in smoothers, not only of the one in use. */
static gmg_status check_options(gmg_context *c, const gmg_params *p)
{
  const gmg_builtin_smoother *b;
  for (const gmg_option *o = gmg_cycle_options; o->name; o++) GMG_TRY(check_option(c, p, o));
  for (int i = 0; (b = gmg_builtin_at(i)) != NULL; i++)
    for (const gmg_option *o = b->options; o && o->name; o++) GMG_TRY(check_option(c, p, o));
  return GMG_OK;
}

/* A resolved count in words. */
typedef struct {
  char text[24];
} count_text;
static count_text text_of(int count)
{
  count_text t = {"GMG_NONE"};
  if (count) snprintf(t.text, sizeof t.text, "%d", count);
  return t;
}

/* Checks what a symmetric cycle requires. The text names the parameter that requested it. */
static gmg_status check_symmetric(gmg_context *c, const gmg_params *p)
{
  const char *asked = p->accel == GMG_ACCEL_CG ? "params.accel = GMG_ACCEL_CG" : "params.symmetric = 1";
  const unsigned traits = gmg_smoother_traits(p, c->threads);
  if (!p->symmetric && p->accel != GMG_ACCEL_CG) return GMG_OK;
  if (p->direct == GMG_DIRECT_ALWAYS) return GMG_OK; /* the inverse is symmetric */
  if (p->pre != p->post)
    return gmg_fail(c, GMG_ERR_ARGUMENT, "%s needs a symmetric cycle, but params.pre = %s and params.post = %s differ", asked,
                    text_of(p->pre).text, text_of(p->post).text);
  if (p->restriction == GMG_RESTRICT_AVERAGE)
    return gmg_fail(c, GMG_ERR_ARGUMENT, "%s needs a symmetric cycle, but params.restriction = GMG_RESTRICT_AVERAGE", asked);
  if (p->cycle == GMG_CYCLE_F)
    return gmg_fail(c, GMG_ERR_ARGUMENT, "%s needs a symmetric cycle, but params.cycle = GMG_CYCLE_F is not symmetric", asked);
  if (!(traits & GMG_SMOOTHER_ADJOINT) || !(traits & GMG_SMOOTHER_LINEAR))
    return gmg_fail(c, GMG_ERR_ARGUMENT,
                    "%s needs a symmetric cycle, but params.smoother = \"%s\" has no adjoint under these parameters%s",
                    asked, gmg_display_name(p->smoother),
                    p->accel == GMG_ACCEL_CG ? "; GMG_ACCEL_FLEXIBLE_CG works with any smoother" : "");
  return GMG_OK;
}

/* Checks what black box coarsening requires. ops: of the smoother, for its coarse levels. */
static gmg_status check_black_box(gmg_context *c, const gmg_problem *problem, const gmg_params *p, const gmg_smoother_ops *ops)
{
  static const char *const asked = "params.coarsening = GMG_COARSENING_BLACK_BOX";
  const char *why_not = gmg_black_box_refuses(problem);
  if (why_not) return gmg_fail(c, GMG_ERR_UNSUPPORTED, "%s: %s", asked, why_not);
  if (p->fmg > 0) return gmg_fail(c, GMG_ERR_UNSUPPORTED, "params.fmg = %d: must be GMG_NONE with %s", p->fmg, asked);
  if (p->restriction == GMG_RESTRICT_AVERAGE)
    return gmg_fail(c, GMG_ERR_ARGUMENT, "params.restriction = GMG_RESTRICT_AVERAGE: %s restricts by the adjoint", asked);
  if (p->coarse == GMG_COARSE_TENSOR)
    return gmg_fail(c, GMG_ERR_UNSUPPORTED, "params.coarse = GMG_COARSE_TENSOR: the coarsest grid of %s is not separable", asked);
  if (!ops || !ops->sweep)
    return gmg_fail(c, GMG_ERR_UNSUPPORTED, "params.smoother = \"%s\" does not take the coarse levels of %s, each with a %s",
                    gmg_display_name(p->smoother), asked, gmg_box_arrays.name);
  return GMG_OK;
}

static gmg_status check_over_correction(gmg_context *c, const gmg_problem *problem, const gmg_params *p)
{
  const char *why_not = gmg_no_over_correction(problem, p);
  if (p->over_correction == 0 || p->over_correction == 1 || !why_not) return GMG_OK;
  return gmg_fail(c, GMG_ERR_UNSUPPORTED, "params.over_correction = %g: must be 0 (chosen by gmg) or 1 with %s", p->over_correction,
                  why_not);
}

/* Whether gmg may choose the solver of the coarsest grid. It may not if the caller has set `direct`, or says how cycles are done:
   by the cycle, the acceleration, the smoother or the hierarchy. */
static int may_end_directly(const gmg_params *p)
{
  if (p->direct != GMG_DIRECT_AUTO || p->coarse != GMG_COARSE_AUTO || p->coarse_cells || p->max_levels || p->coarsening) return 0;
  return p->cycle == GMG_CYCLE_AUTO && p->accel == GMG_ACCEL_AUTO && !p->symmetric && gmg_is_default_smoother(p->smoother);
}

/* Whether gmg may choose a direct solve instead of cycles. It may not if the caller asks for full multigrid, or for cycles without
   measured residuals. */
static int may_be_direct(const gmg_params *p) { return may_end_directly(p) && p->fmg == 0 && p->check_every != GMG_NONE; }

/* Replaces AUTO in `direct` and `coarse` by the direct solver where it is faster, and sets what follows from a direct solve. */
static gmg_status choose_direct(gmg_context *c, const gmg_problem *problem, gmg_params *p)
{
  static const size_t one[3] = {1, 1, 1};
  const gmg_bottom_ops *tensor = gmg_coarsest_of(GMG_COARSE_TENSOR);
  const char *why_not = tensor->refuses(problem);
  const int always = p->direct == GMG_DIRECT_ALWAYS;
  if (always && p->coarse != GMG_COARSE_AUTO && p->coarse != GMG_COARSE_TENSOR)
    return gmg_fail(c, GMG_ERR_ARGUMENT, "params.direct = GMG_DIRECT_ALWAYS needs GMG_COARSE_TENSOR, but params.coarse = %s",
                    gmg_name_of(&gmg_coarse_names, (int)p->coarse));
  if (why_not && (always || p->coarse == GMG_COARSE_TENSOR))
    return gmg_fail(c, GMG_ERR_UNSUPPORTED, "params.%s: %s",
                    always ? "direct = GMG_DIRECT_ALWAYS" : "coarse = GMG_COARSE_TENSOR", why_not);
  const int alone = !gmg_is_shared(c);
  if (!why_not && alone && may_be_direct(p) && tensor->is_faster(c->backend, problem->type, problem->dim, problem->n, 1))
    p->direct = GMG_DIRECT_ALWAYS;
  if (!why_not && may_end_directly(p) && tensor->is_faster(c->backend, problem->type, problem->dim, one, 0))
    p->coarse = GMG_COARSE_TENSOR;
  if (p->direct != GMG_DIRECT_ALWAYS) return GMG_OK;
  p->coarse = GMG_COARSE_TENSOR;
  p->max_levels = 1;
  if (p->accel == GMG_ACCEL_AUTO) p->accel = GMG_ACCEL_NONE;
  return GMG_OK;
}

gmg_status gmg_check_params(gmg_context *c, const gmg_problem *problem, const gmg_params *given, gmg_params *copied,
                            gmg_params *resolved)
{
  if (!given) return gmg_fail(c, GMG_ERR_ARGUMENT, "params is NULL");
  GMG_TRY(gmg_take_struct(c, "params", given, sizeof *copied, copied));
  GMG_TRY(check_options(c, copied));
  gmg_params chosen = *copied;
  GMG_TRY(choose_direct(c, problem, &chosen));
  *resolved = gmg_params_resolved(&chosen, problem);
  const gmg_params *p = resolved;
  if (p->pre + p->post == 0)
    return gmg_fail(c, GMG_ERR_ARGUMENT, "params.pre = GMG_NONE and params.post = GMG_NONE: at least one smoothing step is needed");
  if (p->line_axes >> problem->dim)
    return gmg_fail(c, GMG_ERR_ARGUMENT, "params.line_axes = %d: must be at most %d for problem.dim = %d", p->line_axes,
                    (1 << problem->dim) - 1, problem->dim);
  GMG_TRY(check_over_correction(c, problem, p));
  const gmg_exec e = gmg_exec_make(c, problem->type, 1);
  const gmg_operator_kind *kind = gmg_operator_kind_of(problem);
  const gmg_smoother_ops *ops = gmg_smoother_ops_of(p, &e, kind);
  if (!kind->ops[c->backend][problem->type])
    return gmg_fail(c, GMG_ERR_UNSUPPORTED, "problem: a %s has no functions for this context and problem.type", kind->name);
  if (kind != &gmg_seven_point && !ops)
    return gmg_fail(c, GMG_ERR_UNSUPPORTED, "params.smoother = \"%s\" does not take a problem with a %s",
                    gmg_display_name(p->smoother), kind->name);
  GMG_TRY(gmg_check_sweep(c, ops, p));
  if (p->coarsening == GMG_COARSENING_BLACK_BOX && p->direct != GMG_DIRECT_ALWAYS)
    GMG_TRY(check_black_box(c, problem, p, gmg_smoother_ops_of(p, &e, &gmg_box_arrays)));
  return check_symmetric(c, p);
}
