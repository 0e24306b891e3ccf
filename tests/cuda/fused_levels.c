/* The small levels of a cycle in one kernel (src/coarse/fused_levels) against one kernel per operation, on the same device. Both
   relax whole levels by red-black, so results differ only by rounding. */
#include "twins.h"

#include "half_sweeps.h"

typedef struct {
  int dim;
  size_t n[3];
  const char *bc;
} box;

/* The finest level is never fused, so boxes are twice as large as the largest fused level. */
static const box boxes[] = {
    {3, {128, 128, 128}, "dddddd"}, {3, {64, 64, 64}, "dddddd"},  {3, {64, 64, 64}, "nnnnnn"}, {3, {66, 64, 60}, "dnddrd"},
    {3, {32, 32, 32}, "nnnnnn"},    {3, {33, 35, 37}, "dddddd"},  {3, {63, 61, 59}, "ddnndr"}, {3, {16, 16, 16}, "dddddd"},
    {3, {17, 9, 11}, "nnnnnn"},     {3, {72, 40, 24}, "ndrddd"},  {3, {24, 40, 90}, "dddddd"}, {3, {20, 22, 126}, "dddddn"},
    {3, {130, 34, 12}, "dddddd"},   {3, {120, 120, 6}, "ddddnn"}, {3, {6, 60, 60}, "nndddd"},  {3, {7, 7, 7}, "dddddd"},
    {3, {40, 40, 5}, "ddddnn"},     {3, {41, 3, 29}, "dddddd"},   {3, {30, 1, 28}, "dddddd"},  {2, {256, 256, 1}, "dddd"},
    {2, {500, 260, 1}, "dndr"},     {2, {255, 257, 1}, "nnnn"},   {2, {128, 128, 1}, "nnnn"},  {2, {127, 65, 1}, "dddd"},
    {2, {31, 511, 1}, "dddn"},      {2, {600, 20, 1}, "dddd"},    {2, {9, 9, 1}, "dddd"},      {1, {4096, 1, 1}, "dd"},
    {1, {1000, 1, 1}, "nn"},        {1, {67, 1, 1}, "dr"},        {1, {512, 1, 1}, "pp"},       {1, {129, 1, 1}, "rn"},
    {2, {128, 64, 1}, "pppp"},      {2, {512, 400, 1}, "ppdn"},   {2, {257, 129, 1}, "nnnn"},   {2, {97, 160, 1}, "ndpp"},
    {3, {16, 16, 16}, "pppppp"},    {3, {64, 64, 64}, "pppppp"},  {3, {24, 20, 48}, "ppnnpp"},  {3, {32, 40, 152}, "pppppp"},
    {3, {44, 37, 44}, "ppdrpp"},    {3, {48, 44, 41}, "ppppnd"},  {3, {33, 33, 33}, "nnnnnn"},  {3, {63, 61, 60}, "nrrnnn"},
    {3, {31, 30, 29}, "dnrdpp"},    {3, {52, 50, 63}, "nnrdnr"},  {3, {31, 31, 31}, "rdnnnr"},
    {3, {16, 34, 30}, "nrddrd"},    {2, {64, 8, 1}, "ddpp"},      {3, {62, 32, 31}, "rdnnrd"},};

/* Fused levels have odd periodic axes. */
static const box odd_boxes[] = {
    {3, {50, 46, 58}, "pppppp"}, {3, {33, 35, 37}, "pppppp"}, {3, {50, 20, 62}, "ppddpp"}, {3, {20, 50, 44}, "rdppnr"},
    {3, {22, 20, 26}, "ppddpp"}, {3, {40, 44, 50}, "ddnnpp"}, {2, {130, 66, 1}, "pppp"},   {2, {66, 33, 1}, "ppdn"},
    {2, {30, 70, 1}, "nrpp"},    {1, {1026, 1, 1}, "pp"},     {3, {18, 22, 26}, "pppppp"}};

