/* 1D maps and their tensor products, for all sizes: functions that they must reproduce. */
#include "pair_of_axes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The map as a dense rows x cols matrix. */
static double *dense_map(pair_of_axes *x, gmg_map_kind kind, int *rows, int *cols)
{
  gmg_map m;
  assert_ok(x->context, gmg_map_create(&x->exec, kind, &x->fine, &x->coarse, &m));
  double *d = calloc((size_t)m.rows * (size_t)m.cols, sizeof *d);
  for (int r = 0; r < m.rows; r++) {
    assert_true(r == 0 || m.first[r] >= m.first[r - 1]);
    for (int c = 0; c < m.width; c++)
      d[r * m.cols + m.wrap[m.first[r] + c]] += ((const double *)m.weight)[r * m.width + c];
  }
  *rows = m.rows, *cols = m.cols;
  return d;
}

static int held(char kind) { return kind == 'd' || kind == 'r'; }

/* Interpolation keeps constants if no wall holds u. An interpolated value lies between those of its parents. */
static void prolongation(pair_of_axes *x, const char *bc)
{
  int rows, cols;
  double *P = dense_map(x, GMG_MAP_PROLONG, &rows, &cols);
  for (int r = 0; r < rows; r++) {
    double sum = 0;
    for (int c = 0; c < cols; c++) {
      assert_true(P[r * cols + c] > -1e-12);
      sum += P[r * cols + c];
    }
    assert_below(sum, 1 + 1e-12);
    const double far = 1.01 * x->coarse.h; /* from the walls */
    const double length = x->fine.spec.length, at = x->fine.x[r];
    if ((!held(bc[0]) || at > far) && (!held(bc[1]) || length - at > far)) assert_near(sum, 1, 1e-12);
  }
  free(P);
}

static void prolongation_keeps_constants(void **state)
{
  (void)state;
  for_all(prolongation);
}

/* Away from walls linear functions are interpolated exactly, for any ratio of the sizes. */
static void linear(pair_of_axes *x, const char *bc)
{
  int rows, cols;
  double *P = dense_map(x, GMG_MAP_PROLONG, &rows, &cols);
  for (int r = 0; r < rows && bc[0] != 'p'; r++) {
    const double far = 1.01 * x->coarse.h;
    if (x->fine.x[r] < far || x->fine.spec.length - x->fine.x[r] < far) continue;
    double v = 0;
    for (int c = 0; c < cols; c++) v += P[r * cols + c] * x->coarse.x[c];
    assert_near(v, x->fine.x[r], 1e-12);
  }
  free(P);
}

static void prolongation_keeps_linear_functions(void **state)
{
  (void)state;
  for_all(linear);
}

static void average(pair_of_axes *x, const char *bc)
{
  (void)bc;
  int rows, cols;
  double *S = dense_map(x, GMG_MAP_RESTRICT, &rows, &cols);
  for (int r = 0; r < rows; r++) {
    double sum = 0;
    for (int c = 0; c < cols; c++) {
      assert_true(S[r * cols + c] > -1e-12);
      sum += S[r * cols + c];
    }
    assert_near(sum, 1, 1e-12);
  }
  if (x->fine.spec.centering == GMG_CELL) /* averaging conserves the integral */
    for (int c = 0; c < cols; c++) {
      double sum = 0;
      for (int r = 0; r < rows; r++) sum += S[r * cols + c] * x->coarse.h;
      assert_near(sum, x->fine.h, 1e-12);
    }
  free(S);
}

static void restriction_averages(void **state)
{
  (void)state;
  for_all(average);
}

static void adjoint(pair_of_axes *x, const char *bc)
{
  (void)bc;
  int rows, cols, r2, c2;
  double *P = dense_map(x, GMG_MAP_PROLONG, &rows, &cols), *Rt = dense_map(x, GMG_MAP_RESTRICT_ADJOINT, &r2, &c2);
  assert_int_equal(rows, c2);
  assert_int_equal(cols, r2);
  for (int r = 0; r < rows; r++)
    for (int c = 0; c < cols; c++)
      assert_near(Rt[c * rows + r] * x->coarse.volume[c], P[r * cols + c] * x->fine.volume[r], 1e-13);
  free(P), free(Rt);
}

static void adjoint_restriction_is_the_adjoint(void **state)
{
  (void)state;
  for_all(adjoint);
}

