/* CUDA against the host: smoothers, solves, hard coefficients. Refused arguments, and NaN in f or u. */
#include "twins.h"

/* --- smoothers and solves -------------------------------------------------------------------------------------------- */

static void smoothers(const char *name, const gmg_problem *p)
{
  static const char *const names[] = {"jacobi", "gauss_seidel", "red_black", "chebyshev", "async", "async"};
  for (int k = 0; k < 6; k++) {
    if (!taken(unknowns(p))) continue;
    gmg_params q = params_for_cycles();
    q.smoother = gmg_smoother_by_name(names[k]);
    q.deterministic = 1, q.precision = GMG_PRECISION_SAME;
    if (k == 5) q.async.local = GMG_LOCAL_JACOBI, q.async.local_sweeps = 3, q.omega = 0.7;
    if (names[k][0] == 'a') q.async.block[0] = 16, q.async.block[1] = 8, q.async.block[2] = 4; /* the same blocks on both, because factors depend on blocks */
    if (k == 4 && continues_beyond_ends(p, &q)) continue;
    both b = begin_both(p, &q, name);
    for (int l = 0; l + 1 < b.solver[0]->levels && l < 2; l++) {
      same_sweeps(name, names[k], &b, l, 1, GMG_LEG_DOWN, 1, 1024);
      same_sweeps(name, names[k], &b, l, 2, GMG_LEG_DOWN, 1, 1024);
      same_sweeps(name, names[k], &b, l, 2, GMG_LEG_UP, 0, 1024);
      same_sweeps(name, names[k], &b, l, 3, GMG_LEG_UP, 0, 1024);
      same_sweeps(name, names[k], &b, l, 2, GMG_LEG_UP_REVERSED, 0, 1024);
    }
    end_both(&b);
  }
}

/* Solves on both: the numbers of cycles differ by at most `more`, and the solutions agree. */
static void solves(const char *name, const gmg_problem *p, gmg_params q, int more)
{
  both b = begin_both(p, &q, name);
  const gmg_exec *e[2] = {&b.solver[0]->exec, &b.solver[1]->exec};
  gmg_report r[2];
  twin f = begin_twin(e[0], e[1], unknowns(p), 61), u = begin_twin(e[0], e[1], unknowns(p), 0);
  ON_BOTH(i) {
    const gmg_status status = gmg_solve(b.solver[i], f.at[i], u.at[i], &r[i]);
    if (!gmg_status_is_outcome(status))
      fail_msg("%s, solve on the %s: %s", name, i ? "device" : "host", gmg_context_error(b.context[i]));
  }
  print_message("%-34s host %2d cycles, %s; device %2d, %s\n", name, r[0].cycles, gmg_status_string(r[0].status), r[1].cycles,
                gmg_status_string(r[1].status));
  assert_int_equal(r[0].status, r[1].status);
  assert_true(abs(r[0].cycles - r[1].cycles) <= more);
  const double difference = ulps(e[0], e[1], u.at[0], u.at[1], u.n) * epsilon_of(e[0]);
  if (r[0].status == GMG_OK) assert_below(difference, p->type == GMG_F64 ? 1e-5 : 1e-2);
  ON_BOTH(i) { /* preconditioning does not read what z held */
    e[i]->vector->fill(e[i], u.n, NAN, u.at[i]);
    assert_ok(b.context[i], gmg_precondition(b.solver[i], f.at[i], u.at[i]));
    assert_true(isfinite(e[i]->vector->norm2(e[i], u.n, u.at[i])));
  }
  end_twin(&f), end_twin(&u);
  end_both(&b);
}

static void smoothers_agree(void **state)
{
  (void)state;
  for (int i = 0; i < PLAIN; i++) {
    gmg_problem p = shaped_problem(&plain[i].shape);
    smoothers(plain[i].name, &p);
  }
  medium m[] = {ball(3, 20, 1e2, GMG_CELL), absorbing(2, 40, 1e4, GMG_CELL), stretched(3, 18, 4, GMG_VERTEX)};
  for (int i = 0; i < 3; i++) {
    smoothers("medium", &m[i].p);
    free_medium(&m[i]);
  }
}

