/* The operator and whole solves against a dense reference: every boundary kind, both centrings, sizes 1, 2, 3, 5,
   with boundary values and shift, in 1D, 2D and 3D; float against double. */
#include "reference.h"

#include "internals.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const pairs[] = {"dd", "dn", "nd", "nn", "dr", "rd", "rr", "nr", "pp"};
enum { PAIRS = sizeof pairs / sizeof *pairs };

/* Random f, u and boundary values. g holds the boundary values of each face for the reference. */
typedef struct {
  double *f, *u, *g[3][2];
} data;

static data make_data(const gmg_problem *p, gmg_solver *s, const gmg_context *c, uint64_t seed)
{
  const size_t N = unknowns(p);
  data d = {calloc(N, sizeof(double)), calloc(N, sizeof(double)), {{0}}};
  fill_random(d.f, N, seed);
  fill_random(d.u, N, seed + 1);
  for (int a = 0; a < p->dim; a++)
    for (int side = 0; side < 2; side++) {
      if (p->bc[a][side] == GMG_PERIODIC) continue;
      d.g[a][side] = calloc(N / p->n[a], sizeof(double));
      fill_random(d.g[a][side], N / p->n[a], seed + 2 + (uint64_t)(2 * a + side));
      assert_ok(c, gmg_set_boundary_values(s, a, side, d.g[a][side]));
    }
  return d;
}

static void free_data(data *d)
{
  free(d->f);
  free(d->u);
  for (int i = 0; i < 6; i++) free(d->g[i / 2][i % 2]);
}

static void check_residual(const gmg_problem *p)
{
  const size_t N = unknowns(p);
  gmg_params params = params_for_cycles();
  session s = begin_solver(p, &params, 1);
  data d = make_data(p, s.solver, s.context, 7);
  double *A = dense_matrix(p), *b = dense_rhs(p, d.f, d.g), *r = calloc(N, sizeof *r), scale = 0;
  assert_ok(s.context, gmg_residual(s.solver, d.f, d.u, r));
  double mean = 0, volume = 0; /* a singular problem is made compatible */
  for (size_t c = 0; c < N; c++) mean += cell_volume(p, c) * b[c], volume += cell_volume(p, c);
  gmg_plan_info *info = malloc(sizeof *info);
  assert_ok(s.context, gmg_plan(s.context, p, &params, info));
  for (size_t c = 0; c < N; c++) {
    double v = b[c] - (info->singular ? mean / volume : 0);
    for (size_t j = 0; j < N; j++) v -= A[c * N + j] * d.u[j], scale = fmax(scale, fabs(A[c * N + j]));
    assert_near(r[c], v, 1e-13 * (scale + fabs(b[c])));
  }
  free(info);
  free(A), free(b), free(r);
  free_data(&d);
  end_solver(&s);
}

static void residual_matches_reference(void **state)
{
  (void)state;
  static const size_t sizes[] = {1, 2, 3, 5};
  for (int centering = GMG_CELL; centering <= GMG_VERTEX; centering++)
    for (int x = 0; x < PAIRS; x++)
      for (int i = 0; i < 4; i++) {
        char bc[7] = "";
        strcat(bc, pairs[x]);
        gmg_problem p = make_problem(1, sizes[i], 1, 1, centering, bc);
        p.shift = 0.5;
        check_residual(&p);
        strcat(bc, pairs[(x + 4) % PAIRS]);
        p = make_problem(2, sizes[i], sizes[(i + 1) % 4], 1, centering, bc);
        check_residual(&p);
        strcat(bc, pairs[(x + 7) % PAIRS]);
        p = make_problem(3, sizes[i], sizes[(i + 1) % 4], sizes[(i + 3) % 4], centering, bc);
        p.h[1] *= 1.7;
        p.shift = i == 2 ? 0 : 3;
        check_residual(&p);
      }
}

