/* "lines" on CUDA, where a line is divided into chunks that threads eliminate at the same time, against the host, which eliminates a
   line from one end to the other. And when gmg chooses it on CUDA. */
#include "twins.h"

static const double shifts[] = {0, 1};
static double largest; /* difference of all sweeps, in units in the last place */

/* Coefficients and meshes of a case. */
typedef struct {
  const char *name;
  int beta, faces, sigma, stretched;
} coefficient_kind;
static const coefficient_kind kinds[] = {{"constant", 0, 0, 0, 0},        {"stretched", 0, 0, 0, 1},       {"beta", 1, 0, 0, 0},
                                    {"faces, stretched", 0, 1, 0, 1}, {"sigma", 0, 0, 1, 0},           {"beta and sigma", 1, 0, 1, 1},
                                    {"faces and sigma", 0, 1, 1, 0},  {"sigma, stretched", 0, 0, 1, 1}};

/* A problem and its arrays. */
typedef struct {
  gmg_problem p;
  void *beta, *face[3], *sigma;
  double *coord[3];
} owned;

static owned make_case(const shape *s, const coefficient_kind *k, gmg_type type)
{
  owned x = {.p = shaped_problem(s)};
  gmg_problem *p = &x.p;
  const size_t n = unknowns(p), longest = p->n[0] > p->n[1] ? p->n[0] : p->n[1];
  const int is_long = longest > 5000 || p->n[2] > 5000; /* on the unit box float would lose the couplings across */
  p->type = type;
  for (int a = 0; a < p->dim && is_long; a++) p->h[a] = 1;
  if (k->beta) p->beta = x.beta = rough(p, n, 100, 51);
  if (k->sigma) p->sigma = x.sigma = rough(p, n, 1000, 52);
  for (int a = 0; a < p->dim; a++) {
    const gmg_axis_spec axis = gmg_axis_spec_of(p, a);
    const size_t positions = gmg_axis_intervals(&axis) + 1;
    if (k->faces) p->beta_face[a] = x.face[a] = rough(p, n / p->n[a] * (p->n[a] + 1), 100, 54 + (uint64_t)a);
    if (!k->stretched) continue;
    x.coord[a] = field(positions, 0);
    for (size_t i = 0; i < positions; i++) x.coord[a][i] = ((double)i + 0.3 * sin((double)i)) / (is_long ? 1 : (double)positions);
    p->coord[a] = x.coord[a];
  }
  return x;
}

static void free_case(owned *x)
{
  free(x->beta), free(x->sigma);
  for (int a = 0; a < 3; a++) free(x->face[a]), free(x->coord[a]);
}

/* The largest |A x| on level l. */
static double largest_image(const gmg_solver *host, int l, const double *x, size_t n)
{
  const gmg_exec *e = host->levels_exec;
  void *u = calloc(n, sizeof(double)), *f = calloc(n, sizeof(double)), *r = calloc(n, sizeof(double));
  double *image = malloc(n * sizeof *image), most = 0;
  gmg_exec_write_reals(e, u, n, x);
  gmg_level_residual(&host->level[l].view, f, u, r);
  gmg_exec_read_reals(e, r, n, image);
  for (size_t c = 0; c < n; c++)
    most = isnan(image[c]) ? INFINITY : fmax(most, fabs(image[c]));
  free(u), free(f), free(r), free(image);
  return most;
}

/* How far the results on level l differ, by what the difference leaves of residuals: a weakly coupled line magnifies rounding of u. In units
   in the last place of the terms of a residual. */
static double difference_of(const both *b, int l, int steps, gmg_leg leg, int from_zero)
{
  twin u = begin_swept(b, l, steps, leg, from_zero);
  double *x[2] = {malloc(u.n * sizeof(double)), malloc(u.n * sizeof(double))}, most = 0, of_random;
  ON_BOTH(i) gmg_exec_read_reals(&u.exec[i], u.at[i], u.n, x[i]);
  double *random = field(u.n, 53);
  for (size_t c = 0; c < u.n; c++) most = fmax(most, fabs(x[HOST][c])), x[DEVICE][c] -= x[HOST][c];
  of_random = largest_image(b->solver[HOST], l, random, u.n) * 2 * fmax(most, 0.5); /* random: from -0.5 to 0.5 */
  const double left = largest_image(b->solver[HOST], l, x[DEVICE], u.n);
  free(x[HOST]), free(x[DEVICE]), free(random), end_twin(&u);
  return left / of_random / epsilon_of(b->solver[HOST]->levels_exec);
}

