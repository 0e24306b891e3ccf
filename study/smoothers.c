/* Asynchronous smoothers against classical ones, after Anzt, Dongarra, Gates, Tomov, "Block-asynchronous multigrid smoothers for
 * GPU-accelerated systems" (2011): its Figures 4 to 7 and Table 1; errors that undamped local sweeps leave, and remedies; two and
 * three dimensions. docs/study-smoothers.md shows the results, and says how they were measured.
 *
 * The problem is -Lap u + eps u = f with h = 1 and zero Dirichlet walls. Corrections are in double, V cycles, no acceleration, CG
 * to 1e-6 on the coarsest grid. f is random and the guess zero, unless a record says otherwise. */
#include "experiment.h"

#include <math.h>
#include <stdio.h>

/* Unknowns along an axis in 1D, 2D, 3D; of "size", and of "table" in 1D, the most. Runs; eps from 10^least_power on. */
typedef struct scale {
  size_t condition[4], size[4], table[4], breakdown[4], start[4];
  int runs, least_power;
} scale;

static const scale scales[STUDY_SCALES] = {
    [STUDY_QUICK] = {{0, 4095, 31, 15}, {0, 4095, 31, 15}, {0, 4095, 31, 15}, {0, 4095, 31, 15}, {0, 4095, 63, 31}, 3, -2},
    [STUDY_DEFAULT] = {{0, 10000, 127, 31}, {0, 100000, 255, 31}, {0, 100000, 127, 31}, {0, 100000, 127, 31}, {0, 10000, 127, 31}, 3, -6},
    [STUDY_FULL] = {{0, 10000000, 1023, 127}, {0, 100000000, 1023, 127}, {0, 10000000, 1023, 127}, {0, 10000000, 1023, 127},
                    {0, 65535, 1023, 127}, 3, -6}};

static scale scale_of(const study *s)
{
  scale x = scales[s->options.scale];
  const size_t n = (size_t)s->options.n;
  if (n) x.condition[1] = x.size[1] = x.table[1] = x.breakdown[1] = n, x.start[1] = n < x.start[1] ? n : x.start[1];
  if (s->options.runs) x.runs = s->options.runs;
  return x;
}

/* Beside a device some settings of the host have fewer unknowns, because they would take minutes. Conjugate gradients on the
   coarse one of two grids in 1D do thousands of iterations if eps is small, and hundreds at 1e-3. This affects Gauss-Seidel in
   "condition" for smaller eps and for the start that the paper does not have, and columns that the paper does not have. The
   missing rows of Figures 4, 5 and 6 are separate parts of the program, which can run at the same time. */
enum { SERIAL_CONDITION = 100000, SERIAL_SIZE = 10000000, HOST_COLUMNS = 1000000 };

static int spared(const study *s, int on_host, const setting *w, size_t most)
{
  return on_host && w->dim == 1 && w->n > most && study_is_device(study_best(s));
}

/* Larger sizes, and eps < 1e-4, have a single run: with so many blocks runs agree in all digits that are shown. */
enum { SINGLE_RUN_UNKNOWNS = 1000000 };

/* Two grids and eps = 1e-3. Gauss-Seidel runs on the host. The paper has only 1D. */
static setting base(const study *s, const char *part, const char *paper, const char *method, int dim)
{
  const study_place *place = study_method_named(method)->serial ? &s->place[STUDY_HOST] : study_best(s);
  return (setting){.part = part, .paper = dim == 1 ? paper : "", .method = study_method_named(method), .place = place, .dim = dim,
                   .eps = 1e-3,
                   .steps = 2, .levels = 2, .cycles = 12, .rtol = NEVER, .runs = scale_of(s).runs};
}

/* The paper's two smoothers, and the second one with damped local sweeps. */
static const char *const compared[] = {"gauss_seidel", "async-2011", "async-2011, damped"};
enum { COMPARED = sizeof compared / sizeof *compared };

