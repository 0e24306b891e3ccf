/* Bits of solves. tests/regression/checksums.txt holds, for 60 deterministic cases, the number of cycles and checksums of the
   solutions and of the residual histories; this test fails where one differs. Code that is only moved or renamed keeps them all.

   Bits depend on the compiler, on the instructions it may use, on the processor it tunes for and, on a GPU, on the device. Each
   such machine has a section of the file, under a key that this program computes. Without a section for the key the test is
   skipped (77).

   test_checksums [--threads N] FILE [cuda]           compare
   test_checksums [--threads N] --record FILE [cuda]  run every case twice, then add or replace the section of this machine

   Only the public headers are used. Coefficients and fields are made without the mathematical library. */
#include "device.h"
#include "gmg.h"
#include "gmg_cuda.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 2, CYCLES = 10, NEVER = -1, ROOM = 256 };

typedef enum { CONSTANT, BALL, BOARD, FACES, SIGMA, FACES_AND_SIGMA } medium;

/* A case. A member that is not given is zero, which means: cells, double in the whole cycle, V(1,1) without acceleration, at most
   CYCLES cycles, every residual measured, one solve from u = 0 in the unit box with boundary values on every wall. */
typedef struct {
  const char *name;
  int dim;
  size_t n[3], large[3]; /* unknowns; on a GPU `large`, if it is given */
  const char *walls;     /* two letters an axis, lower face first: d Dirichlet, n Neumann, r Robin, p periodic */
  const char *smoother;
  int sweeps, overlap, passes; /* of async; sweeps is also the degree of chebyshev */
  gmg_local_kind local;        /* on a GPU Gauss-Seidel becomes Jacobi */
  size_t block[3];
  gmg_block_order order;
  gmg_assignment assignment;
  int in_flight;
  int vertex, single; /* vertex: vertex-centred. single: in float */
  int chosen; /* 1: precision, cycle and acceleration that are 0 are chosen by gmg. 0: they are the problem's type, V, and none */
  gmg_precision precision;
  gmg_cycle_kind cycle;
  gmg_accel accel;
  int pre, post, fmg, cycles, check_every; /* check_every = NEVER: GMG_NONE */
  int symmetric, monitor, report_level_times;
  gmg_restriction restriction;
  gmg_coarse_kind coarse;
  size_t coarse_cells;
  int max_levels;
  double rtol, omega;
  medium medium;
  double strength; /* strength of the medium; sizes of the array sigma and of the shift */
  double shift, stretch, box[3];
  int guess;        /* 1: solves begin with a random u */
  int solves;       /* number of solves, each with another f; on a GPU at least 3, because later ones are replayed */
  int updates;      /* 1: new coefficients after the first solve */
  int precondition; /* 1: also the bits of gmg_precondition() */
  int fluxes;       /* 1: also the bits of gmg_flux() and gmg_residual() */
  int offload;      /* 1: the smoother has its own context, the rest runs on the host */
} solve_case;

#define ASYNC(sweeps_, overlap_) .smoother = "async", .sweeps = (sweeps_), .overlap = (overlap_)
#define CHEBYSHEV(degree) .smoother = "chebyshev", .sweeps = (degree)
#define MIXED .precision = GMG_PRECISION_MIXED
#define CHOSEN .chosen = 1

/* Large sizes are for kernels that a GPU uses above a size: rows stream in 2D above 300,000 unknowns, planes stream and legs are
   fused above 500,000, and in float planes stream above 5,000,000. */