/* Solutions with every smoother against elimination. In singular problems both have zero mean. */
static void check_solution(const gmg_problem *p, const gmg_params *params)
{
  const size_t N = unknowns(p);
  session s = begin_solver(p, params, 2);
  data d = make_data(p, s.solver, s.context, 11);
  double *A = dense_matrix(p), *b = dense_rhs(p, d.f, d.g), mean = 0, volume = 0, most = 0;
  gmg_report report;
  const gmg_status status = gmg_solve(s.solver, d.f, d.u, &report);
  if (status != GMG_OK && status != GMG_STAGNATED)
    fail_msg("%s on %zux%zux%zu: %s", params->smoother->name, p->n[0], p->n[1], p->n[2], gmg_context_error(s.context));
  if (report.singular) { /* f is made compatible, and the volume-weighted mean of u is added to every row, so that A is regular */
    for (size_t c = 0; c < N; c++) mean += cell_volume(p, c) * b[c], volume += cell_volume(p, c);
    assert_near(report.mean_removed, mean / volume, 1e-12 * (1 + fabs(mean / volume)));
    double strength = 1;
    for (size_t c = 0; c < N; c++) strength = fmax(strength, A[c * N + c]);
    for (size_t c = 0; c < N; c++) {
      b[c] -= mean / volume;
      for (size_t j = 0; j < N; j++) A[c * N + j] += strength * cell_volume(p, j) / volume;
    }
  }
  assert_true(dense_solve(A, b, N));
  for (size_t c = 0; c < N; c++) most = fmax(most, fabs(b[c]));
  for (size_t c = 0; c < N; c++) assert_near(d.u[c], b[c], 1e-8 * (most + 1e-3));
  free(A), free(b);
  free_data(&d);
  end_solver(&s);
}

static void solutions_match_elimination(void **state)
{
  (void)state;
  static const size_t sizes[] = {1, 2, 3, 5, 8, 9, 13};
  static const gmg_coarse_kind coarse[] = {GMG_COARSE_DENSE, GMG_COARSE_CG, GMG_COARSE_CG};
  static const gmg_accel accels[] = {GMG_ACCEL_NONE, GMG_ACCEL_NONE, GMG_ACCEL_NONE, GMG_ACCEL_FLEXIBLE_CG};
  static const gmg_cycle_kind cycles[] = {GMG_CYCLE_V, GMG_CYCLE_W, GMG_CYCLE_F};
  static const int fmg[] = {1, 0, 0, 0, 0, 0, 0};
  static const double shifts_3d[] = {0, 1};
  enum { SMOOTHERS = 6, SMALL_SIZES = 5 };
  int number = 0;
  gmg_params params = params_for_cycles();
  params.rtol = 1e-11;
  params.max_cycles = 300;
  for (int centering = GMG_CELL; centering <= GMG_VERTEX; centering++)
    for (int x = 0; x < PAIRS; x++)
      for (int y = 0; y < PAIRS; y++, number++) {
        char bc[7] = "";
        strcat(strcat(strcat(bc, pairs[x]), pairs[y]), pairs[(x + 2 * y) % PAIRS]);
        params.smoother = gmg_smoother_by_name(gmg_smoother_name(number % SMOOTHERS));
        params.coarse = ROUND_ROBIN(coarse, number);
        params.accel = ROUND_ROBIN(accels, number);
        params.cycle = ROUND_ROBIN(cycles, number);
        params.fmg = ROUND_ROBIN(fmg, number);
        const size_t size = ROUND_ROBIN(sizes, number), other = ROUND_ROBIN(sizes, number / COUNT(sizes));
        gmg_problem p = make_problem(2, size, other, 1, centering, bc);
        check_solution(&p, &params);
        const size_t nz = sizes[number / SMALL_SIZES % SMALL_SIZES];
        p = make_problem(3, ROUND_ROBIN(sizes, number + 3), ROUND_ROBIN(sizes, number + 1), nz, centering, bc);
        p.shift = ROUND_ROBIN(shifts_3d, number);
        check_solution(&p, &params);
        p = make_problem(1, 5 * size, 1, 1, centering, pairs[x]);
        check_solution(&p, &params);
      }
}

/* A solver in float agrees with one in double, to the accuracy of float. */
static void float_follows_double(void **state)
{
  (void)state;
  gmg_problem p = make_problem(3, 20, 17, 12, GMG_CELL, "dnrdpp");
  gmg_params params = params_for_cycles();
  const size_t N = unknowns(&p);
  double *f = calloc(N, sizeof *f), *u = calloc(N, sizeof *u), most = 0;
  float *f32 = calloc(N, sizeof *f32), *u32 = calloc(N, sizeof *u32);
  fill_random(f, N, 3);
  for (size_t i = 0; i < N; i++) f32[i] = (float)f[i];
  session s = begin_solver(&p, &params, 2);
  assert_ok(s.context, gmg_solve(s.solver, f, u, NULL));
  end_solver(&s);
  p.type = GMG_F32;
  params.rtol = 1e-4;
  s = begin_solver(&p, &params, 2);
  assert_ok(s.context, gmg_solve(s.solver, f32, u32, NULL));
  end_solver(&s);
  for (size_t i = 0; i < N; i++) most = fmax(most, fabs(u[i]));
  for (size_t i = 0; i < N; i++) assert_near((double)u32[i], u[i], 1e-3 * most);
  free(f), free(u), free(f32), free(u32);
}

