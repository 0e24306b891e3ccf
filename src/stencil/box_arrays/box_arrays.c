/* Variable box stencils: an array for each entry. Their table, checks, and entries on all levels. Called through gmg_operator_kind.

   On every level the entries contain walls and shift. On vertices, an entry across a Dirichlet wall is dropped, and one across a
   Neumann wall is added to the entry on this side. On cells it is subtracted from the centre, or added to it. So
   kernels have no conditions on walls. The shift is part of the centre, because the product of restriction, shift and prolongation
   is a mass matrix, which is not a shift.

   Coarse operators are Galerkin products: restriction times A times prolongation. On axes with an even number of intervals a
   product of box stencils is a box stencil. Axes with an odd number of intervals greater than 1 are not coarsened. */
#include "core/backend.h"
#include "core/names.h"
#include "stencil/box/problem.h"
#include "values.h"

#include <math.h>
#include <stdio.h>

enum { CENTRE = 13 };

/* A level's entries, and the range of eigenvalues of D^-1 A at high frequencies. */
typedef struct {
  gmg_box box;
  double lowest, highest;
} entries;

extern const gmg_box_values_ops gmg_box_values_host_f32, gmg_box_values_host_f64, gmg_box_values_cuda_f32, gmg_box_values_cuda_f64;

static const gmg_box_values_ops *values_of(const gmg_exec *e)
{
  static const gmg_box_values_ops *const ops[2][2] = {
      [GMG_BACKEND_HOST] = {[GMG_F32] = &gmg_box_values_host_f32, [GMG_F64] = &gmg_box_values_host_f64},
      [GMG_BACKEND_CUDA] = {[GMG_F32] = GMG_ON_CUDA(&gmg_box_values_cuda_f32), [GMG_F64] = GMG_ON_CUDA(&gmg_box_values_cuda_f64)}};
  return ops[e->context->backend][e->type];
}

static const double *constant_entries(const gmg_problem *p) { return &p->stencil->entry[0][0][0]; }
static const void *const *arrays_of(const gmg_problem *p) { return &p->stencil->array[0][0][0]; }
static int is_used(int dim, int e) { return (dim > 2 || e / 9 == 1) && (dim > 1 || e / 3 % 3 == 1); }

static int applies_to(const gmg_problem *p)
{
  for (int e = 0; p->stencil && e < 27; e++)
    if (arrays_of(p)[e]) return 1;
  return 0;
}

static gmg_given_box given_of(const gmg_problem *p)
{
  const gmg_type_traits *type = gmg_type_traits_of(p->type);
  gmg_given_box g = {.layout = gmg_coefficients_at_unknowns(p, NULL).layout, .dim = p->dim, .shift = p->shift,
                     .least = fmax(type->smallest, 1e-100), .most = fmin(type->largest / 64, 1e100), .epsilon = type->epsilon,
                     .most_over_centre = GMG_MOST_OVER_CENTRE, .most_over_rest = INFINITY};
  for (int a = 0; a < p->dim; a++) {
    g.wraps[a] = p->bc[a][0] == GMG_PERIODIC;
    for (int side = 0; side < 2; side++) {
      const int cells = p->centering == GMG_CELL && !g.wraps[a], reflects = p->bc[a][side] == GMG_NEUMANN;
      g.mirrors[a][side] = !cells && reflects, g.folds[a][side] = cells ? (reflects ? 1 : -1) : 0;
    }
  }
  for (int e = 0; e < 27; e++) {
    g.array[e] = gmg_coefficients_at_unknowns(p, arrays_of(p)[e]).values;
    g.entry[e] = constant_entries(p)[e];
  }
  return g;
}

/* --- checks -------------------------------------------------------------------------------------------------------------- */

#define PLACE(e) (e) / 9, (e) / 3 % 3, (e) % 3

static gmg_status check(gmg_context *c, const gmg_problem *p)
{
  const gmg_type_traits *type = gmg_type_traits_of(p->type);
  const double most = fmin(type->largest / 64, 1e100);
  GMG_TRY(gmg_box_check_problem(c, p));
  for (int e = 0; e < 27; e++) {
    const double x = constant_entries(p)[e];
    const void *array = arrays_of(p)[e];
    if (!is_used(p->dim, e) && (x != 0 || array))
      return gmg_fail(c, GMG_ERR_ARGUMENT, "problem.stencil->array[%d][%d][%d] = %p, entry %g: must be NULL and 0, problem.dim = "
                      "%d has no such neighbour", PLACE(e), array, x, p->dim);
    if (array && x != 0)
      return gmg_fail(c, GMG_ERR_ARGUMENT, "problem.stencil->entry[%d][%d][%d] = %g: must be 0, because array[%d][%d][%d] = %p "
                      "holds the entries of this neighbour", PLACE(e), x, PLACE(e), array);
    if (!(fabs(x) < most))
      return gmg_fail(c, GMG_ERR_ARGUMENT, "problem.stencil->entry[%d][%d][%d] = %g: must be below %.3g in size", PLACE(e), x,
                      most);
  }
  return GMG_OK;
}