/* The tensor kernel against the product written out, periodic and odd sizes, pieces and wraps included. */
static void tensor_product(void **state)
{
  (void)state;
  static const size_t n[][3] = {{5, 4, 3}, {33, 9, 6}, {2, 7, 1}, {5000, 2, 1}, {4099, 1, 1}};
  for (int i = 0; i < 5; i++)
    for (int add = 0; add < 2; add++)
      for (int kind = GMG_MAP_PROLONG; kind <= GMG_MAP_RESTRICT; kind++) {
        pair_of_axes x[3];
        gmg_map m[3];
        double *d[3];
        int rows[3], cols[3];
        for (int a = 0; a < 3; a++) {
          x[a] = make_pair(n[i][a] > 1 ? n[i][a] : 2, a == 1 ? GMG_VERTEX : GMG_CELL, a == 2 ? "dn" : "pp");
          assert_ok(x[0].context, gmg_map_create(&x[0].exec, kind, &x[a].fine, &x[a].coarse, &m[a]));
          d[a] = dense_map(&x[a], kind, &rows[a], &cols[a]);
        }
        const size_t in = (size_t)cols[0] * (size_t)cols[1] * (size_t)cols[2];
        const size_t out = (size_t)rows[0] * (size_t)rows[1] * (size_t)rows[2];
        double *u = calloc(in, sizeof *u), *v = calloc(out, sizeof *v), *w = calloc(out, sizeof *w);
        fill_random(u, in, 5);
        fill_random(v, out, 6);
        memcpy(w, v, out * sizeof *w);
        gmg_grid_ops_of(&x[0].exec)->transfer(&x[0].exec, m, u, v, add);
        for (int k = 0; k < rows[2]; k++)
          for (int j = 0; j < rows[1]; j++)
            for (int p = 0; p < rows[0]; p += rows[0] > 100 ? 97 : 1) {
              double s = add ? w[(k * rows[1] + j) * rows[0] + p] : 0;
              for (int c = 0; c < cols[2]; c++)
                for (int b = 0; b < cols[1]; b++) {
                  const double weight = d[2][k * cols[2] + c] * d[1][j * cols[1] + b];
                  for (int a = 0; weight != 0 && a < cols[0]; a++)
                    s += weight * d[0][p * cols[0] + a] * u[(c * cols[1] + b) * cols[0] + a];
                }
              assert_near(v[(k * rows[1] + j) * rows[0] + p], s, 1e-13);
            }
        for (int a = 0; a < 3; a++) free(d[a]);
        for (int a = 0; a < 3; a++) end_pair(&x[a]);
        free(u), free(v), free(w);
      }
}

/* The position of a coarse unknown, or of the ghost beyond a wall (-1 and n), and its value on a line of coarse values. The value
   on a wall is zero. */
static double place_of(const gmg_axis *x, long i)
{
  const long n = (long)x->n;
  if (i >= 0 && i < n) return x->x[i];
  if (!gmg_axis_periodic(x)) return x->ghost_x[i >= 0];
  return i < 0 ? x->x[n - 1] - x->spec.length : x->x[0] + x->spec.length;
}

static double value_of(const gmg_axis *x, const double *c, size_t stride, long i)
{
  const long n = (long)x->n;
  if (i >= 0 && i < n) return c[(size_t)i * stride];
  if (gmg_axis_periodic(x)) return c[(size_t)((i + n) % n) * stride];
  return x->ghost_u[i >= 0] * c[(size_t)(i < 0 ? 0 : n - 1) * stride];
}

/* Prolongation with coefficients by definition: the parent's value, and along every axis linear interpolation towards the
   neighbour on the unknown's side, times min(1, coefficient of the face towards the neighbour / coefficient of the face behind). */
