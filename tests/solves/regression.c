/* The regression gate. tests/regression/factors.txt holds the convergence factors of many cases. The test fails if a factor gets
   worse, or if the file does not have exactly these cases. Factors that got better pass and are listed.

   To record factors, which must be on purpose: cmake --build build --target record-factors (this program with --record FILE).

   test_regression FILE cuda: the same cases on a CUDA device, against the same file. The asynchronous smoother has other default
   blocks there, so each of its cases runs twice: with these blocks and the tolerance STALE, and with the host's blocks, compared
   in measured_factor(). Prints the largest differences from the file. */
#include "boxes.h"
#include "media.h"
#include "varying.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const centerings[] = {[GMG_VERTEX] = "vertex", [GMG_CELL] = "cell"};
static const char *const cycles[] = {[GMG_CYCLE_V] = "v", [GMG_CYCLE_W] = "w", [GMG_CYCLE_F] = "f"};
static const char *const smoothers[] = {"jacobi", "gauss_seidel", "red_black", "chebyshev", "async"};
static const char *const boundaries[] = {"dddddd", "nnnnnn", "pppppp", "dnrdpp"};

/* Sizes: primes, and 3 * 2^k. */
static const size_t sizes[3][2][3] = {
    {{509, 1, 1}, {768, 1, 1}}, {{61, 61, 1}, {96, 48, 1}}, {{31, 29, 23}, {48, 48, 48}}};

/* Variable coefficients, with default parameters and a given smoother. So solves are accelerated where that is the default. */
typedef struct {
  const char *name;
  medium_maker *make;
  double strength;
} medium_row;
static const medium_row media[] = {{"ball 1e4", ball, 1e4},   {"ball 1e-4", ball, 1e-4},       {"ball 1e6", ball, 1e6},
             {"ball 1e-6", ball, 1e-6}, {"board 1e3", checkerboard, 1e3}, {"waves", wavy, 0.9},
             {"stretch 3", stretched, 2.9}, {"stretch 10", stretched, 10}, {"sigma 1e4", absorbing, 1e4}};
static const char *const media_smoothers[] = {"red_black", "async"};
static const size_t media_sizes[2][2] = {{61, 96}, {37, 48}}; /* 2D, 3D */

/* Box stencils in 2D: the matrices fv1 to fv3 of the papers, convection with two cell Peclet numbers, and entries that vary. */
static const struct {
  const char *name;
  size_t n;
  const box_entries *entries; /* NULL: convection, or entries that vary */
  double convection[3];
  gmg_centering centering;
  coefficient *beta;          /* of entries that vary: Q1 on vertices, finite volumes with couplings across edges on cells */
} boxes[] = {{"fv1", 98, &box_fv1, .centering = GMG_VERTEX},
             {"fv2", 99, &box_fv1, .centering = GMG_VERTEX},
             {"fv3", 99, &box_fv3, .centering = GMG_VERTEX},
             {"convection 0.2", 99, .convection = {0.2, 0.1, 0}, .centering = GMG_VERTEX},
             {"convection 1", 99, .convection = {1, 0.5, 0}, .centering = GMG_VERTEX},
             {"varying smooth", 95, .centering = GMG_VERTEX, .beta = beta_smooth},
             {"varying uneven", 95, .centering = GMG_VERTEX, .beta = beta_uneven},
             {"varying smooth", 96, .centering = GMG_CELL, .beta = beta_smooth},
             {"varying uneven", 97, .centering = GMG_CELL, .beta = beta_uneven}};
static const char *const box_smoothers[] = {"gauss_seidel", "async"};

/* Media for "lines". */
static const medium_row line_media[] = {{"stretch 30", stretched, 30},   {"stretch 1000", stretched, 1000},   {"channel 30", channel, 30},
                  {"channel 1000", channel, 1000}, {"halves 1e3", halves, 1e3},         {"squares 1e3", squares, 1e3},
                  {"turning 1e4", turning, 1e4},   {"ball 1e4", ball, 1e4}};

/* Additional tolerance for a device. Its smaller blocks make a fully stale smoother worse, because more unknowns lie at the edges
   of blocks. */
#define STALE 0.05

enum {
  SMOOTHERS = 5,
  BOUNDARIES = 4,
  CONSTANT_CASES = 3 * 2 * 2 * BOUNDARIES * SMOOTHERS * 3,
  MEDIA = 9,
  BOXES = sizeof boxes / sizeof *boxes,
  MEDIA_CASES = 2 * 2 * 2 * 2 * MEDIA,
  LINE_MEDIA = sizeof line_media / sizeof *line_media,
  LINE_CASES = 2 * 2 * 2 * LINE_MEDIA,
  CASES = CONSTANT_CASES + MEDIA_CASES + 2 * BOXES + LINE_CASES
};

typedef struct {
  char name[96];
  double factor;
} entry;

