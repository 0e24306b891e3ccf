/* Repeated solves with the asynchronous smoother on CUDA. Their factors differ, so each case has a band, and the factors of all
   100 solves must be in it (of 20 solves with GMG_TEST_EVERY=5). Prints minimum, median, maximum and the band, which
   bench/checks.py reads. */
#include "twins.h"

enum { RUNS = 100, CYCLES = 12 };

typedef struct {
  const char *what;
  int dim;
  size_t n; /* unknowns along each axis */
  gmg_centering centering;
  gmg_type type;
  gmg_precision precision;
  int overlap, studied; /* studied: problem and blocks are those of docs/study-order.md */
  size_t block[3];
  gmg_block_order order;
  int in_flight;
  double least, most; /* the band: that of the host where test_factors.c has one */
} band;

#define DEFAULT 0, {0}, GMG_ORDER_NATURAL, 0
#define TILES 0, {32, 8, 8}
#define STUDIED GMG_VERTEX, GMG_F64, GMG_PRECISION_SAME, 0
#define LINE 1, {512, 1, 1}
#define PLANE 1, {32, 16, 1}
#define BOX 1, {8, 8, 8}

/* The last cases have more blocks than an H200 runs at once. docs/study-order.md has for them, with one colour first, in natural
   order, and for the stale twin: 0.1233, 0.1289, 0.1289 in 1D; 0.0549, 0.296, 0.296 in 2D; 0.0952, 0.166, 0.324 in 3D. In 1D
   factors are smaller since long odd axes are coarsened to an even number of intervals: 0.1074 and 0.1132. */
static const band bands[] = {
    {"1D, small", 1, 4000, GMG_CELL, GMG_F64, GMG_PRECISION_SAME, 1, DEFAULT, 0, 0.04},
    {"1D, large", 1, 10000000, GMG_CELL, GMG_F64, GMG_PRECISION_SAME, 1, DEFAULT, 0, 0.04},
    {"1D, vertices", 1, 65535, GMG_VERTEX, GMG_F64, GMG_PRECISION_SAME, 1, DEFAULT, 0, 0.04},
    {"1D, mixed", 1, 5000, GMG_CELL, GMG_F64, GMG_PRECISION_MIXED, 1, DEFAULT, 0, 0.04},
    {"2D, small", 2, 100, GMG_CELL, GMG_F64, GMG_PRECISION_SAME, 1, DEFAULT, 0, 0.05},
    {"2D, large", 2, 2048, GMG_CELL, GMG_F64, GMG_PRECISION_SAME, 1, DEFAULT, 0, 0.05},
    {"2D, vertices", 2, 255, GMG_VERTEX, GMG_F64, GMG_PRECISION_SAME, 1, DEFAULT, 0, 0.04},
    {"2D, mixed", 2, 1024, GMG_CELL, GMG_F64, GMG_PRECISION_MIXED, 1, DEFAULT, 0, 0.05},
    {"3D, small", 3, 40, GMG_CELL, GMG_F64, GMG_PRECISION_SAME, 1, DEFAULT, 0, 0.06},
    {"3D, large", 3, 256, GMG_CELL, GMG_F64, GMG_PRECISION_SAME, 1, DEFAULT, 0, 0.06},
    {"3D, vertices", 3, 63, GMG_VERTEX, GMG_F64, GMG_PRECISION_SAME, 1, DEFAULT, 0, 0.06},
    {"3D, mixed", 3, 128, GMG_CELL, GMG_F64, GMG_PRECISION_MIXED, 1, DEFAULT, 0, 0.06},
    {"3D, float", 3, 128, GMG_CELL, GMG_F32, GMG_PRECISION_SAME, 1, DEFAULT, 0, 0.06},
    {"3D, no overlap", 3, 128, GMG_CELL, GMG_F64, GMG_PRECISION_SAME, 0, TILES, GMG_ORDER_NATURAL, 0, 0.10, 0.32},
    {"3D, no overlap, one colour first", 3, 128, GMG_CELL, GMG_F64, GMG_PRECISION_SAME, 0, TILES, GMG_ORDER_TWO_COLOUR, 0, 0.10, 0.30},
    {"3D, no overlap, 16 blocks in flight", 3, 64, GMG_CELL, GMG_F64, GMG_PRECISION_SAME, 0, TILES, GMG_ORDER_NATURAL, 16, 0.10, 0.26},
    {"3D, no overlap, one block in flight", 3, 64, GMG_CELL, GMG_F64, GMG_PRECISION_SAME, 0, TILES, GMG_ORDER_RANDOM, 1, 0.10, 0.24},
    {"1D, no overlap, one colour first", 1, 10000000, STUDIED, LINE, GMG_ORDER_TWO_COLOUR, 0, 0.102, 0.1105},
    {"1D, no overlap", 1, 10000000, STUDIED, LINE, GMG_ORDER_NATURAL, 0, 0.1105, 0.119},
    {"2D, no overlap, one colour first", 2, 4095, STUDIED, PLANE, GMG_ORDER_TWO_COLOUR, 0, 0.04, 0.09},
    {"2D, no overlap", 2, 4095, STUDIED, PLANE, GMG_ORDER_NATURAL, 0, 0.25, 0.31},
    {"3D, no overlap, small blocks, one colour first", 3, 255, STUDIED, BOX, GMG_ORDER_TWO_COLOUR, 0, 0.075, 0.13},
    {"3D, no overlap, small blocks", 3, 255, STUDIED, BOX, GMG_ORDER_NATURAL, 0, 0.135, 0.22}};

