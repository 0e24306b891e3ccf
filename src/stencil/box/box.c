/* Box stencils: their table, checks, and entries on all levels. Called through gmg_operator_kind.

   A stencil is a sum of tensor products of three stencils along each axis: 1 = [0, 1, 0], D = [-1, 0, 1] / 2 and K = [-1, 2, -1],
   which stand for u, h du/dx and -h^2 d2/dx2. On a mesh that is q[a] times as wide along axis a:
   - A product with at least one D is divided by q of the axes of its D. K then only averages.
   - A product of 1 and K is a sum of second derivatives along its K axes, weighted by the couplings of these axes. The part of axis
     a is divided by q[a]^2.
   - The product of three 1 is a shift, the same on every level.
   - A first difference along an axis may become too large for the second difference beside it. The latter is then enlarged. */
#include "problem.h"

#include "core/backend.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ONE, SLOPE, CURVATURE }; /* 1, D, K */
enum { CENTRE = 13 };

/* Entries in the order of gmg_box. */
static const double *flat(const gmg_problem *p) { return &p->stencil->entry[0][0][0]; }

static double sum_of(const double *entry)
{
  double sum = 0;
  for (int e = 0; e < 27; e++) sum += entry[e];
  return sum;
}

static double size_of(const double *entry)
{
  double size = 0;
  for (int e = 0; e < 27; e++) size += fabs(entry[e]);
  return size;
}

/* The sum of the entries. What rounding leaves of a sum of 0 counts as 0. */
static double reaction(const gmg_problem *p)
{
  const double sum = sum_of(flat(p));
  return fabs(sum) <= 8 * DBL_EPSILON * size_of(flat(p)) ? 0 : sum;
}

/* Along an axis of one unknown an entry is that of the unknown itself, or it is dropped. Adds the former to the unknown's entry,
   and sets both to 0. */
static void fold_single(const size_t n[3], const int mirrors[3][2], double entry[27])
{
  static const int stride[3] = {1, 3, 9};
  for (int a = 0; a < 3; a++)
    for (int e = 0; e < 27 && n[a] == 1; e++) {
      const int to = e / stride[a] % 3, middle = e + (1 - to) * stride[a];
      if (to == 1) continue;
      if (mirrors[a][to / 2]) entry[middle] += entry[e];
      entry[e] = 0;
    }
}

/* The coupling along an axis for a u that is constant along the others: minus half the sum of all entries off the middle plane. */
static double coupling_along(const double *entry, int axis)
{
  static const int stride[3] = {1, 3, 9};
  double sum = 0;
  for (int e = 0; e < 27; e++) sum -= e / stride[axis] % 3 == 1 ? 0 : entry[e];
  return sum / 2;
}

#define WHERE "problem.stencil->entry[%d][%d][%d] = %g"
#define PLACE(e) (e) / 9, (e) / 3 % 3, (e) % 3

/* Finds an entry that keeps the matrix from being symmetric. Entries must equal those of the opposite neighbours and, along axes
   with a Neumann wall, those of their mirror images: a row on such a wall has both in one place. */
static void find_asymmetry(const gmg_problem *p, char text[GMG_ASYMMETRY_TEXT])
{
  static const int stride[3] = {1, 3, 9};
  for (int e = 0; e < 27 && !text[0]; e++)
    for (int a = -1; a < p->dim && !text[0]; a++) {
      const int mirrors = a >= 0 && (p->bc[a][0] == GMG_NEUMANN || p->bc[a][1] == GMG_NEUMANN);
      const int there = a < 0 ? 26 - e : mirrors ? e + 2 * (1 - e / stride[a] % 3) * stride[a] : e;
      const double x = flat(p)[e], other = flat(p)[there];
      if (fabs(x - other) <= 64 * DBL_EPSILON * fabs(x)) continue;
      snprintf(text, GMG_ASYMMETRY_TEXT, WHERE ": differs from entry[%d][%d][%d] = %g%s", PLACE(e), x, PLACE(there), other,
               a < 0 ? "" : ", its image in a Neumann wall");
    }
}