typedef struct {
  int dim;
  gmg_centering centering;
  int size; /* index in `sizes` or `media_sizes` */
  const char *smoother;
  const char *bc; /* NULL: a medium or a box stencil */
  gmg_cycle_kind cycle;
  const medium_row *medium;
  int box;    /* index in `boxes` plus 1; 0: no box stencil */
} test_case;
static test_case cases[CASES];

/* Fills `cases` in the order of the file: constant coefficients, media, box stencils, media for lines. */
static void list_cases(void)
{
  test_case *c = cases;
  for (int cycle = GMG_CYCLE_V; cycle <= GMG_CYCLE_F; cycle++)
    for (int smoother = 0; smoother < SMOOTHERS; smoother++)
      for (int bc = 0; bc < BOUNDARIES; bc++)
        for (int size = 0; size < 2; size++)
          for (int cells = 0; cells < 2; cells++)
            for (int dim = 1; dim <= 3; dim++)
              *c++ = (test_case){.dim = dim, .centering = cells ? GMG_CELL : GMG_VERTEX, .size = size, .smoother = smoothers[smoother],
                                 .bc = boundaries[bc], .cycle = (gmg_cycle_kind)cycle};
  for (int medium = 0; medium < MEDIA; medium++) /* not in 1D, where rounding decides the factors with jumps of 1e6 */
    for (int smoother = 0; smoother < 2; smoother++)
      for (int size = 0; size < 2; size++)
        for (int cells = 0; cells < 2; cells++)
          for (int dim = 2; dim <= 3; dim++)
            *c++ = (test_case){.dim = dim, .centering = cells ? GMG_CELL : GMG_VERTEX, .size = size,
                               .smoother = media_smoothers[smoother], .medium = &media[medium]};
  for (int box = 1; box <= BOXES; box++)
    for (int smoother = 0; smoother < 2; smoother++)
      *c++ = (test_case){.dim = 2, .centering = boxes[box - 1].centering, .smoother = box_smoothers[smoother], .box = box};
  for (int medium = 0; medium < LINE_MEDIA; medium++)
    for (int size = 0; size < 2; size++)
      for (int cells = 0; cells < 2; cells++)
        for (int dim = 2; dim <= 3; dim++)
          *c++ = (test_case){.dim = dim, .centering = cells ? GMG_CELL : GMG_VERTEX, .size = size, .smoother = "lines",
                             .medium = &line_media[medium]};
}

/* The factor with default blocks. On a device also compares with the host, with equal blocks. */
static double factor_of(const gmg_problem *p, gmg_params params, int cycles)
{
  const double factor = measured_factor(p, &params, 0, cycles);
  if (!on_device || !is_asynchronous(&params)) return factor;
  params.async.block[0] = p->dim == 1 ? 100 : 16, params.async.block[1] = 8, params.async.block[2] = 4;
  measured_factor(p, &params, 0, cycles);
  return factor;
}

static entry run_medium(const test_case *c, gmg_params params)
{
  const size_t n = media_sizes[c->dim - 2][c->size];
  medium m = c->medium->make(c->dim, n, c->medium->strength, c->centering);
  entry e;
  snprintf(e.name, sizeof e.name, "%dD %-6s %s %zu^%d %s", c->dim, centerings[c->centering], c->medium->name, n, c->dim,
           c->smoother);
  if (params.cycle == GMG_CYCLE_AUTO) params.cycle = params_for_cycles_of(&m.p).cycle;
  e.factor = factor_of(&m.p, params, 8); /* after more cycles a fast solve is at the rounding floor */
  free_medium(&m);
  return e;
}

static entry run_box(const test_case *c, gmg_params params)
{
  const size_t n = boxes[c->box - 1].n;
  gmg_problem p = make_problem(c->dim, n, n, 1, c->centering, "dddd");
  const box_entries *entries = boxes[c->box - 1].entries;
  coefficient *beta = boxes[c->box - 1].beta;
  varying v = !beta ? (varying){.stencil = {0}} : c->centering == GMG_CELL ? varying_cells(&p, beta, 0, 0.2) : varying_q1(&p, beta, 0);
  const gmg_stencil stencil = entries ? box_of_entries(&p, entries) : beta ? v.stencil : box_with_convection(2, boxes[c->box - 1].convection);
  entry e;
  p.stencil = &stencil;
  snprintf(e.name, sizeof e.name, "%dD %-6s %s %zu^%d %s", c->dim, centerings[c->centering], boxes[c->box - 1].name, n, c->dim, c->smoother);
  e.factor = factor_of(&p, params, 15);
  free_varying(&v);
  return e;
}

/* Name and factor of a case. Smoothers are deterministic, so that every run gives the same factor. */
static entry run_case(const test_case *c)
{
  gmg_params params = params_for_cycles();
  params.smoother = gmg_smoother_by_name(c->smoother);
  params.deterministic = 1;
  if (c->box) {
    params.coarse_cells = 64; /* on a device a dense coarsest grid would have more, and the factor would be better */
    return run_box(c, params);
  }
  if (!c->bc) return run_medium(c, params);
  const size_t *n = sizes[c->dim - 1][c->size];
  gmg_problem p = make_problem(c->dim, n[0], n[1], n[2], c->centering, c->bc);
  entry e;
  p.h[0] = p.h[1] = p.h[2] = 0.02;
  params.cycle = c->cycle;
  snprintf(e.name, sizeof e.name, "%dD %-6s %.*s %zux%zux%zu %-12s %s", c->dim, centerings[c->centering], 2 * c->dim, c->bc,
           n[0], n[1], n[2], c->smoother, cycles[c->cycle]);
  e.factor = factor_of(&p, params, 15);
  return e;
}

