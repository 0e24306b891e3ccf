/* Random faults of four kinds inside multigrid, on a random level, in a random cycle. After each solve the answer is judged by our
 * own residual, and the solver solves once more without a fault. */
#include "faults.h"

#include <math.h>
#include <stdio.h>

/* How corrections are computed, and in which type on the levels. */
static const struct {
  const char *name;
  gmg_cycle_kind cycle;
  gmg_precision precision;
  gmg_accel accel;
} ways[] = {{"V cycles, double", GMG_CYCLE_V, GMG_PRECISION_SAME, GMG_ACCEL_NONE},
            {"V cycles, float levels", GMG_CYCLE_V, GMG_PRECISION_MIXED, GMG_ACCEL_NONE},
            {"F cycles, double", GMG_CYCLE_F, GMG_PRECISION_SAME, GMG_ACCEL_NONE},
            {"flexible CG, float levels", GMG_CYCLE_V, GMG_PRECISION_MIXED, GMG_ACCEL_FLEXIBLE_CG}};
enum { WAYS = sizeof ways / sizeof *ways };

enum { BLOCKS, BIT_LEVEL, BIT_U, CORRECTION, KINDS };
static const char *const kinds[] = {"blocks lost", "bit flipped in a level's u", "bit flipped in the caller's u", "correction lost"};

enum { LEVELS = 32, BITS = 64, MOST_CYCLES = 60, FEWER = 5, EXTRA = FEWER + MOST_CYCLES + 1, AGAIN = 16 };

typedef struct tally {
  int faults, injected, ended[GMG_DIVERGED + 1], errors, wrong, misreported, again, unusable;
  int extra[EXTRA]; /* histogram of solves that converged, by FEWER + number of extra cycles */
} tally;

typedef struct bits {
  int count[BITS], worst[BITS], lost[BITS]; /* flipped, most extra cycles, not converged */
} bits;

typedef struct ward {
  study *s;
  patient x;
  int way, undisturbed, levels;
  uint64_t random;
  tally by[KINDS][LEVELS + 1]; /* 0 is for the caller's u, level + 1 for a level */
  bits *bits;                  /* [KINDS] */
} ward;

static size_t cells_of(const ward *w) { return demo_cells(&w->x.problem); }

static int pick(ward *w, int count) { return (int)(study_uniform(&w->random) * count); }

static fault random_fault(ward *w, int kind)
{
  fault f = {.level = pick(w, w->levels - 1), .first = pick(w, w->undisturbed), .cycles = 1}; /* the coarsest is not smoothed */
  if (kind == BLOCKS)
    f.kind = FAULT_BLOCKS, f.cycles = 1 + pick(w, 3), f.share = 0.5 * study_uniform(&w->random), f.seed = (unsigned long)pick(w, 1 << 30);
  if (kind == BIT_LEVEL || kind == BIT_U)
    f.kind = FAULT_BIT, f.up = pick(w, 2), f.bit = pick(w, BITS), f.place = study_uniform(&w->random);
  if (kind == BIT_U) f.level = -1;
  if (kind == CORRECTION) f.kind = FAULT_CORRECTION;
  return f;
}

/* Solves with the fault. truth: our own residual of the returned u. */
static int attempt(ward *w, const fault *f, gmg_report *r, double *truth)
{
  patient *x = &w->x;
  if (study_patient_start(x)) return 1;
  study_faulty_set(x->faulty, f, x->problem.type, cells_of(w), x->u.there);
  r->status = gmg_solve(x->solver, x->f.there, x->u.there, r);
  *truth = study_patient_residual(x, NULL, NULL);
  return *truth == -1;
}

static int solved(const gmg_report *r, double truth) { return r->status == GMG_OK && truth <= 1.001 * r->target; }

/* Whether the reported residual is that of the returned u, up to rounding. */
static int told_truly(const gmg_report *r, double truth)
{
  if (!isfinite(truth)) return !(r->residual < 1e150); /* squares of larger numbers overflow */
  return fabs(r->residual - truth) <= 1e-3 * (truth + r->target);
}

static int once_more(ward *w, tally *t)
{
  static const fault none = {.kind = FAULT_NONE};
  gmg_report r;
  double truth;
  if (attempt(w, &none, &r, &truth)) return 1;
  t->again++;
  t->unusable += !solved(&r, truth) || r.cycles > w->undisturbed + 1;
  return 0;
}

static void note_bit(const ward *w, int kind, const fault *f, int extra, int lost)
{
  const int floats = kind == BIT_LEVEL && ways[w->way].precision == GMG_PRECISION_MIXED, bit = f->bit % (floats ? 32 : 64);
  bits *b = &w->bits[kind];
  b->count[bit]++;
  b->lost[bit] += lost;
  if (!lost && extra > b->worst[bit]) b->worst[bit] = extra;
}