/* The first bad row among the rows first .. first + count - 1, one of which is bad. */
static size_t first_bad(const gmg_exec *e, const gmg_given_box *g, size_t first, size_t count)
{
  while (count > 1) {
    const size_t half = count / 2;
    if (values_of(e)->examine(e, g, first, half).bad > 0) count = half;
    else first += half, count -= half;
  }
  return first;
}

#define WHERE "problem.stencil->%s[%d][%d][%d] = %g in row (%zu, %zu, %zu)"
#define HERE arrays_of(p)[x.entry] ? "array" : "entry", PLACE(x.entry), x.value, at[0], at[1], at[2]

static gmg_status refuse_row(const gmg_exec *e, const gmg_problem *p, const gmg_given_box *g, size_t row)
{
  const gmg_row_finding x = values_of(e)->explain(e, g, row);
  size_t at[3];
  gmg_context *c = e->context;
  gmg_indices_of(row, p->n, at);
  switch (x.fault) {
    case GMG_ROW_VALUE: return gmg_fail(c, GMG_ERR_ARGUMENT, WHERE ": must be finite and below %.3g in size", HERE, g->most);
    case GMG_ROW_CENTRE:
      return gmg_fail(c, GMG_ERR_ARGUMENT, WHERE ": the entry of the unknown itself must be positive, at least %.3g", HERE,
                      g->least);
    case GMG_ROW_INDEFINITE:
      return gmg_fail(c, GMG_ERR_UNSUPPORTED, WHERE ": too large beside the centre of the row of this neighbour, %g: the matrix is "
                      "not positive definite", HERE, x.other);
    case GMG_ROW_QUOTIENT:
      return gmg_fail(c, GMG_ERR_ARGUMENT, WHERE ": must be at most %g times as large as the diagonal, %g", HERE,
                      g->most_over_centre, x.other);
    default: return gmg_fail(c, GMG_ERR_ARGUMENT, "problem.stencil changed while it was read");
  }
}

/* Refuses bad rows. Only if rows are bad because they are not symmetric, describes the first of these, and examines all of them
   again. */
static gmg_status check_rows(const gmg_exec *e, const gmg_problem *p, gmg_given_box *g, gmg_row_totals *all,
                             char asymmetry[GMG_ASYMMETRY_TEXT])
{
  const size_t *n = p->n, rows = n[0] * n[1] * n[2];
  *all = values_of(e)->examine(e, g, 0, rows);
  if (all->bad == 0) return GMG_OK;
  size_t row = first_bad(e, g, 0, rows);
  const gmg_row_finding x = values_of(e)->explain(e, g, row);
  if (x.fault != GMG_ROW_UNSYMMETRIC) return refuse_row(e, p, g, row);
  size_t at[3];
  gmg_indices_of(row, n, at);
  snprintf(asymmetry, GMG_ASYMMETRY_TEXT, WHERE ": differs from what the row of this neighbour, at distance (%d, %d, %d), has for "
           "this row, %g", HERE, x.entry % 3 - 1, x.entry / 3 % 3 - 1, x.entry / 9 - 1, x.other);
  g->takes_unsymmetric = 1;
  *all = values_of(e)->examine(e, g, 0, rows);
  return all->bad == 0 ? GMG_OK : refuse_row(e, p, g, first_bad(e, g, 0, rows));
}

/* A penalty: a large centre, which holds the unknown. On vertices a coarse unknown may see it through interpolation alone. Coarse
   rows then contain the same large number for each of their neighbours, and where the rest of the row is less than its rounding,
   they are singular. Describes the first such row, for the problem's type or else for that of mixed precision. */
