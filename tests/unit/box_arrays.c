/* Variable box stencils: the operator against its definition, entry by entry; coarse operators against dense Galerkin products,
   whose maps come from unit vectors; entries in low precision; bad rows that create finds. */
#include "internals.h"
#include "varying.h"

#include <math.h>

static const shape shapes[] = {{1, {9, 1, 1}, GMG_VERTEX, "dd"},      {1, {5, 1, 1}, GMG_VERTEX, "nn"},
                               {1, {2, 1, 1}, GMG_VERTEX, "pp"},      {1, {1, 1, 1}, GMG_VERTEX, "nn"},
                               {1, {1, 1, 1}, GMG_VERTEX, "pp"},      {2, {7, 5, 1}, GMG_VERTEX, "dddd"},
                               {2, {6, 9, 1}, GMG_VERTEX, "ndpp"},    {2, {3, 1, 1}, GMG_VERTEX, "ppnn"},
                               {2, {1, 8, 1}, GMG_VERTEX, "ddnd"},    {3, {6, 5, 4}, GMG_VERTEX, "dddddd"},
                               {3, {4, 3, 5}, GMG_VERTEX, "nnndpp"},  {3, {5, 4, 3}, GMG_VERTEX, "pppppp"},
                               {3, {2, 1, 3}, GMG_VERTEX, "nnppdn"},  {3, {4500, 2, 2}, GMG_VERTEX, "dnnnpp"},
                               {1, {7, 1, 1}, GMG_CELL, "dn"},        {1, {1, 1, 1}, GMG_CELL, "nd"},
                               {2, {5, 6, 1}, GMG_CELL, "ddnn"},      {3, {4, 3, 5}, GMG_CELL, "dnppnd"},
                               {3, {1, 2, 3}, GMG_CELL, "ddnnpp"}};

static varying entries_for(const gmg_problem *p, double sigma)
{
  return p->centering == GMG_CELL ? varying_cells(p, beta_rough, sigma, 0.3) : varying_q1(p, beta_rough, sigma);
}

static gmg_params plain(void)
{
  gmg_params q = params_for_cycles();
  q.precision = GMG_PRECISION_SAME, q.coarse = GMG_COARSE_CG;
  return q;
}

/* v = A u by definition, |A| |u| and the diagonal. */
static void by_definition(const gmg_problem *p, const double *u, double *v, double *size, double *diag)
{
  const long n[3] = {(long)p->n[0], (long)p->n[1], (long)p->n[2]};
  for (size_t c = 0; c < unknowns(p); c++) {
    const long i = (long)c % n[0], j = (long)c / n[0] % n[1], k = (long)c / (n[0] * n[1]);
    const size_t place = place_in(p, p->n, &p->coefficient_layout, (size_t)i, (size_t)j, (size_t)k);
    v[c] = p->shift * u[c], diag[c] = p->shift, size[c] = p->shift * fabs(u[c]);
    for (int e = 0; e < 27; e++) {
      const long x = neighbour_at(p, 0, i, e % 3 - 1), y = neighbour_at(p, 1, j, e / 3 % 3 - 1), z = neighbour_at(p, 2, k, e / 9 - 1);
      if (!has_entry(p->dim, e) || x < 0 || y < 0 || z < 0) continue;
      const size_t at = (size_t)((z * n[1] + y) * n[0] + x);
      const double a = value_at(p, (&p->stencil->array[0][0][0])[e], place);
      const long here[3] = {i, j, k};
      v[c] += sign_of(p, here, e) * a * u[at], size[c] += fabs(a) * fabs(u[at]);
      if (at == c) diag[c] += sign_of(p, here, e) * a;
    }
  }
}

