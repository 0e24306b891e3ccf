/* Speed of gmg on the host: every row of the table below, measured in one run together with the memory's speed, as JSON.
 * README.md says what each row means and what it should be. */
#include "rows.h"
#include "triad.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SIZES = 8, TRIAD_RUNS = 5 };

static const double QUIET = 0.8; /* a row is marked as disturbed if the triad before it was slower than this share of its median */

#define SAME GMG_PRECISION_SAME
#define BEST GMG_PRECISION_AUTO

#define CYCLE_WHAT "one V(1,1) cycle: difference of solves of 7 and of 2 cycles over 5"
#define SOLVE_WHAT "gmg_solve() to the tolerance by cycles, create excluded, default parameters"
#define CHECKED ", residual measured every cycle"
#define UNCHECKED ", check_every = GMG_NONE"
#define FMG_WHAT "full multigrid, one V(1,1) a level, max_cycles = 1"
static const bench_row rows[] = {
    /* name, what, measure, smoother, f, rtol, contrast of beta, check_every, fmg, every size, precision, directly */
    {"triad_large", "triad, three arrays four times a field", bench_triad_row, NULL, BENCH_RANDOM, 0, 0, 0, 0, 0, BEST, 0},
    {"residual", "one gmg_residual()", bench_residual, NULL, BENCH_RANDOM, 0, 0, 1, 0, 0, BEST, 0},
    {"v11_red_black", CYCLE_WHAT UNCHECKED ", red_black", bench_cycle, "red_black", BENCH_RANDOM, 0, 0, 0, 0, 0, SAME, 0},
    {"v11_red_black_checked", CYCLE_WHAT CHECKED ", red_black", bench_cycle, "red_black", BENCH_RANDOM, 0, 0, 1, 0, 0, SAME, 0},
    {"v11_async", CYCLE_WHAT UNCHECKED ", async", bench_cycle, "async", BENCH_RANDOM, 0, 0, 0, 0, 0, BEST, 0},
    {"v11_async_checked", CYCLE_WHAT CHECKED ", async", bench_cycle, "async", BENCH_RANDOM, 0, 0, 1, 0, 0, BEST, 0},
    {"v11_async_float", CYCLE_WHAT UNCHECKED ", async, a float problem", bench_cycle_float, "async", BENCH_RANDOM, 0, 0, 0, 0, 0, BEST, 0},
    {"v11_async_double", CYCLE_WHAT UNCHECKED ", async", bench_cycle, "async", BENCH_RANDOM, 0, 0, 0, 0, 0, SAME, 0},
    {"v11_async_double_checked", CYCLE_WHAT CHECKED ", async", bench_cycle, "async", BENCH_RANDOM, 0, 0, 1, 0, 0, SAME, 0},
    {"solve_async", SOLVE_WHAT ": async", bench_solve, "async", BENCH_RANDOM, 1e-8, 0, 1, 0, 1, BEST, 0},
    {"solve_async_double", SOLVE_WHAT ": async", bench_solve, "async", BENCH_RANDOM, 1e-8, 0, 1, 0, 1, SAME, 0},
    {"solve_red_black", SOLVE_WHAT " but the smoother red_black", bench_solve, "red_black", BENCH_RANDOM, 1e-8, 0, 1, 0, 1, BEST, 0},
    {"solve_direct", "gmg_solve() to the tolerance, directly, create excluded", bench_solve, NULL, BENCH_RANDOM, 1e-8, 0, 1, 0, 1, BEST,
     1},
    {"create_direct", "gmg_solver_create() for a direct solve", bench_create, NULL, BENCH_RANDOM, 0, 0, 1, 0, 0, BEST, 1},
    {"fmg", FMG_WHAT UNCHECKED, bench_fmg, NULL, BENCH_SMOOTH, 0, 0, 0, 1, 0, BEST, 0},
    {"fmg_checked", FMG_WHAT CHECKED, bench_fmg, NULL, BENCH_SMOOTH, 0, 0, 1, 1, 0, BEST, 0},
    {"create", "gmg_solver_create() for cycles, default parameters", bench_create, NULL, BENCH_RANDOM, 0, 0, 1, 0, 0, BEST, 0},
    {"memory", "gmg_plan()'s bytes beyond u and f", bench_memory, NULL, BENCH_RANDOM, 0, 0, 1, 0, 0, BEST, 0},
    {"solve_beta", SOLVE_WHAT, bench_solve, NULL, BENCH_RANDOM, 1e-8, 1e4, 1, 0, 1, BEST, 0},
    {"solve_beta_one", SOLVE_WHAT, bench_solve, NULL, BENCH_ONE, 1e-8, 1e4, 1, 0, 1, BEST, 0},
    {"v11_beta", CYCLE_WHAT UNCHECKED, bench_cycle, NULL, BENCH_RANDOM, 0, 1e4, 0, 0, 0, BEST, 0},
    {"create_beta", "gmg_solver_create()", bench_create, NULL, BENCH_RANDOM, 0, 1e4, 1, 0, 0, BEST, 0},
    {"memory_beta", "gmg_plan()'s bytes beyond u, f and beta", bench_memory, NULL, BENCH_RANDOM, 0, 1e4, 1, 0, 0, BEST, 0},
    {"update_beta", "gmg_solver_update() with a new beta", bench_update, NULL, BENCH_RANDOM, 0, 1e4, 1, 0, 0, BEST, 0},
};
enum { ROWS = sizeof rows / sizeof *rows };

typedef struct settings {
  const char *json, *only;
  int runs, threads, sizes;
  size_t n[MOST_SIZES];
} settings;