static gmg_status measure(const gmg_exec *e, const gmg_problem *p, gmg_measured *found)
{
  (void)e;
  double entry[27];
  int mirrors[3][2] = {{0}};
  for (int a = 0; a < p->dim; a++)
    for (int side = 0; side < 2; side++) mirrors[a][side] = p->bc[a][side] == GMG_NEUMANN || p->bc[a][side] == GMG_PERIODIC;
  memcpy(entry, flat(p), sizeof entry);
  fold_single(p->n, mirrors, entry);
  for (int a = 0; a < p->dim; a++) found->beta[a] = fmax(coupling_along(entry, a), 0) * p->h[a] * p->h[a];
  found->diagonal.least = found->diagonal.most = flat(p)[CENTRE];
  find_asymmetry(p, found->asymmetry);
  return GMG_OK;
}

static int applies_to(const gmg_problem *p) { return p->stencil != NULL; }

/* --- checks -------------------------------------------------------------------------------------------------------------- */

static gmg_status check_entries(gmg_context *c, const gmg_problem *p)
{
  const gmg_type_traits *type = gmg_type_traits_of(p->type);
  const double *entry = flat(p), most = fmin(type->largest / 64, 1e100), least = fmax(type->smallest, 1e-100);
  for (int e = 0; e < 27; e++) {
    const double x = entry[e];
    const int is_used = (p->dim > 2 || e / 9 == 1) && (p->dim > 1 || e / 3 % 3 == 1);
    if (!is_used && x != 0)
      return gmg_fail(c, GMG_ERR_ARGUMENT, WHERE ": must be 0, problem.dim = %d has no such neighbour", PLACE(e), x, p->dim);
    if (!(fabs(x) < most) || (x != 0 && fabs(x) < least))
      return gmg_fail(c, GMG_ERR_ARGUMENT, WHERE ": must be 0, or from %.3g to %.3g in size", PLACE(e), x, least, most);
  }
  const double centre = entry[CENTRE] + p->shift;
  if (!(entry[CENTRE] > 0))
    return gmg_fail(c, GMG_ERR_ARGUMENT, WHERE ": the entry of the unknown itself must be positive", PLACE(CENTRE), entry[CENTRE]);
  for (int e = 0; e < 27; e++)
    if (fabs(entry[e]) > GMG_MOST_OVER_CENTRE * centre)
      return gmg_fail(c, GMG_ERR_ARGUMENT, WHERE ": must be at most %g times as large as the diagonal, %g", PLACE(e), entry[e],
                      GMG_MOST_OVER_CENTRE, centre);
    else if (entry[e] != 0 && fabs(entry[e]) < least * centre)
      return gmg_fail(c, GMG_ERR_ARGUMENT, WHERE ": its quotient with the diagonal, %g, leaves the range of the type", PLACE(e),
                      entry[e], centre);
  return GMG_OK;
}

gmg_status gmg_box_check_problem(gmg_context *c, const gmg_problem *p)
{
  const struct {
    const char *name;
    const void *array;
  } arrays[] = {{"beta", p->beta}, {"beta_face[0]", p->beta_face[0]}, {"sigma", p->sigma},
                {"coord[0]", p->coord[0]}, {"coord[1]", p->coord[1]}, {"coord[2]", p->coord[2]}};
  for (int i = 0; i < 6; i++)
    if (arrays[i].array && (i < 3 || i - 3 < p->dim))
      return gmg_fail(c, GMG_ERR_UNSUPPORTED,
                      "problem.%s = %p: not together with problem.stencil, whose entries hold all coefficients and mesh widths",
                      arrays[i].name, arrays[i].array);
  for (int a = 0; a < p->dim; a++)
    for (int side = 0; side < 2; side++)
      if (p->bc[a][side] == GMG_ROBIN)
        return gmg_fail(c, GMG_ERR_UNSUPPORTED, "problem.bc[%d][%d] = GMG_ROBIN: box stencils take Dirichlet, Neumann and periodic "
                        "walls", a, side);
  return GMG_OK;
}