static const solve_case cases[] = {
    {"1d-cell-dirichlet-jacobi-v", 1, {1000}, {1000003}, "dd", "jacobi", .fluxes = 1, .precondition = 1},
    {"1d-vertex-robin_neumann-gauss_seidel-w", 1, {255}, {4095}, "rn", "gauss_seidel", .vertex = 1, .cycle = GMG_CYCLE_W,
     .guess = 1},
    {"1d-cell-periodic-singular-red_black-f-mixed", 1, {4096}, {8192}, "pp", "red_black", MIXED, .cycle = GMG_CYCLE_F},
    {"1d-cell-periodic-red_black-shift", 1, {334}, {600000}, "pp", "red_black", .shift = 3, .guess = 1},
    {"1d-vertex-dirichlet-chebyshev-v-float", 1, {511}, {1048575}, "dd", CHEBYSHEV(3), .vertex = 1, .single = 1},
    {"1d-cell-neumann-async-shift", 1, {1021}, {1000003}, "nn", ASYNC(2, 1), .shift = 0.5, .pre = 2, .post = 1},
    {"1d-cell-stretched-async-flexible_cg", 1, {640}, {500000}, "dr", ASYNC(3, 2), .stretch = 4, .accel = GMG_ACCEL_FLEXIBLE_CG},
    {"1d-vertex-beta-red_black-chosen", 1, {767}, {65535}, "dn", "red_black", .vertex = 1, CHOSEN, .medium = BALL, .strength = 100},
    {"1d-one_unknown-async", 1, {1}, {0}, "dd", ASYNC(2, 1), .guess = 1},

    {"2d-cell-dirichlet-red_black-v", 2, {129, 65}, {1024, 1024}, "dddd", "red_black", .fluxes = 1},
    {"2d-cell-dirichlet-red_black-v-mixed", 2, {256, 128}, {2048, 1024}, "dddd", "red_black", MIXED, .solves = 2},
    {"2d-cell-dirichlet-red_black-f-mixed-two_steps", 2, {192, 160}, {1536, 1280}, "dddn", "red_black", MIXED, .cycle = GMG_CYCLE_F,
     .pre = 2, .post = 2},
    {"2d-vertex-dirichlet-async-v-mixed", 2, {255, 191}, {1023, 1023}, "dddd", ASYNC(2, 1), .vertex = 1, MIXED, .fluxes = 1},
    {"2d-cell-dirichlet-async-f-mixed", 2, {256, 256}, {2048, 1024}, "dddd", ASYNC(2, 1), MIXED, .cycle = GMG_CYCLE_F, .solves = 3},
    {"2d-cell-mixed_walls-async-v", 2, {192, 128}, {1024, 1024}, "dnrn", ASYNC(2, 1), .guess = 1},
    {"2d-cell-periodic-async-float", 2, {128, 96}, {1024, 768}, "ppdd", ASYNC(2, 1), .single = 1, .pre = 2, .post = 2},
    {"2d-cell-robin-jacobi-w-mixed-cholesky", 2, {61, 67}, {801, 700}, "rrrr", "jacobi", MIXED, .cycle = GMG_CYCLE_W,
     .coarse = GMG_COARSE_DENSE},
    {"2d-vertex-neumann-singular-gauss_seidel-v-float", 2, {33, 47}, {0}, "nnnn", "gauss_seidel", .vertex = 1, .single = 1},
    {"2d-cell-periodic-singular-chebyshev-f-two_levels", 2, {96, 48}, {512, 256}, "pppp", CHEBYSHEV(2), .cycle = GMG_CYCLE_F,
     .max_levels = 2, .cycles = 6},
    {"2d-cell-coarse_solver_alone", 2, {40, 30}, {0}, "ddnd", "jacobi", .max_levels = 1, .cycles = 3},
    {"2d-cell-fmg-async-mixed-wide_start", 2, {800, 600}, {2048, 2048}, "dddd", ASYNC(2, 1), MIXED, .fmg = 1, .cycles = 3},
    {"2d-cell-fmg-red_black-float", 2, {160, 96}, {1280, 768}, "dndr", "red_black", .single = 1, .fmg = 2, .cycle = GMG_CYCLE_W},
    {"2d-cell-cg-red_black", 2, {128, 96}, {1024, 768}, "dddd", "red_black", .accel = GMG_ACCEL_CG},
    {"2d-cell-cg-async-overlap_0", 2, {100, 90}, {700, 750}, "dndn", ASYNC(2, 0), .accel = GMG_ACCEL_CG},
    {"2d-cell-board-async-chosen", 2, {96, 96}, {1024, 1024}, "dddd", ASYNC(2, 1), CHOSEN, .medium = BOARD, .strength = 1000},
    {"2d-cell-faces_sigma-red_black-flexible_cg", 2, {64, 80}, {768, 1024}, "drnd", "red_black", .accel = GMG_ACCEL_FLEXIBLE_CG,
     .medium = FACES_AND_SIGMA, .strength = 20, .fluxes = 1},
    {"2d-vertex-stretched-async-flexible_cg-mixed", 2, {96, 64}, {800, 640}, "dddd", ASYNC(2, 1), .vertex = 1, MIXED, .stretch = 5,
     .accel = GMG_ACCEL_FLEXIBLE_CG},
    {"2d-vertex-thin-red_black-v", 2, {512, 3}, {200000, 3}, "dddd", "red_black", .vertex = 1, .box = {1, 0.005}},
    {"2d-cell-semicoarsened-red_black-v", 2, {128, 128}, {1024, 512}, "dddd", "red_black", .box = {1, 8}},
    {"2d-tiny-async", 2, {3, 2}, {0}, "dnrd", ASYNC(2, 1), .guess = 1},
    {"2d-cell-async-jacobi_inside-overlap_2", 2, {100, 70}, {600, 700}, "dddd", ASYNC(5, 2), .local = GMG_LOCAL_JACOBI,
     .omega = 0.8},
    {"2d-cell-async-gauss_seidel_inside-overlap_0", 2, {90, 110}, {500, 640}, "ddnn", ASYNC(1, 0), .local = GMG_LOCAL_GAUSS_SEIDEL},
    {"2d-cell-async-random_order-passes_2", 2, {128, 100}, {640, 500}, "dddd", ASYNC(3, 1), .passes = 2, .block = {32, 16},
     .order = GMG_ORDER_RANDOM},
    {"2d-cell-async-dynamic-mixed", 2, {160, 160}, {1024, 1024}, "dddd", ASYNC(2, 1), MIXED, .assignment = GMG_ASSIGN_DYNAMIC,
     .in_flight = 3, .report_level_times = 1},
    {"2d-cell-async-long_blocks", 2, {1500, 40}, {1500, 400}, "dddd", ASYNC(2, 1), .block = {700, 2}, .box = {37, 1}},
    {"2d-cell-red_black-float-unmeasured", 2, {96, 128}, {1024, 1024}, "dddd", "red_black", .single = 1, .check_every = NEVER,
     .cycles = 5},
    {"2d-cell-async-mixed-measured_by_threes", 2, {128, 64}, {1024, 512}, "dddd", ASYNC(2, 1), MIXED, .check_every = 3,
     .monitor = 1},

    {"3d-cell-dirichlet-red_black-v", 3, {48, 48, 48}, {96, 96, 96}, "dddddd", "red_black", .fluxes = 1},
    {"3d-cell-dirichlet-red_black-v-mixed", 3, {48, 40, 32}, {128, 96, 96}, "dddddd", "red_black", MIXED, .solves = 2},
    {"3d-cell-dirichlet-red_black-f-mixed-large", 3, {32, 32, 40}, {192, 160, 176}, "dddddd", "red_black", MIXED,
     .cycle = GMG_CYCLE_F, .pre = 2, .post = 1},
    {"3d-cell-dirichlet-async-v-mixed", 3, {48, 48, 48}, {96, 96, 96}, "dddddd", ASYNC(2, 1), MIXED, .solves = 3},
    {"3d-cell-dirichlet-async-v-mixed-large", 3, {32, 40, 32}, {192, 160, 176}, "dddddd", ASYNC(2, 1), MIXED},
    {"3d-cell-mixed_walls-async-w", 3, {40, 44, 36}, {96, 96, 96}, "dnrddn", ASYNC(2, 1), .cycle = GMG_CYCLE_W, .guess = 1},
    {"3d-vertex-dirichlet-async-v-float", 3, {31, 29, 23}, {127, 127, 95}, "dddddd", ASYNC(2, 1), .vertex = 1, .single = 1,
     .pre = 2},
    {"3d-vertex-robin_neumann-jacobi-v-coarse_cg", 3, {17, 33, 21}, {65, 97, 81}, "rndrnr", "jacobi", .vertex = 1,
     .coarse_cells = 1000},
    {"3d-cell-neumann-singular-red_black-mixed", 3, {32, 32, 32}, {96, 96, 96}, "nnnnnn", "red_black", MIXED},
    {"3d-cell-periodic-singular-async", 3, {32, 32, 32}, {96, 96, 96}, "pppppp", ASYNC(2, 1), .report_level_times = 1},
    {"3d-vertex-periodic-odd-chebyshev-sigma", 3, {27, 25, 31}, {81, 81, 83}, "ppppdd", CHEBYSHEV(2), .vertex = 1, .medium = SIGMA,
     .strength = 50},
    {"3d-cell-gauss_seidel-w", 3, {20, 24, 18}, {0}, "dddndd", "gauss_seidel", .cycle = GMG_CYCLE_W, .symmetric = 1},
    {"3d-cell-beta-async-chosen", 3, {40, 40, 40}, {96, 96, 96}, "dddddd", ASYNC(2, 1), CHOSEN, .medium = BALL, .strength = 1000,
     .fluxes = 1},
    {"3d-cell-beta-red_black-cg-float-unmeasured", 3, {32, 48, 40}, {64, 96, 96}, "dnddnd", "red_black", .single = 1,
     .medium = BALL, .strength = 0.01, .accel = GMG_ACCEL_CG, .check_every = NEVER, .cycles = 6},
    {"3d-cell-faces_sigma-async-periodic-update", 3, {36, 32, 28}, {96, 80, 72}, "dndrpp", ASYNC(2, 1), .medium = FACES_AND_SIGMA,
     .strength = 5, MIXED, .accel = GMG_ACCEL_FLEXIBLE_CG, .updates = 1},
    {"3d-cell-stretched-red_black-flexible_cg-float", 3, {32, 40, 24}, {80, 96, 72}, "dddnrd", "red_black", .single = 1,
     .stretch = 4, .accel = GMG_ACCEL_FLEXIBLE_CG, .fluxes = 1},
    {"3d-cell-thin-async-f", 3, {64, 64, 4}, {512, 512, 4}, "dddddd", ASYNC(2, 1), .cycle = GMG_CYCLE_F, .box = {1, 1, 0.05}},
    {"3d-tiny-red_black", 3, {2, 1, 3}, {0}, "ddnndd", "red_black", .guess = 1},
    {"3d-cell-fmg-async-mixed", 3, {64, 64, 64}, {128, 128, 128}, "dddddd", ASYNC(2, 1), MIXED, .fmg = 1},
    {"3d-cell-red_black-precondition-symmetric", 3, {36, 44, 40}, {96, 96, 96}, "dddddn", "red_black", .symmetric = 1,
     .restriction = GMG_RESTRICT_ADJOINT, .precondition = 1},
    {"3d-vertex-neumann-update-red_black", 3, {33, 33, 25}, {97, 97, 65}, "nnnnnn", "red_black", .vertex = 1, MIXED, .updates = 1},
    {"3d-cell-async-local_sweeps_4-overlap_2-float", 3, {30, 34, 38}, {90, 84, 88}, "dddddd", ASYNC(4, 2), .single = 1,
     .passes = 2},
    {"3d-cell-async-offload", 3, {24, 20, 28}, {64, 64, 64}, "dddddd", ASYNC(2, 1), .offload = 1},
};

