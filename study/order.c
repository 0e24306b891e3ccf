/* The order of blocks and the number of blocks in flight of asynchronous smoothers, after Chow, Anzt, Dongarra, "Asynchronous
 * iterative algorithm for computing incomplete factorizations on GPUs" (2015), Sections 4.4 to 4.6: its Tables 3 to 5, which are
 * for factorizations, here for smoothers. docs/study-order.md shows the results, and says how they were measured.
 *
 * -Lap u = f with h = 1 and zero Dirichlet walls, unknowns between them. f = 0, and u is uniform in -0.5..0.5, the same in every
 * run. V(1,1), double, no acceleration, CG to 1e-6 on the coarsest grid. Factors are those of the last 5 cycles. */
#include "flight.h"
#include "study.h"

#include <stdio.h>
#include <string.h>

enum { SMALL_GRID, LARGE_GRID };
typedef struct scale {
  size_t n[2][4];     /* unknowns per axis of small and large grids, by dimension; 0: none */
  size_t locality[4]; /* with --full u and f take 265 MB, several times the cache of a device; 0: none */
  int runs[2];        /* runs of asynchronous settings on small and on large grids, where many blocks differ less from run to run */
  int most_sweeps, large_sweeps; /* local sweeps: on small grids 1 to most_sweeps, on large grids only large_sweeps; 0: none */
} scale;

/* 2^k - 1 if possible, because coarse grids of an even number of unknowns are not nested, which hides the effect of blocks. */
static const scale scales[STUDY_SCALES] = {
    [STUDY_QUICK] = {{{0, 8191, 127, 31}, {0, 8191, 127, 31}}, {0, 0, 127, 31}, {3, 3}, 2, 0},
    [STUDY_DEFAULT] = {{{0, 8191, 127, 31}, {0, 32767, 255, 39}}, {0, 0, 1023, 79}, {20, 5}, 5, 2},
    [STUDY_FULL] = {{{0, 8191, 127, 31}, {0, 8388607, 4095, 255}}, {0, 16777215, 4095, 255}, {20, 5}, 5, 2}};

/* Grids with more blocks than a device runs at once. There is none in 1D, where creating a solver takes a third of a second for
   each million unknowns. */
static const size_t filling[4] = {0, 0, 2047, 127};

static scale scale_of(const study *s)
{
  scale x = scales[s->options.scale];
  if (s->options.scale == STUDY_DEFAULT && study_is_device(study_best(s))) memcpy(x.n[LARGE_GRID], filling, sizeof filling);
  if (s->options.n) x.n[LARGE_GRID][1] = x.locality[1] = (size_t)s->options.n;
  if (s->options.runs) x.runs[SMALL_GRID] = x.runs[LARGE_GRID] = s->options.runs;
  return x;
}

/* Blocks of 512 unknowns, as in the papers on smoothers. Small grids in 1D have blocks of 64, so that the number of blocks is
   similar. */
static const size_t blocks_of[2][4][3] = {{{0}, {64, 1, 1}, {16, 8, 1}, {8, 8, 8}}, {{0}, {512, 1, 1}, {32, 16, 1}, {8, 8, 8}}};

/* Relaxation inside blocks: in 2D and 3D red-black with the best known weights for these walls (docs/weights.md). In 1D, where V
   cycles with red-black are exact up to rounding, the paper's Jacobi, damped. */
static double weight(int dim, int overlap, int sweeps)
{
  static const double one[] = {0, 2.0 / 3, 1.15, 1.2}, more[] = {0, 2.0 / 3, 1.2, 1.3};
  return overlap == 0 && dim > 1 ? 1 : sweeps == 1 ? one[dim] : more[dim];
}

/* --- a setting, measured --- */

/* Smoothers: the library's asynchronous one, its stale twin, the model of flight.h, and one without blocks. */
enum { ASYNC, TWIN, MODEL, PLAIN };
static const char *const kinds[] = {"async", "stale twin", "model", "plain"};

enum { TURNING = GMG_ORDER_BACKWARD + 1, ORDERS = TURNING }; /* natural downward, backward upward: only for the model */
static const char *const orders[TURNING + 1] = {[GMG_ORDER_NATURAL] = "natural", [GMG_ORDER_TWO_COLOUR] = "two-colour",
                                           [GMG_ORDER_RANDOM] = "random", [GMG_ORDER_BACKWARD] = "backward",
                                           [TURNING] = "natural, then backward"};
