/* 1D maps and their tensor products, for all sizes: functions that they must reproduce. */
#include "sample.h"

#include "internals.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const pairs[] = {"dd", "dn", "nd", "nn", "dr", "rr", "pp"};
static const size_t sizes[] = {2, 3, 4, 5, 7, 8, 9, 16, 31, 33, 34, 35, 64, 65, 67, 97, 101};
enum { PAIRS = sizeof pairs / sizeof *pairs, SIZES = sizeof sizes / sizeof *sizes };

typedef struct {
  gmg_context *context;
  gmg_exec exec;
  gmg_axis fine, coarse;
} pair_of_axes;

static pair_of_axes make_pair(size_t n, gmg_centering centering, const char *bc)
{
  pair_of_axes x = {0};
  const gmg_problem p = make_problem(1, n, 1, 1, centering, bc);
  assert_int_equal(gmg_context_create_host(1, &x.context), GMG_OK);
  x.exec = gmg_exec_make(x.context, GMG_F64, 0);
  const gmg_axis_spec fine = gmg_axis_spec_of(&p, 0), coarse = gmg_axis_spec_coarsened(&fine);
  assert_true(coarse.n < fine.n && coarse.n >= 1);
  assert_ok(x.context, gmg_axis_create(x.context, &fine, &x.fine));
  assert_ok(x.context, gmg_axis_create(x.context, &coarse, &x.coarse));
  assert_near(x.coarse.spec.length, x.fine.spec.length, 1e-15);
  return x;
}

static void end_pair(pair_of_axes *x)
{
  gmg_axis_destroy(&x->fine);
  gmg_axis_destroy(&x->coarse);
  gmg_exec_release(&x->exec);
  gmg_context_destroy(x->context);
}

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