static gmg_status check(gmg_context *c, const gmg_problem *p)
{
  GMG_TRY(gmg_box_check_problem(c, p));
  if (p->centering != GMG_VERTEX)
    return gmg_fail(c, GMG_ERR_UNSUPPORTED, "problem.centering = GMG_CELL: box stencils with constant entries are for unknowns on "
                    "vertices, GMG_VERTEX");
  return check_entries(c, p);
}

/* --- entries of a level ------------------------------------------------------------------------------------------------------ */

/* Applies a 3 x 3 matrix to the entries along an axis. */
static void transform(const double matrix[3][3], int axis, double entry[27])
{
  static const int stride[3] = {1, 3, 9};
  const int s = stride[axis];
  for (int e = 0; e < 27; e++) {
    if (e / s % 3 != 0) continue;
    const double x[3] = {entry[e], entry[e + s], entry[e + 2 * s]};
    for (int i = 0; i < 3; i++) entry[e + i * s] = matrix[i][0] * x[0] + matrix[i][1] * x[1] + matrix[i][2] * x[2];
  }
}

/* Entries of one axis to the factors of 1, D and K, and back. */
static const double to_products[3][3] = {{1, 1, 1}, {-1, 0, 1}, {-0.5, 0, -0.5}};
static const double to_entries[3][3] = {{0, -0.5, -1}, {1, 0, 2}, {0, 0.5, -1}};

/* The divisor of a product on a mesh that is q[a] times as wide along axis a. share: the couplings of the axes. */
static double divisor(const int product[3], const double q[3], const double share[3])
{
  double slopes = 1, shares = 0, inverse = 0, only = 1;
  int has_slopes = 0;
  for (int a = 0; a < 3; a++) {
    if (product[a] == SLOPE) slopes *= q[a], has_slopes = 1;
    if (product[a] != CURVATURE) continue;
    shares += share[a], inverse += share[a] / (q[a] * q[a]);
    only = q[a] * q[a];
  }
  return has_slopes ? slopes : shares > 0 ? shares / inverse : only;
}

/* Enlarges the second difference along coarsened axes where the first difference would make the entry of a neighbour positive:
   smoothers diverge there. The correction then has the error of upwind differences (Trottenberg, Oosterlee, Schueller 2001,
   Section 7.1).
   product: the factors of 1, D and K. */
static void add_viscosity(const double q[3], double product[27])
{
  static const int stride[3] = {1, 3, 9};
  for (int a = 0; a < 3; a++) {
    const double least = fabs(product[SLOPE * stride[a]]) / 2;
    double *second = &product[CURVATURE * stride[a]];
    if (q[a] > 1 && *second > 0 && *second < least) *second = least;
  }
}

/* The entries on a mesh that is q[a] times as wide along axis a. They add up to 0 before and after. */
static void widen(const double q[3], double entry[27])
{
  double share[3];
  for (int a = 0; a < 3; a++) share[a] = fmax(coupling_along(entry, a), 0);
  for (int a = 0; a < 3; a++) transform(to_products, a, entry);
  for (int e = 0; e < 27; e++) {
    const int product[3] = {e % 3, e / 3 % 3, e / 9};
    entry[e] /= divisor(product, q, share);
  }
  add_viscosity(q, entry);
  for (int a = 0; a < 3; a++) transform(to_entries, a, entry);
}

/* Makes the entries add up to 0. */
static void remove_reaction(double entry[27])
{
  entry[CENTRE] = 0;
  entry[CENTRE] = -sum_of(entry);
}

