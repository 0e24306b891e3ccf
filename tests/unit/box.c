/* Box stencils: the operator against its definition, entry by entry, and the stencils of coarse levels. */
#include "boxes.h"
#include "internals.h"

#include <math.h>

/* The neighbour of index i at distance d; -1: there is none. */
static long neighbour(long i, int d, long n, const gmg_bc *bc)
{
  const long at = i + d;
  if (at >= 0 && at < n) return at;
  if (bc[0] == GMG_PERIODIC) return (at + n) % n;
  if (bc[at >= n] != GMG_NEUMANN) return -1;
  return n == 1 ? 0 : i - d;
}

/* v = A u by definition, |A| |u| and the diagonal. */
static void by_definition(const gmg_problem *p, const double *u, double *v, double *size, double *diag)
{
  const long n[3] = {(long)p->n[0], (long)p->n[1], (long)p->n[2]};
  for (long k = 0; k < n[2]; k++)
    for (long j = 0; j < n[1]; j++)
      for (long i = 0; i < n[0]; i++) {
        const long c = (k * n[1] + j) * n[0] + i;
        v[c] = p->shift * u[c], diag[c] = p->shift, size[c] = 0;
        for (int e = 0; e < 27; e++) {
          const double a = p->stencil->entry[e / 9][e / 3 % 3][e % 3];
          const long x = neighbour(i, e % 3 - 1, n[0], p->bc[0]), y = neighbour(j, e / 3 % 3 - 1, n[1], p->bc[1]);
          const long z = neighbour(k, e / 9 - 1, n[2], p->bc[2]);
          if (a == 0 || x < 0 || y < 0 || z < 0) continue;
          const long at = (z * n[1] + y) * n[0] + x;
          v[c] += a * u[at], size[c] += fabs(a + (e == 13 ? p->shift : 0)) * fabs(u[at]);
          if (at == c) diag[c] += a;
        }
      }
}

static const shape shapes[] = {{1, {9, 1, 1}, GMG_VERTEX, "dd"},      {1, {5, 1, 1}, GMG_VERTEX, "nn"},
                               {1, {2, 1, 1}, GMG_VERTEX, "pp"},      {1, {1, 1, 1}, GMG_VERTEX, "nn"},
                               {1, {1, 1, 1}, GMG_VERTEX, "pp"},      {2, {7, 5, 1}, GMG_VERTEX, "dddd"},
                               {2, {6, 9, 1}, GMG_VERTEX, "ndpp"},    {2, {3, 1, 1}, GMG_VERTEX, "ppnn"},
                               {2, {1, 8, 1}, GMG_VERTEX, "ddnd"},    {3, {6, 5, 4}, GMG_VERTEX, "dddddd"},
                               {3, {4, 3, 5}, GMG_VERTEX, "nnndpp"},  {3, {5, 4, 3}, GMG_VERTEX, "pppppp"},
                               {3, {2, 1, 3}, GMG_VERTEX, "nnppdn"},  {3, {5000, 2, 2}, GMG_VERTEX, "dnnnpp"}};

static void operator_is_its_definition(void **state)
{
  (void)state;
  for (int i = 0; i < COUNT(shapes); i++)
    for (int shift = 0; shift < 2; shift++) {
      gmg_problem p = shaped_problem(&shapes[i]);
      const gmg_stencil box = box_without_pattern(p.dim);
      gmg_params q = params_for_cycles();
      p.stencil = &box, p.shift = shift, q.precision = GMG_PRECISION_SAME;
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
      assert_near(op->measure_residual(e, A, f, u, NULL, NULL, NULL, &f_norm, GMG_WAIT), sqrt(wanted), 1e-12 * sqrt(wanted));
      assert_near(f_norm, norm2(f, n), 1e-12 * f_norm);
      assert_near(op->magnitude(e, A, u), norm2(size, n), 1e-12 * norm2(size, n));
      op->over_diagonal(e, A, f, got);
      for (size_t c = 0; c < n; c++) assert_near(got[c], f[c] / diag[c], 1e-13 * fabs(f[c] / diag[c]));
      free(u), free(f), free(v), free(size), free(diag), free(got);
      end_solver(&s);
    }
}