/* Steps on level l. */
static void steps_agree_on(const char *name, const both *b, int l)
{
  static const struct {
    const char *name;
    int steps, from_zero;
    gmg_leg leg;
  } sweeps[] = {{"one step", 1, 0, GMG_LEG_DOWN}, {"two steps reversed", 2, 0, GMG_LEG_UP_REVERSED}, {"two from zero", 2, 1, GMG_LEG_UP}};
  for (int i = 0; i < COUNT(sweeps); i++) {
    const double d = difference_of(b, l, sweeps[i].steps, sweeps[i].leg, sweeps[i].from_zero);
    if (!(d <= largest)) largest = d;
    if (!(d <= 64)) fail_msg("%s, level %d, %s: host and device differ by %g units in the last place", name, l, sweeps[i].name, d);
  }
}

/* Steps with lines along the axes of the bits, on the finest level. */
static void sweeps_agree(const char *name, const gmg_problem *p, int axes)
{
  gmg_params q = params_for_cycles();
  q.smoother = gmg_smoother_by_name("lines"), q.line_axes = axes, q.precision = GMG_PRECISION_SAME;
  q.coarse_cells = 2; /* no level above is the coarsest, which has no smoother */
  both b = begin_both(p, &q, name);
  if (b.solver[HOST]->levels > 1) steps_agree_on(name, &b, 0);
  end_both(&b);
}

/* Walls of every kind, both centrings, odd periodic axes, where a colour has phases; chunks of one row and of many, the last one
   shorter; lines that do not fill a thread block; lines that are too long for shared memory; single lines, of which some are singular. Axes
   take turns. */
static void steps_agree(void **state)
{
  static const shape s[] = {{2, {1, 6, 1}, GMG_CELL, "dddd"},        {2, {2, 2, 1}, GMG_CELL, "pppp"},      {2, {3, 5, 1}, GMG_CELL, "pppp"},
                            {2, {5, 3, 1}, GMG_VERTEX, "ppdn"},      {2, {33, 31, 1}, GMG_VERTEX, "pppp"},  {2, {67, 33, 1}, GMG_CELL, "drnd"},
                            {2, {40, 7, 1}, GMG_CELL, "ddpp"},       {2, {130, 66, 1}, GMG_CELL, "nnnn"},   {2, {64, 300, 1}, GMG_VERTEX, "nrpp"},
                            {2, {517, 37, 1}, GMG_CELL, "ppdn"},     {2, {30, 1100, 1}, GMG_CELL, "rdpp"},  {3, {2, 2, 2}, GMG_CELL, "pppppp"},
                            {3, {3, 2, 5}, GMG_VERTEX, "ddnnpp"},    {3, {6, 1, 19}, GMG_CELL, "nnddpp"},   {3, {17, 9, 5}, GMG_CELL, "pppppp"},
                            {3, {31, 17, 20}, GMG_VERTEX, "ndrdpp"}, {3, {7, 33, 18}, GMG_VERTEX, "ddddrn"}, {3, {20, 21, 70}, GMG_CELL, "ppppnn"},
                            {3, {65, 4, 6}, GMG_VERTEX, "ppdnpp"},   {3, {129, 17, 3}, GMG_CELL, "ppppdd"}, {3, {16, 8, 200}, GMG_CELL, "dnppdr"},
                            {2, {12000, 3, 1}, GMG_CELL, "dddn"},    {2, {3, 9001, 1}, GMG_CELL, "ppdd"},   {2, {19999, 2, 1}, GMG_VERTEX, "ppdd"},
                            {3, {3, 2, 6001}, GMG_CELL, "ddnnpp"},   {2, {41, 1, 1}, GMG_CELL, "nnnn"},      {2, {1, 300, 1}, GMG_CELL, "nnpp"},
                            {2, {2000, 1, 1}, GMG_VERTEX, "nnpp"},   {2, {1, 12000, 1}, GMG_CELL, "nnnn"},   {2, {512, 512, 1}, GMG_CELL, "dddd"},  {3, {96, 80, 70}, GMG_CELL, "dnpprd"},
                            {3, {200, 200, 65}, GMG_CELL, "ppppnn"}, {2, {1500, 1033, 1}, GMG_CELL, "nnpp"}};
  (void)state;
  for (int g = 0, turn = 0; g < COUNT(s); g++)
    for (int k = 0; k < COUNT(kinds); k++)
      for (int type = 0; type < 2; type++) {
        const int axes = 1 + turn++ % ((1 << s[g].dim) - 1);
        owned x = make_case(&s[g], &kinds[k], (gmg_type)type);
        if (taken(unknowns(&x.p))) {
          char name[100];
          x.p.shift = ROUND_ROBIN(shifts, g + k);
          snprintf(name, sizeof name, "grid %d, %s, type %d", g, kinds[k].name, type);
          sweeps_agree(name, &x.p, axes);
        }
        free_case(&x);
      }
  print_message("largest difference: %g units in the last place\n", largest);
}