static gmg_status create(gmg_exec *e, const gmg_problem *p, const gmg_axis axis[3], gmg_operator *A)
{
  void *box = NULL;
  GMG_TRY(gmg_exec_alloc_state(e, "box stencil", sizeof(gmg_box), &box));
  A->box = box;
  for (int a = 0; a < p->dim; a++)
    for (int side = 0; side < 2; side++) /* the single unknown of a periodic axis is its own neighbour */
      ((gmg_box *)box)->mirrors[a][side] =
          axis[a].spec.bc[side] == GMG_NEUMANN || (axis[a].spec.bc[side] == GMG_PERIODIC && axis[a].n == 1);
  return GMG_OK;
}

static gmg_box *box_of(const gmg_operator *A) { return (gmg_box *)A->box; } /* without const: the operator owns it */

static void load(const gmg_exec *e, const gmg_problem *p, const struct gmg_faces *faces, gmg_operator *A)
{
  (void)e, (void)faces;
  memcpy(box_of(A)->entry, flat(p), sizeof A->box->entry);
  remove_reaction(box_of(A)->entry);
}

static void coarsen(const gmg_exec *e, const gmg_operator *A, gmg_coarsening_maps by, gmg_operator *C)
{
  (void)e, (void)by;
  double q[3];
  for (int a = 0; a < 3; a++) q[a] = A->coarsened[a] ? C->h[a] / A->h[a] : 1;
  memcpy(box_of(C)->entry, A->box->entry, sizeof A->box->entry);
  widen(q, box_of(C)->entry);
  remove_reaction(box_of(C)->entry);
}

static void to_low(const gmg_exec *e, const gmg_operator *from, gmg_operator *to)
{
  (void)e;
  memcpy(box_of(to)->entry, from->box->entry, sizeof from->box->entry);
}

/* --- products of second differences ------------------------------------------------------------------------------------------- */

/* Whether the entries are the same on both sides along each axis. */
static int is_even(const double entry[27])
{
  static const int stride[3] = {1, 3, 9};
  for (int e = 0; e < 27; e++)
    for (int a = 0; a < 3; a++) {
      const double x = entry[e], image = entry[e + 2 * (1 - e / stride[a] % 3) * stride[a]];
      if (fabs(x - image) > 64 * DBL_EPSILON * fabs(x)) return 0;
    }
  return 1;
}

/* The factors of products of K. Even entries have no D. */
static void products_of(const double entry[27], double factor[8])
{
  double product[27];
  memcpy(product, entry, sizeof product);
  for (int a = 0; a < 3; a++) transform(to_products, a, product);
  for (int p = 0; p < 8; p++) factor[p] = product[CURVATURE * ((p & 1) + 3 * (p >> 1 & 1) + 9 * (p >> 2))];
}

/* Eigenvalues of K are between 0 and 4. A sum of products is smallest where each of them is 0 or 4. */
static const char *not_separable(const gmg_problem *p)
{
  double factor[8];
  if (!is_even(flat(p))) return "problem.stencil differs on the two sides of an axis";
  products_of(flat(p), factor);
  for (int corner = 1; corner < 1 << p->dim; corner++) {
    double sum = p->shift + reaction(p);
    for (int of = 1; of < 8; of++)
      if ((of & corner) == of) sum += factor[of] * (of & 1 ? 4 : 1) * (of & 2 ? 4 : 1) * (of & 4 ? 4 : 1);
    if (!(sum > 64 * DBL_EPSILON * size_of(flat(p)))) return "problem.stencil is not positive for all frequencies";
  }
  return NULL;
}

static void products(const gmg_operator *A, gmg_products *found)
{
  double entry[27];
  memcpy(entry, A->box->entry, sizeof entry);
  fold_single(A->n, A->box->mirrors, entry);
  *found = (gmg_products){.of_differences = 1};
  products_of(entry, found->factor);
  /* What rounding leaves of a sum of 0 counts as 0. */
  if (fabs(found->factor[0]) <= 64 * DBL_EPSILON * size_of(entry)) found->factor[0] = 0;
  found->factor[0] += A->shift;
}