static int one_fault(ward *w, int number)
{
  const int kind = number % KINDS;
  const fault f = random_fault(w, kind);
  tally *t = &w->by[kind][f.level + 1];
  gmg_report r;
  double truth;
  if (attempt(w, &f, &r, &truth)) return 1;
  const int happened = study_faulty_changed(w->x.faulty) > 0, extra = r.cycles - w->undisturbed;
  t->faults++, t->injected += happened;
  if (!gmg_status_is_outcome(r.status)) t->errors++;
  else t->ended[r.status]++;
  t->wrong += r.status == GMG_OK && !solved(&r, truth);
  t->misreported += gmg_status_is_outcome(r.status) && !told_truly(&r, truth);
  if (r.status == GMG_OK) t->extra[FEWER + (extra < -FEWER ? -FEWER : extra)]++;
  if (f.kind == FAULT_BIT && happened) note_bit(w, kind, &f, extra, r.status != GMG_OK);
  return r.status != GMG_OK || number % AGAIN < KINDS ? once_more(w, t) : 0;
}

/* --- the records --- */

/* Members that are zero are left out, because there are many records. */
static void add_counts(study *s, struct cJSON *to, const tally *t, int zeros)
{
  const struct {
    const char *name;
    int value;
  } counts[] = {{"faults", t->faults},
                {"injected", t->injected},
                {"converged", t->ended[GMG_OK]},
                {"not_converged", t->ended[GMG_NOT_CONVERGED]},
                {"stagnated", t->ended[GMG_STAGNATED]},
                {"diverged", t->ended[GMG_DIVERGED]},
                {"errors", t->errors},
                {"wrong", t->wrong},
                {"misreported", t->misreported},
                {"again", t->again},
                {"unusable", t->unusable}};
  double extra[EXTRA], times[EXTRA];
  size_t length = 0;
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
    if (zeros || counts[i].value) study_number(s, to, counts[i].name, counts[i].value);
  for (int i = 0; i < EXTRA; i++)
    if (t->extra[i]) extra[length] = i - FEWER, times[length++] = t->extra[i];
  study_numbers(s, to, "extra", extra, length, 6);
  study_numbers(s, to, "times", times, length, 6);
}

static void record(const ward *w, int kind, int level)
{
  const tally *t = &w->by[kind][level + 1];
  if (t->faults == 0) return;
  struct cJSON *to = study_record(w->s, "multigrid");
  study_number(w->s, to, "dim", w->x.problem.dim);
  study_text(w->s, to, "way", ways[w->way].name);
  study_text(w->s, to, "kind", kinds[kind]);
  study_number(w->s, to, "level", level);
  add_counts(w->s, to, t, 0);
}

static tally sum(const ward *w)
{
  tally all = {0};
  for (int k = 0; k < KINDS; k++)
    for (int l = 0; l <= LEVELS; l++) {
      const tally *t = &w->by[k][l];
      all.faults += t->faults, all.injected += t->injected, all.wrong += t->wrong, all.misreported += t->misreported;
      all.unusable += t->unusable, all.again += t->again, all.errors += t->errors;
      for (int i = 0; i <= GMG_DIVERGED; i++) all.ended[i] += t->ended[i];
      for (int i = 0; i < EXTRA; i++) all.extra[i] += t->extra[i];
    }
  return all;
}

static void record_sum(const ward *w)
{
  const tally all = sum(w);
  int worst = EXTRA - 1;
  while (worst > FEWER && !all.extra[worst]) worst--;
  struct cJSON *to = study_record(w->s, "ward");
  study_number(w->s, to, "dim", w->x.problem.dim);
  study_number(w->s, to, "n", (double)w->x.problem.n[0]);
  study_text(w->s, to, "way", ways[w->way].name);
  study_where(w->s, to, w->x.place);
  study_number(w->s, to, "levels", w->levels);
  study_number(w->s, to, "undisturbed", w->undisturbed);
  study_number(w->s, to, "tolerance", w->x.params.rtol);
  add_counts(w->s, to, &all, 1);
  study_say(w->s,
            "%dD %-25s: %d cycles; %d faults (%d changed something): %d converged, at most %d more cycles, %d not, %d stagnated, "
            "%d diverged; %d errors, %d wrong, %d told wrongly, %d unusable afterwards",
            w->x.problem.dim, ways[w->way].name, w->undisturbed, all.faults, all.injected, all.ended[GMG_OK], worst - FEWER,
            all.ended[GMG_NOT_CONVERGED], all.ended[GMG_STAGNATED], all.ended[GMG_DIVERGED], all.errors, all.wrong, all.misreported,
            all.unusable);
}

