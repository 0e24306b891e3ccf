/* The dense reference itself, without the library. With all coefficients, stretched axes and boundary conditions it is symmetric
   in the inner product of the control volumes and keeps constants. In 1D it is exact for a flux of 1 through layers. */
#include "reference.h"
#include "sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 300 };

static void symmetric_under_volumes(void **state)
{
  (void)state;
  for (int i = 0; i < SAMPLES; i++) {
    sample s = make_sample((uint64_t)i, 200, i % 4 > 0);
    const size_t n = unknowns(&s.p);
    double *A = dense_matrix(&s.p);
    for (size_t r = 0; r < n; r++)
      for (size_t c = 0; c < r; c++) {
        const double below = cell_volume(&s.p, r) * A[r * n + c], above = cell_volume(&s.p, c) * A[c * n + r];
        assert_near(below, above, 1e-12 * fabs(above));
        assert_true(A[r * n + c] <= 0);
      }
    free(A);
    free_sample(&s);
  }
}

/* For u = 1, with boundary values that agree, A u is the shift plus sigma. */
static void constants_feel_sigma_only(void **state)
{
  (void)state;
  for (int i = 0; i < SAMPLES; i++) {
    sample s = make_sample((uint64_t)i, 200, i % 4 > 0);
    const size_t n = unknowns(&s.p);
    double *A = dense_matrix(&s.p), *zero = field(n, 0), *sigma = s.p.sigma ? untyped(&s.p, s.p.sigma, n) : field(n, 0);
    for (int a = 0; a < s.p.dim; a++)
      for (int side = 0; side < 2; side++) {
        const gmg_bc kind = s.p.bc[a][side];
        free(s.g[a][side]);
        s.g[a][side] = kind == GMG_PERIODIC ? NULL : field(n / s.p.n[a], 0);
        for (size_t c = 0; s.g[a][side] && c < n / s.p.n[a]; c++)
          s.g[a][side][c] = kind == GMG_DIRICHLET ? 1 : kind == GMG_ROBIN ? s.p.robin[a][side][0] : 0;
      }
    double *b = dense_rhs(&s.p, zero, s.g);
    for (size_t r = 0; r < n; r++) {
      double sum = -b[r];
      for (size_t c = 0; c < n; c++) sum += A[r * n + c];
      assert_near(sum, s.p.shift + sigma[r], 1e-11 * A[r * n + r]);
    }
    free(A), free(b), free(zero), free(sigma);
    free_sample(&s);
  }
}

/* du/dx = 1 / beta, so the flux through every face is 1. */
static void flux_of_one(const char *walls, gmg_centering centering, int faces, int stretched)
{
  static const double coord[] = {-0.3, 0.1, 0.15, 0.8, 1.0, 1.7, 2.9, 3.0}, beta[] = {2, 0.5, 7, 1, 0.03, 4, 9, 3};
  gmg_problem p = make_problem(1, 6, 1, 1, centering, walls);
  p.h[0] = 0.7;
  if (stretched) p.coord[0] = coord;
  if (faces) p.beta_face[0] = beta;
  else p.beta = beta;
  double x[8], u[8], b[8], reach[8]; /* index 0: lower wall, 1 to 6: unknowns, 7: upper wall. reach: distance to the upper face of the control volume */
  const size_t nodes = 6 + (size_t)(walls[0] == 'd') + (size_t)(walls[1] == 'd');
  for (size_t c = 0; c < 6; c++) x[c + 1] = axis_position(&p, 0, c);
  const size_t last = p.centering == GMG_CELL ? 6 : nodes - 1;
  const double ends[2] = {stretched ? coord[0] : 0, stretched ? coord[last] : (double)last * 0.7};
  x[0] = ends[0], x[7] = ends[1];
  for (size_t c = 1; c < 6; c++)
    reach[c] = (p.centering == GMG_CELL ? (stretched ? coord[c] : (double)c * 0.7) : (x[c] + x[c + 1]) / 2) - x[c];
  for (int k = 0; k < 8; k++) b[k] = beta[k == 0 ? 0 : k == 7 ? 5 : k - 1];
  u[0] = 0;
  for (int k = 1; k < 8; k++) {
    const double step = x[k] - x[k - 1];
    if (faces) u[k] = u[k - 1] + step / beta[k - 1];
    else if (k == 1 || k == 7) u[k] = u[k - 1] + step / b[k];
    else u[k] = u[k - 1] + reach[k - 1] / b[k - 1] + (step - reach[k - 1]) / b[k];
  }
  double g[2], *const at[3][2] = {{&g[0], &g[1]}}, zero[6] = {0};
  for (int side = 0; side < 2; side++) {
    const double out = side ? 1 : -1, wall = faces ? beta[side ? 6 : 0] : b[side ? 7 : 0];
    const gmg_bc kind = p.bc[0][side];
    g[side] = kind == GMG_DIRICHLET ? u[side ? 7 : 0] : kind == GMG_NEUMANN ? out : 2 * u[side ? 7 : 0] + 0.5 * out / wall;
  }
  double *A = dense_matrix(&p), *rhs = dense_rhs(&p, zero, at);
  for (size_t r = 0; r < 6; r++) {
    double sum = 0;
    for (size_t c = 0; c < 6; c++) sum += A[r * 6 + c] * u[c + 1];
    assert_near(sum, rhs[r], 1e-11 * A[r * 7]);
  }
  free(A), free(rhs);
}

/* The reference is exact for layers, on uniform and on stretched axes. */
static void layers_are_exact(void **state)
{
  static const char *const walls[] = {"dd", "dn", "nd", "rd", "dr", "rr", "nr", "nn"};
  (void)state;
  for (int w = 0; w < 8; w++)
    for (int stretched = 0; stretched < 2; stretched++)
      for (int faces = 0; faces < 2; faces++) {
        flux_of_one(walls[w], GMG_VERTEX, faces, stretched);
        if (faces || !strchr(walls[w], 'r')) flux_of_one(walls[w], GMG_CELL, faces, stretched); /* with cells and a Robin wall beta is extrapolated to the wall, which is not exact */
      }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(symmetric_under_volumes), cmocka_unit_test(constants_feel_sigma_only),
                                     cmocka_unit_test(layers_are_exact)};
  return run_selected(tests);
}