/* A step of conjugate gradients: p = z + beta p, q = A p and two inner products. */
static void directions(void **state)
{
  (void)state;
  gmg_problem p = make_problem(3, 9, 8, 7, GMG_VERTEX, "dnddpp");
  const gmg_stencil box = box_without_pattern(3);
  gmg_params q = params_for_cycles();
  p.stencil = &box, q.precision = GMG_PRECISION_SAME;
  session s = begin_solver(&p, &q, 2);
  const gmg_operator *A = &s.solver->finest->A;
  const gmg_exec *e = &s.solver->exec;
  const size_t n = unknowns(&p);
  for (int fresh = 0; fresh < 2; fresh++) {
    double *z = field(n, 1), *d = field(n, 2), *x = field(n, 3), *wanted = field(n, 2), *image = field(n, 0), *got = field(n, 0);
    gmg_cg_scalars scalars = {.beta = fresh ? 0 : 0.7};
    for (size_t c = 0; c < n; c++) wanted[c] = z[c] + scalars.beta * wanted[c];
    gmg_operator_of(e, A)->cg_direction(e, A, z, &scalars, NULL, d, got, x, image);
    for (size_t c = 0; c < n; c++) assert_near(got[c], wanted[c], 1e-15);
    scalars = (gmg_cg_scalars){.beta = scalars.beta};
    gmg_operator_of(e, A)->cg_direction(e, A, z, &scalars, NULL, d, d, x, got);
    gmg_operator_of(e, A)->apply(e, A, wanted, image);
    for (size_t c = 0; c < n; c++) {
      assert_near(d[c], wanted[c], 1e-15);
      assert_near(got[c], image[c], 1e-13);
    }
    assert_near(scalars.pq, gmg_grid_ops_of(e)->dot(e, A, wanted, image).re, 1e-12 * fabs(scalars.pq));
    assert_near(scalars.pr, gmg_grid_ops_of(e)->dot(e, A, wanted, x).re, 1e-12);
    free(z), free(d), free(x), free(wanted), free(image), free(got);
  }
  end_solver(&s);
}

/* The coarse operator of Q1 is Q1 on the coarse mesh, also if only some axes are coarsened, and if the meshes are not nested. */
static void q1_stays_q1(void **state)
{
  (void)state;
  static const struct {
    shape shape;
    double h[3];
  } meshes[] = {{{2, {63, 63, 1}, GMG_VERTEX, "dddd"}, {1, 1, 1}},     {{2, {40, 90, 1}, GMG_VERTEX, "dddd"}, {1, 1, 1}},
                {{2, {64, 64, 1}, GMG_VERTEX, "ddpp"}, {1, 0.3, 1}},   {{3, {31, 31, 31}, GMG_VERTEX, "dddddd"}, {1, 1, 1}},
                {{3, {32, 20, 27}, GMG_VERTEX, "ddnnpp"}, {1, 2.5, 0.7}}};
  for (int i = 0; i < COUNT(meshes); i++) {
    gmg_problem p = shaped_problem(&meshes[i].shape);
    for (int a = 0; a < 3; a++) p.h[a] = meshes[i].h[a];
    const gmg_stencil box = gmg_stencil_q1(p.dim, p.h, 0.25);
    gmg_params q = params_for_cycles();
    p.stencil = &box, q.precision = GMG_PRECISION_SAME;
    session s = begin_solver(&p, &q, 1);
    assert_true(s.solver->levels > 2);
    for (int l = 0; l < s.solver->levels; l++) {
      const gmg_operator *A = &s.solver->level[l].A;
      const gmg_stencil wanted = gmg_stencil_q1(p.dim, A->h, 0);
      assert_near(A->shift, 0.25, 1e-13);
      for (int e = 0; e < 27; e++) {
        const double near = wanted.entry[e / 9][e / 3 % 3][e % 3];
        /* coarsening takes the mass matrix for a shift plus a part with zero row sums, which it scales like the stiffness matrix */
        assert_near(A->box->entry[e], near, 1e-11 * wanted.entry[1][1][1] + 0.25);
      }
    }
    end_solver(&s);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(operator_is_its_definition), cmocka_unit_test(directions),
                                     cmocka_unit_test(q1_stays_q1)};
  return run_selected(tests);
}