static void solves_agree(void **state)
{
  static const char *const names[] = {"jacobi", "red_black", "chebyshev", "async"};
  (void)state;
  for (int i = 0; i < PLAIN; i++)
    for (int k = 0; k < 4; k++) {
      gmg_problem p = shaped_problem(&plain[i].shape);
      gmg_params q = params_for_cycles();
      q.smoother = gmg_smoother_by_name(names[k]);
      p.type = (i + k) % 2 ? GMG_F64 : GMG_F32;
      q.deterministic = 1;
      solves(plain[i].name, &p, q, k == 3 ? 2 : 1); /* blocks of async differ between host and device */
    }
  static const char *const titles[] = {"F, Cholesky", "full multigrid", "CG", "full multigrid, mixed"};
  for (int k = 0; k < 4; k++) {
    const gmg_problem p = make_problem(3, 48, 40, 36, GMG_CELL, "ddnnpp");
    gmg_params q = params_for_cycles();
    if (k == 0) q.cycle = GMG_CYCLE_F, q.coarse = GMG_COARSE_DENSE;
    if (k == 1) q.fmg = 1, q.precision = GMG_PRECISION_SAME;
    if (k == 2) q.accel = GMG_ACCEL_CG, q.smoother = gmg_smoother_by_name("red_black");
    if (k == 3) q.fmg = 1, q.precision = GMG_PRECISION_MIXED;
    solves(titles[k], &p, q, 1);
  }
}

/* A full multigrid start, with boundary values or not, measured or not, in either precision, agrees with the host's. The last two
   shapes are large enough for the passes that interpolate u twice instead of storing it. */
static void starts_agree(void **state)
{
  static const struct {
    int fmg, check_every;
    gmg_precision precision;
    int has_values; /* at the walls */
  } starts[] = {{1, 0, GMG_PRECISION_MIXED, 1}, {1, 1, GMG_PRECISION_MIXED, 1}, {2, 0, GMG_PRECISION_MIXED, 1},
                {2, 1, GMG_PRECISION_SAME, 1},  {1, 0, GMG_PRECISION_MIXED, 0}, {2, 1, GMG_PRECISION_MIXED, 0}};
  (void)state;
  for (int i = 0; i <= PLAIN + 1; i++)
    for (int k = 0; k < COUNT(starts); k++) {
      const plain_case large[] = {{"3D, large", {3, {84, 80, 88}, GMG_CELL, "ddnrpp"}}, {"2D, large", {2, {800, 640, 1}, GMG_CELL, "dnpp"}}};
      const plain_case *c = i < PLAIN ? &plain[i] : &large[i - PLAIN];
      const gmg_problem p = shaped_problem(&c->shape);
      if (!taken(unknowns(&p))) continue;
      gmg_params q = params_for_cycles();
      q.smoother = gmg_smoother_by_name("red_black"); /* blocks of async differ between host and device */
      q.max_cycles = 1, q.coarse_rtol = 1e-6;
      q.fmg = starts[k].fmg, q.check_every = count_or_none(starts[k].check_every), q.precision = starts[k].precision;
      both b = begin_both(&p, &q, c->name);
      const gmg_exec *e[2] = {&b.solver[0]->exec, &b.solver[1]->exec};
      twin f = begin_twin(e[0], e[1], unknowns(&p), 63), u = begin_twin(e[0], e[1], unknowns(&p), 64), g = begin_twin(e[0], e[1], unknowns(&p), 65);
      ON_BOTH(at) {
        for (int a = 0; a < p.dim; a++)
          for (int side = 0; side < 2; side++)
            if (starts[k].has_values && p.bc[a][side] != GMG_PERIODIC) assert_ok(b.context[at], gmg_set_boundary_values(b.solver[at], a, side, g.at[at]));
        const gmg_status status = gmg_solve(b.solver[at], f.at[at], u.at[at], NULL);
        if (status > GMG_NOT_CONVERGED) fail_msg("%s, start on the %s: %s", c->name, at ? "device" : "host", gmg_context_error(b.context[at]));
      }
      const double difference = ulps(e[0], e[1], u.at[0], u.at[1], u.n) * epsilon_of(e[0]);
      if (!(difference <= 1e-4)) fail_msg("%s, start %d: host and device differ by %g", c->name, k, difference);
      end_twin(&f), end_twin(&u), end_twin(&g);
      end_both(&b);
    }
}

/* Any number of steps along conjugate directions without a residual between them agree with the host's. On a device u takes two steps
   at once, unless it has gaps. */