static const int as_told[] = {GMG_ORDER_NATURAL, GMG_ORDER_BACKWARD, GMG_ORDER_RANDOM, GMG_ORDER_TWO_COLOUR, TURNING};

typedef struct setting {
  const char *part, *plain;
  const study_place *place;
  int kind, dim, order, overlap, sweeps, in_flight, oversubscription, local;
  size_t n, block[3];
  double omega;
  int levels, cycles, runs, clocked, histories;
  int skipped; /* set by measure(): the setting was refused, which is no failure */
} setting;

enum { CYCLES = 8 };

typedef struct result {
  bench_samples factor, cycle, sweep, residual[CYCLES]; /* residual after each cycle, relative to the first one */
  char skipped[256];
} result;

static gmg_params params_of(const setting *w, int run)
{
  gmg_params p = study_params();
  if (w->kind == PLAIN) p.smoother = gmg_smoother_by_name(w->plain);
  memcpy(p.async.block, w->block, sizeof p.async.block);
  p.async.local = (gmg_local_kind)w->local, p.async.local_sweeps = w->sweeps, p.async.overlap = w->overlap ? w->overlap : GMG_NONE, p.omega = w->omega;
  p.async.order = w->order == TURNING ? GMG_ORDER_NATURAL : (gmg_block_order)w->order, p.async.seed = (unsigned long)run + 1;
  p.async.in_flight = w->in_flight, p.async.oversubscription = w->oversubscription;
  p.deterministic = w->kind == TWIN || w->kind == PLAIN;
  p.cycle = GMG_CYCLE_V, p.accel = GMG_ACCEL_NONE, p.precision = GMG_PRECISION_SAME, p.coarse_rtol = 1e-6;
  p.restriction = GMG_RESTRICT_AVERAGE; /* number of runs of every setting */
  if (w->levels) p.coarse_cells = 2;
  p.max_levels = w->levels, p.max_cycles = w->cycles, p.rtol = 1e-200;
  return p;
}

/* State shared by the runs of a setting. A random order differs in every run, which needs another solver. If only the time
   matters, one solver is enough. */
typedef struct bed {
  gmg_problem problem;
  flight model;
  study_clock *clock;
  demo_array f, u; /* f = 0 */
  gmg_solver *solver;
} bed;

static int make_bed(const setting *w, bed *b)
{
  const demo_options *o = &w->place->demo;
  *b = (bed){.problem = study_problem(w->dim, w->n, 0), .model = study_flight_make(w->order == TURNING)};
  const gmg_params p = params_of(w, 0);
  if (w->clocked && !(b->clock = study_clock_create(p.smoother))) return demo_fail(o, "out of memory");
  if (demo_array_create(o, &b->problem, &b->f) & demo_array_create(o, &b->problem, &b->u)) return 0;
  return demo_fail(o, "out of memory: fields of %zu unknowns", demo_cells(&b->problem));
}

static void clear_bed(bed *b)
{
  gmg_solver_destroy(b->solver);
  study_clock_destroy(b->clock);
  demo_array_destroy(&b->f);
  demo_array_destroy(&b->u);
}

/* Runs once. r = NULL: the run is not recorded. Stores the seconds of the clock, if there is one. */
static int solve(const setting *w, bed *b, int again, result *r)
{
  const study_place *at = w->place;
  gmg_report report;
  if (study_start(at, &b->problem, 2, again, &b->u)) return 1;
  if (b->clock) study_clock_seconds(b->clock);
  const gmg_status status = gmg_solve(b->solver, b->f.there, b->u.there, &report);
  if (!gmg_status_is_outcome(status)) return demo_check(&at->demo, at->context, status);
  if (!r || report.cycles == 0) return 0;
  bench_add(&r->factor, report.factor);
  bench_add(&r->cycle, report.seconds / report.cycles);
  if (b->clock) bench_add(&r->sweep, study_clock_seconds(b->clock) / (2 * report.cycles));
  for (int i = 0; w->histories && i < CYCLES && i + 1 < report.history_length; i++)
    bench_add(&r->residual[i], report.history[i + 1] / report.history[0]);
  return 0;
}

