/* Box stencils on CUDA against the host: the operations of the operator, Gauss-Seidel in colours, and the asynchronous smoother.
   Its variant by lines is compared with the host, like its reference kernel. */
#include "boxes.h"
#include "twins.h"
#include "varying.h"

static const shape shapes[] = {{1, {300, 1, 1}, GMG_VERTEX, "dn"},     {1, {5, 1, 1}, GMG_VERTEX, "pp"},
                               {2, {130, 97, 1}, GMG_VERTEX, "dddd"},  {2, {63, 200, 1}, GMG_VERTEX, "nnpp"},
                               {2, {70, 33, 1}, GMG_VERTEX, "ppnd"},   {2, {65, 131, 1}, GMG_VERTEX, "pppp"},
                               {2, {2, 90, 1}, GMG_VERTEX, "nddn"},    {3, {66, 24, 21}, GMG_VERTEX, "dddddd"},
                               {3, {33, 29, 40}, GMG_VERTEX, "nnndpp"}, {3, {61, 23, 12}, GMG_VERTEX, "ppnnnd"},
                               {3, {125, 11, 13}, GMG_VERTEX, "dnpppp"}, {3, {3, 2, 50}, GMG_VERTEX, "nndnnn"},
                               {3, {62, 25, 12}, GMG_VERTEX, "ddpppp"}, {3, {130, 12, 27}, GMG_VERTEX, "ppdddd"}};

static const double shifts[] = {0, 0.1, 0.2};

static void operations(const char *name, const both *b, int l)
{
  gmg_solver *const *s = b->solver;
  const gmg_exec *e[2] = {s[0]->levels_exec, s[1]->levels_exec};
  const gmg_exec low[2] = {gmg_exec_make(e[0]->context, GMG_F32, 0), gmg_exec_make(e[1]->context, GMG_F32, 0)};
  const gmg_exec wide[2] = {gmg_exec_make(e[0]->context, GMG_F64, 0), gmg_exec_make(e[1]->context, GMG_F64, 0)};
  const gmg_operator *A[2] = {&s[0]->level[l].A, &s[1]->level[l].A};
  const size_t n = A[0]->cells;
  const double limit = 64;
  twin u = begin_twin(e[0], e[1], n, 11), f = begin_twin(e[0], e[1], n, 12), r = begin_twin(e[0], e[1], n, 0);
  twin q = begin_twin(e[0], e[1], n, 0), d = begin_twin(e[0], e[1], n, 13), x = begin_twin(&low[0], &low[1], n, 0);
  twin scale = begin_twin(&wide[0], &wide[1], sizeof(gmg_scale) / sizeof(double), 0), scalars = begin_twin(&wide[0], &wide[1], 5, 0);
  double norm[2], f_norm[2], magnitude[2];
  ON_BOTH(i) {
    const gmg_operator_ops *op = gmg_operator_of(e[i], A[i]);
    gmg_exec_write_reals(&wide[i], scale.at[i], sizeof(gmg_scale) / sizeof(double), (const double *)&(const gmg_scale){.next = 0.5});
    gmg_exec_write_reals(&wide[i], scalars.at[i], 5, (const double[]){0, 0, 0, 0.75, 0});
    op->residual(e[i], A[i], f.at[i], u.at[i], r.at[i]);
    norm[i] = op->measure_residual(e[i], A[i], f.at[i], u.at[i], NULL, scale.at[i], x.at[i], &f_norm[i], GMG_WAIT);
    magnitude[i] = op->magnitude(e[i], A[i], u.at[i]);
    op->apply(e[i], A[i], u.at[i], q.at[i]);
  }
  same_twin(name, "residual", &r, limit), same_twin(name, "operator", &q, limit), same_twin(name, "low residual", &x, limit);
  same_number(name, "residual norm", e[0], norm[0], norm[1], limit), same_number(name, "norm of f", e[0], f_norm[0], f_norm[1], limit);
  same_number(name, "magnitude", e[0], magnitude[0], magnitude[1], limit);
  ON_BOTH(i) {
    const gmg_operator_ops *op = gmg_operator_of(e[i], A[i]);
    op->over_diagonal(e[i], A[i], f.at[i], r.at[i]);
    op->cg_direction(e[i], A[i], u.at[i], scalars.at[i], NULL, d.at[i], d.at[i], f.at[i], q.at[i]);
  }
  same_twin(name, "over the diagonal", &r, limit), same_twin(name, "direction", &d, limit), same_twin(name, "its image", &q, limit);
  same_twin(name, "its inner products", &scalars, 64 * epsilon_of(e[0]) / epsilon_of(&wide[0]) * 64);
  ON_BOTH(i) norm[i] = gmg_operator_of(e[i], A[i])->correct_residual(e[i], A[i], (gmg_correction){.z = d.at[i]}, f.at[i], u.at[i], NULL,
                                                                      scale.at[i], x.at[i], GMG_WAIT);
  same_number(name, "norm after a correction", e[0], norm[0], norm[1], limit);
  end_twin(&u), end_twin(&f), end_twin(&r), end_twin(&q), end_twin(&d), end_twin(&x), end_twin(&scale), end_twin(&scalars);
}