/* Fused levels end on an exact level in float. In the last four neighbours are beyond a seam, or images. */
static const box exact_boxes[] = {
    {3, {64, 64, 64}, "dddddd"}, {3, {66, 64, 60}, "dnddrd"}, {3, {63, 61, 59}, "ddnndr"}, {3, {28, 28, 24}, "nnnnnn"},
    {3, {20, 22, 126}, "dddddn"}, {3, {64, 64, 64}, "pppppp"}, {3, {48, 44, 41}, "ppppnd"}, {3, {33, 33, 33}, "nnnnnn"},
    {3, {31, 30, 29}, "dnrdpp"}};

static const gmg_cycle_kind kinds[] = {GMG_CYCLE_V, GMG_CYCLE_W, GMG_CYCLE_F};

static int has_fused_levels(const gmg_solver *s) { return s->mg.bottom.level < s->coarsest_bottom.level; }

/* The fused levels relax so across seams, too. */
static void relax_by_colours(const gmg_smoother_level *l, void *state, const void *f, void *u, int steps, gmg_leg leg)
{
  (void)state;
  half_sweeps_by_definition(l, f, u, 2 * steps * gmg_bottom_sweeps(l->params, l->A), leg);
}
static const gmg_smoother_ops by_colours = {.sweep = relax_by_colours};

/* Whether the asynchronous smoother runs freely. Its blocks then are not what the fused levels do. */
static int is_free(const gmg_solver *s)
{
  return !(gmg_smoother_traits(&s->params, s->exec.threads) & GMG_SMOOTHER_DETERMINISTIC);
}

static int has_odd_seam(const gmg_solver *s)
{
  int odd = 0;
  for (int l = s->mg.bottom.level; l < s->levels - 1; l++)
    for (int a = 0; a < 3; a++) odd |= gmg_odd_seam(&s->level[l].A, a);
  return odd;
}

/* The level that the fused levels solve by its inverse if a cycle begins above it, or the coarsest. */
static int last_visited(const gmg_solver *s)
{
  const gmg_bottom *b = &s->mg.bottom;
  const int exact = s->levels_exec->type == GMG_F64 ? gmg_fused_levels_exact_f64(b->state) : gmg_fused_levels_exact_f32(b->state);
  return exact < 0 ? s->levels - 1 : b->level + exact;
}

/* A dense factorisation of level l. singular: as if A were, without constants in f and u. */
static gmg_bottom dense_on(gmg_solver *s, int l, int singular, gmg_bottom_problem *p)
{
  const gmg_level *L = &s->level[l];
  *p = (gmg_bottom_problem){.levels = 1, .coarse_kind = GMG_COARSE_DENSE, .singular = singular, .is_symmetric = 1, .penalty = ""};
  p->level[0] = (gmg_bottom_level){.A = &L->A, .axis = L->axis, .scale = L->scale, .volume = L->volume};
  gmg_bottom b = {.level = l, .ops = gmg_coarsest_of(GMG_COARSE_DENSE), .problem = p};
  assert_int_equal(b.ops->setup(s->levels_exec, p, &b.state), GMG_OK);
  assert_int_equal(b.ops->update(s->levels_exec, p, b.state), GMG_OK);
  return b;
}

/* u of level l after a cycle from level l down, by the fused levels or, with another bottom, without them. */
static double *cycled(gmg_solver *s, int l, gmg_cycle_kind kind, int from_zero, const double *f, const double *u,
                      const gmg_bottom *bottom)
{
  const gmg_exec *e = s->levels_exec;
  gmg_level *L = &s->level[l];
  gmg_multigrid apart = s->mg;
  double *out = malloc(L->A.cells * sizeof *out);
  gmg_exec_write_reals(e, L->f, L->A.cells, f);
  gmg_exec_write_reals(e, L->u, L->A.cells, u);
  if (!bottom) gmg_bottom_solve(&s->mg, l, L->f, L->u, kind, from_zero ? GMG_FROM_ZERO : GMG_FROM_CURRENT);
  else {
    apart.bottom = *bottom;
    if (is_free(s) || has_odd_seam(s)) { /* red-black relaxation has another order at a seam */
      for (int k = 0; k < s->levels; k++) apart.smoother[k] = &by_colours, apart.fused[k] = NULL, apart.legs[k] = &gmg_plain_legs;
    }
    if (from_zero) e->vector->fill(e, L->A.cells, 0, L->u);
    assert_int_equal(gmg_cycle(&apart, l, L->f, L->u, kind, GMG_FROM_CURRENT, NULL), 0);
  }
  gmg_exec_read_reals(e, L->u, L->A.cells, out);
  return out;
}

