/* Line relaxation for variable box stencils, on the coarse levels of black box coarsening: sweeps against one line after the other by
   definition, and the same bits for any number of threads. */
#include "media.h"

#include "internals.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  const char *medium;
  double strength;
  shape shape;
} row;

static const row rows[] = {{"lognormal", 2, {2, {63, 40, 1}, GMG_CELL, "dddd"}},    {"lognormal", 1, {2, {300, 14, 1}, GMG_CELL, "nnnn"}},
                           {"single", 1e3, {2, {33, 264, 1}, GMG_VERTEX, "nndr"}},  {"board_3", 100, {2, {45, 44, 1}, GMG_CELL, "pppp"}},
                           {"board_3", 10, {2, {6, 10, 1}, GMG_CELL, "pppp"}},      {"lognormal", 2, {2, {600, 3, 1}, GMG_CELL, "pprn"}},
                           {"lognormal", 2, {3, {18, 24, 30}, GMG_CELL, "dddddd"}}, {"lognormal", 2, {3, {13, 140, 11}, GMG_VERTEX, "nnnnnn"}},
                           {"single", 100, {3, {14, 18, 10}, GMG_CELL, "pppppp"}},  {"board_3", 100, {3, {6, 4, 80}, GMG_CELL, "ppppnn"}},
                           {"board_3", 100, {3, {140, 6, 22}, GMG_CELL, "nnpppp"}}, {"single", 10, {3, {26, 2, 50}, GMG_CELL, "ppddpp"}}};

/* --- by definition ---------------------------------------------------------------------------------------------------------------- */

static size_t place(const gmg_operator *A, const size_t at[3]) { return at[0] + A->n[0] * (at[1] + A->n[1] * at[2]); }

/* f - A u of one unknown. Along an axis of one unknown, and beyond walls, entries are 0. */
static double residual_at(const gmg_operator *A, const size_t at[3], const double *f, const double *u)
{
  double r = f[place(A, at)];
  for (int e = 0; e < 27; e++) {
    const int step[3] = {e % 3 - 1, e / 3 % 3 - 1, e / 9 - 1};
    size_t near[3];
    int outside = 0;
    for (int a = 0; a < 3; a++) {
      const long n = (long)A->n[a], i = (long)at[a] + step[a];
      outside |= (i < 0 || i >= n) && !A->wraps[a];
      near[a] = (size_t)((i + n) % n);
    }
    const double *entry = A->box->array[e];
    if (entry && !outside) r -= entry[place(A, at)] * u[place(A, near)];
  }
  return r;
}

/* Relaxes one line: its dense system, corners of a periodic axis included. */
static void relax_line(const gmg_operator *A, int axis, size_t at[3], const double *f, double *u, double omega)
{
  static const int step[3] = {1, 3, 9};
  const size_t n = A->n[axis];
  double *matrix = calloc(n * n, sizeof *matrix), *d = calloc(n, sizeof *d);
  for (size_t i = 0; i < n; i++) {
    at[axis] = i;
    const size_t c = place(A, at);
    const double *below = A->box->array[13 - step[axis]], *centre = A->box->array[13], *above = A->box->array[13 + step[axis]];
    d[i] = residual_at(A, at, f, u);
    matrix[i * n + i] += centre[c];
    if (n > 1 && (i > 0 || A->wraps[axis])) matrix[i * n + (i + n - 1) % n] += below[c];
    if (n > 1 && (i + 1 < n || A->wraps[axis])) matrix[i * n + (i + 1) % n] += above[c];
  }
  for (size_t k = 0; k < n; k++) /* no pivoting: the matrix is positive definite */
    for (size_t i = k + 1; i < n; i++) {
      const double factor = matrix[i * n + k] / matrix[k * n + k];
      if (factor == 0) continue;
      for (size_t j = k; j < n; j++) matrix[i * n + j] -= factor * matrix[k * n + j];
      d[i] -= factor * d[k];
    }
  for (size_t k = n; k-- > 0;) {
    for (size_t j = k + 1; j < n; j++) d[k] -= matrix[k * n + j] * d[j];
    d[k] /= matrix[k * n + k];
  }
  for (size_t i = 0; i < n; i++) at[axis] = i, u[place(A, at)] += omega * d[i];
  free(matrix), free(d);
}