static const char *const figures[] = {"", "Figure 4", "Figure 5"}; /* index: steps */

/* Figures 4 and 5: two grids, 1 and 2 smoothing steps, over the condition number. 2D and 3D have every second condition number.
   Gauss-Seidel also starts from a random u, which gives the factor that theory predicts. */
static int over_condition(study *s)
{
  const scale x = scale_of(s);
  for (int dim = 1; dim <= 3; dim++)
    for (int steps = 1; steps <= 2; steps++)
      for (int power = -1; power >= x.least_power; power -= dim == 1 ? 1 : 2)
        for (int m = 0; m < COMPARED; m++)
          for (int start = START_F_RANDOM; start <= (m == 0 ? START_U_RANDOM : START_F_RANDOM); start += START_U_RANDOM) {
            setting w = base(s, "condition", figures[steps], compared[m], dim);
            w.n = x.condition[dim], w.steps = steps, w.eps = pow(10, power), w.start = start;
            const size_t most = power >= -3 && start == START_F_RANDOM ? SERIAL_SIZE : SERIAL_CONDITION;
            if (spared(s, w.method->serial, &w, most)) w.n = most;
            if (w.n > SINGLE_RUN_UNKNOWNS && power < -4) w.runs = 1;
            if (start == START_U_RANDOM) w.rtol = 1e-30;
            if (study_measure(s, &w)) return 1;
          }
  return 0;
}

/* The paper's rows that are left out on the host of a device. */
static int spared_condition(study *s, int steps)
{
  const scale x = scale_of(s);
  for (int power = -4; power >= x.least_power; power--) {
    setting w = base(s, "condition", figures[steps], compared[0], 1);
    w.n = x.condition[1], w.steps = steps, w.eps = pow(10, power), w.runs = 1;
    if (spared(s, 1, &w, SERIAL_CONDITION) && study_measure(s, &w)) return 1;
  }
  return 0;
}

static int figure_4(study *s) { return spared_condition(s, 1); }
static int figure_5(study *s) { return spared_condition(s, 2); }

/* Sizes that are nested in the next larger one; in 1D those of the paper. */
static size_t first_size(int dim, size_t most)
{
  static const size_t least[4] = {0, 10000, 63, 15};
  return most < least[dim] ? most : least[dim];
}

static size_t next_size(int dim, size_t n) { return dim == 1 ? 10 * n : dim == 2 ? 4 * n + 3 : 2 * n + 1; }

/* Figure 6: two grids, 2 steps, over the size. */
static int over_size(study *s)
{
  const scale x = scale_of(s);
  for (int dim = 1; dim <= 3; dim++)
    for (size_t n = first_size(dim, x.size[dim]); n <= x.size[dim]; n = next_size(dim, n))
      for (int m = 0; m < COMPARED; m++) {
        setting w = base(s, "size", "Figure 6", compared[m], dim);
        w.n = n;
        if (!spared(s, w.method->serial, &w, SERIAL_SIZE) && study_measure(s, &w)) return 1;
      }
  return 0;
}

static int figure_6(study *s)
{
  const scale x = scale_of(s);
  setting w = base(s, "size", "Figure 6", compared[0], 1);
  w.n = x.size[1], w.runs = 1;
  return spared(s, 1, &w, SERIAL_SIZE) ? study_measure(s, &w) : 0;
}

/* The columns of Table 1 and the bars of Figure 7: smoother, and where it runs. They are the paper's (async-(5) is damped, so that
   it converges); async-(5) on the threads of the host; everything on the device, which the paper only announces; and gmg's
   default. ours: on a host, and not in the paper. */