static void record_bits(study *s, int way, int kind, const bits *b)
{
  double count[BITS], worst[BITS], lost[BITS];
  const int floats = kind == BIT_LEVEL && ways[way].precision == GMG_PRECISION_MIXED, many = floats ? 32 : 64;
  for (int i = 0; i < many; i++) count[i] = b->count[i], worst[i] = b->worst[i], lost[i] = b->lost[i];
  struct cJSON *to = study_record(s, "bits");
  study_text(s, to, "way", ways[way].name);
  study_text(s, to, "kind", kinds[kind]);
  study_text(s, to, "type", floats ? "float" : "double");
  study_numbers(s, to, "count", count, (size_t)many, 6);
  study_numbers(s, to, "most_extra", worst, (size_t)many, 6);
  study_numbers(s, to, "not_converged", lost, (size_t)many, 6);
}

/* --- all of them --- */

/* Checks the check: significant bits are flipped after the solver's last test. The solver says that it has converged, and our
 * residual must show that each answer is wrong. */
static int control(ward *w, int faults)
{
  int said = 0, found = 0;
  for (int i = 0; i < faults; i++) {
    const fault f = {.kind = FAULT_BIT, .level = -1, .cycles = MOST_CYCLES + 1, .late = 1, .bit = 48 + i % 14,
                     .place = study_uniform(&w->random)};
    gmg_report r;
    double truth;
    if (attempt(w, &f, &r, &truth)) return 1;
    said += r.status == GMG_OK && study_faulty_changed(w->x.faulty) == 1;
    found += r.status == GMG_OK && !solved(&r, truth) && !told_truly(&r, truth);
  }
  struct cJSON *to = study_record(w->s, "control");
  study_number(w->s, to, "dim", w->x.problem.dim);
  study_text(w->s, to, "way", ways[w->way].name);
  study_number(w->s, to, "faults", faults);
  study_number(w->s, to, "said_to_converge", said);
  study_number(w->s, to, "found_wrong", found);
  study_say(w->s, "%dD %-25s: of %d bits flipped after the last test %d are found", w->x.problem.dim, ways[w->way].name, faults,
            found);
  return 0;
}

static int undisturbed(ward *w)
{
  static const fault none = {.kind = FAULT_NONE};
  bench_samples cycles = {.count = 0};
  gmg_report r;
  double truth;
  for (int i = 0; i < 5; i++) {
    if (attempt(w, &none, &r, &truth)) return 1;
    if (!solved(&r, truth)) return demo_fail(&w->x.place->demo, "undisturbed: %s, residual %g", demo_status_name(r.status), truth);
    bench_add(&cycles, r.cycles);
  }
  w->undisturbed = (int)bench_median(&cycles), w->levels = r.levels;
  return w->levels > LEVELS;
}

static int one_ward(study *s, int dim, size_t n, int way, int faults, bits *b)
{
  static const size_t block[4][3] = {{0}, {128, 1, 1}, {32, 16, 1}, {16, 8, 8}};
  static ward w; /* large */
  const gmg_problem p = study_problem(dim, n, 0);
  gmg_params q = study_params();
  q.cycle = ways[way].cycle, q.precision = ways[way].precision, q.accel = ways[way].accel;
  q.max_cycles = MOST_CYCLES, q.rtol = 1e-8;
  for (int a = 0; a < 3; a++) q.async.block[a] = block[dim][a];
  w = (ward){.s = s, .way = way, .random = (uint64_t)(1000 * dim + way), .bits = b};
  int failed = study_patient_admit(&w.x, study_best(s), &p, &q) || undisturbed(&w);
  for (int i = 0; i < faults && !failed; i++) failed = one_fault(&w, i);
  for (int k = 0; k < KINDS && !failed; k++)
    for (int l = -1; l < w.levels; l++) record(&w, k, l);
  if (!failed) record_sum(&w);
  if (!failed) failed = control(&w, 14);
  study_patient_release(&w.x);
  return failed;
}

int study_faults_multigrid(study *s)
{
  static const struct {
    size_t n[4];
    int faults; /* number of faults for each way */
  } scales[STUDY_SCALES] = {{{0, 250, 31, 15}, 24}, {{0, 1000, 127, 31}, 160}, {{0, 4000, 511, 127}, 800}};
  for (int way = 0; way < WAYS; way++) {
    bits b[KINDS] = {{.count = {0}}};
    for (int dim = 1; dim <= 3; dim++) {
      const size_t n = dim == 1 && s->options.n ? (size_t)s->options.n : scales[s->options.scale].n[dim];
      if (one_ward(s, dim, n, way, scales[s->options.scale].faults, b)) return 1;
    }
    record_bits(s, way, BIT_LEVEL, &b[BIT_LEVEL]);
    record_bits(s, way, BIT_U, &b[BIT_U]);
  }
  return 0;
}