/* The largest difference over the largest value. */
static double apart(const double *a, const double *b, size_t n)
{
  double most = 0, largest = 0;
  for (size_t i = 0; i < n; i++) {
    largest = fmax(largest, fabs(a[i]));
    most = isnan(a[i] - b[i]) ? INFINITY : fmax(most, fabs(a[i] - b[i]));
  }
  return most == 0 ? 0 : most / largest;
}

/* Removes the mean, weighted by the control volumes of a level. */
static void take_mean(const gmg_exec *e, const gmg_operator *A, double *x)
{
  double *w[3], mean = 0, volume = 0;
  for (int a = 0; a < 3; a++) w[a] = field(A->n[a], 0), gmg_exec_read_reals(e, A->volume[a], A->n[a], w[a]);
  for (size_t i = 0; i < A->cells; i++) {
    const double v = w[0][i % A->n[0]] * w[1][i / A->n[0] % A->n[1]] * w[2][i / (A->n[0] * A->n[1])];
    mean += v * x[i], volume += v;
  }
  for (size_t i = 0; i < A->cells; i++) x[i] -= mean / volume;
  for (int a = 0; a < 3; a++) free(w[a]);
}

static int compare(const char *name, gmg_context *c, const gmg_problem *p, const gmg_params *q)
{
  gmg_solver *s;
  assert_ok(c, create_on_device(c, p, q, &s));
  const int some = has_fused_levels(s), count = s->levels - s->mg.bottom.level;
  /* rounding times the condition number of the levels, which in 1D grows with n^2 (2048 in float: 0.042) */
  const double longest = (double)p->n[0] / 2, in_1d = fmax(100, 5e-5 * longest * longest);
  const double limit = (p->type == GMG_F64 ? 1e-11 : 3e-3) * (p->dim == 1 ? in_1d : 1);
  gmg_bottom_problem exact;
  const int last = some ? last_visited(s) : 0;
  const gmg_bottom dense = some && last < s->levels - 1 ? dense_on(s, last, s->singular, &exact) : s->coarsest_bottom;
  for (int l = s->mg.bottom.level; some && l < s->levels; l++) {
    const gmg_bottom *bottom = l < last ? &dense : &s->coarsest_bottom;
    const size_t n = s->level[l].A.cells;
    double *f = field(n, 71), *u = field(n, 72);
    if (s->singular) take_mean(s->levels_exec, &s->level[l].A, f);
    for (int k = 0; k < 3; k++)
      for (int zero = 0; zero < 2; zero++) {
        double *a = cycled(s, l, kinds[k], zero, f, u, NULL), *b = cycled(s, l, kinds[k], zero, f, u, bottom);
        const double d = apart(a, b, n);
        if (!(d <= limit))
          fail_msg("%s, level %d of %d, %zu x %zu x %zu, cycle %d, %s: %g apart", name, l, s->levels, s->level[l].A.n[0],
                   s->level[l].A.n[1], s->level[l].A.n[2], k, zero ? "from zero" : "from a guess", d);
        free(a), free(b);
      }
    free(f), free(u);
  }
  gmg_solver_destroy(s);
  return some ? count : 0;
}