static double by_definition(const gmg_level *L, const gmg_axis coarse[3], const gmg_axis fine[3], const double *c, const size_t at[3])
{
  size_t parent[3], stride[3] = {1, coarse[0].n, coarse[0].n * coarse[1].n};
  for (int a = 0; a < 3; a++) parent[a] = L->A.coarsened[a] ? at[a] / 2 : at[a];
  const double *here = c + parent[0] + parent[1] * stride[1] + parent[2] * stride[2];
  double v = *here;
  for (int a = 0; a < L->A.dim; a++) {
    const double x = fine[a].x[at[a]], X = coarse[a].x[parent[a]];
    if (!L->A.coarsened[a] || fabs(x - X) < 1e-12) continue;
    const int up = x > X;
    const long beside = (long)parent[a] + (up ? 1 : -1);
    const double *line = here - parent[a] * stride[a];
    const double s = (x - X) / (place_of(&coarse[a], beside) - X);
    const size_t m[3] = {L->A.n[0] + (a == 0), L->A.n[1] + (a == 1), L->A.n[2]};
    size_t low[3] = {at[0], at[1], at[2]}, high[3] = {at[0], at[1], at[2]};
    high[a]++;
    const double *face = L->A.face[a], below = face[(low[2] * m[1] + low[1]) * m[0] + low[0]],
                 above = face[(high[2] * m[1] + high[1]) * m[0] + high[0]];
    v += fmin(1, up ? above / below : below / above) * s * (value_of(&coarse[a], line, stride[a], beside) - *here);
  }
  return v;
}

