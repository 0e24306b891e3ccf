/* Kernel files compiled for complex scalars, on the host. Vector operations are compared with C99 (complex_vectors.h). Operators,
   transfers and smoothers have real coefficients, so their result for u + i v must consist of their results for u and for v. */
#include "boxes.h"
#include "complex_vectors.h"
#include "sweeps.h"
#include "varying.h"

#include <stdio.h>

extern const gmg_grid_ops gmg_grid_host_c64;
extern const gmg_operator_ops gmg_seven_point_host_c64;
extern const gmg_smoother_ops gmg_jacobi_host_c64, gmg_chebyshev_host_c64, gmg_red_black_host_c64, gmg_gauss_seidel_host_c64,
    gmg_lines_host_c64, gmg_async_host_c64, gmg_async_box_host_c64;

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

/* <x, y> over the control volumes, from inner products of real fields; y = NULL: the sum of x. */
static number dot_of_parts(session *s, size_t n, const number *x, const number *y)
{
  number sum = 0;
  for (int i = 0; i < 2; i++)
    for (int k = 0; k < (y ? 2 : 1); k++) {
      double *X = part_of(n, x, i), *Y = y ? part_of(n, y, k) : NULL;
      const gmg_number dot = s->solver->grid->dot(&s->solver->exec, &s->solver->finest->A, X, Y);
      assert_true(dot.im == 0);
      sum += dot.re * (i ? (y ? -I : I) : 1) * (k ? I : 1);
      free(X), free(Y);
    }
  return sum;
}

/* Inner products are scalars, and conjugate their first factor. */
static void check_inner_products(session *s, const gmg_exec *e, size_t n, const number *f, const number *u)
{
  const gmg_operator *A = &s->solver->finest->A;
  const double volume = s->solver->finest->volume;
  const number fu = dot_of_parts(s, n, f, u), sum = dot_of_parts(s, n, u, NULL);
  const double ff = creal(dot_of_parts(s, n, f, f)), uu = creal(dot_of_parts(s, n, u, u)), room = 1e-13 * sqrt(ff * uu);
  assert_true(fabs(cimag(fu)) > 1e3 * room && fabs(cimag(sum)) > 0);
  assert_number(gmg_grid_host_c64.dot(e, A, f, u), fu, room);
  assert_number(gmg_grid_host_c64.dot(e, A, u, f), conj(fu), room);
  assert_number(gmg_grid_host_c64.dot(e, A, u, u), uu, 1e-13 * uu);
  assert_number(gmg_grid_host_c64.dot(e, A, u, NULL), sum, 1e-13 * sqrt(volume * uu));
  number *x = put_numbers(e, n, GMG_F64, u), *wanted = malloc(n * sizeof *wanted);
  for (size_t i = 0; i < n; i++) wanted[i] = u[i] - sum / volume;
  gmg_grid_host_c64.remove_mean(e, A, volume, x);
  take_numbers(e, "remove_mean", n, GMG_F64, x, wanted, 8, 1);
  free(wanted);
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
  smooth(s, f, result, 1, GMG_LEG_UP_REVERSED);
}

static void swept_from_zero(session *s, const double *f, double *u, double *result)
{
  const gmg_multigrid *m = &s->solver->mg;
  (void)u;
  m->smoother[0]->sweep_from_zero(&m->level[0].view, m->state[0], f, result, 2, GMG_LEG_DOWN);
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
    /* A is real and symmetric in the inner product of the control volumes: <u, A u> is real */
    const double energy = creal(dot_of_parts(&s, n, u, v));
    assert_number(gmg_grid_host_c64.dot(&e, A, u, image), energy, 1e-12 * energy);
    check_inner_products(&s, &e, n, f, u);
    take_numbers(&e, "residual", n, GMG_F64, got, r, 16, largest);
    take_numbers(&e, "image", n, GMG_F64, image, v, 16, largest);
    free(f), free(u), free(r), free(v);
    end_solver(&s);
  }
}

/* Compares sweeps over complex fields with those over their parts. Returns 0 if the only level is left to the coarse solver. */
static int check_sweeps(const gmg_problem *p, const gmg_params *params, const gmg_smoother_ops *ops, const char *what)
{
  session s = begin_solver(p, params, 2);
  if (s.solver->levels == 1) {
    end_solver(&s);
    return 0;
  }
  gmg_exec e = complex_exec(s.context, GMG_F64, &gmg_vector_host_c64);
  gmg_smoother_level level = s.solver->mg.level[0].view;
  const size_t n = level.A->cells;
  number *f = numbers(n, GMG_F64, 5), *u = numbers(n, GMG_F64, 6), *wanted = numbers(n, GMG_F64, 7);
  number *scratch = calloc(n, sizeof *scratch);
  void *own = NULL;
  level.exec = &e, level.scratch = scratch;
  if (ops->setup) assert_ok(s.context, ops->setup(&level, &own));
  if (ops->update) assert_ok(s.context, ops->update(&level, own));
  for (int from_zero = 0; from_zero < 1 + (ops->sweep_from_zero != NULL); from_zero++) {
    double largest = 0;
    act_on_parts(&s, n, from_zero ? swept_from_zero : swept, f, u, wanted);
    for (size_t i = 0; i < n; i++) largest = fmax(largest, cabs(wanted[i]));
    number *got = put_numbers(&e, n, GMG_F64, u);
    if (from_zero) ops->sweep_from_zero(&level, own, f, got, 2, GMG_LEG_DOWN);
    else ops->sweep(&level, own, f, got, 2, GMG_LEG_DOWN), ops->sweep(&level, own, f, got, 1, GMG_LEG_UP_REVERSED);
    take_numbers(&e, what, n, GMG_F64, got, wanted, 32, largest);
  }
  if (ops->destroy) ops->destroy(&level, own);
  gmg_exec_release(&e);
  free(f), free(u), free(wanted), free(scratch);
  end_solver(&s);
  return 1;
}

