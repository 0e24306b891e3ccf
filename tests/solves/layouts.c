/* Arrays of the caller with gaps (gmg_array_layout): every call gives the results of packed arrays, and never writes the elements
   between the unknowns. They hold NaN, so a call that reads them would spoil its result. */
#include "boxes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ARRAYS = 5 };

/* A NaN with a payload that no computation gives. Its first half is such a NaN in float, too. */
static const uint32_t mark[2] = {0x7ff8dead, 0x7ff8dead};

static size_t real_size(const gmg_problem *p) { return p->type == GMG_F32 ? sizeof(float) : sizeof(double); }

/* Creates an array of this layout with the packed values x, and the mark in all other elements. x = NULL: no values. */
static void *spread(const gmg_problem *p, const size_t n[3], const gmg_array_layout *l, const void *x)
{
  const size_t size = real_size(p), all = elements_of(p, n, l) + 3;
  char *to = malloc(all * size);
  assert_non_null(to);
  for (size_t c = 0; c < all; c++) memcpy(to + c * size, mark, size);
  for (size_t k = 0; x && k < n[2]; k++)
    for (size_t j = 0; j < n[1]; j++)
      for (size_t i = 0; i < n[0]; i++)
        memcpy(to + place_in(p, n, l, i, j, k) * size, (const char *)x + (i + n[0] * (j + n[1] * k)) * size, size);
  return to;
}

/* Copies the values of an array to packed x. Fails if another element has changed. */
static void gather(const char *what, const gmg_problem *p, const gmg_array_layout *l, char *from, void *x)
{
  const size_t size = real_size(p), *n = p->n, all = elements_of(p, n, l) + 3;
  for (size_t k = 0; k < n[2]; k++)
    for (size_t j = 0; j < n[1]; j++)
      for (size_t i = 0; i < n[0]; i++) {
        char *at = from + place_in(p, n, l, i, j, k) * size;
        memcpy((char *)x + (i + n[0] * (j + n[1] * k)) * size, at, size);
        memcpy(at, mark, size);
      }
  for (size_t c = 0; c < all; c++)
    if (memcmp(from + c * size, mark, size) != 0) fail_msg("%s: element %zu, which is not an unknown, was written", what, c);
}

static double value_at(const gmg_problem *p, const void *x, size_t c)
{
  return p->type == GMG_F32 ? (double)((const float *)x)[c] : ((const double *)x)[c];
}

/* The largest difference over the largest value. */
static double difference(const gmg_problem *p, const void *x, const void *y, size_t n)
{
  double most = 0, apart = 0;
  for (size_t c = 0; c < n; c++) {
    most = fmax(most, fabs(value_at(p, x, c))), apart = fmax(apart, fabs(value_at(p, x, c) - value_at(p, y, c)));
    if (!isfinite(value_at(p, y, c))) return INFINITY;
  }
  return most > 0 ? apart / most : apart;
}

static void *reals(const gmg_problem *p, size_t n, uint64_t seed, double low, double high)
{
  char *x = malloc(n * sizeof(double));
  for (size_t c = 0; c < n; c++) {
    const double v = (low + high) / 2 + (high - low) * uniform(&seed);
    if (p->type == GMG_F32) ((float *)x)[c] = (float)v;
    else ((double *)x)[c] = v;
  }
  return x;
}

/* Gaps: ghost layers around f and u, with equal or different layouts; gaps only between rows, only between planes, or only before
   the first unknown. Axes that are not used have none. */
typedef struct {
  const char *name;
  size_t f_row, f_rows, f_first, u_row, u_rows, u_first; /* more elements in a row, more rows in a plane */
} gaps;
static const gaps layouts[] = {{"ghosts around u", 0, 0, 0, 2, 2, 1},      {"ghosts around both", 2, 2, 1, 2, 2, 1},
                               {"two layers and one", 2, 2, 1, 4, 4, 2},   {"gaps in f", 3, 0, 0, 0, 0, 0},
                               {"planes with gaps", 0, 1, 0, 0, 3, 0},     {"an offset", 0, 0, 5, 0, 0, 3},
                               {"rows of whole cache lines", 8, 0, 0, 8, 0, 0}};