/* All choices of axes, with the same problems. */
static void every_choice_of_axes(void **state)
{
  static const shape s[] = {{3, {15, 9, 12}, GMG_CELL, "pppppp"}, {3, {9, 10, 11}, GMG_VERTEX, "dnppdr"}};
  (void)state;
  for (int g = 0; g < COUNT(s); g++)
    for (int axes = 1; axes < 8; axes++)
      for (int type = 0; type < 2; type++) {
        owned x = make_case(&s[g], &kinds[3], (gmg_type)type);
        if (taken(unknowns(&x.p))) sweeps_agree("faces", &x.p, axes);
        free_case(&x);
      }
}

/* The coarse levels of black box coarsening. The device has the entries of the host: its own differ by rounding. */
static void box_levels_agree(const char *name, const gmg_problem *p, int axes)
{
  gmg_params q = params_for_cycles();
  q.smoother = gmg_smoother_by_name("lines"), q.line_axes = axes, q.precision = GMG_PRECISION_SAME;
  q.coarsening = GMG_COARSENING_BLACK_BOX, q.coarse_cells = 1, q.coarsen_threshold = 0.2;
  both b = begin_both(p, &q, name);
  for (int l = 1; l + 1 < b.solver[HOST]->levels; l++) {
    const gmg_operator *A[2] = {&b.solver[HOST]->level[l].A, &b.solver[DEVICE]->level[l].A};
    double *values = malloc(A[HOST]->cells * sizeof *values);
    for (int w = 0; w < 27; w++) {
      if (!A[HOST]->box->array[w]) continue;
      gmg_exec_read_reals(b.solver[HOST]->levels_exec, A[HOST]->box->array[w], A[HOST]->cells, values);
      gmg_exec_write_reals(b.solver[DEVICE]->levels_exec, (void *)A[DEVICE]->box->array[w], A[DEVICE]->cells, values);
    }
    free(values);
    steps_agree_on(name, &b, l);
  }
  end_both(&b);
}

static void box_steps_agree(void **state)
{
  static const shape s[] = {{2, {63, 40, 1}, GMG_CELL, "dddd"},       {2, {300, 14, 1}, GMG_CELL, "nnnn"},  {2, {33, 264, 1}, GMG_VERTEX, "nndr"},
                            {2, {46, 50, 1}, GMG_CELL, "pppp"},       {2, {6, 10, 1}, GMG_CELL, "pppp"},    {2, {600, 3, 1}, GMG_CELL, "pprn"},
                            {3, {18, 24, 30}, GMG_CELL, "dddddd"},    {3, {13, 140, 11}, GMG_VERTEX, "nnnnnn"}, {3, {14, 18, 10}, GMG_CELL, "pppppp"},
                            {3, {6, 4, 80}, GMG_CELL, "ppppnn"},      {3, {140, 6, 22}, GMG_CELL, "nnpppp"}, {3, {26, 2, 50}, GMG_CELL, "ppddpp"},
                            {2, {30000, 6, 1}, GMG_CELL, "dddd"},     {2, {6, 24000, 1}, GMG_CELL, "ppdd"},  {2, {1030, 770, 1}, GMG_CELL, "ddpp"},
                            {3, {66, 70, 130}, GMG_CELL, "ppnndd"}};
  (void)state;
  largest = 0;
  for (int g = 0; g < COUNT(s); g++)
    for (int axes = 1; axes < 1 << s[g].dim; axes++)
      for (int type = 0; type < 2; type++) {
        gmg_problem p = shaped_problem(&s[g]);
        if (!taken(unknowns(&p))) continue;
        char name[100];
        p.type = (gmg_type)type, p.shift = 0.1; /* not singular: a singular line has no correction for its mean */
        for (int a = 0; a < p.dim; a++) p.h[a] = 1;
        void *beta = rough(&p, unknowns(&p), 100, 71);
        p.beta = beta;
        snprintf(name, sizeof name, "grid %d, axes %d, type %d", g, axes, type);
        box_levels_agree(name, &p, axes);
        free(beta);
      }
  print_message("largest difference: %g units in the last place\n", largest);
}