/* The first two solves on a device are not recorded, because the second records its work as a graph. */
static int one_run(const setting *w, bed *b, int run, result *r)
{
  const study_place *at = w->place;
  gmg_params p = params_of(w, run);
  if (w->kind == MODEL) p.smoother = &b->model.smoother;
  if (b->clock) p.smoother = study_clock_smoother(b->clock);
  if (b->solver && (w->order != GMG_ORDER_RANDOM || w->clocked)) return solve(w, b, 1, r);
  gmg_solver_destroy(b->solver);
  const gmg_status status = gmg_solver_create(at->context, &b->problem, &p, &b->solver);
  if (status == GMG_ERR_UNSUPPORTED || status == GMG_ERR_MEMORY) {
    snprintf(r->skipped, sizeof r->skipped, "%s", gmg_context_error(at->context));
    return 0;
  }
  if (demo_check(&at->demo, at->context, status)) return 1;
  const int uncounted = study_is_device(at) ? 2 : 0;
  for (int i = 0; i < uncounted; i++)
    if (solve(w, b, run > 0 || i > 0, NULL)) return 1;
  return solve(w, b, run > 0 || uncounted, r);
}

static int runs(const setting *w, result *r)
{
  bed b;
  int failed = make_bed(w, &b);
  for (int run = 0; run < w->runs && !failed && !*r->skipped; run++) failed = one_run(w, &b, run, r);
  clear_bed(&b);
  return failed;
}

static size_t blocks(const setting *w)
{
  size_t total = 1;
  for (int a = 0; a < w->dim; a++) total *= w->block[a] ? (w->n + w->block[a] - 1) / w->block[a] : 1;
  return total;
}

static struct cJSON *begin_record(study *s, const setting *w)
{
  static const char *const locals[] = {[GMG_LOCAL_RED_BLACK] = "red-black", [GMG_LOCAL_JACOBI] = "jacobi",
                                        [GMG_LOCAL_GAUSS_SEIDEL] = "gauss-seidel"};
  struct cJSON *to = study_record(s, w->part);
  study_text(s, to, "smoother", w->kind == PLAIN ? w->plain : kinds[w->kind]);
  study_where(s, to, w->place);
  study_number(s, to, "dim", w->dim);
  study_number(s, to, "n", (double)w->n);
  if (w->kind == PLAIN) return to;
  study_text(s, to, "order", orders[w->order]);
  study_text(s, to, "local", locals[w->local]);
  study_number(s, to, "overlap", w->overlap);
  study_number(s, to, "sweeps", w->sweeps);
  study_number(s, to, "omega", study_rounded(w->omega, 6));
  study_number(s, to, "block", (double)w->block[0]);
  if (w->block[0]) study_number(s, to, "blocks", (double)blocks(w));
  study_number(s, to, "in_flight", w->in_flight);
  if (w->oversubscription) study_number(s, to, "oversubscription", w->oversubscription);
  return to;
}

static void add_residuals(study *s, struct cJSON *to, const result *r)
{
  double middle[CYCLES];
  int count = 0;
  for (; count < CYCLES && r->residual[count].count > 0; count++) middle[count] = bench_median(&r->residual[count]);
  if (count > 0) study_numbers(s, to, "residual", middle, (size_t)count, 4);
}

static int measure(study *s, setting *w)
{
  static result r; /* large */
  char flying[32] = "all";
  memset(&r, 0, sizeof r);
  if (runs(w, &r)) return 1;
  struct cJSON *to = begin_record(s, w);
  if (*r.skipped) study_text(s, to, "skipped", r.skipped);
  if (w->cycles >= 5) study_spread(s, to, "factor", &r.factor);
  if (w->kind != MODEL) study_spread(s, to, "cycle_seconds", &r.cycle); /* the time of the model means nothing */
  study_spread(s, to, "sweep_seconds", &r.sweep);
  add_residuals(s, to, &r);
  if (w->in_flight) snprintf(flying, sizeof flying, "%d", w->in_flight);
  if (w->oversubscription) snprintf(flying, sizeof flying, "%d a multiprocessor", w->oversubscription);
  if ((w->skipped = *r.skipped != 0)) study_say(s, "%-8s %dD n %zu: skipped: %s", w->part, w->dim, w->n, r.skipped);
  else
    study_say(s, "%-8s %-10s %dD n %zu, block %zu, %s, overlap %d, %d sweeps, %s in flight: factor %.4f (%.4f - %.4f), %.3g s a cycle",
              w->part, w->kind == PLAIN ? w->plain : kinds[w->kind], w->dim, w->n, w->block[0], orders[w->order], w->overlap, w->sweeps,
              flying, bench_median(&r.factor), bench_min(&r.factor), bench_max(&r.factor), bench_median(&r.cycle));
  return 0;
}