static gmg_array_layout layout_of(const gmg_problem *p, size_t row, size_t rows, size_t first)
{
  const size_t pitch = p->dim > 1 ? p->n[0] + row : 0, plane = p->dim > 2 ? pitch * (p->n[1] + rows) : 0;
  return (gmg_array_layout){pitch, plane, first * (1 + (p->dim > 1 ? pitch : 0) + plane)};
}

/* Coefficients and other members of a problem. */
typedef struct {
  const char *name;
  gmg_type type;
  int beta, faces, sigma, fmg, stencil;
  gmg_precision precision;
  gmg_accel accel;
  const char *smoother;
  int values, max_levels;
} kind;
static const kind kinds[] = {
    {"double", GMG_F64, 0, 0, 0, 0, 0, GMG_PRECISION_SAME, GMG_ACCEL_NONE, "red_black", 0, 0},
    {"mixed", GMG_F64, 0, 0, 0, 0, 0, GMG_PRECISION_MIXED, GMG_ACCEL_NONE, "red_black", 1, 0},
    {"mixed, async", GMG_F64, 0, 0, 0, 0, 0, GMG_PRECISION_MIXED, GMG_ACCEL_NONE, "async", 0, 0},
    {"float", GMG_F32, 0, 0, 0, 0, 0, GMG_PRECISION_AUTO, GMG_ACCEL_NONE, "red_black", 1, 0},
    {"full multigrid", GMG_F64, 0, 0, 0, 1, 0, GMG_PRECISION_MIXED, GMG_ACCEL_NONE, "red_black", 1, 0},
    {"full multigrid in double", GMG_F64, 0, 0, 0, 2, 0, GMG_PRECISION_SAME, GMG_ACCEL_NONE, "red_black", 0, 0},
    {"beta", GMG_F64, 1, 0, 1, 0, 0, GMG_PRECISION_MIXED, GMG_ACCEL_FLEXIBLE_CG, "red_black", 0, 0},
    {"beta on faces", GMG_F64, 0, 1, 0, 0, 0, GMG_PRECISION_SAME, GMG_ACCEL_FLEXIBLE_CG, "red_black", 1, 0},
    {"beta on faces, plain", GMG_F32, 0, 1, 1, 1, 0, GMG_PRECISION_AUTO, GMG_ACCEL_NONE, "jacobi", 0, 0},
    {"one level", GMG_F64, 0, 0, 0, 0, 0, GMG_PRECISION_SAME, GMG_ACCEL_NONE, "async", 1, 1},
    {"Q1", GMG_F64, 0, 0, 0, 0, 1, GMG_PRECISION_MIXED, GMG_ACCEL_NONE, "gauss_seidel", 0, 0},
    {"Q1 in double", GMG_F64, 0, 0, 0, 0, 1, GMG_PRECISION_SAME, GMG_ACCEL_FLEXIBLE_CG, "gauss_seidel", 0, 0}};

static const shape shapes[] = {{3, {17, 12, 9}, GMG_CELL, "dddddd"},   {3, {16, 16, 16}, GMG_CELL, "ddnrdd"},
                               {3, {15, 16, 17}, GMG_VERTEX, "dndddd"}, {3, {12, 16, 8}, GMG_CELL, "pppppp"},
                               {2, {33, 20, 1}, GMG_CELL, "dndr"},     {2, {31, 32, 1}, GMG_VERTEX, "ddnn"},
                               {2, {16, 24, 1}, GMG_CELL, "nnnn"},     {1, {50, 1, 1}, GMG_CELL, "dr"}};