enum { COUNT = sizeof cases / sizeof *cases };
_Static_assert(COUNT == 60, "the number of cases");

static int on_device, threads = THREADS;

static void fail(const char *name, const char *what, const char *why)
{
  fprintf(stderr, "%s: %s: %s\n", name, what, why);
  exit(1);
}

/* --- arrays, where the context runs ---------------------------------------------------------------------------------------- */

typedef struct {
  void *here, *there; /* there: the array where the context runs; on the host the same array */
  size_t bytes;
} array;

static void upload(array *a, int device)
{
  if (!device) return;
  if (a->there == a->here) a->there = device_alloc(a->bytes);
  device_copy(a->there, a->here, a->bytes);
}

static void download(array *a)
{
  if (a->there != a->here) device_copy(a->here, a->there, a->bytes);
}

static void release(array *a)
{
  if (a->there != a->here) device_release(a->there);
  free(a->here);
}

static array make_array(size_t count, int single)
{
  array a = {.bytes = count * (single ? sizeof(float) : sizeof(double))};
  a.here = a.there = calloc(count, single ? sizeof(float) : sizeof(double));
  if (!a.here) fail("test", "memory", "there is not enough");
  return a;
}

static void set(const array *a, size_t i, int single, double value)
{
  if (single) ((float *)a->here)[i] = (float)value;
  else ((double *)a->here)[i] = value;
}