/* Packed arrays, and arrays with gaps, which hold NaN. */
static void operator_is_its_definition(void **state)
{
  (void)state;
  for (int i = 0; i < COUNT(shapes); i++)
    for (int shift = 0; shift < 2; shift++)
      for (int gaps = 0; gaps < 2; gaps++) {
        gmg_problem p = shaped_problem(&shapes[i]);
        gmg_params q = plain();
        if (gaps) p.coefficient_layout = (gmg_array_layout){p.n[0] + 3, (p.n[0] + 3) * (p.n[1] + 2), 5};
        varying box = entries_for(&p, 1);
        p.stencil = &box.stencil, p.shift = 10 * shift, q.max_levels = 1;
        session s = begin_solver(&p, &q, 2);
        const gmg_operator *A = &s.solver->finest->A;
        const gmg_exec *e = &s.solver->exec;
        const gmg_operator_ops *op = gmg_operator_of(e, A);
        const size_t n = unknowns(&p);
        double *u = field(n, 3), *f = field(n, 4), *v = field(n, 0), *size = field(n, 0), *diag = field(n, 0), *got = field(n, 0);
        by_definition(&p, u, v, size, diag);
        op->apply(e, A, u, got);
        for (size_t c = 0; c < n; c++) assert_near(got[c], v[c], 1e-13 * (size[c] + 1));
        op->residual(e, A, f, u, got);
        for (size_t c = 0; c < n; c++) assert_near(got[c], f[c] - v[c], 1e-13 * (size[c] + 1));
        double wanted = 0, f_norm;
        for (size_t c = 0; c < n; c++) wanted += (f[c] - v[c]) * (f[c] - v[c]);
        assert_near(op->measure_residual(e, A, f, u, NULL, NULL, NULL, &f_norm, GMG_WAIT), sqrt(wanted), 1e-11 * norm2(size, n));
        assert_near(f_norm, norm2(f, n), 1e-12 * f_norm);
        if (p.centering == GMG_VERTEX && strcmp(shapes[i].bc, "nn") && p.n[0] > 2 && p.n[1] != 1) /* cells at walls, and few unknowns on a periodic axis, have entries for one neighbour */
          assert_near(op->magnitude(e, A, u), norm2(size, n), 1e-12 * norm2(size, n));
        op->over_diagonal(e, A, f, got);
        for (size_t c = 0; c < n; c++) assert_near(got[c], f[c] / diag[c], 1e-13 * fabs(f[c] / diag[c]));
        free(u), free(f), free(v), free(size), free(diag), free(got);
        free_varying(&box);
        end_solver(&s);
      }
}

/* The matrix [rows][columns] of a level, or of the maps between two levels, from unit vectors. */
static double *matrix_of(const gmg_exec *e, const gmg_operator *A, const gmg_map map[3], size_t rows, size_t columns)
{
  double *m = field(rows * columns, 0), *x = field(columns, 0), *y = field(rows, 0);
  for (size_t c = 0; c < columns; c++) {
    x[c] = 1;
    if (map) gmg_grid_ops_of(e)->transfer(e, map, x, y, 0);
    else gmg_operator_of(e, A)->apply(e, A, x, y);
    for (size_t r = 0; r < rows; r++) m[r * columns + c] = y[r];
    x[c] = 0;
  }
  free(x), free(y);
  return m;
}

static double *product(const double *a, const double *b, size_t rows, size_t inner, size_t columns)
{
  double *m = field(rows * columns, 0);
  for (size_t r = 0; r < rows; r++)
    for (size_t k = 0; k < inner; k++)
      for (size_t c = 0; c < columns; c++) m[r * columns + c] += a[r * inner + k] * b[k * columns + c];
  return m;
}

static const shape nested[] = {{1, {31, 1, 1}, GMG_VERTEX, "dd"},    {1, {17, 1, 1}, GMG_VERTEX, "nn"},   {1, {16, 1, 1}, GMG_VERTEX, "pp"},
                               {1, {16, 1, 1}, GMG_VERTEX, "nd"},    {2, {15, 11, 1}, GMG_VERTEX, "dddd"}, {2, {9, 12, 1}, GMG_VERTEX, "nnpp"},
                               {2, {14, 8, 1}, GMG_VERTEX, "pppp"},  {2, {15, 10, 1}, GMG_VERTEX, "dddd"}, /* one axis only */
                               {3, {7, 5, 8}, GMG_VERTEX, "ddnnpp"}, {3, {4, 7, 4}, GMG_VERTEX, "dnddpp"}, {3, {8, 4, 4}, GMG_VERTEX, "pppppp"},
                               {3, {3, 3, 3}, GMG_VERTEX, "nnnnnn"}, {1, {21, 1, 1}, GMG_CELL, "dn"},  {1, {9, 1, 1}, GMG_CELL, "pp"},
                               {2, {8, 7, 1}, GMG_CELL, "ddnn"},     {2, {5, 12, 1}, GMG_CELL, "ndpp"}, {3, {4, 5, 6}, GMG_CELL, "ddnnpp"}};

/* Divides the couplings between merged cells by 1.8, and keeps the row sums. */
static void weaken(const gmg_level *L, const gmg_operator *C, double *m)
{
  for (size_t r = 0; r < C->cells && L->axis[0].centering == GMG_CELL && L->axis[0].nested; r++)
    for (size_t c = 0; c < C->cells; c++) {
      int merged = 0;
      for (size_t a = 0, x = r, y = c; a < 3; x /= C->n[a], y /= C->n[a], a++) merged |= L->A.coarsened[a] && x % C->n[a] != y % C->n[a];
      if (!merged) continue;
      m[r * C->cells + r] += m[r * C->cells + c] * (1 - 1 / 1.8);
      m[r * C->cells + c] /= 1.8;
    }
}