/* Sets the problem's arrays, packed or with gaps. To be freed. */
static void set_coefficients(gmg_problem *p, const kind *k, int with_gaps, void *arrays[MAX_ARRAYS])
{
  const void **const members[MAX_ARRAYS] = {&p->beta, &p->sigma, &p->beta_face[0], &p->beta_face[1], &p->beta_face[2]};
  const int wanted[MAX_ARRAYS] = {k->beta, k->sigma, k->faces, k->faces && p->dim > 1, k->faces && p->dim > 2};
  if (with_gaps && (k->beta || k->faces || k->sigma)) p->coefficient_layout = layout_of(p, 3, 2, 2);
  for (int i = 0; i < MAX_ARRAYS; i++) {
    const size_t n[3] = {p->n[0] + (i == 2), p->n[1] + (i == 3), p->n[2] + (i == 4)};
    arrays[i] = NULL;
    if (!wanted[i]) continue;
    void *x = reals(p, n[0] * n[1] * n[2], 7 + (uint64_t)i, i == 1 ? 0 : 1, i == 1 ? 30 : 3);
    *members[i] = arrays[i] = spread(p, n, &p->coefficient_layout, x);
    free(x);
  }
}

typedef struct {
  void *u, *r, *z, *flux[3];
  gmg_report report;
} results;

/* Solves, and makes all other calls, with arrays of the given layouts. */
static results run(const char *name, gmg_problem p, const kind *k, const gaps *g, const void *f, const void *guess)
{
  const size_t n = unknowns(&p), size = real_size(&p);
  gmg_params q = params_for_cycles();
  gmg_stencil stencil;
  void *arrays[MAX_ARRAYS];
  results x = {.u = malloc(n * size), .r = malloc(n * size), .z = malloc(n * size)};
  p.type = k->type;
  if (g) p.f_layout = layout_of(&p, g->f_row, g->f_rows, g->f_first), p.u_layout = layout_of(&p, g->u_row, g->u_rows, g->u_first);
  if (k->stencil) stencil = gmg_stencil_q1(p.dim, p.h, 0), p.stencil = &stencil;
  set_coefficients(&p, k, g != NULL, arrays);
  q.smoother = gmg_smoother_by_name(k->smoother), q.precision = k->precision, q.accel = k->accel, q.fmg = k->fmg;
  q.max_levels = k->max_levels, q.deterministic = 1, q.max_cycles = 60, q.cycle = GMG_CYCLE_V;
  session s = begin_solver(&p, &q, 2);
  for (int i = 0; i < MAX_ARRAYS; i++) free(arrays[i]);
  for (int a = 0; a < p.dim && k->values && !k->stencil; a++)
    if (p.bc[a][0] != GMG_PERIODIC) assert_ok(s.context, gmg_set_boundary_constant(s.solver, a, 0, 0.3));
  char *F = spread(&p, p.n, &p.f_layout, f), *U = spread(&p, p.n, &p.u_layout, guess), *R = spread(&p, p.n, &p.f_layout, NULL),
       *Z = spread(&p, p.n, &p.u_layout, NULL);
  for (int again = 0; again < 3; again++) { /* on a device the second solve is recorded, the third replayed */
    free(U), U = spread(&p, p.n, &p.u_layout, guess);
    const gmg_status status = solve_in(&s, F, U, &x.report);
    if (status != GMG_OK) fail_msg("%s: %s: %s", name, gmg_status_string(status), gmg_context_error(s.context));
  }
  assert_ok(s.context, residual_in(&s, F, U, R));
  assert_ok(s.context, precondition_in(&s, F, Z));
  for (int a = 0; a < 3; a++) x.flux[a] = NULL;
  if (!k->stencil) {
    void *gradient[3] = {NULL};
    for (int a = 0; a < p.dim; a++) x.flux[a] = malloc(n / p.n[a] * (p.n[a] + 1) * size), gradient[a] = malloc(n / p.n[a] * (p.n[a] + 1) * size);
    assert_ok(s.context, flux_in(&s, U, x.flux, gradient));
    for (int a = 0; a < p.dim; a++) free(gradient[a]);
  }
  gather("f", &p, &p.f_layout, F, x.r), gather("u", &p, &p.u_layout, U, x.u), gather("r", &p, &p.f_layout, R, x.r);
  gather("z", &p, &p.u_layout, Z, x.z);
  free(F), free(U), free(R), free(Z);
  end_solver(&s);
  return x;
}