/* Knuth's MMIX generator: -0.5 .. 0.5. */
static double uniform(uint64_t *state)
{
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(*state >> 11) / 9007199254740992.0 - 0.5;
}

/* zeros for seed 0 */
static void fill(const array *a, size_t count, int single, uint64_t seed)
{
  uint64_t state = seed;
  for (size_t i = 0; i < count; i++) set(a, i, single, seed ? uniform(&state) : 0);
}

/* --- checksums --------------------------------------------------------------------------------------------------------------- */

/* FNV-1a, 32 bits at a time; the upper half goes into the lower one, too. */
static void add_bits(uint64_t *sum, const void *data, size_t bytes)
{
  for (size_t i = 0; i + 4 <= bytes; i += 4) {
    uint32_t word;
    memcpy(&word, (const char *)data + i, 4);
    *sum = (*sum ^ word) * 1099511628211u;
    *sum ^= *sum >> 32;
  }
}

typedef struct {
  int cycles; /* sums of all solves of a case */
  uint64_t u, history;
} result;

static int same(result a, result b) { return a.cycles == b.cycles && a.u == b.u && a.history == b.history; }

/* --- problems ---------------------------------------------------------------------------------------------------------------- */

/* A case while it runs. */
typedef struct {
  const solve_case *c;
  size_t cells;
  int device; /* where the fields are */
  gmg_problem p;
  gmg_params params;
  gmg_context *context, *inner;
  gmg_smoother *offload;
  gmg_solver *solver;
  array beta, sigma, face[3], f, u, z;
  double *coord[3];
  result r;
} running;

static void expect(const running *x, const char *what, gmg_status status)
{
  if (!gmg_status_is_outcome(status)) {
    fprintf(stderr, "%s: %s: %s: %s\n", x->c->name, what, gmg_status_string(status),
            x->context ? gmg_context_error(x->context) : "");
    exit(1);
  }
}

static double square(double x) { return x * x; }