static int record(const char *path)
{
  FILE *file = fopen(path, "w");
  if (!file) {
    fprintf(stderr, "cannot write %s\n", path);
    return 1;
  }
  fprintf(file, "# Convergence factor per cycle: V, W or F with one smoothing step a leg, default parameters, deterministic,\n"
                "# f = 0, random start, mean of cycles 11 to 15. Boundary letters, lower and upper face of each axis:\n"
                "# d Dirichlet, n Neumann, r Robin, p periodic. Equal mesh widths. Then hard coefficients: V, cycles 4 to 8,\n"
                "# default parameters (accelerated where that is the default). Then box stencils: V, cycles 11 to 15. Then media for\n"
                "# lines, as other hard coefficients.\n"
                "# Written by: test_regression --record\n");
  list_cases();
  for (int i = 0; i < CASES; i++) {
    const entry e = run_case(&cases[i]);
    fprintf(file, "%-60s %.4f\n", e.name, e.factor);
  }
  return fclose(file) != 0;
}

/* The recorded factor of a case, or NaN. */
static double recorded(const entry *table, int count, const char *name)
{
  for (int i = 0; i < count; i++)
    if (strcmp(table[i].name, name) == 0) return table[i].factor;
  return NAN;
}

static int read_table(const char *path, entry *table, int room)
{
  FILE *file = fopen(path, "r");
  char line[256];
  int count = 0;
  if (!file) fail_msg("cannot read %s", path);
  while (fgets(line, sizeof line, file)) {
    char *end = line + strlen(line);
    if (line[0] == '#') continue;
    while (end > line && (end[-1] == '\n' || end[-1] == ' ')) *--end = 0;
    char *number = strrchr(line, ' ');
    if (!number || count == room) fail_msg("%s: cannot read line '%s'", path, line);
    table[count].factor = strtod(number + 1, NULL);
    while (number > line && number[-1] == ' ') number--;
    *number = 0;
    snprintf(table[count].name, sizeof table[count].name, "%.90s", line);
    count++;
  }
  fclose(file);
  return count;
}

static void no_factor_got_worse(void **state)
{
  static entry table[CASES], farthest[2]; /* largest differences from the file: of smoothers with the same arithmetic as on the host, and of the asynchronous one */
  const int count = read_table(*state, table, CASES);
  int worse = 0, better = 0;
  assert_int_equal(count, CASES);
  list_cases();
  for (int i = 0; i < CASES; i += SANITIZED ? 7 : 1) { /* every 7th case includes every dimension, boundary condition and smoother */
    const entry e = run_case(&cases[i]);
    const double was = recorded(table, count, e.name);
    if (isnan(was)) fail_msg("%s is not in the file", e.name);
    /* an acceleration amplifies rounding, which differs from processor to processor */
    const double slack = i < CONSTANT_CASES || cases[i].box ? 0.02 : 0.1;
    const int async = strstr(e.name, "async") != NULL;
    const double stale = on_device && async ? STALE : 0, difference = fabs(e.factor - was);
    if (!(difference <= farthest[async].factor)) farthest[async] = e, farthest[async].factor = difference;
    if (!(e.factor <= (1 + slack) * was + 0.2 * slack + stale)) {
      print_error("worse: %s  %.4f, was %.4f\n", e.name, e.factor, was);
      worse++;
    }
    if (e.factor < (1 - slack) * was - 0.2 * slack) {
      print_message("better: %s  %.4f, was %.4f\n", e.name, e.factor, was);
      better++;
    }
  }
  print_message("%d cases, %d better, %d worse\n", CASES, better, worse);
  if (on_device) /* bench/checks.py reads this line */
    print_message("largest difference from the host's factors: deterministic %.4f at %s, asynchronous %.4f at %s\n", farthest[0].factor,
                  farthest[0].name, farthest[1].factor, farthest[1].name);
  assert_int_equal(worse, 0);
}

int main(int argc, char **argv)
{
  if (argc == 3 && strcmp(argv[1], "--record") == 0) return record(argv[2]);
  char *where[] = {argv[0], argv[argc - 1]}; /* FILE is no pattern of test names */
  if (for_device(argc > 1 ? 2 : 1, where)) return SKIPPED;
  if (argc != 2 + on_device) {
    fprintf(stderr, "usage: %s FILE [cuda] | --record FILE\n", argv[0]);
    return 2;
  }
  const struct CMUnitTest tests[] = {cmocka_unit_test_prestate(no_factor_got_worse, argv[1])};
  return run_selected(tests);
}