static void sweeps(void **state)
{
  static const struct {
    const char *name;
    const gmg_smoother_ops *ops;
  } smoothers[] = {{"jacobi", &gmg_jacobi_host_c64}, {"chebyshev", &gmg_chebyshev_host_c64}, {"red_black", &gmg_red_black_host_c64},
                   {"gauss_seidel", &gmg_gauss_seidel_host_c64}, {"lines", &gmg_lines_host_c64}};
  int checked = 0;
  (void)state;
  for (int k = 0; k < COUNT(shapes); k++)
    for (int m = 0; m < COUNT(smoothers); m++) {
      const gmg_problem p = shaped_problem(&shapes[k]);
      gmg_params params = same_precision();
      params.smoother = gmg_smoother_by_name(smoothers[m].name);
      params.deterministic = 1;
      checked += check_sweeps(&p, &params, smoothers[m].ops, smoothers[m].name);
    }
  assert_true(checked >= 2 * COUNT(smoothers)); /* 1D is left to the coarse solver */
}

/* Blocks of an asynchronous smoother; 0: chosen by gmg. */
static const size_t blocks[][3] = {{0}, {8, 8, 8}, {16, 5, 3}, {7, 33, 2}};

/* Every local sweep, overlap and block, on a level. The deterministic twin, whose blocks all see the values before a pass, is linear
   in u and f. */
static int check_async(const gmg_problem *p, const gmg_smoother_ops *ops, const char *what)
{
  int checked = 0;
  for (gmg_local_kind local = GMG_LOCAL_RED_BLACK; local <= GMG_LOCAL_GAUSS_SEIDEL; local++)
    for (int overlap = 0; overlap <= 2; overlap++)
      for (int b = 0; b < COUNT(blocks); b++) {
        char name[120];
        gmg_params params = same_precision();
        if (p->stencil && local == GMG_LOCAL_GAUSS_SEIDEL) continue; /* refused */
        params.smoother = gmg_smoother_by_name("async"), params.deterministic = 1;
        params.async.local = local, params.async.overlap = count_or_none(overlap), params.async.passes = 1 + b % 2;
        memcpy(params.async.block, blocks[b], sizeof blocks[b]);
        params.max_levels = 2, params.coarse_cells = 1;
        snprintf(name, sizeof name, "%s, %dD: local %d, overlap %d, block %d", what, p->dim, (int)local, overlap, b);
        checked += check_sweeps(p, &params, ops, name);
      }
  return checked;
}

static void asynchronous_sweeps(void **state)
{
  int checked = 0;
  (void)state;
  for (int k = 0; k < COUNT(shapes); k++)
    for (int arrays = 0; arrays < 4; arrays++) { /* beta and sigma: every form of a row */
      gmg_problem p = shaped_problem(&shapes[k]);
      const size_t n = unknowns(&p);
      double *beta = field(n, 8), *sigma = field(n, 9);
      for (size_t i = 0; i < n; i++) beta[i] += 1.5, sigma[i] = 100 * (sigma[i] + 0.5);
      if (arrays & 1) p.beta = beta;
      if (arrays & 2) p.sigma = sigma;
      checked += check_async(&p, &gmg_async_host_c64, "7 points");
      free(beta), free(sigma);
    }
  assert_int_equal(checked, COUNT(shapes) * 4 * 3 * 3 * COUNT(blocks));
}

static void asynchronous_box_sweeps(void **state)
{
  static const shape of_boxes[] = {{1, {128, 1, 1}, GMG_VERTEX, "dn"}, {2, {64, 33, 1}, GMG_VERTEX, "ppnn"},
                                   {3, {33, 17, 8}, GMG_VERTEX, "nnnnpp"}};
  int checked = 0;
  (void)state;
  for (int k = 0; k < COUNT(of_boxes); k++)
    for (int arrays = 0; arrays < 2; arrays++) {
      gmg_problem p = shaped_problem(&of_boxes[k]);
      const gmg_stencil box = box_without_pattern(p.dim);
      varying v = varying_q1(&p, beta_smooth, 1);
      p.stencil = arrays ? &v.stencil : &box;
      checked += check_async(&p, &gmg_async_box_host_c64, arrays ? "box of arrays" : "box");
      free_varying(&v);
    }
  assert_int_equal(checked, COUNT(of_boxes) * 2 * 2 * 3 * COUNT(blocks));
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(vectors), cmocka_unit_test(operators), cmocka_unit_test(sweeps),
                                     cmocka_unit_test(asynchronous_sweeps), cmocka_unit_test(asynchronous_box_sweeps)};
  return run_selected(tests);
}