/* A coefficient at a place in units of the box. version: 0 at create, 1 after the update. */
static double beta_at(const solve_case *c, const double x[3], int version)
{
  double r = 0, wave = 1;
  int number = 0;
  for (int a = 0; a < c->dim; a++) {
    r += square(x[a] - 0.47 - 0.03 * a);
    wave *= 4 * x[a] * (1 - x[a]);
    number += (int)(x[a] * 12);
  }
  if (c->medium == BALL) return r < 0.09 ? c->strength : 1;
  if (c->medium == BOARD) return number % 2 ? c->strength : 1;
  return 1 + (c->strength - 1) * wave + (version ? 0.5 : 0);
}

/* Fills array a, which has `more` more points than unknowns along the axis `along`. */
static void fill_medium(const running *x, const array *to, int along, int of_sigma, int version)
{
  const solve_case *c = x->c;
  const size_t *n = x->p.n, extra = along >= 0 ? 1 : 0;
  const size_t m[3] = {n[0] + (along == 0) * extra, n[1] + (along == 1) * extra, n[2] + (along == 2) * extra};
  for (size_t i = 0; i < m[0] * m[1] * m[2]; i++) {
    const size_t at[3] = {i % m[0], i / m[0] % m[1], i / (m[0] * m[1])};
    double place[3];
    for (int a = 0; a < 3; a++) place[a] = ((double)at[a] + (a == along ? 0 : 0.5)) / (double)n[a];
    const double sigma = place[0] < 0.4 ? c->strength : version ? 1 : 0;
    set(to, i, c->single, of_sigma ? sigma : beta_at(c, place, version));
  }
}

/* Widths from 1 in the middle of the axis to 1 + stretch at its ends, over nodes or faces. */
static double *stretched(size_t intervals, double stretch)
{
  double *x = malloc((intervals + 1) * sizeof *x), length = 0;
  if (!x) fail("test", "memory", "there is not enough");
  for (size_t i = 0; i <= intervals; i++) {
    x[i] = length;
    length += 1 + stretch * square(2 * ((double)i + 0.5) / (double)intervals - 1);
  }
  for (size_t i = 0; i <= intervals; i++) x[i] /= x[intervals] > 0 && i < intervals ? x[intervals] : 1;
  x[intervals] = 1;
  return x;
}

static gmg_problem problem_of(running *x)
{
  const solve_case *c = x->c;
  const size_t *n = on_device && c->large[0] ? c->large : c->n;
  double box[3];
  gmg_problem p = gmg_problem_default(c->dim, n);
  p.type = c->single ? GMG_F32 : GMG_F64;
  p.centering = c->vertex ? GMG_VERTEX : GMG_CELL;
  p.shift = c->shift;
  x->cells = 1;
  for (int a = 0; a < c->dim; a++) {
    x->cells *= n[a];
    box[a] = c->box[a] > 0 ? c->box[a] : 1;
    for (int side = 0; side < 2; side++) {
      const char kind = c->walls[2 * a + side];
      p.bc[a][side] = kind == 'd' ? GMG_DIRICHLET : kind == 'n' ? GMG_NEUMANN : kind == 'r' ? GMG_ROBIN : GMG_PERIODIC;
      p.robin[a][side][0] = 2, p.robin[a][side][1] = 0.5;
    }
  }
  gmg_problem_set_box(&p, box);
  for (int a = 0; c->stretch > 0 && a < c->dim; a++) {
    size_t intervals = p.n[a];
    if (c->vertex && c->walls[2 * a] != 'p')
      intervals = p.n[a] - 1 + (size_t)(c->walls[2 * a] == 'd') + (size_t)(c->walls[2 * a + 1] == 'd');
    p.coord[a] = x->coord[a] = stretched(intervals, c->stretch);
  }
  return p;
}

/* Fills the problem's arrays of coefficients, at create and before the update. */
static void set_medium(running *x, int version)
{
  const solve_case *c = x->c;
  gmg_problem *p = &x->p;
  const int faces = c->medium == FACES || c->medium == FACES_AND_SIGMA, sigma = c->medium == SIGMA || c->medium == FACES_AND_SIGMA;
  if (version) p->shift += c->medium == CONSTANT ? 2 : 0;
  if (c->medium == BALL || c->medium == BOARD) {
    if (!version) x->beta = make_array(x->cells, c->single);
    fill_medium(x, &x->beta, -1, 0, version);
    upload(&x->beta, x->device);
    p->beta = x->beta.there;
  }
  for (int a = 0; faces && a < c->dim; a++) {
    if (!version) x->face[a] = make_array(x->cells / p->n[a] * (p->n[a] + 1), c->single);
    fill_medium(x, &x->face[a], a, 0, version);
    upload(&x->face[a], x->device);
    p->beta_face[a] = x->face[a].there;
  }
  if (sigma) {
    if (!version) x->sigma = make_array(x->cells, c->single);
    fill_medium(x, &x->sigma, -1, 1, version);
    upload(&x->sigma, x->device);
    p->sigma = x->sigma.there;
  }
}