static setting base(const study *s, const scale *x, const char *part, int dim, int size)
{
  setting w = {.part = part, .place = study_best(s), .order = GMG_ORDER_NATURAL, .dim = dim, .n = x->n[size][dim], .overlap = 0, .sweeps = 2,
               .local = dim == 1 ? GMG_LOCAL_JACOBI : GMG_LOCAL_RED_BLACK, .omega = weight(dim, 0, 2), .cycles = CYCLES, .runs = x->runs[size]};
  memcpy(w.block, blocks_of[size][dim], sizeof w.block);
  return w;
}

/* --- Table 3: the order --- */

/* The library's blocks in every order: with one in flight (only with two sweeps, the default), and with as many as there are
   threads or room. Also the stale twin, which is the same in every order. */
static int orders_of(study *s, setting w, int no_single)
{
  const int runs_of_chance = w.runs;
  for (int many = w.sweeps != 2 || no_single; many < 2; many++)
    for (int i = 0; i < ORDERS - 1; i++) {
      w.kind = ASYNC, w.order = as_told[i], w.in_flight = many ? 0 : 1;
      w.runs = many || w.order == GMG_ORDER_RANDOM || runs_of_chance < 3 ? runs_of_chance : 3; /* one block after the other gives the same result in every run */
      if (measure(s, &w)) return 1;
    }
  w.kind = TWIN, w.in_flight = 0, w.order = GMG_ORDER_RANDOM, w.runs = 3;
  return measure(s, &w);
}

static int over_order(study *s)
{
  const scale x = scale_of(s);
  for (int size = SMALL_GRID; size <= LARGE_GRID; size++)
    for (int dim = 1; dim <= 3; dim++)
      for (int overlap = 0; overlap < 2; overlap++)
        for (int sweeps = 1; sweeps <= x.most_sweeps; sweeps++) {
          setting w = base(s, &x, "order", dim, size);
          w.overlap = overlap, w.sweeps = sweeps, w.omega = weight(dim, overlap, sweeps);
          if (w.n && (size == SMALL_GRID || sweeps == x.large_sweeps))
            if (orders_of(s, w, size == LARGE_GRID && study_is_device(w.place))) return 1; /* takes a device minutes for each solve */
        }
  return 0;
}

/* The paper's order follows a Gaussian elimination. Gauss-Seidel unknown by unknown is most similar. Blocks of whole lines in
   natural order, one in flight, do this, on the host. */
static int over_elimination(study *s)
{
  const scale x = scale_of(s);
  for (int dim = 1; dim <= 3; dim++) {
    setting w = base(s, &x, "elimination", dim, SMALL_GRID);
    w.place = &s->place[STUDY_HOST], w.local = GMG_LOCAL_GAUSS_SEIDEL, w.sweeps = 1, w.in_flight = 1, w.omega = 1;
    for (int a = 0; a < dim - 1; a++) w.block[a] = w.n;
    w.block[dim - 1] = dim == 1 ? 64 : 4;
    for (int i = 0; i < ORDERS - 1; i++) {
      w.kind = ASYNC, w.order = as_told[i], w.runs = w.order == GMG_ORDER_RANDOM ? x.runs[SMALL_GRID] : 1;
      if (measure(s, &w)) return 1;
    }
    w.kind = PLAIN, w.plain = "gauss_seidel", w.order = GMG_ORDER_NATURAL, w.runs = 1;
    if (measure(s, &w)) return 1;
  }
  return 0;
}

/* --- Table 5: blocks in flight --- */

/* The model in every order, on the host. */
static int flights_of(study *s, setting w)
{
  const int total = (int)blocks(&w), runs_of_chance = w.runs;
  w.kind = MODEL;
  for (int i = 0; i < ORDERS; i++)
    for (int k = 1; k <= total; k = k * 4 < total || k == total ? k * 4 : total) {
      w.order = as_told[i], w.in_flight = k;
      w.runs = w.order == GMG_ORDER_RANDOM && k < total ? runs_of_chance : 1;
      if (measure(s, &w)) return 1;
      if (k == total) break;
    }
  return 0;
}