static void steps_agree(void **state)
{
  (void)state;
  medium m[] = {ball(3, 20, 1e2, GMG_CELL), ball(2, 41, 1e2, GMG_CELL)};
  for (int i = 0; i < COUNT(m); i++) {
    for (int steps = 1; steps <= 5; steps++)
      for (int gaps = 0; gaps < 2; gaps++) {
        gmg_problem p = m[i].p;
        gmg_params q = params_for_cycles_of(&p);
        const size_t row = p.n[0] + 3 * (size_t)gaps, elements = row * p.n[1] * (p.dim == 3 ? p.n[2] : 1);
        q.accel = GMG_ACCEL_FLEXIBLE_CG, q.precision = GMG_PRECISION_MIXED, q.smoother = gmg_smoother_by_name("red_black");
        q.max_cycles = steps, q.check_every = steps, q.rtol = 1e-14, q.coarse_rtol = 1e-6;
        if (gaps) p.u_layout = (gmg_array_layout){.row = row};
        both b = begin_both(&p, &q, "steps");
        const gmg_exec *e[2] = {&b.solver[0]->exec, &b.solver[1]->exec};
        gmg_report r[2];
        twin f = begin_twin(e[0], e[1], unknowns(&p), 66), u = begin_twin(e[0], e[1], elements, 0);
        ON_BOTH(at) {
          const gmg_status status = gmg_solve(b.solver[at], f.at[at], u.at[at], &r[at]);
          if (status != GMG_NOT_CONVERGED) fail_msg("%d steps: %s, %s", steps, gmg_status_string(status), gmg_context_error(b.context[at]));
        }
        const double difference = ulps(e[0], e[1], u.at[0], u.at[1], u.n) * epsilon_of(e[0]);
        const double ratio = r[1].residual / r[0].residual;
        if (!(difference <= 1e-5)) fail_msg("%d steps, gaps %d: host and device differ by %g", steps, gaps, difference);
        if (!(ratio > 0.5 && ratio < 2)) fail_msg("%d steps, gaps %d: residuals %g and %g", steps, gaps, r[0].residual, r[1].residual);
        end_twin(&f), end_twin(&u);
        end_both(&b);
      }
    free_medium(&m[i]);
  }
}

static void hard_solves_agree(void **state)
{
  (void)state;
  medium m[] = {ball(3, 48, 1e4, GMG_CELL), ball(3, 47, 1e-4, GMG_VERTEX), ball(3, 48, 1e6, GMG_CELL), stretched(3, 48, 10, GMG_CELL),
                absorbing(3, 48, 1e8, GMG_CELL), checkerboard(2, 64, 1e3, GMG_CELL)};
  static const char *const names[] = {"ball 1e4", "ball 1e-4, vertices", "ball 1e6", "stretch 10", "sigma 1e8", "checkerboard"};
  for (int i = 0; i < 6; i++) {
    gmg_params q = params_for_cycles_of(&m[i].p);
    solves(names[i], &m[i].p, q, 3);
    q.precision = GMG_PRECISION_SAME;
    solves(names[i], &m[i].p, q, 3);
    free_medium(&m[i]);
  }
}

/* Mixed precision reaches the residual that double reaches. The residual is computed on the host, not taken from the report. */
static void mixed_reaches_what_double_does(void **state)
{
  (void)state;
  medium m[] = {ball(3, 48, 1e3, GMG_CELL), absorbing(3, 48, 1e4, GMG_CELL), {.p = make_problem(3, 96, 96, 96, GMG_CELL, "dddddd")},
                {.p = make_problem(3, 65, 61, 53, GMG_VERTEX, "ndrdpp")}, {.p = make_problem(2, 200, 160, 1, GMG_CELL, "dddd")}};
  for (int i = 0; i < 5; i++)
    for (int fmg = 0; fmg < 2; fmg++) {
      const size_t n = unknowns(&m[i].p);
      double *f = field(n, 21), *r = field(n, 0), truth[2];
      gmg_params q = params_for_cycles();
      session judge = begin_solver(&m[i].p, &q, 0);
      q.rtol = 1e-10, q.fmg = fmg;
      for (int mixed = 0; mixed < 2; mixed++) {
        double *u = field(n, 0);
        q.precision = mixed ? GMG_PRECISION_MIXED : GMG_PRECISION_SAME;
        on_device = 1;
        session s = begin_solver(&m[i].p, &q, 0);
        assert_ok(s.context, solve_in(&s, f, u, NULL));
        end_solver(&s);
        on_device = 0;
        assert_ok(judge.context, gmg_residual(judge.solver, f, u, r));
        truth[mixed] = norm2(r, n) / norm2(f, n);
        free(u);
      }
      print_message("%dD, %zu unknowns%s: residual %.2e in double, %.2e mixed\n", m[i].p.dim, n, fmg ? ", full multigrid" : "", truth[0], truth[1]);
      assert_below(truth[0], 1.01e-10);
      assert_below(truth[1], 1.01e-10);
      end_solver(&judge);
      free(f), free(r);
    }
  for (int i = 0; i < 5; i++) free_medium(&m[i]);
}