static gmg_problem problem_of(int i, int type, gmg_stencil *box)
{
  gmg_problem p = shaped_problem(&shapes[i]);
  *box = i % 2 && p.dim == 3 ? gmg_stencil_q1(3, (const double[]){1, 0.7, 1.2}, 0.3) : box_without_pattern(p.dim);
  p.stencil = box, p.type = (gmg_type)type, p.shift = ROUND_ROBIN(shifts, i);
  return p;
}

static void operations_agree(void **state)
{
  (void)state;
  for (int i = 0; i < COUNT(shapes); i++)
    for (int type = 0; type < 2; type++) {
      gmg_stencil box;
      const gmg_problem p = problem_of(i, type, &box);
      char name[60];
      gmg_params q = params_for_cycles();
      q.precision = GMG_PRECISION_SAME, q.coarse_cells = 2;
      if (!taken(unknowns(&p))) continue;
      snprintf(name, sizeof name, "box %d, type %d", i, type);
      both b = begin_both(&p, &q, name);
      for (int l = 0; l < b.solver[0]->levels && l < 2; l++) operations(name, &b, l);
      end_both(&b);
    }
}

/* The stale twin with given blocks, and Gauss-Seidel in colours, do the same arithmetic on host and device. */
static void smoothing_agrees(void **state)
{
  (void)state;
  static const struct {
    const char *smoother;
    gmg_local_kind local;
    int sweeps, overlap;
    gmg_block_order order;
    size_t block[3];
    int accel;
  } kinds[] = {{"gauss_seidel", GMG_LOCAL_AUTO, 1, 1, GMG_ORDER_NATURAL, {0, 0, 0}, 0},
               {"async", GMG_LOCAL_RED_BLACK, 2, 1, GMG_ORDER_NATURAL, {60, 10, 10}, 0}, /* by lines */
               {"async", GMG_LOCAL_RED_BLACK, 1, 2, GMG_ORDER_RANDOM, {24, 6, 5}, 0},
               {"async", GMG_LOCAL_RED_BLACK, 3, 0, GMG_ORDER_BACKWARD, {31, 7, 4}, 0},
               {"async", GMG_LOCAL_RED_BLACK, 2, 1, GMG_ORDER_NATURAL, {100, 6, 4}, 0}, /* too long for a line */
               {"async", GMG_LOCAL_JACOBI, 2, 1, GMG_ORDER_TWO_COLOUR, {20, 10, 8}, 0},
               {"jacobi", GMG_LOCAL_AUTO, 1, 1, GMG_ORDER_NATURAL, {0, 0, 0}, 0},
               {"chebyshev", GMG_LOCAL_AUTO, 1, 1, GMG_ORDER_NATURAL, {0, 0, 0}, 0}};
  for (int i = 0; i < COUNT(shapes); i++)
    for (int k = 0; k < COUNT(kinds); k++)
      for (int type = 0; type < 2; type++) {
        gmg_stencil box;
        const gmg_problem p = problem_of(i, type, &box);
        char name[60];
        gmg_params q = relaxing(kinds[k].local, kinds[k].sweeps, kinds[k].overlap, kinds[k].order, kinds[k].block[0], kinds[k].block[1],
                                kinds[k].block[2]);
        q.smoother = gmg_smoother_by_name(kinds[k].smoother), q.precision = GMG_PRECISION_SAME, q.deterministic = 1, q.coarse_cells = 2;
        if (!taken(unknowns(&p))) continue;
        snprintf(name, sizeof name, "box %d, smoother %d, type %d", i, k, type);
        both b = begin_both(&p, &q, name);
        same_sweeps(name, "a step", &b, 0, 1, GMG_LEG_DOWN, 0, 128);
        same_sweeps(name, "two steps, reversed", &b, 0, 2, GMG_LEG_UP_REVERSED, 0, 128);
        same_sweeps(name, "a step from zero", &b, 0, 1, GMG_LEG_DOWN, 1, 128);
        end_both(&b);
      }
}