static void end_results(results *x)
{
  free(x->u), free(x->r), free(x->z);
  for (int a = 0; a < 3; a++) free(x->flux[a]);
}

static void arrays_with_gaps_give_the_same(void **state)
{
  (void)state;
  for (int i = 0; i < COUNT(shapes); i++)
    for (int m = 0; m < COUNT(kinds); m++) {
      const kind *k = &kinds[m];
      gmg_problem p = shaped_problem(&shapes[i]);
      const size_t n = unknowns(&p);
      if (k->stencil && (p.centering == GMG_CELL || strpbrk(shapes[i].bc, "r"))) continue;
      if (!taken(n)) continue;
      p.type = k->type;
      void *f = reals(&p, n, 3, -0.5, 0.5), *guess = reals(&p, n, 4, -0.5, 0.5);
      results packed = run(k->name, p, k, NULL, f, guess);
      for (int g = (i + m) % 2; g < COUNT(layouts); g += 2) {
        char name[120];
        snprintf(name, sizeof name, "%d x %zu x %zu x %zu, %s, %s", p.dim, p.n[0], p.n[1], p.n[2], k->name, layouts[g].name);
        results with_gaps = run(name, p, k, &layouts[g], f, guess);
        const double tolerance = k->type == GMG_F32 ? 2e-3 : 1e-5;
        if (abs(with_gaps.report.cycles - packed.report.cycles) > 1)
          fail_msg("%s: %d cycles, packed %d", name, with_gaps.report.cycles, packed.report.cycles);
        const struct {
          const char *what;
          const void *x, *y;
          double most;
        } pairs[] = {{"u", packed.u, with_gaps.u, tolerance}, {"z", packed.z, with_gaps.z, k->type == GMG_F32 ? 1e-3 : 2e-5}};
        for (int c = 0; c < COUNT(pairs); c++) {
          const double apart = difference(&p, pairs[c].x, pairs[c].y, n);
          if (!(apart <= pairs[c].most)) fail_msg("%s: %s is %g from that of packed arrays", name, pairs[c].what, apart);
        }
        const double f_norm = difference(&p, f, with_gaps.r, n); /* r is small compared with f */
        if (!(f_norm < 1.01)) fail_msg("%s: residual", name);
        for (int a = 0; a < p.dim && packed.flux[a]; a++) {
          const double apart = difference(&p, packed.flux[a], with_gaps.flux[a], n / p.n[a] * (p.n[a] + 1));
          if (!(apart <= 10 * tolerance)) fail_msg("%s: flux %d is %g from that of packed arrays", name, a, apart);
        }
        end_results(&with_gaps);
      }
      end_results(&packed);
      free(f), free(guess);
    }
}

/* f and u interleaved in one array, plane by plane or row by row: they do not overlap. */
static void fields_may_interleave(void **state)
{
  gmg_problem p = make_problem(3, 8, 6, 5, GMG_CELL, "dddddd");
  const size_t plane = p.n[0] * p.n[1];
  gmg_report report;
  (void)state;
  for (int by_rows = 0; by_rows < 2; by_rows++) {
    const size_t row = by_rows ? 2 * p.n[0] : p.n[0], apart = by_rows ? p.n[0] : plane;
    p.f_layout = p.u_layout = (gmg_array_layout){row, 2 * plane, 0};
    p.u_layout.first = apart;
    gmg_params q = params_for_cycles();
    session s = begin_solver(&p, &q, 1);
    double *both = field(2 * plane * p.n[2], 5);
    if (!on_device) assert_ok(s.context, gmg_solve(s.solver, both, both, &report));
    double *const shifted = both + apart - 1;
    if (!on_device) assert_int_equal(gmg_solve(s.solver, shifted, both, &report), GMG_ERR_ARGUMENT);
    free(both);
    end_solver(&s);
  }
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(arrays_with_gaps_give_the_same), cmocka_unit_test(fields_may_interleave)};
  if (for_device(argc, argv)) return SKIPPED;
  return run_selected(tests);
}