static int go_on(void *data, int cycle, double residual, double target)
{
  result *r = data;
  (void)target;
  add_bits(&r->history, &cycle, sizeof cycle);
  add_bits(&r->history, &residual, sizeof residual);
  return 0;
}

static gmg_params params_of(running *x)
{
  const solve_case *c = x->c;
  gmg_params q = gmg_params_default();
  q.smoother = gmg_smoother_by_name(c->smoother);
  if (!q.smoother) fail(c->name, "smoother", "there is none of this name");
  q.deterministic = 1, q.direct = GMG_DIRECT_NEVER;
  if (c->sweeps) q.async.local_sweeps = q.chebyshev_degree = c->sweeps;
  q.async.overlap = c->overlap ? c->overlap : GMG_NONE;
  if (c->passes) q.async.passes = c->passes;
  q.async.local = on_device && c->local == GMG_LOCAL_GAUSS_SEIDEL ? GMG_LOCAL_JACOBI : c->local;
  for (int a = 0; a < 3; a++) q.async.block[a] = c->block[a];
  q.async.order = c->order, q.async.assignment = c->assignment, q.async.in_flight = c->in_flight;
  q.cycle = c->cycle, q.accel = c->accel, q.fmg = c->fmg, q.precision = c->precision;
  if (!c->chosen && !q.cycle) q.cycle = GMG_CYCLE_V;
  if (!c->chosen && !q.accel) q.accel = GMG_ACCEL_NONE;
  if (!c->chosen && !q.precision) q.precision = GMG_PRECISION_SAME;
  if (c->pre) q.pre = c->pre;
  if (c->post) q.post = c->post;
  q.symmetric = c->symmetric, q.restriction = c->restriction;
  q.coarse = c->coarse, q.coarse_cells = c->coarse_cells, q.max_levels = c->max_levels;
  q.max_cycles = c->cycles ? c->cycles : CYCLES;
  q.rtol = c->rtol, q.omega = c->omega, q.report_level_times = c->report_level_times;
  if (c->check_every) q.check_every = c->check_every == NEVER ? GMG_NONE : c->check_every;
  if (c->monitor) q.monitor = go_on, q.monitor_data = &x->r;
  return q;
}

/* --- running a case ---------------------------------------------------------------------------------------------------------- */

static void begin(running *x)
{
  const solve_case *c = x->c;
  gmg_context **device = c->offload ? &x->inner : &x->context;
  if (on_device) expect(x, "context", gmg_context_create_cuda(0, NULL, device));
  else expect(x, "context", gmg_context_create_host(threads, device));
  if (c->offload) expect(x, "context", gmg_context_create_host(threads, &x->context));
  x->device = on_device && !c->offload;
  x->p = problem_of(x);
  set_medium(x, 0);
  x->params = params_of(x);
  if (c->offload) {
    expect(x, "offload", gmg_smoother_offload_create(x->inner, x->params.smoother, &x->offload));
    x->params.smoother = x->offload;
  }
  expect(x, "create", gmg_solver_create(x->context, &x->p, &x->params, &x->solver));
  x->f = make_array(x->cells, c->single), x->u = make_array(x->cells, c->single), x->z = make_array(x->cells, c->single);
}

/* Boundary values: a constant on each lower wall, an array on each upper one. */
static void set_walls(running *x)
{
  const solve_case *c = x->c;
  for (int a = 0; a < c->dim; a++) {
    if (c->walls[2 * a] == 'p') continue;
    const size_t count = x->cells / x->p.n[a];
    array g = make_array(count, c->single);
    fill(&g, count, c->single, 100 + (uint64_t)a);
    upload(&g, x->device);
    expect(x, "boundary constant", gmg_set_boundary_constant(x->solver, a, 0, 0.25 * (a + 1)));
    expect(x, "boundary values", gmg_set_boundary_values(x->solver, a, 1, g.there));
    release(&g);
  }
}

static void solve(running *x, int number)
{
  const solve_case *c = x->c;
  gmg_report report;
  fill(&x->f, x->cells, c->single, 1 + (uint64_t)number);
  fill(&x->u, x->cells, c->single, c->guess ? 1000 + (uint64_t)number : 0);
  upload(&x->f, x->device);
  upload(&x->u, x->device);
  expect(x, "solve", gmg_solve(x->solver, x->f.there, x->u.there, &report));
  if (!report.deterministic && !c->offload) fail(c->name, "report", "this solve is not deterministic");
  download(&x->u);
  add_bits(&x->r.u, x->u.here, x->u.bytes);
  add_bits(&x->r.history, report.history, (size_t)report.history_length * sizeof *report.history);
  x->r.cycles += report.cycles;
}

static void call(running *x, const char *what, gmg_status status)
{
  expect(x, what, status);
  download(&x->z);
  add_bits(&x->r.u, x->z.here, x->z.bytes);
}