static const char help_text[] =
    "bench_cpu: speed of gmg on the host, with the memory's speed measured in the same run.\n"
    "  --json FILE     write the records there\n"
    "  --runs N        measurements of a row (5); one more before them is not counted\n"
    "  --n LIST        sizes, ascending (128,256); rows that need one size only take the last\n"
    "  --only TEXT     rows whose name, size included, holds TEXT (several: A,B)\n"
    "  --threads N     host threads (0: all cores)\n"
    "  --quick         n = 16,32 and 2 runs: does everything work?\n"
    "  --list          names of the rows\n"
    "  --help          this text\n";

static int usage(const char *option, const char *value)
{
  fprintf(stderr, "bench_cpu: %s %s makes no sense; --help tells what there is\n", option, value);
  return 2;
}

static int read_number(const char *text, long least, long most, long *value)
{
  char *end;
  errno = 0;
  *value = strtol(text, &end, 10);
  return !errno && end != text && *end == 0 && *value >= least && *value <= most;
}

static int read_sizes(const char *text, settings *s)
{
  char copy[256], *rest = copy;
  if (snprintf(copy, sizeof copy, "%s", text) >= (int)sizeof copy) return 0;
  s->sizes = 0;
  for (char *item; (item = strsep(&rest, ",")) != NULL;) {
    long n;
    if (s->sizes == MOST_SIZES || !read_number(item, 8, 1024, &n)) return 0;
    s->n[s->sizes++] = (size_t)n;
  }
  return s->sizes > 0;
}

static int list_rows(void)
{
  for (int i = 0; i < ROWS; i++) printf("%-24s %s\n", rows[i].name, rows[i].what);
  return 0;
}

/* Returns -1 if the program shall continue, otherwise its exit code. */
static int read_options(int argc, char **argv, settings *s)
{
  static const struct option options[] = {
      {"json", required_argument, NULL, 'j'}, {"runs", required_argument, NULL, 'r'}, {"n", required_argument, NULL, 'n'},
      {"only", required_argument, NULL, 'o'}, {"threads", required_argument, NULL, 't'}, {"quick", no_argument, NULL, 'q'},
      {"list", no_argument, NULL, 'l'}, {"help", no_argument, NULL, 'h'}, {0}};
  long value = 0;
  for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
    if (c == 'j') s->json = optarg;
    else if (c == 'o') s->only = optarg;
    else if (c == 'r' && read_number(optarg, 1, BENCH_SAMPLES / 4, &value)) s->runs = (int)value;
    else if (c == 't' && read_number(optarg, 0, 4096, &value)) s->threads = (int)value;
    else if (c == 'n' && read_sizes(optarg, s)) continue;
    else if (c == 'q') s->runs = 2, s->sizes = 2, s->n[0] = 16, s->n[1] = 32;
    else if (c == 'l') return list_rows();
    else if (c == 'h') return fputs(help_text, stdout), 0;
    else if (c == '?') return 2;
    else return usage("the value", optarg);
  }
  return optind < argc ? usage("the argument", argv[optind]) : -1;
}

static int wanted(const char *only, const char *name)
{
  char copy[512], *rest = copy;
  if (!only) return 1;
  snprintf(copy, sizeof copy, "%s", only);
  for (char *item; (item = strsep(&rest, ",")) != NULL;)
    if (strstr(name, item)) return 1;
  return 0;
}

/* The triad is measured again before every row, so that its spread shows whether the machine was idle. Its arrays are as large as
 * the fields of the largest size. */
static int run_all(const settings *s, gmg_context *context, bench_record *records, int *count, bench_samples *speed,
                   double *slowest)
{
  const size_t largest = s->n[s->sizes - 1];
  int failed = 0;
  for (int i = 0; i < ROWS; i++)
    for (int k = rows[i].every_size ? 0 : s->sizes - 1; k < s->sizes; k++) {
      char name[64];
      bench_samples now = {0};
      bench_record *r = &records[*count];
      snprintf(name, sizeof name, "%s_%zu", rows[i].name, s->n[k]);
      if (!wanted(s->only, name)) continue;
      if (bench_triad(largest * largest * largest, TRIAD_RUNS, &now)) return fputs("bench_cpu: out of memory\n", stderr), 1;
      failed |= bench_run(&rows[i], context, s->n[k], s->runs, r);
      for (int t = 0; t < now.count; t++) bench_add(speed, now.value[t]);
      *slowest = fmin(*slowest, bench_median(&now));
      bench_record_note(r, "triad_before", bench_median(&now) * 1e-9);
      bench_record_print(r, bench_median(speed));
      ++*count;
    }
  return failed;
}

int main(int argc, char **argv)
{
  static bench_record records[ROWS * MOST_SIZES];
  settings s = {.runs = 5, .sizes = 2, .n = {128, 256}};
  bench_samples speed = {0};
  gmg_context *context = NULL;
  int count = 0;
  const int code = read_options(argc, argv, &s);
  if (code >= 0) return code;
  const gmg_status status = gmg_context_create_host(s.threads, &context);
  if (status) return fprintf(stderr, "bench_cpu: %s\n", gmg_status_string(status)), 1;
  const int threads = gmg_context_threads(context);
  omp_set_num_threads(threads);
  double slowest = INFINITY;
  int failed = run_all(&s, context, records, &count, &speed, &slowest);
  gmg_context_destroy(context);
  if (count == 0) return usage("--only", s.only ? s.only : "");
  printf("triad %.4g GB/s (%.4g - %.4g)\n", bench_median(&speed) * 1e-9, bench_min(&speed) * 1e-9, bench_max(&speed) * 1e-9);
  if (slowest < QUIET * bench_median(&speed))
    printf("the machine was not quiet: the triad fell to %.0f %% of its median\n", 100 * slowest / bench_median(&speed));
  if (s.json) failed |= bench_write(s.json, "bench_cpu", threads, &speed, records, count);
  return failed;
}