static const struct {
  const char *name, *method;
  int place, offload, no_clock, ours;
} columns[] = {{"gauss_seidel, host", "gauss_seidel", STUDY_HOST, 0, 0, 0},
               {"async-(5), host", "async-2011, damped", STUDY_HOST, 0, 0, 1},
               {"async-(5), offloaded", "async-2011, damped", STUDY_HOST, 1, 0, 0},
               {"async-(5), device", "async-2011, damped", STUDY_DEVICE, 0, 0, 0},
               {"async, host", "async", STUDY_HOST, 0, 0, 1},
               {"async, device", "async", STUDY_DEVICE, 0, 0, 0},
               {"async, device, no clock", "async", STUDY_DEVICE, 0, 1, 0}};
enum { COLUMNS = sizeof columns / sizeof *columns };

static int all_columns(study *s, setting w)
{
  w.rtol = 1e-6, w.cycles = 100, w.timed = 1;
  for (int c = 0; c < COLUMNS; c++) {
    w.column = columns[c].name, w.method = study_method_named(columns[c].method), w.place = &s->place[columns[c].place];
    w.offload = columns[c].offload, w.no_clock = columns[c].no_clock;
    if (!spared(s, columns[c].ours, &w, HOST_COLUMNS) && study_measure(s, &w)) return 1;
  }
  return 0;
}

/* Table 1: seconds of the smoother in a solve to 1e-6 of f, with 2 to 5 levels. 2D and 3D have one size. */
static int table_1(study *s)
{
  const scale x = scale_of(s);
  for (int dim = 1; dim <= 3; dim++)
    for (size_t n = dim == 1 ? first_size(dim, x.table[dim]) : x.table[dim]; n <= x.table[dim]; n = next_size(dim, n))
      for (int levels = 2; levels <= 5; levels++) {
        setting w = base(s, "table", "Table 1", "async", dim);
        w.n = n, w.levels = levels;
        if (all_columns(s, w)) return 1;
      }
  return 0;
}

/* Figure 7: parts of the time of a V cycle, over the smoothing steps, with 10 levels or as many as there are. The estimated
   condition number is 1e6. */
static int breakdown(study *s)
{
  const scale x = scale_of(s);
  for (int dim = 1; dim <= 3; dim++)
    for (int steps = 1; steps <= 8; steps *= 2) {
      setting w = base(s, "breakdown", "Figure 7", "async", dim);
      w.n = x.breakdown[dim], w.eps = 4e-6, w.levels = 10, w.steps = steps;
      if (all_columns(s, w)) return 1;
    }
  return 0;
}

/* Beyond the paper: V cycles from three starts, and the remedies. */
static int over_start(study *s)
{
  const scale x = scale_of(s);
  for (int dim = 1; dim <= 3; dim++)
    for (int steps = 1; steps <= 2; steps++)
      for (const method *m = study_methods; m->name; m++)
        for (int start = 0; start < STARTS; start++) {
          setting w = base(s, "start", "", m->name, dim);
          w.n = x.start[dim], w.eps = 1e-6, w.steps = steps, w.levels = 0, w.start = start, w.cycles = 20;
          w.rtol = start == START_U_RANDOM ? 1e-30 : 1e-6;
          if (start == START_F_ONE) w.runs = 1; /* starts for the number of cycles */
          if (dim > 1 || !m->rows)
            if (study_measure(s, &w)) return 1;
        }
  return 0;
}

static const study_part parts[] = {{"condition", over_condition}, {"size", over_size},   {"table", table_1},
                                   {"breakdown", breakdown},      {"start", over_start}, {"figure4", figure_4},
                                   {"figure5", figure_5},         {"figure6", figure_6}, {NULL, NULL}};

static const study_program about = {
    "study_smoothers",
    "Asynchronous smoothers against classical ones, after Anzt, Dongarra, Gates, Tomov (2011). Parts: condition (Figures 4, 5),\n"
    "size (Figure 6), table (Table 1), breakdown (Figure 7), start (random starting errors, cures). All in 1D, where --n counts, 2D and 3D.\n"
    "figure4, figure5, figure6: what these spare the host beside a device, Gauss-Seidel where it takes minutes; else nothing.",
    parts, 1000, 1000000000};

int main(int argc, char **argv) { return study_main(&about, argc, argv); }