/* Blocks of one unknown in two colours, with half of the blocks in flight: red-black. */
static int chess_board(study *s, const scale *x, int dim)
{
  setting w = base(s, x, "flight", dim, SMALL_GRID);
  w.kind = MODEL, w.sweeps = 1, w.order = GMG_ORDER_TWO_COLOUR, w.runs = 1, w.levels = 2;
  w.block[0] = w.block[1] = w.block[2] = 1;
  w.in_flight = (int)(blocks(&w) + 1) / 2;
  if (measure(s, &w)) return 1;
  w.kind = PLAIN, w.plain = "red_black";
  return measure(s, &w);
}

static int model_flight(study *s, const scale *x)
{
  for (int dim = 1; dim <= 3; dim++) {
    if (dim > 1 && chess_board(s, x, dim)) return 1;
    for (int overlap = 0; overlap < 2; overlap++) {
      setting w = base(s, x, "flight", dim, SMALL_GRID);
      w.overlap = overlap, w.omega = weight(dim, overlap, w.sweeps);
      if (flights_of(s, w)) return 1;
    }
  }
  return 0;
}

/* Limits of the thread blocks in flight on a device: given numbers, numbers for each multiprocessor as in the paper, and as many
   as fit. */
typedef struct room {
  int in_flight, oversubscription;
} room;

static const room rooms[2][9] = {{{1, 0}, {4, 0}, {16, 0}, {64, 0}, {0, 0}, {-1, 0}},
                                 {{64, 0}, {0, 1}, {0, 2}, {0, 4}, {0, 5}, {0, 8}, {0, 16}, {0, 0}, {-1, 0}}};

/* Backward order is the mirror image of natural order, so it is left out. */
static int rooms_of(study *s, setting w, const room *r)
{
  static const int order[] = {GMG_ORDER_NATURAL, GMG_ORDER_RANDOM, GMG_ORDER_TWO_COLOUR};
  for (int i = 0; i < 3; i++)
    for (const room *at = r; at->in_flight >= 0; at++) {
      w.order = order[i], w.in_flight = at->in_flight, w.oversubscription = at->oversubscription;
      if ((size_t)w.in_flight < blocks(&w) && measure(s, &w)) return 1;
    }
  return 0;
}

/* Small grids, whose blocks all run at once, as in the model; and grids with more blocks, also with overlap. */
static int device_flight(study *s, const scale *x)
{
  for (int dim = 1; dim <= 3; dim++) {
    setting w = base(s, x, "flight", dim, SMALL_GRID);
    if (rooms_of(s, w, rooms[SMALL_GRID])) return 1;
    w = base(s, x, "flight", dim, LARGE_GRID), w.n = filling[dim], w.histories = 1;
    for (; w.n && w.overlap < 2; w.overlap++) {
      w.omega = weight(dim, w.overlap, w.sweeps);
      if (rooms_of(s, w, rooms[LARGE_GRID])) return 1;
    }
  }
  return 0;
}

static int over_flight(study *s)
{
  const scale x = scale_of(s);
  return study_is_device(study_best(s)) ? device_flight(s, &x) : model_flight(s, &x);
}

/* --- Table 4: locality --- */

/* Seconds of a smoothing step, including coarser levels, for block sizes and orders, on grids larger than the caches. */
static int over_locality(study *s)
{
  const scale x = scale_of(s);
  static const size_t sides[4][6] = {{0}, {64, 512, 4096, 32768}, {16, 64, 256}, {4, 8, 16, 32, 64}};
  for (int dim = 1; dim <= 3; dim++)
    for (int i = 0; x.locality[dim] && sides[dim][i]; i++) {
      setting w = base(s, &x, "locality", dim, LARGE_GRID);
      w.n = x.locality[dim], w.overlap = 1, w.omega = weight(dim, 1, 2), w.cycles = 1, w.clocked = 1, w.runs = 3;
      for (int a = 0; a < dim; a++) w.block[a] = sides[dim][i];
      for (int o = 0; o < ORDERS - 1 && !w.skipped; o++) { /* a block that is too large is refused in every order */
        w.order = as_told[o];
        if (measure(s, &w)) return 1;
      }
    }
  return 0;
}

static const study_part parts[] = {
    {"order", over_order}, {"elimination", over_elimination}, {"flight", over_flight}, {"locality", over_locality}, {NULL, NULL}};

static const study_program about = {
    "study_order",
    "Order of the blocks and blocks in flight, for smoothers, after Chow, Anzt, Dongarra (2015). Parts: order and elimination (Table 3),\n"
    "flight (Table 5; of a device its thread blocks, of the host a model), locality (Table 4).",
    parts, 100, 1000000000};

int main(int argc, char **argv) { return study_main(&about, argc, argv); }