/* Factors in ascending order. */
static void measure(const band *b, int runs, double factor[])
{
  gmg_problem p = make_problem(b->dim, b->n, b->dim > 1 ? b->n : 1, b->dim > 2 ? b->n : 1, b->centering, "dddddd");
  gmg_params q = params_for_cycles();
  gmg_context *c;
  gmg_solver *s;
  p.type = b->type;
  q.precision = b->precision, q.rtol = 1e-300, q.max_cycles = CYCLES, q.async.order = b->order;
  q.async.overlap = count_or_none(b->overlap);
  if (!b->overlap) q.omega = 1;
  q.async.in_flight = b->in_flight;
  if (b->studied) {
    q.cycle = GMG_CYCLE_V, q.accel = GMG_ACCEL_NONE, q.restriction = GMG_RESTRICT_AVERAGE, q.coarse_rtol = 1e-6, q.max_cycles = 8;
    if (b->dim == 1) q.async.local = GMG_LOCAL_JACOBI, q.omega = 2 / 3.;
  }
  for (int a = 0; a < 3; a++) q.async.block[a] = b->block[a];
  assert_int_equal(gmg_context_create_cuda(0, NULL, &c), GMG_OK);
  assert_ok(c, gmg_solver_create(c, &p, &q, &s));
  const gmg_exec *e = &s->exec;
  twin u = begin_twin(e, e, unknowns(&p), 71), f = begin_twin(e, e, unknowns(&p), 0);
  for (int run = 0; run < runs; run++) { /* f = 0: the error itself */
    gmg_report r;
    e->vector->copy(e, u.n, u.at[0], u.at[1]);
    const gmg_status status = gmg_solve(s, f.at[0], u.at[1], &r);
    if (status > GMG_STAGNATED) fail_msg("%s: %s: %s", b->what, gmg_status_string(status), gmg_context_error(c));
    int at = run;
    for (; at > 0 && !(factor[at - 1] <= r.factor); at--) factor[at] = factor[at - 1];
    factor[at] = r.factor;
  }
  end_twin(&u), end_twin(&f);
  gmg_solver_destroy(s);
  gmg_context_destroy(c);
}

static void asynchronous_bands(void **state)
{
  (void)state;
  const int runs = share_of(RUNS);
  int bad = 0;
  for (size_t i = 0; i < sizeof bands / sizeof *bands; i++) {
    const band *b = &bands[i];
    double factor[RUNS];
    measure(b, runs, factor);
    const int inside = factor[0] >= b->least && factor[runs - 1] <= b->most;
    print_message("%-36s %8zu an axis: %.5f, %.5f, %.5f of %d, band %g to %g%s\n", b->what, b->n, factor[0],
                  (factor[(runs - 1) / 2] + factor[runs / 2]) / 2, factor[runs - 1], runs, b->least, b->most, inside ? "" : ", outside its band");
    bad += !inside;
  }
  assert_int_equal(bad, 0);
}

int main(int argc, char **argv)
{
  only(argc, argv);
  if (without_device()) return SKIPPED;
  const struct CMUnitTest tests[] = {cmocka_unit_test(asynchronous_bands)};
  return run_selected(tests);
}
