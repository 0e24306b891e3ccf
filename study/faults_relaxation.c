/* Figure 10 and Table 6: async-(5) as a solver. At pass 10 a random quarter of the blocks stops being updated. After 10, 20 or 30
 * passes other workers take them over, or never. */
#include "faults.h"

#include <math.h>
#include <stdio.h>

/* Stencils in place of the paper's matrices: -Lap u + eps u with h = 1 and about as many unknowns. eps gives the Jacobi iteration
 * the spectral radius of the matrix (Table 1). Trefethen_2000 couples unknowns at distances 1, 2, 4, ..., so it has no stencil.
 * Like it, 1D has small couplings between blocks, and 3D has many neighbours. */
static const struct {
  const char *paper;
  int dim;
  size_t n, quick;
  double radius;
  int slow; /* needs thousands of passes, so only with --full */
} matrices[] = {{"Fv1", 2, 98, 32, 0.8541, 0},
                {"Trefethen_2000", 1, 2000, 512, 0.8601, 0},
                {"Trefethen_2000", 3, 13, 8, 0.8601, 0},
                {"Fv3", 2, 99, 32, 0.9993, 1}};
enum { MATRICES = sizeof matrices / sizeof *matrices };

/* As in the paper a block consists of about 128 consecutive unknowns: of a line in 2D, of a plane in 3D. */
static const size_t block[4][3] = {{0}, {128, 1, 1}, {99, 1, 1}, {13, 10, 1}}, quick_block[4][3] = {{0}, {32, 1, 1}, {32, 1, 1}, {8, 4, 1}};

enum { BREAK_PASS = 10, MAX_PASSES = 20000, PASSES_AFTER_BREAK = 100, HISTORY = 100 };
#define TOLERANCE 1e-12

typedef struct wait {
  const char *name;
  int passes; /* 0: no fault; -1: no recovery */
} wait;

static const wait waits[] = {{"undisturbed", 0}, {"recover-(10)", 10}, {"recover-(20)", 20}, {"recover-(30)", 30}, {"no recovery", -1}};
enum { WAITS = sizeof waits / sizeof *waits };

typedef struct outcome {
  bench_samples passes, extra, percent, last, working; /* working: the part of the last residual on the unknowns that are still updated */
  double share;
  int length; /* length of the history of the first run */
  double history[HISTORY + 1];
  unsigned long seed;
} outcome;

/* Runs to the tolerance. Without recovery it runs for so many passes that the residual no longer falls. */
static int one_run(patient *x, const wait *w, int scattered, unsigned long seed, int keep, outcome *to)
{
  const fault f = {.kind = w->passes ? FAULT_BLOCKS : FAULT_NONE, .first = BREAK_PASS,
                   .cycles = w->passes < 0 ? MAX_PASSES : w->passes,
                   .share = 0.25, .seed = seed, .scattered = scattered};
  const int limit = w->passes < 0 ? BREAK_PASS + PASSES_AFTER_BREAK : MAX_PASSES;
  const size_t n[3] = {x->problem.n[0], x->problem.dim > 1 ? x->problem.n[1] : 1, x->problem.dim > 2 ? x->problem.n[2] : 1};
  double lost = 0, left = 1;
  int pass = 0;
  if (study_patient_start(x)) return 1;
  study_faulty_set(x->faulty, &f, GMG_F64, 0, NULL);
  to->share = (double)study_faulty_lost(&f, n, x->params.async.block, x->mark) / (double)demo_cells(&x->problem);
  const double start = study_patient_residual(x, NULL, NULL);
  if (keep) to->history[0] = 1, to->seed = seed;
  while (pass < limit && left > TOLERANCE) {
    study_faulty_relax(x->faulty, x->f.there, x->u.there);
    left = study_patient_residual(x, x->mark, &lost) / start;
    pass++;
    if (keep && pass <= HISTORY) to->history[pass] = left, to->length = pass;
  }
  if (w->passes && study_faulty_changed(x->faulty) == 0)
    return demo_fail(&x->place->demo, "relaxation, %s: nothing broke", w->name);
  if (left <= TOLERANCE) bench_add(&to->passes, pass);
  bench_add(&to->last, left);
  bench_add(&to->working, sqrt(fmax(0, left * left - lost / start * (lost / start))));
  return 0;
}