static void find_penalty(const gmg_exec *e, const gmg_problem *p, const gmg_given_box *given, gmg_range diagonal,
                         char penalty[GMG_PENALTY_TEXT])
{
  const gmg_type types[2] = {p->type, gmg_type_traits_of(p->type)->narrower};
  const size_t rows = p->n[0] * p->n[1] * p->n[2];
  for (int t = 0; t < 2 && !penalty[0] && p->centering == GMG_VERTEX; t++) {
    gmg_given_box g = *given;
    g.most_over_rest = 1 / gmg_type_traits_of(types[t])->epsilon;
    if (diagonal.most <= g.most_over_rest * diagonal.least || values_of(e)->examine(e, &g, 0, rows).bad == 0) continue;
    const size_t row = first_bad(e, &g, 0, rows);
    const gmg_row_finding x = values_of(e)->explain(e, &g, row);
    size_t at[3];
    gmg_indices_of(row, p->n, at);
    snprintf(penalty, GMG_PENALTY_TEXT, WHERE ": so large that coarse grids in %s lose the other entries of the row, %g in sum, in "
             "rounding%s", HERE, gmg_name_of(&gmg_type_names, (int)types[t]), x.other,
             types[t] == p->type ? "" : " (not with params.precision = GMG_PRECISION_SAME)");
  }
}

/* The mean of an entry over the rows that have this neighbour; 0: no row has it. */
static double mean_of(const gmg_exec *e, const gmg_given_box *g, int entry)
{
  gmg_layout part = g->layout;
  const int to[3] = {entry % 3, entry / 3 % 3, entry / 9};
  size_t start[3] = {0, 0, 0};
  for (int a = 0; a < 3; a++) {
    const int side = to[a] / 2;
    if (to[a] == 1 || g->wraps[a] || g->mirrors[a][side]) continue;
    part.n[a]--;
    if (side == 0) start[a] = 1;
  }
  if (part.n[0] * part.n[1] * part.n[2] == 0) return 0;
  if (!g->array[entry]) return g->entry[entry];
  const char *const values = g->array[entry];
  return gmg_array_range(e, part, values + gmg_offset(g->layout, start[0], start[1], start[2]) * e->real_size).mean;
}

/* Minus the mean sum of the entries towards one side of each axis, as the mean of both sides. */
static void find_couplings(const gmg_exec *e, const gmg_problem *p, const gmg_given_box *g, double beta[3])
{
  double coupling[3] = {0, 0, 0};
  for (int n = 0; n < 27; n++) {
    const int to[3] = {n % 3, n / 3 % 3, n / 9};
    if (n == CENTRE || !is_used(p->dim, n)) continue;
    const double mean = mean_of(e, g, n);
    for (int a = 0; a < 3; a++) coupling[a] -= to[a] == 1 ? 0 : mean / 2;
  }
  for (int a = 0; a < 3; a++) beta[a] = a < p->dim && coupling[a] > 0 ? coupling[a] * p->h[a] * p->h[a] : 0;
}

/* Without Dirichlet walls the sum of all entries, weighted by control volumes, is the quadratic form of A for constants. */
static gmg_status check_sum(const gmg_exec *e, const gmg_problem *p, const gmg_given_box *g, gmg_row_totals all)
{
  double volume = 1;
  for (int a = 0; a < p->dim; a++) {
    double length = 0;
    for (size_t i = 0; i < p->n[a]; i++) length += gmg_given_volume(g, a, i);
    volume *= length;
    if (p->bc[a][0] == GMG_DIRICHLET || p->bc[a][1] == GMG_DIRICHLET) return GMG_OK;
  }
  if ((all.least == 0 && all.most == 0) || all.sum + p->shift * volume > 0) return GMG_OK;
  return gmg_fail(e->context, GMG_ERR_UNSUPPORTED, "problem.stencil: the entries of a row add up to %g on average, shift included, "
                  "and no wall is Dirichlet: the matrix is not positive", all.sum / volume + p->shift);
}

static gmg_range diagonal_of(const gmg_exec *e, const gmg_given_box *g)
{
  if (g->array[CENTRE]) return gmg_array_range(e, g->layout, g->array[CENTRE]);
  return (gmg_range){g->entry[CENTRE], g->entry[CENTRE], g->entry[CENTRE]};
}

static gmg_status measure(const gmg_exec *e, const gmg_problem *p, gmg_measured *found)
{
  gmg_given_box g = given_of(p);
  const size_t rows = p->n[0] * p->n[1] * p->n[2];
  gmg_row_totals all;
  GMG_TRY(check_rows(e, p, &g, &all, found->asymmetry));
  GMG_TRY(check_sum(e, p, &g, all));
  find_couplings(e, p, &g, found->beta);
  found->diagonal = diagonal_of(e, &g);
  find_penalty(e, p, &g, found->diagonal, found->penalty);
  found->sigma = (gmg_range){fmax(all.least, 0), fmax(all.most, 0), fmax(all.sum / (double)rows, 0)};
  return GMG_OK;
}

/* --- entries of a level ------------------------------------------------------------------------------------------------------ */

/* Two intervals become one. Two unknowns on the walls of a single interval become one. Cells are merged, of an odd number the last
   one alone. */