/* Random values of at least `least`, multiplied by `more` within a ball. */
static void *values(const gmg_problem *p, double least, double more, uint64_t seed)
{
  const size_t cells = unknowns(p), *n = p->n;
  double *x = field(cells, seed);
  float *single = malloc(cells * sizeof *single);
  for (size_t c = 0; c < cells; c++) {
    const size_t at[3] = {c % n[0], c / n[0] % n[1], c / (n[0] * n[1])};
    double away = 0;
    for (int a = 0; a < 3; a++) away += n[a] > 1 ? pow(((double)at[a] + 0.5) / (double)n[a] - 0.45, 2) : 0;
    x[c] = (least + fabs(x[c])) * (away < 0.09 ? more : 1);
    single[c] = (float)x[c];
  }
  if (p->type == GMG_F64) return free(single), x;
  return free(x), single;
}

/* First index: 0 for constant coefficients, 1 for coefficients on faces. many: coarse_cells, so many that there may be no inverse.
   jump: of beta. */
static const struct {
  int symmetric, pre, post, sigma;
  double shift, jump;
  size_t many;
} variants[2][3] = {{{0, 1, 1, 0, 0, 0, 0}, {1, 2, 2, 0, 3, 0, 0}, {0, 0, 3, 0, 0, 0, 100}},
                    {{0, 1, 1, 0, 0, 100, 0}, {0, 2, 0, 1, 0, 1, 0}, {0, 0, 3, 0, 3, 100, 0}}};

static void compare_boxes(const box *boxes, int count, const char *smoother, int on_faces, int deterministic)
{
  gmg_context *c;
  assert_int_equal(gmg_context_create_cuda(0, NULL, &c), GMG_OK);
  for (int i = 0; i < count; i++)
    for (int centering = 0; centering < 2; centering++) {
      int done = -1;
      char name[128];
      for (int type = 0; type < 2; type++)
        for (int v = 0; v < 3; v++) {
          const size_t *n = boxes[i].n;
          gmg_problem p = make_problem(boxes[i].dim, n[0], n[1], n[2], (gmg_centering)centering, boxes[i].bc);
          if (!taken(unknowns(&p))) continue;
          gmg_params q = params_for_cycles();
          p.type = type ? GMG_F64 : GMG_F32, p.shift = variants[on_faces][v].shift;
          void *const beta = values(&p, 1, variants[on_faces][v].jump, 75), *const sigma = values(&p, 0, 1e3, 76);
          if (on_faces) p.beta = beta;
          if (variants[on_faces][v].sigma) p.sigma = sigma;
          q.smoother = gmg_smoother_by_name(smoother), q.deterministic = deterministic;
          q.async.local_sweeps = 1, q.async.overlap = GMG_NONE; /* one sweep a step; symmetric cycles need no overlap */
          q.precision = GMG_PRECISION_SAME, q.coarse_rtol = type ? 1e-13 : 1e-6;
          q.symmetric = deterministic && variants[on_faces][v].symmetric, q.coarse_cells = variants[on_faces][v].many;
          q.pre = count_or_none(variants[on_faces][v].pre), q.post = count_or_none(variants[on_faces][v].post);
          snprintf(name, sizeof name, "%s%zu x %zu x %zu %s, %s, %s, variant %d", on_faces ? "faces, " : "", n[0], n[1], n[2],
                   centering == GMG_CELL ? "cells" : "vertices", boxes[i].bc, type ? "double" : "float", v);
          done = compare(name, c, &p, &q);
          free(beta), free(sigma);
        }
      if (done >= 0) print_message("%-55s %d fused levels\n", name, done);
    }
  gmg_context_destroy(c);
}

static void levels_agree(void **state) { (void)state, compare_boxes(boxes, COUNT(boxes), "red_black", 0, 1); }
static void levels_on_faces_agree(void **state) { (void)state, compare_boxes(boxes, COUNT(boxes), "red_black", 1, 1); }
static void odd_seams_agree(void **state) { (void)state, compare_boxes(odd_boxes, COUNT(odd_boxes), "async", 0, 1); }

/* With an exact level. */
static void free_levels_agree(void **state)
{
  (void)state;
  compare_boxes(boxes, COUNT(boxes), "async", 0, 0);
  compare_boxes(exact_boxes, COUNT(exact_boxes), "async", 1, 0);
  compare_boxes(odd_boxes, COUNT(odd_boxes), "async", 0, 0);
}