static void for_all(void (*check)(pair_of_axes *x, const char *bc))
{
  for (int centering = GMG_CELL; centering <= GMG_VERTEX; centering++)
    for (int b = 0; b < PAIRS; b++)
      for (int i = 0; i < SIZES; i++) {
        pair_of_axes x = make_pair(sizes[i], centering, pairs[b]);
        check(&x, pairs[b]);
        end_pair(&x);
      }
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

/* --- long axes ------------------------------------------------------------------------------------------------------------------ */

/* The axis with an entry for each row. Positions stay unknown: maps of uniform axes do not need them. */
static gmg_axis with_all_entries(const gmg_axis *x)
{
  gmg_axis whole = *x;
  double *const from[] = {x->x, x->lo, x->hi, x->lo_diag, x->hi_diag, x->diag, x->volume};
  double **const to[] = {&whole.x, &whole.lo, &whole.hi, &whole.lo_diag, &whole.hi_diag, &whole.diag, &whole.volume};
  double *values = calloc(COUNT(to) * x->n, sizeof *values);
  whole.entries = x->n;
  for (int a = 0; a < COUNT(to); a++) {
    *to[a] = values + (size_t)a * x->n;
    for (size_t i = 0; i < x->n; i++) (*to[a])[i] = from[a][gmg_axis_entry(x, i)];
  }
  return whole;
}

static void are_equal_maps(const gmg_map *a, const gmg_map *b, const char *bc, int kind)
{
  const size_t rows = (size_t)a->rows, values = rows * (size_t)a->width;
  if (a->rows != b->rows || a->cols != b->cols || a->width != b->width || a->pairs != b->pairs || a->begin != b->begin ||
      a->end != b->end || a->period != b->period || a->step != b->step)
    fail_msg("%s, map %d: rows %d %d, cols %d %d, width %d %d, pairs %d %d, %d..%d %d..%d, period %d %d, step %d %d", bc, kind, a->rows,
             b->rows, a->cols, b->cols, a->width, b->width, (int)a->pairs, (int)b->pairs, a->begin, a->end, b->begin, b->end, a->period,
             b->period, a->step, b->step);
  assert_memory_equal(a->repeat, b->repeat, sizeof a->repeat);
  assert_memory_equal(a->at, b->at, sizeof a->at);
  assert_memory_equal(a->weight, b->weight, values * sizeof(double));
  assert_memory_equal(a->first, b->first, rows * sizeof(int));
  assert_memory_equal(a->wrap - GMG_MAP_PAD, b->wrap - GMG_MAP_PAD, ((size_t)a->cols + 2 * GMG_MAP_PAD) * sizeof(int));
}

/* Maps of long axes are made from those of short ones. They have the bits of maps that are built row by row. */
static void long_axes(void **state)
{
  (void)state;
  static const size_t n[] = {8193, 8194, 16384, 16385, 16387, 20001, 40000};
  static const gmg_map_kind kinds[] = {GMG_MAP_PROLONG, GMG_MAP_RESTRICT, GMG_MAP_RESTRICT_ADJOINT, GMG_MAP_INTERPOLATE, GMG_MAP_IDENTITY};
  int compared = 0;
  for (int i = 0; i < COUNT(n); i++)
    for (int centering = GMG_CELL; centering <= GMG_VERTEX; centering++)
      for (int b = 0; b < PAIRS; b++)
        for (int same = 0; same < 2; same++) {
          pair_of_axes x = make_pair(n[i], centering, pairs[b]);
          assert_int_equal(x.fine.entries, GMG_AXIS_SHORT);
          gmg_axis fine = with_all_entries(&x.fine), coarse = with_all_entries(&x.coarse);
          assert_near(gmg_axis_length(&x.fine), gmg_axis_length(&fine), 1e-11);
          for (int k = 0; k < COUNT(kinds); k++) {
            gmg_map fast, slow;
            assert_ok(x.context, gmg_map_create(&x.exec, kinds[k], &x.fine, same ? &x.fine : &x.coarse, &fast));
            assert_ok(x.context, gmg_map_create(&x.exec, kinds[k], &fine, same ? &fine : &coarse, &slow));
            are_equal_maps(&fast, &slow, pairs[b], (int)kinds[k]);
            compared++;
          }
          free(fine.x), free(coarse.x);
          end_pair(&x);
        }
  assert_int_equal(compared, COUNT(n) * 2 * PAIRS * 2 * COUNT(kinds));
}

/* The rows of an operator on a long axis, in memory of the solver: those of a short axis of the same mesh width. */
static void rows_of_long_axes(void **state)
{
  (void)state;
  enum { LONG = 9000, SHORT = 50 };
  for (int centering = GMG_CELL; centering <= GMG_VERTEX; centering++)
    for (int b = 0; b < PAIRS; b++)
      for (int type = 0; type < 2; type++) {
        gmg_problem p[2];
        session s[2];
        for (int k = 0; k < 2; k++) {
          gmg_params q = gmg_params_default();
          p[k] = make_problem(1, k ? SHORT : LONG, 1, 1, centering, pairs[b]);
          p[k].type = (gmg_type)type, p[k].h[0] = 0.25;
          q.precision = GMG_PRECISION_SAME;
          s[k] = begin_solver(&p[k], &q, 1);
        }
        const gmg_operator *A = &s[0].solver->level[0].A, *B = &s[1].solver->level[0].A;
        const void *const of_long[] = {A->lo[0], A->hi[0], A->diag[0], A->volume[0]}, *const of_short[] = {B->lo[0], B->hi[0], B->diag[0], B->volume[0]};
        const size_t size = type == GMG_F64 ? sizeof(double) : sizeof(float);
        assert_int_equal(A->uniform[0], B->uniform[0]);
        for (int a = 0; a < COUNT(of_long); a++)
          for (size_t i = 0; i < LONG; i++) {
            const size_t like = i < SHORT / 2 ? i : i >= LONG - SHORT / 2 ? i - (LONG - SHORT) : SHORT / 2;
            assert_memory_equal((const char *)of_long[a] + i * size, (const char *)of_short[a] + like * size, size);
          }
        end_solver(&s[0]), end_solver(&s[1]);
      }
}

/* gmg_map::near_pairs on all axes that are long enough, and gmg_map::place against the weights. */
static void places_agree(const char *name, const gmg_map *m)
{
  if (!m->near_pairs || !m->has_places) fail_msg("%s: near pairs %d, places %d", name, m->near_pairs, m->has_places);
  for (int r = GMG_NEAR_ENDS; r < m->rows - 2; r++) {
    const double *w = (const double *)m->weight + 2 * r, place = m->place[r % 2] + m->slope * (r / 2);
    const double at = m->first[r] + w[1] - (r / 2) - m->shift;
    assert_near(w[0] + w[1], 1, 1e-12);
    assert_near(at, place, 1e-9);
    assert_true(place >= -1 && place <= 1);
    assert_false(r % 2 && place < -1e-9 && m->place[0] + m->slope * (r / 2) > 1e-9);
  }
}

static void are_near_pairs(pair_of_axes *x, const char *bc)
{
  char name[50];
  gmg_map m;
  if (x->fine.n < 2 * GMG_NEAR_ENDS) return;
  assert_ok(x->context, gmg_map_create(&x->exec, GMG_MAP_PROLONG, &x->fine, &x->coarse, &m));
  snprintf(name, sizeof name, "%zu unknowns, %s", x->fine.n, bc);
  places_agree(name, &m);
  assert_ok(x->context, gmg_map_create(&x->exec, GMG_MAP_IDENTITY, &x->fine, &x->fine, &m));
  assert_true(!m.near_pairs && !m.has_places);
}

static void near_pairs(void **state)
{
  (void)state;
  for_all(are_near_pairs);
}

/* Parts of axes that are coarsened in pairs: the plane sweep prolongs in its pass there, too. */
static void near_pairs_of_parts(void **state)
{
  static const char *const walls[] = {"dd", "nn", "rn", "pp"};
  enum { N = 128, GHOSTS = 8 };
  (void)state;
  for (int b = 0; b < COUNT(walls); b++) {
    pair_of_axes x = make_pair(N, GMG_CELL, walls[b]);
    for (int low = 0; low < N; low += 32) {
      const int wraps = walls[b][0] == 'p', from = low > 0 || wraps ? low - GHOSTS : 0, to = low + 32 < N || wraps ? low + 32 + GHOSTS : N;
      const int coarse_from = low > 0 || wraps ? low / 2 - GHOSTS : 0, coarse_to = low + 32 < N || wraps ? low / 2 + 16 + GHOSTS : N / 2;
      const gmg_span fine = {from, (size_t)(to - from)}, coarse = {coarse_from, (size_t)(coarse_to - coarse_from)};
      gmg_map m;
      assert_ok(x.context, gmg_map_create_part(&x.exec, GMG_MAP_PROLONG, &x.fine, &x.coarse, fine, coarse, &m));
      assert_int_equal(m.pairs_inside, GMG_PAIRS_LINEAR);
      places_agree(walls[b], &m);
    }
    end_pair(&x);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(near_pairs), cmocka_unit_test(near_pairs_of_parts),
                                     cmocka_unit_test(prolongation_keeps_constants),
                                     cmocka_unit_test(prolongation_keeps_linear_functions),
                                     cmocka_unit_test(restriction_averages),
                                     cmocka_unit_test(adjoint_restriction_is_the_adjoint),
                                     cmocka_unit_test(tensor_product), cmocka_unit_test(prolongation_by_faces),
                                     cmocka_unit_test(restricted_residual_is_the_residual_restricted),
                                     cmocka_unit_test(long_axes),
                                     cmocka_unit_test(rows_of_long_axes)};
  return run_selected(tests);
}