/* Checks the scale after a residual of this norm was divided by `divisor`. */
static void noted(const gmg_scale *s, double divisor, double norm)
{
  assert_near(s->divisor, divisor, 1e-15 * divisor);
  assert_near(s->next * norm, 1, 1e-12);
}

/* Checks that `low` is the residual r, which has this norm, multiplied by `scale`. */
static void scaled(const float *low, double scale, const double *r, size_t n, double norm)
{
  for (size_t i = 0; i < n; i++) assert_near((double)low[i], scale * r[i], scale * (1e-6 * fabs(r[i]) + 1e-12 * norm));
}

/* correct_residual() against its parts: u + c, where c is scale times z, and the residual, divided by a number or multiplied by
   s.next. Returns the norm. */
static double correct_residual_is_its_parts(const gmg_exec *e, const gmg_operator *A, const double *f, const double *u,
                                            gmg_correction c, double scale, const double *z)
{
  const gmg_operator_ops *S = gmg_operator_of(e, A);
  const size_t n = A->cells, bytes = n * sizeof *u;
  const double divisor = 0.25;
  double *wanted = calloc(1, bytes), *got = malloc(bytes), *r = malloc(bytes), norm[2];
  float *low = malloc(n * sizeof *low);
  for (size_t i = 0; i < n; i++) wanted[i] = u[i] + scale * z[i];
  S->residual(e, A, f, wanted, r);
  const double true_norm = norm2(r, n);
  memcpy(got, u, bytes);
  e->vector->correct(e, n, c, 1, got);
  for (size_t i = 0; i < n; i++) assert_near(got[i], wanted[i], 1e-15);
  for (int divided = 0; divided < 2; divided++)
    for (int wait = 0; wait < 2; wait++) {
      gmg_scale s = {.next = 3};
      memset(low, 0, n * sizeof *low);
      memcpy(got, u, bytes);
      const double left = S->correct_residual(e, A, c, f, got, divided ? &divisor : NULL, &s, low, wait ? GMG_WAIT : GMG_ENQUEUE);
      if (wait) assert_near(norm[divided] = left, true_norm, 1e-12 * true_norm);
      else assert_true(isnan(left));
      noted(&s, divided ? divisor : 1 / 3., true_norm);
      for (size_t i = 0; i < n; i++) assert_near(got[i], wanted[i], 1e-15);
      scaled(low, divided ? 4 : 3, r, n, true_norm);
    }
  assert_true(norm[0] == norm[1]);
  free(wanted), free(got), free(r), free(low);
  return norm[0];
}

/* measure_residual() against its parts: the residual of u, stored or not, its norm and the norm of f. */
static double measure_residual_is_its_parts(const gmg_exec *e, const gmg_operator *A, const double *f, const double *u)
{
  const gmg_operator_ops *S = gmg_operator_of(e, A);
  const size_t n = A->cells;
  const double divisor = 0.25;
  double *r = malloc(n * sizeof *r), norm[2][2], f_norm;
  float *low = malloc(n * sizeof *low);
  S->residual(e, A, f, u, r);
  const double true_norm = norm2(r, n);
  for (int divided = 0; divided < 2; divided++)
    for (int stored = 0; stored < 2; stored++)
      for (int wait = 0; wait < 2; wait++) {
        gmg_scale s = {.next = 3};
        memset(low, 0, n * sizeof *low);
        const double left = S->measure_residual(e, A, f, u, divided ? &divisor : NULL, &s, stored ? low : NULL, wait ? &f_norm : NULL,
                                               wait ? GMG_WAIT : GMG_ENQUEUE);
        if (wait) assert_near(norm[divided][stored] = left, true_norm, 1e-12 * true_norm);
        else assert_true(isnan(left));
        if (wait) assert_near(f_norm, norm2(f, n), 1e-12 * f_norm);
        noted(&s, divided ? divisor : 1 / 3., true_norm);
        if (stored) scaled(low, divided ? 4 : 3, r, n, true_norm);
      }
  assert_true(norm[0][1] == norm[0][0] && norm[1][0] == norm[0][0] && norm[1][1] == norm[0][0]);
  free(r), free(low);
  return norm[0][0];
}