static void find_fluxes(running *x)
{
  const solve_case *c = x->c;
  array out[2][3];
  void *there[2][3] = {{NULL}};
  for (int k = 0; k < 2; k++)
    for (int a = 0; a < c->dim; a++) {
      out[k][a] = make_array(x->cells / x->p.n[a] * (x->p.n[a] + 1), c->single);
      upload(&out[k][a], x->device);
      there[k][a] = out[k][a].there;
    }
  expect(x, "flux", gmg_flux(x->solver, x->u.there, there[0], there[1]));
  for (int k = 0; k < 2; k++)
    for (int a = 0; a < c->dim; a++) {
      download(&out[k][a]);
      add_bits(&x->r.u, out[k][a].here, out[k][a].bytes);
      release(&out[k][a]);
    }
}

static void end(running *x)
{
  array *const all[] = {&x->beta, &x->sigma, &x->face[0], &x->face[1], &x->face[2], &x->f, &x->u, &x->z};
  gmg_solver_destroy(x->solver);
  gmg_smoother_offload_destroy(x->offload);
  gmg_context_destroy(x->context);
  gmg_context_destroy(x->inner);
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) release(all[i]);
  for (int a = 0; a < 3; a++) free(x->coord[a]);
}

static result run(const solve_case *c)
{
  running x = {.c = c, .r = {0, 14695981039346656037u, 14695981039346656037u}};
  const int least = on_device ? 3 : 1, solves = c->solves > least ? c->solves : least;
  begin(&x);
  set_walls(&x);
  for (int i = 0; i < solves; i++) solve(&x, i);
  if (c->updates) {
    set_medium(&x, 1);
    expect(&x, "update", gmg_solver_update(x.solver, &x.p));
    for (int i = 0; i < solves; i++) solve(&x, solves + i);
  }
  upload(&x.z, x.device);
  for (int i = 0; c->precondition && i < solves; i++) call(&x, "precondition", gmg_precondition(x.solver, x.f.there, x.z.there));
  if (c->fluxes) {
    call(&x, "residual", gmg_residual(x.solver, x.f.there, x.u.there, x.z.there));
    find_fluxes(&x);
  }
  end(&x);
  return x.r;
}

/* --- what this machine is called --------------------------------------------------------------------------------------------- */

/* The processor that the compiler tunes for matters: it decides where a product and a sum become one instruction. */
#ifndef GMG_TUNING
#define GMG_TUNING "unknown"
#endif
#ifndef GMG_BUILD
#define GMG_BUILD "unknown"
#endif
#ifndef GMG_NVCC_VERSION
#define GMG_NVCC_VERSION "unknown"
#endif

#define CLANG_VERSION(major, minor, patch) GMG_TEXT(major) "." GMG_TEXT(minor) "." GMG_TEXT(patch)

static void host_key(char key[ROOM])
{
#if defined __clang__
  const char *compiler = "clang-" CLANG_VERSION(__clang_major__, __clang_minor__, __clang_patchlevel__);
#elif defined __GNUC__
  const char *compiler = "gcc-" __VERSION__;
#else
  const char *compiler = "unknown";
#endif
#if defined __AVX512F__
  const char *instructions = "avx512";
#elif defined __AVX2__ && defined __FMA__
  const char *instructions = "avx2+fma";
#elif defined __AVX2__
  const char *instructions = "avx2";
#elif defined __FMA__
  const char *instructions = "fma";
#elif defined __x86_64__
  const char *instructions = "x86-64";
#elif defined __aarch64__
  const char *instructions = "aarch64";
#else
  const char *instructions = "unknown";
#endif
  snprintf(key, ROOM, "%s, %s, tuned for %s, %s", compiler, instructions, GMG_TUNING, GMG_BUILD);
}

static void make_key(char key[ROOM])
{
  char host[ROOM];
  host_key(host);
  snprintf(key, ROOM, "host: %.200s", host);
  if (!on_device) return;
  char device[ROOM];
  device_describe(device, sizeof device);
  snprintf(key, ROOM, "cuda: %.60s, nvcc %s; %.150s", device, GMG_NVCC_VERSION, host);
}

/* --- the file ---------------------------------------------------------------------------------------------------------------- */

/* The whole text, to be freed; empty where there is no such file. */
static char *read_text(const char *path)
{
  FILE *file = fopen(path, "r");
  size_t length = 0, room = 1 << 16, got;
  char *text = malloc(room);
  while (text && file && (got = fread(text + length, 1, room - length - 1, file)) > 0)
    if ((length += got) + 1 == room) text = realloc(text, room *= 2);
  if (!text) fail(path, "memory", "there is not enough");
  if (file) fclose(file);
  text[length] = 0;
  return text;
}