/* In a singular problem with mixed precision f keeps its mean, and residuals subtract it. Later solves of the same solver must not:
   neither of a problem that is not singular any more, nor of a constant f. */
static void means_of_earlier_solves(void **state)
{
  (void)state;
  gmg_problem p = make_problem(3, 20, 18, 16, GMG_CELL, "nnppnn"), shifted = p;
  shifted.shift = 3;
  const size_t n = unknowns(&p);
  double *f = field(n, 21), *u = field(n, 0), *r = field(n, 0);
  gmg_params q = params_for_cycles();
  gmg_report report;
  for (size_t i = 0; i < n; i++) f[i] += 0.5;
  session judge = begin_solver(&shifted, &q, 0);
  q.rtol = 1e-9, q.precision = GMG_PRECISION_MIXED;
  on_device = 1;
  session s = begin_solver(&p, &q, 0);
  assert_ok(s.context, solve_in(&s, f, u, &report));
  assert_true(report.mean_removed > 0.4 && s.solver->f_keeps_mean);
  assert_ok(s.context, gmg_solver_update(s.solver, &shifted));
  assert_ok(s.context, solve_in(&s, f, u, NULL));
  on_device = 0;
  assert_ok(judge.context, gmg_residual(judge.solver, f, u, r));
  assert_below(norm2(r, n) / norm2(f, n), 1.01e-9);
  on_device = 1;
  assert_ok(s.context, gmg_solver_update(s.solver, &p));
  assert_ok(s.context, solve_in(&s, f, u, NULL));
  for (size_t i = 0; i < n; i++) f[i] = 0.5, u[i] = 0;
  assert_ok(s.context, solve_in(&s, f, u, &report));
  assert_near(report.mean_removed, 0.5, 1e-14);
  assert_below(norm2(u, n), 1e-12);
  on_device = 0;
  end_solver(&judge), end_solver(&s);
  free(f), free(u), free(r);
}

/* The coarse solver alone, on grids for a warp, for a thread block and for the whole device. It agrees with the host's, and the
   host does not wait. */
static void coarse_grid(const char *name, gmg_problem p, gmg_type type, gmg_coarse_kind kind)
{
  if (!taken(unknowns(&p))) return;
  gmg_params q = params_for_cycles();
  p.type = type;
  q.max_levels = 1, q.coarse = kind, q.precision = GMG_PRECISION_SAME, q.coarse_rtol = type == GMG_F64 ? 1e-11 : 1e-5;
  both b = begin_both(&p, &q, name);
  const gmg_exec *e[2] = {&b.solver[0]->exec, &b.solver[1]->exec};
  twin f = begin_twin(e[0], e[1], unknowns(&p), 61), u = begin_twin(e[0], e[1], unknowns(&p), 62);
  for (int repeat = 0; repeat < 2; repeat++) { /* the first solution is not used in the second */
    const size_t before = gmg_cuda_synchronisations(b.context[DEVICE]);
    ON_BOTH(i) assert_ok(b.context[i], gmg_precondition(b.solver[i], f.at[i], u.at[i]));
    assert_int_equal(gmg_cuda_synchronisations(b.context[DEVICE]), before);
    const double difference = ulps(e[0], e[1], u.at[0], u.at[1], u.n) * epsilon_of(e[0]);
    if (!(difference <= (type == GMG_F64 ? 1e-8 : 1e-2)))
      fail_msg("coarsest grid, %s, %s: host and device differ by %g", name, kind == GMG_COARSE_CG ? "CG" : "Cholesky", difference);
    ON_BOTH(i) e[i]->vector->fill(e[i], u.n, 1, u.at[i]), e[i]->vector->axpy(e[i], f.n, 0.25, u.at[i], f.at[i]);
  }
  end_twin(&f), end_twin(&u);
  end_both(&b);
}