/* Operations that do several things in one pass, against each thing by itself. Their sums have the same bits for any number of
   threads. variable: with a beta. */
static void passes_of(const shape *box, int variable)
{
  static const int threads[] = {1, 2, 5};
  gmg_problem p = shaped_problem(box);
  const size_t N = unknowns(&p);
  double *beta = field(N, 3), sums[COUNT(threads)][5] = {{0}};
  for (size_t c = 0; c < N; c++) beta[c] += 1;
  if (variable) p.beta = beta;
  for (int t = 0; t < COUNT(threads); t++) {
    gmg_params q = params_for_cycles();
    q.precision = GMG_PRECISION_SAME;
    session s = begin_solver(&p, &q, threads[t]);
    const gmg_exec *e = &s.solver->exec;
    const gmg_operator *A = &s.solver->finest->A;
    const gmg_grid_ops *grid = s.solver->grid;
    double *f = field(N, 1), *u[2] = {field(N, 2), field(N, 2)}, *z = field(N, 4), *r = field(N, 0), *v = field(N, 5);
    double *w = field(N, 0);
    float *low_z = malloc(N * sizeof *low_z);
    for (size_t c = 0; c < N; c++) low_z[c] = (float)z[c], z[c] = (double)low_z[c];
    const double factor = 0.7;
    for (int is_low = 0; is_low < 2; is_low++) {
      const gmg_correction c = {.z = is_low ? (const void *)low_z : z, .scale = &factor, .low = is_low};
      const gmg_correction whole = {.z = c.z, .low = is_low};
      (void)correct_residual_is_its_parts(e, A, f, u[0], whole, 1, z);
      sums[t][0] = correct_residual_is_its_parts(e, A, f, u[0], c, factor, z);
      for (size_t x = 0; x < N; x++) u[0][x] += factor * z[x];
      sums[t][4] = measure_residual_is_its_parts(e, A, f, u[0]);

      for (size_t x = 0; x < N; x++) v[x] = 0.7 * z[x] - 2 * v[x];
      memcpy(w, v, N * sizeof *w);
      for (size_t x = 0; x < N; x++) w[x] = (0.7 * z[x] - w[x]) / 2; /* the direction before this step */
      gmg_cg_scalars d = {.beta = -2};
      for (size_t x = 0; x < N; x++) r[x] = 0.7 * z[x]; /* the correction; below the image */
      double *last = malloc(N * sizeof *last), *apart = malloc(N * sizeof *apart);
      memcpy(last, w, N * sizeof *w);
      gmg_operator_of(e, A)->cg_direction(e, A, r, &d, &factor, last, apart, f, u[1]);
      assert_memory_equal(last, w, N * sizeof *w);
      d = (gmg_cg_scalars){.beta = -2, .change = 5};
      gmg_operator_of(e, A)->cg_direction(e, A, r, &d, &factor, w, w, f, u[1]);
      assert_memory_equal(apart, w, N * sizeof *w);
      assert_true(d.last_change == 5);
      free(last), free(apart);
      gmg_operator_of(e, A)->apply(e, A, v, r);
      const double vr = grid->dot(e, A, v, r).re, vf = grid->dot(e, A, v, f).re, largest = norm2(r, N);
      assert_near(d.pq, vr, 1e-12 * fabs(vr));
      assert_near(d.pr, vf, 1e-12 * norm2(v, N) * norm2(f, N));
      for (size_t x = 0; x < N; x++) {
        assert_near(w[x], v[x], 1e-14);
        assert_near(u[1][x], r[x], 1e-13 * largest);
      }
      assert_near(d.change, factor * d.pr / d.pq, 1e-15 * fabs(d.change));
      sums[t][1] = d.pq, sums[t][2] = d.pr;

      memcpy(w, r, N * sizeof *w);
      memcpy(u[1], u[0], N * sizeof *w);
      d = (gmg_cg_scalars){.pq = 2, .pr = 0.6};
      sums[t][3] = e->vector->cg_update(e, N, &d, f, z, u[1], w, GMG_WAIT);
      for (size_t x = 0; x < N; x++) {
        assert_near(u[1][x], u[0][x] + 0.3 * f[x], 1e-15);
        assert_near(w[x], r[x] - 0.3 * z[x], 1e-15 * largest);
      }
      assert_near(sums[t][3], norm2(w, N), 1e-12 * sums[t][3]);
    }
    free(f), free(u[0]), free(u[1]), free(z), free(r), free(v), free(w), free(low_z);
    end_solver(&s);
  }
  for (int t = 1; t < COUNT(threads); t++) assert_memory_equal(sums[t], sums[0], sizeof sums[0]);
  free(beta);
}