static void record(study *s, int m, const patient *x, const wait *w, int scattered, const outcome *r)
{
  struct cJSON *to = study_record(s, "relaxation");
  double side[3];
  study_text(s, to, "matrix", matrices[m].paper);
  study_number(s, to, "dim", x->problem.dim);
  study_number(s, to, "n", (double)x->problem.n[0]);
  study_number(s, to, "eps", study_rounded(x->problem.shift, 6));
  for (int a = 0; a < 3; a++) side[a] = (double)x->params.async.block[a];
  study_numbers(s, to, "block", side, (size_t)x->problem.dim, 6);
  study_text(s, to, "method", x->params.deterministic ? "async-(5), stale" : "async-(5)");
  study_where(s, to, x->place);
  study_text(s, to, "lost", scattered ? "unknowns" : "blocks");
  study_text(s, to, "recovery", w->name);
  study_number(s, to, "tolerance", TOLERANCE);
  study_number(s, to, "share", study_rounded(r->share, 3));
  study_spread(s, to, "passes", &r->passes);
  study_spread(s, to, "extra", &r->extra);
  if (!scattered) study_spread(s, to, "percent", &r->percent);
  if (w->passes < 0) study_spread(s, to, "last", &r->last), study_spread(s, to, "working", &r->working);
  if (scattered || !r->length || matrices[m].slow) return;
  study_number(s, to, "seed", (double)r->seed);
  study_numbers(s, to, "history", r->history, (size_t)r->length + 1, 3);
}

static int all_waits(study *s, int m, patient *x, int scattered, int runs)
{
  double undisturbed = NAN;
  for (int i = 0; i < WAITS; i++) {
    outcome r = {.length = 0};
    for (int run = 0; run < runs; run++)
      if (one_run(x, &waits[i], scattered, (unsigned long)run + 1, run == 0, &r)) return 1;
    if (i == 0) undisturbed = bench_median(&r.passes);
    for (int k = 0; i > 0 && k < r.passes.count; k++) {
      bench_add(&r.extra, r.passes.value[k] - undisturbed);
      bench_add(&r.percent, 100 * (r.passes.value[k] / undisturbed - 1));
    }
    record(s, m, x, &waits[i], scattered, &r);
    study_say(s, "%-14s %dD %-16s %-8s lost, %-12s: residual %.1e after %g passes", matrices[m].paper, x->problem.dim,
              x->params.deterministic ? "async-(5), stale" : "async-(5)", scattered ? "unknowns" : "blocks", waits[i].name,
              bench_median(&r.last), r.passes.count ? bench_median(&r.passes) : BREAK_PASS + PASSES_AFTER_BREAK);
  }
  return 0;
}

static int one_matrix(study *s, int m, int stale, int runs)
{
  const int dim = matrices[m].dim, quick = s->options.scale == STUDY_QUICK;
  const size_t n = quick ? matrices[m].quick : matrices[m].n;
  const double pi = 3.14159265358979323846, eps = 2 * dim * (cos(pi / (double)(n + 1)) / matrices[m].radius - 1);
  const gmg_problem p = study_problem(dim, n, eps);
  gmg_params q = study_params();
  patient x;
  gmg_params_set_preset(&q, "async-2011");
  q.omega = 1, q.async.passes = 1, q.deterministic = stale, q.precision = GMG_PRECISION_SAME, q.accel = GMG_ACCEL_NONE;
  q.max_levels = 2, q.coarse_cells = 2; /* the second is not used */
  for (int a = 0; a < 3; a++) q.async.block[a] = (quick ? quick_block : block)[dim][a];
  int failed = study_patient_admit(&x, study_best(s), &p, &q);
  for (int scattered = 0; scattered < 2 && !failed; scattered++) failed = all_waits(s, m, &x, scattered, runs);
  study_patient_release(&x);
  return failed;
}

int study_faults_relaxation(study *s)
{
  static const int usual[STUDY_SCALES] = {3, 10, 200};
  const int runs = s->options.runs ? s->options.runs : usual[s->options.scale];
  for (int m = 0; m < MATRICES; m++)
    for (int stale = 0; stale < 2; stale++)
      if (!matrices[m].slow || s->options.scale == STUDY_FULL)
        if (one_matrix(s, m, stale, matrices[m].slow ? 5 : runs)) return 1;
  return 0;
}