/* The number of the part that a line belongs to: a colour for each parity, and phases of their own for last lines at odd seams. */
static int part_of(const gmg_operator *A, int b, int c, const size_t at[3])
{
  const int odd_b = A->wraps[b] && A->n[b] % 2 && A->n[b] > 1, odd_c = A->wraps[c] && A->n[c] % 2 && A->n[c] > 1;
  const int colour = (int)(at[b] % 2 + 2 * (at[c] % 2));
  const int phase = (odd_b && at[b] + 1 == A->n[b]) + (1 + odd_b) * (odd_c && at[c] + 1 == A->n[c]);
  return colour * (1 + odd_b) * (1 + odd_c) + phase;
}

static void sweep_by_definition(const gmg_operator *A, int axes, int reversed, const double *f, double *u, double omega)
{
  enum { PARTS = 16 };
  for (int t = 0; t < 3; t++) {
    const int axis = reversed ? 2 - t : t, b = axis == 0, c = axis == 2 ? 1 : 2;
    for (int p = 0; p < PARTS && axes >> axis & 1 && axis < A->dim; p++)
      for (size_t k = 0; k < A->n[c]; k++)
        for (size_t j = 0; j < A->n[b]; j++) {
          size_t at[3];
          at[axis] = 0, at[b] = j, at[c] = k;
          if (part_of(A, b, c, at) == (reversed ? PARTS - 1 - p : p)) relax_line(A, axis, at, f, u, omega);
        }
  }
}

/* --- tests ------------------------------------------------------------------------------------------------------------------------ */

static void begin(const row *r, int axes, int threads, gmg_context **c, gmg_solver **s)
{
  gmg_problem p = shaped_problem(&r->shape);
  gmg_params q = params_for_cycles();
  medium m;
  const size_t n = unknowns(&p);
  assert_true(medium_make(medium_kind_of(r->medium), 2, 8 + (size_t)ceil(sqrt((double)n)), r->strength, GMG_CELL, &m));
  p.beta = m.beta; /* its cells in order */
  p.shift = 0.1;   /* not singular: a singular line has no correction for its mean */
  q.smoother = gmg_smoother_by_name("lines"), q.line_axes = axes, q.omega = 1.1, q.coarsening = GMG_COARSENING_BLACK_BOX;
  q.precision = GMG_PRECISION_SAME, q.coarse_cells = 1, q.coarsen_threshold = 0.2;
  assert_int_equal(gmg_context_create_host(threads, c), GMG_OK);
  assert_ok(*c, gmg_solver_create(*c, &p, &q, s));
  medium_free(&m);
}

static void compare(const char *name, const gmg_solver *s[2], int l, int axes, int reversed)
{
  const gmg_operator *A = &s[0]->level[l].A;
  double *f = field(A->cells, 1), *wanted = field(A->cells, 2), *u[2] = {field(A->cells, 2), field(A->cells, 2)};
  double largest = 0, error = 0;
  for (int i = 0; i < 2; i++)
    s[i]->mg.smoother[l]->sweep(&s[i]->level[l].view, s[i]->mg.state[l], f, u[i], 1, reversed ? GMG_LEG_UP_REVERSED : GMG_LEG_DOWN);
  sweep_by_definition(A, axes, reversed, f, wanted, 1.1);
  for (size_t i = 0; i < A->cells; i++) error = fmax(error, fabs(u[0][i] - wanted[i])), largest = fmax(largest, fabs(wanted[i]));
  if (!(error <= 1e-9 * largest))
    fail_msg("%s, level %d (%zu x %zu x %zu), axes %d, reversed %d: error %g of %g", name, l, A->n[0], A->n[1], A->n[2], axes, reversed,
             error, largest);
  assert_memory_equal(u[0], u[1], A->cells * sizeof *f);
  free(f), free(wanted), free(u[0]), free(u[1]);
}

static void sweeps(void **state)
{
  int compared = 0;
  (void)state;
  for (int i = 0; i < COUNT(rows); i++)
    for (int axes = 1; axes < 1 << rows[i].shape.dim; axes++) {
      gmg_context *c[2];
      gmg_solver *s[2];
      for (int t = 0; t < 2; t++) begin(&rows[i], axes, 1 + 2 * t, &c[t], &s[t]);
      for (int l = 1; l + 1 < s[0]->levels; l++)
        for (int reversed = 0; reversed < 2; reversed++) compare(rows[i].medium, (const gmg_solver **)s, l, axes, reversed), compared++;
      for (int t = 0; t < 2; t++) gmg_solver_destroy(s[t]), gmg_context_destroy(c[t]);
    }
  print_message("%d sweeps\n", compared);
  assert_true(compared > 200);
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(sweeps)};
  only(argc, argv);
  return run_selected(tests);
}
