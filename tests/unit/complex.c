/* Kernel files compiled for complex scalars, on the host. Vector operations are compared with C99 (complex_vectors.h). Operators,
   transfers and smoothers have real coefficients, so their result for u + i v must consist of their results for u and for v. */
#include "complex_vectors.h"
#include "sweeps.h"

extern const gmg_grid_ops gmg_grid_host_c64;
extern const gmg_operator_ops gmg_seven_point_host_c64;
extern const gmg_smoother_ops gmg_jacobi_host_c64, gmg_chebyshev_host_c64, gmg_red_black_host_c64, gmg_gauss_seidel_host_c64,
    gmg_lines_host_c64;

static void vectors(void **state)
{
  gmg_context *c;
  (void)state;
  assert_int_equal(gmg_context_create_host(2, &c), GMG_OK);
  check_complex_vectors(c, GMG_F32, &gmg_vector_host_c32);
  check_complex_vectors(c, GMG_F64, &gmg_vector_host_c64);
  gmg_context_destroy(c);
}

/* The real (0) or imaginary (1) parts, in double. */
static double *part_of(size_t n, const number *x, int imaginary)
{
  double *p = malloc(n * sizeof *p);
  for (size_t i = 0; i < n; i++) p[i] = imaginary ? cimag(x[i]) : creal(x[i]);
  return p;
}

/* Applies `act` to the real and to the imaginary parts of x, in the solver's own type, which is double. */
typedef void action(session *s, const double *f, double *u, double *result);
static void act_on_parts(session *s, size_t n, action *act, const number *f, const number *u, number *result)
{
  for (int i = 0; i < 2; i++) {
    double *F = part_of(n, f, i), *U = part_of(n, u, i), *R = calloc(n, sizeof *R);
    act(s, F, U, R);
    for (size_t c = 0; c < n; c++) result[c] = i ? creal(result[c]) + R[c] * I : R[c];
    free(F), free(U), free(R);
  }
}

static void residual_of(session *s, const double *f, double *u, double *r)
{
  s->solver->op->residual(&s->solver->exec, &s->solver->finest->A, f, u, r);
}

static void image_of(session *s, const double *f, double *u, double *v)
{
  (void)f;
  s->solver->op->apply(&s->solver->exec, &s->solver->finest->A, u, v);
}

static void swept(session *s, const double *f, double *u, double *result)
{
  memcpy(result, u, s->solver->finest->A.cells * sizeof *u);
  smooth(s, f, result, 2, GMG_LEG_DOWN);
}

static const shape shapes[] = {{1, {500, 1, 1}, GMG_CELL, "dn"}, {2, {65, 33, 1}, GMG_VERTEX, "pprd"}, {3, {33, 20, 17}, GMG_CELL, "dnppdd"}};

static void operators(void **state)
{
  (void)state;
  for (int k = 0; k < COUNT(shapes); k++) {
    const gmg_problem p = shaped_problem(&shapes[k]);
    const gmg_params params = same_precision();
    session s = begin_solver(&p, &params, 2);
    const gmg_operator *A = &s.solver->finest->A;
    const gmg_exec e = complex_exec(s.context, GMG_F64, &gmg_vector_host_c64);
    const size_t n = A->cells;
    number *f = numbers(n, GMG_F64, 1), *u = numbers(n, GMG_F64, 2), *r = numbers(n, GMG_F64, 3), *v = numbers(n, GMG_F64, 4);
    double f_norm, size, largest = 0;
    act_on_parts(&s, n, residual_of, f, u, r), act_on_parts(&s, n, image_of, f, u, v);
    for (size_t i = 0; i < n; i++) largest = fmax(largest, cabs(v[i]));
    const double norm = gmg_seven_point_host_c64.measure_residual(&e, A, f, u, NULL, NULL, NULL, &f_norm, GMG_WAIT);
    assert_near(norm, norm_of(n, r), 1e-12 * norm);
    assert_near(f_norm, norm_of(n, f), 1e-12 * f_norm);
    size = gmg_seven_point_host_c64.magnitude(&e, A, u);
    assert_true(size >= norm_of(n, v));
    number *got = put_numbers(&e, n, GMG_F64, u), *image = put_numbers(&e, n, GMG_F64, u);
    gmg_seven_point_host_c64.residual(&e, A, f, u, got), gmg_seven_point_host_c64.apply(&e, A, u, image);
    /* A is real and symmetric in the inner product of the control volumes: the mixed terms of <u, A u> cancel */
    double wanted = 0;
    for (int i = 0; i < 2; i++) {
      double *U = part_of(n, u, i), *V = part_of(n, v, i);
      wanted += s.solver->grid->dot(&s.solver->exec, A, U, V);
      free(U), free(V);
    }
    assert_near(gmg_grid_host_c64.dot(&e, A, u, image), wanted, 1e-12 * fabs(wanted));
    take_numbers(&e, "residual", n, GMG_F64, got, r, 16, largest);
    take_numbers(&e, "image", n, GMG_F64, image, v, 16, largest);
    free(f), free(u), free(r), free(v);
    end_solver(&s);
  }
}

static void sweeps(void **state)
{
  static const struct {
    const char *name;
    const gmg_smoother_ops *ops;
  } smoothers[] = {{"jacobi", &gmg_jacobi_host_c64}, {"chebyshev", &gmg_chebyshev_host_c64}, {"red_black", &gmg_red_black_host_c64},
                   {"gauss_seidel", &gmg_gauss_seidel_host_c64}, {"lines", &gmg_lines_host_c64}};
  (void)state;
  for (int k = 0; k < COUNT(shapes); k++)
    for (int m = 0; m < COUNT(smoothers); m++) {
      const gmg_problem p = shaped_problem(&shapes[k]);
      gmg_params params = same_precision();
      params.smoother = gmg_smoother_by_name(smoothers[m].name);
      params.deterministic = 1;
      session s = begin_solver(&p, &params, 1);
      if (s.solver->levels == 1) { /* a line in 1D is left to the coarse solver */
        end_solver(&s);
        continue;
      }
      gmg_exec e = complex_exec(s.context, GMG_F64, &gmg_vector_host_c64);
      gmg_smoother_level level = s.solver->mg.level[0].view;
      const size_t n = level.A->cells;
      number *f = numbers(n, GMG_F64, 5), *u = numbers(n, GMG_F64, 6), *wanted = numbers(n, GMG_F64, 7);
      act_on_parts(&s, n, swept, f, u, wanted);
      number *got = put_numbers(&e, n, GMG_F64, u), *scratch = calloc(n, sizeof *scratch), *d = calloc(64 * n + 4096, sizeof *d); /* room for any state */
      double largest = 0;
      for (size_t i = 0; i < n; i++) largest = fmax(largest, cabs(wanted[i]));
      level.exec = &e, level.scratch = scratch;
      smoothers[m].ops->sweep(&level, d, f, got, 2, GMG_LEG_DOWN);
      take_numbers(&e, smoothers[m].name, n, GMG_F64, got, wanted, 32, largest);
      free(f), free(u), free(wanted), free(scratch), free(d);
      end_solver(&s);
    }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(vectors), cmocka_unit_test(operators), cmocka_unit_test(sweeps)};
  return run_selected(tests);
}