/* An update may change the kernel: Q1 has a kernel of its own, entries without a pattern do not. */
static void updates_agree(void **state)
{
  (void)state;
  for (int type = 0; type < 2; type++) {
    gmg_problem p = shaped_problem(&shapes[12]);
    const gmg_stencil boxes[3] = {gmg_stencil_q1(3, NULL, 0.3), box_without_pattern(3), gmg_stencil_q1(3, NULL, 0.3)};
    gmg_params q = relaxing(GMG_LOCAL_RED_BLACK, 2, 1, GMG_ORDER_NATURAL, 60, 6, 6);
    q.precision = GMG_PRECISION_SAME, q.deterministic = 1;
    p.type = (gmg_type)type, p.stencil = &boxes[0];
    if (!taken(unknowns(&p))) continue;
    both b = begin_both(&p, &q, "box update");
    for (int update = 0; update < 3; update++) {
      p.stencil = &boxes[update];
      if (update > 0) ON_BOTH(k) assert_ok(b.context[k], gmg_solver_update(b.solver[k], &p));
      same_sweeps("box update", "a step", &b, 0, 1, GMG_LEG_DOWN, 0, 128);
    }
    end_both(&b);
  }
}

/* Asynchronous solves with both assignments and both precisions converge as on the host. */
static void solves_converge(void **state)
{
  (void)state;
  for (int i = 2; i < COUNT(shapes); i++)
    for (int dynamic = 0; dynamic < 2; dynamic++)
      for (int mixed = 0; mixed < 2; mixed++) {
        gmg_problem p = shaped_problem(&shapes[i]);
        const gmg_stencil box = box_of_entries(&p, &box_q1);
        gmg_params q = params_for_cycles();
        gmg_report r[2];
        p.stencil = &box, p.shift = 1;
        q.precision = mixed ? GMG_PRECISION_MIXED : GMG_PRECISION_SAME, q.async.assignment = dynamic ? GMG_ASSIGN_DYNAMIC : GMG_ASSIGN_AUTO;
        if (!taken(unknowns(&p))) continue;
        both b = begin_both(&p, &q, "box solve");
        twin u = begin_twin(&b.solver[0]->exec, &b.solver[1]->exec, unknowns(&p), 0);
        twin f = begin_twin(&b.solver[0]->exec, &b.solver[1]->exec, unknowns(&p), 9);
        ON_BOTH(k) assert_ok(b.context[k], gmg_solve(b.solver[k], f.at[k], u.at[k], &r[k]));
        if (r[1].cycles > r[0].cycles + 2) fail_msg("box %d: %d cycles, on the host %d", i, r[1].cycles, r[0].cycles);
        same_twin("box solve", "solution", &u, 1e9);
        end_twin(&u), end_twin(&f);
        end_both(&b);
      }
}

/* Shapes for entries that vary: some or all axes have an even number of intervals, so there are coarse operators. */
static const shape nested[] = {{1, {255, 1, 1}, GMG_VERTEX, "dd"},      {1, {64, 1, 1}, GMG_VERTEX, "pp"},
                               {2, {63, 95, 1}, GMG_VERTEX, "dddd"},    {2, {65, 48, 1}, GMG_VERTEX, "nnpp"},
                               {2, {2, 90, 1}, GMG_VERTEX, "nddn"},     {3, {31, 15, 23}, GMG_VERTEX, "dddddd"},
                               {3, {33, 16, 16}, GMG_VERTEX, "nnndpp"}, {3, {62, 11, 4}, GMG_VERTEX, "ppdddn"},
                               {3, {3, 2, 50}, GMG_VERTEX, "nndnnn"},   {2, {33, 20, 1}, GMG_CELL, "ddnn"},
                               {3, {18, 11, 7}, GMG_CELL, "dnppnd"}};

static gmg_problem nested_problem(int i, int type, varying *box)
{
  gmg_problem p = shaped_problem(&nested[i]);
  p.type = (gmg_type)type, p.shift = ROUND_ROBIN(shifts, i);
  for (int a = 0; a < p.dim; a++) p.h[a] = p.h[0]; /* all axes are coarsened */
  *box = p.centering == GMG_CELL ? varying_cells(&p, beta_uneven, 1, 0.3) : varying_q1(&p, beta_uneven, 1);
  p.stencil = &box->stencil;
  return p;
}

/* Operations on the finest level and on levels with Galerkin products. */
static void operations_of_arrays_agree(void **state)
{
  (void)state;
  for (int i = 0; i < COUNT(nested); i++)
    for (int type = 0; type < 2; type++) {
      varying box;
      const gmg_problem p = nested_problem(i, type, &box);
      char name[60];
      gmg_params q = params_for_cycles();
      q.precision = GMG_PRECISION_SAME, q.coarse_cells = 2, q.coarse = GMG_COARSE_CG;
      if (taken(unknowns(&p))) {
        snprintf(name, sizeof name, "arrays %d, type %d", i, type);
        both b = begin_both(&p, &q, name);
        assert_int_equal(b.solver[0]->levels, b.solver[1]->levels);
        for (int l = 0; l < b.solver[0]->levels && l < 3; l++) operations(name, &b, l);
        end_both(&b);
      }
      free_varying(&box);
    }
}