/* --- smoothing ---------------------------------------------------------------------------------------------------------------- */

enum { MAX_SAMPLES = 16 };

/* The symbol of D^-1 A at the frequency 2 pi m / samples along each axis: its real part. */
static double symbol_at(const double entry[27], double shift, const double *cosine, int samples, const int m[3])
{
  double sum = shift;
  for (int e = 0; e < 27; e++) {
    if (entry[e] == 0) continue;
    const int phase = (e % 3 - 1) * m[0] + (e / 3 % 3 - 1) * m[1] + (e / 9 - 1) * m[2];
    sum += entry[e] * cosine[(phase % samples + samples) % samples];
  }
  return sum / (entry[CENTRE] + shift);
}

void gmg_box_smoothing_range(const gmg_operator *A, const double entry[27], double shift, int samples, double *lowest,
                             double *highest)
{
  double cosine[MAX_SAMPLES];
  const int half = samples / 2;
  int m[3], any = A->coarsened[0] || A->coarsened[1] || A->coarsened[2];
  for (int i = 0; i < samples; i++) cosine[i] = cos(2 * M_PI * i / samples);
  *lowest = INFINITY, *highest = 0;
  for (m[2] = 0; m[2] <= (A->n[2] > 1 ? half : 0); m[2]++)
    for (m[1] = 1 - (A->n[1] > 1 ? half : 1); m[1] <= (A->n[1] > 1 ? half : 0); m[1]++)
      for (m[0] = 1 - (A->n[0] > 1 ? half : 1); m[0] <= (A->n[0] > 1 ? half : 0); m[0]++) {
        int high = !any && (m[0] || m[1] || m[2]);
        for (int a = 0; a < 3; a++) high |= A->coarsened[a] && 4 * abs(m[a]) >= samples;
        const double value = high ? symbol_at(entry, shift, cosine, samples, m) : 0;
        if (high) *lowest = fmin(*lowest, value), *highest = fmax(*highest, value);
      }
  if (*highest == 0) *lowest = *highest = 1; /* a single unknown */
  *lowest = fmax(*lowest, 0.01 * *highest);  /* a stencil may be singular at a high frequency, too */
  if (*highest < 1.001 * *lowest) *highest = 1.001 * *lowest;
}

/* The range of eigenvalues of D^-1 A at high frequencies: those that are high along a coarsened axis. */
static void smoothing_range(const gmg_operator *A, double *lowest, double *highest)
{
  double entry[27];
  memcpy(entry, A->box->entry, sizeof entry);
  fold_single(A->n, A->box->mirrors, entry);
  gmg_box_smoothing_range(A, entry, A->shift, MAX_SAMPLES, lowest, highest);
}

extern const gmg_operator_ops gmg_box_host_f32, gmg_box_host_f64, gmg_box_cuda_f32, gmg_box_cuda_f64;

const gmg_operator_kind gmg_box_stencil = {
    .name = "box stencil",
    .ops = {[GMG_BACKEND_HOST] = {[GMG_F32] = &gmg_box_host_f32, [GMG_F64] = &gmg_box_host_f64},
            [GMG_BACKEND_CUDA] = {[GMG_F32] = GMG_ON_CUDA(&gmg_box_cuda_f32), [GMG_F64] = GMG_ON_CUDA(&gmg_box_cuda_f64)}},
    .applies_to = applies_to,
    .check = check,
    .reaction = reaction,
    .smoother_trait = GMG_SMOOTHER_BOX,
    .measure = measure,
    .create = create,
    .load = load,
    .coarsen = coarsen,
    .to_low = to_low,
    .not_separable = not_separable,
    .products = products,
    .smoothing_range = smoothing_range};