static void coarse_grids_agree(void **state)
{
  static const shape shapes[] = {
      {3, {4, 4, 4}, GMG_CELL, "dddddd"},      {3, {5, 4, 4}, GMG_CELL, "ddddnn"},      {3, {7, 11, 13}, GMG_VERTEX, "nnnnpp"},
      {2, {32, 32, 1}, GMG_CELL, "drnd"},      {2, {32, 48, 1}, GMG_CELL, "dddd"},      {1, {1537, 1, 1}, GMG_VERTEX, "nd"},
      {1, {3001, 1, 1}, GMG_CELL, "pp"},       {2, {128, 128, 1}, GMG_CELL, "dddd"},    {2, {151, 149, 1}, GMG_VERTEX, "drnd"},
      {3, {26, 26, 26}, GMG_CELL, "pppppp"},   {3, {31, 29, 37}, GMG_VERTEX, "ndrdpp"}, {3, {48, 48, 48}, GMG_CELL, "dddddd"},
      {3, {100, 60, 11}, GMG_CELL, "nnnnpp"},  {3, {3, 2, 500}, GMG_CELL, "ddnnpp"}};
  (void)state;
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
    for (int type = 0; type < 2; type++) {
      const gmg_problem p = shaped_problem(&shapes[i]);
      char name[64];
      snprintf(name, sizeof name, "%zu x %zu x %zu, type %d", p.n[0], p.n[1], p.n[2], type);
      if (p.dim == 1 && type == GMG_F32) continue; /* the condition number, which grows with n^2, is too large for float */
      coarse_grid(name, p, (gmg_type)type, GMG_COARSE_CG);
      if (unknowns(&p) <= 1024) coarse_grid(name, p, (gmg_type)type, GMG_COARSE_DENSE);
    }
  medium m[] = {ball(3, 32, 1e3, GMG_CELL), absorbing(3, 30, 1e4, GMG_CELL), stretched(2, 140, 4, GMG_VERTEX)};
  for (int i = 0; i < 3; i++) {
    coarse_grid("medium", m[i].p, GMG_F64, GMG_COARSE_CG);
    if (i == 0) m[i].p.sigma = m[i].p.beta, coarse_grid("beta and sigma", m[i].p, GMG_F64, GMG_COARSE_CG);
    free_medium(&m[i]);
  }
}

/* Bad devices, blocks and coefficients get a status and a text. */
static void refusals(void **state)
{
  gmg_context *c;
  gmg_solver *s;
  (void)state;
  assert_int_equal(gmg_context_create_cuda(-1, NULL, &c), GMG_ERR_ARGUMENT);
  assert_null(c);
  assert_int_equal(gmg_context_create_cuda(1000, NULL, &c), GMG_ERR_ARGUMENT);
  assert_int_equal(gmg_context_create_cuda(0, NULL, NULL), GMG_ERR_ARGUMENT);
  assert_int_equal(gmg_context_create_cuda(0, NULL, &c), GMG_OK);
  const gmg_problem p = make_problem(3, 64, 64, 64, GMG_CELL, "dddddd");
  gmg_params q = params_for_cycles();
  q.async.block[0] = q.async.block[1] = q.async.block[2] = 64;
  assert_int_equal(gmg_solver_create(c, &p, &q, &s), GMG_ERR_UNSUPPORTED);
  assert_non_null(strstr(gmg_context_error(c), "params.async.block = 64 x 64 x 64"));
  q = params_for_cycles();
  q.async.local = GMG_LOCAL_GAUSS_SEIDEL;
  assert_int_equal(gmg_solver_create(c, &p, &q, &s), GMG_ERR_UNSUPPORTED);
  assert_non_null(strstr(gmg_context_error(c), "params.async.local"));
  const gmg_problem huge = make_problem(3, 8192, 8192, 8192, GMG_CELL, "dddddd");
  q = params_for_cycles();
  assert_int_equal(gmg_solver_create(c, &huge, &q, &s), GMG_ERR_MEMORY);
  assert_ok(c, gmg_solver_create(c, &p, &q, &s)); /* a smaller problem works */
  gmg_solver_destroy(s);
  gmg_context_destroy(c);
}

/* --- data that are not numbers ----------------------------------------------------------------------------------------- */

/* A value of f or of the guess is not a number. The solve names the array before it computes anything. The guess is unchanged, and
   the solver still works. */