/* An update reaches the tables of the fused levels: with red_black the coarsest grid's inverse, with async the exact level's. Where
   beta varies, there is no exact level if its inverse would lose its digits, as with the last two shifts. */
static void update_reaches_them(const char *smoother, gmg_precision precision, int varies)
{
  static const double shifts[] = {5, 0, 400, 1e-8, 2e-13}; /* Cholesky factors of the last two would lose their digits */
  gmg_context *c;
  gmg_solver *s;
  assert_int_equal(gmg_context_create_cuda(0, NULL, &c), GMG_OK);
  const gmg_exec e = gmg_exec_make(c, GMG_F64, 0);
  gmg_problem p = make_problem(3, 28, 28, 24, GMG_CELL, "nnnnnn");
  gmg_params q = params_for_cycles();
  const int mixed = precision == GMG_PRECISION_MIXED;
  const double accuracy = mixed ? 1e-3 : 1e-9, rounding = mixed ? 1e-6 : 1e-15;
  double *numbers = values(&p, 1, 100, 75);
  void *const beta = e.memory->alloc(c, unknowns(&p) * sizeof(double));
  q.smoother = gmg_smoother_by_name(smoother), q.precision = precision, q.coarse_rtol = mixed ? 1e-6 : 1e-13;
  gmg_exec_write_reals(&e, beta, unknowns(&p), numbers);
  if (varies) p.beta = beta;
  assert_ok(c, gmg_solver_create(c, &p, &q, &s));
  for (int i = 0; i < (mixed ? 3 : COUNT(shifts)); i++) { /* mixed precision refuses the last two */
    p.shift = shifts[i];
    numbers[i] *= 50;
    gmg_exec_write_reals(&e, beta, unknowns(&p), numbers);
    assert_ok(c, gmg_solver_update(s, &p));
    const int l = s->mg.bottom.level, is_free_smoother = is_free(s), has_digits = p.shift == 0 || p.shift > 1e-6;
    const size_t n = s->level[l].A.cells;
    double *f = field(n, 73), *u = field(n, 0);
    const gmg_operator *A = &s->level[l].A;
    if (!has_digits) take_mean(s->levels_exec, A, f); /* with a shift near 0 only rounding decides about the mean */
    assert_true(has_fused_levels(s));
    assert_int_equal(last_visited(s) < s->levels - 1, is_free_smoother && (has_digits || !varies));
    gmg_bottom_problem exact;
    const gmg_bottom dense = dense_on(s, last_visited(s), p.shift < 1e-6, &exact);
    double *a = cycled(s, l, GMG_CYCLE_V, 1, f, u, NULL), *b = cycled(s, l, GMG_CYCLE_V, 1, f, u, &dense);
    if (!has_digits) take_mean(s->levels_exec, A, a), take_mean(s->levels_exec, A, b);
    const double d = apart(a, b, n);
    print_message("%s, %s beta, shift %g: %g apart\n", smoother, varies ? "an array" : "no", p.shift, d);
    assert_below(d, accuracy + (p.shift > 0 ? rounding / p.shift : 0)); /* the accuracy of the inverse */
    free(f), free(u), free(a), free(b);
  }
  gmg_solver_destroy(s);
  e.memory->release(c, beta);
  free(numbers);
  gmg_context_destroy(c);
}

static void updates_reach_them(void **state)
{
  (void)state;
  for (int varies = 0; varies < 2; varies++) {
    update_reaches_them("red_black", GMG_PRECISION_SAME, varies);
    update_reaches_them("async", GMG_PRECISION_SAME, varies), update_reaches_them("async", GMG_PRECISION_MIXED, varies);
  }
}

int main(int argc, char **argv)
{
  only(argc, argv);
  if (without_device()) return SKIPPED;
  const struct CMUnitTest tests[] = {cmocka_unit_test(levels_agree), cmocka_unit_test(levels_on_faces_agree),
                                     cmocka_unit_test(odd_seams_agree), cmocka_unit_test(free_levels_agree),
                                     cmocka_unit_test(updates_reach_them)};
  return run_selected(tests);
}