static int can_coarsen(const gmg_axis_spec *fine)
{
  const size_t intervals = gmg_axis_intervals(fine);
  return intervals % 2 == 0 || intervals == 1 || fine->nested;
}

static gmg_status create(gmg_exec *e, const gmg_problem *p, const gmg_axis axis[3], gmg_operator *A)
{
  (void)axis;
  void *state = NULL;
  GMG_TRY(gmg_exec_alloc_state(e, "box stencil", sizeof(entries), &state));
  entries *x = state;
  A->box = &x->box;
  x->lowest = 1, x->highest = 2;
  for (int n = 0; n < 27; n++) {
    void *values = NULL;
    if (!is_used(p->dim, n)) continue;
    GMG_TRY(gmg_exec_alloc(e, "entries of a box stencil", A->cells * e->real_size, &values));
    x->box.array[n] = values;
  }
  return GMG_OK;
}

static entries *entries_of(const gmg_operator *A) { return (entries *)A->box; } /* without const: the operator owns them */

/* The range of eigenvalues at high frequencies, from rows at a sixth, a half and five sixths of each axis, as if all rows were like
   them. highest is the maximum over these rows, because smoothers amplify eigenvalues above it. lowest is their mean. */
void gmg_box_arrays_changed(const gmg_exec *e, const gmg_operator *A)
{
  enum { SAMPLES = 8 };
  double lowest = 0, highest = 0;
  int count = 0;
  for (int s = 0; s < 27; s++) {
    const int part[3] = {s % 3, s / 3 % 3, s / 9};
    size_t at[3];
    int used = 1;
    for (int a = 0; a < 3; a++) {
      const size_t n = A->n[a];
      used = used && (n > 2 || part[a] == 1);
      at[a] = n > 2 ? 1 + (n - 3) * (size_t)(2 * part[a] + 1) / 6 : 0;
    }
    if (!used) continue;
    const size_t c = gmg_offset(gmg_layout_of(A), at[0], at[1], at[2]);
    double row[27] = {0}, low, high;
    for (int n = 0; n < 27; n++)
      if (A->box->array[n]) gmg_exec_read_reals(e, (const char *)A->box->array[n] + c * e->real_size, 1, &row[n]);
    gmg_box_smoothing_range(A, row, 0, SAMPLES, &low, &high);
    lowest += low, highest = fmax(highest, high), count++;
  }
  entries_of(A)->lowest = lowest / count, entries_of(A)->highest = highest;
}

static void load(const gmg_exec *e, const gmg_problem *p, const struct gmg_faces *faces, gmg_operator *A)
{
  (void)faces;
  const gmg_given_box g = given_of(p);
  values_of(e)->load(e, &g, A);
  gmg_box_arrays_changed(e, A);
}

static void coarsen(const gmg_exec *e, const gmg_operator *A, gmg_coarsening_maps by, gmg_operator *C)
{
  values_of(e)->galerkin_product(e, A, by.prolong, by.restrict_, C);
  gmg_box_arrays_changed(e, C);
}

static void to_low(const gmg_exec *e, const gmg_operator *from, gmg_operator *to)
{
  for (int n = 0; n < 27; n++)
    if (from->box->array[n]) e->vector->scale_to_low(e, from->cells, NULL, from->box->array[n], (void *)to->box->array[n]);
  entries_of(to)->lowest = entries_of(from)->lowest, entries_of(to)->highest = entries_of(from)->highest;
}

static void smoothing_range(const gmg_operator *A, double *lowest, double *highest)
{
  *lowest = entries_of(A)->lowest, *highest = fmax(entries_of(A)->highest, 1.001 * *lowest);
}

extern const gmg_operator_ops gmg_box_arrays_host_f32, gmg_box_arrays_host_f64, gmg_box_arrays_cuda_f32, gmg_box_arrays_cuda_f64;

const gmg_operator_kind gmg_box_arrays = {
    .name = "variable box stencil",
    .ops = {[GMG_BACKEND_HOST] = {[GMG_F32] = &gmg_box_arrays_host_f32, [GMG_F64] = &gmg_box_arrays_host_f64},
            [GMG_BACKEND_CUDA] = {[GMG_F32] = GMG_ON_CUDA(&gmg_box_arrays_cuda_f32),
                                  [GMG_F64] = GMG_ON_CUDA(&gmg_box_arrays_cuda_f64)}},
    .is_galerkin = 1,
    .smoother_trait = GMG_SMOOTHER_BOX_ARRAYS,
    .applies_to = applies_to,
    .check = check,
    .measure = measure,
    .can_coarsen = can_coarsen,
    .create = create,
    .load = load,
    .coarsen = coarsen,
    .to_low = to_low,
    .smoothing_range = smoothing_range};