static void smoothing_of_arrays_agrees(void **state)
{
  (void)state;
  static const struct {
    const char *smoother;
    gmg_local_kind local;
    int sweeps, overlap;
    gmg_block_order order;
    size_t block[3];
  } kinds[] = {{"gauss_seidel", GMG_LOCAL_AUTO, 1, 1, GMG_ORDER_NATURAL, {0, 0, 0}},
               {"async", GMG_LOCAL_RED_BLACK, 2, 1, GMG_ORDER_NATURAL, {60, 10, 10}},
               {"async", GMG_LOCAL_RED_BLACK, 1, 2, GMG_ORDER_RANDOM, {24, 6, 5}},
               {"async", GMG_LOCAL_RED_BLACK, 3, 0, GMG_ORDER_BACKWARD, {31, 7, 4}},
               {"async", GMG_LOCAL_RED_BLACK, 2, 1, GMG_ORDER_NATURAL, {120, 40, 4}}, /* too large for quads */
               {"async", GMG_LOCAL_JACOBI, 2, 1, GMG_ORDER_TWO_COLOUR, {20, 10, 8}},
               {"jacobi", GMG_LOCAL_AUTO, 1, 1, GMG_ORDER_NATURAL, {0, 0, 0}},
               {"chebyshev", GMG_LOCAL_AUTO, 1, 1, GMG_ORDER_NATURAL, {0, 0, 0}}};
  for (int i = 0; i < COUNT(nested); i++)
    for (int k = 0; k < COUNT(kinds); k++)
      for (int type = 0; type < 2; type++) {
        varying box;
        const gmg_problem p = nested_problem(i, type, &box);
        char name[60];
        gmg_params q = relaxing(kinds[k].local, kinds[k].sweeps, kinds[k].overlap, kinds[k].order, kinds[k].block[0], kinds[k].block[1],
                                kinds[k].block[2]);
        q.smoother = gmg_smoother_by_name(kinds[k].smoother), q.precision = GMG_PRECISION_SAME, q.deterministic = 1, q.coarse_cells = 2;
        q.coarse = GMG_COARSE_CG;
        if (taken(unknowns(&p))) {
          snprintf(name, sizeof name, "arrays %d, smoother %d, type %d", i, k, type);
          both b = begin_both(&p, &q, name);
          same_sweeps(name, "a step", &b, 0, 1, GMG_LEG_DOWN, 0, 128);
          same_sweeps(name, "two steps, reversed", &b, 0, 2, GMG_LEG_UP_REVERSED, 0, 128);
          same_sweeps(name, "a step from zero", &b, 0, 1, GMG_LEG_DOWN, 1, 128);
          end_both(&b);
        }
        free_varying(&box);
      }
}

/* A bad row is found on the device, and the text names the same row as on the host. */
static void bad_rows_are_named_alike(void **state)
{
  (void)state;
  static const struct {
    int entry;
    double value;
  } changes[] = {{13, -1}, {13, NAN}, {4, 17}, {12, -3e5}};
  for (int i = 0; i < COUNT(changes); i++) {
    varying box;
    gmg_problem p = nested_problem(2, GMG_F64, &box);
    gmg_params q = params_for_cycles();
    gmg_context *c[2];
    gmg_solver *s = NULL;
    q.coarse = GMG_COARSE_CG; /* needs a symmetric matrix */
    ((double *)box.array[changes[i].entry == 4 ? 10 : changes[i].entry])[3333] = changes[i].value;
    assert_int_equal(gmg_context_create_host(2, &c[HOST]), GMG_OK);
    assert_int_equal(gmg_context_create_cuda(0, NULL, &c[DEVICE]), GMG_OK);
    const gmg_status status = gmg_solver_create(c[HOST], &p, &q, &s);
    assert_int_not_equal(status, GMG_OK);
    assert_int_equal(create_on_device(c[DEVICE], &p, &q, &s), status);
    assert_string_equal(gmg_context_error(c[DEVICE]), gmg_context_error(c[HOST]));
    ON_BOTH(k) gmg_context_destroy(c[k]);
    free_varying(&box);
  }
}

int main(int argc, char **argv)
{
  if (without_device()) return SKIPPED;
  only(argc, argv);
  const struct CMUnitTest tests[] = {cmocka_unit_test(operations_agree), cmocka_unit_test(smoothing_agrees), cmocka_unit_test(updates_agree),
                                     cmocka_unit_test(solves_converge), cmocka_unit_test(operations_of_arrays_agree),
                                     cmocka_unit_test(smoothing_of_arrays_agrees), cmocka_unit_test(bad_rows_are_named_alike)};
  return run_selected(tests);
}