/* Ratios of arrays with gaps, by which gmg sees that the strong direction turns. */
static void ratios_agree(void **state)
{
  static const size_t n[][3] = {{1, 1, 1}, {7, 1, 1}, {33, 5, 1}, {300, 20, 3}};
  const gmg_problem p = make_problem(2, 8, 8, 1, GMG_CELL, "dddd");
  const gmg_params q = params_for_cycles();
  (void)state;
  for (int type = 0; type < 2; type++) {
    gmg_problem of_type = p;
    of_type.type = (gmg_type)type;
    both b = begin_both(&of_type, &q, "ratios");
    const gmg_exec *e[2] = {&b.solver[HOST]->exec, &b.solver[DEVICE]->exec};
    for (int i = 0; i < COUNT(n); i++) {
      const gmg_layout x = {{n[i][0], n[i][1], n[i][2]}, n[i][0] + 3, n[i][1] + 1, 0}, y = {{n[i][0], n[i][1], n[i][2]}, n[i][0] + 1, n[i][1], 0};
      const size_t room = (n[i][0] + 3) * (n[i][1] + 1) * (n[i][2] + 1);
      double *values = field(room, 7 + (uint64_t)i);
      twin a = begin_twin(e[0], e[1], room, 1), c = begin_twin(e[0], e[1], room, 1);
      gmg_range r[2];
      for (size_t k = 0; k < room; k++) values[k] = exp(5 * values[k]);
      ON_BOTH(at) {
        gmg_exec_write_reals(&a.exec[at], a.at[at], room, values);
        gmg_exec_write_reals(&c.exec[at], c.at[at], room - 1, values + 1);
        r[at] = gmg_array_ops_of(e[at])->ratios(e[at], n[i], x, a.at[at], y, c.at[at]);
      }
      same_number("ratios", "least", e[0], r[HOST].least, r[DEVICE].least, 4), same_number("ratios", "most", e[0], r[HOST].most, r[DEVICE].most, 4);
      free(values), end_twin(&a), end_twin(&c);
    }
    end_both(&b);
  }
}

/* What AUTO chooses on the host and on the device. Where both choose lines, they are the same, and with equal cycles and coarse grids
   solves take equally many cycles. */
static void choices_agree(void **state)
{
  static const struct {
    const char *name;
    medium_maker *make;
    int dim;
    size_t n;
    double strength;
    int is_lines[2];
  } media[] = {{"two axes stretched", stretched, 2, 60, 30, {1, 1}}, {"channel", channel, 2, 61, 1000, {1, 1}},
               {"channel", channel, 2, 61, 30, {1, 0}},              {"channel", channel, 3, 24, 30, {1, 0}},
               {"halves", halves, 2, 64, 1000, {1, 1}},              {"halves", halves, 2, 64, 100, {1, 0}},
               {"squares", squares, 3, 20, 1000, {1, 1}},            {"turning", turning, 2, 61, 1e4, {1, 1}},
               {"ball", ball, 2, 40, 1e4, {0, 0}},                   {"stretched", stretched, 3, 16, 30, {0, 0}},
               {"halves", halves, 2, 32, 10, {0, 0}}};
  (void)state;
  for (int i = 0; i < COUNT(media); i++)
    for (int centering = GMG_CELL; centering <= GMG_VERTEX; centering++) {
      medium m = media[i].make(media[i].dim, media[i].n, media[i].strength, (gmg_centering)centering);
      const size_t n = unknowns(&m.p);
      const gmg_params q = params_for_cycles();
      gmg_report r[2];
      if (taken(n)) {
        both b = begin_both(&m.p, &q, media[i].name);
        const gmg_exec *e[2] = {&b.solver[HOST]->exec, &b.solver[DEVICE]->exec};
        twin f = begin_twin(e[0], e[1], n, 63), u = begin_twin(e[0], e[1], n, 0);
        const gmg_params *chosen[2] = {&b.solver[HOST]->params, &b.solver[DEVICE]->params};
        ON_BOTH(at) {
          if (media[i].is_lines[at] != (chosen[at]->smoother == gmg_smoother_by_name("lines")))
            fail_msg("%s %g, %s: %s", media[i].name, media[i].strength, at == HOST ? "host" : "device", chosen[at]->smoother->name);
          assert_ok(b.context[at], gmg_solve(b.solver[at], f.at[at], u.at[at], &r[at]));
        }
        const int same = media[i].is_lines[HOST] && media[i].is_lines[DEVICE];
        if (same) assert_int_equal(chosen[HOST]->line_axes, chosen[DEVICE]->line_axes);
        const int alike = chosen[HOST]->cycle == chosen[DEVICE]->cycle && chosen[HOST]->coarsening == chosen[DEVICE]->coarsening;
        if (same && alike && abs(r[HOST].cycles - r[DEVICE].cycles) > 1)
          fail_msg("%s: %d cycles on the host, %d on the device", media[i].name, r[HOST].cycles, r[DEVICE].cycles);
        end_twin(&f), end_twin(&u), end_both(&b);
      }
      free_medium(&m);
    }
}

int main(int argc, char **argv)
{
  only(argc, argv);
  if (without_device()) return SKIPPED;
  const struct CMUnitTest tests[] = {cmocka_unit_test(steps_agree), cmocka_unit_test(every_choice_of_axes), cmocka_unit_test(box_steps_agree),
                                     cmocka_unit_test(ratios_agree), cmocka_unit_test(choices_agree)};
  return run_selected(tests);
}