static void coarse_operators_are_galerkin(void **state)
{
  (void)state;
  for (int i = 0; i < COUNT(nested); i++)
    for (int fmg = 0; fmg < 2; fmg++) {
      gmg_problem p = shaped_problem(&nested[i]);
      for (int a = 0; a < p.dim; a++) p.h[a] = 1.0 / (double)p.n[a];
      for (int a = 0; a < p.dim; a++) p.h[a] = p.h[0]; /* all axes are coarsened */
      gmg_params q = plain();
      varying box = entries_for(&p, 3);
      p.stencil = &box.stencil, p.shift = 2, q.coarse_cells = 1, q.fmg = fmg ? 1 : GMG_NONE;
      session s = begin_solver(&p, &q, 2);
      const gmg_exec *e = &s.solver->exec;
      assert_true(s.solver->levels > 1);
      double *fine = matrix_of(e, &s.solver->level[0].A, NULL, unknowns(&p), unknowns(&p)), *given = dense_of(&p), most = 0;
      for (size_t c = 0; c < unknowns(&p) * unknowns(&p); c++) most = fmax(most, fabs(given[c]));
      for (size_t c = 0; c < unknowns(&p) * unknowns(&p); c++) assert_near(fine[c], given[c], 1e-14 * most);
      free(given);
      for (int l = 0; l + 1 < s.solver->levels; l++) {
        const gmg_level *L = &s.solver->level[l], *C = &s.solver->level[l + 1];
        const size_t n = L->A.cells, m = C->A.cells;
        double *up = matrix_of(e, NULL, L->prolong, n, m), *down = matrix_of(e, NULL, L->restrict_, m, n);
        double *half = product(fine, up, n, n, m), *wanted = product(down, half, m, n, m);
        weaken(L, &C->A, wanted);
        double *coarse = matrix_of(e, &C->A, NULL, m, m);
        for (size_t c = 0; c < m * m; c++) assert_near(coarse[c], wanted[c], 1e-13 * most);
        free(up), free(down), free(half), free(wanted), free(fine);
        fine = coarse;
      }
      free(fine);
      free_varying(&box);
      end_solver(&s);
    }
}

/* In low precision the entries of the finest level are the problem's, rounded. */
static void low_precision_is_rounded(void **state)
{
  (void)state;
  gmg_problem p = make_problem(2, 31, 17, 1, GMG_VERTEX, "ddnn");
  gmg_params q = params_for_cycles();
  p.h[0] = p.h[1] = 1 / 32.;
  varying box = varying_q1(&p, beta_smooth, 0);
  p.stencil = &box.stencil, q.precision = GMG_PRECISION_MIXED;
  session s = begin_solver(&p, &q, 2);
  const gmg_operator *A = &s.solver->finest->A, *low = &s.solver->level[0].A;
  assert_int_equal(A->type, GMG_F64);
  assert_int_equal(low->type, GMG_F32);
  for (int e = 0; e < 27; e++) {
    if (!has_entry(2, e)) assert_null(A->box->array[e]);
    for (size_t c = 0; has_entry(2, e) && c < A->cells; c++)
      assert_near(((const float *)low->box->array[e])[c], (float)((const double *)A->box->array[e])[c], 0);
  }
  free_varying(&box);
  end_solver(&s);
}

/* The range of high frequencies is that of constant entries, up to the sampling of frequencies. */
static void smoothing_range(void **state)
{
  (void)state;
  gmg_problem p = make_problem(2, 63, 63, 1, GMG_VERTEX, "dddd");
  gmg_params q = plain();
  const gmg_stencil constant = gmg_stencil_q1(2, p.h, 0);
  varying box = varying_q1(&p, beta_one, 0);
  double low[2], high[2];
  for (int varies = 0; varies < 2; varies++) {
    p.stencil = varies ? &box.stencil : &constant;
    session s = begin_solver(&p, &q, 1);
    gmg_smoothing_range(&s.solver->level[0].A, &low[varies], &high[varies]);
    end_solver(&s);
  }
  assert_near(low[1], low[0], 1e-12);
  assert_near(high[1], high[0], 1e-12);
  free_varying(&box);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(operator_is_its_definition), cmocka_unit_test(coarse_operators_are_galerkin),
                                     cmocka_unit_test(low_precision_is_rounded), cmocka_unit_test(smoothing_range)};
  return run_selected(tests);
}