static void passes_match_their_parts(void **state)
{
  (void)state;
  static const shape cases[] = {{3, {37, 24, 19}, GMG_CELL, "dnrdpp"}, {3, {20, 33, 3}, GMG_VERTEX, "ppppdd"},
                                {2, {70, 131, 1}, GMG_CELL, "ddpp"},   {2, {5000, 3, 1}, GMG_CELL, "dddd"},
                                {2, {2, 5000, 1}, GMG_CELL, "nndd"},   {1, {9001, 1, 1}, GMG_VERTEX, "dr"},
                                {3, {1, 1, 1}, GMG_CELL, "dddddd"},    {3, {300, 40, 2}, GMG_CELL, "pppppp"}};
  for (int i = 0; i < COUNT(cases); i++)
    for (int variable = 0; variable < 2; variable++) passes_of(&cases[i], variable);
}

/* Scalars of conjugate gradients, which stay in exec's memory. */
static void shares(const gmg_exec *e, const gmg_operator *A, const double *unit, const double *z, const double *y)
{
  const gmg_grid_ops *S = gmg_grid_ops_of(e);
  const double dot = S->dot(e, A, z, y).re, tolerance = 4e-12 * norm2(z, A->cells) * norm2(y, A->cells);
  const double product = (unit ? *unit : 1) * dot;
  gmg_cg_scalars d = {.pq = 4, .pr = 5, .zr = 2, .beta = 7};
  S->cg_beta(e, A, z, y, 1, &d, unit);
  assert_near(d.beta, -dot / 4, tolerance);
  assert_true(d.pq == 4 && d.pr == 5 && d.zr == 2);
  S->cg_beta(e, A, z, y, 0, &d, unit);
  assert_near(d.beta, product / 2, tolerance);
  assert_near(d.zr, product, tolerance);
  static const gmg_cg_scalars none[] = {{.pq = 0, .zr = 2}, {.pq = -4, .zr = 2}, {.pq = NAN, .zr = 2}};
  for (int flexible = 0; flexible < 2; flexible++)
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) { /* without a direction beta is 0, whatever the quotient */
      d = none[i], d.beta = 7;
      S->cg_beta(e, A, z, flexible ? NULL : y, flexible, &d, unit); /* y is not read without need */
      assert_true(d.beta == 0);
      if (!flexible) assert_near(d.zr, product, tolerance);
    }
  d = (gmg_cg_scalars){.pq = 4, .zr = 0, .beta = 7};
  S->cg_beta(e, A, z, y, 0, &d, unit);
  assert_true(d.beta == 0);
}