static void prolongation_by_faces(void **state)
{
  (void)state;
  static const struct {
    shape shape;
    double box[3];
  } cases[] = {{{1, {64, 1, 1}, GMG_CELL, "dd"}, {1, 1, 1}},          {{1, {37, 1, 1}, GMG_VERTEX, "nr"}, {1, 1, 1}},
               {{2, {40, 33, 1}, GMG_CELL, "dnpp"}, {1, 1, 1}},       {{2, {31, 48, 1}, GMG_VERTEX, "ppdr"}, {1, 1, 1}},
               {{3, {33, 18, 20}, GMG_CELL, "ddrnpp"}, {1, 1, 1}},    {{3, {24, 17, 35}, GMG_VERTEX, "ppnddd"}, {1, 1, 1}},
               {{2, {32, 32, 1}, GMG_CELL, "dddd"}, {1, 9, 1}},       {{2, {32, 32, 1}, GMG_CELL, "nnnn"}, {9, 1, 1}},
               {{3, {20, 20, 20}, GMG_CELL, "dddddd"}, {9, 1, 1}},    {{3, {19, 20, 21}, GMG_CELL, "dddddd"}, {1, 1, 9}}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    for (int stretched = 0; stretched < 2; stretched++) {
      gmg_problem p = shaped_problem(&cases[i].shape);
      gmg_params q = params_for_cycles();
      double *coord[3] = {NULL}, *beta = field(unknowns(&p), 7);
      gmg_problem_set_box(&p, cases[i].box);
      for (size_t k = 0; k < unknowns(&p); k++) beta[k] = pow(10, 6 * beta[k]);
      p.beta = beta;
      for (int a = 0; a < p.dim && stretched; a++) {
        const gmg_axis_spec spec = gmg_axis_spec_of(&p, a);
        coord[a] = malloc((spec.mesh + 2) * sizeof *coord[a]);
        for (size_t k = 0; k <= spec.mesh + 1; k++) coord[a][k] = p.h[a] * ((double)k + 0.3 * sin((double)k));
        p.coord[a] = coord[a];
      }
      q.precision = GMG_PRECISION_SAME;
      session s = begin_solver(&p, &q, 2);
      gmg_axis_spec spec[3], next[3];
      for (int a = 0; a < 3; a++) spec[a] = gmg_axis_spec_of(&p, a);
      for (int l = 0; l + 1 < s.solver->levels; l++, memcpy(spec, next, sizeof spec)) {
        const gmg_level *L = &s.solver->level[l], *C = &s.solver->level[l + 1];
        gmg_axis fine[3], coarse[3];
        assert_true(L->operator_dependent);
        for (int a = 0; a < 3; a++) {
          next[a] = L->A.coarsened[a] ? gmg_axis_spec_coarsened(&spec[a]) : spec[a];
          assert_ok(s.context, gmg_axis_create(s.context, &spec[a], &fine[a]));
          assert_ok(s.context, gmg_axis_create(s.context, &next[a], &coarse[a]));
        }
        double *c = field(C->A.cells, 5), *u = field(L->A.cells, 6), *before = field(L->A.cells, 6);
        s.solver->grid->prolong_faces(&s.solver->exec, &L->A, L->prolong, c, u);
        for (size_t k = 0; k < L->A.cells; k++) {
          const size_t at[3] = {k % L->A.n[0], k / L->A.n[0] % L->A.n[1], k / (L->A.n[0] * L->A.n[1])};
          assert_near(u[k] - before[k], by_definition(L, coarse, fine, c, at), 1e-12);
        }
        for (int a = 0; a < 3; a++) gmg_axis_destroy(&fine[a]), gmg_axis_destroy(&coarse[a]);
        free(c), free(u), free(before);
      }
      end_solver(&s);
      for (int a = 0; a < 3; a++) free(coord[a]);
      free(beta);
    }
}

/* Checks the prolongation on every level. */
static void restricts_the_residual(gmg_problem p, gmg_restriction restriction, int variable, int threads)
{
  const size_t cells = unknowns(&p);
  double *values = field(cells, 1), *more = field(cells, 2), *beta = field(cells, 3);
  for (size_t c = 0; c < cells; c++) beta[c] = 1 + beta[c] * beta[c];
  p.h[0] = 1, p.h[1] = 1.1, p.h[2] = 0.9, p.shift = 0.7;
  void *f = typed(&p, values, cells), *u = typed(&p, more, cells), *b = typed(&p, beta, cells);
  gmg_params q = params_for_cycles();
  q.accel = GMG_ACCEL_NONE, q.precision = GMG_PRECISION_SAME, q.restriction = restriction;
  if (variable) p.beta = b;
  session s = begin_solver(&p, &q, threads);
  gmg_solver *S = s.solver;
  for (int l = 0; l + 1 < S->levels; l++) {
    gmg_level *L = &S->level[l], *C = &S->level[l + 1];
    gmg_problem coarse = p;
    for (int a = 0; a < 3; a++) coarse.n[a] = C->A.n[a];
    gmg_operator_of(&S->exec, &L->A)->residual(&S->exec, &L->A, f, u, L->r);
    S->grid->transfer(&S->exec, L->restrict_, L->r, C->u, 0);
    double *expected = untyped(&coarse, C->u, C->A.cells), most = 0;
    gmg_operator_of(&S->exec, &L->A)->restrict_residual(&S->exec, &L->A, L->restrict_, f, u, L->r, C->f);
    double *got = untyped(&coarse, C->f, C->A.cells);
    for (size_t c = 0; c < C->A.cells; c++) most = fmax(most, fabs(expected[c]));
    for (size_t c = 0; c < C->A.cells; c++) assert_near(got[c], expected[c], (p.type == GMG_F32 ? 1e-5 : 1e-14) * most);
    free(expected), free(got);
  }
  end_solver(&s);
  free(values), free(more), free(beta), free(f), free(u), free(b);
}

/* restrict_residual(), which does not store the residual, against the residual and then the map. Problems of all kinds and sizes,
   both types, some with variable coefficients, with one thread and with two. */
static void restricted_residual_is_the_residual_restricted(void **state)
{
  static const struct {
    const char *bc;
    int threads;
  } walls[] = {{"dddddd", 1}, {"nrdnrd", 2}, {"pppppp", 1}, {"ddppnn", 2}};
  enum { VARIABLE_EVERY = 5 };
  static const size_t n[][3] = {{32, 24, 16}, {33, 21, 17}, {150, 14, 12}, {20, 4, 3}, {26, 2, 40}, {40, 31, 1}};
  static const gmg_centering centerings[] = {GMG_CELL, GMG_VERTEX};
  static const gmg_restriction restrictions[] = {GMG_RESTRICT_AUTO, GMG_RESTRICT_AVERAGE, GMG_RESTRICT_ADJOINT};
  static const gmg_type types[] = {GMG_F64, GMG_F32};
  int number = 0;
  (void)state;
  for (int t = 0; t < 2; t++)
    for (int r = 0; r < 3; r++)
      for (int c = 0; c < 2; c++)
        for (int i = 0; i < 6; i++)
          for (int b = 0; b < 4; b++, number++) {
            const int variable = number % VARIABLE_EVERY == 0;
            gmg_problem p = make_problem(n[i][2] > 1 ? 3 : 2, n[i][0], n[i][1], n[i][2], centerings[c], walls[b].bc);
            p.type = types[t];
            restricts_the_residual(p, restrictions[r], variable, walls[b].threads);
          }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(prolongation_keeps_constants),
                                     cmocka_unit_test(prolongation_keeps_linear_functions),
                                     cmocka_unit_test(restriction_averages),
                                     cmocka_unit_test(adjoint_restriction_is_the_adjoint),
                                     cmocka_unit_test(tensor_product), cmocka_unit_test(prolongation_by_faces),
                                     cmocka_unit_test(restricted_residual_is_the_residual_restricted)};
  return run_selected(tests);
}