static void refuses(const char *name, const both *b, twin *f, twin *u, int in_guess, double bad)
{
  twin *const spoiled = in_guess ? u : f;
  const size_t at = f->n / 3;
  gmg_status status[2];
  ON_BOTH(i) {
    const gmg_exec *e = &f->exec[i];
    double before;
    e->vector->fill(e, u->n, 0, u->at[i]);
    gmg_exec_read_reals(e, (char *)spoiled->at[i] + at * e->real_size, 1, &before);
    gmg_exec_write_reals(e, (char *)spoiled->at[i] + at * e->real_size, 1, &bad);
    status[i] = gmg_solve(b->solver[i], f->at[i], u->at[i], NULL);
    if (status[i] != GMG_ERR_ARGUMENT || strncmp(gmg_context_error(b->context[i]), in_guess ? "u[" : "f[", 2) != 0)
      fail_msg("%s, %g in %s, on the %s: %s: %s", name, bad, in_guess ? "u" : "f", i ? "device" : "host",
               gmg_status_string(status[i]), gmg_context_error(b->context[i]));
    gmg_exec_write_reals(e, (char *)spoiled->at[i] + at * e->real_size, 1, &before);
    if (in_guess) assert_true(e->vector->norm2(e, u->n, u->at[i]) == 0);
    assert_ok(b->context[i], gmg_solve(b->solver[i], f->at[i], u->at[i], NULL)); /* the solver still works */
  }
}

/* gmg_precondition() measures nothing, so it does not notice NaN. NaN in gives NaN out, and the next call is not affected. */
static void unseen(const both *b, twin *f, twin *u)
{
  const double nan = NAN;
  ON_BOTH(i) {
    const gmg_exec *e = &f->exec[i];
    double before;
    gmg_exec_read_reals(e, f->at[i], 1, &before);
    gmg_exec_write_reals(e, f->at[i], 1, &nan);
    assert_ok(b->context[i], gmg_precondition(b->solver[i], f->at[i], u->at[i]));
    assert_true(isnan(e->vector->norm2(e, u->n, u->at[i])));
    gmg_exec_write_reals(e, f->at[i], 1, &before);
    assert_ok(b->context[i], gmg_precondition(b->solver[i], f->at[i], u->at[i]));
    assert_true(isfinite(e->vector->norm2(e, u->n, u->at[i])));
  }
}

static void no_numbers(void **state)
{
  static const char *const names[] = {"double", "mixed", "full multigrid", "flexible CG", "flexible CG, mixed", "singular"};
  static const shape closed[] = {{1, {2001, 1, 1}, GMG_CELL, "nn"}, {2, {170, 131, 1}, GMG_VERTEX, "ppnn"}, {3, {34, 32, 31}, GMG_CELL, "nnnnpp"}};
  static const shape open[] = {{1, {2001, 1, 1}, GMG_CELL, "dn"}, {2, {170, 131, 1}, GMG_VERTEX, "ddnd"}, {3, {34, 32, 31}, GMG_CELL, "ddnndd"}};
  (void)state;
  for (int g = 0; g < 3; g++)
    for (int k = 0; k < 6; k++) {
      const gmg_problem p = shaped_problem(k == 5 ? &closed[g] : &open[g]);
      gmg_params q = params_for_cycles();
      char name[40];
      snprintf(name, sizeof name, "%dD, %s", p.dim, names[k]);
      q.precision = k == 1 || k == 4 ? GMG_PRECISION_MIXED : GMG_PRECISION_SAME;
      q.fmg = k == 2, q.accel = k == 3 || k == 4 ? GMG_ACCEL_FLEXIBLE_CG : GMG_ACCEL_NONE;
      both b = begin_both(&p, &q, name);
      const gmg_exec *e[2] = {&b.solver[0]->exec, &b.solver[1]->exec};
      twin f = begin_twin(e[0], e[1], unknowns(&p), 81), u = begin_twin(e[0], e[1], unknowns(&p), 0);
      static const double bad[] = {NAN, INFINITY, -INFINITY, 1e300};
      for (int i = 0; i < 4; i++) refuses(name, &b, &f, &u, 0, bad[i]);
      for (int i = 0; i < 3 && !q.fmg; i++) refuses(name, &b, &f, &u, 1, bad[i]);
      unseen(&b, &f, &u);
      end_twin(&f), end_twin(&u);
      end_both(&b);
    }
}

int main(int argc, char **argv)
{
  only(argc, argv);
  if (without_device()) return SKIPPED;
  const struct CMUnitTest tests[] = {cmocka_unit_test(smoothers_agree), cmocka_unit_test(solves_agree), cmocka_unit_test(starts_agree),
                                     cmocka_unit_test(steps_agree),
                                     cmocka_unit_test(hard_solves_agree), cmocka_unit_test(mixed_reaches_what_double_does),
                                     cmocka_unit_test(means_of_earlier_solves),
                                     cmocka_unit_test(coarse_grids_agree), cmocka_unit_test(refusals),
                                     cmocka_unit_test(no_numbers)};
  return run_selected(tests);
}