/* In the first iteration p may hold anything, because there is no previous direction. Without a step length nothing moves. */
static void nothing_along(const gmg_exec *e, const gmg_operator *A, const double *z, const double *r)
{
  const gmg_grid_ops *S = gmg_grid_ops_of(e);
  const size_t n = A->cells, bytes = n * sizeof *z;
  double *p = malloc(bytes), *q = malloc(bytes), *image = malloc(bytes), *u = malloc(bytes), *left = malloc(bytes);
  gmg_cg_scalars d = {.beta = 0};
  for (size_t i = 0; i < n; i++) p[i] = q[i] = NAN;
  gmg_operator_of(e, A)->cg_direction(e, A, z, &d, NULL, p, p, r, q);
  assert_memory_equal(p, z, bytes);
  gmg_operator_of(e, A)->apply(e, A, p, image);
  const double largest = norm2(image, n);
  for (size_t i = 0; i < n; i++) assert_near(q[i], image[i], 1e-13 * largest);
  assert_near(d.pq, S->dot(e, A, p, image).re, 1e-12 * norm2(p, n) * largest);
  assert_near(d.pr, S->dot(e, A, p, r).re, 1e-12 * norm2(p, n) * norm2(r, n));
  static const gmg_cg_scalars none[] = {{.pq = 0, .pr = 1}, {.pq = -1, .pr = 1}, {.pq = 1e-300, .pr = 1e300}, {.pq = 1, .pr = INFINITY},
                                       {.pq = INFINITY, .pr = 1}, {.pq = 1, .pr = NAN}, {.pq = NAN, .pr = 1}};
  for (size_t i = 0; i < n; i++) p[i] = q[i] = NAN; /* 0 times NaN would be noticed */
  for (size_t k = 0; k < sizeof none / sizeof *none; k++) {
    const double unit = 3;
    memcpy(u, z, bytes), memcpy(left, r, bytes);
    gmg_cg_note(&d, none[k].pq, none[k].pr, &unit);
    assert_true(d.pq == none[k].pq || isnan(d.pq));
    if (isfinite(none[k].pq) && isfinite(none[k].pr)) assert_true(d.change == 0);
    else assert_true(!isfinite(d.change)); /* what becomes of u then tells */
    const double norm = e->vector->cg_update(e, n, &d, p, q, u, left, GMG_WAIT);
    assert_memory_equal(u, z, bytes), assert_memory_equal(left, r, bytes);
    assert_true(d.pq == 0);
    if (isfinite(none[k].pq) && isfinite(none[k].pr)) assert_near(norm, norm2(r, n), 1e-12 * norm);
    else assert_true(isnan(norm));
  }
  for (int moves = 0; moves < 2; moves++) { /* the host does not ask for the norm */
    memcpy(p, z, bytes), memcpy(q, image, bytes), memcpy(u, z, bytes), memcpy(left, r, bytes);
    d = (gmg_cg_scalars){.pq = 2, .pr = 1};
    assert_true(isnan(e->vector->cg_update(e, n, &d, moves ? p : NULL, q, moves ? u : NULL, left, GMG_ENQUEUE)));
    assert_true(d.pq == 2);
    for (size_t i = 0; i < n; i++) {
      assert_near(u[i], moves ? 1.5 * z[i] : z[i], 1e-15);
      assert_near(left[i], r[i] - 0.5 * image[i], 1e-15 * largest);
    }
  }
  free(p), free(q), free(image), free(u), free(left);
}

static void directions(void **state)
{
  (void)state;
  static const shape cases[] = {{3, {37, 24, 19}, GMG_CELL, "dnrdpp"}, {2, {5000, 3, 1}, GMG_CELL, "dddd"}, {1, {9001, 1, 1}, GMG_VERTEX, "dr"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const gmg_problem p = shaped_problem(&cases[i]);
    const size_t n = unknowns(&p);
    gmg_params q = params_for_cycles();
    q.precision = GMG_PRECISION_SAME;
    session s = begin_solver(&p, &q, 2);
    const gmg_operator *A = &s.solver->finest->A;
    double *z = field(n, 4), *r = field(n, 5);
    const double unit = 3.5;
    shares(&s.solver->exec, A, NULL, z, r);
    shares(&s.solver->exec, A, &unit, z, r);
    nothing_along(&s.solver->exec, A, z, r);
    free(z), free(r);
    end_solver(&s);
  }
}

/* The caller's arrays may begin anywhere in a cache line, and this does not change a bit of the result, although loops start on
   cache lines. */
static void where_fields_lie_does_not_matter(void **state)
{
  static const shape shapes[] = {{1, {1000, 1, 1}, GMG_CELL, "dd"}, {2, {77, 33, 1}, GMG_VERTEX, "ndpp"}, {3, {41, 12, 9}, GMG_CELL, "ddrnpp"}};
  (void)state;
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
    const gmg_problem p = shaped_problem(&shapes[i]);
    gmg_params params = params_for_cycles();
    const size_t N = unknowns(&p), bytes = N * sizeof(double);
    double *f = field(N, 1), *u = field(N + 8, 0), *r = field(N + 8, 0), *first = field(2 * N, 0);
    params.deterministic = 1;
    session s = begin_solver(&p, &params, 1);
    for (size_t at = 0; at < 8; at++) {
      gmg_report report;
      memset(u, 0, bytes + 8 * sizeof *u);
      (void)gmg_solve(s.solver, f, u + at, &report);
      assert_ok(s.context, gmg_residual(s.solver, f, u + at, r + at));
      if (at == 0) memcpy(first, u, bytes), memcpy(first + N, r, bytes);
      assert_memory_equal(first, u + at, bytes);
      assert_memory_equal(first + N, r + at, bytes);
    }
    end_solver(&s);
    free(f), free(u), free(r), free(first);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(residual_matches_reference),
                                     cmocka_unit_test(solutions_match_elimination),
                                     cmocka_unit_test(float_follows_double),
                                     cmocka_unit_test(where_fields_lie_does_not_matter), cmocka_unit_test(passes_match_their_parts),
                                     cmocka_unit_test(directions)};
  return run_selected(tests);
}