/* The beginning of the section "[key]", or NULL. *stop: the beginning of the next section, or the end of the text. */
static char *find_section(char *text, const char *key, char **stop)
{
  char head[ROOM + 8];
  snprintf(head, sizeof head, "[%s]\n", key);
  char *at = text;
  while (at && strncmp(at, head, strlen(head)) != 0) at = strstr(at, "\n[") ? strstr(at, "\n[") + 1 : NULL;
  if (!at) return NULL;
  char *next = strstr(at, "\n[");
  *stop = next ? next + 1 : at + strlen(at);
  return at;
}

/* Reads the values recorded for a case between two places of the text. Returns 0 if there are none. */
static int find_values(const char *at, const char *stop, const char *name, result *r)
{
  for (; at && at < stop; at = strchr(at, '\n'), at = at ? at + 1 : NULL) {
    char found[ROOM];
    unsigned long long u, history;
    if (sscanf(at, "%255s %d %llx %llx", found, &r->cycles, &u, &history) != 4 || strcmp(found, name) != 0) continue;
    r->u = u, r->history = history;
    return 1;
  }
  return 0;
}

static void write_section(FILE *file, const char *key, const result *r)
{
  fprintf(file, "[%s]\n", key);
  for (int i = 0; i < COUNT; i++)
    fprintf(file, "%-58s %3d  %016llx  %016llx\n", cases[i].name, r[i].cycles, (unsigned long long)r[i].u,
            (unsigned long long)r[i].history);
}

static int record(const char *path, const char *key)
{
  result r[COUNT];
  char beside[4096], *stop = NULL;
  int differ = 0;
  for (int i = 0; i < COUNT; i++) {
    r[i] = run(&cases[i]);
    if (same(r[i], run(&cases[i]))) continue;
    fprintf(stderr, "%s: the second run has other bits than the first: not deterministic\n", cases[i].name);
    differ++;
  }
  if (differ) return 1;
  char *text = read_text(path), *section = find_section(text, key, &stop);
  snprintf(beside, sizeof beside, "%s.new", path);
  FILE *file = fopen(beside, "w");
  if (!file) fail(beside, "open", "cannot be written");
  if (!*text)
    fprintf(file, "# Bits of deterministic solves: cycles of all solves, checksums of their solutions and of their histories.\n"
                  "# A section for each compiler, instruction set and device. Written by: test_checksums --record FILE [cuda]\n");
  fwrite(text, 1, section ? (size_t)(section - text) : strlen(text), file);
  write_section(file, key, r);
  if (section) fputs(stop, file);
  const int failed = ferror(file), closed = fclose(file);
  free(text);
  if (failed || closed || rename(beside, path)) fail(path, "record", "cannot be written");
  printf("%d cases recorded for %s\n", COUNT, key);
  return 0;
}

static int compare(const char *path, const char *key)
{
  char *text = read_text(path), *stop = NULL, *section = find_section(text, key, &stop);
  int wrong = 0;
  if (!section) {
    printf("skipped: %s has no section [%s]; record one at a commit known to be right: test_checksums --record %s%s\n", path, key,
           path, on_device ? " cuda" : "");
    free(text);
    return SKIPPED;
  }
  for (int i = 0; i < COUNT; i++) {
    const char *name = cases[i].name;
    result was;
    if (!find_values(section, stop, name, &was)) {
      fprintf(stderr, "%s: not in the section [%s]\n", name, key);
      wrong++;
      continue;
    }
    const result is = run(&cases[i]);
    if (same(is, was)) continue;
    fprintf(stderr, "%s: recorded %d cycles, u %016llx, history %016llx; now %d cycles, u %016llx, history %016llx\n", name,
            was.cycles, (unsigned long long)was.u, (unsigned long long)was.history, is.cycles, (unsigned long long)is.u,
            (unsigned long long)is.history);
    wrong++;
  }
  free(text);
  printf("%d cases, %d with other bits, %s\n", COUNT, wrong, key);
  printf("[%s] checksums\n", wrong > 0 ? "  FAILED  " : "       OK "); /* like cmocka's message */
  return wrong > 0;
}

int main(int argc, char **argv)
{
  char key[ROOM];
  int recording = 0, at = 1;
  if (at + 1 < argc && strcmp(argv[at], "--threads") == 0) threads = atoi(argv[at + 1]), at += 2;
  if (at < argc && strcmp(argv[at], "--record") == 0) recording = 1, at++;
  on_device = at + 1 < argc && strcmp(argv[at + 1], "cuda") == 0;
  if (argc != at + 1 + on_device || argv[at][0] == '-') {
    fprintf(stderr, "usage: %s [--threads N] [--record] FILE [cuda]\n", argv[0]);
    return 2;
  }
  if (on_device && without_device()) return SKIPPED;
  make_key(key);
  return recording ? record(argv[at], key) : compare(argv[at], key);
}
